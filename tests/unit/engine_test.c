// The way of a program through the door: what is compiled, what is loaded, and what the client gets
// when something on the way fails.
#define _GNU_SOURCE
#include <pthread.h>
#include <pwd.h>
#include <sys/stat.h>

#include "door_help.h"
#include "fork_at_rest.h"

static keel_bytes_t sample(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", KEEL_TEST_SAMPLES, name);
    uint8_t *data;
    size_t size;
    keel_status_t status = keel_file_read(path, 1 << 24, &data, &size);
    if (status) fprintf(stdout, "%s\n", keel_status_message(status));
    CHECK(!status);
    return keel_bytes(data, size);
}

static unsigned count_compiles(const door_t *door) {
    return count_lines(door->calls, "compile ");
}

static unsigned count_loads(const door_t *door, const char *tier) {
    char text[64];
    snprintf(text, sizeof text, "\"tier\":\"%s", tier);
    return count_events(door, "\"event\":\"load\"", text);
}

static void live_alpha(const door_t *door) {
    (void)door;
    door_live("alpha");
}

// No user of this test has an entry in the user database, so without HOME there is no home folder.
// It stands before the C library's function.
int getpwuid_r(uid_t uid, struct passwd *entry, char *texts, size_t size, struct passwd **out) {
    (void)uid, (void)entry, (void)texts, (void)size;
    *out = NULL;
    return 0;
}

// ---- looking up --------------------------------------------------------------------------------

static void compile_one_of_each(const door_t *door) {
    (void)door;
    static const char *const rows[][2] = {
        {"mlir", "mlir/nested_jit.mlir"}, {"hlo", "hlo/linear_step.hlo"}, {"text", NULL}};
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    for (int i = 0; i < 3; ++i) {
        keel_bytes_t code = rows[i][1] ? sample(rows[i][1]) : keel_str_bytes(keel_str("plain"));
        PJRT_LoadedExecutable *loaded;
        NO_ERROR(api, door_compile_bytes(api, client, rows[i][0], code, &loaded));
        CHECK(door_is(api, loaded, code));
        CHECK(door_serializes_alive(api, client, loaded));
        door_destroy(api, loaded);
        if (rows[i][1]) keel_free((void *)(uintptr_t)code.data);
    }
    door_close(api, client);
}

// One set of options for three programs, in both processes: as door_compile_bytes sends it.
static void check_kept_options(const door_t *door) {
    char path[700], hex[KEEL_DIGEST_HEX], text[100];
    keel_bytes_t sent = keel_bytes("\x1a\x04\x20\x01\x28\x01", 6);
    keel_digest_t digest = keel_digest(sent);
    keel_digest_hex(&digest, hex);
    snprintf(path, sizeof path, "%s/programs", door->runs);
    assert_int_equal(count_below(path, ".options.zst"), 1);
    snprintf(path, sizeof path, "%s/programs/%s.options.zst", door->runs, hex);
    uint8_t *data;
    size_t size;
    assert_ok(keel_journal_read_program(path, &data, &size));
    assert_int_equal(size, sent.size);
    assert_memory_equal(data, sent.data, size);
    keel_free(data);
    snprintf(text, sizeof text, "\"options\":\"%s\"", hex);
    assert_int_equal(count_events(door, "\"event\":\"compile\"", text), 3);
    assert_int_equal(count_events(door, "\"event\":\"load\"", text), 3 + 2 * 3); // both load again
}

static void test_the_second_process_compiles_nothing(void **state) {
    const door_t *door = *state;
    door_run(door, "", compile_one_of_each);
    assert_int_equal(count_compiles(door), 3);
    assert_int_equal(count_entries(door), 3);
    assert_int_equal(count_events(door, "\"event\":\"miss\"", "\"reason\":\"absent\""), 3);
    assert_int_equal(count_events(door, "\"event\":\"publish\"", ""), 3);
    door_run(door, "", compile_one_of_each);
    assert_int_equal(count_compiles(door), 3);
    assert_int_equal(count_loads(door, "disk"), 3);
    check_kept_options(door);
    assert_int_equal(count_lines(door->calls, "leak"), 0);
    assert_int_equal(count_events(door, "\"event\":\"start\"", ""), 2);
    assert_int_equal(count_events(door, "\"event\":\"end\"", ""), 2);
    assert_int_equal(count_files(&door->place, "locks", ""), 0);
    assert_int_equal(count_files(&door->place, "marks", ""), 0);
    // Only the program in no format that is read is worth a word.
    door_show(door->errors);
    assert_int_equal(count_lines(door->errors, "not understood, so it is keyed by its bytes"), 2);
    assert_int_equal(count_events(door, "\"event\":\"fallback\"", "\"what\":\"read\""), 2 * 2);
}

