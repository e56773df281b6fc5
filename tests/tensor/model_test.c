// Trees and optimizers as a C program uses them, and every way to misuse them. Their numbers are
// held against formulas in against_formulas.py.
#define _GNU_SOURCE
#include "model_help.h"

// ---- trees -------------------------------------------------------------------------------------

static void names_have_parts(void **state) {
    (void)state;
    keel_tree_t *tree = new_tree();
    for (int layer = 0; layer < 3; ++layer) {
        keel_tree_enter(tree, "L%02d", layer);
        keel_tree_enter(tree, "A");
        keel_tree_add(tree, "wqkv", KEEL_F32, KEEL_SHAPE(4, 6), KEEL_UNIFORM(1));
        keel_tree_leave(tree);
        keel_tree_add(tree, "norm", KEEL_F32, KEEL_SHAPE(4), KEEL_FILL(1));
        keel_tree_leave(tree);
    }
    keel_tree_state(tree, "overflow", KEEL_I32, KEEL_SHAPE(2), KEEL_FILL(0));
    assert_int_equal(keel_tree_count(tree), 7);
    assert_string_equal(keel_tree_leaf(tree, 2).name, "L01.A.wqkv");
    assert_true(keel_tree_leaf(tree, 6).is_state);
    assert_null(keel_tree_leaf(tree, 7).name);
    assert_int_equal(keel_tree_elements(tree, NULL, NULL), 3 * 28 + 2);
    assert_int_equal(keel_tree_elements(tree, keel_is_parameter, NULL), 3 * 28);
    assert_int_equal(keel_tree_elements(tree, keel_is_matrix, NULL), 3 * 24);
    assert_int_equal(keel_tree_elements(tree, keel_is_named, "L01.*"), 28);
    keel_tensor_t some[2];
    assert_int_equal(keel_tree_select(tree, keel_is_named, "*.norm", some, 2), 3);
    assert_int_equal(some[1].id, keel_tree_get(tree, "L01.norm").id);
    keel_tree_enter(tree, "L02.A");
    assert_int_equal(keel_tree_get(tree, "wqkv").id, keel_tree_leaf(tree, 4).tensor.id);
    keel_tree_leave(tree);
    keel_tree_free(tree);
    assert_null(keel_context_error(keel));
}

static void patterns_match_names(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *name;
        int is_match;
    } cases[] = {
        {"a", "a", 1},          {"a", "b", 0},
        {"*", "a.b", 1},        {"a*", "a", 1},
        {"*.tab", "L0.tab", 1}, {"*.tab", "L0.tab.m", 0},
        {"*a*b*", "xaxxb", 1},  {"*a*b*", "xbxxa", 0},
        {"a*ab", "aab", 1},     {"a*ab", "aaab", 1},
        {"a*ab", "ab", 0},      {"", "a", 0},
        {"**", "a", 1},         {"L*.A.*", "L04.A.wo", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const keel_leaf_t leaf = {.name = cases[i].name};
        if (keel_is_named(&leaf, cases[i].pattern) != cases[i].is_match)
            fail_msg("%s %s", cases[i].pattern, cases[i].name);
    }
}

