#include <inttypes.h>

#include "metrics/part.h"

// "01m02s345ms678.901us": the units that are not 0, all but the first two digits wide.
static void duration(keel_buffer_t *out, uint64_t nanoseconds) {
    const struct {
        const char *name;
        uint64_t size;
        int width;
    } units[] = {{"d", 86400000000000u, 2},
                 {"h", 3600000000000u, 2},
                 {"m", 60000000000u, 2},
                 {"s", 1000000000u, 2},
                 {"ms", 1000000u, 3}};
    bool began = false;
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i) {
        uint64_t whole = nanoseconds / units[i].size;
        nanoseconds %= units[i].size;
        began = began || whole;
        if (began) keel_buffer_format(out, "%0*" PRIu64 "%s", units[i].width, whole, units[i].name);
    }
    keel_buffer_format(out, "%03" PRIu64 ".%03" PRIu64 "us", nanoseconds / 1000u,
                       nanoseconds % 1000u);
}

// All digits, so that figures match those of a file.
static void size(keel_buffer_t *out, uint64_t bytes) {
    keel_buffer_format(out, "%" PRIu64 "B", bytes);
}

static void summary(const keel_metric_facts_t *facts, const keel_metric_value_t *value,
                    keel_buffer_t *out) {
    keel_buffer_format(out,
                       "Metric: %s\n  TotalSamples: %" PRIu64 "\n  Accumulator: ", facts->xla_name,
                       value->count);
    if (facts->unit == KEEL_METRIC_SECONDS)
        duration(out, value->value);
    else
        size(out, value->value);
    keel_buffer_byte(out, '\n');
}

static void counter(const char *name, uint64_t value, keel_buffer_t *out) {
    keel_buffer_text(out, "Counter: ");
    for (; *name; ++name)
        keel_buffer_byte(out, (unsigned char)*name > 0x20 && *name != 0x7f ? (uint8_t)*name : '_');
    keel_buffer_format(out, "\n  Value: %" PRIu64 "\n", value);
}

void keel_metrics_report(const keel_metrics_t *metrics, keel_buffer_t *out) {
    for (int i = 0; i < KEEL_METRIC_COUNT; ++i) {
        const keel_metric_facts_t *facts = keel_metric_facts((keel_metric_t)i);
        if (facts->xla_name && facts->kind == KEEL_METRIC_SUMMARY)
            summary(facts, &metrics->totals[i], out);
    }
    for (int i = 0; i < KEEL_METRIC_COUNT; ++i) {
        const keel_metric_facts_t *facts = keel_metric_facts((keel_metric_t)i);
        if (facts->xla_name && !facts->label)
            if (facts->kind == KEEL_METRIC_COUNTER)
                counter(facts->xla_name, metrics->totals[i].value, out);
    }
    for (size_t i = 0; i < metrics->series_count; ++i) {
        const keel_metric_series_t *series = &metrics->series[i];
        const char *xla_name = keel_metric_facts(series->metric)->xla_name;
        if (xla_name && !*xla_name) counter(series->label, series->value.value, out);
    }
}
