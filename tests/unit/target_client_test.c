// The target that a client of a device is: the plugin of tests/plugin calls itself one.
#define _GNU_SOURCE
#include "place.h"

#include "pjrt/pjrt.h"
#include "target/target.h"

static keel_plugin_t plugin;
static keel_target_t target;

static int load(void **state) {
    (void)state;
    setenv("TEST_PLUGIN", "", 1);
    return keel_plugin_load(KEEL_TEST_PLUGIN, &plugin) ? -1 : 0;
}

static int unload(void **state) {
    (void)state;
    keel_free(plugin.path);
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_target_deinitialize(&target);
    unsetenv("TPU_ACCELERATOR_TYPE");
    return 0;
}

static keel_status_t read_client(const char *words, const keel_target_origin_t *origin) {
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    PJRT_Client_Destroy_Args destroy = {.struct_size = PJRT_Client_Destroy_Args_STRUCT_SIZE};
    setenv("TEST_PLUGIN", words, 1);
    assert_null(plugin.api->PJRT_Client_Create(&create));
    keel_status_t status = keel_target_of_client(plugin.api, create.client, origin, &target);
    destroy.client = create.client;
    assert_null(plugin.api->PJRT_Client_Destroy(&destroy));
    return status;
}

static void a_target_has_what_its_client_says(void **state) {
    (void)state;
    const PJRT_NamedValue option = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                    .name = "cpu_device_count",
                                    .name_size = strlen("cpu_device_count"),
                                    .type = PJRT_NamedValue_kInt64,
                                    .int64_value = 2,
                                    .value_size = 1};
    assert_ok(read_client("platform=cpu memory processes=3",
                          &(keel_target_origin_t){"mine", &option, 1, "abcd"}));
    assert_string_equal(target.name, "mine");
    assert_string_equal(target.build, "abcd");
    assert_int_equal(target.platform, KEEL_TARGET_CPU);
    assert_string_equal(target.platform_version, "one");
    assert_string_equal(target.device_kind, "test device");
    assert_int_equal(target.device_count, 2);
    assert_int_equal(target.process_count, 3);
    assert_int_equal(target.memory_limit, 1 << 30);
    assert_int_equal(target.create_options.count, 1);
    assert_memory_equal(target.create_options.list[0].name, option.name, option.name_size);
    assert_int_equal(target.create_options.list[0].int64_value, 2);
}

static void memory_that_the_client_does_not_tell_is_unknown(void **state) {
    (void)state;
    assert_ok(read_client("platform=cpu", &(keel_target_origin_t){"mine", NULL, 0, ""}));
    assert_int_equal(target.memory_limit, 0);
    assert_string_equal(target.device_kind, "test device");
}

static void a_slice_has_its_topology_and_the_type_of_its_machine(void **state) {
    (void)state;
    setenv("TPU_ACCELERATOR_TYPE", "v5e-8", 1);
    assert_ok(read_client("platform=tpu", &(keel_target_origin_t){"mine", NULL, 0, ""}));
    assert_int_equal(target.platform, KEEL_TARGET_TPU);
    assert_int_equal(target.topology.size, strlen("a topology"));
    assert_memory_equal(target.topology.data, "a topology", strlen("a topology"));
    bool has_type = false;
    for (size_t i = 0; i < target.variable_count; ++i)
        if (strcmp(target.environment[i].name, "TPU_ACCELERATOR_TYPE") == 0)
            has_type = strcmp(target.environment[i].value, "v5e-8") == 0;
    assert_true(has_type);
}

static void assert_unsupported(const char *words, const char *message) {
    keel_status_t status = read_client(words, &(keel_target_origin_t){"mine", NULL, 0, ""});
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    assert_non_null(strstr(keel_status_message(status), message));
    keel_status_ignore(status);
    keel_target_deinitialize(&target);
}

static void what_nothing_can_be_compiled_for_is_refused(void **state) {
    (void)state;
    assert_unsupported("platform=abacus", "platform abacus is none that Keel compiles for ahead");
    assert_unsupported("platform=tpu no_topology", "the plugin does not serialize its topology");
    assert_ok(read_client("platform=cpu no_topology", &(keel_target_origin_t){"it", NULL, 0, ""}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_target_has_what_its_client_says, end),
        cmocka_unit_test_teardown(memory_that_the_client_does_not_tell_is_unknown, end),
        cmocka_unit_test_teardown(a_slice_has_its_topology_and_the_type_of_its_machine, end),
        cmocka_unit_test_teardown(what_nothing_can_be_compiled_for_is_refused, end),
    };
    return cmocka_run_group_tests_name("targets of clients", tests, load, unload);
}
