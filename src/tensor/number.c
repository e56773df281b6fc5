// Host numbers as elements of a dtype.
#include <float.h>
#include <math.h>

#include "tensor/trace.h"

// Exponent and mantissa of the small floats; the sign is one bit more. F8E4M3FN has no infinity.
typedef struct float_form_t {
    int exponent, mantissa;
    bool is_finite;
} float_form_t;

// The bits of its largest number.
static uint32_t largest_of(float_form_t form) {
    uint32_t all = ((1u << form.exponent) - 1) << form.mantissa; // the exponent of infinity
    return form.is_finite ? (all | ((1u << form.mantissa) - 1)) - 1 : all - 1;
}

// Rounded to the nearest, ties to even. Infinity if it is too large, NaN if there is none.
static uint32_t narrow(double value, float_form_t form) {
    uint32_t sign = signbit(value) ? 1u << (form.exponent + form.mantissa) : 0;
    int bias = (1 << (form.exponent - 1)) - 1;
    uint32_t all = ((1u << form.exponent) - 1) << form.mantissa; // the exponent of infinity
    uint32_t largest = largest_of(form);
    uint32_t above = form.is_finite ? largest + 1 : all;
    if (isnan(value)) return sign | (form.is_finite ? above : all | 1u << (form.mantissa - 1));
    double size = fabs(value);
    if (size == 0) return sign;
    if (isinf(size)) return sign | above;
    int exponent;
    frexp(size, &exponent); // size < 2^exponent
    int step = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    // Units in the last place; a carry goes into the exponent as it should.
    double units = nearbyint(ldexp(size, form.mantissa - step));
    double bits = units + ldexp((double)(step + bias - 1), form.mantissa);
    if (bits > (double)largest) return sign | above;
    return sign | (uint32_t)bits;
}

static int64_t clamp_signed(double value, int bits) {
    double limit = ldexp(1, bits - 1);
    if (isnan(value)) return 0;
    if (value >= limit) return bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
    if (value <= -limit) return bits == 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1));
    return (int64_t)value;
}

static uint64_t clamp_unsigned(double value, int bits) {
    if (isnan(value) || value <= 0) return 0;
    if (value >= ldexp(1, bits)) return UINT64_MAX >> (64 - bits);
    return (uint64_t)value;
}

static const float_form_t bf16 = {8, 7, false}, f16 = {5, 10, false}, f8e5m2 = {5, 2, false},
                          f8e4m3fn = {4, 3, true};

static const float_form_t *form_of(keel_dtype_t dtype) {
    switch (dtype) {
        case KEEL_BF16:
            return &bf16;
        case KEEL_F16:
            return &f16;
        case KEEL_F8E5M2:
            return &f8e5m2;
        case KEEL_F8E4M3FN:
            return &f8e4m3fn;
        default:
            return NULL;
    }
}

// What it rounds to is a number if it is one itself.
static bool float_fits(keel_dtype_t dtype, double value) {
    const float_form_t *form = form_of(dtype);
    if (isnan(value) || (isinf(value) && !(form && form->is_finite))) return true;
    if (form) return narrow(fabs(value), *form) <= largest_of(*form);
    return dtype_real(dtype) != KEEL_F32 || isfinite((float)value);
}

double number_lowest(keel_dtype_t dtype) {
    const float_form_t *form = form_of(dtype);
    if (form) {
        uint32_t bits = largest_of(*form);
        int bias = (1 << (form->exponent - 1)) - 1, exponent = (int)(bits >> form->mantissa) - bias;
        double units = (double)((bits & ((1u << form->mantissa) - 1)) | 1u << form->mantissa);
        return -ldexp(units, exponent - form->mantissa);
    }
    if (dtype == KEEL_F32) return -FLT_MAX;
    if (dtype == KEEL_F64) return -DBL_MAX;
    return dtype < KEEL_U8 ? -ldexp(1, 8 * (int)keel_dtype_size(dtype) - 1) : 0;
}

bool number_fits(keel_dtype_t dtype, double value) {
    int bits = 8 * (int)keel_dtype_size(dtype);
    if (dtype == KEEL_BOOL) return true;
    if (!dtype_is_integer(dtype)) return float_fits(dtype, value);
    // The largest of 64 bits is not a double, and what C makes of it is one more: it is meant.
    double above = ldexp(1, dtype < KEEL_U8 ? bits - 1 : bits),
           least = dtype < KEEL_U8 ? -above : 0;
    return value == trunc(value) && value >= least &&
           (value < above || (bits == 64 && value == above));
}

void number_encode(keel_dtype_t dtype, double value, void *out) {
    int bits = 8 * (int)keel_dtype_size(dtype);
    float single = (float)value;
    uint64_t number = 0;
    switch (dtype) {
        case KEEL_C64:
        case KEEL_C128:
            memset(out, 0, keel_dtype_size(dtype));
            number_encode(dtype_real(dtype), value, out);
            return;
        case KEEL_BOOL:
            number = value != 0;
            break;
        case KEEL_F32:
            memcpy(out, &single, sizeof single);
            return;
        case KEEL_F64:
            memcpy(out, &value, sizeof value);
            return;
        case KEEL_BF16:
        case KEEL_F16:
        case KEEL_F8E5M2:
        case KEEL_F8E4M3FN:
            number = narrow(value, *form_of(dtype));
            break;
        case KEEL_I8:
        case KEEL_I16:
        case KEEL_I32:
        case KEEL_I64:
            number = (uint64_t)clamp_signed(value, bits);
            break;
        case KEEL_U8:
        case KEEL_U16:
        case KEEL_U32:
        case KEEL_U64:
            number = clamp_unsigned(value, bits);
            break;
        case KEEL_DTYPE_COUNT:
            return;
    }
    memcpy(out, &number, keel_dtype_size(dtype)); // little-endian, as the model's bytes are
}
