#include <stdlib.h>

#include "pjrt/pjrt.h"
#include "pjrt/topology.h"

// What is described: a client's devices, or those of a topology without a client.
typedef struct source_t {
    const PJRT_Api *api;
    PJRT_Client *client; // NULL: the topology's
    PJRT_TopologyDescription *topology;
} source_t;

static keel_status_t read_platform_name(const source_t *source, char **out) {
    const PJRT_Api *api = source->api;
    PJRT_Client_PlatformName_Args of_client = {KEEL_PJRT_SIZE(PJRT_Client_PlatformName),
                                               .client = source->client};
    PJRT_TopologyDescription_PlatformName_Args of_topology = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_PlatformName), .topology = source->topology};
    if (source->client) {
        KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_PlatformName, of_client));
        return keel_strdup((keel_str_t){of_client.platform_name, of_client.platform_name_size},
                           out);
    }
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_PlatformName, of_topology));
    return keel_strdup((keel_str_t){of_topology.platform_name, of_topology.platform_name_size},
                       out);
}

static keel_status_t read_platform_version(const source_t *source, char **out) {
    const PJRT_Api *api = source->api;
    PJRT_Client_PlatformVersion_Args of_client = {KEEL_PJRT_SIZE(PJRT_Client_PlatformVersion),
                                                  .client = source->client};
    PJRT_TopologyDescription_PlatformVersion_Args of_topology = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_PlatformVersion), .topology = source->topology};
    if (source->client) {
        KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_PlatformVersion, of_client));
        return keel_strdup(
            (keel_str_t){of_client.platform_version, of_client.platform_version_size}, out);
    }
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_PlatformVersion, of_topology));
    return keel_strdup(
        (keel_str_t){of_topology.platform_version, of_topology.platform_version_size}, out);
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

// A newer plugin's named values are longer than ours: the first one's own size is the stride. Those
// with a name in `left_out` are not written; NULL: none.
static keel_status_t write_values(keel_buffer_t *out, const PJRT_NamedValue *values, size_t count,
                                  const char *const *left_out) {
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
    for (size_t i = 0; i < count && !status; ++i) {
        keel_str_t name = {sorted[i]->name, sorted[i]->name_size};
        if (!left_out || !keel_str_is_one_of(name, left_out)) status = write_value(out, sorted[i]);
    }
    keel_free(sorted);
    return status ? status : keel_buffer_status(out);
}

keel_status_t keel_plugin_attributes(const PJRT_Api *api, keel_buffer_t *out) {
    PJRT_Plugin_Attributes_Args args = {.struct_size = PJRT_Plugin_Attributes_Args_STRUCT_SIZE};
    if (!keel_pjrt_has(api, PJRT_Plugin_Attributes)) return keel_buffer_status(out);
    KEEL_TRY(keel_pjrt_status(api, api->PJRT_Plugin_Attributes(&args), "PJRT_Plugin_Attributes"));
    return write_values(out, args.attributes, args.num_attributes, NULL);
}

static keel_status_t read_platform(const source_t *source, keel_backend_t *out) {
    const PJRT_Api *api = source->api;
    KEEL_TRY(read_platform_name(source, &out->platform_name));
    KEEL_TRY(read_platform_version(source, &out->platform_version));
    keel_buffer_text(&out->platform, "name=");
    write_text(&out->platform, out->platform_name, strlen(out->platform_name));
    keel_buffer_text(&out->platform, "\nversion=");
    write_text(&out->platform, out->platform_version, strlen(out->platform_version));
    keel_buffer_format(&out->platform, "\napi=%d.%d\n", api->pjrt_api_version.major_version,
                       api->pjrt_api_version.minor_version);
    return keel_plugin_attributes(api, &out->platform);
}

static keel_status_t find_topology(const source_t *source, PJRT_TopologyDescription **out) {
    const PJRT_Api *api = source->api;
    PJRT_Client_TopologyDescription_Args args = {KEEL_PJRT_SIZE(PJRT_Client_TopologyDescription),
                                                 .client = source->client};
    *out = source->topology;
    if (*out) return NULL;
    if (!keel_pjrt_has(api, PJRT_Client_TopologyDescription))
        return keel_status_make(KEEL_UNSUPPORTED, "the plugin cannot serialize a topology");
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_TopologyDescription, args));
    *out = args.topology;
    return NULL;
}

static keel_status_t serialize_topology(const source_t *source, keel_buffer_t *out) {
    const PJRT_Api *api = source->api;
    PJRT_TopologyDescription_Serialize_Args args = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_Serialize)};
    if (!keel_pjrt_has(api, PJRT_TopologyDescription_Serialize))
        return keel_status_make(KEEL_UNSUPPORTED, "the plugin cannot serialize a topology");
    KEEL_TRY(find_topology(source, &args.topology));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_Serialize, args));
    keel_status_t status =
        topology_sort_maps(keel_bytes(args.serialized_bytes, args.serialized_bytes_size), out);
    if (args.serialized_topology_deleter)
        args.serialized_topology_deleter(args.serialized_topology);
    return status;
}

