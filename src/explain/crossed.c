// Equal operations that were paired crosswise. A program does the same thing several times (layers,
// steps of a decoder), so tokens alone cannot tell which is which; what an operation takes does.
#include "explain/pair.h"

typedef struct crossed_t {
    const keel_diff_t *diff;
    const keel_paired_t *a, *b;
    uint32_t *place_a, *place_b; // by operation: its place in the sequence; UINT32_MAX
    uint32_t *first_user;        // by value of `before`, into `users`; one more at the end
    uint32_t *users;             // places in `a`
} crossed_t;

enum { TRIED = 64 }; // users of one value

static bool is_argument(const keel_graph_t *graph, keel_value_id_t value) {
    keel_op_id_t op = graph->producer[value];
    return op == KEEL_NONE || keel_graph_is_parameter(graph, op);
}

static bool is_constant(const keel_graph_t *graph, keel_value_id_t value) {
    keel_op_id_t op = graph->producer[value];
    return op != KEEL_NONE && graph->constant[op] != KEEL_NONE &&
           !keel_graph_is_parameter(graph, op);
}

// True if one is known to be the other.
static bool is_same_value(const crossed_t *crossed, keel_value_id_t x, keel_value_id_t y) {
    const keel_diff_t *diff = crossed->diff;
    if (is_argument(&diff->before, x) || is_argument(&diff->after, y))
        return diff->value_counterpart[x] == y;
    keel_op_id_t p = diff->before.producer[x], q = diff->after.producer[y];
    uint32_t i = crossed->place_a[p], j = crossed->place_b[q];
    return i != UINT32_MAX && j != UINT32_MAX && crossed->a->to_other[i] == j &&
           x - diff->before.program->operations.data[p].first_result ==
               y - diff->after.program->operations.data[q].first_result;
}

static bool takes_the_same(const crossed_t *crossed, uint32_t i, uint32_t j) {
    const keel_diff_t *diff = crossed->diff;
    keel_list_t x = keel_program_operands(diff->before.program, crossed->a->ops[i]);
    keel_list_t y = keel_program_operands(diff->after.program, crossed->b->ops[j]);
    if (x.count != y.count) return false;
    for (uint32_t k = 0; k < x.count; ++k) {
        bool is_shared = is_constant(&diff->before, x.items[k]) &&
                         is_constant(&diff->after, y.items[k]); // compared at its uses
        if (!is_shared && !is_same_value(crossed, x.items[k], y.items[k])) return false;
    }
    return true;
}

// The value of `before` that an operand is; KEEL_NONE.
static keel_value_id_t known_as(const crossed_t *crossed, keel_value_id_t y) {
    const keel_diff_t *diff = crossed->diff;
    if (is_argument(&diff->after, y)) return diff->value_origin[y];
    keel_op_id_t q = diff->after.producer[y];
    uint32_t j = crossed->place_b[q];
    if (j == UINT32_MAX || crossed->b->to_other[j] == UINT32_MAX) return KEEL_NONE;
    keel_op_id_t p = crossed->a->ops[crossed->b->to_other[j]];
    uint32_t result = y - diff->after.program->operations.data[q].first_result;
    const keel_operation_t *operation = &diff->before.program->operations.data[p];
    return result < operation->result_count ? operation->first_result + result : KEEL_NONE;
}

// What is on the same line stays paired with it; and what loses its counterpart to another must be
// equal to the one that it gets.
static bool may_swap(const crossed_t *crossed, uint32_t i, uint32_t j) {
    uint32_t old = crossed->b->to_other[j], other = crossed->a->to_other[i];
    const uint64_t *x = crossed->a->stacks, *y = crossed->b->stacks;
    bool has_old = old != UINT32_MAX, has_other = other != UINT32_MAX;
    if (x[i] != y[j] && ((has_old && x[old] == y[j]) || (has_other && x[i] == y[other])))
        return false;
    return !has_old || !has_other || crossed->a->tokens[old] == crossed->b->tokens[other];
}

