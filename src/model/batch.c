// Host arrays as inputs of declared shapes. Every field is an input in every step, in the order of
// the declaration, whatever was given: so all batches are one trace.
#include "model/model.h"

#include <stdio.h>

typedef struct field_t {
    keel_field_t declared;
    char *name, *mask_name, *axes[KEEL_MAX_RANK];
    uint64_t bytes;
    uint8_t *room, *mask_room;      // a whole field and mask, to fill
    const keel_host_array_t *given; // of the batch at hand; NULL: absent
    keel_tensor_t tensor, mask;     // of the step
} field_t;

struct keel_batch_t {
    keel_context_t *context;
    size_t count;
    field_t *fields;
};

// ---- life --------------------------------------------------------------------------------------

static field_t *find_field(const keel_batch_t *batch, const char *name) {
    for (size_t i = 0; name && i < batch->count; ++i)
        if (!strcmp(batch->fields[i].name, name)) return &batch->fields[i];
    return NULL;
}

static keel_shape_t mask_shape(const keel_field_t *field) {
    keel_shape_t shape = field->shape;
    shape.rank = field->mask_rank;
    return shape;
}

static keel_status_t make_field(const keel_batch_t *batch, const keel_field_t *declared,
                                field_t *out) {
    char text[KEEL_TENSOR_TEXT];
    uint8_t element[KEEL_TENSOR_ELEMENT];
    void *memory;
    if (!declared->name || !*declared->name)
        return keel_status_make(KEEL_INVALID, "batch: a field has no name");
    if (find_field(batch, declared->name))
        return keel_status_make(KEEL_INVALID, "batch: %s is declared twice", declared->name);
    if (!keel_tensor_bytes(declared->dtype, &declared->shape, &out->bytes))
        return keel_status_make(KEEL_INVALID, "batch: %s has an impossible dtype or shape",
                                declared->name);
    if (!keel_tensor_encode(declared->dtype, declared->fill, element))
        return keel_status_make(KEEL_INVALID, "batch: %s is filled with %g, which %s cannot hold",
                                declared->name, declared->fill, keel_dtype_text(declared->dtype));
    if (declared->mask_rank < 0 || declared->mask_rank > declared->shape.rank)
        return keel_status_make(
            KEEL_INVALID, "batch: %s is %s, and its mask has %d axes", declared->name,
            keel_tensor_text(declared->dtype, &declared->shape, text), declared->mask_rank);
    if (declared->spec.count < 0 || declared->spec.count > declared->shape.rank)
        return keel_status_make(
            KEEL_INVALID, "batch: %s is %s, and its spec has %d dimensions", declared->name,
            keel_tensor_text(declared->dtype, &declared->shape, text), declared->spec.count);
    out->declared = *declared;
    for (int32_t i = 0; i < declared->spec.count; ++i) {
        if (!declared->spec.dims[i]) continue;
        KEEL_TRY(keel_strdup(keel_str(declared->spec.dims[i]), &out->axes[i]));
        out->declared.spec.dims[i] = out->axes[i];
    }
    KEEL_TRY(keel_strdup(keel_str(declared->name), &out->name));
    KEEL_TRY(keel_path(&out->mask_name, "%s.mask", declared->name));
    KEEL_TRY(keel_alloc(out->bytes, &memory));
    out->room = memory;
    if (!declared->mask_rank) return NULL;
    const keel_shape_t shape = mask_shape(declared);
    uint64_t bytes = 0;
    keel_tensor_bytes(KEEL_BOOL, &shape, &bytes);
    KEEL_TRY(keel_alloc(bytes, &memory));
    out->mask_room = memory;
    return NULL;
}

static keel_status_t fill(keel_batch_t *batch, const keel_field_t *fields, size_t count) {
    void *memory;
    KEEL_TRY(keel_calloc(count, sizeof(field_t), &memory));
    batch->fields = memory;
    for (size_t i = 0; i < count; ++i) {
        keel_status_t status = make_field(batch, &fields[i], &batch->fields[i]);
        ++batch->count; // what there is of it is freed
        KEEL_TRY(status);
    }
    return NULL;
}

static keel_status_t check_specs(keel_caller_t site, const keel_batch_t *batch) {
    for (size_t i = 0; i < batch->count; ++i) {
        const keel_field_t *declared = &batch->fields[i].declared;
        char what[128];
        snprintf(what, sizeof what, "batch: %s", declared->name);
        KEEL_TRY(keel_tensor_check_spec(site, batch->context, what, &declared->spec,
                                        declared->dtype, &declared->shape));
    }
    return NULL;
}

