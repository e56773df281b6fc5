// probe: the state of an installation. What is there (a plugin's file, the settings), whether it is
// alive, and what follows from both.
//
// The plugin is loaded and used in a child process, step by step; the child writes one JSON line
// when it begins a step and one when it is through, so that a crash, an abort or a hang is told of
// the step that it happened in. The child's lines, and what other probes wrote, are foreign bytes:
// lines that cannot be read are counted and left out.
//
// Ownership: a probe owns all its text (an arena) and its key. Threads: one thread at a time; the
// process should have no other thread while keel_probe_run runs, since it forks.
#ifndef KEEL_PROBE_PROBE_H_
#define KEEL_PROBE_PROBE_H_

#include "base/base.h"
#include "bundle/bundle.h"
#include "key/key.h"
#include "settings/settings.h"

// step, name, what it does
#define KEEL_PROBE_STEPS(X)                                                                        \
    X(LOAD, "load", "the library is opened and its table taken")                                   \
    X(CLIENT, "client", "the plugin makes a client")                                               \
    X(DEVICES, "devices", "its devices, their memory and what goes into keys are read")            \
    X(COMPILE, "compile", "a small program is compiled for the first device")                      \
    X(RUN, "run", "it runs there, and its numbers are checked")                                    \
    X(SERIALIZE, "serialize", "its executable is serialized")                                      \
    X(RELOAD, "reload", "these bytes are loaded again")                                            \
    X(AGAIN, "run again", "what was loaded runs, and its numbers are checked")                     \
    X(LAST, "last device", "compiled, run and checked on the last device")                         \
    X(OLDER, "older client", "it runs with the argument structs of an older client")               \
    X(SECOND, "second reload", "what was loaded is serialized, loaded once more and run")          \
    X(SIZES, "sizes", "each function is asked what size of arguments it wants")                    \
    X(TOPOLOGY, "topology", "devices that are not here are described")                             \
    X(ELSEWHERE, "compile only", "the small program is compiled for them")

typedef enum keel_probe_step {
#define KEEL_PROBE_STEP_ENUM(name, ...) KEEL_PROBE_##name,
    KEEL_PROBE_STEPS(KEEL_PROBE_STEP_ENUM)
#undef KEEL_PROBE_STEP_ENUM
        KEEL_PROBE_STEP_COUNT,
} keel_probe_step_t;
const char *keel_probe_step_name(keel_probe_step_t step);
const char *keel_probe_step_sentence(keel_probe_step_t step);
// KEEL_PROBE_STEP_COUNT where no step has that name.
keel_probe_step_t keel_probe_step_by_name(keel_str_t name);

// state, name
#define KEEL_PROBE_STATES(X)                                                                       \
    X(NOT_TRIED, "not tried")                                                                      \
    X(BEGUN, "begun")                                                                              \
    X(OK, "ok")                                                                                    \
    X(SKIPPED, "skipped") /* has nothing to do here; `message` says why */                         \
    X(FAILED, "failed")   /* with an error; `message` has it */                                    \
    X(KILLED, "killed")   /* the process ended in it; `message` says by what */                    \
    X(HUNG, "no answer")  /* within the time limit */

typedef enum keel_probe_state {
#define KEEL_PROBE_STATE_ENUM(name, text) KEEL_PROBE_##name,
    KEEL_PROBE_STATES(KEEL_PROBE_STATE_ENUM)
#undef KEEL_PROBE_STATE_ENUM
        KEEL_PROBE_STATE_COUNT,
} keel_probe_state_t;
const char *keel_probe_state_name(keel_probe_state_t state);
// True for FAILED, KILLED and HUNG.
bool keel_probe_went_wrong(keel_probe_state_t state);

typedef struct keel_probe_outcome_t {
    keel_probe_state_t state;
    uint64_t nanoseconds; // up to its end, or to when it was given up
    const char *code;     // of FAILED: PJRT's name ("UNIMPLEMENTED"), else Keel's word; or ""
    const char *message;  // one line, or ""
    const char *said;     // where it went wrong: the last line the plugin wrote to stderr; or ""
} keel_probe_outcome_t;

typedef struct keel_probe_device_t {
    const char *name; // physical: its kind and id, "TPU v6 lite:18"
    const char *kind;
    const char *text; // as the plugin writes it for people
    int64_t id, process, hardware;
    bool memory_known;
    const char *memory_refusal;  // why it is not, with the code's name
    int64_t in_use, peak, limit; // bytes; -1 where the backend does not tell
} keel_probe_device_t;

typedef struct keel_probe_extension_t {
    int64_t type;
    const char *name; // "Layouts"; "" where Keel does not know it
} keel_probe_extension_t;

// An argument struct of PJRT. Only those where somebody's size differs.
typedef struct keel_probe_struct_t {
    const char *name; // "PJRT_ExecuteOptions"
    uint64_t wanted;  // by the plugin
    uint64_t header;  // in the header that Keel is built with
} keel_probe_struct_t;

// Clients whose structs end earlier than those of Keel's header: client, its PJRT minor version,
// struct, size.
#define KEEL_PROBE_CLIENTS(X) X("torch_xla 2.9", 75, "PJRT_ExecuteOptions", 80)

// ---- what follows ------------------------------------------------------------------------------

