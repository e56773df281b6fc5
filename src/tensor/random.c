// Random numbers: keel/random.h. Threefry-2x32 with 20 rounds (Salmon et al. 2011, Parallel Random
// Numbers: As Easy as 1, 2, 3), its counters and their use as jax.random has them, so that bits
// are equal.
#include <float.h>
#include <math.h>

#include "tensor/operation.h"

#define UNARY(op, x) keel_unary_at(site, KEEL_OP_##op, (x))
#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))
#define CONSTANT(like, value) keel_constant_at(site, (like), (value))
#define NUMBER(like, value) keel_number_at(site, (like), (value), #value)

// Two words of 32 bits each, of any shape.
typedef struct pair_t {
    keel_tensor_t high, low;
} pair_t;

static bool is_key(keel_caller_t site, const char *what, keel_tensor_t key) {
    uint32_t node;
    keel_context_t *context = ops_begin(site, what, &key, 1, &node);
    if (!context) return false;
    const keel_shape_t shape = *trace_node_shape(context, node);
    if (trace_node(context, node)->dtype == KEEL_U32 && shape.rank == 1 && shape.dims[0] == 2)
        return true;
    ops_refuse(context, what, node, "is not a key: that is u32[2]");
    return false;
}

// ---- threefry -----------------------------------------------------------------------------------

static keel_tensor_t rotate(keel_caller_t site, keel_tensor_t x, int bits) {
    keel_tensor_t left = BINARY(SHIFT_LEFT, x, CONSTANT(x, bits));
    return BINARY(OR, left, BINARY(SHIFT_RIGHT, x, CONSTANT(x, 32 - bits)));
}

static pair_t words_of(keel_caller_t site, keel_tensor_t key) {
    return (pair_t){
        keel_reshape_at(site, keel_slice_at(site, key, 0, 0, 1), KEEL_SCALAR),
        keel_reshape_at(site, keel_slice_at(site, key, 0, 1, 2), KEEL_SCALAR),
    };
}

static pair_t threefry(keel_caller_t site, pair_t key, pair_t x) {
    static const int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    keel_tensor_t parity =
        BINARY(XOR, BINARY(XOR, key.high, key.low), CONSTANT(key.low, 0x1BD11BDA));
    const keel_tensor_t keys[3] = {key.high, key.low, parity};
    x.high = BINARY(ADD, x.high, keys[0]);
    x.low = BINARY(ADD, x.low, keys[1]);
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 4; ++i) {
            x.high = BINARY(ADD, x.high, x.low);
            x.low = BINARY(XOR, x.high, rotate(site, x.low, rotations[round % 2][i]));
        }
        x.high = BINARY(ADD, x.high, keys[(round + 1) % 3]);
        x.low = BINARY(ADD, x.low, keys[(round + 2) % 3]);
        x.low = BINARY(ADD, x.low, CONSTANT(x.low, round + 1));
    }
    return x;
}

// 0, 1, 2, ... in row-major order, in two words.
static pair_t counters(keel_caller_t site, keel_context_t *context, const keel_shape_t *shape) {
    int64_t count = 0;
    if (!shape_elements(shape, &count)) return (pair_t){{0}, {0}};
    keel_tensor_t flat = keel_iota_at(site, context, KEEL_U64, KEEL_SHAPE(count), 0);
    keel_tensor_t all = keel_reshape_at(site, flat, *shape);
    keel_tensor_t high = BINARY(SHIFT_RIGHT, all, CONSTANT(all, 32));
    return (pair_t){keel_cast_at(site, high, KEEL_U32), keel_cast_at(site, all, KEEL_U32)};
}

// False, with an error, if that is not a shape.
static bool is_shape(keel_caller_t site, const char *what, keel_context_t *context,
                     const keel_shape_t *shape) {
    int64_t count;
    if (shape->rank >= 0 && shape->rank <= KEEL_MAX_RANK && shape_elements(shape, &count))
        return true;
    context_fail(context, site, "%s: no shape, or one with too many elements", what);
    return false;
}

