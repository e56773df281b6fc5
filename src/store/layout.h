// layout: the names of files in the cache folder, and walks over them. For the store's own files.
//
//   entries/ab/<key hex>.keel                       one entry a key; ab: the key's first two digits
//   entries/ab/.tmp.<pid>.<n>                       an entry being written (base/files.h)
//   locks/<key hex>.lock                            locked by who compiles the key
//   marks/<pid>.<since ns>.<n>.mark                 locked by its process; holds the key it loads,
//                                                   or the script whose plan it loads ahead
//   quarantine/<key hex>.<since ns>.<reason>.keel   bad entries
//   plans/<script>.plan                             what a script asks for (plan.h)
//   handed/<digest>.program                         what serialized bytes were made of (handed.h)
//
// No function here or in the other files of the store removes a name that does not have this form,
// so naming the wrong folder loses nothing.
#ifndef KEEL_STORE_LAYOUT_H_
#define KEEL_STORE_LAYOUT_H_

#include "store/disk.h"

// Paths; freed with keel_free.
keel_status_t keel_store_entry_path(const char *folder, const keel_digest_t *key,
                                    char **out) KEEL_MUST_CHECK;
keel_status_t keel_store_lock_path(const char *folder, const keel_digest_t *key,
                                   char **out) KEEL_MUST_CHECK;

// Reads and checks the entry of `key` at `path`. *out_read: the file could be read as a whole, and
// *out_facts is set. A large file is read only if it starts like an entry of its size.
keel_status_t keel_store_read_entry(const char *path, const keel_digest_t *key, keel_entry_t *out,
                                    keel_file_facts_t *out_facts, bool *out_read) KEEL_MUST_CHECK;

// Makes the folder that contains `path`.
keel_status_t keel_store_make_folder_of(const char *path) KEEL_MUST_CHECK;

// As keel_file_replace, and makes its folder if it is missing.
keel_status_t keel_store_replace(const char *path, keel_bytes_t bytes) KEEL_MUST_CHECK;

// Takes the lock at `path`, and makes its folder if it is missing. As keel_lock_take.
keel_status_t keel_store_take_lock(const char *path, keel_lock_t *out) KEEL_MUST_CHECK;

// Does `name` begin with a key's 64 hex digits and a dot? *out_rest is what follows the dot.
bool keel_store_parse_name(const char *name, keel_digest_t *out_key, const char **out_rest);

// A file below entries/. `key` is NULL for a temporary one, whose writer is `pid`.
typedef struct keel_store_file_t {
    const char *path;
    const keel_digest_t *key;
    long pid;
} keel_store_file_t;

// Visits entries and temporary files, and nothing else. A missing folder counts as empty.
keel_status_t keel_store_walk(const char *folder,
                              keel_status_t (*visit)(void *context, const keel_store_file_t *file),
                              void *context) KEEL_MUST_CHECK;

// Removes files of `folder` that were last used more than `age` nanoseconds ago (0: all), if
// `is_ours` knows their names, and temporary files whose writer died. A missing folder counts as
// empty.
keel_status_t keel_store_remove_aged(const char *folder, bool (*is_ours)(const char *name),
                                     uint64_t age) KEEL_MUST_CHECK;

// Moves a bad entry to quarantine, and drops the oldest files there while there are too many. If
// `seen` is given, moves the entry only if it is still that file. A missing entry is not an error.
keel_status_t keel_store_set_aside(const char *folder, const keel_digest_t *key, const char *reason,
                                   const keel_file_facts_t *seen) KEEL_MUST_CHECK;
// Puts the entry, or an empty file if there is no entry (yet), in quarantine as one whose load
// crashed.
keel_status_t keel_store_set_crashed(const char *folder, const keel_digest_t *key) KEEL_MUST_CHECK;
// Whether an entry of this key is in quarantine because loading it crashed.
bool keel_store_crashed(const char *folder, const keel_digest_t *key);
// Visits the files in quarantine: path, size, and when they were put there, in ns since 1970.
keel_status_t keel_store_walk_quarantine(const char *folder,
                                         keel_status_t (*visit)(void *context, const char *path,
                                                                uint64_t size, uint64_t since),
                                         void *context) KEEL_MUST_CHECK;

typedef struct keel_store_eviction_t {
    uint64_t bytes; // of entries that stay
    uint64_t removed;
    uint64_t removed_bytes;
} keel_store_eviction_t;

// If entries take more than `limit` bytes, removes the least recently used until they take at most
// `target`; `keep` (may be NULL) stays. Also removes stale temporary files.
keel_status_t keel_store_evict(const char *folder, uint64_t limit, uint64_t target,
                               const keel_digest_t *keep,
                               keel_store_eviction_t *out) KEEL_MUST_CHECK;

#endif // KEEL_STORE_LAYOUT_H_
