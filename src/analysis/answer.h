// answer: which known program a program differs from, at the time it was asked for, and how.
#ifndef KEEL_ANALYSIS_ANSWER_H_
#define KEEL_ANALYSIS_ANSWER_H_

#include "analysis/asked.h"
#include "analysis/kept.h"
#include "analysis/process.h"
#include "analysis/sources.h"
#include "explain/explain.h"

typedef struct answer_t {
    keel_explanation_t explanation;
    bool has_record;
    // What it is compared with, its text in the arena; without one, the program is the first of its
    // kind.
    keel_history_record_t record;
    bool is_another_function; // than the one that it is compared with, as recorded of the calls
} answer_t;

// What answers are based on.
typedef struct answer_facts_t {
    process_t *process;
    kept_t *kept;
    sources_t *sources;      // of the run
    sources_t *earlier;      // of an earlier run, loaded as needed
    const keel_made_t *made; // keel_side_t
    uint32_t made_count;
} answer_facts_t;

// *out_said: there is something to report; only then deinitialize *out.
keel_status_t answer_find(const answer_facts_t *facts, const asked_t *asked, keel_arena_t *arena,
                          answer_t *out, bool *out_said) KEEL_MUST_CHECK;
void answer_deinitialize(answer_t *answer);

// True if the line that asked also made the function that it called: jax.jit(net.init)(key, x).
bool answer_jits_there(const answer_facts_t *facts, const asked_t *asked);

// Makes the program known to the process.
keel_status_t answer_note(process_t *process, kept_t *kept, const asked_t *asked,
                          const char *run) KEEL_MUST_CHECK;

// The answer as a line of explained.ndjson, with its newline (line.c).
void answer_line(const asked_t *asked, const answer_t *answer, keel_buffer_t *out);

#endif // KEEL_ANALYSIS_ANSWER_H_
