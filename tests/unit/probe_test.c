// What a probe reads from its child, and what follows from it, with made-up lines and results.
#define _GNU_SOURCE
#include "place.h"

#include "probe/probe.h"

static keel_probe_t *probe;

static int begin(void **state) {
    (void)state;
    probe = calloc(1, sizeof *probe);
    keel_probe_initialize(probe);
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_probe_deinitialize(probe);
    free(probe);
    return 0;
}

static void take(const char *line) {
    assert_ok(keel_probe_take_line(probe, keel_str(line)));
}

static const char *fact(keel_bundle_section_t section, const char *name) {
    const char *value = keel_bundle_find(&probe->bundle, section, name);
    return value ? value : "";
}

static void put(keel_bundle_section_t section, const char *name, const char *value) {
    assert_ok(keel_bundle_add(&probe->bundle, section, keel_str(name), keel_str(value)));
}

// ---- lines -------------------------------------------------------------------------------------

static void a_step_is_begun_and_then_over(void **state) {
    (void)state;
    take("{\"begin\": \"compile\"}");
    assert_int_equal(probe->steps[KEEL_PROBE_COMPILE].state, KEEL_PROBE_BEGUN);
    take("{\"end\": \"compile\", \"ns\": 1500}");
    assert_int_equal(probe->steps[KEEL_PROBE_COMPILE].state, KEEL_PROBE_OK);
    assert_int_equal(probe->steps[KEEL_PROBE_COMPILE].nanoseconds, 1500);
    take("{\"end\": \"run\", \"ns\": 7, \"code\": \"INTERNAL\", \"error\": \"PJRT_X: no\"}");
    assert_int_equal(probe->steps[KEEL_PROBE_RUN].state, KEEL_PROBE_FAILED);
    assert_string_equal(probe->steps[KEEL_PROBE_RUN].code, "INTERNAL");
    assert_string_equal(probe->steps[KEEL_PROBE_RUN].message, "PJRT_X: no");
    take("{\"end\": \"last device\", \"skipped\": \"there is one device\"}");
    assert_int_equal(probe->steps[KEEL_PROBE_LAST].state, KEEL_PROBE_SKIPPED);
    assert_int_equal(probe->broken_lines, 0);
}

static void what_the_plugin_reports_gets_into_the_bundle(void **state) {
    (void)state;
    take("{\"bundle\": {\"bundle\": 1, \"plugin\": {\"api\": \"0.81\"}}}");
    take("{\"bundle\": {\"bundle\": 1, \"plugin\": {\"api\": \"9.9\", \"platform\": \"cpu\"}, "
         "\"key\": {\"topology\": \"0011\"}}}");
    assert_string_equal(fact(KEEL_BUNDLE_PLUGIN, "api"), "0.81");
    assert_string_equal(fact(KEEL_BUNDLE_PLUGIN, "platform"), "cpu");
    assert_string_equal(fact(KEEL_BUNDLE_KEY, "topology"), "0011");
    assert_int_equal(probe->broken_lines, 0);
    take("{\"bundle\": {\"bundle\": 99}}");
    assert_int_equal(probe->broken_lines, 1);
}

static void broken_lines_are_counted_and_nothing_else(void **state) {
    static const char *const lines[] = {
        "",
        "{",
        "{\"begin\": \"comp",
        "[]",
        "7",
        "null",
        "{}",
        "{\"begin\": \"dance\"}",
        "{\"begin\": 7}",
        "{\"end\": null}",
        "{\"bundle\": []}",
        "\xff\xfe",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
        take(lines[i]);
    assert_int_equal(probe->broken_lines, sizeof lines / sizeof *lines);
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i)
        assert_int_equal(probe->steps[i].state, KEEL_PROBE_NOT_TRIED);
}

