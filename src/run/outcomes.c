#include "run/outcomes.h"

#include "run/steps.h"

void keel_outcomes_initialize(keel_outcomes_t *outcomes) {
    *outcomes = (keel_outcomes_t){.list = NULL};
    keel_map_initialize(&outcomes->first_of);
    keel_map_initialize(&outcomes->last_of);
}

void keel_outcomes_deinitialize(keel_outcomes_t *outcomes) {
    keel_map_deinitialize(&outcomes->first_of);
    keel_map_deinitialize(&outcomes->last_of);
    keel_free(outcomes->list);
    *outcomes = (keel_outcomes_t){.list = NULL};
}

static void name_outcome(keel_buffer_t *out, const json_t *event) {
    keel_buffer_initialize(out, 0);
    keel_buffer_format(out, "%" JSON_INTEGER_FORMAT " ",
                       json_integer_value(json_object_get(event, "pid")));
    keel_buffer_text(out, keel_event_identity(event));
}

static keel_status_t append_outcome(keel_outcomes_t *outcomes, const json_t *event,
                                    keel_bytes_t name) {
    size_t at = outcomes->count;
    void *grown = outcomes->list;
    KEEL_TRY(keel_realloc_array(at + 1, sizeof *outcomes->list, &grown));
    outcomes->list = grown;
    outcomes->list[at] = (keel_outcome_t){.seconds = keel_event_number(event, "seconds"),
                                          .failed = json_is_true(json_object_get(event, "failed")),
                                          .next = SIZE_MAX};
    ++outcomes->count;
    const uint64_t *last = keel_map_find(&outcomes->last_of, name);
    if (last)
        outcomes->list[*last].next = at;
    else
        KEEL_TRY(keel_map_put(&outcomes->first_of, name, at));
    return keel_map_put(&outcomes->last_of, name, at);
}

keel_status_t keel_outcomes_add(keel_outcomes_t *outcomes, const json_t *event) {
    if (strcmp(keel_event_text(event, "event"), "compiled") != 0 ||
        outcomes->count >= keel_limit(KEEL_LIMIT_REQUESTS))
        return NULL;
    keel_buffer_t name;
    name_outcome(&name, event);
    keel_status_t status = keel_buffer_status(&name);
    if (!status) status = append_outcome(outcomes, event, keel_buffer_bytes(&name));
    keel_buffer_deinitialize(&name);
    return status;
}

static keel_status_t next_outcome(keel_outcomes_t *outcomes, const json_t *event,
                                  const keel_outcome_t **out) {
    keel_buffer_t name;
    *out = NULL;
    name_outcome(&name, event);
    keel_status_t status = keel_buffer_status(&name);
    uint64_t *first = NULL;
    if (!status) first = keel_map_find(&outcomes->first_of, keel_buffer_bytes(&name));
    keel_buffer_deinitialize(&name);
    if (!first || *first == SIZE_MAX) return status;
    *out = &outcomes->list[*first];
    *first = (*out)->next;
    return NULL;
}

static void take_stored(const json_t *event, keel_took_t *out) {
    out->times = keel_event_times(event);
    out->seconds = keel_event_number(event, "compile_seconds");
    out->unknown = out->seconds <= 0 ? out->times : 0;
}

// The client's wait says nothing about a compile that it did not wait for.
keel_status_t keel_outcomes_take(keel_outcomes_t *outcomes, const json_t *event,
                                 keel_took_t *out_took, keel_run_fate_t *out_fate) {
    const char *word = keel_event_text(event, "rehearsed");
    bool is_compile = strcmp(keel_event_text(event, "event"), "compile") == 0;
    const keel_outcome_t *outcome = NULL;
    *out_fate = KEEL_RUN_COMPILED;
    *out_took = (keel_took_t){.times = 1, .unknown = 1};
    if (!is_compile) {
        take_stored(event, out_took);
        return NULL;
    }
    KEEL_TRY(next_outcome(outcomes, event, &outcome));
    if (outcome && outcome->failed)
        *out_fate = KEEL_RUN_REFUSED;
    else if (!outcome && strcmp(word, "now") != 0)
        *out_fate = strcmp(word, "never") == 0 ? KEEL_RUN_SKIPPED : KEEL_RUN_PENDING;
    if (*out_fate != KEEL_RUN_COMPILED) return NULL;
    out_took->unknown = 0;
    out_took->seconds = outcome ? outcome->seconds : keel_event_number(event, "seconds");
    return NULL;
}
