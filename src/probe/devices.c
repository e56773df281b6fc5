// The step that reads the devices, their memory and the parts of keys.
#include <stdio.h>

#include "pjrt/identity.h"
#include "probe/internal.h"

// ---- what goes into keys -----------------------------------------------------------------------

static void report_components(probe_child_t *child, const keel_key_t *key) {
    keel_json_t *json = probe_facts_begin(child);
    keel_json_object(json, "key");
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        if (!probe_is_of_backend((keel_component_t)i)) continue;
        keel_json_object(json, keel_component_name((keel_component_t)i));
        keel_json_digest(json, "digest", &key->components[i]);
        keel_json_string(json, "value", key->values[i]);
        keel_json_end_object(json);
    }
    keel_json_end_object(json);
    probe_facts_end(child);
}

static keel_status_t report_key(probe_child_t *child, const keel_backend_t *backend) {
    keel_key_t key;
    if (!child->build) return NULL;
    keel_key_initialize(&key);
    keel_status_t status = keel_backend_key(backend, child->build, &key);
    if (!status) status = keel_key_finish(&key);
    if (!status) report_components(child, &key);
    keel_key_deinitialize(&key);
    return status;
}

static keel_status_t report_backend(probe_child_t *child) {
    keel_backend_t backend;
    KEEL_TRY(keel_backend_read(child->api, child->client, NULL, 0, &backend));
    keel_json_t *json = probe_facts_begin(child);
    keel_json_object(json, "plugin");
    keel_json_string(json, "platform", backend.platform_name);
    keel_json_string(json, "platform_version", backend.platform_version);
    keel_json_end_object(json);
    probe_facts_end(child);
    keel_status_t status = report_key(child, &backend);
    keel_backend_deinitialize(&backend);
    return status;
}

// ---- devices -----------------------------------------------------------------------------------

// What the plugin does not report is null, or "".
static bool succeeded(probe_child_t *child, keel_status_t status) {
    bool good = !status;
    probe_forgive(child, status);
    return good;
}

static void write_number(keel_json_t *json, const char *name, bool known, int64_t number) {
    if (known)
        keel_json_int(json, name, number);
    else
        keel_json_null(json, name);
}

static void write_description(probe_child_t *child, PJRT_Device *device, keel_json_t *json) {
    const PJRT_Api *api = child->api;
    PJRT_Device_GetDescription_Args args = {KEEL_PJRT_SIZE(PJRT_Device_GetDescription),
                                            .device = device};
    PJRT_Device_LocalHardwareId_Args hardware = {KEEL_PJRT_SIZE(PJRT_Device_LocalHardwareId),
                                                 .device = device};
    bool has_hardware =
        succeeded(child, KEEL_PJRT_CALL(api, PJRT_Device_LocalHardwareId, hardware));
    bool there = succeeded(child, KEEL_PJRT_CALL(api, PJRT_Device_GetDescription, args));
    PJRT_DeviceDescription *of = args.device_description;
    PJRT_DeviceDescription_Kind_Args kind = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Kind),
                                             .device_description = of};
    PJRT_DeviceDescription_Id_Args id = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Id),
                                         .device_description = of};
    PJRT_DeviceDescription_ProcessIndex_Args process = {
        KEEL_PJRT_SIZE(PJRT_DeviceDescription_ProcessIndex), .device_description = of};
    PJRT_DeviceDescription_ToString_Args text = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_ToString),
                                                 .device_description = of};
    bool has_kind =
        there && succeeded(child, KEEL_PJRT_CALL(api, PJRT_DeviceDescription_Kind, kind));
    bool has_id = there && succeeded(child, KEEL_PJRT_CALL(api, PJRT_DeviceDescription_Id, id));
    bool has_process =
        there &&
        succeeded(child, KEEL_PJRT_CALL(api, PJRT_DeviceDescription_ProcessIndex, process));
    bool has_text =
        there && succeeded(child, KEEL_PJRT_CALL(api, PJRT_DeviceDescription_ToString, text));
    keel_str_t kind_text = {kind.device_kind, has_kind ? kind.device_kind_size : 0};
    char name[160];
    snprintf(name, sizeof name, "%.*s:%d", (int)(kind_text.size < 120 ? kind_text.size : 120),
             has_kind ? kind_text.data : "", has_id ? id.id : -1);
    keel_json_string(json, "name", name);
    keel_json_str(json, "kind", kind_text);
    write_number(json, "id", has_id, id.id);
    write_number(json, "process", has_process, process.process_index);
    write_number(json, "hardware", has_hardware, hardware.local_hardware_id);
    keel_json_str(json, "text", (keel_str_t){text.to_string, has_text ? text.to_string_size : 0});
}

static void write_memory(probe_child_t *child, PJRT_Device *device, keel_json_t *json) {
    PJRT_Device_MemoryStats_Args args = {KEEL_PJRT_SIZE(PJRT_Device_MemoryStats), .device = device};
    if (!keel_pjrt_has(child->api, PJRT_Device_MemoryStats)) {
        keel_json_string(json, "refusal", "the plugin has no PJRT_Device_MemoryStats");
        return;
    }
    keel_status_t status = KEEL_PJRT_CALL(child->api, PJRT_Device_MemoryStats, args);
    if (status) {
        char refusal[512];
        snprintf(refusal, sizeof refusal, "%s: %.400s", child->code, keel_status_message(status));
        keel_json_string(json, "refusal", refusal);
        probe_forgive(child, status);
        return;
    }
    keel_json_int(json, "in_use", args.bytes_in_use);
    write_number(json, "peak", args.peak_bytes_in_use_is_set, args.peak_bytes_in_use);
    write_number(json, "limit", args.bytes_limit_is_set, args.bytes_limit);
}

static void report_device(probe_child_t *child, PJRT_Device *device) {
    keel_json_t *json = probe_facts_begin(child);
    keel_json_array(json, "devices");
    keel_json_object(json, NULL);
    write_description(child, device, json);
    keel_json_object(json, "memory");
    write_memory(child, device, json);
    keel_json_end_object(json);
    keel_json_end_object(json);
    keel_json_end_array(json);
    probe_facts_end(child);
}

keel_status_t probe_devices(probe_child_t *child) {
    PJRT_Client_Devices_Args all = {KEEL_PJRT_SIZE(PJRT_Client_Devices), .client = child->client};
    PJRT_Client_AddressableDevices_Args own = {KEEL_PJRT_SIZE(PJRT_Client_AddressableDevices),
                                               .client = child->client};
    KEEL_TRY(KEEL_PJRT_CALL(child->api, PJRT_Client_Devices, all));
    KEEL_TRY(KEEL_PJRT_CALL(child->api, PJRT_Client_AddressableDevices, own));
    KEEL_TRY(probe_line_bundle(child, child->client));
    child->devices = own.addressable_devices;
    child->device_count = own.num_addressable_devices;
    for (size_t i = 0; i < child->device_count && i < KEEL_PROBE_MEMBERS; ++i)
        report_device(child, child->devices[i]);
    keel_json_t *json = probe_facts_begin(child);
    keel_json_unsigned(json, "addressable_devices", own.num_addressable_devices);
    keel_json_unsigned(json, "all_devices", all.num_devices);
    probe_facts_end(child);
    KEEL_TRY(report_backend(child));
    if (child->device_count) return NULL;
    return keel_status_make(KEEL_PLUGIN, "the client has no device that this process can use");
}
