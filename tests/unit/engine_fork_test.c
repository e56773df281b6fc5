// A process that forks while its threads are inside the engine: the child can call any function,
// although no thread there releases what the parent's threads held.
#define _GNU_SOURCE
#include <pthread.h>

#include "engine_help.h"

#include "engine/executables.h"
#include "engine/flow.h"
#include "engine/flow_journal.h"
#include "engine/steps.h"

enum { FORKS = 30, SECONDS = 30 };

typedef struct busy_t {
    bare_t bare;
    PJRT_LoadedExecutable *loaded; // came from the store
    atomic_bool stops;
} busy_t;

static const PJRT_Buffer *const buffer = (const PJRT_Buffer *)64;

static void execute(const busy_t *busy) {
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .executable = busy->loaded,
                                               .num_devices = 1};
    CHECK(!keel_engine_executed(busy->bare.engine, &args));
}

static void send_array(keel_engine_t *engine) {
    keel_engine_sent(engine, 8, 1);
    keel_engine_sent_array(engine, buffer, PJRT_Buffer_Type_F32, (const int64_t[]){2}, 1);
}

static void read_back(const busy_t *busy) {
    keel_reading_t reading = keel_engine_read_begins(busy->bare.engine, buffer, 4);
    keel_engine_read_ends(busy->bare.engine, &reading, NULL);
}

// ---- threads that hold locks -------------------------------------------------------------------

static void *execute_and_read(void *context) {
    busy_t *busy = context;
    while (!atomic_load(&busy->stops)) {
        execute(busy);
        read_back(busy);
        send_array(busy->bare.engine);
        flow_end(busy->bare.engine);
    }
    return NULL;
}

static void *ask_for_steps(void *context) {
    busy_t *busy = context;
    while (!atomic_load(&busy->stops)) {
        keel_engine_steps_t steps;
        keel_engine_steps(busy->bare.engine, &steps);
        keel_engine_step(busy->bare.engine);
    }
    return NULL;
}

static void *take_executables(void *context) {
    busy_t *busy = context;
    const PJRT_Executable *taken = (const PJRT_Executable *)8;
    while (!atomic_load(&busy->stops)) {
        keel_payload_t payload;
        CHECK(!keel_engine_executable_taken(busy->bare.engine, busy->loaded, taken));
        keel_stored_release(keel_engine_stored(busy->bare.engine, taken, &payload));
        keel_engine_executable_closing(busy->bare.engine, taken);
    }
    return NULL;
}

// What a compile and the background do, on and on.
static void *count_and_write(void *context) {
    busy_t *busy = context;
    for (uint32_t i = 0; !atomic_load(&busy->stops); ++i) {
        keel_digest_t program = key_of(i % 200), key = key_of(i);
        const steps_ask_t ask = {.program = &program,
                                 .key = &key,
                                 .function = keel_bytes(program.bytes, KEEL_DIGEST_SIZE),
                                 .ops = 1};
        keel_journal_counts_t counts;
        const keel_place_t place = {
            .file = "/w/train.py", .line = i % 50 + 1, .function = "main", .call_file = ""};
        steps_when_t when;
        CHECK(!steps_asked(busy->bare.engine, &ask, &when));
        flow_asked(busy->bare.engine, &program, &place, true);
        CHECK(!counters_collect(busy->bare.engine->counters, &counts));
        keel_free((void *)(uintptr_t)counts.data);
        flow_journal(busy->bare.engine);
    }
    return NULL;
}

// ---- the child ---------------------------------------------------------------------------------

// Every function that the plugin door calls.
static void call_everything(busy_t *busy) {
    keel_engine_t *engine = busy->bare.engine;
    keel_engine_steps_t steps;
    keel_payload_t payload;
    PJRT_LoadedExecutable *loaded = bare_compile(&busy->bare, "gamma");
    CHECK(keel_engine_loaded_closing(engine, loaded));
    door_destroy(busy->bare.plugin.api, loaded);
    PJRT_Client *client = door_client(busy->bare.plugin.api);
    keel_engine_client_created(engine, client, NULL, 0);
    keel_engine_client_closing(engine, client);
    door_close(busy->bare.plugin.api, client);
    for (int i = 0; i < 3; ++i) {
        execute(busy);
        read_back(busy);
        send_array(engine);
        keel_engine_step(engine);
        keel_engine_steps(engine, &steps);
    }
    CHECK(steps.marked);
    CHECK(!keel_engine_releases(engine) &&
          !keel_engine_release(engine, (PJRT_Buffer *)(uintptr_t)buffer));
    const PJRT_Executable *taken = (const PJRT_Executable *)16;
    CHECK(!keel_engine_executable_taken(engine, busy->loaded, taken));
    keel_stored_t *stored = keel_engine_stored(engine, taken, &payload);
    CHECK(stored && payload.executable.size);
    keel_stored_release(stored);
    keel_engine_executable_closing(engine, taken);
    CHECK(!keel_engine_loaded_is_deleted(engine, busy->loaded));
    CHECK(keel_engine_loaded_deleting(engine, busy->loaded));
    CHECK(keel_engine_loaded_closing(engine, busy->loaded));
    keel_engine_note_fix(engine, &(keel_journal_fix_t){.name = "none"});
    keel_engine_end(engine);
}

// A child of the child finds all locks free too.
static void live_in_a_child(busy_t *busy) {
    alarm(SECONDS);
    pid_t grandchild = fork();
    CHECK(grandchild >= 0);
    if (!grandchild) alarm(SECONDS);
    call_everything(busy);
    int status = 0;
    CHECK(!grandchild || (waitpid(grandchild, &status, 0) == grandchild && status == 0));
    _exit(0);
}

static void fork_amid_all(const door_t *door) {
    static void *(*const bodies[])(void *) = {execute_and_read, ask_for_steps, take_executables,
                                              count_and_write};
    enum { THREADS = sizeof bodies / sizeof *bodies };
    static busy_t busy;
    pthread_t threads[THREADS];
    bare_engine(&busy.bare, KEEL_TEST_PLUGIN);
    bare_client(&busy.bare);
    bare_live(&busy.bare, "alpha");
    bare_close(&busy.bare);
    bare_client(&busy.bare);
    busy.loaded = bare_compile(&busy.bare, "alpha");
    CHECK(count_lines(door->calls, "compile alpha") == 1);
    for (int i = 0; i < THREADS; ++i)
        CHECK(pthread_create(&threads[i], NULL, bodies[i], &busy) == 0);
    for (int i = 0; i < FORKS; ++i) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) live_in_a_child(&busy);
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    atomic_store(&busy.stops, true);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    CHECK(keel_engine_loaded_closing(busy.bare.engine, busy.loaded));
    door_destroy(busy.bare.plugin.api, busy.loaded);
    bare_close(&busy.bare);
    keel_engine_end(busy.bare.engine);
}

static void test_a_forked_child_may_call_whatever_its_parents_threads_were_in(void **state) {
    door_run(*state, "KEEL_PREFETCH=off", fork_amid_all);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_forked_child_may_call_whatever_its_parents_threads_were_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
