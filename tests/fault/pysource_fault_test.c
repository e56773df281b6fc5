// Each allocation of reading a Python source fails once: the status is clean, nothing is left
// behind, and it works again afterwards.
#define _GNU_SOURCE
#include "place.h"

#include "pysource/pysource.h"

static const char source[] = "import a.b as c\n"
                             "@d\n"
                             "def f(x, *y, z=1):\n"
                             "    if x: return [i for i in f'{x!r:>{y}}']\n"
                             "    elif a b:\n"
                             "        try: (\n"
                             "match z:\n"
                             "    case [A(b=1), *_] | {'k': w}: pass\n";

static void each_allocation_may_fail(void **state) {
    (void)state;
    // So long that its tables grow.
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    for (unsigned i = 0; i < 64; ++i)
        keel_buffer_text(&text, source);
    for (uint64_t nth = 1;; ++nth) {
        keel_py_tree_t tree;
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = keel_py_read(keel_bytes_str(keel_buffer_bytes(&text)), &tree);
        bool is_reached = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        bool is_done = !status;
        if (is_reached) assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        keel_status_ignore(status);
        if (is_done) keel_py_deinitialize(&tree);
        if (is_reached) continue;
        assert_true(is_done && nth > 10);
        print_message("  %llu\n", (unsigned long long)nth - 1);
        break;
    }
    keel_buffer_deinitialize(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("pysource faults", tests, NULL, NULL);
}
