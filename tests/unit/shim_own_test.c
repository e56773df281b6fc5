// The engine behind a client that keeps its compiler to itself: what python/keel/own_client.py
// does, in C. Executables are numbers here, too.
#define _GNU_SOURCE
#include <stdatomic.h>

#include "door_help.h"
#include "shim/jitted.h"

static const char LIBRARY[] = KEEL_TEST_PLUGIN; // any file: it is what identifies the compiler

// ---- the client's side -------------------------------------------------------------------------

enum { EXECUTABLES = 64 };

static struct {
    const char *asked;          // what the client compiles now
    char code[EXECUTABLES][64]; // by number; "" once dropped
    atomic_int compiles, loads, programs, drops, wholes;
    bool fails_to_load;
    size_t padding; // bytes that a serialized executable has behind its code
} side;

static int side_compile(uint64_t number, void *out) {
    CHECK(number < EXECUTABLES && side.asked);
    if (strstr(side.asked, "refused")) {
        keel_own_give(out, "not a program", 13);
        return PJRT_Error_Code_INVALID_ARGUMENT;
    }
    snprintf(side.code[number], sizeof side.code[number], "%s", side.asked);
    ++side.compiles;
    return 0;
}

static int side_load(uint64_t number, const uint8_t *bytes, size_t size, const uint8_t *options,
                     size_t options_size, void *out) {
    (void)options;
    (void)options_size;
    CHECK(number < EXECUTABLES && size > side.padding);
    CHECK(size - side.padding < sizeof side.code[number]);
    if (side.fails_to_load) {
        keel_own_give(out, "no such symbol", 14);
        return PJRT_Error_Code_NOT_FOUND;
    }
    memcpy(side.code[number], bytes, size - side.padding);
    ++side.loads;
    return 0;
}

static int side_serialize(uint64_t number, void *out) {
    CHECK(*side.code[number]);
    keel_own_give(out, side.code[number], strlen(side.code[number]));
    static const char zeros[1000];
    for (size_t given = 0; given < side.padding; given += sizeof zeros)
        keel_own_give(out, zeros, sizeof zeros);
    return 0;
}

static int side_memory(uint64_t number, int64_t figures[KEEL_OWN_FIGURE_COUNT], void *out) {
    (void)out;
    CHECK(*side.code[number]);
    for (size_t i = 0; i < KEEL_OWN_FIGURE_COUNT; ++i)
        figures[i] = (int64_t)(1000 + i);
    return 0;
}

static int side_program(uint64_t number, void *out) {
    CHECK(*side.code[number]);
    if (strstr(side.code[number], "unreadable")) {
        keel_own_give(out, "no modules", 10);
        return PJRT_Error_Code_INTERNAL;
    }
    keel_own_give(out, "optimized ", 10);
    keel_own_give(out, side.code[number], strlen(side.code[number]));
    ++side.programs;
    return 0;
}

static void side_drop(uint64_t number) {
    *side.code[number] = 0;
    ++side.drops;
}

static int side_whole(void *out) {
    ++side.wholes;
    keel_own_give(out, "whole ", 6);
    keel_own_give(out, side.asked, strlen(side.asked));
    return 0;
}

static const keel_own_calls_t calls = {side_compile, side_load, side_serialize, side_memory,
                                       side_program, side_drop, side_whole};

// ---- in a child --------------------------------------------------------------------------------

static const keel_own_door_t *own;

static int begin_with(void *out) {
    static const keel_own_device_t devices[] = {{"cpu", 0, 0, true}, {"cpu", 1, 0, true}};
    const keel_own_facts_t facts = {LIBRARY, "cpu", "jaxlib 1.2.3, cpu", devices, 2, 0};
    own = keel_shim_own_door();
    return own->begin(&facts, &calls, out);
}

static void begin(void) {
    void *out = own ? NULL : keel_shim_own_door()->make_buffer();
    CHECK(begin_with(out) == 1);
    own->free_buffer(out);
}

typedef struct made_t {
    uint64_t handle, number;
} made_t;

static int try_compile(const char *code, made_t *made, char text[256]) {
    static const char options[] = "\x1a\x04\x20\x01\x28\x01";
    void *out = own->make_buffer();
    size_t size;
    side.asked = code;
    int failed = own->compile(keel_str(code), (keel_str_t){options, sizeof options - 1}, NULL, 0,
                              &made->handle, &made->number, out);
    snprintf(text, 256, "%s", (const char *)own->read_buffer(out, &size));
    own->free_buffer(out);
    return failed;
}

static made_t compile(const char *code) {
    char text[256];
    made_t made;
    CHECK(try_compile(code, &made, text) == 0);
    CHECK(strcmp(side.code[made.number], code) == 0);
    return made;
}

