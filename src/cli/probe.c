#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/probe.h"
#include "pjrt/pjrt.h"

static const char details[] =
    "PLUGIN is a path, cpu or tpu; the default is the plugin that the settings name. It is\n"
    "loaded and used step by step in a separate process, so that it may crash or hang.\n\n"
    "Each finding has a label and a next step. The labels are backend defect (the plugin fails\n"
    "or lacks something), launch policy (how processes are started here), version gate (versions\n"
    "that do not work together) and model policy (settings that change every model's numbers).\n\n"
    "The exit code is 0 for alive, 1 for limping and 3 for dead; it is also 1 if --compare finds\n"
    "that entries made here do not fit there.\n";

static void show_waiting(void *context, const char *step, double seconds) {
    bool *shown = context;
    if (seconds < 2 && !*shown) return;
    fprintf(stderr, "\r\x1b[Kkeel: probe: %s, %.0f s", step, seconds);
    *shown = true;
}

// If the probe cannot start, the reason is a finding too, so the answer has the same form.
static void cannot_start(cli_probed_t *probed, keel_status_t status) {
    keel_probe_add(
        &probed->probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_DEAD,
        "correct it as the message says; `keel config` shows where each setting comes from", "%s",
        keel_status_message(status));
    keel_status_ignore(status);
}

static void add_wrapped(cli_probed_t *probed, const char *wraps) {
    char next[512];
    snprintf(next, sizeof next, "`keel probe %.400s` tests that plugin alone", wraps);
    keel_probe_add(&probed->probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_ALIVE, next,
                   "this is Keel's own library, which wraps %s here; it was tested with mode off, "
                   "so nothing was cached or recorded",
                   wraps);
}

// For Keel's own library, the bundle describes the plugin that it wraps.
static keel_status_t complete_bundle(cli_probed_t *probed, const keel_probe_request_t *request) {
    keel_probe_t *probe = &probed->probe;
    keel_bundle_request_t wanted = {.interpreter = probed->python,
                                    .plugin = probe->is_there ? request->plugin : NULL,
                                    .build = probe->build_known ? &probe->build : NULL,
                                    .digests = request->digests,
                                    .looking = cli_limit_at};
    if (wanted.plugin && request->wraps) wanted.plugin = request->wraps;
    KEEL_TRY(keel_bundle_collect(&wanted, &probe->bundle));
    cli_limit_at(NULL);
    probed->bundle_known = true;
    keel_probe_judge_clients(probe);
    return NULL;
}

static keel_status_t run_probe(cli_probed_t *probed, const char *plugin, const char *wraps,
                               unsigned limit, bool fast) {
    bool shown = false;
    char *digests;
    KEEL_TRY(cli_digests_folder(&probed->settings, &digests));
    // Uses the folder of digests if there is one; a probe makes no folder.
    keel_probe_request_t request = {.plugin = plugin,
                                    .wraps = wraps,
                                    .digests = digests && keel_is_folder(digests) ? digests : NULL,
                                    .limit = limit,
                                    .last = fast ? KEEL_PROBE_LOAD : KEEL_PROBE_OLDER,
                                    .waiting = isatty(STDERR_FILENO) ? show_waiting : NULL,
                                    .context = &shown,
                                    .looking = cli_limit_at};
    if (wraps) add_wrapped(probed, wraps);
    keel_status_t status = keel_probe_run(&request, &probed->probe);
    if (shown) fputs("\r\x1b[K", stderr);
    if (!status) keel_probe_conclude(&probed->probe);
    if (!status) status = complete_bundle(probed, &request);
    keel_free(digests);
    return status;
}

