// Tokens to experts and back, in shapes that the configuration alone decides. A choice is a rank
// among scores, and a slot's token is a count, so neither needs a sort: comparisons that are summed
// at once are never stored.
#include "model/model.h"

#include <math.h>

#define BINARY(op, x, y) keel_binary_at(site, KEEL_OP_##op, (x), (y))
#define COMPARE(op, x, y) keel_compare_at(site, KEEL_OP_##op, (x), (y))
#define CONSTANT(like, value) keel_constant_at(site, (like), (value))

static keel_tensor_t as_i32(keel_caller_t site, keel_tensor_t x) {
    return keel_cast_at(site, x, KEEL_I32);
}

static keel_tensor_t sum_of(keel_caller_t site, keel_tensor_t x, int64_t axis) {
    return keel_reduce_at(site, KEEL_OP_SUM, x, KEEL_AXES(axis));
}

// ---- rows that are chosen ----------------------------------------------------------------------

// How many of the rows up to this one are chosen: [N, E] of 0 and 1, summed along N in log N steps.
static keel_tensor_t count_up(keel_caller_t site, keel_tensor_t chosen) {
    const int64_t rows = keel_shape(chosen).dims[0];
    for (int64_t step = 1; step < rows; step *= 2) {
        keel_tensor_t before = keel_slice_at(site, chosen, 0, 0, rows - step);
        chosen = BINARY(ADD, chosen, keel_pad_at(site, before, 0, step, 0));
    }
    return chosen;
}

// The row that is in each slot [E, C]: as many as have not filled it. N if there is none.
static keel_tensor_t rows_of_slots(keel_caller_t site, keel_tensor_t counts, int64_t slots) {
    const keel_shape_t shape = keel_shape(counts);
    keel_tensor_t slot = keel_iota_at(site, counts.context, KEEL_I32, KEEL_SHAPE(1, 1, slots), 2);
    keel_tensor_t wide = keel_reshape_at(site, counts, KEEL_SHAPE(shape.dims[0], shape.dims[1], 1));
    return sum_of(site, as_i32(site, COMPARE(LESS_EQUAL, wide, slot)), 0);
}

// Rows of x [N, ...] by their numbers, of any shape; zeros where `is_there` is false.
static keel_tensor_t take_rows(keel_caller_t site, keel_tensor_t x, keel_tensor_t rows,
                               keel_tensor_t is_there) {
    keel_tensor_t taken = keel_take_at(site, x, rows);
    keel_shape_t shape = keel_shape(is_there);
    if (keel_is_empty(taken) || keel_is_empty(is_there)) return taken;
    while (shape.rank < keel_shape(taken).rank)
        shape.dims[shape.rank++] = 1;
    return keel_select_at(site, keel_reshape_at(site, is_there, shape), taken, CONSTANT(taken, 0));
}

static keel_status_t check_rows(keel_tensor_t x, keel_tensor_t mask, int64_t bound) {
    char text[KEEL_TENSOR_TEXT], other[KEEL_TENSOR_TEXT];
    const keel_shape_t shape = keel_shape(x), of_mask = keel_shape(mask);
    keel_tensor_text(keel_dtype(x), &shape, text);
    if (!shape.rank || of_mask.rank != 1 || of_mask.dims[0] != shape.dims[0] || !shape.dims[0] ||
        keel_dtype(mask) != KEEL_BOOL)
        return keel_status_make(KEEL_INVALID, "rows_where: rows of %s by %s: a mask is bool[N]",
                                text, keel_tensor_text(keel_dtype(mask), &of_mask, other));
    if (bound > 0) return NULL;
    return keel_status_make(KEEL_INVALID,
                            "rows_where: how many rows of %s the mask has is known on the device "
                            "only, and a program has fixed shapes; give a bound above 0: "
                            "[bound, ...] with the rest 0, and a mask of the rows that are there",
                            text);
}

