// Statements and blocks, and what is made of those that do not parse.
#include "pysource/parse.h"

// ---- what does not parse -----------------------------------------------------------------------

// The names from `from` to the next token. What is behind a dot is an attribute of something.
static void add_names(parser_t *p, uint32_t node, uint32_t from) {
    uint32_t end = p->at;
    for (p->at = from; p->at < end;) {
        uint32_t at = p->at++;
        const keel_py_token_t *token = &p->tree->tokens[at];
        if (token->kind != KEEL_PY_T_NAME) continue;
        bool is_attribute = at > from && (token - 1)->sign == KEEL_PY_S_DOT;
        uint32_t one = py_node(p, is_attribute ? KEEL_PY_ATTRIBUTE : KEEL_PY_NAME, at);
        if (one == KEEL_NONE) return;
        p->nodes[one].name = at;
        p->nodes[one].op = KEEL_PY_O_LOAD;
        py_add(p, node, KEEL_PY_F_NAMES, one);
    }
}

static void note_error(parser_t *p, uint32_t token) {
    if (p->error == KEEL_NONE) p->error = token;
}

// The line from `from` on, and the block behind it, which needs no header.
static uint32_t unknown(parser_t *p, uint32_t from) {
    note_error(p, p->furthest > from ? p->furthest : from);
    p->at = from;
    while (!py_is_kind(p, KEEL_PY_T_NEWLINE) && !py_is_kind(p, KEEL_PY_T_END) &&
           !py_is_kind(p, KEEL_PY_T_INDENT))
        ++p->at;
    uint32_t node = py_node(p, KEEL_PY_UNKNOWN, from);
    add_names(p, node, from);
    if (py_is_kind(p, KEEL_PY_T_NEWLINE)) ++p->at;
    if (node == KEEL_NONE || !py_is_kind(p, KEEL_PY_T_INDENT)) return node;
    ++p->at;
    py_statements(p, node, KEEL_PY_F_BODY);
    if (py_is_kind(p, KEEL_PY_T_DEDENT)) ++p->at;
    return py_end(p, node);
}

// ---- simple statements -------------------------------------------------------------------------

static bool ends_simple(const parser_t *p) {
    return py_is_kind(p, KEEL_PY_T_NEWLINE) || py_is(p, KEEL_PY_S_SEMICOLON);
}

static uint32_t with_optional(parser_t *p, uint32_t node, keel_py_field_t field,
                              uint32_t (*read)(parser_t *)) {
    if (ends_simple(p)) return node;
    return py_add(p, node, field, read(p)) ? py_end(p, node) : KEEL_NONE;
}

static uint32_t raise_statement(parser_t *p, uint32_t from) {
    uint32_t node = with_optional(p, py_node(p, KEEL_PY_RAISE, from), KEEL_PY_F_EXC, py_expression);
    if (node == KEEL_NONE || !py_take(p, KEEL_PY_S_FROM)) return node;
    return py_add(p, node, KEEL_PY_F_CAUSE, py_expression(p)) ? py_end(p, node) : KEEL_NONE;
}

static uint32_t assert_statement(parser_t *p, uint32_t from) {
    uint32_t node = py_node(p, KEEL_PY_ASSERT, from);
    if (!py_add(p, node, KEEL_PY_F_TEST, py_expression(p))) return KEEL_NONE;
    if (py_take(p, KEEL_PY_S_COMMA) && !py_add(p, node, KEEL_PY_F_MSG, py_expression(p)))
        return KEEL_NONE;
    return py_end(p, node);
}

static uint32_t delete_statement(parser_t *p, uint32_t from) {
    uint32_t node = py_node(p, KEEL_PY_DELETE, from);
    do {
        uint32_t one = py_operand(p);
        if (!py_aim(p, one, KEEL_PY_O_DEL) || !py_add(p, node, KEEL_PY_F_TARGETS, one))
            return KEEL_NONE;
    } while (py_take(p, KEEL_PY_S_COMMA) && !ends_simple(p));
    return py_end(p, node);
}

// Its names are among its tokens.
static uint32_t scope_statement(parser_t *p, keel_py_kind_t kind, uint32_t from) {
    do {
        if (py_expect_name(p) == KEEL_NONE) return KEEL_NONE;
    } while (py_take(p, KEEL_PY_S_COMMA));
    return py_node(p, kind, from);
}