// The operation of `before` that is equal to `j` and takes what it takes, and whose own counterpart
// does not; UINT32_MAX.
static uint32_t find_better(const crossed_t *crossed, uint32_t j) {
    keel_list_t y = keel_program_operands(crossed->diff->after.program, crossed->b->ops[j]);
    for (uint32_t k = 0; k < y.count; ++k) {
        if (is_constant(&crossed->diff->after, y.items[k])) continue;
        keel_value_id_t x = known_as(crossed, y.items[k]);
        if (x == KEEL_NONE) continue;
        uint32_t end = crossed->first_user[x + 1];
        for (uint32_t at = crossed->first_user[x]; at < end && at < crossed->first_user[x] + TRIED;
             ++at) {
            uint32_t i = crossed->users[at], other = crossed->a->to_other[i];
            if (crossed->a->tokens[i] == crossed->b->tokens[j] && may_swap(crossed, i, j) &&
                takes_the_same(crossed, i, j) &&
                (other == UINT32_MAX || !takes_the_same(crossed, i, other)))
                return i;
        }
        return UINT32_MAX;
    }
    return UINT32_MAX;
}

static keel_status_t list_places(const keel_graph_t *graph, const keel_paired_t *side,
                                 keel_arena_t *arena, uint32_t **out) {
    size_t size = ((size_t)keel_program_op_count(graph->program) + 1) * sizeof **out;
    void *memory;
    KEEL_TRY(keel_arena_alloc(arena, size, &memory));
    *out = memset(memory, 0xff, size);
    for (uint32_t i = 0; i < side->count; ++i)
        (*out)[side->ops[i]] = i;
    return NULL;
}

// By value, which operations of the sequence take it: first counted, then filled in from the back.
static keel_status_t list_users(crossed_t *crossed, keel_arena_t *arena) {
    const keel_program_t *program = crossed->diff->before.program;
    size_t values = program->value_types.count, users = 0;
    void *memory;
    KEEL_TRY(keel_arena_array(arena, values + 2, sizeof(uint32_t), &memory));
    uint32_t *first = crossed->first_user = memset(memory, 0, (values + 2) * sizeof(uint32_t));
    for (uint32_t i = 0; i < crossed->a->count; ++i) {
        keel_list_t operands = keel_program_operands(program, crossed->a->ops[i]);
        users += operands.count;
        for (uint32_t k = 0; k < operands.count; ++k)
            ++first[operands.items[k]];
    }
    for (size_t value = 1; value <= values; ++value)
        first[value] += first[value - 1];
    KEEL_TRY(keel_arena_array(arena, users + 1, sizeof(uint32_t), &memory));
    crossed->users = memory;
    for (uint32_t i = crossed->a->count; i-- > 0;) {
        keel_list_t operands = keel_program_operands(program, crossed->a->ops[i]);
        for (uint32_t k = operands.count; k-- > 0;)
            crossed->users[--first[operands.items[k]]] = i;
    }
    return NULL;
}

keel_status_t keel_pair_uncross(const keel_diff_t *diff, const keel_paired_t *a,
                                const keel_paired_t *b, keel_arena_t *scratch) {
    crossed_t crossed = {.diff = diff, .a = a, .b = b};
    KEEL_TRY(list_places(&diff->before, a, scratch, &crossed.place_a));
    KEEL_TRY(list_places(&diff->after, b, scratch, &crossed.place_b));
    KEEL_TRY(list_users(&crossed, scratch));
    for (uint32_t j = 0; j < b->count; ++j) {
        uint32_t old = b->to_other[j];
        if (old != UINT32_MAX && takes_the_same(&crossed, old, j)) continue;
        uint32_t better = find_better(&crossed, j);
        if (better == UINT32_MAX) continue;
        uint32_t other = a->to_other[better];
        if (old != UINT32_MAX) a->to_other[old] = other;
        if (other != UINT32_MAX) b->to_other[other] = old;
        a->to_other[better] = j;
        b->to_other[j] = better;
    }
    return NULL;
}
