// Reads a Python source into statements: which names each one reads and assigns, and which block it
// is in. What it does not understand it reads as a statement without names.
#include "explain/statements.h"

#include <string.h>

enum { LINES = 1 << 16, BUDGET = 1 << 24 };

typedef struct scan_t {
    keel_depends_t *reads;
    keel_str_t text;
    size_t at, line_start;
    uint32_t line, depth, block; // block: the innermost header; NONE
    uint32_t inline_block;       // a header on this line, whose block follows on the same one; NONE
    keel_depends_statement_t statement;
    bool is_open, says, is_annotated, is_after_for;
    uint32_t lambdas; // whose parameters have not ended
    char before;      // the last character that says something
} scan_t;

static char look(const scan_t *scan, size_t ahead) {
    size_t at = scan->at + ahead;
    return at < scan->text.size ? scan->text.data[at] : '\n';
}

static keel_str_t word_at(const scan_t *scan, uint32_t number) {
    const keel_depends_statement_t *statement = &scan->statement;
    return number < statement->word_count ? scan->reads->words[statement->words + number].text
                                          : KEEL_STR("");
}

static bool continues_arms(keel_str_t word) {
    static const char *const words[] = {"elif", "else", "except", "finally", NULL};
    return keel_str_is_one_of(word, words);
}

static bool begins_block(keel_str_t word) {
    static const char *const words[] = {"if",    "for",   "while", "with", "try", "def",
                                        "class", "async", "match", "case", NULL};
    return keel_str_is_one_of(word, words) || continues_arms(word);
}

static void open_statement(scan_t *scan) {
    enum { TAB = 8 };
    keel_depends_t *reads = scan->reads;
    uint32_t indent = 0, arm = KEEL_NONE;
    for (size_t i = scan->line_start; i < scan->at; ++i) {
        if (scan->text.data[i] != ' ' && scan->text.data[i] != '\t') break;
        indent += scan->text.data[i] == '\t' ? TAB : 1;
    }
    if (scan->inline_block != KEEL_NONE) {
        indent = reads->statements[scan->inline_block].indent + 1;
        scan->block = scan->inline_block;
    }
    while (scan->block != KEEL_NONE && reads->statements[scan->block].indent >= indent) {
        arm = reads->statements[scan->block].indent == indent ? scan->block : KEEL_NONE;
        scan->block = reads->statements[scan->block].parent;
    }
    scan->statement = (keel_depends_statement_t){.first = scan->line,
                                                 .indent = indent,
                                                 .parent = scan->block,
                                                 .arm = arm,
                                                 .words = reads->word_count};
    scan->is_open = true;
    scan->says = scan->is_annotated = scan->is_after_for = false;
    scan->lambdas = scan->depth = 0;
    scan->before = 0;
}

static kind_t kind_of(const scan_t *scan) {
    keel_str_t first = word_at(scan, 0), second = word_at(scan, 1);
    const keel_depends_word_t *words = words_of(scan->reads, &scan->statement);
    if (keel_str_is(first, "async")) first = second;
    if (keel_str_is(first, "def")) return FUNCTION;
    if (keel_str_is(first, "class")) return CLASS;
    if (keel_str_is(first, "import") || keel_str_is(first, "from")) return IMPORT;
    if (keel_str_is(first, "return") || keel_str_is(first, "yield")) return RETURN;
    if (scan->statement.kind == DECORATOR) return DECORATOR;
    for (uint32_t i = 0; i < scan->statement.word_count; ++i)
        if (words[i].is_target) return ASSIGNMENT;
    if (scan->statement.word_count > 1 && words[1].is_attribute && !scan->statement.is_header)
        return CALL;
    return PLAIN;
}

// A longer list of imports changes nothing for the names that were there.
static void note_imports(scan_t *scan) {
    const keel_depends_word_t *words = words_of(scan->reads, &scan->statement);
    for (uint32_t i = 0; i < scan->statement.word_count; ++i)
        scan->reads->names[words[i].name] |= IMPORTED;
}

static void close_statement(scan_t *scan) {
    keel_depends_t *reads = scan->reads;
    if (!scan->is_open) return;
    scan->is_open = false;
    scan->statement.last = scan->line;
    scan->statement.kind = kind_of(scan);
    if (scan->statement.kind == IMPORT) note_imports(scan);
    if (!continues_arms(word_at(scan, 0))) scan->statement.arm = KEEL_NONE;
    for (uint32_t line = scan->statement.first; !scan->says && line <= scan->line; ++line)
        reads->lines[line - 1].is_code = false;
    if (reads->count == reads->capacity) return;
    reads->statements[reads->count] = scan->statement;
    if (scan->statement.is_header) scan->block = scan->inline_block = reads->count;
    ++reads->count;
}

