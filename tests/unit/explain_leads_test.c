// What the recorded calls decide of what differs inside: static arguments, host values, settings.
#define _GNU_SOURCE
#include "explain_small.h"

static const char times_two[] = "x: f32[4]\n"
                                "c = constant f32[] 2\n"
                                "b = broadcast_in_dim f32[4] c @8\n"
                                "y = multiply f32[4] x b @8\n"
                                "return y";
static const char times_three[] = "x: f32[4]\n"
                                  "c = constant f32[] 3\n"
                                  "b = broadcast_in_dim f32[4] c @8\n"
                                  "y = multiply f32[4] x b @8\n"
                                  "return y";

static void check_calls(const char *before, const char *old_call, const char *after,
                        const char *new_call, const char *roots) {
    static small_sides_t sides;
    small_sides(before, after, &sides);
    sides.before.call = old_call;
    sides.after.call = new_call;
    const char *got = roots_of(&sides.before, &sides.after, false);
    if (strcmp(got, roots) != 0) fail_msg("expected:\n%s\ngot:\n%s", roots, got);
    small_release(&sides);
}

static void a_number_has_the_name_that_the_call_has_for_it(void **state) {
    (void)state;
    check_calls(times_two, "s rate\t2.0\nl x\tf32[4]\n", times_three, "s rate\t3.0\nl x\tf32[4]\n",
                "constant rate: 2.0 -> 3.0 @8<99 (a static argument; multiply: 2 -> 3)");
    check_calls(times_two, "l x\tf32[4]\nv SCALE\t2.0\n", times_three,
                "l x\tf32[4]\nv SCALE\t3.0\n",
                "constant SCALE: 2.0 -> 3.0 @8<99 (a host value that the function reads; "
                "multiply: 2 -> 3)");
}

static void a_number_computed_from_a_static_argument_follows_from_it(void **state) {
    (void)state;
    check_calls(times_two, "s step\t7\n", times_three, "s step\t8\n",
                "constant step: 7 -> 8 @8<99 (a static argument; multiply: 2 -> 3)");
}

// The function itself may count its traces.
static void a_host_value_that_grows_by_one_is_not_blamed_for_another_number(void **state) {
    (void)state;
    check_calls(times_two, "v traces\t7\n", times_three, "v traces\t8\n",
                "constant multiply: 2 -> 3 @8<99");
}

static void of_several_columns_that_changed_the_one_with_the_number_leads(void **state) {
    (void)state;
    check_calls(times_two, "s name\t'a'\ns rate\t2.0\n", times_three, "s name\t'b'\ns rate\t3.0\n",
                "constant rate: 2.0 -> 3.0 @8<99 (a static argument; multiply: 2 -> 3)");
}

static void a_call_that_is_unknown_decides_nothing(void **state) {
    (void)state;
    check_calls(times_two, "", times_three, "s rate\t3.0\n", "constant multiply: 2 -> 3 @8<99");
    check_calls(times_two, NULL, times_three, NULL, "constant multiply: 2 -> 3 @8<99");
}

static void settings_of_the_client_that_may_be_equal_decide_nothing(void **state) {
    (void)state;
    check_calls(times_two, "c axes\tAxes ~0x70\n", times_three, "c axes\tAxes ~0x78\n",
                "constant multiply: 2 -> 3 @8<99");
    check_calls(times_two, "c jax_x\tTrue\n", times_three, "c jax_x\tFalse\n",
                "option jax_x: True -> False @8<99 (a setting of JAX; multiply: 2 -> 3)");
}

