#include <jansson.h>

#include "base/json.h"
#include "bundle/internal.h"

void keel_bundle_json(const keel_bundle_t *bundle, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    size_t at = 0;
    keel_json_object(&json, NULL);
    keel_json_unsigned(&json, "bundle", KEEL_BUNDLE_VERSION);
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i) {
        if (!bundle->known[i]) continue;
        keel_json_object(&json, keel_bundle_section_name((keel_bundle_section_t)i));
        for (; at < bundle->count && (int)bundle->facts[at].section == i; ++at) {
            keel_json_key(&json, keel_str(bundle->facts[at].name));
            keel_json_string(&json, NULL, bundle->facts[at].value);
        }
        keel_json_end_object(&json);
    }
    if (bundle->left_out) keel_json_unsigned(&json, "left_out", bundle->left_out);
    keel_json_end_object(&json);
}

static keel_status_t take_section(const json_t *object, keel_bundle_section_t section,
                                  keel_bundle_t *out) {
    // jansson's iterators take a non-const object, but do not change it.
    json_t *from = (json_t *)(uintptr_t)object;
    out->known[section] = true;
    for (void *at = json_object_iter(from); at; at = json_object_iter_next(from, at)) {
        const json_t *value = json_object_iter_value(at);
        if (!json_is_string(value)) continue;
        keel_str_t text = {json_string_value(value), json_string_length(value)};
        KEEL_TRY(keel_bundle_add(out, section, keel_str(json_object_iter_key(at)), text));
    }
    return NULL;
}

keel_status_t keel_bundle_take(const json_t *json, keel_bundle_t *out) {
    const json_t *version = json_object_get(json, "bundle");
    if (!json_is_integer(version))
        return keel_status_make(KEEL_INVALID, "not a bundle; `keel bundle --json` prints one");
    json_int_t form = json_integer_value(version);
    if (form < 1 || form > KEEL_BUNDLE_VERSION)
        return keel_status_make(KEEL_UNSUPPORTED,
                                "a bundle of version %" JSON_INTEGER_FORMAT
                                "; this Keel reads version %d, so use a newer Keel",
                                form, KEEL_BUNDLE_VERSION);
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i) {
        keel_bundle_section_t section = (keel_bundle_section_t)i;
        const json_t *object = json_object_get(json, keel_bundle_section_name(section));
        if (json_is_object(object)) KEEL_TRY(take_section(object, section, out));
    }
    json_int_t left_out = json_integer_value(json_object_get(json, "left_out"));
    if (left_out > 0) out->left_out += (size_t)left_out;
    return NULL;
}

keel_status_t keel_bundle_parse(keel_bytes_t bytes, keel_bundle_t *out) {
    json_error_t error;
    json_t *json = json_loadb((const char *)bytes.data, bytes.size, 0, &error);
    if (!json)
        return keel_status_make(KEEL_INVALID, "not JSON: %.140s in line %d", error.text,
                                error.line);
    const json_t *within = json_object_get(json, "bundle");
    keel_status_t status = keel_bundle_take(json_is_object(within) ? within : json, out);
    json_decref(json);
    return status;
}
