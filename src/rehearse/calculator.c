// Small programs, computed by XLA for the processor: what a host would read from the device.
#include "pjrt/kernels.h"
#include "read/write.h"
#include "rehearse/objects.h"

enum { DEVICES_MOST = 64 };

// A client of the processor with at least so many devices.
typedef struct processor_t {
    PJRT_Client *client;
    PJRT_Device *const *devices;
    uint32_t count;
} processor_t;

struct calculation_t {
    PJRT_LoadedExecutable *executable;
    processor_t on;
    uint32_t devices;
};

static const PJRT_Api *api;
// For programs of one device, and, once there is one, for those of several.
static processor_t one, several;

// ---- the processor -----------------------------------------------------------------------------

static keel_status_t load_plugin(void) {
    static keel_plugin_t plugin;
    if (api) return NULL;
    if (rehearsal.backing) {
        api = rehearsal.plugin;
        return NULL;
    }
    KEEL_TRY(keel_plugin_load(rehearsal.calculator, &plugin));
    PJRT_Plugin_Initialize_Args initialize = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    KEEL_TRY(KEEL_PJRT_CALL(plugin.api, PJRT_Plugin_Initialize, initialize));
    api = plugin.api;
    return NULL;
}

static keel_status_t take_client(PJRT_Client *client, processor_t *out) {
    keel_kernels_register(api, client);
    PJRT_Client_AddressableDevices_Args devices = {KEEL_PJRT_SIZE(PJRT_Client_AddressableDevices),
                                                   .client = client};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_AddressableDevices, devices));
    *out = (processor_t){client, devices.addressable_devices,
                         (uint32_t)devices.num_addressable_devices};
    return NULL;
}

static keel_status_t make_client(uint32_t devices, processor_t *out) {
    const PJRT_NamedValue count = keel_pjrt_cpu_devices(devices);
    PJRT_Client_Create_Args create = {KEEL_PJRT_SIZE(PJRT_Client_Create), .create_options = &count,
                                      .num_options = 1};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_Create, create));
    return take_client(create.client, out);
}

// A rehearsed processor computes by itself.
static keel_status_t open_once(uint32_t devices, processor_t *inout) {
    if (!inout->client) {
        KEEL_TRY(load_plugin());
        KEEL_TRY(rehearsal.backing ? take_client(rehearsal.backing, inout)
                                   : make_client(devices, inout));
    }
    if (inout->count >= devices) return NULL;
    return keel_status_make(KEEL_UNSUPPORTED, "a program of %u devices, after one of %u", devices,
                            inout->count);
}

// The processor's plugin is loaded when the first small program is executed. A failure is reported
// once; from then on nothing is computed.
static keel_status_t open_calculator(uint32_t devices, processor_t *out) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool has_failed;
    processor_t *wanted = devices > 1 ? &several : &one;
    if (devices > DEVICES_MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "a program of %u devices", devices);
    pthread_mutex_lock(&lock);
    keel_status_t status = has_failed ? keel_status_make(KEEL_UNSUPPORTED, "nothing is computed")
                                      : open_once(devices, wanted);
    if (status && !has_failed && keel_status_code(status) != KEEL_UNSUPPORTED) {
        has_failed = true;
        keel_log_once("calculator", "%s; no value is computed in this rehearsal",
                      keel_status_message(status));
    }
    *out = *wanted;
    pthread_mutex_unlock(&lock);
    return status;
}

// ---- programs ----------------------------------------------------------------------------------

