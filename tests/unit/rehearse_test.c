// The client of a rehearsal: executions, donations, the memory that they take, and clients that use
// what they must not.
#define _GNU_SOURCE
#include "rehearse_help.h"

#include <sys/wait.h>

#include "base/poison.h"

enum { SIZE = 1024, BYTES = SIZE * 4 };
static const float zeros[SIZE];

static int begin(void **state) {
    (void)state;
    return rehearse("cpu:2", "");
}

static int end(void **state) {
    (void)state;
    door_close(api, client);
    return 0;
}

static uint64_t begin_peak(void) {
    atomic_store(&client->all[0]->standard->peak, in_use(0));
    return in_use(0);
}

static uint64_t peak_since(uint64_t before) {
    return atomic_load(&client->all[0]->standard->peak) - before;
}

// ---- memory ------------------------------------------------------------------------------------

static void a_result_takes_the_memory_of_a_donated_argument(void **state) {
    (void)state;
    for (int donates = 0; donates < 2; ++donates) {
        uint64_t before = begin_peak();
        PJRT_LoadedExecutable *sum = sum_program(SIZE, donates);
        PJRT_Buffer *other = send_floats(zeros, SIZE), *x = send_floats(zeros, SIZE);
        for (int step = 0; step < 3; ++step) {
            PJRT_Buffer *const arguments[] = {x, other};
            PJRT_Buffer *result;
            NO_ERROR(api, try_execute(sum, arguments, 2, &result));
            assert_int_equal(is_gone(x), donates);
            assert_int_equal(in_use(0) - before, (donates ? 2 : 3) * BYTES);
            door_drop_buffer(api, x);
            x = result;
        }
        assert_int_equal(peak_since(before), (donates ? 2 : 3) * BYTES);
        door_drop_buffer(api, x);
        door_drop_buffer(api, other);
        door_destroy(api, sum);
        assert_int_equal(in_use(0), before);
    }
}

static void an_argument_may_be_kept_from_donation(void **state) {
    (void)state;
    static const int64_t kept[] = {0};
    uint64_t before = in_use(0);
    PJRT_LoadedExecutable *sum = sum_program(SIZE, true);
    PJRT_Buffer *x = send_floats(zeros, SIZE), *result;
    PJRT_Buffer *const arguments[] = {x, x}, *const * lists[] = {arguments};
    PJRT_Buffer **const results[] = {&result};
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
                                   .non_donatable_input_indices = kept,
                                   .num_non_donatable_input_indices = 1};
    NO_ERROR(api, execute_on(sum, lists, 1, 2, results, &options));
    assert_false(is_gone(x));
    assert_int_equal(in_use(0) - before, 2 * BYTES);
    door_drop_buffer(api, result);
    door_drop_buffer(api, x);
    door_destroy(api, sum);
}

static void arrays_larger_than_any_memory_are_counted_or_refused(void **state) {
    (void)state;
    static const int64_t large[] = {(int64_t)1 << 20, (int64_t)1 << 20}, beyond[] = {INT64_MAX, 4},
                         negative[] = {4, -1}, none[] = {1 << 20, 0};
    uint64_t before = in_use(0);
    PJRT_Client_CreateUninitializedBuffer_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_CreateUninitializedBuffer),
        .client = client,
        .shape_dims = large,
        .shape_num_dims = 2,
        .shape_element_type = PJRT_Buffer_Type_F32,
        .device = client->all[0]};
    NO_ERROR(api, api->PJRT_Client_CreateUninitializedBuffer(&args));
    assert_int_equal(in_use(0) - before, (uint64_t)4 << 40);
    PJRT_Buffer_ToHostBuffer_Args host = {KEEL_PJRT_SIZE(PJRT_Buffer_ToHostBuffer),
                                          .src = args.buffer};
    NO_ERROR(api, api->PJRT_Buffer_ToHostBuffer(&host));
    assert_int_equal(host.dst_size, (size_t)4 << 40);
    door_drop_buffer(api, args.buffer);
    assert_int_equal(in_use(0), before);
    args.shape_dims = none;
    NO_ERROR(api, api->PJRT_Client_CreateUninitializedBuffer(&args));
    door_drop_buffer(api, args.buffer);
    args.shape_dims = beyond;
    assert_error(api->PJRT_Client_CreateUninitializedBuffer(&args), "larger than any memory");
    args.shape_dims = negative;
    assert_error(api->PJRT_Client_CreateUninitializedBuffer(&args), "a dimension of -1");
}

