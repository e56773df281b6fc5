// Each allocation fails once while a client of a rehearsal compiles, sends, executes, copies and
// reads: an error or a value that is not known, nothing left behind, and no array lost that the
// execution did not take. It works again afterwards.
#define _GNU_SOURCE
#include "rehearse_help.h"

enum { SIZE = 8 };
static const float ramp[SIZE] = {1, 2, 3, 4, 5, 6, 7, 8};

static int begin(void **state) {
    (void)state;
    return rehearse("cpu:2", KEEL_TEST_CPU_PLUGIN);
}

static int end(void **state) {
    (void)state;
    door_close(api, client);
    return 0;
}

typedef struct objects_t {
    PJRT_LoadedExecutable *loaded;
    PJRT_Executable *executable;
    PJRT_Buffer *x, *y, *result, *copy;
} objects_t;

static PJRT_Error *send_ramp(PJRT_Buffer **out) {
    static const int64_t size = SIZE;
    PJRT_Client_BufferFromHostBuffer_Args args = {KEEL_PJRT_SIZE(PJRT_Client_BufferFromHostBuffer),
                                                  .client = client,
                                                  .data = ramp,
                                                  .type = PJRT_Buffer_Type_F32,
                                                  .dims = &size,
                                                  .num_dims = 1,
                                                  .device = client->all[0]};
    PJRT_Error *error = api->PJRT_Client_BufferFromHostBuffer(&args);
    if (!error) *out = args.buffer;
    return error;
}

static PJRT_Error *copy(PJRT_Buffer *buffer, PJRT_Buffer **out) {
    PJRT_Buffer_CopyToDevice_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_CopyToDevice),
                                          .buffer = buffer, .dst_device = client->all[1]};
    PJRT_Error *error = api->PJRT_Buffer_CopyToDevice(&args);
    if (!error) *out = args.dst_buffer;
    return error;
}

static PJRT_Error *take(PJRT_LoadedExecutable *loaded, PJRT_Executable **out) {
    PJRT_LoadedExecutable_GetExecutable_Args args = {
        KEEL_PJRT_SIZE(PJRT_LoadedExecutable_GetExecutable), .loaded_executable = loaded};
    PJRT_Error *error = api->PJRT_LoadedExecutable_GetExecutable(&args);
    if (!error) *out = args.executable;
    return error;
}

static PJRT_Error *assignment(PJRT_LoadedExecutable *loaded) {
    PJRT_LoadedExecutable_GetDeviceAssignment_Args args = {
        KEEL_PJRT_SIZE(PJRT_LoadedExecutable_GetDeviceAssignment), .executable = loaded};
    PJRT_Error *error = api->PJRT_LoadedExecutable_GetDeviceAssignment(&args);
    if (!error) args.serialized_device_assignment_deleter(args.serialized_device_assignment);
    return error;
}

// x + y, x donated: what is right is either the sum or zeros, which stand for the unknown.
static PJRT_Error *read_back(PJRT_Buffer *buffer) {
    float got[SIZE];
    PJRT_Buffer_ToHostBuffer_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_ToHostBuffer), .src = buffer,
                                          .dst = got, .dst_size = sizeof got};
    PJRT_Error *error = api->PJRT_Buffer_ToHostBuffer(&args);
    for (int i = 0; !error && i < SIZE; ++i)
        assert_true(got[i] == 2 * ramp[i] || got[i] == 0);
    return error;
}

static PJRT_Error *use(const proto_t *module, objects_t *objects) {
    PJRT_Error *error = try_module(module, one_device, &objects->loaded);
    if (!error) error = take(objects->loaded, &objects->executable);
    if (!error) error = assignment(objects->loaded);
    if (!error) error = send_ramp(&objects->x);
    if (!error) error = send_ramp(&objects->y);
    if (error) return error;
    error = try_execute(objects->loaded, (PJRT_Buffer *[]){objects->x, objects->y}, 2,
                        &objects->result);
    assert_int_equal(is_gone(objects->x), !error);
    if (error) objects->result = NULL;
    if (!error) error = copy(objects->result, &objects->copy);
    if (!error) error = read_back(objects->copy);
    return error;
}

static void drop(objects_t *objects) {
    PJRT_Buffer *const all[] = {objects->x, objects->y, objects->result, objects->copy};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (all[i]) door_drop_buffer(api, all[i]);
    if (objects->executable) door_destroy_executable(api, objects->executable);
    if (objects->loaded) door_destroy(api, objects->loaded);
}

static proto_t make_sum(void) {
    static const int64_t size = SIZE;
    made_program_t made = begin_program();
    int64_t a = add_parameter(&made, F32, &size, 1, NULL);
    int64_t b = add_parameter(&made, F32, &size, 1, NULL);
    add_binary(&made, "add", a, b, F32, &size, 1, NULL);
    donate(&made, 0);
    return module_of_program(&made);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    uint64_t before[2] = {in_use(0), in_use(1)};
    proto_t module = make_sum();
    for (uint64_t nth = 0;; ++nth) { // 0: none, so that the processor's plugin is loaded
        objects_t objects = {.loaded = NULL};
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        PJRT_Error *error = use(&module, &objects);
        bool is_reached = nth && keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        bool is_done = !error;
        if (error) {
            if (door_code(api, error) != PJRT_Error_Code_RESOURCE_EXHAUSTED) {
                char text[1024];
                door_message(api, error, text);
                fail_msg("%llu: %s", (unsigned long long)nth, text);
            }
            door_drop(api, error);
        }
        drop(&objects);
        assert_int_equal(in_use(0), before[0]);
        assert_int_equal(in_use(1), before[1]);
        if (!nth) assert_true(is_done);
        if (!nth || is_reached) continue;
        assert_true(is_done);
        assert_true(nth > 20);
        print_message("  %llu\n", (unsigned long long)nth - 1);
        break;
    }
    keel_buffer_deinitialize(&module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("rehearse faults", tests, begin, end);
}
