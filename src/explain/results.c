// Results that only one side has. Usually they follow from what was traced or passed; if nothing
// else differs, they are the cause.
#include "explain/diff.h"

keel_list_t keel_diff_result_types(const keel_graph_t *graph) {
    const keel_program_t *program = graph->program;
    keel_type_id_t type = program->functions.data[program->entry].type;
    if (keel_program_type(program, type)->kind != KEEL_TYPE_FUNCTION) return (keel_list_t){NULL, 0};
    return keel_program_list(program, keel_program_type(program, type)->c);
}

static keel_status_t put_names(const keel_graph_t *graph, uint32_t count, keel_map_t *out) {
    for (uint32_t i = 0; i < count; ++i)
        KEEL_TRY(keel_map_put(out, keel_str_bytes(keel_program_result_name(graph->program, i)), i));
    return NULL;
}

static uint32_t explained_by(const keel_diff_t *diff) {
    static const keel_cause_t kinds[] = {KEEL_CAUSE_GRADIENT, KEEL_CAUSE_ARGUMENTS,
                                         KEEL_CAUSE_STRUCTURE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        uint32_t root = keel_diff_find(diff, kinds[i]);
        if (root != KEEL_NONE) return root;
    }
    return KEEL_NONE;
}

static keel_status_t explain_result(keel_diff_t *diff, bool is_after, uint32_t number,
                                    keel_type_id_t type) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_str_t name = keel_program_result_name(graph->program, number);
    const char *text = keel_diff_type(diff, graph->program, type);
    keel_difference_t difference = keel_diff_of_call(
        diff, KEEL_CAUSE_STRUCTURE, keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(name)),
        is_after ? "absent" : text, is_after ? text : "absent");
    difference.note = "a result";
    uint32_t root = explained_by(diff);
    if (root != KEEL_NONE) return keel_diff_fold(diff, root, &difference);
    return keel_diff_root(diff, &difference, &root);
}

static keel_status_t tell_missing(keel_diff_t *diff, bool is_after, keel_list_t results,
                                  const keel_map_t *others) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    for (uint32_t i = 0; i < results.count; ++i) {
        keel_str_t name = keel_program_result_name(graph->program, i);
        if (name.size && !keel_map_find(others, keel_str_bytes(name)))
            KEEL_TRY(explain_result(diff, is_after, i, results.items[i]));
    }
    return NULL;
}

keel_status_t keel_diff_results(keel_diff_t *diff) {
    keel_list_t x = keel_diff_result_types(&diff->before), y = keel_diff_result_types(&diff->after);
    if (x.count == y.count) return NULL;
    keel_map_t before, after;
    keel_map_initialize(&before);
    keel_map_initialize(&after);
    keel_status_t status = put_names(&diff->before, x.count, &before);
    if (!status) status = put_names(&diff->after, y.count, &after);
    if (!status) status = tell_missing(diff, true, y, &before);
    if (!status) status = tell_missing(diff, false, x, &after);
    keel_map_deinitialize(&after);
    keel_map_deinitialize(&before);
    return status;
}

// ---- HLO, whose results are operands of its root -----------------------------------------------

static uint32_t times_among(const keel_value_id_t *values, uint32_t count, keel_value_id_t value) {
    uint32_t times = 0;
    for (uint32_t i = 0; i < count; ++i)
        times += values[i] == value;
    return times;
}

// The argument's own operation, or the one that computes the value.
static keel_op_id_t maker_of(const keel_diff_t *diff, bool is_after, keel_value_id_t value) {
    const keel_argument_t *arguments = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t number =
        keel_diff_argument(arguments, is_after ? diff->after_count : diff->before_count, value);
    if (number != KEEL_NONE) return arguments[number].op;
    return (is_after ? &diff->after : &diff->before)->producer[value];
}

// Constants are compared where they are used, so one that is only a result has no counterpart.
static bool is_only_there(const keel_graph_t *graph, const keel_value_id_t *counterpart,
                          keel_value_id_t value) {
    keel_op_id_t op = graph->producer[value];
    return counterpart[value] == KEEL_NONE && op != KEEL_NONE && graph->constant[op] == op;
}

static bool tell_kept(keel_diff_t *diff, bool is_after, keel_list_t results, keel_list_t others,
                      keel_difference_t *out) {
    const keel_value_id_t *counterpart = is_after ? diff->value_origin : diff->value_counterpart;
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    uint32_t count = 0;
    for (uint32_t i = 0; i < results.count; ++i) {
        keel_value_id_t value = results.items[i];
        bool is_lone = is_only_there(graph, counterpart, value);
        if (counterpart[value] == KEEL_NONE && !is_lone) continue;
        uint32_t kept = is_lone ? 0 : times_among(others.items, others.count, counterpart[value]);
        if (times_among(results.items, i + 1, value) <= kept) continue;
        if (count++) continue;
        out->note =
            keel_diff_text(diff, "%s%s", keel_note_text(KEEL_NOTE_KEPT),
                           kept ? ", as a copy of another result (PyTorch: copy_, clone)" : "");
        const char *type = keel_diff_type(diff, graph->program, keel_graph_type(graph, value));
        keel_str_t name = keel_program_result_name(graph->program, i);
        out->subject = name.size ? keel_diff_text(diff, "%.*s", (int)name.size, name.data)
                                 : keel_diff_text(diff, "result %u", i);
        out->old_value = is_after ? "absent" : type;
        out->new_value = is_after ? type : "absent";
        out->place = keel_diff_place(diff, is_after, maker_of(diff, is_after, value));
    }
    if (!count) return false;
    if (count > 1)
        out->note = keel_diff_text(diff, "%s; and %u more result%s", out->note, count - 1,
                                   count == 2 ? "" : "s");
    return true;
}

bool keel_diff_kept_results(keel_diff_t *diff, keel_op_id_t before, keel_op_id_t after,
                            keel_difference_t *out) {
    if (!diff->after.lender || before == KEEL_NONE ||
        diff->after.function_of[after] != diff->after.program->entry ||
        !keel_str_is(keel_graph_name(&diff->after, after), "tuple"))
        return false;
    keel_list_t x = keel_program_operands(diff->before.program, before);
    keel_list_t y = keel_program_operands(diff->after.program, after);
    if (x.count == y.count) return false;
    return tell_kept(diff, y.count > x.count, y.count > x.count ? y : x, y.count > x.count ? x : y,
                     out);
}
