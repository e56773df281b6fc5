// An sdy.manual_computation for one device: each shard's parts of the operands are slices, the
// region is written once for each shard, and the results are concatenated.
#include "needs/emit.h"

typedef struct manual_t {
    needs_manual_t shape;
    keel_op_id_t op;
    keel_value_id_t *made; // by each shard, of the result that is put together
} manual_t;

// ---- operations that the program did not have --------------------------------------------------

static keel_status_t use_name(needs_emit_t *e, const char *text, uint32_t *inout) {
    keel_op_name_t name = {.version = 1};
    if (*inout != KEEL_NONE) return NULL;
    *inout = e->to->op_names.count;
    if (*inout >= KEEL_OP_HAS_REGIONS)
        return keel_status_make(KEEL_UNSUPPORTED, "more than %d names of operations",
                                KEEL_OP_HAS_REGIONS);
    KEEL_TRY(keel_program_add_text(e->to, KEEL_STR("vhlo"), &name.dialect));
    KEEL_TRY(keel_program_add_text(e->to, keel_str(text), &name.name));
    KEEL_PUSH(&e->to->op_names, name);
    return NULL;
}

static keel_status_t new_type(needs_emit_t *e, keel_type_t type, keel_type_id_t *out) {
    *out = e->to->types.count;
    KEEL_PUSH(&e->to->types, type);
    return NULL;
}

// Where it is in the source is where the whole operation is.
static keel_status_t begin(needs_emit_t *e, const manual_t *manual, uint32_t name) {
    enum { OPERATIONS_MOST = 1 << 20 };
    if (e->to->operations.count > OPERATIONS_MOST)
        return keel_status_make(KEEL_UNSUPPORTED, "more than %d operations", OPERATIONS_MOST);
    KEEL_TRY(needs_emit_like(e, manual->op));
    keel_operation_t *operation = &e->to->operations.data[e->to->operations.count - 1];
    operation->name = (uint16_t)name;
    operation->attributes = KEEL_NONE;
    return NULL;
}

static keel_status_t finish(needs_emit_t *e, keel_attr_id_t attributes, keel_type_id_t type,
                            keel_value_id_t *out) {
    keel_operation_t *operation = &e->to->operations.data[e->to->operations.count - 1];
    operation->attributes = attributes;
    operation->result_count = 1;
    return needs_new_value(e, type, out);
}

// A tensor of one dimension.
static keel_status_t add_numbers(needs_emit_t *e, const int64_t *numbers, uint32_t count,
                                 keel_type_id_t element, const char *name, keel_attr_id_t *inout) {
    int64_t dims = count;
    keel_type_t type = {.kind = KEEL_TYPE_TENSOR, .a = element, .c = KEEL_NONE};
    keel_attr_t attr = {.kind = KEEL_ATTR_TENSOR};
    keel_attr_id_t id;
    void *kept;
    size_t size = count * sizeof *numbers;
    KEEL_TRY(keel_program_add_ints(e->to, &dims, 1, &type.b));
    KEEL_TRY(new_type(e, type, &attr.a));
    KEEL_TRY(keel_arena_alloc(&e->to->owned, size + 1, &kept));
    if (size) memcpy(kept, numbers, size);
    KEEL_TRY(keel_program_add_blob(e->to, keel_bytes(kept, size), &attr.b));
    KEEL_TRY(needs_new_attr(e, attr, &id));
    return needs_set_entry(e, inout, name, id);
}

static const keel_type_t i64 = {.kind = KEEL_TYPE_INTEGER, .a = 64, .b = KEEL_NONE, .c = KEEL_NONE};

