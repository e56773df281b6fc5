// start: `keel why --first`: where the time of a run's start went, and what makes its programs
// large.
//
// Ownership: all is borrowed for the call. Threads: no shared state.
#ifndef KEEL_TEXT_START_H_
#define KEEL_TEXT_START_H_

#include "explain/large.h"
#include "run/start.h"

typedef struct keel_text_start_t {
    const keel_run_t *run;
    const keel_start_t *start;
    const keel_large_t *large; // of the first programs of `start`, as many as are known
    const bool *is_known;      // whether that of each could be read
    size_t large_count;
} keel_text_start_t;

void keel_text_start(const keel_text_start_t *start, bool all, keel_buffer_t *out);
// An object; docs/journal.md has the fields.
void keel_text_start_json(const keel_text_start_t *start, keel_buffer_t *out);

#endif // KEEL_TEXT_START_H_
