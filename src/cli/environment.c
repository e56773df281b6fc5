#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"

// The name under which JAX knows the library.
#define PLATFORM "keel"

keel_status_t cli_find_library(char **out) {
    char own[PATH_MAX], resolved[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0)
        return keel_status_make(KEEL_INTERNAL, "/proc/self/exe: cannot be read; is /proc mounted?");
    own[length] = 0;
    char *slash = strrchr(own, '/');
    if (slash) *slash = 0;
    char *beside;
    KEEL_TRY(keel_path(&beside, "%s/%s/libkeel_pjrt.so", own, KEEL_LIBRARY_FOLDER));
    bool found = keel_is_file(beside) && realpath(beside, resolved);
    keel_status_t status = NULL;
    if (!found)
        status = keel_status_make(
            KEEL_NOT_FOUND, "%s: Keel's library is missing; build or install all of Keel", beside);
    else if (strpbrk(resolved, ":,"))
        status = keel_status_make(
            KEEL_INVALID, "%s: JAX accepts no path with a colon or a comma; move Keel elsewhere",
            resolved);
    else
        status = keel_strdup(keel_str(resolved), out);
    keel_free(beside);
    return status;
}

static keel_status_t put(const char *name, const char *value) {
    if (setenv(name, value, 1) == 0) return NULL;
    return keel_status_make(KEEL_NO_MEMORY, "out of memory: setting %s", name);
}

// What the user registered stays, except an earlier Keel.
static keel_status_t register_library(const char *library) {
    keel_buffer_t list;
    keel_buffer_initialize(&list, 1 << 20);
    const char *given = getenv("PJRT_NAMES_AND_LIBRARY_PATHS");
    for (const char *part = given ? given : ""; *part;) {
        size_t length = strcspn(part, ",");
        bool own = strncmp(part, PLATFORM ":", sizeof PLATFORM) == 0;
        if (length && !own) keel_buffer_format(&list, "%.*s,", (int)length, part);
        part += length + (part[length] == ',');
    }
    keel_buffer_format(&list, PLATFORM ":%s", library);
    keel_status_t status = keel_buffer_status(&list);
    if (!status) status = put("PJRT_NAMES_AND_LIBRARY_PATHS", keel_buffer_cstr(&list));
    keel_buffer_deinitialize(&list);
    return status;
}

// If no plugin is named: the one that was found instead. For the package, which puts Keel in front
// of the plugin that the client would use by itself (python/keel/doors.py).
#define FOUND "KEEL_FOUND_PLUGIN"

// Under another `keel run` that was given no plugin: KEEL_PLUGIN is what that one found.
static bool is_below_another(const keel_settings_t *settings) {
    const char *found = getenv(FOUND), *named = getenv("KEEL_PLUGIN");
    return settings->values[KEEL_SETTING_PLUGIN].origin == KEEL_ORIGIN_ENVIRONMENT && found &&
           named && strcmp(found, named) == 0;
}

static bool names_plugin(const keel_settings_t *settings) {
    return settings->values[KEEL_SETTING_PLUGIN].origin != KEEL_ORIGIN_DEFAULT &&
           !is_below_another(settings);
}

static keel_status_t keep_requests(const keel_settings_t *settings, const char *plugin) {
    if (is_below_another(settings)) return NULL;
    unsetenv(FOUND);
    return names_plugin(settings) ? NULL : put(FOUND, plugin);
}

static bool is_tpu(const char *plugin) {
    const char *name = strrchr(plugin, '/');
    return strncmp(name ? name + 1 : plugin, "libtpu", 6) == 0;
}

// JAX's own CPU client stays available after Keel's, since many scripts ask for jax.devices("cpu").
// Other platforms are removed: a second client would take the device away from the first.
static keel_status_t set_up_jax(const char *plugin, const char *library) {
    if (is_tpu(plugin)) {
        // JAX prepares the machine for a TPU only under the TPU's own name.
        KEEL_TRY(put("TPU_LIBRARY_PATH", library));
        return put("JAX_PLATFORMS", "tpu,cpu");
    }
    KEEL_TRY(register_library(library));
    return put("JAX_PLATFORMS", PLATFORM ",cpu");
}

// Lines of operations, as `--lines` asks for them. Both make tracing slower.
static keel_status_t set_up_lines(void) {
    KEEL_TRY(put("XLA_IR_DEBUG", "1"));
    return put("XLA_HLO_DEBUG", "1");
}

// Behind the flags of the environment, since the last one counts.
static keel_status_t set_up_profile(const keel_settings_t *settings) {
    const char *flags = keel_settings_profile_flags(settings), *given = getenv("XLA_FLAGS");
    keel_buffer_t text;
    // Under another `keel run` they are there.
    if (!*flags || (given && keel_str_ends(keel_str(given), keel_str(flags)))) return NULL;
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, given ? given : "");
    keel_buffer_text(&text, given && *given ? " " : "");
    keel_buffer_text(&text, flags);
    keel_status_t status = keel_buffer_status(&text);
    if (!status) status = put("XLA_FLAGS", keel_buffer_cstr(&text));
    if (!status)
        status = put(keel_setting_facts(KEEL_SETTING_PROFILE)->environment,
                     keel_settings_text(settings, KEEL_SETTING_PROFILE));
    keel_buffer_deinitialize(&text);
    return status;
}

