// One entry of a tier, made an executable again.
#include "engine/internal.h"

static keel_status_t load_marked(keel_engine_t *engine, PJRT_Client *client,
                                 const keel_tier_t *tier, const keel_digest_t *key,
                                 loaded_entry_t *found) {
    keel_payload_t payload;
    KEEL_TRY(
        keel_payload_unpack(keel_bytes(found->entry.payload, found->entry.payload_size), &payload));
    keel_mark_t mark;
    bool marked = false;
    if (tier == &engine->disk && engine->settings.mode != KEEL_MODE_READONLY) {
        keel_status_t status = keel_store_mark(engine_cache_dir(engine), key, &mark);
        marked = !status;
        keel_status_ignore(status);
    }
    uint64_t start = keel_clock_monotonic();
    keel_status_t status =
        keel_pjrt_load(engine->api, client, payload.executable, &found->executable);
    found->nanoseconds = keel_clock_monotonic() - start;
    if (marked) keel_store_unmark(&mark);
    found->answer = (keel_payload_t){.has_memory = payload.has_memory, .memory = payload.memory};
    return status;
}

static void reject(keel_engine_t *engine, const keel_tier_t *tier, const keel_digest_t *key,
                   keel_status_t status) {
    const char *message = keel_status_message(status);
    keel_log_once("load", "a stored program does not load and is compiled anew: %s", message);
    keel_journal_store_error(engine->journal, "load", key, message);
    keel_status_ignore(status);
    if (engine->settings.mode == KEEL_MODE_READONLY) return;
    if (engine->memory.remove)
        keel_status_ignore(engine->memory.remove(engine->memory.context, key));
    if (tier == &engine->disk)
        keel_status_ignore(keel_store_quarantine(engine_cache_dir(engine), key, "does not load"));
}

static bool get(keel_engine_t *engine, const keel_tier_t *tier, const keel_digest_t *key,
                keel_entry_t *out, keel_miss_t *out_miss) {
    keel_status_t status = tier->get(tier->context, key, out, out_miss);
    if (!status) return true;
    if (*out_miss != KEEL_MISS_ABSENT)
        keel_journal_store_error(engine->journal, "get", key, keel_status_message(status));
    keel_status_ignore(status);
    return false;
}

// False where there is no entry; *out_status says whether it became an executable.
static bool get_and_load(keel_engine_t *engine, PJRT_Client *client, const keel_tier_t *tier,
                         const keel_digest_t *key, loaded_entry_t *out, keel_miss_t *out_miss,
                         keel_status_t *out_status) {
    *out = (loaded_entry_t){0};
    *out_miss = KEEL_MISS_ABSENT; // of a tier that is not there
    keel_entry_initialize(&out->entry);
    if (!tier->get || !get(engine, tier, key, &out->entry, out_miss)) return false;
    *out_miss = KEEL_MISS_ABSENT;
    *out_status = load_marked(engine, client, tier, key, out);
    if (*out_status) keel_entry_deinitialize(&out->entry);
    return true;
}

bool load_entry(keel_engine_t *engine, PJRT_Client *client, const keel_tier_t *tier,
                const keel_digest_t *key, loaded_entry_t *out, keel_miss_t *out_miss) {
    keel_status_t status;
    if (!get_and_load(engine, client, tier, key, out, out_miss, &status)) return false;
    if (!status) return true;
    reject(engine, tier, key, status);
    *out_miss = KEEL_MISS_DAMAGED;
    return false;
}

bool load_entry_ahead(keel_engine_t *engine, PJRT_Client *client, const keel_digest_t *key,
                      loaded_entry_t *out, keel_miss_t *out_miss) {
    keel_status_t status;
    if (!get_and_load(engine, client, &engine->disk, key, out, out_miss, &status)) return false;
    bool loaded = !status;
    keel_status_ignore(status);
    return loaded;
}

void loaded_entry_destroy(keel_engine_t *engine, loaded_entry_t *loaded) {
    keel_pjrt_destroy_loaded(engine->api, loaded->executable);
    keel_entry_deinitialize(&loaded->entry);
}
