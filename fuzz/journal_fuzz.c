// Journals: figures and explanations of any events, and everything printed from them. Printed text
// has no control characters, because it goes to a terminal, and the JSON is valid.
#include <stdlib.h>

#include <jansson.h>

#include "text/text.h"

static void whole_text(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_stats(why, 0, out);
    keel_text_line(why, 0, out);
}

static void narrow_text(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_stats(why, 40, out);
    keel_text_line(why, 40, out);
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

static void check_text(void (*print)(const keel_why_t *why, keel_buffer_t *out),
                       const keel_why_t *why) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    print(why, &out);
    check_printed(&out);
}

static void check_parsed(keel_buffer_t *out) {
    json_t *json = json_loadb((const char *)out->data, out->size, JSON_REJECT_DUPLICATES, NULL);
    check(json != NULL);
    json_decref(json);
    keel_buffer_deinitialize(out);
}

static void damage_text(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_damage(&why->run, out);
}

static void check_json(const keel_why_t *why, bool whole) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_text_stats_json(why, whole, &out);
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
    check(keel_why_parse(bytes, "run", "", KEEL_RUN_DETAILS, &why) == NULL);
    for (size_t i = 0; i < why.entry_count; ++i)
        check_entry(&why, &why.entries[i]);
    static const keel_text_style_t styles[] = {{.width = 80}, {.all = true}};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; ++i) {
        keel_buffer_t text, json;
        keel_buffer_initialize(&text, 0);
        keel_buffer_initialize(&json, 0);
        keel_text_why(&why, &styles[i], &text);
        keel_text_why_json(&why, styles[i].all, &json);
        check_printed(&text);
        check_parsed(&json);
    }
    keel_why_deinitialize(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_why_t why;
    keel_status_t status = keel_why_parse(keel_bytes(data, size), "run", "journal.ndjson", 0, &why);
    check(status == NULL);
    check(why.run.memory_hits <= why.run.loads.times);
    check(why.run.unfinished <= why.run.processes);
    check_text(keel_text_summary, &why);
    check_text(whole_text, &why);
    check_text(narrow_text, &why);
    check_text(damage_text, &why);
    check_json(&why, true);
    check_json(&why, false);
    keel_why_deinitialize(&why);
    check_why(keel_bytes(data, size));
    return 0;
}
