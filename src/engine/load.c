// Makes an executable again from a stored entry.
#include "engine/load.h"
#include "engine/arena.h"
#include "engine/prefetch.h"
#include "engine/proofs.h"
#include "engine/tiers.h"
#include "store/entry.h"

typedef struct loading_t {
    keel_engine_t *engine;
    PJRT_Client *client;
    const keel_digest_t *key;
    const PJRT_Client_Compile_Args *args; // NULL: the client has not asked yet
    keel_bytes_t options;                 // that ask for dumps; or empty
    bool is_unloaded;                     // for a topology without a client
    bool expands;                         // the thread's arena first (arena.h)
    uint32_t operations;                  // 0: unknown
} loading_t;

static keel_status_t load_with(const loading_t *loading, const keel_payload_t *payload,
                               keel_bytes_t options, loaded_entry_t *out) {
    return keel_pjrt_load(loading->engine->api, loading->client, payload->executable, options,
                          &out->executable);
}

// If the devices are not there, the executable is made of what its program and its entry say.
static keel_status_t make(const loading_t *loading, const keel_payload_t *payload,
                          loaded_entry_t *out) {
    const keel_program_memory_t *memory = payload->has_memory ? &payload->memory : NULL;
    if (loading->is_unloaded)
        return keel_rehearse_unloaded(loading->args, payload->executable, payload->program,
                                      payload->format, memory, &out->unloaded);
    if (loading->engine->target)
        return keel_rehearse_load(loading->args, payload->executable, payload->program,
                                  payload->format, memory, &out->executable);
    keel_status_t dumped = NULL;
    if (loading->options.size) {
        dumped = load_with(loading, payload, loading->options, out);
        if (!dumped) return NULL;
    }
    keel_status_t status = load_with(loading, payload, payload->options, out);
    if (dumped && !status)
        keel_log_once("dumps", "the dumps of programs that are loaded are not written: %s",
                      keel_status_message(dumped));
    keel_status_ignore(dumped);
    return status;
}

// About what XLA's CPU compiler allocates in small pieces to load an executable of this size. What
// is more than code for so many operations (0: unknown) is constants: copies of these would come
// from the arena too, and stay there.
static size_t memory_of(size_t size, uint32_t operations) {
    enum { OF_BYTE = 60, MOST = 512 << 20, CODE = 64 << 10, CODE_OF_OPERATION = 8 << 10 };
    size_t code = CODE + (size_t)operations * CODE_OF_OPERATION;
    if (operations && size > code) size = code;
    return size < MOST / OF_BYTE ? size * OF_BYTE : MOST;
}

static keel_status_t load_marked(const loading_t *loading, loaded_entry_t *found) {
    keel_engine_t *engine = loading->engine;
    keel_payload_t payload;
    uint8_t *owned = NULL;
    KEEL_TRY(
        keel_payload_unpack(keel_bytes(found->entry.payload, found->entry.payload_size), &payload));
    // Without the device, the executable is made of the program.
    bool is_rehearsed = loading->is_unloaded || engine->target;
    if (is_rehearsed) KEEL_TRY(keel_payload_expand(&payload, &owned));
    keel_mark_t left;
    const char *script = loading->args ? NULL : engine->script;
    bool marked = tiers_mark(engine, found->tier, loading->key, script, &left);
    void *expanded = loading->expands
                         ? arena_expand(memory_of(payload.executable.size, loading->operations))
                         : NULL;
    uint64_t start = keel_clock_monotonic();
    keel_status_t status = make(loading, &payload, found);
    arena_settle(expanded);
    found->nanoseconds += keel_clock_monotonic() - start;
    if (marked) keel_store_unmark(&left);
    keel_free(owned);
    found->answer = (keel_payload_t){.has_memory = payload.has_memory, .memory = payload.memory};
    return status;
}

static void reject(const loading_t *loading, const keel_tier_t *tier, keel_status_t status) {
    keel_engine_t *engine = loading->engine;
    const char *message = keel_status_message(status);
    keel_log_once("load", "a stored program does not load and is compiled again: %s", message);
    keel_journal_store_error(engine->journal, "load", loading->key, message);
    tiers_quarantine(tier, loading->key, "does not load");
    proofs_failed(engine);
}