static PJRT_Executable *executable_of(PJRT_LoadedExecutable *loaded) {
    PJRT_LoadedExecutable_GetExecutable_Args args = {
        KEEL_PJRT_SIZE(PJRT_LoadedExecutable_GetExecutable), .loaded_executable = loaded};
    NO_ERROR(api, api->PJRT_LoadedExecutable_GetExecutable(&args));
    return args.executable;
}

static int64_t code_of(PJRT_Executable *executable) {
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args args = {
        KEEL_PJRT_SIZE(PJRT_Executable_SizeOfGeneratedCodeInBytes), .executable = executable,
        .size_in_bytes = -7};
    NO_ERROR(api, api->PJRT_Executable_SizeOfGeneratedCodeInBytes(&args));
    return args.size_in_bytes;
}

// JAX ends the process if it is an error.
static void the_code_of_a_program_that_is_not_compiled_has_no_size(void **state) {
    (void)state;
    PJRT_LoadedExecutable *sum = sum_program(SIZE, false);
    PJRT_Executable *executable = executable_of(sum);
    assert_int_equal(code_of(executable), 0);
    PJRT_Executable_GetCompiledMemoryStats_Args stats = {
        KEEL_PJRT_SIZE(PJRT_Executable_GetCompiledMemoryStats), .executable = executable};
    assert_error(api->PJRT_Executable_GetCompiledMemoryStats(&stats), "its memory is not known");
    keel_pjrt_destroy_executable(api, executable);
    door_destroy(api, sum);
}

static void what_is_loaded_needs_what_its_entry_says(void **state) {
    (void)state;
    const int64_t size = SIZE;
    const keel_program_memory_t memory = {.code = 5, .arguments = 7, .temporaries = 11};
    made_program_t made = begin_program();
    int64_t a = add_parameter(&made, F32, &size, 1, NULL);
    add_binary(&made, "add", a, a, F32, &size, 1, NULL);
    proto_t module = module_of_program(&made);
    const PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                                  .code = (char *)module.data,
                                  .code_size = module.size,
                                  .format = "hlo",
                                  .format_size = 3};
    const PJRT_Client_Compile_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = client,
                                           .program = &program, .compile_options = one_device,
                                           .compile_options_size = strlen(one_device)};
    PJRT_LoadedExecutable *loaded;
    assert_ok(keel_rehearse_load(&args, keel_bytes("stored", 6), (keel_bytes_t){0}, KEEL_STR(""),
                                 &memory, &loaded));
    PJRT_Executable *executable = executable_of(loaded);
    assert_int_equal(code_of(executable), 5);
    PJRT_Executable_GetCompiledMemoryStats_Args stats = {
        KEEL_PJRT_SIZE(PJRT_Executable_GetCompiledMemoryStats), .executable = executable};
    NO_ERROR(api, api->PJRT_Executable_GetCompiledMemoryStats(&stats));
    assert_int_equal(stats.argument_size_in_bytes, 7);
    assert_int_equal(stats.temp_size_in_bytes, 11);
    PJRT_Executable_Serialize_Args serialize = {KEEL_PJRT_SIZE(PJRT_Executable_Serialize),
                                                .executable = executable};
    NO_ERROR(api, api->PJRT_Executable_Serialize(&serialize));
    keel_pjrt_destroy_executable(api, executable);
    door_destroy(api, loaded);
    // It outlives its executable.
    assert_int_equal(serialize.serialized_bytes_size, 6);
    assert_memory_equal(serialize.serialized_bytes, "stored", 6);
    serialize.serialized_executable_deleter(serialize.serialized_executable);
    keel_buffer_deinitialize(&module);
}

