#include <math.h>

#include "explain/pair.h"
#include "read/print.h"

#define ONE_OF(name, list) keel_str_is_among(name, list, sizeof(list) / sizeof *(list))

// In a pooling it is a size, whatever it does to the size of the result.
static const char window_dimensions[] = "window_dimensions";

// The dimensions that a product sums over, and its batch dimensions: tracing chooses them, and no
// value could be passed for them.
static bool is_of_product(keel_str_t name) {
    static const char *const names[] = {"lhs_contracting_dimensions", "rhs_contracting_dimensions",
                                        "lhs_batching_dimensions",    "rhs_batching_dimensions",
                                        "lhs_batch_dimensions",       "rhs_batch_dimensions"};
    return ONE_OF(name, names);
}

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
    static const char *const shardings[] = {"mhlo.sharding",  "sdy.sharding",       "sharding",
                                            "in_shardings",   "out_shardings",      "manual_axes",
                                            "replica_groups", "source_target_pairs"};
    static const char *const layouts[] = {"operand_layouts", "result_layouts", "layout"};
    static const char *const bounds[] = {"limit_indices",     "slice_dimensions",
                                         "slice_sizes",       "edge_padding_low",
                                         "edge_padding_high", "interior_padding",
                                         "padding",           "padding_config",
                                         "window_strides",    "window"};
    if (ONE_OF(name, precisions)) return KEEL_CAUSE_PRECISION;
    if (ONE_OF(name, shardings)) return KEEL_CAUSE_SHARDING;
    if (ONE_OF(name, layouts)) return KEEL_CAUSE_LAYOUT;
    if ((moves_type && ONE_OF(name, bounds)) || keel_str_is(name, window_dimensions))
        return KEEL_CAUSE_SIZE;
    if (attr == KEEL_NONE || is_of_product(name)) return KEEL_CAUSE_STRUCTURE;
    switch (keel_program_attr(diff->after.program, attr)->kind) {
        case KEEL_ATTR_ENUM:
        case KEEL_ATTR_STRING:
        case KEEL_ATTR_SYMBOL:
            return KEEL_CAUSE_STRUCTURE;
        default:
            return KEEL_CAUSE_CONSTANT;
    }
}

// HLO: the numbers of each dimension of a slice, window or padding, one after another; 0 is left
// out.
static const char *const dimension_fields[] = {"start",
                                               "limit",
                                               "stride",
                                               "size",
                                               "padding_low",
                                               "padding_high",
                                               "window_dilation",
                                               "base_dilation",
                                               "edge_padding_low",
                                               "edge_padding_high",
                                               "interior_padding"};
enum {
    DIMENSION_FIELDS = sizeof dimension_fields / sizeof *dimension_fields,
    SIZE_FIELD = 3,
    EDGE_FIELD = 8 // from here on, those of a padding
};

// True for the dimensions of a padding. Unlike those of a slice or window, they have no stride and
// may be empty.
static bool is_padding(const keel_program_t *program, keel_list_t dimensions) {
    for (uint32_t i = 0; i < dimensions.count; ++i)
        for (uint32_t field = EDGE_FIELD; field < DIMENSION_FIELDS; ++field)
            if (keel_program_dict_find(program, dimensions.items[i], dimension_fields[field]) !=
                KEEL_NONE)
                return true;
    return false;
}

// Empty if it says nothing about dimensions.
static keel_list_t dimensions_of(const keel_program_t *program, keel_attr_id_t attr) {
    const keel_list_t none = {NULL, 0};
    keel_attr_id_t inside = keel_program_dict_find(program, attr, "dimensions");
    keel_list_t items = keel_program_array(program, inside == KEEL_NONE ? attr : inside);
    bool is_known =
        items.count && (keel_program_dict_find(program, items.items[0], "stride") != KEEL_NONE ||
                        is_padding(program, items));
    return is_known ? items : none;
}

static double dimension_number(const keel_program_t *program, keel_list_t dimensions, uint64_t at) {
    if (at / DIMENSION_FIELDS >= dimensions.count) return 0;
    keel_attr_id_t number = keel_program_dict_find(program, dimensions.items[at / DIMENSION_FIELDS],
                                                   dimension_fields[at % DIMENSION_FIELDS]);
    return (double)keel_program_number(program, number, 0);
}

