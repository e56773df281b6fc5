// A client that asks for one program after another and executes the newest hundred after each,
// through the plugin door of LIBRARY. bench/growth.py calls this.
//
// Usage: bench_growing LIBRARY PACK COUNT
//
// PACK holds programs as a plugin receives them: their size (uint32_t), their bytes, and so on.
// Prints the processor time of the client's thread for a request, in microseconds: the mean of the
// first tenth and of the last. The plugin should be one that compiles and executes at once, so that
// what remains is Keel's.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pjrt/pjrt.h"

enum { NEWEST = 100 }; // fewer than all: what is measured should not be executions

static _Noreturn void stop(const char *what, const char *why) {
    fprintf(stderr, "bench_growing: %s: %s\n", what, why);
    exit(1);
}

static void must(const PJRT_Api *api, PJRT_Error *error, const char *what) {
    keel_status_t status = keel_pjrt_status(api, error, what);
    if (status) stop(what, keel_status_message(status));
}

#define CALL(api, function, ...)                                                                   \
    must(api,                                                                                      \
         (api)->function(                                                                          \
             &(function##_Args){.struct_size = function##_Args_STRUCT_SIZE, __VA_ARGS__}),         \
         #function)

static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static const PJRT_Api *open_door(const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) stop(library, dlerror());
    const PJRT_Api *(*get)(void);
    *(void **)&get = dlsym(handle, "GetPjrtApi");
    if (!get) stop(library, "no GetPjrtApi");
    const PJRT_Api *api = get();
    must(api,
         api->PJRT_Plugin_Initialize(
             &(PJRT_Plugin_Initialize_Args){KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)}),
         "PJRT_Plugin_Initialize");
    return api;
}

static PJRT_Client *make_client(const PJRT_Api *api) {
    PJRT_Client_Create_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Create)};
    must(api, api->PJRT_Client_Create(&args), "PJRT_Client_Create");
    return args.client;
}

static PJRT_LoadedExecutable *compile(const PJRT_Api *api, PJRT_Client *client, FILE *pack) {
    static const char one_replica[] = "\x1a\x04\x20\x01\x28\x01";
    uint32_t size;
    if (fread(&size, sizeof size, 1, pack) != 1) stop("the pack", "has fewer programs");
    char *code = malloc(size);
    if (!code || fread(code, 1, size, pack) != size) stop("the pack", "is cut");
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = code,
                            .code_size = size,
                            .format = "mlir",
                            .format_size = 4};
    PJRT_Client_Compile_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = client,
                                     .program = &program, .compile_options = one_replica,
                                     .compile_options_size = sizeof one_replica - 1};
    must(api, api->PJRT_Client_Compile(&args), "PJRT_Client_Compile");
    free(code);
    return args.executable;
}

static void execute(const PJRT_Api *api, PJRT_LoadedExecutable *loaded) {
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_Buffer *const *arguments[] = {NULL};
    PJRT_Buffer **const results[] = {NULL};
    CALL(api, PJRT_LoadedExecutable_Execute, .executable = loaded, .options = &options,
         .argument_lists = arguments, .num_devices = 1, .output_lists = results);
}

int main(int count, char **words) {
    if (count != 4) stop("usage", "bench_growing LIBRARY PACK COUNT");
    const PJRT_Api *api = open_door(words[1]);
    PJRT_Client *client = make_client(api);
    FILE *pack = fopen(words[2], "rb");
    if (!pack) stop(words[2], "cannot be opened");
    size_t programs = strtoull(words[3], NULL, 10), tenth = programs / 10;
    if (!tenth) stop("COUNT", "is less than 10");
    PJRT_LoadedExecutable **loaded = calloc(programs, sizeof(PJRT_LoadedExecutable *));
    if (!loaded) stop("COUNT", "is too large");
    double first = 0, last = 0;
    for (size_t i = 0; i < programs; ++i) {
        double began = thread_seconds();
        loaded[i] = compile(api, client, pack);
        double took = thread_seconds() - began;
        if (i < tenth) first += took;
        if (i >= programs - tenth) last += took;
        for (size_t j = i < NEWEST ? 0 : i - NEWEST; j <= i; ++j)
            execute(api, loaded[j]);
    }
    printf("%.1f %.1f\n", first / (double)tenth * 1e6, last / (double)tenth * 1e6);
    for (size_t i = 0; i < programs; ++i)
        CALL(api, PJRT_LoadedExecutable_Destroy, .executable = loaded[i]);
    CALL(api, PJRT_Client_Destroy, .client = client);
    free(loaded);
    fclose(pack);
    return 0;
}
