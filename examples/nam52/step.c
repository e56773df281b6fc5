// One step of training: a loop over micro-batches, AdamW, and what is kept beside the weights.
#include "nam52.h"

size_t step_sums(const config_t *config) {
    return 1 + 2 * (size_t)(config->blocks / 4);
}

keel_tensor_t step_loss(const model_t *model, const fields_t *fields, keel_tensor_t *out) {
    extras_t extras = {0};
    keel_tensor_t loss = model_loss(model, fields, &extras, &out[0]);
    for (int rank = 0; rank < model->config.blocks / 4; ++rank) {
        out[1 + 2 * rank] = extras.load[rank];
        out[2 + 2 * rank] = extras.dropped[rank];
    }
    return loss;
}

static keel_tensor_t loss_of(void *data, keel_tensor_t micro, const keel_tensor_t *in,
                             keel_tensor_t *out) {
    const training_t *t = data;
    (void)in;
    const fields_t fields = model_micro_batch(&t->inputs, micro);
    return step_loss(&t->model, &fields, out);
}

// Experts that got less than the others become likelier.
static void balance(const training_t *t, int rank, keel_tensor_t load, keel_tensor_t dropped) {
    keel_tree_enter(t->model.tree, "L%02d.E", 4 * rank + 1);
    keel_tensor_t bias = keel_tree_get(t->model.tree, "bias");
    load = keel_cast(load, KEEL_F32);
    keel_tensor_t less = keel_sign(keel_subtract(keel_mean(load, KEEL_AXES(0)), load));
    keel_assign(bias, keel_add(bias, keel_multiply(less, keel_constant(less, 1e-3))));
    keel_add_to(weight(&t->model, "overflow"), dropped);
    keel_tree_leave(t->model.tree);
}

void step_account(const training_t *t, keel_tensor_t loss, const keel_tensor_t *sums) {
    const config_t *c = &t->model.config;
    keel_assign(t->loss, loss);
    keel_assign(t->next, keel_divide(sums[0], keel_constant(sums[0], c->micro_batches)));
    keel_assign(t->place, keel_number(t->place, (double)loader_place(t->loader)));
    for (int rank = 0; rank < c->blocks / 4; ++rank)
        balance(t, rank, sums[1 + 2 * rank], sums[2 + 2 * rank]);
}

void step_inputs(training_t *t) {
    keel_host_array_t arrays[MAX_FIELDS];
    keel_batch_next(t->batch, arrays, loader_arrays(t->loader, arrays));
#define FIELD(name) t->inputs.name = keel_batch_get(t->batch, #name);
    FIELDS(FIELD)
#undef FIELD
}

void step_trace(training_t *t) {
    const config_t *c = &t->model.config;
    keel_tensor_t sums[MAX_SUMS];
    const keel_losses_t losses = {
        .count = c->micro_batches, .loss = loss_of, .data = t, .sum_count = step_sums(c)};
    keel_tensor_t loss = keel_minimize_losses(t->optimizer, &losses, sums);
    step_account(t, loss, sums);
}

keel_status_t step_train(training_t *t, long step) {
    loader_next(t->loader, step);
    step_inputs(t);
    step_trace(t);
    return keel_step_end(t->model.keel);
}
