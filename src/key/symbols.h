// symbols: resolves the names of functions and meshes to their content.
//
// The map holds function << 1, or mesh << 1 | 1.
// Room-internal.
#ifndef KEEL_KEY_SYMBOLS_H_
#define KEEL_KEY_SYMBOLS_H_

#include "key/form.h"

// The node that `name` refers to; false if the name is unknown here.
bool keel_symbols_reference(keel_canon_t *canon, keel_str_t name, keel_node_id_t *out);
// True for the attributes of operations that contain function names as plain strings.
bool keel_symbols_is_callee(keel_str_t attribute);
// The operation of the mesh of that name, or NONE.
keel_op_id_t keel_symbols_mesh(const keel_canon_t *canon, keel_str_t name);

#endif // KEEL_KEY_SYMBOLS_H_
