// bulk: reads of arrays that no device computed, in a rehearsal. What a program reads in bulk it
// may save; single values it prints.
#ifndef KEEL_ENGINE_BULK_H_
#define KEEL_ENGINE_BULK_H_

#include "host/host.h"
#include "settings/settings.h"

// More than this is bulk: one array, its rows one by one, or many small ones, as a checkpoint has.
// An execution takes away what it computes anew, so a run may log the few values of each step as
// long as it likes. One that only moves or maps elements (a slice, a cast) takes nothing away.
enum { BULK_BYTES = 4096 };

// The caller holds a lock for bulk_executed and bulk_read.
typedef struct bulk_t {
    keel_writes_t writes; // stays
    uint64_t bytes;       // read, and not computed anew since
} bulk_t;

void bulk_executed(bulk_t *bulk, uint64_t computed);
// How much was read, if that is to be judged: it is bulk, and what is written is not discarded.
// 0 otherwise.
uint64_t bulk_read(bulk_t *bulk, uint64_t bytes);
// KEEL_REFUSED, with the line (NULL: unknown) and what can be done; or says so once.
keel_status_t bulk_judge(const bulk_t *bulk, const keel_place_t *place, const char *maker,
                         uint64_t bytes) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_BULK_H_
