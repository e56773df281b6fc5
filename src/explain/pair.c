#include <stdlib.h>

#include "explain/align.h"
#include "explain/pair.h"

// What operations are paired by, the most telling first. Each level only fills the gaps that
// earlier ones left.
enum {
    LEVEL_STACK, // HLO: as below, and its frames up to the user's line
    LEVEL_SAME,  // as below, and the arguments that it takes
    LEVEL_EXACT, // name, place within the user's function, types, attributes and constants
    LEVEL_TYPE,  // name, place, types of results, and kinds of operands
    LEVEL_CLASS, // name, place, and whether it gives numbers or conditions
    LEVEL_PLACE, // name and place
    LEVEL_SELF,  // name, kinds, attributes, and the constants that it takes
    LEVEL_KIND,  // name, and kinds of operands and result (fit.c)
    LEVEL_NAME,  // name alone: a call of any function
    LEVELS
};

// The operations of one function that are aligned: all except constants and their reshapes, which
// clients share and move; they are compared at their uses.
typedef struct sequence_t {
    keel_op_id_t *ops;
    uint64_t *tokens[LEVELS];
    uint32_t count;
} sequence_t;

static bool is_carrier(keel_str_t name) {
    static const char *const carriers[] = {
        "while", "call",      "return",           "case", "optimization_barrier", "custom_call",
        "tuple", "composite", "get-tuple-element"};
    return keel_str_is_among(name, carriers, sizeof carriers / sizeof *carriers);
}

// A call's name is also that of the client's function that it runs: JAX numbers functions of one
// name, "_where_3".
static uint64_t token_of_name(const keel_graph_t *graph, keel_op_id_t op) {
    const keel_program_t *program = graph->program;
    uint64_t token = keel_quick_hash(keel_str_bytes(keel_graph_name(graph, op)));
    uint32_t callee = keel_graph_callee(graph, op);
    if (callee == KEEL_NONE || program->format != KEEL_FORMAT_MLIR) return token;
    keel_str_t name = keel_program_str(program, program->functions.data[callee].name);
    return keel_graph_join(token,
                           keel_quick_hash(keel_str_bytes(keel_str_without_number(name, '_'))));
}

static uint64_t token_of_self(keel_graph_t *graph, keel_op_id_t op, uint64_t name) {
    const keel_program_t *program = graph->program;
    uint64_t token = name;
    if (keel_graph_callee(graph, op) == KEEL_NONE)
        token = keel_graph_join(
            token, keel_graph_attr_hash(graph, program->operations.data[op].attributes));
    keel_list_t operands = keel_program_operands(program, op);
    for (uint32_t i = 0; i < operands.count; ++i) {
        keel_op_id_t producer = graph->producer[operands.items[i]];
        keel_op_id_t constant = producer == KEEL_NONE ? KEEL_NONE : graph->constant[producer];
        if (constant == KEEL_NONE) continue;
        keel_attr_id_t value = program->operations.data[constant].attributes;
        token = keel_graph_join(token, keel_graph_attr_hash(graph, value) + i);
    }
    return token;
}

static uint64_t token_of_types(keel_graph_t *graph, keel_op_id_t op, uint64_t token) {
    const keel_operation_t *operation = &graph->program->operations.data[op];
    for (uint32_t i = 0; i < operation->result_count; ++i)
        token = keel_graph_join(
            token,
            keel_graph_type_hash(graph, keel_graph_type(graph, operation->first_result + i)));
    return token;
}

static uint64_t token_of_class(const keel_diff_t *diff, const keel_graph_t *graph, keel_op_id_t op,
                               uint64_t token) {
    const keel_operation_t *operation = &graph->program->operations.data[op];
    if (diff->after.lender || operation->result_count != 1) return token;
    keel_type_id_t type = keel_graph_type(graph, operation->first_result);
    return keel_graph_join(token, keel_fit_class_token(diff, graph, type));
}

// Hashes the types of its operands and results. Operations with many values do not include them.
static uint64_t token_of_kinds(const keel_diff_t *diff, const keel_graph_t *graph, keel_op_id_t op,
                               uint64_t token) {
    if (diff->after.lender || is_carrier(keel_graph_name(graph, op))) return token;
    const keel_operation_t *operation = &graph->program->operations.data[op];
    keel_list_t operands = keel_program_operands(graph->program, op);
    for (uint32_t i = 0; i < operands.count; ++i)
        token = keel_graph_join(
            token, keel_fit_token(diff, graph, keel_graph_type(graph, operands.items[i])));
    if (!operation->result_count) return token;
    keel_type_id_t type = keel_graph_type(graph, operation->first_result);
    return keel_graph_join(token, keel_fit_token(diff, graph, type));
}