static keel_tensor_t bits_of(keel_caller_t site, keel_tensor_t key, const keel_shape_t *shape) {
    pair_t bits = threefry(site, words_of(site, key), counters(site, key.context, shape));
    return BINARY(XOR, bits.high, bits.low);
}

// ---- keys ---------------------------------------------------------------------------------------

keel_tensor_t keel_random_key_at(keel_caller_t site, keel_context_t *context, uint64_t seed) {
    site = keel_tensor_part_of(site, "random_key");
    const uint32_t words[2] = {(uint32_t)(seed >> 32), (uint32_t)seed};
    return keel_input_at(site, context, "seed", KEEL_U32, KEEL_SHAPE(2), words);
}

// Low bits wrap.
static keel_tensor_t as_u32(keel_caller_t site, keel_tensor_t x) {
    return keel_cast_at(site, x, KEEL_U32);
}

keel_tensor_t keel_random_fold_at(keel_caller_t site, keel_tensor_t key, keel_tensor_t number) {
    site = keel_tensor_part_of(site, "random_fold");
    uint32_t node;
    if (!is_key(site, "random_fold", key)) return (keel_tensor_t){0};
    keel_context_t *context = ops_begin(site, "random_fold", &number, 1, &node);
    if (!context) return (keel_tensor_t){0};
    if (!dtype_is_integer(trace_node(context, node)->dtype) ||
        trace_node_shape(context, node)->rank)
        return ops_refuse(context, "random_fold", node, "is not a scalar integer");
    keel_tensor_t low = as_u32(site, number);
    pair_t folded = threefry(site, words_of(site, key), (pair_t){CONSTANT(low, 0), low});
    return keel_concatenate_at(site, keel_reshape_at(site, folded.high, KEEL_SHAPE(1)),
                               keel_reshape_at(site, folded.low, KEEL_SHAPE(1)), 0);
}

void keel_random_split_at(keel_caller_t site, keel_tensor_t key, size_t count, keel_tensor_t *out) {
    site = keel_tensor_part_of(site, "random_split");
    for (size_t i = 0; out && i < count; ++i)
        out[i] = (keel_tensor_t){0};
    if (!count || !is_key(site, "random_split", key)) return;
    if (!out) {
        context_fail(key.context, site, "random_split: no place for the keys");
        return;
    }
    const keel_shape_t shape = KEEL_SHAPE((int64_t)count), column = KEEL_SHAPE((int64_t)count, 1);
    pair_t all = threefry(site, words_of(site, key), counters(site, key.context, &shape));
    keel_tensor_t keys = keel_concatenate_at(site, keel_reshape_at(site, all.high, column),
                                             keel_reshape_at(site, all.low, column), 1);
    for (size_t i = 0; i < count; ++i)
        out[i] = keel_reshape_at(site, keel_slice_at(site, keys, 0, (int64_t)i, (int64_t)i + 1),
                                 KEEL_SHAPE(2));
}

// ---- numbers ------------------------------------------------------------------------------------

keel_tensor_t keel_random_bits_at(keel_caller_t site, keel_tensor_t key, keel_shape_t shape) {
    site = keel_tensor_part_of(site, "random_bits");
    if (!is_key(site, "random_bits", key) || !is_shape(site, "random_bits", key.context, &shape))
        return (keel_tensor_t){0};
    return bits_of(site, key, &shape);
}

// In [0, 1): the bits are the mantissa of a number in [1, 2).
static keel_tensor_t unit(keel_caller_t site, keel_tensor_t key, const keel_shape_t *shape) {
    keel_tensor_t bits = bits_of(site, key, shape);
    keel_tensor_t mantissa = BINARY(SHIFT_RIGHT, bits, CONSTANT(bits, 9));
    keel_tensor_t number = BINARY(OR, mantissa, CONSTANT(bits, 0x3F800000));
    number = keel_bitcast_at(site, number, KEEL_F32);
    return BINARY(SUBTRACT, number, CONSTANT(number, 1));
}

