// Findings that follow from the settings and the environment.
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "probe/internal.h"

// Adds a finding about a setting, "mode off (KEEL_MODE) ...".
#define ADD(probe, settings, which, weight, next, format, ...)                                     \
    keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, weight, next, "%s %s (%s) " format,            \
                   keel_setting_facts(which)->key, keel_settings_text(settings, which),            \
                   origin_of(settings, which), __VA_ARGS__)

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

static void judge_disk(keel_probe_t *probe, const keel_settings_t *settings, keel_setting_t which,
                       const char *what_is_lost, const struct statfs *disk) {
    enum { LITTLE = 64 << 20 };
    uint64_t left = (uint64_t)disk->f_bavail * (uint64_t)disk->f_bsize;
    const char *network = network_of((unsigned long)disk->f_type);
    char size[16];
    keel_format_size(left, size);
    if (disk->f_blocks && left < LITTLE)
        ADD(probe, settings, which, KEEL_PROBE_LIMPING,
            "free some space there (`keel cache prune` helps if Keel uses it), or choose another "
            "folder",
            "is on a disk with %s left, so %s", size, what_is_lost);
    if (network && which == KEEL_SETTING_CACHE_DIR)
        ADD(probe, settings, which, KEEL_PROBE_ALIVE,
            "if its machines are alike, they share compiles; if they are not, or loads are slow, "
            "choose a local disk with KEEL_CACHE_DIR",
            "is on a network disk (%s)", network);
}

static void judge_folder(keel_probe_t *probe, const keel_settings_t *settings, keel_setting_t which,
                         const char *what_is_lost) {
    char there[PATH_MAX], next[512];
    struct statfs disk;
    const char *folder = keel_settings_text(settings, which);
    snprintf(next, sizeof next, "make it a folder that you can write to, or choose another with %s",
             keel_setting_facts(which)->environment);
    nearest_folder(folder, there);
    keel_status_t status =
        *folder ? try_to_write(there) : keel_status_make(KEEL_NOT_FOUND, "there is no home folder");
    if (!status && statfs(there, &disk) == 0)
        judge_disk(probe, settings, which, what_is_lost, &disk);
    else if (status && keel_status_code(status) != KEEL_NO_MEMORY)
        ADD(probe, settings, which, KEEL_PROBE_LIMPING, next, "is not writable, so %s: %s",
            what_is_lost, keel_status_message(status));
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
    for (int i = 0; i < KEEL_SETTING_COUNT; ++i)
        probe_note(probe, KEEL_BUNDLE_SETTINGS, keel_setting_facts((keel_setting_t)i)->key,
                   settings->values[i].text);
}