// Source: CompileOptionsProto, ExecutableBuildOptionsProto, DeviceAssignmentProto: one replica, a
// partition for each device.
static void write_options(uint32_t devices, keel_buffer_t *out) {
    enum { BUILD_OPTIONS = 3 };
    enum { NUM_REPLICAS = 4, NUM_PARTITIONS = 5, SPMD_PARTITIONING = 6, DEVICE_ASSIGNMENT = 9 };
    enum { REPLICA_COUNT = 1, COMPUTATION_COUNT = 2, COMPUTATION_DEVICES = 3, REPLICA_DEVICES = 1 };
    size_t build = keel_proto_open(out, BUILD_OPTIONS);
    keel_proto_put_number(out, NUM_REPLICAS, KEEL_WIRE_VARINT, 1);
    keel_proto_put_number(out, NUM_PARTITIONS, KEEL_WIRE_VARINT, devices);
    if (devices > 1) {
        keel_proto_put_number(out, SPMD_PARTITIONING, KEEL_WIRE_VARINT, 1);
        size_t assignment = keel_proto_open(out, DEVICE_ASSIGNMENT);
        keel_proto_put_number(out, REPLICA_COUNT, KEEL_WIRE_VARINT, 1);
        keel_proto_put_number(out, COMPUTATION_COUNT, KEEL_WIRE_VARINT, devices);
        for (uint32_t i = 0; i < devices; ++i) {
            size_t device = keel_proto_open(out, COMPUTATION_DEVICES);
            keel_proto_put_number(out, REPLICA_DEVICES, KEEL_WIRE_VARINT, i);
            keel_proto_close(out, device);
        }
        keel_proto_close(out, assignment);
    }
    keel_proto_close(out, build);
}

static keel_status_t compile(PJRT_Client *client, const keel_buffer_t *code, const char *format,
                             const keel_buffer_t *options, PJRT_LoadedExecutable **out) {
    const PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                                  .code = (char *)code->data,
                                  .code_size = code->size,
                                  .format = format,
                                  .format_size = strlen(format)};
    PJRT_Client_Compile_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = client, .program = &program,
        .compile_options = (const char *)options->data, .compile_options_size = options->size};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_Compile, args));
    *out = args.executable;
    return NULL;
}

static keel_status_t write_and_compile(const keel_program_t *program, calculation_t *calculation) {
    bool is_hlo = program->format == KEEL_FORMAT_HLO;
    keel_buffer_t code, options;
    keel_buffer_initialize(&code, 0);
    keel_buffer_initialize(&options, 0);
    write_options(calculation->devices, &options);
    keel_status_t status =
        is_hlo ? keel_write_hlo(program, &code) : keel_write_mlir(program, &code);
    if (!status) status = keel_buffer_status(&options);
    if (!status)
        status = compile(calculation->on.client, &code, is_hlo ? "hlo" : "mlir", &options,
                         &calculation->executable);
    keel_buffer_deinitialize(&code);
    keel_buffer_deinitialize(&options);
    return status;
}

keel_status_t calculation_create(const keel_program_t *program, uint32_t devices,
                                 calculation_t **out) {
    void *memory;
    processor_t on;
    KEEL_TRY(open_calculator(devices, &on));
    KEEL_TRY(keel_calloc(1, sizeof(calculation_t), &memory));
    calculation_t *calculation = memory;
    calculation->on = on;
    calculation->devices = devices;
    keel_status_t status = write_and_compile(program, calculation);
    if (status)
        keel_free(calculation);
    else
        *out = calculation;
    return status;
}

void calculation_destroy(calculation_t *calculation) {
    if (!calculation) return;
    keel_pjrt_destroy_loaded(api, calculation->executable);
    keel_free(calculation);
}

// ---- running -----------------------------------------------------------------------------------

static keel_status_t send(const calculation_t *calculation, uint32_t device,
                          const operand_t *operand, PJRT_Buffer **out) {
    size_t size = operand->contents->size / calculation->devices;
    PJRT_Client_BufferFromHostBuffer_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_BufferFromHostBuffer),
        .client = calculation->on.client,
        .data = operand->contents->data + device * size,
        .type = buffer_type_of(operand->shape->element),
        .dims = operand->shape->dims,
        .num_dims = operand->shape->rank,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = calculation->on.devices[device]};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_BufferFromHostBuffer, args));
    *out = args.buffer;
    return keel_pjrt_await(api, args.done_with_host_buffer);
}

