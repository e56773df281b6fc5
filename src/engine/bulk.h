// bulk: reads of arrays that no device computed, in a rehearsal. What a program reads in bulk it
// may save; single values it prints.
#ifndef KEEL_ENGINE_BULK_H_
#define KEEL_ENGINE_BULK_H_

#include "host/host.h"
#include "settings/settings.h"

// More than this between two executions is bulk: one array, or many small ones, as a checkpoint
// has. A step's log has a few values.
enum { BULK_BYTES = 4096 };

// The caller holds a lock for bulk_executed and bulk_read.
typedef struct bulk_t {
    keel_writes_t writes; // stays
    uint64_t bytes;       // read since the last execution
} bulk_t;

void bulk_executed(bulk_t *bulk);
// Whether the read is to be judged: it is bulk, and what is written is not discarded.
bool bulk_read(bulk_t *bulk, uint64_t bytes);
// KEEL_REFUSED, with the line (NULL: unknown) and what can be done; or says so once.
keel_status_t bulk_judge(const bulk_t *bulk, const keel_place_t *place, const char *maker,
                         uint64_t bytes) KEEL_MUST_CHECK;

#endif // KEEL_ENGINE_BULK_H_
