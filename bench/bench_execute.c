// What Keel adds to one execution and to one transfer. Prints a section of Markdown.
//
// The same executable is executed, and the same numbers are sent and read, through the plugin's own
// table and through Keel's in turns, so that the two differ in nothing else. Once with a plugin
// whose Execute returns at once, for the cost alone; once with the embedded plugin, for its share
// of a real call.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shim/shim.h"

// f(x) = x > 0 ? x : e^x on four floats (tests/samples/hlo/where.hlo).
#define PROGRAM KEEL_SOURCE "/tests/samples/hlo/where.hlo"

enum { ROUNDS = 61 };

typedef struct result_t {
    double bare, through; // nanoseconds a call, medians over the rounds
    double added;         // median of the rounds' differences
    size_t allocated;     // bytes that Keel allocated while executing
    unsigned long calls;
} result_t;

typedef struct bench_t {
    const PJRT_Api *bare, *keel;
    PJRT_Client *client;
    PJRT_LoadedExecutable *loaded;
    PJRT_Device *device;
    PJRT_Buffer *argument;
    bool real; // has buffers and events
} bench_t;

typedef void call_t(const bench_t *bench, const PJRT_Api *api);

static void stop(const char *what, const char *why) {
    fprintf(stderr, "bench_execute: %s: %s\n", what, why);
    _exit(1);
}

static void must(const PJRT_Api *api, PJRT_Error *error, const char *what) {
    keel_status_t status = keel_pjrt_status(api, error, what);
    if (status) stop(what, keel_status_message(status));
}

#define CALL(api, function, args) must(api, (api)->function(args), #function)

static void must_status(keel_status_t status, const char *what) {
    if (status) stop(what, keel_status_message(status));
}

static void await(const bench_t *bench, PJRT_Event *event) {
    PJRT_Event_Await_Args args = {.struct_size = PJRT_Event_Await_Args_STRUCT_SIZE, .event = event};
    CALL(bench->bare, PJRT_Event_Await, &args);
    PJRT_Event_Destroy_Args destroy = {.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE,
                                       .event = event};
    CALL(bench->bare, PJRT_Event_Destroy, &destroy);
}

static void execute(const bench_t *bench, const PJRT_Api *api) {
    PJRT_Buffer *result = NULL;
    PJRT_Buffer *const *arguments[] = {&bench->argument};
    PJRT_Buffer **const results[] = {&result};
    PJRT_Event *done = NULL;
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .executable = bench->loaded,
                                               .options = &options,
                                               .argument_lists = arguments,
                                               .num_devices = 1,
                                               .num_args = 1,
                                               .output_lists = results,
                                               .device_complete_events = &done};
    PJRT_Error *error = api->PJRT_LoadedExecutable_Execute(&args);
    if (error) must(api, error, "PJRT_LoadedExecutable_Execute");
    if (!bench->real) return;
    await(bench, done);
    PJRT_Buffer_Destroy_Args destroy = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                        .buffer = result};
    CALL(bench->bare, PJRT_Buffer_Destroy, &destroy);
}

static const float numbers[4] = {2.5f, 0, -1, -2};

static PJRT_Buffer *send_numbers(const bench_t *bench, const PJRT_Api *api) {
    static const int64_t dims[1] = {4};
    PJRT_Client_BufferFromHostBuffer_Args args = {
        .struct_size = PJRT_Client_BufferFromHostBuffer_Args_STRUCT_SIZE,
        .client = bench->client,
        .data = numbers,
        .type = PJRT_Buffer_Type_F32,
        .dims = dims,
        .num_dims = 1,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = bench->device};
    CALL(api, PJRT_Client_BufferFromHostBuffer, &args);
    await(bench, args.done_with_host_buffer);
    return args.buffer;
}

static void send(const bench_t *bench, const PJRT_Api *api) {
    PJRT_Buffer_Destroy_Args destroy = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                        .buffer = send_numbers(bench, api)};
    CALL(bench->bare, PJRT_Buffer_Destroy, &destroy);
}

static void read_back(const bench_t *bench, const PJRT_Api *api) {
    float there[4];
    PJRT_Buffer_ToHostBuffer_Args args = {.struct_size = PJRT_Buffer_ToHostBuffer_Args_STRUCT_SIZE,
                                          .src = bench->argument,
                                          .dst = there,
                                          .dst_size = sizeof there};
    CALL(api, PJRT_Buffer_ToHostBuffer, &args);
    await(bench, args.event);
}

static double time_calls(const bench_t *bench, const PJRT_Api *api, call_t *call, unsigned calls) {
    uint64_t start = keel_clock_monotonic();
    for (unsigned i = 0; i < calls; ++i)
        call(bench, api);
    return (double)(keel_clock_monotonic() - start) / calls;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double values[ROUNDS]) {
    qsort(values, ROUNDS, sizeof *values, by_size);
    return values[ROUNDS / 2];
}

