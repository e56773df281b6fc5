// Operations that have a counterpart: what each says otherwise than the other, and whether that
// follows from what its operands are.
#include <math.h>
#include <stdio.h>

#include "explain/diff.h"

// One operation of each side, and what became of it.
typedef struct pair_t {
    keel_op_id_t before, after;
    uint32_t inherited; // 1 + the root that an operand's type follows from
    uint32_t root;      // that an attribute or a constant of this operation is; NONE
} pair_t;

static const char *name_of(keel_diff_t *diff, keel_op_id_t after) {
    keel_str_t name = keel_graph_name(&diff->after, after);
    return keel_diff_text(diff, "%.*s", (int)name.size, name.data);
}

// The first operation from `from` to `end` that takes the value, and as which operand.
static keel_op_id_t first_user(const keel_program_t *program, keel_op_id_t from, keel_op_id_t end,
                               keel_value_id_t value, uint32_t *out_operand) {
    for (keel_op_id_t op = from; op < end; ++op) {
        keel_list_t operands = keel_program_operands(program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            if (operands.items[i] != value) continue;
            *out_operand = i;
            return op;
        }
    }
    return KEEL_NONE;
}

// What uses an operand in the end: into the functions that are called with it, and past what only
// gives it another shape.
static keel_op_id_t user_of(keel_diff_t *diff, keel_op_id_t op, uint32_t operand) {
    const keel_program_t *program = diff->after.program;
    for (unsigned depth = 0; depth < 16; ++depth) {
        uint32_t callee = keel_graph_callee(&diff->after, op),
                 function = diff->after.function_of[op];
        if (callee == KEEL_NONE && !keel_graph_only_reshapes(keel_graph_name(&diff->after, op)))
            return op;
        if (callee != KEEL_NONE) function = callee;
        if (function == KEEL_NONE) return op;
        const keel_region_t *region =
            &program->regions.data[program->functions.data[function].region];
        if (!region->block_count) return op;
        const keel_block_t *block = &program->blocks.data[region->first_block];
        if (callee != KEEL_NONE && operand >= block->argument_count) return op;
        keel_value_id_t value = callee == KEEL_NONE ? program->operations.data[op].first_result
                                                    : block->first_argument + operand;
        keel_op_id_t from = callee == KEEL_NONE ? op + 1 : block->first_op;
        keel_op_id_t user = first_user(program, from, region->end, value, &operand);
        if (user == KEEL_NONE || keel_str_is(keel_graph_name(&diff->after, user), "return"))
            return op;
        op = user;
    }
    return op;
}

static keel_difference_t difference_at(keel_diff_t *diff, const pair_t *pair, keel_cause_t kind) {
    return (keel_difference_t){.kind = kind,
                               .subject = name_of(diff, pair->after),
                               .old_value = "",
                               .new_value = "",
                               .note = "",
                               .place = keel_diff_place(diff, true, pair->after),
                               .old_op = pair->before,
                               .new_op = pair->after,
                               .follows = KEEL_NONE};
}

// Adds it as a root, or under one that says the same already.
static keel_status_t root_or_fold(keel_diff_t *diff, const keel_difference_t *difference,
                                  uint32_t *out) {
    *out = keel_diff_same(diff, difference);
    if (*out != KEEL_NONE) return keel_diff_fold(diff, *out, difference);
    return keel_diff_root(diff, difference, out);
}

// ---- constants ---------------------------------------------------------------------------------

typedef struct constant_t {
    keel_op_id_t op;
    keel_type_id_t type;
    keel_tensor_view_t tensor;
} constant_t;

static bool is_coarse(const constant_t *constant) {
    return constant->tensor.element_size <= 2;
}

