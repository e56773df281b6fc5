// Keel's own library where a plugin is asked for.
#include "cli/cli.h"
#include "pjrt/pjrt.h"

static bool is_own(const char *plugin) {
    const char *slash = strrchr(plugin, '/');
    return strcmp(slash ? slash + 1 : plugin, "libkeel_pjrt.so") == 0;
}

keel_status_t cli_find_wrapped(const char *plugin, const char *interpreter, char **out) {
    keel_settings_t settings;
    *out = NULL;
    if (!is_own(plugin)) return NULL;
    KEEL_TRY(keel_settings_load(NULL, &settings));
    const char *named = keel_settings_text(&settings, KEEL_SETTING_PLUGIN);
    keel_status_t status = keel_plugin_find(named, interpreter, out);
    keel_settings_deinitialize(&settings);
    KEEL_TRY(status);
    if (!is_own(*out)) return NULL;
    status = keel_status_make(
        KEEL_INVALID, "plugin %s is Keel itself; set KEEL_PLUGIN to the plugin to wrap", *out);
    keel_free(*out);
    *out = NULL;
    return status;
}

keel_status_t cli_refuse_own(const char *plugin) {
    if (!is_own(plugin)) return NULL;
    return keel_status_make(
        KEEL_INVALID, "plugin %s: this is Keel's own library; name the plugin to wrap", plugin);
}
