#define _GNU_SOURCE // memrchr
#include "analysis/walk.h"

#include <string.h>

#include <jansson.h>

#include "analysis/analysis.h"
#include "analysis/answer.h"
#include "journal/line.h"

keel_status_t walk_create(const char *run_dir, const char *id, const char *answers,
                          uint64_t answered, walk_watch_t *watch, walk_t *out) {
    *out = (walk_t){
        .run_dir = run_dir, .id = id, .answers = answers, .answered = answered, .watch = watch};
    kept_initialize(&out->kept, run_dir);
    sources_initialize(&out->sources, run_dir);
    sources_initialize(&out->earlier, run_dir);
    KEEL_TRY(sources_load(&out->sources, id));
    return keel_journal_path(run_dir, id, &out->journal);
}

void walk_destroy(walk_t *walk) {
    for (size_t i = 0; i < walk->process_count; ++i)
        process_destroy(walk->processes[i]);
    keel_free(walk->processes);
    kept_deinitialize(&walk->kept);
    sources_deinitialize(&walk->sources);
    sources_deinitialize(&walk->earlier);
    keel_free(walk->journal);
}

// ---- processes ---------------------------------------------------------------------------------

// The newest with that number.
static process_t *process_of(const walk_t *walk, int64_t pid) {
    for (size_t i = walk->process_count; i > 0; --i)
        if (walk->processes[i - 1]->pid == pid) return walk->processes[i - 1];
    return NULL;
}

static keel_status_t add_process(walk_t *walk, const json_t *start) {
    void *grown = walk->processes;
    KEEL_TRY(keel_realloc_array(walk->process_count + 1, sizeof *walk->processes, &grown));
    walk->processes = grown;
    KEEL_TRY(process_create(walk->run_dir, walk->id, start, &walk->processes[walk->process_count]));
    ++walk->process_count;
    return NULL;
}

static keel_status_t meet_start(walk_t *walk, const json_t *start) {
    process_t *process = process_of(walk, json_integer_value(json_object_get(start, "pid")));
    KEEL_TRY(sources_home(&walk->sources, keel_event_text(start, "cwd")));
    if (process && process_is(process, start)) return process_started(process, start);
    return add_process(walk, start);
}

// ---- lines -------------------------------------------------------------------------------------

static keel_status_t put_line(walk_t *walk, keel_buffer_t *line) {
    keel_status_t status = keel_buffer_status(line);
    if (!status) status = keel_file_append(walk->answers, keel_buffer_bytes(line));
    keel_buffer_deinitialize(line);
    return status;
}

static keel_status_t put_answer(walk_t *walk, const asked_t *asked, const answer_t *answer) {
    keel_buffer_t line;
    keel_buffer_initialize(&line, 0);
    answer_line(asked, answer, &line);
    return put_line(walk, &line);
}

// Takes the status.
static keel_status_t put_failure(walk_t *walk, const asked_t *asked, keel_status_t failed) {
    keel_buffer_t line;
    keel_buffer_initialize(&line, 0);
    keel_json_t json = keel_json(&line, KEEL_JSON_COMPACT);
    keel_line_begin_at(&json, "fallback", asked->t, asked->pid);
    keel_line_text(&json, "what", "explain");
    keel_line_subject(&json, &(keel_journal_subject_t){.program = &asked->program,
                                                       .name = asked->name,
                                                       .key = &asked->key.digest});
    keel_line_text(&json, "message", keel_status_message(failed));
    keel_line_end(&json);
    keel_status_ignore(failed);
    return put_line(walk, &line);
}

// ---- one program -------------------------------------------------------------------------------

static bool has_failed(const walk_t *walk) {
    for (size_t i = 0; i < walk->watch->failed_count; ++i)
        if (walk->watch->failed[i] == walk->asked) return true;
    return false;
}

static answer_facts_t facts_of(walk_t *walk, process_t *process) {
    return (answer_facts_t){.process = process,
                            .kept = &walk->kept,
                            .sources = &walk->sources,
                            .earlier = &walk->earlier};
}

static void tell(const walk_t *walk, const asked_t *asked, const keel_explanation_t *found) {
    bool is_recompile = asked->recompile && asked->kind == KEEL_ASK_COMPILE && !found->unrelated;
    if (!walk->listener || !is_recompile) return;
    walk->listener->recompiled(
        walk->listener_context,
        &(keel_analysis_recompile_t){.pid = asked->pid,
                                     .name = asked->name,
                                     .step = asked->step,
                                     .steady = asked->steady,
                                     .seconds = asked->compile_seconds,
                                     .folder = walk->sources.home ? walk->sources.home : "",
                                     .site = &asked->site.place,
                                     .cause = found->root_count ? found->roots : NULL});
}

static keel_status_t answer(walk_t *walk, process_t *process, const asked_t *asked,
                            keel_arena_t *arena) {
    answer_t found;
    bool said;
    answer_facts_t facts = facts_of(walk, process);
    KEEL_TRY(made_since(&process->made, asked->site.origin, arena, &facts.made, &facts.made_count));
    keel_status_t status = answer_find(&facts, asked, arena, &found, &said);
    if (status) return put_failure(walk, asked, status);
    if (!said) return NULL;
    status = put_answer(walk, asked, &found);
    tell(walk, asked, &found.explanation);
    answer_deinitialize(&found);
    return status;
}

