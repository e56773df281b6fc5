// What one process of a run has had: names, callers and calls are kept for the one they belong to.
#define _GNU_SOURCE
#include "analysis/process.h"
#include "place.h"

#include <jansson.h>

static int set_up(void **state) {
    process_t *process;
    json_t *start = json_pack("{s:s, s:i, s:f, s:[s, s], s:s}", "event", "start", "pid", 7, "t",
                              1000.0, "argv", "python", "train.py", "cwd", "/w");
    assert_non_null(start);
    assert_ok(process_create("", "r1", start, &process));
    json_decref(start);
    *state = process;
    return 0;
}

static int tear_down(void **state) {
    process_destroy(*state);
    return 0;
}

static keel_digest_t digest_of(const char *text) {
    return keel_digest(keel_str_bytes(keel_str(text)));
}

// A call of the function from `origin` whose program has that key.
static asked_t asked_of(const char *key, const char *origin, const char *call) {
    asked_t asked = {.call = call};
    asked.key.digest = digest_of(key);
    asked.site.origin = origin;
    return asked;
}

static void note(process_t *process, const char *key, const char *origin, const char *call) {
    asked_t asked = asked_of(key, origin, call);
    assert_ok(process_note_call(process, &asked));
}

static void assert_calls(const process_t *process, const char *key, const char *origin,
                         const char *expected) {
    asked_t asked = asked_of(key, origin, "");
    const char *calls[PROCESS_CALLS];
    char got[400] = "";
    uint32_t count = process_calls(process, &asked, calls);
    for (uint32_t i = 0; i < count; ++i)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "", calls[i]);
    assert_string_equal(got, expected);
}

static void calls_belong_to_a_function_and_a_program(void **state) {
    process_t *process = *state;
    assert_calls(process, "k", "f", "");
    note(process, "k", "f", "one");
    note(process, "k", "f", "two");
    note(process, "k", "g", "other"); // a function whose program is equal
    note(process, "j", "f", "another");
    note(process, "k", "f", ""); // nothing is known of it
    assert_calls(process, "k", "f", "one two");
    assert_calls(process, "k", "g", "other");
    assert_calls(process, "j", "f", "another");
    assert_calls(process, "j", "g", "");
}

static void of_many_calls_the_newest_are_given(void **state) {
    process_t *process = *state;
    char call[16], expected[400] = "";
    for (int i = 0; i < PROCESS_CALLS + 3; ++i) {
        snprintf(call, sizeof call, "c%d", i);
        note(process, "k", "f", call);
        if (i < 3) continue;
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s%s",
                 *expected ? " " : "", call);
    }
    assert_calls(process, "k", "f", expected);
}

static keel_ask_kind_t settled(process_t *process, keel_ask_kind_t kind, const char *key,
                               const char *line) {
    char origin[100];
    snprintf(origin, sizeof origin, "fun at /x/site-packages/flax/nnx.py:9 for /w/train.py:%s",
             line);
    asked_t asked = asked_of(key, origin, "f one function\nl x\tf32[4]\n");
    asked.kind = kind;
    assert_ok(process_settle_origin(process, &asked));
    assert_ok(process_note_call(process, &asked));
    return asked.kind;
}

static void a_librarys_function_is_asked_for_again_on_another_line(void **state) {
    process_t *process = *state;
    assert_int_equal(settled(process, KEEL_ASK_COMPILE, "k", "1"), KEEL_ASK_COMPILE);
    assert_int_equal(settled(process, KEEL_ASK_NOTE, "k", "2"), KEEL_ASK_RETRACE);
    assert_int_equal(settled(process, KEEL_ASK_COMPILE, "k", "3"), KEEL_ASK_RETRACE);
    assert_int_equal(settled(process, KEEL_ASK_NOTE, "j", "4"), KEEL_ASK_LOAD);
    assert_int_equal(settled(process, KEEL_ASK_COMPILE, "i", "5"), KEEL_ASK_COMPILE);
}

static void the_names_of_arguments_that_came_first_stay(void **state) {
    process_t *process = *state;
    keel_digest_t program = digest_of("p"), other = digest_of("q");
    assert_null(process_names(process, &program));
    assert_ok(process_note_names(process, &program, "")); // not known
    assert_null(process_names(process, &program));
    assert_ok(process_note_names(process, &program, "x y"));
    assert_ok(process_note_names(process, &program, "a b"));
    assert_string_equal(process_names(process, &program), "x y");
    assert_null(process_names(process, &other));
}

static void the_lines_that_first_led_to_a_program_stay(void **state) {
    process_t *process = *state;
    keel_digest_t program = digest_of("p"), other = digest_of("q");
    uint64_t callers;
    assert_false(process_callers(process, &program, &callers));
    assert_ok(process_note_callers(process, &program, 5));
    assert_ok(process_note_callers(process, &program, 6));
    assert_true(process_callers(process, &program, &callers));
    assert_int_equal(callers, 5);
    assert_false(process_callers(process, &other, &callers));
}

