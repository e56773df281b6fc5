#include "engine/counters.h"

keel_status_t counters_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(counters_t), &memory));
    engine->counters = memory;
    pthread_mutex_init(&engine->counters->lock, NULL);
    keel_map_initialize(&engine->counters->by_program);
    return NULL;
}

void counters_destroy(counters_t *counters) {
    if (!counters) return;
    keel_map_deinitialize(&counters->by_program);
    pthread_mutex_destroy(&counters->lock);
    keel_free(counters);
}

// ---- executions --------------------------------------------------------------------------------

static counter_t *find_counter(counters_t *counters, keel_bytes_t key) {
    const uint64_t *known = keel_map_find(&counters->by_program, key);
    return known ? (counter_t *)(uintptr_t)*known : NULL;
}

static keel_status_t add_counter(counters_t *counters, const keel_digest_t *program,
                                 keel_bytes_t key, counter_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(counter_t), &memory));
    counter_t *counter = memory;
    counter->program = *program;
    keel_status_t status = keel_map_put(&counters->by_program, key, (uintptr_t)counter);
    if (status) {
        keel_free(counter);
        return status;
    }
    counter->next = counters->first;
    counters->first = counter;
    *out = counter;
    return NULL;
}

keel_status_t counters_of(counters_t *counters, const keel_digest_t *program, counter_t **out) {
    keel_bytes_t key = keel_bytes(program->bytes, KEEL_DIGEST_SIZE);
    pthread_mutex_lock(&counters->lock);
    *out = find_counter(counters, key);
    keel_status_t status = *out ? NULL : add_counter(counters, program, key, out);
    pthread_mutex_unlock(&counters->lock);
    return status;
}

counter_t *counters_find(counters_t *counters, const keel_digest_t *program) {
    pthread_mutex_lock(&counters->lock);
    counter_t *counter = find_counter(counters, keel_bytes(program->bytes, KEEL_DIGEST_SIZE));
    pthread_mutex_unlock(&counters->lock);
    return counter;
}

static keel_status_t collect(counters_t *counters, keel_journal_counts_t *out,
                             uint64_t *out_total) {
    void *memory;
    KEEL_TRY(keel_calloc(counters->by_program.count, sizeof(keel_journal_count_t), &memory));
    keel_journal_count_t *counts = memory;
    uint64_t total = atomic_load(&counters->others);
    size_t size = 0;
    for (counter_t *counter = counters->first; counter; counter = counter->next) {
        uint64_t now = atomic_load_explicit(&counter->count, memory_order_relaxed);
        total += now;
        if (now == counter->reported) continue;
        counts[size++] = (keel_journal_count_t){counter->program, now - counter->reported};
        counter->reported = now;
    }
    *out = (keel_journal_counts_t){counts, size};
    *out_total = total;
    return NULL;
}

keel_status_t counters_collect(counters_t *counters, keel_journal_counts_t *out,
                               uint64_t *out_total) {
    pthread_mutex_lock(&counters->lock);
    keel_status_t status = collect(counters, out, out_total);
    pthread_mutex_unlock(&counters->lock);
    return status;
}

// ---- transfers ---------------------------------------------------------------------------------

void transfer_counter_add(transfer_counter_t *counter, uint64_t bytes) {
    atomic_fetch_add_explicit(&counter->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counter->bytes, bytes, memory_order_relaxed);
}

void transfer_counter_took(transfer_counter_t *counter, uint64_t nanoseconds) {
    atomic_fetch_add_explicit(&counter->nanoseconds, nanoseconds, memory_order_relaxed);
}

transfer_count_t transfer_counter_load(const transfer_counter_t *counter) {
    return (transfer_count_t){
        .count = atomic_load_explicit(&counter->count, memory_order_relaxed),
        .bytes = atomic_load_explicit(&counter->bytes, memory_order_relaxed),
        .nanoseconds = atomic_load_explicit(&counter->nanoseconds, memory_order_relaxed)};
}
