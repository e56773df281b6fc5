// The smallest training in C: two layers learn which side of a circle a point is on.
//
//   KEEL_PLUGIN=cpu ./mlp
//
// The learning rate changes in every step, and still there are two programs, one of them for the
// first values: `keel run -- ./mlp` says so.
#include <keel/keel.h>
#include <stdio.h>

enum { STEPS = 1000, BATCH = 64, WIDTH = 32, CLASSES = 2 };

static float random_number(void) { // in [-1, 1)
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (float)(1 << 23) - 1;
}

static void make_batch(float points[BATCH][2], int32_t classes[BATCH]) {
    for (int i = 0; i < BATCH; ++i) {
        points[i][0] = random_number();
        points[i][1] = random_number();
        classes[i] = points[i][0] * points[i][0] + points[i][1] * points[i][1] < 0.5f;
    }
}

static keel_status_t train(keel_context_t *keel, keel_tree_t *tree, keel_optimizer_t *optimizer) {
    keel_tensor_t hidden_weight = keel_tree_get(tree, "hidden.weight"),
                  hidden_bias = keel_tree_get(tree, "hidden.bias"),
                  output_weight = keel_tree_get(tree, "output.weight"),
                  output_bias = keel_tree_get(tree, "output.bias"),
                  last_loss = keel_tree_get(tree, "loss");
    keel_tree_initialize(tree, 1);
    KEEL_TRY(keel_step_end(keel));

    for (int step = 0; step < STEPS; ++step) {
        float points[BATCH][2], loss_value;
        int32_t classes[BATCH];
        make_batch(points, classes);
        keel_tensor_t x = keel_input(keel, "points", KEEL_F32, KEEL_SHAPE(BATCH, 2), points);
        keel_tensor_t y = keel_input(keel, "classes", KEEL_I32, KEEL_SHAPE(BATCH), classes);

        keel_tensor_t hidden = keel_tanh(keel_add(keel_matmul(x, hidden_weight), hidden_bias));
        keel_tensor_t logits = keel_add(keel_matmul(hidden, output_weight), output_bias);
        keel_tensor_t loss = keel_mean(keel_cross_entropy(logits, y), KEEL_AXES(0));
        keel_minimize(optimizer, loss);
        keel_assign(last_loss, loss);
        KEEL_TRY(keel_step_end(keel));

        if (step % 250 && step != STEPS - 1) continue;
        KEEL_TRY(keel_read(last_loss, &loss_value, sizeof loss_value));
        printf("step %3d  loss %.4f\n", step, (double)loss_value);
    }
    printf("%llu programs in %llu steps\n", (unsigned long long)keel_context_figures(keel).programs,
           (unsigned long long)keel_context_figures(keel).steps);
    return NULL;
}

static keel_status_t run(keel_context_t *keel, keel_tree_t *tree) {
    keel_optimizer_options_t options = KEEL_SGD(0);
    keel_optimizer_t *optimizer;
    keel_tree_add(tree, "hidden.weight", KEEL_F32, KEEL_SHAPE(2, WIDTH), KEEL_UNIFORM(0.7));
    keel_tree_add(tree, "hidden.bias", KEEL_F32, KEEL_SHAPE(WIDTH), KEEL_FILL(0));
    keel_tree_add(tree, "output.weight", KEEL_F32, KEEL_SHAPE(WIDTH, CLASSES), KEEL_UNIFORM(0.2));
    keel_tree_add(tree, "output.bias", KEEL_F32, KEEL_SHAPE(CLASSES), KEEL_FILL(0));
    keel_tree_state(tree, "loss", KEEL_F32, KEEL_SCALAR, KEEL_FILL(0));
    options.rate = KEEL_LINEAR_RATE(2, 0, STEPS, 0);
    KEEL_TRY(keel_optimizer_create(tree, &options, &optimizer));
    keel_status_t status = train(keel, tree, optimizer);
    keel_optimizer_free(optimizer);
    return status;
}

int main(void) {
    keel_context_t *keel;
    keel_tree_t *tree = NULL;
    keel_status_t status = keel_context_create(NULL, &keel);
    if (!status) {
        status = keel_tree_create(keel, &tree);
        if (!status) status = run(keel, tree);
        keel_tree_free(tree);
        keel_context_free(keel);
    }
    if (!status) return 0;
    fprintf(stderr, "mlp: %s\n", keel_status_message(status));
    keel_status_ignore(status);
    return 1;
}