static void wrong_names_are_refused(void **state) {
    (void)state;
    char longest[300];
    keel_tree_t *tree = new_tree();
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    keel_tree_add(tree, "w", KEEL_F32, KEEL_SHAPE(2), KEEL_FILL(0));
    const char *const bad[] = {"", "a b", "a*", "\xc3\xa9", "a\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        assert_true(
            keel_is_empty(keel_tree_add(tree, bad[i], KEEL_F32, KEEL_SHAPE(2), KEEL_FILL(0))));
        expect_error("model_test.c", "is not a name");
    }
    keel_tree_add(tree, NULL, KEEL_F32, KEEL_SHAPE(2), KEEL_FILL(0));
    expect_error("is not a name");
    keel_tree_add(tree, longest, KEEL_F32, KEEL_SHAPE(2), KEEL_FILL(0));
    expect_error("longer than 255 bytes");
    keel_tree_add(tree, "w", KEEL_F32, KEEL_SHAPE(2), KEEL_FILL(0));
    expect_error("there is a w already");
    keel_tree_add(tree, "n", KEEL_I32, KEEL_SHAPE(2), KEEL_FILL(0));
    expect_error("n is i32", "make it state");
    keel_tree_add(tree, "n", KEEL_F32, KEEL_SHAPE(-2), KEEL_FILL(0));
    expect_error("negative");
    keel_tree_get(tree, "v");
    expect_error("there is no v");
    keel_tree_leave(tree);
    expect_error("left more often than entered in this step");
    for (int i = 0; i < 2; ++i) {
        keel_tree_enter(tree, "%s", i ? longest : "a b");
        keel_tree_leave(tree); // it was entered all the same
        expect_error("is not a name");
    }
    keel_tree_put(tree, "p", (keel_tensor_t){0}, 1);
    expect_error("p is not a variable");
    keel_tree_put(tree, "p", keel_tree_get(tree, "w"), 1);
    expect_error("is in it already");
    assert_int_equal(keel_tree_count(tree), 1);
    keel_tree_free(tree);
    expect_status(keel_tree_create(NULL, &tree), "no context");
    expect_status(keel_tree_create(keel, NULL), "no place");
    keel_tree_free(NULL);
    keel_tree_enter(NULL, "a");
    keel_tree_leave(NULL);
    assert_true(keel_is_empty(keel_tree_get(NULL, "a")));
}

static void a_name_that_an_early_return_left_entered_ends_with_the_step(void **state) {
    (void)state;
    keel_tree_t *tree = new_tree();
    keel_tree_add(tree, "L0.w", KEEL_F32, KEEL_SHAPE(2), KEEL_FILL(1));
    keel_tree_enter(tree, "L0");
    assert_false(keel_is_empty(keel_tree_get(tree, "w")));
    keel_step_discard(keel); // a model would have returned here
    keel_tree_enter(tree, "L0");
    assert_false(keel_is_empty(keel_tree_get(tree, "w")));
    assert_ok(keel_step_end(keel));
    assert_false(keel_is_empty(keel_tree_get(tree, "L0.w")));
    keel_tree_enter(tree, "L0");
    keel_tree_enter(tree, "deeper");
    assert_ok(keel_step_end(keel));
    keel_tree_leave(tree);
    expect_error("left more often than entered in this step");
    keel_tree_free(tree);
}

static void what_is_put_is_the_trees(void **state) {
    (void)state;
    static const int32_t table[3] = {3, 1, 2};
    keel_tree_t *tree = new_tree();
    keel_tensor_t canon = keel_variable(keel, "canon", KEEL_I32, KEEL_SHAPE(3), table);
    keel_tree_put(tree, "canon", canon, 0);
    expect_error("canon is i32, and a parameter is of floats");
    keel_tree_put(tree, "canon", canon, 1);
    assert_true(keel_tree_leaf(tree, 0).is_state);
    const float one = 1;
    keel_tree_put(tree, "one", keel_variable(keel, "one", KEEL_F32, KEEL_SCALAR, &one), 0);
    assert_false(keel_tree_leaf(tree, 1).is_state);
    keel_tree_initialize(tree, 1); // has no initializer
    assert_ok(keel_step_end(keel));
    int32_t got[3];
    assert_ok(keel_read(keel_tree_get(tree, "canon"), got, sizeof got));
    assert_int_equal(got[0], 3);
    keel_tree_free(tree);
    assert_true(keel_is_empty(keel_add(canon, canon)));
    expect_error("released");
}

static keel_tensor_t logarithm(keel_tensor_t random, const void *data) {
    keel_tensor_t u = keel_multiply(random, keel_constant(random, *(const double *)data));
    return keel_log1p(u);
}

static void an_initializer_may_be_ones_own(void **state) {
    (void)state;
    static const double fifteen = 15;
    keel_tree_t *tree = new_tree();
    keel_tensor_t a =
        keel_tree_add(tree, "A_log", KEEL_F32, KEEL_SHAPE(1000), KEEL_MADE(logarithm, &fifteen));
    keel_tree_initialize(tree, 1);
    assert_ok(keel_step_end(keel));
    assert_true(item(keel_max(a, KEEL_AXES(0))) > 2.7f);
    assert_true(item(keel_max(a, KEEL_AXES(0))) < logf(16));
    assert_true(item(keel_min(a, KEEL_AXES(0))) >= 0);
    keel_step_discard(keel);
    keel_tree_add(tree, "none", KEEL_F32, KEEL_SHAPE(2), KEEL_MADE(NULL, NULL));
    keel_tree_initialize(tree, 1);
    expect_error("model_test.c", "assign: the value is empty");
    keel_tree_free(tree);
}

