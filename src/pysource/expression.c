// Expressions, from those that bind least to those that bind most, and what only stands in them:
// arguments, parameters, comprehensions, strings.
#include "pysource/parse.h"

static keel_py_sign_t sign(const parser_t *p) {
    return py_is_kind(p, KEEL_PY_T_SIGN) ? (keel_py_sign_t)py_token(p)->sign : KEEL_PY_S_NOTHING;
}

static uint32_t with_op(parser_t *p, uint32_t node, keel_py_op_t op) {
    if (node != KEEL_NONE) p->nodes[node].op = (uint8_t)op;
    return node;
}

// A node around one that was read already.
static uint32_t around(parser_t *p, keel_py_kind_t kind, uint32_t from, keel_py_field_t field,
                       uint32_t child) {
    uint32_t node = child == KEEL_NONE ? KEEL_NONE : py_node(p, kind, from);
    return py_add(p, node, field, child) ? node : KEEL_NONE;
}

uint32_t py_constant(parser_t *p, keel_py_op_t what) {
    uint32_t from = p->at++;
    return with_op(p, py_node(p, KEEL_PY_CONSTANT, from), what);
}

// ---- targets -----------------------------------------------------------------------------------

static bool aim_each(parser_t *p, uint32_t node, keel_py_op_t context) {
    for (uint32_t at = p->nodes[node].first; at != KEEL_NONE; at = p->nodes[at].next)
        if (!py_aim(p, at, context)) return false;
    return true;
}

// As deep as what was read, so its depth is bounded too.
bool py_aim(parser_t *p, uint32_t node, keel_py_op_t context) {
    if (node == KEEL_NONE) return false;
    switch (p->nodes[node].kind) {
        case KEEL_PY_STARRED:
        case KEEL_PY_TUPLE:
        case KEEL_PY_LIST:
            if (!aim_each(p, node, context)) return false;
            break;
        case KEEL_PY_NAME:
        case KEEL_PY_ATTRIBUTE:
        case KEEL_PY_SUBSCRIPT:
            break;
        default:
            py_fail(p);
            return false;
    }
    p->nodes[node].op = (uint8_t)context;
    return true;
}

static uint32_t star(parser_t *p, uint32_t (*read)(parser_t *)) {
    uint32_t from = p->at++;
    return with_op(p, around(p, KEEL_PY_STARRED, from, KEEL_PY_F_VALUE, read(p)), KEEL_PY_O_LOAD);
}

static uint32_t target(parser_t *p) {
    return py_is(p, KEEL_PY_S_STAR) ? star(p, py_operand) : py_operand(p);
}

static bool begins_expression(const parser_t *p) {
    switch (py_token(p)->kind) {
        case KEEL_PY_T_NAME:
        case KEEL_PY_T_NUMBER:
        case KEEL_PY_T_STRING:
        case KEEL_PY_T_TEXT_START:
            return true;
        case KEEL_PY_T_SIGN:
            break;
        default:
            return false;
    }
    switch (py_token(p)->sign) {
        case KEEL_PY_S_LEFT_PARENTHESIS:
        case KEEL_PY_S_LEFT_BRACKET:
        case KEEL_PY_S_LEFT_BRACE:
        case KEEL_PY_S_MINUS:
        case KEEL_PY_S_PLUS:
        case KEEL_PY_S_TILDE:
        case KEEL_PY_S_STAR:
        case KEEL_PY_S_ELLIPSIS:
        case KEEL_PY_S_NOT:
        case KEEL_PY_S_LAMBDA:
        case KEEL_PY_S_AWAIT:
        case KEEL_PY_S_NONE:
        case KEEL_PY_S_TRUE:
        case KEEL_PY_S_FALSE:
            return true;
        default:
            return false;
    }
}

// One, or a tuple of several: what `read` reads, with commas between. `from`: where the text of the
// tuple begins.
static uint32_t tuple_of(parser_t *p, uint32_t from, uint32_t first, uint32_t (*read)(parser_t *)) {
    if (first == KEEL_NONE || !py_is(p, KEEL_PY_S_COMMA)) return first;
    uint32_t tuple = around(p, KEEL_PY_TUPLE, from, KEEL_PY_F_ELTS, first);
    while (py_take(p, KEEL_PY_S_COMMA) && begins_expression(p))
        if (!py_add(p, tuple, KEEL_PY_F_ELTS, read(p))) return KEEL_NONE;
    return with_op(p, py_end(p, tuple), KEEL_PY_O_LOAD);
}

uint32_t py_targets(parser_t *p) {
    uint32_t from = p->at, node = tuple_of(p, from, target(p), target);
    return py_aim(p, node, KEEL_PY_O_STORE) ? node : KEEL_NONE;
}

