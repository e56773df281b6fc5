// Removing what was written, and what killed processes left behind.
//
// A folder of a view is stale if nobody holds its lock and no process has the view's mounts in the
// mount namespace whose name is in the lock's file: a command may outlive a `keel` that was killed.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "view/calls.h"

enum { NAMESPACE_LIMIT = 64, YOUNG_SECONDS = 60, DEPTH_MOST = 2000 };
static const char prefix[] = ".keel-writes-";

// ---- removing ----------------------------------------------------------------------------------

static void remove_at(int folder, const char *name, int depth);

// The work folder of an overlay has no permissions at all.
static int open_folder(int folder, const char *name) {
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int opened = view_fails() ? -1 : openat(folder, name, flags);
    if (opened >= 0 || errno != EACCES) return opened;
    if (fchmodat(folder, name, 0700, 0)) return -1;
    return openat(folder, name, flags);
}

static void remove_inside(int opened, int depth) {
    int listed = dup(opened);
    DIR *names = listed < 0 ? NULL : fdopendir(listed);
    struct dirent *entry;
    if (!names) {
        if (listed >= 0) close(listed);
        return;
    }
    while ((entry = readdir(names)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_at(opened, entry->d_name, depth + 1);
    closedir(names);
}

static void remove_at(int folder, const char *name, int depth) {
    struct stat facts;
    if (view_fails() || fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW)) return;
    if (!S_ISDIR(facts.st_mode)) {
        // Its folder may forbid it.
        if (unlinkat(folder, name, 0) && errno == EACCES && fchmod(folder, 0700) == 0)
            unlinkat(folder, name, 0);
        return;
    }
    if (unlinkat(folder, name, AT_REMOVEDIR) == 0) return;
    int opened = depth > DEPTH_MOST ? -1 : open_folder(folder, name);
    if (opened < 0) return;
    remove_inside(opened, depth);
    close(opened);
    if (unlinkat(folder, name, AT_REMOVEDIR) && errno == EACCES && fchmod(folder, 0700) == 0)
        unlinkat(folder, name, AT_REMOVEDIR);
}

void view_remove(const char *folder) {
    remove_at(AT_FDCWD, folder, 0);
}

// ---- what was left behind ----------------------------------------------------------------------

typedef struct search_t {
    const char *namespace; // of the processes that are searched for
    const char *source;    // of the mounts in it
    bool is_found;
} search_t;

// The number of a namespace that is gone is given to a new one, so its mounts have to be the
// view's.
static bool has_mount(const char *process, const char *source) {
    enum { MOUNTS_LIMIT = 16 << 20 };
    char path[64];
    uint8_t *bytes;
    size_t size;
    snprintf(path, sizeof path, "/proc/%.20s/mountinfo", process);
    keel_status_t status = keel_file_read(path, MOUNTS_LIMIT, &bytes, &size);
    bool is_gone = keel_status_code(status) == KEEL_NOT_FOUND;
    keel_status_ignore(status);
    if (status) return !is_gone; // rather than remove what somebody uses
    bool has = memmem(bytes, size, source, strlen(source)) != NULL;
    keel_free(bytes);
    return has;
}

static keel_status_t look_at(void *context, const char *name) {
    search_t *search = context;
    char path[64], own[NAMESPACE_LIMIT];
    if (search->is_found || *name < '0' || *name > '9' || strlen(name) > 20) return NULL;
    snprintf(path, sizeof path, "/proc/%.20s/ns/mnt", name);
    ssize_t size = readlink(path, own, sizeof own - 1);
    if (size <= 0) return NULL;
    own[size] = 0;
    search->is_found = strcmp(own, search->namespace) == 0 && has_mount(name, search->source);
    return NULL;
}

static bool is_entered(const char *folder, const char *lock) {
    uint8_t *bytes;
    size_t size;
    char name[NAMESPACE_LIMIT] = "";
    keel_status_t status = keel_file_read(lock, NAMESPACE_LIMIT - 1, &bytes, &size);
    if (!status) {
        memcpy(name, bytes, size);
        keel_free(bytes);
    }
    keel_status_ignore(status);
    if (!*name) return false; // it was killed before anything was mounted
    search_t search = {.namespace = name, .source = strrchr(folder, '/') + 1};
    keel_status_ignore(keel_directory_walk("/proc", look_at, &search));
    return search.is_found;
}

static bool is_own_folder(const char *path, bool *out_is_young) {
    struct stat facts;
    if (lstat(path, &facts) || !S_ISDIR(facts.st_mode) || facts.st_uid != geteuid()) return false;
    *out_is_young = time(NULL) - facts.st_mtime < YOUNG_SECONDS;
    return true;
}

// Between making the folder and taking its lock there is a moment.
static void sweep_one(const char *folder) {
    bool is_young, has_lock;
    char *path;
    keel_lock_t lock;
    if (!is_own_folder(folder, &is_young)) return;
    keel_status_t status = keel_path(&path, "%s/lock", folder);
    if (!status) {
        has_lock = keel_is_file(path);
        if (has_lock || !is_young) status = keel_lock_take(path, &lock);
        if (!status && (has_lock || !is_young)) {
            if (!is_entered(folder, path)) view_remove(folder);
            keel_lock_release(&lock);
        }
        keel_free(path);
    }
    keel_status_ignore(status); // somebody has it, or the next sweep tries again
}

static keel_status_t sweep_named(void *context, const char *name) {
    char *path;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) return NULL;
    KEEL_TRY(keel_path(&path, "%s/%s", (const char *)context, name));
    sweep_one(path);
    keel_free(path);
    return NULL;
}

void keel_view_sweep(const char *const *places) {
    for (; *places; ++places)
        keel_status_ignore(keel_directory_walk(*places, sweep_named, (void *)(uintptr_t)*places));
}
