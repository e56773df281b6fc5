#define _GNU_SOURCE
#include <pthread.h>

#include "settings/settings.h"
#include "store/entry.h"
#include "store/layout.h"

// Times of use are kept to the minute, so a get rarely writes one and, on a network file system,
// rarely costs more than the read itself.
static const uint64_t use_resolution = 60 * 1000000000ull;

typedef struct disk_t {
    char *folder;
    uint64_t limit;
    bool readonly, is_shared;
    pthread_mutex_t lock; // for what follows
    bool scanned;
    uint64_t bytes;  // of entries: from the last scan, plus this process's puts since
    uint64_t unseen; // what it has put since
} disk_t;

// ---- headers -----------------------------------------------------------------------------------

// The header of a dozen components usually fits in the first read.
static keel_status_t read_header(const char *path, keel_entry_t *out, keel_file_facts_t *facts) {
    size_t needed = 16 << 10;
    for (;;) {
        void *data;
        KEEL_TRY(keel_alloc(needed, &data));
        size_t size;
        keel_status_t status = keel_file_read_head(path, data, needed, &size, facts);
        size_t more = 0;
        if (!status)
            status = keel_entry_decode_header(keel_bytes(data, size), facts->size, out, &more);
        keel_free(data);
        if (status || !more) return status;
        if (more <= needed) return keel_status_make(KEEL_CORRUPT, "%s shrank as it was read", path);
        needed = more;
    }
}

// ---- get ---------------------------------------------------------------------------------------

static keel_status_t miss(const keel_digest_t *key, const char *why) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(key, hex);
    return keel_status_make(KEEL_NOT_FOUND, "entry %.12s: %s", hex, why);
}

static keel_status_t absent(const disk_t *disk, const keel_digest_t *key, keel_miss_t *out_miss) {
    bool crashed = keel_store_crashed(disk->folder, key);
    *out_miss = crashed ? KEEL_MISS_QUARANTINED : KEEL_MISS_ABSENT;
    return miss(key, crashed ? "in quarantine: loading it crashed a process" : "not in the cache");
}

// Turns the reason why an entry could not be read into a miss; takes `status`. `seen` is NULL if
// the file could not be read as a whole.
static keel_status_t explain_miss(const disk_t *disk, const keel_digest_t *key,
                                  keel_status_t status, const keel_file_facts_t *seen,
                                  keel_miss_t *out_miss) {
    keel_code_t code = keel_status_code(status);
    *out_miss = KEEL_MISS_UNREADABLE;
    if (code == KEEL_NO_MEMORY) return status;
    keel_status_t answer = NULL;
    if (code == KEEL_NOT_FOUND) {
        answer = absent(disk, key, out_miss);
    } else if (code == KEEL_UNSUPPORTED) {
        *out_miss = KEEL_MISS_FOREIGN;
    } else if (code == KEEL_CORRUPT || code == KEEL_INVALID) {
        *out_miss = KEEL_MISS_DAMAGED;
        // If it cannot be moved it stays: the next put replaces it.
        if (!disk->readonly)
            keel_status_ignore(
                keel_store_set_aside(disk->folder, key, keel_status_message(status), seen));
    }
    if (!answer) answer = miss(key, keel_status_message(status));
    keel_status_ignore(status);
    return answer;
}

// Checks the start of a large file before reading all of it: it may not be an entry.
static keel_status_t check_large(const char *path) {
    enum { LARGE = 16 << 20 };
    keel_file_facts_t facts;
    keel_entry_t entry;
    KEEL_TRY(keel_file_facts(path, &facts));
    if (facts.size <= LARGE) return NULL;
    KEEL_TRY(read_header(path, &entry, &facts));
    keel_entry_deinitialize(&entry);
    return NULL;
}

