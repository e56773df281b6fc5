#include <stdio.h>

#include "cli/bundle.h"

static const char details[] =
    "PLUGIN is a path, cpu or tpu; the default is the plugin that the settings name. It is\n"
    "loaded and used step by step in a separate process, so that it may crash or hang.\n\n"
    "Each finding has a label and a next step. The labels are backend defect (the plugin fails\n"
    "or lacks something), launch policy (how processes are started here), version gate (versions\n"
    "that do not work together) and model policy (settings that change every model's numbers).\n\n"
    "The exit code is 0 for alive, 1 for limping and 3 for dead; it is also 1 if --compare finds\n"
    "that entries made here do not fit there.\n";

static void show_step(const char *step) {
    static char text[64];
    cli_progress_end();
    snprintf(text, sizeof text, "probe: %s", step);
    cli_progress_begin(text);
}

static void add_wrapped(keel_probe_t *probe, const char *wraps) {
    char next[512];
    snprintf(next, sizeof next, "`keel probe %.400s` tests that plugin alone", wraps);
    keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_ALIVE, next,
                   "this is Keel's own library, which wraps %s here; it was tested with mode off, "
                   "so nothing was cached or recorded",
                   wraps);
}

// Describes the plugin's file, uses the plugin, and collects the rest of the bundle. For Keel's own
// library, the bundle describes the plugin that it wraps.
static keel_status_t use_plugin(const keel_settings_t *settings, const char *plugin,
                                const char *wraps, unsigned limit, keel_probe_t *probe) {
    const keel_probe_request_t request = {.plugin = plugin,
                                          .wraps = wraps,
                                          .limit = limit,
                                          .last = probe->fast ? KEEL_PROBE_LOAD : KEEL_PROBE_OLDER,
                                          .stepping = show_step};
    if (wraps) add_wrapped(probe, wraps);
    KEEL_TRY(cli_describe_plugin(settings, wraps ? wraps : plugin, &probe->bundle));
    keel_status_t status = keel_probe_use(&request, probe);
    cli_progress_end();
    return status;
}

static keel_status_t run_probe(const keel_settings_t *settings, const char *python, unsigned limit,
                               keel_probe_t *probe) {
    char *plugin = NULL, *wraps = NULL;
    const keel_bundle_request_t rest = {.interpreter = python, .looking = cli_limit_at};
    keel_status_t status = cli_find_plugin(settings, python, &plugin, &wraps);
    if (!status) status = use_plugin(settings, plugin, wraps, limit, probe);
    if (!status) status = keel_bundle_collect(&rest, &probe->bundle);
    if (!status) keel_probe_conclude(probe);
    keel_free(plugin);
    keel_free(wraps);
    return status;
}

static keel_status_t read_there(cli_probed_t *probed) {
    KEEL_TRY(cli_take_bundle(probed->other, &probed->there));
    if (probed->there.known[KEEL_BUNDLE_STEPS]) return NULL;
    return keel_status_make(KEEL_INVALID,
                            "%s: not a probe, or one of an older Keel; `keel probe --json` prints "
                            "one",
                            probed->other);
}

static keel_status_t compare(cli_probed_t *probed) {
    const keel_bundle_t *here = &probed->probe.bundle, *there = &probed->there;
    KEEL_TRY(keel_bundle_compare(there, here, &probed->changes));
    probed->block_count = keel_probe_blocks(here, there, probed->blocks);
    probed->hits = !probed->block_count;
    for (size_t i = 0; i < probed->changes.count; ++i)
        if (probed->changes.list[i].section == KEEL_BUNDLE_KEY) probed->hits = false;
    return NULL;
}

static keel_status_t probe_and_compare(cli_call_t *call, unsigned limit, cli_probed_t *probed) {
    keel_probe_t *probe = &probed->probe;
    keel_settings_t settings;
    char *python = NULL;
    if (probed->other) KEEL_TRY(read_there(probed));
    if (call->rest_count) call->flags[KEEL_SETTING_PLUGIN] = call->rest[0];
    KEEL_TRY(cli_interpreter(&python));
    cli_limit_at("the config file");
    keel_status_t status = keel_settings_load(call->flags, &settings);
    cli_limit_at(NULL);
    bool known = !status;
    if (!status) status = run_probe(&settings, python, limit, probe);
    if (known) keel_probe_set_up(probe, &settings);
    keel_settings_deinitialize(&settings);
    keel_free(python);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    // If the probe cannot start, the reason is a finding too, so the answer has the same form.
    if (status)
        keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_DEAD,
                       "correct it as the message says; `keel config` shows where each setting "
                       "comes from",
                       "%s", keel_status_message(status));
    keel_status_ignore(status);
    KEEL_TRY(keel_probe_status(probe));
    return probed->other ? compare(probed) : NULL;
}

static int answer(const cli_probed_t *probed, bool json) {
    static const int codes[] = {CLI_OK, CLI_NO, CLI_FAILURE};
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    (json ? cli_probe_json : cli_probe_text)(probed, &out);
    int code = codes[probed->probe.verdict];
    if (probed->other && !probed->hits && code == CLI_OK) code = CLI_NO;
    int written = cli_answer(&out);
    return written ? written : code;
}

int cli_probe(cli_call_t *call) {
    static cli_probed_t probed;
    const char *timeout = "60";
    bool json = false, fast = false;
    unsigned limit;
    int code;
    call->details = details;
    cli_switch(call, "--json", "print JSON", &json);
    cli_switch(call, "--fast", "only load the plugin: no client, no compile", &fast);
    cli_text(call, "--compare", "FILE",
             "would an entry made here be a hit on the machine of FILE, a probe's JSON",
             &probed.other);
    cli_text(call, "--timeout", "SECONDS", "give up on a step after this long (60)", &timeout);
    cli_setting(call, KEEL_SETTING_PLUGIN);
    cli_setting(call, KEEL_SETTING_CACHE_DIR);
    cli_setting(call, KEEL_SETTING_RUN_DIR);
    cli_setting(call, KEEL_SETTING_MODE);
    if (!cli_parse(call, 0, 1, &code)) return code;
    if (!cli_read_seconds(call, timeout, &limit, &code)) return code;
    keel_probe_initialize(&probed.probe);
    keel_bundle_initialize(&probed.there);
    probed.probe.fast = fast;
    cli_limit_begin("probe", limit);
    keel_status_t status = probe_and_compare(call, limit, &probed);
    cli_limit_end();
    code = status ? cli_fail(status) : answer(&probed, json);
    keel_bundle_changes_deinitialize(&probed.changes);
    keel_bundle_deinitialize(&probed.there);
    keel_probe_deinitialize(&probed.probe);
    return code;
}
