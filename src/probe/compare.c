#include "probe/compare.h"

#include <stdio.h>

#include <jansson.h>

#include "probe/internal.h"

void keel_probe_other_initialize(keel_probe_other_t *other) {
    *other = (keel_probe_other_t){
        .verdict = "", .plugin = "", .mode = "", .reload = "", .run_again = ""};
    keel_arena_initialize(&other->arena, 0);
    keel_key_initialize(&other->key);
}

void keel_probe_other_deinitialize(keel_probe_other_t *other) {
    keel_key_deinitialize(&other->key);
    keel_arena_deinitialize(&other->arena);
}

// ---- reading -----------------------------------------------------------------------------------

static keel_str_t json_text(const json_t *value) {
    if (!json_is_string(value)) return KEEL_STR("");
    return (keel_str_t){json_string_value(value), json_string_length(value)};
}

static keel_status_t keep_text(keel_arena_t *arena, const json_t *value, const char **out) {
    return probe_clean(arena, json_text(value), out);
}

static const json_t *state_of(const json_t *probe, keel_probe_step_t step) {
    const json_t *steps = json_object_get(probe, "steps");
    return json_object_get(json_object_get(steps, keel_probe_step_name(step)), "state");
}

static keel_status_t read_component(const json_t *key, keel_component_t component,
                                    keel_probe_other_t *out) {
    const json_t *at = json_object_get(key, keel_component_name(component));
    const char *value;
    keel_digest_t digest;
    if (!keel_digest_unhex(json_text(json_object_get(at, "digest")), &digest)) return NULL;
    KEEL_TRY(keep_text(&out->arena, json_object_get(at, "value"), &value));
    KEEL_TRY(keel_key_set(&out->key, component, keel_bytes("", 0), keel_str(value)));
    out->key.components[component] = digest;
    out->known[component] = true;
    return NULL;
}

static keel_status_t read_probe(const json_t *probe, keel_probe_other_t *out) {
    enum { FORM = 1 };
    const json_t *form = json_object_get(probe, "probe");
    if (!json_is_integer(form))
        return keel_status_make(KEEL_INVALID, "not a probe; `keel probe --json` prints one");
    if (json_integer_value(form) != FORM)
        return keel_status_make(
            KEEL_INVALID,
            "this probe has version %lld, but this Keel reads version %d; use the "
            "same Keel on both machines",
            (long long)json_integer_value(form), FORM);
    const json_t *settings = json_object_get(probe, "settings");
    const json_t *mode = json_object_get(json_object_get(settings, "mode"), "value");
    const json_t *plugin = json_object_get(json_object_get(probe, "plugin"), "path");
    KEEL_TRY(keep_text(&out->arena, json_object_get(probe, "verdict"), &out->verdict));
    KEEL_TRY(keep_text(&out->arena, plugin, &out->plugin));
    KEEL_TRY(keep_text(&out->arena, mode, &out->mode));
    KEEL_TRY(keep_text(&out->arena, state_of(probe, KEEL_PROBE_RELOAD), &out->reload));
    KEEL_TRY(keep_text(&out->arena, state_of(probe, KEEL_PROBE_AGAIN), &out->run_again));
    const json_t *key = json_object_get(probe, "key");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        KEEL_TRY(read_component(key, (keel_component_t)i, out));
    return NULL;
}

keel_status_t keel_probe_read_other(keel_bytes_t bytes, keel_probe_other_t *out) {
    enum { LIMIT = 1 << 24 }; // a probe with all its packages takes a tenth of it
    json_error_t error;
    if (bytes.size > LIMIT)
        return keel_status_make(KEEL_INVALID,
                                "%zu bytes are too many for a probe;  `keel probe --json` prints "
                                "one",
                                bytes.size);
    json_t *probe = json_loadb((const char *)bytes.data, bytes.size, 0, &error);
    if (!probe)
        return keel_status_make(KEEL_INVALID,
                                "not JSON in line %d: %.120s; `keel probe --json` prints a "
                                "probe",
                                error.line, error.text);
    keel_status_t status = read_probe(probe, out);
    json_decref(probe);
    return status;
}

// ---- comparing ---------------------------------------------------------------------------------

