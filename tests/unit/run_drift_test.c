// Processes of a rehearsal that do not execute the programs that they share equally often.
#define _GNU_SOURCE
#include "page_help.h"
#include "why_help.h"

static void started(int pid, unsigned process, unsigned processes) {
    keel_buffer_format(&journal,
                       "{\"event\":\"start\",\"t\":1000,\"pid\":%d,\"cwd\":\"/w\",\"argv\":[\"p\"],"
                       "\"target\":{\"name\":\"v5e:4x4\",\"process\":%u,\"processes\":%u}}\n",
                       pid, process, processes);
}

static int begin_processes(void **state) {
    (void)state;
    keel_buffer_initialize(&journal, 0);
    started(11, 0, 4);
    started(12, 1, 4);
    started(13, 2, 4); // a fourth never starts
    return 0;
}

static void compiled(int pid, const char *program, unsigned line) {
    keel_buffer_format(&journal,
                       "{\"event\":\"compile\",\"t\":1001,\"pid\":%d,\"program\":\"%s\",\"key\":"
                       "\"k%s\",\"name\":\"jit_%s\",\"seconds\":1,\"format\":\"mlir\",\"site\":{"
                       "\"file\":\"/w/t.py\",\"line\":%u}}\n",
                       pid, program, program, program, line);
}

static void spans(const char *program, bool spanning) {
    keel_buffer_format(&journal,
                       "{\"event\":\"living\",\"pid\":11,\"program\":\"%s\",\"bytes\":1%s}\n",
                       program, spanning ? ",\"spans\":true" : "");
}

static void executed(int pid, const char *program, int times) {
    keel_buffer_format(&journal, "{\"event\":\"executes\",\"pid\":%d,\"executes\":{\"%s\":%d}}\n",
                       pid, program, times);
}

// The journal with an end of each process: until then they may still execute.
static void parse_ended(keel_why_t *out) {
    size_t size = journal.size;
    for (int pid = 11; pid <= 13; ++pid)
        keel_buffer_format(
            &journal, "{\"event\":\"end\",\"t\":1009,\"pid\":%d,\"total\":0,\"wall\":9}\n", pid);
    parse(out);
    journal.size = size;
}

// A line for each: "jit_a t.py:3 a: process 1 2, process 0 5".
static void assert_drifts(const char *expected) {
    keel_why_t why;
    keel_buffer_t out;
    parse_ended(&why);
    keel_buffer_initialize(&out, 0);
    for (size_t i = 0; i < why.run.rehearsal.drift_count; ++i) {
        const keel_drift_t *drift = &why.run.rehearsal.drifts[i];
        keel_buffer_format(&out, "%s %s %s: process %u %u, process %u %u\n", drift->name,
                           drift->shown, drift->program, (unsigned)drift->least_process,
                           (unsigned)drift->least, (unsigned)drift->most_process,
                           (unsigned)drift->most);
    }
    assert_string_equal(keel_buffer_cstr(&out), expected);
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&why);
}

static void a_shared_program_is_executed_equally_often(void **state) {
    (void)state;
    compiled(11, "a", 3);
    spans("a", true);
    for (int pid = 11; pid <= 13; ++pid)
        executed(pid, "a", 2);
    assert_drifts("");
    executed(11, "a", 3);
    executed(13, "a", 1);
    assert_drifts("jit_a t.py:3 a: process 1 2, process 0 5\n");
    executed(12, "a", 9);
    executed(14, "a", 50); // no process of the target
    keel_buffer_text(&journal, "{\"event\":\"end\",\"t\":1009,\"pid\":14}\n");
    assert_drifts("jit_a t.py:3 a: process 2 3, process 1 11\n");
}

static void programs_of_one_process_may_differ(void **state) {
    (void)state;
    compiled(11, "a", 3);
    spans("a", false);
    executed(11, "a", 5);
    assert_drifts("");
    compiled(12, "b", 4);
    spans("b", true);
    executed(12, "b", -1);
    assert_drifts("");
    executed(12, "b", 1);
    spans("c", true);
    executed(13, "c", 2);
    assert_drifts("jit_b t.py:4 b: process 0 0, process 1 1\n"
                  "  c: process 0 0, process 2 2\n");
}

