// Whether the processes of a rehearsal execute the programs that they share equally often.
#include "run/rehearsal.h"

#include "metrics/metrics.h"
#include "run/steps.h"

enum { PROCESSES_MOST = 4096 };

static uint64_t process_count(const keel_run_rehearsal_t *rehearsal) {
    uint64_t count = rehearsal->target.processes;
    return count > 1 && count <= PROCESSES_MOST ? count : 0;
}

static keel_status_t meet_start(keel_run_rehearsal_t *rehearsal, const json_t *event) {
    const json_t *target = json_object_get(event, "target");
    uint64_t process = keel_event_count(target, "process"), count = process_count(rehearsal);
    void *memory;
    if (process >= count) return NULL;
    if (!rehearsal->pids) {
        KEEL_TRY(keel_calloc((size_t)count, sizeof *rehearsal->pids, &memory));
        rehearsal->pids = memory;
    }
    rehearsal->pids[process] = json_integer_value(json_object_get(event, "pid"));
    return NULL;
}

// The process of an event; UINT64_MAX if it is unknown.
static uint64_t process_of(const keel_run_rehearsal_t *rehearsal, const json_t *event) {
    int64_t pid = json_integer_value(json_object_get(event, "pid"));
    for (uint64_t i = 0; rehearsal->pids && i < process_count(rehearsal); ++i)
        if (rehearsal->pids[i] == pid) return i;
    return UINT64_MAX;
}

static keel_status_t shared_of(keel_run_rehearsal_t *rehearsal, const char *digest,
                               keel_texts_t *texts, keel_shared_t **out) {
    for (size_t i = 0; i < rehearsal->shared_count; ++i) {
        *out = &rehearsal->shared[i];
        if (strcmp((*out)->program, digest) == 0) return NULL;
    }
    keel_shared_t fresh = {.name = "", .shown = ""};
    void *memory, *grown = rehearsal->shared;
    KEEL_TRY(keel_texts_keep(texts, digest, &fresh.program));
    KEEL_TRY(keel_realloc_array(rehearsal->shared_count + 1, sizeof fresh, &grown));
    rehearsal->shared = grown;
    KEEL_TRY(keel_calloc((size_t)process_count(rehearsal), sizeof *fresh.executes, &memory));
    fresh.executes = memory;
    *out = &rehearsal->shared[rehearsal->shared_count++];
    **out = fresh;
    return NULL;
}

static keel_status_t describe(keel_run_rehearsal_t *rehearsal, const json_t *event, const char *cwd,
                              keel_texts_t *texts) {
    const json_t *site = json_object_get(event, "site");
    keel_shared_t *shared;
    KEEL_TRY(shared_of(rehearsal, keel_event_text(event, "program"), texts, &shared));
    if (*shared->shown) return NULL;
    KEEL_TRY(keel_event_keep_field(texts, event, "name", &shared->name));
    return keel_event_place(texts, keel_event_text(site, "file"), keel_event_line(site, "line"),
                            cwd, &shared->shown);
}

static keel_status_t count(keel_run_rehearsal_t *rehearsal, const keel_steps_t *steps,
                           const json_t *event, keel_texts_t *texts) {
    keel_counts_t counts = keel_event_counts(event);
    keel_counted_t counted;
    uint64_t process = process_of(rehearsal, event);
    if (process == UINT64_MAX) return NULL;
    while (keel_counts_next(&counts, &counted)) {
        keel_shared_t *shared;
        const keel_steps_program_t *program = keel_steps_counted(steps, event, &counted);
        if (!counted.digest && !program) continue;
        KEEL_TRY(shared_of(rehearsal, counted.digest ? counted.digest : program->digest, texts,
                           &shared));
        shared->executes[process] += counted.times;
    }
    return NULL;
}

keel_status_t keel_drift_add(keel_run_rehearsal_t *rehearsal, const keel_steps_t *steps,
                             const json_t *event, const char *cwd, keel_texts_t *texts) {
    const char *kind = keel_event_text(event, "event");
    keel_shared_t *shared;
    if (!process_count(rehearsal)) return NULL;
    if (strcmp(kind, "start") == 0) KEEL_TRY(meet_start(rehearsal, event));
    if (strcmp(kind, "compile") == 0 || strcmp(kind, "load") == 0)
        KEEL_TRY(describe(rehearsal, event, cwd, texts));
    if (strcmp(kind, "living") == 0 && json_is_true(json_object_get(event, "spans"))) {
        KEEL_TRY(shared_of(rehearsal, keel_event_text(event, "program"), texts, &shared));
        shared->spans = true;
    }
    return count(rehearsal, steps, event, texts);
}

// Of the processes that were started.
static keel_drift_t compare(const keel_run_rehearsal_t *rehearsal, const keel_shared_t *shared) {
    keel_drift_t drift = {.name = shared->name,
                          .program = shared->program,
                          .shown = shared->shown,
                          .least = UINT64_MAX};
    for (uint64_t i = 0; i < process_count(rehearsal); ++i) {
        uint64_t times = shared->executes[i];
        if (!rehearsal->pids[i]) continue;
        if (times > drift.most) {
            drift.most = times;
            drift.most_process = i;
        }
        if (times < drift.least) {
            drift.least = times;
            drift.least_process = i;
        }
    }
    return drift;
}

keel_status_t keel_drift_find(keel_run_rehearsal_t *rehearsal) {
    for (size_t i = 0; rehearsal->pids && i < rehearsal->shared_count; ++i) {
        const keel_shared_t *shared = &rehearsal->shared[i];
        keel_drift_t drift = compare(rehearsal, shared);
        if (!shared->spans || drift.most <= drift.least) continue;
        void *grown = rehearsal->drifts;
        KEEL_TRY(keel_realloc_array(rehearsal->drift_count + 1, sizeof drift, &grown));
        rehearsal->drifts = grown;
        rehearsal->drifts[rehearsal->drift_count++] = drift;
    }
    return NULL;
}

void keel_drift_release(keel_run_rehearsal_t *rehearsal) {
    for (size_t i = 0; i < rehearsal->shared_count; ++i)
        keel_free(rehearsal->shared[i].executes);
    keel_free(rehearsal->shared);
    keel_free(rehearsal->drifts);
    keel_free(rehearsal->pids);
}
