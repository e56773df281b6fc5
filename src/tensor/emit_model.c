// Strings, attributes, types and instructions of the program.
#include "tensor/emit.h"

// ---- pieces of the model -----------------------------------------------------------------------

keel_status_t emit_text(emitter_t *e, const char *string, keel_string_id_t *out) {
    return keel_program_add_text(e->program, keel_str(string), out);
}

keel_status_t emit_field(emitter_t *e, fields_t *fields, const char *name, keel_attr_id_t attr) {
    KEEL_TRY(emit_text(e, name, &fields->items[fields->count]));
    fields->items[fields->count + 1] = attr;
    fields->count += 2;
    return NULL;
}

keel_status_t emit_int(emitter_t *e, fields_t *fields, const char *name, int64_t value) {
    uint32_t at;
    keel_attr_id_t attr;
    if (!value) return NULL; // a default is left out
    KEEL_TRY(keel_program_add_int(e->program, value, &at));
    KEEL_TRY(keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_INT, .a = KEEL_NONE, .b = at}, &attr));
    return emit_field(e, fields, name, attr);
}

keel_status_t emit_flag(emitter_t *e, fields_t *fields, const char *name) {
    keel_attr_id_t attr;
    KEEL_TRY(
        keel_program_add_attr(e->program, (keel_attr_t){.kind = KEEL_ATTR_BOOL, .a = 1}, &attr));
    return emit_field(e, fields, name, attr);
}

static keel_status_t make_ints(emitter_t *e, const int64_t *items, uint32_t count,
                               keel_attr_id_t *out) {
    uint32_t at;
    KEEL_TRY(keel_program_add_ints(e->program, items, count, &at));
    return keel_program_add_attr(e->program, (keel_attr_t){.kind = KEEL_ATTR_INTS, .b = at}, out);
}

keel_status_t emit_ints(emitter_t *e, fields_t *fields, const char *name, const int64_t *items,
                        uint32_t count) {
    keel_attr_id_t attr;
    if (!count) return NULL;
    KEEL_TRY(make_ints(e, items, count, &attr));
    return emit_field(e, fields, name, attr);
}

keel_status_t emit_string(emitter_t *e, fields_t *fields, const char *name, const char *value) {
    keel_string_id_t id;
    keel_attr_id_t attr;
    KEEL_TRY(emit_text(e, value, &id));
    KEEL_TRY(keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_STRING, .a = id, .b = KEEL_NONE}, &attr));
    return emit_field(e, fields, name, attr);
}

keel_status_t emit_close(emitter_t *e, const fields_t *fields, keel_record_t klass,
                         keel_attr_id_t *out) {
    uint32_t list;
    *out = KEEL_NONE;
    if (!fields->count && klass == KEEL_RECORD_DICTIONARY) return NULL;
    KEEL_TRY(keel_program_add_list(e->program, fields->items, fields->count, &list));
    return keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_DICT, .klass = (uint16_t)klass, .b = list},
        out);
}

keel_status_t emit_message(emitter_t *e, fields_t *fields, const char *name,
                           const fields_t *message) {
    keel_attr_id_t attr;
    KEEL_TRY(emit_close(e, message, KEEL_RECORD_HLO_MESSAGE, &attr));
    return emit_field(e, fields, name, attr);
}

keel_status_t emit_array(emitter_t *e, const uint32_t *items, uint32_t count, keel_attr_id_t *out) {
    uint32_t list;
    KEEL_TRY(keel_program_add_list(e->program, items, count, &list));
    return keel_program_add_attr(e->program, (keel_attr_t){.kind = KEEL_ATTR_ARRAY, .b = list},
                                 out);
}

// ---- types -------------------------------------------------------------------------------------

// Of a complex number, what follows is put in.
static keel_type_t element_type(keel_dtype_t dtype) {
    static const struct {
        uint8_t kind, sign, a;
    } types[KEEL_DTYPE_COUNT] = {
        [KEEL_BOOL] = {KEEL_TYPE_INTEGER, KEEL_SIGNLESS, 1},
        [KEEL_I8] = {KEEL_TYPE_INTEGER, KEEL_SIGNLESS, 8},
        [KEEL_I16] = {KEEL_TYPE_INTEGER, KEEL_SIGNLESS, 16},
        [KEEL_I32] = {KEEL_TYPE_INTEGER, KEEL_SIGNLESS, 32},
        [KEEL_I64] = {KEEL_TYPE_INTEGER, KEEL_SIGNLESS, 64},
        [KEEL_U8] = {KEEL_TYPE_INTEGER, KEEL_UNSIGNED, 8},
        [KEEL_U16] = {KEEL_TYPE_INTEGER, KEEL_UNSIGNED, 16},
        [KEEL_U32] = {KEEL_TYPE_INTEGER, KEEL_UNSIGNED, 32},
        [KEEL_U64] = {KEEL_TYPE_INTEGER, KEEL_UNSIGNED, 64},
        [KEEL_F8E4M3FN] = {KEEL_TYPE_FLOAT, .a = KEEL_FLOAT_F8E4M3FN},
        [KEEL_F8E5M2] = {KEEL_TYPE_FLOAT, .a = KEEL_FLOAT_F8E5M2},
        [KEEL_BF16] = {KEEL_TYPE_FLOAT, .a = KEEL_FLOAT_BF16},
        [KEEL_F16] = {KEEL_TYPE_FLOAT, .a = KEEL_FLOAT_F16},
        [KEEL_F32] = {KEEL_TYPE_FLOAT, .a = KEEL_FLOAT_F32},
        [KEEL_F64] = {KEEL_TYPE_FLOAT, .a = KEEL_FLOAT_F64},
    };
    return (keel_type_t){.kind = types[dtype].kind,
                         .aux = types[dtype].sign,
                         .a = types[dtype].a,
                         .b = KEEL_NONE,
                         .c = KEEL_NONE};
}

