// Walks the store's tiers, the fastest first.
#include "engine/tiers.h"
#include "remote/remote.h"
#include "store/entry.h"

// ---- open --------------------------------------------------------------------------------------

static void found_crashed(void *context, const keel_digest_t *key) {
    keel_engine_t *engine = context;
    keel_journal_store_error(engine->journal, "load", key,
                             "loading this entry crashed an earlier process; it is in quarantine");
    keel_log_once("crashed", "loading a stored program crashed an earlier process; it is set aside "
                             "and compiled again");
}

static void sweep(keel_engine_t *engine) {
    for (size_t i = 0; i < engine->tiers.count; ++i) {
        const keel_tier_t *tier = &engine->tiers.list[i];
        keel_status_t status =
            tier->marks ? tier->marks->sweep(tier->context, found_crashed, engine) : NULL;
        if (status) engine_fell_through(engine, "cache", NULL, status);
    }
}

static keel_status_t add_memory(keel_engine_t *engine) {
    keel_tier_t tier;
    if (!engine->settings.memory_limit) return NULL;
    KEEL_TRY(keel_store_memory(engine->settings.memory_limit, &tier));
    return keel_tiers_add(&engine->tiers, &tier);
}

static keel_status_t add_disk(keel_engine_t *engine) {
    keel_tier_t tier;
    KEEL_TRY(keel_store_disk(engine->cache_dir, engine->settings.cache_limit,
                             engine->settings.mode == KEEL_MODE_READONLY, &tier));
    if (engine->settings.shared_cache) keel_store_disk_share(&tier);
    return keel_tiers_add(&engine->tiers, &tier);
}

// A remote's entries come by way of the disk tier, so without writing there none can come.
static keel_status_t add_remotes(keel_engine_t *engine) {
    const keel_remotes_t *remotes = &engine->settings.remotes;
    const keel_tier_t *disk = &engine->tiers.list[engine->tiers.count - 1];
    if (engine->settings.mode == KEEL_MODE_READONLY) return NULL;
    for (size_t i = 0; i < remotes->count; ++i) {
        keel_tier_t tier;
        KEEL_TRY(keel_remote_tier(&engine->settings, engine->cache_dir, i, disk, &tier));
        KEEL_TRY(keel_tiers_add(&engine->tiers, &tier));
        if (remotes->list[i].trusted)
            keel_log_once("trusted remote",
                          "a remote is trusted without signatures (remotes): whoever can write "
                          "there can run code as you");
    }
    return NULL;
}

keel_status_t tiers_open(keel_engine_t *engine) {
    keel_mode_t mode = engine->settings.mode;
    if (!*engine->cache_dir) return NULL;
    engine->looks_up = mode == KEEL_MODE_ON || mode == KEEL_MODE_READONLY;
    engine->stores = mode == KEEL_MODE_ON || mode == KEEL_MODE_REFRESH;
    KEEL_TRY(add_memory(engine));
    KEEL_TRY(add_disk(engine));
    KEEL_TRY(add_remotes(engine));
    sweep(engine);
    return NULL;
}

// They are the last ones.
void tiers_leave_remotes(keel_engine_t *engine) {
    keel_tiers_t *tiers = &engine->tiers;
    while (tiers->count && tiers->list[tiers->count - 1].fills) {
        const keel_tier_t *tier = &tiers->list[--tiers->count];
        tier->close(tier->context);
    }
}

// ---- entries -----------------------------------------------------------------------------------

// Keeps the first failure in *first and writes further ones to the journal. Takes the status.
static void keep_first(keel_engine_t *engine, const keel_digest_t *key, keel_status_t status,
                       keel_status_t *first) {
    if (!*first) {
        *first = status;
        return;
    }
    keel_journal_store_error(engine->journal, "put", key, keel_status_message(status));
    keel_status_ignore(status);
}

// Tiers that persist come first: what they need to write an entry is free again before another tier
// takes a copy.
keel_status_t tiers_put(keel_engine_t *engine, const keel_entry_t *entry) {
    const keel_tiers_t *tiers = &engine->tiers;
    keel_status_t first = NULL;
    bool is_kept = false;
    for (size_t i = 0; i < tiers->count; ++i) {
        const keel_tier_t *tier = &tiers->list[i];
        if (tier->readonly || !tier->persists || (tier->fills && !is_kept)) continue;
        keel_status_t status = tier->put(tier->context, entry);
        if (status) keep_first(engine, &entry->key, status, &first);
        is_kept = is_kept || !status;
    }
    // If it is too large for memory, or there is none left, a slower tier has it.
    for (size_t i = 0; i < tiers->count; ++i) {
        const keel_tier_t *tier = &tiers->list[i];
        if (tier->readonly || tier->persists) continue;
        // A process rarely loads what it compiled itself, and a large one would fill the memory.
        if (is_kept && entry->payload_size >= KEEL_ENTRY_LARGE)
            keel_status_ignore(tier->remove(tier->context, &entry->key));
        else
            keel_status_ignore(tier->put(tier->context, entry));
    }
    if (!is_kept || !first) return first;
    keel_journal_store_error(engine->journal, "put", &entry->key, keel_status_message(first));
    keel_status_ignore(first);
    return NULL;
}

