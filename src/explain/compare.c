// Operations that have a counterpart: what differs between the two, and whether that follows from
// their operands.
#include "explain/pair.h"

// ---- types -------------------------------------------------------------------------------------

static bool has_other_element(keel_diff_t *diff, keel_value_id_t before, keel_value_id_t after) {
    return keel_diff_element_hash(&diff->before, keel_graph_type(&diff->before, before)) !=
           keel_diff_element_hash(&diff->after, keel_graph_type(&diff->after, after));
}

// Sizes that follow from a drifted one explain others in turn. Programs have few types and many
// values of each.
static void learn_sizes(keel_diff_t *diff, keel_type_id_t before, keel_type_id_t after,
                        uint32_t root) {
    if (diff->learned[after] == before + 1) return;
    diff->learned[after] = before + 1;
    keel_sizes_add_dims(&diff->sizes, keel_diff_dims(diff->before.program, before),
                        keel_diff_dims(diff->after.program, after), root);
}

// The same operands, but the sum is accumulated in another dtype.
static bool is_product(const keel_diff_t *diff, keel_op_id_t after) {
    keel_str_t name = keel_graph_name(&diff->after, after);
    return keel_str_is(name, "dot_general") || keel_str_is(name, "dot") ||
           keel_str_is(name, "convolution");
}

// The first size that differs; the types go into the note.
static void describe_size(keel_diff_t *diff, keel_ints_t x, keel_ints_t y,
                          keel_difference_t *difference) {
    difference->kind = KEEL_CAUSE_SIZE;
    if (x.count != y.count) return;
    uint32_t i = 0;
    while (i < x.count && x.items[i] == y.items[i])
        ++i;
    if (i == x.count) return;
    difference->note =
        keel_diff_text(diff, "%s -> %s", difference->old_value, difference->new_value);
    difference->old_value = keel_diff_text(diff, "%lld", (long long)x.items[i]);
    difference->new_value = keel_diff_text(diff, "%lld", (long long)y.items[i]);
}

// Only the layout in memory differs.
static bool is_layout(const keel_diff_t *diff, keel_ints_t x, keel_ints_t y, bool same_element) {
    return diff->after.lender && same_element && x.count && keel_ints_equal(x, y);
}

static uint32_t explain_parts(keel_diff_t *diff, const keel_pair_t *pair, keel_ints_t x,
                              keel_ints_t y) {
    uint32_t root = KEEL_NONE;
    for (uint32_t i = 0; x.count == y.count && i < x.count; ++i) {
        if (x.items[i] == y.items[i]) continue;
        root = keel_pair_explain_part(diff, pair->after, x.items[i], y.items[i]);
        if (root == KEEL_NONE) return KEEL_NONE;
    }
    return root;
}

static uint32_t explain_type(keel_diff_t *diff, const keel_pair_t *pair, keel_ints_t x,
                             keel_ints_t y, bool same_element) {
    // A constant that also changed its value does not explain a size.
    bool is_number = pair->root != KEEL_NONE && diff->roots[pair->root].is_number;
    if (pair->root != KEEL_NONE && !(is_number && pair->inherited)) return pair->root;
    if (pair->inherited) return pair->inherited - 1;
    uint32_t explained =
        same_element ? keel_pair_explain_dims(diff, x, y) : keel_diff_find(diff, KEEL_CAUSE_DTYPE);
    if (explained == KEEL_NONE && same_element) explained = explain_parts(diff, pair, x, y);
    if (explained == KEEL_NONE && x.count != y.count) explained = diff->rank_root;
    // HLO: the layout of a computed value is derived from its operands, so it is never a cause.
    if (explained == KEEL_NONE && is_layout(diff, x, y, same_element)) explained = KEEL_PENDING;
    return explained;
}

