// The module of a program that was not compiled: clients ask an executable's optimized module for
// the layouts and shardings of parameters and results.
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
enum { LAYOUT_MINOR_TO_MAJOR = 1, LAYOUT_TILES = 6, LAYOUT_TAIL_PADDING = 16, TILE_DIMS = 1 };
enum { CONFIG_LAYOUT = 1, CONFIG_REPLICAS = 4, CONFIG_PARTITIONS = 5 };
enum { SHARDING_TYPE = 1, SHARDING_TUPLE = 5, TUPLE_SHARDING = 2, TUPLE_ELEMENT = 13 };

static void put_number(keel_buffer_t *out, uint32_t field, uint64_t value) {
    keel_proto_put_number(out, field, KEEL_WIRE_VARINT, value);
}

static void put_text(keel_buffer_t *out, uint32_t field, const char *text) {
    keel_proto_put_bytes(out, field, keel_str_bytes(keel_str(text)));
}

// Packs the numbers of a list in parentheses or up to a mark: "1,0:", "8,128)".
static void put_numbers(keel_str_t *text, uint32_t field, keel_buffer_t *out) {
    size_t packed = keel_proto_open(out, field);
    while (text->size && (keel_is_digit(*text->data) || *text->data == ',')) {
        uint64_t number = 0;
        for (; text->size && keel_is_digit(*text->data); ++text->data, --text->size)
            number = number * 10 + (uint64_t)(*text->data - '0');
        keel_proto_put_varint(out, number);
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

// "{1,0:T(8,128)(2,1)}"; what follows tiles, such as a memory space, is left out.
static void put_told_layout(keel_str_t text, keel_buffer_t *out) {
    skip(&text, "{");
    put_numbers(&text, LAYOUT_MINOR_TO_MAJOR, out);
    if (!skip(&text, ":T")) return;
    while (skip(&text, "(")) {
        size_t tile = keel_proto_open(out, LAYOUT_TILES);
        put_numbers(&text, TILE_DIMS, out);
        keel_proto_close(out, tile);
        skip(&text, ")");
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

static void put_program_shape(uint32_t field, const keel_signature_t *signature,
                              keel_buffer_t *out) {
    char name[24];
    size_t opened = keel_proto_open(out, field);
    for (uint32_t i = 0; i < signature->parameter_count; ++i)
        put_shape_field(PROGRAM_SHAPE_PARAMETERS, &signature->parameters[i], out);
    put_result_shape(PROGRAM_SHAPE_RESULT, signature, out);
    for (uint32_t i = 0; i < signature->parameter_count; ++i) {
        snprintf(name, sizeof name, "p%u", i);
        put_text(out, PROGRAM_SHAPE_NAMES, name);
    }
    keel_proto_close(out, opened);
}

// Instructions are numbered from 1: the parameters, then the call that takes them all.
static void put_computation(const keel_signature_t *signature, keel_buffer_t *out) {
    uint32_t count = signature->parameter_count;
    char name[24];
    size_t computation = keel_proto_open(out, MODULE_COMPUTATIONS), opened;
    put_text(out, COMPUTATION_NAME, "main");
    for (uint32_t i = 0; i < count; ++i) {
        snprintf(name, sizeof name, "p%u", i);
        opened = keel_proto_open(out, COMPUTATION_INSTRUCTIONS);
        put_text(out, INSTRUCTION_NAME, name);
        put_text(out, INSTRUCTION_OPCODE, "parameter");
        put_shape_field(INSTRUCTION_SHAPE, &signature->parameters[i], out);
        put_number(out, INSTRUCTION_PARAMETER, i);
        put_number(out, INSTRUCTION_ID, i + 1);
        keel_proto_close(out, opened);
    }
    opened = keel_proto_open(out, COMPUTATION_INSTRUCTIONS);
    put_text(out, INSTRUCTION_NAME, "not_compiled");
    put_text(out, INSTRUCTION_OPCODE, "custom-call");
    put_result_shape(INSTRUCTION_SHAPE, signature, out);
    put_text(out, INSTRUCTION_TARGET, "keel.not_compiled");
    put_number(out, INSTRUCTION_ID, count + 1);
    if (count) {
        size_t operands = keel_proto_open(out, INSTRUCTION_OPERANDS);
        for (uint32_t i = 0; i < count; ++i)
            keel_proto_put_varint(out, i + 1);
        keel_proto_close(out, operands);
    }
    keel_proto_close(out, opened);
    put_program_shape(COMPUTATION_SHAPE, signature, out);
    put_number(out, COMPUTATION_ID, 1);
    put_number(out, COMPUTATION_ROOT, count + 1);
    keel_proto_close(out, computation);
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
    size_t module = keel_proto_open(out, WITH_CONFIG_MODULE);
    keel_proto_put_bytes(out, MODULE_NAME, keel_str_bytes(signature->name));
    put_text(out, MODULE_ENTRY_NAME, "main");
    put_computation(signature, out);
    put_program_shape(MODULE_PROGRAM_SHAPE, signature, out);
    put_number(out, MODULE_ENTRY_ID, 1);
    put_shardings(signature, out);
    keel_proto_close(out, module);
    size_t config = keel_proto_open(out, WITH_CONFIG_CONFIG);
    put_program_shape(CONFIG_LAYOUT, signature, out);
    put_number(out, CONFIG_REPLICAS, signature->replicas);
    put_number(out, CONFIG_PARTITIONS, signature->partitions);
    keel_proto_close(out, config);
}
