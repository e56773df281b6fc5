// probe: the state of an installation: what is installed (a plugin's file, the settings), whether
// it works, and what follows.
//
// What a probe finds out is a bundle: facts, which are printed and compared as all bundles are.
// The plugin is loaded and used in a child process, step by step. The child sends one message in
// JSON when it begins a step and one when it finishes, so a crash, an abort or a hang is attributed
// to its step. The messages are foreign bytes: unreadable ones are counted and skipped.
//
// Ownership: a probe owns all its text. Threads: one thread at a time.
// keel_probe_use forks, so the process should have no other thread then.
#ifndef KEEL_PROBE_PROBE_H_
#define KEEL_PROBE_PROBE_H_

#include "bundle/compare.h"
#include "settings/settings.h"

// step, name, what it does
#define KEEL_PROBE_STEPS(X)                                                                        \
    X(LOAD, "load", "the library is opened and its table taken")                                   \
    X(CLIENT, "client", "the plugin makes a client")                                               \
    X(DEVICES, "devices", "its devices, their memory and the parts of keys are read")              \
    X(COMPILE, "compile", "a small program is compiled for the first device")                      \
    X(RUN, "run", "it runs there, and its numbers are checked")                                    \
    X(SERIALIZE, "serialize", "its executable is serialized")                                      \
    X(RELOAD, "reload", "these bytes are loaded again")                                            \
    X(AGAIN, "run again", "the reloaded executable runs, and its numbers are checked")             \
    X(LAST, "last device", "compiled, run and checked on the last device")                         \
    X(OLDER, "older client", "it runs with the argument structs of an older client")               \
    X(TOPOLOGY, "topology", "devices that are not present are described")                          \
    X(ELSEWHERE, "compile only", "the small program is compiled for them")

typedef enum keel_probe_step {
#define KEEL_PROBE_STEP_ENUM(name, ...) KEEL_PROBE_##name,
    KEEL_PROBE_STEPS(KEEL_PROBE_STEP_ENUM)
#undef KEEL_PROBE_STEP_ENUM
        KEEL_PROBE_STEP_COUNT,
} keel_probe_step_t;
const char *keel_probe_step_name(keel_probe_step_t step);
const char *keel_probe_step_sentence(keel_probe_step_t step);

// state, name, word in a text
#define KEEL_PROBE_STATES(X)                                                                       \
    X(NOT_TRIED, "not tried", "")                                                                  \
    X(BEGUN, "begun", "")                                                                          \
    X(OK, "ok", "ok")                                                                              \
    X(SKIPPED, "skipped", "skipped") /* has nothing to do here; `message` says why */              \
    X(FAILED, "failed", "FAILED")    /* with an error; `message` has it */                         \
    X(KILLED, "killed", "DIED")      /* the process ended in it; `message` says by what */         \
    X(HUNG, "no answer", "HUNG")     /* within the time limit */

typedef enum keel_probe_state {
#define KEEL_PROBE_STATE_ENUM(name, ...) KEEL_PROBE_##name,
    KEEL_PROBE_STATES(KEEL_PROBE_STATE_ENUM)
#undef KEEL_PROBE_STATE_ENUM
        KEEL_PROBE_STATE_COUNT,
} keel_probe_state_t;
const char *keel_probe_state_name(keel_probe_state_t state);
const char *keel_probe_state_word(keel_probe_state_t state);
// True for FAILED, KILLED and HUNG.
bool keel_probe_went_wrong(keel_probe_state_t state);

typedef struct keel_probe_outcome_t {
    keel_probe_state_t state;
    uint64_t nanoseconds; // until its end, or until the parent gave up
    const char *code;     // of FAILED: PJRT's name ("UNIMPLEMENTED"), else Keel's word; or ""
    const char *message;  // one line, or ""
    const char *said;     // the plugin's last line on stderr, if something went wrong; or ""
} keel_probe_outcome_t;

// ---- what follows ------------------------------------------------------------------------------

// label, name, meaning
#define KEEL_PROBE_LABELS(X)                                                                       \
    X(BACKEND_DEFECT, "backend defect", "the plugin fails or does not do what PJRT requires")      \
    X(LAUNCH_POLICY, "launch policy", "how the process is started: settings, environment, files")  \
    X(VERSION_GATE, "version gate", "versions that do not work together, or need the bridge")      \
    X(MODEL_POLICY, "model policy", "a setting that changes what every model computes")

