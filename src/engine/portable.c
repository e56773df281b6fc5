// Programs that were compiled for several replicas and run on one device.
//
// PyTorch/XLA, outside SPMD, compiles for as many replicas as the client has devices and executes
// on one of them, with execute_device and launch id 0. Since some version between PJRT 0.81 and
// 0.106, XLA's CPU plugins start no device of such a launch until all have come, so an execution
// never finishes (seen on 0.106 and 0.115; 0.81 runs it). A program in which no operation can tell
// one replica from another does the same when compiled for one replica and any device: its options
// then ask for that.
#include <stdatomic.h>
#include <stdio.h>

#include "engine/engine.h"
#include "engine/portable.h"

// ---- the program -------------------------------------------------------------------------------

// HLO operations that do the same on each replica. Excluded are collectives, replica-id,
// partition-id, send, recv, infeed, outfeed, and any that nobody has checked. Operations that call
// computations are included, since their computations are checked too; custom calls depend on what
// is known about their target.
static const char *const alike[] = {
    "abs",
    "acos",
    "acosh",
    "add",
    "add-dependency",
    "after-all",
    "and",
    "asin",
    "asinh",
    "async-done",
    "async-start",
    "async-update",
    "atan2",
    "atanh",
    "batch-norm-grad",
    "batch-norm-inference",
    "batch-norm-training",
    "bitcast",
    "bitcast-convert",
    "broadcast",
    "call",
    "cbrt",
    "ceil",
    "cholesky",
    "clamp",
    "compare",
    "complex",
    "concatenate",
    "conditional",
    "constant",
    "convert",
    "convolution",
    "copy",
    "copy-done",
    "copy-start",
    "cosh",
    "cosine",
    "count-leading-zeros",
    "custom-call",
    "divide",
    "dot",
    "dynamic-reshape",
    "dynamic-slice",
    "dynamic-update-slice",
    "erf",
    "exponential",
    "exponential-minus-one",
    "fft",
    "floor",
    "fusion",
    "gather",
    "get-dimension-size",
    "get-tuple-element",
    "imag",
    "iota",
    "is-finite",
    "log",
    "log-plus-one",
    "logistic",
    "map",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "opt-barrier",
    "or",
    "pad",
    "parameter",
    "popcnt",
    "power",
    "ragged-dot",
    "real",
    "reduce",
    "reduce-precision",
    "reduce-window",
    "remainder",
    "reshape",
    "reverse",
    "rng",
    "rng-bit-generator",
    "rng-get-and-update-state",
    "round-nearest-afz",
    "round-nearest-even",
    "rsqrt",
    "scaled-dot",
    "scan",
    "scatter",
    "select",
    "select-and-scatter",
    "set-dimension-size",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "sign",
    "sine",
    "sinh",
    "slice",
    "sort",
    "sqrt",
    "stochastic-convert",
    "subtract",
    "tan",
    "tanh",
    "topk",
    "transpose",
    "triangular-solve",
    "tuple",
    "while",
    "xor",
};

static bool is_alike(keel_str_t opcode) {
    for (size_t i = 0; i < sizeof alike / sizeof *alike; ++i)
        if (keel_str_is(opcode, alike[i])) return true;
    return false;
}

keel_str_t portable_obstacle(const keel_program_t *program) {
    for (uint32_t i = 0; i < program->op_names.count; ++i) {
        keel_str_t opcode = keel_program_str(program, program->op_names.data[i].name);
        if (!is_alike(opcode)) return opcode;
    }
    keel_cacheable_t calls;
    keel_key_cacheable(program, NULL, &calls);
    return calls.yes ? KEEL_STR("") : KEEL_STR("custom-call");
}

// ---- the options -------------------------------------------------------------------------------

// CompileOptionsProto, and ExecutableBuildOptionsProto in it (see key/options.c).
enum { BUILD_OPTIONS = 3, COMPILE_PORTABLE = 4 };
enum {
    NUM_REPLICAS = 4,
    NUM_PARTITIONS = 5,
    USE_SPMD = 6,
    USE_AUTO_SPMD = 7,
    DEVICE_ASSIGNMENT = 9,
    PROCESS_COUNT = 23
};

typedef struct options_t {
    keel_bytes_t build;
    unsigned build_count;
    uint64_t portable, replicas, partitions, spmd, auto_spmd, processes;
    bool understood;
} options_t;

