// The small program, and everything that is done with it.
//
//   a: f32[2,3], b: f32[3,2]  ->  the sum of the elements of a b
//
// Every device computes this number exactly, whatever type it multiplies in. Nothing is destroyed:
// the process ends.
#include <string.h>

#include "base/proto.h"
#include "pjrt/memory.h"
#include "probe/internal.h"

static const char program_text[] =
    "module @keel_probe {\n"
    "  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<f32> {\n"
    "    %product = \"stablehlo.dot_general\"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<\n"
    "        lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}\n"
    "        : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>\n"
    "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %sum = \"stablehlo.reduce\"(%product, %zero) ({\n"
    "      ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
    "        %both = stablehlo.add %x, %y : tensor<f32>\n"
    "        \"stablehlo.return\"(%both) : (tensor<f32>) -> ()\n"
    "    }) {dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>\n"
    "    return %sum : tensor<f32>\n"
    "  }\n"
    "}\n";

enum { ARGUMENTS = 2 };

typedef struct array_t {
    int64_t dims[2];
    float numbers[6];
} array_t;

static const array_t arguments[ARGUMENTS] = {{{2, 3}, {1, 2, 3, 4, 5, 6}},
                                             {{3, 2}, {1, 2, 0, 1, 1, 2}}};
static const float result = 49;

// ---- compiling ---------------------------------------------------------------------------------

// CompileOptionsProto: executable_build_options = 3 {num_replicas = 4, num_partitions = 5,
// device_assignment = 9 {replica_count = 1, computation_count = 2, computation_devices = 3
// {replica_device_ids = 1}}}.
static keel_status_t write_options(keel_buffer_t *out, int device) {
    size_t build = keel_proto_open(out, 3);
    keel_proto_put_number(out, 4, KEEL_WIRE_VARINT, 1);
    keel_proto_put_number(out, 5, KEEL_WIRE_VARINT, 1);
    size_t assignment = keel_proto_open(out, 9);
    keel_proto_put_number(out, 1, KEEL_WIRE_VARINT, 1);
    keel_proto_put_number(out, 2, KEEL_WIRE_VARINT, 1);
    size_t devices = keel_proto_open(out, 3), ids = keel_proto_open(out, 1);
    keel_proto_put_varint(out, (uint64_t)device);
    keel_proto_close(out, ids);
    keel_proto_close(out, devices);
    keel_proto_close(out, assignment);
    keel_proto_close(out, build);
    return keel_buffer_status(out);
}

static keel_status_t compile_on(const probe_child_t *child, PJRT_Device *device,
                                PJRT_LoadedExecutable **out) {
    keel_buffer_t options;
    int id;
    PJRT_Program code = {.struct_size = PJRT_Program_STRUCT_SIZE,
                         .code = (char *)(uintptr_t)program_text,
                         .code_size = sizeof program_text - 1,
                         .format = "mlir",
                         .format_size = 4};
    KEEL_TRY(keel_pjrt_device_id(child->api, device, &id));
    keel_buffer_initialize(&options, 0);
    KEEL_TRY(write_options(&options, id));
    PJRT_Client_Compile_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_Compile), .client = child->client, .program = &code,
        .compile_options = (const char *)options.data, .compile_options_size = options.size};
    KEEL_TRY(KEEL_PJRT_CALL(child->api, PJRT_Client_Compile, args));
    if (!args.executable)
        return keel_status_make(KEEL_PLUGIN, "PJRT_Client_Compile returned no executable");
    *out = args.executable;
    return NULL;
}

// ---- running -----------------------------------------------------------------------------------

static keel_status_t await_event(const probe_child_t *child, PJRT_Event *event) {
    if (!event) return NULL;
    PJRT_Event_Await_Args args = {KEEL_PJRT_SIZE(PJRT_Event_Await), .event = event};
    return KEEL_PJRT_CALL(child->api, PJRT_Event_Await, args);
}

static keel_status_t to_device(const probe_child_t *child, PJRT_Device *device,
                               const array_t *array, PJRT_Buffer **out) {
    PJRT_Client_BufferFromHostBuffer_Args args = {
        KEEL_PJRT_SIZE(PJRT_Client_BufferFromHostBuffer),
        .client = child->client,
        .data = array->numbers,
        .type = PJRT_Buffer_Type_F32,
        .dims = array->dims,
        .num_dims = 2,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = device};
    KEEL_TRY(KEEL_PJRT_CALL(child->api, PJRT_Client_BufferFromHostBuffer, args));
    *out = args.buffer;
    return await_event(child, args.done_with_host_buffer);
}