keel_status_t keel_store_read_entry(const char *path, const keel_digest_t *key, keel_entry_t *out,
                                    keel_file_facts_t *out_facts, bool *out_read) {
    keel_shared_t *file;
    *out_read = false;
    KEEL_TRY(check_large(path));
    uint8_t *data;
    size_t size;
    KEEL_TRY(keel_file_read_with_facts(path, KEEL_ENTRY_FILE_LIMIT, &data, &size, out_facts));
    KEEL_TRY(keel_shared_take(data, size, &file));
    *out_read = true;
    keel_entry_t entry;
    keel_status_t status = keel_entry_decode_shared(file, &entry);
    keel_shared_release(file);
    KEEL_TRY(status);
    if (!keel_digest_equal(&entry.key, key)) {
        keel_entry_deinitialize(&entry);
        return keel_status_make(KEEL_CORRUPT, "the entry's key differs from its file name");
    }
    *out = entry;
    return NULL;
}

// Another user may have put it there while the folder was open to others, or may still be able to:
// the folders below this one are not looked at.
static keel_status_t check_owner(const disk_t *disk, const char *path,
                                 const keel_file_facts_t *facts, keel_entry_t *entry) {
    keel_status_t status = disk->is_shared ? NULL : keel_file_check_owner(path, facts);
    if (status) keel_entry_deinitialize(entry);
    return status;
}

static void note_use(const disk_t *disk, const char *path, const keel_file_facts_t *facts) {
    if (disk->readonly || keel_clock_wall() < facts->modified + use_resolution) return;
    // At worst the entry is evicted too early.
    keel_status_ignore(keel_file_touch(path));
}

static keel_status_t disk_get(void *context, const keel_digest_t *key, keel_entry_t *out,
                              keel_miss_t *out_miss) {
    const disk_t *disk = context;
    *out_miss = KEEL_MISS_UNREADABLE;
    char *path;
    KEEL_TRY(keel_store_entry_path(disk->folder, key, &path));
    keel_file_facts_t facts;
    bool was_read;
    keel_status_t status = keel_store_read_entry(path, key, out, &facts, &was_read);
    if (!status) status = check_owner(disk, path, &facts, out);
    if (!status) note_use(disk, path, &facts);
    if (!status && out->is_signed) out->fetched = facts.size;
    keel_free(path);
    return status ? explain_miss(disk, key, status, was_read ? &facts : NULL, out_miss) : NULL;
}

// ---- put and remove ----------------------------------------------------------------------------

static keel_status_t refuse_readonly(const disk_t *disk) {
    if (!disk->readonly) return NULL;
    return keel_status_make(KEEL_REFUSED, "the cache %s is read-only (KEEL_MODE=readonly)",
                            disk->folder);
}

static keel_status_t check_limit(const disk_t *disk, size_t size) {
    if (!disk->limit || size <= disk->limit) return NULL;
    char own[16], limit[16];
    keel_format_size(size, own);
    keel_format_size(disk->limit, limit);
    return keel_status_make(KEEL_REFUSED,
                            "an entry of %s does not fit the cache's limit of %s; raise "
                            "KEEL_CACHE_LIMIT",
                            own, limit);
}

// A power cut may take an entry that takes less time to compile than a disk takes for an answer.
// What it leaves does not have its digest, so it is never loaded.
static bool may_be_lost(const keel_entry_t *entry) {
    return entry->compile_seconds < 0.05;
}

static keel_status_t write_file(const char *path, const keel_entry_file_t *file, bool may_be_lost) {
    keel_draft_t draft;
    KEEL_TRY(keel_draft_open(path, &draft));
    draft.may_be_lost = may_be_lost;
    keel_status_t status = keel_draft_write(&draft, file->head);
    if (!status) status = keel_draft_write(&draft, file->stored);
    if (!status) return keel_draft_publish(&draft, path);
    keel_draft_discard(&draft);
    return status;
}

