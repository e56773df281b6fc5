// Which reads of the host cut a step into several programs.
//
// A client that records operations and compiles them when a result is wanted (PyTorch/XLA) does so
// at the end of a step, which waits for nothing, and at each read of a value that is only recorded
// so far. If an execution is read at the very line that asked for its program, that read *forced*
// it. It *cuts* the step if the step goes on with its work: if all its arguments other than numbers
// also go into a later program of the step (its operations were still needed, and most are done
// twice), or if the value that was read does, or the places that the host found in it (nonzero). A
// read that only evaluates, or that reads what a step left behind, has arguments of its own. Or it
// uses no data of this step, and whatever uses its arguments later does so with data that came
// since: a norm of the weights between two steps. So buffers are followed, as pointers, in the
// first few executions of each program.
//
// Executions may come from a thread of the client that does not know Python. Reads come from the
// thread that wants the data, after the execution that makes them.
#include <stdio.h>
#include <stdlib.h>

#include "engine/flow.h"
#include "engine/sent.h"

enum {
    ARGUMENTS = 4096, // of one execution; one with more is not followed
    PENDING = 8,      // forced executions of one step that are followed
    AGE = 64,         // executions after which nothing goes on with one
    MADE = 256,       // buffers made from the host's data; older ones are forgotten
};

// The buffers of one execution.
typedef struct sample_t {
    counter_t *program;     // NULL: an empty sample
    piece_t *piece;         // NULL: not forced
    const void **arguments; // sorted
    size_t count;
    const void **telling; // those that identify its data; sorted
    size_t telling_count;
    const void *result;                // the buffer that was read
    uint64_t result_rank, result_size; // its dimensions and elements
    uint64_t read_at;                  // flow.made_count then
    uint64_t at;                       // flow.executions then
    uint64_t made;                     // flow.made_count then
    uint64_t begun;                    // the same when its step began
    bool is_fresh;                     // it works on data from its own step
    bool lost;     // one of the arguments is gone, and another buffer has its address
    bool is_blind; // threads without a line asked for it and read it
} sample_t;

struct flow_t {
    _Atomic(counter_t *) last;   // the program executed last
    _Atomic uint64_t executions; // of all programs; too low if several threads execute at once
    atomic_bool follows;         // an execution's arguments matter
    _Atomic uint64_t made_count; // buffers made from data of the host
    _Atomic uint64_t made_last;  // the same at the last execution
    _Atomic uint64_t arrays;     // of these, those other than numbers
    _Atomic uint64_t arrays_last;
    _Atomic uint64_t arrays_begun; // at the last execution but one
    _Atomic uintptr_t made[MADE];

    pthread_mutex_t lock; // for the fields below
    pieces_t *pieces;
    bool stepped;     // a step has ended
    sample_t current; // the last execution, while it matters
    sample_t pending[PENDING];
    size_t pending_count;
};

keel_status_t flow_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(flow_t), &memory));
    flow_t *flow = memory;
    engine->flow = flow;
    pthread_mutex_init(&flow->lock, NULL);
    return pieces_create(&flow->pieces);
}

void flow_before_fork(keel_engine_t *engine) {
    pthread_mutex_lock(&engine->flow->lock);
}

void flow_after_fork(keel_engine_t *engine) {
    pthread_mutex_unlock(&engine->flow->lock);
}

// ---- lines -------------------------------------------------------------------------------------

static bool is_on(const keel_engine_t *engine) {
    return engine->journal && engine->settings.stack;
}

void flow_asked(keel_engine_t *engine, const keel_digest_t *program, const keel_place_t *place,
                bool has_stack) {
    flow_t *flow = engine->flow;
    if (!is_on(engine) || !*place->file) return;
    if (has_stack) sent_begin(engine);
    counter_t *counter = counters_find(engine->counters, program);
    if (!counter || pieces_is_asked(counter)) return;
    const site_t *site = sites_at(engine->sites, place);
    if (!site) return;
    pthread_mutex_lock(&flow->lock);
    pieces_asked(flow->pieces, counter, site, has_stack);
    pthread_mutex_unlock(&flow->lock);
}

// ---- arguments ---------------------------------------------------------------------------------

static int by_address(const void *a, const void *b) {
    uintptr_t x = (uintptr_t) * (const void *const *)a, y = (uintptr_t) * (const void *const *)b;
    return x < y ? -1 : x > y;
}

static void forget(sample_t *sample) {
    keel_free(sample->arguments);
    *sample = (sample_t){0};
}

