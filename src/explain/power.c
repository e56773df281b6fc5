// Powers with a whole exponent, which JAX unrolls into products (integer_pow): x**3 is x * x * x. A
// different exponent gives a different number of products, and is reported as the constant that it
// was. x**0 becomes a constant one with the power's name. x**1 is x itself and leaves nothing, just
// like a line that did not run, so it is not handled here.
#include "explain/pair.h"

enum { POWERS = 256 }; // of one function

// The last product of one power.
typedef struct power_t {
    keel_op_id_t op;
    const keel_source_line_t *line;
    int64_t exponent;
    bool is_told;
} power_t;

typedef struct power_side_t {
    keel_graph_t *graph;
    uint32_t *others; // by operation: its counterpart
    keel_op_id_t first, end;
    int64_t *exponents;     // by operation from `first`: 0 if it belongs to no power
    keel_value_id_t *bases; // likewise: the base
    keel_frame_t *places;   // likewise
    uint8_t *goes_on;       // likewise: another product of its power takes it
    power_t list[POWERS];
    size_t count;
} power_side_t;

static bool is_named_power(keel_str_t name) {
    static const char word[] = "integer_pow";
    size_t size = sizeof word - 1;
    return name.size >= size && memcmp(name.data + name.size - size, word, size) == 0;
}

// True if the innermost frames occur twice: as many as the power has, down to where its own
// function was jitted or called.
static bool is_within_itself(const keel_frame_t *frames, uint32_t count) {
    for (uint32_t size = 1; 2 * size <= count; ++size) {
        uint32_t same = 0;
        while (same < size && keel_frame_is_same(&frames[same], &frames[size + same]))
            ++same;
        if (same == size) return true;
    }
    return false;
}

// The first few exponents have the name. From 4 on, and below 0, JAX itself traces the products, so
// the power's place is nested in itself.
static bool is_of_power(const keel_program_t *program, keel_op_id_t op, keel_frame_t *out) {
    enum { FRAMES = 32 };
    keel_frame_t frames[FRAMES];
    keel_str_t name = KEEL_STR("");
    keel_attr_id_t location = program->operations.data[op].location;
    uint32_t count = keel_program_frames(program, location, frames, FRAMES, &name);
    if (!count) return false;
    *out = frames[0];
    return is_named_power(name) ||
           (frames[0].column && is_within_itself(frames, count < FRAMES ? count : FRAMES));
}

// The product of the same power that makes a value; NONE: it is the base.
static keel_op_id_t part_of(const power_side_t *side, keel_op_id_t op, keel_value_id_t value) {
    keel_op_id_t producer = side->graph->producer[value];
    if (producer == KEEL_NONE || producer < side->first || producer >= op) return KEEL_NONE;
    bool is_part =
        side->exponents[producer - side->first] &&
        keel_frame_is_same(&side->places[producer - side->first], &side->places[op - side->first]);
    return is_part ? producer : KEEL_NONE;
}

// Adds an operand's share; false if the product has two different bases.
static bool add_operand(power_side_t *side, keel_op_id_t op, keel_value_id_t value) {
    enum { MOST = 1 << 30 };
    keel_op_id_t part = part_of(side, op, value);
    uint32_t at = op - side->first;
    if (part != KEEL_NONE) side->goes_on[part - side->first] = 1;
    keel_value_id_t base = part == KEEL_NONE ? value : side->bases[part - side->first];
    int64_t share = part == KEEL_NONE ? 1 : side->exponents[part - side->first];
    if (side->exponents[at] && side->bases[at] != base) return false;
    side->bases[at] = base;
    side->exponents[at] += share;
    return share < MOST && side->exponents[at] > 0 && side->exponents[at] < MOST;
}

