// Modules without what computes: clients ask an executable's optimized module for the layouts and
// shardings of parameters and results. That of a program that was not compiled, and the outline of
// one that was.
//
// Source: xla/service/hlo.proto (HloModuleProtoWithConfig), xla/xla_data.proto.
#include <stdio.h>

#include "signature/signature.h"

enum { WITH_CONFIG_MODULE = 1, WITH_CONFIG_CONFIG = 2 };
enum {
    MODULE_NAME = 1,
    MODULE_ENTRY_NAME = 2,
    MODULE_COMPUTATIONS = 3,
    MODULE_PROGRAM_SHAPE = 4,
    MODULE_ENTRY_ID = 6,
    MODULE_RESULTS_SHARDING = 12,
    MODULE_PARAMETER_SHARDINGS = 14,
};
enum {
    COMPUTATION_NAME = 1,
    COMPUTATION_INSTRUCTIONS = 2,
    COMPUTATION_SHAPE = 4,
    COMPUTATION_ID = 5,
    COMPUTATION_ROOT = 6,
};
enum {
    INSTRUCTION_NAME = 1,
    INSTRUCTION_OPCODE = 2,
    INSTRUCTION_SHAPE = 3,
    INSTRUCTION_PARAMETER = 9,
    INSTRUCTION_TARGET = 28,
    INSTRUCTION_ID = 35,
    INSTRUCTION_OPERANDS = 36,
};
enum { PROGRAM_SHAPE_PARAMETERS = 1, PROGRAM_SHAPE_RESULT = 2, PROGRAM_SHAPE_NAMES = 3 };
enum { SHAPE_ELEMENT = 2, SHAPE_DIMS = 3, SHAPE_TUPLE = 4, SHAPE_LAYOUT = 5, SHAPE_DYNAMIC = 6 };
enum { LAYOUT_MINOR_TO_MAJOR = 1, LAYOUT_TILES = 6, LAYOUT_ELEMENT_BITS = 7 };
enum { LAYOUT_TAIL_PADDING = 16, TILE_DIMS = 1 };
enum { CONFIG_LAYOUT = 1, CONFIG_REPLICAS = 4, CONFIG_PARTITIONS = 5 };
enum { SHARDING_TYPE = 1, SHARDING_TUPLE = 5, TUPLE_SHARDING = 2, TUPLE_ELEMENT = 13 };

static void put_number(keel_buffer_t *out, uint32_t field, uint64_t value) {
    keel_proto_put_number(out, field, KEEL_WIRE_VARINT, value);
}

static void put_text(keel_buffer_t *out, uint32_t field, const char *text) {
    keel_proto_put_bytes(out, field, keel_str_bytes(keel_str(text)));
}

static uint64_t take_number(keel_str_t *text) {
    uint64_t number = 0;
    for (; text->size && keel_is_digit(*text->data); ++text->data, --text->size)
        number = number * 10 + (uint64_t)(*text->data - '0');
    return number;
}

// Packs the numbers of a list in parentheses or up to a mark: "1,0:", "8,128)".
static void put_numbers(keel_str_t *text, uint32_t field, keel_buffer_t *out) {
    size_t packed = keel_proto_open(out, field);
    while (text->size && (keel_is_digit(*text->data) || *text->data == ',')) {
        keel_proto_put_varint(out, take_number(text));
        if (text->size && *text->data == ',') ++text->data, --text->size;
    }
    keel_proto_close(out, packed);
}

static bool skip(keel_str_t *text, const char *mark) {
    keel_str_t wanted = keel_str(mark);
    if (!keel_str_starts(*text, wanted)) return false;
    text->data += wanted.size;
    text->size -= wanted.size;
    return true;
}

// "{1,0:T(8,128)(8,1)E(4)}": tiles, and the bits of an element that is smaller than a byte. What
// else there may be, such as a memory space, is left out.
static void put_told_layout(keel_str_t text, keel_buffer_t *out) {
    skip(&text, "{");
    put_numbers(&text, LAYOUT_MINOR_TO_MAJOR, out);
    skip(&text, ":");
    for (bool is_tiled = skip(&text, "T"); is_tiled && skip(&text, "("); skip(&text, ")")) {
        size_t tile = keel_proto_open(out, LAYOUT_TILES);
        put_numbers(&text, TILE_DIMS, out);
        keel_proto_close(out, tile);
    }
    while (text.size) {
        if (skip(&text, "E("))
            put_number(out, LAYOUT_ELEMENT_BITS, take_number(&text));
        else
            ++text.data, --text.size;
    }
}

static void put_layout(const keel_array_t *array, keel_buffer_t *out) {
    uint32_t rank = array->shard.rank;
    size_t layout = keel_proto_open(out, SHAPE_LAYOUT);
    if (array->layout.size) {
        put_told_layout(array->layout, out);
    } else if (rank) {
        size_t order = keel_proto_open(out, LAYOUT_MINOR_TO_MAJOR);
        for (uint32_t i = rank; i--;)
            keel_proto_put_varint(out, i);
        keel_proto_close(out, order);
    }
    put_number(out, LAYOUT_TAIL_PADDING, 1);
    keel_proto_close(out, layout);
}

