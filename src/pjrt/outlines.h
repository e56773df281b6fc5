// outlines: what this thread's client reads of an executable's optimized program.
//
// JAX's client has a question each for the layouts and shardings of parameters and results. Over
// PJRT's C API it answers most of them from the optimized program, which it fetches and parses
// whole, each time: as long as loading the executable for some. What such a question needs is in
// the program's outline (signature/signature.h). Nobody else may get that, so the Python package,
// which sees the question itself (python/keel/outlines.py), says on the asking thread when it
// begins and when it ends.
//
// Threads: all of it is the calling thread's own.
#ifndef KEEL_PJRT_OUTLINES_H_
#define KEEL_PJRT_OUTLINES_H_

#include <stdbool.h>

#include <pjrt_c_api.h>

typedef enum keel_outlines {
    KEEL_OUTLINES_ASKED = 0, // a question to any executable
    KEEL_OUTLINES_MADE = 1,  // making an executable, whose results the client asks for then
} keel_outlines_t;

// Questions may be nested: each begins and ends.
void keel_outlines_mark(keel_outlines_t kind, bool begins);
// The client took this executable from one that it made or loaded.
void keel_outlines_taken(const PJRT_Executable *executable);
// Whether it asks this executable only for what an outline has.
bool keel_outlines_suffice(const PJRT_Executable *executable);

#endif // KEEL_PJRT_OUTLINES_H_
