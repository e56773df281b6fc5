// Edge cases on the way of a program: an entry that loads only once, a buffer that is too short, a
// serialization without bytes, a forked child, pointers that share a place.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/stat.h>

#include "door_help.h"
#include "fork_at_rest.h"

#include "engine/counters.h"
#include "engine/executables.h"
#include "engine/payload.h"
#include "hlo_proto.h"

static unsigned count_calls(const door_t *door, const char *call) {
    char text[64];
    snprintf(text, sizeof text, "%s alpha", call);
    return count_lines(door->calls, text);
}

// ---- what others can write ----------------------------------------------------------------------

static void live_once(const door_t *door) {
    (void)door;
    door_live("alpha");
}

static void test_an_entry_that_others_can_write_is_loaded_only_if_shared(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_once);
    char command[PATH_MAX];
    snprintf(command, sizeof command, "chmod -R go+w %s/entries", door->place.cache);
    assert_int_equal(system(command), 0);
    door_run(door, "KEEL_SHARED_CACHE=on", live_once);
    assert_int_equal(count_calls(door, "compile"), 1);
    door_run(door, "", live_once);
    assert_int_equal(count_calls(door, "compile"), 2);
}

static unsigned count_runs(const door_t *door) {
    return count_events(door, "\"event\":\"start\"", "");
}

static void test_a_run_folder_that_others_own_or_can_write_is_not_used(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_once);
    assert_int_equal(count_runs(door), 1);
    assert_int_equal(chmod(door->runs, 0777), 0);
    door_run(door, "", live_once);
    assert_int_equal(count_runs(door), 1);
    assert_int_equal(count_lines(door->errors, "run_dir: "), 1);
    assert_int_equal(count_lines(door->errors, "(mode 0777); nothing is recorded: make it yours"),
                     1);
    assert_int_equal(count_calls(door, "compile"), 1); // the cache is as good as ever
    door_run(door, "KEEL_SHARED_CACHE=on", live_once);
    assert_int_equal(count_runs(door), 2);
    assert_int_equal(chmod(door->runs, 0700), 0);
    if (geteuid() == 0) { // only root can give a folder away
        assert_int_equal(chown(door->runs, 54321, (gid_t)-1), 0);
        door_run(door, "", live_once);
        assert_int_equal(count_runs(door), 2);
        assert_int_equal(count_lines(door->errors, "another user (uid 54321); nothing is"), 1);
    }
}

// ---- an entry that no longer loads -------------------------------------------------------------

static void ask_thrice(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    for (int i = 0; i < 3; ++i) {
        PJRT_Client *client = door_client(api);
        door_destroy(api, door_compile(api, client, "alpha"));
        door_close(api, client); // all that it asked for is published or given up by then
    }
}

static void test_an_entry_that_no_longer_loads_leaves_memory_too(void **state) {
    const door_t *door = *state;
    door_run(door, "KEEL_PREFETCH=off\nTEST_PLUGIN=load_fails_after=1", ask_thrice);
    // The first is compiled and proved. Of the second neither entry loads, so it is compiled again;
    // its proof fails, so it is not stored. The third finds no entry anywhere.
    assert_int_equal(count_calls(door, "compile"), 3);
    assert_int_equal(count_calls(door, "load"), 1 + 3 + 1);
    assert_int_equal(count_entries(door), 0);
    assert_int_equal(count_files(&door->place, "quarantine", "does-not-load"), 1);
}

// Memory is this process's own: readonly says nothing about it.
static void test_readonly_it_leaves_memory_and_stays_on_the_disk(void **state) {
    const door_t *door = *state;
    door_run(door, "", ask_thrice);
    unlink(door->calls);
    door_run(door, "KEEL_PREFETCH=off\nKEEL_MODE=readonly\nTEST_PLUGIN=load_fails_after=1",
             ask_thrice);
    // From the disk; then from neither; then the disk's alone is tried.
    assert_int_equal(count_calls(door, "load"), 1 + 2 + 1);
    assert_int_equal(count_calls(door, "compile"), 2);
    assert_int_equal(count_entries(door), 1);
    assert_int_equal(count_files(&door->place, "quarantine", ""), 0);
}

static void test_a_serialization_without_bytes_is_not_stored(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=empty_serialize", ask_thrice);
    assert_int_equal(count_calls(door, "compile"), 3);
    assert_int_equal(count_calls(door, "load"), 0); // nor is it tried
    assert_int_equal(count_entries(door), 0);
    assert_int_equal(count_lines(door->errors, "PJRT_Executable_Serialize returned no bytes"), 1);
}