static void counters_add_up_on_the_device(void **state) {
    (void)state;
    keel_tree_t *tree = new_tree();
    keel_tensor_t count = keel_tree_state(tree, "count", KEEL_I32, KEEL_SCALAR, KEEL_FILL(0));
    keel_tree_initialize(tree, 0);
    assert_ok(keel_step_end(keel));
    uint64_t before = programs();
    for (int step = 0; step < 5; ++step) {
        int32_t data[4] = {step, 1, 0, 2}, got;
        keel_tensor_t x = keel_input(keel, "x", KEEL_I32, KEEL_SHAPE(4), data);
        keel_add_to(count, keel_sum(keel_cast(keel_greater(x, keel_constant(x, 0)), KEEL_I64),
                                    KEEL_AXES(0)));
        assert_ok(keel_step_end(keel));
        assert_ok(keel_read(count, &got, sizeof got));
        assert_int_equal(got, 3 * step + 2);
    }
    assert_int_equal(programs() - before, 1);
    keel_tree_free(tree);
}

// ---- optimizers --------------------------------------------------------------------------------

typedef struct chain_t {
    keel_tensor_t weight, points, targets;
} chain_t;

static keel_tensor_t loss_of(keel_tensor_t weight, keel_tensor_t points, keel_tensor_t targets) {
    keel_tensor_t apart = keel_subtract(keel_matmul(points, weight), targets);
    return keel_mean(keel_multiply(apart, apart), keel_all_axes(apart));
}

static keel_tensor_t loss_of_micro(void *data, keel_tensor_t micro) {
    const chain_t *chain = data;
    return loss_of(chain->weight, keel_micro_batch(chain->points, micro),
                   keel_micro_batch(chain->targets, micro));
}

// Two steps on [4,2,3], as 4 micro-batches or whole; the weights after them.
static void train(bool in_parts, float out[6]) {
    float points[24], targets[16], loss_value[2];
    keel_optimizer_options_t options = KEEL_ADAMW(0.1);
    keel_optimizer_t *optimizer;
    keel_tree_t *tree = new_tree();
    keel_tensor_t w = keel_tree_add(tree, "w", KEEL_F32, KEEL_SHAPE(3, 2), KEEL_UNIFORM(1));
    options.clip = 0.5;
    assert_ok(keel_optimizer_create(tree, &options, &optimizer));
    keel_tree_initialize(tree, 4);
    assert_ok(keel_step_end(keel));
    uint64_t before = programs();
    for (int step = 0; step < 2; ++step) {
        for (int i = 0; i < 24; ++i)
            points[i] = sinf((float)(i + 3 * step));
        for (int i = 0; i < 16; ++i)
            targets[i] = cosf((float)i);
        chain_t chain = {w, keel_input(keel, "x", KEEL_F32, KEEL_SHAPE(4, 2, 3), points),
                         keel_input(keel, "y", KEEL_F32, KEEL_SHAPE(4, 2, 2), targets)};
        keel_tensor_t loss = loss_of(w, chain.points, chain.targets);
        if (in_parts)
            loss = keel_minimize_over(optimizer, 4, loss_of_micro, &chain);
        else
            keel_minimize(optimizer, loss);
        keel_tensor_t kept = keel_keep(loss);
        assert_ok(keel_step_end(keel));
        loss_value[step] = item(kept);
        keel_release(kept);
    }
    assert_true(loss_value[0] > 0);
    assert_int_equal(programs() - before, 1);
    assert_ok(keel_read(w, out, 6 * sizeof *out));
    keel_optimizer_free(optimizer);
    keel_tree_free(tree);
}

static void micro_batches_are_one_program_and_their_mean(void **state) {
    (void)state;
    float parts[6], whole[6];
    train(true, parts);
    train(false, whole);
    for (int i = 0; i < 6; ++i)
        assert_float_equal(parts[i], whole[i], 1e-5);
}

static uint64_t operations_of(const chain_t *chain, keel_optimizer_t *optimizer, int64_t count) {
    uint64_t before = keel_context_figures(keel).operations;
    chain_t own = *chain;
    keel_minimize_over(optimizer, count, loss_of_micro, &own);
    assert_null(keel_context_error(keel));
    uint64_t after = keel_context_figures(keel).operations;
    keel_step_discard(keel);
    return after - before;
}

