#include "base/proto.h"
#include "pjrt/error.h"

static keel_str_t message_of(const PJRT_Api *api, const PJRT_Error *error) {
    keel_str_t own;
    if (keel_pjrt_error_message(error, &own)) return own;
    PJRT_Error_Message_Args message = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                       .error = error};
    api->PJRT_Error_Message(&message);
    return (keel_str_t){message.message, message.message_size};
}

keel_status_t keel_pjrt_status(const PJRT_Api *api, PJRT_Error *error, const char *what) {
    if (!error) return NULL;
    keel_str_t message = message_of(api, error);
    PJRT_Error_Code own;
    bool is_refused =
        keel_pjrt_error_number(error, &own) && own == PJRT_Error_Code_FAILED_PRECONDITION;
    // Keel refused it, whatever function was called.
    keel_status_t status =
        is_refused ? keel_status_make(KEEL_REFUSED, "%.*s", KEEL_STR_ARGS(message))
                   : keel_status_make(KEEL_PLUGIN, "%s: %.*s", what, KEEL_STR_ARGS(message));
    if (keel_pjrt_error_destroy(error)) return status;
    PJRT_Error_Destroy_Args destroy = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                       .error = error};
    api->PJRT_Error_Destroy(&destroy);
    return status;
}

keel_status_t keel_pjrt_await(const PJRT_Api *api, PJRT_Event *event) {
    PJRT_Event_Await_Args wait = {KEEL_PJRT_SIZE(PJRT_Event_Await), .event = event};
    PJRT_Event_Destroy_Args destroy = {KEEL_PJRT_SIZE(PJRT_Event_Destroy), .event = event};
    if (!event) return NULL;
    keel_status_t status = KEEL_PJRT_CALL(api, PJRT_Event_Await, wait);
    keel_status_ignore(KEEL_PJRT_CALL(api, PJRT_Event_Destroy, destroy));
    return status;
}

void keel_pjrt_destroy_buffer(const PJRT_Api *api, PJRT_Buffer *buffer) {
    PJRT_Buffer_Destroy_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_Destroy), .buffer = buffer};
    if (buffer) keel_status_ignore(KEEL_PJRT_CALL(api, PJRT_Buffer_Destroy, args));
}

keel_status_t keel_pjrt_executable(const PJRT_Api *api, PJRT_LoadedExecutable *loaded,
                                   PJRT_Executable **out) {
    PJRT_LoadedExecutable_GetExecutable_Args args = {
        .struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE,
        .loaded_executable = loaded};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_LoadedExecutable_GetExecutable(&args),
                              "PJRT_LoadedExecutable_GetExecutable"));
    *out = args.executable;
    return NULL;
}

keel_status_t keel_pjrt_serialize(const PJRT_Api *api, const PJRT_Executable *executable,
                                  uint8_t **out, size_t *out_size) {
    PJRT_Executable_Serialize_Args args = {
        .struct_size = PJRT_Executable_Serialize_Args_STRUCT_SIZE, .executable = executable};
    KEEL_TRY(
        keel_pjrt_status(api, api->PJRT_Executable_Serialize(&args), "PJRT_Executable_Serialize"));
    keel_status_t status =
        keel_bytes_dup(keel_bytes(args.serialized_bytes, args.serialized_bytes_size), out);
    if (!status) *out_size = args.serialized_bytes_size;
    if (args.serialized_executable_deleter)
        args.serialized_executable_deleter(args.serialized_executable);
    if (!status && *out_size == 0) {
        keel_free(*out);
        status = keel_status_make(KEEL_PLUGIN, "PJRT_Executable_Serialize returned no bytes");
    }
    return status;
}

keel_status_t keel_pjrt_load(const PJRT_Api *api, PJRT_Client *client, keel_bytes_t serialized,
                             keel_bytes_t options, PJRT_LoadedExecutable **out) {
    enum { MINOR = 71 }; // the first with other options
    if (options.size && api->pjrt_api_version.minor_version < MINOR)
        return keel_status_make(KEEL_UNSUPPORTED,
                                "the plugin loads executables only with the options that they were "
                                "compiled with");
    PJRT_Executable_DeserializeAndLoad_Args args = {
        .struct_size = PJRT_Executable_DeserializeAndLoad_Args_STRUCT_SIZE,
        .client = client,
        .serialized_executable = (const char *)serialized.data,
        .serialized_executable_size = serialized.size,
        .overridden_serialized_compile_options = options.size ? (const char *)options.data : NULL,
        .overridden_serialized_compile_options_size = options.size,
    };
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Executable_DeserializeAndLoad(&args),
                              "PJRT_Executable_DeserializeAndLoad"));
    if (!args.loaded_executable)
        return keel_status_make(KEEL_PLUGIN, "PJRT_Executable_DeserializeAndLoad returned nothing");
    *out = args.loaded_executable;
    return NULL;
}

keel_status_t keel_pjrt_optimized_program(const PJRT_Api *api, PJRT_Executable *executable,
                                          keel_buffer_t *out, keel_str_t *out_format) {
    static const char what[] = "PJRT_Executable_OptimizedProgram";
    if (!keel_pjrt_has(api, PJRT_Executable_OptimizedProgram))
        return keel_status_make(KEEL_UNSUPPORTED, "the plugin cannot return optimized programs");
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE};
    PJRT_Executable_OptimizedProgram_Args args = {
        .struct_size = PJRT_Executable_OptimizedProgram_Args_STRUCT_SIZE,
        .executable = executable,
        .program = &program};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Executable_OptimizedProgram(&args), what));
    uint8_t *room = keel_buffer_reserve(out, program.code_size);
    if (!room) return keel_buffer_status(out);
    program.code = (char *)room;
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Executable_OptimizedProgram(&args), what));
    out->size += program.code_size;
    *out_format = (keel_str_t){program.format, program.format_size};
    return NULL;
}

keel_status_t keel_pjrt_hlo_module(keel_bytes_t program, keel_str_t format, keel_bytes_t *out) {
    enum { MODULE = 1 }; // of HloModuleProtoWithConfig
    keel_cursor_t cursor = keel_cursor(program);
    keel_proto_field_t field;
    *out = program;
    if (keel_str_is(format, "hlo")) return NULL;
    if (!keel_str_is(format, "hlo_with_config"))
        return keel_status_make(KEEL_UNSUPPORTED, "Keel does not read programs of format %.*s",
                                KEEL_STR_ARGS(format));
    *out = keel_bytes("", 0);
    while (keel_proto_next(&cursor, &field))
        if (field.number == MODULE && field.wire == KEEL_WIRE_BYTES) *out = field.bytes;
    if (!cursor.failed && out->size) return NULL;
    return keel_status_make(KEEL_CORRUPT, "the optimized program is damaged");
}

void keel_pjrt_destroy_executable(const PJRT_Api *api, PJRT_Executable *executable) {
    if (!executable) return;
    PJRT_Executable_Destroy_Args args = {.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE,
                                         .executable = executable};
    keel_status_ignore(
        keel_pjrt_status(api, api->PJRT_Executable_Destroy(&args), "PJRT_Executable_Destroy"));
}

void keel_pjrt_destroy_loaded(const PJRT_Api *api, PJRT_LoadedExecutable *loaded) {
    if (!loaded) return;
    PJRT_LoadedExecutable_Destroy_Args args = {
        .struct_size = PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE, .executable = loaded};
    keel_status_ignore(keel_pjrt_status(api, api->PJRT_LoadedExecutable_Destroy(&args),
                                        "PJRT_LoadedExecutable_Destroy"));
}
