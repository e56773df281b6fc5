#include <inttypes.h>
#include <stdio.h>

#include "metrics/part.h"

static const char *const kinds[] = {"counter", "gauge", "summary"};

void keel_metrics_number(keel_buffer_t *out, const keel_metric_facts_t *facts, uint64_t value) {
    if (facts->unit == KEEL_METRIC_SECONDS)
        keel_buffer_format(out, "%" PRIu64 ".%09" PRIu64, value / 1000000000u, value % 1000000000u);
    else
        keel_buffer_format(out, "%" PRIu64, value);
}

// A label's value: backslash, quote and newline are escaped. Other controls would disturb a
// terminal, and scrapers reject what is not UTF-8.
static void label_value(keel_buffer_t *out, const char *value) {
    keel_str_t text = keel_str(value);
    for (size_t at = 0, size; at < text.size; at += size) {
        bool shows = keel_utf8_shows(text, at, &size);
        char c = text.data[at];
        if (c == '\\' || c == '"') keel_buffer_byte(out, '\\');
        if (c == '\n')
            keel_buffer_text(out, "\\n");
        else if (shows)
            keel_buffer_append(out, text.data + at, size);
        else
            keel_buffer_text(out, "\xef\xbf\xbd");
    }
}

static void print_label(keel_buffer_t *out, const char *name, const char *value, bool *first) {
    if (!*value) return;
    keel_buffer_format(out, "%s%s=\"", *first ? "{" : ",", name);
    label_value(out, value);
    keel_buffer_byte(out, '"');
    *first = false;
}

static void source(const keel_metrics_t *metrics, const char *run, keel_buffer_t *out,
                   bool *first) {
    char pid[24];
    snprintf(pid, sizeof pid, "%" PRId64, metrics->pid);
    print_label(out, "run", run, first);
    if (metrics->pid) print_label(out, "pid", pid, first);
}

static void print_sample(const keel_metrics_t *metrics, const char *run,
                         const keel_metric_facts_t *facts, const char *ending, const char *labelled,
                         keel_buffer_t *out) {
    bool first = true;
    keel_buffer_format(out, "%s%s", facts->name, ending);
    source(metrics, run, out, &first);
    if (labelled) print_label(out, facts->label, *labelled ? labelled : "unnamed", &first);
    keel_buffer_text(out, first ? " " : "} ");
}

static void print_metric(const keel_metrics_t *metrics, const char *run,
                         const keel_metric_facts_t *facts, const char *labelled,
                         const keel_metric_value_t *value, keel_buffer_t *out) {
    bool is_summary = facts->kind == KEEL_METRIC_SUMMARY;
    print_sample(metrics, run, facts, is_summary ? "_sum" : "", labelled, out);
    keel_metrics_number(out, facts, value->value);
    keel_buffer_byte(out, '\n');
    if (!is_summary) return;
    print_sample(metrics, run, facts, "_count", labelled, out);
    keel_buffer_format(out, "%" PRIu64 "\n", value->count);
}

static void info(const keel_metrics_t *metrics, const char *run, keel_buffer_t *out) {
    bool first = true;
    keel_buffer_text(out, "# HELP keel_run_info What runs; always 1.\n"
                          "# TYPE keel_run_info gauge\nkeel_run_info");
    source(metrics, run, out, &first);
    print_label(out, "version", metrics->version, &first);
    print_label(out, "host", metrics->host, &first);
    print_label(out, "platform", metrics->platform, &first);
    print_label(out, "mode", metrics->mode, &first);
    print_label(out, "target", metrics->target, &first);
    print_label(out, "command", metrics->command, &first);
    keel_buffer_text(out, first ? " 1\n" : "} 1\n");
}

void keel_metrics_prometheus(const keel_metrics_t *metrics, const char *run, keel_buffer_t *out) {
    info(metrics, run, out);
    for (int i = 0; i < KEEL_METRIC_COUNT; ++i) {
        const keel_metric_facts_t *facts = keel_metric_facts((keel_metric_t)i);
        if (facts->label && !metrics->labels[i]) continue;
        keel_buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n", facts->name, facts->sentence,
                           facts->name, kinds[facts->kind]);
        if (!facts->label) print_metric(metrics, run, facts, NULL, &metrics->totals[i], out);
        for (size_t s = 0; facts->label && s < metrics->series_count; ++s)
            if (metrics->series[s].metric == (keel_metric_t)i)
                print_metric(metrics, run, facts, metrics->series[s].label,
                             &metrics->series[s].value, out);
    }
}
