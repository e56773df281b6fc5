// Each allocation of a compiler fails once, in its process and in its child: the program fails, or
// it compiles; no process hangs, and the next program compiles.
#define _GNU_SOURCE
#include "compiler_help.h"

enum { MOST = 2000 };

static int begin(void **state) {
    (void)state;
    setenv("TEST_PLUGIN", "", 1);
    return 0;
}

static keel_status_t compile_once(const keel_target_t *target, bool *out_compiled) {
    keel_compiler_t *compiler;
    keel_compiled_t one = {0};
    keel_job_t job = help_job("program");
    uint64_t id;
    *out_compiled = false;
    KEEL_TRY(keel_compiler_start(
        &(keel_compiler_settings_t){.target = target, .plugin = KEEL_TEST_PLUGIN, .workers = 1},
        &compiler));
    keel_status_t status = keel_compiler_submit(compiler, &job, &id);
    if (!status) {
        assert_ok(keel_compiler_wait(compiler, id, &one));
        assert_int_equal(one.id, id);
        *out_compiled = !one.error;
        assert_true(one.error ? !one.executable : one.executable_size > 0);
        if (one.error && !strstr(one.error, "memory") && !strstr(one.error, "could not grow"))
            fail_msg("'%s'", one.error);
    }
    keel_compiled_deinitialize(&one);
    keel_compiler_stop(compiler);
    return status;
}

static void each_failure_here_fails_the_program(void **state) {
    (void)state;
    keel_target_t target;
    bool compiled;
    assert_ok(keel_target_read("cpu:1", &target));
    for (uint64_t nth = 1;; ++nth) {
        assert_true(nth < MOST);
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = compile_once(&target, &compiled);
        uint64_t count = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        bool is_over = count < nth;
        if (status) assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        keel_status_ignore(status);
        if (is_over) assert_true(compiled);
        if (is_over) break;
    }
    keel_target_deinitialize(&target);
}

// The child reads the variable; this process has read it before.
static void each_failure_in_a_child_fails_the_program(void **state) {
    (void)state;
    keel_target_t target;
    unsigned failed = 0, calm = 0;
    assert_ok(keel_target_read("cpu:1", &target));
    for (unsigned nth = 1; calm < 10; ++nth) {
        char fault[32];
        bool compiled;
        assert_true(nth < MOST);
        snprintf(fault, sizeof fault, "alloc:%u", nth);
        setenv("KEEL_FAULT", fault, 1);
        keel_status_t status = compile_once(&target, &compiled);
        unsetenv("KEEL_FAULT");
        assert_null(status);
        failed += !compiled;
        calm = compiled ? calm + 1 : 0;
    }
    assert_true(failed > 5);
    keel_target_deinitialize(&target);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failure_here_fails_the_program),
        cmocka_unit_test(each_failure_in_a_child_fails_the_program),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
