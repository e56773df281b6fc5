// Something differs, but no step found what: the same operations take different values, or the same
// arguments come in a different order. Whatever it is, the texts of the two sides differ.
#include "explain/diff.h"
#include "read/print.h"

enum { SHOWN = 4 };

// The number of this argument's counterpart in `before`, or its own if it has none.
static uint32_t number_before(const keel_diff_t *diff, uint32_t number) {
    for (uint32_t i = 0; i < diff->before_count; ++i)
        if (diff->value_counterpart[diff->arguments_before[i].value] ==
            diff->arguments_after[number].value)
            return i;
    return number;
}

static const char *argument_text(keel_diff_t *diff, bool is_after, uint32_t number) {
    const keel_argument_t *arguments = is_after ? diff->arguments_after : diff->arguments_before;
    keel_str_t name = arguments[number].name;
    if (name.size) return keel_diff_text(diff, "%.*s", (int)name.size, name.data);
    return keel_diff_text(diff, "argument %u", is_after ? number_before(diff, number) : number);
}

// "tanh", or "tanh 2" if there are several: the second one of `before`.
static const char *operation_text(keel_diff_t *diff, bool is_after, keel_op_id_t op,
                                  bool is_counted) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_str_t name = keel_graph_name(graph, op);
    const char *text = keel_diff_text(diff, "%.*s", (int)name.size, name.data);
    if (!is_counted) return text;
    keel_op_id_t origin = is_after ? diff->origin[op] : op;
    if (origin == KEEL_NONE) return keel_diff_text(diff, "another %s", text);
    unsigned number = 1;
    for (keel_op_id_t i = 0; i < origin; ++i)
        number += keel_str_equal(keel_graph_name(&diff->before, i), name);
    return keel_diff_text(diff, "%s %u", text, number);
}

static const char *value_text(keel_diff_t *diff, bool is_after, keel_value_id_t value,
                              bool is_counted) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_argument_t *arguments = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t number =
        keel_diff_argument(arguments, is_after ? diff->after_count : diff->before_count, value);
    if (number != KEEL_NONE) return argument_text(diff, is_after, number);
    keel_op_id_t op = graph->producer[value];
    if (op == KEEL_NONE) return is_counted ? keel_diff_text(diff, "value %u", value) : "a value";
    const char *text = operation_text(diff, is_after, op, is_counted);
    const keel_operation_t *operation = &graph->program->operations.data[op];
    if (!is_counted || operation->result_count < 2) return text;
    return keel_diff_text(diff, "%s result %u", text, value - operation->first_result);
}

// "x, tanh": the arguments, and the operations whose results are taken, from the first on.
static const char *operands_text(keel_diff_t *diff, bool is_after, keel_op_id_t op, uint32_t first,
                                 bool is_counted) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_list_t operands = keel_program_operands(graph->program, op);
    const char *text = first ? "..., " : "";
    for (uint32_t i = first; i < operands.count && i < first + SHOWN; ++i)
        text = keel_diff_text(diff, "%s%s%s", text, i > first ? ", " : "",
                              value_text(diff, is_after, operands.items[i], is_counted));
    return text;
}

// If one name stands for several values, they are counted, from the first operand that differs.
static void tell_operands(keel_diff_t *diff, keel_difference_t *difference) {
    keel_op_id_t before = difference->old_op, after = difference->new_op;
    difference->old_value = operands_text(diff, false, before, 0, false);
    difference->new_value = operands_text(diff, true, after, 0, false);
    if (strcmp(difference->old_value, difference->new_value) != 0) return;
    keel_list_t x = keel_program_operands(diff->before.program, before);
    keel_list_t y = keel_program_operands(diff->after.program, after);
    uint32_t first = 0;
    while (first < x.count && first < y.count &&
           strcmp(value_text(diff, false, x.items[first], true),
                  value_text(diff, true, y.items[first], true)) == 0)
        ++first;
    difference->old_value = operands_text(diff, false, before, first, true);
    difference->new_value = operands_text(diff, true, after, first, true);
}

