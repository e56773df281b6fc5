// A PJRT plugin for faults that a real one cannot be made to show. It compiles a program by keeping
// its bytes; an executable's name is the program's first line, which tells a test which one it is.
//
// Like XLA's, an executable that was loaded back serializes to bytes which are dead: they cannot be
// loaded again.
//
// TEST_PLUGIN in the environment holds words, separated by blanks:
//   no_client[=first]   Client_Create fails, or only before Plugin_Initialize
//   compile_fails       every compile fails
//   compile_ms=N        a compile takes N milliseconds
//   load_ms=N           so does a load
//   load_ms_of=TEXT     but only of an executable whose program holds TEXT
//   release_ms=N        so does the destruction of a buffer (with `runs`)
//   load_fails[=TEXT]   loading fails (executables whose program holds TEXT)
//   load_fails_first=TEXT   the first loading of such an executable in a process fails
//   load_fails_after=N  each loading in a process fails after the first N
//   load_aborts=TEXT    loading such an executable ends the process
//   no_serialize        Serialize is not implemented
//   empty_serialize     Serialize gives no bytes
//   optimized_checks    an optimized program that does not fit into the caller's room is an error
//   null_serialize      the table has no Serialize
//   no_topology         the topology cannot be serialized
//   no_attributes       Plugin_Attributes fails
//   processes=N         the last device belongs to process N - 1
//   table=older         the table ends before the newest functions
//   table=short         the table ends before Compile
//   table=newer         the table has a function that this header does not know
//   major=N, minor=N    the version of the API
//   out_of_memory       every compile fails as one of what does not fit
//   program_memory      programs tell what they need: their size, and 1000 of temporaries
//   memory_grows        devices tell 1000 bytes more for each executable there ever was, and a peak
//   platform=NAME       what the client's platform calls itself
//   moves               buffers have four numbers, and events are ready when they are awaited
//   moves_fail          nothing moves
//   size_fails          buffers do not tell their size
//   never_ready         events tell nobody that they are ready
//   sizes=NAME:N,...    it wants N bytes of that struct, and says so in XLA's words; what is beyond
//                       this header must be zero and is then written to. Looked at in the functions
//                       that say expect()
//   sizes_equal         it refuses longer ones too
//   load_exits          it ends its process when it is loaded, and load_hangs, load_forks, and
//                       load_closes, which closes all files but the first three
//   runs                executions of `keel probe`'s program give what they must, and so does
//                       what the probe asks besides
//   wrong_numbers       they give something else
//   reloads_wrong       so do those of what was loaded
//   memory              devices tell their memory
//   client_hangs        Client_Create never returns
//   compile_aborts      a compile ends the process, after a word on stderr
//   serialize_exits     Serialize ends the process with exit code 3
// TEST_PLUGIN_CALLS names a file that gets a line for each call of note.
#include "plugin/test_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

struct PJRT_Error {
    PJRT_Error_Code code;
    char text[256];
};

struct PJRT_DeviceDescription {
    int process, id;
};

struct PJRT_Device {
    PJRT_DeviceDescription description;
};

struct PJRT_Buffer {
    size_t size; // bytes
    float numbers[4];
};

struct PJRT_Client {
    PJRT_Device devices[2];
    PJRT_Device *list[2];
    char platform[128];
};

// What a loaded executable and those taken from it share.
typedef struct program_t {
    atomic_int references;
    atomic_bool is_loaded;
    bool reloaded;
    size_t size;
    char bytes[];
} program_t;

struct PJRT_LoadedExecutable {
    program_t *program;
    atomic_bool deleted;
};

struct PJRT_Executable {
    program_t *program;
};

static atomic_int initialized, executables_made, executables_held; // in all; handles that are left

static const char alive[] = "test executable\n", dead[] = "dead executable\n";

// ---- faults and records ------------------------------------------------------------------------

