// `keel probe`.
#include "base/json.h"
#include "cli/bundle.h"
#include "cli/cache.h"

// A run goes on without them, and compiles what they have.
static void try_remotes(cli_look_t *look) {
    const keel_settings_t *settings = &look->settings;
    bool are_used = settings->mode == KEEL_MODE_ON || settings->mode == KEEL_MODE_REFRESH;
    for (size_t i = 0; are_used && i < settings->remotes.count; ++i) {
        keel_buffer_t wrong;
        keel_buffer_initialize(&wrong, 0);
        cache_try_remote(settings, i, &wrong);
        if (wrong.size)
            keel_probe_add(&look->probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_LIMPING,
                           "`keel cache remotes` tries it again; docs/fleet.md says how to set it "
                           "up",
                           "the remote %s: %s", settings->remotes.list[i].url,
                           keel_buffer_cstr(&wrong));
        keel_buffer_deinitialize(&wrong);
    }
}

static keel_status_t probe_all(const cli_call_t *call, cli_look_t *look) {
    keel_probe_t *probe = &look->probe;
    keel_status_t status = cli_look(call, look);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    // If the probe cannot start, the reason is a finding too, so the answer has the same form.
    if (status)
        keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_DEAD,
                       "correct it as the message says; `keel config` shows where each setting "
                       "comes from",
                       "%s", keel_status_message(status));
    else
        keel_probe_conclude(probe);
    keel_status_ignore(status);
    if (keel_settings_text(&look->settings, KEEL_SETTING_MODE))
        keel_probe_set_up(probe, &look->settings);
    try_remotes(look);
    return keel_bundle_status(&probe->bundle);
}

// ---- text --------------------------------------------------------------------------------------

static void print_steps(const keel_probe_t *probe, keel_buffer_t *out) {
    keel_buffer_text(out, "\nsteps\n");
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i) {
        const keel_probe_outcome_t *outcome = &probe->steps[i];
        char time[24];
        if (outcome->state == KEEL_PROBE_NOT_TRIED) continue;
        keel_format_seconds(keel_seconds(outcome->nanoseconds), time);
        keel_buffer_format(out, "  %-14s %9s  %s: %s\n", keel_probe_step_names[i], time,
                           keel_probe_state_words[outcome->state],
                           outcome->state == KEEL_PROBE_OK ? keel_probe_step_sentences[i]
                                                           : outcome->message);
        if (*outcome->said) keel_buffer_format(out, "%28sstderr: %s\n", "", outcome->said);
    }
}

static void print_findings(const keel_probe_t *probe, keel_buffer_t *out) {
    if (probe->finding_count) keel_buffer_text(out, "\nfindings\n");
    // The most serious first; equal ones in the order in which they were found.
    for (int weight = KEEL_PROBE_DEAD; weight >= KEEL_PROBE_ALIVE; --weight)
        for (size_t i = 0; i < probe->finding_count; ++i) {
            const keel_probe_finding_t *finding = &probe->findings[i];
            if ((int)finding->weight != weight) continue;
            keel_buffer_format(out, "  %s (%s): %s\n    next: %s\n", finding->label,
                               weight ? keel_probe_verdict_names[weight] : "good to know",
                               finding->text, finding->next);
        }
}

static void print_text(const keel_probe_t *probe, keel_buffer_t *out) {
    static const keel_bundle_section_t sections[] = {KEEL_BUNDLE_PLUGIN, KEEL_BUNDLE_DEVICES,
                                                     KEEL_BUNDLE_MEMORY, KEEL_BUNDLE_SETTINGS};
    bool only_loaded = probe->fast && probe->verdict == KEEL_PROBE_ALIVE;
    keel_buffer_format(out, "%s%s\n", keel_probe_verdict_names[probe->verdict],
                       only_loaded ? ", judging only by loading it (--fast)" : "");
    if (probe->bundle.known[KEEL_BUNDLE_STEPS]) print_steps(probe, out);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i) {
        if (probe->bundle.known[sections[i]]) keel_buffer_byte(out, '\n');
        keel_bundle_section_text(&probe->bundle, sections[i], out);
    }
    print_findings(probe, out);
}