// ---- the optimized program ---------------------------------------------------------------------

enum { ROOM = 8 };

static void offer_room_of(size_t size, char *room) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded = door_compile(api, client, "alpha");
    PJRT_Executable *executable = door_take(api, loaded);
    PJRT_Program program = {
        .struct_size = PJRT_Program_STRUCT_SIZE, .code = room, .code_size = size};
    PJRT_Executable_OptimizedProgram_Args args = {
        .struct_size = PJRT_Executable_OptimizedProgram_Args_STRUCT_SIZE,
        .executable = executable,
        .program = &program};
    PJRT_Error *error = api->PJRT_Executable_OptimizedProgram(&args);
    CHECK(!error == (size >= 5)); // the plugin's own answer
    if (error)
        door_drop(api, error);
    else
        CHECK(program.code_size == 5 && memcmp(room, "alpha", 5) == 0);
    door_destroy_executable(api, executable);
    door_destroy(api, loaded);
    door_close(api, client);
}

static void offer_rooms(const door_t *door) {
    for (size_t size = 0; size < ROOM; ++size) {
        char room[ROOM], untouched[ROOM];
        memset(room, '-', sizeof room);
        memset(untouched, '-', sizeof untouched);
        unlink(door->calls);
        offer_room_of(size, room);
        size_t written = size < 5 ? 0 : 5;
        CHECK(memcmp(room + written, untouched, sizeof room - written) == 0);
        CHECK(count_calls(door, "optimized") == (size < 5));
    }
}

static void live_alpha(const door_t *door) {
    (void)door;
    door_live("alpha");
}

static void test_an_optimized_program_is_not_written_past_a_short_buffer(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_alpha);
    door_run(door, "KEEL_PREFETCH=off\nTEST_PLUGIN=optimized_checks", offer_rooms);
    assert_int_equal(count_calls(door, "compile"), 0);
}

// ---- names of functions ------------------------------------------------------------------------

static const struct {
    const char *module, *function;
} modules[] = {
    {"SyncTensorsGraph.10", "SyncTensorsGraph"},
    {"SyncTensorsGraph.9", "SyncTensorsGraph"},
    {"graph.0", "graph"},
    {"a.b", "a.b"},
    {"a.12.907", "a.12"},
    {"graph12", "graph12"},
    {"graph.", "graph."},
    {".12", ".12"},
    {"12", "12"},
    {"x.1/", "x.1/"},
    {"x.1:", "x.1:"},
    {"x.1_", "x.1_"},
};
enum { MODULES = sizeof modules / sizeof *modules };

static void compile_modules(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    for (int i = 0; i < MODULES; ++i) {
        proto_t one = instruction("parameter", 1, NULL, 0), body = proto(), named = proto();
        put_message(&body, 2, &one);
        proto_t module = module_of(&body, 1);
        // The last of a field counts; another number makes another program of it.
        keel_buffer_append(&named, module.data, module.size);
        put_text(&named, 1, modules[i].module);
        PJRT_LoadedExecutable *loaded;
        NO_ERROR(api, door_compile_bytes(api, client, "hlo", keel_buffer_bytes(&named), &loaded));
        door_destroy(api, loaded);
        keel_buffer_deinitialize(&module);
        keel_buffer_deinitialize(&named);
    }
    door_close(api, client);
}

static void test_a_number_behind_the_name_of_hlo_is_no_part_of_it(void **state) {
    const door_t *door = *state;
    door_run(door, "KEEL_MODE=refresh", compile_modules);
    assert_int_equal(count_events(door, "\"event\":\"compile\"", ""), MODULES);
    for (int i = 0; i < MODULES; ++i) {
        char name[64];
        unsigned expected = 0;
        for (int k = 0; k < MODULES; ++k)
            expected += strcmp(modules[i].function, modules[k].function) == 0;
        snprintf(name, sizeof name, "\"name\":\"%s\"", modules[i].function);
        if (count_events(door, "\"event\":\"compile\"", name) != expected)
            fail_msg("%s is not told as %s", modules[i].module, modules[i].function);
    }
}

// ---- one program, asked for on and on ----------------------------------------------------------

enum { ASKED = 20 };