keel_status_t keel_batch_create_at(keel_caller_t site, keel_context_t *context,
                                   const keel_field_t *fields, size_t count, keel_batch_t **out) {
    void *memory;
    if (!out || !context || !fields || !count)
        return keel_tensor_annotate(
            site,
            keel_status_make(KEEL_INVALID, "batch: no context, no fields, or no place for it"));
    *out = NULL;
    KEEL_TRY(keel_calloc(1, sizeof(keel_batch_t), &memory));
    keel_batch_t *batch = memory;
    batch->context = context;
    keel_status_t status = keel_tensor_annotate(site, fill(batch, fields, count));
    if (!status) status = check_specs(site, batch);
    if (status)
        keel_batch_free(batch);
    else
        *out = batch;
    return status;
}

void keel_batch_free(keel_batch_t *batch) {
    if (!batch) return;
    for (size_t i = 0; i < batch->count; ++i) {
        const field_t *field = &batch->fields[i];
        void *const parts[] = {field->name, field->mask_name, field->room, field->mask_room};
        for (size_t part = 0; part < sizeof parts / sizeof *parts; ++part)
            keel_free(parts[part]);
        for (int32_t axis = 0; axis < KEEL_MAX_RANK; ++axis)
            keel_free(field->axes[axis]);
    }
    keel_free(batch->fields);
    keel_free(batch);
}

// ---- what was given ----------------------------------------------------------------------------

// The axis along which it is too long; -1: none.
static int find_long_axis(const keel_shape_t *given, const keel_shape_t *declared) {
    for (int32_t i = 0; i < declared->rank; ++i)
        if (given->dims[i] > declared->dims[i]) return i;
    return -1;
}

static void say(keel_buffer_t *wrong, const char *name) {
    keel_buffer_text(wrong, wrong->size ? "; " : "batch: ");
    keel_buffer_text(wrong, name ? name : "an array without a name");
}

static void say_shapes(keel_buffer_t *wrong, const keel_host_array_t *array,
                       const keel_field_t *field) {
    char given[KEEL_TENSOR_TEXT], declared[KEEL_TENSOR_TEXT];
    say(wrong, array->name);
    keel_buffer_format(
        wrong, " is %s, and declared as %s: ", keel_tensor_text(array->dtype, &array->shape, given),
        keel_tensor_text(field->dtype, &field->shape, declared));
}

static void check_array(keel_buffer_t *wrong, const keel_host_array_t *array,
                        const keel_field_t *field) {
    int axis;
    if (array->dtype != field->dtype) {
        say_shapes(wrong, array, field);
        keel_buffer_text(wrong, "a different dtype");
    } else if (array->shape.rank != field->shape.rank) {
        say_shapes(wrong, array, field);
        keel_buffer_text(wrong, "a different number of axes");
    } else if ((axis = find_long_axis(&array->shape, &field->shape)) >= 0) {
        say_shapes(wrong, array, field);
        keel_buffer_format(wrong, "axis %d is too long", axis);
    } else if (!array->data) {
        say(wrong, array->name);
        keel_buffer_text(wrong, " has no data");
    }
}

// Notes which array is which field.
static void sort_array(keel_batch_t *batch, keel_buffer_t *wrong, const keel_host_array_t *array) {
    uint64_t bytes;
    field_t *field = find_field(batch, array->name);
    if (!field) {
        say(wrong, array->name);
        keel_buffer_text(wrong, " is not a field; the fields are");
        for (size_t i = 0; i < batch->count; ++i)
            keel_buffer_format(wrong, "%s %s", i ? "," : "", batch->fields[i].name);
        return;
    }
    if (!keel_tensor_bytes(array->dtype, &array->shape, &bytes)) {
        say(wrong, array->name);
        keel_buffer_text(wrong, " has an impossible dtype or shape");
    } else if (field->given) {
        say(wrong, array->name);
        keel_buffer_text(wrong, " is there twice");
    } else if (bytes) {
        check_array(wrong, array, &field->declared);
        field->given = array;
    }
}

static keel_status_t sort_all(keel_batch_t *batch, const keel_host_array_t *arrays, size_t count) {
    char text[KEEL_TENSOR_TEXT];
    keel_buffer_t wrong;
    keel_buffer_initialize(&wrong, 1 << 16);
    for (size_t i = 0; i < batch->count; ++i)
        batch->fields[i].given = NULL;
    for (size_t i = 0; arrays && i < count; ++i)
        sort_array(batch, &wrong, &arrays[i]);
    for (size_t i = 0; i < batch->count; ++i) {
        const keel_field_t *field = &batch->fields[i].declared;
        if (!field->is_required || batch->fields[i].given) continue;
        say(&wrong, batch->fields[i].name);
        keel_buffer_format(&wrong, " is required as %s, and nothing was given",
                           keel_tensor_text(field->dtype, &field->shape, text));
    }
    keel_status_t status = keel_buffer_status(&wrong);
    if (!status && wrong.size)
        status = keel_status_make(KEEL_INVALID, "%s", keel_buffer_cstr(&wrong));
    keel_buffer_deinitialize(&wrong);
    return status;
}

// ---- filling -----------------------------------------------------------------------------------

