// Children of a compiler that end, hang and misbehave, with a plugin that can be made to.
#define _GNU_SOURCE
#include "compiler_help.h"
#include "fork_at_rest.h"

#include <fcntl.h>

static keel_compiler_t *start(const char *faults, unsigned workers) {
    setenv("TEST_PLUGIN", faults, 1);
    return help_start("cpu:1", KEEL_TEST_PLUGIN, workers);
}

// ---- children that end -------------------------------------------------------------------------

static void a_compiler_that_aborts_fails_its_program_alone(void **state) {
    (void)state;
    keel_compiler_t *compiler = start("compile_aborts", 1);
    keel_compiled_t one = help_compile(compiler, "first");
    assert_int_equal(one.code, PJRT_Error_Code_INTERNAL);
    help_fails(&one, "the compiler crashed (SIGABRT)", "about to end");
    // The next child has a plugin that works.
    setenv("TEST_PLUGIN", "", 1);
    one = help_compile(compiler, "second");
    assert_null(one.error);
    assert_true(one.executable_size > 0);
    keel_compiled_deinitialize(&one);
    keel_compiler_stop(compiler);
}

static void a_child_that_is_killed_is_replaced(void **state) {
    (void)state;
    keel_compiler_t *compiler = start("compile_ms=600000", 1);
    uint64_t id = help_submit(compiler, "slow");
    pid_t child = help_await_child_of(getpid());
    help_await_plugin(child, "keel_test_plugin");
    setenv("TEST_PLUGIN", "", 1);
    kill(child, SIGKILL);
    keel_compiled_t one = help_wait(compiler, id);
    help_fails(&one, "the compiler crashed (SIGKILL)", "");
    one = help_compile(compiler, "next");
    assert_null(one.error);
    keel_compiled_deinitialize(&one);
    keel_compiler_stop(compiler);
}

// With one look a second, the first that sees it ends it.
static void a_child_that_is_stopped_fails_its_program_alone(void **state) {
    (void)state;
    uint64_t usual = keel_limit(KEEL_LIMIT_CHILD_STOPPED);
    keel_limit_set(KEEL_LIMIT_CHILD_STOPPED, 1);
    keel_compiler_t *compiler = start("compile_ms=600000", 1);
    uint64_t id = help_submit(compiler, "slow");
    pid_t child = help_await_child_of(getpid());
    help_await_plugin(child, "keel_test_plugin");
    setenv("TEST_PLUGIN", "", 1);
    uint64_t next = help_submit(compiler, "next"); // it waits for the only child
    kill(child, SIGSTOP);
    keel_compiled_t one = help_wait(compiler, id);
    assert_int_equal(one.code, PJRT_Error_Code_DEADLINE_EXCEEDED);
    help_fails(&one, "the compiler's process ", "was stopped by a signal");
    assert_false(help_is_alive(child));
    one = help_wait(compiler, next);
    assert_null(one.error);
    keel_compiled_deinitialize(&one);
    keel_compiler_stop(compiler);
    keel_limit_set(KEEL_LIMIT_CHILD_STOPPED, usual);
}

static void a_child_that_does_nothing_is_given_up(void **state) {
    (void)state;
    uint64_t usual = keel_limit(KEEL_LIMIT_COMPILER_IDLE);
    keel_compiler_t *compiler = start("compile_ms=600000", 1);
    keel_limit_set(KEEL_LIMIT_COMPILER_IDLE, 1);
    keel_compiled_t one = help_compile(compiler, "slow");
    help_fails(&one, "the compiler's process ", "has used no processor time");
    keel_compiler_stop(compiler);
    keel_limit_set(KEEL_LIMIT_COMPILER_IDLE, usual);
}

static void a_child_that_is_killed_while_idle_is_not_missed(void **state) {
    (void)state;
    keel_compiler_t *compiler = start("", 1);
    keel_compiled_t one = help_compile(compiler, "first");
    assert_null(one.error);
    keel_compiled_deinitialize(&one);
    pid_t child = help_await_child_of(getpid());
    kill(child, SIGKILL);
    help_await_end(child);
    while (kill(child, 0) == 0) // until the compiler has noticed
        help_pause();
    one = help_compile(compiler, "second");
    assert_null(one.error);
    keel_compiled_deinitialize(&one);
    keel_compiler_stop(compiler);
}

