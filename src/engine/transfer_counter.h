// transfer_counter: counts and times transfers, without a lock. A part that counts some has one of
// these for each kind.
#ifndef KEEL_ENGINE_TRANSFER_COUNTER_H_
#define KEEL_ENGINE_TRANSFER_COUNTER_H_

#include "engine/core.h"

typedef struct transfer_counter_t {
    _Atomic uint64_t count, bytes, nanoseconds;
} transfer_counter_t;

typedef struct transfer_count_t {
    uint64_t count, bytes, nanoseconds;
} transfer_count_t;

void transfer_counter_add(transfer_counter_t *counter, uint64_t bytes);
void transfer_counter_took(transfer_counter_t *counter, uint64_t nanoseconds);
transfer_count_t transfer_counter_load(const transfer_counter_t *counter);
// What came since `reported`, which becomes `now`.
keel_journal_transfer_t transfer_count_since(const transfer_count_t *now,
                                             transfer_count_t *reported);

#endif // KEEL_ENGINE_TRANSFER_COUNTER_H_
