// canon: the canonical form of names, types and attributes.
//
//   functions       a reference contains the digest of the function, never its name
//   sdy.mesh        the same, with a count that keeps equal meshes of two names apart
//   dictionaries    sorted; canon_dict.c says what each place leaves out
//   locations       nothing
//   tensors         bools packed, all-equal elements as one
//
// Errors stick, as in form.h. One thread at a time.
// Room-internal.
#ifndef KEEL_KEY_CANON_H_
#define KEEL_KEY_CANON_H_

#include "key/form.h"

// Readers stop at 128, but a program built by other means may nest deeper.
enum { KEEL_CANON_DEPTH = 192 };

// Where a dictionary is decides what is left out of it.
typedef enum keel_dict_place {
    KEEL_PLACE_VALUE,     // inside an attribute
    KEEL_PLACE_OPERATION, // an operation's attributes
    KEEL_PLACE_KERNEL,    // a tpu_custom_call's attributes
    KEEL_PLACE_ARGUMENT,  // of a function, or one of its results
    KEEL_PLACE_FUNCTION,
    KEEL_PLACE_MESH, // an sdy.mesh operation
    KEEL_PLACE_MODULE,
} keel_dict_place_t;

typedef enum keel_op_kind { KEEL_OP_PLAIN, KEEL_OP_CUSTOM_CALL, KEEL_OP_MESH } keel_op_kind_t;

keel_status_t keel_canon_initialize(keel_canon_t *canon, const keel_program_t *program,
                                    keel_partitioning_t partitioning) KEEL_MUST_CHECK;
void keel_canon_deinitialize(keel_canon_t *canon);

keel_node_id_t keel_canon_type(keel_canon_t *canon, keel_type_id_t type);
keel_node_id_t keel_canon_attr(keel_canon_t *canon, keel_attr_id_t attr);
// An operation's name, by its number in op_names.
keel_node_id_t keel_canon_op_name(keel_canon_t *canon, uint32_t name);
// An operation's attributes.
keel_node_id_t keel_canon_op_attrs(keel_canon_t *canon, keel_op_id_t op);
// A dictionary in its place; not cached. `function` is the one it belongs to, or NONE.
keel_node_id_t keel_canon_dict(keel_canon_t *canon, keel_attr_id_t dict, keel_dict_place_t place,
                               uint32_t function);

// ---- who calls whom (calls.c) ------------------------------------------------------------------

// An order in which functions can be digested: each after all that it refers to.
typedef struct keel_calls_t {
    uint32_t *order;     // those that the entry reaches, the entry, then the rest
    uint32_t count;      // all functions
    uint32_t from_entry; // how many of them the entry reaches, itself included
} keel_calls_t;

// KEEL_UNSUPPORTED if functions refer to each other in a cycle.
keel_status_t keel_calls_initialize(keel_calls_t *calls, const keel_canon_t *canon) KEEL_MUST_CHECK;
void keel_calls_deinitialize(keel_calls_t *calls);

// The operations inside a function: [*first, *end).
void keel_canon_body(const keel_program_t *program, const keel_function_t *function,
                     keel_op_id_t *first, keel_op_id_t *end);

#endif // KEEL_KEY_CANON_H_
