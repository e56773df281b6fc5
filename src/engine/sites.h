// sites: the lines of the host that read from the device or ask for programs; and which line reads
// now, mostly without reading its stack.
#ifndef KEEL_ENGINE_SITES_H_
#define KEEL_ENGINE_SITES_H_

#include "engine/counters.h"

// Never freed.
typedef struct site_t {
    keel_place_t place;
    transfer_counter_t reads;
    transfer_count_t reported; // under the lock
    struct site_t *next;
} site_t;

// Reads that looked alike so far: at the same position after an execution of the same program.
typedef struct site_context_t {
    const counter_t *program;
    uint64_t bytes, place;
    site_t *site;
    uint64_t agreed, uses;
} site_context_t;

enum { SITE_CONTEXTS = 512 };

typedef struct sites_t {
    pthread_mutex_t lock; // for all fields; never held while the stack is read
    site_t *first;
    keel_map_t by_line; // "train.py:8" -> site_t *
    keel_arena_t arena;
    site_context_t contexts[SITE_CONTEXTS];
    uint64_t read_behind, reads_behind; // reads since the execution with that number
    uint64_t started, stack_nanoseconds;
} sites_t;

keel_status_t sites_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while nobody uses it. NULL is allowed.
void sites_destroy(sites_t *sites);
// The site of a line; NULL if there is no memory, or there are more lines than anyone would read
// about.
site_t *sites_at(sites_t *sites, const keel_place_t *place);
// The line that now reads this many bytes, on the client's thread, which holds no lock; `program`
// (NULL: none) was executed last, as execution number `executions`. NULL: unknown.
site_t *sites_reading(sites_t *sites, const counter_t *program, uint64_t bytes,
                      uint64_t executions);

#endif // KEEL_ENGINE_SITES_H_
