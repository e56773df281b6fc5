// Models: what surrounds the operations of keel/tensor.h. Named parameters, optimizers, batches of
// one shape, checkpoints.
//
// Ownership, one rule: what a function of this header creates is freed by its _free function,
// before the context, and takes the tensors that it made or got with it.
//
// Errors: what returns a status reports there; what returns tensors, or traces, gives its error to
// the context, as operations do.
//
// Threads: those of the context.
#ifndef KEEL_MODEL_H_
#define KEEL_MODEL_H_

#include "keel/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- trees -------------------------------------------------------------------------------------

// Named variables: the parameters of a model and everything else that it keeps from step to step.
// Names have parts, as in "L04.A.wqkv". Optimizers keep their state in the same tree, so it is all
// that a checkpoint needs.

typedef enum keel_init_kind {
    KEEL_INIT_NONE,
    KEEL_INIT_FILL,
    KEEL_INIT_UNIFORM,
    KEEL_INIT_NORMAL,
    KEEL_INIT_MADE,
} keel_init_kind_t;

// How the first value of a parameter is made, on the device.
typedef struct keel_init_t {
    keel_init_kind_t kind;
    double size;
    // `random`: f32 in [0, 1), in the shape of the parameter. The result is cast to its dtype.
    keel_tensor_t (*make)(keel_tensor_t random, const void *data);
    const void *data;
} keel_init_t;
#define KEEL_UNSET                                                                                 \
    (KEEL_MAKE_(keel_init_t){KEEL_INIT_NONE, 0, NULL, NULL}) // a checkpoint or you assign it
// KEEL_FILL(value), KEEL_UNIFORM(limit) in [-limit, limit), KEEL_NORMAL(deviation) around 0 with
// this standard deviation, KEEL_MADE(make, data).
#define KEEL_FILL(...) (KEEL_MAKE_(keel_init_t){KEEL_INIT_FILL, __VA_ARGS__, NULL, NULL})
#define KEEL_UNIFORM(...) (KEEL_MAKE_(keel_init_t){KEEL_INIT_UNIFORM, __VA_ARGS__, NULL, NULL})
#define KEEL_NORMAL(...) (KEEL_MAKE_(keel_init_t){KEEL_INIT_NORMAL, __VA_ARGS__, NULL, NULL})
#define KEEL_MADE(make, ...) (KEEL_MAKE_(keel_init_t){KEEL_INIT_MADE, 0, make, __VA_ARGS__})

typedef struct keel_leaf_t {
    const char *name; // the whole one; the tree's
    keel_tensor_t tensor;
    int is_state; // not trained: a counter, a moment, a table
} keel_leaf_t;

typedef struct keel_tree_t keel_tree_t;

KEEL_API keel_status_t keel_tree_create(keel_context_t *context, keel_tree_t **out) KEEL_MUST_CHECK;
// Releases its variables. NULL is allowed.
KEEL_API void keel_tree_free(keel_tree_t *tree);

// Names that follow, added or looked up, are below this one, until keel_tree_leave. Nests. The end
// of the step leaves all of them.
#define keel_tree_enter(...) keel_tree_enter_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_tree_enter_at(keel_caller_t site, keel_tree_t *tree, const char *format, ...)
    KEEL_PRINTF(3, 4);
#define keel_tree_leave(...) keel_tree_leave_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_tree_leave_at(keel_caller_t site, keel_tree_t *tree);

// A parameter, which optimizers train: a variable without a value until keel_tree_initialize, an
// assignment or keel_checkpoint_load gives it one. A name is printable ASCII without '*', at most
// 255 bytes with the names that it is below, and new.
#define keel_tree_add(...) keel_tree_add_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_tree_add_at(keel_caller_t site, keel_tree_t *tree, const char *name,
                                        keel_dtype_t dtype, keel_shape_t shape, keel_init_t init);
// The same for what is not trained.
#define keel_tree_state(...) keel_tree_state_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_tree_state_at(keel_caller_t site, keel_tree_t *tree, const char *name,
                                          keel_dtype_t dtype, keel_shape_t shape, keel_init_t init);
