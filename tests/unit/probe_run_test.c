// Probes of the plugin of tests/plugin, which can be told what to do wrong.
#define _GNU_SOURCE
#include "place.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bundle/versions.h"
#include "probe/probe.h"

static keel_probe_t *probe;
static unsigned begun;

static int begin(void **state) {
    (void)state;
    probe = calloc(1, sizeof *probe);
    keel_probe_initialize(probe);
    begun = 0;
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_probe_deinitialize(probe);
    free(probe);
    unsetenv("TEST_PLUGIN");
    return 0;
}

static void count_step(const char *step) {
    assert_true(*step);
    ++begun;
}

// What a probe of this plugin may take on a busy machine, and when one that hangs is given up.
enum { PLENTY = 200, HANG_SECONDS = 4 };
#define HANG_TEXT "no answer within 4 s"

static void run_within(unsigned seconds, const char *plugin, const char *words, bool fast) {
    const keel_probe_request_t request = {.plugin = plugin,
                                          .limit = seconds,
                                          .last = fast ? KEEL_PROBE_LOAD : KEEL_PROBE_OLDER,
                                          .stepping = count_step};
    setenv("TEST_PLUGIN", words, 1);
    keel_bundle_plugin_file(plugin, NULL, NULL, &probe->bundle);
    assert_ok(keel_probe_use(&request, probe));
    assert_ok(keel_bundle_status(&probe->bundle));
    keel_probe_conclude(probe);
}

static void run_on(const char *plugin, const char *words, bool fast) {
    run_within(PLENTY, plugin, words, fast);
}

static void run(const char *words) {
    run_on(KEEL_TEST_PLUGIN, words, false);
}

static void run_into_hang(const char *words) {
    run_within(HANG_SECONDS, KEEL_TEST_PLUGIN, words, false);
}

static void assert_step(keel_probe_step_t step, keel_probe_state_t state, const char *message) {
    const keel_probe_outcome_t *outcome = &probe->steps[step];
    if (outcome->state != state || !strstr(outcome->message, message))
        fail_msg("%s: %s: '%s'", keel_probe_step_names[step],
                 keel_probe_state_names[outcome->state], outcome->message);
}

static const char *fact(keel_bundle_section_t section, const char *name) {
    const char *value = keel_bundle_find(&probe->bundle, section, name);
    return value ? value : "";
}

static void assert_tried_up_to(keel_probe_step_t last) {
    for (int i = KEEL_PROBE_LOAD; i <= KEEL_PROBE_OLDER; ++i)
        assert_int_equal(probe->steps[i].state == KEEL_PROBE_NOT_TRIED, i > (int)last);
}

static void a_plugin_that_does_everything_is_alive(void **state) {
    (void)state;
    run("runs memory");
    for (int i = KEEL_PROBE_LOAD; i <= KEEL_PROBE_OLDER; ++i)
        assert_step((keel_probe_step_t)i, KEEL_PROBE_OK, "");
    assert_int_equal(probe->verdict, KEEL_PROBE_ALIVE);
    assert_string_equal(fact(KEEL_BUNDLE_DEVICES, "1"), "test device, process 0");
    assert_string_equal(fact(KEEL_BUNDLE_MEMORY, "test:1"), "in use 1001 B, limit 1.0 GiB");
    assert_string_equal(fact(KEEL_BUNDLE_STEPS, "run again"), "ok");
    assert_int_equal(strlen(fact(KEEL_BUNDLE_KEY, "device kinds")), KEEL_DIGEST_HEX - 1);
}

static void a_plugin_that_hangs_when_it_is_loaded_is_not_said_to_end(void **state) {
    (void)state;
    run_into_hang("load_hangs");
    assert_step(KEEL_PROBE_LOAD, KEEL_PROBE_HUNG, HANG_TEXT);
    assert_int_equal(probe->verdict, KEEL_PROBE_DEAD);
    assert_non_null(strstr(probe->findings[0].text, "loading the plugin does not finish"));
}

static void a_plugin_that_closes_all_files_is_still_heard(void **state) {
    (void)state;
    run("runs load_closes");
    assert_step(KEEL_PROBE_OLDER, KEEL_PROBE_OK, "");
    assert_int_equal(probe->verdict, KEEL_PROBE_ALIVE);
}

static void a_fast_probe_only_loads(void **state) {
    (void)state;
    run_on(KEEL_TEST_PLUGIN, "client_hangs", true);
    assert_step(KEEL_PROBE_LOAD, KEEL_PROBE_OK, "");
    assert_tried_up_to(KEEL_PROBE_LOAD);
    assert_string_equal(fact(KEEL_BUNDLE_PLUGIN, "stablehlo_current_version"), "1.13.3");
    assert_int_equal(probe->verdict, KEEL_PROBE_ALIVE);
}

static void a_plugin_that_is_not_there_is_dead(void **state) {
    (void)state;
    run_on("/nowhere/plugin.so", "", false);
    assert_step(KEEL_PROBE_LOAD, KEEL_PROBE_FAILED, "/nowhere/plugin.so does not exist");
    assert_string_equal(fact(KEEL_BUNDLE_PLUGIN, "size"), "");
    assert_int_equal(probe->verdict, KEEL_PROBE_DEAD);
}

