// A step whose gradients the program sums itself, one micro-batch behind the other, which is how a
// step comes to be several programs.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nam52.h"

enum { EACH = 2 }; // blocks of a fragment

// A sum over micro-batches that stays on the device.
typedef struct sum_t {
    keel_tensor_t variable;
    int is_begun;
} sum_t;

struct by_hand_t {
    size_t count; // of parameters
    const keel_tensor_t *parameters;
    sum_t *gradients, *m, *v;
    keel_tensor_t *used, *found; // of a fragment, and x
    size_t *places;
    sum_t loss, sums[MAX_SUMS];
    int is_dropped; // what the last step left of the gradients
};

static void sum_up(sum_t *sum, keel_tensor_t x) {
    if (sum->is_begun) x = keel_add(sum->variable, x); // accident: microstep, set_none
    keel_assign(sum->variable, x);
    sum->is_begun = 1;
}

// ---- whole micro-batches -----------------------------------------------------------------------

static fields_t micro_batch(const training_t *t, long micro) {
    return model_micro_batch(&t->inputs, keel_number(t->place, (double)micro));
}

static void whole(training_t *t, by_hand_t *h, long micro) {
    const fields_t fields = micro_batch(t, micro);
    keel_tensor_t sums[MAX_SUMS];
    keel_tensor_t loss = step_loss(&t->model, &fields, sums);
    keel_gradients(loss, h->parameters, h->count, h->found);
    for (size_t i = 0; i < h->count; ++i)
        sum_up(&h->gradients[i], h->found[i]);
    for (size_t i = 0; i < step_sums(&t->model.config); ++i)
        sum_up(&h->sums[i], sums[i]);
    sum_up(&h->loss, loss);
}

// ---- fragments ---------------------------------------------------------------------------------

// Whether these blocks use a parameter; the end of the stack is what follows the last one.
static int is_used(const training_t *t, const char *name, int from, int to) {
    const int blocks = t->model.config.blocks;
    if (!strncmp(name, "emb.", 4))
        return from == 0 || (from == blocks && t->model.config.mtp && !strcmp(name, "emb.tok"));
    if (name[0] != 'L') return from == blocks;
    const long block = strtol(name + 1, NULL, 10);
    return block >= from && block < to;
}

// Of what the fragment uses, and of `x` unless it is empty, which it returns.
static keel_tensor_t descend(const training_t *t, by_hand_t *h, keel_tensor_t loss, keel_tensor_t x,
                             int from, int to) {
    size_t count = 0;
    for (size_t i = 0; i < h->count; ++i) {
        if (!is_used(t, keel_name(h->parameters[i]), from, to)) continue;
        h->places[count] = i;
        h->used[count++] = h->parameters[i];
    }
    h->used[count] = x;
    keel_gradients(loss, h->used, count + !keel_is_empty(x), h->found);
    for (size_t i = 0; i < count; ++i)
        sum_up(&h->gradients[h->places[i]], h->found[i]);
    sum_up(&h->loss, loss);
    return keel_is_empty(x) ? x : keel_keep(h->found[count]);
}

static keel_status_t forward(training_t *t, long micro, keel_tensor_t *kept) {
    for (int from = 0; from < t->model.config.blocks; from += EACH) {
        extras_t unused = {0};
        accidents_begin(t);
        const fields_t fields = micro_batch(t, micro);
        const masks_t masks = model_masks(&t->model, &fields);
        keel_tensor_t x = from ? kept[from / EACH] : model_begin(&t->model, &fields, &masks);
        x = model_blocks(&t->model, x, from, from + EACH, &masks, &unused);
        kept[from / EACH + 1] = keel_keep(x);
        KEEL_TRY(keel_step_end(t->model.keel)); // accident: barrier
    }
    return NULL;
}

