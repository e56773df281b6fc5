// figures: what a list of runs shows of a run, in a small file beside its journal, so that the
// journal need not be read again.
//
//   run_dir/<run id>/figures.json   two lines: the digest of the second; the figures, and which
//                                   journal and explanations they were made from (docs/journal.md)
//
// `keel run` leaves it when its command has ended, and `keel runs` when it had to read a journal.
// It counts only while both files are as they were.
//
// Threads: no shared state.
#ifndef KEEL_WHY_FIGURES_H_
#define KEEL_WHY_FIGURES_H_

#include "why/why.h"

// Leaves the file for a run that keel_why_read has read. A run whose journal is damaged or has
// grown meanwhile gets none, nor does one in a folder that cannot be written.
void keel_figures_leave(const keel_why_t *why, const char *run_dir);

// The figures that keel_text_line and keel_text_stats_json (not `whole`) show; nothing else of *out
// is set. KEEL_NOT_FOUND if there is no such file, or it is damaged, older than the journal or the
// explanations, or from another Keel.
keel_status_t keel_figures_read(const char *run_dir, const char *id,
                                keel_why_t *out) KEEL_MUST_CHECK;

#endif // KEEL_WHY_FIGURES_H_
