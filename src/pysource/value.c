// What the text of a token or of several says: names, numbers, strings.
#include <math.h>
#include <stdlib.h>

#include "pysource/pysource.h"

// ---- names -------------------------------------------------------------------------------------

keel_str_t keel_py_token_text(const keel_py_tree_t *tree, uint32_t token) {
    KEEL_ASSERT(token < tree->token_count);
    return (keel_str_t){tree->text.data + tree->tokens[token].at, tree->tokens[token].size};
}

keel_str_t keel_py_name(const keel_py_tree_t *tree, uint32_t node) {
    uint32_t name = tree->nodes[node].name;
    return name == KEEL_NONE ? KEEL_STR("") : keel_py_token_text(tree, name);
}

void keel_py_dotted(const keel_py_tree_t *tree, uint32_t node, keel_buffer_t *out) {
    const keel_py_node_t *of = &tree->nodes[node];
    for (uint32_t at = of->name; at != KEEL_NONE && at < of->end_token; ++at) {
        keel_py_token_t token = tree->tokens[at];
        bool is_dot = token.sign == KEEL_PY_S_DOT;
        if (token.kind != KEEL_PY_T_NAME && !is_dot && at != of->name) return;
        keel_buffer_str(out, keel_py_token_text(tree, at));
    }
}

keel_str_t keel_py_as(const keel_py_tree_t *tree, uint32_t node) {
    const keel_py_node_t *of = &tree->nodes[node];
    if (of->end_token - of->first_token < 3 || tree->tokens[of->end_token - 2].sign != KEEL_PY_S_AS)
        return KEEL_STR("");
    return keel_py_token_text(tree, of->end_token - 1);
}

uint32_t keel_py_level(const keel_py_tree_t *tree, uint32_t node) {
    uint32_t level = 0;
    for (uint32_t at = tree->nodes[node].first_token + 1; at < tree->nodes[node].end_token; ++at) {
        if (tree->tokens[at].sign != KEEL_PY_S_DOT && tree->tokens[at].sign != KEEL_PY_S_ELLIPSIS)
            break;
        level += tree->tokens[at].size;
    }
    return level;
}

// ---- numbers -----------------------------------------------------------------------------------

static unsigned digit_of(char c) {
    return keel_is_digit(c) ? (unsigned)(c - '0') : (unsigned)((c | ('a' - 'A')) - 'a') + 10;
}

// Bits beyond those that are kept only say whether the rest is zero: so rounding is right.
static double whole_of(keel_str_t digits, unsigned bits) {
    uint64_t kept = 0;
    int exponent = 0;
    for (size_t i = 0; i < digits.size; ++i) {
        if (digits.data[i] == '_') continue;
        uint64_t digit = digit_of(digits.data[i]);
        if (kept >> (63 - bits)) {
            kept |= digit != 0;
            exponent = exponent < 4096 ? exponent + (int)bits : exponent;
        } else {
            kept = kept << bits | digit;
        }
    }
    return ldexp((double)kept, exponent);
}

static bool read_decimal(keel_str_t text, double *out) {
    enum { LONGEST = 1 << 12 };
    char digits[LONGEST + 1];
    size_t count = 0;
    for (size_t i = 0; i < text.size; ++i)
        if (text.data[i] != '_' && count < LONGEST) digits[count++] = text.data[i];
    digits[count] = '\0';
    char *end;
    *out = strtod(digits, &end);
    return count < LONGEST && end == digits + count;
}

bool keel_py_number(keel_str_t text, keel_py_number_t *out) {
    *out = (keel_py_number_t){.is_whole = true};
    if (!text.size || !(keel_is_digit(*text.data) || *text.data == '.')) return false;
    char letter = text.size > 2 && *text.data == '0' ? (char)(text.data[1] | ('a' - 'A')) : '\0';
    unsigned bits = letter == 'x' ? 4 : letter == 'o' ? 3 : letter == 'b' ? 1 : 0;
    if (bits) {
        out->value = whole_of((keel_str_t){text.data + 2, text.size - 2}, bits);
        return true;
    }
    char last = text.data[text.size - 1];
    out->is_imaginary = last == 'j' || last == 'J';
    text.size -= out->is_imaginary;
    for (size_t i = 0; i < text.size; ++i)
        if (!keel_is_digit(text.data[i]) && text.data[i] != '_') out->is_whole = false;
    if (out->is_imaginary) out->is_whole = false;
    return read_decimal(text, &out->value);
}