// Gives a variable that is there already to the tree, as a parameter or as state. It stays what it
// is if it is not a variable, if the name is not new, or if a parameter would not be of floats.
#define keel_tree_put(...) keel_tree_put_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_tree_put_at(keel_caller_t site, keel_tree_t *tree, const char *name,
                               keel_tensor_t variable, int is_state);

#define keel_tree_get(...) keel_tree_get_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_tree_get_at(keel_caller_t site, keel_tree_t *tree, const char *name);

// Leaves are numbered in the order in which they were added.
KEEL_API size_t keel_tree_count(const keel_tree_t *tree);
KEEL_API keel_leaf_t keel_tree_leaf(const keel_tree_t *tree, size_t index); // {0} beyond the last

// Which leaves: a function and what it needs. NULL is all of them.
typedef int (*keel_filter_t)(const keel_leaf_t *leaf, const void *data);
// `pattern`: a name in which each '*' is any text: "L04.*", "*.tab".
KEEL_API int keel_is_named(const keel_leaf_t *leaf, const void *pattern);
KEEL_API int keel_is_parameter(const keel_leaf_t *leaf, const void *unused);
KEEL_API int keel_is_matrix(const keel_leaf_t *leaf, const void *unused); // of 2 dimensions or more

// How many there are; the first `room` of them go to `out`.
KEEL_API size_t keel_tree_select(const keel_tree_t *tree, keel_filter_t filter, const void *data,
                                 keel_tensor_t *out, size_t room);
KEEL_API uint64_t keel_tree_elements(const keel_tree_t *tree, keel_filter_t filter,
                                     const void *data);

// Splits the leaves that `filter` chooses (NULL: all), as keel_place does: before their first
// value, and before an optimizer makes its state, which is split as they are. Returns how many
// there are.
#define keel_tree_place(...) keel_tree_place_at(KEEL_HERE, __VA_ARGS__)
KEEL_API size_t keel_tree_place_at(keel_caller_t site, keel_tree_t *tree, keel_filter_t filter,
                                   const void *data, keel_spec_t spec);

// Assigns the first value of each leaf that has an initializer, in the open step: one program,
// whatever the seed, the limits, the deviations and, 0 apart, what is filled in. What is random
// depends on the seed, the leaf's name and the element's place alone, and KEEL_UNIFORM gives the
// same bits on every device:
//   u = fmix32(place * 0x9E3779B1 + fmix32(fnv1a32(name) + seed * 0x9E3779B9)) >> 8, times 2^-24
// in u32; fmix32 is the last step of MurmurHash3. KEEL_UNIFORM is (2u - 1) * limit.
#define keel_tree_initialize(...) keel_tree_initialize_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_tree_initialize_at(keel_caller_t site, keel_tree_t *tree, uint32_t seed);

// Adds to a counter or a sum on the device, cast to its dtype.
#define keel_add_to(...) keel_add_to_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_add_to_at(keel_caller_t site, keel_tensor_t variable, keel_tensor_t value);

// ---- rates -------------------------------------------------------------------------------------

typedef enum keel_curve { KEEL_CURVE_CONSTANT, KEEL_CURVE_LINEAR, KEEL_CURVE_COSINE } keel_curve_t;

// A rate for step t = 1, 2, ..., computed on the device:
//   w = min(1, t / warmup), p = (t - warmup) / (end - warmup), clamped to [0, 1]
//   KEEL_CURVE_CONSTANT  peak * w
//   KEEL_CURVE_LINEAR    peak * w * (1 - (1 - last) * p)
//   KEEL_CURVE_COSINE    peak * w * (last + (1 - last) * (1 + cos(pi * p)) / 2)
// All but the curve are host numbers: others make no new program.
typedef struct keel_schedule_t {
    keel_curve_t curve;
    double peak, warmup, end, last;
} keel_schedule_t;
// KEEL_CONSTANT_RATE(peak), KEEL_LINEAR_RATE(peak, warmup, end, last), KEEL_COSINE_RATE(peak,
// warmup, end, last).
#define KEEL_CONSTANT_RATE(...)                                                                    \
    (KEEL_MAKE_(keel_schedule_t){KEEL_CURVE_CONSTANT, __VA_ARGS__, 0, 0, 1})
