// Journals: figures of whatever events there are, and everything that is printed from them. What is
// printed has no control characters, since it goes to a terminal, and the JSON is JSON.
#include <stdlib.h>

#include <jansson.h>

#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static void check_text(void (*print)(const keel_stats_t *stats, keel_buffer_t *out),
                       const keel_stats_t *stats) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    print(stats, &out);
    check(keel_buffer_status(&out) == NULL);
    for (size_t i = 0; i < out.size; ++i)
        check(out.data[i] >= 0x20 || out.data[i] == '\n');
    keel_buffer_deinitialize(&out);
}

static void check_json(const keel_stats_t *stats, bool whole) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_report_json(stats, whole, &out);
    json_t *json = json_loadb((const char *)out.data, out.size, JSON_REJECT_DUPLICATES, NULL);
    check(json != NULL);
    json_decref(json);
    keel_buffer_deinitialize(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_stats_t stats;
    keel_status_t status =
        keel_stats_parse(keel_bytes(data, size), "run", "journal.ndjson", &stats);
    check(status == NULL);
    check(stats.memory_hits <= stats.loads);
    check(stats.unfinished <= stats.processes);
    check_text(keel_report_summary, &stats);
    check_text(keel_report_text, &stats);
    check_text(keel_report_line, &stats);
    check_text(keel_report_damage, &stats);
    check_json(&stats, true);
    check_json(&stats, false);
    keel_stats_deinitialize(&stats);
    return 0;
}
