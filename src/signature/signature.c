// Reads the entry function's parameters and results.
#include "signature/internal.h"

// Field numbers of CompileOptionsProto, ExecutableBuildOptionsProto (xla/pjrt/proto and xla/client)
// and DeviceAssignmentProto.
enum { BUILD_OPTIONS = 3 };
enum {
    NUM_REPLICAS = 4,
    NUM_PARTITIONS = 5,
    SPMD_PARTITIONING = 6,
    AUTO_SPMD_PARTITIONING = 7,
    DEVICE_ASSIGNMENT = 9,
    PROPAGATES_TO_RESULTS = 12,
    PROPAGATES_TO_PARAMETERS = 18,
};
enum { COMPUTATION_DEVICES = 3, REPLICA_DEVICES = 1 };
enum { MOST_DEVICES = 1 << 20 };

// ---- shapes ------------------------------------------------------------------------------------

unsigned keel_primitive_bits(keel_primitive_t primitive) {
    switch (primitive) {
#define PRIMITIVE_BITS(number, name, bits)                                                         \
    case KEEL_PRIMITIVE_##name:                                                                    \
        return bits;
        KEEL_PRIMITIVES(PRIMITIVE_BITS)
#undef PRIMITIVE_BITS
        default:
            return 0;
    }
}

