#include "analysis/asked.h"

#include <jansson.h>

static bool kind_of(const json_t *event, keel_ask_kind_t *out) {
    const char *word = keel_event_text(event, "what");
    for (int i = 0; i < KEEL_ASK_COUNT; ++i) {
        *out = (keel_ask_kind_t)i;
        if (strcmp(word, keel_ask_word(*out)) == 0) return true;
    }
    return false;
}

static keel_place_t read_site_place(const json_t *site) {
    return (keel_place_t){.file = keel_event_text(site, "file"),
                          .line = keel_event_line(site, "line"),
                          .function = keel_event_text(site, "function"),
                          .call_file = keel_event_text(site, "call_file"),
                          .call_line = keel_event_line(site, "call_line"),
                          .library_file = keel_event_text(site, "library_file"),
                          .library_line = keel_event_line(site, "library_line"),
                          .application = keel_event_text(site, "application"),
                          .script_file = keel_event_text(site, "script_file"),
                          .script_line = keel_event_line(site, "script_line")};
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
        frames[i] = (keel_stack_frame_t){.file = keel_event_text(frame, "file"),
                                         .function = keel_event_text(frame, "function"),
                                         .line = keel_event_line(frame, "line")};
    }
    const char *skipped = keel_event_text(event, "stack_skipped");
    *out = (keel_stack_t){.frames = frames,
                          .count = (uint32_t)count,
                          .left_out = keel_event_line(event, "stack_left_out"),
                          .skipped = *skipped ? skipped : NULL};
    return true;
}

static bool read_made(const json_t *event, keel_arena_t *arena, asked_t *out) {
    enum { MOST = 256 };
    const json_t *list = json_object_get(event, "made");
    size_t count = json_array_size(list);
    if (count > MOST) count = MOST;
    void *memory;
    keel_status_t status = keel_arena_array(arena, count ? count : 1, sizeof *out->made, &memory);
    keel_status_ignore(status);
    if (status) return false;
    keel_made_t *made = memory;
    for (size_t i = 0; i < count; ++i) {
        const json_t *one = json_array_get(list, i);
        made[i] = (keel_made_t){keel_event_text(one, "type"), read_site_place(one)};
    }
    out->made = made;
    out->made_count = (uint32_t)count;
    return true;
}

bool asked_read(const json_t *event, keel_arena_t *arena, asked_t *out) {
    *out = (asked_t){.t = keel_event_number(event, "t"),
                     .pid = json_integer_value(json_object_get(event, "pid")),
                     .name = keel_event_text(event, "name"),
                     .site = {.place = read_site_place(json_object_get(event, "site")),
                              .origin = keel_event_text(event, "origin")},
                     .recompile = json_is_true(json_object_get(event, "recompile")),
                     .step = keel_event_count(event, "step"),
                     .steady = keel_event_count(event, "steady"),
                     .seconds = keel_event_number(event, "seconds"),
                     .compile_seconds = keel_event_number(event, "compile_seconds"),
                     .miss = keel_event_text(event, "miss"),
                     .miss_note = keel_event_text(event, "miss_note"),
                     .names = keel_event_text(event, "names"),
                     .call = keel_event_text(event, "call"),
                     .sent = keel_event_count(event, "sent")};
    return kind_of(event, &out->kind) && keel_event_digest(event, "program", &out->program) &&
           keel_event_digest(event, "key", &out->key.digest) &&
           read_stack(event, arena, &out->stack) && read_made(event, arena, out);
}
