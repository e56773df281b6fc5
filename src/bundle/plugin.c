// The plugin: its file, and what it reports about itself once loaded.
#define _GNU_SOURCE // memmem
#include <stdio.h>

#include "bundle/internal.h"
#include "key/key.h"
#include "pjrt/memory.h"

void keel_bundle_plugin_file(const char *path, const keel_digest_t *build, const char *digests,
                             keel_bundle_t *out) {
    keel_file_facts_t facts;
    char hex[KEEL_DIGEST_HEX];
    keel_digest_t digest;
    keel_bundle_add(out, KEEL_BUNDLE_PLUGIN, KEEL_STR("path"), keel_str(path));
    keel_status_t status = keel_file_facts(path, &facts);
    if (!status)
        keel_bundle_format(out, KEEL_BUNDLE_PLUGIN, "size", "%llu", (unsigned long long)facts.size);
    if (!status && !build) status = keel_key_plugin_build(path, digests, &digest);
    if (status) {
        keel_bundle_forgive(out, status);
        return;
    }
    keel_digest_hex(build ? build : &digest, hex);
    keel_bundle_format(out, KEEL_BUNDLE_PLUGIN, "build", "%s", hex);
}

// ---- attributes --------------------------------------------------------------------------------

// "stablehlo_current_version=1,13,3", "name=\"text\"": as people write them.
static void add_attribute(keel_str_t line, keel_bundle_t *bundle) {
    char text[KEEL_BUNDLE_VALUE_LIMIT];
    keel_str_t name, value;
    if (!bundle_field(line, '=', &name, &value)) return;
    bool is_version = !bundle_unquote(&value) && value.size < sizeof text &&
                      memmem(name.data, name.size, "_version", 8);
    for (size_t i = 0; is_version && i < value.size; ++i)
        text[i] = value.data[i] == ',' ? '.' : value.data[i];
    if (is_version) value.data = text;
    keel_bundle_add(bundle, KEEL_BUNDLE_PLUGIN, name, value);
}

static void add_attributes(const PJRT_Api *api, keel_bundle_t *bundle) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 20);
    keel_bundle_forgive(bundle, keel_plugin_attributes(api, &text));
    keel_str_t rest = keel_bytes_str(keel_buffer_bytes(&text)), line;
    while (keel_str_line(&rest, &line))
        add_attribute(line, bundle);
    keel_buffer_deinitialize(&text);
}

// ---- the client --------------------------------------------------------------------------------

static keel_status_t add_platform(const PJRT_Api *api, PJRT_Client *client, keel_bundle_t *bundle) {
    PJRT_Client_PlatformName_Args name = {KEEL_PJRT_SIZE(PJRT_Client_PlatformName),
                                          .client = client};
    PJRT_Client_PlatformVersion_Args version = {KEEL_PJRT_SIZE(PJRT_Client_PlatformVersion),
                                                .client = client};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_PlatformName, name));
    keel_bundle_add(bundle, KEEL_BUNDLE_PLUGIN, KEEL_STR("platform"),
                    (keel_str_t){name.platform_name, name.platform_name_size});
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_PlatformVersion, version));
    keel_bundle_add(bundle, KEEL_BUNDLE_PLUGIN, KEEL_STR("platform_version"),
                    (keel_str_t){version.platform_version, version.platform_version_size});
    return NULL;
}

// "TPU_0(process=0,(0,0,0,0))"; empty if the plugin gives none.
static keel_str_t physical_name(const PJRT_Api *api, PJRT_DeviceDescription *description) {
    PJRT_DeviceDescription_DebugString_Args args = {
        KEEL_PJRT_SIZE(PJRT_DeviceDescription_DebugString), .device_description = description};
    if (keel_pjrt_has(api, PJRT_DeviceDescription_DebugString))
        keel_status_ignore(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_DebugString, args));
    return (keel_str_t){args.debug_string, args.debug_string_size};
}

static keel_status_t add_device(const PJRT_Api *api, PJRT_Device *device, keel_bundle_t *bundle) {
    char number[24];
    int id;
    PJRT_Device_GetDescription_Args of = {KEEL_PJRT_SIZE(PJRT_Device_GetDescription),
                                          .device = device};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Device_GetDescription, of));
    PJRT_DeviceDescription_Kind_Args kind = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Kind),
                                             .device_description = of.device_description};
    PJRT_DeviceDescription_ProcessIndex_Args process = {
        KEEL_PJRT_SIZE(PJRT_DeviceDescription_ProcessIndex),
        .device_description = of.device_description};
    KEEL_TRY(keel_pjrt_device_id(api, device, &id));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_Kind, kind));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_ProcessIndex, process));
    keel_str_t name = physical_name(api, of.device_description);
    snprintf(number, sizeof number, "%d", id);
    keel_bundle_format(bundle, KEEL_BUNDLE_DEVICES, number, "%.*s%s%.*s, process %d",
                       KEEL_STR_ARGS(((keel_str_t){kind.device_kind, kind.device_kind_size})),
                       name.size ? ", " : "", KEEL_STR_ARGS(name), process.process_index);
    return NULL;
}

// The first devices of a pod are enough to distinguish it; the number of devices is its own fact.
static keel_status_t add_devices(const PJRT_Api *api, PJRT_Client *client, keel_bundle_t *bundle) {
    enum { SHOWN = 256 };
    PJRT_Client_Devices_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Devices), .client = client};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_Devices, args));
    keel_bundle_format(bundle, KEEL_BUNDLE_DEVICES, "count", "%zu", args.num_devices);
    for (size_t i = 0; i < args.num_devices && i < SHOWN; ++i)
        KEEL_TRY(add_device(api, args.devices[i], bundle));
    return NULL;
}

void keel_bundle_plugin(const PJRT_Api *api, PJRT_Client *client, keel_bundle_t *out) {
    keel_bundle_format(out, KEEL_BUNDLE_PLUGIN, "api", "%d.%d", api->pjrt_api_version.major_version,
                       api->pjrt_api_version.minor_version);
    add_attributes(api, out);
    if (!client) return;
    keel_bundle_forgive(out, add_platform(api, client, out));
    keel_bundle_forgive(out, add_devices(api, client, out));
}
