#include "pjrt/identity.h"
#include "probe/internal.h"

// ---- what goes into keys -----------------------------------------------------------------------

static void report_component(const probe_child_t *child, const keel_key_t *key,
                             keel_component_t component) {
    char hex[KEEL_DIGEST_HEX];
    keel_buffer_t line;
    keel_digest_hex(&key->components[component], hex);
    probe_line_begin(&line, "fact", "component");
    probe_line_text(&line, "name", keel_str(keel_component_name(component)));
    probe_line_text(&line, "digest", keel_str(hex));
    probe_line_text(&line, "value", keel_str(key->values[component]));
    probe_line_end(child, &line);
}

static keel_status_t report_key(const probe_child_t *child, const keel_backend_t *backend) {
    keel_key_t key;
    if (!child->build) return NULL;
    keel_key_initialize(&key);
    keel_status_t status = keel_backend_key(backend, child->build, &key);
    if (!status) status = keel_key_finish(&key);
    for (int i = 0; i < KEEL_COMPONENT_COUNT && !status; ++i)
        report_component(child, &key, (keel_component_t)i);
    keel_key_deinitialize(&key);
    return status;
}

static keel_status_t report_backend(const probe_child_t *child) {
    keel_backend_t backend;
    KEEL_TRY(keel_backend_read(child->api, child->client, NULL, 0, &backend));
    keel_buffer_t line;
    probe_line_begin(&line, "fact", "platform");
    probe_line_text(&line, "platform", keel_str(backend.platform_name));
    probe_line_text(&line, "version", keel_str(backend.platform_version));
    probe_line_end(child, &line);
    keel_status_t status = report_key(child, &backend);
    keel_backend_deinitialize(&backend);
    return status;
}

// ---- devices -----------------------------------------------------------------------------------

// Leaves out of a device's line what the plugin does not report.
static bool works(const probe_child_t *child, PJRT_Error *error) {
    keel_status_t status = keel_pjrt_status(child->api, error, "");
    bool good = !status;
    probe_forgive(child, status);
    return good;
}

static PJRT_DeviceDescription *description_of(const probe_child_t *child, PJRT_Device *device) {
    PJRT_Device_GetDescription_Args args = {
        .struct_size = PJRT_Device_GetDescription_Args_STRUCT_SIZE, .device = device};
    return works(child, child->api->PJRT_Device_GetDescription(&args)) ? args.device_description
                                                                       : NULL;
}

static void report_description(const probe_child_t *child, PJRT_DeviceDescription *of,
                               keel_buffer_t *line) {
    const PJRT_Api *api = child->api;
    PJRT_DeviceDescription_Kind_Args kind = {
        .struct_size = PJRT_DeviceDescription_Kind_Args_STRUCT_SIZE, .device_description = of};
    if (works(child, api->PJRT_DeviceDescription_Kind(&kind)))
        probe_line_text(line, "kind", (keel_str_t){kind.device_kind, kind.device_kind_size});
    PJRT_DeviceDescription_Id_Args id = {.struct_size = PJRT_DeviceDescription_Id_Args_STRUCT_SIZE,
                                         .device_description = of};
    if (works(child, api->PJRT_DeviceDescription_Id(&id))) probe_line_number(line, "id", id.id);
    PJRT_DeviceDescription_ProcessIndex_Args process = {
        .struct_size = PJRT_DeviceDescription_ProcessIndex_Args_STRUCT_SIZE,
        .device_description = of};
    if (works(child, api->PJRT_DeviceDescription_ProcessIndex(&process)))
        probe_line_number(line, "process", process.process_index);
    PJRT_DeviceDescription_ToString_Args text = {
        .struct_size = PJRT_DeviceDescription_ToString_Args_STRUCT_SIZE, .device_description = of};
    if (works(child, api->PJRT_DeviceDescription_ToString(&text)))
        probe_line_text(line, "text", (keel_str_t){text.to_string, text.to_string_size});
}

static void report_hardware(const probe_child_t *child, PJRT_Device *device, keel_buffer_t *line) {
    PJRT_Device_LocalHardwareId_Args args = {
        .struct_size = PJRT_Device_LocalHardwareId_Args_STRUCT_SIZE, .device = device};
    if (works(child, child->api->PJRT_Device_LocalHardwareId(&args)))
        probe_line_number(line, "hardware", args.local_hardware_id);
}

static void report_memory(probe_child_t *child, PJRT_Device *device, keel_buffer_t *line) {
    static const char what[] = "PJRT_Device_MemoryStats";
    if (!keel_pjrt_has(child->api, PJRT_Device_MemoryStats)) {
        probe_line_text(line, "refusal", KEEL_STR("the plugin has no PJRT_Device_MemoryStats"));
        return;
    }
    PJRT_Device_MemoryStats_Args args = {.struct_size = PJRT_Device_MemoryStats_Args_STRUCT_SIZE,
                                         .device = device};
    keel_status_t status =
        keel_pjrt_status(child->api, child->api->PJRT_Device_MemoryStats(&args), what);
    if (status) {
        probe_line_text(line, "refusal_code", keel_str(child->code));
        probe_line_text(line, "refusal", keel_str(keel_status_message(status)));
        probe_forgive(child, status);
        return;
    }
    probe_line_number(line, "in_use", args.bytes_in_use);
    if (args.peak_bytes_in_use_is_set) probe_line_number(line, "peak", args.peak_bytes_in_use);
    if (args.bytes_limit_is_set) probe_line_number(line, "limit", args.bytes_limit);
}

static void report_device(probe_child_t *child, PJRT_Device *device) {
    keel_buffer_t line;
    PJRT_DeviceDescription *description = description_of(child, device);
    probe_line_begin(&line, "fact", "device");
    if (description) report_description(child, description, &line);
    report_hardware(child, device, &line);
    report_memory(child, device, &line);
    probe_line_end(child, &line);
}

keel_status_t probe_devices(probe_child_t *child) {
    const PJRT_Api *api = child->api;
    PJRT_Client_Devices_Args all = {.struct_size = PJRT_Client_Devices_Args_STRUCT_SIZE,
                                    .client = child->client};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Client_Devices(&all), "PJRT_Client_Devices"));
    PJRT_Client_AddressableDevices_Args args = {
        .struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE, .client = child->client};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Client_AddressableDevices(&args),
                              "PJRT_Client_AddressableDevices"));
    keel_buffer_t line;
    KEEL_TRY(probe_line_bundle(child, child->client));
    probe_line_begin(&line, "fact", "devices");
    probe_line_number(&line, "all", (int64_t)all.num_devices);
    probe_line_number(&line, "addressable", (int64_t)args.num_addressable_devices);
    probe_line_end(child, &line);
    child->devices = args.addressable_devices;
    child->device_count = args.num_addressable_devices;
    for (size_t i = 0; i < child->device_count && i < KEEL_PROBE_DEVICES_SHOWN; ++i)
        report_device(child, child->devices[i]);
    KEEL_TRY(report_backend(child));
    if (child->device_count) return NULL;
    return keel_status_make(KEEL_PLUGIN, "the client has no device that this process can use");
}
