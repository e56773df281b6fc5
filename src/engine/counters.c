#include "engine/counters.h"

struct counter_t {
    keel_digest_t program;
    _Atomic uint64_t count;
    _Atomic uint64_t step; // the step of its last execution, from 1
    uint64_t reported;     // under the lock
    _Atomic(struct asked_t *) asked;
    counter_t *next;
};

struct counters_t {
    _Atomic uint64_t others; // executions of executables that are not in a table
    // Steps that the user marked; programs executed in the one under way, and in the last one.
    _Atomic uint64_t steps, in_step, in_last;

    pthread_mutex_t lock; // for the fields below
    counter_t *first;
    keel_map_t by_program; // digest -> counter_t *
    uint64_t steps_reported;
};

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
    for (counter_t *counter = counters->first, *next; counter; counter = next) {
        next = counter->next;
        keel_free(counter);
    }
    keel_map_deinitialize(&counters->by_program);
    pthread_mutex_destroy(&counters->lock);
    keel_free(counters);
}

// ---- programs ----------------------------------------------------------------------------------

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

const keel_digest_t *counter_program(const counter_t *counter) {
    return &counter->program;
}

struct asked_t *counter_asked(const counter_t *counter) {
    return atomic_load_explicit(&counter->asked, memory_order_acquire);
}

void counter_set_asked(counter_t *counter, struct asked_t *asked) {
    atomic_store_explicit(&counter->asked, asked, memory_order_release);
}

// ---- executions --------------------------------------------------------------------------------

uint64_t counters_executed(counters_t *counters, counter_t *counter) {
    if (!counter) return atomic_fetch_add_explicit(&counters->others, 1, memory_order_relaxed);
    uint64_t before = atomic_fetch_add_explicit(&counter->count, 1, memory_order_relaxed);
    uint64_t step = atomic_load_explicit(&counters->steps, memory_order_relaxed) + 1;
    if (atomic_load_explicit(&counter->step, memory_order_relaxed) != step &&
        atomic_exchange_explicit(&counter->step, step, memory_order_relaxed) != step)
        atomic_fetch_add_explicit(&counters->in_step, 1, memory_order_relaxed);
    return before;
}

uint64_t keel_engine_executions(keel_engine_t *engine, const keel_digest_t *program) {
    const counter_t *counter = counters_find(engine->counters, program);
    return counter ? counter_executions(counter) : 0;
}

uint64_t counter_executions(const counter_t *counter) {
    return atomic_load_explicit(&counter->count, memory_order_relaxed);
}

static keel_status_t collect(counters_t *counters, keel_journal_counts_t *out,
                             uint64_t *out_total) {
    void *memory;
    KEEL_TRY(keel_calloc(counters->by_program.count, sizeof(keel_journal_count_t), &memory));
    keel_journal_count_t *counts = memory;
    uint64_t total = atomic_load(&counters->others);
    size_t size = 0;
    for (counter_t *counter = counters->first; counter; counter = counter->next) {
        uint64_t now = counter_executions(counter);
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

// ---- steps -------------------------------------------------------------------------------------

void counters_step_ended(counters_t *counters) {
    uint64_t in_step = atomic_exchange_explicit(&counters->in_step, 0, memory_order_relaxed);
    atomic_store_explicit(&counters->in_last, in_step, memory_order_relaxed);
    atomic_fetch_add_explicit(&counters->steps, 1, memory_order_relaxed);
}

counters_steps_t counters_steps(const counters_t *counters) {
    return (counters_steps_t){
        .ended = atomic_load_explicit(&counters->steps, memory_order_relaxed),
        .in_step = atomic_load_explicit(&counters->in_step, memory_order_relaxed),
        .in_last = atomic_load_explicit(&counters->in_last, memory_order_relaxed)};
}

uint64_t counters_collect_steps(counters_t *counters) {
    pthread_mutex_lock(&counters->lock);
    uint64_t ended = atomic_load_explicit(&counters->steps, memory_order_relaxed);
    uint64_t fresh = ended - counters->steps_reported;
    counters->steps_reported = ended;
    pthread_mutex_unlock(&counters->lock);
    return fresh;
}
