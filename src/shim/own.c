// The engine behind JAX's own client. The client has no plugin that Keel could wrap: the Python
// package calls here where JAX compiles, and the table behind the engine calls back (own/own.h).
#include <stdio.h>

#include "shim/jitted.h"

static keel_plugin_t of_client;
static const PJRT_Api *api; // the table that a plugin's client would get
static PJRT_Client *client;

// Gives the error's text and returns its code; destroys it.
static int give_error(PJRT_Error *error, void *out) {
    PJRT_Error_Code code = keel_pjrt_code_of(api, error);
    PJRT_Error_Message_Args message = {KEEL_PJRT_SIZE(PJRT_Error_Message), .error = error};
    PJRT_Error_Destroy_Args destroy = {KEEL_PJRT_SIZE(PJRT_Error_Destroy), .error = error};
    api->PJRT_Error_Message(&message);
    const char *name = keel_pjrt_code_name(code);
    keel_own_give(out, name, strlen(name));
    keel_own_give(out, ": ", 2);
    keel_own_give(out, message.message, message.message_size);
    api->PJRT_Error_Destroy(&destroy);
    return (int)code;
}

static int give_status(keel_status_t status, void *out) {
    keel_own_give(out, keel_status_message(status), strlen(keel_status_message(status)));
    keel_status_ignore(status);
    return -1;
}

// JAX drops its client (`clear_backends`) and makes another.
static keel_status_t replace_client(const keel_own_facts_t *facts) {
    PJRT_Client_Destroy_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Destroy), .client = client};
    if (client)
        KEEL_TRY(keel_pjrt_status(api, api->PJRT_Client_Destroy(&args), "PJRT_Client_Destroy"));
    client = NULL;
    return keel_own_client(facts);
}

static int begin(const keel_own_facts_t *facts, const keel_own_calls_t *calls, void *out) {
    bool is_later = api != NULL;
    if (of_client.api && !is_later) return 0;
    keel_status_t status =
        is_later ? replace_client(facts) : keel_own_plugin(facts, calls, &of_client);
    if (status) return give_status(status, out);
    if (!is_later && !keel_shim_wrap_own(&of_client)) return 0;
    api = keel_shim_api();
    PJRT_Client_Create_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Create)};
    PJRT_Error *error = api->PJRT_Client_Create(&args);
    if (error) {
        give_error(error, out);
        return -1;
    }
    client = args.client;
    return keel_shim_engine() ? 1 : 0;
}

static int compile(keel_str_t code, keel_str_t options, const keel_bytes_t *constants, size_t count,
                   uint64_t *out_handle, uint64_t *out_number, void *out) {
    static char format[] = "mlir";
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)code.data,
                            .code_size = code.size,
                            .format = format,
                            .format_size = sizeof format - 1};
    PJRT_Client_Compile_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = client,
                                     .program = &program, .compile_options = options.data,
                                     .compile_options_size = options.size};
    keel_engine_beside(&(keel_engine_beside_t){constants, count, keel_own_whole});
    PJRT_Error *error = api->PJRT_Client_Compile(&args);
    keel_engine_beside(&(keel_engine_beside_t){0});
    if (error) return give_error(error, out);
    *out_handle = (uint64_t)(uintptr_t)args.executable;
    *out_number = keel_own_number(args.executable);
    return 0;
}

static int load(keel_str_t bytes, keel_str_t options, uint64_t *out_handle, uint64_t *out_number,
                void *out) {
    PJRT_Executable_DeserializeAndLoad_Args args = {
        KEEL_PJRT_SIZE(PJRT_Executable_DeserializeAndLoad),
        .client = client,
        .serialized_executable = bytes.data,
        .serialized_executable_size = bytes.size,
        .overridden_serialized_compile_options = options.size ? options.data : NULL,
        .overridden_serialized_compile_options_size = options.size};
    PJRT_Error *error = api->PJRT_Executable_DeserializeAndLoad(&args);
    if (error) return give_error(error, out);
    *out_handle = (uint64_t)(uintptr_t)args.loaded_executable;
    *out_number = keel_own_number(args.loaded_executable);
    return 0;
}