// *out_size: what it takes on the disk, which may not have it yet.
static keel_status_t write_entry(const disk_t *disk, const keel_entry_t *entry,
                                 const keel_entry_file_t *file, uint64_t *out_size) {
    char *path;
    keel_file_facts_t facts;
    *out_size = file->head.size + file->stored.size;
    KEEL_TRY(keel_store_entry_path(disk->folder, &entry->key, &path));
    keel_status_t status = write_file(path, file, may_be_lost(entry));
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        status = keel_store_make_folder_of(path);
        if (!status) status = write_file(path, file, may_be_lost(entry));
    }
    keel_status_t looked = keel_file_facts(path, &facts);
    if (!looked && facts.on_disk) *out_size = facts.on_disk;
    keel_status_ignore(looked);
    keel_free(path);
    return status;
}

// A scan counts the entries at this process's first put, and again only when the limit seems passed
// or this process alone has put a sixteenth of it: other processes put too, but a scan of 10,000
// entries takes tens of milliseconds. Eviction leaves a sixteenth free, so that a full cache does
// not scan at every put.
static void count_in(disk_t *disk, const keel_digest_t *key, uint64_t size) {
    uint64_t limit = disk->limit ? disk->limit : UINT64_MAX;
    pthread_mutex_lock(&disk->lock);
    disk->bytes += size;
    disk->unseen += size;
    if (!disk->scanned || disk->bytes > limit || disk->unseen > limit / 16) {
        keel_store_eviction_t eviction;
        keel_status_t status =
            keel_store_evict(disk->folder, limit, limit - limit / 16, key, &eviction);
        if (!status) {
            disk->scanned = true;
            disk->bytes = eviction.bytes;
            disk->unseen = 0;
        }
        // The entry itself was put.
        keel_status_ignore(status);
    }
    pthread_mutex_unlock(&disk->lock);
}

static keel_status_t disk_put(void *context, const keel_entry_t *entry) {
    disk_t *disk = context;
    KEEL_TRY(refuse_readonly(disk));
    keel_entry_file_t file;
    KEEL_TRY(keel_entry_encode_parts(entry, &file));
    size_t size = file.head.size + file.stored.size;
    keel_status_t status = check_limit(disk, size);
    uint64_t on_disk;
    if (!status) status = write_entry(disk, entry, &file, &on_disk);
    keel_entry_file_release(&file);
    if (!status) count_in(disk, &entry->key, on_disk);
    return status;
}

keel_status_t keel_store_disk_begin(const keel_tier_t *tier, const keel_digest_t *key,
                                    keel_draft_t *out) {
    const disk_t *disk = tier->context;
    char *path;
    KEEL_TRY(refuse_readonly(disk));
    KEEL_TRY(keel_store_entry_path(disk->folder, key, &path));
    keel_status_t status = keel_store_make_folder_of(path);
    if (!status) status = keel_draft_open(path, out);
    keel_free(path);
    return status;
}

keel_status_t keel_store_disk_adopt(const keel_tier_t *tier, const keel_digest_t *key,
                                    keel_draft_t *draft) {
    disk_t *disk = tier->context;
    char *path;
    keel_file_facts_t facts = {0};
    keel_status_t status = keel_file_facts(draft->temporary, &facts);
    if (!status) status = check_limit(disk, facts.size);
    if (!status) status = keel_store_entry_path(disk->folder, key, &path);
    if (status) {
        keel_draft_discard(draft);
        return status;
    }
    draft->may_be_lost = true; // it is elsewhere too
    status = keel_draft_publish(draft, path);
    keel_free(path);
    if (!status) count_in(disk, key, facts.on_disk ? facts.on_disk : facts.size);
    return status;
}

static keel_status_t disk_remove(void *context, const keel_digest_t *key) {
    const disk_t *disk = context;
    KEEL_TRY(refuse_readonly(disk));
    char *path;
    KEEL_TRY(keel_store_entry_path(disk->folder, key, &path));
    keel_status_t status = keel_file_remove(path);
    keel_free(path);
    return status;
}

// ---- list --------------------------------------------------------------------------------------

