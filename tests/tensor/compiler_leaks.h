// What the leak sanitizer is not to report of the embedded plugin. For one file of a program.
#ifndef KEEL_TESTS_TENSOR_COMPILER_LEAKS_H_
#define KEEL_TESTS_TENSOR_COMPILER_LEAKS_H_

#include "keel/keel.h"

// The plugin's compiler forgets what it makes of a scatter. The sanitizer, a library of its own,
// finds the function only if it is visible.
KEEL_API const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:IndexingMapAttrStorage\n";
}

#endif // KEEL_TESTS_TENSOR_COMPILER_LEAKS_H_
