// Slices that take the whole array in one of the programs. A client leaves such a slice out: the
// last position of a prompt, or of a single token.
#include "explain/diff.h"

// One side of a comparison, as the other sees it.
typedef struct slice_view_t {
    keel_graph_t *own, *other;
    const keel_op_id_t *partner;         // by operation
    const keel_value_id_t *counterparts; // by value
    uint8_t *is_whole;                   // by operation
    bool is_after;
} slice_view_t;

static slice_view_t view_of(keel_diff_t *diff, bool is_after) {
    if (is_after)
        return (slice_view_t){&diff->after,       &diff->before,        diff->origin,
                              diff->value_origin, diff->is_whole_after, true};
    return (slice_view_t){&diff->before,           &diff->after,          diff->counterpart,
                          diff->value_counterpart, diff->is_whole_before, false};
}

static int64_t number_at(const keel_program_t *program, keel_op_id_t op, const char *name,
                         uint32_t at, int64_t otherwise) {
    keel_attr_id_t attr =
        keel_program_dict_find(program, program->operations.data[op].attributes, name);
    const keel_attr_t *contents = keel_program_attr(program, attr);
    if (contents->kind == KEEL_ATTR_INTS) {
        keel_ints_t ints = keel_program_ints(program, contents->b);
        return at < ints.count ? ints.items[at] : otherwise;
    }
    keel_tensor_view_t tensor;
    double number;
    if (contents->kind != KEEL_ATTR_TENSOR) return otherwise;
    keel_status_t status =
        keel_program_tensor(program, contents->a, program->blobs.data[contents->b], &tensor);
    bool is_good = !status && at < tensor.count &&
                   keel_diff_number(program, contents->a, &tensor, at, &number) &&
                   number >= INT32_MIN && number <= INT32_MAX;
    keel_status_ignore(status);
    return is_good ? (int64_t)number : otherwise;
}

// It takes the first or the last n, and the other program has only n.
static bool takes_all(const slice_view_t *view, keel_op_id_t op, keel_value_id_t given,
                      keel_value_id_t there) {
    const keel_program_t *program = view->own->program;
    keel_value_id_t result = program->operations.data[op].first_result;
    keel_ints_t from = keel_diff_dims(program, keel_graph_type(view->own, given));
    keel_ints_t to = keel_diff_dims(program, keel_graph_type(view->own, result));
    keel_ints_t has = keel_diff_dims(view->other->program, keel_graph_type(view->other, there));
    if (!to.count || from.count != to.count || has.count != to.count) return false;
    bool is_less = false;
    for (uint32_t i = 0; i < to.count; ++i) {
        if (from.items[i] == to.items[i] ? has.items[i] != to.items[i] : has.items[i] > to.items[i])
            return false;
        if (from.items[i] == to.items[i]) continue;
        is_less = true;
        bool is_at_end = number_at(program, op, "start_indices", i, -1) == 0 ||
                         number_at(program, op, "limit_indices", i, -1) == from.items[i];
        if (!is_at_end || number_at(program, op, "strides", i, 0) != 1) return false;
    }
    return is_less;
}

// True if the other program takes `there` instead of that operand.
static bool is_taken(const keel_diff_t *diff, const slice_view_t *view, keel_op_id_t op,
                     uint32_t operand, keel_value_id_t there) {
    keel_op_id_t partner = view->partner[op];
    if (partner == KEEL_NONE) return false;
    keel_list_t others = keel_program_operands(view->other->program, partner);
    const uint32_t *origins = keel_diff_operand_origins(diff, view->is_after ? op : partner);
    for (uint32_t i = 0; i < others.count; ++i)
        if (others.items[i] == there &&
            (view->is_after ? origins[operand] == i : origins[i] == operand))
            return true;
    return false;
}

enum { CANDIDATE = 1, TAKEN = 2, OTHERWISE = 4 };