static void an_abort_is_told_of_its_step(void **state) {
    (void)state;
    run("runs compile_aborts");
    assert_step(KEEL_PROBE_COMPILE, KEEL_PROBE_KILLED, "killed by signal 6 (Aborted)");
    assert_string_equal(probe->steps[KEEL_PROBE_COMPILE].said, "about to end");
    assert_tried_up_to(KEEL_PROBE_COMPILE);
    assert_int_equal(probe->verdict, KEEL_PROBE_DEAD);
}

static void a_hang_ends_with_the_time_limit(void **state) {
    (void)state;
    run_into_hang("client_hangs");
    assert_step(KEEL_PROBE_CLIENT, KEEL_PROBE_HUNG, HANG_TEXT);
    assert_tried_up_to(KEEL_PROBE_CLIENT);
    assert_int_equal(begun, 2);
    assert_int_equal(probe->verdict, KEEL_PROBE_DEAD);
}

static void a_process_that_ends_itself_is_told(void **state) {
    (void)state;
    run("runs serialize_exits");
    assert_step(KEEL_PROBE_SERIALIZE, KEEL_PROBE_KILLED, "exited with code 3");
    assert_step(KEEL_PROBE_RUN, KEEL_PROBE_OK, "");
    assert_int_equal(probe->verdict, KEEL_PROBE_LIMPING);
}

static void wrong_numbers_are_found(void **state) {
    (void)state;
    run("runs wrong_numbers");
    assert_step(KEEL_PROBE_RUN, KEEL_PROBE_FAILED, "the result is 48, not 49");
    assert_int_equal(probe->verdict, KEEL_PROBE_DEAD);
}

static void wrong_numbers_after_a_reload_are_found(void **state) {
    (void)state;
    run("runs reloads_wrong");
    assert_step(KEEL_PROBE_RUN, KEEL_PROBE_OK, "");
    assert_step(KEEL_PROBE_AGAIN, KEEL_PROBE_FAILED, "wrong numbers");
    assert_int_equal(probe->verdict, KEEL_PROBE_DEAD);
}

static void what_cannot_serialize_limps_and_the_rest_is_tried(void **state) {
    (void)state;
    run("runs no_serialize");
    assert_step(KEEL_PROBE_SERIALIZE, KEEL_PROBE_FAILED, "cannot serialize");
    assert_string_equal(probe->steps[KEEL_PROBE_SERIALIZE].code, "UNIMPLEMENTED");
    assert_step(KEEL_PROBE_RELOAD, KEEL_PROBE_NOT_TRIED, "");
    assert_step(KEEL_PROBE_LAST, KEEL_PROBE_OK, "");
    assert_int_equal(probe->verdict, KEEL_PROBE_LIMPING);
}

static void a_load_that_fails_limps(void **state) {
    (void)state;
    run("runs load_fails");
    assert_step(KEEL_PROBE_RELOAD, KEEL_PROBE_FAILED, "will not load");
    assert_int_equal(probe->verdict, KEEL_PROBE_LIMPING);
}

static void an_older_client_runs_over_the_bridge(void **state) {
    (void)state;
    run("runs sizes=PJRT_ExecuteOptions:112");
    assert_step(KEEL_PROBE_OLDER, KEEL_PROBE_OK, "");
}

static void a_plugin_of_another_major_version_is_refused(void **state) {
    (void)state;
    run("major=9");
    assert_step(KEEL_PROBE_LOAD, KEEL_PROBE_FAILED, "speaks PJRT 9.");
    assert_string_equal(probe->findings[0].label, KEEL_PROBE_VERSION_GATE);
}

static void the_same_plugin_has_the_same_key(void **state) {
    (void)state;
    run("runs");
    keel_probe_t *first = probe;
    probe = calloc(1, sizeof *probe);
    keel_probe_initialize(probe);
    run("runs memory");
    size_t count = 0;
    for (size_t i = 0; i < first->bundle.count; ++i) {
        const keel_bundle_fact_t *at = &first->bundle.facts[i];
        if (at->section != KEEL_BUNDLE_KEY) continue;
        assert_string_equal(fact(KEEL_BUNDLE_KEY, at->name), at->value);
        ++count;
    }
    assert_int_equal(count, 10);
    keel_probe_deinitialize(first);
    free(first);
}

// ---- what a bundle says about the plugin -------------------------------------------------------

static void use_within(unsigned seconds, const char *words) {
    const keel_probe_request_t request = {
        .plugin = KEEL_TEST_PLUGIN, .limit = seconds, .last = KEEL_PROBE_DEVICES};
    setenv("TEST_PLUGIN", words, 1);
    assert_ok(keel_probe_use(&request, probe));
    assert_ok(keel_bundle_status(&probe->bundle));
    const keel_bundle_request_t rest = {.interpreter = "/no/python"};
    keel_bundle_collect(&rest, &probe->bundle);
    assert_ok(keel_bundle_status(&probe->bundle));
}

static void use(const char *words) {
    use_within(PLENTY, words);
}