static bool is_same_element(const keel_diff_t *diff, const constant_t *a, const constant_t *b,
                            uint64_t at) {
    double x, y;
    if (keel_diff_number(diff->before.program, a->type, &a->tensor, at, &x) &&
        keel_diff_number(diff->after.program, b->type, &b->tensor, at, &y)) {
        double tolerance = is_coarse(a) || is_coarse(b) ? 1e-2 : 0;
        if (a->tensor.element_size == b->tensor.element_size) tolerance = 0;
        return x == y || (isnan(x) && isnan(y)) ||
               fabs(x - y) <= (tolerance != 0
                                   ? tolerance
                                   : 1e-6 * (a->tensor.element_size != b->tensor.element_size)) *
                                  fmax(fabs(x), fabs(y));
    }
    uint32_t size = a->tensor.element_size;
    if (size != b->tensor.element_size || a->tensor.is_splat != b->tensor.is_splat) return false;
    uint64_t place = a->tensor.is_splat ? 0 : at * size;
    if (place + size > a->tensor.bytes.size || place + size > b->tensor.bytes.size) return false;
    return memcmp(a->tensor.bytes.data + place, b->tensor.bytes.data + place, size) == 0;
}

// How many elements differ; the first of them in *out_first.
static uint64_t count_different(const keel_diff_t *diff, const constant_t *a, const constant_t *b,
                                uint64_t *out_first) {
    uint64_t count = a->tensor.is_splat && b->tensor.is_splat ? 1 : a->tensor.count, different = 0;
    for (uint64_t i = 0; i < count; ++i) {
        if (is_same_element(diff, a, b, i)) continue;
        if (!different++) *out_first = i;
    }
    return different;
}

static bool is_splat_or_one(const constant_t *constant) {
    return constant->tensor.is_splat || constant->tensor.count == 1;
}

static uint32_t explains_value(const keel_diff_t *diff, const constant_t *a, const constant_t *b) {
    double x, y;
    if (!is_splat_or_one(a) || !is_splat_or_one(b) ||
        !keel_diff_number(diff->before.program, a->type, &a->tensor, 0, &x) ||
        !keel_diff_number(diff->after.program, b->type, &b->tensor, 0, &y))
        return KEEL_NONE;
    return keel_sizes_explain_value(&diff->sizes, x, y, is_coarse(a));
}

static uint32_t explains_dims(keel_diff_t *diff, keel_ints_t x, keel_ints_t y) {
    if (x.count != y.count) return KEEL_NONE;
    uint32_t root = KEEL_NONE;
    for (uint32_t i = 0; i < x.count; ++i) {
        if (x.items[i] == y.items[i]) continue;
        root = keel_sizes_explain(&diff->sizes, x.items[i], y.items[i]);
        if (root == KEEL_NONE) return KEEL_NONE;
    }
    return root;
}

static void describe_scalar(keel_diff_t *diff, const constant_t *a, const constant_t *b,
                            keel_difference_t *out) {
    out->old_value = keel_diff_element(diff, diff->before.program, a->type, &a->tensor, 0);
    out->new_value = keel_diff_element(diff, diff->after.program, b->type, &b->tensor, 0);
}

static void describe_array(keel_diff_t *diff, const constant_t *a, const constant_t *b,
                           uint64_t different, uint64_t first, keel_difference_t *out) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    out->subject =
        keel_diff_text(diff, "constant %s of %s", keel_diff_type(diff, q, b->type), out->subject);
    out->old_value = keel_diff_element(diff, p, a->type, &a->tensor, first);
    out->new_value = keel_diff_element(diff, q, b->type, &b->tensor, first);
    // Indices of the first one, row by row.
    char index[160] = "";
    keel_ints_t dims = keel_diff_dims(q, b->type);
    uint64_t rest = first;
    for (uint32_t i = dims.count; i-- > 0 && dims.items[i] > 0;) {
        char text[160];
        snprintf(text, sizeof text, "%llu%s%.120s",
                 (unsigned long long)(rest % (uint64_t)dims.items[i]), *index ? "," : "", index);
        rest /= (uint64_t)dims.items[i];
        memcpy(index, text, sizeof index);
    }
    out->note = keel_diff_text(diff, "%llu of %llu elements differ%s, the first at [%s]",
                               (unsigned long long)different, (unsigned long long)b->tensor.count,
                               different == 1 ? "s" : "", index);
}