// Finds where the different type of a value comes from. `pair` is the operation to name.
static keel_status_t compare_type(keel_diff_t *diff, keel_pair_t *pair, keel_value_id_t before,
                                  keel_value_id_t after) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_type_id_t a = keel_graph_type(&diff->before, before);
    keel_type_id_t b = keel_graph_type(&diff->after, after);
    keel_ints_t x = keel_diff_dims(p, a), y = keel_diff_dims(q, b);
    bool same_element =
        keel_diff_element_hash(&diff->before, a) == keel_diff_element_hash(&diff->after, b);
    uint32_t explained = explain_type(diff, pair, x, y, same_element);
    if (explained != KEEL_NONE) {
        diff->taint[after] = explained + 1;
        learn_sizes(diff, a, b, explained);
        if (keel_diff_is_full(diff)) {
            keel_diff_count(diff, explained);
            return NULL;
        }
    }
    keel_cause_t kind = is_layout(diff, x, y, same_element) ? KEEL_CAUSE_LAYOUT
                        : same_element                      ? KEEL_CAUSE_SHAPE
                                                            : KEEL_CAUSE_DTYPE;
    keel_difference_t difference = keel_pair_difference(diff, pair, kind);
    keel_diff_types(diff, a, b, &difference);
    if (explained != KEEL_NONE) return keel_diff_fold(diff, explained, &difference);
    if (!same_element && is_product(diff, pair->after)) difference.kind = KEEL_CAUSE_PRECISION;
    if (same_element) describe_size(diff, x, y, &difference);
    KEEL_TRY(keel_pair_root(diff, &difference, &pair->root));
    diff->taint[after] = pair->root + 1;
    learn_sizes(diff, a, b, pair->root);
    return NULL;
}
// ---- operands ----------------------------------------------------------------------------------

static keel_op_id_t constant_of(const keel_graph_t *graph, keel_value_id_t value) {
    keel_op_id_t op = graph->producer[value];
    return op == KEEL_NONE ? KEEL_NONE : graph->constant[op];
}

// HLO: a size that was found where an array met the constant belongs to the constant, if that was
// made on an earlier line.
static void move_to_constant(keel_diff_t *diff, const keel_pair_t *made, uint32_t taint) {
    if (!taint || taint == KEEL_PENDING + 1) return;
    keel_difference_t *root = &diff->roots[taint - 1].difference;
    keel_place_t place = keel_diff_place(diff, true, made->after);
    bool is_users = !keel_graph_line(&diff->after, made->after)->is_foreign;
    if (root->kind != KEEL_CAUSE_SIZE || !is_users || strcmp(root->place.file, place.file) != 0 ||
        root->place.line <= place.line || keel_pair_takes_shape(diff, made->after))
        return;
    root->place = place;
    root->subject = keel_pair_name(diff, made->after);
    root->old_op = made->before;
    root->new_op = made->after;
}

// 1 + the root of what gave an operand of the operation another dtype; 0.
static uint32_t dtype_taint(keel_diff_t *diff, const keel_pair_t *pair) {
    keel_list_t x = keel_program_operands(diff->before.program, pair->before);
    keel_list_t y = keel_program_operands(diff->after.program, pair->after);
    for (uint32_t i = 0; i < x.count && i < y.count; ++i)
        if (diff->taint[y.items[i]] && constant_of(&diff->after, y.items[i]) == KEEL_NONE &&
            has_other_element(diff, x.items[i], y.items[i]))
            return diff->taint[y.items[i]];
    return 0;
}

// The same for what gave an operand another number of dimensions, if a constant has the shape of
// that operand on both sides: numbers take the shape of what they meet.
static uint32_t rank_taint(const keel_diff_t *diff, const keel_pair_t *pair, keel_ints_t was,
                           keel_ints_t is) {
    keel_list_t x = keel_program_operands(diff->before.program, pair->before);
    keel_list_t y = keel_program_operands(diff->after.program, pair->after);
    for (uint32_t i = 0; was.count != is.count && i < x.count && i < y.count; ++i)
        if (diff->taint[y.items[i]] && constant_of(&diff->after, y.items[i]) == KEEL_NONE &&
            keel_ints_equal(was, keel_diff_dims(diff->before.program,
                                                keel_graph_type(&diff->before, x.items[i]))) &&
            keel_ints_equal(
                is, keel_diff_dims(diff->after.program, keel_graph_type(&diff->after, y.items[i]))))
            return diff->taint[y.items[i]];
    return 0;
}

// The cast that gave the value its dtype and that the other program lacks; NONE.
static keel_op_id_t find_cast(const keel_diff_t *diff, bool is_after, keel_value_id_t value) {
    enum { STEPS = 16 };
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_op_id_t *others = is_after ? diff->origin : diff->counterpart;
    for (unsigned step = 0; step < STEPS; ++step) {
        keel_op_id_t op = graph->producer[value];
        if (op == KEEL_NONE || graph->constant[op] != KEEL_NONE) break;
        if (others[op] == KEEL_NONE && keel_str_is(keel_graph_name(graph, op), "convert"))
            return op;
        keel_list_t operands = keel_program_operands(graph->program, op);
        if (!operands.count) break;
        value = operands.items[0];
    }
    return KEEL_NONE;
}

