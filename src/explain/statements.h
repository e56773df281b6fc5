// statements: a Python source as statements and their words, between statements.c, which reads
// them, and depends.c, which follows the words.
#ifndef KEEL_EXPLAIN_STATEMENTS_H_
#define KEEL_EXPLAIN_STATEMENTS_H_

#include "explain/depends.h"

typedef enum kind_t {
    PLAIN,
    ASSIGNMENT, // also the headers of `for` and `with`
    IMPORT,
    FUNCTION,
    CLASS,
    DECORATOR,
    RETURN,
    CALL // of a method: `layers.append(4)`
} kind_t;

// How far a function or class is looked into.
typedef enum scope_t { CLOSED, ON_STACK, NAMED } scope_t;

struct keel_depends_statement_t {
    uint32_t first, last; // lines
    uint32_t indent;
    uint32_t parent; // the header of the block; NONE
    uint32_t arm;    // of `else` and its like: the header of the arm above; NONE
    uint32_t words, word_count;
    kind_t kind;
    scope_t scope;
    bool is_header, is_reached, is_excluded;
    bool is_on_stack; // a function of a frame
};

struct keel_depends_word_t {
    keel_str_t text;
    uint32_t name;         // equal texts have equal names
    uint32_t line, column; // from 1
    uint32_t depth;
    bool is_attribute, is_target, is_parameter, is_label; // `x.word`, ..., `f(word=1)`
};

// How a name is read. CALLS: the calls of what has it matter, as an argument of one of them does.
// PASSED: it is handed on, and whoever gets it may call it.
enum { READ = 1, READ_AS_ATTRIBUTE = 2, IMPORTED = 4, CALLS = 8, PASSED = 16 };

static inline keel_depends_word_t *words_of(const keel_depends_t *reads,
                                            const keel_depends_statement_t *statement) {
    return reads->words + statement->words;
}

#endif // KEEL_EXPLAIN_STATEMENTS_H_
