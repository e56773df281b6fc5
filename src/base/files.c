#define _GNU_SOURCE
#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/memory.h"
#include "base/poison.h"

static int sync_file(int descriptor) {
    return keel_descriptor_fault() ? -1 : fsync(descriptor);
}

keel_status_t keel_path(char **out, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    void *path = NULL;
    keel_status_t status = length < 0 ? keel_status_make(KEEL_INVALID, "a path cannot be formatted")
                                      : keel_alloc((size_t)length + 1, &path);
    if (!status) {
        vsnprintf(path, (size_t)length + 1, format, again);
        *out = path;
    }
    va_end(again);
    return status;
}

static uint64_t nanoseconds(struct timespec t) {
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static keel_file_facts_t facts_of(const struct stat *s) {
    return (keel_file_facts_t){
        .size = (uint64_t)s->st_size,
        .on_disk = (uint64_t)s->st_blocks * 512, // whatever the file system's own blocks are
        .modified = nanoseconds(s->st_mtim),
        .changed = nanoseconds(s->st_ctim),
        .inode = s->st_ino,
        .device = s->st_dev,
        .owner = s->st_uid,
        .group = s->st_gid,
        .permissions = s->st_mode & 07777,
        .is_directory = S_ISDIR(s->st_mode),
        .is_file = S_ISREG(s->st_mode),
    };
}

keel_status_t keel_file_facts(const char *path, keel_file_facts_t *out) {
    struct stat s;
    if (keel_descriptor_fault() || stat(path, &s)) return keel_descriptor_refused("look at", path);
    *out = facts_of(&s);
    return NULL;
}

bool keel_is_file(const char *path) {
    keel_file_facts_t facts = {0};
    keel_status_t status = keel_file_facts(path, &facts);
    bool yes = !status && facts.is_file;
    keel_status_ignore(status);
    return yes;
}

bool keel_is_folder(const char *path) {
    keel_file_facts_t facts = {0};
    keel_status_t status = keel_file_facts(path, &facts);
    bool yes = !status && facts.is_directory;
    keel_status_ignore(status);
    return yes;
}

bool keel_is_link(const char *path) {
    struct stat s;
    return !keel_descriptor_fault() && lstat(path, &s) == 0 && S_ISLNK(s.st_mode);
}

static keel_status_t too_large(const char *path, uint64_t limit) {
    return keel_status_make(KEEL_INVALID, "%s is larger than the %llu bytes allowed here", path,
                            (unsigned long long)limit);
}

static keel_status_t read_all(int descriptor, const char *path, bool regular, uint64_t limit,
                              uint8_t **out, size_t *out_size, keel_file_facts_t *out_facts) {
    struct stat s;
    if (fstat(descriptor, &s)) return keel_descriptor_refused("look at", path);
    *out_facts = facts_of(&s);
    if (S_ISDIR(s.st_mode))
        return keel_status_make(KEEL_INVALID, "%s is a folder, not a file", path);
    if (regular && !S_ISREG(s.st_mode))
        return keel_status_make(KEEL_INVALID, "%s is not a regular file", path);
    if (S_ISREG(s.st_mode) && (uint64_t)s.st_size > limit) return too_large(path, limit);
    uint8_t *data = NULL;
    size_t size = 0, capacity = S_ISREG(s.st_mode) && s.st_size > 0 ? (size_t)s.st_size + 1 : 4096;
    for (;;) {
        if (size > limit) {
            keel_free(data);
            return too_large(path, limit);
        }
        if (!data || size == capacity) {
            if (data) capacity *= 2;
            void *grown = data;
            keel_status_t status = keel_realloc_array(capacity, 1, &grown);
            if (status) {
                keel_free(data);
                return status;
            }
            data = grown;
        }
        ssize_t got = keel_descriptor_fault() ? -1 : read(descriptor, data + size, capacity - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            keel_free(data);
            return keel_descriptor_refused("read", path);
        }
        if (got == 0) break;
        size += (size_t)got;
    }
    keel_poison(data, size, capacity - size);
    *out = data;
    *out_size = size;
    return NULL;
}

static keel_status_t read_file(const char *path, bool regular, uint64_t limit, uint8_t **out,
                               size_t *out_size, keel_file_facts_t *out_facts) {
    int descriptor = keel_descriptor_open(path, O_RDONLY | (regular ? O_NONBLOCK : 0));
    if (descriptor < 0) return keel_descriptor_refused("open", path);
    keel_status_t status = read_all(descriptor, path, regular, limit, out, out_size, out_facts);
    close(descriptor);
    return status;
}

keel_status_t keel_file_read(const char *path, uint64_t limit, uint8_t **out, size_t *out_size) {
    keel_file_facts_t facts;
    return read_file(path, false, limit, out, out_size, &facts);
}

keel_status_t keel_file_read_with_facts(const char *path, uint64_t limit, uint8_t **out,
                                        size_t *out_size, keel_file_facts_t *out_facts) {
    return read_file(path, true, limit, out, out_size, out_facts);
}

// Checks the open file, so exchanging a link meanwhile does not help an attacker.
static bool is_at_wanted_path(int descriptor, bool (*is_wanted)(const char *real_path)) {
    char link[64], real[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = keel_descriptor_fault() ? -1 : readlink(link, real, sizeof real);
    if (size <= 0 || (size_t)size == sizeof real) return false;
    real[size] = 0;
    return is_wanted(real);
}

keel_status_t keel_file_read_if(const char *path, bool (*is_wanted)(const char *real_path),
                                uint64_t limit, uint8_t **out, size_t *out_size) {
    keel_file_facts_t facts;
    int descriptor = keel_descriptor_open(path, O_RDONLY | O_NONBLOCK);
    if (descriptor < 0) return keel_descriptor_refused("open", path);
    keel_status_t status = is_at_wanted_path(descriptor, is_wanted)
                               ? read_all(descriptor, path, true, limit, out, out_size, &facts)
                               : keel_status_make(KEEL_REFUSED, "%s is not a file to read", path);
    close(descriptor);
    return status;
}

keel_status_t keel_file_read_head(const char *path, uint8_t *data, size_t size, size_t *out_size,
                                  keel_file_facts_t *out_facts) {
    int descriptor = keel_descriptor_open(path, O_RDONLY | O_NONBLOCK);
    if (descriptor < 0) return keel_descriptor_refused("open", path);
    struct stat s;
    keel_status_t status = NULL;
    size_t done = 0;
    if (keel_descriptor_fault() || fstat(descriptor, &s))
        status = keel_descriptor_refused("look at", path);
    while (!status && done < size) {
        ssize_t got = keel_descriptor_fault() ? -1 : read(descriptor, data + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = keel_descriptor_refused("read", path);
        if (got <= 0) break;
        done += (size_t)got;
    }
    close(descriptor);
    if (status) return status;
    *out_size = done;
    *out_facts = facts_of(&s);
    return NULL;
}

static keel_status_t read_part(int descriptor, const char *path, uint64_t offset, size_t limit,
                               uint8_t **out, size_t *out_size) {
    struct stat s;
    void *data;
    *out = NULL;
    *out_size = 0;
    if (keel_descriptor_fault() || fstat(descriptor, &s))
        return keel_descriptor_refused("look at", path);
    if (!S_ISREG(s.st_mode) || (uint64_t)s.st_size <= offset) return NULL;
    size_t size =
        (uint64_t)s.st_size - offset < limit ? (size_t)((uint64_t)s.st_size - offset) : limit;
    KEEL_TRY(keel_alloc(size, &data));
    size_t done = 0;
    while (done < size) {
        ssize_t got = keel_descriptor_fault() ? -1
                                              : pread(descriptor, (uint8_t *)data + done,
                                                      size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            keel_free(data);
            return keel_descriptor_refused("read", path);
        }
        if (got == 0) break;
        done += (size_t)got;
    }
    *out = data;
    *out_size = done;
    return NULL;
}

keel_status_t keel_file_read_from(const char *path, uint64_t offset, size_t limit, uint8_t **out,
                                  size_t *out_size) {
    int descriptor = keel_descriptor_open(path, O_RDONLY | O_NONBLOCK);
    if (descriptor < 0) return keel_descriptor_refused("open", path);
    keel_status_t status = read_part(descriptor, path, offset, limit, out, out_size);
    close(descriptor);
    return status;
}

static keel_status_t describe_input(keel_input_file_t *file) {
    struct stat s;
    if (keel_descriptor_fault() || fstat(file->descriptor, &s))
        return keel_descriptor_refused("look at", file->path);
    file->size = (uint64_t)s.st_size;
    return S_ISREG(s.st_mode)
               ? NULL
               : keel_status_make(KEEL_INVALID, "%s is not a regular file", file->path);
}

keel_status_t keel_input_file_open(const char *path, keel_input_file_t *out) {
    *out = (keel_input_file_t){.descriptor = -1};
    KEEL_TRY(keel_path(&out->path, "%s", path));
    out->descriptor = keel_descriptor_open(path, O_RDONLY | O_NONBLOCK);
    keel_status_t status =
        out->descriptor < 0 ? keel_descriptor_refused("open", path) : describe_input(out);
    if (status) keel_input_file_close(out);
    return status;
}

keel_status_t keel_input_file_read(const keel_input_file_t *file, uint64_t offset, void *data,
                                   size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t got = keel_descriptor_fault() ? -1
                                              : pread(file->descriptor, (uint8_t *)data + done,
                                                      size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return keel_descriptor_refused("read", file->path);
        if (got == 0) return keel_status_make(KEEL_CORRUPT, "%s has become shorter", file->path);
        done += (size_t)got;
    }
    return NULL;
}

void keel_input_file_close(keel_input_file_t *file) {
    if (file->descriptor >= 0) close(file->descriptor);
    keel_free(file->path);
    *file = (keel_input_file_t){.descriptor = -1};
}

keel_status_t keel_file_map(const char *path, keel_bytes_t *out) {
    int descriptor = keel_descriptor_open(path, O_RDONLY);
    if (descriptor < 0) return keel_descriptor_refused("open", path);
    struct stat s;
    void *data = NULL;
    keel_status_t status = NULL;
    if (keel_descriptor_fault() || fstat(descriptor, &s)) {
        status = keel_descriptor_refused("look at", path);
    } else if (!S_ISREG(s.st_mode)) {
        status = keel_status_make(KEEL_INVALID, "%s is not a file", path);
    } else if (s.st_size > 0) {
        data = keel_descriptor_fault()
                   ? MAP_FAILED
                   : mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (data == MAP_FAILED) status = keel_descriptor_refused("map", path);
    }
    close(descriptor);
    if (!status) *out = keel_bytes(data, (size_t)s.st_size);
    return status;
}

void keel_file_unmap(keel_bytes_t mapping) {
    if (mapping.size) munmap((void *)(uintptr_t)mapping.data, mapping.size);
}

// -1, with errno, if it cannot be made. EEXIST: there is such a file.
static int open_new(const char *path, mode_t mode) {
    return keel_descriptor_create(path, O_WRONLY | O_CREAT | O_EXCL, mode);
}

static keel_status_t sync_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder;
    KEEL_TRY(slash ? keel_path(&folder, "%.*s", (int)(slash - path + 1), path)
                   : keel_path(&folder, "."));
    int descriptor = keel_descriptor_open(folder, O_RDONLY | O_DIRECTORY);
    keel_status_t status = NULL;
    // Some file systems cannot sync a folder (EINVAL); the rename is still done.
    if (descriptor < 0 || (sync_file(descriptor) && errno != EINVAL))
        status = keel_descriptor_refused("sync", folder);
    if (descriptor >= 0) close(descriptor);
    keel_free(folder);
    return status;
}

// A killed process may have left a temporary file with the number of ours: in each container the
// first process is process 1.
static keel_status_t open_draft(const char *path, mode_t mode, keel_draft_t *out) {
    static atomic_uint counter;
    enum { ATTEMPTS = 1000 };
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path + 1) : 0;
    *out = (keel_draft_t){.descriptor = -1};
    for (int attempt = 1;; ++attempt) {
        KEEL_TRY(keel_path(&out->temporary, "%.*s.tmp.%d.%u", folder, path, (int)getpid(),
                           atomic_fetch_add(&counter, 1)));
        out->descriptor = open_new(out->temporary, mode);
        if (out->descriptor >= 0) return NULL;
        bool again = errno == EEXIST && attempt < ATTEMPTS;
        keel_status_t status = again ? NULL : keel_descriptor_refused("create", path);
        keel_free(out->temporary);
        out->temporary = NULL;
        KEEL_TRY(status);
    }
}

keel_status_t keel_draft_open(const char *path, keel_draft_t *out) {
    return open_draft(path, 0600, out);
}

keel_status_t keel_draft_open_public(const char *path, keel_draft_t *out) {
    struct stat there;
    KEEL_TRY(open_draft(path, 0666, out));
    // A file system without permissions refuses; the file then has those that it gives to all.
    if (!stat(path, &there) && S_ISREG(there.st_mode) &&
        fchmod(out->descriptor, there.st_mode & 0777))
        errno = 0;
    return NULL;
}

keel_status_t keel_draft_write(keel_draft_t *draft, keel_bytes_t bytes) {
    if (keel_descriptor_write(draft->descriptor, bytes)) return NULL;
    return keel_descriptor_refused("write", draft->temporary);
}

static keel_status_t finish_bytes(keel_draft_t *draft) {
    keel_status_t status = NULL;
    if (!draft->may_be_lost && sync_file(draft->descriptor))
        status = keel_descriptor_refused("sync", draft->temporary);
    // Some file systems report a full quota only here.
    if (close(draft->descriptor) && !status)
        status = keel_descriptor_refused("close", draft->temporary);
    draft->descriptor = -1;
    return status;
}

static keel_status_t finish(keel_draft_t *draft, const char *path) {
    KEEL_TRY(finish_bytes(draft));
    if (keel_descriptor_fault() || rename(draft->temporary, path))
        return keel_descriptor_refused("replace", path);
    keel_free(draft->temporary);
    draft->temporary = NULL;
    return draft->may_be_lost ? NULL : sync_folder_of(path);
}

keel_status_t keel_draft_publish(keel_draft_t *draft, const char *path) {
    keel_status_t status = finish(draft, path);
    keel_draft_discard(draft);
    return status;
}

static keel_status_t link_new(const char *from, const char *path) {
    if (!keel_descriptor_fault() && !link(from, path)) return NULL;
    if (errno == EEXIST) return keel_status_make(KEEL_INVALID, "%s is already there", path);
    if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK)
        return keel_status_make(KEEL_UNSUPPORTED, "%s: the file system has no links", path);
    return keel_descriptor_refused("make", path);
}

