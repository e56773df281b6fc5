// Small programs that differ in several ways at once, at the limits of rules: what is a cause of
// its own and what follows from another.
#define _GNU_SOURCE
#include "explain_small.h"

#include "explain/sizes.h"

static void lines_that_ran_more_or_less_often(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[3] y: f32[3] s: f32[]\n"
         "b = tanh f32[3] y @7\n"
         "c = sine f32[3] x @8\n"
         "d = sine f32[3] b @8\n"
         "return c d",
         "x: f32[4] y: f32[4]\n"
         "b = tanh f32[4] y @7\n"
         "d = sine f32[4] b @8\n"
         "c = sine f32[4] x @8\n"
         "cq = sine f32[4] x @8\n"
         "return c d",
         "shape x: f32[3] -> f32[4] @99 +4 (and 1 more argument)\n"
         "arguments s: f32[] -> absent @99 (it is None or left out in one of the two calls)\n"
         "structure sine: 2 times -> 3 times @8<99 (sine)",
         NULL},
        {"x: f32[4] y: f32[4] s: f32[]\n"
         "a = tanh f32[4] x @7\n"
         "aq = tanh f32[4] x @7\n"
         "b = tanh f32[4] y @7\n"
         "c = sine f32[4] a @8\n"
         "d = sine f32[4] b @8\n"
         "return c d",
         "x: f32[4] y: f32[4]\n"
         "b = tanh f32[4] y @7\n"
         "bq = tanh f32[4] y @7\n"
         "a = tanh f32[4] x @7\n"
         "d = sine f32[4] b @8\n"
         "c = sine f32[4] a @8\n"
         "return c d",
         "arguments s: f32[] -> absent @99 (it is None or left out in one of the two calls)\n"
         "structure tanh: x -> y @7<99",
         NULL},
        {"x: f32[4] y: f32[4] s: f32[]\n"
         "a = tanh f32[4] x @7\n"
         "aq = tanh f32[4] x @7\n"
         "b = tanh f32[4] y @7\n"
         "c = sine f32[4] a @8\n"
         "d = sine f32[4] b @8\n"
         "return c d",
         "x: f32[4] y: f32[4]\n"
         "b = tanh f32[4] y @7\n"
         "a = tanh f32[4] x @7\n"
         "d = sine f32[4] b @8\n"
         "c = sine f32[4] a @8\n"
         "return c d",
         "arguments s: f32[] -> absent @99 (it is None or left out in one of the two calls)\n"
         "structure tanh: tanh and 1 more -> tanh @7<99",
         NULL});
}

static void what_another_dtype_brings_along(void **state) {
    (void)state;
    CHECK_PAIRS({"hlo\n"
                 "x: f32[4] @5 w: f32[4] @5\n"
                 "a = multiply f32[4] x x @7\n"
                 "az = sine f32[4] a @12\n"
                 "b = multiply f32[4] w w @8\n"
                 "return az b",
                 "hlo\n"
                 "x: f32[4] @5 w: f32[4] @5\n"
                 "c = convert bf16[4] x @7\n"
                 "d = multiply bf16[4] c c @7\n"
                 "a = convert f32[4] d @7\n"
                 "az = sine f32[4] a @8\n"
                 "e = convert bf16[4] w @8\n"
                 "f = multiply bf16[4] e e @8\n"
                 "b = convert f32[4] f @8\n"
                 "return az b",
                 "structure convert: nothing -> convert and 1 more @7<5 +3", NULL},
                {"x: f64[4] k: f64[]\n"
                 "c = convert f64[] k @8\n"
                 "b = broadcast_in_dim f64[4] c @8\n"
                 "y = multiply f64[4] x b @8\n"
                 "return y",
                 "x: f32[2] k: f32[]\n"
                 "b = broadcast_in_dim f32[2] k @8\n"
                 "y = multiply f32[2] x b @8\n"
                 "return y",
                 "shape x: f64[4] -> f32[2] @99\n"
                 "dtype x: f64[4] -> f32[2] @99 +4 (and 1 more argument)",
                 NULL},
                {"hlo\n"
                 "module SyncTensorsGraph {input_output_alias={entries=[{parameter_number=0}]}}\n"
                 "v: f32[3] @4 w: f32[3] @5\n"
                 "y = add f32[3] v w @7\n"
                 "z = tanh f32[3] w @8\n"
                 "return y z",
                 "hlo\n"
                 "v: i8[3] @4 w: i8[3] @5\n"
                 "z = tanh i8[3] w @8\n"
                 "return z",
                 "dtype argument 0: f32[3] -> i8[3] @4<99 +2 (and 1 more argument)\n"
                 "structure add: add -> nothing @7<4 +1",
                 NULL},
                {"x: f16[4] y: f16[4]\n"
                 "a = tanh f16[4] x @7\n"
                 "o p = optimization_barrier f16[4] f16[4] x y @8\n"
                 "b = sine f16[4] o @9\n"
                 "return b p @9",
                 "x: f32[4] y: f32[4]\n"
                 "a = tanh f32[4] x @7\n"
                 "o = optimization_barrier f32[4] x @8\n"
                 "b = sine f32[4] o @9\n"
                 "c = cosine f32[4] b @9\n"
                 "return c y",
                 "dtype x: f16[4] -> f32[4] @99 +2 (and 1 more argument)\n"
                 "structure cosine: nothing -> cosine @9<99 +2 (only one of the two uses "
                 "jax.checkpoint (remat), or their policies differ)",
                 NULL});
}

