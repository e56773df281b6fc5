// repeats: retraces that are counted. A client that jits a function in a loop asks for one program
// at one line again and again. The first few are written and explained one by one. Of those after
// them, loads are added up and written with executions, as one `load` for all; a compile takes
// longer than its line, so each has one.
//
// Threads: any.
#ifndef KEEL_ENGINE_REPEATS_H_
#define KEEL_ENGINE_REPEATS_H_

#include "engine/core.h"

enum {
    REPEATS_EXPLAINED = 16, // of one function under one key
    REPEATS_KINDS = 1024,   // that are counted: a program, a line, where it came from
};

typedef struct repeats_t repeats_t;

typedef enum repeat_t {
    REPEAT_EXPLAINED, // to be written and explained: one of the first few, or new at this line
    REPEAT_COUNTED,   // not to be written: that is done later
    REPEAT_WRITTEN,   // to be written, as more kinds come than are counted; explained it was
} repeat_t;

keel_status_t repeats_create(keel_engine_t *engine) KEEL_MUST_CHECK;
// NULL is allowed.
void repeats_destroy(repeats_t *repeats);

// One more retrace. `load` is its event, with the step that waits for it; the texts are copied.
// `before`: how often the function asked for this key already.
repeat_t repeats_add(keel_engine_t *engine, const keel_journal_load_t *load, uint64_t before);
// The same for one that is about to be compiled, which is never only counted. Its bytes may differ
// each time, as those that contain an address do.
repeat_t repeats_compiled(keel_engine_t *engine, const keel_journal_subject_t *subject,
                          const keel_journal_site_t *site, uint64_t before);
// True if some are counted that are not written yet.
bool repeats_are_pending(keel_engine_t *engine);
// Writes what was counted since the last time. The executions before them are written already.
void repeats_journal(keel_engine_t *engine);

#endif // KEEL_ENGINE_REPEATS_H_
