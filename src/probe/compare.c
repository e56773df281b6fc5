#include "probe/compare.h"

#include <jansson.h>

#include "probe/internal.h"

void keel_probe_fit_initialize(keel_probe_fit_t *fit) {
    *fit = (keel_probe_fit_t){0};
    keel_explanation_initialize(&fit->fields);
}

void keel_probe_fit_deinitialize(keel_probe_fit_t *fit) {
    keel_explanation_deinitialize(&fit->fields);
}

keel_status_t keel_probe_read_other(keel_bytes_t bytes, json_t **out) {
    enum { FORM = 1, LIMIT = 1 << 24 }; // a probe with all its packages takes a tenth of that
    json_error_t error;
    if (bytes.size > LIMIT)
        return keel_status_make(
            KEEL_INVALID, "%zu bytes are too many for a probe; `keel probe --json` prints one",
            bytes.size);
    json_t *probe = json_loadb((const char *)bytes.data, bytes.size, 0, &error);
    if (!probe)
        return keel_status_make(KEEL_INVALID,
                                "not JSON in line %d: %.120s; `keel probe --json` prints a probe",
                                error.line, error.text);
    const json_t *form = json_object_get(probe, "probe");
    keel_status_t status = NULL;
    if (!json_is_integer(form))
        status = keel_status_make(KEEL_INVALID, "not a probe; `keel probe --json` prints one");
    else if (json_integer_value(form) != FORM)
        status = keel_status_make(KEEL_INVALID,
                                  "this probe has version %lld, but this Keel reads version %d; "
                                  "use the same Keel on both machines",
                                  (long long)json_integer_value(form), FORM);
    if (status)
        json_decref(probe);
    else
        *out = probe;
    return status;
}

// ---- keys --------------------------------------------------------------------------------------

bool probe_is_of_backend(keel_component_t component) {
    return component != KEEL_COMPONENT_PROGRAM && component != KEEL_COMPONENT_OPTIONS &&
           component != KEEL_COMPONENT_DEVICE_ASSIGNMENT;
}

// Sets the backend's components; false if one is missing. `arena` takes their clean text.
static keel_status_t read_key(const json_t *facts, keel_arena_t *arena, keel_key_t *out,
                              bool *out_whole) {
    *out_whole = true;
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        keel_component_t component = (keel_component_t)i;
        const json_t *at =
            json_object_get(json_object_get(facts, "key"), keel_component_name(component));
        const char *value;
        keel_digest_t digest;
        if (!probe_is_of_backend(component)) continue;
        if (!keel_digest_unhex(keel_str(keel_probe_text(at, "digest")), &digest)) {
            *out_whole = false;
            continue;
        }
        KEEL_TRY(probe_clean(arena, keel_str(keel_probe_text(at, "value")), &value));
        // The digest is not that of the readable value.
        KEEL_TRY(keel_key_set(out, component, keel_bytes("", 0), keel_str(value)));
        out->components[i] = digest;
    }
    return NULL;
}

static keel_status_t compare_keys(const keel_key_t *here, const keel_key_t *there,
                                  keel_probe_fit_t *out) {
    out->hits = true;
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        out->differs[i] = !keel_digest_equal(&here->components[i], &there->components[i]);
        out->hits = out->hits && !out->differs[i];
    }
    return keel_explain_components(there, here, KEEL_NONE, &out->fields);
}

// ---- other reasons -----------------------------------------------------------------------------

static void add_block(keel_probe_fit_t *fit, const char *text) {
    if (fit->block_count < KEEL_PROBE_BLOCKS) fit->blocks[fit->block_count++] = text;
}

static bool is_ok_there(const json_t *there, keel_probe_step_t step) {
    const json_t *outcome =
        json_object_get(json_object_get(there, "steps"), keel_probe_step_name(step));
    return strcmp(keel_probe_text(outcome, "state"), keel_probe_state_name(KEEL_PROBE_OK)) == 0;
}

// An entry is made here and loaded there, so both must be able to do their part.
static void compare_lives(const keel_probe_t *here, const keel_settings_t *settings,
                          const json_t *there, keel_probe_fit_t *out) {
    const json_t *modes = json_object_get(json_object_get(there, "settings"), "mode");
    const char *mode = keel_probe_text(modes, "value");
    if (here->steps[KEEL_PROBE_SERIALIZE].state != KEEL_PROBE_OK)
        add_block(out, "executables do not serialize here, so no entry can be stored");
    else if (here->steps[KEEL_PROBE_AGAIN].state != KEEL_PROBE_OK)
        add_block(out, "executables do not reload here, so no entry is stored");
    if (!is_ok_there(there, KEEL_PROBE_RELOAD) || !is_ok_there(there, KEEL_PROBE_AGAIN))
        add_block(out, "executables do not reload there");
    if (settings && settings->mode == KEEL_MODE_OFF)
        add_block(out, "mode is off here, so nothing is stored");
    if (settings && settings->mode == KEEL_MODE_READONLY)
        add_block(out, "mode is readonly here, so nothing is stored");
    if (strcmp(mode, "off") == 0) add_block(out, "mode is off there, so nothing is looked up");
    if (strcmp(mode, "refresh") == 0)
        add_block(out, "mode is refresh there, so nothing is looked up");
}

static keel_status_t compare_machines(const keel_probe_t *here, const keel_settings_t *settings,
                                      const json_t *there, keel_arena_t *arena, keel_key_t keys[2],
                                      keel_probe_fit_t *out) {
    bool known_here, known_there;
    KEEL_TRY(read_key(here->facts, arena, &keys[0], &known_here));
    KEEL_TRY(read_key(there, arena, &keys[1], &known_there));
    if (!known_here)
        add_block(out, here->fast ? "the components of keys are unknown here: probe without --fast"
                                  : "the components of keys are unknown here: no client could be "
                                    "made");
    if (!known_there)
        add_block(out, "the components of keys are unknown there: that probe was made with --fast, "
                       "or its plugin made no client");
    if (out->block_count) return NULL;
    KEEL_TRY(compare_keys(&keys[0], &keys[1], out));
    compare_lives(here, settings, there, out);
    out->hits = out->hits && !out->block_count;
    return NULL;
}

keel_status_t keel_probe_compare(const keel_probe_t *here, const keel_settings_t *settings,
                                 const json_t *there, keel_probe_fit_t *out) {
    keel_arena_t arena;
    keel_key_t keys[2];
    keel_arena_initialize(&arena, 0);
    keel_key_initialize(&keys[0]);
    keel_key_initialize(&keys[1]);
    keel_status_t status = compare_machines(here, settings, there, &arena, keys, out);
    keel_key_deinitialize(&keys[0]);
    keel_key_deinitialize(&keys[1]);
    keel_arena_deinitialize(&arena);
    return status;
}
