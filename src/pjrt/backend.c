#include <stdlib.h>

#include "pjrt/pjrt.h"

static keel_status_t read_platform_name(const PJRT_Api *api, PJRT_Client *client, char **out) {
    PJRT_Client_PlatformName_Args args = {.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE,
                                          .client = client};
    KEEL_TRY(
        keel_pjrt_status(api, api->PJRT_Client_PlatformName(&args), "PJRT_Client_PlatformName"));
    return keel_strdup((keel_str_t){args.platform_name, args.platform_name_size}, out);
}

static keel_status_t read_platform_version(const PJRT_Api *api, PJRT_Client *client, char **out) {
    PJRT_Client_PlatformVersion_Args args = {
        .struct_size = PJRT_Client_PlatformVersion_Args_STRUCT_SIZE, .client = client};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Client_PlatformVersion(&args),
                              "PJRT_Client_PlatformVersion"));
    return keel_strdup((keel_str_t){args.platform_version, args.platform_version_size}, out);
}

// Unambiguous: different texts are written differently, UTF-8 or not.
static void write_text(keel_buffer_t *out, const char *text, size_t size) {
    bool plain = true;
    for (size_t i = 0; i < size && plain; ++i)
        plain = text[i] >= ' ' && text[i] <= '~';
    if (plain) {
        keel_buffer_json_str(out, (keel_str_t){text, size});
    } else {
        keel_buffer_text(out, "bytes ");
        keel_buffer_hex(out, keel_bytes(text, size));
    }
}

static keel_status_t write_value(keel_buffer_t *out, const PJRT_NamedValue *value) {
    keel_buffer_str(out, (keel_str_t){value->name, value->name_size});
    keel_buffer_byte(out, '=');
    switch (value->type) {
        case PJRT_NamedValue_kString:
            write_text(out, value->string_value, value->value_size);
            break;
        case PJRT_NamedValue_kInt64:
            keel_buffer_format(out, "%lld", (long long)value->int64_value);
            break;
        case PJRT_NamedValue_kInt64List:
            for (size_t i = 0; i < value->value_size; ++i)
                keel_buffer_format(out, "%s%lld", i ? "," : "",
                                   (long long)value->int64_array_value[i]);
            break;
        case PJRT_NamedValue_kFloat:
            keel_buffer_format(out, "%a", (double)value->float_value);
            break;
        case PJRT_NamedValue_kBool:
            keel_buffer_text(out, value->bool_value ? "true" : "false");
            break;
        default:
            // From a later header; what it points to, if anything, is unknown.
            return keel_status_make(
                KEEL_UNSUPPORTED, "the value %.*s is of a kind (%d) that Keel does not know",
                KEEL_STR_ARGS(((keel_str_t){value->name, value->name_size})), (int)value->type);
    }
    keel_buffer_byte(out, '\n');
    return NULL;
}

static int by_name(const void *a, const void *b) {
    const PJRT_NamedValue *const *x = a, *const *y = b;
    return keel_str_compare((keel_str_t){(*x)->name, (*x)->name_size},
                            (keel_str_t){(*y)->name, (*y)->name_size});
}

// A newer plugin's named values are longer than ours: the first one's own size is the stride.
static keel_status_t write_values(keel_buffer_t *out, const PJRT_NamedValue *values, size_t count) {
    if (!count) return keel_buffer_status(out);
    size_t stride = values->struct_size;
    if (stride < PJRT_NamedValue_STRUCT_SIZE) stride = sizeof *values;
    stride = (stride + _Alignof(PJRT_NamedValue) - 1) & ~(_Alignof(PJRT_NamedValue) - 1);
    void *memory;
    KEEL_TRY(keel_calloc(count, sizeof(PJRT_NamedValue *), &memory));
    const PJRT_NamedValue **sorted = memory;
    for (size_t i = 0; i < count; ++i)
        sorted[i] = (const PJRT_NamedValue *)((const char *)values + i * stride);
    qsort(sorted, count, sizeof *sorted, by_name);
    keel_status_t status = NULL;
    for (size_t i = 0; i < count && !status; ++i)
        status = write_value(out, sorted[i]);
    keel_free(sorted);
    return status ? status : keel_buffer_status(out);
}

keel_status_t keel_plugin_attributes(const PJRT_Api *api, keel_buffer_t *out) {
    PJRT_Plugin_Attributes_Args args = {.struct_size = PJRT_Plugin_Attributes_Args_STRUCT_SIZE};
    if (!keel_pjrt_has(api, PJRT_Plugin_Attributes)) return keel_buffer_status(out);
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Plugin_Attributes(&args), "PJRT_Plugin_Attributes"));
    return write_values(out, args.attributes, args.num_attributes);
}

static keel_status_t read_platform(const PJRT_Api *api, PJRT_Client *client, keel_backend_t *out) {
    KEEL_TRY(read_platform_name(api, client, &out->platform_name));
    KEEL_TRY(read_platform_version(api, client, &out->platform_version));
    keel_buffer_text(&out->platform, "name=");
    write_text(&out->platform, out->platform_name, strlen(out->platform_name));
    keel_buffer_text(&out->platform, "\nversion=");
    write_text(&out->platform, out->platform_version, strlen(out->platform_version));
    keel_buffer_format(&out->platform, "\napi=%d.%d\n", api->pjrt_api_version.major_version,
                       api->pjrt_api_version.minor_version);
    return keel_plugin_attributes(api, &out->platform);
}

