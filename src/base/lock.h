// Exclusive locks on files, among processes and among the threads of one. A lock is held by an open
// descriptor: it is free again when its holder releases it or dies. A forked child has no share of
// its parent's locks: they are closed in it, and releasing one there does nothing.
//
// Threads: any.
#ifndef KEEL_BASE_LOCK_H_
#define KEEL_BASE_LOCK_H_

#include <stdbool.h>

#include "base/bytes.h"
#include "keel/status.h"

typedef struct keel_lock_t {
    int descriptor; // -1: none
    unsigned forks; // of this process's ancestors, when it was taken
} keel_lock_t;

#define KEEL_NO_LOCK ((keel_lock_t){.descriptor = -1})

// Makes the file if it is absent, and follows no link. KEEL_REFUSED if another holds the lock:
// nobody waits here, since a holder may be stopped for any time.
keel_status_t keel_lock_take(const char *path, keel_lock_t *out) KEEL_MUST_CHECK;
// Replaces the content of the locked file: who holds it, for people to read. KEEL_NOT_FOUND if
// somebody removed the file: then it locks nobody out.
keel_status_t keel_lock_describe(const keel_lock_t *lock, keel_bytes_t text) KEEL_MUST_CHECK;
// False for none, and for one of the process that this one was forked from.
bool keel_lock_is_ours(const keel_lock_t *lock);
// Leaves the file.
void keel_lock_release(keel_lock_t *lock);
// Removes the file while the lock is still held. Safe against others who wait.
void keel_lock_remove(keel_lock_t *lock, const char *path);

#endif // KEEL_BASE_LOCK_H_
