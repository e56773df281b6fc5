// Training on a mesh of devices: rows of the batch over one axis, columns of the weights over the
// other. XLA adds the communication.
//
//   KEEL_PLUGIN=cpu ./sharded          four devices of the processor
//   keel rehearse --on h200:4 -- ./sharded
//
// Without the mesh in the options and with KEEL_WHOLE for every spec, it is the same training on
// one device, with the same losses.
#include <keel/keel.h>
#include <stdio.h>

enum { STEPS = 200, BATCH = 64, WIDTH = 32, CLASSES = 2 };

static float random_number(void) { // in [-1, 1)
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (float)(1 << 23) - 1;
}

static void make_batch(float points[BATCH][2], int32_t classes[BATCH]) {
    for (int i = 0; i < BATCH; ++i) {
        points[i][0] = random_number();
        points[i][1] = random_number();
        classes[i] = points[i][0] > points[i][1];
    }
}

static keel_status_t train(keel_context_t *keel, keel_tree_t *tree, keel_optimizer_t *optimizer) {
    const keel_spec_t rows = KEEL_SPEC("data");
    keel_tensor_t hidden_weight = keel_tree_get(tree, "hidden"),
                  output_weight = keel_tree_get(tree, "output"),
                  last_loss = keel_tree_get(tree, "loss");
    keel_tree_initialize(tree, 1);
    KEEL_TRY(keel_step_end(keel));

    for (int step = 0; step < STEPS; ++step) {
        float points[BATCH][2], loss_value;
        int32_t classes[BATCH];
        make_batch(points, classes);
        keel_tensor_t x =
            keel_sharded_input(keel, "points", KEEL_F32, KEEL_SHAPE(BATCH, 2), points, rows);
        keel_tensor_t y =
            keel_sharded_input(keel, "classes", KEEL_I32, KEEL_SHAPE(BATCH), classes, rows);

        keel_tensor_t hidden = keel_tanh(keel_matmul(x, hidden_weight));
        hidden = keel_shard(hidden, KEEL_SPEC("data", "model"));
        keel_tensor_t logits = keel_matmul(hidden, output_weight);
        keel_tensor_t loss = keel_mean(keel_cross_entropy(logits, y), KEEL_AXES(0));
        keel_minimize(optimizer, loss);
        keel_assign(last_loss, loss);
        KEEL_TRY(keel_step_end(keel));

        if (step % 50 && step != STEPS - 1) continue;
        KEEL_TRY(keel_read(last_loss, &loss_value, sizeof loss_value));
        printf("step %3d  loss %.4f\n", step, (double)loss_value);
    }
    printf("%llu programs in %llu steps\n", (unsigned long long)keel_context_figures(keel).programs,
           (unsigned long long)keel_context_figures(keel).steps);
    return NULL;
}

static keel_status_t run(keel_context_t *keel, keel_tree_t *tree) {
    const keel_optimizer_options_t options = KEEL_ADAMW(0.02);
    keel_optimizer_t *optimizer;
    keel_tensor_t hidden =
        keel_tree_add(tree, "hidden", KEEL_F32, KEEL_SHAPE(2, WIDTH), KEEL_UNIFORM(0.7));
    keel_tensor_t output =
        keel_tree_add(tree, "output", KEEL_F32, KEEL_SHAPE(WIDTH, CLASSES), KEEL_UNIFORM(0.2));
    keel_tree_state(tree, "loss", KEEL_F32, KEEL_SCALAR, KEEL_FILL(0));
    keel_place(hidden, KEEL_SPEC(NULL, "model"));
    keel_place(output, KEEL_SPEC("model"));
    KEEL_TRY(keel_optimizer_create(tree, &options, &optimizer)); // its state is split alike
    keel_status_t status = train(keel, tree, optimizer);
    keel_optimizer_free(optimizer);
    return status;
}

int main(void) {
    keel_context_t *keel;
    keel_tree_t *tree = NULL;
    const keel_context_options_t options = {.mesh = KEEL_MESH({"data", 2}, {"model", 2})};
    keel_status_t status = keel_context_create(&options, &keel);
    if (!status) {
        status = keel_tree_create(keel, &tree);
        if (!status) status = run(keel, tree);
        keel_tree_free(tree);
        keel_context_free(keel);
    }
    if (!status) return 0;
    fprintf(stderr, "sharded: %s\n", keel_status_message(status));
    keel_status_ignore(status);
    return 1;
}
