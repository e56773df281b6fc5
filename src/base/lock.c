#define _GNU_SOURCE
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/descriptor.h"
#include "base/memory.h"

// ---- what this process holds -------------------------------------------------------------------

static struct {
    pthread_mutex_t mutex;
    int *descriptors;
    size_t count, capacity;
    atomic_uint forks;
} held = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void before_fork(void) {
    pthread_mutex_lock(&held.mutex);
}

static void in_parent(void) {
    pthread_mutex_unlock(&held.mutex);
}

// A lock belongs to the open file, which parent and child share: left open in the child, it would
// outlive the parent.
static void in_child(void) {
    for (size_t i = 0; i < held.count; ++i)
        close(held.descriptors[i]);
    held.count = 0;
    atomic_fetch_add(&held.forks, 1);
    pthread_mutex_unlock(&held.mutex);
}

__attribute__((constructor)) static void guard_forks(void) {
    pthread_atfork(before_fork, in_parent, in_child);
}

// Opens under the mutex, so that no fork comes between opening a file and recording it.
static keel_status_t open_held(const char *path, keel_lock_t *out) {
    pthread_mutex_lock(&held.mutex);
    void *grown = held.descriptors;
    keel_status_t status =
        keel_grow_array(held.count, sizeof *held.descriptors, &held.capacity, &grown);
    held.descriptors = grown;
    if (!status) {
        out->descriptor = keel_descriptor_open(path, O_RDWR | O_CREAT | O_NOFOLLOW);
        if (out->descriptor < 0)
            status = keel_descriptor_refused("open", path);
        else
            held.descriptors[held.count++] = out->descriptor;
    }
    out->forks = atomic_load(&held.forks);
    pthread_mutex_unlock(&held.mutex);
    return status;
}

void keel_lock_release(keel_lock_t *lock) {
    if (lock->descriptor < 0) return;
    pthread_mutex_lock(&held.mutex);
    size_t at = 0;
    while (at < held.count && held.descriptors[at] != lock->descriptor)
        ++at;
    KEEL_ASSERT(!keel_lock_is_ours(lock) || at < held.count); // nobody else has released it
    if (keel_lock_is_ours(lock) && at < held.count) {
        held.descriptors[at] = held.descriptors[--held.count];
        // A child made without fork's handlers shares the lock, so closing our descriptor would not
        // free it.
        flock(lock->descriptor, LOCK_UN);
        close(lock->descriptor);
    }
    pthread_mutex_unlock(&held.mutex);
    *lock = KEEL_NO_LOCK;
}

bool keel_lock_is_ours(const keel_lock_t *lock) {
    return lock->descriptor >= 0 && lock->forks == atomic_load(&held.forks);
}

// ---- locks -------------------------------------------------------------------------------------

// Between our open and our lock, the last holder may have removed the file.
static bool still_there(int descriptor, const char *path) {
    struct stat locked, named;
    return fstat(descriptor, &locked) == 0 && lstat(path, &named) == 0 &&
           locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

// Returns errno.
static int lock(int descriptor) {
    return keel_descriptor_fault() || flock(descriptor, LOCK_EX | LOCK_NB) ? errno : 0;
}

keel_status_t keel_lock_take(const char *path, keel_lock_t *out) {
    enum { ATTEMPTS = 1000 }; // in case others keep removing the file
    for (int attempt = 0; attempt < ATTEMPTS; ++attempt) {
        keel_lock_t taken = KEEL_NO_LOCK;
        KEEL_TRY(open_held(path, &taken));
        int error = lock(taken.descriptor);
        if (!error && still_there(taken.descriptor, path)) {
            *out = taken;
            return NULL;
        }
        keel_lock_release(&taken);
        if (error == EWOULDBLOCK)
            return keel_status_make(KEEL_REFUSED, "%s is already locked", path);
        errno = error;
        if (error) return keel_descriptor_refused("lock", path);
    }
    return keel_status_make(KEEL_IO, "cannot lock %s: it keeps being replaced", path);
}

// Truncated at the end, and never to nothing: ext4 flushes a file that was truncated to nothing
// when it is closed, which costs ten times the rest.
keel_status_t keel_lock_describe(const keel_lock_t *lock, keel_bytes_t text) {
    struct stat s;
    if (!keel_lock_is_ours(lock))
        return keel_status_make(KEEL_INVALID, "the lock belongs to another process");
    if (keel_descriptor_fault() || fstat(lock->descriptor, &s) ||
        lseek(lock->descriptor, 0, SEEK_SET) || !keel_descriptor_write(lock->descriptor, text) ||
        ((uint64_t)s.st_size > text.size && ftruncate(lock->descriptor, (off_t)text.size)))
        return keel_descriptor_refused("describe", "a lock");
    if (s.st_nlink == 0) return keel_status_make(KEEL_NOT_FOUND, "someone removed the lock's file");
    return NULL;
}

void keel_lock_remove(keel_lock_t *lock, const char *path) {
    if (keel_lock_is_ours(lock) && !keel_descriptor_fault()) unlink(path);
    keel_lock_release(lock);
}