// ---- guesses -----------------------------------------------------------------------------------

// x + x of f32[SIZE] on two devices. A result without sharding has the one that the compiler
// chooses.
static proto_t sum_of_two(bool has_result_sharding) {
    static const int64_t size = SIZE, halves = 2;
    proto_t half = sharded(&halves, 1);
    made_program_t made = begin_program();
    int64_t a = add_parameter(&made, F32, &size, 1, &half);
    add_binary(&made, "add", a, a, F32, &size, 1, has_result_sharding ? &half : NULL);
    keel_buffer_deinitialize(&half);
    return module_of_program(&made);
}

// What is said on stderr while a program is loaded of which no module is stored.
static PJRT_LoadedExecutable *load_without_module(const proto_t *module, char *said, size_t size) {
    const PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                                  .code = (char *)module->data,
                                  .code_size = module->size,
                                  .format = "hlo",
                                  .format_size = 3};
    const PJRT_Client_Compile_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = client,
                                           .program = &program, .compile_options = two_devices,
                                           .compile_options_size = strlen(two_devices)};
    PJRT_LoadedExecutable *loaded;
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    assert_true(file && before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    keel_status_t status = keel_rehearse_load(&args, keel_bytes("stored", 6), (keel_bytes_t){0},
                                              KEEL_STR(""), NULL, &loaded);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    assert_ok(status);
    rewind(file);
    said[fread(said, 1, size - 1, file)] = 0;
    close(before);
    fclose(file);
    return loaded;
}

static void what_is_only_guessed_is_named_and_refuses_nothing(void **state) {
    (void)state;
    char said[512];
    proto_t open = sum_of_two(false), closed = sum_of_two(true);
    PJRT_LoadedExecutable *guess = load_without_module(&open, said, sizeof said), *sure;
    assert_non_null(strstr(said, "the compiler does not say how result 0 of module.1 is sharded"));
    assert_true(keel_rehearse_is_guess(guess));
    NO_ERROR(api, try_module(&closed, two_devices, &sure));
    assert_false(keel_rehearse_is_guess(sure));
    const int64_t half = SIZE / 2;
    PJRT_Buffer *x[2], *y[2], *z[2];
    for (size_t i = 0; i < 2; ++i)
        x[i] = send_to(client->all[i], zeros, PJRT_Buffer_Type_F32, &half, 1);
    PJRT_Buffer *const *from_x[] = {&x[0], &x[1]}, *const * from_y[] = {&y[0], &y[1]};
    PJRT_Buffer **const to_y[] = {&y[0], &y[1]}, **const to_z[] = {&z[0], &z[1]};
    NO_ERROR(api, execute_on(guess, from_x, 2, 1, to_y, NULL));
    assert_int_equal(y[1]->dims[0], SIZE);
    NO_ERROR(api, execute_on(sure, from_y, 2, 1, to_z, NULL));
    assert_int_equal(z[1]->dims[0], half);
    for (size_t i = 0; i < 2; ++i) {
        door_drop_buffer(api, x[i]);
        door_drop_buffer(api, y[i]);
        door_drop_buffer(api, z[i]);
    }
    door_destroy(api, guess);
    door_destroy(api, sure);
    keel_buffer_deinitialize(&open);
    keel_buffer_deinitialize(&closed);
}

// ---- what a client must not do -----------------------------------------------------------------

static void a_refused_execution_changes_nothing(PJRT_LoadedExecutable *loaded,
                                                PJRT_Buffer *const *arguments, size_t count,
                                                const char *words) {
    uint64_t before = in_use(0);
    PJRT_Buffer *result;
    assert_error(try_execute(loaded, arguments, count, &result), words);
    assert_int_equal(in_use(0), before);
    assert_false(is_gone(arguments[0]));
}

