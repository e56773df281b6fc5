#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "pjrt/pjrt.h"

// Loading runs the library's constructors, so a file that is clearly not a library is refused
// first, with a better message than the loader's.
static keel_status_t check_file(const char *path) {
    keel_file_facts_t facts;
    KEEL_TRY(keel_file_facts(path, &facts));
    if (!facts.is_file)
        return keel_status_make(KEEL_INVALID,
                                "plugin %s is not a file; set KEEL_PLUGIN to a PJRT plugin", path);
    uint8_t head[4];
    size_t size;
    KEEL_TRY(keel_file_read_head(path, head, sizeof head, &size, &facts));
    if (size < 4 || memcmp(head, "\177ELF", 4) != 0)
        return keel_status_make(
            KEEL_INVALID, "plugin %s is not a shared library; set KEEL_PLUGIN to a PJRT plugin",
            path);
    return NULL;
}

// The functions that Keel calls without a check, or replaces.
static const char *first_lacking(const PJRT_Api *api) {
#define NEEDED(X)                                                                                  \
    X(PJRT_Error_Destroy)                                                                          \
    X(PJRT_Error_Message)                                                                          \
    X(PJRT_Error_GetCode)                                                                          \
    X(PJRT_Client_Create)                                                                          \
    X(PJRT_Client_Destroy)                                                                         \
    X(PJRT_Client_PlatformName)                                                                    \
    X(PJRT_Client_PlatformVersion)                                                                 \
    X(PJRT_Client_Devices)                                                                         \
    X(PJRT_Client_Compile)                                                                         \
    X(PJRT_DeviceDescription_ProcessIndex)                                                         \
    X(PJRT_DeviceDescription_Kind)                                                                 \
    X(PJRT_Device_GetDescription)                                                                  \
    X(PJRT_Executable_Destroy)                                                                     \
    X(PJRT_Executable_Serialize)                                                                   \
    X(PJRT_LoadedExecutable_Destroy)                                                               \
    X(PJRT_LoadedExecutable_GetExecutable)                                                         \
    X(PJRT_LoadedExecutable_Execute)                                                               \
    X(PJRT_Executable_DeserializeAndLoad)
#define LOOK(function)                                                                             \
    if (!keel_pjrt_has(api, function)) return #function;
    NEEDED(LOOK)
#undef LOOK
#undef NEEDED
    return NULL;
}

static keel_status_t take_table(void *library, keel_plugin_t *out) {
    const PJRT_Api *(*get)(void);
    *(void **)&get = dlsym(library, "GetPjrtApi");
    if (!get)
        return keel_status_make(
            KEEL_INVALID,
            "plugin %s is not a PJRT plugin: it has no GetPjrtApi; set KEEL_PLUGIN to one",
            out->path);
    // Otherwise a wrapper that is set to wrap itself would recurse endlessly.
    Dl_info other, self;
    if (dladdr(*(void **)&get, &other) && dladdr((void *)(uintptr_t)keel_plugin_load, &self) &&
        other.dli_fbase == self.dli_fbase)
        return keel_status_make(KEEL_INVALID,
                                "plugin %s is Keel itself; set KEEL_PLUGIN to the plugin to wrap",
                                out->path);
    const PJRT_Api *api = get();
    if (!api) return keel_status_make(KEEL_PLUGIN, "plugin %s returned no table", out->path);
    if (api->pjrt_api_version.major_version != PJRT_API_MAJOR)
        return keel_status_make(
            KEEL_UNSUPPORTED,
            "plugin %s speaks PJRT %d.%d; this Keel supports major version %d, so "
            "use a plugin of that version",
            out->path, api->pjrt_api_version.major_version, api->pjrt_api_version.minor_version,
            PJRT_API_MAJOR);
    const char *lacking = first_lacking(api);
    if (lacking)
        return keel_status_make(KEEL_UNSUPPORTED,
                                "plugin %s (PJRT %d.%d) has no %s, which Keel needs; use a newer "
                                "plugin, or this one without Keel",
                                out->path, api->pjrt_api_version.major_version,
                                api->pjrt_api_version.minor_version, lacking);
    out->api = api;
    return NULL;
}

keel_status_t keel_plugin_load(const char *path, keel_plugin_t *out) {
    *out = (keel_plugin_t){0};
    char resolved[PATH_MAX];
    if (!realpath(path, resolved))
        return keel_status_make(KEEL_NOT_FOUND,
                                "plugin %s does not exist; set KEEL_PLUGIN to a PJRT plugin", path);
    KEEL_TRY(check_file(resolved));
    void *library = dlopen(resolved, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        return keel_status_make(KEEL_INVALID, "plugin %s cannot be loaded: %s", resolved,
                                why ? why : "no reason given");
    }
    KEEL_TRY(keel_path(&out->path, "%s", resolved));
    keel_status_t status = take_table(library, out);
    if (status) {
        keel_free(out->path);
        *out = (keel_plugin_t){0};
    }
    return status;
}

// ---- devices of the processor ------------------------------------------------------------------

PJRT_NamedValue keel_pjrt_cpu_devices(int64_t count) {
    return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                             .name = KEEL_CPU_DEVICES_OPTION,
                             .name_size = sizeof KEEL_CPU_DEVICES_OPTION - 1,
                             .type = PJRT_NamedValue_kInt64,
                             .int64_value = count,
                             .value_size = 1};
}

bool keel_pjrt_takes_cpu_devices(const PJRT_Api *api) {
    enum { FIRST_SEEN = 81 }; // the oldest PJRT whose plugins are known to take it
    return api->pjrt_api_version.minor_version >= FIRST_SEEN;
}
