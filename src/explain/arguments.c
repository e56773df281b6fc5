// Which arguments of the entry operations take, and which of these are bare Python numbers.
#include "explain/diff.h"

uint32_t keel_diff_argument(const keel_argument_t *arguments, uint32_t count,
                            keel_value_id_t value) {
    uint32_t low = 0, high = count; // values rise, in either format
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (arguments[middle].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && arguments[low].value == value ? low : KEEL_NONE;
}

uint32_t keel_diff_scalar_argument(const keel_diff_t *diff, bool is_after, keel_value_id_t value) {
    const keel_argument_t *arguments = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t number =
        keel_diff_argument(arguments, is_after ? diff->after_count : diff->before_count, value);
    const keel_program_t *program = (is_after ? &diff->after : &diff->before)->program;
    if (number == KEEL_NONE || keel_diff_dims(program, arguments[number].type).count)
        return KEEL_NONE;
    return number;
}

bool keel_diff_is_new(const keel_diff_t *diff, bool is_after, keel_value_id_t value) {
    const keel_argument_t *arguments = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t number =
        keel_diff_argument(arguments, is_after ? diff->after_count : diff->before_count, value);
    return number != KEEL_NONE && arguments[number].counterpart == KEEL_NONE;
}

bool keel_diff_has_unpaired(const keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->before_count; ++i)
        if (diff->arguments_before[i].counterpart == KEEL_NONE) return true;
    for (uint32_t i = 0; i < diff->after_count; ++i)
        if (diff->arguments_after[i].counterpart == KEEL_NONE) return true;
    return false;
}

// The argument that a value is computed from, found through the first operand that is not a
// constant.
static uint32_t source_argument(const keel_diff_t *diff, bool is_after, keel_value_id_t value) {
    enum { STEPS = 256 };
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    for (unsigned step = 0; step < STEPS; ++step) {
        value = keel_graph_outermost(graph, value);
        keel_op_id_t op = graph->producer[value];
        if (op == KEEL_NONE)
            return keel_diff_argument(is_after ? diff->arguments_after : diff->arguments_before,
                                      is_after ? diff->after_count : diff->before_count, value);
        keel_list_t operands = keel_program_operands(graph->program, op);
        uint32_t i = 0;
        for (; i < operands.count; ++i) {
            keel_op_id_t producer = graph->producer[operands.items[i]];
            if (producer == KEEL_NONE || graph->constant[producer] == KEEL_NONE) break;
        }
        if (i == operands.count) return KEEL_NONE;
        value = operands.items[i];
    }
    return KEEL_NONE;
}

uint32_t keel_diff_lone_scalar(const keel_diff_t *diff, bool is_after, keel_value_id_t value) {
    enum { STEPS = 16 };
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_program_t *program = graph->program;
    for (unsigned step = 0; step < STEPS; ++step) {
        value = keel_graph_outermost(graph, value);
        keel_op_id_t op = graph->producer[value];
        if (op == KEEL_NONE) return keel_diff_scalar_argument(diff, is_after, value);
        keel_value_id_t source = KEEL_NONE;
        keel_list_t operands = keel_program_operands(program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            keel_op_id_t producer = graph->producer[operands.items[i]];
            if (producer != KEEL_NONE && graph->constant[producer] != KEEL_NONE) continue;
            if (source != KEEL_NONE && source != operands.items[i]) return KEEL_NONE;
            source = operands.items[i];
        }
        if (source == KEEL_NONE || keel_diff_dims(program, keel_graph_type(graph, value)).count ||
            keel_graph_type(graph, source) != keel_graph_type(graph, value))
            return KEEL_NONE;
        value = source;
    }
    return KEEL_NONE;
}

static bool is_float_of(const keel_program_t *program, keel_type_id_t type, bool is_short) {
    const keel_type_t *found = keel_program_type(program, type);
    if (found->kind == KEEL_TYPE_TENSOR) found = keel_program_type(program, found->a);
    bool is_long = found->a == KEEL_FLOAT_F32 || found->a == KEEL_FLOAT_F64;
    return found->kind == KEEL_TYPE_FLOAT && is_long != is_short;
}

// The scalar that fills a whole array (jnp.full); otherwise the value itself.
static keel_value_id_t spread_from(const keel_graph_t *graph, keel_value_id_t value) {
    keel_op_id_t op = graph->producer[value];
    if (op == KEEL_NONE || !keel_str_is(keel_graph_name(graph, op), "broadcast_in_dim"))
        return value;
    return keel_program_operands(graph->program, op).items[0];
}

uint32_t keel_diff_weak_argument(const keel_diff_t *diff, bool is_after, keel_op_id_t convert) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_list_t operands = keel_program_operands(graph->program, convert);
    if (operands.count != 1 || !keel_str_is(keel_graph_name(graph, convert), "convert"))
        return KEEL_NONE;
    keel_value_id_t value = spread_from(graph, operands.items[0]);
    keel_value_id_t result = graph->program->operations.data[convert].first_result;
    keel_type_id_t from = keel_graph_type(graph, operands.items[0]);
    keel_type_id_t to = keel_graph_type(graph, result);
    // A 32-bit array is not rounded to the dtype of the other operand.
    if (from != to && is_float_of(graph->program, from, false) &&
        is_float_of(graph->program, to, true))
        return keel_diff_lone_scalar(diff, is_after, value);
    if (from != to)
        return keel_diff_scalar_argument(diff, is_after, keel_graph_outermost(graph, value));
    return source_argument(diff, is_after, value);
}

keel_difference_t keel_diff_weak_type(keel_diff_t *diff, bool is_after, uint32_t number) {
    const keel_argument_t *argument =
        &(is_after ? diff->arguments_after : diff->arguments_before)[number];
    const keel_program_t *program = (is_after ? &diff->after : &diff->before)->program;
    const char *type = keel_diff_type(diff, program, argument->type);
    return keel_diff_of_call(diff, KEEL_CAUSE_WEAK_TYPE,
                             keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(argument->name)),
                             keel_diff_text(diff, is_after ? "%s" : "weak %s", type),
                             keel_diff_text(diff, is_after ? "weak %s" : "%s", type));
}