static void read_number(const keel_proto_field_t *field, uint64_t *out, options_t *options) {
    if (field->wire != KEEL_WIRE_VARINT) options->understood = false;
    *out = field->value;
}

static void read_build(options_t *out) {
    keel_cursor_t cursor = keel_cursor(out->build);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == NUM_REPLICAS) read_number(&field, &out->replicas, out);
        if (field.number == NUM_PARTITIONS) read_number(&field, &out->partitions, out);
        if (field.number == USE_SPMD) read_number(&field, &out->spmd, out);
        if (field.number == USE_AUTO_SPMD) read_number(&field, &out->auto_spmd, out);
        if (field.number == PROCESS_COUNT) read_number(&field, &out->processes, out);
    }
    if (cursor.failed) out->understood = false;
}

static options_t read_options(keel_bytes_t bytes) {
    options_t options = {.understood = true};
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == COMPILE_PORTABLE) read_number(&field, &options.portable, &options);
        if (field.number != BUILD_OPTIONS) continue;
        if (field.wire != KEEL_WIRE_BYTES) options.understood = false;
        options.build = field.bytes;
        ++options.build_count;
    }
    // A message in several pieces is merged by protobuf; no known client sends that.
    if (cursor.failed || options.build_count != 1) options.understood = false;
    if (options.understood) read_build(&options);
    return options;
}

uint64_t portable_replicas(keel_bytes_t bytes) {
    options_t options = read_options(bytes);
    bool is_one_program = options.partitions == 1 && !options.spmd && !options.auto_spmd &&
                          !options.portable && options.processes <= 1;
    return options.understood && is_one_program && options.replicas > 1 ? options.replicas : 0;
}

uint64_t portable_devices(keel_bytes_t bytes) {
    options_t options = read_options(bytes);
    return options.understood ? options.replicas * options.partitions : 0;
}

// Copies all fields except the two.
static void put_others(keel_buffer_t *out, keel_bytes_t bytes, uint32_t one, uint32_t other) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field))
        if (field.number != one && field.number != other)
            keel_buffer_append(out, field.raw.data, field.raw.size);
}

keel_status_t portable_options(keel_bytes_t bytes, keel_buffer_t *out) {
    options_t options = read_options(bytes);
    keel_buffer_t build;
    keel_buffer_initialize(&build, 0);
    put_others(&build, options.build, NUM_REPLICAS, DEVICE_ASSIGNMENT);
    keel_proto_put_number(&build, NUM_REPLICAS, KEEL_WIRE_VARINT, 1);
    put_others(out, bytes, BUILD_OPTIONS, COMPILE_PORTABLE);
    keel_proto_put_bytes(out, BUILD_OPTIONS, keel_buffer_bytes(&build));
    keel_proto_put_number(out, COMPILE_PORTABLE, KEEL_WIRE_VARINT, 1);
    keel_status_t status = keel_buffer_status(&build);
    keel_buffer_deinitialize(&build);
    return status ? status : keel_buffer_status(out);
}

// ---- the call ----------------------------------------------------------------------------------

bool portable_is_needed(const char *platform, const PJRT_Api *api) {
    enum { LAST_THAT_RUNS = 81 };
    return strcmp(platform, "cpu") == 0 && api->pjrt_api_version.minor_version > LAST_THAT_RUNS;
}

uint64_t keel_engine_gathered_replicas(const PJRT_Api *api, const PJRT_Client_Compile_Args *args) {
    const PJRT_Program *program = args->program;
    bool is_hlo = program && program->format && program->format_size == 3 &&
                  memcmp(program->format, "hlo", 3) == 0;
    PJRT_Client_PlatformName_Args name = {.struct_size = PJRT_Client_PlatformName_Args_STRUCT_SIZE,
                                          .client = args->client};
    if (!is_hlo || !args->compile_options) return 0;
    keel_status_t status = keel_pjrt_status(api, api->PJRT_Client_PlatformName(&name), "platform");
    bool is_known = !status && name.platform_name_size == 3;
    keel_status_ignore(status);
    if (!is_known || memcmp(name.platform_name, "cpu", 3) != 0) return 0;
    if (!portable_is_needed("cpu", api)) return 0;
    return portable_replicas(keel_bytes(args->compile_options, args->compile_options_size));
}
