// Each allocation fails once while programs are explained. The result is KEEL_NO_MEMORY or the same
// explanation as with enough memory; nothing leaks.
#define _GNU_SOURCE
#include "base/fault.h"
#include "explain_help.h"

// An explanation that was reached without what failed is the right one. Lines are left out: where
// the client called is shown as unknown rather than not at all.
static void check_same(const keel_explanation_t *e, const keel_explanation_t *right) {
    assert_int_equal(e->root_total, right->root_total);
    assert_int_equal(e->folded_total, right->folded_total);
    assert_int_equal(e->unrelated, right->unrelated);
    for (size_t i = 0; i < e->root_count; ++i) {
        assert_int_equal(e->roots[i].kind, right->roots[i].kind);
        assert_string_equal(e->roots[i].subject, right->roots[i].subject);
        assert_string_equal(e->roots[i].old_value, right->roots[i].old_value);
        assert_string_equal(e->roots[i].new_value, right->roots[i].new_value);
        assert_string_equal(e->roots[i].note, right->roots[i].note);
        assert_int_equal(e->roots[i].folds, right->roots[i].folds);
    }
}

static void fail_each(const char *what, const keel_side_t *old_side, const keel_side_t *new_side) {
    keel_explanation_t right;
    keel_explanation_initialize(&right);
    assert_ok(keel_explain(old_side, new_side, &right));
    uint64_t refused = 0;
    for (uint64_t nth = 1;; ++nth) {
        keel_explanation_t e;
        keel_explanation_initialize(&e);
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = keel_explain(old_side, new_side, &e);
        bool reached = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        if (status) {
            assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
            assert_true(*keel_status_message(status));
            ++refused;
        } else {
            check_same(&e, &right);
        }
        keel_status_ignore(status);
        keel_explanation_deinitialize(&e);
        if (reached) continue;
        assert_null(status);
        print_message("  %s: %llu of %llu refused\n", what, (unsigned long long)refused,
                      (unsigned long long)nth - 1);
        assert_true(refused > 0);
        break;
    }
    keel_explanation_deinitialize(&right);
}

static void fail_each_of_pair(const char *name, bool backwards) {
    loaded_t before, after;
    load_pair(name, backwards ? &after : &before, backwards ? &before : &after);
    fail_each(name, &(keel_side_t){.program = &before.program},
              &(keel_side_t){.program = &after.program});
    unload(&before);
    unload(&after);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    static const char *const names[] = {
        "loader_last_batch",   "dropout_off",        "gradient_create_accumulate",
        "closed_float",        "nonzero_size",       "sharding_other_spec",
        "power_in_a_gradient", "donation_of_a_tree", "transformer_depth",
        "two_dtype_and_branch"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        fail_each_of_pair(names[i], false);
        fail_each_of_pair(names[i], true);
    }
}

static void each_allocation_may_fail_where_little_is_alike(void **state) {
    (void)state;
    loaded_t before, after;
    load(&before, "mlir/gpt_step.mlir");
    load(&after, "explain/transformer_batch.before.mlir");
    fail_each("strangers", &(keel_side_t){.program = &before.program},
              &(keel_side_t){.program = &after.program});
    fail_each("the same", &(keel_side_t){.program = &before.program},
              &(keel_side_t){.program = &before.program});
    unload(&before);
    unload(&after);
}

static void each_allocation_may_fail_of_pairs_of_hlo(void **state) {
    (void)state;
    static const char *const names[] = {"checkpoint_assign_true", "adamw_state",
                                        "sharding_unset_in_training"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        char path[256];
        loaded_t before, after;
        snprintf(path, sizeof path, "explain/torch_%s.before.hlo", names[i]);
        load(&before, path);
        snprintf(path, sizeof path, "explain/torch_%s.after.hlo", names[i]);
        load(&after, path);
        fail_each(names[i], &(keel_side_t){.program = &before.program},
                  &(keel_side_t){.program = &after.program});
        unload(&before);
        unload(&after);
    }
}

// Of HLO, and with the keys of both.
static void each_allocation_may_fail_with_keys(void **state) {
    (void)state;
    loaded_t before, after;
    load(&before, "hlo/linear_step.hlo");
    load(&after, "hlo/conv_pool.hlo");
    keel_key_t keys[2];
    memset(keys, 0, sizeof keys);
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        memset(&keys[1].components[i], i + 1, sizeof keys[1].components[i]);
    fail_each("keys", &(keel_side_t){.program = &before.program, .key = &keys[0]},
              &(keel_side_t){.program = &after.program, .key = &keys[1]});
    fail_each("keys alone", &(keel_side_t){.key = &keys[0]}, &(keel_side_t){.key = &keys[1]});
    unload(&before);
    unload(&after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(each_allocation_may_fail_where_little_is_alike),
        cmocka_unit_test(each_allocation_may_fail_of_pairs_of_hlo),
        cmocka_unit_test(each_allocation_may_fail_with_keys),
    };
    return cmocka_run_group_tests_name("explain faults", tests, NULL, NULL);
}
