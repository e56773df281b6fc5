// What XLA's CPU plugins get behind the door: a number of devices, and a profiler. The plugin of
// tests/plugin stands in for one of them under its file's name, and records the options that it
// gets.
#define _GNU_SOURCE
#include "base/fault.h"
#include "door_help.h"

enum { LONGER = 72 }; // bytes: a named value of a later header

static char cpu_plugin[400];

// A copy, because the door resolves links.
static void make_cpu_plugin(const door_t *door, const char *file) {
    uint8_t *bytes;
    size_t size;
    snprintf(cpu_plugin, sizeof cpu_plugin, "%s/%s", door->place.root, file);
    assert_null(keel_file_read(KEEL_TEST_PLUGIN, 1 << 26, &bytes, &size));
    assert_null(keel_file_replace(cpu_plugin, keel_bytes(bytes, size)));
    keel_free(bytes);
}

static void run(const door_t *door, const char *more, door_body_t *body) {
    char settings[1024];
    snprintf(settings, sizeof settings,
             "KEEL_PLUGIN=%s\nTEST_PLUGIN=platform=cpu sizes=PJRT_NamedValue:56\n%s", cpu_plugin,
             more);
    unlink(door->calls);
    door_run(door, settings, body);
    assert_int_equal(count_lines(door->calls, "create"), 1);
}

static void make_client(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    door_close(api, door_client(api));
}

static void check(const door_t *door, const char *settings, door_body_t *body, const char *option) {
    run(door, settings, body);
    if (count_lines(door->calls, option) != 1) door_show(door->calls);
    assert_int_equal(count_lines(door->calls, option), 1);
    assert_int_equal(count_lines(door->calls, "cpu_device_count"), 1);
}

static void test_xlas_cpu_plugins_are_asked_for_one_device(void **state) {
    static const char *const files[] = {"xla_cpu_pjrt.so", "libpjrt_cpu.so",
                                        "pjrt_c_api_cpu_plugin.so"};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        make_cpu_plugin(*state, files[i]);
        check(*state, "", make_client, "option cpu_device_count=1");
        check(*state, "KEEL_MODE=off", make_client, "option cpu_device_count=1");
    }
    run(*state, "TEST_PLUGIN=minor=80 sizes=PJRT_NamedValue:56", make_client); // too old for it
    assert_int_equal(count_lines(((door_t *)*state)->calls, "option"), 0);
    make_cpu_plugin(*state, "other.so");
    run(*state, "KEEL_CPU_DEVICES=2", make_client);
    assert_int_equal(count_lines(((door_t *)*state)->calls, "option"), 0);
}

static void ask(const door_t *door) {
    keel_shim_ask_devices(-1);
    keel_shim_ask_devices(6);
    make_client(door);
}

static void test_what_the_program_asks_for_comes_first(void **state) {
    static const char flag[] = "XLA_FLAGS=--xla_force_host_platform_device_count=5\n"
                               "KEEL_CPU_DEVICES=3";
    make_cpu_plugin(*state, "xla_cpu_pjrt.so");
    check(*state, "KEEL_CPU_DEVICES=3", make_client, "option cpu_device_count=3");
    check(*state, flag, make_client, "option cpu_device_count=5");
    check(*state, flag, ask, "option cpu_device_count=6");
    check(*state, "XLA_FLAGS=--xla_a\nKEEL_CPU_DEVICES=2", make_client,
          "option cpu_device_count=2");
}

static void create(size_t size, const char *const names[], size_t count) {
    const PJRT_Api *api = keel_shim_api();
    char room[3 * LONGER] = {0};
    for (size_t i = 0; i < count; ++i) {
        PJRT_NamedValue value = {.struct_size = size,
                                 .name = names[i],
                                 .name_size = strlen(names[i]),
                                 .type = PJRT_NamedValue_kInt64,
                                 .int64_value = 7,
                                 .value_size = 1};
        memcpy(room + i * size, &value, sizeof value);
    }
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE,
                                    .create_options = (void *)room,
                                    .num_options = count};
    NO_ERROR(api, api->PJRT_Client_Create(&args));
    CHECK(args.create_options == (void *)room && args.num_options == count);
    door_close(api, args.client);
}

