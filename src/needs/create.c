#include "needs/internal.h"

static keel_status_t invalid(const char *what) {
    return keel_status_make(KEEL_INVALID, "a program with %s", what);
}

static keel_status_t find_facts(keel_needs_t *needs) {
    const keel_program_t *program = needs->program;
    void *facts;
    KEEL_TRY(keel_calloc(program->op_names.count, sizeof *needs->facts, &facts));
    needs->facts = facts;
    for (uint32_t i = 0; i < program->op_names.count; ++i)
        needs->facts[i] = needs_fact(keel_program_str(program, program->op_names.data[i].name));
    return NULL;
}

// ---- MLIR --------------------------------------------------------------------------------------

static bool is_return(const keel_needs_t *needs, keel_op_id_t op) {
    const needs_fact_t *fact = needs_fact_of(needs, op);
    return fact && strcmp(fact->name, "return") == 0 &&
           !needs->program->operations.data[op].result_count;
}

// The operations of a block follow each other without a gap.
static keel_status_t check_block(const keel_needs_t *needs, const keel_block_t *block) {
    const keel_program_t *program = needs->program;
    if (block->first_op > block->end_op || block->end_op > keel_program_op_count(program) ||
        block->first_argument > program->value_types.count ||
        block->argument_count > program->value_types.count - block->first_argument)
        return invalid("a block beyond its operations or values");
    for (keel_op_id_t op = block->first_op; op < block->end_op;) {
        keel_op_id_t next = keel_program_next(program, op);
        if (next <= op || next > block->end_op) return invalid("an operation beyond its block");
        needs->lasts[block - program->blocks.data] = op;
        op = next;
    }
    return NULL;
}

static keel_status_t check_region(const keel_needs_t *needs, const keel_region_t *region) {
    const keel_program_t *program = needs->program;
    if (region->block_count > program->blocks.count ||
        region->first_block > program->blocks.count - region->block_count)
        return invalid("a region beyond its blocks");
    for (uint32_t i = 0; i < region->block_count; ++i) {
        const keel_block_t *block = &program->blocks.data[region->first_block + i];
        if ((!needs->is_hlo && block->first_op <= region->parent) || block->end_op > region->end)
            return invalid("a block beyond its region");
        KEEL_TRY(check_block(needs, block));
    }
    return NULL;
}

static keel_status_t note_makers(keel_needs_t *needs) {
    const keel_program_t *program = needs->program;
    void *makers;
    KEEL_TRY(keel_alloc((program->value_types.count + (size_t)1) * sizeof *needs->makers, &makers));
    needs->makers = memset(makers, 0xff, program->value_types.count * sizeof *needs->makers);
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op) {
        const keel_operation_t *operation = &program->operations.data[op];
        if (operation->first_result > program->value_types.count ||
            operation->result_count > program->value_types.count - operation->first_result)
            return invalid("an operation beyond its values");
        for (uint32_t i = 0; i < operation->result_count; ++i)
            needs->makers[operation->first_result + i] = op;
    }
    return NULL;
}

// Once: a manual computation of all weights has thousands of values, and each result is asked
// about.
static keel_status_t note_manuals(keel_needs_t *needs) {
    uint32_t count = keel_program_op_count(needs->program);
    void *manuals;
    for (keel_op_id_t op = 0; op < count; ++op) {
        const needs_fact_t *fact = needs_fact_of(needs, op);
        if (!fact || fact->rule != NEEDS_MANUAL || !needs_is_manual(needs, op)) continue;
        if (!needs->manuals) {
            KEEL_TRY(keel_calloc(needs_words(count), sizeof *needs->manuals, &manuals));
            needs->manuals = manuals;
        }
        needs_add(needs->manuals, op);
    }
    return NULL;
}

