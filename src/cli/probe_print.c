#include "base/json.h"
#include "cli/bundle.h"

// ---- text --------------------------------------------------------------------------------------

static void print_section(const cli_probed_t *probed, keel_bundle_section_t section,
                          keel_buffer_t *out) {
    if (!probed->probe.bundle.known[section]) return;
    keel_buffer_byte(out, '\n');
    keel_bundle_section_text(&probed->probe.bundle, section, out);
}

static void print_steps(const keel_probe_t *probe, keel_buffer_t *out) {
    keel_buffer_text(out, "\nsteps\n");
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i) {
        const keel_probe_outcome_t *outcome = &probe->steps[i];
        const char *sentence = keel_probe_step_sentence((keel_probe_step_t)i);
        char time[24];
        if (outcome->state == KEEL_PROBE_NOT_TRIED) continue;
        keel_format_seconds(keel_seconds(outcome->nanoseconds), time);
        keel_buffer_format(out, "  %-14s %9s  %s: %s\n", keel_probe_step_name((keel_probe_step_t)i),
                           time, keel_probe_state_word(outcome->state),
                           outcome->state == KEEL_PROBE_OK ? sentence : outcome->message);
        if (*outcome->said) keel_buffer_format(out, "%28sstderr: %s\n", "", outcome->said);
    }
}

static void print_findings(const keel_probe_t *probe, keel_buffer_t *out) {
    if (!probe->finding_count) return;
    keel_buffer_text(out, "\nfindings\n");
    // The most serious first; equal ones in the order in which they were found.
    for (int weight = KEEL_PROBE_DEAD; weight >= KEEL_PROBE_ALIVE; --weight)
        for (size_t i = 0; i < probe->finding_count; ++i) {
            const keel_probe_finding_t *finding = &probe->findings[i];
            if ((int)finding->weight != weight) continue;
            keel_buffer_format(out, "  %s (%s): %s\n    next: %s\n",
                               keel_probe_label_name(finding->label),
                               weight ? keel_probe_verdict_name(finding->weight) : "good to know",
                               finding->text, finding->next);
        }
}

static bool differs_in_programs(const keel_bundle_changes_t *changes) {
    for (size_t i = 0; i < changes->count; ++i)
        if (changes->list[i].weight == KEEL_BUNDLE_WEIGHT_CLIENT) return true;
    return false;
}

static void print_fit(const cli_probed_t *probed, keel_buffer_t *out) {
    keel_buffer_format(out, "\ncompared with %s: there -> here\n", probed->other);
    keel_bundle_changes_text(&probed->changes, false, KEEL_BUNDLE_WEIGHT_CLIENT, out);
    for (size_t i = 0; i < probed->block_count; ++i)
        keel_buffer_format(out, "%s\n", probed->blocks[i]);
    keel_buffer_format(
        out, "an entry made here would %sbe a hit there%s\n", probed->hits ? "" : "NOT ",
        probed->hits && differs_in_programs(&probed->changes) ? ", for the same program" : "");
}

void cli_probe_text(const cli_probed_t *probed, keel_buffer_t *out) {
    const keel_probe_t *probe = &probed->probe;
    bool only_loaded = probe->fast && probe->verdict == KEEL_PROBE_ALIVE;
    keel_buffer_format(out, "%s%s\n", keel_probe_verdict_name(probe->verdict),
                       only_loaded ? ", judging only by loading it (--fast)" : "");
    print_section(probed, KEEL_BUNDLE_PLUGIN, out);
    if (probe->bundle.known[KEEL_BUNDLE_STEPS]) print_steps(probe, out);
    print_section(probed, KEEL_BUNDLE_DEVICES, out);
    print_section(probed, KEEL_BUNDLE_MEMORY, out);
    print_section(probed, KEEL_BUNDLE_SETTINGS, out);
    print_findings(probe, out);
    if (probed->other) print_fit(probed, out);
}

// ---- JSON --------------------------------------------------------------------------------------

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

static void write_fit(const cli_probed_t *probed, keel_json_t *json) {
    keel_json_object(json, "compare");
    keel_json_string(json, "with", probed->other);
    keel_json_bool(json, "would_hit", probed->hits);
    keel_json_array(json, "blocked_by");
    for (size_t i = 0; i < probed->block_count; ++i)
        keel_json_string(json, NULL, probed->blocks[i]);
    keel_json_end_array(json);
    keel_bundle_changes_json(&probed->changes, json);
    keel_json_end_object(json);
}

void cli_probe_json(const cli_probed_t *probed, keel_buffer_t *out) {
    const keel_probe_t *probe = &probed->probe;
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_unsigned(&json, "probe", 2); // the form of this JSON
    keel_json_string(&json, "verdict", keel_probe_verdict_name(probe->verdict));
    keel_json_bool(&json, "fast", probe->fast);
    write_steps(probe, &json);
    write_findings(probe, &json);
    if (probed->other) write_fit(probed, &json);
    keel_bundle_json(&probe->bundle, keel_json_value(&json, "bundle"));
    keel_json_end_object(&json);
}
