// Retraces of a loop, most of which the journal only counts: how many there were, when, what they
// took, and how that is shown.
#include "why_help.h"

static void line_of(const char *text) {
    keel_buffer_text(&journal, text);
    keel_buffer_byte(&journal, '\n');
}

static void load(const char *name, int line, double seconds, const char *rest) {
    keel_buffer_format(&journal,
                       "{\"event\":\"load\",\"pid\":1,\"program\":\"%s\",\"name\":\"f\","
                       "\"key\":\"k%s\",\"tier\":\"memory\",\"seconds\":%g,"
                       "\"overhead_seconds\":%g,\"compile_seconds\":1,\"format\":\"mlir\","
                       "\"site\":{\"file\":\"/w/t.py\",\"line\":%d}%s}\n",
                       name, name, seconds, seconds / 2, line, rest);
}

// One that is explained, and the execution that waited for it.
static void retrace(const char *name, int line, double seconds) {
    char rest[256];
    load(name, line, seconds, "");
    snprintf(rest, sizeof rest,
             ",\"site\":{\"file\":\"/w/t.py\",\"line\":%d},"
             "\"roots\":[{\"kind\":\"retrace\",\"file\":\"/w/t.py\",\"line\":%d}]",
             line, line);
    explain("retrace", name, "f", seconds, rest);
    keel_buffer_format(&journal, "{\"event\":\"executes\",\"pid\":1,\"executes\":{\"%s\":1}}\n",
                       name);
}

// Several in one line, and what ran since the last one; `leading` may be another program.
static void counted(const char *name, int line, double seconds, int times, int step,
                    const char *leading) {
    char rest[256];
    keel_buffer_format(&journal, "{\"event\":\"executes\",\"pid\":1,\"executes\":{\"%s\":%d}}\n",
                       name, times);
    snprintf(rest, sizeof rest,
             ",\"times\":%d,\"step\":%d,\"leading\":{\"program\":\"%s\",\"executes\":%d}", times,
             step, leading, step - 1);
    load(name, line, seconds, rest);
}

static const keel_run_entry_t *last_of(const keel_why_t *why, size_t count) {
    assert_int_equal(why->run.entry_count, count);
    return &why->run.entries[count - 1];
}

// One that is compiled again, and the execution that waited for it; `more`: it is not explained.
static void compiled(const char *name, int line, double seconds, bool more) {
    char rest[300];
    keel_buffer_format(&journal,
                       "{\"event\":\"compile\",\"pid\":1,\"program\":\"%s\",\"name\":\"f\","
                       "\"key\":\"k%s\",\"seconds\":%g,\"overhead_seconds\":%g,\"format\":\"mlir\","
                       "\"site\":{\"file\":\"/w/t.py\",\"line\":%d},\"recompile\":false,"
                       "\"cacheable\":false%s}\n",
                       name, name, seconds, seconds / 2, line, more ? ",\"times\":1" : "");
    snprintf(rest, sizeof rest,
             ",\"miss\":\"uncacheable\",\"miss_note\":\"it calls functions of this process\","
             "\"site\":{\"file\":\"/w/t.py\",\"line\":%d},"
             "\"roots\":[{\"kind\":\"retrace\",\"file\":\"/w/t.py\",\"line\":%d}]",
             line, line);
    if (!more) explain("retrace", name, "f", seconds, rest);
    keel_buffer_format(&journal, "{\"event\":\"executes\",\"pid\":1,\"executes\":{\"%s\":1}}\n",
                       name);
}

// Step 1 compiles it, 2 and 3 ask again, and so do all from 4 to 300.
static void ask_in_a_loop(void) {
    compile("p", "f", 2, 1);
    retrace("p", 5, 0.5);
    retrace("p", 5, 0.25);
    counted("p", 5, 16, 197, 200, "p");
    counted("p", 5, 8, 100, 300, "p");
    line_of("{\"event\":\"end\",\"pid\":1}");
}

// ---- the model ---------------------------------------------------------------------------------

static void what_was_counted_belongs_to_the_last_one_that_is_explained(void **state) {
    (void)state;
    keel_why_t why;
    ask_in_a_loop();
    parse(&why);
    const keel_run_entry_t *first = &why.run.entries[0], *last = last_of(&why, 2);
    assert_int_equal(first->took.times, 1);
    assert_true(first->took.seconds == 0.75); // with Keel's own
    assert_true(first->step == 2 && first->last_step == 2);
    assert_int_equal(last->took.times, 298);
    assert_true(last->took.seconds == 0.375 + 24 + 12);
    assert_true(last->step == 3 && last->last_step == 300 && !last->at_end);
    assert_int_equal(why.retraces.times, 299);
    assert_true(why.retraces.seconds == 0.75 + 0.375 + 24 + 12);
    assert_true(why.by_line_count == 1 && why.by_line[0].took.times == 299);
    assert_true(why.run.steps == 300 && why.run.settled_at_step == 1);
    keel_why_deinitialize(&why);
}

