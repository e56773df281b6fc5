// Which frames of a Python stack are reported, in an interpreter that this test fakes;
// tests/client/stack.py uses real ones.
#define _GNU_SOURCE
#include "host/host.h"
#include "host/python.h"
#include "place.h"

#define PACKAGES "/v/lib/python3.13/site-packages/"

// A frame, its code, a text, or a namespace; what is made is counted until it is dropped.
struct keel_object_t {
    const char *file, *function; // of a frame and its code
    int line;
    const char *traced; // of a frame: what JAX traced
    const char *text;
    keel_object_t *outer;
};

static keel_object_t *innermost;
static long alive;   // references that the code under test holds
static long entered; // and the interpreter's lock
static bool has_qualified_names;

static keel_object_t *count(keel_object_t *object) {
    alive += object != NULL;
    return object;
}

static keel_object_t *text_of(const char *text) {
    static keel_object_t made[4096];
    static size_t next;
    made[next % 4096] = (keel_object_t){.text = text};
    return count(&made[next++ % 4096]);
}

static keel_object_t *frame(void) {
    return innermost;
}

static keel_object_t *back(keel_object_t *object) {
    return count(object->outer);
}

static keel_object_t *code(keel_object_t *object) {
    return count(object);
}

static int line(keel_object_t *object) {
    return object->line;
}

static keel_object_t *attribute(keel_object_t *object, const char *name) {
    if (strcmp(name, "co_filename") == 0) return text_of(object->file);
    if (strcmp(name, "co_name") == 0) return text_of(object->function);
    if (strcmp(name, "co_qualname") == 0 && has_qualified_names) return text_of(object->function);
    bool leads = strcmp(name, "f_locals") == 0 || strcmp(name, "debug_info") == 0;
    if (leads && object->traced) return count(object);
    if (strcmp(name, "func_src_info") == 0 && object->traced) return text_of(object->traced);
    return NULL;
}

static keel_object_t *item(keel_object_t *object, const char *name) {
    return strcmp(name, "all_args_info") == 0 ? count(object) : NULL;
}

static const char *text(keel_object_t *object, ptrdiff_t *size) {
    if (object->text) *size = (ptrdiff_t)strlen(object->text);
    return object->text;
}

static void hold(keel_object_t *object) {
    count(object);
}

static void drop(keel_object_t *object) {
    alive -= object != NULL;
}

static void clear_error(void) {}

// tests/unit/host.cmake puts these in the place of the interpreter's.
const char *__wrap_keel_python_enter(keel_python_t *out);
void __wrap_keel_python_leave(keel_python_t *python);

const char *__wrap_keel_python_enter(keel_python_t *out) {
    ++entered;
    *out = (keel_python_t){.frame = frame,
                           .back = back,
                           .code = code,
                           .line = line,
                           .attribute = attribute,
                           .item = item,
                           .text = text,
                           .hold = hold,
                           .drop = drop,
                           .clear_error = clear_error};
    return NULL;
}

void __wrap_keel_python_leave(keel_python_t *python) {
    (void)python;
    --entered;
}

static const char *setting; // application

typedef struct reading_t {
    keel_arena_t arena;
    keel_stack_t stack;
} reading_t;

static int set_up(void **state) {
    reading_t *reading = calloc(1, sizeof *reading);
    keel_arena_initialize(&reading->arena, 0);
    has_qualified_names = true;
    setting = "";
    *state = reading;
    return 0;
}

static int tear_down(void **state) {
    reading_t *reading = *state;
    keel_arena_deinitialize(&reading->arena);
    free(reading);
    return 0;
}

// Frames innermost first; every reference that is taken is given back.
static const keel_stack_t *read_frames(reading_t *reading, keel_object_t *frames, size_t size) {
    for (size_t i = 0; i + 1 < size; ++i)
        frames[i].outer = &frames[i + 1];
    if (size) frames[size - 1].outer = NULL;
    innermost = size ? frames : NULL;
    alive = 0;
    keel_stack_read(&reading->arena, setting, &reading->stack);
    assert_int_equal(alive, 0);
    assert_int_equal(entered, 0);
    return &reading->stack;
}
#define READ(reading, ...)                                                                         \
    read_frames((reading), (keel_object_t[]){__VA_ARGS__},                                         \
                sizeof((keel_object_t[]){__VA_ARGS__}) / sizeof(keel_object_t))