static bool take_dotted(parser_t *p) {
    do {
        if (py_expect_name(p) == KEEL_NONE) return false;
    } while (py_take(p, KEEL_PY_S_DOT));
    return true;
}

static uint32_t alias(parser_t *p, bool has_dots) {
    uint32_t from = p->at;
    if (!(has_dots ? take_dotted(p) : py_expect_name(p) != KEEL_NONE)) return KEEL_NONE;
    if (py_take(p, KEEL_PY_S_AS) && py_expect_name(p) == KEEL_NONE) return KEEL_NONE;
    uint32_t node = py_node(p, KEEL_PY_ALIAS, from);
    if (node != KEEL_NONE) p->nodes[node].name = from;
    return node;
}

static uint32_t import_statement(parser_t *p, uint32_t from) {
    uint32_t node = py_node(p, KEEL_PY_IMPORT, from);
    do {
        if (!py_add(p, node, KEEL_PY_F_NAMES, alias(p, true))) return KEEL_NONE;
    } while (py_take(p, KEEL_PY_S_COMMA));
    return py_end(p, node);
}

static uint32_t star_alias(parser_t *p) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_ALIAS, from);
    if (node != KEEL_NONE) p->nodes[node].name = from;
    return node;
}

static uint32_t import_from(parser_t *p, uint32_t from) {
    uint32_t node = py_node(p, KEEL_PY_IMPORT_FROM, from);
    while (py_is(p, KEEL_PY_S_DOT) || py_is(p, KEEL_PY_S_ELLIPSIS))
        ++p->at;
    if (py_is_kind(p, KEEL_PY_T_NAME)) {
        if (node != KEEL_NONE) p->nodes[node].name = p->at;
        if (!take_dotted(p)) return KEEL_NONE;
    } else if (p->at == from + 1) {
        return py_fail(p);
    }
    if (!py_expect(p, KEEL_PY_S_IMPORT)) return KEEL_NONE;
    if (py_is(p, KEEL_PY_S_STAR))
        return py_add(p, node, KEEL_PY_F_NAMES, star_alias(p)) ? py_end(p, node) : KEEL_NONE;
    bool has_brackets = py_take(p, KEEL_PY_S_LEFT_PARENTHESIS);
    do {
        if (!py_add(p, node, KEEL_PY_F_NAMES, alias(p, false))) return KEEL_NONE;
    } while (py_take(p, KEEL_PY_S_COMMA) &&
             !(has_brackets && py_is(p, KEEL_PY_S_RIGHT_PARENTHESIS)));
    if (has_brackets && !py_expect(p, KEEL_PY_S_RIGHT_PARENTHESIS)) return KEEL_NONE;
    return py_end(p, node);
}

