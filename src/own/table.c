// The client and its devices, its errors, and the table.
#include <stdlib.h>

#include "own/internal.h"

struct PJRT_Error {
    int code;
    char *text; // NULL: there was no memory for it
};

typedef struct device_t {
    char *kind;
    int32_t id, process;
} device_t;

typedef struct client_t {
    char *platform, *version;
    int32_t process;
    device_t *devices;
    PJRT_Device **all, **addressable; // handles are pointers to `devices`
    size_t count, addressable_count;
} client_t;

// A process has one such client at a time; its handle is this object.
static client_t client;

// ---- errors ------------------------------------------------------------------------------------

static PJRT_Error no_memory = {PJRT_Error_Code_RESOURCE_EXHAUSTED, NULL};

PJRT_Error *own_error(int code, keel_buffer_t *text) {
    void *memory;
    uint8_t *data;
    size_t size;
    keel_status_t status = keel_calloc(1, sizeof(PJRT_Error), &memory);
    if (!status) {
        PJRT_Error *error = memory;
        error->code = code;
        status = keel_buffer_take(text, &data, &size);
        if (!status) error->text = (char *)data;
    }
    keel_buffer_deinitialize(text);
    if (status && memory) keel_free(memory);
    PJRT_Error *made = status ? &no_memory : memory;
    keel_status_ignore(status);
    return made;
}

static void error_destroy(PJRT_Error_Destroy_Args *args) {
    if (!args->error || args->error == &no_memory) return;
    keel_free(args->error->text);
    keel_free(args->error);
}

static void error_message(PJRT_Error_Message_Args *args) {
    const char *text = args->error->text ? args->error->text : "out of memory";
    args->message = text;
    args->message_size = strlen(text);
}

static PJRT_Error *error_code(PJRT_Error_GetCode_Args *args) {
    args->code = (PJRT_Error_Code)args->error->code;
    return NULL;
}

// ---- the client --------------------------------------------------------------------------------

static PJRT_Error *client_create(PJRT_Client_Create_Args *args) {
    args->client = (PJRT_Client *)&client;
    return NULL;
}

static PJRT_Error *client_destroy(PJRT_Client_Destroy_Args *args) {
    (void)args;
    return NULL;
}

static PJRT_Error *client_platform(PJRT_Client_PlatformName_Args *args) {
    args->platform_name = client.platform;
    args->platform_name_size = strlen(client.platform);
    return NULL;
}

static PJRT_Error *client_version(PJRT_Client_PlatformVersion_Args *args) {
    args->platform_version = client.version;
    args->platform_version_size = strlen(client.version);
    return NULL;
}

static PJRT_Error *client_process(PJRT_Client_ProcessIndex_Args *args) {
    args->process_index = client.process;
    return NULL;
}

static PJRT_Error *client_devices(PJRT_Client_Devices_Args *args) {
    args->devices = client.all;
    args->num_devices = client.count;
    return NULL;
}

static PJRT_Error *client_addressable(PJRT_Client_AddressableDevices_Args *args) {
    args->addressable_devices = client.addressable;
    args->num_addressable_devices = client.addressable_count;
    return NULL;
}

static PJRT_Error *device_description(PJRT_Device_GetDescription_Args *args) {
    args->device_description = (PJRT_DeviceDescription *)args->device;
    return NULL;
}

static PJRT_Error *description_id(PJRT_DeviceDescription_Id_Args *args) {
    args->id = ((const device_t *)args->device_description)->id;
    return NULL;
}

static PJRT_Error *description_process(PJRT_DeviceDescription_ProcessIndex_Args *args) {
    args->process_index = ((const device_t *)args->device_description)->process;
    return NULL;
}

static PJRT_Error *description_kind(PJRT_DeviceDescription_Kind_Args *args) {
    const char *kind = ((const device_t *)args->device_description)->kind;
    args->device_kind = kind;
    args->device_kind_size = strlen(kind);
    return NULL;
}

// ---- the table ---------------------------------------------------------------------------------

static keel_status_t take_devices(const keel_own_facts_t *facts, client_t *out) {
    void *memory;
    KEEL_TRY(keel_calloc(facts->device_count, sizeof(device_t), &memory));
    out->devices = memory;
    KEEL_TRY(keel_calloc(2 * facts->device_count, sizeof(PJRT_Device *), &memory));
    out->all = memory;
    out->addressable = out->all + facts->device_count;
    for (size_t i = 0; i < facts->device_count; ++i) {
        const keel_own_device_t *given = &facts->devices[i];
        device_t *device = &out->devices[i];
        device->id = given->id;
        device->process = given->process;
        KEEL_TRY(keel_strdup(keel_str(given->kind), &device->kind));
        out->all[out->count++] = (PJRT_Device *)device;
        if (given->is_addressable)
            out->addressable[out->addressable_count++] = (PJRT_Device *)device;
    }
    return NULL;
}

keel_status_t keel_own_client(const keel_own_facts_t *facts) {
    client_t taken = {.process = facts->process};
    if (!facts->device_count) return keel_status_make(KEEL_INVALID, "the client has no devices");
    KEEL_TRY(keel_strdup(keel_str(facts->platform), &taken.platform));
    KEEL_TRY(keel_strdup(keel_str(facts->version), &taken.version));
    KEEL_TRY(take_devices(facts, &taken));
    client = taken;
    return NULL;
}

keel_status_t keel_own_plugin(const keel_own_facts_t *facts, const keel_own_calls_t *calls,
                              keel_plugin_t *out) {
    static const PJRT_Api table = {
        .struct_size = PJRT_Api_STRUCT_SIZE,
        .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                             .major_version = PJRT_API_MAJOR,
                             .minor_version = PJRT_API_MINOR},
        .PJRT_Error_Destroy = error_destroy,
        .PJRT_Error_Message = error_message,
        .PJRT_Error_GetCode = error_code,
        .PJRT_Client_Create = client_create,
        .PJRT_Client_Destroy = client_destroy,
        .PJRT_Client_PlatformName = client_platform,
        .PJRT_Client_PlatformVersion = client_version,
        .PJRT_Client_ProcessIndex = client_process,
        .PJRT_Client_Devices = client_devices,
        .PJRT_Client_AddressableDevices = client_addressable,
        .PJRT_Client_Compile = own_compile,
        .PJRT_Device_GetDescription = device_description,
        .PJRT_DeviceDescription_Id = description_id,
        .PJRT_DeviceDescription_ProcessIndex = description_process,
        .PJRT_DeviceDescription_Kind = description_kind,
        .PJRT_Executable_Destroy = own_executable_destroy,
        .PJRT_Executable_Serialize = own_serialize,
        .PJRT_Executable_GetCompiledMemoryStats = own_memory,
        .PJRT_Executable_DeserializeAndLoad = own_load,
        .PJRT_Executable_OptimizedProgram = own_optimized,
        .PJRT_LoadedExecutable_Destroy = own_loaded_destroy,
        .PJRT_LoadedExecutable_GetExecutable = own_get_executable,
        .PJRT_LoadedExecutable_Execute = own_execute,
    };
    KEEL_TRY(keel_own_client(facts));
    own_take_calls(calls);
    KEEL_TRY(keel_path(&out->path, "%s", facts->library));
    out->api = &table;
    out->client_has_programs = true;
    return NULL;
}
