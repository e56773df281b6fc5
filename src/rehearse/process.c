// Which of the target's processes this one is.
//
// Clients of several processes tell it as options, except JAX's of a TPU, for which python/keel
// sets the variables (rehearsal.py). libtpu's own variables tell it on machines with TPUs:
// CLOUD_TPU_TASK_ID if several processes share them, otherwise TPU_WORKER_ID.
#include <stdlib.h>

#include "rehearse/objects.h"

// -1: not told.
static int64_t told(const char *variable) {
    const char *text = getenv(variable);
    if (!text || !keel_is_digit(*text)) return -1;
    char *end;
    long long number = strtoll(text, &end, 10);
    return *end || number > INT32_MAX ? -1 : number;
}

static int64_t option(const PJRT_NamedValue *options, size_t count, const char *wanted) {
    for (size_t i = 0; i < count; ++i) {
        keel_str_t name = {options[i].name, options[i].name_size};
        if (keel_str_is(name, wanted) && options[i].type == PJRT_NamedValue_kInt64)
            return options[i].int64_value;
    }
    return -1;
}

static int64_t first(const int64_t *numbers, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (numbers[i] >= 0) return numbers[i];
    return -1;
}

static keel_status_t check_count(int64_t count) {
    const keel_target_t *target = rehearsal.target;
    if (count < 0 || count == target->process_count) return NULL;
    return keel_status_make(KEEL_INVALID,
                            "the program is started as %lld process%s, and %s has %u; start %u, or "
                            "rehearse it on a target of %lld",
                            (long long)count, count == 1 ? "" : "es", target->name,
                            target->process_count, target->process_count, (long long)count);
}

keel_status_t process_number(const PJRT_NamedValue *options, size_t count, int *out) {
    bool is_tpu = rehearsal.target->platform == KEEL_TARGET_TPU;
    const int64_t numbers[] = {
        option(options, count, "node_id"), is_tpu ? told("CLOUD_TPU_TASK_ID") : -1,
        told("KEEL_REHEARSE_PROCESS"), is_tpu ? told("TPU_WORKER_ID") : -1, 0};
    const int64_t counts[] = {option(options, count, "num_nodes"), told("KEEL_REHEARSE_PROCESSES")};
    KEEL_TRY(check_count(first(counts, 2)));
    int64_t number = first(numbers, sizeof numbers / sizeof *numbers);
    if (number >= rehearsal.target->process_count)
        return keel_status_make(KEEL_INVALID, "process %lld, and %s has %u", (long long)number,
                                rehearsal.target->name, rehearsal.target->process_count);
    *out = (int)number;
    return NULL;
}
