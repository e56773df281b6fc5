#include <string.h>

#include <jansson.h>

#include "base/json.h"
#include "cli/probe.h"

// Prints facts, which are in this form already.
static void write_value(keel_json_t *json, const char *name, const json_t *value) {
    if (json_is_object(value)) {
        json_t *members = (json_t *)(uintptr_t)value;
        keel_json_object(json, name);
        for (void *at = json_object_iter(members); at; at = json_object_iter_next(members, at))
            write_value(json, json_object_iter_key(at), json_object_iter_value(at));
        keel_json_end_object(json);
    } else if (json_is_array(value)) {
        keel_json_array(json, name);
        for (size_t i = 0; i < json_array_size(value); ++i)
            write_value(json, NULL, json_array_get(value, i));
        keel_json_end_array(json);
    } else if (json_is_string(value)) {
        keel_json_string(json, name, json_string_value(value));
    } else if (json_is_integer(value)) {
        keel_json_int(json, name, json_integer_value(value));
    } else {
        keel_json_null(json, name);
    }
}

static void write_steps(const keel_probe_t *probe, keel_json_t *json) {
    keel_json_object(json, "steps");
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i) {
        const keel_probe_outcome_t *outcome = &probe->steps[i];
        if (outcome->state == KEEL_PROBE_NOT_TRIED) continue;
        keel_json_object(json, keel_probe_step_name((keel_probe_step_t)i));
        keel_json_string(json, "state", keel_probe_state_name(outcome->state));
        keel_json_double(json, "seconds", keel_seconds(outcome->nanoseconds), 6);
        keel_json_known(json, "code", outcome->code, 0);
        keel_json_known(json, "message", outcome->message, 0);
        keel_json_known(json, "stderr", outcome->said, 0);
        keel_json_end_object(json);
    }
    keel_json_end_object(json);
}

static void write_settings(const keel_settings_t *settings, keel_json_t *json) {
    keel_json_object(json, "settings");
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        const keel_setting_value_t *value = &settings->values[i];
        keel_json_object(json, keel_setting_facts((keel_setting_t)i)->key);
        keel_json_string(json, "value", value->text);
        keel_json_string(json, "origin", keel_origin_name(value->origin));
        keel_json_string(json, "where", value->where);
        keel_json_end_object(json);
    }
    keel_json_end_object(json);
}

static void write_findings(const keel_probe_t *probe, keel_json_t *json) {
    keel_json_array(json, "findings");
    for (size_t i = 0; i < probe->finding_count; ++i) {
        const keel_probe_finding_t *finding = &probe->findings[i];
        keel_json_object(json, NULL);
        keel_json_string(json, "label", keel_probe_label_name(finding->label));
        keel_json_string(json, "makes_it", keel_probe_verdict_name(finding->weight));
        keel_json_string(json, "text", finding->text);
        keel_json_string(json, "next", finding->next);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

// A value on both machines; NULL is left out.
static void write_pair(keel_json_t *json, const char *name, const char *there, const char *here) {
    keel_json_object(json, NULL);
    keel_json_string(json, "name", name);
    if (there) keel_json_string(json, "there", there);
    if (here) keel_json_string(json, "here", here);
    keel_json_end_object(json);
}

static void write_fit(const cli_probed_t *probed, keel_json_t *json) {
    const keel_probe_fit_t *fit = &probed->fit;
    keel_json_object(json, "compare");
    keel_json_string(json, "with", probed->other);
    keel_json_bool(json, "would_hit", fit->hits);
    keel_json_array(json, "differs");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (fit->differs[i]) keel_json_string(json, NULL, keel_component_name((keel_component_t)i));
    keel_json_end_array(json);
    keel_json_array(json, "fields");
    for (size_t i = 0; i < fit->fields.root_count; ++i)
        write_pair(json, fit->fields.roots[i].subject, fit->fields.roots[i].old_value,
                   fit->fields.roots[i].new_value);
    keel_json_end_array(json);
    keel_json_array(json, "blocked_by");
    for (size_t i = 0; i < fit->block_count; ++i)
        keel_json_string(json, NULL, fit->blocks[i]);
    keel_json_end_array(json);
    keel_json_array(json, "programs_may_differ");
    for (size_t i = 0; i < probed->changes.count; ++i) {
        const keel_bundle_change_t *change = &probed->changes.list[i];
        if (cli_probe_makes_programs(change))
            write_pair(json, change->name, change->old_value, change->new_value);
    }
    keel_json_end_array(json);
    keel_json_end_object(json);
}

void cli_probe_json(const cli_probed_t *probed, keel_buffer_t *out) {
    const keel_probe_t *probe = &probed->probe;
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_unsigned(&json, "probe", 1); // the form of this JSON
    keel_json_string(&json, "keel", KEEL_VERSION);
    keel_json_string(&json, "verdict", keel_probe_verdict_name(probe->verdict));
    keel_json_bool(&json, "fast", probe->fast);
    json_t *facts = probe->facts;
    write_value(&json, "plugin", keel_probe_facts(probe, "plugin"));
    write_steps(probe, &json);
    for (void *at = json_object_iter(facts); at; at = json_object_iter_next(facts, at))
        if (strcmp(json_object_iter_key(at), "plugin") != 0)
            write_value(&json, json_object_iter_key(at), json_object_iter_value(at));
    if (probed->settings_known) write_settings(&probed->settings, &json);
    write_findings(probe, &json);
    if (probed->other) write_fit(probed, &json);
    if (probed->bundle_known) keel_bundle_json(&probe->bundle, keel_json_value(&json, "bundle"));
    keel_json_end_object(&json);
}
