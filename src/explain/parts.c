// Parts of a size that drifted: half of it, all but the last three, four fifths. Any number is near
// some part of any other, so this applies only where a part is expected: the ends of a slice of
// that dimension, the pieces of a concatenation of that size, and what a function of the client's
// computes from its arguments.
#include <math.h>

#include "explain/pair.h"

// floor(n * parts / of), or rounded up: shares dealt out one by one.
static bool is_share(int64_t before, int64_t after, int64_t n, int64_t m, int64_t parts,
                     int64_t of) {
    int64_t x = n * parts, y = m * parts;
    if (before == x / of && after == y / of) return true;
    if (before == (x + of - 1) / of && after == (y + of - 1) / of) return true;
    int64_t rest_n = n % of, rest_m = m % of;
    return before == n / of * parts + (rest_n < parts ? rest_n : parts) &&
           after == m / of * parts + (rest_m < parts ? rest_m : parts);
}

bool keel_sizes_is_part(int64_t before, int64_t after, int64_t whole_before, int64_t whole_after) {
    enum { MOST = 10 };
    const int64_t limit = INT32_MAX;
    if (before < 0 || after < 0 || before > whole_before || after > whole_after ||
        whole_before > limit || whole_after > limit)
        return false;
    if (whole_before - before == whole_after - after) return true;
    for (int64_t of = 2; of <= MOST; ++of)
        for (int64_t parts = 1; parts < of; ++parts)
            if (is_share(before, after, whole_before, whole_after, parts, of)) return true;
    return false;
}

// One or two more or less, or a part such as two thirds.
static bool is_worked_out(int64_t before, int64_t after, const keel_drift_t *drift) {
    enum { NEAR = 2, FEW = 4 };
    int64_t more = before - drift->before;
    if (before == drift->before && after == drift->after) return true;
    if (more == after - drift->after) return more >= -NEAR && more <= NEAR;
    for (int64_t of = 2; of <= FEW && drift->before > 0 && drift->after > 0; ++of)
        if (is_share(before, after, drift->before, drift->after, 1, of)) return true;
    return false;
}

// ---- pieces of a whole -------------------------------------------------------------------------

static uint32_t root_of(const keel_sizes_t *sizes, int64_t before, int64_t after) {
    for (uint32_t i = 0; i < sizes->count; ++i)
        if (sizes->drifts[i].before == before && sizes->drifts[i].after == after)
            return sizes->drifts[i].root;
    return KEEL_NONE;
}

// Equal pieces of each operand: one part of so many.
static bool are_equal_pieces(const keel_graph_t *graph, keel_list_t operands, uint32_t dim,
                             int64_t whole, int64_t *out_piece) {
    *out_piece = 0;
    for (uint32_t i = 0; i < operands.count; ++i) {
        keel_ints_t dims =
            keel_diff_dims(graph->program, keel_graph_type(graph, operands.items[i]));
        if (dim >= dims.count || dims.items[dim] <= 0 || dims.items[dim] > whole ||
            (i && dims.items[dim] != *out_piece))
            return false;
        *out_piece = dims.items[dim];
    }
    return operands.count > 1 && *out_piece > 0 && whole % *out_piece == 0 &&
           whole / *out_piece == operands.count;
}

static void learn_pieces(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_list_t parts_before = keel_program_operands(p, before);
    keel_list_t parts_after = keel_program_operands(q, after);
    if (parts_before.count != parts_after.count) return;
    keel_ints_t x =
        keel_diff_dims(p, keel_graph_type(&diff->before, p->operations.data[before].first_result));
    keel_ints_t y =
        keel_diff_dims(q, keel_graph_type(&diff->after, q->operations.data[after].first_result));
    for (uint32_t i = 0; x.count == y.count && i < x.count; ++i) {
        int64_t was, is;
        if (x.items[i] == y.items[i]) continue;
        uint32_t root = root_of(&diff->sizes, x.items[i], y.items[i]);
        if (root != KEEL_NONE &&
            are_equal_pieces(&diff->before, parts_before, i, x.items[i], &was) &&
            are_equal_pieces(&diff->after, parts_after, i, y.items[i], &is))
            keel_sizes_add(&diff->sizes, was, is, root);
    }
}

