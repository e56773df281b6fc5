#include "courier/courier.h"

void place_failed(place_t *place) {
    atomic_store(&place->down_until,
                 keel_clock_monotonic() + keel_limit_time(KEEL_LIMIT_REMOTE_DOWN));
}

bool place_is_down(place_t *place) {
    return keel_clock_monotonic() < atomic_load(&place->down_until);
}

keel_status_t courier_name(const keel_remote_t *remote, const keel_digest_t *key, char **out) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(key, hex);
    return keel_path(out, "%s%sentries/%.2s/%s.keel", remote->space, *remote->space ? "/" : "", hex,
                     hex);
}

keel_status_t courier_claim_name(const keel_remote_t *remote, const keel_digest_t *key,
                                 char **out) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(key, hex);
    return keel_path(out, "%s%sclaims/%.2s/%s", remote->space, *remote->space ? "/" : "", hex, hex);
}

keel_status_t backend_open(const keel_remote_t *remote, backend_t *out) {
    static keel_status_t (*const opens[])(const keel_remote_t *remote,
                                          backend_t *out) = {[KEEL_REMOTE_FILE] = backend_file,
                                                             [KEEL_REMOTE_HTTP] = backend_http,
                                                             [KEEL_REMOTE_REDIS] = backend_redis,
                                                             [KEEL_REMOTE_S3] = backend_s3};
    return opens[remote->scheme](remote, out);
}

// A remote that cannot be used says so when it is asked; the others work.
static keel_status_t open_place(const keel_remote_t *remote, place_t *place) {
    place->remote = remote;
    keel_status_t status = backend_open(remote, &place->backend);
    place->is_open = !status;
    if (!status) return NULL;
    keel_status_t copied = keel_strdup(keel_str(keel_status_message(status)), &place->why);
    keel_status_ignore(status);
    return copied;
}

static keel_status_t open_parts(courier_t *courier) {
    const keel_remotes_t *remotes = &courier->settings.remotes;
    for (; courier->count < remotes->count; ++courier->count)
        KEEL_TRY(open_place(&remotes->list[courier->count], &courier->places[courier->count]));
    KEEL_TRY(
        keel_store_disk(courier->cache_dir, courier->settings.cache_limit, false, &courier->disk));
    KEEL_TRY(fetches_create(&courier->fetches));
    KEEL_TRY(plans_create(courier, &courier->plans));
    return sends_create(courier, &courier->sends);
}

keel_status_t courier_open(const char *const flags[KEEL_SETTING_COUNT], courier_t *out) {
    *out = (courier_t){.idle = keel_limit_time(KEEL_LIMIT_REMOTE_IDLE)};
    KEEL_TRY(keel_settings_load(flags, &out->settings));
    out->cache_dir = keel_settings_text(&out->settings, KEEL_SETTING_CACHE_DIR);
    out->keys_dir = keel_settings_text(&out->settings, KEEL_SETTING_KEYS_DIR);
    keel_status_t status = open_parts(out);
    if (status) courier_close(out);
    return status;
}

void courier_close(courier_t *courier) {
    plans_destroy(courier->plans);
    sends_destroy(courier->sends);
    fetches_destroy(courier->fetches);
    for (size_t i = 0; i < courier->count; ++i) {
        place_t *place = &courier->places[i];
        if (place->is_open) place->backend.kind->close(place->backend.context);
        keel_free(place->why);
    }
    if (courier->disk.close) courier->disk.close(courier->disk.context);
    keel_settings_deinitialize(&courier->settings);
    *courier = (courier_t){.idle = 0};
}
