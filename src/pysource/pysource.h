// pysource: a Python source as tokens and as a tree, for whoever has to understand the user's code.
// Python 3.8 to 3.14; nothing is imported or run.
//
//   kinds.h       what tokens, nodes and their parts can be: one table each
//   token.c       the text as tokens: indents, brackets, strings and the fields in them
//   parse.c       the tree: nodes as they are made, what does not parse, the packed table
//   statement.c, expression.c, pattern.c    the grammar
//   tree.c        walking it
//   value.c       what a number, a string or a dotted name says
//
// The tree is one table in pre-order: a node, then everything in it, then its next sibling. So one
// pass visits it as it reads, and what is in a node are those up to its `end`. Node 0 is the
// module. Nodes are those of CPython's `ast` with its positions; kinds.h says where they differ.
// Children are in the order of the text, except that decorators belong to what they decorate.
//
// What does not parse is a node Unknown, from its first token to the end of its line, with the
// names that stand in it and the block behind it; reading goes on behind it. The tree says where
// the first such place was. The room does not check what Python checks behind its grammar: `return`
// outside of a function, two arguments of one name.
//
// Time and memory are linear in the text. Depth is bounded, so a hostile text cannot use up the
// stack of its reader: what is nested deeper than that is Unknown.
//
// Ownership: a tree owns its tables and borrows the text.
// Threads: any number may read a tree; nothing is hidden.
#ifndef KEEL_PYSOURCE_PYSOURCE_H_
#define KEEL_PYSOURCE_PYSOURCE_H_

#include "base/base.h"
#include "pysource/kinds.h"

// A larger text is refused, and one of more tokens.
enum { KEEL_PY_LARGEST = 1 << 24, KEEL_PY_MOST_TOKENS = 1 << 22 };

typedef struct keel_py_token_t {
    uint8_t kind, sign; // keel_py_token_kind_t, keel_py_sign_t
    uint32_t at, size;  // in the text
    uint32_t line;      // from 1
    uint32_t other;     // of a bracket, of a string with fields: the token of its other end; NONE
} keel_py_token_t;

typedef struct keel_py_node_t {
    uint8_t kind, field, op;         // keel_py_kind_t, keel_py_field_t, keel_py_op_t
    uint32_t line, column;           // from 1; in bytes, from 0
    uint32_t end_line, end_column;   // behind its last character
    uint32_t parent, end;            // NONE for the module; behind the last node in it
    uint32_t first_token, end_token; // those of its own text
    uint32_t name;                   // the token that names it; NONE
} keel_py_node_t;

typedef struct keel_py_tree_t {
    keel_str_t text;
    const keel_py_node_t *nodes;
    const keel_py_token_t *tokens; // the last one is END
    const uint32_t *lines;         // where each begins, without a byte order mark
    uint32_t node_count, token_count, line_count;
    uint32_t unknown_count;            // nodes
    uint32_t error_line, error_column; // of the first place that does not parse; 0 if all does
} keel_py_tree_t;

// KEEL_UNSUPPORTED for a text that is too large. What is no Python is no error. `out` need not be
// deinitialized after a failure.
keel_status_t keel_py_read(keel_str_t text, keel_py_tree_t *out) KEEL_MUST_CHECK;
void keel_py_deinitialize(keel_py_tree_t *tree);

// ---- walking -----------------------------------------------------------------------------------

// The first child with this field that is behind `after` (NONE: any); NONE if there is none.
// With KEEL_PY_F_NOTHING: any child.
uint32_t keel_py_child(const keel_py_tree_t *tree, uint32_t node, keel_py_field_t field,
                       uint32_t after);
// By line, from 0: the innermost statement of which it is a part, also of its decorators; NONE.
// There is room for `line_count` of them.
void keel_py_statements_of_lines(const keel_py_tree_t *tree, uint32_t *out);

static inline bool keel_py_is_statement(const keel_py_node_t *node) {
    return node->kind <= KEEL_PY_CONTINUE;
}

// ---- texts and values --------------------------------------------------------------------------

keel_str_t keel_py_token_text(const keel_py_tree_t *tree, uint32_t token);
// "" for a node without a name.
keel_str_t keel_py_name(const keel_py_tree_t *tree, uint32_t node);
// "a.b.c" of an import's module, of what is imported, without what may stand between the words.
void keel_py_dotted(const keel_py_tree_t *tree, uint32_t node, keel_buffer_t *out);
// Of an alias; "" if it has none.
keel_str_t keel_py_as(const keel_py_tree_t *tree, uint32_t node);
// The dots before an import's module.
uint32_t keel_py_level(const keel_py_tree_t *tree, uint32_t node);

typedef struct keel_py_number_t {
    double value; // the nearest
    bool is_whole, is_imaginary;
} keel_py_number_t;
// False if the text is no number of Python's.
bool keel_py_number(keel_str_t text, keel_py_number_t *out);
// What a constant string or bytes say, as UTF-8 or as bytes. False if it names a character
// ("\N{DASH}"), which nothing here knows, and if it is no string.
bool keel_py_string(const keel_py_tree_t *tree, uint32_t node, keel_buffer_t *out);

const char *keel_py_kind_name(keel_py_kind_t kind);
const char *keel_py_field_name(keel_py_field_t field);
const char *keel_py_op_name(keel_py_op_t op);

#endif // KEEL_PYSOURCE_PYSOURCE_H_
