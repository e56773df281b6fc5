// Numbers of the host that are one argument of HLO. keel/tensor.h sends all numbers of a dtype as
// one vector, "keel_number", which is longer if there is one more. Each of its numbers is an
// argument, "keel_number(rate)", and the vector is none.
#include "explain/diff.h"

static bool may_be_packed(const keel_graph_t *graph, keel_op_id_t op) {
    keel_value_id_t value = graph->program->operations.data[op].first_result;
    return keel_graph_is_parameter(graph, op) &&
           keel_program_parameter_name(graph->program, op).size &&
           keel_diff_dims(graph->program, keel_graph_type(graph, value)).count == 1;
}

static bool is_number_of(const keel_graph_t *graph, keel_op_id_t op, keel_op_id_t whole) {
    keel_value_id_t value = graph->program->operations.data[op].first_result;
    return keel_str_is(keel_graph_name(graph, op), "reshape") &&
           !keel_diff_dims(graph->program, keel_graph_type(graph, value)).count &&
           keel_str_starts(keel_program_parameter_name(graph->program, op),
                           keel_program_parameter_name(graph->program, whole));
}

// What an operation is that takes a vector that may be packed, or a slice of one.
static keel_packed_t part_of(const keel_graph_t *graph, keel_op_id_t op, keel_op_id_t taken,
                             keel_op_id_t whole) {
    if (taken != whole)
        return is_number_of(graph, op, whole) ? KEEL_PACKED_NUMBER : KEEL_PACKED_NOT;
    return keel_str_is(keel_graph_name(graph, op), "slice") ? KEEL_PACKED_WHOLE : KEEL_PACKED_NOT;
}

// `whole` is by operation the vector that it is a part of, or NONE; `others` is by vector whether
// it is taken otherwise.
static void mark_parts(keel_graph_t *graph, keel_op_id_t *whole, uint8_t *others) {
    const keel_program_t *program = graph->program;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op) {
        keel_list_t operands = keel_program_operands(program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            keel_op_id_t taken = graph->producer[operands.items[i]];
            if (taken == KEEL_NONE || graph->packed[taken] != KEEL_PACKED_WHOLE) continue;
            graph->packed[op] = part_of(graph, op, taken, whole[taken]);
            if (graph->packed[op] == KEEL_PACKED_NOT)
                others[whole[taken]] = true;
            else
                whole[op] = whole[taken];
        }
    }
}

keel_status_t keel_graph_unpack(keel_graph_t *graph) {
    uint32_t count = keel_program_op_count(graph->program);
    void *memory;
    KEEL_TRY(keel_arena_array(graph->arena, (size_t)count + 1, sizeof(keel_op_id_t), &memory));
    keel_op_id_t *whole = memset(memory, 0xff, ((size_t)count + 1) * sizeof(keel_op_id_t));
    KEEL_TRY(keel_arena_alloc(graph->arena, (size_t)count + 1, &memory));
    uint8_t *others = memset(memory, 0, (size_t)count + 1);
    for (keel_op_id_t op = 0; op < count; ++op)
        if (may_be_packed(graph, op)) whole[op] = op;
    for (keel_op_id_t op = 0; op < count; ++op)
        if (whole[op] == op) graph->packed[op] = KEEL_PACKED_WHOLE;
    mark_parts(graph, whole, others);
    for (keel_op_id_t op = 0; op < count; ++op) {
        if (whole[op] != KEEL_NONE && others[whole[op]]) graph->packed[op] = KEEL_PACKED_NOT;
        graph->is_spare[op] = graph->packed[op] == KEEL_PACKED_WHOLE;
    }
    return NULL;
}
