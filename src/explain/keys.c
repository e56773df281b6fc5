// Keys for random numbers. A key is two or four words; JAX's typed keys (jax.random.key) hold the
// same words, and the program unwraps them first.
#include "explain/diff.h"

// One key, or an array of them.
static bool is_words(const keel_program_t *program, keel_type_id_t id) {
    const keel_type_t *type = keel_program_type(program, id);
    if (type->kind != KEEL_TYPE_TENSOR) return false;
    const keel_type_t *element = keel_program_type(program, type->a);
    keel_ints_t dims = keel_diff_dims(program, id);
    return element->kind == KEEL_TYPE_INTEGER && element->aux == KEEL_UNSIGNED &&
           element->a == 32 && dims.count >= 1 &&
           (dims.items[dims.count - 1] == 2 || dims.items[dims.count - 1] == 4);
}

bool keel_key_is_type(const keel_program_t *program, keel_type_id_t id) {
    return is_words(program, id) && keel_diff_dims(program, id).count <= 2;
}

// Constraints on other values have casts around them too.
static bool is_cast(const keel_graph_t *graph, keel_op_id_t op) {
    if (op == KEEL_NONE) return false;
    keel_list_t operands = keel_program_operands(graph->program, op);
    return keel_str_is(keel_graph_name(graph, op), "unrealized_conversion_cast") &&
           operands.count == 1 &&
           (is_words(graph->program, keel_graph_type(graph, operands.items[0])) ||
            is_words(graph->program,
                     keel_graph_type(graph, graph->program->operations.data[op].first_result)));
}

// True for a constraint between two casts that constrains nothing.
bool keel_key_is_unwrapped(const keel_graph_t *graph, keel_op_id_t op) {
    if (is_cast(graph, op)) return true;
    keel_list_t operands = keel_program_operands(graph->program, op);
    return operands.count == 1 && is_cast(graph, graph->producer[operands.items[0]]) &&
           keel_str_is(keel_graph_name(graph, op), "sharding_constraint");
}

bool keel_key_is_made(const keel_graph_t *graph, keel_op_id_t op) {
    if (keel_key_is_unwrapped(graph, op)) return true;
    const keel_operation_t *operation = &graph->program->operations.data[op];
    for (uint32_t i = 0; i < operation->result_count; ++i)
        if (!keel_key_is_type(graph->program, keel_graph_type(graph, operation->first_result + i)))
            return false;
    return operation->result_count > 0;
}

keel_difference_t keel_diff_key_style(keel_diff_t *diff, bool is_after, keel_op_id_t op) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_value_id_t key = keel_program_operands(graph->program, op).items[0];
    const keel_argument_t *arguments = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t number =
        keel_diff_argument(arguments, is_after ? diff->after_count : diff->before_count, key);
    const char *words = keel_diff_type(diff, graph->program, keel_graph_type(graph, key));
    keel_str_t name = number == KEEL_NONE ? KEEL_STR("key") : arguments[number].name;
    keel_difference_t difference = keel_diff_of_call(
        diff, KEEL_CAUSE_DTYPE, keel_diff_text(diff, "%.*s", (int)name.size, name.data),
        is_after ? words : "typed key", is_after ? "typed key" : words);
    difference.note = keel_note_text(KEEL_NOTE_KEY_STYLE);
    if (number == KEEL_NONE) difference.place = keel_diff_place(diff, is_after, op);
    return difference;
}
