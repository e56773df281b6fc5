// Each allocation and each file operation fails once while a process of a rehearsal exchanges
// values with another. In that execution and in the next one the value is right or unknown, never
// that of another execution, and nothing is left behind. Each time in a process of its own:
// executions are counted.
#define _GNU_SOURCE
#include "meeting_help.h"

#include <sys/wait.h>

enum { NOT_REACHED = 10, REACHED, MOST = 2000 };

static bool is_out_of_memory(PJRT_Error *error) {
    if (!error) return false;
    assert_int_equal(door_code(api, error), PJRT_Error_Code_RESOURCE_EXHAUSTED);
    door_drop(api, error);
    return true;
}

// The rows of the second process are `factor` times as large, so the value differs in each
// execution.
static bool read_back(PJRT_Buffer *result, float factor) {
    float got[16] = {0}, wanted[16];
    PJRT_Buffer_ToHostBuffer_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_ToHostBuffer), .src = result,
                                          .dst = got, .dst_size = sizeof got};
    if (is_out_of_memory(api->PJRT_Buffer_ToHostBuffer(&args))) return false;
    door_await(api, args.event);
    for (int i = 0; i < 16; ++i)
        wanted[i] = a_rows[i / 8][i % 8] * (i < 8 ? 1 : factor) - b_rows[i % 8];
    bool is_right = memcmp(got, wanted, sizeof got) == 0;
    assert_true(is_right || memcmp(got, nothing, sizeof got) == 0);
    return is_right;
}

// Executes it for the `number`-th time, and adds 1. An execution that failed does not count.
static bool execute_and_read(PJRT_Buffer *const parts[2], int *number) {
    PJRT_Buffer *result;
    if (is_out_of_memory(try_execute(apart, parts, 2, &result))) return false;
    bool is_right = read_back(result, (float)(*number)++);
    door_drop_buffer(api, result);
    return is_right;
}

// The second process counts its executions by itself, and nothing fails there.
static void give_three(void) {
    char path[600];
    name_file(1, path);
    for (char number = '1'; number <= '3'; ++number) {
        path[strlen(path) - 3] = number;
        give_all_at(path, (float)(number - '0'));
    }
}

static void execute_first(PJRT_Buffer *const parts[2]) {
    PJRT_Buffer *result;
    NO_ERROR(api, try_execute(apart, parts, 2, &result));
    give_three();
    assert_true(read_back(result, 1));
    door_drop_buffer(api, result);
}

// The exit code of the process whose n-th operation fails.
static int fail_one(keel_fault_kind_t kind, uint64_t nth) {
    PJRT_Buffer *parts[2];
    int number = 2;
    begin_meeting(NULL);
    send_parts(parts);
    uint64_t before = in_use(0);
    execute_first(parts);
    keel_fault_arm(kind, nth);
    bool is_right = execute_and_read(parts, &number);
    bool is_reached = keel_fault_count(kind) >= nth;
    keel_fault_arm(kind, 0);
    assert_true(is_right || is_reached);
    execute_and_read(parts, &number);
    assert_int_equal(in_use(0), before);
    drop_parts(parts);
    end_meeting(NULL);
    return is_reached ? REACHED : NOT_REACHED;
}

static void fail_each(keel_fault_kind_t kind, uint64_t least) {
    int code = REACHED;
    uint64_t nth = 0;
    while (code == REACHED && ++nth < MOST) {
        int result;
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) _exit(fail_one(kind, nth));
        assert_int_equal(waitpid(child, &result, 0), child);
        code = WIFEXITED(result) ? WEXITSTATUS(result) : -1;
        if (code != REACHED && code != NOT_REACHED)
            fail_msg("%llu: ended with %d", (unsigned long long)nth, result);
    }
    assert_true(nth > least && nth < MOST);
    print_message("  %llu\n", (unsigned long long)nth - 1);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    fail_each(KEEL_FAULT_ALLOC, 10);
}

static void each_file_operation_may_fail(void **state) {
    (void)state;
    fail_each(KEEL_FAULT_FILE, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(each_file_operation_may_fail),
    };
    return cmocka_run_group_tests_name("rehearse meeting faults", tests, NULL, NULL);
}