static void what_cannot_be_executed_is_refused(void **state) {
    (void)state;
    PJRT_LoadedExecutable *sum = sum_program(SIZE, true), *wide;
    PJRT_Buffer *x = send_floats(zeros, SIZE), *y = send_floats(zeros, SIZE),
                *small = send_floats(zeros, 8), *gone = send_floats(zeros, SIZE);
    PJRT_Buffer_Delete_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_Delete), .buffer = gone};
    NO_ERROR(api, api->PJRT_Buffer_Delete(&args));
    NO_ERROR(api, api->PJRT_Buffer_Delete(&args));
    a_refused_execution_changes_nothing(sum, (PJRT_Buffer *[]){x, gone}, 2,
                                        "argument 1 of module.1 has been deleted or donated");
    a_refused_execution_changes_nothing(sum, (PJRT_Buffer *[]){x, x}, 2,
                                        "argument 1 of module.1 has been deleted or donated");
    a_refused_execution_changes_nothing(sum, (PJRT_Buffer *[]){x, small}, 2,
                                        "argument 1 of module.1 has 32 bytes, not 4096");
    a_refused_execution_changes_nothing(sum, (PJRT_Buffer *[]){x}, 1,
                                        "takes 2 arguments and was given 1");
    made_program_t made = begin_program();
    const int64_t size = SIZE;
    int64_t a = add_parameter(&made, F32, &size, 1, NULL);
    int64_t b = add_parameter(&made, F32, &size, 1, NULL);
    add_binary(&made, "add", a, b, F32, &size, 1, NULL);
    donate(&made, 0);
    donate(&made, 1);
    wide = end_program(&made, one_device);
    a_refused_execution_changes_nothing(wide, (PJRT_Buffer *[]){x, x}, 2, "is donated twice");
    PJRT_LoadedExecutable_Delete_Args delete = {KEEL_PJRT_SIZE(PJRT_LoadedExecutable_Delete),
                                                .executable = sum};
    NO_ERROR(api, api->PJRT_LoadedExecutable_Delete(&delete));
    a_refused_execution_changes_nothing(sum, (PJRT_Buffer *[]){x, y}, 2,
                                        "module.1 has been deleted");
    PJRT_Buffer *const all[] = {x, y, small, gone};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        door_drop_buffer(api, all[i]);
    door_destroy(api, sum);
    door_destroy(api, wide);
}

static void a_deleted_array_still_has_a_shape_and_no_contents(void **state) {
    (void)state;
    float out[8];
    PJRT_Buffer *gone = send_floats(zeros, 8);
    PJRT_Buffer_Delete_Args delete = {KEEL_PJRT_SIZE(PJRT_Buffer_Delete), .buffer = gone};
    NO_ERROR(api, api->PJRT_Buffer_Delete(&delete));
    PJRT_Buffer_Dimensions_Args dims = {KEEL_PJRT_SIZE(PJRT_Buffer_Dimensions), .buffer = gone};
    NO_ERROR(api, api->PJRT_Buffer_Dimensions(&dims));
    assert_true(dims.num_dims == 1 && dims.dims[0] == 8);
    PJRT_Buffer_ToHostBuffer_Args read = {KEEL_PJRT_SIZE(PJRT_Buffer_ToHostBuffer), .src = gone,
                                          .dst = out, .dst_size = sizeof out};
    assert_error(api->PJRT_Buffer_ToHostBuffer(&read), "deleted or donated");
    PJRT_Buffer_CopyRawToHost_Args raw = {KEEL_PJRT_SIZE(PJRT_Buffer_CopyRawToHost), .buffer = gone,
                                          .dst = out, .transfer_size = sizeof out};
    assert_error(api->PJRT_Buffer_CopyRawToHost(&raw), "deleted or donated");
    PJRT_Buffer_CopyToDevice_Args copy = {KEEL_PJRT_SIZE(PJRT_Buffer_CopyToDevice), .buffer = gone,
                                          .dst_device = client->all[1]};
    assert_error(api->PJRT_Buffer_CopyToDevice(&copy), "deleted or donated");
    door_drop_buffer(api, gone);
}

