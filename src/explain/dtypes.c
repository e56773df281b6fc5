// What follows from another dtype, or from a Python number that became an array (or the reverse),
// if only the operations show it. JAX computes some functions by other operations in double
// precision than in single, and rounds a Python number to the dtype of the array that it meets.
#include "explain/diff.h"
#include "explain/lines.h"

// ---- Python numbers ----------------------------------------------------------------------------

// The scalar argument that an operand comes from, and whether it was converted on the way.
static uint32_t argument_behind(const keel_diff_t *diff, bool is_after, keel_op_id_t op,
                                bool *out_converted) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_list_t operands = keel_program_operands(graph->program, op);
    for (uint32_t i = 0; i < operands.count; ++i) {
        keel_value_id_t value = operands.items[i];
        keel_op_id_t producer = graph->producer[value];
        *out_converted =
            producer != KEEL_NONE && keel_str_is(keel_graph_name(graph, producer), "convert");
        if (*out_converted) value = keel_program_operands(graph->program, producer).items[0];
        uint32_t number = keel_diff_lone_scalar(diff, is_after, value);
        if (number != KEEL_NONE) return number;
    }
    return KEEL_NONE;
}

static keel_type_id_t result_type(const keel_graph_t *graph, keel_op_id_t op) {
    return keel_graph_type(graph, graph->program->operations.data[op].first_result);
}

// The cause of other dtypes: one that changed, or a Python number that no longer takes that of what
// it meets. NONE.
static uint32_t find_dtype(const keel_diff_t *diff) {
    uint32_t top = keel_diff_find(diff, KEEL_CAUSE_DTYPE);
    return top == KEEL_NONE ? keel_diff_find(diff, KEEL_CAUSE_WEAK_TYPE) : top;
}

// The root that already tells this of the same argument; NONE.
static uint32_t find_weak_type(const keel_diff_t *diff, const keel_difference_t *weak) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_difference_t *one = &diff->roots[i].difference;
        if (one->kind == KEEL_CAUSE_WEAK_TYPE && diff->roots[i].follows == KEEL_NONE &&
            strcmp(one->subject, weak->subject) == 0 &&
            strcmp(one->new_value, weak->new_value) == 0)
            return i;
    }
    return KEEL_NONE;
}

// The same operation takes the number in the array's dtype on one side, and in the number's own
// dtype on the other, which converts the result. They look like two operations in a different
// order.
static void tell_weak_move(keel_diff_t *diff, keel_root_t *root) {
    keel_difference_t *difference = &root->difference;
    keel_op_id_t before = difference->old_op, after = difference->new_op;
    if (difference->kind != KEEL_CAUSE_STRUCTURE || before == KEEL_NONE || after == KEEL_NONE ||
        !keel_str_equal(keel_graph_name(&diff->before, before),
                        keel_graph_name(&diff->after, after)))
        return;
    bool was_converted, is_converted;
    uint32_t was = argument_behind(diff, false, before, &was_converted);
    uint32_t is = argument_behind(diff, true, after, &is_converted);
    if (was == KEEL_NONE || is == KEEL_NONE || was_converted == is_converted ||
        diff->arguments_before[was].counterpart != is ||
        keel_diff_element_hash(&diff->before, result_type(&diff->before, before)) ==
            keel_diff_element_hash(&diff->after, result_type(&diff->after, after)))
        return;
    keel_difference_t weak = keel_diff_weak_type(diff, is_converted, is_converted ? is : was);
    root->follows = find_weak_type(diff, &weak);
    if (root->follows != KEEL_NONE) return;
    *difference = weak;
    difference->old_op = before;
    difference->new_op = after;
}

// True if all operands are constants or Python numbers, in the dtype that they are combined in.
static bool is_of_numbers(const keel_diff_t *diff, keel_op_id_t op) {
    const keel_graph_t *graph = &diff->after;
    keel_list_t operands = keel_program_operands(graph->program, op);
    for (uint32_t i = 0; i < operands.count; ++i) {
        keel_op_id_t producer = graph->producer[operands.items[i]];
        bool is_constant = producer != KEEL_NONE && graph->constant[producer] != KEEL_NONE;
        if (!is_constant && keel_diff_lone_scalar(diff, true, operands.items[i]) == KEEL_NONE)
            return false;
    }
    return true;
}

