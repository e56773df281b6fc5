// columns: what a client compared of two calls of one function, as the columns of a table in which
// each call is a row. A column is a static argument, the type of a leaf, a setting, or a host value
// that the function reads by name. What is recorded of a call is exact: nothing is inferred here.
//
// Room-internal. Text is that of the calls (keel_call_read).
#ifndef KEEL_EXPLAIN_COLUMNS_H_
#define KEEL_EXPLAIN_COLUMNS_H_

#include "base/base.h"

// A line of a call: keel_call_read lists the kinds.
typedef struct keel_call_line_t {
    char kind;
    keel_str_t name, value;
} keel_call_line_t;

// Takes the next line off; false at the end.
bool keel_call_next(keel_str_t *inout, keel_call_line_t *out);

// A column that the two calls do not agree in.
typedef struct keel_column_t {
    char kind, was; // as in a line, and what it was; they differ for places in arguments only
    keel_str_t name;
    keel_str_t before, after; // no data: that call does not have it
} keel_column_t;

typedef struct keel_columns_t {
    // In the order of the later call; then those that only the earlier one has.
    keel_column_t *items;
    uint32_t count;
    bool are_known;   // both calls were recorded
    bool have_values; // and the host values that the function reads
} keel_columns_t;

// In `arena`. Calls that are NULL or "" are unknown.
keel_status_t keel_columns_find(const char *before, const char *after, keel_arena_t *arena,
                                keel_columns_t *out) KEEL_MUST_CHECK;

// True for a place in the arguments: a container, an array, or what was too large to be listed.
bool keel_column_is_place(char kind);

// True for a text that begins with the identity of an object: " 0x7f..".
bool keel_column_begins_object(keel_str_t text);
// How two values differ. An object of a class with its own __eq__ may equal another one, so its
// identity makes nothing certain.
typedef enum keel_apart_t { KEEL_EQUAL, KEEL_MAY_EQUAL, KEEL_APART } keel_apart_t;
// *out_object: where an object without __eq__ stands in `b`; empty if they differ in something
// else.
keel_apart_t keel_column_compare(keel_str_t a, keel_str_t b, keel_str_t *out_object);

// True for a value that holds the identity of an object: "Config 0x7f..".
bool keel_column_has_object(keel_str_t value);
// The type of a leaf, without " weak".
keel_str_t keel_column_strong(keel_str_t type);

#endif // KEEL_EXPLAIN_COLUMNS_H_
