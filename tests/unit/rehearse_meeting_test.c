// What the processes of a rehearsal give each other: values of which each has a part.
#define _GNU_SOURCE
#include "meeting_help.h"

static PJRT_Buffer *execute_apart(void) {
    PJRT_Buffer *parts[2], *result;
    send_parts(parts);
    NO_ERROR(api, try_execute(apart, parts, 2, &result));
    drop_parts(parts);
    return result;
}

static void assert_unknown(PJRT_Buffer *result) {
    const char *maker;
    assert_floats(result, nothing, 16);
    assert_false(keel_rehearse_is_real(result, &maker));
    assert_string_equal(maker, "module.1");
    door_drop_buffer(api, result);
}

static void a_process_gives_its_parts_and_gets_the_whole(void **state) {
    (void)state;
    char path[600];
    uint8_t *data;
    size_t size;
    keel_buffer_t wanted;
    PJRT_Buffer *result = execute_apart();
    keel_buffer_initialize(&wanted, 0);
    put_record(&wanted, 0, 0, a_rows[0], sizeof a_rows[0]);
    put_record(&wanted, 1, 0, b_rows, sizeof b_rows);
    name_file(0, path);
    assert_ok(keel_file_read(path, 1 << 16, &data, &size));
    assert_int_equal(size, wanted.size);
    assert_memory_equal(data, wanted.data, size);
    keel_free(data);
    keel_buffer_deinitialize(&wanted);
    give_all(1);
    assert_floats(result, whole_difference, 16);
    assert_true(keel_rehearse_is_real(result, &(const char *){NULL}));
    door_drop_buffer(api, result);
}

static void each_execution_has_files_of_its_own(void **state) {
    (void)state;
    static const float doubled[16] = {0, 0, 0, 0, 10, 10, 10, 10, 40, 41, 42, 43, 60, 61, 62, 63};
    PJRT_Buffer *results[2];
    for (int i = 0; i < 2; ++i) {
        results[i] = execute_apart();
        give_all(i ? 1 : 2);
    }
    assert_floats(results[1], whole_difference, 16);
    assert_floats(results[0], doubled, 16);
    for (int i = 0; i < 2; ++i)
        door_drop_buffer(api, results[i]);
}

static void *give_later(void *unused) {
    usleep(50000);
    give_all(1);
    return unused;
}

static void a_reader_waits_until_the_other_process_comes(void **state) {
    (void)state;
    pthread_t thread;
    PJRT_Buffer *result = execute_apart();
    assert_int_equal(pthread_create(&thread, NULL, give_later, NULL), 0);
    assert_floats(result, whole_difference, 16);
    pthread_join(thread, NULL);
    door_drop_buffer(api, result);
}

static void a_result_that_nobody_reads_waits_for_nobody(void **state) {
    (void)state;
    door_drop_buffer(api, execute_apart());
    give_all(1); // so that its file is not taken for that of a later execution
}

static void what_the_other_process_does_not_know_is_unknown(void **state) {
    (void)state;
    keel_buffer_t file;
    PJRT_Buffer *result = execute_apart();
    keel_buffer_initialize(&file, 0);
    put_record(&file, 1, 1, b_rows, sizeof b_rows); // nothing of a
    give_file(file.data, file.size);
    keel_buffer_deinitialize(&file);
    assert_unknown(result);
}

// Records of no argument, of no partition, and of another size; then one that ends early.
static void what_does_not_belong_to_the_program_is_left_out(void **state) {
    (void)state;
    keel_buffer_t file;
    PJRT_Buffer *result = execute_apart();
    keel_buffer_initialize(&file, 0);
    put_record(&file, 2, 1, a_rows[0], sizeof a_rows[0]);
    put_record(&file, UINT32_MAX, 1, a_rows[0], sizeof a_rows[0]);
    put_record(&file, 0, 2, a_rows[0], sizeof a_rows[0]);
    put_record(&file, 0, 1, a_rows[0], sizeof a_rows[0] - 4);
    put_record(&file, 0, 1, "", 0);
    put_record(&file, 1, 1, b_rows, sizeof b_rows);
    put_record(&file, 0, 1, a_rows[1], sizeof a_rows[1]);
    give_file(file.data, file.size);
    assert_floats(result, whole_difference, 16);
    door_drop_buffer(api, result);
    for (size_t cut = 1; cut <= sizeof a_rows[1] + sizeof(part_record_t); ++cut) {
        result = execute_apart();
        file.size -= 1;
        give_file(file.data, file.size);
        assert_unknown(result);
    }
    keel_buffer_deinitialize(&file);
}

static void a_file_that_claims_more_than_it_has_is_not_read_beyond_its_end(void **state) {
    (void)state;
    const part_record_t record = {0, 1, UINT64_MAX};
    keel_buffer_t file;
    PJRT_Buffer *result = execute_apart();
    keel_buffer_initialize(&file, 0);
    keel_buffer_append(&file, &record, sizeof record);
    keel_buffer_append(&file, a_rows[1], sizeof a_rows[1]);
    give_file(file.data, file.size);
    keel_buffer_deinitialize(&file);
    assert_unknown(result);
}

static void a_file_that_cannot_be_read_leaves_the_values_unknown(void **state) {
    (void)state;
    char path[600];
    PJRT_Buffer *result = execute_apart();
    name_file(1, path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_unknown(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_gives_its_parts_and_gets_the_whole),
        cmocka_unit_test(each_execution_has_files_of_its_own),
        cmocka_unit_test(a_reader_waits_until_the_other_process_comes),
        cmocka_unit_test(a_result_that_nobody_reads_waits_for_nobody),
        cmocka_unit_test(what_the_other_process_does_not_know_is_unknown),
        cmocka_unit_test(what_does_not_belong_to_the_program_is_left_out),
        cmocka_unit_test(a_file_that_claims_more_than_it_has_is_not_read_beyond_its_end),
        cmocka_unit_test(a_file_that_cannot_be_read_leaves_the_values_unknown),
    };
    return cmocka_run_group_tests_name("rehearse meeting", tests, begin_meeting, end_meeting);
}