static PJRT_LoadedExecutable *of_handle(uint64_t handle) {
    return (PJRT_LoadedExecutable *)(uintptr_t)handle;
}

static bool give_stored(PJRT_Executable *executable, void *out) {
    keel_payload_t payload;
    keel_stored_t *stored = keel_engine_stored(keel_shim_engine(), executable, &payload);
    if (!stored) return false;
    keel_own_give(out, payload.executable.data, payload.executable.size);
    keel_stored_release(stored);
    return true;
}

static bool stored(uint64_t handle, void *out) {
    PJRT_Executable *taken = NULL;
    keel_status_t status = keel_pjrt_executable(api, of_handle(handle), &taken);
    bool is_given = !status && give_stored(taken, out);
    keel_pjrt_destroy_executable(api, taken);
    keel_status_ignore(status);
    return is_given;
}

static void serialized(uint64_t handle, keel_str_t bytes) {
    PJRT_Executable *taken = NULL;
    keel_status_t status = keel_pjrt_executable(api, of_handle(handle), &taken);
    if (!status) keel_engine_serialized(keel_shim_engine(), taken, keel_str_bytes(bytes));
    keel_pjrt_destroy_executable(api, taken);
    keel_status_ignore(status);
}

static void destroy(uint64_t handle) {
    keel_pjrt_destroy_loaded(api, of_handle(handle));
}

static int unseen(keel_str_t why, void *out) {
    char text[512];
    snprintf(text, sizeof text, "%.*s", KEEL_STR_ARGS(why));
    PJRT_Error *error = keel_engine_unseen(keel_shim_engine(), text);
    return error ? give_error(error, out) : 0;
}

static void end(void) {
    keel_shim_end();
    keel_own_end();
}

// ---- buffers -----------------------------------------------------------------------------------

static void *make_buffer(void) {
    void *memory;
    keel_status_t status = keel_alloc(sizeof(keel_buffer_t), &memory);
    keel_status_ignore(status);
    if (status) return NULL;
    keel_buffer_initialize(memory, 0);
    return memory;
}

static const void *read_buffer(void *buffer, size_t *out_size) {
    *out_size = ((const keel_buffer_t *)buffer)->size;
    return keel_buffer_cstr(buffer);
}

static void free_buffer(void *buffer) {
    keel_buffer_deinitialize(buffer);
    keel_free(buffer);
}

// ---- executions --------------------------------------------------------------------------------

static void executed(uint64_t handle) {
    jitted_executed(of_handle(handle));
}

static void *make_group(void) {
    return jitted_group_create();
}

static void free_group(void *group) {
    jitted_group_destroy(group);
}

static bool add_program(void *group, uint64_t handle) {
    return jitted_group_add(group, of_handle(handle));
}

static bool watch(void *function, size_t offset, void *group) {
    return jitted_watch(function, offset, group);
}

const keel_own_door_t *keel_shim_own_door(void) {
    static const keel_own_door_t door = {
        .size = sizeof(keel_own_door_t),
        .calls_size = sizeof(keel_own_calls_t),
        .version = KEEL_VERSION,
        .begin = begin,
        .give = keel_own_give,
        .spent = keel_engine_spent,
        .copy = keel_memory_copy_large,
        .compile = compile,
        .load = load,
        .serialized = serialized,
        .stored = stored,
        .destroy = destroy,
        .unseen = unseen,
        .end = end,
        .make_buffer = make_buffer,
        .read_buffer = read_buffer,
        .free_buffer = free_buffer,
        .executed = executed,
        .make_group = make_group,
        .free_group = free_group,
        .add_program = add_program,
        .namer = jitted_namer,
        .around = jitted_around,
        .watch = watch,
        .forget = jitted_forget,
        .missed = jitted_missed,
    };
    return &door;
}