// A product, or 1 / x if the exponent is negative.
static void measure(power_side_t *side, keel_op_id_t op) {
    keel_str_t name = keel_graph_name(side->graph, op);
    bool divides = keel_str_is(name, "divide");
    if (!divides && !keel_str_is(name, "multiply")) return;
    keel_list_t operands = keel_program_operands(side->graph->program, op);
    keel_frame_t *place = &side->places[op - side->first];
    if (operands.count != 2 || !is_of_power(side->graph->program, op, place)) return;
    int64_t *exponent = &side->exponents[op - side->first];
    bool is_whole = divides || add_operand(side, op, operands.items[0]);
    is_whole = is_whole && add_operand(side, op, operands.items[1]);
    *exponent = !is_whole ? 0 : divides ? -*exponent : *exponent;
}

static bool is_at(const keel_program_t *program, keel_op_id_t op, const keel_frame_t *place) {
    keel_frame_t frame;
    keel_attr_id_t location = program->operations.data[op].location;
    return keel_program_frames(program, location, &frame, 1, NULL) &&
           keel_frame_is_same(&frame, place);
}

static bool is_product(const power_side_t *side, keel_op_id_t op) {
    keel_str_t name = keel_graph_name(side->graph, op);
    return keel_str_is(name, "multiply") || keel_str_is(name, "divide");
}

// A power of a negative exponent has a constant one too.
static bool has_product_at(const power_side_t *side, const keel_frame_t *place) {
    for (size_t at = 0; at < side->end - side->first; ++at)
        if (side->exponents[at] && keel_frame_is_same(&side->places[at], place)) return true;
    return false;
}

// x**0: a constant one that has the name and is not part of another power. *out_place is its place.
static bool is_zeroth(const power_side_t *side, keel_op_id_t op, keel_frame_t *out_place) {
    const keel_program_t *program = side->graph->program;
    keel_type_id_t type;
    keel_tensor_view_t tensor;
    keel_str_t name = KEEL_STR("");
    double one;
    if (side->graph->constant[op] != op) return false;
    keel_attr_id_t location = program->operations.data[op].location;
    return keel_program_frames(program, location, out_place, 1, &name) && is_named_power(name) &&
           keel_graph_tensor(side->graph, op, &type, &tensor) &&
           keel_diff_number(program, type, &tensor, 0, &one) && one == 1 &&
           !has_product_at(side, out_place);
}

// The last operation that gives it another shape.
static keel_op_id_t in_shape(const power_side_t *side, keel_op_id_t constant) {
    keel_op_id_t last = constant;
    for (keel_op_id_t op = constant + 1; op < side->end; ++op)
        if (side->graph->constant[op] == constant) last = op;
    return last;
}

static void add_power(power_side_t *side, keel_op_id_t op, int64_t exponent) {
    const keel_source_line_t *line = keel_graph_line(side->graph, op);
    if (line->identity)
        side->list[side->count++] = (power_t){.op = op, .line = line, .exponent = exponent};
}

static keel_status_t find_powers(keel_diff_t *diff, uint32_t function, power_side_t *side) {
    keel_graph_body(side->graph, function, &side->first, &side->end);
    size_t count = side->end > side->first ? side->end - side->first : 0;
    keel_arena_t *arena = &diff->arena;
    KEEL_TRY(keel_arena_array(arena, count + 1, sizeof(int64_t), (void **)&side->exponents));
    KEEL_TRY(keel_arena_array(arena, count + 1, sizeof(keel_value_id_t), (void **)&side->bases));
    KEEL_TRY(keel_arena_array(arena, count + 1, sizeof(keel_frame_t), (void **)&side->places));
    KEEL_TRY(keel_arena_array(arena, count + 1, 1, (void **)&side->goes_on));
    memset(side->exponents, 0, count * sizeof *side->exponents);
    memset(side->goes_on, 0, count);
    for (keel_op_id_t op = side->first; op < side->end; ++op)
        measure(side, op);
    for (keel_op_id_t op = side->first; op < side->end && side->count < POWERS; ++op) {
        size_t at = op - side->first;
        if (side->exponents[at] && !side->goes_on[at]) add_power(side, op, side->exponents[at]);
        keel_frame_t place;
        if (!is_zeroth(side, op, &place)) continue;
        keel_op_id_t last = in_shape(side, op);
        side->places[last - side->first] = place;
        add_power(side, last, 0);
    }
    return NULL;
}