static keel_py_op_t augmented(const parser_t *p) {
    static const struct {
        uint8_t sign, op;
    } table[] = {
        {KEEL_PY_S_PLUS_EQUAL, KEEL_PY_O_ADD},
        {KEEL_PY_S_MINUS_EQUAL, KEEL_PY_O_SUB},
        {KEEL_PY_S_STAR_EQUAL, KEEL_PY_O_MULT},
        {KEEL_PY_S_AT_EQUAL, KEEL_PY_O_MAT_MULT},
        {KEEL_PY_S_SLASH_EQUAL, KEEL_PY_O_DIV},
        {KEEL_PY_S_PERCENT_EQUAL, KEEL_PY_O_MOD},
        {KEEL_PY_S_AND_EQUAL, KEEL_PY_O_BIT_AND},
        {KEEL_PY_S_OR_EQUAL, KEEL_PY_O_BIT_OR},
        {KEEL_PY_S_XOR_EQUAL, KEEL_PY_O_BIT_XOR},
        {KEEL_PY_S_LEFT_SHIFT_EQUAL, KEEL_PY_O_L_SHIFT},
        {KEEL_PY_S_RIGHT_SHIFT_EQUAL, KEEL_PY_O_R_SHIFT},
        {KEEL_PY_S_DOUBLE_STAR_EQUAL, KEEL_PY_O_POW},
        {KEEL_PY_S_DOUBLE_SLASH_EQUAL, KEEL_PY_O_FLOOR_DIV},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
        if (py_is(p, (keel_py_sign_t)table[i].sign)) return (keel_py_op_t)table[i].op;
    return KEEL_PY_O_NOTHING;
}

static bool is_single_target(const parser_t *p, uint32_t node) {
    unsigned kind = p->nodes[node].kind;
    return kind == KEEL_PY_NAME || kind == KEEL_PY_ATTRIBUTE || kind == KEEL_PY_SUBSCRIPT;
}

static uint32_t annotated(parser_t *p, uint32_t from, uint32_t target) {
    uint32_t node = py_node(p, KEEL_PY_ANN_ASSIGN, from);
    ++p->at;
    if (!is_single_target(p, target) || !py_aim(p, target, KEEL_PY_O_STORE) ||
        !py_add(p, node, KEEL_PY_F_TARGET, target) ||
        !py_add(p, node, KEEL_PY_F_ANNOTATION, py_expression(p)))
        return KEEL_NONE;
    if (py_take(p, KEEL_PY_S_EQUAL) && !py_add(p, node, KEEL_PY_F_VALUE, py_values(p)))
        return KEEL_NONE;
    return py_end(p, node);
}

// An expression, or an assignment of one of the three kinds.
static uint32_t expression_statement(parser_t *p) {
    uint32_t from = p->at, one = py_values(p);
    keel_py_op_t op = one == KEEL_NONE ? KEEL_PY_O_NOTHING : augmented(p);
    if (one == KEEL_NONE) return one;
    if (py_is(p, KEEL_PY_S_COLON)) return annotated(p, from, one);
    if (op) {
        uint32_t node = py_node(p, KEEL_PY_AUG_ASSIGN, from);
        ++p->at;
        if (!is_single_target(p, one) || !py_aim(p, one, KEEL_PY_O_STORE) ||
            !py_add(p, node, KEEL_PY_F_TARGET, one) ||
            !py_add(p, node, KEEL_PY_F_VALUE, py_values(p)))
            return KEEL_NONE;
        p->nodes[node].op = (uint8_t)op;
        return py_end(p, node);
    }
    bool is_assignment = py_is(p, KEEL_PY_S_EQUAL);
    uint32_t node = py_node(p, is_assignment ? KEEL_PY_ASSIGN : KEEL_PY_EXPR, from);
    while (py_take(p, KEEL_PY_S_EQUAL)) {
        if (!py_aim(p, one, KEEL_PY_O_STORE) || !py_add(p, node, KEEL_PY_F_TARGETS, one))
            return KEEL_NONE;
        one = py_values(p);
    }
    return py_add(p, node, KEEL_PY_F_VALUE, one) ? py_end(p, node) : KEEL_NONE;
}

static bool type_parameters(parser_t *p, uint32_t node);

static bool begins_type_alias(const parser_t *p) {
    return py_is_word(p, 0, "type") && py_token_after(p, 1)->kind == KEEL_PY_T_NAME &&
           (py_is_after(p, 2, KEEL_PY_S_EQUAL) || py_is_after(p, 2, KEEL_PY_S_LEFT_BRACKET));
}

static uint32_t type_alias(parser_t *p) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_TYPE_ALIAS, from), name = py_name(p);
    if (!py_aim(p, name, KEEL_PY_O_STORE) || !py_add(p, node, KEEL_PY_F_NAME_OF, name) ||
        !type_parameters(p, node) || !py_expect(p, KEEL_PY_S_EQUAL) ||
        !py_add(p, node, KEEL_PY_F_VALUE, py_expression(p)))
        return KEEL_NONE;
    return py_end(p, node);
}

static uint32_t simple(parser_t *p) {
    uint32_t from = p->at;
    if (begins_type_alias(p)) return type_alias(p);
    if (!py_is_kind(p, KEEL_PY_T_SIGN)) return expression_statement(p);
    ++p->at;
    switch (py_token_after(p, 0)[-1].sign) {
        case KEEL_PY_S_PASS:
            return py_node(p, KEEL_PY_PASS, from);
        case KEEL_PY_S_BREAK:
            return py_node(p, KEEL_PY_BREAK, from);
        case KEEL_PY_S_CONTINUE:
            return py_node(p, KEEL_PY_CONTINUE, from);
        case KEEL_PY_S_RETURN:
            return with_optional(p, py_node(p, KEEL_PY_RETURN, from), KEEL_PY_F_VALUE,
                                 py_expressions);
        case KEEL_PY_S_RAISE:
            return raise_statement(p, from);
        case KEEL_PY_S_GLOBAL:
            return scope_statement(p, KEEL_PY_GLOBAL, from);
        case KEEL_PY_S_NONLOCAL:
            return scope_statement(p, KEEL_PY_NONLOCAL, from);
        case KEEL_PY_S_DEL:
            return delete_statement(p, from);
        case KEEL_PY_S_ASSERT:
            return assert_statement(p, from);
        case KEEL_PY_S_IMPORT:
            return import_statement(p, from);
        case KEEL_PY_S_FROM:
            return import_from(p, from);
        default:
            --p->at;
            return expression_statement(p);
    }
}