static void the_users_frames_are_told_and_the_others_counted(void **state) {
    const keel_stack_t *stack =
        READ(*state, {.file = PACKAGES "jax/_src/pjit.py", .function = "call", .line = 5},
             {.file = "/w/model.py", .function = "Model.loss", .line = 12},
             {.file = "/usr/lib/python3.13/contextlib.py", .function = "inner", .line = 80},
             {.file = "/w/train.py", .function = "<module>", .line = 40},
             {.file = "<frozen runpy>", .function = "run", .line = 1});
    assert_null(stack->skipped);
    assert_int_equal(stack->count, 2);
    assert_int_equal(stack->left_out, 3);
    assert_string_equal(stack->frames[0].file, "/w/model.py");
    assert_string_equal(stack->frames[0].function, "Model.loss");
    assert_int_equal(stack->frames[0].line, 12);
    assert_string_equal(stack->frames[1].function, "<module>");
    assert_null(stack->library_file);
    keel_place_t top = keel_stack_top(stack);
    assert_string_equal(top.call_file, "/w/train.py");
    assert_int_equal(top.call_line, 40);
}

static void without_qualified_names_a_function_has_its_own(void **state) {
    has_qualified_names = false;
    const keel_stack_t *stack = READ(*state, {.file = "/w/a.py", .function = "f", .line = 1},
                                     {.file = "/w/a.py", .function = "g", .line = 2});
    assert_string_equal(stack->frames[0].function, "f");
    assert_string_equal(stack->frames[1].function, "g");
    assert_string_equal(keel_stack_top(stack).call_file, "/w/a.py");
    stack = READ(*state, {.file = "/w/a.py", .function = "f", .line = -1});
    assert_int_equal(stack->frames[0].line, 0);
    assert_string_equal(keel_stack_top(stack).call_file, "");
}

// The line of a library that the user called: the innermost that is no client's.
static void a_librarys_line_is_told_beside_the_users(void **state) {
    const keel_stack_t *stack =
        READ(*state, {.file = PACKAGES "jax/_src/pjit.py", .line = 5},
             {.file = PACKAGES "torch/nn/x.py", .line = 6},
             {.file = PACKAGES "torch_xla/core.py", .line = 7},
             {.file = PACKAGES "jaxlib/a.py", .line = 8},
             {.file = PACKAGES "jax_plugins/a.py", .line = 9},
             {.file = PACKAGES "keel/a.py", .line = 10}, {.file = "<string>", .line = 11},
             {.file = "/usr/lib/python3.13/functools.py", .line = 12},
             {.file = PACKAGES "equinox/_jit.py", .function = "f", .line = 13},
             {.file = PACKAGES "optax/base.py", .line = 14}, {.file = "/w/train.py", .line = 15},
             {.file = PACKAGES "flax/cli.py", .line = 16});
    assert_string_equal(stack->library_file, PACKAGES "equinox/_jit.py");
    assert_int_equal(stack->library_line, 13);
    assert_int_equal(stack->count, 1);
    assert_int_equal(stack->left_out, 11);
}

static void a_name_that_begins_as_a_clients_is_another_library(void **state) {
    static const char *const files[] = {PACKAGES "torchvision/a.py", PACKAGES "jaxopt/a.py",
                                        PACKAGES "xjax/a.py", PACKAGES "keel.py",
                                        PACKAGES "torch.py"};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        const keel_stack_t *stack =
            READ(*state, {.file = files[i], .line = 3}, {.file = "/w/train.py", .line = 15});
        if (!stack->library_file) fail_msg("%s", files[i]);
        assert_string_equal(stack->library_file, files[i]);
    }
}

// A library outside of the user's frames has called the user, not the other way round.
static void a_library_that_calls_the_user_is_not_the_one_that_was_called(void **state) {
    const keel_stack_t *stack =
        READ(*state, {.file = "/w/model.py", .line = 1}, {.file = PACKAGES "keras/t.py", .line = 2},
             {.file = "/w/train.py", .line = 3});
    assert_null(stack->library_file);
    assert_int_equal(stack->count, 2);
    assert_int_equal(stack->left_out, 1);
}

