// Optimizers: assignments to variables, whose state is variables too. Every rate is a host number
// and so an argument: a schedule makes no new program.
#include "tensor/trace.h"

#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))
#define NUMBER(like, value) keel_number_at(site, (like), (value))

void keel_sgd_at(keel_caller_t site, const keel_tensor_t *x, const keel_tensor_t *gradients,
                 size_t count, double rate) {
    keel_tensor_t of_rate = {0};
    if (!x) return;
    if (!gradients && count && x[0].context) context_fail(x[0].context, site, "sgd: no gradients");
    for (size_t i = 0; gradients && i < count; ++i) {
        if (!i || keel_dtype(x[i]) != keel_dtype(x[i - 1])) of_rate = NUMBER(x[i], rate);
        keel_assign_at(site, x[i], BINARY(SUBTRACT, x[i], BINARY(MULTIPLY, gradients[i], of_rate)));
    }
}

// ---- AdamW -------------------------------------------------------------------------------------

struct keel_adamw_t {
    size_t count;
    keel_tensor_t step; // f32: how many there were
    keel_tensor_t *x, *first, *second;
};

// The state of small floats is f32: bf16 would never forget a second moment (0.999 is 1 there), and
// f16 has no 1e-8.
static keel_dtype_t state_dtype(keel_tensor_t x) {
    keel_dtype_t dtype = keel_dtype(x);
    return dtype < KEEL_F32 ? KEEL_F32 : dtype;
}

// A variable in the shape of x. Its zeros are sent and not traced, so the first step is no program
// of its own.
static keel_tensor_t zeros_like(keel_caller_t site, keel_tensor_t x) {
    const keel_shape_t shape = keel_shape(x);
    int64_t elements;
    void *zeros;
    if (!shape_elements(&shape, &elements)) return (keel_tensor_t){0};
    keel_status_t status =
        keel_calloc((size_t)elements + 1, keel_dtype_size(state_dtype(x)), &zeros);
    if (status) return context_take(x.context, site, status);
    keel_tensor_t state = keel_variable_at(site, x.context, "moment", state_dtype(x), shape, zeros);
    keel_free(zeros);
    return state;
}

static keel_status_t check(keel_caller_t site, const keel_tensor_t *x, size_t count,
                           keel_adamw_t **out) {
    if (!x || !count || !out)
        return keel_status_make(KEEL_INVALID, "%s:%d: adamw: no variables, or no place for it",
                                caller_file(site), site.line);
    for (size_t i = 0; i < count; ++i)
        if (!context_variable(x[i]) || x[i].context != x[0].context ||
            !dtype_is_float(keel_dtype(x[i])))
            return keel_status_make(KEEL_INVALID,
                                    "%s:%d: adamw: tensor %zu is no variable of floats of one "
                                    "context",
                                    caller_file(site), site.line, i + 1);
    return NULL;
}

keel_status_t keel_adamw_create_at(keel_caller_t site, const keel_tensor_t *x, size_t count,
                                   keel_adamw_t **out) {
    static const float zero = 0;
    void *memory, *tensors;
    KEEL_TRY(check(site, x, count, out));
    *out = NULL;
    KEEL_TRY(keel_calloc(3 * count, sizeof(keel_tensor_t), &tensors));
    keel_status_t status = keel_calloc(1, sizeof(keel_adamw_t), &memory);
    if (status) {
        keel_free(tensors);
        return status;
    }
    keel_adamw_t *adamw = memory;
    keel_context_t *context = x[0].context;
    *adamw = (keel_adamw_t){.count = count,
                            .x = tensors,
                            .first = (keel_tensor_t *)tensors + count,
                            .second = (keel_tensor_t *)tensors + 2 * count};
    adamw->step = keel_variable_at(site, context, "step", KEEL_F32, KEEL_SCALAR, &zero);
    for (size_t i = 0; i < count; ++i) {
        adamw->x[i] = x[i];
        adamw->first[i] = zeros_like(site, x[i]);
        adamw->second[i] = zeros_like(site, x[i]);
    }
    if (context->error) { // the step's: it reports it
        keel_adamw_free(adamw);
        return keel_status_make(KEEL_INVALID, "%s", keel_context_error(context));
    }
    *out = adamw;
    return NULL;
}

