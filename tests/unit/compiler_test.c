// The real compiler of the processor, in child processes.
#define _GNU_SOURCE
#include "compiler_help.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include "compiler/handlers.h"
#include "pjrt_help.h"

static const char program[] = "module @tested {\n"
                              "  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                              "    %b = stablehlo.sine %a : tensor<4xf32>\n"
                              "    return %b : tensor<4xf32>\n"
                              "  }\n"
                              "}\n";

static keel_compiler_t *compiler;

static int begin(void **state) {
    (void)state;
    compiler = help_start("cpu:2", KEEL_TEST_CPU_PLUGIN, 2);
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_compiler_stop(compiler);
    return 0;
}

// ---- what comes back ---------------------------------------------------------------------------

// In a child of this test, because a plugin is never unloaded.
static void check_here(int from) {
    static uint8_t executable[1 << 20];
    size_t size = 0, here_size;
    for (ssize_t got; (got = read(from, executable + size, sizeof executable - size)) > 0;)
        size += (size_t)got;
    keel_plugin_t plugin;
    PJRT_LoadedExecutable *loaded, *loaded_back;
    keel_target_t target;
    PJRT_Client *client;
    CHECK(!keel_target_read("cpu:2", &target));
    CHECK(!keel_plugin_load(KEEL_TEST_CPU_PLUGIN, &plugin));
    CHECK(!keel_target_client(&target, plugin.api, &client));
    CHECK(!keel_pjrt_load(plugin.api, client, keel_bytes(executable, size), keel_bytes("", 0),
                          &loaded_back));
    NO_ERROR(plugin.api, door_compile_bytes(plugin.api, client, "mlir",
                                            keel_str_bytes(keel_str(program)), &loaded));
    uint8_t *here;
    PJRT_Executable *compiled = door_take(plugin.api, loaded);
    CHECK(!keel_pjrt_serialize(plugin.api, compiled, &here, &here_size));
    // The plugin writes maps in any order.
    CHECK(size == here_size);
    _exit(0);
}

static void an_executable_is_as_one_of_this_process(void **state) {
    (void)state;
    int both[2], result;
    assert_int_equal(pipe(both), 0);
    pid_t child = fork(); // while there is no other thread
    if (!child) {
        close(both[1]);
        check_here(both[0]);
    }
    close(both[0]);
    begin(NULL);
    keel_compiled_t one = help_compile(compiler, program);
    assert_null(one.error);
    assert_true(one.executable_size > 0 && one.program_size > 0 && one.fingerprint_size > 0);
    assert_string_equal(one.program_format, "hlo_with_config");
    assert_true(one.has_memory && one.memory.arguments == 16 && one.memory.outputs == 16);
    assert_true(one.seconds > 0 && one.cpu_seconds > 0 && one.peak_memory > 1 << 20);
    assert_int_equal(write(both[1], one.executable, one.executable_size),
                     (ssize_t)one.executable_size);
    close(both[1]);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    keel_compiled_deinitialize(&one);
    end(NULL);
}

static void a_partition_says_how_results_are_sharded_and_no_more(void **state) {
    (void)state;
    static const char halved[] =
        "module @tested attributes {mhlo.num_partitions = 2 : i32} {\n"
        "  func.func public @main(%a: tensor<4xf32> {mhlo.sharding = \"{devices=[2]<=[2]}\"})\n"
        "      -> tensor<4xf32> {\n"
        "    %b = stablehlo.sine %a : tensor<4xf32>\n"
        "    return %b : tensor<4xf32>\n"
        "  }\n"
        "}\n";
    // executable_build_options {num_replicas: 1 num_partitions: 2 use_spmd_partitioning: true
    // allow_spmd_sharding_propagation_to_output: true}
    static const char two_devices[] = "\x1a\x09\x20\x01\x28\x02\x30\x01\x62\x01\x01";
    keel_job_t job = help_job(halved);
    keel_bytes_t module, sharding = {NULL, 0};
    int64_t parts;
    uint64_t id;
    job.options = keel_bytes(two_devices, sizeof two_devices - 1);
    job.is_partition = true;
    assert_ok(keel_compiler_submit(compiler, &job, &id));
    keel_compiled_t one = help_wait(compiler, id);
    assert_null(one.error);
    assert_null(one.executable);
    assert_false(one.has_memory);
    assert_ok(keel_pjrt_hlo_module(keel_bytes(one.program, one.program_size),
                                   keel_str(one.program_format), &module));
    keel_cursor_t cursor = keel_cursor(module);
    for (keel_proto_field_t field; keel_proto_next(&cursor, &field);)
        if (field.number == 12) sharding = field.bytes; // spmd_output_sharding
    assert_ok(keel_sharding_parts(sharding, 1, &parts));
    assert_int_equal(parts, 2);
    keel_compiled_deinitialize(&one);
}

