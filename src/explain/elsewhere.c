// Operations that were paired but lead to different places. If an argument came or went, so did
// what is computed from it, often by the same library lines that other values go through: a density
// for each value, an update for each weight. Then a difference between the two means nothing.
#include "explain/pair.h"

// One side of a comparison.
typedef struct users_side_t {
    const keel_graph_t *graph;
    const keel_op_id_t *partner; // by operation
    const uint32_t *first;       // by value: where its users begin; one more entry at the end
    const keel_op_id_t *users;
    bool is_after;
} users_side_t;

static keel_status_t list_users(const keel_program_t *program, keel_arena_t *scratch,
                                users_side_t *out) {
    uint32_t values = program->value_types.count;
    uint32_t *first;
    keel_op_id_t *users;
    KEEL_TRY(keel_arena_array(scratch, values + 2u, sizeof *first, (void **)&first));
    KEEL_TRY(
        keel_arena_array(scratch, program->operands.count + 1u, sizeof *users, (void **)&users));
    memset(first, 0, (values + 2u) * sizeof *first);
    for (uint32_t i = 0; i < program->operands.count; ++i)
        ++first[program->operands.data[i] + 2];
    for (uint32_t value = 0; value < values; ++value)
        first[value + 2] += first[value + 1];
    // While it is being filled, a value's next free slot is one entry further.
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op) {
        keel_list_t operands = keel_program_operands(program, op);
        for (uint32_t i = 0; i < operands.count; ++i)
            users[first[operands.items[i] + 1]++] = op;
    }
    out->first = first;
    out->users = users;
    return NULL;
}

// ---- what is computed alike --------------------------------------------------------------------

static bool is_same_operand(const keel_diff_t *diff, const uint8_t *is_same, keel_value_id_t before,
                            keel_value_id_t after) {
    keel_op_id_t p = diff->before.producer[before], q = diff->after.producer[after];
    bool was_constant = p != KEEL_NONE && diff->before.constant[p] != KEEL_NONE;
    bool is_constant = q != KEEL_NONE && diff->after.constant[q] != KEEL_NONE;
    if (was_constant || is_constant) return was_constant && is_constant;
    return diff->value_counterpart[before] == after && (q == KEEL_NONE || is_same[q]);
}

static uint64_t value_of(keel_graph_t *graph, keel_value_id_t value) {
    keel_op_id_t op = graph->producer[value];
    op = op == KEEL_NONE ? op : graph->constant[op];
    if (op == KEEL_NONE) return 0;
    return keel_graph_attr_hash(graph, graph->program->operations.data[op].attributes);
}

// The same operation on the same values: a true pair, wherever it leads.
static bool is_same_op(keel_diff_t *diff, const uint8_t *same, keel_op_id_t before,
                       keel_op_id_t after) {
    const keel_operation_t *p = &diff->before.program->operations.data[before];
    const keel_operation_t *q = &diff->after.program->operations.data[after];
    keel_list_t x = keel_program_operands(diff->before.program, before);
    keel_list_t y = keel_program_operands(diff->after.program, after);
    if (x.count != y.count || p->result_count != q->result_count ||
        keel_graph_attr_hash(&diff->before, p->attributes) !=
            keel_graph_attr_hash(&diff->after, q->attributes))
        return false;
    for (uint32_t i = 0; i < x.count; ++i)
        if (!is_same_operand(diff, same, x.items[i], y.items[i]) ||
            value_of(&diff->before, x.items[i]) != value_of(&diff->after, y.items[i]))
            return false;
    for (uint32_t i = 0; i < p->result_count; ++i)
        if (!keel_pair_same_type(diff, p->first_result + i, q->first_result + i)) return false;
    return true;
}

// ---- where it leads ----------------------------------------------------------------------------

enum { SEEN = 64 };

typedef struct ends_t {
    keel_op_id_t ops[SEEN]; // of `before`
    uint32_t count;
} ends_t;

