// The plugin door's table: one device, its buffers, compiling and executing.
#define _GNU_SOURCE
#include <stdlib.h>

#include <pjrt_c_api.h>

#include "pjrt/pjrt.h"
#include "shim/shim.h"
#include "tensor/trace.h"

struct device_t {
    const PJRT_Api *api;
    PJRT_Client *client;
    PJRT_Device *device;
};

static PJRT_Buffer_Type buffer_type(keel_dtype_t dtype) {
    static const PJRT_Buffer_Type types[KEEL_DTYPE_COUNT] = {
        [KEEL_BOOL] = PJRT_Buffer_Type_PRED,     [KEEL_I8] = PJRT_Buffer_Type_S8,
        [KEEL_I16] = PJRT_Buffer_Type_S16,       [KEEL_I32] = PJRT_Buffer_Type_S32,
        [KEEL_I64] = PJRT_Buffer_Type_S64,       [KEEL_U8] = PJRT_Buffer_Type_U8,
        [KEEL_U16] = PJRT_Buffer_Type_U16,       [KEEL_U32] = PJRT_Buffer_Type_U32,
        [KEEL_U64] = PJRT_Buffer_Type_U64,       [KEEL_F8E4M3FN] = PJRT_Buffer_Type_F8E4M3FN,
        [KEEL_F8E5M2] = PJRT_Buffer_Type_F8E5M2, [KEEL_BF16] = PJRT_Buffer_Type_BF16,
        [KEEL_F16] = PJRT_Buffer_Type_F16,       [KEEL_F32] = PJRT_Buffer_Type_F32,
        [KEEL_F64] = PJRT_Buffer_Type_F64,
    };
    return types[dtype];
}

static keel_status_t make_client(device_t *device) {
    PJRT_Plugin_Initialize_Args initialize = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Plugin_Initialize, initialize));
    PJRT_Client_Create_Args create = {KEEL_PJRT_SIZE(PJRT_Client_Create)};
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Client_Create, create));
    device->client = create.client;
    PJRT_Client_AddressableDevices_Args devices = {KEEL_PJRT_SIZE(PJRT_Client_AddressableDevices),
                                                   .client = device->client};
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Client_AddressableDevices, devices));
    if (!devices.num_addressable_devices)
        return keel_status_make(KEEL_PLUGIN, "the plugin has no device for this process");
    device->device = devices.addressable_devices[0];
    return NULL;
}

keel_status_t device_open(const char *plugin, device_t **out) {
    void *memory;
    if (plugin && !keel_shim_wrap(plugin))
        return keel_status_make(KEEL_INVALID,
                                "%s cannot be used: it is no plugin, or this process already has "
                                "another one",
                                plugin);
    KEEL_TRY(keel_calloc(1, sizeof(device_t), &memory));
    device_t *device = memory;
    setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0); // plugins greet
    device->api = keel_shim_api();
    keel_status_t status = make_client(device);
    if (status) {
        device_close(device);
        return status;
    }
    *out = device;
    return NULL;
}

void device_close(device_t *device) {
    if (!device) return;
    PJRT_Client_Destroy_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Destroy), .client = device->client};
    if (device->client) keel_status_ignore(KEEL_PJRT_CALL(device->api, PJRT_Client_Destroy, args));
    keel_free(device);
}

keel_status_t device_send(device_t *device, keel_dtype_t dtype, const keel_shape_t *shape,
                          const void *data, PJRT_Buffer **out) {
    PJRT_Client_BufferFromHostBuffer_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_BufferFromHostBuffer),
        .client = device->client,
        .data = data,
        .type = buffer_type(dtype),
        .dims = shape->dims,
        .num_dims = (size_t)shape->rank,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = device->device};
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Client_BufferFromHostBuffer, args));
    keel_status_t status = keel_pjrt_await(device->api, args.done_with_host_buffer);
    if (status)
        device_drop(device, args.buffer);
    else
        *out = args.buffer;
    return status;
}

keel_status_t device_receive(device_t *device, PJRT_Buffer *buffer, void *data, size_t size) {
    PJRT_Buffer_ToHostBuffer_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_ToHostBuffer), .src = buffer,
                                          .dst = data, .dst_size = size};
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Buffer_ToHostBuffer, args));
    return keel_pjrt_await(device->api, args.event);
}

void device_drop(device_t *device, PJRT_Buffer *buffer) {
    keel_pjrt_destroy_buffer(device->api, buffer);
}

// executable_build_options {num_replicas: 1 num_partitions: 1} of xla.CompileOptionsProto
static const char compile_options[] = "\x1a\x04\x20\x01\x28\x01";

keel_status_t device_compile(device_t *device, keel_bytes_t hlo, PJRT_LoadedExecutable **out) {
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)hlo.data,
                            .code_size = hlo.size,
                            .format = "hlo",
                            .format_size = 3};
    PJRT_Client_Compile_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = device->client,
                                     .program = &program, .compile_options = compile_options,
                                     .compile_options_size = sizeof compile_options - 1};
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Client_Compile, args));
    *out = args.executable;
    return NULL;
}

void device_forget(device_t *device, PJRT_LoadedExecutable *loaded) {
    if (loaded) keel_pjrt_destroy_loaded(device->api, loaded);
}

keel_status_t device_execute(device_t *device, PJRT_LoadedExecutable *loaded,
                             PJRT_Buffer *const *arguments, size_t argument_count,
                             PJRT_Buffer **results) {
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_LoadedExecutable_Execute_Args args = {KEEL_PJRT_SIZE(PJRT_LoadedExecutable_Execute),
                                               .executable = loaded,
                                               .options = &options,
                                               .argument_lists = &arguments,
                                               .num_devices = 1,
                                               .num_args = argument_count,
                                               .output_lists = &results};
    return KEEL_PJRT_CALL(device->api, PJRT_LoadedExecutable_Execute, args);
}

void device_step(void) {
    keel_shim_step();
}

void keel_freeze(void) {
    keel_shim_freeze();
}
