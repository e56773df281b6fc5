// Several recompiles with one story.
#include "why_help.h"

static void a_constant_that_counts_up_is_a_counter(void **state) {
    (void)state;
    constant(1, "f", "multiply", 4, "3", "4");
    constant(2, "f", "multiply", 9, "0.1", "0.2"); // another line
    constant(3, "f", "multiply", 4, "4", "5");
    constant(4, "f", "multiply", 4, "5", "6");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 1);
    const keel_why_pattern_t *pattern = &why.patterns[0];
    assert_int_equal(pattern->kind, KEEL_PATTERN_COUNTER);
    assert_string_equal(pattern->values, "3, 4, 5, 6");
    assert_string_equal(pattern->place.shown, "m.py:4");
    assert_int_equal(pattern->took.times, 3);
    assert_true(pattern->took.seconds == 3);
    assert_string_equal(why.entries[0].pattern, "counter");
    assert_string_equal(why.entries[1].pattern, "");
    assert_int_equal(why.entries[1].pattern_index, KEEL_NONE);
    assert_int_equal(why.entries[3].pattern_index, 0);
    keel_why_deinitialize(&why);
}

static void a_list_of_which_one_number_counts_up_is_a_counter(void **state) {
    (void)state;
    constant(1, "f", "slice start", 4, "[0, 0, 1]", "[0, 1, 1]");
    constant(2, "f", "slice start", 4, "[0, 1, 1]", "[0, 2, 1]");
    constant(3, "f", "slice start", 4, "[0, 2, 1]", "[0, 3, 1]");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 1);
    assert_int_equal(why.patterns[0].kind, KEEL_PATTERN_COUNTER);
    assert_string_equal(why.patterns[0].values, "[0, 0, 1], [0, 1, 1], [0, 2, 1], [0, 3, 1]");
    keel_why_deinitialize(&why);
}

static void lists_that_are_none_of_numbers_count_nothing(void **state) {
    (void)state;
    static const char *const values[] = {"[]", "[1,", "[1, x]", "[1] ", "[nan]", "[1, 2"};
    for (int i = 0; i < 6; ++i)
        constant(i, "f", "slice", 4, values[i], values[(i + 1) % 6]);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 0);
    keel_why_deinitialize(&why);
}

static void a_constant_that_jumps_or_belongs_to_several_is_no_counter(void **state) {
    (void)state;
    static const char *const values[] = {"1", "2", "4", "5", "7", "nan", "x", "8"};
    for (int i = 0; i < 8; ++i)
        constant(i, "f", "multiply", 4, "0", values[i]);
    constant(10, "f", "add", 5, "1", "2");
    constant(11, "g", "add", 5, "2", "3");
    constant(12, "f", "add", 6, "3", "4");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 0);
    keel_why_deinitialize(&why);
}

// A recompile of jit_step for a shape; `origin` is that of its function.
static void step_of(int number, const char *origin) {
    char program[16], rest[512];
    snprintf(program, sizeof program, "p%d", number);
    snprintf(rest, sizeof rest,
             AGAIN ",\"origin\":\"%s\",\"roots\":[{\"kind\":\"shape\",\"subject\":\"x\",\"old\":"
                   "\"f32[%d]\",\"new\":\"f32[%d]\",\"file\":\"/w/t.py\",\"line\":%d}]",
             origin, 20 - number, 20 - number * 3, 10 + number);
    explain("compile", program, "jit_step", 1, rest);
}

static uint64_t patterns_of_functions(const char *const origins[3]) {
    keel_why_t why;
    for (int i = 0; i < 3; ++i)
        step_of(i + 1, origins[i]);
    parse(&why);
    uint64_t times = why.pattern_count ? why.patterns[0].took.times : 0;
    if (times) assert_int_equal(why.patterns[0].kind, KEEL_PATTERN_UNPADDED);
    keel_why_deinitialize(&why);
    end(NULL);
    begin(NULL);
    return times;
}

