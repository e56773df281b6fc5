// What is read from PyTorch/XLA and JAX in an interpreter that this test fakes: each reference is
// given back, and no exception is left.
#define _GNU_SOURCE
#include "host/host_ops.h"

#include "host/host.h"
#include "host/python.h"
#include "place.h"

typedef enum kind_t { NOTHING, MODULE, BRIDGE, FUNCTION, LIST, NUMBER, TEXT } kind_t;

struct keel_object_t {
    kind_t kind;
    const char *text; // of TEXT and of FUNCTION: its name
    long long number; // of NUMBER and of a counter
};

// What the interpreter has, and what goes wrong in it.
static struct {
    bool no_entry, no_module, no_bridge, no_names, names_fail, no_length, no_atexit, no_register;
    bool no_run, no_dict, run_fails;
    size_t count;
    const char *names[400]; // NULL: one that cannot be had
    long long times[400];   // -1: no number
} python;

static long alive, entered;
static bool has_error;
static keel_object_t made[4096];
static size_t made_count;
static keel_python_method_t *registered;

static keel_object_t *make(kind_t kind, const char *text, long long number) {
    keel_object_t *object = &made[made_count++ % 4096];
    *object = (keel_object_t){kind, text, number};
    ++alive;
    return object;
}

static keel_object_t *fail_with_error(void) {
    has_error = true;
    return NULL;
}

static void clear_error(void) {
    has_error = false;
}

static void drop(keel_object_t *object) {
    alive -= object != NULL;
}

static keel_object_t *modules(void) {
    static keel_object_t all = {.kind = LIST};
    return &all; // borrowed
}

static keel_object_t *item(keel_object_t *of, const char *name) {
    (void)of;
    if (strcmp(name, "names") == 0)
        return make(TEXT, of->number ? "\tscale\n\t\n" : "rest[0]\tbatch\n", 0);
    return strcmp(name, "torch_xla") == 0 && !python.no_module ? make(MODULE, "torch_xla", 0)
                                                               : fail_with_error();
}

static keel_object_t *attribute(keel_object_t *of, const char *name) {
    if (of->kind == MODULE && strcmp(name, "_XLAC") == 0 && !python.no_bridge)
        return make(BRIDGE, NULL, 0);
    if (of->kind == MODULE && strcmp(name, "register") == 0 && !python.no_register)
        return make(FUNCTION, name, 0);
    bool is_known = strcmp(name, "_xla_counter_value") == 0 ||
                    (strcmp(name, "_xla_counter_names") == 0 && !python.no_names);
    return of->kind == BRIDGE && is_known ? make(FUNCTION, name, 0) : fail_with_error();
}

static keel_object_t *call(keel_object_t *function, keel_object_t *argument, ...) {
    if (strcmp(function->text, "register") == 0) return make(NOTHING, NULL, 0);
    if (strcmp(function->text, "_xla_counter_names") == 0) {
        assert_null(argument);
        return python.names_fail ? fail_with_error() : make(LIST, NULL, 0);
    }
    if (argument->number < 0) return make(NOTHING, NULL, 0); // the counter is gone
    return make(NUMBER, NULL, argument->number);
}

static ptrdiff_t length(keel_object_t *of) {
    (void)of;
    if (python.no_length) has_error = true;
    return python.no_length ? -1 : (ptrdiff_t)python.count;
}

static keel_object_t *element(keel_object_t *of, ptrdiff_t at) {
    (void)of;
    const char *name = python.names[at];
    return name ? make(TEXT, name, python.times[at]) : fail_with_error();
}

static const char *text(keel_object_t *object, ptrdiff_t *size) {
    if (object->kind != TEXT) return (const char *)fail_with_error();
    *size = (ptrdiff_t)strlen(object->text);
    return object->text;
}

static long long integer(keel_object_t *object) {
    if (object->kind == NUMBER) return object->number;
    has_error = true;
    return -1;
}

static keel_object_t *make_integer(long number) {
    return make(NUMBER, NULL, number);
}

static keel_object_t *import(const char *name) {
    assert_string_equal(name, "atexit");
    return python.no_atexit ? fail_with_error() : make(MODULE, name, 0);
}

static keel_object_t *make_function(keel_python_method_t *method, keel_object_t *self,
                                    keel_object_t *module) {
    assert_true(!self && !module && method->flags == 4);
    registered = method;
    return make(FUNCTION, method->name, 0);
}

static keel_object_t *make_dict(void) {
    return python.no_dict ? fail_with_error() : make(LIST, NULL, 0);
}

// The first of the two pieces of Python asks for names; the second one for what was left out.
static keel_object_t *run(const char *source, int start, keel_object_t *globals,
                          keel_object_t *locals) {
    (void)start;
    assert_ptr_equal(globals, locals);
    if (python.run_fails) return fail_with_error();
    globals->number = strstr(source, "kept_var_idx") != NULL;
    return make(NOTHING, NULL, 0);
}

// tests/unit/host.cmake puts these in the place of the interpreter's.
const char *__wrap_keel_python_enter(keel_python_t *out);
void __wrap_keel_python_leave(keel_python_t *state);

const char *__wrap_keel_python_enter(keel_python_t *out) {
    if (python.no_entry) return "no interpreter";
    ++entered;
    *out = (keel_python_t){.attribute = attribute,
                           .text = text,
                           .drop = drop,
                           .clear_error = clear_error,
                           .modules = modules,
                           .item = item,
                           .call = call,
                           .length = length,
                           .element = element,
                           .integer = integer,
                           .make_integer = make_integer,
                           .import = import,
                           .make_function = make_function,
                           .run = python.no_run ? NULL : run,
                           .make_dict = make_dict};
    return NULL;
}