// A function that the asking line made is freed there, and another one may have its identity.
static keel_status_t settle_origin(walk_t *walk, process_t *process, asked_t *asked) {
    const answer_facts_t facts = facts_of(walk, process);
    return answer_jits_there(&facts, asked) ? NULL : process_settle_origin(process, asked);
}

static keel_status_t answer_and_note(walk_t *walk, process_t *process, asked_t *asked,
                                     keel_arena_t *arena) {
    bool is_new = walk->asked > walk->answered;
    KEEL_TRY(settle_origin(walk, process, asked));
    KEEL_TRY(made_sent(&process->made, asked));
    if (has_failed(walk)) {
        if (!is_new) return NULL;
        return put_failure(walk, asked,
                           keel_status_make(KEEL_INTERNAL, "it crashed the process that explains "
                                                           "programs, or kept it busy too long"));
    }
    const keel_program_t *program = NULL;
    keel_status_t kept = kept_read(&walk->kept, &asked->program, &program);
    if (!kept) sources_note(&walk->sources, program, asked->t - asked->seconds);
    keel_status_ignore(kept);
    if (is_new) KEEL_TRY(answer(walk, process, asked, arena));
    // The one that was read may have made room for others.
    kept = kept_read(&walk->kept, &asked->program, &program);
    bool is_kept = !kept;
    keel_status_ignore(kept);
    KEEL_TRY(made_asked(&process->made, asked->site.origin, is_kept ? program : NULL));
    if (asked->kind == KEEL_ASK_REFUSED) return NULL; // the client does not have it
    keel_status_t status = answer_note(process, &walk->kept, asked, walk->id);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status); // the program is missing: later ones are not compared with it
    return NULL;
}

static keel_status_t meet_ask(walk_t *walk, const json_t *event) {
    process_t *process = process_of(walk, json_integer_value(json_object_get(event, "pid")));
    keel_arena_t arena;
    asked_t asked;
    ++walk->asked;
    if (walk->asked > keel_limit(KEEL_LIMIT_REQUESTS)) return NULL; // reports only count it
    if (!process) return NULL;                                      // its start was not written
    atomic_store(&walk->watch->asked, walk->asked);
    keel_arena_initialize(&arena, 0);
    keel_status_t status = NULL;
    if (asked_read(event, &arena, &asked)) {
        status = process_key(process, event, &asked.key);
        if (!status) status = answer_and_note(walk, process, &asked, &arena);
    }
    keel_arena_deinitialize(&arena);
    atomic_store(&walk->watch->asked, 0);
    return status;
}

static keel_status_t meet_compiled(walk_t *walk, const json_t *event) {
    process_t *process = process_of(walk, json_integer_value(json_object_get(event, "pid")));
    return process ? process_compiled(process, event) : NULL;
}

static keel_status_t meet_folders(walk_t *walk, const json_t *event) {
    size_t index;
    json_t *folder;
    json_array_foreach(json_object_get(event, "folders"), index, folder) {
        const char *path = json_string_value(folder);
        if (path) KEEL_TRY(sources_folder(&walk->sources, path));
    }
    return NULL;
}

// ---- the journal -------------------------------------------------------------------------------

static keel_status_t meet(void *context, const json_t *event) {
    walk_t *walk = context;
    if (walk->live) KEEL_TRY(live_event(walk->live, event));
    const char *kind = keel_event_text(event, "event");
    if (strcmp(kind, "start") == 0) return meet_start(walk, event);
    if (strcmp(kind, "source") == 0)
        return sources_read(&walk->sources, keel_event_text(event, "file"),
                            keel_event_text(event, "digest"));
    if (strcmp(kind, "folders") == 0) return meet_folders(walk, event);
    if (strcmp(kind, "ask") == 0) return meet_ask(walk, event);
    if (strcmp(kind, "compiled") == 0) return meet_compiled(walk, event);
    return NULL;
}

// Most of a journal is of no use here, except to the figures of a live run.
static keel_status_t read_events(walk_t *walk, keel_bytes_t lines) {
    static const char *const needless[] = {
        "compile",       "load",  "miss",      "publish",  "memory",
        "device_memory", "order", "transfers", "executes", NULL};
    static const char *const none[] = {NULL};
    const keel_journal_needless_t without = {walk->live ? none : needless, none, 0};
    keel_journal_damage_t damage;
    return keel_journal_parse_without(lines, &without, meet, walk, &damage);
}

// Whole lines only: a process may be writing the last one.
keel_status_t walk_on(walk_t *walk) {
    enum { MOST = 1 << 24 };
    for (;;) {
        uint8_t *data;
        size_t size;
        KEEL_TRY(keel_file_read_from(walk->journal, walk->read, MOST, &data, &size));
        const uint8_t *last = size ? memrchr(data, '\n', size) : NULL;
        size_t whole = last ? (size_t)(last - data) + 1 : 0;
        keel_status_t status = read_events(walk, keel_bytes(data, whole));
        keel_free(data);
        KEEL_TRY(status);
        walk->read += whole;
        if (!whole || size < MOST) return NULL;
    }
}

keel_status_t walk_keep(walk_t *walk) {
    keel_status_t failed = NULL;
    for (size_t i = 0; i < walk->process_count; ++i) {
        keel_status_t status = keel_history_keep(walk->processes[i]->history);
        if (!failed)
            failed = status;
        else
            keel_status_ignore(status);
    }
    return failed;
}