static void compile_twice(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *first = door_compile(api, client, "alpha");
    PJRT_LoadedExecutable *second = door_compile(api, client, "alpha");
    CHECK(first != second);
    CHECK(door_serializes_alive(api, client, first));
    CHECK(door_serializes_alive(api, client, second));
    door_destroy(api, first);
    CHECK(door_serializes_alive(api, client, second));
    door_destroy(api, second);
    door_close(api, client);
}

static void test_one_process_compiles_a_program_once(void **state) {
    const door_t *door = *state;
    door_run(door, "", compile_twice);
    assert_int_equal(count_compiles(door), 1);
    assert_int_equal(count_own_loads(door), 1);
}

// The second may be loaded from the disk, if the first has not reached memory yet; then the third
// is loaded from there.
static void live_thrice(const door_t *door) {
    for (int i = 0; i < 3; ++i)
        live_alpha(door);
}

static void test_memory_serves_what_the_process_has_loaded(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_thrice);
    assert_int_equal(count_compiles(door), 1);
    assert_in_range(count_loads(door, "memory"), 1, 2);
}

static void test_without_a_memory_tier_the_disk_serves(void **state) {
    const door_t *door = *state;
    door_run(door, "KEEL_MEMORY_LIMIT=0", compile_twice);
    assert_int_equal(count_compiles(door), 1);
    assert_int_equal(count_loads(door, "disk"), 1);
}

static void test_what_changes_code_from_outside_is_in_the_key(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_alpha);
    door_run(door, "XLA_FLAGS=--xla_cpu_max_isa=AVX2", live_alpha);
    assert_int_equal(count_compiles(door), 2);
    door_run(door, "TEST_PLUGIN=no_topology", live_alpha);
    assert_int_equal(count_compiles(door), 3);
    door_run(door, "XLA_FLAGS=--xla_hlo_graph_addresses=true", live_alpha);
    assert_int_equal(count_compiles(door), 3);
}

static void outlive(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded = door_compile(api, client, "alpha");
    PJRT_Executable *one = door_take(api, loaded), *two = door_take(api, loaded);
    door_destroy(api, loaded);
    door_destroy_executable(api, one);
    PJRT_Executable_Serialize_Args args = {
        .struct_size = PJRT_Executable_Serialize_Args_STRUCT_SIZE, .executable = two};
    NO_ERROR(api, api->PJRT_Executable_Serialize(&args));
    door_destroy_executable(api, two);
    door_close(api, client);
    CHECK(args.serialized_bytes_size == 21);
    CHECK(memcmp(args.serialized_bytes, "test executable\nalpha", 21) == 0);
    args.serialized_executable_deleter(args.serialized_executable);
}

static void test_serialized_bytes_outlive_all_they_came_from(void **state) {
    door_run(*state, "", outlive);
    door_run(*state, "", outlive);
    assert_int_equal(count_compiles(*state), 1);
}

static void compile_partitioner(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    keel_bytes_t code = sample("mlir/custom_partitioning.mlir");
    PJRT_LoadedExecutable *loaded;
    for (int i = 0; i < 2; ++i) {
        NO_ERROR(api, door_compile_bytes(api, client, "mlir", code, &loaded));
        door_destroy(api, loaded);
        keel_bytes_t unread = keel_str_bytes(keel_str("calls a custom_call"));
        NO_ERROR(api, door_compile_bytes(api, client, "text", unread, &loaded));
        door_destroy(api, loaded);
    }
    keel_free((void *)(uintptr_t)code.data);
    door_close(api, client);
}

