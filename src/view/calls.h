// What this room asks of the system, and what the rest of it shares. Each call can be made to fail
// by a test (base/fault.h).
#ifndef KEEL_VIEW_CALLS_H_
#define KEEL_VIEW_CALLS_H_

#include <errno.h>
#include <string.h>

#include "view/mounts.h"

struct keel_view_t {
    char *folder; // lock, root, disk/<step>/upper and work, memory likewise
    keel_lock_t lock;
    keel_plan_t plan;
    char name[64];                // of the mount namespace: "mnt:[4026532281]"
    uint8_t *read_only;           // each step: the mount takes no overlay; shared with the builder
    int user, mounts;             // namespaces; user -1: this process's own
    int root;                     // its /
    int disk_place, memory_place; // folders of what was written; -1: none
    bool in_memory;               // all of it
    bool is_volatile;             // the kernel need not write it to the disk
};

// Whether a test wants this call to fail.
static inline bool view_fails(void) {
    if (!keel_fault_hit(KEEL_FAULT_FILE)) return false;
    errno = EIO;
    return true;
}

static inline keel_status_t view_refused(const char *what, const char *path) {
    return keel_status_make(KEEL_UNSUPPORTED, "%s %s: %s", what, path, strerror(errno));
}

// tree.c: removes the folder and all in it, also what its owner cannot read. Follows no link.
void view_remove(const char *folder);

#endif // KEEL_VIEW_CALLS_H_
