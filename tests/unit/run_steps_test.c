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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ran_once_leads_only_by_far),
        cmocka_unit_test(a_function_that_computes_gradients_leads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