static int64_t magnitude(const power_t *power) {
    return power->exponent < 0 ? -power->exponent : power->exponent;
}

// The next power of the line, from `at` on; NULL.
static power_t *on_line(power_side_t *side, size_t at, uint64_t identity) {
    for (; at < side->count; ++at)
        if (side->list[at].line->identity == identity) return &side->list[at];
    return NULL;
}

static power_t *largest_on(power_side_t *side, uint64_t identity) {
    power_t *best = NULL;
    for (power_t *one = on_line(side, 0, identity); one;
         one = on_line(side, (size_t)(one - side->list) + 1, identity))
        if (!best || magnitude(one) > magnitude(best)) best = one;
    return best;
}

static const keel_frame_t *power_place(const power_side_t *side, const power_t *power) {
    return &side->places[power->op - side->first];
}

static power_t *largest_at(power_side_t *side, uint64_t identity, const keel_frame_t *place) {
    power_t *best = NULL;
    for (power_t *one = on_line(side, 0, identity); one;
         one = on_line(side, (size_t)(one - side->list) + 1, identity))
        if (keel_frame_is_same(power_place(side, one), place) &&
            (!best || magnitude(one) > magnitude(best)))
            best = one;
    return best;
}

// True if some expression of the line is a power in both programs: gives the largest of the first
// that differs, or none. A power in only one program is not a changed exponent.
static bool differ_in_place(power_side_t *before, power_side_t *after, uint64_t identity,
                            power_t **out_before, power_t **out_after) {
    bool is_known = false;
    for (power_t *one = on_line(after, 0, identity); one;
         one = on_line(after, (size_t)(one - after->list) + 1, identity)) {
        const keel_frame_t *place = power_place(after, one);
        power_t *x = place->column ? largest_at(before, identity, place) : NULL;
        if (!x) continue;
        power_t *y = largest_at(after, identity, place);
        is_known = true;
        if (*out_before || x->exponent == y->exponent) continue;
        *out_before = x;
        *out_after = y;
    }
    return is_known;
}

// The first two in order that differ. A derivative has one power less or more: if the counts
// differ, gives those of one expression, otherwise the largest of each side.
static bool first_powers_apart(power_side_t *before, power_side_t *after, uint64_t identity,
                               power_t **out_before, power_t **out_after) {
    power_t *x = on_line(before, 0, identity), *y = on_line(after, 0, identity);
    *out_before = *out_after = NULL;
    while (x && y) {
        if (!*out_before && x->exponent != y->exponent) {
            *out_before = x;
            *out_after = y;
        }
        x = on_line(before, (size_t)(x - before->list) + 1, identity);
        y = on_line(after, (size_t)(y - after->list) + 1, identity);
    }
    bool is_uneven = x || y;
    if (is_uneven) *out_before = *out_after = NULL;
    if (is_uneven && !differ_in_place(before, after, identity, out_before, out_after)) {
        *out_before = largest_on(before, identity);
        *out_after = largest_on(after, identity);
    }
    return *out_before && *out_after && (*out_before)->exponent != (*out_after)->exponent;
}

// Marks the products at that place, and those of its derivative, as explained.
static void settle_products(power_side_t *side, const keel_frame_t *place,
                            keel_op_id_t counterpart) {
    for (keel_op_id_t op = side->first; op < side->end; ++op) {
        if (side->others[op] == KEEL_NONE && is_product(side, op) &&
            is_at(side->graph->program, op, place))
            side->others[op] = counterpart;
    }
}

static void mark_products(const power_side_t *side, keel_op_id_t op, uint8_t *marks) {
    keel_list_t operands = keel_program_operands(side->graph->program, op);
    for (uint32_t i = 0; i < operands.count; ++i) {
        keel_op_id_t producer = side->graph->producer[operands.items[i]];
        if (producer != KEEL_NONE && producer >= side->first && producer < side->end)
            marks[producer - side->first] = 1;
    }
}

