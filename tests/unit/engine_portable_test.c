// Options of programs that were compiled for several replicas and run on one device: which are
// rewritten, to what, for which programs and on which plugins.
#define _GNU_SOURCE
#include "door_help.h"

#include "engine/portable.h"
#include "hlo_proto.h"

static keel_bytes_t sample(const char *name) {
    char path[512];
    uint8_t *data;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", KEEL_TEST_SAMPLES, name);
    assert_ok(keel_file_read(path, 1 << 20, &data, &size));
    return keel_bytes(data, size);
}

static void drop(keel_bytes_t bytes) {
    keel_free((void *)(uintptr_t)bytes.data);
}

// ---- options -----------------------------------------------------------------------------------

static void test_options_of_one_replica_or_of_partitions_stay(void **state) {
    (void)state;
    static const char *const names[] = {"opts/jax_spmd_4.opts", "opts/jax_compiler_options.opts"};
    for (size_t i = 0; i < 2; ++i) {
        keel_bytes_t options = sample(names[i]);
        assert_int_equal(portable_replicas(options), 0);
        drop(options);
    }
}

static char *readable(keel_bytes_t options) {
    keel_buffer_t canonical, assignment, text;
    bool understood;
    keel_buffer_initialize(&canonical, 0);
    keel_buffer_initialize(&assignment, 0);
    keel_buffer_initialize(&text, 0);
    assert_ok(
        keel_key_options(options, KEEL_BACKEND_CPU, &canonical, &assignment, &text, &understood));
    assert_true(understood);
    char *all;
    assert_true(asprintf(&all, "%sdevices:%s\n", keel_buffer_cstr(&text),
                         keel_buffer_cstr(&assignment)) > 0);
    keel_buffer_deinitialize(&canonical);
    keel_buffer_deinitialize(&assignment);
    keel_buffer_deinitialize(&text);
    return all;
}

static void test_four_replicas_become_one_on_any_device_and_nothing_else_changes(void **state) {
    (void)state;
    keel_bytes_t options = sample("opts/torch_4.opts");
    assert_int_equal(portable_replicas(options), 4);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    assert_ok(portable_options(options, &out));
    char *before = readable(options), *after = readable(keel_buffer_bytes(&out));
#define SAME                                                                                       \
    "num_partitions=1\n"                                                                           \
    "process_count=1\n"
    assert_string_equal(before, "device_ordinal=-1\nnum_replicas=4\n" SAME
                                "devices:4 replicas, 1 computations: 0 1 2 3\n");
    assert_string_equal(after, "device_ordinal=-1\nnum_replicas=1\n" SAME
                               "compile_portable_executable=1\ndevices:\n");
    assert_int_equal(portable_replicas(keel_buffer_bytes(&out)), 0);
    free(before);
    free(after);
    keel_buffer_deinitialize(&out);
    drop(options);
}

// executable_build_options around `build`, behind `head`.
static proto_t options_of(proto_t *build, int64_t portable) {
    proto_t options = proto();
    if (portable) put_int(&options, 4, portable);
    put_message(&options, 3, build);
    return options;
}

static uint64_t replicas_with(unsigned field, int64_t value) {
    proto_t build = proto();
    put_int(&build, 4, 4);
    put_int(&build, 5, 1);
    if (field) put_int(&build, field, value);
    proto_t options = options_of(&build, 0);
    uint64_t replicas = portable_replicas(bytes_of(&options));
    keel_buffer_deinitialize(&options);
    return replicas;
}

static void test_only_replicas_of_one_partition_in_one_process_become_one(void **state) {
    (void)state;
    assert_int_equal(replicas_with(0, 0), 4);
    assert_int_equal(replicas_with(4, 8), 8); // of a number the last one counts
    assert_int_equal(replicas_with(4, 1), 0);
    assert_int_equal(replicas_with(5, 2), 0);
    assert_int_equal(replicas_with(5, 0), 0);
    assert_int_equal(replicas_with(6, 1), 0);
    assert_int_equal(replicas_with(7, 1), 0);
    assert_int_equal(replicas_with(23, 1), 4);
    assert_int_equal(replicas_with(23, 2), 0);
    proto_t build = proto();
    put_int(&build, 4, 4);
    put_int(&build, 5, 1);
    proto_t options = options_of(&build, 1);
    assert_int_equal(portable_replicas(bytes_of(&options)), 0);
    keel_buffer_deinitialize(&options);
}