static void micro_batches_are_a_loop(void **state) {
    (void)state;
    keel_optimizer_options_t options = KEEL_SGD(0.1);
    keel_optimizer_t *optimizer;
    keel_tree_t *tree = new_tree();
    chain_t chain = {.weight = keel_tree_add(tree, "w", KEEL_F32, KEEL_SHAPE(3, 2), KEEL_FILL(1))};
    uint64_t counted[2];
    assert_ok(keel_optimizer_create(tree, &options, &optimizer));
    keel_tree_initialize(tree, 0);
    assert_ok(keel_step_end(keel));
    for (int i = 0; i < 2; ++i) {
        const int64_t count = i ? 32 : 2;
        chain.points = keel_iota(keel, KEEL_F32, KEEL_SHAPE(count, 2, 3), 1);
        chain.targets = keel_iota(keel, KEEL_F32, KEEL_SHAPE(count, 2, 2), 1);
        counted[i] = operations_of(&chain, optimizer, count);
    }
    assert_int_equal(counted[0], counted[1]);
    keel_optimizer_free(optimizer);
    keel_tree_free(tree);
}

// Beside the loss: a carry that counts micro-batches, the number of positive points, and their
// largest in each.
static keel_tensor_t loss_and_more(void *data, keel_tensor_t micro, const keel_tensor_t *in,
                                   keel_tensor_t *out) {
    const chain_t *chain = data;
    keel_tensor_t points = keel_micro_batch(chain->points, micro);
    out[0] = keel_add(in[0], keel_constant(in[0], 1));
    out[1] = keel_cast(keel_greater(points, keel_constant(points, 0)), KEEL_I32);
    out[1] = keel_sum(out[1], KEEL_AXES(0, 1));
    out[2] = keel_max(points, KEEL_AXES(0, 1));
    return loss_of_micro(data, micro);
}

static int32_t count_of(keel_tensor_t scalar);

static void losses_give_counters_sums_and_stacks(void **state) {
    (void)state;
    static float points[24], targets[16];
    float plain[6], more[6], largest[4];
    int positive = 0;
    for (int i = 0; i < 24; ++i)
        positive += (points[i] = sinf((float)i)) > 0;
    for (int with_more = 0; with_more < 2; ++with_more) {
        keel_optimizer_options_t options = KEEL_SGD(0.1);
        keel_optimizer_t *optimizer;
        keel_tree_t *tree = new_tree();
        keel_tensor_t w = keel_tree_add(tree, "w", KEEL_F32, KEEL_SHAPE(3, 2), KEEL_UNIFORM(1));
        keel_tensor_t count = keel_tree_state(tree, "count", KEEL_I32, KEEL_SCALAR, KEEL_FILL(5));
        keel_tensor_t seen = keel_tree_state(tree, "seen", KEEL_I32, KEEL_SCALAR, KEEL_FILL(0));
        keel_tensor_t out[3] = {{0}};
        assert_ok(keel_optimizer_create(tree, &options, &optimizer));
        keel_tree_initialize(tree, 4);
        assert_ok(keel_step_end(keel));
        chain_t chain = {w, keel_input(keel, "x", KEEL_F32, KEEL_SHAPE(4, 2, 3), points),
                         keel_input(keel, "y", KEEL_F32, KEEL_SHAPE(4, 2, 2), targets)};
        const keel_losses_t losses = {.count = 4,
                                      .loss = loss_and_more,
                                      .data = &chain,
                                      .carry = &count,
                                      .carry_count = 1,
                                      .sum_count = 1,
                                      .stack_count = 1};
        if (with_more) {
            keel_minimize_losses(optimizer, &losses, out);
            keel_assign(count, out[0]);
            keel_add_to(seen, out[1]);
            out[2] = keel_keep(out[2]);
        } else {
            keel_minimize_over(optimizer, 4, loss_of_micro, &chain);
        }
        assert_ok(keel_step_end(keel));
        assert_ok(keel_read(w, with_more ? more : plain, sizeof more));
        assert_int_equal(count_of(count), with_more ? 9 : 5);
        assert_int_equal(count_of(seen), with_more ? positive : 0);
        if (with_more) assert_ok(keel_read(out[2], largest, sizeof largest));
        keel_release(out[2]);
        keel_optimizer_free(optimizer);
        keel_tree_free(tree);
    }
    assert_memory_equal(plain, more, sizeof plain);
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 6; ++k)
            assert_true(points[6 * i + k] <= largest[i]);
}