// All on a line, or on what is left of it.
static void add_line(parser_t *p, uint32_t parent, keel_py_field_t field) {
    while (!p->status) {
        uint32_t from = p->at, count = p->count;
        p->furthest = from;
        uint32_t node = simple(p);
        if (node != KEEL_NONE && !ends_simple(p)) node = py_fail(p);
        if (node == KEEL_NONE) {
            if (p->status) return;
            p->count = count;
            py_add(p, parent, field, unknown(p, from));
            return;
        }
        py_add(p, parent, field, node);
        py_take(p, KEEL_PY_S_SEMICOLON);
        if (!py_is_kind(p, KEEL_PY_T_NEWLINE)) continue;
        ++p->at;
        return;
    }
}

// ---- blocks ------------------------------------------------------------------------------------

// From the colon on. False, with nothing added, if there is no block.
static bool block(parser_t *p, uint32_t node, keel_py_field_t field) {
    if (!py_expect(p, KEEL_PY_S_COLON)) return false;
    if (!py_is_kind(p, KEEL_PY_T_NEWLINE)) {
        add_line(p, node, field);
    } else {
        if (py_token_after(p, 1)->kind != KEEL_PY_T_INDENT) {
            ++p->at;
            py_fail(p);
            return false;
        }
        p->at += 2;
        py_statements(p, node, field);
        if (py_is_kind(p, KEEL_PY_T_DEDENT)) ++p->at;
    }
    return py_end(p, node) != KEEL_NONE;
}

// `else:` and its like. If it has no block, it is read as a statement of its own.
static bool arm(parser_t *p, uint32_t node, keel_py_sign_t word, keel_py_field_t field) {
    uint32_t from = p->at;
    if (!py_take(p, word)) return false;
    p->furthest = from;
    if (block(p, node, field)) return true;
    note_error(p, p->furthest);
    p->at = from;
    return false;
}

// Each `elif` is an `if` in the `else` of the one before.
static uint32_t if_statement(parser_t *p) {
    uint32_t top = KEEL_NONE, inner = KEEL_NONE;
    while (top == KEEL_NONE || py_is(p, KEEL_PY_S_ELIF)) {
        uint32_t from = p->at++, count = p->count, node = py_node(p, KEEL_PY_IF, from);
        p->furthest = from;
        if (!py_add(p, node, KEEL_PY_F_TEST, py_named_expression(p)) ||
            !block(p, node, KEEL_PY_F_BODY)) {
            if (top == KEEL_NONE || p->status) return KEEL_NONE;
            note_error(p, p->furthest);
            p->at = from;
            p->count = count;
            break;
        }
        if (top == KEEL_NONE)
            top = node;
        else
            py_add(p, inner, KEEL_PY_F_ORELSE, node);
        inner = node;
    }
    arm(p, inner, KEEL_PY_S_ELSE, KEEL_PY_F_ORELSE);
    for (uint32_t node = top; node != inner; node = p->nodes[node].last)
        p->nodes[node].end_token = p->nodes[inner].end_token;
    return top;
}

static uint32_t while_statement(parser_t *p) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_WHILE, from);
    if (!py_add(p, node, KEEL_PY_F_TEST, py_named_expression(p)) || !block(p, node, KEEL_PY_F_BODY))
        return KEEL_NONE;
    arm(p, node, KEEL_PY_S_ELSE, KEEL_PY_F_ORELSE);
    return node;
}