// ---- JSON --------------------------------------------------------------------------------------

static void write_steps(const keel_probe_t *probe, keel_json_t *json) {
    keel_json_object(json, "steps");
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i) {
        const keel_probe_outcome_t *outcome = &probe->steps[i];
        if (outcome->state == KEEL_PROBE_NOT_TRIED) continue;
        keel_json_object(json, keel_probe_step_names[i]);
        keel_json_string(json, "state", keel_probe_state_names[outcome->state]);
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
        keel_json_string(json, "label", finding->label);
        keel_json_string(json, "makes_it", keel_probe_verdict_names[finding->weight]);
        keel_json_string(json, "text", finding->text);
        keel_json_string(json, "next", finding->next);
        keel_json_end_object(json);
    }
    keel_json_end_array(json);
}

static void print_json(const keel_probe_t *probe, keel_buffer_t *out) {
    keel_json_t json = keel_json(out, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    keel_json_unsigned(&json, "probe", 2); // the form of this JSON
    keel_json_string(&json, "verdict", keel_probe_verdict_names[probe->verdict]);
    keel_json_bool(&json, "fast", probe->fast);
    write_steps(probe, &json);
    write_findings(probe, &json);
    keel_bundle_json(&probe->bundle, keel_json_value(&json, "bundle"));
    if (probe->target.size)
        keel_buffer_append(keel_json_value(&json, "target"), probe->target.data,
                           probe->target.size);
    keel_json_end_object(&json);
}

// ---- the command -------------------------------------------------------------------------------

static const char details[] =
    "PLUGIN is a path, cpu, cuda or tpu; the default is the plugin that the settings name. It is\n"
    "loaded and used step by step in a separate process, so that it may crash or hang. JAX on a\n"
    "CPU uses its own client unless a plugin is named or jax_cpu is embedded.\n\n"
    "Each finding has a label and a next step. The labels are backend defect (the plugin fails\n"
    "or lacks something), launch policy (how processes are started here), version gate (versions\n"
    "that do not work together) and model policy (settings that change every model's numbers).\n\n"
    "The exit code is 0 for alive, 1 for limping and 3 for dead. `keel bundle diff` compares what\n"
    "two probes wrote with --json: would an entry of one machine be a hit on the other?\n";

int cli_probe(cli_call_t *call) {
    static cli_look_t look = {.loads = true};
    static const int codes[] = {CLI_OK, CLI_NO, CLI_FAILURE};
    const char *timeout = "60";
    bool json = false, fast = false;
    int code;
    call->details = details;
    cli_switch(call, "--json", "print JSON", &json);
    cli_switch(call, "--fast", "only load the plugin: no client, no compile", &fast);
    cli_text(call, "--timeout", "SECONDS", "give up on a step after this long (60)", &timeout);
    cli_setting(call, KEEL_SETTING_PLUGIN);
    cli_setting(call, KEEL_SETTING_CACHE_DIR);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    cli_setting(call, KEEL_SETTING_MODE);
    cli_setting(call, KEEL_SETTING_REMOTES);
    cli_setting(call, KEEL_SETTING_KEYS_DIR);
    if (!cli_parse(call, 0, 1, &code)) return code;
    if (!cli_read_seconds(call, timeout, &look.seconds, &code)) return code;
    if (call->rest_count) call->flags[KEEL_SETTING_PLUGIN] = call->rest[0];
    look.last = fast ? KEEL_PROBE_LOAD : KEEL_PROBE_OLDER;
    keel_status_t status = probe_all(call, &look);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    (json ? print_json : print_text)(&look.probe, &out);
    int verdict = codes[look.probe.verdict];
    cli_look_end(&look);
    if (status) keel_buffer_deinitialize(&out);
    code = status ? cli_fail(status) : cli_answer(&out);
    return code == CLI_OK ? verdict : code;
}
