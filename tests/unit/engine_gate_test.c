// The engine refuses a program, and the client gets an error that its table can read.
#define _GNU_SOURCE
#include "engine_help.h"

static unsigned asked;

static keel_status_t refuse_beta(void *context, const keel_engine_ask_t *ask,
                                 keel_verdict_t *verdict) {
    (void)verdict;
    CHECK(context == &asked && ask->key && ask->site);
    ++asked;
    keel_digest_t beta = keel_digest(keel_str_bytes(keel_str("beta")));
    if (!keel_digest_equal(ask->program, &beta)) return NULL;
    return keel_status_make(KEEL_REFUSED, "beta is not in the contract");
}

static void refuse_through_the_engine(const door_t *door) {
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    keel_engine_set_gate(bare.engine, &(keel_engine_gate_t){refuse_beta, &asked, NULL});
    bare_client(&bare);
    PJRT_LoadedExecutable *loaded;
    bare_live(&bare, "alpha");
    PJRT_Error *error = bare_try(&bare, "beta", &loaded);
    CHECK(keel_pjrt_error_is_own(error));
    keel_str_t message;
    PJRT_Error_Code code;
    CHECK(keel_pjrt_error_message(error, &message) && keel_pjrt_error_number(error, &code));
    CHECK(strcmp(message.data, "keel: beta is not in the contract") == 0);
    CHECK(code == PJRT_Error_Code_FAILED_PRECONDITION);
    // The plugin below knows nothing of it.
    keel_status_t status = keel_pjrt_status(bare.plugin.api, error, "compile");
    CHECK(strstr(keel_status_message(status), "beta is not in the contract"));
    keel_status_ignore(status);
    CHECK(!keel_pjrt_error_is_own(error));
    bare_live(&bare, "alpha"); // what was refused holds up nothing
    CHECK(asked == 3);
    bare_close(&bare);
    CHECK(count_entries(door) == 1);
}

static void test_a_refused_program_is_an_error_and_reaches_neither_plugin_nor_store(void **state) {
    const door_t *door = *state;
    door_run(door, "", refuse_through_the_engine);
    assert_int_equal(count_lines(door->calls, "compile "), 1);
    assert_int_equal(count_events(door, "\"event\":\"compile_error\"", "FAILED_PRECONDITION"), 1);
    assert_int_equal(count_events(door, "\"event\":\"compile_error\"", "not in the contract"), 1);
    assert_int_equal(count_events(door, "\"event\":\"miss\"", ""), 1);
    assert_int_equal(count_files(&door->place, "locks", ""), 0);
}

static keel_status_t report_beta(void *context, const keel_engine_ask_t *ask,
                                 keel_verdict_t *verdict) {
    *verdict = *(const keel_verdict_t *)context;
    CHECK(ask->is_new && !ask->is_eager && ask->format && ask->code.size == 4);
    return keel_status_make(KEEL_REFUSED, "%s is not in the contract", ask->name);
}

static void pass_with_a_word(const door_t *door) {
    keel_verdict_t verdict = KEEL_VERDICT_WARNED;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    keel_engine_set_gate(bare.engine, &(keel_engine_gate_t){report_beta, &verdict, NULL});
    bare_client(&bare);
    bare_live(&bare, "beta");
    verdict = KEEL_VERDICT_RECORDED;
    bare_live(&bare, "etas");
    bare_close(&bare);
    CHECK(count_entries(door) == 2);
}

static void test_a_program_that_is_only_reported_is_compiled_and_stored(void **state) {
    const door_t *door = *state;
    door_run(door, "", pass_with_a_word);
    assert_int_equal(count_events(door, "\"event\":\"drift\"", "\"verdict\":\"warned\""), 1);
    assert_int_equal(count_events(door, "\"event\":\"drift\"", "\"verdict\":\"recorded\""), 1);
    assert_int_equal(count_events(door, "\"event\":\"compile_error\"", ""), 0);
}

static void refuse_a_stored_program(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    bare_client(&bare);
    bare_live(&bare, "beta");
    bare_close(&bare);
    keel_engine_set_gate(bare.engine, &(keel_engine_gate_t){refuse_beta, &asked, NULL});
    bare_client(&bare);
    PJRT_LoadedExecutable *loaded;
    PJRT_Error *error = bare_try(&bare, "beta", &loaded);
    CHECK(keel_pjrt_error_destroy(error));
    CHECK(!keel_pjrt_error_destroy(error)); // once
    bare_close(&bare);
}

static void test_a_stored_program_is_refused_too(void **state) {
    const door_t *door = *state;
    door_run(door, "", refuse_a_stored_program);
    assert_int_equal(count_own_loads(door), 0);
    assert_int_equal(count_lines(door->calls, "load beta"), 1); // its proof
}

static void make_and_read_errors(void) {
    PJRT_Error *errors[50];
    for (int i = 0; i < 50; ++i)
        errors[i] = keel_pjrt_error(keel_status_make(KEEL_REFUSED, "%d", i));
    for (int i = 0; i < 50; ++i) {
        keel_str_t message;
        char expected[8];
        snprintf(expected, sizeof expected, "%d", i);
        CHECK(keel_pjrt_error_message(errors[i], &message));
        CHECK(strcmp(message.data, expected) == 0);
        CHECK(keel_pjrt_error_destroy(errors[i]));
    }
}

static void *make_errors(void *unused) {
    make_and_read_errors();
    return unused;
}

static void test_threads_make_errors_at_once(void **state) {
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, make_errors, NULL), 0);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    assert_false(keel_pjrt_error_is_own(NULL));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_refused_program_is_an_error_and_reaches_neither_plugin_nor_store),
        TEST(a_program_that_is_only_reported_is_compiled_and_stored),
        TEST(a_stored_program_is_refused_too),
        TEST(threads_make_errors_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
