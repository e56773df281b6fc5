#include "read/mlir_older.h"

struct keel_mlir_added_t {
    const char *name;          // of the operation in VHLO
    keel_mlir_name_t property; // NO_NAME: it may have regions
    uint8_t kind; // of the property; for a bool, false says nothing, for an array no items
    bool is_list; // it also takes several operands
};

static const keel_mlir_added_t all_added[] = {
    {"collective_broadcast_v2", KEEL_MLIR_has_dynamic_root, KEEL_ATTR_BOOL, true},
    {"composite_v2", KEEL_MLIR_NO_NAME, KEEL_ATTR_NONE, false},
    {"custom_call_v2", KEEL_MLIR_result_tilings, KEEL_ATTR_ARRAY, false},
};

static const keel_mlir_added_t *added_by(const keel_mlir_t *m, uint32_t number) {
    const keel_mlir_op_t *op = m->ops.data[number].op;
    keel_str_t dialect = keel_program_str(m->program, m->program->op_names.data[number].dialect);
    if (!op || keel_mlir_dialect(dialect) != KEEL_MLIR_VHLO) return NULL;
    for (size_t i = 0; i < sizeof all_added / sizeof *all_added; ++i)
        if (strcmp(all_added[i].name, op->name) == 0) return &all_added[i];
    return NULL;
}

keel_status_t keel_mlir_name_older(keel_mlir_t *m) {
    for (uint32_t i = 0; i < m->ops.count; ++i) {
        keel_mlir_op_entry_t *entry = &m->ops.data[i];
        entry->added = added_by(m, i);
        if (!entry->added) continue;
        keel_op_name_t older = m->program->op_names.data[i];
        --older.version;
        entry->older = m->program->op_names.count;
        KEEL_MLIR_PUSH(&m->program->op_names, older);
    }
    return NULL;
}

static bool says_nothing(const keel_program_t *program, const keel_operation_t *operation,
                         const keel_mlir_added_t *added) {
    if (added->is_list && operation->result_count != 1) return false;
    if (added->property == KEEL_MLIR_NO_NAME) return !(operation->name & KEEL_OP_HAS_REGIONS);
    const keel_attr_t *attr =
        keel_program_attr(program, keel_program_dict_find(program, operation->attributes,
                                                          keel_mlir_name(added->property)));
    if (attr->kind != added->kind) return attr->kind == KEEL_ATTR_NONE;
    return attr->kind == KEEL_ATTR_BOOL ? !attr->a : !keel_program_list(program, attr->b).count;
}

keel_status_t keel_mlir_make_older(keel_mlir_merger_t *merger, uint32_t number,
                                   keel_operation_t *operation) {
    const keel_mlir_op_entry_t *entry = &merger->m->ops.data[number];
    if (!entry->added || !says_nothing(merger->m->program, operation, entry->added)) return NULL;
    unsigned regions = operation->name & (unsigned)KEEL_OP_HAS_REGIONS;
    operation->name = (uint16_t)(entry->older | regions);
    if (entry->added->property == KEEL_MLIR_NO_NAME || operation->attributes == KEEL_NONE)
        return NULL;
    return keel_mlir_merge_without(merger, entry->older, operation->attributes,
                                   entry->added->property, &operation->attributes);
}
