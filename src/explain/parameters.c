// Arguments of HLO. Some clients name them (keel/tensor.h), others (PyTorch/XLA) do not, and then
// their numbers shift with earlier arguments; but each has the place where the client first used
// it.
#include <stdlib.h>

#include "explain/align.h"
#include "explain/diff.h"

uint32_t keel_parameters_list(keel_graph_t *graph, keel_argument_t *out) {
    const keel_program_t *program = graph->program;
    keel_op_id_t first, end;
    keel_graph_body(graph, program->entry, &first, &end);
    uint32_t count = 0;
    for (keel_op_id_t op = first; op < end; ++op) {
        if (!keel_graph_is_parameter(graph, op)) continue;
        const keel_operation_t *operation = &program->operations.data[op];
        if (out)
            out[count] = (keel_argument_t){.value = operation->first_result,
                                           .type = keel_graph_type(graph, operation->first_result),
                                           .attributes = operation->attributes,
                                           .name = keel_program_parameter_name(program, op),
                                           .counterpart = KEEL_NONE,
                                           .replacement = KEEL_NONE,
                                           .op = op,
                                           .weighed = KEEL_NONE};
        ++count;
    }
    return count;
}

static bool is_of_torch_tpu(const keel_program_t *program) {
    return keel_torch_tpu_is_name(keel_program_str(program, program->name));
}

bool keel_parameters_have_no_order(const keel_diff_t *diff) {
    return is_of_torch_tpu(diff->before.program) && is_of_torch_tpu(diff->after.program);
}

// What they are paired by, the most telling first. The same tensor may now be made on another line
// for the same use; a tensor of another type from the same line for the same use is that argument
// in another shape.
enum {
    BY_TYPE = 1,
    BY_PLACE = 2, // without the line number, which changes with every edit above it
    BY_LINE = 4,
    BY_USE = 8,
    BY_STACK = 16,  // which of several embeddings that one line of the user's calls
    BY_UPDATE = 32, // whether the step updates it in place: another tensor of its type does not
                    // stand for a weight
    BY_NAME = 64,   // those without one by something else
};
static const uint8_t levels[] = {
    BY_NAME | BY_TYPE | BY_PLACE | BY_LINE | BY_USE,
    BY_NAME | BY_TYPE,
    BY_NAME,
    BY_TYPE | BY_STACK | BY_USE,
    BY_TYPE | BY_PLACE | BY_LINE | BY_USE,
    BY_TYPE | BY_PLACE | BY_LINE,
    BY_TYPE | BY_PLACE | BY_USE,
    BY_TYPE | BY_PLACE | BY_UPDATE,
    BY_TYPE | BY_PLACE,
    BY_PLACE | BY_LINE | BY_USE,
    BY_TYPE | BY_USE,
    BY_PLACE | BY_LINE,
    BY_TYPE,
};

static uint64_t hash_name(const keel_graph_t *graph, keel_op_id_t op) {
    return keel_quick_hash(keel_str_bytes(keel_graph_name(graph, op)));
}

// What a layer multiplies its data with, looks rows up in, or scales and shifts its channels by.
static bool is_weight_use(const keel_graph_t *graph, keel_type_id_t type, keel_op_id_t op,
                          uint32_t operand) {
    keel_str_t name = keel_graph_name(graph, op);
    uint32_t rank = keel_diff_dims(graph->program, type).count;
    if (keel_str_is(name, "dot") || keel_str_is(name, "convolution")) return operand == 1;
    if (keel_str_is(name, "gather")) return operand == 0 && rank == 2;
    return rank == 1 && (keel_str_is(name, "add") || keel_str_is(name, "multiply") ||
                         (keel_str_starts(name, KEEL_STR("batch-norm")) && operand));
}

// A line of a library's or of a module's forward(); what another line of the user's takes may have
// been passed to it.
static bool is_layers(const keel_source_line_t *line) {
    return line->library_file.size || keel_str_is(line->function, "forward") ||
           keel_str_ends(line->function, KEEL_STR(".forward"));
}

static bool is_on_one_line(keel_graph_t *graph, keel_op_id_t a, keel_op_id_t b) {
    const keel_source_line_t *x = keel_graph_line(graph, a), *y = keel_graph_line(graph, b);
    return x->identity == y->identity && x->library_line == y->library_line &&
           keel_str_equal(x->library_file, y->library_file);
}

