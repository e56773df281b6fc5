// Loops, recomputation, constraints, functions with a jit of their own, and what follows from
// sizes: small pairs at the limits of each rule.
#define _GNU_SOURCE
#include "explain_small.h"

static void turns_of_loops_are_their_bound(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4]\n"
         "z = constant i32[] 0\n"
         "n = constant i32[] 3\n"
         "a b = while i32[] f32[4] z x @8 { i: i32[] v: f32[4]\n"
         "m = constant i32[] 3\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[4]\n"
         "w = tanh f32[4] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b",
         "x: f32[4]\n"
         "z = constant i32[] 0\n"
         "n = constant i32[] 3\n"
         "a b = while i32[] f32[4] z x @8 { i: i32[] v: f32[4]\n"
         "m = constant i32[] 5\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[4]\n"
         "w = tanh f32[4] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b",
         "constant loop bound: 3 -> 5 @8<99 (a loop runs a different number of times)", NULL},
        // It collects one element from each turn after the first; an array of another size does
        // not.
        {"x: f32[]\n"
         "z = constant i32[] 0\n"
         "q = broadcast_in_dim f32[4] x @7\n"
         "a b = while i32[] f32[4] z q @8 { i: i32[] v: f32[4]\n"
         "m = constant i32[] 3\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[4]\n"
         "w = tanh f32[4] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b",
         "x: f32[]\n"
         "z = constant i32[] 0\n"
         "q = broadcast_in_dim f32[9] x @7\n"
         "a b = while i32[] f32[9] z q @8 { i: i32[] v: f32[9]\n"
         "m = constant i32[] 8\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[9]\n"
         "w = tanh f32[9] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b",
         "size broadcast_in_dim: 4 -> 9 @7<99 +3 (f32[4] -> f32[9])",
         "size broadcast_in_dim: 9 -> 4 @7<99 +3 (f32[9] -> f32[4])"},
        {"x: f32[]\n"
         "z = constant i32[] 0\n"
         "q = broadcast_in_dim f32[4] x @7\n"
         "a b = while i32[] f32[4] z q @8 { i: i32[] v: f32[4]\n"
         "m = constant i32[] 3\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[4]\n"
         "w = tanh f32[4] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b",
         "x: f32[]\n"
         "z = constant i32[] 0\n"
         "q = broadcast_in_dim f32[9] x @7\n"
         "a b = while i32[] f32[9] z q @8 { i: i32[] v: f32[9]\n"
         "m = constant i32[] 9\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[9]\n"
         "w = tanh f32[9] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b",
         "size broadcast_in_dim: 4 -> 9 @7<99 +2 (f32[4] -> f32[9])\n"
         "constant loop bound: 3 -> 9 @8<99 (a loop runs a different number of times)",
         "size broadcast_in_dim: 9 -> 4 @7<99 +2 (f32[9] -> f32[4])\n"
         "constant loop bound: 9 -> 3 @8<99 (a loop runs a different number of times)"},
        // What it carries and never changes is what went in, behind what it does change.
        {"x: f32[4]\n"
         "z = constant i32[] 0\n"
         "a b = while i32[] f32[4] z x @8 { i: i32[] v: f32[4]\n"
         "m = constant i32[] 3\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[4]\n"
         "w = tanh f32[4] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b",
         "x: f32[4] g: f32[4]\n"
         "z = constant i32[] 0\n"
         "a b c = while i32[] f32[4] f32[4] z x g @8 { i: i32[] v: f32[4] h: f32[4]\n"
         "m = constant i32[] 3\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[4] h: f32[4]\n"
         "w = tanh f32[4] v @9\n"
         "k = multiply f32[4] w h @10\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j k h }\n"
         "return b",
         "arguments g: absent -> f32[4] @99 +1 (it is None or left out in one of the two calls)",
         NULL},
        // The bound and an array of as many elements; over the rows of an argument.
        {"x: f32[]\n"
         "z = constant i32[] 0\n"
         "q = iota f32[3] @7\n"
         "a b = while i32[] f32[] z x @8 { i: i32[] v: f32[]\n"
         "m = constant i32[] 3\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[]\n"
         "w = tanh f32[] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b q",
         "x: f32[]\n"
         "z = constant i32[] 0\n"
         "q = iota f32[5] @7\n"
         "a b = while i32[] f32[] z x @8 { i: i32[] v: f32[]\n"
         "m = constant i32[] 5\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[]\n"
         "w = tanh f32[] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b q",
         "constant loop bound: 3 -> 5 @7<99 +1 (a loop runs a different number of times)", NULL},
        {"x: f32[3]\n"
         "z = constant i32[] 0\n"
         "s = constant f32[] 0\n"
         "a b = while i32[] f32[] z s @8 { i: i32[] v: f32[]\n"
         "m = constant i32[] 3\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[]\n"
         "w = tanh f32[] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b x",
         "x: f32[5]\n"
         "z = constant i32[] 0\n"
         "s = constant f32[] 0\n"
         "a b = while i32[] f32[] z s @8 { i: i32[] v: f32[]\n"
         "m = constant i32[] 5\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[]\n"
         "w = tanh f32[] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b x",
         "shape x: f32[3] -> f32[5] @99 +1", NULL},
        {"x: f32[3]\n"
         "z = constant i32[] 0\n"
         "s = constant f32[] 0\n"
         "a b = while i32[] f32[] z s @8 { i: i32[] v: f32[]\n"
         "m = constant i32[] 3\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[]\n"
         "w = tanh f32[] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b x",
         "x: f32[5]\n"
         "z = constant i32[] 0\n"
         "s = constant f32[] 0\n"
         "a b = while i32[] f32[] z s @8 { i: i32[] v: f32[]\n"
         "m = constant i32[] 6\n"
         "p = compare i1[] i m {comparison_direction=LT} @8\n"
         "return p } { i: i32[] v: f32[]\n"
         "w = tanh f32[] v @9\n"
         "o = constant i32[] 1\n"
         "j = add i32[] i o @8\n"
         "return j w }\n"
         "return b x",
         "shape x: f32[3] -> f32[5] @99\n"
         "constant loop bound: 3 -> 6 @8<99 (a loop runs a different number of times)",
         NULL});
}