// "multiply f32[4,2]": the types of its results, or of its operands if it has no result.
static const char *typed_text(keel_diff_t *diff, bool is_after, keel_op_id_t op) {
    if (op == KEEL_NONE) return "nothing";
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_operation_t *operation = &graph->program->operations.data[op];
    keel_list_t operands = keel_program_operands(graph->program, op);
    uint32_t count = operation->result_count ? operation->result_count : operands.count;
    keel_str_t name = keel_graph_name(graph, op);
    const char *text = keel_diff_text(diff, "%.*s", (int)name.size, name.data);
    for (uint32_t i = 0; i < count && i < SHOWN; ++i) {
        keel_value_id_t value =
            operation->result_count ? operation->first_result + i : operands.items[i];
        text = keel_diff_text(diff, "%s%s%s", text, i ? ", " : " ",
                              keel_diff_type(diff, graph->program, keel_graph_type(graph, value)));
    }
    return text;
}

static void print_apart(keel_diff_t *diff, keel_difference_t *out) {
    keel_buffer_t x, y;
    keel_buffer_initialize(&x, 0);
    keel_buffer_initialize(&y, 0);
    keel_print_operation(diff->before.program, out->old_op, 0, SHOWN * SHOWN, &x);
    keel_print_operation(diff->after.program, out->new_op, 0, SHOWN * SHOWN, &y);
    keel_diff_apart(diff, keel_str(keel_buffer_cstr(&x)), keel_str(keel_buffer_cstr(&y)), out);
    keel_buffer_deinitialize(&x);
    keel_buffer_deinitialize(&y);
}

void keel_diff_ops(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after,
                   keel_difference_t *out) {
    out->old_value = typed_text(diff, false, before);
    out->new_value = typed_text(diff, true, after);
    if (strcmp(out->old_value, out->new_value) != 0) return;
    out->old_op = before;
    out->new_op = after;
    tell_operands(diff, out);
    if (strcmp(out->old_value, out->new_value) != 0) return;
    out->old_value = operation_text(diff, false, before, true);
    out->new_value = operation_text(diff, true, after, true);
    if (strcmp(out->old_value, out->new_value) == 0) print_apart(diff, out);
}

static const char *order_text(keel_diff_t *diff, bool is_after, uint32_t first) {
    uint32_t count = is_after ? diff->after_count : diff->before_count;
    const char *text = first ? "..., " : "";
    for (uint32_t i = first; i < count && i < first + SHOWN; ++i)
        text = keel_diff_text(diff, "%s%s%s", text, i > first ? ", " : "",
                              argument_text(diff, is_after, i));
    return text;
}

// The first argument that is in a different place; false if there is none.
static bool tell_order(keel_diff_t *diff, keel_difference_t *difference) {
    if (diff->before_count != diff->after_count || keel_parameters_have_no_order(diff))
        return false;
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        if (number_before(diff, i) == i) continue;
        difference->kind = KEEL_CAUSE_ARGUMENTS;
        difference->subject = "arguments";
        difference->note = keel_note_text(KEEL_NOTE_REORDERED);
        difference->old_value = order_text(diff, false, i);
        difference->new_value = order_text(diff, true, i);
        return strcmp(difference->old_value, difference->new_value) != 0;
    }
    return false;
}

// One line of a program's text without its indentation; false at the text's end.
static bool take_unindented_line(keel_str_t *text, keel_str_t *out) {
    if (!keel_str_line(text, out)) return false;
    while (out->size && *out->data == ' ')
        ++out->data, --out->size;
    return true;
}

static keel_status_t print_rest(const keel_program_t *program, keel_buffer_t *out) {
    return keel_print_text(program, &(keel_print_options_t){.largest_value = 16}, out);
}

static bool is_lone(const keel_diff_t *diff, bool is_after, keel_op_id_t op) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    return (is_after ? diff->origin : diff->counterpart)[op] == KEEL_NONE &&
           graph->constant[op] == KEEL_NONE;
}

static uint32_t count_lone(const keel_diff_t *diff, bool is_after, keel_str_t name) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_op_id_t first, end;
    uint32_t count = 0;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op)
        count += is_lone(diff, is_after, op) && keel_str_equal(keel_graph_name(graph, op), name);
    return count;
}

