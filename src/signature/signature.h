// signature: what an executable takes and gives on each device, as far as its program says.
//
//   signature.c   the entry function's parameters and results
//   settle.c      what only the compiled program shows of them
//   apart.c       programs of several partitions that say nothing about shardings
//   sharding.c    shardings of every spelling -> OpSharding, and the part of an array on one device
//   named.c       those that name axes of a mesh; axes.c: their tiles
//   module.c      modules without what computes, for clients that ask only what a program takes and
//                 gives
//
// A program of several partitions has whole arrays. Each device holds a part of one, as its
// sharding says. A result without a sharding gets one from the compiler (propagation), which only a
// compiled program shows: keel_signature_settle.
//
// Element types are XLA's PrimitiveType, and shardings are XLA's OpSharding, serialized, with tiles
// (xla/xla_data.proto).
//
// Ownership: a signature owns all it points to. Threads: no shared state.
#ifndef KEEL_SIGNATURE_SIGNATURE_H_
#define KEEL_SIGNATURE_SIGNATURE_H_

#include "program/program.h"

// number in xla_data.proto, name, bits of one element
#define KEEL_PRIMITIVES(X)                                                                         \
    X(1, PRED, 8)                                                                                  \
    X(2, S8, 8)                                                                                    \
    X(3, S16, 16)                                                                                  \
    X(4, S32, 32)                                                                                  \
    X(5, S64, 64)                                                                                  \
    X(6, U8, 8)                                                                                    \
    X(7, U16, 16)                                                                                  \
    X(8, U32, 32)                                                                                  \
    X(9, U64, 64)                                                                                  \
    X(10, F16, 16)                                                                                 \
    X(11, F32, 32)                                                                                 \
    X(12, F64, 64)                                                                                 \
    X(15, C64, 64)                                                                                 \
    X(16, BF16, 16)                                                                                \
    X(17, TOKEN, 0)                                                                                \
    X(18, C128, 128)                                                                               \
    X(19, F8E5M2, 8)                                                                               \
    X(20, F8E4M3FN, 8)                                                                             \
    X(21, S4, 4)                                                                                   \
    X(22, U4, 4)                                                                                   \
    X(23, F8E4M3B11FNUZ, 8)                                                                        \
    X(24, F8E5M2FNUZ, 8)                                                                           \
    X(25, F8E4M3FNUZ, 8)                                                                           \
    X(26, S2, 2)                                                                                   \
    X(27, U2, 2)                                                                                   \
    X(28, F8E4M3, 8)                                                                               \
    X(29, F8E3M4, 8)                                                                               \
    X(32, F4E2M1FN, 4)                                                                             \
    X(33, F8E8M0FNU, 8)

typedef enum keel_primitive {
    KEEL_PRIMITIVE_INVALID = 0,
#define KEEL_PRIMITIVE_ENUM(number, name, bits) KEEL_PRIMITIVE_##name = number,
    KEEL_PRIMITIVES(KEEL_PRIMITIVE_ENUM)
#undef KEEL_PRIMITIVE_ENUM
} keel_primitive_t;

// Bits of one element; 0 for a token and for anything unknown.
unsigned keel_primitive_bits(keel_primitive_t primitive);

typedef struct keel_array_shape_t {
    keel_primitive_t element;
    uint32_t rank;
    const int64_t *dims;
} keel_array_shape_t;

bool keel_array_shape_equal(const keel_array_shape_t *a, const keel_array_shape_t *b);
// Elements; 0 if they cannot be counted in 63 bits.
uint64_t keel_shape_count(const keel_array_shape_t *shape);
// Bytes without padding; elements smaller than a byte are packed.
uint64_t keel_shape_bytes(const keel_array_shape_t *shape);

// A parameter or a result.
typedef struct keel_array_t {
    keel_array_shape_t whole; // as the program has it
    keel_array_shape_t shard; // on each device
    keel_bytes_t sharding;    // OpSharding; empty: not given
    bool settled;             // false: the compiler decides how it is sharded
    bool guessed;             // how it is sharded is not known: it counts as whole on each device
    keel_str_t layout; // on the device, as HLO writes it: "{1,0:T(8,128)}"; empty: row by row
    keel_str_t memory; // its kind of memory, "pinned_host"; empty: the device's default
    bool donated;      // parameters: the executable may take its memory over
} keel_array_t;