// ---- comprehensions ----------------------------------------------------------------------------

static uint32_t disjunction(parser_t *p);

static bool begins_comprehension(const parser_t *p) {
    return py_is(p, KEEL_PY_S_FOR) ||
           (py_is(p, KEEL_PY_S_ASYNC) && py_is_after(p, 1, KEEL_PY_S_FOR));
}

static uint32_t comprehension(parser_t *p) {
    uint32_t from = p->at;
    bool is_async = py_take(p, KEEL_PY_S_ASYNC);
    uint32_t node = py_node(p, KEEL_PY_COMPREHENSION, from);
    if (!py_expect(p, KEEL_PY_S_FOR) || !py_add(p, node, KEEL_PY_F_TARGET, py_targets(p)) ||
        !py_expect(p, KEEL_PY_S_IN) || !py_add(p, node, KEEL_PY_F_ITER, disjunction(p)))
        return KEEL_NONE;
    while (py_take(p, KEEL_PY_S_IF))
        if (!py_add(p, node, KEEL_PY_F_IFS, disjunction(p))) return KEEL_NONE;
    return with_op(p, py_end(p, node), is_async ? KEEL_PY_O_IS_ASYNC : KEEL_PY_O_NOTHING);
}

// Up to the bracket behind it.
static uint32_t comprehensions(parser_t *p, uint32_t node, keel_py_sign_t end) {
    while (begins_comprehension(p))
        if (!py_add(p, node, KEEL_PY_F_GENERATORS, comprehension(p))) return KEEL_NONE;
    return py_expect(p, end) ? py_end(p, node) : KEEL_NONE;
}

// ---- strings -----------------------------------------------------------------------------------

// The pieces of one string: constants that stand together are one, which is left out if it is
// empty.
typedef struct pieces_t {
    uint32_t node;     // JoinedStr or TemplateStr
    uint32_t constant; // that may go on; NONE
    bool says;         // it is not empty
} pieces_t;

static bool add_constant(parser_t *p, pieces_t *pieces, uint32_t from, bool says) {
    pieces->says = pieces->says || says;
    if (pieces->constant == KEEL_NONE)
        pieces->constant = with_op(p, py_node(p, KEEL_PY_CONSTANT, from), KEEL_PY_O_STR);
    return py_end(p, pieces->constant) != KEEL_NONE;
}

static void end_constant(parser_t *p, pieces_t *pieces) {
    if (pieces->says) py_add(p, pieces->node, KEEL_PY_F_VALUES, pieces->constant);
    pieces->constant = KEEL_NONE;
    pieces->says = false;
}

static keel_py_op_t conversion(parser_t *p) {
    static const char *const words[] = {"s", "r", "a"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; ++i)
        if (py_is_word(p, 0, words[i])) {
            ++p->at;
            return (keel_py_op_t)(KEEL_PY_O_TO_STR + i);
        }
    py_fail(p);
    return KEEL_PY_O_NOTHING;
}

static bool add_pieces(parser_t *p, pieces_t *pieces, bool is_template);

// Behind its colon. Of a template too it is text as soon as the template is made.
static uint32_t format(parser_t *p) {
    pieces_t pieces = {py_node(p, KEEL_PY_JOINED_STR, p->at - 1), KEEL_NONE, false};
    if (pieces.node == KEEL_NONE || !add_pieces(p, &pieces, false)) return KEEL_NONE;
    end_constant(p, &pieces);
    return py_end(p, pieces.node);
}

// `{value = !r:format}`
static bool add_field(parser_t *p, pieces_t *pieces, bool is_template) {
    uint32_t from = p->at++, value = py_values(p);
    if (value == KEEL_NONE) return false;
    keel_py_op_t op = KEEL_PY_O_NOTHING;
    bool is_shown = py_take(p, KEEL_PY_S_EQUAL);
    if (is_shown && !add_constant(p, pieces, from, true)) return false;
    end_constant(p, pieces);
    if (py_take(p, KEEL_PY_S_EXCLAMATION)) {
        op = conversion(p);
        if (!op) return false;
    } else if (is_shown && !py_is(p, KEEL_PY_S_COLON)) {
        op = KEEL_PY_O_TO_REPR;
    }
    uint32_t node = py_node(p, is_template ? KEEL_PY_INTERPOLATION : KEEL_PY_FORMATTED_VALUE, from);
    with_op(p, node, op);
    if (!py_add(p, node, KEEL_PY_F_VALUE, value)) return false;
    if (py_take(p, KEEL_PY_S_COLON) && !py_add(p, node, KEEL_PY_F_FORMAT_SPEC, format(p)))
        return false;
    return py_expect(p, KEEL_PY_S_RIGHT_BRACE) && py_end(p, node) != KEEL_NONE &&
           py_add(p, pieces->node, KEEL_PY_F_VALUES, node);
}