// By argument, its first use: the operation and its line, after any that change the argument's
// shape or dtype; and its place in their order. Tells which were just moved to the device. `of` is
// by value: 1 + the argument that it is.
static keel_status_t find_uses(keel_graph_t *graph, keel_argument_t *arguments, uint32_t count,
                               uint64_t *out, uint32_t *out_at) {
    size_t values = graph->program->value_types.count;
    void *memory;
    KEEL_TRY(keel_arena_array(graph->arena, values + 1, sizeof(uint32_t), &memory));
    uint32_t *of = memory;
    memset(of, 0, (values + 1) * sizeof *of);
    memset(out, 0, count * sizeof *out);
    for (uint32_t i = 0; i < count; ++i) {
        of[arguments[i].value] = i + 1;
        arguments[i].is_sent = keel_graph_line(graph, arguments[i].op)->identity != 0;
        out_at[i] = UINT32_MAX;
    }
    keel_op_id_t *order;
    uint32_t op_count;
    KEEL_TRY(keel_graph_order(graph, graph->program->entry, graph->arena, &order, &op_count));
    for (uint32_t at = 0; at < op_count; ++at) {
        keel_op_id_t op = order[at];
        const keel_operation_t *operation = &graph->program->operations.data[op];
        keel_list_t operands = keel_program_operands(graph->program, op);
        bool passes_on = operands.count == 1 && operation->result_count == 1 &&
                         keel_graph_only_reshapes(keel_graph_name(graph, op));
        for (uint32_t i = 0; i < operands.count; ++i) {
            uint32_t argument = of[operands.items[i]];
            if (!argument) continue;
            if (is_on_one_line(graph, arguments[argument - 1].op, op))
                arguments[argument - 1].is_sent = false;
            if (passes_on) of[operation->first_result] = argument;
            if (passes_on || out[argument - 1]) continue;
            uint64_t use = keel_graph_join(hash_name(graph, op), i);
            arguments[argument - 1].is_listed = keel_str_is(keel_graph_name(graph, op), "tuple");
            out[argument - 1] = keel_graph_join(use, keel_graph_line(graph, op)->token) | 1;
            out_at[argument - 1] = at;
            if (is_layers(keel_graph_line(graph, arguments[argument - 1].op)) &&
                is_weight_use(graph, arguments[argument - 1].type, op, i))
                arguments[argument - 1].weighed = op;
        }
    }
    return NULL;
}

// Names are not part of a program: an argument of the same type and use may be the same under
// another name. Otherwise two names are two arguments; a place in what a loop carries is no use.
static bool is_told_by_name(const keel_argument_t *argument, unsigned level) {
    bool may_be_renamed = (level & BY_TYPE) && (level & BY_USE) && !argument->is_listed;
    return argument->name.size && (level & BY_NAME || !may_be_renamed);
}

static uint64_t token(keel_graph_t *graph, const keel_argument_t *argument, uint64_t use,
                      unsigned level) {
    const keel_source_line_t *line = keel_graph_line(graph, argument->op);
    uint64_t hash = level;
    if (is_told_by_name(argument, level))
        hash = keel_graph_join(hash, keel_quick_hash(keel_str_bytes(argument->name)));
    else if (level & BY_NAME)
        return keel_graph_join(hash, (uintptr_t)argument); // no other one's
    if (level & BY_TYPE) hash = keel_graph_join(hash, keel_graph_type_hash(graph, argument->type));
    if (level & BY_PLACE) hash = keel_graph_join(hash, line->token);
    if (level & BY_LINE) hash = keel_graph_join(hash, line->identity);
    if (level & BY_USE) hash = keel_graph_join(hash, use);
    if (level & BY_STACK) hash = keel_graph_join(hash, line->stack);
    if (level & BY_UPDATE) hash = keel_graph_join(hash, argument->is_donated);
    return hash;
}

// One side: its arguments, and in the order of their first use what each is used for, its token of
// the level at hand and its counterpart. HLO numbers its arguments backward from the results, so
// other results turn the numbers round; the operations keep their order.
typedef struct parameter_side_t {
    keel_graph_t *graph;
    keel_argument_t *arguments;
    const keel_argument_t **ordered;
    uint64_t *uses, *tokens;
    uint32_t *to_other;
    uint32_t count;
} parameter_side_t;