static void test_what_must_not_be_cached_is_compiled_each_time(void **state) {
    const door_t *door = *state;
    door_run(door, "", compile_partitioner);
    door_run(door, "", compile_partitioner);
    assert_int_equal(count_compiles(door), 8);
    assert_int_equal(count_entries(door), 0);
    assert_int_equal(count_events(door, "\"event\":\"uncacheable\"", "\"CustomSPMDPartitioning\""),
                     4);
    assert_int_equal(count_events(door, "\"event\":\"compile\"", "\"cacheable\":false"), 8);
    assert_int_equal(count_own_loads(door), 0);
}

// ---- modes -------------------------------------------------------------------------------------

static void test_readonly_looks_up_and_writes_nothing(void **state) {
    const door_t *door = *state;
    door_run(door, "KEEL_MODE=readonly", live_alpha);
    assert_int_equal(count_compiles(door), 1);
    assert_false(exists(door->place.cache));
    door_run(door, "", live_alpha);
    assert_int_equal(count_compiles(door), 2);
    door_run(door, "KEEL_MODE=readonly", live_alpha);
    assert_int_equal(count_compiles(door), 2);
}

static void test_refresh_compiles_anew_and_stores_it(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_alpha);
    char path[600];
    assert_int_equal(count_entries(door), 1);
    door_run(door, "KEEL_MODE=refresh", live_alpha);
    assert_int_equal(count_compiles(door), 2);
    assert_int_equal(count_events(door, "\"event\":\"publish\"", ""), 2);
    assert_int_equal(count_entries(door), 1);
    door_run(door, "", live_alpha);
    assert_int_equal(count_compiles(door), 2);
    snprintf(path, sizeof path, "%s/programs", door->runs);
    assert_int_equal(count_below(path, ".mlir.zst"), 1);
}

// ---- bad entries -------------------------------------------------------------------------------

static void test_a_load_that_kills_the_process_is_not_tried_forever(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_alpha);
    door_run_expecting(door, "KEEL_PREFETCH=off\nTEST_PLUGIN=load_aborts=alpha", live_alpha,
                       128 + SIGABRT);
    // It is compiled anew, but the proof kills this process too.
    door_run_expecting(door, "KEEL_PREFETCH=off\nTEST_PLUGIN=load_aborts=alpha", live_alpha,
                       128 + SIGABRT);
    assert_int_equal(count_compiles(door), 2);
    assert_int_equal(count_lines(door->errors, "crashed an earlier process"), 1);
    for (int i = 0; i < 2; ++i)
        door_run(door, "TEST_PLUGIN=load_aborts=alpha", live_alpha);
    assert_int_equal(count_compiles(door), 4);
    assert_int_equal(count_lines(door->errors, "has crashed 2 processes"), 2);
    assert_int_equal(count_events(door, "\"event\":\"miss\"", "\"reason\":\"quarantined\""), 3);
}

// Until a line of the file holds the text; false where it never does.
static bool wait_for_line(const char *path, const char *text) {
    for (int i = 0; i < 60000; ++i) {
        if (count_lines(path, text)) return true;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return false;
}

static pid_t start_and_wait_for(const door_t *door, const char *settings, door_body_t *body,
                                const char *call) {
    pid_t child = door_start(door, settings, body);
    assert_true(wait_for_line(door->calls, call));
    return child;
}

static void kill_and_wait(pid_t child) {
    kill(child, SIGKILL);
    assert_int_equal(door_wait(child), 128 + SIGKILL);
}

static void test_each_process_killed_while_loading_costs_one_compile(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_alpha);
    // However often: a proof that succeeds clears the entry of it.
    for (int kills = 0; kills < 3; ++kills) {
        unlink(door->calls);
        kill_and_wait(start_and_wait_for(door, "KEEL_PREFETCH=off\nTEST_PLUGIN=load_ms=600000",
                                         live_alpha, "load alpha"));
        unlink(door->calls);
        door_run(door, "", live_alpha);
        assert_int_equal(count_compiles(door), 1);
        assert_int_equal(count_files(&door->place, "quarantine", "crashed"), 0);
        door_run(door, "", live_alpha);
        assert_int_equal(count_compiles(door), 1);
    }
}