bool keel_array_shape_equal(const keel_array_shape_t *a, const keel_array_shape_t *b) {
    return a->element == b->element && a->rank == b->rank &&
           (!a->rank || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

uint64_t keel_shape_count(const keel_array_shape_t *shape) {
    uint64_t count = 1;
    for (uint32_t i = 0; i < shape->rank; ++i) {
        if (shape->dims[i] <= 0) return 0;
        if (count > INT64_MAX / (uint64_t)shape->dims[i]) return 0;
        count *= (uint64_t)shape->dims[i];
    }
    return count;
}

uint64_t keel_shape_bytes(const keel_array_shape_t *shape) {
    uint64_t count = keel_shape_count(shape), bits = keel_primitive_bits(shape->element);
    if (bits >= 8) return count > INT64_MAX / (bits / 8) ? 0 : count * (bits / 8);
    return (count / 8) * bits + (count % 8 * bits + 7) / 8;
}

// ---- types -------------------------------------------------------------------------------------

static keel_primitive_t primitive_of_integer(const keel_type_t *type) {
    bool is_unsigned = type->aux == KEEL_UNSIGNED;
    switch (type->a) {
        case 1:
            return KEEL_PRIMITIVE_PRED;
        case 2:
            return is_unsigned ? KEEL_PRIMITIVE_U2 : KEEL_PRIMITIVE_S2;
        case 4:
            return is_unsigned ? KEEL_PRIMITIVE_U4 : KEEL_PRIMITIVE_S4;
        case 8:
            return is_unsigned ? KEEL_PRIMITIVE_U8 : KEEL_PRIMITIVE_S8;
        case 16:
            return is_unsigned ? KEEL_PRIMITIVE_U16 : KEEL_PRIMITIVE_S16;
        case 32:
            return is_unsigned ? KEEL_PRIMITIVE_U32 : KEEL_PRIMITIVE_S32;
        case 64:
            return is_unsigned ? KEEL_PRIMITIVE_U64 : KEEL_PRIMITIVE_S64;
        default:
            return KEEL_PRIMITIVE_INVALID;
    }
}

static keel_primitive_t primitive_of_float(uint32_t kind) {
    static const keel_primitive_t primitives[KEEL_FLOAT_COUNT] = {
        [KEEL_FLOAT_BF16] = KEEL_PRIMITIVE_BF16,
        [KEEL_FLOAT_F16] = KEEL_PRIMITIVE_F16,
        [KEEL_FLOAT_F32] = KEEL_PRIMITIVE_F32,
        [KEEL_FLOAT_F64] = KEEL_PRIMITIVE_F64,
        [KEEL_FLOAT_F8E5M2] = KEEL_PRIMITIVE_F8E5M2,
        [KEEL_FLOAT_F8E4M3] = KEEL_PRIMITIVE_F8E4M3,
        [KEEL_FLOAT_F8E4M3FN] = KEEL_PRIMITIVE_F8E4M3FN,
        [KEEL_FLOAT_F8E5M2FNUZ] = KEEL_PRIMITIVE_F8E5M2FNUZ,
        [KEEL_FLOAT_F8E4M3FNUZ] = KEEL_PRIMITIVE_F8E4M3FNUZ,
        [KEEL_FLOAT_F8E4M3B11FNUZ] = KEEL_PRIMITIVE_F8E4M3B11FNUZ,
        [KEEL_FLOAT_F8E3M4] = KEEL_PRIMITIVE_F8E3M4,
        [KEEL_FLOAT_F4E2M1FN] = KEEL_PRIMITIVE_F4E2M1FN,
        [KEEL_FLOAT_F8E8M0FNU] = KEEL_PRIMITIVE_F8E8M0FNU,
    };
    return kind < KEEL_FLOAT_COUNT ? primitives[kind] : KEEL_PRIMITIVE_INVALID;
}

static keel_primitive_t primitive_of(const keel_program_t *program, keel_type_id_t id) {
    const keel_type_t *type = keel_program_type(program, id);
    if (type->kind == KEEL_TYPE_INTEGER) return primitive_of_integer(type);
    if (type->kind == KEEL_TYPE_FLOAT) return primitive_of_float(type->a);
    if (type->kind != KEEL_TYPE_COMPLEX) return KEEL_PRIMITIVE_INVALID;
    keel_primitive_t part = primitive_of(program, type->a);
    if (part == KEEL_PRIMITIVE_F32) return KEEL_PRIMITIVE_C64;
    return part == KEEL_PRIMITIVE_F64 ? KEEL_PRIMITIVE_C128 : KEEL_PRIMITIVE_INVALID;
}

// ---- reading -----------------------------------------------------------------------------------

typedef struct reading_t {
    const keel_program_t *program;
    keel_signature_t *signature;
    keel_bytes_t to_results, to_parameters; // packed bools: the compiler may shard this one
    bool is_auto;                           // it may shard all, of itself
} reading_t;

keel_status_t signature_keep(keel_signature_t *signature, keel_bytes_t bytes, keel_bytes_t *out) {
    keel_str_t kept;
    KEEL_TRY(keel_arena_str(&signature->arena, keel_bytes_str(bytes), &kept));
    *out = keel_str_bytes(kept);
    return NULL;
}

static keel_status_t no_array(const char *what, uint32_t index) {
    return keel_status_make(KEEL_UNSUPPORTED, "%s %u is not an array of known size", what, index);
}

static keel_status_t read_shape(const reading_t *reading, keel_type_id_t id, const char *what,
                                uint32_t index, keel_array_shape_t *out) {
    const keel_program_t *program = reading->program;
    const keel_type_t *type = keel_program_type(program, id);
    *out = (keel_array_shape_t){.element = KEEL_PRIMITIVE_TOKEN};
    if (type->kind == KEEL_TYPE_TOKEN) return NULL;
    if (type->kind != KEEL_TYPE_TENSOR && type->kind != KEEL_TYPE_BUFFER)
        return no_array(what, index);
    keel_ints_t dims = keel_program_ints(program, type->b);
    out->element = primitive_of(program, type->a);
    out->rank = dims.count;
    bool known = out->element != KEEL_PRIMITIVE_INVALID;
    void *memory;
    KEEL_TRY(keel_arena_array(&reading->signature->arena, (size_t)dims.count + 1, sizeof *out->dims,
                              &memory));
    int64_t *copy = memory;
    for (uint32_t i = 0; i < dims.count; ++i) {
        known = known && dims.items[i] >= 0;
        copy[i] = dims.items[i];
    }
    out->dims = copy;
    return known ? NULL : no_array(what, index);
}

// The part of the array on each device.
keel_status_t signature_cut(keel_signature_t *signature, keel_array_t *array) {
    array->shard = array->whole;
    if (!signature->is_spmd || !array->sharding.size || !array->whole.rank) return NULL;
    void *memory;
    uint32_t rank = array->whole.rank;
    KEEL_TRY(keel_arena_array(&signature->arena, rank, 2 * sizeof(int64_t), &memory));
    int64_t *dims = memory, *parts = dims + rank;
    KEEL_TRY(keel_sharding_parts(array->sharding, rank, parts));
    for (uint32_t i = 0; i < rank; ++i)
        dims[i] = array->whole.dims[i] / parts[i] + (array->whole.dims[i] % parts[i] != 0);
    array->shard.dims = dims;
    return NULL;
}

static keel_str_t text_of(const keel_program_t *program, keel_attr_id_t dict, const char *name) {
    const keel_attr_t *attr =
        keel_program_attr(program, keel_program_dict_find(program, dict, name));
    return keel_program_str(program, attr->kind == KEEL_ATTR_STRING ? attr->a : KEEL_NONE);
}

// Shardy lets the compiler add axes to a dimension that is not closed.
static bool is_closed(const keel_program_t *program, keel_attr_id_t sharding) {
    const keel_attr_t *attr = keel_program_attr(program, sharding);
    if (attr->kind != KEEL_ATTR_DICT || attr->klass != KEEL_RECORD_SDY_SHARDING) return true;
    keel_list_t dims =
        keel_program_array(program, keel_program_dict_find(program, sharding, "dimensions"));
    for (uint32_t i = 0; i < dims.count; ++i) {
        const keel_attr_t *closed =
            keel_program_attr(program, keel_program_dict_find(program, dims.items[i], "is_closed"));
        if (closed->kind != KEEL_ATTR_BOOL || !closed->a) return false;
    }
    return true;
}

static keel_status_t take_sharding(reading_t *reading, keel_attr_id_t sharding,
                                   keel_array_t *array) {
    keel_buffer_t bytes;
    keel_buffer_initialize(&bytes, 0);
    keel_status_t status = keel_sharding_write(reading->program, sharding, &bytes);
    if (!status) status = keel_buffer_status(&bytes);
    if (!status)
        status = signature_keep(reading->signature, keel_buffer_bytes(&bytes), &array->sharding);
    keel_buffer_deinitialize(&bytes);
    return status;
}

// One bool for each, or one for all; none: false.
static bool is_set(keel_bytes_t bools, uint32_t index) {
    if (!bools.size) return false;
    return bools.data[index < bools.size ? index : bools.size - 1] != 0;
}

static keel_status_t read_sharding(reading_t *reading, keel_attr_id_t sharding, bool propagates,
                                   keel_array_t *array) {
    keel_signature_t *signature = reading->signature;
    if (sharding != KEEL_NONE) KEEL_TRY(take_sharding(reading, sharding, array));
    array->settled = !signature->is_spmd || signature->partitions < 2 || !array->whole.rank ||
                     (sharding != KEEL_NONE ? is_closed(reading->program, sharding) : !propagates);
    return signature_cut(signature, array);
}

// ---- MLIR --------------------------------------------------------------------------------------

static keel_status_t read_array(reading_t *reading, keel_type_id_t type, keel_attr_id_t attributes,
                                bool is_parameter, uint32_t index, keel_array_t *array) {
    const keel_program_t *program = reading->program;
    KEEL_TRY(
        read_shape(reading, type, is_parameter ? "parameter" : "result", index, &array->whole));
    keel_str_t memory = text_of(program, attributes, "mhlo.memory_kind");
    KEEL_TRY(keel_arena_str(&reading->signature->arena, memory, &array->memory));
    array->donated =
        keel_program_dict_find(program, attributes, "tf.aliasing_output") != KEEL_NONE ||
        keel_program_dict_find(program, attributes, "jax.buffer_donor") != KEEL_NONE;
    keel_str_t layout = text_of(program, attributes, "mhlo.layout_mode");
    if (keel_str_starts(layout, KEEL_STR("{")))
        KEEL_TRY(keel_arena_str(&reading->signature->arena, layout, &array->layout));
    keel_attr_id_t sharding = keel_program_dict_find(program, attributes, "sdy.sharding");
    if (sharding == KEEL_NONE)
        sharding = keel_program_dict_find(program, attributes, "mhlo.sharding");
    // Shardy propagates to every result that says nothing.
    bool propagates = !is_parameter || is_set(reading->to_parameters, index);
    return read_sharding(reading, sharding, propagates, array);
}

static keel_attr_id_t item_of(const keel_program_t *program, keel_attr_id_t list, uint32_t index) {
    keel_list_t items = keel_program_array(program, list);
    return index < items.count ? items.items[index] : KEEL_NONE;
}

static keel_status_t make_arrays(keel_signature_t *signature, uint32_t count, keel_array_t **out) {
    void *memory;
    KEEL_TRY(keel_arena_array(&signature->arena, (size_t)count + 1, sizeof **out, &memory));
    memset(memory, 0, ((size_t)count + 1) * sizeof **out);
    *out = memory;
    return NULL;
}

static keel_status_t read_mlir(reading_t *reading) {
    const keel_program_t *program = reading->program;
    keel_signature_t *signature = reading->signature;
    const keel_function_t *entry = &program->functions.data[program->entry];
    const keel_type_t *type = keel_program_type(program, entry->type);
    if (type->kind != KEEL_TYPE_FUNCTION)
        return keel_status_make(KEEL_UNSUPPORTED, "the entry function has no type");
    keel_list_t parameters = keel_program_list(program, type->b),
                results = keel_program_list(program, type->c);
    KEEL_TRY(make_arrays(signature, parameters.count, &signature->parameters));
    KEEL_TRY(make_arrays(signature, results.count, &signature->results));
    signature->parameter_count = parameters.count;
    signature->result_count = results.count;
    for (uint32_t i = 0; i < parameters.count; ++i)
        KEEL_TRY(read_array(reading, parameters.items[i],
                            item_of(program, entry->argument_attributes, i), true, i,
                            &signature->parameters[i]));
    for (uint32_t i = 0; i < results.count; ++i)
        KEEL_TRY(read_array(reading, results.items[i],
                            item_of(program, entry->result_attributes, i), false, i,
                            &signature->results[i]));
    return NULL;
}

// ---- HLO ---------------------------------------------------------------------------------------

// Marks the parameters that results take the memory of, or may take.
static void note_donations(reading_t *reading, const char *attribute) {
    const keel_program_t *program = reading->program;
    keel_signature_t *signature = reading->signature;
    keel_attr_id_t message = keel_program_dict_find(program, program->attributes, attribute);
    keel_list_t entries =
        keel_program_array(program, keel_program_dict_find(program, message, "entries"));
    for (uint32_t i = 0; i < entries.count; ++i) {
        int64_t number = keel_program_number(
            program, keel_program_dict_find(program, entries.items[i], "parameter_number"), 0);
        if (number >= 0 && number < signature->parameter_count)
            signature->parameters[number].donated = true;
    }
}

static bool is_parameter(const keel_program_t *program, keel_op_id_t op) {
    return keel_str_is(keel_program_str(program, keel_program_op_name(program, op)->name),
                       "parameter");
}

static keel_status_t read_hlo_parameters(reading_t *reading, const keel_block_t *body) {
    const keel_program_t *program = reading->program;
    keel_signature_t *signature = reading->signature;
    for (keel_op_id_t op = body->first_op; op < body->end_op; op = keel_program_next(program, op))
        signature->parameter_count += is_parameter(program, op);
    KEEL_TRY(make_arrays(signature, signature->parameter_count, &signature->parameters));
    for (keel_op_id_t op = body->first_op; op < body->end_op; op = keel_program_next(program, op)) {
        if (!is_parameter(program, op)) continue;
        keel_attr_id_t attributes = program->operations.data[op].attributes;
        int64_t number = keel_program_number(
            program, keel_program_dict_find(program, attributes, "parameter_number"), 0);
        if (number < 0 || number >= signature->parameter_count)
            return keel_status_make(KEEL_UNSUPPORTED, "a parameter with number %lld",
                                    (long long)number);
        keel_array_t *array = &signature->parameters[number];
        keel_value_id_t value = program->operations.data[op].first_result;
        KEEL_TRY(read_shape(reading, keel_program_value_type(program, value), "parameter",
                            (uint32_t)number, &array->whole));
        KEEL_TRY(read_sharding(reading, keel_program_dict_find(program, attributes, "sharding"),
                               is_set(reading->to_parameters, (uint32_t)number), array));
    }
    note_donations(reading, "input_output_alias");
    note_donations(reading, "buffer_donor");
    return NULL;
}

// The sharding of each result: of the root, which is a tuple or the only result.
static keel_attr_id_t hlo_sharding(const keel_program_t *program, keel_op_id_t root, bool is_tuple,
                                   uint32_t index) {
    keel_attr_id_t sharding =
        keel_program_dict_find(program, program->operations.data[root].attributes, "sharding");
    if (!is_tuple || sharding == KEEL_NONE) return sharding;
    return item_of(program, keel_program_dict_find(program, sharding, "tuple_shardings"), index);
}

static keel_status_t read_hlo_results(reading_t *reading, keel_op_id_t root) {
    const keel_program_t *program = reading->program;
    keel_signature_t *signature = reading->signature;
    keel_type_id_t whole =
        keel_program_value_type(program, program->operations.data[root].first_result);
    const keel_type_t *type = keel_program_type(program, whole);
    bool is_tuple = type->kind == KEEL_TYPE_TUPLE;
    keel_list_t parts = is_tuple ? keel_program_list(program, type->b) : (keel_list_t){&whole, 1};
    KEEL_TRY(make_arrays(signature, parts.count, &signature->results));
    signature->result_count = parts.count;
    for (uint32_t i = 0; i < parts.count; ++i) {
        keel_array_t *array = &signature->results[i];
        KEEL_TRY(read_shape(reading, parts.items[i], "result", i, &array->whole));
        KEEL_TRY(read_sharding(reading, hlo_sharding(program, root, is_tuple, i), true, array));
    }
    return NULL;
}

static keel_status_t read_hlo(reading_t *reading) {
    const keel_program_t *program = reading->program;
    const keel_block_t *body = keel_program_body(program, program->entry);
    uint32_t root = program->functions.data[program->entry].root;
    if (!body || root == KEEL_NONE)
        return keel_status_make(KEEL_UNSUPPORTED, "the entry computation has no root");
    KEEL_TRY(read_hlo_parameters(reading, body));
    return read_hlo_results(reading, root);
}

// ---- options -----------------------------------------------------------------------------------

static keel_status_t unread_options(void) {
    return keel_status_make(KEEL_UNSUPPORTED, "the compile options are not understood");
}

// The ids in order of (replica, partition); the message has them by partition.
static keel_status_t read_devices(keel_signature_t *signature, keel_bytes_t assignment) {
    uint64_t count = (uint64_t)signature->replicas * signature->partitions;
    if (count > MOST_DEVICES) return unread_options();
    void *memory;
    KEEL_TRY(keel_arena_array(&signature->arena, (size_t)count + 1, sizeof(int64_t), &memory));
    int64_t *devices = memory;
    uint32_t partition = 0, told = 0;
    keel_cursor_t cursor = keel_cursor(assignment);
    keel_proto_field_t field, item;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number != COMPUTATION_DEVICES || field.wire != KEEL_WIRE_BYTES) continue;
        keel_cursor_t inner = keel_cursor(field.bytes);
        uint32_t replica = 0;
        while (keel_proto_next(&inner, &item)) {
            if (item.number != REPLICA_DEVICES) continue;
            keel_cursor_t run = keel_cursor(item.bytes);
            bool single = item.wire == KEEL_WIRE_VARINT;
            while (single || (!run.failed && keel_cursor_left(&run))) {
                int64_t device = (int64_t)(single ? item.value : keel_proto_varint(&run));
                if (replica < signature->replicas && partition < signature->partitions) {
                    devices[replica * signature->partitions + partition] = device;
                    ++told;
                }
                ++replica;
                if (single) break;
            }
        }
        ++partition;
    }
    if (cursor.failed) return unread_options();
    if (told == count) signature->devices = devices;
    return NULL;
}

