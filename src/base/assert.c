#include "base/assert.h"

#ifdef KEEL_ASSERTS

#include <stdio.h>
#include <stdlib.h>

void keel_assert_failed(const char *condition, const char *file, int line) {
    fprintf(stderr, "keel: %s:%d: this must hold inside Keel and does not: %s\n", file, line,
            condition);
    abort();
}

#else
// C needs a declaration in every translation unit.
typedef int keel_assert_unused_t;
#endif