// Up to the end of the string or of the format.
static bool add_pieces(parser_t *p, pieces_t *pieces, bool is_template) {
    if (!py_enter(p)) return false;
    bool is_good = true;
    for (;;) {
        if (py_is_kind(p, KEEL_PY_T_TEXT_MIDDLE)) {
            uint32_t from = p->at++;
            is_good = add_constant(p, pieces, from, true);
        } else if (py_is(p, KEEL_PY_S_LEFT_BRACE)) {
            is_good = add_field(p, pieces, is_template);
        } else {
            break;
        }
        if (!is_good) break;
    }
    py_leave(p);
    return is_good;
}

static bool has_letter(const parser_t *p, char letter) {
    keel_str_t text = keel_py_token_text(p->tree, p->at);
    for (size_t i = 0; i < text.size && text.data[i] != '"' && text.data[i] != '\''; ++i)
        if ((text.data[i] | ('a' - 'A')) == letter) return true;
    return false;
}

static bool add_with_fields(parser_t *p, pieces_t *pieces) {
    bool is_template = has_letter(p, 't');
    if (is_template) p->nodes[pieces->node].kind = KEEL_PY_TEMPLATE_STR;
    ++p->at;
    if (!add_pieces(p, pieces, is_template)) return false;
    if (py_is_kind(p, KEEL_PY_T_TEXT_END)) {
        ++p->at;
        return true;
    }
    py_fail(p);
    return false;
}

// True if nothing is between the quotes.
static bool is_empty(const parser_t *p) {
    keel_str_t text = keel_py_token_text(p->tree, p->at);
    size_t from = 0;
    while (text.data[from] != '"' && text.data[from] != '\'')
        ++from;
    return text.size - from == 2 ||
           (text.size - from == 6 && text.data[from] == text.data[from + 1]);
}

uint32_t py_string(parser_t *p) {
    uint32_t from = p->at, end = from;
    bool has_fields = false, is_bytes = has_letter(p, 'b');
    for (unsigned kind;
         (kind = p->tree->tokens[end].kind) == KEEL_PY_T_STRING || kind == KEEL_PY_T_TEXT_START;) {
        has_fields = has_fields || kind == KEEL_PY_T_TEXT_START;
        uint32_t other = p->tree->tokens[end].other;
        end = (kind == KEEL_PY_T_STRING ? end : other) + 1;
        if (other == KEEL_NONE && kind == KEEL_PY_T_TEXT_START) break;
    }
    if (!has_fields) {
        p->at = end;
        return with_op(p, py_node(p, KEEL_PY_CONSTANT, from),
                       is_bytes ? KEEL_PY_O_BYTES : KEEL_PY_O_STR);
    }
    pieces_t pieces = {py_node(p, KEEL_PY_JOINED_STR, from), KEEL_NONE, false};
    while (pieces.node != KEEL_NONE) {
        bool is_good = true;
        uint32_t first = p->at;
        if (py_is_kind(p, KEEL_PY_T_TEXT_START)) {
            is_good = add_with_fields(p, &pieces);
        } else if (py_is_kind(p, KEEL_PY_T_STRING)) {
            bool says = !is_empty(p);
            ++p->at;
            is_good = add_constant(p, &pieces, first, says);
        } else {
            break;
        }
        if (!is_good) return KEEL_NONE;
    }
    end_constant(p, &pieces);
    return py_end(p, pieces.node);
}

// ---- atoms -------------------------------------------------------------------------------------

uint32_t py_star_or_value(parser_t *p) {
    return py_is(p, KEEL_PY_S_STAR) ? star(p, py_operand) : py_named_expression(p);
}

uint32_t py_name(parser_t *p) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_NAME, from);
    if (node == KEEL_NONE) return node;
    p->nodes[node].name = from;
    return with_op(p, node, KEEL_PY_O_LOAD);
}

// `(x)`, `(x, y)`, `(x for x in y)`, `(yield)`
static uint32_t group(parser_t *p) {
    uint32_t from = p->at++;
    if (py_take(p, KEEL_PY_S_RIGHT_PARENTHESIS))
        return with_op(p, py_node(p, KEEL_PY_TUPLE, from), KEEL_PY_O_LOAD);
    if (py_is(p, KEEL_PY_S_YIELD)) {
        uint32_t node = py_values(p);
        return py_expect(p, KEEL_PY_S_RIGHT_PARENTHESIS) ? node : KEEL_NONE;
    }
    uint32_t node = py_star_or_value(p);
    if (node == KEEL_NONE) return node;
    if (begins_comprehension(p))
        return comprehensions(p, around(p, KEEL_PY_GENERATOR_EXP, from, KEEL_PY_F_ELT, node),
                              KEEL_PY_S_RIGHT_PARENTHESIS);
    bool is_tuple = py_is(p, KEEL_PY_S_COMMA);
    if (!is_tuple && p->nodes[node].kind == KEEL_PY_STARRED) return py_fail(p);
    node = tuple_of(p, from, node, py_star_or_value);
    if (!py_expect(p, KEEL_PY_S_RIGHT_PARENTHESIS)) return KEEL_NONE;
    return is_tuple ? py_end(p, node) : node;
}