static void jobs_are_handed_out_once_each(void **state) {
    (void)state;
    enum { COUNT = 12 };
    uint64_t ids[COUNT];
    bool seen[COUNT] = {false};
    for (int i = 0; i < COUNT; ++i) {
        keel_job_t job = help_job(program);
        job.context = &seen[i];
        assert_ok(keel_compiler_submit(compiler, &job, &ids[i]));
    }
    for (int i = 0; i < COUNT; ++i) {
        keel_compiled_t one;
        // The last one by its number, then any.
        assert_ok(keel_compiler_wait(compiler, i ? KEEL_COMPILER_ANY : ids[COUNT - 1], &one));
        assert_null(one.error);
        assert_false(*(bool *)one.context);
        *(bool *)one.context = true;
        assert_true(one.id >= ids[0] && one.id <= ids[COUNT - 1]);
        assert_ptr_equal(one.context, &seen[one.id - ids[0]]);
        keel_compiled_deinitialize(&one);
    }
    keel_compiled_t none;
    keel_status_t status = keel_compiler_wait(compiler, KEEL_COMPILER_ANY, &none);
    assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    keel_status_ignore(status);
    status = keel_compiler_wait(compiler, ids[0], &none);
    assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    keel_status_ignore(status);
}

static void a_program_that_is_none_fails_alone(void **state) {
    (void)state;
    uint64_t bad = help_submit(compiler, "this is not a program");
    uint64_t good = help_submit(compiler, program);
    keel_compiled_t one = help_wait(compiler, good);
    assert_null(one.error);
    keel_compiled_deinitialize(&one);
    one = help_wait(compiler, bad);
    assert_int_not_equal(one.code, PJRT_Error_Code_OK);
    help_fails(&one, "custom op 'this' is unknown", "");
}

// composite_v2 is newer than this compiler.
static void a_program_of_a_newer_client_compiles(void **state) {
    (void)state;
    uint8_t *code = NULL;
    size_t size;
    keel_job_t job = help_job("");
    assert_ok(
        keel_file_read(KEEL_TEST_SAMPLES "/mlir/composite.v1_20.mlir", 1 << 20, &code, &size));
    job.code = keel_bytes(code, size);
    assert_non_null(memmem(code, size, "composite_v2", 12));
    uint64_t id;
    assert_ok(keel_compiler_submit(compiler, &job, &id));
    keel_compiled_t one = help_wait(compiler, id);
    assert_null(one.error);
    assert_true(one.has_memory && one.memory.arguments == 12 && one.memory.outputs == 12);
    keel_compiled_deinitialize(&one);
    // Cut off, it cannot be read, and the compiler's own words count.
    job.code.size -= 20;
    assert_ok(keel_compiler_submit(compiler, &job, &id));
    one = help_wait(compiler, id);
    help_fails(&one, "", "");
    keel_free(code);
}

static void assert_too_large(const char *options, size_t size, const char *words) {
    uint64_t id;
    keel_job_t job = help_job(program);
    job.options = keel_bytes(options, size);
    keel_status_t status = keel_compiler_submit(compiler, &job, &id);
    assert_int_equal(keel_status_code(status), KEEL_INVALID);
    if (!strstr(keel_status_message(status), words))
        fail_msg("'%s' does not say '%s'", keel_status_message(status), words);
    keel_status_ignore(status);
}