static keel_bytes_t bools_of(const keel_proto_field_t *field) {
    static const uint8_t yes[] = {1}, no[] = {0};
    if (field->wire == KEEL_WIRE_BYTES) return field->bytes;
    return keel_bytes(field->value ? yes : no, 1);
}

static keel_status_t read_options(reading_t *reading, keel_bytes_t options) {
    keel_signature_t *signature = reading->signature;
    keel_cursor_t cursor = keel_cursor(options);
    keel_proto_field_t field;
    keel_bytes_t build = {NULL, 0}, assignment = {NULL, 0};
    while (keel_proto_next(&cursor, &field))
        if (field.number == BUILD_OPTIONS && field.wire == KEEL_WIRE_BYTES) build = field.bytes;
    if (cursor.failed) return unread_options();
    cursor = keel_cursor(build);
    while (keel_proto_next(&cursor, &field)) {
        if (field.number == NUM_REPLICAS) signature->replicas = (uint32_t)field.value;
        if (field.number == NUM_PARTITIONS) signature->partitions = (uint32_t)field.value;
        if (field.number == SPMD_PARTITIONING) signature->is_spmd = field.value != 0;
        if (field.number == AUTO_SPMD_PARTITIONING) reading->is_auto = field.value != 0;
        if (field.number == DEVICE_ASSIGNMENT) assignment = field.bytes;
        if (field.number == PROPAGATES_TO_RESULTS) reading->to_results = bools_of(&field);
        if (field.number == PROPAGATES_TO_PARAMETERS) reading->to_parameters = bools_of(&field);
    }
    if (cursor.failed) return unread_options();
    if (!signature->replicas) signature->replicas = 1;
    if (!signature->partitions) signature->partitions = 1;
    return assignment.size ? read_devices(signature, assignment) : NULL;
}