static keel_tensor_t loss_that_assigns(void *data, keel_tensor_t micro) {
    keel_tensor_t weight = *(const keel_tensor_t *)data;
    keel_add_to(weight, micro);
    return keel_sum(weight, keel_all_axes(weight));
}

static keel_tensor_t no_loss(void *data, keel_tensor_t micro) {
    (void)data, (void)micro;
    return (keel_tensor_t){0};
}

static int32_t count_of(keel_tensor_t scalar) {
    int32_t count = -1;
    assert_ok(keel_read(scalar, &count, sizeof count));
    return count;
}

static void no_optimizer_has_nothing(void **state) {
    (void)state;
    assert_int_equal(keel_optimizer_count(NULL), 0);
    assert_null(keel_optimizer_parameters(NULL));
    assert_null(keel_optimizer_options(NULL));
    assert_true(keel_is_empty(keel_optimizer_rate(NULL)));
    assert_true(keel_is_empty(keel_optimizer_norm(NULL)));
    assert_int_equal(keel_optimizer_scale(NULL, NULL, NULL, 2, 1), 0);
}

static void a_refused_optimizer_leaves_nothing(void **state) {
    (void)state;
    keel_optimizer_options_t options = KEEL_ADAMW(0.1);
    keel_optimizer_t *optimizer;
    keel_tree_t *tree = new_tree();
    keel_tensor_t w = keel_tree_add(tree, "w", KEEL_F32, KEEL_SHAPE(2), KEEL_FILL(1));
    keel_tree_state(tree, "taken.v.w", KEEL_I32, KEEL_SCALAR, KEEL_FILL(0));
    const char *const names[] = {"a b", "taken"};
    for (int i = 0; i < 2; ++i) {
        options.name = names[i];
        expect_status(keel_optimizer_create(tree, &options, &optimizer), "model_test.c",
                      i ? "there is a taken.v.w already" : "is not a name");
        assert_null(optimizer);
        assert_null(keel_context_error(keel));
        assert_int_equal(keel_tree_count(tree), 2);
    }
    char long_name[300] = {0};
    memset(long_name, 'a', sizeof long_name - 1);
    options.name = long_name;
    expect_status(keel_optimizer_create(tree, &options, &optimizer), "model_test.c", "too long");
    assert_true(keel_is_empty(keel_tree_get(tree, "taken.step")));
    expect_error("there is no taken.step");
    options.name = NULL;
    keel_add(w, w); // an error of the step itself
    assert_ok(keel_optimizer_create(tree, &options, &optimizer));
    expect_error("has no value yet");
    assert_false(
        keel_is_empty(keel_tree_state(tree, "taken.step", KEEL_I32, KEEL_SCALAR, KEEL_FILL(3))));
    keel_tree_initialize(tree, 0);
    keel_minimize(optimizer, keel_sum(w, KEEL_AXES(0)));
    assert_ok(keel_step_end(keel));
    assert_int_equal(count_of(keel_tree_get(tree, "optimizer.step")), 1);
    assert_int_equal(count_of(keel_tree_get(tree, "taken.step")), 3);
    keel_optimizer_free(optimizer);
    keel_tree_free(tree);
}

