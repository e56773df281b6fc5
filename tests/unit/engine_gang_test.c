// Replica threads on a plugin that gathers the devices of an execution: the executables of one
// program are executed as one, and are the client's own in every other way.
#define _GNU_SOURCE
#include "door_help.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "hlo_proto.h"

#define NEWER "TEST_PLUGIN=platform=cpu minor=106"

static keel_bytes_t options;
static proto_t program;

// An all-reduce, for four replicas.
static int setup(void **state) {
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(KEEL_TEST_SAMPLES "/opts/torch_4.opts", 1 << 20, &data, &size));
    options = keel_bytes(data, size);
    proto_t one = instruction("all-reduce", 1, NULL, 0), body = proto();
    put_message(&body, 2, &one);
    program = module_of(&body, 1);
    return door_setup(state);
}

static int teardown(void **state) {
    keel_free((void *)(uintptr_t)options.data);
    keel_buffer_deinitialize(&program);
    return door_teardown(state);
}

static PJRT_LoadedExecutable *compile(const PJRT_Api *api, PJRT_Client *client) {
    keel_bytes_t code = bytes_of(&program);
    PJRT_Program sent = {.struct_size = PJRT_Program_STRUCT_SIZE,
                         .code = (char *)(uintptr_t)code.data,
                         .code_size = code.size,
                         .format = "hlo",
                         .format_size = 3};
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = client,
                                     .program = &sent,
                                     .compile_options = (const char *)options.data,
                                     .compile_options_size = options.size};
    NO_ERROR(api, api->PJRT_Client_Compile(&args));
    return args.executable;
}

typedef struct launch_t {
    PJRT_LoadedExecutable *loaded;
    uintptr_t device; // 0: none is named
    int id;           // the client's own
} launch_t;

// What the plugin answers: the launch id that it was given, as the event.
static PJRT_Error *try_launch(const PJRT_Api *api, launch_t launch, uintptr_t *out) {
    PJRT_Event *event = NULL;
    PJRT_ExecuteOptions sent = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
                                .launch_id = launch.id};
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .executable = launch.loaded,
                                               .options = &sent,
                                               .num_devices = 1,
                                               .device_complete_events = &event,
                                               .execute_device = (PJRT_Device *)launch.device};
    PJRT_Error *error = api->PJRT_LoadedExecutable_Execute(&args);
    CHECK(args.executable == launch.loaded && args.options == &sent && sent.launch_id == launch.id);
    *out = (uintptr_t)event;
    return error;
}

static uintptr_t launch(const PJRT_Api *api, launch_t one) {
    uintptr_t id;
    NO_ERROR(api, try_launch(api, one, &id));
    return id;
}

// The next process may have executables at the same addresses.
static void forget_calls(const door_t *door) {
    unlink(door->calls);
}

static unsigned count_calls(const door_t *door, const char *call,
                            const PJRT_LoadedExecutable *loaded) {
    char line[64];
    snprintf(line, sizeof line, "%s %p", call, (const void *)loaded);
    return count_lines(door->calls, line);
}

// ---- executions --------------------------------------------------------------------------------

static void execute_on_two_devices(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *one = compile(api, client), *other = compile(api, client);
    CHECK(one != other);
    CHECK(launch(api, (launch_t){other, .device = 64}) == 1);
    CHECK(launch(api, (launch_t){one, .device = 128}) == 1);
    CHECK(launch(api, (launch_t){one, .device = 128}) == 2);
    CHECK(launch(api, (launch_t){other, .device = 64}) == 2);
    CHECK(launch(api, (launch_t){other, .device = 64}) == 3);
    CHECK(count_calls(door, "execute", other) == 5);
    CHECK(count_calls(door, "execute", one) == 0);
    CHECK(launch(api, (launch_t){one, .device = 128, .id = 70}) == 70);
    CHECK(launch(api, (launch_t){.loaded = one}) ==
          0); // all devices at once, or the executable's own
    door_destroy(api, one);
    door_destroy(api, other);
    door_close(api, client);
}

static void
test_executables_of_one_program_are_executed_as_one_and_counted_by_device(void **state) {
    door_run(*state, NEWER, execute_on_two_devices);
    forget_calls(*state);
    door_run(*state, NEWER, execute_on_two_devices); // loaded
}

