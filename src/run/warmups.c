#include "run/warmups.h"

#include <stdlib.h>

typedef struct pair_t {
    int64_t pid;
    uint64_t number; // of a family or a program
} pair_t;

static keel_bytes_t pair_bytes(const pair_t *pair) {
    return keel_bytes(pair, sizeof *pair);
}

void keel_warmups_initialize(keel_warmups_t *warmups) {
    *warmups = (keel_warmups_t){0};
    keel_map_initialize(&warmups->requests);
    keel_map_initialize(&warmups->programs);
    keel_map_initialize(&warmups->by_function);
}

void keel_warmups_deinitialize(keel_warmups_t *warmups) {
    keel_map_deinitialize(&warmups->requests);
    keel_map_deinitialize(&warmups->programs);
    keel_map_deinitialize(&warmups->by_function);
    keel_free(warmups->functions);
    keel_free(warmups->spans);
    *warmups = (keel_warmups_t){0};
}

static keel_status_t function_of(keel_warmups_t *warmups, int64_t pid, size_t family,
                                 struct keel_warmup_t **out) {
    const pair_t pair = {pid, family};
    const uint64_t *known = keel_map_find(&warmups->by_function, pair_bytes(&pair));
    size_t at = known ? (size_t)*known : warmups->count;
    if (!known) {
        void *grown = warmups->functions;
        KEEL_TRY(keel_grow_array(at, sizeof *warmups->functions, &warmups->room, &grown));
        warmups->functions = grown;
        warmups->functions[at] = (struct keel_warmup_t){.pid = pid};
        KEEL_TRY(keel_map_put(&warmups->by_function, pair_bytes(&pair), at));
        ++warmups->count;
    }
    *out = &warmups->functions[at];
    return NULL;
}

static uint64_t requests_of(const keel_warmups_t *warmups, int64_t pid) {
    const uint64_t *count = keel_map_find(&warmups->requests, keel_bytes(&pid, sizeof pid));
    return count ? *count : 0;
}

keel_status_t keel_warmups_asked(keel_warmups_t *warmups, int64_t pid, size_t family,
                                 size_t program, keel_journal_function_t kind, bool is_partial) {
    struct keel_warmup_t *function;
    const pair_t pair = {pid, program};
    KEEL_TRY(keel_map_add(&warmups->requests, keel_bytes(&pid, sizeof pid), 1));
    if (keel_map_find(&warmups->programs, pair_bytes(&pair))) return NULL;
    KEEL_TRY(function_of(warmups, pid, family, &function));
    kind.programs = function->figures.programs;
    kind.executions = function->figures.executions;
    function->figures = kind;
    bool warms_up = !is_partial && keel_journal_warms_up(kind);
    uint64_t number = ++function->figures.programs;
    if (number == 1) function->first = requests_of(warmups, pid);
    KEEL_TRY(keel_map_put(&warmups->programs, pair_bytes(&pair), number));
    if (!warms_up) return NULL;
    function->request = requests_of(warmups, pid);
    function->programs = number;
    function->is_used = false;
    return NULL;
}

keel_status_t keel_warmups_ran(keel_warmups_t *warmups, int64_t pid, size_t family, size_t program,
                               uint64_t times) {
    struct keel_warmup_t *function;
    const pair_t pair = {pid, program};
    KEEL_TRY(function_of(warmups, pid, family, &function));
    function->figures.executions += times;
    const uint64_t *number = keel_map_find(&warmups->programs, pair_bytes(&pair));
    if (number && *number < function->programs) function->is_used = true;
    return NULL;
}

void keel_warmups_frozen(keel_warmups_t *warmups, int64_t pid) {
    for (size_t i = 0; i < warmups->count; ++i)
        if (warmups->functions[i].pid == pid) warmups->functions[i].is_used = true;
}

static int by_place(const void *a, const void *b) {
    const struct keel_warmups_span_t *x = a, *y = b;
    if (x->pid != y->pid) return x->pid < y->pid ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

// Those that meet become one.
static void join_spans(keel_warmups_t *warmups) {
    size_t count = 0;
    for (size_t i = 0; i < warmups->span_count; ++i) {
        struct keel_warmups_span_t *last = &warmups->spans[count - 1], *span = &warmups->spans[i];
        if (count && last->pid == span->pid && span->first <= last->last) {
            if (span->last > last->last) last->last = span->last;
        } else {
            warmups->spans[count++] = *span;
        }
    }
    warmups->span_count = count;
}

keel_status_t keel_warmups_settle(keel_warmups_t *warmups) {
    void *memory;
    KEEL_TRY(keel_calloc(warmups->count ? warmups->count : 1, sizeof *warmups->spans, &memory));
    warmups->spans = memory;
    for (size_t i = 0; i < warmups->count; ++i) {
        const struct keel_warmup_t *function = &warmups->functions[i];
        if (function->programs >= KEEL_JOURNAL_WARM_LEAST && function->is_used)
            warmups->spans[warmups->span_count++] =
                (struct keel_warmups_span_t){function->pid, function->first, function->request};
    }
    if (warmups->span_count)
        qsort(warmups->spans, warmups->span_count, sizeof *warmups->spans, by_place);
    join_spans(warmups);
    return NULL;
}

bool keel_warmups_have(const keel_warmups_t *warmups, int64_t pid, uint64_t requests) {
    const struct keel_warmups_span_t place = {.pid = pid, .first = requests};
    size_t low = 0, high = warmups->span_count; // of those that do not begin behind it
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_place(&warmups->spans[middle], &place) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct keel_warmups_span_t *span = low ? &warmups->spans[low - 1] : NULL;
    return span && span->pid == pid && requests < span->last;
}
