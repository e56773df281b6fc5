// What PyTorch/XLA's programs differ in, whose arguments have no names: small pairs at the limits
// of each rule.
#define _GNU_SOURCE
#include "explain_small.h"

static void parameters_are_paired_by_type_line_and_use(void **state) {
    (void)state;
    CHECK_PAIRS({"hlo\n"
                 "a: f32[4] @5 b: f32[4] @6\n"
                 "y = subtract f32[4] a b @7\n"
                 "return y",
                 "hlo\n"
                 "b: f32[4] @6 a: f32[4] @5\n"
                 "y = subtract f32[4] a b @7\n"
                 "return y",
                 "arguments arguments: argument 0, argument 1 -> argument 1, argument 0 @6<99 (the "
                 "same arguments in a different order)",
                 "arguments arguments: argument 0, argument 1 -> argument 1, argument 0 @5<99 (the "
                 "same arguments in a different order)"},
                {"hlo\n"
                 "a: f32[4] @5\n"
                 "y = tanh f32[4] a @7\n"
                 "return y",
                 "hlo\n"
                 "a: f32[5] @5\n"
                 "y = tanh f32[5] a @7\n"
                 "return y",
                 "shape argument 0: f32[4] -> f32[5] @5<99 +1", NULL},
                {"hlo\n"
                 "a: f32[4] @5\n"
                 "y = tanh f32[4] a @7\n"
                 "return y",
                 "hlo\n"
                 "a: f32[5] @6\n"
                 "y = tanh f32[5] a @7\n"
                 "return y",
                 "shape argument 0: f32[4] -> f32[5] @6<99 +1",
                 "shape argument 0: f32[5] -> f32[4] @5<99 +1"},
                {"hlo\n"
                 "a: f32[4] @5\n"
                 "y = tanh f32[4] a @7\n"
                 "return y",
                 "hlo\n"
                 "a: f32[5] @6\n"
                 "y = sine f32[5] a @8\n"
                 "return y",
                 "shape argument 0: f32[4] -> f32[5] @6<99\n"
                 "structure sine: tanh -> sine @8<6",
                 "shape argument 0: f32[5] -> f32[4] @5<99\n"
                 "structure tanh: sine -> tanh @7<5"},
                {"hlo\n"
                 "a: f32[4] @5 b: f32[4] @6\n"
                 "y = subtract f32[4] a b @7\n"
                 "return y",
                 "hlo\n"
                 "a: f32[4] @5 c: f32[4] @6 b: f32[4] @6\n"
                 "z = add f32[4] a c @7\n"
                 "y = subtract f32[4] z b @7\n"
                 "return y",
                 "arguments argument 1: absent -> f32[4] @6<5 +1", NULL},
                {"hlo\n"
                 "a: f32[4] @5\n"
                 "y = tanh f32[4] a @7\n"
                 "return y",
                 "hlo\n"
                 "a: f16[4] @5\n"
                 "b = convert f32[4] a @6\n"
                 "y = tanh f32[4] b @7\n"
                 "return y",
                 "dtype argument 0: f32[4] -> f16[4] @5<99 +1", NULL},
                {"hlo\n"
                 "a: f32[4] @5 c: f32[4] @5\n"
                 "y = add f32[4] a c @7\n"
                 "return y",
                 "hlo\n"
                 "a: f16[4] @5 c: f32[4] @5\n"
                 "b = convert f32[4] a @6\n"
                 "y = add f32[4] b c @7\n"
                 "return y",
                 "dtype argument 0: f32[4] -> f16[4] @5<99 +1", NULL},
                // A default of the model, or what is passed instead.
                {"hlo\n"
                 "x: f32[4] @4 a: f32[2,3] @5\n"
                 "y = sine f32[2,3] a @7\n"
                 "return y",
                 "hlo\n"
                 "x: f32[4] @4 b: f32[2,5] @6\n"
                 "y = cosine f32[2,5] b @8\n"
                 "return y",
                 "shape argument 1: f32[2,3] -> f32[2,5] @6<4\n"
                 "structure cosine: sine -> cosine @8<4",
                 "shape argument 1: f32[2,5] -> f32[2,3] @5<4\n"
                 "structure sine: cosine -> sine @7<4"},
                {"hlo\n"
                 "x: f32[4] @4 a: f32[2,3] @5\n"
                 "y = sine f32[2,3] a @7\n"
                 "return y",
                 "hlo\n"
                 "x: f32[4] @4 b: i32[2,5] @6\n"
                 "y = cosine i32[2,5] b @8\n"
                 "return y",
                 "shape argument 1: f32[2,3] -> i32[2,5] @6<4\n"
                 "dtype argument 1: f32[2,3] -> i32[2,5] @6<4\n"
                 "structure cosine: sine -> cosine @8<4",
                 "shape argument 1: i32[2,5] -> f32[2,3] @5<4\n"
                 "dtype argument 1: i32[2,5] -> f32[2,3] @5<4\n"
                 "structure sine: cosine -> sine @7<4"});
}

