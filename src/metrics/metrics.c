#include "metrics/metrics.h"

static const keel_metric_facts_t facts[] = {
#define FACTS(member, name, xla, kind, unit, label, sentence)                                      \
    {name, xla, KEEL_METRIC_##kind, KEEL_METRIC_##unit, label, sentence},
    KEEL_METRICS(FACTS)
#undef FACTS
};

const keel_metric_facts_t *keel_metric_facts(keel_metric_t metric) {
    return &facts[metric];
}

void keel_metrics_initialize(keel_metrics_t *metrics) {
    *metrics = (keel_metrics_t){
        .host = "", .platform = "", .mode = "", .command = "", .version = "", .target = ""};
    keel_map_initialize(&metrics->series_of);
    keel_map_initialize(&metrics->rehearsals);
    keel_arena_initialize(&metrics->texts, 0);
}

void keel_metrics_deinitialize(keel_metrics_t *metrics) {
    keel_free(metrics->series);
    keel_map_deinitialize(&metrics->series_of);
    keel_map_deinitialize(&metrics->rehearsals);
    keel_arena_deinitialize(&metrics->texts);
    *metrics = (keel_metrics_t){0};
}

keel_status_t keel_metrics_path(const char *run_dir, const char *run, int64_t pid, const char *kind,
                                char **out) {
    return keel_path(out, "%s/%s/metrics.%lld.%s", run_dir, run, (long long)pid, kind);
}
