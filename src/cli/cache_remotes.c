#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>

#include "cli/cache.h"
#include "remote/remote.h"
#include "text/write.h"

static const char *folder_of(const keel_settings_t *settings) {
    return keel_settings_text(settings, KEEL_SETTING_CACHE_DIR);
}

static keel_status_t need_remotes(const keel_settings_t *settings) {
    if (settings->remotes.count) return NULL;
    return keel_status_make(KEEL_INVALID, "no remotes are set; set KEEL_REMOTES, or remotes in the "
                                          "config file");
}

static keel_status_t ask(const keel_settings_t *settings, const char *request, uint64_t seconds,
                         keel_buffer_t *out) {
    keel_buffer_initialize(out, 1 << 20);
    uint64_t until = keel_clock_monotonic() + seconds * 1000000000u;
    return keel_remote_ask(settings, folder_of(settings), request, until, false, out);
}

// ---- remotes -----------------------------------------------------------------------------------

static void try_remote(const keel_settings_t *settings, size_t place, keel_buffer_t *out) {
    char request[32];
    keel_buffer_t answer;
    uint64_t patience = settings->remotes.list[place].timeout / 1000000000u + 5;
    snprintf(request, sizeof request, "try %zu", place);
    keel_status_t status = ask(settings, request, patience, &answer);
    const char *text = keel_buffer_cstr(&answer);
    if (status)
        keel_buffer_text(out, keel_status_message(status));
    else if (strncmp(text, "failed ", 7) == 0)
        keel_buffer_text(out, text + 7);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&answer);
}

// `wrong` is "" for one that works.
static void remote_text(const keel_remote_t *remote, const char *wrong, keel_buffer_t *out) {
    keel_write_foreign(out, remote->url);
    keel_buffer_format(out, "  %s, %s  ", remote->writes ? "read-write" : "read",
                       remote->trusted ? "trusted without signatures" : "signed entries only");
    keel_write_foreign(out, *wrong ? wrong : "works");
    keel_buffer_byte(out, '\n');
}

static void remote_json(const keel_remote_t *remote, const char *wrong, keel_json_t *json) {
    keel_json_object(json, NULL);
    keel_json_string(json, "remote", remote->url);
    keel_json_bool(json, "writes", remote->writes);
    keel_json_bool(json, "trusted", remote->trusted);
    keel_json_bool(json, "works", !*wrong);
    if (*wrong) keel_json_string(json, "why", wrong);
    keel_json_end_object(json);
}

keel_status_t cache_remotes(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                            cache_outcome_t *outcome) {
    keel_json_t array = keel_json(out, KEEL_JSON_SPACED);
    KEEL_TRY(need_remotes(settings));
    if (json) keel_json_object(&array, NULL);
    if (json) keel_json_array(&array, "remotes");
    for (size_t i = 0; i < settings->remotes.count; ++i) {
        keel_buffer_t wrong;
        keel_buffer_initialize(&wrong, 0);
        try_remote(settings, i, &wrong);
        const char *text = keel_buffer_cstr(&wrong);
        if (*text) outcome->code = CLI_NO;
        if (json)
            remote_json(&settings->remotes.list[i], text, &array);
        else
            remote_text(&settings->remotes.list[i], text, out);
        keel_buffer_deinitialize(&wrong);
    }
    if (!json) return NULL;
    keel_json_end_array(&array);
    keel_buffer_t figures;
    keel_status_t status = ask(settings, "figures", 5, &figures);
    if (!status) keel_buffer_text(keel_json_value(&array, "helper"), keel_buffer_cstr(&figures));
    keel_status_ignore(status);
    keel_buffer_deinitialize(&figures);
    keel_json_end_object(&array);
    return NULL;
}

// ---- push --------------------------------------------------------------------------------------

typedef struct push_t {
    const keel_settings_t *settings;
    size_t place;
    uint64_t queued, refused;
    char why[512];
} push_t;

