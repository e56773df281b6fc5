// Shared by the printers: types and attributes in both notations, elements of tensors.
#ifndef KEEL_READ_PRINT_VALUE_H_
#define KEEL_READ_PRINT_VALUE_H_

#include "read/printer.h"

void keel_print_value_type(keel_printer_t *printer, keel_type_id_t type);
// ", " and the layout or encoding after a type; nothing if it is NONE or, unless the output must be
// exact, row-major.
void keel_print_layout(keel_printer_t *printer, keel_attr_id_t layout);
void keel_print_name(keel_buffer_t *out, keel_str_t name); // quoted if necessary

// An attribute in one of two notations: how each kind is written.
enum { KEEL_PRINT_KINDS = KEEL_ATTR_LOC_UNKNOWN + 1 }; // one for all kinds of location
typedef void (*keel_print_notation_t[KEEL_PRINT_KINDS])(keel_printer_t *printer, keel_attr_id_t id);
// Both notations name their functions alike.
#define KEEL_PRINT_NOTATION                                                                        \
    {                                                                                              \
        [KEEL_ATTR_NONE] = none, [KEEL_ATTR_UNIT] = unit, [KEEL_ATTR_BOOL] = boolean,              \
        [KEEL_ATTR_INT] = integer, [KEEL_ATTR_WIDE_INT] = wide, [KEEL_ATTR_FLOAT] = number,        \
        [KEEL_ATTR_STRING] = string, [KEEL_ATTR_TYPE] = type, [KEEL_ATTR_ENUM] = enumeration,      \
        [KEEL_ATTR_ARRAY] = array, [KEEL_ATTR_DICT] = dictionary, [KEEL_ATTR_INTS] = ints,         \
        [KEEL_ATTR_SYMBOL] = symbol, [KEEL_ATTR_TENSOR] = tensor,                                  \
        [KEEL_ATTR_DENSE_ARRAY] = dense_array, [KEEL_ATTR_STRINGS] = strings,                      \
        [KEEL_ATTR_SPARSE] = sparse, [KEEL_ATTR_DISTINCT] = distinct, [KEEL_ATTR_BYTES] = opaque,  \
        [KEEL_ATTR_LOC_UNKNOWN] = location,                                                        \
    }
void keel_print_value(keel_printer_t *printer, const keel_print_notation_t notation,
                      keel_attr_id_t attribute);
void keel_print_value_text(keel_printer_t *printer, keel_attr_id_t attribute);
// In JSON, `name` is that of the member, or NULL in a list.
void keel_print_value_json(keel_printer_t *printer, const char *name, keel_attr_id_t attribute);
// A type as a string.
void keel_print_type_json(keel_printer_t *printer, const char *name, keel_type_id_t type);
// A dictionary's entries: "{a = 1, b}" and {"a":1,"b":{"unit":true}}. NONE prints as empty.
void keel_print_dictionary_text(keel_printer_t *printer, keel_attr_id_t dictionary);
void keel_print_dictionary_json(keel_printer_t *printer, const char *name,
                                keel_attr_id_t dictionary);

// True for a number of type i1: MLIR's builtin bool.
bool keel_print_is_bool(const keel_program_t *program, const keel_attr_t *integer);

// The dictionary at that index of an array; NONE if there is no array, index or dictionary.
keel_attr_id_t keel_print_entry(const keel_program_t *program, keel_attr_id_t array,
                                uint32_t index);

// Two members without braces: "location_name" and "locations", the frames, innermost first; none if
// the location has no information.
void keel_print_location_json(keel_printer_t *printer, keel_attr_id_t location);

// One element: a number, true or false, "(1.0,2.0)" for complex, hex for anything else.
void keel_print_element(keel_printer_t *printer, keel_type_id_t type,
                        const keel_tensor_view_t *tensor, uint64_t at);

// A tensor attribute and a dense array in text: "dense<[1.0, 2.0]> : tensor<2xf32>", or, with
// `brief` for a list of dimensions, "[1, 2]".
void keel_print_tensor_text(keel_printer_t *printer, const keel_attr_t *tensor, bool brief);
void keel_print_array_text(keel_printer_t *printer, const keel_attr_t *array);

// The elements of a dense array, as of a one-dimensional tensor.
keel_tensor_view_t keel_print_array_view(const keel_program_t *program, const keel_attr_t *array);

// The element type of a tensor, buffer or array; otherwise the type itself.
keel_type_id_t keel_print_element_type(const keel_program_t *program, keel_type_id_t type);

#endif // KEEL_READ_PRINT_VALUE_H_