// As a worker of a pool does that is through with its work.
static void compile_alpha_and_leave(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    door_compile(api, door_client(api), "alpha");
    CHECK(wait_for_line(door->calls, "load alpha"));
    _exit(0);
}

static void test_a_process_that_ends_at_once_loses_what_it_compiled_last_but_once(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=load_ms=600000", compile_alpha_and_leave);
    assert_int_equal(count_entries(door), 0);
    // What a process has died of is proved before the client may end the next one.
    unlink(door->calls);
    door_run(door, "TEST_PLUGIN=load_ms=500", compile_alpha_and_leave);
    assert_int_equal(count_entries(door), 1);
    assert_int_equal(count_files(&door->place, "quarantine", "crashed"), 0);
    unlink(door->calls);
    door_run(door, "", live_alpha);
    assert_int_equal(count_compiles(door), 0);
}

static void live_executing(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *alpha = door_compile(api, client, "alpha");
    for (int i = 0; i < 7; ++i)
        door_execute(api, alpha);
    for (;;)
        pause();
}

static void test_a_killed_process_has_told_what_it_executed(void **state) {
    const door_t *door = *state;
    pid_t child = door_start(door, "", live_executing);
    for (int i = 0; i < 2400 && !count_events(door, "\"event\":\"executes\"", ",7]}"); ++i)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    kill_and_wait(child);
    assert_int_equal(count_events(door, "\"event\":\"executes\"", ",7]}"), 1);
}

static void damage_entries(const door_t *door, size_t at) {
    char command[700];
    snprintf(command, sizeof command,
             "for f in %s/entries/*/*.keel; do printf XXXX | dd of=$f bs=1 seek=%zu conv=notrunc "
             "2>/dev/null; done",
             door->place.cache, at);
    assert_int_equal(system(command), 0);
}

static void test_a_damaged_entry_is_compiled_anew_and_heals(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_alpha);
    damage_entries(door, 40);
    door_run(door, "", live_alpha);
    assert_int_equal(count_compiles(door), 2);
    assert_int_equal(count_events(door, "\"event\":\"miss\"", "\"reason\":\"damaged\""), 1);
    door_run(door, "", live_alpha);
    assert_int_equal(count_compiles(door), 2);
}

static void test_an_entry_that_does_not_load_is_compiled_anew(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_alpha);
    door_run(door, "TEST_PLUGIN=load_fails=alpha", live_alpha);
    assert_int_equal(count_compiles(door), 2);
    assert_int_equal(count_events(door, "\"event\":\"store_error\"", "will not load"), 2);
    assert_int_equal(count_entries(door), 0);
    assert_int_equal(count_files(&door->place, "quarantine", "does-not-load"), 1);
    door_run(door, "", live_alpha);
    door_run(door, "", live_alpha);
    assert_int_equal(count_compiles(door), 3);
}

// ---- falling through ---------------------------------------------------------------------------

static void live_twice(const door_t *door) {
    (void)door;
    door_live("alpha");
    door_live("beta");
}

static void test_every_failure_falls_through_to_the_plugin(void **state) {
    static const struct {
        const char *settings, *said;
        unsigned lines;    // that say it, of two processes: once for each thing that failed
        unsigned compiles; // of two processes that compile two programs each
    } rows[] = {
        {"TEST_PLUGIN=no_serialize", "cannot serialize executables", 2, 4},
        {"TEST_PLUGIN=load_fails", "will not load", 2, 4},
        {"TEST_PLUGIN=no_attributes", "no attributes", 2, 4},
        {"TEST_PLUGIN=no_topology", "topology", 0, 2},
        {"KEEL_CACHE_DIR=/dev/null", "/dev/null", 4, 4},
        {"KEEL_CACHE_DIR=/proc/nowhere/cache", "/proc/nowhere", 2, 4},
        {"KEEL_RUN_DIR=/dev/null", "/dev/null", 2, 2},
        {"KEEL_CACHE_LIMIT=16", "KEEL_CACHE_LIMIT", 2, 4},
    };
    door_t *door = *state;
    char folder[300];
    snprintf(folder, sizeof folder, "%.200s", door->place.cache);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        unlink(door->calls);
        unlink(door->errors);
        snprintf(door->place.cache, sizeof door->place.cache, "%.200s.%zu", folder, i);
        for (int run = 0; run < 2; ++run)
            door_run(door, rows[i].settings, live_twice);
        assert_int_equal(count_compiles(door), rows[i].compiles);
        if (count_lines(door->errors, rows[i].said) != rows[i].lines) door_show(door->errors);
        assert_int_equal(count_lines(door->errors, rows[i].said), rows[i].lines);
    }
}