// An argument may still be used first elsewhere than in the other program. Paired ones are skipped.
static keel_status_t pair_moved(parameter_side_t *a, parameter_side_t *b) {
    keel_map_t left;
    keel_map_initialize(&left);
    keel_status_t status = NULL;
    for (uint32_t i = a->count; !status && i-- > 0;)
        if (a->to_other[i] == UINT32_MAX)
            status = keel_map_put(&left,
                                  keel_bytes((const void *)&a->tokens[i], sizeof a->tokens[i]), i);
    for (uint32_t j = 0; !status && j < b->count; ++j) {
        keel_bytes_t token = keel_bytes((const void *)&b->tokens[j], sizeof b->tokens[j]);
        const uint64_t *i = b->to_other[j] == UINT32_MAX ? keel_map_find(&left, token) : NULL;
        if (!i || a->to_other[*i] != UINT32_MAX) continue;
        a->to_other[*i] = j;
        b->to_other[j] = (uint32_t)*i;
    }
    keel_map_deinitialize(&left);
    return status;
}

static bool have_other_names(const parameter_side_t *a, uint32_t i, const parameter_side_t *b,
                             uint32_t j) {
    keel_str_t x = a->ordered[i]->name, y = b->ordered[j]->name;
    return x.size && y.size && !keel_str_equal(x, y);
}

static bool is_of_one_type(const parameter_side_t *a, uint32_t i, const parameter_side_t *b,
                           uint32_t j) {
    return keel_graph_type_hash(a->graph, a->ordered[i]->type) ==
           keel_graph_type_hash(b->graph, b->ordered[j]->type);
}

enum { TRIED = 256 }; // of the arguments left: thousands would take quadratic time

// The first one left of `b` that is updated in place, and that is used like argument `i` of `a`.
static uint32_t find_updated(const parameter_side_t *a, uint32_t i, const parameter_side_t *b) {
    for (uint32_t j = 0, tried = 0; j < b->count && tried < TRIED; ++j) {
        if (b->to_other[j] != UINT32_MAX) continue;
        ++tried;
        if (b->ordered[j]->is_donated && a->uses[i] == b->uses[j] && is_of_one_type(a, i, b, j) &&
            !have_other_names(a, i, b, j))
            return j;
    }
    return UINT32_MAX;
}

// A weight that is still updated in place was not replaced by a tensor that is not: that one is a
// copy, which came or went beside it.
static void pair_past_copies(parameter_side_t *a, parameter_side_t *b) {
    for (uint32_t i = 0; i < a->count; ++i) {
        uint32_t copy = a->to_other[i];
        if (copy == UINT32_MAX || !a->ordered[i]->is_donated || b->ordered[copy]->is_donated)
            continue;
        uint32_t j = find_updated(a, i, b);
        if (j == UINT32_MAX) continue;
        b->to_other[copy] = UINT32_MAX;
        a->to_other[i] = j;
        b->to_other[j] = i;
    }
}

// A tensor that both programs update in place is the same one, even if another operation reads it
// now: a weight that is pruned or rounded first.
static void pair_updated(parameter_side_t *a, parameter_side_t *b) {
    for (uint32_t i = 0; i < a->count; ++i) {
        if (a->to_other[i] != UINT32_MAX || !a->ordered[i]->is_donated) continue;
        for (uint32_t j = 0, tried = 0; j < b->count && tried < TRIED; ++j) {
            if (b->to_other[j] != UINT32_MAX) continue;
            ++tried;
            if (!b->ordered[j]->is_donated || !is_of_one_type(a, i, b, j) ||
                have_other_names(a, i, b, j))
                continue;
            a->to_other[i] = j;
            b->to_other[j] = i;
            break;
        }
    }
}

typedef struct used_t {
    uint32_t at; // the place of its first use; UINT32_MAX: nowhere
    uint32_t number;
    uint64_t use;
} used_t;

