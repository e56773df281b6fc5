// Journals: figures and explanations of any events, and everything printed from them. Printed text
// has no control characters, because it goes to a terminal, and the JSON is valid.
#include <stdlib.h>

#include <jansson.h>

#include "report/report.h"
#include "report/why.h"

static void whole_text(const keel_stats_t *stats, keel_buffer_t *out) {
    keel_report_text(stats, 0, out);
    keel_report_line(stats, 0, out);
}

static void narrow_text(const keel_stats_t *stats, keel_buffer_t *out) {
    keel_report_text(stats, 40, out);
    keel_report_line(stats, 40, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static void check_printed(keel_buffer_t *out) {
    check(keel_buffer_status(out) == NULL);
    for (size_t i = 0; i < out->size; ++i)
        check(out->data[i] >= 0x20 || out->data[i] == '\n');
    keel_buffer_deinitialize(out);
}

static void check_text(void (*print)(const keel_stats_t *stats, keel_buffer_t *out),
                       const keel_stats_t *stats) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    print(stats, &out);
    check_printed(&out);
}

static void check_parsed(keel_buffer_t *out) {
    json_t *json = json_loadb((const char *)out->data, out->size, JSON_REJECT_DUPLICATES, NULL);
    check(json != NULL);
    json_decref(json);
    keel_buffer_deinitialize(out);
}

static void check_json(const keel_stats_t *stats, bool whole) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_report_json(stats, whole, &out);
    check_parsed(&out);
}

// What readers of an entry rely on.
static void check_entry(const keel_why_t *why, const keel_why_entry_t *entry) {
    check(entry->root_total >= entry->root_count && entry->folded_total >= entry->folded_count);
    check(entry->pattern_index == KEEL_NONE || entry->pattern_index < why->pattern_count);
    for (size_t i = 0; i < entry->root_count; ++i)
        check(entry->roots[i].kind < KEEL_CAUSE_COUNT);
    for (size_t i = 0; i < entry->folded_count; ++i)
        check(entry->folded[i].kind < KEEL_CAUSE_COUNT &&
              (entry->folded[i].follows == KEEL_NONE ||
               entry->folded[i].follows < entry->root_count));
}

static void check_why(keel_bytes_t bytes) {
    keel_why_t why;
    check(keel_why_parse(bytes, "run", &why) == NULL);
    for (size_t i = 0; i < why.entry_count; ++i)
        check_entry(&why, &why.entries[i]);
    static const keel_why_style_t styles[] = {{.width = 80}, {.all = true}};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; ++i) {
        keel_buffer_t text, json;
        keel_buffer_initialize(&text, 0);
        keel_buffer_initialize(&json, 0);
        keel_why_text(&why, &styles[i], &text);
        keel_why_json(&why, styles[i].all, &json);
        check_printed(&text);
        check_parsed(&json);
    }
    keel_why_deinitialize(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_stats_t stats;
    keel_status_t status =
        keel_stats_parse(keel_bytes(data, size), "run", "journal.ndjson", &stats);
    check(status == NULL);
    check(stats.memory_hits <= stats.loads);
    check(stats.unfinished <= stats.processes);
    check_text(keel_report_summary, &stats);
    check_text(whole_text, &stats);
    check_text(narrow_text, &stats);
    check_text(keel_report_damage, &stats);
    check_json(&stats, true);
    check_json(&stats, false);
    keel_stats_deinitialize(&stats);
    check_why(keel_bytes(data, size));
    return 0;
}
