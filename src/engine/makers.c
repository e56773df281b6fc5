// Which program made what an execution takes, by the buffers' pointers.
//
// The last executions are kept with their arguments and results. That costs a copy of the pointers;
// they are looked at only when a new program is executed. Three facts are written then.
//
//   inputs     arguments of a new program that another program made. If that was its first
//              execution too, what changed there comes along.
//   steady     arguments of a new program that were not there before and that stay the same buffers
//              while it, or what follows it, is executed three times.
//   abandoned  results of a program that another program took in the cycle before, and for which
//              it now takes others, in the same place, that stay the same. Nobody takes those
//              results until the process ends, though the client holds them. What the program takes
//              of its own is no use: an optimizer goes on updating tensors whose gradients are 0.
//
// A buffer that was destroyed is not left, and its address may be another's.
#include <stdlib.h>

#include "engine/makers.h"

enum {
    RING = 64,           // executions that are kept
    BUFFERS = 1 << 14,   // of one execution; one with more is not followed
    DESTROYED = 1 << 15, // buffers that are remembered as gone
    WATCHED = 4,         // programs whose results, or whose arguments, are watched at a time
    PROGRAMS = 16,       // new programs while they are
    ARGUMENTS = 256,     // of one program that a fact names
    WAITING = 64,        // facts that are not written yet
    STEADY = 3,          // executions with the same buffers
};

typedef struct execution_t {
    counter_t *program; // NULL: unused
    uint64_t at;        // its number among those that are followed, from 1
    uint64_t destroyed; // makers.destroyed_count then
    bool is_first;      // of its program
    size_t taken, made; // arguments, and results behind them
    size_t room;
    const void **buffers;
} execution_t;

// Sorted pointers.
typedef struct set_t {
    const void **list;
    size_t count;
} set_t;

typedef struct programs_t {
    counter_t *list[PROGRAMS]; // in order of time
    size_t count;
} programs_t;

// Results that may have been abandoned.
typedef struct watch_t {
    counter_t *maker; // NULL: unused
    uint64_t period;  // executions between two of its own
    uint64_t from;    // the execution that began it
    set_t left;       // its results; those that were taken or destroyed are removed
    size_t abandoned; // as many of them in the third cycle
    set_t fresh;      // what came in their place
    programs_t programs;
} watch_t;

typedef struct fresh_t {
    const void *buffer;
    uint32_t argument;
    uint32_t taken; // how often
} fresh_t;

// Arguments that may be steady.
typedef struct newcomers_t {
    counter_t *program; // NULL: unused
    uint64_t from;
    fresh_t list[ARGUMENTS]; // by address
    size_t count;
    programs_t programs; // that took one of them in their first execution
} newcomers_t;

typedef struct inputs_t {
    counter_t *program, *maker;
    bool is_again; // the maker was executed before
    uint32_t arguments[ARGUMENTS];
    size_t count;
} inputs_t;

typedef struct steady_t {
    counter_t *program;
    uint32_t arguments[ARGUMENTS];
    size_t count;
    programs_t programs;
} steady_t;

struct makers_t {
    pthread_mutex_t lock;
    uint64_t count; // executions so far
    execution_t ring[RING];
    watch_t watches[WATCHED];
    newcomers_t newcomers[WATCHED];
    inputs_t inputs[WAITING];
    steady_t steady[WAITING];
    size_t input_count, steady_count;
    atomic_bool is_watching, is_used;
    _Atomic uint64_t destroyed_count;
    _Atomic uintptr_t destroyed[DESTROYED];
};

keel_status_t makers_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(makers_t), &memory));
    engine->makers = memory;
    pthread_mutex_init(&engine->makers->lock, NULL);
    return NULL;
}

static void forget(watch_t *watch) {
    keel_free(watch->left.list);
    keel_free(watch->fresh.list);
    *watch = (watch_t){0};
}

void makers_destroy(makers_t *makers) {
    if (!makers) return;
    for (size_t i = 0; i < RING; ++i)
        keel_free(makers->ring[i].buffers);
    for (size_t i = 0; i < WATCHED; ++i)
        forget(&makers->watches[i]);
    pthread_mutex_destroy(&makers->lock);
    keel_free(makers);
}

