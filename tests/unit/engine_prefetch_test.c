// What a script asked for last time is loaded before it asks again: what is handed out, what is
// not, and that a useless prefetch goes unnoticed.
#define _GNU_SOURCE
#include <pthread.h>

#include "door_help.h"
#include "fork_at_rest.h"

// What the next process does: waits until so many loads have begun, then asks for these.
static struct {
    unsigned loads;
    const char *programs[16];
} process;

#define process_asks(loads_, ...)                                                                  \
    do {                                                                                           \
        process.loads = (loads_);                                                                  \
        const char *programs_[16] = {__VA_ARGS__};                                                 \
        memcpy(process.programs, programs_, sizeof programs_);                                     \
    } while (0)

static void nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

// An unload is not a load.
static unsigned count_calls(const door_t *door, const char *call) {
    unsigned count = 0;
    char line[256];
    FILE *file = fopen(door->calls, "r");
    while (file && fgets(line, sizeof line, file))
        count += strncmp(line, call, strlen(call)) == 0;
    if (file) fclose(file);
    return count;
}

static void wait_for_calls(const door_t *door, const char *call, unsigned count) {
    for (int i = 0; i < 60000 && count_calls(door, call) < count; ++i)
        nap();
    CHECK(count_calls(door, call) >= count);
}

static void ask(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded[16] = {0};
    wait_for_calls(door, "load ", process.loads);
    for (int i = 0; process.programs[i]; ++i)
        loaded[i] = door_compile(api, client, process.programs[i]);
    for (int i = 0; loaded[i]; ++i) {
        CHECK(door_serializes_alive(api, client, loaded[i]));
        door_execute(api, loaded[i]);
        door_destroy(api, loaded[i]);
    }
    door_close(api, client);
}

// Only the calls of the process that comes next.
static void forget_calls(const door_t *door) {
    unlink(door->calls);
}

static void learn(const door_t *door) {
    process_asks(0, "alpha", "beta", "gamma");
    door_run(door, "", ask);
    forget_calls(door);
}

static unsigned count_ahead(const door_t *door) {
    return count_events(door, "\"event\":\"load\"", "\"ahead_seconds\":");
}

static bool told(const door_t *door, unsigned planned, unsigned loaded, unsigned used) {
    char text[100];
    snprintf(text, sizeof text, "\"planned\":%u,\"loaded\":%u,\"used\":%u,", planned, loaded, used);
    return count_events(door, "\"event\":\"prefetch\"", text) > 0;
}

static unsigned count_plans(const door_t *door) {
    return count_files(&door->place, "plans", ".plan");
}

// ---- what is asked for again -------------------------------------------------------------------

static void test_what_was_asked_for_last_time_is_there_when_it_is_asked_for(void **state) {
    const door_t *door = *state;
    learn(door);
    assert_int_equal(count_plans(door), 1);
    process_asks(3, "alpha", "beta", "gamma");
    door_run(door, "", ask);
    assert_int_equal(count_calls(door, "compile "), 0);
    // One for each, and one by door_serializes_alive.
    assert_int_equal(count_calls(door, "load "), 6);
    assert_int_equal(count_calls(door, "unload "), 6);
    assert_int_equal(count_ahead(door), 3);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"tier\":\"disk\""), 3);
    assert_true(told(door, 3, 3, 3));
    assert_int_equal(count_lines(door->errors, ""),
                     count_lines(door->errors, "keyed by its bytes"));
}

static void ask_as_a_module(const door_t *door) {
    (void)door;
    execl("/proc/self/exe", "python3", "-m", "pkg.train", (char *)NULL);
    CHECK(false);
}

static void test_a_plan_is_called_after_what_the_interpreter_runs(void **state) {
    const door_t *door = *state;
    char command[PATH_MAX];
    door_run(door, "", ask_as_a_module);
    assert_int_equal(count_plans(door), 1);
    snprintf(command, sizeof command, "test -f %s/plans/pkg.train-*.plan", door->place.cache);
    assert_int_equal(system(command), 0);
}