static const char *told(const char *name) {
    return keel_bundle_find(&probe->bundle, KEEL_BUNDLE_PLUGIN, name);
}

static void assert_told(const char *name, const char *value) {
    if (!told(name)) fail_msg("no %s", name);
    assert_string_equal(told(name), value);
}

static void a_plugin_tells_of_itself_from_a_child(void **state) {
    (void)state;
    use("platform=toy minor=90");
    assert_told("api", "0.90");
    assert_told("platform", "toy");
    assert_string_equal(keel_bundle_find(&probe->bundle, KEEL_BUNDLE_DEVICES, "count"), "2");
    assert_null(told(KEEL_BUNDLE_TROUBLE));
    assert_tried_up_to(KEEL_PROBE_DEVICES);
}

static void a_plugin_without_a_client_still_tells_its_versions(void **state) {
    (void)state;
    use("no_client minor=90");
    assert_told("api", "0.90");
    assert_non_null(told(KEEL_BUNDLE_TROUBLE));
    assert_false(probe->bundle.known[KEEL_BUNDLE_DEVICES]);
}

static void a_plugin_that_hangs_is_ended_and_what_it_told_counts(void **state) {
    (void)state;
    use_within(HANG_SECONDS, "client_hangs minor=90");
    assert_told("api", "0.90");
    assert_told(KEEL_BUNDLE_TROUBLE, HANG_TEXT);
}

// Its time limit is far off: only the end of the child's process can end this.
static void a_process_that_a_plugin_starts_is_not_waited_for_and_does_not_stay(void **state) {
    (void)state;
    uint64_t began = keel_clock_monotonic();
    prctl(PR_SET_CHILD_SUBREAPER, 1); // so that what is left would be a child of this process
    use_within(1000, "load_forks minor=90");
    assert_true(keel_clock_monotonic() - began < UINT64_C(500000000000));
    assert_told("api", "0.90");
    assert_null(told(KEEL_BUNDLE_TROUBLE));
    int ended = 0;
    while (waitpid(-1, &ended, 0) > 0)
        assert_true(WIFSIGNALED(ended));
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void a_plugin_that_ends_its_process_quietly_is_in_trouble(void **state) {
    (void)state;
    keel_bundle_verdict_t verdict;
    use("load_exits");
    assert_told(KEEL_BUNDLE_TROUBLE, "the process exited with code 0");
    keel_bundle_judge_plugin(&probe->bundle, &verdict);
    assert_int_equal(verdict.support, KEEL_BUNDLE_UNKNOWN);
    assert_non_null(strstr(verdict.text, "code 0; the run continues"));
}

static void a_plugin_that_closes_all_files_is_in_trouble_and_within_its_time(void **state) {
    (void)state;
    use_within(HANG_SECONDS, "load_closes client_hangs");
    assert_told(KEEL_BUNDLE_TROUBLE, HANG_TEXT);
}

static void a_plugin_of_another_major_version_is_impossible(void **state) {
    (void)state;
    keel_bundle_verdict_t verdict;
    use("major=1");
    keel_bundle_judge_plugin(&probe->bundle, &verdict);
    assert_int_equal(verdict.support, KEEL_BUNDLE_IMPOSSIBLE);
    assert_non_null(strstr(verdict.text, "major version 0"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

// What a plugin prints goes to a file in memory, which has the limit of all files.
static void no_file_may_take_a_byte_and_the_plugin_is_used(void **state) {
    (void)state;
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    run("runs");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_step(KEEL_PROBE_OLDER, KEEL_PROBE_OK, "");
    assert_int_equal(probe->verdict, KEEL_PROBE_ALIVE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_plugin_that_does_everything_is_alive),
        TEST(a_plugin_that_hangs_when_it_is_loaded_is_not_said_to_end),
        TEST(a_plugin_that_closes_all_files_is_still_heard),
        TEST(a_fast_probe_only_loads),
        TEST(a_plugin_that_is_not_there_is_dead),
        TEST(an_abort_is_told_of_its_step),
        TEST(a_hang_ends_with_the_time_limit),
        TEST(a_process_that_ends_itself_is_told),
        TEST(wrong_numbers_are_found),
        TEST(wrong_numbers_after_a_reload_are_found),
        TEST(what_cannot_serialize_limps_and_the_rest_is_tried),
        TEST(a_load_that_fails_limps),
        TEST(an_older_client_runs_over_the_bridge),
        TEST(a_plugin_of_another_major_version_is_refused),
        TEST(the_same_plugin_has_the_same_key),
        TEST(a_plugin_tells_of_itself_from_a_child),
        TEST(a_plugin_without_a_client_still_tells_its_versions),
        TEST(a_plugin_that_hangs_is_ended_and_what_it_told_counts),
        TEST(a_process_that_a_plugin_starts_is_not_waited_for_and_does_not_stay),
        TEST(a_plugin_that_ends_its_process_quietly_is_in_trouble),
        TEST(a_plugin_that_closes_all_files_is_in_trouble_and_within_its_time),
        TEST(a_plugin_of_another_major_version_is_impossible),
        TEST(no_file_may_take_a_byte_and_the_plugin_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
