// A program as a contract lists it.
#define _GNU_SOURCE
#include "small_program.h"

#include "contract/contract.h"

static keel_program_t program;
static keel_arena_t arena;

static int begin(void **state) {
    (void)state;
    keel_arena_initialize(&arena, 0);
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_arena_deinitialize(&arena);
    return 0;
}

static void assert_asked(const char *text, const char *names, const char *expected) {
    keel_contract_asked_t asked = {.memory = 0};
    keel_buffer_t told;
    small_program(text, &program);
    assert_ok(keel_contract_ask(&program, names, &arena, &asked));
    keel_buffer_initialize(&told, 0);
    for (uint32_t i = 0; i < asked.argument_count; ++i) {
        const keel_contract_argument_t *argument = &asked.arguments[i];
        keel_buffer_format(&told, "%s%.*s ", i ? "; " : "", KEEL_STR_ARGS(argument->name));
        keel_contract_type(argument, &told);
        if (argument->sharding.size)
            keel_buffer_format(&told, " %.*s", KEEL_STR_ARGS(argument->sharding));
        if (argument->donated) keel_buffer_text(&told, " donated");
    }
    assert_string_equal(keel_buffer_cstr(&told), expected);
    keel_buffer_deinitialize(&told);
    keel_program_deinitialize(&program);
}

static void arguments_have_names_and_types(void **state) {
    (void)state;
    assert_asked("x: f32[8] y: i32[] ; return x", NULL, "x f32[8]; y i32[]");
    assert_asked("x: f32[8] {mhlo.sharding='{replicated}' tf.aliasing_output=0} ; return x", NULL,
                 "x f32[8] {replicated} donated");
    assert_asked("x: f32[8] y: i32[] ; return x", "x\tparams['w']\ny\tparams['w']\n",
                 "params['w'] f32[8]; params['w']#1 i32[]");
}

static void shardings_are_told_as_jax_writes_them(void **state) {
    (void)state;
    assert_asked("x: f32[4,2] {sdy.sharding=sdy.sharding{mesh=&mesh "
                 "dimension_shardings=[{axes=[{name='data'}]},{axes=[]}]}}\nreturn x",
                 NULL, "x f32[4,2] P('data', None)");
}

static void a_mesh_is_told_by_its_axes(void **state) {
    (void)state;
    keel_contract_asked_t asked = {.memory = 0};
    small_program("top mesh {sym_name='grid' mesh={axes=[{name='data' size=4} {name='model' "
                  "size=2}]}}\nx: f32[2]\nreturn x",
                  &program);
    assert_ok(keel_contract_ask(&program, NULL, &arena, &asked));
    assert_string_equal(asked.mesh.data, "data=4,model=2");
    keel_program_deinitialize(&program);
}

static void meshes_with_the_same_axes_are_told_once(void **state) {
    (void)state;
    keel_contract_asked_t asked = {.memory = 0};
    small_program("top mesh {sym_name='mesh' mesh={axes=[{name='d' size=4}]}}\n"
                  "top mesh {sym_name='mesh_0' mesh={axes=[{name='d' size=4}]}}\n"
                  "top mesh {sym_name='mesh_1' mesh={axes=[{name='d' size=2}]}}\n"
                  "top mesh {sym_name='empty' mesh={axes=[]}}\nx: f32[2]\nreturn x",
                  &program);
    assert_ok(keel_contract_ask(&program, NULL, &arena, &asked));
    assert_string_equal(asked.mesh.data, "d=4,d=2");
    keel_program_deinitialize(&program);
}

static void arguments_without_names_have_their_place(void **state) {
    (void)state;
    assert_asked("hlo\nx: f32[8] y: i32[4,2]\nroot x", NULL, "#0 f32[8]; #1 i32[4,2]");
}

static void assert_function(const char *origin, const char *function, const char *file,
                            const char *expected) {
    keel_str_t out;
    assert_ok(
        keel_contract_function(keel_str(origin), keel_str(function), keel_str(file), &arena, &out));
    assert_string_equal(out.data, expected);
}

static void a_function_is_named_without_lines_and_folders(void **state) {
    (void)state;
    assert_function("make.<locals>.step at /home/u/train.py:12", "main", "/home/u/run.py",
                    "make.<locals>.step in train.py");
    assert_function("/home/u/train.py:31", "main", "/home/u/train.py", "main in train.py");
    assert_function("", "", "", "");
    assert_function("", "", "train.py", "in train.py");
    assert_function("a\nb at c.py:1", "", "", "a?b in c.py");
}

static void fingerprints_are_of_the_program_and_the_options(void **state) {
    (void)state;
    keel_key_t key, other;
    keel_key_initialize(&key);
    keel_key_initialize(&other);
    assert_ok(keel_key_set(&key, KEEL_COMPONENT_PROGRAM, keel_bytes("a", 1), KEEL_STR("")));
    assert_ok(keel_key_copy(&key, &other));
    assert_ok(keel_key_set(&other, KEEL_COMPONENT_CPU, keel_bytes("b", 1), KEEL_STR("")));
    keel_fingerprint_t one = keel_fingerprint_of_program(&key),
                       two = keel_fingerprint_of_program(&other);
    assert_true(keel_fingerprint_equal(&one, &two));
    one = keel_fingerprint_of_options(&key);
    two = keel_fingerprint_of_options(&other);
    assert_true(keel_fingerprint_equal(&one, &two));
    assert_ok(keel_key_set(&other, KEEL_COMPONENT_XLA_FLAGS, keel_bytes("c", 1), KEEL_STR("")));
    two = keel_fingerprint_of_options(&other);
    assert_false(keel_fingerprint_equal(&one, &two));
    assert_ok(keel_key_set(&other, KEEL_COMPONENT_PROGRAM, keel_bytes("d", 1), KEEL_STR("")));
    one = keel_fingerprint_of_program(&key);
    two = keel_fingerprint_of_program(&other);
    assert_false(keel_fingerprint_equal(&one, &two));
    keel_key_deinitialize(&key);
    keel_key_deinitialize(&other);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(arguments_have_names_and_types),
        TEST(shardings_are_told_as_jax_writes_them),
        TEST(a_mesh_is_told_by_its_axes),
        TEST(meshes_with_the_same_axes_are_told_once),
        TEST(arguments_without_names_have_their_place),
        TEST(a_function_is_named_without_lines_and_folders),
        TEST(fingerprints_are_of_the_program_and_the_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
