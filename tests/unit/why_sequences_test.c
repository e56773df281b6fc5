// Sequences of recompiles and the pattern that they make: values at the limits of each rule.
#define _GNU_SOURCE
#include "why_help.h"

// "counter 3 times: 3, 4, 5, 6" for each pattern, one behind the other.
static void check(const char *what, const char *expected) {
    keel_why_t why;
    char got[1024] = "";
    parse(&why);
    for (size_t i = 0; i < why.pattern_count; ++i) {
        const keel_why_pattern_t *one = &why.patterns[i];
        char text[400];
        snprintf(text, sizeof text, "%s%s%s %u times: %s", i ? "; " : "",
                 keel_pattern_word(one->kind), one->grows ? " grows" : "",
                 (unsigned)one->took.times, one->values);
        append(got, sizeof got, text);
    }
    if (strcmp(got, expected) != 0) fail_msg("%s\nexpected: %s\ngot: %s", what, expected, got);
    keel_why_deinitialize(&why);
    end(NULL);
    begin(NULL);
}

typedef struct case_t {
    const char *steps, *expected;
} case_t;

// The next part of the steps, up to a bar; false at the end.
static bool next(const char **steps, char out[64]) {
    size_t size = strcspn(*steps, "|");
    if (!**steps) return false;
    assert_true(size < 64);
    snprintf(out, 64, "%.*s", (int)size, *steps);
    *steps += size + ((*steps)[size] == '|');
    return true;
}

// Each step is the value that follows the one before: "3|4|5".
static void values(const char *kind, const char *subject, const char *steps) {
    char old[64], value[64];
    int number = 0;
    for (bool any = next(&steps, old); any && next(&steps, value); memcpy(old, value, 64)) {
        char program[16], rest[512];
        snprintf(program, sizeof program, "p%d", ++number);
        snprintf(rest, sizeof rest,
                 AGAIN ",\"roots\":[{\"kind\":\"%s\",\"subject\":\"%s\",\"old\":\"%s\","
                       "\"new\":\"%s\",\"file\":\"/w/m.py\",\"line\":4}]",
                 kind, subject, old, value);
        explain("compile", program, "f", 1, rest);
    }
}

static void numbers_that_go_up_by_one_are_a_counter(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"3|4|5", ""}, // two recompiles
        {"3|4|5|6", "counter 3 times: 3, 4, 5, 6"},
        {"3|5|6|7", "counter 3 times: 5, 6, 7"}, // what was before is not part of it
        {"0|4|5|6|6", "counter 4 times: 4, 5, 6"},
        {"4|5|5|5", ""}, // two values
        {"4|5|5|6|6|7", "counter 5 times: 4, 5, 6, 7"},
        {"1|2|3|4|5|6|7", "counter 6 times: 1, 2, 3, 4, 5, 6, 7"},
        {"1|2|3|4|5|6|7|8", "counter 7 times: 1, 2, 3, 4, 5, 6, ..., 8"},
        {"-2|-1|0|1", "counter 3 times: -2, -1, 0, 1"},
        {"0.5|1.5|2.5|3.5", "counter 3 times: 0.5, 1.5, 2.5, 3.5"},
        {"3|4|5|6|9|10|11|12", "counter 3 times: 3, 4, 5, 6; counter 4 times: 9, 10, 11, 12"},
        {"3|4|5|x|6|7|8", "counter 3 times: 6, 7, 8"},
        {"999999999999997|999999999999998|999999999999999|1000000000000000", ""},
        {"-1000000000000000|-999999999999999|-999999999999998|-999999999999997",
         "counter 3 times: -999999999999999, -999999999999998, -999999999999997"},
        // Lists count by their sum.
        {"[0]|[1]|[2]|[3]", "counter 3 times: [0], [1], [2], [3]"},
        {"[0, 9]|[1, 9]|[2, 9]|[3, 9]", "counter 3 times: [0, 9], [1, 9], [2, 9], [3, 9]"},
        {"[0, 1e15]|[1, 1e15]|[2, 1e15]|[3, 1e15]", ""},
        {"[5e14, 5e14]|[5e14, 5e14]|[6, 5e14]|[7, 5e14]", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        values("constant", "multiply", cases[i].steps);
        check(cases[i].steps, cases[i].expected);
    }
}