static int compare_used(const void *a, const void *b) {
    const used_t *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static keel_status_t order_by_use(parameter_side_t *side) {
    void *memory;
    KEEL_TRY(
        keel_arena_array(side->graph->arena, (size_t)side->count + 1, sizeof(used_t), &memory));
    used_t *used = memory;
    KEEL_TRY(
        keel_arena_array(side->graph->arena, (size_t)side->count + 1, sizeof(uint32_t), &memory));
    uint32_t *at = memory;
    KEEL_TRY(find_uses(side->graph, side->arguments, side->count, side->uses, at));
    for (uint32_t i = 0; i < side->count; ++i)
        used[i] = (used_t){at[i], i, side->uses[i]};
    qsort(used, side->count, sizeof *used, compare_used);
    for (uint32_t i = 0; i < side->count; ++i) {
        side->ordered[i] = &side->arguments[used[i].number];
        side->uses[i] = used[i].use;
    }
    return NULL;
}

static keel_status_t make_side(keel_diff_t *diff, bool is_after, parameter_side_t *out) {
    *out =
        (parameter_side_t){.graph = is_after ? &diff->after : &diff->before,
                           .arguments = is_after ? diff->arguments_after : diff->arguments_before,
                           .count = is_after ? diff->after_count : diff->before_count};
    void *memory;
    KEEL_TRY(
        keel_arena_array(&diff->arena, 2 * (size_t)out->count + 1, sizeof *out->uses, &memory));
    out->uses = memory;
    out->tokens = out->uses + out->count;
    KEEL_TRY(
        keel_arena_array(&diff->arena, (size_t)out->count + 1, sizeof *out->to_other, &memory));
    out->to_other = memory;
    memset(out->to_other, 0xff, out->count * sizeof *out->to_other);
    KEEL_TRY(keel_arena_array(&diff->arena, (size_t)out->count + 1, sizeof *out->ordered, &memory));
    out->ordered = memory;
    return order_by_use(out);
}

bool keel_parameters_are_converted(keel_graph_t *graph, const keel_argument_t *argument,
                                   keel_graph_t *other, const keel_argument_t *converted) {
    keel_ints_t x = keel_diff_dims(graph->program, argument->type);
    keel_ints_t y = keel_diff_dims(other->program, converted->type);
    uint64_t line = keel_graph_line(graph, argument->op)->identity;
    return line && line == keel_graph_line(other, converted->op)->identity && x.count &&
           keel_ints_equal(x, y);
}

// The only one left that has the same shape and comes from the same line; UINT32_MAX.
static uint32_t find_converted(const parameter_side_t *a, uint32_t i, const parameter_side_t *b) {
    uint32_t found = UINT32_MAX;
    for (uint32_t j = 0, tried = 0; j < b->count && tried < TRIED; ++j) {
        if (b->to_other[j] != UINT32_MAX) continue;
        ++tried;
        if (!keel_parameters_are_converted(a->graph, a->ordered[i], b->graph, b->ordered[j]) ||
            have_other_names(a, i, b, j))
            continue;
        if (found != UINT32_MAX) return UINT32_MAX;
        found = j;
    }
    return found;
}

// What one line moves in another dtype is the same tensor, even if a branch converts it first.
static void pair_converted(parameter_side_t *a, parameter_side_t *b) {
    for (uint32_t i = 0; i < a->count; ++i) {
        if (a->to_other[i] != UINT32_MAX) continue;
        uint32_t j = find_converted(a, i, b);
        if (j == UINT32_MAX || find_converted(b, j, a) != i) continue;
        a->to_other[i] = j;
        b->to_other[j] = i;
    }
}

// One shape from one line and another from another line for another use are two arguments.
static bool may_be_one(const parameter_side_t *a, uint32_t i, const parameter_side_t *b,
                       uint32_t j) {
    const keel_source_line_t *x = keel_graph_line(a->graph, a->ordered[i]->op);
    const keel_source_line_t *y = keel_graph_line(b->graph, b->ordered[j]->op);
    if (have_other_names(a, i, b, j)) return false;
    return a->uses[i] == b->uses[j] || x->token == y->token || x->identity == y->identity ||
           is_of_one_type(a, i, b, j);
}

static uint32_t number_of(const parameter_side_t *side, uint32_t place) {
    return (uint32_t)(side->ordered[place] - side->arguments);
}

// If both sides of a gap have equally many left, the place is enough.
static void pair_the_rest(keel_diff_t *diff, parameter_side_t *a, parameter_side_t *b) {
    uint32_t i = 0, j = 0;
    while (i < a->count || j < b->count) {
        uint32_t gap_a = i, gap_b = j;
        while (i < a->count && a->to_other[i] == UINT32_MAX)
            ++i;
        while (j < b->count && b->to_other[j] == UINT32_MAX)
            ++j;
        for (uint32_t k = 0; i - gap_a == j - gap_b && k < i - gap_a; ++k) {
            diff->arguments_before[number_of(a, gap_a + k)].replacement = number_of(b, gap_b + k);
            if (!may_be_one(a, gap_a + k, b, gap_b + k)) continue;
            a->to_other[gap_a + k] = gap_b + k;
            b->to_other[gap_b + k] = gap_a + k;
        }
        ++i;
        ++j;
    }
}

// The only one that is left; UINT32_MAX if there is none, or another.
static uint32_t find_lone(const parameter_side_t *side) {
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < side->count; ++i) {
        if (side->to_other[i] != UINT32_MAX) continue;
        if (found != UINT32_MAX) return UINT32_MAX;
        found = i;
    }
    return found;
}

