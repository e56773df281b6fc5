// E: each token goes to the experts with the largest sigmoid scores, and to one that all share. A
// bias that is no weight keeps the experts equally busy; the capacity is that of the configuration.
#include <math.h>

#include "nam52.h"

void experts_add(model_t *model) {
    const config_t *c = &model->config;
    const double in = 1 / sqrt(c->width);
    const double out = 0.5 / sqrt(2 * c->blocks) / sqrt(c->expert_width);
    add_map(model, "wr", c->width, c->experts, 0);
    keel_tree_add(model->tree, "wg", KEEL_F32, KEEL_SHAPE(c->experts, c->width, c->expert_width),
                  uniform_of(in));
    keel_tree_add(model->tree, "wu", KEEL_F32, KEEL_SHAPE(c->experts, c->width, c->expert_width),
                  uniform_of(in));
    keel_tree_add(model->tree, "wd", KEEL_F32, KEEL_SHAPE(c->experts, c->expert_width, c->width),
                  uniform_of(out));
    add_map(model, "sg", c->width, c->shared_width, 0);
    add_map(model, "su", c->width, c->shared_width, 0);
    add_map(model, "sd", c->shared_width, c->width, 1);
    keel_tree_state(model->tree, "bias", KEEL_F32, KEEL_SHAPE(c->experts), KEEL_FILL(0));
    keel_tree_state(model->tree, "overflow", KEEL_I32, KEEL_SCALAR, KEEL_FILL(0));
}

keel_tensor_t experts(const model_t *model, keel_tensor_t x, const masks_t *masks, int rank,
                      extras_t *extras) {
    const config_t *c = &model->config;
    const keel_shape_t shape = keel_shape(x);
    const int64_t N = shape.dims[0] * shape.dims[1];
    keel_tensor_t tokens = keel_reshape(x, KEEL_SHAPE(N, c->width));
    keel_tensor_t valid = keel_reshape(masks->valid, KEEL_SHAPE(N));
    keel_tensor_t g = keel_matmul(tokens, weight(model, "wr")), s = keel_sigmoid(g);
    const keel_routing_options_t options = {
        .top = c->top, .capacity = config_capacity(c), .scale = 2.5};
    keel_routing_t routing;
    keel_route(s, keel_add(keel_stop_gradient(s), weight(model, "bias")),
               keel_reshape(masks->is_valid, KEEL_SHAPE(N)), options, &routing);
    keel_tensor_t y = swiglu(keel_dispatch(&routing, tokens), weight(model, "wg"),
                             weight(model, "wu"), weight(model, "wd"));
    y = keel_add(keel_combine(&routing, y),
                 swiglu(tokens, weight(model, "sg"), weight(model, "su"), weight(model, "sd")));
    // The share of the choices that each expert got, and the share of the scores.
    keel_tensor_t count = masks->valid_count;
    keel_tensor_t load = keel_stop_gradient(keel_cast(routing.load, KEEL_F32));
    keel_tensor_t got = keel_divide(load, keel_multiply(count, keel_constant(count, c->top)));
    keel_tensor_t share = keel_sum_kept(s, KEEL_AXES(1));
    share = keel_divide(s, keel_maximum(share, keel_constant(share, 1e-9)));
    share = keel_sum(keel_multiply(share, keel_expand(valid, 1)), KEEL_AXES(0));
    share = keel_divide(share, count);
    keel_tensor_t balance = keel_sum(keel_multiply(got, share), KEEL_AXES(0));
    balance = keel_multiply(balance, keel_constant(balance, c->experts));
    keel_tensor_t z = keel_logsumexp(g, -1);
    z = keel_divide(keel_sum(keel_multiply(keel_multiply(z, z), valid), KEEL_AXES(0)), count);
    extras->balance = add_up(extras->balance, balance);
    extras->z = add_up(extras->z, z);
    extras->load[rank] = routing.load;
    extras->dropped[rank] = routing.dropped;
    return keel_reshape(y, shape);
}
