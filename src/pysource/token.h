// token: a text as Python's tokens. Room-internal.
#ifndef KEEL_PYSOURCE_TOKEN_H_
#define KEEL_PYSOURCE_TOKEN_H_

#include "pysource/pysource.h"

// Fills the tokens and lines of the tree, which has its text; they are allocated, also on failure.
keel_status_t keel_py_tokenize(keel_py_tree_t *tree) KEEL_MUST_CHECK;

#endif // KEEL_PYSOURCE_TOKEN_H_
