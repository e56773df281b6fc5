// What makes other front ends compile again and again, tried on this one. Each accident runs in a
// process of its own, as it should be written and as it should not, and prints what Keel answers:
// how many programs there were, or why it refused.
//
//   KEEL_PLUGIN=cpu ./accidents
//
// README.md has what it prints.
#include <keel/keel.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 6, FROZEN = 1, ROWS = 8, WIDTH = 4 };

// A model of one matrix, and what its accidents need.
typedef struct model_t {
    keel_context_t *keel;
    keel_tree_t *tree;
    keel_optimizer_t *optimizer;
    keel_batch_t *batch;
    keel_tensor_t weight, loss, count;
} model_t;

static const float points[ROWS * WIDTH] = {1, 2, 3, 4, 5, 6, 7, 8};

static keel_tensor_t loss_of(const model_t *model, keel_tensor_t x) {
    keel_tensor_t y = keel_matmul(x, model->weight);
    return keel_mean(keel_multiply(y, y), KEEL_AXES(0, 1));
}

static keel_tensor_t input(const model_t *model, int rows) {
    return keel_input(model->keel, "points", KEEL_F32, KEEL_SHAPE(rows, WIDTH), points);
}

static void descend(const model_t *model, keel_tensor_t loss, keel_tensor_t rate) {
    keel_tensor_t gradient;
    keel_gradients(loss, &model->weight, 1, &gradient);
    keel_assign(model->weight, keel_subtract(model->weight, keel_multiply(gradient, rate)));
    keel_assign(model->loss, loss);
}

static void descend_as_ever(const model_t *model, keel_tensor_t loss) {
    descend(model, loss, keel_number(loss, 0.01));
}

// ---- the accidents: one step each --------------------------------------------------------------

static keel_status_t rate_number(model_t *model, int step) {
    keel_tensor_t loss = loss_of(model, input(model, ROWS));
    descend(model, loss, keel_number(loss, 0.1 / (step + 1)));
    return NULL;
}

static keel_status_t rate_constant(model_t *model, int step) {
    keel_tensor_t loss = loss_of(model, input(model, ROWS));
    descend(model, loss, keel_constant(loss, 0.1 / (step + 1)));
    return NULL;
}

static keel_status_t counter_on_device(model_t *model, int step) {
    keel_tensor_t loss = loss_of(model, input(model, ROWS));
    (void)step;
    keel_add_to(model->count, keel_constant(model->count, 1));
    descend_as_ever(model, keel_multiply(loss, keel_cast(model->count, KEEL_F32)));
    return NULL;
}

static keel_status_t counter_from_host(model_t *model, int step) {
    int32_t count = 0;
    KEEL_TRY(keel_read(model->count, &count, sizeof count)); // of the steps before: cheap
    keel_tensor_t loss = loss_of(model, input(model, ROWS));
    (void)step;
    keel_add_to(model->count, keel_constant(model->count, 1));
    descend_as_ever(model, keel_multiply(loss, keel_constant(loss, count)));
    return NULL;
}

static keel_status_t read_after(model_t *model, int step) {
    float loss;
    KEEL_TRY(keel_read(model->loss, &loss, sizeof loss)); // of the step before
    (void)step;
    descend_as_ever(model, loss_of(model, input(model, ROWS)));
    return NULL;
}

static keel_status_t read_within(model_t *model, int step) {
    float value;
    keel_tensor_t loss = loss_of(model, input(model, ROWS));
    (void)step;
    KEEL_TRY(keel_read(loss, &value, sizeof value));
    descend_as_ever(model, loss);
    return NULL;
}

static void next_batch(const model_t *model, int rows, bool has_scale) {
    static const float scale[ROWS] = {1, 1, 1, 1, 1, 1, 1, 1};
    const keel_host_array_t arrays[] = {{"points", KEEL_F32, KEEL_SHAPE(rows, WIDTH), points},
                                        {"scale", KEEL_F32, KEEL_SHAPE(rows, 1), scale}};
    keel_batch_next(model->batch, arrays, has_scale ? 2 : 1);
}

static keel_status_t field_declared(model_t *model, int step) {
    next_batch(model, ROWS, step % 3 != 2);
    keel_tensor_t x = keel_batch_get(model->batch, "points");
    descend_as_ever(model, loss_of(model, keel_multiply(x, keel_batch_get(model->batch, "scale"))));
    return NULL;
}

static keel_status_t field_branch(model_t *model, int step) {
    keel_tensor_t x = input(model, ROWS);
    if (step % 3 != 2)
        x = keel_multiply(x,
                          keel_input(model->keel, "scale", KEEL_F32, KEEL_SHAPE(ROWS, 1), points));
    descend_as_ever(model, loss_of(model, x));
    return NULL;
}

static keel_status_t gradients_summed(model_t *model, int step) {
    (void)step; // the optimizer was made with .every = 2
    keel_minimize(model->optimizer, loss_of(model, input(model, ROWS)));
    return NULL;
}

