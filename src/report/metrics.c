#include "report/metrics.h"

static keel_status_t count(void *context, const struct json_t *event) {
    return keel_metrics_event(context, event);
}

keel_status_t keel_report_metrics(const char *run_dir, const char *id, keel_metrics_t *out,
                                  keel_journal_damage_t *out_damage) {
    char *path;
    keel_metrics_initialize(out);
    *out_damage = (keel_journal_damage_t){0};
    KEEL_TRY(keel_journal_path(run_dir, id, &path));
    keel_status_t status = keel_journal_read(path, count, out, out_damage);
    keel_free(path);
    return status;
}
