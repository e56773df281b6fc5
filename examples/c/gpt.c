// Trains a small byte-level GPT on a text: examples/jax/train_gpt.py in C.
//
//   KEEL_PLUGIN=cpu ./gpt notes.txt
//   KEEL_PLUGIN=cpu ./gpt notes.txt --layers 4 --steps 200 --micro-batches 2
//
// Two programs, however long it trains: one makes the first weights, one trains. The rate warms up,
// an epoch ends with a short batch, and some batches come without weights.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpt_model.h"

enum { MAX_BATCH = 64, MAX_LENGTH = 1024, MAX_TEXT = 1 << 24 };

typedef struct options_t {
    const char *text;
    const char *load, *save; // weights, as safetensors
    const char *rows;        // where the rows of the epochs start in the text; NULL: anywhere
    long layers, width, length, batch, micro_batches;
    long epoch; // rows in it
    long steps, log_every;
    double rate;
} options_t;

// ---- data --------------------------------------------------------------------------------------

typedef struct loader_t {
    unsigned char text[MAX_TEXT];
    size_t size;
    FILE *rows;
    uint32_t random;
    long left; // rows of this epoch
} loader_t;

static keel_status_t failed(const char *path, const char *why) {
    return keel_status_make(KEEL_IO, "%s: %s", path, why);
}

static keel_status_t open_data(const options_t *options, loader_t *loader) {
    FILE *file = fopen(options->text, "rb");
    if (!file) return failed(options->text, strerror(errno));
    loader->size = fread(loader->text, 1, sizeof loader->text, file);
    fclose(file);
    if (loader->size <= (size_t)options->length)
        return failed(options->text, "shorter than one row; lower --seq");
    if (options->rows && !(loader->rows = fopen(options->rows, "r")))
        return failed(options->rows, strerror(errno));
    return NULL;
}

static size_t next_start(const options_t *options, loader_t *loader) {
    unsigned long start;
    size_t choices = loader->size - (size_t)options->length;
    if (loader->rows && fscanf(loader->rows, "%lu", &start) == 1) return start % choices;
    loader->random = loader->random * 1664525u + 1013904223u;
    return (size_t)(((uint64_t)loader->random * choices) >> 32);
}

// `batch` random pieces of the text, or what is left of the epoch. A byte beyond ASCII is a part of
// a character: nobody has to foresee it, so as a target it weighs nothing. Most batches have none
// and come without weights.
static void next_batch(const options_t *options, loader_t *loader, keel_batch_t *out) {
    static int32_t bytes[MAX_BATCH * (MAX_LENGTH + 1)];
    static float weights[MAX_BATCH * MAX_LENGTH];
    const long length = options->length;
    long rows = loader->left < options->batch ? loader->left : options->batch;
    bool is_ascii = true;
    for (long row = 0; row < rows; ++row) {
        const unsigned char *piece = loader->text + next_start(options, loader);
        for (long i = 0; i <= length; ++i)
            bytes[row * (length + 1) + i] = piece[i];
        for (long i = 0; i < length; ++i) {
            weights[row * length + i] = piece[i + 1] < 128;
            is_ascii = is_ascii && piece[i + 1] < 128;
        }
    }
    loader->left -= rows;
    if (!loader->left) loader->left = options->epoch;
    const keel_host_array_t arrays[] = {
        {"bytes", KEEL_I32, KEEL_SHAPE(rows, length + 1), bytes},
        {"weights", KEEL_F32, KEEL_SHAPE(rows, length), weights},
    };
    keel_batch_next(out, arrays, is_ascii ? 1 : 2);
}

// ---- training ----------------------------------------------------------------------------------

typedef struct training_t {
    const options_t *options;
    gpt_t gpt;
    keel_batch_t *batch;
    keel_optimizer_t *optimizer;
    keel_tensor_t loss, rate, seen;           // metrics, on the device
    keel_tensor_t bytes, weights, all_weight; // of the batch at hand
} training_t;

// Of one micro-batch, so that their mean is the mean over all bytes of the batch that count.
static keel_tensor_t loss_of(void *data, keel_tensor_t micro) {
    const training_t *training = data;
    const gpt_t *gpt = &training->gpt;
    const int n = gpt->length;
    keel_tensor_t bytes = keel_micro_batch(training->bytes, micro);
    keel_tensor_t logits =
        gpt_logits(gpt, keel_slice(bytes, 1, 0, n), keel_tree_get(gpt->tree, "position"),
                   gpt_past(gpt, n, n), NULL);
    keel_tensor_t nats = keel_cross_entropy(logits, keel_slice(bytes, 1, 1, n + 1));
    nats = keel_multiply(nats, keel_micro_batch(training->weights, micro));
    return keel_divide(keel_sum(nats, KEEL_AXES(0, 1)), training->all_weight);
}