static void a_host_must_have_room_and_a_layout_that_fits(void **state) {
    (void)state;
    static const float rows[] = {1, 2, 3, 4, 5, 6}, columns[] = {1, 4, 2, 5, 3, 6};
    static const int64_t dims[] = {2, 3}, order[] = {0, 1}, wrong[] = {0, 7}, apart[] = {4, 8};
    float out[6];
    PJRT_Buffer *buffer = send_to(client->all[1], rows, PJRT_Buffer_Type_F32, dims, 2);
    PJRT_Buffer_MemoryLayout layout = {
        .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
        .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                  .minor_to_major = order,
                  .minor_to_major_size = 2}};
    PJRT_Buffer_ToHostBuffer_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_ToHostBuffer), .src = buffer,
                                          .host_layout = &layout, .dst = out,
                                          .dst_size = sizeof out};
    NO_ERROR(api, api->PJRT_Buffer_ToHostBuffer(&args));
    assert_memory_equal(out, columns, sizeof out);
    layout.tiled.minor_to_major = wrong;
    assert_error(api->PJRT_Buffer_ToHostBuffer(&args), "a host layout with dimension 7");
    layout.tiled.minor_to_major_size = 1;
    assert_error(api->PJRT_Buffer_ToHostBuffer(&args), "a host layout of 1 dimensions for 2");
    memset(out, 0, sizeof out);
    layout.type = PJRT_Buffer_MemoryLayout_Type_Strides;
    layout.strides = (PJRT_Buffer_MemoryLayout_Strides){
        .struct_size = PJRT_Buffer_MemoryLayout_Strides_STRUCT_SIZE,
        .byte_strides = apart,
        .num_byte_strides = 2};
    NO_ERROR(api, api->PJRT_Buffer_ToHostBuffer(&args));
    assert_memory_equal(out, columns, sizeof out);
    layout.strides.num_byte_strides = 1;
    assert_error(api->PJRT_Buffer_ToHostBuffer(&args),
                 "a host layout of 1 strides for 2 dimensions");
    args.host_layout = NULL;
    args.dst_size = 8;
    assert_error(api->PJRT_Buffer_ToHostBuffer(&args), "8 bytes of room for an array of 24");
    PJRT_Buffer_CopyRawToHost_Args raw = {KEEL_PJRT_SIZE(PJRT_Buffer_CopyRawToHost),
                                          .buffer = buffer, .dst = out, .offset = 8,
                                          .transfer_size = 8};
    NO_ERROR(api, api->PJRT_Buffer_CopyRawToHost(&raw));
    assert_memory_equal(out, rows + 2, 8);
    raw.offset = 20;
    assert_error(api->PJRT_Buffer_CopyRawToHost(&raw), "bytes 20 to 28 of a buffer of 24");
    raw.offset = -1;
    assert_error(api->PJRT_Buffer_CopyRawToHost(&raw), "bytes -1 to 7");
    door_drop_buffer(api, buffer);
}

static unsigned released;

static void release_array(void *data, void *count) {
    assert_non_null(data);
    ++*(unsigned *)count;
}

