// What makes models of this kind compile again, each as one writes it by mistake. In front ends
// that trace whatever the program does most of these happen by themselves; here each needs a
// detour, beside the form that stays one program. A comment names the accident that a line is.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nam52.h"

enum { LATE = 10, WRITES_EVERY = 10, WRITTEN = 6, PROMPT = 16 };

struct accidents_t {
    config_t config; // as it was; the training's changes from step to step
    by_hand_t *by_hand;
    keel_tensor_t fresh; // dropped in this step
    int32_t dropped;     // until now, as the host knows
    bool is_low;         // the loss, as the host knows
};

static const char *const names[] = {
#define ACCIDENT(name, text, what) text,
    ACCIDENTS(ACCIDENT)
#undef ACCIDENT
};

int happens(const model_t *model, accident_t accident) {
    return (int)(model->accidents >> accident & 1);
}

keel_status_t accidents_named(const char *list, unsigned *out) {
    *out = 0;
    if (!strcmp(list, "all")) *out = (1U << ACCIDENT_COUNT) - 1;
    for (size_t size; !*out || *list; list += size + (list[size] == ',')) {
        size_t i = 0;
        if (*out == (1U << ACCIDENT_COUNT) - 1) return NULL;
        size = strcspn(list, ",");
        while (i < ACCIDENT_COUNT &&
               (strlen(names[i]) != size || memcmp(names[i], list, size) != 0))
            ++i;
        if (i == ACCIDENT_COUNT)
            return keel_status_make(KEEL_INVALID, "no accident is called '%.*s'", (int)size, list);
        *out |= 1U << i;
    }
    return NULL;
}

// ---- in the model ------------------------------------------------------------------------------

static bool asks(keel_tensor_t flag) {
    bool answer = true;
    keel_status_ignore(keel_read(flag, &answer, sizeof answer)); // accident: item
    return answer;
}

masks_t accidents_masks(const model_t *model, int block, const masks_t *masks) {
    masks_t own = *masks;
    keel_tensor_t doc = masks->document, apart, place = masks->place;
    if (block % 4 == 0) { // one document a row: causal is enough
        apart = keel_and(keel_not_equal(doc, keel_slice(doc, 1, 0, 1)), masks->is_valid);
        if (asks(keel_any(apart, KEEL_AXES(0, 1)))) return own;
        own.allow = keel_broadcast(keel_greater_equal(keel_expand(place, 1), keel_expand(place, 0)),
                                   keel_shape(masks->allow));
    } else if (block % 4 == 2) { // no document ends: no mask is needed
        apart = keel_and(keel_not_equal(doc, shifted(doc, 1, 0)), masks->is_valid);
        if (asks(keel_any(apart, KEEL_AXES(0, 1)))) return own;
        own.document = keel_multiply(doc, keel_constant(doc, 0));
    }
    (void)model;
    return own;
}

void accidents_rows(const model_t *model, keel_tensor_t *x, keel_tensor_t *targets,
                    keel_tensor_t *weights) {
    const keel_shape_t shape = keel_shape(*x);
    const int64_t N = shape.dims[0] * shape.dims[1];
    keel_tensor_t w = keel_reshape(*weights, KEEL_SHAPE(N));
    keel_tensor_t counts = keel_greater(w, keel_constant(w, 0));
    const int64_t bound = model->loss_rows;
    keel_tensor_t rows = keel_reshape(*x, KEEL_SHAPE(N, shape.dims[2]));
    *x = keel_rows_where(rows, counts, bound, NULL); // accident: gather
    *targets = keel_rows_where(keel_reshape(*targets, KEEL_SHAPE(N)), counts, bound, NULL);
    *weights = keel_rows_where(w, counts, bound, NULL);
}

// ---- a step ------------------------------------------------------------------------------------

