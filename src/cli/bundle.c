#include "cli/bundle.h"

#include "pjrt/pjrt.h"

keel_status_t cli_find_plugin(const keel_settings_t *settings, const char *python,
                              char **out_plugin, char **out_wraps) {
    const char *named = keel_settings_text(settings, KEEL_SETTING_PLUGIN);
    if (!*named) return keel_status_make(KEEL_NOT_FOUND, "no plugin; name one with --plugin");
    cli_limit_at(strchr(named, '/') ? named : python);
    KEEL_TRY(keel_plugin_find(named, python, out_plugin));
    return cli_find_wrapped(*out_plugin, python, out_wraps);
}

keel_status_t cli_describe_plugin(const keel_settings_t *settings, const char *plugin,
                                  keel_bundle_t *out) {
    char *digests;
    KEEL_TRY(cli_digests_folder(settings, &digests));
    cli_limit_at(plugin);
    // Uses the folder of digests if there is one, but makes none.
    keel_status_t status = keel_bundle_plugin_file(
        plugin, NULL, digests && keel_is_folder(digests) ? digests : NULL, out);
    cli_limit_at(NULL);
    keel_free(digests);
    return status;
}

// The plugin to describe. A missing plugin is not a failure: the bundle then describes the rest.
// Loading Keel's own library would record a run, and programs do not depend on it.
static keel_status_t choose_plugin(const keel_settings_t *settings, const char *python,
                                   char **out) {
    char *plugin = NULL, *wraps = NULL;
    keel_status_t status = cli_find_plugin(settings, python, &plugin, &wraps);
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        cli_say("%s", keel_status_message(status));
        keel_status_ignore(status);
        status = NULL;
        keel_free(plugin); // Keel's own, if what it wraps is missing
        plugin = NULL;
    }
    if (wraps)
        cli_say("plugin %s is Keel's own library; the bundle describes the plugin that it wraps",
                plugin);
    char *chosen = wraps ? wraps : plugin;
    if (wraps) keel_free(plugin);
    if (!status && chosen && !keel_is_file(chosen))
        status = keel_status_make(KEEL_NOT_FOUND,
                                  "plugin %s: no such file; name a PJRT plugin's library with "
                                  "--plugin or KEEL_PLUGIN",
                                  chosen);
    *out = chosen;
    return status;
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

static keel_status_t collect_bundle(const keel_settings_t *settings, const char *named,
                                    unsigned seconds, bool fast, keel_probe_t *probe) {
    char *python = NULL, *plugin = NULL;
    KEEL_TRY(named ? find_named(named, &python) : cli_interpreter(&python));
    const keel_bundle_request_t rest = {.interpreter = python, .looking = cli_limit_at};
    keel_status_t status = choose_plugin(settings, python, &plugin);
    const keel_probe_request_t use = {
        .plugin = plugin, .limit = seconds, .last = KEEL_PROBE_DEVICES};
    cli_limit_at(NULL); // the child has a limit of its own
    if (!status && plugin && !fast) status = keel_probe_use(&use, probe);
    if (!status && plugin) status = cli_describe_plugin(settings, plugin, &probe->bundle);
    if (!status) status = keel_bundle_collect(&rest, &probe->bundle);
    keel_free(python);
    keel_free(plugin);
    return status ? status : keel_probe_status(probe);
}

static const char details[] =
    "Prints everything that affects keys or decides whether an installation works: plugin,\n"
    "flags, machine, devices, clients and packages. The Python is the current one; it is not\n"
    "started unless a version manager provides it. The plugin is loaded in a separate process,\n"
    "unless --fast is given. Values that look like secrets are left out.\n\n"
    "`keel bundle diff A B` compares two bundles: files that --json wrote, runs, or journals.\n";

int cli_bundle(cli_call_t *call) {
    static keel_probe_t probe;
    const char *timeout = "60", *python = NULL;
    bool json = false, fast = false;
    unsigned seconds;
    int code;
    if (call->arguments[0] && strcmp(call->arguments[0], "diff") == 0) return cli_bundle_diff(call);
    call->details = details;
    cli_switch(call, "--json", "print JSON, for `keel bundle diff`", &json);
    cli_switch(call, "--fast", "do not load the plugin", &fast);
    cli_text(call, "--timeout", "SECONDS", "give up on what does not answer for this long (60)",
             &timeout);
    cli_text(call, "--python", "PATH", "the Python whose packages are listed", &python);
    cli_setting(call, KEEL_SETTING_PLUGIN);
    cli_setting(call, KEEL_SETTING_CACHE_DIR);
    if (!cli_parse(call, 0, 0, &code)) return code;
    if (!cli_read_seconds(call, timeout, &seconds, &code)) return code;
    keel_settings_t settings;
    keel_buffer_t out;
    keel_probe_initialize(&probe);
    keel_buffer_initialize(&out, 0);
    cli_limit_begin("bundle", seconds);
    cli_limit_at("the config file");
    keel_status_t status = keel_settings_load(call->flags, &settings);
    cli_limit_at(NULL);
    cli_progress_begin("looking at the plugin");
    if (!status) status = collect_bundle(&settings, python, seconds, fast, &probe);
    cli_limit_end();
    cli_progress_end();
    (json ? keel_bundle_json : keel_bundle_text)(&probe.bundle, &out);
    keel_probe_deinitialize(&probe);
    keel_settings_deinitialize(&settings);
    if (!status) return cli_answer(&out);
    keel_buffer_deinitialize(&out);
    return cli_fail(status);
}
