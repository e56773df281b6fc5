// counters: counts that many threads add to without a lock: executions of each program, over all
// its executables; and transfers to and from the device.
#ifndef KEEL_ENGINE_COUNTERS_H_
#define KEEL_ENGINE_COUNTERS_H_

#include "engine/core.h"

// ---- executions --------------------------------------------------------------------------------

struct site_t;
struct flow_piece_t;

// What flow.c knows about a program; under its lock, except for atomic fields.
typedef struct flow_program_t {
    _Atomic(struct site_t *) asked; // the line that asked for it; NULL: unknown
    struct flow_piece_t *pieces;
    uint64_t forced_at; // the program's count when a read last forced it
} flow_program_t;

// One program's counter, by the digest of its bytes. Never freed.
typedef struct counter_t {
    keel_digest_t program;
    _Atomic uint64_t count;
    uint64_t reported; // under the lock
    flow_program_t flow;
    // For steps.c, under its lock: what it is a program of.
    uint64_t ops;
    bool is_of_function;
    struct counter_t *next_of_function;
    _Atomic uint64_t step; // the step of its last execution, from 1
    struct counter_t *next;
} counter_t;

typedef struct counters_t {
    pthread_mutex_t lock;
    counter_t *first;
    keel_map_t by_program;   // digest -> counter_t *
    _Atomic uint64_t others; // executions of executables that are not in a table
} counters_t;

keel_status_t counters_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while it is empty. NULL is allowed.
void counters_destroy(counters_t *counters);
// The program's counter, made if there is none.
keel_status_t counters_of(counters_t *counters, const keel_digest_t *program,
                          counter_t **out) KEEL_MUST_CHECK;
// NULL if the program has no executable.
counter_t *counters_find(counters_t *counters, const keel_digest_t *program);
// Executions since the last call; the caller frees out->data with keel_free.
keel_status_t counters_collect(counters_t *counters, keel_journal_counts_t *out,
                               uint64_t *out_total) KEEL_MUST_CHECK;

// ---- transfers ---------------------------------------------------------------------------------

typedef struct transfer_counter_t {
    _Atomic uint64_t count, bytes, nanoseconds;
} transfer_counter_t;

typedef struct transfer_count_t {
    uint64_t count, bytes;
    // To the device: inside the plugin's call. From it: until the data arrive; or inside the call,
    // if more than TRANSFERS_AWAITED are under way or the plugin gives no event. Transfers that
    // overlap each count in full.
    uint64_t nanoseconds;
} transfer_count_t;

void transfer_counter_add(transfer_counter_t *counter, uint64_t bytes);
void transfer_counter_took(transfer_counter_t *counter, uint64_t nanoseconds);
transfer_count_t transfer_counter_load(const transfer_counter_t *counter);

#endif // KEEL_ENGINE_COUNTERS_H_
