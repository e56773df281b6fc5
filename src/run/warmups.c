#include "run/warmups.h"

enum { LEAST = 3 }; // programs; with two, the second is rather an accident

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
    warmups->functions = NULL;
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

uint64_t keel_warmups_end(const keel_warmups_t *warmups, int64_t pid) {
    uint64_t last = 0;
    for (size_t i = 0; i < warmups->count; ++i) {
        const struct keel_warmup_t *function = &warmups->functions[i];
        if (function->pid == pid && function->programs >= LEAST && function->is_used &&
            function->request > last)
            last = function->request;
    }
    return last;
}