static void an_array_of_another_library_is_copied(void **state) {
    (void)state;
    static const float columns[] = {1, 4, 2, 5, 3, 6}, rows[] = {1, 2, 3, 4, 5, 6};
    static const int64_t dims[] = {2, 3}, order[] = {0, 1}, wrong[] = {0, 7};
    PJRT_Buffer_MemoryLayout layout = {
        .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
        .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                  .minor_to_major = order,
                  .minor_to_major_size = 2}};
    PJRT_Client_CreateViewOfDeviceBuffer_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_CreateViewOfDeviceBuffer),
        .client = client,
        .device_buffer_ptr = (void *)(uintptr_t)columns,
        .dims = dims,
        .num_dims = 2,
        .element_type = PJRT_Buffer_Type_F32,
        .layout = &layout,
        .memory = client->all[1]->standard,
        .on_delete_callback = release_array,
        .on_delete_callback_arg = &released};
    uint64_t before = in_use(1);
    NO_ERROR(api, api->PJRT_Client_CreateViewOfDeviceBuffer(&args));
    assert_floats(args.buffer, rows, 6);
    assert_int_equal(in_use(1) - before, sizeof rows);
    assert_int_equal(released, 1);
    door_drop_buffer(api, args.buffer);
    args.layout = NULL;
    args.memory = NULL;
    args.device = client->all[0];
    NO_ERROR(api, api->PJRT_Client_CreateViewOfDeviceBuffer(&args));
    assert_floats(args.buffer, columns, 6);
    door_drop_buffer(api, args.buffer);
    args.layout = &layout;
    layout.tiled.minor_to_major = wrong;
    assert_error(api->PJRT_Client_CreateViewOfDeviceBuffer(&args), "a layout with dimension 7");
    layout.tiled.minor_to_major_size = 1;
    assert_error(api->PJRT_Client_CreateViewOfDeviceBuffer(&args),
                 "a layout of 1 dimensions for 2");
    assert_int_equal(released, 2);
}

static void devices_that_the_target_lacks_are_refused(void **state) {
    (void)state;
    // Four partitions; two, on the devices 0 and 9.
    static const struct {
        const char *options, *words;
    } cases[] = {
        {"\x1a\x06\x20\x01\x28\x04\x30\x01",
         "module.1 is for 4 devices, and cpu:2 has 2; rehearse it on a larger target"},
        {"\x1a\x16\x20\x01\x28\x02\x30\x01\x4a\x0e\x08\x01\x10\x02\x1a\x03\x0a\x01\x7f\x1a\x03\x0a"
         "\x01"
         "\x09",
         "which cpu:2 lacks"},
        {"\x1a\x05\x20\x01\x28\x01", "compile options are not understood"},
        {"\x1a\x0b\x20\xff\xff\xff\xff\x0f\x28\xff\xff\xff\xff\x0f", ""},
    };
    const int64_t size = 8;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        PJRT_LoadedExecutable *loaded;
        made_program_t made = begin_program();
        int64_t a = add_parameter(&made, F32, &size, 1, NULL);
        add_binary(&made, "add", a, a, F32, &size, 1, NULL);
        assert_error(try_program(&made, cases[i].options, &loaded), cases[i].words);
    }
    PJRT_Client_LookupDevice_Args lookup = {KEEL_PJRT_SIZE(PJRT_Client_LookupDevice),
                                            .client = client, .id = 2};
    assert_error(api->PJRT_Client_LookupDevice(&lookup), "there is no device 2; cpu:2 has 2");
}

static void what_is_no_program_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"", "ML\xefR", "\x08\x01", "module @m {}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        PJRT_LoadedExecutable *loaded;
        assert_error(
            door_compile_bytes(api, client, "mlir", keel_str_bytes(keel_str(texts[i])), &loaded),
            "this program cannot be rehearsed");
    }
}

// ---- threads -----------------------------------------------------------------------------------

enum { THREADS = 4, TRIES = 200 };
static PJRT_LoadedExecutable *shared_sum;
static PJRT_Buffer *shared_x, *shared_y;
static atomic_int taken;

static void *donate_shared(void *unused) {
    PJRT_Buffer *const arguments[] = {shared_x, shared_y};
    PJRT_Buffer *result;
    PJRT_Error *error = try_execute(shared_sum, arguments, 2, &result);
    if (error) {
        door_drop(api, error);
        return unused;
    }
    atomic_fetch_add(&taken, 1);
    door_drop_buffer(api, result);
    return unused;
}