static void what_pytorchs_steps_do_otherwise(void **state) {
    (void)state;
    CHECK_PAIRS({"hlo\n"
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
                 "nz = negate f32[4] n @8\n"
                 "h = multiply f32[3] u v @8\n"
                 "return n h",
                 "structure optimizer: updates 2 tensors -> updates 1 tensor @20<5 (the optimizer "
                 "skips tensors that have no gradient: frozen, or not used)\n"
                 "structure negate: nothing -> negate @8<5 +1",
                 NULL},
                {"hlo\n"
                 "w: f32[4] @5 x: f32[4] @6\n"
                 "g = multiply f32[4] x w @8\n"
                 "return g",
                 "hlo\n"
                 "w: f32[4] @5 x: f32[4] @6 a: f32[4] @18\n"
                 "g = multiply f32[4] x w @8\n"
                 "s = add f32[4] a g\n"
                 "return s",
                 "gradient argument 2: create -> accumulate @8<5 +1", NULL});
}

static void arguments_of_lists(void **state) {
    (void)state;
    CHECK_PAIRS({"p['l'][0]['w']: f32[2] m['l'][0]['w']: f32[2]\n"
                 "return p['l'][0]['w']",
                 "p['l'][0]['w']: f32[2] p['l'][1]['w']: f32[1] p['l'][1]['b']: f32[] "
                 "m['l'][0]['w']: f32[2] m['l'][1]['w']: f32[2]\n"
                 "return p['l'][0]['w']",
                 "arguments p['l'][1]['w']: absent -> f32[1] +2 (and 2 more arguments)", NULL});
}

static void what_comes_and_goes_with_a_size(void **state) {
    (void)state;
    CHECK_PAIRS(
        {"x: f32[4]\n"
         "c = constant f32[] 2 @7\n"
         "return x c @12",
         "x: f32[6]\n"
         "c = constant f32[] 3 @7\n"
         "return x c @12",
         "shape x: f32[4] -> f32[6] @99\n"
         "constant return: 2 -> 3 @12<99",
         NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x {groups=[1,2]} @8\n"
         "return y",
         "x: f32[5]\n"
         "y = custom_call f32[4] x {groups=[1,2,3]} @8\n"
         "return y",
         "shape x: f32[4] -> f32[5] @99\n"
         "constant custom_call groups: [1, 2] -> [1, 2, 3] @8<99",
         NULL},
        {"x: f32[8]\n"
         "y = slice f32[4] x {start_indices=[0] limit_indices=[8] strides=[2]} @8\n"
         "z = tanh f32[4] y @9\n"
         "return z @8~helper",
         "x: f32[4]\n"
         "z = tanh f32[4] x @9\n"
         "return z @8~helper",
         "shape x: f32[8] -> f32[4] @99\n"
         "structure slice: slice -> nothing @8<99",
         NULL},
        {"x: f32[6,4]\n"
         "y = broadcast_in_dim f32[6,4,2] x @8\n"
         "yz = negate f32[6,4,2] y\n"
         "z = tanh f32[6,4,2] yz @9\n"
         "return z",
         "x: f32[1,4]\n"
         "y = broadcast_in_dim f32[1,4,2] x @8\n"
         "z = tanh f32[1,4,2] y @9\n"
         "return z",
         "shape x: f32[6,4] -> f32[1,4] @99 +2\n"
         "structure negate: negate -> nothing @99",
         NULL},
        {"x: f32[4]\n"
         "y = custom_call f32[4] x "
         "{groups=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]} @8\n"
         "return y",
         "x: f32[9]\n"
         "y = custom_call f32[9] x "
         "{groups=[1,2,3,9,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,22]} @8\n"
         "return y",
         "shape x: f32[4] -> f32[9] @99\n"
         "constant custom_call groups: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, "
         "18, 19, 20, 21] -> [1, 2, 3, 9, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, "
         "20, 22] @8<99 +1",
         NULL});
}