static void execute_by_itself(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *one = compile(api, client), *other = compile(api, client);
    CHECK(launch(api, (launch_t){one, .device = 64, .id = 5}) == 5);
    CHECK(launch(api, (launch_t){other, .device = 128, .id = 6}) == 6);
    CHECK(count_calls(door, "execute", one) == 1 && count_calls(door, "execute", other) == 1);
    door_destroy(api, one);
    door_destroy(api, other);
    door_close(api, client);
}

static void test_a_plugin_that_gathers_nothing_executes_what_the_client_names(void **state) {
    door_run(*state, "TEST_PLUGIN=platform=cpu", execute_by_itself);
    forget_calls(*state);
    door_run(*state, "TEST_PLUGIN=platform=tpu minor=117", execute_by_itself);
}

// ---- the client's own view ---------------------------------------------------------------------

static void destroy_the_first_first(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *one = compile(api, client), *other = compile(api, client);
    launch(api, (launch_t){one, .device = 64});
    door_destroy(api, one);
    CHECK(count_calls(door, "unload", one) == 0);
    PJRT_LoadedExecutable *third = compile(api, client);
    CHECK(third != one);
    CHECK(launch(api, (launch_t){third, .device = 128}) == 1);
    door_destroy(api, third);
    CHECK(count_calls(door, "unload", third) == 1);
    CHECK(launch(api, (launch_t){other, .device = 128}) == 2);
    CHECK(count_calls(door, "execute", one) == 3);
    CHECK(count_calls(door, "unload", one) == 0);
    door_destroy(api, other);
    CHECK(count_calls(door, "unload", one) == 1 && count_calls(door, "unload", other) == 1);
    door_close(api, client);
}

static void test_the_executed_one_lives_until_nobody_needs_it(void **state) {
    door_run(*state, NEWER, destroy_the_first_first);
}

static bool is_deleted(const PJRT_Api *api, PJRT_LoadedExecutable *loaded) {
    PJRT_LoadedExecutable_IsDeleted_Args args = {
        .struct_size = PJRT_LoadedExecutable_IsDeleted_Args_STRUCT_SIZE, .executable = loaded};
    NO_ERROR(api, api->PJRT_LoadedExecutable_IsDeleted(&args));
    return args.is_deleted;
}

static void delete_it(const PJRT_Api *api, PJRT_LoadedExecutable *loaded) {
    PJRT_LoadedExecutable_Delete_Args args = {
        .struct_size = PJRT_LoadedExecutable_Delete_Args_STRUCT_SIZE, .executable = loaded};
    NO_ERROR(api, api->PJRT_LoadedExecutable_Delete(&args));
}

static void delete_each(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *one = compile(api, client), *other = compile(api, client);
    uintptr_t id;
    launch(api, (launch_t){one, .device = 64});
    delete_it(api, one);
    CHECK(is_deleted(api, one) && !is_deleted(api, other));
    CHECK(count_calls(door, "delete", one) == 0);
    PJRT_Error *error = try_launch(api, (launch_t){one, .device = 64}, &id);
    CHECK(error && keel_pjrt_error_is_own(error));
    door_drop(api, error);
    CHECK(launch(api, (launch_t){other, .device = 128}) == 1);
    delete_it(api, other);
    CHECK(is_deleted(api, other) && count_calls(door, "delete", other) == 1);
    door_destroy(api, other);
    door_destroy(api, one);
    CHECK(count_calls(door, "unload", one) == 1 && count_calls(door, "unload", other) == 1);
    door_close(api, client);
}

static void test_what_a_client_deletes_is_deleted_for_it_alone(void **state) {
    door_run(*state, NEWER, delete_each);
}

// ---- what a launch waits for -------------------------------------------------------------------

static void drop_a_buffer(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_LoadedExecutable *loaded = compile(api, client);
    PJRT_Buffer_Destroy_Args args = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                     .buffer = (PJRT_Buffer *)(uintptr_t)64};
    NO_ERROR(api, api->PJRT_Buffer_Destroy(&args));
    CHECK(count_lines(door->calls, "release") == 0);
    door_destroy(api, loaded);
    door_close(api, client);
    CHECK(count_lines(door->calls, "release") == 1);
}

static void test_buffers_are_destroyed_behind_the_clients_back_and_before_it_closes(void **state) {
    door_run(*state, "TEST_PLUGIN=platform=cpu runs release_ms=1500", drop_a_buffer);
}

