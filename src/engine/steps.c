// A step ends when the user says so (keel_step). In a process that never says so, an execution of
// the leading function ends one: the function whose programs did the most work so far, operations
// times executions. A function that computes gradients and ran more than once goes before all
// others: beside a training step, loaders, samplers and metrics may run far more often. Operations
// that ran by themselves lead only if nothing else ran. Executions of a warm-up end no step
// (journal/steps.h); which they were is known later, so the journal numbers them all.
#include "engine/steps.h"

#include <unistd.h>

#include "engine/clients.h"
#include "engine/counters.h"
#include "engine/flow.h"
#include "engine/order.h"

// A program of a function.
typedef struct member_t {
    const counter_t *counter;
    uint64_t ops;
    struct member_t *next;
} member_t;

typedef struct function_t {
    member_t *first;
    _Atomic uint64_t executions; // of its programs
    uint64_t programs;
    uint64_t warm; // its executions when the last program of a warm-up came, of whichever function
    bool is_eager, has_gradient, is_recorded;
    // Its executions when the last new program of any function came, the `noted`th; and those from
    // which on whole steps count for a program that comes in the same step as that one.
    uint64_t noted, at, settled;
    struct function_t *next;
} function_t;

// Functions whose executions are noted for each new program, the newest ones; and the leading one.
enum { NOTED_MOST = 256 };

struct steps_t {
    pthread_mutex_t lock;     // for the fields below
    keel_arena_t arena;       // of functions and members
    keel_map_t by_name;       // of functions -> function_t *
    keel_map_t members;       // by program
    keel_map_t programs;      // by key
    function_t *functions[2]; // newest first; by whether they are operations that ran by themselves
    function_t *leading;
    // Since the leading one was last looked for: asks; executions by then, of the newest functions.
    uint64_t since_look, looked_at;
    // New programs since the end of step `fresh_at`; and when the last new one came.
    uint64_t fresh, fresh_at, settled;
    uint64_t settled_before; // `settled`, without the new programs since the end of that step
    uint64_t executed;       // executions when the last new one came
    bool was_quiet;          // see steps_when_t, is_late
    bool is_of_new;          // the new programs of step `fresh_at` began with a new function
};

keel_status_t steps_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(steps_t), &memory));
    engine->steps = memory;
    pthread_mutex_init(&engine->steps->lock, NULL);
    keel_arena_initialize(&engine->steps->arena, 0);
    keel_map_initialize(&engine->steps->by_name);
    keel_map_initialize(&engine->steps->members);
    keel_map_initialize(&engine->steps->programs);
    return NULL;
}

void steps_destroy(steps_t *steps) {
    if (!steps) return;
    keel_map_deinitialize(&steps->by_name);
    keel_map_deinitialize(&steps->members);
    keel_map_deinitialize(&steps->programs);
    keel_arena_deinitialize(&steps->arena);
    pthread_mutex_destroy(&steps->lock);
    keel_free(steps);
}

void steps_before_fork(keel_engine_t *engine) {
    pthread_mutex_lock(&engine->steps->lock);
}

void steps_after_fork(keel_engine_t *engine) {
    pthread_mutex_unlock(&engine->steps->lock);
}

// ---- the leading function, under the lock ------------------------------------------------------

static uint64_t executions_of(const function_t *function) {
    return atomic_load_explicit(&function->executions, memory_order_relaxed);
}

static double work_of(const function_t *function) {
    double sum = 0;
    for (const member_t *member = function->first; member; member = member->next)
        sum +=
            (double)(member->ops ? member->ops : 1) * (double)counter_executions(member->counter);
    return sum;
}

static keel_journal_function_t figures_of(const function_t *function) {
    return (keel_journal_function_t){.programs = function->programs,
                                     .executions = executions_of(function),
                                     .has_gradient = function->has_gradient,
                                     .is_eager = function->is_eager,
                                     .is_recorded = function->is_recorded};
}

static bool is_training(const function_t *function) {
    return keel_journal_trains(figures_of(function));
}

static function_t *heaviest(const steps_t *steps, bool is_eager) {
    function_t *found = NULL;
    double most = 0;
    bool trains = false;
    for (function_t *at = steps->functions[is_eager]; at; at = at->next) {
        double own = work_of(at);
        if (trains && !is_training(at)) continue;
        if (!trains && is_training(at)) most = 0;
        trains |= is_training(at);
        if (own > most) found = at;
        if (own > most) most = own;
    }
    return found;
}