#define KEEL_LINEAR_RATE(peak, warmup, end, ...)                                                   \
    (KEEL_MAKE_(keel_schedule_t){KEEL_CURVE_LINEAR, peak, warmup, end, __VA_ARGS__})
#define KEEL_COSINE_RATE(peak, warmup, end, ...)                                                   \
    (KEEL_MAKE_(keel_schedule_t){KEEL_CURVE_COSINE, peak, warmup, end, __VA_ARGS__})

// `t`: a scalar. f32, or f64 if `t` is f64.
#define keel_rate(...) keel_rate_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_rate_at(keel_caller_t site, keel_schedule_t schedule, keel_tensor_t t);

// ---- optimizers --------------------------------------------------------------------------------

// With g the gradient, t the number of this step from 1, all in f32 (f64 of f64), and x cast back:
//   x -= rate(t) * (u + decay * x)
//   KEEL_RULE_SGD    u = g; with beta1: m = beta1 * m + g, u = m
//   KEEL_RULE_ADAMW  m = beta1 * m + (1 - beta1) * g, v = beta2 * v + (1 - beta2) * g * g,
//                    u = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
//   KEEL_RULE_LION   u = sign(beta1 * m + (1 - beta1) * g), m = beta2 * m + (1 - beta2) * g
typedef enum keel_rule { KEEL_RULE_SGD, KEEL_RULE_ADAMW, KEEL_RULE_LION } keel_rule_t;

typedef struct keel_optimizer_options_t {
    keel_rule_t rule;
    keel_schedule_t rate;
    double beta1, beta2, epsilon, decay;
    // Not 0: gradients are multiplied by min(1, clip / (their norm over all parameters + 1e-6)).
    double clip;
    // Above 1: a step of the optimizer is the mean gradient of that many steps of the context. All
    // of these run one program, which keeps sums on the device and sets them to 0 in place.
    int every;
    const char *name; // in front of its state's names; default "optimizer"
    // Which parameters it trains, and clips by the norm of; NULL: all. It is asked once.
    keel_filter_t only;
    const void *only_data;
} keel_optimizer_options_t;
// KEEL_SGD(rate), KEEL_ADAMW(rate), KEEL_LION(rate), of a constant rate.
#define KEEL_SGD(...)                                                                              \
    (KEEL_MAKE_(keel_optimizer_options_t){KEEL_RULE_SGD, KEEL_CONSTANT_RATE(__VA_ARGS__), 0, 0, 0, \
                                          0, 0, 1, NULL, NULL, NULL})
#define KEEL_ADAMW(...)                                                                            \
    (KEEL_MAKE_(keel_optimizer_options_t){KEEL_RULE_ADAMW, KEEL_CONSTANT_RATE(__VA_ARGS__), 0.9,   \
                                          0.999, 1e-8, 0, 0, 1, NULL, NULL, NULL})
#define KEEL_LION(...)                                                                             \
    (KEEL_MAKE_(keel_optimizer_options_t){KEEL_RULE_LION, KEEL_CONSTANT_RATE(__VA_ARGS__), 0.9,    \
                                          0.99, 0, 0, 0, 1, NULL, NULL, NULL})

typedef struct keel_optimizer_t keel_optimizer_t;

// Trains the parameters that the tree has now, or those of them that it is for: several optimizers
// with names of their own share a tree. Its state goes into the tree: the number of steps as
// an i32, "optimizer.step", and for each parameter x "optimizer.m.x", "optimizer.v.x" and
// "optimizer.sum.x", as far as its rule needs them. Initialize it with the tree, or load it. If
// this fails, the tree is as it was.
#define keel_optimizer_create(...) keel_optimizer_create_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_status_t keel_optimizer_create_at(keel_caller_t site, keel_tree_t *tree,
                                                const keel_optimizer_options_t *options,
                                                keel_optimizer_t **out) KEEL_MUST_CHECK;
// Before its tree, which keeps the state. NULL is allowed.
KEEL_API void keel_optimizer_free(keel_optimizer_t *optimizer);

// Its own copy of the options, to change numbers between steps; those, 0 apart, make no new
// program.
KEEL_API keel_optimizer_options_t *keel_optimizer_options(keel_optimizer_t *optimizer);
// Multiplies rate and decay of these parameters. Returns how many there are.
KEEL_API size_t keel_optimizer_scale(keel_optimizer_t *optimizer, keel_filter_t filter,
                                     const void *data, double rate, double decay);

