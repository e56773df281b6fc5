// Each allocation and each file operation of four processes that compare their programs fails once:
// no process waits for one that cannot go on, equal programs are never refused, and different ones
// stop none or have a message that says who differs.
#define _GNU_SOURCE
#include "ranks_help.h"

#include <sys/wait.h>

#include "base/fault.h"

// The first program opens the meeting place, without a fault.
static void run_with(const char *agree, const char *const programs[RANKS], keel_fault_kind_t kind,
                     uint64_t nth, rank_t *out, uint64_t *out_count) {
    pthread_t threads[RANKS];
    pthread_barrier_t between;
    keel_fault_arm(kind, 0);
    ranks_stage_t *stage = stage_make(agree);
    pthread_barrier_init(&between, NULL, RANKS + 1);
    for (uint32_t i = 0; i < RANKS; ++i) {
        out[i] =
            (rank_t){.stage = stage, .process = i, .programs = programs[i], .between = &between};
        pthread_create(&threads[i], NULL, rank_run, &out[i]);
    }
    pthread_barrier_wait(&between);
    keel_fault_arm(kind, nth);
    pthread_barrier_wait(&between);
    for (uint32_t i = 0; i < RANKS; ++i)
        pthread_join(threads[i], NULL);
    *out_count = keel_fault_count(kind);
    keel_fault_arm(kind, 0);
    pthread_barrier_destroy(&between);
    stage_remove(stage);
}

static bool is_sound(const char *message) {
    return !*message || strstr(message, "process 3 asks for a different jit_step") ||
           strcmp(message, "the processes ask for different programs") == 0 ||
           strcmp(message, "out of memory") == 0;
}

// The child of a test ends at once: the test's own end is its parent's.
static void assert_sound(bool is_sound, uint64_t nth, const char *message) {
    if (is_sound) return;
    fprintf(stderr, "operation %d: %s\n", (int)nth, message);
    _exit(1);
}

static void fail_one(const char *agree, keel_fault_kind_t kind, uint64_t nth, uint64_t *out_count) {
    static const char *const same[RANKS] = {"zab", "zab", "zab", "zab"};
    static const char *const drift[RANKS] = {"zab", "zab", "zab", "zac"};
    rank_t ranks[RANKS];
    run_with(agree, same, kind, nth, ranks, out_count);
    for (uint32_t i = 0; i < RANKS; ++i)
        for (size_t j = 0; j < 3; ++j)
            assert_sound(!*ranks[i].messages[j], nth, ranks[i].messages[j]);
    run_with(agree, drift, kind, nth, ranks, out_count);
    for (uint32_t i = 0; i < RANKS; ++i) {
        assert_sound(!*ranks[i].messages[1], nth, ranks[i].messages[1]);
        assert_sound(is_sound(ranks[i].messages[2]), nth, ranks[i].messages[2]);
    }
}

// They wait for most of the time, so many do it at once, each in a process of its own.
static void fail_each(const char *agree, keel_fault_kind_t kind) {
    enum { AT_ONCE = 8 };
    pid_t children[AT_ONCE];
    for (unsigned i = 0; i < AT_ONCE; ++i) {
        uint64_t count = 0;
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i]) continue;
        for (uint64_t nth = i + 1; nth == i + 1 || nth <= count; nth += AT_ONCE)
            fail_one(agree, kind, nth, &count);
        exit(0);
    }
    for (unsigned i = 0; i < AT_ONCE; ++i) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
}

static void test_each_allocation_fails_once(void **state) {
    (void)state;
    fail_each("folder", KEEL_FAULT_ALLOC);
    fail_each("client", KEEL_FAULT_ALLOC);
}

static void test_each_file_operation_fails_once(void **state) {
    (void)state;
    fail_each("folder", KEEL_FAULT_FILE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails_once),
        cmocka_unit_test(test_each_file_operation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
