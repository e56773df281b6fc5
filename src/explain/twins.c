// Operations of HLO that their own program has twice. PyTorch/XLA writes a weight's transpose for
// each use, or once if the uses were recorded close together: that says nothing about the step.
#include "explain/diff.h"

static uint64_t hash_of(keel_graph_t *graph, keel_op_id_t op, keel_value_id_t operand) {
    const keel_operation_t *operation = &graph->program->operations.data[op];
    uint64_t hash = keel_quick_hash(keel_str_bytes(keel_graph_name(graph, op)));
    hash = keel_graph_join(hash, keel_graph_attr_hash(graph, operation->attributes));
    hash = keel_graph_join(
        hash, keel_graph_type_hash(graph, keel_graph_type(graph, operation->first_result)));
    hash = keel_graph_join(hash, graph->function_of[op]);
    return keel_graph_join(hash, operand);
}

// Equal numbers of the host are one argument: that two operations take the same says something.
static bool takes_number(const keel_graph_t *graph, keel_op_id_t op) {
    keel_value_id_t operand = keel_program_operands(graph->program, op).items[0];
    return !keel_diff_dims(graph->program, keel_graph_type(graph, operand)).count;
}

static bool may_be_spare(const keel_graph_t *graph, keel_op_id_t op) {
    const keel_operation_t *operation = &graph->program->operations.data[op];
    return operation->result_count == 1 && keel_program_operands(graph->program, op).count == 1 &&
           graph->constant[op] == KEEL_NONE && graph->callee[op] == KEEL_NONE &&
           keel_graph_only_reshapes(keel_graph_name(graph, op)) && !takes_number(graph, op);
}

// Later operations take the first of equal ones: `operands` is the graph's own copy.
static keel_status_t merge(keel_graph_t *graph, keel_map_t *known, keel_value_id_t *operands,
                           keel_value_id_t *first) {
    uint32_t count = keel_program_op_count(graph->program);
    for (keel_op_id_t op = 0; op < count; ++op) {
        const keel_operation_t *operation = &graph->program->operations.data[op];
        uint32_t operand_count = keel_program_operands(graph->program, op).count;
        for (uint32_t i = 0; i < operand_count; ++i) {
            keel_value_id_t *operand = &operands[operation->first_operand + i];
            *operand = first[*operand];
        }
        if (!may_be_spare(graph, op)) continue;
        uint64_t hash = hash_of(graph, op, operands[operation->first_operand]);
        keel_bytes_t key = keel_bytes((const void *)&hash, sizeof hash);
        const uint64_t *twin = keel_map_find(known, key);
        if (!twin) {
            KEEL_TRY(keel_map_put(known, key, op));
            continue;
        }
        first[operation->first_result] = graph->program->operations.data[*twin].first_result;
        graph->is_spare[op] = true;
    }
    return NULL;
}

keel_status_t keel_graph_merge_twins(keel_graph_t *graph) {
    const keel_program_t *program = graph->program;
    size_t values = program->value_types.count, count = program->operands.count;
    void *memory;
    KEEL_TRY(keel_arena_alloc(graph->arena, sizeof *program, &memory));
    keel_program_t *own = memcpy(memory, program, sizeof *program);
    KEEL_TRY(keel_arena_array(graph->arena, count + 1, sizeof(keel_value_id_t), &memory));
    own->operands.data = memory;
    if (count) memcpy(memory, program->operands.data, count * sizeof(keel_value_id_t));
    KEEL_TRY(keel_arena_array(graph->arena, values + 1, sizeof(keel_value_id_t), &memory));
    keel_value_id_t *first = memory;
    for (size_t value = 0; value < values; ++value)
        first[value] = (keel_value_id_t)value;
    keel_map_t known;
    keel_map_initialize(&known);
    keel_status_t status = merge(graph, &known, own->operands.data, first);
    keel_map_deinitialize(&known);
    graph->program = own;
    return status;
}
