#include "engine/transfer_counter.h"

void transfer_counter_add(transfer_counter_t *counter, uint64_t bytes) {
    atomic_fetch_add_explicit(&counter->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counter->bytes, bytes, memory_order_relaxed);
}

void transfer_counter_took(transfer_counter_t *counter, uint64_t nanoseconds) {
    atomic_fetch_add_explicit(&counter->nanoseconds, nanoseconds, memory_order_relaxed);
}

transfer_count_t transfer_counter_load(const transfer_counter_t *counter) {
    return (transfer_count_t){
        .count = atomic_load_explicit(&counter->count, memory_order_relaxed),
        .bytes = atomic_load_explicit(&counter->bytes, memory_order_relaxed),
        .nanoseconds = atomic_load_explicit(&counter->nanoseconds, memory_order_relaxed)};
}

keel_journal_transfer_t transfer_count_since(const transfer_count_t *now,
                                             transfer_count_t *reported) {
    keel_journal_transfer_t fresh = {.count = now->count - reported->count,
                                     .bytes = now->bytes - reported->bytes,
                                     .seconds =
                                         keel_seconds(now->nanoseconds - reported->nanoseconds)};
    *reported = *now;
    return fresh;
}