static uint32_t list(parser_t *p) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_LIST, from);
    with_op(p, node, KEEL_PY_O_LOAD);
    while (!py_is(p, KEEL_PY_S_RIGHT_BRACKET)) {
        uint32_t one = py_star_or_value(p);
        if (one == KEEL_NONE) return one;
        if (p->nodes[node].first == KEEL_NONE && begins_comprehension(p))
            return comprehensions(p, around(p, KEEL_PY_LIST_COMP, from, KEEL_PY_F_ELT, one),
                                  KEEL_PY_S_RIGHT_BRACKET);
        if (!py_add(p, node, KEEL_PY_F_ELTS, one)) return KEEL_NONE;
        if (!py_take(p, KEEL_PY_S_COMMA)) break;
    }
    return py_expect(p, KEEL_PY_S_RIGHT_BRACKET) ? py_end(p, node) : KEEL_NONE;
}

static uint32_t set(parser_t *p, uint32_t from, uint32_t one) {
    if (one == KEEL_NONE) return one;
    if (begins_comprehension(p))
        return comprehensions(p, around(p, KEEL_PY_SET_COMP, from, KEEL_PY_F_ELT, one),
                              KEEL_PY_S_RIGHT_BRACE);
    uint32_t node = around(p, KEEL_PY_SET, from, KEEL_PY_F_ELTS, one);
    while (py_take(p, KEEL_PY_S_COMMA) && !py_is(p, KEEL_PY_S_RIGHT_BRACE))
        if (!py_add(p, node, KEEL_PY_F_ELTS, py_star_or_value(p))) return KEEL_NONE;
    return py_expect(p, KEEL_PY_S_RIGHT_BRACE) ? py_end(p, node) : KEEL_NONE;
}

// `{}`, `{x: y, **z}`, `{x: y for ...}`, `{x, y}`
static uint32_t dict(parser_t *p) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_DICT, from);
    while (!py_is(p, KEEL_PY_S_RIGHT_BRACE)) {
        bool is_first = node != KEEL_NONE && p->nodes[node].first == KEEL_NONE;
        if (py_take(p, KEEL_PY_S_DOUBLE_STAR)) {
            if (!py_add(p, node, KEEL_PY_F_VALUES, py_operand(p))) return KEEL_NONE;
        } else {
            uint32_t key = py_star_or_value(p), value;
            if (is_first && key != KEEL_NONE && !py_is(p, KEEL_PY_S_COLON))
                return set(p, from, key);
            if (key == KEEL_NONE || !py_expect(p, KEEL_PY_S_COLON)) return KEEL_NONE;
            value = py_expression(p);
            if (is_first && value != KEEL_NONE && begins_comprehension(p)) {
                node = around(p, KEEL_PY_DICT_COMP, from, KEEL_PY_F_KEY, key);
                if (!py_add(p, node, KEEL_PY_F_VALUE, value)) return KEEL_NONE;
                return comprehensions(p, node, KEEL_PY_S_RIGHT_BRACE);
            }
            if (!py_add(p, node, KEEL_PY_F_KEYS, key) || !py_add(p, node, KEEL_PY_F_VALUES, value))
                return KEEL_NONE;
        }
        if (!py_take(p, KEEL_PY_S_COMMA)) break;
    }
    return py_expect(p, KEEL_PY_S_RIGHT_BRACE) ? py_end(p, node) : KEEL_NONE;
}

static uint32_t atom(parser_t *p) {
    switch (py_token(p)->kind) {
        case KEEL_PY_T_NAME:
            return py_name(p);
        case KEEL_PY_T_NUMBER:
            return py_constant(p, KEEL_PY_O_NUMBER);
        case KEEL_PY_T_STRING:
        case KEEL_PY_T_TEXT_START:
            return py_string(p);
        default:
            break;
    }
    switch (sign(p)) {
        case KEEL_PY_S_LEFT_PARENTHESIS:
            return group(p);
        case KEEL_PY_S_LEFT_BRACKET:
            return list(p);
        case KEEL_PY_S_LEFT_BRACE:
            return dict(p);
        case KEEL_PY_S_NONE:
            return py_constant(p, KEEL_PY_O_NONE);
        case KEEL_PY_S_TRUE:
            return py_constant(p, KEEL_PY_O_TRUE);
        case KEEL_PY_S_FALSE:
            return py_constant(p, KEEL_PY_O_FALSE);
        case KEEL_PY_S_ELLIPSIS:
            return py_constant(p, KEEL_PY_O_ELLIPSIS);
        default:
            return py_fail(p);
    }
}

