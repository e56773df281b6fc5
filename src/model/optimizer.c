// What an optimizer holds, and its step: gradients are summed and clipped here, rules.c moves each
// parameter.
#include "model/model.h"

#include <stdio.h>

#include "keel/arrays.h"

#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))
#define NUMBER(like, value) keel_number_at(site, (like), (value), #value)
#define CONSTANT(like, value) keel_constant_at(site, (like), (value))

struct keel_optimizer_t {
    const keel_tree_t *tree;
    keel_optimizer_options_t options;
    keel_rule_t rule; // what its state was made for
    int every;
    char *name;
    keel_tensor_t step, micro; // i32: how many there were, and of the sum
    keel_tensor_t rate, norm;  // of the open step
    size_t count;
    slot_t *slots;
    keel_tensor_t *parameters, *gradients; // in the order of the slots; room for those of a step
};

// ---- life --------------------------------------------------------------------------------------

static keel_status_t refuse(const char *what) {
    return keel_status_make(KEEL_INVALID, "optimizer: %s", what);
}

static bool is_trained(const keel_optimizer_options_t *options, const keel_leaf_t *leaf) {
    return !leaf->is_state && (!options->only || options->only(leaf, options->only_data));
}

static size_t count_trained(const keel_tree_t *tree, const keel_optimizer_options_t *options) {
    size_t count = 0;
    for (size_t i = 0; i < keel_tree_count(tree); ++i) {
        const keel_leaf_t leaf = keel_tree_leaf(tree, i);
        count += is_trained(options, &leaf);
    }
    return count;
}

static keel_status_t check(const keel_tree_t *tree, const keel_optimizer_options_t *options) {
    if (!options) return refuse("no options");
    if ((unsigned)options->rule > KEEL_RULE_LION) return refuse("there is no such rule");
    if (options->every < 0) return refuse("a step is the mean of 1 step or more");
    if (options->name && strlen(options->name) > MAX_NAME) return refuse("its name is too long");
    if (!count_trained(tree, options)) return refuse("the tree has no parameters");
    return NULL;
}

static keel_status_t make_room(keel_optimizer_t *optimizer, size_t count) {
    void *memory;
    KEEL_TRY(keel_calloc(count, sizeof(slot_t), &memory));
    optimizer->slots = memory;
    KEEL_TRY(keel_calloc(2 * count, sizeof(keel_tensor_t), &memory));
    optimizer->parameters = memory;
    optimizer->gradients = optimizer->parameters + count;
    optimizer->count = count;
    return NULL;
}

// Whole names, whatever the tree has entered.
static keel_tensor_t add_state(keel_caller_t site, keel_tree_t *tree, const char *name,
                               keel_dtype_t dtype, keel_shape_t shape) {
    const char first = tree->scope[0];
    tree->scope[0] = 0;
    keel_tensor_t state = keel_tree_state_at(site, tree, name, dtype, shape, KEEL_FILL(0));
    tree->scope[0] = first;
    return state;
}

static keel_tensor_t add_moment(keel_caller_t site, keel_tree_t *tree,
                                const keel_optimizer_t *optimizer, const char *kind,
                                const keel_leaf_t *leaf) {
    char name[3 * MAX_NAME];
    snprintf(name, sizeof name, "%s.%s.%s", optimizer->name, kind, leaf->name);
    keel_tensor_t moment = add_state(site, tree, name, rules_dtype(keel_dtype(leaf->tensor)),
                                     keel_shape(leaf->tensor));
    keel_tensor_place_like(moment, leaf->tensor);
    return moment;
}

static void fill_slots(keel_caller_t site, keel_tree_t *tree, keel_optimizer_t *optimizer) {
    const size_t leaves = keel_tree_count(tree); // the state comes behind them
    const keel_optimizer_options_t *options = &optimizer->options;
    size_t count = 0;
    for (size_t i = 0; i < leaves; ++i) {
        const keel_leaf_t leaf = keel_tree_leaf(tree, i);
        if (!is_trained(options, &leaf)) continue;
        slot_t slot = {.leaf = i, .x = leaf.tensor, .rate = 1, .decay = 1};
        if (rules_need_first(options)) slot.first = add_moment(site, tree, optimizer, "m", &leaf);
        if (rules_need_second(options)) slot.second = add_moment(site, tree, optimizer, "v", &leaf);
        if (optimizer->every > 1) slot.sum = add_moment(site, tree, optimizer, "sum", &leaf);
        optimizer->parameters[count] = leaf.tensor;
        optimizer->slots[count++] = slot;
    }
}