// What a remote answered, whatever it was.
static void tell_remote(const loading_t *loading, const keel_tier_t *tier, keel_miss_t miss,
                        keel_status_t status, uint64_t start, const keel_entry_t *entry) {
    if (status && miss == KEEL_MISS_UNASKED) return;
    keel_journal_remote(
        loading->engine->journal,
        &(keel_journal_remote_t){
            .remote = tier->name,
            .key = loading->key,
            .got = status ? keel_miss_name(miss) : "found",
            .why = status && miss != KEEL_MISS_ABSENT ? keel_status_message(status) : NULL,
            .bytes = status ? 0 : entry->fetched,
            .seconds = keel_seconds(keel_clock_monotonic() - start),
        });
}

static bool get(const loading_t *loading, const keel_tier_t *tier, keel_entry_t *out,
                keel_miss_t *out_miss) {
    keel_miss_t miss = KEEL_MISS_ABSENT;
    uint64_t start = keel_clock_monotonic();
    keel_status_t status = tier->get(tier->context, loading->key, out, &miss);
    if (tier->fills) tell_remote(loading, tier, miss, status, start, out);
    if (!status) return true;
    if (miss != KEEL_MISS_ABSENT && miss != KEEL_MISS_UNASKED) {
        *out_miss = miss;
        if (!tier->fills)
            keel_journal_store_error(loading->engine->journal, "get", loading->key,
                                     keel_status_message(status));
    }
    keel_status_ignore(status);
    return false;
}

// True if the tier had an executable.
static bool load_from(const loading_t *loading, const keel_tier_t *tier, loaded_entry_t *out,
                      keel_miss_t *out_miss) {
    uint64_t start = keel_clock_monotonic();
    keel_entry_initialize(&out->entry);
    if (!get(loading, tier, &out->entry, out_miss)) return false;
    if (keel_entry_is_record(&out->entry)) {
        *out_miss = KEEL_MISS_SLOW;
        out->slow_seconds = out->entry.load_seconds;
        keel_entry_deinitialize(&out->entry);
        return false;
    }
    out->tier = tier;
    bool is_large = out->entry.payload_size >= KEEL_ENTRY_LARGE;
    uint64_t queued = is_large ? keel_clock_queued() : 0;
    keel_status_t status = keel_entry_share(&out->entry);
    if (!status) status = load_marked(loading, out);
    out->total = keel_clock_monotonic() - start;
    if (is_large) out->total -= keel_clock_queued_since(queued);
    if (!status) prefetch_name_remote(loading->engine, loading->key, out);
    if (!status) return true;
    keel_entry_deinitialize(&out->entry);
    if (loading->args) {
        *out_miss = KEEL_MISS_DAMAGED;
        reject(loading, tier, status);
    }
    keel_status_ignore(status);
    return false;
}

// What crashed a process when it was loaded from one tier would crash it from another too.
static bool is_final(keel_miss_t miss) {
    return miss == KEEL_MISS_QUARANTINED || miss == KEEL_MISS_SLOW;
}

static bool load_from_any(const loading_t *loading, loaded_entry_t *out, keel_miss_t *out_miss) {
    const keel_tiers_t *tiers = &loading->engine->tiers;
    *out = (loaded_entry_t){0};
    *out_miss = KEEL_MISS_ABSENT;
    for (size_t i = 0; i < tiers->count && !is_final(*out_miss); ++i) {
        const keel_tier_t *tier = &tiers->list[i];
        if (!loading->args && !tier->persists) continue;
        if (load_from(loading, tier, out, out_miss)) return true;
    }
    return false;
}

bool load_entry(keel_engine_t *engine, const PJRT_Client_Compile_Args *args, keel_bytes_t options,
                const keel_digest_t *key, loaded_entry_t *out, keel_miss_t *out_miss) {
    loading_t loading = {engine, args->client, key, args, .options = options};
    return load_from_any(&loading, out, out_miss);
}

bool load_entry_unloaded(keel_engine_t *engine, const PJRT_Client_Compile_Args *args,
                         const keel_digest_t *key, loaded_entry_t *out, keel_miss_t *out_miss) {
    loading_t loading = {engine, args->client, key, args, .is_unloaded = true};
    return load_from_any(&loading, out, out_miss);
}

bool load_entry_ahead(keel_engine_t *engine, const client_t *client, const keel_digest_t *key,
                      uint32_t operations, loaded_entry_t *out, keel_miss_t *out_miss) {
    loading_t loading = {engine, client->client, key, .expands = client->is_cpu,
                         .operations = operations};
    return load_from_any(&loading, out, out_miss);
}

void loaded_entry_destroy(keel_engine_t *engine, loaded_entry_t *loaded) {
    keel_pjrt_destroy_loaded(engine->api, loaded->executable);
    keel_entry_deinitialize(&loaded->entry);
}
