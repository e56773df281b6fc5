// Journals: metrics, and reports on memory. Printed text has no control characters, the JSON is
// valid with unique names, and each line for Prometheus is a comment or a sample.
#include <stdlib.h>

#include <jansson.h>

#include "metrics/metrics.h"
#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static void check_printed(const keel_buffer_t *out) {
    check(keel_buffer_status(out) == NULL);
    for (size_t i = 0; i < out->size; ++i)
        check((out->data[i] >= 0x20 && out->data[i] != 0x7f) || out->data[i] == '\n');
}

static void check_parsed(const keel_buffer_t *out) {
    json_t *json = json_loadb((const char *)out->data, out->size, JSON_REJECT_DUPLICATES, NULL);
    check(json != NULL);
    json_decref(json);
}

// "name{label="value",...} number"
static void check_samples(const keel_buffer_t *out) {
    const char *at = keel_buffer_cstr(out);
    for (const char *end; (end = strchr(at, '\n')); at = end + 1) {
        if (*at == '#') continue;
        check(strncmp(at, "keel_", 5) == 0);
        const char *number = end;
        while (number > at && strchr("0123456789.", number[-1]))
            --number;
        check(number < end && number[-1] == ' ');
    }
    check(!*at);
}

static keel_status_t count(void *context, const struct json_t *event) {
    return keel_metrics_event(context, event);
}

static void check_metrics(keel_bytes_t bytes, int64_t pid) {
    keel_metrics_t metrics;
    keel_journal_damage_t damage;
    keel_buffer_t out;
    keel_metrics_initialize(&metrics);
    metrics.pid = pid;
    check(keel_journal_parse(bytes, count, &metrics, &damage) == NULL);
    for (int i = 0; i < KEEL_METRIC_COUNT; ++i)
        check(metrics.labels[i] <= KEEL_METRICS_SERIES + 1);
    keel_buffer_initialize(&out, 0);
    keel_metrics_json(&metrics, "run", &out);
    check_parsed(&out);
    keel_buffer_deinitialize(&out);
    keel_metrics_prometheus(&metrics, "run", &out);
    check_printed(&out);
    check_samples(&out);
    keel_buffer_deinitialize(&out);
    keel_metrics_report(&metrics, &out);
    check_printed(&out);
    keel_buffer_deinitialize(&out);
    keel_metrics_deinitialize(&metrics);
}

static void check_memory(keel_bytes_t bytes) {
    keel_run_t run;
    check(keel_run_parse(bytes, "run", "", KEEL_RUN_MEMORY, &run) == NULL);
    for (size_t i = 0; i <= run.memory.program_count; ++i) {
        const keel_memory_program_t *program = i ? &run.memory.programs[i - 1] : NULL;
        keel_buffer_t text, json;
        keel_buffer_initialize(&text, 0);
        keel_buffer_initialize(&json, 0);
        keel_text_memory(&run, program, &text);
        keel_text_memory_json(&run, program, &json);
        check_printed(&text);
        check_parsed(&json);
        keel_buffer_deinitialize(&text);
        keel_buffer_deinitialize(&json);
        if (i > 1) check(run.memory.programs[i - 2].total >= run.memory.programs[i - 1].total);
    }
    keel_run_deinitialize(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_bytes_t bytes = keel_bytes(data, size);
    check_metrics(bytes, 0);
    check_metrics(bytes, 7);
    check_memory(bytes);
    return 0;
}
