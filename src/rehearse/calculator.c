// Small programs, computed by XLA for the processor: what a host would read from the device.
#include "pjrt/kernels.h"
#include "read/write.h"
#include "rehearse/objects.h"

struct calculation_t {
    PJRT_LoadedExecutable *executable;
    uint32_t results;
};

static const PJRT_Api *api;
static PJRT_Client *client;
static PJRT_Device *device;

// ---- the processor -----------------------------------------------------------------------------

static keel_status_t make_client(void) {
    static keel_plugin_t plugin;
    KEEL_TRY(keel_plugin_load(rehearsal.calculator, &plugin));
    api = plugin.api;
    PJRT_Plugin_Initialize_Args initialize = {KEEL_PJRT_SIZE(PJRT_Plugin_Initialize)};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Plugin_Initialize, initialize));
    const PJRT_NamedValue one = keel_pjrt_cpu_devices(1);
    PJRT_Client_Create_Args create = {KEEL_PJRT_SIZE(PJRT_Client_Create), .create_options = &one,
                                      .num_options = 1};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_Create, create));
    client = create.client;
    keel_kernels_register(api, client);
    return NULL;
}

static keel_status_t open_once(void) {
    if (client) return NULL;
    if (rehearsal.backing) {
        api = rehearsal.plugin;
        client = rehearsal.backing;
        keel_kernels_register(api, client);
    } else {
        KEEL_TRY(make_client());
    }
    PJRT_Client_AddressableDevices_Args devices = {KEEL_PJRT_SIZE(PJRT_Client_AddressableDevices),
                                                   .client = client};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_AddressableDevices, devices));
    device = devices.addressable_devices[0];
    return NULL;
}

// The processor's plugin is loaded when the first small program is executed. A failure is reported
// once; from then on nothing is computed.
static keel_status_t open_calculator(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool has_failed;
    pthread_mutex_lock(&lock);
    keel_status_t status =
        has_failed ? keel_status_make(KEEL_UNSUPPORTED, "nothing is computed") : open_once();
    if (status && !has_failed) {
        has_failed = true;
        keel_log_once("calculator", "%s; no value is computed in this rehearsal",
                      keel_status_message(status));
    }
    pthread_mutex_unlock(&lock);
    return status;
}

// ---- programs ----------------------------------------------------------------------------------

// Source: CompileOptionsProto: one replica of one partition.
static void write_options(keel_buffer_t *out) {
    enum { BUILD_OPTIONS = 3, NUM_REPLICAS = 4, NUM_PARTITIONS = 5 };
    size_t build = keel_proto_open(out, BUILD_OPTIONS);
    keel_proto_put_number(out, NUM_REPLICAS, KEEL_WIRE_VARINT, 1);
    keel_proto_put_number(out, NUM_PARTITIONS, KEEL_WIRE_VARINT, 1);
    keel_proto_close(out, build);
}

static keel_status_t compile(const keel_buffer_t *code, const char *format,
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

static keel_status_t write_and_compile(const keel_program_t *program, PJRT_LoadedExecutable **out) {
    bool is_hlo = program->format == KEEL_FORMAT_HLO;
    keel_buffer_t code, options;
    keel_buffer_initialize(&code, 0);
    keel_buffer_initialize(&options, 0);
    write_options(&options);
    keel_status_t status =
        is_hlo ? keel_write_hlo(program, &code) : keel_write_mlir(program, &code);
    if (!status) status = keel_buffer_status(&options);
    if (!status) status = compile(&code, is_hlo ? "hlo" : "mlir", &options, out);
    keel_buffer_deinitialize(&code);
    keel_buffer_deinitialize(&options);
    return status;
}

keel_status_t calculation_create(const keel_program_t *program, calculation_t **out) {
    void *memory;
    KEEL_TRY(open_calculator());
    KEEL_TRY(keel_calloc(1, sizeof(calculation_t), &memory));
    calculation_t *calculation = memory;
    keel_status_t status = write_and_compile(program, &calculation->executable);
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

static void destroy_buffer(PJRT_Buffer *buffer) {
    keel_pjrt_destroy_buffer(api, buffer);
}

static keel_status_t send(const operand_t *operand, PJRT_Buffer **out) {
    PJRT_Client_BufferFromHostBuffer_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_BufferFromHostBuffer),
        .client = client,
        .data = operand->contents->data,
        .type = buffer_type_of(operand->shape->element),
        .dims = operand->shape->dims,
        .num_dims = operand->shape->rank,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = device};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_BufferFromHostBuffer, args));
    *out = args.buffer;
    return keel_pjrt_await(api, args.done_with_host_buffer);
}

static keel_status_t fetch(PJRT_Buffer *buffer, operand_t *operand) {
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
    operand->contents = contents_create(size);
    if (!operand->contents || !size) return NULL;
    args.dst = operand->contents->data;
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Buffer_ToHostBuffer, args));
    return keel_pjrt_await(api, args.event);
}

static keel_status_t execute(calculation_t *calculation, PJRT_Buffer **arguments, uint32_t count,
                             PJRT_Buffer **results) {
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_Buffer *const *const lists[] = {arguments};
    PJRT_Buffer **const outputs[] = {results};
    PJRT_Event *done = NULL;
    PJRT_LoadedExecutable_Execute_Args args = {KEEL_PJRT_SIZE(PJRT_LoadedExecutable_Execute),
                                               .executable = calculation->executable,
                                               .options = &options,
                                               .argument_lists = lists,
                                               .num_devices = 1,
                                               .num_args = count,
                                               .output_lists = outputs,
                                               .device_complete_events = &done};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_LoadedExecutable_Execute, args));
    return keel_pjrt_await(api, done);
}

static keel_status_t run(calculation_t *calculation, const operand_t *arguments,
                         uint32_t argument_count, operand_t *results, uint32_t result_count,
                         PJRT_Buffer **buffers) {
    PJRT_Buffer **made = buffers + argument_count;
    for (uint32_t i = 0; i < argument_count; ++i)
        KEEL_TRY(send(&arguments[i], &buffers[i]));
    KEEL_TRY(execute(calculation, buffers, argument_count, made));
    for (uint32_t i = 0; i < result_count; ++i)
        KEEL_TRY(fetch(made[i], &results[i]));
    return NULL;
}

keel_status_t calculation_run(calculation_t *calculation, const operand_t *arguments,
                              uint32_t argument_count, operand_t *results, uint32_t result_count) {
    void *memory;
    size_t count = (size_t)argument_count + result_count;
    for (uint32_t i = 0; i < result_count; ++i)
        results[i].contents = NULL;
    KEEL_TRY(keel_calloc(count, sizeof(PJRT_Buffer *), &memory));
    PJRT_Buffer **buffers = memory;
    keel_status_t status =
        run(calculation, arguments, argument_count, results, result_count, buffers);
    for (size_t i = 0; i < count; ++i)
        destroy_buffer(buffers[i]);
    keel_free(memory);
    for (uint32_t i = 0; status && i < result_count; ++i) {
        contents_release(results[i].contents);
        results[i].contents = NULL;
    }
    return status;
}