static keel_tensor_t add_counter(keel_caller_t site, keel_tree_t *tree,
                                 const keel_optimizer_t *optimizer, const char *kind) {
    char name[2 * MAX_NAME];
    snprintf(name, sizeof name, "%s.%s", optimizer->name, kind);
    return add_state(site, tree, name, KEEL_I32, KEEL_SCALAR);
}

static keel_status_t fill(keel_caller_t site, keel_tree_t *tree, keel_optimizer_t *optimizer) {
    const char *name = optimizer->options.name ? optimizer->options.name : "optimizer";
    KEEL_TRY(keel_strdup(keel_str(name), &optimizer->name));
    optimizer->options.name = optimizer->name;
    KEEL_TRY(make_room(optimizer, count_trained(tree, &optimizer->options)));
    optimizer->step = add_counter(site, tree, optimizer, "step");
    if (optimizer->every > 1) optimizer->micro = add_counter(site, tree, optimizer, "micro");
    fill_slots(site, tree, optimizer);
    return NULL;
}

// What goes wrong is the caller's, not the open step's, which keeps the error that it may have.
static keel_status_t fill_or_drop(keel_caller_t site, keel_tree_t *tree,
                                  keel_optimizer_t *optimizer) {
    const size_t leaves = keel_tree_count(tree);
    keel_status_t earlier = keel_tensor_swap_error(tree->context, NULL);
    keel_status_t status = fill(site, tree, optimizer);
    keel_status_t error = keel_tensor_swap_error(tree->context, earlier);
    if (status)
        keel_status_ignore(error);
    else
        status = error;
    if (status) tree_drop(tree, leaves);
    return status;
}

keel_status_t keel_optimizer_create_at(keel_caller_t site, keel_tree_t *tree,
                                       const keel_optimizer_options_t *options,
                                       keel_optimizer_t **out) {
    void *memory;
    if (!out) return keel_tensor_annotate(site, refuse("no place for it"));
    *out = NULL;
    KEEL_TRY(keel_tensor_annotate(site, check(tree, options)));
    KEEL_TRY(keel_calloc(1, sizeof(keel_optimizer_t), &memory));
    keel_optimizer_t *optimizer = memory;
    optimizer->tree = tree;
    optimizer->options = *options;
    optimizer->rule = options->rule;
    optimizer->every = options->every;
    keel_status_t status = fill_or_drop(site, tree, optimizer);
    if (status)
        keel_optimizer_free(optimizer);
    else
        *out = optimizer;
    return status;
}

void keel_optimizer_free(keel_optimizer_t *optimizer) {
    if (!optimizer) return;
    keel_free(optimizer->name);
    keel_free(optimizer->slots);
    keel_free(optimizer->parameters);
    keel_free(optimizer);
}

// ---- what it is asked --------------------------------------------------------------------------

keel_optimizer_options_t *keel_optimizer_options(keel_optimizer_t *optimizer) {
    return optimizer ? &optimizer->options : NULL;
}

size_t keel_optimizer_count(const keel_optimizer_t *optimizer) {
    return optimizer ? optimizer->count : 0;
}

const keel_tensor_t *keel_optimizer_parameters(const keel_optimizer_t *optimizer) {
    return optimizer ? optimizer->parameters : NULL;
}

keel_tensor_t keel_optimizer_rate(const keel_optimizer_t *optimizer) {
    return optimizer ? optimizer->rate : (keel_tensor_t){0};
}

keel_tensor_t keel_optimizer_norm(const keel_optimizer_t *optimizer) {
    return optimizer ? optimizer->norm : (keel_tensor_t){0};
}

size_t keel_optimizer_scale(keel_optimizer_t *optimizer, keel_filter_t filter, const void *data,
                            double rate, double decay) {
    size_t count = 0;
    for (size_t i = 0; i < keel_optimizer_count(optimizer); ++i) {
        slot_t *slot = &optimizer->slots[i];
        const keel_leaf_t leaf = keel_tree_leaf(optimizer->tree, slot->leaf);
        if (filter && !filter(&leaf, data)) continue;
        slot->rate *= rate;
        slot->decay *= decay;
        ++count;
    }
    return count;
}

// ---- a step ------------------------------------------------------------------------------------

