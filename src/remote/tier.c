// A remote as a tier: the helper is asked, and what it found is read from the disk tier.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>

#include "remote/remote.h"

typedef struct tier_t {
    const keel_settings_t *settings;
    const char *cache_dir;
    const keel_remote_t *remote;
    const keel_tier_t *disk;
    size_t place;
    atomic_bool gave_up, said;
} tier_t;

static keel_status_t absent(const tier_t *tier) {
    return keel_status_make(KEEL_NOT_FOUND, "%s does not have it", tier->remote->url);
}

// Said once a process; the journal has it each time.
static keel_status_t unused(tier_t *tier, const char *why, keel_miss_t *out_miss) {
    *out_miss = KEEL_MISS_UNREADABLE;
    if (!atomic_exchange(&tier->said, true))
        keel_log_line("%s: %s; what it may have is compiled here", tier->remote->url, why);
    return keel_status_make(KEEL_NOT_FOUND, "%s: %s", tier->remote->url, why);
}

static keel_status_t ask(tier_t *tier, const char *verb, const keel_digest_t *key,
                         keel_buffer_t *out) {
    enum { HELPER = 1 }; // seconds that the helper itself may take
    char request[128], hex[KEEL_DIGEST_HEX];
    keel_digest_hex(key, hex);
    snprintf(request, sizeof request, "%s %zu %s", verb, tier->place, hex);
    uint64_t until = keel_clock_monotonic() + tier->remote->timeout + HELPER * 1000000000ull;
    keel_status_t status =
        keel_remote_ask(tier->settings, tier->cache_dir, request, until, false, out);
    if (status) atomic_store(&tier->gave_up, true);
    return status;
}

static keel_status_t tell(tier_t *tier, const keel_digest_t *key, const char *answer,
                          keel_entry_t *out, keel_miss_t *out_miss) {
    const char *why = strchr(answer, ' ');
    if (strncmp(answer, "found ", 6) == 0)
        return tier->disk->get(tier->disk->context, key, out, out_miss);
    if (strcmp(answer, "none") == 0) return absent(tier);
    if (strncmp(answer, "failed ", 7) == 0) atomic_store(&tier->gave_up, true);
    return unused(tier, why ? why + 1 : "it answers what Keel does not understand", out_miss);
}

static keel_status_t tier_get(void *context, const keel_digest_t *key, keel_entry_t *out,
                              keel_miss_t *out_miss) {
    tier_t *tier = context;
    keel_buffer_t answer;
    *out_miss = KEEL_MISS_ABSENT;
    if (atomic_load(&tier->gave_up)) return absent(tier);
    keel_buffer_initialize(&answer, KEEL_REMOTE_LINE);
    keel_status_t status = ask(tier, "get", key, &answer);
    keel_status_t told = status ? unused(tier, keel_status_message(status), out_miss)
                                : tell(tier, key, keel_buffer_cstr(&answer), out, out_miss);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&answer);
    return told;
}

// The disk tier has it already. Whoever compiled it does not wait until it is sent.
static keel_status_t tier_put(void *context, const keel_entry_t *entry) {
    tier_t *tier = context;
    keel_buffer_t answer;
    if (atomic_load(&tier->gave_up) || keel_entry_is_record(entry)) return NULL;
    keel_buffer_initialize(&answer, KEEL_REMOTE_LINE);
    keel_status_t status = ask(tier, "put", &entry->key, &answer);
    const char *text = keel_buffer_cstr(&answer);
    if (!status && strcmp(text, "queued") != 0)
        status = keel_status_make(KEEL_IO, "%s: %s", tier->remote->url, text);
    keel_buffer_deinitialize(&answer);
    return status;
}

// What others stored is theirs to remove.
static keel_status_t tier_remove(void *context, const keel_digest_t *key) {
    const tier_t *tier = context;
    (void)key;
    return keel_status_make(KEEL_UNSUPPORTED, "%s: nothing is removed there", tier->remote->url);
}

static keel_status_t tier_list(void *context,
                               keel_status_t (*visit)(void *visitor, const keel_entry_t *entry,
                                                      uint64_t stored_bytes, uint64_t last_used),
                               void *visitor) {
    const tier_t *tier = context;
    (void)visit;
    (void)visitor;
    return keel_status_make(KEEL_UNSUPPORTED, "%s cannot be listed", tier->remote->url);
}

static keel_status_t tier_quarantine(void *context, const keel_digest_t *key, const char *reason) {
    const tier_t *tier = context;
    return tier->disk->quarantine(tier->disk->context, key, reason);
}

static void tier_close(void *context) {
    keel_free(context);
}

keel_status_t keel_remote_tier(const keel_settings_t *settings, const char *cache_dir, size_t place,
                               const keel_tier_t *disk, keel_tier_t *out) {
    void *memory;
    KEEL_ASSERT(place < settings->remotes.count);
    KEEL_TRY(keel_calloc(1, sizeof(tier_t), &memory));
    tier_t *tier = memory;
    *tier = (tier_t){.settings = settings,
                     .cache_dir = cache_dir,
                     .remote = &settings->remotes.list[place],
                     .disk = disk,
                     .place = place};
    *out = (keel_tier_t){
        .name = tier->remote->url,
        .context = tier,
        .persists = true,
        .readonly = !tier->remote->writes,
        .fills = true,
        .get = tier_get,
        .put = tier_put,
        .remove = tier_remove,
        .list = tier_list,
        .quarantine = tier_quarantine,
        .close = tier_close,
    };
    return NULL;
}
