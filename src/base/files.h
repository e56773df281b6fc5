// All file operations of Keel. A test build can make each one fail, or kill the process at it
// (base/fault.h). Paths are zero-terminated; errors name the path and the system's reason.
//
// Threads: any, unless two calls name the same file.
#ifndef KEEL_BASE_FILES_H_
#define KEEL_BASE_FILES_H_

#include "base/bytes.h"
#include "keel/status.h"

// Formats a path into memory that the caller frees with keel_free.
keel_status_t keel_path(char **out, const char *format, ...) KEEL_PRINTF(2, 3) KEEL_MUST_CHECK;

typedef struct keel_file_facts_t {
    uint64_t size;
    uint64_t on_disk;  // bytes that its blocks take there: what a limit on a folder counts
    uint64_t modified; // nanoseconds since 1970
    uint64_t changed;  // of the inode, also nanoseconds since 1970
    uint64_t inode;
    uint64_t device;
    uint32_t owner;       // uid
    uint32_t group;       // gid
    uint32_t permissions; // 07777 at most
    bool is_directory;
    bool is_file;
} keel_file_facts_t;

// KEEL_NOT_FOUND if nothing is there. Follows links.
keel_status_t keel_file_facts(const char *path, keel_file_facts_t *out) KEEL_MUST_CHECK;
// False also if that cannot be determined.
bool keel_is_file(const char *path);
bool keel_is_folder(const char *path);
bool keel_is_link(const char *path);

// The whole file; one larger than `limit` bytes is refused. Freed with keel_free.
keel_status_t keel_file_read(const char *path, uint64_t limit, uint8_t **out,
                             size_t *out_size) KEEL_MUST_CHECK;

// Also gives the facts about the very file that was read, even if someone replaces it meanwhile.
// Refuses anything but a regular file, so it never waits for the other end of a pipe.
keel_status_t keel_file_read_with_facts(const char *path, uint64_t limit, uint8_t **out,
                                        size_t *out_size,
                                        keel_file_facts_t *out_facts) KEEL_MUST_CHECK;
// The same, if `is_wanted` accepts the file's path with all links resolved; otherwise KEEL_REFUSED.
keel_status_t keel_file_read_if(const char *path, bool (*is_wanted)(const char *real_path),
                                uint64_t limit, uint8_t **out, size_t *out_size) KEEL_MUST_CHECK;
// The first `size` bytes of the file into `data`; fewer (*out_size) if it is shorter.
keel_status_t keel_file_read_head(const char *path, uint8_t *data, size_t size, size_t *out_size,
                                  keel_file_facts_t *out_facts) KEEL_MUST_CHECK;

// The file from `offset` on, at most `limit` bytes; freed with keel_free. Empty if the file is no
// longer than that.
keel_status_t keel_file_read_from(const char *path, uint64_t offset, size_t limit, uint8_t **out,
                                  size_t *out_size) KEEL_MUST_CHECK;

// A regular file that is open for reading, so all parts are of one file even if another replaces
// it. If keel_input_file_open fails there is none.
typedef struct keel_input_file_t {
    char *path;
    int descriptor;
    uint64_t size; // when it was opened
} keel_input_file_t;
keel_status_t keel_input_file_open(const char *path, keel_input_file_t *out) KEEL_MUST_CHECK;
// KEEL_CORRUPT if the file ends before.
keel_status_t keel_input_file_read(const keel_input_file_t *file, uint64_t offset, void *data,
                                   size_t size) KEEL_MUST_CHECK;
void keel_input_file_close(keel_input_file_t *file);

// A read-only mapping of the whole file; released with keel_file_unmap.
keel_status_t keel_file_map(const char *path, keel_bytes_t *out) KEEL_MUST_CHECK;
void keel_file_unmap(keel_bytes_t mapping);

// Replaces the file as a whole: a temporary file beside it, fsync, rename, fsync of the folder. A
// reader sees the old bytes or the new ones. Temporary names are ".tmp.<pid>.<n>".
keel_status_t keel_file_replace(const char *path, keel_bytes_t bytes) KEEL_MUST_CHECK;
// For a file that a user named: it gets the permissions of the file that it replaces, or those that
// the umask leaves. That of keel_file_replace is its owner's alone. If it is not a regular file,
// but a link, a pipe or a device, then the bytes are written into it, not as a whole.
keel_status_t keel_file_replace_public(const char *path, keel_bytes_t bytes) KEEL_MUST_CHECK;