// Whether the sum of gradients is complete; empty if there is no sum.
static keel_tensor_t count_micro(keel_caller_t site, const keel_optimizer_t *optimizer) {
    keel_tensor_t micro = optimizer->micro;
    if (optimizer->every <= 1) return (keel_tensor_t){0};
    keel_tensor_t next = BINARY(ADD, micro, CONSTANT(micro, 1));
    keel_tensor_t is_due =
        keel_compare_at(site, KEEL_OP_EQUAL, next, NUMBER(micro, optimizer->every));
    keel_assign_at(site, micro, keel_select_at(site, is_due, CONSTANT(micro, 0), next));
    return is_due;
}

// The gradient that a slot moves by. Its sum goes on, or starts from 0.
static keel_tensor_t gradient_of(keel_caller_t site, const keel_optimizer_t *optimizer,
                                 const slot_t *slot, keel_tensor_t gradient, keel_tensor_t is_due) {
    keel_tensor_t g = keel_cast_at(site, gradient, rules_dtype(keel_dtype(slot->x)));
    if (keel_is_empty(is_due)) return g;
    keel_tensor_t sum = BINARY(ADD, slot->sum, g);
    keel_assign_at(site, slot->sum, keel_select_at(site, is_due, CONSTANT(sum, 0), sum));
    return BINARY(DIVIDE, sum, NUMBER(sum, optimizer->every));
}

// Over all gradients, in f32, or in f64 if one of them is.
static keel_tensor_t norm_of(keel_caller_t site, const keel_optimizer_t *optimizer) {
    keel_tensor_t sum = {0};
    keel_dtype_t dtype = KEEL_F32;
    for (size_t i = 0; i < optimizer->count; ++i)
        if (keel_dtype(optimizer->slots[i].gradient) == KEEL_F64) dtype = KEEL_F64;
    for (size_t i = 0; i < optimizer->count; ++i) {
        keel_tensor_t g = keel_cast_at(site, optimizer->slots[i].gradient, dtype);
        keel_tensor_t squares =
            keel_reduce_at(site, KEEL_OP_SUM, BINARY(MULTIPLY, g, g), keel_all_axes(g));
        sum = i ? BINARY(ADD, sum, squares) : squares;
    }
    return keel_unary_at(site, KEEL_OP_SQRT, sum);
}

static keel_tensor_t clip_of(keel_caller_t site, const keel_optimizer_t *optimizer) {
    keel_tensor_t norm = optimizer->norm;
    keel_tensor_t share = BINARY(DIVIDE, NUMBER(norm, optimizer->options.clip),
                                 BINARY(ADD, norm, CONSTANT(norm, 1e-6)));
    return BINARY(MINIMUM, CONSTANT(norm, 1), share);
}

static void move_all(keel_caller_t site, keel_optimizer_t *optimizer, keel_tensor_t step,
                     keel_tensor_t is_due) {
    rates_t of_dtype[KEEL_DTYPE_COUNT] = {0};
    keel_tensor_t clip = {0};
    optimizer->norm = norm_of(site, optimizer);
    optimizer->rate = keel_rate_at(site, optimizer->options.rate, step);
    if (optimizer->options.clip != 0) clip = clip_of(site, optimizer);
    for (size_t i = 0; i < optimizer->count; ++i) {
        slot_t slot = optimizer->slots[i];
        const keel_dtype_t dtype = keel_dtype(slot.gradient);
        rates_t *rates = &of_dtype[dtype];
        if (keel_is_empty(rates->rate)) {
            *rates = rules_rates(site, &optimizer->options, keel_cast_at(site, step, dtype));
            rates->is_due = is_due;
            if (!keel_is_empty(clip)) rates->clip = keel_cast_at(site, clip, dtype);
        }
        if (!keel_is_empty(clip)) slot.gradient = BINARY(MULTIPLY, slot.gradient, rates->clip);
        rules_step(site, &optimizer->options, rates, &slot);
    }
}

