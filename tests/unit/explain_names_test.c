// Shardings as JAX writes them, trees and functions by their names, and operations outside jit:
// small pairs at the limits of each rule.
#define _GNU_SOURCE
#include "explain_small.h"

static void shardings_are_told_as_jax_writes_them(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4,2] {sdy.sharding=sdy.sharding{mesh=&mesh "
         "dimension_shardings=[{axes=[{name='data'}]},{axes=[]}]}}\n"
         "return x",
         "x: f32[4,2] {sdy.sharding=sdy.sharding{mesh=&mesh "
         "dimension_shardings=[{axes=[]},{axes=[{name='data'}]}]}}\n"
         "return x",
         "sharding x: P('data', None) -> P(None, 'data')", NULL},
        {"x: f32[4,2] {sdy.sharding=sdy.sharding{mesh=&mesh "
         "dimension_shardings=[{axes=[{name='data'} {name='model'}]},{axes=[]}]}}\n"
         "return x",
         "x: f32[4,2] {sdy.sharding=sdy.sharding{mesh=&mesh "
         "dimension_shardings=[{axes=[]},{axes=[]}]}}\n"
         "return x",
         "sharding x: P(('data', 'model'), None) -> P()", NULL},
        {"x: f32[4] {sdy.sharding=sdy.sharding{mesh=&mesh dimension_shardings=[{axes=[{name='data' "
         "sub_axis_info={pre_size=1 size=2}}]}]}}\n"
         "return x",
         "x: f32[4] {sdy.sharding=sdy.sharding{mesh=&mesh dimension_shardings=[{axes=[{name='data' "
         "sub_axis_info={pre_size=2 size=2}}]}]}}\n"
         "return x",
         "sharding x: P('data'{pre_size = 1, size = 2}) -> P('data'{pre_size = 2, size = 2})",
         NULL},
        // Closed and open dimensions read the same in short.
        {"x: f32[4] {sdy.sharding=sdy.sharding{mesh=&mesh dimension_shardings=[{axes=[] "
         "is_closed=true}]}}\n"
         "return x",
         "x: f32[4] {sdy.sharding=sdy.sharding{mesh=&mesh dimension_shardings=[{axes=[] "
         "is_closed=false}]}}\n"
         "return x",
         "sharding x: P(None) -> P(UNCONSTRAINED)", NULL},
        {"x: f32[4] {sdy.sharding=sdy.sharding{mesh=&mesh dimensions=[{axes=[{name='data'}]}]}}\n"
         "return x",
         "x: f32[4] {sdy.sharding=sdy.sharding{mesh=&other dimensions=[{axes=[{name='data'}]}]}}\n"
         "return x",
         "sharding x: sdy.sharding{mesh = @mesh, dimensions = [{axes = [{name = \"data\"}]}]} -> "
         "sdy.sharding{mesh = @other, dimensions = [{axes = [{name = \"data\"}]}]}",
         NULL},
        // One for each value.
        {"x: f32[4]\n"
         "y = custom_call f32[4] x "
         "{in_shardings=sdy.sharding_per_value{shardings=[sdy.sharding{mesh=&mesh "
         "dimension_shardings=[{axes=[{name='a'}]}]},sdy.sharding{mesh=&mesh "
         "dimension_shardings=[{axes=[]}]}]}} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x "
         "{in_shardings=sdy.sharding_per_value{shardings=[sdy.sharding{mesh=&mesh "
         "dimension_shardings=[{axes=[]}]},sdy.sharding{mesh=&mesh "
         "dimension_shardings=[{axes=[{name='a'}]}]}]}} @8\n"
         "return y",
         "sharding custom_call: P('a'), P() -> P(), P('a') @8<99", NULL},
        // With another rank, what says nothing says no more.
        {"x: f32[4]\n"
         "y = custom_call f32[4] x {sharding=sdy.sharding{mesh=&mesh "
         "dimension_shardings=[{axes=[]}]}} @8\n"
         "return y",
         "x: f32[4,1]\n"
         "y = custom_call f32[4,1] x {sharding=sdy.sharding{mesh=&mesh "
         "dimension_shardings=[{axes=[]},{axes=[]}]}} @8\n"
         "return y",
         "shape x: f32[4] -> f32[4,1] @99 +1", NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x {sharding=sdy.sharding{mesh=&mesh "
         "dimension_shardings=[{axes=[]}]}} @8\n"
         "return y",
         "x: f32[4]\n"
         "y = custom_call f32[4] x {sharding=sdy.sharding{mesh=&other "
         "dimension_shardings=[{axes=[]},{axes=[]}]}} @8\n"
         "return y",
         "sharding custom_call: P(None) -> P(None, None) @8<99", NULL},
        {"hlo\n"
         "x: f32[4] @5\n"
         "y = custom-call f32[4] x {custom_call_target='Sharding' sharding=hlo.message{type=OTHER "
         "tile_assignment_dimensions=[4,1] tile_assignment_devices=[0,1,2,3]}} @8\n"
         "z = tanh f32[4] y @9\n"
         "return z",
         "hlo\n"
         "x: f32[4] @5\n"
         "y = custom-call f32[4] x {custom_call_target='Sharding' sharding=hlo.message{type=OTHER "
         "tile_assignment_dimensions=[1,4] tile_assignment_devices=[0,1,2,3]}} @8\n"
         "z = tanh f32[4] y @9\n"
         "return z",
         "sharding custom-call: devices=[4,1]0,1,2,3 -> devices=[1,4]0,1,2,3 @8<5", NULL},
        {"hlo\n"
         "x: f32[4] @5\n"
         "y = custom-call f32[4] x {custom_call_target='Sharding' sharding=hlo.message{type=OTHER "
         "tile_assignment_dimensions=[2,1,2] tile_assignment_devices=[0,1,2,3] "
         "replicate_on_last_tile_dim=true}} @8\n"
         "z = tanh f32[4] y @9\n"
         "return z",
         "hlo\n"
         "x: f32[4] @5\n"
         "y = custom-call f32[4] x {custom_call_target='Sharding' sharding=hlo.message{type=OTHER "
         "tile_assignment_dimensions=[2,1,2] tile_assignment_devices=[0,2,1,3] "
         "replicate_on_last_tile_dim=true}} @8\n"
         "z = tanh f32[4] y @9\n"
         "return z",
         "sharding custom-call: devices=[2,1,2]0,1,2,3 last_tile_dim_replicate -> "
         "devices=[2,1,2]0,2,1,3 last_tile_dim_replicate @8<5",
         NULL},
        {"hlo\n"
         "x: f32[4] @5\n"
         "y = custom-call f32[4] x {custom_call_target='Sharding' sharding=hlo.message{type=OTHER "
         "tile_assignment_dimensions=[2,2] iota_reshape_dims=[2,2] iota_transpose_perm=[0,1]}} @8\n"
         "z = tanh f32[4] y @9\n"
         "return z",
         "hlo\n"
         "x: f32[4] @5\n"
         "y = custom-call f32[4] x {custom_call_target='Sharding' sharding=hlo.message{type=OTHER "
         "tile_assignment_dimensions=[2,1,2] iota_reshape_dims=[2,2] iota_transpose_perm=[1,0] "
         "replicate_on_last_tile_dim=true}} @8\n"
         "z = tanh f32[4] y @9\n"
         "return z",
         "sharding custom-call: devices=[2,2]<=[2,2] -> "
         "devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate @8<5",
         NULL});
}

static void trees_of_arguments_are_counted_by_their_names(void **state) {
    (void)state;
    CHECK_PAIRS({"p['a']: f32[5] p['b']: f32[3]\n"
                 "y = iota f32[8] @8\n"
                 "return y",
                 "p['a']: f32[5] p['b']: f32[3] p['c']: f32[4]\n"
                 "y = iota f32[12] @8\n"
                 "return y",
                 "arguments p['c']: absent -> f32[4] @99 +1", NULL},
                {"p['a']: f32[5] pp['b']: f32[3]\n"
                 "y = iota f32[8] @8\n"
                 "return y",
                 "p['a']: f32[5] pp['b']: f32[3] p['c']: f32[4]\n"
                 "y = iota f32[12] @8\n"
                 "return y",
                 "arguments p['c']: absent -> f32[4] @99\n"
                 "size iota: 8 -> 12 @8<99 (f32[8] -> f32[12])",
                 "arguments p['c']: f32[4] -> absent @99\n"
                 "size iota: 12 -> 8 @8<99 (f32[12] -> f32[8])"},
                {"p[0]: f32[5] p[1]: f32[3]\n"
                 "c = constant f32[] 2\n"
                 "y = divide f32[] c c @8\n"
                 "return y",
                 "p[0]: f32[5] p[1]: f32[3] p[2]: f32[4]\n"
                 "c = constant f32[] 3\n"
                 "y = divide f32[] c c @8\n"
                 "return y",
                 "arguments p[2]: absent -> f32[4] @99 +2", NULL},
                {"p['a']['k']: f32[5] p['b']['k']: f32[3]\n"
                 "return p['a']['k']",
                 "p['a']['k']: f32[5] p['b']['k']: f32[3] p['a']['x']: f32[4] p['b']['y']: f32[4]\n"
                 "return p['a']['k']",
                 "arguments p['a']['x']: absent -> f32[4]\n"
                 "arguments p['b']['y']: absent -> f32[4]",
                 NULL});
}

static void names_of_functions_agree_whole(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[4]\n"
                 "y = tanh f32[4] x @3~xhelper<8\n"
                 "z = sine f32[4] y @9\n"
                 "return z",
                 "x: f32[4]\n"
                 "y = call f32[4] x {callee=&helper} @8\n"
                 "z = sine f32[4] y @9\n"
                 "return z\n"
                 "fn helper\n"
                 "a: f32[4]\n"
                 "b = tanh f32[4] a @3~xhelper\n"
                 "return b",
                 "nested_jit xhelper: part of its caller -> a jit of its own @8<99", NULL},
                {"x: f32[4]\n"
                 "y = tanh f32[4] x @3~helper<8\n"
                 "z = sine f32[4] y @9\n"
                 "return z",
                 "x: f32[4]\n"
                 "y = call f32[4] x {callee=&xhelper} @8\n"
                 "z = sine f32[4] y @9\n"
                 "return z\n"
                 "fn xhelper\n"
                 "a: f32[4]\n"
                 "b = tanh f32[4] a @3~helper\n"
                 "return b",
                 "nested_jit helper: part of its caller -> a jit of its own @8<99", NULL},
                {"x: f32[4]\n"
                 "y = tanh f32[4] x @3~make.<lambda><8\n"
                 "z = sine f32[4] y @9\n"
                 "return z",
                 "x: f32[4]\n"
                 "y = call f32[4] x {callee=&_lambda_} @8\n"
                 "z = sine f32[4] y @9\n"
                 "return z\n"
                 "fn _lambda_\n"
                 "a: f32[4]\n"
                 "b = tanh f32[4] a @3~make.lambda\n"
                 "return b",
                 "structure call: tanh -> call @8<99", "structure tanh: call -> tanh @3<8"});
}