static keel_status_t gradients_later(model_t *model, int step) {
    keel_tensor_t gradient, sum = keel_tree_get(model->tree, "sum"), w = model->weight;
    keel_gradients(loss_of(model, input(model, ROWS)), &w, 1, &gradient);
    if (step % 2 == 0) {
        keel_assign(sum, gradient); // the first makes the sum, the second adds to it
        return NULL;
    }
    keel_assign(w, keel_subtract(w, keel_multiply(keel_add(sum, gradient), keel_number(w, 0.01))));
    return NULL;
}

// Two thirds, say, of what the batch really has: the room for what each expert gets.
static int real_rows(int step) {
    return ROWS - step % 3;
}

static keel_status_t capacity_fixed(model_t *model, int step) {
    keel_tensor_t x = input(model, ROWS);
    keel_tensor_t row = keel_iota(model->keel, KEEL_I32, KEEL_SHAPE(ROWS, 1), 0);
    keel_tensor_t is_real = keel_less(row, keel_number(row, real_rows(step)));
    descend_as_ever(model, loss_of(model, keel_select(is_real, x, keel_constant(x, 0))));
    return NULL;
}

static keel_status_t capacity_from_batch(model_t *model, int step) {
    keel_tensor_t x = keel_slice(input(model, ROWS), 0, 0, real_rows(step));
    descend_as_ever(model, loss_of(model, x));
    return NULL;
}

static keel_status_t batch_padded(model_t *model, int step) {
    next_batch(model, step == 4 ? 5 : ROWS, true);
    keel_tensor_t x = keel_batch_get(model->batch, "points");
    keel_tensor_t is_row = keel_cast(keel_batch_mask(model->batch, "points"), KEEL_F32);
    x = keel_multiply(x, keel_reshape(is_row, KEEL_SHAPE(ROWS, 1)));
    descend_as_ever(model, loss_of(model, x));
    return NULL;
}

static keel_status_t batch_ragged(model_t *model, int step) {
    descend_as_ever(model, loss_of(model, input(model, step == 4 ? 5 : ROWS)));
    return NULL;
}

static keel_status_t mask_selects(model_t *model, int step) {
    keel_tensor_t x = input(model, ROWS);
    keel_tensor_t mask = keel_greater(x, keel_number(x, step));
    descend_as_ever(model, loss_of(model, keel_select(mask, x, keel_constant(x, 0))));
    return NULL;
}

static keel_status_t mask_gathers(model_t *model, int step) {
    keel_tensor_t x = input(model, ROWS);
    keel_tensor_t first = keel_reshape(keel_slice(x, 1, 0, 1), KEEL_SHAPE(ROWS));
    keel_tensor_t mask = keel_greater(first, keel_number(first, step));
    descend_as_ever(model, loss_of(model, keel_take(x, mask)));
    return NULL;
}

static keel_status_t dtype_one(model_t *model, int step) {
    keel_tensor_t x = keel_cast(input(model, ROWS), KEEL_BF16);
    (void)step;
    descend_as_ever(model, loss_of(model, keel_cast(x, KEEL_F32)));
    return NULL;
}

static keel_status_t dtype_switched(model_t *model, int step) {
    keel_tensor_t x = input(model, ROWS);
    if (step >= 4) x = keel_cast(x, KEEL_BF16);
    descend_as_ever(model, loss_of(model, x));
    return NULL;
}

static keel_status_t dtype_of_weight(model_t *model, int step) {
    descend_as_ever(model, loss_of(model, input(model, ROWS)));
    if (step == 4) keel_assign(model->weight, keel_cast(model->weight, KEEL_BF16));
    return NULL;
}

// All elements alike from step 5 on.
static keel_tensor_t input_alike(const model_t *model, int step) {
    static const float alike[ROWS * WIDTH];
    return keel_input(model->keel, "points", KEEL_F32, KEEL_SHAPE(ROWS, WIDTH),
                      step < 4 ? points : alike);
}

static keel_tensor_t is_uniform(keel_tensor_t x) {
    keel_tensor_t first = keel_slice(keel_slice(x, 0, 0, 1), 1, 0, 1);
    return keel_all(keel_equal(x, first), KEEL_AXES(0, 1));
}

static keel_status_t check_selects(model_t *model, int step) {
    keel_tensor_t x = input_alike(model, step), loss = loss_of(model, x);
    descend_as_ever(model, keel_select(is_uniform(x), keel_multiply(loss, loss), loss));
    return NULL;
}

static keel_status_t check_reads(model_t *model, int step) {
    bool uniform;
    keel_tensor_t x = input_alike(model, step), loss = loss_of(model, x);
    KEEL_TRY(keel_read(is_uniform(x), &uniform, sizeof uniform));
    if (uniform) loss = keel_multiply(loss, loss);
    descend_as_ever(model, loss);
    return NULL;
}

static keel_status_t flag_number(model_t *model, int step) {
    keel_tensor_t loss = loss_of(model, input(model, ROWS));
    keel_tensor_t flag = keel_number(loss, step >= 4);
    descend_as_ever(model, keel_select(keel_greater(flag, keel_constant(flag, 0)),
                                       keel_multiply(loss, loss), loss));
    return NULL;
}

