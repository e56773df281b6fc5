// Why a program was asked for: the nearest one known is found, both are read back, and what differs
// goes to the journal. All of it but the stack happens behind the client's back.
#include <string.h>

#include "engine/background.h"
#include "engine/flow.h"
#include "engine/inquiry.h"
#include "read/read.h"

void inquiry_capture(keel_engine_t *engine, keel_arena_t *arena, inquiry_t *inquiry) {
    bool is_known = inquiry->stack.count || inquiry->stack.skipped;
    if (!engine->history || is_known) return;
    if (!engine->settings.stack) {
        inquiry->stack.skipped = "the setting stack is off";
        return;
    }
    uint64_t start = keel_clock_monotonic();
    keel_stack_read(arena, &inquiry->stack);
    inquiry->stack_seconds = keel_seconds(keel_clock_monotonic() - start);
}

void inquiry_ask(keel_engine_t *engine, keel_arena_t *arena, inquiry_t *inquiry,
                 keel_site_t *site) {
    inquiry_capture(engine, arena, inquiry);
    inquiry->sent = flow_sent(engine);
    keel_site_asked(&inquiry->stack, arena, site);
}

const char *inquiry_miss(keel_miss_t miss) {
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

static keel_journal_subject_t subject_of(const inquiry_t *inquiry) {
    return (keel_journal_subject_t){
        .program = &inquiry->program, .name = inquiry->name, .key = &inquiry->key.digest};
}

// Takes the status.
static void say_failed(keel_engine_t *engine, const inquiry_t *inquiry, keel_status_t status) {
    keel_journal_subject_t subject = subject_of(inquiry);
    keel_journal_fallback(engine->journal, "explain", &subject, keel_status_message(status));
    keel_status_ignore(status);
}

// ---- what it is compared with ------------------------------------------------------------------

// Of a recompile the question is how it differs from what this run had, even where an earlier run
// had the very same program: so the search does not know the program. Gives how many there are, 0
// where nothing is near; `out` has room for KEEL_HISTORY_CANDIDATES.
static size_t find_candidates(keel_engine_t *engine, const inquiry_t *inquiry, bool knows_program,
                              keel_arena_t *arena, keel_history_record_t *out) {
    keel_key_t key = inquiry->key;
    if (!knows_program) key.components[KEEL_COMPONENT_PROGRAM] = (keel_digest_t){0};
    keel_history_query_t query = {.name = inquiry->name,
                                  .origin = inquiry->site.origin,
                                  .sketch = &inquiry->sketch,
                                  .key = &key};
    return keel_history_candidates(engine->history, &query, arena, out);
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

// The new program, read when it is first needed: it may be compared with several.
typedef struct subject_t {
    const inquiry_t *inquiry;
    kept_t kept;
    bool is_read;
} subject_t;

static keel_status_t compare_programs(keel_engine_t *engine, subject_t *subject,
                                      const keel_history_record_t *record,
                                      keel_explanation_t *out) {
    const inquiry_t *inquiry = subject->inquiry;
    kept_t before = {.bytes = NULL};
    keel_program_initialize(&before.program);
    keel_status_t status = read_kept(engine, &record->program, &before);
    if (!status && !subject->is_read) {
        status = read_kept(engine, &inquiry->program, &subject->kept);
        subject->is_read = !status;
    }
    const keel_place_t *place = &inquiry->site.place;
    if (!status)
        status = keel_explain(&(keel_side_t){.program = &before.program, .key = record->key},
                              &(keel_side_t){.program = &subject->kept.program,
                                             .key = &inquiry->key,
                                             .site = *place->file ? place : NULL,
                                             .sent = inquiry->sent},
                              out);
    free_kept(&before);
    return status;
}

// Where the program is the same the keys tell it all.
static keel_status_t compare(keel_engine_t *engine, subject_t *subject,
                             const keel_history_record_t *record, keel_explanation_t *out) {
    const keel_key_t *key = &subject->inquiry->key;
    if (!keel_digest_equal(&key->components[KEEL_COMPONENT_PROGRAM],
                           &record->key->components[KEEL_COMPONENT_PROGRAM]))
        return compare_programs(engine, subject, record, out);
    return keel_explain(&(keel_side_t){.key = record->key}, &(keel_side_t){.key = key}, out);
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

static keel_status_t differ(keel_engine_t *engine, subject_t *subject,
                            const keel_history_record_t *record, keel_explanation_t *out) {
    const inquiry_t *inquiry = subject->inquiry;
    if (inquiry->kind == INQUIRY_RETRACE) return add_root(out, KEEL_CAUSE_RETRACE, "", "");
    if (!record) return add_root(out, KEEL_CAUSE_FIRST, "", "");
    if (is_same_key(inquiry, record))
        return add_root(out, KEEL_CAUSE_CACHE, inquiry->miss, inquiry->miss_note);
    return compare(engine, subject, record, out);
}

// An earlier run had what this one compiles again, besides what differs within this one.
static keel_status_t add_lost_entry(keel_engine_t *engine, const inquiry_t *inquiry,
                                    keel_explanation_t *out) {
    keel_arena_t arena;
    keel_history_record_t records[KEEL_HISTORY_CANDIDATES];
    keel_arena_initialize(&arena, 0);
    bool is_lost = find_candidates(engine, inquiry, true, &arena, records) &&
                   is_same_key(inquiry, &records[0]) && out->root_count &&
                   out->roots[0].kind != KEEL_CAUSE_CACHE;
    keel_arena_deinitialize(&arena);
    return is_lost ? add_root(out, KEEL_CAUSE_CACHE, inquiry->miss, inquiry->miss_note) : NULL;
}

// Where the program was asked for. The stack knows; a program has the lines of its first lowering,
// which a client may keep and compile again from elsewhere.
static keel_place_t asked_from(const inquiry_t *inquiry) {
    return inquiry->stack.count ? keel_stack_top(&inquiry->stack) : inquiry->site.place;
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

// What one of the candidates told.
typedef struct answer_t {
    keel_explanation_t explanation;
    const keel_history_record_t *record; // NULL: it is the first of its kind
} answer_t;

// The simpler of two explanations is the likelier one; of two alike, the change from what was last.
static bool is_better(const answer_t *a, const answer_t *b) {
    const keel_explanation_t *x = &a->explanation, *y = &b->explanation;
    if (x->unrelated != y->unrelated) return y->unrelated;
    if (x->root_total != y->root_total) return x->root_total < y->root_total;
    if (x->folded_total != y->folded_total) return x->folded_total < y->folded_total;
    return a->record->when > b->record->when;
}

// The first always; others as long as little time has passed. What one of them cannot tell another
// may.
static keel_status_t ask(keel_engine_t *engine, subject_t *subject,
                         const keel_history_record_t *records, size_t count, uint64_t started,
                         answer_t *out) {
    static const double enough = 0.015; // seconds
    keel_status_t failed = NULL;
    bool any = false;
    for (size_t i = 0; i < count; ++i) {
        if (any && keel_seconds(keel_clock_monotonic() - started) >= enough) break;
        answer_t answer = {.record = &records[i]};
        keel_explanation_initialize(&answer.explanation);
        keel_status_t status = differ(engine, subject, &records[i], &answer.explanation);
        bool is_best = !status && (!any || is_better(&answer, out));
        answer_t worse = is_best ? *out : answer;
        if (is_best) *out = answer;
        keel_explanation_deinitialize(&worse.explanation);
        any |= !status;
        if (!failed)
            failed = status;
        else
            keel_status_ignore(status);
    }
    if (!any) return failed;
    keel_status_ignore(failed);
    return NULL;
}

static keel_status_t tell(keel_engine_t *engine, const inquiry_t *inquiry,
                          const keel_history_record_t *records, size_t count, uint64_t started) {
    subject_t subject = {.inquiry = inquiry};
    answer_t answer = {.record = NULL};
    keel_program_initialize(&subject.kept.program);
    keel_explanation_initialize(&answer.explanation);
    keel_status_t status = count ? ask(engine, &subject, records, count, started, &answer)
                                 : differ(engine, &subject, NULL, &answer.explanation);
    free_kept(&subject.kept);
    if (!status && inquiry->recompile && inquiry->kind == INQUIRY_COMPILE)
        status = add_lost_entry(engine, inquiry, &answer.explanation);
    if (!status) {
        fill_places(inquiry, &answer.explanation);
        journal(engine, inquiry, answer.record, &answer.explanation, started);
    }
    keel_explanation_deinitialize(&answer.explanation);
    return status;
}

static keel_status_t explain(keel_engine_t *engine, const inquiry_t *inquiry) {
    uint64_t start = keel_clock_monotonic();
    keel_arena_t arena;
    keel_history_record_t records[KEEL_HISTORY_CANDIDATES];
    keel_arena_initialize(&arena, 0);
    size_t count = find_candidates(engine, inquiry, !inquiry->recompile, &arena, records);
    bool is_same = count && is_same_key(inquiry, &records[0]);
    // What this run had is not known any more: nothing is left to say of a load, and little of the
    // others.
    bool is_told = inquiry->kind != INQUIRY_LOAD || !is_same;
    if (inquiry->kind == INQUIRY_RETRACE) count = is_same;
    keel_status_t status = is_told ? tell(engine, inquiry, records, count, start) : NULL;
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

// ---- behind the client's back ------------------------------------------------------------------

typedef struct inquiry_task_t {
    task_t task;
    inquiry_t inquiry;
} inquiry_task_t;

static void run(keel_engine_t *engine, task_t *head) {
    const inquiry_t *inquiry = &((inquiry_task_t *)head)->inquiry;
    keel_status_t status = inquiry->kind == INQUIRY_NOTE ? NULL : explain(engine, inquiry);
    if (status) say_failed(engine, inquiry, status);
    status = note(engine, inquiry);
    if (status) say_failed(engine, inquiry, status);
}

static void deinitialize(inquiry_t *inquiry) {
    keel_key_deinitialize(&inquiry->key);
    keel_arena_deinitialize(&inquiry->arena);
}

static void destroy(task_t *head) {
    deinitialize(&((inquiry_task_t *)head)->inquiry);
    keel_free(head);
}

void inquiry_hand_over(keel_engine_t *engine, inquiry_t *inquiry) {
    void *memory;
    inquiry_task_t *task = NULL;
    keel_status_t status = keel_alloc(sizeof *task, &memory);
    if (!status) {
        task = memory;
        *task = (inquiry_task_t){{inquiry->client, run, destroy, NULL}, *inquiry};
        status = background_add(engine, &task->task);
    }
    if (!status) return;
    say_failed(engine, inquiry, status);
    deinitialize(inquiry);
    keel_free(task);
}