static result_t measure(const bench_t *bench, call_t *call, unsigned calls) {
    double bare[ROUNDS], through[ROUNDS], added[ROUNDS];
    time_calls(bench, bench->keel, call, calls);
    nanosleep(&(struct timespec){.tv_nsec = 300000000},
              NULL); // the journal has its program by then
    keel_memory_watch(1);
    for (int i = 0; i < ROUNDS; ++i) {
        // The first finds colder caches, so they take turns.
        if (i % 2) bare[i] = time_calls(bench, bench->bare, call, calls);
        through[i] = time_calls(bench, bench->keel, call, calls);
        if (i % 2 == 0) bare[i] = time_calls(bench, bench->bare, call, calls);
        added[i] = through[i] - bare[i];
    }
    result_t result = {.allocated = keel_memory_peak(), .calls = (unsigned long)ROUNDS * calls};
    keel_memory_watch(0);
    result.bare = median(bare);
    result.through = median(through);
    result.added = median(added);
    return result;
}

static void make_argument(bench_t *bench) {
    PJRT_Client_AddressableDevices_Args devices = {
        .struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE, .client = bench->client};
    CALL(bench->bare, PJRT_Client_AddressableDevices, &devices);
    bench->device = devices.addressable_devices[0];
    bench->argument = send_numbers(bench, bench->bare);
}

static void compile(bench_t *bench) {
    // executable_build_options {num_replicas: 1 num_partitions: 1}
    static const char options[] = "\x1a\x04\x20\x01\x28\x01";
    uint8_t *code;
    size_t size;
    must_status(keel_file_read(PROGRAM, 1 << 24, &code, &size), "the program");
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)code,
                            .code_size = size,
                            .format = "hlo",
                            .format_size = 3};
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = bench->client,
                                     .program = &program,
                                     .compile_options = options,
                                     .compile_options_size = sizeof options - 1};
    CALL(bench->keel, PJRT_Client_Compile, &args);
    keel_free(code);
    bench->loaded = args.executable;
}

static void set_up(bench_t *bench, const char *plugin, const char *folder) {
    char path[512];
    setenv("KEEL_PLUGIN", plugin, 1);
    setenv("KEEL_CONFIG", "/dev/null", 1);
    setenv("KEEL_MODE", "readonly", 1);
    snprintf(path, sizeof path, "%s/cache", folder);
    setenv("KEEL_CACHE_DIR", path, 1);
    snprintf(path, sizeof path, "%s/runs", folder);
    setenv("KEEL_RUN_DIR", path, 1);
    setenv("TF_CPP_MIN_LOG_LEVEL", "3", 0);
    bench->keel = keel_shim_api();
    keel_plugin_t loaded;
    must_status(keel_plugin_load(plugin, &loaded), plugin);
    bench->bare = loaded.api;
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    CALL(bench->keel, PJRT_Client_Create, &args);
    bench->client = args.client;
    compile(bench);
    if (bench->real) make_argument(bench);
}

// In a child process: PJRT allows one plugin per process.
static result_t run(const char *plugin, bool real, call_t *call, unsigned calls) {
    char folder[] = "/tmp/keel-bench-XXXXXX", command[64];
    int ends[2];
    if (!mkdtemp(folder) || pipe(ends)) stop("a temporary folder", "cannot be made");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        bench_t bench = {.real = real};
        set_up(&bench, plugin, folder);
        result_t result = measure(&bench, call, calls);
        _exit(write(ends[1], &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
    }
    close(ends[1]);
    result_t result = {0};
    bool got = child > 0 && read(ends[0], &result, sizeof result) == (ssize_t)sizeof result;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) || !got) stop(plugin, "no result");
    return result;
}

static void print(const char *what, const result_t *result) {
    printf("| %s | %.1f ns | %.1f ns | %.1f ns | %.3f | %lu | %zu |\n", what, result->bare,
           result->through, result->added, 1 + result->added / result->bare, result->calls,
           result->allocated);
}

int main(void) {
    result_t cost = run(KEEL_TEST_PLUGIN, false, execute, 200000);
    result_t real = run(KEEL_EMBEDDED_PLUGIN, true, execute, 1000);
    result_t sent = run(KEEL_EMBEDDED_PLUGIN, true, send, 1000);
    result_t got = run(KEEL_EMBEDDED_PLUGIN, true, read_back, 1000);
    printf("## Execute\n\n"
           "Command: `build/bin/bench_execute`. It runs one executable, sends four numbers to the "
           "device and reads four back, alternating between the plugin's own table and Keel's; "
           "medians of %d rounds. `added` is the median of the differences of each round, and "
           "`ratio` is the bare call with that added, relative to the bare call. The process has "
           "no Python. With Python, finding the line of a read costs about 10 us more, at most a "
           "hundredth of the time.\n\n",
           ROUNDS);
    printf("| plugin | bare | through Keel | added | ratio | calls each | bytes Keel allocated |\n"
           "|---|---|---|---|---|---|---|\n");
    print("one that returns at once: only Keel's cost of an execution", &cost);
    print("embedded, a program of four floats, awaited", &real);
    print("embedded, four floats to the device, awaited", &sent);
    print("embedded, four floats from the device, awaited", &got);
    return 0;
}