// Of the part on each device.
static void put_shape(const keel_array_t *array, keel_buffer_t *out) {
    const keel_array_shape_t *shape = &array->shard;
    put_number(out, SHAPE_ELEMENT, shape->element);
    if (shape->element == KEEL_PRIMITIVE_TOKEN) return;
    if (shape->rank) {
        size_t dims = keel_proto_open(out, SHAPE_DIMS);
        for (uint32_t i = 0; i < shape->rank; ++i)
            keel_proto_put_varint(out, (uint64_t)shape->dims[i]);
        keel_proto_close(out, dims);
    }
    put_layout(array, out);
    if (!shape->rank) return;
    size_t dynamic = keel_proto_open(out, SHAPE_DYNAMIC);
    for (uint32_t i = 0; i < shape->rank; ++i)
        keel_proto_put_varint(out, 0);
    keel_proto_close(out, dynamic);
}

static void put_shape_field(uint32_t field, const keel_array_t *array, keel_buffer_t *out) {
    size_t opened = keel_proto_open(out, field);
    put_shape(array, out);
    keel_proto_close(out, opened);
}

// Of one result, or a tuple of all.
static void put_result_shape(uint32_t field, const keel_signature_t *signature,
                             keel_buffer_t *out) {
    if (signature->result_count == 1) {
        put_shape_field(field, &signature->results[0], out);
        return;
    }
    size_t opened = keel_proto_open(out, field);
    put_number(out, SHAPE_ELEMENT, TUPLE_ELEMENT);
    for (uint32_t i = 0; i < signature->result_count; ++i)
        put_shape_field(SHAPE_TUPLE, &signature->results[i], out);
    keel_proto_close(out, opened);
}

// A ProgramShapeProto.
static void put_program_shape(const keel_signature_t *signature, keel_buffer_t *out) {
    char name[24];
    for (uint32_t i = 0; i < signature->parameter_count; ++i)
        put_shape_field(PROGRAM_SHAPE_PARAMETERS, &signature->parameters[i], out);
    put_result_shape(PROGRAM_SHAPE_RESULT, signature, out);
    for (uint32_t i = 0; i < signature->parameter_count; ++i) {
        snprintf(name, sizeof name, "p%u", i);
        put_text(out, PROGRAM_SHAPE_NAMES, name);
    }
}

static size_t open_instruction(const char *name, const char *opcode, keel_bytes_t shape,
                               uint64_t id, keel_buffer_t *out) {
    size_t opened = keel_proto_open(out, COMPUTATION_INSTRUCTIONS);
    put_text(out, INSTRUCTION_NAME, name);
    put_text(out, INSTRUCTION_OPCODE, opcode);
    keel_proto_put_bytes(out, INSTRUCTION_SHAPE, shape);
    put_number(out, INSTRUCTION_ID, id);
    return opened;
}

// Instructions are numbered from 1: the parameters, then the call that takes them all. `shape` is a
// ProgramShapeProto; false if it has no result.
static bool put_computation(keel_bytes_t shape, const char *target, keel_buffer_t *out) {
    keel_cursor_t cursor = keel_cursor(shape);
    keel_proto_field_t field;
    keel_bytes_t result = {NULL, 0};
    uint64_t count = 0;
    char name[24];
    size_t computation = keel_proto_open(out, MODULE_COMPUTATIONS), opened;
    put_text(out, COMPUTATION_NAME, "main");
    while (keel_proto_next(&cursor, &field)) {
        if (field.wire != KEEL_WIRE_BYTES) continue;
        if (field.number == PROGRAM_SHAPE_RESULT) result = field.bytes;
        if (field.number != PROGRAM_SHAPE_PARAMETERS) continue;
        snprintf(name, sizeof name, "p%llu", (unsigned long long)count);
        opened = open_instruction(name, "parameter", field.bytes, count + 1, out);
        put_number(out, INSTRUCTION_PARAMETER, count++);
        keel_proto_close(out, opened);
    }
    opened = open_instruction(target, "custom-call", result, count + 1, out);
    put_text(out, INSTRUCTION_TARGET, target);
    if (count) {
        size_t operands = keel_proto_open(out, INSTRUCTION_OPERANDS);
        for (uint64_t i = 0; i < count; ++i)
            keel_proto_put_varint(out, i + 1);
        keel_proto_close(out, operands);
    }
    keel_proto_close(out, opened);
    keel_proto_put_bytes(out, COMPUTATION_SHAPE, shape);
    put_number(out, COMPUTATION_ID, 1);
    put_number(out, COMPUTATION_ROOT, count + 1);
    keel_proto_close(out, computation);
    return !cursor.failed && result.size;
}

// All of a module but its name and its shardings.
static bool put_entry(keel_bytes_t shape, const char *target, keel_buffer_t *out) {
    put_text(out, MODULE_ENTRY_NAME, "main");
    keel_proto_put_bytes(out, MODULE_PROGRAM_SHAPE, shape);
    put_number(out, MODULE_ENTRY_ID, 1);
    return put_computation(shape, target, out);
}