// HLO: two dimensions that are joined to one which drifted. PyTorch draws random numbers so, as
// pairs.
static void learn_joined(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_ints_t x =
        keel_diff_dims(p, keel_graph_type(&diff->before, p->operations.data[before].first_result));
    keel_ints_t y =
        keel_diff_dims(q, keel_graph_type(&diff->after, q->operations.data[after].first_result));
    keel_ints_t had = keel_diff_dims(
        p, keel_graph_type(&diff->before, keel_program_operands(p, before).items[0]));
    keel_ints_t has =
        keel_diff_dims(q, keel_graph_type(&diff->after, keel_program_operands(q, after).items[0]));
    if (x.count != y.count || had.count != x.count + 1 || has.count != had.count) return;
    uint32_t i = 0;
    while (i < x.count && had.items[i] == x.items[i] && has.items[i] == y.items[i])
        ++i;
    if (i == x.count || had.items[i + 1] != has.items[i + 1] ||
        had.items[i] * had.items[i + 1] != x.items[i] ||
        has.items[i] * has.items[i + 1] != y.items[i])
        return;
    uint32_t root = root_of(&diff->sizes, x.items[i], y.items[i]);
    if (root != KEEL_NONE) keel_sizes_add(&diff->sizes, had.items[i], has.items[i], root);
}

void keel_diff_learn_pieces(keel_diff_t *diff) {
    if (!diff->sizes.count) return;
    for (keel_op_id_t op = 0; op < keel_program_op_count(diff->after.program); ++op) {
        keel_str_t name = keel_graph_name(&diff->after, op);
        if (diff->origin[op] == KEEL_NONE) continue;
        if (keel_str_is(name, "concatenate")) learn_pieces(diff, diff->origin[op], op);
        if (diff->after.lender && keel_str_is(name, "reshape"))
            learn_joined(diff, diff->origin[op], op);
    }
}

// ---- functions of the client's -----------------------------------------------------------------

bool keel_graph_is_clients(const keel_graph_t *graph, keel_op_id_t op) {
    const keel_program_t *program = graph->program;
    uint32_t function = graph->function_of[op];
    if (program->format != KEEL_FORMAT_MLIR || function == KEEL_NONE || function == program->entry)
        return false;
    keel_frame_t frame;
    return !keel_program_frames(program, program->operations.data[op].location, &frame, 1, NULL);
}

static bool is_other_type(keel_diff_t *diff, keel_value_id_t after) {
    keel_value_id_t before = diff->value_origin[after];
    return before != KEEL_NONE && !keel_pair_same_type(diff, before, after);
}

// The function takes or returns a value whose type drifted.
static bool is_given_drift(keel_diff_t *diff, keel_op_id_t after) {
    const keel_program_t *program = diff->after.program;
    keel_op_id_t call = keel_graph_caller(&diff->after, after);
    if (call == KEEL_NONE || diff->origin[call] == KEEL_NONE) return false;
    keel_list_t operands = keel_program_operands(program, call);
    for (uint32_t i = 0; i < operands.count; ++i)
        if (is_other_type(diff, operands.items[i])) return true;
    const keel_operation_t *operation = &program->operations.data[call];
    for (uint32_t i = 0; i < operation->result_count; ++i) {
        keel_value_id_t value = operation->first_result + i, was = diff->value_origin[value];
        if (was == KEEL_NONE || keel_pair_same_type(diff, was, value)) continue;
        keel_ints_t x = keel_diff_dims(diff->before.program, keel_graph_type(&diff->before, was));
        keel_ints_t y = keel_diff_dims(program, keel_graph_type(&diff->after, value));
        if (keel_pair_explain_dims(diff, x, y) != KEEL_NONE) return true;
    }
    return false;
}

static bool is_worked_out_there(keel_diff_t *diff, keel_op_id_t after) {
    return diff->sizes.count && keel_graph_is_clients(&diff->after, after) &&
           is_given_drift(diff, after);
}

static bool is_the_same(double a, double b) {
    return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b));
}

// n / 9 and m / 9, or 9 / n and 9 / m: the scale of a resized image.
static bool is_scale(double before, double after, const keel_drift_t *drift) {
    enum { MOST = 1 << 16 };
    double n = (double)drift->before, m = (double)drift->after;
    if (n <= 0 || m <= 0 || before <= 0 || after <= 0) return false;
    double to = round(n / before), from = round(before * n);
    return (to > 1 && to <= MOST && is_the_same(before * to, n) && is_the_same(after * to, m)) ||
           (from > 1 && from <= MOST && is_the_same(before * n, from) &&
            is_the_same(after * m, from));
}

uint32_t keel_pair_explain_scale(keel_diff_t *diff, keel_op_id_t after, double x, double y) {
    if (!is_worked_out_there(diff, after)) return KEEL_NONE;
    for (uint32_t i = 0; i < diff->sizes.count; ++i)
        if (is_scale(x, y, &diff->sizes.drifts[i])) return diff->sizes.drifts[i].root;
    return KEEL_NONE;
}

uint32_t keel_pair_explain_part(keel_diff_t *diff, keel_op_id_t after, int64_t x, int64_t y) {
    if (!is_worked_out_there(diff, after)) return KEEL_NONE;
    for (uint32_t i = 0; i < diff->sizes.count; ++i)
        if (is_worked_out(x, y, &diff->sizes.drifts[i])) return diff->sizes.drifts[i].root;
    return KEEL_NONE;
}