static void compile_in_vain(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    for (int i = 0; i < 2; ++i) {
        PJRT_LoadedExecutable *loaded;
        PJRT_Error *error =
            door_compile_bytes(api, client, "text", keel_bytes("program", 7), &loaded);
        char text[1024];
        CHECK(error && !keel_pjrt_error_is_own(error));
        door_message(api, error, text);
        CHECK(strcmp(text, "test plugin: will not compile") == 0);
        door_drop(api, error);
    }
    door_close(api, client);
}

static void test_a_failed_compile_is_the_plugins_answer_and_holds_no_claim(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=compile_fails", compile_in_vain);
    assert_int_equal(count_compiles(door), 2);
    assert_int_equal(count_entries(door), 0);
    assert_int_equal(count_files(&door->place, "locks", ""), 0);
}

// ---- several at once ---------------------------------------------------------------------------

typedef struct worker_t {
    const PJRT_Api *api;
    PJRT_Client *client;
    int number;
} worker_t;

static void *compile_shared_and_own(void *context) {
    const worker_t *worker = context;
    char text[32];
    PJRT_LoadedExecutable *shared = door_compile(worker->api, worker->client, "shared");
    for (int i = 0; i < 4; ++i) {
        snprintf(text, sizeof text, "program %d", (worker->number + i) % 8);
        PJRT_LoadedExecutable *own = door_compile(worker->api, worker->client, text);
        for (int run = 0; run < 100; ++run)
            door_execute(worker->api, own);
        CHECK(door_serializes_alive(worker->api, worker->client, own));
        door_destroy(worker->api, own);
    }
    door_destroy(worker->api, shared);
    return NULL;
}

static void compile_on_eight_threads(const door_t *door) {
    (void)door;
    pthread_t threads[8];
    worker_t workers[8];
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    for (int i = 0; i < 8; ++i) {
        workers[i] = (worker_t){api, client, i};
        CHECK(pthread_create(&threads[i], NULL, compile_shared_and_own, &workers[i]) == 0);
    }
    for (int i = 0; i < 8; ++i)
        pthread_join(threads[i], NULL);
    door_close(api, client);
}

static void test_eight_threads_compile_each_program_once(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=compile_ms=5", compile_on_eight_threads);
    assert_int_equal(count_compiles(door), 9);
    assert_int_equal(count_entries(door), 9);
    assert_int_equal(count_events(door, "\"event\":\"end\"", "\"total\":3200"), 1);
    door_run(door, "", compile_on_eight_threads);
    assert_int_equal(count_compiles(door), 9);
}

static void test_eight_processes_compile_one_program_once(void **state) {
    const door_t *door = *state;
    pid_t children[8];
    for (int i = 0; i < 8; ++i)
        children[i] = door_start(door, "TEST_PLUGIN=compile_ms=300", live_alpha);
    for (int i = 0; i < 8; ++i)
        assert_int_equal(door_wait(children[i]), 0);
    assert_int_equal(count_compiles(door), 1);
    assert_int_equal(count_entries(door), 1);
}