keel_status_t keel_draft_publish_new(keel_draft_t *draft, const char *path) {
    keel_status_t status = finish_bytes(draft);
    if (!status) status = link_new(draft->temporary, path);
    keel_draft_discard(draft);
    return status;
}

void keel_draft_discard(keel_draft_t *draft) {
    if (draft->descriptor >= 0) close(draft->descriptor);
    if (draft->temporary) unlink(draft->temporary);
    keel_free(draft->temporary);
    *draft = (keel_draft_t){.descriptor = -1};
}

bool keel_draft_is_temporary(const char *name, long *out_pid) {
    static const char prefix[] = ".tmp.";
    if (strncmp(name, prefix, sizeof prefix - 1)) return false;
    char *end;
    *out_pid = strtol(name + sizeof prefix - 1, &end, 10);
    return *out_pid > 0 && *end == '.';
}

void keel_draft_remove_stale(const char *path, long pid, const keel_file_facts_t *facts) {
    const uint64_t second = 1000000000u;
    uint64_t now = keel_clock_wall();
    uint64_t age = now > facts->modified ? now - facts->modified : 0;
    bool gone = kill((pid_t)pid, 0) && errno == ESRCH;
    if (age > 3600 * second || (gone && age > 60 * second))
        keel_status_ignore(keel_file_remove(path));
}

