// fields: the readable values of a key's components, compared field by field.
//
// A value is lines of "name=value". A field on one side only is "unset" on the other.
// Room-internal. One thread; all memory is the arena's.
#ifndef KEEL_EXPLAIN_FIELDS_H_
#define KEEL_EXPLAIN_FIELDS_H_

#include "base/base.h"

enum { KEEL_FIELD_SHOWN = 64 }; // bytes of a value that are shown

typedef struct keel_moved_field_t {
    const char *name;
    const char *before, *after; // as shown: long values are cut
    bool was_set, is_set;
} keel_moved_field_t;

typedef struct keel_moved_fields_t {
    const keel_moved_field_t *data; // ordered by name
    uint32_t count;
    bool understood; // false: one of the two has lines in another form
} keel_moved_fields_t;

// A value that was cut when it was recorded says nothing about fields that it lacks.
keel_status_t keel_fields_compare(const char *before, const char *after, keel_arena_t *arena,
                                  keel_moved_fields_t *out) KEEL_MUST_CHECK;

// Cuts two texts that differ for display, so that they still differ.
keel_status_t keel_fields_show(keel_str_t before, keel_str_t after, keel_arena_t *arena,
                               const char **out_before, const char **out_after) KEEL_MUST_CHECK;

#endif // KEEL_EXPLAIN_FIELDS_H_