static void test_in_another_order_too(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "gamma", "alpha", "beta");
    door_run(door, "", ask);
    assert_int_equal(count_ahead(door), 3);
    // From now on that order is the plan.
    forget_calls(door);
    process_asks(1, "gamma");
    door_run(door, "TEST_PLUGIN=load_ms=50", ask);
    FILE *file = fopen(door->calls, "r");
    char line[256] = "";
    while (file && fgets(line, sizeof line, file) && strncmp(line, "load ", 5))
        continue;
    if (file) fclose(file);
    assert_string_equal(line, "load gamma\n");
}

static void test_who_asks_while_it_is_being_loaded_waits_for_it(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(1, "alpha");
    door_run(door, "TEST_PLUGIN=load_ms=200", ask);
    assert_int_equal(count_calls(door, "load alpha"), 2);
    assert_int_equal(count_ahead(door), 1);
}

static void test_who_asks_before_its_turn_has_come_loads_it_beside(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(1, "gamma", "alpha");
    door_run(door, "TEST_PLUGIN=load_ms=2000 load_ms_of=alpha", ask);
    assert_int_equal(count_calls(door, "load gamma"), 2);
    assert_int_equal(count_own_loads(door), 2);
    assert_int_equal(count_ahead(door), 1);
    assert_int_equal(count_calls(door, "compile "), 0);
}

static void test_an_executable_is_handed_out_once(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "alpha", "alpha", "alpha");
    door_run(door, "", ask);
    assert_int_equal(count_ahead(door), 1);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"tier\":\"memory\""), 2);
}

static void *ask_alpha(void *context) {
    PJRT_Client *client = context;
    const PJRT_Api *api = keel_shim_api();
    const char *const programs[] = {"alpha", "beta", "gamma"};
    for (int i = 0; i < 30; ++i)
        door_destroy(api, door_compile(api, client, programs[i % 3]));
    return NULL;
}

static void ask_from_threads(const door_t *door) {
    (void)door;
    enum { THREADS = 8 };
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i)
        CHECK(!pthread_create(&threads[i], NULL, ask_alpha, client));
    for (int i = 0; i < THREADS; ++i)
        CHECK(!pthread_join(threads[i], NULL));
    door_close(api, client);
}

static void test_eight_threads_ask_while_it_loads(void **state) {
    const door_t *door = *state;
    learn(door);
    for (int i = 0; i < 5; ++i)
        door_run(door, "TEST_PLUGIN=load_ms=3", ask_from_threads);
    assert_int_equal(count_calls(door, "compile "), 0);
    assert_int_equal(count_own_loads(door), 5 * 8 * 30);
    assert_int_equal(count_calls(door, "load "), count_calls(door, "unload "));
}

// ---- what is not -------------------------------------------------------------------------------

static void test_what_nobody_asks_for_is_destroyed_before_the_client(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "beta");
    door_run(door, "", ask);
    assert_int_equal(count_calls(door, "load "), 4);
    assert_int_equal(count_calls(door, "unload "), 4);
    assert_true(told(door, 3, 3, 1));
}

static void leave(const door_t *door) {
    door_client(keel_shim_api());
    wait_for_calls(door, "load ", process.loads);
}

static void test_a_process_may_end_while_it_loads(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(2, NULL);
    door_run(door, "TEST_PLUGIN=load_ms=3000 load_ms_of=beta", leave);
    assert_int_equal(count_calls(door, "load "), 2);
    assert_int_equal(count_calls(door, "unload "), 2);
    // It asked for nothing, so the plan is as it was.
    forget_calls(door);
    process_asks(3, "alpha", "beta", "gamma");
    door_run(door, "", ask);
    assert_int_equal(count_ahead(door), 3);
}

static void ask_and_stay(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    wait_for_calls(door, "load ", process.loads);
    for (int i = 0; process.programs[i]; ++i)
        door_destroy(api, door_compile(api, client, process.programs[i]));
    wait_for_calls(door, "unload ", process.loads);
    door_close(api, client);
}

static void test_a_run_that_is_another_one_is_not_loaded_for(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "one", "two", "three", "four", "five");
    door_run(door, "", ask_and_stay);
    assert_true(told(door, 3, 3, 0));
    // The plan is now of that one.
    forget_calls(door);
    process_asks(5, "one", "two", "three", "four", "five");
    door_run(door, "", ask);
    assert_int_equal(count_ahead(door), 5);
}