// label, name, whose matter it is
#define KEEL_PROBE_LABELS(X)                                                                       \
    X(BACKEND_DEFECT, "backend defect", "the plugin does not do what PJRT asks, or fails")         \
    X(LAUNCH_POLICY, "launch policy", "how the process is started: settings, environment, files")  \
    X(VERSION_GATE, "version gate", "versions that do not go together, or need the bridge")        \
    X(MODEL_POLICY, "model policy", "a choice that changes what each model computes")

typedef enum keel_probe_label {
#define KEEL_PROBE_LABEL_ENUM(name, ...) KEEL_PROBE_##name,
    KEEL_PROBE_LABELS(KEEL_PROBE_LABEL_ENUM)
#undef KEEL_PROBE_LABEL_ENUM
        KEEL_PROBE_LABEL_COUNT,
} keel_probe_label_t;
const char *keel_probe_label_name(keel_probe_label_t label);

// In growing weight; a finding's weight is what it makes of the installation.
typedef enum keel_probe_verdict {
    KEEL_PROBE_ALIVE,
    KEEL_PROBE_LIMPING,
    KEEL_PROBE_DEAD,
} keel_probe_verdict_t;
const char *keel_probe_verdict_name(keel_probe_verdict_t verdict);

typedef struct keel_probe_finding_t {
    keel_probe_label_t label;
    keel_probe_verdict_t weight; // ALIVE: good to know
    const char *text, *next;     // what is so; the next step
} keel_probe_finding_t;

enum {
    KEEL_PROBE_DEVICES_SHOWN = 256,
    KEEL_PROBE_EXTENSIONS = 64,
    KEEL_PROBE_STRUCTS = 160,
    KEEL_PROBE_FINDINGS = 64,
};

typedef struct keel_probe_t {
    keel_arena_t arena;

    // installed
    const char *plugin; // path
    const char *wraps;  // of Keel's own library: the plugin behind it; else ""
    bool is_there;
    uint64_t size; // bytes
    bool build_known;
    keel_digest_t build;      // keel_key_plugin_build, of what is wrapped where anything is
    const char *wheel;        // "xla_cpu_pjrt 0.0.1"; "" where no wheel's record names the file
    bool recorded_size_known; //
    uint64_t recorded_size;   // what that record says
    bool api_known;
    int api_major, api_minor;
    const char *attributes; // one "name=value" a line
    keel_probe_extension_t extensions[KEEL_PROBE_EXTENSIONS];
    size_t extension_count;

    // alive
    bool fast;
    keel_probe_outcome_t steps[KEEL_PROBE_STEP_COUNT];
    const char *platform, *platform_version;               // "" before there is a client
    keel_probe_device_t devices[KEEL_PROBE_DEVICES_SHOWN]; // that this process can use
    size_t device_count;                                   // in `devices`
    uint64_t addressable_count, global_count;
    keel_key_t key; // the components that the backend gives
    bool key_known;
    keel_probe_struct_t structs[KEEL_PROBE_STRUCTS];
    size_t struct_count;
    bool is_tpu, has_tpu; // the plugin is a TPU's, by its name; the machine has one
    const char *topology; // that was compiled for without a device, "v6e:2x4"
    uint64_t broken_lines;
    bool out_of_memory; // here or in the child: what is told is not all

    keel_probe_finding_t findings[KEEL_PROBE_FINDINGS];
    size_t finding_count;
    keel_probe_verdict_t verdict;
} keel_probe_t;

void keel_probe_initialize(keel_probe_t *probe);
void keel_probe_deinitialize(keel_probe_t *probe);

typedef struct keel_probe_request_t {
    const char *plugin;  // path
    const char *wraps;   // the plugin behind it, where it is Keel's own library; NULL elsewhere
    const char *digests; // folder that remembers plugins' digests; NULL: none
    unsigned limit;      // seconds that a step may take
    bool fast;           // only load
    // Called about once a second while a step goes on; may be NULL.
    void (*waiting)(void *context, const char *step, double seconds);
    void *context;
    // As that of keel_bundle_request_t; may be NULL.
    void (*looking)(const char *path);
} keel_probe_request_t;

// NULL, or KEEL_NO_MEMORY where anything of it was lost. To be asked once, when all is done.
keel_status_t keel_probe_status(const keel_probe_t *probe) KEEL_MUST_CHECK;

// Looks at the file, then starts the child and fills `out`, which is initialized. What goes wrong
// with the plugin is told in its steps; the only failures are Keel's own (no memory, no process).
keel_status_t keel_probe_run(const keel_probe_request_t *request,
                             keel_probe_t *out) KEEL_MUST_CHECK;

// One line of the child. KEEL_NO_MEMORY, or NULL: a line that is broken is counted.
keel_status_t keel_probe_take_line(keel_probe_t *probe, keel_str_t line) KEEL_MUST_CHECK;

// Adds a finding; texts are copied, control bytes in them as "?". More than fit are dropped.
void keel_probe_add(keel_probe_t *probe, keel_probe_label_t label, keel_probe_verdict_t weight,
                    const char *next, const char *format, ...) KEEL_PRINTF(5, 6);
// The findings that follow from the steps.
void keel_probe_conclude(keel_probe_t *probe);
// Those that follow from settings and environment.
void keel_probe_set_up(keel_probe_t *probe, const keel_settings_t *settings);
// Those that follow from the versions of clients; looks into their files.
void keel_probe_judge_clients(keel_probe_t *probe, const keel_bundle_t *bundle);

#endif // KEEL_PROBE_PROBE_H_
