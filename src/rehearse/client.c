// The client and its devices.
#include "rehearse/objects.h"

// ---- devices -----------------------------------------------------------------------------------

typedef struct found_t {
    PJRT_DeviceDescription *const *descriptions; // of the topology
    PJRT_Device *const *devices;                 // of the processor's client
    size_t count;
} found_t;

static keel_status_t find_devices(found_t *out) {
    const PJRT_Api *api = rehearsal.plugin;
    if (rehearsal.backing) {
        PJRT_Client_Devices_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Devices),
                                         .client = rehearsal.backing};
        KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_Devices, args));
        *out = (found_t){.devices = args.devices, .count = args.num_devices};
        return NULL;
    }
    PJRT_TopologyDescription_GetDeviceDescriptions_Args args = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_GetDeviceDescriptions),
        .topology = rehearsal.topology};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_GetDeviceDescriptions, args));
    *out = (found_t){.descriptions = args.descriptions, .count = args.num_descriptions};
    return NULL;
}

// The processor's client knows of one process.
static int process_of(int device) {
    return device / (int)(rehearsal.target->device_count / rehearsal.target->process_count);
}

static PJRT_Error *described_process(PJRT_DeviceDescription_ProcessIndex_Args *args) {
    PJRT_DeviceDescription_Id_Args id = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Id),
                                         .device_description = args->device_description};
    PJRT_Error *error = rehearsal.plugin->PJRT_DeviceDescription_Id(&id);
    if (!error) args->process_index = process_of(id.id);
    return error;
}

static keel_status_t describe_device(PJRT_Device *device) {
    const PJRT_Api *api = rehearsal.plugin;
    PJRT_DeviceDescription_Id_Args id = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Id),
                                         .device_description = device->description};
    PJRT_DeviceDescription_ProcessIndex_Args process = {
        KEEL_PJRT_SIZE(PJRT_DeviceDescription_ProcessIndex),
        .device_description = device->description};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_Id, id));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_DeviceDescription_ProcessIndex, process));
    device->id = id.id;
    device->process = rehearsal.backing ? process_of(id.id) : process.process_index;
    return NULL;
}

static keel_status_t make_device(PJRT_Client *client, const found_t *found, size_t index) {
    PJRT_Device *device = &client->devices[index], *backing = NULL;
    device->client = client;
    if (found->devices) {
        backing = found->devices[index];
        PJRT_Device_GetDescription_Args args = {KEEL_PJRT_SIZE(PJRT_Device_GetDescription),
                                                .device = backing};
        KEEL_TRY(KEEL_PJRT_CALL(rehearsal.plugin, PJRT_Device_GetDescription, args));
        device->description = args.device_description;
    } else {
        device->description = found->descriptions[index];
    }
    KEEL_TRY(describe_device(device));
    KEEL_TRY(memories_make(device, backing));
    client->all[index] = device;
    bool is_own = device->process == client->process;
    device->local_id = is_own ? (int)client->own_count : -1;
    if (!is_own) return NULL;
    client->own[client->own_count++] = device;
    for (size_t i = 0; i < device->memory_count; ++i)
        client->memories[client->memory_count++] = device->memory_list[i];
    return NULL;
}

PJRT_Device *client_device(const PJRT_Client *client, int64_t id) {
    for (size_t i = 0; i < client->count; ++i)
        if (client->all[i]->id == id) return client->all[i];
    return NULL;
}

static PJRT_Error *description_of(PJRT_Device_GetDescription_Args *args) {
    args->device_description = args->device->description;
    return NULL;
}

static PJRT_Error *is_addressable(PJRT_Device_IsAddressable_Args *args) {
    args->is_addressable = args->device->local_id >= 0;
    return NULL;
}

static PJRT_Error *local_id(PJRT_Device_LocalHardwareId_Args *args) {
    args->local_hardware_id = args->device->local_id;
    return NULL;
}

// ---- the client --------------------------------------------------------------------------------

