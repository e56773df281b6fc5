// The way of a program with each of Keel's allocations and file operations failing in turn, and
// with the process killed at each file operation: the client always gets its executable, and the
// next process is always right.
#define _GNU_SOURCE
#include "unit/engine_help.h"

// What a child answers when it did not get as far as the armed operation.
enum { NOT_REACHED = 3, MOST = 5000 };

typedef struct armed_t {
    keel_fault_kind_t kind;
    uint64_t nth;
    bool kill, from_the_start;
} armed_t;

static armed_t armed;
static keel_bytes_t program;

static int load_program(void **state) {
    (void)state;
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(KEEL_TEST_SAMPLES "/mlir/nested_jit.mlir", 1 << 24, &data, &size));
    program = keel_bytes(data, size);
    return 0;
}

static int free_program(void **state) {
    (void)state;
    keel_free((void *)(uintptr_t)program.data);
    return 0;
}

static void arm(void) {
    keel_fault_kill(armed.kill);
    keel_fault_arm(armed.kind, armed.nth);
}

static void use(const PJRT_Api *api, PJRT_Client *client) {
    PJRT_LoadedExecutable *loaded;
    NO_ERROR(api, door_compile_bytes(api, client, "mlir", program, &loaded));
    CHECK(door_is(api, loaded, program));
    door_execute(api, loaded);
    CHECK(door_serializes_alive(api, client, loaded));
    door_destroy(api, loaded);
    door_close(api, client);
}

static void live_through_a_fault(const door_t *door) {
    (void)door;
    if (armed.from_the_start) arm();
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    PJRT_Error *error = api->PJRT_Client_Create(&create);
    if (error) {
        // Only at the very start, and then said as well as can be.
        char text[1024];
        CHECK(armed.from_the_start && keel_pjrt_error_is_own(error));
        door_message(api, error, text);
        CHECK(strncmp(text, "keel: ", 6) == 0 || strstr(text, "memory"));
        door_drop(api, error);
        return;
    }
    if (!armed.from_the_start) arm();
    use(api, create.client);
    if (keel_fault_count(armed.kind) < armed.nth) _exit(NOT_REACHED);
}

static void live_in_peace(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    use(api, door_client(api));
}

static void start_afresh(door_t *door) {
    place_remove(&door->place);
    assert_int_equal(mkdir(door->place.root, 0700), 0);
}

static unsigned count_compiles(const door_t *door) {
    return count_lines(door->calls, "compile ");
}

// Whatever happened: this process is right, and the next one loads.
static void check_aftermath(const door_t *door) {
    door_run(door, "", live_in_peace);
    unsigned compiles = count_compiles(door);
    door_run(door, "", live_in_peace);
    if (count_compiles(door) != compiles) door_show(door->errors);
    assert_int_equal(count_compiles(door), compiles);
    assert_int_equal(count_entries(door), 1);
}

static void fail_each(door_t *door, armed_t first, bool warm) {
    int status = 0;
    armed = first;
    for (armed.nth = 1; armed.nth <= MOST; ++armed.nth) {
        start_afresh(door);
        if (warm) door_run(door, "", live_in_peace);
        status = door_wait(door_start(door, "", live_through_a_fault));
        if (status == NOT_REACHED) break;
        if (status != (armed.kill ? 128 + SIGKILL : 0)) {
            print_message("operation %d\n", (int)armed.nth);
            door_show(door->errors);
        }
        assert_int_equal(status, armed.kill ? 128 + SIGKILL : 0);
        // An allocation leaves no trace that a later process could meet, but for the files'.
        if (armed.kind == KEEL_FAULT_FILE || armed.nth % 16 == 0) check_aftermath(door);
    }
    assert_int_equal(status, NOT_REACHED);
    assert_true(armed.nth > 10);
}

static void test_each_failing_allocation_of_a_cold_compile_leaves_the_client_served(void **state) {
    fail_each(*state, (armed_t){.kind = KEEL_FAULT_ALLOC}, false);
}

static void test_each_failing_allocation_of_a_warm_load_leaves_the_client_served(void **state) {
    fail_each(*state, (armed_t){.kind = KEEL_FAULT_ALLOC}, true);
}

static void test_each_failing_allocation_at_the_start_is_refused_or_survived(void **state) {
    fail_each(*state, (armed_t){.kind = KEEL_FAULT_ALLOC, .from_the_start = true}, true);
}

static void test_each_failing_file_operation_of_a_cold_run_leaves_the_client_served(void **state) {
    fail_each(*state, (armed_t){.kind = KEEL_FAULT_FILE, .from_the_start = true}, false);
}

static void test_each_failing_file_operation_of_a_warm_run_leaves_the_client_served(void **state) {
    fail_each(*state, (armed_t){.kind = KEEL_FAULT_FILE, .from_the_start = true}, true);
}

static void test_killed_at_each_file_operation_of_a_cold_run_the_next_is_right(void **state) {
    fail_each(*state, (armed_t){.kind = KEEL_FAULT_FILE, .kill = true, .from_the_start = true},
              false);
}

static void test_killed_at_each_file_operation_of_a_warm_run_the_next_is_right(void **state) {
    fail_each(*state, (armed_t){.kind = KEEL_FAULT_FILE, .kill = true, .from_the_start = true},
              true);
}

// An engine that is made in spite of the fault stays, as engines do.
static void fail_to_create(const door_t *door) {
    (void)door;
    bare_t first; // what is allocated once a process
    bare_engine(&first, KEEL_TEST_PLUGIN);
    keel_memory_watch(1);
    uint64_t failures = 0;
    for (uint64_t n = 1, seen = 1; seen >= n - 1; ++n) {
        keel_settings_t settings = {0};
        keel_engine_t *engine;
        size_t before = keel_memory_in_use();
        CHECK(!keel_settings_load(NULL, &settings));
        keel_fault_arm(KEEL_FAULT_ALLOC, n);
        keel_status_t status = keel_engine_create(&settings, &first.plugin, true, &engine);
        seen = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        if (!status) continue;
        ++failures;
        keel_status_ignore(status);
        if (keel_memory_in_use() != before) fprintf(stderr, "allocation %d\n", (int)n);
        CHECK(keel_memory_in_use() == before);
    }
    keel_memory_watch(0);
    CHECK(failures > 20);
}

static void test_an_engine_that_cannot_be_made_leaves_no_memory_behind(void **state) {
    door_run(*state, "", fail_to_create);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_engine_that_cannot_be_made_leaves_no_memory_behind),
        TEST(each_failing_allocation_of_a_cold_compile_leaves_the_client_served),
        TEST(each_failing_allocation_of_a_warm_load_leaves_the_client_served),
        TEST(each_failing_allocation_at_the_start_is_refused_or_survived),
        TEST(each_failing_file_operation_of_a_cold_run_leaves_the_client_served),
        TEST(each_failing_file_operation_of_a_warm_run_leaves_the_client_served),
        TEST(killed_at_each_file_operation_of_a_cold_run_the_next_is_right),
        TEST(killed_at_each_file_operation_of_a_warm_run_the_next_is_right),
    };
    return cmocka_run_group_tests(tests, load_program, free_program);
}
