// A plugin or a disk that hangs in a thread of Keel's: no wait for that thread lasts, neither that
// of a client that asks nor that of one that is closed, nor the process's end. What the thread
// still uses is never freed.
#define _GNU_SOURCE
#include <pthread.h>

#include "door_help.h"
#include "engine/core.h"
#include "store/plan.h"

enum { SECONDS = 60 }; // a case that takes longer hangs

static void begin(void) {
    engine_patience = 0.3;
    alarm(SECONDS);
}

static void nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static void wait_for_call(const door_t *door, const char *call) {
    while (!count_lines(door->calls, call))
        nap();
}

static void compile_two(const char *one, const char *other) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    door_destroy(api, door_compile(api, client, one));
    door_destroy(api, door_compile(api, client, other));
    door_close(api, client);
}

static void compile_all(const door_t *door) {
    (void)door;
    compile_two("alpha", "beta");
}

// The next process loads alpha and beta ahead.
static void learn(const door_t *door) {
    door_run(door, "", compile_all);
    unlink(door->calls);
}

// ---- loading ahead -----------------------------------------------------------------------------

#define HANGS "TEST_PLUGIN=load_ms=100000000 load_ms_of=alpha"
#define GAVE_UP "gave up waiting for"

static void leave(const door_t *door) {
    begin();
    door_client(keel_shim_api());
    wait_for_call(door, "load alpha");
}

static void test_a_process_ends_while_a_load_ahead_hangs(void **state) {
    const door_t *door = *state;
    learn(door);
    door_run(door, HANGS, leave);
    assert_int_equal(count_lines(door->errors, GAVE_UP), 1);
    assert_int_equal(count_events(door, "\"event\":\"end\"", ""), 2);
}

static void close_twice(const door_t *door) {
    begin();
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    wait_for_call(door, "load alpha");
    door_close(api, client);
    CHECK(count_lines(door->calls, "destroy") == 0); // the thread uses it
    client = door_client(api);
    door_destroy(api, door_compile(api, client, "gamma"));
    door_close(api, client);
    CHECK(count_lines(door->calls, "destroy") == 1);
    // The thread finds its client when it wakes up.
    while (getenv("WAKES") && !count_lines(door->calls, "woke alpha"))
        nap();
}

static void test_a_client_whose_load_ahead_hangs_is_closed_and_not_destroyed(void **state) {
    const door_t *door = *state;
    learn(door);
    door_run(door, HANGS, close_twice);
    assert_int_equal(count_lines(door->errors, GAVE_UP), 1);
    assert_int_equal(count_events(door, "\"event\":\"end\"", ""), 2);
}

static void test_a_load_ahead_that_wakes_up_harms_nothing(void **state) {
    const door_t *door = *state;
    learn(door);
    door_run(door, "WAKES=1\nTEST_PLUGIN=load_ms=2000 load_ms_of=alpha", close_twice);
    assert_int_equal(count_lines(door->calls, "woke alpha"), 1);
    // Nobody knows whether the plugin is still there, so what was loaded stays.
    assert_int_equal(count_lines(door->calls, "unload alpha"), 0);
}

static void ask_twice(const door_t *door) {
    begin();
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    wait_for_call(door, "load alpha");
    for (int i = 0; i < 2; ++i)
        door_destroy(api, door_compile(api, client, "alpha"));
    door_destroy(api, door_compile(api, client, "beta"));
    CHECK(count_lines(door->calls, "compile alpha") == 2);
    CHECK(count_lines(door->calls, "compile beta") == 0);
}

static void test_a_program_whose_load_ahead_hangs_is_compiled(void **state) {
    const door_t *door = *state;
    learn(door);
    door_run(door, "KEEL_MODE=readonly\n" HANGS, ask_twice);
    assert_int_equal(count_events(door, "\"event\":\"miss\"", "\"reason\":\"late\""), 2);
    assert_int_equal(count_lines(door->errors, "it is compiled instead"), 1);
}

// tests/unit/door.cmake puts this in the way: a disk whose server is gone.
keel_status_t __real_keel_plan_read(const char *folder, const char *script, keel_plan_t *out);
keel_status_t __wrap_keel_plan_read(const char *folder, const char *script, keel_plan_t *out);
static bool disk_hangs;

keel_status_t __wrap_keel_plan_read(const char *folder, const char *script, keel_plan_t *out) {
    while (disk_hangs)
        pause();
    return __real_keel_plan_read(folder, script, out);
}

static void ask_once(const door_t *door) {
    begin();
    disk_hangs = true;
    compile_all(door);
}

static void test_a_plan_that_cannot_be_read_delays_a_client_once(void **state) {
    const door_t *door = *state;
    learn(door);
    door_run(door, "", ask_once);
    assert_int_equal(count_lines(door->calls, "compile "), 0);
    assert_int_equal(count_lines(door->calls, "destroy"), 0);
}

// ---- in the background -------------------------------------------------------------------------

static void compile_and_close(const door_t *door) {
    begin();
    compile_all(door);
    CHECK(count_lines(door->calls, "destroy") == 0);
    // What can no longer be stored is compiled all the same.
    compile_two("beta", "gamma");
    CHECK(count_lines(door->calls, "compile beta") == 2);
    while (getenv("WAKES") && !count_events(door, "\"event\":\"publish\"", ""))
        nap();
}

static void test_a_proof_that_hangs_holds_up_neither_the_client_nor_the_end(void **state) {
    const door_t *door = *state;
    door_run(door, HANGS, compile_and_close);
    assert_int_equal(count_lines(door->errors, GAVE_UP), 1);
    assert_int_equal(count_entries(door), 0);
    assert_int_equal(count_events(door, "\"event\":\"end\"", ""), 1);
}

static void test_a_proof_that_wakes_up_stores_its_program(void **state) {
    const door_t *door = *state;
    door_run(door, "WAKES=1\nTEST_PLUGIN=load_ms=2000 load_ms_of=alpha", compile_and_close);
    assert_int_equal(count_lines(door->errors, GAVE_UP), 1);
    assert_true(count_entries(door) >= 1);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_a_process_ends_while_a_load_ahead_hangs),
        CASE(test_a_client_whose_load_ahead_hangs_is_closed_and_not_destroyed),
        CASE(test_a_load_ahead_that_wakes_up_harms_nothing),
        CASE(test_a_program_whose_load_ahead_hangs_is_compiled),
        CASE(test_a_plan_that_cannot_be_read_delays_a_client_once),
        CASE(test_a_proof_that_hangs_holds_up_neither_the_client_nor_the_end),
        CASE(test_a_proof_that_wakes_up_stores_its_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