static void what_is_unknown_or_of_another_type_is_left_out(void **state) {
    (void)state;
    take("{\"bundle\": {\"bundle\": 1, \"devices\": [7], \"plugin\": {\"path\": 7, \"platform\": "
         "[1]}, \"weather\": {\"a\": \"b\"}}}");
    take("{\"end\": \"load\", \"ns\": -1, \"error\": 7}");
    assert_int_equal(probe->bundle.count, 0);
    assert_int_equal(probe->steps[KEEL_PROBE_LOAD].state, KEEL_PROBE_FAILED);
    assert_int_equal(probe->steps[KEEL_PROBE_LOAD].nanoseconds, 0);
    assert_string_equal(probe->steps[KEEL_PROBE_LOAD].message, "");
}

static void a_message_that_was_lost_makes_the_probe_incomplete(void **state) {
    (void)state;
    take("{\"lost\": 1}");
    assert_code(keel_probe_status(probe), KEEL_NO_MEMORY);
}

static void what_a_terminal_may_obey_is_shown_as_question_marks(void **state) {
    (void)state;
    take("{\"bundle\": {\"bundle\": 1, \"plugin\": {\"platform\": \"c\\u001b[2Jpu\", "
         "\"platform_version\": \"1\\u007f\\u009b\\u202e\"}}}");
    take("{\"end\": \"load\", \"error\": \"two\\nlines\\u001b\"}");
    assert_string_equal(fact(KEEL_BUNDLE_PLUGIN, "platform"), "c?[2Jpu");
    assert_string_equal(fact(KEEL_BUNDLE_PLUGIN, "platform_version"), "1???");
    assert_string_equal(probe->steps[KEEL_PROBE_LOAD].message, "two lines?");
}

static void findings_have_an_end(void **state) {
    (void)state;
    for (int i = 0; i < 2 * KEEL_PROBE_FINDINGS; ++i)
        keel_probe_add(probe, KEEL_PROBE_LAUNCH_POLICY, KEEL_PROBE_ALIVE, "", "%d", i);
    assert_int_equal(probe->finding_count, KEEL_PROBE_FINDINGS);
}

// ---- conclusions -------------------------------------------------------------------------------

static void all_went_well(void) {
    for (int i = KEEL_PROBE_LOAD; i <= KEEL_PROBE_OLDER; ++i)
        probe->steps[i].state = KEEL_PROBE_OK;
}

static void went_wrong(keel_probe_step_t step, keel_probe_state_t state, const char *code,
                       const char *message) {
    probe->steps[step].state = state;
    probe->steps[step].code = code;
    probe->steps[step].message = message;
    keel_probe_conclude(probe);
}

static void assert_concludes(keel_probe_verdict_t verdict, keel_probe_label_t label,
                             const char *words) {
    assert_int_equal(probe->verdict, verdict);
    assert_int_equal(probe->finding_count, 1);
    assert_int_equal(probe->findings[0].label, label);
    if (!strstr(probe->findings[0].text, words))
        fail_msg("'%s' does not say '%s'", probe->findings[0].text, words);
    assert_true(*probe->findings[0].next);
}

static void what_goes_well_has_no_findings(void **state) {
    (void)state;
    all_went_well();
    keel_probe_conclude(probe);
    assert_int_equal(probe->verdict, KEEL_PROBE_ALIVE);
    assert_int_equal(probe->finding_count, 0);
}

static void a_library_that_is_none_is_a_matter_of_launch(void **state) {
    (void)state;
    went_wrong(KEEL_PROBE_LOAD, KEEL_PROBE_FAILED, "invalid", "plugin x is not a shared library");
    assert_concludes(KEEL_PROBE_DEAD, KEEL_PROBE_LAUNCH_POLICY, "not a shared library");
}

static void a_plugin_of_another_version_is_a_version_gate(void **state) {
    (void)state;
    went_wrong(KEEL_PROBE_LOAD, KEEL_PROBE_FAILED, "unsupported", "plugin x speaks PJRT 9.1");
    assert_concludes(KEEL_PROBE_DEAD, KEEL_PROBE_VERSION_GATE, "PJRT 9.1");
}