static keel_status_t check_operands(const keel_needs_t *needs, const needs_function_t *function,
                                    keel_value_id_t first) {
    const keel_program_t *program = needs->program;
    for (keel_op_id_t op = function->first_op; op < function->end_op; ++op) {
        keel_list_t operands = keel_program_operands(program, op);
        uint32_t end = needs->is_hlo ? op : program->operations.data[op].first_result;
        for (uint32_t i = 0; i < operands.count; ++i)
            if (operands.items[i] < first || operands.items[i] >= end)
                return invalid("an operand that comes later, or is of another function");
    }
    return NULL;
}

static keel_status_t note_function(keel_needs_t *needs, uint32_t number) {
    const keel_program_t *program = needs->program;
    const keel_function_t *from = &program->functions.data[number];
    needs_function_t *function = &needs->functions[number];
    if (from->first_value > from->end_value || from->end_value > program->value_types.count ||
        function->body->first_argument < from->first_value ||
        function->first_op == function->end_op)
        return invalid("a function beyond its values, or without a return");
    if (from->operation == KEEL_NONE || (number && from->operation <= from[-1].operation))
        return invalid("a function without an operation, or not in their order");
    function->first_leaf = from->first_value;
    function->end_leaf = from->end_value;
    function->last = needs->lasts[function->body - program->blocks.data];
    if (!is_return(needs, function->last)) return invalid("a function without a return");
    function->result_count = keel_program_operands(program, function->last).count;
    function->argument_count = function->body->argument_count;
    return check_operands(needs, function, from->first_value);
}

// ---- HLO ---------------------------------------------------------------------------------------

static keel_status_t count_leaves(keel_needs_t *needs) {
    const keel_program_t *program = needs->program;
    uint32_t values = program->value_types.count;
    uint64_t count = 0, most = (uint64_t)values * 64 + (1u << 20);
    void *memory;
    KEEL_TRY(keel_alloc((values + (size_t)1) * sizeof *needs->first_leaves, &memory));
    needs->first_leaves = memory;
    for (uint32_t value = 0; value < values; ++value) {
        const keel_type_t *type = keel_program_type(program, program->value_types.data[value]);
        needs->first_leaves[value] = (uint32_t)count;
        count += type->kind == KEEL_TYPE_TUPLE ? keel_program_list(program, type->b).count : 1;
        if (count > most || count >= KEEL_IN_TEXT)
            return keel_status_make(KEEL_UNSUPPORTED, "a program whose tuples have %llu elements",
                                    (unsigned long long)count);
    }
    needs->first_leaves[values] = (uint32_t)count;
    return NULL;
}

static bool is_parameter(const keel_needs_t *needs, keel_op_id_t op) {
    const needs_fact_t *fact = needs_fact_of(needs, op);
    return fact && strcmp(fact->name, "parameter") == 0;
}

static keel_status_t note_parameters(keel_needs_t *needs, needs_function_t *function) {
    const keel_program_t *program = needs->program;
    keel_op_id_t *parameters = needs->parameters + function->first_parameter;
    for (keel_op_id_t op = function->first_op; op < function->end_op; ++op) {
        if (!is_parameter(needs, op)) continue;
        keel_attr_id_t attr = keel_program_dict_find(
            program, program->operations.data[op].attributes, "parameter_number");
        int64_t number = keel_program_number(program, attr, 0);
        if (number < 0 || number >= function->argument_count || parameters[number] != KEEL_NONE)
            return invalid("parameters whose numbers are not a list");
        parameters[number] = op;
    }
    return NULL;
}

static keel_status_t note_computation(keel_needs_t *needs, uint32_t number, uint32_t *next) {
    const keel_program_t *program = needs->program;
    const keel_function_t *from = &program->functions.data[number];
    needs_function_t *function = &needs->functions[number];
    if (keel_program_dict_find(program, from->attributes, "schedule") != KEEL_NONE)
        return keel_status_make(KEEL_UNSUPPORTED, "a program that is scheduled");
    function->first_parameter = *next;
    function->last = from->root;
    if (from->root < function->first_op || from->root >= function->end_op)
        return invalid("a root that is not in its computation");
    for (keel_op_id_t op = function->first_op; op < function->end_op; ++op) {
        const keel_operation_t *operation = &program->operations.data[op];
        if (operation->first_result != op || operation->result_count != 1 ||
            operation->name & KEEL_OP_HAS_REGIONS || op >= program->value_types.count)
            return invalid("an instruction that is not one");
        function->argument_count += is_parameter(needs, op);
    }
    *next += function->argument_count;
    KEEL_TRY(check_operands(needs, function, function->first_op));
    KEEL_TRY(note_parameters(needs, function));
    function->first_leaf = needs->first_leaves[function->first_op];
    function->end_leaf = needs->first_leaves[function->end_op];
    function->result_count = needs_leaf_count(needs, function->last);
    return NULL;
}