// ---- strings -----------------------------------------------------------------------------------

typedef struct text_t {
    keel_str_t rest;
    bool is_raw, is_bytes, has_fields;
    keel_buffer_t *out;
} text_t;

static void add_character(text_t *text, uint32_t code) {
    uint8_t bytes[4];
    size_t size;
    if (text->is_bytes || code < 0x80) {
        keel_buffer_byte(text->out, (uint8_t)code);
        return;
    }
    if (code < 0x800) {
        size = 2;
        bytes[0] = (uint8_t)(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        size = 3;
        bytes[0] = (uint8_t)(0xe0 | code >> 12);
    } else {
        size = 4;
        bytes[0] = (uint8_t)(0xf0 | code >> 18);
    }
    for (size_t i = 1; i < size; ++i)
        bytes[i] = (uint8_t)(0x80 | (code >> (6 * (size - 1 - i)) & 0x3f));
    keel_buffer_append(text->out, bytes, size);
}

static bool take_digits(text_t *text, unsigned bits, size_t least, size_t most, uint32_t *out) {
    size_t count = 0;
    *out = 0;
    for (; count < most && count < text->rest.size; ++count) {
        char c = text->rest.data[count], low = (char)(c | ('a' - 'A'));
        bool is_digit =
            bits == 3 ? c >= '0' && c <= '7' : keel_is_digit(c) || (low >= 'a' && low <= 'f');
        if (!is_digit) break;
        *out = *out << bits | digit_of(c);
    }
    text->rest.data += count;
    text->rest.size -= count;
    return count >= least;
}

static char take(text_t *text) {
    --text->rest.size;
    return *text->rest.data++;
}

static bool is_next(const text_t *text, char c) {
    return text->rest.size && *text->rest.data == c;
}

// Behind the backslash. What has no meaning stays as it is.
static bool add_escape(text_t *text) {
    static const char letters[] = "abfnrtv\\'\"", meanings[] = "\a\b\f\n\r\t\v\\'\"";
    uint32_t code;
    if (!text->rest.size) return false;
    char c = take(text);
    const char *known = c ? strchr(letters, c) : NULL;
    if (known) {
        keel_buffer_byte(text->out, (uint8_t)meanings[known - letters]);
        return true;
    }
    if (c == '\n') return true;
    if (c == '\r') {
        if (is_next(text, '\n')) take(text);
        return true;
    }
    if (c >= '0' && c <= '7') {
        --text->rest.data;
        ++text->rest.size;
        take_digits(text, 3, 1, 3, &code);
        add_character(text, text->is_bytes ? code & 0xff : code);
        return true;
    }
    bool is_wide = !text->is_bytes && (c == 'u' || c == 'U');
    if (c == 'x' || is_wide) {
        size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        if (!take_digits(text, 4, digits, digits, &code) || code > 0x10ffff) return false;
        add_character(text, code);
        return true;
    }
    if (c == 'N' && !text->is_bytes) return false;
    keel_buffer_byte(text->out, '\\');
    ++text->rest.size;
    --text->rest.data;
    return true;
}

static bool add_text(text_t *text) {
    while (text->rest.size) {
        char c = take(text);
        if (c == '\\' && !text->is_raw) {
            if (!add_escape(text)) return false;
        } else if (c == '\r') { // lines end as in every text
            if (is_next(text, '\n')) take(text);
            keel_buffer_byte(text->out, '\n');
        } else {
            if (text->has_fields && (c == '{' || c == '}') && is_next(text, c)) take(text);
            keel_buffer_byte(text->out, (uint8_t)c);
        }
    }
    return true;
}

static void read_prefix(text_t *text, keel_str_t of) {
    for (size_t i = 0; i < of.size && of.data[i] != '"' && of.data[i] != '\''; ++i) {
        char letter = (char)(of.data[i] | ('a' - 'A'));
        if (letter == 'r') text->is_raw = true;
        if (letter == 'b') text->is_bytes = true;
    }
}

static bool add_plain(const keel_py_tree_t *tree, uint32_t token, keel_buffer_t *out) {
    text_t text = {.rest = keel_py_token_text(tree, token), .out = out};
    read_prefix(&text, text.rest);
    while (*text.rest.data != '"' && *text.rest.data != '\'')
        take(&text);
    size_t quotes = text.rest.size >= 6 && text.rest.data[1] == *text.rest.data &&
                            text.rest.data[2] == *text.rest.data
                        ? 3
                        : 1;
    text.rest.data += quotes;
    text.rest.size -= 2 * quotes;
    return add_text(&text);
}

// The string that a piece of text is in began at the last TEXT_START that has not ended before it.
static bool add_middle(const keel_py_tree_t *tree, uint32_t token, keel_buffer_t *out) {
    text_t text = {.rest = keel_py_token_text(tree, token), .has_fields = true, .out = out};
    uint32_t start = token;
    while (tree->tokens[start].kind != KEEL_PY_T_TEXT_START || tree->tokens[start].other < token) {
        bool is_closed = tree->tokens[start].other < start;
        start = is_closed ? tree->tokens[start].other : start - 1;
    }
    read_prefix(&text, keel_py_token_text(tree, start));
    return add_text(&text);
}

// What `{x = }` shows of itself, from its bracket up to the token behind the `=`: without comments.
static void add_shown(const keel_py_tree_t *tree, uint32_t first, uint32_t end,
                      keel_buffer_t *out) {
    for (uint32_t at = first; at < end; ++at) {
        const keel_py_token_t *token = &tree->tokens[at];
        bool is_comment = false;
        if (at > first) keel_buffer_str(out, keel_py_token_text(tree, at));
        for (uint32_t i = token->at + token->size; i < token[1].at; ++i) {
            char c = tree->text.data[i];
            is_comment = c == '#' || (is_comment && c != '\n' && c != '\r');
            if (!is_comment) keel_buffer_byte(out, (uint8_t)c);
        }
    }
}

bool keel_py_string(const keel_py_tree_t *tree, uint32_t node, keel_buffer_t *out) {
    const keel_py_node_t *of = &tree->nodes[node];
    if (of->kind != KEEL_PY_CONSTANT || (of->op != KEEL_PY_O_STR && of->op != KEEL_PY_O_BYTES))
        return false;
    for (uint32_t at = of->first_token; at < of->end_token; ++at) {
        unsigned kind = tree->tokens[at].kind;
        if (kind == KEEL_PY_T_STRING && !add_plain(tree, at, out)) return false;
        if (kind == KEEL_PY_T_TEXT_MIDDLE && !add_middle(tree, at, out)) return false;
        if (kind == KEEL_PY_T_SIGN) {
            add_shown(tree, at, of->end_token, out);
            break;
        }
    }
    return true;
}

// ---- words -------------------------------------------------------------------------------------

#define NAMED(name, text) text,

const char *keel_py_kind_name(keel_py_kind_t kind) {
    static const char *const names[] = {KEEL_PY_STATEMENTS(NAMED) KEEL_PY_EXPRESSIONS(NAMED)
                                            KEEL_PY_PATTERNS(NAMED) KEEL_PY_OTHERS(NAMED)};
    KEEL_ASSERT(kind < KEEL_PY_KIND_COUNT);
    return names[kind];
}

const char *keel_py_field_name(keel_py_field_t field) {
    static const char *const names[] = {KEEL_PY_FIELDS(NAMED)};
    KEEL_ASSERT(field < KEEL_PY_FIELD_COUNT);
    return names[field];
}

const char *keel_py_op_name(keel_py_op_t op) {
    static const char *const names[] = {KEEL_PY_OPS(NAMED)};
    KEEL_ASSERT(op < KEEL_PY_OP_COUNT);
    return names[op];
}
