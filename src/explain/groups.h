// groups: the same difference of many arguments is one root, whose note counts the others.
//
// Room-internal. One thread.
#ifndef KEEL_EXPLAIN_GROUPS_H_
#define KEEL_EXPLAIN_GROUPS_H_

#include "explain/diff.h"

typedef struct keel_group_t {
    uint64_t key;
    uint32_t root, more;
    uint32_t results; // as many of those, and the root, as are results and no arguments
    keel_cause_t kind;
} keel_group_t;

enum { KEEL_GROUPS = 64 };

typedef struct keel_groups_t {
    keel_group_t items[KEEL_GROUPS];
    uint32_t count;
} keel_groups_t;

// NULL if there is none.
keel_group_t *keel_groups_find(keel_groups_t *groups, keel_cause_t kind, uint64_t key);
// The first group of a root, which counts the others; NULL.
keel_group_t *keel_groups_of(keel_groups_t *groups, keel_cause_t kind, uint32_t root);
void keel_groups_put(keel_groups_t *groups, keel_cause_t kind, uint64_t key, uint32_t root);

// Adds a difference of an argument: under the root of its kind that has the same key, or as one.
keel_status_t keel_groups_add(keel_diff_t *diff, keel_groups_t *groups, uint64_t key,
                              const keel_difference_t *difference, uint32_t *out) KEEL_MUST_CHECK;
// The same of an argument that came or went; `is_sent`: it was just moved to the device.
keel_status_t keel_groups_add_argument(keel_diff_t *diff, keel_groups_t *groups, uint64_t key,
                                       const keel_difference_t *difference, bool is_sent,
                                       uint32_t *out) KEEL_MUST_CHECK;

// Writes to the roots' notes how many arguments and results each stands for.
void keel_groups_tell(keel_diff_t *diff, const keel_groups_t *groups);

#endif // KEEL_EXPLAIN_GROUPS_H_
