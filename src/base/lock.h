// Exclusive locks on files, between processes and between the threads of one. An open descriptor
// holds the lock, so it is free again when its holder releases it or dies. A forked child does not
// share its parent's locks: they are closed in it, and releasing one there does nothing.
//
// Threads: any.
#ifndef KEEL_BASE_LOCK_H_
#define KEEL_BASE_LOCK_H_

#include <stdbool.h>

#include "base/bytes.h"
#include "keel/status.h"

typedef struct keel_lock_t {
    int descriptor; // -1: none
    unsigned forks; // forks before it was taken, counted over this process's ancestors
} keel_lock_t;

#define KEEL_NO_LOCK ((keel_lock_t){.descriptor = -1})

// Makes the file if it is missing; follows no link. KEEL_REFUSED if another holds the lock: this
// never waits, since a holder may be stopped for any time.
keel_status_t keel_lock_take(const char *path, keel_lock_t *out) KEEL_MUST_CHECK;
// Replaces the content of the locked file, which tells people who holds it. KEEL_NOT_FOUND if
// someone removed the file: then the lock excludes nobody.
keel_status_t keel_lock_describe(const keel_lock_t *lock, keel_bytes_t text) KEEL_MUST_CHECK;
// False for no lock, and for one that an ancestor of this process took before the fork.
bool keel_lock_is_ours(const keel_lock_t *lock);
// Does not remove the file.
void keel_lock_release(keel_lock_t *lock);
// Removes the file while the lock is still held. Safe if others wait for it.
void keel_lock_remove(keel_lock_t *lock, const char *path);

#endif // KEEL_BASE_LOCK_H_
