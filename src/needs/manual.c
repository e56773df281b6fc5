// sdy.manual_computation: a region that each device runs on its own parts of the operands, as
// jax.pmap and shard_map make it. What in it depends on no other device is the same computation
// once for each part, so one device can do them all, one after the other.
//
// Source: openxla/shardy ops.td (ManualComputationOp). Only manual axes cut; a dimension that is
// sharded on other axes too is whole within the region.
#include "needs/internal.h"

static keel_attr_id_t field(const keel_program_t *program, keel_attr_id_t dict, const char *name) {
    return keel_program_dict_find(program, dict, name);
}

static keel_list_t list(const keel_program_t *program, keel_attr_id_t dict, const char *name) {
    return keel_program_array(program, field(program, dict, name));
}

static keel_str_t text(const keel_program_t *program, keel_attr_id_t id) {
    const keel_attr_t *attr = keel_program_attr(program, id);
    bool is_text = attr->kind == KEEL_ATTR_STRING || attr->kind == KEEL_ATTR_SYMBOL;
    return keel_program_str(program, is_text ? attr->a : KEEL_NONE);
}

// ---- axes --------------------------------------------------------------------------------------

// The mesh that a sharding names or holds; NONE if there is none.
static keel_attr_id_t find_mesh(const keel_program_t *program, keel_attr_id_t id) {
    if (keel_program_attr(program, id)->klass == KEEL_RECORD_SDY_MESH) return id;
    keel_str_t name = text(program, id);
    uint32_t all = keel_program_op_count(program);
    for (keel_op_id_t op = 0; name.size && op < all; op = keel_program_next(program, op)) {
        keel_attr_id_t attributes = program->operations.data[op].attributes;
        keel_attr_id_t mesh = field(program, attributes, "mesh");
        if (mesh != KEEL_NONE &&
            keel_str_equal(text(program, field(program, attributes, "sym_name")), name))
            return mesh;
    }
    return KEEL_NONE;
}

static bool is_manual(const keel_program_t *program, keel_list_t names, keel_attr_id_t name) {
    for (uint32_t i = 0; i < names.count; ++i)
        if (keel_str_equal(text(program, names.items[i]), text(program, name))) return true;
    return false;
}

// The axes of the mesh of all its shardings.
static bool find_axes(const keel_program_t *program, keel_attr_id_t sharding, keel_list_t names,
                      needs_manual_t *out) {
    keel_list_t axes = list(program, find_mesh(program, field(program, sharding, "mesh")), "axes");
    if (axes.count > NEEDS_AXES) return false;
    int64_t devices = 1;
    out->axes = axes;
    for (uint32_t i = 0; i < axes.count; ++i) {
        needs_axis_t *axis = &out->axis[i];
        axis->size = keel_program_number(program, field(program, axes.items[i], "size"), 0);
        axis->is_manual = is_manual(program, names, field(program, axes.items[i], "name"));
        axis->is_used = false;
        if (axis->size < 1 || axis->size > NEEDS_MESH / devices) return false;
        devices *= axis->size;
    }
    return true;
}

// Which axis a sharding refers to; NONE if the mesh lacks it, or if it is a part of one.
static uint32_t axis_of(const keel_program_t *program, const needs_manual_t *manual,
                        keel_attr_id_t reference) {
    keel_str_t name = text(program, field(program, reference, "name"));
    if (field(program, reference, "sub_axis_info") != KEEL_NONE) return KEEL_NONE;
    for (uint32_t i = 0; i < manual->axes.count; ++i)
        if (keel_str_equal(text(program, field(program, manual->axes.items[i], "name")), name))
            return i;
    return KEEL_NONE;
}

static keel_list_t axes_of_dimension(const keel_program_t *program, keel_attr_id_t sharding,
                                     uint32_t dimension) {
    keel_list_t dimensions = list(program, sharding, "dimensions");
    return list(program, dimension < dimensions.count ? dimensions.items[dimension] : KEEL_NONE,
                "axes");
}

// ---- parts of values ---------------------------------------------------------------------------

keel_ints_t needs_dims(const keel_program_t *program, keel_type_id_t id) {
    const keel_type_t *type = keel_program_type(program, id);
    return keel_program_ints(program, type->kind == KEEL_TYPE_TENSOR ? type->b : KEEL_NONE);
}

int64_t needs_manual_place(const keel_needs_t *needs, const needs_manual_t *manual,
                           keel_attr_id_t sharding, uint32_t dimension, uint32_t shard,
                           int64_t *out_parts) {
    keel_list_t axes = axes_of_dimension(needs->program, sharding, dimension);
    int64_t at[NEEDS_AXES], place = 0;
    for (uint32_t i = manual->axes.count; i--;) {
        const needs_axis_t *axis = &manual->axis[i];
        at[i] = axis->is_used ? shard % axis->size : 0;
        if (axis->is_used) shard /= (uint32_t)axis->size;
    }
    *out_parts = 1;
    for (uint32_t i = 0; i < axes.count; ++i) {
        uint32_t axis = axis_of(needs->program, manual, axes.items[i]);
        if (axis == KEEL_NONE || !manual->axis[axis].is_manual) continue;
        place = place * manual->axis[axis].size + at[axis];
        *out_parts *= manual->axis[axis].size;
    }
    return place;
}

// Each axis of a dimension is known, and used for the first time in its sharding.
static bool are_known(const keel_program_t *program, const needs_manual_t *manual, keel_list_t axes,
                      uint32_t *inout_used) {
    for (uint32_t i = 0; i < axes.count; ++i) {
        uint32_t axis = axis_of(program, manual, axes.items[i]);
        if (axis == KEEL_NONE || *inout_used >> axis & 1) return false;
        *inout_used |= 1u << axis;
    }
    return true;
}

