#include "analysis/asked.h"

#include <jansson.h>

static const char *text_of(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static double number_of(const json_t *object, const char *name) {
    double number = json_number_value(json_object_get(object, name));
    return number > 0 && number < 1e18 ? number : 0;
}

static uint32_t line_of(const json_t *object, const char *name) {
    double number = number_of(object, name);
    return number < UINT32_MAX ? (uint32_t)number : 0;
}

static bool digest_of(const json_t *object, const char *name, keel_digest_t *out) {
    return keel_digest_unhex(keel_str(text_of(object, name)), out);
}

static bool kind_of(const json_t *event, keel_ask_kind_t *out) {
    const char *word = text_of(event, "what");
    for (int i = 0; i < KEEL_ASK_COUNT; ++i) {
        *out = (keel_ask_kind_t)i;
        if (strcmp(word, keel_ask_word(*out)) == 0) return true;
    }
    return false;
}

static keel_place_t place_of(const json_t *site) {
    return (keel_place_t){.file = text_of(site, "file"),
                          .line = line_of(site, "line"),
                          .function = text_of(site, "function"),
                          .call_file = text_of(site, "call_file"),
                          .call_line = line_of(site, "call_line"),
                          .library_file = text_of(site, "library_file"),
                          .library_line = line_of(site, "library_line")};
}

static bool read_stack(const json_t *event, keel_arena_t *arena, keel_stack_t *out) {
    const json_t *list = json_object_get(event, "stack");
    size_t count = json_array_size(list);
    if (count > KEEL_STACK_KEPT) count = KEEL_STACK_KEPT;
    void *memory;
    keel_status_t status = keel_arena_array(arena, count ? count : 1, sizeof *out->frames, &memory);
    keel_status_ignore(status);
    if (status) return false;
    keel_stack_frame_t *frames = memory;
    for (size_t i = 0; i < count; ++i) {
        const json_t *frame = json_array_get(list, i);
        frames[i] = (keel_stack_frame_t){.file = text_of(frame, "file"),
                                         .function = text_of(frame, "function"),
                                         .line = line_of(frame, "line")};
    }
    const char *skipped = text_of(event, "stack_skipped");
    *out = (keel_stack_t){.frames = frames,
                          .count = (uint32_t)count,
                          .left_out = line_of(event, "stack_left_out"),
                          .skipped = *skipped ? skipped : NULL};
    return true;
}

bool asked_read(const json_t *event, keel_arena_t *arena, asked_t *out) {
    *out = (asked_t){.t = number_of(event, "t"),
                     .pid = json_integer_value(json_object_get(event, "pid")),
                     .name = text_of(event, "name"),
                     .site = {.place = place_of(json_object_get(event, "site")),
                              .origin = text_of(event, "origin")},
                     .recompile = json_is_true(json_object_get(event, "recompile")),
                     .seconds = number_of(event, "seconds"),
                     .compile_seconds = number_of(event, "compile_seconds"),
                     .miss = text_of(event, "miss"),
                     .miss_note = text_of(event, "miss_note"),
                     .names = text_of(event, "names"),
                     .sent = (uint64_t)number_of(event, "sent")};
    return kind_of(event, &out->kind) && digest_of(event, "program", &out->program) &&
           digest_of(event, "key", &out->key.digest) && read_stack(event, arena, &out->stack);
}