keel_tensor_t keel_rows_where_at(keel_caller_t site, keel_tensor_t x, keel_tensor_t mask,
                                 int64_t bound, keel_rows_t *out) {
    site = keel_tensor_part_of(site, "rows_where");
    if (out) *out = (keel_rows_t){0};
    if (keel_is_empty(x) || keel_is_empty(mask)) return (keel_tensor_t){0};
    keel_status_t status = check_rows(x, mask, bound);
    if (status) return keel_tensor_fail(x.context, site, status);
    const int64_t rows = keel_shape(x).dims[0];
    bound = bound < rows ? bound : rows;
    keel_tensor_t chosen = keel_reshape_at(site, as_i32(site, mask), KEEL_SHAPE(rows, 1));
    keel_tensor_t count = sum_of(site, as_i32(site, mask), 0);
    keel_tensor_t row = rows_of_slots(site, count_up(site, chosen), bound);
    keel_tensor_t slot = keel_iota_at(site, x.context, KEEL_I32, KEEL_SHAPE(bound), 0);
    keel_tensor_t is_row = COMPARE(LESS, slot, count);
    if (out)
        *out = (keel_rows_t){
            .is_row = is_row,
            .count = count,
            .left_out = BINARY(MAXIMUM, BINARY(SUBTRACT, count, CONSTANT(count, (double)bound)),
                               CONSTANT(count, 0))};
    return take_rows(site, x, keel_reshape_at(site, row, KEEL_SHAPE(bound)), is_row);
}

// ---- routing -----------------------------------------------------------------------------------

int64_t keel_capacity(int64_t tokens, int64_t experts, int64_t top, double factor) {
    if (tokens < 1 || experts < 1 || top < 1 || !(factor > 0)) return 0;
    double exact = factor * (double)tokens * (double)top / (double)experts;
    if (exact >= (double)tokens) return tokens;
    int64_t whole = (int64_t)exact;
    whole += (double)whole < exact;
    whole = (whole + 7) / 8 * 8;
    return whole < tokens ? whole : tokens;
}

// Of scores [N, E]: how many come before each, the larger first, of equals the first. NaN counts as
// infinity: its comparisons alone would give several the same rank.
static keel_tensor_t rank_of(keel_caller_t site, keel_tensor_t scores) {
    if (keel_dtype(scores) != KEEL_F64) scores = keel_cast_at(site, scores, KEEL_F32);
    scores = keel_select_at(site, COMPARE(EQUAL, scores, scores), scores,
                            CONSTANT(scores, (double)INFINITY));
    const keel_shape_t shape = keel_shape(scores);
    const int64_t n = shape.dims[0], e = shape.dims[1];
    keel_tensor_t own = keel_reshape_at(site, scores, KEEL_SHAPE(n, e, 1));
    keel_tensor_t other = keel_reshape_at(site, scores, KEEL_SHAPE(n, 1, e));
    keel_tensor_t own_place = keel_iota_at(site, scores.context, KEEL_I32, KEEL_SHAPE(1, e, e), 1);
    keel_tensor_t other_place =
        keel_iota_at(site, scores.context, KEEL_I32, KEEL_SHAPE(1, e, e), 2);
    keel_tensor_t is_tie =
        BINARY(AND, COMPARE(EQUAL, other, own), COMPARE(LESS, other_place, own_place));
    return sum_of(site, as_i32(site, BINARY(OR, COMPARE(GREATER, other, own), is_tie)), 2);
}

static keel_status_t refuse(const char *what, keel_tensor_t x, keel_tensor_t y) {
    char text[KEEL_TENSOR_TEXT], other[KEEL_TENSOR_TEXT];
    const keel_shape_t shape = keel_shape(x), other_shape = keel_shape(y);
    return keel_status_make(KEEL_INVALID, "route: %s and %s: %s",
                            keel_tensor_text(keel_dtype(x), &shape, text),
                            keel_tensor_text(keel_dtype(y), &other_shape, other), what);
}