static void test_options_that_are_not_understood_stay(void **state) {
    (void)state;
    keel_bytes_t whole = sample("opts/torch_4.opts");
    for (size_t size = 0; size < whole.size; ++size) {
        uint8_t *part = malloc(size ? size : 1); // of its own, so that a sanitizer sees its end
        memcpy(part, whole.data, size);
        assert_int_equal(portable_replicas(keel_bytes(part, size)), 0);
        free(part);
    }
    proto_t twice = proto();
    keel_buffer_append(&twice, whole.data, whole.size);
    keel_buffer_append(&twice, whole.data, whole.size);
    assert_int_equal(portable_replicas(bytes_of(&twice)), 0);
    keel_buffer_deinitialize(&twice);
    proto_t build = proto();
    put_text(&build, 4, "four");
    put_int(&build, 5, 1);
    proto_t options = options_of(&build, 0);
    assert_int_equal(portable_replicas(bytes_of(&options)), 0);
    keel_buffer_deinitialize(&options);
    drop(whole);
}

// ---- programs ----------------------------------------------------------------------------------

static void assert_obstacle(keel_bytes_t bytes, const char *expected) {
    keel_program_t program;
    char said[64];
    assert_ok(keel_read_hlo(bytes, &program));
    keel_str_t obstacle = portable_obstacle(&program);
    snprintf(said, sizeof said, "%.*s", KEEL_STR_ARGS(obstacle));
    assert_string_equal(said, expected);
    keel_program_deinitialize(&program);
}

static void test_training_steps_do_the_same_on_each_replica(void **state) {
    (void)state;
    static const char *const names[] = {"hlo/conv_pool.hlo", "hlo/linear_step.hlo",
                                        "hlo/linear_step_nodebug.hlo", "hlo/where.hlo"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        keel_bytes_t bytes = sample(names[i]);
        assert_obstacle(bytes, "");
        drop(bytes);
    }
}

static void test_what_can_tell_replicas_apart_is_an_obstacle(void **state) {
    (void)state;
    static const char *const opcodes[] = {"all-reduce",
                                          "all-reduce-start",
                                          "all-gather",
                                          "all-to-all",
                                          "collective-permute",
                                          "replica-id",
                                          "collective-permute-start",
                                          "partition-id",
                                          "send",
                                          "recv",
                                          "infeed",
                                          "outfeed",
                                          "reduce-scatter",
                                          "collective-broadcast",
                                          "ragged-all-to-all",
                                          "an-operation-of-tomorrow"};
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; ++i) {
        proto_t one = instruction(opcodes[i], 2, NULL, 0), body = proto();
        proto_t first = instruction("parameter", 1, NULL, 0);
        put_message(&body, 2, &first);
        put_message(&body, 2, &one);
        proto_t module = module_of(&body, 2);
        assert_obstacle(bytes_of(&module), opcodes[i]);
        keel_buffer_deinitialize(&module);
    }
}

static void assert_call(const char *target, const char *expected) {
    proto_t one = instruction("custom-call", 1, NULL, 0);
    put_text(&one, 28, target);
    proto_t body = proto();
    put_message(&body, 2, &one);
    proto_t module = module_of(&body, 1);
    assert_obstacle(bytes_of(&module), expected);
    keel_buffer_deinitialize(&module);
}

static void test_custom_calls_go_by_what_is_known_of_them(void **state) {
    (void)state;
    assert_call("TopK", "");
    assert_call("AllReduceOfMine", "custom-call");
}

// ---- through the door --------------------------------------------------------------------------

#define NEWER "TEST_PLUGIN=platform=cpu minor=106"

static keel_bytes_t program, options;

static int setup(void **state) {
    program = sample("hlo/linear_step.hlo");
    options = sample("opts/torch_4.opts");
    return door_setup(state);
}

static int teardown(void **state) {
    drop(program);
    drop(options);
    return door_teardown(state);
}

static PJRT_Error *compile_replicas(const PJRT_Api *api, PJRT_Client *client,
                                    PJRT_LoadedExecutable **out) {
    PJRT_Program sent = {.struct_size = PJRT_Program_STRUCT_SIZE,
                         .code = (char *)(uintptr_t)program.data,
                         .code_size = program.size,
                         .format = "hlo",
                         .format_size = 3};
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = client,
                                     .program = &sent,
                                     .compile_options = (const char *)options.data,
                                     .compile_options_size = options.size};
    PJRT_Error *error = api->PJRT_Client_Compile(&args);
    CHECK(args.compile_options == (const char *)options.data);
    CHECK(args.compile_options_size == options.size);
    *out = args.executable;
    return error;
}

static void compile_one(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded;
    NO_ERROR(api, compile_replicas(api, client, &loaded));
    door_destroy(api, loaded);
    door_close(api, client);
}

