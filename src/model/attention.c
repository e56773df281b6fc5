// Attention in one of its forms, the one that was asked for: a form that does not fit is refused.
// Scores and the softmax are f32, products take the dtype of their operands.
#include "model/model.h"

#include <math.h>
#include <stdio.h>

#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))
#define CONSTANT(like, value) keel_constant_at(site, (like), (value))

// Of masked scores. Not -inf, which makes NaN of rows that have nothing else.
static const double masked = -1e30;

typedef struct attention_t {
    const keel_attention_options_t *options;
    keel_context_t *context;
    keel_tensor_t q, k, v, mask; // q: [B, T, G, r, h]; mask: [B, T, S], or empty
    int64_t batch, queries, keys, groups, heads, width;
    keel_tensor_t factor, cap, window; // of scores, before and after tanh; empty: none
} attention_t;

// ---- what fits ---------------------------------------------------------------------------------

static keel_status_t refuse(const char *what, keel_tensor_t x, keel_tensor_t y) {
    char text[KEEL_TENSOR_TEXT], other[KEEL_TENSOR_TEXT];
    const keel_shape_t shape = keel_shape(x), other_shape = keel_shape(y);
    return keel_status_make(KEEL_INVALID, "attention: %s and %s: %s",
                            keel_tensor_text(keel_dtype(x), &shape, text),
                            keel_tensor_text(keel_dtype(y), &other_shape, other), what);
}

static keel_status_t check_shapes(keel_tensor_t q, keel_tensor_t k, keel_tensor_t v) {
    const keel_shape_t of_q = keel_shape(q), of_k = keel_shape(k), of_v = keel_shape(v);
    if (of_q.rank != 4 || of_k.rank != 4 || of_q.dims[0] != of_k.dims[0] ||
        of_q.dims[3] != of_k.dims[3] || !keel_tensor_is_float(keel_dtype(q)))
        return refuse("queries are floats [B, T, H, h], keys [B, S, G, h]", q, k);
    if (!of_k.dims[2] || of_q.dims[2] % of_k.dims[2])
        return refuse("the heads of the queries are not a multiple of those of the keys", q, k);
    if (of_v.rank != 4 || memcmp(of_v.dims, of_k.dims, 3 * sizeof *of_k.dims))
        return refuse("values are [B, S, G, e] for keys [B, S, G, h]", k, v);
    if (keel_dtype(q) != keel_dtype(k) || keel_dtype(k) != keel_dtype(v))
        return refuse("queries, keys and values have one dtype", q,
                      keel_dtype(k) != keel_dtype(q) ? k : v);
    return NULL;
}

static keel_status_t check_mask(keel_tensor_t q, keel_tensor_t k, keel_tensor_t mask) {
    const keel_shape_t shape = keel_shape(mask);
    const keel_shape_t wanted =
        KEEL_SHAPE(keel_shape(q).dims[0], keel_shape(q).dims[1], keel_shape(k).dims[1]);
    if (keel_is_empty(mask)) return NULL;
    if (keel_dtype(mask) == KEEL_BOOL && keel_tensor_same_shape(&shape, &wanted)) return NULL;
    return refuse("a mask is bool[B, T, S]", q, mask);
}

static keel_status_t check_options(keel_tensor_t q, keel_tensor_t k,
                                   const keel_attention_options_t *options) {
    const int64_t keys = keel_shape(k).dims[1];
    if (!keys) return refuse("there are no keys", q, k);
    if (options->window < 0) return refuse("a window is not negative", q, k);
    if (options->is_causal && keel_shape(q).dims[1] != keys)
        return refuse("causal attention has as many queries as keys", q, k);
    if (options->window && !options->is_causal)
        return refuse("a window is of causal attention", q, k);
    if (options->form == KEEL_ATTENTION_DENSE) return NULL;
    if (options->form != KEEL_ATTENTION_BLOCKED) return refuse("there is no such form", q, k);
    if (options->block <= 0 || keys % options->block)
        return keel_status_make(KEEL_INVALID,
                                "attention: blocks of %lld do not divide %lld keys; pad the keys "
                                "and mask them, or ask for KEEL_ATTENTION_DENSE",
                                (long long)options->block, (long long)keys);
    return NULL;
}

static double default_scale(const attention_t *a) {
    return 1 / sqrt((double)keel_shape(a->k).dims[3]);
}

