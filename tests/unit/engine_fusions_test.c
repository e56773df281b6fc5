// Kinds of library fusions that a plugin does not know: which options are rewritten, to what, and
// which plugins get them.
#define _GNU_SOURCE
#include "door_help.h"

#include "engine/fusions.h"

// {1: 8, 3: {4: 1, 3: {1: 7, 422: [KINDS], 423: 1}, 5: 1}, 4: 0}
#define AROUND(build, debug, ...)                                                                  \
    {                                                                                              \
        0x08, 8, 0x1a, build, 0x20, 1, 0x1a, debug, 0x08, 7, __VA_ARGS__, 0xb8, 0x1a, 1, 0x28, 1,  \
            0x20, 0                                                                                \
    }
static const uint8_t all_kinds[] = AROUND(17, 11, 0xb2, 0x1a, 3, 4, 5, 3);
static const uint8_t known_kinds[] = AROUND(16, 10, 0xb2, 0x1a, 2, 4, 3);
static const uint8_t single_kind[] = AROUND(14, 8, 0xb0, 0x1a, 5);
static const uint8_t no_kind[] = AROUND(13, 7, 0x40, 0);
static const uint8_t cut[] = {0x1a, 9, 0x1a, 4, 0xb2, 0x1a, 1, 5};

#define BYTES(array) keel_bytes(array, sizeof array)

static void check_rewritten(keel_bytes_t from, keel_bytes_t to) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    assert_ok(fusions_without_unknown(from, &out));
    assert_int_equal(out.size, to.size);
    if (to.size) assert_memory_equal(out.data, to.data, to.size);
    keel_buffer_deinitialize(&out);
}

static void test_an_unknown_kind_is_left_out_and_the_rest_stays(void **state) {
    (void)state;
    static const uint8_t without[] = {0x08, 8,    0x1a, 11, 0x20, 1, 0x1a, 5, 0x08,
                                      7,    0xb8, 0x1a, 1,  0x28, 1, 0x20, 0};
    check_rewritten(BYTES(all_kinds), BYTES(known_kinds));
    check_rewritten(BYTES(single_kind), BYTES(without));
}

static void test_options_without_one_or_that_cannot_be_read_stay(void **state) {
    (void)state;
    check_rewritten(BYTES(known_kinds), keel_bytes(NULL, 0));
    check_rewritten(BYTES(no_kind), keel_bytes(NULL, 0));
    check_rewritten(BYTES(cut), keel_bytes(NULL, 0));
}

static void compile_one(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_Program sent = {.struct_size = PJRT_Program_STRUCT_SIZE,
                         .code = (char *)(uintptr_t) "not read",
                         .code_size = 8,
                         .format = "hlo",
                         .format_size = 3};
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = client,
                                     .program = &sent,
                                     .compile_options = (const char *)all_kinds,
                                     .compile_options_size = sizeof all_kinds};
    NO_ERROR(api, api->PJRT_Client_Compile(&args));
    CHECK(args.compile_options == (const char *)all_kinds);
    CHECK(args.compile_options_size == sizeof all_kinds);
    door_destroy(api, args.executable);
    door_close(api, client);
}

static unsigned compiles_with(const door_t *door, size_t size) {
    char line[64];
    snprintf(line, sizeof line, "options %zu", size);
    return count_lines(door->calls, line);
}

static void test_only_an_older_cpu_plugin_gets_other_options(void **state) {
    static const char *const plugins[] = {"TEST_PLUGIN=platform=cpu minor=106",
                                          "TEST_PLUGIN=platform=tpu"};
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=platform=cpu", compile_one);
    assert_int_equal(compiles_with(door, sizeof known_kinds), 1);
    assert_int_equal(compiles_with(door, sizeof all_kinds), 0);
    for (unsigned i = 0; i < 2; ++i)
        door_run(door, plugins[i], compile_one);
    assert_int_equal(compiles_with(door, sizeof known_kinds), 1);
    assert_true(compiles_with(door, sizeof all_kinds) >= 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test(test_##name)
    const struct CMUnitTest tests[] = {
        TEST(an_unknown_kind_is_left_out_and_the_rest_stays),
        TEST(options_without_one_or_that_cannot_be_read_stay),
        cmocka_unit_test_setup_teardown(test_only_an_older_cpu_plugin_gets_other_options,
                                        door_setup, door_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
