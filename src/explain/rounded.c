// One number in two float types: rounded to the narrower one, or the same property of each type
// (finfo): the step at 1, the smallest, the largest.
#include <math.h>

#include "explain/diff.h"

typedef struct format_t {
    int mantissa, least, most; // bits; exponents of the normal numbers
} format_t;

static bool format_of(const keel_program_t *program, keel_type_id_t type, format_t *out) {
    const keel_type_t *element = keel_program_type(program, type);
    if (element->kind == KEEL_TYPE_TENSOR) element = keel_program_type(program, element->a);
    if (element->kind != KEEL_TYPE_FLOAT) return false;
    switch (element->a) {
        case KEEL_FLOAT_F64:
            *out = (format_t){52, -1022, 1023};
            return true;
        case KEEL_FLOAT_F32:
            *out = (format_t){23, -126, 127};
            return true;
        case KEEL_FLOAT_F16:
            *out = (format_t){10, -14, 15};
            return true;
        case KEEL_FLOAT_BF16:
            *out = (format_t){7, -126, 127};
            return true;
        default:
            return false;
    }
}

static double largest_of(const format_t *format) {
    return ldexp(2 - ldexp(1, -format->mantissa), format->most);
}

static double rounded(double value, const format_t *format) {
    if (!isfinite(value) || value == 0) return value;
    int exponent;
    frexp(value, &exponent);
    int place = (exponent - 1 < format->least ? format->least : exponent - 1) - format->mantissa;
    double nearest = ldexp(nearbyint(ldexp(value, -place)), place);
    return fabs(nearest) > largest_of(format) ? copysign(INFINITY, value) : nearest;
}

// Multiples of the step too: a tolerance of ten steps.
static bool has_one_name(double x, const format_t *a, double y, const format_t *b) {
    enum { MANY = 1000 };
    if (x == largest_of(a) && y == largest_of(b)) return true;
    if (x == ldexp(1, a->least) && y == ldexp(1, b->least)) return true;
    if (x == ldexp(1, a->least - a->mantissa) && y == ldexp(1, b->least - b->mantissa)) return true;
    double steps = ldexp(x, a->mantissa);
    return steps == floor(steps) && steps >= 1 && steps <= MANY && steps == ldexp(y, b->mantissa);
}

bool keel_diff_is_rounded(const keel_diff_t *diff, keel_type_id_t before, double x,
                          keel_type_id_t after, double y) {
    format_t a, b;
    if (!format_of(diff->before.program, before, &a) ||
        !format_of(diff->after.program, after, &b) ||
        (a.mantissa == b.mantissa && a.least == b.least))
        return false;
    if (rounded(x, &b) == y || rounded(y, &a) == x) return true;
    return signbit(x) == signbit(y) && has_one_name(fabs(x), &a, fabs(y), &b);
}
