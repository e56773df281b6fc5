// HLO: what PyTorch's optimizers bring about. The state that they make in their first step is an
// argument from the second on; parameters that were put in the place of others are updated no more.
// Both show in the source: what an optimizer computes stands in a file of torch/optim.
#include "explain/cause.h"
#include "explain/diff.h"

static bool holds(keel_str_t text, keel_str_t part) {
    for (; text.size >= part.size; ++text.data, --text.size)
        if (keel_str_starts(text, part)) return true;
    return false;
}

bool keel_diff_is_optimizers(const keel_graph_t *graph, keel_op_id_t op) {
    enum { FRAMES = 16 };
    if (op == KEEL_NONE) return false;
    keel_frame_t frames[FRAMES];
    const keel_program_t *program = graph->program;
    uint32_t count =
        keel_program_frames(program, program->operations.data[op].location, frames, FRAMES, NULL);
    for (uint32_t i = 0; i < count && i < FRAMES; ++i)
        if (holds(frames[i].file, KEEL_STR("/torch/optim/"))) return true;
    return false;
}

// How many tensors were added, if all are an optimizer's but for gradients that are told by
// themselves. Numbers come with what takes them.
static uint32_t count_state(const keel_diff_t *diff) {
    const keel_argument_t *list = diff->arguments_after;
    bool has_gradients = keel_diff_find(diff, KEEL_CAUSE_GRADIENT) != KEEL_NONE;
    uint32_t found = 0;
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        if (list[i].counterpart != KEEL_NONE) continue;
        if (!keel_diff_dims(diff->after.program, list[i].type).count) continue;
        bool is_state = keel_diff_is_optimizers(&diff->after, list[i].op);
        if (!is_state && !has_gradients) return 0;
        found += is_state;
    }
    return found;
}

// Where gradients were added too, the root may stand for one of these, and counts them all.
static void tell_of_state(keel_diff_t *diff, keel_difference_t *difference, uint32_t count) {
    const keel_argument_t *list = diff->arguments_after;
    uint32_t first = 0;
    while (list[first].counterpart != KEEL_NONE ||
           !keel_diff_dims(diff->after.program, list[first].type).count ||
           !keel_diff_is_optimizers(&diff->after, list[first].op))
        ++first;
    difference->subject = keel_diff_text(diff, "argument %u", first);
    difference->new_value = keel_diff_type(diff, diff->after.program, list[first].type);
    difference->place = keel_diff_place(diff, true, list[first].op);
    difference->note = count == 1 ? ""
                                  : keel_diff_text(diff, "and %u more argument%s", count - 1,
                                                   count == 2 ? "" : "s");
}

// An argument that is updated in place by one program, and another tensor in the other: its data
// was moved to the device by another line.
static bool is_replaced(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        const keel_argument_t *now = &diff->arguments_after[i];
        if (now->counterpart == KEEL_NONE) continue;
        const keel_argument_t *then = &diff->arguments_before[now->counterpart];
        if (then->is_donated == now->is_donated) continue;
        uint64_t line = keel_graph_line(&diff->before, then->op)->identity;
        if (line && line != keel_graph_line(&diff->after, now->op)->identity) return true;
    }
    return false;
}

static keel_op_id_t first_of_optimizer(const keel_graph_t *graph) {
    keel_op_id_t first, end;
    keel_graph_body(graph, graph->program->entry, &first, &end);
    while (first < end && !keel_diff_is_optimizers(graph, first))
        ++first;
    return first < end ? first : KEEL_NONE;
}

// Where a sync has moved the other tensors their line is not known. But the optimizer does nothing
// any more, and the host has sent as many as it leaves alone.
static bool is_left_alone(const keel_diff_t *diff, keel_op_id_t *out) {
    uint64_t kept = 0;
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        const keel_argument_t *now = &diff->arguments_after[i];
        if (now->counterpart == KEEL_NONE) continue;
        kept += diff->arguments_before[now->counterpart].is_donated && !now->is_donated;
    }
    if (!kept || diff->sent < kept || first_of_optimizer(&diff->after) != KEEL_NONE) return false;
    *out = first_of_optimizer(&diff->before);
    return *out != KEEL_NONE;
}

// Arguments that were added, numbers aside; NONE.
static uint32_t find_added(const keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_root_t *root = &diff->roots[i];
        if (root->difference.kind == KEEL_CAUSE_ARGUMENTS && root->follows == KEEL_NONE &&
            !root->is_random && strcmp(root->difference.old_value, "absent") == 0)
            return i;
    }
    return KEEL_NONE;
}

static bool follows(const keel_diff_t *diff, const keel_difference_t *difference) {
    if (difference->kind == KEEL_CAUSE_ARGUMENTS) return true;
    return keel_diff_is_optimizers(&diff->after, difference->new_op) ||
           keel_diff_is_optimizers(&diff->before, difference->old_op);
}

static void lead(keel_diff_t *diff, uint32_t top) {
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (i != top && diff->roots[i].follows == KEEL_NONE &&
            follows(diff, &diff->roots[i].difference))
            diff->roots[i].follows = top;
}

static void tell(keel_diff_t *diff, uint32_t root, keel_note_t note) {
    keel_difference_t *difference = &diff->roots[root].difference;
    difference->note = keel_diff_text(diff, "%s%s%s", keel_note_text(note),
                                      *difference->note ? "; " : "", difference->note);
}

void keel_diff_optimizer(keel_diff_t *diff) {
    if (!diff->before.lender || !diff->after.lender) return;
    uint32_t top = keel_diff_find(diff, KEEL_CAUSE_DONATION);
    if (top != KEEL_NONE && is_replaced(diff)) {
        lead(diff, top);
        if (strcmp(diff->roots[top].difference.new_value, "kept") == 0)
            tell(diff, top, KEEL_NOTE_REPLACED);
        return;
    }
    keel_op_id_t op;
    if (top != KEEL_NONE && is_left_alone(diff, &op)) {
        lead(diff, top);
        tell(diff, top, KEEL_NOTE_REPLACED);
        diff->roots[top].difference.place = keel_diff_place(diff, false, op);
        return;
    }
    top = find_added(diff);
    uint32_t state = top == KEEL_NONE ? 0 : count_state(diff);
    if (!state) return;
    lead(diff, top);
    if (keel_diff_find(diff, KEEL_CAUSE_GRADIENT) != KEEL_NONE)
        tell_of_state(diff, &diff->roots[top].difference, state);
    tell(diff, top, KEEL_NOTE_STATE_MADE);
}
