// Findings that follow from the settings and the environment.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "probe/internal.h"

// Where a setting's value came from: "KEEL_CACHE_DIR", "/home/u/.config/keel/config:3", "default".
static const char *origin_of(const keel_settings_t *settings, keel_setting_t which) {
    const keel_setting_value_t *value = &settings->values[which];
    return *value->where ? value->where : keel_origin_name(value->origin);
}

// ---- folders -----------------------------------------------------------------------------------

// From statfs(2): file systems whose files are on another machine.
static const char *network_of(unsigned long type) {
    static const struct {
        unsigned long type;
        const char *name;
    } systems[] = {
        {0x6969, "NFS"},        {0xff534d42, "CIFS"}, {0xfe534d42, "SMB2"},   {0x517b, "SMB"},
        {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"}, {0x01021997, "9p"},     {0x00c36400, "Ceph"},
        {0x65735546, "FUSE"},   {0x5346414f, "AFS"},  {0x19830326, "BeeGFS"},
    };
    for (size_t i = 0; i < sizeof systems / sizeof *systems; ++i)
        if (systems[i].type == type) return systems[i].name;
    return NULL;
}

// The folder, or the nearest existing one above it.
static void nearest_folder(const char *folder, char out[PATH_MAX]) {
    snprintf(out, PATH_MAX, "%s", folder);
    while (access(out, F_OK) != 0) {
        char *slash = strrchr(out, '/');
        if (!slash || slash == out) {
            snprintf(out, PATH_MAX, "/");
            return;
        }
        *slash = 0;
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

static void judge_folder(keel_probe_t *probe, const keel_settings_t *settings, keel_setting_t which,
                         const char *what_is_lost) {
    enum { LITTLE = 64 << 20 };
    char there[PATH_MAX], next[512];
    const char *folder = keel_settings_text(settings, which);
    const keel_setting_facts_t *facts = keel_setting_facts(which);
    snprintf(next, sizeof next, "make it a folder that you can write to, or choose another with %s",
             facts->environment);
    if (!*folder) {
        keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_LIMPING, next,
                       "%s: there is no home folder to put it in, so %s", facts->key, what_is_lost);
        return;
    }
    nearest_folder(folder, there);
    keel_status_t status = try_to_write(there);
    if (keel_status_code(status) != KEEL_NO_MEMORY && status)
        keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_LIMPING, next,
                       "%s %s (%s) is not writable, so %s: %s", facts->key, folder,
                       origin_of(settings, which), what_is_lost, keel_status_message(status));
    bool writable = !status;
    keel_status_ignore(status);
    struct statfs disk;
    if (!writable || statfs(there, &disk) || !disk.f_blocks) return; // or no size
    uint64_t left = (uint64_t)disk.f_bavail * (uint64_t)disk.f_bsize;
    if (left < LITTLE) {
        char size[16];
        keel_format_size(left, size);
        snprintf(next, sizeof next,
                 "free some space there (`keel cache prune` helps if Keel uses it), "
                 "or choose another with %s",
                 facts->environment);
        keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_LIMPING, next,
                       "%s %s (%s) is on a disk with %s left, so %s", facts->key, folder,
                       origin_of(settings, which), size, what_is_lost);
    }
    const char *network = network_of((unsigned long)disk.f_type);
    if (network && which == KEEL_SETTING_CACHE_DIR)
        keel_probe_add(
            probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_ALIVE,
            "if its machines are alike, they share compiles; if they are not, or loads are "
            "slow, choose a local disk with KEEL_CACHE_DIR",
            "%s %s (%s) is on a network disk (%s)", facts->key, folder, origin_of(settings, which),
            network);
}

// ---- mode --------------------------------------------------------------------------------------

static void judge_mode(keel_probe_t *probe, const keel_settings_t *settings) {
    static const struct {
        keel_mode_t mode;
        const char *text, *next;
    } modes[] = {
        {KEEL_MODE_OFF, "nothing is looked up, kept or recorded", "unset it to cache programs"},
        {KEEL_MODE_READONLY, "programs are looked up, but not stored",
         "unset it if this process should store what it compiles"},
        {KEEL_MODE_REFRESH, "each process compiles every program again",
         "unset it once the cache is fresh"},
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i)
        if (modes[i].mode == settings->mode)
            keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_ALIVE, modes[i].next,
                           "mode is %s (%s): %s", keel_mode_name(settings->mode),
                           origin_of(settings, KEEL_SETTING_MODE), modes[i].text);
}

// ---- the environment ---------------------------------------------------------------------------

static const char *set_to(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool names_keel(const char *path) {
    return path && strstr(path, "libkeel_pjrt.so");
}

// `keel run` sets all of these for its child; by hand, it is easy to set only some.
static void judge_clients(keel_probe_t *probe) {
    static const char next[] =
        "start it with `keel run -- CMD`, which sets this for its child, or unset it";
    const char *device = set_to("PJRT_DEVICE"), *platforms = set_to("JAX_PLATFORMS");
    bool torch_by_path = names_keel(set_to("PJRT_LIBRARY_PATH"));
    bool tpu_by_path = names_keel(set_to("TPU_LIBRARY_PATH"));
    if (device && strcmp(device, "KEEL") != 0 &&
        !(strcmp(device, "LIBRARY") == 0 && torch_by_path) &&
        !(strcmp(device, "TPU") == 0 && tpu_by_path))
        keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_ALIVE, next,
                       "PJRT_DEVICE=%.80s: PyTorch/XLA started from here does not go through "
                       "Keel",
                       device);
    if (platforms && strncmp(platforms, "keel", 4) != 0 &&
        !(strncmp(platforms, "tpu", 3) == 0 && tpu_by_path))
        keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_ALIVE, next,
                       "JAX_PLATFORMS=%.80s: JAX started from here does not go through Keel",
                       platforms);
}

// Variables that change the results of every model.
static void judge_models(keel_probe_t *probe) {
    static const char *const variables[][2] = {
        {"XLA_USE_BF16", "PyTorch/XLA computes in bfloat16 although the model says float32"},
        {"XLA_DOWNCAST_BF16", "PyTorch/XLA computes in bfloat16 although the model says float32"},
        {"XLA_USE_FP16", "PyTorch/XLA computes in float16 although the model says float32"},
        {"XLA_DOWNCAST_FP16", "PyTorch/XLA computes in float16 although the model says float32"},
        {"JAX_ENABLE_X64", "JAX uses 64-bit numbers instead of 32-bit ones"},
        {"JAX_DEFAULT_MATMUL_PRECISION", "JAX multiplies matrices in another precision"},
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
        const char *value = set_to(variables[i][0]);
        if (value && strcmp(value, "0") != 0)
            keel_probe_add(probe, KEEL_PROBE_MODEL_POLICY, KEEL_PROBE_ALIVE,
                           "set it in the model, where the next reader sees it, or unset it",
                           "%s=%.80s: %s", variables[i][0], value, variables[i][1]);
    }
}

void keel_probe_set_up(keel_probe_t *probe, const keel_settings_t *settings) {
    judge_folder(probe, settings, KEEL_SETTING_CACHE_DIR, "no program is kept");
    judge_folder(probe, settings, KEEL_SETTING_RUN_DIR, "no run is recorded");
    judge_mode(probe, settings);
    judge_clients(probe);
    judge_models(probe);
}
