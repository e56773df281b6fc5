// earlier: earlier runs of the same script without an analysis: what they had is otherwise unknown.
#ifndef KEEL_ANALYSIS_EARLIER_H_
#define KEEL_ANALYSIS_EARLIER_H_

#include "base/base.h"

// Calls `visit` for each of them, oldest first; only for the last few if there are many.
keel_status_t earlier_runs(const char *run_dir, const char *id,
                           keel_status_t (*visit)(void *context, const char *id),
                           void *context) KEEL_MUST_CHECK;

#endif // KEEL_ANALYSIS_EARLIER_H_
