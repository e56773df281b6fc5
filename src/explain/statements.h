// statements: the tree of a Python source as its statements and their words, between statements.c,
// which lists them, and depends.c, which follows the words.
#ifndef KEEL_EXPLAIN_STATEMENTS_H_
#define KEEL_EXPLAIN_STATEMENTS_H_

#include "explain/depends.h"

typedef enum kind_t {
    PLAIN,
    ASSIGNMENT, // also the headers of `for` and `with`
    IMPORT,
    FUNCTION,
    CLASS,
    RETURN,
    CALL // of a method: `layers.append(4)`
} kind_t;

// How far a function or class is looked into.
typedef enum scope_t { CLOSED, ON_STACK, NAMED } scope_t;

// A simple statement, or the header of a block: `if`, `else`, `except`, `case`, a function with its
// decorators.
struct keel_depends_statement_t {
    uint32_t first, last; // lines
    uint32_t node;        // of `else` and `finally`: that of their statement
    uint32_t parent;      // the header of the block, above an arm that of its statement; NONE
    uint32_t words, word_count;
    uint32_t name; // of a function or class: its own word; NONE
    uint8_t field; // of `else` and `finally`: keel_py_field_t
    kind_t kind;
    scope_t scope;
    bool is_header, is_reached, is_excluded;
    bool is_on_stack; // a function of a frame
};

struct keel_depends_word_t {
    keel_str_t text;
    uint32_t name;                          // equal texts have equal names
    uint32_t line, column;                  // from 1
    bool is_attribute, is_target, is_label; // `x.word`, `word = x`, `f(word=1)`
    bool is_parameter;                      // also of a lambda and of a comprehension
    bool is_called;                         // `word(`
};

// How a name is read. CALLS: the calls of what has it matter, as an argument of one of them does.
// PASSED: it is handed on, and whoever gets it may call it.
enum { READ = 1, READ_AS_ATTRIBUTE = 2, IMPORTED = 4, CALLS = 8, PASSED = 16 };

static inline keel_depends_word_t *words_of(const keel_depends_t *reads,
                                            const keel_depends_statement_t *statement) {
    return reads->words + statement->words;
}

#endif // KEEL_EXPLAIN_STATEMENTS_H_