static void drop_a_buffer_without_replicas(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    PJRT_Buffer_Destroy_Args args = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                     .buffer = (PJRT_Buffer *)(uintptr_t)64};
    NO_ERROR(api, api->PJRT_Buffer_Destroy(&args));
    CHECK(count_lines(door->calls, "release") == 1);
    door_close(api, client);
}

static void test_without_replicas_a_buffer_is_destroyed_at_once(void **state) {
    door_run(*state, "TEST_PLUGIN=platform=cpu runs release_ms=50", drop_a_buffer_without_replicas);
}

// ---- many threads ------------------------------------------------------------------------------

enum { DEVICES = 4, THREADS = 8 };

typedef struct worker_t {
    PJRT_Client *client;
    PJRT_LoadedExecutable *shared; // by all
    uintptr_t device;
    atomic_uint *at_work;
    pthread_t thread;
} worker_t;

static void start(worker_t *workers, const worker_t *like, void *(*work)(void *)) {
    for (uintptr_t i = 0; i < THREADS; ++i) {
        workers[i] = *like;
        workers[i].device = 64 * (i % DEVICES + 1);
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
}

static void wait_for(const worker_t *workers) {
    for (int i = 0; i < THREADS; ++i)
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
}

static unsigned unloaded(const door_t *door) {
    return count_lines(door->calls, "unload ");
}

// Compiled or loaded, also by Keel itself.
static unsigned made(const door_t *door) {
    unsigned loaded = count_lines(door->calls, "load ") - unloaded(door);
    return count_lines(door->calls, "compile ") + loaded;
}

enum { LIVES = 40 };

static void *live_and_die(void *context) {
    const worker_t *worker = context;
    const PJRT_Api *api = keel_shim_api();
    for (int i = 0; i < LIVES; ++i) {
        PJRT_LoadedExecutable *loaded = compile(api, worker->client);
        uintptr_t first = launch(api, (launch_t){loaded, .device = worker->device});
        uintptr_t second = launch(api, (launch_t){loaded, .device = worker->device});
        CHECK(first > 0 && second > first);
        CHECK(!is_deleted(api, loaded));
        if (i % 3 == 0) delete_it(api, loaded);
        CHECK(is_deleted(api, loaded) == (i % 3 == 0));
        door_destroy(api, loaded);
    }
    return NULL;
}

static void let_threads_come_and_go(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    worker_t workers[THREADS];
    start(workers, &(worker_t){.client = client}, live_and_die);
    wait_for(workers);
    door_close(api, client);
    CHECK(made(door) >= THREADS * LIVES && unloaded(door) == made(door));
}

static void test_executables_of_many_threads_come_and_go_and_none_is_left(void **state) {
    door_run(*state, NEWER, let_threads_come_and_go);
}

static void *ask_once(void *context) {
    const worker_t *worker = context;
    const PJRT_Api *api = keel_shim_api();
    door_destroy(api, compile(api, worker->client));
    return NULL;
}

static void *ask_twice(void *context) {
    ask_once(context);
    return ask_once(context);
}

static void let_threads_ask(void *(*ask)(void *)) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    worker_t workers[THREADS];
    start(workers, &(worker_t){.client = client}, ask);
    wait_for(workers);
    door_close(api, client);
}

static void let_threads_ask_once(const door_t *door) {
    (void)door;
    let_threads_ask(ask_once);
}

static void let_threads_ask_twice(const door_t *door) {
    (void)door;
    let_threads_ask(ask_twice);
}

// Of each replica, not of all of them together.
static void test_a_retrace_is_what_one_thread_asks_for_again(void **state) {
    static const char *const plugins[] = {NEWER, "TEST_PLUGIN=platform=cpu",
                                          "TEST_PLUGIN=platform=tpu minor=117"};
    const door_t *door = *state;
    unsigned retraces = 0;
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; ++i) {
        door_run(door, plugins[i], let_threads_ask_once);
        assert_int_equal(count_events(door, "\"what\":\"retrace\"", ""), retraces);
        door_run(door, plugins[i], let_threads_ask_twice);
        retraces += THREADS;
        assert_int_equal(count_events(door, "\"what\":\"retrace\"", ""), retraces);
    }
}

