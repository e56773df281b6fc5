// Why a program was asked for: the nearest one known is found, both are read back, and what differs
// goes to the journal. All of it but the stack happens behind the client's back.
#include <stdio.h>

#include "engine/internal.h"
#include "read/read.h"

void explain_capture(keel_engine_t *engine, keel_arena_t *arena, inquiry_t *inquiry) {
    if (!engine->history) return;
    if (!engine->settings.stack) {
        inquiry->stack.skipped = "the setting stack is off";
        return;
    }
    uint64_t start = keel_clock_monotonic();
    keel_stack_read(arena, &inquiry->stack);
    inquiry->stack_seconds = keel_seconds(keel_clock_monotonic() - start);
}

const char *explain_miss(keel_miss_t miss) {
    switch (miss) {
        case KEEL_MISS_ABSENT:
            return "the cache has no such entry: it was never stored, or evicted, or cleared";
        case KEEL_MISS_DAMAGED:
            return "its entry was damaged, and is in quarantine";
        case KEEL_MISS_FOREIGN:
            return "its entry was written by another version of Keel";
        case KEEL_MISS_QUARANTINED:
            return "loading its entry ended an earlier process, so it is in quarantine";
        case KEEL_MISS_UNREADABLE:
            return "its entry could not be read";
    }
    return "";
}

void explain_deinitialize(inquiry_t *inquiry) {
    keel_key_deinitialize(&inquiry->key);
    keel_arena_deinitialize(&inquiry->arena);
}

static keel_journal_subject_t subject_of(const inquiry_t *inquiry) {
    return (keel_journal_subject_t){
        .program = &inquiry->program, .name = inquiry->name, .key = &inquiry->key.digest};
}

void explain_failed(keel_engine_t *engine, const inquiry_t *inquiry, keel_status_t status) {
    keel_journal_subject_t subject = subject_of(inquiry);
    keel_journal_fallback(engine->journal, "explain", &subject, keel_status_message(status));
    keel_status_ignore(status);
}

// ---- what it is compared with ------------------------------------------------------------------

// Of a recompile the question is how it differs from what this run had, even where an earlier run
// had the very same program: so the search does not know the program. Returns false where nothing
// is near.
static bool find_nearest(keel_engine_t *engine, const inquiry_t *inquiry, bool knows_program,
                         keel_arena_t *arena, keel_history_record_t *out) {
    keel_key_t key = inquiry->key;
    if (!knows_program) key.components[KEEL_COMPONENT_PROGRAM] = (keel_digest_t){0};
    keel_history_query_t query = {.name = inquiry->name,
                                  .origin = inquiry->site.origin,
                                  .sketch = &inquiry->sketch,
                                  .key = &key};
    return keel_history_nearest(engine->history, &query, arena, out);
}

static bool is_same_key(const inquiry_t *inquiry, const keel_history_record_t *record) {
    return keel_digest_equal(&inquiry->key.digest, &record->key->digest);
}

// ---- how they differ ---------------------------------------------------------------------------

// By its whole digest it needs no search.
static keel_status_t read_bytes(const char *run_dir, const keel_digest_t *digest, uint8_t **out,
                                size_t *out_size) {
    static const char *const formats[] = {"mlir", "hlo"};
    char hex[KEEL_DIGEST_HEX], *path;
    keel_status_t status = NULL;
    keel_digest_hex(digest, hex);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
        keel_status_ignore(status);
        KEEL_TRY(keel_path(&path, "%s/programs/%s.%s.zst", run_dir, hex, formats[i]));
        status = keel_journal_read_program(path, out, out_size);
        keel_free(path);
        if (keel_status_code(status) != KEEL_NOT_FOUND) break;
    }
    return status;
}

// A program that was kept, and the bytes that it borrows.
typedef struct kept_t {
    keel_program_t program;
    uint8_t *bytes;
} kept_t;

