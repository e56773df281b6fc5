// Lines that ran another number of times for a size that drifted: a Python loop over the rows of an
// argument, and functions that halve their input until it is one.
#include "explain/diff.h"

static bool takes_part(keel_str_t name) {
    return keel_str_is(name, "slice") || keel_str_is(name, "dynamic_slice") ||
           keel_str_is(name, "gather");
}

// Something on that line takes a part of a value that follows from the root.
static bool walks_over(keel_diff_t *diff, uint32_t root, const keel_place_t *place) {
    const keel_program_t *program = diff->after.program;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op) {
        if (!takes_part(keel_graph_name(&diff->after, op))) continue;
        const keel_line_t *line = keel_graph_line(&diff->after, op);
        if (line->line != place->line || !keel_str_is(line->file, place->file)) continue;
        keel_list_t operands = keel_program_operands(program, op);
        if (operands.count && diff->taint[operands.items[0]] == root + 1) return true;
    }
    return false;
}

static unsigned rounds_of(int64_t size) {
    unsigned rounds = 0;
    for (; size > 1; size = (size + 1) / 2)
        ++rounds;
    return rounds;
}

static uint32_t explain(keel_diff_t *diff, const keel_root_t *root) {
    const keel_difference_t *difference = &root->difference;
    bool is_after = difference->new_op != KEEL_NONE;
    bool is_one_call =
        keel_diff_is_one_call(diff, is_after, is_after ? difference->new_op : difference->old_op);
    for (uint32_t i = 0; i < diff->sizes.count; ++i) {
        const keel_drift_t *drift = &diff->sizes.drifts[i];
        if ((double)drift->before == root->before && (double)drift->after == root->after &&
            walks_over(diff, drift->root, &difference->place))
            return drift->root;
        unsigned had = rounds_of(drift->before), has = rounds_of(drift->after);
        if (is_one_call && had != has && (had < has) == (root->before < root->after) &&
            drift->root < diff->root_count &&
            diff->roots[drift->root].difference.kind == KEEL_CAUSE_SHAPE)
            return drift->root;
    }
    return KEEL_NONE;
}

void keel_diff_unrolled(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->difference.kind != KEEL_CAUSE_STRUCTURE || root->follows != KEEL_NONE ||
            root->before == 0 || root->after == 0 || root->before == root->after)
            continue;
        uint32_t source = explain(diff, root);
        if (source < diff->root_count && source != i) root->follows = source;
    }
}