// ---- calls, attributes, subscripts -------------------------------------------------------------

static uint32_t keyword(parser_t *p) {
    uint32_t from = p->at, word = KEEL_NONE;
    if (!py_take(p, KEEL_PY_S_DOUBLE_STAR)) {
        word = p->at;
        p->at += 2; // the name and `=`
    }
    uint32_t node = around(p, KEEL_PY_KEYWORD, from, KEEL_PY_F_VALUE, py_expression(p));
    if (node != KEEL_NONE) p->nodes[node].name = word;
    return node;
}

bool py_arguments(parser_t *p, uint32_t node, keel_py_field_t field, uint32_t first) {
    bool any = false;
    while (!py_is(p, KEEL_PY_S_RIGHT_PARENTHESIS)) {
        bool is_named = py_is_kind(p, KEEL_PY_T_NAME) && py_is_after(p, 1, KEEL_PY_S_EQUAL);
        uint32_t one;
        if (is_named || py_is(p, KEEL_PY_S_DOUBLE_STAR)) {
            if (!py_add(p, node, KEEL_PY_F_KEYWORDS, keyword(p))) return false;
        } else if (py_is(p, KEEL_PY_S_STAR)) {
            if (!py_add(p, node, field, star(p, py_expression))) return false;
        } else {
            one = py_named_expression(p);
            if (one != KEEL_NONE && begins_comprehension(p) && !any) {
                // The only argument has the brackets of the call.
                one = around(p, KEEL_PY_GENERATOR_EXP, first, KEEL_PY_F_ELT, one);
                return py_add(p, node, field, comprehensions(p, one, KEEL_PY_S_RIGHT_PARENTHESIS));
            }
            if (!py_add(p, node, field, one)) return false;
        }
        any = true;
        if (!py_take(p, KEEL_PY_S_COMMA)) break;
    }
    return py_expect(p, KEEL_PY_S_RIGHT_PARENTHESIS);
}

static uint32_t call(parser_t *p, uint32_t from, uint32_t of) {
    uint32_t first = p->at, node = around(p, KEEL_PY_CALL, from, KEEL_PY_F_FUNC, of);
    ++p->at;
    return node != KEEL_NONE && py_arguments(p, node, KEEL_PY_F_ARGS, first) ? py_end(p, node)
                                                                             : KEEL_NONE;
}

static bool ends_slice(const parser_t *p) {
    return py_is(p, KEEL_PY_S_COLON) || py_is(p, KEEL_PY_S_COMMA) ||
           py_is(p, KEEL_PY_S_RIGHT_BRACKET);
}

// `x`, `*x`, `a:b:c`
static uint32_t slice(parser_t *p) {
    uint32_t from = p->at, lower = KEEL_NONE;
    if (py_is(p, KEEL_PY_S_STAR)) return star(p, py_expression);
    if (!py_is(p, KEEL_PY_S_COLON)) {
        lower = py_named_expression(p);
        if (lower == KEEL_NONE || !py_is(p, KEEL_PY_S_COLON)) return lower;
    }
    uint32_t node = py_node(p, KEEL_PY_SLICE, from);
    if (lower != KEEL_NONE && !py_add(p, node, KEEL_PY_F_LOWER, lower)) return KEEL_NONE;
    ++p->at;
    if (!ends_slice(p) && !py_add(p, node, KEEL_PY_F_UPPER, py_expression(p))) return KEEL_NONE;
    if (py_take(p, KEEL_PY_S_COLON) && !ends_slice(p) &&
        !py_add(p, node, KEEL_PY_F_STEP, py_expression(p)))
        return KEEL_NONE;
    return py_end(p, node);
}

static uint32_t subscript(parser_t *p, uint32_t from, uint32_t of) {
    uint32_t node = around(p, KEEL_PY_SUBSCRIPT, from, KEEL_PY_F_VALUE, of);
    ++p->at;
    uint32_t first = p->at, one = slice(p);
    if (one == KEEL_NONE) return one;
    if (py_is(p, KEEL_PY_S_COMMA) || p->nodes[one].kind == KEEL_PY_STARRED) {
        one = around(p, KEEL_PY_TUPLE, first, KEEL_PY_F_ELTS, one);
        while (py_take(p, KEEL_PY_S_COMMA) && !py_is(p, KEEL_PY_S_RIGHT_BRACKET))
            if (!py_add(p, one, KEEL_PY_F_ELTS, slice(p))) return KEEL_NONE;
        with_op(p, py_end(p, one), KEEL_PY_O_LOAD);
    }
    if (!py_add(p, node, KEEL_PY_F_SLICE_OF, one) || !py_expect(p, KEEL_PY_S_RIGHT_BRACKET))
        return KEEL_NONE;
    return with_op(p, py_end(p, node), KEEL_PY_O_LOAD);
}