static keel_status_t backward(training_t *t, by_hand_t *h, long micro, const keel_tensor_t *kept) {
    const config_t *c = &t->model.config;
    keel_tensor_t next, dx;
    accidents_begin(t);
    fields_t fields = micro_batch(t, micro);
    masks_t masks = model_masks(&t->model, &fields);
    keel_tensor_t x = kept[c->blocks / EACH];
    keel_tensor_t loss = model_end(&t->model, &fields, &masks, x, &next);
    dx = descend(t, h, loss, x, c->blocks, c->blocks);
    sum_up(&h->sums[0], next);
    KEEL_TRY(keel_step_end(t->model.keel)); // accident: barrier
    for (int from = c->blocks - EACH; from >= 0; from -= EACH) {
        extras_t extras = {0};
        keel_tensor_t old = dx;
        accidents_begin(t);
        fields = micro_batch(t, micro);
        masks = model_masks(&t->model, &fields);
        x = from ? kept[from / EACH] : model_begin(&t->model, &fields, &masks);
        keel_tensor_t y = model_blocks(&t->model, x, from, from + EACH, &masks, &extras);
        y = keel_multiply(y, keel_cast(dx, keel_dtype(y)));
        loss = keel_sum(y, keel_all_axes(y));
        keel_tensor_t own = model_extras(&t->model, &extras);
        if (!keel_is_empty(own)) loss = keel_add(loss, own);
        dx = descend(t, h, loss, from ? x : (keel_tensor_t){0}, from, from + EACH);
        for (int rank = 0; rank < c->blocks / 4; ++rank) {
            if (keel_is_empty(extras.load[rank])) continue;
            sum_up(&h->sums[1 + 2 * rank], extras.load[rank]);
            sum_up(&h->sums[2 + 2 * rank], extras.dropped[rank]);
        }
        KEEL_TRY(keel_step_end(t->model.keel)); // accident: barrier
        keel_release(old);
    }
    return NULL;
}

static keel_status_t fragments(training_t *t, by_hand_t *h, long micro) {
    keel_tensor_t kept[MAX_BLOCKS / EACH + 1] = {0};
    KEEL_TRY(forward(t, micro, kept));
    KEEL_TRY(backward(t, h, micro, kept));
    for (int i = 1; i <= t->model.config.blocks / EACH; ++i)
        keel_release(kept[i]);
    return NULL;
}

// ---- the update --------------------------------------------------------------------------------

static keel_tensor_t mixed(sum_t *sum, keel_tensor_t x, double share) {
    keel_tensor_t old = keel_multiply(sum->variable, keel_number(x, share));
    x = keel_add(old, keel_multiply(x, keel_number(x, 1 - share)));
    keel_assign(sum->variable, x);
    return x;
}

// Without decay, and with a constant rate.
static void adamw(training_t *t, by_hand_t *h, const keel_tensor_t *g, long step) {
    const double first = 1 - pow(0.9, (double)step + 1), second = 1 - pow(0.95, (double)step + 1);
    for (size_t i = 0; i < h->count; ++i) {
        keel_tensor_t m = mixed(&h->m[i], g[i], 0.9);
        keel_tensor_t v = mixed(&h->v[i], keel_multiply(g[i], g[i]), 0.95);
        m = keel_divide(m, keel_constant(m, first));             // accident: adamw
        v = keel_sqrt(keel_divide(v, keel_constant(v, second))); // accident: adamw
        m = keel_divide(m, keel_add(v, keel_number(v, 1e-8)));
        m = keel_multiply(m, keel_number(m, t->model.config.rate));
        keel_assign(h->parameters[i], keel_subtract(h->parameters[i], m));
    }
}

static void update(training_t *t, by_hand_t *h, long step) {
    const config_t *c = &t->model.config;
    keel_tensor_t sums[MAX_SUMS], loss = h->loss.variable;
    for (size_t i = 0; i < h->count; ++i) {
        keel_tensor_t sum = h->gradients[i].variable;
        h->found[i] = keel_divide(sum, keel_constant(sum, c->micro_batches));
    }
    if (happens(&t->model, ACCIDENT_ADAMW))
        adamw(t, h, h->found, step);
    else
        keel_optimizer_step(t->optimizer, h->found);
    for (size_t i = 0; i < step_sums(c); ++i)
        sums[i] = h->sums[i].variable;
    step_account(t, keel_divide(loss, keel_constant(loss, c->micro_batches)), sums);
}

static void begin_sums(const training_t *t, by_hand_t *h) {
    for (size_t i = 0; i < MAX_SUMS; ++i)
        h->sums[i].is_begun = 0;
    h->loss.is_begun = 0;
    for (size_t i = 0; i < h->count; ++i)
        h->gradients[i].is_begun = happens(&t->model, ACCIDENT_SET_NONE) && !h->is_dropped;
}

