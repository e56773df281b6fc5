// A client that compiles programs through a plugin door, each once, and exits: Keel's work for a
// compile on all of its threads, when the wrapped plugin costs nothing. bench/compile_cost.py
// counts its instructions.
//
//   bench_compile LIBRARY OPTIONS PROGRAM...    files; KEEL_* as for any client
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "pjrt_c_api.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "bench_compile: %s\n", #condition);                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static keel_bytes_t read_file(const char *path) {
    uint8_t *data;
    size_t size;
    keel_status_t status = keel_file_read(path, (uint64_t)1 << 32, &data, &size);
    if (status) {
        fprintf(stderr, "bench_compile: %s\n", keel_status_message(status));
        exit(1);
    }
    return keel_bytes(data, size);
}

static const PJRT_Api *load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "bench_compile: %s\n", dlerror());
        exit(1);
    }
    const PJRT_Api *(*get)(void);
    void *found = dlsym(library, "GetPjrtApi");
    MUST(found);
    memcpy(&get, &found, sizeof found);
    return get();
}

static PJRT_Client *make_client(const PJRT_Api *api) {
    PJRT_Plugin_Initialize_Args initialize = {.struct_size =
                                                  PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    MUST(!api->PJRT_Plugin_Initialize(&initialize));
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    MUST(!api->PJRT_Client_Create(&create));
    return create.client;
}

static void compile(const PJRT_Api *api, PJRT_Client *client, keel_bytes_t options,
                    keel_bytes_t code) {
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)code.data,
                            .code_size = code.size,
                            .format = "mlir",
                            .format_size = 4};
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = client,
                                     .program = &program,
                                     .compile_options = (const char *)options.data,
                                     .compile_options_size = options.size};
    MUST(!api->PJRT_Client_Compile(&args));
    PJRT_LoadedExecutable_Destroy_Args destroy = {
        .struct_size = PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE,
        .executable = args.executable};
    MUST(!api->PJRT_LoadedExecutable_Destroy(&destroy));
}

int main(int argc, char **argv) {
    MUST(argc >= 3);
    const PJRT_Api *api = load(argv[1]);
    keel_bytes_t options = read_file(argv[2]);
    PJRT_Client *client = make_client(api);
    for (int i = 3; i < argc; ++i) {
        keel_bytes_t code = read_file(argv[i]);
        compile(api, client, options, code);
        keel_free((void *)(uintptr_t)code.data);
    }
    PJRT_Client_Destroy_Args destroy = {.struct_size = PJRT_Client_Destroy_Args_STRUCT_SIZE,
                                        .client = client};
    MUST(!api->PJRT_Client_Destroy(&destroy));
    keel_free((void *)(uintptr_t)options.data);
    return 0;
}
