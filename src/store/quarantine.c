#include <ctype.h>
#include <stdlib.h>

#include "store/layout.h"

// What quarantine may hold; the newest file always stays.
enum { QUARANTINE_FILES = 32, QUARANTINE_BYTES = 256 << 20, REASON_SIZE = 64 };

static const char crashed[] = "crashed";

// "the digest of its payload is wrong" -> "the-digest-of-its-payload-is-wrong"
static void make_slug(const char *reason, char out[REASON_SIZE]) {
    size_t size = 0;
    for (; *reason && size < REASON_SIZE - 1; ++reason) {
        unsigned char c = (unsigned char)*reason;
        if (isalnum(c))
            out[size++] = (char)tolower(c);
        else if (size && out[size - 1] != '-')
            out[size++] = '-';
    }
    while (size && out[size - 1] == '-')
        --size;
    out[size] = 0;
}

// ---- walking -----------------------------------------------------------------------------------

typedef struct quarantine_walk_t {
    const char *folder;
    keel_status_t (*visit)(void *context, const char *path, uint64_t size, uint64_t since);
    void *context;
} quarantine_walk_t;

static bool parse_since(const char *rest, uint64_t *out) {
    char *end;
    *out = strtoull(rest, &end, 10);
    return end != rest && *end == '.';
}

static keel_status_t visit_quarantined(void *context, const char *name) {
    const quarantine_walk_t *walk = context;
    keel_digest_t key;
    const char *rest;
    uint64_t since;
    if (!keel_store_parse_name(name, &key, &rest) || !parse_since(rest, &since)) return NULL;
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", walk->folder, name));
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(path, &facts);
    if (!status && facts.is_file)
        status = walk->visit(walk->context, path, facts.size, since);
    else if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status); // another process removed it meanwhile
        status = NULL;
    }
    keel_free(path);
    return status;
}

keel_status_t keel_store_walk_quarantine(const char *folder,
                                         keel_status_t (*visit)(void *context, const char *path,
                                                                uint64_t size, uint64_t since),
                                         void *context) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/quarantine", folder));
    quarantine_walk_t walk = {path, visit, context};
    keel_status_t status = keel_directory_walk(path, visit_quarantined, &walk);
    keel_free(path);
    return status;
}

// ---- trimming ----------------------------------------------------------------------------------

typedef struct oldest_t {
    char *path; // of the oldest
    uint64_t since;
    uint64_t files, bytes;
} oldest_t;

static keel_status_t find_oldest(void *context, const char *path, uint64_t size, uint64_t since) {
    oldest_t *oldest = context;
    ++oldest->files;
    oldest->bytes += size;
    if (oldest->path && since >= oldest->since) return NULL;
    char *copy;
    KEEL_TRY(keel_strdup(keel_str(path), &copy));
    keel_free(oldest->path);
    oldest->path = copy;
    oldest->since = since;
    return NULL;
}

static bool too_many(const oldest_t *oldest) {
    return oldest->files > 1 &&
           (oldest->files > QUARANTINE_FILES || oldest->bytes > QUARANTINE_BYTES);
}

// One round per surplus file: just one, unless someone filled the quarantine by hand.
static keel_status_t trim(const char *folder) {
    for (;;) {
        oldest_t oldest = {0};
        keel_status_t status = keel_store_walk_quarantine(folder, find_oldest, &oldest);
        bool again = !status && too_many(&oldest);
        if (again) status = keel_file_remove(oldest.path);
        keel_free(oldest.path);
        if (status || !again) return status;
    }
}

// ---- setting aside -----------------------------------------------------------------------------

static bool is_still(const char *path, const keel_file_facts_t *seen) {
    if (!seen) return true;
    keel_file_facts_t now;
    keel_status_t status = keel_file_facts(path, &now);
    bool same = !status && now.inode == seen->inode && now.device == seen->device &&
                now.size == seen->size && now.modified == seen->modified;
    keel_status_ignore(status);
    return same;
}

// Where the folders are mounts of their own, as in a rehearsal, nothing can be renamed between
// them.
static keel_status_t copy_entry(const char *from, const char *to) {
    keel_bytes_t bytes;
    KEEL_TRY(keel_file_map(from, &bytes));
    keel_status_t status = keel_file_create(to, bytes);
    keel_file_unmap(bytes);
    return status ? status : keel_file_remove(from);
}