static void fill_with(uint8_t *out, uint64_t bytes, const uint8_t *element, size_t size) {
    for (uint64_t at = 0; at < bytes; at += size)
        memcpy(out + at, element, size);
}

// Copies what the array has of the axes from `axis` on. Both spans are whole sub-arrays.
static void copy_axes(const keel_field_t *field, const keel_shape_t *given, int32_t axis,
                      uint8_t *out, uint64_t out_bytes, const uint8_t *in, uint64_t in_bytes) {
    bool is_whole = true;
    for (int32_t i = axis + 1; i < given->rank; ++i)
        is_whole = is_whole && given->dims[i] == field->shape.dims[i];
    if (axis >= given->rank || is_whole) {
        memcpy(out, in, in_bytes);
        return;
    }
    uint64_t out_step = out_bytes / (uint64_t)field->shape.dims[axis];
    uint64_t in_step = in_bytes / (uint64_t)given->dims[axis];
    for (int64_t i = 0; i < given->dims[axis]; ++i)
        copy_axes(field, given, axis + 1, out + (uint64_t)i * out_step, out_step,
                  in + (uint64_t)i * in_step, in_step);
}

// The bytes of the whole field: the array itself if nothing is missing.
static const void *whole_of(field_t *field) {
    const keel_field_t *declared = &field->declared;
    const keel_host_array_t *given = field->given;
    const size_t size = keel_dtype_size(declared->dtype);
    uint8_t element[KEEL_TENSOR_ELEMENT];
    uint64_t bytes;
    if (given && keel_tensor_same_shape(&given->shape, &declared->shape)) return given->data;
    keel_tensor_encode(declared->dtype, declared->fill, element);
    fill_with(field->room, field->bytes, element, size);
    if (given && keel_tensor_bytes(given->dtype, &given->shape, &bytes))
        copy_axes(declared, &given->shape, 0, field->room, field->bytes, given->data, bytes);
    return field->room;
}

static const void *mask_of(const field_t *field, const keel_shape_t *shape, uint64_t bytes) {
    static const uint8_t yes = 1;
    const keel_field_t mask = {.dtype = KEEL_BOOL, .shape = *shape};
    uint64_t given_bytes;
    memset(field->mask_room, 0, bytes);
    if (!field->given) return field->mask_room;
    // Trues in the given shape: they come first in the room of the field, which is larger.
    keel_shape_t given = field->given->shape;
    given.rank = shape->rank;
    if (!keel_tensor_bytes(KEEL_BOOL, &given, &given_bytes)) return field->mask_room;
    fill_with(field->room, given_bytes, &yes, 1);
    copy_axes(&mask, &given, 0, field->mask_room, bytes, field->room, given_bytes);
    return field->mask_room;
}

static void make_inputs(keel_caller_t site, const keel_batch_t *batch, field_t *field) {
    const keel_field_t *declared = &field->declared;
    keel_spec_t spec = declared->spec;
    field->tensor = keel_sharded_input_at(site, batch->context, field->name, declared->dtype,
                                          declared->shape, whole_of(field), spec);
    if (!declared->mask_rank) return;
    const keel_shape_t shape = mask_shape(declared);
    uint64_t bytes = 0;
    keel_tensor_bytes(KEEL_BOOL, &shape, &bytes);
    if (spec.count > shape.rank) spec.count = shape.rank;
    field->mask = keel_sharded_input_at(site, batch->context, field->mask_name, KEEL_BOOL, shape,
                                        mask_of(field, &shape, bytes), spec);
}

void keel_batch_next_at(keel_caller_t site, keel_batch_t *batch, const keel_host_array_t *arrays,
                        size_t count) {
    site = keel_tensor_part_of(site, "batch_next");
    if (!batch) return;
    for (size_t i = 0; i < batch->count; ++i)
        batch->fields[i].tensor = batch->fields[i].mask = (keel_tensor_t){0};
    keel_status_t status = sort_all(batch, arrays, count);
    if (status) {
        keel_tensor_fail(batch->context, site, status);
        return;
    }
    for (size_t i = 0; i < batch->count; ++i)
        make_inputs(site, batch, &batch->fields[i]);
}

static keel_tensor_t get(keel_caller_t site, const keel_batch_t *batch, const char *name,
                         bool is_mask) {
    const field_t *field = find_field(batch, name);
    if (field && (!is_mask || field->declared.mask_rank))
        return is_mask ? field->mask : field->tensor;
    return keel_tensor_fail(batch->context, site,
                            keel_status_make(KEEL_INVALID, "batch: there is no %s%s",
                                             is_mask ? "mask of " : "field ", name ? name : ""));
}

keel_tensor_t keel_batch_get_at(keel_caller_t site, keel_batch_t *batch, const char *name) {
    return batch ? get(site, batch, name, false) : (keel_tensor_t){0};
}

keel_tensor_t keel_batch_mask_at(keel_caller_t site, keel_batch_t *batch, const char *name) {
    return batch ? get(site, batch, name, true) : (keel_tensor_t){0};
}