// The numbers of an attribute, whatever kind stores them.
static bool numbers_of(keel_graph_t *graph, keel_attr_id_t attr, uint64_t at, double *out,
                       uint64_t *out_count) {
    const keel_program_t *program = graph->program;
    const keel_attr_t *contents = keel_program_attr(program, attr);
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
    keel_list_t dimensions = dimensions_of(program, attr);
    if (dimensions.count) {
        *out_count = (uint64_t)dimensions.count * DIMENSION_FIELDS;
        *out = dimension_number(program, dimensions, at);
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

// For sizes that a program can have; not for what is not a number, or does not fit an int64_t.
static bool is_whole_size(double value) {
    return fabs(value) < 1e15 && value == floor(value);
}

// A window as long as the dimension it covers, like that of a running sum, has padding that grows
// with it.
static bool grows_with_window(const keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after,
                              uint64_t at, double growth) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_list_t x = dimensions_of(p, before), y = dimensions_of(q, after);
    uint64_t size = at / DIMENSION_FIELDS * DIMENSION_FIELDS + SIZE_FIELD;
    return x.count && y.count && at > size &&
           dimension_number(q, y, size) - dimension_number(p, x, size) == growth;
}

// More numbers than these are not sizes.
enum { NUMBERS = 1024 };

uint32_t keel_pair_source(const keel_diff_t *diff, const keel_pair_t *pair) {
    return pair->inherited && pair->inherited - 1 < diff->root_count ? pair->inherited : 0;
}

bool keel_pair_numbers_at(keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after,
                          uint64_t at, double *x, double *y, uint64_t *out_count) {
    uint64_t n = 0, m = 0;
    bool are_numbers = numbers_of(&diff->before, before, at, x, &n) &&
                       numbers_of(&diff->after, after, at, y, &m) && n == m && n <= NUMBERS;
    *out_count = n;
    return are_numbers;
}

// Sizes in attributes that drifted the way those of arguments did.
static uint32_t explains_numbers(keel_diff_t *diff, const keel_pair_t *pair, keel_attr_id_t before,
                                 keel_attr_id_t after) {
    double x = 0, y = 0;
    uint64_t n = 0;
    uint32_t root = KEEL_NONE, source = keel_pair_source(diff, pair);
    for (uint64_t i = 0; i == 0 || i < n; ++i) {
        if (!keel_pair_numbers_at(diff, before, after, i, &x, &y, &n)) return KEEL_NONE;
        if (x == y) continue;
        if (!is_whole_size(x) || !is_whole_size(y)) return KEEL_NONE;
        if (root != KEEL_NONE && grows_with_window(diff, before, after, i, y - x)) continue;
        root = keel_sizes_explain(&diff->sizes, (int64_t)x, (int64_t)y);
        if (root == KEEL_NONE && source)
            root = keel_sizes_explain_within(&diff->sizes, source - 1, (int64_t)x, (int64_t)y);
        if (root == KEEL_NONE)
            root = keel_pair_explain_part(diff, pair->after, (int64_t)x, (int64_t)y);
        if (root == KEEL_NONE) return KEEL_NONE;
    }
    return root;
}

static void describe_taken(keel_diff_t *diff, const keel_drift_t *taken,
                           keel_difference_t *difference) {
    difference->note = keel_diff_text(diff, "start_indices %s -> %s", difference->old_value,
                                      difference->new_value);
    difference->old_value = keel_diff_text(diff, "%lld", (long long)taken->before);
    difference->new_value = keel_diff_text(diff, "%lld", (long long)taken->after);
}

// The first number that differs, as a size is shown.
static void describe_bound(keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after,
                           keel_difference_t *difference) {
    double x = 0, y = 0;
    uint64_t n = 0;
    for (uint64_t i = 0; i == 0 || i < n; ++i) {
        if (!keel_pair_numbers_at(diff, before, after, i, &x, &y, &n)) return;
        if (x == y) continue;
        if (!is_padding(diff->after.program, dimensions_of(diff->after.program, after)))
            difference->note =
                keel_diff_text(diff, "%s -> %s", difference->old_value, difference->new_value);
        if (dimensions_of(diff->after.program, after).count)
            difference->subject =
                keel_diff_text(diff, "%s %s", keel_pair_name(diff, difference->new_op),
                               dimension_fields[i % DIMENSION_FIELDS]);
        difference->old_value = keel_diff_text(diff, "%.0f", x);
        difference->new_value = keel_diff_text(diff, "%.0f", y);
        return;
    }
}

// If an operand has another rank, its dimension numbers differ too.
static bool follows_from_rank(const keel_diff_t *diff, const keel_pair_t *pair) {
    keel_list_t x = keel_program_operands(diff->before.program, pair->before);
    keel_list_t y = keel_program_operands(diff->after.program, pair->after);
    for (uint32_t i = 0; pair->inherited && i < x.count && i < y.count; ++i)
        if (keel_diff_dims(diff->before.program, keel_graph_type(&diff->before, x.items[i]))
                .count !=
            keel_diff_dims(diff->after.program, keel_graph_type(&diff->after, y.items[i])).count)
            return true;
    return false;
}

static bool has_number(keel_graph_t *graph, keel_attr_id_t attr, double wanted) {
    double number = 0;
    uint64_t count = 1;
    for (uint64_t i = 0; i < count && i < NUMBERS; ++i)
        if (numbers_of(graph, attr, i, &number, &count) && i < count && number == wanted)
            return true;
    return false;
}

// A dimension that only one program sums over has one element in one of them: the client leaves
// such a sum out.
static bool sums_over_one(keel_diff_t *diff, const keel_pair_t *pair, keel_str_t name,
                          keel_attr_id_t before, keel_attr_id_t after) {
    if (!pair->inherited || pair->inherited - 1 >= diff->root_count ||
        !keel_str_is(name, "dimensions") ||
        !keel_str_is(keel_graph_name(&diff->after, pair->after), "reduce"))
        return false;
    keel_list_t was = keel_program_operands(diff->before.program, pair->before);
    keel_list_t is = keel_program_operands(diff->after.program, pair->after);
    if (!was.count || !is.count) return false;
    keel_ints_t x =
        keel_diff_dims(diff->before.program, keel_graph_type(&diff->before, was.items[0]));
    keel_ints_t y = keel_diff_dims(diff->after.program, keel_graph_type(&diff->after, is.items[0]));
    for (uint32_t i = 0; x.count == y.count && i < x.count; ++i)
        if (has_number(&diff->before, before, i) != has_number(&diff->after, after, i) &&
            (x.items[i] == 1) == (y.items[i] == 1))
            return false;
    return x.count == y.count;
}

// A sharding has an entry for each dimension. For another rank, even a sharding that says nothing
// differs, but it says no more than the rank does.
static bool is_of_rank_only(const keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after) {
    const keel_program_t *programs[] = {diff->before.program, diff->after.program};
    const keel_attr_id_t attrs[] = {before, after};
    keel_str_t meshes[2] = {{NULL, 0}, {NULL, 0}};
    for (int i = 0; i < 2; ++i) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        bool says_nothing = keel_print_sharding(programs[i], attrs[i], true, &text) &&
                            strncmp(keel_buffer_cstr(&text), "P(", 2) == 0 &&
                            !strpbrk(keel_buffer_cstr(&text), "'U");
        keel_buffer_deinitialize(&text);
        const keel_attr_t *mesh =
            keel_program_attr(programs[i], keel_program_dict_find(programs[i], attrs[i], "mesh"));
        if (!says_nothing || mesh->kind != KEEL_ATTR_SYMBOL) return false;
        meshes[i] = keel_program_str(programs[i], mesh->a);
    }
    return keel_str_equal(meshes[0], meshes[1]);
}

