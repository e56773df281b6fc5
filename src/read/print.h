// print: any program as readable text, or as JSON for tools (docs/show.md describes the JSON).
#ifndef KEEL_READ_PRINT_H_
#define KEEL_READ_PRINT_H_

#include "program/program.h"

typedef struct keel_print_options_t {
    bool locations;         // a comment with file:line after each operation
    uint32_t largest_value; // constants with more elements are cut: "dense<[1, 2, ...]>"
} keel_print_options_t;

// MLIR-like text: one operation per line. The caller owns the buffer.
keel_status_t keel_print_text(const keel_program_t *program, const keel_print_options_t *options,
                              keel_buffer_t *out) KEEL_MUST_CHECK;
keel_status_t keel_print_json(const keel_program_t *program, keel_buffer_t *out) KEEL_MUST_CHECK;

// A type as StableHLO writes it: "tensor<8x128xf32>".
void keel_print_type(const keel_program_t *program, keel_type_id_t type, keel_buffer_t *out);
// The type of an element as JAX writes it: "bool", "u32", "c64"; StableHLO has "i1", "ui32" and
// "complex<f32>".
void keel_print_short_element(const keel_program_t *program, keel_type_id_t type,
                              keel_buffer_t *out);
// The same for any type: "f32[8,4]".
void keel_print_short_type(const keel_program_t *program, keel_type_id_t type, keel_buffer_t *out);
// P('data', None), as JAX writes a sharding. An empty one is P(), unless all dimensions are asked
// for (`is_whole`). False if this form cannot express it.
bool keel_print_sharding(const keel_program_t *program, keel_attr_id_t attr, bool is_whole,
                         keel_buffer_t *out);
// An attribute on one line, cut after `largest_value` elements.
void keel_print_attribute(const keel_program_t *program, keel_attr_id_t attribute,
                          uint32_t largest_value, keel_buffer_t *out);
// One operation's own line without its newline, as in the text; leaves out its regions' contents.
// Values are numbered from `first_value`, that of its function.
void keel_print_operation(const keel_program_t *program, keel_op_id_t op,
                          keel_value_id_t first_value, uint32_t largest_value, keel_buffer_t *out);

#endif // KEEL_READ_PRINT_H_
