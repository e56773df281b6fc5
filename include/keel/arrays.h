// Operations on the places of elements: gather and scatter, dynamic slices, sorting, scans along an
// axis. They follow the rules of keel/tensor.h. Axes may be negative; shapes are static, so what
// varies from step to step is an index or a mask, not a size.
#ifndef KEEL_ARRAYS_H_
#define KEEL_ARRAYS_H_

#include "keel/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- axes --------------------------------------------------------------------------------------

// A new axis of size 1, which is `axis` of the result.
#define keel_expand(...) keel_expand_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_expand_at(keel_caller_t site, keel_tensor_t x, int axis);
// Drops an axis of size 1.
#define keel_squeeze(...) keel_squeeze_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_squeeze_at(keel_caller_t site, keel_tensor_t x, int axis);
// Reductions whose axes stay, as axes of size 1, so that the result is broadcast to x again.
#define keel_sum_kept(...) keel_reduce_kept_at(KEEL_HERE, KEEL_OP_SUM, __VA_ARGS__)
#define keel_max_kept(...) keel_reduce_kept_at(KEEL_HERE, KEEL_OP_MAX, __VA_ARGS__)
#define keel_min_kept(...) keel_reduce_kept_at(KEEL_HERE, KEEL_OP_MIN, __VA_ARGS__)
KEEL_API keel_tensor_t keel_reduce_kept_at(keel_caller_t site, keel_reduce_op_t op, keel_tensor_t x,
                                           keel_axes_t axes);
#define keel_mean_kept(...) keel_mean_kept_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_mean_kept_at(keel_caller_t site, keel_tensor_t x, keel_axes_t axes);
// `count` parts of one size along `axis`, which they divide: `out` has that many tensors.
#define keel_split(...) keel_split_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_split_at(keel_caller_t site, keel_tensor_t x, int axis, size_t count,
                            keel_tensor_t *out);
// `count` tensors of one dtype and shape along a new axis, which is `axis` of the result.
#define keel_stack(...) keel_stack_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_stack_at(keel_caller_t site, const keel_tensor_t *x, size_t count,
                                     int axis);
// keel_pad with `value`, a scalar of the dtype of x, in the place of 0.
#define keel_pad_with(...) keel_pad_with_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_pad_with_at(keel_caller_t site, keel_tensor_t x, int axis,
                                        int64_t before, int64_t after, keel_tensor_t value);

// ---- functions ---------------------------------------------------------------------------------

// log(sum(exp(x))) over `axis`, which is dropped, without overflow; of floats, in f32 of small
// ones.
#define keel_logsumexp(...) keel_logsumexp_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_logsumexp_at(keel_caller_t site, keel_tensor_t x, int axis);
// log(1 + exp(x)), without overflow.
#define keel_softplus(...) keel_softplus_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_softplus_at(keel_caller_t site, keel_tensor_t x);
// min(max(x, low), high)
#define keel_clamp(...) keel_clamp_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_clamp_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t low,
                                     keel_tensor_t high);
// Rotary embedding: the halves a and b of the last axis of x [B, T, ..., h] become
// (a cos - b sin, b cos + a sin) of place * base^(-2i / h), in f32. `places`: [T] or [B, T],
// integers or floats; negative ones turn the other way. The base is a number.
#define keel_rope(...) keel_rope_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_rope_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t places,
                                    double base);

// An array that is a part of the program, such as a small table: other elements are another
// program. It is copied and compared in each step, so it has 64 KiB at most: keep what is larger in
// a variable.
#define keel_constant_array(...) keel_constant_array_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_constant_array_at(keel_caller_t site, keel_context_t *context,
                                              keel_dtype_t dtype, keel_shape_t shape,
                                              const void *data);

// ---- elements at indices -----------------------------------------------------------------------

// Indices are integers and are clamped to the axis: a negative one means the first element.

// x[.., n, ..] at indices[i, ..] along `axis` = [.., i, .., ..]. keel_take is this along axis 0.
#define keel_gather(...) keel_gather_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_gather_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t indices,
                                      int axis);
// An index for each element: the result has the shape of `indices`, which is that of x but for the
// size of `axis`.
#define keel_take_along(...) keel_take_along_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_take_along_at(keel_caller_t site, keel_tensor_t x,
                                          keel_tensor_t indices, int axis);

typedef enum keel_put_op {
    KEEL_PUT_SET, // if two indices are equal, one of their values is there, it is not said which
    KEEL_PUT_ADD,
    KEEL_PUT_COUNT,
} keel_put_op_t;

// x with values where keel_gather and keel_take_along read. `values` has the shape of what these
// give, or is broadcast to it, and the dtype of x.
#define keel_scatter(...) keel_scatter_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_scatter_at(keel_caller_t site, keel_put_op_t op, keel_tensor_t x,
                                       keel_tensor_t indices, keel_tensor_t values, int axis);