static void a_program_keeps_the_first_place_it_was_asked_for_at(void **state) {
    (void)state;
    executed(11, "a", 1); // before anything is known about it
    compiled(11, "a", 3);
    compiled(12, "a", 4);
    spans("a", true);
    assert_drifts("jit_a t.py:3 a: process 1 0, process 0 1\n");
}

static void a_process_that_has_not_ended_may_still_execute(void **state) {
    (void)state;
    keel_why_t why;
    compiled(11, "a", 3);
    spans("a", true);
    executed(11, "a", 1);
    parse(&why);
    assert_int_equal(why.run.rehearsal.drift_count, 0);
    keel_why_deinitialize(&why);
}

static void one_process_cannot_drift(void **state) {
    (void)state;
    for (unsigned processes = 0; processes < 2; ++processes) {
        journal.size = 0;
        started(11, 0, processes);
        compiled(11, "a", 3);
        spans("a", true);
        executed(11, "a", 1);
        assert_drifts("");
    }
    // Nor do more than any target has, and a process that the target has not.
    journal.size = 0;
    started(11, 0, 4097);
    spans("a", true);
    executed(11, "a", 1);
    assert_drifts("");
    journal.size = 0;
    started(11, 2, 2);
    spans("a", true);
    executed(11, "a", 1);
    assert_drifts("");
}

// ---- what is said ------------------------------------------------------------------------------

static void assert_said(void (*say)(const keel_why_t *why, keel_buffer_t *out),
                        const char *expected) {
    keel_why_t why;
    keel_buffer_t out;
    parse_ended(&why);
    keel_buffer_initialize(&out, 0);
    say(&why, &out);
    assert_null(keel_buffer_status(&out));
    if (!strstr(keel_buffer_cstr(&out), expected))
        fail_msg("%s\nis not in\n%s", expected, keel_buffer_cstr(&out));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&why);
}

static void say_why(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_why(why, &(keel_text_style_t){.width = 0}, out);
}

static void say_all(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_why(why, &(keel_text_style_t){.width = 0, .all = true}, out);
}

static void say_figures(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_stats_json(why, true, out);
}

static void say_page(const keel_why_t *why, keel_buffer_t *out) {
    assert_ok(keel_page_write(&(keel_page_input_t){why, ""}, out));
    assert_well_formed(keel_buffer_cstr(out));
}

static void a_drift_names_both_processes(void **state) {
    (void)state;
    compiled(11, "a", 3);
    spans("a", true);
    executed(11, "a", 2);
    executed(12, "a", 1);
    executed(13, "a", 1);
    static const char some[] = "process 1 executes jit_a (t.py:3) 1 time, process 0 2 times: on "
                               "v5e:4x4 itself one would wait for the other";
    assert_said(keel_text_summary, some);
    assert_said(say_why, some);
    assert_said(say_page, some);
    assert_said(say_figures, "\"drifts\": [{\"program\": \"a\", \"name\": \"jit_a\", \"shown\": "
                             "\"t.py:3\", \"most\": 2, \"most_process\": 0, \"least\": 1, "
                             "\"least_process\": 1}]");
}

static void a_program_that_a_process_never_executes_is_called_so(void **state) {
    (void)state;
    compiled(11, "a", 3);
    spans("a", true);
    executed(11, "a", 1);
    assert_said(keel_text_summary, "process 1 never executes jit_a (t.py:3), which process 0 "
                                   "executes 1 time: on v5e:4x4 itself");
}

static void many_drifts_are_counted(void **state) {
    (void)state;
    for (unsigned i = 0; i < 12; ++i) {
        char program[8];
        snprintf(program, sizeof program, "p%02u", i);
        compiled(11, program, i + 1);
        spans(program, true);
        executed(11, program, 1);
    }
    assert_said(keel_text_summary, "would wait for the other; and 11 more; run `keel why`\n");
    assert_said(say_why, "\n... and 2 more; keel why --all\n");
    assert_said(say_all, "jit_p11 (t.py:12)");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_processes, end)
    const struct CMUnitTest tests[] = {
        TEST(a_shared_program_is_executed_equally_often),
        TEST(programs_of_one_process_may_differ),
        TEST(a_program_keeps_the_first_place_it_was_asked_for_at),
        TEST(a_process_that_has_not_ended_may_still_execute),
        TEST(one_process_cannot_drift),
        TEST(a_drift_names_both_processes),
        TEST(a_program_that_a_process_never_executes_is_called_so),
        TEST(many_drifts_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
