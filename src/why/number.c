#include "why/number.h"

enum { LINES_FOLLOWED = 64, NAMES = 16, DEPTH = 32 };

typedef struct name_t {
    keel_str_t text;
    bool is_attribute; // "at" of "self.at"
} name_t;

// Names that hold what was read, or what was computed from it. Their text belongs to the source.
typedef struct names_t {
    name_t list[NAMES];
    size_t count;
} names_t;

// Numbers, and the tensors that they were read from: what is computed from both is not a number.
typedef struct flow_t {
    names_t numbers, tensors;
} flow_t;

// ---- words and statements ----------------------------------------------------------------------

static bool is_quote(char c) {
    return c == '"' || c == '\'';
}

static int depth_of(char c) {
    return (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
}

static void skip(keel_str_t *text, size_t count) {
    text->data += count;
    text->size -= count;
}

// The size of the quoted text that the text begins with.
static size_t quoted(keel_str_t text) {
    for (size_t i = 1; i < text.size; ++i) {
        if (text.data[i] == *text.data) return i + 1;
        i += text.data[i] == '\\';
    }
    return text.size;
}

// Words of a statement, without what is in quotes.
typedef struct words_t {
    keel_str_t rest;
    int depth; // of brackets around the next word
} words_t;

typedef struct word_t {
    keel_str_t text;
    int depth;
    bool is_attribute; // "at" of "self.at"
    bool is_owner;     // "self"
    bool is_keyword;   // "k" of "f(x, k=3)"
} word_t;

static bool is_keyword_argument(keel_str_t behind, int depth) {
    while (behind.size && *behind.data == ' ')
        skip(&behind, 1);
    bool is_assigned = behind.size && *behind.data == '=';
    return depth > 0 && is_assigned && !(behind.size > 1 && behind.data[1] == '=');
}

static bool next_word(words_t *words, word_t *out) {
    keel_str_t *rest = &words->rest;
    bool is_attribute = false;
    while (rest->size && !keel_is_of_name(*rest->data)) {
        is_attribute = *rest->data == '.';
        words->depth += depth_of(*rest->data);
        skip(rest, is_quote(*rest->data) ? quoted(*rest) : 1);
    }
    keel_str_t text = {rest->data, 0};
    for (; rest->size && keel_is_of_name(*rest->data); ++text.size)
        skip(rest, 1);
    *out = (word_t){.text = text,
                    .depth = words->depth,
                    .is_attribute = is_attribute,
                    .is_owner = rest->size && *rest->data == '.',
                    .is_keyword = is_keyword_argument(*rest, words->depth)};
    return text.size;
}

static keel_str_t first_word(keel_str_t text) {
    words_t words = {.rest = text};
    word_t word;
    return next_word(&words, &word) ? word.text : KEEL_STR("");
}

// "if k:" and what may stand behind it on the line are two statements.
static bool is_compound(keel_str_t text) {
    static const char *const heads[] = {"if",    "elif", "else",   "for",     "while", "with",
                                        "async", "try",  "except", "finally", "def",   NULL};
    return keel_str_is_one_of(first_word(text), heads);
}

// Takes the next statement from the line; false at its end, or at a comment.
static bool next_statement(keel_str_t *line, keel_str_t *out) {
    while (line->size && strchr(" \t;:\r", *line->data))
        skip(line, 1);
    if (!line->size || *line->data == '#') return false;
    *out = *line;
    int depth = 0;
    bool compound = is_compound(*line);
    while (line->size && *line->data != '#') {
        char c = *line->data;
        depth += depth_of(c);
        if (depth <= 0 && (c == ';' || (c == ':' && compound))) break;
        skip(line, is_quote(c) ? quoted(*line) : 1);
    }
    out->size -= line->size;
    return true;
}

static bool is_single(keel_str_t line) {
    keel_str_t statement;
    return !next_statement(&line, &statement) || !next_statement(&line, &statement);
}

// ---- what a statement assigns and uses ---------------------------------------------------------

// The "=" of an assignment; the text's size if it is none.
static size_t assignment_in(keel_str_t text) {
    int depth = 0;
    for (size_t i = 0; i < text.size; ++i) {
        char c = text.data[i], before = i ? text.data[i - 1] : ' ',
             behind = i + 1 < text.size ? text.data[i + 1] : ' ';
        depth += depth_of(c);
        if (is_quote(c)) return text.size;
        if (c == '=' && !depth && behind != '=' && !strchr("=<>!:", before)) return i;
    }
    return text.size;
}

static bool is_augmented(keel_str_t text, size_t assignment) {
    return assignment && assignment < text.size && strchr("+-*/%&|^@", text.data[assignment - 1]);
}

// Skips the indices behind a name, which are read and not assigned: "[i]" of "rows[i] = ...".
static void skip_indices(words_t *left) {
    for (int depth = 0; left->rest.size && (depth || *left->rest.data == '[');) {
        depth += (*left->rest.data == '[') - (*left->rest.data == ']');
        skip(&left->rest, 1);
    }
}

// Of "self.at, end: int = ..." the names "at" and "end"; of "for i in ..." the name "i".
static void add_assigned(keel_str_t text, names_t *names) {
    size_t end = assignment_in(text);
    words_t left = {.rest = {text.data, end < text.size ? end : 0}}, rest = {.rest = text};
    word_t word;
    if (!left.rest.size && next_word(&rest, &word) && keel_str_is(word.text, "for")) left = rest;
    while (next_word(&left, &word) && !keel_str_is(word.text, "in") && names->count < NAMES) {
        if (!word.is_owner) names->list[names->count++] = (name_t){word.text, word.is_attribute};
        skip_indices(&left);
        // "end: int": a type up to the next comma.
        while (!word.is_owner && left.rest.size && *left.rest.data == ':')
            while (left.rest.size && *left.rest.data != ',')
                skip(&left.rest, 1);
    }
}

// What a statement works on: the text after the "=" of an assignment, or all of it.
static keel_str_t worked_on(keel_str_t text) {
    size_t end = assignment_in(text);
    if (end == text.size || is_augmented(text, end)) return text;
    return (keel_str_t){text.data + end, text.size - end};
}

static size_t find_name(const names_t *names, const word_t *word) {
    size_t at = 0;
    while (at < names->count && !(names->list[at].is_attribute == word->is_attribute &&
                                  keel_str_equal(names->list[at].text, word->text)))
        ++at;
    return at;
}

// Names within at least `depth` brackets.
static bool uses(keel_str_t text, const names_t *names, int depth) {
    words_t words = {.rest = text};
    for (word_t word; next_word(&words, &word);)
        if (!word.is_keyword && word.depth >= depth && find_name(names, &word) < names->count)
            return true;
    return false;
}

static void forget_assigned(keel_str_t text, names_t *names) {
    names_t assigned = {.count = 0};
    size_t end = assignment_in(text);
    if (end == text.size || is_augmented(text, end) || memchr(text.data, '[', end)) return;
    add_assigned(text, &assigned);
    for (size_t i = 0; i < assigned.count; ++i) {
        word_t word = {.text = assigned.list[i].text,
                       .is_attribute = assigned.list[i].is_attribute};
        size_t at = find_name(names, &word);
        if (at < names->count) names->list[at] = names->list[--names->count];
    }
}

static bool is_list(keel_str_t text) {
    int depth = 0;
    for (; text.size; skip(&text, is_quote(*text.data) ? quoted(text) : 1)) {
        if (*text.data == ',' && depth <= 0) return true;
        depth += depth_of(*text.data);
    }
    return false;
}

// True if the text computes a tensor: it uses one, and not only its sizes. A list may have both.
static bool is_of_tensors(keel_str_t text, const flow_t *flow) {
    static const char *const sizes[] = {"size", "shape",  "numel", "dim",   "ndim", "len",
                                        "item", "tolist", "int",   "float", "bool", NULL};
    words_t words = {.rest = text};
    bool is_used = false;
    for (word_t word; next_word(&words, &word);) {
        if (keel_str_is_one_of(word.text, sizes)) return false;
        is_used |= find_name(&flow->numbers, &word) == flow->numbers.count &&
                   find_name(&flow->tensors, &word) < flow->tensors.count;
    }
    return is_used && !is_list(text);
}

// `is_certain`: whenever the read is reached, this is too.
static void follow(keel_str_t statement, flow_t *flow, bool is_certain) {
    keel_str_t text = worked_on(statement);
    if (uses(text, &flow->numbers, 0) && !is_of_tensors(text, flow))
        add_assigned(statement, &flow->numbers);
    else if (is_certain)
        forget_assigned(statement, &flow->numbers);
}

// ---- lines and functions -----------------------------------------------------------------------

// What follows a line, from its beginning.
static keel_str_t text_from(const keel_source_t *source, uint32_t line) {
    keel_str_t rest = {(const char *)source->data, source->size}, passed;
    for (uint32_t i = 1; i < line && keel_str_line(&rest, &passed);)
        ++i;
    return rest;
}

static size_t indent_of(keel_str_t line) {
    size_t indent = 0;
    while (indent < line.size && (line.data[indent] == ' ' || line.data[indent] == '\t'))
        ++indent;
    return indent;
}

// Blank lines, comments, and brackets that end a statement may stand anywhere.
static bool is_indented(keel_str_t line) {
    size_t indent = indent_of(line);
    return indent < line.size && !strchr("#)]}\r", line.data[indent]);
}

static bool is_definition(keel_str_t line) {
    words_t words = {.rest = line};
    word_t word;
    if (!next_word(&words, &word)) return false;
    if (keel_str_is(word.text, "async") && !next_word(&words, &word)) return false;
    return keel_str_is(word.text, "def");
}

// Lines of a function, from "def"; all 0: none.
typedef struct block_t {
    uint32_t first, last;
} block_t;

// The innermost function that the line is part of.
static block_t function_at(const keel_source_t *source, uint32_t line) {
    struct {
        uint32_t first;
        size_t indent;
    } open[DEPTH];
    size_t count = 0;
    keel_str_t rest = text_from(source, 1), text;
    for (uint32_t number = 1; keel_str_line(&rest, &text); ++number) {
        size_t indent = indent_of(text);
        bool is_past = number > line;
        if (is_past && !count) break;
        if (!is_indented(text)) continue;
        if (is_past && indent <= open[count - 1].indent)
            return (block_t){open[count - 1].first, number - 1};
        while (!is_past && count && indent <= open[count - 1].indent)
            --count;
        if (!is_past && count < DEPTH && is_definition(text)) {
            open[count].first = number;
            open[count++].indent = indent;
        }
    }
    return count ? (block_t){open[count - 1].first, UINT32_MAX} : (block_t){0};
}

// ---- which statement reads ---------------------------------------------------------------------

static const char *last_part(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

// How many brackets are around the outermost name of what reads; -1: there is no such name.
static int depth_of_reader(keel_str_t statement, const char *callee) {
    static const char *const readers[] = {"item", "tolist", "int", "float",   "bool",
                                          "cpu",  "numpy",  "len", "nonzero", NULL};
    words_t words = {.rest = statement};
    int depth = -1;
    for (word_t word; next_word(&words, &word);) {
        bool reads = *callee ? keel_str_is(word.text, last_part(callee))
                             : keel_str_is_one_of(word.text, readers);
        if (reads && (depth < 0 || word.depth < depth)) depth = word.depth;
    }
    return depth;
}

static bool names_reader(keel_str_t statement, const char *callee) {
    return depth_of_reader(statement, callee) >= 0;
}

// Of a line with several statements those count that name what reads; if none does, all.
static bool any_names_reader(keel_str_t line, const char *callee) {
    for (keel_str_t statement; next_statement(&line, &statement);)
        if (names_reader(statement, callee)) return true;
    return false;
}

// The variables that a statement reads from. What a function got is not known to be one of them.
static void add_tensors(keel_str_t statement, names_t *tensors) {
    static const char *const others[] = {"for",  "in",  "if",    "else",   "while",     "and",
                                         "or",   "not", "is",    "return", "yield",     "self",
                                         "math", "np",  "numpy", "range",  "enumerate", NULL};
    words_t words = {.rest = worked_on(statement)};
    for (word_t word; tensors->count < NAMES && next_word(&words, &word);) {
        bool is_called = words.rest.size && *words.rest.data == '(';
        if (!is_called && !word.is_keyword && !keel_str_is_one_of(word.text, others))
            tensors->list[tensors->count++] = (name_t){word.text, word.is_attribute};
    }
}

static void follow_read(keel_str_t statement, const char *callee, flow_t *flow) {
    add_assigned(statement, &flow->numbers);
    if (!*callee) add_tensors(statement, &flow->tensors);
}

static void follow_reading_line(keel_str_t line, const char *callee, flow_t *flow) {
    bool any = any_names_reader(line, callee);
    for (keel_str_t statement; next_statement(&line, &statement);)
        if (!any || names_reader(statement, callee))
            follow_read(statement, callee, flow);
        else
            follow(statement, flow, true);
}

// ---- where a program has the number ------------------------------------------------------------

static bool is_slice(const char *subject) {
    return strncmp(subject, "slice", strlen("slice")) == 0;
}

// What stands behind the sign of a power: "x ** n", "x.pow(n)".
static keel_str_t exponent_in(keel_str_t text) {
    static const char *const signs[] = {"**", "pow("};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; ++i)
        for (keel_str_t rest = text; rest.size; skip(&rest, 1))
            if (keel_str_starts(rest, keel_str(signs[i]))) return rest;
    return text;
}

static bool takes(keel_str_t statement, const names_t *names, const char *subject) {
    keel_str_t text = worked_on(statement);
    if (strcmp(subject, "power") == 0) text = exponent_in(text);
    return uses(text, names, is_slice(subject));
}

// True if the statement could be where the program has it: its sign is there, or a call's bracket.
static bool could_have(keel_str_t statement, const char *callee, const char *subject) {
    static const struct {
        const char *subject;
        char sign;
    } known[] = {{"slice", '['}, {"power", '*'},    {"multiply", '*'},
                 {"add", '+'},   {"subtract", '-'}, {"divide", '/'}};
    char sign = 0;
    int depth = depth_of_reader(statement, callee);
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
        if (strncmp(subject, known[i].subject, strlen(known[i].subject)) == 0) sign = known[i].sign;
    if (!sign || depth > 0) return true;
    if (depth < 0 && memchr(statement.data, '(', statement.size)) return true;
    return memchr(statement.data, sign, statement.size);
}

// The number is in the statement that reads, or in one that uses what an earlier one assigned.
static bool is_in_one_statement(keel_str_t line, const char *callee, const char *subject) {
    flow_t flow = {.numbers = {.count = 0}};
    bool any = any_names_reader(line, callee);
    for (keel_str_t statement; next_statement(&line, &statement);) {
        bool reads = !any || names_reader(statement, callee);
        if (could_have(statement, callee, subject) &&
            (reads || takes(statement, &flow.numbers, subject)))
            return true;
        if (reads)
            follow_read(statement, callee, &flow);
        else
            follow(statement, &flow, true);
    }
    return false;
}

bool keel_number_reaches(const keel_source_t *source, const keel_number_t *from, uint32_t used,
                         const char *subject) {
    flow_t flow = {.numbers = {.count = 0}};
    keel_str_t rest = text_from(source, from->line), line = KEEL_STR("");
    keel_str_line(&rest, &line);
    size_t indent = indent_of(line);
    if (from->line == used)
        return is_single(line) || is_in_one_statement(line, from->callee, subject);
    block_t block = function_at(source, from->line);
    if (used < from->line || (block.first && used > block.last)) return false;
    follow_reading_line(line, from->callee, &flow);
    for (uint32_t i = 1; flow.numbers.count && from->line + i < used && i <= LINES_FOLLOWED &&
                         keel_str_line(&rest, &line);
         ++i) {
        for (keel_str_t text = line, statement; next_statement(&text, &statement);)
            follow(statement, &flow, indent_of(line) <= indent && is_single(line));
    }
    line = keel_source_line(source, used);
    for (keel_str_t statement; next_statement(&line, &statement);) {
        if (takes(statement, &flow.numbers, subject)) return true;
        follow(statement, &flow, false);
    }
    return false;
}

// ---- what a function returns -------------------------------------------------------------------

// A statement that may go on over several lines.
typedef struct returned_t {
    bool is_open;
    int depth;
} returned_t;

// True if the statement is one that returns, or goes on with it.
static bool returns(returned_t *returned, keel_str_t statement) {
    static const char *const words[] = {"return", "yield", NULL};
    bool is_returned = returned->is_open || keel_str_is_one_of(first_word(statement), words);
    if (!returned->is_open) returned->depth = 0;
    for (keel_str_t rest = statement; rest.size;) {
        returned->depth += depth_of(*rest.data);
        skip(&rest, is_quote(*rest.data) ? quoted(rest) : 1);
    }
    returned->is_open = is_returned && returned->depth > 0;
    return is_returned;
}

// Reading calls something, or takes an element.
static bool could_read(keel_str_t statement) {
    return memchr(statement.data, '(', statement.size) ||
           memchr(statement.data, '[', statement.size);
}

// The last of these may be the function of a comprehension or a lambda: it returns what it has.
bool keel_number_is_returned(const keel_source_t *source, uint32_t line, const char *function) {
    const char *own = last_part(function);
    if (*own == '<' && strcmp(own, "<module>") != 0) return true;
    block_t block = function_at(source, line);
    if (!block.first) return false;
    returned_t returned = {0};
    flow_t flow = {.numbers = {.count = 0}};
    keel_str_t rest = text_from(source, block.first), text, statement;
    for (uint32_t i = block.first; i <= block.last && keel_str_line(&rest, &text); ++i) {
        bool any = i == line && any_names_reader(text, "");
        if (i > line && (!flow.numbers.count || i - line > LINES_FOLLOWED) && !returned.is_open)
            break;
        while (next_statement(&text, &statement)) {
            bool reads = i == line && (any ? names_reader(statement, "") : could_read(statement));
            bool is_returned = returns(&returned, statement);
            bool is_used = i >= line && uses(statement, &flow.numbers, 0);
            if (is_returned && (reads || (is_used && !is_of_tensors(statement, &flow))))
                return true;
            if (reads)
                follow_read(statement, "", &flow);
            else if (i >= line)
                follow(statement, &flow, false);
        }
    }
    return false;
}
