// transfers: what goes to the device and comes from it, counted and timed.
#ifndef KEEL_ENGINE_TRANSFERS_H_
#define KEEL_ENGINE_TRANSFERS_H_

#include "engine/counters.h"

typedef struct transfers_t transfers_t;

// Of this process so far.
typedef struct transfers_totals_t {
    transfer_count_t to_device, from_device;
    uint64_t steps; // that were marked
} transfers_totals_t;

keel_status_t transfers_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// While nothing is on its way. NULL is allowed.
void transfers_destroy(transfers_t *transfers);
// Any thread, at any time.
void transfers_totals(const keel_engine_t *engine, transfers_totals_t *out);

#endif // KEEL_ENGINE_TRANSFERS_H_