static void arguments_that_are_donated_are_told_by_what_updates_them(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"hlo\n"
         "w: f32[4] @5\n"
         "return w",
         "hlo\n"
         "w: f32[4] @5\n"
         "return w",
         "retrace :  ->  @5<99", NULL},
        {"hlo\n"
         "w: f32[4] @5\n"
         "y = add f32[4] w w @7\n"
         "return y",
         "hlo\n"
         "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=0}]}}\n"
         "w: f32[4] @5\n"
         "y = add f32[4] w w @7\n"
         "return y",
         "donation argument 0: kept -> donated @7<5", "donation argument 0: donated -> kept @5<99"},
        {"hlo\n"
         "module SyncTensorsGraph {buffer_donor={entries=[{parameter_number=1}]}}\n"
         "v: f32[4] @4 w: f32[4] @5\n"
         "y = add f32[4] w v @7\n"
         "z = tanh f32[4] y @8\n"
         "return z",
         "hlo\n"
         "v: f32[4] @4 w: f32[4] @5\n"
         "y = add f32[4] w v @7\n"
         "z = tanh f32[4] y @8\n"
         "return z",
         "donation argument 1: donated -> kept @5<4", "donation argument 1: kept -> donated @8<4"},
        // The first parameter's number is left out; there is no third.
        {"hlo\n"
         "module SyncTensorsGraph {input_output_alias={entries=[{output_index=1} "
         "{parameter_number=2} {parameter_number=-1}]}}\n"
         "v: f32[4] @4 w: f32[4] @5\n"
         "y = add f32[4] w v @7\n"
         "return y",
         "hlo\n"
         "v: f32[4] @4 w: f32[4] @5\n"
         "y = add f32[4] w v @7\n"
         "return y",
         "donation argument 0: donated -> kept @4<99", "donation argument 0: kept -> donated @7<4"},
        // The operation that made the new value is gone.
        {"hlo\n"
         "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=0}]}}\n"
         "v: f32[4] @4 w: f32[4] @5\n"
         "y = add f32[4] v w @7\n"
         "z = tanh f32[4] w @8\n"
         "return y z",
         "hlo\n"
         "v: f32[4] @4 w: f32[4] @5\n"
         "z = tanh f32[4] w @8\n"
         "return z",
         "structure add: add -> nothing @7<4 +1", NULL},
        {"hlo\n"
         "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=0}]}}\n"
         "v: f32[] @4 w: f32[] @5\n"
         "y = add f32[] v w @7\n"
         "return y",
         "hlo\n"
         "v: f32[] @4 w: f32[] @5\n"
         "y = add f32[] v w @7\n"
         "return y",
         "donation argument 0: donated -> kept @4<99",
         "donation argument 0: kept -> donated @7<4"});
}