// False if the plugin does not say. The buffer owns the dimensions.
static bool dimensions_of(const PJRT_Api *api, const void *buffer, const int64_t **out,
                          size_t *out_count) {
    PJRT_Buffer_Dimensions_Args args = {.struct_size = PJRT_Buffer_Dimensions_Args_STRUCT_SIZE,
                                        .buffer = (PJRT_Buffer *)(uintptr_t)buffer};
    if (!keel_pjrt_has(api, PJRT_Buffer_Dimensions)) return false;
    PJRT_Error *error = api->PJRT_Buffer_Dimensions(&args);
    *out = args.dims;
    *out_count = args.num_dims;
    if (!error) return true;
    keel_status_ignore(keel_pjrt_status(api, error, "PJRT_Buffer_Dimensions"));
    return false;
}

// A single number is often the other side of a comparison, and says nothing about the data.
static bool is_scalar(const PJRT_Api *api, const void *buffer) {
    const int64_t *dimensions;
    size_t count;
    return dimensions_of(api, buffer, &dimensions, &count) && count == 0;
}

// The arguments that identify the data: those other than numbers, or all if there are only numbers.
static void find_telling(const PJRT_Api *api, sample_t *sample) {
    sample->telling = sample->arguments + sample->count;
    for (size_t i = 0; i < sample->count; ++i)
        if (!is_scalar(api, sample->arguments[i]))
            sample->telling[sample->telling_count++] = sample->arguments[i];
    if (sample->telling_count) return;
    sample->telling = sample->arguments;
    sample->telling_count = sample->count;
}

void flow_destroy(flow_t *flow) {
    if (!flow) return;
    forget(&flow->current);
    for (size_t i = 0; i < flow->pending_count; ++i)
        forget(&flow->pending[i]);
    pieces_destroy(flow->pieces);
    pthread_mutex_destroy(&flow->lock);
    keel_free(flow);
}

// The arguments on the first device are representative.
static bool take_arguments(const PJRT_LoadedExecutable_Execute_Args *args, sample_t *out) {
    size_t count = args->num_devices ? args->num_args : 0;
    if (count > ARGUMENTS) return false;
    void *memory;
    keel_status_t status = keel_alloc(2 * count * sizeof *out->arguments, &memory);
    keel_status_ignore(status);
    if (status) return false;
    out->arguments = memory;
    out->count = count;
    for (size_t i = 0; i < count; ++i)
        out->arguments[i] = args->argument_lists[0][i];
    if (count) qsort(out->arguments, count, sizeof *out->arguments, by_address);
    return true;
}

static bool is_within(const sample_t *part, const sample_t *whole) {
    size_t at = 0;
    if (part->lost) return false;
    for (size_t i = 0; i < part->telling_count; ++i) {
        while (at < whole->count && by_address(&whole->arguments[at], &part->telling[i]) < 0)
            ++at;
        if (at == whole->count || whole->arguments[at] != part->telling[i]) return false;
    }
    return true;
}

static bool holds(const sample_t *sample, const void *buffer) {
    return sample->count && bsearch(&buffer, sample->arguments, sample->count,
                                    sizeof *sample->arguments, by_address);
}

// Whether it takes data, other than a number, that the host sent after the first `since` buffers.
static bool takes_made(const keel_engine_t *engine, const sample_t *sample, uint64_t since) {
    const flow_t *flow = engine->flow;
    uint64_t count = atomic_load_explicit(&flow->made_count, memory_order_relaxed);
    if (count - since > MADE) since = count - MADE;
    for (uint64_t i = since; i < count; ++i) {
        uintptr_t made = atomic_load_explicit(&flow->made[i % MADE], memory_order_relaxed);
        const void *buffer = (const void *)made;
        if (holds(sample, buffer) && !is_scalar(engine->api, buffer)) return true;
    }
    return false;
}

// Whether it has at most as many rows as the mask has elements, and a column for each of its
// dimensions.
static bool is_of_places(const PJRT_Api *api, const void *buffer, const sample_t *part) {
    const int64_t *dimensions;
    size_t count;
    return dimensions_of(api, buffer, &dimensions, &count) && count == 2 && dimensions[0] >= 0 &&
           (uint64_t)dimensions[0] <= part->result_size &&
           (uint64_t)dimensions[1] == part->result_rank;
}

// The host looked for places in what it read, and sent them.
static bool takes_places(const keel_engine_t *engine, const sample_t *part, const sample_t *later) {
    const flow_t *flow = engine->flow;
    uint64_t count = atomic_load_explicit(&flow->made_count, memory_order_relaxed);
    if (!part->result_rank || count - part->read_at > MADE) return false;
    for (uint64_t i = part->read_at; i < count; ++i) {
        uintptr_t made = atomic_load_explicit(&flow->made[i % MADE], memory_order_relaxed);
        const void *buffer = (const void *)made;
        if (holds(later, buffer) && is_of_places(engine->api, buffer, part)) return true;
    }
    return false;
}