// The word's value ("" where it has none), NULL where the word is not there.
static const char *word(const char *name, char out[128]) {
    const char *at = getenv("TEST_PLUGIN");
    size_t length = strlen(name);
    while (at && *at) {
        size_t size = strcspn(at, " ");
        if (size >= length && memcmp(at, name, length) == 0 &&
            (size == length || at[length] == '=')) {
            snprintf(out, 128, "%.*s", size == length ? 0 : (int)(size - length - 1),
                     at + length + 1);
            return out;
        }
        at += size + strspn(at + size, " ");
    }
    return NULL;
}

static bool has(const char *name) {
    char value[128];
    return word(name, value) != NULL;
}

static long number(const char *name, long otherwise) {
    char value[128];
    return word(name, value) ? strtol(value, NULL, 10) : otherwise;
}

static bool holds(const program_t *program, const char *text) {
    return !*text || memmem(program->bytes, program->size, text, strlen(text)) != NULL;
}

static void record(const char *call, const char *what, size_t size) {
    const char *path = getenv("TEST_PLUGIN_CALLS");
    if (!path) return;
    char line[160];
    size_t first = 0;
    while (first < size && first < 64 && what[first] >= ' ' && what[first] <= '~')
        ++first;
    int length = snprintf(line, sizeof line, "%s %.*s\n", call, (int)first, what);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0) return;
    if (write(descriptor, line, (size_t)length) != length) abort();
    close(descriptor);
}

static void take_time(const char *name) {
    long left = number(name, 0);
    struct timespec t = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
    while (left && nanosleep(&t, &t) && errno == EINTR) {
    }
}

static PJRT_Error *error_of(PJRT_Error_Code code, const char *text) {
    PJRT_Error *error = malloc(sizeof *error);
    if (!error) abort();
    error->code = code;
    snprintf(error->text, sizeof error->text, "test plugin: %s", text);
    return error;
}

// The bytes that are wanted of a struct; 0 where nothing is said of it.
static size_t wanted(const char *name) {
    char sizes[128];
    size_t length = strlen(name);
    const char *at = word("sizes", sizes);
    for (; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, length) == 0 && at[length] == ':')
            return strtoul(at + length + 1, NULL, 10);
    return 0;
}