static void edits(void **state) {
    (void)state;
    CHECK_PAIRS({"| y = x * 2\n"
                 "| return y @8\n"
                 "x: f32[4]\n"
                 "c = constant f32[] 2\n"
                 "b = broadcast_in_dim f32[4] c @1\n"
                 "y = multiply f32[4] x b @12\n"
                 "return y",
                 "| y = x * 3\n"
                 "| return y @8\n"
                 "x: f32[4]\n"
                 "c = constant f32[] 3\n"
                 "b = broadcast_in_dim f32[4] c @1\n"
                 "y = multiply f32[4] x b @12\n"
                 "return y",
                 "edit step: y = x * 2 -> y = x * 3 @1<99 +1 (line 1 of train.py changed)", NULL});
}

static void loops(void **state) {
    (void)state;
    CHECK_PAIRS({"x: f32[3]\n"
                 "z = constant i32[] 0\n"
                 "s = constant f32[] 0\n"
                 "a b = while i32[] f32[] z s @8 { i: i32[] v: f32[]\n"
                 "m = constant i32[] 3\n"
                 "p = compare i1[] i m {comparison_direction=LT} @8\n"
                 "pq = compare i1[] i m {comparison_direction=LT} @8\n"
                 "return p } { i: i32[] v: f32[]\n"
                 "w = tanh f32[] v @9\n"
                 "o = constant i32[] 1\n"
                 "j = add i32[] i o @8\n"
                 "return j w }\n"
                 "return b x @9",
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
                 "return b x @9",
                 "shape x: f32[3] -> f32[5] @99 +1\n"
                 "structure compare: 2 times -> 1 time @8<99 (compare)",
                 NULL});
}

// Each argument drifts in four dimensions.
static void write_drifted(int64_t more, const char *operations, keel_buffer_t *out) {
    keel_buffer_text(out, "s: f32[] ");
    for (int i = 0; i < KEEL_SIZES_KEPT / 4; ++i) {
        keel_buffer_format(out, "x%d: f32[", i);
        for (int dim = 0; dim < 4; ++dim)
            keel_buffer_format(out, "%s%d", dim ? "," : "",
                               7 + 1000 * dim + (3 + dim) * i + (int)more * (i + 31 * dim + 1));
        keel_buffer_text(out, "] ");
    }
    keel_buffer_format(out, "\n%s", operations);
}

static void an_operation_does_not_follow_from_as_many_sizes_as_are_kept(void **state) {
    (void)state;
    static small_sides_t sides;
    keel_buffer_t before, after;
    keel_buffer_initialize(&before, 0);
    keel_buffer_initialize(&after, 0);
    write_drifted(0, "a = sine f32[] s @8\nreturn a", &before);
    write_drifted(1, "a = sine f32[] s @8\nb = tanh f32[] a @9\nreturn b", &after);
    small_sides(keel_buffer_cstr(&before), keel_buffer_cstr(&after), &sides);
    const char *roots = roots_of(&sides.before, &sides.after, false);
    assert_non_null(strstr(roots, "shape x15: f32["));
    assert_non_null(strstr(roots, "structure tanh: nothing -> tanh @9<99"));
    small_release(&sides);
    keel_buffer_deinitialize(&before);
    keel_buffer_deinitialize(&after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_ran_more_or_less_often),
        cmocka_unit_test(what_another_dtype_brings_along),
        cmocka_unit_test(what_pytorchs_steps_do_otherwise),
        cmocka_unit_test(arguments_of_lists),
        cmocka_unit_test(what_comes_and_goes_with_a_size),
        cmocka_unit_test(edits),
        cmocka_unit_test(loops),
        cmocka_unit_test(an_operation_does_not_follow_from_as_many_sizes_as_are_kept),
    };
    return cmocka_run_group_tests_name("explain limits", tests, NULL, NULL);
}