// `from`: where the text begins, which may be at `async`. So for the next ones.
static uint32_t for_statement(parser_t *p, uint32_t from) {
    uint32_t node = py_node(p, from == p->at ? KEEL_PY_FOR : KEEL_PY_ASYNC_FOR, from);
    ++p->at;
    if (!py_add(p, node, KEEL_PY_F_TARGET, py_targets(p)) || !py_expect(p, KEEL_PY_S_IN) ||
        !py_add(p, node, KEEL_PY_F_ITER, py_expressions(p)) || !block(p, node, KEEL_PY_F_BODY))
        return KEEL_NONE;
    arm(p, node, KEEL_PY_S_ELSE, KEEL_PY_F_ORELSE);
    return node;
}

// Items in brackets, and not an expression that is in some.
static bool has_bracketed_items(const parser_t *p) {
    uint32_t close = py_token(p)->other, at = p->at + 1;
    if (!py_is(p, KEEL_PY_S_LEFT_PARENTHESIS) || close == KEEL_NONE || at == close) return false;
    if (p->tree->tokens[close + 1].sign != KEEL_PY_S_COLON) return false;
    for (bool begins = true; at < close; ++at) {
        const keel_py_token_t *token = &p->tree->tokens[at];
        if (token->sign == KEEL_PY_S_COLON_EQUAL || token->sign == KEEL_PY_S_FOR ||
            token->sign == KEEL_PY_S_ASYNC || token->sign == KEEL_PY_S_YIELD ||
            (begins && token->sign == KEEL_PY_S_STAR))
            return false;
        begins = token->sign == KEEL_PY_S_COMMA;
        if (token->other != KEEL_NONE && token->other > at) at = token->other;
    }
    return true;
}

static uint32_t with_item(parser_t *p) {
    uint32_t from = p->at, node = py_node(p, KEEL_PY_WITH_ITEM, from);
    if (!py_add(p, node, KEEL_PY_F_CONTEXT_EXPR, py_expression(p))) return KEEL_NONE;
    if (py_take(p, KEEL_PY_S_AS)) {
        uint32_t target = py_operand(p);
        if (!py_aim(p, target, KEEL_PY_O_STORE) ||
            !py_add(p, node, KEEL_PY_F_OPTIONAL_VARS, target))
            return KEEL_NONE;
    }
    return py_end(p, node);
}

static uint32_t with_statement(parser_t *p, uint32_t from) {
    uint32_t node = py_node(p, from == p->at ? KEEL_PY_WITH : KEEL_PY_ASYNC_WITH, from);
    ++p->at;
    bool has_brackets = has_bracketed_items(p);
    p->at += has_brackets;
    do {
        if (!py_add(p, node, KEEL_PY_F_ITEMS, with_item(p))) return KEEL_NONE;
    } while (py_take(p, KEEL_PY_S_COMMA) &&
             !(has_brackets && py_is(p, KEEL_PY_S_RIGHT_PARENTHESIS)));
    if (has_brackets && !py_expect(p, KEEL_PY_S_RIGHT_PARENTHESIS)) return KEEL_NONE;
    return block(p, node, KEEL_PY_F_BODY) ? node : KEEL_NONE;
}

static uint32_t handler(parser_t *p, bool *out_star) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_EXCEPT_HANDLER, from);
    *out_star = py_take(p, KEEL_PY_S_STAR);
    if (!py_is(p, KEEL_PY_S_COLON) && !py_add(p, node, KEEL_PY_F_TYPE, py_expressions(p)))
        return KEEL_NONE;
    if (py_take(p, KEEL_PY_S_AS)) {
        uint32_t word = py_expect_name(p);
        if (node == KEEL_NONE || word == KEEL_NONE) return KEEL_NONE;
        p->nodes[node].name = word;
    }
    return block(p, node, KEEL_PY_F_BODY) ? node : KEEL_NONE;
}

static uint32_t try_statement(parser_t *p) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_TRY, from);
    bool is_star = false;
    if (!block(p, node, KEEL_PY_F_BODY)) return KEEL_NONE;
    uint32_t behind = p->at;
    while (py_is(p, KEEL_PY_S_EXCEPT)) {
        uint32_t at = p->at, count = p->count;
        p->furthest = at;
        uint32_t one = handler(p, &is_star);
        if (one == KEEL_NONE) {
            if (p->status) return KEEL_NONE;
            note_error(p, p->furthest);
            p->at = at;
            p->count = count;
            break;
        }
        py_add(p, node, KEEL_PY_F_HANDLERS, one);
        if (is_star) p->nodes[node].kind = KEEL_PY_TRY_STAR;
    }
    bool has_handler = p->at > behind;
    arm(p, node, KEEL_PY_S_ELSE, KEEL_PY_F_ORELSE);
    // A block is never read twice, so this one stays what it is.
    if (!arm(p, node, KEEL_PY_S_FINALLY, KEEL_PY_F_FINALBODY) && !has_handler) note_error(p, p->at);
    return py_end(p, node);
}

