// The facts of a probe: a JSON object in the form that `keel probe --json` prints, to which the
// child's lines add. The lines are not trusted: only the members below are taken, of these types,
// so whoever reads the facts need not check them again.
//
//   {"begin": "load"}                  a step begins
//   {"end": "load", "ns": 12, ...}     it is over: "code" and "error", or "skipped"
//   {"facts": {"devices": [{...}]}}    members are set, lists get longer
//   {"bundle": {...}}                  what a bundle says about the plugin
//   {"lost": 1}                        the child had no memory for a line
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "probe/internal.h"

enum { TEXT_LIMIT = 1 << 16 };

// Members of a list's objects have the path of the list.
static const struct {
    const char *path;
    json_type type;
} forms[] = {{"plugin", JSON_OBJECT},
             {"plugin/api_major", JSON_INTEGER},
             {"plugin/api_minor", JSON_INTEGER},
             {"plugin/attributes", JSON_STRING},
             {"plugin/platform", JSON_STRING},
             {"plugin/platform_version", JSON_STRING},
             {"plugin/extensions", JSON_ARRAY},
             {"plugin/extensions/type", JSON_INTEGER},
             {"plugin/extensions/name", JSON_STRING},
             {"compiled_for", JSON_STRING},
             {"devices", JSON_ARRAY},
             {"devices/name", JSON_STRING},
             {"devices/kind", JSON_STRING},
             {"devices/id", JSON_INTEGER},
             {"devices/process", JSON_INTEGER},
             {"devices/hardware", JSON_INTEGER},
             {"devices/text", JSON_STRING},
             {"devices/memory", JSON_OBJECT},
             {"devices/memory/in_use", JSON_INTEGER},
             {"devices/memory/peak", JSON_INTEGER},
             {"devices/memory/limit", JSON_INTEGER},
             {"devices/memory/refusal", JSON_STRING},
             {"addressable_devices", JSON_INTEGER},
             {"all_devices", JSON_INTEGER},
             {"key", JSON_OBJECT},
#define COMPONENT_FORM(name, text, sentence)                                                       \
    {"key/" text, JSON_OBJECT}, {"key/" text "/digest", JSON_STRING},                              \
        {"key/" text "/value", JSON_STRING},
             KEEL_KEY_COMPONENTS(COMPONENT_FORM)
#undef COMPONENT_FORM
};

// ---- reading them ------------------------------------------------------------------------------

const json_t *keel_probe_facts(const keel_probe_t *probe, const char *name) {
    return json_object_get(probe->facts, name);
}

