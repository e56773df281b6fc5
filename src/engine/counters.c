#include "engine/counters.h"

// Programs that a call of a waiting client may collect: this many for each such call, those of
// earlier calls included up to a limit. A run of an ordinary size never has more.
enum {
    FEW_EACH = 4,
    FEW_FIRST = 256,
    FEW_MOST = 1024,
};

struct counter_t {
    keel_digest_t program;
    uint64_t number;       // from 1
    _Atomic bool is_named; // a line of the journal has it
    _Atomic bool is_followed;
    _Atomic uint64_t count;
    _Atomic uint64_t step; // the step of its last execution, from 1
    _Atomic bool has_run;  // since its executions were collected; then it is in `ran`
    counter_t *next_ran;
    uint64_t reported; // under the lock
    _Atomic(struct asked_t *) asked;
    _Atomic(_Atomic uint64_t *) sum; // of its function; NULL: none
    counter_t *next;
};

struct counters_t {
    _Atomic uint64_t others; // executions of executables that are not in a table
    // Steps that the user marked; programs executed in the one under way, and in the last one.
    _Atomic uint64_t steps, in_step, in_last;
    _Atomic(counter_t *) ran; // a stack
    _Atomic size_t ran_count; // a moment late

    pthread_mutex_t lock; // for the fields below
    counter_t *first;
    keel_map_t by_program; // digest -> counter_t *
    uint64_t steps_reported;
    size_t few; // programs that the next call of a waiting client may collect
};

keel_status_t counters_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(counters_t), &memory));
    engine->counters = memory;
    pthread_mutex_init(&engine->counters->lock, NULL);
    keel_map_initialize(&engine->counters->by_program);
    engine->counters->few = FEW_FIRST;
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
    counter->number = counters->by_program.count + 1;
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

uint64_t counters_name(counters_t *counters, const keel_digest_t *program) {
    counter_t *counter;
    keel_status_t status = counters_of(counters, program, &counter);
    keel_status_ignore(status); // then counts have its digest
    if (status) return 0;
    atomic_store(&counter->is_named, true);
    return counter->number;
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

// From one to another that it leads to.
static void push_ran(counters_t *counters, counter_t *first, counter_t *last, size_t count) {
    counter_t *next = atomic_load(&counters->ran);
    do
        last->next_ran = next;
    while (!atomic_compare_exchange_weak(&counters->ran, &next, first));
    atomic_fetch_add(&counters->ran_count, count);
}

uint64_t counters_executed(counters_t *counters, counter_t *counter) {
    if (!counter) return atomic_fetch_add_explicit(&counters->others, 1, memory_order_relaxed);
    // In this order, and in the opposite one where they are collected, so none is forgotten.
    uint64_t before = atomic_fetch_add(&counter->count, 1);
    if (!atomic_load(&counter->has_run) && !atomic_exchange(&counter->has_run, true))
        push_ran(counters, counter, counter, 1);
    _Atomic uint64_t *sum = atomic_load_explicit(&counter->sum, memory_order_acquire);
    if (sum) atomic_fetch_add_explicit(sum, 1, memory_order_relaxed);
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

void counter_follow(counter_t *counter) {
    atomic_store_explicit(&counter->is_followed, true, memory_order_relaxed);
}

bool counter_is_followed(const counter_t *counter) {
    return atomic_load_explicit(&counter->is_followed, memory_order_relaxed);
}

void counter_join(counter_t *counter, _Atomic uint64_t *sum) {
    atomic_store_explicit(&counter->sum, sum, memory_order_release);
    atomic_fetch_add_explicit(sum, counter_executions(counter), memory_order_relaxed);
}

uint64_t counters_total(counters_t *counters) {
    pthread_mutex_lock(&counters->lock);
    uint64_t total = atomic_load(&counters->others);
    for (const counter_t *counter = counters->first; counter; counter = counter->next)
        total += counter_executions(counter);
    pthread_mutex_unlock(&counters->lock);
    return total;
}

static void take_back(counters_t *counters, counter_t *first, size_t count) {
    counter_t *last = first;
    while (last->next_ran)
        last = last->next_ran;
    push_ran(counters, first, last, count);
}

static keel_status_t collect(counters_t *counters, keel_journal_counts_t *out) {
    counter_t *first = atomic_exchange(&counters->ran, NULL);
    size_t count = 0, size = 0;
    void *memory;
    for (const counter_t *counter = first; counter; counter = counter->next_ran)
        ++count;
    if (!count) return NULL;
    atomic_fetch_sub(&counters->ran_count, count);
    keel_status_t status = keel_calloc(count, sizeof(keel_journal_count_t), &memory);
    if (status) {
        take_back(counters, first, count);
        return status;
    }
    keel_journal_count_t *counts = memory;
    for (counter_t *counter = first, *next; counter; counter = next) {
        next = counter->next_ran;
        atomic_store(&counter->has_run, false); // from here on it may be added again
        uint64_t now = atomic_load(&counter->count);
        uint64_t number = atomic_load(&counter->is_named) ? counter->number : 0;
        counts[size++] = (keel_journal_count_t){counter->program, now - counter->reported, number};
        counter->reported = now;
    }
    *out = (keel_journal_counts_t){counts, size};
    counters->few -= size < counters->few ? size : counters->few;
    return NULL;
}

keel_status_t counters_collect(counters_t *counters, keel_journal_counts_t *out) {
    *out = (keel_journal_counts_t){0};
    pthread_mutex_lock(&counters->lock);
    keel_status_t status = collect(counters, out);
    pthread_mutex_unlock(&counters->lock);
    return status;
}

keel_status_t counters_collect_few(counters_t *counters, keel_journal_counts_t *out,
                                   bool *out_is_all) {
    *out = (keel_journal_counts_t){0};
    pthread_mutex_lock(&counters->lock);
    counters->few += counters->few + FEW_EACH <= FEW_MOST ? FEW_EACH : 0;
    *out_is_all = atomic_load(&counters->ran_count) <= counters->few;
    keel_status_t status = *out_is_all ? collect(counters, out) : NULL;
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
