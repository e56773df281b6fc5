// Where the values were made that HLO's arguments hold. PyTorch/XLA forgets at a sync which line
// moved a tensor to the device or computed it, and writes the line that uses it next.
#include "explain/diff.h"

// ---- the line of an argument -------------------------------------------------------------------

bool keel_diff_is_on(const keel_source_line_t *line, const keel_place_t *place) {
    return line->line == place->line && keel_str_is(line->file, place->file);
}

// An argument of that type is known to come from there: that is what the line made.
static bool is_taken(keel_diff_t *diff, const char *type, const keel_place_t *place) {
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        const keel_argument_t *one = &diff->arguments_after[i];
        if (keel_diff_is_on(keel_graph_line(&diff->after, one->op), place) &&
            strcmp(keel_diff_type(diff, diff->after.program, one->type), type) == 0)
            return true;
    }
    return false;
}

// The line that asked, which every report names anyway: a compiled function is given what it takes.
static bool is_site(const keel_diff_t *diff, const keel_place_t *place) {
    return diff->site.line == place->line && strcmp(diff->site.file, place->file) == 0;
}

// The newest line that made a value of that type; NULL if it may be the argument's own.
static const keel_place_t *find_line(keel_diff_t *diff, const keel_argument_t *argument,
                                     const char *type) {
    const keel_source_line_t *own = keel_graph_line(&diff->after, argument->op);
    const keel_place_t *found = NULL;
    if (!own->identity) return NULL; // the client was not asked for lines
    for (uint32_t i = 0; i < diff->made_count; ++i) {
        const keel_made_t *made = &diff->made[i];
        if (strcmp(made->type, type) != 0 || is_site(diff, &made->place)) continue;
        if (keel_diff_is_on(own, &made->place)) return NULL;
        if (!found && !is_taken(diff, type, &made->place)) found = &made->place;
    }
    return found;
}

bool keel_diff_made_at(keel_diff_t *diff, uint32_t number, keel_place_t *out) {
    const keel_argument_t *argument = &diff->arguments_after[number];
    if (!diff->made_count || argument->op == KEEL_NONE ||
        !keel_diff_dims(diff->after.program, argument->type).count ||
        keel_diff_is_optimizers(&diff->after, argument->op))
        return false;
    const char *type = keel_diff_type(diff, diff->after.program, argument->type);
    const keel_place_t *line = find_line(diff, argument, type);
    if (!line) return false;
    *out = (keel_place_t){.file = line->file,
                          .line = line->line,
                          .function = line->function,
                          .call_file = diff->site.file,
                          .call_line = diff->site.line};
    return true;
}

// ---- what a program makes ----------------------------------------------------------------------

// By value of the entry: whether an argument goes into it.
static keel_status_t find_given(const keel_graph_t *graph, keel_arena_t *arena, uint8_t **out) {
    const keel_program_t *program = graph->program;
    void *memory;
    keel_op_id_t first, end;
    KEEL_TRY(keel_arena_alloc(arena, program->value_types.count + 1u, &memory));
    memset(memory, 0, program->value_types.count + 1u);
    uint8_t *given = memory;
    keel_graph_body(graph, program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op) {
        const keel_operation_t *operation = &program->operations.data[op];
        keel_list_t operands = keel_program_operands(program, op);
        bool is_given = keel_graph_is_parameter(graph, op);
        for (uint32_t i = 0; i < operands.count; ++i)
            is_given = is_given || given[operands.items[i]];
        for (uint32_t i = 0; i < operation->result_count; ++i)
            given[operation->first_result + i] = is_given;
    }
    *out = given;
    return NULL;
}

// An argument in another type: a line converted a tensor that was on the device.
static bool is_converted(const keel_graph_t *graph, keel_op_id_t op) {
    keel_list_t operands = keel_program_operands(graph->program, op);
    return keel_str_is(keel_graph_name(graph, op), "convert") && operands.count == 1 &&
           graph->producer[operands.items[0]] == KEEL_NONE;
}

static keel_status_t list_made(keel_diff_t *diff, keel_arena_t *arena, keel_made_t *out,
                               uint32_t *out_count) {
    keel_graph_t *graph = &diff->after;
    uint8_t *given;
    KEEL_TRY(find_given(graph, &diff->arena, &given));
    keel_list_t results = keel_graph_results(graph);
    for (uint32_t i = 0; i < results.count && *out_count < KEEL_MADE_MOST; ++i) {
        keel_value_id_t value = results.items[i];
        keel_type_id_t type = keel_graph_type(graph, value);
        keel_op_id_t op = graph->producer[value];
        if (op == KEEL_NONE || !keel_diff_dims(graph->program, type).count) continue;
        if (given[value] && !is_converted(graph, op)) continue;
        const keel_source_line_t *line = keel_graph_line(graph, op);
        if (!line->identity || line->is_foreign) continue;
        keel_str_t texts[3] = {keel_str(keel_diff_type(diff, graph->program, type)), line->file,
                               line->function};
        for (int k = 0; k < 3; ++k)
            KEEL_TRY(keel_arena_str(arena, texts[k], &texts[k]));
        out[(*out_count)++] = (keel_made_t){texts[0].data,
                                            {.file = texts[1].data,
                                             .line = line->line,
                                             .function = texts[2].data,
                                             .call_file = ""}};
    }
    return NULL;
}

keel_status_t keel_explain_made(const keel_program_t *program, keel_arena_t *arena,
                                keel_made_t out[KEEL_MADE_MOST], uint32_t *out_count) {
    *out_count = 0;
    if (program->format != KEEL_FORMAT_HLO) return NULL;
    keel_diff_t diff = {.arguments_before = NULL};
    keel_arena_initialize(&diff.arena, 0);
    keel_status_t status = keel_graph_build(&diff.after, program, NULL, &diff.arena);
    if (!status) status = list_made(&diff, arena, out, out_count);
    keel_arena_deinitialize(&diff.arena);
    return status;
}
