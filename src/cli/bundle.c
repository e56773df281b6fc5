#include "cli/bundle.h"

#include <stdlib.h>

#include "bundle/compare.h"
#include "bundle/versions.h"
#include "pjrt/pjrt.h"
#include "probe/probe.h"

typedef struct bundle_asked_t {
    const char *python;
    bool json, fast;
    unsigned seconds;
    keel_settings_t settings;
    char *found; // the Python
    char *plugin, *digests;
} bundle_asked_t;

// Loading Keel's own library would record a run, and programs do not depend on it.
static keel_status_t look_behind(bundle_asked_t *asked) {
    char *wraps;
    KEEL_TRY(cli_find_wrapped(asked->plugin, asked->python, &wraps));
    if (!wraps) return NULL;
    cli_say("plugin %s is Keel's own library; the bundle describes the plugin that it wraps",
            asked->plugin);
    keel_free(asked->plugin);
    asked->plugin = wraps;
    return NULL;
}

// A missing plugin is not a failure: the bundle then describes the rest.
static keel_status_t find_plugin(bundle_asked_t *asked) {
    const char *named = keel_settings_text(&asked->settings, KEEL_SETTING_PLUGIN);
    cli_limit_at(strchr(named, '/') ? named : asked->python);
    keel_status_t status = *named ? keel_plugin_find(named, asked->python, &asked->plugin) : NULL;
    if (!status && asked->plugin) status = look_behind(asked);
    if (status && keel_status_code(status) != KEEL_NOT_FOUND) return status;
    if (status) cli_say("%s", keel_status_message(status));
    keel_status_ignore(status);
    keel_file_facts_t facts;
    if (asked->plugin && keel_status_code(status = keel_file_facts(asked->plugin, &facts))) {
        keel_status_ignore(status);
        return keel_status_make(
            KEEL_NOT_FOUND,
            "plugin %s: no such file; name a PJRT plugin's library with --plugin or KEEL_PLUGIN",
            asked->plugin);
    }
    return cli_digests_folder(&asked->settings, &asked->digests);
}

static keel_status_t find_named(const char *python, char **out) {
    char *path;
    cli_limit_at(python);
    KEEL_TRY(keel_python_find(python, &path));
    bool there = path && keel_is_file(path);
    cli_limit_at(NULL);
    keel_status_t status =
        there ? cli_interpreter_named(path, out)
              : keel_status_make(
                    KEEL_NOT_FOUND,
                    "--python %s: no such interpreter; give one such as /venv/bin/python", python);
    keel_free(path);
    return status;
}

// ---- the command -------------------------------------------------------------------------------

static keel_status_t collect_bundle(bundle_asked_t *asked, keel_probe_t *probe) {
    KEEL_TRY(asked->python ? find_named(asked->python, &asked->found)
                           : cli_interpreter(&asked->found));
    asked->python = asked->found;
    KEEL_TRY(find_plugin(asked));
    const keel_bundle_request_t request = {.interpreter = asked->python,
                                           .plugin = asked->plugin,
                                           .digests = asked->digests,
                                           .looking = cli_limit_at};
    const keel_probe_request_t use = {
        .plugin = asked->plugin, .limit = asked->seconds, .last = KEEL_PROBE_DEVICES};
    cli_limit_at(NULL); // the child has a limit of its own
    if (asked->plugin && !asked->fast) KEEL_TRY(keel_probe_use(&use, probe));
    KEEL_TRY(keel_bundle_collect(&request, &probe->bundle));
    KEEL_TRY(keel_bundle_add_support(&probe->bundle));
    return keel_probe_status(probe);
}

static const char details[] =
    "Prints everything that affects keys or decides whether an installation works: plugin,\n"
    "flags, machine, devices, clients and packages. The Python is the current one; it is not\n"
    "started unless a version manager provides it. The plugin is loaded in a separate process,\n"
    "unless --fast is given. Values that look like secrets are left out.\n\n"
    "`keel bundle diff A B` compares two bundles: files that --json wrote, runs, or journals.\n";

int cli_bundle(cli_call_t *call) {
    bundle_asked_t asked = {0};
    const char *timeout = "60";
    int code;
    if (call->arguments[0] && strcmp(call->arguments[0], "diff") == 0) return cli_bundle_diff(call);
    call->details = details;
    cli_switch(call, "--json", "print JSON, for `keel bundle diff`", &asked.json);
    cli_switch(call, "--fast", "do not load the plugin", &asked.fast);
    cli_text(call, "--timeout", "SECONDS", "give up on what does not answer for this long (60)",
             &timeout);
    cli_text(call, "--python", "PATH", "the Python whose packages are listed", &asked.python);
    cli_setting(call, KEEL_SETTING_PLUGIN);
    cli_setting(call, KEEL_SETTING_CACHE_DIR);
    if (!cli_parse(call, 0, 0, &code)) return code;
    if (!cli_read_seconds(call, timeout, &asked.seconds, &code)) return code;
    cli_limit_begin("bundle", asked.seconds);
    cli_limit_at("the config file");
    keel_status_t status = keel_settings_load(call->flags, &asked.settings);
    cli_limit_at(NULL);
    keel_probe_t probe;
    keel_buffer_t out;
    keel_probe_initialize(&probe);
    keel_buffer_initialize(&out, 0);
    cli_progress_begin("looking at the plugin");
    if (!status) status = collect_bundle(&asked, &probe);
    cli_limit_end();
    cli_progress_end();
    if (!status && asked.json)
        keel_bundle_json(&probe.bundle, &out);
    else if (!status)
        keel_bundle_text(&probe.bundle, &out);
    keel_probe_deinitialize(&probe);
    keel_settings_deinitialize(&asked.settings);
    keel_free(asked.found);
    keel_free(asked.plugin);
    keel_free(asked.digests);
    if (!status) return cli_answer(&out);
    keel_buffer_deinitialize(&out);
    return cli_fail(status);
}