static void an_optimizer_is_told_by_what_it_updates(void **state) {
    (void)state;
    CHECK_PAIRS({"hlo\n"
                 "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=0}]}}\n"
                 "w: f32[4] @5 x: f32[4] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[4] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n",
                 "hlo\n"
                 "w: f32[4] @5 x: f32[4] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "return g",
                 "structure optimizer: updates 1 tensor -> updates none @20<5 +1 (its step does "
                 "nothing, as if it were skipped)",
                 "structure optimizer: updates none -> updates 1 tensor @20<5 +1 (only one of the "
                 "two calls optimizer.step(): each micro-batch has a sync)"},
                {"hlo\n"
                 "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=0} "
                 "{parameter_number=1}]}}\n"
                 "w: f32[4] @5 v: f32[3] @5 x: f32[4] @6 u: f32[3] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[4] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "h = multiply f32[3] u u @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "m = subtract f32[3] v h @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n m",
                 "hlo\n"
                 "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=0}]}}\n"
                 "w: f32[4] @5 v: f32[3] @5 x: f32[4] @6 u: f32[3] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[4] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "h = multiply f32[3] u v @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "return n h",
                 "structure optimizer: updates 2 tensors -> updates 1 tensor @20<5 +1 (the "
                 "optimizer skips tensors that have no gradient: frozen, or not used)",
                 NULL},
                // Each of them is updated by one of the two.
                {"hlo\n"
                 "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=0}]}}\n"
                 "w: f32[4] @5 v: f32[3] @5 x: f32[4] @6 u: f32[3] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[4] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "h = multiply f32[3] u v @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "return n h",
                 "hlo\n"
                 "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=1}]}}\n"
                 "w: f32[4] @5 v: f32[3] @5 x: f32[4] @6 u: f32[3] @6\n"
                 "g = multiply f32[4] x w @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "h = multiply f32[3] u u @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "m = subtract f32[3] v h @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return g m",
                 "structure optimizer: updates 1 tensor -> updates 1 other @20<5 +2 (the tensors "
                 "that are updated take turns: two optimizers share a sync)",
                 "structure optimizer: updates 1 tensor -> updates 1 other @20<5 +2 (the tensors "
                 "that are updated take turns: two optimizers share a sync)"},
                // Without backward(): an evaluation.
                {"hlo\n"
                 "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=0}]}}\n"
                 "w: f32[4] @5 x: f32[4] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[4] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n",
                 "hlo\n"
                 "w: f32[4] @5 x: f32[4] @6\n"
                 "g = multiply f32[4] x x @7\n"
                 "n = add f32[4] w g @8\n"
                 "return n",
                 "structure optimizer: updates 1 tensor -> updates none @20<5 +1 (only one of the "
                 "two calls backward(): training and evaluation share a line)",
                 NULL},
                // Another tensor in its place, from another line.
                {"hlo\n"
                 "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=0}]}}\n"
                 "w: f32[4] @5 x: f32[4] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[4] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n",
                 "hlo\n"
                 "w: f32[4] @9 x: f32[4] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "t = tanh f32[4] w @8\n"
                 "return g t",
                 "donation argument 0: donated -> kept @9<99 +1 (it was replaced by a tensor that "
                 "the optimizer does not update)",
                 "donation argument 0: kept -> donated @20<5 +1"},
                {"hlo\n"
                 "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=0}]}}\n"
                 "w: f32[4] @5 x: f32[4] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[4] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n",
                 "hlo\n"
                 "w: f32[4] @9 x: f32[4] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[4] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n",
                 "donation argument 0: donated -> kept @9<99 (another tensor was copied into it as "
                 "part of the recorded step)",
                 "donation argument 0: kept -> donated @20<5"},
                {"hlo\n"
                 "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=0}]}}\n"
                 "w: f32[] @5 x: f32[] @6\n"
                 "g = multiply f32[] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n",
                 "hlo\n"
                 "w: f32[] @5 x: f32[] @6\n"
                 "g = multiply f32[] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n",
                 "donation argument 0: donated -> kept @5<99 (another tensor was copied into it as "
                 "part of the recorded step)",
                 "donation argument 0: kept -> donated @20<5 (a number that the host sent is never "
                 "donated, one that a step computed is)"},
                // State that it made in its first step.
                {"hlo\n"
                 "w: f32[4] @5 x: f32[4] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[4] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n",
                 "hlo\n"
                 "w: f32[4] @5 x: f32[4] @6 m: f32[4] @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "k = add f32[4] m g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "n = subtract f32[4] w k @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n k",
                 "arguments argument 2: absent -> f32[4] @20<5 +1 (the optimizer created this "
                 "state in its first step)",
                 "arguments argument 2: f32[4] -> absent @20<5 +1"},
                {"hlo\n"
                 "w: f32[4] @5 x: f32[4] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[4] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n",
                 "hlo\n"
                 "w: f32[4] @5 x: f32[4] @6 m: f32[4] @/v/site-packages/torch/optim/sgd.py!30<20 "
                 "v: f32[3] @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "k = add f32[4] m g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "t = tanh f32[3] v @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "n = subtract f32[4] w k @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n k t",
                 "arguments argument 2: absent -> f32[4] @20<5 +2 (the optimizer created this "
                 "state in its first step; and 1 more argument)",
                 "arguments argument 2: f32[4] -> absent @20<5 +2 (and 1 more argument)"},
                {"hlo\n"
                 "w: f32[4] @5 x: f32[4] @6\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "n = subtract f32[4] w g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n",
                 "hlo\n"
                 "w: f32[4] @5 x: f32[4] @6 m: f32[4] @7\n"
                 "g = multiply f32[4] x x @/v/site-packages/torch/autograd/__init__.py!12<18\n"
                 "k = add f32[4] m g @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "n = subtract f32[4] w k @/v/site-packages/torch/optim/sgd.py!30<20\n"
                 "return n k",
                 "arguments argument 2: absent -> f32[4] @7<5 +1", NULL},
                {"hlo\n"
                 "w: f32[4] @5 x: f32[4] @6\n"
                 "g = multiply f32[4] x x @/v/torch/optim/swa_utils.py!30<20\n"
                 "return g",
                 "hlo\n"
                 "w: f32[4] @5 x: f32[4] @6 m: f32[4] @/v/torch/optim/swa_utils.py!30<20\n"
                 "g = multiply f32[4] x x @/v/torch/optim/swa_utils.py!30<20\n"
                 "k = add f32[4] m g @/v/torch/optim/swa_utils.py!30<20\n"
                 "return g k",
                 "arguments argument 2: absent -> f32[4] @30<5 +1", NULL});
}

