#define _GNU_SOURCE
#include "store/layout.h"

#include <stdio.h>
#include <stdlib.h>

keel_status_t keel_store_entry_path(const char *folder, const keel_digest_t *key, char **out) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(key, hex);
    return keel_path(out, "%s/entries/%.2s/%s.keel", folder, hex, hex);
}

keel_status_t keel_store_lock_path(const char *folder, const keel_digest_t *key, char **out) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(key, hex);
    return keel_path(out, "%s/locks/%s.lock", folder, hex);
}

keel_status_t keel_store_make_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return NULL;
    char *folder;
    KEEL_TRY(keel_path(&folder, "%.*s", (int)(slash - path), path));
    keel_status_t status = keel_directory_make(folder);
    keel_free(folder);
    return status;
}

keel_status_t keel_store_replace(const char *path, keel_bytes_t bytes) {
    keel_status_t status = keel_file_replace(path, bytes);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    KEEL_TRY(keel_store_make_folder_of(path));
    return keel_file_replace(path, bytes);
}

keel_status_t keel_store_take_lock(const char *path, keel_lock_t *out) {
    keel_status_t status = keel_lock_take(path, out);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    KEEL_TRY(keel_store_make_folder_of(path));
    return keel_lock_take(path, out);
}

bool keel_store_parse_name(const char *name, keel_digest_t *out_key, const char **out_rest) {
    enum { DIGITS = 2 * KEEL_DIGEST_SIZE };
    keel_str_t text = keel_str(name);
    if (text.size <= DIGITS || name[DIGITS] != '.') return false;
    text.size = DIGITS;
    *out_rest = name + DIGITS + 1;
    return keel_digest_unhex(text, out_key);
}

// ---- walking -----------------------------------------------------------------------------------

typedef struct entry_walk_t {
    const char *folder; // of the names
    keel_status_t (*visit)(void *context, const keel_store_file_t *file);
    void *context;
} entry_walk_t;

static keel_status_t visit_file(void *context, const char *name) {
    const entry_walk_t *walk = context;
    keel_digest_t key;
    const char *rest;
    keel_store_file_t file = {0};
    if (keel_store_parse_name(name, &key, &rest) && strcmp(rest, "keel") == 0)
        file.key = &key;
    else if (!keel_draft_is_temporary(name, &file.pid))
        return NULL;
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", walk->folder, name));
    file.path = path;
    keel_status_t status = walk->visit(walk->context, &file);
    keel_free(path);
    return status;
}

static keel_status_t visit_shard(void *context, const char *name) {
    const entry_walk_t *walk = context;
    uint8_t byte;
    if (!keel_unhex(keel_str(name), &byte, 1)) return NULL;
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", walk->folder, name));
    entry_walk_t inner = {path, walk->visit, walk->context};
    keel_status_t status = keel_directory_walk(path, visit_file, &inner);
    keel_free(path);
    return status;
}

keel_status_t keel_store_walk(const char *folder,
                              keel_status_t (*visit)(void *context, const keel_store_file_t *file),
                              void *context) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/entries", folder));
    entry_walk_t walk = {path, visit, context};
    keel_status_t status = keel_directory_walk(path, visit_shard, &walk);
    keel_free(path);
    return status;
}

// ---- removing ----------------------------------------------------------------------------------

typedef struct removal_t {
    const char *folder;
    bool (*is_ours)(const char *name);
    uint64_t age;
} removal_t;

static keel_status_t remove_at(const char *path, const char *name, uint64_t age) {
    keel_file_facts_t facts;
    long pid;
    KEEL_TRY(keel_file_facts(path, &facts));
    uint64_t now = keel_clock_wall();
    if (keel_draft_is_temporary(name, &pid))
        keel_draft_remove_stale(path, pid, &facts);
    else if (!age || now > facts.modified + age)
        return keel_file_remove(path);
    return NULL;
}

static keel_status_t remove_name(void *context, const char *name) {
    const removal_t *removal = context;
    long pid;
    char *path;
    if (!removal->is_ours(name) && !keel_draft_is_temporary(name, &pid)) return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s", removal->folder, name));
    keel_status_t status = remove_at(path, name, removal->age);
    keel_free(path);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status); // another process removed it
    return NULL;
}

keel_status_t keel_store_remove_aged(const char *folder, bool (*is_ours)(const char *name),
                                     uint64_t age) {
    removal_t removal = {folder, is_ours, age};
    return keel_directory_walk(folder, remove_name, &removal);
}
