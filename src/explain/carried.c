// Values that are passed on by their place in a list, without a name: what a loop carries, and what
// a function takes and returns. A value that came or went shifts all after it, so the lists are
// aligned: first by where the values come from, then by their types.
#include "explain/align.h"
#include "explain/pair.h"

typedef struct values_t {
    const keel_value_id_t *items;
    uint32_t count;
} values_t;

enum { BY_SOURCE, BY_TYPE, BY_KIND, LEVELS };

static uint64_t token_of(keel_diff_t *diff, bool is_after, keel_value_id_t value, int level) {
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_type_id_t type = keel_graph_type(graph, value);
    if (level == BY_TYPE) return keel_graph_type_hash(graph, type);
    if (level == BY_KIND) return keel_fit_token(diff, graph, type);
    keel_op_id_t producer = graph->producer[value];
    keel_op_id_t constant = producer == KEEL_NONE ? KEEL_NONE : graph->constant[producer];
    if (constant != KEEL_NONE) {
        keel_attr_id_t contents = graph->program->operations.data[constant].attributes;
        return keel_graph_join(keel_graph_type_hash(graph, type),
                               keel_graph_attr_hash(graph, contents));
    }
    // A value without a counterpart matches no other.
    if (is_after) return keel_graph_join(1, value);
    keel_value_id_t counterpart = diff->value_counterpart[value];
    return counterpart == KEEL_NONE ? keel_graph_join(2, value) : keel_graph_join(1, counterpart);
}

static bool fits(const keel_diff_t *diff, keel_value_id_t before, keel_value_id_t after) {
    keel_type_id_t x = keel_graph_type(&diff->before, before);
    keel_type_id_t y = keel_graph_type(&diff->after, after);
    return keel_fit_class(diff, x, y) && keel_fit_rank(diff, x, y);
}

static bool fit_in_place(const keel_diff_t *diff, values_t x, values_t y) {
    if (x.count != y.count) return false;
    for (uint32_t i = 0; i < x.count; ++i)
        if (!fits(diff, x.items[i], y.items[i]) &&
            diff->value_counterpart[x.items[i]] != y.items[i])
            return false;
    return true;
}

// Gives for each of `y` its place in `x`; UINT32_MAX if it has none.
static keel_status_t align(keel_diff_t *diff, values_t x, values_t y, keel_arena_t *scratch,
                           uint32_t *to_x) {
    if (fit_in_place(diff, x, y)) {
        for (uint32_t i = 0; i < y.count; ++i)
            to_x[i] = i;
        return NULL;
    }
    uint32_t *to_y;
    uint64_t *tokens;
    KEEL_TRY(keel_arena_array(scratch, x.count + 1u, sizeof *to_y, (void **)&to_y));
    KEEL_TRY(
        keel_arena_array(scratch, (size_t)x.count + y.count + 1, sizeof *tokens, (void **)&tokens));
    memset(to_y, 0xff, x.count * sizeof *to_y);
    memset(to_x, 0xff, y.count * sizeof *to_x);
    for (int level = 0; level < LEVELS; ++level) {
        for (uint32_t i = 0; i < x.count; ++i)
            tokens[i] = token_of(diff, false, x.items[i], level);
        for (uint32_t i = 0; i < y.count; ++i)
            tokens[x.count + i] = token_of(diff, true, y.items[i], level);
        KEEL_TRY(keel_align_gaps(tokens, x.count, tokens + x.count, y.count, KEEL_ALIGN_EDITS / 4,
                                 to_y, to_x));
        for (uint32_t i = 0; i < y.count; ++i) {
            if (level != BY_KIND || to_x[i] == UINT32_MAX ||
                fits(diff, x.items[to_x[i]], y.items[i]) ||
                diff->value_counterpart[x.items[to_x[i]]] == y.items[i])
                continue;
            to_y[to_x[i]] = UINT32_MAX;
            to_x[i] = UINT32_MAX;
        }
    }
    return NULL;
}

// ---- of one pair of operations -----------------------------------------------------------------

// What these operations do does not depend on the places of their values.
static bool is_list(const keel_graph_t *graph, keel_op_id_t op) {
    static const char *const lists[] = {
        "while", "call", "return", "case", "optimization_barrier", "composite"};
    keel_str_t name = keel_graph_name(graph, op);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        if (keel_str_is(name, lists[i])) return true;
    return false;
}

static void pair_value(keel_diff_t *diff, keel_value_id_t before, keel_value_id_t after) {
    diff->value_counterpart[before] = after;
    diff->value_origin[after] = before;
}

// By place, or by `to_x` if that is not NULL.
static void pair_values(keel_diff_t *diff, keel_value_id_t before, uint32_t before_count,
                        keel_value_id_t after, uint32_t after_count, const uint32_t *to_x) {
    for (uint32_t i = 0; i < after_count; ++i) {
        uint32_t at = to_x ? to_x[i] : i;
        if (at < before_count) pair_value(diff, before + at, after + i);
    }
}