// The scalar argument that the value is, in whatever shape; NONE if it is converted on the way.
static uint32_t number_spread(const keel_diff_t *diff, bool is_after, keel_value_id_t value) {
    enum { STEPS = 8 };
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    for (unsigned step = 0; step < STEPS; ++step) {
        keel_op_id_t op = graph->producer[value];
        if (op == KEEL_NONE) break;
        keel_str_t name = keel_graph_name(graph, op);
        if (!keel_graph_only_reshapes(name) || keel_str_is(name, "convert")) break;
        value = keel_program_operands(graph->program, op).items[0];
    }
    return keel_diff_lone_scalar(diff, is_after, value);
}

// The name of the number that the converted array is combined with; empty if there is none.
static keel_str_t number_met_by(const keel_diff_t *diff, bool is_after, keel_op_id_t convert) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_argument_t *arguments = is_after ? diff->arguments_after : diff->arguments_before;
    if (convert == KEEL_NONE || graph->function_of[convert] == KEEL_NONE ||
        !keel_str_is(keel_graph_name(graph, convert), "convert"))
        return KEEL_STR("");
    keel_value_id_t array = graph->program->operations.data[convert].first_result;
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->function_of[convert], &first, &end);
    for (keel_op_id_t op = convert + 1; op < end; ++op) {
        keel_list_t operands = keel_program_operands(graph->program, op);
        if (operands.count != 2 || (operands.items[0] != array && operands.items[1] != array))
            continue;
        uint32_t other = operands.items[0] == array;
        uint32_t number = number_spread(diff, is_after, operands.items[other]);
        if (number != KEEL_NONE) return arguments[number].name;
    }
    return KEEL_STR("");
}

static bool has_arrays_of(keel_graph_t *graph, uint64_t element) {
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        if (!graph->program->operations.data[op].result_count) continue;
        keel_type_id_t type = result_type(graph, op);
        if (keel_diff_dims(graph->program, type).count &&
            keel_diff_element_hash(graph, type) == element)
            return true;
    }
    return false;
}

// A constant of one program is in the number's own dtype, and that of the other in a dtype that
// both programs compute in: the constant meets the number.
static bool is_constant_beside(keel_diff_t *diff, const keel_difference_t *constant,
                               keel_type_id_t number) {
    keel_op_id_t before = constant->old_op, after = constant->new_op;
    if (before == KEEL_NONE || after == KEEL_NONE || diff->before.constant[before] != before ||
        diff->after.constant[after] != after)
        return false;
    uint64_t was = keel_diff_element_hash(&diff->before, result_type(&diff->before, before));
    uint64_t is = keel_diff_element_hash(&diff->after, result_type(&diff->after, after));
    uint64_t own = keel_diff_element_hash(&diff->after, number);
    uint64_t other = is == own ? was : is;
    return (was == own) != (is == own) && has_arrays_of(&diff->before, other) &&
           has_arrays_of(&diff->after, other);
}

bool keel_diff_meets_number(keel_diff_t *diff, const keel_difference_t *conversion,
                            const char *number) {
    if (!*number) return false;
    if (keel_str_is(number_met_by(diff, true, conversion->new_op), number) ||
        keel_str_is(number_met_by(diff, false, conversion->old_op), number))
        return true;
    for (uint32_t i = 0; i < diff->after_count; ++i)
        if (keel_str_is(diff->arguments_after[i].name, number) &&
            !keel_diff_dims(diff->after.program, diff->arguments_after[i].type).count)
            return is_constant_beside(diff, conversion, diff->arguments_after[i].type);
    return false;
}

// True if an operation of the entry converts the argument itself.
static bool is_converted(const keel_graph_t *graph, keel_value_id_t argument) {
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        keel_list_t operands = keel_program_operands(graph->program, op);
        if (operands.count == 1 && operands.items[0] == argument &&
            keel_str_is(keel_graph_name(graph, op), "convert"))
            return true;
    }
    return false;
}

// Only one program rounds a number to what it meets, and the other converts what it meets: an array
// or a constant, which seems to have another dtype.
static void tell_weak_conversion(keel_diff_t *diff, keel_root_t *root) {
    keel_difference_t *told = &root->difference;
    if (told->kind != KEEL_CAUSE_DTYPE || told->new_op == KEEL_NONE) return;
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        const keel_argument_t *now = &diff->arguments_after[i];
        if (now->counterpart == KEEL_NONE || !now->name.size ||
            keel_diff_dims(diff->after.program, now->type).count)
            continue;
        const keel_argument_t *then = &diff->arguments_before[now->counterpart];
        bool was = is_converted(&diff->before, then->value);
        bool is = is_converted(&diff->after, now->value);
        keel_difference_t weak = keel_diff_weak_type(diff, is, is ? i : now->counterpart);
        if (was == is || !keel_diff_meets_number(diff, told, weak.subject)) continue;
        root->follows = find_weak_type(diff, &weak);
        if (root->follows != KEEL_NONE) return;
        *told = weak;
        return;
    }
}

