// words: functions of libraries, by their full names. Room-internal.
#ifndef KEEL_LINT_WORDS_H_
#define KEEL_LINT_WORDS_H_

#include "base/base.h"

typedef enum word_t {
    WORD_NOTHING,
    // What takes a function.
    WORD_JIT,         // compiles it; its arguments are arrays, except static ones
    WORD_JIT_LOOSE,   // compiles it; what is no array is static by itself
    WORD_TRACE,       // traces it; its arguments are arrays
    WORD_VMAP,        // traces it; its arguments are arrays, unless some are not mapped
    WORD_TRACE_LOOSE, // traces it
    WORD_WRAP,        // a function that calls it
    WORD_COMPILE,     // of PyTorch, for XLA
    WORD_PARTIAL,
    // What returns an array, or facts about one.
    WORD_ARRAY,
    WORD_BOOLS,      // an array of truth values
    WORD_ARRAYS,     // several
    WORD_HOST,       // a number, a dtype, a shape
    WORD_NEW,        // an array of the shape that its first argument is
    WORD_DRAW,       // an array of the shape that another argument is
    WORD_LOAD,       // an array of a file
    WORD_SUM,        // of a number, a number
    WORD_CONVERT,    // an array of what it is given
    WORD_JOIN,       // an array of several
    WORD_DYNAMIC,    // an array whose size depends on values, unless `size` is given
    WORD_WHERE,      // likewise with one argument
    WORD_REPEAT,     // likewise if the second is an array, unless the length is given
    WORD_ONE_HOT,    // likewise without the number of classes
    WORD_NUMPY,      // of the host
    WORD_NUMPY_READ, // makes an array of the host of it
    WORD_MATH,       // takes numbers of the host only
    // The rest.
    WORD_CONCRETE, // what stands in it is computed while tracing
    WORD_SYNC,
    WORD_LOADER,
    WORD_DEVICE_LOADER,
    WORD_ADAM,
    WORD_MODULE, // a class whose call is traced by JAX
} word_t;

// The name's word. A name without a row has that of its module's `.*`.
word_t keel_lint_word(keel_str_t name);

#endif // KEEL_LINT_WORDS_H_
