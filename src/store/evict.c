#include <stdlib.h>

#include "store/layout.h"

typedef struct record_t {
    keel_digest_t key;
    uint64_t size;
    uint64_t used;
} record_t;

typedef struct eviction_scan_t {
    record_t *records;
    size_t count, capacity;
    uint64_t bytes;
} eviction_scan_t;

static keel_status_t add_record(eviction_scan_t *scan, const keel_digest_t *key,
                                const keel_file_facts_t *facts) {
    void *records = scan->records;
    KEEL_TRY(keel_grow_array(scan->count, sizeof *scan->records, &scan->capacity, &records));
    scan->records = records;
    scan->records[scan->count++] = (record_t){*key, facts->on_disk, facts->modified};
    scan->bytes += facts->on_disk;
    return NULL;
}

static keel_status_t visit_entry(void *context, const keel_store_file_t *file) {
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(file->path, &facts);
    if (status) {
        // Evicted, replaced or renamed meanwhile.
        keel_status_ignore(status);
        return NULL;
    }
    if (file->key) return add_record(context, file->key, &facts);
    keel_draft_remove_stale(file->path, file->pid, &facts);
    return NULL;
}

static int by_use(const void *left, const void *right) {
    const record_t *a = left, *b = right;
    if (a->used != b->used) return a->used < b->used ? -1 : 1;
    return memcmp(a->key.bytes, b->key.bytes, KEEL_DIGEST_SIZE);
}

// An entry that was used or rewritten since the scan stays. A reader that has opened it keeps its
// bytes anyway.
static keel_status_t remove_entry(const char *folder, const record_t *record, bool *out_removed) {
    *out_removed = false;
    char *path;
    KEEL_TRY(keel_store_entry_path(folder, &record->key, &path));
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(path, &facts);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        status = NULL;
        *out_removed = true;
    } else if (!status && facts.modified == record->used) {
        status = keel_file_remove(path);
        *out_removed = !status;
    }
    keel_free(path);
    return status;
}

static keel_status_t remove_oldest(const char *folder, const eviction_scan_t *scan, uint64_t target,
                                   const keel_digest_t *keep, keel_store_eviction_t *out) {
    for (size_t i = 0; i < scan->count && out->bytes > target; ++i) {
        const record_t *record = &scan->records[i];
        if (keep && keel_digest_equal(keep, &record->key)) continue;
        bool removed;
        KEEL_TRY(remove_entry(folder, record, &removed));
        if (!removed) continue;
        ++out->removed;
        out->removed_bytes += record->size;
        out->bytes -= record->size;
    }
    return NULL;
}

keel_status_t keel_store_evict(const char *folder, uint64_t limit, uint64_t target,
                               const keel_digest_t *keep, keel_store_eviction_t *out) {
    eviction_scan_t scan = {0};
    keel_status_t status = keel_store_walk(folder, visit_entry, &scan);
    *out = (keel_store_eviction_t){.bytes = scan.bytes};
    if (!status && scan.bytes > limit) {
        qsort(scan.records, scan.count, sizeof *scan.records, by_use);
        status = remove_oldest(folder, &scan, target, keep, out);
    }
    keel_free(scan.records);
    return status;
}
