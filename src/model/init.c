// First values, made on the device from a seed, a name and the place of each element: the same bits
// whatever else the program has, and on every device.
#include "model/model.h"

#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))
#define CONSTANT(like, value) keel_constant_at(site, (like), (value))

// ---- u32, on the host and on the device --------------------------------------------------------

enum { GOLDEN = (int)0x9E3779B1, OTHER_GOLDEN = (int)0x9E3779B9 }; // odd, near 2^32 / phi

static uint32_t mix_number(uint32_t h) {
    h ^= h >> 16;
    h *= 0x85EBCA6Bu;
    h ^= h >> 13;
    h *= 0xC2B2AE35u;
    return h ^ h >> 16;
}

static uint32_t hash_name(const char *name) { // FNV-1a
    uint32_t h = 0x811C9DC5u;
    for (; *name; ++name)
        h = (h ^ (uint8_t)*name) * 0x01000193u;
    return h;
}

static keel_tensor_t shift_right(keel_caller_t site, keel_tensor_t h, int bits) {
    return BINARY(DIVIDE, h, CONSTANT(h, 1 << bits));
}

static keel_tensor_t shift_mixed(keel_caller_t site, keel_tensor_t h, int bits) {
    return BINARY(XOR, h, shift_right(site, h, bits));
}

static keel_tensor_t mix(keel_caller_t site, keel_tensor_t h) {
    h = BINARY(MULTIPLY, shift_mixed(site, h, 16), CONSTANT(h, 0x85EBCA6Bu));
    h = BINARY(MULTIPLY, shift_mixed(site, h, 13), CONSTANT(h, 0xC2B2AE35u));
    return shift_mixed(site, h, 16);
}

// ---- random numbers ----------------------------------------------------------------------------

// In [0, 1), in steps of 2^-24: all of them are floats. `stream` tells several of one leaf apart.
static keel_tensor_t uniform(keel_caller_t site, const leaf_t *leaf, uint32_t seed,
                             uint32_t stream) {
    keel_context_t *context = leaf->tensor.context;
    const keel_shape_t shape = keel_shape(leaf->tensor);
    uint64_t count = 0;
    if (!keel_tensor_bytes(KEEL_U8, &shape, &count)) return (keel_tensor_t){0};
    keel_tensor_t place = keel_iota_at(site, context, KEEL_U32, KEEL_SHAPE((int64_t)count), 0);
    uint32_t start = mix_number(hash_name(leaf->name) + (seed + stream) * (uint32_t)OTHER_GOLDEN);
    keel_tensor_t h = BINARY(MULTIPLY, place, CONSTANT(place, (uint32_t)GOLDEN));
    h = mix(site, BINARY(ADD, h, keel_number_at(site, place, start, "seed")));
    keel_tensor_t u = keel_cast_at(site, shift_right(site, h, 8), KEEL_F32);
    return keel_reshape_at(site, BINARY(MULTIPLY, u, CONSTANT(u, 1.0 / (1 << 24))), shape);
}

static keel_tensor_t centered(keel_caller_t site, const leaf_t *leaf, uint32_t seed) {
    keel_tensor_t u = uniform(site, leaf, seed, 0);
    keel_tensor_t twice = BINARY(MULTIPLY, u, CONSTANT(u, 2));
    return BINARY(MULTIPLY, BINARY(SUBTRACT, twice, CONSTANT(u, 1)),
                  keel_number_at(site, u, leaf->init.size, "limit"));
}

// cos(2 pi v) of v in [0, 1), as 1 - 2 cos^2(pi (v - 1/2)): the series is short there, and within
// 3e-7. XLA's compiler for CPUs calls the C library for each cosine, and keeps the whole loop
// scalar for it.
static keel_tensor_t cosine_of_turn(keel_caller_t site, keel_tensor_t v) {
    static const double factors[] = {0.0019295743094039231,
                                     -0.025806891390014061,
                                     0.23533063035889320,
                                     -1.3352627688545895,
                                     4.0587121264167682,
                                     -4.9348022005446793,
                                     1};
    keel_tensor_t half = BINARY(SUBTRACT, v, CONSTANT(v, 0.5));
    keel_tensor_t square = BINARY(MULTIPLY, half, half), sum = CONSTANT(v, factors[0]);
    for (size_t i = 1; i < sizeof factors / sizeof *factors; ++i)
        sum = BINARY(ADD, BINARY(MULTIPLY, sum, square), CONSTANT(v, factors[i]));
    sum = BINARY(MULTIPLY, BINARY(MULTIPLY, sum, sum), CONSTANT(v, 2));
    return BINARY(SUBTRACT, CONSTANT(v, 1), sum);
}

// Box and Muller: sqrt(-2 ln(1 - u)) cos(2 pi v). 1 - u is exact.
static keel_tensor_t normal(keel_caller_t site, const leaf_t *leaf, uint32_t seed) {
    static const uint32_t another = 0x5BD1E995u;
    keel_tensor_t u = uniform(site, leaf, seed, 0), v = uniform(site, leaf, seed, another);
    keel_tensor_t log = keel_unary_at(site, KEEL_OP_LOG, BINARY(SUBTRACT, CONSTANT(u, 1), u));
    keel_tensor_t radius =
        keel_unary_at(site, KEEL_OP_SQRT, BINARY(MULTIPLY, log, CONSTANT(log, -2)));
    keel_tensor_t turn = cosine_of_turn(site, v);
    return BINARY(MULTIPLY, BINARY(MULTIPLY, radius, turn),
                  keel_number_at(site, u, leaf->init.size, "deviation"));
}

// Most state begins with 0, which is a part of the program: XLA makes one computation of all equal
// constants, and one of each number.
static keel_tensor_t filled(keel_caller_t site, const leaf_t *leaf) {
    const double value = leaf->init.size;
    keel_tensor_t x = leaf->tensor;
    keel_tensor_t scalar =
        value != 0 ? keel_number_at(site, x, value, "value") : CONSTANT(x, value);
    return keel_broadcast_at(site, scalar, keel_shape(x));
}

keel_tensor_t init_value(keel_caller_t site, const leaf_t *leaf, uint32_t seed) {
    const keel_init_t *init = &leaf->init;
    keel_tensor_t value = {0};
    switch (init->kind) {
        case KEEL_INIT_FILL:
            value = filled(site, leaf);
            break;
        case KEEL_INIT_UNIFORM:
            value = centered(site, leaf, seed);
            break;
        case KEEL_INIT_NORMAL:
            value = normal(site, leaf, seed);
            break;
        case KEEL_INIT_MADE:
            if (init->make) value = init->make(uniform(site, leaf, seed, 0), init->data);
            break;
        case KEEL_INIT_NONE:
            break;
    }
    return keel_cast_at(site, value, keel_dtype(leaf->tensor));
}
