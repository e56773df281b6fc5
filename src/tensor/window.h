// Windows that move over the dimensions of a tensor: convolutions and reductions have them.
#ifndef KEEL_TENSOR_WINDOW_H_
#define KEEL_TENSOR_WINDOW_H_

#include "tensor/emit.h"

// Along one dimension, as words of a node.
typedef struct window_t {
    int64_t stride, before, after, dilation, x_dilation;
} window_t;
enum { WINDOW_WORDS = sizeof(window_t) / sizeof(int64_t) };

// With gaps between the elements.
int64_t window_dilated(int64_t size, int64_t dilation);
// Of `x` elements, a window of `size`.
bool window_is_good(const window_t *window, int64_t x, int64_t size);
// How often it fits.
int64_t window_count(const window_t *window, int64_t x, int64_t size);
// The window that spreads each element of a gradient over the `x` elements that it was computed of.
window_t window_back(const window_t *window, int64_t x, int64_t size, int64_t gradient);
// 0 is the default of some options.
static inline int64_t window_or_one(int64_t value) {
    return value ? value : 1;
}

keel_status_t emit_window(emitter_t *e, fields_t *fields, const window_t *windows,
                          const int64_t *sizes, int32_t count) KEEL_MUST_CHECK;

#endif // KEEL_TENSOR_WINDOW_H_