static void a_program_for_more_devices_is_refused_at_once(void **state) {
    (void)state;
    // {num_replicas: 2 num_partitions: 2}
    assert_too_large("\x1a\x04\x20\x02\x28\x02", 6,
                     "for 4 devices (replicas times partitions), "
                     "and cpu:2 has 2");
    // {num_partitions: 3}
    assert_too_large("\x1a\x02\x28\x03", 4, "for 3 devices");
    // {num_replicas: 3}
    assert_too_large("\x1a\x02\x20\x03", 4, "for 3 devices");
    // {num_replicas: 2^63 num_partitions: 2}: their product is none
    assert_too_large("\x1a\x0d\x20\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x28\x02", 15, "devices");
    // {device_assignment {computation_devices {replica_device_ids: [0, 2]}}}
    assert_too_large("\x1a\x08\x4a\x06\x1a\x04\x0a\x02\x00\x02", 10, "for device 2, and cpu:2");
    // The largest counts, wherever it stands.
    assert_too_large("\x1a\x09\x4a\x07\x1a\x05\x0a\x03\x03\x07\x02", 11, "for device 7");
    // The same, not packed.
    assert_too_large("\x1a\x08\x4a\x06\x1a\x04\x08\x00\x08\x05", 10, "for device 5");
    assert_too_large("\x1a\xff", 2, "cannot be decoded");
}

// ---- trials ------------------------------------------------------------------------------------

// A float, a bfloat16 and an index, each recognized by its result.
static const char tried[] =
    "module @tried {\n"
    "  func.func public @main(%a: tensor<64xf32>, %b: tensor<3x2xbf16>, %c: tensor<32xi32>)\n"
    "      -> (tensor<64xf32>, tensor<2x3xbf16>, tensor<32xi32>) {\n"
    "    %t = stablehlo.transpose %b, dims = [1, 0] : (tensor<3x2xbf16>) -> tensor<2x3xbf16>\n"
    "    return %a, %t, %c : tensor<64xf32>, tensor<2x3xbf16>, tensor<32xi32>\n"
    "  }\n"
    "}\n";
static const int64_t dims_of_tried[][2] = {{64}, {3, 2}, {32}};
static const keel_array_shape_t shapes_of_tried[] = {{KEEL_PRIMITIVE_F32, 1, dims_of_tried[0]},
                                                     {KEEL_PRIMITIVE_BF16, 2, dims_of_tried[1]},
                                                     {KEEL_PRIMITIVE_S32, 1, dims_of_tried[2]}};

static keel_compiled_t try_it(const keel_compiled_t *one, const keel_array_shape_t *shapes,
                              uint32_t count, uint64_t seed, unsigned seconds) {
    uint64_t id;
    const keel_trial_t trial = {.executable = keel_bytes(one->executable, one->executable_size),
                                .arguments = shapes,
                                .argument_count = count,
                                .seed = seed,
                                .seconds = seconds};
    assert_ok(keel_compiler_try(compiler, &trial, &id));
    return help_wait(compiler, id);
}

static void check_floats(const keel_result_t *result, float least, float most) {
    float numbers[64], sum = 0;
    assert_int_equal(result->shape.element, KEEL_PRIMITIVE_F32);
    assert_int_equal(result->bytes.size, sizeof numbers);
    memcpy(numbers, result->bytes.data, sizeof numbers);
    for (size_t i = 0; i < 64; ++i) {
        assert_true(numbers[i] >= least && numbers[i] <= most);
        sum += numbers[i] == numbers[0] ? 1 : 0;
    }
    assert_true(sum < 32); // they are not all one number
}

static void check_integers(const keel_result_t *result, int32_t least, int32_t most) {
    int32_t numbers[32];
    assert_int_equal(result->bytes.size, sizeof numbers);
    memcpy(numbers, result->bytes.data, sizeof numbers);
    for (size_t i = 0; i < 32; ++i)
        assert_true(numbers[i] >= least && numbers[i] <= most);
}