// A mean over a window divides by its size.
static void learn_window(keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after,
                         uint32_t root) {
    enum { RANK = 8 };
    int64_t x[RANK], y[RANK];
    uint64_t n = 0;
    for (uint64_t i = 0; i == 0 || i < n; ++i) {
        double had = 1, has = 1;
        if (!keel_pair_numbers_at(diff, before, after, i, &had, &has, &n) || n > RANK ||
            !is_whole_size(had) || !is_whole_size(has))
            return;
        x[i] = (int64_t)had;
        y[i] = (int64_t)has;
    }
    keel_sizes_add_dims(&diff->sizes, (keel_ints_t){x, (uint32_t)n}, (keel_ints_t){y, (uint32_t)n},
                        root);
}

static bool is_one_element(const keel_graph_t *graph, keel_op_id_t op) {
    keel_list_t operands = keel_program_operands(graph->program, op);
    if (!operands.count) return false;
    keel_ints_t dims = keel_diff_dims(graph->program, keel_graph_type(graph, operands.items[0]));
    for (uint32_t i = 0; i < dims.count; ++i)
        if (dims.items[i] != 1) return false;
    return true;
}

// A single element goes to all places, along any dimension.
static bool spreads_one(const keel_diff_t *diff, const keel_pair_t *pair, keel_str_t name) {
    return keel_str_is(name, "broadcast_dimensions") &&
           is_one_element(&diff->before, pair->before) && is_one_element(&diff->after, pair->after);
}

