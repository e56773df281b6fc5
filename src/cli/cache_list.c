// What is in remotes: listed, summed up, and removed if it is old.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cache.h"
#include "text/write.h"

void cache_listing_free(cache_listing_t *listing) {
    keel_free(listing->list);
    *listing = (cache_listing_t){.count = 0};
}

// "entry KEY BYTES SECONDS"
static keel_status_t take_entry(cache_listing_t *listing, const char *line) {
    enum { AT = sizeof "entry " - 1 };
    cache_listed_t entry;
    char *end;
    void *grown = listing->list;
    if (strlen(line) < AT + KEEL_DIGEST_HEX ||
        !keel_digest_unhex((keel_str_t){line + AT, KEEL_DIGEST_HEX - 1}, &entry.key))
        return NULL;
    entry.bytes = strtoull(line + AT + KEEL_DIGEST_HEX, &end, 10);
    entry.seconds = strcmp(end, " -") == 0 ? UINT64_MAX : strtoull(end, NULL, 10);
    KEEL_TRY(keel_grow_array(listing->count, sizeof *listing->list, &listing->capacity, &grown));
    listing->list = grown;
    listing->list[listing->count++] = entry;
    return NULL;
}

static keel_status_t take_lines(cache_listing_t *listing, char *text) {
    bool is_done = false;
    for (char *end; (end = strchr(text, '\n')); text = end + 1) {
        *end = 0;
        if (strncmp(text, "entry ", 6) == 0) KEEL_TRY(take_entry(listing, text));
        if (strncmp(text, "error ", 6) == 0) return keel_status_make(KEEL_IO, "%s", text + 6);
        is_done = strcmp(text, "done") == 0;
    }
    return is_done ? NULL : keel_status_make(KEEL_IO, "keel-remote ended before it was done");
}

keel_status_t cache_list_remote(const keel_settings_t *settings, size_t place, const char *older,
                                cache_listing_t *out) {
    char number[24];
    const char *const how[] = {older ? "--prune" : "--list", number, older ? "--older" : NULL,
                               older, NULL};
    keel_buffer_t said;
    int code;
    *out = (cache_listing_t){.count = 0};
    snprintf(number, sizeof number, "%zu", place);
    KEEL_TRY(cache_run_helper(settings, how, &said, &code));
    keel_status_t status = said.size ? take_lines(out, (char *)said.data)
                                     : keel_status_make(KEEL_IO, "keel-remote says nothing");
    keel_buffer_deinitialize(&said);
    return status;
}

// ---- for each remote ---------------------------------------------------------------------------

typedef struct writer_t {
    void (*text)(const cache_listing_t *listing, keel_buffer_t *out);
    void (*json)(const cache_listing_t *listing, keel_json_t *json);
    const char *older; // seconds, as text
    bool writes;       // only remotes that are read-write
} writer_t;

static void write_one(const writer_t *writer, const char *url, const cache_listing_t *listing,
                      const char *why, keel_json_t *json, keel_buffer_t *out) {
    if (json) {
        keel_json_object(json, NULL);
        keel_json_string(json, "remote", url);
        if (why)
            keel_json_string(json, "why", why);
        else
            writer->json(listing, json);
        keel_json_end_object(json);
        return;
    }
    keel_write_foreign(out, url);
    keel_buffer_text(out, "  ");
    if (why)
        keel_write_foreign(out, why);
    else
        writer->text(listing, out);
    keel_buffer_byte(out, '\n');
}

static keel_status_t each(const keel_settings_t *settings, const writer_t *writer, bool json,
                          keel_buffer_t *out, cache_work_t *work) {
    keel_json_t array = keel_json(out, KEEL_JSON_SPACED);
    KEEL_TRY(cache_need_remotes(settings));
    if (json) keel_json_array(&array, NULL);
    for (size_t i = 0; i < settings->remotes.count; ++i) {
        const keel_remote_t *remote = &settings->remotes.list[i];
        cache_listing_t listing = {.count = 0};
        keel_status_t status =
            writer->writes && !remote->writes
                ? keel_status_make(KEEL_REFUSED, "it is only read; add |read-write to change it")
                : cache_list_remote(settings, i, writer->older, &listing);
        if (status) work->code = CLI_NO;
        write_one(writer, remote->url, &listing, status ? keel_status_message(status) : NULL,
                  json ? &array : NULL, out);
        keel_status_ignore(status);
        cache_listing_free(&listing);
    }
    if (json) keel_json_end_array(&array);
    return NULL;
}

// ---- ls ----------------------------------------------------------------------------------------

static int by_age(const void *a, const void *b) {
    const cache_listed_t *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
    return memcmp(&x->key, &y->key, sizeof x->key);
}