static keel_status_t check_result(const probe_child_t *child, PJRT_Buffer *buffer) {
    float number = 0;
    PJRT_Buffer_ToHostBuffer_Args args = {KEEL_PJRT_SIZE(PJRT_Buffer_ToHostBuffer), .src = buffer};
    // The first call asks for the size, the second for the bytes.
    KEEL_TRY(KEEL_PJRT_CALL(child->api, PJRT_Buffer_ToHostBuffer, args));
    if (args.dst_size != sizeof number)
        return keel_status_make(KEEL_CORRUPT, "wrong numbers: the result has %zu bytes, not %zu",
                                args.dst_size, sizeof number);
    args.dst = &number;
    KEEL_TRY(KEEL_PJRT_CALL(child->api, PJRT_Buffer_ToHostBuffer, args));
    KEEL_TRY(await_event(child, args.event));
    if (number == result) return NULL;
    return keel_status_make(KEEL_CORRUPT, "wrong numbers: the result is %.9g, not %.9g",
                            (double)number, (double)result);
}

// `options_size`: the size of the client's PJRT_ExecuteOptions.
static keel_status_t execute_program(const probe_child_t *child, PJRT_LoadedExecutable *loaded,
                                     PJRT_Buffer *const *in, PJRT_Buffer **out,
                                     size_t options_size) {
    PJRT_Buffer *const *argument_lists[] = {in};
    PJRT_Buffer **const result_lists[] = {out};
    PJRT_Event *done = NULL;
    PJRT_ExecuteOptions options = {.struct_size = options_size};
    PJRT_LoadedExecutable_Execute_Args args = {KEEL_PJRT_SIZE(PJRT_LoadedExecutable_Execute),
                                               .executable = loaded,
                                               .options = &options,
                                               .argument_lists = argument_lists,
                                               .num_devices = 1,
                                               .num_args = ARGUMENTS,
                                               .output_lists = result_lists,
                                               .device_complete_events = &done};
    KEEL_TRY(KEEL_PJRT_CALL(child->api, PJRT_LoadedExecutable_Execute, args));
    return await_event(child, done);
}

static keel_status_t run_on(const probe_child_t *child, PJRT_Device *device,
                            PJRT_LoadedExecutable *loaded, size_t options_size) {
    // More room than results, in case a plugin writes more of them.
    PJRT_Buffer *in[ARGUMENTS] = {0}, *out[4] = {0};
    for (size_t i = 0; i < ARGUMENTS; ++i)
        KEEL_TRY(to_device(child, device, &arguments[i], &in[i]));
    KEEL_TRY(execute_program(child, loaded, in, out, options_size));
    if (!out[0]) return keel_status_make(KEEL_PLUGIN, "the execution returned no result");
    return check_result(child, out[0]);
}

static keel_status_t run_first(const probe_child_t *child, PJRT_LoadedExecutable *loaded) {
    return run_on(child, child->devices[0], loaded, PJRT_ExecuteOptions_STRUCT_SIZE);
}

// ---- steps -------------------------------------------------------------------------------------

keel_status_t probe_compile(probe_child_t *child) {
    return compile_on(child, child->devices[0], &child->compiled);
}

keel_status_t probe_run(probe_child_t *child) {
    return run_first(child, child->compiled);
}

keel_status_t probe_serialize(probe_child_t *child) {
    PJRT_Executable *executable;
    uint8_t *data;
    KEEL_TRY(keel_pjrt_executable(child->api, child->compiled, &executable));
    KEEL_TRY(keel_pjrt_serialize(child->api, executable, &data, &child->serialized.size));
    child->serialized.data = data;
    return NULL;
}

keel_status_t probe_reload(probe_child_t *child) {
    return keel_pjrt_load(child->api, child->client, child->serialized, keel_bytes("", 0),
                          &child->reloaded);
}

keel_status_t probe_run_again(probe_child_t *child) {
    return run_first(child, child->reloaded);
}

keel_status_t probe_last_device(probe_child_t *child) {
    PJRT_Device *last = child->devices[child->device_count - 1];
    PJRT_LoadedExecutable *loaded = NULL;
    KEEL_TRY(compile_on(child, last, &loaded));
    return run_on(child, last, loaded, PJRT_ExecuteOptions_STRUCT_SIZE);
}

// A client as old as torch_xla 2.9 (PJRT 0.75), through the bridge.
keel_status_t probe_older_client(probe_child_t *child) {
    enum { OPTIONS_SIZE = 80 };
    return run_on(child, child->devices[0], child->compiled, OPTIONS_SIZE);
}