// [batch,n] to [micro-batches,rows,n].
static keel_tensor_t in_micro_batches(const options_t *options, keel_tensor_t x) {
    return keel_reshape(x,
                        KEEL_SHAPE(options->micro_batches, options->batch / options->micro_batches,
                                   keel_shape(x).dims[1]));
}

static keel_status_t train_step(training_t *training) {
    const options_t *options = training->options;
    keel_tensor_t is_row = keel_cast(keel_batch_mask(training->batch, "bytes"), KEEL_F32);
    keel_tensor_t weights = keel_multiply(keel_batch_get(training->batch, "weights"),
                                          keel_reshape(is_row, KEEL_SHAPE(options->batch, 1)));
    keel_tensor_t all = keel_sum(weights, KEEL_AXES(0, 1));
    training->bytes = in_micro_batches(options, keel_batch_get(training->batch, "bytes"));
    training->weights = in_micro_batches(options, weights);
    training->all_weight = keel_divide(all, keel_constant(all, (double)options->micro_batches));
    keel_tensor_t loss =
        keel_minimize_over(training->optimizer, options->micro_batches, loss_of, training);
    keel_assign(training->loss, loss);
    keel_assign(training->rate, keel_optimizer_rate(training->optimizer));
    keel_add_to(training->seen, all);
    return keel_step_end(training->gpt.keel);
}

static double seconds(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static keel_status_t print_metrics(const training_t *training, long step) {
    float loss, rate;
    int32_t seen;
    KEEL_TRY(keel_read(training->loss, &loss, sizeof loss));
    KEEL_TRY(keel_read(training->rate, &rate, sizeof rate));
    KEEL_TRY(keel_read(training->seen, &seen, sizeof seen));
    printf("step %4ld  loss %.6f  rate %.6f  bytes %d\n", step, (double)loss, (double)rate,
           (int)seen);
    return NULL;
}

static keel_status_t train(training_t *training, loader_t *loader, double started) {
    const options_t *options = training->options;
    float loss;
    for (long step = 1; step <= options->steps; ++step) {
        next_batch(options, loader, training->batch);
        KEEL_TRY(train_step(training));
        if (step == 1) {
            KEEL_TRY(keel_read(training->loss, &loss, sizeof loss)); // waits
            printf("time to first step: %.2f s\n", seconds() - started);
        }
        if (step == 1 || step % options->log_every == 0) KEEL_TRY(print_metrics(training, step));
        fflush(stdout);
    }
    KEEL_TRY(keel_read(training->loss, &loss, sizeof loss));
    printf("final loss: %.6f\ntotal: %.1f s\n", (double)loss, seconds() - started);
    printf("%llu programs in %llu steps\n",
           (unsigned long long)keel_context_figures(training->gpt.keel).programs,
           (unsigned long long)keel_context_figures(training->gpt.keel).steps);
    return NULL;
}

// ---- set-up ------------------------------------------------------------------------------------

static int is_vector(const keel_leaf_t *leaf, const void *unused) {
    (void)unused;
    return keel_shape(leaf->tensor).rank < 2;
}

static keel_status_t make_optimizer(training_t *training) {
    keel_optimizer_options_t adamw = KEEL_ADAMW(training->options->rate);
    adamw.rate.warmup = 10;
    adamw.beta2 = 0.95;
    adamw.decay = 0.1;
    KEEL_TRY(keel_optimizer_create(training->gpt.tree, &adamw, &training->optimizer));
    keel_optimizer_scale(training->optimizer, is_vector, NULL, 1, 0); // norms keep their weights
    return NULL;
}

static keel_status_t make_batch(training_t *training) {
    const options_t *options = training->options;
    const keel_field_t fields[] = {
        {.name = "bytes",
         .dtype = KEEL_I32,
         .shape = KEEL_SHAPE(options->batch, options->length + 1),
         .is_required = 1,
         .mask_rank = 1},
        {.name = "weights",
         .dtype = KEEL_F32,
         .shape = KEEL_SHAPE(options->batch, options->length),
         .fill = 1},
    };
    return keel_batch_create(training->gpt.keel, fields, 2, &training->batch);
}

static keel_tensor_t add_metric(training_t *training, const char *name, keel_dtype_t dtype) {
    return keel_tree_state(training->gpt.tree, name, dtype, KEEL_SCALAR, KEEL_FILL(0));
}

static keel_status_t set_up(training_t *training) {
    const options_t *options = training->options;
    gpt_t *gpt = &training->gpt;
    KEEL_TRY(keel_context_create(NULL, &gpt->keel));
    KEEL_TRY(keel_tree_create(gpt->keel, &gpt->tree));
    gpt->layers = (int)options->layers;
    gpt->width = (int)options->width;
    gpt->length = (int)options->length;
    gpt_add_weights(gpt);
    training->loss = add_metric(training, "metrics.loss", KEEL_F32);
    training->rate = add_metric(training, "metrics.rate", KEEL_F32);
    training->seen = add_metric(training, "metrics.bytes", KEEL_I32);
    KEEL_TRY(make_optimizer(training));
    KEEL_TRY(make_batch(training));
    keel_tree_initialize(gpt->tree, 0);
    KEEL_TRY(keel_step_end(gpt->keel));
    if (options->load)
        KEEL_TRY(keel_checkpoint_load(gpt->tree, options->load, keel_is_parameter, NULL));
    printf("%.1f M weights\n",
           (double)keel_tree_elements(gpt->tree, keel_is_parameter, NULL) / 1e6);
    return NULL;
}

static keel_status_t run(const options_t *options, training_t *training, loader_t *loader) {
    double started = seconds();
    KEEL_TRY(open_data(options, loader));
    KEEL_TRY(set_up(training));
    KEEL_TRY(train(training, loader, started));
    return options->save ? keel_checkpoint_save(training->gpt.tree, options->save, 0) : NULL;
}

// ---- options -----------------------------------------------------------------------------------

// 0 if there is no such option, or its value is none.
static int set_option(options_t *options, const char *name, const char *value) {
    const struct {
        const char *name;
        long *value, least, most;
    } numbers[] = {
        {"--layers", &options->layers, 1, MAX_LAYERS},
        {"--width", &options->width, HEAD_WIDTH, 1 << 14},
        {"--seq", &options->length, 1, MAX_LENGTH},
        {"--batch", &options->batch, 1, MAX_BATCH},
        {"--micro-batches", &options->micro_batches, 1, MAX_BATCH},
        {"--epoch", &options->epoch, 1, 1L << 30},
        {"--steps", &options->steps, 1, 1L << 30},
        {"--log-every", &options->log_every, 1, 1L << 30},
    };
    const struct {
        const char *name, **value;
    } paths[] = {
        {"--load", &options->load}, {"--save", &options->save}, {"--rows", &options->rows}};
    char *end = NULL;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i)
        if (!strcmp(name, paths[i].name)) return (*paths[i].value = value) != NULL;
    for (size_t i = 0; value && i < sizeof numbers / sizeof *numbers; ++i) {
        if (strcmp(name, numbers[i].name) != 0) continue;
        long number = *numbers[i].value = strtol(value, &end, 10);
        return end != value && !*end && number >= numbers[i].least && number <= numbers[i].most;
    }
    if (!value || strcmp(name, "--learning-rate") != 0) return 0;
    options->rate = strtod(value, &end);
    return end != value && !*end;
}

