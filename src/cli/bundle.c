// `keel bundle`, and how it and `keel probe` look at this machine.
#include "cli/bundle.h"

#include "pjrt/pjrt.h"

// ---- looking -----------------------------------------------------------------------------------

static keel_status_t find_python(const char *named, char **out) {
    char *path;
    if (!named) return cli_interpreter(out);
    cli_limit_at(named);
    KEEL_TRY(keel_python_find(named, &path));
    bool there = path && keel_is_file(path);
    keel_status_t status =
        there ? cli_interpreter_named(path, out)
              : keel_status_make(
                    KEEL_INVALID,
                    "--python %s: no such interpreter; give one such as /venv/bin/python", named);
    keel_free(path);
    return status;
}

// The plugin that the settings name; if that is Keel's own library, the one that it wraps. The
// caller frees it, even after a failure.
static keel_status_t find_plugin(const keel_settings_t *settings, const char *python, char **out) {
    const char *named = keel_settings_text(settings, KEEL_SETTING_PLUGIN);
    char *wrapped;
    if (!*named) return keel_status_make(KEEL_NOT_FOUND, "no plugin; name one with --plugin");
    cli_limit_at(strchr(named, '/') ? named : python);
    KEEL_TRY(keel_plugin_find(named, python, out));
    KEEL_TRY(cli_find_wrapped(*out, python, &wrapped));
    if (wrapped) {
        cli_say("plugin %s is Keel's own library; this is about the plugin that it wraps", *out);
        keel_free(*out);
        *out = wrapped;
    }
    if (keel_is_file(*out)) return NULL;
    return keel_status_make(KEEL_INVALID,
                            "plugin %s: no such file; name a PJRT plugin's library with --plugin "
                            "or KEEL_PLUGIN",
                            *out);
}

static void show_step(const char *step) {
    static char text[64];
    cli_progress_end();
    snprintf(text, sizeof text, "plugin: %s", step);
    cli_progress_begin(text);
}

// Describes the plugin's file and uses the plugin.
static keel_status_t use_plugin(cli_look_t *look, const char *plugin) {
    const keel_probe_request_t request = {.plugin = plugin,
                                          .cpu_devices = look->settings.cpu_devices,
                                          .limit = look->seconds,
                                          .last = look->last,
                                          .stepping = show_step};
    char *digests;
    KEEL_TRY(cli_digests_folder(&look->settings, &digests));
    // Uses the folder of digests if there is one, but makes none.
    bool remembers = digests && keel_is_folder(digests);
    if (remembers) keel_key_keep_digests(digests);
    cli_limit_at(plugin);
    keel_bundle_plugin_file(plugin, NULL, remembers ? digests : NULL, &look->probe.bundle);
    cli_limit_at(NULL); // the child has a limit of its own
    keel_free(digests);
    if (!look->loads) return NULL;
    keel_status_t status = keel_probe_use(&request, &look->probe);
    cli_progress_end();
    return status;
}

keel_status_t cli_look(const cli_call_t *call, cli_look_t *look) {
    char *python = NULL, *plugin = NULL;
    keel_probe_initialize(&look->probe);
    cli_limit_begin(call->name, look->seconds);
    keel_status_t status = find_python(look->interpreter, &python);
    cli_limit_at("the config file");
    if (!status) status = keel_settings_load(call->flags, &look->settings);
    if (!status) status = find_plugin(&look->settings, python, &plugin);
    if (!status) status = use_plugin(look, plugin);
    const keel_bundle_request_t rest = {.interpreter = python, .looking = cli_limit_at};
    if (!status || keel_status_code(status) == KEEL_NOT_FOUND)
        keel_bundle_collect(&rest, &look->probe.bundle);
    cli_limit_end();
    keel_free(python);
    keel_free(plugin);
    return status ? status : keel_bundle_status(&look->probe.bundle);
}

void cli_look_end(cli_look_t *look) {
    keel_settings_deinitialize(&look->settings);
    keel_probe_deinitialize(&look->probe);
}

// ---- the command -------------------------------------------------------------------------------

static const char details[] =
    "Prints everything that affects keys or decides whether an installation works: plugin,\n"
    "flags, machine, devices, clients and packages. The Python is the current one; it is not\n"
    "started unless a version manager provides it. The plugin is loaded in a separate process,\n"
    "unless --fast is given. Values that look like secrets are left out.\n\n"
    "`keel bundle diff A B` compares two bundles: files that --json wrote, runs, or journals.\n";

int cli_bundle(cli_call_t *call) {
    static cli_look_t look = {.last = KEEL_PROBE_DEVICES};
    const char *timeout = "60";
    bool json = false, fast = false;
    int code;
    if (call->arguments[0] && strcmp(call->arguments[0], "diff") == 0) return cli_bundle_diff(call);
    call->details = details;
    cli_switch(call, "--json", "print JSON, for `keel bundle diff`", &json);
    cli_switch(call, "--fast", "do not load the plugin", &fast);
    cli_text(call, "--timeout", "SECONDS", "give up on what does not answer for this long (60)",
             &timeout);
    cli_text(call, "--python", "PATH", "the Python whose packages are listed", &look.interpreter);
    cli_setting(call, KEEL_SETTING_PLUGIN);
    cli_setting(call, KEEL_SETTING_CACHE_DIR);
    if (!cli_parse(call, 0, 0, &code)) return code;
    if (!cli_read_seconds(call, timeout, &look.seconds, &code)) return code;
    look.loads = !fast;
    keel_status_t status = cli_look(call, &look);
    // A missing plugin is not a failure: the bundle then describes the rest.
    if (keel_status_code(status) == KEEL_NOT_FOUND) {
        cli_fail(status);
        status = NULL;
    }
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    (json ? keel_bundle_json : keel_bundle_text)(&look.probe.bundle, &out);
    cli_look_end(&look);
    if (status) keel_buffer_deinitialize(&out);
    return status ? cli_fail(status) : cli_answer(&out);
}