// The same for bytes that come in pieces. The temporary file of an open draft is removed by
// keel_draft_discard, or by keel_draft_publish if it fails; both end the draft. If keel_draft_open
// fails there is none.
typedef struct keel_draft_t {
    char *temporary; // its path
    int descriptor;
    bool may_be_lost; // by a power cut, which may leave a file of other bytes: nobody waits for the
                      // disk
} keel_draft_t;
keel_status_t keel_draft_open(const char *path, keel_draft_t *out) KEEL_MUST_CHECK;
keel_status_t keel_draft_open_public(const char *path, keel_draft_t *out) KEEL_MUST_CHECK;
keel_status_t keel_draft_write(keel_draft_t *draft, keel_bytes_t bytes) KEEL_MUST_CHECK;
// `path`: the one that it was opened with.
keel_status_t keel_draft_publish(keel_draft_t *draft, const char *path) KEEL_MUST_CHECK;
// The same, if nothing has that name yet; KEEL_INVALID if something has. Of several that do so at
// the same time, on several hosts too, one succeeds. KEEL_UNSUPPORTED: the file system has no
// links.
keel_status_t keel_draft_publish_new(keel_draft_t *draft, const char *path) KEEL_MUST_CHECK;
void keel_draft_discard(keel_draft_t *draft);
// Whether a file of that name is a draft, and of which process.
bool keel_draft_is_temporary(const char *name, long *out_pid);
// Removes the draft of a process that is gone. Processes of other containers and hosts are not
// visible from here, so a file younger than a minute is never stale and one older than an hour
// always is.
void keel_draft_remove_stale(const char *path, long pid, const keel_file_facts_t *facts);

// Creates a file that must not exist yet (KEEL_INVALID if it does). No fsync.
keel_status_t keel_file_create(const char *path, keel_bytes_t bytes) KEEL_MUST_CHECK;

// Appends in one write under an exclusive lock, so that lines of several processes do not mix.
// Waits at most a second for the lock, then writes without it, and at once until it is free. If a
// killed process left a last line without a newline, adds one first. What does not fit on the disk
// as a whole is taken back. Does not follow a link.
keel_status_t keel_file_append(const char *path, keel_bytes_t bytes) KEEL_MUST_CHECK;

// Sets the modification time to now. Does not follow a link.
keel_status_t keel_file_touch(const char *path) KEEL_MUST_CHECK;
// Removing a missing file is not an error.
keel_status_t keel_file_remove(const char *path) KEEL_MUST_CHECK;
keel_status_t keel_file_rename(const char *from, const char *to) KEEL_MUST_CHECK;

// Makes the folder and its parents, with mode 0700.
keel_status_t keel_directory_make(const char *path) KEEL_MUST_CHECK;
// The same with the permissions that the umask leaves.
keel_status_t keel_directory_make_public(const char *path) KEEL_MUST_CHECK;
// Only the folder itself: its parent must be there.
keel_status_t keel_directory_make_one(const char *path) KEEL_MUST_CHECK;
// Makes a symbolic link. KEEL_IO if something is there.
keel_status_t keel_link_make(const char *target, const char *path) KEEL_MUST_CHECK;
// Removes an empty folder; a missing one is not an error.
keel_status_t keel_directory_remove(const char *path) KEEL_MUST_CHECK;
// KEEL_REFUSED, with the reason, if anyone but this user and root can put files into the folder: it
// belongs to someone else, or all users or a group with other members can write to it. A missing
// folder is fine; so is a link at the end of the path, if this user or root made it.
keel_status_t keel_directory_check_owner(const char *path) KEEL_MUST_CHECK;
// The same of a file, by facts of it while it is open: KEEL_REFUSED if anyone but this user and
// root owns it or can write to it. `path` is for the message.
keel_status_t keel_file_check_owner(const char *path,
                                    const keel_file_facts_t *facts) KEEL_MUST_CHECK;
// Calls `visit` for each name except "." and "..", in byte order. A status from `visit` ends the
// walk and is returned. A missing folder has no names.
keel_status_t keel_directory_walk(const char *path,
                                  keel_status_t (*visit)(void *context, const char *name),
                                  void *context) KEEL_MUST_CHECK;

#endif // KEEL_BASE_FILES_H_