void tiers_promote(keel_engine_t *engine, const keel_tier_t *tier, const keel_entry_t *entry) {
    uint64_t limit = engine->settings.memory_limit;
    if (limit && entry->payload_size > limit) {
        char size[16], most[16];
        keel_format_size(entry->payload_size, size);
        keel_format_size(limit, most);
        keel_log_once("memory_limit",
                      "%s takes %s, more than memory_limit (%s): it is read from the cache each "
                      "time, not kept in memory",
                      *entry->name ? entry->name : "a program", size, most);
    }
    for (const keel_tier_t *faster = engine->tiers.list; faster < tier; ++faster)
        if (!faster->readonly && !(tier->fills && faster->persists))
            keel_status_ignore(faster->put(faster->context, entry));
}

void tiers_quarantine(const keel_tier_t *tier, const keel_digest_t *key, const char *reason) {
    keel_status_ignore(
        tier->quarantine(tier->context, key, reason)); // one that is read-only refuses
}

// ---- marks -------------------------------------------------------------------------------------

static const keel_tier_t *marking_tier(const keel_engine_t *engine, const keel_tier_t *tier) {
    if (tier && (tier->marks || !tier->persists)) return tier;
    for (size_t i = 0; i < engine->tiers.count; ++i)
        if (engine->tiers.list[i].marks) return &engine->tiers.list[i];
    return NULL;
}

bool tiers_mark(keel_engine_t *engine, const keel_tier_t *tier, const keel_digest_t *key,
                const char *script, keel_mark_t *out) {
    const keel_tier_t *marking = marking_tier(engine, tier);
    if (!marking || !marking->marks) return false;
    keel_status_t status = marking->marks->make(marking->context, key, script, out);
    keel_status_ignore(status);
    return !status;
}

unsigned tiers_crashes(keel_engine_t *engine, const keel_digest_t *key) {
    unsigned most = 0;
    for (size_t i = 0; i < engine->tiers.count; ++i) {
        const keel_tier_t *tier = &engine->tiers.list[i];
        unsigned crashes = tier->marks ? tier->marks->crashes(tier->context, key) : 0;
        if (crashes > most) most = crashes;
    }
    return most;
}

void tiers_forgive(keel_engine_t *engine, const keel_digest_t *key) {
    for (size_t i = 0; i < engine->tiers.count; ++i) {
        const keel_tier_t *tier = &engine->tiers.list[i];
        if (tier->marks) tier->marks->forgive(tier->context, key);
    }
}

// ---- claims ------------------------------------------------------------------------------------

bool claims_take(keel_engine_t *engine, const keel_digest_t *key, const keel_claimant_t *claimant,
                 void (*refused)(void *context, const char *why), claims_t *out) {
    *out = (claims_t){0};
    bool is_claimed_beyond = !engine->looks_up; // by others, who would not be waited for
    for (size_t i = 0; i < engine->tiers.count; ++i) {
        const keel_tier_t *tier = &engine->tiers.list[i];
        if (!tier->claim || (tier->fills && is_claimed_beyond)) continue;
        KEEL_ASSERT(out->count < KEEL_TIERS_MOST);
        keel_status_t status = tier->claim(tier->context, key, claimant, &out->list[out->count]);
        if (!status) {
            ++out->count;
            is_claimed_beyond = is_claimed_beyond || tier->fills;
            continue;
        }
        if (tier->fills && keel_status_code(status) == KEEL_UNSUPPORTED) {
            keel_status_ignore(status);
            continue;
        }
        const char *why = keel_status_message(status);
        if (keel_status_code(status) == KEEL_REFUSED) refused(claimant->context, why);
        keel_journal_store_error(engine->journal, "claim", key, why);
        keel_status_ignore(status);
    }
    return out->count != 0;
}

// The last one taken first.
void claims_release(claims_t *claims) {
    while (claims->count)
        keel_claim_release(&claims->list[--claims->count]);
}
