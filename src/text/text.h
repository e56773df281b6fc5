// text: a run as text for people and as JSON for tools. It only reads the run (run/run.h) and why
// it compiled what it did (why/why.h).
//
//   stats.c   `keel stats`, `keel runs`, the summary of `keel run`; stats_json.c
//   why.c     `keel why`; why_item.c: one item of it; why_json.c
//   memory.c  `keel memory`
//   facts.c   sentences and fields that several of them share
//   topics.c  `keel explain`: the pages of the causes
//   flow.c    lines that fit a terminal; write.c: words and fields
//
// Text from foreign files is made safe for a terminal: control bytes become '?'.
//
// Ownership: all is borrowed for the call. Threads: no shared state.
#ifndef KEEL_TEXT_TEXT_H_
#define KEEL_TEXT_TEXT_H_

#include "base/base.h"
#include "why/why.h"

// A few lines for the end of a run, each beginning with "keel: ".
void keel_text_summary(const keel_why_t *why, keel_buffer_t *out);
// One recompile as the summary names it: "train.py:12 shape x f32[4] -> f32[5]".
void keel_text_recompile(const keel_why_recompile_t *recompile, keel_buffer_t *out);
// All figures, for people. `width`: columns that long values are cut to; 0: nothing is cut.
void keel_text_stats(const keel_why_t *why, unsigned width, keel_buffer_t *out);
// One line for `keel runs`, without its end. If it is wider than `width` (0: any), the command has
// lines of its own, at most three, and so has what was compiled if need be.
void keel_text_line(const keel_why_t *why, unsigned width, keel_buffer_t *out);
// docs/journal.md has the fields. `whole`: with the lists, as `keel stats`; else as `keel runs`.
void keel_text_stats_json(const keel_why_t *why, bool whole, keel_buffer_t *out);
// The same with the lists, and with the exit code of the run's command, which no journal has.
void keel_text_ended_json(const keel_why_t *why, int exit_code, keel_buffer_t *out);

// "JOURNAL:12: not JSON; ...", or "" if there is no damage.
void keel_text_damage(const keel_run_t *run, keel_buffer_t *out);

// `all`: also firsts and loads, every root and every folded difference.
typedef struct keel_text_style_t {
    bool all;
    bool color;
    unsigned width; // columns; 0: do not cut
} keel_text_style_t;
// `keel why`; one line if there is nothing to report. Some of it needs KEEL_RUN_DETAILS.
void keel_text_why(const keel_why_t *why, const keel_text_style_t *style, keel_buffer_t *out);
// The item of the program whose digest begins with `program`, the last one if there are several;
// nothing if there is none. Some of it needs KEEL_RUN_DETAILS.
void keel_text_why_program(const keel_why_t *why, const char *program,
                           const keel_text_style_t *style, keel_buffer_t *out);
// A list, one object an entry: docs/journal.md has the fields.
void keel_text_why_json(const keel_why_t *why, bool all, keel_buffer_t *out);

// `program`: that alone, in full; NULL: all of the run. Needs KEEL_RUN_MEMORY.
void keel_text_memory(const keel_run_t *run, const keel_memory_program_t *program,
                      keel_buffer_t *out);
void keel_text_memory_json(const keel_run_t *run, const keel_memory_program_t *program,
                           keel_buffer_t *out);

#endif // KEEL_TEXT_TEXT_H_
