// Two engines in one process: each with its own settings, plugin, cache and journal.
#define _GNU_SOURCE
#include <pthread.h>

#include "engine_help.h"

// Another library for the loader: a copy in another file.
static void copy_plugin(const door_t *door, char out[400]) {
    uint8_t *data;
    size_t size;
    snprintf(out, 400, "%s/other_plugin.so", door->place.root);
    CHECK(!keel_file_read(KEEL_TEST_PLUGIN, 1 << 26, &data, &size));
    FILE *file = fopen(out, "wb");
    CHECK(file && fwrite(data, 1, size, file) == size && fputc(0, file) == 0);
    fclose(file);
    keel_free(data);
}

typedef struct pair_t {
    bare_t first, second;
    door_t other; // the second one's place
} pair_t;

// The second engine stores, but looks nothing up.
static void make_pair(const door_t *door, pair_t *pair) {
    char plugin[400];
    bare_engine(&pair->first, KEEL_TEST_PLUGIN);
    copy_plugin(door, plugin);
    pair->other = *door;
    snprintf(pair->other.place.cache, sizeof pair->other.place.cache, "%.250s/cache2",
             door->place.root);
    snprintf(pair->other.runs, sizeof pair->other.runs, "%.250s/runs2", door->place.root);
    setenv("KEEL_CACHE_DIR", pair->other.place.cache, 1);
    setenv("KEEL_RUN_DIR", pair->other.runs, 1);
    setenv("KEEL_MODE", "refresh", 1);
    bare_engine(&pair->second, plugin);
    CHECK(pair->first.plugin.api != pair->second.plugin.api);
    bare_client(&pair->first);
    bare_client(&pair->second);
}

static void close_pair(pair_t *pair) {
    bare_close(&pair->first);
    bare_close(&pair->second);
    keel_engine_end(pair->first.engine);
    keel_engine_end(pair->second.engine);
}

static void execute(const bare_t *bare, PJRT_LoadedExecutable *loaded) {
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .executable = loaded,
                                               .num_devices = 1};
    CHECK(!keel_engine_executed(bare->engine, &args));
}

static void compile_on_both(const door_t *door) {
    pair_t pair;
    make_pair(door, &pair);
    for (int i = 0; i < 2; ++i) {
        bare_live(&pair.first, "alpha");
        bare_live(&pair.second, "alpha");
    }
    PJRT_LoadedExecutable *loaded = bare_compile(&pair.first, "alpha");
    for (int i = 0; i < 5; ++i)
        execute(&pair.first, loaded);
    close_pair(&pair);
    CHECK(count_entries(door) == 1 && count_entries(&pair.other) == 1);
    CHECK(count_events(door, "\"event\":\"compile\"", "") == 1);
    // From the disk instead of memory if the first is just being stored.
    CHECK(count_own_loads(door) == 2);
    CHECK(count_events(door, "\"event\":\"end\"", "\"total\":5") == 1);
    CHECK(count_events(&pair.other, "\"event\":\"compile\"", "") == 2);
    CHECK(count_own_loads(&pair.other) == 0);
    CHECK(count_events(&pair.other, "\"event\":\"end\"", "\"total\":0") == 1);
    CHECK(count_events(door, "\"event\":\"start\"", "keel_test_plugin.so") == 1);
    CHECK(count_events(&pair.other, "\"event\":\"start\"", "other_plugin.so") == 1);
    CHECK(count_events(door, "\"mode\":\"on\"", "\"client\":1") == 1);
    CHECK(count_events(&pair.other, "\"mode\":\"refresh\"", "\"client\":2") == 1);
}

static void test_each_engine_keeps_its_own(void **state) {
    door_run(*state, "", compile_on_both);
}

// ---- one of them -------------------------------------------------------------------------------

static keel_status_t refuse_all(void *context, const keel_engine_ask_t *ask,
                                keel_verdict_t *verdict) {
    (void)verdict;
    (void)context, (void)ask;
    return keel_status_make(KEEL_REFUSED, "nothing may pass");
}

static void end_one(const door_t *door) {
    pair_t pair;
    PJRT_LoadedExecutable *loaded;
    make_pair(door, &pair);
    keel_engine_set_gate(pair.second.engine, &(keel_engine_gate_t){refuse_all, NULL, NULL});
    bare_live(&pair.first, "alpha");
    CHECK(keel_pjrt_error_destroy(bare_try(&pair.second, "alpha", &loaded)));
    keel_engine_end(pair.second.engine);
    bare_live(&pair.second, "alpha"); // an engine that has ended only passes on
    bare_live(&pair.first, "beta");
    close_pair(&pair);
    CHECK(count_entries(door) == 2 && count_entries(&pair.other) == 0);
}

static void test_a_gate_and_an_end_are_one_engines_alone(void **state) {
    door_run(*state, "", end_one);
}

// ---- threads and forks -------------------------------------------------------------------------

static void *live_often(void *context) {
    const bare_t *bare = context;
    for (int i = 0; i < 20; ++i) {
        char text[32];
        snprintf(text, sizeof text, "program %d", i % 5);
        PJRT_LoadedExecutable *loaded = bare_compile(bare, text);
        execute(bare, loaded);
        CHECK(keel_engine_loaded_closing(bare->engine, loaded));
        door_destroy(bare->plugin.api, loaded);
    }
    return NULL;
}

static void fork_amid_threads(const door_t *door) {
    pair_t pair;
    make_pair(door, &pair);
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        CHECK(!pthread_create(&threads[i], NULL, live_often, i % 2 ? &pair.first : &pair.second));
    for (int i = 0; i < 10; ++i) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) { // every lock of both engines is free here
            alarm(20);
            bare_t *both[] = {&pair.first, &pair.second};
            for (int j = 0; j < 2; ++j)
                CHECK(keel_engine_loaded_closing(both[j]->engine, (void *)&pair));
            _exit(0);
        }
        CHECK(door_wait(child) == 0);
    }
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    close_pair(&pair);
    CHECK(count_entries(door) == 5 && count_entries(&pair.other) == 5);
}

static void test_a_fork_leaves_the_locks_of_all_engines_free(void **state) {
    door_run(*state, "", fork_amid_threads);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_engine_keeps_its_own),
        TEST(a_gate_and_an_end_are_one_engines_alone),
        TEST(a_fork_leaves_the_locks_of_all_engines_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
