// What the front end in C costs: tracing an operation, a steady step beside the bare execution of
// its program, and what they allocate. Prints a section of Markdown.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tensor/trace.h"

enum { ROUNDS = 31, LAYERS = 24, WIDTH = 8, ARGUMENTS = 200, STEPS = 50 };

// Keel's own allocations on this thread: linked with --wrap.
static _Thread_local unsigned long allocations;
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

void *__wrap_malloc(size_t size) {
    ++allocations;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    ++allocations;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *pointer, size_t size) {
    ++allocations;
    return __real_realloc(pointer, size);
}

static void must(keel_status_t status) {
    if (!status) return;
    fprintf(stderr, "bench_tensor: %s\n", keel_status_message(status));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

// A residual network of 24 layers with its gradients, as a training step traces it.
static void trace_model(keel_tensor_t x, const keel_tensor_t *weights) {
    keel_tensor_t gradients[LAYERS], h = x;
    for (int i = 0; i < LAYERS; ++i) {
        keel_tensor_t normal = keel_rms_norm(h, (keel_tensor_t){0}, 1e-6);
        h = keel_add(h, keel_gelu(keel_matmul(normal, weights[i])));
    }
    keel_gradients(keel_sum(h, keel_all_axes(h)), weights, LAYERS, gradients);
}

static void bench_tracing(keel_context_t *keel) {
    static const float zeros[WIDTH * WIDTH];
    keel_tensor_t weights[LAYERS], x;
    double rounds[ROUNDS];
    uint64_t operations = 0;
    unsigned long before_all = 0;
    for (int i = 0; i < LAYERS; ++i)
        weights[i] = keel_variable(keel, "w", KEEL_F32, KEEL_SHAPE(WIDTH, WIDTH), zeros);
    x = keel_variable(keel, "x", KEEL_F32, KEEL_SHAPE(WIDTH, WIDTH), zeros);
    for (int round = 0; round < ROUNDS; ++round) {
        if (round == 1) before_all = allocations;
        uint64_t before = keel_context_figures(keel).operations;
        double start = now();
        trace_model(x, weights);
        rounds[round] = now() - start;
        operations = keel_context_figures(keel).operations - before;
        if (keel_context_error(keel)) fprintf(stderr, "%s\n", keel_context_error(keel));
        keel_step_discard(keel);
        rounds[round] /= (double)operations;
    }
    printf("- Tracing one operation takes %.0f ns (a training step of %llu operations, gradients "
           "included; median of %d). After the first step it makes %lu allocations in %d steps.\n",
           median(rounds, ROUNDS), (unsigned long long)operations, ROUNDS, allocations - before_all,
           ROUNDS - 1);
}

static keel_tensor_t add_all(const keel_tensor_t *x) {
    keel_tensor_t sum = x[0];
    for (int i = 1; i < ARGUMENTS; ++i)
        sum = keel_add(sum, x[i]);
    return sum;
}

static double whole_step(keel_context_t *keel, const keel_tensor_t *x) {
    double start = now();
    keel_tensor_t kept = keel_keep(add_all(x));
    must(keel_step_end(keel));
    double end = now();
    float value;
    must(keel_read(kept, &value, sizeof value)); // so that nothing queues up
    keel_release(kept);
    return end - start;
}

static double bare_step(keel_context_t *keel, const keel_tensor_t *x) {
    PJRT_Buffer *arguments[ARGUMENTS], *result;
    PJRT_Buffer *const *const inputs[] = {arguments};
    PJRT_Buffer **const outputs[] = {&result};
    const keel_shape_t shape = {0};
    const sharding_t sharding = {{0}};
    const layout_t layout = {KEEL_F32, &shape, &sharding};
    PJRT_LoadedExecutable *loaded = step_last_loaded(keel);
    float value;
    for (int i = 0; i < ARGUMENTS; ++i)
        arguments[i] = context_variable(x[i])->buffers[0];
    double start = now();
    must(device_execute(keel->device, loaded, inputs, ARGUMENTS, outputs));
    double end = now();
    must(device_receive(keel->device, &layout, &result, &value));
    device_drop(keel->device, &result);
    return end - start;
}

static void bench_steps(keel_context_t *keel) {
    keel_tensor_t x[ARGUMENTS];
    double whole[STEPS], bare[STEPS];
    for (int i = 0; i < ARGUMENTS; ++i)
        x[i] = keel_variable(keel, "x", KEEL_F32, KEEL_SCALAR, &(float){1});
    for (int i = 0; i < STEPS; ++i) { // compiles; and Keel follows the buffers of the first ones
        whole_step(keel, x);
        bare_step(keel, x);
    }
    unsigned long before = allocations;
    for (int i = 0; i < STEPS; ++i) {
        whole[i] = whole_step(keel, x);
        bare[i] = bare_step(keel, x);
    }
    unsigned long after = allocations;
    double of_whole = median(whole, STEPS), of_bare = median(bare, STEPS);
    printf(
        "- A steady step of %d arguments takes %.1f us, of which the plugin's Execute takes %.1f "
        "us: tracing it again and finding it adds %.1f us. Keel makes %lu allocations in %d "
        "steps.\n",
        ARGUMENTS, of_whole / 1e3, of_bare / 1e3, (of_whole - of_bare) / 1e3, after - before,
        STEPS);
}

int main(void) {
    keel_context_t *keel;
    setenv("KEEL_PLUGIN", KEEL_EMBEDDED_PLUGIN, 0);
    setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0);
    must(keel_context_create(NULL, &keel));
    printf("## Tensors in C\n\n");
    bench_tracing(keel);
    bench_steps(keel);
    keel_context_free(keel);
}
