// Would an entry made here be a hit there? With made-up probes of other machines.
#define _GNU_SOURCE
#include "place.h"

#include "probe/probe.h"

static keel_bundle_t here, there;
static const char *blocks[KEEL_PROBE_BLOCKS];

static int begin(void **state) {
    (void)state;
    keel_bundle_initialize(&here);
    keel_bundle_initialize(&there);
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_bundle_deinitialize(&here);
    keel_bundle_deinitialize(&there);
    return 0;
}

static void put_probe(keel_bundle_t *bundle, const char *state, const char *mode) {
    assert_ok(keel_bundle_add(bundle, KEEL_BUNDLE_KEY, KEEL_STR("cpu"), KEEL_STR("00")));
    assert_ok(keel_bundle_add(bundle, KEEL_BUNDLE_STEPS, KEEL_STR("run again"), keel_str(state)));
    assert_ok(keel_bundle_add(bundle, KEEL_BUNDLE_SETTINGS, KEEL_STR("mode"), keel_str(mode)));
}

static void assert_blocked(const char *why) {
    assert_int_equal(keel_probe_blocks(&here, &there, blocks), 1);
    assert_non_null(strstr(blocks[0], why));
}

static void nothing_blocks_machines_where_all_goes_well(void **state) {
    (void)state;
    put_probe(&here, "ok", "refresh");
    put_probe(&there, "ok", "readonly");
    assert_int_equal(keel_probe_blocks(&here, &there, blocks), 0);
}

static void what_does_not_reload_there_is_no_hit(void **state) {
    (void)state;
    put_probe(&here, "ok", "on");
    put_probe(&there, "failed", "on");
    assert_blocked("do not reload there");
}

static void what_does_not_reload_here_is_no_hit(void **state) {
    (void)state;
    put_probe(&here, "failed", "on");
    put_probe(&there, "ok", "on");
    assert_blocked("reload here");
}

static void a_mode_that_stores_nothing_here_hits_nothing(void **state) {
    (void)state;
    put_probe(&here, "ok", "readonly");
    put_probe(&there, "ok", "on");
    assert_blocked("mode is readonly here");
}

static void a_mode_that_looks_nothing_up_there_hits_nothing(void **state) {
    (void)state;
    put_probe(&here, "ok", "on");
    put_probe(&there, "ok", "refresh");
    assert_blocked("mode is refresh there");
}

static void without_components_of_keys_it_is_unknown(void **state) {
    (void)state;
    put_probe(&here, "ok", "on");
    assert_blocked("unknown there");
    put_probe(&there, "ok", "on");
    here.known[KEEL_BUNDLE_KEY] = false;
    assert_blocked("unknown here");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nothing_blocks_machines_where_all_goes_well),
        TEST(what_does_not_reload_there_is_no_hit),
        TEST(what_does_not_reload_here_is_no_hit),
        TEST(a_mode_that_stores_nothing_here_hits_nothing),
        TEST(a_mode_that_looks_nothing_up_there_hits_nothing),
        TEST(without_components_of_keys_it_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