static keel_status_t name_platform(PJRT_Client *client) {
    const PJRT_Api *api = rehearsal.plugin;
    if (rehearsal.backing) {
        PJRT_Client_PlatformName_Args name = {KEEL_PJRT_SIZE(PJRT_Client_PlatformName),
                                              .client = rehearsal.backing};
        PJRT_Client_PlatformVersion_Args version = {KEEL_PJRT_SIZE(PJRT_Client_PlatformVersion),
                                                    .client = rehearsal.backing};
        PJRT_Client_TopologyDescription_Args topology = {
            KEEL_PJRT_SIZE(PJRT_Client_TopologyDescription), .client = rehearsal.backing};
        KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_PlatformName, name));
        KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_PlatformVersion, version));
        client->platform_name = (keel_str_t){name.platform_name, name.platform_name_size};
        client->platform_version =
            (keel_str_t){version.platform_version, version.platform_version_size};
        // Without it the client gets the error that the processor's gives.
        keel_status_t status = KEEL_PJRT_CALL(api, PJRT_Client_TopologyDescription, topology);
        if (!status) client->topology = topology.topology;
        keel_status_ignore(status);
        return NULL;
    }
    PJRT_TopologyDescription_PlatformName_Args name = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_PlatformName), .topology = rehearsal.topology};
    PJRT_TopologyDescription_PlatformVersion_Args version = {
        KEEL_PJRT_SIZE(PJRT_TopologyDescription_PlatformVersion), .topology = rehearsal.topology};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_PlatformName, name));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_TopologyDescription_PlatformVersion, version));
    client->platform_name = (keel_str_t){name.platform_name, name.platform_name_size};
    // The machine's plugin may say it otherwise of a client than of a topology.
    client->platform_version =
        *rehearsal.target->platform_version
            ? keel_str(rehearsal.target->platform_version)
            : (keel_str_t){version.platform_version, version.platform_version_size};
    client->topology = rehearsal.topology;
    return NULL;
}

static void destroy_client(PJRT_Client *client) {
    keel_free(client->devices);
    keel_free((void *)client->all);
    keel_free((void *)client->own);
    keel_free((void *)client->memories);
    keel_free(client);
}

static keel_status_t allocate(PJRT_Client *client, size_t count) {
    void *memory;
    client->count = count;
    KEEL_TRY(keel_calloc(count, sizeof *client->devices, &memory));
    client->devices = memory;
    KEEL_TRY(keel_calloc(count, sizeof *client->all, &memory));
    client->all = memory;
    KEEL_TRY(keel_calloc(count, sizeof *client->own, &memory));
    client->own = memory;
    KEEL_TRY(keel_calloc(count * MEMORY_KINDS, sizeof *client->memories, &memory));
    client->memories = memory;
    return NULL;
}

static keel_status_t open_topology(void) {
    KEEL_TRY(keel_target_topology(rehearsal.target, rehearsal.plugin, &rehearsal.topology));
    if (!atomic_load(&rehearsal.memory_limit))
        atomic_store(&rehearsal.memory_limit,
                     keel_target_memory_limit(rehearsal.plugin, rehearsal.topology));
    return NULL;
}

keel_status_t rehearsal_open(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    keel_status_t status = NULL;
    pthread_mutex_lock(&lock);
    if (rehearsal.target->platform != KEEL_TARGET_CPU && !rehearsal.topology)
        status = open_topology();
    if (rehearsal.target->platform == KEEL_TARGET_CPU && !rehearsal.backing)
        status = keel_target_client(rehearsal.target, rehearsal.plugin, &rehearsal.backing);
    pthread_mutex_unlock(&lock);
    return status;
}

static keel_status_t make_client(PJRT_Client *client) {
    found_t found;
    KEEL_TRY(rehearsal_open());
    KEEL_TRY(find_devices(&found));
    KEEL_TRY(allocate(client, found.count));
    KEEL_TRY(name_platform(client));
    for (size_t i = 0; i < found.count; ++i)
        KEEL_TRY(make_device(client, &found, i));
    if (client->own_count) return NULL;
    return keel_status_make(KEEL_INVALID, "process %d has no device of %s", client->process,
                            rehearsal.target->name);
}

// The share of a GPU that the client's allocator takes, if it asks for a different one than the
// usual three quarters. The limit is part of the options of each compile.
static void take_share(const PJRT_NamedValue *options, size_t count) {
    static const double usual = 0.75;
    const keel_target_t *target = rehearsal.target;
    for (size_t i = 0; i < count && target->platform == KEEL_TARGET_CUDA; ++i) {
        double share = (double)options[i].float_value;
        if (!keel_str_is((keel_str_t){options[i].name, options[i].name_size}, "memory_fraction") ||
            options[i].type != PJRT_NamedValue_kFloat || share <= 0 || share > 1)
            continue;
        double memory =
            target->memory ? (double)target->memory : (double)target->memory_limit / usual;
        atomic_store(&rehearsal.memory_limit, (uint64_t)(memory * share));
    }
}

static PJRT_Error *create(PJRT_Client_Create_Args *args) {
    void *memory;
    keel_status_t status = keel_calloc(1, sizeof(PJRT_Client), &memory);
    if (status) return keel_pjrt_error(status);
    PJRT_Client *client = memory;
    take_share(args->create_options, args->num_options);
    status = process_number(args->create_options, args->num_options, &client->process);
    if (!status) status = make_client(client);
    if (!status) {
        args->client = client;
        return NULL;
    }
    destroy_client(client);
    note_refusal(KEEL_REHEARSE_CLIENT, NULL, keel_status_message(status));
    return keel_pjrt_error(keel_status_annotate(status, "keel"));
}