static void branches_that_recompute_or_draw_have_notes(void **state) {
    (void)state;
    CHECK_PAIRS({"hlo\n"
                 "x: f32[4] @5\n"
                 "a = tanh f32[4] x @7\n"
                 "b = sine f32[4] a @8\n"
                 "return b",
                 "hlo\n"
                 "x: f32[4] @5\n"
                 "a = tanh f32[4] x @7\n"
                 "k = tuple (f32[4]) x\n"
                 "o = opt-barrier (f32[4]) k\n"
                 "e = get-tuple-element f32[4] o\n"
                 "c = tanh f32[4] e\n"
                 "b = sine f32[4] a @8\n"
                 "d = multiply f32[4] b c\n"
                 "return d",
                 "structure tuple: nothing -> tuple, opt-barrier, get-tuple-element and 2 more "
                 "@7<5 (only one of the two computes activations again: gradient checkpointing)",
                 NULL},
                {"hlo\n"
                 "x: f32[4] @5\n"
                 "b = sine f32[4] x @8\n"
                 "return b",
                 "hlo\n"
                 "x: f32[4] @5\n"
                 "s = constant u64[2] 1,2\n"
                 "r = rng-bit-generator (u64[2],u32[4]) s @7\n"
                 "u = get-tuple-element u32[4] r @7\n"
                 "m = compare i1[4] u u @7\n"
                 "y = select f32[4] m x x @7\n"
                 "b = sine f32[4] y @8\n"
                 "return b",
                 "structure rng-bit-generator: nothing -> rng-bit-generator, get-tuple-element, "
                 "compare and 1 more @7<5 (only one of the two draws random numbers: dropout in "
                 "training mode, or noise)",
                 NULL},
                {"hlo\n"
                 "x: f32[4] @5\n"
                 "y = cosine f32[4] x @7\n"
                 "b = sine f32[4] y @8\n"
                 "return b",
                 "hlo\n"
                 "x: f32[4] @5\n"
                 "s = constant u64[2] 1,2\n"
                 "r = rng-bit-generator (u64[2],u32[4]) s @7\n"
                 "u = get-tuple-element u32[4] r @7\n"
                 "m = compare i1[4] u u @7\n"
                 "y = select f32[4] m x x @7\n"
                 "b = sine f32[4] y @8\n"
                 "return b",
                 "structure rng-bit-generator: cosine -> rng-bit-generator, get-tuple-element, "
                 "compare and 1 more @7<5",
                 "structure cosine: rng-bit-generator, get-tuple-element, compare and 1 more -> "
                 "cosine @7<5"},
                {"hlo\n"
                 "x: f32[4] @5\n"
                 "y = cosine f32[4] x @7\n"
                 "b = sine f32[4] y @8\n"
                 "return b",
                 "hlo\n"
                 "x: f32[4] @5\n"
                 "b = sine f32[4] x @8\n"
                 "return b",
                 "structure cosine: cosine -> nothing @7<5", NULL});
}

