// transfers: counts and times transfers to and from the device.
#ifndef KEEL_ENGINE_TRANSFERS_H_
#define KEEL_ENGINE_TRANSFERS_H_

#include "engine/counters.h"

typedef struct transfers_t transfers_t;

// Totals of this process so far.
typedef struct transfers_totals_t {
    transfer_count_t to_device, from_device;
    uint64_t steps; // steps that the user marked
} transfers_totals_t;

keel_status_t transfers_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while no transfer is under way. NULL is allowed.
void transfers_destroy(transfers_t *transfers);
// Any thread, at any time. Steps alone: one relaxed load.
uint64_t transfers_steps(const keel_engine_t *engine);
void transfers_step_ended(keel_engine_t *engine);
void transfers_totals(const keel_engine_t *engine, transfers_totals_t *out);

#endif // KEEL_ENGINE_TRANSFERS_H_
