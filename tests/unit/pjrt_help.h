// A small PJRT client for tests, for use in a child process: any failure ends it.
#ifndef KEEL_TESTS_PJRT_HELP_H_
#define KEEL_TESTS_PJRT_HELP_H_

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pjrt_c_api.h>

#include "base/base.h"

// In a child: says what is wrong and ends it without any clean-up.
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (condition) break;                                                                      \
        fprintf(stdout, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                    \
        fflush(stdout);                                                                            \
        _exit(99);                                                                                 \
    } while (0)

static inline void door_message(const PJRT_Api *api, const PJRT_Error *error, char out[1024]) {
    PJRT_Error_Message_Args args = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                    .error = error};
    api->PJRT_Error_Message(&args);
    snprintf(out, 1024, "%.*s", (int)args.message_size, args.message);
}

static inline PJRT_Error_Code door_code(const PJRT_Api *api, const PJRT_Error *error) {
    PJRT_Error_GetCode_Args args = {.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE,
                                    .error = error};
    CHECK(!api->PJRT_Error_GetCode(&args));
    return args.code;
}

static inline void door_drop(const PJRT_Api *api, PJRT_Error *error) {
    PJRT_Error_Destroy_Args args = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                    .error = error};
    api->PJRT_Error_Destroy(&args);
}

static inline void door_no_error(const PJRT_Api *api, PJRT_Error *error, int line) {
    if (!error) return;
    char text[1024];
    door_message(api, error, text);
    fprintf(stdout, "line %d: %s\n", line, text);
    fflush(stdout);
    _exit(98);
}
#define NO_ERROR(api, call) door_no_error(api, call, __LINE__)

static inline PJRT_Client *door_client(const PJRT_Api *api) {
    PJRT_Client_Create_Args args = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    NO_ERROR(api, api->PJRT_Client_Create(&args));
    return args.client;
}

static inline void door_close(const PJRT_Api *api, PJRT_Client *client) {
    PJRT_Client_Destroy_Args args = {.struct_size = PJRT_Client_Destroy_Args_STRUCT_SIZE,
                                     .client = client};
    NO_ERROR(api, api->PJRT_Client_Destroy(&args));
}

static inline PJRT_Error *door_compile_bytes(const PJRT_Api *api, PJRT_Client *client,
                                             const char *format, keel_bytes_t code,
                                             PJRT_LoadedExecutable **out) {
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)code.data,
                            .code_size = code.size,
                            .format = format,
                            .format_size = strlen(format)};
    // executable_build_options {num_replicas: 1 num_partitions: 1}
    static const char options[] = "\x1a\x04\x20\x01\x28\x01";
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = client,
                                     .program = &program,
                                     .compile_options = options,
                                     .compile_options_size = sizeof options - 1};
    PJRT_Error *error = api->PJRT_Client_Compile(&args);
    *out = error ? NULL : args.executable;
    return error;
}

static inline PJRT_Executable *door_take(const PJRT_Api *api, PJRT_LoadedExecutable *loaded) {
    PJRT_LoadedExecutable_GetExecutable_Args args = {
        .struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE,
        .loaded_executable = loaded};
    PJRT_Error *error = api->PJRT_LoadedExecutable_GetExecutable(&args);
    if (error && door_code(api, error) == PJRT_Error_Code_RESOURCE_EXHAUSTED) {
        // Keel had no memory to remember it: refused, not handed out to serialize badly.
        door_drop(api, error);
        error = api->PJRT_LoadedExecutable_GetExecutable(&args);
    }
    NO_ERROR(api, error);
    return args.executable;
}

static inline void door_destroy_executable(const PJRT_Api *api, PJRT_Executable *executable) {
    PJRT_Executable_Destroy_Args args = {.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE,
                                         .executable = executable};
    NO_ERROR(api, api->PJRT_Executable_Destroy(&args));
}

static inline void door_destroy(const PJRT_Api *api, PJRT_LoadedExecutable *loaded) {
    PJRT_LoadedExecutable_Destroy_Args args = {
        .struct_size = PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE, .executable = loaded};
    NO_ERROR(api, api->PJRT_LoadedExecutable_Destroy(&args));
}

static inline void door_execute(const PJRT_Api *api, PJRT_LoadedExecutable *loaded) {
    PJRT_LoadedExecutable_Execute_Args args = {
        .struct_size = PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE, .executable = loaded};
    NO_ERROR(api, api->PJRT_LoadedExecutable_Execute(&args));
}

// ---- a plugin that computes --------------------------------------------------------------------

