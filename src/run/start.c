#include "run/start.h"

#include <stdlib.h>

#include "run/steps.h"

typedef struct start_t {
    keel_start_t *out;
    const keel_run_t *run;
    json_int_t pid; // of the first process that asked for a program
    bool is_noted;
    double began, there, last;
    keel_map_t known; // identity -> program, in the order of the run's
} start_t;

static double sum_of(const keel_start_parts_t *parts) {
    return parts->traced + parts->lowered + parts->compiled + parts->loaded + parts->keels;
}

static void add(keel_start_parts_t *sum, const keel_start_parts_t *more) {
    sum->traced += more->traced;
    sum->lowered += more->lowered;
    sum->compiled += more->compiled;
    sum->loaded += more->loaded;
    sum->keels += more->keels;
}

static json_int_t pid_of(const json_t *event) {
    return json_integer_value(json_object_get(event, "pid"));
}

static void note_client(start_t *start, const json_t *event) {
    if (keel_event_count(event, "client") <= 1) ++start->out->processes; // 0: older journals
    if (start->is_noted || pid_of(event) != start->pid) return;
    start->is_noted = true;
    start->there = keel_event_number(event, "t");
    start->began = keel_event_number(event, "began");
    // Older journals do not say.
    if (start->began <= 0 || start->began > start->there) start->began = start->there;
    // What takes no time stands in for a client that was there already: JAX's own.
    double seconds = keel_event_number(event, "client_seconds");
    start->out->client = seconds >= 1e-3 ? seconds : 0;
}

static keel_start_parts_t parts_of(const json_t *event, bool is_load) {
    double seconds = keel_event_number(event, "seconds");
    return (keel_start_parts_t){.traced = keel_event_number(event, "traced_seconds"),
                                .lowered = keel_event_number(event, "lowered_seconds"),
                                .compiled = is_load ? 0 : seconds,
                                .loaded = is_load ? seconds : 0,
                                .keels = keel_event_number(event, "overhead_seconds")};
}

// NULL for one that only the run's figures have.
static keel_start_program_t *program_of(const start_t *start, const json_t *event) {
    const uint64_t *known =
        keel_map_find(&start->known, keel_str_bytes(keel_str(keel_event_identity(event))));
    return known ? &start->out->programs[*known] : NULL;
}

static keel_status_t visit(void *context, const json_t *event) {
    start_t *start = context;
    const char *kind = keel_event_text(event, "event");
    bool is_load = strcmp(kind, "load") == 0;
    if (strcmp(kind, "start") == 0) note_client(start, event);
    if (!is_load && strcmp(kind, "compile") != 0) return NULL;
    if (pid_of(event) != start->pid || keel_event_number(event, "t") > start->last) return NULL;
    keel_start_parts_t parts = parts_of(event, is_load);
    keel_start_program_t *program = program_of(start, event);
    add(&start->out->parts, &parts);
    start->out->is_told = start->out->is_told || parts.traced > 0 || parts.lowered > 0;
    if (!program) return NULL;
    program->times += keel_event_times(event);
    add(&program->parts, &parts);
    program->seconds = sum_of(&program->parts);
    return NULL;
}

static int by_seconds(const void *a, const void *b) {
    const keel_start_program_t *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds > y->seconds ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

// The first process is that of the first request, and its first step ends with the last of them.
static double last_of_first_step(const keel_run_t *run) {
    double last = 0;
    for (size_t i = 0; i < run->request_count; ++i) {
        const keel_run_request_t *request = &run->requests[i];
        if (request->pid == run->requests->pid && request->step <= run->requests->step &&
            request->t > last)
            last = request->t;
    }
    return last;
}

static keel_status_t list_programs(start_t *start) {
    const keel_run_t *run = start->run;
    void *memory;
    KEEL_TRY(keel_calloc(run->program_count, sizeof *start->out->programs, &memory));
    start->out->programs = memory;
    for (size_t i = 0; i < run->program_count; ++i) {
        start->out->programs[i].index = i;
        KEEL_TRY(
            keel_map_put(&start->known, keel_str_bytes(keel_str(run->programs[i].identity)), i));
    }
    return NULL;
}

static void keep_asked(keel_start_t *out, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (out->programs[i].times) out->programs[out->program_count++] = out->programs[i];
    qsort(out->programs, out->program_count, sizeof *out->programs, by_seconds);
}

static keel_status_t read_start(start_t *start) {
    KEEL_TRY(list_programs(start));
    return keel_run_visit(start->run, visit, start);
}

keel_status_t keel_run_start(const keel_run_t *run, keel_start_t *out) {
    *out = (keel_start_t){0};
    if (!run->request_count || !run->program_count)
        return keel_status_make(KEEL_NOT_FOUND,
                                "run %s: the command asked for no program through Keel; `keel run` "
                                "records one that does",
                                run->id);
    start_t start = {
        .out = out, .run = run, .pid = run->requests->pid, .last = last_of_first_step(run)};
    keel_map_initialize(&start.known);
    keel_status_t status = read_start(&start);
    keel_map_deinitialize(&start.known);
    if (!status && !start.is_noted)
        status = keel_status_make(KEEL_NOT_FOUND,
                                  "run %s: the journal does not say when process %lld began",
                                  run->id, (long long)start.pid);
    if (status) {
        keel_start_deinitialize(out);
        return status;
    }
    keep_asked(out, run->program_count);
    out->before = start.there - start.began;
    if (out->client > out->before) out->client = out->before;
    out->whole = start.last > start.began ? start.last - start.began : 0;
    out->rest = out->whole - out->before - sum_of(&out->parts);
    if (out->rest < 0) out->rest = 0;
    return NULL;
}

void keel_start_deinitialize(keel_start_t *start) {
    keel_free(start->programs);
    *start = (keel_start_t){0};
}