static keel_status_t read_kept(keel_engine_t *engine, const keel_digest_t *digest, kept_t *out) {
    const char *run_dir = keel_settings_text(&engine->settings, KEEL_SETTING_RUN_DIR);
    size_t size;
    KEEL_TRY(read_bytes(run_dir, digest, &out->bytes, &size));
    return keel_read(keel_bytes(out->bytes, size), &out->program);
}

static void free_kept(kept_t *kept) {
    keel_program_deinitialize(&kept->program);
    keel_free(kept->bytes);
}

static keel_status_t compare_programs(keel_engine_t *engine, const inquiry_t *inquiry,
                                      const keel_history_record_t *record,
                                      keel_explanation_t *out) {
    kept_t before = {.bytes = NULL}, after = {.bytes = NULL};
    keel_program_initialize(&before.program);
    keel_program_initialize(&after.program);
    keel_status_t status = read_kept(engine, &record->program, &before);
    if (!status) status = read_kept(engine, &inquiry->program, &after);
    if (!status)
        status = keel_explain(&(keel_side_t){.program = &before.program, .key = record->key},
                              &(keel_side_t){.program = &after.program, .key = &inquiry->key}, out);
    free_kept(&after);
    free_kept(&before);
    return status;
}

// Where the program is the same the keys tell it all.
static keel_status_t compare(keel_engine_t *engine, const inquiry_t *inquiry,
                             const keel_history_record_t *record, keel_explanation_t *out) {
    if (!keel_digest_equal(&inquiry->key.components[KEEL_COMPONENT_PROGRAM],
                           &record->key->components[KEEL_COMPONENT_PROGRAM]))
        return compare_programs(engine, inquiry, record, out);
    return keel_explain(&(keel_side_t){.key = record->key}, &(keel_side_t){.key = &inquiry->key},
                        out);
}

static keel_status_t add_root(keel_explanation_t *out, keel_cause_t kind, const char *subject,
                              const char *note) {
    keel_difference_t root = {.kind = kind,
                              .subject = subject,
                              .old_value = "",
                              .new_value = "",
                              .note = note,
                              .old_op = KEEL_NONE,
                              .new_op = KEEL_NONE,
                              .follows = KEEL_NONE};
    return keel_explanation_add(out, &root);
}

static keel_status_t differ(keel_engine_t *engine, const inquiry_t *inquiry,
                            const keel_history_record_t *record, keel_explanation_t *out) {
    if (inquiry->kind == INQUIRY_RETRACE) return add_root(out, KEEL_CAUSE_RETRACE, "", "");
    if (!record) return add_root(out, KEEL_CAUSE_FIRST, "", "");
    if (is_same_key(inquiry, record))
        return add_root(out, KEEL_CAUSE_CACHE, inquiry->miss, inquiry->miss_note);
    return compare(engine, inquiry, record, out);
}

// An earlier run had what this one compiles again, besides what differs within this one.
static keel_status_t add_lost_entry(keel_engine_t *engine, const inquiry_t *inquiry,
                                    keel_explanation_t *out) {
    keel_arena_t arena;
    keel_history_record_t record;
    keel_arena_initialize(&arena, 0);
    bool is_lost = find_nearest(engine, inquiry, true, &arena, &record) &&
                   is_same_key(inquiry, &record) && out->root_count &&
                   out->roots[0].kind != KEEL_CAUSE_CACHE;
    keel_arena_deinitialize(&arena);
    return is_lost ? add_root(out, KEEL_CAUSE_CACHE, inquiry->miss, inquiry->miss_note) : NULL;
}

// Where the program was asked for. The stack knows; a program has the lines of its first lowering,
// which a client may keep and compile again from elsewhere.
static keel_place_t asked_from(const inquiry_t *inquiry) {
    const keel_stack_t *stack = &inquiry->stack;
    if (!stack->count) return inquiry->site.place;
    const keel_stack_frame_t *frame = &stack->frames[0];
    keel_place_t place = {
        .file = frame->file, .line = frame->line, .function = frame->function, .call_file = ""};
    if (stack->count > 1) {
        place.call_file = stack->frames[1].file;
        place.call_line = stack->frames[1].line;
    }
    return place;
}