static void numbers_that_no_tensor_can_replace_are_settings(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"hlo\n"
         "x: f32[4] @5\n"
         "c = constant f32[] 2\n"
         "b = broadcast f32[4] c\n"
         "y = add f32[4] x b @aten__native_layer_norm.1/aten__native_layer_norm|8\n"
         "return y",
         "hlo\n"
         "x: f32[4] @5\n"
         "c = constant f32[] 3\n"
         "b = broadcast f32[4] c\n"
         "y = add f32[4] x b @aten__native_layer_norm.1/aten__native_layer_norm|8\n"
         "return y",
         "constant add: 2 -> 3 @8<5 (the operation takes it as a number only, never as a tensor)",
         NULL},
        {"hlo\n"
         "x: f32[4] @5\n"
         "c = constant f32[] 2\n"
         "b = broadcast f32[4] c\n"
         "y = add f32[4] x b @aten__add.1/aten__add|8\n"
         "return y",
         "hlo\n"
         "x: f32[4] @5\n"
         "c = constant f32[] 3\n"
         "b = broadcast f32[4] c\n"
         "y = add f32[4] x b @aten__add.1/aten__add|8\n"
         "return y",
         "constant add: 2 -> 3 @8<5", NULL},
        {"hlo\n"
         "x: f32[4] @5\n"
         "c = constant f32[] 2\n"
         "b = broadcast f32[4] c\n"
         "y = add f32[4] x b @aten__gelu|8\n"
         "return y",
         "hlo\n"
         "x: f32[4] @5\n"
         "c = constant f32[] 3\n"
         "b = broadcast f32[4] c\n"
         "y = add f32[4] x b @aten__elu|8\n"
         "return y",
         "constant add: 2 -> 3 @8<5", NULL},
        {"hlo\n"
         "x: f32[4] @5\n"
         "c = constant f32[] 2\n"
         "b = broadcast f32[4] c\n"
         "y = add f32[4] x b @aten_gelu|8\n"
         "return y",
         "hlo\n"
         "x: f32[4] @5\n"
         "c = constant f32[] 3\n"
         "b = broadcast f32[4] c\n"
         "y = add f32[4] x b @aten_gelu|8\n"
         "return y",
         "constant add: 2 -> 3 @8<5", NULL},
        {"hlo\n"
         "x: f32[4] @5 k: f32[] @6\n"
         "b = broadcast f32[4] k\n"
         "y = add f32[4] x b @aten__gelu|8\n"
         "return y",
         "hlo\n"
         "x: f32[4] @5\n"
         "k = constant f32[] 1\n"
         "b = broadcast f32[4] k\n"
         "y = add f32[4] x b @aten__gelu|8\n"
         "return y",
         "constant add: an argument -> 1 @8<5 +2 (PyTorch/XLA writes 0 and 1 into the program and "
         "passes any other number)",
         NULL},
        {"hlo\n"
         "x: f32[4] @5 k: f32[] @6\n"
         "b = broadcast f32[4] k\n"
         "y = add f32[4] x b @aten__add|8\n"
         "return y",
         "hlo\n"
         "x: f32[4] @5\n"
         "k = constant f32[] 0\n"
         "b = broadcast f32[4] k\n"
         "y = add f32[4] x b @aten__add|8\n"
         "return y",
         "constant add: an argument -> 0 @8<5 +2", NULL},
        {"hlo\n"
         "x: f32[4,4] @5\n"
         "y = transpose f32[4,4] x {dimensions=[1,0]} @8\n"
         "return y",
         "hlo\n"
         "x: f32[4,4] @5\n"
         "y = transpose f32[4,4] x {dimensions=[0,1]} @8\n"
         "return y",
         "constant transpose dimensions: [1, 0] -> [0, 1] @8<5 (an axis is part of the program, "
         "and cannot be an array)",
         NULL});
}