// A run that goes on for weeks.
static void those_that_are_not_kept_one_by_one_are_counted_too(void **state) {
    (void)state;
    keel_why_t why;
    uint64_t most = keel_limit(KEEL_LIMIT_REQUESTS);
    ask_in_a_loop();
    compiled("q", 7, 8, false);
    compiled("q", 7, 16, true);
    compiled("q", 7, 32, true);
    keel_limit_set(KEEL_LIMIT_REQUESTS, 3);
    parse(&why);
    keel_limit_set(KEEL_LIMIT_REQUESTS, most);
    const keel_run_entry_t *last = last_of(&why, 3) - 1, *again = &why.run.entries[2];
    assert_int_equal(why.run.request_count, 3);
    assert_int_equal(why.run.summed, 5);
    assert_int_equal(last->took.times, 298);
    assert_true(last->took.seconds == 0.375 + 24 + 12);
    assert_int_equal(last->last_step, 300);
    assert_int_equal(again->took.times, 3);
    assert_true(again->took.seconds == 8 + (16 + 8) + (32 + 16));
    assert_int_equal(why.retraces.times, 302);
    keel_why_deinitialize(&why);
}

static void figures_count_each_of_them(void **state) {
    (void)state;
    keel_why_t why;
    ask_in_a_loop();
    assert_null(keel_why_parse(keel_buffer_bytes(&journal), "r1", "",
                               KEEL_RUN_MEMORY | KEEL_RUN_METRICS, &why));
    assert_int_equal(why.run.loads.times, 299);
    assert_true(why.run.loads.seconds == 24.75);
    assert_int_equal(why.run.memory_hits, 299);
    assert_int_equal(why.run.programs[0].loads.times, 299);
    assert_true(why.run.overhead_seconds == 12.375);
    const keel_metrics_t *metrics = &why.run.metrics;
    assert_int_equal(metrics->totals[KEEL_METRIC_LOADS].value, 299);
    assert_int_equal(metrics->totals[KEEL_METRIC_MEMORY_LOADS].value, 299);
    assert_int_equal(metrics->totals[KEEL_METRIC_LOAD_SECONDS].count, 299);
    assert_int_equal(metrics->totals[KEEL_METRIC_LOAD_SECONDS].value, 24750000000);
    assert_int_equal(metrics->totals[KEEL_METRIC_OVERHEAD_SECONDS].count, 300); // and the compile
    keel_why_deinitialize(&why);
}

static void a_program_that_is_compiled_again_is_a_retrace_too(void **state) {
    (void)state;
    keel_why_t why;
    compile("p", "f", 2, 1);
    compiled("p", 5, 0.5, false);
    compiled("p", 5, 0.25, false);
    for (int i = 0; i < 10; ++i)
        compiled("p", 5, 2, true);
    parse(&why);
    const keel_run_entry_t *first = &why.run.entries[0], *last = last_of(&why, 2);
    assert_true(first->took.times == 1 && first->took.seconds == 0.75 && first->step == 2);
    assert_true(last->took.times == 11 && last->took.seconds == 0.375 + 30);
    assert_true(last->step == 3 && last->last_step == 13);
    assert_true(first->is_compile && last->is_compile);
    assert_true(why.retraces.times == 12 && why.retraces.seconds == 31.125);
    assert_int_equal(why.retraced_count, 1);
    assert_string_equal(why.retraced[0].place.shown, "t.py:5");
    assert_true(why.run.compiles.times == 13 && why.run.compiles.seconds == 22.75);
    assert_int_equal(why.run.recompiles, 1); // the one that came first
    assert_text(&why, &(keel_text_style_t){0},
                "1  steps 2-13  31.1 s  retrace  t.py:5\n"
                "     f; 12 times, compiled each time (it calls functions of this process)\n");
    keel_why_deinitialize(&why);
}

static void what_is_loaded_and_what_is_compiled_are_two_items(void **state) {
    (void)state;
    keel_why_t why;
    compile("p", "f", 2, 1);
    retrace("p", 5, 0.5); // as long as the compile after it
    compiled("p", 5, 0.5, false);
    compiled("p", 5, 64, true);
    counted("p", 5, 8, 10, 14, "p");
    parse(&why);
    const keel_run_entry_t *loaded = &why.run.entries[0], *last = last_of(&why, 2);
    assert_true(!loaded->is_compile && loaded->took.times == 11 && loaded->took.seconds == 12.75);
    assert_true(last->is_compile && last->took.times == 2 && last->took.seconds == 96.75);
    assert_text(&why, &(keel_text_style_t){0}, "     f; 11 times\n");
    assert_text(&why, &(keel_text_style_t){0}, "     f; 2 times, compiled each time (it calls");
    keel_why_deinitialize(&why);
}