static bool is_stored(made_t made, const char *code) {
    void *out = own->make_buffer();
    size_t size;
    bool is_given = own->stored(made.handle, out);
    if (is_given) CHECK(strcmp(own->read_buffer(out, &size), code) == 0 && size == strlen(code));
    own->free_buffer(out);
    return is_given;
}

static void compile_one(const door_t *door) {
    (void)door;
    begin();
    made_t made = compile("one program");
    own->executed(made.handle);
    own->executed(made.handle);
    CHECK(!is_stored(made, "one program"));
    own->end();
    CHECK(side.compiles == 1 && side.loads == 1); // the proof
}

static void load_one(const door_t *door) {
    (void)door;
    begin();
    made_t made = compile("one program");
    CHECK(side.compiles == 0 && side.loads == 1);
    CHECK(is_stored(made, "one program"));
    own->destroy(made.handle);
    CHECK(side.drops == 1);
    own->end();
}

static void test_what_one_process_compiled_the_next_one_loads(void **state) {
    door_t *door = *state;
    door_run(door, "", compile_one);
    assert_int_equal(count_entries(door), 1);
    door_run(door, "", load_one);
    assert_int_equal(count_events(door, "\"compile\"", ""), 1);
    assert_int_equal(count_events(door, "\"load\"", ""), 1);
    assert_int_equal(count_events(door, "\"start\"", "jaxlib 1.2.3"), 2);
    assert_int_equal(count_events(door, "\"memory\"", "\"temporaries\":1004"), 2);
}

static void load_what_took_an_hour_to_write(const door_t *door) {
    (void)door;
    begin();
    own->spent(3600 * 1000000000ull);
    own->destroy(compile("one program").handle);
    own->destroy(compile("one program").handle); // this one did not
    own->end();
}

static void test_what_the_client_spent_before_it_asked_counts_as_keels_own_time(void **state) {
    door_t *door = *state;
    door_run(door, "", compile_one);
    door_run(door, "", load_what_took_an_hour_to_write);
    assert_int_equal(count_events(door, "\"load\"", "\"overhead_seconds\":3600."), 1);
}

static void test_the_clients_own_executions_are_counted(void **state) {
    door_t *door = *state;
    door_run(door, "", compile_one);
    assert_int_equal(count_events(door, "\"end\"", "\"total\":2"), 1);
}

static void be_refused(const door_t *door) {
    (void)door;
    char text[256];
    made_t made;
    begin();
    CHECK(try_compile("a refused program", &made, text) == PJRT_Error_Code_INVALID_ARGUMENT);
    CHECK(strcmp(text, "INVALID_ARGUMENT: not a program") == 0);
    compile("another program");
    own->end();
}

static void test_the_compilers_error_is_passed_on(void **state) {
    door_t *door = *state;
    door_run(door, "", be_refused);
    assert_int_equal(count_entries(door), 1);
}

static void load_in_vain(const door_t *door) {
    (void)door;
    begin();
    side.fails_to_load = true;
    compile("one program");
    CHECK(side.compiles == 1);
    own->end();
}

static void test_what_does_not_load_is_compiled_again(void **state) {
    door_t *door = *state;
    door_run(door, "", compile_one);
    door_run(door, "KEEL_PREFETCH=off", load_in_vain);
    assert_int_equal(count_lines(door->errors, "does not load and is compiled again"), 1);
    assert_int_equal(count_lines(door->errors, "no such symbol"), 2); // and the proof
}

static void compile_late(const door_t *door) {
    (void)door;
    char text[256];
    made_t made;
    begin();
    own->end();
    CHECK(try_compile("one program", &made, text) == PJRT_Error_Code_UNAVAILABLE);
    CHECK(side.compiles == 0);
}

// As the engine asks for it, of an executable that the client does not have yet.
static PJRT_Error *ask_optimized(PJRT_Executable *executable, char *room, PJRT_Program *out) {
    PJRT_Executable_OptimizedProgram_Args args = {KEEL_PJRT_SIZE(PJRT_Executable_OptimizedProgram),
                                                  .executable = executable, .program = out};
    out->code = room;
    return keel_shim_api()->PJRT_Executable_OptimizedProgram(&args);
}

static void read_optimized(const door_t *door) {
    (void)door;
    static const char wanted[] = "optimized one program";
    char room[64];
    PJRT_Executable *executable = NULL;
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE};
    begin();
    made_t made = compile("one program");
    keel_status_t status = keel_pjrt_executable(
        keel_shim_api(), (PJRT_LoadedExecutable *)(uintptr_t)made.handle, &executable);
    CHECK(!status);
    for (int again = 0; again < 2; ++again) {
        CHECK(!ask_optimized(executable, NULL, &program));
        CHECK(program.code_size == sizeof wanted - 1 && program.format_size == 3);
        CHECK(memcmp(program.format, "hlo", 3) == 0);
        CHECK(!ask_optimized(executable, room, &program));
        CHECK(memcmp(room, wanted, program.code_size) == 0);
    }
    CHECK(!ask_optimized(executable, room, &program)); // without its size
    program.code_size = 3;
    PJRT_Error *error = ask_optimized(executable, room, &program);
    CHECK(error);
    keel_status_ignore(keel_pjrt_status(keel_shim_api(), error, "OptimizedProgram"));
    CHECK(!ask_optimized(executable, NULL, &program)); // and never for its bytes
    keel_pjrt_destroy_executable(keel_shim_api(), executable);
    own->end();
    CHECK(side.programs == 5); // and none for the entry
}

