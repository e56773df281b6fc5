// stored: the line of the source that copies a computed value over a tensor.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_STORED_H_
#define KEEL_EXPLAIN_STORED_H_

#include "explain/explain.h"

// The line (from 1) that copies what line `computed` of a Python text assigns to a plain name. 0 if
// there is none in the same function, or more than one.
uint32_t keel_stored_at(keel_str_t text, uint32_t computed);

#endif // KEEL_EXPLAIN_STORED_H_