// Executions of the newest functions.
static uint64_t count_newest(const steps_t *steps) {
    uint64_t count = 0;
    size_t left = NOTED_MOST;
    for (const function_t *at = steps->functions[false]; at && left; at = at->next, --left)
        count += executions_of(at);
    return count;
}

static void find_leading(steps_t *steps) {
    steps->leading = heaviest(steps, false);
    if (!steps->leading) steps->leading = heaviest(steps, true);
    steps->since_look = 0;
    steps->looked_at = count_newest(steps);
}

// With those of a warm-up.
static uint64_t count_ended(const keel_engine_t *engine) {
    uint64_t marked = counters_steps(engine->counters).ended;
    if (marked) return marked;
    return engine->steps->leading ? executions_of(engine->steps->leading) : 0;
}

// Of these, the executions of a warm-up.
static uint64_t count_warm(const steps_t *steps) {
    if (!steps->leading) return 0;
    keel_journal_function_t figures = figures_of(steps->leading);
    if (!keel_journal_can_warm_up(figures)) return 0;
    return keel_journal_warms_up(figures) ? figures.executions : steps->leading->warm;
}

// ---- programs ----------------------------------------------------------------------------------

static keel_status_t find_function(steps_t *steps, const steps_ask_t *ask, function_t **out) {
    const uint64_t *known = keel_map_find(&steps->by_name, ask->function);
    if (known) {
        *out = (function_t *)(uintptr_t)*known;
        return NULL;
    }
    void *memory;
    KEEL_TRY(keel_arena_alloc(&steps->arena, sizeof(function_t), &memory));
    *out = memory;
    KEEL_TRY(keel_map_put(&steps->by_name, ask->function, (uintptr_t)memory));
    function_t **first = &steps->functions[ask->is_eager];
    **out = (function_t){.is_eager = ask->is_eager,
                         .is_recorded = ask->is_recorded,
                         .noted = steps->programs.count,
                         .next = *first};
    *first = *out;
    return NULL;
}

// A program stays with the function that asked for it first.
static keel_status_t add_to_function(steps_t *steps, const steps_ask_t *ask, counter_t *counter) {
    keel_bytes_t program = keel_bytes(ask->program->bytes, KEEL_DIGEST_SIZE);
    function_t *function;
    void *memory;
    if (keel_map_find(&steps->members, program)) return NULL;
    KEEL_TRY(find_function(steps, ask, &function));
    KEEL_TRY(keel_arena_alloc(&steps->arena, sizeof(member_t), &memory));
    KEEL_TRY(keel_map_put(&steps->members, program, 1));
    function->has_gradient |= ask->has_gradient;
    member_t *member = memory;
    *member = (member_t){.counter = counter, .ops = ask->ops, .next = function->first};
    function->first = member;
    ++function->programs;
    counter_join(counter, &function->executions);
    return NULL;
}

// ---- steady steps ------------------------------------------------------------------------------

// For a new program, the `number`th.
static void note_executions(function_t *function, uint64_t number) {
    uint64_t now = executions_of(function);
    if (function->noted == number) return;
    if (function->noted + 1 != number) // when the last one came is not known
        function->settled = now + 1;
    else if (now != function->at)
        function->settled = function->at + 1;
    function->noted = number;
    function->at = now;
}

static void note_functions(steps_t *steps) {
    uint64_t number = steps->programs.count;
    size_t left = NOTED_MOST;
    if (steps->leading) note_executions(steps->leading, number);
    for (function_t *at = steps->functions[false]; at && left; at = at->next, --left)
        note_executions(at, number);
}

// To look at all programs at each ask would take the square of their number.
static bool is_time_to_look(const steps_t *steps) {
    uint64_t ran = count_newest(steps);
    uint64_t since = steps->since_look + (ran > steps->looked_at ? ran - steps->looked_at : 0);
    return since >= 1 + steps->programs.count / 16;
}

// Of the function that leads now, whichever led before. Operations that run by themselves are no
// measure of that.
static uint64_t count_steady(const keel_engine_t *engine, uint64_t ended) {
    const steps_t *steps = engine->steps;
    const function_t *leading = steps->leading;
    uint64_t settled = steps->settled_before;
    if (!counters_steps(engine->counters).ended) {
        if (!leading || leading->is_eager || leading->noted + 1 != steps->programs.count) return 0;
        settled = ended != leading->at ? leading->at + 1 : leading->settled;
    }
    return ended > settled ? ended - settled : 0;
}

static bool warms_up(const steps_t *steps, const steps_ask_t *ask) {
    const uint64_t *function = keel_map_find(&steps->by_name, ask->function);
    return function && keel_journal_warms_up(figures_of((function_t *)(uintptr_t)*function));
}

