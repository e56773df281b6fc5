// Makes an executable again from one entry of a tier.
#include "engine/load.h"

typedef struct loading_t {
    keel_engine_t *engine;
    PJRT_Client *client;
    const keel_tier_t *tier;
    const keel_digest_t *key;
    bool is_ahead;
} loading_t;

static bool mark(const loading_t *loading, keel_mark_t *out) {
    keel_engine_t *engine = loading->engine;
    const char *folder = engine->cache_dir;
    if (loading->tier != &engine->disk || engine->settings.mode == KEEL_MODE_READONLY) return false;
    keel_status_t status = loading->is_ahead ? keel_store_mark_ahead(folder, engine->script, out)
                                             : keel_store_mark(folder, loading->key, out);
    keel_status_ignore(status);
    return !status;
}

static keel_status_t load_marked(const loading_t *loading, loaded_entry_t *found) {
    keel_payload_t payload;
    KEEL_TRY(
        keel_payload_unpack(keel_bytes(found->entry.payload, found->entry.payload_size), &payload));
    keel_mark_t left;
    bool marked = mark(loading, &left);
    uint64_t start = keel_clock_monotonic();
    keel_status_t status = keel_pjrt_load(loading->engine->api, loading->client, payload.executable,
                                          &found->executable);
    found->nanoseconds = keel_clock_monotonic() - start;
    if (marked) keel_store_unmark(&left);
    found->answer = (keel_payload_t){.has_memory = payload.has_memory, .memory = payload.memory};
    return status;
}

static void reject(const loading_t *loading, keel_status_t status) {
    keel_engine_t *engine = loading->engine;
    const keel_digest_t *key = loading->key;
    const char *message = keel_status_message(status);
    keel_log_once("load", "a stored program does not load and is compiled again: %s", message);
    keel_journal_store_error(engine->journal, "load", key, message);
    keel_status_ignore(status);
    if (engine->memory.remove)
        keel_status_ignore(engine->memory.remove(engine->memory.context, key));
    if (engine->settings.mode == KEEL_MODE_READONLY) return;
    if (loading->tier == &engine->disk)
        keel_status_ignore(keel_store_quarantine(engine->cache_dir, key, "does not load"));
}

static bool get(const loading_t *loading, keel_entry_t *out, keel_miss_t *out_miss) {
    const keel_tier_t *tier = loading->tier;
    keel_status_t status = tier->get(tier->context, loading->key, out, out_miss);
    if (!status) return true;
    if (*out_miss != KEEL_MISS_ABSENT)
        keel_journal_store_error(loading->engine->journal, "get", loading->key,
                                 keel_status_message(status));
    keel_status_ignore(status);
    return false;
}

// False if there is no entry; *out_status says whether it became an executable.
static bool get_and_load(const loading_t *loading, loaded_entry_t *out, keel_miss_t *out_miss,
                         keel_status_t *out_status) {
    *out = (loaded_entry_t){0};
    *out_miss = KEEL_MISS_ABSENT; // for a missing tier
    keel_entry_initialize(&out->entry);
    if (!loading->tier->get || !get(loading, &out->entry, out_miss)) return false;
    *out_miss = KEEL_MISS_ABSENT;
    *out_status = load_marked(loading, out);
    if (*out_status) keel_entry_deinitialize(&out->entry);
    return true;
}

bool load_entry(keel_engine_t *engine, PJRT_Client *client, const keel_tier_t *tier,
                const keel_digest_t *key, loaded_entry_t *out, keel_miss_t *out_miss) {
    keel_status_t status;
    loading_t loading = {engine, client, tier, key, .is_ahead = false};
    if (!get_and_load(&loading, out, out_miss, &status)) return false;
    if (!status) return true;
    reject(&loading, status);
    *out_miss = KEEL_MISS_DAMAGED;
    return false;
}

bool load_entry_ahead(keel_engine_t *engine, PJRT_Client *client, const keel_digest_t *key,
                      loaded_entry_t *out, keel_miss_t *out_miss) {
    keel_status_t status;
    loading_t loading = {engine, client, &engine->disk, key, .is_ahead = true};
    if (!get_and_load(&loading, out, out_miss, &status)) return false;
    bool loaded = !status;
    keel_status_ignore(status);
    return loaded;
}

void loaded_entry_destroy(keel_engine_t *engine, loaded_entry_t *loaded) {
    keel_pjrt_destroy_loaded(engine->api, loaded->executable);
    keel_entry_deinitialize(&loaded->entry);
}
