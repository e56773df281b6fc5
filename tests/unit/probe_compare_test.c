// Would an entry made here be a hit there: on probes of other machines that are made up.
#define _GNU_SOURCE
#include "place.h"

#include <jansson.h>

#include "probe/compare.h"

static keel_probe_t *here;
static json_t *there;
static keel_probe_fit_t fit;

// With the digest of its readable text.
static json_t *component_of(const char *value) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_t digest = keel_digest(keel_bytes(value, strlen(value)));
    keel_digest_hex(&digest, hex);
    return json_pack("{s:s,s:s}", "digest", hex, "value", value);
}

static int begin(void **state) {
    (void)state;
    here = calloc(1, sizeof *here);
    keel_probe_initialize(here);
    there = NULL;
    keel_probe_fit_initialize(&fit);
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i)
        here->steps[i].state = KEEL_PROBE_OK;
    json_t *key = json_object();
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        bool is_cpu = i == KEEL_COMPONENT_CPU;
        json_object_set_new(key, keel_component_name((keel_component_t)i),
                            component_of(is_cpu ? "model=a\ncpus=4\n" : "same"));
    }
    json_object_set_new(here->facts, "key", key);
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_probe_fit_deinitialize(&fit);
    json_decref(there);
    keel_probe_deinitialize(here);
    free(here);
    return 0;
}

// With the probe of a machine like this one, but for the processor, the state of a reload and the
// mode.
static void compare(const char *cpu, const char *state, const char *mode) {
    json_t *key = json_deep_copy(json_object_get(here->facts, "key"));
    if (!key) key = json_object();
    if (*cpu) json_object_set_new(key, "cpu", component_of(cpu));
    json_t *other = json_pack("{s:i,s:{s:{s:s},s:{s:s}},s:{s:{s:s}},s:o}", "probe", 1, "steps",
                              "reload", "state", state, "run again", "state", "ok", "settings",
                              "mode", "value", mode, "key", key);
    char *text = json_dumps(other, 0);
    assert_ok(keel_probe_read_other(keel_bytes(text, strlen(text)), &there));
    assert_ok(keel_probe_compare(here, NULL, there, &fit));
    free(text);
    json_decref(other);
}

static void assert_blocked(const char *why) {
    assert_false(fit.hits);
    assert_int_equal(fit.block_count, 1);
    assert_non_null(strstr(fit.blocks[0], why));
}

static void machines_that_are_alike_share_entries(void **state) {
    (void)state;
    compare("", "ok", "on");
    assert_true(fit.hits);
    assert_int_equal(fit.block_count, 0);
    assert_int_equal(fit.fields.root_count, 0);
}

static void another_processor_is_named_with_its_field(void **state) {
    (void)state;
    compare("model=a\ncpus=8\n", "ok", "on");
    assert_false(fit.hits);
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        assert_int_equal(fit.differs[i], i == KEEL_COMPONENT_CPU);
    assert_int_equal(fit.fields.root_count, 1);
    assert_string_equal(fit.fields.roots[0].old_value, "8");
    assert_string_equal(fit.fields.roots[0].new_value, "4");
}

static void what_does_not_reload_there_is_no_hit(void **state) {
    (void)state;
    compare("", "failed", "on");
    assert_blocked("do not reload there");
}

static void what_does_not_serialize_here_is_no_hit(void **state) {
    (void)state;
    here->steps[KEEL_PROBE_SERIALIZE].state = KEEL_PROBE_FAILED;
    compare("", "ok", "on");
    assert_blocked("do not serialize here");
}

static void who_looks_nothing_up_there_hits_nothing(void **state) {
    (void)state;
    compare("", "ok", "refresh");
    assert_blocked("mode is refresh there");
}

static void a_fast_probe_here_cannot_say(void **state) {
    (void)state;
    static const char other[] = "{\"probe\": 1}";
    json_object_del(here->facts, "key");
    here->fast = true;
    assert_ok(keel_probe_read_other(keel_bytes(other, sizeof other - 1), &there));
    assert_ok(keel_probe_compare(here, NULL, there, &fit));
    assert_false(fit.hits);
    assert_int_equal(fit.block_count, 2); // neither side is known
    assert_non_null(strstr(fit.blocks[0], "without --fast"));
}

static void a_fast_probe_there_cannot_say(void **state) {
    (void)state;
    static const char other[] = "{\"probe\": 1, \"steps\": {}}";
    assert_ok(keel_probe_read_other(keel_bytes(other, sizeof other - 1), &there));
    assert_ok(keel_probe_compare(here, NULL, there, &fit));
    assert_blocked("unknown there");
}

static void what_is_no_probe_is_refused(void **state) {
    static const char *const others[] = {
        "",
        "{",
        "[]",
        "7",
        "{}",
        "{\"probe\": \"1\"}",
        "{\"probe\": 2}",
        "\xff",
        "{\"probe\": 1} more",
    };
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        keel_status_t status =
            keel_probe_read_other(keel_bytes(others[i], strlen(others[i])), &there);
        assert_int_equal(keel_status_code(status), KEEL_INVALID);
        keel_status_ignore(status);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(machines_that_are_alike_share_entries),
        TEST(another_processor_is_named_with_its_field),
        TEST(what_does_not_reload_there_is_no_hit),
        TEST(what_does_not_serialize_here_is_no_hit),
        TEST(who_looks_nothing_up_there_hits_nothing),
        TEST(a_fast_probe_here_cannot_say),
        TEST(a_fast_probe_there_cannot_say),
        TEST(what_is_no_probe_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
