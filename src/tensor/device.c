// The plugin door's table: a client, the devices of the mesh, compiling and executing.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "host/host.h"
#include "shim/shim.h"
#include "tensor/device.h"

static atomic_bool is_frozen;
static atomic_uint opened;

// ---- forks -------------------------------------------------------------------------------------

static unsigned forks; // in this process and those that it was forked from

static void count_fork(void) {
    ++forks;
}

static void watch_forks(void) {
    pthread_atfork(NULL, NULL, count_fork);
}

bool device_is_of_parent(const device_t *device) {
    return device->forks != forks;
}

keel_status_t device_check_process(const device_t *device) {
    if (!device_is_of_parent(device)) return NULL;
    return keel_status_make(KEEL_INVALID,
                            "the context is of the process that this one was forked from; fork "
                            "before keel_context_create");
}

// ---- opening -----------------------------------------------------------------------------------

// More would only fill the memory.
enum { MAX_CPU_DEVICES = 4096 };

static keel_status_t make_client(device_t *device, const job_t *job, int64_t count) {
    PJRT_Plugin_Initialize_Args initialize = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Plugin_Initialize, initialize));
    PJRT_Client_Create_Args create = {KEEL_PJRT_SIZE(PJRT_Client_Create)};
    if (!count && device->mesh->axis_count)
        count = device->mesh->devices / (job->processes ? job->processes : 1);
    if (count && count <= MAX_CPU_DEVICES) keel_shim_ask_devices(count);
    KEEL_TRY(peers_open(job, &device->peers));
    peers_tell(device->peers, &create);
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Client_Create, create));
    device->client = create.client;
    return NULL;
}

static keel_status_t id_of(const device_t *device, PJRT_Device *one, int *out) {
    PJRT_Device_GetDescription_Args get = {KEEL_PJRT_SIZE(PJRT_Device_GetDescription),
                                           .device = one};
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Device_GetDescription, get));
    PJRT_DeviceDescription_Id_Args id = {KEEL_PJRT_SIZE(PJRT_DeviceDescription_Id),
                                         .device_description = get.device_description};
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_DeviceDescription_Id, id));
    *out = id.id;
    return NULL;
}

static keel_status_t add_device(device_t *device, PJRT_Device *one, int64_t position) {
    PJRT_Device_IsAddressable_Args args = {KEEL_PJRT_SIZE(PJRT_Device_IsAddressable),
                                           .device = one};
    KEEL_TRY(id_of(device, one, &device->ids[position]));
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Device_IsAddressable, args));
    if (args.is_addressable) device->lanes[device->lane_count++] = (lane_t){one, position};
    return NULL;
}

// Without a mesh, the first device of this process.
static keel_status_t take_devices(device_t *device) {
    const mesh_t *mesh = device->mesh;
    void *memory;
    size_t wanted = (size_t)mesh->devices, count;
    PJRT_Device *const *all;
    PJRT_Client_AddressableDevices_Args own = {KEEL_PJRT_SIZE(PJRT_Client_AddressableDevices),
                                               .client = device->client};
    PJRT_Client_Devices_Args every = {KEEL_PJRT_SIZE(PJRT_Client_Devices),
                                      .client = device->client};
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Client_AddressableDevices, own));
    KEEL_TRY(KEEL_PJRT_CALL(device->api, PJRT_Client_Devices, every));
    all = mesh->axis_count ? every.devices : own.addressable_devices;
    count = mesh->axis_count ? every.num_devices : own.num_addressable_devices;
    if (count < wanted)
        return keel_status_make(KEEL_INVALID, "the mesh has %zu devices, and the plugin %zu",
                                wanted, count);
    KEEL_TRY(keel_calloc(wanted, sizeof *device->ids, &memory));
    device->ids = memory;
    KEEL_TRY(keel_calloc(wanted, sizeof *device->lanes, &memory));
    device->lanes = memory;
    KEEL_TRY(keel_calloc(wanted * IN_FLIGHT, sizeof *device->running, &memory));
    device->running = memory;
    for (size_t i = 0; i < wanted; ++i)
        KEEL_TRY(add_device(device, all[i], (int64_t)i));
    if (device->lane_count) return NULL;
    return keel_status_make(KEEL_INVALID, "none of the mesh's devices belongs to this process");
}

