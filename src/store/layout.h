// layout: the names of files in the cache folder, and walks over them. For the store's own files.
//
//   entries/ab/<key hex>.keel                       one entry a key; ab: the key's first two digits
//   entries/ab/.tmp.<pid>.<n>                       an entry being written (base/files.h)
//   locks/<key hex>.lock                            locked by who compiles the key
//   marks/<pid>.<since ns>.<n>.mark                 locked by its process; holds the key it loads,
//                                                   or the script whose plan it loads ahead
//   quarantine/<key hex>.<since ns>.<reason>.keel   bad entries
//   plans/<script>.plan                             what a script asks for (plan.h)
//
// No function here or in the files beside it removes a name that is not of this form, so a folder
// named by mistake loses nothing.
#ifndef KEEL_STORE_LAYOUT_H_
#define KEEL_STORE_LAYOUT_H_

#include "store/store.h"

// Paths; freed with keel_free.
keel_status_t keel_store_entry_path(const char *folder, const keel_digest_t *key,
                                    char **out) KEEL_MUST_CHECK;
keel_status_t keel_store_lock_path(const char *folder, const keel_digest_t *key,
                                   char **out) KEEL_MUST_CHECK;

// Makes the folder that `path` stands in.
keel_status_t keel_store_make_folder_of(const char *path) KEEL_MUST_CHECK;

// Does `name` begin with a key's 64 hex digits and a dot? *out_rest is what follows the dot.
bool keel_store_parse_name(const char *name, keel_digest_t *out_key, const char **out_rest);

// A file below entries/. `key` is NULL for a temporary one, whose writer is `pid`.
typedef struct keel_store_file_t {
    const char *path;
    const keel_digest_t *key;
    long pid;
} keel_store_file_t;

// Is that the name of a temporary file? *out_pid is its writer.
bool keel_store_is_temporary(const char *name, long *out_pid);

// Visits entries and temporary files, and no others. Folders that are not there are empty.
keel_status_t keel_store_walk(const char *folder,
                              keel_status_t (*visit)(void *context, const keel_store_file_t *file),
                              void *context) KEEL_MUST_CHECK;

// Takes away a temporary file whose writer is gone. Processes of other containers and hosts cannot
// be seen from here: no file is called stale before a minute, and each one is after an hour.
void keel_store_remove_stale(const keel_store_file_t *file, const keel_file_facts_t *facts);

// Moves a bad entry to quarantine, and drops the oldest there while they are too many. Where `seen`
// is given the entry is moved only if it is still that file. An absent entry is no error.
keel_status_t keel_store_set_aside(const char *folder, const keel_digest_t *key, const char *reason,
                                   const keel_file_facts_t *seen) KEEL_MUST_CHECK;
// Puts the entry, or an empty file where there is none (yet), in quarantine as one whose load
// crashed.
keel_status_t keel_store_set_crashed(const char *folder, const keel_digest_t *key) KEEL_MUST_CHECK;
// Was an entry of this key put in quarantine because loading it crashed?
bool keel_store_crashed(const char *folder, const keel_digest_t *key);
// Visits the files in quarantine: path, size, and when they came there in ns since 1970.
keel_status_t keel_store_walk_quarantine(const char *folder,
                                         keel_status_t (*visit)(void *context, const char *path,
                                                                uint64_t size, uint64_t since),
                                         void *context) KEEL_MUST_CHECK;

typedef struct keel_store_eviction_t {
    uint64_t bytes; // of entries that stay
    uint64_t removed;
    uint64_t removed_bytes;
} keel_store_eviction_t;

// Where entries take more than `limit` bytes, removes the least recently used ones until they take
// at most `target`; `keep` (may be NULL) stays. Takes away stale temporary files too.
keel_status_t keel_store_evict(const char *folder, uint64_t limit, uint64_t target,
                               const keel_digest_t *keep,
                               keel_store_eviction_t *out) KEEL_MUST_CHECK;

#endif // KEEL_STORE_LAYOUT_H_