static void operations_outside_jit_have_a_note(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"module jit_tanh\n"
         "x: f32[4]\n"
         "c = constant f32[] 2 @7\n"
         "b = broadcast_in_dim f32[4] c @7\n"
         "y = multiply f32[4] x b @7\n"
         "return y",
         "module jit_tanh\n"
         "x: f32[4]\n"
         "c = constant f32[] 3 @7\n"
         "b = broadcast_in_dim f32[4] c @7\n"
         "y = multiply f32[4] x b @7\n"
         "return y",
         "constant multiply: 2 -> 3 @7<99 (an operation outside jit is a program of its own)",
         NULL},
        {"module jit_tanh\n"
         "x: f32[4]\n"
         "y = iota f32[4] @7\n"
         "return y",
         "module jit_tanh\n"
         "x: f32[4]\n"
         "y = iota f32[5] @7\n"
         "return y",
         "size iota: 4 -> 5 @7<99 (an operation outside jit is a program of its own; f32[4] -> "
         "f32[5])",
         "size iota: 5 -> 4 @7<99 (an operation outside jit is a program of its own; f32[5] -> "
         "f32[4])"},
        {"module jit_tanh\n"
         "x: f32[4]\n"
         "y = tanh f32[4] x @7\n"
         "return y",
         "module jit_tanh\n"
         "x: f32[4]\n"
         "y = sine f32[4] x @7\n"
         "return y",
         "structure sine: tanh -> sine @7<99 (an operation outside jit is a program of its own)",
         "structure tanh: sine -> tanh @7<99 (an operation outside jit is a program of its own)"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shardings_are_told_as_jax_writes_them),
        cmocka_unit_test(trees_of_arguments_are_counted_by_their_names),
        cmocka_unit_test(names_of_functions_agree_whole),
        cmocka_unit_test(operations_outside_jit_have_a_note),
    };
    return cmocka_run_group_tests_name("explain_names", tests, NULL, NULL);
}
