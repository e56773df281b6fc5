// What goes to the device and comes from it, through the table that a client gets.
#define _GNU_SOURCE
#include "door_help.h"

// Then nobody needs it any more.
static void await(const PJRT_Api *api, PJRT_Event *event) {
    PJRT_Event_Await_Args args = {.struct_size = PJRT_Event_Await_Args_STRUCT_SIZE, .event = event};
    NO_ERROR(api, api->PJRT_Event_Await(&args));
    PJRT_Event_Destroy_Args destroy = {.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE,
                                       .event = event};
    NO_ERROR(api, api->PJRT_Event_Destroy(&destroy));
}

static PJRT_Buffer *send(const PJRT_Api *api, PJRT_Buffer_Type type, const int64_t *dims,
                         size_t count) {
    PJRT_Client_BufferFromHostBuffer_Args args = {
        .struct_size = PJRT_Client_BufferFromHostBuffer_Args_STRUCT_SIZE,
        .type = type,
        .dims = dims,
        .num_dims = count};
    NO_ERROR(api, api->PJRT_Client_BufferFromHostBuffer(&args));
    await(api, args.done_with_host_buffer);
    return args.buffer;
}

static PJRT_Error *read_buffer(const PJRT_Api *api, PJRT_Buffer *buffer, void *to,
                               PJRT_Event **out) {
    PJRT_Buffer_ToHostBuffer_Args args = {.struct_size = PJRT_Buffer_ToHostBuffer_Args_STRUCT_SIZE,
                                          .src = buffer,
                                          .dst = to,
                                          .dst_size = to ? 16 : 0};
    PJRT_Error *error = api->PJRT_Buffer_ToHostBuffer(&args);
    *out = args.event;
    return error;
}

static void move_everything(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    static const int64_t dims[] = {3, 5};
    PJRT_Buffer *buffer = send(api, PJRT_Buffer_Type_F32, dims, 2); // 60 bytes
    send(api, PJRT_Buffer_Type_BF16, dims, 2);                      // 30
    send(api, PJRT_Buffer_Type_S4, dims, 2);                        // 8, two in a byte
    send(api, PJRT_Buffer_Type_C128, NULL, 0);                      // 16
    send(api, PJRT_Buffer_Type_INVALID, dims, 2);                   // nobody knows
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args part = {
        .struct_size = PJRT_AsyncHostToDeviceTransferManager_TransferData_Args_STRUCT_SIZE,
        .transfer_size = 100};
    NO_ERROR(api, api->PJRT_AsyncHostToDeviceTransferManager_TransferData(&part));
    await(api, part.done_with_h2d_transfer);

    float numbers[4];
    PJRT_Event *event;
    NO_ERROR(api, read_buffer(api, buffer, NULL, &event)); // a question, no read
    NO_ERROR(api, read_buffer(api, buffer, numbers, &event));
    await(api, event);
    PJRT_Buffer_CopyRawToHost_Args raw = {.struct_size = PJRT_Buffer_CopyRawToHost_Args_STRUCT_SIZE,
                                          .buffer = buffer,
                                          .transfer_size = 1};
    NO_ERROR(api, api->PJRT_Buffer_CopyRawToHost(&raw));
    await(api, raw.event);
    PJRT_Buffer_IncreaseExternalReferenceCount_Args hold = {
        .struct_size = PJRT_Buffer_IncreaseExternalReferenceCount_Args_STRUCT_SIZE,
        .buffer = buffer};
    NO_ERROR(api, api->PJRT_Buffer_IncreaseExternalReferenceCount(&hold));
    keel_shim_step();
    keel_shim_step();
    door_close(api, client);
}

#define TO_DEVICE "\"to_device\":{ \"count\":6,\"bytes\":214,"
#define FROM_DEVICE "\"from_device\":{ \"count\":3,\"bytes\":33,"

static void test_what_moves_is_counted_both_ways(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=moves", move_everything);
    assert_int_equal(count_events(door, "\"event\":\"transfers\"", TO_DEVICE), 1);
    assert_int_equal(count_events(door, "\"event\":\"transfers\"", FROM_DEVICE), 1);
    assert_int_equal(count_events(door, "\"event\":\"step\"", "\"count\":2"), 1);
}

static void test_reads_are_counted_where_events_tell_nobody(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=moves never_ready", move_everything);
    assert_int_equal(count_events(door, "\"event\":\"transfers\"", FROM_DEVICE), 1);
}