static uint32_t attribute(parser_t *p, uint32_t from, uint32_t of) {
    uint32_t node = around(p, KEEL_PY_ATTRIBUTE, from, KEEL_PY_F_VALUE, of);
    ++p->at;
    uint32_t word = py_expect_name(p);
    if (node == KEEL_NONE || word == KEEL_NONE) return KEEL_NONE;
    p->nodes[node].name = word;
    return with_op(p, py_end(p, node), KEEL_PY_O_LOAD);
}

static uint32_t primary(parser_t *p) {
    uint32_t from = p->at, node = atom(p);
    while (node != KEEL_NONE) {
        if (py_is(p, KEEL_PY_S_DOT))
            node = attribute(p, from, node);
        else if (py_is(p, KEEL_PY_S_LEFT_PARENTHESIS))
            node = call(p, from, node);
        else if (py_is(p, KEEL_PY_S_LEFT_BRACKET))
            node = subscript(p, from, node);
        else
            break;
    }
    return node;
}

// ---- operators ---------------------------------------------------------------------------------

typedef struct binary_t {
    uint8_t sign, op, binds;
} binary_t;

enum { BIT_OR = 1, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT };

static const binary_t *binary_of(const parser_t *p) {
    static const binary_t table[] = {
        {KEEL_PY_S_OR_SIGN, KEEL_PY_O_BIT_OR, BIT_OR},
        {KEEL_PY_S_XOR_SIGN, KEEL_PY_O_BIT_XOR, BIT_XOR},
        {KEEL_PY_S_AND_SIGN, KEEL_PY_O_BIT_AND, BIT_AND},
        {KEEL_PY_S_LEFT_SHIFT, KEEL_PY_O_L_SHIFT, SHIFT},
        {KEEL_PY_S_RIGHT_SHIFT, KEEL_PY_O_R_SHIFT, SHIFT},
        {KEEL_PY_S_PLUS, KEEL_PY_O_ADD, SUM},
        {KEEL_PY_S_MINUS, KEEL_PY_O_SUB, SUM},
        {KEEL_PY_S_STAR, KEEL_PY_O_MULT, PRODUCT},
        {KEEL_PY_S_SLASH, KEEL_PY_O_DIV, PRODUCT},
        {KEEL_PY_S_DOUBLE_SLASH, KEEL_PY_O_FLOOR_DIV, PRODUCT},
        {KEEL_PY_S_PERCENT, KEEL_PY_O_MOD, PRODUCT},
        {KEEL_PY_S_AT, KEEL_PY_O_MAT_MULT, PRODUCT},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
        if (table[i].sign == sign(p)) return &table[i];
    return NULL;
}

static uint32_t factor(parser_t *p);

// What is awaited, and `x ** y`, which binds more than a sign before x and less than one before y.
static uint32_t power(parser_t *p) {
    uint32_t from = p->at;
    bool is_awaited = py_take(p, KEEL_PY_S_AWAIT);
    uint32_t node = primary(p);
    if (is_awaited) node = around(p, KEEL_PY_AWAIT, from, KEEL_PY_F_VALUE, node);
    if (node == KEEL_NONE || !py_take(p, KEEL_PY_S_DOUBLE_STAR)) return node;
    node = with_op(p, around(p, KEEL_PY_BIN_OP, from, KEEL_PY_F_LEFT, node), KEEL_PY_O_POW);
    return py_add(p, node, KEEL_PY_F_RIGHT, factor(p)) ? py_end(p, node) : KEEL_NONE;
}

static uint32_t factor(parser_t *p) {
    uint32_t from = p->at, node;
    keel_py_op_t op = py_is(p, KEEL_PY_S_MINUS)   ? KEEL_PY_O_U_SUB
                      : py_is(p, KEEL_PY_S_PLUS)  ? KEEL_PY_O_U_ADD
                      : py_is(p, KEEL_PY_S_TILDE) ? KEEL_PY_O_INVERT
                                                  : KEEL_PY_O_NOTHING;
    if (!py_enter(p)) return KEEL_NONE;
    if (op) {
        ++p->at;
        node = with_op(p, around(p, KEEL_PY_UNARY_OP, from, KEEL_PY_F_OPERAND, factor(p)), op);
    } else {
        node = power(p);
    }
    py_leave(p);
    return node;
}

// Operators that bind at least so much.
static uint32_t binary(parser_t *p, unsigned least) {
    uint32_t from = p->at, node = factor(p);
    for (const binary_t *is; node != KEEL_NONE && (is = binary_of(p)) && is->binds >= least;) {
        node =
            with_op(p, around(p, KEEL_PY_BIN_OP, from, KEEL_PY_F_LEFT, node), (keel_py_op_t)is->op);
        ++p->at;
        if (!py_add(p, node, KEEL_PY_F_RIGHT, binary(p, is->binds + 1U))) return KEEL_NONE;
        py_end(p, node);
    }
    return node;
}

uint32_t py_operand(parser_t *p) {
    return binary(p, BIT_OR);
}

static keel_py_op_t comparison_of(const parser_t *p, uint32_t *out_tokens) {
    *out_tokens = 1;
    switch (sign(p)) {
        case KEEL_PY_S_DOUBLE_EQUAL:
            return KEEL_PY_O_EQ;
        case KEEL_PY_S_NOT_EQUAL:
            return KEEL_PY_O_NOT_EQ;
        case KEEL_PY_S_LESS:
            return KEEL_PY_O_LT;
        case KEEL_PY_S_LESS_EQUAL:
            return KEEL_PY_O_LT_E;
        case KEEL_PY_S_GREATER:
            return KEEL_PY_O_GT;
        case KEEL_PY_S_GREATER_EQUAL:
            return KEEL_PY_O_GT_E;
        case KEEL_PY_S_IN:
            return KEEL_PY_O_IN;
        case KEEL_PY_S_IS:
            if (!py_is_after(p, 1, KEEL_PY_S_NOT)) return KEEL_PY_O_IS;
            *out_tokens = 2;
            return KEEL_PY_O_IS_NOT;
        case KEEL_PY_S_NOT:
            *out_tokens = 2;
            return py_is_after(p, 1, KEEL_PY_S_IN) ? KEEL_PY_O_NOT_IN : KEEL_PY_O_NOTHING;
        default:
            return KEEL_PY_O_NOTHING;
    }
}

static uint32_t comparison(parser_t *p) {
    uint32_t from = p->at, node = py_operand(p), tokens;
    keel_py_op_t op;
    if (node == KEEL_NONE || !comparison_of(p, &tokens)) return node;
    node = around(p, KEEL_PY_COMPARE, from, KEEL_PY_F_LEFT, node);
    while ((op = comparison_of(p, &tokens))) {
        uint32_t first = p->at;
        p->at += tokens;
        if (!py_add(p, node, KEEL_PY_F_OPS, with_op(p, py_node(p, KEEL_PY_OPERATOR, first), op)) ||
            !py_add(p, node, KEEL_PY_F_COMPARATORS, py_operand(p)))
            return KEEL_NONE;
    }
    return py_end(p, node);
}

static uint32_t inversion(parser_t *p) {
    uint32_t from = p->at;
    if (!py_is(p, KEEL_PY_S_NOT)) return comparison(p);
    if (!py_enter(p)) return KEEL_NONE;
    ++p->at;
    uint32_t node = around(p, KEEL_PY_UNARY_OP, from, KEEL_PY_F_OPERAND, inversion(p));
    py_leave(p);
    return with_op(p, node, KEEL_PY_O_NOT);
}

static uint32_t all_of(parser_t *p, keel_py_sign_t between, keel_py_op_t op,
                       uint32_t (*read)(parser_t *)) {
    uint32_t from = p->at, node = read(p);
    if (node == KEEL_NONE || !py_is(p, between)) return node;
    node = with_op(p, around(p, KEEL_PY_BOOL_OP, from, KEEL_PY_F_VALUES, node), op);
    while (py_take(p, between))
        if (!py_add(p, node, KEEL_PY_F_VALUES, read(p))) return KEEL_NONE;
    return py_end(p, node);
}

static uint32_t conjunction(parser_t *p) {
    return all_of(p, KEEL_PY_S_AND, KEEL_PY_O_AND, inversion);
}

static uint32_t disjunction(parser_t *p) {
    return all_of(p, KEEL_PY_S_OR, KEEL_PY_O_OR, conjunction);
}

// ---- expressions -------------------------------------------------------------------------------

static uint32_t lambda(parser_t *p) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_LAMBDA, from);
    if (!py_add(p, node, KEEL_PY_F_ARGS, py_parameters(p, KEEL_PY_S_COLON, false)) ||
        !py_expect(p, KEEL_PY_S_COLON) || !py_add(p, node, KEEL_PY_F_BODY, py_expression(p)))
        return KEEL_NONE;
    return py_end(p, node);
}

