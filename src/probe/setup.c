// Findings that follow from the settings and the environment.
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "probe/probe.h"

// Adds a finding about a setting, "mode off ...".
#define ADD(probe, settings, which, weight, next, format, ...)                                     \
    keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, weight, next, "%s %s " format,                 \
                   keel_setting_facts(which)->key, keel_settings_text(settings, which),            \
                   __VA_ARGS__)

// ---- folders -----------------------------------------------------------------------------------

// An absolute path, or the nearest folder above it that exists.
static void nearest_folder(const char *folder, char out[PATH_MAX]) {
    snprintf(out, PATH_MAX, "%s", folder);
    while (access(out, F_OK) != 0) {
        char *slash = strrchr(out, '/');
        slash[slash == out] = 0;
    }
}

// NULL if a file can be made there (it is removed again).
static keel_status_t try_to_write(const char *folder) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/.probe.%ld", folder, (long)getpid()));
    keel_status_t status = keel_file_create(path, keel_bytes("", 0));
    if (!status) status = keel_file_remove(path);
    keel_free(path);
    return status;
}

// Others could put code there.
static void judge_owner(keel_probe_t *probe, const keel_settings_t *settings, keel_setting_t which,
                        const char *what_is_lost) {
    const char *folder = keel_settings_text(settings, which);
    if (settings->shared_cache || !keel_is_folder(folder)) return;
    keel_status_t why = keel_directory_check_owner(folder);
    if (keel_status_code(why) == KEEL_REFUSED)
        ADD(probe, settings, which, KEEL_PROBE_LIMPING,
            "make it yours alone, or set KEEL_SHARED_CACHE=on if you trust whoever can write there",
            "is not used, so %s: %s", what_is_lost, keel_status_message(why));
    keel_status_ignore(why);
}

static void judge_folder(keel_probe_t *probe, const keel_settings_t *settings, keel_setting_t which,
                         const char *what_is_lost) {
    enum { LITTLE = 64 << 20 };
    char there[PATH_MAX], next[512], size[16];
    struct statvfs disk;
    const char *folder = keel_settings_text(settings, which);
    snprintf(next, sizeof next, "make it a folder that you can write to, or choose another with %s",
             keel_setting_facts(which)->environment);
    if (*folder) nearest_folder(folder, there);
    keel_status_t status =
        *folder ? try_to_write(there) : keel_status_make(KEEL_NOT_FOUND, "there is no home folder");
    if (status && keel_status_code(status) != KEEL_NO_MEMORY)
        ADD(probe, settings, which, KEEL_PROBE_LIMPING, next, "is not writable, so %s: %s",
            what_is_lost, keel_status_message(status));
    if (!status) judge_owner(probe, settings, which, what_is_lost);
    if (!status && statvfs(there, &disk) == 0 && disk.f_blocks) {
        uint64_t left = (uint64_t)disk.f_bavail * disk.f_frsize;
        keel_format_size(left, size);
        if (left < LITTLE)
            ADD(probe, settings, which, KEEL_PROBE_LIMPING,
                "free some space there (`keel cache prune` helps if Keel uses it), or choose "
                "another folder",
                "is on a disk with %s left, so %s", size, what_is_lost);
    }
    keel_status_ignore(status);
}

// ---- mode --------------------------------------------------------------------------------------

static void judge_mode(keel_probe_t *probe, const keel_settings_t *settings) {
    static const char *const meanings[] = {
        [KEEL_MODE_OFF] = "nothing is looked up, kept or recorded",
        [KEEL_MODE_READONLY] = "programs are looked up, but not stored",
        [KEEL_MODE_REFRESH] = "each process compiles every program again"};
    if (settings->mode != KEEL_MODE_ON)
        ADD(probe, settings, KEEL_SETTING_MODE, KEEL_PROBE_ALIVE,
            "unset it to look programs up and store them", "means that %s",
            meanings[settings->mode]);
}

// ---- the environment ---------------------------------------------------------------------------

static bool names_keel(const char *variable) {
    const char *path = getenv(variable);
    return path && strstr(path, "libkeel_pjrt.so");
}

// `keel run` sets all of these for its child; by hand, it is easy to set only some.
static void judge_client(keel_probe_t *probe, const char *variable, const char *client) {
    const char *value = getenv(variable);
    if (!value || !*value || strncasecmp(value, "keel", 4) == 0 ||
        (strcmp(value, "LIBRARY") == 0 && names_keel("PJRT_LIBRARY_PATH")) ||
        (strncasecmp(value, "tpu", 3) == 0 && names_keel("TPU_LIBRARY_PATH")))
        return;
    keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_ALIVE,
                   "start it with `keel run -- CMD`, which sets this for its child, or unset it",
                   "%s=%.80s: %s started from here does not go through Keel", variable, value,
                   client);
}

// Variables that change the results of every model.
static void judge_models(keel_probe_t *probe) {
    static const char *const variables[][2] = {
        {"XLA_USE_BF16", "PyTorch/XLA computes in bfloat16 although the model says float32"},
        {"XLA_DOWNCAST_BF16", "PyTorch/XLA computes in bfloat16 although the model says float32"},
        {"XLA_USE_FP16", "PyTorch/XLA computes in float16 although the model says float32"},
        {"XLA_DOWNCAST_FP16", "PyTorch/XLA computes in float16 although the model says float32"},
        {"JAX_ENABLE_X64", "JAX uses 64-bit numbers instead of 32-bit ones"},
        {"JAX_DEFAULT_MATMUL_PRECISION", "JAX multiplies matrices in a different precision"},
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
        const char *value = getenv(variables[i][0]);
        if (value && *value && strcmp(value, "0") != 0)
            keel_probe_add(probe, KEEL_PROBE_MODEL_POLICY, KEEL_PROBE_ALIVE,
                           "set it in the model, where the next reader sees it, or unset it",
                           "%s=%.80s: %s", variables[i][0], value, variables[i][1]);
    }
}

void keel_probe_set_up(keel_probe_t *probe, const keel_settings_t *settings) {
    judge_folder(probe, settings, KEEL_SETTING_CACHE_DIR, "no program is kept");
    judge_folder(probe, settings, KEEL_SETTING_RUN_DIR, "no run is recorded");
    judge_mode(probe, settings);
    judge_client(probe, "PJRT_DEVICE", "PyTorch/XLA");
    judge_client(probe, "JAX_PLATFORMS", "JAX");
    judge_models(probe);
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i)
        keel_bundle_add(&probe->bundle, KEEL_BUNDLE_SETTINGS,
                        keel_str(keel_setting_facts((keel_setting_t)i)->key),
                        keel_str(settings->values[i].text));
}