// Each dimension has as many equal parts as its sharding says.
static bool is_cut(const keel_needs_t *needs, const needs_manual_t *manual, keel_attr_id_t sharding,
                   keel_value_id_t whole, keel_value_id_t part) {
    const keel_program_t *program = needs->program;
    keel_ints_t wholes = needs_dims(program, program->value_types.data[whole]);
    keel_ints_t parts = needs_dims(program, program->value_types.data[part]);
    keel_list_t dimensions = list(program, sharding, "dimensions");
    uint32_t used = 0;
    if (wholes.count != parts.count || dimensions.count != wholes.count ||
        wholes.count > NEEDS_RANK || list(program, sharding, "unreduced").count)
        return false;
    for (uint32_t i = 0; i < wholes.count; ++i) {
        int64_t count;
        if (!are_known(program, manual, axes_of_dimension(program, sharding, i), &used))
            return false;
        needs_manual_place(needs, manual, sharding, i, 0, &count);
        if (wholes.items[i] < 0 || wholes.items[i] % count ||
            parts.items[i] != wholes.items[i] / count)
            return false;
    }
    return true;
}

bool needs_manual_is_cut(const keel_needs_t *needs, keel_op_id_t op, const needs_manual_t *manual) {
    const keel_block_t *block = needs_block(needs, op, 0);
    keel_list_t operands = keel_program_operands(needs->program, op);
    keel_list_t returned = needs_returned(needs, block);
    keel_value_id_t first = needs->program->operations.data[op].first_result;
    for (uint32_t i = 0; i < operands.count; ++i)
        if (!is_cut(needs, manual, manual->in.items[i], operands.items[i],
                    block->first_argument + i))
            return false;
    for (uint32_t i = 0; i < returned.count; ++i)
        if (!is_cut(needs, manual, manual->out.items[i], first + i, returned.items[i]))
            return false;
    return true;
}

bool needs_manual(const keel_needs_t *needs, keel_op_id_t op, needs_manual_t *out) {
    const keel_program_t *program = needs->program;
    const keel_operation_t *operation = &program->operations.data[op];
    keel_attr_id_t dict = operation->attributes;
    out->in = list(program, field(program, dict, "in_shardings"), "shardings");
    out->out = list(program, field(program, dict, "out_shardings"), "shardings");
    if (out->in.count != keel_program_operands(program, op).count ||
        out->out.count != operation->result_count || !out->out.count)
        return false;
    keel_list_t names = list(program, field(program, dict, "manual_axes"), "axes");
    return find_axes(program, out->out.items[0], names, out);
}

// ---- what a part of a program needs of it ------------------------------------------------------

static void use_axes(const keel_needs_t *needs, keel_attr_id_t sharding, needs_manual_t *inout) {
    keel_list_t dimensions = list(needs->program, sharding, "dimensions");
    for (uint32_t i = 0; i < dimensions.count; ++i) {
        keel_list_t axes = axes_of_dimension(needs->program, sharding, i);
        for (uint32_t j = 0; j < axes.count; ++j) {
            needs_axis_t *axis = &inout->axis[axis_of(needs->program, inout, axes.items[j])];
            axis->is_used = axis->is_manual;
        }
    }
}

bool needs_manual_part(const keel_needs_t *needs, const needs_part_t *part, keel_op_id_t op,
                       needs_manual_t *out) {
    const keel_block_t *block = needs_block(needs, op, 0);
    keel_value_id_t first = needs->program->operations.data[op].first_result;
    if (!needs_manual(needs, op, out)) return false;
    for (uint32_t i = 0; i < out->in.count; ++i)
        if (needs_is_needed(needs, part, block->first_argument + i, 0))
            use_axes(needs, out->in.items[i], out);
    for (uint32_t i = 0; i < out->out.count; ++i)
        if (needs_is_needed(needs, part, first + i, 0)) use_axes(needs, out->out.items[i], out);
    out->shards = 1;
    for (uint32_t i = 0; i < out->axes.count; ++i) {
        if (!out->axis[i].is_used) continue;
        out->shards *= (uint32_t)out->axis[i].size;
        if (out->axis[i].size > NEEDS_SHARDS || out->shards > NEEDS_SHARDS) return false;
    }
    return true;
}

// Each dimension is put together from what the earlier ones leave apart.
static uint32_t count_joins(const keel_needs_t *needs, const needs_manual_t *manual,
                            keel_attr_id_t sharding) {
    uint32_t dimensions = list(needs->program, sharding, "dimensions").count, count = 0;
    int64_t before = 1, parts;
    for (uint32_t i = 0; i < dimensions; ++i) {
        needs_manual_place(needs, manual, sharding, i, 0, &parts);
        if (parts > 1) count += (uint32_t)before;
        before *= parts;
    }
    return count;
}

bool needs_manual_cuts(const keel_needs_t *needs, const needs_manual_t *manual,
                       keel_attr_id_t sharding) {
    return count_joins(needs, manual, sharding);
}

uint32_t needs_manual_operations(const keel_needs_t *needs, const needs_part_t *part,
                                 keel_op_id_t op, const needs_manual_t *manual) {
    const keel_block_t *block = needs_block(needs, op, 0);
    keel_value_id_t first = needs->program->operations.data[op].first_result;
    uint32_t count = 0;
    for (uint32_t i = 0; i < manual->in.count; ++i)
        if (needs_is_needed(needs, part, block->first_argument + i, 0) &&
            needs_manual_cuts(needs, manual, manual->in.items[i]))
            count += manual->shards;
    for (uint32_t i = 0; i < manual->out.count; ++i)
        if (needs_is_needed(needs, part, first + i, 0))
            count += count_joins(needs, manual, manual->out.items[i]);
    return count;
}
