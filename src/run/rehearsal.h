// rehearsal: what a run's journal says about a rehearsal besides its compiles: the target, what its
// compiler refused, which values no device computed, and of which programs something was guessed.
//
// Texts live in the arena that was given with the events. Threads: no shared state.
#ifndef KEEL_RUN_REHEARSAL_H_
#define KEEL_RUN_REHEARSAL_H_

#include "base/base.h"
#include "journal/journal.h"
#include "run/texts.h"

// The devices that are not there. Texts are "" and numbers 0 if unknown.
typedef struct keel_run_target_t {
    const char *name; // "h200:8"; "": this is not a rehearsal
    const char *platform, *kind;
    const char *compiles; // "all", "new", "none"
    const char *values;   // what a value reads as that no device computed: "zeros"
    uint64_t devices, processes;
    uint64_t memory;        // bytes of a device
    const char *assumed[4]; // what only the machine tells: "memory limit"; the rest NULL
} keel_run_target_t;

// A program that does not compile for the target, that Keel cannot rehearse, or that was refused;
// or an execution or a transfer of which the client got an error. What does not fit is in asides.h.
typedef struct keel_refusal_t {
    const char *action;         // "compile", "execution", "transfer", "client"
    const char *name, *program; // of the module; digest in hex. "" if there is none
    const char *shown;          // "train.py:88"
    const char *code, *message; // of the first time
    bool is_keels;              // the message is Keel's: it could not be rehearsed
    bool is_gates;              // the contract, a freeze or the other processes did not allow it
    uint64_t times;
} keel_refusal_t;

// A value that no device computed.
typedef struct keel_unreal_t {
    const char *maker; // the program that would have computed it: "jit_step"
    const char *into;  // the program that has it as a constant; "": the host read it
    const char *file, *function;
    const char *shown; // "train.py:88"
    uint32_t line;
    uint64_t times;   // that it was read
    uint64_t refused; // that the read was refused
} keel_unreal_t;

// A loop of the client's that ended early, or may have, after what no device computed was read.
typedef struct keel_left_t {
    const char *maker;      // the program that would have computed it
    const char *shown;      // the line that read it: "train.py:88"
    const char *loop;       // the loop: "train.py:80"
    uint64_t round, rounds; // 0: unknown
    bool decides;           // what was read decides whether the loop goes on
    bool raised;            // it is no loop: an error there ended the script
} keel_left_t;

// A program of which it is only guessed how its results are sharded.
typedef struct keel_guess_t {
    const char *name, *program;
    const char *shown;
} keel_guess_t;

// A program that devices of several processes execute together, but not equally often: on the
// target itself, some of them would wait for others that never come.
typedef struct keel_drift_t {
    const char *name, *program;
    const char *shown;
    uint64_t most, least;                 // executions
    uint64_t most_process, least_process; // the first of each
} keel_drift_t;

// A program of a rehearsal in several processes.
typedef struct keel_shared_t {
    const char *name, *program, *shown;
    bool spans;         // devices of several processes execute it together
    uint64_t *executes; // by each process
} keel_shared_t;

typedef struct keel_run_rehearsal_t {
    keel_run_target_t target;
    keel_refusal_t *refusals; // in order of time, like the others
    size_t refusal_count;
    keel_unreal_t *unreals;
    size_t unreal_count;
    keel_left_t *lefts;
    size_t left_count;
    keel_guess_t *guesses;
    size_t guess_count;
    keel_map_t known; // what the lists have -> index

    keel_drift_t *drifts; // known once all events are there
    size_t drift_count;
    keel_shared_t *shared; // drift.c; empty if there is one process
    size_t shared_count;
    int64_t *pids; // of each process; 0: it was not started

    bool is_discarded; // what its command wrote
    keel_journal_written_t written;
} keel_run_rehearsal_t;

struct json_t;
struct keel_steps_t;
// drift.c: one more event. Then, if all processes have ended, what they did not do together.
keel_status_t keel_drift_add(keel_run_rehearsal_t *rehearsal, const struct keel_steps_t *steps,
                             const struct json_t *event, const char *cwd,
                             keel_texts_t *texts) KEEL_MUST_CHECK;
keel_status_t keel_drift_find(keel_run_rehearsal_t *rehearsal) KEEL_MUST_CHECK;
void keel_drift_release(keel_run_rehearsal_t *rehearsal);

// What the command would have written. `keel` itself says that, not a client.
keel_status_t keel_rehearsal_add_written(keel_run_rehearsal_t *rehearsal,
                                         const struct json_t *event,
                                         keel_texts_t *texts) KEEL_MUST_CHECK;
void keel_rehearsal_initialize(keel_run_rehearsal_t *rehearsal);
void keel_rehearsal_deinitialize(keel_run_rehearsal_t *rehearsal);
// One more event of a rehearsed process; others are skipped. `cwd` is the run's.
keel_status_t keel_rehearsal_add(keel_run_rehearsal_t *rehearsal, const struct keel_steps_t *steps,
                                 const struct json_t *event, const char *cwd,
                                 keel_texts_t *texts) KEEL_MUST_CHECK;

#endif // KEEL_RUN_REHEARSAL_H_