KEEL_API size_t keel_optimizer_count(const keel_optimizer_t *optimizer);
KEEL_API const keel_tensor_t *keel_optimizer_parameters(const keel_optimizer_t *optimizer);

// Assigns the next value to each parameter and to the state. `gradients`: of each parameter.
#define keel_optimizer_step(...) keel_optimizer_step_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_optimizer_step_at(keel_caller_t site, keel_optimizer_t *optimizer,
                                     const keel_tensor_t *gradients);
// keel_gradients and keel_optimizer_step.
#define keel_minimize(...) keel_minimize_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_minimize_at(keel_caller_t site, keel_optimizer_t *optimizer, keel_tensor_t loss);
// The same for the mean of `count` losses, one after the other: a loop in one program, which has as
// many operations for 32 of them as for 2. `loss` is a body (keel_body_t) that is called once, and
// traces the loss of micro-batch `micro`, a scalar i32. Gradients are summed in f32. Returns the
// mean loss.
typedef keel_tensor_t (*keel_loss_t)(void *data, keel_tensor_t micro);
#define keel_minimize_over(...) keel_minimize_over_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_minimize_over_at(keel_caller_t site, keel_optimizer_t *optimizer,
                                             int64_t count, keel_loss_t loss, void *data);

// Losses that give more than themselves. `loss` is a body that is called once, and traces
// micro-batch `micro`. `in`: what the last one carried on; `out`: what this one carries on, then
// what is summed over all, such as counts of dropped tokens, then what is stacked along a new axis
// 0. None of these has a gradient outside its loss. Nothing is assigned in a body: assign what
// comes out.
typedef struct keel_losses_t {
    int64_t count; // of micro-batches
    keel_tensor_t (*loss)(void *data, keel_tensor_t micro, const keel_tensor_t *in,
                          keel_tensor_t *out);
    void *data;
    const keel_tensor_t *carry; // before the first micro-batch
    size_t carry_count, sum_count, stack_count;
} keel_losses_t;

// keel_minimize_over for these. `out`: the last carry, the sums, the stacks. Returns the mean loss.
#define keel_minimize_losses(...) keel_minimize_losses_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_minimize_losses_at(keel_caller_t site, keel_optimizer_t *optimizer,
                                               const keel_losses_t *losses, keel_tensor_t *out);
// Micro-batch `micro` of [A, B, ...]: [B, ...].
#define keel_micro_batch(...) keel_micro_batch_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_micro_batch_at(keel_caller_t site, keel_tensor_t x,
                                           keel_tensor_t micro);

// Of the step that was traced last: its rate, and the norm of its gradients before they were
// clipped. Scalars of the open step.
KEEL_API keel_tensor_t keel_optimizer_rate(const keel_optimizer_t *optimizer);
KEEL_API keel_tensor_t keel_optimizer_norm(const keel_optimizer_t *optimizer);

// ---- batches -----------------------------------------------------------------------------------

// What a loader gives differs: a field is missing, the last batch is short. Declared fields make
// inputs of one shape of it, so that all batches run one program.

typedef struct keel_field_t {
    const char *name; // copied
    keel_dtype_t dtype;
    keel_shape_t shape;
    double fill;     // the elements that are not given
    int is_required; // at least one element must be given
    // Above 0: a mask of the first so many axes, bool: true where elements are given.
    int mask_rank;
    // On a mesh, how it is split, its mask too; default: whole on each device. Copied.
    keel_spec_t spec;
} keel_field_t;

// An array of the host: its elements in row-major order.
typedef struct keel_host_array_t {
    const char *name;
    keel_dtype_t dtype;
    keel_shape_t shape;
    const void *data;
} keel_host_array_t;

typedef struct keel_batch_t keel_batch_t;

#define keel_batch_create(...) keel_batch_create_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_status_t keel_batch_create_at(keel_caller_t site, keel_context_t *context,
                                            const keel_field_t *fields, size_t count,
                                            keel_batch_t **out) KEEL_MUST_CHECK;
KEEL_API void keel_batch_free(keel_batch_t *batch); // NULL is allowed