// What a number meets was cast on another line, which is the one to name.
static bool is_cast_on_another_line(keel_diff_t *diff, const keel_pair_t *pair) {
    for (int is_after = 0; is_after < 2; ++is_after) {
        keel_graph_t *graph = is_after ? &diff->after : &diff->before;
        keel_op_id_t op = is_after ? pair->after : pair->before;
        uint64_t line = keel_graph_line(graph, op)->identity;
        keel_list_t operands = keel_program_operands(graph->program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            keel_op_id_t cast = find_cast(diff, is_after, operands.items[i]);
            if (cast != KEEL_NONE && keel_graph_line(graph, cast)->identity != line) return true;
        }
    }
    return false;
}

// HLO: true if the constant is an array of another size on each side (torch.arange), and not a
// number that takes the shape of what it meets.
static bool is_sized_array(const keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_ints_t x =
        keel_diff_dims(p, keel_graph_type(&diff->before, p->operations.data[before].first_result));
    keel_ints_t y =
        keel_diff_dims(q, keel_graph_type(&diff->after, q->operations.data[after].first_result));
    return diff->after.lender && x.count && x.count == y.count && !keel_ints_equal(x, y);
}

// A constant in the shape that an operation needs it in: named after the operation that made that
// shape.
static keel_status_t compare_constant_shape(keel_diff_t *diff, const keel_pair_t *pair,
                                            keel_value_id_t before, keel_value_id_t after) {
    if (keel_pair_same_type(diff, before, after)) return NULL;
    if (diff->taint[after]) return NULL; // reported where it was used first
    keel_pair_t made = {.before = diff->before.producer[before],
                        .after = diff->after.producer[after],
                        .inherited = 0,
                        .root = KEEL_NONE};
    keel_op_id_t was = constant_of(&diff->before, before), is = constant_of(&diff->after, after);
    if (is_sized_array(diff, was, is)) {
        made.before = was;
        made.after = is;
    }
    bool is_bare = diff->after.constant[made.after] == made.after;
    // The constants of an operation have the dtype that it computes in.
    if (has_other_element(diff, before, after) &&
        (diff->after.lender || is_cast_on_another_line(diff, pair)))
        made.inherited = dtype_taint(diff, pair);
    if (!made.inherited && !diff->after.lender)
        made.inherited =
            rank_taint(diff, pair,
                       keel_diff_dims(diff->before.program, keel_graph_type(&diff->before, before)),
                       keel_diff_dims(diff->after.program, keel_graph_type(&diff->after, after)));
    KEEL_TRY(compare_type(diff, &made, before, after));
    // JAX places its own constants anywhere, so the line is that of their use.
    if (is_bare && !diff->after.lender && made.root != KEEL_NONE &&
        made.root + 1 == diff->root_count)
        diff->roots[made.root].difference.place = keel_diff_place(diff, true, pair->after);
    if (diff->after.lender) move_to_constant(diff, &made, diff->taint[after]);
    return NULL;
}

// An array that the function closed over is in another dtype, and may be converted where it is
// used. Scalars are the source's own numbers, which take the dtype of what they meet.
static keel_status_t compare_constant_dtype(keel_diff_t *diff, keel_pair_t *pair,
                                            keel_value_id_t before, keel_value_id_t after) {
    keel_pair_t made = {.before = constant_of(&diff->before, before),
                        .after = constant_of(&diff->after, after),
                        .inherited = 0,
                        .root = KEEL_NONE};
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_value_id_t was = p->operations.data[made.before].first_result;
    keel_value_id_t is = q->operations.data[made.after].first_result;
    keel_ints_t x = keel_diff_dims(p, keel_graph_type(&diff->before, was));
    keel_ints_t y = keel_diff_dims(q, keel_graph_type(&diff->after, is));
    if (diff->after.lender || !x.count || !keel_ints_equal(x, y) ||
        !has_other_element(diff, was, is))
        return NULL;
    if (!diff->taint[is]) {
        KEEL_TRY(compare_type(diff, &made, was, is));
        if (made.root != KEEL_NONE && made.root + 1 == diff->root_count)
            diff->roots[made.root].difference.place = keel_diff_place(diff, true, pair->after);
    }
    if (!diff->taint[after]) diff->taint[after] = diff->taint[is];
    return NULL;
}

