// Headers and indexes of safetensors: refused, or the tensors lie one after the other in the data,
// and what is written of them is read the same.
#include <stdlib.h>

#include "model/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static bool is_same(const stored_t *x, const stored_t *y) {
    bool same = keel_str_equal(x->name, y->name) && x->dtype == y->dtype && x->begin == y->begin &&
                x->end == y->end && x->shape.rank == y->shape.rank;
    for (int32_t i = 0; same && i < x->shape.rank; ++i)
        same = x->shape.dims[i] == y->shape.dims[i];
    return same;
}

// Names that JSON cannot keep, and dtypes that tensors cannot have, are not written.
static bool is_writable(const safetensors_t *file) {
    for (uint32_t i = 0; i < file->tensors.count; ++i)
        if (file->tensors.data[i].dtype == KEEL_DTYPE_COUNT) return false;
    return true;
}

static void write_and_read(const safetensors_t *file, uint64_t data_size) {
    keel_buffer_t out;
    safetensors_t again;
    keel_buffer_initialize(&out, 0);
    safetensors_initialize(&again);
    safetensors_write(file->tensors.data, file->tensors.count, &out);
    check(!keel_buffer_status(&out) && out.size % 8 == 0);
    check(keel_load_u64(out.data) == out.size - SAFETENSORS_LENGTH);
    keel_bytes_t header = keel_bytes(out.data + SAFETENSORS_LENGTH, out.size - SAFETENSORS_LENGTH);
    check(!safetensors_parse("it", header, data_size, &again));
    check(again.tensors.count == file->tensors.count);
    for (uint32_t i = 0; i < file->tensors.count; ++i)
        check(is_same(&file->tensors.data[i], &again.tensors.data[i]));
    safetensors_deinitialize(&again);
    keel_buffer_deinitialize(&out);
}

static void try_header(keel_bytes_t header, uint64_t data_size) {
    safetensors_t file;
    uint64_t at = 0;
    safetensors_initialize(&file);
    keel_status_t status = safetensors_parse("it", header, data_size, &file);
    check(!status || keel_status_code(status) == KEEL_CORRUPT);
    if (!status) {
        for (uint32_t i = 0; i < file.tensors.count; ++i) {
            check(file.tensors.data[i].begin == at);
            at = file.tensors.data[i].end;
        }
        check(at == data_size);
        if (is_writable(&file)) write_and_read(&file, data_size);
    }
    keel_status_ignore(status);
    safetensors_deinitialize(&file);
}

static void try_index(keel_bytes_t bytes) {
    safetensors_index_t index;
    safetensors_index_initialize(&index);
    keel_status_t status = safetensors_index_parse("it", bytes, &index);
    check(!status || keel_status_code(status) == KEEL_CORRUPT);
    for (uint32_t i = 0; !status && i < index.tensors.count; ++i)
        check(index.tensors.data[i].file.size &&
              !memchr(index.tensors.data[i].file.data, '/', index.tensors.data[i].file.size));
    keel_status_ignore(status);
    safetensors_index_deinitialize(&index);
}

// A first byte of '{' is an index; otherwise 3 bytes are the size of the data behind the header.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    if (data[0] == '{')
        try_index(keel_bytes(data, size));
    else
        try_header(keel_bytes(data + 3, size - 3),
                   (uint64_t)data[0] | (uint64_t)data[1] << 8 | (uint64_t)data[2] << 16);
    return 0;
}
