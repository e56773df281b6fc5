// A text as Python's tokens. Comments, empty lines and line ends within brackets are no tokens.
//
// What is open is a stack of frames: brackets, and for a string with fields the string itself, its
// field, and the format of a field. The innermost frame says how the next character is read.
//
// A bracket that is never closed would make one statement of all that follows. So at the end of the
// text, those that are still open are noted and the text is read again, in which they open nothing.
#include "pysource/token.h"

#include <stdlib.h>

enum {
    MOST_FRAMES = 256,  // what is nested deeper opens nothing
    MOST_INDENTS = 100, // as in CPython
    ROUNDS = 4,         // in which brackets may turn out to be unclosed
    TAB = 8
};

typedef enum frame_kind_t { BRACKET, FIELD, FORMAT, TEXT } frame_kind_t;

typedef struct frame_t {
    frame_kind_t kind;
    char closes; // a bracket
    char quote;  // a string
    bool is_long, is_raw;
    uint32_t token; // that opened it
} frame_t;

typedef struct indent_t {
    uint32_t columns, with_short_tabs; // the two must grow together, whatever a tab is
} indent_t;

typedef struct scan_t {
    keel_py_tree_t *tree;
    keel_py_token_t *tokens;
    uint32_t *lines;
    size_t token_capacity, line_capacity;
    const char *text;
    uint32_t at, size, line;
    frame_t frames[MOST_FRAMES];
    uint32_t depth;
    indent_t indents[MOST_INDENTS];
    uint32_t indent_count;
    uint32_t unclosed[MOST_FRAMES * ROUNDS]; // places
    uint32_t unclosed_count;
    bool is_line_start; // nothing of the line is read yet
} scan_t;

static char look(const scan_t *scan, uint32_t ahead) {
    return ahead < scan->size - scan->at ? scan->text[scan->at + ahead] : '\0';
}

static bool is_end(const scan_t *scan) {
    return scan->at == scan->size;
}

static bool is_newline(char c) {
    return c == '\n' || c == '\r';
}

static const frame_t *innermost(const scan_t *scan) {
    return scan->depth ? &scan->frames[scan->depth - 1] : NULL;
}

static keel_status_t add(scan_t *scan, keel_py_token_kind_t kind, keel_py_sign_t sign,
                         uint32_t from, uint32_t line) {
    if (scan->tree->token_count == KEEL_PY_MOST_TOKENS)
        return keel_status_make(KEEL_UNSUPPORTED, "this source has more than %d tokens",
                                KEEL_PY_MOST_TOKENS);
    KEEL_TRY(keel_grow_array(scan->tree->token_count, sizeof *scan->tokens, &scan->token_capacity,
                             (void **)&scan->tokens));
    scan->tokens[scan->tree->token_count++] =
        (keel_py_token_t){(uint8_t)kind, (uint8_t)sign, from, scan->at - from, line, KEEL_NONE};
    return NULL;
}

// At a line's end, of any of the three kinds.
static keel_status_t next_line(scan_t *scan) {
    scan->at += look(scan, 0) == '\r' && look(scan, 1) == '\n' ? 2 : 1;
    ++scan->line;
    KEEL_TRY(keel_grow_array(scan->tree->line_count, sizeof *scan->lines, &scan->line_capacity,
                             (void **)&scan->lines));
    scan->lines[scan->tree->line_count++] = scan->at;
    return NULL;
}

// ---- frames ------------------------------------------------------------------------------------