static void test_the_optimized_program_is_given_as_often_as_it_is_asked_for(void **state) {
    door_run(*state, "", read_optimized);
}

// ---- constants beside the program
// ------------------------------------------------------------------

enum { CONSTANT = 100 }; // elements, as the sample has them

// "small.mlirbc" of the samples, with two constants beside it.
static made_t compile_beside(float first) {
    static const char path[] = KEEL_TEST_SAMPLES "/beside/small.mlirbc";
    float constants[2][CONSTANT] = {{first, 1}, {2, 3}};
    const keel_bytes_t beside[] = {keel_bytes(constants[0], sizeof constants[0]),
                                   keel_bytes(constants[1], sizeof constants[1])};
    uint8_t *code;
    size_t size;
    made_t made;
    CHECK(!keel_file_read(path, 1 << 20, &code, &size));
    side.asked = "a sum";
    void *out = own->make_buffer();
    CHECK(own->compile((keel_str_t){(const char *)code, size}, KEEL_STR(""), beside, 2,
                       &made.handle, &made.number, out) == 0);
    own->free_buffer(out);
    keel_free(code);
    return made;
}

static void compile_beside_twice(const door_t *door) {
    (void)door;
    begin();
    compile_beside(5);
    CHECK(side.compiles == 1 && side.wholes == 1);
    compile_beside(6); // another program
    CHECK(side.compiles == 2 && side.wholes == 2);
    own->end();
}

static void load_beside_twice(const door_t *door) {
    (void)door;
    begin();
    compile_beside(5);
    compile_beside(6);
    CHECK(side.compiles == 0 && side.wholes == 0);
    compile("a program without constants"); // those before are not taken for its own
    CHECK(side.compiles == 1 && side.wholes == 0);
    own->end();
}

static void test_a_program_is_made_whole_only_for_the_first_run_that_keeps_it(void **state) {
    door_t *door = *state;
    door_run(door, "", compile_beside_twice);
    assert_int_equal(count_entries(door), 2);
    door_run(door, "", load_beside_twice);
    assert_int_equal(count_entries(door), 3);
    assert_int_equal(count_events(door, "\"event\":\"load\"", ""), 2);
    assert_int_equal(count_events(door, "\"fallback\"", "\"what\":\"read\""), 1);
}

// ---- proofs
// --------------------------------------------------------------------------------------

static void compile_large(const door_t *door) {
    (void)door;
    side.padding = 200000;
    begin();
    compile("one program");
    compile("two programs");
    own->end();
    CHECK(side.compiles == 2 && side.loads == 1);
}

static void load_large(const door_t *door) {
    (void)door;
    side.padding = 200000;
    begin();
    compile("one program");
    compile("two programs");
    own->end();
    CHECK(side.compiles == 0 && side.loads == 2);
}

static void compile_what_does_not_load(const door_t *door) {
    (void)door;
    side.padding = 200000;
    side.fails_to_load = true;
    begin();
    compile("one program");
    compile("three programs");
    compile("four programs");
    own->end();
    CHECK(side.compiles == 3 && side.loads == 0);
}

static void test_of_large_executables_the_first_is_proved_and_all_are_stored(void **state) {
    door_t *door = *state;
    door_run(door, "", compile_large);
    assert_int_equal(count_entries(door), 2);
    assert_int_equal(count_events(door, "\"event\":\"memory\"", ""), 2);
    assert_int_equal(count_events(door, "\"event\":\"publish\"", "\"proved\":false"), 1);
    door_run(door, "", load_large);
}

static void test_once_one_does_not_load_each_is_proved(void **state) {
    door_t *door = *state;
    door_run(door, "", compile_large);
    door_run(door, "", compile_what_does_not_load);
    assert_int_equal(count_entries(door), 1); // that of the first is set aside
    assert_int_equal(count_lines(door->errors, "no such symbol"), 2); // the entry, and the proofs
}

static void store_unreadable(const door_t *door) {
    (void)door;
    begin();
    compile("an unreadable program");
    own->end();
}

static void test_a_program_that_the_client_cannot_show_is_stored(void **state) {
    door_t *door = *state;
    door_run(door, "", store_unreadable);
    assert_int_equal(count_entries(door), 1);
}

