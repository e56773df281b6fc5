// The background thread: tasks in order, and who waits for whose.
#define _GNU_SOURCE
#include "engine_help.h"

#include <semaphore.h>

#include "engine/background.h"

typedef struct work_t {
    task_t task;
    sem_t *until; // runs until this is posted; NULL: ends at once
} work_t;

static atomic_uint ran, destroyed, order;

static void work(keel_engine_t *engine, task_t *task) {
    const work_t *it = (const work_t *)task;
    (void)engine;
    if (it->until) sem_wait(it->until);
    atomic_store(&order, atomic_load(&order) * 10 + atomic_fetch_add(&ran, 1) + 1);
}

static void done(task_t *task) {
    (void)task;
    ++destroyed;
}

static work_t work_of(int client, sem_t *until) {
    return (work_t){{.client = (PJRT_Client *)(uintptr_t)client, .run = work, .destroy = done},
                    until};
}

static const PJRT_Client *client_of(int client) {
    return (const PJRT_Client *)(uintptr_t)client;
}

static void wait_for_others_too(const door_t *door) {
    (void)door;
    bare_t bare;
    sem_t until;
    CHECK(sem_init(&until, 0, 0) == 0);
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    static work_t first, second;
    first = work_of(1, &until);
    second = work_of(2, NULL);
    CHECK(!background_add(bare.engine, &first.task));
    CHECK(!background_add(bare.engine, &second.task));
    // The thread is at work for the first client, or about to be: that is nothing to the third.
    CHECK(background_drain(bare.engine, client_of(3)));
    CHECK(ran == 0);
    // What was queued before is not done in time.
    CHECK(!background_wait(bare.engine, keel_clock_monotonic() + 20000000));
    CHECK(sem_post(&until) == 0);
    CHECK(background_drain(bare.engine, client_of(2)));
    CHECK(ran == 2 && destroyed == 2);
    CHECK(background_wait(bare.engine, keel_clock_monotonic()));
}

static void test_a_client_waits_for_its_own_work_only(void **state) {
    door_run(*state, "", wait_for_others_too);
}

static void wait_for_all(const door_t *door) {
    (void)door;
    enum { TASKS = 5 };
    static work_t works[TASKS];
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    CHECK(background_drain(bare.engine, NULL)); // nothing was queued
    for (int i = 0; i < TASKS; ++i) {
        works[i] = work_of(i + 1, NULL);
        CHECK(!background_add(bare.engine, &works[i].task));
    }
    CHECK(background_drain(bare.engine, NULL));
    CHECK(ran == TASKS && destroyed == TASKS && order == 12345);
}

static void test_without_a_client_all_work_is_waited_for_in_order(void **state) {
    door_run(*state, "", wait_for_all);
}

static int count_descriptors(void) {
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    CHECK(directory);
    while (readdir(directory))
        ++count;
    closedir(directory);
    return count;
}

enum { QUEUED = 300 };

static void compile_faster_than_it_stores(const door_t *door) {
    (void)door;
    bare_t bare;
    sem_t until;
    CHECK(sem_init(&until, 0, 0) == 0);
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    bare_client(&bare);
    bare_live(&bare, "first"); // what is opened once is open
    CHECK(background_drain(bare.engine, NULL));
    static work_t slow;
    slow = work_of(0, &until);
    CHECK(!background_add(bare.engine, &slow.task));
    int before = count_descriptors();
    for (int i = 0; i < QUEUED; ++i) {
        char text[32];
        snprintf(text, sizeof text, "program %d", i);
        bare_live(&bare, text);
    }
    CHECK(count_descriptors() - before <= 64);
    CHECK(sem_post(&until) == 0);
    bare_close(&bare);
}

// A process may have 1024.
static void test_programs_that_wait_to_be_stored_hold_few_descriptors(void **state) {
    const door_t *door = *state;
    door_run(door, "", compile_faster_than_it_stores);
    assert_int_equal(count_entries(door), QUEUED + 1);
}

static atomic_uint looked;

static void look(keel_engine_t *engine) {
    (void)engine;
    ++looked;
}

static void rest(keel_engine_t *engine, task_t *task) {
    (void)engine;
    (void)task;
    nanosleep(&(struct timespec){.tv_sec = 2, .tv_nsec = 100000000}, NULL);
}

static void expect_looked(keel_engine_t *engine, task_t *task) {
    (void)engine;
    (void)task;
    CHECK(looked == 1);
}

static void look_between_tasks(const door_t *door) {
    (void)door;
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    background_destroy(bare.engine->background);
    CHECK(!background_create(bare.engine, look));
    static work_t first, second;
    first = work_of(1, NULL);
    first.task.run = rest;
    second = work_of(2, NULL);
    second.task.run = expect_looked;
    CHECK(!background_add(bare.engine, &first.task));
    CHECK(!background_add(bare.engine, &second.task));
    CHECK(background_drain(bare.engine, NULL));
    CHECK(destroyed == 2 && looked == 1);
}

static void test_it_looks_around_between_tasks_that_leave_no_pause(void **state) {
    door_run(*state, "", look_between_tasks);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_client_waits_for_its_own_work_only),
        TEST(without_a_client_all_work_is_waited_for_in_order),
        TEST(programs_that_wait_to_be_stored_hold_few_descriptors),
        TEST(it_looks_around_between_tasks_that_leave_no_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
