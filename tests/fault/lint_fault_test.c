// Each allocation of a check fails once: the status is clean, nothing is left behind, and it works
// again afterwards.
#define _GNU_SOURCE
#include "place.h"

#include "lint/lint.h"

static const char source[] = "import functools\n"
                             "import jax, jax.numpy as jnp\n"
                             "import torch_xla\n"
                             "class T:\n"
                             "    def __init__(self):\n"
                             "        self.n = 0\n"
                             "        self.f = jax.jit(self.g)\n"
                             "    def g(self, x):\n"
                             "        return x * self.n\n"
                             "    def step(self):\n"
                             "        self.n += 1\n"
                             "@functools.partial(jax.jit, static_argnames=('n', 'm'))\n"
                             "def f(x, n, *, m=None):\n"
                             "    if x.sum() > 0: y = x[x > 0]\n"
                             "    else: y = [i for i in x]\n"
                             "    return h(y)\n"
                             "def h(x):  # keel: ignore[host-read]\n"
                             "    return float(x) if jnp.any(x) else 0\n"
                             "for i in range(3):\n"
                             "    f(1, n=[1], m=f'{i}')\n"
                             "    jax.jit(lambda x: x)(1)\n";

static void each_allocation_may_fail(void **state) {
    (void)state;
    static const keel_lint_options_t options = {.rules = UINT64_MAX, .is_xla = true};
    size_t found = 0;
    for (uint64_t nth = 1;; ++nth) {
        keel_lint_report_t report;
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = keel_lint_text(keel_str(source), &options, &report);
        bool is_reached = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        bool is_done = !status;
        if (is_reached) assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        keel_status_ignore(status);
        if (is_done) {
            found = report.count;
            keel_lint_deinitialize(&report);
        }
        if (is_reached) continue;
        assert_true(is_done && nth > 20);
        print_message("  %llu\n", (unsigned long long)nth - 1);
        break;
    }
    assert_int_equal(found, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("lint faults", tests, NULL, NULL);
}
