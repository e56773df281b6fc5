// kept: the journal's kept programs, read. Neighbors are compared again and again: a program is
// held against the nearest of its function, and a run asks for dozens of functions in turn. So the
// last few hundred stay in memory.
#ifndef KEEL_ANALYSIS_KEPT_H_
#define KEEL_ANALYSIS_KEPT_H_

#include "base/map.h"
#include "program/program.h"

enum { KEPT_SLOTS = 256 };

// A program, and the bytes that it borrows.
typedef struct kept_program_t {
    keel_digest_t digest;
    keel_program_t program;
    uint8_t *bytes; // NULL: the slot is empty
    size_t size;
    uint64_t used; // time of use, as a count
} kept_program_t;

typedef struct kept_t {
    const char *run_dir;
    kept_program_t slots[KEPT_SLOTS];
    keel_map_t slot_of; // by digest: the slot where it was put last
    uint64_t clock;
} kept_t;

void kept_initialize(kept_t *kept, const char *run_dir);
void kept_deinitialize(kept_t *kept);
// *out is valid until the next call but one, so a program and its neighbor can be held together.
keel_status_t kept_read(kept_t *kept, const keel_digest_t *digest,
                        const keel_program_t **out) KEEL_MUST_CHECK;

#endif // KEEL_ANALYSIS_KEPT_H_
