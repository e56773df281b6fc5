// What follows from the steps of a probe, with made-up results.
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

static void put(keel_bundle_section_t section, const char *name, const char *value) {
    keel_bundle_add(&probe->bundle, section, keel_str(name), keel_str(value));
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

static void assert_concludes(keel_probe_verdict_t verdict, const char *label, const char *words) {
    assert_int_equal(probe->verdict, verdict);
    assert_int_equal(probe->finding_count, 1);
    assert_string_equal(probe->findings[0].label, label);
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

static void a_tpus_plugin_without_a_tpu_is_dead(void **state) {
    (void)state;
    probe->lacks_tpu = true;
    probe->steps[KEEL_PROBE_LOAD].state = KEEL_PROBE_OK;
    keel_probe_conclude(probe);
    assert_concludes(KEEL_PROBE_DEAD, KEEL_PROBE_LAUNCH_POLICY, "no TPU here");
}

static void a_client_that_ends_the_process_is_a_defect(void **state) {
    (void)state;
    went_wrong(KEEL_PROBE_CLIENT, KEEL_PROBE_KILLED, "", "killed by SIGSEGV");
    assert_concludes(KEEL_PROBE_DEAD, KEEL_PROBE_BACKEND_DEFECT, "killed by SIGSEGV");
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
    set_up("/proc/keel", "/tmp/keel-runs", "on");
    assert_concludes(KEEL_PROBE_LIMPING, KEEL_PROBE_LAUNCH_POLICY, "cache_dir /proc/keel");
}

static void a_folder_that_others_can_write_limps(void **state) {
    (void)state;
    place_t place;
    place_make(&place);
    assert_int_equal(chmod(place.root, 0777), 0);
    set_up(place.cache, place.root, "on");
    assert_concludes(KEEL_PROBE_LIMPING, KEEL_PROBE_LAUNCH_POLICY,
                     "is not used, so no run is recorded");
    assert_non_null(strstr(probe->findings[0].next, "KEEL_SHARED_CACHE=on"));
    place_remove(&place);
}

static void a_shared_folder_may_be_written_by_others(void **state) {
    (void)state;
    place_t place;
    place_make(&place);
    assert_int_equal(chmod(place.root, 0777), 0);
    setenv("KEEL_SHARED_CACHE", "on", 1);
    set_up(place.cache, place.root, "on");
    unsetenv("KEEL_SHARED_CACHE");
    assert_int_equal(probe->finding_count, 0);
    place_remove(&place);
}

static void a_mode_that_caches_nothing_is_told(void **state) {
    (void)state;
    set_up("/tmp/keel", "/tmp/keel-runs", "off");
    assert_concludes(KEEL_PROBE_ALIVE, KEEL_PROBE_LAUNCH_POLICY, "mode off means");
}

static void an_environment_that_goes_past_keel_is_told(void **state) {
    (void)state;
    setenv("PJRT_DEVICE", "CPU", 1);
    set_up("/tmp/keel", "/tmp/keel-runs", "on");
    assert_concludes(KEEL_PROBE_ALIVE, KEEL_PROBE_LAUNCH_POLICY, "PJRT_DEVICE=CPU");
    setenv("PJRT_DEVICE", "LIBRARY", 1);
    setenv("PJRT_LIBRARY_PATH", "/x/lib/libkeel_pjrt.so", 1);
    setenv("JAX_PLATFORMS", "keel,cpu", 1);
    set_up("/tmp/keel", "/tmp/keel-runs", "on");
    assert_int_equal(probe->finding_count, 1);
    unsetenv("PJRT_LIBRARY_PATH");
    setenv("JAX_PLATFORMS", "cpu", 1);
    set_up("/tmp/keel", "/tmp/keel-runs", "on");
    assert_int_equal(probe->finding_count, 3);
    unsetenv("PJRT_DEVICE");
    unsetenv("JAX_PLATFORMS");
}

static void numbers_that_the_environment_changes_are_a_models_matter(void **state) {
    (void)state;
    setenv("XLA_USE_BF16", "1", 1);
    set_up("/tmp/keel", "/tmp/keel-runs", "on");
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
        TEST(findings_have_an_end),
        TEST(what_goes_well_has_no_findings),
        TEST(a_library_that_is_none_is_a_matter_of_launch),
        TEST(a_plugin_of_another_version_is_a_version_gate),
        TEST(a_plugin_that_was_not_tried_is_a_version_gate_and_runs),
        TEST(a_client_that_cannot_be_made_is_a_defect),
        TEST(a_device_that_another_holds_is_a_matter_of_launch),
        TEST(a_tpus_plugin_without_a_tpu_is_dead),
        TEST(a_client_that_ends_the_process_is_a_defect),
        TEST(wrong_numbers_are_dead),
        TEST(reloading_that_computes_otherwise_is_dead),
        TEST(without_serializing_it_limps),
        TEST(a_load_that_hangs_is_told_apart_from_one_that_fails),
        TEST(usual_settings_have_no_findings),
        TEST(a_folder_that_cannot_be_written_limps),
        TEST(a_folder_that_others_can_write_limps),
        TEST(a_shared_folder_may_be_written_by_others),
        TEST(a_mode_that_caches_nothing_is_told),
        TEST(an_environment_that_goes_past_keel_is_told),
        TEST(numbers_that_the_environment_changes_are_a_models_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