keel_status_t device_open(const char *plugin, const mesh_t *mesh, const job_t *job, int64_t count,
                          device_t **out) {
    void *memory;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (count < 0 || count > MAX_CPU_DEVICES)
        return keel_status_make(KEEL_INVALID, "%lld devices; XLA's CPU plugin may make 0 to %d",
                                (long long)count, MAX_CPU_DEVICES);
    pthread_once(&once, watch_forks);
    if (plugin && !keel_shim_wrap(plugin))
        return keel_status_make(
            KEEL_INVALID,
            "%s cannot be used: it is not a plugin, or this process already has "
            "another one",
            plugin);
    KEEL_TRY(keel_calloc(1, sizeof(device_t), &memory));
    device_t *device = memory;
    setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0); // plugins greet
    device->api = keel_shim_api();
    device->mesh = mesh;
    device->forks = forks;
    device->number = atomic_fetch_add(&opened, 1);
    keel_status_t status = make_client(device, job, count);
    if (!status) status = take_devices(device);
    if (status) {
        device_close(device);
        return status;
    }
    *out = device;
    return NULL;
}

size_t device_lanes(const device_t *device) {
    return device->lane_count;
}

bool device_has_all(const device_t *device) {
    return device->lane_count == (size_t)device->mesh->devices;
}

// ---- compiling ---------------------------------------------------------------------------------

// xla.CompileOptionsProto, its map of overrides, ExecutableBuildOptionsProto and
// DeviceAssignmentProto
enum {
    BUILD_OPTIONS = 3,
    OVERRIDES = 7,
    OVERRIDE_NAME = 1,
    OVERRIDE_VALUE = 2,
    OVERRIDE_BOOL = 2,
    NUM_REPLICAS = 4,
    NUM_PARTITIONS = 5,
    USE_SPMD_PARTITIONING = 6,
    DEVICE_ASSIGNMENT = 9,
    REPLICA_COUNT = 1,
    COMPUTATION_COUNT = 2,
    COMPUTATION_DEVICES = 3,
    REPLICA_DEVICE_IDS = 1,
};

static void put_assignment(const device_t *device, keel_buffer_t *out) {
    size_t assignment = keel_proto_open(out, DEVICE_ASSIGNMENT);
    keel_proto_put_number(out, REPLICA_COUNT, KEEL_WIRE_VARINT, 1);
    keel_proto_put_number(out, COMPUTATION_COUNT, KEEL_WIRE_VARINT,
                          (uint64_t)device->mesh->devices);
    for (int64_t i = 0; i < device->mesh->devices; ++i) {
        size_t one = keel_proto_open(out, COMPUTATION_DEVICES);
        size_t ids = keel_proto_open(out, REPLICA_DEVICE_IDS);
        keel_proto_put_varint(out, (uint64_t)device->ids[i]);
        keel_proto_close(out, ids);
        keel_proto_close(out, one);
    }
    keel_proto_close(out, assignment);
}

static bool is_cpu(const device_t *device) {
    PJRT_Client_PlatformName_Args args = {KEEL_PJRT_SIZE(PJRT_Client_PlatformName),
                                          .client = device->client};
    keel_status_t status = KEEL_PJRT_CALL(device->api, PJRT_Client_PlatformName, args);
    bool is_it = !status && args.platform_name_size == 3 && !memcmp(args.platform_name, "cpu", 3);
    keel_status_ignore(status);
    return is_it;
}

// XLA's compiler for CPUs drops NaNs in maxima and minima unless it is asked not to, as JAX asks.
// Whoever sets the flag decides.
static void put_nans(const device_t *device, keel_buffer_t *out) {
    static const char flag[] = "xla_cpu_enable_fast_min_max";
    const char *flags = getenv("XLA_FLAGS");
    if (!is_cpu(device) || (flags && strstr(flags, flag))) return;
    size_t override = keel_proto_open(out, OVERRIDES);
    keel_proto_put_bytes(out, OVERRIDE_NAME, keel_bytes(flag, sizeof flag - 1));
    size_t value = keel_proto_open(out, OVERRIDE_VALUE);
    keel_proto_put_number(out, OVERRIDE_BOOL, KEEL_WIRE_VARINT, false);
    keel_proto_close(out, value);
    keel_proto_close(out, override);
}

