// Two foreign bundles, separated by a newline. A bundle that was read is written and read back
// unchanged, and does not differ from itself; printed text has no control characters, and the JSON
// is valid.
#include <stdlib.h>

#include <jansson.h>

#include "bundle/bundle.h"
#include "bundle/versions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static void check_printed(keel_buffer_t *out) {
    check(keel_buffer_status(out) == NULL);
    keel_str_t text = keel_bytes_str(keel_buffer_bytes(out));
    size_t length;
    for (size_t i = 0; i < text.size; i += length)
        check(keel_utf8_shows(text, i, &length) || text.data[i] == '\n');
    keel_buffer_deinitialize(out);
}

static void check_changes(const keel_bundle_t *old, const keel_bundle_t *new, bool same) {
    keel_bundle_changes_t changes;
    keel_buffer_t out;
    check(keel_bundle_compare(old, new, &changes) == NULL);
    check(!same || !changes.count);
    keel_buffer_initialize(&out, 0);
    keel_bundle_changes_text(&changes, &out);
    check_printed(&out);
    keel_buffer_initialize(&out, 0);
    keel_json_t writer = keel_json(&out, KEEL_JSON_SPACED);
    keel_json_object(&writer, NULL);
    keel_bundle_changes_json(&changes, &writer);
    keel_json_end_object(&writer);
    json_t *json = json_loadb((const char *)out.data, out.size, JSON_REJECT_DUPLICATES, NULL);
    check(json != NULL);
    json_decref(json);
    keel_buffer_deinitialize(&out);
    keel_bundle_changes_deinitialize(&changes);
}

static void check_read_back(const keel_bundle_t *bundle) {
    keel_buffer_t out;
    keel_bundle_t again;
    keel_bundle_initialize(&again);
    keel_buffer_initialize(&out, KEEL_BUNDLE_JSON_LIMIT);
    keel_bundle_json(bundle, &out);
    check(keel_buffer_status(&out) == NULL);
    check(keel_bundle_parse(keel_buffer_bytes(&out), &again) == NULL);
    check(again.count == bundle->count);
    check_changes(bundle, &again, true);
    keel_buffer_deinitialize(&out);
    keel_bundle_deinitialize(&again);
}

static void check_shown(const keel_bundle_t *bundle) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_bundle_text(bundle, &out);
    check_printed(&out);
}

static bool read(keel_bytes_t bytes, keel_bundle_t *out) {
    keel_bundle_initialize(out);
    keel_status_t status = keel_bundle_parse(bytes, out);
    keel_code_t code = keel_status_code(status);
    check(code == KEEL_OK || code == KEEL_INVALID || code == KEEL_UNSUPPORTED);
    keel_status_ignore(status);
    return code == KEEL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    size_t first = newline ? (size_t)(newline - data) : size;
    keel_bundle_t old, new;
    bool good = read(keel_bytes(data, first), &old);
    bool other = read(keel_bytes(data + first, size - first), &new);
    if (good) check_read_back(&old);
    if (good) check_shown(&old);
    if (good && other) check_changes(&old, &new, false);
    keel_bundle_deinitialize(&old);
    keel_bundle_deinitialize(&new);
    return 0;
}