static void ask_on_and_on(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    proto_t one = instruction("parameter", 1, NULL, 0);
    proto_t module = module_of_one(&one);
    for (int i = 0; i < ASKED; ++i) {
        PJRT_LoadedExecutable *loaded;
        NO_ERROR(api, door_compile_bytes(api, client, "hlo", keel_buffer_bytes(&module), &loaded));
        door_destroy(api, loaded);
    }
    door_close(api, client);
    keel_buffer_deinitialize(&module);
}

static void test_retraces_beyond_the_first_sixteen_are_counted(void **state) {
    const door_t *door = *state;
    door_run(door, "", ask_on_and_on);
    assert_int_equal(count_events(door, "\"what\":\"compile\"", ""), 1);
    assert_int_equal(count_events(door, "\"what\":\"retrace\"", ""), 16);
    assert_int_equal(count_events(door, "\"event\":\"load\"", ""), 17);
    assert_int_equal(count_events(door, "\"event\":\"load\"", "\"times\":3,"), 1);
}

// ---- a forked child ----------------------------------------------------------------------------

static keel_bytes_t four_replicas(void) {
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(KEEL_TEST_SAMPLES "/opts/torch_4.opts", 1 << 20, &data, &size));
    return keel_bytes(data, size);
}

// A program for several replicas: from then on buffers are destroyed by a thread.
static void begin_releasing(const PJRT_Api *api, PJRT_Client *client) {
    keel_bytes_t options = four_replicas();
    proto_t one = instruction("all-reduce", 1, NULL, 0), body = proto();
    put_message(&body, 2, &one);
    proto_t module = module_of(&body, 1);
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)module.data,
                            .code_size = module.size,
                            .format = "hlo",
                            .format_size = 3};
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = client,
                                     .program = &program,
                                     .compile_options = (const char *)options.data,
                                     .compile_options_size = options.size};
    NO_ERROR(api, api->PJRT_Client_Compile(&args));
    door_destroy(api, args.executable);
    keel_buffer_deinitialize(&module);
    keel_free((void *)(uintptr_t)options.data);
}

static void drop_buffer(const PJRT_Api *api, uintptr_t buffer) {
    PJRT_Buffer_Destroy_Args args = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                     .buffer = (PJRT_Buffer *)buffer};
    NO_ERROR(api, api->PJRT_Buffer_Destroy(&args));
}