static keel_status_t check_step(const keel_optimizer_t *optimizer, const keel_tensor_t *gradients) {
    if (!gradients) return refuse("no gradients");
    if (optimizer->options.rule != optimizer->rule || optimizer->options.every != optimizer->every)
        return refuse("its rule and `every` stay what they were when its state was made");
    for (size_t i = 0; i < optimizer->count; ++i) {
        const keel_leaf_t leaf = keel_tree_leaf(optimizer->tree, optimizer->slots[i].leaf);
        const keel_shape_t shape = keel_shape(leaf.tensor), other = keel_shape(gradients[i]);
        char text[KEEL_TENSOR_TEXT], other_text[KEEL_TENSOR_TEXT];
        if (gradients[i].context != optimizer->tree->context)
            return keel_status_make(
                KEEL_INVALID, "optimizer: the gradient of %s %s; is the loss?", leaf.name,
                keel_is_empty(gradients[i]) ? "is empty" : "is of another context");
        if (keel_tensor_same_shape(&shape, &other)) continue;
        return keel_status_make(KEEL_INVALID, "optimizer: %s is %s, and its gradient is %s",
                                leaf.name, keel_tensor_text(keel_dtype(leaf.tensor), &shape, text),
                                keel_tensor_text(keel_dtype(gradients[i]), &other, other_text));
    }
    return NULL;
}

void keel_optimizer_step_at(keel_caller_t site, keel_optimizer_t *optimizer,
                            const keel_tensor_t *gradients) {
    site = keel_tensor_part_of(site, "optimizer_step");
    if (!optimizer) return;
    keel_status_t status = check_step(optimizer, gradients);
    if (status) {
        keel_tensor_fail(optimizer->tree->context, site, status);
        return;
    }
    keel_tensor_t is_due = count_micro(site, optimizer);
    keel_tensor_t step = BINARY(ADD, optimizer->step, CONSTANT(optimizer->step, 1));
    for (size_t i = 0; i < optimizer->count; ++i) {
        slot_t *slot = &optimizer->slots[i];
        slot->gradient = gradient_of(site, optimizer, slot, gradients[i], is_due);
    }
    move_all(site, optimizer, step, is_due);
    rules_assign(site, is_due, optimizer->step, step);
}

void keel_minimize_at(keel_caller_t site, keel_optimizer_t *optimizer, keel_tensor_t loss) {
    site = keel_tensor_part_of(site, "minimize");
    if (!optimizer) return;
    keel_gradients_at(site, loss, optimizer->parameters, optimizer->count, optimizer->gradients);
    keel_optimizer_step_at(site, optimizer, optimizer->gradients);
}

// ---- many losses -------------------------------------------------------------------------------

typedef struct loop_t {
    keel_caller_t site;
    keel_optimizer_t *optimizer;
    const keel_losses_t *losses;
} loop_t;

// In: the sums so far of the gradients of each slot, what is carried on, and which micro-batch;
// out: the next of these, its loss, and what else it gives.
static void add_micro(void *user, const keel_tensor_t *in, keel_tensor_t *out) {
    const loop_t *loop = user;
    const keel_optimizer_t *optimizer = loop->optimizer;
    const keel_losses_t *losses = loop->losses;
    const keel_caller_t site = loop->site;
    const size_t count = optimizer->count, carried = losses->carry_count;
    const size_t given = losses->sum_count + losses->stack_count;
    void *memory;
    keel_status_t status = keel_calloc(carried + given + 1, sizeof(keel_tensor_t), &memory);
    if (status) {
        keel_tensor_fail(optimizer->tree->context, site, status);
        return;
    }
    keel_tensor_t *more = memory;
    keel_tensor_t loss = losses->loss(losses->data, in[count + carried], in + count, more);
    if (!keel_is_empty(loss)) { // otherwise the loop says so
        keel_gradients_at(site, loss, optimizer->parameters, count, out);
        for (size_t i = 0; i < count; ++i)
            out[i] = BINARY(ADD, in[i], keel_cast_at(site, out[i], keel_dtype(in[i])));
        out[count + carried] = keel_cast_at(site, loss, rules_dtype(keel_dtype(loss)));
    }
    if (carried) memcpy(out + count, more, carried * sizeof *more);
    if (given) memcpy(out + count + carried + 1, more + carried, given * sizeof *more);
    keel_free(memory);
}

// Zeros for the sums of gradients.
static void begin_sums(keel_caller_t site, const keel_optimizer_t *optimizer, keel_tensor_t *out) {
    for (size_t i = 0; i < optimizer->count; ++i) {
        keel_tensor_t x = optimizer->parameters[i];
        keel_tensor_t zero = keel_cast_at(site, CONSTANT(x, 0), rules_dtype(keel_dtype(x)));
        out[i] = keel_broadcast_at(site, zero, keel_shape(x));
    }
}