static void assert_fails_with(const char *faults, const char *first, const char *second) {
    keel_compiler_t *compiler = start(faults, 1);
    keel_compiled_t one = help_compile(compiler, "program");
    help_fails(&one, first, second);
    keel_compiler_stop(compiler);
}

static void other_failures_are_told(void **state) {
    (void)state;
    assert_fails_with("compile_fails", "will not compile", "");
    assert_fails_with("no_client", "target cpu:1", "PJRT_Client_Create");
    assert_fails_with("load_exits", "the compiler crashed (exit code 0)", "");
    assert_fails_with("load_closes", "the compiler crashed", ""); // its files, not itself
    assert_fails_with("no_serialize", "cannot serialize executables", "");
    assert_fails_with("load_fails", "will not load", "");
    assert_fails_with("serialize_exits", "the compiler crashed (exit code 3)", "");
    assert_fails_with("load_aborts=program", "the compiler crashed", "");
}

static void the_code_of_an_error_is_the_plugins(void **state) {
    (void)state;
    keel_compiler_t *compiler = start("out_of_memory", 1);
    keel_compiled_t one = help_compile(compiler, "program");
    assert_int_equal(one.code, PJRT_Error_Code_RESOURCE_EXHAUSTED);
    help_fails(&one, "E1000: CompileTimeHbmOom", "");
    keel_compiler_stop(compiler);
}

static void a_plugin_that_needs_a_device_says_so(void **state) {
    (void)state;
    setenv("TEST_PLUGIN", "", 1);
    keel_compiler_t *compiler = help_start("h200:8", KEEL_TEST_PLUGIN, 1);
    keel_compiled_t one = help_compile(compiler, "program");
    assert_int_equal(one.code, PJRT_Error_Code_UNIMPLEMENTED);
    help_fails(&one, "target h200:8: PJRT_TopologyDescription_Create", "not implemented");
    keel_compiler_stop(compiler);
    compiler = help_start("cpu:1", "/nowhere/plugin.so", 1);
    one = help_compile(compiler, "program");
    help_fails(&one, "plugin /nowhere/plugin.so does not exist", "");
    keel_compiler_stop(compiler);
}

static void a_missing_program_is_named(void **state) {
    (void)state;
    keel_target_t target;
    keel_compiler_t *compiler;
    assert_ok(keel_target_read("cpu:1", &target));
    const keel_compiler_settings_t settings = {
        .target = &target, .plugin = KEEL_TEST_PLUGIN, .workers = 1, .worker = "/nowhere/keel"};
    assert_ok(keel_compiler_start(&settings, &compiler));
    keel_compiled_t one = help_compile(compiler, "program");
    help_fails(&one, "cannot start the compiler process /nowhere/keel", "No such file");
    keel_compiler_stop(compiler);
    setenv("KEEL_WORKER", "/nowhere/other", 1);
    compiler = help_start("cpu:1", KEEL_TEST_PLUGIN, 1);
    unsetenv("KEEL_WORKER");
    one = help_compile(compiler, "program");
    help_fails(&one, "cannot start the compiler process /nowhere/other", "");
    keel_compiler_stop(compiler);
    keel_target_deinitialize(&target);
}