static void a_plugin_that_was_not_tried_is_a_version_gate_and_runs(void **state) {
    (void)state;
    all_went_well();
    put(KEEL_BUNDLE_PLUGIN, "api", "0.999");
    keel_probe_conclude(probe);
    assert_concludes(KEEL_PROBE_ALIVE, KEEL_PROBE_VERSION_GATE, "999");
}

static void a_client_that_cannot_be_made_is_a_defect(void **state) {
    (void)state;
    went_wrong(KEEL_PROBE_CLIENT, KEEL_PROBE_FAILED, "UNAVAILABLE", "PJRT_Client_Create: no");
    assert_concludes(KEEL_PROBE_DEAD, KEEL_PROBE_BACKEND_DEFECT,
                     "the plugin cannot make a client: UNAVAILABLE: PJRT_Client_Create: no");
}

static void a_device_that_another_holds_is_a_matter_of_launch(void **state) {
    (void)state;
    went_wrong(KEEL_PROBE_CLIENT, KEEL_PROBE_FAILED, "ABORTED",
               "PJRT_Client_Create: The TPU is already in use by process with pid 7");
    assert_concludes(KEEL_PROBE_DEAD, KEEL_PROBE_LAUNCH_POLICY, "pid 7");
}

static void a_tpus_compiler_without_a_tpu_limps(void **state) {
    (void)state;
    probe->is_tpu = true;
    probe->steps[KEEL_PROBE_ELSEWHERE] = (keel_probe_outcome_t){
        .state = KEEL_PROBE_OK, .nanoseconds = 12000000, .code = "", .message = "", .said = ""};
    went_wrong(KEEL_PROBE_CLIENT, KEEL_PROBE_HUNG, "", "no answer within 60 s");
    assert_concludes(KEEL_PROBE_LIMPING, KEEL_PROBE_LAUNCH_POLICY,
                     "no TPU here, but compiling for one (v6e:2x4) works; making a client: "
                     "no answer within 60 s");
}

static void a_tpus_compiler_that_does_not_compile_is_dead(void **state) {
    (void)state;
    probe->is_tpu = true;
    probe->steps[KEEL_PROBE_TOPOLOGY].state = KEEL_PROBE_FAILED;
    probe->steps[KEEL_PROBE_TOPOLOGY].message = "no such topology";
    went_wrong(KEEL_PROBE_CLIENT, KEEL_PROBE_FAILED, "INTERNAL", "PJRT_Client_Create: no");
    assert_concludes(KEEL_PROBE_DEAD, KEEL_PROBE_LAUNCH_POLICY,
                     "compiling for one does not work either; making a client: INTERNAL: "
                     "PJRT_Client_Create: no");
}

static void a_tpu_that_is_there_and_fails_is_a_defect(void **state) {
    (void)state;
    probe->is_tpu = probe->has_tpu = true;
    went_wrong(KEEL_PROBE_CLIENT, KEEL_PROBE_KILLED, "", "killed by SIGSEGV");
    assert_concludes(KEEL_PROBE_DEAD, KEEL_PROBE_BACKEND_DEFECT, "killed by SIGSEGV");
}

static void a_crash_is_told_with_its_step_and_last_words(void **state) {
    (void)state;
    probe->steps[KEEL_PROBE_COMPILE].said = "Check failed: x";
    went_wrong(KEEL_PROBE_COMPILE, KEEL_PROBE_KILLED, "", "killed by SIGABRT");
    assert_concludes(KEEL_PROBE_DEAD, KEEL_PROBE_BACKEND_DEFECT,
                     "killed by SIGABRT (it said: Check failed: x)");
}

static void wrong_numbers_are_dead(void **state) {
    (void)state;
    all_went_well();
    went_wrong(KEEL_PROBE_RUN, KEEL_PROBE_FAILED, "corrupt", "wrong numbers: 3 is not 4");
    assert_concludes(KEEL_PROBE_DEAD, KEEL_PROBE_BACKEND_DEFECT, "wrong numbers");
}