// ---- functions and classes ---------------------------------------------------------------------

static uint32_t type_parameter(parser_t *p) {
    uint32_t from = p->at;
    bool is_tuple = py_take(p, KEEL_PY_S_STAR);
    bool is_spec = !is_tuple && py_take(p, KEEL_PY_S_DOUBLE_STAR);
    uint32_t word = py_expect_name(p), node = KEEL_NONE;
    if (word != KEEL_NONE)
        node = py_node(p,
                       is_tuple  ? KEEL_PY_TYPE_VAR_TUPLE
                       : is_spec ? KEEL_PY_PARAM_SPEC
                                 : KEEL_PY_TYPE_VAR,
                       from);
    if (node == KEEL_NONE) return node;
    p->nodes[node].name = word;
    if (!is_tuple && !is_spec && py_take(p, KEEL_PY_S_COLON) &&
        !py_add(p, node, KEEL_PY_F_BOUND, py_expression(p)))
        return KEEL_NONE;
    if (py_take(p, KEEL_PY_S_EQUAL) &&
        !py_add(p, node, KEEL_PY_F_DEFAULT, is_tuple ? py_star_or_value(p) : py_expression(p)))
        return KEEL_NONE;
    return py_end(p, node);
}

static bool type_parameters(parser_t *p, uint32_t node) {
    if (!py_take(p, KEEL_PY_S_LEFT_BRACKET)) return true;
    do {
        if (!py_add(p, node, KEEL_PY_F_TYPE_PARAMS, type_parameter(p))) return false;
    } while (py_take(p, KEEL_PY_S_COMMA) && !py_is(p, KEEL_PY_S_RIGHT_BRACKET));
    return py_expect(p, KEEL_PY_S_RIGHT_BRACKET);
}

static bool function(parser_t *p, uint32_t node) {
    if (!type_parameters(p, node) || !py_expect(p, KEEL_PY_S_LEFT_PARENTHESIS) ||
        !py_add(p, node, KEEL_PY_F_ARGS, py_parameters(p, KEEL_PY_S_RIGHT_PARENTHESIS, true)) ||
        !py_expect(p, KEEL_PY_S_RIGHT_PARENTHESIS))
        return false;
    return !py_take(p, KEEL_PY_S_ARROW) || py_add(p, node, KEEL_PY_F_RETURNS, py_expression(p));
}

static bool class(parser_t *p, uint32_t node) {
    if (!type_parameters(p, node)) return false;
    uint32_t first = p->at;
    return !py_take(p, KEEL_PY_S_LEFT_PARENTHESIS) || py_arguments(p, node, KEEL_PY_F_BASES, first);
}

// With decorators, which come before its text.
static uint32_t definition(parser_t *p) {
    uint32_t node = py_node(p, KEEL_PY_FUNCTION_DEF, p->at);
    while (py_take(p, KEEL_PY_S_AT)) {
        if (!py_add(p, node, KEEL_PY_F_DECORATOR_LIST, py_named_expression(p))) return KEEL_NONE;
        if (!py_is_kind(p, KEEL_PY_T_NEWLINE)) return py_fail(p);
        ++p->at;
    }
    uint32_t from = p->at;
    bool is_async = py_take(p, KEEL_PY_S_ASYNC), is_class = !is_async && py_is(p, KEEL_PY_S_CLASS);
    if (!py_take(p, KEEL_PY_S_CLASS) && !py_expect(p, KEEL_PY_S_DEF)) return KEEL_NONE;
    uint32_t word = py_expect_name(p);
    if (node == KEEL_NONE || word == KEEL_NONE) return KEEL_NONE;
    built_t *one = &p->nodes[node];
    one->kind = is_class   ? KEEL_PY_CLASS_DEF
                : is_async ? KEEL_PY_ASYNC_FUNCTION_DEF
                           : KEEL_PY_FUNCTION_DEF;
    one->first_token = from;
    one->name = word;
    if (!(is_class ? class(p, node) : function(p, node))) return KEEL_NONE;
    return block(p, node, KEEL_PY_F_BODY) ? node : KEEL_NONE;
}