// A program that is not a child of ours writes what it likes.
static void an_answer_that_is_none_is_an_error(void **state) {
    (void)state;
    static const char *const scripts[] = {
        "#!/bin/sh\nprintf 'this is not an answer' >&3\nexec sleep 600\n",
        "#!/bin/sh\nprintf '\\004\\000\\000\\000\\377\\377\\377\\377\\377\\377\\377\\377' >&3\n"
        "exec sleep 600\n",
        "#!/bin/sh\nprintf '\\004\\000\\000\\000\\002\\000\\000\\000\\000\\000\\000\\000\\012\\377'"
        " >&3\nexec sleep 600\n",
        "#!/bin/sh\nprintf '\\002\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000' >&3\n"
        "exec sleep 600\n",
    };
    place_t place;
    place_make(&place);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; ++i) {
        char path[PATH_MAX];
        keel_target_t target;
        keel_compiler_t *compiler;
        snprintf(path, sizeof path, "%s/worker%zu", place.root, i);
        assert_ok(keel_file_create(path, keel_str_bytes(keel_str(scripts[i]))));
        chmod(path, 0700);
        assert_ok(keel_target_read("cpu:1", &target));
        const keel_compiler_settings_t settings = {
            .target = &target, .plugin = KEEL_TEST_PLUGIN, .workers = 1, .worker = path};
        assert_ok(keel_compiler_start(&settings, &compiler));
        keel_compiled_t one = help_compile(compiler, "program");
        help_fails(&one, i == 3 ? "asks for something" : "damaged", "");
        assert_int_equal(help_child_of(getpid()), 0);
        keel_compiler_stop(compiler);
        keel_target_deinitialize(&target);
    }
    place_remove(&place);
}

// ---- what children have of this process --------------------------------------------------------

static void children_hold_none_of_our_files(void **state) {
    (void)state;
    place_t place;
    place_make(&place);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/secret", place.root);
    int leaking = open(path, O_RDWR | O_CREAT, 0600); // without O_CLOEXEC
    assert_true(leaking > 2);
    keel_compiler_t *compiler = start("compile_ms=600000", 1);
    help_submit(compiler, "slow");
    pid_t child = help_await_child_of(getpid());
    help_await_plugin(child, "keel_test_plugin");
    char folder[64];
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)child);
    DIR *files = opendir(folder);
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files));) {
        char link[512], target[PATH_MAX] = "";
        snprintf(link, sizeof link, "%s/%s", folder, entry->d_name);
        if (readlink(link, target, sizeof target - 1) > 0 && strstr(target, "secret"))
            fail_msg("the child holds %s", target);
    }
    closedir(files);
    close(leaking);
    keel_compiler_stop(compiler);
    assert_false(help_is_alive(child));
    place_remove(&place);
}

static void a_child_has_a_group_of_its_own(void **state) {
    (void)state;
    keel_compiler_t *compiler = start("compile_ms=600000", 1);
    help_submit(compiler, "slow");
    pid_t child = help_await_child_of(getpid()), parent, group = 0;
    char its_state;
    help_await_plugin(child, "keel_test_plugin");
    assert_true(help_stat(child, &its_state, &parent, &group));
    assert_int_equal(group, child);
    keel_compiler_stop(compiler);
}

static void children_end_with_their_process(void **state) {
    (void)state;
    pid_t other = fork();
    if (!other) {
        keel_compiler_t *compiler = start("compile_ms=600000", 2);
        help_submit(compiler, "slow");
        for (;;)
            pause();
    }
    pid_t child = help_await_child_of(other);
    help_await_plugin(child, "keel_test_plugin");
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    help_await_end(child);
}

static void nothing_is_printed(void **state) {
    (void)state;
    place_t place;
    place_make(&place);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/printed", place.root);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), out = dup(1), err = dup(2);
    fflush(NULL);
    dup2(file, 1);
    dup2(file, 2);
    keel_compiler_t *compiler = start("compile_aborts", 1);
    keel_compiled_t one = help_compile(compiler, "program");
    keel_compiler_stop(compiler);
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    help_fails(&one, "about to end", "");
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    close(file);
    place_remove(&place);
}

// ---- stopping ----------------------------------------------------------------------------------

typedef struct waiter_t {
    keel_compiler_t *compiler;
    uint64_t id;
    keel_code_t code;
} waiter_t;

static void *wait_for_it(void *context) {
    waiter_t *waiter = context;
    keel_compiled_t one;
    keel_status_t status = keel_compiler_wait(waiter->compiler, waiter->id, &one);
    waiter->code = keel_status_code(status);
    if (!status) keel_compiled_deinitialize(&one);
    keel_status_ignore(status);
    return NULL;
}

