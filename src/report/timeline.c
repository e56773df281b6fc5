#include "report/timeline.h"

#include <stdlib.h>

#include "report/steps.h"

typedef struct drawing_t {
    keel_timeline_t *timeline;
    keel_steps_t steps;
    size_t capacity; // of timeline->events
    size_t explained;
    double first, last; // time of an event
} drawing_t;

static void note_time(drawing_t *d, const json_t *event) {
    double time = keel_event_number(event, "t");
    static const double latest = 9e9; // nanoseconds since 1970 hold no more
    if (time <= 0 || time >= latest) return;
    if (d->first == 0 || time < d->first) d->first = time;
    if (time > d->last) d->last = time;
}

static keel_status_t make_room(drawing_t *d) {
    if (d->timeline->count < d->capacity) return NULL;
    size_t capacity = d->capacity ? 2 * d->capacity : 64;
    void *grown = d->timeline->events;
    KEEL_TRY(keel_realloc_array(capacity, sizeof *d->timeline->events, &grown));
    d->timeline->events = grown;
    d->capacity = capacity;
    return NULL;
}

static keel_status_t add(drawing_t *d, const json_t *event, const keel_steps_process_t *process,
                         keel_steps_request_t *request) {
    keel_timeline_t *timeline = d->timeline;
    KEEL_TRY(make_room(d));
    keel_timeline_event_t *out = &timeline->events[timeline->count];
    double at = keel_event_number(event, "t") - d->first;
    *out = (keel_timeline_event_t){
        .step = request->step,
        .at = at > 0 ? at : 0,
        .seconds = request->seconds,
        .pid = process->pid,
        .program = keel_steps_program(&d->steps, event),
        .is_load = strcmp(keel_event_text(event, "event"), "load") == 0,
        .entry = SIZE_MAX,
    };
    KEEL_TRY(keel_event_keep(&timeline->texts, keel_event_text(event, "name"), &out->name));
    request->recompile = timeline->count++;
    return NULL;
}

static keel_status_t explain(drawing_t *d, const json_t *event) {
    keel_steps_request_t *request;
    KEEL_TRY(keel_steps_explained(&d->steps, event, &request));
    if (request && request->recompile != SIZE_MAX)
        d->timeline->events[request->recompile].entry = d->explained;
    ++d->explained;
    return NULL;
}

static keel_status_t draw(drawing_t *d, const json_t *event) {
    keel_steps_process_t *process;
    keel_steps_request_t *request;
    KEEL_TRY(keel_steps_advance(&d->steps, event, &process, &request));
    if (process->steps > d->timeline->steps) d->timeline->steps = process->steps;
    if (strcmp(keel_event_text(event, "event"), "explain") == 0) return explain(d, event);
    bool from_memory = strcmp(keel_event_text(event, "tier"), "memory") == 0;
    return request && !from_memory ? add(d, event, process, request) : NULL;
}

static int by_step(const void *a, const void *b) {
    const keel_timeline_event_t *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static keel_status_t count_programs(drawing_t *d) {
    void *memory;
    KEEL_TRY(keel_calloc(d->steps.program_count + 1, sizeof(bool), &memory));
    bool *seen = memory;
    uint64_t programs = 0;
    for (size_t i = 0; i < d->timeline->count; ++i) {
        keel_timeline_event_t *event = &d->timeline->events[i];
        programs += !seen[event->program];
        seen[event->program] = true;
        event->programs = programs;
    }
    keel_free(memory);
    return NULL;
}

static keel_status_t draw_all(drawing_t *d, keel_bytes_t bytes) {
    keel_journal_damage_t damage;
    KEEL_TRY(keel_steps_read(bytes, false, &d->steps, &damage));
    size_t index;
    json_t *event;
    json_array_foreach(d->steps.events, index, event) note_time(d, event);
    json_array_foreach(d->steps.events, index, event) KEEL_TRY(draw(d, event));
    keel_timeline_t *timeline = d->timeline;
    timeline->duration = d->last - d->first;
    if (timeline->count)
        qsort(timeline->events, timeline->count, sizeof *timeline->events, by_step);
    return count_programs(d);
}

keel_status_t keel_timeline_parse(keel_bytes_t bytes, keel_timeline_t *out) {
    *out = (keel_timeline_t){0};
    keel_arena_initialize(&out->texts, 0);
    drawing_t d = {.timeline = out};
    keel_status_t status = draw_all(&d, bytes);
    keel_steps_deinitialize(&d.steps);
    if (status) keel_timeline_deinitialize(out);
    return status;
}

keel_status_t keel_timeline_read(const char *run_dir, const char *id, keel_timeline_t *out) {
    keel_journal_file_t journal;
    *out = (keel_timeline_t){0};
    KEEL_TRY(keel_journal_file_read(run_dir, id, &journal));
    keel_status_t status = keel_timeline_parse(journal.bytes, out);
    keel_journal_file_free(&journal);
    return status;
}

void keel_timeline_deinitialize(keel_timeline_t *timeline) {
    keel_arena_deinitialize(&timeline->texts);
    keel_free(timeline->events);
    *timeline = (keel_timeline_t){0};
}