void makers_before_fork(keel_engine_t *engine) {
    pthread_mutex_lock(&engine->makers->lock);
}

void makers_after_fork(keel_engine_t *engine) {
    pthread_mutex_unlock(&engine->makers->lock);
}

// ---- sets of buffers ---------------------------------------------------------------------------

static int by_address(const void *a, const void *b) {
    uintptr_t x = (uintptr_t) * (const void *const *)a, y = (uintptr_t) * (const void *const *)b;
    return x < y ? -1 : x > y;
}

// Each buffer is kept once.
static void sort(set_t *set) {
    size_t kept = 0;
    if (set->count) qsort(set->list, set->count, sizeof *set->list, by_address);
    for (size_t i = 0; i < set->count; ++i)
        if (!i || set->list[i] != set->list[i - 1]) set->list[kept++] = set->list[i];
    set->count = kept;
}

static const void **find(const set_t *set, const void *buffer) {
    return set->count ? bsearch(&buffer, set->list, set->count, sizeof *set->list, by_address)
                      : NULL;
}

static void discard(set_t *set, const void *buffer) {
    const void **at = find(set, buffer);
    if (!at) return;
    size_t behind = (size_t)(set->list + set->count - at) - 1;
    memmove(at, at + 1, behind * sizeof *at);
    --set->count;
}

static bool make_set(size_t room, set_t *out) {
    void *memory = NULL;
    keel_status_t status = keel_alloc((room + 1) * sizeof *out->list, &memory);
    keel_status_ignore(status);
    *out = (set_t){status ? NULL : memory, 0};
    return !status;
}

// ---- executions --------------------------------------------------------------------------------

static const execution_t *execution_at(const makers_t *makers, uint64_t at) {
    const execution_t *execution = &makers->ring[at % RING];
    return at && execution->at == at ? execution : NULL;
}

// Buffers that were destroyed, and when last, by address.
typedef struct destruction_t {
    const void *buffer;
    uint64_t at;
} destruction_t;

typedef struct gone_t {
    uint64_t since; // what was destroyed before is unknown
    destruction_t *list;
    size_t count;
} gone_t;

static int by_buffer(const void *a, const void *b) {
    const destruction_t *x = a, *y = b;
    uintptr_t one = (uintptr_t)x->buffer, other = (uintptr_t)y->buffer;
    if (one != other) return one < other ? -1 : 1;
    return x->at < y->at ? 1 : -1;
}

static bool gather_gone(const makers_t *makers, uint64_t since, gone_t *out) {
    uint64_t count = atomic_load_explicit(&makers->destroyed_count, memory_order_relaxed);
    if (count - since >= DESTROYED) since = count - DESTROYED + 1;
    void *memory;
    *out = (gone_t){.since = since};
    keel_status_t status = keel_alloc((size_t)(count - since + 1) * sizeof *out->list, &memory);
    keel_status_ignore(status);
    if (status) return false;
    out->list = memory;
    for (uint64_t i = since; i < count; ++i)
        out->list[out->count++] =
            (destruction_t){(const void *)atomic_load_explicit(&makers->destroyed[i % DESTROYED],
                                                               memory_order_relaxed),
                            i};
    if (out->count) qsort(out->list, out->count, sizeof *out->list, by_buffer);
    return true;
}

// Destroyed after so many others were.
static bool is_gone(const gone_t *gone, const void *buffer, uint64_t since) {
    size_t low = 0, high = gone->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)gone->list[middle].buffer < (uintptr_t)buffer)
            low = middle + 1;
        else
            high = middle;
    }
    return since < gone->since ||
           (low < gone->count && gone->list[low].buffer == buffer && gone->list[low].at >= since);
}

static bool make_room(execution_t *execution, size_t count) {
    void *memory = execution->buffers;
    if (count <= execution->room) return true;
    keel_status_t status = keel_realloc_array(count, sizeof *execution->buffers, &memory);
    keel_status_ignore(status);
    if (status) return false;
    execution->buffers = memory;
    execution->room = count;
    return true;
}

