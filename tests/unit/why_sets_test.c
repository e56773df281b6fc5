// What a warm-up asks for is no recompile.
#include "why_help.h"

// A program of `prefill` that a line asks for, and executions after it. `type`: "g" if it computes
// gradients, "r" if it is asked for again.
static void ask(int number, int line, const char *type, const char *ran, int times) {
    char program[8], rest[400];
    snprintf(program, sizeof program, "p%d", number);
    keel_buffer_format(&journal,
                       "{\"event\":\"compile\",\"pid\":1,\"program\":\"%s\",\"name\":\"prefill\","
                       "\"key\":\"k%s\",\"seconds\":1,\"format\":\"mlir\",\"recompile\":%s%s}\n",
                       program, program, number ? "true" : "false",
                       *type == 'g' ? ",\"gradient\":true" : "");
    if (*ran)
        keel_buffer_format(
            &journal, "{\"event\":\"executes\",\"pid\":1,\"executes\":{\"%s\":%d}}\n", ran, times);
    snprintf(rest, sizeof rest,
             ",\"recompile\":%s,\"site\":{\"file\":\"/w/engine.py\",\"line\":%d},\"stack\":[{"
             "\"file\":\"/w/engine.py\",\"line\":%d,\"function\":\"f\"}]%s%d]\"}]",
             number ? "true" : "false", line, line,
             *type == 'r' ? ",\"roots\":[{\"kind\":\"retrace\",\"subject\":\"lambda\",\"new\":\"["
                          : ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"tokens\",\"old\":"
                            "\"i32[1]\",\"new\":\"i32[",
             number);
    explain("compile", program, "prefill", 1, rest);
}

static void ran(const char *program, int times) {
    keel_buffer_format(&journal, "{\"event\":\"executes\",\"pid\":1,\"executes\":{\"%s\":%d}}\n",
                       program, times);
}

static void assert_sets(size_t sets, uint64_t programs, uint64_t recompiles) {
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.set_count, sets);
    if (sets) assert_int_equal(why.sets[0].programs, programs);
    assert_int_equal(why.recompiles, recompiles);
    assert_int_equal(why.summary.recompile_count, recompiles);
    keel_why_deinitialize(&why);
}

static void buckets_that_ran_once_before_any_ran_twice_are_a_set(void **state) {
    (void)state;
    ask(0, 7, "", "p0", 1);
    ask(1, 7, "", "p1", 1);
    ask(2, 7, "", "p2", 1);
    ran("p1", 5);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.set_count, 1);
    assert_string_equal(why.sets[0].subject, "tokens");
    assert_true(why.sets[0].is_of_sizes && why.sets[0].took.seconds == 3);
    assert_string_equal(why.sets[0].place.shown, "engine.py:7");
    assert_int_equal(why.recompiles, 0);
    assert_int_equal(why.pattern_count, 0);
    assert_string_equal(
        keel_why_advice(&why, &why.entries[1], why.entries[1].roots, KEEL_FRAMEWORK_JAX),
        keel_cause_facts(KEEL_CAUSE_FIRST)->advice[KEEL_FRAMEWORK_JAX]);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_text_why(&why, &(keel_text_style_t){.width = 0}, &text);
    assert_non_null(strstr(keel_buffer_cstr(&text),
                           "3 sizes of `tokens`, all before step 1: engine.py:7 (prefill)"));
    keel_buffer_deinitialize(&text);
    keel_why_deinitialize(&why);
}

// The summary, the figures and `keel why` read a run in different parts.
static void a_set_is_the_same_in_whatever_parts_the_run_is_read(void **state) {
    (void)state;
    for (int i = 0; i < 3; ++i)
        ask(i, 7, "", "", 0);
    ran("p1", 5);
    // The same line, of another caller's.
    keel_buffer_format(&journal, "{\"event\":\"compile\",\"pid\":1,\"program\":\"p9\",\"name\":"
                                 "\"prefill\",\"key\":\"k9\",\"seconds\":1,\"format\":\"mlir\","
                                 "\"recompile\":true}\n");
    explain("compile", "p9", "prefill", 1,
            ",\"recompile\":true,\"site\":{\"file\":\"/w/engine.py\",\"line\":7},\"stack\":[{"
            "\"file\":\"/w/engine.py\",\"line\":7,\"function\":\"f\"},{\"file\":\"/w/http.py\","
            "\"line\":3,\"function\":\"post\"}],\"roots\":[{\"kind\":\"shape\",\"subject\":"
            "\"tokens\",\"old\":\"i32[1]\",\"new\":\"i32[9]\"}]");
    for (unsigned parts = 0; parts <= KEEL_RUN_DETAILS; parts += KEEL_RUN_DETAILS) {
        keel_why_t why;
        assert_null(keel_why_parse(keel_buffer_bytes(&journal), "r1", "/r/j", parts, &why));
        assert_int_equal(why.set_count, 1);
        assert_int_equal(why.recompiles, 1);
        assert_int_equal(why.summary.recompile_count, 1);
        keel_why_deinitialize(&why);
    }
}

