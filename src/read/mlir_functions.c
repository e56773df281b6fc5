#include "read/mlir_functions.h"

#include "read/mlir_merge.h"

static keel_status_t damaged_function(keel_op_id_t op, const char *what) {
    return keel_status_make(KEEL_CORRUPT, "operation %u: a function without its %s", op, what);
}

// The attribute of that name if it has that kind, otherwise KEEL_NONE.
static keel_attr_id_t find_attribute(const keel_program_t *program, keel_attr_id_t dictionary,
                                     keel_mlir_name_t name, keel_attr_kind_t kind) {
    keel_attr_id_t id = keel_program_dict_find(program, dictionary, keel_mlir_name(name));
    return id != KEEL_NONE && program->attrs.data[id].kind == kind ? id : KEEL_NONE;
}

keel_status_t keel_mlir_set_module(keel_mlir_t *m, keel_attr_id_t attributes) {
    const keel_mlir_name_t names[] = {KEEL_MLIR_sym_name};
    keel_program_t *program = m->program;
    keel_attr_id_t name = find_attribute(program, attributes, KEEL_MLIR_sym_name, KEEL_ATTR_STRING);
    if (name == KEEL_NONE) {
        program->attributes = attributes;
        return NULL;
    }
    program->name = program->attrs.data[name].a;
    return keel_mlir_without(m, attributes, names, 1, &program->attributes);
}

// An array of dictionaries, one for each argument or result; *out stays NONE if it is empty.
static bool take_dictionaries(const keel_program_t *program, keel_attr_id_t dictionary,
                              keel_mlir_name_t name, uint32_t expected, keel_attr_id_t *out) {
    keel_attr_id_t id = keel_program_dict_find(program, dictionary, keel_mlir_name(name));
    *out = KEEL_NONE;
    if (id == KEEL_NONE) return true;
    if (program->attrs.data[id].kind != KEEL_ATTR_ARRAY) return false;
    keel_list_t items = keel_program_list(program, program->attrs.data[id].b);
    if (items.count == 0) return true;
    for (uint32_t i = 0; i < items.count; ++i) {
        const keel_attr_t *item = &program->attrs.data[items.items[i]];
        if (item->kind != KEEL_ATTR_DICT || item->klass) return false;
    }
    *out = id;
    return items.count == expected;
}

keel_status_t keel_mlir_add_function(keel_mlir_t *m, keel_op_id_t op, keel_attr_id_t attributes,
                                     uint32_t region) {
    const keel_mlir_name_t names[] = {KEEL_MLIR_arg_attrs, KEEL_MLIR_function_type,
                                      KEEL_MLIR_res_attrs, KEEL_MLIR_sym_name,
                                      KEEL_MLIR_sym_visibility};
    keel_program_t *program = m->program;
    keel_function_t function = {.operation = op,
                                .region = region,
                                .root = KEEL_NONE,
                                .is_public = true,
                                .first_value = program->value_types.count};
    keel_attr_id_t name = find_attribute(program, attributes, KEEL_MLIR_sym_name, KEEL_ATTR_STRING);
    keel_attr_id_t type =
        find_attribute(program, attributes, KEEL_MLIR_function_type, KEEL_ATTR_TYPE);
    keel_attr_id_t visibility =
        find_attribute(program, attributes, KEEL_MLIR_sym_visibility, KEEL_ATTR_STRING);
    if (name == KEEL_NONE) return damaged_function(op, "name");
    if (type == KEEL_NONE) return damaged_function(op, "type");
    function.name = program->attrs.data[name].a;
    function.type = program->attrs.data[type].a;
    const keel_type_t *signature = &program->types.data[function.type];
    if (signature->kind != KEEL_TYPE_FUNCTION) return damaged_function(op, "type");
    if (visibility != KEEL_NONE)
        function.is_public =
            !keel_str_is(keel_program_str(program, program->attrs.data[visibility].a), "private");
    if (!take_dictionaries(program, attributes, KEEL_MLIR_arg_attrs,
                           keel_program_list(program, signature->b).count,
                           &function.argument_attributes) ||
        !take_dictionaries(program, attributes, KEEL_MLIR_res_attrs,
                           keel_program_list(program, signature->c).count,
                           &function.result_attributes))
        return damaged_function(op, "dictionaries of arguments and results");
    KEEL_TRY(keel_mlir_without(m, attributes, names, sizeof names / sizeof *names,
                               &function.attributes));
    KEEL_MLIR_PUSH(&program->functions, function);
    return NULL;
}

// Users of a program may rely on the arguments matching the type.
keel_status_t keel_mlir_end_function(keel_mlir_t *m) {
    keel_program_t *program = m->program;
    keel_function_t *function = &program->functions.data[program->functions.count - 1];
    const keel_region_t *region = &program->regions.data[function->region];
    function->end_value = program->value_types.count;
    if (region->block_count != 1) return damaged_function(function->operation, "body");
    const keel_block_t *block = &program->blocks.data[region->first_block];
    keel_list_t inputs = keel_program_list(program, program->types.data[function->type].b);
    if (inputs.count != block->argument_count)
        return damaged_function(function->operation, "arguments");
    for (uint32_t i = 0; i < inputs.count; ++i)
        if (program->value_types.data[block->first_argument + i] != inputs.items[i])
            return damaged_function(function->operation, "arguments");
    return NULL;
}

void keel_mlir_find_entry(keel_mlir_t *m) {
    keel_program_t *program = m->program;
    program->entry = keel_program_function(program, KEEL_STR("main"));
    if (program->entry == KEEL_NONE && program->functions.count == 1) program->entry = 0;
}