static void functions_of_one_name_share_no_pattern(void **state) {
    (void)state;
    static const struct {
        const char *origins[3];
        uint64_t times;
    } cases[] = {
        {{"step at /w/t.py:4", "step at /w/t.py:4", "step at /w/t.py:4"}, 3},
        {{"", "", ""}, 3},
        {{"a.<locals>.step at /w/t.py:4", "b.<locals>.step at /w/t.py:7",
          "c.<locals>.step at /w/t.py:10"},
         0},
        {{"step at /w/t.py:4", "step at /w/u.py:4", "step at /w/v.py:4"}, 0},
        {{"<lambda> at /w/t.py:3", "<lambda> at /w/t.py:5", "<lambda> at /w/t.py:7"}, 0},
        // One def under several names.
        {{"A.step at /w/t.py:4", "B.step at /w/t.py:4", "A.step at /w/t.py:4"}, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        assert_int_equal(patterns_of_functions(cases[i].origins), cases[i].times);
}

// Four times; the line of the shape, that of the read, and what the host computed.
static void mask(int line, int read, const char *op, keel_why_t *out) {
    static const char *const shapes[] = {"i64[9,2]", "i64[4,2]", "i64[7,2]", "i64[5,2]",
                                         "i64[6,2]"};
    journal.size = 0;
    for (int i = 0; i < 4; ++i) {
        char program[8], rest[512];
        snprintf(program, sizeof program, "p%d", i);
        snprintf(rest, sizeof rest,
                 AGAIN ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"argument 2\",\"old\":\"%s\","
                       "\"new\":\"%s\",\"file\":\"/w/t.py\",\"line\":%d}]",
                 shapes[i], shapes[i + 1], line);
        explain("compile", program, "f", 1, rest);
    }
    keel_buffer_format(&journal,
                       "{\"event\":\"host_ops\",\"pid\":1,\"ops\":{\"%s\":2}}\n"
                       "{\"event\":\"transfers\",\"pid\":1,\"reads\":[{\"site\":{\"file\":"
                       "\"/w/t.py\",\"line\":%d},\"count\":4,\"bytes\":64,\"seconds\":1}]}\n",
                       op, read);
    parse(out);
}

static void what_a_mask_leaves_is_a_shape_and_a_read(void **state) {
    (void)state;
    keel_why_t why;
    mask(8, 8, "aten::nonzero", &why);
    assert_int_equal(why.pattern_count, 1);
    assert_true(why.patterns[0].counted && !why.patterns[0].grows);
    assert_string_equal(keel_why_sentence(&why.patterns[0]),
                        "the host reads a mask here to count what it selects");
    assert_non_null(
        strstr(keel_why_advice(&why, &why.entries[0], why.entries[0].roots, KEEL_FRAMEWORK_TORCH),
               "torch.where"));
    keel_why_deinitialize(&why);
    mask(8, 9, "aten::nonzero", &why); // another line reads: a batch of another length
    assert_false(why.patterns[0].counted);
    assert_string_equal(keel_why_cause(&why.entries[0])->note, "");
    keel_why_deinitialize(&why);
    mask(8, 8, "aten::item", &why); // and one that is read where it was made
    assert_false(why.patterns[0].counted);
    keel_why_deinitialize(&why);
}

static void a_pattern_is_told_by_its_own_cause_whatever_else_came_with_the_first(void **state) {
    (void)state;
    explain("compile", "p0", "f", 1,
            AGAIN ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"x\",\"old\":\"f32[]\","
                  "\"new\":\"f32[8]\",\"file\":\"/w/m.py\",\"line\":2},"
                  "{\"kind\":\"constant\",\"subject\":\"power\",\"old\":\"2\","
                  "\"new\":\"3\",\"file\":\"/w/m.py\",\"line\":4}]");
    constant(1, "f", "power", 4, "3", "4");
    constant(2, "f", "power", 4, "4", "5");
    keel_why_t why;
    parse(&why);
    assert_text(&why, &(keel_text_style_t){0}, "constant  m.py:4  power: 2, 3, 4, 5");
    keel_why_deinitialize(&why);
}

static void of_two_stories_at_once_one_leads_and_the_other_stands_below(void **state) {
    (void)state;
    for (int i = 0; i < 4; ++i) {
        char program[8], roots[512];
        snprintf(program, sizeof program, "p%d", i);
        snprintf(roots, sizeof roots,
                 AGAIN ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"x\",\"old\":\"f32[%d]\","
                       "\"new\":\"f32[%d]\",\"file\":\"/w/m.py\",\"line\":2},"
                       "{\"kind\":\"constant\",\"subject\":\"power\",\"old\":\"%d\","
                       "\"new\":\"%d\",\"file\":\"/w/m.py\",\"line\":4}]",
                 9 - i, 8 - i, i, i + 1);
        explain("compile", program, "f", 1, roots);
    }
    keel_why_t why;
    parse(&why);
    assert_text(&why, &(keel_text_style_t){0}, "constant  m.py:4  power: 0, 1, 2, 3, 4");
    assert_text(&why, &(keel_text_style_t){0}, "also shape  m.py:2  x  f32[9] -> f32[8]");
    assert_text(&why, &(keel_text_style_t){0},
                keel_cause_facts(KEEL_CAUSE_CONSTANT)->advice[KEEL_FRAMEWORK_JAX]);
    keel_why_deinitialize(&why);
}

static void what_came_once_besides_a_pattern_is_told_with_its_note(void **state) {
    (void)state;
    for (int i = 0; i < 3; ++i) {
        char program[8], roots[640];
        snprintf(program, sizeof program, "p%d", i);
        snprintf(roots, sizeof roots,
                 AGAIN ",\"roots\":[{\"kind\":\"size\",\"subject\":\"slice limit\",\"old\":\"%d\","
                       "\"new\":\"%d\",\"file\":\"/w/m.py\",\"line\":2}%s]",
                 9 - i, 8 - i,
                 i ? ""
                   : ",{\"kind\":\"arguments\",\"subject\":\"argument 8\",\"old\":\"absent\","
                     "\"new\":\"f32[4]\",\"file\":\"/w/m.py\",\"line\":4,"
                     "\"note\":\"the optimizer created this state in its first step\"}");
        explain("compile", program, "f", 1, roots);
    }
    keel_why_t why;
    parse(&why);
    assert_text(&why, &(keel_text_style_t){0}, "3 times; a size varies freely");
    assert_text(&why, &(keel_text_style_t){0},
                "     also arguments  m.py:4  argument 8  absent -> f32[4]\n"
                "     the optimizer created this state in its first step\n");
    keel_why_deinitialize(&why);
}

static void a_schedule_that_the_host_computes_is_a_counter(void **state) {
    (void)state;
    static const char *const rates[] = {"0.1", "0.09", "0.081", "0.0729"};
    for (int i = 0; i < 3; ++i)
        constant(i, "f", "multiply", 4, rates[i], rates[i + 1]);
    for (int i = 0; i < 2; ++i)
        constant(10 + i, "f", "add", 4, rates[i], rates[i + 1]); // too few to say
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 1);
    assert_int_equal(why.patterns[0].kind, KEEL_PATTERN_COUNTER);
    assert_int_equal(why.patterns[0].took.times, 3);
    assert_string_equal(why.patterns[0].values, "0.1, 0.09, 0.081, 0.0729");
    keel_why_deinitialize(&why);
}

static void a_schedule_that_comes_back_is_no_counter(void **state) {
    (void)state;
    static const char *const rates[] = {"0.1", "0.09", "0.081", "0.1", "0.07", "0.06"};
    for (int i = 0; i < 5; ++i)
        constant(i, "f", "multiply", 4, rates[i], rates[i + 1]);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 0);
    keel_why_deinitialize(&why);
}