// All blocks share them.
static void take_numbers(keel_caller_t site, attention_t *a) {
    const keel_attention_options_t *o = a->options;
    keel_context_t *context = a->context;
    const keel_dtype_t dtype = rules_dtype(keel_dtype(a->k));
    const double scale = o->scale != 0 ? o->scale : default_scale(a), cap = o->softcap;
    if (cap != 0) {
        a->factor = keel_tensor_number(site, context, dtype, scale / cap, "scale / softcap");
        a->cap = keel_tensor_number(site, context, dtype, cap, "softcap");
    } else if (o->scale != 0) {
        a->factor = keel_tensor_number(site, context, dtype, scale, "scale");
    }
    if (o->window)
        a->window = keel_tensor_number(site, context, KEEL_I32, (double)o->window, "window");
}

static keel_status_t begin(keel_caller_t site, keel_tensor_t q, keel_tensor_t k, keel_tensor_t v,
                           keel_tensor_t mask, const keel_attention_options_t *options,
                           attention_t *out) {
    KEEL_TRY(check_shapes(q, k, v));
    KEEL_TRY(check_mask(q, k, mask));
    KEEL_TRY(check_options(q, k, options));
    const keel_shape_t shape = keel_shape(q);
    int64_t groups = keel_shape(k).dims[2], heads = shape.dims[2] / groups;
    *out = (attention_t){
        .options = options,
        .context = q.context,
        .q = keel_reshape_at(
            site, q, KEEL_SHAPE(shape.dims[0], shape.dims[1], groups, heads, shape.dims[3])),
        .k = k,
        .v = v,
        .mask = mask,
        .batch = shape.dims[0],
        .queries = shape.dims[1],
        .keys = keel_shape(k).dims[1],
        .groups = groups,
        .heads = heads,
        .width = keel_shape(v).dims[3]};
    take_numbers(site, out);
    return NULL;
}

// ---- scores ------------------------------------------------------------------------------------

// Whether query t may see key s, for keys [from, to), as [T, s].
static keel_tensor_t causal_mask(keel_caller_t site, const attention_t *a, int64_t from,
                                 int64_t to) {
    const keel_shape_t shape = KEEL_SHAPE(a->queries, to - from);
    keel_tensor_t query = keel_iota_at(site, a->context, KEEL_I32, shape, 0);
    keel_tensor_t key = keel_iota_at(site, a->context, KEEL_I32, shape, 1);
    keel_tensor_t back =
        BINARY(SUBTRACT, BINARY(SUBTRACT, query, key), CONSTANT(query, (double)from));
    keel_tensor_t is_seen = keel_compare_at(site, KEEL_OP_GREATER_EQUAL, back, CONSTANT(back, 0));
    if (!a->options->window) return is_seen;
    return BINARY(AND, is_seen, keel_compare_at(site, KEEL_OP_LESS, back, a->window));
}

// As [B or 1, 1, T, 1, s]; empty if all may be seen.
static keel_tensor_t mask_of(keel_caller_t site, const attention_t *a, int64_t from, int64_t to) {
    keel_tensor_t mask = {0};
    int64_t batch = 1;
    if (!keel_is_empty(a->mask)) {
        mask = keel_slice_at(site, a->mask, 2, from, to);
        batch = a->batch;
    }
    if (a->options->is_causal) {
        keel_tensor_t causal = causal_mask(site, a, from, to);
        mask = keel_is_empty(mask) ? causal : BINARY(AND, mask, causal);
    }
    if (keel_is_empty(mask)) return mask;
    return keel_reshape_at(site, mask, KEEL_SHAPE(batch, 1, a->queries, 1, to - from));
}

// [B, G, T, r, s], f32.
static keel_tensor_t scores_of(keel_caller_t site, const attention_t *a, int64_t from, int64_t to) {
    keel_tensor_t k = keel_slice_at(site, a->k, 1, from, to);
    keel_tensor_t scores =
        keel_dot_at(site, a->q, k, KEEL_AXES(0, 2), KEEL_AXES(0, 2), KEEL_AXES(4), KEEL_AXES(3));
    scores = keel_cast_at(site, scores, rules_dtype(keel_dtype(scores)));
    keel_tensor_t factor = a->factor;
    if (keel_is_empty(factor)) factor = CONSTANT(scores, default_scale(a));
    scores = BINARY(MULTIPLY, scores, factor);
    if (!keel_is_empty(a->cap))
        scores = BINARY(MULTIPLY, keel_unary_at(site, KEEL_OP_TANH, scores), a->cap);
    keel_tensor_t mask = mask_of(site, a, from, to);
    return keel_is_empty(mask) ? scores
                               : keel_select_at(site, mask, scores, CONSTANT(scores, masked));
}

// Of probabilities [B, G, T, r, s] and values: [B, G, T, r, e].
static keel_tensor_t values_of(keel_caller_t site, const attention_t *a, keel_tensor_t p,
                               int64_t from, int64_t to) {
    keel_tensor_t v = keel_slice_at(site, a->v, 1, from, to);
    return keel_dot_at(site, keel_cast_at(site, p, keel_dtype(v)), v, KEEL_AXES(0, 1),
                       KEEL_AXES(0, 2), KEEL_AXES(4), KEEL_AXES(1));
}