static int parse(int count, char **arguments, options_t *options) {
    if (count < 2) return 0;
    options->text = arguments[1];
    for (int i = 2; i < count; i += 2)
        if (!set_option(options, arguments[i], i + 1 < count ? arguments[i + 1] : NULL)) return 0;
    return options->width % HEAD_WIDTH == 0 && options->batch % options->micro_batches == 0;
}

int main(int count, char **arguments) {
    options_t options = {.layers = 8,
                         .width = 256,
                         .length = 128,
                         .batch = 8,
                         .micro_batches = 1,
                         .epoch = 157,
                         .steps = 24,
                         .log_every = 4,
                         .rate = 1e-3};
    if (!parse(count, arguments, &options)) {
        fprintf(stderr,
                "usage: gpt TEXT [--layers 8] [--width 256] [--seq 128] [--batch 8]\n"
                "           [--micro-batches 1] [--epoch 157] [--steps 24] [--log-every 4]\n"
                "           [--learning-rate 0.001] [--load FILE] [--save FILE] [--rows FILE]\n"
                "The width is a multiple of %d, and the batch one of the micro-batches.\n",
                HEAD_WIDTH);
        return 2;
    }
    training_t training = {.options = &options};
    static loader_t loader;
    loader.random = 1;
    loader.left = options.epoch;
    keel_status_t status = run(&options, &training, &loader);
    keel_batch_free(training.batch);
    keel_optimizer_free(training.optimizer);
    keel_tree_free(training.gpt.tree);
    keel_context_free(training.gpt.keel);
    if (loader.rows) fclose(loader.rows);
    if (!status) return 0;
    fprintf(stderr, "gpt: %s\n", keel_status_message(status));
    keel_status_ignore(status);
    return 1;
}