static void recomputation_is_told_by_its_barrier(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "b = sine f32[4] a @8\n"
                 "return b",
                 "x: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "o = optimization_barrier f32[4] x @jit(step)/checkpoint|7\n"
                 "c = tanh f32[4] o @7\n"
                 "b = sine f32[4] a @8\n"
                 "d = multiply f32[4] b c @9\n"
                 "return d",
                 "structure multiply: nothing -> optimization_barrier, tanh, multiply @7<99 (only "
                 "one of the two uses jax.checkpoint (remat), or their policies differ)",
                 NULL},
                {"x: f32[4] y: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "o p = optimization_barrier f32[4] f32[4] x y @8\n"
                 "b = sine f32[4] o @9\n"
                 "return b p",
                 "x: f32[4] y: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "o = optimization_barrier f32[4] x @8\n"
                 "b = sine f32[4] o @9\n"
                 "c = cosine f32[4] b @9\n"
                 "return c y",
                 "structure cosine: nothing -> cosine @9<99 (only one of the two uses "
                 "jax.checkpoint (remat), or their policies differ)",
                 NULL},
                {"x: f32[4]\n"
                 "o = optimization_barrier f32[4] x @8\n"
                 "b = sine f32[4] o @9\n"
                 "return b",
                 "x: f32[4]\n"
                 "b = sine f32[4] x @9\n"
                 "return b",
                 "structure optimization_barrier: optimization_barrier -> nothing @8<99 (only one "
                 "of the two uses jax.checkpoint (remat), or their policies differ)",
                 NULL});
}