#define keel_put_along(...) keel_put_along_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_put_along_at(keel_caller_t site, keel_put_op_t op, keel_tensor_t x,
                                         keel_tensor_t indices, keel_tensor_t values, int axis);

// ---- parts of an axis --------------------------------------------------------------------------

// `size` elements along `axis` from `start` on, a scalar integer of the device; it is moved so that
// they fit.
#define keel_dynamic_slice(...) keel_dynamic_slice_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_dynamic_slice_at(keel_caller_t site, keel_tensor_t x, int axis,
                                             keel_tensor_t start, int64_t size);
// x with `values` there. A variable that is assigned the result is updated in place.
#define keel_dynamic_update(...) keel_dynamic_update_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_dynamic_update_at(keel_caller_t site, keel_tensor_t x, int axis,
                                              keel_tensor_t start, keel_tensor_t values);
// Every step-th element of [from, to) along `axis`.
#define keel_stride(...) keel_stride_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_stride_at(keel_caller_t site, keel_tensor_t x, int axis, int64_t from,
                                      int64_t to, int64_t step);
// The last element along each of these axes first.
#define keel_reverse(...) keel_reverse_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_reverse_at(keel_caller_t site, keel_tensor_t x, keel_axes_t axes);

// ---- order -------------------------------------------------------------------------------------

// Sorting is stable. -0 equals 0, and NaN is above everything.
typedef enum keel_order { KEEL_ASCENDING, KEEL_DESCENDING } keel_order_t;
enum { KEEL_SORT_LIMIT = 8 };

#define keel_sort(...) keel_sort_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_sort_at(keel_caller_t site, keel_tensor_t x, int axis,
                                    keel_order_t order);
// i32: the place that each element of keel_sort had.
#define keel_argsort(...) keel_argsort_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_argsort_at(keel_caller_t site, keel_tensor_t x, int axis,
                                       keel_order_t order);
// Up to KEEL_SORT_LIMIT tensors of one shape, all in the order of the first. `out`: `count` of
// them; `out_order`: i32, as keel_argsort gives it. Both may be NULL.
#define keel_sort_together(...) keel_sort_together_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_sort_together_at(keel_caller_t site, const keel_tensor_t *x, size_t count,
                                    int axis, keel_order_t order, keel_tensor_t *out,
                                    keel_tensor_t *out_order);
// The k largest elements along the last axis, the largest first, and their indices (i32); of equal
// ones the first. Both may be NULL.
#define keel_top_k(...) keel_top_k_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_top_k_at(keel_caller_t site, keel_tensor_t x, int64_t k, keel_tensor_t *out,
                            keel_tensor_t *out_indices);
// i32: where along `axis`, which is dropped, the first of the largest or smallest is; the first NaN
// if there is one.
#define keel_argmax(...) keel_argmax_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_argmax_at(keel_caller_t site, keel_tensor_t x, int axis);
#define keel_argmin(...) keel_argmin_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_argmin_at(keel_caller_t site, keel_tensor_t x, int axis);

// ---- scans along an axis -----------------------------------------------------------------------

// Makes `out` of x, what comes before, and y: `count` tensors each, of any size along the axis. It
// must be associative, and is called a logarithmic number of times.
typedef void (*keel_combine_t)(void *user, const keel_tensor_t *x, const keel_tensor_t *y,
                               keel_tensor_t *out);

// out[i] = x[0] o x[1] o ... o x[i] along `axis`; from the last one if is_reversed. Up to
// KEEL_SORT_LIMIT tensors of one size along the axis, in the dtypes and shapes of x.
#define keel_associative_scan(...) keel_associative_scan_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_associative_scan_at(keel_caller_t site, keel_combine_t combine, void *user,
                                       const keel_tensor_t *x, size_t count, int axis,
                                       int is_reversed, keel_tensor_t *out);
// With an operation that is associative: add, multiply, maximum, minimum, and, or, xor. Anything
// else is refused.
#define keel_cumulate(...) keel_cumulate_at(KEEL_HERE, __VA_ARGS__)
#define keel_cumsum(...) keel_cumulate_at(KEEL_HERE, KEEL_OP_ADD, __VA_ARGS__)
#define keel_cumprod(...) keel_cumulate_at(KEEL_HERE, KEEL_OP_MULTIPLY, __VA_ARGS__)
#define keel_cummax(...) keel_cumulate_at(KEEL_HERE, KEEL_OP_MAXIMUM, __VA_ARGS__)
#define keel_cummin(...) keel_cumulate_at(KEEL_HERE, KEEL_OP_MINIMUM, __VA_ARGS__)
KEEL_API keel_tensor_t keel_cumulate_at(keel_caller_t site, keel_binary_op_t op, keel_tensor_t x,
                                        int axis);
// log(exp(x[0]) + ... + exp(x[i])) along `axis`, of floats.
#define keel_cumlogsumexp(...) keel_cumlogsumexp_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_cumlogsumexp_at(keel_caller_t site, keel_tensor_t x, int axis);