keel_status_t emit_type(emitter_t *e, keel_type_t type, keel_type_id_t *out) {
    if (e->program->types.count > UINT16_MAX)
        return keel_status_make(KEEL_UNSUPPORTED, "a step with more than %d shapes", UINT16_MAX);
    *out = e->program->types.count;
    KEEL_PUSH(&e->program->types, type);
    return NULL;
}

static keel_status_t element_of(emitter_t *e, keel_dtype_t dtype, keel_type_id_t *out) {
    keel_type_t type = element_type(dtype);
    if (dtype_is_complex(dtype)) {
        type.kind = KEEL_TYPE_COMPLEX;
        KEEL_TRY(element_of(e, dtype_real(dtype), &type.a));
    }
    if (e->elements[dtype] == KEEL_NONE) KEEL_TRY(emit_type(e, type, &e->elements[dtype]));
    *out = e->elements[dtype];
    return NULL;
}

// Row-major.
static keel_status_t layout_of(emitter_t *e, int32_t rank, keel_attr_id_t *out) {
    if (e->layouts[rank] == KEEL_NONE) {
        int64_t order[KEEL_MAX_RANK];
        fields_t fields = {0};
        for (int32_t i = 0; i < rank; ++i)
            order[i] = rank - 1 - i;
        KEEL_TRY(emit_ints(e, &fields, "minor_to_major", order, (uint32_t)rank));
        KEEL_TRY(emit_close(e, &fields, KEEL_RECORD_HLO_MESSAGE, &e->layouts[rank]));
    }
    *out = e->layouts[rank];
    return NULL;
}

keel_status_t emit_tensor_type(emitter_t *e, keel_dtype_t dtype, const keel_shape_t *shape,
                               keel_type_id_t *out) {
    struct {
        int64_t dtype, rank, dims[KEEL_MAX_RANK];
    } key = {dtype, shape->rank, {0}};
    memcpy(key.dims, shape->dims, (size_t)shape->rank * sizeof *shape->dims);
    const uint64_t *known = keel_map_find(&e->types, keel_bytes(&key, sizeof key));
    if (known) {
        *out = (keel_type_id_t)*known;
        return NULL;
    }
    keel_type_t type = {.kind = KEEL_TYPE_TENSOR};
    KEEL_TRY(element_of(e, dtype, &type.a));
    KEEL_TRY(keel_program_add_ints(e->program, shape->dims, (uint32_t)shape->rank, &type.b));
    KEEL_TRY(layout_of(e, shape->rank, &type.c));
    KEEL_TRY(emit_type(e, type, out));
    return keel_map_put(&e->types, keel_bytes(&key, sizeof key), *out);
}

keel_status_t emit_tuple_type(emitter_t *e, const keel_type_id_t *parts, uint32_t count,
                              keel_type_id_t *out) {
    keel_type_t type = {.kind = KEEL_TYPE_TUPLE, .c = KEEL_NONE};
    keel_bytes_t key = keel_bytes(parts, count * sizeof *parts);
    const uint64_t *known = keel_map_find(&e->tuple_types, key);
    if (known) {
        *out = (keel_type_id_t)*known;
        return NULL;
    }
    KEEL_TRY(keel_program_add_list(e->program, parts, count, &type.b));
    KEEL_TRY(emit_type(e, type, out));
    return keel_map_put(&e->tuple_types, key, *out);
}

keel_status_t emit_results_type(emitter_t *e, const node_t *tuple, keel_type_id_t *out) {
    uint32_t count = trace_result_count(&e->context->trace, tuple);
    void *memory;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof(keel_type_id_t), &memory));
    keel_type_id_t *parts = memory;
    keel_status_t status = NULL;
    for (uint32_t i = 0; i < count && !status; ++i) {
        const result_t result = trace_result(e->context, tuple, i);
        status = emit_tensor_type(e, result.dtype, &result.shape, &parts[i]);
    }
    if (!status) status = emit_tuple_type(e, parts, count, out);
    keel_free(memory);
    return status;
}

// ---- instructions ------------------------------------------------------------------------------

