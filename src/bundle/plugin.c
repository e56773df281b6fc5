// The plugin: its file, and what it reports about itself once loaded.
#include <stdio.h>

#include "bundle/internal.h"
#include "key/key.h"

keel_status_t bundle_plugin_file(const keel_bundle_request_t *request, keel_bundle_t *bundle) {
    keel_file_facts_t facts;
    char hex[KEEL_DIGEST_HEX];
    keel_digest_t digest;
    KEEL_TRY(bundle_add(bundle, KEEL_BUNDLE_PLUGIN, KEEL_STR("path"), keel_str(request->plugin)));
    keel_status_t status = keel_file_facts(request->plugin, &facts);
    if (status) return bundle_forgive(status);
    KEEL_TRY(
        bundle_format(bundle, KEEL_BUNDLE_PLUGIN, "size", "%llu", (unsigned long long)facts.size));
    if (request->build)
        digest = *request->build;
    else
        status = keel_key_plugin_build(request->plugin, request->digests, &digest);
    if (status) return bundle_forgive(status);
    keel_digest_hex(&digest, hex);
    return bundle_format(bundle, KEEL_BUNDLE_PLUGIN, "build", "%s", hex);
}

// ---- attributes --------------------------------------------------------------------------------

// "stablehlo_current_version=1,13,3", "name=\"text\"": as people write them.
static keel_status_t add_attribute(keel_str_t line, keel_bundle_t *bundle) {
    char text[KEEL_BUNDLE_VALUE_LIMIT];
    const char *equals = memchr(line.data, '=', line.size);
    if (!equals) return NULL;
    keel_str_t name = {line.data, (size_t)(equals - line.data)};
    keel_str_t value = {equals + 1, line.size - name.size - 1};
    bool quoted = value.size > 1 && value.data[0] == '"' && !memchr(value.data, '\\', value.size);
    if (quoted) value = (keel_str_t){value.data + 1, value.size - 2};
    bool version = name.size > 8 && memcmp(name.data + name.size - 8, "_version", 8) == 0;
    if (!version || quoted || value.size >= sizeof text)
        return bundle_add(bundle, KEEL_BUNDLE_PLUGIN, name, value);
    for (size_t i = 0; i < value.size; ++i)
        text[i] = value.data[i] == ',' ? '.' : value.data[i];
    return bundle_add(bundle, KEEL_BUNDLE_PLUGIN, name, (keel_str_t){text, value.size});
}

static keel_status_t add_attributes(const PJRT_Api *api, keel_bundle_t *bundle) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 1 << 20);
    keel_status_t status = keel_plugin_attributes(api, &text);
    keel_str_t rest = keel_bytes_str(keel_buffer_bytes(&text)), line;
    while (!status && keel_str_line(&rest, &line))
        status = add_attribute(line, bundle);
    keel_buffer_deinitialize(&text);
    return status;
}

// ---- the client --------------------------------------------------------------------------------

static keel_status_t add_platform(const PJRT_Api *api, PJRT_Client *client, keel_bundle_t *bundle) {
    PJRT_Client_PlatformName_Args name = {KEEL_PJRT_SIZE(PJRT_Client_PlatformName),
                                          .client = client};
    PJRT_Client_PlatformVersion_Args version = {KEEL_PJRT_SIZE(PJRT_Client_PlatformVersion),
                                                .client = client};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_PlatformName, name));
    KEEL_TRY(bundle_add(bundle, KEEL_BUNDLE_PLUGIN, KEEL_STR("platform"),
                        (keel_str_t){name.platform_name, name.platform_name_size}));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_PlatformVersion, version));
    return bundle_add(bundle, KEEL_BUNDLE_PLUGIN, KEEL_STR("platform_version"),
                      (keel_str_t){version.platform_version, version.platform_version_size});
}

// The plugin's longer name, "TPU_0(process=0,(0,0,0,0))", otherwise the short one; empty if it
// gives neither.
static keel_str_t physical_name(const PJRT_Api *api, PJRT_DeviceDescription *description) {
    PJRT_DeviceDescription_DebugString_Args longer = {
        KEEL_PJRT_SIZE(PJRT_DeviceDescription_DebugString), .device_description = description};
    PJRT_DeviceDescription_ToString_Args shorter = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_ToString),
                                                    .device_description = description};
    // Without an answer the sizes stay 0.
    if (keel_pjrt_has(api, PJRT_DeviceDescription_DebugString))
        keel_status_ignore(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_DebugString, longer));
    if (longer.debug_string_size)
        return (keel_str_t){longer.debug_string, longer.debug_string_size};
    if (keel_pjrt_has(api, PJRT_DeviceDescription_ToString))
        keel_status_ignore(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_ToString, shorter));
    return (keel_str_t){shorter.to_string, shorter.to_string_size};
}

static keel_status_t add_device(const PJRT_Api *api, PJRT_Device *device, keel_bundle_t *bundle) {
    PJRT_Device_GetDescription_Args of = {KEEL_PJRT_SIZE(PJRT_Device_GetDescription),
                                          .device = device};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Device_GetDescription, of));
    PJRT_DeviceDescription_Id_Args id = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Id),
                                         .device_description = of.device_description};
    PJRT_DeviceDescription_Kind_Args kind = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Kind),
                                             .device_description = of.device_description};
    PJRT_DeviceDescription_ProcessIndex_Args process = {
        KEEL_PJRT_SIZE(PJRT_DeviceDescription_ProcessIndex),
        .device_description = of.device_description};
    if (!keel_pjrt_has(api, PJRT_DeviceDescription_Id)) return NULL;
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_Id, id));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_Kind, kind));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_ProcessIndex, process));
    keel_str_t name = physical_name(api, of.device_description);
    char number[24];
    snprintf(number, sizeof number, "%d", id.id);
    return bundle_format(bundle, KEEL_BUNDLE_DEVICES, number, "%.*s%s%.*s, process %d",
                         KEEL_STR_ARGS(((keel_str_t){kind.device_kind, kind.device_kind_size})),
                         name.size ? ", " : "", KEEL_STR_ARGS(name), process.process_index);
}

// The first devices of a pod are enough to distinguish it; the number of devices is its own fact.
static keel_status_t add_devices(const PJRT_Api *api, PJRT_Client *client, keel_bundle_t *bundle) {
    enum { SHOWN = 256 };
    PJRT_Client_Devices_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Devices), .client = client};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_Devices, args));
    KEEL_TRY(bundle_format(bundle, KEEL_BUNDLE_DEVICES, "count", "%zu", args.num_devices));
    for (size_t i = 0; i < args.num_devices && i < SHOWN; ++i)
        KEEL_TRY(add_device(api, args.devices[i], bundle));
    return NULL;
}

keel_status_t keel_bundle_plugin(const PJRT_Api *api, PJRT_Client *client, keel_bundle_t *out) {
    KEEL_TRY(bundle_format(out, KEEL_BUNDLE_PLUGIN, "api", "%d.%d",
                           api->pjrt_api_version.major_version,
                           api->pjrt_api_version.minor_version));
    KEEL_TRY(bundle_forgive(add_attributes(api, out)));
    if (!client) return NULL;
    KEEL_TRY(bundle_forgive(add_platform(api, client, out)));
    return bundle_forgive(add_devices(api, client, out));
}

keel_status_t keel_bundle_plugin_fact(keel_bundle_t *bundle, const char *name, const char *value) {
    return bundle_add(bundle, KEEL_BUNDLE_PLUGIN, keel_str(name), keel_str(value));
}