// Hashes the arguments that it takes directly. One that the other program lacks matches no other.
static uint64_t token_of_arguments(const keel_diff_t *diff, bool is_after, keel_op_id_t op,
                                   uint64_t token) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_argument_t *arguments = is_after ? diff->arguments_after : diff->arguments_before;
    keel_list_t operands = keel_program_operands(graph->program, op);
    for (uint32_t i = 0; i < operands.count; ++i) {
        if (graph->producer[operands.items[i]] != KEEL_NONE) continue;
        uint32_t number = keel_diff_argument(
            arguments, is_after ? diff->after_count : diff->before_count, operands.items[i]);
        if (number == KEEL_NONE) continue;
        uint32_t counterpart = arguments[number].counterpart;
        if (counterpart == KEEL_NONE)
            token = keel_graph_join(token, 2 + is_after);
        else
            token = keel_graph_join(token, 4 + (uint64_t)(is_after ? counterpart : number));
    }
    return token;
}

static keel_status_t sequence_of(const keel_diff_t *diff, keel_graph_t *graph, uint32_t function,
                                 keel_arena_t *arena, sequence_t *out) {
    keel_op_id_t *order;
    uint32_t count;
    KEEL_TRY(keel_graph_order(graph, function, arena, &order, &count));
    size_t most = count ? count : 1;
    KEEL_TRY(keel_arena_array(arena, most, sizeof *out->ops, (void **)&out->ops));
    for (int level = 0; level < LEVELS; ++level)
        KEEL_TRY(keel_arena_array(arena, most, sizeof(uint64_t), (void **)&out->tokens[level]));
    out->count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        keel_op_id_t op = order[i];
        if (graph->constant[op] != KEEL_NONE || graph->is_spare[op]) continue;
        uint64_t name = token_of_name(graph, op);
        keel_attr_id_t location = graph->program->operations.data[op].location;
        out->ops[out->count] = op;
        uint64_t place = keel_graph_join(name, keel_graph_line_at(graph, location)->token);
        uint64_t kind = token_of_kinds(diff, graph, op, name);
        uint64_t self = token_of_self(graph, op, kind);
        out->tokens[LEVEL_TYPE][out->count] =
            keel_graph_join(token_of_types(graph, op, place), kind);
        out->tokens[LEVEL_EXACT][out->count] =
            keel_graph_join(out->tokens[LEVEL_TYPE][out->count], self);
        out->tokens[LEVEL_SAME][out->count] = token_of_arguments(
            diff, graph == &diff->after, op, out->tokens[LEVEL_EXACT][out->count]);
        out->tokens[LEVEL_STACK][out->count] = keel_graph_join(
            out->tokens[LEVEL_SAME][out->count], keel_graph_line_at(graph, location)->stack);
        out->tokens[LEVEL_CLASS][out->count] = token_of_class(diff, graph, op, place);
        out->tokens[LEVEL_PLACE][out->count] = place;
        out->tokens[LEVEL_SELF][out->count] = self;
        out->tokens[LEVEL_KIND][out->count] = kind;
        out->tokens[LEVEL_NAME][out->count++] =
            keel_quick_hash(keel_str_bytes(keel_graph_name(graph, op)));
    }
    return NULL;
}

static int by_value(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static uint32_t count_in_place(const sequence_t *a, const sequence_t *b, int level) {
    uint32_t smaller = a->count < b->count ? a->count : b->count, count = 0;
    for (uint32_t i = 0; i < smaller; ++i)
        count += a->tokens[level][i] == b->tokens[level][i];
    return count;
}

// How many tokens both have, in any order.
static keel_status_t count_common(const sequence_t *a, const sequence_t *b, int level,
                                  keel_arena_t *scratch, uint32_t *out) {
    void *memory;
    KEEL_TRY(keel_arena_array(scratch, (size_t)a->count + b->count + 1, sizeof(uint64_t), &memory));
    uint64_t *x = memory, *y = x + a->count;
    if (a->count) memcpy(x, a->tokens[level], a->count * sizeof *x);
    if (b->count) memcpy(y, b->tokens[level], b->count * sizeof *y);
    qsort(x, a->count, sizeof *x, by_value);
    qsort(y, b->count, sizeof *y, by_value);
    *out = 0;
    for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
        if (x[i] == y[j]) {
            ++*out;
            ++i;
            ++j;
        } else if (x[i] < y[j])
            ++i;
        else
            ++j;
    }
    return NULL;
}