static void conversions_on_several_lines_are_one_choice(void **state) {
    (void)state;
    CHECK_PAIRS({"hlo\n"
                 "x: f32[4] @5 w: f32[4] @5\n"
                 "a = multiply f32[4] x x @7\n"
                 "b = multiply f32[4] w w @8\n"
                 "return a b",
                 "hlo\n"
                 "x: f32[4] @5 w: f32[4] @5\n"
                 "c = convert bf16[4] x @7\n"
                 "d = multiply bf16[4] c c @7\n"
                 "a = convert f32[4] d @7\n"
                 "e = convert bf16[4] w @8\n"
                 "f = multiply bf16[4] e e @8\n"
                 "b = convert f32[4] f @8\n"
                 "return a b",
                 "structure convert: nothing -> convert and 3 more @7<5 +2", NULL},
                {"hlo\n"
                 "x: f32[4] @5\n"
                 "a = tanh f32[4] x @7\n"
                 "return a",
                 "hlo\n"
                 "x: f32[4] @5\n"
                 "a = tanh f32[4] x @7\n"
                 "b = convert bf16[4] a @8\n"
                 "return b",
                 "structure convert: nothing -> convert @8<5", NULL},
                {"x: f32[4] w: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "b = sine f32[4] w @8\n"
                 "return a b",
                 "x: f32[4] w: f32[4]\n"
                 "c = convert bf16[4] x @7\n"
                 "a = tanh bf16[4] c @7\n"
                 "d = convert bf16[4] w @8\n"
                 "b = sine bf16[4] d @8\n"
                 "return a b",
                 "structure convert: nothing -> convert @7<99 +3 (only one of the two converts it "
                 "to another dtype: autocast, or a cast)",
                 NULL});
}

static void a_tensor_that_grows_is_told_where_something_is_appended(void **state) {
    (void)state;
    CHECK_PAIRS({"hlo\n"
                 "x: f32[4,2] @5 n: f32[1,2] @6\n"
                 "y = concatenate f32[5,2] x n @8\n"
                 "return y",
                 "hlo\n"
                 "x: f32[5,2] @5 n: f32[1,2] @6\n"
                 "y = concatenate f32[6,2] x n @8\n"
                 "return y",
                 "shape argument 0: f32[4,2] -> f32[5,2] @8<5 +1 (it grows because something is "
                 "appended to it)",
                 NULL},
                {"hlo\n"
                 "x: f32[4,2] @5 n: f32[2,2] @6\n"
                 "y = concatenate f32[6,2] x n @8\n"
                 "return y",
                 "hlo\n"
                 "x: f32[5,2] @5 n: f32[2,2] @6\n"
                 "y = concatenate f32[7,2] x n @8\n"
                 "return y",
                 "shape argument 0: f32[4,2] -> f32[5,2] @5<99 +1", NULL},
                // Not kept, or only in another shape; of one part.
                {"hlo\n"
                 "x: f32[4,2] @5 n: f32[1,2] @6\n"
                 "y = concatenate f32[5,2] x n @8\n"
                 "z = tanh f32[5,2] y @9\n"
                 "return z",
                 "hlo\n"
                 "x: f32[5,2] @5 n: f32[1,2] @6\n"
                 "y = concatenate f32[6,2] x n @8\n"
                 "z = tanh f32[6,2] y @9\n"
                 "return z",
                 "shape argument 0: f32[4,2] -> f32[5,2] @5<99 +2", NULL},
                {"hlo\n"
                 "x: f32[4,2] @5 n: f32[1,2] @6\n"
                 "y = concatenate f32[5,2] x n @8\n"
                 "z = transpose f32[2,5] y @9\n"
                 "return z",
                 "hlo\n"
                 "x: f32[5,2] @5 n: f32[1,2] @6\n"
                 "y = concatenate f32[6,2] x n @8\n"
                 "z = transpose f32[2,6] y @9\n"
                 "return z",
                 "shape argument 0: f32[4,2] -> f32[5,2] @8<5 +2 (it grows because something is "
                 "appended to it)",
                 NULL},
                {"hlo\n"
                 "x: f32[4,2] @5\n"
                 "y = concatenate f32[4,2] x @8\n"
                 "return y",
                 "hlo\n"
                 "x: f32[5,2] @5\n"
                 "y = concatenate f32[5,2] x @8\n"
                 "return y",
                 "shape argument 0: f32[4,2] -> f32[5,2] @5<99 +1", NULL},
                // Its rows in another order first.
                {"hlo\n"
                 "x: f32[4,2] @5 n: f32[1,2] @6 i: i32[4] @6\n"
                 "o = gather f32[4,2] x i @7\n"
                 "y = concatenate f32[5,2] o n @8\n"
                 "return y",
                 "hlo\n"
                 "x: f32[5,2] @5 n: f32[1,2] @6 i: i32[5] @6\n"
                 "o = gather f32[5,2] x i @7\n"
                 "y = concatenate f32[6,2] o n @8\n"
                 "return y",
                 "shape argument 0: f32[4,2] -> f32[5,2] @8<5 +3 (it grows because something is "
                 "appended to it; and 1 more argument)",
                 NULL},
                {"hlo\n"
                 "x: f32[4,2] @5 n: f32[1,2] @6 i: i32[3] @6\n"
                 "o = gather f32[3,2] x i @7\n"
                 "y = concatenate f32[4,2] o n @8\n"
                 "return y",
                 "hlo\n"
                 "x: f32[5,2] @5 n: f32[1,2] @6 i: i32[3] @6\n"
                 "o = gather f32[3,2] x i @7\n"
                 "y = concatenate f32[4,2] o n @8\n"
                 "return y",
                 "shape argument 0: f32[4,2] -> f32[5,2] @5<99", NULL});
}