static bool read_constant(const keel_graph_t *graph, keel_op_id_t op, constant_t *out) {
    out->op = op;
    return keel_graph_tensor(graph, op, &out->type, &out->tensor);
}

// The values of two constants that an operation uses in the same place.
static keel_status_t compare_values(keel_diff_t *diff, pair_t *pair, uint32_t operand,
                                    const constant_t *a, const constant_t *b) {
    keel_difference_t difference = difference_at(diff, pair, KEEL_CAUSE_CONSTANT);
    difference.subject = name_of(diff, user_of(diff, pair->after, operand));
    keel_ints_t x = keel_diff_dims(diff->before.program, a->type);
    keel_ints_t y = keel_diff_dims(diff->after.program, b->type);
    bool is_one = a->tensor.count == b->tensor.count &&
                  (a->tensor.count == 1 || (a->tensor.is_splat && b->tensor.is_splat));
    bool same_dims =
        x.count == y.count && (!x.count || !memcmp(x.items, y.items, x.count * sizeof *x.items));
    uint32_t explained = explains_value(diff, a, b);
    if (!same_dims && explained == KEEL_NONE) explained = explains_dims(diff, x, y);
    uint64_t first = 0, different = 1;
    if (same_dims) different = count_different(diff, a, b, &first);
    if (!different) return NULL; // the same values in another dtype: told by the types
    bool is_splat = a->tensor.is_splat && b->tensor.is_splat;
    if (is_one || (same_dims && is_splat))
        describe_scalar(diff, a, b, &difference);
    else if (same_dims)
        describe_array(diff, a, b, different, first, &difference);
    else
        return NULL; // another shape is told by that
    if (explained != KEEL_NONE) return keel_diff_fold(diff, explained, &difference);
    KEEL_TRY(root_or_fold(diff, &difference, &pair->root));
    keel_root_t *root = &diff->roots[pair->root];
    root->is_coarse = is_coarse(a);
    root->is_number =
        is_splat_or_one(a) && is_splat_or_one(b) &&
        keel_diff_number(diff->before.program, a->type, &a->tensor, 0, &root->before) &&
        keel_diff_number(diff->after.program, b->type, &b->tensor, 0, &root->after);
    return NULL;
}

// ---- types -------------------------------------------------------------------------------------

static bool is_same_value_type(keel_diff_t *diff, keel_value_id_t before, keel_value_id_t after) {
    return keel_graph_type_hash(&diff->before, keel_graph_type(&diff->before, before)) ==
           keel_graph_type_hash(&diff->after, keel_graph_type(&diff->after, after));
}

static void learn_sizes(keel_diff_t *diff, keel_ints_t x, keel_ints_t y, uint32_t root) {
    for (uint32_t i = 0; x.count == y.count && i < x.count; ++i)
        if (keel_sizes_explain(&diff->sizes, x.items[i], y.items[i]) == KEEL_NONE)
            keel_sizes_add(&diff->sizes, x.items[i], y.items[i], root);
}

// Of the same operands, in another dtype: what is summed up in.
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

