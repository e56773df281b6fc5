// flow: which reads of the host cut a step. flow.c explains how that is known.
#ifndef KEEL_ENGINE_FLOW_H_
#define KEEL_ENGINE_FLOW_H_

#include "engine/sites.h"

enum {
    FLOW_ARGUMENTS = 4096, // of one execution; one with more is not followed
    FLOW_PENDING = 8,      // forced executions of one step that are followed
    FLOW_AGE = 64,         // executions after which nothing goes on with one
    FLOW_MADE = 256,       // buffers made from the host's data; older ones are forgotten
    FLOW_ROUND = 32,
    FLOW_SAMPLES = 8, // executions of a program whose arguments are followed
};

// A program that is executed because a line of the host reads. Never freed.
typedef struct flow_piece_t {
    counter_t *program;
    site_t *site;
    uint64_t forced;       // executions
    uint64_t sampled;      // of those: executions whose buffers were followed
    uint64_t shared;       // of these: those that the step went on with
    uint64_t in_step;      // programs of the last step that it was cut from
    const counter_t *rest; // the program that the step went on with
    uint64_t forced_reported, sampled_reported, in_step_reported;
    struct flow_piece_t *next;
} flow_piece_t;

// The buffers of one execution.
typedef struct flow_sample_t {
    counter_t *program;     // NULL: an empty sample
    flow_piece_t *piece;    // NULL: not forced
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
} flow_sample_t;

typedef struct flow_t {
    _Atomic(counter_t *) last;   // the program executed last
    _Atomic uint64_t executions; // of all programs; too low if several threads execute at once
    atomic_bool follows;         // an execution's arguments matter
    _Atomic uint64_t made_count; // buffers made from data of the host
    _Atomic uint64_t made_last;  // the same at the last execution
    _Atomic uint64_t made_begun; // and at the one before it
    _Atomic uintptr_t made[FLOW_MADE];

    pthread_mutex_t lock; // for the fields below
    keel_arena_t arena;
    bool stepped;          // a step has ended
    flow_sample_t current; // the last execution, while it matters
    flow_sample_t pending[FLOW_PENDING];
    size_t pending_count;
    // Forced executions that followed each other directly.
    flow_piece_t *round[FLOW_ROUND];
    size_t round_count;
    uint64_t round_end; // flow.executions at the last of them
    uint64_t cut_steps, pieces, cut_steps_reported, pieces_reported;

    uint64_t steps_reported;
    transfer_count_t to_device_reported, from_device_reported;
} flow_t;

keel_status_t flow_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while nobody uses it. NULL is allowed.
void flow_destroy(flow_t *flow);
// A client that compiles recorded operations when a result is wanted asked for the program at this
// place.
void flow_asked(keel_engine_t *engine, const keel_digest_t *program, const keel_place_t *place);
// The client executes a program (NULL: an unknown one) after `before` earlier executions of it.
void flow_executed(keel_engine_t *engine, counter_t *program, uint64_t before,
                   const PJRT_LoadedExecutable_Execute_Args *args);
// The client made a buffer from data of the host.
void flow_made(keel_engine_t *engine, const PJRT_Buffer *buffer);
// How many buffers the host made since the last execution but one: what was sent for the next
// execution may precede the last one.
uint64_t flow_sent(const keel_engine_t *engine);
// The line that now reads this many bytes, on the client's thread, which holds no lock. NULL:
// unknown.
site_t *flow_read(keel_engine_t *engine, uint64_t bytes);
// That line (NULL: unknown) reads the buffer.
void flow_note(keel_engine_t *engine, site_t *site, const PJRT_Buffer *buffer);
// Executions of all programs so far; too low if several threads execute at once.
uint64_t flow_executions(const keel_engine_t *engine);
// No more executions follow.
void flow_end(keel_engine_t *engine);

#endif // KEEL_ENGINE_FLOW_H_
