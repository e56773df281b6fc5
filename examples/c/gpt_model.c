#include "gpt_model.h"

#include <math.h>

// ---- weights -----------------------------------------------------------------------------------

static void add_matrix(const gpt_t *gpt, const char *name, int rows, int columns, double scale) {
    keel_tree_add(gpt->tree, name, KEEL_F32, KEEL_SHAPE(rows, columns),
                  KEEL_NORMAL(scale / sqrt(rows)));
}

static void add_norm(const gpt_t *gpt, const char *name) {
    keel_tree_add(gpt->tree, name, KEEL_F32, KEEL_SHAPE(gpt->width), KEEL_FILL(1));
}

void gpt_add_weights(gpt_t *gpt) {
    const int width = gpt->width;
    const double residual = 1 / sqrt(2 * gpt->layers); // keeps the stream's size at any depth
    add_matrix(gpt, "embed", BYTES, width, 1);
    add_matrix(gpt, "position", gpt->length, width, 1);
    for (int layer = 0; layer < gpt->layers; ++layer) {
        keel_tree_enter(gpt->tree, "block%02d", layer);
        add_norm(gpt, "attention_norm");
        add_matrix(gpt, "qkv", width, 3 * width, 1);
        add_matrix(gpt, "project", width, width, residual);
        add_norm(gpt, "mlp_norm");
        add_matrix(gpt, "up", width, 4 * width, 1);
        add_matrix(gpt, "down", 4 * width, width, residual);
        keel_tree_leave(gpt->tree);
    }
    add_norm(gpt, "final_norm");
}

void gpt_add_cache(gpt_t *gpt, gpt_cache_t *cache) {
    const keel_shape_t shape = KEEL_SHAPE(1, gpt->length, gpt->width / HEAD_WIDTH, HEAD_WIDTH);
    *cache = (gpt_cache_t){0};
    for (int layer = 0; layer < gpt->layers; ++layer) {
        keel_tree_enter(gpt->tree, "cache%02d", layer);
        cache->keys[layer] = keel_tree_state(gpt->tree, "keys", KEEL_F32, shape, KEEL_UNSET);
        cache->values[layer] = keel_tree_state(gpt->tree, "values", KEEL_F32, shape, KEEL_UNSET);
        keel_tree_leave(gpt->tree);
    }
}

// ---- the model ---------------------------------------------------------------------------------

keel_tensor_t gpt_past(const gpt_t *gpt, int n, int m) {
    return keel_greater_equal(keel_iota(gpt->keel, KEEL_I32, KEEL_SHAPE(n, m), 0),
                              keel_iota(gpt->keel, KEEL_I32, KEEL_SHAPE(n, m), 1));
}

static keel_tensor_t weight(const gpt_t *gpt, const char *name) {
    return keel_tree_get(gpt->tree, name);
}

static keel_tensor_t norm(const gpt_t *gpt, const char *name, keel_tensor_t x) {
    return keel_rms_norm(x, weight(gpt, name), 1e-6);
}

// One of query, key and value, by heads: [rows,n,3*width] to [rows,n,heads,HEAD_WIDTH].
static keel_tensor_t part_of(const gpt_t *gpt, keel_tensor_t qkv, int which) {
    const keel_shape_t shape = keel_shape(qkv);
    keel_tensor_t part = keel_slice(qkv, 2, which * gpt->width, (which + 1) * gpt->width);
    return keel_reshape(
        part, KEEL_SHAPE(shape.dims[0], shape.dims[1], gpt->width / HEAD_WIDTH, HEAD_WIDTH));
}

// A row's keys or values with the fresh ones: a whole beginning, or one in its place.
static keel_tensor_t remember(const gpt_cache_t *cache, keel_tensor_t variable,
                              keel_tensor_t fresh) {
    const int64_t room = keel_shape(variable).dims[1] - keel_shape(fresh).dims[1];
    keel_tensor_t all = keel_is_empty(cache->is_next)
                            ? keel_pad(fresh, 1, 0, room)
                            : keel_select(cache->is_next, fresh, variable);
    keel_assign(variable, all);
    return all;
}

static keel_tensor_t attention(const gpt_t *gpt, int layer, keel_tensor_t x, keel_tensor_t visible,
                               gpt_cache_t *cache) {
    keel_tensor_t qkv = keel_matmul(x, weight(gpt, "qkv"));
    keel_tensor_t query = part_of(gpt, qkv, 0), key = part_of(gpt, qkv, 1),
                  value = part_of(gpt, qkv, 2);
    if (cache) {
        key = remember(cache, cache->keys[layer], key);
        value = remember(cache, cache->values[layer], value);
    }
    // [rows,heads,n,m]
    keel_tensor_t scores =
        keel_dot(query, key, KEEL_AXES(0, 2), KEEL_AXES(0, 2), KEEL_AXES(3), KEEL_AXES(3));
    scores = keel_divide(scores, keel_constant(scores, sqrt(HEAD_WIDTH)));
    scores = keel_select(visible, scores, keel_constant(scores, -INFINITY));
    // [rows,heads,n,HEAD_WIDTH]
    keel_tensor_t mixed = keel_dot(keel_softmax(scores, -1), value, KEEL_AXES(0, 1),
                                   KEEL_AXES(0, 2), KEEL_AXES(3), KEEL_AXES(1));
    mixed = keel_reshape(keel_transpose(mixed, KEEL_AXES(0, 2, 1, 3)), keel_shape(x));
    return keel_matmul(mixed, weight(gpt, "project"));
}

static keel_tensor_t mlp(const gpt_t *gpt, keel_tensor_t x) {
    return keel_matmul(keel_gelu(keel_matmul(x, weight(gpt, "up"))), weight(gpt, "down"));
}

keel_tensor_t gpt_logits(const gpt_t *gpt, keel_tensor_t bytes, keel_tensor_t places,
                         keel_tensor_t visible, gpt_cache_t *cache) {
    keel_tensor_t x = keel_add(keel_take(weight(gpt, "embed"), bytes), places);
    for (int layer = 0; layer < gpt->layers; ++layer) {
        keel_tree_enter(gpt->tree, "block%02d", layer);
        x = keel_add(x, attention(gpt, layer, norm(gpt, "attention_norm", x), visible, cache));
        x = keel_add(x, mlp(gpt, norm(gpt, "mlp_norm", x)));
        keel_tree_leave(gpt->tree);
    }
    keel_tensor_t out = keel_transpose(weight(gpt, "embed"), KEEL_AXES(1, 0));
    return keel_matmul(norm(gpt, "final_norm", x), out);
}