static keel_status_t check_route(keel_tensor_t scores, keel_tensor_t choice, keel_tensor_t valid,
                                 const keel_routing_options_t *options) {
    const keel_shape_t shape = keel_shape(scores), of_choice = keel_shape(choice);
    const keel_shape_t of_valid = keel_shape(valid), tokens = KEEL_SHAPE(shape.dims[0]);
    if (shape.rank != 2 || !shape.dims[0] || !keel_tensor_is_float(keel_dtype(scores)))
        return refuse("scores are floats [N, E]", scores, scores);
    if (!keel_tensor_same_shape(&shape, &of_choice))
        return refuse("what chooses has the shape of the scores", scores, choice);
    if (!keel_is_empty(valid) &&
        (keel_dtype(valid) != KEEL_BOOL || !keel_tensor_same_shape(&of_valid, &tokens)))
        return refuse("valid tokens are bool[N]", scores, valid);
    if (options->top < 1 || options->top > shape.dims[1])
        return refuse("`top` is not a number of experts", scores, choice);
    if (options->capacity < 1) return refuse("a capacity is above 0", scores, choice);
    return NULL;
}

// Of [N, E], the value of each token's choice 0, 1, ...: [N, k].
static keel_tensor_t by_choice(keel_caller_t site, keel_tensor_t values, keel_tensor_t rank,
                               int64_t top) {
    const keel_shape_t shape = keel_shape(values);
    const int64_t n = shape.dims[0], e = shape.dims[1];
    keel_tensor_t choice = keel_iota_at(site, values.context, KEEL_I32, KEEL_SHAPE(1, top, 1), 1);
    keel_tensor_t is_it = COMPARE(EQUAL, keel_reshape_at(site, rank, KEEL_SHAPE(n, 1, e)), choice);
    keel_tensor_t wide = keel_reshape_at(site, values, KEEL_SHAPE(n, 1, e));
    return sum_of(site, keel_select_at(site, is_it, wide, CONSTANT(wide, 0)), 2);
}

// scale * s / the sum of what was chosen. `maximum` and no small addend: a token without a choice
// has 0 / 1e-9 and no gradient.
static keel_tensor_t gates_of(keel_caller_t site, keel_tensor_t scores, keel_tensor_t is_chosen,
                              double scale) {
    keel_tensor_t kept = keel_select_at(site, is_chosen, scores, CONSTANT(scores, 0));
    keel_tensor_t sum =
        keel_reshape_at(site, sum_of(site, kept, 1), KEEL_SHAPE(keel_shape(scores).dims[0], 1));
    keel_tensor_t share = BINARY(DIVIDE, kept, BINARY(MAXIMUM, sum, CONSTANT(sum, 1e-9)));
    return BINARY(MULTIPLY, share, keel_number_at(site, share, scale, "scale"));
}

// Where each choice lies among all slots, and what it weighs: 0 if its expert is full.
static void place_choices(keel_caller_t site, keel_tensor_t rank, keel_tensor_t counts,
                          keel_routing_t *r) {
    const keel_shape_t shape = keel_shape(rank);
    keel_tensor_t one = CONSTANT(counts, 1);
    keel_tensor_t expert = keel_iota_at(site, rank.context, KEEL_I32, shape, 1);
    keel_tensor_t slot = by_choice(site, BINARY(SUBTRACT, counts, one), rank, r->top);
    expert = by_choice(site, expert, rank, r->top);
    keel_tensor_t is_chosen = by_choice(site, as_i32(site, r->is_chosen), rank, r->top);
    keel_tensor_t last = CONSTANT(slot, (double)(r->capacity - 1));
    r->has_slot = BINARY(AND, COMPARE(LESS_EQUAL, slot, last), COMPARE(EQUAL, is_chosen, one));
    slot = BINARY(MINIMUM, BINARY(MAXIMUM, slot, CONSTANT(slot, 0)), last);
    r->slot = BINARY(ADD, BINARY(MULTIPLY, expert, CONSTANT(slot, (double)r->capacity)), slot);
    keel_tensor_t weight = by_choice(site, r->gate, rank, r->top);
    r->weight = keel_select_at(site, r->has_slot, weight, CONSTANT(weight, 0));
}

