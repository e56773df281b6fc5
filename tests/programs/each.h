// What Keel does with one program, and with two. Everything that a client compiled must pass.
#ifndef KEEL_TESTS_PROGRAMS_EACH_H_
#define KEEL_TESTS_PROGRAMS_EACH_H_

#include "history/history.h"
#include "program/program.h"

typedef struct loaded_t {
    keel_program_t program;
    uint8_t *bytes;
    size_t size;
} loaded_t;

// Reads a program, compressed (.zst) or not. On failure there is nothing to unload.
keel_status_t load(const char *path, loaded_t *out) KEEL_MUST_CHECK;
void unload(loaded_t *loaded);

// Keys it, shows it as text and JSON, writes HLO and reads it back, makes and writes the programs
// of some of its results, finds its line, compares it with itself. The status of one that has no
// key; whatever else fails, or contradicts itself, ends the process.
keel_status_t work_on(const keel_program_t *program, keel_sketch_t *out) KEEL_MUST_CHECK;
// Explains one against the other, both ways, and writes what a report shows of the two.
void compare(const keel_program_t *before, const keel_program_t *after);

#endif // KEEL_TESTS_PROGRAMS_EACH_H_