// `carry` has room for what goes in, and behind it for what comes out.
static keel_tensor_t run_loop(loop_t *loop, keel_tensor_t *carry, keel_tensor_t *given) {
    const keel_caller_t site = loop->site;
    const keel_losses_t *losses = loop->losses;
    keel_optimizer_t *optimizer = loop->optimizer;
    keel_context_t *context = optimizer->tree->context;
    keel_tensor_t micros = keel_iota_at(site, context, KEEL_I32, KEEL_SHAPE(losses->count), 0);
    const size_t count = optimizer->count, carries = count + losses->carry_count;
    keel_tensor_t *out = carry + carries;
    begin_sums(site, optimizer, carry);
    for (size_t i = 0; i < losses->carry_count; ++i)
        carry[count + i] = losses->carry[i];
    const keel_scan_t scan = {.carry = carry,
                              .carry_count = carries,
                              .inputs = &micros,
                              .input_count = 1,
                              .output_count = 1 + losses->sum_count + losses->stack_count};
    keel_scan_at(site, context, add_micro, loop, &scan, out);
    for (size_t i = 0; i < losses->carry_count; ++i)
        given[i] = out[count + i];
    for (size_t i = 0; i < losses->sum_count + losses->stack_count; ++i) {
        keel_tensor_t all = out[carries + 1 + i];
        given[losses->carry_count + i] =
            i < losses->sum_count ? keel_reduce_at(site, KEEL_OP_SUM, all, KEEL_AXES(0)) : all;
    }
    for (size_t i = 0; i < count; ++i)
        optimizer->gradients[i] = BINARY(DIVIDE, out[i], CONSTANT(out[i], (double)losses->count));
    keel_optimizer_step_at(site, optimizer, optimizer->gradients);
    return keel_mean_at(site, out[carries], KEEL_AXES(0));
}

static keel_tensor_t minimize_losses(keel_caller_t site, keel_optimizer_t *optimizer,
                                     const keel_losses_t *losses, keel_tensor_t *out) {
    loop_t loop = {site, optimizer, losses};
    keel_context_t *context = optimizer->tree->context;
    const size_t given = losses->carry_count + losses->sum_count + losses->stack_count;
    void *memory;
    if (losses->count < 1 || losses->count > INT32_MAX || !losses->loss)
        return keel_tensor_fail(context, site, refuse("no losses to minimize"));
    if ((given && !out) || given > UINT16_MAX || (losses->carry_count && !losses->carry))
        return keel_tensor_fail(context, site, refuse("no place for what the losses give"));
    keel_status_t status =
        keel_calloc(2 * (optimizer->count + given + 1), sizeof(keel_tensor_t), &memory);
    if (status) return keel_tensor_fail(context, site, status);
    keel_tensor_t mean = run_loop(&loop, memory, out);
    keel_free(memory);
    return mean;
}

keel_tensor_t keel_minimize_losses_at(keel_caller_t site, keel_optimizer_t *optimizer,
                                      const keel_losses_t *losses, keel_tensor_t *out) {
    site = keel_tensor_part_of(site, "minimize_losses");
    if (!optimizer || !losses) return (keel_tensor_t){0};
    return minimize_losses(site, optimizer, losses, out);
}

typedef struct plain_t {
    keel_loss_t loss;
    void *data;
} plain_t;

static keel_tensor_t plain_loss(void *data, keel_tensor_t micro, const keel_tensor_t *in,
                                keel_tensor_t *out) {
    const plain_t *plain = data;
    (void)in;
    (void)out;
    return plain->loss(plain->data, micro);
}

keel_tensor_t keel_minimize_over_at(keel_caller_t site, keel_optimizer_t *optimizer, int64_t count,
                                    keel_loss_t loss, void *data) {
    site = keel_tensor_part_of(site, "minimize_over");
    plain_t plain = {loss, data};
    const keel_losses_t losses = {.count = count, .loss = loss ? plain_loss : NULL, .data = &plain};
    if (!optimizer) return (keel_tensor_t){0};
    return minimize_losses(site, optimizer, &losses, NULL);
}

keel_tensor_t keel_micro_batch_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t micro) {
    site = keel_tensor_part_of(site, "micro_batch");
    keel_shape_t shape = keel_shape(x);
    keel_tensor_t slice = keel_dynamic_slice_at(site, x, 0, micro, 1);
    if (keel_is_empty(slice)) return slice;
    for (int32_t i = 1; i < shape.rank; ++i)
        shape.dims[i - 1] = shape.dims[i];
    --shape.rank;
    return keel_reshape_at(site, slice, shape);
}