static void a_trial_has_the_arguments_of_its_seed(void **state) {
    (void)state;
    keel_compiled_t one = help_compile(compiler, tried);
    assert_null(one.error);
    keel_compiled_t runs[3];
    for (int i = 0; i < 3; ++i) {
        runs[i] = try_it(&one, shapes_of_tried, 3, i == 2 ? 8 : 7, 60);
        if (runs[i].error) fail_msg("%s", runs[i].error);
        assert_int_equal(runs[i].result_count, 6);
        assert_true(runs[i].seconds > 0);
    }
    check_floats(&runs[0].results[0], -1, 1);
    check_floats(&runs[0].results[3], 0.5F, 1.5F);
    check_integers(&runs[0].results[2], 0, 3);
    check_integers(&runs[0].results[5], 1, 4);
    // Row by row.
    assert_int_equal(runs[0].results[1].shape.dims[0], 2);
    assert_int_equal(runs[0].results[1].shape.dims[1], 3);
    for (size_t i = 0; i < 6; ++i)
        assert_true(keel_bytes_equal(runs[0].results[i].bytes, runs[1].results[i].bytes));
    assert_false(keel_bytes_equal(runs[0].results[0].bytes, runs[2].results[0].bytes));
    for (int i = 0; i < 3; ++i)
        keel_compiled_deinitialize(&runs[i]);
    keel_compiled_deinitialize(&one);
}

static const char endless[] =
    "module @endless {\n"
    "  func.func public @main(%a: tensor<i32>) -> tensor<i32> {\n"
    "    %b = stablehlo.while(%x = %a) : tensor<i32>\n"
    "    cond {\n"
    "      %y = stablehlo.constant dense<100> : tensor<i32>\n"
    "      %c = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "      stablehlo.return %c : tensor<i1>\n"
    "    } do {\n"
    "      %z = stablehlo.constant dense<0> : tensor<i32>\n"
    "      %s = stablehlo.multiply %x, %z : tensor<i32>\n"
    "      stablehlo.return %s : tensor<i32>\n"
    "    }\n"
    "    return %b : tensor<i32>\n"
    "  }\n"
    "}\n";

static void a_trial_that_does_not_end_fails_alone(void **state) {
    (void)state;
    const keel_array_shape_t shape = {KEEL_PRIMITIVE_S32, 0, NULL};
    keel_compiled_t one = help_compile(compiler, endless);
    if (one.error) fail_msg("%s", one.error);
    keel_compiled_t run = try_it(&one, &shape, 1, 1, 1);
    help_fails(&run, "did not end within 1 s", "");
    keel_compiled_deinitialize(&one);
    one = help_compile(compiler, tried);
    run = try_it(&one, shapes_of_tried, 3, 1, 60);
    assert_null(run.error);
    keel_compiled_deinitialize(&run);
    keel_compiled_deinitialize(&one);
}

static void what_does_not_load_or_fit_fails_alone(void **state) {
    (void)state;
    uint8_t bytes[] = "no executable";
    const keel_compiled_t none = {.executable = bytes, .executable_size = sizeof bytes};
    keel_compiled_t run = try_it(&none, NULL, 0, 1, 60);
    assert_non_null(run.error);
    keel_compiled_deinitialize(&run);
    keel_compiled_t one = help_compile(compiler, tried);
    run = try_it(&one, shapes_of_tried, 2, 1, 60); // it takes three
    assert_non_null(run.error);
    keel_compiled_deinitialize(&run);
    keel_compiled_deinitialize(&one);
}

