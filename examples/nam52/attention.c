// A: attention with fewer heads of keys than of queries and a softcap. On sparse blocks an indexer
// chooses the keys of each row, and learns from the attention that it allowed.
#include <math.h>

#include "nam52.h"

static const double softcap = 30, base = 10000;

void attention_add(model_t *model, int is_sparse) {
    const config_t *c = &model->config;
    add_map(model, "wqkv", c->width, (c->heads + 2 * c->groups) * c->head, 0);
    add_map(model, "wo", c->heads * c->head, c->width, 1);
    if (!is_sparse) return;
    add_map(model, "ix.wq", c->width, c->index_heads * c->index_width, 0);
    add_map(model, "ix.wk", c->width, c->index_width, 0);
    add_map(model, "ix.ww", c->width, c->index_heads, 0);
}

// By the place in the row, the other way round than keel_rope turns.
static keel_tensor_t turned(keel_tensor_t x, const masks_t *masks) {
    return keel_rope(x, keel_negate(masks->place), base);
}

// How much key s may tell query t: f32 [B, T, T].
static keel_tensor_t index_scores(const model_t *model, keel_tensor_t x, const masks_t *masks) {
    const config_t *c = &model->config;
    const keel_shape_t shape = keel_shape(x);
    keel_tensor_t from = keel_stop_gradient(x);
    keel_tensor_t q =
        keel_reshape(keel_matmul(from, weight(model, "ix.wq")),
                     KEEL_SHAPE(shape.dims[0], shape.dims[1], c->index_heads, c->index_width));
    keel_tensor_t k = keel_expand(rms(keel_matmul(from, weight(model, "ix.wk"))), 2);
    k = keel_squeeze(turned(k, masks), 2);
    keel_tensor_t w = keel_matmul(from, weight(model, "ix.ww"));
    w = keel_multiply(w, keel_constant(w, 1 / sqrt(c->index_heads * c->index_width)));
    keel_tensor_t each = keel_relu(keel_einsum("bthe,bse->bths", turned(q, masks), k));
    return keel_einsum("bth,bths->bts", w, each);
}

// The keys with the largest scores, of equals the first; those that are near come first of all.
static keel_tensor_t chosen_keys(const config_t *c, keel_tensor_t scores, const masks_t *masks) {
    keel_tensor_t ago = keel_subtract(keel_expand(masks->place, 1), keel_expand(masks->place, 0));
    keel_tensor_t is_near = keel_and(keel_greater_equal(ago, keel_constant(ago, 0)),
                                     keel_less(ago, keel_constant(ago, c->near)));
    scores = keel_select(is_near, keel_constant(scores, 1e30), keel_stop_gradient(scores));
    scores = keel_select(masks->allow, scores, keel_constant(scores, -1e30));
    keel_tensor_t order = keel_argsort(scores, -1, KEEL_DESCENDING);
    keel_tensor_t rank = keel_argsort(order, -1, KEEL_ASCENDING);
    return keel_and(masks->allow, keel_less(rank, keel_constant(rank, c->keys)));
}

// KL between what attention gave, p [B, g, r, T, T], and what the indexer says.
static keel_tensor_t indexer_loss(keel_tensor_t p, keel_tensor_t scores, keel_tensor_t keep,
                                  const masks_t *masks) {
    keel_tensor_t target = keel_stop_gradient(keel_mean(p, KEEL_AXES(1, 2)));
    keel_tensor_t said =
        keel_log_softmax(keel_select(keep, scores, keel_constant(scores, -1e30)), -1);
    keel_tensor_t seen = keel_log(keel_add(target, keel_constant(target, 1e-10)));
    keel_tensor_t each = keel_multiply(target, keel_subtract(seen, said));
    each = keel_sum(keel_select(keep, each, keel_constant(each, 0)), KEEL_AXES(-1));
    return mean_valid(each, masks);
}

// q [B, T, g, r, h], k and v [B, T, g, h]. The probabilities are needed, so it is written out.
static keel_tensor_t sparse(const model_t *model, keel_tensor_t x, keel_tensor_t q, keel_tensor_t k,
                            keel_tensor_t v, const masks_t *masks, extras_t *extras) {
    const config_t *c = &model->config;
    keel_tensor_t scores = index_scores(model, x, masks);
    keel_tensor_t keep = chosen_keys(c, scores, masks);
    keel_tensor_t l = keel_einsum("btgrh,bsgh->bgrts", q, k);
    l = keel_multiply(l, keel_constant(l, 1 / sqrt(c->head) / softcap));
    l = keel_multiply(keel_tanh(l), keel_constant(l, softcap));
    keel_tensor_t is_kept = keel_expand(keel_expand(keep, 1), 1);
    keel_tensor_t p = keel_softmax(keel_select(is_kept, l, keel_constant(l, -1e30)), -1);
    extras->indexer = add_up(extras->indexer, indexer_loss(p, scores, keep, masks));
    return keel_einsum("bgrts,bsgh->btgrh", p, v);
}

keel_tensor_t attention(const model_t *model, keel_tensor_t x, const masks_t *masks, int is_sparse,
                        extras_t *extras) {
    const config_t *c = &model->config;
    const keel_shape_t shape = keel_shape(x);
    const int64_t B = shape.dims[0], T = shape.dims[1];
    const int each = c->heads / c->groups; // queries of a head of keys
    const keel_shape_t of_keys = KEEL_SHAPE(B, T, c->groups, c->head);
    keel_tensor_t qkv = keel_matmul(x, weight(model, "wqkv"));
    qkv = keel_reshape(qkv, KEEL_SHAPE(B, T, c->groups, each + 2, c->head));
    keel_tensor_t q = rms(turned(keel_slice(qkv, 3, 0, each), masks));
    keel_tensor_t k = rms(turned(keel_slice(qkv, 3, each, each + 1), masks)), y;
    keel_tensor_t v = keel_reshape(keel_slice(qkv, 3, each + 1, each + 2), of_keys);
    k = keel_reshape(k, of_keys);
    if (is_sparse) {
        y = sparse(model, x, q, k, v, masks, extras);
    } else {
        const keel_attention_options_t options = {.softcap = softcap};
        q = keel_reshape(q, KEEL_SHAPE(B, T, c->heads, c->head));
        y = keel_attention(q, k, v, masks->allow, options, NULL);
    }
    return keel_matmul(keel_reshape(y, KEEL_SHAPE(B, T, c->heads * c->head)), weight(model, "wo"));
}
