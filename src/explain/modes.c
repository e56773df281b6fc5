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

// HLO: what the barrier takes, in a tuple: the values that checkpointing keeps. `op` is any
// operation; count 0 if it is not a barrier.
static keel_list_t kept_by(const keel_graph_t *graph, keel_op_id_t op) {
    keel_list_t tuple = keel_program_operands(graph->program, op);
    if (!keel_str_is(keel_graph_name(graph, op), "opt-barrier") || tuple.count != 1 ||
        graph->producer[tuple.items[0]] == KEEL_NONE)
        return (keel_list_t){NULL, 0};
    return keel_program_operands(graph->program, graph->producer[tuple.items[0]]);
}

static bool is_kept(const keel_graph_t *graph, keel_value_id_t value) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        keel_list_t kept = kept_by(graph, op);
        for (uint32_t i = 0; i < kept.count; ++i)
            if (kept.items[i] == value) return true;
    }
    return false;
}

// Checkpointing donates what it keeps: that follows from it, not the reverse.
static void fold_kept(keel_diff_t *diff) {
    uint32_t donation = keel_diff_find(diff, KEEL_CAUSE_DONATION);
    if (donation == KEEL_NONE || !diff->roots[donation].donated || !checkpoints(diff) ||
        !is_kept(&diff->after, diff->arguments_after[diff->roots[donation].donated - 1].value))
        return;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->difference.kind != KEEL_CAUSE_STRUCTURE || root->follows != donation) continue;
        root->follows = KEEL_NONE;
        diff->roots[donation].follows = i;
        return;
    }
}

// The first operation that takes an argument that is kept: there the part begins that is computed
// twice. NONE if it begins with something else.
static keel_op_id_t find_first_recomputed(const keel_graph_t *graph) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op) {
        keel_list_t operands = keel_program_operands(graph->program, op);
        if (keel_str_is(keel_graph_name(graph, op), "tuple")) continue;
        for (uint32_t i = 0; i < operands.count; ++i) {
            bool is_argument = graph->producer[operands.items[i]] == KEEL_NONE;
            if (is_argument && is_kept(graph, operands.items[i])) return op;
        }
    }
    return KEEL_NONE;
}

// What is computed again is computed in the backward pass, which has no lines.
static void place_recomputed(keel_diff_t *diff, keel_difference_t *branch) {
    bool is_after;
    if (!has_either(diff, "opt-barrier", &is_after)) return;
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_op_id_t own = is_after ? branch->new_op : branch->old_op;
    if (own != KEEL_NONE && keel_graph_line(graph, own)->identity) return;
    keel_op_id_t first = find_first_recomputed(graph);
    if (first != KEEL_NONE && keel_graph_line(graph, first)->identity)
        branch->place = keel_diff_place(diff, is_after, first);
}

// PyTorch's random numbers have no key, and its barriers a different name than JAX's.
static void tell_branches(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_difference_t *branch = &diff->roots[i].difference;
        if (branch->kind != KEEL_CAUSE_STRUCTURE || diff->roots[i].follows != KEEL_NONE ||
            keel_note_advice(branch->note))
            continue;
        if (checkpoints(diff)) {
            keel_diff_note(diff, branch, KEEL_NOTE_RECOMPUTED);
            place_recomputed(diff, branch);
        } else if (draws(diff, branch))
            keel_diff_note(diff, branch, KEEL_NOTE_DROPOUT);
        return; // the first branch: only one of them brings it
    }
}

void keel_diff_modes(keel_diff_t *diff) {
    fold_kept(diff);
    tell_branches(diff);
}
