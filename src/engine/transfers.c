// Counts of what goes to the device and comes from it. A read is timed until its data are there:
// clients wait for that in many ways, but the plugin's event tells it to whoever asks.
#include "engine/internal.h"

void transfers_initialize(transfers_t *transfers) {
    atomic_store(&transfers->free, UINT64_MAX);
    for (size_t i = 0; i < TRANSFERS_AWAITED; ++i)
        transfers->awaited[i].transfers = transfers;
}

static void count(transfer_counter_t *counter, uint64_t bytes) {
    atomic_fetch_add_explicit(&counter->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counter->bytes, bytes, memory_order_relaxed);
}

static void took(transfer_counter_t *counter, uint64_t nanoseconds) {
    atomic_fetch_add_explicit(&counter->nanoseconds, nanoseconds, memory_order_relaxed);
}

void keel_engine_sent(keel_engine_t *engine, const PJRT_Buffer *buffer, uint64_t bytes,
                      uint64_t nanoseconds) {
    if (buffer) flow_made(engine, buffer);
    count(&engine->transfers.to_device, bytes);
    took(&engine->transfers.to_device, nanoseconds);
}

// What finding the line takes is no part of the read.
keel_reading_t keel_engine_read_begins(keel_engine_t *engine, const PJRT_Buffer *buffer,
                                       uint64_t bytes) {
    count(&engine->transfers.from_device, bytes);
    flow_site_t *site = flow_read(engine, bytes);
    flow_note(engine, site, buffer);
    if (site) count(&site->reads, bytes);
    return (keel_reading_t){.started = keel_clock_monotonic(), .site = site};
}

static void read_took(keel_engine_t *engine, const keel_reading_t *reading) {
    uint64_t nanoseconds = keel_clock_monotonic() - reading->started;
    took(&engine->transfers.from_device, nanoseconds);
    if (reading->site) took(&reading->site->reads, nanoseconds);
}

static void arrived(PJRT_Error *error, void *context) {
    awaited_read_t *awaited = context;
    transfers_t *transfers = awaited->transfers;
    keel_engine_t *engine = awaited->engine;
    read_took(engine, &awaited->reading);
    atomic_fetch_or(&transfers->free, (uint64_t)1 << (awaited - transfers->awaited));
    if (!error) return;
    PJRT_Error_Destroy_Args args = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                    .error = error};
    engine->api->PJRT_Error_Destroy(&args);
}

// NULL where all are taken.
static awaited_read_t *take_awaited(transfers_t *transfers) {
    uint64_t free = atomic_load(&transfers->free);
    while (free && !atomic_compare_exchange_weak(&transfers->free, &free, free & (free - 1)))
        ;
    return free ? &transfers->awaited[__builtin_ctzll(free)] : NULL;
}

static bool await(keel_engine_t *engine, const keel_reading_t *reading, PJRT_Event *event) {
    if (!event || !keel_pjrt_has(engine->api, PJRT_Event_OnReady)) return false;
    transfers_t *transfers = &engine->transfers;
    awaited_read_t *awaited = take_awaited(transfers);
    if (!awaited) return false;
    awaited->engine = engine;
    awaited->reading = *reading;
    PJRT_Event_OnReady_Args args = {.struct_size = PJRT_Event_OnReady_Args_STRUCT_SIZE,
                                    .event = event,
                                    .callback = arrived,
                                    .user_arg = awaited};
    PJRT_Error *error = engine->api->PJRT_Event_OnReady(&args);
    if (!error) return true;
    atomic_fetch_or(&transfers->free, (uint64_t)1 << (awaited - transfers->awaited));
    keel_status_ignore(keel_pjrt_status(engine->api, error, "PJRT_Event_OnReady"));
    return false;
}

void keel_engine_read_ends(keel_engine_t *engine, const keel_reading_t *reading,
                           PJRT_Event *event) {
    if (!await(engine, reading, event)) read_took(engine, reading);
}

void keel_engine_step(keel_engine_t *engine) {
    atomic_fetch_add_explicit(&engine->transfers.steps, 1, memory_order_relaxed);
}

transfer_count_t transfer_counter_load(const transfer_counter_t *counter) {
    return (transfer_count_t){
        .count = atomic_load_explicit(&counter->count, memory_order_relaxed),
        .bytes = atomic_load_explicit(&counter->bytes, memory_order_relaxed),
        .nanoseconds = atomic_load_explicit(&counter->nanoseconds, memory_order_relaxed)};
}

void transfers_totals(const keel_engine_t *engine, transfers_totals_t *out) {
    *out = (transfers_totals_t){
        .to_device = transfer_counter_load(&engine->transfers.to_device),
        .from_device = transfer_counter_load(&engine->transfers.from_device),
        .steps = atomic_load_explicit(&engine->transfers.steps, memory_order_relaxed)};
}