// Padded to a size that drifted, like the gradient of a kernel or of the last row.
static uint32_t explains_padding(keel_diff_t *diff, const keel_pair_t *pair) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    if (p->operations.data[pair->before].result_count != 1 ||
        q->operations.data[pair->after].result_count != 1)
        return KEEL_NONE;
    keel_value_id_t was = p->operations.data[pair->before].first_result;
    keel_value_id_t is = q->operations.data[pair->after].first_result;
    return keel_pair_explain_dims(diff, keel_diff_dims(p, keel_graph_type(&diff->before, was)),
                                  keel_diff_dims(q, keel_graph_type(&diff->after, is)));
}

// How a kernel's operands may be sharded, with the sizes of all dimensions: another type has
// another rule.
static bool is_rule_of_types(keel_diff_t *diff, const keel_pair_t *pair, keel_str_t name) {
    if (!keel_str_is(name, "sdy.sharding_rule")) return false;
    keel_list_t was = keel_program_operands(diff->before.program, pair->before);
    keel_list_t is = keel_program_operands(diff->after.program, pair->after);
    bool is_same = was.count == is.count;
    for (uint32_t i = 0; is_same && i < is.count; ++i)
        is_same = keel_pair_same_type(diff, was.items[i], is.items[i]);
    return !is_same;
}

// HLO: the sharding of a program's results has a part for each, and how many they are is another
// difference.
static bool is_of_other_results(const keel_diff_t *diff, const keel_pair_t *pair, keel_str_t name) {
    return keel_str_is(name, "sharding") &&
           keel_str_is(keel_graph_name(&diff->after, pair->after), "tuple") &&
           keel_program_operands(diff->before.program, pair->before).count !=
               keel_program_operands(diff->after.program, pair->after).count;
}

// What belongs to a kernel if the pair calls two different ones: only the kernel is reported.
static bool is_of_other_kernels(keel_diff_t *diff, const keel_pair_t *pair, keel_str_t name) {
    static const char *const targets[] = {"call_target_name", "custom_call_target"};
    if (ONE_OF(name, targets)) return false;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i) {
        keel_attr_id_t was = keel_program_dict_find(
            diff->before.program, diff->before.program->operations.data[pair->before].attributes,
            targets[i]);
        keel_attr_id_t is = keel_program_dict_find(
            diff->after.program, diff->after.program->operations.data[pair->after].attributes,
            targets[i]);
        if (was != KEEL_NONE && is != KEEL_NONE &&
            keel_graph_attr_hash(&diff->before, was) != keel_graph_attr_hash(&diff->after, is))
            return true;
    }
    return false;
}

// The ends of a slice, as a user of JAX writes them.
static const char *plain_name(keel_diff_t *diff, keel_str_t name) {
    if (keel_str_is(name, "start_indices")) return "start";
    if (keel_str_is(name, "limit_indices")) return "end";
    return keel_diff_text(diff, "%.*s", (int)name.size, name.data);
}

// What a call finds by its address has another one in each process, and in each trace of it.
static bool is_address(keel_diff_t *diff, const keel_pair_t *pair, keel_str_t name) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    bool is = keel_str_is(name, "backend_config") &&
              keel_key_calls_by_address(p, p->operations.data[pair->before].attributes) &&
              keel_key_calls_by_address(q, q->operations.data[pair->after].attributes);
    diff->has_addresses |= is;
    return is;
}

