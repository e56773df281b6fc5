// A child's trials: a program is loaded, and executed with arguments that are made here.
#define _GNU_SOURCE
#include <unistd.h>

#include "compiler/trial.h"
#include "compiler/worker.h"

enum { MOST_ARRAYS = 1 << 16 };

typedef struct trial_t {
    const worker_t *worker;
    PJRT_LoadedExecutable *loaded;
    PJRT_Device *device;
    bool is_portable; // it runs on any device
    uint64_t seed;
    keel_bytes_t arguments; // their shapes
    size_t argument_count, result_count;
    PJRT_Buffer **in, **out;
    uint64_t nanoseconds; // of the shorter execution; 0: none yet
    keel_buffer_t results;
} trial_t;

static PJRT_Buffer_Type buffer_type(keel_primitive_t element) {
    switch (element) {
#define TYPE(number, name, bits)                                                                   \
    case KEEL_PRIMITIVE_##name:                                                                    \
        return PJRT_Buffer_Type_##name;
        KEEL_PRIMITIVES(TYPE)
#undef TYPE
        default:
            return PJRT_Buffer_Type_INVALID;
    }
}

static keel_primitive_t primitive(PJRT_Buffer_Type type) {
    switch (type) {
#define TYPE(number, name, bits)                                                                   \
    case PJRT_Buffer_Type_##name:                                                                  \
        return KEEL_PRIMITIVE_##name;
        KEEL_PRIMITIVES(TYPE)
#undef TYPE
        default:
            return KEEL_PRIMITIVE_INVALID;
    }
}

// ---- arguments ---------------------------------------------------------------------------------

static keel_status_t send(const trial_t *trial, const keel_array_shape_t *shape, uint8_t *data,
                          PJRT_Buffer **out) {
    const PJRT_Api *api = trial->worker->api;
    PJRT_Client_BufferFromHostBuffer_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_BufferFromHostBuffer),
        .client = trial->worker->client,
        .data = data,
        .type = buffer_type(shape->element),
        .dims = shape->dims,
        .num_dims = shape->rank,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = trial->device};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Client_BufferFromHostBuffer, args));
    *out = args.buffer;
    return keel_pjrt_await(api, args.done_with_host_buffer);
}

static keel_status_t make_argument(trial_t *trial, const keel_array_shape_t *shape, uint32_t number,
                                   bool is_positive) {
    void *memory;
    KEEL_TRY(trial_check(shape));
    size_t size = trial_bytes(shape);
    KEEL_TRY(keel_alloc(size ? size : 1, &memory));
    trial_fill(shape, trial->seed, number, is_positive, memory);
    keel_status_t status = send(trial, shape, memory, &trial->in[number]);
    keel_free(memory);
    return status;
}

static keel_status_t make_arguments(trial_t *trial, bool are_positive) {
    keel_cursor_t cursor = keel_cursor(trial->arguments);
    int64_t dims[WIRE_RANK];
    keel_array_shape_t shape;
    for (size_t i = 0; i < trial->argument_count; ++i) {
        if (!wire_read_shape(&cursor, dims, &shape))
            return keel_status_make(KEEL_CORRUPT, "the arguments of a trial are damaged");
        KEEL_TRY(make_argument(trial, &shape, (uint32_t)i, are_positive));
    }
    return NULL;
}

static keel_status_t count_arguments(trial_t *trial) {
    keel_cursor_t cursor = keel_cursor(trial->arguments);
    int64_t dims[WIRE_RANK];
    keel_array_shape_t shape;
    while (keel_cursor_left(&cursor)) {
        if (trial->argument_count == MOST_ARRAYS || !wire_read_shape(&cursor, dims, &shape))
            return keel_status_make(KEEL_CORRUPT, "the arguments of a trial are damaged");
        ++trial->argument_count;
    }
    return NULL;
}

// ---- results -----------------------------------------------------------------------------------

static keel_status_t read_shape(const PJRT_Api *api, PJRT_Buffer *buffer, keel_array_shape_t *out) {
    PJRT_Buffer_ElementType_Args type = {KEEL_PJRT_SIZE(PJRT_Buffer_ElementType), .buffer = buffer};
    PJRT_Buffer_Dimensions_Args dims = {KEEL_PJRT_SIZE(PJRT_Buffer_Dimensions), .buffer = buffer};
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Buffer_ElementType, type));
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Buffer_Dimensions, dims));
    if (dims.num_dims > WIRE_RANK)
        return keel_status_make(KEEL_UNSUPPORTED, "a result has %zu dimensions", dims.num_dims);
    *out = (keel_array_shape_t){primitive(type.type), (uint32_t)dims.num_dims, dims.dims};
    return NULL;
}