// If a size has drifted, hardly any types agree: matching the few would take time and pair
// unrelated operations.
static keel_status_t agrees(const sequence_t *a, const sequence_t *b, int level,
                            keel_arena_t *scratch, bool *out) {
    uint32_t smaller = a->count < b->count ? a->count : b->count, enough = smaller - smaller / 4;
    *out = count_in_place(a, b, level) >= enough;
    if (*out) return NULL; // usually; the later ones are for operations that moved
    uint32_t common;
    KEEL_TRY(count_common(a, b, level, scratch, &common));
    *out = common >= enough;
    return NULL;
}

// True if both do the same operation by operation, and only types and constants differ: then an
// operation that happens to have another's type is not paired with it. Operations in a different
// order are aligned normally.
static keel_status_t is_in_place(const sequence_t *a, const sequence_t *b, keel_arena_t *scratch,
                                 bool *out) {
    *out = false;
    if (a->count != b->count || count_in_place(a, b, LEVEL_PLACE) != a->count) return NULL;
    uint32_t common = a->count;
    if (count_in_place(a, b, LEVEL_EXACT) != a->count)
        KEEL_TRY(count_common(a, b, LEVEL_EXACT, scratch, &common));
    *out = common != a->count;
    return NULL;
}

static keel_status_t align_gaps(const sequence_t *a, const sequence_t *b, int level, uint32_t *to_b,
                                uint32_t *to_a) {
    // What the more telling tokens left has little in common, so fewer edits are tried.
    uint32_t edits = level <= LEVEL_PLACE ? KEEL_ALIGN_EDITS : KEEL_ALIGN_EDITS / 4;
    return keel_align_gaps(a->tokens[level], a->count, b->tokens[level], b->count, edits, to_b,
                           to_a);
}

static keel_status_t pair_callees(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after) {
    uint32_t a = keel_graph_callee(&diff->before, before);
    uint32_t b = keel_graph_callee(&diff->after, after);
    if (a == KEEL_NONE || b == KEEL_NONE) return NULL;
    if (diff->before.call_site[a] != KEEL_NONE || diff->after.call_site[b] != KEEL_NONE)
        return NULL;
    if (a == diff->before.program->entry || b == diff->after.program->entry) return NULL;
    diff->before.call_site[a] = before;
    diff->after.call_site[b] = after;
    diff->functions[diff->function_count++] = (keel_function_pair_t){a, b};
    return NULL;
}

// ---- unrelated ---------------------------------------------------------------------------------

// These operations choose their result's dtype or rank.
static bool makes_class(keel_str_t name) {
    static const char *const makers[] = {"convert", "iota", "bitcast_convert"};
    return keel_str_is_among(name, makers, sizeof makers / sizeof *makers);
}

static bool makes_rank(keel_str_t name) {
    static const char *const makers[] = {"broadcast_in_dim", "reshape", "reduce", "dot_general",
                                         "gather",           "iota",    "scatter"};
    return keel_str_is_among(name, makers, sizeof makers / sizeof *makers);
}

// An operand changed like the result: the change is passed on.
static bool is_passed_on(const keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after) {
    keel_list_t x = keel_program_operands(diff->before.program, before);
    keel_list_t y = keel_program_operands(diff->after.program, after);
    for (uint32_t i = 0; i < x.count && i < y.count; ++i) {
        if (diff->value_counterpart[x.items[i]] != y.items[i]) continue;
        keel_type_id_t a = keel_graph_type(&diff->before, x.items[i]);
        keel_type_id_t b = keel_graph_type(&diff->after, y.items[i]);
        if (!keel_fit_class(diff, a, b) || !keel_fit_rank(diff, a, b)) return true;
    }
    return false;
}