static void fold_numbers(keel_diff_t *diff) {
    uint32_t weak = keel_diff_find(diff, KEEL_CAUSE_WEAK_TYPE);
    for (uint32_t i = 0; weak != KEEL_NONE && i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->difference.kind == KEEL_CAUSE_DTYPE && root->follows == KEEL_NONE &&
            root->difference.new_op != KEEL_NONE && is_of_numbers(diff, root->difference.new_op))
            root->follows = weak;
    }
}

// ---- other operations for another dtype --------------------------------------------------------

// One expression of the user's source, or one line of a library's that it calls.
static bool is_same_call(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after) {
    const keel_source_line_t *a = keel_graph_line(&diff->before, before);
    const keel_source_line_t *b = keel_graph_line(&diff->after, after);
    return a->identity && a->identity == b->identity && a->column && a->column == b->column &&
           a->library_line == b->library_line && keel_str_equal(a->library_file, b->library_file);
}

// JAX's functions have no lines of their own: everything in one counts as one call.
bool keel_diff_is_one_call(const keel_diff_t *diff, bool is_after, keel_op_id_t op) {
    enum { KINDS = 3 };
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_program_t *program = graph->program;
    keel_frame_t place, other;
    keel_str_t kinds[KINDS];
    unsigned count = 0;
    uint32_t function = graph->function_of[op];
    bool has_place =
        keel_program_frames(program, program->operations.data[op].location, &place, 1, NULL) > 0;
    if (has_place ? !place.column : function == KEEL_NONE || function == program->entry)
        return false;
    for (keel_op_id_t at = 0; count < KINDS && at < keel_program_op_count(program); ++at) {
        keel_str_t name = keel_graph_name(graph, at);
        bool is_known = graph->constant[at] != KEEL_NONE || keel_graph_only_reshapes(name) ||
                        (!has_place && graph->function_of[at] != function);
        for (unsigned i = 0; !is_known && i < count; ++i)
            is_known = keel_str_equal(kinds[i], name);
        if (is_known) continue;
        keel_attr_id_t location = program->operations.data[at].location;
        if (!has_place || (keel_program_frames(program, location, &other, 1, NULL) &&
                           keel_frame_is_same(&place, &other)))
            kinds[count++] = name;
    }
    return count == KINDS;
}

// The first operation without a counterpart on a line that the other program does not have; NONE.
static keel_op_id_t on_a_new_line(keel_diff_t *diff, bool is_after, const keel_lines_t *others) {
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_op_id_t *partner = is_after ? diff->origin : diff->counterpart;
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        if (partner[op] != KEEL_NONE || graph->constant[op] != KEEL_NONE ||
            keel_graph_only_reshapes(keel_graph_name(graph, op)))
            continue;
        const keel_source_line_t *line = keel_graph_line(graph, op);
        if (line->identity && keel_lines_first(others, line) == KEEL_NONE) return op;
    }
    return KEEL_NONE;
}

static bool is_told(const keel_diff_t *diff, const keel_place_t *place) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_place_t *other = &diff->roots[i].difference.place;
        if (other->line == place->line && strcmp(other->file, place->file) == 0) return true;
    }
    return false;
}

// A branch among the operations that follow from another dtype: only the branch is the root.
static bool tell_branch(keel_diff_t *diff, keel_root_t *root, bool is_after,
                        const keel_lines_t *others) {
    keel_op_id_t op = on_a_new_line(diff, is_after, others);
    if (op == KEEL_NONE) return false;
    keel_place_t place = keel_diff_place(diff, is_after, op);
    if (is_told(diff, &place)) return false;
    keel_str_t name = keel_graph_name(is_after ? &diff->after : &diff->before, op);
    keel_difference_t *difference = &root->difference;
    difference->subject = keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(name));
    difference->old_value = is_after ? "nothing" : difference->subject;
    difference->new_value = is_after ? difference->subject : "nothing";
    difference->old_op = is_after ? KEEL_NONE : op;
    difference->new_op = is_after ? op : KEEL_NONE;
    difference->place = place;
    return true;
}

static keel_status_t tell_expansion(keel_diff_t *diff, keel_root_t *root, uint32_t top) {
    keel_lines_t before, after;
    keel_lines_initialize(&before);
    keel_lines_initialize(&after);
    keel_status_t status = keel_lines_build(&before, &diff->before, &diff->arena);
    if (!status) status = keel_lines_build(&after, &diff->after, &diff->arena);
    if (!status && !tell_branch(diff, root, true, &before) &&
        !tell_branch(diff, root, false, &after))
        root->follows = top;
    keel_lines_deinitialize(&before);
    keel_lines_deinitialize(&after);
    return status;
}

