// What other rooms need of a context.
#include "tensor/tensor.h"
#include "tensor/trace.h"

keel_tensor_t keel_tensor_fail(keel_context_t *context, keel_caller_t site, keel_status_t status) {
    return status ? context_take(context, site, status) : (keel_tensor_t){0};
}

keel_status_t keel_tensor_annotate(keel_caller_t site, keel_status_t status) {
    return status ? keel_status_annotate(status, "%s:%d", caller_file(site), site.line) : NULL;
}

_Static_assert((int)KEEL_TENSOR_TEXT == (int)SHAPE_TEXT, "one room for a text");

const char *keel_tensor_text(keel_dtype_t dtype, const keel_shape_t *shape,
                             char out[KEEL_TENSOR_TEXT]) {
    return shape_text(dtype, shape, out);
}

bool keel_tensor_bytes(keel_dtype_t dtype, const keel_shape_t *shape, uint64_t *out) {
    int64_t elements;
    if ((unsigned)dtype >= KEEL_DTYPE_COUNT || shape->rank < 0 || shape->rank > KEEL_MAX_RANK ||
        !shape_elements(shape, &elements))
        return false;
    return !__builtin_mul_overflow((uint64_t)elements, keel_dtype_size(dtype), out);
}

bool keel_tensor_same_shape(const keel_shape_t *x, const keel_shape_t *y) {
    return shape_equal(x, y);
}

bool keel_tensor_is_float(keel_dtype_t dtype) {
    return dtype_is_float(dtype);
}

void keel_tensor_encode(keel_dtype_t dtype, double value, void *out) {
    number_encode(dtype, value, out);
}

bool keel_tensor_is_variable(keel_tensor_t tensor) {
    return context_variable(tensor);
}

keel_bytes_t keel_tensor_newest(const keel_context_t *context) {
    return context ? keel_buffer_bytes(&context->newest) : keel_bytes(NULL, 0);
}

bool keel_tensor_is_step_open(const keel_context_t *context) {
    return context->trace.nodes.count || context->assigned.count || context->error;
}

static keel_status_t no_variable(const char *what) {
    return keel_status_make(KEEL_INVALID, "%s: no variable, or it was released", what);
}

keel_status_t keel_tensor_write(keel_tensor_t tensor, const void *data) {
    PJRT_Buffer *buffer;
    variable_t *variable = context_variable(tensor);
    if (!variable) return no_variable("write");
    if (keel_tensor_is_step_open(tensor.context))
        return keel_status_make(KEEL_INVALID, "write: end the open step first");
    const keel_shape_t shape = tensor.context->shapes.data[variable->shape];
    KEEL_TRY(device_send(tensor.context->device, variable->dtype, &shape, data, &buffer));
    device_drop(tensor.context->device, variable->buffer);
    variable->buffer = buffer;
    return NULL;
}

keel_status_t keel_tensor_value(keel_tensor_t tensor, keel_tensor_value_t *out) {
    const variable_t *variable = context_variable(tensor);
    if (!variable) return no_variable("value");
    if (!variable->buffer)
        return keel_status_make(KEEL_INVALID, "%s has no value yet",
                                variable->name ? variable->name : "a kept tensor");
    *out = (keel_tensor_value_t){tensor.context->device, variable->buffer};
    return NULL;
}

keel_status_t keel_tensor_fetch(keel_tensor_value_t value, void *data, size_t size) {
    return device_receive(value.device, value.buffer, data, size);
}