static void optimizers_share_a_tree_by_its_names(void **state) {
    (void)state;
    keel_optimizer_options_t options = KEEL_SGD(1);
    keel_optimizer_t *first, *second;
    keel_tree_t *tree = new_tree();
    keel_tensor_t w = keel_tree_add(tree, "a.w", KEEL_F32, KEEL_SCALAR, KEEL_FILL(3));
    keel_tensor_t v = keel_tree_add(tree, "b.w", KEEL_F32, KEEL_SCALAR, KEEL_FILL(3));
    keel_tensor_t frozen = keel_tree_add(tree, "c.w", KEEL_F32, KEEL_SCALAR, KEEL_FILL(3));
    options.only = keel_is_named;
    options.only_data = "a.*";
    options.name = "first";
    assert_ok(keel_optimizer_create(tree, &options, &first));
    options.only_data = "b.*";
    options.name = "second";
    options.rate.peak = 0.5;
    assert_ok(keel_optimizer_create(tree, &options, &second));
    options.only_data = "d.*";
    expect_status(keel_optimizer_create(tree, &options, &(keel_optimizer_t *){NULL}),
                  "no parameters");
    assert_int_equal(keel_optimizer_count(first), 1);
    assert_string_equal(keel_name(keel_optimizer_parameters(second)[0]), "b.w");
    keel_tree_initialize(tree, 0);
    keel_tensor_t loss = keel_add(keel_add(w, v), frozen);
    assert_string_equal(keel_name(loss), "");
    keel_minimize(first, loss);
    keel_minimize(second, loss);
    assert_ok(keel_step_end(keel));
    assert_float_equal(item(w), 2, 0);
    assert_float_equal(item(v), 2.5, 0);
    assert_float_equal(item(frozen), 3, 0);
    keel_optimizer_free(first);
    keel_optimizer_free(second);
    keel_tree_free(tree);
}

static void wrong_optimizers_are_refused(void **state) {
    (void)state;
    keel_optimizer_options_t options = KEEL_SGD(1);
    keel_optimizer_t *optimizer;
    keel_tree_t *tree = new_tree();
    keel_tree_state(tree, "count", KEEL_I32, KEEL_SCALAR, KEEL_FILL(0));
    expect_status(keel_optimizer_create(tree, &options, &optimizer), "model_test.c",
                  "no parameters");
    keel_tensor_t w = keel_tree_add(tree, "w", KEEL_F32, KEEL_SHAPE(2), KEEL_FILL(1));
    expect_status(keel_optimizer_create(tree, NULL, &optimizer), "no options");
    expect_status(keel_optimizer_create(NULL, &options, &optimizer), "no parameters");
    expect_status(keel_optimizer_create(tree, &options, NULL), "no place");
    options.rule = (keel_rule_t)9;
    expect_status(keel_optimizer_create(tree, &options, &optimizer), "no such rule");
    options.rule = KEEL_RULE_LION;
    options.every = -1;
    expect_status(keel_optimizer_create(tree, &options, &optimizer), "mean of 1 step or more");
    options.every = 1;
    options.name = "a b";
    expect_status(keel_optimizer_create(tree, &options, &optimizer), "is not a name");
    options.name = "lion";
    assert_ok(keel_optimizer_create(tree, &options, &optimizer));
    assert_false(keel_is_empty(keel_tree_get(tree, "lion.m.w")));
    keel_optimizer_t *another;
    expect_status(keel_optimizer_create(tree, &options, &another), "there is a lion.step already");
    keel_optimizer_step(optimizer, &w);
    expect_error("has no value yet");
    keel_tree_initialize(tree, 0);
    assert_ok(keel_step_end(keel));
    keel_optimizer_step(optimizer, NULL);
    expect_error("no gradients");
    keel_tensor_t wrong = keel_iota(keel, KEEL_F32, KEEL_SHAPE(3), 0);
    keel_optimizer_step(optimizer, &wrong);
    expect_error("w is f32[2], and its gradient is f32[3]");
    wrong = (keel_tensor_t){0};
    keel_optimizer_step(optimizer, &wrong);
    expect_error("the gradient of w is empty; is the loss?");
    keel_minimize(optimizer, (keel_tensor_t){0});
    expect_error("the gradient of w is empty; is the loss?");
    keel_rate(((keel_schedule_t){.curve = (keel_curve_t)3}), keel_tree_get(tree, "lion.step"));
    expect_error("rate: there is no curve 3");
    keel_minimize(optimizer, w);
    expect_error("model_test.c");
    assert_true(keel_is_empty(keel_minimize_over(optimizer, 0, loss_of_micro, NULL)));
    expect_error("no losses");
    assert_true(keel_is_empty(keel_minimize_over(optimizer, 4, NULL, NULL)));
    expect_error("no losses");
    assert_true(keel_is_empty(keel_minimize_over(optimizer, 4, loss_that_assigns, &w)));
    expect_error("model_test.c", "add_to: a body is being traced");
    assert_true(keel_is_empty(keel_minimize_over(optimizer, 4, no_loss, NULL)));
    expect_error("model_test.c", "minimize_over: the body gives no result 1");
    keel_optimizer_options(optimizer)->rule = KEEL_RULE_ADAMW;
    keel_optimizer_step(optimizer, &w);
    expect_error("stay what they were");
    keel_optimizer_free(optimizer);
    keel_tree_free(tree);
}