typedef struct keel_signature_t {
    keel_str_t name; // of the module
    uint32_t replicas, partitions;
    bool is_spmd; // arrays are whole, and partitioned by their shardings
    // Nothing in a program of several partitions says how it is sharded: each device computes all
    // of it with arrays of its own, which collectives bring together (TorchTPU).
    bool is_apart;
    keel_array_t *parameters, *results;
    uint32_t parameter_count, result_count;
    const int64_t *devices; // replicas * partitions ids, replica by replica; NULL: not told
    keel_arena_t arena;
} keel_signature_t;

// `options` is a CompileOptionsProto. KEEL_UNSUPPORTED if the entry has something that is not an
// array of known size, which the message names.
keel_status_t keel_signature_read(const keel_program_t *program, keel_bytes_t options,
                                  keel_signature_t *out) KEEL_MUST_CHECK;
void keel_signature_deinitialize(keel_signature_t *signature);

// True if the compiler decides how some result is sharded.
bool keel_signature_is_open(const keel_signature_t *signature);
// Takes the shardings of open arrays from the optimized program of an executable (HloModuleProto,
// or the same with its config). If it does not say how one is sharded, or Keel does not understand
// that, it is guessed.
keel_status_t keel_signature_settle(keel_signature_t *signature, keel_bytes_t module,
                                    bool with_config) KEEL_MUST_CHECK;
// Takes every open array as whole on each device: a guess.
void keel_signature_guess(keel_signature_t *signature);
// The first array that is guessed, "result 2" or "argument 0"; false if none is.
bool keel_signature_is_guess(const keel_signature_t *signature, const char **out_what,
                             uint32_t *out_index);

// Appends an HloModuleProtoWithConfig with the signature's parameters, results and shardings, and a
// custom call to "keel.not_compiled" in place of the computation.
void keel_signature_module(const keel_signature_t *signature, keel_buffer_t *out);

// Appends the outline of an executable's optimized program (HloModuleProtoWithConfig): the same
// with a custom call to "keel.outline" in place of all computations. Its parameters and results
// have the shapes, layouts and shardings of the program. KEEL_UNSUPPORTED if it is not one that
// Keel understands; `out` has garbage then.
keel_status_t keel_signature_outline(keel_bytes_t optimized, keel_buffer_t *out) KEEL_MUST_CHECK;

// ---- sharding.c --------------------------------------------------------------------------------

// A sharding in HLO's text form ("{devices=[2,1]<=[2]}", "{replicated}"), as an OpSharding.
// KEEL_UNSUPPORTED if it is another form.
keel_status_t keel_sharding_parse(keel_str_t text, keel_buffer_t *out) KEEL_MUST_CHECK;
// An sdy.sharding or an HLO message of the program's attributes, as an OpSharding.
keel_status_t keel_sharding_write(const keel_program_t *program, keel_attr_id_t attribute,
                                  keel_buffer_t *out) KEEL_MUST_CHECK;
// An OpSharding of an array of that rank with tiles in place of named axes; one without is copied.
keel_status_t keel_sharding_tiles(keel_bytes_t sharding, uint32_t rank,
                                  keel_buffer_t *out) KEEL_MUST_CHECK;
// Whether each device has only its share of a sum; its part of the array is that of the sum.
bool keel_sharding_is_unreduced(keel_bytes_t sharding);
// Into how many parts an OpSharding cuts each of `rank` dimensions. KEEL_UNSUPPORTED if it does not
// say so for arrays of that rank.
keel_status_t keel_sharding_parts(keel_bytes_t sharding, uint32_t rank,
                                  int64_t *out_parts) KEEL_MUST_CHECK;
// Which part each of so many partitions has: `rank` indices for each, partition by partition.
keel_status_t keel_sharding_places(keel_bytes_t sharding, uint32_t rank, uint32_t partitions,
                                   int64_t *out_places) KEEL_MUST_CHECK;

#endif // KEEL_SIGNATURE_SIGNATURE_H_
