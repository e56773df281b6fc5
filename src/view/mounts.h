// What is mounted here, by /proc/self/mountinfo, and what each mount becomes in a view.
#ifndef KEEL_VIEW_MOUNTS_H_
#define KEEL_VIEW_MOUNTS_H_

#include "view/view.h"

typedef struct keel_mount_t {
    const char *point;
    const char *type; // "ext4"
    uint64_t id;
    bool is_read_only;
} keel_mount_t;

// By their points, a folder before what is mounted below it.
typedef struct keel_mounts_t {
    keel_mount_t *list;
    size_t count, capacity;
    keel_arena_t texts;
} keel_mounts_t;

// The text of /proc/self/mountinfo. Of several mounts at one point the last counts.
keel_status_t keel_mounts_parse(keel_str_t text, keel_mounts_t *out) KEEL_MUST_CHECK;
// Those of this process that can be reached, so not those that another one hides.
keel_status_t keel_mounts_here(keel_mounts_t *out) KEEL_MUST_CHECK;
// Also after a failure of these.
void keel_mounts_deinitialize(keel_mounts_t *mounts);

// ---- plan.c ------------------------------------------------------------------------------------

typedef enum keel_step_kind_t {
    KEEL_STEP_OVERLAY,   // written to the view's folder
    KEEL_STEP_IN_MEMORY, // the same in memory
    KEEL_STEP_SAME,      // the mount itself, without what is mounted below
    KEEL_STEP_TREE,      // with that
    KEEL_STEP_DEVICES,   // likewise, but beside devices nothing can be written in the mount itself
    KEEL_STEP_READ_ONLY, // the mount itself, for reading
    // Of a folder with mounts below that cannot take an overlay: a new folder with the same
    // permissions, and a link in it.
    KEEL_STEP_FOLDER,
    KEEL_STEP_LINK,
} keel_step_kind_t;

typedef struct keel_step_t {
    keel_step_kind_t kind;
    const char *path;
} keel_step_t;

// In the order in which a view is built.
typedef struct keel_plan_t {
    keel_step_t *steps;
    size_t count, capacity;
    keel_arena_t texts;
} keel_plan_t;

// `is_locked`: this user may not look below mounts, so a folder with mounts below takes no overlay:
// the kernel's rule for those who are not root.
keel_status_t keel_plan_make(const keel_mounts_t *mounts, bool is_locked,
                             keel_plan_t *out) KEEL_MUST_CHECK;
// For those who are not root: gives overlays of their own to the folders on the way to `folder`,
// and to those in them, that would otherwise be written through a copy of somebody else's folder.
keel_status_t keel_plan_add_others(const char *folder, keel_plan_t *plan) KEEL_MUST_CHECK;
void keel_plan_deinitialize(keel_plan_t *plan);

#endif // KEEL_VIEW_MOUNTS_H_