static keel_status_t compare_attribute(keel_diff_t *diff, keel_pair_t *pair, keel_str_t name,
                                       keel_attr_id_t before, keel_attr_id_t after) {
    static const char *const names_only[] = {
        "callee",   "decomposition", "called_computations", "to_apply",
        "sym_name", "name",          "composite_attributes"}; // covered by its operands
    // "SAME" padding is computed from sizes.
    static const char *const paddings[] = {"padding", "padding_config", "edge_padding_low",
                                           "edge_padding_high"};
    if (ONE_OF(name, names_only) || spreads_one(diff, pair, name) ||
        is_rule_of_types(diff, pair, name) || is_of_other_kernels(diff, pair, name) ||
        is_of_other_results(diff, pair, name) ||
        keel_pair_is_of_other_list(diff, pair->before, pair->after))
        return NULL;
    if (keel_graph_attr_hash(&diff->before, before) == keel_graph_attr_hash(&diff->after, after))
        return NULL;
    if (is_address(diff, pair, name)) return NULL;
    const keel_operation_t *p = &diff->before.program->operations.data[pair->before];
    const keel_operation_t *q = &diff->after.program->operations.data[pair->after];
    bool moves_type = p->result_count && q->result_count &&
                      !keel_pair_same_type(diff, p->first_result, q->first_result);
    uint32_t explained = explains_numbers(diff, pair, before, after);
    if (explained == KEEL_NONE) explained = keel_pair_explain_slice(diff, pair, name);
    if (explained == KEEL_NONE && ONE_OF(name, paddings)) explained = explains_padding(diff, pair);
    bool follows = follows_from_rank(diff, pair) ||
                   sums_over_one(diff, pair, name, before, after) ||
                   (pair->inherited && ONE_OF(name, paddings));
    if (explained == KEEL_NONE && follows) explained = pair->inherited - 1;
    // Its result follows from the same root.
    if (explained != KEEL_NONE && moves_type && !pair->inherited) pair->inherited = explained + 1;
    if (explained != KEEL_NONE && keel_diff_is_full(diff)) {
        keel_diff_count(diff, explained);
        return NULL;
    }
    keel_cause_t kind = cause_of_attribute(diff, name, after, moves_type);
    if (kind == KEEL_CAUSE_SHARDING && is_of_rank_only(diff, before, after)) return NULL;
    keel_drift_t taken;
    bool is_sized = keel_pair_sized_by_start(diff, pair, name, &taken);
    if (is_sized) kind = KEEL_CAUSE_SIZE;
    keel_difference_t difference = keel_pair_difference(diff, pair, kind);
    bool names_attribute =
        kind == KEEL_CAUSE_CONSTANT || kind == KEEL_CAUSE_SIZE || is_of_product(name);
    if (!is_sized && names_attribute)
        difference.subject =
            keel_diff_text(diff, "%s %s", difference.subject, plain_name(diff, name));
    keel_diff_attrs(diff, before, after, &difference);
    if (is_sized)
        describe_taken(diff, &taken, &difference);
    else if (kind == KEEL_CAUSE_SIZE || dimensions_of(diff->after.program, after).count)
        describe_bound(diff, before, after, &difference);
    if (explained != KEEL_NONE && keel_pair_gives_shape(diff, pair, explained, &difference)) {
        keel_difference_t constant = diff->roots[explained].difference;
        diff->roots[explained].difference = difference;
        return keel_diff_fold(diff, explained, &constant);
    }
    if (explained != KEEL_NONE) return keel_diff_fold(diff, explained, &difference);
    if (pair->root != KEEL_NONE && pair->inherited == 0)
        return keel_diff_fold(diff, pair->root, &difference);
    KEEL_TRY(keel_pair_root(diff, &difference, &pair->root));
    if (keel_str_is(name, window_dimensions)) learn_window(diff, before, after, pair->root);
    return NULL;
}

static keel_list_t entries_of(const keel_program_t *program, keel_op_id_t op) {
    return keel_program_entries(program, program->operations.data[op].attributes);
}

// Padding and the end of a slice are computed from what the user writes, so they come last: they
// follow from any other attribute that differs.
static bool is_derived(keel_str_t name) {
    static const char *const derived[] = {"padding", "padding_config", "edge_padding_low",
                                          "edge_padding_high", "limit_indices"};
    return ONE_OF(name, derived);
}

static keel_status_t compare_entries(keel_diff_t *diff, keel_pair_t *pair, bool derived) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_list_t x = entries_of(p, pair->before), y = entries_of(q, pair->after);
    for (uint32_t i = 0; i + 1 < x.count; i += 2) {
        keel_str_t name = keel_program_str(p, x.items[i]);
        if (is_derived(name) == derived)
            KEEL_TRY(compare_attribute(diff, pair, name, x.items[i + 1],
                                       keel_diff_entry(q, y, name, i)));
    }
    for (uint32_t i = 0; i + 1 < y.count; i += 2) {
        keel_str_t name = keel_program_str(q, y.items[i]);
        if (is_derived(name) == derived && keel_diff_entry(p, x, name, i) == KEEL_NONE)
            KEEL_TRY(compare_attribute(diff, pair, name, KEEL_NONE, y.items[i + 1]));
    }
    return NULL;
}

keel_status_t keel_pair_attributes(keel_diff_t *diff, keel_pair_t *pair) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    if (keel_graph_attr_hash(&diff->before, p->operations.data[pair->before].attributes) ==
        keel_graph_attr_hash(&diff->after, q->operations.data[pair->after].attributes))
        return NULL;
    KEEL_TRY(compare_entries(diff, pair, false));
    return compare_entries(diff, pair, true);
}