static void each_line_has_its_own(void **state) {
    (void)state;
    keel_why_t why;
    compile("p", "f", 2, 1);
    retrace("p", 5, 0.5);
    retrace("p", 6, 0.5);
    counted("p", 5, 8, 10, 14, "p");
    counted("p", 6, 16, 20, 33, "p");
    counted("p", 7, 32, 40, 73, "p"); // not explained: where it belongs is not known, only that
                                      // it is of the same function
    counted("q", 8, 64, 80, 73, "p"); // of a function that no retrace is explained of
    parse(&why);
    const keel_run_entry_t *last = last_of(&why, 2), *first = &why.run.entries[0];
    assert_int_equal(first->took.times, 11);
    assert_int_equal(first->last_step, 14);
    assert_int_equal(last->took.times, 61);
    assert_int_equal(last->last_step, 73);
    assert_int_equal(why.run.loads.times, 152);
    keel_why_deinitialize(&why);
}

static void a_step_is_the_processs_only_if_it_counts_the_same_steps(void **state) {
    (void)state;
    keel_why_t why;
    compile("p", "f", 2, 1);
    retrace("p", 5, 0.5);
    compile("g", "g", 2, 1);
    counted("p", 5, 8, 40, 999, "g"); // by then it took g for the steps
    parse(&why);
    assert_int_equal(last_of(&why, 1)->last_step, 43);
    keel_why_deinitialize(&why);

    line_of("{\"event\":\"step\",\"pid\":1,\"count\":50}"); // now steps are marked
    counted("p", 5, 8, 40, 31, "g");
    parse(&why);
    assert_int_equal(last_of(&why, 1)->last_step, 999);
    assert_int_equal(why.run.steps, 50);
    keel_why_deinitialize(&why);
}

static void what_came_after_the_last_step_delayed_none(void **state) {
    (void)state;
    keel_why_t why;
    compile("p", "f", 2, 1);
    retrace("p", 5, 0.5);
    keel_buffer_text(&journal, "{\"event\":\"executes\",\"pid\":1,\"executes\":{\"p\":8}}\n");
    load("p", 5, 8, ",\"times\":4,\"step\":11,\"leading\":{\"program\":\"p\",\"executes\":10}");
    line_of("{\"event\":\"end\",\"pid\":1}");
    parse(&why);
    assert_true(last_of(&why, 1)->at_end);
    assert_text(&why, &(keel_text_style_t){0}, "1  steps 2-10  12.8 s  retrace  t.py:5\n");
    keel_why_deinitialize(&why);
}

// An operation by itself that comes back from the disk again and again.
static void an_operation_by_itself_is_endless_even_if_it_is_counted(void **state) {
    (void)state;
    keel_why_t why;
    line_of("{\"event\":\"load\",\"pid\":1,\"program\":\"a\",\"name\":\"jit_add\",\"key\":\"ka\","
            "\"tier\":\"disk\",\"seconds\":1,\"eager\":true,\"times\":40,\"step\":1}");
    line_of("{\"event\":\"load\",\"pid\":1,\"program\":\"b\",\"name\":\"jit_mul\",\"key\":\"kb\","
            "\"tier\":\"disk\",\"seconds\":1,\"eager\":true,\"times\":20,\"step\":1}");
    parse(&why);
    assert_int_equal(why.run.request_count, 2);
    assert_true(keel_run_is_endless(&why.run, why.run.requests[0].operation));
    assert_false(keel_run_is_endless(&why.run, why.run.requests[1].operation));
    keel_why_deinitialize(&why);
}

static void in_a_rehearsal_their_time_is_not_known(void **state) {
    (void)state;
    keel_why_t why;
    line_of("{\"event\":\"start\",\"pid\":1,\"target\":{\"name\":\"h200:1\",\"devices\":1}}");
    compile("p", "f", 2, 1);
    retrace("p", 5, 0.5);
    keel_buffer_text(&journal, "{\"event\":\"load\",\"pid\":1,\"program\":\"p\",\"name\":\"f\","
                               "\"key\":\"kp\",\"tier\":\"memory\",\"seconds\":3,"
                               "\"overhead_seconds\":1,\"times\":4,\"step\":6,"
                               "\"site\":{\"file\":\"/w/t.py\",\"line\":5}}\n");
    parse(&why);
    const keel_run_entry_t *entry = last_of(&why, 1);
    assert_int_equal(entry->took.times, 5);
    assert_int_equal(entry->took.unknown, 4); // what compiling it had cost is known of the first
    assert_true(entry->took.seconds == 1);
    assert_int_equal(why.run.loads.times, 5);
    assert_int_equal(why.run.loads.unknown, 5);
    keel_why_deinitialize(&why);
}