// x**0 does not need x: operations that only compute x come and go with it.
static keel_status_t settle_unasked(keel_diff_t *diff, power_side_t *side,
                                    keel_op_id_t counterpart) {
    size_t count = side->end - side->first;
    uint8_t *wanted, *leads;
    KEEL_TRY(keel_arena_array(&diff->arena, count, 1, (void **)&wanted));
    KEEL_TRY(keel_arena_array(&diff->arena, count, 1, (void **)&leads));
    memset(wanted, 0, count);
    memset(leads, 0, count);
    for (keel_op_id_t op = side->end; op-- > side->first;) {
        size_t at = op - side->first;
        if (side->others[op] == KEEL_NONE && leads[at] && !wanted[at])
            side->others[op] = counterpart;
        mark_products(side, op, side->others[op] == counterpart ? leads : wanted);
    }
    return NULL;
}

// A derivative also multiplies by the exponent.
static void lead(keel_diff_t *diff, uint32_t root) {
    const keel_place_t *place = &diff->roots[root].difference.place;
    for (uint32_t i = 0; i < root; ++i) {
        const keel_place_t *other = &diff->roots[i].difference.place;
        if (diff->roots[i].difference.kind == KEEL_CAUSE_CONSTANT &&
            diff->roots[i].follows == KEEL_NONE && keel_diff_same_line(diff, other, place))
            diff->roots[i].follows = root;
    }
}

static keel_status_t explain_power(keel_diff_t *diff, const power_t *before, const power_t *after) {
    keel_pair_t pair = {.before = before->op, .after = after->op, .root = KEEL_NONE};
    keel_difference_t difference = keel_pair_difference(diff, &pair, KEEL_CAUSE_CONSTANT);
    difference.subject = "power";
    difference.old_value = keel_diff_text(diff, "%lld", (long long)before->exponent);
    difference.new_value = keel_diff_text(diff, "%lld", (long long)after->exponent);
    uint32_t known = diff->root_count;
    KEEL_TRY(keel_pair_root(diff, &difference, &pair.root));
    if (diff->root_count > known) lead(diff, pair.root);
    return NULL;
}

static keel_status_t compare_function(keel_diff_t *diff, keel_function_pair_t functions) {
    power_side_t before = {.graph = &diff->before, .others = diff->counterpart};
    power_side_t after = {.graph = &diff->after, .others = diff->origin};
    KEEL_TRY(find_powers(diff, functions.after, &after));
    if (!after.count) return NULL;
    KEEL_TRY(find_powers(diff, functions.before, &before));
    for (size_t i = 0; i < after.count; ++i) {
        uint64_t identity = after.list[i].line->identity;
        power_t *x, *y;
        if (after.list[i].is_told || !first_powers_apart(&before, &after, identity, &x, &y))
            continue;
        KEEL_TRY(explain_power(diff, x, y));
        settle_products(&before, &before.places[x->op - before.first], y->op);
        settle_products(&after, &after.places[y->op - after.first], x->op);
        if (!y->exponent) KEEL_TRY(settle_unasked(diff, &before, y->op));
        if (!x->exponent) KEEL_TRY(settle_unasked(diff, &after, x->op));
        for (power_t *one = &after.list[i]; one;
             one = on_line(&after, (size_t)(one - after.list) + 1, identity))
            one->is_told = true;
    }
    return NULL;
}

keel_status_t keel_diff_powers(keel_diff_t *diff) {
    if (diff->after.lender) return NULL; // PyTorch/XLA has an operation for it
    for (uint32_t i = 0; i < diff->function_count; ++i) {
        bool may_differ = diff->differs_in_structure[diff->functions[i].after] ||
                          diff->rewired != KEEL_NONE || !diff->root_count;
        if (may_differ) KEEL_TRY(compare_function(diff, diff->functions[i]));
    }
    return NULL;
}