static keel_status_t compare_constants(keel_diff_t *diff, keel_pair_t *pair, uint32_t operand,
                                       keel_value_id_t before, keel_value_id_t after) {
    KEEL_TRY(compare_constant_dtype(diff, pair, before, after));
    KEEL_TRY(keel_pair_constants(diff, pair, operand, constant_of(&diff->before, before),
                                 constant_of(&diff->after, after),
                                 keel_pair_same_type(diff, before, after)));
    KEEL_TRY(compare_constant_shape(diff, pair, before, after));
    if (!pair->inherited) pair->inherited = diff->taint[after];
    return NULL;
}

// Both convert from the same dtype to the same dtype: if what they convert is weakly typed on one
// side, it is on the other.
static bool is_same_conversion(keel_diff_t *diff, const keel_pair_t *pair) {
    keel_list_t x = keel_program_operands(diff->before.program, pair->before);
    keel_list_t y = keel_program_operands(diff->after.program, pair->after);
    const keel_operation_t *p = &diff->before.program->operations.data[pair->before];
    const keel_operation_t *q = &diff->after.program->operations.data[pair->after];
    return x.count == 1 && y.count == 1 && p->result_count == 1 && q->result_count == 1 &&
           !has_other_element(diff, x.items[0], y.items[0]) &&
           !has_other_element(diff, p->first_result, q->first_result);
}

// A Python number adopts the dtype of the array that it is combined with: it is converted. A scalar
// array does not: the other operand is converted, or both are.
static keel_status_t check_weak_type(keel_diff_t *diff, keel_pair_t *pair) {
    uint32_t was_weak = keel_diff_weak_argument(diff, false, pair->before);
    uint32_t is_weak = keel_diff_weak_argument(diff, true, pair->after);
    if (diff->after.lender || (was_weak == KEEL_NONE) == (is_weak == KEEL_NONE)) return NULL;
    if (is_same_conversion(diff, pair)) return NULL;
    bool is_after = is_weak != KEEL_NONE;
    keel_difference_t difference =
        keel_diff_weak_type(diff, is_after, is_after ? is_weak : was_weak);
    difference.old_op = pair->before;
    difference.new_op = pair->after;
    return keel_pair_root(diff, &difference, &pair->root);
}

// True for a scalar argument, in whatever shape. The other side may have it too: equal numbers of
// the host are one argument, and another operation takes that one.
static bool is_scalar_argument(const keel_diff_t *diff, bool is_after, keel_value_id_t value) {
    value = keel_graph_unshaped(is_after ? &diff->after : &diff->before, value);
    return keel_diff_scalar_argument(diff, is_after, value) != KEEL_NONE;
}

// PyTorch/XLA passes host numbers as arguments, unless they are 0 or 1.
static keel_status_t check_baked(keel_diff_t *diff, keel_pair_t *pair, uint32_t operand,
                                 keel_value_id_t before, keel_value_id_t after) {
    if (!diff->after.lender) return NULL;
    keel_op_id_t was = constant_of(&diff->before, before), is = constant_of(&diff->after, after);
    if (was == KEEL_NONE && is != KEEL_NONE && is_scalar_argument(diff, false, before))
        return keel_pair_baked(diff, pair, operand, is, true);
    if (was != KEEL_NONE && is == KEEL_NONE && is_scalar_argument(diff, true, after))
        return keel_pair_baked(diff, pair, operand, was, false);
    return NULL;
}

// A different value in the same place, although both programs have both values.
static keel_status_t check_wiring(keel_diff_t *diff, keel_pair_t *pair, keel_value_id_t before,
                                  keel_value_id_t after) {
    bool from_constant = constant_of(&diff->before, before) != KEEL_NONE;
    bool to_constant = constant_of(&diff->after, after) != KEEL_NONE;
    if (from_constant && to_constant) return NULL;
    if (!from_constant && !to_constant && diff->value_counterpart[before] == after) return NULL;
    // What it took is gone now: an operation or an argument.
    keel_op_id_t producer = diff->before.producer[before];
    if (!pair->inherited && !from_constant && producer != KEEL_NONE &&
        diff->counterpart[producer] == KEEL_NONE)
        pair->inherited = KEEL_PENDING + 1;
    bool is_computed = producer != KEEL_NONE && !from_constant;
    if (is_computed && keel_diff_is_new(diff, true, after)) diff->is_swapped = true;
    if (diff->after.producer[after] != KEEL_NONE && !to_constant &&
        keel_diff_is_new(diff, false, before))
        diff->is_swapped = true;
    KEEL_TRY(check_weak_type(diff, pair));
    uint32_t weak = keel_diff_find(diff, KEEL_CAUSE_WEAK_TYPE);
    if (!pair->inherited && pair->root == KEEL_NONE && weak != KEEL_NONE)
        pair->inherited = weak + 1;
    if (diff->rewired == KEEL_NONE) diff->rewired = pair->after;
    return NULL;
}

