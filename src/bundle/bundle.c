// A bundle: its facts, and how it is written and read.
#include "bundle/bundle.h"

#include <stdio.h>

#include <jansson.h>

#include "base/json.h"

const struct keel_bundle_section_facts_t keel_bundle_sections[] = {
#define SECTION(name, word, kind, content) {word, KEEL_BUNDLE_##kind},
    KEEL_BUNDLE_SECTIONS(SECTION)
#undef SECTION
};

void keel_bundle_initialize(keel_bundle_t *bundle) {
    *bundle = (keel_bundle_t){0};
    keel_arena_initialize(&bundle->arena, 1 << 14);
}

void keel_bundle_deinitialize(keel_bundle_t *bundle) {
    keel_arena_deinitialize(&bundle->arena);
    keel_free(bundle->facts);
    *bundle = (keel_bundle_t){0};
}

void keel_bundle_forgive(keel_bundle_t *bundle, keel_status_t status) {
    if (keel_status_code(status) == KEEL_NO_MEMORY) bundle->failed = true;
    keel_status_ignore(status);
}

keel_status_t keel_bundle_status(const keel_bundle_t *bundle) {
    if (!bundle->failed) return NULL;
    return keel_status_make(KEEL_NO_MEMORY, "out of memory: the bundle is incomplete");
}

// ---- facts -------------------------------------------------------------------------------------

static const char *clean(keel_bundle_t *bundle, keel_str_t text, size_t limit) {
    void *memory = NULL;
    size_t used = 0, length;
    keel_bundle_forgive(
        bundle,
        keel_arena_alloc(&bundle->arena, (text.size < limit ? text.size : limit) + 1, &memory));
    if (!memory) return "";
    char *to = memory;
    for (size_t at = 0; at < text.size; at += length) {
        bool shows = keel_utf8_shows(text, at, &length);
        size_t size = shows ? length : 1;
        if (used + size > limit) break;
        bool blank = strchr("\n\t", text.data[at]) && text.data[at];
        memcpy(to + used, shows ? text.data + at : blank ? " " : "?", size);
        used += size;
    }
    to[used] = 0;
    return to;
}

const char *keel_bundle_keep(keel_bundle_t *bundle, keel_str_t text) {
    return clean(bundle, text, KEEL_BUNDLE_VALUE_LIMIT);
}

int keel_bundle_order(const keel_bundle_fact_t *x, const keel_bundle_fact_t *y) {
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    return strcmp(x->name, y->name);
}

const char *keel_bundle_find(const keel_bundle_t *bundle, keel_bundle_section_t section,
                             const char *name) {
    const keel_bundle_fact_t fact = {.section = section, .name = name};
    for (size_t i = 0; i < bundle->count; ++i)
        if (!keel_bundle_order(&bundle->facts[i], &fact)) return bundle->facts[i].value;
    return NULL;
}

void keel_bundle_add(keel_bundle_t *bundle, keel_bundle_section_t section, keel_str_t name,
                     keel_str_t value) {
    // In JSON, a byte takes at most two, because what would take more is "?" by now; a fact has
    // quotes and commas, and there is something around the facts.
    enum { WRITTEN = 2, FRAME = 8, ROOM = KEEL_BUNDLE_JSON_LIMIT - 1024 };
    void *memory = bundle->facts;
    keel_bundle_fact_t fact = {.section = section};
    size_t at = bundle->count;
    bundle->known[section] = true;
    fact.name = clean(bundle, name, KEEL_BUNDLE_NAME_LIMIT);
    while (at && keel_bundle_order(&bundle->facts[at - 1], &fact) > 0)
        --at;
    if (at && !keel_bundle_order(&bundle->facts[at - 1], &fact)) return;
    fact.value = keel_bundle_keep(bundle, value);
    if (bundle->failed) return;
    size_t bytes = WRITTEN * (strlen(fact.name) + strlen(fact.value)) + FRAME;
    if (bundle->bytes + bytes > ROOM) {
        ++bundle->left_out;
        return;
    }
    keel_bundle_forgive(bundle,
                        keel_grow_array(bundle->count, sizeof fact, &bundle->room, &memory));
    bundle->facts = memory;
    if (bundle->failed) return;
    memmove(bundle->facts + at + 1, bundle->facts + at, (bundle->count - at) * sizeof fact);
    bundle->facts[at] = fact;
    bundle->bytes += bytes;
    ++bundle->count;
}

