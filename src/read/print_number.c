#include "read/print_number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// What the all-ones exponent means.
typedef enum special {
    IEEE,     // infinities and NaNs
    FN,       // no infinity; NaN is all ones
    FNUZ,     // no infinity, no -0: its bits are the only NaN
    FINITE,   // no infinity, no NaN
    EXPONENT, // no sign and no mantissa: a power of two; all ones is NaN
    TOO_WIDE,
} special_t;

typedef struct layout_t {
    uint8_t exponent, mantissa;
    int16_t bias;
    special_t special;
} layout_t;

static const layout_t layouts[KEEL_FLOAT_COUNT] = {
    [KEEL_FLOAT_BF16] = {8, 7, 127, IEEE},         [KEEL_FLOAT_F16] = {5, 10, 15, IEEE},
    [KEEL_FLOAT_F32] = {8, 23, 127, IEEE},         [KEEL_FLOAT_F64] = {11, 52, 1023, IEEE},
    [KEEL_FLOAT_F80] = {.special = TOO_WIDE},      [KEEL_FLOAT_F128] = {.special = TOO_WIDE},
    [KEEL_FLOAT_TF32] = {8, 10, 127, IEEE},        [KEEL_FLOAT_F8E5M2] = {5, 2, 15, IEEE},
    [KEEL_FLOAT_F8E4M3] = {4, 3, 7, IEEE},         [KEEL_FLOAT_F8E4M3FN] = {4, 3, 7, FN},
    [KEEL_FLOAT_F8E5M2FNUZ] = {5, 2, 16, FNUZ},    [KEEL_FLOAT_F8E4M3FNUZ] = {4, 3, 8, FNUZ},
    [KEEL_FLOAT_F8E4M3B11FNUZ] = {4, 3, 11, FNUZ}, [KEEL_FLOAT_F8E3M4] = {3, 4, 3, IEEE},
    [KEEL_FLOAT_F4E2M1FN] = {2, 1, 1, FINITE},     [KEEL_FLOAT_F6E2M3FN] = {2, 3, 1, FINITE},
    [KEEL_FLOAT_F6E3M2FN] = {3, 2, 3, FINITE},     [KEEL_FLOAT_F8E8M0FNU] = {8, 0, 127, EXPONENT},
};

const char *keel_print_float_name(uint32_t kind) {
    static const char *const names[] = {
#define NAME(name, text, bits) text,
        KEEL_FLOATS(NAME)
#undef NAME
    };
    return kind < KEEL_FLOAT_COUNT ? names[kind] : "";
}

uint32_t keel_print_float_bits(uint32_t kind) {
    static const uint8_t storage[] = {
#define BITS(name, text, bits) bits,
        KEEL_FLOATS(BITS)
#undef BITS
    };
    return kind < KEEL_FLOAT_COUNT ? storage[kind] : 0;
}

static uint64_t ones(unsigned count) {
    return count >= 64 ? UINT64_MAX : (1ull << count) - 1;
}

// The value of a bit pattern without its sign.
static double magnitude(const layout_t *f, uint64_t bits) {
    if (f->special == EXPONENT) return bits == 0xff ? NAN : ldexp(1.0, (int)bits - f->bias);
    uint64_t exponent = bits >> f->mantissa, mantissa = bits & ones(f->mantissa);
    if (f->special == IEEE && exponent == ones(f->exponent)) return mantissa ? NAN : INFINITY;
    if (f->special == FN && bits == ones(f->exponent + f->mantissa)) return NAN;
    if (!exponent) return ldexp((double)mantissa, 1 - f->bias - f->mantissa);
    return ldexp((double)(mantissa | 1ull << f->mantissa), (int)exponent - f->bias - f->mantissa);
}

// True if `near` rounds to the value of `bits` in this format: it is closer to it than to either
// neighbor. The midpoints between neighbors of a narrow format are exact doubles.
static bool rounds_back(const layout_t *f, uint64_t bits, double value, double near) {
    if (f->mantissa == 52) return near == value;
    double below = bits ? magnitude(f, bits - 1) : -value;
    double above = magnitude(f, bits + 1);
    if (!isfinite(above) || above <= value) above = value + (value - below);
    return near > (value + below) / 2 && near < (value + above) / 2;
}

// Splits a bit pattern into a value without its sign, its bits, and the sign.
static double take_apart(const layout_t *f, uint64_t *inout_bits, bool *out_negative) {
    unsigned width = f->exponent + f->mantissa;
    *out_negative = f->special != EXPONENT && (*inout_bits >> width & 1);
    *inout_bits &= ones(width);
    return f->special == FNUZ && *out_negative && !*inout_bits ? NAN : magnitude(f, *inout_bits);
}

bool keel_print_float_value(keel_float_t kind, uint64_t bits, double *out) {
    bool negative;
    if ((uint32_t)kind >= KEEL_FLOAT_COUNT || layouts[kind].special == TOO_WIDE) return false;
    double value = take_apart(&layouts[kind], &bits, &negative);
    *out = negative ? -value : value;
    return true;
}

bool keel_print_float(keel_float_t kind, uint64_t bits, keel_buffer_t *out) {
    if ((uint32_t)kind >= KEEL_FLOAT_COUNT || layouts[kind].special == TOO_WIDE) return false;
    const layout_t *f = &layouts[kind];
    bool negative;
    double value = take_apart(f, &bits, &negative);
    if (isnan(value)) {
        keel_buffer_text(out, "nan");
        return true;
    }
    if (negative) keel_buffer_byte(out, '-');
    if (isinf(value) || value == 0) {
        keel_buffer_text(out, value == 0 ? "0.0" : "inf");
        return true;
    }
    char text[40];
    int digits = 0;
    do
        snprintf(text, sizeof text, "%.*e", digits, value);
    while (!rounds_back(f, bits, value, strtod(text, NULL)) && ++digits < DBL_DECIMAL_DIG);
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent >= -5 && exponent < 16)
        snprintf(text, sizeof text, "%.*f", digits > exponent ? digits - exponent : 0,
                 strtod(text, NULL));
    // The host's locale may have another decimal point.
    for (char *at = text; *at; ++at)
        if (*at == ',') *at = '.';
    keel_buffer_text(out, text);
    if (!strpbrk(text, ".e")) keel_buffer_text(out, ".0");
    return true;
}

void keel_print_integer(uint64_t bits, uint32_t width, bool is_signed, keel_buffer_t *out) {
    bits &= ones(width);
    if (is_signed && width < 64 && width && bits >> (width - 1)) bits |= ~ones(width);
    if (is_signed)
        keel_buffer_format(out, "%lld", (long long)(int64_t)bits);
    else
        keel_buffer_format(out, "%llu", (unsigned long long)bits);
}
