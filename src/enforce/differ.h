// differ: how the programs of two processes differ. Both hand theirs over in the meeting place, and
// the first process of the job compares them, with `keel diff` in a process of its own.
//
// Threads: one at a time.
#ifndef KEEL_ENFORCE_DIFFER_H_
#define KEEL_ENFORCE_DIFFER_H_

#include "enforce/letters.h"

enum { DIFFER_WITHIN = 4 }; // seconds, for all of it

// A program as one process has it.
typedef struct differ_side_t {
    uint32_t process;
    const char *key;   // of its letters; they go on with a number
    keel_bytes_t code; // NULL: the process hands it over, unless it is kept
    bool is_kept;      // among the programs of the run's folder
    char digest[KEEL_DIGEST_HEX];
} differ_side_t;

// Hands over this process's program, packed. One that is too large is not handed over, which is no
// failure.
keel_status_t differ_give(const letters_t *letters, const differ_side_t *side) KEEL_MUST_CHECK;

// What `keel diff` says about the two: the first lines, each after a newline and two blanks.
// Nothing if it is not known in time. `folder` is for two files, and need not be there.
void differ_explain(letters_t *letters, const char *run_dir, const char *folder,
                    const differ_side_t sides[2], keel_buffer_t *out);

#endif // KEEL_ENFORCE_DIFFER_H_