static keel_status_t write_and_publish(keel_draft_t *draft, const char *path, keel_bytes_t bytes) {
    keel_status_t status = keel_draft_write(draft, bytes);
    if (!status) return keel_draft_publish(draft, path);
    keel_draft_discard(draft);
    return status;
}

keel_status_t keel_file_replace(const char *path, keel_bytes_t bytes) {
    keel_draft_t draft;
    KEEL_TRY(keel_draft_open(path, &draft));
    return write_and_publish(&draft, path, bytes);
}

static bool is_same_file(int descriptor, const struct stat *other) {
    struct stat file;
    return fstat(descriptor, &file) == 0 && file.st_dev == other->st_dev &&
           file.st_ino == other->st_ino;
}

// Standard output and error are not opened anew: what a file has of them so far would be lost.
static keel_status_t write_into(const char *path, keel_bytes_t bytes) {
    struct stat there;
    int descriptor = -1;
    if (keel_descriptor_fault() || stat(path, &there)) return keel_descriptor_refused("find", path);
    for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO && descriptor < 0; ++stream)
        if (is_same_file(stream, &there)) descriptor = dup(stream);
    if (descriptor < 0) descriptor = keel_descriptor_open(path, O_WRONLY | O_TRUNC);
    if (descriptor < 0) return keel_descriptor_refused("open", path);
    keel_status_t status = NULL;
    if (!keel_descriptor_write(descriptor, bytes)) status = keel_descriptor_refused("write", path);
    if (close(descriptor) && !status) status = keel_descriptor_refused("close", path);
    return status;
}