// Row by row, however the plugin lays it out: another version may do so in another way.
static keel_status_t take_result(trial_t *trial, PJRT_Buffer *buffer) {
    const PJRT_Api *api = trial->worker->api;
    keel_array_shape_t shape;
    int64_t order[WIRE_RANK];
    KEEL_TRY(read_shape(api, buffer, &shape));
    for (uint32_t i = 0; i < shape.rank; ++i)
        order[i] = (int64_t)(shape.rank - 1 - i);
    PJRT_Buffer_MemoryLayout layout = {
        .struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
        .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
        .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                  .minor_to_major = order,
                  .minor_to_major_size = shape.rank}};
    PJRT_Buffer_ToHostBuffer_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_ToHostBuffer), .src = buffer,
                                          .host_layout = &layout};
    // The first call asks for the size, the second for the bytes.
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Buffer_ToHostBuffer, args));
    wire_put_shape(&trial->results, &shape);
    keel_proto_put_varint(&trial->results, args.dst_size);
    args.dst = keel_buffer_reserve(&trial->results, args.dst_size ? args.dst_size : 1);
    if (!args.dst) return keel_buffer_status(&trial->results);
    args.event = NULL;
    KEEL_TRY(KEEL_PJRT_CALL(api, PJRT_Buffer_ToHostBuffer, args));
    KEEL_TRY(keel_pjrt_await(api, args.event));
    trial->results.size += args.dst_size;
    return NULL;
}

// ---- executing ---------------------------------------------------------------------------------

static void destroy_buffers(const trial_t *trial, PJRT_Buffer **buffers, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        keel_pjrt_destroy_buffer(trial->worker->api, buffers[i]);
        buffers[i] = NULL;
    }
}

static keel_status_t execute(trial_t *trial) {
    PJRT_Buffer *const *argument_lists[] = {trial->in};
    PJRT_Buffer **const result_lists[] = {trial->out};
    PJRT_Event *done = NULL;
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_LoadedExecutable_Execute_Args args = {KEEL_PJRT_SIZE(PJRT_LoadedExecutable_Execute),
                                               .executable = trial->loaded,
                                               .options = &options,
                                               .argument_lists = argument_lists,
                                               .num_devices = 1,
                                               .num_args = trial->argument_count,
                                               .output_lists = result_lists,
                                               .device_complete_events = &done,
                                               .execute_device =
                                                   trial->is_portable ? trial->device : NULL};
    uint64_t began = keel_clock_monotonic();
    KEEL_TRY(KEEL_PJRT_CALL(trial->worker->api, PJRT_LoadedExecutable_Execute, args));
    KEEL_TRY(keel_pjrt_await(trial->worker->api, done));
    uint64_t took = keel_clock_monotonic() - began;
    if (!trial->nanoseconds || took < trial->nanoseconds) trial->nanoseconds = took;
    return NULL;
}

static keel_status_t execute_once(trial_t *trial, bool are_positive) {
    keel_status_t status = make_arguments(trial, are_positive);
    if (!status) status = execute(trial);
    for (size_t i = 0; i < trial->result_count && !status; ++i) {
        if (!trial->out[i])
            status = keel_status_make(KEEL_PLUGIN, "the execution returned no result %zu", i);
        else
            status = take_result(trial, trial->out[i]);
    }
    destroy_buffers(trial, trial->in, trial->argument_count);
    destroy_buffers(trial, trial->out, trial->result_count);
    return status;
}

// ---- the trial ---------------------------------------------------------------------------------

static keel_status_t take_any_device(trial_t *trial) {
    PJRT_Device *const *devices;
    size_t count;
    KEEL_TRY(
        keel_pjrt_addressable_devices(trial->worker->api, trial->worker->client, &devices, &count));
    if (!count) return keel_status_make(KEEL_UNSUPPORTED, "no device is here");
    trial->device = devices[0];
    trial->is_portable = true;
    return NULL;
}

