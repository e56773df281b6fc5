// Which lines of a source are in different arms of one `if`, and which differences are therefore
// one cause.
#define _GNU_SOURCE
#include "explain/arms.h"

#include "explain_help.h"

static uint32_t fork_of(const char *source, uint32_t line, uint32_t other) {
    keel_arena_t arena;
    keel_arms_t arms;
    keel_arena_initialize(&arena, 0);
    assert_ok(keel_arms_read(&arms, keel_str(source), &arena));
    uint32_t fork = keel_arms_fork(&arms, line, other);
    assert_int_equal(keel_arms_fork(&arms, other, line), fork);
    keel_arms_deinitialize(&arms);
    keel_arena_deinitialize(&arena);
    return fork;
}

static void lines_of_two_arms_have_a_fork(void **state) {
    (void)state;
    static const char source[] = "def f(x, kind):\n" // 1
                                 "    if kind == 0:\n"
                                 "        y = x + 1\n" // 3
                                 "        # a word\n"
                                 "        for _ in range(3):\n"
                                 "            y = y * x\n" // 6
                                 "\n"
                                 "    elif kind == 1:\n"
                                 "        y = g(x,\n"
                                 "              2)\n" // 10
                                 "    else:\n"
                                 "        y = x\n" // 12
                                 "    return y\n";
    assert_int_equal(fork_of(source, 3, 12), 2);
    assert_int_equal(fork_of(source, 6, 10), 2);
    assert_int_equal(fork_of(source, 10, 12), 2);
    assert_int_equal(fork_of(source, 3, 6), 0);
    assert_int_equal(fork_of(source, 3, 13), 0);
    assert_int_equal(fork_of(source, 1, 12), 0);
    assert_int_equal(fork_of(source, 0, 99), 0);
}

static void what_stands_behind_an_arm_that_returns_is_the_other_arm(void **state) {
    (void)state;
    static const char source[] = "def f(x):\n" // 1
                                 "    if x.tied:\n"
                                 "        y = x.T\n" // 3
                                 "        return y\n"
                                 "    y = x + 1\n" // 5
                                 "    if y:\n"
                                 "        y = 2\n" // 7
                                 "    return y\n";
    assert_int_equal(fork_of(source, 3, 5), 2);
    assert_int_equal(fork_of(source, 3, 7), 2);
    assert_int_equal(fork_of(source, 5, 8), 0);
    assert_int_equal(fork_of(source, 7, 8), 0);
    assert_int_equal(fork_of(source, 1, 5), 0);
    assert_int_equal(fork_of(source, 2, 3), 0); // the question is asked in either case
    assert_int_equal(fork_of(source, 2, 5), 0);
}

static void the_else_of_a_loop_is_no_arm(void **state) {
    (void)state;
    static const char source[] = "for a in b:\n"
                                 "    c = 1\n" // 2
                                 "else:\n"
                                 "    c = 2\n" // 4
                                 "if a:\n"
                                 "    c = 3\n" // 6
                                 "if b:\n"
                                 "    c = 4\n"; // 8
    assert_int_equal(fork_of(source, 2, 4), 0);
    assert_int_equal(fork_of(source, 6, 8), 0);
    assert_int_equal(fork_of("", 1, 1), 0);
    assert_int_equal(fork_of("\n  \n\t\n", 1, 3), 0);
}

static void cases_and_handlers_are_arms(void **state) {
    (void)state;
    static const char source[] = "match kind:\n"
                                 "    case 0:\n"
                                 "        y = 1\n" // 3
                                 "    case _:\n"
                                 "        y = 2\n" // 5
                                 "try:\n"
                                 "    y = 3\n" // 7
                                 "except A:\n"
                                 "    y = 4\n" // 9
                                 "except B:\n"
                                 "    y = 5\n" // 11
                                 "finally:\n"
                                 "    y = 6\n"; // 13
    assert_int_equal(fork_of(source, 3, 5), 1);
    assert_int_equal(fork_of(source, 7, 9), 6);
    assert_int_equal(fork_of(source, 9, 11), 6);
    assert_int_equal(fork_of(source, 5, 7), 0);
    assert_int_equal(fork_of(source, 9, 13), 0);
}