// A value whose type differs: where that comes from. `pair` is the operation to name.
static keel_status_t compare_type(keel_diff_t *diff, pair_t *pair, keel_value_id_t before,
                                  keel_value_id_t after) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_type_id_t a = keel_graph_type(&diff->before, before);
    keel_type_id_t b = keel_graph_type(&diff->after, after);
    keel_ints_t x = keel_diff_dims(p, a), y = keel_diff_dims(q, b);
    bool same_element =
        keel_diff_element_hash(&diff->before, a) == keel_diff_element_hash(&diff->after, b);
    keel_cause_t kind = same_element ? KEEL_CAUSE_SHAPE : KEEL_CAUSE_DTYPE;
    keel_difference_t difference = difference_at(diff, pair, kind);
    difference.old_value = keel_diff_type(diff, p, a);
    difference.new_value = keel_diff_type(diff, q, b);
    uint32_t explained = KEEL_NONE;
    if (pair->root != KEEL_NONE)
        explained = pair->root;
    else if (pair->inherited)
        explained = pair->inherited - 1;
    else if (same_element)
        explained = explains_dims(diff, x, y);
    else
        explained = keel_diff_find(diff, KEEL_CAUSE_DTYPE);
    if (explained == KEEL_NONE && x.count != y.count) explained = diff->rank_root;
    if (explained != KEEL_NONE) {
        diff->taint[after] = explained + 1;
        learn_sizes(diff, x, y, explained);
        return keel_diff_fold(diff, explained, &difference);
    }
    if (!same_element && is_product(diff, pair->after)) difference.kind = KEEL_CAUSE_PRECISION;
    if (same_element) describe_size(diff, x, y, &difference);
    KEEL_TRY(root_or_fold(diff, &difference, &pair->root));
    diff->taint[after] = pair->root + 1;
    learn_sizes(diff, x, y, pair->root);
    return NULL;
}

// ---- operands ----------------------------------------------------------------------------------

static keel_op_id_t constant_of(const keel_graph_t *graph, keel_value_id_t value) {
    keel_op_id_t op = graph->producer[value];
    return op == KEEL_NONE ? KEEL_NONE : graph->constant[op];
}

// A constant in the shape that an operation needs it in: named by what made that shape.
static keel_status_t compare_constant_shape(keel_diff_t *diff, const pair_t *pair,
                                            keel_value_id_t before, keel_value_id_t after) {
    if (is_same_value_type(diff, before, after)) return NULL;
    if (diff->taint[after]) return NULL; // told where it was used first
    pair_t made = {.before = diff->before.producer[before],
                   .after = diff->after.producer[after],
                   .inherited = 0,
                   .root = KEEL_NONE};
    // A constant stands where the client put it; the line is that of its use.
    if (diff->after.constant[made.after] == made.after) {
        keel_place_t place = keel_diff_place(diff, true, pair->after);
        KEEL_TRY(compare_type(diff, &made, before, after));
        if (made.root != KEEL_NONE && made.root + 1 == diff->root_count)
            diff->roots[made.root].difference.place = place;
        return NULL;
    }
    return compare_type(diff, &made, before, after);
}

static keel_status_t compare_constants(keel_diff_t *diff, pair_t *pair, uint32_t operand,
                                       keel_value_id_t before, keel_value_id_t after) {
    constant_t a, b;
    bool known = read_constant(&diff->before, constant_of(&diff->before, before), &a) &&
                 read_constant(&diff->after, constant_of(&diff->after, after), &b);
    if (known) KEEL_TRY(compare_values(diff, pair, operand, &a, &b));
    KEEL_TRY(compare_constant_shape(diff, pair, before, after));
    if (!pair->inherited) pair->inherited = diff->taint[after];
    return NULL;
}

// A Python number gives way to the dtype of the array that it meets: it is converted. A scalar
// array does not: the other operand is converted, or both are.
static keel_status_t check_weak_type(keel_diff_t *diff, pair_t *pair, keel_value_id_t before,
                                     keel_value_id_t after) {
    if (!keel_str_is(keel_graph_name(&diff->after, pair->after), "convert")) return NULL;
    uint32_t was_weak = keel_diff_scalar_argument(diff, false, before);
    uint32_t is_weak = keel_diff_scalar_argument(diff, true, after);
    if ((was_weak == KEEL_NONE) == (is_weak == KEEL_NONE)) return NULL;
    bool is_after = is_weak != KEEL_NONE;
    keel_difference_t difference =
        keel_diff_weak_type(diff, is_after, is_after ? is_weak : was_weak);
    difference.old_op = pair->before;
    difference.new_op = pair->after;
    return root_or_fold(diff, &difference, &pair->root);
}