static void of_a_long_counter_the_first_values_and_the_last_are_told(void **state) {
    (void)state;
    char from[16], to[16];
    for (int i = 0; i < 40; ++i) {
        snprintf(from, sizeof from, "%d", i);
        snprintf(to, sizeof to, "%d", i + 1);
        constant(i, "f", "multiply", 4, from, to);
    }
    keel_why_t why;
    parse(&why);
    assert_string_equal(why.patterns[0].values, "0, 1, 2, 3, 4, 5, ..., 40");
    assert_int_equal(why.patterns[0].took.times, 40);
    assert_text(&why, &(keel_text_style_t){.width = 80}, "40 times");
    keel_why_deinitialize(&why);
}

static void a_dimension_that_varies_freely_is_an_unpadded_batch(void **state) {
    (void)state;
    shape("a", "x", "f32[5]", 1);
    shape("b", "x", "f32[6]", 2);
    shape("c", "y", "f32[6]", 2);
    shape("d", "x", "f32[7]", 1);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 1);
    assert_int_equal(why.patterns[0].kind, KEEL_PATTERN_UNPADDED);
    assert_string_equal(why.patterns[0].subject, "x");
    assert_string_equal(why.patterns[0].values, "f32[5], f32[6], f32[7]");
    assert_false(why.patterns[0].grows);
    assert_int_equal(why.patterns[0].took.times, 3);
    assert_string_equal(why.entries[2].pattern, "");
    keel_why_deinitialize(&why);
}

static void a_dimension_that_only_grows_asks_for_a_buffer(void **state) {
    (void)state;
    shape("a", "keys", "f32[9]", 1);
    shape("b", "keys", "f32[10]", 1);
    shape("c", "keys", "f32[11]", 1);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 1);
    assert_true(why.patterns[0].grows);
    assert_text(&why, &(keel_text_style_t){.width = 100}, "; a dimension grows with each step\n");
    assert_text(&why, &(keel_text_style_t){.width = 100}, "write at an index");
    assert_text(&why, &(keel_text_style_t){.width = 100}, "keel explain unpadded");
    keel_why_deinitialize(&why);
}

