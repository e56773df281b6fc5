// metrics: the figures of a run under the names of metrics/metrics.h, from its journal.
#ifndef KEEL_REPORT_METRICS_H_
#define KEEL_REPORT_METRICS_H_

#include "metrics/metrics.h"

// Those of all its processes together. To be deinitialized also on failure. Lines that cannot be
// read are in out_damage and no error.
keel_status_t keel_report_metrics(const char *run_dir, const char *id, keel_metrics_t *out,
                                  keel_journal_damage_t *out_damage) KEEL_MUST_CHECK;

#endif // KEEL_REPORT_METRICS_H_
