// A small client in C for tools/compatibility: it knows PJRT's header and nothing of Keel.
//
//   compatibility_client LIBRARY PROGRAM            compiles, executes, prints the result as JSON
//   compatibility_client LIBRARY PROGRAM TOPOLOGY   compiles for devices that are not there
//
// LIBRARY is a plugin, or Keel in its place. PROGRAM is MLIR bytecode: two vectors of four in, one
// out. What goes wrong is said in the plugin's words, in one line on stderr, with exit code 1.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pjrt_c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 4, PROGRAM_LIMIT = 1 << 16 };

static const PJRT_Api *api;

static void fail(const char *what, const char *why, size_t size) {
    fprintf(stderr, "%s: %.*s\n", what, (int)size, why);
    exit(1);
}

static void check(const char *call, PJRT_Error *error) {
    if (!error) return;
    PJRT_Error_Message_Args args = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                    .error = error};
    api->PJRT_Error_Message(&args);
    fail(call, args.message, args.message_size);
}

// Calls a function of the table with its arguments, whose size it fills in.
#define CALL(function, args)                                                                       \
    ((args)->struct_size = PJRT_##function##_Args_STRUCT_SIZE,                                     \
     check("PJRT_" #function, api->PJRT_##function(args)))

static void load(const char *path) {
    const PJRT_Api *(*get)(void);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *why = library ? NULL : dlerror();
    if (why) fail("dlopen", why, strlen(why));
    *(void **)&get = dlsym(library, "GetPjrtApi");
    if (!get) fail("dlsym", "GetPjrtApi is not there", 24);
    api = get();
    PJRT_Plugin_Initialize_Args args = {0};
    CALL(Plugin_Initialize, &args);
}

// executable_build_options {num_replicas: 1 num_partitions: 1}
static const char options[] = "\x1a\x04\x20\x01\x28\x01";

static PJRT_Program *read_program(const char *path) {
    static char code[PROGRAM_LIMIT];
    static PJRT_Program program = {
        .struct_size = PJRT_Program_STRUCT_SIZE, .code = code, .format = "mlir", .format_size = 4};
    FILE *file = fopen(path, "rb");
    if (!file) fail(path, "cannot be read", 14);
    program.code_size = fread(code, 1, sizeof code, file);
    fclose(file);
    return &program;
}

static void await(PJRT_Event *event) {
    PJRT_Event_Await_Args args = {.event = event};
    CALL(Event_Await, &args);
    PJRT_Event_Destroy_Args destroy = {.event = event};
    CALL(Event_Destroy, &destroy);
}

static void drop(PJRT_Buffer *buffer) {
    PJRT_Buffer_Destroy_Args args = {.buffer = buffer};
    CALL(Buffer_Destroy, &args);
}

static PJRT_Buffer *send(PJRT_Client *client, const float *numbers) {
    static const int64_t dims[] = {NUMBERS};
    PJRT_Client_AddressableDevices_Args devices = {.client = client};
    CALL(Client_AddressableDevices, &devices);
    PJRT_Client_BufferFromHostBuffer_Args args = {
        .client = client,
        .data = numbers,
        .type = PJRT_Buffer_Type_F32,
        .dims = dims,
        .num_dims = 1,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = devices.addressable_devices[0]};
    CALL(Client_BufferFromHostBuffer, &args);
    await(args.done_with_host_buffer);
    return args.buffer;
}

static void execute(PJRT_Client *client, PJRT_LoadedExecutable *loaded, float *out) {
    static const float first[] = {1, 2, 3, 4}, second[] = {1, 0, -1, 2};
    PJRT_Buffer *arguments[] = {send(client, first), send(client, second)}, *results[1];
    PJRT_Buffer *const *argument_lists[] = {arguments};
    PJRT_Buffer **const result_lists[] = {results};
    PJRT_Event *done;
    PJRT_ExecuteOptions execution = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_LoadedExecutable_Execute_Args args = {.executable = loaded,
                                               .options = &execution,
                                               .argument_lists = argument_lists,
                                               .num_devices = 1,
                                               .num_args = 2,
                                               .output_lists = result_lists,
                                               .device_complete_events = &done};
    CALL(LoadedExecutable_Execute, &args);
    await(done);
    PJRT_Buffer_ToHostBuffer_Args read = {
        .src = results[0], .dst = out, .dst_size = NUMBERS * sizeof *out};
    CALL(Buffer_ToHostBuffer, &read);
    await(read.event);
    drop(results[0]);
    drop(arguments[0]);
    drop(arguments[1]);
}

static void run(const PJRT_Program *program) {
    PJRT_Client_Create_Args create = {0};
    CALL(Client_Create, &create);
    PJRT_Client_Compile_Args compile = {.client = create.client,
                                        .program = program,
                                        .compile_options = options,
                                        .compile_options_size = sizeof options - 1};
    CALL(Client_Compile, &compile);
    float numbers[NUMBERS];
    execute(create.client, compile.executable, numbers);
    PJRT_LoadedExecutable_Destroy_Args destroy = {.executable = compile.executable};
    CALL(LoadedExecutable_Destroy, &destroy);
    PJRT_Client_Destroy_Args close = {.client = create.client};
    CALL(Client_Destroy, &close);
    printf("{\"numbers\": [\"%a\", \"%a\", \"%a\", \"%a\"]}\n", (double)numbers[0],
           (double)numbers[1], (double)numbers[2], (double)numbers[3]);
}

static void compile_only(const PJRT_Program *program, const char *name) {
    PJRT_TopologyDescription_Create_Args topology = {.topology_name = name,
                                                     .topology_name_size = strlen(name)};
    CALL(TopologyDescription_Create, &topology);
    PJRT_Compile_Args compile = {.topology = topology.topology,
                                 .program = program,
                                 .compile_options = options,
                                 .compile_options_size = sizeof options - 1};
    CALL(Compile, &compile);
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args size = {.executable = compile.executable};
    CALL(Executable_SizeOfGeneratedCodeInBytes, &size);
    PJRT_Executable_Destroy_Args destroy = {.executable = compile.executable};
    CALL(Executable_Destroy, &destroy);
    PJRT_TopologyDescription_Destroy_Args close = {.topology = topology.topology};
    CALL(TopologyDescription_Destroy, &close);
    printf("{\"numbers\": [], \"code\": %s}\n", size.size_in_bytes ? "true" : "false");
}

int main(int count, char **words) {
    if (count < 3 || count > 4) {
        fprintf(stderr, "usage: %s LIBRARY PROGRAM [TOPOLOGY]\n", words[0]);
        return 2;
    }
    load(words[1]);
    const PJRT_Program *program = read_program(words[2]);
    if (count == 4)
        compile_only(program, words[3]);
    else
        run(program);
    return 0;
}