// Opens a plugin as any client does: as a shared library by its path.
static inline const PJRT_Api *door_open(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stdout, "%s\n", dlerror());
    CHECK(library);
    const PJRT_Api *(*get)(void);
    *(void **)&get = dlsym(library, "GetPjrtApi");
    CHECK(get);
    const PJRT_Api *api = get();
    PJRT_Plugin_Initialize_Args args = {.struct_size = PJRT_Plugin_Initialize_Args_STRUCT_SIZE};
    NO_ERROR(api, api->PJRT_Plugin_Initialize(&args));
    return api;
}

static inline void door_await(const PJRT_Api *api, PJRT_Event *event) {
    PJRT_Event_Await_Args args = {.struct_size = PJRT_Event_Await_Args_STRUCT_SIZE, .event = event};
    NO_ERROR(api, api->PJRT_Event_Await(&args));
    PJRT_Event_Destroy_Args destroy = {.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE,
                                       .event = event};
    NO_ERROR(api, api->PJRT_Event_Destroy(&destroy));
}

static inline PJRT_Buffer *door_to_device(const PJRT_Api *api, PJRT_Client *client,
                                          const void *data, PJRT_Buffer_Type type,
                                          const int64_t *dims, size_t rank) {
    PJRT_Client_AddressableDevices_Args devices = {
        .struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE, .client = client};
    NO_ERROR(api, api->PJRT_Client_AddressableDevices(&devices));
    CHECK(devices.num_addressable_devices > 0);
    PJRT_Client_BufferFromHostBuffer_Args args = {
        .struct_size = PJRT_Client_BufferFromHostBuffer_Args_STRUCT_SIZE,
        .client = client,
        .data = data,
        .type = type,
        .dims = dims,
        .num_dims = rank,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = devices.addressable_devices[0]};
    NO_ERROR(api, api->PJRT_Client_BufferFromHostBuffer(&args));
    door_await(api, args.done_with_host_buffer);
    return args.buffer;
}

// Copies a buffer to the host and gives its size; it must fit.
static inline size_t door_to_host(const PJRT_Api *api, PJRT_Buffer *buffer, void *out,
                                  size_t limit) {
    PJRT_Buffer_ToHostBuffer_Args args = {.struct_size = PJRT_Buffer_ToHostBuffer_Args_STRUCT_SIZE,
                                          .src = buffer};
    NO_ERROR(api, api->PJRT_Buffer_ToHostBuffer(&args)); // asks for the size
    CHECK(args.dst_size <= limit);
    args.dst = out;
    NO_ERROR(api, api->PJRT_Buffer_ToHostBuffer(&args));
    door_await(api, args.event);
    return args.dst_size;
}

static inline void door_drop_buffer(const PJRT_Api *api, PJRT_Buffer *buffer) {
    PJRT_Buffer_Destroy_Args args = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                     .buffer = buffer};
    NO_ERROR(api, api->PJRT_Buffer_Destroy(&args));
}

// Executes on one device.
static inline void door_compute(const PJRT_Api *api, PJRT_LoadedExecutable *loaded,
                                PJRT_Buffer *const *arguments, size_t count,
                                PJRT_Buffer **results) {
    PJRT_Buffer *const *argument_lists[] = {arguments};
    PJRT_Buffer **const result_lists[] = {results};
    PJRT_Event *done;
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_LoadedExecutable_Execute_Args args = {.struct_size =
                                                   PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
                                               .executable = loaded,
                                               .options = &options,
                                               .argument_lists = argument_lists,
                                               .num_devices = 1,
                                               .num_args = count,
                                               .output_lists = result_lists,
                                               .device_complete_events = &done};
    NO_ERROR(api, api->PJRT_LoadedExecutable_Execute(&args));
    door_await(api, done);
}

// ---- executables as bytes ----------------------------------------------------------------------

// The bytes that an executable serializes to, and whether the plugin can load them again.
static inline bool door_serializes_alive(const PJRT_Api *api, PJRT_Client *client,
                                         PJRT_LoadedExecutable *loaded) {
    PJRT_Executable *executable = door_take(api, loaded);
    PJRT_Executable_Serialize_Args args = {
        .struct_size = PJRT_Executable_Serialize_Args_STRUCT_SIZE, .executable = executable};
    NO_ERROR(api, api->PJRT_Executable_Serialize(&args));
    PJRT_Executable_DeserializeAndLoad_Args load = {
        .struct_size = PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE,
        .client = client,
        .serialized_executable = args.serialized_bytes,
        .serialized_executable_size = args.serialized_bytes_size};
    PJRT_Error *error = api->PJRT_Executable_DeserializeAndLoad(&load);
    if (error)
        door_drop(api, error);
    else
        door_destroy(api, load.loaded_executable);
    args.serialized_executable_deleter(args.serialized_executable);
    door_destroy_executable(api, executable);
    return !error;
}

#endif // KEEL_TESTS_PJRT_HELP_H_