static keel_status_t compare_operands(keel_diff_t *diff, keel_pair_t *pair) {
    keel_list_t x = keel_program_operands(diff->before.program, pair->before);
    keel_list_t y = keel_program_operands(diff->after.program, pair->after);
    if (x.count != y.count || diff->before.program->operations.data[pair->before].result_count !=
                                  diff->after.program->operations.data[pair->after].result_count)
        pair->inherited = KEEL_PENDING + 1; // which operands belong together is unknown
    for (uint32_t i = 0; i < y.count; ++i)
        if (!pair->inherited && constant_of(&diff->after, y.items[i]) == KEEL_NONE)
            pair->inherited = diff->taint[y.items[i]];
    const uint32_t *from = keel_diff_operand_origins(diff, pair->after);
    for (uint32_t i = 0; i < y.count; ++i)
        if (from[i] < x.count) KEEL_TRY(check_wiring(diff, pair, x.items[from[i]], y.items[i]));
    for (uint32_t i = 0; i < y.count; ++i)
        if (from[i] < x.count) KEEL_TRY(check_baked(diff, pair, i, x.items[from[i]], y.items[i]));
    for (uint32_t i = 0; i < y.count; ++i)
        if (from[i] < x.count && constant_of(&diff->before, x.items[from[i]]) != KEEL_NONE &&
            constant_of(&diff->after, y.items[i]) != KEEL_NONE)
            KEEL_TRY(compare_constants(diff, pair, i, x.items[from[i]], y.items[i]));
    return NULL;
}
// ---- one pair, and all -------------------------------------------------------------------------

// The arguments of an operation's inner blocks, and of the function that it calls, have the roots
// of its operands.
static void inherit_arguments(keel_diff_t *diff, const keel_block_t *after, keel_list_t operands,
                              uint32_t inherited) {
    if (!after) return;
    for (uint32_t i = 0; i < after->argument_count; ++i) {
        keel_value_id_t value = after->first_argument + i, before = diff->value_origin[value];
        if (before != KEEL_NONE && keel_pair_same_type(diff, before, value)) continue;
        uint32_t taint = i < operands.count ? diff->taint[operands.items[i]] : 0;
        if (!diff->taint[value]) diff->taint[value] = taint ? taint : inherited;
    }
}

// The same for HLO, whose parameters are operations.
static void inherit_parameters(keel_diff_t *diff, uint32_t function, uint32_t inherited) {
    keel_op_id_t first, end;
    keel_graph_body(&diff->after, function, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        if (!keel_str_is(keel_graph_name(&diff->after, op), "parameter")) continue;
        keel_value_id_t value = diff->after.program->operations.data[op].first_result;
        keel_value_id_t before = diff->value_origin[value];
        if (before != KEEL_NONE && !keel_pair_same_type(diff, before, value))
            diff->taint[value] = inherited;
    }
}

static const keel_block_t *first_block(const keel_program_t *program, const keel_region_t *region) {
    return region->block_count ? &program->blocks.data[region->first_block] : NULL;
}

static void inherit(keel_diff_t *diff, const keel_pair_t *pair) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    // If its own sharding changed, its inner blocks have different shapes.
    uint32_t inherited = pair->inherited;
    if (!inherited && pair->root != KEEL_NONE) inherited = pair->root + 1;
    keel_list_t operands = keel_program_operands(q, pair->after);
    keel_region_run_t x = keel_program_regions(p, pair->before);
    keel_region_run_t y = keel_program_regions(q, pair->after);
    for (uint32_t i = 0; i < x.count && i < y.count; ++i)
        inherit_arguments(diff, first_block(q, &y.items[i]), operands, inherited);
    uint32_t a = keel_graph_callee(&diff->before, pair->before);
    uint32_t b = keel_graph_callee(&diff->after, pair->after);
    if (a == KEEL_NONE || b == KEEL_NONE || diff->before.call_site[a] != pair->before ||
        diff->after.call_site[b] != pair->after)
        return;
    inherit_arguments(diff, keel_program_body(q, b), operands, inherited);
    if (diff->after.lender && inherited) inherit_parameters(diff, b, inherited);
}