static void test_the_client_is_not_called_after_its_end(void **state) {
    door_run(*state, "", compile_late);
}

static void begin_off(const door_t *door) {
    (void)door;
    void *out = keel_shim_own_door()->make_buffer();
    CHECK(begin_with(out) == 0);
    own->free_buffer(out);
}

static void begin_refused(const door_t *door) {
    (void)door;
    size_t size;
    void *out = keel_shim_own_door()->make_buffer();
    CHECK(begin_with(out) == -1);
    CHECK(strstr(own->read_buffer(out, &size), "KEEL_MODE: 'maybe' is not a mode"));
    own->free_buffer(out);
}

static void test_the_settings_decide(void **state) {
    door_t *door = *state;
    door_run(door, "KEEL_MODE=off", begin_off);
    door_run(door, "KEEL_MODE=maybe", begin_refused);
    assert_int_equal(count_entries(door), 0);
}

static void begin_second(const door_t *door) {
    (void)door;
    door_live("a plugin's program");
    void *out = keel_shim_own_door()->make_buffer();
    CHECK(begin_with(out) == 0);
    own->free_buffer(out);
}

static void test_a_process_has_one_door(void **state) {
    door_run(*state, "", begin_second);
}

// ---- functions that JAX calls without Python ---------------------------------------------------

// An object as CPython calls it: the pointer to its code is somewhere in it.
typedef struct function_t {
    void *head[2];
    void *(*call)(void *function, void *const *arguments, size_t count, void *names);
    void *result;
    bool asks_python;
    struct function_t *inner; // called meanwhile
} function_t;

static void *call(function_t *function) {
    return function->call(function, NULL, 0, NULL);
}

static void *run_function(void *pointer, void *const *arguments, size_t count, void *names) {
    function_t *function = pointer;
    (void)arguments, (void)count, (void)names;
    if (function->inner) call(function->inner);
    if (function->asks_python) jitted_missed();
    return function->result;
}

static void *another(void *pointer, void *const *arguments, size_t count, void *names) {
    (void)pointer, (void)arguments, (void)count, (void)names;
    return NULL;
}

static function_t make_function(void) {
    static int result;
    return (function_t){.call = run_function, .result = &result};
}

static bool watch(function_t *function, void *group) {
    return own->watch(function, offsetof(function_t, call), group);
}

static void call_functions(const door_t *door) {
    (void)door;
    begin();
    made_t made = compile("one program"), other = compile("another program");
    void *group = own->make_group(), *unused = own->make_group();
    function_t step = make_function(), inner = make_function(), fresh = make_function();
    CHECK(watch(&step, group) && watch(&inner, unused));
    call(&step); // before its program is known
    CHECK(!own->add_program(group, made.handle) && !own->add_program(group, made.handle));
    CHECK(own->add_program(group, other.handle)); // it has to name itself
    step.inner = &inner;
    inner.asks_python = true; // that the inner one did says nothing about the outer one
    for (int i = 0; i < 5; ++i)
        CHECK(call(&step) == step.result);
    step.asks_python = true; // counted in Python
    call(&step);
    step.asks_python = false;
    step.result = NULL; // it failed
    CHECK(!call(&step));
    function_t many[200];
    for (size_t i = 0; i < 200; ++i) {
        many[i] = make_function();
        CHECK(watch(&many[i], group));
    }
    for (size_t i = 0; i < 200; ++i) {
        call(&many[i]);
        own->forget(&many[i]);
        call(&many[i]); // JAX's again
    }
    fresh.call = another;
    CHECK(!watch(&fresh, group) && fresh.call == another);
    own->free_group(group);
    own->free_group(unused);
    own->end();
}

static void test_what_runs_without_python_is_counted(void **state) {
    door_t *door = *state;
    door_run(door, "", call_functions);
    assert_int_equal(count_events(door, "\"end\"", "\"total\":205"), 1);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_a_program_is_made_whole_only_for_the_first_run_that_keeps_it),
        CASE(test_what_one_process_compiled_the_next_one_loads),
        CASE(test_of_large_executables_the_first_is_proved_and_all_are_stored),
        CASE(test_once_one_does_not_load_each_is_proved),
        CASE(test_what_the_client_spent_before_it_asked_counts_as_keels_own_time),
        CASE(test_the_clients_own_executions_are_counted),
        CASE(test_the_compilers_error_is_passed_on),
        CASE(test_what_does_not_load_is_compiled_again),
        CASE(test_the_optimized_program_is_given_as_often_as_it_is_asked_for),
        CASE(test_a_program_that_the_client_cannot_show_is_stored),
        CASE(test_the_client_is_not_called_after_its_end),
        CASE(test_the_settings_decide),
        CASE(test_a_process_has_one_door),
        CASE(test_what_runs_without_python_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