// It asks for the same programs as the last, so its own plan is no news.
static void ask_and_lose_the_plan(const door_t *door) {
    char command[700];
    ask(door);
    snprintf(command, sizeof command, "rm %s/plans/*.plan", door->place.cache);
    CHECK(system(command) == 0);
}

static void test_a_plan_that_was_removed_meanwhile_is_written_anew(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "alpha", "beta", "gamma");
    door_run(door, "", ask_and_lose_the_plan);
    assert_int_equal(count_plans(door), 1);
}

static void test_a_run_that_has_some_programs_more_is(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "one", "alpha", "two", "beta", "three", "four", "gamma");
    door_run(door, "", ask);
    assert_true(told(door, 3, 3, 3));
}

// Leaves time in which what is given up is destroyed before the next program is asked for.
static void ask_slowly(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    wait_for_calls(door, "load ", process.loads);
    for (int i = 0; process.programs[i]; ++i) {
        door_destroy(api, door_compile(api, client, process.programs[i]));
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    door_close(api, client);
}

// Four programs that were not planned are as many as each run may have, and one more for each that
// was.
static void test_a_run_is_another_one_at_the_fifth_program_more_than_it_shares(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "one", "two", "three", "four", "alpha", "five", "beta", "six", "gamma");
    door_run(door, "", ask_slowly);
    assert_true(told(door, 3, 3, 3));
}

static void ask_and_wait_for_two_to_go(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded[16];
    int count = 0;
    wait_for_calls(door, "load ", process.loads);
    for (; process.programs[count]; ++count)
        loaded[count] = door_compile(api, client, process.programs[count]);
    wait_for_calls(door, "unload ", 2); // those that nobody took
    for (int i = 0; i < count; ++i)
        door_destroy(api, loaded[i]);
    door_close(api, client);
}

static void test_a_run_that_shares_one_program_is_another_one_at_the_sixth(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "alpha", "one", "two", "three", "four", "five", "six");
    door_run(door, "KEEL_MODE=readonly", ask_and_wait_for_two_to_go);
    assert_true(told(door, 3, 3, 1));
}

static unsigned planned_of(const door_t *door) {
    forget_calls(door);
    process_asks(1, "alpha");
    door_run(door, "KEEL_MODE=readonly\nKEEL_RUN_ID=planned", ask);
    for (unsigned planned = 0; planned < 10; ++planned) {
        char text[64];
        snprintf(text, sizeof text, "\"planned\":%u,", planned);
        if (count_events(door, "\"event\":\"prefetch\"", text)) return planned;
    }
    return 99;
}

static void test_the_plan_of_a_run_that_ended_is_what_that_run_asked_for(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "alpha", "beta");
    door_run(door, "", ask);
    char command[700];
    snprintf(command, sizeof command, "rm -r %s", door->runs);
    assert_int_equal(system(command), 0);
    assert_int_equal(planned_of(door), 2);
}

// tests/unit/door.cmake puts this in the way, so that nobody has to wait for five minutes.
int __real_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                  const struct timespec *until);
static bool hurries;

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                  const struct timespec *until) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    // Waits are timed by this clock: by the wall clock, this would be decades ahead.
    CHECK(until->tv_sec < now.tv_sec + 100000);
    now.tv_sec += 100;
    bool is_long = until->tv_sec > now.tv_sec && until->tv_sec < now.tv_sec + 1000;
    now.tv_sec -= 100;
    return __real_pthread_cond_timedwait(condition, lock, hurries && is_long ? &now : until);
}

static void ask_late(const door_t *door) {
    hurries = true;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    wait_for_calls(door, "unload ", 3);
    for (int i = 0; process.programs[i]; ++i)
        door_destroy(api, door_compile(api, client, process.programs[i]));
    door_close(api, client);
}

static void test_what_waits_too_long_is_released(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "alpha", "beta");
    door_run(door, "", ask_late);
    assert_true(told(door, 3, 3, 0));
    assert_int_equal(count_calls(door, "compile "), 0);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"tier\":\"disk\""), 2);
}

// ---- where nothing is loaded ahead -------------------------------------------------------------