static void one_of_many_threads_gets_a_donated_argument(void **state) {
    (void)state;
    uint64_t before = in_use(0);
    shared_sum = sum_program(SIZE, true);
    shared_y = send_floats(zeros, SIZE);
    for (int i = 0; i < TRIES; ++i) {
        pthread_t threads[THREADS];
        atomic_store(&taken, 0);
        shared_x = send_floats(zeros, SIZE);
        for (int t = 0; t < THREADS; ++t)
            assert_int_equal(pthread_create(&threads[t], NULL, donate_shared, NULL), 0);
        for (int t = 0; t < THREADS; ++t)
            pthread_join(threads[t], NULL);
        assert_int_equal(atomic_load(&taken), 1);
        assert_true(is_gone(shared_x));
        door_drop_buffer(api, shared_x);
    }
    door_drop_buffer(api, shared_y);
    door_destroy(api, shared_sum);
    assert_int_equal(in_use(0), before);
}

// ---- forks -------------------------------------------------------------------------------------

static atomic_bool stops;

static void *keep_busy(void *unused) {
    for (int64_t size = 1; !atomic_load(&stops); size = size % 500 + 1) {
        PJRT_LoadedExecutable *sum = sum_program(size, false);
        door_drop_buffer(api, send_floats(zeros, size));
        door_destroy(api, sum);
    }
    return unused;
}

static void use_in_child(PJRT_LoadedExecutable *sum, PJRT_Buffer *x) {
    PJRT_LoadedExecutable *own = sum_program(SIZE, true), *open;
    PJRT_Buffer *y = send_floats(zeros, SIZE), *result;
    NO_ERROR(api, try_execute(sum, (PJRT_Buffer *[]){x, y}, 2, &result));
    door_drop_buffer(api, result);
    NO_ERROR(api, try_execute(own, (PJRT_Buffer *[]){y, x}, 2, &result));
    door_drop_buffer(api, result);
    made_program_t made = begin_program();
    const int64_t size = 8;
    int64_t a = add_parameter(&made, F32, &size, 1, NULL);
    add_binary(&made, "add", a, a, F32, &size, 1, NULL);
    assert_error(try_program(&made, two_devices, &open), "a forked process has no compiler");
    _exit(0);
}

static void a_forked_child_may_use_what_it_has(void **state) {
    (void)state;
    pthread_t busy;
    PJRT_LoadedExecutable *sum = sum_program(SIZE, false);
    PJRT_Buffer *x = send_floats(zeros, SIZE);
    // The address sanitizer's allocator may be locked forever in a child that is forked while
    // another thread allocates.
    const bool is_busy = !KEEL_POISONS;
    atomic_store(&stops, false);
    if (is_busy) assert_int_equal(pthread_create(&busy, NULL, keep_busy, NULL), 0);
    for (int i = 0; i < 20; ++i) {
        int result;
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) use_in_child(sum, x);
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    }
    atomic_store(&stops, true);
    if (is_busy) pthread_join(busy, NULL);
    door_drop_buffer(api, x);
    door_destroy(api, sum);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_takes_the_memory_of_a_donated_argument),
        cmocka_unit_test(an_argument_may_be_kept_from_donation),
        cmocka_unit_test(arrays_larger_than_any_memory_are_counted_or_refused),
        cmocka_unit_test(the_code_of_a_program_that_is_not_compiled_has_no_size),
        cmocka_unit_test(what_is_loaded_needs_what_its_entry_says),
        cmocka_unit_test(what_is_only_guessed_is_named_and_refuses_nothing),
        cmocka_unit_test(what_cannot_be_executed_is_refused),
        cmocka_unit_test(a_deleted_array_still_has_a_shape_and_no_contents),
        cmocka_unit_test(a_host_must_have_room_and_a_layout_that_fits),
        cmocka_unit_test(an_array_of_another_library_is_copied),
        cmocka_unit_test(devices_that_the_target_lacks_are_refused),
        cmocka_unit_test(what_is_no_program_is_refused),
        cmocka_unit_test(one_of_many_threads_gets_a_donated_argument),
        cmocka_unit_test(a_forked_child_may_use_what_it_has),
    };
    return cmocka_run_group_tests_name("rehearse", tests, begin, end);
}