static keel_status_t op_name(emitter_t *e, const char *name, uint16_t *out) {
    keel_bytes_t key = keel_bytes(name, strlen(name));
    const uint64_t *known = keel_map_find(&e->op_names, key);
    if (known) {
        *out = (uint16_t)*known;
        return NULL;
    }
    keel_op_name_t entry = {0};
    *out = (uint16_t)e->program->op_names.count;
    KEEL_TRY(emit_text(e, "hlo", &entry.dialect));
    KEEL_TRY(emit_text(e, name, &entry.name));
    KEEL_PUSH(&e->program->op_names, entry);
    return keel_map_put(&e->op_names, key, *out);
}

// The place of the caller's line with the name of what was written for it.
static keel_status_t locate(emitter_t *e, const char *name, keel_attr_id_t *out) {
    keel_string_id_t id;
    *out = KEEL_NONE;
    if (e->location == KEEL_NONE) return NULL;
    size_t length = e->path.size;
    if (!e->argument) keel_buffer_text(&e->path, name);
    KEEL_TRY(keel_buffer_status(&e->path));
    KEEL_TRY(emit_text(e, e->argument ? name : keel_buffer_cstr(&e->path), &id));
    e->path.size = length;
    return keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_LOC_NAME, .a = id, .b = e->location}, out);
}

keel_status_t emit_typed(emitter_t *e, const char *name, keel_type_id_t type,
                         const keel_value_id_t *operands, uint32_t count, const fields_t *fields,
                         keel_value_id_t *out) {
    keel_program_t *program = e->program;
    fields_t own = fields ? *fields : (fields_t){0};
    keel_operation_t operation = {.first_operand = program->operands.count,
                                  .first_result = program->operations.count,
                                  .result_count = 1};
    KEEL_TRY(op_name(e, name, &operation.name));
    KEEL_TRY(locate(e, e->argument ? e->argument : name, &operation.location));
    if (e->is_manual) KEEL_TRY(emit_manual(e, &own));
    KEEL_TRY(emit_close(e, &own, KEEL_RECORD_DICTIONARY, &operation.attributes));
    for (uint32_t i = 0; i < count; ++i)
        KEEL_PUSH(&program->operands, operands[i]);
    KEEL_PUSH(&program->value_types, (uint16_t)type);
    *out = program->operations.count;
    KEEL_PUSH(&program->operations, operation);
    return NULL;
}

keel_status_t emit_instruction(emitter_t *e, const char *name, keel_dtype_t dtype,
                               const keel_shape_t *shape, const keel_value_id_t *operands,
                               uint32_t count, const fields_t *fields, keel_value_id_t *out) {
    keel_type_id_t type;
    KEEL_TRY(emit_tensor_type(e, dtype, shape, &type));
    return emit_typed(e, name, type, operands, count, fields, out);
}

keel_status_t emit_constant(emitter_t *e, keel_dtype_t dtype, double value, keel_value_id_t *out) {
    static const keel_shape_t scalar = {0};
    fields_t fields = {0};
    uint32_t blob;
    keel_type_id_t type;
    keel_attr_id_t attr;
    void *kept;
    KEEL_TRY(emit_tensor_type(e, dtype, &scalar, &type));
    KEEL_TRY(keel_arena_alloc(&e->program->owned, ELEMENT_BYTES, &kept));
    number_encode(dtype, value, kept);
    KEEL_TRY(keel_program_add_blob(e->program, keel_bytes(kept, keel_dtype_size(dtype)), &blob));
    KEEL_TRY(keel_program_add_attr(
        e->program, (keel_attr_t){.kind = KEEL_ATTR_TENSOR, .a = type, .b = blob}, &attr));
    KEEL_TRY(emit_field(e, &fields, "literal", attr));
    return emit_typed(e, "constant", type, NULL, 0, &fields, out);
}

keel_status_t emit_tuple(emitter_t *e, const keel_value_id_t *values, uint32_t count,
                         keel_value_id_t *out) {
    void *memory;
    keel_type_id_t type;
    KEEL_TRY(keel_calloc((size_t)count + 1, sizeof(keel_type_id_t), &memory));
    keel_type_id_t *parts = memory;
    for (uint32_t i = 0; i < count; ++i)
        parts[i] = e->program->value_types.data[values[i]];
    keel_status_t status = emit_tuple_type(e, parts, count, &type);
    if (!status) status = emit_typed(e, "tuple", type, values, count, NULL, out);
    keel_free(memory);
    return status;
}

keel_status_t emit_part(emitter_t *e, keel_value_id_t tuple, uint32_t which, keel_dtype_t dtype,
                        const keel_shape_t *shape, keel_value_id_t *out) {
    fields_t fields = {0};
    KEEL_TRY(emit_int(e, &fields, "tuple_index", which));
    return emit_instruction(e, "get-tuple-element", dtype, shape, &tuple, 1, &fields, out);
}

keel_status_t emit_parameter(emitter_t *e, uint32_t number, keel_dtype_t dtype,
                             const keel_shape_t *shape, const char *name, const fields_t *more,
                             keel_value_id_t *out) {
    fields_t fields = more ? *more : (fields_t){0};
    KEEL_TRY(emit_int(e, &fields, "parameter_number", number));
    e->argument = name && *name ? name : NULL;
    keel_status_t status = emit_instruction(e, "parameter", dtype, shape, NULL, 0, &fields, out);
    e->argument = NULL;
    return status;
}