static PJRT_Error *expect(const char *name, void *args, size_t known) {
    size_t expected = wanted(name), got;
    if (!expected) return NULL;
    memcpy(&got, args, sizeof got);
    if (got < expected || (got > expected && has("sizes_equal"))) {
        PJRT_Error *error = error_of(PJRT_Error_Code_INVALID_ARGUMENT, "");
        snprintf(error->text, sizeof error->text,
                 "Unexpected %s size: expected %zu, got %zu. Check installed software versions.",
                 name, expected, got);
        record("refuse", name, strlen(name));
        return error;
    }
    for (size_t at = known; at < expected; ++at) {
        if (((char *)args)[at]) return error_of(PJRT_Error_Code_INTERNAL, "no zeros at the end");
        ((char *)args)[at] = 0x55;
    }
    return NULL;
}
// Of a struct by its name; leaves the function where it is refused.
#define EXPECT(name, args)                                                                         \
    do {                                                                                           \
        PJRT_Error *refused_ = expect(#name, (void *)(uintptr_t)(args), name##_STRUCT_SIZE);       \
        if (refused_) return refused_;                                                             \
    } while (0)

// ---- errors ------------------------------------------------------------------------------------

static void error_destroy(PJRT_Error_Destroy_Args *args) {
    if (!args->error) abort(); // as other plugins crash
    free(args->error);
}

static void error_message(PJRT_Error_Message_Args *args) {
    args->message = args->error->text;
    args->message_size = strlen(args->error->text);
}

static PJRT_Error *error_get_code(PJRT_Error_GetCode_Args *args) {
    args->code = args->error->code;
    return NULL;
}

// ---- the plugin and its client -----------------------------------------------------------------

static PJRT_Error *plugin_initialize(PJRT_Plugin_Initialize_Args *args) {
    atomic_fetch_add(&initialized, args != NULL);
    return NULL;
}

static PJRT_Error *plugin_attributes(PJRT_Plugin_Attributes_Args *args) {
    static const int64_t version[] = {1, 13, 3};
    static const PJRT_NamedValue attributes[] = {{.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                                  .name = "stablehlo_current_version",
                                                  .name_size = 25,
                                                  .type = PJRT_NamedValue_kInt64List,
                                                  .int64_array_value = version,
                                                  .value_size = 3}};
    EXPECT(PJRT_Plugin_Attributes_Args, args);
    if (has("no_attributes")) return error_of(PJRT_Error_Code_INTERNAL, "no attributes");
    args->attributes = attributes;
    args->num_attributes = 1;
    return NULL;
}

static PJRT_Error *client_create(PJRT_Client_Create_Args *args) {
    EXPECT(PJRT_Client_Create_Args, args);
    size_t stride = (wanted("PJRT_NamedValue") + 7) & ~(size_t)7;
    for (size_t i = 0; stride && i < args->num_options; ++i) {
        char text[64];
        const PJRT_NamedValue *of = (const void *)((const char *)args->create_options + i * stride);
        EXPECT(PJRT_NamedValue, of);
        snprintf(text, sizeof text, "%.*s=%d", (int)of->name_size, of->name, (int)of->int64_value);
        record("option", text, strlen(text));
    }
    while (has("client_hangs"))
        pause();
    bool late = has("no_client=first") && atomic_load(&initialized);
    if (has("no_client") && !late) return error_of(PJRT_Error_Code_UNAVAILABLE, "no client today");
    PJRT_Client *client = calloc(1, sizeof *client);
    if (!client) abort();
    for (int i = 0; i < 2; ++i)
        client->list[i] = &client->devices[i];
    if (!word("platform", client->platform))
        snprintf(client->platform, sizeof client->platform, "test");
    client->devices[1].description = (PJRT_DeviceDescription){(int)number("processes", 1) - 1, 1};
    args->client = client;
    record("create", "", 0);
    return NULL;
}

static PJRT_Error *client_destroy(PJRT_Client_Destroy_Args *args) {
    if (atomic_load(&executables_held)) record("leak", "executable", strlen("executable"));
    record("destroy", "", 0);
    free(args->client);
    return NULL;
}

static PJRT_Error *client_platform_name(PJRT_Client_PlatformName_Args *args) {
    EXPECT(PJRT_Client_PlatformName_Args, args);
    record("platform", "", 0);
    args->platform_name = args->client ? args->client->platform : "test";
    args->platform_name_size = strlen(args->platform_name);
    return NULL;
}

static PJRT_Error *client_platform_version(PJRT_Client_PlatformVersion_Args *args) {
    args->platform_version = "one";
    args->platform_version_size = 3;
    return NULL;
}

static PJRT_Error *client_devices(PJRT_Client_Devices_Args *args) {
    args->devices = args->client->list;
    args->num_devices = 2;
    return NULL;
}

static PJRT_Error *client_addressable_devices(PJRT_Client_AddressableDevices_Args *args) {
    args->addressable_devices = args->client->list;
    args->num_addressable_devices = 2;
    return NULL;
}

static PJRT_Error *device_memory_stats(PJRT_Device_MemoryStats_Args *args) {
    if (!has("memory")) return error_of(PJRT_Error_Code_UNIMPLEMENTED, "no memory statistics");
    args->bytes_in_use = 1000 + args->device->description.id;
    args->bytes_limit = 1 << 30;
    args->bytes_limit_is_set = true;
    if (!has("memory_grows")) return NULL;
    args->bytes_in_use += 1000 * (int64_t)atomic_load(&executables_made);
    args->peak_bytes_in_use = args->bytes_in_use;
    args->peak_bytes_in_use_is_set = true;
    return NULL;
}

static PJRT_Error *description_id(PJRT_DeviceDescription_Id_Args *args) {
    args->id = args->device_description->id;
    return NULL;
}

static PJRT_Error *device_get_description(PJRT_Device_GetDescription_Args *args) {
    args->device_description = &args->device->description;
    return NULL;
}

static PJRT_Error *description_kind(PJRT_DeviceDescription_Kind_Args *args) {
    args->device_kind = "test device";
    args->device_kind_size = 11;
    return NULL;
}

static PJRT_Error *description_process_index(PJRT_DeviceDescription_ProcessIndex_Args *args) {
    args->process_index = args->device_description->process;
    return NULL;
}

static PJRT_Error *client_topology(PJRT_Client_TopologyDescription_Args *args) {
    args->topology = (PJRT_TopologyDescription *)args->client;
    return NULL;
}

static PJRT_Error *topology_serialize(PJRT_TopologyDescription_Serialize_Args *args) {
    if (has("no_topology")) return error_of(PJRT_Error_Code_UNIMPLEMENTED, "no topology");
    args->serialized_bytes = "a topology";
    args->serialized_bytes_size = 10;
    args->serialized_topology = NULL;
    args->serialized_topology_deleter = NULL;
    return NULL;
}

// ---- executables -------------------------------------------------------------------------------

static program_t *program_of(const char *bytes, size_t size, bool reloaded) {
    program_t *program = malloc(sizeof *program + size);
    if (!program) abort();
    atomic_init(&program->references, 1);
    program->reloaded = reloaded;
    program->size = size;
    memcpy(program->bytes, bytes, size);
    return program;
}

static void drop(program_t *program) {
    if (atomic_fetch_sub(&program->references, 1) == 1) free(program);
}

static PJRT_LoadedExecutable *loaded_of(program_t *program) {
    PJRT_LoadedExecutable *loaded = malloc(sizeof *loaded);
    if (!loaded) abort();
    atomic_fetch_add(&executables_made, 1);
    loaded->program = program;
    atomic_init(&loaded->deleted, false);
    atomic_init(&program->is_loaded, true);
    return loaded;
}

static PJRT_Error *client_compile(PJRT_Client_Compile_Args *args) {
    const PJRT_Program *program = args->program;
    EXPECT(PJRT_Client_Compile_Args, args);
    EXPECT(PJRT_Program, program);
    record("compile", program->code, program->code_size);
    char size[32];
    snprintf(size, sizeof size, "%zu", args->compile_options_size);
    record("options", size, strlen(size));
    take_time("compile_ms");
    if (has("compile_aborts")) {
        fputs("about to end\n", stderr);
        abort();
    }
    if (has("out_of_memory"))
        return error_of(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                        "E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory "
                        "required (256.00G) exceeds available HBM (31.25G).");
    if (has("compile_fails")) return error_of(PJRT_Error_Code_INVALID_ARGUMENT, "will not compile");
    args->executable = loaded_of(program_of(program->code, program->code_size, false));
    return NULL;
}

static PJRT_Error *load(PJRT_Executable_DeserializeAndLoad_Args *args) {
    size_t head = sizeof alive - 1;
    if (args->serialized_executable_size < head ||
        memcmp(args->serialized_executable, alive, head) != 0)
        return error_of(PJRT_Error_Code_INVALID_ARGUMENT, "these bytes are not a live executable");
    program_t *program = program_of(args->serialized_executable + head,
                                    args->serialized_executable_size - head, true);
    record("load", program->bytes, program->size);
    char text[128];
    if (!word("load_ms_of", text) || holds(program, text)) take_time("load_ms");
    // A sanitizer sees whether the client is still there.
    if (number("load_ms", 0) && *args->client->platform)
        record("woke", program->bytes, program->size);
    if (word("load_aborts", text) && holds(program, text)) abort();
    static atomic_uint firsts, loads;
    bool fails = word("load_fails", text) && holds(program, text);
    fails |= (long)atomic_fetch_add(&loads, 1) >= number("load_fails_after", LONG_MAX);
    if (word("load_fails_first", text) && holds(program, text))
        fails = atomic_fetch_add(&firsts, 1) == 0;
    if (fails) {
        drop(program);
        return error_of(PJRT_Error_Code_INTERNAL, "will not load");
    }
    args->loaded_executable = loaded_of(program);
    return NULL;
}

static PJRT_Error *loaded_get_executable(PJRT_LoadedExecutable_GetExecutable_Args *args) {
    PJRT_Executable *executable = malloc(sizeof *executable);
    if (!executable) abort();
    atomic_fetch_add(&executables_held, 1);
    executable->program = args->loaded_executable->program;
    atomic_fetch_add(&executable->program->references, 1);
    args->executable = executable;
    return NULL;
}

// By its address, as a test has it.
static void record_loaded(const char *call, const PJRT_LoadedExecutable *loaded) {
    char address[32];
    snprintf(address, sizeof address, "%p", (const void *)loaded);
    record(call, address, strlen(address));
}

static PJRT_Error *loaded_delete(PJRT_LoadedExecutable_Delete_Args *args) {
    record_loaded("delete", args->executable);
    atomic_store(&args->executable->deleted, true);
    return NULL;
}

static PJRT_Error *loaded_is_deleted(PJRT_LoadedExecutable_IsDeleted_Args *args) {
    args->is_deleted = atomic_load(&args->executable->deleted);
    return NULL;
}

static PJRT_Error *loaded_destroy(PJRT_LoadedExecutable_Destroy_Args *args) {
    record_loaded("unload", args->executable);
    atomic_store(&args->executable->program->is_loaded, false);
    drop(args->executable->program);
    free(args->executable);
    return NULL;
}

static PJRT_Error *executable_destroy(PJRT_Executable_Destroy_Args *args) {
    drop(args->executable->program);
    free(args->executable);
    atomic_fetch_sub(&executables_held, 1);
    return NULL;
}

static PJRT_Error *executable_name(PJRT_Executable_Name_Args *args) {
    const program_t *program = args->executable->program;
    const char *end = memchr(program->bytes, '\n', program->size);
    args->executable_name = program->bytes;
    args->executable_name_size = end ? (size_t)(end - program->bytes) : program->size;
    return NULL;
}

// What was taken from a loaded executable is not to be asked once that is destroyed: in XLA it is
// gone with it.
static PJRT_Error *executable_memory_stats(PJRT_Executable_GetCompiledMemoryStats_Args *args) {
    EXPECT(PJRT_Executable_GetCompiledMemoryStats_Args, args);
    if (!has("program_memory"))
        return error_of(PJRT_Error_Code_UNIMPLEMENTED, "no compiled memory");
    const program_t *program = args->executable->program;
    record("memory", program->bytes, program->size);
    if (!atomic_load(&program->is_loaded)) abort();
    args->argument_size_in_bytes = (int64_t)program->size;
    args->output_size_in_bytes = 8;
    args->alias_size_in_bytes = 4;
    args->temp_size_in_bytes = 1000;
    args->generated_code_size_in_bytes = 100;
    args->host_temp_size_in_bytes = -1; // XLA's word for what it does not know
    args->peak_memory_in_bytes = 900;
    return NULL;
}

static void free_serialized(PJRT_SerializedExecutable *bytes) {
    free(bytes);
}

static PJRT_Error *executable_serialize(PJRT_Executable_Serialize_Args *args) {
    if (has("no_serialize"))
        return error_of(PJRT_Error_Code_UNIMPLEMENTED, "cannot serialize executables");
    if (has("serialize_exits")) _exit(3);
    const program_t *program = args->executable->program;
    record("serialize", program->bytes, program->size);
    size_t head = sizeof alive - 1;
    char *bytes = malloc(head + program->size);
    if (!bytes) abort();
    memcpy(bytes, program->reloaded ? dead : alive, head);
    memcpy(bytes + head, program->bytes, program->size);
    args->serialized_bytes = bytes;
    args->serialized_bytes_size = has("empty_serialize") ? 0 : head + program->size;
    args->serialized_executable = (PJRT_SerializedExecutable *)bytes;
    args->serialized_executable_deleter = free_serialized;
    return NULL;
}

// The program as it was compiled; asked for the size first, then for the bytes.
static PJRT_Error *optimized_program(PJRT_Executable_OptimizedProgram_Args *args) {
    static const char format[] = "text";
    const program_t *program = args->executable->program;
    EXPECT(PJRT_Executable_OptimizedProgram_Args, args);
    EXPECT(PJRT_Program, args->program);
    record("optimized", program->bytes, program->size);
    if (has("optimized_checks") && args->program->code && args->program->code_size < program->size)
        return error_of(PJRT_Error_Code_INVALID_ARGUMENT, "the room is too short");
    if (args->program->code) memcpy(args->program->code, program->bytes, program->size);
    args->program->code_size = program->size;
    args->program->format = format;
    args->program->format_size = sizeof format - 1;
    return NULL;
}

// The event is the launch's number. Where that is 0 it returns at once: what Keel adds to an
// execution is measured above it.
static PJRT_Error *loaded_execute(PJRT_LoadedExecutable_Execute_Args *args) {
    if (!args->options || !args->options->launch_id) return NULL;
    if (args->execute_device && atomic_load(&args->executable->deleted))
        return error_of(PJRT_Error_Code_INVALID_ARGUMENT, "it is deleted");
    EXPECT(PJRT_LoadedExecutable_Execute_Args, args);
    EXPECT(PJRT_ExecuteOptions, args->options);
    if (args->execute_device) record_loaded("execute", args->executable);
    args->device_complete_events[0] = (PJRT_Event *)(uintptr_t)args->options->launch_id;
    return NULL;
}

static PJRT_Buffer four = {.size = 16, .numbers = {4, 10, 10, 25}};

// What `keel probe`'s program gives.
static PJRT_Buffer sum = {.size = 4, .numbers = {49}}, wrong_sum = {.size = 4, .numbers = {48}};

static PJRT_Error *run_probe(PJRT_LoadedExecutable_Execute_Args *args) {
    bool is_wrong =
        has("wrong_numbers") || (args->executable->program->reloaded && has("reloads_wrong"));
    EXPECT(PJRT_LoadedExecutable_Execute_Args, args);
    EXPECT(PJRT_ExecuteOptions, args->options);
    args->output_lists[0][0] = is_wrong ? &wrong_sum : &sum;
    return NULL;
}

static PJRT_Error *from_host(PJRT_Client_BufferFromHostBuffer_Args *args) {
    args->buffer = &four;
    args->done_with_host_buffer = NULL;
    return NULL;
}

static PJRT_Error *to_host(PJRT_Buffer_ToHostBuffer_Args *args) {
    args->dst_size = args->src->size;
    if (args->dst) memcpy(args->dst, args->src->numbers, args->src->size);
    return NULL;
}

static PJRT_Error *buffer_destroy(PJRT_Buffer_Destroy_Args *args) {
    (void)args;
    take_time("release_ms");
    record("release", "", 0);
    return NULL;
}

// ---- moving data -------------------------------------------------------------------------------

struct PJRT_Event {
    PJRT_Event_OnReadyCallback callback;
    void *user_arg;
};

static PJRT_Error *moves(PJRT_Event **event) {
    if (has("moves_fail")) return error_of(PJRT_Error_Code_INTERNAL, "nothing moves");
    if (event) *event = calloc(1, sizeof **event);
    return NULL;
}

static PJRT_Error *move_in(PJRT_Client_BufferFromHostBuffer_Args *args) {
    args->buffer = &four;
    return moves(&args->done_with_host_buffer);
}

static PJRT_Error *move_part(PJRT_AsyncHostToDeviceTransferManager_TransferData_Args *args) {
    return moves(&args->done_with_h2d_transfer);
}

static PJRT_Error *move_out(PJRT_Buffer_ToHostBuffer_Args *args) {
    args->event = NULL;
    args->dst_size = args->src->size;
    return moves(args->dst ? &args->event : NULL);
}

static PJRT_Error *move_raw(PJRT_Buffer_CopyRawToHost_Args *args) {
    return moves(&args->event);
}

static PJRT_Error *hold(PJRT_Buffer_IncreaseExternalReferenceCount_Args *args) {
    (void)args;
    return moves(NULL);
}

static PJRT_Error *size_of(PJRT_Buffer_OnDeviceSizeInBytes_Args *args) {
    if (has("size_fails")) return error_of(PJRT_Error_Code_INTERNAL, "no size");
    args->on_device_size_in_bytes = args->buffer->size;
    return NULL;
}

static PJRT_Error *on_ready(PJRT_Event_OnReady_Args *args) {
    if (has("never_ready")) return error_of(PJRT_Error_Code_UNIMPLEMENTED, "nobody is called");
    args->event->callback = args->callback;
    args->event->user_arg = args->user_arg;
    return NULL;
}

static PJRT_Error *await(PJRT_Event_Await_Args *args) {
    PJRT_Event *event = args->event;
    if (event->callback) event->callback(NULL, event->user_arg);
    event->callback = NULL;
    return NULL;
}

static PJRT_Error *event_destroy(PJRT_Event_Destroy_Args *args) {
    free(args->event);
    return NULL;
}

static void move(PJRT_Api *api) {
    api->PJRT_Client_BufferFromHostBuffer = move_in;
    api->PJRT_AsyncHostToDeviceTransferManager_TransferData = move_part;
    api->PJRT_Buffer_ToHostBuffer = move_out;
    api->PJRT_Buffer_CopyRawToHost = move_raw;
    api->PJRT_Buffer_IncreaseExternalReferenceCount = hold;
    api->PJRT_Buffer_OnDeviceSizeInBytes = size_of;
    api->PJRT_Event_OnReady = on_ready;
    api->PJRT_Event_Await = await;
    api->PJRT_Event_Destroy = event_destroy;
}

// ---- buffers -----------------------------------------------------------------------------------

// Of one shape each: [1], [1, 2], [1, 2, 3], ... Layouts are those by strides.
static PJRT_Error *create_buffers(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args *args) {
    EXPECT(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args, args);
    size_t stride = wanted("PJRT_ShapeSpec");
    if (!stride) stride = PJRT_ShapeSpec_STRUCT_SIZE;
    stride = (stride + 7) & ~(size_t)7;
    for (size_t i = 0; i < args->num_shape_specs; ++i) {
        const char *at = (const char *)args->shape_specs + i * stride;
        EXPECT(PJRT_ShapeSpec, at);
        if (((const PJRT_ShapeSpec *)(const void *)at)->num_dims != i + 1)
            return error_of(PJRT_Error_Code_INVALID_ARGUMENT, "not the shape");
    }
    for (size_t i = 0; i < args->num_device_layouts; ++i) {
        if (!args->device_layouts[i]) continue;
        EXPECT(PJRT_Buffer_MemoryLayout, args->device_layouts[i]);
        if (args->device_layouts[i]->type != PJRT_Buffer_MemoryLayout_Type_Strides)
            return error_of(PJRT_Error_Code_INVALID_ARGUMENT, "not the layout");
    }
    record("buffers", "", 0);
    args->transfer_manager = NULL;
    return NULL;
}

// ---- the table ---------------------------------------------------------------------------------

// Whatever else is called.
static PJRT_Error *unimplemented(void *args) {
    (void)args;
    return error_of(PJRT_Error_Code_UNIMPLEMENTED, "not implemented");
}

static PJRT_Error *answer(test_plugin_answer_t *args) {
    args->number = 42;
    return NULL;
}

static PJRT_Error *for_each_payload(test_plugin_payload_args_t *args) {
    args->visitor("text", 4, args->error->text, strlen(args->error->text), args->user_arg);
    return NULL;
}

static PJRT_Extension_Base extensions[] = {
    {.struct_size = PJRT_Extension_Base_STRUCT_SIZE,
     .type = PJRT_Extension_Type_Layouts,
     .next = &extensions[1]},
    {.struct_size = PJRT_Extension_Base_STRUCT_SIZE, .type = PJRT_Extension_Type_Example},
};

static test_plugin_table_t table = {
    .api = {
        .struct_size = PJRT_Api_STRUCT_SIZE,
        .extension_start = extensions,
        .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                             .major_version = PJRT_API_MAJOR,
                             .minor_version = PJRT_API_MINOR},
        .PJRT_Error_Destroy = error_destroy,
        .PJRT_Error_Message = error_message,
        .PJRT_Error_GetCode = error_get_code,
        .PJRT_Plugin_Initialize = plugin_initialize,
        .PJRT_Plugin_Attributes = plugin_attributes,
        .PJRT_Client_Create = client_create,
        .PJRT_Client_Destroy = client_destroy,
        .PJRT_Client_PlatformName = client_platform_name,
        .PJRT_Client_PlatformVersion = client_platform_version,
        .PJRT_Client_Devices = client_devices,
        .PJRT_Client_AddressableDevices = client_addressable_devices,
        .PJRT_Client_Compile = client_compile,
        .PJRT_Client_CreateBuffersForAsyncHostToDevice = create_buffers,
        .PJRT_Client_TopologyDescription = client_topology,
        .PJRT_Device_MemoryStats = device_memory_stats,
        .PJRT_DeviceDescription_Id = description_id,
        .PJRT_DeviceDescription_Kind = description_kind,
        .PJRT_DeviceDescription_ProcessIndex = description_process_index,
        .PJRT_Device_GetDescription = device_get_description,
        .PJRT_TopologyDescription_Serialize = topology_serialize,
        .PJRT_Executable_Destroy = executable_destroy,
        .PJRT_Executable_GetCompiledMemoryStats = executable_memory_stats,
        .PJRT_Executable_Name = executable_name,
        .PJRT_Executable_Serialize = executable_serialize,
        .PJRT_Executable_OptimizedProgram = optimized_program,
        .PJRT_Executable_DeserializeAndLoad = load,
        .PJRT_LoadedExecutable_Destroy = loaded_destroy,
        .PJRT_LoadedExecutable_Delete = loaded_delete,
        .PJRT_LoadedExecutable_IsDeleted = loaded_is_deleted,
        .PJRT_LoadedExecutable_GetExecutable = loaded_get_executable,
        .PJRT_LoadedExecutable_Execute = loaded_execute,
    }};