// What is left of `=` is assigned: of `a.b[i]` only `b`. All that is annotated is left of `:`.
static void note_targets(scan_t *scan) {
    keel_depends_word_t *words = words_of(scan->reads, &scan->statement);
    uint32_t count = scan->statement.word_count, last = KEEL_NONE;
    for (uint32_t i = count; i-- > 0;) {
        if (words[i].depth || words[i].is_target) continue;
        bool is_inner = last != KEEL_NONE && words[last].is_attribute;
        last = i;
        if (!is_inner) words[i].is_target = true;
    }
}

static keel_status_t add_word(scan_t *scan, keel_str_t text) {
    keel_depends_t *reads = scan->reads;
    if (reads->word_count == reads->word_capacity) return NULL;
    keel_bytes_t key = keel_str_bytes(text);
    uint64_t *known = keel_map_find(&reads->known, key);
    uint32_t name = known ? (uint32_t)*known : reads->name_count++;
    if (!known) KEEL_TRY(keel_map_put(&reads->known, key, name));
    size_t next = 0;
    while (look(scan, next) == ' ')
        ++next;
    bool is_equal = look(scan, next) == '=' && look(scan, next + 1) != '=';
    keel_str_t first = word_at(scan, 0);
    bool is_function = keel_str_is(first, "def") || keel_str_is(first, "async");
    keel_depends_word_t word = {.text = text,
                                .name = name,
                                .line = scan->line,
                                .column = (uint32_t)(scan->at - text.size - scan->line_start) + 1,
                                .depth = scan->depth,
                                .is_attribute = scan->before == '.',
                                .is_label = scan->depth && is_equal};
    word.is_parameter = (is_function && scan->depth == 1 && scan->statement.word_count > 1 &&
                         strchr("(,*", scan->before) && scan->before) ||
                        (scan->lambdas && (scan->before == ',' || scan->before == '*' ||
                                           scan->before == 'a')); // right behind `lambda`
    if (look(scan, next) == ':' && look(scan, next + 1) == '=') word.is_target = true;
    if (scan->is_after_for && !keel_str_is(text, "in")) word.is_target = true;
    uint32_t count = scan->statement.word_count;
    if (keel_str_is(first, "with") && keel_str_is(word_at(scan, count - 1), "as"))
        word.is_target = true;
    if (keel_str_is(text, "in")) scan->is_after_for = false;
    if (!count && keel_str_is(text, "for")) scan->is_after_for = true;
    reads->words[reads->word_count++] = word;
    ++scan->statement.word_count;
    return NULL;
}

static void end_line(const scan_t *scan, size_t code_end) {
    const keel_depends_t *reads = scan->reads;
    while (code_end > scan->line_start &&
           memchr(" \t\r", scan->text.data[code_end - 1], sizeof " \t\r" - 1))
        --code_end;
    if (scan->line <= reads->line_count)
        reads->lines[scan->line - 1].size = (uint32_t)(code_end - scan->line_start);
}

static void next_line(scan_t *scan, size_t code_end) {
    end_line(scan, code_end);
    ++scan->at;
    ++scan->line;
    scan->line_start = scan->at;
}

static void skip_string(scan_t *scan) {
    char quote = look(scan, 0);
    bool is_long = look(scan, 1) == quote && look(scan, 2) == quote;
    scan->at += is_long ? 3 : 1;
    while (scan->at < scan->text.size) {
        char c = look(scan, 0);
        if (c == '\\' && scan->at + 1 < scan->text.size && look(scan, 1) != '\n') {
            scan->at += 2;
        } else if (c == '\n') {
            if (!is_long && (!scan->at || scan->text.data[scan->at - 1] != '\\')) return;
            next_line(scan, scan->at);
        } else if (c == quote && (!is_long || (look(scan, 1) == quote && look(scan, 2) == quote))) {
            scan->at += is_long ? 3 : 1;
            return;
        } else {
            ++scan->at;
        }
    }
}

static keel_status_t read_word(scan_t *scan) {
    size_t from = scan->at;
    while (scan->at < scan->text.size && keel_is_of_name(look(scan, 0)))
        ++scan->at;
    keel_str_t text = {scan->text.data + from, scan->at - from};
    if (text.size <= 2 && (look(scan, 0) == '"' || look(scan, 0) == '\'')) return NULL;
    scan->says = true;
    if (keel_str_is(text, "lambda")) {
        ++scan->lambdas;
        scan->before = 'a';
        return NULL;
    }
    KEEL_TRY(add_word(scan, text));
    scan->before = 'b';
    return NULL;
}

