// Arguments of HLO. They have no names, and their numbers move with what stands before them; but
// each has the place where the client used it first.
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
                                           .name = KEEL_STR(""),
                                           .counterpart = KEEL_NONE,
                                           .op = op};
        ++count;
    }
    return count;
}

// What they are brought together by, the most telling first.
enum { LEVEL_LINE, LEVEL_PLACE, LEVEL_OTHER_TYPE, LEVEL_TYPE, LEVELS };

static uint64_t mix(uint64_t a, uint64_t b) {
    return (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
}

static uint64_t token(keel_graph_t *graph, const keel_argument_t *argument, int level) {
    const keel_line_t *line = keel_graph_line(graph, argument->op);
    uint64_t type = keel_graph_type_hash(graph, argument->type);
    switch (level) {
        case LEVEL_LINE:
            return mix(mix(type, line->token), line->identity);
        case LEVEL_PLACE:
            return mix(type, line->token);
        case LEVEL_OTHER_TYPE:
            return mix(line->token, line->identity);
        default:
            return type;
    }
}

static void fill(keel_graph_t *graph, const keel_argument_t *arguments, uint32_t count, int level,
                 uint64_t *out) {
    for (uint32_t i = 0; i < count; ++i)
        out[i] = token(graph, &arguments[i], level);
}

// HLO numbers its arguments from the results backwards, so that an argument may stand elsewhere
// once other results are asked for. `a` and `b` hold the tokens of both sides; those that are
// paired are passed over.
static keel_status_t pair_moved(keel_diff_t *diff, const uint64_t *a, const uint64_t *b,
                                uint32_t *to_b, uint32_t *to_a) {
    keel_map_t left;
    keel_map_initialize(&left);
    keel_status_t status = NULL;
    for (uint32_t i = diff->before_count; !status && i-- > 0;)
        if (to_b[i] == UINT32_MAX)
            status = keel_map_put(&left, keel_bytes((const void *)&a[i], sizeof a[i]), i);
    for (uint32_t j = 0; !status && j < diff->after_count; ++j) {
        const uint64_t *i = to_a[j] == UINT32_MAX
                                ? keel_map_find(&left, keel_bytes((const void *)&b[j], sizeof b[j]))
                                : NULL;
        if (!i || to_b[*i] != UINT32_MAX) continue;
        to_b[*i] = j;
        to_a[j] = (uint32_t)*i;
    }
    keel_map_deinitialize(&left);
    return status;
}

// Where as many are left on both sides of a gap the place is enough.
static void pair_the_rest(keel_diff_t *diff, uint32_t *to_b, uint32_t *to_a) {
    uint32_t i = 0, j = 0;
    while (i < diff->before_count || j < diff->after_count) {
        uint32_t gap_a = i, gap_b = j;
        while (i < diff->before_count && to_b[i] == UINT32_MAX)
            ++i;
        while (j < diff->after_count && to_a[j] == UINT32_MAX)
            ++j;
        for (uint32_t k = 0; i - gap_a == j - gap_b && k < i - gap_a; ++k) {
            to_b[gap_a + k] = gap_b + k;
            to_a[gap_b + k] = gap_a + k;
        }
        ++i;
        ++j;
    }
}

keel_status_t keel_parameters_pair(keel_diff_t *diff) {
    uint32_t a_count = diff->before_count, b_count = diff->after_count;
    size_t both = (size_t)a_count + b_count + 1;
    uint64_t *a;
    uint32_t *to_b;
    KEEL_TRY(keel_arena_array(&diff->arena, both, sizeof *a, (void **)&a));
    KEEL_TRY(keel_arena_array(&diff->arena, both, sizeof *to_b, (void **)&to_b));
    uint64_t *b = a + a_count;
    uint32_t *to_a = to_b + a_count;
    memset(to_b, 0xff, both * sizeof *to_b);
    for (int level = 0; level < LEVELS; ++level) {
        fill(&diff->before, diff->arguments_before, a_count, level, a);
        fill(&diff->after, diff->arguments_after, b_count, level, b);
        KEEL_TRY(keel_align_gaps(a, a_count, b, b_count, KEEL_ALIGN_EDITS, to_b, to_a));
    }
    for (int level = LEVEL_LINE; level <= LEVEL_PLACE; ++level) {
        fill(&diff->before, diff->arguments_before, a_count, level, a);
        fill(&diff->after, diff->arguments_after, b_count, level, b);
        KEEL_TRY(pair_moved(diff, a, b, to_b, to_a));
    }
    pair_the_rest(diff, to_b, to_a);
    for (uint32_t i = 0; i < a_count; ++i) {
        if (to_b[i] == UINT32_MAX) continue;
        diff->arguments_before[i].counterpart = to_b[i];
        diff->arguments_after[to_b[i]].counterpart = i;
    }
    return NULL;
}

// ---- donation ----------------------------------------------------------------------------------

// The first parameter's is left out, as protos do with what is 0.
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
