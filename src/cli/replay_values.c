// How far two sets of results differ.
#include <math.h>

#include "cli/replay.h"

// Of a float of 8 bits: bits of the exponent and its bias. The rest but the sign is the fraction.
typedef struct small_t {
    unsigned exponent_bits;
    int bias;
} small_t;

static small_t small_of(keel_primitive_t element) {
    switch (element) {
        case KEEL_PRIMITIVE_F8E5M2:
            return (small_t){5, 15};
        case KEEL_PRIMITIVE_F8E5M2FNUZ:
            return (small_t){5, 16};
        case KEEL_PRIMITIVE_F8E4M3:
        case KEEL_PRIMITIVE_F8E4M3FN:
            return (small_t){4, 7};
        case KEEL_PRIMITIVE_F8E4M3FNUZ:
            return (small_t){4, 8};
        case KEEL_PRIMITIVE_F8E4M3B11FNUZ:
            return (small_t){4, 11};
        case KEEL_PRIMITIVE_F8E3M4:
            return (small_t){3, 3};
        default:
            return (small_t){0};
    }
}

// As if no pattern stood for NaN or infinity: of such a one, only whether it differs is of use.
static double read_small(small_t format, unsigned bits) {
    unsigned fraction_bits = 7 - format.exponent_bits;
    unsigned exponent = (bits & 0x7f) >> fraction_bits;
    double fraction = (double)(bits & ((1u << fraction_bits) - 1)) / (double)(1u << fraction_bits);
    double size = exponent ? ldexp(1 + fraction, (int)exponent - format.bias)
                           : ldexp(fraction, 1 - format.bias);
    return bits & 0x80 ? -size : size;
}

static double read_half(uint16_t bits) {
    unsigned exponent = bits >> 10 & 31;
    double fraction = (double)(bits & 0x3ff) / 0x400;
    double size = exponent == 31 ? (fraction > 0 ? (double)NAN : (double)INFINITY)
                  : exponent     ? ldexp(1 + fraction, (int)exponent - 15)
                                 : ldexp(fraction, -14);
    return bits & 0x8000 ? -size : size;
}

static double read_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static uint64_t load(const uint8_t *at, size_t size) {
    uint64_t value = 0;
    memcpy(&value, at, size); // little-endian
    return value;
}

static double read_integer(uint64_t bits, size_t size, bool is_signed) {
    unsigned unused = 64 - 8 * (unsigned)size;
    return is_signed ? (double)((int64_t)(bits << unused) >> unused) : (double)bits;
}

// One number; of a complex element, one part.
static double read_number(keel_primitive_t element, const uint8_t *at, size_t size) {
    uint64_t bits = load(at, size);
    double wide;
    switch (element) {
        case KEEL_PRIMITIVE_F64:
        case KEEL_PRIMITIVE_C128:
            memcpy(&wide, &bits, sizeof wide);
            return wide;
        case KEEL_PRIMITIVE_F32:
        case KEEL_PRIMITIVE_C64:
            return read_float((uint32_t)bits);
        case KEEL_PRIMITIVE_BF16:
            return read_float((uint32_t)bits << 16);
        case KEEL_PRIMITIVE_F16:
            return read_half((uint16_t)bits);
        case KEEL_PRIMITIVE_S8:
        case KEEL_PRIMITIVE_S16:
        case KEEL_PRIMITIVE_S32:
        case KEEL_PRIMITIVE_S64:
            return read_integer(bits, size, true);
        default:
            return small_of(element).exponent_bits ? read_small(small_of(element), (unsigned)bits)
                                                   : read_integer(bits, size, false);
    }
}

static size_t number_size(keel_primitive_t element) {
    unsigned bits = keel_primitive_bits(element);
    bool is_complex = element == KEEL_PRIMITIVE_C64 || element == KEEL_PRIMITIVE_C128;
    return bits < 8 ? 1 : bits / 8 / (is_complex ? 2 : 1);
}

static double largest(const keel_result_t *result, size_t size) {
    double most = 0;
    for (size_t at = 0; at + size <= result->bytes.size; at += size) {
        double value = fabs(read_number(result->shape.element, result->bytes.data + at, size));
        if (isfinite(value) && value > most) most = value;
    }
    return most;
}

static double relative(double a, double b, double floor) {
    enum { PART = 1000 };
    if (!isfinite(a) || !isfinite(b)) return (double)INFINITY;
    double scale = fmax(fmax(fabs(a), fabs(b)), floor / PART);
    return scale > 0 ? fabs(a - b) / scale : 0; // 0 and -0
}

static void compare_one(const keel_result_t *a, const keel_result_t *b, size_t number,
                        replay_difference_t *out) {
    size_t size = number_size(a->shape.element);
    out->elements += a->bytes.size / size;
    if (keel_bytes_equal(a->bytes, b->bytes)) return;
    double floor = fmax(largest(a, size), largest(b, size));
    for (size_t at = 0; at + size <= a->bytes.size; at += size) {
        if (memcmp(a->bytes.data + at, b->bytes.data + at, size) == 0) continue;
        double x = read_number(a->shape.element, a->bytes.data + at, size);
        double y = read_number(b->shape.element, b->bytes.data + at, size);
        if (isnan(x) && isnan(y)) continue;
        double apart = relative(x, y, floor);
        if (!out->differing++ || apart > out->relative) {
            out->relative = apart;
            out->result = number;
        }
    }
}

void replay_compare(const keel_result_t *a, size_t a_count, const keel_result_t *b, size_t b_count,
                    replay_difference_t *out) {
    *out = (replay_difference_t){.is_unlike = a_count != b_count};
    for (size_t i = 0; i < a_count && !out->is_unlike; ++i)
        if (!keel_array_shape_equal(&a[i].shape, &b[i].shape) ||
            a[i].bytes.size != b[i].bytes.size) {
            out->is_unlike = true;
            out->result = i;
        }
    if (out->is_unlike) {
        out->relative = (double)INFINITY;
        return;
    }
    for (size_t i = 0; i < a_count; ++i)
        compare_one(&a[i], &b[i], i, out);
    out->is_equal = out->differing == 0;
}
