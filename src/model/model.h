// model: what a model needs around the operations: include/keel/model.h.
//
//   tree.c         named variables
//   init.c         their first values, made on the device
//   rate.c         schedules
//   batch.c        host arrays as inputs of declared shapes
//   optimizer.c    what an optimizer holds, and its step; rules.c: SGD, AdamW, Lion
//   route.c        rows that a mask chooses, and tokens to experts, within bounds
//   attention.c    attention, dense or over blocks of keys
//   safetensors.c  the format of checkpoints; save.c writes them, load.c reads them
//
// Everything here but checkpoints is written with the operations of include/keel/tensor.h, so a
// gradient, a cache or a contract needs to know nothing of it.
//
// Ownership: a tree owns its variables; an optimizer only names those of its tree. Threads: those
// of the context.
#ifndef KEEL_MODEL_MODEL_H_
#define KEEL_MODEL_MODEL_H_

#include "base/base.h"
#include "keel/model.h"
#include "program/program.h"
#include "tensor/tensor.h"

// ---- tree.c ------------------------------------------------------------------------------------

enum { MAX_NAME = 255 };

typedef struct leaf_t {
    char *name;
    keel_tensor_t tensor;
    keel_init_t init;
    bool is_state;
} leaf_t;

struct keel_tree_t {
    keel_context_t *context;
    KEEL_TABLE(leaf_t) leaves;
    keel_map_t places; // name -> index; NO_LEAF: it was dropped
    // The names that new ones are below, with their dots, and where each of them begins.
    char scope[MAX_NAME + 1];
    KEEL_TABLE(uint32_t) scopes;
    uint32_t step; // in which they were entered
};

// The leaf of a whole name; NULL if there is none.
const leaf_t *tree_find(const keel_tree_t *tree, keel_str_t name);
// Drops the newest leaves, so that so many are left.
void tree_drop(keel_tree_t *tree, size_t left);

// ---- init.c ------------------------------------------------------------------------------------

// The first value of a leaf that has an initializer.
keel_tensor_t init_value(keel_caller_t site, const leaf_t *leaf, uint32_t seed);

// ---- rules.c -----------------------------------------------------------------------------------

// A parameter and its state; empty tensors are state that its rule does not need.
typedef struct slot_t {
    size_t leaf; // its number in the tree
    keel_tensor_t x, first, second, sum;
    keel_tensor_t gradient; // of the open step
    double rate, decay;     // times those of the options
} slot_t;

// What all parameters of one dtype share in a step: scalars of it.
typedef struct rates_t {
    keel_tensor_t rate, beta1, beta2, rest1, rest2, epsilon, bias1, bias2, clip;
    keel_tensor_t is_due; // empty: always
} rates_t;

// The state of small floats is f32: bf16 would never forget a second moment (0.999 is 1 there), and
// f16 has no 1e-8.
static inline keel_dtype_t rules_dtype(keel_dtype_t dtype) {
    return dtype < KEEL_F32 ? KEEL_F32 : dtype;
}
// Which of its two moments an optimizer keeps.
bool rules_need_first(const keel_optimizer_options_t *options);
bool rules_need_second(const keel_optimizer_options_t *options);
// Those of a dtype, f32 or f64, in step t, a scalar.
rates_t rules_rates(keel_caller_t site, const keel_optimizer_options_t *options, keel_tensor_t t);
// Assigns `next`, cast to the variable's dtype, if the step is due.
void rules_assign(keel_caller_t site, keel_tensor_t is_due, keel_tensor_t variable,
                  keel_tensor_t next);
// One step of one parameter, whose gradient has the dtype of `rates`.
void rules_step(keel_caller_t site, const keel_optimizer_options_t *options, const rates_t *rates,
                const slot_t *slot);

#endif // KEEL_MODEL_MODEL_H_