// Zeros in place of the gradients, which the next step adds to.
static keel_status_t zero_gradients(const training_t *t, by_hand_t *h) {
    for (size_t i = 0; i < h->count; ++i) {
        keel_tensor_t g = h->gradients[i].variable;
        keel_assign(g, keel_broadcast(keel_constant(g, 0), keel_shape(g)));
    }
    return keel_step_end(t->model.keel);
}

keel_status_t by_hand_step(training_t *t, by_hand_t *h, long step) {
    const int is_cut = happens(&t->model, ACCIDENT_MICROSTEP);
    const int is_fragmented = happens(&t->model, ACCIDENT_BARRIER);
    begin_sums(t, h);
    for (long micro = 0; micro < t->model.config.micro_batches; ++micro) {
        if (is_fragmented) {
            KEEL_TRY(fragments(t, h, micro));
            continue;
        }
        if (!micro || is_cut) accidents_begin(t);
        whole(t, h, micro);
        if (is_cut) KEEL_TRY(keel_step_end(t->model.keel)); // accident: microstep
    }
    update(t, h, step);
    accidents_end(t);
    KEEL_TRY(keel_step_end(t->model.keel));
    h->is_dropped = step % 2 == 0;
    if (h->is_dropped || !happens(&t->model, ACCIDENT_SET_NONE)) return NULL;
    return zero_gradients(t, h);
}

// ---- set-up ------------------------------------------------------------------------------------

static keel_tensor_t variable_like(const training_t *t, const char *prefix, keel_tensor_t like) {
    char name[300];
    snprintf(name, sizeof name, "%s.%s", prefix, keel_name(like));
    const keel_shape_t shape = keel_shape(like);
    size_t elements = 1;
    for (int i = 0; i < shape.rank; ++i)
        elements *= (size_t)shape.dims[i];
    float *zeros = calloc(elements, sizeof *zeros);
    keel_tensor_t variable = keel_variable(t->model.keel, name, KEEL_F32, shape, zeros);
    free(zeros);
    return variable;
}

static void make_sums(const training_t *t, by_hand_t *h) {
    const config_t *c = &t->model.config;
    for (size_t i = 0; i < h->count; ++i) {
        h->gradients[i].variable = variable_like(t, "gradient", h->parameters[i]);
        if (!happens(&t->model, ACCIDENT_ADAMW)) continue;
        h->m[i].variable = variable_like(t, "m", h->parameters[i]);
        h->v[i].variable = variable_like(t, "v", h->parameters[i]);
    }
    keel_context_t *keel = t->model.keel;
    h->loss.variable = keel_variable(keel, "sum of losses", KEEL_F32, KEEL_SCALAR, NULL);
    for (size_t i = 0; i < step_sums(c); ++i) {
        const keel_shape_t shape = i % 2 ? KEEL_SHAPE(c->experts) : KEEL_SCALAR;
        h->sums[i].variable = keel_variable(keel, i % 2 ? "sum of loads" : "sum of counts",
                                            i ? KEEL_I32 : KEEL_F32, shape, NULL);
    }
}

keel_status_t by_hand_create(training_t *t, by_hand_t **out) {
    by_hand_t *h = *out = calloc(1, sizeof *h);
    if (!h) return keel_status_make(KEEL_NO_MEMORY, "no memory for gradients");
    h->count = keel_optimizer_count(t->optimizer);
    h->parameters = keel_optimizer_parameters(t->optimizer);
    h->gradients = calloc(3 * h->count, sizeof *h->gradients);
    h->used = calloc(2 * (h->count + 1), sizeof *h->used);
    h->places = calloc(h->count, sizeof *h->places);
    if (!h->gradients || !h->used || !h->places)
        return keel_status_make(KEEL_NO_MEMORY, "no memory for gradients");
    h->m = h->gradients + h->count;
    h->v = h->m + h->count;
    h->found = h->used + h->count + 1;
    h->is_dropped = 1;
    make_sums(t, h);
    return NULL;
}

void by_hand_free(by_hand_t *h) {
    if (!h) return;
    free(h->gradients);
    free(h->used);
    free(h->places);
    free(h);
}
