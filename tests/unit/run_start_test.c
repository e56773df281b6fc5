// Where the time of a run's start went.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <jansson.h>

#include "place.h"
#include "run/start.h"
#include "text/start.h"

#define START(rest)                                                                                \
    "{\"event\":\"start\",\"t\":1003,\"pid\":7,\"cwd\":\"/w\",\"argv\":[\"python\"]" rest "}\n"
#define ASK(kind, at, pid, key, rest)                                                              \
    "{\"event\":\"" kind "\",\"t\":" at ",\"pid\":" pid ",\"program\":\"" key                      \
    "\",\"name\":\"jit_" key "\",\"key\":\"" key "\",\"seconds\":2,\"overhead_seconds\":0.25,"     \
    "\"format\":\"mlir\",\"ops\":10" rest "}\n"
#define RAN(key) "{\"event\":\"executes\",\"pid\":7,\"t\":1020,\"executes\":{\"" key "\":5}}\n"

static void read_start(const char *journal, keel_run_t *run, keel_start_t *start) {
    assert_ok(keel_run_parse(keel_str_bytes(keel_str(journal)), "r", "j", 0, run));
    assert_ok(keel_run_start(run, start));
}

static void end(keel_run_t *run, keel_start_t *start) {
    keel_start_deinitialize(start);
    keel_run_deinitialize(run);
}

static void a_start_is_the_sum_of_its_parts(void **state) {
    (void)state;
    keel_run_t run;
    keel_start_t start;
    read_start(START(",\"began\":1000,\"client_seconds\":1") ASK(
                   "compile", "1008", "7", "init", ",\"traced_seconds\":0.5,\"lowered_seconds\":1")
                   ASK("load", "1012", "7", "step", ",\"traced_seconds\":0.5") RAN("step"),
               &run, &start);
    assert_float_equal(start.whole, 12, 1e-9);
    assert_float_equal(start.before, 3, 1e-9);
    assert_float_equal(start.client, 1, 1e-9);
    assert_float_equal(start.parts.traced, 1, 1e-9);
    assert_float_equal(start.parts.lowered, 1, 1e-9);
    assert_float_equal(start.parts.compiled, 2, 1e-9);
    assert_float_equal(start.parts.loaded, 2, 1e-9);
    assert_float_equal(start.parts.keels, 0.5, 1e-9);
    assert_float_equal(start.rest, 2.5, 1e-9);
    assert_int_equal(start.program_count, 2);
    assert_string_equal(run.programs[start.programs[0].index].name, "jit_init");
    assert_float_equal(start.programs[0].seconds, 3.75, 1e-9);
    end(&run, &start);
}

static void what_later_steps_and_other_processes_ask_for_is_not_of_the_start(void **state) {
    (void)state;
    keel_run_t run;
    keel_start_t start;
    read_start(
        START(",\"began\":1000") ASK(
            "compile", "1008", "7", "step",
            "") "{\"event\":\"start\",\"t\":1009,\"pid\":8,\"began\":1001}\n" ASK("compile", "1010",
                                                                                  "8", "step", "")
            RAN("step") ASK("compile", "1030", "7", "late", ""),
        &run, &start);
    assert_float_equal(start.whole, 8, 1e-9);
    assert_int_equal(start.program_count, 1);
    assert_int_equal(start.processes, 2);
    assert_float_equal(start.parts.compiled, 2, 1e-9);
    end(&run, &start);
}

static void a_journal_that_does_not_know_what_came_before_says_so(void **state) {
    (void)state;
    keel_run_t run;
    keel_start_t start;
    read_start(START("") ASK("compile", "1008", "7", "step", "") RAN("step"), &run, &start);
    assert_float_equal(start.whole, 5, 1e-9);
    assert_float_equal(start.before, 0, 1e-9);
    assert_false(start.is_told);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    const keel_text_start_t shown = {.run = &run, .start = &start};
    keel_text_start(&shown, false, &text);
    assert_non_null(strstr(keel_buffer_cstr(&text), "the script, tracing, executions"));
    keel_buffer_deinitialize(&text);
    keel_buffer_initialize(&text, 0);
    keel_text_start_json(&shown, &text);
    json_t *json = json_loadb((const char *)text.data, text.size, 0, NULL);
    assert_true(json_is_null(json_object_get(json, "traced_seconds")));
    assert_float_equal(json_number_value(json_object_get(json, "rest_seconds")), 2.75, 1e-6);
    json_decref(json);
    keel_buffer_deinitialize(&text);
    end(&run, &start);
}

static void a_run_without_programs_has_no_start(void **state) {
    (void)state;
    keel_run_t run;
    keel_start_t start;
    assert_ok(
        keel_run_parse(keel_str_bytes(keel_str(START(",\"began\":1000"))), "r", "j", 0, &run));
    assert_code(keel_run_start(&run, &start), KEEL_NOT_FOUND);
    keel_run_deinitialize(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_is_the_sum_of_its_parts),
        cmocka_unit_test(what_later_steps_and_other_processes_ask_for_is_not_of_the_start),
        cmocka_unit_test(a_journal_that_does_not_know_what_came_before_says_so),
        cmocka_unit_test(a_run_without_programs_has_no_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