static keel_status_t emit_slice(needs_emit_t *e, const manual_t *manual, uint32_t shard,
                                keel_attr_id_t sharding, keel_value_id_t whole, keel_type_id_t type,
                                keel_value_id_t *out) {
    keel_ints_t dims = needs_dims(e->from, type);
    int64_t first[NEEDS_RANK], end[NEEDS_RANK], strides[NEEDS_RANK], parts;
    keel_attr_id_t attributes = KEEL_NONE;
    keel_type_id_t element;
    for (uint32_t i = 0; i < dims.count; ++i) {
        int64_t place = needs_manual_place(e->needs, &manual->shape, sharding, i, shard, &parts);
        first[i] = place * dims.items[i];
        end[i] = first[i] + dims.items[i];
        strides[i] = 1;
    }
    KEEL_TRY(use_name(e, "slice", &e->slice));
    KEEL_TRY(new_type(e, i64, &element));
    KEEL_TRY(add_numbers(e, end, dims.count, element, "limit_indices", &attributes));
    KEEL_TRY(add_numbers(e, first, dims.count, element, "start_indices", &attributes));
    KEEL_TRY(add_numbers(e, strides, dims.count, element, "strides", &attributes));
    KEEL_TRY(begin(e, manual, e->slice));
    KEEL_PUSH(&e->to->operands, whole);
    return finish(e, attributes, type, out);
}

// ---- results -----------------------------------------------------------------------------------

typedef struct join_t {
    const manual_t *manual;
    keel_attr_id_t sharding;
    keel_type_id_t whole;
    uint32_t rank;
    int64_t place[NEEDS_RANK], parts[NEEDS_RANK];
} join_t;

// The first shard that makes the part at that place. (Others make the same.)
static uint32_t find_shard(const needs_emit_t *e, const join_t *join) {
    int64_t parts;
    for (uint32_t shard = 0; shard < join->manual->shape.shards; ++shard) {
        uint32_t i = 0;
        while (i < join->rank && needs_manual_place(e->needs, &join->manual->shape, join->sharding,
                                                    i, shard, &parts) == join->place[i])
            ++i;
        if (i == join->rank) return shard;
    }
    return 0; // each place has its shard, since all axes of the sharding are used
}

// Whole from this dimension on, but for the dimensions before.
static keel_status_t type_from(needs_emit_t *e, const join_t *join, uint32_t dimension,
                               keel_type_id_t *out) {
    int64_t dims[NEEDS_RANK];
    bool is_whole = true;
    keel_type_t type = *keel_program_type(e->from, join->whole);
    keel_ints_t wholes = needs_dims(e->from, join->whole);
    for (uint32_t i = 0; i < join->rank; ++i) {
        dims[i] = wholes.items[i] / (i < dimension ? join->parts[i] : 1);
        is_whole = is_whole && dims[i] == wholes.items[i];
    }
    *out = join->whole;
    if (is_whole) return NULL;
    KEEL_TRY(keel_program_add_ints(e->to, dims, join->rank, &type.b));
    return new_type(e, type, out);
}

// The parts at join->place in the dimensions before, put together. No deeper than the rank.
static keel_status_t emit_join(needs_emit_t *e, join_t *join, uint32_t dimension,
                               keel_value_id_t *out) {
    keel_value_id_t made[NEEDS_SHARDS] = {0};
    keel_attr_t number = {.kind = KEEL_ATTR_INT};
    keel_attr_id_t attributes = KEEL_NONE, id;
    keel_type_id_t type;
    if (dimension == join->rank) {
        *out = join->manual->made[find_shard(e, join)];
        return NULL;
    }
    for (int64_t i = 0; i < join->parts[dimension]; ++i) {
        join->place[dimension] = i;
        KEEL_TRY(emit_join(e, join, dimension + 1, &made[i]));
    }
    *out = made[0];
    if (join->parts[dimension] == 1) return NULL;
    KEEL_TRY(use_name(e, "concatenate", &e->join));
    KEEL_TRY(new_type(e, i64, &number.a));
    KEEL_TRY(keel_program_add_int(e->to, dimension, &number.b));
    KEEL_TRY(needs_new_attr(e, number, &id));
    KEEL_TRY(needs_set_entry(e, &attributes, "dimension", id));
    KEEL_TRY(type_from(e, join, dimension, &type));
    KEEL_TRY(begin(e, join->manual, e->join));
    for (int64_t i = 0; i < join->parts[dimension]; ++i)
        KEEL_PUSH(&e->to->operands, made[i]);
    return finish(e, attributes, type, out);
}