// Makes the inputs of the open step. An array may be shorter than its field along any axis; one
// that is absent, or has no elements, becomes the field's fill. Arrays are copied. A wrong dtype or
// rank, an axis that is too long, an unknown name and a missing required field are errors of the
// context, all in one message, with both shapes; then the step has no inputs.
#define keel_batch_next(...) keel_batch_next_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_batch_next_at(keel_caller_t site, keel_batch_t *batch,
                                 const keel_host_array_t *arrays, size_t count);

// Of the batch of the open step.
#define keel_batch_get(...) keel_batch_get_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_batch_get_at(keel_caller_t site, keel_batch_t *batch, const char *name);
#define keel_batch_mask(...) keel_batch_mask_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_batch_mask_at(keel_caller_t site, keel_batch_t *batch,
                                          const char *name);

// ---- attention ---------------------------------------------------------------------------------

typedef enum keel_attention_form {
    KEEL_ATTENTION_DENSE,   // all scores at once
    KEEL_ATTENTION_BLOCKED, // over blocks of keys, with the softmax's maximum and sum carried on
} keel_attention_form_t;

// `scale`, `softcap` and `window` are numbers: others make no new program, 0 apart. The rest is a
// part of it.
typedef struct keel_attention_options_t {
    keel_attention_form_t form;
    double scale;   // of q.k; 0: 1 / sqrt(h)
    double softcap; // not 0: scores become softcap * tanh(scores / softcap)
    int is_causal;  // query t sees keys s <= t
    int64_t window; // above 0, if causal: and only s > t - window
    int64_t block;  // of KEEL_ATTENTION_BLOCKED: keys; divides their number
} keel_attention_options_t;

// What was traced, for the log of a run.
typedef struct keel_attention_receipt_t {
    keel_attention_form_t form;
    char text[248]; // "gpt.c:88: attention: dense, 512 queries x 512 keys, 8 heads on 2, causal"
} keel_attention_receipt_t;

// q [B, T, H, h], k [B, S, G, h], v [B, S, G, e], of one dtype, H a multiple of G: [B, T, H, e].
// Head i of the queries uses head i / (H / G) of the keys. `mask`: bool [B, T, S], true where a
// query sees a key; empty: everywhere. Scores and softmax are f32. A row that sees nothing is the
// mean of the values. The form is the one that was asked for; what does not fit it is an error.
// `receipt` may be NULL; its text is empty after an error.
#define keel_attention(...) keel_attention_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_attention_at(keel_caller_t site, keel_tensor_t q, keel_tensor_t k,
                                         keel_tensor_t v, keel_tensor_t mask,
                                         keel_attention_options_t options,
                                         keel_attention_receipt_t *receipt);

// ---- rows and experts --------------------------------------------------------------------------

// A program has fixed shapes. What depends on values, here how many rows are chosen, gets a bound
// from the configuration, a mask, and a count of what went beyond, all on the device.

typedef struct keel_rows_t {
    keel_tensor_t is_row;   // bool [bound]: the rows that are there
    keel_tensor_t count;    // i32: how many there are in x
    keel_tensor_t left_out; // i32: those beyond the bound
} keel_rows_t;

// The first `bound` rows of x [N, ...] whose mask, bool [N], is true, in order, then zeros: [bound,
// ...]. A bound beyond N is N. `out` may be NULL.
#define keel_rows_where(...) keel_rows_where_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_rows_where_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t mask,
                                          int64_t bound, keel_rows_t *out);

typedef struct keel_routing_options_t {
    int64_t top;      // experts of a token
    int64_t capacity; // slots of an expert; beyond the tokens, as many as these
    double scale;     // of the gates, a number; 0: 1
} keel_routing_options_t;

// factor * tokens * top / experts, rounded up to 8, at most `tokens`: those of the configuration. A
// count of the real tokens of a batch shapes a program for each capacity that comes of it. 0
// if a number is not above 0.
KEEL_API int64_t keel_capacity(int64_t tokens, int64_t experts, int64_t top, double factor);

