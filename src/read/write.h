// write: a program as bytes that a plugin compiles as it compiles a client's.
//
// keel_write_hlo: an HloModuleProto, of a program of KEEL_FORMAT_HLO: read from HLO, or built in
// the form that hlo_reader.h describes. Reading what was written gives the same program, location
// by location. Names of instructions, ids and names of parameters are generated: "dot.7" is
// instruction 7 of the module, from 1. Of the metadata, what is a location is written.
//
// keel_write_mlir: MLIR text, of a program of KEEL_FORMAT_MLIR: VHLO in MLIR's generic form. Text
// has no version, and the reader gives every operation the oldest version that says the same: so an
// older plugin compiles a program of a newer client as long as it knows its operations.
// Locations are left out, and values get new names.
//
// Everything else is written or refused, and the message names it: what the model has no place for
// (program->left_out), what the format does not have (KEEL_UNSUPPORTED), and references that cannot
// be (KEEL_INVALID).
//
// Both append to `out`, which is unchanged if they fail (except that running out of room sticks, as
// always). Bounds: at most KEEL_READ_SIZE_LIMIT bytes, and the reader's nesting.
// Threads: no shared state.
#ifndef KEEL_READ_WRITE_H_
#define KEEL_READ_WRITE_H_

#include "program/program.h"

keel_status_t keel_write_hlo(const keel_program_t *program, keel_buffer_t *out) KEEL_MUST_CHECK;
keel_status_t keel_write_mlir(const keel_program_t *program, keel_buffer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_READ_WRITE_H_