// Its temporaries are 4 TiB; nothing else of it is large.
static void a_trial_that_would_take_all_memory_is_not_executed(void **state) {
    (void)state;
    static const char large[] =
        "module @large {\n"
        "  func.func public @main(%a: tensor<f32>) -> tensor<f32> {\n"
        "    %b = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>)\n"
        "        -> tensor<1048576x1048576xf32>\n"
        "    %i = stablehlo.iota dim = 0 : tensor<1048576x1048576xf32>\n"
        "    %j = stablehlo.multiply %i, %b : tensor<1048576x1048576xf32>\n"
        "    %k = stablehlo.cosine %j : tensor<1048576x1048576xf32>\n"
        "    %c = \"stablehlo.sort\"(%k) ({\n"
        "    ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
        "      %p = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "      stablehlo.return %p : tensor<i1>\n"
        "    }) {dimension = 0 : i64} : (tensor<1048576x1048576xf32>)\n"
        "        -> tensor<1048576x1048576xf32>\n"
        "    %d = stablehlo.slice %c [5:6, 7:8] : (tensor<1048576x1048576xf32>)\n"
        "        -> tensor<1x1xf32>\n"
        "    %e = stablehlo.reshape %d : (tensor<1x1xf32>) -> tensor<f32>\n"
        "    return %e : tensor<f32>\n"
        "  }\n"
        "}\n";
    const keel_array_shape_t shape = {KEEL_PRIMITIVE_F32, 0, NULL};
    keel_compiled_t one = help_compile(compiler, large);
    if (one.error) fail_msg("%s", one.error);
    keel_compiled_t run = try_it(&one, &shape, 1, 7, 60);
    help_fails(&run, "it needs ", " of memory, and may use 80 % of the ");
    keel_compiled_deinitialize(&one);
}

// Of ones; 64 is what an answer can hold.
static void a_result_may_have_64_dimensions(void **state) {
    (void)state;
    static const keel_array_shape_t shape = {KEEL_PRIMITIVE_F32, 0, NULL};
    for (uint32_t rank = 64; rank <= 65; ++rank) {
        char ones[200] = "", text[800];
        for (uint32_t i = 0; i < rank; ++i)
            memcpy(ones + 2 * (size_t)i, "1x", 3);
        snprintf(text, sizeof text,
                 "module @wide {\n"
                 "  func.func public @main(%%a: tensor<f32>) -> tensor<%sf32> {\n"
                 "    %%b = stablehlo.reshape %%a : (tensor<f32>) -> tensor<%sf32>\n"
                 "    return %%b : tensor<%sf32>\n"
                 "  }\n"
                 "}\n",
                 ones, ones, ones);
        keel_compiled_t one = help_compile(compiler, text);
        if (one.error) fail_msg("%s", one.error);
        keel_compiled_t run = try_it(&one, &shape, 1, 7, 60);
        if (rank == 64) {
            assert_null(run.error);
            assert_int_equal(run.results[0].shape.rank, rank);
            keel_compiled_deinitialize(&run);
        } else {
            help_fails(&run, "a result has 65 dimensions", "");
        }
        keel_compiled_deinitialize(&one);
    }
}

static void types_without_values_are_refused_at_once(void **state) {
    (void)state;
    static const int64_t dims[] = {4};
    const keel_array_shape_t shape = {KEEL_PRIMITIVE_S4, 1, dims};
    const keel_trial_t trial = {
        .executable = keel_bytes("x", 1), .arguments = &shape, .argument_count = 1};
    uint64_t id;
    keel_status_t status = keel_compiler_try(compiler, &trial, &id);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    assert_non_null(strstr(keel_status_message(status), "S4"));
    keel_status_ignore(status);
}

// ---- the client's functions --------------------------------------------------------------------

static void code_that_no_other_process_has_is_no_handler(void **state) {
    (void)state;
    keel_handler_place_t place;
    static char data;
    char local = 0;
    void *none = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    keel_status_t status = keel_handler_locate(none, &place);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    keel_status_ignore(status);
    munmap(none, 4096);
    status = keel_handler_locate(&local, &place);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    keel_status_ignore(status);
    assert_ok(keel_handler_locate(&data, &place));
    assert_non_null(strstr(place.library, "compiler_test"));
    assert_ok(keel_handler_locate(NULL, &place));
    assert_null(place.library);
}

static keel_handler_t handler_of(const char *name, const char *library) {
    keel_handler_t handler = {.name = name, .platform = "Host", .api_version = 1};
    void *opened = dlopen(KEEL_TEST_KERNELS, RTLD_NOW);
    assert_non_null(opened);
    assert_ok(keel_handler_locate(dlsym(opened, "keel_test_kernel"), &handler.places[3]));
    if (library) handler.places[3].library = library;
    return handler;
}