static void test_a_waiter_takes_over_from_a_holder_that_dies(void **state) {
    const door_t *door = *state;
    pid_t holder =
        start_and_wait_for(door, "TEST_PLUGIN=compile_ms=600000", live_alpha, "compile alpha");
    pid_t waiter = door_start(door, "", live_alpha);
    assert_true(wait_for_line(door->errors, "waiting for"));
    char text[64];
    snprintf(text, sizeof text, "pid %d", (int)holder);
    assert_int_equal(count_lines(door->errors, text), 1);
    assert_int_equal(count_compiles(door), 1);
    kill_and_wait(holder);
    assert_int_equal(door_wait(waiter), 0);
    assert_int_equal(count_compiles(door), 2);
    assert_int_equal(count_entries(door), 1);
}

static void test_processes_of_one_distributed_program_do_not_wait_for_each_other(void **state) {
    const door_t *door = *state;
    pid_t other = start_and_wait_for(door, "TEST_PLUGIN=processes=2 compile_ms=600000", live_alpha,
                                     "compile alpha");
    door_run(door, "TEST_PLUGIN=processes=2", live_alpha);
    assert_int_equal(count_compiles(door), 2);
    kill_and_wait(other);
}

// What the publishing thread held at the fork belongs to nobody in the child: no leak of ours.
static bool in_forked_child;
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
    return in_forked_child;
}

static void fork_amid_publishing(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded = door_compile(api, client, "alpha");
    PJRT_LoadedExecutable *stored = door_compile(api, client, "alpha");
    PJRT_LoadedExecutable *queued = door_compile(api, client, "beta");
    pid_t child = fork_at_rest();
    CHECK(child >= 0);
    if (!child) {
        in_forked_child = true;
        // Straight to the plugin; what came from the store is still known.
        PJRT_LoadedExecutable *third = door_compile(api, client, "gamma");
        CHECK(door_serializes_alive(api, client, third));
        CHECK(door_serializes_alive(api, client, stored));
        door_destroy(api, third);
        PJRT_Client *second = door_client(api);
        door_close(api, second);
    }
    door_destroy(api, queued);
    door_destroy(api, stored);
    door_destroy(api, loaded);
    door_close(api, client);
    if (!child) return;
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)door;
}

static void test_a_forked_child_goes_straight_to_the_plugin(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=load_ms=50", fork_amid_publishing);
    assert_int_equal(count_compiles(door), 3);
    assert_int_equal(count_entries(door), 2);
    assert_int_equal(count_events(door, "\"event\":\"end\"", ""), 1);
    assert_int_equal(count_files(&door->place, "locks", ""), 0);
}

// ---- in the background ------------------------------------------------------------------

static void test_a_client_is_destroyed_only_after_its_publications(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=load_ms=200", live_alpha);
    assert_int_equal(count_entries(door), 1);
    // The proof's load is on record before the client's end.
    char command[700];
    snprintf(command, sizeof command, "tail -n 1 %s | grep -q destroy", door->calls);
    assert_int_equal(system(command), 0);
}

static void compile_and_leave(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    door_compile(api, door_client(api), "alpha");
}

static void test_a_process_that_ends_right_after_a_compile_publishes_it(void **state) {
    const door_t *door = *state;
    door_run(door, "TEST_PLUGIN=load_ms=200", compile_and_leave);
    assert_int_equal(count_entries(door), 1);
    assert_int_equal(count_events(door, "\"event\":\"publish\"", ""), 1);
}

static volatile sig_atomic_t signals_on_main;
static pthread_t main_thread;

static void note_signal(int number) {
    (void)number;
    if (pthread_equal(pthread_self(), main_thread)) ++signals_on_main;
}

static void signal_while_publishing(const door_t *door) {
    (void)door;
    main_thread = pthread_self();
    signal(SIGUSR1, note_signal);
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    door_compile(api, client, "alpha");
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGUSR1);
    // While the main thread takes none, a signal to the process must wait for it.
    pthread_sigmask(SIG_BLOCK, &only, NULL);
    kill(getpid(), SIGUSR1);
    door_close(api, client);
    CHECK(signals_on_main == 0);
    pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    CHECK(signals_on_main == 1);
}

static void test_the_clients_signals_are_left_to_its_own_threads(void **state) {
    door_run(*state, "TEST_PLUGIN=load_ms=50", signal_while_publishing);
}

// ---- the optimized program ---------------------------------------------------------------------