// The first device's buffers are representative.
static const execution_t *keep(makers_t *makers, counter_t *program, size_t results,
                               const PJRT_LoadedExecutable_Execute_Args *args) {
    size_t taken = args->num_devices ? args->num_args : 0;
    size_t made = args->num_devices && args->output_lists ? results : 0;
    execution_t *execution = &makers->ring[(makers->count + 1) % RING];
    if (taken + made > BUFFERS || !make_room(execution, taken + made)) return NULL;
    execution->at = ++makers->count;
    execution->program = program;
    execution->destroyed = atomic_load_explicit(&makers->destroyed_count, memory_order_relaxed);
    execution->is_first = counter_executions(program) == 1;
    execution->taken = taken;
    execution->made = made;
    for (size_t i = 0; i < taken; ++i)
        execution->buffers[i] = args->argument_lists[0][i];
    for (size_t i = 0; i < made; ++i)
        execution->buffers[taken + i] = args->output_lists[0][i];
    return execution;
}

// ---- what another new program made -------------------------------------------------------------

// The arguments that it made and that no later execution did are marked.
static void note_inputs(makers_t *makers, const execution_t *to, const execution_t *from,
                        const gone_t *gone, bool *known, size_t *inout_left) {
    set_t made;
    inputs_t inputs = {.program = to->program, .maker = from->program, .is_again = !from->is_first};
    if (!make_set(from->made, &made)) return;
    for (size_t i = 0; i < from->made; ++i)
        if (!is_gone(gone, from->buffers[from->taken + i], from->destroyed))
            made.list[made.count++] = from->buffers[from->taken + i];
    sort(&made);
    for (size_t i = 0; i < to->taken; ++i) {
        if (known[i] || !find(&made, to->buffers[i])) continue;
        known[i] = true;
        --*inout_left;
        if (inputs.count < ARGUMENTS) inputs.arguments[inputs.count++] = (uint32_t)i;
    }
    keel_free(made.list);
    if (makers->input_count < WAITING && inputs.count)
        makers->inputs[makers->input_count++] = inputs;
}

static void find_inputs(makers_t *makers, const execution_t *to, const gone_t *gone) {
    void *memory;
    size_t left = to->taken;
    keel_status_t status = keel_calloc(left + 1, sizeof(bool), &memory);
    keel_status_ignore(status);
    for (uint64_t at = to->at - 1; !status && left && execution_at(makers, at); --at)
        note_inputs(makers, to, execution_at(makers, at), gone, memory, &left);
    keel_free(status ? NULL : memory);
}

// ---- what was not there before ------------------------------------------------------------------

static uint64_t oldest(const makers_t *makers, uint64_t to) {
    while (to > 1 && execution_at(makers, to - 1))
        --to;
    return to;
}

// What the executions up to `to` took and made, and what is still there.
static bool gather_known(const makers_t *makers, uint64_t to, const gone_t *gone, set_t *out) {
    size_t room = 0;
    uint64_t from = oldest(makers, to);
    for (uint64_t at = from; at <= to; ++at) {
        const execution_t *execution = execution_at(makers, at);
        room += execution ? execution->taken + execution->made : 0;
    }
    if (!make_set(room, out)) return false;
    for (uint64_t at = from; at <= to; ++at) {
        const execution_t *execution = execution_at(makers, at);
        for (size_t i = 0; execution && i < execution->taken + execution->made; ++i)
            if (!is_gone(gone, execution->buffers[i], execution->destroyed))
                out->list[out->count++] = execution->buffers[i];
    }
    sort(out);
    return true;
}

static void add_program(programs_t *programs, counter_t *program) {
    if (programs->count < PROGRAMS) programs->list[programs->count++] = program;
}

static int by_fresh(const void *a, const void *b) {
    const fresh_t *x = a, *y = b;
    uintptr_t one = (uintptr_t)x->buffer, other = (uintptr_t)y->buffer;
    return one < other ? -1 : one > other;
}

static fresh_t *find_fresh(newcomers_t *newcomers, const void *buffer) {
    const fresh_t wanted = {.buffer = buffer};
    return newcomers->count
               ? bsearch(&wanted, newcomers->list, newcomers->count, sizeof wanted, by_fresh)
               : NULL;
}

