// The digest of a plugin's file. Plugins are hundreds of megabytes, so digests are cached:
//   <folder>/<device>-<inode>, hex, holds one line:
//   keel-plugin 1 <size> <modified ns> <changed ns> <digest>
// A file that changed less than two seconds before it was hashed is not cached: a later write in
// the same tick of the file system's clock would go unnoticed.
#include <stdio.h>

#include "key/key.h"

enum { RECORD_LIMIT = 256 };
#define RACY_NS UINT64_C(2000000000)

static keel_status_t record_path(const char *folder, const keel_file_facts_t *facts, char **out) {
    return keel_path(out, "%s/%llx-%llx", folder, (unsigned long long)facts->device,
                     (unsigned long long)facts->inode);
}

static int format_record(const keel_file_facts_t *facts, const keel_digest_t *digest,
                         char out[RECORD_LIMIT]) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(digest, hex);
    return snprintf(out, RECORD_LIMIT, "keel-plugin 1 %llu %llu %llu %s\n",
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

static keel_status_t hash_file(const char *path, keel_digest_t *out) {
    keel_bytes_t mapping;
    KEEL_TRY(keel_file_map(path, &mapping));
    *out = keel_digest(mapping);
    keel_file_unmap(mapping);
    return NULL;
}

keel_status_t keel_key_plugin_build(const char *path, const char *folder, keel_digest_t *out) {
    keel_file_facts_t facts, after;
    KEEL_TRY(keel_file_facts(path, &facts));
    if (!facts.is_file) return keel_status_make(KEEL_INVALID, "%s: not a file", path);
    if (!folder) return hash_file(path, out);
    char *record = NULL;
    KEEL_TRY(record_path(folder, &facts, &record));
    keel_digest_t digest;
    bool known = recall(record, &facts, &digest);
    uint64_t hashed = keel_clock_wall();
    keel_status_t status = known ? NULL : hash_file(path, &digest);
    if (!known && !status) {
        keel_status_t gone = keel_file_facts(path, &after);
        if (!gone && same_facts(&facts, &after) && is_settled(&facts, hashed))
            remember(folder, record, &facts, &digest);
        keel_status_ignore(gone);
    }
    keel_free(record);
    if (!status) *out = digest;
    return status;
}
