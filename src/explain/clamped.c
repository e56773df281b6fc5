// The largest index that a gather, a scatter or a choice between branches may use. JAX clamps
// indices to the dimension minus the window, or to the number of branches, and writes that as a
// constant.
#include "explain/pair.h"

static keel_op_id_t first_user(const keel_graph_t *graph, keel_op_id_t op, uint32_t *out_operand) {
    keel_op_id_t first, end;
    if (graph->function_of[op] == KEEL_NONE) return KEEL_NONE;
    keel_graph_body(graph, graph->function_of[op], &first, &end);
    keel_value_id_t value = graph->program->operations.data[op].first_result;
    for (keel_op_id_t user = op + 1; user < end; ++user) {
        keel_list_t operands = keel_program_operands(graph->program, user);
        for (uint32_t i = 0; i < operands.count; ++i) {
            if (operands.items[i] != value) continue;
            *out_operand = i;
            return user;
        }
    }
    return KEEL_NONE;
}

static bool is_choice(const keel_graph_t *graph, keel_op_id_t op) {
    return keel_str_is(keel_graph_name(graph, op), "case");
}

// The operation whose indices are clamped to that operand of `op`; NONE.
static keel_op_id_t indexed_by(const keel_graph_t *graph, keel_op_id_t op, uint32_t operand) {
    enum { STEPS = 8, UPPER = 2, INDICES = 1, CHOSEN = 0 };
    bool is_clamped = false;
    for (unsigned step = 0; op != KEEL_NONE && step < STEPS; ++step) {
        keel_str_t name = keel_graph_name(graph, op);
        if (keel_str_is(name, "gather") || keel_str_is(name, "scatter"))
            return is_clamped && operand == INDICES ? op : KEEL_NONE;
        if (is_choice(graph, op)) return is_clamped && operand == CHOSEN ? op : KEEL_NONE;
        if (keel_str_is(name, "clamp") && !is_clamped && operand == UPPER)
            is_clamped = true;
        else if (!keel_graph_only_reshapes(name) && (is_clamped || !keel_str_is(name, "minimum")))
            return KEEL_NONE;
        op = first_user(graph, op, &operand);
    }
    return KEEL_NONE;
}

// The dimension that element `at` of an index refers to; -1 if that is not known.
static int64_t indexed_dim(const keel_program_t *program, keel_op_id_t op, uint32_t at) {
    static const char *const names[] = {"start_index_map", "scatter_dims_to_operand_dims"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const keel_attr_t *attr = keel_program_attr(
            program,
            keel_program_dict_find(program, program->operations.data[op].attributes, names[i]));
        if (attr->kind == KEEL_ATTR_INTS) {
            keel_ints_t ints = keel_program_ints(program, attr->b);
            return at < ints.count ? ints.items[at] : -1;
        }
        if (attr->kind != KEEL_ATTR_TENSOR) continue;
        keel_tensor_view_t tensor;
        double number;
        keel_status_t status =
            keel_program_tensor(program, attr->a, program->blobs.data[attr->b], &tensor);
        bool is_good = !status && at < tensor.count &&
                       keel_diff_number(program, attr->a, &tensor, at, &number) && number >= 0 &&
                       number <= INT32_MAX;
        keel_status_ignore(status);
        return is_good ? (int64_t)number : -1;
    }
    return -1;
}

uint32_t keel_pair_last_index(keel_diff_t *diff, const keel_pair_t *pair, uint32_t operand,
                              uint32_t at, double before, double after) {
    keel_op_id_t op = indexed_by(&diff->after, pair->after, operand);
    if (op == KEEL_NONE || diff->origin[op] == KEEL_NONE || is_choice(&diff->after, op))
        return KEEL_NONE;
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_list_t was = keel_program_operands(p, diff->origin[op]);
    keel_list_t is = keel_program_operands(q, op);
    int64_t indexed = indexed_dim(q, op, at);
    if (!was.count || !is.count || indexed < 0) return KEEL_NONE;
    keel_ints_t x = keel_diff_dims(p, keel_graph_type(&diff->before, was.items[0]));
    keel_ints_t y = keel_diff_dims(q, keel_graph_type(&diff->after, is.items[0]));
    uint64_t dim = (uint64_t)indexed;
    if (x.count != y.count || dim >= x.count || x.items[dim] == y.items[dim]) return KEEL_NONE;
    double window = (double)x.items[dim] - before;
    if (window < 1 || window != (double)y.items[dim] - after) return KEEL_NONE;
    return keel_sizes_explain(&diff->sizes, x.items[dim], y.items[dim]);
}

// ---- branches ----------------------------------------------------------------------------------

static bool is_within(const keel_program_t *program, keel_op_id_t choice, keel_op_id_t op) {
    keel_region_run_t regions = keel_program_regions(program, choice);
    return op != KEEL_NONE && op > choice && regions.count &&
           op < regions.items[regions.count - 1].end;
}

// That choice has one branch more or less.
static uint32_t branch_of(const keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_difference_t *one = &diff->roots[i].difference;
        if (one->kind == KEEL_CAUSE_STRUCTURE && diff->roots[i].follows == KEEL_NONE &&
            (is_within(diff->before.program, before, one->old_op) ||
             is_within(diff->after.program, after, one->new_op)))
            return i;
    }
    return KEEL_NONE;
}

void keel_diff_choices(keel_diff_t *diff) {
    enum { UPPER = 2 };
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        keel_op_id_t clamp = root->difference.new_op;
        if (root->difference.kind != KEEL_CAUSE_CONSTANT || root->follows != KEEL_NONE ||
            !root->is_number || clamp == KEEL_NONE)
            continue;
        keel_op_id_t choice = indexed_by(&diff->after, clamp, UPPER);
        if (choice == KEEL_NONE || !is_choice(&diff->after, choice) ||
            diff->origin[choice] == KEEL_NONE)
            continue;
        keel_op_id_t origin = diff->origin[choice];
        if (root->before != (double)keel_program_regions(diff->before.program, origin).count - 1 ||
            root->after != (double)keel_program_regions(diff->after.program, choice).count - 1)
            continue;
        root->follows = branch_of(diff, origin, choice);
    }
}