static void one_short_batch_again_and_again_is_no_pattern(void **state) {
    (void)state;
    shape("a", "x", "f32[5]", 1);
    shape("b", "x", "f32[5]", 1);
    shape("c", "x", "f32[6]", 1);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 0);
    keel_why_deinitialize(&why);
}

static void two_programs_that_take_turns_are_told(void **state) {
    (void)state;
    static const char *const turns[] = {"a", "b", "a", "b", "c", "d", "c"};
    for (size_t i = 0; i < sizeof turns / sizeof *turns; ++i)
        explain(i < 2 ? "compile" : "retrace", turns[i], "f", 1, "");
    explain("retrace", "a", "g", 1, "");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 1);
    assert_int_equal(why.patterns[0].kind, KEEL_PATTERN_ALTERNATING);
    assert_int_equal(why.patterns[0].took.times, 4);
    assert_string_equal(why.patterns[0].values, "a, b");
    assert_string_equal(why.entries[3].pattern, "alternating");
    assert_string_equal(why.entries[4].pattern, "");
    keel_why_deinitialize(&why);
}

static void two_that_take_turns_show_the_one_thing_they_differ_in(void **state) {
    (void)state;
    explain("compile", "a", "f", 1, ",\"roots\":[{\"kind\":\"first\"}]");
    explain("compile", "b", "f", 1,
            AGAIN ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"x\",\"old\":\"f32[8]\","
                  "\"new\":\"f32[4]\"}]");
    explain("retrace", "a", "f", 1, AGAIN);
    explain("retrace", "b", "f", 1, AGAIN);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 1);
    assert_string_equal(why.patterns[0].subject, "x");
    assert_string_equal(why.patterns[0].values, "f32[8] <-> f32[4]");
    keel_why_deinitialize(&why);
}

static void in_mode_refresh_the_cache_is_not_to_blame(void **state) {
    (void)state;
    explain("compile", "a", "f", 1,
            ",\"against\":{\"program\":\"a\",\"name\":\"f\",\"run\":\"r0\"},\"roots\":["
            "{\"kind\":\"cache\",\"subject\":\"refresh\"}]");
    keel_why_t why;
    parse(&why);
    assert_text(&why, &(keel_text_style_t){.width = 100}, "Mode refresh compiles everything again");
    keel_why_deinitialize(&why);
}

static void turns_may_begin_with_what_ended_other_turns(void **state) {
    (void)state;
    static const char *const turns[] = {"a", "b", "c", "b", "c", "c"};
    for (size_t i = 0; i < sizeof turns / sizeof *turns; ++i)
        explain("retrace", turns[i], "f", 1, "");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 1);
    assert_int_equal(why.patterns[0].took.times, 4);
    assert_string_equal(why.patterns[0].values, "b, c");
    keel_why_deinitialize(&why);
}

static void one_program_for_each_subset_of_optional_arguments_is_told(void **state) {
    (void)state;
    argument("a", "mask", NULL);
    argument("b", "mask", "weight");
    argument("c", "weight", NULL);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 1);
    assert_int_equal(why.patterns[0].kind, KEEL_PATTERN_SUBSETS);
    assert_string_equal(why.patterns[0].values, "mask, weight");
    assert_int_equal(why.patterns[0].took.times, 3); // by entry, not by argument
    for (int i = 0; i < 3; ++i)                      // the first of several
        assert_ptr_equal(keel_why_told(&why.entries[i], &why.patterns[0]), why.entries[i].roots);
    keel_why_deinitialize(&why);
}

static size_t patterns_of(keel_pattern_kind_t kind, const char *values, uint64_t times) {
    keel_why_t why;
    parse(&why);
    size_t count = why.pattern_count;
    if (count) {
        assert_int_equal(why.patterns[0].kind, kind);
        assert_string_equal(why.patterns[0].values, values);
        assert_int_equal(why.patterns[0].took.times, times);
    }
    keel_why_deinitialize(&why);
    end(NULL);
    begin(NULL);
    return count;
}

