#include "analysis/asked.h"

#include "analysis/event.h"

static uint32_t line_of(const json_t *object, const char *name) {
    double number = event_number(object, name);
    return number < UINT32_MAX ? (uint32_t)number : 0;
}

static bool digest_of(const json_t *object, const char *name, keel_digest_t *out) {
    return keel_digest_unhex(keel_str(event_text(object, name)), out);
}

static bool kind_of(const json_t *event, keel_ask_kind_t *out) {
    const char *word = event_text(event, "what");
    for (int i = 0; i < KEEL_ASK_COUNT; ++i) {
        *out = (keel_ask_kind_t)i;
        if (strcmp(word, keel_ask_word(*out)) == 0) return true;
    }
    return false;
}

static keel_place_t place_of(const json_t *site) {
    return (keel_place_t){.file = event_text(site, "file"),
                          .line = line_of(site, "line"),
                          .function = event_text(site, "function"),
                          .call_file = event_text(site, "call_file"),
                          .call_line = line_of(site, "call_line"),
                          .library_file = event_text(site, "library_file"),
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
        frames[i] = (keel_stack_frame_t){.file = event_text(frame, "file"),
                                         .function = event_text(frame, "function"),
                                         .line = line_of(frame, "line")};
    }
    const char *skipped = event_text(event, "stack_skipped");
    *out = (keel_stack_t){.frames = frames,
                          .count = (uint32_t)count,
                          .left_out = line_of(event, "stack_left_out"),
                          .skipped = *skipped ? skipped : NULL};
    return true;
}

bool asked_read(const json_t *event, keel_arena_t *arena, asked_t *out) {
    *out = (asked_t){.t = event_number(event, "t"),
                     .pid = json_integer_value(json_object_get(event, "pid")),
                     .name = event_text(event, "name"),
                     .site = {.place = place_of(json_object_get(event, "site")),
                              .origin = event_text(event, "origin")},
                     .recompile = json_is_true(json_object_get(event, "recompile")),
                     .seconds = event_number(event, "seconds"),
                     .compile_seconds = event_number(event, "compile_seconds"),
                     .miss = event_text(event, "miss"),
                     .miss_note = event_text(event, "miss_note"),
                     .names = event_text(event, "names"),
                     .sent = (uint64_t)event_number(event, "sent")};
    return kind_of(event, &out->kind) && digest_of(event, "program", &out->program) &&
           digest_of(event, "key", &out->key.digest) && read_stack(event, arena, &out->stack);
}