static void a_process_is_known_by_its_number_and_its_beginning(void **state) {
    const process_t *process = *state;
    static const struct {
        int pid;
        double t;
        bool is;
    } starts[] = {{7, 1000, true}, {8, 1000, false}, {7, 2000, false}};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; ++i) {
        json_t *start =
            json_pack("{s:s, s:i, s:f}", "event", "start", "pid", starts[i].pid, "t", starts[i].t);
        assert_int_equal(process_is(process, start), starts[i].is);
        json_decref(start);
    }
}

static void meet_compiled(process_t *process, const char *program, const char *key, double seconds,
                          bool failed) {
    char digests[2][2 * KEEL_DIGEST_SIZE + 1];
    keel_digest_t one = digest_of(program), two = digest_of(key);
    keel_hex(one.bytes, sizeof one.bytes, digests[0]);
    keel_hex(two.bytes, sizeof two.bytes, digests[1]);
    json_t *event = json_pack("{s:s, s:s, s:f, s:b}", "program", digests[0], "key", digests[1],
                              "seconds", seconds, "failed", failed);
    assert_non_null(event);
    assert_ok(process_compiled(process, event));
    json_decref(event);
}

static double took(const process_t *process, const char *program, const char *key,
                   keel_ask_kind_t kind) {
    asked_t asked = {.program = digest_of(program), .kind = kind, .compile_seconds = 0.5};
    asked.key.digest = digest_of(key);
    return process_took(process, &asked);
}

// The client's own time says nothing about a compile that it did not wait for.
static void in_a_rehearsal_a_compile_takes_what_its_compiler_says(void **state) {
    process_t *process = *state;
    assert_string_equal(process->target, "");
    assert_true(took(process, "p", "k", KEEL_ASK_COMPILE) == 0.5);
    process->target = "h200:8";
    assert_true(took(process, "p", "k", KEEL_ASK_COMPILE) == 0);
    assert_true(took(process, "p", "k", KEEL_ASK_LOAD) == 0.5); // when it was stored
    meet_compiled(process, "p", "k", 2.5, false);
    meet_compiled(process, "p", "j", 9, true);
    meet_compiled(process, "q", "k", -1, false);
    meet_compiled(process, "r", "k", 1e300, false);
    assert_true(took(process, "p", "k", KEEL_ASK_COMPILE) == 2.5);
    assert_true(took(process, "p", "j", KEEL_ASK_COMPILE) == 0);
    assert_true(took(process, "q", "k", KEEL_ASK_COMPILE) == 0);
    assert_true(took(process, "r", "k", KEEL_ASK_COMPILE) == 0);
}

// An event with all components: their digests, and their values if `has_values`.
static json_t *ask_with_components(const char *salt, bool has_values) {
    json_t *digests = json_object(), *values = json_object();
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        const char *name = keel_component_name((keel_component_t)i);
        char text[64], hex[2 * KEEL_DIGEST_SIZE + 1];
        snprintf(text, sizeof text, "%s of %s", name, salt);
        keel_digest_t digest = digest_of(text);
        keel_hex(digest.bytes, sizeof digest.bytes, hex);
        json_object_set_new(digests, name, json_string(hex));
        if (has_values) json_object_set_new(values, name, json_string(text));
    }
    return json_pack("{s:o, s:o}", "components", digests, "values", values);
}

static void assert_key(process_t *process, const char *salt, bool has_values, bool knows_values) {
    json_t *ask = ask_with_components(salt, has_values);
    keel_key_t key = {0};
    assert_ok(process_key(process, ask, &key));
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        char text[64];
        snprintf(text, sizeof text, "%s of %s", keel_component_name((keel_component_t)i), salt);
        keel_digest_t digest = digest_of(text);
        assert_true(keel_digest_equal(&key.components[i], &digest));
        if (knows_values) assert_string_equal(key.values[i], text);
        if (!knows_values) assert_null(key.values[i]);
    }
    json_decref(ask);
}

// A value is written once, with the first key that has it.
static void each_component_of_a_key_has_its_value(void **state) {
    process_t *process = *state;
    assert_key(process, "one", false, false);
    assert_key(process, "one", true, true);
    assert_key(process, "two", true, true);
    assert_key(process, "one", false, true);
    assert_key(process, "three", false, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_belong_to_a_function_and_a_program, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(of_many_calls_the_newest_are_given, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_librarys_function_is_asked_for_again_on_another_line,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_names_of_arguments_that_came_first_stay, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(in_a_rehearsal_a_compile_takes_what_its_compiler_says,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_lines_that_first_led_to_a_program_stay, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(each_component_of_a_key_has_its_value, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_process_is_known_by_its_number_and_its_beginning, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("analysis process", tests, NULL, NULL);
}