static void three_recompiles_with_two_sets_of_arguments_make_subsets(void **state) {
    (void)state;
    argument("a", "mask", NULL);
    argument("b", "weight", NULL);
    argument("c", "mask", NULL);
    assert_int_equal(patterns_of(KEEL_PATTERN_SUBSETS, "mask, weight", 3), 1);
    // One set again and again is another story, and so are two recompiles.
    argument("a", "mask", "weight");
    argument("b", "mask", "weight");
    argument("c", "mask", "weight");
    assert_int_equal(patterns_of(KEEL_PATTERN_SUBSETS, "", 0), 0);
    argument("a", "mask", "weight");
    argument("b", "mask", "bias");
    assert_int_equal(patterns_of(KEEL_PATTERN_SUBSETS, "", 0), 0);
}

static size_t turns_of(const char *programs, const char *values, uint64_t times) {
    for (; *programs; ++programs)
        explain("retrace", (const char[]){*programs, 0}, "f", 1, "");
    return patterns_of(KEEL_PATTERN_ALTERNATING, values, times);
}

static void turns_end_where_a_program_comes_twice_or_another_comes(void **state) {
    (void)state;
    assert_int_equal(turns_of("aabab", "a, b", 4), 1);
    assert_int_equal(turns_of("ababb", "a, b", 4), 1);
    assert_int_equal(turns_of("ababbaba", "a, b", 4), 2);
    assert_int_equal(turns_of("ababcbc", "a, b", 4), 1); // one turn is not counted in two
    assert_int_equal(turns_of("abcbcb", "b, c", 5), 1);
    assert_int_equal(turns_of("aba", "", 0), 0);
    assert_int_equal(turns_of("abcabc", "", 0), 0);
    assert_int_equal(turns_of("aaaa", "", 0), 0);
}

static void one_argument(int number, const char *subject) {
    char program[16];
    snprintf(program, sizeof program, "p%d", number);
    argument(program, subject, NULL);
}

static void assert_growing(const char *const *subjects, size_t count, const char *values) {
    begin(NULL);
    for (size_t i = 0; i < count; ++i)
        one_argument((int)i, subjects[i]);
    keel_why_t why;
    parse(&why);
    size_t growing = 0;
    for (size_t i = 0; i < why.pattern_count; ++i) {
        if (why.patterns[i].kind != KEEL_PATTERN_GROWING) continue;
        ++growing;
        assert_non_null(values);
        assert_string_equal(why.patterns[i].values, values);
    }
    assert_int_equal(growing, values != NULL);
    keel_why_deinitialize(&why);
    end(NULL);
}
#define GROWING(values, ...)                                                                       \
    assert_growing((const char *const[]){__VA_ARGS__},                                             \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), values)

static void a_list_grows_if_one_of_its_indices_goes_up(void **state) {
    (void)state;
    end(NULL); // each case has a journal of its own
    GROWING("h[0], h[1]", "h[0]", "h[1]");
    GROWING("h[8], h[9], h[10]", "h[8]", "h[9]", "h[10]");
    GROWING("h[1], h[2], h[3], h[4], h[5], h[6], ..., h[9]", "h[1]", "h[2]", "h[3]", "h[4]", "h[5]",
            "h[6]", "h[7]", "h[8]", "h[9]");
    GROWING("h[2]['w'], h[4]['w']", "h[2]['w']", "h[4]['w']");
    GROWING("h[1][2], h[1][3]", "h[1][2]", "h[1][3]");
    GROWING("h[1][2], h[2][2]", "h[1][2]", "h[2][2]");
    GROWING("h['a'][1], h['a'][2]", "h['a'][1]", "h['a'][2]");
    GROWING(NULL, "h[0]");
    GROWING(NULL, "h[1]", "h[1]");
    GROWING(NULL, "h[2]", "h[1]");
    GROWING(NULL, "h[1][1]", "h[2][2]"); // two at once
    GROWING(NULL, "h[1][2]", "h[2][1]");
    GROWING(NULL, "h['1']", "h['2']"); // names that are digits
    GROWING(NULL, "h1", "h2");
    GROWING(NULL, "h[1]['a']", "h[2]['b']");
    GROWING(NULL, "h[1]", "h[2].x");
    // What comes between ends it, and it may begin again.
    GROWING("h[5], h[6]", "h[9]", "h[5]", "h[6]", "h[6]");
    end(NULL);
    begin(NULL);
}

// A recompile with one more argument, compared with the program of number `against`.
static void one_more(int number, int against, const char *value, int line, const char *note) {
    char program[16], rest[640];
    snprintf(program, sizeof program, "p%d", number);
    snprintf(
        rest, sizeof rest,
        ",\"recompile\":true,\"against\":{\"program\":\"p%d\",\"name\":\"S\",\"is_ours\":true},"
        "\"roots\":[{\"kind\":\"arguments\",\"subject\":\"argument 2\",\"old\":\"absent\","
        "\"new\":\"%s\",\"note\":\"%s\",\"file\":\"/w/t.py\",\"line\":%d}]",
        against, value, note, line);
    explain("compile", program, "S", 1, rest);
}