static void reloading_that_computes_otherwise_is_dead(void **state) {
    (void)state;
    all_went_well();
    went_wrong(KEEL_PROBE_AGAIN, KEEL_PROBE_FAILED, "corrupt", "wrong numbers: 3 is not 4");
    assert_concludes(KEEL_PROBE_DEAD, KEEL_PROBE_BACKEND_DEFECT, "wrong numbers");
    assert_non_null(strstr(probe->findings[0].next, "KEEL_MODE=off"));
}

static void without_serializing_it_limps(void **state) {
    (void)state;
    all_went_well();
    went_wrong(KEEL_PROBE_SERIALIZE, KEEL_PROBE_FAILED, "UNIMPLEMENTED",
               "PJRT_Executable_Serialize: no");
    assert_concludes(KEEL_PROBE_LIMPING, KEEL_PROBE_BACKEND_DEFECT,
                     "UNIMPLEMENTED: PJRT_Executable_Serialize: no");
}

static void a_load_that_hangs_is_told_apart_from_one_that_fails(void **state) {
    (void)state;
    all_went_well();
    went_wrong(KEEL_PROBE_RELOAD, KEEL_PROBE_HUNG, "", "no answer within 60 s");
    assert_concludes(KEEL_PROBE_LIMPING, KEEL_PROBE_BACKEND_DEFECT, "crashes or hangs");
    assert_non_null(strstr(probe->findings[0].next, "KEEL_MODE=off"));
}

static void memory_that_is_not_told_is_refused_by_name(void **state) {
    (void)state;
    all_went_well();
    put(KEEL_BUNDLE_MEMORY, "cpu:0", "unknown: UNIMPLEMENTED: no");
    put(KEEL_BUNDLE_MEMORY, "cpu:1", "in use 4 B");
    put(KEEL_BUNDLE_MEMORY, "cpu:3", "unknown: UNIMPLEMENTED: no");
    keel_probe_conclude(probe);
    assert_concludes(
        KEEL_PROBE_ALIVE, KEEL_PROBE_BACKEND_DEFECT,
        "does not report the memory of its devices (cpu:0 to cpu:3): UNIMPLEMENTED: no");
}

static void lines_of_somebody_else_are_told(void **state) {
    (void)state;
    all_went_well();
    take("not the probe's");
    keel_probe_conclude(probe);
    assert_concludes(KEEL_PROBE_ALIVE, KEEL_PROBE_BACKEND_DEFECT, "1 line(s)");
}

// ---- settings ----------------------------------------------------------------------------------

static void set_up(const char *cache, const char *runs, const char *mode) {
    const char *flags[KEEL_SETTING_COUNT] = {[KEEL_SETTING_CACHE_DIR] = cache,
                                             [KEEL_SETTING_RUN_DIR] = runs,
                                             [KEEL_SETTING_MODE] = mode};
    keel_settings_t settings;
    setenv("KEEL_CONFIG", "/dev/null", 1);
    assert_ok(keel_settings_load(flags, &settings));
    keel_probe_set_up(probe, &settings);
    keel_settings_deinitialize(&settings);
}

static void usual_settings_have_no_findings(void **state) {
    (void)state;
    place_t place;
    place_make(&place);
    set_up(place.cache, place.root, "on");
    assert_int_equal(probe->finding_count, 0);
    place_remove(&place);
}

static void a_folder_that_cannot_be_written_limps(void **state) {
    (void)state;
    set_up("/proc/keel", "/tmp", "on");
    assert_concludes(KEEL_PROBE_LIMPING, KEEL_PROBE_LAUNCH_POLICY, "cache_dir /proc/keel");
    assert_non_null(strstr(probe->findings[0].text, "--cache-dir"));
}

