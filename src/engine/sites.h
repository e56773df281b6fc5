// sites: the lines of the host that read from the device or ask for programs; and which line reads
// now, mostly without reading its stack.
#ifndef KEEL_ENGINE_SITES_H_
#define KEEL_ENGINE_SITES_H_

#include "engine/counters.h"

typedef struct sites_t sites_t;
// One line. Lives as long as the sites.
typedef struct site_t site_t;

keel_status_t sites_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while nobody uses it. NULL is allowed.
void sites_destroy(sites_t *sites);
// See fork.c.
void sites_before_fork(keel_engine_t *engine);
void sites_after_fork(keel_engine_t *engine);

// The site of a line; NULL if there is no memory, or there are more lines than anyone would read
// about.
site_t *sites_at(sites_t *sites, const keel_place_t *place);
const keel_place_t *site_place(const site_t *site);
// The line that now reads this many bytes, on the client's thread, which holds no lock; `program`
// (NULL: none) was executed last, as execution number `executions`. NULL: unknown.
site_t *sites_reading(sites_t *sites, const counter_t *program, uint64_t bytes,
                      uint64_t executions);

// Counts a read of the line; and what it took, once its data arrived. Take no lock.
void site_read(site_t *site, uint64_t bytes);
void site_read_took(site_t *site, uint64_t nanoseconds);
// The reads of each line since the last call; the caller frees *out with keel_free, and the texts
// in it live on. On failure the next call has what this one lacks.
keel_status_t sites_collect(sites_t *sites, keel_journal_read_t **out,
                            size_t *out_count) KEEL_MUST_CHECK;
// The line that runs now, by its stack, on the client's thread, which holds no lock. NULL: unknown,
// or there was no time to look.
site_t *sites_here(sites_t *sites);
// The same, whatever time it takes: for what is said once.
site_t *sites_now(sites_t *sites);

#endif // KEEL_ENGINE_SITES_H_
