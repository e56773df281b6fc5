// G: what stood before a position, as hashed 2-grams and 3-grams, looks up rows of tables, each of
// a prime number of rows of its own; a gate says how much of them fits.
#include <math.h>

#include "nam52.h"

enum { FIRST_ORDER = 2, LAST_ORDER = 3 };

static int is_prime(int number) {
    for (int i = 2; i * i <= number; ++i)
        if (number % i == 0) return 0;
    return 1;
}

// Consecutive ones, handed out block by block, order by order.
static void find_primes(model_t *model, int rank) {
    const config_t *c = &model->config;
    const int count = 2 * c->hash_heads;
    int next = rank ? model->primes[rank - 1][count - 1] + 1 : c->first_prime, rows = 0;
    for (int i = 0; i < count; ++i, ++next) {
        while (!is_prime(next))
            ++next;
        rows += model->primes[rank][i] = next;
    }
    model->table_rows[rank] = (rows + 63) / 64 * 64;
}

void engram_add(model_t *model, int rank) {
    const config_t *c = &model->config;
    const int width = 2 * c->hash_heads * c->hash_width;
    keel_tree_t *tree = model->tree;
    find_primes(model, rank);
    keel_tree_add(tree, "tab", KEEL_F32, KEEL_SHAPE(model->table_rows[rank], c->hash_width),
                  uniform_of(1));
    add_map(model, "wk", width, c->width, 0);
    add_map(model, "wv", width, c->width, 1);
    keel_tree_add(tree, "nk", KEEL_F32, KEEL_SHAPE(c->width), KEEL_FILL(1));
    keel_tree_add(tree, "nq", KEEL_F32, KEEL_SHAPE(c->width), KEEL_FILL(1));
    keel_tree_add(tree, "nc", KEEL_F32, KEEL_SHAPE(c->width), KEEL_FILL(1));
    keel_tree_add(tree, "conv", KEEL_F32, KEEL_SHAPE(c->width, 4), KEEL_FILL(0));
}

static uint32_t fmix32(uint32_t h) {
    h ^= h >> 16;
    h *= 0x85EBCA6Bu;
    h ^= h >> 13;
    h *= 0xC2B2AE35u;
    return h ^ h >> 16;
}

// Letters in lower case, all white space a blank.
static keel_tensor_t canonical(keel_tensor_t token) {
    keel_tensor_t is_upper = keel_and(keel_greater_equal(token, keel_constant(token, 'A')),
                                      keel_less_equal(token, keel_constant(token, 'Z')));
    keel_tensor_t lower = keel_add(token, keel_constant(token, 'a' - 'A'));
    keel_tensor_t is_space = keel_equal(token, keel_constant(token, '\t'));
    is_space = keel_or(is_space, keel_equal(token, keel_constant(token, '\n')));
    is_space = keel_or(is_space, keel_equal(token, keel_constant(token, '\r')));
    token = keel_select(is_upper, lower, token);
    return keel_select(is_space, keel_constant(token, ' '), token);
}

// The id so far back, as u32; padding beyond the start of a document.
static keel_tensor_t id_before(keel_tensor_t ids, keel_tensor_t document, int by) {
    keel_tensor_t is_same = keel_equal(shifted(document, by, -2), document);
    keel_tensor_t id = keel_select(is_same, shifted(ids, by, PAD_ID), keel_constant(ids, PAD_ID));
    return keel_cast(id, KEEL_U32);
}

// Rows of the table, i32 [B, T, orders * heads].
static keel_tensor_t rows_of(const model_t *model, const masks_t *masks, int rank) {
    const int heads = model->config.hash_heads;
    keel_tensor_t ids = canonical(masks->tokens), rows[MAX_HASHES];
    for (int order = FIRST_ORDER, at = 0, offset = 0; order <= LAST_ORDER; ++order) {
        keel_tensor_t mix = {0};
        for (int j = 0; j < order; ++j) {
            const uint32_t factor = fmix32((uint32_t)(j + 10007 * (rank + 1))) | 1;
            keel_tensor_t id = id_before(ids, masks->document, j);
            keel_tensor_t part = keel_multiply(id, keel_constant(id, factor));
            mix = j ? keel_xor(mix, part) : part;
        }
        for (int head = 0; head < heads; ++head, ++at) {
            const int prime = model->primes[rank][at];
            keel_tensor_t row = keel_remainder(mix, keel_constant(mix, prime));
            rows[at] = keel_add(keel_cast(row, KEEL_I32), keel_constant(ids, offset));
            offset += prime;
        }
    }
    return keel_stack(rows, 2 * (size_t)heads, 2);
}

keel_tensor_t engram(const model_t *model, keel_tensor_t x, const masks_t *masks, int rank) {
    const config_t *c = &model->config;
    const keel_shape_t shape = keel_shape(x);
    const double epsilon = 1e-6;
    keel_tensor_t e = keel_take(weight(model, "tab"), rows_of(model, masks, rank));
    e = keel_reshape(e,
                     KEEL_SHAPE(shape.dims[0], shape.dims[1], 2 * c->hash_heads * c->hash_width));
    keel_tensor_t key =
        keel_rms_norm(keel_matmul(e, weight(model, "wk")), weight(model, "nk"), epsilon);
    keel_tensor_t query = keel_rms_norm(x, weight(model, "nq"), epsilon);
    keel_tensor_t u = keel_sum_kept(keel_multiply(key, query), KEEL_AXES(-1));
    u = keel_multiply(u, keel_constant(u, 1 / sqrt(c->width)));
    keel_tensor_t root = keel_sqrt(keel_maximum(keel_abs(u), keel_constant(u, 1e-6)));
    keel_tensor_t gate = keel_sigmoid(keel_multiply(keel_sign(u), root));
    keel_tensor_t v = keel_multiply(gate, keel_matmul(e, weight(model, "wv")));
    keel_tensor_t near = keel_rms_norm(v, weight(model, "nc"), epsilon);
    near = document_convolution(near, weight(model, "conv"), masks->document, 3);
    return keel_add(v, keel_silu(near));
}
