// What a case of the corpus should be reported as: the fields of its head and the markers in its
// source. README.md has the format, cases.py reads the same.
#ifndef KEEL_TESTS_CORPUS_EXPECTED_H_
#define KEEL_TESTS_CORPUS_EXPECTED_H_

#include "base/base.h"

enum { EXPECTED_CAUSES = 8, EXPECTED_MARKS = 32 };

// A line of a source; `file` is relative to the folder of all cases. NULL: the case leaves it open.
typedef struct expected_place_t {
    const char *file;
    unsigned line;
} expected_place_t;

// NULL: the case leaves it open.
typedef struct expected_cause_t {
    const char *kind, *subject, *old_value, *new_value, *pattern, *advice;
    expected_place_t place, call;
} expected_cause_t;

// A line that reads on the host.
typedef struct expected_read_t {
    expected_place_t place;
    unsigned pieces; // programs of the step that it cuts; 0: it cuts none
} expected_read_t;

typedef struct expected_t {
    const char *name;
    expected_cause_t causes[EXPECTED_CAUSES];
    size_t cause_count;
    expected_read_t reads[EXPECTED_MARKS];
    size_t read_count;
    const char *program; // the module to look at, or NULL
    unsigned processes;
    keel_arena_t texts;
} expected_t;

// `folder`/`name`.py, or all below `folder`/`name` with its main.py. Fails the test if the case is
// malformed. Deinitialize it.
void expected_read(const char *folder, const char *name, expected_t *out);
void expected_deinitialize(expected_t *expected);

#endif // KEEL_TESTS_CORPUS_EXPECTED_H_