// ---- both --------------------------------------------------------------------------------------

static keel_status_t note_functions(keel_needs_t *needs) {
    const keel_program_t *program = needs->program;
    uint32_t next_parameter = 0;
    for (uint32_t i = 0; i < program->functions.count; ++i) {
        needs_function_t *function = &needs->functions[i];
        function->body = keel_program_body(program, i);
        if (!function->body) return invalid("a function without a body");
        function->first_op = function->body->first_op;
        function->end_op = function->body->end_op;
        KEEL_TRY(needs->is_hlo ? note_computation(needs, i, &next_parameter)
                               : note_function(needs, i));
        keel_str_t name = keel_program_str(program, program->functions.data[i].name);
        KEEL_TRY(keel_map_put(&needs->names, keel_str_bytes(name), i));
    }
    return NULL;
}

static keel_status_t check_regions(const keel_needs_t *needs) {
    const keel_program_t *program = needs->program;
    for (uint32_t i = 0; i < program->regions.count; ++i)
        KEEL_TRY(check_region(needs, &program->regions.data[i]));
    return NULL;
}

static keel_status_t fill(keel_needs_t *needs) {
    const keel_program_t *program = needs->program;
    void *memory;
    if (program->entry >= program->functions.count)
        return keel_status_make(KEEL_UNSUPPORTED, "a program without an entry function");
    KEEL_TRY(find_facts(needs));
    KEEL_TRY(keel_alloc(program->blocks.count * sizeof *needs->lasts, &memory));
    needs->lasts = memset(memory, 0xff, program->blocks.count * sizeof *needs->lasts);
    KEEL_TRY(check_regions(needs));
    KEEL_TRY(keel_calloc(program->functions.count, sizeof *needs->functions, &memory));
    needs->functions = memory;
    if (needs->is_hlo) {
        KEEL_TRY(count_leaves(needs));
        size_t size = keel_program_op_count(program) * sizeof *needs->parameters;
        KEEL_TRY(keel_alloc(size, &memory));
        needs->parameters = memset(memory, 0xff, size);
    } else {
        KEEL_TRY(note_makers(needs));
    }
    KEEL_TRY(note_functions(needs));
    return needs->is_hlo ? NULL : note_manuals(needs);
}

keel_status_t keel_needs_create(const keel_program_t *program, keel_needs_t **out) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(keel_needs_t), &memory));
    keel_needs_t *needs = memory;
    needs->program = program;
    needs->is_hlo = program->format == KEEL_FORMAT_HLO;
    keel_map_initialize(&needs->names);
    keel_arena_initialize(&needs->arena, 0);
    keel_status_t status = fill(needs);
    if (status)
        keel_needs_destroy(needs);
    else
        *out = needs;
    return status;
}

void keel_needs_destroy(keel_needs_t *needs) {
    if (!needs) return;
    keel_free((void *)needs->facts);
    keel_free(needs->makers);
    keel_free(needs->lasts);
    keel_free(needs->manuals);
    keel_free(needs->first_leaves);
    keel_free(needs->functions);
    keel_free(needs->parameters);
    keel_map_deinitialize(&needs->names);
    keel_arena_deinitialize(&needs->arena);
    keel_free(needs);
}

uint32_t keel_needs_result_count(const keel_needs_t *needs) {
    return needs->functions[needs->program->entry].result_count;
}

uint32_t keel_needs_argument_count(const keel_needs_t *needs) {
    return needs->functions[needs->program->entry].argument_count;
}
