// What the tensor room offers to other rooms, beside include/keel/tensor.h.
//
// Threads: as include/keel/tensor.h, but for keel_tensor_fetch.
#ifndef KEEL_TENSOR_TENSOR_H_
#define KEEL_TENSOR_TENSOR_H_

#include "base/base.h"
#include "keel/tensor.h"

// Gives the context an error, with the caller's line in front, unless it has one. Takes `status`;
// NULL is allowed. Returns an empty tensor.
keel_tensor_t keel_tensor_fail(keel_context_t *context, keel_caller_t site, keel_status_t status);
// Gives the context another error, or none, and returns the one that it had; the caller owns it.
keel_status_t keel_tensor_swap_error(keel_context_t *context, keel_status_t error) KEEL_MUST_CHECK;
// The site for what an operation that is made of others calls: errors of these have its name, or
// that of an operation which it is a part of itself.
static inline keel_caller_t keel_tensor_part_of(keel_caller_t site, const char *operation) {
    if (!site.operation) site.operation = operation;
    return site;
}
// "mlp.c:41: ..." in front of the status.
keel_status_t keel_tensor_annotate(keel_caller_t site, keel_status_t status) KEEL_MUST_CHECK;

enum { KEEL_TENSOR_TEXT = 200, KEEL_TENSOR_ELEMENT = 16 }; // bytes of the largest dtype
// "f32[2,3]"
const char *keel_tensor_text(keel_dtype_t dtype, const keel_shape_t *shape,
                             char out[KEEL_TENSOR_TEXT]);
// False if there is no such dtype, or the shape is none, or its bytes overflow.
bool keel_tensor_bytes(keel_dtype_t dtype, const keel_shape_t *shape, uint64_t *out);
bool keel_tensor_same_shape(const keel_shape_t *x, const keel_shape_t *y);
bool keel_tensor_is_float(keel_dtype_t dtype);
bool keel_tensor_is_complex(keel_dtype_t dtype);
// Writes a host number as one element of the dtype. False if the dtype does not have it.
bool keel_tensor_encode(keel_dtype_t dtype, double value, void *out);
// keel_number_at where no tensor of the dtype is at hand.
keel_tensor_t keel_tensor_number(keel_caller_t site, keel_context_t *context, keel_dtype_t dtype,
                                 double value, const char *name);
// Whether it is a variable or a kept tensor that was not released.
bool keel_tensor_is_variable(keel_tensor_t tensor);

// The HLO of the newest program; empty if there is none. Lives until the next one.
keel_bytes_t keel_tensor_newest(const keel_context_t *context);
// The number of the open step; another one for each.
uint32_t keel_tensor_step(const keel_context_t *context);
// Whether the open step has traced or assigned anything.
bool keel_tensor_is_step_open(const keel_context_t *context);

// Whether such a tensor can be split so: NULL, or what the operation `what` would say, with the
// caller's line.
keel_status_t keel_tensor_check_spec(keel_caller_t site, keel_context_t *context, const char *what,
                                     const keel_spec_t *spec, keel_dtype_t dtype,
                                     const keel_shape_t *shape) KEEL_MUST_CHECK;
// Keeps a copy of a variable, split as it is, so that it needs no more memory than that. If other
// processes have parts of it, the copy is whole on each device: nobody could read it otherwise.
keel_tensor_t keel_tensor_copy(keel_caller_t site, keel_tensor_t variable);
// Splits a variable that has no value yet as `like`, one of the same shape.
void keel_tensor_place_like(keel_tensor_t variable, keel_tensor_t like);
// Replaces the value of a variable by all its elements in row-major order, which are copied. Not
// while a step is open.
keel_status_t keel_tensor_write(keel_tensor_t variable, const void *data) KEEL_MUST_CHECK;

// The value of a variable between two steps, for a thread other than the context's: it is there
// until the variable is assigned, written or released.
typedef struct keel_tensor_value_t {
    struct device_t *device;
    struct PJRT_Buffer *const *buffers; // of each device
    keel_dtype_t dtype;
    keel_shape_t shape;
    uint32_t sharding[KEEL_MAX_RANK];
} keel_tensor_value_t;

// Fails if it has no value.
keel_status_t keel_tensor_value(keel_tensor_t variable, keel_tensor_value_t *out) KEEL_MUST_CHECK;
// Waits for it, as a read of the user's line `site`. Any thread.
keel_status_t keel_tensor_fetch(keel_caller_t site, keel_tensor_value_t value, void *data,
                                size_t size) KEEL_MUST_CHECK;

#endif // KEEL_TENSOR_TENSOR_H_