// Another value in the same place, though both programs have both.
static keel_status_t check_wiring(keel_diff_t *diff, pair_t *pair, keel_value_id_t before,
                                  keel_value_id_t after) {
    bool from_constant = constant_of(&diff->before, before) != KEEL_NONE;
    bool to_constant = constant_of(&diff->after, after) != KEEL_NONE;
    if (from_constant && to_constant) return NULL;
    if (!from_constant && !to_constant && diff->value_counterpart[before] == after) return NULL;
    // It took what is gone now: an operation, or an argument.
    keel_op_id_t producer = diff->before.producer[before];
    if (!pair->inherited && !from_constant && producer != KEEL_NONE &&
        diff->counterpart[producer] == KEEL_NONE)
        pair->inherited = KEEL_PENDING + 1;
    bool is_computed = producer != KEEL_NONE && !from_constant;
    if (is_computed && keel_diff_is_new(diff, true, after)) diff->is_swapped = true;
    if (diff->after.producer[after] != KEEL_NONE && !to_constant &&
        keel_diff_is_new(diff, false, before))
        diff->is_swapped = true;
    KEEL_TRY(check_weak_type(diff, pair, before, after));
    uint32_t weak = keel_diff_find(diff, KEEL_CAUSE_WEAK_TYPE);
    if (!pair->inherited && pair->root == KEEL_NONE && weak != KEEL_NONE)
        pair->inherited = weak + 1;
    if (diff->rewired == KEEL_NONE) diff->rewired = pair->after;
    return NULL;
}

static keel_status_t compare_operands(keel_diff_t *diff, pair_t *pair) {
    keel_list_t x = keel_program_operands(diff->before.program, pair->before);
    keel_list_t y = keel_program_operands(diff->after.program, pair->after);
    if (x.count != y.count) pair->inherited = KEEL_PENDING + 1;
    for (uint32_t i = 0; i < y.count; ++i)
        if (!pair->inherited && constant_of(&diff->after, y.items[i]) == KEEL_NONE)
            pair->inherited = diff->taint[y.items[i]];
    for (uint32_t i = 0; i < x.count && i < y.count; ++i)
        KEEL_TRY(check_wiring(diff, pair, x.items[i], y.items[i]));
    for (uint32_t i = 0; i < x.count && i < y.count; ++i)
        if (constant_of(&diff->before, x.items[i]) != KEEL_NONE &&
            constant_of(&diff->after, y.items[i]) != KEEL_NONE)
            KEEL_TRY(compare_constants(diff, pair, i, x.items[i], y.items[i]));
    return NULL;
}

// ---- attributes --------------------------------------------------------------------------------

static bool is_one_of(keel_str_t name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (keel_str_is(name, names[i])) return true;
    return false;
}
#define ONE_OF(name, list) is_one_of(name, list, sizeof(list) / sizeof *(list))

