// The smallest training in C: two layers learn which side of a circle a point is on.
//
//   KEEL_PLUGIN=cpu ./mlp
//
// The learning rate changes in every step, and still there is one program: `keel run -- ./mlp` says
// so.
#include <keel/keel.h>
#include <math.h>
#include <stdio.h>

enum { STEPS = 1000, BATCH = 64, WIDTH = 32, CLASSES = 2, PARAMETERS = 4 };

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

static keel_tensor_t make_matrix(keel_context_t *keel, const char *name, int rows, int columns) {
    float values[WIDTH * WIDTH];
    for (int i = 0; i < rows * columns; ++i)
        values[i] = random_number() / sqrtf((float)rows);
    return keel_variable(keel, name, KEEL_F32, KEEL_SHAPE(rows, columns), values);
}

static keel_status_t train(keel_context_t *keel) {
    static const float zeros[WIDTH];
    keel_tensor_t w[PARAMETERS] = {
        make_matrix(keel, "hidden.weight", 2, WIDTH),
        keel_variable(keel, "hidden.bias", KEEL_F32, KEEL_SHAPE(WIDTH), zeros),
        make_matrix(keel, "output.weight", WIDTH, CLASSES),
        keel_variable(keel, "output.bias", KEEL_F32, KEEL_SHAPE(CLASSES), zeros),
    };
    keel_tensor_t last_loss = keel_variable(keel, "loss", KEEL_F32, KEEL_SCALAR, zeros);

    for (int step = 0; step < STEPS; ++step) {
        float points[BATCH][2], loss_value;
        int32_t classes[BATCH];
        make_batch(points, classes);
        keel_tensor_t x = keel_input(keel, "points", KEEL_F32, KEEL_SHAPE(BATCH, 2), points);
        keel_tensor_t y = keel_input(keel, "classes", KEEL_I32, KEEL_SHAPE(BATCH), classes);

        keel_tensor_t hidden = keel_tanh(keel_add(keel_matmul(x, w[0]), w[1]));
        keel_tensor_t logits = keel_add(keel_matmul(hidden, w[2]), w[3]);
        keel_tensor_t loss = keel_mean(keel_cross_entropy(logits, y), KEEL_AXES(0));

        keel_tensor_t gradients[PARAMETERS];
        keel_gradients(loss, w, PARAMETERS, gradients);
        keel_sgd(w, gradients, PARAMETERS, 2 * (1 - (double)step / STEPS));
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

int main(void) {
    keel_context_t *keel;
    keel_status_t status = keel_context_create(NULL, &keel);
    if (!status) {
        status = train(keel);
        keel_context_free(keel);
    }
    if (!status) return 0;
    fprintf(stderr, "mlp: %s\n", keel_status_message(status));
    keel_status_ignore(status);
    return 1;
}