static void fill(void) {
    static const uintptr_t none;
    uintptr_t other = (uintptr_t)unimplemented;
    char *first = (char *)&table.api.PJRT_Error_Destroy;
    char *end = (char *)&table.api + PJRT_Api_STRUCT_SIZE;
    for (char *at = first; at < end; at += sizeof other)
        if (memcmp(at, &none, sizeof none) == 0) memcpy(at, &other, sizeof other);
}

static void shape(void) {
    char value[128];
    if (has("null_serialize")) table.api.PJRT_Executable_Serialize = NULL;
    table.api.pjrt_api_version.major_version = (int)number("major", PJRT_API_MAJOR);
    table.api.pjrt_api_version.minor_version = (int)number("minor", PJRT_API_MINOR);
    if (has("runs")) {
        table.api.PJRT_Client_BufferFromHostBuffer = from_host;
        table.api.PJRT_LoadedExecutable_Execute = run_probe;
        table.api.PJRT_Buffer_ToHostBuffer = to_host;
        table.api.PJRT_Buffer_Destroy = buffer_destroy;
    }
    if (has("moves")) move(&table.api);
    if (!word("table", value)) return;
    if (strcmp(value, "older") == 0)
        table.api.struct_size = offsetof(PJRT_Api, PJRT_Client_TopologyDescription);
    else if (strcmp(value, "short") == 0)
        table.api.struct_size = offsetof(PJRT_Api, PJRT_Client_Compile);
    else if (strcmp(value, "newer") == 0) {
        table.api.struct_size = sizeof table;
        table.answer = answer;
        table.for_each_payload = for_each_payload;
    }
}

EXPORTED const PJRT_Api *GetPjrtApi(void);

// What a plugin may do to its process when it is loaded.
static void load_as_told(void) {
    if (has("load_exits")) _exit(0);
    if (has("load_hangs") || (has("load_forks") && fork() == 0))
        for (;;)
            pause();
    if (has("load_closes"))
        for (int i = 3; i < 256; ++i)
            close(i);
}

const PJRT_Api *GetPjrtApi(void) {
    if (table.api.PJRT_Compile) return &table.api;
    load_as_told();
    fill();
    shape();
    return &table.api;
}