static keel_cause_t cause_of_attribute(const keel_diff_t *diff, keel_str_t name,
                                       keel_attr_id_t attr, bool moves_type) {
    static const char *const precisions[] = {"precision_config",
                                             "precision",
                                             "algorithm",
                                             "lhs_precision_type",
                                             "rhs_precision_type",
                                             "accumulation_type",
                                             "allow_imprecise_accumulation",
                                             "operand_precision",
                                             "result_accuracy"};
    static const char *const shardings[] = {"mhlo.sharding", "sdy.sharding",  "sharding",
                                            "in_shardings",  "out_shardings", "manual_axes"};
    static const char *const layouts[] = {"operand_layouts", "result_layouts", "layout"};
    static const char *const bounds[] = {"limit_indices",    "slice_sizes",
                                         "edge_padding_low", "edge_padding_high",
                                         "interior_padding", "padding"};
    if (ONE_OF(name, precisions)) return KEEL_CAUSE_PRECISION;
    if (ONE_OF(name, shardings)) return KEEL_CAUSE_SHARDING;
    if (ONE_OF(name, layouts)) return KEEL_CAUSE_LAYOUT;
    if (moves_type && ONE_OF(name, bounds)) return KEEL_CAUSE_SIZE;
    if (attr == KEEL_NONE) return KEEL_CAUSE_STRUCTURE;
    switch (diff->after.program->attrs.data[attr].kind) {
        case KEEL_ATTR_ENUM:
        case KEEL_ATTR_STRING:
        case KEEL_ATTR_SYMBOL:
            return KEEL_CAUSE_STRUCTURE;
        default:
            return KEEL_CAUSE_CONSTANT;
    }
}

// The numbers of an attribute, whichever of the kinds they are kept in.
static bool numbers_of(keel_graph_t *graph, keel_attr_id_t attr, uint64_t at, double *out,
                       uint64_t *out_count) {
    const keel_program_t *program = graph->program;
    if (attr == KEEL_NONE) return false;
    const keel_attr_t *contents = &program->attrs.data[attr];
    if (contents->kind == KEEL_ATTR_INTS) {
        keel_ints_t ints = keel_program_ints(program, contents->b);
        *out_count = ints.count;
        if (at < ints.count) *out = (double)ints.items[at];
        return true;
    }
    if (contents->kind == KEEL_ATTR_INT) {
        *out_count = 1;
        *out = (double)program->ints.data[contents->b];
        return true;
    }
    if (contents->kind != KEEL_ATTR_TENSOR) return false;
    keel_tensor_view_t tensor;
    keel_status_t status =
        keel_program_tensor(program, contents->a, program->blobs.data[contents->b], &tensor);
    bool is_good = !status;
    keel_status_ignore(status);
    if (!is_good) return false;
    *out_count = tensor.count;
    return at >= tensor.count || keel_diff_number(program, contents->a, &tensor, at, out);
}

// Sizes in attributes that drifted as those of arguments did.
static uint32_t explains_numbers(keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after) {
    double x = 0, y = 0;
    uint64_t n = 0, m = 0;
    uint32_t root = KEEL_NONE;
    for (uint64_t i = 0; i == 0 || i < n; ++i) {
        if (!numbers_of(&diff->before, before, i, &x, &n) ||
            !numbers_of(&diff->after, after, i, &y, &m) || n != m)
            return KEEL_NONE;
        if (x == y) continue;
        root = keel_sizes_explain(&diff->sizes, (int64_t)x, (int64_t)y);
        if (root == KEEL_NONE) return KEEL_NONE;
    }
    return root;
}

// The first number that differs, as a size is told.
static void describe_bound(keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after,
                           keel_difference_t *difference) {
    double x = 0, y = 0;
    uint64_t n = 0, m = 0;
    for (uint64_t i = 0; i == 0 || i < n; ++i) {
        if (!numbers_of(&diff->before, before, i, &x, &n) ||
            !numbers_of(&diff->after, after, i, &y, &m) || n != m)
            return;
        if (x == y) continue;
        difference->note =
            keel_diff_text(diff, "%s -> %s", difference->old_value, difference->new_value);
        difference->old_value = keel_diff_text(diff, "%.0f", x);
        difference->new_value = keel_diff_text(diff, "%.0f", y);
        return;
    }
}

// Where an operand is of another rank, dimension numbers are other ones too.
static bool follows_from_rank(const keel_diff_t *diff, const pair_t *pair) {
    keel_list_t x = keel_program_operands(diff->before.program, pair->before);
    keel_list_t y = keel_program_operands(diff->after.program, pair->after);
    for (uint32_t i = 0; pair->inherited && i < x.count && i < y.count; ++i)
        if (keel_diff_dims(diff->before.program, keel_graph_type(&diff->before, x.items[i]))
                .count !=
            keel_diff_dims(diff->after.program, keel_graph_type(&diff->after, y.items[i])).count)
            return true;
    return false;
}