// Tensors of the open step. k is `top`, C the capacity.
typedef struct keel_routing_t {
    int64_t tokens, experts, top, capacity;
    keel_tensor_t is_chosen; // bool [N, E]
    keel_tensor_t gate;     // f32 [N, E]: scale * score / sum of the chosen scores; 0 if not chosen
    keel_tensor_t load;     // i32 [E]: tokens that chose each, also beyond its capacity
    keel_tensor_t dropped;  // i32: choices beyond the capacities; keel_add_to a counter
    keel_tensor_t token;    // i32 [E, C]: in each slot
    keel_tensor_t is_full;  // bool [E, C]
    keel_tensor_t slot;     // i32 [N, k]: of each choice, among E * C
    keel_tensor_t has_slot; // bool [N, k]
    keel_tensor_t weight;   // f32 [N, k]: its gate, or 0
} keel_routing_t;

// Each token chooses the `top` experts with the largest `choice` [N, E] (empty: `scores`), of
// equals the first; NaN counts as infinity. `scores` [N, E] weigh them, so a bias in `choice`
// chooses and does not weigh. Tokens that are not `valid` (bool [N]; empty: all are) choose none.
// Experts fill their slots in the order of the tokens, and drop the rest. Gradients pass through
// the gates only.
#define keel_route(...) keel_route_at(KEEL_HERE, __VA_ARGS__)
KEEL_API void keel_route_at(keel_caller_t site, keel_tensor_t scores, keel_tensor_t choice,
                            keel_tensor_t valid, keel_routing_options_t options,
                            keel_routing_t *out);
// Tokens [N, d] in their slots: [E, C, d]; zeros in empty ones.
#define keel_dispatch(...) keel_dispatch_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_dispatch_at(keel_caller_t site, const keel_routing_t *routing,
                                        keel_tensor_t x);
// What experts gave, [E, C, d], weighed and summed for each token: f32 [N, d].
#define keel_combine(...) keel_combine_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_tensor_t keel_combine_at(keel_caller_t site, const keel_routing_t *routing,
                                       keel_tensor_t y);

// ---- checkpoints -------------------------------------------------------------------------------

// Files in the format safetensors: one with all leaves, or several of about `part_bytes` each
// (0: one) and an index that names them. The path of an index ends in ".safetensors.index.json",
// and its files are beside it. A checkpoint is replaced as a whole: whoever reads it, also after a
// crash, finds the old one or the new one.

// Values are whole: the mesh of a tree that reads need not be that of the tree that was written.

typedef struct keel_checkpoint_t keel_checkpoint_t;

// Copies all leaves on the device and returns; a thread writes the copies. Steps that follow change
// nothing of what is written. Not while a step is open. The copying is a program and a step of its
// own: save once before keel_freeze. One save at a time for each path.
#define keel_checkpoint_begin(...) keel_checkpoint_begin_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_status_t keel_checkpoint_begin_at(keel_caller_t site, const keel_tree_t *tree,
                                                const char *path, uint64_t part_bytes,
                                                keel_checkpoint_t **out) KEEL_MUST_CHECK;
// Whether keel_checkpoint_end would not wait.
KEEL_API int keel_checkpoint_is_done(const keel_checkpoint_t *save);
// Waits, says how it went, and frees it and the copies; before the context is freed. NULL is
// allowed.
KEEL_API keel_status_t keel_checkpoint_end(keel_checkpoint_t *save) KEEL_MUST_CHECK;
// Both.
#define keel_checkpoint_save(...) keel_checkpoint_save_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_status_t keel_checkpoint_save_at(keel_caller_t site, const keel_tree_t *tree,
                                               const char *path,
                                               uint64_t part_bytes) KEEL_MUST_CHECK;

// Reads a file or an index into the leaves that `filter` chooses (NULL: all), whose values are
// replaced. Not while a step is open. Names that are missing, names that no leaf has (if all leaves
// are read), other dtypes and other shapes are all reported at once, and then nothing is read. If a
// device or a disk fails in mid-read, some leaves have their new value: the message says so.
#define keel_checkpoint_load(...) keel_checkpoint_load_at(KEEL_HERE, __VA_ARGS__)
KEEL_API keel_status_t keel_checkpoint_load_at(keel_caller_t site, keel_tree_t *tree,
                                               const char *path, keel_filter_t filter,
                                               const void *data) KEEL_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif // KEEL_MODEL_H_