// Of one dtype and rank, in another shape: what is passed instead of a default of the model.
static void replace_lone(keel_diff_t *diff, const parameter_side_t *a, const parameter_side_t *b) {
    uint32_t gone = find_lone(a), came = find_lone(b);
    if (gone == UINT32_MAX || came == UINT32_MAX) return;
    keel_type_id_t x = a->ordered[gone]->type, y = b->ordered[came]->type;
    if (keel_diff_element_hash(a->graph, x) == keel_diff_element_hash(b->graph, y) &&
        keel_diff_dims(a->graph->program, x).count == keel_diff_dims(b->graph->program, y).count &&
        keel_graph_type_hash(a->graph, x) != keel_graph_type_hash(b->graph, y))
        diff->arguments_before[number_of(a, gone)].replacement = number_of(b, came);
}

static void fill(parameter_side_t *side, unsigned level) {
    for (uint32_t i = 0; i < side->count; ++i)
        side->tokens[i] = token(side->graph, side->ordered[i], side->uses[i], level);
}

static bool has_names(const parameter_side_t *side) {
    for (uint32_t i = 0; i < side->count; ++i)
        if (side->ordered[i]->name.size) return true;
    return false;
}

keel_status_t keel_parameters_pair(keel_diff_t *diff) {
    parameter_side_t a, b;
    KEEL_TRY(make_side(diff, false, &a));
    KEEL_TRY(make_side(diff, true, &b));
    bool have_names = has_names(&a) && has_names(&b);
    for (size_t i = 0; i < sizeof levels; ++i) {
        bool is_of_name = levels[i] & BY_NAME;
        if (is_of_name && !have_names) continue;
        fill(&a, levels[i]);
        fill(&b, levels[i]);
        KEEL_TRY(keel_align_gaps(a.tokens, a.count, b.tokens, b.count, KEEL_ALIGN_EDITS, a.to_other,
                                 b.to_other));
        bool is_of_a_place = levels[i] & (BY_PLACE | BY_STACK | BY_USE);
        if (is_of_name || (levels[i] & BY_TYPE && is_of_a_place)) KEEL_TRY(pair_moved(&a, &b));
    }
    pair_past_copies(&a, &b);
    pair_past_copies(&b, &a);
    pair_updated(&a, &b);
    pair_converted(&a, &b);
    pair_the_rest(diff, &a, &b);
    replace_lone(diff, &a, &b);
    for (uint32_t i = 0; i < a.count; ++i) {
        if (a.to_other[i] == UINT32_MAX) continue;
        uint32_t before = number_of(&a, i), after = number_of(&b, a.to_other[i]);
        diff->arguments_before[before].counterpart = after;
        diff->arguments_after[after].counterpart = before;
    }
    return NULL;
}

// ---- donation ----------------------------------------------------------------------------------

// Protos leave out what is 0, so the first parameter's number is missing.
static int64_t number_in(const keel_program_t *program, keel_attr_id_t dict) {
    keel_attr_id_t number = keel_program_dict_find(program, dict, "parameter_number");
    return keel_program_number(program, number, 0);
}

static void mark_donated(const keel_program_t *program, keel_attr_id_t place, uint8_t *donated,
                         uint32_t count) {
    keel_attr_id_t entries = keel_program_dict_find(program, place, "entries");
    keel_list_t items = keel_program_array(program, entries);
    for (uint32_t i = 0; i < items.count; ++i) {
        int64_t number = number_in(program, items.items[i]);
        if (number >= 0 && number < count) donated[number] = 1;
    }
}

keel_status_t keel_parameters_donated(keel_graph_t *graph, keel_argument_t *arguments,
                                      uint32_t count) {
    static const char *const places[] = {"buffer_donor", "input_output_alias"};
    const keel_program_t *program = graph->program;
    uint8_t *donated;
    KEEL_TRY(keel_arena_alloc(graph->arena, count + 1, (void **)&donated));
    memset(donated, 0, count);
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i)
        mark_donated(program, keel_program_dict_find(program, program->attributes, places[i]),
                     donated, count);
    for (uint32_t i = 0; i < count; ++i) {
        int64_t number = number_in(program, arguments[i].attributes);
        arguments[i].is_donated = number >= 0 && number < count && donated[number];
    }
    return NULL;
}