static keel_status_t note_new(keel_engine_t *engine, const steps_ask_t *ask, steps_when_t *out) {
    steps_t *steps = engine->steps;
    keel_bytes_t name = keel_bytes(ask->key->bytes, KEEL_DIGEST_SIZE);
    bool is_known = keel_map_find(&steps->programs, name);
    if (!is_known) KEEL_TRY(keel_map_put(&steps->programs, name, 1));
    ++steps->since_look;
    if (is_time_to_look(steps)) find_leading(steps);
    *out = (steps_when_t){.step = count_ended(engine) + 1};
    if (is_known) return NULL;
    uint64_t ended = count_ended(engine);
    if (ended != steps->fresh_at) {
        steps->fresh = 0;
        steps->settled_before = steps->settled;
        steps->is_of_new = !keel_map_find(&steps->by_name, ask->function);
    }
    uint64_t executed = flow_executions(engine), steady = count_steady(engine, ended);
    bool has_steps = steps->leading && !steps->leading->is_eager;
    steps->was_quiet |=
        has_steps ? steady > 0 : executed - steps->executed >= 2 * steps->programs.count;
    steps->executed = executed;
    *out = (steps_when_t){ended + 1, steady, warms_up(steps, ask),
                          steps->was_quiet && !steps->is_of_new};
    note_functions(steps);
    ++steps->fresh;
    steps->fresh_at = ended;
    steps->settled = ended + 1;
    order_new_program(engine, executed);
    return NULL;
}

keel_status_t steps_asked(keel_engine_t *engine, const steps_ask_t *ask, steps_when_t *out) {
    steps_t *steps = engine->steps;
    counter_t *counter;
    KEEL_TRY(counters_of(engine->counters, ask->program, &counter));
    pthread_mutex_lock(&steps->lock);
    keel_status_t status = note_new(engine, ask, out);
    if (!status) status = add_to_function(steps, ask, counter);
    pthread_mutex_unlock(&steps->lock);
    return status;
}

void steps_warmed_up(keel_engine_t *engine) {
    steps_t *steps = engine->steps;
    size_t left = NOTED_MOST;
    pthread_mutex_lock(&steps->lock);
    if (steps->leading) steps->leading->warm = executions_of(steps->leading);
    for (function_t *at = steps->functions[false]; at && left; at = at->next, --left)
        at->warm = executions_of(at);
    pthread_mutex_unlock(&steps->lock);
}

// ---- marked steps ------------------------------------------------------------------------------

void keel_engine_step(keel_engine_t *engine) {
    counters_step_ended(engine->counters);
}

// A process without a client leaves no run.
void keel_engine_frozen(keel_engine_t *engine) {
    if (getpid() == engine->pid && clients_had_any(engine->clients))
        keel_journal_freeze(engine->journal);
}

void steps_journal(keel_engine_t *engine) {
    uint64_t count = counters_collect_steps(engine->counters);
    if (count) keel_journal_step(engine->journal, count);
}

void steps_leading(keel_engine_t *engine, keel_journal_leading_t *out) {
    steps_t *steps = engine->steps;
    pthread_mutex_lock(&steps->lock);
    const function_t *leading = steps->leading;
    *out = (keel_journal_leading_t){0};
    if (leading && leading->first)
        *out = (keel_journal_leading_t){counter_program(leading->first->counter),
                                        atomic_load(&leading->executions)};
    pthread_mutex_unlock(&steps->lock);
}

// ---- the answer --------------------------------------------------------------------------------

void keel_engine_steps(keel_engine_t *engine, keel_engine_steps_t *out) {
    steps_t *steps = engine->steps;
    pthread_mutex_lock(&steps->lock);
    find_leading(steps);
    counters_steps_t marked = counters_steps(engine->counters);
    bool is_marked = marked.ended != 0;
    uint64_t ended = count_ended(engine), warm = is_marked ? 0 : count_warm(steps);
    uint64_t settled = steps->settled > warm ? steps->settled - warm : steps->settled != 0;
    *out = (keel_engine_steps_t){
        .ended = ended - warm,
        .warm = warm,
        .marked = is_marked,
        .by_operations = !is_marked && steps->leading && steps->leading->is_eager,
        .programs = steps->programs.count,
        .fresh = ended == steps->fresh_at ? steps->fresh : 0,
        .settled = settled,
        .in_step = is_marked ? marked.in_step : 0,
        .in_last = is_marked ? marked.in_last : 0,
    };
    pthread_mutex_unlock(&steps->lock);
}