// ---- what is shown -----------------------------------------------------------------------------

static void assert_summary(const keel_why_t *why, const char *expected) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_text_summary(why, &out);
    const char *said = strstr(keel_buffer_cstr(&out), "retrace");
    if (expected && !strstr(keel_buffer_cstr(&out), expected))
        fail_msg("%s\nis not in\n%s", expected, keel_buffer_cstr(&out));
    if (!expected && said) fail_msg("%s", keel_buffer_cstr(&out));
    keel_buffer_deinitialize(&out);
}

static void a_loop_is_one_item_with_all_that_it_cost(void **state) {
    (void)state;
    keel_why_t why;
    ask_in_a_loop();
    parse(&why);
    assert_text(&why, &(keel_text_style_t){0}, "\n299 retraces cost 37.1 s. ");
    assert_text(&why, &(keel_text_style_t){0},
                "\n\n1  steps 2-300  37.1 s  retrace  t.py:5\n"
                "     f; 299 times\n");
    assert_summary(&why, "\nkeel: 299 retraces cost 37.1 s: t.py:5; run `keel why`\n");
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_text_stats(&why, 0, &out);
    assert_non_null(strstr(keel_buffer_cstr(&out), "\n  retraces    299     37.1 s\n"));
    out.size = 0;
    keel_text_stats_json(&why, false, &out);
    assert_non_null(strstr(keel_buffer_cstr(&out), "\"retrace_count\": 299, "
                                                   "\"retrace_seconds\": 37.125000, "));
    out.size = 0;
    keel_text_why_json(&why, false, &out);
    assert_non_null(strstr(keel_buffer_cstr(&out), "\"step\": 3, \"last_step\": 300, "
                                                   "\"times\": 298, "));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&why);
}

static void lines_are_named_in_the_order_of_their_cost(void **state) {
    (void)state;
    keel_why_t why;
    compile("p", "f", 2, 1);
    for (int line = 1; line <= 4; ++line)
        retrace("p", line, line == 3 ? 8 : line);
    counted("p", 2, 32, 100, 105, "p");
    parse(&why);
    assert_summary(&why, "keel: 104 retraces cost 70.5 s: t.py:2 (101 times), t.py:3 (1 time), "
                         "t.py:4 (1 time), ...; run `keel why`\n");
    keel_why_deinitialize(&why);
}

static void few_retraces_that_cost_little_are_not_in_the_summary(void **state) {
    (void)state;
    keel_why_t why;
    compile("p", "f", 2, 1);
    for (int i = 1; i < 16; ++i)
        retrace("p", 5, 0.004);
    parse(&why);
    assert_int_equal(why.retraces.times, 15);
    assert_summary(&why, NULL);
    keel_why_deinitialize(&why);

    retrace("p", 5, 0.004); // many
    parse(&why);
    assert_summary(&why, "keel: 16 retraces cost 96 ms: t.py:5; run `keel why`\n");
    keel_why_deinitialize(&why);
}

static void one_retrace_that_costs_much_is_in_the_summary(void **state) {
    (void)state;
    keel_why_t why;
    compile("p", "f", 2, 1);
    retrace("p", 5, 0.1);
    parse(&why);
    assert_summary(&why, "keel: 1 retrace cost 150 ms: t.py:5; run `keel why`\n");
    keel_why_deinitialize(&why);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_was_counted_belongs_to_the_last_one_that_is_explained),
        TEST(those_that_are_not_kept_one_by_one_are_counted_too),
        TEST(figures_count_each_of_them),
        TEST(a_program_that_is_compiled_again_is_a_retrace_too),
        TEST(what_is_loaded_and_what_is_compiled_are_two_items),
        TEST(each_line_has_its_own),
        TEST(a_step_is_the_processs_only_if_it_counts_the_same_steps),
        TEST(what_came_after_the_last_step_delayed_none),
        TEST(an_operation_by_itself_is_endless_even_if_it_is_counted),
        TEST(in_a_rehearsal_their_time_is_not_known),
        TEST(a_loop_is_one_item_with_all_that_it_cost),
        TEST(lines_are_named_in_the_order_of_their_cost),
        TEST(few_retraces_that_cost_little_are_not_in_the_summary),
        TEST(one_retrace_that_costs_much_is_in_the_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