// Whatever stands at the margin.
static void texts_and_brackets_end_no_arm(void **state) {
    (void)state;
    static const char source[] = "def f(x):\n"
                                 "    if x:\n"
                                 "        y = 1\n" // 3
                                 "        _ = '''\n"
                                 "return\n"
                                 "'''\n"
                                 "        y = 2\n" // 7
                                 "    else:\n"
                                 "        y = (\n"
                                 "3)\n" // 10
                                 "        y = 4\n"
                                 "    y = 5\n"; // 12
    assert_int_equal(fork_of(source, 7, 11), 2);
    assert_int_equal(fork_of(source, 3, 10), 2);
    assert_int_equal(fork_of(source, 3, 7), 0);
    assert_int_equal(fork_of(source, 7, 12), 0);
}

// An arm that goes on comes to what stands behind, as that of `b` does.
static void only_arms_that_leave_miss_what_stands_behind(void **state) {
    (void)state;
    static const char source[] = "def f(x):\n"
                                 "    if a:\n"
                                 "        y = 1\n" // 3
                                 "        if c: return y\n"
                                 "        else: raise y\n"
                                 "    elif b:\n"
                                 "        y = 2\n" // 7
                                 "    y = 3\n";    // 8
    assert_int_equal(fork_of(source, 3, 8), 2);
    assert_int_equal(fork_of(source, 7, 8), 0);
    assert_int_equal(fork_of(source, 3, 7), 2);
}

static void the_else_of_an_expression_is_no_arm(void **state) {
    (void)state;
    static const char source[] = "y = g(a if c\n"
                                 "      else h(\n"
                                 "          p),\n" // 3
                                 "        b if d\n"
                                 "      else h(\n"
                                 "          q))\n"; // 6
    assert_int_equal(fork_of(source, 3, 6), 0);
}

// ---- causes ------------------------------------------------------------------------------------

static keel_status_t read_source(void *context, const char *file, keel_str_t *out) {
    (void)file;
    *out = keel_str(context);
    return NULL;
}

static void explain_pair(const char *name, const char *source, const char *old_source,
                         keel_explanation_t *out) {
    loaded_t before, after;
    const keel_sources_t is = {.read = read_source, .context = (void *)source};
    const keel_sources_t was = {.read = read_source, .context = (void *)old_source};
    load_pair(name, &before, &after);
    keel_explanation_initialize(out);
    assert_ok(keel_explain(
        &(keel_side_t){.program = &before.program, .sources = old_source ? &was : NULL},
        &(keel_side_t){.program = &after.program, .sources = source ? &is : NULL}, out));
    check_explanation(out);
    unload(&before);
    unload(&after);
}

static const char two_arms[] = "\n\n\n\n\n\n\n"
                               "def step(w, x, is_dense):\n"
                               "    if is_dense:\n"
                               "        #\n"
                               "        table = jnp.tanh(x.T @ x) + jnp.eye(3)\n"
                               "        product = lambda v: jnp.matmul(table, v)\n"
                               "    else:\n"
                               "        product = lambda v: x.T @ (x @ v)\n";

static void what_is_exchanged_between_two_arms_is_one_cause(void **state) {
    (void)state;
    keel_explanation_t e;
    explain_pair("product_of_another_line", NULL, NULL, &e);
    assert_int_equal(e.root_total, 2); // where nothing is known of the source
    keel_explanation_deinitialize(&e);
    explain_pair("product_of_another_line", two_arms, NULL, &e);
    assert_int_equal(e.root_total, 1);
    assert_int_equal(e.roots->kind, KEEL_CAUSE_STRUCTURE);
    assert_string_equal(e.roots->old_value, "transpose, dot_general");
    assert_string_equal(e.roots->new_value, "transpose, dot_general, tanh and 6 more");
    assert_int_equal(e.roots->place.line, 11);
    keel_explanation_deinitialize(&e);
}

static void sizes_of_two_arms_follow_from_the_branch(void **state) {
    (void)state;
    static const char source[] = "\n\n\n\n\n\n\n\n"
                                 "def step(x, is_sharp):\n"
                                 "    if is_sharp:\n"
                                 "        y = jnp.tanh(x[:4])\n"
                                 "    else:\n"
                                 "        y = x[:2]\n"
                                 "    return (y + 1).sum()\n";
    keel_explanation_t e;
    explain_pair("sizes_of_two_arms", source, source, &e);
    assert_int_equal(e.root_total, 1);
    assert_int_equal(e.roots->kind, KEEL_CAUSE_STRUCTURE);
    keel_explanation_deinitialize(&e);
    // If nothing is known of the source, they are reported beside it.
    explain_pair("sizes_of_two_arms", NULL, NULL, &e);
    assert_int_equal(e.root_total, 2);
    keel_explanation_deinitialize(&e);
}