const char *keel_probe_text(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

int64_t keel_probe_number(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

// ---- adding to them ----------------------------------------------------------------------------

void probe_set(keel_probe_t *probe, json_t *object, const char *name, json_t *value) {
    if (!object || json_object_set_new(object, name, value)) probe->out_of_memory = true;
}

void probe_set_text(keel_probe_t *probe, json_t *object, const char *name, const char *text) {
    probe_set(probe, object, name, json_string(probe_keep(probe, keel_str(text))));
}

// The member of that name; an empty one of its kind is added if there is none.
static json_t *open_member(keel_probe_t *probe, json_t *object, const char *name, json_type type) {
    json_t *member = json_object_get(object, name);
    if (member) return member;
    probe_set(probe, object, name, type == JSON_ARRAY ? json_array() : json_object());
    return json_object_get(object, name);
}

json_t *probe_plugin(keel_probe_t *probe) {
    return open_member(probe, probe->facts, "plugin", JSON_OBJECT);
}

static json_t *copy_value(keel_probe_t *probe, const json_t *value) {
    if (json_is_null(value)) return json_null();
    if (json_is_integer(value)) return json_integer(json_integer_value(value));
    keel_str_t text = {json_string_value(value), json_string_length(value)};
    if (text.size > TEXT_LIMIT) text.size = TEXT_LIMIT;
    return json_string(probe_keep(probe, text));
}

static void merge_facts(keel_probe_t *probe, json_t *into, const json_t *from, const char *path);

static void append_facts(keel_probe_t *probe, json_t *list, const json_t *from, const char *path) {
    for (size_t i = 0; i < json_array_size(from); ++i) {
        const json_t *element = json_array_get(from, i);
        if (!json_is_object(element) || json_array_size(list) >= KEEL_PROBE_MEMBERS) continue;
        json_t *copy = json_object();
        merge_facts(probe, copy, element, path);
        if (json_array_append_new(list, copy)) probe->out_of_memory = true;
    }
}

static void merge_member(keel_probe_t *probe, json_t *into, const char *name, const json_t *value,
                         const char *path) {
    size_t i = 0, count = sizeof forms / sizeof *forms;
    while (i < count && strcmp(forms[i].path, path) != 0)
        ++i;
    if (i == count) return;
    json_type type = forms[i].type;
    bool holds = type == JSON_OBJECT || type == JSON_ARRAY;
    if (json_typeof(value) != type && (holds || !json_is_null(value))) return;
    if (type == JSON_OBJECT)
        merge_facts(probe, open_member(probe, into, name, type), value, path);
    else if (type == JSON_ARRAY)
        append_facts(probe, open_member(probe, into, name, type), value, path);
    else
        probe_set(probe, into, name, copy_value(probe, value));
}

static void merge_facts(keel_probe_t *probe, json_t *into, const json_t *from, const char *path) {
    // jansson's iterators take a non-const object, but do not change it.
    json_t *members = (json_t *)(uintptr_t)from;
    for (void *at = json_object_iter(members); at; at = json_object_iter_next(members, at)) {
        char member[64];
        const char *name = json_object_iter_key(at);
        int size = snprintf(member, sizeof member, "%s%s%s", path, *path ? "/" : "", name);
        if (size > 0 && (size_t)size < sizeof member)
            merge_member(probe, into, name, json_object_iter_value(at), member);
    }
}

// ---- lines -------------------------------------------------------------------------------------

static bool take_step(keel_probe_t *probe, const json_t *line) {
    const char *begun = keel_probe_text(line, "begin"), *over = keel_probe_text(line, "end");
    keel_probe_step_t step = keel_probe_step_by_name(keel_str(*begun ? begun : over));
    if (step == KEEL_PROBE_STEP_COUNT) return false;
    keel_probe_outcome_t *outcome = &probe->steps[step];
    int64_t nanoseconds = keel_probe_number(line, "ns");
    const char *error = keel_probe_text(line, "error");
    const char *skipped = keel_probe_text(line, "skipped");
    outcome->state = *begun                           ? KEEL_PROBE_BEGUN
                     : json_object_get(line, "error") ? KEEL_PROBE_FAILED
                     : *skipped                       ? KEEL_PROBE_SKIPPED
                                                      : KEEL_PROBE_OK;
    outcome->nanoseconds = nanoseconds > 0 ? (uint64_t)nanoseconds : 0;
    outcome->code = probe_keep(probe, keel_str(keel_probe_text(line, "code")));
    outcome->message = probe_keep(probe, keel_str(*error ? error : skipped));
    // Keel's own failure, not the plugin's.
    if (strcmp(outcome->code, keel_code_word(KEEL_NO_MEMORY)) == 0) probe->out_of_memory = true;
    return true;
}

static keel_status_t take_bundle(keel_probe_t *probe, const json_t *bundle, bool *out_known) {
    keel_status_t status = keel_bundle_take(bundle, &probe->bundle);
    *out_known = !status;
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_ignore(status);
    return NULL;
}

keel_status_t keel_probe_take_line(keel_probe_t *probe, keel_str_t text) {
    json_t *line = json_loadb(text.data, text.size, 0, NULL);
    const json_t *facts = json_object_get(line, "facts");
    const json_t *bundle = json_object_get(line, "bundle");
    keel_status_t status = NULL;
    bool known = take_step(probe, line);
    if (json_object_get(line, "lost")) known = probe->out_of_memory = true;
    if (json_is_object(facts)) {
        merge_facts(probe, probe->facts, facts, "");
        known = true;
    }
    if (bundle) status = take_bundle(probe, bundle, &known);
    json_decref(line);
    if (!known && !status) ++probe->broken_lines;
    return status;
}