// The step goes on with the part's work if a later program takes its arguments or its result, and
// both belong to one step.
static bool goes_on(const keel_engine_t *engine, const sample_t *part, const sample_t *later) {
    if (part->program == later->program) return false;
    if (takes_places(engine, part, later)) return true;
    bool takes_result = part->result && holds(later, part->result);
    if (!takes_result && !is_within(part, later)) return false;
    return part->is_fresh || !takes_made(engine, later, part->made);
}

static void settle_pending(flow_t *flow, size_t index, const counter_t *rest) {
    piece_followed(flow->pending[index].piece, rest);
    forget(&flow->pending[index]);
    flow->pending[index] = flow->pending[--flow->pending_count];
    flow->pending[flow->pending_count] = (sample_t){0};
}

// If the last execution was a piece, later ones may go on with it. Otherwise a step ended, and what
// was not taken up by then never will be.
static void settle_current(flow_t *flow) {
    bool is_piece = flow->current.piece != NULL;
    if (is_piece && flow->current.arguments && flow->pending_count < PENDING) {
        flow->pending[flow->pending_count++] = flow->current;
        flow->current = (sample_t){0};
        return;
    }
    bool ends = flow->current.program && !is_piece && !flow->current.is_blind;
    flow->stepped |= ends;
    while (ends && flow->pending_count)
        settle_pending(flow, flow->pending_count - 1, NULL);
    forget(&flow->current);
}

// If every execution is read, no step ends, and nothing else would settle these.
static void settle_old(flow_t *flow, uint64_t now) {
    for (size_t i = flow->pending_count; i-- > 0;)
        if (now - flow->pending[i].at > AGE) settle_pending(flow, i, NULL);
}

// A step begins after an execution that was not read, and what a piece makes belongs to its step.
// Buffers made before the first execution may be weights.
static void find_step(const keel_engine_t *engine, sample_t *sample) {
    const flow_t *flow = engine->flow;
    const sample_t *last = flow->current.piece ? &flow->current : NULL;
    if (!last && flow->pending_count) last = &flow->pending[flow->pending_count - 1];
    if (last) sample->begun = last->begun;
    if (!last && !flow->stepped && !flow->current.program) sample->begun = sample->made;
    sample->is_fresh = takes_made(engine, sample, sample->begun) ||
                       (last && last->is_fresh && last->result && holds(sample, last->result));
}

// Follows an execution whose arguments matter: one of the first of its program, or any while
// flow->follows. `begun`: how many buffers were made before the execution before it.
static void follow(keel_engine_t *engine, counter_t *program, uint64_t before, uint64_t begun,
                   const PJRT_LoadedExecutable_Execute_Args *args) {
    flow_t *flow = engine->flow;
    bool follows = atomic_load_explicit(&flow->follows, memory_order_relaxed);
    bool is_asked = pieces_is_asked(program);
    if (!follows && !is_asked) return;
    sample_t sample = {
        .program = program,
        .at = atomic_load_explicit(&flow->executions, memory_order_relaxed),
        .made = atomic_load_explicit(&flow->made_count, memory_order_relaxed),
        .begun = begun,
    };
    bool taken = take_arguments(args, &sample), may_be_piece = is_asked && before < FLOW_SAMPLES;
    if (taken && may_be_piece) find_telling(engine->api, &sample);
    pthread_mutex_lock(&flow->lock);
    if (may_be_piece) find_step(engine, &sample);
    settle_current(flow);
    for (size_t i = flow->pending_count; taken && i-- > 0;)
        if (goes_on(engine, &flow->pending[i], &sample)) settle_pending(flow, i, program);
    settle_old(flow, sample.at);
    if (!may_be_piece) {
        keel_free(sample.arguments);
        sample.arguments = NULL;
        sample.count = 0;
    }
    flow->current = sample;
    atomic_store_explicit(&flow->follows, flow->pending_count || sample.arguments,
                          memory_order_relaxed);
    pthread_mutex_unlock(&flow->lock);
}