static keel_tensor_t uniform(keel_caller_t site, keel_tensor_t key, const keel_shape_t *shape,
                             double low, double high) {
    keel_tensor_t x = unit(site, key, shape);
    x = BINARY(ADD, BINARY(MULTIPLY, x, CONSTANT(x, (float)high - (float)low)), CONSTANT(x, low));
    return BINARY(MAXIMUM, CONSTANT(x, low), x);
}

keel_tensor_t keel_random_uniform_at(keel_caller_t site, keel_tensor_t key, keel_shape_t shape,
                                     double low, double high) {
    site = keel_tensor_part_of(site, "random_uniform");
    if (!is_key(site, "random_uniform", key) ||
        !is_shape(site, "random_uniform", key.context, &shape))
        return (keel_tensor_t){0};
    keel_tensor_t x = unit(site, key, &shape);
    keel_tensor_t least = NUMBER(x, low);
    x = BINARY(MULTIPLY, x, keel_number_at(site, x, (float)high - (float)low, "high - low"));
    return BINARY(MAXIMUM, least, BINARY(ADD, x, least));
}

static keel_tensor_t polynomial(keel_caller_t site, keel_tensor_t w, const double *factors,
                                size_t count) {
    keel_tensor_t sum = CONSTANT(w, factors[0]);
    for (size_t i = 1; i < count; ++i)
        sum = BINARY(ADD, BINARY(MULTIPLY, sum, w), CONSTANT(w, factors[i]));
    return sum;
}

// The inverse of erf in f32 (Giles 2012, Approximating the erfinv function).
static keel_tensor_t erf_inverse(keel_caller_t site, keel_tensor_t x) {
    static const double near[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                  -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                  -0.00417768164,  0.246640727,    1.50140941};
    static const double far[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                 -0.00367342844,  0.00573950773,  -0.0076224613,
                                 0.00943887047,   1.00167406,     2.83297682};
    const size_t count = sizeof near / sizeof *near;
    keel_tensor_t w = UNARY(NEGATE, UNARY(LOG1P, UNARY(NEGATE, BINARY(MULTIPLY, x, x))));
    keel_tensor_t inner = polynomial(site, BINARY(SUBTRACT, w, CONSTANT(w, 2.5)), near, count);
    keel_tensor_t outer =
        polynomial(site, BINARY(SUBTRACT, UNARY(SQRT, w), CONSTANT(w, 3)), far, count);
    keel_tensor_t is_near = keel_compare_at(site, KEEL_OP_LESS, w, CONSTANT(w, 5));
    return BINARY(MULTIPLY, keel_select_at(site, is_near, inner, outer), x);
}

keel_tensor_t keel_random_normal_at(keel_caller_t site, keel_tensor_t key, keel_shape_t shape) {
    site = keel_tensor_part_of(site, "random_normal");
    if (!is_key(site, "random_normal", key) ||
        !is_shape(site, "random_normal", key.context, &shape))
        return (keel_tensor_t){0};
    keel_tensor_t x = uniform(site, key, &shape, nextafterf(-1, 0), 1);
    x = erf_inverse(site, x);
    return BINARY(MULTIPLY, x, CONSTANT(x, sqrtf(2)));
}

keel_tensor_t keel_random_bernoulli_at(keel_caller_t site, keel_tensor_t key, keel_shape_t shape,
                                       keel_tensor_t probability) {
    site = keel_tensor_part_of(site, "random_bernoulli");
    uint32_t node;
    if (!is_key(site, "random_bernoulli", key) ||
        !is_shape(site, "random_bernoulli", key.context, &shape) ||
        !ops_begin(site, "random_bernoulli", &probability, 1, &node))
        return (keel_tensor_t){0};
    return keel_compare_at(
        site, KEEL_OP_LESS, uniform(site, key, &shape, 0, 1),
        keel_broadcast_at(site, keel_cast_at(site, probability, KEEL_F32), shape));
}

// Of what is divided by a number: it, and the largest u32 divided by it.
typedef struct divisor_t {
    keel_tensor_t whole, inverse; // u32, u64
} divisor_t;

static divisor_t divisor_of(keel_caller_t site, keel_context_t *context, uint32_t span) {
    const char *name = "high - low";
    return (divisor_t){keel_tensor_number(site, context, KEEL_U32, span, name),
                       keel_tensor_number(site, context, KEEL_U64, UINT32_MAX / span, name)};
}