static void shape_to(training_t *t, int rows, int length) {
    config_t *c = &t->model.config;
    const habits_t habits = {.rows = rows,
                             .length = length,
                             .is_padded_by_step = happens(&t->model, ACCIDENT_CAPACITY),
                             .is_complete = !happens(&t->model, ACCIDENT_OPTIONAL)};
    loader_become(t->loader, &habits);
    while (length % c->chunk)
        c->chunk /= 2;
}

// What of this step's configuration depends on the step.
static void by_step(training_t *t, long step) {
    const model_t *m = &t->model;
    const config_t *stable = &t->accidents->config;
    config_t *c = &t->model.config;
    int length = stable->length;
    *c = *stable;
    if (happens(m, ACCIDENT_WARMUP)) length -= 16;
    if (happens(m, ACCIDENT_LENGTHS)) length -= 16 * (int)(7 * step % 5);
    if (happens(m, ACCIDENT_MTP_BRANCH)) c->mtp = (int)(step % (stable->mtp + 1));
    if (happens(m, ACCIDENT_BF16) && step >= LATE) c->dtype = KEEL_BF16;
    c->is_exact = happens(m, ACCIDENT_FLAGS) && step >= LATE;
    keel_optimizer_options(t->optimizer)->clip =
        happens(m, ACCIDENT_BRANCH) && t->accidents->is_low ? 0 : 1; // accident: branch
    shape_to(t, stable->rows, length);
}

// And what depends on what is in its batch.
static void by_batch(training_t *t) {
    const model_t *m = &t->model;
    const counts_t counts = loader_counts(t->loader);
    config_t *c = &t->model.config;
    if (happens(m, ACCIDENT_CAPACITY))
        c->capacity = (int)keel_capacity(counts.real, c->experts, c->top, 1.25);
    if (happens(m, ACCIDENT_TOPK)) c->keys = (counts.average + 7) / 8 * 8;
    t->model.loss_rows = counts.counted;
}