static PJRT_Error *destroy(PJRT_Client_Destroy_Args *args) {
    if (args->client) destroy_client(args->client);
    return NULL;
}

static PJRT_Error *platform_name(PJRT_Client_PlatformName_Args *args) {
    args->platform_name = args->client->platform_name.data;
    args->platform_name_size = args->client->platform_name.size;
    return NULL;
}

static PJRT_Error *platform_version(PJRT_Client_PlatformVersion_Args *args) {
    args->platform_version = args->client->platform_version.data;
    args->platform_version_size = args->client->platform_version.size;
    return NULL;
}

int keel_rehearse_process(const PJRT_Client *client) {
    return client ? client->process : 0;
}

static PJRT_Error *process_index(PJRT_Client_ProcessIndex_Args *args) {
    args->process_index = args->client->process;
    return NULL;
}

// Only collectives want to know who else is there, and none runs here. JAX aborts if this fails.
static PJRT_Error *meet_processes(PJRT_Client_UpdateGlobalProcessInfo_Args *args) {
    (void)args;
    return NULL;
}

static PJRT_Error *topology_of(PJRT_Client_TopologyDescription_Args *args) {
    if (!args->client->topology)
        return keel_pjrt_error(keel_status_make(KEEL_UNSUPPORTED, "the topology is not known"));
    args->topology = args->client->topology;
    return NULL;
}

static PJRT_Error *devices_of(PJRT_Client_Devices_Args *args) {
    args->devices = args->client->all;
    args->num_devices = args->client->count;
    return NULL;
}

static PJRT_Error *own_devices(PJRT_Client_AddressableDevices_Args *args) {
    args->addressable_devices = args->client->own;
    args->num_addressable_devices = args->client->own_count;
    return NULL;
}

static PJRT_Error *own_memories(PJRT_Client_AddressableMemories_Args *args) {
    args->addressable_memories = args->client->memories;
    args->num_addressable_memories = args->client->memory_count;
    return NULL;
}

static PJRT_Error *no_device(int id) {
    return keel_pjrt_error(keel_status_make(KEEL_INVALID, "there is no device %d; %s has %u", id,
                                            rehearsal.target->name,
                                            rehearsal.target->device_count));
}

static PJRT_Error *lookup_device(PJRT_Client_LookupDevice_Args *args) {
    args->device = client_device(args->client, args->id);
    return args->device ? NULL : no_device(args->id);
}

static PJRT_Error *lookup_own_device(PJRT_Client_LookupAddressableDevice_Args *args) {
    int id = args->local_hardware_id;
    if (id < 0 || (size_t)id >= args->client->own_count) return no_device(id);
    args->addressable_device = args->client->own[id];
    return NULL;
}

static PJRT_Error *default_assignment(PJRT_Client_DefaultDeviceAssignment_Args *args) {
    const PJRT_Client *client = args->client;
    uint64_t wanted = (uint64_t)args->num_replicas * (uint64_t)args->num_partitions;
    if (args->num_replicas < 0 || args->num_partitions < 0 || wanted > client->count ||
        wanted > args->default_assignment_size)
        return keel_pjrt_error(keel_status_make(
            KEEL_INVALID, "%d replicas of %d partitions need more devices than %s has: %u",
            args->num_replicas, args->num_partitions, rehearsal.target->name,
            rehearsal.target->device_count));
    for (uint64_t i = 0; i < wanted; ++i)
        args->default_assignment[i] = client->all[i]->id;
    return NULL;
}

void client_fill(PJRT_Api *table) {
    table->PJRT_Client_Create = create;
    table->PJRT_Client_Destroy = destroy;
    table->PJRT_Client_PlatformName = platform_name;
    table->PJRT_Client_PlatformVersion = platform_version;
    table->PJRT_Client_ProcessIndex = process_index;
    table->PJRT_Client_UpdateGlobalProcessInfo = meet_processes;
    table->PJRT_Client_TopologyDescription = topology_of;
    table->PJRT_Client_Devices = devices_of;
    table->PJRT_Client_AddressableDevices = own_devices;
    table->PJRT_Client_AddressableMemories = own_memories;
    table->PJRT_Client_LookupDevice = lookup_device;
    table->PJRT_Client_LookupAddressableDevice = lookup_own_device;
    table->PJRT_Client_DefaultDeviceAssignment = default_assignment;
    if (rehearsal.target->platform == KEEL_TARGET_CPU)
        table->PJRT_DeviceDescription_ProcessIndex = described_process;
    table->PJRT_Device_GetDescription = description_of;
    table->PJRT_Device_IsAddressable = is_addressable;
    table->PJRT_Device_LocalHardwareId = local_id;
}