static void ls_text(const cache_listing_t *listing, keel_buffer_t *out) {
    keel_buffer_format(out, "%zu entr%s", listing->count, listing->count == 1 ? "y" : "ies");
    if (listing->count) qsort(listing->list, listing->count, sizeof *listing->list, by_age);
    for (size_t i = 0; i < listing->count; ++i) {
        char hex[KEEL_DIGEST_HEX], size[16], age[24] = "unknown";
        const cache_listed_t *entry = &listing->list[i];
        keel_digest_hex(&entry->key, hex);
        keel_format_size(entry->bytes, size);
        if (entry->seconds != UINT64_MAX)
            keel_clock_iso(keel_clock_wall() - entry->seconds * 1000000000u, age);
        keel_buffer_format(out, "\n%.16s  %8s  %s", hex, size, age);
    }
}

static void ls_json(const cache_listing_t *listing, keel_json_t *json) {
    keel_json_array(json, "entries");
    for (size_t i = 0; i < listing->count; ++i) {
        const cache_listed_t *entry = &listing->list[i];
        keel_json_break(json, "\n ");
        keel_json_object(json, NULL);
        keel_json_digest(json, "key", &entry->key);
        keel_json_unsigned(json, "bytes", entry->bytes);
        if (entry->seconds != UINT64_MAX) keel_json_unsigned(json, "age_seconds", entry->seconds);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

keel_status_t cache_ls_remote(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                              cache_work_t *work) {
    const writer_t writer = {.text = ls_text, .json = ls_json};
    return each(settings, &writer, json, out, work);
}

// ---- stat, prune -------------------------------------------------------------------------------

static uint64_t bytes_of(const cache_listing_t *listing) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < listing->count; ++i)
        bytes += listing->list[i].bytes;
    return bytes;
}

static void sum_text(const cache_listing_t *listing, keel_buffer_t *out) {
    char size[16];
    keel_format_size(bytes_of(listing), size);
    keel_buffer_format(out, "%zu entr%s, %s", listing->count, listing->count == 1 ? "y" : "ies",
                       size);
}

static void removed_text(const cache_listing_t *listing, keel_buffer_t *out) {
    keel_buffer_text(out, "removed ");
    sum_text(listing, out);
}

static void sum_json(const cache_listing_t *listing, keel_json_t *json) {
    keel_json_unsigned(json, "entries", listing->count);
    keel_json_unsigned(json, "bytes", bytes_of(listing));
}

static void removed_json(const cache_listing_t *listing, keel_json_t *json) {
    keel_json_unsigned(json, "removed", listing->count);
    keel_json_unsigned(json, "bytes", bytes_of(listing));
}

keel_status_t cache_stat_remote(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                                cache_work_t *work) {
    const writer_t writer = {.text = sum_text, .json = sum_json};
    keel_buffer_t figures;
    if (!json) KEEL_TRY(each(settings, &writer, json, out, work));
    keel_status_t status = cache_ask(settings, "figures", 5, &figures);
    if (!status && !json) cache_figures_text(keel_buffer_cstr(&figures), out);
    if (json) {
        keel_json_t object = keel_json(out, KEEL_JSON_SPACED);
        keel_buffer_t list;
        keel_buffer_initialize(&list, 0);
        keel_json_object(&object, NULL);
        keel_status_t failed = each(settings, &writer, json, &list, work);
        if (!failed) failed = keel_buffer_status(&list);
        if (!failed) keel_buffer_text(keel_json_value(&object, "remotes"), keel_buffer_cstr(&list));
        if (!failed && !status)
            keel_buffer_text(keel_json_value(&object, "helper"), keel_buffer_cstr(&figures));
        keel_json_end_object(&object);
        keel_buffer_deinitialize(&list);
        keel_status_ignore(status);
        status = failed;
    }
    keel_buffer_deinitialize(&figures);
    keel_status_ignore(json ? NULL : status);
    return json ? status : NULL;
}

keel_status_t cache_prune_remote(const keel_settings_t *settings, bool json, keel_buffer_t *out,
                                 cache_work_t *work) {
    uint64_t seconds;
    char text[24];
    if (!work->older)
        return keel_status_make(KEEL_INVALID,
                                "--remote needs --older AGE, such as --older 30d: who else uses "
                                "a remote is not known, so its age alone counts");
    if (!keel_parse_age(work->older, &seconds))
        return keel_status_make(KEEL_INVALID,
                                "--older %s: not an age; use a number with s, m, h, d or w, such "
                                "as 30d, or 0",
                                work->older);
    snprintf(text, sizeof text, "%" PRIu64, seconds);
    const writer_t writer = {
        .text = removed_text, .json = removed_json, .older = text, .writes = true};
    return each(settings, &writer, json, out, work);
}
