#include "key/sharding.h"

#include "key/symbols.h"

// ---- options -----------------------------------------------------------------------------------

enum { BUILD_OPTIONS = 3, NUM_PARTITIONS = 5, AUTO_SPMD = 7 };

static bool read_build_options(keel_bytes_t bytes, keel_partitioning_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number != NUM_PARTITIONS && field.number != AUTO_SPMD) continue;
        if (field.wire != KEEL_WIRE_VARINT) return false;
        if (field.number == NUM_PARTITIONS) out->partitions = field.value;
        if (field.number == AUTO_SPMD) out->is_searched = field.value != 0;
    }
    return !cursor.failed;
}

static bool read_options(keel_bytes_t bytes, keel_partitioning_t *out) {
    keel_cursor_t cursor = keel_cursor(bytes);
    keel_proto_field_t field;
    while (keel_proto_next(&cursor, &field)) {
        if (field.number != BUILD_OPTIONS) continue;
        if (field.wire != KEEL_WIRE_BYTES || !read_build_options(field.bytes, out)) return false;
    }
    return !cursor.failed;
}

keel_partitioning_t keel_partitioning_of_options(keel_bytes_t options) {
    keel_partitioning_t said = {.partitions = 0};
    if (!read_options(options, &said)) said = (keel_partitioning_t){.is_searched = true};
    return said;
}

bool keel_partitioning_is_none(const keel_partitioning_t *partitioning) {
    return partitioning->partitions == 1 && !partitioning->is_searched;
}

keel_partitioning_t keel_partitioning(const keel_program_t *program, keel_bytes_t options) {
    keel_partitioning_t told = {.partitions = 0};
    if (options.size) return keel_partitioning_of_options(options);
    keel_attr_id_t id = keel_program_dict_find(program, program->attributes, "mhlo.num_partitions");
    if (id == KEEL_NONE || program->attrs.data[id].kind != KEEL_ATTR_INT) return told;
    told.partitions = (uint64_t)program->ints.data[program->attrs.data[id].b];
    return told;
}

// ---- one sharding ------------------------------------------------------------------------------

static bool is_empty_list(const keel_program_t *program, keel_attr_id_t id) {
    if (id == KEEL_NONE) return true;
    const keel_attr_t *attr = &program->attrs.data[id];
    return attr->kind == KEEL_ATTR_ARRAY && keel_program_list(program, attr->b).count == 0;
}

static bool is_record(const keel_program_t *program, keel_attr_id_t id, keel_record_t klass) {
    return id != KEEL_NONE && program->attrs.data[id].kind == KEEL_ATTR_DICT &&
           program->attrs.data[id].klass == klass;
}

// A mesh without axes that names a device puts everything on that device: not replication.
static bool is_mesh_of_all(const keel_canon_t *canon, keel_attr_id_t id) {
    const keel_program_t *program = canon->program;
    if (id == KEEL_NONE) return false;
    const keel_attr_t *attr = &program->attrs.data[id];
    if (attr->kind == KEEL_ATTR_SYMBOL) {
        keel_op_id_t op = keel_symbols_mesh(canon, keel_program_str(program, attr->a));
        if (op == KEEL_NONE) return false;
        id = keel_program_dict_find(program, program->operations.data[op].attributes, "mesh");
    }
    if (!is_record(program, id, KEEL_RECORD_SDY_MESH)) return false;
    if (!is_empty_list(program, keel_program_dict_find(program, id, "axes"))) return true;
    keel_attr_id_t devices = keel_program_dict_find(program, id, "device_ids");
    return devices == KEEL_NONE ||
           (program->attrs.data[devices].kind == KEEL_ATTR_INTS &&
            keel_program_ints(program, program->attrs.data[devices].b).count == 0);
}

// Shardy: no dimension names an axis, and no axis is left unreduced.
static bool is_replicated_tensor(const keel_canon_t *canon, keel_attr_id_t id) {
    const keel_program_t *program = canon->program;
    if (!is_record(program, id, KEEL_RECORD_SDY_SHARDING) ||
        !is_mesh_of_all(canon, keel_program_dict_find(program, id, "mesh")) ||
        !is_empty_list(program, keel_program_dict_find(program, id, "unreduced")))
        return false;
    keel_attr_id_t dimensions = keel_program_dict_find(program, id, "dimensions");
    if (dimensions == KEEL_NONE || program->attrs.data[dimensions].kind != KEEL_ATTR_ARRAY)
        return false;
    keel_list_t list = keel_program_list(program, program->attrs.data[dimensions].b);
    for (uint32_t i = 0; i < list.count; ++i)
        if (!is_empty_list(program, keel_program_dict_find(program, list.items[i], "axes")))
            return false;
    return true;
}

