// A remote as a tier: the helper is asked, and what it found is read from the disk tier.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
static keel_status_t unused(tier_t *tier, const char *why) {
    if (!atomic_exchange(&tier->said, true))
        keel_log_line("%s: %s; what it may have is compiled here", tier->remote->url, why);
    return keel_status_make(KEEL_NOT_FOUND, "%s", why);
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
    if (strncmp(answer, "found ", 6) == 0) {
        KEEL_TRY(tier->disk->get(tier->disk->context, key, out, out_miss));
        out->fetched = strtoull(answer + 6, NULL, 10);
        return NULL;
    }
    if (strcmp(answer, "none") == 0) return absent(tier);
    *out_miss = strncmp(answer, "untrusted ", 10) == 0 ? KEEL_MISS_UNTRUSTED
                : strncmp(answer, "refused ", 8) == 0  ? KEEL_MISS_REFUSED
                                                       : KEEL_MISS_FAILED;
    if (*out_miss == KEEL_MISS_FAILED) atomic_store(&tier->gave_up, true);
    return unused(tier, why ? why + 1 : "it answers what Keel does not understand");
}

static keel_status_t tier_get(void *context, const keel_digest_t *key, keel_entry_t *out,
                              keel_miss_t *out_miss) {
    tier_t *tier = context;
    keel_buffer_t answer;
    *out_miss = KEEL_MISS_UNASKED;
    if (atomic_load(&tier->gave_up)) return absent(tier);
    *out_miss = KEEL_MISS_ABSENT;
    keel_buffer_initialize(&answer, KEEL_REMOTE_LINE);
    keel_status_t status = ask(tier, "get", key, &answer);
    if (status) *out_miss = KEEL_MISS_FAILED;
    keel_status_t told = status ? unused(tier, keel_status_message(status))
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

// ---- claims ------------------------------------------------------------------------------------

static const uint64_t say_after = 2000000000u, say_within = 5000000000u; // nanoseconds

// A claim that is asked for, and the connection that it lasts as long as.
typedef struct asking_t {
    tier_t *tier;
    const keel_claimant_t *claimant;
    int socket;
    uint64_t until, say_at; // of keel_clock_monotonic; 0: it has been said
    char holder[300];
} asking_t;

// The last line of what came; "" after `until`, NULL if the helper has ended.
static const char *next_line(const asking_t *asking, keel_buffer_t *out) {
    bool is_soon = asking->say_at && asking->say_at < asking->until;
    uint64_t until = is_soon ? asking->say_at : asking->until;
    keel_buffer_deinitialize(out);
    if (keel_socket_line(asking->socket, until, out)) {
        const char *text = keel_buffer_cstr(out), *newline = strrchr(text, '\n');
        return newline ? newline + 1 : text;
    }
    return keel_clock_monotonic() >= until ? "" : NULL;
}

static void say_waiting(asking_t *asking) {
    if (!asking->say_at || keel_clock_monotonic() < asking->say_at) return;
    const keel_claimant_t *claimant = asking->claimant;
    asking->say_at = 0;
    if (claimant->waiting && *asking->holder) claimant->waiting(claimant->context, asking->holder);
}

static keel_status_t unclaimed(tier_t *tier, const char *answer) {
    const char *why = strchr(answer, ' ');
    why = why ? why + 1 : "";
    if (strncmp(answer, "late ", 5) == 0)
        return keel_status_make(KEEL_REFUSED, "%s takes many times as long as the compile should",
                                why);
    if (strncmp(answer, "failed ", 7) != 0)
        return keel_status_make(KEEL_UNSUPPORTED, "%s: it offers no claims", tier->remote->url);
    return keel_status_make(KEEL_IO, "%s: %s", tier->remote->url, why);
}

static keel_status_t await_claim(asking_t *asking, bool *out_held) {
    keel_buffer_t line;
    keel_status_t status = NULL;
    const char *answer;
    keel_buffer_initialize(&line, KEEL_REMOTE_LINE);
    for (;;) {
        answer = next_line(asking, &line);
        if (!answer || keel_clock_monotonic() >= asking->until) break;
        if (strncmp(answer, "waits ", 6) == 0)
            snprintf(asking->holder, sizeof asking->holder, "%s", answer + 6);
        else if (*answer)
            break;
        say_waiting(asking);
    }
    *out_held = answer && strcmp(answer, "held") == 0;
    bool is_left = answer && strcmp(answer, "left") == 0;
    if (!answer || !*answer)
        status = keel_status_make(KEEL_IO, "%s: keel-remote ended", asking->tier->remote->url);
    else if (!*out_held && !is_left)
        status = unclaimed(asking->tier, answer);
    keel_buffer_deinitialize(&line);
    return status;
}

static void release_claim(void *context) {
    int *socket = context;
    (void)keel_socket_send(*socket, keel_bytes("done\n", 5), keel_clock_monotonic() + say_within);
    close(*socket);
    keel_free(socket);
}

// What another held until now is looked for; nothing is held then.
static keel_status_t keep(const asking_t *asking, bool is_held, keel_claim_t *out) {
    void *memory;
    *out = (keel_claim_t){0};
    if (!is_held) return NULL;
    KEEL_TRY(keel_alloc(sizeof(int), &memory));
    *(int *)memory = asking->socket;
    *out = (keel_claim_t){memory, release_claim};
    return NULL;
}

static keel_status_t tier_claim(void *context, const keel_digest_t *key,
                                const keel_claimant_t *claimant, keel_claim_t *out) {
    tier_t *tier = context;
    char request[480], hex[KEEL_DIGEST_HEX];
    bool is_held = false;
    uint64_t now = keel_clock_monotonic();
    if (atomic_load(&tier->gave_up))
        return keel_status_make(KEEL_UNSUPPORTED, "%s is not asked any more", tier->remote->url);
    keel_digest_hex(key, hex);
    snprintf(request, sizeof request, "claim %zu %s %llu %.300s", tier->place, hex,
             (unsigned long long)(claimant->patience / 1000000), claimant->name);
    asking_t asking = {.tier = tier,
                       .claimant = claimant,
                       .until = now + claimant->patience + tier->remote->timeout + say_within,
                       .say_at = now + say_after};
    KEEL_TRY(keel_remote_begin(tier->settings, tier->cache_dir, request, now + say_within,
                               &asking.socket));
    keel_status_t status = await_claim(&asking, &is_held);
    if (!status) status = keep(&asking, is_held, out);
    if (status || !is_held) close(asking.socket);
    return status;
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
        .claim = tier->remote->writes ? tier_claim : NULL,
    };
    return NULL;
}