static void test_a_plan_makes_no_keys_of_another_backend(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(0, "alpha");
    door_run(door, "XLA_FLAGS=--xla_cpu_max_isa=AVX2", ask);
    assert_int_equal(count_events(door, "\"event\":\"prefetch\"", ""), 0);
    assert_int_equal(count_calls(door, "compile alpha"), 1);
    forget_calls(door);
    process_asks(1, "alpha");
    door_run(door, "XLA_FLAGS=--xla_cpu_max_isa=AVX2", ask);
    assert_int_equal(count_ahead(door), 1);
}

static void test_settings_that_leave_no_room_for_it(void **state) {
    static const struct {
        const char *settings;
        unsigned loads;
    } rows[] = {
        {"KEEL_PREFETCH=off", 3},
        {"KEEL_MEMORY_LIMIT=0", 3},
        {"KEEL_MODE=refresh", 0},
        {"TEST_PLUGIN=processes=2", 0},
    };
    const door_t *door = *state;
    learn(door);
    process_asks(0, "alpha", "beta", "gamma");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        unsigned before = count_own_loads(door);
        door_run(door, rows[i].settings, ask);
        assert_int_equal(count_own_loads(door) - before, rows[i].loads);
        assert_int_equal(count_events(door, "\"event\":\"prefetch\"", ""), 0);
    }
}

static void test_nothing_is_planned_where_it_is_off(void **state) {
    const door_t *door = *state;
    process_asks(0, "alpha");
    door_run(door, "KEEL_PREFETCH=off", ask);
    door_run(door, "KEEL_MODE=readonly", ask);
    assert_int_equal(count_plans(door), 0);
}

static void test_readonly_loads_ahead_and_writes_nothing(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "beta", "one");
    door_run(door, "KEEL_MODE=readonly", ask);
    assert_true(told(door, 3, 3, 1));
    forget_calls(door);
    process_asks(3, "alpha", "beta", "gamma");
    door_run(door, "", ask);
    assert_true(told(door, 3, 3, 3));
}

static void test_no_more_is_held_than_the_limit(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(1, "alpha", "beta", "gamma");
    door_run(door, "KEEL_MEMORY_LIMIT=1", ask);
    assert_int_equal(count_calls(door, "compile "), 0);
    assert_int_equal(count_own_loads(door), 3);
    forget_calls(door);
    process_asks(1, NULL);
    door_run(door, "KEEL_MEMORY_LIMIT=1", leave);
    assert_int_equal(count_calls(door, "load "), 1);
    assert_true(told(door, 3, 1, 0));
}

// ---- what fails --------------------------------------------------------------------------------

// As a program does whose custom call's target is registered after the client was made.
static void test_what_does_not_load_yet_is_loaded_when_it_is_asked_for(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "alpha", "beta", "gamma");
    door_run(door, "TEST_PLUGIN=load_fails_first=alpha", ask);
    assert_int_equal(count_calls(door, "compile "), 0);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"tier\":\"disk\""), 3);
    assert_true(told(door, 3, 2, 2));
    assert_int_equal(count_events(door, "\"event\":\"store_error\"", ""), 0);
    assert_int_equal(count_entries(door), 3);
}

static void ask_alpha_in_vain(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    wait_for_calls(door, "load ", 3);
    door_destroy(api, door_compile(api, client, "alpha"));
    door_close(api, client);
}

static void test_who_asks_for_what_did_not_load_is_told_so_once(void **state) {
    const door_t *door = *state;
    learn(door);
    door_run(door, "TEST_PLUGIN=load_fails=alpha", ask_alpha_in_vain);
    assert_int_equal(count_calls(door, "compile alpha"), 1);
    assert_int_equal(count_events(door, "\"event\":\"miss\"", "\"reason\":\"damaged\""), 1);
    assert_int_equal(count_lines(door->errors, "does not load and is compiled again"), 1);
}

static void test_who_asks_for_what_is_damaged_is_told_so_once(void **state) {
    const door_t *door = *state;
    learn(door);
    char command[700];
    snprintf(command, sizeof command, "for f in %s/entries/*/*.keel; do echo rubbish > $f; done",
             door->place.cache);
    assert_int_equal(system(command), 0);
    process_asks(0, "alpha", "beta", "gamma");
    door_run(door, "", ask);
    assert_int_equal(count_calls(door, "compile "), 3);
    assert_int_equal(count_events(door, "\"event\":\"store_error\"", "\"what\":\"get\""), 3);
    assert_int_equal(count_events(door, "\"event\":\"miss\"", "\"reason\":\"damaged\""), 3);
}

