// What stands behind `case`.
#include "pysource/parse.h"

static uint32_t pattern(parser_t *p);

static uint32_t named(parser_t *p, keel_py_kind_t kind, uint32_t from, uint32_t word) {
    uint32_t node = py_node(p, kind, from);
    bool says = word != KEEL_NONE && !keel_str_is(keel_py_token_text(p->tree, word), "_");
    if (node != KEEL_NONE && says) p->nodes[node].name = word;
    return node;
}

static uint32_t star(parser_t *p) {
    uint32_t from = p->at++, word = py_expect_name(p);
    return word == KEEL_NONE ? word : named(p, KEEL_PY_MATCH_STAR, from, word);
}

static uint32_t star_or_pattern(parser_t *p) {
    return py_is(p, KEEL_PY_S_STAR) ? star(p) : pattern(p);
}

static uint32_t value_of(parser_t *p, uint32_t from, uint32_t value) {
    uint32_t node = value == KEEL_NONE ? value : py_node(p, KEEL_PY_MATCH_VALUE, from);
    return py_add(p, node, KEEL_PY_F_VALUE, value) ? node : KEEL_NONE;
}

// `a`, `a.b.c`, as an expression.
static uint32_t dotted(parser_t *p) {
    uint32_t from = p->at, word = py_expect_name(p);
    uint32_t node = word == KEEL_NONE ? word : py_node(p, KEEL_PY_NAME, from);
    while (node != KEEL_NONE) {
        p->nodes[node].name = word;
        p->nodes[node].op = KEEL_PY_O_LOAD;
        if (!py_take(p, KEEL_PY_S_DOT)) break;
        word = py_expect_name(p);
        uint32_t outer = word == KEEL_NONE ? word : py_node(p, KEEL_PY_ATTRIBUTE, from);
        node = py_add(p, outer, KEEL_PY_F_VALUE, node) ? outer : KEEL_NONE;
    }
    return node;
}

static uint32_t singleton(parser_t *p, keel_py_op_t what) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_MATCH_SINGLETON, from);
    if (node != KEEL_NONE) p->nodes[node].op = (uint8_t)what;
    return node;
}

static uint32_t number(parser_t *p) {
    return py_is_kind(p, KEEL_PY_T_NUMBER) ? py_constant(p, KEEL_PY_O_NUMBER) : py_fail(p);
}

static uint32_t signed_number(parser_t *p) {
    uint32_t from = p->at;
    if (!py_take(p, KEEL_PY_S_MINUS)) return number(p);
    uint32_t of = number(p), node = of == KEEL_NONE ? of : py_node(p, KEEL_PY_UNARY_OP, from);
    if (!py_add(p, node, KEEL_PY_F_OPERAND, of)) return KEEL_NONE;
    p->nodes[node].op = KEEL_PY_O_U_SUB;
    return node;
}

static bool begins_literal(const parser_t *p) {
    return py_is_kind(p, KEEL_PY_T_NUMBER) || py_is_kind(p, KEEL_PY_T_STRING) ||
           py_is(p, KEEL_PY_S_MINUS);
}

// `-1`, `1 + 2j`, a string
static uint32_t literal(parser_t *p) {
    uint32_t from = p->at;
    if (py_is_kind(p, KEEL_PY_T_STRING)) return py_string(p);
    uint32_t one = signed_number(p);
    bool is_sum = py_is(p, KEEL_PY_S_PLUS), is_difference = py_is(p, KEEL_PY_S_MINUS);
    if (one == KEEL_NONE || !(is_sum || is_difference)) return one;
    ++p->at;
    uint32_t other = number(p),
             node = other == KEEL_NONE ? other : py_node(p, KEEL_PY_BIN_OP, from);
    if (!py_add(p, node, KEEL_PY_F_LEFT, one) || !py_add(p, node, KEEL_PY_F_RIGHT, other))
        return KEEL_NONE;
    p->nodes[node].op = is_sum ? KEEL_PY_O_ADD : KEEL_PY_O_SUB;
    return node;
}

