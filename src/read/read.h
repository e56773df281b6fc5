// read: foreign bytes -> program, and program -> text for people and tools (print.h) or HLO for a
// plugin (write.h).
//
// Two formats: MLIR bytecode (builtin, VHLO and sdy dialects: what JAX sends) and HloModuleProto
// (what PyTorch/XLA sends). A reader either understands every byte or returns KEEL_UNSUPPORTED
// (well-formed but with something unknown, which the message names) or KEEL_CORRUPT (not such a
// file). It never reads outside the span, never trusts a count, and never recurses as deep as the
// input asks: see the limits below.
//
// Ownership: the program borrows `bytes`. On failure it is empty, as after initialize.
// Threads: no shared state.
#ifndef KEEL_READ_READ_H_
#define KEEL_READ_READ_H_

#include "program/program.h"

enum {
    KEEL_READ_REGION_DEPTH = 256,    // nested regions
    KEEL_READ_ATTRIBUTE_DEPTH = 128, // nested attributes and types, except locations
};
// Larger inputs are KEEL_UNSUPPORTED: slices are 31 bits.
#define KEEL_READ_SIZE_LIMIT 0x7fffffffu

// True for bytes that start like MLIR bytecode ("ML\xefR").
bool keel_read_is_mlir(keel_bytes_t bytes);

// True for bytes that look like a program in text form, which no reader here takes. A serialized
// HloModuleProto may look like that by chance, so ask only if it was not understood.
bool keel_read_is_text(keel_bytes_t bytes);

keel_status_t keel_read_mlir(keel_bytes_t bytes, keel_program_t *out) KEEL_MUST_CHECK;

// A program without its large constants, which are beside it: in the place of constant N is a
// custom call without operands, of the target KEEL_BESIDE followed by N in decimal. The program is
// the one with the constants in their places, and has the same key; it borrows `constants` too.
// KEEL_UNSUPPORTED unless each has exactly one place, of a type that has room for just its bytes.
#define KEEL_BESIDE "keel.constant "
keel_status_t keel_read_mlir_beside(keel_bytes_t bytes, const keel_beside_t *constants,
                                    size_t count, keel_program_t *out) KEEL_MUST_CHECK;

keel_status_t keel_read_hlo(keel_bytes_t bytes, keel_program_t *out) KEEL_MUST_CHECK;

// By the magic: MLIR bytecode, otherwise HLO. For empty input (KEEL_CORRUPT) or text
// (KEEL_UNSUPPORTED), the message says so.
keel_status_t keel_read(keel_bytes_t bytes, keel_program_t *out) KEEL_MUST_CHECK;

#endif // KEEL_READ_READ_H_
