// What other rooms need of a context.
#include "tensor/tensor.h"
#include "tensor/trace.h"

keel_tensor_t keel_tensor_fail(keel_context_t *context, keel_caller_t site, keel_status_t status) {
    return status ? context_take(context, site, status) : (keel_tensor_t){0};
}

keel_status_t keel_tensor_swap_error(keel_context_t *context, keel_status_t error) {
    keel_status_t before = context->error;
    context->error = error;
    return before;
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

bool keel_tensor_is_complex(keel_dtype_t dtype) {
    return dtype_is_complex(dtype);
}

bool keel_tensor_encode(keel_dtype_t dtype, double value, void *out) {
    number_encode(dtype, value, out);
    return number_fits(dtype, value);
}

bool keel_tensor_is_variable(keel_tensor_t tensor) {
    return context_variable(tensor);
}

keel_bytes_t keel_tensor_newest(const keel_context_t *context) {
    return context ? keel_buffer_bytes(&context->newest) : keel_bytes(NULL, 0);
}

uint32_t keel_tensor_step(const keel_context_t *context) {
    return context->step;
}

bool keel_tensor_is_step_open(const keel_context_t *context) {
    return context->trace.nodes.count || context->assigned.count || context->error;
}

static keel_status_t no_variable(const char *what) {
    return keel_status_make(KEEL_INVALID, "%s: no variable, or it was released", what);
}

keel_status_t keel_tensor_check_spec(keel_caller_t site, keel_context_t *context, const char *what,
                                     const keel_spec_t *spec, keel_dtype_t dtype,
                                     const keel_shape_t *shape) {
    keel_status_t before = context->error;
    uint32_t sharding;
    context->error = NULL;
    context->site = site;
    (void)mesh_resolve(context, what, spec, dtype, shape, &sharding);
    keel_status_t status = context->error;
    context->error = before;
    return status;
}

void keel_tensor_place_like(keel_tensor_t tensor, keel_tensor_t like) {
    variable_t *variable = context_variable(tensor);
    const variable_t *model = context_variable(like);
    if (variable && model && variable->shape == model->shape && !variable->buffers[0])
        variable->sharding = model->sharding;
}

keel_status_t keel_tensor_write(keel_tensor_t tensor, const void *data) {
    variable_t *variable = context_variable(tensor);
    if (!variable) return no_variable("write");
    if (keel_tensor_is_step_open(tensor.context))
        return keel_status_make(KEEL_INVALID, "write: end the open step first");
    keel_context_t *context = tensor.context;
    const layout_t layout = {variable->dtype, &context->shapes.data[variable->shape],
                             &context->shardings.data[variable->sharding]};
    KEEL_TRY(device_send(context->device, &layout, data, context->room));
    context_fill(context, variable, context->room);
    return NULL;
}

keel_status_t keel_tensor_value(keel_tensor_t tensor, keel_tensor_value_t *out) {
    const variable_t *variable = context_variable(tensor);
    if (!variable) return no_variable("value");
    if (!variable->buffers[0])
        return keel_status_make(KEEL_INVALID, "%s has no value yet",
                                variable->name ? variable->name : "a kept tensor");
    *out = (keel_tensor_value_t){.device = tensor.context->device,
                                 .buffers = variable->buffers,
                                 .dtype = variable->dtype,
                                 .shape = tensor.context->shapes.data[variable->shape]};
    memcpy(out->sharding, tensor.context->shardings.data[variable->sharding].dims,
           sizeof out->sharding);
    return NULL;
}

keel_status_t keel_tensor_fetch(keel_caller_t site, keel_tensor_value_t value, void *data,
                                size_t size) {
    sharding_t sharding;
    uint64_t expected = 0;
    memcpy(sharding.dims, value.sharding, sizeof sharding.dims);
    const layout_t layout = {value.dtype, &value.shape, &sharding};
    if (!keel_tensor_bytes(value.dtype, &value.shape, &expected) || size != expected)
        return keel_status_make(KEEL_INVALID, "fetch: there is room for %zu bytes of %llu", size,
                                (unsigned long long)expected);
    if (!size) return NULL;
    device_at(&site);
    keel_status_t status = device_receive(value.device, &layout, value.buffers, data);
    device_at(NULL);
    return status;
}