// Up to the bracket that `end` is, or to what ends the patterns if it is none. Gives how many there
// are in *out_count, and whether a comma was among them.
static bool add_patterns(parser_t *p, uint32_t node, keel_py_sign_t end, uint32_t *out_count,
                         bool *out_comma) {
    *out_comma = false;
    for (*out_count = 0; !py_is(p, end); ++*out_count) {
        if (end == KEEL_PY_S_COLON && py_is(p, KEEL_PY_S_IF)) break;
        if (!py_add(p, node, KEEL_PY_F_PATTERNS, star_or_pattern(p))) return false;
        if (!py_take(p, KEEL_PY_S_COMMA)) {
            ++*out_count;
            break;
        }
        *out_comma = true;
    }
    return true;
}

// `[...]`, `(...)`, and a pattern in brackets, which is that pattern.
static uint32_t sequence(parser_t *p) {
    bool is_list = py_is(p, KEEL_PY_S_LEFT_BRACKET), has_comma;
    keel_py_sign_t end = is_list ? KEEL_PY_S_RIGHT_BRACKET : KEEL_PY_S_RIGHT_PARENTHESIS;
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_MATCH_SEQUENCE, from), count;
    if (node == KEEL_NONE || !add_patterns(p, node, end, &count, &has_comma) || !py_expect(p, end))
        return KEEL_NONE;
    uint32_t only = p->nodes[node].first;
    if (is_list || has_comma || count != 1 || p->nodes[only].kind == KEEL_PY_MATCH_STAR)
        return py_end(p, node);
    return only;
}

// A literal, None and its like, or a dotted name.
static uint32_t mapping_key(parser_t *p) {
    if (py_is(p, KEEL_PY_S_NONE)) return py_constant(p, KEEL_PY_O_NONE);
    if (py_is(p, KEEL_PY_S_TRUE)) return py_constant(p, KEEL_PY_O_TRUE);
    if (py_is(p, KEEL_PY_S_FALSE)) return py_constant(p, KEEL_PY_O_FALSE);
    return begins_literal(p) ? literal(p) : dotted(p);
}

static uint32_t mapping(parser_t *p) {
    uint32_t from = p->at++, node = py_node(p, KEEL_PY_MATCH_MAPPING, from);
    while (node != KEEL_NONE && !py_is(p, KEEL_PY_S_RIGHT_BRACE)) {
        if (py_take(p, KEEL_PY_S_DOUBLE_STAR)) {
            uint32_t word = py_expect_name(p);
            if (word == KEEL_NONE) return word;
            p->nodes[node].name = word;
        } else {
            uint32_t key = mapping_key(p);
            if (!py_add(p, node, KEEL_PY_F_KEYS, key) || !py_expect(p, KEEL_PY_S_COLON) ||
                !py_add(p, node, KEEL_PY_F_PATTERNS, pattern(p)))
                return KEEL_NONE;
        }
        if (!py_take(p, KEEL_PY_S_COMMA)) break;
    }
    return py_expect(p, KEEL_PY_S_RIGHT_BRACE) ? py_end(p, node) : KEEL_NONE;
}

static uint32_t keyword(parser_t *p) {
    uint32_t from = p->at, node;
    p->at += 2; // the name and `=`
    uint32_t one = pattern(p);
    node = one == KEEL_NONE ? one : py_node(p, KEEL_PY_KEYWORD, from);
    if (node != KEEL_NONE) p->nodes[node].name = from;
    return py_add(p, node, KEEL_PY_F_PATTERN, one) ? node : KEEL_NONE;
}