static void fill_places(const inquiry_t *inquiry, keel_explanation_t *explanation) {
    for (size_t i = 0; i < explanation->root_count; ++i) {
        keel_place_t *place = &explanation->roots[i].place;
        if (!*place->file) *place = asked_from(inquiry);
    }
}

// ---- together ----------------------------------------------------------------------------------

static void journal(keel_engine_t *engine, const inquiry_t *inquiry,
                    const keel_history_record_t *record, const keel_explanation_t *explanation,
                    uint64_t started) {
    static const char *const words[] = {"", "compile", "load", "retrace"};
    keel_journal_explain_t event = {.subject = subject_of(inquiry),
                                    .what = words[inquiry->kind],
                                    .seconds = inquiry->seconds,
                                    .recompile = inquiry->recompile,
                                    .site = engine_site(&inquiry->site.place),
                                    .explanation = explanation,
                                    .stack = &inquiry->stack};
    if (record) {
        event.against.program = &record->program;
        event.against.name = record->name;
        event.against.run = record->run;
        event.against.when = record->when;
        event.against.is_ours = record->is_ours;
    }
    event.explain_seconds = inquiry->stack_seconds + keel_seconds(keel_clock_monotonic() - started);
    keel_journal_explain(engine->journal, &event);
}

static keel_status_t explain_against(keel_engine_t *engine, const inquiry_t *inquiry,
                                     const keel_history_record_t *record, uint64_t started) {
    keel_explanation_t explanation;
    keel_explanation_initialize(&explanation);
    keel_status_t status = differ(engine, inquiry, record, &explanation);
    if (!status && inquiry->recompile && inquiry->kind == INQUIRY_COMPILE)
        status = add_lost_entry(engine, inquiry, &explanation);
    if (!status) {
        fill_places(inquiry, &explanation);
        journal(engine, inquiry, record, &explanation, started);
    }
    keel_explanation_deinitialize(&explanation);
    return status;
}

static keel_status_t explain(keel_engine_t *engine, const inquiry_t *inquiry) {
    uint64_t start = keel_clock_monotonic();
    keel_arena_t arena;
    keel_history_record_t record;
    keel_arena_initialize(&arena, 0);
    bool found = find_nearest(engine, inquiry, !inquiry->recompile, &arena, &record);
    bool is_same = found && is_same_key(inquiry, &record);
    // What this run had is not known any more: nothing is left to say of a load, and little of the
    // others.
    bool is_told = inquiry->kind != INQUIRY_LOAD || !is_same;
    if (inquiry->kind == INQUIRY_RETRACE) found = is_same;
    keel_status_t status =
        is_told ? explain_against(engine, inquiry, found ? &record : NULL, start) : NULL;
    keel_arena_deinitialize(&arena);
    return status;
}

static keel_status_t note(keel_engine_t *engine, const inquiry_t *inquiry) {
    return keel_history_add(engine->history, &(keel_history_record_t){
                                                 .program = inquiry->program,
                                                 .name = inquiry->name,
                                                 .origin = inquiry->site.origin,
                                                 .run = keel_journal_id(engine->journal),
                                                 .sketch = inquiry->sketch,
                                                 .key = &inquiry->key,
                                                 .seconds = inquiry->compile_seconds,
                                                 .when = keel_seconds(keel_clock_wall()),
                                                 .is_ours = true,
                                             });
}

void explain_run(keel_engine_t *engine, inquiry_t *inquiry) {
    keel_status_t status = inquiry->kind == INQUIRY_NOTE ? NULL : explain(engine, inquiry);
    if (status) explain_failed(engine, inquiry, status);
    status = note(engine, inquiry);
    if (status) explain_failed(engine, inquiry, status);
}
