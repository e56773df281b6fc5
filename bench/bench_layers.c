// What layers cost as a scan and one behind another: tracing a training step, and compiling it.
// Prints a section of Markdown.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tensor/trace.h"

enum { ROUNDS = 9, LAYERS = 8, PARAMETERS = 6, WIDTH = 64, WORDS = 32, HEADS = 4 };

static void must(keel_status_t status) {
    if (!status) return;
    fprintf(stderr, "bench_layers: %s\n", keel_status_message(status));
    exit(1);
}

// Of the process: the compiler has threads.
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int compare(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

// A block of a transformer.
static void block(void *user, size_t layer, const keel_tensor_t *in, keel_tensor_t *out) {
    (void)user, (void)layer;
    const keel_shape_t split = KEEL_SHAPE(WORDS, HEADS, WIDTH / HEADS);
    const keel_axes_t by_head = KEEL_AXES(1, 0, 2);
    keel_tensor_t x = in[0], parts[3], normal = keel_rms_norm(x, in[1], 1e-6);
    for (int i = 0; i < 3; ++i) {
        keel_tensor_t part = keel_slice(in[2], 1, i * WIDTH, (i + 1) * WIDTH);
        parts[i] = keel_transpose(keel_reshape(keel_matmul(normal, part), split), by_head);
    }
    keel_tensor_t scores = keel_matmul(parts[0], keel_transpose(parts[1], KEEL_AXES(0, 2, 1)));
    keel_tensor_t mixed = keel_matmul(keel_softmax(scores, -1), parts[2]);
    mixed = keel_reshape(keel_transpose(mixed, by_head), KEEL_SHAPE(WORDS, WIDTH));
    x = keel_add(x, keel_matmul(mixed, in[3]));
    keel_tensor_t wide = keel_gelu(keel_matmul(keel_rms_norm(x, in[4], 1e-6), in[5]));
    out[0] = keel_add(x, keel_matmul(wide, in[6]));
}

static keel_tensor_t parameters[LAYERS * PARAMETERS], words;

static void make_parameters(keel_context_t *keel) {
    static float data[4 * WIDTH * WIDTH];
    const keel_shape_t shapes[PARAMETERS] = {
        KEEL_SHAPE(WIDTH), KEEL_SHAPE(WIDTH, 3 * WIDTH), KEEL_SHAPE(WIDTH, WIDTH),
        KEEL_SHAPE(WIDTH), KEEL_SHAPE(WIDTH, 4 * WIDTH), KEEL_SHAPE(4 * WIDTH, WIDTH)};
    for (int i = 0; i < 4 * WIDTH * WIDTH; ++i)
        data[i] = (float)(i % 17 - 8) / 64;
    for (int i = 0; i < LAYERS * PARAMETERS; ++i)
        parameters[i] = keel_variable(keel, "w", KEEL_F32, shapes[i % PARAMETERS], data);
    words = keel_variable(keel, "x", KEEL_F32, KEEL_SHAPE(WORDS, WIDTH), data);
}

static void trace_step(keel_context_t *keel, int is_unrolled) {
    keel_tensor_t y, gradients[LAYERS * PARAMETERS];
    const keel_layers_t layers = {.carry = &words,
                                  .carry_count = 1,
                                  .parameters = parameters,
                                  .parameter_count = PARAMETERS,
                                  .layer_count = LAYERS,
                                  .is_unrolled = is_unrolled};
    keel_layers(keel, block, NULL, &layers, &y);
    keel_gradients(keel_mean(y, keel_all_axes(y)), parameters, LAYERS * PARAMETERS, gradients);
    for (int i = 0; i < LAYERS * PARAMETERS; ++i)
        keel_assign(
            parameters[i],
            keel_subtract(parameters[i], keel_multiply(gradients[i], keel_number(y, 1e-3))));
}

static double trace_time(keel_context_t *keel, int is_unrolled) {
    double rounds[ROUNDS];
    for (int i = 0; i < ROUNDS; ++i) {
        double start = now();
        trace_step(keel, is_unrolled);
        rounds[i] = now() - start;
        if (keel_context_error(keel)) fprintf(stderr, "%s\n", keel_context_error(keel));
        keel_step_discard(keel);
    }
    qsort(rounds, ROUNDS, sizeof *rounds, compare);
    return rounds[ROUNDS / 2];
}

// Of the first step, less the time of the second one.
static double compile_time(keel_context_t *keel, int is_unrolled, double *out_step) {
    double times[2];
    for (int i = 0; i < 2; ++i) {
        float value[WIDTH];
        double start = now();
        trace_step(keel, is_unrolled);
        must(keel_step_end(keel));
        must(keel_read(parameters[0], value, sizeof value)); // waits
        times[i] = now() - start;
    }
    *out_step = times[1];
    return times[0] - times[1];
}

// The first one pays for what the plugin sets up.
static void compile_anything(keel_context_t *keel) {
    float value[WIDTH];
    must(keel_read(keel_sin(parameters[0]), value, sizeof value));
    keel_step_discard(keel);
}

int main(void) {
    keel_context_t *keel;
    double traced[2], compiled[2], step[2];
    setenv("KEEL_PLUGIN", KEEL_EMBEDDED_PLUGIN, 0);
    setenv("KEEL_MODE", "off", 1); // nothing comes from the cache
    setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0);
    must(keel_context_create(NULL, &keel));
    make_parameters(keel);
    compile_anything(keel);
    for (int is_unrolled = 0; is_unrolled < 2; ++is_unrolled) {
        traced[is_unrolled] = trace_time(keel, is_unrolled);
        compiled[is_unrolled] = compile_time(keel, is_unrolled, &step[is_unrolled]);
    }
    printf("## Layers as a scan\n\n"
           "A training step of %d blocks of a transformer, on the embedded plugin, in milliseconds "
           "of processors.\n\n"
           "| | as a scan | one behind another |\n|---|---|---|\n"
           "| tracing | %.2f ms | %.2f ms |\n| compiling | %.0f ms | %.0f ms |\n"
           "| a step | %.1f ms | %.1f ms |\n",
           LAYERS, traced[0], traced[1], compiled[0], compiled[1], step[0], step[1]);
    keel_context_free(keel);
}