void keel_adamw_free(keel_adamw_t *adamw) {
    if (!adamw) return;
    for (size_t i = 0; i < adamw->count; ++i) {
        keel_release(adamw->first[i]);
        keel_release(adamw->second[i]);
    }
    keel_release(adamw->step);
    keel_free(adamw->x);
    keel_free(adamw);
}

// What all variables of one dtype share in a step.
typedef struct rates_t {
    keel_tensor_t rate, decay, beta1, beta2, rest1, rest2, epsilon, bias1, bias2;
} rates_t;

static rates_t rates_of(keel_caller_t site, keel_tensor_t step, keel_tensor_t like,
                        const keel_adamw_options_t *o) {
    keel_tensor_t one = keel_constant_at(site, step, 1);
    keel_dtype_t dtype = state_dtype(like);
    like = keel_cast_at(site, step, dtype);
    return (rates_t){
        .rate = NUMBER(like, o->rate),
        .decay = NUMBER(like, o->rate * o->decay),
        .beta1 = NUMBER(like, o->beta1),
        .beta2 = NUMBER(like, o->beta2),
        .rest1 = NUMBER(like, 1 - o->beta1),
        .rest2 = NUMBER(like, 1 - o->beta2),
        .epsilon = NUMBER(like, o->epsilon),
        .bias1 = keel_cast_at(
            site, BINARY(SUBTRACT, one, BINARY(POWER, NUMBER(step, o->beta1), step)), dtype),
        .bias2 = keel_cast_at(
            site, BINARY(SUBTRACT, one, BINARY(POWER, NUMBER(step, o->beta2), step)), dtype),
    };
}

void keel_adamw_step_at(keel_caller_t site, keel_adamw_t *adamw, const keel_tensor_t *gradients,
                        keel_adamw_options_t options) {
    rates_t r = {0};
    if (!adamw) return;
    if (!gradients) {
        context_fail(adamw->step.context, site, "adamw: no gradients");
        return;
    }
    keel_tensor_t step = BINARY(ADD, adamw->step, keel_constant_at(site, adamw->step, 1));
    keel_assign_at(site, adamw->step, step);
    for (size_t i = 0; i < adamw->count; ++i) {
        keel_dtype_t wide = state_dtype(adamw->x[i]);
        keel_tensor_t x = keel_cast_at(site, adamw->x[i], wide);
        keel_tensor_t g = keel_cast_at(site, gradients[i], wide);
        if (!i || wide != state_dtype(adamw->x[i - 1]))
            r = rates_of(site, step, adamw->x[i], &options);
        keel_tensor_t first =
            BINARY(ADD, BINARY(MULTIPLY, adamw->first[i], r.beta1), BINARY(MULTIPLY, g, r.rest1));
        keel_tensor_t second = BINARY(ADD, BINARY(MULTIPLY, adamw->second[i], r.beta2),
                                      BINARY(MULTIPLY, BINARY(MULTIPLY, g, g), r.rest2));
        keel_tensor_t root = keel_unary_at(site, KEEL_OP_SQRT, BINARY(DIVIDE, second, r.bias2));
        keel_tensor_t move =
            BINARY(DIVIDE, BINARY(DIVIDE, first, r.bias1), BINARY(ADD, root, r.epsilon));
        keel_assign_at(site, adamw->first[i], first);
        keel_assign_at(site, adamw->second[i], second);
        keel_tensor_t next = BINARY(SUBTRACT, BINARY(SUBTRACT, x, BINARY(MULTIPLY, x, r.decay)),
                                    BINARY(MULTIPLY, move, r.rate));
        keel_assign_at(site, adamw->x[i], keel_cast_at(site, next, keel_dtype(adamw->x[i])));
    }
}
