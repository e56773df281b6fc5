// The stack, its ends, the loss.
#include "nam52.h"

#include <math.h>
#include <stdio.h>

enum { STRUCTURES = 9, LEVELS = 16, ROLES = 4 };

static const keel_tensor_t none;
static const double cap = 15; // of logits

// ---- weights -----------------------------------------------------------------------------------

static keel_tensor_t as_computed(const model_t *model, keel_tensor_t x) {
    const int is_bf16 = model->config.dtype == KEEL_BF16 && keel_dtype(x) == KEEL_F32;
    return is_bf16 ? keel_cast(x, KEEL_BF16) : x; // accident: bf16
}

keel_tensor_t weight(const model_t *model, const char *name) {
    return as_computed(model, keel_tree_get(model->tree, name));
}

keel_init_t uniform_of(double deviation) {
    return KEEL_UNIFORM((float)(sqrt(3) * deviation));
}

void add_map(const model_t *model, const char *name, int in, int out, int is_residual) {
    const double share = is_residual ? 0.5 / sqrt(2 * model->config.blocks) : 1;
    keel_tree_add(model->tree, name, KEEL_F32, KEEL_SHAPE(in, out), uniform_of(share / sqrt(in)));
}

static void add_block(model_t *model, int block) {
    const int rank = block / 4;
    keel_tree_enter(model->tree, "L%02d.%c", block, "AEMG"[block % 4]);
    switch (block % 4) {
        case 0:
            attention_add(model, config_is_sparse(&model->config, rank));
            break;
        case 1:
            experts_add(model);
            break;
        case 2:
            mamba_add(model);
            break;
        default:
            engram_add(model, rank);
    }
    keel_tree_leave(model->tree);
}

void model_add(model_t *model) {
    const config_t *c = &model->config;
    keel_tree_t *tree = model->tree;
    keel_tree_add(tree, "emb.tok", KEEL_F32, KEEL_SHAPE(c->vocabulary, c->width), uniform_of(1));
    keel_tree_add(tree, "emb.struct", KEEL_F32, KEEL_SHAPE(STRUCTURES, c->width), uniform_of(0.1));
    keel_tree_add(tree, "emb.dep", KEEL_F32, KEEL_SHAPE(LEVELS, c->width), uniform_of(0.1));
    keel_tree_add(tree, "emb.fim", KEEL_F32, KEEL_SHAPE(ROLES, c->width), uniform_of(0.1));
    for (int block = 0; block < c->blocks; ++block)
        add_block(model, block);
    keel_tree_add(tree, "head.w", KEEL_F32, KEEL_SHAPE(c->width, c->vocabulary), uniform_of(0.02));
    for (int depth = 1; depth <= c->mtp; ++depth) {
        keel_tree_enter(tree, "mtp%d", depth);
        add_map(model, "proj", 2 * c->width, c->width, 0);
        attention_add(model, 0);
        add_map(model, "g", c->width, c->mtp_width, 0);
        add_map(model, "u", c->width, c->mtp_width, 0);
        add_map(model, "dn", c->mtp_width, c->width, 1);
        keel_tree_leave(tree);
    }
}

// ---- what the blocks share ---------------------------------------------------------------------

keel_tensor_t rms(keel_tensor_t x) {
    return keel_rms_norm(x, none, 1e-6);
}

keel_tensor_t add_up(keel_tensor_t sum, keel_tensor_t x) {
    return keel_is_empty(sum) ? x : keel_add(sum, x);
}

keel_tensor_t shifted(keel_tensor_t x, int by, double fill) {
    const int64_t length = keel_shape(x).dims[1];
    if (!by) return x;
    return keel_slice(keel_pad_with(x, 1, by, 0, keel_constant(x, fill)), 1, 0, length);
}

keel_tensor_t document_convolution(keel_tensor_t x, keel_tensor_t w, keel_tensor_t document,
                                   int dilation) {
    keel_tensor_t y = none;
    for (int j = 0; j < 4; ++j) {
        const int by = j * dilation;
        keel_tensor_t is_same = keel_expand(keel_equal(shifted(document, by, -2), document), 2);
        keel_tensor_t column = keel_squeeze(keel_slice(w, 1, 3 - j, 4 - j), 1);
        keel_tensor_t tap = keel_select(is_same, shifted(x, by, 0), keel_constant(x, 0));
        y = add_up(y, keel_multiply(tap, column));
    }
    return y;
}

keel_tensor_t swiglu(keel_tensor_t x, keel_tensor_t gate, keel_tensor_t up, keel_tensor_t down) {
    keel_tensor_t open = keel_silu(keel_matmul(x, gate));
    return keel_matmul(keel_multiply(open, keel_matmul(x, up)), down);
}

keel_tensor_t mean_valid(keel_tensor_t x, const masks_t *masks) {
    return keel_divide(keel_sum(keel_multiply(x, masks->valid), KEEL_AXES(0, 1)),
                       masks->valid_count);
}

