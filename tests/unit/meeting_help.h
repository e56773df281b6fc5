// A rehearsal on two processors of a process each, in this process, which is the first of them. The
// test writes what the second one gives.
#ifndef KEEL_TESTS_MEETING_HELP_H_
#define KEEL_TESTS_MEETING_HELP_H_

#include "rehearse_help.h"

static place_t place;
static PJRT_LoadedExecutable *apart; // a - b of f32[4, 4], a and b cut by rows, the result whole

// What the processes have of a[i][j] = 10 i + j and of b[i][j] = j, and the difference.
static const float a_rows[2][8] = {{0, 1, 2, 3, 10, 11, 12, 13}, {20, 21, 22, 23, 30, 31, 32, 33}};
static const float b_rows[8] = {0, 1, 2, 3, 0, 1, 2, 3};
static const float whole_difference[16] = {0,  0,  0,  0,  10, 10, 10, 10,
                                           20, 20, 20, 20, 30, 30, 30, 30};
static const float nothing[16] = {0};

typedef struct part_record_t {
    uint32_t argument, partition;
    uint64_t size;
} part_record_t;

static inline void put_record(keel_buffer_t *file, uint32_t argument, uint32_t partition,
                              const void *data, size_t size) {
    const part_record_t record = {argument, partition, size};
    keel_buffer_append(file, &record, sizeof record);
    keel_buffer_append(file, data, size);
}

static inline int begin_meeting(void **state) {
    (void)state;
    static const int64_t dims[] = {4, 4}, rows[] = {2, 1};
    place_make(&place);
    setenv("KEEL_REHEARSE_MEETING", place.root, 1);
    setenv("KEEL_REHEARSE_PROCESS", "0", 1);
    rehearse("cpu:2/2", KEEL_TEST_CPU_PLUGIN);
    made_program_t made = begin_program();
    proto_t by_rows = sharded(rows, 2);
    int64_t a = add_parameter(&made, F32, dims, 2, &by_rows);
    int64_t b = add_parameter(&made, F32, dims, 2, &by_rows);
    proto_t everywhere = proto(); // {replicated}
    put_int(&everywhere, 1, 0);
    add_binary(&made, "subtract", a, b, F32, dims, 2, &everywhere);
    keel_buffer_deinitialize(&by_rows);
    keel_buffer_deinitialize(&everywhere);
    apart = end_program(&made, two_devices);
    return 0;
}

static inline int end_meeting(void **state) {
    (void)state;
    door_destroy(api, apart);
    door_close(api, client);
    place_remove(&place);
    return 0;
}

// The file of a process for the execution to which the second one has not given anything yet. Empty
// if the first has not, either.
static inline void name_file(int process, char out[600]) {
    DIR *folder = opendir(place.root);
    struct dirent *entry;
    assert_non_null(folder);
    *out = 0;
    while ((entry = readdir(folder))) {
        size_t size = strlen(entry->d_name);
        if (size < 2 || strcmp(entry->d_name + size - 2, "-0") != 0) continue;
        char path[600];
        snprintf(path, sizeof path, "%s/%.*s-1", place.root, (int)size - 2, entry->d_name);
        if (access(path, F_OK) == 0) continue;
        path[strlen(path) - 1] = process ? '1' : '0';
        memcpy(out, path, sizeof path);
    }
    closedir(folder);
}

// Without Keel's own functions, which may be made to fail.
static inline void give_at(const char *path, const void *data, size_t size) {
    char fresh[620];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *file = fopen(fresh, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(fresh, path), 0);
}

static inline void give_file(const void *data, size_t size) {
    char path[600];
    name_file(1, path);
    assert_true(*path);
    give_at(path, data, size);
}

// All that the second process has, its rows of a times `factor`.
static inline void give_all_at(const char *path, float factor) {
    struct {
        part_record_t a;
        float a_rows[8];
        part_record_t b;
        float b_rows[8];
    } file = {.a = {0, 1, sizeof a_rows[1]}, .b = {1, 1, sizeof b_rows}};
    for (int i = 0; i < 8; ++i)
        file.a_rows[i] = a_rows[1][i] * factor;
    memcpy(file.b_rows, b_rows, sizeof b_rows);
    give_at(path, &file, sizeof file);
}

static inline void give_all(float factor) {
    char path[600];
    name_file(1, path);
    assert_true(*path);
    give_all_at(path, factor);
}

// What the first process has of a and b.
static inline void send_parts(PJRT_Buffer *out[2]) {
    static const int64_t wide[] = {2, 4};
    out[0] = send_to(client->all[0], a_rows[0], PJRT_Buffer_Type_F32, wide, 2);
    out[1] = send_to(client->all[0], b_rows, PJRT_Buffer_Type_F32, wide, 2);
}

static inline void drop_parts(PJRT_Buffer *parts[2]) {
    for (int i = 0; i < 2; ++i)
        door_drop_buffer(api, parts[i]);
}

#endif // KEEL_TESTS_MEETING_HELP_H_
