// probe: the state of an installation: what is installed (a plugin's file, the settings), whether
// it works, and what follows.
//
// What a probe finds out is a bundle: facts, which are printed and compared as all bundles are.
// The plugin is loaded and used in a child process, step by step. The child notes each step in
// memory that its parent sees, so a crash, an abort or a hang is attributed to its step.
//
// Ownership: a probe owns all its text. Threads: one thread at a time.
// keel_probe_use forks, so the process should have no other thread then.
#ifndef KEEL_PROBE_PROBE_H_
#define KEEL_PROBE_PROBE_H_

#include "bundle/bundle.h"
#include "settings/settings.h"

// step, the one that it needs (itself: none), the function that takes it, name, what it does
#define KEEL_PROBE_STEPS(X)                                                                        \
    X(LOAD, LOAD, load, "load", "the library is opened and its table taken")                       \
    X(CLIENT, LOAD, client, "client", "the plugin makes a client")                                 \
    X(DEVICES, CLIENT, devices, "devices",                                                         \
      "its devices, their memory and the parts of keys are read")                                  \
    X(COMPILE, DEVICES, compile, "compile", "a small program is compiled for the first device")    \
    X(RUN, COMPILE, run, "run", "it runs there, and its numbers are checked")                      \
    X(SERIALIZE, COMPILE, serialize, "serialize", "its executable is serialized")                  \
    X(RELOAD, SERIALIZE, reload, "reload", "these bytes are loaded again")                         \
    X(AGAIN, RELOAD, run_again, "run again",                                                       \
      "the reloaded executable runs, and its numbers are checked")                                 \
    X(LAST, RUN, last_device, "last device", "compiled, run and checked on the last device")       \
    X(OLDER, RUN, older_client, "older client",                                                    \
      "it runs with the argument structs of an older client")

typedef enum keel_probe_step {
#define KEEL_PROBE_STEP_ENUM(name, ...) KEEL_PROBE_##name,
    KEEL_PROBE_STEPS(KEEL_PROBE_STEP_ENUM)
#undef KEEL_PROBE_STEP_ENUM
        KEEL_PROBE_STEP_COUNT,
} keel_probe_step_t;
extern const char *const keel_probe_step_names[KEEL_PROBE_STEP_COUNT];
extern const char *const keel_probe_step_sentences[KEEL_PROBE_STEP_COUNT];

// state, name, word in a text
#define KEEL_PROBE_STATES(X)                                                                       \
    X(NOT_TRIED, "not tried", "")                                                                  \
    X(BEGUN, "begun", "")                                                                          \
    X(OK, "ok", "ok")                                                                              \
    X(FAILED, "failed", "FAILED") /* with an error; `message` has it */                            \
    X(KILLED, "killed", "DIED")   /* the process ended in it; `message` says by what */            \
    X(HUNG, "no answer", "HUNG")  /* within the time limit */

typedef enum keel_probe_state {
#define KEEL_PROBE_STATE_ENUM(name, ...) KEEL_PROBE_##name,
    KEEL_PROBE_STATES(KEEL_PROBE_STATE_ENUM)
#undef KEEL_PROBE_STATE_ENUM
        KEEL_PROBE_STATE_COUNT,
} keel_probe_state_t;
extern const char *const keel_probe_state_names[KEEL_PROBE_STATE_COUNT];
extern const char *const keel_probe_state_words[KEEL_PROBE_STATE_COUNT];

static inline bool keel_probe_went_wrong(keel_probe_state_t state) {
    return state >= KEEL_PROBE_FAILED;
}

typedef struct keel_probe_outcome_t {
    keel_probe_state_t state;
    uint64_t nanoseconds; // until its end, or until the parent gave up
    const char *code;     // of FAILED: PJRT's name ("UNIMPLEMENTED"), else Keel's word; or ""
    const char *message;  // one line, or ""
    const char *said;     // the plugin's last line on stderr, if something went wrong; or ""
} keel_probe_outcome_t;

// ---- what follows ------------------------------------------------------------------------------

// What a finding is about.
#define KEEL_PROBE_BACKEND_DEFECT "backend defect" // the plugin fails or does not do its part
#define KEEL_PROBE_LAUNCH_POLICY "launch policy"   // how the process is started
#define KEEL_PROBE_VERSION_GATE "version gate"     // versions that do not work together
#define KEEL_PROBE_MODEL_POLICY "model policy"     // a setting that changes what models compute

// In order of weight; a finding's weight is the state that it leaves the installation in.
typedef enum keel_probe_verdict {
    KEEL_PROBE_ALIVE,
    KEEL_PROBE_LIMPING,
    KEEL_PROBE_DEAD,
} keel_probe_verdict_t;
extern const char *const keel_probe_verdict_names[];

typedef struct keel_probe_finding_t {
    const char *label;           // one of those above
    keel_probe_verdict_t weight; // ALIVE: for information
    const char *text, *next;     // the finding; the next step
} keel_probe_finding_t;

enum { KEEL_PROBE_FINDINGS = 64 };

typedef struct keel_probe_t {
    keel_bundle_t bundle; // what was found out; owns all text, and knows if memory ran out
    keel_buffer_t target; // JSON of the target that this machine is (target/target.h); or empty
    bool fast;            // the plugin was only loaded
    bool lacks_tpu; // by its name, the plugin is for TPUs, and the machine has none: only loaded
    keel_probe_outcome_t steps[KEEL_PROBE_STEP_COUNT];

    keel_probe_finding_t findings[KEEL_PROBE_FINDINGS];
    size_t finding_count;
    keel_probe_verdict_t verdict;
} keel_probe_t;

void keel_probe_initialize(keel_probe_t *probe);
void keel_probe_deinitialize(keel_probe_t *probe);

typedef struct keel_probe_request_t {
    const char *plugin;                 // path
    uint32_t cpu_devices;               // of XLA's CPU plugin, as `keel run` asks for; 0: its own
    unsigned limit;                     // seconds that a step may take
    keel_probe_step_t last;             // no step after this one; OLDER: all
    void (*stepping)(const char *step); // called with each step that begins; may be NULL
} keel_probe_request_t;

// Uses the plugin in a child and fills the steps and the bundle, with the reason if one of the
// first three steps failed. If the bundle knows the plugin's build, it gets the components of keys.
// The plugin's failures are recorded; this fails only if Keel itself does (no memory, no process).
keel_status_t keel_probe_use(const keel_probe_request_t *request,
                             keel_probe_t *out) KEEL_MUST_CHECK;

// ---- findings ----------------------------------------------------------------------------------

// Adds a finding; copies the texts, with control bytes as "?". Drops it if there are too many.
void keel_probe_add(keel_probe_t *probe, const char *label, keel_probe_verdict_t weight,
                    const char *next, const char *format, ...) KEEL_PRINTF(5, 6);
// Adds the findings that follow from the steps and the bundle; reads the clients' files. Adds the
// steps to the bundle.
void keel_probe_conclude(keel_probe_t *probe);
// Adds those that follow from settings and environment.
void keel_probe_set_up(keel_probe_t *probe, const keel_settings_t *settings);

#endif // KEEL_PROBE_PROBE_H_