typedef struct list_t {
    keel_status_t (*visit)(void *visitor, const keel_entry_t *entry, uint64_t stored_bytes,
                           uint64_t last_used);
    void *visitor;
} list_t;

static keel_status_t list_file(void *context, const keel_store_file_t *file) {
    const list_t *list = context;
    if (!file->key) return NULL;
    keel_entry_t entry;
    keel_file_facts_t facts;
    keel_status_t status = read_header(file->path, &entry, &facts);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    if (status) {
        keel_status_ignore(status); // verify reports those
        return NULL;
    }
    status = list->visit(list->visitor, &entry, facts.size, facts.modified);
    keel_entry_deinitialize(&entry);
    return status;
}

static keel_status_t disk_list(void *context,
                               keel_status_t (*visit)(void *visitor, const keel_entry_t *entry,
                                                      uint64_t stored_bytes, uint64_t last_used),
                               void *visitor) {
    const disk_t *disk = context;
    list_t list = {visit, visitor};
    return keel_store_walk(disk->folder, list_file, &list);
}

// ---- claims, marks, quarantine -----------------------------------------------------------------

static keel_status_t disk_quarantine(void *context, const keel_digest_t *key, const char *reason) {
    const disk_t *disk = context;
    KEEL_TRY(refuse_readonly(disk));
    return keel_store_quarantine(disk->folder, key, reason);
}

static keel_status_t disk_claim(void *context, const keel_digest_t *key,
                                const keel_claimant_t *claimant, keel_claim_t *out) {
    const disk_t *disk = context;
    return keel_store_claim(disk->folder, key, claimant, out);
}

static keel_status_t disk_mark(void *context, const keel_digest_t *key, const char *script,
                               keel_mark_t *out) {
    const disk_t *disk = context;
    return script ? keel_store_mark_ahead(disk->folder, script, out)
                  : keel_store_mark(disk->folder, key, out);
}

static unsigned disk_crashes(void *context, const keel_digest_t *key) {
    const disk_t *disk = context;
    return keel_store_crashes(disk->folder, key);
}

static void disk_forgive(void *context, const keel_digest_t *key) {
    const disk_t *disk = context;
    keel_store_forgive(disk->folder, key);
}

static keel_status_t disk_sweep(void *context, void (*found)(void *finder, const keel_digest_t *),
                                void *finder) {
    const disk_t *disk = context;
    return keel_store_sweep_marks(disk->folder, found, finder);
}

static const keel_marks_t disk_marks = {disk_mark, disk_crashes, disk_forgive, disk_sweep};

// ---- open and close ----------------------------------------------------------------------------

static void disk_close(void *context) {
    disk_t *disk = context;
    if (!disk) return;
    pthread_mutex_destroy(&disk->lock);
    keel_free(disk->folder);
    keel_free(disk);
}

keel_status_t keel_store_disk(const char *folder, uint64_t limit, bool readonly, keel_tier_t *out) {
    KEEL_TRY(keel_settings_check_folder(folder, "KEEL_CACHE_DIR"));
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(disk_t), &memory));
    disk_t *disk = memory;
    keel_status_t status = keel_strdup(keel_str(folder), &disk->folder);
    if (status) {
        keel_free(disk);
        return status;
    }
    disk->limit = limit;
    disk->readonly = readonly;
    pthread_mutex_init(&disk->lock, NULL);
    *out = (keel_tier_t){
        .name = "disk",
        .context = disk,
        .persists = true,
        .readonly = readonly,
        .get = disk_get,
        .put = disk_put,
        .remove = disk_remove,
        .list = disk_list,
        .quarantine = disk_quarantine,
        .close = disk_close,
        .claim = readonly ? NULL : disk_claim,
        .marks = readonly ? NULL : &disk_marks,
    };
    return NULL;
}

void keel_store_disk_share(keel_tier_t *tier) {
    disk_t *disk = tier->context;
    disk->is_shared = true;
}
