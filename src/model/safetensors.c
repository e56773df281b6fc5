// Reading and writing headers of safetensors.
#include "model/safetensors.h"

#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/json_cost.h"
#include "tensor/tensor.h"

// None of complex numbers: a tree has no such leaves.
static const char *const dtype_names[KEEL_DTYPE_COUNT] = {
    [KEEL_BOOL] = "BOOL",        [KEEL_I8] = "I8",          [KEEL_I16] = "I16",
    [KEEL_I32] = "I32",          [KEEL_I64] = "I64",        [KEEL_U8] = "U8",
    [KEEL_U16] = "U16",          [KEEL_U32] = "U32",        [KEEL_U64] = "U64",
    [KEEL_F8E4M3FN] = "F8_E4M3", [KEEL_F8E5M2] = "F8_E5M2", [KEEL_BF16] = "BF16",
    [KEEL_F16] = "F16",          [KEEL_F32] = "F32",        [KEEL_F64] = "F64",
};

void safetensors_initialize(safetensors_t *file) {
    *file = (safetensors_t){0};
    keel_arena_initialize(&file->arena, 0);
}

void safetensors_deinitialize(safetensors_t *file) {
    keel_free(file->tensors.data);
    keel_arena_deinitialize(&file->arena);
    *file = (safetensors_t){0};
}

static keel_status_t corrupt(const char *from, const char *name, const char *what) {
    return keel_status_make(KEEL_CORRUPT, "%s: %.200s%s%s", from, name, *name ? " " : "", what);
}

static keel_status_t keep_text(keel_arena_t *arena, const json_t *text, keel_str_t *out) {
    return keel_arena_str(arena, (keel_str_t){json_string_value(text), json_string_length(text)},
                          out);
}

// ---- one tensor --------------------------------------------------------------------------------

static keel_dtype_t find_dtype(keel_str_t name) {
    int dtype = 0;
    while (dtype < KEEL_DTYPE_COUNT &&
           !(dtype_names[dtype] && keel_str_is(name, dtype_names[dtype])))
        ++dtype;
    return (keel_dtype_t)dtype;
}

static bool read_shape(const json_t *list, keel_shape_t *out) {
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > KEEL_MAX_RANK) return false;
    out->rank = (int32_t)count;
    for (size_t i = 0; i < count; ++i) {
        const json_t *size = json_array_get(list, i);
        if (!json_is_integer(size) || json_integer_value(size) < 0) return false;
        out->dims[i] = json_integer_value(size);
    }
    return true;
}

