// took: how long compiles or loads took, all together, and what became of them. In a rehearsal some
// of that is not known: nothing was compiled, or the process ended before the compiler was done,
// and no device loads anything.
//
// Threads: no shared state.
#ifndef KEEL_RUN_TOOK_H_
#define KEEL_RUN_TOOK_H_

#include "base/base.h"

typedef struct keel_took_t {
    uint64_t times;   // compiles or loads
    uint64_t unknown; // of those: how many took nobody knows how long
    double seconds;   // that the others took
} keel_took_t;

// What became of a compile. All but the first are of a rehearsal.
typedef enum keel_run_fate_t {
    KEEL_RUN_COMPILED,
    KEEL_RUN_REFUSED, // by the compiler, when the client already had it
    KEEL_RUN_PENDING, // the process ended before the compiler was done
    KEEL_RUN_SKIPPED, // not compiled
    KEEL_RUN_FATE_COUNT,
} keel_run_fate_t;

static inline void keel_took_add(keel_took_t *sum, const keel_took_t *more) {
    sum->times += more->times;
    sum->unknown += more->unknown;
    sum->seconds += more->seconds;
}

// False if nothing is known of it.
static inline bool keel_took_is_known(const keel_took_t *took) {
    return took->unknown < took->times || !took->times;
}

// Less than 0 if the first is more expensive: by what is known of it and, if that leaves something
// open, by the operations of the programs; 0 if neither is.
static inline int keel_took_order(const keel_took_t *a, uint64_t a_ops, const keel_took_t *b,
                                  uint64_t b_ops) {
    if (a->seconds != b->seconds) return a->seconds > b->seconds ? -1 : 1;
    if (a->unknown != b->unknown) return a->unknown > b->unknown ? -1 : 1;
    if (!a->unknown) return 0;
    return a_ops == b_ops ? 0 : a_ops > b_ops ? -1 : 1;
}

#endif // KEEL_RUN_TOOK_H_
