// analysis: works out from a run's journal, in `keel`'s own process, why each program was asked
// for. The client's process only writes facts (`ask` events); this room finds the nearest known
// program, the differences and their cause.
//
//   run_dir/<run id>/explained.ndjson   the answers, in lines like a journal's (docs/journal.md):
//     {"event":"analysis", ...}         first: the Keel that worked them out
//     {"event":"explain", ...}          one for each program with an explanation
//     {"event":"covered", ...}          last: how much of the journal they cover
//
// The file is replaced as a whole. It is kept, and continued when the journal has grown; a newer
// Keel makes it again. The same journals give the same answers: budgets count work, never time.
// run_dir/history has what earlier runs of the same script had. It is written here too
// (history/history.h), so earlier runs without an analysis are analyzed first.
//
// Each run is analyzed in a child process. If a program crashes it, or keeps it busy too long, that
// program gets one line that says so instead of an explanation, and the others are explained.
//
//   analysis.c   a run: which answers exist, which are needed
//   guard.c      the child
//   walk.c       the journal, event by event
//   process.c    what one process of the run has had so far
//   asked.c      one `ask` event
//   answer.c     what it differs from, and how
//   kept.c       the journal's kept programs, read
//   live.c       the figures of a live run
//   sources.c    the user's source files as each run had them
//   line.c       an answer as a line
//
// Ownership: callers own what they pass. Threads: one thread of a process at a time; a caller with
// other threads must not hold locks that the child could need.
#ifndef KEEL_ANALYSIS_ANALYSIS_H_
#define KEEL_ANALYSIS_ANALYSIS_H_

#include <sys/types.h>

#include "explain/explain.h"

// Raised by every rule change that gives different answers for the same journal.
enum { KEEL_ANALYSIS_REVISION = 119 };

// Makes sure that the run has answers that cover its current journal. A journal without `ask`
// events needs none. Fails if they cannot be written.
keel_status_t keel_analysis_ensure(const char *run_dir, const char *id) KEEL_MUST_CHECK;

// The same in this process, without a child: for tests and tools that watch for crashes.
keel_status_t keel_analysis_run(const char *run_dir, const char *id) KEEL_MUST_CHECK;

// A program that the live run compiled again.
typedef struct keel_analysis_recompile_t {
    int64_t pid;
    const char *name;               // of its module
    uint64_t step, steady;          // as in its `ask` event
    double seconds;                 // that the compile took
    const char *folder;             // where the run began; "": unknown
    const keel_place_t *site;       // the line that asked
    const keel_difference_t *cause; // NULL: unknown
} keel_analysis_recompile_t;

// Called in the child that follows a live run, until the command has ended.
typedef struct keel_analysis_listener_t {
    void (*recompiled)(void *context, const keel_analysis_recompile_t *recompile);
    void (*looked)(void *context); // about four times a second
} keel_analysis_listener_t;

// While the run is live, a child follows its journal, so that little is left to do at the end, and
// keeps files of the run's figures.
typedef struct keel_analysis_follower_t {
    pid_t child;    // 0: none
    int descriptor; // closing it ends the child
    void *watch;
} keel_analysis_follower_t;
// If there can be no child, keel_analysis_ensure does everything at the end.
// `listener` may be NULL.
void keel_analysis_follow(const char *run_dir, const char *id,
                          const keel_analysis_listener_t *listener, void *context,
                          keel_analysis_follower_t *out);
// The command has ended: waits until the rest of the journal is covered.
void keel_analysis_follow_end(keel_analysis_follower_t *follower);

#endif // KEEL_ANALYSIS_ANALYSIS_H_