static void a_package_that_is_run_is_the_users(void **state) {
    const keel_stack_t *stack = READ(*state, {.file = PACKAGES "jax/_src/pjit.py", .line = 1},
                                     {.file = PACKAGES "trainer/step.py", .line = 2},
                                     {.file = PACKAGES "trainer/__main__.py", .line = 3},
                                     {.file = "<frozen runpy>", .line = 4});
    assert_int_equal(stack->count, 2);
    assert_string_equal(stack->frames[0].file, PACKAGES "trainer/step.py");
    // So it is behind the script that an installer wrote for it.
    stack = READ(*state, {.file = PACKAGES "trainer/step.py", .line = 2},
                 {.file = PACKAGES "trainer/cli.py", .line = 3},
                 {.file = "/v/bin/trainer", .function = "<module>", .line = 8});
    assert_int_equal(stack->count, 3);
    assert_string_equal(stack->frames[0].file, PACKAGES "trainer/step.py");
    // A user's own script without an ending is none, if it does more than that or lies elsewhere.
    stack = READ(*state, {.file = PACKAGES "trainer/step.py", .line = 2},
                 {.file = "/w/tools/train", .function = "<module>", .line = 8});
    assert_int_equal(stack->count, 1);
    assert_string_equal(stack->library_file, PACKAGES "trainer/step.py");
    stack = READ(*state, {.file = PACKAGES "trainer/step.py", .line = 2},
                 {.file = "/w/bin/train.py", .function = "<module>", .line = 8});
    assert_int_equal(stack->count, 1);
    stack = READ(*state, {.file = PACKAGES "trainer/step.py", .line = 2},
                 {.file = "/w/bin/train", .function = "main", .line = 8},
                 {.file = "/w/bin/train", .function = "<module>", .line = 9});
    assert_int_equal(stack->count, 2);
}

// A script that calls what would otherwise have been started does little else.
static void a_package_whose_main_the_script_calls_is_the_users(void **state) {
    const keel_stack_t *stack =
        READ(*state, {.file = PACKAGES "jax/_src/pjit.py", .line = 1},
             {.file = PACKAGES "named/jit.py", .function = "call", .line = 2},
             {.file = PACKAGES "trainer/loop.py", .function = "Trainer.train", .line = 3},
             {.file = PACKAGES "trainer/main.py", .function = "main", .line = 4},
             {.file = PACKAGES "absl/app.py", .function = "run", .line = 5},
             {.file = "/w/train.py", .function = "main", .line = 6},
             {.file = "/w/train.py", .function = "<module>", .line = 7});
    assert_string_equal(stack->application, "trainer");
    assert_int_equal(stack->count, 4);
    assert_string_equal(stack->frames[0].file, PACKAGES "trainer/loop.py");
    assert_string_equal(stack->library_file, PACKAGES "named/jit.py");
    keel_place_t top = keel_stack_top(stack);
    assert_string_equal(top.application, "trainer");
    assert_string_equal(top.script_file, "/w/train.py");
    assert_int_equal(top.script_line, 6);
    // What the application calls of the script is the user's as ever.
    stack = READ(*state, {.file = PACKAGES "jax/_src/pjit.py", .line = 1},
                 {.file = "/w/train.py", .function = "loss", .line = 2},
                 {.file = PACKAGES "trainer/loop.py", .function = "Trainer.train", .line = 3},
                 {.file = PACKAGES "trainer/main.py", .function = "main", .line = 4},
                 {.file = "/w/train.py", .function = "<module>", .line = 7});
    assert_string_equal(stack->frames[0].function, "loss");
    assert_string_equal(stack->frames[1].file, PACKAGES "trainer/loop.py");
    assert_null(stack->script_file);
}