// A partition for each device of the mesh.
static void put_options(const device_t *device, keel_buffer_t *out) {
    size_t build = keel_proto_open(out, BUILD_OPTIONS);
    keel_proto_put_number(out, NUM_REPLICAS, KEEL_WIRE_VARINT, 1);
    keel_proto_put_number(out, NUM_PARTITIONS, KEEL_WIRE_VARINT, (uint64_t)device->mesh->devices);
    if (device->mesh->axis_count) {
        keel_proto_put_number(out, USE_SPMD_PARTITIONING, KEEL_WIRE_VARINT, 1);
        put_assignment(device, out);
    }
    keel_proto_close(out, build);
    put_nans(device, out);
}

keel_status_t device_compile(device_t *device, keel_bytes_t hlo, PJRT_LoadedExecutable **out) {
    keel_buffer_t options;
    KEEL_TRY(device_check_process(device));
    keel_buffer_initialize(&options, 0);
    put_options(device, &options);
    keel_status_t status = keel_buffer_status(&options);
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)hlo.data,
                            .code_size = hlo.size,
                            .format = "hlo",
                            .format_size = 3};
    PJRT_Client_Compile_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = device->client, .program = &program,
        .compile_options = (const char *)options.data, .compile_options_size = options.size};
    if (!status) status = KEEL_PJRT_CALL(device->api, PJRT_Client_Compile, args);
    if (!status) *out = args.executable;
    keel_buffer_deinitialize(&options);
    return status;
}

void device_forget(device_t *device, PJRT_LoadedExecutable *loaded) {
    if (loaded && !device_is_of_parent(device)) keel_pjrt_destroy_loaded(device->api, loaded);
}

// ---- executing ---------------------------------------------------------------------------------

// Waits for the oldest executions under way. Who reads what one of them made gets its error.
static PJRT_Event **take_place(device_t *device) {
    PJRT_Event **place = device->running + device->next_place * device->lane_count;
    for (size_t i = 0; i < device->lane_count; ++i) {
        keel_status_ignore(keel_pjrt_await(device->api, place[i]));
        place[i] = NULL;
    }
    device->next_place = (device->next_place + 1) % IN_FLIGHT;
    return place;
}

// Devices meet by launch id, also those of two clients. The processes of a job count alike.
static int next_launch(device_t *device) {
    enum { LAUNCHES = 1 << 24, DEVICES = 1 << 7 };
    device->launches = device->launches % (LAUNCHES - 1) + 1;
    return (int)(device->number % DEVICES * LAUNCHES + device->launches);
}

keel_status_t device_execute(device_t *device, PJRT_LoadedExecutable *loaded,
                             PJRT_Buffer *const *const *arguments, size_t argument_count,
                             PJRT_Buffer **const *results) {
    KEEL_TRY(device_check_process(device));
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
                                   .launch_id = next_launch(device)};
    PJRT_LoadedExecutable_Execute_Args args = {KEEL_PJRT_SIZE(PJRT_LoadedExecutable_Execute),
                                               .executable = loaded,
                                               .options = &options,
                                               .argument_lists = arguments,
                                               .num_devices = device->lane_count,
                                               .num_args = argument_count,
                                               .output_lists = results,
                                               .device_complete_events = take_place(device)};
    return KEEL_PJRT_CALL(device->api, PJRT_LoadedExecutable_Execute, args);
}

void device_close(device_t *device) {
    if (!device) return;
    PJRT_Client_Destroy_Args args = {KEEL_PJRT_SIZE(PJRT_Client_Destroy), .client = device->client};
    bool is_own = !device_is_of_parent(device);
    for (int i = 0; is_own && device->running && i < IN_FLIGHT; ++i)
        take_place(device);
    if (is_own && device->client)
        keel_status_ignore(KEEL_PJRT_CALL(device->api, PJRT_Client_Destroy, args));
    if (is_own) peers_close(device->peers);
    keel_free(device->ids);
    keel_free(device->lanes);
    keel_free(device->running);
    keel_free(device);
}

// ---- the process -------------------------------------------------------------------------------

void device_step(void) {
    keel_shim_step();
}

void device_at(const keel_caller_t *site) {
    const keel_stack_frame_t frame = {.file = site ? caller_file(*site) : "",
                                      .function = site && site->function ? site->function : "",
                                      .line = site && site->line > 0 ? (uint32_t)site->line : 0};
    keel_stack_tell(site ? &frame : NULL);
}

void keel_freeze(void) {
    atomic_store(&is_frozen, true);
    keel_shim_freeze();
}

bool device_is_frozen(void) {
    return atomic_load(&is_frozen);
}
