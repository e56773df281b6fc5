// The digest of a plugin's file. Plugins are hundreds of megabytes, so digests are cached:
//   <folder>/<device>-<inode>, hex, holds one line:
//   keel-plugin 2 <size> <modified ns> <changed ns> <digest>
// A file that changed less than two seconds before it was hashed is not cached: a later write in
// the same tick of the file system's clock would go unnoticed.
//
// Of processes that start together, one reads the file, and the others wait for what it remembers.
// Meanwhile it holds the lock on <folder>/.new.<device>-<inode>.
#define _POSIX_C_SOURCE 200809L // nanosleep
#include <stdio.h>
#include <time.h>

#include "base/limits.h"
#include "base/lock.h"
#include "key/key.h"

enum { RECORD_LIMIT = 256 };
#define RACY_NS UINT64_C(2000000000)

typedef struct plugin_t {
    const char *path, *folder;
    keel_file_facts_t facts;
    char *record;
} plugin_t;

static keel_status_t record_path(const char *folder, const keel_file_facts_t *facts, char **out) {
    return keel_path(out, "%s/%llx-%llx", folder, (unsigned long long)facts->device,
                     (unsigned long long)facts->inode);
}

static int format_record(const keel_file_facts_t *facts, const keel_digest_t *digest,
                         char out[RECORD_LIMIT]) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(digest, hex);
    return snprintf(out, RECORD_LIMIT, "keel-plugin 2 %llu %llu %llu %s\n",
                    (unsigned long long)facts->size, (unsigned long long)facts->modified,
                    (unsigned long long)facts->changed, hex);
}

static bool recall(const char *path, const keel_file_facts_t *facts, keel_digest_t *out) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    keel_file_facts_t own;
    keel_status_t status = keel_file_read_with_facts(path, RECORD_LIMIT, &bytes, &size, &own);
    keel_status_ignore(status);
    bool right = false;
    if (!status && size > KEEL_DIGEST_HEX) {
        keel_str_t hex = {(const char *)bytes + size - KEEL_DIGEST_HEX, KEEL_DIGEST_HEX - 1};
        char expected[RECORD_LIMIT];
        keel_digest_t digest;
        if (keel_digest_unhex(hex, &digest)) {
            int written = format_record(facts, &digest, expected);
            right = (size_t)written == size && memcmp(expected, bytes, size) == 0;
            if (right) *out = digest;
        }
    }
    keel_free(bytes);
    return right;
}

static bool same_facts(const keel_file_facts_t *a, const keel_file_facts_t *b) {
    return a->size == b->size && a->modified == b->modified && a->changed == b->changed &&
           a->inode == b->inode && a->device == b->device;
}

static bool is_settled(const keel_file_facts_t *facts, uint64_t hashed) {
    uint64_t last = facts->modified > facts->changed ? facts->modified : facts->changed;
    return hashed > last + RACY_NS;
}

static void remember(const char *folder, const char *path, const keel_file_facts_t *facts,
                     const keel_digest_t *digest) {
    char record[RECORD_LIMIT];
    int size = format_record(facts, digest, record);
    keel_status_t status = keel_directory_make(folder);
    if (!status) status = keel_file_replace(path, keel_bytes(record, (size_t)size));
    keel_status_ignore(status);
}

static keel_status_t hash_and_remember(const plugin_t *plugin, keel_digest_t *out) {
    keel_file_facts_t after;
    uint64_t hashed = keel_clock_wall();
    KEEL_TRY(keel_file_content_digest(plugin->path, out));
    keel_status_t gone = keel_file_facts(plugin->path, &after);
    if (!gone && same_facts(&plugin->facts, &after) && is_settled(&plugin->facts, hashed))
        remember(plugin->folder, plugin->record, &plugin->facts, out);
    keel_status_ignore(gone);
    return NULL;
}

// True if another process remembered it meanwhile. Otherwise this one reads it: it has the lock, or
// there can be none, or whoever has it takes too long.
static bool await_other(const plugin_t *plugin, const char *path, keel_lock_t *lock,
                        keel_digest_t *out) {
    static const struct timespec pause = {0, 5000000};
    uint64_t until = keel_clock_monotonic() + keel_limit_time(KEEL_LIMIT_DIGEST_WAIT);
    keel_status_ignore(keel_directory_make(plugin->folder));
    for (;;) {
        keel_status_t status = keel_lock_take(path, lock);
        bool is_held = keel_status_code(status) == KEEL_REFUSED;
        keel_status_ignore(status);
        if (recall(plugin->record, &plugin->facts, out)) return true;
        if (!is_held || keel_clock_monotonic() > until) return false;
        nanosleep(&pause, NULL);
    }
}

static keel_status_t read_once(const plugin_t *plugin, keel_digest_t *out) {
    char *path;
    keel_lock_t lock = KEEL_NO_LOCK;
    KEEL_TRY(keel_path(&path, "%s/.new.%llx-%llx", plugin->folder,
                       (unsigned long long)plugin->facts.device,
                       (unsigned long long)plugin->facts.inode));
    bool is_known = await_other(plugin, path, &lock, out);
    keel_status_t status = is_known ? NULL : hash_and_remember(plugin, out);
    if (keel_lock_is_ours(&lock)) keel_lock_remove(&lock, path);
    keel_free(path);
    return status;
}

keel_status_t keel_key_plugin_build(const char *path, const char *folder, keel_digest_t *out) {
    plugin_t plugin = {.path = path, .folder = folder};
    KEEL_TRY(keel_file_facts(path, &plugin.facts));
    if (!plugin.facts.is_file) return keel_status_make(KEEL_INVALID, "%s: not a file", path);
    // What cannot be remembered is nothing to wait for.
    if (!folder || !is_settled(&plugin.facts, keel_clock_wall()))
        return keel_file_content_digest(path, out);
    KEEL_TRY(record_path(folder, &plugin.facts, &plugin.record));
    keel_digest_t digest;
    keel_status_t status =
        recall(plugin.record, &plugin.facts, &digest) ? NULL : read_once(&plugin, &digest);
    keel_free(plugin.record);
    if (!status) *out = digest;
    return status;
}
