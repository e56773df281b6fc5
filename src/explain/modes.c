// PyTorch/XLA: branches of a model that recomputes its activations (checkpointing) or drops some of
// them (dropout) in one program and not in the other.
#include "explain/diff.h"

// HLO: how many operations of that name a program has.
static uint32_t count_named(const keel_graph_t *graph, const char *name) {
    uint32_t count = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op)
        count += keel_str_is(keel_graph_name(graph, op), name);
    return count;
}

static bool has_either(const keel_diff_t *diff, const char *name, bool *out_is_after) {
    bool had = count_named(&diff->before, name) > 0;
    *out_is_after = count_named(&diff->after, name) > 0;
    return had != *out_is_after;
}

// Nobody but checkpointing writes barriers. Random numbers belong to the branch only if the other
// side has nothing in its place.
static bool checkpoints(const keel_diff_t *diff) {
    bool is_after;
    return has_either(diff, "opt-barrier", &is_after);
}

static bool draws(const keel_diff_t *diff, const keel_difference_t *branch) {
    bool is_after;
    return has_either(diff, "rng-bit-generator", &is_after) &&
           (is_after ? branch->old_op : branch->new_op) == KEEL_NONE;
}

// HLO: an argument that a barrier takes, in a tuple with what else is kept.
static bool is_kept(const keel_graph_t *graph, const keel_argument_t *argument) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        keel_list_t tuple = keel_program_operands(graph->program, op);
        if (!keel_str_is(keel_graph_name(graph, op), "opt-barrier") || tuple.count != 1 ||
            graph->producer[tuple.items[0]] == KEEL_NONE)
            continue;
        keel_list_t kept = keel_program_operands(graph->program, graph->producer[tuple.items[0]]);
        for (uint32_t i = 0; i < kept.count; ++i)
            if (kept.items[i] == argument->value) return true;
    }
    return false;
}

// Checkpointing donates what it keeps: that follows from it, not the reverse.
static void fold_kept(keel_diff_t *diff) {
    uint32_t donation = keel_diff_find(diff, KEEL_CAUSE_DONATION);
    if (donation == KEEL_NONE || !diff->roots[donation].donated || !checkpoints(diff) ||
        !is_kept(&diff->after, &diff->arguments_after[diff->roots[donation].donated - 1]))
        return;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->difference.kind != KEEL_CAUSE_STRUCTURE || root->follows != donation) continue;
        root->follows = KEEL_NONE;
        diff->roots[donation].follows = i;
        return;
    }
}

// PyTorch's random numbers have no key, and its barriers another name than JAX's.
static void tell_branches(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_difference_t *branch = &diff->roots[i].difference;
        if (branch->kind != KEEL_CAUSE_STRUCTURE || diff->roots[i].follows != KEEL_NONE ||
            keel_note_advice(branch->note))
            continue;
        if (checkpoints(diff))
            keel_diff_note(diff, branch, KEEL_NOTE_RECOMPUTED);
        else if (draws(diff, branch))
            keel_diff_note(diff, branch, KEEL_NOTE_DROPOUT);
        return; // the first branch: only one of them brings it
    }
}

void keel_diff_modes(keel_diff_t *diff) {
    fold_kept(diff);
    tell_branches(diff);
}
