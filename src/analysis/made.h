// made: the values that one process put on the device, and the lines that did: those that it sent
// (engine/sent.h) and those that its programs made of nothing. An argument that was synced before
// its first use is known by them.
#ifndef KEEL_ANALYSIS_MADE_H_
#define KEEL_ANALYSIS_MADE_H_

#include "analysis/asked.h"
#include "explain/explain.h"

enum { MADE_KEPT = 256 };

typedef struct made_entry_t {
    keel_made_t made; // in `texts`
    uint64_t asked;   // how many programs had been asked for when it was made last
} made_entry_t;

typedef struct made_t {
    made_entry_t entries[MADE_KEPT];
    uint32_t count;
    uint64_t asked;  // programs so far
    keel_map_t last; // origin -> `asked` when a program of it was asked for last
    keel_arena_t texts;
} made_t;

void made_initialize(made_t *made);
void made_deinitialize(made_t *made);
// What was sent before a program was asked for; call it first.
keel_status_t made_sent(made_t *made, const asked_t *asked) KEEL_MUST_CHECK;
// What was made since that function was asked for last, the newest first.
keel_status_t made_since(const made_t *made, const char *origin, keel_arena_t *arena,
                         const keel_made_t **out, uint32_t *out_count) KEEL_MUST_CHECK;
// The program was asked for, and makes these values. Call it last; `program` may be NULL.
keel_status_t made_asked(made_t *made, const char *origin,
                         const keel_program_t *program) KEEL_MUST_CHECK;

#endif // KEEL_ANALYSIS_MADE_H_