static void a_mode_that_caches_nothing_is_told(void **state) {
    (void)state;
    set_up("/tmp/keel", "/tmp", "off");
    assert_concludes(KEEL_PROBE_ALIVE, KEEL_PROBE_LAUNCH_POLICY, "mode off (--mode)");
}

static void an_environment_that_goes_past_keel_is_told(void **state) {
    (void)state;
    setenv("PJRT_DEVICE", "CPU", 1);
    set_up("/tmp/keel", "/tmp", "on");
    assert_concludes(KEEL_PROBE_ALIVE, KEEL_PROBE_LAUNCH_POLICY, "PJRT_DEVICE=CPU");
    setenv("PJRT_DEVICE", "LIBRARY", 1);
    setenv("PJRT_LIBRARY_PATH", "/x/lib/libkeel_pjrt.so", 1);
    setenv("JAX_PLATFORMS", "keel,cpu", 1);
    set_up("/tmp/keel", "/tmp", "on");
    assert_int_equal(probe->finding_count, 1);
    unsetenv("PJRT_LIBRARY_PATH");
    setenv("JAX_PLATFORMS", "cpu", 1);
    set_up("/tmp/keel", "/tmp", "on");
    assert_int_equal(probe->finding_count, 3);
    unsetenv("PJRT_DEVICE");
    unsetenv("JAX_PLATFORMS");
}

static void numbers_that_the_environment_changes_are_a_models_matter(void **state) {
    (void)state;
    setenv("XLA_USE_BF16", "1", 1);
    set_up("/tmp/keel", "/tmp", "on");
    assert_concludes(KEEL_PROBE_ALIVE, KEEL_PROBE_MODEL_POLICY, "XLA_USE_BF16=1");
    unsetenv("XLA_USE_BF16");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    static const char *const others[] = {"PJRT_DEVICE",      "JAX_PLATFORMS", "PJRT_LIBRARY_PATH",
                                         "TPU_LIBRARY_PATH", "XLA_USE_BF16",  "JAX_ENABLE_X64"};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        unsetenv(others[i]);
    const struct CMUnitTest tests[] = {
        TEST(a_step_is_begun_and_then_over),
        TEST(what_the_plugin_reports_gets_into_the_bundle),
        TEST(broken_lines_are_counted_and_nothing_else),
        TEST(what_is_unknown_or_of_another_type_is_left_out),
        TEST(what_a_terminal_may_obey_is_shown_as_question_marks),
        TEST(a_message_that_was_lost_makes_the_probe_incomplete),
        TEST(findings_have_an_end),
        TEST(what_goes_well_has_no_findings),
        TEST(a_library_that_is_none_is_a_matter_of_launch),
        TEST(a_plugin_of_another_version_is_a_version_gate),
        TEST(a_plugin_that_was_not_tried_is_a_version_gate_and_runs),
        TEST(a_client_that_cannot_be_made_is_a_defect),
        TEST(a_device_that_another_holds_is_a_matter_of_launch),
        TEST(a_tpus_compiler_without_a_tpu_limps),
        TEST(a_tpus_compiler_that_does_not_compile_is_dead),
        TEST(a_tpu_that_is_there_and_fails_is_a_defect),
        TEST(a_crash_is_told_with_its_step_and_last_words),
        TEST(wrong_numbers_are_dead),
        TEST(reloading_that_computes_otherwise_is_dead),
        TEST(without_serializing_it_limps),
        TEST(a_load_that_hangs_is_told_apart_from_one_that_fails),
        TEST(memory_that_is_not_told_is_refused_by_name),
        TEST(lines_of_somebody_else_are_told),
        TEST(usual_settings_have_no_findings),
        TEST(a_folder_that_cannot_be_written_limps),
        TEST(a_mode_that_caches_nothing_is_told),
        TEST(an_environment_that_goes_past_keel_is_told),
        TEST(numbers_that_the_environment_changes_are_a_models_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
