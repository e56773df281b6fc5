// makers: what buffers show of a run's programs: which took what another had just made, and whose
// results nobody takes any more (engine/makers.c).
//
// Texts live in the arena that was given with the events. Threads: no shared state.
#ifndef KEEL_RUN_MAKERS_H_
#define KEEL_RUN_MAKERS_H_

#include <jansson.h>

#include "base/base.h"
#include "run/texts.h"

// Arguments of a program, in its first execution, that another made.
typedef struct keel_run_inputs_t {
    int64_t pid;
    const char *program, *maker; // digests in hex
    bool is_again;               // the maker was executed before
    const uint32_t *arguments;
    size_t count;
} keel_run_inputs_t;

// Arguments of a program that were not there before and stayed the same, or results of a program
// that nobody took any more.
typedef struct keel_run_tensors_t {
    int64_t pid;
    const char *program; // that has these arguments or results
    const uint32_t *arguments;
    size_t argument_count;
    uint64_t results;
    const char *const *programs; // new ones since then, in order of time
    size_t program_count;
} keel_run_tensors_t;

typedef struct keel_makers_t {
    keel_run_inputs_t *inputs;
    size_t input_count, input_room;
    keel_run_tensors_t *steady;
    size_t steady_count, steady_room;
    keel_run_tensors_t *abandoned;
    size_t abandoned_count, abandoned_room;
} keel_makers_t;

// One more event; others are skipped.
keel_status_t keel_makers_add(keel_makers_t *makers, const json_t *event,
                              keel_texts_t *texts) KEEL_MUST_CHECK;
void keel_makers_deinitialize(keel_makers_t *makers);

#endif // KEEL_RUN_MAKERS_H_