static void drawing_random_numbers_is_told_with_the_key(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4]\n"
         "b = sine f32[4] x @9\n"
         "return b",
         "x: f32[4] key: u32[2]\n"
         "r = rng_bit_generator f32[4] key @7\n"
         "m = multiply f32[4] x r @8\n"
         "b = sine f32[4] m @9\n"
         "return b",
         "structure rng_bit_generator: nothing -> rng_bit_generator, multiply @7<99 +1 (only one "
         "of the two programs draws random numbers: dropout, noise)",
         NULL},
        {"x: f32[4]\n"
         "b = sine f32[4] x @9\n"
         "return b",
         "x: f32[4] k: u32[3]\n"
         "r = rng_bit_generator f32[4] k @7\n"
         "m = multiply f32[4] x r @8\n"
         "b = sine f32[4] m @9\n"
         "return b",
         "arguments k: absent -> u32[3] @99 +1 (it is None or left out in one of the two calls)",
         NULL});
}

static void constraints_of_one_side_are_shardings(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4]\n"
         "b = sine f32[4] x @9\n"
         "return b",
         "x: f32[4]\n"
         "c = sharding_constraint f32[4] x {sharding='a'} @8\n"
         "b = sine f32[4] c @9\n"
         "return b",
         "sharding with_sharding_constraint: unset -> a @8<99 (only one of the two programs has "
         "this constraint)",
         NULL},
        {"x: f32[4]\n"
         "b = sine f32[4] x @9\n"
         "d = cosine f32[4] b @10\n"
         "return d",
         "x: f32[4]\n"
         "c = sharding_constraint f32[4] x {sharding='a'} @8\n"
         "b = sine f32[4] c @9\n"
         "e = sharding_constraint f32[4] b {sharding='b'} @8\n"
         "d = cosine f32[4] e @10\n"
         "return d",
         "sharding with_sharding_constraint: unset -> a @8<99 (only one of the two programs has "
         "this constraint; and 1 more value)",
         NULL},
        {"x: f32[4]\n"
         "b = sine f32[4] x @9\n"
         "return b",
         "x: f32[4]\n"
         "c = custom_call f32[4] x {call_target_name='Sharding' mhlo.sharding='a'} @8\n"
         "b = sine f32[4] c @9\n"
         "return b",
         "sharding with_sharding_constraint: unset -> a @8<99 (only one of the two programs has "
         "this constraint)",
         NULL},
        {"x: f32[4]\n"
         "b = sine f32[4] x @9\n"
         "return b",
         "x: f32[4]\n"
         "c = custom_call f32[4] x {call_target_name='Other' mhlo.sharding='a'} @8\n"
         "b = sine f32[4] c @9\n"
         "return b",
         "structure custom_call: nothing -> custom_call @8<99", NULL},
        {"hlo\n"
         "x: f32[4] @5\n"
         "b = sine f32[4] x @9\n"
         "return b",
         "hlo\n"
         "x: f32[4] @5\n"
         "c = custom-call f32[4] x {custom_call_target='Sharding' sharding={type='OTHER'}} @8\n"
         "b = sine f32[4] c @9\n"
         "return b",
         "sharding f32[4]: unset -> {type = \"OTHER\"} @8<5", NULL},
        {"hlo\n"
         "x: f32[4] @5\n"
         "b = sine f32[4] x @9\n"
         "return b",
         "hlo\n"
         "x: f32[4] @5\n"
         "c = custom-call f32[4] x {custom_call_target='Sharding'} @8\n"
         "b = sine f32[4] c @9\n"
         "return b",
         "sharding f32[4]: unset -> replicated @8<5", NULL});
}