static int compare_places(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// True if the bracket there is closed somewhere.
static bool is_closed(const scan_t *scan, uint32_t at) {
    return !bsearch(&at, scan->unclosed, scan->unclosed_count, sizeof at, compare_places);
}

static bool has_room(const scan_t *scan) {
    return scan->depth < MOST_FRAMES;
}

// The last token opened it.
static void push(scan_t *scan, frame_t frame) {
    KEEL_ASSERT(has_room(scan));
    frame.token = scan->tree->token_count - 1;
    scan->frames[scan->depth++] = frame;
}

// The last token closed it.
static void pop(scan_t *scan) {
    KEEL_ASSERT(scan->depth > 0);
    uint32_t opened = scan->frames[--scan->depth].token, last = scan->tree->token_count - 1;
    scan->tokens[opened].other = last;
    scan->tokens[last].other = opened;
}

// ---- names, numbers, strings -------------------------------------------------------------------

static keel_py_sign_t keyword_of(keel_str_t text) {
    static const char *const words[] = {
#define TEXT(name, text) text,
        KEEL_PY_SIGNS(TEXT)
#undef TEXT
    };
    for (unsigned sign = KEEL_PY_S_FALSE; sign < KEEL_PY_SIGN_COUNT; ++sign)
        if (*text.data == *words[sign - 1] && keel_str_is(text, words[sign - 1]))
            return (keel_py_sign_t)sign;
    return KEEL_PY_S_NOTHING;
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool is_prefix(keel_str_t text) {
    static const char *const prefixes[] = {"r",  "u",  "b",  "f",  "t",  "rb",
                                           "br", "rf", "fr", "rt", "tr", NULL};
    char low[2] = {0};
    if (text.size > sizeof low) return false;
    for (size_t i = 0; i < text.size; ++i)
        low[i] = lower(text.data[i]);
    return keel_str_is_one_of((keel_str_t){low, text.size}, prefixes);
}

static bool has_letter(const scan_t *scan, uint32_t from, char letter) {
    for (uint32_t at = from; at < scan->at; ++at)
        if (lower(scan->text[at]) == letter) return true;
    return false;
}

static bool ends_text(const scan_t *scan, const frame_t *text) {
    return look(scan, 0) == text->quote &&
           (!text->is_long || (look(scan, 1) == text->quote && look(scan, 2) == text->quote));
}

// Over a backslash and what it takes with it, which may be the end of a line.
static keel_status_t skip_escape(scan_t *scan) {
    ++scan->at;
    if (is_end(scan)) return NULL;
    if (is_newline(look(scan, 0))) return next_line(scan);
    ++scan->at;
    return NULL;
}

// Behind the quotes; the prefix begins at `from`.
static keel_status_t read_plain(scan_t *scan, uint32_t from, const frame_t *text) {
    uint32_t line = scan->line;
    while (!is_end(scan)) {
        if (ends_text(scan, text)) {
            scan->at += text->is_long ? 3 : 1;
            return add(scan, KEEL_PY_T_STRING, KEEL_PY_S_NOTHING, from, line);
        }
        if (is_newline(look(scan, 0)) && !text->is_long) break;
        if (look(scan, 0) == '\\')
            KEEL_TRY(skip_escape(scan));
        else if (is_newline(look(scan, 0)))
            KEEL_TRY(next_line(scan));
        else
            ++scan->at;
    }
    return add(scan, KEEL_PY_T_BAD, KEEL_PY_S_NOTHING, from, line);
}

// At the quotes; the prefix begins at `from`.
static keel_status_t read_string(scan_t *scan, uint32_t from) {
    frame_t text = {.kind = TEXT, .quote = look(scan, 0)};
    text.is_long = look(scan, 1) == text.quote && look(scan, 2) == text.quote;
    text.is_raw = has_letter(scan, from, 'r');
    bool has_fields = has_letter(scan, from, 'f') || has_letter(scan, from, 't');
    uint32_t line = scan->line;
    scan->at += text.is_long ? 3 : 1;
    if (!has_fields || !has_room(scan)) return read_plain(scan, from, &text);
    KEEL_TRY(add(scan, KEEL_PY_T_TEXT_START, KEEL_PY_S_NOTHING, from, line));
    push(scan, text);
    return NULL;
}

static keel_status_t read_name(scan_t *scan) {
    uint32_t from = scan->at;
    while (!is_end(scan) && keel_is_of_name(look(scan, 0)))
        ++scan->at;
    keel_str_t text = {scan->text + from, scan->at - from};
    if ((look(scan, 0) == '"' || look(scan, 0) == '\'') && is_prefix(text))
        return read_string(scan, from);
    keel_py_sign_t sign = keyword_of(text);
    return add(scan, sign ? KEEL_PY_T_SIGN : KEEL_PY_T_NAME, sign, from, scan->line);
}

static bool is_digit_of(char c, unsigned base) {
    if (base == 16 && lower(c) >= 'a' && lower(c) <= 'f') return true;
    return keel_is_digit(c) && (unsigned)(c - '0') < base;
}

// Digits, with one underscore between two at most.
static bool skip_digits(scan_t *scan, unsigned base) {
    bool any = false;
    for (;; ++scan->at) {
        char c = look(scan, 0);
        if (is_digit_of(c, base))
            any = true;
        else if (c != '_' || !is_digit_of(look(scan, 1), base))
            return any;
    }
}

static bool skip_decimal(scan_t *scan) {
    enum { TEN = 10 };
    uint32_t from = scan->at;
    bool is_whole = true;
    skip_digits(scan, TEN);
    uint32_t whole = scan->at;
    if (look(scan, 0) == '.') {
        is_whole = false;
        ++scan->at;
        if (look(scan, 0) != '_') skip_digits(scan, TEN);
    }
    char sign = look(scan, 1);
    bool is_signed = sign == '+' || sign == '-';
    if (lower(look(scan, 0)) == 'e' && is_digit_of(look(scan, 1 + is_signed), TEN)) {
        is_whole = false;
        scan->at += 1 + is_signed;
        skip_digits(scan, TEN);
    }
    if (lower(look(scan, 0)) == 'j') {
        ++scan->at;
        return true;
    }
    for (uint32_t at = from; is_whole && scan->text[from] == '0' && at < whole; ++at)
        if (scan->text[at] != '0' && scan->text[at] != '_') return false; // 0777
    return true;
}

// A keyword may stand right behind a number: "1if x".
static bool begins_keyword(const scan_t *scan) {
    static const char *const words[] = {"and", "else", "for", "if", "in", "is", "not", "or"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (keel_str_starts((keel_str_t){scan->text + scan->at, scan->size - scan->at},
                            keel_str(words[i])))
            return true;
    return false;
}

static keel_status_t read_number(scan_t *scan) {
    uint32_t from = scan->at;
    char letter = look(scan, 0) == '0' ? lower(look(scan, 1)) : '\0';
    unsigned base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    if (base) scan->at += 2;
    bool is_good = base ? skip_digits(scan, base) : skip_decimal(scan);
    if (!is_end(scan) && keel_is_of_name(look(scan, 0)) && !begins_keyword(scan)) {
        is_good = false;
        while (!is_end(scan) && keel_is_of_name(look(scan, 0)))
            ++scan->at;
    }
    return add(scan, is_good ? KEEL_PY_T_NUMBER : KEEL_PY_T_BAD, KEEL_PY_S_NOTHING, from,
               scan->line);
}

// ---- signs -------------------------------------------------------------------------------------

static char closer_of(char c) {
    return (char)(c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : 0);
}

static bool is_closer(char c) {
    return c == ')' || c == ']' || c == '}';
}

static keel_py_sign_t sign_at(const scan_t *scan, uint32_t *out_size) {
    static const struct {
        const char *text;
        uint32_t size;
    } signs[] = {
#define ROW(name, text) {text, sizeof(text) - 1},
        KEEL_PY_SIGNS(ROW)
#undef ROW
    };
    for (unsigned i = 0; i < KEEL_PY_S_FALSE - 1; ++i) {
        *out_size = signs[i].size;
        if (*signs[i].text == look(scan, 0) && signs[i].size <= scan->size - scan->at &&
            memcmp(signs[i].text, scan->text + scan->at, signs[i].size) == 0)
            return (keel_py_sign_t)(i + 1);
    }
    *out_size = 1;
    return KEEL_PY_S_NOTHING;
}

static keel_status_t read_opener(scan_t *scan, keel_py_sign_t sign) {
    uint32_t from = scan->at;
    frame_t frame = {.kind = BRACKET, .closes = closer_of(look(scan, 0))};
    bool opens = has_room(scan) && is_closed(scan, from);
    ++scan->at;
    KEEL_TRY(add(scan, opens ? KEEL_PY_T_SIGN : KEEL_PY_T_BAD, sign, from, scan->line));
    if (opens) push(scan, frame);
    return NULL;
}

static keel_status_t read_sign(scan_t *scan) {
    uint32_t from = scan->at, size;
    const frame_t *frame = innermost(scan);
    bool is_in_field = frame && frame->kind == FIELD, is_good = true;
    keel_py_sign_t sign = sign_at(scan, &size);
    if (closer_of(look(scan, 0))) return read_opener(scan, sign);
    if (is_in_field && sign == KEEL_PY_S_COLON_EQUAL) {
        sign = KEEL_PY_S_COLON; // of a format that begins with `=`
        size = 1;
    }
    if (is_closer(look(scan, 0))) is_good = frame && frame->closes == look(scan, 0);
    if (!sign || (sign == KEEL_PY_S_EXCLAMATION && !is_in_field)) is_good = false;
    scan->at += size;
    KEEL_TRY(add(scan, is_good ? KEEL_PY_T_SIGN : KEEL_PY_T_BAD, sign, from, scan->line));
    if (is_good && is_closer(scan->text[from])) pop(scan);
    if (is_in_field && sign == KEEL_PY_S_COLON && has_room(scan))
        push(scan, (frame_t){.kind = FORMAT});
    return NULL;
}

// ---- strings with fields -----------------------------------------------------------------------

static const frame_t *text_around(const scan_t *scan) {
    uint32_t depth = scan->depth;
    while (scan->frames[depth - 1].kind != TEXT)
        --depth;
    return &scan->frames[depth - 1];
}

static keel_status_t add_middle(scan_t *scan, uint32_t from, uint32_t line) {
    return scan->at > from ? add(scan, KEEL_PY_T_TEXT_MIDDLE, KEEL_PY_S_NOTHING, from, line) : NULL;
}

// The text is over, in a format too, if that is never closed.
static keel_status_t end_text(scan_t *scan, const frame_t *text, bool is_good) {
    uint32_t from = scan->at;
    is_good = is_good && text == innermost(scan);
    if (ends_text(scan, text)) scan->at += text->is_long ? 3 : 1;
    scan->depth = (uint32_t)(text - scan->frames) + 1;
    KEEL_TRY(add(scan, is_good ? KEEL_PY_T_TEXT_END : KEEL_PY_T_BAD, KEEL_PY_S_NOTHING, from,
                 scan->line));
    pop(scan);
    return NULL;
}

// Over what a backslash takes with it: not a bracket, which may be that of a field, but the name of
// a character.
static keel_status_t skip_middle_escape(scan_t *scan, bool is_raw) {
    char next = look(scan, 1);
    if (next == '{' || next == '}') {
        ++scan->at;
        return NULL;
    }
    bool is_named = !is_raw && next == 'N' && look(scan, 2) == '{';
    KEEL_TRY(skip_escape(scan));
    while (is_named && !is_end(scan) && !strchr("}\"'\n\r", look(scan, 0)))
        ++scan->at;
    if (is_named && look(scan, 0) == '}') ++scan->at;
    return NULL;
}

static keel_status_t begin_field(scan_t *scan) {
    uint32_t from = scan->at++;
    bool opens = has_room(scan) && is_closed(scan, from);
    KEEL_TRY(
        add(scan, opens ? KEEL_PY_T_SIGN : KEEL_PY_T_BAD, KEEL_PY_S_LEFT_BRACE, from, scan->line));
    if (opens) push(scan, (frame_t){.kind = FIELD, .closes = '}'});
    return NULL;
}

// In a string with fields, or in the format of a field: up to what is something else.
static keel_status_t read_middle(scan_t *scan) {
    uint32_t from = scan->at, line = scan->line;
    const frame_t *text = text_around(scan);
    bool is_format = innermost(scan)->kind == FORMAT;
    while (!is_end(scan)) {
        char c = look(scan, 0);
        bool is_double = !is_format && look(scan, 1) == c && (c == '{' || c == '}');
        bool is_over = ends_text(scan, text);
        if (is_format && is_newline(c) && !text->is_long) {
            KEEL_TRY(add_middle(scan, from, line));
            --scan->depth; // the format; its field goes on
            return NULL;
        }
        if (is_over || (is_newline(c) && !text->is_long)) {
            KEEL_TRY(add_middle(scan, from, line));
            return end_text(scan, text, is_over);
        }
        if (is_double) {
            scan->at += 2;
        } else if (c == '{') {
            KEEL_TRY(add_middle(scan, from, line));
            return begin_field(scan);
        } else if (c == '}' && is_format) {
            KEEL_TRY(add_middle(scan, from, line));
            --scan->depth; // the format; the bracket closes its field
            return NULL;
        } else if (c == '}') {
            KEEL_TRY(add_middle(scan, from, line));
            from = scan->at++;
            KEEL_TRY(add(scan, KEEL_PY_T_BAD, KEEL_PY_S_RIGHT_BRACE, from, scan->line));
            from = scan->at;
            line = scan->line;
        } else if (c == '\\') {
            KEEL_TRY(skip_middle_escape(scan, text->is_raw));
        } else if (is_newline(c)) {
            KEEL_TRY(next_line(scan));
        } else {
            ++scan->at;
        }
    }
    KEEL_TRY(add_middle(scan, from, line));
    return end_text(scan, text, false);
}

// ---- lines -------------------------------------------------------------------------------------

static keel_status_t add_mark(scan_t *scan, keel_py_token_kind_t kind) {
    return add(scan, kind, KEEL_PY_S_NOTHING, scan->at, scan->line);
}

static keel_status_t indent_to(scan_t *scan, indent_t is) {
    indent_t *top = &scan->indents[scan->indent_count - 1];
    if (is.columns > top->columns) {
        if (scan->indent_count == MOST_INDENTS || is.with_short_tabs <= top->with_short_tabs)
            return add_mark(scan, KEEL_PY_T_BAD);
        scan->indents[scan->indent_count++] = is;
        return add_mark(scan, KEEL_PY_T_INDENT);
    }
    while (is.columns < top->columns) {
        KEEL_TRY(add_mark(scan, KEEL_PY_T_DEDENT));
        top = &scan->indents[--scan->indent_count - 1];
    }
    return is.columns != top->columns || is.with_short_tabs != top->with_short_tabs
               ? add_mark(scan, KEEL_PY_T_BAD)
               : NULL;
}

static void skip_comment(scan_t *scan) {
    while (!is_end(scan) && !is_newline(look(scan, 0)))
        ++scan->at;
}

static bool continues(const scan_t *scan) {
    return look(scan, 0) == '\\' && is_newline(look(scan, 1));
}

// The blanks at the start of a line, and whole lines that say nothing.
static keel_status_t begin_line(scan_t *scan) {
    indent_t is = {0, 0}, first = {0, 0};
    for (;;) {
        char c = look(scan, 0);
        if (c == ' ') {
            ++is.columns;
            ++is.with_short_tabs;
        } else if (c == '\t') {
            is.columns = (is.columns / TAB + 1) * TAB;
            ++is.with_short_tabs;
        } else if (c == '\f') {
            is = (indent_t){0, 0};
        } else if (continues(scan)) {
            if (!first.columns) first = is; // the next line's blanks say nothing
            ++scan->at;
            KEEL_TRY(next_line(scan));
            is = (indent_t){0, 0};
            continue;
        } else {
            break;
        }
        ++scan->at;
    }
    if (look(scan, 0) == '#') skip_comment(scan);
    if (is_end(scan)) return NULL;
    if (is_newline(look(scan, 0))) return next_line(scan);
    scan->is_line_start = false;
    return indent_to(scan, first.columns ? first : is);
}

static keel_status_t end_line(scan_t *scan) {
    if (scan->depth) return next_line(scan);
    uint32_t from = scan->at, line = scan->line;
    KEEL_TRY(next_line(scan));
    scan->is_line_start = true;
    return add(scan, KEEL_PY_T_NEWLINE, KEEL_PY_S_NOTHING, from, line);
}

static keel_status_t read_next(scan_t *scan) {
    char c = look(scan, 0);
    const frame_t *frame = innermost(scan);
    if (frame && (frame->kind == TEXT || frame->kind == FORMAT)) return read_middle(scan);
    if (scan->is_line_start) return begin_line(scan);
    if (is_newline(c)) return end_line(scan);
    if (c == ' ' || c == '\t' || c == '\f') {
        ++scan->at;
        return NULL;
    }
    if (c == '#') {
        skip_comment(scan);
        return NULL;
    }
    if (continues(scan)) {
        ++scan->at;
        return next_line(scan);
    }
    if (c == '"' || c == '\'') return read_string(scan, scan->at);
    if (keel_is_digit(c) || (c == '.' && keel_is_digit(look(scan, 1)))) return read_number(scan);
    if (keel_begins_name(c)) return read_name(scan);
    return read_sign(scan);
}

static keel_status_t end_all(scan_t *scan) {
    if (!scan->is_line_start) KEEL_TRY(add_mark(scan, KEEL_PY_T_NEWLINE));
    for (; scan->indent_count > 1; --scan->indent_count)
        KEEL_TRY(add_mark(scan, KEEL_PY_T_DEDENT));
    return add_mark(scan, KEEL_PY_T_END);
}

static keel_status_t read_all(scan_t *scan) {
    static const char mark[] = "\xef\xbb\xbf";
    scan->tree->token_count = scan->tree->line_count = scan->depth = scan->at = 0;
    scan->line = scan->indent_count = 1;
    scan->indents[0] = (indent_t){0, 0};
    scan->is_line_start = true;
    if (scan->size >= 3 && memcmp(scan->text, mark, 3) == 0) scan->at = 3;
    KEEL_TRY(keel_grow_array(0, sizeof *scan->lines, &scan->line_capacity, (void **)&scan->lines));
    scan->lines[scan->tree->line_count++] = scan->at;
    while (!is_end(scan))
        KEEL_TRY(read_next(scan));
    return NULL;
}

// Notes which brackets are open at the end. A string with fields ends at the end at the latest.
static bool note_unclosed(scan_t *scan) {
    bool any = false;
    for (uint32_t i = 0; i < scan->depth; ++i) {
        if (scan->frames[i].kind != BRACKET && scan->frames[i].kind != FIELD) continue;
        any = true;
        scan->unclosed[scan->unclosed_count++] = scan->tokens[scan->frames[i].token].at;
    }
    qsort(scan->unclosed, scan->unclosed_count, sizeof *scan->unclosed, compare_places);
    return any;
}

keel_status_t keel_py_tokenize(keel_py_tree_t *tree) {
    scan_t scan = {.tree = tree, .text = tree->text.data, .size = (uint32_t)tree->text.size};
    keel_status_t status = read_all(&scan);
    for (unsigned round = 0; !status && round < ROUNDS && note_unclosed(&scan); ++round)
        status = read_all(&scan);
    if (!status) status = end_all(&scan);
    tree->tokens = scan.tokens;
    tree->lines = scan.lines;
    return status;
}
