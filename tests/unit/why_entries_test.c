// Which entries of a run count: programs that an earlier run had, loops of a library while a run
// starts, programs of one function that take turns. Fields at the limits of each rule.
#include "why_help.h"

#define AGAINST(is_ours) ",\"against\":{\"program\":\"o\",\"name\":\"f\",\"is_ours\":" is_ours "}"
#define ROOTS ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"x\",\"old\":\"1\",\"new\":\"2\"}]"

static void next_run(keel_why_t *why) {
    keel_why_deinitialize(why);
    end(NULL);
    begin(NULL);
}

static void a_program_that_an_earlier_run_had_is_known(void **state) {
    (void)state;
    static const struct {
        const char *what, *rest;
        uint64_t known;
    } cases[] = {
        {"compile", AGAINST("false") ROOTS, 1},
        {"compile", AGAINST("true") ROOTS, 0},
        {"compile", ROOTS, 0},
        {"retrace", AGAINST("false") ROOTS, 0},
        {"compile", ",\"recompile\":true" AGAINST("false") ROOTS, 0},
        {"compile", ",\"unrelated\":true" AGAINST("false") ROOTS, 0},
        {"compile", ",\"recompile\":true,\"unrelated\":true" AGAINST("false") ROOTS, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_why_t why;
        explain(cases[i].what, "aa", "f", 2, cases[i].rest);
        parse(&why);
        if (why.summary.known.times != cases[i].known)
            fail_msg("%s%s", cases[i].what, cases[i].rest);
        assert_true(why.summary.known.seconds == 2 * (double)cases[i].known);
        next_run(&why);
    }
}

static void a_variable_that_narrows_floats_is_named(void **state) {
    (void)state;
    static const struct {
        const char *flag, *old_type;
        bool named;
    } cases[] = {
        {"\"XLA_USE_BF16\":\"1\"", "f32[8]", true},
        {"\"XLA_DOWNCAST_BF16\":\"1\"", "f32[8]", true},
        {"\"XLA_USE_BF16\":\"0\"", "f32[8]", false},
        {"\"XLA_USE_BF16\":\"1\"", "f16[8]", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_why_t why;
        char rest[400];
        keel_buffer_deinitialize(&journal);
        keel_buffer_initialize(&journal, 0);
        keel_buffer_format(&journal, "{\"event\":\"start\",\"t\":1000,\"pid\":1,\"flags\":{%s}}\n",
                           cases[i].flag);
        snprintf(rest, sizeof rest,
                 AGAINST("false") ",\"roots\":[{\"kind\":\"dtype\",\"subject\":\"x\",\"old\":"
                                  "\"%s\",\"new\":\"bf16[8]\"}]",
                 cases[i].old_type);
        explain("compile", "aa", "f", 2, rest);
        parse(&why);
        const char *advice =
            keel_why_advice(&why, &why.entries[0], why.entries[0].roots, KEEL_FRAMEWORK_TORCH);
        if ((strstr(advice, "torch.bfloat16") != NULL) != cases[i].named)
            fail_msg("%s: %s", cases[i].flag, advice);
        next_run(&why);
    }
}

static void of_known_programs_the_dearest_is_named(void **state) {
    (void)state;
    static const struct {
        double seconds[3];
        const char *dearest;
    } cases[] = {{{1, 2, 3}, "cc"}, {{3, 2, 1}, "aa"}, {{2, 2, 1}, "aa"}, {{0, 0, 1}, "cc"}};
    static const char *const programs[] = {"aa", "bb", "cc"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_why_t why;
        for (size_t k = 0; k < 3; ++k)
            explain("compile", programs[k], "f", cases[i].seconds[k], AGAINST("false") ROOTS);
        parse(&why);
        assert_int_equal(why.summary.known.times, 3);
        assert_string_equal(why.summary.dearest_known.program, cases[i].dearest);
        assert_string_equal(why.summary.dearest_known.subject, "x");
        next_run(&why);
    }
}

// The body of a library's loop is a new function each time.
static void a_librarys_loop_is_left_out_unless_it_comes_again(void **state) {
    (void)state;
#define LOOP(file) ",\"origin\":\"/v/site-packages/" file ".py:3\"" AGAINST("true")
#define OWN ",\"origin\":\"step at /w/t.py:3\"" AGAINST("true")
    static const struct {
        const char *what[2], *rest[2];
        bool left_out[2];
    } cases[] = {
        {{"retrace", NULL}, {LOOP("a/b"), NULL}, {true, false}},
        {{"compile", NULL}, {LOOP("a/b"), NULL}, {false, false}},
        {{"retrace", NULL}, {OWN, NULL}, {false, false}},
        {{"retrace", "retrace"}, {LOOP("a/b"), LOOP("a/c")}, {true, true}},
        {{"retrace", "retrace"}, {LOOP("a/b"), LOOP("a/b")}, {false, false}},
        {{"retrace", "compile"}, {LOOP("a/b"), LOOP("a/b")}, {true, false}},
        {{"compile", "retrace"}, {LOOP("a/b"), LOOP("a/b")}, {false, true}},
        {{"retrace", "retrace"}, {LOOP("a/b"), OWN}, {true, false}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_why_t why;
        for (int k = 0; k < 2 && cases[i].what[k]; ++k)
            explain(cases[i].what[k], k ? "bb" : "aa", "f", 1, cases[i].rest[k]);
        parse(&why);
        for (size_t k = 0; k < why.entry_count; ++k)
            if (why.entries[k].left_out != cases[i].left_out[k])
                fail_msg("case %zu, entry %zu", i, k);
        next_run(&why);
    }
#undef LOOP
#undef OWN
}

// Each letter is a compile: of the function in small or large letters, in process 1 or 2.
static void programs_of_one_function_and_process_take_turns(void **state) {
    (void)state;
    static const struct {
        const char *programs, *processes;
        size_t patterns;
    } cases[] = {
        {"abab", "1111", 1}, {"aBaB", "1111", 0},         {"abab", "1212", 0},
        {"abab", "2222", 1}, {"aAbBaAbB", "11111111", 2}, {"aabbaabb", "12121212", 2},
        {"abab", "1112", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_why_t why;
        for (const char *at = cases[i].programs; *at; ++at)
            keel_buffer_format(&journal,
                               "{\"event\":\"explain\",\"pid\":%c,\"what\":\"compile\","
                               "\"program\":\"%c\",\"name\":\"%s\",\"key\":\"k%c\",\"seconds\":1,"
                               "\"recompile\":true" AGAINST("true") "}\n",
                               cases[i].processes[at - cases[i].programs], *at,
                               *at >= 'a' ? "f" : "g", *at);
        parse(&why);
        if (why.pattern_count != cases[i].patterns)
            fail_msg("%s %s: %zu patterns", cases[i].programs, cases[i].processes,
                     why.pattern_count);
        next_run(&why);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_program_that_an_earlier_run_had_is_known, begin, end),
        cmocka_unit_test_setup_teardown(a_variable_that_narrows_floats_is_named, begin, end),
        cmocka_unit_test_setup_teardown(of_known_programs_the_dearest_is_named, begin, end),
        cmocka_unit_test_setup_teardown(a_librarys_loop_is_left_out_unless_it_comes_again, begin,
                                        end),
        cmocka_unit_test_setup_teardown(programs_of_one_function_and_process_take_turns, begin,
                                        end),
    };
    return cmocka_run_group_tests_name("why_entries", tests, NULL, NULL);
}
