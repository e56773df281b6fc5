// transfers: counts and times transfers to and from the device.
#ifndef KEEL_ENGINE_TRANSFERS_H_
#define KEEL_ENGINE_TRANSFERS_H_

#include "engine/core.h"

typedef struct transfers_t transfers_t;

keel_status_t transfers_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// Only while no transfer is under way. NULL is allowed.
void transfers_destroy(transfers_t *transfers);
// What came since the last call. Any thread.
void transfers_collect(keel_engine_t *engine, keel_journal_transfer_t *to_device,
                       keel_journal_transfer_t *from_device);

#endif // KEEL_ENGINE_TRANSFERS_H_
