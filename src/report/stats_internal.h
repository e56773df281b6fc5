// stats_internal: what the files of stats share.
#ifndef KEEL_REPORT_STATS_INTERNAL_H_
#define KEEL_REPORT_STATS_INTERNAL_H_

#include "report/report.h"

// stats_causes.c: gives each recompile the cause that `keel why` tells it by, and leaves out what
// that counts as none. All have been met; `bytes` are the journal's.
keel_status_t keel_stats_take_causes(keel_bytes_t bytes, keel_stats_t *stats) KEEL_MUST_CHECK;

#endif // KEEL_REPORT_STATS_INTERNAL_H_
