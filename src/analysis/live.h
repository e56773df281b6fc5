// live: the figures of a live run, as files beside its journal (docs/metrics.md), one pair per
// process. They are counted from the journal's lines, as `keel stats` counts them afterwards.
#ifndef KEEL_ANALYSIS_LIVE_H_
#define KEEL_ANALYSIS_LIVE_H_

#include "metrics/metrics.h"

typedef struct live_process_t {
    keel_metrics_t metrics;
    keel_digest_t written; // of the JSON in the file
} live_process_t;

typedef struct live_t {
    const char *run_dir, *run;
    live_process_t **processes;
    size_t count;
} live_t;

void live_initialize(live_t *live, const char *run_dir, const char *run);
void live_deinitialize(live_t *live);
// Counts one more event of the journal.
keel_status_t live_event(live_t *live, const struct json_t *event) KEEL_MUST_CHECK;
// Replaces the files of processes whose figures changed.
keel_status_t live_write(live_t *live) KEEL_MUST_CHECK;

#endif // KEEL_ANALYSIS_LIVE_H_