static keel_status_t emit_result(needs_emit_t *e, const manual_t *manual, uint32_t result,
                                 keel_value_id_t *out) {
    keel_value_id_t value = e->from->operations.data[manual->op].first_result + result;
    join_t join = {.manual = manual,
                   .sharding = manual->shape.out.items[result],
                   .whole = e->from->value_types.data[value]};
    join.rank = needs_dims(e->from, join.whole).count;
    for (uint32_t i = 0; i < join.rank; ++i)
        needs_manual_place(e->needs, &manual->shape, join.sharding, i, 0, &join.parts[i]);
    return emit_join(e, &join, 0, out);
}

// ---- shards ------------------------------------------------------------------------------------

static keel_status_t emit_parts(needs_emit_t *e, const manual_t *manual, uint32_t shard) {
    const keel_block_t *block = needs_block(e->needs, manual->op, 0);
    keel_list_t operands = keel_program_operands(e->from, manual->op);
    for (uint32_t i = 0; i < operands.count; ++i) {
        keel_value_id_t part = block->first_argument + i;
        keel_attr_id_t sharding = manual->shape.in.items[i];
        if (!needs_is_needed(e->needs, e->part, part, 0)) continue;
        KEEL_TRY(needs_emit_find(e, operands.items[i], &e->values[part]));
        if (needs_manual_cuts(e->needs, &manual->shape, sharding))
            KEEL_TRY(emit_slice(e, manual, shard, sharding, e->values[part],
                                e->from->value_types.data[part], &e->values[part]));
    }
    return NULL;
}

static keel_status_t emit_shard(needs_emit_t *e, const manual_t *manual, uint32_t shard) {
    const keel_block_t *block = needs_block(e->needs, manual->op, 0);
    keel_list_t returned = needs_returned(e->needs, block);
    keel_value_id_t first = e->from->operations.data[manual->op].first_result;
    keel_op_id_t last = e->needs->lasts[block - e->from->blocks.data];
    KEEL_TRY(emit_parts(e, manual, shard));
    KEEL_TRY(needs_emit_range(e, block->first_op, last));
    for (uint32_t i = 0; i < returned.count; ++i)
        if (needs_is_needed(e->needs, e->part, first + i, 0))
            KEEL_TRY(needs_emit_find(e, returned.items[i],
                                     &manual->made[i * manual->shape.shards + shard]));
    return NULL;
}

static keel_status_t emit_all(needs_emit_t *e, manual_t *manual) {
    keel_value_id_t first = e->from->operations.data[manual->op].first_result;
    keel_value_id_t *made = manual->made;
    for (uint32_t shard = 0; shard < manual->shape.shards; ++shard)
        KEEL_TRY(emit_shard(e, manual, shard));
    for (uint32_t i = 0; i < manual->shape.out.count; ++i) {
        manual->made = made + (size_t)i * manual->shape.shards;
        if (needs_is_needed(e->needs, e->part, first + i, 0))
            KEEL_TRY(emit_result(e, manual, i, &e->values[first + i]));
    }
    return NULL;
}

keel_status_t needs_emit_manual(needs_emit_t *e, keel_op_id_t op) {
    manual_t manual = {.op = op};
    uint32_t copies = e->copies;
    void *memory;
    if (!needs_manual_part(e->needs, e->part, op, &manual.shape) ||
        copies * manual.shape.shards > NEEDS_SHARDS)
        return keel_status_make(KEEL_UNSUPPORTED, "a manual computation on more than %d devices",
                                NEEDS_SHARDS);
    size_t count = (size_t)manual.shape.out.count * manual.shape.shards;
    KEEL_TRY(keel_arena_array(&e->needs->arena, count, sizeof *manual.made, &memory));
    manual.made = memory;
    e->copies = copies * manual.shape.shards;
    keel_status_t status = emit_all(e, &manual);
    e->copies = copies;
    return status;
}
