#include "store/entry.h"
#include "store/handed.h"
#include "store/layout.h"
#include "store/plan.h"

const char *keel_miss_name(keel_miss_t miss) {
    switch (miss) {
        case KEEL_MISS_ABSENT:
            return "absent";
        case KEEL_MISS_DAMAGED:
            return "damaged";
        case KEEL_MISS_FOREIGN:
            return "foreign";
        case KEEL_MISS_QUARANTINED:
            return "quarantined";
        case KEEL_MISS_UNREADABLE:
            return "unreadable";
        case KEEL_MISS_LATE:
            return "late";
        case KEEL_MISS_SLOW:
            return "slow";
        case KEEL_MISS_UNTRUSTED:
            return "untrusted";
        case KEEL_MISS_REFUSED:
            return "refused";
        case KEEL_MISS_FAILED:
            return "failed";
        case KEEL_MISS_UNASKED:
            return "unasked";
    }
    return "unknown";
}

// ---- facts -------------------------------------------------------------------------------------

static keel_status_t count_entry(void *context, const keel_store_file_t *file) {
    keel_disk_facts_t *counts = context;
    keel_file_facts_t facts;
    if (!file->key) return NULL;
    keel_status_t status = keel_file_facts(file->path, &facts);
    if (status) {
        keel_status_ignore(status); // evicted meanwhile
        return NULL;
    }
    ++counts->entries;
    counts->bytes += facts.on_disk;
    if (!counts->oldest || facts.modified < counts->oldest) counts->oldest = facts.modified;
    if (facts.modified > counts->newest) counts->newest = facts.modified;
    return NULL;
}

static keel_status_t count_quarantined(void *context, const char *path, uint64_t size,
                                       uint64_t since) {
    keel_disk_facts_t *counts = context;
    (void)path;
    (void)since;
    ++counts->quarantined;
    counts->quarantined_bytes += size;
    return NULL;
}

static keel_status_t count_lock(void *context, const char *name) {
    keel_disk_facts_t *counts = context;
    keel_digest_t key;
    const char *rest;
    if (keel_store_parse_name(name, &key, &rest) && strcmp(rest, "lock") == 0) ++counts->locks;
    return NULL;
}

static keel_status_t walk_locks(const char *folder,
                                keel_status_t (*visit)(void *context, const char *name),
                                void *context) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/locks", folder));
    keel_status_t status = keel_directory_walk(path, visit, context);
    keel_free(path);
    return status;
}

keel_status_t keel_store_disk_facts(const char *folder, keel_disk_facts_t *out) {
    *out = (keel_disk_facts_t){0};
    KEEL_TRY(keel_store_walk(folder, count_entry, out));
    KEEL_TRY(keel_store_walk_quarantine(folder, count_quarantined, out));
    return walk_locks(folder, count_lock, out);
}

// ---- verify ------------------------------------------------------------------------------------

typedef struct verify_t {
    void (*bad)(void *context, const char *path, const char *why);
    void *context;
    uint64_t good;
} verify_t;

static keel_status_t check_file(const keel_store_file_t *file) {
    keel_entry_t entry;
    keel_file_facts_t facts;
    bool was_read;
    KEEL_TRY(keel_store_read_entry(file->path, file->key, &entry, &facts, &was_read));
    keel_entry_deinitialize(&entry);
    return NULL;
}

static keel_status_t verify_file(void *context, const keel_store_file_t *file) {
    verify_t *verify = context;
    if (!file->key) return NULL;
    keel_status_t status = check_file(file);
    keel_code_t code = keel_status_code(status);
    if (code == KEEL_NO_MEMORY) return status;
    if (!status)
        ++verify->good;
    else if (code != KEEL_NOT_FOUND && code != KEEL_UNSUPPORTED) // evicted, or another version's
        verify->bad(verify->context, file->path, keel_status_message(status));
    keel_status_ignore(status);
    return NULL;
}

keel_status_t keel_store_disk_verify(const char *folder,
                                     void (*bad)(void *context, const char *path, const char *why),
                                     void *context, uint64_t *out_good) {
    verify_t verify = {bad, context, 0};
    keel_status_t status = keel_store_walk(folder, verify_file, &verify);
    *out_good = verify.good;
    return status;
}

// ---- prune and clear ---------------------------------------------------------------------------

static const uint64_t plan_age = 90ull * 24 * 3600 * 1000000000; // a lost plan is written again

// A lock that can be taken is one whose holder died: taking and releasing it removes it.
static keel_status_t remove_stale_lock(void *context, const char *name) {
    keel_digest_t key;
    const char *rest, *folder = context;
    if (!keel_store_parse_name(name, &key, &rest) || strcmp(rest, "lock") != 0) return NULL;
    char *path;
    KEEL_TRY(keel_store_lock_path(folder, &key, &path));
    keel_lock_t lock = KEEL_NO_LOCK;
    keel_status_t status = keel_lock_take(path, &lock);
    if (!status) keel_lock_remove(&lock, path);
    if (keel_status_code(status) == KEEL_REFUSED) {
        keel_status_ignore(status);
        status = NULL;
    }
    keel_free(path);
    return status;
}

keel_status_t keel_store_disk_prune(const char *folder, uint64_t limit, uint64_t *out_removed,
                                    uint64_t *out_bytes) {
    if (!limit) limit = UINT64_MAX;
    keel_store_eviction_t eviction;
    KEEL_TRY(keel_store_evict(folder, limit, limit, NULL, &eviction));
    *out_removed = eviction.removed;
    *out_bytes = eviction.removed_bytes;
    KEEL_TRY(keel_plans_remove(folder, plan_age));
    KEEL_TRY(keel_handed_remove(folder, plan_age));
    return walk_locks(folder, remove_stale_lock, (void *)(uintptr_t)folder);
}

static keel_status_t clear_file(void *context, const keel_store_file_t *file) {
    uint64_t *removed = context;
    if (!file->key) {
        keel_file_facts_t facts;
        keel_status_t status = keel_file_facts(file->path, &facts);
        if (!status) keel_draft_remove_stale(file->path, file->pid, &facts);
        keel_status_ignore(status);
        return NULL;
    }
    KEEL_TRY(keel_file_remove(file->path));
    ++*removed;
    return NULL;
}

static keel_status_t clear_quarantined(void *context, const char *path, uint64_t size,
                                       uint64_t since) {
    (void)context;
    (void)size;
    (void)since;
    return keel_file_remove(path);
}

keel_status_t keel_store_disk_clear(const char *folder, uint64_t *out_removed) {
    *out_removed = 0;
    KEEL_TRY(keel_store_walk(folder, clear_file, out_removed));
    KEEL_TRY(keel_store_walk_quarantine(folder, clear_quarantined, NULL));
    KEEL_TRY(keel_plans_remove(folder, 0));
    KEEL_TRY(keel_handed_remove(folder, 0));
    return walk_locks(folder, remove_stale_lock, (void *)(uintptr_t)folder);
}
