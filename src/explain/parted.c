// HLO: arguments of two types that were paired because one line moves both to the device, though
// different lines use them: a batch that has weights in one step and a mask in the next. One is
// gone, and another one came.
#include "explain/arms.h"
#include "explain/diff.h"

enum { USES = 32, LOOKED_AT = 64 };

typedef struct use_t {
    keel_str_t file;
    uint32_t line;
    uint64_t identity;
} use_t;

// The lines of the user's that take an argument, or a new shape of it.
typedef struct uses_t {
    use_t lines[USES];
    uint32_t count;
    keel_value_id_t values[USES];
    uint32_t value_count;
} uses_t;

static bool takes(const uses_t *uses, keel_list_t operands) {
    for (uint32_t i = 0; i < operands.count; ++i)
        for (uint32_t k = 0; k < uses->value_count; ++k)
            if (operands.items[i] == uses->values[k]) return true;
    return false;
}

static bool is_on(const uses_t *uses, uint64_t identity) {
    for (uint32_t i = 0; i < uses->count; ++i)
        if (uses->lines[i].identity == identity) return true;
    return false;
}

static void note_use(keel_graph_t *graph, keel_op_id_t op, uses_t *uses) {
    const keel_operation_t *operation = &graph->program->operations.data[op];
    keel_list_t operands = keel_program_operands(graph->program, op);
    if (graph->lender[op] != op || !takes(uses, operands)) return; // a gradient has no line
    if (operands.count == 1 && operation->result_count == 1 &&
        keel_graph_only_reshapes(keel_graph_name(graph, op))) {
        if (uses->value_count < USES) uses->values[uses->value_count++] = operation->first_result;
        return;
    }
    const keel_source_line_t *line = keel_graph_line(graph, op);
    if (!line->identity || line->is_foreign || uses->count == USES || is_on(uses, line->identity))
        return;
    uses->lines[uses->count++] = (use_t){line->file, line->line, line->identity};
}

static void list_uses(keel_graph_t *graph, const keel_argument_t *argument, uses_t *out) {
    keel_op_id_t first, end;
    out->count = 0;
    out->values[0] = argument->value;
    out->value_count = 1;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    for (keel_op_id_t op = first; op < end; ++op)
        note_use(graph, op, out);
}

static bool are_of_other_lines(const uses_t *then, const uses_t *now) {
    for (uint32_t i = 0; i < then->count; ++i)
        if (is_on(now, then->lines[i].identity)) return false;
    return then->count && now->count;
}

static bool is_of_one_type(keel_diff_t *diff, const keel_argument_t *a, const keel_argument_t *b) {
    return keel_graph_type_hash(&diff->before, a->type) ==
           keel_graph_type_hash(&diff->after, b->type);
}

// True if an argument that kept its type is used on one of its lines again. If one program trains
// and the other one evaluates, all are used on other lines.
static bool has_a_line_stayed(keel_diff_t *diff) {
    uint32_t looked_at = 0;
    for (uint32_t i = 0; i < diff->before_count && looked_at < LOOKED_AT; ++i) {
        const keel_argument_t *a = &diff->arguments_before[i];
        if (a->counterpart == KEEL_NONE || !keel_diff_dims(diff->before.program, a->type).count)
            continue;
        const keel_argument_t *b = &diff->arguments_after[a->counterpart];
        if (!is_of_one_type(diff, a, b)) continue;
        uses_t then, now;
        list_uses(&diff->before, a, &then);
        list_uses(&diff->after, b, &now);
        if (then.count && now.count && !are_of_other_lines(&then, &now)) return true;
        ++looked_at;
    }
    return false;
}

static bool drifts(keel_ints_t x, keel_ints_t y, int64_t from, int64_t to) {
    for (uint32_t i = 0; i < x.count && x.count == y.count; ++i)
        if (x.items[i] == from && y.items[i] == to) return true;
    return false;
}

