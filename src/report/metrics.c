#include "report/metrics.h"

static keel_status_t count(void *context, const struct json_t *event) {
    return keel_metrics_event(context, event);
}

keel_status_t keel_report_metrics(const char *run_dir, const char *id, keel_metrics_t *out,
                                  keel_journal_damage_t *out_damage) {
    keel_journal_file_t journal;
    keel_metrics_initialize(out);
    *out_damage = (keel_journal_damage_t){0};
    KEEL_TRY(keel_journal_file_read(run_dir, id, &journal));
    keel_status_t status = keel_journal_parse(journal.bytes, count, out, out_damage);
    keel_journal_file_free(&journal);
    return status;
}