static void test_a_plan_that_is_damaged_costs_nothing_but_itself(void **state) {
    const door_t *door = *state;
    learn(door);
    char command[700];
    snprintf(command, sizeof command, "for f in %s/plans/*.plan; do echo rubbish > $f; done",
             door->place.cache);
    assert_int_equal(system(command), 0);
    process_asks(0, "alpha", "beta", "gamma");
    door_run(door, "", ask);
    assert_int_equal(count_events(door, "\"event\":\"store_error\"", "\"what\":\"plan\""), 1);
    assert_int_equal(count_calls(door, "compile "), 0);
    forget_calls(door);
    process_asks(3, "alpha", "beta", "gamma");
    door_run(door, "", ask);
    assert_true(told(door, 3, 3, 3));
}

static void test_entries_that_are_gone_are_no_failure(void **state) {
    const door_t *door = *state;
    learn(door);
    char command[700];
    snprintf(command, sizeof command, "rm -r %s/entries", door->place.cache);
    assert_int_equal(system(command), 0);
    process_asks(0, "alpha", "beta", "gamma");
    door_run(door, "", ask);
    assert_int_equal(count_calls(door, "compile "), 3);
    assert_int_equal(count_events(door, "\"event\":\"store_error\"", ""), 0);
    assert_int_equal(count_events(door, "\"event\":\"miss\"", "\"reason\":\"absent\""), 6);
}

static void test_a_load_ahead_that_kills_the_process_is_not_tried_forever(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(1, NULL);
    door_run_expecting(door, "TEST_PLUGIN=load_aborts=alpha", leave, 128 + SIGABRT);
    process_asks(0, "alpha", "beta", "gamma");
    door_run_expecting(door, "TEST_PLUGIN=load_aborts=alpha", ask, 128 + SIGABRT);
    assert_int_equal(count_lines(door->errors, "crashed an earlier process"), 0);
    process_asks(0, "beta", "gamma");
    door_run(door, "TEST_PLUGIN=load_aborts=alpha", ask);
    assert_int_equal(count_lines(door->errors, "crashed an earlier process"), 1);
    assert_int_equal(count_entries(door), 2);
}

static void leave_at_once(const door_t *door) {
    leave(door);
    _exit(0);
}

// So end the workers of a pool, whatever their threads are doing.
static void test_a_process_that_ends_at_once_while_it_loads_accuses_no_program(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(1, NULL);
    for (int i = 0; i < 3; ++i)
        door_run(door, "TEST_PLUGIN=load_ms=60000", leave_at_once);
    // It might have been a crash: nothing is loaded ahead until it was asked for again.
    assert_int_equal(count_calls(door, "load "), 1);
    process_asks(0, "alpha", "beta", "gamma");
    door_run(door, "", ask);
    assert_int_equal(count_calls(door, "compile "), 0);
    assert_int_equal(count_entries(door), 3);
    assert_int_equal(count_files(&door->place, "quarantine", ""), 0);
    assert_int_equal(count_lines(door->errors, "crashed an earlier process"), 0);
    assert_int_equal(count_events(door, "\"event\":\"store_error\"", ""), 0);
    forget_calls(door);
    process_asks(3, "alpha", "beta", "gamma");
    door_run(door, "", ask);
    assert_true(told(door, 3, 3, 3));
}

static void ask_until_killed(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    wait_for_calls(door, "load ", process.loads);
    for (int i = 0; process.programs[i]; ++i)
        door_compile(api, client, process.programs[i]);
    for (;;)
        pause();
}

static bool plan_has_lines(const door_t *door, unsigned lines) {
    char command[700];
    snprintf(command, sizeof command, "test $(cat %s/plans/*.plan | wc -l) -eq %u",
             door->place.cache, lines + 1);
    return system(command) == 0;
}