keel_status_t keel_file_replace_public(const char *path, keel_bytes_t bytes) {
    struct stat there;
    keel_draft_t draft;
    if (!lstat(path, &there) && !S_ISREG(there.st_mode)) return write_into(path, bytes);
    KEEL_TRY(keel_draft_open_public(path, &draft));
    return write_and_publish(&draft, path, bytes);
}

keel_status_t keel_file_create(const char *path, keel_bytes_t bytes) {
    int descriptor = open_new(path, 0600);
    if (descriptor < 0)
        return errno == EEXIST ? keel_status_make(KEEL_INVALID, "%s is already there", path)
                               : keel_descriptor_refused("create", path);
    keel_status_t status = NULL;
    if (!keel_descriptor_write(descriptor, bytes)) status = keel_descriptor_refused("write", path);
    if (close(descriptor) && !status) status = keel_descriptor_refused("close", path);
    if (status) unlink(path);
    return status;
}

static bool ends_in_mid_line(int descriptor, off_t end) {
    char last;
    return end > 0 && pread(descriptor, &last, 1, end - 1) == 1 && last != '\n';
}

// A holder writes one line, but one that is stopped may keep the lock for any time. Without the
// lock, a line is still a single write at the end of the file. Once waiting was in vain, nobody
// waits again until the lock was free.
static keel_status_t lock_for_a_while(int descriptor, const char *path, bool *out_locked) {
    enum { ATTEMPTS = 1000 };
    static const struct timespec nap = {.tv_nsec = 1000000};
    static atomic_bool in_vain;
    int attempts = atomic_load(&in_vain) ? 1 : ATTEMPTS;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        *out_locked = !keel_descriptor_fault() && flock(descriptor, LOCK_EX | LOCK_NB) == 0;
        if (!*out_locked && errno != EWOULDBLOCK && errno != EINTR)
            return keel_descriptor_refused("lock", path);
        if (*out_locked) break;
        if (errno == EWOULDBLOCK) nanosleep(&nap, NULL);
    }
    atomic_store(&in_vain, !*out_locked);
    return NULL;
}

