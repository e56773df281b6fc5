// The file format safetensors, and the index of files that hold one set of tensors together.
//
//   u64, little-endian   bytes of the header, at most 100,000,000
//   header               JSON: {NAME: {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
//   ...}
//                        and perhaps "__metadata__": {TEXT: TEXT}; spaces may follow
//   data                 the tensors, row-major, little-endian, without gaps; offsets count from
//   here
//
//   index                JSON: {"weight_map": {NAME: FILE, ...}}, files of the same folder
//
// Readers here take foreign bytes: a count or an offset is used only after it was checked.
#ifndef KEEL_MODEL_SAFETENSORS_H_
#define KEEL_MODEL_SAFETENSORS_H_

#include "base/base.h"
#include "keel/tensor.h"
#include "program/program.h"

enum { SAFETENSORS_HEADER = 100000000, SAFETENSORS_LENGTH = 8 };

typedef struct stored_t {
    keel_str_t name, dtype_name;
    keel_dtype_t dtype; // KEEL_DTYPE_COUNT: one that tensors here cannot have
    keel_shape_t shape;
    uint64_t begin, end; // in the file's data
} stored_t;

typedef struct safetensors_t {
    keel_arena_t arena;
    KEEL_TABLE(stored_t) tensors; // by place in the file
    uint64_t data_begin;          // in the file
} safetensors_t;

void safetensors_initialize(safetensors_t *file);
void safetensors_deinitialize(safetensors_t *file);

// Reads a header, without the length before it. `data_size`: of all that follows it. KEEL_CORRUPT
// if it is no such file. `from` begins the message.
keel_status_t safetensors_parse(const char *from, keel_bytes_t header, uint64_t data_size,
                                safetensors_t *out) KEEL_MUST_CHECK;
// The same of a file.
keel_status_t safetensors_read(const keel_input_file_t *reading,
                               safetensors_t *out) KEEL_MUST_CHECK;

// Sets where each tensor lies, the most aligned first, and sorts them so.
void safetensors_place(stored_t *tensors, size_t count);
// Appends length and header of tensors that have their places.
void safetensors_write(const stored_t *tensors, size_t count, keel_buffer_t *out);

typedef struct indexed_t {
    keel_str_t name, file;
} indexed_t;

typedef struct safetensors_index_t {
    keel_arena_t arena;
    KEEL_TABLE(indexed_t) tensors;
} safetensors_index_t;

void safetensors_index_initialize(safetensors_index_t *index);
void safetensors_index_deinitialize(safetensors_index_t *index);
// File names have no folder.
keel_status_t safetensors_index_parse(const char *from, keel_bytes_t bytes,
                                      safetensors_index_t *out) KEEL_MUST_CHECK;

#endif // KEEL_MODEL_SAFETENSORS_H_