void keel_probe_fit_initialize(keel_probe_fit_t *fit) {
    *fit = (keel_probe_fit_t){0};
    keel_arena_initialize(&fit->arena, 0);
    keel_explanation_initialize(&fit->fields);
}

void keel_probe_fit_deinitialize(keel_probe_fit_t *fit) {
    keel_explanation_deinitialize(&fit->fields);
    keel_arena_deinitialize(&fit->arena);
}

static keel_status_t block(keel_probe_fit_t *fit, const char *text) {
    keel_str_t kept;
    if (fit->block_count == KEEL_PROBE_BLOCKS) return NULL;
    KEEL_TRY(keel_arena_str(&fit->arena, keel_str(text), &kept));
    fit->blocks[fit->block_count++] = kept.data;
    return NULL;
}

// The components of a program and its options are the same wherever it is compiled.
static bool is_backends(keel_component_t component) {
    return component != KEEL_COMPONENT_PROGRAM && component != KEEL_COMPONENT_OPTIONS &&
           component != KEEL_COMPONENT_DEVICE_ASSIGNMENT;
}

static bool knows_all(const keel_probe_other_t *there) {
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (is_backends((keel_component_t)i) && !there->known[i]) return false;
    return true;
}

static keel_status_t compare_keys(const keel_key_t *here, const keel_probe_other_t *there,
                                  keel_probe_fit_t *out, bool *out_same) {
    keel_key_t copy;
    *out_same = true;
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        out->differs[i] = is_backends((keel_component_t)i) &&
                          !keel_digest_equal(&here->components[i], &there->key.components[i]);
        *out_same = *out_same && !out->differs[i];
    }
    KEEL_TRY(keel_key_copy(&there->key, &copy));
    // Neither side has those of a program.
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (!is_backends((keel_component_t)i)) copy.components[i] = here->components[i];
    keel_status_t status = keel_explain_components(&copy, here, KEEL_NONE, &out->fields);
    keel_key_deinitialize(&copy);
    return status;
}

// An entry is made here and loaded there, so both must be able to do their part.
static keel_status_t compare_lives(const keel_probe_t *here, const keel_settings_t *settings,
                                   const keel_probe_other_t *there, keel_probe_fit_t *out) {
    const char *ok = keel_probe_state_name(KEEL_PROBE_OK);
    char text[160];
    if (here->steps[KEEL_PROBE_SERIALIZE].state != KEEL_PROBE_OK)
        KEEL_TRY(block(out, "executables do not serialize here, so no entry can be stored"));
    else if (here->steps[KEEL_PROBE_AGAIN].state != KEEL_PROBE_OK)
        KEEL_TRY(block(out, "executables do not reload here, so no entry is stored"));
    if (strcmp(there->reload, ok) != 0 || strcmp(there->run_again, ok) != 0)
        KEEL_TRY(block(out, "executables do not reload there"));
    if (settings && (settings->mode == KEEL_MODE_OFF || settings->mode == KEEL_MODE_READONLY)) {
        snprintf(text, sizeof text, "mode is %s here, so nothing is stored",
                 keel_mode_name(settings->mode));
        KEEL_TRY(block(out, text));
    }
    bool off = strcmp(there->mode, "off") == 0;
    if (off || strcmp(there->mode, "refresh") == 0)
        KEEL_TRY(block(out, off ? "mode is off there, so nothing is looked up"
                                : "mode is refresh there, so nothing is looked up"));
    return NULL;
}

keel_status_t keel_probe_compare(const keel_probe_t *here, const keel_settings_t *settings,
                                 const keel_probe_other_t *there, keel_probe_fit_t *out) {
    bool same = false;
    if (!here->key_known)
        KEEL_TRY(block(out, here->fast ? "the components of keys are unknown here: probe without "
                                         "--fast"
                                       : "the components of keys are unknown here: no client could "
                                         "be made"));
    if (!knows_all(there))
        KEEL_TRY(block(out, "the components of keys are unknown there: that probe was made with "
                            "--fast, or its plugin made no client"));
    if (!out->block_count) {
        KEEL_TRY(compare_keys(&here->key, there, out, &same));
        KEEL_TRY(compare_lives(here, settings, there, out));
    }
    out->hits = same && !out->block_count;
    return NULL;
}