// ---- windows -----------------------------------------------------------------------------------

// Over the last `count` dimensions of a tensor; for each of these, 0 is the default.
typedef struct keel_window_t {
    int32_t count;
    int64_t size[KEEL_MAX_RANK];     // elements; default 1
    int64_t stride[KEEL_MAX_RANK];   // from one window to the next; default 1
    int64_t before[KEEL_MAX_RANK];   // elements around x that count as nothing
    int64_t after[KEEL_MAX_RANK];    //
    int64_t dilation[KEEL_MAX_RANK]; // from one element of a window to the next; default 1
} keel_window_t;

// The sum, maximum or minimum of each window, of integers or floats: a dimension of n elements
// becomes one of (n + before + after - (dilation * (size - 1) + 1)) / stride + 1, rounded down, or
// 0. A window without elements gives what the reduction of nothing gives. The gradient of a maximum
// goes to the first of the largest elements; with dilation, it is refused.
#define keel_reduce_window(...) keel_reduce_window_at(KEEL_HERE, __VA_ARGS__)
#define keel_sum_pool(...) keel_reduce_window_at(KEEL_HERE, KEEL_OP_SUM, __VA_ARGS__)
#define keel_max_pool(...) keel_reduce_window_at(KEEL_HERE, KEEL_OP_MAX, __VA_ARGS__)
#define keel_min_pool(...) keel_reduce_window_at(KEEL_HERE, KEEL_OP_MIN, __VA_ARGS__)
KEEL_API keel_tensor_t keel_reduce_window_at(keel_caller_t site, keel_reduce_op_t op,
                                             keel_tensor_t x, const keel_window_t *window);
// The mean of the elements of x that each window has, without those around it; of floats.
#define keel_mean_pool(...) keel_mean_pool_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_mean_pool_at(keel_caller_t site, keel_tensor_t x,
                                         const keel_window_t *window);

// ---- products ----------------------------------------------------------------------------------

enum { KEEL_CONVOLUTION_DIMENSIONS = 6 };
// For each dimension in space; 0 is the default.
typedef struct keel_convolution_t {
    int64_t stride[KEEL_CONVOLUTION_DIMENSIONS];     // of w over x; default 1
    int64_t before[KEEL_CONVOLUTION_DIMENSIONS];     // zeros around x; negative: so much less of x
    int64_t after[KEEL_CONVOLUTION_DIMENSIONS];      //
    int64_t dilation[KEEL_CONVOLUTION_DIMENSIONS];   // from one element of w to the next; default 1
    int64_t x_dilation[KEEL_CONVOLUTION_DIMENSIONS]; // the same of x: a transposed convolution
    int64_t groups;                                  // of channels, each on its own; default 1
} keel_convolution_t;

// x [n, c, ...] and w [o, c / groups, ...] give [n, o, ...], with 1 to 6 dimensions in space. w is
// not reversed (it is a correlation). `options` may be NULL.
#define keel_convolution(...) keel_convolution_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_convolution_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t w,
                                           const keel_convolution_t *options);
// "bij,bjk->bik": a letter is an axis. What both have and the result has not is summed; so is what
// one has alone. A letter stands once in each.
#define keel_einsum(...) keel_einsum_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_einsum_at(keel_caller_t site, const char *axes, keel_tensor_t x,
                                      keel_tensor_t y);

// ---- bits --------------------------------------------------------------------------------------

// The same bits in a dtype of the same size.
#define keel_bitcast(...) keel_bitcast_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_bitcast_at(keel_caller_t site, keel_tensor_t x, keel_dtype_t dtype);
// bool: neither infinite nor NaN.
#define keel_is_finite(...) keel_is_finite_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_is_finite_at(keel_caller_t site, keel_tensor_t x);

// ---- functions of the plugin -------------------------------------------------------------------

typedef struct keel_call_result_t {
    keel_dtype_t dtype;
    keel_shape_t shape;
} keel_call_result_t;

typedef struct keel_custom_call_t {
    const char *target; // the name that the plugin knows
    const char *config; // its backend_config, as text; default: none
    const keel_call_result_t *results;
    size_t result_count;
    int is_ffi;          // of XLA's typed interface, not of the older one
    int has_side_effect; // it may not be merged with an equal one, or moved across another
} keel_custom_call_t;

// A function that the plugin brings along, or that was registered with it. It takes row-major
// operands and gives `out`: result_count tensors. Target and config are a part of the program. It
// has no gradient (give it one with keel_custom_gradient), and runs only if a result is used.
#define keel_custom_call(...) keel_custom_call_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_custom_call_at(keel_caller_t site, keel_context_t *context,
                                  const keel_custom_call_t *call, const keel_tensor_t *operands,
                                  size_t count, keel_tensor_t *out);

#ifdef __cplusplus
}
#endif

#endif // KEEL_ARRAYS_H_