static void two_flags_are_two_causes(void **state) {
    (void)state;
    keel_explanation_t e;
    explain_pair("flags_of_their_own",
                 "\n\n\n\n\n\n\n\n"
                 "def step(x, is_centred, is_bounded):\n"
                 "    if is_centred:\n"
                 "        x = x - x.mean(0)\n"
                 "    x = jax.lax.cumsum(x)\n"
                 "    if is_bounded:\n"
                 "        x = jnp.tanh(x)\n",
                 NULL, &e);
    assert_int_equal(e.root_total, 2);
    keel_explanation_deinitialize(&e);
}

// A function that both arms call, and what only one of them has.
static void what_two_arms_call_follows_from_the_branch(void **state) {
    (void)state;
    static const char source[] = "\n\n\n\n\n\n\n"
                                 "def loss(w, x, y):\n"
                                 "    out = jnp.tanh(x @ w)\n"
                                 "    return jnp.mean((out - y) ** 2)\n"
                                 "\n\n\n"
                                 "def step(w, x, y, each=False):\n"
                                 "    if each:\n"
                                 "        rows = jax.vmap(jax.grad(loss))(w, x, y)\n"
                                 "        size = jax.vmap(lambda g: jnp.sum(g))\n"
                                 "        return size(rows)\n"
                                 "    return jnp.sum(jax.grad(loss)(w, x, y))\n";
    keel_explanation_t e;
    explain_pair("gradient_of_each_row", source, NULL, &e);
    assert_int_equal(e.root_total, 1);
    assert_int_equal(e.roots->kind, KEEL_CAUSE_STRUCTURE);
    assert_int_equal(e.roots->place.line, 16);
    keel_explanation_deinitialize(&e);
    // No branch, so each line may differ for a reason of its own.
    char straight[sizeof source];
    memcpy(straight, source, sizeof source);
    memcpy(strstr(straight, "if each"), "with ea", 7);
    explain_pair("gradient_of_each_row", straight, NULL, &e);
    assert_true(e.root_total > 2);
    keel_explanation_deinitialize(&e);
}

// What the other program has of the arm may stand in a function that the arm calls.
static void lines_of_an_arm_that_both_took_are_causes_of_their_own(void **state) {
    (void)state;
    static const char source[] = "\n\n\n\n\n\n\n"
                                 "def mixed(x, w):\n"
                                 "    return jnp.sin(x @ w) + x\n"
                                 "\n\n\n"
                                 "def step(x, w, is_warped, is_bounded, is_training):\n"
                                 "    if is_training:\n"
                                 "        warped = jnp.expm1(x) if is_warped else x\n"
                                 "        x = mixed(warped, w)\n"
                                 "        x = jnp.tanh(x) if is_bounded else x\n"
                                 "    return mixed(x, w)\n";
    keel_explanation_t e;
    explain_pair("two_flags_in_one_arm", source, NULL, &e);
    assert_int_equal(e.root_total, 2);
    keel_explanation_deinitialize(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_two_arms_have_a_fork),
        cmocka_unit_test(what_stands_behind_an_arm_that_returns_is_the_other_arm),
        cmocka_unit_test(the_else_of_a_loop_is_no_arm),
        cmocka_unit_test(cases_and_handlers_are_arms),
        cmocka_unit_test(texts_and_brackets_end_no_arm),
        cmocka_unit_test(only_arms_that_leave_miss_what_stands_behind),
        cmocka_unit_test(the_else_of_an_expression_is_no_arm),
        cmocka_unit_test(what_is_exchanged_between_two_arms_is_one_cause),
        cmocka_unit_test(sizes_of_two_arms_follow_from_the_branch),
        cmocka_unit_test(what_two_arms_call_follows_from_the_branch),
        cmocka_unit_test(lines_of_an_arm_that_both_took_are_causes_of_their_own),
        cmocka_unit_test(two_flags_are_two_causes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