// ---- memory ------------------------------------------------------------------------------------

#ifdef KEEL_FAULTS

static keel_status_t take_a_step(keel_context_t *context, keel_tree_t **tree,
                                 keel_optimizer_t **optimizer, float out[2]) {
    keel_optimizer_options_t options = KEEL_ADAMW(0.1);
    KEEL_TRY(keel_tree_create(context, tree));
    keel_tree_enter(*tree, "L%d", 0);
    keel_tensor_t w = keel_tree_add(*tree, "w", KEEL_F32, KEEL_SHAPE(2), KEEL_UNIFORM(1));
    keel_tree_leave(*tree);
    if (keel_is_empty(w)) return keel_step_end(context);
    KEEL_TRY(keel_optimizer_create(*tree, &options, optimizer));
    keel_tree_initialize(*tree, 3);
    KEEL_TRY(keel_step_end(context));
    keel_minimize(*optimizer, keel_sum(keel_multiply(w, w), KEEL_AXES(0)));
    KEEL_TRY(keel_step_end(context));
    return keel_read(w, out, 2 * sizeof *out);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    uint64_t nth = 0, reached;
    float expected[2], got[2];
    do {
        keel_tree_t *tree = NULL;
        keel_optimizer_t *optimizer = NULL;
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = take_a_step(keel, &tree, &optimizer, nth ? got : expected);
        reached = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        if (!nth) assert_ok(status);
        if (nth && !status && memcmp(got, expected, sizeof got))
            fail_msg("allocation %d: %g, %g", (int)nth, (double)got[0], (double)got[1]);
        keel_status_ignore(status);
        keel_optimizer_free(optimizer);
        keel_tree_free(tree);
        keel_step_discard(keel);
    } while (reached >= nth++);
    assert_true(nth > 20);
}

static void trace_layers(keel_context_t *context) {
    keel_routing_t routing;
    keel_rows_t rows;
    keel_attention_receipt_t receipt;
    const keel_attention_options_t options = {
        .form = KEEL_ATTENTION_BLOCKED, .block = 2, .is_causal = 1, .softcap = 3, .window = 2};
    keel_tensor_t q = keel_iota(context, KEEL_F32, KEEL_SHAPE(1, 4, 2, 3), 1);
    keel_tensor_t x = keel_reshape(keel_attention(q, q, q, (keel_tensor_t){0}, options, &receipt),
                                   KEEL_SHAPE(8, 3));
    keel_tensor_t mask = keel_greater(keel_sum(x, KEEL_AXES(1)), keel_constant(x, 1));
    keel_route(x, (keel_tensor_t){0}, mask, ((keel_routing_options_t){.top = 2, .capacity = 3}),
               &routing);
    x = keel_combine(&routing, keel_dispatch(&routing, x));
    keel_keep(keel_rows_where(x, mask, 3, &rows));
}

static void every_allocation_of_a_layer_may_fail(void **state) {
    (void)state;
    uint64_t nth = 0, reached;
    do {
        keel_context_t *context;
        assert_ok(keel_context_create(NULL, &context));
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        trace_layers(context);
        reached = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        const char *error = keel_context_error(context);
        if (error && (!nth || reached < nth)) fail_msg("allocation %d: %s", (int)nth, error);
        keel_context_free(context);
    } while (reached >= nth++);
    assert_true(nth > 10);
}

#endif

static void nothing_comes_of_empty_tensors(void **state) {
    (void)state;
    keel_routing_t routing;
    const keel_tensor_t none = {0};
    keel_tensor_t x = keel_iota(keel, KEEL_F32, KEEL_SHAPE(2, 2), 0);
    keel_route(none, none, none, ((keel_routing_options_t){.top = 1, .capacity = 1}), &routing);
    keel_route(x, none, none, ((keel_routing_options_t){.top = 1, .capacity = 1}), NULL);
    assert_true(keel_is_empty(keel_dispatch(&routing, x)));
    assert_true(keel_is_empty(keel_combine(NULL, x)));
    assert_true(keel_is_empty(keel_rows_where(none, x, 1, NULL)));
    assert_true(keel_is_empty(
        keel_attention(none, x, x, none, ((keel_attention_options_t){.scale = 1}), NULL)));
    assert_null(keel_context_error(keel));
    keel_step_discard(keel);
}