static keel_status_t find_device(trial_t *trial) {
    PJRT_LoadedExecutable_AddressableDevices_Args args = {
        KEEL_PJRT_SIZE(PJRT_LoadedExecutable_AddressableDevices), .executable = trial->loaded};
    KEEL_TRY(KEEL_PJRT_CALL(trial->worker->api, PJRT_LoadedExecutable_AddressableDevices, args));
    if (!args.num_addressable_devices) return take_any_device(trial);
    if (args.num_addressable_devices != 1)
        return keel_status_make(KEEL_UNSUPPORTED, "it runs on %zu devices together",
                                args.num_addressable_devices);
    trial->device = args.addressable_devices[0];
    return NULL;
}

// A program may be anybody's, and the kernel does not always end the process that takes too much.
// The results of both executions stay until they are sent.
static keel_status_t check_memory(const trial_t *trial, PJRT_Executable *executable) {
    keel_program_memory_t memory;
    keel_status_t status = keel_pjrt_program_memory(trial->worker->api, executable, &memory);
    uint64_t available = keel_memory_available(),
             most = available / 100 * keel_limit(KEEL_LIMIT_TRIAL_MEMORY);
    uint64_t needed = keel_program_memory_total(&memory);
    bool fits = status || !available || (needed <= most && memory.outputs <= (most - needed) / 2);
    keel_status_ignore(status);
    if (fits) return NULL;
    char shown[16], free_now[16];
    keel_format_size(needed, shown);
    keel_format_size(available, free_now);
    return keel_status_make(
        KEEL_UNSUPPORTED,
        "it needs %s of memory, and may use %u %% of the %s that is free on this "
        "machine",
        shown, (unsigned)keel_limit(KEEL_LIMIT_TRIAL_MEMORY), free_now);
}

static keel_status_t count_results(trial_t *trial) {
    PJRT_Executable *executable;
    KEEL_TRY(keel_pjrt_executable(trial->worker->api, trial->loaded, &executable));
    PJRT_Executable_NumOutputs_Args args = {KEEL_PJRT_SIZE(PJRT_Executable_NumOutputs),
                                            .executable = executable};
    keel_status_t status = check_memory(trial, executable);
    if (!status) status = KEEL_PJRT_CALL(trial->worker->api, PJRT_Executable_NumOutputs, args);
    keel_pjrt_destroy_executable(trial->worker->api, executable);
    KEEL_TRY(status);
    if (args.num_outputs > MOST_ARRAYS)
        return keel_status_make(KEEL_UNSUPPORTED, "it has %zu results", args.num_outputs);
    trial->result_count = args.num_outputs;
    return NULL;
}

static keel_status_t prepare(trial_t *trial) {
    void *memory;
    KEEL_TRY(find_device(trial));
    KEEL_TRY(count_arguments(trial));
    KEEL_TRY(count_results(trial));
    KEEL_TRY(keel_calloc(trial->argument_count + 1, sizeof *trial->in, &memory));
    trial->in = memory;
    // More room than results, in case a plugin writes more of them.
    KEEL_TRY(keel_calloc(trial->result_count + 4, sizeof *trial->out, &memory));
    trial->out = memory;
    keel_proto_put_varint(&trial->results, 2 * trial->result_count);
    return NULL;
}

static keel_status_t run(trial_t *trial, keel_buffer_t *out) {
    keel_status_t status = prepare(trial);
    if (!status) status = execute_once(trial, false);
    if (!status) status = execute_once(trial, true);
    if (!status) status = keel_buffer_status(&trial->results);
    if (!status) {
        wire_put_answer(out, &(wire_answer_t){.is_trial = true,
                                              .results = keel_buffer_bytes(&trial->results),
                                              .nanoseconds = trial->nanoseconds});
        status = keel_buffer_status(out);
    }
    keel_free((void *)trial->in);
    keel_free((void *)trial->out);
    return status;
}

keel_status_t worker_try(worker_t *worker, const wire_job_t *job, keel_buffer_t *out) {
    trial_t trial = {.worker = worker, .seed = job->seed, .arguments = job->arguments};
    if (!worker->client)
        return keel_status_make(KEEL_UNSUPPORTED, "target %s has no device here",
                                worker->target.name);
    alarm((unsigned)job->seconds); // ends the process, as the parent expects
    keel_buffer_initialize(&trial.results, WIRE_LIMIT);
    keel_status_t status = keel_pjrt_load(worker->api, worker->client, job->executable,
                                          keel_bytes("", 0), &trial.loaded);
    if (!status) {
        status = run(&trial, out);
        keel_pjrt_destroy_loaded(worker->api, trial.loaded);
    }
    keel_buffer_deinitialize(&trial.results);
    alarm(0);
    return status;
}