static newcomers_t *free_newcomers(makers_t *makers) {
    for (size_t i = 0; i < WATCHED; ++i)
        if (!makers->newcomers[i].program) return &makers->newcomers[i];
    return NULL;
}

static void begin_newcomers(makers_t *makers, const execution_t *to, const gone_t *gone) {
    newcomers_t *newcomers = free_newcomers(makers);
    set_t known;
    if (!newcomers || to->at < STEADY || !gather_known(makers, to->at - 1, gone, &known)) return;
    newcomers->count = newcomers->programs.count = 0;
    for (size_t i = 0; i < to->taken && newcomers->count < ARGUMENTS; ++i)
        if (!find(&known, to->buffers[i]))
            newcomers->list[newcomers->count++] = (fresh_t){to->buffers[i], (uint32_t)i, 0};
    keel_free(known.list);
    if (!newcomers->count) return;
    qsort(newcomers->list, newcomers->count, sizeof *newcomers->list, by_fresh);
    newcomers->program = to->program;
    newcomers->from = to->at;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void settle_newcomers(makers_t *makers, newcomers_t *newcomers) {
    if (makers->steady_count < WAITING) {
        steady_t *steady = &makers->steady[makers->steady_count++];
        steady->program = newcomers->program;
        steady->programs = newcomers->programs;
        steady->count = 0;
        for (size_t i = 0; i < newcomers->count; ++i)
            if (newcomers->list[i].taken >= STEADY)
                steady->arguments[steady->count++] = newcomers->list[i].argument;
        qsort(steady->arguments, steady->count, sizeof *steady->arguments, by_number);
    }
    newcomers->program = NULL;
}

static void follow_newcomers(makers_t *makers, newcomers_t *newcomers,
                             const execution_t *execution) {
    bool takes_one = false, is_settled = false;
    for (size_t i = 0; i < execution->taken; ++i) {
        fresh_t *fresh = find_fresh(newcomers, execution->buffers[i]);
        if (!fresh) continue;
        takes_one = true;
        is_settled |= ++fresh->taken >= STEADY;
    }
    if (takes_one && execution->is_first && execution->program != newcomers->program)
        add_program(&newcomers->programs, execution->program);
    if (is_settled)
        settle_newcomers(makers, newcomers);
    else if (execution->at - newcomers->from >= RING)
        newcomers->program = NULL;
}

// ---- what nobody takes any more ----------------------------------------------------------------

static const execution_t *last_of(const makers_t *makers, const counter_t *program, uint64_t at) {
    for (; at && execution_at(makers, at); --at)
        if (execution_at(makers, at)->program == program) return execution_at(makers, at);
    return NULL;
}

// Which of its results that is; SIZE_MAX.
static size_t result_of(const execution_t *execution, const void *buffer) {
    for (size_t i = 0; i < execution->made; ++i)
        if (execution->buffers[execution->taken + i] == buffer) return i;
    return SIZE_MAX;
}

// In its place, `then` took a result of `before`, and `now` takes what was not there before.
static void compare_cycles(const execution_t *before, const execution_t *last,
                           const execution_t *then, const execution_t *now, const set_t *made,
                           const set_t *known, watch_t *out) {
    for (size_t i = 0; i < then->taken; ++i) {
        if (!find(made, then->buffers[i]) || find(known, now->buffers[i])) continue;
        size_t result = result_of(before, then->buffers[i]);
        if (result == SIZE_MAX) continue;
        out->left.list[out->left.count++] = last->buffers[last->taken + result];
        out->fresh.list[out->fresh.count++] = now->buffers[i];
    }
}

// Returns how many of them it took.
static size_t remove_taken(watch_t *watch, const execution_t *execution) {
    size_t left = watch->left.count;
    for (size_t i = 0; execution->program != watch->maker && i < execution->taken; ++i)
        discard(&watch->left, execution->buffers[i]);
    return left - watch->left.count;
}

static watch_t *free_watch(makers_t *makers) {
    for (size_t i = 0; i < WATCHED; ++i)
        if (!makers->watches[i].maker) return &makers->watches[i];
    return NULL;
}

static void find_abandoned(makers_t *makers, const execution_t *before, const execution_t *last,
                           const execution_t *to, const gone_t *gone, watch_t *watch) {
    set_t made = {0}, known = {0};
    size_t room = 0;
    for (uint64_t at = last->at + 1; at <= to->at; ++at)
        room += execution_at(makers, at) ? execution_at(makers, at)->taken : 0;
    bool is_known = make_set(before->made, &made) && gather_known(makers, last->at, gone, &known) &&
                    make_set(room, &watch->left) && make_set(room, &watch->fresh);
    for (size_t i = 0; is_known && i < before->made; ++i)
        made.list[made.count++] = before->buffers[before->taken + i];
    sort(&made);
    for (uint64_t d = 1; is_known && d < watch->period && last->at + d <= to->at; ++d) {
        const execution_t *then = execution_at(makers, before->at + d),
                          *now = execution_at(makers, last->at + d);
        if (then && now && then->program == now->program && then->taken == now->taken)
            compare_cycles(before, last, then, now, &made, &known, watch);
    }
    keel_free(made.list);
    keel_free(known.list);
    sort(&watch->left);
    sort(&watch->fresh);
    for (uint64_t at = last->at + 1; at <= to->at; ++at)
        if (execution_at(makers, at)) remove_taken(watch, execution_at(makers, at));
    for (size_t i = watch->left.count; i-- > 0;)
        if (is_gone(gone, watch->left.list[i], last->destroyed))
            discard(&watch->left, watch->left.list[i]);
}

static void watch_results(makers_t *makers, const execution_t *before, const execution_t *last,
                          const execution_t *to, const gone_t *gone) {
    watch_t *watch = free_watch(makers);
    uint64_t period = last->at - before->at;
    if (!watch || before->made != last->made || period < 2) return;
    *watch = (watch_t){.maker = last->program, .period = period, .from = to->at};
    find_abandoned(makers, before, last, to, gone, watch);
    if (!watch->left.count) forget(watch);
}

static bool is_watched(const makers_t *makers, const counter_t *program) {
    for (size_t i = 0; i < WATCHED; ++i)
        if (makers->watches[i].maker == program) return true;
    return false;
}

static void begin_watches(makers_t *makers, const execution_t *to, const gone_t *gone) {
    for (uint64_t at = to->at - 1; at && execution_at(makers, at); --at) {
        const execution_t *last = execution_at(makers, at);
        const execution_t *before = last_of(makers, last->program, at - 1);
        bool is_newest = last_of(makers, last->program, to->at) == last;
        if (before && is_newest && !is_watched(makers, last->program))
            watch_results(makers, before, last, to, gone);
    }
}

// True if it takes what came in the place of all that are left.
static bool takes_others(const watch_t *watch, const execution_t *execution) {
    size_t taken = 0;
    for (size_t i = 0; i < execution->taken && taken < watch->left.count; ++i)
        taken += find(&watch->fresh, execution->buffers[i]) != NULL;
    return taken && taken >= watch->left.count;
}

static void go_on(watch_t *watch, const execution_t *execution) {
    bool is_late = execution->at > watch->from + watch->period;
    if (execution->is_first && execution->at < watch->from + 2 * watch->period)
        add_program(&watch->programs, execution->program);
    bool was_taken = remove_taken(watch, execution) && watch->abandoned;
    if (is_late && !watch->abandoned && takes_others(watch, execution))
        watch->abandoned = watch->left.count;
    if (was_taken || (!watch->left.count && !watch->abandoned)) forget(watch);
}

static void note_watching(makers_t *makers) {
    bool any = false;
    for (size_t i = 0; i < WATCHED; ++i)
        any |= makers->watches[i].maker || makers->newcomers[i].program;
    atomic_store_explicit(&makers->is_watching, any, memory_order_relaxed);
}

static void meet_new(makers_t *makers, const execution_t *execution) {
    const execution_t *first = execution_at(makers, oldest(makers, execution->at));
    gone_t gone;
    if (!gather_gone(makers, first ? first->destroyed : 0, &gone)) return;
    find_inputs(makers, execution, &gone);
    begin_newcomers(makers, execution, &gone);
    begin_watches(makers, execution, &gone);
    keel_free(gone.list);
}

void makers_executed(keel_engine_t *engine, counter_t *program, size_t results,
                     const PJRT_LoadedExecutable_Execute_Args *args) {
    makers_t *makers = engine->makers;
    pthread_mutex_lock(&makers->lock);
    atomic_store_explicit(&makers->is_used, true, memory_order_relaxed);
    const execution_t *execution = keep(makers, program, results, args);
    if (execution && execution->is_first) meet_new(makers, execution);
    for (size_t i = 0; execution && i < WATCHED; ++i) {
        if (makers->watches[i].maker) go_on(&makers->watches[i], execution);
        if (makers->newcomers[i].program)
            follow_newcomers(makers, &makers->newcomers[i], execution);
    }
    note_watching(makers);
    pthread_mutex_unlock(&makers->lock);
}

static void discard_fresh(newcomers_t *newcomers, const void *buffer) {
    fresh_t *at = newcomers->program ? find_fresh(newcomers, buffer) : NULL;
    if (!at) return;
    size_t behind = (size_t)(newcomers->list + newcomers->count - at) - 1;
    memmove(at, at + 1, behind * sizeof *at);
    --newcomers->count;
}

void makers_destroyed(keel_engine_t *engine, const PJRT_Buffer *buffer) {
    makers_t *makers = engine->makers;
    if (!atomic_load_explicit(&makers->is_used, memory_order_relaxed)) return;
    uint64_t at =
        atomic_fetch_add_explicit(&makers->destroyed_count, 1, memory_order_relaxed) % DESTROYED;
    atomic_store_explicit(&makers->destroyed[at], (uintptr_t)buffer, memory_order_relaxed);
    if (!atomic_load_explicit(&makers->is_watching, memory_order_relaxed)) return;
    pthread_mutex_lock(&makers->lock);
    for (size_t i = 0; i < WATCHED; ++i) {
        discard(&makers->watches[i].left, buffer);
        discard(&makers->watches[i].fresh, buffer);
        discard_fresh(&makers->newcomers[i], buffer);
    }
    pthread_mutex_unlock(&makers->lock);
}

// ---- the journal -------------------------------------------------------------------------------

static size_t digests_of(const programs_t *programs, const keel_digest_t **out) {
    for (size_t i = 0; i < programs->count; ++i)
        out[i] = counter_program(programs->list[i]);
    return programs->count;
}

static void write_steady(keel_engine_t *engine, const steady_t *steady) {
    const keel_digest_t *programs[PROGRAMS];
    size_t count = digests_of(&steady->programs, programs);
    keel_journal_steady(engine->journal, counter_program(steady->program), steady->arguments,
                        steady->count, programs, count);
}

static void write_abandoned(keel_engine_t *engine, const watch_t *watch) {
    const keel_digest_t *programs[PROGRAMS];
    size_t count = digests_of(&watch->programs, programs);
    keel_journal_abandoned(engine->journal, counter_program(watch->maker), watch->abandoned,
                           programs, count);
}

void makers_journal(keel_engine_t *engine, bool is_last) {
    makers_t *makers = engine->makers;
    pthread_mutex_lock(&makers->lock);
    for (size_t i = 0; is_last && i < WATCHED; ++i)
        if (makers->watches[i].maker && makers->watches[i].abandoned)
            write_abandoned(engine, &makers->watches[i]);
    for (size_t i = 0; i < makers->input_count; ++i)
        keel_journal_inputs(engine->journal, counter_program(makers->inputs[i].program),
                            counter_program(makers->inputs[i].maker), makers->inputs[i].is_again,
                            makers->inputs[i].arguments, makers->inputs[i].count);
    for (size_t i = 0; i < makers->steady_count; ++i)
        write_steady(engine, &makers->steady[i]);
    makers->input_count = makers->steady_count = 0;
    pthread_mutex_unlock(&makers->lock);
}