static keel_status_t compare_attribute(keel_diff_t *diff, pair_t *pair, keel_str_t name,
                                       keel_attr_id_t before, keel_attr_id_t after) {
    static const char *const names_only[] = {
        "callee",   "decomposition", "called_computations", "to_apply",
        "sym_name", "name",          "composite_attributes"}; // told by what it is made of
    // "SAME" is worked out from sizes.
    static const char *const paddings[] = {"padding", "edge_padding_low", "edge_padding_high"};
    if (ONE_OF(name, names_only)) return NULL;
    if (keel_graph_attr_hash(&diff->before, before) == keel_graph_attr_hash(&diff->after, after))
        return NULL;
    const keel_operation_t *p = &diff->before.program->operations.data[pair->before];
    const keel_operation_t *q = &diff->after.program->operations.data[pair->after];
    bool moves_type = p->result_count && q->result_count &&
                      !is_same_value_type(diff, p->first_result, q->first_result);
    keel_cause_t kind = cause_of_attribute(diff, name, after, moves_type);
    keel_difference_t difference = difference_at(diff, pair, kind);
    if (kind == KEEL_CAUSE_CONSTANT || kind == KEEL_CAUSE_SIZE)
        difference.subject =
            keel_diff_text(diff, "%s %.*s", difference.subject, (int)name.size, name.data);
    difference.old_value = keel_diff_attr(diff, diff->before.program, before);
    difference.new_value = keel_diff_attr(diff, diff->after.program, after);
    if (kind == KEEL_CAUSE_SIZE) describe_bound(diff, before, after, &difference);
    uint32_t explained = explains_numbers(diff, before, after);
    bool follows = follows_from_rank(diff, pair) || (pair->inherited && ONE_OF(name, paddings));
    if (explained == KEEL_NONE && follows) explained = pair->inherited - 1;
    if (explained != KEEL_NONE) return keel_diff_fold(diff, explained, &difference);
    if (pair->root != KEEL_NONE && pair->inherited == 0)
        return keel_diff_fold(diff, pair->root, &difference);
    return root_or_fold(diff, &difference, &pair->root);
}

static keel_list_t entries_of(const keel_program_t *program, keel_op_id_t op) {
    keel_attr_id_t dict = program->operations.data[op].attributes;
    if (dict == KEEL_NONE) return (keel_list_t){NULL, 0};
    return keel_program_list(program, program->attrs.data[dict].b);
}

static keel_attr_id_t entry_named(const keel_program_t *program, keel_list_t entries,
                                  keel_str_t name) {
    for (uint32_t i = 0; i + 1 < entries.count; i += 2)
        if (keel_str_equal(keel_program_str(program, entries.items[i]), name))
            return entries.items[i + 1];
    return KEEL_NONE;
}

static keel_status_t compare_attributes(keel_diff_t *diff, pair_t *pair) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    if (keel_graph_attr_hash(&diff->before, p->operations.data[pair->before].attributes) ==
        keel_graph_attr_hash(&diff->after, q->operations.data[pair->after].attributes))
        return NULL;
    keel_list_t x = entries_of(p, pair->before), y = entries_of(q, pair->after);
    for (uint32_t i = 0; i + 1 < x.count; i += 2) {
        keel_str_t name = keel_program_str(p, x.items[i]);
        KEEL_TRY(compare_attribute(diff, pair, name, x.items[i + 1], entry_named(q, y, name)));
    }
    for (uint32_t i = 0; i + 1 < y.count; i += 2) {
        keel_str_t name = keel_program_str(q, y.items[i]);
        if (entry_named(p, x, name) == KEEL_NONE)
            KEEL_TRY(compare_attribute(diff, pair, name, KEEL_NONE, y.items[i + 1]));
    }
    return NULL;
}