static void a_mask_of_another_kind_is_refused(void **state) {
    (void)state;
    const keel_attention_options_t options = {.scale = 1};
    keel_tensor_t q = keel_iota(keel, KEEL_F32, KEEL_SHAPE(1, 4, 2, 3), 1);
    keel_tensor_t places = keel_iota(keel, KEEL_I32, KEEL_SHAPE(1, 4, 4), 1);
    keel_tensor_t mask = keel_less(places, keel_constant(places, 2));
    assert_false(keel_is_empty(keel_attention(q, q, q, mask, options, NULL)));
    assert_null(keel_context_error(keel));
    keel_attention(q, q, q, places, options, NULL);
    expect_error("a mask is bool[B, T, S]", "i32[1,4,4]");
    q = keel_iota(keel, KEEL_F32, KEEL_SHAPE(1, 3, 2, 3), 1);
    places = keel_iota(keel, KEEL_I32, KEEL_SHAPE(1, 4, 4), 1);
    mask = keel_less(places, keel_constant(places, 2));
    keel_attention(q, q, q, mask, options, NULL);
    expect_error("a mask is bool[B, T, S]", "bool[1,4,4]");
}

// A diverged router stays visible, and takes no slots from the tokens of others.
static void scores_that_are_nan_choose_no_more_than_others(void **state) {
    (void)state;
    const float scores[] = {NAN, NAN, NAN, NAN, 0.1f, NAN, 0.3f, 0.4f, 0.1f, 0.2f, 0.3f, 0.4f};
    const float ones[] = {1, 1, 1};
    const keel_routing_options_t options = {.top = 2, .capacity = 3};
    int32_t load[4], all = 0;
    float sums[3];
    keel_routing_t routing;
    keel_tensor_t s = keel_input(keel, "scores", KEEL_F32, KEEL_SHAPE(3, 4), scores);
    keel_tensor_t x = keel_input(keel, "x", KEEL_F32, KEEL_SHAPE(3, 1), ones);
    keel_route(s, (keel_tensor_t){0}, (keel_tensor_t){0}, options, &routing);
    keel_tensor_t y = keel_keep(keel_combine(&routing, keel_dispatch(&routing, x)));
    keel_tensor_t loads = keel_keep(routing.load);
    assert_ok(keel_step_end(keel));
    assert_ok(keel_read(loads, load, sizeof load));
    assert_ok(keel_read(y, sums, sizeof sums));
    for (int i = 0; i < 4; ++i)
        all += load[i];
    assert_int_equal(all, 3 * 2);
    assert_true(isnan(sums[0]) && isnan(sums[1]));
    assert_float_equal(sums[2], 1, 1e-6);
    keel_release(y);
    keel_release(loads);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_parts),
        cmocka_unit_test(patterns_match_names),
        cmocka_unit_test(wrong_names_are_refused),
        cmocka_unit_test(a_name_that_an_early_return_left_entered_ends_with_the_step),
        cmocka_unit_test(what_is_put_is_the_trees),
        cmocka_unit_test(an_initializer_may_be_ones_own),
        cmocka_unit_test(counters_add_up_on_the_device),
        cmocka_unit_test(micro_batches_are_one_program_and_their_mean),
        cmocka_unit_test(micro_batches_are_a_loop),
        cmocka_unit_test(losses_give_counters_sums_and_stacks),
        cmocka_unit_test(optimizers_share_a_tree_by_its_names),
        cmocka_unit_test(wrong_optimizers_are_refused),
        cmocka_unit_test(no_optimizer_has_nothing),
        cmocka_unit_test(a_refused_optimizer_leaves_nothing),
        cmocka_unit_test(nothing_comes_of_empty_tensors),
        cmocka_unit_test(a_mask_of_another_kind_is_refused),
        cmocka_unit_test(scores_that_are_nan_choose_no_more_than_others),
#ifdef KEEL_FAULTS
        cmocka_unit_test(every_allocation_of_a_layer_may_fail),
        cmocka_unit_test(every_allocation_may_fail),
#endif
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