static bool append(int descriptor, off_t end, keel_bytes_t bytes) {
    if (ends_in_mid_line(descriptor, end) &&
        !keel_descriptor_write(descriptor, keel_bytes("\n", 1)))
        return false;
    return keel_descriptor_write(descriptor, bytes);
}

keel_status_t keel_file_append(const char *path, keel_bytes_t bytes) {
    int descriptor = keel_descriptor_open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW);
    if (descriptor < 0) return keel_descriptor_refused("open", path);
    bool locked;
    keel_status_t status = lock_for_a_while(descriptor, path, &locked);
    off_t end = lseek(descriptor, 0, SEEK_END);
    if (!status && !append(descriptor, end, bytes)) {
        status = keel_descriptor_refused("append to", path);
        // A full disk takes part of a line. If that stays, the next append ends it.
        int ignored = locked ? ftruncate(descriptor, end) : 0;
        (void)ignored;
    }
    close(descriptor);
    return status;
}

keel_status_t keel_file_touch(const char *path) {
    if (keel_descriptor_fault() || utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW))
        return keel_descriptor_refused("touch", path);
    return NULL;
}

keel_status_t keel_file_remove(const char *path) {
    if ((keel_descriptor_fault() || unlink(path)) && errno != ENOENT)
        return keel_descriptor_refused("remove", path);
    return NULL;
}

keel_status_t keel_file_rename(const char *from, const char *to) {
    if (keel_descriptor_fault() || rename(from, to)) return keel_descriptor_refused("rename", from);
    return NULL;
}

static keel_status_t make_one(const char *path, mode_t mode) {
    if (!(keel_descriptor_fault() || mkdir(path, mode))) return NULL;
    struct stat s;
    if (errno == EEXIST && stat(path, &s) == 0) {
        if (S_ISDIR(s.st_mode)) return NULL;
        errno = ENOTDIR;
    }
    int error = errno;
    return keel_status_make(KEEL_IO, "cannot make the folder %s: %s", path, strerror(error));
}