#ifdef KEEL_TEST_INTERPRETER
static const char calling[] =
    "module @calling {\n"
    "  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
    "    %b = stablehlo.custom_call @users_function(%a) {api_version = 4 : i32,"
    " backend_config = {}} : (tensor<4xf32>) -> tensor<4xf32>\n"
    "    return %b : tensor<4xf32>\n"
    "  }\n"
    "}\n";

// The first child is `keel`; once there are handlers, it is a Python.
static void a_program_compiles_once_its_function_is_known(void **state) {
    (void)state;
    keel_compiled_t one = help_compile(compiler, calling);
    help_fails(&one, "users_function", "");
    keel_handler_t handler = handler_of("users_function", NULL);
    assert_ok(keel_handler_add(&handler));
    one = help_compile(compiler, calling);
    if (one.error) fail_msg("%s", one.error);
    keel_compiled_deinitialize(&one);
    one = help_compile(compiler, program);
    assert_null(one.error);
    keel_compiled_deinitialize(&one);

    // A later one reaches the same child; why it cannot be had is part of the error.
    handler = handler_of("other_function", "/nowhere/library.so");
    assert_ok(keel_handler_add(&handler));
    handler = handler_of("gpus_function", NULL);
    handler.platform = "CUDA"; // not for this target
    assert_ok(keel_handler_add(&handler));
    char other[sizeof calling + 16];
    snprintf(other, sizeof other, "%s", calling);
    memcpy(strstr(other, "users_function"), "other_function", 14);
    one = help_compile(compiler, other);
    help_fails(&one, "other_function", "/nowhere/library.so");
}

#endif

static void the_first_handler_of_a_name_counts(void **state) {
    (void)state;
    keel_handler_t handler = handler_of("twice", NULL);
    assert_ok(keel_handler_add(&handler));
    size_t before = keel_handler_count();
    handler = handler_of("twice", "/nowhere/else.so");
    assert_ok(keel_handler_add(&handler));
    assert_int_equal(keel_handler_count(), before);
    handler.platform = "CUDA";
    assert_ok(keel_handler_add(&handler));
    assert_int_equal(keel_handler_count(), before + 1);
    assert_string_equal(keel_handler_at(before)->platform, "CUDA");
    assert_null(keel_handler_at(before + 1));
}

static void a_handler_fits_the_platform_that_xla_names_otherwise(void **state) {
    (void)state;
    static const char *const names[][2] = {{"Host", "cpu"}, {"CUDA", "cuda"}, {"TPU", "tpu"}};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const keel_handler_t handler = {.platform = names[i][0]};
            assert_int_equal(keel_handler_fits(&handler, names[j][1]), i == j);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_executable_is_as_one_of_this_process),
        cmocka_unit_test_setup_teardown(a_partition_says_how_results_are_sharded_and_no_more, begin,
                                        end),
        cmocka_unit_test_setup_teardown(jobs_are_handed_out_once_each, begin, end),
        cmocka_unit_test_setup_teardown(a_program_that_is_none_fails_alone, begin, end),
        cmocka_unit_test_setup_teardown(a_program_of_a_newer_client_compiles, begin, end),
        cmocka_unit_test_setup_teardown(a_program_for_more_devices_is_refused_at_once, begin, end),
        cmocka_unit_test_setup_teardown(a_trial_has_the_arguments_of_its_seed, begin, end),
        cmocka_unit_test_setup_teardown(a_trial_that_does_not_end_fails_alone, begin, end),
        cmocka_unit_test_setup_teardown(a_trial_that_would_take_all_memory_is_not_executed, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_does_not_load_or_fit_fails_alone, begin, end),
        cmocka_unit_test_setup_teardown(a_result_may_have_64_dimensions, begin, end),
        cmocka_unit_test_setup_teardown(types_without_values_are_refused_at_once, begin, end),
        cmocka_unit_test(code_that_no_other_process_has_is_no_handler),
#ifdef KEEL_TEST_INTERPRETER
        cmocka_unit_test_setup_teardown(a_program_compiles_once_its_function_is_known, begin, end),
#endif
        cmocka_unit_test(the_first_handler_of_a_name_counts),
        cmocka_unit_test(a_handler_fits_the_platform_that_xla_names_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