static keel_status_t push_entry(void *context, const keel_entry_t *entry, uint64_t stored_bytes,
                                uint64_t last_used) {
    push_t *push = context;
    char request[128], hex[KEEL_DIGEST_HEX];
    keel_buffer_t answer;
    (void)stored_bytes;
    (void)last_used;
    if (keel_entry_is_record(entry)) return NULL;
    keel_digest_hex(&entry->key, hex);
    snprintf(request, sizeof request, "put %zu %s", push->place, hex);
    keel_status_t status = ask(push->settings, request, 30, &answer);
    const char *text = keel_buffer_cstr(&answer);
    bool is_queued = !status && strcmp(text, "queued") == 0;
    if (is_queued)
        ++push->queued;
    else if (!status) {
        ++push->refused;
        snprintf(push->why, sizeof push->why, "%s", text);
    }
    keel_buffer_deinitialize(&answer);
    return status;
}

// "failed N WHY"
static void take_finish(push_t *push, const char *answer) {
    unsigned failed = 0;
    int at = 0;
    if (sscanf(answer, "failed %u %n", &failed, &at) < 1) return;
    push->refused += failed;
    push->queued -= failed < push->queued ? failed : push->queued;
    snprintf(push->why, sizeof push->why, "%s", answer + at);
}

static keel_status_t push_to(push_t *push, const keel_tier_t *disk) {
    enum { HOURS = 24 };
    keel_buffer_t answer;
    KEEL_TRY(disk->list(disk->context, push_entry, push));
    keel_status_t status = ask(push->settings, "finish", HOURS * 3600, &answer);
    if (!status) take_finish(push, keel_buffer_cstr(&answer));
    keel_buffer_deinitialize(&answer);
    return status;
}

static void push_text(const push_t *push, keel_buffer_t *out) {
    keel_write_foreign(out, push->settings->remotes.list[push->place].url);
    keel_buffer_format(out, "  %" PRIu64 " entr%s there, %" PRIu64 " not", push->queued,
                       push->queued == 1 ? "y" : "ies", push->refused);
    if (push->refused) keel_buffer_text(out, ": ");
    if (push->refused) keel_write_foreign(out, push->why);
    keel_buffer_byte(out, '\n');
}

static void push_json(const push_t *push, keel_json_t *json) {
    keel_json_object(json, NULL);
    keel_json_string(json, "remote", push->settings->remotes.list[push->place].url);
    keel_json_unsigned(json, "there", push->queued);
    keel_json_unsigned(json, "not_stored", push->refused);
    if (push->refused) keel_json_string(json, "why", push->why);
    keel_json_end_object(json);
}

static keel_status_t push_all(const keel_settings_t *settings, const keel_tier_t *disk,
                              keel_json_t *json, keel_buffer_t *out, cache_outcome_t *outcome) {
    size_t count = 0;
    for (size_t i = 0; i < settings->remotes.count; ++i) {
        if (!settings->remotes.list[i].writes) continue;
        push_t push = {.settings = settings, .place = i};
        KEEL_TRY(push_to(&push, disk));
        if (push.refused) outcome->code = CLI_NO;
        ++count;
        if (json)
            push_json(&push, json);
        else
            push_text(&push, out);
    }
    if (count) return NULL;
    return keel_status_make(KEEL_INVALID, "every remote is only read; add |read-write to one");
}

keel_status_t cache_push(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                         cache_outcome_t *outcome) {
    keel_tier_t disk;
    keel_json_t array = keel_json(out, KEEL_JSON_SPACED);
    KEEL_TRY(need_remotes(settings));
    KEEL_TRY(keel_store_disk(folder_of(settings), 0, true, &disk));
    if (json) keel_json_array(&array, NULL);
    keel_status_t status = push_all(settings, &disk, json ? &array : NULL, out, outcome);
    if (json) keel_json_end_array(&array);
    disk.close(disk.context);
    return status;
}
