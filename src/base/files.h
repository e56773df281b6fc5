// Every file operation of Keel. A test build can fail each one in turn or kill the process at it
// (base/fault.h). Paths are zero-terminated; errors name the path and what the system said.
//
// Threads: any, as far as two calls do not name the same file.
#ifndef KEEL_BASE_FILES_H_
#define KEEL_BASE_FILES_H_

#include "base/bytes.h"
#include "keel/status.h"

// Formats a path into memory that the caller frees with keel_free.
keel_status_t keel_path(char **out, const char *format, ...) KEEL_PRINTF(2, 3) KEEL_MUST_CHECK;

typedef struct keel_file_facts_t {
    uint64_t size;
    uint64_t modified; // nanoseconds since 1970
    uint64_t changed;  // of the inode, likewise
    uint64_t inode;
    uint64_t device;
    bool is_directory;
    bool is_file;
} keel_file_facts_t;

// KEEL_NOT_FOUND where nothing is there. Follows links.
keel_status_t keel_file_facts(const char *path, keel_file_facts_t *out) KEEL_MUST_CHECK;
// False also where that cannot be known.
bool keel_is_file(const char *path);
bool keel_is_folder(const char *path);
bool keel_is_link(const char *path);

// The whole file, at most `limit` bytes (a larger one is refused); freed with keel_free.
keel_status_t keel_file_read(const char *path, uint64_t limit, uint8_t **out,
                             size_t *out_size) KEEL_MUST_CHECK;

// With the facts about that same file, whoever replaces it meanwhile. Only a regular file: never
// waits for the other end of a pipe.
keel_status_t keel_file_read_with_facts(const char *path, uint64_t limit, uint8_t **out,
                                        size_t *out_size,
                                        keel_file_facts_t *out_facts) KEEL_MUST_CHECK;
// The same, if `is_wanted` says so of the path that the file has once all links are followed; else
// KEEL_REFUSED.
keel_status_t keel_file_read_if(const char *path, bool (*is_wanted)(const char *real_path),
                                uint64_t limit, uint8_t **out, size_t *out_size) KEEL_MUST_CHECK;
// The first `size` bytes of the file into `data`, fewer (*out_size) where it is shorter.
keel_status_t keel_file_read_head(const char *path, uint8_t *data, size_t size, size_t *out_size,
                                  keel_file_facts_t *out_facts) KEEL_MUST_CHECK;

// What stands in the file from `offset` on, at most `limit` bytes of it; freed with keel_free. None
// where the file is no longer than that.
keel_status_t keel_file_read_from(const char *path, uint64_t offset, size_t limit, uint8_t **out,
                                  size_t *out_size) KEEL_MUST_CHECK;

// A read-only mapping of the whole file; released with keel_file_unmap.
keel_status_t keel_file_map(const char *path, keel_bytes_t *out) KEEL_MUST_CHECK;
void keel_file_unmap(keel_bytes_t mapping);

// Replaces the file as a whole: a temporary file beside it, fsync, rename, fsync of the folder.
// Whoever reads sees the old bytes or the new ones. Temporary names are ".tmp.<pid>.<n>".
keel_status_t keel_file_replace(const char *path, keel_bytes_t bytes) KEEL_MUST_CHECK;

// Creates a file that must not be there yet (KEEL_INVALID where it is). No fsync.
keel_status_t keel_file_create(const char *path, keel_bytes_t bytes) KEEL_MUST_CHECK;

// Appends in one write under an exclusive lock, so that lines of several processes do not mix; a
// holder who keeps the lock for a second is not waited for any longer. If a killed process left a
// last line without its end, a newline is put first. Does not follow a link.
keel_status_t keel_file_append(const char *path, keel_bytes_t bytes) KEEL_MUST_CHECK;

// Sets the time of modification to now. Does not follow a link.
keel_status_t keel_file_touch(const char *path) KEEL_MUST_CHECK;
// Removing what is not there is no error.
keel_status_t keel_file_remove(const char *path) KEEL_MUST_CHECK;
keel_status_t keel_file_rename(const char *from, const char *to) KEEL_MUST_CHECK;

// Makes the folder and those above it, mode 0700 for what it makes.
keel_status_t keel_directory_make(const char *path) KEEL_MUST_CHECK;
// Removes an empty folder; what is not there is no error.
keel_status_t keel_directory_remove(const char *path) KEEL_MUST_CHECK;
// KEEL_REFUSED, with the reason, if somebody but this user and root can put files into the folder:
// it is another's, or open to all, or to a group that others are in. A folder that is not there is
// good; so is its path's last link, if it is this user's or root's.
keel_status_t keel_directory_check_owner(const char *path) KEEL_MUST_CHECK;
// Calls `visit` for each name but "." and "..", in byte order. A status from `visit` ends the walk
// and is returned. A folder that is not there has no names.
keel_status_t keel_directory_walk(const char *path,
                                  keel_status_t (*visit)(void *context, const char *name),
                                  void *context) KEEL_MUST_CHECK;

#endif // KEEL_BASE_FILES_H_