// KEEL_NOT_FOUND if there is no entry.
static keel_status_t move_entry(const char *folder, const keel_digest_t *key, const char *to) {
    char *from;
    KEEL_TRY(keel_store_make_folder_of(to));
    KEEL_TRY(keel_store_entry_path(folder, key, &from));
    keel_status_t status = keel_file_rename(from, to);
    if (status && keel_status_code(status) != KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        status = copy_entry(from, to);
    }
    keel_free(from);
    return status;
}

static keel_status_t quarantine_path(const char *folder, const keel_digest_t *key,
                                     const char *reason, char **out) {
    char hex[KEEL_DIGEST_HEX], slug[REASON_SIZE];
    keel_digest_hex(key, hex);
    make_slug(reason, slug);
    return keel_path(out, "%s/quarantine/%s.%llu.%s.keel", folder, hex,
                     (unsigned long long)keel_clock_wall(), slug);
}

static keel_status_t set_aside(const char *folder, const keel_digest_t *key, const char *reason,
                               bool record_absent) {
    char *to;
    KEEL_TRY(quarantine_path(folder, key, reason, &to));
    keel_status_t status = move_entry(folder, key, to);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        keel_status_ignore(status);
        status = record_absent ? keel_file_create(to, keel_bytes(NULL, 0)) : NULL;
    }
    keel_free(to);
    return status ? status : trim(folder);
}

keel_status_t keel_store_set_aside(const char *folder, const keel_digest_t *key, const char *reason,
                                   const keel_file_facts_t *seen) {
    char *path;
    KEEL_TRY(keel_store_entry_path(folder, key, &path));
    bool same = is_still(path, seen);
    keel_free(path);
    return same ? set_aside(folder, key, reason, false) : NULL;
}

keel_status_t keel_store_set_crashed(const char *folder, const keel_digest_t *key) {
    return set_aside(folder, key, crashed, true);
}

keel_status_t keel_store_quarantine(const char *folder, const keel_digest_t *key,
                                    const char *reason) {
    return keel_store_set_aside(folder, key, reason, NULL);
}

// After this long a death no longer counts: it may have been an accident.
static const uint64_t crash_lifetime = 24 * 3600 * 1000000000ull;

typedef struct crash_search_t {
    const char *folder;
    const keel_digest_t *key;
    unsigned found;
    bool forgives;
} crash_search_t;

static bool is_crash_of(const char *name, const keel_digest_t *of, uint64_t *out_since) {
    keel_digest_t key;
    const char *rest;
    if (!keel_store_parse_name(name, &key, &rest) || !keel_digest_equal(&key, of) ||
        !parse_since(rest, out_since))
        return false;
    const char *reason = strchr(rest, '.');
    return reason && strncmp(reason + 1, crashed, sizeof crashed - 1) == 0;
}

static keel_status_t visit_crash(void *context, const char *name) {
    crash_search_t *search = context;
    uint64_t since;
    if (!is_crash_of(name, search->key, &since)) return NULL;
    if (since + crash_lifetime > keel_clock_wall()) ++search->found;
    if (!search->forgives) return NULL;
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", search->folder, name));
    keel_status_t status = keel_file_remove(path);
    keel_free(path);
    return status;
}

static unsigned search_crashes(const char *folder, const keel_digest_t *key, bool forgives) {
    char *path;
    crash_search_t search = {.key = key, .forgives = forgives};
    keel_status_t status = keel_path(&path, "%s/quarantine", folder);
    if (!status) {
        search.folder = path;
        status = keel_directory_walk(path, visit_crash, &search);
        keel_free(path);
    }
    keel_status_ignore(status);
    return search.found;
}

unsigned keel_store_crashes(const char *folder, const keel_digest_t *key) {
    return search_crashes(folder, key, false);
}

void keel_store_forgive(const char *folder, const keel_digest_t *key) {
    search_crashes(folder, key, true);
}

bool keel_store_crashed(const char *folder, const keel_digest_t *key) {
    return keel_store_crashes(folder, key) > 0;
}