static keel_status_t serialize_topology(const PJRT_Api *api, PJRT_Client *client,
                                        keel_buffer_t *out) {
    if (!keel_pjrt_has(api, PJRT_Client_TopologyDescription) ||
        !keel_pjrt_has(api, PJRT_TopologyDescription_Serialize))
        return keel_status_make(KEEL_UNSUPPORTED, "the plugin cannot serialize a topology");
    PJRT_Client_TopologyDescription_Args topology = {
        .struct_size = PJRT_Client_TopologyDescription_Args_STRUCT_SIZE, .client = client};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Client_TopologyDescription(&topology),
                              "PJRT_Client_TopologyDescription"));
    PJRT_TopologyDescription_Serialize_Args args = {
        .struct_size = PJRT_TopologyDescription_Serialize_Args_STRUCT_SIZE,
        .topology = topology.topology};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_TopologyDescription_Serialize(&args),
                              "PJRT_TopologyDescription_Serialize"));
    keel_buffer_append(out, args.serialized_bytes, args.serialized_bytes_size);
    if (args.serialized_topology_deleter)
        args.serialized_topology_deleter(args.serialized_topology);
    return keel_buffer_status(out);
}

static keel_status_t read_topology(const PJRT_Api *api, PJRT_Client *client, keel_backend_t *out) {
    keel_status_t status = serialize_topology(api, client, &out->topology);
    out->topology_known = !status;
    if (!status) return NULL;
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    // The device kinds and the processor's own component then identify the machine.
    keel_buffer_format(&out->topology, "unknown: %s", keel_status_message(status));
    keel_status_ignore(status);
    return keel_buffer_status(&out->topology);
}

static keel_status_t describe_device(const PJRT_Api *api, PJRT_Device *device, keel_str_t *out_kind,
                                     int *out_process) {
    PJRT_Device_GetDescription_Args description = {
        .struct_size = PJRT_Device_GetDescription_Args_STRUCT_SIZE, .device = device};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Device_GetDescription(&description),
                              "PJRT_Device_GetDescription"));
    PJRT_DeviceDescription_Kind_Args kind = {.struct_size =
                                                 PJRT_DeviceDescription_Kind_Args_STRUCT_SIZE,
                                             .device_description = description.device_description};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_DeviceDescription_Kind(&kind),
                              "PJRT_DeviceDescription_Kind"));
    PJRT_DeviceDescription_ProcessIndex_Args process = {
        .struct_size = PJRT_DeviceDescription_ProcessIndex_Args_STRUCT_SIZE,
        .device_description = description.device_description};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_DeviceDescription_ProcessIndex(&process),
                              "PJRT_DeviceDescription_ProcessIndex"));
    *out_kind = (keel_str_t){kind.device_kind, kind.device_kind_size};
    *out_process = process.process_index;
    return NULL;
}

// Runs of one kind in device order: "4 x cpu".
static keel_status_t read_devices(const PJRT_Api *api, PJRT_Client *client, keel_backend_t *out) {
    PJRT_Client_Devices_Args args = {.struct_size = PJRT_Client_Devices_Args_STRUCT_SIZE,
                                     .client = client};
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Client_Devices(&args), "PJRT_Client_Devices"));
    int highest_process = 0;
    keel_str_t run = {0};
    size_t run_length = 0;
    for (size_t i = 0; i <= args.num_devices; ++i) {
        keel_str_t kind = {0};
        int process = 0;
        if (i < args.num_devices) KEEL_TRY(describe_device(api, args.devices[i], &kind, &process));
        if (process > highest_process) highest_process = process;
        if (i < args.num_devices && run_length && keel_str_equal(kind, run)) {
            ++run_length;
            continue;
        }
        if (run_length) {
            keel_buffer_format(&out->device_kinds, "%zu x ", run_length);
            keel_buffer_str(&out->device_kinds, run);
            keel_buffer_byte(&out->device_kinds, '\n');
        }
        run = kind;
        run_length = 1;
    }
    out->process_count = (uint32_t)highest_process + 1;
    keel_buffer_format(&out->device_kinds, "processes=%u\n", out->process_count);
    return keel_buffer_status(&out->device_kinds);
}

keel_status_t keel_backend_read(const PJRT_Api *api, PJRT_Client *client,
                                const PJRT_NamedValue *options, size_t option_count,
                                keel_backend_t *out) {
    *out = (keel_backend_t){0};
    keel_buffer_initialize(&out->platform, 0);
    keel_buffer_initialize(&out->topology, 0);
    keel_buffer_initialize(&out->device_kinds, 0);
    keel_buffer_initialize(&out->create_options, 0);
    keel_status_t status = read_platform(api, client, out);
    if (!status) status = read_topology(api, client, out);
    if (!status) status = read_devices(api, client, out);
    if (!status) status = write_values(&out->create_options, options, option_count);
    if (status) keel_backend_deinitialize(out);
    return status;
}

void keel_backend_deinitialize(keel_backend_t *backend) {
    keel_free(backend->platform_name);
    keel_free(backend->platform_version);
    keel_buffer_deinitialize(&backend->platform);
    keel_buffer_deinitialize(&backend->topology);
    keel_buffer_deinitialize(&backend->device_kinds);
    keel_buffer_deinitialize(&backend->create_options);
    *backend = (keel_backend_t){0};
}
