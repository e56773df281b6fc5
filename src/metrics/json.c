#include "metrics/part.h"

static void write_amount(keel_json_t *json, const char *name, const keel_metric_facts_t *facts,
                         uint64_t value) {
    keel_metrics_number(keel_json_value(json, name), facts, value);
}

static void write_metric(keel_json_t *json, const char *name, const keel_metric_facts_t *facts,
                         const keel_metric_value_t *value) {
    if (facts->kind != KEEL_METRIC_SUMMARY) {
        write_amount(json, name, facts, value->value);
        return;
    }
    keel_json_object(json, name);
    keel_json_unsigned(json, "count", value->count);
    write_amount(json, "sum", facts, value->value);
    keel_json_end_object(json);
}

// The values of all labels, as members of the object that is open.
static void series(const keel_metrics_t *metrics, keel_metric_t metric, keel_json_t *json) {
    for (size_t i = 0; i < metrics->series_count; ++i) {
        if (metrics->series[i].metric != metric) continue;
        keel_json_key(json, keel_str(metrics->series[i].label));
        write_metric(json, NULL, keel_metric_facts(metric), &metrics->series[i].value);
    }
}

static void all(const keel_metrics_t *metrics, keel_json_t *json) {
    keel_json_object(json, "metrics");
    for (int i = 0; i < KEEL_METRIC_COUNT; ++i) {
        const keel_metric_facts_t *facts = keel_metric_facts((keel_metric_t)i);
        if (!facts->label) {
            write_metric(json, facts->name, facts, &metrics->totals[i]);
            continue;
        }
        keel_json_object(json, facts->name);
        series(metrics, (keel_metric_t)i, json);
        keel_json_end_object(json);
    }
    keel_json_end_object(json);
}

static void those_of_torch_xla(const keel_metrics_t *metrics, keel_json_t *json) {
    keel_json_object(json, "torch_xla");
    for (int i = 0; i < KEEL_METRIC_COUNT; ++i) {
        const keel_metric_facts_t *facts = keel_metric_facts((keel_metric_t)i);
        if (!facts->xla_name) continue;
        if (facts->label)
            series(metrics, (keel_metric_t)i, json);
        else
            write_metric(json, facts->xla_name, facts, &metrics->totals[i]);
    }
    keel_json_end_object(json);
}

void keel_metrics_json(const keel_metrics_t *metrics, const char *run, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_string(&json, "run", run);
    if (metrics->pid) keel_json_int(&json, "pid", metrics->pid);
    keel_json_string(&json, "version", metrics->version);
    keel_json_string(&json, "host", metrics->host);
    keel_json_string(&json, "platform", metrics->platform);
    keel_json_string(&json, "mode", metrics->mode);
    keel_json_string(&json, "target", metrics->target);
    keel_json_string(&json, "command", metrics->command);
    all(metrics, &json);
    those_of_torch_xla(metrics, &json);
    keel_json_end_object(&json);
    keel_buffer_byte(out, '\n');
}
