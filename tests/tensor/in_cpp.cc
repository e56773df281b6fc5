// The public headers in C++17, without a warning: each macro that makes a value, and a few calls.
#include <keel/keel.h>

static keel_tensor_t half(keel_tensor_t x, const void *) {
    return keel_multiply(x, keel_number(x, 0.5));
}

keel_status_t use(keel_context_t *keel, keel_tree_t *tree) {
    const float data[6] = {};
    keel_optimizer_options_t options[] = {KEEL_SGD(0.1), KEEL_ADAMW(0.1), KEEL_LION(0.1)};
    const keel_schedule_t rates[] = {KEEL_CONSTANT_RATE(1), KEEL_LINEAR_RATE(1, 2, 3, 0),
                                     KEEL_COSINE_RATE(1, 2, 3, 0)};
    const keel_init_t inits[] = {KEEL_UNSET, KEEL_FILL(1), KEEL_UNIFORM(1), KEEL_NORMAL(1),
                                 KEEL_MADE(half, nullptr)};
    const keel_mesh_t mesh = KEEL_MESH({"data", 2}, {"model", 4});
    keel_tensor_t w = keel_tree_add(tree, "w", KEEL_F32, KEEL_SHAPE(2, 3), inits[2]);
    keel_tensor_t x = keel_sharded_input(keel, "x", KEEL_F32, KEEL_SHAPE(2, 3), data,
                                         KEEL_SPEC(nullptr, "model"));
    keel_assign(w, keel_sum(keel_shard(x, KEEL_WHOLE), KEEL_AXES(0, 1)));
    KEEL_TRY(keel_version_check());
    options[mesh.count].rate = rates[0];
    keel_optimizer_t *optimizer = nullptr;
    KEEL_TRY(keel_optimizer_create(tree, &options[1], &optimizer));
    keel_optimizer_free(optimizer);
    return keel_step_end(keel);
}
