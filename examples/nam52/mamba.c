// M: Mamba-2 in its chunked matrix form (Dao and Gu, 2024). In place of a recurrence over positions
// there are products within chunks, a state for each chunk, and one product across chunks.
#include <math.h>

#include "nam52.h"

static keel_tensor_t decay_of(keel_tensor_t u, const void *unused) {
    (void)unused;
    return keel_log1p(keel_multiply(u, keel_constant(u, 15)));
}

// softplus of it is exp(ln 1e-3 + u ln 100).
static keel_tensor_t step_of(keel_tensor_t u, const void *unused) {
    (void)unused;
    keel_tensor_t size = keel_multiply(u, keel_constant(u, log(0.1) - log(0.001)));
    keel_tensor_t dt = keel_exp(keel_add(size, keel_constant(u, log(0.001))));
    return keel_add(dt, keel_log(keel_negate(keel_expm1(keel_negate(dt)))));
}

void mamba_add(model_t *model) {
    const config_t *c = &model->config;
    const int heads = c->inner / c->mamba_head;
    const int channels = c->inner + 2 * c->mamba_groups * c->state;
    keel_tree_t *tree = model->tree;
    add_map(model, "win", c->width, c->inner + channels + heads, 0);
    keel_tree_add(tree, "conv", KEEL_F32, KEEL_SHAPE(channels, 4), uniform_of(1 / sqrt(12)));
    keel_tree_add(tree, "convb", KEEL_F32, KEEL_SHAPE(channels), KEEL_FILL(0));
    keel_tree_add(tree, "alog", KEEL_F32, KEEL_SHAPE(heads), KEEL_MADE(decay_of, NULL));
    keel_tree_add(tree, "dtb", KEEL_F32, KEEL_SHAPE(heads), KEEL_MADE(step_of, NULL));
    keel_tree_add(tree, "D", KEEL_F32, KEEL_SHAPE(heads), KEEL_FILL(1));
    keel_tree_add(tree, "nw", KEEL_F32, KEEL_SHAPE(c->inner), KEEL_FILL(1));
    add_map(model, "wout", c->inner, c->width, 1);
}

// Masked before it, so that nothing overflows.
static keel_tensor_t masked_exp(keel_tensor_t mask, keel_tensor_t x) {
    return keel_exp(keel_select(mask, x, keel_constant(x, -1e30)));
}

static keel_tensor_t last_twice(keel_tensor_t mask) {
    return keel_expand(keel_expand(mask, -1), -1);
}

// Of chunks: X [b,c,i,g,h,p] times dt, B and C [b,c,i,g,n], logarithms of decays [b,c,i,g,h],
// documents [b,c,i].
typedef struct chunks_t {
    keel_tensor_t x, b, c, decay, document;
} chunks_t;