static void a_function_of_its_own_is_part_of_its_caller(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4]\n"
         "y = tanh f32[4] x @3~helper<8\n"
         "z = sine f32[4] y @9\n"
         "return z",
         "x: f32[4]\n"
         "y = call f32[4] x {callee=&helper} @8\n"
         "z = sine f32[4] y @9\n"
         "return z\n"
         "fn helper\n"
         "a: f32[4]\n"
         "b = tanh f32[4] a @3~helper\n"
         "return b",
         "nested_jit helper: part of its caller -> a jit of its own @8<99", NULL},
        {"x: f32[4]\n"
         "y = tanh f32[4] x @3~helper<8\n"
         "z = sine f32[4] y @4~other<9\n"
         "return z",
         "x: f32[4]\n"
         "y = call f32[4] x {callee=&helper} @8\n"
         "z = call f32[4] y {callee=&other} @9\n"
         "return z\n"
         "fn helper\n"
         "a: f32[4]\n"
         "b = tanh f32[4] a @3~helper\n"
         "return b\n"
         "fn other\n"
         "a: f32[4]\n"
         "b = sine f32[4] a @4~other\n"
         "return b",
         "nested_jit helper: part of its caller -> a jit of its own @8<99 (and 1 more function)",
         "nested_jit helper: a jit of its own -> part of its caller @8<3 (and 1 more function)"},
        {"x: f32[4]\n"
         "y = tanh f32[4] x @3~helper<8\n"
         "z = sine f32[4] y @4~other<9\n"
         "w = log f32[4] z @5~third<10\n"
         "return w",
         "x: f32[4]\n"
         "y = call f32[4] x {callee=&helper} @8\n"
         "z = call f32[4] y {callee=&other} @9\n"
         "w = call f32[4] z {callee=&third} @10\n"
         "return w\n"
         "fn helper\n"
         "a: f32[4]\n"
         "b = tanh f32[4] a @3~helper\n"
         "return b\n"
         "fn other\n"
         "a: f32[4]\n"
         "b = sine f32[4] a @4~other\n"
         "return b\n"
         "fn third\n"
         "a: f32[4]\n"
         "b = log f32[4] a @5~third\n"
         "return b",
         "nested_jit helper: part of its caller -> a jit of its own @8<99 (and 2 more functions)",
         "nested_jit helper: a jit of its own -> part of its caller @8<3 (and 2 more functions)"},
        // Named as JAX names it.
        {"x: f32[4]\n"
         "y = tanh f32[4] x @3~Model.helper<8\n"
         "z = sine f32[4] y @9\n"
         "return z",
         "x: f32[4]\n"
         "y = call f32[4] x {callee=&helper_0} @8\n"
         "z = sine f32[4] y @9\n"
         "return z\n"
         "fn helper_0\n"
         "a: f32[4]\n"
         "b = tanh f32[4] a @3~Model.helper\n"
         "return b",
         "nested_jit Model.helper: part of its caller -> a jit of its own @8<99", NULL},
        {"x: f32[4]\n"
         "y = tanh f32[4] x @3~my_helper<8\n"
         "z = sine f32[4] y @9\n"
         "return z",
         "x: f32[4]\n"
         "y = call f32[4] x {callee=&helper} @8\n"
         "z = sine f32[4] y @9\n"
         "return z\n"
         "fn helper\n"
         "a: f32[4]\n"
         "b = tanh f32[4] a @3~my_helper\n"
         "return b",
         "nested_jit my_helper: part of its caller -> a jit of its own @8<99", NULL},
        // It is another one.
        {"x: f32[4]\n"
         "y = cosine f32[4] x @8\n"
         "z = sine f32[4] y @9\n"
         "return z",
         "x: f32[4]\n"
         "y = call f32[4] x {callee=&helper} @8\n"
         "z = sine f32[4] y @9\n"
         "return z\n"
         "fn helper\n"
         "a: f32[4]\n"
         "b = tanh f32[4] a @3~helper\n"
         "return b",
         "structure call: cosine -> call @8<99", "structure cosine: call -> cosine @8<99"},
        {"module jit_helper\n"
         "x: f32[4]\n"
         "y = tanh f32[4] x @3~helper<8\n"
         "return y",
         "module jit_helper\n"
         "x: f32[4]\n"
         "y = call f32[4] x {callee=&helper} @8\n"
         "return y\n"
         "fn helper\n"
         "a: f32[4]\n"
         "b = tanh f32[4] a @3~helper\n"
         "return b",
         "nested_jit helper: jitted once -> jitted twice @8<99",
         "nested_jit helper: jitted twice -> jitted once @8"});
}