static void route(keel_caller_t site, keel_tensor_t scores, keel_tensor_t choice,
                  keel_tensor_t valid, const keel_routing_options_t *options, keel_routing_t *r) {
    const keel_shape_t shape = keel_shape(scores);
    const int64_t n = shape.dims[0], e = shape.dims[1];
    r->tokens = n;
    r->experts = e;
    r->top = options->top;
    r->capacity = options->capacity < n ? options->capacity : n;
    scores = keel_cast_at(site, scores, rules_dtype(keel_dtype(scores)));
    keel_tensor_t rank = rank_of(site, keel_stop_gradient_at(site, choice));
    r->is_chosen = COMPARE(LESS, rank, CONSTANT(rank, (double)options->top));
    if (!keel_is_empty(valid))
        r->is_chosen = BINARY(AND, r->is_chosen, keel_reshape_at(site, valid, KEEL_SHAPE(n, 1)));
    r->gate = gates_of(site, scores, r->is_chosen, options->scale != 0 ? options->scale : 1);
    keel_tensor_t counts = count_up(site, as_i32(site, r->is_chosen));
    r->load = sum_of(site, as_i32(site, r->is_chosen), 0);
    keel_tensor_t over = BINARY(SUBTRACT, r->load, CONSTANT(r->load, (double)r->capacity));
    r->dropped = sum_of(site, BINARY(MAXIMUM, over, CONSTANT(over, 0)), 0);
    r->token = rows_of_slots(site, counts, r->capacity);
    keel_tensor_t slot =
        keel_iota_at(site, scores.context, KEEL_I32, KEEL_SHAPE(e, r->capacity), 1);
    r->is_full = COMPARE(LESS, slot, keel_reshape_at(site, r->load, KEEL_SHAPE(e, 1)));
    place_choices(site, rank, counts, r);
}

void keel_route_at(keel_caller_t site, keel_tensor_t scores, keel_tensor_t choice,
                   keel_tensor_t valid, keel_routing_options_t options, keel_routing_t *out) {
    site = keel_tensor_part_of(site, "route");
    if (!out) return;
    *out = (keel_routing_t){0};
    if (keel_is_empty(scores)) return;
    if (keel_is_empty(choice)) choice = scores;
    keel_status_t status = check_route(scores, choice, valid, &options);
    if (status)
        keel_tensor_fail(scores.context, site, status);
    else
        route(site, scores, choice, valid, &options, out);
}

// ---- there and back ----------------------------------------------------------------------------

keel_tensor_t keel_dispatch_at(keel_caller_t site, const keel_routing_t *r, keel_tensor_t x) {
    site = keel_tensor_part_of(site, "dispatch");
    const keel_shape_t shape = keel_shape(x);
    if (!r || keel_is_empty(x) || keel_is_empty(r->token)) return (keel_tensor_t){0};
    if (shape.rank != 2 || shape.dims[0] != r->tokens)
        return keel_tensor_fail(x.context, site,
                                refuse("tokens are [N, d], as many as scores", x, r->gate));
    return take_rows(site, x, r->token, r->is_full);
}

keel_tensor_t keel_combine_at(keel_caller_t site, const keel_routing_t *r, keel_tensor_t y) {
    site = keel_tensor_part_of(site, "combine");
    const keel_shape_t shape = keel_shape(y);
    if (!r || keel_is_empty(y) || keel_is_empty(r->slot)) return (keel_tensor_t){0};
    if (shape.rank != 3 || shape.dims[0] != r->experts || shape.dims[1] != r->capacity)
        return keel_tensor_fail(
            y.context, site,
            refuse("what experts give is [E, C, d], as was dispatched", y, r->is_full));
    keel_tensor_t flat =
        keel_reshape_at(site, y, KEEL_SHAPE(r->experts * r->capacity, shape.dims[2]));
    keel_tensor_t rows = take_rows(site, flat, r->slot, r->has_slot);
    rows = keel_cast_at(site, rows, keel_dtype(r->weight));
    keel_tensor_t weight = keel_reshape_at(site, r->weight, KEEL_SHAPE(r->tokens, r->top, 1));
    return sum_of(site, BINARY(MULTIPLY, rows, weight), 1);
}
