// target: a device that is not there, as its compiler knows it.
//
// A target is named: a GPU ("h200", "h200:8"), a TPU slice ("v6e:2x4"), the processor ("cpu:8"),
// each with a number of processes if it is not the usual one ("h200:8/2"); or it is a JSON file,
// which is written by keel_target_write or by hand, or is what `keel probe
// --json` printed on a machine that has the device (docs/targets.md). models.h has the built-in
// ones.
//
// A target says how a client would show the device, and what PJRT_TopologyDescription_Create needs
// to make the topology that a program is compiled for. The compiler is the plugin's: for the
// processor it needs a client, for the others only the topology.
//
// Ownership: a target owns everything that it points to. Threads: a target that nobody changes may
// be read from any thread.
#ifndef KEEL_TARGET_TARGET_H_
#define KEEL_TARGET_TARGET_H_

#include "pjrt/pjrt.h"

// platform, name: what a client calls it, and what chooses its lowering
#define KEEL_TARGET_PLATFORMS(X)                                                                   \
    X(CPU, "cpu")                                                                                  \
    X(CUDA, "cuda")                                                                                \
    X(TPU, "tpu")

typedef enum keel_target_platform_t {
#define KEEL_TARGET_PLATFORM_ENUM(platform, name) KEEL_TARGET_##platform,
    KEEL_TARGET_PLATFORMS(KEEL_TARGET_PLATFORM_ENUM)
#undef KEEL_TARGET_PLATFORM_ENUM
        KEEL_TARGET_PLATFORM_COUNT,
} keel_target_platform_t;
extern const char *const keel_target_platform_names[KEEL_TARGET_PLATFORM_COUNT];

typedef struct keel_target_values_t {
    PJRT_NamedValue *list;
    size_t count;
} keel_target_values_t;

typedef struct keel_target_variable_t {
    const char *name, *value;
} keel_target_variable_t;

typedef struct keel_target_t {
    const char *name; // as it was asked for: "h200:8"
    keel_target_platform_t platform;
    const char *device_kind;               // "NVIDIA H200"
    uint32_t device_count, process_count;  // of all processes
    uint64_t memory;                       // of a device, in bytes; 0: unknown
    uint64_t memory_limit;                 // what a client's memory statistics name; 0: unknown
    const char *topology_name;             // for PJRT_TopologyDescription_Create; may be ""
    keel_target_values_t topology_options; //
    keel_bytes_t topology;                 // serialized; then without name and options
    keel_target_values_t create_options;   // of a client
    keel_target_variable_t *environment;   // that the compiler needs in its process
    size_t variable_count;                 //
    const char *platform_version, *build;  // of the machine's plugin, and its digest; or ""
    keel_arena_t arena;                    // has all of that
} keel_target_t;

// `text` is a name or a path of a file. The message lists the targets if there is no such one.
// Keel frees the target with keel_target_deinitialize, also after a failure.
keel_status_t keel_target_read(const char *text, keel_target_t *out) KEEL_MUST_CHECK;
// The same for a process that uses the target. libtpu's variables TPU_PROCESS_BOUNDS and
// TPU_CHIPS_PER_PROCESS_BOUNDS divide a slice among the processes of a machine, or leave them a
// part of it: then that is what the target has, under the name that was given.
keel_status_t keel_target_read_here(const char *text, keel_target_t *out) KEEL_MUST_CHECK;
void keel_target_deinitialize(keel_target_t *target);

typedef struct keel_target_origin_t {
    const char *name;               // for the target
    const PJRT_NamedValue *options; // that the client was made with
    size_t option_count;            //
    const char *build;              // the digest of the plugin's file in hex; or ""
} keel_target_origin_t;

// The target that a client of a real device is. KEEL_UNSUPPORTED if nothing can be compiled ahead
// for it.
keel_status_t keel_target_of_client(const PJRT_Api *api, PJRT_Client *client,
                                    const keel_target_origin_t *origin,
                                    keel_target_t *out) KEEL_MUST_CHECK;

// The JSON of a target, which keel_target_parse reads: one line if compact, else for people.
keel_status_t keel_target_write(const keel_target_t *target, keel_json_style_t style,
                                keel_buffer_t *out) KEEL_MUST_CHECK;
// `from` names the JSON in messages.
keel_status_t keel_target_parse(const char *from, keel_bytes_t json,
                                keel_target_t *out) KEEL_MUST_CHECK;

// What the keys and executables of a target take as given although only its machine tells it: words
// such as "memory limit", and how many. None for the processor, and for a file that the machine's
// Keel wrote.
enum { KEEL_TARGET_ASSUMED_MOST = 4 };
size_t keel_target_assumed(const keel_target_t *target, const char *out[KEEL_TARGET_ASSUMED_MOST]);

// How built-in targets are named, for messages and help: "a100:N, ..., v6e:2x4, ..., cpu:N".
void keel_target_list(keel_buffer_t *out);

// ---- its compiler ------------------------------------------------------------------------------

// The path of the plugin that compiles for it, in a Python environment (as keel_plugin_find). The
// message of KEEL_NOT_FOUND says what to install.
keel_status_t keel_target_plugin(const keel_target_t *target, const char *interpreter,
                                 char **out) KEEL_MUST_CHECK;

// Sets the variables that the compiler needs, whatever they were. They are read when the plugin is
// loaded, so call this before. Changes the environment: no other thread may use that.
keel_status_t keel_target_set_environment(const keel_target_t *target) KEEL_MUST_CHECK;

// The topology of a target that is compiled for without a client (all but the processor). The
// message is the compiler's own if it refuses. The caller destroys it.
keel_status_t keel_target_topology(const keel_target_t *target, const PJRT_Api *api,
                                   PJRT_TopologyDescription **out) KEEL_MUST_CHECK;
// How much of a device's memory a client may use, if the topology says so, as libtpu's does; 0 if
// not.
uint64_t keel_target_memory_limit(const PJRT_Api *api, PJRT_TopologyDescription *topology);
void keel_target_destroy_topology(const PJRT_Api *api, PJRT_TopologyDescription *topology);

// A client of the processor with the target's devices, for targets of that platform.
keel_status_t keel_target_client(const keel_target_t *target, const PJRT_Api *api,
                                 PJRT_Client **out) KEEL_MUST_CHECK;

#endif // KEEL_TARGET_TARGET_H_
