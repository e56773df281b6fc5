// A sync in what a step calls.
#include "why_help.h"

// A program of `ops` operations that a line of `function` asks for; `called`: the line of step()
// that called the function, 0 if it is step() itself. Then it runs that often.
static void ask(const char *program, int line, const char *function, int called, int ops,
                int times) {
    char site[200], stack[500], rest[1024];
    snprintf(site, sizeof site, "{\"file\":\"/w/t.py\",\"line\":%d,\"function\":\"%s\"}", line,
             function);
    snprintf(stack, sizeof stack, "[%s", site);
    if (called) {
        char frame[120];
        snprintf(frame, sizeof frame, ",{\"file\":\"/w/t.py\",\"line\":%d,\"function\":\"step\"}",
                 called);
        append(stack, sizeof stack, frame);
    }
    append(stack, sizeof stack, ",{\"file\":\"/w/t.py\",\"line\":90,\"function\":\"main\"}]");
    keel_buffer_format(&journal,
                       "{\"event\":\"compile\",\"pid\":1,\"program\":\"%s\",\"name\":\"S\","
                       "\"key\":\"k%s\",\"seconds\":2,\"ops\":%d,\"format\":\"hlo\","
                       "\"recompile\":true,\"site\":%s}\n"
                       "{\"event\":\"executes\",\"pid\":1,\"executes\":{\"%s\":%d}}\n",
                       program, program, ops, site, program, times);
    snprintf(rest, sizeof rest,
             AGAIN ",\"site\":%s,\"stack\":%s,\"roots\":[{\"kind\":\"size\",\"subject\":\"s\","
                   "\"old\":\"1\",\"new\":\"2\"}]",
             site, stack);
    explain("compile", program, "S", 2, rest);
}

static size_t count_barriers(void) {
    keel_why_t why;
    parse(&why);
    size_t count = why.barrier_count;
    keel_why_deinitialize(&why);
    return count;
}

static void a_sync_in_a_function_that_each_step_calls_is_a_barrier(void **state) {
    (void)state;
    ask("a", 9, "forward", 50, 300, 10);
    ask("b", 9, "forward", 50, 300, 10);
    ask("c", 60, "step", 0, 700, 10);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.barrier_count, 1);
    assert_string_equal(why.barriers[0].place->shown, "t.py:9");
    assert_int_equal(why.barriers[0].times, 20);
    assert_int_equal(why.barriers[0].pieces, 3);
    assert_text(&why, &(keel_text_style_t){.width = 0},
                "At t.py:9, a sync in mid-step splits the step into 3 programs; 2 recompiles there "
                "cost 4.0 s. Whatever changes recompiles what is before and after it: one sync a "
                "step, after optimizer.step()");
    keel_buffer_t json;
    keel_buffer_initialize(&json, 0);
    keel_text_why_json(&why, false, &json);
    json_t *list = json_loads(keel_buffer_cstr(&json), 0, NULL);
    assert_non_null(list);
    const json_t *last = json_array_get(list, json_array_size(list) - 1);
    assert_string_equal(json_string_value(json_object_get(last, "kind")), "barrier");
    assert_int_equal(json_integer_value(json_object_get(last, "line")), 9);
    // Each cause has its advice.
    const json_t *cause = json_array_get(json_object_get(json_array_get(list, 0), "causes"), 0);
    const char *advice =
        json_string_value(json_object_get(json_object_get(cause, "advice"), "torch"));
    assert_string_equal(advice, keel_cause_facts(KEEL_CAUSE_SIZE)->advice[KEEL_FRAMEWORK_TORCH]);
    json_decref(list);
    keel_buffer_deinitialize(&json);
    keel_why_deinitialize(&why);
}

static void two_syncs_of_one_function_are_no_barriers(void **state) {
    (void)state;
    ask("a", 50, "step", 0, 300, 10);
    ask("b", 60, "step", 0, 300, 10);
    assert_int_equal(count_barriers(), 0);
}

static void what_runs_after_the_sync_or_seldom_is_no_barrier(void **state) {
    (void)state;
    ask("a", 9, "evaluate", 70, 300, 10);
    ask("b", 9, "sample", 40, 300, 2);
    ask("c", 60, "step", 0, 700, 10);
    assert_int_equal(count_barriers(), 0);
}

static void steps_before_a_small_program_at_the_end_of_an_epoch_are_no_barriers(void **state) {
    (void)state;
    ask("a", 9, "train", 50, 700, 100);
    ask("b", 60, "step", 0, 20, 10);
    assert_int_equal(count_barriers(), 0);
}

static void a_line_that_reads_is_no_barrier(void **state) {
    (void)state;
    ask("a", 9, "forward", 50, 300, 10);
    ask("c", 60, "step", 0, 700, 10);
    assert_int_equal(count_barriers(), 1);
    keel_buffer_text(&journal,
                     "{\"event\":\"transfers\",\"pid\":1,\"reads\":[{\"site\":{\"file\":"
                     "\"/w/t.py\",\"line\":9},\"count\":10,\"bytes\":40,\"seconds\":1}]}\n");
    assert_int_equal(count_barriers(), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_sync_in_a_function_that_each_step_calls_is_a_barrier),
        TEST(two_syncs_of_one_function_are_no_barriers),
        TEST(what_runs_after_the_sync_or_seldom_is_no_barrier),
        TEST(steps_before_a_small_program_at_the_end_of_an_epoch_are_no_barriers),
        TEST(a_line_that_reads_is_no_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
