#include "page/timeline.h"

#include <stdlib.h>

static keel_timeline_event_t event_of(const keel_run_t *run, const keel_run_request_t *request) {
    double at = request->t - run->started;
    return (keel_timeline_event_t){
        .step = request->step,
        .at = at > 0 ? at : 0,
        .took = request->took,
        .ops = request->ops,
        .pid = request->pid,
        .name = request->name,
        .program = request->index,
        .is_load = request->is_load,
        .entry = request->entry,
    };
}

static int by_step(const void *a, const void *b) {
    const keel_timeline_event_t *x = a, *y = b;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static keel_status_t count_programs(const keel_run_t *run, keel_timeline_t *timeline) {
    void *memory;
    KEEL_TRY(keel_calloc(run->program_count, sizeof(bool), &memory));
    bool *seen = memory;
    uint64_t programs = 0;
    for (size_t i = 0; i < timeline->count; ++i) {
        keel_timeline_event_t *event = &timeline->events[i];
        programs += !seen[event->program];
        seen[event->program] = true;
        event->programs = programs;
    }
    keel_free(memory);
    return NULL;
}

keel_status_t keel_timeline_make(const keel_run_t *run, keel_timeline_t *out) {
    void *memory;
    *out = (keel_timeline_t){.steps = run->steps, .duration = run->duration};
    KEEL_TRY(keel_calloc(run->request_count, sizeof *out->events, &memory));
    out->events = memory;
    for (size_t i = 0; i < run->request_count; ++i)
        if (!run->requests[i].from_memory)
            out->events[out->count++] = event_of(run, &run->requests[i]);
    if (out->count) qsort(out->events, out->count, sizeof *out->events, by_step);
    keel_status_t status = count_programs(run, out);
    if (status) keel_timeline_deinitialize(out);
    return status;
}

void keel_timeline_deinitialize(keel_timeline_t *timeline) {
    keel_free(timeline->events);
    *timeline = (keel_timeline_t){0};
}