static void sizes_that_a_size_explains_follow(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[50]\n"
                 "y = iota f32[50] @8\n"
                 "return y",
                 "x: f32[70]\n"
                 "y = iota f32[70] @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99 +1", NULL},
                {"x: f32[50]\n"
                 "y = iota f32[100] @8\n"
                 "return y",
                 "x: f32[70]\n"
                 "y = iota f32[140] @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99 +1", NULL},
                {"x: f32[50]\n"
                 "y = iota f32[6] @8\n"
                 "return y",
                 "x: f32[70]\n"
                 "y = iota f32[8] @8\n"
                 "return y",
                 "shape x: f32[50] -> f32[70] @99\n"
                 "size iota: 6 -> 8 @8<99 (f32[6] -> f32[8])",
                 "shape x: f32[70] -> f32[50] @99\n"
                 "size iota: 8 -> 6 @8<99 (f32[8] -> f32[6])"},
                // A dimension of one element is left out.
                {"x: f32[6,4]\n"
                 "y = reduce f32[6] x {dimensions=[1]} @8\n"
                 "return y",
                 "x: f32[1,4]\n"
                 "y = reshape f32[4] x @8\n"
                 "z = reduce f32[] y {dimensions=[0]} @8\n"
                 "return z",
                 "shape x: f32[6,4] -> f32[1,4] @99 +3", NULL},
                // But not what else the sum has.
                {"x: f32[8,1]\n"
                 "y = tanh f32[8,1] x @7\n"
                 "z = reduce f32[8] y {dimensions=[1] groups=[0]} @8\n"
                 "return z",
                 "x: f32[8,4]\n"
                 "y = tanh f32[8,4] x @7\n"
                 "z = reduce f32[8] y {dimensions=[1] groups=[0,1]} @8\n"
                 "return z",
                 "shape x: f32[8,1] -> f32[8,4] @99 +1\n"
                 "constant reduce groups: [0] -> [0, 1] @8<99",
                 NULL},
                {"x: f32[6,4]\n"
                 "y = broadcast_in_dim f32[6,4,2] x @8\n"
                 "z = tanh f32[6,4,2] y @9\n"
                 "return z",
                 "x: f32[1,4]\n"
                 "y = broadcast_in_dim f32[1,4,2] x @8\n"
                 "z = tanh f32[1,4,2] y @9\n"
                 "return z",
                 "shape x: f32[6,4] -> f32[1,4] @99 +2", NULL},
                // A window and what it goes over.
                {"x: f32[1,1,8]\n"
                 "w = constant f32[1,1,3] 1,1,1 @6\n"
                 "p = pad f32[1,1,10] x {edge_padding_low=[0,0,1]} @7\n"
                 "y = convolution f32[1,1,8] p w @8\n"
                 "return y",
                 "x: f32[1,1,8]\n"
                 "w = constant f32[1,1,5] 1,1,1,1,1 @6\n"
                 "p = pad f32[1,1,12] x {edge_padding_low=[0,0,2]} @7\n"
                 "y = convolution f32[1,1,8] p w @8\n"
                 "return y",
                 "size pad edge_padding_low: 1 -> 2 @7<99 +2 ([0, 0, 1] -> [0, 0, 2])",
                 "size pad edge_padding_low: 2 -> 1 @7<99 +2 ([0, 0, 2] -> [0, 0, 1])"},
                {"x: f32[1,1,8]\n"
                 "w = constant f32[1,1,3] 1,1,1 @6\n"
                 "p = pad f32[1,1,10] w {edge_padding_low=[0,0,7]} @7\n"
                 "y = convolution f32[1,1,8] p w @8\n"
                 "return y",
                 "x: f32[1,1,8]\n"
                 "w = constant f32[1,1,5] 1,1,1,1,1 @6\n"
                 "p = pad f32[1,1,12] w {edge_padding_low=[0,0,7]} @7\n"
                 "y = convolution f32[1,1,8] p w @8\n"
                 "return y",
                 "size constant: 3 -> 5 @7<99 +1 (an array of that size is part of the program; "
                 "f32[1,1,3] -> f32[1,1,5])",
                 "size constant: 5 -> 3 @7<99 +1 (an array of that size is part of the program; "
                 "f32[1,1,5] -> f32[1,1,3])"},
                // Neither follows from what drifted before them.
                {"x: f32[1,1,8] k: f32[8] q: f32[7]\n"
                 "z = constant f32[] 0\n"
                 "a = slice f32[3] q {start_indices=[0] limit_indices=[3]} @3\n"
                 "p = pad f32[1,1,10] x z {low=[0,0,1] high=[0,0,1]} @5\n"
                 "v = slice f32[3] k {start_indices=[0] limit_indices=[3]} @6\n"
                 "w = reshape f32[1,1,3] v @6\n"
                 "y = convolution f32[1,1,8] p w @8\n"
                 "return y a",
                 "x: f32[1,1,8] k: f32[8] q: f32[7]\n"
                 "z = constant f32[] 0\n"
                 "a = slice f32[3] q {start_indices=[1] limit_indices=[4]} @3\n"
                 "p = pad f32[1,1,12] x z {low=[0,0,2] high=[0,0,2]} @5\n"
                 "v = slice f32[5] k {start_indices=[0] limit_indices=[5]} @6\n"
                 "w = reshape f32[1,1,5] v @6\n"
                 "y = convolution f32[1,1,8] p w @8\n"
                 "return y a",
                 "constant slice start: [0] -> [1] @3<99 +1\n"
                 "constant pad low: [0, 0, 1] -> [0, 0, 2] @5<99 +5",
                 NULL},
                // As many elements as the size has, but from another place: its own cause.
                {"x: f32[100] n: f32[4]\n"
                 "a = slice f32[4] x {start_indices=[10] limit_indices=[14] strides=[1]} @5\n"
                 "y = tanh f32[4] a @7\n"
                 "z = tanh f32[4] n @8\n"
                 "return y z",
                 "x: f32[100] n: f32[6]\n"
                 "a = slice f32[6] x {start_indices=[20] limit_indices=[26] strides=[1]} @5\n"
                 "y = tanh f32[6] a @7\n"
                 "z = tanh f32[6] n @8\n"
                 "return y z",
                 "shape n: f32[4] -> f32[6] @99 +1\n"
                 "constant slice start: [10] -> [20] @5<99 +3",
                 NULL});
}

