// The target that a client of a real device is.
#include <stdlib.h>

#include "pjrt/memory.h"
#include "target/internal.h"

static keel_status_t read_platform(const keel_backend_t *backend, keel_target_t *out) {
    for (int i = 0; i < KEEL_TARGET_PLATFORM_COUNT; ++i) {
        if (strcmp(backend->platform_name, keel_target_platform_names[i]) != 0) continue;
        out->platform = (keel_target_platform_t)i;
        return NULL;
    }
    return keel_status_make(KEEL_UNSUPPORTED, "platform %s is none that Keel compiles for ahead",
                            backend->platform_name);
}

static keel_status_t describe(const PJRT_Api *api, PJRT_Device *device,
                              PJRT_DeviceDescription **out) {
    PJRT_Device_GetDescription_Args args = {KEEL_PJRT_SIZE(PJRT_Device_GetDescription),
                                            .device = device};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Device_GetDescription, args));
    *out = args.device_description;
    return NULL;
}

// The first device stands for all.
static keel_status_t read_devices(const PJRT_Api *api, PJRT_Client *client, keel_target_t *out) {
    PJRT_DeviceDescription *description;
    PJRT_Client_Devices_Args all = {KEEL_PJRT_SIZE(PJRT_Client_Devices), .client = client};
    PJRT_Device *const *own;
    size_t own_count;
    keel_device_memory_t memory;
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_Devices, all));
    if (!all.num_devices || all.num_devices > TARGET_DEVICES)
        return keel_status_make(KEEL_UNSUPPORTED, "the client has %zu devices", all.num_devices);
    out->device_count = (uint32_t)all.num_devices;
    KEEL_TRY(describe(api, all.devices[0], &description));
    PJRT_DeviceDescription_Kind_Args kind = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Kind),
                                             .device_description = description};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_Kind, kind));
    KEEL_TRY(
        target_keep(out, (keel_str_t){kind.device_kind, kind.device_kind_size}, &out->device_kind));
    KEEL_TRY(keel_pjrt_addressable_devices(api, client, &own, &own_count));
    keel_status_t status = own_count
                               ? keel_pjrt_device_memory(api, own[0], &memory)
                               : keel_status_make(KEEL_UNSUPPORTED, "no device of this process");
    if (!status) out->memory_limit = memory.limit;
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t keep_options(const PJRT_NamedValue *options, size_t count,
                                  keel_target_t *out) {
    for (size_t i = 0; i < count; ++i)
        KEEL_TRY(target_add_value(out, &out->create_options, &options[i]));
    return NULL;
}

static keel_status_t keep_topology(const keel_backend_t *backend, keel_target_t *out) {
    void *bytes;
    keel_bytes_t from = keel_buffer_bytes(&backend->topology);
    if (!backend->topology_known)
        return keel_status_make(KEEL_UNSUPPORTED, "the plugin does not serialize its topology");
    KEEL_TRY(keel_arena_alloc(&out->arena, from.size, &bytes));
    memcpy(bytes, from.data, from.size);
    out->topology = keel_bytes(bytes, from.size);
    return target_compiler_environment(getenv("TPU_ACCELERATOR_TYPE"), out);
}

static keel_status_t fill(const PJRT_Api *api, PJRT_Client *client,
                          const keel_target_origin_t *origin, const keel_backend_t *backend,
                          keel_target_t *out) {
    KEEL_TRY(read_platform(backend, out));
    KEEL_TRY(read_devices(api, client, out));
    out->process_count = backend->process_count;
    out->topology_name = "";
    KEEL_TRY(target_keep(out, keel_str(backend->platform_version), &out->platform_version));
    KEEL_TRY(target_keep(out, keel_str(origin->build), &out->build));
    KEEL_TRY(target_keep(out, keel_str(origin->name), &out->name));
    KEEL_TRY(keep_options(origin->options, origin->option_count, out));
    if (out->platform == KEEL_TARGET_CPU) return target_count_processors(out);
    return keep_topology(backend, out);
}

keel_status_t keel_target_of_client(const PJRT_Api *api, PJRT_Client *client,
                                    const keel_target_origin_t *origin, keel_target_t *out) {
    keel_backend_t backend;
    *out = (keel_target_t){.name = origin->name};
    keel_arena_initialize(&out->arena, 0);
    KEEL_TRY(keel_backend_read(api, client, NULL, 0, &backend));
    keel_status_t status = fill(api, client, origin, &backend, out);
    keel_backend_deinitialize(&backend);
    return status;
}