// A function of a library's that only one side keeps separate: its lines are its caller's.
static bool is_clients(const keel_difference_t *difference) {
    return strcmp(difference->subject, difference->place.function) == 0;
}

// A number in a function that computes in another dtype: a shift of bits, the range of an
// approximation.
static bool is_of_dtype(keel_diff_t *diff, const keel_difference_t *difference) {
    keel_op_id_t before = difference->old_op, after = difference->new_op;
    if (before == KEEL_NONE || after == KEEL_NONE) return false;
    keel_list_t x = keel_program_operands(diff->before.program, before);
    keel_list_t y = keel_program_operands(diff->after.program, after);
    bool is_other = false;
    for (uint32_t i = 0; i < x.count && i < y.count; ++i)
        is_other =
            is_other ||
            keel_diff_element_hash(&diff->before, keel_graph_type(&diff->before, x.items[i])) !=
                keel_diff_element_hash(&diff->after, keel_graph_type(&diff->after, y.items[i]));
    return is_other && keel_diff_is_one_call(diff, true, after);
}

static bool is_complex(const keel_program_t *program, keel_type_id_t type) {
    const keel_type_t *tensor = keel_program_type(program, type);
    return tensor->kind == KEEL_TYPE_TENSOR &&
           keel_program_type(program, tensor->a)->kind == KEEL_TYPE_COMPLEX;
}

static bool has_complex_argument(const keel_program_t *program, const keel_argument_t *arguments,
                                 uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (is_complex(program, arguments[i].type)) return true;
    return false;
}

// A square in a library's call. For complex numbers JAX computes it differently: a norm takes their
// parts.
static bool is_of_complex(keel_diff_t *diff, const keel_difference_t *difference) {
    return difference->new_op != KEEL_NONE && strcmp(difference->subject, "power") == 0 &&
           keel_diff_is_librarys(diff, difference->new_op) &&
           has_complex_argument(diff->before.program, diff->arguments_before, diff->before_count) !=
               has_complex_argument(diff->after.program, diff->arguments_after, diff->after_count);
}

static keel_status_t fold_implementations(keel_diff_t *diff) {
    uint32_t top = find_dtype(diff);
    for (uint32_t i = 0; top != KEEL_NONE && i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        const keel_difference_t *difference = &root->difference;
        if (root->follows != KEEL_NONE) continue;
        if (difference->kind == KEEL_CAUSE_NESTED_JIT && is_clients(difference))
            root->follows = top;
        if (difference->kind == KEEL_CAUSE_CONSTANT &&
            (is_of_dtype(diff, difference) || is_of_complex(diff, difference)))
            root->follows = top;
        if (difference->kind == KEEL_CAUSE_STRUCTURE && difference->old_op != KEEL_NONE &&
            difference->new_op != KEEL_NONE &&
            is_same_call(diff, difference->old_op, difference->new_op))
            KEEL_TRY(tell_expansion(diff, root, top));
    }
    return NULL;
}

// ---- branches on a dtype -----------------------------------------------------------------------

// The only operand of an operation that is not a constant; NONE.
static keel_value_id_t lone_source(const keel_graph_t *graph, keel_op_id_t op) {
    keel_value_id_t source = KEEL_NONE;
    keel_list_t operands = keel_program_operands(graph->program, op);
    for (uint32_t i = 0; i < operands.count; ++i) {
        keel_op_id_t producer = graph->producer[operands.items[i]];
        if (producer != KEEL_NONE && graph->constant[producer] != KEEL_NONE) continue;
        if (source != KEEL_NONE && source != operands.items[i]) return KEEL_NONE;
        source = operands.items[i];
    }
    return source == KEEL_NONE ? KEEL_NONE : keel_graph_outermost(graph, source);
}

// True if it converts an argument to the dtype that the argument has on the other side.
static bool converts_back(keel_diff_t *diff, bool is_after, keel_op_id_t op,
                          keel_value_id_t value) {
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_graph_t *other = is_after ? &diff->before : &diff->after;
    const keel_argument_t *here = is_after ? diff->arguments_after : diff->arguments_before;
    const keel_argument_t *there = is_after ? diff->arguments_before : diff->arguments_after;
    uint32_t count = is_after ? diff->after_count : diff->before_count;
    uint32_t number = keel_diff_argument(here, count, value);
    if (number == KEEL_NONE || here[number].counterpart == KEEL_NONE ||
        !keel_str_is(keel_graph_name(graph, op), "convert"))
        return false;
    uint64_t element = keel_diff_element_hash(other, there[here[number].counterpart].type);
    return keel_diff_element_hash(graph, result_type(graph, op)) == element &&
           keel_diff_element_hash(graph, here[number].type) != element;
}