// What it is called with and what takes its results are others.
static void a_loop_that_leads_elsewhere_is_still_the_same_loop(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4]\n"
                 "z = constant i32[] 0\n"
                 "a b = while i32[] f32[4] z x @8 { i: i32[] v: f32[4]\n"
                 "w = tanh f32[4] v @9\n"
                 "o = constant i32[] 1\n"
                 "j = add i32[] i o @8\n"
                 "return j w }\n"
                 "r = exponential f32[4] b @12\n"
                 "return r",
                 "x: f32[4] g: f32[4]\n"
                 "z = constant i32[] 0\n"
                 "a b = while i32[] f32[4] z g @8 { i: i32[] v: f32[4]\n"
                 "w = tanh f32[4] v @9\n"
                 "k = multiply f32[4] w w @10\n"
                 "o = constant i32[] 1\n"
                 "j = add i32[] i o @8\n"
                 "return j k }\n"
                 "q = logistic f32[4] b @13\n"
                 "r = exponential f32[4] x @12\n"
                 "p = add f32[4] r q @14\n"
                 "return p",
                 "arguments g: absent -> f32[4] @99 (it is None or left out in one of the two "
                 "calls)\n"
                 "structure multiply: nothing -> multiply @10<99\n"
                 "structure logistic: nothing -> logistic, add @13<99",
                 NULL});
}