keel_status_t keel_directory_make_one(const char *path) {
    return make_one(path, 0700);
}

static keel_status_t make_all(const char *path, mode_t mode) {
    struct stat s;
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) return NULL;
    char *part;
    KEEL_TRY(keel_path(&part, "%s", path));
    keel_status_t status = NULL;
    for (char *slash = part + 1; *slash && !status; ++slash) {
        if (*slash != '/') continue;
        *slash = 0;
        status = stat(part, &s) == 0 && S_ISDIR(s.st_mode) ? NULL : make_one(part, mode);
        *slash = '/';
    }
    if (!status) status = make_one(part, mode);
    keel_free(part);
    return status;
}

keel_status_t keel_directory_make(const char *path) {
    return make_all(path, 0700);
}

keel_status_t keel_directory_make_public(const char *path) {
    return make_all(path, 0777);
}

keel_status_t keel_link_make(const char *target, const char *path) {
    if (keel_descriptor_fault() || symlink(target, path))
        return keel_descriptor_refused("make the link", path);
    return NULL;
}

keel_status_t keel_directory_remove(const char *path) {
    if ((keel_descriptor_fault() || rmdir(path)) && errno != ENOENT)
        return keel_descriptor_refused("remove", path);
    return NULL;
}

static bool is_trusted(uid_t owner) {
    return owner == geteuid() || owner == 0;
}

// A group whose only member is this user, as many systems make for each user.
static bool is_own_group(gid_t gid) {
    struct group group, *found_group;
    struct passwd user, *found_user;
    char group_texts[4096], user_texts[4096];
    if (gid != getegid()) return false;
    if (getgrgid_r(gid, &group, group_texts, sizeof group_texts, &found_group) || !found_group)
        return false;
    if (getpwuid_r(geteuid(), &user, user_texts, sizeof user_texts, &found_user) || !found_user)
        return false;
    if (strcmp(group.gr_name, user.pw_name)) return false;
    for (char **member = group.gr_mem; *member; ++member)
        if (strcmp(*member, user.pw_name)) return false;
    return true;
}

static keel_status_t refuse_owner(const char *path, const char *what, uid_t owner) {
    return keel_status_make(KEEL_REFUSED, "%s %s another user (uid %lu)", path, what,
                            (unsigned long)owner);
}

keel_status_t keel_file_check_owner(const char *path, const keel_file_facts_t *facts) {
    if (!is_trusted(facts->owner)) return refuse_owner(path, "belongs to", facts->owner);
    bool all = facts->permissions & S_IWOTH;
    bool group = facts->permissions & S_IWGRP && !is_own_group(facts->group);
    if (!all && !group) return NULL;
    return keel_status_make(KEEL_REFUSED, "%s can be written by %s (mode %04o)", path,
                            all ? "all users" : "its group", (unsigned)facts->permissions);
}

keel_status_t keel_directory_check_owner(const char *path) {
    struct stat s;
    if (keel_descriptor_fault() || lstat(path, &s))
        return errno == ENOENT ? NULL : keel_descriptor_refused("look at", path);
    if (S_ISLNK(s.st_mode)) {
        if (!is_trusted(s.st_uid)) return refuse_owner(path, "is a link made by", s.st_uid);
        if (stat(path, &s))
            return errno == ENOENT ? NULL : keel_descriptor_refused("look at", path);
    }
    if (!S_ISDIR(s.st_mode)) return NULL; // the code that uses it will report this
    keel_file_facts_t facts = facts_of(&s);
    return keel_file_check_owner(path, &facts);
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

keel_status_t keel_directory_walk(const char *path,
                                  keel_status_t (*visit)(void *context, const char *name),
                                  void *context) {
    struct dirent **names;
    int count = keel_descriptor_fault() ? -1 : scandir(path, &names, NULL, by_name);
    if (count < 0) return errno == ENOENT ? NULL : keel_descriptor_refused("list", path);
    keel_status_t status = NULL;
    for (int i = 0; i < count; ++i) {
        const char *name = names[i]->d_name;
        if (!status && strcmp(name, ".") && strcmp(name, "..")) status = visit(context, name);
        free(names[i]);
    }
    free(names);
    return status;
}
