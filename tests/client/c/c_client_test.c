// A client in C, with the embedded plugin below Keel: programs are compiled by one process and
// loaded by the next, and the numbers are the same and right.
//
// The door is opened as any client opens it: as a shared library by its path. Each life is a
// process of its own, a fork of this one, which never loads the plugin itself.
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "unit/store_help.h"

#include "unit/pjrt_help.h"

enum { MOST_ARGUMENTS = 4, MOST_NUMBERS = 12 };

typedef struct array_t {
    PJRT_Buffer_Type type;
    int64_t dims[2];
    size_t rank, size; // size: bytes
    union {
        float f32[MOST_NUMBERS];
        int32_t s32[MOST_NUMBERS];
    };
} array_t;

typedef struct job_t {
    const char *name, *format, *file;
    array_t arguments[MOST_ARGUMENTS];
    size_t argument_count;
    array_t results[MOST_ARGUMENTS]; // as they must be
    size_t result_count;
} job_t;

#define F32_VECTOR(n, ...)                                                                         \
    {                                                                                              \
        .type = PJRT_Buffer_Type_F32, .dims = {n}, .rank = 1, .size = 4 * (n), .f32 = {            \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define F32_MATRIX(m, n, ...)                                                                      \
    {                                                                                              \
        .type = PJRT_Buffer_Type_F32, .dims = {m, n}, .rank = 2, .size = 4 * (m) * (n), .f32 = {   \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define S32_MATRIX(m, n, ...)                                                                      \
    {                                                                                              \
        .type = PJRT_Buffer_Type_S32, .dims = {m, n}, .rank = 2, .size = 4 * (m) * (n), .s32 = {   \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define F32_SCALAR(x)                                                                              \
    {                                                                                              \
        .type = PJRT_Buffer_Type_F32, .rank = 0, .size = 4, .f32 = { x }                           \
    }

static const job_t jobs[] = {
    {.name = "jit_donate",
     .format = "mlir",
     .file = "mlir/donate.mlir",
     // b, w, mask, tokens -> b - column sums of (tokens * mask) w, w + 1, sum(tokens * mask) / 6
     .arguments = {F32_VECTOR(4, 100, 200, 300, 400),
                   F32_MATRIX(3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
                   F32_MATRIX(2, 3, 1, 1, 0, 1, 0, 1), S32_MATRIX(2, 3, 1, 2, 3, 4, 5, 6)},
     .argument_count = 4,
     .results = {F32_VECTOR(4, 100 - 69, 200 - 82, 300 - 95, 400 - 108),
                 F32_MATRIX(3, 4, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13),
                 F32_SCALAR(13.0f / 6.0f)},
     .result_count = 3},
    {.name = "sums",
     .format = "mlir",
     .file = "mlir/locations.mlir",
     // a, b -> 5 a + 9 b, as a chain of additions
     .arguments = {F32_VECTOR(4, 1, 2, 3, 4), F32_VECTOR(4, 1, 0, -1, 2)},
     .argument_count = 2,
     .results = {F32_VECTOR(4, 14, 10, 6, 38)},
     .result_count = 1},
    {.name = "where",
     .format = "hlo",
     .file = "hlo/where.hlo",
     // x > 0 ? x : e^x
     .arguments = {F32_VECTOR(4, 2.5f, 0, -1, -2)},
     .argument_count = 1,
     .results = {F32_VECTOR(4, 2.5f, 1, 0.36787944f, 0.13533528f)},
     .result_count = 1},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

// ---- a client ----------------------------------------------------------------------------------

static PJRT_Buffer *to_device(const PJRT_Api *api, PJRT_Client *client, const array_t *array) {
    return door_to_device(api, client, array->f32, array->type, array->dims, array->rank);
}

static void check_result(const PJRT_Api *api, PJRT_Buffer *buffer, const array_t *expected) {
    float got[MOST_NUMBERS];
    CHECK(door_to_host(api, buffer, got, sizeof got) == expected->size);
    for (size_t i = 0; i < expected->size / sizeof *got; ++i) {
        if (fabsf(got[i] - expected->f32[i]) <= 1e-6f * fabsf(expected->f32[i])) continue;
        fprintf(stdout, "number %zu is %.9g, not %.9g\n", i, (double)got[i],
                (double)expected->f32[i]);
        CHECK(false);
    }
}

static void execute(const PJRT_Api *api, PJRT_Client *client, PJRT_LoadedExecutable *loaded,
                    const job_t *job) {
    PJRT_Buffer *arguments[MOST_ARGUMENTS], *results[MOST_ARGUMENTS];
    for (size_t i = 0; i < job->argument_count; ++i)
        arguments[i] = to_device(api, client, &job->arguments[i]);
    door_compute(api, loaded, arguments, job->argument_count, results);
    for (size_t i = 0; i < job->result_count; ++i) {
        check_result(api, results[i], &job->results[i]);
        door_drop_buffer(api, results[i]);
    }
    for (size_t i = 0; i < job->argument_count; ++i)
        door_drop_buffer(api, arguments[i]);
}

static PJRT_LoadedExecutable *compile(const PJRT_Api *api, PJRT_Client *client, const job_t *job) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", KEEL_TEST_SAMPLES, job->file);
    FILE *file = fopen(path, "rb");
    CHECK(file);
    static _Thread_local uint8_t code[1 << 16];
    size_t size = fread(code, 1, sizeof code, file);
    fclose(file);
    PJRT_LoadedExecutable *loaded;
    NO_ERROR(api, door_compile_bytes(api, client, job->format, keel_bytes(code, size), &loaded));
    return loaded;
}

// What an executable serializes to is an executable, whether it was compiled or loaded.
static void check_serialized(const PJRT_Api *api, PJRT_Client *client,
                             PJRT_LoadedExecutable *loaded, const job_t *job) {
    PJRT_Executable *executable = door_take(api, loaded);
    PJRT_Executable_Serialize_Args args = {
        .struct_size = PJRT_Executable_Serialize_Args_STRUCT_SIZE, .executable = executable};
    NO_ERROR(api, api->PJRT_Executable_Serialize(&args));
    PJRT_Executable_DeserializeAndLoad_Args load = {
        .struct_size = PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE,
        .client = client,
        .serialized_executable = args.serialized_bytes,
        .serialized_executable_size = args.serialized_bytes_size};
    NO_ERROR(api, api->PJRT_Executable_DeserializeAndLoad(&load));
    args.serialized_executable_deleter(args.serialized_executable);
    door_destroy_executable(api, executable);
    execute(api, client, load.loaded_executable, job);
    door_destroy(api, load.loaded_executable);
}

// ---- its lives ---------------------------------------------------------------------------------

typedef struct scene_t {
    place_t place;
    char runs[300];
} scene_t;

static void whole_life(void) {
    const PJRT_Api *api = door_open(KEEL_DOOR);
    PJRT_Client *client = door_client(api);
    for (int i = 0; i < JOBS; ++i) {
        PJRT_LoadedExecutable *loaded = compile(api, client, &jobs[i]);
        for (int run = 0; run < 3; ++run)
            execute(api, client, loaded, &jobs[i]);
        check_serialized(api, client, loaded, &jobs[i]);
        door_destroy(api, loaded);
    }
    door_close(api, client);
}

static void leave_at_once(void) {
    const PJRT_Api *api = door_open(KEEL_DOOR);
    PJRT_Client *client = door_client(api);
    for (int i = 0; i < JOBS; ++i)
        compile(api, client, &jobs[i]);
}

typedef struct worker_t {
    const PJRT_Api *api;
    PJRT_Client *client;
    int first;
} worker_t;

static void *work(void *context) {
    const worker_t *worker = context;
    for (int i = 0; i < JOBS; ++i) {
        const job_t *job = &jobs[(worker->first + i) % JOBS];
        PJRT_LoadedExecutable *loaded = compile(worker->api, worker->client, job);
        execute(worker->api, worker->client, loaded, job);
        door_destroy(worker->api, loaded);
    }
    return NULL;
}

static void compile_on_four_threads(void) {
    const PJRT_Api *api = door_open(KEEL_DOOR);
    PJRT_Client *client = door_client(api);
    pthread_t threads[4];
    worker_t workers[4];
    for (int i = 0; i < 4; ++i) {
        workers[i] = (worker_t){api, client, i};
        CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    door_close(api, client);
}

static int setup(void **state) {
    scene_t *scene = calloc(1, sizeof *scene);
    place_make(&scene->place);
    snprintf(scene->runs, sizeof scene->runs, "%s/runs", scene->place.root);
    *state = scene;
    return 0;
}

static int teardown(void **state) {
    scene_t *scene = *state;
    place_remove(&scene->place);
    free(scene);
    return 0;
}

static void live(const scene_t *scene, void (*life)(void)) {
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        setenv("KEEL_CONFIG", "/dev/null", 1);
        const char *named = getenv("KEEL_TEST_REAL_PLUGIN");
        setenv("KEEL_PLUGIN", named ? named : KEEL_EMBEDDED_PLUGIN, 1);
        setenv("KEEL_CACHE_DIR", scene->place.cache, 1);
        setenv("KEEL_RUN_DIR", scene->runs, 1);
        setenv("TF_CPP_MIN_LOG_LEVEL", "3", 0);
        unsetenv("KEEL_MODE");
        life();
        exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

// Events of all runs.
static unsigned count_events(const scene_t *scene, const char *event) {
    char command[700], text[64];
    snprintf(command, sizeof command, "cat %s/*/journal.ndjson | grep -c '\"event\":\"%s\"'",
             scene->runs, event);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(text, sizeof text, pipe));
    pclose(pipe);
    return (unsigned)strtoul(text, NULL, 10);
}

static void test_the_second_life_loads_and_gets_the_same_numbers(void **state) {
    const scene_t *scene = *state;
    live(scene, whole_life);
    assert_int_equal(count_events(scene, "compile"), JOBS);
    assert_int_equal(count_events(scene, "publish"), JOBS);
    live(scene, whole_life);
    assert_int_equal(count_events(scene, "compile"), JOBS);
    // Each life also loads what it serialized itself.
    assert_int_equal(count_events(scene, "load"), JOBS + 2 * JOBS);
    assert_int_equal(count_events(scene, "store_error"), 0);
    assert_int_equal(count_events(scene, "fallback"), 0);
}

static void test_a_life_that_ends_right_after_its_compiles_has_published_them(void **state) {
    const scene_t *scene = *state;
    live(scene, leave_at_once);
    assert_int_equal(count_events(scene, "publish"), JOBS);
    live(scene, leave_at_once);
    assert_int_equal(count_events(scene, "compile"), JOBS);
}

static void test_four_threads_compile_each_program_once(void **state) {
    const scene_t *scene = *state;
    live(scene, compile_on_four_threads);
    assert_int_equal(count_events(scene, "compile"), JOBS);
    assert_int_equal(count_events(scene, "load"), 3 * JOBS);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_second_life_loads_and_gets_the_same_numbers),
        TEST(a_life_that_ends_right_after_its_compiles_has_published_them),
        TEST(four_threads_compile_each_program_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
