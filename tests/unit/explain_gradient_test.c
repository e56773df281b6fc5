// Gradients that are created in one program and added to in the other: small pairs at the limits of
// the rule.
#define _GNU_SOURCE
#include "explain_small.h"

static void gradients_are_created_or_accumulated(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"hlo\n"
         "w: f32[4] @5 x: f32[4] @6\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "return g",
         "hlo\n"
         "w: f32[4] @5 x: f32[4] @6 a: f32[4] @18\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "s = add f32[4] a g\n"
         "return s",
         "gradient argument 2: create -> accumulate @18<5 +1", NULL},
        {"hlo\n"
         "w: f32[4] @5 x: f32[4] @6\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "h = multiply f32[4] w w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "return g h",
         "hlo\n"
         "w: f32[4] @5 x: f32[4] @6 a: f32[4] @18 b: f32[4] @18\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "s = add f32[4] a g\n"
         "h = multiply f32[4] w w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "t = add f32[4] b h\n"
         "return s t",
         "gradient argument 2: create -> accumulate @18<5 +2 (and 1 more argument)", NULL},
        // Used elsewhere too, by another operation, of another type, on a line of the user's.
        {"hlo\n"
         "w: f32[4] @5 x: f32[4] @6\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "return g",
         "hlo\n"
         "w: f32[4] @5 x: f32[4] @6 a: f32[4] @18\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "s = add f32[4] a g\n"
         "t = tanh f32[4] a @9\n"
         "return s t",
         "arguments argument 2: absent -> f32[4] @18<5 +1", NULL},
        {"hlo\n"
         "w: f32[4] @5 x: f32[4] @6\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "return g",
         "hlo\n"
         "w: f32[4] @5 x: f32[4] @6 a: f32[4] @18\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "s = multiply f32[4] a g\n"
         "return s",
         "arguments argument 2: absent -> f32[4] @18<5 +1", NULL},
        {"hlo\n"
         "w: f32[4] @5 x: f32[4] @6\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "return g",
         "hlo\n"
         "w: f32[4] @5 x: f32[4] @6 a: f32[4] @18\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "s = add f32[4] a g @19\n"
         "return s",
         "arguments argument 2: absent -> f32[4] @18<5 +1", NULL},
        // Added to zeros.
        {"hlo\n"
         "w: f32[4] @5 x: f32[4] @6\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "return g",
         "hlo\n"
         "w: f32[4] @5 x: f32[4] @6\n"
         "c = constant f32[] 0\n"
         "z = broadcast f32[4] c\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "s = add f32[4] z g\n"
         "return s",
         "gradient add: create -> accumulate @18<5 +1", NULL},
        {"hlo\n"
         "w: f32[4] @5 x: f32[4] @6\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "return g",
         "hlo\n"
         "w: f32[4] @5 x: f32[4] @6\n"
         "c = constant f32[] 1\n"
         "z = broadcast f32[4] c\n"
         "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
         "s = add f32[4] z g\n"
         "return s",
         "structure add: nothing -> add @18<5", NULL},
        // With names, as JAX has them: they tell gradients from residuals.
        {"w: f32[4] x: f32[4]\n"
         "-> f32[4] {jax.result_info='result'}\n"
         "g = multiply f32[4] x w @8\n"
         "return g",
         "w: f32[4] x: f32[4] grads: f32[4]\n"
         "-> f32[4] {jax.result_info='result'}\n"
         "g = multiply f32[4] x w @8\n"
         "s = add f32[4] grads g @9\n"
         "return s",
         "gradient grads: create -> accumulate @9<99 +1", NULL},
        {"w: f32[4] x: f32[4]\n"
         "-> f32[4] {jax.result_info='result'}\n"
         "g = multiply f32[4] x w @8\n"
         "return g",
         "w: f32[4] x: f32[4] acc: f32[4]\n"
         "-> f32[4] {jax.result_info='result'}\n"
         "g = multiply f32[4] x w @8\n"
         "s = add f32[4] acc g @9\n"
         "return s",
         "gradient acc: create -> accumulate @9<99 +1", NULL},
        {"w: f32[4] x: f32[4]\n"
         "-> f32[4] {jax.result_info='result'}\n"
         "g = multiply f32[4] x w @8\n"
         "return g",
         "w: f32[4] x: f32[4] account: f32[4]\n"
         "-> f32[4] {jax.result_info='result'}\n"
         "g = multiply f32[4] x w @8\n"
         "s = add f32[4] account g @9\n"
         "return s",
         "arguments account: absent -> f32[4] @99 +1 (it is None or left out in one of the two "
         "calls)",
         NULL},
        {"w: f32[4] x: f32[4]\n"
         "-> f32[4] {jax.result_info='result'}\n"
         "g = multiply f32[4] x w @8\n"
         "return g",
         "w: f32[4] x: f32[4] acc.w: f32[4]\n"
         "-> f32[4] {jax.result_info='result'}\n"
         "g = multiply f32[4] x w @8\n"
         "s = add f32[4] acc.w g @9\n"
         "return s",
         "gradient acc.w: create -> accumulate @9<99 +1", NULL},
        {"w: f32[4] x: f32[4]\n"
         "-> f32[4] {jax.result_info='result'}\n"
         "g = multiply f32[4] x w @8\n"
         "return g",
         "w: f32[4] x: f32[4] res: f32[4]\n"
         "-> f32[4] {jax.result_info='result'}\n"
         "g = multiply f32[4] x w @8\n"
         "s = add f32[4] res g @9\n"
         "return s",
         "arguments res: absent -> f32[4] @99 +1 (it is None or left out in one of the two calls)",
         NULL},
        // Two that are returned under their own names.
        {"w: f32[4] x: f32[4]\n"
         "-> f32[4] {jax.result_info='r.a'} f32[4] {jax.result_info='r.b'}\n"
         "g = multiply f32[4] x w @8\n"
         "h = multiply f32[4] w w @8\n"
         "return g h",
         "w: f32[4] x: f32[4] p.a: f32[4] p.b: f32[4]\n"
         "-> f32[4] {jax.result_info='r.a'} f32[4] {jax.result_info='r.b'}\n"
         "g = multiply f32[4] x w @8\n"
         "s = add f32[4] p.a g @9\n"
         "h = multiply f32[4] w w @8\n"
         "t = add f32[4] p.b h @9\n"
         "return s t",
         "gradient p.a: create -> accumulate @9<99 +2 (and 1 more argument)", NULL},
        {"w: f32[4] x: f32[4]\n"
         "-> f32[4] {jax.result_info='r.a'} f32[4] {jax.result_info='r.c'}\n"
         "g = multiply f32[4] x w @8\n"
         "h = multiply f32[4] w w @8\n"
         "return g h",
         "w: f32[4] x: f32[4] p.a: f32[4] p.b: f32[4]\n"
         "-> f32[4] {jax.result_info='r.a'} f32[4] {jax.result_info='r.c'}\n"
         "g = multiply f32[4] x w @8\n"
         "s = add f32[4] p.a g @9\n"
         "h = multiply f32[4] w w @8\n"
         "t = add f32[4] p.b h @9\n"
         "return s t",
         "arguments p.a: absent -> f32[4] @99 +2 (it is None or left out in one of the two calls; "
         "and 1 more argument)",
         NULL},
        {"w: f32[4] x: f32[4]\n"
         "-> f32[4] {jax.result_info='r.a'}\n"
         "g = multiply f32[4] x w @8\n"
         "return g",
         "w: f32[4] x: f32[4] p.a: f32[4]\n"
         "-> f32[4] {jax.result_info='r.a'}\n"
         "g = multiply f32[4] x w @8\n"
         "s = add f32[4] p.a g @9\n"
         "return s",
         "arguments p.a: absent -> f32[4] @99 +1 (it is None or left out in one of the two calls)",
         NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_created_or_accumulated),
    };
    return cmocka_run_group_tests_name("explain_gradient", tests, NULL, NULL);
}
