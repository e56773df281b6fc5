// The order of executions in the journal: how much of it is kept, and that this is little.
#define _GNU_SOURCE
#include <pthread.h>

#include "engine_help.h"

#include "engine/order.h"

static void execute(const bare_t *bare, PJRT_LoadedExecutable *loaded, int times) {
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .executable = loaded,
                                               .num_devices = 1};
    while (times--)
        CHECK(!keel_engine_executed(bare->engine, &args));
}

static void begin(bare_t *bare) {
    bare_engine(bare, KEEL_TEST_PLUGIN);
    bare_client(bare);
}

static void end(bare_t *bare) {
    bare_close(bare);
    keel_engine_end(bare->engine);
}

// Executions that an event's text stands for.
static unsigned expand(const char *text) {
    unsigned sum = 0, in_block = 0;
    bool is_block = false;
    while (*text) {
        if (*text == '(') is_block = true, in_block = 0, ++text;
        text += strspn(text, "0123456789?");
        if (is_block) ++in_block;
        if (*text == ')') is_block = false, ++text;
        unsigned size = in_block ? in_block : 1, times = 1;
        if (*text == 'x') times = (unsigned)strtoul(text + 1, (char **)&text, 10);
        if (!is_block) sum += size * times, in_block = 0;
        if (*text) ++text;
    }
    return sum;
}

static unsigned count_kept(const door_t *door, uint64_t *out_last_from) {
    DIR *directory = opendir(door->runs);
    unsigned sum = 0;
    for (struct dirent *e; directory && (e = readdir(directory));) {
        char path[700], *line = NULL;
        size_t capacity = 0;
        snprintf(path, sizeof path, "%s/%s/journal.ndjson", door->runs, e->d_name);
        FILE *file = fopen(path, "r");
        while (file && getline(&line, &capacity, file) >= 0) {
            char *from = strstr(line, "\"from\":"), *order = strstr(line, "\"order\":\"");
            if (!strstr(line, "\"event\":\"order\"")) continue;
            CHECK(from && order);
            *out_last_from = strtoull(from + 7, NULL, 10);
            order[9 + strcspn(order + 9, "\"")] = 0;
            sum += expand(order + 9);
        }
        free(line);
        if (file) fclose(file);
    }
    if (directory) closedir(directory);
    return sum;
}

// ---- what is kept ------------------------------------------------------------------------------

static void run_a_loop(const door_t *door) {
    (void)door;
    bare_t bare;
    begin(&bare);
    PJRT_LoadedExecutable *one = bare_compile(&bare, "one"), *two = bare_compile(&bare, "two");
    execute(&bare, one, 3);
    execute(&bare, (PJRT_LoadedExecutable *)&bare, 1); // of which nothing is known
    for (int i = 0; i < 50; ++i) {
        execute(&bare, two, 1);
        execute(&bare, one, 2);
    }
    end(&bare);
}

static void test_a_loop_is_one_block(void **state) {
    const door_t *door = *state;
    uint64_t from;
    door_run(door, "", run_a_loop);
    assert_int_equal(count_events(door, "\"event\":\"order\"", ""), 1);
    assert_int_equal(count_events(door, "\"order\":\"0x3 ? (1 0 0)x50\"", "\"from\":0,"), 1);
    assert_int_equal(count_kept(door, &from), 154);
}

static void run_long(const door_t *door) {
    (void)door;
    bare_t bare;
    begin(&bare);
    PJRT_LoadedExecutable *one = bare_compile(&bare, "one");
    execute(&bare, one, 10000);
    PJRT_LoadedExecutable *two = bare_compile(&bare, "two");
    execute(&bare, two, 2);
    execute(&bare, one, 10000);
    end(&bare);
}

static void test_a_long_run_is_kept_at_its_beginning_and_after_each_new_program(void **state) {
    const door_t *door = *state;
    uint64_t from;
    door_run(door, "", run_long);
    assert_int_equal(count_kept(door, &from), ORDER_FIRST + ORDER_AFTER);
    assert_int_equal(from, 10000);
    assert_int_equal(count_events(door, "\"order\":\"0x2 1x62\"", "\"from\":10000,"), 1);
}

static void run_ever_new_programs(const door_t *door) {
    (void)door;
    bare_t bare;
    begin(&bare);
    for (int i = 0; i < 400; ++i) {
        char text[32];
        snprintf(text, sizeof text, "program %d", i);
        PJRT_LoadedExecutable *loaded = bare_compile(&bare, text);
        execute(&bare, loaded, 100);
        CHECK(keel_engine_loaded_closing(bare.engine, loaded));
        door_destroy(bare.plugin.api, loaded);
        if (i % 50 == 0) order_journal(bare.engine); // in pieces
    }
    end(&bare);
}

static void test_however_many_programs_come_the_record_ends(void **state) {
    const door_t *door = *state;
    uint64_t from;
    door_run(door, "KEEL_MODE=readonly", run_ever_new_programs);
    assert_int_equal(count_kept(door, &from), ORDER_MOST);
    assert_in_range(from, 20000, 40000);
}

// ---- threads -----------------------------------------------------------------------------------

typedef struct runner_t {
    const bare_t *bare;
    PJRT_LoadedExecutable *loaded;
} runner_t;

static void *run_often(void *context) {
    const runner_t *runner = context;
    execute(runner->bare, runner->loaded, 1000);
    return NULL;
}

static void run_in_threads(const door_t *door) {
    (void)door;
    bare_t bare;
    begin(&bare);
    runner_t runner = {&bare, bare_compile(&bare, "one")};
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        CHECK(!pthread_create(&threads[i], NULL, run_often, &runner));
    for (int i = 0; i < 20; ++i)
        order_journal(bare.engine);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    end(&bare);
}

static void test_threads_leave_no_gap(void **state) {
    const door_t *door = *state;
    uint64_t from;
    door_run(door, "", run_in_threads);
    assert_int_equal(count_kept(door, &from), ORDER_FIRST);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_loop_is_one_block),
        TEST(a_long_run_is_kept_at_its_beginning_and_after_each_new_program),
        TEST(however_many_programs_come_the_record_ends),
        TEST(threads_leave_no_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
