#include "metrics/part.h"

static const char other[] = "other";

// Never cuts inside a character.
static size_t kept_length(const char *text) {
    size_t size = strlen(text);
    if (size <= KEEL_METRICS_TEXT) return size;
    size = KEEL_METRICS_TEXT;
    while (size && ((unsigned char)text[size] & 0xc0) == 0x80)
        --size;
    return size;
}

keel_status_t keel_metrics_keep(keel_metrics_t *metrics, const char *text, const char **out) {
    keel_str_t kept;
    KEEL_TRY(keel_arena_str(&metrics->texts, (keel_str_t){text, kept_length(text)}, &kept));
    *out = kept.data;
    return NULL;
}

static keel_status_t add_series(keel_metrics_t *metrics, keel_metric_t metric, const char *label,
                                keel_bytes_t key) {
    const char *kept;
    void *grown = metrics->series;
    KEEL_TRY(keel_metrics_keep(metrics, label, &kept));
    KEEL_TRY(keel_realloc_array(metrics->series_count + 1, sizeof *metrics->series, &grown));
    metrics->series = grown;
    KEEL_TRY(keel_map_put(&metrics->series_of, key, metrics->series_count));
    metrics->series[metrics->series_count++] =
        (keel_metric_series_t){.metric = metric, .label = kept};
    ++metrics->labels[metric];
    return NULL;
}

keel_status_t keel_metrics_series(keel_metrics_t *metrics, keel_metric_t metric, const char *label,
                                  keel_metric_series_t **out) {
    uint8_t key[KEEL_METRICS_TEXT + 1] = {(uint8_t)metric};
    bool is_full = metrics->labels[metric] >= KEEL_METRICS_SERIES;
    for (;;) {
        size_t size = kept_length(label);
        memcpy(key + 1, label, size);
        const uint64_t *found = keel_map_find(&metrics->series_of, keel_bytes(key, size + 1));
        if (found) {
            *out = &metrics->series[*found];
            return NULL;
        }
        if (!is_full || label == other)
            KEEL_TRY(add_series(metrics, metric, label, keel_bytes(key, size + 1)));
        else
            label = other;
    }
}

keel_status_t keel_metrics_set(keel_metrics_t *metrics, keel_metric_t metric, const char *label,
                               uint64_t value) {
    keel_metric_series_t *series;
    KEEL_TRY(keel_metrics_series(metrics, metric, label, &series));
    // "other" covers many labels: keep the largest.
    bool is_own = strcmp(series->label, other) != 0 || strcmp(label, other) == 0;
    if (is_own || value > series->value.value) series->value.value = value;
    return NULL;
}