static void a_library_that_the_script_calls_is_none_of_the_users(void **state) {
    const keel_stack_t *stack =
        READ(*state, {.file = PACKAGES "keras/trainer.py", .function = "Trainer.fit", .line = 1},
             {.file = "/w/train.py", .function = "main", .line = 6},
             {.file = "/w/train.py", .function = "<module>", .line = 7});
    assert_null(stack->application);
    assert_int_equal(stack->count, 2);
    // Nor is what only starts other code.
    stack =
        READ(*state, {.file = PACKAGES "keras/trainer.py", .function = "Trainer.fit", .line = 1},
             {.file = "/w/test_a.py", .function = "test_fit", .line = 6},
             {.file = PACKAGES "_pytest/main.py", .function = "main", .line = 7},
             {.file = PACKAGES "pytest/__main__.py", .function = "<module>", .line = 5},
             {.file = "<frozen runpy>", .line = 4});
    assert_null(stack->application);
    assert_int_equal(stack->count, 1);
}

// A package that is started stays the user's where it calls code of the user's.
static void a_package_that_is_run_is_the_users_around_the_users_code(void **state) {
    const keel_stack_t *stack =
        READ(*state, {.file = "/w/model.py", .function = "loss", .line = 1},
             {.file = PACKAGES "trainer/step.py", .function = "step", .line = 2},
             {.file = PACKAGES "trainer/__main__.py", .function = "<module>", .line = 3},
             {.file = "<frozen runpy>", .line = 4});
    assert_string_equal(stack->application, "trainer");
    assert_int_equal(stack->count, 3);
    stack = READ(*state, {.file = "/w/model.py", .function = "loss", .line = 1},
                 {.file = PACKAGES "trainer/step.py", .function = "step", .line = 2},
                 {.file = PACKAGES "trainer/cli.py", .function = "entry", .line = 3},
                 {.file = "/v/bin/trainer", .function = "<module>", .line = 8});
    assert_string_equal(stack->application, "trainer");
    assert_int_equal(stack->count, 4);
    assert_null(stack->script_file);
}

static void packages_that_a_setting_names_are_the_users(void **state) {
    setting = "named, keras";
    const keel_stack_t *stack =
        READ(*state, {.file = PACKAGES "jax/_src/pjit.py", .line = 1},
             {.file = PACKAGES "keras/trainer.py", .function = "Trainer.fit", .line = 2},
             {.file = PACKAGES "trainer/main.py", .function = "main", .line = 4},
             {.file = "/w/train.py", .function = "<module>", .line = 7});
    assert_string_equal(stack->application, "named, keras,trainer");
    assert_int_equal(stack->count, 3);
    assert_string_equal(stack->frames[0].file, PACKAGES "keras/trainer.py");
    assert_int_equal(stack->script_line, 7);
}

static void code_that_an_option_gives_is_the_users_and_what_it_calls(void **state) {
    const keel_stack_t *stack =
        READ(*state, {.file = PACKAGES "trainer/loop.py", .function = "train", .line = 3},
             {.file = PACKAGES "trainer/main.py", .function = "main", .line = 4},
             {.file = "<string>", .function = "<module>", .line = 1});
    assert_string_equal(stack->application, "<string>,trainer");
    assert_int_equal(stack->count, 3);
}

static void a_thread_that_runs_no_python_says_so(void **state) {
    const keel_stack_t *stack = read_frames(*state, NULL, 0);
    assert_string_equal(stack->skipped, "the thread runs no Python code");
    assert_int_equal(stack->count, 0);
}

static void a_deep_stack_is_told_as_far_as_it_tells_enough(void **state) {
    enum { DEEP = 3000, WALKED = 2048 };
    keel_object_t *frames = calloc(DEEP, sizeof *frames);
    for (int i = 0; i < DEEP; ++i)
        frames[i] = (keel_object_t){.file = "/w/a.py", .function = "f", .line = i + 1};
    const keel_stack_t *stack = read_frames(*state, frames, DEEP);
    assert_int_equal(stack->count, KEEL_STACK_KEPT);
    assert_int_equal(stack->left_out, WALKED - KEEL_STACK_KEPT);
    for (uint32_t i = 0; i < KEEL_STACK_KEPT; ++i)
        assert_int_equal(stack->frames[i].line, i + 1);
    stack = read_frames(*state, frames, KEEL_STACK_KEPT);
    assert_int_equal(stack->count, KEEL_STACK_KEPT);
    assert_int_equal(stack->left_out, 0);
    free(frames);
}

// ---- what JAX tells ----------------------------------------------------------------------------

