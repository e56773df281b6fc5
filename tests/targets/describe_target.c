// What a target's compiler says of its devices, as JSON.
//
//   describe_target TARGET PLUGIN
#include <stdio.h>
#include <stdlib.h>

#include "target/target.h"

static void check(keel_status_t status) {
    if (!status) return;
    fprintf(stderr, "describe_target: %s\n", keel_status_message(status));
    exit(1);
}

static void write_devices(const PJRT_Api *api, PJRT_TopologyDescription *topology,
                          keel_json_t *json) {
    PJRT_TopologyDescription_GetDeviceDescriptions_Args all = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_GetDeviceDescriptions), .topology = topology};
    check(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_GetDeviceDescriptions, all));
    int processes = 0;
    for (size_t i = 0; i < all.num_descriptions; ++i) {
        PJRT_DeviceDescription_ProcessIndex_Args process = {
            KEEL_PJRT_SIZE(PJRT_DeviceDescription_ProcessIndex),
            .device_description = all.descriptions[i]};
        check(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_ProcessIndex, process));
        if (process.process_index >= processes) processes = process.process_index + 1;
    }
    PJRT_DeviceDescription_Kind_Args kind = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Kind),
                                             .device_description = all.descriptions[0]};
    check(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_Kind, kind));
    keel_json_unsigned(json, "devices", all.num_descriptions);
    keel_json_int(json, "processes", processes);
    keel_json_str(json, "device_kind", (keel_str_t){kind.device_kind, kind.device_kind_size});
}

static void write_names(const PJRT_Api *api, PJRT_TopologyDescription *topology,
                        keel_json_t *json) {
    PJRT_TopologyDescription_PlatformName_Args name = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_PlatformName), .topology = topology};
    PJRT_TopologyDescription_PlatformVersion_Args version = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_PlatformVersion), .topology = topology};
    PJRT_TopologyDescription_Serialize_Args bytes = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_Serialize), .topology = topology};
    check(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_PlatformName, name));
    check(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_PlatformVersion, version));
    check(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_Serialize, bytes));
    keel_json_str(json, "platform", (keel_str_t){name.platform_name, name.platform_name_size});
    keel_json_str(json, "platform_version",
                  (keel_str_t){version.platform_version, version.platform_version_size});
    keel_json_hex(json, "serialized",
                  keel_bytes(bytes.serialized_bytes, bytes.serialized_bytes_size));
}

int main(int count, char **words) {
    keel_target_t target;
    keel_plugin_t plugin;
    keel_buffer_t text;
    PJRT_TopologyDescription *topology;
    PJRT_Plugin_Initialize_Args first = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    if (count != 3) return 2;
    check(keel_target_read(words[1], &target));
    check(keel_target_set_environment(&target));
    check(keel_plugin_load(words[2], &plugin));
    check(KEEL_PJRT_CALL(plugin.api, PJRT_Plugin_Initialize, first));
    check(keel_target_topology(&target, plugin.api, &topology));
    keel_buffer_initialize(&text, 0);
    keel_json_t json = keel_json(&text, KEEL_JSON_SPACED);
    keel_json_object(&json, NULL);
    write_devices(plugin.api, topology, &json);
    write_names(plugin.api, topology, &json);
    check(keel_target_write(&target, KEEL_JSON_COMPACT, keel_json_value(&json, "target")));
    keel_json_end_object(&json);
    puts(keel_buffer_cstr(&text));
    keel_target_destroy_topology(plugin.api, topology);
    fflush(stdout);
    _Exit(0); // a plugin's own clean-up may wait for its threads
}