static void drop_in_a_child(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    begin_releasing(api, client);
    pid_t child = fork_at_rest();
    CHECK(child >= 0);
    if (!child) {
        drop_buffer(api, 64); // here, since the thread is the parent's
        CHECK(count_lines(door->calls, "release") == 1);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    drop_buffer(api, 64);
    door_close(api, client);
    CHECK(count_lines(door->calls, "release") == 2);
}

static void test_a_forked_child_destroys_its_buffers_itself(void **state) {
    door_run(*state, "TEST_PLUGIN=platform=cpu runs", drop_in_a_child);
}

// ---- executables by pointer --------------------------------------------------------------------

enum { POINTERS = 8000, FIRST = 0x1000, STEP = 64 };

static const PJRT_LoadedExecutable *pointer(uintptr_t i) {
    return (const PJRT_LoadedExecutable *)(FIRST + STEP * i);
}

// So that what is found says whose it is.
static void add_stored(keel_engine_t *engine, uint32_t i, uint32_t life) {
    uint32_t text[2] = {i, life};
    keel_payload_t payload = {.executable = keel_bytes(text, sizeof text)};
    const made_of_t made_of = {.program = key_of(i % 10)};
    uint8_t *data;
    size_t size;
    assert_ok(keel_payload_pack(&payload, &data, &size));
    keel_shared_t *shared;
    assert_ok(keel_shared_take(data, size, &shared));
    assert_ok(executables_add(engine, pointer(i), &made_of, shared, keel_shared_bytes(shared)));
}

// Its life; 0 where nothing is known of it.
static uint32_t life_of(keel_engine_t *engine, uint32_t i) {
    static const PJRT_Executable *const taken = (const PJRT_Executable *)8;
    keel_payload_t payload;
    uint32_t text[2] = {0};
    assert_ok(keel_engine_executable_taken(engine, pointer(i), taken));
    keel_stored_t *stored = keel_engine_stored(engine, taken, &payload);
    if (stored) {
        assert_int_equal(payload.executable.size, sizeof text);
        memcpy(text, payload.executable.data, sizeof text);
        assert_int_equal(text[0], i);
    }
    keel_stored_release(stored);
    keel_engine_executable_closing(engine, taken);
    return text[1];
}

static void make_tables(keel_engine_t *engine) {
    assert_ok(counters_create(engine));
    assert_ok(executables_create(engine));
}

static void destroy_tables(keel_engine_t *engine) {
    counters_destroy(engine->counters);
    executables_destroy(engine->executables);
}

// Half of all places are taken, so that many pointers share theirs with others and stand behind
// them.
static void test_an_executable_is_found_behind_others_that_are_gone(void **state) {
    (void)state;
    keel_engine_t engine = {0};
    make_tables(&engine);
    for (uint32_t i = 0; i < POINTERS; ++i)
        add_stored(&engine, i, 1);
    for (uint32_t i = 0; i < POINTERS; i += 3)
        assert_true(keel_engine_loaded_closing(&engine, pointer(i)));
    for (uint32_t i = 0; i < POINTERS; ++i)
        assert_int_equal(life_of(&engine, i), i % 3 ? 1 : 0);
    for (uint32_t i = 0; i < POINTERS; i += 6)
        add_stored(&engine, i, 2);
    for (uint32_t i = 0; i < POINTERS; ++i)
        assert_int_equal(life_of(&engine, i), i % 3 ? 1 : i % 6 ? 0 : 2);
    for (uint32_t i = 0; i < POINTERS; ++i)
        assert_true(keel_engine_loaded_closing(&engine, pointer(i)));
    for (uint32_t i = 0; i < POINTERS; ++i)
        assert_int_equal(life_of(&engine, i), 0);
    destroy_tables(&engine);
}

// Servers keep what they compile.
static void test_each_executable_is_known_however_many_there_are(void **state) {
    (void)state;
    enum { MANY = 40000 };
    keel_engine_t engine = {0};
    make_tables(&engine);
    for (uint32_t i = 0; i < MANY; ++i)
        add_stored(&engine, i, 1);
    for (uint32_t i = 0; i < MANY; i += 2)
        assert_true(keel_engine_loaded_closing(&engine, pointer(i)));
    for (uint32_t i = 0; i < MANY; i += 4)
        add_stored(&engine, i, 2);
    for (uint32_t i = 0; i < MANY; ++i)
        assert_int_equal(life_of(&engine, i), i % 2 ? 1 : i % 4 ? 0 : 2);
    for (uint32_t i = 0; i < MANY; ++i)
        assert_true(keel_engine_loaded_closing(&engine, pointer(i)));
    for (uint32_t i = 0; i < MANY; ++i)
        assert_int_equal(life_of(&engine, i), 0);
    destroy_tables(&engine);
}

// The n-th pointer that is looked for at the same place as all others of these.
static const PJRT_LoadedExecutable *colliding(unsigned n) {
    for (uintptr_t bits = FIRST;; bits += STEP)
        if ((uint64_t)bits * 0x9E3779B97F4A7C15ull >> 40 << 50 >> 50 == 77 && !n--)
            return (const PJRT_LoadedExecutable *)bits;
}

typedef struct mate_t {
    keel_engine_t *engine;
    const PJRT_LoadedExecutable *loaded[4];
    unsigned number;
} mate_t;

// Each thread has executables of its own, and the table's places in common with the others.
static void *come_and_go(void *context) {
    const mate_t *mate = context;
    const made_of_t made_of = {.program = key_of(mate->number)};
    const PJRT_Executable *taken = (const PJRT_Executable *)(uintptr_t)(8 + mate->number);
    for (int round = 0; round < 400; ++round) {
        const PJRT_LoadedExecutable *loaded = mate->loaded[round % 4];
        keel_payload_t payload = {.executable = keel_bytes(&mate->number, sizeof mate->number)};
        uint8_t *data;
        size_t size;
        CHECK(!keel_payload_pack(&payload, &data, &size));
        keel_shared_t *shared;
        CHECK(!keel_shared_take(data, size, &shared));
        CHECK(!executables_add(mate->engine, loaded, &made_of, shared, keel_shared_bytes(shared)));
        CHECK(!keel_engine_executable_taken(mate->engine, loaded, taken));
        keel_stored_t *stored = keel_engine_stored(mate->engine, taken, &payload);
        CHECK(stored && *payload.executable.data == mate->number);
        keel_stored_release(stored);
        keel_engine_executable_closing(mate->engine, taken);
        CHECK(keel_engine_loaded_closing(mate->engine, loaded));
    }
    return NULL;
}

static void test_threads_add_take_and_close_executables_that_share_a_place(void **state) {
    (void)state;
    keel_engine_t engine = {0};
    pthread_t threads[4];
    mate_t mates[4];
    make_tables(&engine);
    for (unsigned i = 0; i < 4; ++i) {
        mates[i] = (mate_t){.engine = &engine, .number = i};
        for (unsigned k = 0; k < 4; ++k)
            mates[i].loaded[k] = colliding(4 * i + k);
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &mates[i]), 0);
    }
    for (unsigned i = 0; i < 4; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    destroy_tables(&engine);
}