static void assert_traced(void **state, const char *told, const char *file, uint32_t number) {
    const keel_stack_t *stack = READ(*state,
                                     {.file = PACKAGES "jax/_src/interpreters/pxla.py",
                                      .function = "UnloadedMeshExecutable.from_hlo",
                                      .traced = told},
                                     {.file = "/w/train.py", .line = 9});
    if (!file) {
        assert_null(stack->traced_file);
        return;
    }
    assert_non_null(stack->traced_file);
    assert_string_equal(stack->traced_file, file);
    assert_int_equal(stack->traced_line, number);
}

static void what_jax_traced_is_told_with_its_line(void **state) {
    assert_traced(state, "step at /w/train.py:12", "/w/train.py", 12);
    assert_traced(state, "<lambda> at /w/a:b.py:10987", "/w/a:b.py", 10987);
    assert_traced(state, "f at :7", "", 7);
    assert_traced(state, "step", NULL, 0);
    assert_traced(state, "step /w/train.py:12", NULL, 0);
    assert_traced(state, "a:12 at b", NULL, 0);
    assert_traced(state, "step at /w/train.py:1x", NULL, 0);
    assert_traced(state, "step at /w/train.py:1/", NULL, 0);
    assert_traced(state, "step at /w/train.py:1:", "/w/train.py:1", 0);
    assert_traced(state, "step at /w/train.py:99999999999", NULL, 0);
    assert_traced(state, "", NULL, 0);
    assert_traced(state, NULL, NULL, 0);
}

static void only_where_jax_compiles_is_it_asked_what_it_traced(void **state) {
    const keel_stack_t *stack = READ(*state,
                                     {.file = PACKAGES "jax/_src/pxla_not.py",
                                      .function = "from_hlo",
                                      .traced = "a at /w/a.py:1"},
                                     {.file = PACKAGES "jax/_src/interpreters/pxla.py",
                                      .function = "from_hlo_not",
                                      .traced = "b at /w/b.py:2"},
                                     {.file = "/w/train.py", .line = 3},
                                     {.file = PACKAGES "jax/_src/interpreters/pxla.py",
                                      .function = "from_hlo",
                                      .traced = "c at /w/c.py:3"});
    assert_null(stack->traced_file);
}

static void a_program_that_was_lowered_before_is_compiled_by_a_call_of_its_own(void **state) {
    const keel_stack_t *stack =
        READ(*state, {.file = PACKAGES "jax/_src/stages.py", .function = "Lowered.compile"},
             {.file = "/w/train.py", .line = 9});
    assert_true(stack->is_deferred);
    stack = READ(*state, {.file = PACKAGES "jax/_src/stages.py", .function = "Lowered.lower"},
                 {.file = "/w/train.py", .line = 9});
    assert_false(stack->is_deferred);
    stack = READ(*state, {.file = PACKAGES "mine/stages.py", .function = "compile"},
                 {.file = "/w/train.py", .line = 9});
    assert_false(stack->is_deferred);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_users_frames_are_told_and_the_others_counted),
        TEST(without_qualified_names_a_function_has_its_own),
        TEST(a_librarys_line_is_told_beside_the_users),
        TEST(a_name_that_begins_as_a_clients_is_another_library),
        TEST(a_library_that_calls_the_user_is_not_the_one_that_was_called),
        TEST(a_package_that_is_run_is_the_users),
        TEST(a_package_whose_main_the_script_calls_is_the_users),
        TEST(a_library_that_the_script_calls_is_none_of_the_users),
        TEST(a_package_that_is_run_is_the_users_around_the_users_code),
        TEST(packages_that_a_setting_names_are_the_users),
        TEST(code_that_an_option_gives_is_the_users_and_what_it_calls),
        TEST(a_thread_that_runs_no_python_says_so),
        TEST(a_deep_stack_is_told_as_far_as_it_tells_enough),
        TEST(what_jax_traced_is_told_with_its_line),
        TEST(only_where_jax_compiles_is_it_asked_what_it_traced),
        TEST(a_program_that_was_lowered_before_is_compiled_by_a_call_of_its_own),
    };
    return cmocka_run_group_tests_name("host frames", tests, NULL, NULL);
}