// ---- one pair, and all -------------------------------------------------------------------------

// Arguments of the blocks inside an operation, and of the function that it calls, are what its
// operands are.
static void inherit_arguments(keel_diff_t *diff, const keel_block_t *before,
                              const keel_block_t *after, keel_list_t operands, uint32_t inherited) {
    if (!before || !after) return;
    for (uint32_t i = 0; i < after->argument_count; ++i) {
        keel_value_id_t value = after->first_argument + i;
        if (i < before->argument_count &&
            is_same_value_type(diff, before->first_argument + i, value))
            continue;
        uint32_t taint = i < operands.count ? diff->taint[operands.items[i]] : 0;
        if (!diff->taint[value]) diff->taint[value] = taint ? taint : inherited;
    }
}

static const keel_block_t *first_block(const keel_program_t *program, const keel_region_t *region) {
    return region->block_count ? &program->blocks.data[region->first_block] : NULL;
}

static void inherit(keel_diff_t *diff, const pair_t *pair) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_list_t operands = keel_program_operands(q, pair->after);
    keel_region_run_t x = keel_program_regions(p, pair->before);
    keel_region_run_t y = keel_program_regions(q, pair->after);
    for (uint32_t i = 0; i < x.count && i < y.count; ++i)
        inherit_arguments(diff, first_block(p, &x.items[i]), first_block(q, &y.items[i]), operands,
                          pair->inherited);
    uint32_t a = keel_graph_callee(&diff->before, pair->before);
    uint32_t b = keel_graph_callee(&diff->after, pair->after);
    if (a == KEEL_NONE || b == KEEL_NONE || diff->before.call_site[a] != pair->before ||
        diff->after.call_site[b] != pair->after)
        return;
    inherit_arguments(diff, first_block(p, &p->regions.data[p->functions.data[a].region]),
                      first_block(q, &q->regions.data[q->functions.data[b].region]), operands,
                      pair->inherited);
}

enum { CALL_DEPTH = 64 };

static keel_status_t compare_function(keel_diff_t *diff, uint32_t function, unsigned depth);

// What a called function says is known before the call's results are looked at.
static keel_status_t compare_callee(keel_diff_t *diff, pair_t *pair, unsigned depth) {
    uint32_t callee = keel_graph_callee(&diff->after, pair->after);
    if (callee == KEEL_NONE || diff->after.call_site[callee] != pair->after) return NULL;
    uint32_t roots = diff->root_count;
    KEEL_TRY(compare_function(diff, callee, depth + 1));
    if (!pair->inherited && pair->root == KEEL_NONE && diff->root_count > roots) pair->root = roots;
    return NULL;
}

static keel_status_t compare_pair(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after,
                                  unsigned depth) {
    pair_t pair = {.before = before, .after = after, .root = KEEL_NONE};
    KEEL_TRY(compare_operands(diff, &pair));
    KEEL_TRY(compare_attributes(diff, &pair));
    inherit(diff, &pair);
    KEEL_TRY(compare_callee(diff, &pair, depth));
    const keel_operation_t *p = &diff->before.program->operations.data[before];
    const keel_operation_t *q = &diff->after.program->operations.data[after];
    for (uint32_t i = 0; i < p->result_count && i < q->result_count; ++i)
        if (!is_same_value_type(diff, p->first_result + i, q->first_result + i))
            KEEL_TRY(compare_type(diff, &pair, p->first_result + i, q->first_result + i));
    return NULL;
}

// What an operation without a counterpart makes follows from what it takes.
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
    // The entry reaches the others; those that stand deeper than calls are followed come after.
    for (uint32_t i = 0; i < diff->function_count; ++i)
        KEEL_TRY(compare_function(diff, diff->functions[i].after, 0));
    return NULL;
}
