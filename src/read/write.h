// write: a program as an HloModuleProto, which a plugin compiles as it compiles a client's.
//
// The program is one of KEEL_FORMAT_HLO: read from HLO, or built in the form that hlo_reader.h
// describes. Reading what was written gives the same program, location by location.
//
// Names of instructions, ids and names of parameters are generated: "dot.7" is instruction 7 of the
// module, from 1. Of the metadata, what is a location is written. Everything else is written or
// refused, and the message names it: what the model has no place for (program->left_out), what
// XLA's messages do not have (KEEL_UNSUPPORTED), and references that cannot be (KEEL_INVALID).
//
// Bounds: at most KEEL_READ_SIZE_LIMIT bytes, and the reader's nesting.
// Threads: no shared state.
#ifndef KEEL_READ_WRITE_H_
#define KEEL_READ_WRITE_H_

#include "program/program.h"

// Appends to `out`, which is unchanged if this fails (except that running out of room sticks, as
// always).
keel_status_t keel_write_hlo(const keel_program_t *program, keel_buffer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_READ_WRITE_H_
