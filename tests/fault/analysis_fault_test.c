// A run is analyzed with each allocation and each file operation failing in turn, and with the
// process killed at each file operation: the status is clean, a file is complete or missing, and
// the next analysis gives the same answers as if nothing had happened.
#define _GNU_SOURCE
#include "unit/door_help.h"

#include "analysis/analysis.h"

typedef struct stage_t {
    door_t *door;
    uint8_t *answers; // as they should be
    size_t size;
} stage_t;

static void put_number(keel_bytes_t code, float old, float number) {
    uint8_t *at = memmem(code.data, code.size, &old, sizeof old);
    CHECK(at);
    memcpy(at, &number, sizeof number);
}

// Three programs of one function.
static void compile_variants(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    for (int i = 0; i < 3; ++i) {
        uint8_t *data;
        size_t size;
        CHECK(!keel_file_read(KEEL_TEST_SAMPLES "/mlir/donate.mlir", 1 << 24, &data, &size));
        put_number(keel_bytes(data, size), 6, 100 + (float)i);
        PJRT_LoadedExecutable *loaded;
        NO_ERROR(api, door_compile_bytes(api, client, "mlir", keel_bytes(data, size), &loaded));
        door_destroy(api, loaded);
        keel_free(data);
    }
    door_close(api, client);
}

static void forget(const door_t *door) {
    char command[1200];
    snprintf(command, sizeof command, "rm -rf %s/r1/explained.ndjson %s/r1/.*.explained %s/history",
             door->runs, door->runs, door->runs);
    assert_int_equal(system(command), 0);
}

static keel_status_t read_answers(const door_t *door, uint8_t **out, size_t *out_size) {
    char path[600];
    snprintf(path, sizeof path, "%s/r1/explained.ndjson", door->runs);
    return keel_file_read(path, 1 << 24, out, out_size);
}

static int set_up(void **state) {
    stage_t *stage = calloc(1, sizeof *stage);
    door_setup((void **)&stage->door);
    door_run(stage->door, "KEEL_RUN_ID=r1", compile_variants);
    assert_ok(keel_analysis_run(stage->door->runs, "r1"));
    assert_ok(read_answers(stage->door, &stage->answers, &stage->size));
    *state = stage;
    return 0;
}

static int tear_down(void **state) {
    stage_t *stage = *state;
    keel_free(stage->answers);
    door_teardown((void **)&stage->door);
    free(stage);
    return 0;
}

static void assert_as_it_should_be(const stage_t *stage) {
    uint8_t *data;
    size_t size;
    assert_ok(read_answers(stage->door, &data, &size));
    assert_int_equal(size, stage->size);
    assert_memory_equal(data, stage->answers, size);
    keel_free(data);
}

// After a fault: answers are there as a whole, though some may tell of the fault, or not at all.
static void check_and_mend(const stage_t *stage) {
    uint8_t *data;
    size_t size;
    keel_status_t status = read_answers(stage->door, &data, &size);
    if (!status) {
        assert_non_null(memmem(data, size, "\"event\":\"covered\"", 17));
        keel_free(data);
    }
    keel_status_ignore(status);
    forget(stage->door);
    assert_ok(keel_analysis_run(stage->door->runs, "r1"));
    assert_as_it_should_be(stage);
}

static void fail_each(const stage_t *stage, keel_fault_kind_t kind) {
    for (uint64_t n = 1;; n += 1 + n / 40) {
        assert_true(n < 100000);
        forget(stage->door);
        keel_fault_arm(kind, n);
        keel_status_t status = keel_analysis_run(stage->door->runs, "r1");
        bool reached = keel_fault_count(kind) >= n;
        keel_fault_arm(kind, 0);
        if (status) assert_true(*keel_status_message(status));
        keel_status_ignore(status);
        if (!reached) break;
        check_and_mend(stage);
    }
}

static void each_allocation_that_fails_costs_answers_at_most(void **state) {
    fail_each(*state, KEEL_FAULT_ALLOC);
}

static void each_file_operation_that_fails_costs_answers_at_most(void **state) {
    fail_each(*state, KEEL_FAULT_FILE);
}

static void a_kill_at_each_file_operation_leaves_no_half_of_a_file(void **state) {
    const stage_t *stage = *state;
    for (uint64_t n = 1;; ++n) {
        assert_true(n < 10000);
        forget(stage->door);
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            keel_fault_kill(true);
            keel_fault_arm(KEEL_FAULT_FILE, n);
            keel_status_ignore(keel_analysis_run(stage->door->runs, "r1"));
            _exit(keel_fault_count(KEEL_FAULT_FILE) >= n ? 1 : 0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && !WEXITSTATUS(status)) break;
        assert_true(WIFSIGNALED(status));
        // What the killed process left behind is no hindrance, and goes.
        assert_ok(keel_analysis_run(stage->door->runs, "r1"));
        assert_as_it_should_be(stage);
        check_and_mend(stage);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(each_allocation_that_fails_costs_answers_at_most),
        TEST(each_file_operation_that_fails_costs_answers_at_most),
        TEST(a_kill_at_each_file_operation_leaves_no_half_of_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