void __wrap_keel_python_leave(keel_python_t *state) {
    (void)state;
    --entered;
    assert_false(has_error);
}

static int set_up(void **state) {
    (void)state;
    memset(&python, 0, sizeof python);
    alive = entered = 0;
    has_error = false;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    return alive || entered || has_error;
}

// ---- operations on the host --------------------------------------------------------------------

static void add_counter(const char *name, long long times) {
    python.names[python.count] = name;
    python.times[python.count++] = times;
}

static void assert_ops(bool has_torch, size_t count) {
    keel_arena_t arena;
    keel_host_ops_t ops;
    keel_arena_initialize(&arena, 0);
    keel_host_ops_read(&arena, &ops);
    assert_int_equal(ops.has_torch_xla, has_torch);
    assert_int_equal(ops.count, count);
    for (size_t i = 0; i < count && count < 3; ++i) {
        assert_string_equal(ops.list[i].name, i ? "aten::nonzero" : "aten::_local_scalar_dense");
        assert_int_equal(ops.list[i].times, i ? 1 : 12);
    }
    keel_arena_deinitialize(&arena);
    assert_int_equal(entered, 0);
    assert_int_equal(alive, 0);
}

static void operations_are_what_was_counted_at_least_once(void **state) {
    (void)state;
    char longest[300];
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "aten::", 6);
    longest[200] = 0;
    add_counter("xla::add", 5);
    add_counter("aten::_local_scalar_dense", 12);
    add_counter("aten::gone", -1);
    add_counter("aten::never", 0);
    add_counter("aten::", 7);
    add_counter(longest, 7);
    add_counter("aten::nonzero", 1);
    assert_ops(true, 2);
}

static void a_name_that_cannot_be_had_ends_the_list(void **state) {
    (void)state;
    add_counter("aten::_local_scalar_dense", 12);
    add_counter(NULL, 0);
    add_counter("aten::nonzero", 1);
    assert_ops(true, 1);
}

static void there_is_a_limit_to_operations(void **state) {
    (void)state;
    for (int i = 0; i < KEEL_HOST_OPS + 10; ++i)
        add_counter("aten::one", 1);
    assert_ops(true, KEEL_HOST_OPS);
}

static void whatever_is_missing_there_are_no_operations(void **state) {
    bool *const missing[] = {&python.no_entry, &python.no_module,  &python.no_bridge,
                             &python.no_names, &python.names_fail, &python.no_length};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; ++i) {
        set_up(state);
        add_counter("aten::nonzero", 1);
        *missing[i] = true;
        assert_ops(i > 2, 0);
    }
}

// ---- the interpreter's end ---------------------------------------------------------------------

static int ends;

static void count_end(void) {
    ++ends;
    assert_int_equal(entered, 0); // it may take the lock itself
}

static void what_is_registered_runs_at_the_end_and_gives_something_back(void **state) {
    (void)state;
    ends = 0;
    assert_true(keel_host_ops_at_exit(count_end));
    assert_int_equal(entered, 0);
    assert_int_equal(ends, 0);
    assert_string_equal(registered->name, "keel_at_exit");
    keel_object_t *given = registered->call(NULL, NULL);
    assert_int_equal(ends, 1);
    assert_int_equal(given->kind, NUMBER);
    assert_int_equal(entered, 0);
    drop(given);
    python.no_entry = true;
    assert_null(registered->call(NULL, NULL));
    assert_int_equal(ends, 2);
}

static void what_cannot_be_registered_is_said(void **state) {
    bool *const missing[] = {&python.no_entry, &python.no_atexit, &python.no_register};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; ++i) {
        set_up(state);
        *missing[i] = true;
        assert_false(keel_host_ops_at_exit(count_end));
        assert_int_equal(alive, 0);
        assert_int_equal(entered, 0);
    }
}

// ---- names -------------------------------------------------------------------------------------

static void assert_names(bool is_wrapped, const char *expected) {
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    assert_string_equal(keel_names_read(&arena, is_wrapped), expected);
    keel_arena_deinitialize(&arena);
    assert_int_equal(alive, 0);
    assert_int_equal(entered, 0);
}

static void names_of_a_wrapped_function_come_before_what_was_left_out(void **state) {
    (void)state;
    assert_names(true, "rest[0]\tbatch\n\tscale\n\t\n");
    assert_names(false, "\tscale\n\t\n");
}

static void where_python_cannot_be_run_there_are_no_names(void **state) {
    bool *const missing[] = {&python.no_entry, &python.no_run, &python.no_dict, &python.run_fails};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; ++i) {
        set_up(state);
        *missing[i] = true;
        assert_names(true, "");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(operations_are_what_was_counted_at_least_once),
        TEST(a_name_that_cannot_be_had_ends_the_list),
        TEST(there_is_a_limit_to_operations),
        TEST(whatever_is_missing_there_are_no_operations),
        TEST(what_is_registered_runs_at_the_end_and_gives_something_back),
        TEST(what_cannot_be_registered_is_said),
        TEST(names_of_a_wrapped_function_come_before_what_was_left_out),
        TEST(where_python_cannot_be_run_there_are_no_names),
    };
    return cmocka_run_group_tests_name("host_ops", tests, NULL, NULL);
}
