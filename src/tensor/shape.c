#include "tensor/trace.h"

static const struct {
    const char *text;
    size_t size;
} dtypes[] = {
#define DTYPE(name, text, bytes) {text, bytes},
    KEEL_DTYPES(DTYPE)
#undef DTYPE
};

const char *keel_dtype_text(keel_dtype_t dtype) {
    return (unsigned)dtype < KEEL_DTYPE_COUNT ? dtypes[dtype].text : "";
}

size_t keel_dtype_size(keel_dtype_t dtype) {
    return (unsigned)dtype < KEEL_DTYPE_COUNT ? dtypes[dtype].size : 0;
}

const char *shape_text(keel_dtype_t dtype, const keel_shape_t *shape, char out[SHAPE_TEXT]) {
    size_t used = (size_t)snprintf(out, SHAPE_TEXT, "%s[", keel_dtype_text(dtype));
    for (int32_t i = 0; i < shape->rank && i < KEEL_MAX_RANK; ++i)
        used += (size_t)snprintf(out + used, SHAPE_TEXT - used, i ? ",%lld" : "%lld",
                                 (long long)shape->dims[i]);
    snprintf(out + used, SHAPE_TEXT - used, "]");
    return out;
}

bool shape_elements(const keel_shape_t *shape, int64_t *out) {
    bool is_empty = false;
    *out = 1;
    if (shape->rank < 0 || shape->rank > KEEL_MAX_RANK) return false;
    for (int32_t i = 0; i < shape->rank; ++i) {
        if (shape->dims[i] < 0) return false;
        if (shape->dims[i] == 0)
            is_empty = true;
        else if (__builtin_mul_overflow(*out, shape->dims[i], out))
            return false;
    }
    int64_t bytes; // of the largest dtype
    if (__builtin_mul_overflow(*out, (int64_t)ELEMENT_BYTES, &bytes)) return false;
    if (is_empty) *out = 0;
    return true;
}

bool shape_equal(const keel_shape_t *x, const keel_shape_t *y) {
    return x->rank == y->rank && !memcmp(x->dims, y->dims, (size_t)x->rank * sizeof *x->dims);
}

bool shape_broadcast(const keel_shape_t *x, const keel_shape_t *y, keel_shape_t *out) {
    *out = (keel_shape_t){.rank = x->rank > y->rank ? x->rank : y->rank};
    for (int32_t i = 0; i < out->rank; ++i) {
        int32_t from_x = x->rank - 1 - i, from_y = y->rank - 1 - i;
        int64_t a = from_x < 0 ? 1 : x->dims[from_x], b = from_y < 0 ? 1 : y->dims[from_y];
        if (a != b && a != 1 && b != 1) return false;
        out->dims[out->rank - 1 - i] = a == 1 ? b : a;
    }
    return true;
}

keel_shape_t shape_stacked(const keel_shape_t *shape, int64_t size) {
    keel_shape_t out = {.rank = shape->rank + 1, .dims = {size}};
    memcpy(out.dims + 1, shape->dims, (size_t)shape->rank * sizeof *shape->dims);
    return out;
}

bool dtype_is_float(keel_dtype_t dtype) {
    return dtype >= KEEL_F8E4M3FN && dtype <= KEEL_F64;
}

bool dtype_is_complex(keel_dtype_t dtype) {
    return dtype == KEEL_C64 || dtype == KEEL_C128;
}

bool dtype_has_gradient(keel_dtype_t dtype) {
    return dtype_is_float(dtype) || dtype_is_complex(dtype);
}

keel_dtype_t dtype_real(keel_dtype_t dtype) {
    return dtype == KEEL_C64 ? KEEL_F32 : dtype == KEEL_C128 ? KEEL_F64 : dtype;
}

bool dtype_is_integer(keel_dtype_t dtype) {
    return dtype > KEEL_BOOL && dtype < KEEL_F8E4M3FN;
}

static bool is_signed(keel_dtype_t dtype) {
    return dtype < KEEL_U8;
}

bool dtype_promote(keel_dtype_t x, keel_dtype_t y, keel_dtype_t *out) {
    keel_dtype_t small = x < y ? x : y, large = x < y ? y : x;
    *out = large;
    if (small == large) return true;
    if (small == KEEL_BOOL) return dtype_is_integer(large);
    if (dtype_is_float(small) != dtype_is_float(large)) return false;
    if (dtype_is_complex(large)) return dtype_is_complex(small);
    // Neither of bf16 and f16 contains the other, nor do the two f8.
    if (dtype_is_float(large))
        return large >= KEEL_F32 || (large >= KEEL_BF16 && small < KEEL_BF16);
    return is_signed(small) == is_signed(large);
}

bool axis_resolve(int64_t axis, int32_t rank, int32_t *out) {
    if (axis < -rank || axis >= rank) return false;
    *out = (int32_t)(axis < 0 ? axis + rank : axis);
    return true;
}

bool axes_resolve(const keel_axes_t *axes, int32_t rank, int32_t out[KEEL_MAX_RANK]) {
    bool seen[KEEL_MAX_RANK] = {false};
    if (axes->count < 0 || axes->count > rank) return false;
    for (int32_t i = 0; i < axes->count; ++i) {
        int32_t axis;
        if (!axis_resolve(axes->items[i], rank, &axis) || seen[axis]) return false;
        seen[axis] = true;
    }
    for (int32_t axis = 0, count = 0; axis < rank; ++axis)
        if (seen[axis]) out[count++] = axis;
    return true;
}
