#include <inttypes.h>

#include "metrics/part.h"

static void name(keel_buffer_t *out, const char *text) {
    uint8_t last = out->size ? out->data[out->size - 1] : 0;
    keel_buffer_text(out, last == '{' ? "" : ", ");
    keel_buffer_json_str(out, keel_str(text));
    keel_buffer_text(out, ": ");
}

static void field(keel_buffer_t *out, const char *of, const char *text) {
    name(out, of);
    keel_buffer_json_str(out, keel_str(text));
}

static void value(keel_buffer_t *out, const keel_metric_facts_t *facts,
                  const keel_metric_value_t *value) {
    if (facts->kind != KEEL_METRIC_SUMMARY) {
        keel_metrics_number(out, facts, value->value);
        return;
    }
    keel_buffer_format(out, "{\"count\": %" PRIu64 ", \"sum\": ", value->count);
    keel_metrics_number(out, facts, value->value);
    keel_buffer_byte(out, '}');
}

// The values of all labels; `as_names` writes them as fields of the object that is open.
static void series(const keel_metrics_t *metrics, keel_metric_t metric, bool as_names,
                   keel_buffer_t *out) {
    if (!as_names) keel_buffer_byte(out, '{');
    for (size_t i = 0; i < metrics->series_count; ++i) {
        if (metrics->series[i].metric != metric) continue;
        name(out, metrics->series[i].label);
        value(out, keel_metric_facts(metric), &metrics->series[i].value);
    }
    if (!as_names) keel_buffer_byte(out, '}');
}

void keel_metrics_json(const keel_metrics_t *metrics, const char *run, keel_buffer_t *out) {
    keel_buffer_byte(out, '{');
    field(out, "run", run);
    if (metrics->pid) {
        name(out, "pid");
        keel_buffer_format(out, "%" PRId64, metrics->pid);
    }
    field(out, "version", metrics->version);
    field(out, "host", metrics->host);
    field(out, "platform", metrics->platform);
    field(out, "mode", metrics->mode);
    field(out, "command", metrics->command);
    name(out, "metrics");
    keel_buffer_byte(out, '{');
    for (int i = 0; i < KEEL_METRIC_COUNT; ++i) {
        const keel_metric_facts_t *facts = keel_metric_facts((keel_metric_t)i);
        name(out, facts->name);
        if (facts->label)
            series(metrics, (keel_metric_t)i, false, out);
        else
            value(out, facts, &metrics->totals[i]);
    }
    keel_buffer_byte(out, '}');
    name(out, "torch_xla");
    keel_buffer_byte(out, '{');
    for (int i = 0; i < KEEL_METRIC_COUNT; ++i) {
        const keel_metric_facts_t *facts = keel_metric_facts((keel_metric_t)i);
        if (!facts->xla_name) continue;
        if (facts->label) {
            series(metrics, (keel_metric_t)i, true, out);
            continue;
        }
        name(out, facts->xla_name);
        value(out, facts, &metrics->totals[i]);
    }
    keel_buffer_text(out, "}}\n");
}