static void numbers_that_became_equal_are_one_argument(void **state) {
    (void)state;
    CHECK_PAIRS({"hlo\n"
                 "x: f32[4] @5 a: f32[] @6 b: f32[] @7\n"
                 "c = broadcast f32[4] a\n"
                 "y = multiply f32[4] x c @8\n"
                 "d = broadcast f32[4] b\n"
                 "z = add f32[4] y d @9\n"
                 "return z",
                 "hlo\n"
                 "x: f32[4] @5 a: f32[] @6\n"
                 "c = broadcast f32[4] a\n"
                 "y = multiply f32[4] x c @8\n"
                 "d = broadcast f32[4] a\n"
                 "z = add f32[4] y d @9\n"
                 "return z",
                 "arguments argument 2: f32[] -> absent @7<5 (equal numbers of the host are one "
                 "argument, and two became equal or differ now)",
                 NULL},
                {"hlo\n"
                 "x: f32[4] @5 a: f32[4] @6 b: f32[4] @7\n"
                 "y = multiply f32[4] x a @8\n"
                 "z = add f32[4] y b @9\n"
                 "return z",
                 "hlo\n"
                 "x: f32[4] @5 a: f32[4] @6\n"
                 "y = multiply f32[4] x a @8\n"
                 "z = add f32[4] y a @9\n"
                 "return z",
                 "arguments argument 2: f32[4] -> absent @7<5", NULL},
                {"hlo\n"
                 "x: f32[4] @5 a: f32[4] @6 b: f32[4] @7\n"
                 "y = multiply f32[4] x a @8\n"
                 "z = add f32[4] y b @9\n"
                 "return z",
                 "hlo\n"
                 "x: f32[4] @5 a: f32[4] @11\n"
                 "y = multiply f32[4] x a @8\n"
                 "z = add f32[4] y a @9\n"
                 "return z",
                 "arguments argument 2: f32[4] -> absent @11<5 (another tensor was copied into it "
                 "as part of the recorded step)",
                 "arguments argument 2: absent -> f32[4] @7<5"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_paired_by_type_line_and_use),
        cmocka_unit_test(arguments_that_are_donated_are_told_by_what_updates_them),
        cmocka_unit_test(an_optimizer_is_told_by_what_it_updates),
        cmocka_unit_test(branches_that_recompute_or_draw_have_notes),
        cmocka_unit_test(numbers_that_no_tensor_can_replace_are_settings),
        cmocka_unit_test(conversions_on_several_lines_are_one_choice),
        cmocka_unit_test(a_tensor_that_grows_is_told_where_something_is_appended),
        cmocka_unit_test(numbers_that_became_equal_are_one_argument),
    };
    return cmocka_run_group_tests_name("explain_torch", tests, NULL, NULL);
}
