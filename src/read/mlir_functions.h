// mlir_functions: reads functions and the module from their attributes.
#ifndef KEEL_READ_MLIR_FUNCTIONS_H_
#define KEEL_READ_MLIR_FUNCTIONS_H_

#include "read/mlir_reader.h"

// The module's name and its other attributes, from all of its attributes.
keel_status_t keel_mlir_set_module(keel_mlir_t *m, keel_attr_id_t attributes) KEEL_MUST_CHECK;

// Adds the function of an operation; its values start at the next one.
keel_status_t keel_mlir_add_function(keel_mlir_t *m, keel_op_id_t op, keel_attr_id_t attributes,
                                     uint32_t region) KEEL_MUST_CHECK;
// Call it when the last function's region is read.
keel_status_t keel_mlir_end_function(keel_mlir_t *m) KEEL_MUST_CHECK;
// Call it when all functions are read: finds the entry.
void keel_mlir_find_entry(keel_mlir_t *m);

#endif // KEEL_READ_MLIR_FUNCTIONS_H_
