// What the files of this room share.
#ifndef KEEL_METRICS_PART_H_
#define KEEL_METRICS_PART_H_

#include "metrics/metrics.h"

// The series of a label, added if it is new; that of "other" once there are too many.
keel_status_t keel_metrics_series(keel_metrics_t *metrics, keel_metric_t metric, const char *label,
                                  keel_metric_series_t **out) KEEL_MUST_CHECK;
// A copy, cut to KEEL_METRICS_TEXT bytes.
keel_status_t keel_metrics_keep(keel_metrics_t *metrics, const char *text,
                                const char **out) KEEL_MUST_CHECK;

// A value as text: seconds with nine decimals.
void keel_metrics_number(keel_buffer_t *out, const keel_metric_facts_t *facts, uint64_t value);

#endif // KEEL_METRICS_PART_H_
