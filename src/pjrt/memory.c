#include "pjrt/memory.h"
#include "pjrt/error.h"

static uint64_t size_of(int64_t value) {
    return value > 0 ? (uint64_t)value : 0;
}

uint64_t keel_program_memory_total(const keel_program_memory_t *memory) {
    uint64_t all = memory->arguments + memory->outputs + memory->temporaries + memory->code;
    return all > memory->aliased ? all - memory->aliased : 0;
}

keel_status_t keel_pjrt_program_memory(const PJRT_Api *api, PJRT_Executable *executable,
                                       keel_program_memory_t *out) {
    static const char what[] = "PJRT_Executable_GetCompiledMemoryStats";
    *out = (keel_program_memory_t){0};
    if (!keel_pjrt_has(api, PJRT_Executable_GetCompiledMemoryStats))
        return keel_status_make(KEEL_UNSUPPORTED, "%s: the plugin has no such function", what);
    PJRT_Executable_GetCompiledMemoryStats_Args args = {
        .struct_size = PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE,
        .executable = executable};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Executable_GetCompiledMemoryStats(&args), what));
    *out = (keel_program_memory_t){
        .arguments = size_of(args.argument_size_in_bytes),
        .outputs = size_of(args.output_size_in_bytes),
        .aliased = size_of(args.alias_size_in_bytes),
        .temporaries = size_of(args.temp_size_in_bytes),
        .code = size_of(args.generated_code_size_in_bytes),
        .host = size_of(args.host_argument_size_in_bytes) +
                size_of(args.host_output_size_in_bytes) + size_of(args.host_temp_size_in_bytes) +
                size_of(args.host_generated_code_size_in_bytes),
        .peak = size_of(args.peak_memory_in_bytes),
    };
    return NULL;
}

keel_status_t keel_pjrt_device_memory(const PJRT_Api *api, PJRT_Device *device,
                                      keel_device_memory_t *out) {
    static const char what[] = "PJRT_Device_MemoryStats";
    *out = (keel_device_memory_t){0};
    if (!keel_pjrt_has(api, PJRT_Device_MemoryStats))
        return keel_status_make(KEEL_UNSUPPORTED, "%s: the plugin has no such function", what);
    PJRT_Device_MemoryStats_Args args = {.struct_size = PJRT_Device_MemoryStats_Args_STRUCT_SIZE,
                                         .device = device};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Device_MemoryStats(&args), what));
    out->in_use = size_of(args.bytes_in_use);
    if (args.peak_bytes_in_use_is_set) out->peak = size_of(args.peak_bytes_in_use);
    if (args.bytes_limit_is_set) out->limit = size_of(args.bytes_limit);
    return NULL;
}

static keel_status_t describe_device(const PJRT_Api *api, PJRT_Device *device,
                                     PJRT_DeviceDescription **out) {
    PJRT_Device_GetDescription_Args args = {
        .struct_size = PJRT_Device_GetDescription_Args_STRUCT_SIZE, .device = device};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Device_GetDescription(&args),
                              "PJRT_Device_GetDescription"));
    *out = args.device_description;
    return NULL;
}

keel_status_t keel_pjrt_device_id(const PJRT_Api *api, PJRT_Device *device, int *out) {
    PJRT_DeviceDescription *description;
    KEEL_TRY(describe_device(api, device, &description));
    PJRT_DeviceDescription_Id_Args args = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Id),
                                           .device_description = description};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_Id, args));
    *out = args.id;
    return NULL;
}

keel_status_t keel_pjrt_device_name(const PJRT_Api *api, const char *platform, PJRT_Device *device,
                                    char **out_name, char **out_kind) {
    PJRT_DeviceDescription *description;
    int id;
    KEEL_TRY(keel_pjrt_device_id(api, device, &id));
    KEEL_TRY(describe_device(api, device, &description));
    PJRT_DeviceDescription_Kind_Args kind = {.struct_size =
                                                 PJRT_DeviceDescription_Kind_Args_STRUCT_SIZE,
                                             .device_description = description};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_DeviceDescription_Kind(&kind),
                              "PJRT_DeviceDescription_Kind"));
    KEEL_TRY(keel_path(out_name, "%s:%d", strcmp(platform, "tpu") == 0 ? "TPU" : platform, id));
    keel_status_t status =
        keel_strdup((keel_str_t){kind.device_kind, kind.device_kind_size}, out_kind);
    if (status) keel_free(*out_name);
    return status;
}

keel_status_t keel_pjrt_addressable_devices(const PJRT_Api *api, PJRT_Client *client,
                                            PJRT_Device *const **out, size_t *out_count) {
    PJRT_Client_AddressableDevices_Args args = {
        .struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE, .client = client};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Client_AddressableDevices(&args),
                              "PJRT_Client_AddressableDevices"));
    *out = args.addressable_devices;
    *out_count = args.num_addressable_devices;
    return NULL;
}

const char *keel_pjrt_code_name(PJRT_Error_Code code) {
    static const char *const words[] = {"OK",
                                        "CANCELLED",
                                        "UNKNOWN",
                                        "INVALID_ARGUMENT",
                                        "DEADLINE_EXCEEDED",
                                        "NOT_FOUND",
                                        "ALREADY_EXISTS",
                                        "PERMISSION_DENIED",
                                        "RESOURCE_EXHAUSTED",
                                        "FAILED_PRECONDITION",
                                        "ABORTED",
                                        "OUT_OF_RANGE",
                                        "UNIMPLEMENTED",
                                        "INTERNAL",
                                        "UNAVAILABLE",
                                        "DATA_LOSS",
                                        "UNAUTHENTICATED"};
    size_t number = (size_t)code;
    return number < sizeof words / sizeof *words ? words[number] : "UNKNOWN";
}

PJRT_Error_Code keel_pjrt_code_of(const PJRT_Api *api, const PJRT_Error *error) {
    PJRT_Error_GetCode_Args args = {KEEL_PJRT_SIZE(PJRT_Error_GetCode), .error = error};
    if (!keel_pjrt_error_number(error, &args.code))
        keel_status_ignore(KEEL_PJRT_CALL(api, PJRT_Error_GetCode, args));
    return args.code ? args.code : PJRT_Error_Code_UNKNOWN;
}

const char *keel_pjrt_error_code(const PJRT_Api *api, const PJRT_Error *error) {
    return keel_pjrt_code_name(keel_pjrt_code_of(api, error));
}