// A size changed as it did in an argument that the same line uses: a batch of another size.
static bool is_of_a_drift(keel_diff_t *diff, const keel_argument_t *a) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    keel_ints_t x = keel_diff_dims(p, a->type),
                y = keel_diff_dims(q, diff->arguments_after[a->counterpart].type);
    for (uint32_t i = 0, looked_at = 0; i < diff->before_count && looked_at < LOOKED_AT; ++i) {
        const keel_argument_t *c = &diff->arguments_before[i];
        if (c == a || c->counterpart == KEEL_NONE) continue;
        const keel_argument_t *d = &diff->arguments_after[c->counterpart];
        if (is_of_one_type(diff, c, d)) continue;
        ++looked_at;
        bool is_shared = false;
        for (uint32_t k = 0; k < x.count && x.count == y.count; ++k)
            is_shared = is_shared || (x.items[k] != y.items[k] &&
                                      drifts(keel_diff_dims(p, c->type), keel_diff_dims(q, d->type),
                                             x.items[k], y.items[k]));
        if (!is_shared) continue;
        uses_t then, now;
        list_uses(&diff->before, c, &then);
        list_uses(&diff->after, d, &now);
        if (!are_of_other_lines(&then, &now)) return true;
    }
    return false;
}

// Two arms of one `if` may well take the same argument, in a size each.
static keel_status_t are_in_arms(keel_diff_t *diff, const keel_sources_t *sources,
                                 const use_t *then, const use_t *now, bool *out) {
    keel_str_t text;
    keel_arms_t arms;
    *out = false;
    if (!sources || !keel_str_equal(then->file, now->file)) return NULL;
    const char *file = keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(now->file));
    keel_status_t status = sources->read(sources->context, file, &text);
    if (keel_status_code(status) == KEEL_NO_MEMORY) return status;
    bool is_known = !status;
    keel_status_ignore(status);
    if (!is_known) return NULL;
    KEEL_TRY(keel_arms_read(&arms, text, &diff->arena));
    *out = keel_arms_fork(&arms, then->line, now->line);
    keel_arms_deinitialize(&arms);
    return NULL;
}

// True if the lines say that a pair is two arguments. `inout_known`: that the lines are the same.
static keel_status_t are_two(keel_diff_t *diff, const keel_sources_t *sources,
                             const keel_argument_t *a, bool *inout_known, bool *out) {
    uses_t then, now;
    bool are_arms;
    list_uses(&diff->before, a, &then);
    list_uses(&diff->after, &diff->arguments_after[a->counterpart], &now);
    *out = are_of_other_lines(&then, &now) && !is_of_a_drift(diff, a) &&
           (*inout_known || has_a_line_stayed(diff));
    if (!*out) return NULL;
    *inout_known = true;
    KEEL_TRY(are_in_arms(diff, sources, &then.lines[0], &now.lines[0], &are_arms));
    *out = !are_arms;
    return NULL;
}

keel_status_t keel_parameters_part(keel_diff_t *diff, const keel_sources_t *sources) {
    bool is_known = false;
    uint32_t looked_at = 0;
    // Lines of another run may have moved.
    if (diff->is_of_another_run || !diff->before.lender || !diff->after.lender) return NULL;
    for (uint32_t i = 0; i < diff->before_count && looked_at < LOOKED_AT; ++i) {
        keel_argument_t *a = &diff->arguments_before[i];
        bool are_apart;
        if (a->counterpart == KEEL_NONE ||
            is_of_one_type(diff, a, &diff->arguments_after[a->counterpart]) ||
            keel_parameters_are_converted(&diff->before, a, &diff->after,
                                          &diff->arguments_after[a->counterpart]))
            continue; // what one line moves in the same shape is converted where it is used
        ++looked_at;
        KEEL_TRY(are_two(diff, sources, a, &is_known, &are_apart));
        if (!are_apart) continue;
        a->replacement = a->counterpart;
        diff->arguments_after[a->counterpart].counterpart = KEEL_NONE;
        a->counterpart = KEEL_NONE;
    }
    return NULL;
}