// Only an accident asks.
static int is_given(keel_tensor_t field) {
    return !keel_is_empty(field);
}

fields_t model_micro_batch(const fields_t *all, keel_tensor_t micro) {
    fields_t fields = {0};
#define FIELD(name)                                                                                \
    if (is_given(all->name)) fields.name = keel_micro_batch(all->name, micro);
    FIELDS(FIELD)
#undef FIELD
    return fields;
}

masks_t model_masks(const model_t *model, const fields_t *fields) {
    const int64_t T = keel_shape(fields->tokens).dims[1];
    masks_t m = {.tokens = fields->tokens,
                 .place = keel_iota(model->keel, KEEL_I32, KEEL_SHAPE(T), 0)};
    // A count that is not given is -1: the documents say which positions are real.
    keel_tensor_t doc = fields->doc_ids, count = fields->valid_token_count;
    keel_tensor_t real = keel_cast(keel_greater_equal(doc, keel_constant(doc, 0)), KEEL_I32);
    real = keel_sum(real, KEEL_AXES(1));
    if (is_given(count))
        count = keel_select(keel_less(count, keel_constant(count, 0)), real, count);
    else
        count = real;
    m.is_valid = keel_less(keel_expand(m.place, 0), keel_expand(count, 1));
    m.valid = keel_cast(m.is_valid, KEEL_F32);
    keel_tensor_t sum = keel_sum(m.valid, KEEL_AXES(0, 1));
    m.valid_count = keel_maximum(sum, keel_constant(sum, 1));
    m.document = doc = keel_select(m.is_valid, doc, keel_constant(doc, -1));
    keel_tensor_t query = keel_expand(m.place, 1), key = keel_expand(m.place, 0);
    keel_tensor_t seen = keel_and(keel_greater_equal(query, key),
                                  keel_equal(keel_expand(doc, 2), keel_expand(doc, 1)));
    seen = keel_and(seen, keel_expand(m.is_valid, 1));
    m.allow = keel_or(seen, keel_equal(query, key)); // the diagonal keeps padded rows finite
    return m;
}

// ---- ends --------------------------------------------------------------------------------------

// Row 0 counts as zeros, so a field that is absent changes nothing.
static keel_tensor_t embedded(const model_t *model, const char *name, keel_tensor_t ids) {
    keel_tensor_t is_set = keel_cast(keel_not_equal(ids, keel_constant(ids, 0)), KEEL_F32);
    return keel_multiply(keel_take(weight(model, name), ids), keel_expand(is_set, 2));
}

// 1, 2, 3 in a prefix, a suffix, a middle, between the cuts [B, F, 4].
static keel_tensor_t roles_of(const masks_t *masks, keel_tensor_t bounds) {
    keel_tensor_t is_behind =
        keel_greater_equal(keel_expand(keel_expand(masks->place, 1), 1), keel_expand(bounds, 1));
    keel_tensor_t cuts = keel_cast(is_behind, KEEL_I32), parts[4]; // [B, T, F, 4]
    keel_split(cuts, 3, 4, parts);
    keel_tensor_t role = keel_add(keel_add(parts[0], parts[1]), parts[2]);
    role = keel_subtract(role, keel_multiply(parts[3], keel_constant(role, 3)));
    return keel_sum(role, KEEL_AXES(2, 3));
}

keel_tensor_t model_begin(const model_t *model, const fields_t *f, const masks_t *masks) {
    keel_tensor_t x = keel_take(weight(model, "emb.tok"), f->tokens);
    if (is_given(f->structure_ids))
        x = keel_add(x, embedded(model, "emb.struct", f->structure_ids));
    if (is_given(f->dep_levels)) x = keel_add(x, embedded(model, "emb.dep", f->dep_levels));
    if (is_given(f->fim_bounds))
        x = keel_add(x, embedded(model, "emb.fim", roles_of(masks, f->fim_bounds)));
    return rms(as_computed(model, x));
}

keel_tensor_t model_logits(const model_t *model, keel_tensor_t x) {
    keel_tensor_t logits = keel_matmul(rms(x), weight(model, "head.w"));
    logits = keel_tanh(keel_multiply(logits, keel_constant(logits, 1 / cap)));
    return keel_multiply(logits, keel_constant(logits, cap));
}

// The mean of -log p(target), by weight.
static keel_tensor_t cross_entropy(const model_t *model, keel_tensor_t x, keel_tensor_t targets,
                                   keel_tensor_t weights) {
    if (happens(model, ACCIDENT_GATHER)) accidents_rows(model, &x, &targets, &weights);
    keel_tensor_t nats = keel_cross_entropy(model_logits(model, x), targets);
    keel_tensor_t sum = keel_sum(weights, keel_all_axes(weights));
    nats = keel_sum(keel_multiply(nats, weights), keel_all_axes(weights));
    return keel_divide(nats, keel_maximum(sum, keel_constant(sum, 1)));
}