static bool read_offsets(const json_t *list, uint64_t data_size, stored_t *out) {
    const json_t *begin = json_array_get(list, 0), *end = json_array_get(list, 1);
    if (json_array_size(list) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return false;
    json_int_t from = json_integer_value(begin), to = json_integer_value(end);
    if (from < 0 || to < from || (uint64_t)to > data_size) return false;
    out->begin = (uint64_t)from;
    out->end = (uint64_t)to;
    return true;
}

static keel_status_t read_tensor(const char *from, const char *name, const json_t *value,
                                 uint64_t data_size, keel_arena_t *arena, stored_t *out) {
    const json_t *dtype = json_object_get(value, "dtype");
    uint64_t bytes;
    if (!json_is_object(value) || json_object_size(value) != 3 || !json_is_string(dtype))
        return corrupt(from, name, "is not described by dtype, shape and data_offsets");
    KEEL_TRY(keel_arena_str(arena, keel_str(name), &out->name));
    KEEL_TRY(keep_text(arena, dtype, &out->dtype_name));
    out->dtype = find_dtype(out->dtype_name);
    if (!read_shape(json_object_get(value, "shape"), &out->shape))
        return corrupt(from, name, "has no shape of at most 8 sizes");
    if (!read_offsets(json_object_get(value, "data_offsets"), data_size, out))
        return corrupt(from, name, "lies outside the file");
    if (out->dtype == KEEL_DTYPE_COUNT) return NULL;
    if (!keel_tensor_bytes(out->dtype, &out->shape, &bytes) || bytes != out->end - out->begin)
        return corrupt(from, name, "has a different number of bytes than its shape");
    return NULL;
}

// ---- a header ----------------------------------------------------------------------------------

static bool is_metadata(const json_t *value) {
    const char *name;
    json_t *text;
    if (!json_is_object(value)) return false;
    json_object_foreach((json_t *)(uintptr_t)value, name,
                        text) if (!json_is_string(text)) return false;
    return true;
}

static keel_status_t read_tensors(const char *from, json_t *header, uint64_t data_size,
                                  safetensors_t *out) {
    const char *name;
    json_t *value;
    json_object_foreach(header, name, value) {
        if (!strcmp(name, "__metadata__")) {
            if (!is_metadata(value)) return corrupt(from, name, "is not an object of texts");
            continue;
        }
        stored_t stored = {0};
        KEEL_TRY(read_tensor(from, name, value, data_size, &out->arena, &stored));
        KEEL_PUSH(&out->tensors, stored);
    }
    return NULL;
}

// Empty ones before the tensor that begins where they do; names only make the order one.
static int by_place(const void *x, const void *y) {
    const stored_t *a = x, *b = y;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    return keel_str_compare(a->name, b->name);
}

static keel_status_t check_places(const char *from, uint64_t data_size, const safetensors_t *file) {
    uint64_t at = 0;
    for (uint32_t i = 0; i < file->tensors.count; ++i) {
        const stored_t *stored = &file->tensors.data[i];
        if (stored->begin != at)
            return corrupt(from, stored->name.data, "overlaps or follows a gap");
        at = stored->end;
    }
    return at == data_size ? NULL : corrupt(from, "", "bytes follow the last tensor");
}

// NULL, with the reason in `why`, if it is none.
static json_t *parse_object(keel_bytes_t bytes, char why[KEEL_TENSOR_TEXT]) {
    json_error_t error = {0};
    if (!keel_json_fits(keel_bytes_str(bytes))) {
        snprintf(why, KEEL_TENSOR_TEXT, "has too many small values to keep in memory");
        return NULL;
    }
    json_t *object =
        json_loadb((const char *)bytes.data, bytes.size, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(object)) return object;
    snprintf(why, KEEL_TENSOR_TEXT, "is not a JSON object%s%.150s", object ? "" : ": ", error.text);
    json_decref(object);
    return NULL;
}

keel_status_t safetensors_parse(const char *from, keel_bytes_t header, uint64_t data_size,
                                safetensors_t *out) {
    char why[KEEL_TENSOR_TEXT];
    if (!header.size || header.size > SAFETENSORS_HEADER || header.data[0] != '{')
        return corrupt(from, "", "it is not a safetensors file");
    json_t *object = parse_object(header, why);
    if (!object) return corrupt(from, "the header", why);
    keel_status_t status = read_tensors(from, object, data_size, out);
    json_decref(object);
    KEEL_TRY(status);
    if (out->tensors.count)
        qsort(out->tensors.data, out->tensors.count, sizeof *out->tensors.data, by_place);
    return check_places(from, data_size, out);
}

keel_status_t safetensors_read(const keel_input_file_t *reading, safetensors_t *out) {
    uint8_t length[SAFETENSORS_LENGTH];
    void *header;
    if (reading->size < sizeof length)
        return corrupt(reading->path, "", "it is not a safetensors file");
    KEEL_TRY(keel_input_file_read(reading, 0, length, sizeof length));
    uint64_t size = keel_load_u64(length);
    if (size > SAFETENSORS_HEADER || size > reading->size - sizeof length)
        return corrupt(reading->path, "", "it is not a safetensors file, or was cut");
    KEEL_TRY(keel_alloc(size, &header));
    keel_status_t status = keel_input_file_read(reading, sizeof length, header, size);
    out->data_begin = sizeof length + size;
    if (!status)
        status = safetensors_parse(reading->path, keel_bytes(header, size),
                                   reading->size - out->data_begin, out);
    keel_free(header);
    return status;
}

// ---- writing -----------------------------------------------------------------------------------

static int by_alignment(const void *x, const void *y) {
    const stored_t *a = x, *b = y;
    size_t size = keel_dtype_size(a->dtype), other = keel_dtype_size(b->dtype);
    if (size != other) return size > other ? -1 : 1;
    return keel_str_compare(a->name, b->name);
}

void safetensors_place(stored_t *tensors, size_t count) {
    uint64_t at = 0, bytes;
    if (count) qsort(tensors, count, sizeof *tensors, by_alignment);
    for (size_t i = 0; i < count; ++i) {
        tensors[i].begin = at;
        if (keel_tensor_bytes(tensors[i].dtype, &tensors[i].shape, &bytes)) at += bytes;
        tensors[i].end = at;
    }
}

static void write_tensor(keel_json_t *json, const stored_t *stored) {
    keel_json_key(json, stored->name);
    keel_json_object(json, NULL);
    keel_json_string(json, "dtype", dtype_names[stored->dtype]);
    keel_json_array(json, "shape");
    for (int32_t i = 0; i < stored->shape.rank; ++i)
        keel_json_int(json, NULL, stored->shape.dims[i]);
    keel_json_end_array(json);
    keel_json_array(json, "data_offsets");
    keel_json_unsigned(json, NULL, stored->begin);
    keel_json_unsigned(json, NULL, stored->end);
    keel_json_end_array(json);
    keel_json_end_object(json);
}

void safetensors_write(const stored_t *tensors, size_t count, keel_buffer_t *out) {
    const size_t begin = out->size;
    keel_buffer_u64(out, 0);
    keel_json_t json = keel_json(out, KEEL_JSON_COMPACT);
    keel_json_object(&json, NULL);
    for (size_t i = 0; i < count; ++i)
        write_tensor(&json, &tensors[i]);
    keel_json_end_object(&json);
    while ((out->size - begin) % 8 && !out->failed)
        keel_buffer_byte(out, ' ');
    if (out->failed) return;
    uint64_t size = out->size - begin - SAFETENSORS_LENGTH;
    for (int i = 0; i < SAFETENSORS_LENGTH; ++i)
        out->data[begin + (size_t)i] = (uint8_t)(size >> 8 * i);
}

// ---- the index ---------------------------------------------------------------------------------

void safetensors_index_initialize(safetensors_index_t *index) {
    *index = (safetensors_index_t){0};
    keel_arena_initialize(&index->arena, 0);
}

void safetensors_index_deinitialize(safetensors_index_t *index) {
    keel_free(index->tensors.data);
    keel_arena_deinitialize(&index->arena);
    *index = (safetensors_index_t){0};
}

static bool is_file_name(const json_t *text) {
    const char *name = json_string_value(text);
    return name && *name && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

static keel_status_t read_index(const char *from, json_t *index, safetensors_index_t *out) {
    const char *name;
    json_t *file, *map = json_object_get(index, "weight_map");
    if (!json_is_object(map)) return corrupt(from, "", "there is no weight_map");
    json_object_foreach(map, name, file) {
        indexed_t indexed;
        if (!is_file_name(file)) return corrupt(from, name, "is in no file of the same folder");
        KEEL_TRY(keel_arena_str(&out->arena, keel_str(name), &indexed.name));
        KEEL_TRY(keep_text(&out->arena, file, &indexed.file));
        KEEL_PUSH(&out->tensors, indexed);
    }
    return NULL;
}

keel_status_t safetensors_index_parse(const char *from, keel_bytes_t bytes,
                                      safetensors_index_t *out) {
    char why[KEEL_TENSOR_TEXT];
    json_t *index = parse_object(bytes, why);
    if (!index) return corrupt(from, "the index", why);
    keel_status_t status = read_index(from, index, out);
    json_decref(index);
    return status;
}