static bool has_op(const keel_op_id_t *list, uint32_t count, keel_op_id_t op) {
    for (uint32_t i = 0; i < count; ++i)
        if (list[i] == op) return true;
    return false;
}

// The next operations that both programs have, reached through those that only one has. False if
// there are too many.
static bool find_ends(const users_side_t *side, keel_op_id_t op, ends_t *out) {
    keel_op_id_t seen[SEEN];
    uint32_t count = 1;
    seen[0] = op;
    out->count = 0;
    for (uint32_t next = 0; next < count; ++next) {
        const keel_operation_t *operation = &side->graph->program->operations.data[seen[next]];
        uint32_t from = side->first[operation->first_result];
        uint32_t end = side->first[operation->first_result + operation->result_count];
        for (uint32_t i = from; operation->result_count && i < end; ++i) {
            keel_op_id_t user = side->users[i];
            keel_op_id_t partner = side->partner[user];
            if (partner == KEEL_NONE) {
                if (has_op(seen, count, user)) continue;
                if (count == SEEN) return false;
                seen[count++] = user;
                continue;
            }
            if (side->is_after) user = partner;
            if (has_op(out->ops, out->count, user)) continue;
            if (out->count == SEEN) return false;
            out->ops[out->count++] = user;
        }
    }
    return true;
}

static bool leads_elsewhere(const users_side_t *before, const users_side_t *after, keel_op_id_t p,
                            keel_op_id_t q) {
    ends_t x, y;
    if (!find_ends(before, p, &x) || !find_ends(after, q, &y) || !x.count || !y.count) return false;
    for (uint32_t i = 0; i < x.count; ++i)
        if (has_op(y.ops, y.count, x.ops[i])) return false;
    return true;
}

// ---- all of them -------------------------------------------------------------------------------

static bool is_plain_op(const keel_graph_t *graph, keel_op_id_t op) {
    return keel_graph_callee(graph, op) == KEEL_NONE &&
           !keel_program_regions(graph->program, op).count;
}

static void part(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after) {
    const keel_operation_t *p = &diff->before.program->operations.data[before];
    const keel_operation_t *q = &diff->after.program->operations.data[after];
    diff->counterpart[before] = diff->origin[after] = KEEL_NONE;
    for (uint32_t i = 0; i < p->result_count; ++i)
        diff->value_counterpart[p->first_result + i] = KEEL_NONE;
    for (uint32_t i = 0; i < q->result_count; ++i)
        diff->value_origin[q->first_result + i] = KEEL_NONE;
    diff->differs_in_structure[diff->after.function_of[after]] = true;
}

keel_status_t keel_pair_part(keel_diff_t *diff, keel_arena_t *scratch) {
    if (diff->after.lender || !keel_diff_has_unpaired(diff)) return NULL;
    uint32_t count = keel_program_op_count(diff->after.program);
    users_side_t before = {.graph = &diff->before, .partner = diff->counterpart};
    users_side_t after = {.graph = &diff->after, .partner = diff->origin, .is_after = true};
    uint8_t *same;
    KEEL_TRY(list_users(diff->before.program, scratch, &before));
    KEEL_TRY(list_users(diff->after.program, scratch, &after));
    KEEL_TRY(keel_arena_array(scratch, count + 1u, 1, (void **)&same));
    for (keel_op_id_t op = 0; op < count; ++op)
        same[op] = diff->origin[op] != KEEL_NONE && is_plain_op(&diff->after, op) &&
                   is_same_op(diff, same, diff->origin[op], op);
    // From last to first: what leads to a pair that was separated is checked again.
    for (keel_op_id_t op = count; op-- > 0;) {
        keel_op_id_t origin = diff->origin[op];
        if (origin != KEEL_NONE && !same[op] && is_plain_op(&diff->after, op) &&
            is_plain_op(&diff->before, origin) && leads_elsewhere(&before, &after, origin, op))
            part(diff, origin, op);
    }
    return NULL;
}
