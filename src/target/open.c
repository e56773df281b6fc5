// A target's compiler: where its plugin is, and what it compiles for.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "target/internal.h"

keel_status_t keel_target_plugin(const keel_target_t *target, const char *interpreter, char **out) {
    const char *platform = keel_target_platform_names[target->platform];
    return keel_status_annotate(keel_plugin_find_compiler(platform, interpreter, out), "target %s",
                                target->name);
}

keel_status_t keel_target_set_environment(const keel_target_t *target) {
    for (size_t i = 0; i < target->variable_count; ++i)
        if (setenv(target->environment[i].name, target->environment[i].value, 1))
            return keel_status_make(KEEL_NO_MEMORY, "target %s: cannot set %s: %s", target->name,
                                    target->environment[i].name, strerror(errno));
    return NULL;
}

// ---- topology ----------------------------------------------------------------------------------

static keel_status_t read_topology(const keel_target_t *target, const PJRT_Api *api,
                                   PJRT_TopologyDescription **out) {
    if (!keel_pjrt_has(api, PJRT_TopologyDescription_Deserialize))
        return keel_status_make(KEEL_UNSUPPORTED,
                                "the plugin cannot read a serialized topology; use a newer one, or "
                                "a target with the topology's name and options");
    PJRT_TopologyDescription_Deserialize_Args args = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_Deserialize),
        .serialized_topology = (const char *)target->topology.data,
        .serialized_topology_size = target->topology.size};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_Deserialize, args));
    *out = args.topology;
    return NULL;
}

static keel_status_t make_topology(const keel_target_t *target, const PJRT_Api *api,
                                   PJRT_TopologyDescription **out) {
    if (target->topology.size) return read_topology(target, api, out);
    if (!keel_pjrt_has(api, PJRT_TopologyDescription_Create) || !keel_pjrt_has(api, PJRT_Compile))
        return keel_status_make(KEEL_UNSUPPORTED, "the plugin cannot compile without a device");
    PJRT_TopologyDescription_Create_Args args = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_Create), .topology_name = target->topology_name,
        .topology_name_size = strlen(target->topology_name),
        .create_options = target->topology_options.list,
        .num_options = target->topology_options.count};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_Create, args));
    *out = args.topology;
    return NULL;
}

// A description may say anything; programs are compiled for what the compiler makes of it.
static keel_status_t check_devices(const keel_target_t *target, const PJRT_Api *api,
                                   PJRT_TopologyDescription *topology) {
    PJRT_TopologyDescription_GetDeviceDescriptions_Args args = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_GetDeviceDescriptions), .topology = topology};
    if (!keel_pjrt_has(api, PJRT_TopologyDescription_GetDeviceDescriptions)) return NULL;
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_GetDeviceDescriptions, args));
    if (args.num_descriptions == target->device_count) return NULL;
    return keel_status_make(KEEL_INVALID,
                            "devices is %u, and its topology has %zu; correct one of them",
                            target->device_count, args.num_descriptions);
}

keel_status_t keel_target_topology(const keel_target_t *target, const PJRT_Api *api,
                                   PJRT_TopologyDescription **out) {
    if (target->platform == KEEL_TARGET_CPU)
        return keel_status_make(KEEL_INTERNAL, "target %s has no topology without a client",
                                target->name);
    *out = NULL;
    keel_status_t status = make_topology(target, api, out);
    if (!status && !*out) status = keel_status_make(KEEL_PLUGIN, "the plugin returned no topology");
    if (!status) status = check_devices(target, api, *out);
    if (status) {
        keel_target_destroy_topology(api, *out);
        *out = NULL;
    }
    return status ? keel_status_annotate(status, "target %s", target->name) : NULL;
}

uint64_t keel_target_memory_limit(const PJRT_Api *api, PJRT_TopologyDescription *topology) {
    PJRT_TopologyDescription_Attributes_Args args = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_Attributes), .topology = topology};
    if (!topology || !keel_pjrt_has(api, PJRT_TopologyDescription_Attributes)) return 0;
    keel_status_t status = KEEL_PJRT_CALL(api, PJRT_TopologyDescription_Attributes, args);
    bool is_told = !status;
    keel_status_ignore(status);
    for (size_t i = 0; is_told && i < args.num_attributes; ++i) {
        const PJRT_NamedValue *value = &args.attributes[i];
        if (keel_str_is((keel_str_t){value->name, value->name_size}, "device_memory_bytes_limit") &&
            value->type == PJRT_NamedValue_kInt64 && value->int64_value > 0)
            return (uint64_t)value->int64_value;
    }
    return 0;
}

void keel_target_destroy_topology(const PJRT_Api *api, PJRT_TopologyDescription *topology) {
    if (!topology) return;
    PJRT_TopologyDescription_Destroy_Args args = {KEEL_PJRT_SIZE(PJRT_TopologyDescription_Destroy),
                                                  .topology = topology};
    keel_status_ignore(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_Destroy, args));
}

// ---- client ------------------------------------------------------------------------------------

keel_status_t keel_target_client(const keel_target_t *target, const PJRT_Api *api,
                                 PJRT_Client **out) {
    PJRT_Client_Create_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Create),
                                    .create_options = target->create_options.list,
                                    .num_options = target->create_options.count};
    keel_status_t status = KEEL_PJRT_CALL(api, PJRT_Client_Create, args);
    if (!status && !args.client)
        status = keel_status_make(KEEL_PLUGIN, "PJRT_Client_Create returned no client");
    if (status) return keel_status_annotate(status, "target %s", target->name);
    *out = args.client;
    return NULL;
}
