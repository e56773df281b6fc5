// Would an entry made here be a hit there: on probes of other machines that are made up.
#define _GNU_SOURCE
#include "place.h"

#include "probe/compare.h"

static keel_probe_t *here;
static keel_probe_other_t there;
static keel_probe_fit_t fit;

static int begin(void **state) {
    (void)state;
    here = calloc(1, sizeof *here);
    keel_probe_initialize(here);
    keel_probe_other_initialize(&there);
    keel_probe_fit_initialize(&fit);
    for (int i = 0; i < KEEL_PROBE_STEP_COUNT; ++i)
        here->steps[i].state = KEEL_PROBE_OK;
    assert_ok(keel_key_set(&here->key, KEEL_COMPONENT_CPU, keel_bytes("a", 1),
                           KEEL_STR("model=a\ncpus=4\n")));
    here->key_known = true;
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_probe_fit_deinitialize(&fit);
    keel_probe_other_deinitialize(&there);
    keel_probe_deinitialize(here);
    free(here);
    return 0;
}

// The probe of a machine like this one, but for the processor and what `more` says.
static void write_other(const char *cpu, const char *state, const char *more, keel_buffer_t *out) {
    char hex[KEEL_DIGEST_HEX];
    keel_buffer_initialize(out, 0);
    keel_buffer_format(out,
                       "{\"probe\": 1, \"steps\": {\"reload\": {\"state\": \"%s\"}, \"run again\": "
                       "{\"state\": \"ok\"}}, %s\"key\": {",
                       state, more);
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        keel_digest_t digest = here->key.components[i];
        if (i == KEEL_COMPONENT_CPU && *cpu) digest = keel_digest(keel_bytes(cpu, strlen(cpu)));
        keel_digest_hex(&digest, hex);
        keel_buffer_format(out, "%s\"%s\": {\"digest\": \"%s\", \"value\": ", i ? ", " : "",
                           keel_component_name((keel_component_t)i), hex);
        keel_buffer_json_str(out, i == KEEL_COMPONENT_CPU && *cpu ? keel_str(cpu)
                                                                  : keel_str(here->key.values[i]));
        keel_buffer_byte(out, '}');
    }
    keel_buffer_text(out, "}}");
}

static void compare(const char *cpu, const char *state, const char *more) {
    keel_buffer_t other;
    write_other(cpu, state, more, &other);
    assert_ok(keel_probe_read_other(keel_buffer_bytes(&other), &there));
    assert_ok(keel_probe_compare(here, NULL, &there, &fit));
    keel_buffer_deinitialize(&other);
}

static void assert_blocked(const char *why) {
    assert_false(fit.hits);
    assert_int_equal(fit.block_count, 1);
    assert_non_null(strstr(fit.blocks[0], why));
}

static void machines_that_are_alike_share_entries(void **state) {
    (void)state;
    compare("", "ok", "");
    assert_true(fit.hits);
    assert_int_equal(fit.block_count, 0);
    assert_int_equal(fit.fields.root_count, 0);
}

static void another_processor_is_named_with_its_field(void **state) {
    (void)state;
    compare("model=a\ncpus=8\n", "ok", "");
    assert_false(fit.hits);
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        assert_int_equal(fit.differs[i], i == KEEL_COMPONENT_CPU);
    assert_int_equal(fit.fields.root_count, 1);
    assert_string_equal(fit.fields.roots[0].old_value, "8");
    assert_string_equal(fit.fields.roots[0].new_value, "4");
}

static void what_does_not_reload_there_is_no_hit(void **state) {
    (void)state;
    compare("", "failed", "");
    assert_blocked("do not reload there");
}

static void what_does_not_serialize_here_is_no_hit(void **state) {
    (void)state;
    here->steps[KEEL_PROBE_SERIALIZE].state = KEEL_PROBE_FAILED;
    compare("", "ok", "");
    assert_blocked("do not serialize here");
}

static void who_looks_nothing_up_there_hits_nothing(void **state) {
    (void)state;
    compare("", "ok", "\"settings\": {\"mode\": {\"value\": \"refresh\"}}, ");
    assert_blocked("mode is refresh there");
}

static void a_fast_probe_here_cannot_say(void **state) {
    (void)state;
    here->key_known = false;
    here->fast = true;
    compare("", "ok", "");
    assert_blocked("without --fast");
}

static void a_fast_probe_there_cannot_say(void **state) {
    (void)state;
    static const char other[] = "{\"probe\": 1, \"steps\": {}}";
    assert_ok(keel_probe_read_other(keel_bytes(other, sizeof other - 1), &there));
    assert_ok(keel_probe_compare(here, NULL, &there, &fit));
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