// x mod a number. XLA's compiler for CPUs keeps a loop scalar for a division by what it does not
// know. The quotient below is the right one or 1 less; then the rest has one divisor more, and
// without it it is the smaller one.
static keel_tensor_t remainder_of(keel_caller_t site, keel_tensor_t x, divisor_t by) {
    keel_tensor_t product = BINARY(MULTIPLY, keel_cast_at(site, x, KEEL_U64), by.inverse);
    keel_tensor_t quotient = BINARY(SHIFT_RIGHT, product, CONSTANT(product, 32));
    quotient = keel_cast_at(site, quotient, KEEL_U32);
    keel_tensor_t rest = BINARY(SUBTRACT, x, BINARY(MULTIPLY, quotient, by.whole));
    return BINARY(MINIMUM, rest, BINARY(SUBTRACT, rest, by.whole));
}

// Two words of bits, so that the remainder of any span is nearly even.
keel_tensor_t keel_random_integers_at(keel_caller_t site, keel_tensor_t key, keel_shape_t shape,
                                      int32_t low, int32_t high) {
    site = keel_tensor_part_of(site, "random_integers");
    keel_tensor_t keys[2];
    if (!is_key(site, "random_integers", key) ||
        !is_shape(site, "random_integers", key.context, &shape))
        return (keel_tensor_t){0};
    if (high <= low)
        return context_fail(key.context, site, "random_integers: [%d, %d) has none", (int)low,
                            (int)high);
    const uint32_t span = (uint32_t)high - (uint32_t)low;
    const uint32_t half = (UINT32_C(1) << 16) % span; // squared it wraps, as in jax.random
    const uint32_t factor = half * half % span;
    keel_random_split_at(site, key, 2, keys);
    keel_tensor_t upper = bits_of(site, keys[0], &shape), lower = bits_of(site, keys[1], &shape);
    const divisor_t by = divisor_of(site, key.context, span);
    upper = BINARY(MULTIPLY, remainder_of(site, upper, by), NUMBER(upper, factor));
    keel_tensor_t offset = BINARY(ADD, upper, remainder_of(site, lower, by));
    offset = keel_bitcast_at(site, remainder_of(site, offset, by), KEEL_I32);
    return BINARY(ADD, offset, NUMBER(offset, low));
}

// The smallest normal number keeps the first logarithm finite, as in jax.random.
keel_tensor_t keel_random_gumbel_at(keel_caller_t site, keel_tensor_t key, keel_shape_t shape) {
    site = keel_tensor_part_of(site, "random_gumbel");
    if (!is_key(site, "random_gumbel", key) ||
        !is_shape(site, "random_gumbel", key.context, &shape))
        return (keel_tensor_t){0};
    keel_tensor_t u = uniform(site, key, &shape, FLT_MIN, 1);
    keel_tensor_t inner = keel_unary_at(site, KEEL_OP_LOG, u);
    inner = keel_unary_at(site, KEEL_OP_NEGATE, inner);
    return keel_unary_at(site, KEEL_OP_NEGATE, keel_unary_at(site, KEEL_OP_LOG, inner));
}

keel_tensor_t keel_random_categorical_at(keel_caller_t site, keel_tensor_t key,
                                         keel_tensor_t logits, int axis) {
    site = keel_tensor_part_of(site, "random_categorical");
    uint32_t node;
    if (!is_key(site, "random_categorical", key) ||
        !ops_begin(site, "random_categorical", &logits, 1, &node))
        return (keel_tensor_t){0};
    if (!dtype_is_float(keel_dtype(logits)))
        return context_fail(key.context, site, "random_categorical: of %s; keel_cast it",
                            keel_dtype_text(keel_dtype(logits)));
    keel_tensor_t noise = keel_random_gumbel_at(site, key, keel_shape(logits));
    keel_tensor_t wide = keel_cast_at(site, logits, KEEL_F32);
    return keel_argmax_at(site, BINARY(ADD, wide, noise), axis);
}