// Behind the name of the class.
static uint32_t class_of(parser_t *p, uint32_t from, uint32_t name) {
    uint32_t node = py_node(p, KEEL_PY_MATCH_CLASS, from);
    ++p->at;
    if (!py_add(p, node, KEEL_PY_F_CLS, name)) return KEEL_NONE;
    while (!py_is(p, KEEL_PY_S_RIGHT_PARENTHESIS)) {
        bool is_named = py_is_kind(p, KEEL_PY_T_NAME) && py_is_after(p, 1, KEEL_PY_S_EQUAL);
        if (!(is_named ? py_add(p, node, KEEL_PY_F_KEYWORDS, keyword(p))
                       : py_add(p, node, KEEL_PY_F_PATTERNS, pattern(p))))
            return KEEL_NONE;
        if (!py_take(p, KEEL_PY_S_COMMA)) break;
    }
    return py_expect(p, KEEL_PY_S_RIGHT_PARENTHESIS) ? py_end(p, node) : KEEL_NONE;
}

static uint32_t name_or_class(parser_t *p) {
    uint32_t from = p->at;
    bool is_class = py_is_after(p, 1, KEEL_PY_S_LEFT_PARENTHESIS);
    if (!py_is_after(p, 1, KEEL_PY_S_DOT) && !is_class) {
        ++p->at;
        return named(p, KEEL_PY_MATCH_AS, from, from);
    }
    uint32_t name = dotted(p);
    if (name == KEEL_NONE) return name;
    return py_is(p, KEEL_PY_S_LEFT_PARENTHESIS) ? class_of(p, from, name) : value_of(p, from, name);
}

static uint32_t closed(parser_t *p) {
    uint32_t from = p->at;
    if (begins_literal(p)) return value_of(p, from, literal(p));
    if (py_is_kind(p, KEEL_PY_T_NAME)) return name_or_class(p);
    if (!py_is_kind(p, KEEL_PY_T_SIGN)) return py_fail(p);
    switch (py_token(p)->sign) {
        case KEEL_PY_S_NONE:
            return singleton(p, KEEL_PY_O_NONE);
        case KEEL_PY_S_TRUE:
            return singleton(p, KEEL_PY_O_TRUE);
        case KEEL_PY_S_FALSE:
            return singleton(p, KEEL_PY_O_FALSE);
        case KEEL_PY_S_LEFT_PARENTHESIS:
        case KEEL_PY_S_LEFT_BRACKET:
            return sequence(p);
        case KEEL_PY_S_LEFT_BRACE:
            return mapping(p);
        default:
            return py_fail(p);
    }
}

// `a | b`
static uint32_t choice(parser_t *p) {
    uint32_t from = p->at, one = closed(p);
    if (one == KEEL_NONE || !py_is(p, KEEL_PY_S_OR_SIGN)) return one;
    uint32_t node = py_node(p, KEEL_PY_MATCH_OR, from);
    if (!py_add(p, node, KEEL_PY_F_PATTERNS, one)) return KEEL_NONE;
    while (py_take(p, KEEL_PY_S_OR_SIGN))
        if (!py_add(p, node, KEEL_PY_F_PATTERNS, closed(p))) return KEEL_NONE;
    return py_end(p, node);
}

static uint32_t pattern(parser_t *p) {
    uint32_t from = p->at;
    if (!py_enter(p)) return KEEL_NONE;
    uint32_t one = choice(p);
    py_leave(p);
    if (one == KEEL_NONE || !py_take(p, KEEL_PY_S_AS)) return one;
    uint32_t word = py_expect_name(p),
             node = word == KEEL_NONE ? word : py_node(p, KEEL_PY_MATCH_AS, from);
    if (node != KEEL_NONE) p->nodes[node].name = word;
    return py_add(p, node, KEEL_PY_F_PATTERN, one) ? node : KEEL_NONE;
}

uint32_t py_patterns(parser_t *p) {
    bool has_comma;
    uint32_t from = p->at, node = py_node(p, KEEL_PY_MATCH_SEQUENCE, from), count;
    if (node == KEEL_NONE || !add_patterns(p, node, KEEL_PY_S_COLON, &count, &has_comma))
        return KEEL_NONE;
    if (!count) return py_fail(p);
    uint32_t only = p->nodes[node].first;
    if (has_comma || p->nodes[only].kind == KEEL_PY_MATCH_STAR) return py_end(p, node);
    return only;
}
