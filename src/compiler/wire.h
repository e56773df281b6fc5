// Room-internal: messages between a compiler and its children.
//
// A message is a frame (its kind and its size, 4 and 8 bytes, little-endian) and a protobuf
// message, whose fields wire.c numbers. A child gets one SETUP, then HANDLERs and JOBs; each JOB
// gets an ANSWER.
// Both sides read with bounds: a child that runs foreign code may write anything.
#ifndef KEEL_COMPILER_WIRE_H_
#define KEEL_COMPILER_WIRE_H_

#include "compiler/compiler.h"
#include "compiler/handlers.h"

typedef enum wire_kind_t { WIRE_SETUP = 1, WIRE_HANDLER, WIRE_JOB, WIRE_ANSWER } wire_kind_t;

enum { WIRE_HEAD = 12 };
#define WIRE_LIMIT (UINT64_C(4) << 30) // bytes of a message

typedef struct wire_setup_t {
    keel_bytes_t target; // JSON
    keel_str_t plugin;   // path
    int core;            // the processor that the child is pinned to; -1: none
} wire_setup_t;

// Texts and libraries are borrowed and have no final zero byte.
typedef struct wire_handler_t {
    uint64_t kind, api_version, traits;
    keel_str_t name, platform;
    keel_str_t libraries[KEEL_HANDLER_PLACES];
    uint64_t offsets[KEEL_HANDLER_PLACES];
} wire_handler_t;

typedef struct wire_job_t {
    keel_bytes_t code, options;
    keel_str_t format;
    keel_bytes_t executable; // of a trial: then there is no code
    keel_bytes_t arguments;  // shapes, as wire_put_shape writes them
    uint64_t seed, seconds;
    bool is_partition;
} wire_job_t;

// All of it borrowed. An error that is absent is empty.
typedef struct wire_answer_t {
    keel_str_t error, program_format;
    uint64_t code;
    keel_bytes_t executable, program, fingerprint;
    keel_bytes_t costs; // wire_put_cost, one after another
    bool has_memory;
    keel_program_memory_t memory;
    uint64_t nanoseconds, cpu_nanoseconds, peak_memory;
    bool is_partition; // it has only the program
    bool is_trial;
    keel_bytes_t results; // of a trial: a shape (wire_put_shape) and its bytes, one after another
} wire_answer_t;

// Append a message with its frame; check the buffer's status.
void wire_put_setup(keel_buffer_t *out, const wire_setup_t *setup);
void wire_put_handler(keel_buffer_t *out, const keel_handler_t *handler);
void wire_put_job(keel_buffer_t *out, const wire_job_t *job);
void wire_put_answer(keel_buffer_t *out, const wire_answer_t *answer);

// A shape within a message: its element, its rank and its dimensions as varints. False if none can
// be read; `dims` has room for WIRE_RANK.
enum { WIRE_RANK = 64 };
void wire_put_shape(keel_buffer_t *out, const keel_array_shape_t *shape);
bool wire_read_shape(keel_cursor_t *cursor, int64_t dims[WIRE_RANK], keel_array_shape_t *out);

// A cost within a message. False if none can be read.
void wire_put_cost(keel_buffer_t *out, keel_str_t name, float value);
bool wire_read_cost(keel_cursor_t *cursor, keel_str_t *out_name, float *out_value);

// KEEL_CORRUPT for a kind that is not `expected`, or a message that is too large.
keel_status_t wire_read_head(const uint8_t head[WIRE_HEAD], wire_kind_t *out_kind,
                             uint64_t *out_size) KEEL_MUST_CHECK;
// KEEL_CORRUPT if it cannot be read. Unknown fields are skipped.
keel_status_t wire_read_setup(keel_bytes_t message, wire_setup_t *out) KEEL_MUST_CHECK;
keel_status_t wire_read_handler(keel_bytes_t message, wire_handler_t *out) KEEL_MUST_CHECK;
keel_status_t wire_read_job(keel_bytes_t message, wire_job_t *out) KEEL_MUST_CHECK;
keel_status_t wire_read_answer(keel_bytes_t message, wire_answer_t *out) KEEL_MUST_CHECK;

#endif // KEEL_COMPILER_WIRE_H_
