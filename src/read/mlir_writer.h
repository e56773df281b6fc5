// mlir_writer: shared by the parts of the writer of MLIR text (read/write.h is for its users).
// mlir_reader.h says how a program holds MLIR, mlir_ops.h which properties an operation has.
//
//   mlir_write.c            module, operations, regions
//   mlir_write_attribute.c  attributes of the builtin dialect and of VHLO
//   mlir_write_sdy.c        attributes of Shardy
//   mlir_write_type.c       types and their aliases
//
// The program does not say whether a type or an attribute is VHLO's or builtin: both dialects have
// the same kinds. The operation says it: all that belongs to an operation of VHLO is VHLO's, and
// what belongs to another one is builtin. builtin.unrealized_conversion_cast leads from one to the
// other.
#ifndef KEEL_READ_MLIR_WRITER_H_
#define KEEL_READ_MLIR_WRITER_H_

#include "read/mlir_ops.h"
#include "read/read.h"

typedef struct keel_mlir_writer_t {
    const keel_program_t *program;
    keel_buffer_t *out;
    uint8_t *builtin_values; // by value: 1 if its type is builtin
    uint8_t *aliases;        // by type: KEEL_MLIR_ALIAS_*
    unsigned depth;
} keel_mlir_writer_t;

enum { KEEL_MLIR_ALIAS_VHLO = 1, KEEL_MLIR_ALIAS_BUILTIN = 2 };

// Enters one level of nesting; refuses if that is too deep, or if the buffer is full. Leave by
// --writer->depth.
keel_status_t keel_mlir_write_enter(keel_mlir_writer_t *writer) KEEL_MUST_CHECK;
keel_status_t keel_mlir_not_written(const char *what) KEEL_MUST_CHECK;

// A type, by its alias if it has one.
keel_status_t keel_mlir_write_type(keel_mlir_writer_t *writer, keel_type_id_t type,
                                   bool is_vhlo) KEEL_MUST_CHECK;
// The aliases of the types of all values, one a line.
keel_status_t keel_mlir_write_aliases(keel_mlir_writer_t *writer) KEEL_MUST_CHECK;

keel_status_t keel_mlir_write_attr(keel_mlir_writer_t *writer, keel_attr_id_t attr,
                                   bool is_vhlo) KEEL_MUST_CHECK;
// A record of Shardy's, with its prefix: "#sdy.sharding<...>".
keel_status_t keel_mlir_write_sdy(keel_mlir_writer_t *writer, keel_attr_id_t attr) KEEL_MUST_CHECK;
// A name without quotes if it can stand so, otherwise a string.
void keel_mlir_write_name(keel_mlir_writer_t *writer, keel_str_t name);
void keel_mlir_write_string(keel_mlir_writer_t *writer, keel_str_t text);
// "@name"
void keel_mlir_write_symbol(keel_mlir_writer_t *writer, keel_str_t name);
// "[1, ?, 3]", where KEEL_DYNAMIC is the question mark.
void keel_mlir_write_sizes(keel_mlir_writer_t *writer, keel_ints_t list);
// A float as the bits of the double that has its value, which both dialects read as such.
keel_status_t keel_mlir_write_double(keel_mlir_writer_t *writer,
                                     const keel_attr_t *number) KEEL_MUST_CHECK;

static inline void keel_mlir_write_text(keel_mlir_writer_t *writer, const char *text) {
    keel_buffer_text(writer->out, text);
}

#endif // KEEL_READ_MLIR_WRITER_H_