static void stop_while_others_wait(void) {
    keel_compiler_t *compiler = start("compile_ms=600000", 2);
    waiter_t waiters[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) {
        waiters[i] = (waiter_t){.compiler = compiler, .id = help_submit(compiler, "slow")};
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_it, &waiters[i]), 0);
    }
    help_await_plugin(help_await_child_of(getpid()), "keel_test_plugin");
    help_pause();
    keel_compiler_stop(compiler);
    for (int i = 0; i < 3; ++i) {
        pthread_join(threads[i], NULL);
        assert_int_equal(waiters[i].code, KEEL_REFUSED);
    }
    assert_int_equal(help_child_of(getpid()), 0);
}

// Who wakes up first decides a race.
static void stopping_ends_all_that_waits(void **state) {
    (void)state;
    for (int i = 0; i < 20; ++i)
        stop_while_others_wait();
    keel_compiler_stop(NULL);
}

static void a_forked_process_has_no_compiler(void **state) {
    (void)state;
    keel_compiler_t *compiler = start("", 1);
    keel_compiled_t one = help_compile(compiler, "program");
    keel_compiled_deinitialize(&one);
    pid_t forked = fork_at_rest();
    if (!forked) {
        uint64_t id;
        keel_job_t job = help_job("program");
        keel_code_t code = keel_status_code(keel_compiler_submit(compiler, &job, &id));
        keel_code_t other = keel_status_code(keel_compiler_wait(compiler, 1, &one));
        keel_compiler_stop(compiler);
        _exit(code == KEEL_REFUSED && other == KEEL_REFUSED ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(forked, &result, 0), forked);
    assert_int_equal(result, 0);
    one = help_compile(compiler, "program");
    assert_null(one.error);
    keel_compiled_deinitialize(&one);
    keel_compiler_stop(compiler);
}

static void compilers_and_processes_work_side_by_side(void **state) {
    (void)state;
#if defined(__SANITIZE_THREAD__)
    // It may end a forked process that makes threads ("dup thread with used id"). The other builds
    // run this test; this one can once its thread sanitizer follows such processes.
    print_message("skipped: it waits for a thread sanitizer that follows forked processes with "
                  "threads; the other builds run it\n");
    skip();
#endif
    enum { OTHERS = 2 };
    pid_t others[OTHERS];
    for (int i = 0; i < OTHERS; ++i) {
        others[i] = fork();
        if (others[i]) continue;
        keel_compiler_t *pair[] = {start("compile_ms=20", 2), start("compile_ms=20", 2)};
        for (int job = 0; job < 8; ++job)
            help_submit(pair[job % 2], "program");
        for (int job = 0; job < 8; ++job) {
            keel_compiled_t one;
            if (keel_compiler_wait(pair[job % 2], KEEL_COMPILER_ANY, &one) || one.error) _exit(1);
            keel_compiled_deinitialize(&one);
        }
        keel_compiler_stop(pair[0]);
        keel_compiler_stop(pair[1]);
        _exit(0);
    }
    for (int i = 0; i < OTHERS; ++i) {
        int result;
        assert_int_equal(waitpid(others[i], &result, 0), others[i]);
        assert_int_equal(result, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compiler_that_aborts_fails_its_program_alone),
        cmocka_unit_test(a_child_that_is_killed_is_replaced),
        cmocka_unit_test(a_child_that_is_stopped_fails_its_program_alone),
        cmocka_unit_test(a_child_that_does_nothing_is_given_up),
        cmocka_unit_test(a_child_that_is_killed_while_idle_is_not_missed),
        cmocka_unit_test(other_failures_are_told),
        cmocka_unit_test(the_code_of_an_error_is_the_plugins),
        cmocka_unit_test(a_plugin_that_needs_a_device_says_so),
        cmocka_unit_test(a_missing_program_is_named),
        cmocka_unit_test(an_answer_that_is_none_is_an_error),
        cmocka_unit_test(children_hold_none_of_our_files),
        cmocka_unit_test(a_child_has_a_group_of_its_own),
        cmocka_unit_test(children_end_with_their_process),
        cmocka_unit_test(nothing_is_printed),
        cmocka_unit_test(stopping_ends_all_that_waits),
        cmocka_unit_test(a_forked_process_has_no_compiler),
        cmocka_unit_test(compilers_and_processes_work_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