static keel_status_t range(keel_arena_t *scratch, keel_value_id_t first, uint32_t count,
                           values_t *out) {
    keel_value_id_t *items;
    KEEL_TRY(keel_arena_array(scratch, count + 1u, sizeof *items, (void **)&items));
    for (uint32_t i = 0; i < count; ++i)
        items[i] = first + i;
    *out = (values_t){items, count};
    return NULL;
}

static keel_status_t pair_ranges(keel_diff_t *diff, keel_value_id_t before, uint32_t before_count,
                                 keel_value_id_t after, uint32_t after_count,
                                 keel_arena_t *scratch) {
    values_t x, y;
    uint32_t *to_x;
    KEEL_TRY(range(scratch, before, before_count, &x));
    KEEL_TRY(range(scratch, after, after_count, &y));
    KEEL_TRY(keel_arena_array(scratch, after_count + 1u, sizeof *to_x, (void **)&to_x));
    KEEL_TRY(align(diff, x, y, scratch, to_x));
    pair_values(diff, before, before_count, after, after_count, to_x);
    return NULL;
}

static keel_status_t pair_operands(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after,
                                   bool is_carried, keel_arena_t *scratch) {
    keel_list_t x = keel_program_operands(diff->before.program, before);
    keel_list_t y = keel_program_operands(diff->after.program, after);
    uint32_t *to_x = keel_diff_operand_origins(diff, after);
    if (is_carried)
        return align(diff, (values_t){x.items, x.count}, (values_t){y.items, y.count}, scratch,
                     to_x);
    for (uint32_t i = 0; i < y.count; ++i)
        to_x[i] = i < x.count ? i : KEEL_NONE;
    return NULL;
}

static keel_status_t pair_regions(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after,
                                  bool is_loop, keel_arena_t *scratch) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_region_run_t a = keel_program_regions(p, before), b = keel_program_regions(q, after);
    keel_list_t operands = keel_program_operands(q, after);
    uint32_t *to_x = keel_diff_operand_origins(diff, after);
    for (uint32_t i = 0; i < a.count && i < b.count; ++i) {
        if (!a.items[i].block_count || !b.items[i].block_count) continue;
        const keel_block_t *x = &p->blocks.data[a.items[i].first_block];
        const keel_block_t *y = &q->blocks.data[b.items[i].first_block];
        if (is_loop && y->argument_count == operands.count)
            pair_values(diff, x->first_argument, x->argument_count, y->first_argument,
                        y->argument_count, to_x);
        else
            KEEL_TRY(pair_ranges(diff, x->first_argument, x->argument_count, y->first_argument,
                                 y->argument_count, scratch));
    }
    return NULL;
}

keel_status_t keel_pair_values(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after,
                               keel_arena_t *scratch) {
    const keel_operation_t *p = &diff->before.program->operations.data[before];
    const keel_operation_t *q = &diff->after.program->operations.data[after];
    bool is_mlir = !diff->after.lender; // HLO's loops carry one tuple
    bool is_carried = is_mlir && is_list(&diff->after, after);
    bool is_loop = is_carried && keel_str_is(keel_graph_name(&diff->after, after), "while");
    KEEL_TRY(pair_operands(diff, before, after, is_carried, scratch));
    if (is_loop)
        pair_values(diff, p->first_result, p->result_count, q->first_result, q->result_count,
                    keel_diff_operand_origins(diff, after));
    else if (is_carried)
        KEEL_TRY(pair_ranges(diff, p->first_result, p->result_count, q->first_result,
                             q->result_count, scratch));
    else
        pair_values(diff, p->first_result, p->result_count, q->first_result, q->result_count, NULL);
    return pair_regions(diff, before, after, is_loop, scratch);
}

keel_status_t keel_pair_arguments(keel_diff_t *diff, keel_function_pair_t functions,
                                  keel_arena_t *scratch) {
    const keel_block_t *x = keel_program_body(diff->before.program, functions.before);
    const keel_block_t *y = keel_program_body(diff->after.program, functions.after);
    keel_op_id_t call = diff->after.call_site[functions.after];
    if (!x || !y) return NULL;
    bool is_by_call = call != KEEL_NONE && diff->origin[call] != KEEL_NONE &&
                      keel_program_operands(diff->after.program, call).count == y->argument_count;
    if (!is_by_call)
        return pair_ranges(diff, x->first_argument, x->argument_count, y->first_argument,
                           y->argument_count, scratch);
    pair_values(diff, x->first_argument, x->argument_count, y->first_argument, y->argument_count,
                keel_diff_operand_origins(diff, call));
    return NULL;
}

// 0: it does not take a part.
static uint32_t parts_of(const keel_graph_t *graph, keel_op_id_t op) {
    keel_list_t operands = keel_program_operands(graph->program, op);
    if (!keel_str_is(keel_graph_name(graph, op), "get-tuple-element") || !operands.count) return 0;
    const keel_type_t *type =
        keel_program_type(graph->program, keel_graph_type(graph, operands.items[0]));
    return type->kind == KEEL_TYPE_TUPLE ? keel_program_list(graph->program, type->b).count : 0;
}

bool keel_pair_is_of_other_list(const keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after) {
    return parts_of(&diff->before, before) != parts_of(&diff->after, after);
}