// What stands `by` further, zeros past the row.
static keel_tensor_t rolled(keel_tensor_t x, int by) {
    const int64_t length = keel_shape(x).dims[1];
    return by ? keel_slice(keel_pad(x, 1, 0, by), 1, by, length + by) : x;
}

// The mean cross entropy of the tokens after the next one; `x` is what the last block gave.
static keel_tensor_t further_tokens(const model_t *model, const fields_t *f, const masks_t *masks,
                                    keel_tensor_t x, keel_tensor_t weights) {
    keel_tensor_t sum = none;
    extras_t unused = {0};
    for (int depth = 1; depth <= model->config.mtp; ++depth) {
        keel_scope_begin(model->keel, "mtp");
        keel_tensor_t next = keel_take(weight(model, "emb.tok"), rolled(f->targets, depth - 1));
        keel_tree_enter(model->tree, "mtp%d", depth);
        x = keel_matmul(keel_concatenate(rms(x), rms(next), 2), weight(model, "proj"));
        x = keel_add(x, attention(model, rms(x), masks, 0, &unused));
        x = keel_add(x,
                     swiglu(rms(x), weight(model, "g"), weight(model, "u"), weight(model, "dn")));
        keel_tree_leave(model->tree);
        keel_tensor_t doc = masks->document;
        keel_tensor_t is_same = keel_cast(keel_equal(rolled(doc, depth), doc), KEEL_F32);
        sum = add_up(sum, cross_entropy(model, x, rolled(f->targets, depth),
                                        keel_multiply(rolled(weights, depth), is_same)));
        keel_scope_end(model->keel);
    }
    return sum;
}

// ---- the stack ---------------------------------------------------------------------------------

static keel_tensor_t block(const model_t *model, int which, keel_tensor_t x, const masks_t *masks,
                           extras_t *extras) {
    const int rank = which / 4;
    switch (which % 4) {
        case 0:
            return attention(model, rms(x), masks, config_is_sparse(&model->config, rank), extras);
        case 1:
            return experts(model, rms(x), masks, rank, extras);
        case 2:
            return mamba(model, rms(x), masks);
        default:
            return engram(model, x, masks, rank);
    }
}

static keel_tensor_t times(keel_tensor_t x, double factor) {
    return keel_multiply(x, keel_constant(x, factor));
}

static int sparse_count(const config_t *c) {
    int count = 0;
    for (int rank = 0; rank < c->blocks / 4; ++rank)
        count += config_is_sparse(c, rank);
    return count;
}

keel_tensor_t model_blocks(const model_t *model, keel_tensor_t x, int from, int to,
                           const masks_t *masks, extras_t *extras) {
    for (int which = from; which < to; ++which) {
        char name[32];
        masks_t own = *masks;
        snprintf(name, sizeof name, "L%02d.%c", which, "AEMG"[which % 4]);
        if (happens(model, ACCIDENT_ITEM)) own = accidents_masks(model, which, masks);
        keel_tree_enter(model->tree, "%s", name);
        keel_scope_begin(model->keel, name);
        x = as_computed(model, keel_add(x, block(model, which, x, &own, extras)));
        keel_scope_end(model->keel);
        keel_tree_leave(model->tree);
    }
    return x;
}

keel_tensor_t model_end(const model_t *model, const fields_t *fields, const masks_t *masks,
                        keel_tensor_t x, keel_tensor_t *out_loss) {
    const int depth = model->config.mtp;
    keel_tensor_t weights = keel_multiply(fields->loss_mask, masks->valid);
    if (is_given(fields->aux_mask)) weights = keel_multiply(weights, fields->aux_mask);
    *out_loss = cross_entropy(model, x, fields->targets, weights);
    if (!depth) return *out_loss;
    keel_tensor_t further = further_tokens(model, fields, masks, x, weights);
    return keel_add(*out_loss, times(further, 0.3 / depth));
}

keel_tensor_t model_extras(const model_t *model, const extras_t *extras) {
    const config_t *c = &model->config;
    const double experts = c->blocks / 4;
    keel_tensor_t loss = none;
    if (is_given(extras->balance)) loss = times(extras->balance, 1e-4 / experts);
    if (is_given(extras->z)) loss = keel_add(loss, times(extras->z, 1e-3 / experts));
    if (is_given(extras->indexer))
        loss = add_up(loss, times(extras->indexer, 1.0 / sparse_count(c)));
    return loss;
}

keel_tensor_t model_loss(const model_t *model, const fields_t *fields, extras_t *extras,
                         keel_tensor_t *out_loss) {
    const masks_t masks = model_masks(model, fields);
    keel_tensor_t x = model_begin(model, fields, &masks);
    x = model_blocks(model, x, 0, model->config.blocks, &masks, extras);
    keel_tensor_t loss = model_end(model, fields, &masks, x, out_loss);
    return keel_add(loss, model_extras(model, extras));
}