void flow_executed(keel_engine_t *engine, counter_t *program, uint64_t before,
                   const PJRT_LoadedExecutable_Execute_Args *args) {
    flow_t *flow = engine->flow;
    uint64_t executions = atomic_load_explicit(&flow->executions, memory_order_relaxed);
    atomic_store_explicit(&flow->executions, executions + 1, memory_order_relaxed);
    atomic_store_explicit(&flow->last, program, memory_order_relaxed);
    uint64_t begun = atomic_load_explicit(&flow->made_last, memory_order_relaxed);
    atomic_store_explicit(&flow->arrays_begun,
                          atomic_load_explicit(&flow->arrays_last, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&flow->arrays_last,
                          atomic_load_explicit(&flow->arrays, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&flow->made_last,
                          atomic_load_explicit(&flow->made_count, memory_order_relaxed),
                          memory_order_relaxed);
    bool follows = atomic_load_explicit(&flow->follows, memory_order_relaxed);
    if (program && (follows || before < FLOW_SAMPLES)) follow(engine, program, before, begun, args);
}

uint64_t flow_sent(const keel_engine_t *engine) {
    const flow_t *flow = engine->flow;
    return atomic_load_explicit(&flow->arrays, memory_order_relaxed) -
           atomic_load_explicit(&flow->arrays_begun, memory_order_relaxed);
}

static void lose(sample_t *sample, const void *buffer) {
    bool held = sample->telling_count && bsearch(&buffer, sample->telling, sample->telling_count,
                                                 sizeof *sample->telling, by_address);
    sample->lost |= held;
    if (sample->result == buffer) sample->result = NULL;
}

void flow_made(keel_engine_t *engine, const PJRT_Buffer *buffer, size_t rank) {
    flow_t *flow = engine->flow;
    if (rank) atomic_fetch_add_explicit(&flow->arrays, 1, memory_order_relaxed);
    uint64_t count = atomic_fetch_add_explicit(&flow->made_count, 1, memory_order_relaxed);
    atomic_store_explicit(&flow->made[count % MADE], (uintptr_t)buffer, memory_order_relaxed);
    if (!atomic_load_explicit(&flow->follows, memory_order_relaxed)) return;
    pthread_mutex_lock(&flow->lock);
    lose(&flow->current, buffer);
    for (size_t i = 0; i < flow->pending_count; ++i)
        lose(&flow->pending[i], buffer);
    pthread_mutex_unlock(&flow->lock);
}

// ---- reads -------------------------------------------------------------------------------------

static void note_result(const keel_engine_t *engine, sample_t *sample, const PJRT_Buffer *buffer) {
    const int64_t *dimensions;
    size_t count = 0;
    sample->result = buffer;
    sample->result_size = 1;
    if (!dimensions_of(engine->api, buffer, &dimensions, &count)) return;
    sample->result_rank = count;
    for (size_t i = 0; i < count; ++i)
        if (dimensions[i] < 0 ||
            __builtin_mul_overflow(sample->result_size, (uint64_t)dimensions[i],
                                   &sample->result_size))
            sample->result_size = UINT64_MAX;
    sample->read_at = atomic_load_explicit(&engine->flow->made_count, memory_order_relaxed);
    // The host may send something that it worked out from this: the places of a mask.
    sample->is_fresh |= count > 0;
}

// If no line is known at all, the execution at least does not end a step.
static void note_read(keel_engine_t *engine, counter_t *program, const site_t *site,
                      const PJRT_Buffer *buffer, uint64_t executions) {
    flow_t *flow = engine->flow;
    sample_t *current = &flow->current;
    piece_t *piece = pieces_read(flow->pieces, program, site, executions);
    if (current->program != program) return;
    if (piece) {
        current->piece = piece;
        note_result(engine, current, buffer);
    }
    if (!site && !pieces_is_asked(program)) current->is_blind = true;
}

void flow_note(keel_engine_t *engine, const site_t *site, const PJRT_Buffer *buffer) {
    flow_t *flow = engine->flow;
    counter_t *program = atomic_load_explicit(&flow->last, memory_order_relaxed);
    uint64_t executions = atomic_load_explicit(&flow->executions, memory_order_relaxed);
    if (!program) return;
    pthread_mutex_lock(&flow->lock);
    note_read(engine, program, site, buffer, executions);
    pthread_mutex_unlock(&flow->lock);
}

site_t *flow_read(keel_engine_t *engine, uint64_t bytes) {
    const flow_t *flow = engine->flow;
    if (!is_on(engine)) return NULL;
    const counter_t *program = atomic_load_explicit(&flow->last, memory_order_relaxed);
    uint64_t executions = atomic_load_explicit(&flow->executions, memory_order_relaxed);
    return sites_reading(engine->sites, program, bytes, executions);
}

uint64_t flow_executions(const keel_engine_t *engine) {
    return atomic_load_explicit(&engine->flow->executions, memory_order_relaxed);
}

// ---- the report --------------------------------------------------------------------------------

void flow_end(keel_engine_t *engine) {
    pthread_mutex_lock(&engine->flow->lock);
    pieces_end(engine->flow->pieces);
    pthread_mutex_unlock(&engine->flow->lock);
}

keel_status_t flow_report(keel_engine_t *engine, pieces_report_t *out) {
    pthread_mutex_lock(&engine->flow->lock);
    keel_status_t status = pieces_report(engine->flow->pieces, out);
    pthread_mutex_unlock(&engine->flow->lock);
    return status;
}