static void with_others(const door_t *door) {
    static const char *const names[] = {"alpha", "beta"};
    (void)door;
    create(PJRT_NamedValue_STRUCT_SIZE, names, 2);
}

static void of_a_later_header(const door_t *door) {
    static const char *const names[] = {"alpha", "beta"};
    (void)door;
    create(LONGER, names, 2);
}

static void with_a_number(const door_t *door) {
    static const char *const names[] = {"alpha", "cpu_device_count", "beta"};
    (void)door;
    create(PJRT_NamedValue_STRUCT_SIZE, names, 3);
}

static void test_the_clients_options_are_passed_on(void **state) {
    door_t *door = *state;
    make_cpu_plugin(door, "xla_cpu_pjrt.so");
    check(door, "", with_others, "option cpu_device_count=1");
    assert_int_equal(count_lines(door->calls, "option alpha=7"), 1);
    assert_int_equal(count_lines(door->calls, "option beta=7"), 1);
    check(door, "TEST_PLUGIN=sizes=PJRT_NamedValue:72 platform=cpu", of_a_later_header,
          "option cpu_device_count=1");
    assert_int_equal(count_lines(door->calls, "option beta=7"), 1);
    check(door, "KEEL_CPU_DEVICES=3", with_a_number, "option cpu_device_count=7");
}

static void be_the_clients(const door_t *door) {
    CHECK(keel_shim_wrap(cpu_plugin));
    make_client(door);
}

static void test_a_plugin_of_the_clients_own_keeps_its_number(void **state) {
    door_t *door = *state;
    make_cpu_plugin(door, "xla_cpu_pjrt.so");
    run(door, "KEEL_CPU_DEVICES=2\nXLA_FLAGS=--xla_force_host_platform_device_count=5",
        be_the_clients);
    assert_int_equal(count_lines(door->calls, "option"), 0);
}

static bool has_profiler(void) {
    const PJRT_Extension_Base *at = keel_shim_api()->extension_start;
    while (at && at->type != PJRT_Extension_Type_Profiler)
        at = at->next;
    return at;
}

static void profile(const door_t *door) {
    CHECK(has_profiler());
    make_client(door);
}

static void have_no_profiler(const door_t *door) {
    CHECK(!has_profiler());
    make_client(door);
}

// torch_xla crashes without one.
static void test_xlas_cpu_plugins_get_a_profiler(void **state) {
    make_cpu_plugin(*state, "xla_cpu_pjrt.so");
    run(*state, "", profile);
    run(*state, "KEEL_MODE=off", profile);
    make_cpu_plugin(*state, "other.so");
    run(*state, "", have_no_profiler);
}

#ifdef KEEL_FAULTS
static void without_memory(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    keel_fault_arm(KEEL_FAULT_ALLOC, 1);
    PJRT_Error *error = api->PJRT_Client_Create(&args);
    keel_fault_arm(KEEL_FAULT_ALLOC, 0);
    CHECK(error && door_code(api, error) == PJRT_Error_Code_RESOURCE_EXHAUSTED);
    CHECK(!args.create_options && !args.num_options);
    door_drop(api, error);
    door_close(api, door_client(api));
}

static void test_without_memory_there_is_no_client_of_another_number(void **state) {
    make_cpu_plugin(*state, "xla_cpu_pjrt.so");
    check(*state, "", without_memory, "option cpu_device_count=1");
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(xlas_cpu_plugins_are_asked_for_one_device),
        TEST(what_the_program_asks_for_comes_first),
        TEST(the_clients_options_are_passed_on),
        TEST(a_plugin_of_the_clients_own_keeps_its_number),
        TEST(xlas_cpu_plugins_get_a_profiler),
#ifdef KEEL_FAULTS
        TEST(without_memory_there_is_no_client_of_another_number),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