// Clients of another version may pass anything.
static void move_strange_sizes(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_Buffer *buffer = send(api, PJRT_Buffer_Type_S8, NULL, 0); // 1 byte
    for (int64_t size = -1; size <= 1; ++size) {
        PJRT_AsyncHostToDeviceTransferManager_TransferData_Args part = {
            .struct_size = PJRT_AsyncHostToDeviceTransferManager_TransferData_Args_STRUCT_SIZE,
            .transfer_size = size};
        NO_ERROR(api, api->PJRT_AsyncHostToDeviceTransferManager_TransferData(&part));
        await(api, part.done_with_h2d_transfer);
        PJRT_Buffer_CopyRawToHost_Args raw = {.struct_size =
                                                  PJRT_Buffer_CopyRawToHost_Args_STRUCT_SIZE,
                                              .buffer = buffer,
                                              .transfer_size = size};
        NO_ERROR(api, api->PJRT_Buffer_CopyRawToHost(&raw));
        await(api, raw.event);
    }
    door_close(api, client);
}

static void test_a_size_below_zero_is_none(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=moves", move_strange_sizes);
    assert_int_equal(
        count_events(door, "\"event\":\"transfers\"", "\"to_device\":{ \"count\":4,\"bytes\":2,"),
        1);
    assert_int_equal(
        count_events(door, "\"event\":\"transfers\"", "\"from_device\":{ \"count\":3,\"bytes\":1,"),
        1);
}

static void hold_once(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_Buffer_IncreaseExternalReferenceCount_Args hold = {
        .struct_size = PJRT_Buffer_IncreaseExternalReferenceCount_Args_STRUCT_SIZE,
        .buffer = send(api, PJRT_Buffer_Type_F32, NULL, 0)};
    NO_ERROR(api, api->PJRT_Buffer_IncreaseExternalReferenceCount(&hold));
    door_close(api, client);
}

static void test_a_read_of_unknown_size_is_a_read(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=moves size_fails", hold_once);
    assert_int_equal(
        count_events(door, "\"event\":\"transfers\"", "\"from_device\":{ \"count\":1,\"bytes\":0,"),
        1);
}

static void read_many_at_once(const door_t *door) {
    (void)door;
    enum { MANY = 200 };
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_Buffer *buffer = send(api, PJRT_Buffer_Type_F32, NULL, 0);
    PJRT_Event *events[MANY];
    float numbers[4];
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < MANY; ++i)
            NO_ERROR(api, read_buffer(api, buffer, numbers, &events[i]));
        for (int i = MANY; i-- > 0;)
            await(api, events[i]);
    }
    door_close(api, client);
}

static void test_reads_that_overlap_are_all_counted(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=moves", read_many_at_once);
    assert_int_equal(
        count_events(door, "\"event\":\"transfers\"", "{ \"count\":600,\"bytes\":9600,"), 1);
}

static void move_in_vain(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_Client_BufferFromHostBuffer_Args args = {
        .struct_size = PJRT_Client_BufferFromHostBuffer_Args_STRUCT_SIZE};
    PJRT_Error *error = api->PJRT_Client_BufferFromHostBuffer(&args);
    CHECK(error && !keel_pjrt_error_is_own(error));
    door_drop(api, error);
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args part = {
        .struct_size = PJRT_AsyncHostToDeviceTransferManager_TransferData_Args_STRUCT_SIZE,
        .transfer_size = 100};
    error = api->PJRT_AsyncHostToDeviceTransferManager_TransferData(&part);
    CHECK(error && !keel_pjrt_error_is_own(error));
    door_drop(api, error);
    door_close(api, client);
}

static void test_transfer_that_fails_is_the_clients_and_counts_nothing(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=moves moves_fail", move_in_vain);
    assert_int_equal(count_events(door, "\"event\":\"transfers\"", ""), 0);
}

static void step_alone(const door_t *door) {
    (void)door;
    keel_shim_step(); // before there is a table: counts nothing
    door_close(keel_shim_api(), door_client(keel_shim_api()));
}

static void test_step_before_there_is_a_client_is_nobodys(void **state) {
    const door_t *door = *state;
    door_run(door, "", step_alone);
    assert_int_equal(count_events(door, "\"event\":\"step\"", ""), 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_what_moves_is_counted_both_ways),
        TEST(test_reads_are_counted_where_events_tell_nobody),
        TEST(test_a_size_below_zero_is_none),
        TEST(test_a_read_of_unknown_size_is_a_read),
        TEST(test_reads_that_overlap_are_all_counted),
        TEST(test_transfer_that_fails_is_the_clients_and_counts_nothing),
        TEST(test_step_before_there_is_a_client_is_nobodys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