// Finds the plugin and probes it.
static keel_status_t probe_plugin(cli_probed_t *probed, const char *name, unsigned limit,
                                  bool fast) {
    char *plugin = NULL, *wraps = NULL;
    cli_limit_at(strchr(name, '/') ? name : probed->python);
    keel_status_t status =
        *name ? keel_plugin_find(name, probed->python, &plugin)
              : keel_status_make(KEEL_NOT_FOUND, "no plugin; name one with --plugin");
    if (!status) status = cli_find_wrapped(plugin, probed->python, &wraps);
    cli_limit_at(NULL);
    if (!status) {
        status = run_probe(probed, plugin, wraps, limit, fast);
    } else if (keel_status_code(status) != KEEL_NO_MEMORY) {
        cannot_start(probed, status);
        status = NULL;
    }
    keel_free(plugin);
    keel_free(wraps);
    return status;
}

static int answer_probe(cli_probed_t *probed, bool json) {
    static const int codes[] = {CLI_OK, CLI_NO, CLI_FAILURE};
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    (json ? cli_probe_json : cli_probe_text)(probed, &out);
    int code = codes[probed->probe.verdict];
    if (probed->other && !probed->fit.hits && code == CLI_OK) code = CLI_NO;
    int written = cli_answer(&out);
    return written ? written : code;
}

static keel_status_t probe_and_compare(cli_call_t *call, cli_probed_t *probed, unsigned limit,
                                       bool fast) {
    if (probed->other) KEEL_TRY(cli_probe_read_other(probed));
    KEEL_TRY(cli_interpreter(&probed->python));
    if (call->rest_count) call->flags[KEEL_SETTING_PLUGIN] = call->rest[0];
    cli_limit_at("the config file");
    keel_status_t status = keel_settings_load(call->flags, &probed->settings);
    cli_limit_at(NULL);
    probed->settings_known = !status;
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    if (status) {
        cannot_start(probed, status);
    } else {
        const char *named = keel_settings_text(&probed->settings, KEEL_SETTING_PLUGIN);
        KEEL_TRY(probe_plugin(probed, named, limit, fast));
        keel_probe_set_up(&probed->probe, &probed->settings);
    }
    KEEL_TRY(keel_probe_status(&probed->probe));
    return probed->other ? cli_probe_compare(probed) : NULL;
}

int cli_probe(cli_call_t *call) {
    static const keel_setting_t settings[] = {KEEL_SETTING_PLUGIN, KEEL_SETTING_CACHE_DIR,
                                              KEEL_SETTING_RUN_DIR, KEEL_SETTING_MODE};
    bool json = false, fast = false;
    const char *other = NULL, *timeout = "60";
    unsigned limit;
    int code;
    call->details = details;
    cli_switch(call, "--json", "print JSON", &json);
    cli_switch(call, "--fast", "only load the plugin: no client, no compile", &fast);
    cli_text(call, "--compare", "FILE",
             "would an entry made here be a hit on the machine of FILE, a probe's JSON", &other);
    cli_text(call, "--timeout", "SECONDS", "give up on a step after this long (60)", &timeout);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; ++i)
        cli_setting(call, settings[i]);
    if (!cli_parse(call, 0, 1, &code)) return code;
    if (!cli_read_seconds(call, timeout, &limit, &code)) return code;
    void *memory;
    keel_status_t status = keel_calloc(1, sizeof(cli_probed_t), &memory);
    if (status) return cli_fail(status);
    cli_probed_t *probed = memory;
    probed->other = other;
    keel_probe_initialize(&probed->probe);
    keel_probe_fit_initialize(&probed->fit);
    keel_bundle_initialize(&probed->bundle_there);
    cli_limit_begin("probe", limit);
    status = probe_and_compare(call, probed, limit, fast);
    cli_limit_end();
    code = status ? cli_fail(status) : answer_probe(probed, json);
    keel_bundle_changes_deinitialize(&probed->changes);
    keel_bundle_deinitialize(&probed->bundle_there);
    json_decref(probed->there);
    keel_free(probed->python);
    keel_probe_fit_deinitialize(&probed->fit);
    keel_probe_deinitialize(&probed->probe);
    keel_settings_deinitialize(&probed->settings);
    keel_free(probed);
    return code;
}
