// rehearsal: what a run's journal says about a rehearsal besides its compiles: the target, what its
// compiler refused, which values no device computed, and of which programs something was guessed.
//
// Texts live in the arena that was given with the events. Threads: no shared state.
#ifndef KEEL_RUN_REHEARSAL_H_
#define KEEL_RUN_REHEARSAL_H_

#include "base/base.h"

// The devices that are not there. Texts are "" and numbers 0 if unknown.
typedef struct keel_run_target_t {
    const char *name; // "h200:8"; "": this is no rehearsal
    const char *platform, *kind;
    const char *compiles; // "all", "new", "none"
    const char *values;   // what a value reads as that no device computed: "zeros"
    uint64_t devices, processes;
    uint64_t memory;        // bytes of a device
    const char *assumed[4]; // what only the machine tells: "memory limit"; the rest NULL
} keel_run_target_t;

// A program that does not compile for the target, or that Keel cannot rehearse. What does not fit
// is in asides.h.
typedef struct keel_refusal_t {
    const char *name, *program; // of the module; digest in hex
    const char *shown;          // "train.py:88"
    const char *code, *message; // of the first time
    bool is_keels;              // the message is Keel's: it could not be rehearsed
    uint64_t times;
} keel_refusal_t;

// A value that no device computed.
typedef struct keel_unreal_t {
    const char *maker; // the program that would have computed it: "jit_step"
    const char *into;  // the program that has it as a constant; "": the host read it
    const char *file, *function;
    const char *shown; // "train.py:88"
    uint32_t line;
    uint64_t times;
} keel_unreal_t;

// A program of which it is only guessed how its results are sharded.
typedef struct keel_guess_t {
    const char *name, *program;
    const char *shown;
} keel_guess_t;

typedef struct keel_run_rehearsal_t {
    keel_run_target_t target;
    keel_refusal_t *refusals; // in order of time, like the others
    size_t refusal_count;
    keel_unreal_t *unreals;
    size_t unreal_count;
    keel_guess_t *guesses;
    size_t guess_count;
    keel_map_t known; // what the lists have -> index
} keel_run_rehearsal_t;

struct json_t;
void keel_rehearsal_initialize(keel_run_rehearsal_t *rehearsal);
void keel_rehearsal_deinitialize(keel_run_rehearsal_t *rehearsal);
// One more event of a rehearsed process; others are skipped. `cwd` is the run's.
keel_status_t keel_rehearsal_add(keel_run_rehearsal_t *rehearsal, const struct json_t *event,
                                 const char *cwd, keel_arena_t *texts) KEEL_MUST_CHECK;

#endif // KEEL_RUN_REHEARSAL_H_
