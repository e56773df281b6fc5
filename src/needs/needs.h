// needs: what the results of a program need, and the program that computes just these.
//
// A big program computes some of its results cheaply: a step counter, a schedule, a key. Whoever
// wants such a value asks what it needs, and if that is little, takes the program that computes
// nothing else and runs it.
//
//   facts.c    every operation: how it passes needs on, what its work is, what keeps it here
//   create.c   checks a program once, so that the rest may rely on its structure
//   walk.c     which operations, values and arguments a set of results needs: from the results
//              backward, through regions, calls and the states of loops
//   manual.c   what each device computes by itself of its parts of arrays (jax.pmap, shard_map)
//   parts.c    a function as far as some of its results need it; each call gets the part it needs
//   figures.c  work and memory; trips.c: how often a loop runs
//   emit*.c    the program of those parts
//
// What is left out cannot change a wanted value, because values only depend on operands: what
// sends, receives or draws from a hidden state is named as an obstacle where a value depends on it,
// and is left out where none does.
//
// Ownership: keel_needs_t borrows the program. A program made here borrows from the first one what
// that one borrows or owns (source, bytes of constants), so the first must outlive it; keel_needs_t
// need not. What keel_needs_of answers lives until the next call with the same keel_needs_t.
// Threads: one at a time for each keel_needs_t.
#ifndef KEEL_NEEDS_NEEDS_H_
#define KEEL_NEEDS_NEEDS_H_

#include "program/program.h"

typedef struct keel_needs_t keel_needs_t;

// Time and memory grow with the program; later answers take as long as what they find is large.
// KEEL_UNSUPPORTED for a program without an entry function, and for one that is scheduled.
// KEEL_INVALID if its structure is not that of a program (an operand that comes later, ...).
keel_status_t keel_needs_create(const keel_program_t *program, keel_needs_t **out) KEEL_MUST_CHECK;
void keel_needs_destroy(keel_needs_t *needs); // NULL is allowed

// Of the entry function. In HLO the results are the elements of the root if that is a tuple, and
// the arguments are the parameters.
uint32_t keel_needs_result_count(const keel_needs_t *needs);
uint32_t keel_needs_argument_count(const keel_needs_t *needs);

typedef struct keel_need_t {
    keel_list_t arguments; // ascending
    uint32_t operations;   // of the program that computes these results, without its returns
    double inlined;        // operations, if each call has its function's anew
    double work;     // element operations; a dot is 2*M*N*K; a loop counts as often as it runs
    uint64_t bytes;  // sum of what the operations make and of the arguments: an upper bound of
                     // the memory that it holds at once
    bool is_bounded; // false: how often a loop runs is not known; it is counted once
    bool is_over;    // more operations than asked for, or as many again to find them: nothing else
                     // is known
    // The first operation that cannot run elsewhere with the same meaning: the target of a custom
    // call, an operation that talks to the host, draws from a hidden state or is unknown, or
    // "token"; NULL if there is none.
    const char *obstacle;
    // The first operation whose value depends on the program's other devices: a collective,
    // partition_id, manual_computation, ...; NULL if there is none.
    const char *across;
    // It draws from rng_bit_generator with the algorithm that each backend chooses itself: its
    // numbers are others than the device's.
    bool is_other_random;
} keel_need_t;

// What these results (ascending, at least one) need together. Looks at no more than about twice as
// many operations as `most`.
keel_status_t keel_needs_of(keel_needs_t *needs, const uint32_t *results, uint32_t count,
                            uint32_t most, keel_need_t *out) KEEL_MUST_CHECK;

// Whether some operation puts many elements together into one (dot, reduce, convolution, ...). A
// program without one only moves elements or maps each of them. Any program will do.
bool keel_needs_combines(const keel_program_t *program);
// Whether some operation depends on the program's other devices, as a collective does. Any program.
bool keel_needs_meets(const keel_program_t *program);

// The program of the same format that computes just these results (ascending, at least one), from
// just the arguments that they need, both in the original order. In HLO the root is a tuple if that
// of the whole program is one.
//
// Shardings stay with what they belong to, and the module keeps its attributes. Dropped is what
// only says where values live: aliasing, donation, layouts that the entry function asks for
// (layout_mode), memory kinds, and custom calls that move a value to another memory.
keel_status_t keel_needs_program(keel_needs_t *needs, const uint32_t *results, uint32_t count,
                                 keel_program_t *out) KEEL_MUST_CHECK;

#endif // KEEL_NEEDS_NEEDS_H_