enum { CALL_DEPTH = 64 };

static keel_status_t compare_function(keel_diff_t *diff, uint32_t function, unsigned depth);

// A called function is compared before the call's results are.
static keel_status_t compare_callee(keel_diff_t *diff, keel_pair_t *pair, unsigned depth) {
    uint32_t callee = keel_graph_callee(&diff->after, pair->after);
    if (callee == KEEL_NONE || diff->after.call_site[callee] != pair->after) return NULL;
    uint32_t roots = diff->root_count;
    KEEL_TRY(compare_function(diff, callee, depth + 1));
    if (pair->inherited || pair->root != KEEL_NONE) return NULL;
    if (diff->root_count > roots)
        pair->root = roots;
    else if (diff->differs_in_structure[callee])
        pair->inherited = KEEL_PENDING + 1;
    return NULL;
}

// Its parts show what differs.
static bool is_tuple(const keel_diff_t *diff, keel_value_id_t after) {
    return keel_program_type(diff->after.program, keel_graph_type(&diff->after, after))->kind ==
           KEEL_TYPE_TUPLE;
}

static keel_status_t compare_pair(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after,
                                  unsigned depth) {
    const keel_operation_t *operation = &diff->after.program->operations.data[after];
    keel_pair_t pair = {.before = before, .after = after, .root = KEEL_NONE};
    if (operation->result_count) pair.inherited = diff->taint[operation->first_result];
    KEEL_TRY(compare_operands(diff, &pair));
    KEEL_TRY(keel_pair_attributes(diff, &pair));
    inherit(diff, &pair);
    KEEL_TRY(compare_callee(diff, &pair, depth));
    for (uint32_t i = 0; i < operation->result_count; ++i) {
        keel_value_id_t value = operation->first_result + i, was = diff->value_origin[value];
        if (was == KEEL_NONE || (keel_pair_is_of_other_list(diff, before, after) &&
                                 !keel_pair_same_type(diff, was, value)))
            diff->taint[value] = pair.inherited ? pair.inherited : KEEL_PENDING + 1;
        else if (!is_tuple(diff, value) && !keel_pair_same_type(diff, was, value))
            KEEL_TRY(compare_type(diff, &pair, was, value));
    }
    return NULL;
}

// The result of an operation without a counterpart follows from its operands.
static void pass_on(keel_diff_t *diff, keel_op_id_t after) {
    keel_list_t operands = keel_program_operands(diff->after.program, after);
    const keel_operation_t *operation = &diff->after.program->operations.data[after];
    uint32_t taint = 0;
    for (uint32_t i = 0; !taint && i < operands.count; ++i)
        taint = diff->taint[operands.items[i]];
    if (!taint) taint = KEEL_PENDING + 1;
    for (uint32_t i = 0; i < operation->result_count; ++i)
        diff->taint[operation->first_result + i] = taint;
}

static keel_status_t compare_function(keel_diff_t *diff, uint32_t function, unsigned depth) {
    if (depth > CALL_DEPTH || diff->compared[function]) return NULL;
    diff->compared[function] = 1;
    keel_op_id_t first, end;
    keel_graph_body(&diff->after, function, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        if (diff->origin[op] != KEEL_NONE)
            KEEL_TRY(compare_pair(diff, diff->origin[op], op, depth));
        else if (diff->after.constant[op] == KEEL_NONE)
            pass_on(diff, op);
    }
    return NULL;
}

keel_status_t keel_diff_compare(keel_diff_t *diff) {
    size_t count = diff->after.program->functions.count;
    KEEL_TRY(
        keel_arena_array(&diff->arena, count, sizeof *diff->compared, (void **)&diff->compared));
    memset(diff->compared, 0, count * sizeof *diff->compared);
    KEEL_TRY(keel_graph_note_passed(&diff->before));
    KEEL_TRY(keel_graph_note_passed(&diff->after));
    keel_diff_learn_pieces(diff);
    // The entry reaches the other functions; those deeper than calls are followed come last.
    for (uint32_t i = 0; i < diff->function_count; ++i)
        KEEL_TRY(compare_function(diff, diff->functions[i].after, 0));
    return NULL;
}
