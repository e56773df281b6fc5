// Values under different names: those that a loop carries and never changes, and a function's
// arguments.
#include "explain/graph.h"

bool keel_graph_loop(const keel_graph_t *graph, keel_op_id_t op, const keel_block_t **out_condition,
                     const keel_block_t **out_body) {
    const keel_program_t *program = graph->program;
    keel_region_run_t regions = keel_program_regions(program, op);
    if (!keel_str_is(keel_graph_name(graph, op), "while") || regions.count != 2 ||
        !regions.items[0].block_count || !regions.items[1].block_count)
        return false;
    *out_condition = &program->blocks.data[regions.items[0].first_block];
    *out_body = &program->blocks.data[regions.items[1].first_block];
    return (*out_body)->end_op > (*out_body)->first_op;
}

static void note_loop(keel_graph_t *graph, keel_op_id_t loop) {
    const keel_program_t *program = graph->program;
    const keel_block_t *condition, *body;
    if (!keel_graph_loop(graph, loop, &condition, &body)) return;
    keel_list_t operands = keel_program_operands(program, loop);
    keel_list_t results = keel_program_operands(program, body->end_op - 1);
    for (uint32_t i = 0; i < operands.count && i < results.count && i < body->argument_count; ++i) {
        if (results.items[i] != body->first_argument + i) continue;
        graph->given[body->first_argument + i] = operands.items[i];
        if (i < condition->argument_count)
            graph->given[condition->first_argument + i] = operands.items[i];
    }
}

static void note_call(keel_graph_t *graph, keel_op_id_t call) {
    uint32_t callee = keel_graph_callee(graph, call);
    if (callee == KEEL_NONE || graph->call_site[callee] != call) return;
    const keel_block_t *block = keel_program_body(graph->program, callee);
    keel_list_t operands = keel_program_operands(graph->program, call);
    for (uint32_t i = 0; block && i < operands.count && i < block->argument_count; ++i)
        graph->given[block->first_argument + i] = operands.items[i];
}

keel_status_t keel_graph_note_passed(keel_graph_t *graph) {
    size_t values = graph->program->value_types.count ? graph->program->value_types.count : 1;
    KEEL_TRY(keel_arena_array(graph->arena, values, sizeof *graph->given, (void **)&graph->given));
    memset(graph->given, 0xff, values * sizeof *graph->given);
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        if (keel_str_is(keel_graph_name(graph, op), "while"))
            note_loop(graph, op);
        else
            note_call(graph, op);
    }
    return NULL;
}

keel_value_id_t keel_graph_outermost(const keel_graph_t *graph, keel_value_id_t value) {
    enum { DEPTH = 64 }; // deeper than that is a cycle
    for (unsigned i = 0; graph->given && i < DEPTH && graph->given[value] != KEEL_NONE; ++i)
        value = graph->given[value];
    return value;
}
