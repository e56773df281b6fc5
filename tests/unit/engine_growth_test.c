// What a run records grows with its programs, not with their square: counted in bytes, which do not
// depend on the machine.
#define _GNU_SOURCE
#include "engine_help.h"

#include <sys/stat.h>

enum { FEW = 150, FOUR_TIMES = 600 };
static const double most = 4.5; // times the bytes for four times the programs

static int programs; // that the next child compiles

static void execute(const bare_t *bare, PJRT_LoadedExecutable *loaded) {
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .executable = loaded,
                                               .num_devices = 1};
    CHECK(!keel_engine_executed(bare->engine, &args));
}

static void compile_and_execute_all(const door_t *door) {
    (void)door;
    static PJRT_LoadedExecutable *loaded[FOUR_TIMES];
    bare_t bare;
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    bare_client(&bare);
    for (int i = 0; i < programs; ++i) {
        char text[32];
        snprintf(text, sizeof text, "program %d", i);
        loaded[i] = bare_compile(&bare, text);
        for (int j = 0; j <= i; ++j)
            execute(&bare, loaded[j]);
    }
    bare_close(&bare);
    keel_engine_end(bare.engine);
}

// Compiles and loads alone: how often figures are written depends on the time that the run takes.
static double bytes_of_requests(const door_t *door) {
    DIR *directory = opendir(door->runs);
    double bytes = 0;
    for (struct dirent *e; directory && (e = readdir(directory));) {
        char path[700], *line = NULL;
        size_t capacity = 0;
        ssize_t size;
        snprintf(path, sizeof path, "%s/%s/journal.ndjson", door->runs, e->d_name);
        FILE *file = fopen(path, "r");
        while (file && (size = getline(&line, &capacity, file)) >= 0)
            if (strstr(line, "\"event\":\"compile\"") || strstr(line, "\"event\":\"load\""))
                bytes += (double)size;
        free(line);
        if (file) fclose(file);
    }
    if (directory) closedir(directory);
    return bytes;
}

static void test_requests_of_programs_that_all_run_between_two_are_written_briefly(void **state) {
    const door_t *door = *state;
    programs = FEW;
    door_run(door, "", compile_and_execute_all);
    double few = bytes_of_requests(door);
    programs = FOUR_TIMES;
    door_run(door, "KEEL_CACHE_DIR=/dev/null/none", compile_and_execute_all);
    double more = bytes_of_requests(door) - few;
    assert_int_equal(count_events(door, "\"event\":\"compile\"", ""), FEW + FOUR_TIMES);
    assert_true(few > 0 && more > 3 * few);
    if (more > most * few) print_message("%.0f bytes, then %.0f\n", few, more);
    assert_true(more <= most * few);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(requests_of_programs_that_all_run_between_two_are_written_briefly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
