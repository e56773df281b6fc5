// analysis: why each program of a run was asked for, worked out from the run's journal by `keel`
// itself. The client's process writes down facts (`ask` events); which known program is nearest,
// what differs and what the cause is are found here.
//
//   run_dir/<run id>/explained.ndjson   the answers, lines as those of a journal (docs/journal.md):
//     {"event":"analysis", ...}         first: the Keel that worked them out
//     {"event":"explain", ...}          one for each program that there is something to say of
//     {"event":"covered", ...}          last: how much of the journal they cover
//
// The file is replaced as a whole. It is kept, and continued where the journal has grown; a newer
// Keel makes it anew. The same journals give the same answers: budgets count work, never time. What
// earlier runs of the same script had is known from run_dir/history, which is written here too
// (history/history.h), so runs that nobody asked about yet are analysed first.
//
// Each run is analysed in a child process. Where a program crashes it, or keeps it busy without
// end, that program is not explained, which is one line among the answers, and the rest is.
//
//   analysis.c   a run: which answers are there, which are wanted
//   guard.c      the child
//   walk.c       the journal, event by event
//   process.c    what one process of the run has had so far
//   asked.c      one `ask` event
//   answer.c     what it differs from, and how
//   kept.c       programs that the journal kept, read
//   live.c       the figures of a run that goes on
//   sources.c    the user's source files as each run had them
//   line.c       an answer as a line
//
// Ownership: callers own what they pass. Threads: one thread of a process at a time; a caller with
// other threads must not hold locks that the child could need.
#ifndef KEEL_ANALYSIS_ANALYSIS_H_
#define KEEL_ANALYSIS_ANALYSIS_H_

#include <sys/types.h>

#include "base/base.h"

// Raised with every change of rules that makes other answers of the same journal.
enum { KEEL_ANALYSIS_REVISION = 21 };

// Sees to it that the run's answers are there and cover its journal as it stands. A journal without
// `ask` events needs none. Fails where they cannot be written.
keel_status_t keel_analysis_ensure(const char *run_dir, const char *id) KEEL_MUST_CHECK;

// The same in this very process, without a child: for tests and tools that watch for crashes.
keel_status_t keel_analysis_run(const char *run_dir, const char *id) KEEL_MUST_CHECK;

// While the run goes on: a child follows its journal, so that little is left to do at the end, and
// keeps files of the run's figures.
typedef struct keel_analysis_follower_t {
    pid_t child;    // 0: there is none
    int descriptor; // what ends it when it is closed
    void *watch;
} keel_analysis_follower_t;
// Where there can be no child, keel_analysis_ensure does it all in the end.
void keel_analysis_follow(const char *run_dir, const char *id, keel_analysis_follower_t *out);
// The command has ended: waits until the rest of the journal is covered.
void keel_analysis_follow_end(keel_analysis_follower_t *follower);

#endif // KEEL_ANALYSIS_ANALYSIS_H_
