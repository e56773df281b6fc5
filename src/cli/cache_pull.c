// Fetching what remotes have and this machine has not, with many requests in flight.
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cache.h"
#include "text/write.h"

enum { IN_FLIGHT = 16, PATIENCE = 600 }; // requests; seconds of one

typedef struct pull_t {
    const keel_settings_t *settings;
    size_t place;
    const cache_keys_t *keys;
    bool *came; // by key
    atomic_size_t next;
    pthread_mutex_t lock; // for what follows
    cache_fates_t fates;
    bool is_down;
    keel_status_t failure; // of the helper itself
} pull_t;

static void note(pull_t *pull, size_t at, const char *answer) {
    const char *why = strchr(answer, ' ');
    cache_fate_t fate = cache_fate_of(answer);
    pthread_mutex_lock(&pull->lock);
    pull->came[at] = fate == CACHE_FATE_there;
    pull->is_down |= fate == CACHE_FATE_failed;
    cache_fates_add(&pull->fates, fate, fate == CACHE_FATE_there || !why ? "" : why + 1);
    pthread_mutex_unlock(&pull->lock);
}

static void pull_one(pull_t *pull, size_t at) {
    char request[128], hex[KEEL_DIGEST_HEX];
    keel_buffer_t answer;
    keel_digest_hex(&pull->keys->list[at], hex);
    snprintf(request, sizeof request, "get %zu %s", pull->place, hex);
    keel_status_t status = cache_ask(pull->settings, request, PATIENCE, &answer);
    if (!status) note(pull, at, keel_buffer_cstr(&answer));
    keel_buffer_deinitialize(&answer);
    if (!status) return;
    pthread_mutex_lock(&pull->lock);
    pull->is_down = true;
    if (!pull->failure)
        pull->failure = status;
    else
        keel_status_ignore(status);
    pthread_mutex_unlock(&pull->lock);
}

static void *work_on(void *context) {
    pull_t *pull = context;
    for (;;) {
        size_t at = atomic_fetch_add(&pull->next, 1);
        pthread_mutex_lock(&pull->lock);
        bool is_over = at >= pull->keys->count || pull->is_down;
        pthread_mutex_unlock(&pull->lock);
        if (is_over) return NULL;
        if (!pull->came[at]) pull_one(pull, at);
    }
}

static keel_status_t pull_from(pull_t *pull) {
    pthread_t threads[IN_FLIGHT];
    size_t count = 0;
    pthread_mutex_init(&pull->lock, NULL);
    while (count < IN_FLIGHT && count < pull->keys->count &&
           !pthread_create(&threads[count], NULL, work_on, pull))
        ++count;
    if (!count) work_on(pull);
    while (count)
        pthread_join(threads[--count], NULL);
    pthread_mutex_destroy(&pull->lock);
    return pull->failure;
}

// ---- which -------------------------------------------------------------------------------------

// All that the remote has.
static keel_status_t add_listed(const keel_settings_t *settings, size_t place, cache_keys_t *keys) {
    cache_listing_t listing;
    keel_status_t status = cache_list_remote(settings, place, NULL, &listing);
    if (status) {
        keel_status_t told = keel_status_make(KEEL_IO, "%s; name programs with --run instead",
                                              keel_status_message(status));
        keel_status_ignore(status);
        status = told;
    }
    for (size_t i = 0; i < listing.count && !status; ++i)
        status = cache_keys_add(keys, &listing.list[i].key);
    cache_listing_free(&listing);
    return status;
}

// Without a run, each remote is asked for what it has itself.
static keel_status_t choose(const keel_settings_t *settings, const cache_work_t *work, size_t place,
                            cache_keys_t *out) {
    cache_keys_t all = {.count = 0};
    *out = all;
    keel_status_t status =
        work->run ? cache_select(settings, work, &all) : add_listed(settings, place, &all);
    for (size_t i = 0; i < all.count && !status; ++i) {
        bool is_here;
        status = cache_is_here(settings, &all.list[i], &is_here);
        if (!status && !is_here) status = cache_keys_add(out, &all.list[i]);
    }
    cache_keys_free(&all);
    return status;
}

// ---- the commands ------------------------------------------------------------------------------

static void tell(const pull_t *pull, const char *why, keel_json_t *json, keel_buffer_t *out) {
    const char *url = pull->settings->remotes.list[pull->place].url;
    if (json) {
        keel_json_object(json, NULL);
        keel_json_string(json, "remote", url);
        if (why) keel_json_string(json, "unlisted", why);
        cache_fates_json(&pull->fates, json);
        keel_json_end_object(json);
        return;
    }
    keel_write_foreign(out, url);
    keel_buffer_text(out, "  fetched: ");
    if (why)
        keel_write_foreign(out, why);
    else
        cache_fates_text(&pull->fates, out);
    keel_buffer_byte(out, '\n');
}

static keel_status_t pull_place(const keel_settings_t *settings, size_t place, keel_json_t *json,
                                keel_buffer_t *out, cache_work_t *work) {
    cache_keys_t keys;
    pull_t pull = {.settings = settings, .place = place, .keys = &keys};
    void *memory;
    keel_status_t chosen = choose(settings, work, place, &keys);
    keel_status_t status = keel_calloc(keys.count + 1, sizeof *pull.came, &memory);
    if (!status) {
        pull.came = memory;
        if (!chosen) status = pull_from(&pull);
        keel_free(pull.came);
    }
    if (!status) tell(&pull, chosen ? keel_status_message(chosen) : NULL, json, out);
    if (chosen || !cache_fates_are_good(&pull.fates)) work->code = CLI_NO;
    keel_status_ignore(chosen);
    cache_keys_free(&keys);
    return status;
}

keel_status_t cache_pull(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                         cache_work_t *work) {
    keel_json_t array = keel_json(out, KEEL_JSON_SPACED);
    keel_status_t status = NULL;
    KEEL_TRY(cache_need_remotes(settings));
    KEEL_TRY(keel_settings_need_folder(settings, KEEL_SETTING_CACHE_DIR));
    if (json) keel_json_array(&array, NULL);
    for (size_t i = 0; i < settings->remotes.count && !status; ++i)
        status = pull_place(settings, i, json ? &array : NULL, out, work);
    if (json) keel_json_end_array(&array);
    return status;
}

keel_status_t cache_sync(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                         cache_work_t *work) {
    if (!json) {
        KEEL_TRY(cache_push(settings, json, out, work));
        return cache_pull(settings, json, out, work);
    }
    keel_buffer_t parts[2];
    keel_json_t object = keel_json(out, KEEL_JSON_SPACED);
    keel_buffer_initialize(&parts[0], 0);
    keel_buffer_initialize(&parts[1], 0);
    keel_status_t status = cache_push(settings, json, &parts[0], work);
    if (!status) status = cache_pull(settings, json, &parts[1], work);
    keel_json_object(&object, NULL);
    keel_buffer_text(keel_json_value(&object, "push"), keel_buffer_cstr(&parts[0]));
    keel_buffer_text(keel_json_value(&object, "pull"), keel_buffer_cstr(&parts[1]));
    keel_json_end_object(&object);
    keel_buffer_deinitialize(&parts[0]);
    keel_buffer_deinitialize(&parts[1]);
    return status;
}
