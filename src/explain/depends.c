#include "explain/statements.h"

static uint32_t scope_of(const keel_depends_t *reads, uint32_t statement) {
    uint32_t at = reads->statements[statement].parent;
    while (at != KEEL_NONE && reads->statements[at].kind != FUNCTION &&
           reads->statements[at].kind != CLASS)
        at = reads->statements[at].parent;
    return at;
}

static keel_str_t name_of(const keel_depends_t *reads, const keel_depends_statement_t *statement,
                          uint32_t *out_name) {
    if (statement->name == KEEL_NONE) return KEEL_STR("");
    if (out_name) *out_name = reads->words[statement->name].name;
    return reads->words[statement->name].text;
}

static bool has_parameter(const keel_depends_t *reads, const keel_depends_statement_t *statement,
                          uint32_t name) {
    const keel_depends_word_t *words = words_of(reads, statement);
    for (uint32_t i = 0; i < statement->word_count; ++i)
        if (words[i].is_parameter && words[i].name == name) return true;
    return false;
}

static bool is_maker(keel_str_t name) {
    static const char *const makers[] = {"__init__", "__post_init__", "setup", NULL};
    return keel_str_is_one_of(name, makers);
}

// What a parameter holds comes from the lines that call its function, or make an object.
static void read_calls(keel_depends_t *reads, uint32_t function) {
    uint32_t name = KEEL_NONE, class = scope_of(reads, function);
    if (reads->has_calls && reads->statements[function].is_on_stack) return;
    keel_str_t text = name_of(reads, &reads->statements[function], &name);
    if (is_maker(text) && class != KEEL_NONE) name_of(reads, &reads->statements[class], &name);
    if (name != KEEL_NONE) reads->names[name] |= CALLS;
}

static bool is_passed(keel_depends_t *reads, uint32_t statement, uint32_t name) {
    for (uint32_t at = statement; at != KEEL_NONE; at = reads->statements[at].parent) {
        bool is_function = reads->statements[at].kind == FUNCTION;
        if ((at != statement && !is_function) ||
            !has_parameter(reads, &reads->statements[at], name))
            continue;
        if (is_function) read_calls(reads, at);
        return true;
    }
    return false;
}

static uint64_t place_of(uint32_t line, uint32_t column) {
    return (uint64_t)line << 32 | column;
}

// `within` may be NULL: the whole statement.
static void read_names(keel_depends_t *reads, uint32_t statement, const keel_frame_t *within) {
    const keel_depends_statement_t *of = &reads->statements[statement];
    const keel_depends_word_t *words = words_of(reads, of);
    for (uint32_t i = 0; i < of->word_count; ++i) {
        const keel_depends_word_t *word = &words[i];
        uint64_t place = place_of(word->line, word->column);
        if (within && (place < place_of(within->line, within->column) ||
                       place >= place_of(within->end_line, within->end_column)))
            continue;
        uint8_t passed = word->is_called ? 0 : PASSED;
        if (word->is_attribute)
            reads->names[word->name] |= READ_AS_ATTRIBUTE | passed;
        else if (!word->is_label && !word->is_parameter && !word->is_target &&
                 !is_passed(reads, statement, word->name))
            reads->names[word->name] |= READ | passed;
    }
}

static void reach_one(keel_depends_t *reads, uint32_t statement) {
    if (reads->statements[statement].is_reached) return;
    reads->statements[statement].is_reached = true;
    read_names(reads, statement, NULL);
}

static void reach(keel_depends_t *reads, uint32_t statement) {
    for (uint32_t at = statement; at != KEEL_NONE; at = reads->statements[at].parent) {
        keel_depends_statement_t *one = &reads->statements[at];
        reach_one(reads, at);
        if (at != statement && one->scope == CLOSED) one->scope = ON_STACK;
    }
}

static bool is_of(const keel_depends_statement_t *statement, uint32_t line) {
    return statement->first <= line && line <= statement->last;
}