void accidents_begin(training_t *t) {
    const model_t *m = &t->model;
    keel_host_array_t arrays[MAX_FIELDS];
    if (m->config.is_exact)
        keel_precision_begin(m->keel, KEEL_PRECISION_HIGHEST); // accident: flags
    if (!happens(m, ACCIDENT_OPTIONAL) && !happens(m, ACCIDENT_LENGTHS) &&
        !happens(m, ACCIDENT_WARMUP)) {
        step_inputs(t);
        return;
    }
    const size_t count = loader_arrays(t->loader, arrays);
    t->inputs = (fields_t){0};
    for (size_t i = 0; i < count; ++i) {
        const keel_host_array_t *a = &arrays[i];
        // accident: optional, lengths, warmup
        keel_tensor_t input = keel_input(m->keel, a->name, a->dtype, a->shape, a->data);
#define FIELD(field)                                                                               \
    if (!strcmp(a->name, #field)) t->inputs.field = input;
        FIELDS(FIELD)
#undef FIELD
    }
}

static keel_tensor_t overflow_of(const training_t *t, int rank) {
    char name[32];
    snprintf(name, sizeof name, "L%02d.E.overflow", 4 * rank + 1);
    return keel_tree_get(t->model.tree, name);
}

void accidents_end(training_t *t) {
    keel_tensor_t total = {0};
    if (!happens(&t->model, ACCIDENT_COUNTER)) return;
    for (int rank = 0; rank < t->model.config.blocks / 4; ++rank)
        total = add_up(total, overflow_of(t, rank));
    keel_tensor_t before = keel_constant(total, t->accidents->dropped); // accident: counter
    keel_assign(t->accidents->fresh, keel_subtract(total, before));
}

static keel_status_t take_step(training_t *t, long step) {
    loader_next(t->loader, step);
    by_batch(t);
    if (t->accidents->by_hand) return by_hand_step(t, t->accidents->by_hand, step);
    accidents_begin(t);
    step_trace(t);
    accidents_end(t);
    return keel_step_end(t->model.keel);
}

static keel_status_t warm_up(training_t *t) {
    const config_t *c = &t->accidents->config;
    const int shapes[][2] = {
        {c->rows, c->length}, {c->rows, c->length / 2}, {c->rows / 2, c->length}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        by_step(t, 0);
        shape_to(t, shapes[i][0], shapes[i][1]);
        KEEL_TRY(take_step(t, 0));
    }
    loader_seek(t->loader, 0);
    keel_tree_initialize(t->model.tree, 0);
    return keel_step_end(t->model.keel);
}

static keel_status_t look_back(training_t *t) {
    accidents_t *a = t->accidents;
    if (happens(&t->model, ACCIDENT_COUNTER)) {
        a->dropped = 0;
        for (int rank = 0; rank < a->config.blocks / 4; ++rank) {
            int32_t dropped;
            KEEL_TRY(keel_read(overflow_of(t, rank), &dropped, sizeof dropped));
            a->dropped += dropped;
        }
    }
    if (happens(&t->model, ACCIDENT_BRANCH)) {
        float next;
        KEEL_TRY(keel_read(t->next, &next, sizeof next));
        a->is_low = next < 5;
    }
    return NULL;
}

// ---- writing -----------------------------------------------------------------------------------

static keel_tensor_t next_token(const training_t *t, const int32_t *written, int count) {
    const model_t *m = &t->model;
    extras_t unused = {0};
    const keel_shape_t shape = KEEL_SHAPE(1, count);
    keel_tensor_t tokens =
        keel_input(m->keel, "written", KEEL_I32, shape, written); // accident: grow
    const fields_t fields = {.tokens = tokens,
                             .doc_ids = keel_broadcast(keel_constant(tokens, 0), shape)};
    const masks_t masks = model_masks(m, &fields);
    keel_tensor_t x = model_begin(m, &fields, &masks);
    x = model_blocks(m, x, 0, m->config.blocks, &masks, &unused);
    return keel_argmax(model_logits(m, keel_slice(x, 1, count - 1, count)), -1);
}

static keel_status_t write(training_t *t) {
    int32_t written[PROMPT + WRITTEN] = {256};
    const unsigned accidents = t->model.accidents;
    t->model.accidents = 0;
    for (int count = PROMPT; count < PROMPT + WRITTEN; ++count) {
        t->model.config = t->accidents->config;
        shape_to(t, t->model.config.rows, count);
        keel_tensor_t next = keel_keep(next_token(t, written, count));
        KEEL_TRY(keel_step_end(t->model.keel));
        KEEL_TRY(keel_read(next, &written[count], sizeof *written));
        keel_release(next);
    }
    t->model.accidents = accidents;
    return NULL;
}

keel_status_t accidents_step(training_t *t, long step) {
    if (!step && happens(&t->model, ACCIDENT_WARMUP)) KEEL_TRY(warm_up(t));
    by_step(t, step);
    KEEL_TRY(take_step(t, step));
    KEEL_TRY(look_back(t));
    if (!happens(&t->model, ACCIDENT_GROW) || step % WRITES_EVERY != WRITES_EVERY - 1) return NULL;
    return write(t);
}

// ---- set-up ------------------------------------------------------------------------------------

keel_status_t accidents_create(training_t *t) {
    const unsigned by_hand = 1U << ACCIDENT_ITEM | 1U << ACCIDENT_MICROSTEP |
                             1U << ACCIDENT_SET_NONE | 1U << ACCIDENT_ADAMW |
                             1U << ACCIDENT_BARRIER;
    const int32_t none = 0;
    if (!t->model.accidents) return NULL;
    t->accidents = calloc(1, sizeof *t->accidents);
    if (!t->accidents) return keel_status_make(KEEL_NO_MEMORY, "no memory for accidents");
    t->accidents->config = t->model.config;
    t->accidents->fresh = keel_variable(t->model.keel, "dropped", KEEL_I32, KEEL_SCALAR, &none);
    if (t->model.accidents & by_hand) return by_hand_create(t, &t->accidents->by_hand);
    return NULL;
}

void accidents_free(accidents_t *accidents) {
    if (accidents) by_hand_free(accidents->by_hand);
    free(accidents);
}