static keel_status_t read_signature(reading_t *reading, keel_bytes_t options) {
    const keel_program_t *program = reading->program;
    keel_signature_t *signature = reading->signature;
    KEEL_TRY(read_options(reading, options));
    KEEL_TRY(keel_arena_str(&signature->arena, keel_program_str(program, program->name),
                            &signature->name));
    if (program->entry >= program->functions.count)
        return keel_status_make(KEEL_UNSUPPORTED, "the program has no entry function");
    if (program->format == KEEL_FORMAT_HLO) return read_hlo(reading);
    KEEL_TRY(read_mlir(reading));
    signature->is_apart = signature->is_spmd && signature->partitions > 1 && !reading->is_auto &&
                          !signature_has_shardings(program);
    if (signature->is_apart) signature_settle_apart(signature);
    return NULL;
}

keel_status_t keel_signature_read(const keel_program_t *program, keel_bytes_t options,
                                  keel_signature_t *out) {
    *out = (keel_signature_t){.replicas = 1, .partitions = 1};
    keel_arena_initialize(&out->arena, 0);
    reading_t reading = {.program = program, .signature = out};
    keel_status_t status = read_signature(&reading, options);
    if (status) keel_signature_deinitialize(out);
    return status;
}

void keel_signature_deinitialize(keel_signature_t *signature) {
    keel_arena_deinitialize(&signature->arena);
    *signature = (keel_signature_t){0};
}
