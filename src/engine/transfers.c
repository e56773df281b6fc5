// Counts transfers to and from the device. A read is timed until its data arrive: clients wait for
// that in many ways, but anyone can ask the plugin's event.
#include "engine/transfers.h"
#include "engine/flow.h"
#include "engine/rehearsal.h"
#include "engine/sent.h"
#include "engine/transfer_counter.h"

enum { TRANSFERS_AWAITED = 64 };

// A read whose data have not arrived.
typedef struct awaited_read_t {
    keel_reading_t reading;
    _Atomic(keel_engine_t *) engine; // set last: the thread that is called back then sees `reading`
} awaited_read_t;

struct transfers_t {
    // Times: to the device, inside the plugin's call; from it, until the data arrive, or inside the
    // call if more than TRANSFERS_AWAITED are under way or the plugin gives no event. Transfers
    // that overlap each count in full.
    transfer_counter_t to_device, from_device;
    _Atomic uint64_t free; // one bit for each of `awaited`
    awaited_read_t awaited[TRANSFERS_AWAITED];
    pthread_mutex_t lock; // for the fields below
    transfer_count_t to_device_reported, from_device_reported;
};

keel_status_t transfers_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(transfers_t), &memory));
    engine->transfers = memory;
    pthread_mutex_init(&engine->transfers->lock, NULL);
    atomic_store(&engine->transfers->free, UINT64_MAX);
    return NULL;
}

void transfers_destroy(transfers_t *transfers) {
    if (!transfers) return;
    pthread_mutex_destroy(&transfers->lock);
    keel_free(transfers);
}

void keel_engine_sent(keel_engine_t *engine, uint64_t bytes, uint64_t nanoseconds) {
    transfer_counter_add(&engine->transfers->to_device, bytes);
    transfer_counter_took(&engine->transfers->to_device, nanoseconds);
}

void keel_engine_sent_array(keel_engine_t *engine, const PJRT_Buffer *buffer,
                            PJRT_Buffer_Type element, const int64_t *dims, size_t rank) {
    flow_made(engine, buffer, rank);
    sent_note(engine, element, dims, rank);
}

// The time to find the line is not part of the read.
keel_reading_t keel_engine_read_begins(keel_engine_t *engine, const PJRT_Buffer *buffer,
                                       uint64_t bytes) {
    transfer_counter_add(&engine->transfers->from_device, bytes);
    site_t *site = flow_read(engine, bytes);
    flow_note(engine, site, buffer);
    if (site) site_read(site, bytes);
    keel_status_t refusal =
        engine->rehearsal ? rehearsal_read(engine, site, (PJRT_Buffer *)(uintptr_t)buffer, bytes)
                          : NULL;
    return (keel_reading_t){.started = keel_clock_monotonic(), .site = site, .refusal = refusal};
}

static void read_took(keel_engine_t *engine, const keel_reading_t *reading) {
    uint64_t nanoseconds = keel_clock_monotonic() - reading->started;
    transfer_counter_took(&engine->transfers->from_device, nanoseconds);
    if (reading->site) site_read_took(reading->site, nanoseconds);
}

static void arrived(PJRT_Error *error, void *context) {
    awaited_read_t *awaited = context;
    keel_engine_t *engine = atomic_load(&awaited->engine);
    transfers_t *transfers = engine->transfers;
    read_took(engine, &awaited->reading);
    atomic_fetch_or(&transfers->free, (uint64_t)1 << (awaited - transfers->awaited));
    if (!error) return;
    PJRT_Error_Destroy_Args args = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                    .error = error};
    engine->api->PJRT_Error_Destroy(&args);
}

// NULL if all are taken.
static awaited_read_t *take_awaited(transfers_t *transfers) {
    uint64_t free = atomic_load(&transfers->free);
    while (free && !atomic_compare_exchange_weak(&transfers->free, &free, free & (free - 1)))
        ;
    return free ? &transfers->awaited[__builtin_ctzll(free)] : NULL;
}

static bool await(keel_engine_t *engine, const keel_reading_t *reading, PJRT_Event *event) {
    if (!event || !keel_pjrt_has(engine->api, PJRT_Event_OnReady)) return false;
    transfers_t *transfers = engine->transfers;
    awaited_read_t *awaited = take_awaited(transfers);
    if (!awaited) return false;
    awaited->reading = *reading;
    atomic_store(&awaited->engine, engine);
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

void transfers_collect(keel_engine_t *engine, keel_journal_transfer_t *to_device,
                       keel_journal_transfer_t *from_device) {
    transfers_t *transfers = engine->transfers;
    pthread_mutex_lock(&transfers->lock);
    transfer_count_t sent = transfer_counter_load(&transfers->to_device);
    transfer_count_t read = transfer_counter_load(&transfers->from_device);
    *to_device = transfer_count_since(&sent, &transfers->to_device_reported);
    *from_device = transfer_count_since(&read, &transfers->from_device_reported);
    pthread_mutex_unlock(&transfers->lock);
}