static keel_status_t fetch(const calculation_t *calculation, uint32_t device, PJRT_Buffer *buffer,
                           operand_t *operand) {
    enum { RANK_MOST = 64 };
    int64_t order[RANK_MOST];
    uint32_t rank = operand->shape->rank;
    if (rank > RANK_MOST) return keel_status_make(KEEL_UNSUPPORTED, "%u dimensions", rank);
    for (uint32_t i = 0; i < rank; ++i)
        order[i] = (int64_t)(rank - 1 - i);
    PJRT_Buffer_MemoryLayout rows = {
        .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
        .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                  .minor_to_major = order,
                  .minor_to_major_size = rank}};
    PJRT_Buffer_ToHostBuffer_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_ToHostBuffer), .src = buffer,
                                          .host_layout = &rows};
    size_t size;
    KEEL_TRY(
        host_bytes(buffer_type_of(operand->shape->element), operand->shape->dims, rank, &size));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Buffer_ToHostBuffer, args));
    if (args.dst_size != size)
        return keel_status_make(KEEL_INTERNAL, "a result of %zu bytes, not %zu", args.dst_size,
                                size);
    if (!device) operand->contents = contents_create(size * calculation->devices);
    if (!operand->contents || !size) return NULL;
    args.dst = operand->contents->data + device * size;
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Buffer_ToHostBuffer, args));
    return keel_pjrt_await(api, args.event);
}

// The buffers of each device, its arguments before its results.
typedef struct run_t {
    const calculation_t *calculation;
    const operand_t *arguments;
    operand_t *results;
    uint32_t argument_count, result_count;
    PJRT_Buffer **buffers;
} run_t;

static PJRT_Buffer **buffers_of(const run_t *run, uint32_t device) {
    return run->buffers + (size_t)device * (run->argument_count + run->result_count);
}

static keel_status_t execute(const run_t *run) {
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    uint32_t devices = run->calculation->devices;
    PJRT_Buffer *const *lists[DEVICES_MOST];
    PJRT_Buffer **outputs[DEVICES_MOST];
    PJRT_Event *done[DEVICES_MOST] = {NULL};
    for (uint32_t i = 0; i < devices; ++i) {
        lists[i] = buffers_of(run, i);
        outputs[i] = buffers_of(run, i) + run->argument_count;
    }
    PJRT_LoadedExecutable_Execute_Args args = {KEEL_PJRT_SIZE(PJRT_LoadedExecutable_Execute),
                                               .executable = run->calculation->executable,
                                               .options = &options,
                                               .argument_lists = lists,
                                               .num_devices = devices,
                                               .num_args = run->argument_count,
                                               .output_lists = outputs,
                                               .device_complete_events = done};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_LoadedExecutable_Execute, args));
    keel_status_t status = NULL;
    for (uint32_t i = 0; i < devices; ++i) {
        keel_status_t one_status = keel_pjrt_await(api, done[i]);
        if (status)
            keel_status_ignore(one_status);
        else
            status = one_status;
    }
    return status;
}

static keel_status_t send_and_fetch(const run_t *run) {
    uint32_t devices = run->calculation->devices;
    for (uint32_t device = 0; device < devices; ++device)
        for (uint32_t i = 0; i < run->argument_count; ++i)
            KEEL_TRY(
                send(run->calculation, device, &run->arguments[i], &buffers_of(run, device)[i]));
    KEEL_TRY(execute(run));
    for (uint32_t device = 0; device < devices; ++device)
        for (uint32_t i = 0; i < run->result_count; ++i)
            KEEL_TRY(fetch(run->calculation, device,
                           buffers_of(run, device)[run->argument_count + i], &run->results[i]));
    return NULL;
}

keel_status_t calculation_run(calculation_t *calculation, const operand_t *arguments,
                              uint32_t argument_count, operand_t *results, uint32_t result_count) {
    void *memory;
    size_t count = ((size_t)argument_count + result_count) * calculation->devices;
    for (uint32_t i = 0; i < result_count; ++i)
        results[i].contents = NULL;
    KEEL_TRY(keel_calloc(count, sizeof(PJRT_Buffer *), &memory));
    const run_t run = {calculation, arguments, results, argument_count, result_count, memory};
    keel_status_t status = send_and_fetch(&run);
    for (size_t i = 0; i < count; ++i)
        keel_pjrt_destroy_buffer(api, run.buffers[i]);
    keel_free(memory);
    for (uint32_t i = 0; status && i < result_count; ++i) {
        contents_release(results[i].contents);
        results[i].contents = NULL;
    }
    return status;
}