// Operations with the same name, or on the same busy line of a library, are unrelated if one is
// about numbers and the other about conditions, or one about a vector and the other about a matrix.
static bool may_pair(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after, int level) {
    keel_str_t name = keel_graph_name(&diff->after, after);
    if (diff->after.lender || is_carrier(name)) return true;
    // A Python number is converted; an array in its place makes the other operand be converted.
    if (keel_diff_weak_argument(diff, false, before) != KEEL_NONE ||
        keel_diff_weak_argument(diff, true, after) != KEEL_NONE)
        return true;
    keel_list_t x = keel_program_operands(diff->before.program, before);
    keel_list_t y = keel_program_operands(diff->after.program, after);
    const keel_operation_t *p = &diff->before.program->operations.data[before];
    const keel_operation_t *q = &diff->after.program->operations.data[after];
    bool fits_class = true, fits_rank = true;
    if (p->result_count && q->result_count) {
        keel_type_id_t a = keel_graph_type(&diff->before, p->first_result);
        keel_type_id_t b = keel_graph_type(&diff->after, q->first_result);
        fits_class = keel_fit_class(diff, a, b);
        fits_rank = keel_fit_rank(diff, a, b);
    }
    if (x.count && y.count) {
        keel_type_id_t a = keel_graph_type(&diff->before, x.items[0]);
        keel_type_id_t b = keel_graph_type(&diff->after, y.items[0]);
        fits_class = fits_class && keel_fit_class(diff, a, b);
        fits_rank = fits_rank && keel_fit_rank(diff, a, b);
    }
    if (fits_class && fits_rank) return true;
    bool is_at_place = level <= LEVEL_PLACE;
    const keel_source_line_t *line = keel_graph_line(&diff->after, after);
    if (is_at_place && !line->library_file.size) return true;
    if (is_at_place && (fits_class || makes_class(name)) && (fits_rank || makes_rank(name)))
        return true;
    return is_passed_on(diff, before, after);
}

static keel_status_t pair_function(keel_diff_t *diff, keel_function_pair_t functions,
                                   keel_arena_t *scratch) {
    sequence_t a, b;
    KEEL_TRY(sequence_of(diff, &diff->before, functions.before, scratch, &a));
    KEEL_TRY(sequence_of(diff, &diff->after, functions.after, scratch, &b));
    void *memory;
    KEEL_TRY(keel_arena_array(scratch, (size_t)a.count + b.count + 1, sizeof(uint32_t), &memory));
    uint32_t *to_b = memory, *to_a = to_b + a.count;
    memset(memory, 0xff, ((size_t)a.count + b.count) * sizeof(uint32_t));
    uint8_t *level_of;
    KEEL_TRY(keel_arena_array(scratch, a.count + 1u, 1, (void **)&level_of));
    memset(level_of, LEVELS, a.count);
    bool in_place;
    KEEL_TRY(is_in_place(&a, &b, scratch, &in_place));
    for (uint32_t i = 0; in_place && i < a.count; ++i) {
        to_b[i] = to_a[i] = i;
        level_of[i] = LEVEL_PLACE;
    }
    int first = diff->after.lender             ? LEVEL_STACK
                : keel_diff_has_unpaired(diff) ? LEVEL_SAME
                                               : LEVEL_EXACT;
    for (int level = first; !in_place && level < LEVELS; ++level) {
        bool is_worth_it = true;
        if (level < LEVEL_CLASS) KEEL_TRY(agrees(&a, &b, level, scratch, &is_worth_it));
        if (is_worth_it) KEEL_TRY(align_gaps(&a, &b, level, to_b, to_a));
        for (uint32_t i = 0; i < a.count; ++i)
            if (to_b[i] != UINT32_MAX && level_of[i] == LEVELS) level_of[i] = (uint8_t)level;
    }
    if (diff->after.lender && !in_place)
        KEEL_TRY(keel_pair_uncross(
            diff,
            &(keel_paired_t){a.ops, a.tokens[LEVEL_EXACT], a.tokens[LEVEL_STACK], to_b, a.count},
            &(keel_paired_t){b.ops, b.tokens[LEVEL_EXACT], b.tokens[LEVEL_STACK], to_a, b.count},
            scratch));
    diff->alignable += a.count > b.count ? a.count : b.count;
    uint32_t aligned = diff->aligned;
    // What a loop's body returns is paired with the loop, before its turn has come.
    for (uint32_t i = 0; i < a.count; ++i)
        if (to_b[i] != UINT32_MAX) {
            diff->counterpart[a.ops[i]] = b.ops[to_b[i]];
            diff->origin[b.ops[to_b[i]]] = a.ops[i];
        }
    for (uint32_t i = 0; i < a.count; ++i) {
        if (to_b[i] == UINT32_MAX) continue;
        keel_op_id_t before = a.ops[i], after = b.ops[to_b[i]];
        if (!may_pair(diff, before, after, level_of[i])) {
            diff->counterpart[before] = diff->origin[after] = KEEL_NONE;
            continue;
        }
        ++diff->aligned;
        KEEL_TRY(keel_pair_values(diff, before, after, scratch));
        KEEL_TRY(pair_callees(diff, before, after));
    }
    aligned = diff->aligned - aligned;
    diff->differs_in_structure[functions.after] = a.count != aligned || b.count != aligned;
    return NULL;
}