// ---- forms -------------------------------------------------------------------------------------

static keel_tensor_t dense(keel_caller_t site, const attention_t *a) {
    keel_tensor_t p = keel_softmax_at(site, scores_of(site, a, 0, a->keys), -1);
    return values_of(site, a, p, 0, a->keys);
}

static keel_tensor_t reduce_last(keel_caller_t site, const attention_t *a, keel_reduce_op_t op,
                                 keel_tensor_t x) {
    return keel_reshape_at(site, keel_reduce_at(site, op, x, KEEL_AXES(-1)),
                           KEEL_SHAPE(a->batch, a->groups, a->queries, a->heads, 1));
}

// The softmax over blocks of keys: the largest score so far, the sum of exponentials below it, and
// the values that these weigh. What was summed under a smaller maximum is scaled down.
static keel_tensor_t blocked(keel_caller_t site, const attention_t *a) {
    keel_tensor_t most = {0}, sum = {0}, values = {0};
    for (int64_t from = 0; from < a->keys; from += a->options->block) {
        const int64_t to = from + a->options->block;
        keel_tensor_t scores = scores_of(site, a, from, to);
        keel_tensor_t next = keel_stop_gradient_at(site, reduce_last(site, a, KEEL_OP_MAX, scores));
        if (from) next = BINARY(MAXIMUM, most, next);
        keel_tensor_t p = keel_unary_at(site, KEEL_OP_EXP, BINARY(SUBTRACT, scores, next));
        keel_tensor_t block_sum = reduce_last(site, a, KEEL_OP_SUM, p);
        keel_tensor_t block_values =
            keel_cast_at(site, values_of(site, a, p, from, to), keel_dtype(p));
        if (from) {
            keel_tensor_t share = keel_unary_at(site, KEEL_OP_EXP, BINARY(SUBTRACT, most, next));
            sum = BINARY(ADD, BINARY(MULTIPLY, sum, share), block_sum);
            values = BINARY(ADD, BINARY(MULTIPLY, values, share), block_values);
        } else {
            sum = block_sum;
            values = block_values;
        }
        most = next;
    }
    return keel_cast_at(site, BINARY(DIVIDE, values, sum), keel_dtype(a->v));
}

static void fill_receipt(keel_caller_t site, const attention_t *a, keel_attention_receipt_t *out) {
    const keel_attention_options_t *o = a->options;
    const bool is_blocked = o->form == KEEL_ATTENTION_BLOCKED;
    char blocks[48] = "", window[48] = "", cap[48] = "";
    if (is_blocked)
        snprintf(blocks, sizeof blocks, " (%lld of %lld keys)", (long long)(a->keys / o->block),
                 (long long)o->block);
    if (o->window) snprintf(window, sizeof window, ", window %lld", (long long)o->window);
    if (o->softcap != 0) snprintf(cap, sizeof cap, ", softcap %g", o->softcap);
    out->form = o->form;
    snprintf(out->text, sizeof out->text,
             "%s:%d: attention: %s%s, %lld queries x %lld keys, %lld heads on %lld%s%s%s%s",
             site.file ? site.file : "?", site.line, is_blocked ? "blocked" : "dense", blocks,
             (long long)a->queries, (long long)a->keys, (long long)(a->heads * a->groups),
             (long long)a->groups, o->is_causal ? ", causal" : "", window, cap,
             keel_is_empty(a->mask) ? "" : ", masked");
}

keel_tensor_t keel_attention_at(keel_caller_t site, keel_tensor_t q, keel_tensor_t k,
                                keel_tensor_t v, keel_tensor_t mask,
                                keel_attention_options_t options,
                                keel_attention_receipt_t *receipt) {
    site = keel_tensor_part_of(site, "attention");
    attention_t a;
    if (receipt) *receipt = (keel_attention_receipt_t){.form = options.form};
    if (keel_is_empty(q) || keel_is_empty(k) || keel_is_empty(v)) return (keel_tensor_t){0};
    keel_status_t status = begin(site, q, k, v, mask, &options, &a);
    if (status) return keel_tensor_fail(q.context, site, status);
    keel_tensor_t out =
        options.form == KEEL_ATTENTION_BLOCKED ? blocked(site, &a) : dense(site, &a);
    if (receipt && !keel_is_empty(out)) fill_receipt(site, &a, receipt);
    out = keel_transpose_at(site, out, KEEL_AXES(0, 2, 1, 3, 4));
    return keel_reshape_at(site, out, KEEL_SHAPE(a.batch, a.queries, a.groups * a.heads, a.width));
}
