// Gradients that are created in one program and added to in another. Seen from the program: some
// arguments are on one side only, and each is used once, by an addition whose sum is returned.
#define _GNU_SOURCE
#include "explain/diff.h"

// One side of the comparison.
typedef struct side_t {
    keel_graph_t *graph;
    const keel_argument_t *arguments;
    const uint32_t *others; // by operation: its counterpart
    uint32_t count;
    bool is_after;
} side_t;

// The only operation that uses the value; NONE where there are several or none.
static keel_op_id_t only_user(const side_t *side, keel_value_id_t value) {
    const keel_program_t *program = side->graph->program;
    keel_op_id_t first, end, found = KEEL_NONE;
    keel_graph_body(side->graph, program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        keel_list_t operands = keel_program_operands(program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            if (operands.items[i] != value) continue;
            if (found != KEEL_NONE) return KEEL_NONE;
            found = op;
        }
    }
    return found;
}

// The number of the result that a value is given back as; NONE.
static uint32_t result_of(const side_t *side, keel_value_id_t value) {
    keel_op_id_t user = only_user(side, value);
    if (user == KEEL_NONE) return KEEL_NONE;
    keel_str_t name = keel_graph_name(side->graph, user);
    if (!keel_str_is(name, "return") && !keel_str_is(name, "tuple")) return KEEL_NONE;
    keel_list_t operands = keel_program_operands(side->graph->program, user);
    uint32_t number = 0;
    while (operands.items[number] != value)
        ++number;
    return number;
}

// The addition that an argument is accumulated by; NONE.
static keel_op_id_t accumulation(const side_t *side, const keel_argument_t *argument,
                                 uint32_t *out_result) {
    keel_op_id_t op = only_user(side, argument->value);
    if (op == KEEL_NONE || !keel_str_is(keel_graph_name(side->graph, op), "add") ||
        side->others[op] != KEEL_NONE)
        return KEEL_NONE;
    const keel_operation_t *operation = &side->graph->program->operations.data[op];
    if (keel_graph_type(side->graph, operation->first_result) != argument->type) return KEEL_NONE;
    *out_result = result_of(side, operation->first_result);
    return *out_result == KEEL_NONE ? KEEL_NONE : op;
}

static bool is_named_so(keel_str_t name) {
    return memmem(name.data, name.size, "grad", 4) || memmem(name.data, name.size, "accum", 5) ||
           (keel_str_starts(name, KEEL_STR("acc")) &&
            (name.size == 3 || name.data[3] == '[' || name.data[3] == '.'));
}

// "['w']" of "acc['w']" and of "result[1]['w']": a tree is given back as it came.
static keel_str_t leaf_of(keel_str_t name) {
    size_t begin = name.size;
    while (begin > 0 && name.data[begin - 1] != '[' && name.data[begin - 1] != '.')
        --begin;
    return (keel_str_t){name.data + begin, name.size - begin};
}

// The first addition, where all arguments of this side that the other lacks are accumulated. That
// may be a residual or a bias too, so they must be called gradients, or come back under their
// names.
static keel_op_id_t all_accumulated(const side_t *side) {
    keel_op_id_t first = KEEL_NONE;
    uint32_t lonely = 0;
    bool is_named = false, comes_back = true;
    enum { MOST = 4096 }; // each looks at the whole entry
    for (uint32_t i = 0; i < side->count; ++i) {
        if (side->arguments[i].counterpart != KEEL_NONE) continue;
        if (++lonely > MOST) return KEEL_NONE;
        // After the first few the rest is believed: a look at each costs the square of the program.
        if (lonely > 8) continue;
        uint32_t result;
        keel_op_id_t op = accumulation(side, &side->arguments[i], &result);
        if (op == KEEL_NONE) return KEEL_NONE;
        if (first == KEEL_NONE || op < first) first = op;
        keel_str_t name = side->arguments[i].name, leaf = leaf_of(name);
        is_named = is_named || is_named_so(name);
        comes_back = comes_back && leaf.size && leaf.size < name.size &&
                     keel_str_equal(leaf, leaf_of(keel_diff_result_name(side->graph, result)));
    }
    return is_named || (lonely > 1 && comes_back) ? first : KEEL_NONE;
}

keel_status_t keel_diff_gradient(keel_diff_t *diff) {
    if (keel_diff_find(diff, KEEL_CAUSE_ARGUMENTS) == KEEL_NONE) return NULL;
    side_t sides[] = {
        {&diff->before, diff->arguments_before, diff->counterpart, diff->before_count, false},
        {&diff->after, diff->arguments_after, diff->origin, diff->after_count, true}};
    for (size_t i = 0; i < 2; ++i) {
        keel_op_id_t op = all_accumulated(&sides[i]);
        if (op == KEEL_NONE) continue;
        uint32_t first = keel_diff_find(diff, KEEL_CAUSE_ARGUMENTS);
        for (uint32_t root = first; root < diff->root_count; ++root) {
            keel_root_t *argument = &diff->roots[root];
            if (argument->difference.kind != KEEL_CAUSE_ARGUMENTS) continue;
            if (root != first) argument->follows = first;
        }
        keel_difference_t *difference = &diff->roots[first].difference;
        difference->kind = KEEL_CAUSE_GRADIENT;
        difference->old_value = sides[i].is_after ? "create" : "accumulate";
        difference->new_value = sides[i].is_after ? "accumulate" : "create";
        difference->place = keel_diff_place(diff, sides[i].is_after, op);
        *(sides[i].is_after ? &difference->new_op : &difference->old_op) = op;
        return NULL;
    }
    return NULL;
}
