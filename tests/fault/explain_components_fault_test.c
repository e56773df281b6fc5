// Each allocation of a comparison of keys fails once: it says so, or finds everything.
#define _GNU_SOURCE
#include "place.h"

#include "explain/explain.h"

static void set(keel_key_t *key, keel_component_t component, const char *value) {
    assert_ok(keel_key_set(key, component, keel_str_bytes(keel_str(value)), keel_str(value)));
}

static void make_key(keel_key_t *key, bool moved) {
    keel_key_initialize(key);
    set(key, KEEL_COMPONENT_OPTIONS,
        moved ? "num_partitions=2\ndebug.99=1\nmatrix_unit_operand_"
                "precision=1\nenv_option_overrides.xla_a=1\n"
              : "num_partitions=1\ndebug.99=0\n");
    set(key, KEEL_COMPONENT_XLA_FLAGS, moved ? "xla_cpu_enable_fast_math=true\n" : "");
    set(key, KEEL_COMPONENT_PLUGIN_BUILD, moved ? "4f8eaf249311cb65" : "61c02c9a4c68b778");
    set(key, KEEL_COMPONENT_PLATFORM, moved ? "name=\"a\"\napi=0.1\n" : "name=\"b\"\napi=0.2\n");
    set(key, KEEL_COMPONENT_TOPOLOGY, moved ? "unknown: a" : "12 bytes serialized");
    set(key, KEEL_COMPONENT_DEVICE_KINDS, moved ? "2 x a\nprocesses=1" : "1 x b\nprocesses=1");
    set(key, KEEL_COMPONENT_CPU, moved ? "vendor=a\ncpus=2\n" : "vendor=b\ncpus=4\n");
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    keel_key_t before, after;
    make_key(&before, false);
    make_key(&after, true);
    unsigned refused = 0;
    for (uint64_t nth = 1;; ++nth) {
        keel_explanation_t explanation;
        keel_explanation_initialize(&explanation);
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = keel_explain_components(&before, &after, KEEL_NONE, &explanation);
        bool reached = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        if (status)
            assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        else
            assert_true(explanation.root_total == 7 && explanation.folded_total == 6);
        refused += status != NULL;
        keel_status_ignore(status);
        keel_explanation_deinitialize(&explanation);
        if (!reached) break;
    }
    assert_true(refused >= 10);
    keel_key_deinitialize(&before);
    keel_key_deinitialize(&after);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_may_fail)};
    return cmocka_run_group_tests_name("explain components faults", tests, NULL, NULL);
}