static void numbers_beside_an_argument_of_another_shape_follow_from_it(void **state) {
    (void)state;
    static const char four[] = "x: f32[4] w: f32[]\n"
                               "s = reduce f32[] x @7\n"
                               "c = constant f32[] 9.25\n"
                               "y = add f32[] s c @8\n"
                               "return y";
    static const char seven[] = "x: f32[7] w: f32[]\n"
                                "s = reduce f32[] x @7\n"
                                "c = constant f32[] 1.5\n"
                                "y = add f32[] s c @8\n"
                                "return y";
    check_calls(four, "l x\tf32[4]\nv \tread\n", seven, "l x\tf32[7]\nv \tread\n",
                "shape x: f32[4] -> f32[7] @99 +1");
    // Host values were not looked for: one of them may have decided it.
    check_calls(four, "l x\tf32[4]\n", seven, "l x\tf32[7]\n",
                "shape x: f32[4] -> f32[7] @99\nconstant add: 9.25 -> 1.5 @8<99");
    // One did.
    check_calls(
        four, "l x\tf32[4]\nv \tread\nv bias\t9.25\n", seven,
        "l x\tf32[7]\nv \tread\nv bias\t1.5\n",
        "shape x: f32[4] -> f32[7] @99\nconstant bias: 9.25 -> 1.5 @8<99 (a host value that "
        "the function reads; add: 9.25 -> 1.5)");
}

// What a library computes for a matrix instead of a vector.
static void operations_of_another_type_of_argument_follow_from_it(void **state) {
    (void)state;
    static const char vector[] = "x: f32[4] w: f32[4]\n"
                                 "y = multiply f32[4] w w @8\n"
                                 "return y";
    static const char matrix[] = "x: f32[4,4] w: f32[4]\n"
                                 "c = cholesky f32[4,4] x @7\n"
                                 "y = dot f32[4] c w @8\n"
                                 "return y";
    check_calls(vector, "l x\tf32[4]\nv \tread\n", matrix, "l x\tf32[4,4]\nv \tread\n",
                "shape x: f32[4] -> f32[4,4] @99 +1");
    // Another function, or a host value, may have decided it.
    check_calls(vector, "f \tany function 0x70\nl x\tf32[4]\nv \tread\n", matrix,
                "f \tany function 0x78\nl x\tf32[4,4]\nv \tread\n",
                "shape x: f32[4] -> f32[4,4] @99\n"
                "structure cholesky: multiply -> cholesky, dot @7<99");
    check_calls(vector, "l x\tf32[4]\nv \tread\nv kind\t'a'\n", matrix,
                "l x\tf32[4,4]\nv \tread\nv kind\t'b'\n",
                "shape x: f32[4] -> f32[4,4] @99\n"
                "structure cholesky: multiply -> cholesky, dot @7<99");
}

static void all_python_numbers_that_became_arrays_are_named(void **state) {
    (void)state;
    check_calls("total: f32[] count: i32[]\nreturn total",
                "l total\tf32[] weak\nl count\ti32[] weak\nl unused\tf32[2]\n",
                "total: f32[] count: i32[]\nc = convert f32[] count @8\nreturn c",
                "l total\tf32[]\nl count\ti32[]\nl unused\tf32[2]\n",
                "weak_type total: weak f32[] -> f32[] @99 +1\n"
                "weak_type count: weak i32[] -> i32[] @99");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_has_the_name_that_the_call_has_for_it),
        cmocka_unit_test(a_number_computed_from_a_static_argument_follows_from_it),
        cmocka_unit_test(a_host_value_that_grows_by_one_is_not_blamed_for_another_number),
        cmocka_unit_test(of_several_columns_that_changed_the_one_with_the_number_leads),
        cmocka_unit_test(a_call_that_is_unknown_decides_nothing),
        cmocka_unit_test(settings_of_the_client_that_may_be_equal_decide_nothing),
        cmocka_unit_test(numbers_beside_an_argument_of_another_shape_follow_from_it),
        cmocka_unit_test(operations_of_another_type_of_argument_follow_from_it),
        cmocka_unit_test(all_python_numbers_that_became_arrays_are_named),
    };
    return cmocka_run_group_tests_name("explain leads", tests, NULL, NULL);
}