static void test_a_run_that_is_killed_leaves_what_it_had_not_come_to_in_the_plan(void **state) {
    const door_t *door = *state;
    learn(door);
    process_asks(3, "one", "beta");
    pid_t child = door_start(door, "", ask_until_killed);
    for (int i = 0; i < 10000 && !plan_has_lines(door, 4); ++i)
        nap();
    kill(child, SIGKILL);
    assert_int_equal(door_wait(child), 128 + SIGKILL);
    forget_calls(door);
    process_asks(4, "one", "beta", "alpha", "gamma");
    door_run(door, "", ask);
    assert_true(told(door, 4, 4, 4));
}

static void fork_while_it_loads(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    wait_for_calls(door, "load ", 1);
    pid_t child = fork_at_rest();
    if (!child) {
        door_destroy(api, door_compile(api, client, "alpha"));
        _exit(0);
    }
    CHECK(child > 0 && door_wait(child) == 0);
    door_destroy(api, door_compile(api, client, "alpha"));
    door_close(api, client);
}

static void test_a_forked_child_asks_the_plugin(void **state) {
    const door_t *door = *state;
    learn(door);
    door_run(door, "TEST_PLUGIN=load_ms=50", fork_while_it_loads);
    assert_int_equal(count_calls(door, "compile alpha"), 1);
    assert_int_equal(count_ahead(door), 1);
}

static void make_two_clients(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *first = door_client(api);
    wait_for_calls(door, "load ", 3);
    PJRT_Client *second = door_client(api);
    door_destroy(api, door_compile(api, second, "alpha"));
    door_close(api, first);
    door_destroy(api, door_compile(api, second, "beta"));
    door_close(api, second);
}

static void test_what_was_loaded_for_one_client_is_not_given_to_another(void **state) {
    const door_t *door = *state;
    learn(door);
    door_run(door, "", make_two_clients);
    assert_int_equal(count_ahead(door), 0);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"tier\":\"disk\""), 2);
    assert_true(told(door, 3, 3, 0));
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) { // see ask_as_a_module
        door_live("alpha");
        return 0;
    }
#define CASE(name) cmocka_unit_test_setup_teardown(name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_what_was_asked_for_last_time_is_there_when_it_is_asked_for),
        CASE(test_a_plan_is_called_after_what_the_interpreter_runs),
        CASE(test_in_another_order_too),
        CASE(test_who_asks_while_it_is_being_loaded_waits_for_it),
        CASE(test_who_asks_before_its_turn_has_come_loads_it_beside),
        CASE(test_an_executable_is_handed_out_once),
        CASE(test_eight_threads_ask_while_it_loads),
        CASE(test_what_nobody_asks_for_is_destroyed_before_the_client),
        CASE(test_a_process_may_end_while_it_loads),
        CASE(test_a_run_that_is_another_one_is_not_loaded_for),
        CASE(test_a_plan_that_was_removed_meanwhile_is_written_anew),
        CASE(test_a_run_that_has_some_programs_more_is),
        CASE(test_a_run_is_another_one_at_the_fifth_program_more_than_it_shares),
        CASE(test_a_run_that_shares_one_program_is_another_one_at_the_sixth),
        CASE(test_the_plan_of_a_run_that_ended_is_what_that_run_asked_for),
        CASE(test_what_waits_too_long_is_released),
        CASE(test_a_plan_makes_no_keys_of_another_backend),
        CASE(test_settings_that_leave_no_room_for_it),
        CASE(test_nothing_is_planned_where_it_is_off),
        CASE(test_readonly_loads_ahead_and_writes_nothing),
        CASE(test_no_more_is_held_than_the_limit),
        CASE(test_what_does_not_load_yet_is_loaded_when_it_is_asked_for),
        CASE(test_who_asks_for_what_did_not_load_is_told_so_once),
        CASE(test_who_asks_for_what_is_damaged_is_told_so_once),
        CASE(test_a_plan_that_is_damaged_costs_nothing_but_itself),
        CASE(test_entries_that_are_gone_are_no_failure),
        CASE(test_a_load_ahead_that_kills_the_process_is_not_tried_forever),
        CASE(test_a_process_that_ends_at_once_while_it_loads_accuses_no_program),
        CASE(test_a_run_that_is_killed_leaves_what_it_had_not_come_to_in_the_plan),
        CASE(test_a_forked_child_asks_the_plugin),
        CASE(test_what_was_loaded_for_one_client_is_not_given_to_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