static void put_config(keel_bytes_t shape, uint64_t replicas, uint64_t partitions,
                       keel_buffer_t *out) {
    size_t config = keel_proto_open(out, WITH_CONFIG_CONFIG);
    keel_proto_put_bytes(out, CONFIG_LAYOUT, shape);
    put_number(out, CONFIG_REPLICAS, replicas);
    put_number(out, CONFIG_PARTITIONS, partitions);
    keel_proto_close(out, config);
}

// An unset sharding is a replicated one.
static void put_sharding(uint32_t field, const keel_array_t *array, keel_buffer_t *out) {
    keel_proto_put_bytes(out, field, array->sharding);
}

static void put_shardings(const keel_signature_t *signature, keel_buffer_t *out) {
    if (!signature->is_spmd || signature->partitions < 2) return;
    if (signature->result_count == 1) {
        put_sharding(MODULE_RESULTS_SHARDING, &signature->results[0], out);
    } else {
        size_t opened = keel_proto_open(out, MODULE_RESULTS_SHARDING);
        put_number(out, SHARDING_TYPE, TUPLE_SHARDING);
        for (uint32_t i = 0; i < signature->result_count; ++i)
            put_sharding(SHARDING_TUPLE, &signature->results[i], out);
        keel_proto_close(out, opened);
    }
    for (uint32_t i = 0; i < signature->parameter_count; ++i)
        put_sharding(MODULE_PARAMETER_SHARDINGS, &signature->parameters[i], out);
}

void keel_signature_module(const keel_signature_t *signature, keel_buffer_t *out) {
    keel_buffer_t shape;
    keel_buffer_initialize(&shape, 0);
    put_program_shape(signature, &shape);
    size_t module = keel_proto_open(out, WITH_CONFIG_MODULE);
    keel_proto_put_bytes(out, MODULE_NAME, keel_str_bytes(signature->name));
    put_entry(keel_buffer_bytes(&shape), "keel.not_compiled", out);
    put_shardings(signature, out);
    keel_proto_close(out, module);
    put_config(keel_buffer_bytes(&shape), signature->replicas, signature->partitions, out);
    out->failed |= shape.failed;
    keel_buffer_deinitialize(&shape);
}

// ---- of a compiled program ---------------------------------------------------------------------

typedef struct config_t {
    keel_bytes_t shape; // the entry's, a ProgramShapeProto with layouts
    uint64_t replicas, partitions;
} config_t;

static bool read_config(keel_bytes_t bytes, config_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    *out = (config_t){{NULL, 0}, 1, 1};
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == CONFIG_LAYOUT && field.wire == KEEL_WIRE_BYTES)
            out->shape = field.bytes;
        if (field.number == CONFIG_REPLICAS) out->replicas = field.value;
        if (field.number == CONFIG_PARTITIONS) out->partitions = field.value;
    }
    return !cursor.failed && out->shape.size;
}

// False if a field occurs twice or is unknown: protobuf merges the first, and the outline would
// lack the other.
static bool find_parts(keel_bytes_t whole, keel_bytes_t *out_module, keel_bytes_t *out_config) {
    keel_cursor_t cursor = keel_cursor(whole);
    keel_proto_field_t field;
    *out_module = *out_config = (keel_bytes_t){NULL, 0};
    while (keel_proto_next(&cursor, &field)) {
        keel_bytes_t *part = field.number == WITH_CONFIG_MODULE   ? out_module
                             : field.number == WITH_CONFIG_CONFIG ? out_config
                                                                  : NULL;
        if (!part || part->data || field.wire != KEEL_WIRE_BYTES) return false;
        *part = field.bytes;
    }
    return !cursor.failed && out_module->size && out_config->size;
}

static bool copy_name_and_shardings(keel_bytes_t module, keel_buffer_t *out) {
    keel_cursor_t cursor = keel_cursor(module);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field))
        if (field.number == MODULE_NAME || field.number == MODULE_RESULTS_SHARDING ||
            field.number == MODULE_PARAMETER_SHARDINGS)
            keel_buffer_append(out, field.raw.data, field.raw.size);
    return !cursor.failed;
}

keel_status_t keel_signature_outline(keel_bytes_t optimized, keel_buffer_t *out) {
    keel_bytes_t module, config_bytes;
    config_t config;
    bool is_known =
        find_parts(optimized, &module, &config_bytes) && read_config(config_bytes, &config);
    if (is_known) {
        size_t opened = keel_proto_open(out, WITH_CONFIG_MODULE);
        is_known =
            copy_name_and_shardings(module, out) && put_entry(config.shape, "keel.outline", out);
        keel_proto_close(out, opened);
        put_config(config.shape, config.replicas, config.partitions, out);
    }
    if (is_known) return keel_buffer_status(out);
    return keel_status_make(KEEL_UNSUPPORTED, "this optimized program has no outline");
}