// Nothing explains the load of a function's first program.
static void load_first(void) {
    keel_buffer_text(
        &journal, "{\"event\":\"load\",\"pid\":1,\"program\":\"p0\",\"name\":\"prefill\",\"key\":"
                  "\"k0\",\"seconds\":1,\"tier\":\"disk\",\"format\":\"mlir\",\"site\":{\"file\":"
                  "\"/w/engine.py\",\"line\":7}}\n");
}

static void a_set_that_is_loaded_has_its_first_program(void **state) {
    (void)state;
    load_first();
    ask(1, 7, "", "p0", 1);
    ask(2, 7, "", "p1", 1);
    ran("p1", 5);
    assert_sets(1, 3, 0);
}

static void requests_that_need_only_the_first_program_prove_a_loaded_set(void **state) {
    (void)state;
    load_first();
    ask(1, 7, "", "", 0);
    ask(2, 7, "", "", 0);
    ran("p0", 5);
    assert_sets(1, 3, 0);
}

static void sizes_up_to_a_freeze_are_a_set(void **state) {
    (void)state;
    for (int i = 0; i < 3; ++i)
        ask(i, 7, "", "", 0);
    keel_buffer_text(&journal, "{\"event\":\"freeze\",\"pid\":1}\n");
    assert_sets(1, 3, 0);
    ask(3, 7, "", "", 0); // the same line goes on
    assert_sets(0, 0, 3);
}

// A decode runs for each bucket of a prefill, so it runs again before its next size is there.
static void what_runs_for_each_program_of_a_warm_up_is_in_it(void **state) {
    (void)state;
    for (int i = 0; i < 9; ++i) {
        char prefill[8], decode[8];
        snprintf(prefill, sizeof prefill, "p%d", i);
        snprintf(decode, sizeof decode, "d%d", i / 3);
        ask(i, 7, "", prefill, 1);
        if (i % 3 == 0) {
            keel_buffer_format(&journal,
                               "{\"event\":\"compile\",\"pid\":1,\"program\":\"%s\",\"name\":"
                               "\"decode\",\"key\":\"k%s\",\"seconds\":1,\"format\":\"mlir\","
                               "\"recompile\":%s}\n",
                               decode, decode, i ? "true" : "false");
            char rest[400];
            snprintf(rest, sizeof rest,
                     ",\"recompile\":%s,\"site\":{\"file\":\"/w/engine.py\",\"line\":9},\"roots\":"
                     "[{\"kind\":\"shape\",\"subject\":\"tokens\",\"old\":\"i32[1]\",\"new\":"
                     "\"i32[%d]\"}]",
                     i ? "true" : "false", i);
            explain("compile", decode, "decode", 1, rest);
        }
        ran(decode, 1);
    }
    ran("d0", 50);
    ran("p0", 5);
    assert_sets(2, 9, 0);
}

// Sizes that came while the run went on stay recompiles, though another function warms up later.
static void a_set_that_comes_late_takes_nothing_in(void **state) {
    (void)state;
    for (int i = 0; i < 4; ++i) {
        char program[8];
        snprintf(program, sizeof program, "q%d", i);
        keel_buffer_format(&journal,
                           "{\"event\":\"compile\",\"pid\":1,\"program\":\"%s\",\"name\":"
                           "\"predict\",\"key\":\"k%s\",\"seconds\":1,\"format\":\"mlir\","
                           "\"recompile\":%s}\n",
                           program, program, i ? "true" : "false");
        char rest[400];
        snprintf(rest, sizeof rest,
                 ",\"recompile\":%s,\"site\":{\"file\":\"/w/engine.py\",\"line\":9},\"roots\":"
                 "[{\"kind\":\"shape\",\"subject\":\"rows\",\"old\":\"i32[1]\",\"new\":"
                 "\"i32[%d]\"}]",
                 i ? "true" : "false", i);
        explain("compile", program, "predict", 1, rest);
        ran(program, 1000);
    }
    ran("q0", 7);
    for (int i = 0; i < 3; ++i)
        ask(i, 7, "", "", 0);
    ran("p1", 5);
    assert_sets(1, 3, 3);
}