// What only one side does to an argument of another dtype before both do the same with it: if
// x.dtype == uint8: x = x.astype(float32) / 255.
static bool is_prepared(keel_diff_t *diff, bool is_after, keel_op_id_t op) {
    enum { STEPS = 16 };
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_op_id_t *partner = is_after ? diff->origin : diff->counterpart;
    for (unsigned step = 0; step < STEPS && partner[op] == KEEL_NONE; ++step) {
        keel_value_id_t source = lone_source(graph, op);
        if (source == KEEL_NONE) return false;
        if (graph->producer[source] == KEEL_NONE) return converts_back(diff, is_after, op, source);
        op = graph->producer[source];
    }
    return false;
}

// Everything that a line has on one side only.
static bool is_line_prepared(keel_diff_t *diff, bool is_after, keel_op_id_t first) {
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_op_id_t *partner = is_after ? diff->origin : diff->counterpart;
    uint64_t identity = keel_graph_line(graph, first)->identity;
    if (!identity || !is_prepared(diff, is_after, first)) return false;
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        if (partner[op] != KEEL_NONE || graph->constant[op] != KEEL_NONE ||
            keel_graph_line(graph, op)->identity != identity)
            continue;
        if (!is_prepared(diff, is_after, op)) return false;
    }
    return true;
}

// The operation that only one side has, if the root is such a branch and leads; NONE.
static keel_op_id_t lone_branch(const keel_root_t *root, bool *out_is_after) {
    const keel_difference_t *difference = &root->difference;
    *out_is_after = difference->new_op != KEEL_NONE;
    if (root->follows != KEEL_NONE || difference->kind != KEEL_CAUSE_STRUCTURE ||
        *out_is_after == (difference->old_op != KEEL_NONE))
        return KEEL_NONE;
    return *out_is_after ? difference->new_op : difference->old_op;
}

static void fold_branches(keel_diff_t *diff) {
    uint32_t top = find_dtype(diff);
    for (uint32_t i = 0; top != KEEL_NONE && i < diff->root_count; ++i) {
        bool is_after;
        keel_op_id_t op = lone_branch(&diff->roots[i], &is_after);
        if (op != KEEL_NONE && is_line_prepared(diff, is_after, op)) diff->roots[i].follows = top;
    }
}

// HLO: what is done to the argument in one dtype only: it is converted, or a function of PyTorch's
// does something else, as with a mask of booleans instead of numbers.
static bool is_done_to(keel_diff_t *diff, bool is_after, keel_op_id_t first, uint32_t root) {
    enum { SEVERAL = 3 }; // that a function becomes
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_op_id_t *partner = is_after ? diff->origin : diff->counterpart;
    uint64_t identity = keel_graph_line(graph, first)->identity;
    unsigned count = 0, taken = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        if (partner[op] != KEEL_NONE || (op != first && !identity) ||
            keel_graph_line(graph, op)->identity != identity)
            continue;
        bool is_convert = op == first && keel_str_is(keel_graph_name(graph, op), "convert");
        keel_list_t operands = keel_program_operands(graph->program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            keel_value_id_t value = operands.items[i];
            if (!is_after) value = diff->value_counterpart[value];
            if (value == KEEL_NONE || diff->taint[value] != root + 1) continue;
            if (is_convert) return true;
            ++taken;
        }
        ++count;
    }
    return taken && count >= SEVERAL;
}

static void fold_converted(keel_diff_t *diff) {
    uint32_t top = keel_diff_find(diff, KEEL_CAUSE_DTYPE);
    for (uint32_t i = 0; top != KEEL_NONE && i < diff->root_count; ++i) {
        bool is_after;
        keel_op_id_t op = lone_branch(&diff->roots[i], &is_after);
        if (op != KEEL_NONE && is_done_to(diff, is_after, op, top)) diff->roots[i].follows = top;
    }
}

keel_status_t keel_diff_dtypes(keel_diff_t *diff) {
    if (diff->after.lender) {
        fold_converted(diff); // PyTorch passes its numbers as arguments, or bakes them in
        return NULL;
    }
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (diff->roots[i].follows == KEEL_NONE) tell_weak_move(diff, &diff->roots[i]);
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (diff->roots[i].follows == KEEL_NONE) tell_weak_conversion(diff, &diff->roots[i]);
    fold_numbers(diff);
    fold_branches(diff);
    return fold_implementations(diff);
}
