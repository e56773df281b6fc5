// Which function's executions are the steps of a run.
#include "why_help.h"

static void stats_of(const char *text, keel_why_t *out) {
    assert_null(keel_why_parse(keel_str_bytes(keel_str(text)), "r1", "/r/journal.ndjson", 0, out));
}

static void what_ran_once_leads_only_by_far(void **state) {
    (void)state;
#define RAN(name, ops)                                                                             \
    "{\"event\":\"compile\",\"pid\":1,\"program\":\"" name "\",\"name\":\"" name                   \
    "\",\"ops\":" #ops "}\n"
#define RUN(once, steps)                                                                           \
    RAN("init", once)                                                                              \
    RAN("step", 31)                                                                                \
    "{\"event\":\"end\",\"pid\":1,"                                                                \
    "\"executes\":{\"init\":1,\"step\":" #steps "}}\n"
    static const struct {
        const char *journal;
        uint64_t steps;
    } runs[] = {{RUN(182, 4), 4}, {RUN(292, 4), 4}, {RUN(5000, 4), 1}, {RUN(292, 1), 1}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        keel_why_t stats;
        stats_of(runs[i].journal, &stats);
        assert_int_equal(stats.run.steps, runs[i].steps);
        keel_why_deinitialize(&stats);
    }
}

static void a_function_that_computes_gradients_leads(void **state) {
    (void)state;
#define GRADIENT(name, ops)                                                                        \
    "{\"event\":\"load\",\"pid\":1,\"program\":\"" name "\",\"name\":\"" name "\",\"ops\":" #ops   \
    ",\"gradient\":true}\n"
#define RAN_OFTEN(steps)                                                                           \
    RAN("load", 11)                                                                                \
    GRADIENT("step", 31)                                                                           \
    GRADIENT("discriminator", 11)                                                                  \
    "{\"event\":\"end\",\"pid\":1,"                                                                \
    "\"executes\":{\"load\":2622,\"step\":" #steps ",\"discriminator\":7}}\n"
    static const struct {
        const char *journal;
        uint64_t steps;
    } runs[] = {{RAN_OFTEN(6), 6}, {RAN_OFTEN(2), 7}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        keel_why_t stats;
        stats_of(runs[i].journal, &stats);
        assert_int_equal(stats.run.steps, runs[i].steps);
        keel_why_deinitialize(&stats);
    }
}

// ---- a warm-up ----------------------------------------------------------------------------------

#define ASK(event, name, program, more)                                                            \
    "{\"event\":\"" event "\",\"pid\":1,\"program\":\"" program "\",\"name\":\"" name              \
    "\",\"ops\":30,\"format\":\"mlir\"" more "}\n"
#define RUNS(program, times)                                                                       \
    "{\"event\":\"executes\",\"pid\":1,\"executes\":{\"" program "\":" #times "}}\n"
#define BUCKET(program, more) ASK("compile", "prefill", program, more) RUNS(program, 1)
#define BUCKETS(more) BUCKET("p1", more) BUCKET("p2", more) BUCKET("p3", more)
#define LATE ASK("compile", "late", "l1", "") "{\"event\":\"end\",\"pid\":1}\n"

static void assert_steps(const char *text, uint64_t steps, uint64_t settled) {
    keel_why_t stats;
    stats_of(text, &stats);
    assert_int_equal(stats.run.steps, steps);
    assert_int_equal(stats.run.settled_at_step, settled);
    keel_why_deinitialize(&stats);
}

static void executions_of_a_warm_up_are_no_steps(void **state) {
    (void)state;
    // The last bucket's first execution is the first step.
    assert_steps(BUCKETS("") RUNS("p1", 4), 5, 1);
    assert_steps(BUCKETS("") RUNS("p1", 4) LATE, 5, 6);
    assert_steps(BUCKETS("") "{\"event\":\"freeze\",\"pid\":1}\n", 1, 1);
    // A program that is refused later ends no warm-up, and neither does one that is asked for
    // again.
    assert_steps(BUCKETS("") RUNS("p2", 4) ASK("load", "prefill", "p1", "") RUNS("p1", 1), 6, 1);
}

static void a_warm_up_goes_on_while_another_function_has_further_programs(void **state) {
    (void)state;
    // For each bucket a decode, of one program, which leads.
#define DECODE RUNS("d1", 6)
    assert_steps(ASK("compile", "prefill", "p1", "") ASK("compile", "decode", "d1", "")
                     DECODE BUCKET("p2", "") DECODE BUCKET("p3", "") DECODE RUNS("p1", 2) DECODE,
                 12, 1);
}

static void a_warm_up_that_comes_late_takes_no_steps_away(void **state) {
    (void)state;
#define SCORE(program) ASK("compile", "score", program, "") RUNS(program, 1)
    assert_steps(ASK("compile", "predict", "a", "") RUNS("a", 1000) SCORE("s1") SCORE("s2")
                     SCORE("s3") RUNS("s1", 4) RUNS("a", 1000),
                 2000, 1001);
}

static void what_only_looks_like_a_warm_up_is_steps(void **state) {
    (void)state;
    assert_steps(BUCKETS(""), 3, 3);                                     // sizes that never end
    assert_steps(BUCKETS("") RUNS("p3", 4), 7, 3);                       // only the last is used
    assert_steps(BUCKET("p1", "") BUCKET("p2", "") RUNS("p1", 4), 6, 2); // two
    assert_steps(BUCKETS(",\"gradient\":true") RUNS("p1", 4), 7, 3);
    assert_steps(BUCKETS(",\"leading\":{}") RUNS("p1", 4), 7, 3); // more may have run
}

static void marked_steps_are_the_users(void **state) {
    (void)state;
    assert_steps(BUCKETS("") RUNS("p1", 4) "{\"event\":\"step\",\"pid\":1,\"count\":2}\n", 2, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ran_once_leads_only_by_far),
        cmocka_unit_test(a_function_that_computes_gradients_leads),
        cmocka_unit_test(executions_of_a_warm_up_are_no_steps),
        cmocka_unit_test(a_warm_up_goes_on_while_another_function_has_further_programs),
        cmocka_unit_test(a_warm_up_that_comes_late_takes_no_steps_away),
        cmocka_unit_test(what_only_looks_like_a_warm_up_is_steps),
        cmocka_unit_test(marked_steps_are_the_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