static void numbers_of_which_none_comes_twice_are_a_counter_too(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"0.1|0.2|0.4", ""},
        {"0.1|0.2|0.4|0.8", "counter 3 times: 0.1, 0.2, 0.4, 0.8"},
        {"0.1|0.2|0.2|0.4", ""}, // two new ones
        {"0.1|0.2|0.2|0.4|0.8", "counter 4 times: 0.1, 0.2, 0.4, 0.8"},
        {"0.1|0.2|0.4|0.1", ""}, // back where it began
        {"0.1|0.2|0.4|0.8|0.2", ""},
        {"x|0.2|0.4|0.8", ""},
        {"0.1|0.2|x|0.8", ""},
        {"0.1|0.2|0.4|0.8|1.6|3.2|6.4", "counter 6 times: 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4"},
        {"0.1|0.2|0.4|0.8|1.6|3.2|6.4|12.8",
         "counter 7 times: 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, ..., 12.8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        values("constant", "multiply", cases[i].steps);
        check(cases[i].steps, cases[i].expected);
    }
}

static void shapes_that_differ_are_an_unpadded_batch(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"f32[8]|f32[7]|f32[6]", ""},
        {"f32[8]|f32[7]|f32[6]|f32[9]", "unpadded 3 times: f32[7], f32[6], f32[9]"},
        {"f32[8]|f32[7]|f32[6]|f32[7]", ""}, // two shapes
        {"f32[8]|f32[9]|f32[10]|f32[11]", "unpadded grows 3 times: f32[9], f32[10], f32[11]"},
        {"f32[8,2]|f32[9,2]|f32[9,3]|f32[9,4]",
         "unpadded grows 3 times: f32[9,2], f32[9,3], f32[9,4]"},
        {"f32[8,2]|f32[9,1]|f32[10,1]|f32[11,1]",
         "unpadded 3 times: f32[9,1], f32[10,1], f32[11,1]"}, // one is smaller
        {"f32[8]|f32[9,1]|f32[10,1]|f32[11,1]",
         "unpadded 3 times: f32[9,1], f32[10,1], f32[11,1]"}, // another rank
        {"f32[8,1]|f32[9]|f32[10]|f32[11]", "unpadded 3 times: f32[9], f32[10], f32[11]"},
        {"f32[8]|f64[8]|f64[9]|f64[10]", "unpadded 3 times: f64[8], f64[9], f64[10]"},
        {"f32[]|f32[2]|f32[3]|f32[4]", "unpadded 3 times: f32[2], f32[3], f32[4]"},
        {"8|9|10|11", "unpadded grows 3 times: 9, 10, 11"},
        {"f32[1]|f32[2]|f32[3]|f32[4]|f32[5]|f32[6]|f32[7]|f32[8]",
         "unpadded grows 7 times: f32[2], f32[3], f32[4], f32[5], f32[6], f32[7], f32[8]"},
        {"f32[1]|f32[2]|f32[3]|f32[4]|f32[5]|f32[6]|f32[7]|f32[8]|f32[9]",
         "unpadded grows 8 times: f32[2], f32[3], f32[4], f32[5], f32[6], f32[7], ..., f32[9]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        values("shape", "x", cases[i].steps);
        check(cases[i].steps, cases[i].expected);
    }
}

// Each step is a recompile and the arguments that came with it: "a['x'] a['y']|a['z']".
static void arguments(const char *steps) {
    char step[64];
    for (int number = 1; next(&steps, step); ++number) {
        char program[16], rest[1024] = AGAIN ",\"roots\":[";
        snprintf(program, sizeof program, "p%d", number);
        char *saved = NULL;
        for (char *one = strtok_r(step, " ", &saved); one; one = strtok_r(NULL, " ", &saved)) {
            char text[200];
            snprintf(text, sizeof text,
                     "%s{\"kind\":\"arguments\",\"subject\":\"%s\",\"old\":\"absent\","
                     "\"new\":\"f32[2]\"}",
                     one == step ? "" : ",", one);
            append(rest, sizeof rest, text);
        }
        append(rest, sizeof rest, "]");
        explain("compile", program, "f", 1, rest);
    }
}