static size_t rewritten_size(void) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    assert_ok(portable_options(options, &out));
    size_t size = out.size;
    keel_buffer_deinitialize(&out);
    return size;
}

static unsigned compiles_with(const door_t *door, size_t size) {
    char line[64];
    snprintf(line, sizeof line, "options %zu", size);
    return count_lines(door->calls, line);
}

static void test_a_newer_cpu_plugin_gets_the_rewritten_options_once_and_then_loads(void **state) {
    const door_t *door = *state;
    door_run(door, NEWER, compile_one);
    assert_int_equal(compiles_with(door, rewritten_size()), 1);
    assert_int_equal(count_events(door, "\"fallback\"", "\"what\":\"options\""), 1);
    door_run(door, NEWER, compile_one);
    assert_int_equal(count_lines(door->calls, "compile "), 1);
    assert_int_equal(count_events(door, "\"load\"", "\"tier\":\"disk\""), 1);
}

static void test_a_plugin_that_runs_them_gets_the_clients_options(void **state) {
    static const char *const plugins[] = {"TEST_PLUGIN=platform=cpu", "TEST_PLUGIN=minor=106",
                                          "TEST_PLUGIN=platform=tpu minor=117"};
    const door_t *door = *state;
    for (unsigned i = 0; i < 3; ++i)
        door_run(door, plugins[i], compile_one);
    assert_true(compiles_with(door, options.size) >= 1);
    assert_int_equal(compiles_with(door, rewritten_size()), 0);
    assert_int_equal(count_events(door, "\"fallback\"", "\"what\":\"options\""), 0);
}

static void test_the_obstacle_is_said_where_options_must_stay(void **state) {
    const door_t *door = *state;
    proto_t one = instruction("all-reduce", 1, NULL, 0), body = proto();
    put_message(&body, 2, &one);
    proto_t module = module_of(&body, 1);
    keel_bytes_t sampled = program;
    program = bytes_of(&module);
    door_run(door, NEWER, compile_one);
    program = sampled;
    keel_buffer_deinitialize(&module);
    assert_int_equal(compiles_with(door, options.size), 1);
    assert_int_equal(count_events(door, "\"what\":\"options\"", "has 'all-reduce'"), 1);
    assert_int_equal(count_lines(door->errors, "all-reduce"), 0);
}

static void test_with_mode_off_they_stay_and_that_is_said_once(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=platform=cpu\nKEEL_MODE=off", compile_one);
    door_run(door, "TEST_PLUGIN=platform=tpu minor=117\nKEEL_MODE=off", compile_one);
    assert_int_equal(count_lines(door->errors, "4 replicas"), 0);
    door_run(door, NEWER "\nKEEL_MODE=off", compile_one);
    assert_int_equal(count_lines(door->errors, "4 replicas"), 1);
    assert_int_equal(compiles_with(door, options.size), 3);
}

#ifdef KEEL_FAULTS
static void compile_with_each_allocation_failing(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    bool reached = true;
    for (uint64_t nth = 1; reached && nth < 3000; ++nth) {
        PJRT_LoadedExecutable *loaded;
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        PJRT_Error *error = compile_replicas(api, client, &loaded);
        reached = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        NO_ERROR(api, error);
        door_destroy(api, loaded);
    }
    CHECK(!reached);
    door_close(api, client);
}

static void test_each_allocation_may_fail_and_the_client_has_its_executable(void **state) {
    door_run(*state, NEWER "\nKEEL_MODE=refresh", compile_with_each_allocation_failing);
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test(test_##name)
#define DOOR_TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(options_of_one_replica_or_of_partitions_stay),
        TEST(four_replicas_become_one_on_any_device_and_nothing_else_changes),
        TEST(only_replicas_of_one_partition_in_one_process_become_one),
        TEST(options_that_are_not_understood_stay),
        TEST(training_steps_do_the_same_on_each_replica),
        TEST(what_can_tell_replicas_apart_is_an_obstacle),
        TEST(custom_calls_go_by_what_is_known_of_them),
        DOOR_TEST(a_newer_cpu_plugin_gets_the_rewritten_options_once_and_then_loads),
        DOOR_TEST(a_plugin_that_runs_them_gets_the_clients_options),
        DOOR_TEST(the_obstacle_is_said_where_options_must_stay),
        DOOR_TEST(with_mode_off_they_stay_and_that_is_said_once),
#ifdef KEEL_FAULTS
        DOOR_TEST(each_allocation_may_fail_and_the_client_has_its_executable),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
