// asides: what a run's journal has besides compiles and loads: operations that PyTorch/XLA computed
// on the host, compiles that do not fit the device's memory, programs that could not be explained,
// and loads of executables that Keel did not hand out.
//
// Texts live in the arena that was given with the events. Threads: no shared state.
#ifndef KEEL_RUN_ASIDES_H_
#define KEEL_RUN_ASIDES_H_

#include <jansson.h>

#include "base/base.h"
#include "run/texts.h"

typedef struct keel_host_op_sum_t {
    const char *name; // "aten::nonzero"
    uint64_t times;
} keel_host_op_sum_t;

// A compile that the plugin refused because memory did not suffice.
typedef struct keel_misfit_t {
    const char *name, *program; // of the module; digest in hex
    const char *shown;          // "train.py:88"
    const char *message;        // the plugin's message
    uint64_t needed, available; // 0: unknown
} keel_misfit_t;

typedef struct keel_asides_t {
    keel_host_op_sum_t *ops; // the most frequent first, from keel_asides_settle on
    size_t op_count;
    keel_misfit_t *misfits; // in order of time
    size_t misfit_count;
    uint64_t unexplained;                             // programs
    const char *unexplained_name, *unexplained_words; // the module of the first one, and why
    uint64_t elsewhere, elsewhere_unread; // loads; of these: Keel cannot read the program
    const char *elsewhere_name, *elsewhere_by, *elsewhere_shown; // of the first one
    uint64_t late;                      // settings that came too late to have an effect
    const char *late_what, *late_value; // the first: "XLA_FLAGS", what it gained
    uint64_t unkept, unkept_size; // modules of Python whose bytecode is not kept, bytes of source
    const char *unkept_why;       // of the process with most
    uint64_t by_client;           // loads by the client itself, of bytes that Keel handed out
} keel_asides_t;

// One more event; others are skipped. `cwd` is the run's.
keel_status_t keel_asides_add(keel_asides_t *asides, const json_t *event, const char *cwd,
                              keel_texts_t *texts) KEEL_MUST_CHECK;
void keel_asides_settle(keel_asides_t *asides);
void keel_asides_deinitialize(keel_asides_t *asides);

#endif // KEEL_RUN_ASIDES_H_