static void a_list_without_names_grows_if_each_program_has_one_more(void **state) {
    (void)state;
    for (int i = 1; i < 4; ++i)
        one_more(i, i - 1, "f32[2]", 5, "");
    assert_int_equal(patterns_of(KEEL_PATTERN_GROWING, "argument 2", 3), 1);
    // Only two; another type; another line; all compared with one.
    for (int i = 1; i < 3; ++i)
        one_more(i, i - 1, "f32[2]", 5, "");
    assert_int_equal(patterns_of(KEEL_PATTERN_GROWING, "", 0), 0);
    for (int i = 1; i < 4; ++i)
        one_more(i, i - 1, i == 2 ? "f32[3]" : "f32[2]", 5, "");
    assert_int_equal(patterns_of(KEEL_PATTERN_SUBSETS, "argument 2", 3), 1);
    for (int i = 1; i < 4; ++i)
        one_more(i, i - 1, "f32[2]", 5 + i, "");
    assert_int_equal(patterns_of(KEEL_PATTERN_GROWING, "", 0), 0);
    for (int i = 1; i < 4; ++i)
        one_more(i, 0, "f32[2]", 5, "");
    assert_int_equal(patterns_of(KEEL_PATTERN_GROWING, "", 0), 0);
}

static void what_the_optimizer_creates_is_in_no_subset(void **state) {
    (void)state;
    static const char *const shapes[] = {"f32[2]", "f32[3]", "f32[4]"};
    for (int i = 0; i < 3; ++i)
        one_more(i, 9, shapes[i], 5, i ? "" : keel_note_text(KEEL_NOTE_STATE_MADE));
    assert_int_equal(patterns_of(KEEL_PATTERN_SUBSETS, "", 0), 0);
    for (int i = 0; i < 3; ++i)
        one_more(i, 9, shapes[i], 5, i ? "" : keel_note_text(KEEL_NOTE_LEFT_OUT));
    assert_int_equal(patterns_of(KEEL_PATTERN_SUBSETS, "argument 2", 3), 1);
}

static void assert_counter(const char *const *values, size_t count, const char *told,
                           uint64_t times) {
    begin(NULL);
    for (size_t i = 1; i < count; ++i)
        constant((int)i, "f", "multiply", 4, values[i - 1], values[i]);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, told != NULL);
    if (told) {
        assert_int_equal(why.patterns[0].kind, KEEL_PATTERN_COUNTER);
        assert_string_equal(why.patterns[0].values, told);
        assert_int_equal(why.patterns[0].took.times, times);
    }
    keel_why_deinitialize(&why);
    end(NULL);
}
#define COUNTER(told, times, ...)                                                                  \
    assert_counter((const char *const[]){__VA_ARGS__},                                             \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), told, times)

static void what_counts_is_told_from_where_it_began(void **state) {
    (void)state;
    end(NULL);
    COUNTER("0, 1, 2, 3", 3, "0", "1", "2", "3");
    COUNTER("-2, -1, 0, 1", 3, "-2", "-1", "0", "1");
    COUNTER("5, 6, 7", 3, "9", "5", "6", "7");              // the first came from elsewhere
    COUNTER("1, 2, 3, 4", 5, "1", "2", "2", "3", "3", "4"); // of two processes
    COUNTER(NULL, 0, "0", "1", "2");                        // too few
    COUNTER(NULL, 0, "1", "1", "1", "1", "1");
    COUNTER("[0, 9], [0, 10], [1, 10], [1, 11]", 3, "[0, 9]", "[0, 10]", "[1, 10]", "[1, 11]");
    COUNTER("1, 2, 3, 4, 5, 6", 5, "1", "2", "3", "4", "5", "6");
    COUNTER("1, 2, 3, 4, 5, 6, 7", 6, "1", "2", "3", "4", "5", "6", "7");
    COUNTER("1, 2, 3, 4, 5, 6, ..., 8", 7, "1", "2", "3", "4", "5", "6", "7", "8");
    // What comes later and is not a step does not undo it.
    COUNTER("0, 1, 2, 3", 3, "0", "1", "2", "3", "1");
    COUNTER("[0, 0], [0, 1], [0, 2], [0, 3]", 3, "[0, 0]", "[0, 1]", "[0, 2]", "[0, 3]", "[0, 1]");
    // A number that no double has exactly counts nothing.
    COUNTER(NULL, 0, "1e15", "1000000000000001", "1000000000000002", "1000000000000003");
    COUNTER(NULL, 0, "-1e16", "-1e15", "-2e15", "-3e15", "-1e15");
    begin(NULL);
}