// ---- replicas that wait for each other
// -----------------------------------------------------------

// tests/unit/door.cmake puts this in the way of the clock.
uint64_t __real_keel_clock_monotonic(void);
uint64_t __wrap_keel_clock_monotonic(void);
static uint64_t clock_ahead; // nanoseconds

uint64_t __wrap_keel_clock_monotonic(void) {
    return __real_keel_clock_monotonic() + clock_ahead;
}

static void pass_seconds(uint64_t seconds) {
    clock_ahead += seconds * 1000000000u;
}

static void launch_on(keel_gang_t *gang, const PJRT_LoadedExecutable *loaded, uintptr_t device) {
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_LoadedExecutable_Execute_Args args = {.executable =
                                                   (PJRT_LoadedExecutable *)(uintptr_t)loaded,
                                               .options = &options,
                                               .num_devices = 1,
                                               .execute_device = (PJRT_Device *)(64 * device)};
    keel_gang_call_t call;
    assert_ok(keel_gang_begin(gang, &args, &call));
    keel_gang_end(&args, &call);
}

// Says how many of three devices wait, and for how many seconds.
static bool is_stuck(const gangs_t *gangs, unsigned waiting, unsigned seconds) {
    char text[640] = "", devices[64], time[64];
    if (!gangs_find_stuck(gangs, text, sizeof text)) return false;
    snprintf(devices, sizeof devices, "%u of 3 devices", waiting);
    snprintf(time, sizeof time, " %u s", seconds);
    assert_non_null(strstr(text, devices));
    assert_non_null(strstr(text, time));
    return strncmp(text, "step ", 5) == 0;
}

static void test_replicas_that_wait_for_others_are_told_after_20_seconds(void **state) {
    (void)state;
    gangs_t gangs = {0};
    keel_gang_t *gang;
    keel_digest_t key = key_of(1);
    PJRT_LoadedExecutable *leader;
    assert_ok(
        gang_join(&gangs,
                  &(gang_program_t){
                      .client = (const PJRT_Client *)8, .key = &key, .name = "step", .replicas = 3},
                  &gang));
    pass_seconds(100);
    assert_false(is_stuck(&gangs, 0, 0)); // nobody yet
    launch_on(gang, pointer(0), 1);
    launch_on(gang, pointer(0), 2);
    pass_seconds(19);
    assert_false(is_stuck(&gangs, 0, 0));
    pass_seconds(1);
    assert_true(is_stuck(&gangs, 2, 20));
    launch_on(gang, pointer(0), 3);
    pass_seconds(100);
    assert_false(is_stuck(&gangs, 0, 0)); // all have come
    launch_on(gang, pointer(0), 3);
    pass_seconds(30);
    assert_true(is_stuck(&gangs, 1, 30));
    launch_on(gang, pointer(0), 1);
    assert_false(is_stuck(&gangs, 0, 0)); // one has just come
    assert_true(gang_leave(&gangs, gang, pointer(0), true, &leader));
    assert_false(is_stuck(&gangs, 0, 0));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_entry_that_others_can_write_is_loaded_only_if_shared),
        TEST(a_run_folder_that_others_own_or_can_write_is_not_used),
        TEST(an_entry_that_no_longer_loads_leaves_memory_too),
        TEST(readonly_it_leaves_memory_and_stays_on_the_disk),
        TEST(a_serialization_without_bytes_is_not_stored),
        TEST(an_optimized_program_is_not_written_past_a_short_buffer),
        TEST(a_number_behind_the_name_of_hlo_is_no_part_of_it),
        TEST(retraces_beyond_the_first_sixteen_are_counted),
        TEST(a_forked_child_destroys_its_buffers_itself),
        TEST(an_executable_is_found_behind_others_that_are_gone),
        TEST(replicas_that_wait_for_others_are_told_after_20_seconds),
        TEST(each_executable_is_known_however_many_there_are),
        TEST(threads_add_take_and_close_executables_that_share_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