static keel_tensor_t across(const model_t *model, const chunks_t *s) {
    const int64_t Q = model->config.chunk;
    const int64_t count = keel_shape(s->decay).dims[1];
    keel_tensor_t cs = keel_cumsum(s->decay, 2), doc = s->document;
    keel_tensor_t end = keel_slice(cs, 2, Q - 1, Q),
                  last = keel_squeeze(keel_slice(doc, 2, Q - 1, Q), 2);
    keel_tensor_t i = keel_iota(model->keel, KEEL_I32, KEEL_SHAPE(Q), 0);
    // within a chunk
    keel_tensor_t mask = keel_and(keel_greater_equal(keel_expand(i, 1), keel_expand(i, 0)),
                                  keel_equal(keel_expand(doc, 3), keel_expand(doc, 2)));
    keel_tensor_t apart = keel_subtract(keel_expand(cs, 3), keel_expand(cs, 2));
    keel_tensor_t weights = keel_expand(keel_einsum("bcign,bcjgn->bcijg", s->c, s->b), -1);
    weights = keel_multiply(weights, masked_exp(last_twice(mask), apart));
    keel_tensor_t y = keel_einsum("bcijgh,bcjghp->bcighp", weights, s->x);
    // the state at the end of each chunk
    mask = last_twice(keel_equal(doc, keel_expand(last, 2)));
    keel_tensor_t left = keel_expand(masked_exp(mask, keel_subtract(end, cs)), -1);
    keel_tensor_t state = keel_einsum("bcjgn,bcjghp->bcghnp", s->b, keel_multiply(s->x, left));
    // across chunks: one product
    keel_tensor_t total = keel_squeeze(end, 2),
                  before = keel_subtract(keel_cumsum(total, 1), total);
    keel_tensor_t k = keel_iota(model->keel, KEEL_I32, KEEL_SHAPE(count), 0);
    keel_tensor_t previous = keel_pad_with(last, 1, 1, 0, keel_constant(last, -2));
    previous = keel_slice(previous, 1, 0, count);
    mask = keel_and(keel_less(keel_expand(k, 0), keel_expand(k, 1)),
                    keel_equal(keel_expand(previous, 2), keel_expand(last, 1)));
    apart = keel_subtract(keel_expand(before, 2), keel_expand(keel_add(before, total), 1));
    keel_tensor_t in = masked_exp(last_twice(mask), apart);
    in = keel_einsum("bckgh,bkghnp->bcghnp", in, state);
    mask = last_twice(keel_equal(doc, keel_expand(previous, 2)));
    keel_tensor_t from = keel_einsum("bcign,bcghnp->bcighp", s->c, in);
    return keel_add(y, keel_multiply(from, keel_expand(masked_exp(mask, cs), -1)));
}

keel_tensor_t mamba(const model_t *model, keel_tensor_t x, const masks_t *masks) {
    const config_t *c = &model->config;
    const keel_shape_t shape = keel_shape(x);
    const int64_t B = shape.dims[0], T = shape.dims[1], Q = c->chunk, C = T / Q;
    const int G = c->mamba_groups, S = c->state, P = c->mamba_head, each = c->inner / P / G;
    const int inner = c->inner, end = inner + 2 * G * S, heads = G * each;
    keel_tensor_t all = keel_matmul(x, weight(model, "win"));
    keel_tensor_t z = keel_slice(all, 2, 0, inner), xbc = keel_slice(all, 2, inner, inner + end);
    xbc = document_convolution(xbc, weight(model, "conv"), masks->document, 1);
    xbc = keel_silu(keel_add(xbc, weight(model, "convb")));
    keel_tensor_t dt = keel_slice(all, 2, inner + end, inner + end + heads);
    dt = keel_reshape(keel_softplus(keel_add(dt, weight(model, "dtb"))),
                      KEEL_SHAPE(B, C, Q, G, each));
    keel_tensor_t a = keel_negate(keel_exp(weight(model, "alog")));
    keel_tensor_t own = keel_reshape(keel_slice(xbc, 2, 0, inner), KEEL_SHAPE(B, C, Q, G, each, P));
    const chunks_t chunks = {
        .x = keel_multiply(own, keel_expand(dt, -1)),
        .b = keel_reshape(keel_slice(xbc, 2, inner, inner + G * S), KEEL_SHAPE(B, C, Q, G, S)),
        .c = keel_reshape(keel_slice(xbc, 2, inner + G * S, end), KEEL_SHAPE(B, C, Q, G, S)),
        .decay = keel_multiply(dt, keel_reshape(a, KEEL_SHAPE(G, each))),
        .document = keel_reshape(masks->document, KEEL_SHAPE(B, C, Q))};
    keel_tensor_t y = across(model, &chunks);
    keel_tensor_t skip = keel_reshape(weight(model, "D"), KEEL_SHAPE(G, each, 1));
    y = keel_reshape(keel_add(y, keel_multiply(own, skip)), KEEL_SHAPE(B, T, inner));
    y = rms(keel_reshape(keel_multiply(y, keel_silu(z)), KEEL_SHAPE(B, T, G, inner / G)));
    y = keel_multiply(keel_reshape(y, KEEL_SHAPE(B, T, inner)), weight(model, "nw"));
    return keel_matmul(y, weight(model, "wout"));
}