static keel_status_t read_topology(const source_t *source, keel_backend_t *out) {
    keel_status_t status = serialize_topology(source, &out->topology);
    out->topology_known = !status;
    if (!status) return NULL;
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    // The device kinds and the processor's own component then identify the machine.
    keel_buffer_format(&out->topology, "unknown: %s", keel_status_message(status));
    keel_status_ignore(status);
    return keel_buffer_status(&out->topology);
}

// ---- devices -----------------------------------------------------------------------------------

static keel_status_t describe(const PJRT_Api *api, PJRT_DeviceDescription *description,
                              keel_str_t *out_kind, int *out_process) {
    PJRT_DeviceDescription_Kind_Args kind = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Kind),
                                             .device_description = description};
    PJRT_DeviceDescription_ProcessIndex_Args process = {
        KEEL_PJRT_SIZE(PJRT_DeviceDescription_ProcessIndex), .device_description = description};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_Kind, kind));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_ProcessIndex, process));
    *out_kind = (keel_str_t){kind.device_kind, kind.device_kind_size};
    *out_process = process.process_index;
    return NULL;
}

// The devices in their order.
typedef struct listing_t {
    PJRT_Device *const *devices; // of a client
    PJRT_DeviceDescription *const *descriptions;
    size_t count;
} listing_t;

static keel_status_t list_devices(const source_t *source, listing_t *out) {
    const PJRT_Api *api = source->api;
    PJRT_Client_Devices_Args of_client = {KEEL_PJRT_SIZE(PJRT_Client_Devices),
                                          .client = source->client};
    PJRT_TopologyDescription_GetDeviceDescriptions_Args of_topology = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_GetDeviceDescriptions),
        .topology = source->topology};
    if (source->client) {
        KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_Devices, of_client));
        *out = (listing_t){.devices = of_client.devices, .count = of_client.num_devices};
        return NULL;
    }
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_GetDeviceDescriptions, of_topology));
    *out = (listing_t){.descriptions = of_topology.descriptions,
                       .count = of_topology.num_descriptions};
    return NULL;
}

static keel_status_t describe_device(const PJRT_Api *api, const listing_t *listing, size_t index,
                                     keel_str_t *out_kind, int *out_process) {
    if (!listing->devices)
        return describe(api, listing->descriptions[index], out_kind, out_process);
    PJRT_Device_GetDescription_Args args = {KEEL_PJRT_SIZE(PJRT_Device_GetDescription),
                                            .device = listing->devices[index]};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Device_GetDescription, args));
    return describe(api, args.device_description, out_kind, out_process);
}

// Runs of one kind in device order: "4 x cpu".
static keel_status_t read_devices(const source_t *source, keel_backend_t *out) {
    listing_t listing;
    KEEL_TRY(list_devices(source, &listing));
    int highest_process = 0;
    keel_str_t run = {0};
    size_t run_length = 0;
    for (size_t i = 0; i <= listing.count; ++i) {
        keel_str_t kind = {0};
        int process = 0;
        if (i < listing.count) KEEL_TRY(describe_device(source->api, &listing, i, &kind, &process));
        if (process > highest_process) highest_process = process;
        if (i < listing.count && run_length && keel_str_equal(kind, run)) {
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
    out->device_count = listing.count;
    keel_buffer_format(&out->device_kinds, "processes=%u\n", out->process_count);
    return keel_buffer_status(&out->device_kinds);
}

// Which one of several processes this is, and which of a machine's devices it has. All processes
// compile a program alike, and must find what one of them stored: how many they are and what all
// devices are is in the topology and in the kinds of devices.
static const char *const of_one_process[] = {"node_id", "num_nodes", "partition_index",
                                             "visible_devices", NULL};

static keel_status_t read_all(const source_t *source, const PJRT_NamedValue *options,
                              size_t option_count, keel_backend_t *out) {
    *out = (keel_backend_t){0};
    keel_buffer_initialize(&out->platform, 0);
    keel_buffer_initialize(&out->topology, 0);
    keel_buffer_initialize(&out->device_kinds, 0);
    keel_buffer_initialize(&out->create_options, 0);
    keel_status_t status = read_platform(source, out);
    if (!status) status = read_topology(source, out);
    if (!status) status = read_devices(source, out);
    if (!status) status = write_values(&out->create_options, options, option_count, of_one_process);
    if (status) keel_backend_deinitialize(out);
    return status;
}

keel_status_t keel_backend_read(const PJRT_Api *api, PJRT_Client *client,
                                const PJRT_NamedValue *options, size_t option_count,
                                keel_backend_t *out) {
    const source_t source = {.api = api, .client = client};
    return read_all(&source, options, option_count, out);
}

keel_status_t keel_backend_read_topology(const PJRT_Api *api, PJRT_TopologyDescription *topology,
                                         keel_backend_t *out) {
    const source_t source = {.api = api, .topology = topology};
    return read_all(&source, NULL, 0, out);
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
