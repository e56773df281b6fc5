// pjrt: the plugin that does the work: finding, loading and calling it, and turning its errors into
// statuses. This room makes no decisions.
//
// Source of every struct: pjrt_c_api.h from the embedded plugin's wheel. A plugin may be older (its
// table is shorter: ask keel_pjrt_has) or newer (its table is longer; the wrapper keeps what it
// does not know).
//
// Ownership: a plugin stays loaded until the process ends, because unloading XLA is not safe.
// Threads: after keel_plugin_load, calls may come from any thread.
#ifndef KEEL_PJRT_PJRT_H_
#define KEEL_PJRT_PJRT_H_

#include <pjrt_c_api.h>

#include "base/base.h"

typedef struct keel_plugin_t {
    char *path; // absolute, links resolved
    const PJRT_Api *api;
    bool client_has_programs; // optimized ones, of its executables: it asks nobody for them
} keel_plugin_t;

// True if the plugin's table is long enough to hold the function, and has it.
#define keel_pjrt_has(api, function)                                                               \
    ((api)->struct_size >= offsetof(PJRT_Api, function) + sizeof((api)->function) &&               \
     (api)->function != NULL)

// A call of the plugin's function, of which a message names the function. `args` is a variable,
// which begins with KEEL_PJRT_SIZE.
#define KEEL_PJRT_CALL(api, function, args)                                                        \
    keel_pjrt_status(api, (api)->function(&(args)), #function)
#define KEEL_PJRT_SIZE(function) .struct_size = function##_Args_STRUCT_SIZE

// The path of a plugin by name, "cpu", "cuda" or "tpu", in the current Python environment: that of
// `interpreter`, else of this process if it is a Python, else of $VIRTUAL_ENV, else of the python3
// on the path. A path (anything with a slash) is returned as an absolute path. The message of
// KEEL_NOT_FOUND says what was searched for, and where.
keel_status_t keel_plugin_find(const char *name, const char *interpreter,
                               char **out) KEEL_MUST_CHECK;
// The same for a plugin that only compiles: no setting names it.
keel_status_t keel_plugin_find_compiler(const char *platform, const char *interpreter,
                                        char **out) KEEL_MUST_CHECK;

// Whether it is, by its file's name, one of XLA's CPU plugins that keel_plugin_find knows.
bool keel_plugin_is_xla_cpu(const char *path);
// Whether what a journal names as the plugin is JAX's own client (src/own), which no other process
// can load as a plugin.
bool keel_plugin_is_jaxs_own(const char *path);
// The create option of these plugins for how many devices a client has, and whether the plugin is
// known to take it.
#define KEEL_CPU_DEVICES_OPTION "cpu_device_count"
PJRT_NamedValue keel_pjrt_cpu_devices(int64_t count);
bool keel_pjrt_takes_cpu_devices(const PJRT_Api *api);

// The interpreter of that environment, under the name it was given: a virtual environment's
// interpreter is a link, and its location identifies the environment. *out is NULL if there is
// none; the caller frees it. Reads the environment.
keel_status_t keel_python_find(const char *interpreter, char **out) KEEL_MUST_CHECK;

// Opens the library and takes its table. KEEL_INVALID if it is not a PJRT plugin, or has another
// major version.
keel_status_t keel_plugin_load(const char *path, keel_plugin_t *out) KEEL_MUST_CHECK;

// Turns an error of the plugin, or of Keel (error.h), into a status and destroys it; NULL is OK.
// The code is KEEL_REFUSED if Keel refused a program, else KEEL_PLUGIN.
keel_status_t keel_pjrt_status(const PJRT_Api *api, PJRT_Error *error,
                               const char *what) KEEL_MUST_CHECK;

// Waits for an event and destroys it; NULL is one that has happened.
keel_status_t keel_pjrt_await(const PJRT_Api *api, PJRT_Event *event) KEEL_MUST_CHECK;
void keel_pjrt_destroy_buffer(const PJRT_Api *api, PJRT_Buffer *buffer); // NULL is allowed

// ---- executables -------------------------------------------------------------------------------

// The executable of a loaded one; the caller destroys it.
keel_status_t keel_pjrt_executable(const PJRT_Api *api, PJRT_LoadedExecutable *loaded,
                                   PJRT_Executable **out) KEEL_MUST_CHECK;
// The serialized form, copied; the caller frees it with keel_free.
keel_status_t keel_pjrt_serialize(const PJRT_Api *api, const PJRT_Executable *executable,
                                  uint8_t **out, size_t *out_size) KEEL_MUST_CHECK;
// `options`: a CompileOptionsProto instead of the one that it was compiled with; empty for that
// one.
keel_status_t keel_pjrt_load(const PJRT_Api *api, PJRT_Client *client, keel_bytes_t serialized,
                             keel_bytes_t options, PJRT_LoadedExecutable **out) KEEL_MUST_CHECK;
// The optimized program, appended to `out`, and the name of its format, which the plugin owns.
keel_status_t keel_pjrt_optimized_program(const PJRT_Api *api, PJRT_Executable *executable,
                                          keel_buffer_t *out,
                                          keel_str_t *out_format) KEEL_MUST_CHECK;
// The HloModuleProto in a program of that format ("hlo", "hlo_with_config"), borrowed from it.
keel_status_t keel_pjrt_hlo_module(keel_bytes_t program, keel_str_t format,
                                   keel_bytes_t *out) KEEL_MUST_CHECK;
void keel_pjrt_destroy_executable(const PJRT_Api *api, PJRT_Executable *executable);
void keel_pjrt_destroy_loaded(const PJRT_Api *api, PJRT_LoadedExecutable *loaded);

// ---- what a plugin and its client are ----------------------------------------------------------

// What the plugin says about itself, appended: one "name=value" per line, sorted by name. Needs no
// client.
keel_status_t keel_plugin_attributes(const PJRT_Api *api, keel_buffer_t *out) KEEL_MUST_CHECK;

// What identifies a backend, as text: one "name=value" per line, in a fixed order, numbers in
// decimal, bytes in hex.
typedef struct keel_backend_t {
    char *platform_name;          // "cpu"
    char *platform_version;       //
    keel_buffer_t platform;       // name, version, plugin attributes
    keel_buffer_t topology;       // serialized bytes; or "unknown: why"
    bool topology_known;          //
    keel_buffer_t device_kinds;   // kinds with counts, processes
    keel_buffer_t create_options; // sorted
    uint32_t process_count;       // processes that the client's devices belong to
    uint64_t device_count;        // of all processes
} keel_backend_t;

keel_status_t keel_backend_read(const PJRT_Api *api, PJRT_Client *client,
                                const PJRT_NamedValue *options, size_t option_count,
                                keel_backend_t *out) KEEL_MUST_CHECK;
// The same for the devices of a topology, as a client of them would say it.
keel_status_t keel_backend_read_topology(const PJRT_Api *api, PJRT_TopologyDescription *topology,
                                         keel_backend_t *out) KEEL_MUST_CHECK;
void keel_backend_deinitialize(keel_backend_t *backend);

#endif // KEEL_PJRT_PJRT_H_