static void assert_grows(const char *old, const char *const values[3], bool grows) {
    begin(NULL);
    for (size_t i = 0; i < 3; ++i) {
        char program[16], rest[512];
        snprintf(program, sizeof program, "p%zu", i);
        snprintf(rest, sizeof rest,
                 AGAIN ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"x\",\"old\":\"%s\","
                       "\"new\":\"%s\",\"file\":\"/w/t.py\",\"line\":1}]",
                 i ? values[i - 1] : old, values[i]);
        explain("compile", program, "f", 1, rest);
    }
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 1);
    assert_int_equal(why.patterns[0].kind, KEEL_PATTERN_UNPADDED);
    assert_int_equal(why.patterns[0].grows, grows);
    keel_why_deinitialize(&why);
    end(NULL);
}
#define GROWS(grows, old, ...) assert_grows(old, (const char *const[3]){__VA_ARGS__}, grows)

static void a_shape_grows_if_no_dimension_shrinks_and_its_rank_stays(void **state) {
    (void)state;
    end(NULL);
    GROWS(true, "f32[8]", "f32[9]", "f32[10]", "f32[11]");
    GROWS(true, "f32[8,4]", "f32[9,4]", "f32[10,4]", "f32[10,5]");
    GROWS(false, "f32[8,4]", "f32[9,3]", "f32[10,3]", "f32[11,3]");
    GROWS(false, "f32[8]", "f32[9]", "f32[10]", "f32[9,2]");
    GROWS(false, "f32[8]", "f32[9,2]", "f32[10,2]", "f32[11,2]");
    GROWS(false, "f32[8,2]", "f32[9]", "f32[10]", "f32[11]");
    GROWS(false, "f32[8]", "f32[7]", "f32[9]", "f32[10]");
    // The type's own number is not a dimension.
    GROWS(true, "bf16[8]", "f32[9]", "bf16[10]", "f32[11]");
    begin(NULL);
}

// An operation that ran by itself, for the shape of `rows` rows, then a step.
static void eager_named(const char *name, int rows, bool then_step) {
    keel_buffer_format(
        &journal,
        "{\"event\":\"compile\",\"pid\":1,\"program\":\"e%d\",\"name\":\"%s\","
        "\"key\":\"ke%d\",\"seconds\":0.5,\"format\":\"mlir\",\"eager\":true,\"ops\":9,"
        "\"site\":{\"file\":\"/w/train.py\",\"line\":7,\"function\":\"f\"}}\n",
        rows, name, rows);
    char program[16], rest[512];
    snprintf(program, sizeof program, "e%d", rows);
    snprintf(rest, sizeof rest,
             ",\"site\":{\"file\":\"/w/train.py\",\"line\":7,\"function\":\"f\"},"
             "\"against\":{\"program\":\"o\",\"name\":\"f\",\"is_ours\":true},\"roots\":[{"
             "\"kind\":\"shape\",\"subject\":\"x\",\"old\":\"f32[%d]\",\"new\":\"f32[%d]\"}]",
             rows - 1, rows);
    explain("compile", program, name, 0.5, rest);
    keel_buffer_format(&journal, "{\"event\":\"executes\",\"pid\":1,\"executes\":{\"e%d\":9%s}}\n",
                       rows, then_step ? ",\"s\":1" : "");
}

static void eager(int rows, bool then_step) {
    eager_named("jit_tanh", rows, then_step);
}

static void a_step(void) {
    keel_buffer_text(&journal,
                     "{\"event\":\"compile\",\"pid\":1,\"program\":\"s\",\"name\":\"jit_step\","
                     "\"key\":\"ks\",\"seconds\":1,\"format\":\"mlir\",\"ops\":5}\n");
}

static void operations_outside_jit_that_never_end_are_one_item(void **state) {
    (void)state;
    a_step();
    for (int i = 0; i < 5; ++i)
        eager(10 + i, true);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 1);
    assert_int_equal(why.patterns[0].kind, KEEL_PATTERN_EAGER);
    assert_int_equal(why.patterns[0].took.times, 5);
    assert_true(why.patterns[0].took.seconds == 2.5);
    assert_int_equal(why.again.times, 5);
    assert_int_equal(why.recompiles, 5);
    assert_string_equal(why.entries[0].pattern, "eager");
    assert_text(&why, &(keel_text_style_t){0},
                "1  steps 1-5  2.5 s  eager  train.py:7  jit_tanh\n"
                "     5 programs; small programs are compiled one by one, outside jit\n"
                "     Jit the function that runs them, so that they are one program; pad what "
                "varies.  keel explain eager\n");
    keel_why_deinitialize(&why);
}