static void ask_for_optimized_program(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded = door_compile(api, client, "alpha");
    PJRT_Executable *executable = door_take(api, loaded);
    char text[64] = "";
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE};
    PJRT_Executable_OptimizedProgram_Args args = {
        .struct_size = PJRT_Executable_OptimizedProgram_Args_STRUCT_SIZE,
        .executable = executable,
        .program = &program};
    CHECK(!api->PJRT_Executable_OptimizedProgram(&args));
    CHECK(program.code_size == strlen("alpha"));
    program.code = text;
    CHECK(!api->PJRT_Executable_OptimizedProgram(&args));
    CHECK(strcmp(text, "alpha") == 0);
    CHECK(program.format_size == 4 && memcmp(program.format, "text", 4) == 0);
    door_destroy_executable(api, executable);
    door_close(api, client);
}

static void test_the_optimized_program_of_what_was_stored_is_not_made_again(void **state) {
    const door_t *door = *state;
    door_run(door, "", ask_for_optimized_program);
    unlink(door->calls);
    door_run(door, "", ask_for_optimized_program);
    assert_int_equal(count_lines(door->calls, "load alpha"), 1);
    assert_int_equal(count_lines(door->calls, "optimized"), 0);
}

// ---- counting ----------------------------------------------------------------------------------

static void execute_some(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *alpha = door_compile(api, client, "alpha");
    for (int i = 0; i < 5; ++i)
        door_execute(api, alpha);
    PJRT_LoadedExecutable *beta = door_compile(api, client, "beta");
    for (int i = 0; i < 3; ++i)
        door_execute(api, beta);
    door_destroy(api, alpha);
    alpha = door_compile(api, client, "alpha");
    door_execute(api, alpha);
    door_destroy(api, alpha);
    door_destroy(api, beta);
    door_close(api, client);
}

static void test_executions_are_counted_by_program(void **state) {
    const door_t *door = *state;
    door_run(door, "", execute_some);
    assert_int_equal(count_events(door, "\"event\":\"compile\"", ",5]}"), 1);
    assert_int_equal(count_events(door, "\"event\":\"load\"", ",3]}"), 1);
    assert_int_equal(count_events(door, "\"event\":\"end\"", "\"total\":9"), 1);
    assert_int_equal(count_events(door, "\"event\":\"end\"", ",1]}"), 1);
}

enum { MANY = (1 << 14) + 600 }; // more than the first table has room for

static void hold_many(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    static PJRT_LoadedExecutable *loaded[MANY];
    for (int i = 0; i < MANY; ++i)
        NO_ERROR(api, door_compile_bytes(api, client, "text", keel_bytes("alpha", 5), &loaded[i]));
    for (int i = 0; i < MANY; ++i) {
        door_execute(api, loaded[i]);
        if (i % 64 == 0 || i > MANY - 700) CHECK(door_serializes_alive(api, client, loaded[i]));
    }
    for (int i = 0; i < MANY; ++i)
        door_destroy(api, loaded[i]);
    PJRT_LoadedExecutable *last = door_compile(api, client, "alpha");
    CHECK(door_serializes_alive(api, client, last));
    door_close(api, client);
}

static void test_many_executables_of_one_process_are_all_loaded_and_counted(void **state) {
    const door_t *door = *state;
    door_run(door, "", live_alpha);
    door_run(door, "KEEL_MODE=readonly", hold_many);
    assert_int_equal(count_compiles(door), 1);
    char text[64];
    snprintf(text, sizeof text, "\"total\":%d", MANY);
    assert_int_equal(count_events(door, "\"event\":\"end\"", text), 1);
    assert_int_equal(count_entries(door), 1);
}

