#include <stdlib.h>

#include "explain/align.h"
#include "explain/pair.h"

// What operations are brought together by, the most telling first. Each level sees only the gaps
// that those before it left.
enum {
    LEVEL_EXACT, // name, place within the user's function, types, attributes and constants
    LEVEL_TYPE,  // name, place, and types of results
    LEVEL_PLACE, // name and place
    LEVEL_SELF,  // name, attributes, and the constants that it takes
    LEVEL_NAME,
    LEVELS
};

// The operations of one function that are aligned: all but constants in whatever shape, which
// clients share and move about; they are compared where they are used.
typedef struct sequence_t {
    keel_op_id_t *ops;
    uint64_t *tokens[LEVELS];
    uint32_t count;
} sequence_t;

static uint64_t mix(uint64_t a, uint64_t b) {
    return (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
}

static uint64_t token_of_self(keel_graph_t *graph, keel_op_id_t op, uint64_t name) {
    const keel_program_t *program = graph->program;
    uint64_t token = name;
    if (keel_graph_callee(graph, op) == KEEL_NONE)
        token = mix(token, keel_graph_attr_hash(graph, program->operations.data[op].attributes));
    keel_list_t operands = keel_program_operands(program, op);
    for (uint32_t i = 0; i < operands.count; ++i) {
        keel_op_id_t producer = graph->producer[operands.items[i]];
        keel_op_id_t constant = producer == KEEL_NONE ? KEEL_NONE : graph->constant[producer];
        if (constant == KEEL_NONE) continue;
        keel_attr_id_t value = program->operations.data[constant].attributes;
        token = mix(token, keel_graph_attr_hash(graph, value) + i);
    }
    return token;
}

static uint64_t token_of_types(keel_graph_t *graph, keel_op_id_t op, uint64_t token) {
    const keel_operation_t *operation = &graph->program->operations.data[op];
    for (uint32_t i = 0; i < operation->result_count; ++i)
        token =
            mix(token,
                keel_graph_type_hash(graph, keel_graph_type(graph, operation->first_result + i)));
    return token;
}

static keel_status_t sequence_of(keel_graph_t *graph, uint32_t function, keel_arena_t *arena,
                                 sequence_t *out) {
    keel_op_id_t first, end;
    keel_graph_body(graph, function, &first, &end);
    size_t most = end > first ? end - first : 1;
    KEEL_TRY(keel_arena_array(arena, most, sizeof *out->ops, (void **)&out->ops));
    for (int level = 0; level < LEVELS; ++level)
        KEEL_TRY(keel_arena_array(arena, most, sizeof(uint64_t), (void **)&out->tokens[level]));
    out->count = 0;
    for (keel_op_id_t op = first; op < end; ++op) {
        if (graph->constant[op] != KEEL_NONE) continue;
        uint64_t name = keel_quick_hash(keel_str_bytes(keel_graph_name(graph, op)));
        keel_attr_id_t location = graph->program->operations.data[op].location;
        out->ops[out->count] = op;
        uint64_t place = mix(name, keel_graph_line_at(graph, location)->token);
        uint64_t self = token_of_self(graph, op, name);
        out->tokens[LEVEL_TYPE][out->count] = token_of_types(graph, op, place);
        out->tokens[LEVEL_EXACT][out->count] = mix(out->tokens[LEVEL_TYPE][out->count], self);
        out->tokens[LEVEL_PLACE][out->count] = place;
        out->tokens[LEVEL_SELF][out->count] = self;
        out->tokens[LEVEL_NAME][out->count++] = name;
    }
    return NULL;
}

static int by_value(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

// Where a size has drifted next to no types agree: what little does would only cost time, and bring
// strangers together.
static keel_status_t agrees(const sequence_t *a, const sequence_t *b, int level,
                            keel_arena_t *scratch, bool *out) {
    uint32_t smaller = a->count < b->count ? a->count : b->count, enough = smaller - smaller / 4;
    uint32_t in_place = 0;
    for (uint32_t i = 0; i < smaller; ++i)
        in_place += a->tokens[level][i] == b->tokens[level][i];
    *out = in_place >= enough;
    if (*out) return NULL; // as a rule: the rest is for what was moved
    void *memory;
    KEEL_TRY(keel_arena_array(scratch, (size_t)a->count + b->count + 1, sizeof(uint64_t), &memory));
    uint64_t *x = memory, *y = x + a->count;
    if (a->count) memcpy(x, a->tokens[level], a->count * sizeof *x);
    if (b->count) memcpy(y, b->tokens[level], b->count * sizeof *y);
    qsort(x, a->count, sizeof *x, by_value);
    qsort(y, b->count, sizeof *y, by_value);
    uint32_t common = 0;
    for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
        if (x[i] == y[j]) {
            ++common;
            ++i;
            ++j;
        } else if (x[i] < y[j])
            ++i;
        else
            ++j;
    }
    *out = common >= enough;
    return NULL;
}

static keel_status_t align_gaps(const sequence_t *a, const sequence_t *b, int level, uint32_t *to_b,
                                uint32_t *to_a) {
    // What the most telling tokens did not bring together is hardly alike.
    uint32_t edits = level <= LEVEL_PLACE ? KEEL_ALIGN_EDITS : KEEL_ALIGN_EDITS / 4;
    return keel_align_gaps(a->tokens[level], a->count, b->tokens[level], b->count, edits, to_b,
                           to_a);
}

static void pair_values(keel_diff_t *diff, keel_value_id_t before, uint32_t before_count,
                        keel_value_id_t after, uint32_t after_count) {
    for (uint32_t i = 0; i < before_count && i < after_count; ++i)
        diff->value_counterpart[before + i] = after + i;
}

static void pair_regions(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_region_run_t a = keel_program_regions(p, before), b = keel_program_regions(q, after);
    for (uint32_t i = 0; i < a.count && i < b.count; ++i) {
        if (!a.items[i].block_count || !b.items[i].block_count) continue;
        const keel_block_t *x = &p->blocks.data[a.items[i].first_block];
        const keel_block_t *y = &q->blocks.data[b.items[i].first_block];
        pair_values(diff, x->first_argument, x->argument_count, y->first_argument,
                    y->argument_count);
    }
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

static keel_status_t pair_function(keel_diff_t *diff, keel_function_pair_t functions,
                                   keel_arena_t *scratch) {
    sequence_t a, b;
    KEEL_TRY(sequence_of(&diff->before, functions.before, scratch, &a));
    KEEL_TRY(sequence_of(&diff->after, functions.after, scratch, &b));
    void *memory;
    KEEL_TRY(keel_arena_array(scratch, (size_t)a.count + b.count + 1, sizeof(uint32_t), &memory));
    uint32_t *to_b = memory, *to_a = to_b + a.count;
    memset(memory, 0xff, ((size_t)a.count + b.count) * sizeof(uint32_t));
    for (int level = 0; level < LEVELS; ++level) {
        bool is_worth_it = true;
        if (level < LEVEL_PLACE) KEEL_TRY(agrees(&a, &b, level, scratch, &is_worth_it));
        if (is_worth_it) KEEL_TRY(align_gaps(&a, &b, level, to_b, to_a));
    }
    diff->alignable += a.count > b.count ? a.count : b.count;
    uint32_t aligned = diff->aligned;
    for (uint32_t i = 0; i < a.count; ++i) {
        if (to_b[i] == UINT32_MAX) continue;
        ++diff->aligned;
        keel_op_id_t before = a.ops[i], after = b.ops[to_b[i]];
        diff->counterpart[before] = after;
        diff->origin[after] = before;
        const keel_operation_t *p = &diff->before.program->operations.data[before];
        const keel_operation_t *q = &diff->after.program->operations.data[after];
        pair_values(diff, p->first_result, p->result_count, q->first_result, q->result_count);
        pair_regions(diff, before, after);
        KEEL_TRY(pair_callees(diff, before, after));
    }
    aligned = diff->aligned - aligned;
    diff->differs_in_structure[functions.after] = a.count != aligned || b.count != aligned;
    return NULL;
}

static void pair_arguments(keel_diff_t *diff, keel_function_pair_t functions, bool is_entry) {
    if (is_entry) {
        for (uint32_t i = 0; i < diff->before_count; ++i) {
            const keel_argument_t *argument = &diff->arguments_before[i];
            if (argument->counterpart != KEEL_NONE)
                diff->value_counterpart[argument->value] =
                    diff->arguments_after[argument->counterpart].value;
        }
        return;
    }
    const keel_block_t *x = keel_program_body(diff->before.program, functions.before);
    const keel_block_t *y = keel_program_body(diff->after.program, functions.after);
    if (x && y)
        pair_values(diff, x->first_argument, x->argument_count, y->first_argument,
                    y->argument_count);
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
    size_t most = (p->functions.count < q->functions.count ? p : q)->functions.count;
    KEEL_TRY(keel_arena_array(&diff->arena, most + 1, sizeof *diff->functions,
                              (void **)&diff->functions));
    size_t functions = q->functions.count ? q->functions.count : 1;
    KEEL_TRY(keel_arena_array(&diff->arena, functions, 1, (void **)&diff->differs_in_structure));
    memset(diff->differs_in_structure, 0, functions);
    diff->functions[0] = (keel_function_pair_t){p->entry, q->entry};
    diff->function_count = 1;
    // The list grows behind its own reader: callees stand after their callers.
    for (uint32_t i = 0; i < diff->function_count; ++i) {
        keel_arena_t scratch;
        keel_arena_initialize(&scratch, 0);
        pair_arguments(diff, diff->functions[i], i == 0);
        keel_status_t status = pair_function(diff, diff->functions[i], &scratch);
        keel_arena_deinitialize(&scratch);
        if (status) return status;
    }
    return NULL;
}

// ---- what is told of a pair ---------------------------------------------------------------------

const char *keel_pair_name(keel_diff_t *diff, keel_op_id_t after) {
    keel_str_t name = keel_graph_name(&diff->after, after);
    return keel_diff_text(diff, "%.*s", (int)name.size, name.data);
}

keel_difference_t keel_pair_difference(keel_diff_t *diff, const keel_pair_t *pair,
                                       keel_cause_t kind) {
    return (keel_difference_t){.kind = kind,
                               .subject = keel_pair_name(diff, pair->after),
                               .old_value = "",
                               .new_value = "",
                               .note = "",
                               .place = keel_diff_place(diff, true, pair->after),
                               .old_op = pair->before,
                               .new_op = pair->after,
                               .follows = KEEL_NONE};
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
    if (x.count != y.count) return KEEL_NONE;
    uint32_t root = KEEL_NONE;
    for (uint32_t i = 0; i < x.count; ++i) {
        if (x.items[i] == y.items[i]) continue;
        root = keel_sizes_explain(&diff->sizes, x.items[i], y.items[i]);
        if (root == KEEL_NONE) return KEEL_NONE;
    }
    return root;
}
