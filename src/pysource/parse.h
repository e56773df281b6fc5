// parse: what the files of the grammar share. A function of the grammar reads what it is named for
// and returns its node; NONE if it does not stand there, or if memory ran out. Nothing is undone
// then: the statement around it is.
//
// Room-internal.
#ifndef KEEL_PYSOURCE_PARSE_H_
#define KEEL_PYSOURCE_PARSE_H_

#include "pysource/pysource.h"

// A node while the tree grows: its children are a list.
typedef struct built_t {
    uint8_t kind, field, op;
    uint32_t first_token, end_token, name;
    uint32_t first, last, next;
} built_t;

typedef struct parser_t {
    const keel_py_tree_t *tree;
    keel_status_t status; // why memory ran out
    built_t *nodes;
    size_t capacity;
    uint32_t count;
    uint32_t at;       // the next token
    uint32_t furthest; // where reading failed in this statement
    uint32_t error;    // the first token that was not understood; NONE
    uint32_t depth;
} parser_t;

// ---- parse.c: tokens and nodes -----------------------------------------------------------------

static inline const keel_py_token_t *py_token(const parser_t *p) {
    return &p->tree->tokens[p->at];
}
// The one behind the next, as far as there is one.
static inline const keel_py_token_t *py_token_after(const parser_t *p, uint32_t ahead) {
    uint32_t at = p->at + ahead, last = p->tree->token_count - 1;
    return &p->tree->tokens[at < last ? at : last];
}
static inline bool py_is(const parser_t *p, keel_py_sign_t sign) {
    return py_token(p)->kind == KEEL_PY_T_SIGN && py_token(p)->sign == sign;
}
static inline bool py_is_after(const parser_t *p, uint32_t ahead, keel_py_sign_t sign) {
    const keel_py_token_t *token = py_token_after(p, ahead);
    return token->kind == KEEL_PY_T_SIGN && token->sign == sign;
}
static inline bool py_is_kind(const parser_t *p, keel_py_token_kind_t kind) {
    return py_token(p)->kind == kind;
}
// A name that is a keyword only where it stands.
bool py_is_word(const parser_t *p, uint32_t ahead, const char *word);

static inline bool py_take(parser_t *p, keel_py_sign_t sign) {
    if (!py_is(p, sign)) return false;
    ++p->at;
    return true;
}
// Like py_take; its absence is what does not parse.
bool py_expect(parser_t *p, keel_py_sign_t sign);
// The token of a name, which it takes; NONE.
uint32_t py_expect_name(parser_t *p);
// Notes where reading failed. Returns NONE.
uint32_t py_fail(parser_t *p);

// A node whose text begins with the token `from` and ends before the next one. It has the children
// that are added to it.
uint32_t py_node(parser_t *p, keel_py_kind_t kind, uint32_t from);
// False if there is no child.
bool py_add(parser_t *p, uint32_t parent, keel_py_field_t field, uint32_t child);
// The text of the node ends before the next token.
uint32_t py_end(parser_t *p, uint32_t node);

// Depth is counted where the grammar comes back to itself. False where it is too deep.
bool py_enter(parser_t *p);
static inline void py_leave(parser_t *p) {
    --p->depth;
}

// ---- expression.c ------------------------------------------------------------------------------

uint32_t py_expression(parser_t *p);       // with `if` and lambda; no star, no `:=`
uint32_t py_named_expression(parser_t *p); // with `:=`
uint32_t py_expressions(parser_t *p);      // with stars and commas; a tuple if there is one
uint32_t py_values(parser_t *p);           // those, or `yield`
uint32_t py_star_or_value(parser_t *p);    // `*x`, or an expression with `:=`
uint32_t py_operand(parser_t *p);          // what binds closer than a comparison
uint32_t py_star_or_values(parser_t *p);   // of `match`: a tuple if there is a comma
uint32_t py_name(parser_t *p);             // of the next token
uint32_t py_string(parser_t *p);           // of one or several tokens
uint32_t py_constant(parser_t *p, keel_py_op_t what); // of the next token
// The targets of `for`: a tuple if there is a comma.
uint32_t py_targets(parser_t *p);
// The arguments of a call up to its bracket, added to the node. `first`: the opening bracket.
bool py_arguments(parser_t *p, uint32_t node, keel_py_field_t field, uint32_t first);
// Parameters up to the sign behind them.
uint32_t py_parameters(parser_t *p, keel_py_sign_t end, bool has_annotations);
// What was read becomes a target. False if nothing can be assigned to it.
bool py_aim(parser_t *p, uint32_t node, keel_py_op_t context);

// ---- statement.c, pattern.c --------------------------------------------------------------------

// Reads statements up to the end of a block, or of the text, and adds them.
void py_statements(parser_t *p, uint32_t parent, keel_py_field_t field);
// What stands behind `case`.
uint32_t py_patterns(parser_t *p);

#endif // KEEL_PYSOURCE_PARSE_H_