static keel_status_t flag_branch(model_t *model, int step) {
    keel_tensor_t loss = loss_of(model, input(model, ROWS));
    if (step >= 4) loss = keel_multiply(loss, loss);
    descend_as_ever(model, loss);
    return NULL;
}

// ---- running one -------------------------------------------------------------------------------

typedef struct accident_t {
    const char *name;
    keel_status_t (*step)(model_t *model, int step);
} accident_t;

static const accident_t accidents[] = {
    {"a rate that changes, as a number", rate_number},
    {"a rate that changes, as a constant", rate_constant},
    {"a counter, on the device", counter_on_device},
    {"a counter, read and put back as a constant", counter_from_host},
    {"the loss, read after its step", read_after},
    {"the loss, read in mid-step", read_within},
    {"an optional field, declared", field_declared},
    {"an optional field, by an if", field_branch},
    {"gradients of two steps, summed by the optimizer", gradients_summed},
    {"gradients of two steps, by an if", gradients_later},
    {"a capacity, the largest and a mask", capacity_fixed},
    {"a capacity, from the batch", capacity_from_batch},
    {"a short batch, padded", batch_padded},
    {"a short batch, as it is", batch_ragged},
    {"a mask that selects", mask_selects},
    {"a mask that gathers", mask_gathers},
    {"one dtype", dtype_one},
    {"another dtype from step 5 on", dtype_switched},
    {"another dtype for a weight", dtype_of_weight},
    {"whether the batch is uniform, by a select", check_selects},
    {"whether the batch is uniform, by a read and an if", check_reads},
    {"a flag from step 5 on, as a number", flag_number},
    {"a flag from step 5 on, by an if", flag_branch},
};

static keel_status_t make_model(model_t *model) {
    const keel_field_t fields[] = {
        {.name = "points", .dtype = KEEL_F32, .shape = KEEL_SHAPE(ROWS, WIDTH), .mask_rank = 1},
        {.name = "scale", .dtype = KEEL_F32, .shape = KEEL_SHAPE(ROWS, 1), .fill = 1}};
    keel_optimizer_options_t sgd = KEEL_SGD(0.01);
    sgd.every = 2;
    KEEL_TRY(keel_context_create(NULL, &model->keel));
    KEEL_TRY(keel_tree_create(model->keel, &model->tree));
    KEEL_TRY(keel_batch_create(model->keel, fields, 2, &model->batch));
    model->weight =
        keel_tree_add(model->tree, "weight", KEEL_F32, KEEL_SHAPE(WIDTH, WIDTH), KEEL_UNIFORM(0.1));
    model->loss = keel_tree_state(model->tree, "loss", KEEL_F32, KEEL_SCALAR, KEEL_FILL(0));
    model->count = keel_tree_state(model->tree, "count", KEEL_I32, KEEL_SCALAR, KEEL_FILL(0));
    keel_tree_state(model->tree, "sum", KEEL_F32, KEEL_SHAPE(WIDTH, WIDTH), KEEL_FILL(0));
    KEEL_TRY(keel_optimizer_create(model->tree, &sgd, &model->optimizer));
    keel_tree_initialize(model->tree, 1);
    return keel_step_end(model->keel);
}

// `frozen`: the step from which on a new program is refused.
static keel_status_t run(const accident_t *accident, model_t *model, int frozen) {
    KEEL_TRY(make_model(model));
    for (int step = 0; step < STEPS; ++step) {
        if (step == frozen) keel_freeze();
        KEEL_TRY(accident->step(model, step));
        KEEL_TRY(keel_step_end(model->keel));
    }
    return NULL;
}

// Programs without the one for the first values; 0 if it failed, which it prints.
static int count_programs(const accident_t *accident, int frozen) {
    model_t model = {0};
    keel_status_t status = run(accident, &model, frozen);
    int programs = (int)keel_context_figures(model.keel).programs - 1;
    if (status) printf("  refused: %s\n", keel_status_message(status));
    if (!status && frozen == STEPS)
        printf("  %d program%s in %d steps\n", programs, programs == 1 ? "" : "s", STEPS);
    keel_optimizer_free(model.optimizer);
    keel_batch_free(model.batch);
    keel_tree_free(model.tree);
    keel_context_free(model.keel);
    if (!status) return programs;
    keel_status_ignore(status);
    return 0;
}

// In a process of its own, because freezing is the process's. Its programs; 0 if it failed.
static int in_process(const accident_t *accident, int frozen) {
    int exit_status;
    pid_t child = fork();
    if (!child) {
        int programs = count_programs(accident, frozen);
        fflush(stdout);
        _exit(programs);
    }
    if (child < 0 || waitpid(child, &exit_status, 0) < 0 || !WIFEXITED(exit_status)) return 0;
    return WEXITSTATUS(exit_status);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof accidents / sizeof *accidents; ++i) {
        printf("%s\n", accidents[i].name);
        if (in_process(&accidents[i], STEPS) > 1) in_process(&accidents[i], FROZEN);
    }
    return 0;
}