// PyTorch/XLA takes a plugin by path; for a TPU it makes the client itself, and TPU_LIBRARY_PATH is
// set already.
static keel_status_t set_up_torch(const char *plugin, const char *library) {
    if (is_tpu(plugin)) return put("PJRT_DEVICE", "TPU");
    KEEL_TRY(put("PJRT_DEVICE", "LIBRARY"));
    return put("PJRT_LIBRARY_PATH", library);
}

keel_status_t cli_set_environment(const keel_settings_t *settings, const char *plugin,
                                  const char *library, const char *run_id, bool lines) {
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i) {
        const keel_setting_value_t *value = &settings->values[i];
        // The child finds the config file and the defaults by itself, but its Python reads no file.
        bool is_of_python = i == KEEL_SETTING_JAX_CPU || i == KEEL_SETTING_CPU_DEVICES ||
                            i == KEEL_SETTING_PYTHON_GC || i == KEEL_SETTING_MODE;
        if (value->origin == KEEL_ORIGIN_FLAG || value->origin == KEEL_ORIGIN_ENVIRONMENT ||
            (value->origin == KEEL_ORIGIN_FILE && is_of_python))
            KEEL_TRY(put(keel_setting_facts((keel_setting_t)i)->environment, value->text));
    }
    if (settings->config_file) KEEL_TRY(put("KEEL_CONFIG", settings->config_file));
    KEEL_TRY(keep_requests(settings, plugin));
    KEEL_TRY(put("KEEL_PLUGIN", plugin));
    KEEL_TRY(put("KEEL_RUN_DIR", keel_settings_text(settings, KEEL_SETTING_RUN_DIR)));
    KEEL_TRY(put("KEEL_RUN_ID", run_id));
    if (lines) KEEL_TRY(set_up_lines());
    KEEL_TRY(set_up_profile(settings));
    // If no plugin is named, the package chooses, and a client without it runs without Keel.
    if (!names_plugin(settings)) return NULL;
    KEEL_TRY(set_up_torch(plugin, library));
    return set_up_jax(plugin, library);
}

keel_status_t cli_set_rehearsal(const cli_rehearsal_t *rehearsal, const char *plugin,
                                const char *library) {
    KEEL_TRY(put("KEEL_REHEARSE", rehearsal->on));
    KEEL_TRY(put("KEEL_REHEARSE_COMPILE", rehearsal->compiles ? rehearsal->compiles : ""));
    KEEL_TRY(put("KEEL_REHEARSE_VALUES", rehearsal->fill ? rehearsal->fill : ""));
    char devices[16];
    snprintf(devices, sizeof devices, "%u", rehearsal->target.device_count);
    if (rehearsal->target.platform == KEEL_TARGET_CPU)
        KEEL_TRY(put(keel_setting_facts(KEEL_SETTING_CPU_DEVICES)->environment, devices));
    KEEL_TRY(put("KEEL_REHEARSE_PLATFORM", keel_target_platform_names[rehearsal->target.platform]));
    snprintf(devices, sizeof devices, "%u",
             rehearsal->target.device_count / rehearsal->target.process_count);
    KEEL_TRY(put("KEEL_REHEARSE_DEVICES", devices));
    for (size_t i = 0; i < rehearsal->target.variable_count; ++i)
        KEEL_TRY(
            put(rehearsal->target.environment[i].name, rehearsal->target.environment[i].value));
    // Without a TPU on the machine, JAX does not set itself up for one, and has other flags.
    if (rehearsal->target.platform == KEEL_TARGET_TPU) KEEL_TRY(put("JAX_FORCE_TPU_INIT", "1"));
    KEEL_TRY(set_up_torch(plugin, library));
    if (rehearsal->target.platform != KEEL_TARGET_CUDA) return set_up_jax(plugin, library);
    // JAX's lowering for CUDA works only under that name, and its own package registers it: the
    // package `keel` puts Keel in front (python/keel/doors.py).
    KEEL_TRY(put(FOUND, plugin));
    KEEL_TRY(put("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1"));
    return put("JAX_PLATFORMS", "cuda,cpu");
}

// In front, so that no other sitecustomize comes first: site/sitecustomize.py runs that one too.
static keel_status_t set_python_path(const char *package) {
    const char *given = getenv("PYTHONPATH");
    char *own, *list = NULL;
    KEEL_TRY(keel_path(&own, "%s/site", package));
    size_t length = strlen(own);
    bool there =
        given && strncmp(given, own, length) == 0 && (!given[length] || given[length] == ':');
    keel_status_t status = NULL;
    if (!there && given && *given) status = keel_path(&list, "%s:%s", own, given);
    if (!status && !there) status = put("PYTHONPATH", list ? list : own);
    keel_free(list);
    keel_free(own);
    return status;
}

keel_status_t cli_set_python(const char *package, const char *library, const char *fixes) {
    KEEL_TRY(put("KEEL_LIBRARY", library));
    if (fixes) KEEL_TRY(put("KEEL_FIX", fixes));
    return set_python_path(package);
}