static void test_without_a_home_folder_a_client_works_and_nothing_is_kept(void **state) {
    const door_t *door = *state;
    static const char *const settings[] = {"HOME=\nKEEL_CACHE_DIR=\nKEEL_RUN_DIR=",
                                           "HOME=\nKEEL_CACHE_DIR=\nKEEL_RUN_DIR=\nKEEL_MODE=off"};
    for (int i = 0; i < 2; ++i)
        door_run(door, settings[i], compile_one_of_each);
    assert_int_equal(count_compiles(door), 6);
    assert_int_equal(count_entries(door), 0);
    assert_int_equal(count_lines(door->errors, "set KEEL_CACHE_DIR; nothing is cached"), 1);
    assert_int_equal(count_lines(door->errors, "set KEEL_RUN_DIR; the run continues without it"),
                     1);
    assert_false(exists("/plugins"));
}

static void test_a_cache_folder_that_others_can_write_is_not_used(void **state) {
    const door_t *door = *state;
    door_run(door, "", compile_one_of_each);
    assert_int_equal(count_compiles(door), 3);
    assert_int_equal(chmod(door->place.cache, 0777), 0);
    door_run(door, "", compile_one_of_each);
    assert_int_equal(count_compiles(door), 6);
    assert_int_equal(count_own_loads(door), 0);
    assert_int_equal(count_lines(door->errors, "can be written by all users (mode 0777); nothing"),
                     1);
    door_run(door, "KEEL_SHARED_CACHE=on", compile_one_of_each);
    assert_int_equal(count_compiles(door), 6);
    assert_int_equal(chmod(door->place.cache, 0700), 0);
    door_run(door, "", compile_one_of_each);
    assert_int_equal(count_compiles(door), 6);
}

static void test_a_cache_folder_is_enough(void **state) {
    const door_t *door = *state;
    for (int i = 0; i < 2; ++i)
        door_run(door, "HOME=\nKEEL_RUN_DIR=", compile_one_of_each);
    assert_int_equal(count_compiles(door), 3);
    assert_int_equal(count_entries(door), 3);
}

static void test_without_a_cache_folder_a_run_is_recorded(void **state) {
    const door_t *door = *state;
    door_run(door, "HOME=\nKEEL_CACHE_DIR=", compile_one_of_each);
    assert_int_equal(count_compiles(door), 3);
    assert_int_equal(count_events(door, "\"event\":\"compile\"", ""), 3);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_second_process_compiles_nothing),
        TEST(without_a_home_folder_a_client_works_and_nothing_is_kept),
        TEST(a_cache_folder_that_others_can_write_is_not_used),
        TEST(a_cache_folder_is_enough),
        TEST(without_a_cache_folder_a_run_is_recorded),
        TEST(one_process_compiles_a_program_once),
        TEST(memory_serves_what_the_process_has_loaded),
        TEST(without_a_memory_tier_the_disk_serves),
        TEST(what_changes_code_from_outside_is_in_the_key),
        TEST(serialized_bytes_outlive_all_they_came_from),
        TEST(what_must_not_be_cached_is_compiled_each_time),
        TEST(readonly_looks_up_and_writes_nothing),
        TEST(refresh_compiles_anew_and_stores_it),
        TEST(a_load_that_kills_the_process_is_not_tried_forever),
        TEST(each_process_killed_while_loading_costs_one_compile),
        TEST(a_process_that_ends_at_once_loses_what_it_compiled_last_but_once),
        TEST(a_killed_process_has_told_what_it_executed),
        TEST(a_damaged_entry_is_compiled_anew_and_heals),
        TEST(an_entry_that_does_not_load_is_compiled_anew),
        TEST(every_failure_falls_through_to_the_plugin),
        TEST(a_failed_compile_is_the_plugins_answer_and_holds_no_claim),
        TEST(eight_threads_compile_each_program_once),
        TEST(eight_processes_compile_one_program_once),
        TEST(a_waiter_takes_over_from_a_holder_that_dies),
        TEST(processes_of_one_distributed_program_do_not_wait_for_each_other),
        TEST(a_forked_child_goes_straight_to_the_plugin),
        TEST(a_client_is_destroyed_only_after_its_publications),
        TEST(a_process_that_ends_right_after_a_compile_publishes_it),
        TEST(the_clients_signals_are_left_to_its_own_threads),
        TEST(the_optimized_program_of_what_was_stored_is_not_made_again),
        TEST(executions_are_counted_by_program),
        TEST(many_executables_of_one_process_are_all_loaded_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
