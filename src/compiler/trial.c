// The values of a trial's arguments.
//
// A float is a 128th, from -1 to 1, or from 0.5 to 1.5 if it is positive: the formats with 8 bits
// of precision and more have all of these exactly. The 8-bit formats get 0.5, 1 and 1.5 as E4M3
// writes them, which the others read as other small numbers. An integer is one of four small
// numbers.
#include "compiler/trial.h"

enum { UNIT = 128 }; // 1 as such a number

typedef struct kind_t {
    const char *name;
    size_t size; // bytes of an element on the host; 0: there are no values
} kind_t;

static kind_t kind_of(keel_primitive_t element) {
    switch (element) {
#define KIND(number, name, bits)                                                                   \
    case KEEL_PRIMITIVE_##name:                                                                    \
        return (kind_t){#name, bits < 8 ? 0 : bits / 8};
        KEEL_PRIMITIVES(KIND)
#undef KIND
        default:
            return (kind_t){"of an unknown type", 0};
    }
}

keel_status_t trial_check(const keel_array_shape_t *shape) {
    kind_t kind = kind_of(shape->element);
    if (!kind.size)
        return keel_status_make(KEEL_UNSUPPORTED,
                                "it takes an array of %s, for which no values are "
                                "made",
                                kind.name);
    uint64_t count = keel_shape_count(shape);
    for (uint32_t i = 0; i < shape->rank; ++i)
        if (shape->dims[i] == 0) return NULL;
    if (!count || count > SIZE_MAX / kind.size)
        return keel_status_make(KEEL_UNSUPPORTED, "it takes an array of unknown size");
    return NULL;
}

size_t trial_bytes(const keel_array_shape_t *shape) {
    return (size_t)keel_shape_count(shape) * kind_of(shape->element).size;
}

// SplitMix64.
static uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double number(uint64_t random, bool is_positive) {
    int64_t units = is_positive ? UNIT / 2 + (int64_t)(random % (UNIT + 1))
                                : (int64_t)(random % (2 * UNIT + 1)) - UNIT;
    return (double)units / UNIT;
}

// The upper half of a float; exact for such numbers.
static uint16_t bfloat(double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return (uint16_t)(bits >> 16);
}

// Exact, because the numbers have few bits and are not too small for a normal one.
static uint16_t half(double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u, exponent = bits >> 23 & 0xffu;
    if (!exponent) return (uint16_t)sign;
    return (uint16_t)(sign | (exponent - 127 + 15) << 10 | (bits >> 13 & 0x3ffu));
}

static void put(uint8_t *out, const void *value, size_t size) {
    memcpy(out, value, size);
}

static void put_float(keel_primitive_t element, double value, uint8_t *out) {
    float narrow = (float)value;
    uint16_t brief = element == KEEL_PRIMITIVE_BF16 ? bfloat(value) : half(value);
    if (element == KEEL_PRIMITIVE_F64)
        put(out, &value, sizeof value);
    else if (element == KEEL_PRIMITIVE_F32)
        put(out, &narrow, sizeof narrow);
    else
        put(out, &brief, sizeof brief);
}

// 0.5, 1 and 1.5 in E4M3; a scale of E8M0 has an exponent only, and no sign.
static uint8_t eighth(keel_primitive_t element, uint64_t random, bool is_positive) {
    static const uint8_t values[] = {0x30, 0x38, 0x3c};
    if (element == KEEL_PRIMITIVE_F8E8M0FNU) return (uint8_t)(126 + random % 3);
    uint8_t sign = is_positive || random & 0x100 ? 0 : 0x80;
    return sign | values[random % 3];
}

static void put_element(keel_primitive_t element, uint64_t random, bool is_positive, size_t size,
                        uint8_t *out) {
    uint64_t integer = (random & 3) + (is_positive ? 1 : 0);
    switch (element) {
        case KEEL_PRIMITIVE_F64:
        case KEEL_PRIMITIVE_F32:
        case KEEL_PRIMITIVE_F16:
        case KEEL_PRIMITIVE_BF16:
            put_float(element, number(random, is_positive), out);
            break;
        case KEEL_PRIMITIVE_C64:
            put_float(KEEL_PRIMITIVE_F32, number(random & UINT32_MAX, is_positive), out);
            put_float(KEEL_PRIMITIVE_F32, number(random >> 32, is_positive), out + 4);
            break;
        case KEEL_PRIMITIVE_C128:
            put_float(KEEL_PRIMITIVE_F64, number(random & UINT32_MAX, is_positive), out);
            put_float(KEEL_PRIMITIVE_F64, number(random >> 32, is_positive), out + 8);
            break;
        case KEEL_PRIMITIVE_PRED:
            *out = random & 1;
            break;
        case KEEL_PRIMITIVE_S8:
        case KEEL_PRIMITIVE_S16:
        case KEEL_PRIMITIVE_S32:
        case KEEL_PRIMITIVE_S64:
        case KEEL_PRIMITIVE_U8:
        case KEEL_PRIMITIVE_U16:
        case KEEL_PRIMITIVE_U32:
        case KEEL_PRIMITIVE_U64:
            put(out, &integer, size); // little-endian, like all that XLA runs on
            break;
        default:
            *out = eighth(element, random, is_positive);
    }
}

void trial_fill(const keel_array_shape_t *shape, uint64_t seed, uint32_t number_of,
                bool are_positive, uint8_t *out) {
    uint64_t state = seed ^ (uint64_t)number_of << 32 ^ (are_positive ? 1u << 31 : 0);
    uint64_t count = keel_shape_count(shape);
    size_t size = kind_of(shape->element).size;
    next(&state);
    for (uint64_t i = 0; i < count; ++i, out += size)
        put_element(shape->element, next(&state), are_positive, size, out);
}