// Each name once, and no more than six.
static void operations_outside_jit_are_named(void **state) {
    (void)state;
    static const struct {
        int names;
        const char *values;
    } rows[] = {{2, "jit_f0, jit_f1"},
                {6, "jit_f0, jit_f1, jit_f2, jit_f3, jit_f4, jit_f5"},
                {7, "jit_f0, jit_f1, jit_f2, jit_f3, jit_f4, jit_f5, ... and 1 more"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        end(NULL);
        begin(NULL);
        a_step();
        for (int i = 0; i < 70; ++i) {
            char name[16];
            snprintf(name, sizeof name, "jit_f%d", i % rows[k].names);
            eager_named(name, 10 + i, true);
        }
        keel_why_t why;
        parse(&why);
        assert_int_equal(why.pattern_count, 1);
        assert_string_equal(why.patterns[0].values, rows[k].values);
        keel_why_deinitialize(&why);
    }
}

static void operations_outside_jit_that_end_are_no_recompiles(void **state) {
    (void)state;
    a_step();
    for (int i = 0; i < 20; ++i)
        eager(10 + i, i == 19);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 0);
    assert_int_equal(why.shown.times, 0);
    assert_int_equal(why.recompiles, 0);
    assert_text(&why, &(keel_text_style_t){0}, "nothing was recompiled (21 compiles)");
    assert_text(&why, &(keel_text_style_t){0},
                "20 small programs ran one by one, outside jit, and cost 10.0 s, most at "
                "train.py:7. Jit the function");
    keel_why_deinitialize(&why);
}

static void where_only_operations_ran_many_of_one_line_never_end(void **state) {
    (void)state;
    for (int i = 0; i < 20; ++i)
        eager(10 + i, false);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.shown.times, 0);
    keel_why_deinitialize(&why);
    for (int i = 20; i < 40; ++i)
        eager(10 + i, false);
    parse(&why);
    assert_int_equal(why.shown.times, 40);
    keel_why_deinitialize(&why);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_constant_that_counts_up_is_a_counter),
        TEST(a_list_without_names_grows_if_each_program_has_one_more),
        TEST(what_the_optimizer_creates_is_in_no_subset),
        TEST(functions_of_one_name_share_no_pattern),
        TEST(a_list_grows_if_one_of_its_indices_goes_up),
        TEST(three_recompiles_with_two_sets_of_arguments_make_subsets),
        TEST(turns_end_where_a_program_comes_twice_or_another_comes),
        TEST(what_counts_is_told_from_where_it_began),
        TEST(a_shape_grows_if_no_dimension_shrinks_and_its_rank_stays),
        TEST(operations_outside_jit_that_never_end_are_one_item),
        TEST(operations_outside_jit_are_named),
        TEST(operations_outside_jit_that_end_are_no_recompiles),
        TEST(where_only_operations_ran_many_of_one_line_never_end),
        TEST(what_a_mask_leaves_is_a_shape_and_a_read),
        TEST(a_pattern_is_told_by_its_own_cause_whatever_else_came_with_the_first),
        TEST(of_two_stories_at_once_one_leads_and_the_other_stands_below),
        TEST(what_came_once_besides_a_pattern_is_told_with_its_note),
        TEST(a_list_of_which_one_number_counts_up_is_a_counter),
        TEST(lists_that_are_none_of_numbers_count_nothing),
        TEST(a_constant_that_jumps_or_belongs_to_several_is_no_counter),
        TEST(a_schedule_that_the_host_computes_is_a_counter),
        TEST(a_schedule_that_comes_back_is_no_counter),
        TEST(of_a_long_counter_the_first_values_and_the_last_are_told),
        TEST(a_dimension_that_varies_freely_is_an_unpadded_batch),
        TEST(a_dimension_that_only_grows_asks_for_a_buffer),
        TEST(one_short_batch_again_and_again_is_no_pattern),
        TEST(two_programs_that_take_turns_are_told),
        TEST(two_that_take_turns_show_the_one_thing_they_differ_in),
        TEST(in_mode_refresh_the_cache_is_not_to_blame),
        TEST(turns_may_begin_with_what_ended_other_turns),
        TEST(one_program_for_each_subset_of_optional_arguments_is_told),
    };
    return cmocka_run_group_tests_name("why_patterns", tests, NULL, NULL);
}