static void what_another_line_asks_for_later_is_an_accident(void **state) {
    (void)state;
    for (int i = 0; i < 3; ++i)
        ask(i, 7, "", "", 0);
    ran("p1", 5);
    ask(3, 20, "", "p3", 2);
    assert_sets(1, 3, 1);
}

static void a_line_that_asks_for_more_later_makes_no_set(void **state) {
    (void)state;
    for (int i = 0; i < 3; ++i)
        ask(i, 7, "", "", 0);
    ran("p1", 5);
    ask(3, 7, "", "p3", 2);
    assert_sets(0, 0, 3);
}

static void sizes_up_to_the_end_of_the_run_make_no_set(void **state) {
    (void)state;
    for (int i = 0; i < 4; ++i) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        ask(i, 7, "", name, 1);
    }
    assert_sets(0, 0, 3);
}

// The last one runs, as does another function of its name.
static void executions_of_the_name_do_not_prove_a_set(void **state) {
    (void)state;
    for (int i = 0; i < 3; ++i)
        ask(i, 7, "", "", 0);
    ran("p2", 1);
    ask(3, 20, "", "p3", 5);
    assert_sets(0, 0, 3);
}

static void a_line_that_asks_for_the_same_again_makes_no_set(void **state) {
    (void)state;
    for (int i = 0; i < 3; ++i)
        ask(i, 7, i == 1 ? "r" : "", "", 0);
    ran("p1", 5);
    assert_sets(0, 0, 2);
}

// Lines of a journal are lost: nobody knows whether these ran.
static void programs_whose_compiles_are_lost_make_no_set(void **state) {
    (void)state;
    for (int i = 10; i < 13; ++i) {
        char program[8];
        snprintf(program, sizeof program, "p%d", i);
        explain("compile", program, "decode", 1,
                ",\"recompile\":true,\"site\":{\"file\":\"/w/engine.py\",\"line\":9}");
    }
    for (int i = 0; i < 3; ++i)
        ask(i, 7, "", "", 0);
    ran("p1", 5);
    assert_sets(1, 3, 0);
}

static void two_programs_are_no_set(void **state) {
    (void)state;
    ask(0, 7, "", "", 0);
    ask(1, 7, "", "", 0);
    ran("p1", 5);
    assert_sets(0, 0, 1);
}

static void a_training_step_that_ran_has_trained(void **state) {
    (void)state;
    ask(0, 7, "g", "p0", 1);
    ask(1, 7, "g", "p1", 1);
    ask(2, 7, "g", "p2", 1);
    ran("p1", 5);
    assert_sets(0, 0, 2);
}

static void training_steps_that_are_compiled_first_are_a_set(void **state) {
    (void)state;
    for (int i = 0; i < 3; ++i)
        ask(i, 7, "g", "", 0);
    ran("p1", 5);
    assert_sets(1, 3, 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(buckets_that_ran_once_before_any_ran_twice_are_a_set),
        TEST(a_set_is_the_same_in_whatever_parts_the_run_is_read),
        TEST(what_runs_for_each_program_of_a_warm_up_is_in_it),
        TEST(a_set_that_comes_late_takes_nothing_in),
        TEST(a_set_that_is_loaded_has_its_first_program),
        TEST(requests_that_need_only_the_first_program_prove_a_loaded_set),
        TEST(sizes_up_to_a_freeze_are_a_set),
        TEST(what_another_line_asks_for_later_is_an_accident),
        TEST(a_line_that_asks_for_more_later_makes_no_set),
        TEST(sizes_up_to_the_end_of_the_run_make_no_set),
        TEST(executions_of_the_name_do_not_prove_a_set),
        TEST(a_line_that_asks_for_the_same_again_makes_no_set),
        TEST(programs_whose_compiles_are_lost_make_no_set),
        TEST(two_programs_are_no_set),
        TEST(a_training_step_that_ran_has_trained),
        TEST(training_steps_that_are_compiled_first_are_a_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
