// Each allocation and each file operation of a probe fails once, here and in the child that uses
// the plugin: either it says that it had no memory, or it reports everything that it reports
// otherwise.
#define _GNU_SOURCE
#include "place.h"

#include "probe/probe.h"

enum { MOST = 3000 };

static place_t place;
static keel_settings_t settings;

static int begin(void **state) {
    (void)state;
    setenv("TEST_PLUGIN", "runs", 1);
    setenv("KEEL_CONFIG", "/dev/null", 1);
    place_make(&place);
    const char *flags[KEEL_SETTING_COUNT] = {[KEEL_SETTING_CACHE_DIR] = place.cache,
                                             [KEEL_SETTING_RUN_DIR] = place.root,
                                             [KEEL_SETTING_MODE] = "off"};
    assert_ok(keel_settings_load(flags, &settings));
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_settings_deinitialize(&settings);
    place_remove(&place);
    return 0;
}

typedef struct told_t {
    keel_code_t code;
    keel_probe_verdict_t verdict;
    keel_probe_state_t states[KEEL_PROBE_STEP_COUNT];
    size_t facts, findings;
} told_t;

static keel_status_t probe_plugin(keel_probe_t *probe) {
    const keel_probe_request_t request = {
        .plugin = KEEL_TEST_PLUGIN, .limit = 20, .last = KEEL_PROBE_OLDER};
    keel_bundle_plugin_file(KEEL_TEST_PLUGIN, NULL, NULL, &probe->bundle);
    KEEL_TRY(keel_probe_use(&request, probe));
    keel_probe_conclude(probe);
    keel_probe_set_up(probe, &settings);
    return keel_bundle_status(&probe->bundle);
}

static void probe_once(told_t *out) {
    keel_probe_t *probe = calloc(1, sizeof *probe);
    *out = (told_t){0};
    keel_probe_initialize(probe);
    keel_status_t status = probe_plugin(probe);
    out->code = keel_status_code(status);
    out->verdict = probe->verdict;
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i)
        out->states[i] = probe->steps[i].state;
    out->facts = probe->bundle.count;
    out->findings = probe->finding_count;
    keel_status_ignore(status);
    keel_probe_deinitialize(probe);
    free(probe);
}

static void no_memory_is_said_or_all_is_told(void **state) {
    (void)state;
    told_t good, told;
    unsigned refused = 0, calm = 0;
    probe_once(&good);
    assert_int_equal(good.code, KEEL_OK);
    assert_int_equal(good.verdict, KEEL_PROBE_ALIVE);
    // The child counts on from where it was forked: ten in a row that nobody met are all there are.
    for (uint64_t nth = 1; calm < 10; ++nth) {
        assert_true(nth < MOST);
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        probe_once(&told);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        calm = told.code == KEEL_OK ? calm + 1 : 0;
        refused += told.code != KEEL_OK;
        if (told.code == KEEL_OK)
            assert_memory_equal(&told, &good, sizeof good);
        else
            assert_int_equal(told.code, KEEL_NO_MEMORY);
    }
    assert_true(refused > 50);
}

static void a_file_that_cannot_be_read_ends_nothing(void **state) {
    (void)state;
    told_t told;
    for (uint64_t nth = 1;; ++nth) {
        assert_true(nth < MOST);
        keel_fault_arm(KEEL_FAULT_FILE, nth);
        probe_once(&told);
        bool reached = keel_fault_count(KEEL_FAULT_FILE) >= nth;
        keel_fault_arm(KEEL_FAULT_FILE, 0);
        assert_true(told.code == KEEL_OK || told.code == KEEL_IO);
        if (!reached) break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_is_said_or_all_is_told),
        cmocka_unit_test(a_file_that_cannot_be_read_ends_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
