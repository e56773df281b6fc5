// mlir_entry: the building blocks of the encodings of attributes and types: lists, numbers of any
// width, structured attributes.
#ifndef KEEL_READ_MLIR_ENTRY_H_
#define KEEL_READ_MLIR_ENTRY_H_

#include "read/mlir_reader.h"

static inline uint32_t keel_mlir_attr(const keel_mlir_t *m, keel_cursor_t *c) {
    return keel_mlir_index(c, m->attr_count);
}
static inline uint32_t keel_mlir_type(const keel_mlir_t *m, keel_cursor_t *c) {
    return keel_mlir_index(c, m->type_count);
}
static inline uint32_t keel_mlir_str(const keel_mlir_t *m, keel_cursor_t *c) {
    return keel_mlir_index(c, m->string_count);
}
// An attribute that may be absent: KEEL_NONE.
uint32_t keel_mlir_optional_attr(const keel_mlir_t *m, keel_cursor_t *c);

// Lists, with their count at the cursor; *out is their offset in the program's pool, or in its
// ints.
keel_status_t keel_mlir_attr_list(keel_mlir_t *m, keel_cursor_t *c, uint32_t *out) KEEL_MUST_CHECK;
keel_status_t keel_mlir_pair_list(keel_mlir_t *m, keel_cursor_t *c, uint32_t *out) KEEL_MUST_CHECK;
keel_status_t keel_mlir_type_list(keel_mlir_t *m, keel_cursor_t *c, uint32_t *out) KEEL_MUST_CHECK;
keel_status_t keel_mlir_int_list(keel_mlir_t *m, keel_cursor_t *c, uint32_t *out) KEEL_MUST_CHECK;
// Strings, `count` of them.
keel_status_t keel_mlir_string_list(keel_mlir_t *m, keel_cursor_t *c, uint32_t count,
                                    uint32_t *out) KEEL_MUST_CHECK;
// Bytes preceded by their size.
keel_status_t keel_mlir_blob(keel_mlir_t *m, keel_cursor_t *c, uint32_t *out) KEEL_MUST_CHECK;

// The bits of a number of at most 64 bits, with those above its width cleared.
uint64_t keel_mlir_bits(keel_cursor_t *c, uint32_t width);

// A type, then a number of that type.
keel_status_t keel_mlir_integer(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) KEEL_MUST_CHECK;
keel_status_t keel_mlir_float(keel_mlir_t *m, keel_cursor_t *c, keel_attr_t *out) KEEL_MUST_CHECK;
// A value of an enumeration.
keel_status_t keel_mlir_enum(keel_cursor_t *c, keel_enum_class_t klass,
                             keel_attr_t *out) KEEL_MUST_CHECK;

// ---- structured attributes ---------------------------------------------------------------------
//
// Begin with the class, add the fields in order, then finish. Numbers and lists inside become
// attributes of their own, after those of the file.

enum { KEEL_MLIR_MOST_FIELDS = 8 };

typedef struct keel_mlir_record_t {
    keel_record_t klass;
    uint32_t count; // of items
    uint32_t items[2 * KEEL_MLIR_MOST_FIELDS];
} keel_mlir_record_t;

// What each item of an array must be; checked once all attributes are read.
enum { KEEL_MLIR_ANY, KEEL_MLIR_OF_STRINGS, KEEL_MLIR_OF_RECORDS };

keel_status_t keel_mlir_field(keel_mlir_t *m, keel_mlir_record_t *record, keel_mlir_name_t name,
                              keel_attr_id_t value) KEEL_MUST_CHECK;
keel_status_t keel_mlir_field_new(keel_mlir_t *m, keel_mlir_record_t *record, keel_mlir_name_t name,
                                  keel_attr_t value) KEEL_MUST_CHECK;
keel_status_t keel_mlir_field_int(keel_mlir_t *m, keel_mlir_record_t *record, keel_mlir_name_t name,
                                  int64_t value) KEEL_MUST_CHECK;
keel_status_t keel_mlir_field_f64(keel_mlir_t *m, keel_mlir_record_t *record, keel_mlir_name_t name,
                                  uint64_t bits) KEEL_MUST_CHECK;
// A list of signed numbers at the cursor.
keel_status_t keel_mlir_field_ints(keel_mlir_t *m, keel_cursor_t *c, keel_mlir_record_t *record,
                                   keel_mlir_name_t name) KEEL_MUST_CHECK;
// A list of attributes at the cursor, all of the class `items`.
keel_status_t keel_mlir_field_array(keel_mlir_t *m, keel_cursor_t *c, keel_mlir_record_t *record,
                                    keel_mlir_name_t name, keel_record_t items) KEEL_MUST_CHECK;
keel_status_t keel_mlir_record(keel_mlir_t *m, const keel_mlir_record_t *record,
                               keel_attr_t *out) KEEL_MUST_CHECK;

// The type f64, added if the file does not have it.
keel_status_t keel_mlir_f64(keel_mlir_t *m, keel_type_id_t *out) KEEL_MUST_CHECK;

#endif // KEEL_READ_MLIR_ENTRY_H_