static void rows_that_a_loop_walks_over_follow_from_their_number(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[2]\n"
                 "a = slice f32[1] x {start_indices=[0] limit_indices=[1] strides=[1]} @8\n"
                 "b = tanh f32[1] a @9\n"
                 "c = slice f32[1] x {start_indices=[1] limit_indices=[2] strides=[1]} @8\n"
                 "d = tanh f32[1] c @9\n"
                 "return b d",
                 "x: f32[3]\n"
                 "a = slice f32[1] x {start_indices=[0] limit_indices=[1] strides=[1]} @8\n"
                 "b = tanh f32[1] a @9\n"
                 "c = slice f32[1] x {start_indices=[1] limit_indices=[2] strides=[1]} @8\n"
                 "d = tanh f32[1] c @9\n"
                 "e = slice f32[1] x {start_indices=[2] limit_indices=[3] strides=[1]} @8\n"
                 "f = tanh f32[1] e @9\n"
                 "return b d f",
                 "shape x: f32[2] -> f32[3] @99 +1", NULL},
                {"x: f32[2]\n"
                 "a = slice f32[1] x {start_indices=[0] limit_indices=[1] strides=[1]} @8\n"
                 "b = tanh f32[1] a @8\n"
                 "c = slice f32[1] x {start_indices=[1] limit_indices=[2] strides=[1]} @8\n"
                 "d = tanh f32[1] c @8\n"
                 "return b d",
                 "x: f32[3]\n"
                 "a = slice f32[1] x {start_indices=[0] limit_indices=[1] strides=[1]} @8\n"
                 "b = tanh f32[1] a @8\n"
                 "c = slice f32[1] x {start_indices=[1] limit_indices=[2] strides=[1]} @8\n"
                 "d = tanh f32[1] c @8\n"
                 "e = slice f32[1] x {start_indices=[2] limit_indices=[3] strides=[1]} @8\n"
                 "f = tanh f32[1] e @8\n"
                 "return b d f",
                 "shape x: f32[2] -> f32[3] @99 +1", NULL},
                // The parts that are taken count, whatever else is done with one of them.
                {"x: f32[2]\n"
                 "a = slice f32[1] x {start_indices=[0] limit_indices=[1] strides=[1]} @8\n"
                 "b = tanh f32[1] a @8\n"
                 "c = slice f32[1] x {start_indices=[1] limit_indices=[2] strides=[1]} @8\n"
                 "d = tanh f32[1] c @8\n"
                 "return b d",
                 "x: f32[3]\n"
                 "a = slice f32[1] x {start_indices=[0] limit_indices=[1] strides=[1]} @8\n"
                 "b = tanh f32[1] a @8\n"
                 "c = slice f32[1] x {start_indices=[1] limit_indices=[2] strides=[1]} @8\n"
                 "d = tanh f32[1] c @8\n"
                 "e = slice f32[1] x {start_indices=[2] limit_indices=[3] strides=[1]} @8\n"
                 "f = tanh f32[1] e @8\n"
                 "g = tanh f32[1] f @8\n"
                 "h = tanh f32[1] g @8\n"
                 "return b d h",
                 "shape x: f32[2] -> f32[3] @99 +1", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_of_loops_are_their_bound),
        cmocka_unit_test(recomputation_is_told_by_its_barrier),
        cmocka_unit_test(drawing_random_numbers_is_told_with_the_key),
        cmocka_unit_test(constraints_of_one_side_are_shardings),
        cmocka_unit_test(a_function_of_its_own_is_part_of_its_caller),
        cmocka_unit_test(sizes_that_a_size_explains_follow),
        cmocka_unit_test(a_loop_that_leads_elsewhere_is_still_the_same_loop),
        cmocka_unit_test(rows_that_a_loop_walks_over_follow_from_their_number),
    };
    return cmocka_run_group_tests_name("explain_loops", tests, NULL, NULL);
}