static void *drop_buffers(void *context) {
    const PJRT_Api *api = keel_shim_api();
    (void)context;
    for (int i = 0; i < LIVES; ++i) {
        PJRT_Buffer_Destroy_Args args = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                         .buffer = (PJRT_Buffer *)(uintptr_t)64};
        NO_ERROR(api, api->PJRT_Buffer_Destroy(&args));
    }
    return NULL;
}

static void drop_buffers_of_many_threads(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    worker_t workers[THREADS];
    start(workers, &(worker_t){.client = client}, drop_buffers);
    // Some are destroyed at once, and from here on the others are behind the threads' backs.
    door_destroy(api, compile(api, client));
    wait_for(workers);
    door_close(api, client);
    CHECK(count_lines(door->calls, "release") == THREADS * LIVES);
}

static void test_each_buffer_of_many_threads_is_destroyed_once(void **state) {
    door_run(*state, "TEST_PLUGIN=platform=cpu runs", drop_buffers_of_many_threads);
}

// As long as it is not destroyed a client may do anything with an executable at any time.
static void *execute_until_deleted(void *context) {
    const worker_t *worker = context;
    const PJRT_Api *api = keel_shim_api();
    uintptr_t id;
    atomic_fetch_add(worker->at_work, 1);
    while (atomic_load(worker->at_work) < THREADS)
        sched_yield();
    for (bool deleted = false; !deleted;) {
        launch_t one = {worker->shared, .device = worker->device};
        PJRT_Error *error = try_launch(api, one, &id);
        if (error) door_drop(api, error);
        deleted = is_deleted(api, worker->shared);
    }
    return NULL;
}

static void delete_under_the_threads(const door_t *door) {
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    enum { ROUNDS = 60 };
    for (int i = 0; i < ROUNDS; ++i) {
        PJRT_LoadedExecutable *one = compile(api, client), *other = compile(api, client);
        bool follows = i % 3 == 0, leads = i % 3 == 1; // else it will, if a thread is fast enough
        if (follows || leads) launch(api, (launch_t){leads ? one : other, .device = 64});
        if (follows) door_destroy(api, other);
        atomic_uint at_work = 0;
        worker_t workers[THREADS];
        start(workers, &(worker_t){.shared = one, .at_work = &at_work}, execute_until_deleted);
        while (atomic_load(&at_work) < THREADS)
            sched_yield();
        if (leads) delete_it(api, other);
        delete_it(api, one);
        wait_for(workers);
        if (!follows && !leads) CHECK(launch(api, (launch_t){other, .device = 64}) > 0);
        door_destroy(api, one);
        if (!follows) door_destroy(api, other);
    }
    door_close(api, client);
    CHECK(made(door) >= 2 * ROUNDS && unloaded(door) == made(door));
}

static void test_an_executable_may_be_deleted_while_threads_execute_it(void **state) {
    door_run(*state, NEWER, delete_under_the_threads);
}

#ifdef KEEL_FAULTS
static void compile_with_each_allocation_failing(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    bool reached = true;
    for (uint64_t nth = 1; reached && nth < 3000; ++nth) {
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        PJRT_LoadedExecutable *loaded = compile(api, client), *other = compile(api, client);
        launch(api, (launch_t){loaded, .device = 64});
        launch(api, (launch_t){other, .device = 128});
        reached = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        door_destroy(api, loaded);
        door_destroy(api, other);
    }
    CHECK(!reached);
    door_close(api, client);
}

static void test_each_allocation_may_fail_and_the_client_executes(void **state) {
    door_run(*state, NEWER "\nKEEL_MODE=refresh", compile_with_each_allocation_failing);
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(executables_of_one_program_are_executed_as_one_and_counted_by_device),
        TEST(a_plugin_that_gathers_nothing_executes_what_the_client_names),
        TEST(the_executed_one_lives_until_nobody_needs_it),
        TEST(what_a_client_deletes_is_deleted_for_it_alone),
        TEST(buffers_are_destroyed_behind_the_clients_back_and_before_it_closes),
        TEST(without_replicas_a_buffer_is_destroyed_at_once),
        TEST(executables_of_many_threads_come_and_go_and_none_is_left),
        TEST(a_retrace_is_what_one_thread_asks_for_again),
        TEST(each_buffer_of_many_threads_is_destroyed_once),
        TEST(an_executable_may_be_deleted_while_threads_execute_it),
#ifdef KEEL_FAULTS
        TEST(each_allocation_may_fail_and_the_client_executes),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