static void elements_that_come_one_by_one_are_a_list_that_grows(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"h[2]", ""},
        {"h[2]|h[3]", "growing 2 times: h[2], h[3]"},
        {"h[2]|h[4]", "growing 2 times: h[2], h[4]"},
        {"h[3]|h[2]", ""},
        {"h[2]|h[2]", ""},
        {"h[9]|h[10]", "growing 2 times: h[9], h[10]"},
        {"h[2].w|h[3].w", "growing 2 times: h[2].w, h[3].w"},
        {"h[2].w|h[3].b", ""},
        {"h[2]|k[3]", ""},
        {"h[2][0]|h[2][1]", "growing 2 times: h[2][0], h[2][1]"},
        {"h[2][0]|h[3][1]", ""}, // two went up
        {"h[2][1]|h[3][0]", ""},
        {"h[2]|h[3]|h[9]|h[4]|h[5]",
         "growing 3 times: h[2], h[3], h[9]; growing 2 times: h[4], h[5]"},
        {"h[2]|h[3]|h[2]", "growing 2 times: h[2], h[3]"},
        {"h2|h3", ""}, // no index
        {"h[a]|h[b]", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        arguments(cases[i].steps);
        check(cases[i].steps, cases[i].expected);
    }
}

static void arguments_that_come_and_go_are_subsets(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"a|b", ""},
        {"a|b|c", "subsets 3 times: a, b, c"},
        {"a|a|a", ""}, // one set
        {"a|a|b", "subsets 3 times: a, b"},
        {"a b|a", ""}, // two recompiles
        {"a b|a|b", "subsets 3 times: a, b"},
        {"a b|a b|a b", ""},
        {"a b|b a|a b", "subsets 3 times: a, b"},
        {"a|b|c|d|e|g|h", "subsets 7 times: a, b, c, d, e, g, h"},
        {"a|b|c|d|e|g|h|i", "subsets 8 times: a, b, c, d, e, g, ..., i"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        arguments(cases[i].steps);
        check(cases[i].steps, cases[i].expected);
    }
}

// Each step is a program.
static void programs(const char *steps) {
    char step[64];
    while (next(&steps, step))
        explain("compile", step, "f", 1, AGAIN);
}

static void two_programs_may_take_turns(void **state) {
    (void)state;
    static const case_t cases[] = {
        {"A|B|A", ""},
        {"A|B|A|B", "alternating 4 times: A, B"},
        {"A|B|A|B|A", "alternating 5 times: A, B"},
        {"A|B|A|C", ""},
        {"A|A|B|A|B", "alternating 4 times: A, B"},
        {"A|B|B|A|B|A", "alternating 4 times: B, A"},
        {"A|B|C|A|B|C", ""},
        {"C|A|B|A|B", "alternating 4 times: A, B"},
        {"A|B|A|B|C|D|C|D", "alternating 4 times: A, B; alternating 4 times: C, D"},
        {"A|B|A|B|C|B|C|B", "alternating 4 times: A, B; alternating 4 times: C, B"},
        {"A|A|A|A", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        programs(cases[i].steps);
        check(cases[i].steps, cases[i].expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_that_go_up_by_one_are_a_counter, begin, end),
        cmocka_unit_test_setup_teardown(numbers_of_which_none_comes_twice_are_a_counter_too, begin,
                                        end),
        cmocka_unit_test_setup_teardown(shapes_that_differ_are_an_unpadded_batch, begin, end),
        cmocka_unit_test_setup_teardown(elements_that_come_one_by_one_are_a_list_that_grows, begin,
                                        end),
        cmocka_unit_test_setup_teardown(arguments_that_come_and_go_are_subsets, begin, end),
        cmocka_unit_test_setup_teardown(two_programs_may_take_turns, begin, end),
    };
    return cmocka_run_group_tests_name("why_sequences", tests, NULL, NULL);
}