void keel_bundle_format(keel_bundle_t *bundle, keel_bundle_section_t section, const char *name,
                        const char *format, ...) {
    char text[KEEL_BUNDLE_VALUE_LIMIT + 1];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    keel_bundle_add(bundle, section, keel_str(name), keel_str(text));
}

// ---- writing -----------------------------------------------------------------------------------

void keel_bundle_json(const keel_bundle_t *bundle, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    size_t at = 0;
    keel_json_object(&json, NULL);
    keel_json_unsigned(&json, "bundle", KEEL_BUNDLE_VERSION);
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i) {
        if (!bundle->known[i]) continue;
        keel_json_object(&json, keel_bundle_sections[i].name);
        for (; at < bundle->count && (int)bundle->facts[at].section == i; ++at) {
            keel_json_key(&json, keel_str(bundle->facts[at].name));
            keel_json_string(&json, NULL, bundle->facts[at].value);
        }
        keel_json_end_object(&json);
    }
    if (bundle->left_out) keel_json_unsigned(&json, "left_out", bundle->left_out);
    keel_json_end_object(&json);
}

void keel_bundle_section_text(const keel_bundle_t *bundle, keel_bundle_section_t section,
                              keel_buffer_t *out) {
    bool any = false;
    if (!bundle->known[section]) return;
    keel_buffer_format(out, "%s\n", keel_bundle_sections[section].name);
    for (size_t i = 0; i < bundle->count; ++i) {
        const keel_bundle_fact_t *fact = &bundle->facts[i];
        if (fact->section != section) continue;
        keel_buffer_format(out, "  %-28s %s\n", fact->name, *fact->value ? fact->value : "\"\"");
        any = true;
    }
    if (!any) keel_buffer_text(out, "  none\n");
}

void keel_bundle_text(const keel_bundle_t *bundle, keel_buffer_t *out) {
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i)
        keel_bundle_section_text(bundle, (keel_bundle_section_t)i, out);
    if (bundle->left_out)
        keel_buffer_format(out, "%zu more facts were left out\n", bundle->left_out);
}

// ---- reading -----------------------------------------------------------------------------------

// jansson's iterators take a non-const object, but do not change it.
static void take_section(json_t *object, keel_bundle_section_t section, keel_bundle_t *out) {
    const char *name;
    json_t *value;
    if (json_is_object(object)) out->known[section] = true;
    json_object_foreach(object, name, value) {
        keel_str_t text = {json_string_value(value), json_string_length(value)};
        if (text.data) keel_bundle_add(out, section, keel_str(name), text);
    }
}

static keel_status_t take_bundle(const json_t *json, keel_bundle_t *out) {
    const json_t *version = json_object_get(json, "bundle");
    if (!json_is_integer(version))
        return keel_status_make(KEEL_INVALID, "not a bundle; `keel bundle --json` prints one");
    json_int_t form = json_integer_value(version);
    if (form < 1 || form > KEEL_BUNDLE_VERSION)
        return keel_status_make(KEEL_UNSUPPORTED,
                                "a bundle of version %" JSON_INTEGER_FORMAT
                                "; this Keel reads version %d, so use a newer Keel",
                                form, KEEL_BUNDLE_VERSION);
    for (int i = 0; i < KEEL_BUNDLE_SECTION_COUNT; ++i)
        take_section(json_object_get(json, keel_bundle_sections[i].name), (keel_bundle_section_t)i,
                     out);
    json_int_t left_out = json_integer_value(json_object_get(json, "left_out"));
    if (left_out > 0) out->left_out += (size_t)left_out;
    return keel_bundle_status(out);
}

keel_status_t keel_bundle_parse(keel_bytes_t bytes, keel_bundle_t *out) {
    json_error_t error;
    json_t *json = json_loadb((const char *)bytes.data, bytes.size, 0, &error);
    if (!json)
        return keel_status_make(KEEL_INVALID, "not JSON: %.140s in line %d", error.text,
                                error.line);
    const json_t *within = json_object_get(json, "bundle");
    keel_status_t status = take_bundle(json_is_object(within) ? within : json, out);
    json_decref(json);
    return status;
}