static uint32_t choice(parser_t *p) {
    uint32_t from = p->at, node = disjunction(p);
    if (node == KEEL_NONE || !py_take(p, KEEL_PY_S_IF)) return node;
    node = around(p, KEEL_PY_IF_EXP, from, KEEL_PY_F_BODY, node);
    if (!py_add(p, node, KEEL_PY_F_TEST, disjunction(p)) || !py_expect(p, KEEL_PY_S_ELSE) ||
        !py_add(p, node, KEEL_PY_F_ORELSE, py_expression(p)))
        return KEEL_NONE;
    return py_end(p, node);
}

uint32_t py_expression(parser_t *p) {
    if (!py_enter(p)) return KEEL_NONE;
    uint32_t node = py_is(p, KEEL_PY_S_LAMBDA) ? lambda(p) : choice(p);
    py_leave(p);
    return node;
}

uint32_t py_named_expression(parser_t *p) {
    uint32_t from = p->at;
    if (!py_is_kind(p, KEEL_PY_T_NAME) || !py_is_after(p, 1, KEEL_PY_S_COLON_EQUAL))
        return py_expression(p);
    uint32_t aimed = with_op(p, py_name(p), KEEL_PY_O_STORE);
    ++p->at;
    uint32_t node = around(p, KEEL_PY_NAMED_EXPR, from, KEEL_PY_F_TARGET, aimed);
    return py_add(p, node, KEEL_PY_F_VALUE, py_expression(p)) ? py_end(p, node) : KEEL_NONE;
}