// One for a tensor, or one for each result of an operation.
static bool is_replicated_sdy(const keel_canon_t *canon, keel_attr_id_t id) {
    const keel_program_t *program = canon->program;
    if (!is_record(program, id, KEEL_RECORD_SDY_SHARDING_PER_VALUE))
        return is_replicated_tensor(canon, id);
    keel_attr_id_t shardings = keel_program_dict_find(program, id, "shardings");
    if (shardings == KEEL_NONE || program->attrs.data[shardings].kind != KEEL_ATTR_ARRAY)
        return false;
    keel_list_t list = keel_program_list(program, program->attrs.data[shardings].b);
    for (uint32_t i = 0; i < list.count; ++i)
        if (!is_replicated_tensor(canon, list.items[i])) return false;
    return true;
}

// In HLO's text syntax, or as an OpSharding with only defaults.
static bool is_replicated(const keel_canon_t *canon, keel_attr_id_t value) {
    const keel_program_t *program = canon->program;
    const keel_attr_t *attr = &program->attrs.data[value];
    if (attr->kind == KEEL_ATTR_STRING)
        return keel_str_is(keel_program_str(program, attr->a), "{replicated}");
    if (is_record(program, value, KEEL_RECORD_HLO_MESSAGE))
        return keel_program_list(program, attr->b).count == 0;
    return is_replicated_sdy(canon, value);
}

// Whether a missing entry of that name means an unset sharding.
static bool is_sharding(const keel_canon_t *canon, keel_str_t name) {
    if (canon->is_hlo) return keel_str_is(name, "sharding");
    return keel_str_is(name, "sdy.sharding") || keel_str_is(name, "mhlo.sharding");
}

// ---- the whole program -------------------------------------------------------------------------

enum { NOT_KNOWN, SAYS_NOTHING, SAYS_SOMETHING };

// Entries that may make something sharded, whatever they are attached to.
static bool may_shard(const keel_canon_t *canon, keel_str_t name, keel_attr_id_t value) {
    static const char *const names[] = {"sharding",
                                        "sdy.sharding",
                                        "mhlo.sharding",
                                        "in_shardings",
                                        "out_shardings",
                                        "spmd_output_sharding",
                                        "spmd_parameters_shardings",
                                        "mhlo.spmd_output_sharding",
                                        "mhlo.spmd_parameters_shardings",
                                        "domain_entry_sharding",
                                        "domain_exit_sharding"};
    if (keel_str_starts(name, KEEL_STR("xla.sdy."))) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (keel_str_is(name, names[i])) return !is_replicated(canon, value);
    return false;
}

static bool anything_is_sharded(const keel_canon_t *canon) {
    const keel_program_t *program = canon->program;
    for (keel_attr_id_t id = 0; id < program->attrs.count; ++id) {
        const keel_attr_t *attr = &program->attrs.data[id];
        if (attr->kind != KEEL_ATTR_DICT) continue;
        if (attr->klass == KEEL_RECORD_SDY_AXIS_REF || attr->klass == KEEL_RECORD_AXIS_REF ||
            attr->klass == KEEL_RECORD_SDY_MANUAL_AXES)
            return true;
        keel_list_t pairs = keel_program_list(program, attr->b);
        for (uint32_t i = 0; i + 1 < pairs.count; i += 2)
            if (may_shard(canon, keel_program_str(program, pairs.items[i]), pairs.items[i + 1]))
                return true;
    }
    return false;
}

bool keel_sharding_says_nothing(keel_canon_t *canon, keel_str_t name, keel_attr_id_t value) {
    if (!is_sharding(canon, name) || !is_replicated(canon, value)) return false;
    if (canon->replication == NOT_KNOWN) {
        bool nothing = keel_partitioning_is_none(&canon->partitioning) ||
                       (!canon->partitioning.is_searched && !anything_is_sharded(canon));
        canon->replication = nothing ? SAYS_NOTHING : SAYS_SOMETHING;
    }
    return canon->replication == SAYS_NOTHING;
}