// The first of the operations that the program has more of, and that no step took for a difference:
// PyTorch/XLA writes some once for each use. NONE.
static keel_op_id_t find_lone(const keel_diff_t *diff, bool is_after) {
    enum { TRIED = 64 };
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_op_id_t first, end;
    uint32_t tried = 0;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end && tried < TRIED; ++op) {
        if (!is_lone(diff, is_after, op)) continue;
        keel_str_t name = keel_graph_name(graph, op);
        ++tried;
        if (count_lone(diff, is_after, name) > count_lone(diff, !is_after, name)) return op;
    }
    return KEEL_NONE;
}

static bool tell_lone(keel_diff_t *diff, keel_difference_t *difference) {
    keel_op_id_t after = find_lone(diff, true);
    bool is_after = after != KEEL_NONE;
    keel_op_id_t op = is_after ? after : find_lone(diff, false);
    if (op == KEEL_NONE) return false;
    const char *text = operation_text(diff, is_after, op, false);
    difference->subject = text;
    difference->old_value = is_after ? "nothing" : text;
    difference->new_value = is_after ? text : "nothing";
    difference->note = "";
    difference->place = keel_diff_place(diff, is_after, op);
    difference->old_op = is_after ? KEEL_NONE : op;
    difference->new_op = is_after ? op : KEEL_NONE;
    return true;
}

// The first line in which the programs' texts differ.
static keel_status_t tell_line(keel_diff_t *diff, keel_difference_t *difference) {
    keel_buffer_t before, after;
    keel_buffer_initialize(&before, 0);
    keel_buffer_initialize(&after, 0);
    keel_status_t status = print_rest(diff->before.program, &before);
    if (!status) status = print_rest(diff->after.program, &after);
    keel_str_t x = {keel_buffer_cstr(&before), before.size};
    keel_str_t y = {keel_buffer_cstr(&after), after.size}, a, b;
    while (!status && take_unindented_line(&x, &a) && take_unindented_line(&y, &b)) {
        if (keel_str_equal(a, b)) continue;
        keel_diff_apart(diff, a, b, difference);
        break;
    }
    keel_buffer_deinitialize(&before);
    keel_buffer_deinitialize(&after);
    return status;
}

// HLO: results that both programs compute and only one gives back, behind all that both give back.
static bool tell_results(keel_diff_t *diff, keel_difference_t *difference) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_op_id_t before = p->functions.data[p->entry].root;
    keel_op_id_t after = q->functions.data[q->entry].root;
    if (!keel_diff_kept_results(diff, before, after, difference)) return false;
    difference->old_op = before;
    difference->new_op = after;
    return true;
}

keel_status_t keel_diff_rest(keel_diff_t *diff) {
    if (diff->root_count) return NULL;
    keel_difference_t difference = keel_diff_of_call(diff, KEEL_CAUSE_STRUCTURE, "program", "", "");
    difference.note = "the same operations, combined differently";
    if (diff->rewired != KEEL_NONE) {
        keel_str_t name = keel_graph_name(&diff->after, diff->rewired);
        difference.subject = keel_diff_text(diff, "%.*s", (int)name.size, name.data);
        difference.note = diff->is_of_another_run
                              ? keel_note_text(KEEL_NOTE_SHUFFLED)
                              : "it takes different ones of the values that both programs have";
        difference.place = keel_diff_place(diff, true, diff->rewired);
        difference.old_op = diff->origin[diff->rewired];
        difference.new_op = diff->rewired;
        if (!keel_diff_kept_results(diff, difference.old_op, difference.new_op, &difference))
            tell_operands(diff, &difference);
    } else if (!tell_results(diff, &difference) && !tell_lone(diff, &difference) &&
               !tell_order(diff, &difference)) {
        if (diff->has_addresses) return NULL;
        KEEL_TRY(tell_line(diff, &difference));
    }
    uint32_t root;
    return keel_diff_root(diff, &difference, &root);
}