static uint32_t star_or_expression(parser_t *p) {
    return py_is(p, KEEL_PY_S_STAR) ? star(p, py_operand) : py_expression(p);
}

uint32_t py_expressions(parser_t *p) {
    uint32_t from = p->at;
    return tuple_of(p, from, star_or_expression(p), star_or_expression);
}

uint32_t py_star_or_values(parser_t *p) {
    uint32_t from = p->at;
    return tuple_of(p, from, py_star_or_value(p), py_star_or_value);
}

uint32_t py_values(parser_t *p) {
    uint32_t from = p->at;
    if (!py_take(p, KEEL_PY_S_YIELD)) return py_expressions(p);
    if (py_take(p, KEEL_PY_S_FROM))
        return around(p, KEEL_PY_YIELD_FROM, from, KEEL_PY_F_VALUE, py_expression(p));
    return begins_expression(p) ? around(p, KEEL_PY_YIELD, from, KEEL_PY_F_VALUE, py_expressions(p))
                                : py_node(p, KEEL_PY_YIELD, from);
}

// ---- parameters --------------------------------------------------------------------------------

static uint32_t star_annotation(parser_t *p) {
    return py_is(p, KEEL_PY_S_STAR) ? star(p, py_operand) : py_expression(p);
}

static uint32_t parameter(parser_t *p, bool has_annotations) {
    uint32_t from = p->at, word = py_expect_name(p);
    uint32_t node = word == KEEL_NONE ? word : py_node(p, KEEL_PY_ARG, from);
    if (node == KEEL_NONE) return node;
    p->nodes[node].name = word;
    if (has_annotations && py_take(p, KEEL_PY_S_COLON)) {
        if (!py_add(p, node, KEEL_PY_F_ANNOTATION, star_annotation(p))) return KEEL_NONE;
        py_end(p, node);
    }
    if (py_take(p, KEEL_PY_S_EQUAL) && !py_add(p, node, KEEL_PY_F_DEFAULT, py_expression(p)))
        return KEEL_NONE;
    return node;
}

uint32_t py_parameters(parser_t *p, keel_py_sign_t end, bool has_annotations) {
    uint32_t node = py_node(p, KEEL_PY_ARGUMENTS, p->at);
    keel_py_field_t field = KEEL_PY_F_ARGS;
    while (node != KEEL_NONE && !py_is(p, end)) {
        if (py_take(p, KEEL_PY_S_SLASH)) {
            for (uint32_t at = p->nodes[node].first; at != KEEL_NONE; at = p->nodes[at].next)
                p->nodes[at].field = KEEL_PY_F_POSONLYARGS;
        } else if (py_take(p, KEEL_PY_S_STAR)) {
            field = KEEL_PY_F_KWONLYARGS;
            if (!py_is(p, KEEL_PY_S_COMMA) &&
                !py_add(p, node, KEEL_PY_F_VARARG, parameter(p, has_annotations)))
                return KEEL_NONE;
        } else {
            bool is_rest = py_take(p, KEEL_PY_S_DOUBLE_STAR);
            if (!py_add(p, node, is_rest ? KEEL_PY_F_KWARG : field, parameter(p, has_annotations)))
                return KEEL_NONE;
        }
        if (!py_take(p, KEEL_PY_S_COMMA)) break;
    }
    return py_end(p, node);
}
