// Whose file it is, and the stack if there is no Python; tests/client/stack.py uses real Pythons.
#define _GNU_SOURCE
#include "host/host.h"
#include "place.h"

static bool is_library(const char *file) {
    return keel_is_library_file(keel_str(file));
}

static void test_files_of_packages_and_of_the_interpreter_are_a_librarys(void **state) {
    (void)state;
    static const char *const files[] = {
        "/home/u/.venv/lib/python3.13/site-packages/jax/_src/pjit.py",
        "/usr/lib/python3/dist-packages/numpy/core.py",
        "C:/anything/site-packages/x.py",
        "/usr/lib/python3.11/runpy.py",
        "/usr/lib64/python3.9/threading.py",
        "/opt/lib/python3.13t/runpy.py",
        "/opt/lib/python3.zip/runpy.py",
        "/home/u/keel/build/lib/keel/python/keel/graphs.py", // which wraps what the client calls
        "/opt/lib/python/lib/python3.10/runpy.py",
        "<frozen runpy>",
        "<string>",
        "<attrs generated init Model>",
        "",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i)
        if (!is_library(files[i])) fail_msg("%s", files[i]);
}

static void test_all_else_is_the_users(void **state) {
    (void)state;
    static const char *const files[] = {
        "/home/u/train.py",
        "train.py",
        "/home/u/lib/python/model.py",
        "/home/u/lib/python3/model.py",
        "/home/u/lib/python3./model.py",
        "/home/u/lib/python3.11",
        "/home/u/lib/pythonic3.11/model.py",
        "/home/u/python3.11/model.py",
        "/home/u/my-site-packages/model.py",
        "<stdin>",
        "<ipython-input-3-0123456789ab>",
        "/var/tmp/ipykernel/12/345.py",
        "<doctest model[0]>",
        "<python-input-0>",
        "<stdin-1>",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i)
        if (is_library(files[i])) fail_msg("%s", files[i]);
}

static void assert_package(const char *file, const char *package, const char *name,
                           const char *shown) {
    keel_str_t found = keel_package_of(keel_str(file)), named = keel_package_name(keel_str(file));
    if (!keel_str_is(found, package)) fail_msg("%s: %.*s", file, KEEL_STR_ARGS(found));
    if (!keel_str_is(named, name)) fail_msg("%s: %.*s", file, KEEL_STR_ARGS(named));
    assert_string_equal(keel_library_shown(file), shown);
}

static void test_an_installed_file_belongs_to_a_package(void **state) {
    (void)state;
    assert_package("/v/lib/python3.13/site-packages/flax/nnx/x.py",
                   "/v/lib/python3.13/site-packages/flax/", "flax", "flax/nnx/x.py");
    assert_package("/v/lib/python3.13/site-packages/six.py",
                   "/v/lib/python3.13/site-packages/six.py", "six", "six.py");
    assert_package("/usr/lib/python3/dist-packages/numpy/a.py",
                   "/usr/lib/python3/dist-packages/numpy/", "numpy", "numpy/a.py");
    assert_package("/home/u/train.py", "", "", "/home/u/train.py");
    assert_package("<string>", "<string>", "<string>", "<string>");
    assert_package("", "", "", "");
}

static void test_the_package_that_is_run_is_the_users(void **state) {
    (void)state;
    const char *application = "models, trainer,six";
    assert_false(keel_is_foreign_file(KEEL_STR("/v/lib/python3.13/site-packages/trainer/a.py"),
                                      application));
    assert_false(
        keel_is_foreign_file(KEEL_STR("/v/lib/python3.13/site-packages/six.py"), application));
    assert_true(keel_is_foreign_file(KEEL_STR("/v/lib/python3.13/site-packages/trainers/a.py"),
                                     application));
    assert_true(keel_is_foreign_file(KEEL_STR("/usr/lib/python3.13/queue.py"), application));
    assert_false(keel_is_foreign_file(KEEL_STR("/home/u/train.py"), application));
    assert_true(keel_is_foreign_file(KEEL_STR("/v/lib/python3.13/site-packages/trainer/a.py"), ""));
    assert_true(
        keel_is_foreign_file(KEEL_STR("/v/lib/python3.13/site-packages/trainer/a.py"), NULL));
}

static void assert_function(const char *origin, const char *function) {
    assert_true(keel_str_is(keel_origin_function(keel_str(origin)), function));
}

static void test_an_edit_above_moves_a_function_and_not_a_line_that_asked(void **state) {
    (void)state;
    assert_function("make.<locals>.step at /home/u/train.py:12",
                    "make.<locals>.step at /home/u/train.py");
    assert_function("/home/u/train.py:31", "/home/u/train.py:31");
    assert_function("", "");
}

static void test_without_python_the_stack_is_skipped_with_the_reason(void **state) {
    (void)state;
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    keel_stack_t stack = {.count = 7};
    keel_stack_read(&arena, "", &stack);
    assert_string_equal(stack.skipped, "there is no Python in this process");
    assert_int_equal(stack.count, 0);
    assert_int_equal(stack.left_out, 0);
    keel_arena_deinitialize(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_of_packages_and_of_the_interpreter_are_a_librarys),
        cmocka_unit_test(test_all_else_is_the_users),
        cmocka_unit_test(test_an_installed_file_belongs_to_a_package),
        cmocka_unit_test(test_the_package_that_is_run_is_the_users),
        cmocka_unit_test(test_an_edit_above_moves_a_function_and_not_a_line_that_asked),
        cmocka_unit_test(test_without_python_the_stack_is_skipped_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