typedef enum keel_probe_label {
#define KEEL_PROBE_LABEL_ENUM(name, ...) KEEL_PROBE_##name,
    KEEL_PROBE_LABELS(KEEL_PROBE_LABEL_ENUM)
#undef KEEL_PROBE_LABEL_ENUM
        KEEL_PROBE_LABEL_COUNT,
} keel_probe_label_t;
const char *keel_probe_label_name(keel_probe_label_t label);

// In order of weight; a finding's weight is the state that it leaves the installation in.
typedef enum keel_probe_verdict {
    KEEL_PROBE_ALIVE,
    KEEL_PROBE_LIMPING,
    KEEL_PROBE_DEAD,
} keel_probe_verdict_t;
const char *keel_probe_verdict_name(keel_probe_verdict_t verdict);

typedef struct keel_probe_finding_t {
    keel_probe_label_t label;
    keel_probe_verdict_t weight; // ALIVE: for information
    const char *text, *next;     // the finding; the next step
} keel_probe_finding_t;

enum { KEEL_PROBE_FINDINGS = 64 };

typedef struct keel_probe_t {
    keel_bundle_t bundle; // what was found out; its arena has all text
    bool fast;            // the plugin was only loaded
    bool is_tpu, has_tpu; // by its name, the plugin is for TPUs; the machine has a TPU
    keel_probe_outcome_t steps[KEEL_PROBE_STEP_COUNT];
    uint64_t broken_lines; // of the child
    bool out_of_memory;    // here or in the child: the probe is incomplete

    keel_probe_finding_t findings[KEEL_PROBE_FINDINGS];
    size_t finding_count;
    keel_probe_verdict_t verdict;
} keel_probe_t;

void keel_probe_initialize(keel_probe_t *probe);
void keel_probe_deinitialize(keel_probe_t *probe);

typedef struct keel_probe_request_t {
    const char *plugin;     // path
    const char *wraps;      // the plugin that it wraps, if it is Keel's own library; otherwise NULL
    unsigned limit;         // seconds that a step may take
    keel_probe_step_t last; // no step after this one; OLDER: all
    void (*stepping)(const char *step); // called with each step that begins; may be NULL
} keel_probe_request_t;

// NULL, or KEEL_NO_MEMORY if anything was lost. Ask once, at the end.
keel_status_t keel_probe_status(const keel_probe_t *probe) KEEL_MUST_CHECK;

// Uses the plugin in a child and fills the steps and the bundle, with the reason if one of the
// first three steps failed. If the bundle knows the plugin's build, it gets the components of keys.
// The plugin's failures are recorded; this fails only if Keel itself does (no memory, no process).
keel_status_t keel_probe_use(const keel_probe_request_t *request,
                             keel_probe_t *out) KEEL_MUST_CHECK;

// Reads one message of the child. KEEL_NO_MEMORY, or NULL: a broken one is only counted.
keel_status_t keel_probe_take_line(keel_probe_t *probe, keel_str_t line) KEEL_MUST_CHECK;

// The reasons, one sentence each and besides other keys, why an entry made here would not be a hit
// there; returns their number. Both bundles are a probe's.
enum { KEEL_PROBE_BLOCKS = 8 };
size_t keel_probe_blocks(const keel_bundle_t *here, const keel_bundle_t *there,
                         const char *out[KEEL_PROBE_BLOCKS]);

// ---- findings ----------------------------------------------------------------------------------

// Adds a finding; copies the texts, with control bytes as "?". Drops it if there are too many.
void keel_probe_add(keel_probe_t *probe, keel_probe_label_t label, keel_probe_verdict_t weight,
                    const char *next, const char *format, ...) KEEL_PRINTF(5, 6);
// Adds the findings that follow from the steps and the bundle; reads the clients' files. Adds the
// steps to the bundle.
void keel_probe_conclude(keel_probe_t *probe);
// Adds those that follow from settings and environment.
void keel_probe_set_up(keel_probe_t *probe, const keel_settings_t *settings);

#endif // KEEL_PROBE_PROBE_H_
