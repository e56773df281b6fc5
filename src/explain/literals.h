// literals: the numbers in the user's source. If several numbers changed, the report shows the one
// that the user wrote.
//
// Room-internal.
#ifndef KEEL_EXPLAIN_LITERALS_H_
#define KEEL_EXPLAIN_LITERALS_H_

#include "explain/explain.h"

enum { KEEL_LITERAL_FILES = 8, KEEL_LITERALS_KEPT = 4096 };

typedef struct keel_literal_t {
    double value; // without the sign
    uint32_t line, file;
} keel_literal_t;

typedef struct keel_literals_t {
    const keel_sources_t *sources; // NULL: nothing is known
    const char *files[KEEL_LITERAL_FILES];
    uint32_t file_count;
    keel_literal_t *data;
    uint32_t count;
} keel_literals_t;

// Reads a file's numbers, if its text is known and was not read before. Borrows the name.
keel_status_t keel_literals_read(keel_literals_t *literals, const char *file,
                                 keel_arena_t *arena) KEEL_MUST_CHECK;
// Adds the numbers of a Python text; what is in comments or strings is none.
keel_status_t keel_literals_scan(keel_literals_t *literals, uint32_t file,
                                 keel_str_t text) KEEL_MUST_CHECK;

// True if the number is in one of the files, or on that line of it.
bool keel_literals_have(const keel_literals_t *literals, double value);
bool keel_literals_have_at(const keel_literals_t *literals, double value, const char *file,
                           uint32_t line);

#endif // KEEL_EXPLAIN_LITERALS_H_