static void find_candidates(keel_diff_t *diff, const slice_view_t *view, keel_op_id_t first,
                            keel_op_id_t end) {
    const keel_program_t *program = view->own->program;
    for (keel_op_id_t op = first; op < end; ++op) {
        if (view->partner[op] != KEEL_NONE || !keel_str_is(keel_graph_name(view->own, op), "slice"))
            continue;
        keel_list_t operands = keel_program_operands(program, op);
        if (operands.count != 1 || !program->operations.data[op].result_count) continue;
        keel_value_id_t given = operands.items[0], there = view->counterparts[given];
        if (there == KEEL_NONE || !takes_all(view, op, given, there)) continue;
        uint32_t taint = diff->taint[view->is_after ? given : there];
        if (taint && taint - 1 < diff->root_count) view->is_whole[op] = CANDIDATE;
    }
}

// The users of the slice must take the value itself in the other program.
static void look_at_users(const keel_diff_t *diff, const slice_view_t *view, keel_op_id_t first,
                          keel_op_id_t end) {
    for (keel_op_id_t op = first; op < end; ++op) {
        keel_list_t operands = keel_program_operands(view->own->program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            keel_op_id_t slice = view->own->producer[operands.items[i]];
            if (slice == KEEL_NONE || !view->is_whole[slice]) continue;
            keel_value_id_t given = keel_program_operands(view->own->program, slice).items[0];
            view->is_whole[slice] |=
                is_taken(diff, view, op, i, view->counterparts[given]) ? TAKEN : OTHERWISE;
        }
    }
}

static keel_status_t explain_view(keel_diff_t *diff, const slice_view_t *view, keel_op_id_t op) {
    keel_value_id_t given = keel_program_operands(view->own->program, op).items[0];
    uint32_t root = diff->taint[view->is_after ? given : view->counterparts[given]] - 1;
    keel_difference_t difference = {.kind = KEEL_CAUSE_STRUCTURE,
                                    .subject = "slice",
                                    .old_value = view->is_after ? "nothing" : "slice",
                                    .new_value = view->is_after ? "slice" : "nothing",
                                    .note = "",
                                    .place = keel_diff_place(diff, view->is_after, op),
                                    .old_op = view->is_after ? KEEL_NONE : op,
                                    .new_op = view->is_after ? op : KEEL_NONE,
                                    .follows = KEEL_NONE};
    return keel_diff_fold(diff, root, &difference);
}

static keel_status_t look_at(keel_diff_t *diff, const slice_view_t *view, uint32_t function) {
    keel_op_id_t first, end;
    keel_graph_body(view->own, function, &first, &end);
    find_candidates(diff, view, first, end);
    look_at_users(diff, view, first, end);
    for (keel_op_id_t op = first; op < end; ++op) {
        bool is_whole = view->is_whole[op] == (CANDIDATE | TAKEN);
        view->is_whole[op] = is_whole;
        if (is_whole) KEEL_TRY(explain_view(diff, view, op));
    }
    return NULL;
}

static keel_status_t none_of(keel_diff_t *diff, const keel_program_t *program, uint8_t **out) {
    size_t count = keel_program_op_count(program) + 1u;
    KEEL_TRY(keel_arena_array(&diff->arena, count, 1, (void **)out));
    memset(*out, 0, count);
    return NULL;
}

keel_status_t keel_diff_whole(keel_diff_t *diff) {
    KEEL_TRY(none_of(diff, diff->before.program, &diff->is_whole_before));
    KEEL_TRY(none_of(diff, diff->after.program, &diff->is_whole_after));
    slice_view_t before = view_of(diff, false), after = view_of(diff, true);
    for (uint32_t i = 0; i < diff->function_count; ++i) {
        KEEL_TRY(look_at(diff, &before, diff->functions[i].before));
        KEEL_TRY(look_at(diff, &after, diff->functions[i].after));
    }
    return NULL;
}
