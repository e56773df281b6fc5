// The named scopes around what differs, of the names that clients give operations.
#define _GNU_SOURCE
#include "explain_small.h"

static void check_scope(const char *format, const char *name, const char *wanted) {
    char before[256], after[256];
    keel_explanation_t e;
    small_sides_t sides;
    snprintf(before, sizeof before, "%sx: f32[4]\ny = tanh f32[4] x @7\nreturn y", format);
    snprintf(after, sizeof after,
             "%sx: f32[4]\ny = tanh f32[4] x @7\nz = negate f32[4] y @%s|8\nreturn z", format,
             name);
    small_sides(before, after, &sides);
    keel_explanation_initialize(&e);
    assert_ok(keel_explain(&sides.before, &sides.after, &e));
    assert_true(e.root_count > 0);
    if (strcmp(e.roots[0].place.scope, wanted) != 0)
        fail_msg("%s is in scope \"%s\", not \"%s\"", name, e.roots[0].place.scope, wanted);
    keel_explanation_deinitialize(&e);
    small_release(&sides);
}

static void jax_puts_its_own_names_between_those_of_the_user(void **state) {
    (void)state;
    check_scope("", "jit(step)/neg", "");
    check_scope("", "jit(step)/model/block_3/neg", "model/block_3");
    check_scope("", "jit(step)/jit(main)/transpose(jvp(Net))/layers_0/neg", "Net/layers_0");
    check_scope("", "jit(step)/jvp()/neg", "");
    check_scope("", "jit(step)/vmap(jit(relu))/neg", "");
    check_scope("", "jit(step)/while/body/closed_call/cell/neg", "cell");
    check_scope("", "jit(step)/cond/branch_1_fun/checkpoint/rematted_computation/head/neg", "head");
    check_scope("", "jit(step)/attention/bqd,bkd->bqk/neg", "attention");
}

static void names_of_hlo_have_the_scopes_alone(void **state) {
    (void)state;
    check_scope("hlo\n", "negate", "");
    check_scope("hlo\n", "model/block/negate", "model/block");
    check_scope("hlo\n", "aten__neg.1/aten__neg", "");
    check_scope("hlo\n", "encoder/aten__neg.1/aten__neg", "encoder");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jax_puts_its_own_names_between_those_of_the_user),
        cmocka_unit_test(names_of_hlo_have_the_scopes_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