static keel_status_t pair_arguments(keel_diff_t *diff, keel_function_pair_t functions,
                                    bool is_entry, keel_arena_t *scratch) {
    if (!is_entry) return keel_pair_arguments(diff, functions, scratch);
    for (uint32_t i = 0; i < diff->before_count; ++i) {
        const keel_argument_t *argument = &diff->arguments_before[i];
        if (argument->counterpart == KEEL_NONE) continue;
        keel_value_id_t after = diff->arguments_after[argument->counterpart].value;
        diff->value_counterpart[argument->value] = after;
        diff->value_origin[after] = argument->value;
    }
    return NULL;
}

static keel_status_t none(keel_diff_t *diff, size_t count, uint32_t **out) {
    void *memory;
    KEEL_TRY(keel_arena_array(&diff->arena, count ? count : 1, sizeof **out, &memory));
    memset(memory, 0xff, (count ? count : 1) * sizeof **out);
    *out = memory;
    return NULL;
}

keel_status_t keel_diff_pair(keel_diff_t *diff) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    KEEL_TRY(none(diff, keel_program_op_count(p), &diff->counterpart));
    KEEL_TRY(none(diff, keel_program_op_count(q), &diff->origin));
    KEEL_TRY(none(diff, p->value_types.count, &diff->value_counterpart));
    KEEL_TRY(none(diff, q->value_types.count, &diff->value_origin));
    KEEL_TRY(none(diff, q->operands.count, &diff->operand_origin));
    keel_fit_learn(diff);
    size_t most = (p->functions.count < q->functions.count ? p : q)->functions.count;
    KEEL_TRY(keel_arena_array(&diff->arena, most + 1, sizeof *diff->functions,
                              (void **)&diff->functions));
    size_t functions = q->functions.count ? q->functions.count : 1;
    KEEL_TRY(keel_arena_array(&diff->arena, functions, 1, (void **)&diff->differs_in_structure));
    memset(diff->differs_in_structure, 0, functions);
    diff->functions[0] = (keel_function_pair_t){p->entry, q->entry};
    diff->function_count = 1;
    // The list grows while it is read: callees follow their callers.
    for (uint32_t i = 0; i < diff->function_count; ++i) {
        keel_arena_t scratch;
        keel_arena_initialize(&scratch, 0);
        keel_status_t status = pair_arguments(diff, diff->functions[i], i == 0, &scratch);
        if (!status) status = pair_function(diff, diff->functions[i], &scratch);
        keel_arena_deinitialize(&scratch);
        if (status) return status;
    }
    keel_arena_t scratch;
    keel_arena_initialize(&scratch, 0);
    keel_status_t status = keel_pair_part(diff, &scratch);
    keel_arena_deinitialize(&scratch);
    return status;
}

// ---- how a pair differs ------------------------------------------------------------------------

const char *keel_pair_name(keel_diff_t *diff, keel_op_id_t after) {
    keel_str_t name = keel_graph_name(&diff->after, after);
    if (keel_str_is(name, "sharding_constraint")) return "with_sharding_constraint"; // JAX's name
    return keel_diff_text(diff, "%.*s", (int)name.size, name.data);
}

keel_difference_t keel_pair_difference(keel_diff_t *diff, const keel_pair_t *pair,
                                       keel_cause_t kind) {
    keel_difference_t difference =
        keel_diff_of_call(diff, kind, keel_pair_name(diff, pair->after), "", "");
    difference.place = keel_diff_place(diff, true, pair->after);
    difference.old_op = pair->before;
    difference.new_op = pair->after;
    return difference;
}

keel_status_t keel_pair_root(keel_diff_t *diff, const keel_difference_t *difference,
                             uint32_t *out) {
    *out = keel_diff_same(diff, difference);
    if (*out != KEEL_NONE) return keel_diff_fold(diff, *out, difference);
    return keel_diff_root(diff, difference, out);
}

bool keel_pair_same_type(keel_diff_t *diff, keel_value_id_t before, keel_value_id_t after) {
    return keel_graph_type_hash(&diff->before, keel_graph_type(&diff->before, before)) ==
           keel_graph_type_hash(&diff->after, keel_graph_type(&diff->after, after));
}

uint32_t keel_pair_explain_dims(keel_diff_t *diff, keel_ints_t x, keel_ints_t y) {
    if (x.count != y.count) return keel_pair_explain_squeezed(diff, x, y);
    uint32_t root = KEEL_NONE;
    for (uint32_t i = 0; i < x.count; ++i) {
        if (x.items[i] == y.items[i]) continue;
        root = keel_sizes_explain(&diff->sizes, x.items[i], y.items[i]);
        if (root == KEEL_NONE) return KEEL_NONE;
    }
    return root;
}
