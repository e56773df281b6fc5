// Walks operations and their regions without recursion, for both printers.
#ifndef KEEL_READ_PRINT_WALK_H_
#define KEEL_READ_PRINT_WALK_H_

#include "program/program.h"

// `index` is the position among its siblings, from 0. Regions and blocks are those of the tables.
typedef struct keel_print_visitor_t {
    void (*open_operation)(void *context, keel_op_id_t op, uint32_t index);
    void (*open_region)(void *context, uint32_t index);
    void (*open_block)(void *context, const keel_block_t *block, uint32_t index);
    void (*close_block)(void *context);
    void (*close_region)(void *context);
    void (*close_operation)(void *context, keel_op_id_t op);
} keel_print_visitor_t;

// Visits the operations from `first` up to `end` and everything inside them. KEEL_UNSUPPORTED if
// regions nest deeper than readers allow.
keel_status_t keel_print_walk(const keel_program_t *program, keel_op_id_t first, keel_op_id_t end,
                              const keel_print_visitor_t *visitor, void *context) KEEL_MUST_CHECK;

// Visits the operations outside every function in the same way.
keel_status_t keel_print_walk_module(const keel_program_t *program,
                                     const keel_print_visitor_t *visitor,
                                     void *context) KEEL_MUST_CHECK;

// The blocks of a function, and their number.
const keel_block_t *keel_print_blocks(const keel_program_t *program,
                                      const keel_function_t *function, uint32_t *out_count);

#endif // KEEL_READ_PRINT_WALK_H_