static void read_sign(scan_t *scan) {
    char c = look(scan, 0), next = look(scan, 1);
    if (!scan->statement.word_count && c == '@') scan->statement.kind = DECORATOR;
    if (strchr("([{", c)) ++scan->depth;
    if (strchr(")]}", c) && scan->depth) --scan->depth;
    if (c == ':' && scan->lambdas) {
        --scan->lambdas;
    } else if (c == ':' && next != '=' && !scan->depth) {
        if (begins_block(word_at(scan, 0))) {
            scan->statement.is_header = true;
            close_statement(scan);
        } else if (!scan->is_annotated) {
            scan->is_annotated = true;
            note_targets(scan);
        }
    } else if (c == '=' && next == '=') {
        ++scan->at;
    } else if (c == '=' && !scan->depth && !scan->lambdas && !memchr("!<>:", scan->before, 4)) {
        if (!scan->is_annotated) note_targets(scan);
    } else if (c == ';' && !scan->depth) {
        uint32_t block = scan->inline_block;
        close_statement(scan);
        scan->inline_block = block;
    }
    scan->before = c;
    scan->says = true;
    ++scan->at;
}

static keel_status_t scan_text(scan_t *scan) {
    while (scan->at < scan->text.size && scan->line <= scan->reads->line_count) {
        char c = look(scan, 0);
        if (c == '#' || c == '\n') {
            size_t code_end = scan->at;
            while (look(scan, 0) != '\n')
                ++scan->at;
            if (!scan->depth || !scan->is_open) {
                close_statement(scan);
                scan->inline_block = KEEL_NONE;
            }
            next_line(scan, code_end);
        } else if (c == '\\' && look(scan, 1) == '\n') {
            ++scan->at;
            next_line(scan, scan->at);
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++scan->at;
        } else {
            if (!scan->is_open) open_statement(scan);
            if (c == '"' || c == '\'') {
                skip_string(scan);
            } else if (keel_begins_name(c)) {
                KEEL_TRY(read_word(scan));
            } else if (keel_is_digit(c)) {
                while (keel_is_of_name(look(scan, 0)) || look(scan, 0) == '.')
                    ++scan->at;
                scan->before = '0';
                scan->says = true;
            } else {
                read_sign(scan);
            }
        }
    }
    if (scan->at == scan->text.size) end_line(scan, scan->at); // without a newline
    if (scan->line > scan->reads->line_count) scan->line = scan->reads->line_count;
    close_statement(scan);
    return NULL;
}

keel_status_t keel_depends_parse(keel_depends_t *reads, keel_str_t text, keel_arena_t *arena) {
    *reads = (keel_depends_t){.line_count = 1, .budget = BUDGET};
    keel_map_initialize(&reads->known);
    uint32_t most = 1;
    bool was_word = false;
    for (size_t i = 0; i < text.size; ++i) {
        bool is_word = keel_is_of_name(text.data[i]);
        reads->word_capacity += is_word && !was_word;
        was_word = is_word;
        reads->line_count += text.data[i] == '\n' && reads->line_count < LINES;
        most += text.data[i] == '\n' || text.data[i] == ';' || text.data[i] == ':';
    }
    reads->capacity = most;
    uint32_t words = reads->word_capacity ? reads->word_capacity : 1;
    KEEL_TRY(
        keel_arena_array(arena, reads->line_count, sizeof *reads->lines, (void **)&reads->lines));
    KEEL_TRY(keel_arena_array(arena, most, sizeof *reads->statements, (void **)&reads->statements));
    KEEL_TRY(keel_arena_array(arena, words, sizeof *reads->words, (void **)&reads->words));
    KEEL_TRY(keel_arena_array(arena, words, 1, (void **)&reads->names));
    memset(reads->names, 0, words);
    for (uint32_t i = 0; i < reads->line_count; ++i)
        reads->lines[i] = (keel_depends_line_t){.is_code = true};
    scan_t scan = {
        .reads = reads, .text = text, .line = 1, .block = KEEL_NONE, .inline_block = KEEL_NONE};
    keel_status_t status = scan_text(&scan);
    for (uint32_t i = 0; i < reads->line_count; ++i)
        if (!reads->lines[i].size) reads->lines[i].is_code = false;
    return status;
}

void keel_depends_deinitialize(keel_depends_t *reads) {
    keel_map_deinitialize(&reads->known);
}