// ---- match -------------------------------------------------------------------------------------

// `match` is a keyword if its line ends with a colon and the next begins with `case`.
static bool begins_match(const parser_t *p) {
    if (!py_is_word(p, 0, "match")) return false;
    const keel_py_token_t *tokens = p->tree->tokens;
    uint32_t at = p->at + 1;
    while (tokens[at].kind != KEEL_PY_T_NEWLINE && tokens[at].kind != KEEL_PY_T_END)
        ++at;
    parser_t ahead = {.tree = p->tree, .at = at};
    return at > p->at + 2 && tokens[at - 1].sign == KEEL_PY_S_COLON &&
           py_token_after(&ahead, 1)->kind == KEEL_PY_T_INDENT && py_is_word(&ahead, 2, "case");
}

static uint32_t match_case(parser_t *p) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_MATCH_CASE, from);
    if (!py_add(p, node, KEEL_PY_F_PATTERN, py_patterns(p))) return KEEL_NONE;
    if (py_take(p, KEEL_PY_S_IF) && !py_add(p, node, KEEL_PY_F_GUARD, py_named_expression(p)))
        return KEEL_NONE;
    return block(p, node, KEEL_PY_F_BODY) ? node : KEEL_NONE;
}

static uint32_t match_statement(parser_t *p) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_MATCH, from);
    if (!py_add(p, node, KEEL_PY_F_SUBJECT, py_star_or_values(p)) || !py_expect(p, KEEL_PY_S_COLON))
        return KEEL_NONE;
    p->at += 2; // the line's end and the indent
    while (!py_is_kind(p, KEEL_PY_T_DEDENT) && !py_is_kind(p, KEEL_PY_T_END) && !p->status) {
        uint32_t at = p->at, count = p->count;
        p->furthest = at;
        uint32_t one = py_is_word(p, 0, "case") ? match_case(p) : KEEL_NONE;
        if (one == KEEL_NONE && !p->status) {
            p->count = count;
            one = unknown(p, at);
        }
        py_add(p, node, KEEL_PY_F_CASES, one);
    }
    if (py_is_kind(p, KEEL_PY_T_DEDENT)) ++p->at;
    return py_end(p, node);
}

// ---- all ---------------------------------------------------------------------------------------

// False in *out_is if no statement with a block begins here.
static uint32_t compound(parser_t *p, bool *out_is) {
    uint32_t from = p->at;
    bool is_async = py_is(p, KEEL_PY_S_ASYNC);
    *out_is = true;
    if (begins_match(p)) return match_statement(p);
    if (py_token_after(p, is_async)->kind != KEEL_PY_T_SIGN) {
        *out_is = is_async;
        return is_async ? py_fail(p) : KEEL_NONE;
    }
    switch (py_token_after(p, is_async)->sign) {
        case KEEL_PY_S_FOR:
            p->at += is_async;
            return for_statement(p, from);
        case KEEL_PY_S_WITH:
            p->at += is_async;
            return with_statement(p, from);
        case KEEL_PY_S_DEF:
            return definition(p);
        case KEEL_PY_S_IF:
            return is_async ? py_fail(p) : if_statement(p);
        case KEEL_PY_S_WHILE:
            return is_async ? py_fail(p) : while_statement(p);
        case KEEL_PY_S_TRY:
            return is_async ? py_fail(p) : try_statement(p);
        case KEEL_PY_S_CLASS:
        case KEEL_PY_S_AT:
            return is_async ? py_fail(p) : definition(p);
        default:
            *out_is = is_async;
            return is_async ? py_fail(p) : KEEL_NONE;
    }
}

void py_statements(parser_t *p, uint32_t parent, keel_py_field_t field) {
    while (!py_is_kind(p, KEEL_PY_T_DEDENT) && !py_is_kind(p, KEEL_PY_T_END) && !p->status) {
        uint32_t from = p->at, count = p->count, node = KEEL_NONE;
        bool is_compound = true;
        p->furthest = from;
        if (!py_is_kind(p, KEEL_PY_T_INDENT)) node = compound(p, &is_compound);
        if (!is_compound) {
            add_line(p, parent, field);
            continue;
        }
        if (node == KEEL_NONE && !p->status) {
            p->count = count;
            node = unknown(p, from);
        }
        py_add(p, parent, field, node);
    }
}
