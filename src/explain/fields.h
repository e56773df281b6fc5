// fields: the readable values of a key's components, compared field by field.
//
// A value is lines of "name=value". Fields that stand on one side only are "unset" on the other.
// Room-internal. One thread; all memory is the arena's.
#ifndef KEEL_EXPLAIN_FIELDS_H_
#define KEEL_EXPLAIN_FIELDS_H_

#include "base/base.h"

enum { KEEL_FIELD_SHOWN = 64 }; // bytes of a value that people get to see

typedef struct keel_moved_field_t {
    const char *name;
    const char *before, *after; // as people see them: cut where they are long
    bool was_set, is_set;
} keel_moved_field_t;

typedef struct keel_moved_fields_t {
    const keel_moved_field_t *data; // in the order of their names
    uint32_t count;
    bool understood; // false: one of the two has lines of another form
} keel_moved_fields_t;

// A value that was cut when it was recorded tells nothing about the fields that it lacks.
keel_status_t keel_fields_compare(const char *before, const char *after, keel_arena_t *arena,
                                  keel_moved_fields_t *out) KEEL_MUST_CHECK;

// Cuts two texts that differ to what people see of them, so that they differ still.
keel_status_t keel_fields_show(keel_str_t before, keel_str_t after, keel_arena_t *arena,
                               const char **out_before, const char **out_after) KEEL_MUST_CHECK;

#endif // KEEL_EXPLAIN_FIELDS_H_