// The first statement of a line; `count` if it has none. Statements are in the order of their
// lines.
static uint32_t first_of(const keel_depends_t *reads, uint32_t line) {
    uint32_t low = 0, high = reads->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (reads->statements[middle].last < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void keel_depends_reset(keel_depends_t *reads, bool has_calls) {
    reads->has_calls = has_calls;
    for (uint32_t i = 0; i < reads->name_count; ++i)
        reads->names[i] &= IMPORTED;
    for (uint32_t i = 0; i < reads->count; ++i) {
        reads->statements[i].is_reached = false;
        reads->statements[i].scope = CLOSED;
        reads->statements[i].is_on_stack = false;
    }
}

void keel_depends_exclude(keel_depends_t *reads, uint32_t line) {
    for (uint32_t i = first_of(reads, line); i < reads->count && is_of(&reads->statements[i], line);
         ++i)
        for (uint32_t at = i; at != KEEL_NONE; at = reads->statements[at].parent)
            reads->statements[at].is_excluded |= reads->statements[at].kind == FUNCTION;
}

void keel_depends_start(keel_depends_t *reads, const keel_frame_t *frame) {
    bool has_columns = frame->column && frame->end_column && frame->end_line >= frame->line;
    for (uint32_t i = first_of(reads, frame->line);
         i < reads->count && is_of(&reads->statements[i], frame->line); ++i) {
        keel_depends_statement_t *statement = &reads->statements[i];
        for (uint32_t at = statement->parent; at != KEEL_NONE; at = reads->statements[at].parent)
            reads->statements[at].is_on_stack = true;
        if (has_columns && !statement->is_header) {
            statement->is_reached = true;
            read_names(reads, i, frame);
        }
        reach(reads, i);
    }
}

static bool start_name(keel_depends_t *reads, keel_str_t text, uint8_t how) {
    const uint64_t *name = keel_map_find(&reads->known, keel_str_bytes(text));
    if (!name || (reads->names[*name] & how) == how) return false;
    reads->names[*name] |= how;
    return true;
}

// Those of `other` that it reads in a way become names here; whether it hands them on, too.
static bool start_names(keel_depends_t *reads, const keel_depends_t *other, uint8_t how,
                        uint8_t here) {
    bool any = false;
    if (reads->budget < other->word_count) return false;
    reads->budget -= other->word_count;
    for (uint32_t i = 0; i < other->word_count; ++i) {
        uint8_t is = other->names[other->words[i].name];
        if (is & how)
            any = start_name(reads, other->words[i].text, here | (is & PASSED & ~how)) || any;
    }
    return any;
}

bool keel_depends_reads(const keel_depends_t *reads, const keel_import_t *import) {
    return import->is_star || reads->names[import->name] & READ;
}

bool keel_depends_start_import(keel_depends_t *reads, const keel_depends_t *other,
                               const keel_import_t *import) {
    return import->is_star
               ? start_names(reads, other, READ, READ)
               : start_name(reads, import->taken, READ | (other->names[import->name] & PASSED));
}

bool keel_depends_start_attributes(keel_depends_t *reads, const keel_depends_t *other,
                                   bool is_module) {
    return start_names(reads, other, READ_AS_ATTRIBUTE, READ_AS_ATTRIBUTE | (is_module ? READ : 0));
}

bool keel_depends_start_calls(keel_depends_t *reads, const keel_depends_t *other) {
    return start_names(reads, other, CALLS, CALLS);
}

static bool is_assigned(const keel_depends_t *reads, const keel_depends_statement_t *statement,
                        bool is_in_class) {
    const keel_depends_word_t *words = words_of(reads, statement);
    for (uint32_t i = 0; i < statement->word_count; ++i) {
        uint8_t how = words[i].is_attribute ? READ_AS_ATTRIBUTE : READ;
        if (is_in_class) how |= READ_AS_ATTRIBUTE;
        if (words[i].is_target && reads->names[words[i].name] & how) return true;
    }
    return false;
}

static bool is_called(const keel_depends_t *reads, const keel_depends_statement_t *statement,
                      bool is_in_class) {
    uint32_t name = 0;
    keel_str_t text = name_of(reads, statement, &name);
    if (!text.size) return false;
    if (is_in_class && is_maker(text)) return true;
    return reads->names[name] & (is_in_class ? READ_AS_ATTRIBUTE : READ);
}

// Whether it calls what is called with an argument that matters.
static bool makes_call(const keel_depends_t *reads, const keel_depends_statement_t *statement) {
    const keel_depends_word_t *words = words_of(reads, statement);
    bool is_definition = statement->kind == FUNCTION || statement->kind == CLASS;
    for (uint32_t i = 0; i < statement->word_count && !is_definition; ++i)
        if (reads->names[words[i].name] & CALLS && words[i].is_called) return true;
    return false;
}

// A function that was handed on may have been called for what it does, not for what it returns.
static bool is_handed_on(const keel_depends_t *reads, const keel_depends_statement_t *scope) {
    uint32_t name = KEEL_NONE;
    if (!scope || scope->kind != FUNCTION || scope->scope != NAMED) return false;
    name_of(reads, scope, &name);
    return name != KEEL_NONE && reads->names[name] & PASSED;
}

static bool is_needed(const keel_depends_t *reads, uint32_t number) {
    const keel_depends_statement_t *statement = &reads->statements[number];
    if (makes_call(reads, statement)) return true;
    uint32_t around = scope_of(reads, number);
    const keel_depends_statement_t *scope = around == KEEL_NONE ? NULL : &reads->statements[around];
    if (scope && scope->scope == CLOSED) return false;
    bool is_in_class = scope && scope->kind == CLASS;
    if (is_handed_on(reads, scope)) return true;
    switch (statement->kind) {
        case ASSIGNMENT:
        case IMPORT:
            return is_assigned(reads, statement, is_in_class);
        case FUNCTION:
        case CLASS:
            return is_called(reads, statement, is_in_class);
        case RETURN:
            return scope && scope->scope == NAMED;
        case CALL: {
            uint8_t how = reads->names[words_of(reads, statement)->name];
            return how & READ && !(how & IMPORTED);
        }
        default:
            return false;
    }
}

static bool is_excluded(const keel_depends_t *reads, uint32_t statement, uint32_t class) {
    for (uint32_t at = statement; at != class; at = reads->statements[at].parent)
        if (reads->statements[at].is_excluded) return true;
    return false;
}

static bool is_within(const keel_depends_t *reads, uint32_t statement, uint32_t class) {
    while (statement != KEEL_NONE && statement > class)
        statement = reads->statements[statement].parent;
    return statement == class;
}

// What an object of the class returns depends on its fields, also if the methods that read them
// were traced: a layer's width decides the shapes of its parameters.
static void read_fields(keel_depends_t *reads, uint32_t class) {
    for (uint32_t i = class + 1; i < reads->count && is_within(reads, i, class); ++i) {
        if (!is_excluded(reads, i, class)) continue;
        const keel_depends_word_t *words = words_of(reads, &reads->statements[i]);
        for (uint32_t k = 0; k < reads->statements[i].word_count; ++k)
            if (words[k].is_attribute) reads->names[words[k].name] |= READ_AS_ATTRIBUTE;
    }
}

void keel_depends_follow(keel_depends_t *reads) {
    for (bool is_more = true; is_more;) {
        is_more = false;
        if (reads->budget < reads->count) return;
        reads->budget -= reads->count;
        for (uint32_t i = 0; i < reads->count; ++i) {
            keel_depends_statement_t *statement = &reads->statements[i];
            // A function on the stack runs as far as its line. Of one that was traced, the
            // decorators and the defaults count.
            bool is_whole =
                statement->kind == CLASS || (statement->kind == FUNCTION &&
                                             statement->scope == CLOSED && !statement->is_excluded);
            if (is_whole ? statement->scope == NAMED : statement->is_reached) continue;
            if (!is_needed(reads, i)) continue;
            reach(reads, i);
            if (is_whole) statement->scope = NAMED;
            if (statement->kind == CLASS) read_fields(reads, i);
            is_more = true;
        }
    }
}

bool keel_depends_has(const keel_depends_t *reads, uint32_t line) {
    for (uint32_t i = first_of(reads, line); i < reads->count && is_of(&reads->statements[i], line);
         ++i)
        if (reads->statements[i].is_reached) return true;
    return false;
}

keel_str_t keel_depends_owner(const keel_depends_t *reads, uint32_t line, bool *out_is_function) {
    *out_is_function = false;
    for (uint32_t i = first_of(reads, line); i < reads->count && is_of(&reads->statements[i], line);
         ++i) {
        const keel_depends_statement_t *statement = &reads->statements[i];
        const keel_depends_word_t *words = words_of(reads, statement);
        bool is_scope = statement->kind == FUNCTION || statement->kind == CLASS;
        uint32_t scope = is_scope ? i : scope_of(reads, i);
        *out_is_function = scope != KEEL_NONE && reads->statements[scope].kind == FUNCTION;
        if (scope != KEEL_NONE) return name_of(reads, &reads->statements[scope], NULL);
        for (uint32_t k = 0; k < statement->word_count && !statement->is_header; ++k)
            if (words[k].is_target) return words[k].text;
    }
    return KEEL_STR("");
}
