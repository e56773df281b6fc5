// Lines that ran a different number of times because a size drifted: a Python loop over the rows of
// an argument, or a function that halves its input until one is left.
#include "explain/diff.h"

static bool takes_part(keel_str_t name) {
    return keel_str_is(name, "slice") || keel_str_is(name, "dynamic_slice") ||
           keel_str_is(name, "gather");
}

// True if something on that line takes a part of a value that follows from the root.
static bool walks_over(keel_diff_t *diff, uint32_t root, const keel_place_t *place) {
    const keel_program_t *program = diff->after.program;
    for (keel_op_id_t op = 0; op < keel_program_op_count(program); ++op) {
        if (!takes_part(keel_graph_name(&diff->after, op))) continue;
        const keel_source_line_t *line = keel_graph_line(&diff->after, op);
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

// Whether each additional round adds the same number of operations, or each missing one removes it.
// The first round may do less than the others.
static bool fits_rounds(const keel_drift_t *drift, int64_t had, int64_t has) {
    int64_t rounds = drift->after - drift->before;
    int64_t each = rounds ? (has - had) / rounds : 0;
    return each > 0 && each * rounds == has - had && had >= each * (drift->before - 1);
}

static int64_t pieces_of(int64_t size, int64_t length) {
    return (size + length - 1) / length;
}

// Whether the rounds take pieces of one length, the last of which may be shorter, and the same
// number of parts of each.
static bool fits_pieces(const keel_drift_t *drift, int64_t had, int64_t has) {
    if (had <= 0 || has <= 0 || drift->before <= 0 || drift->after <= 0) return false;
    for (int64_t each = 1; each <= had && each <= has; ++each) {
        if (had % each || has % each) continue;
        int64_t length = pieces_of(drift->before, had / each);
        if (length > 1 && pieces_of(drift->before, length) == had / each &&
            pieces_of(drift->after, length) == has / each)
            return true;
    }
    return false;
}

static int64_t count_parts(keel_graph_t *graph, uint64_t line) {
    int64_t found = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(graph->program); ++op)
        found +=
            takes_part(keel_graph_name(graph, op)) && keel_graph_line(graph, op)->identity == line;
    return found;
}

// If one operation concatenates the rounds, their operations have no counterpart: then the parts
// that they take show how many there are.
static bool is_of_rounds(keel_diff_t *diff, const keel_difference_t *difference,
                         const keel_drift_t *drift) {
    bool is_after = difference->new_op != KEEL_NONE;
    keel_op_id_t op = is_after ? difference->new_op : difference->old_op;
    if (op == KEEL_NONE) return false;
    uint64_t line = keel_graph_line(is_after ? &diff->after : &diff->before, op)->identity;
    int64_t had = count_parts(&diff->before, line), has = count_parts(&diff->after, line);
    return line && walks_over(diff, drift->root, &difference->place) &&
           (fits_rounds(drift, had, has) || fits_pieces(drift, had, has));
}

static uint32_t explain_parts(keel_diff_t *diff, const keel_difference_t *difference) {
    for (uint32_t i = 0; i < diff->sizes.count; ++i) {
        uint32_t root = diff->sizes.drifts[i].root;
        if (root < diff->root_count && diff->roots[root].difference.kind == KEEL_CAUSE_SHAPE &&
            is_of_rounds(diff, difference, &diff->sizes.drifts[i]))
            return root;
    }
    return KEEL_NONE;
}

static uint32_t explain_unrolled(keel_diff_t *diff, const keel_root_t *root) {
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

// How many arguments of one side are first used on a line.
static uint32_t count_taken(keel_graph_t *graph, const keel_argument_t *list, uint32_t count,
                            uint64_t line) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i)
        found += keel_graph_line(graph, list[i].op)->identity == line;
    return found;
}

// The line that uses the first of the arguments that a root reports; 0.
static uint64_t line_of_arguments(keel_diff_t *diff, uint32_t root) {
    for (unsigned side = 0; side < 2; ++side) {
        const keel_argument_t *list = side ? diff->arguments_after : diff->arguments_before;
        uint32_t count = side ? diff->after_count : diff->before_count;
        for (uint32_t i = 0; i < count; ++i)
            if (list[i].counterpart == KEEL_NONE && list[i].root == root && list[i].op != KEEL_NONE)
                return keel_graph_line(side ? &diff->after : &diff->before, list[i].op)->identity;
    }
    return 0;
}

// HLO: each round of the loop takes the same number of arguments, for example the indices by which
// PyTorch/XLA splits the gates of a cell.
static bool come_with_rounds(keel_diff_t *diff, uint32_t root, const keel_drift_t *drift) {
    uint64_t line = line_of_arguments(diff, root);
    if (!line || !walks_over(diff, drift->root, &diff->roots[root].difference.place)) return false;
    int64_t had = count_taken(&diff->before, diff->arguments_before, diff->before_count, line);
    int64_t has = count_taken(&diff->after, diff->arguments_after, diff->after_count, line);
    return fits_rounds(drift, had, has);
}

static void fold_arguments(keel_diff_t *diff) {
    for (uint32_t i = 0; diff->after.lender && i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->difference.kind != KEEL_CAUSE_ARGUMENTS || root->follows != KEEL_NONE) continue;
        for (uint32_t k = 0; k < diff->sizes.count && root->follows == KEEL_NONE; ++k) {
            const keel_drift_t *drift = &diff->sizes.drifts[k];
            if (drift->root < diff->root_count && drift->root != i &&
                diff->roots[drift->root].difference.kind == KEEL_CAUSE_SHAPE &&
                come_with_rounds(diff, i, drift))
                root->follows = drift->root;
        }
    }
}

// ---- rounds that only one program has -----------------------------------------------------------

static uint32_t count_alike(keel_graph_t *graph, keel_op_id_t op) {
    uint64_t line = keel_graph_line(graph, op)->identity;
    keel_str_t name = keel_graph_name(graph, op);
    uint32_t found = 0;
    for (keel_op_id_t at = 0; line && at < keel_program_op_count(graph->program); ++at)
        found += keel_str_equal(keel_graph_name(graph, at), name) &&
                 keel_graph_line(graph, at)->identity == line;
    return found;
}

// True if the line of the operation does that more often in one program than in the other: which
// round of the one belongs to which of the other is a guess.
static bool is_of_other_rounds(keel_diff_t *diff, const keel_difference_t *difference) {
    keel_op_id_t before = difference->old_op, after = difference->new_op;
    if (before == KEEL_NONE || after == KEEL_NONE ||
        keel_graph_line(&diff->before, before)->identity !=
            keel_graph_line(&diff->after, after)->identity)
        return false;
    return count_alike(&diff->before, before) != count_alike(&diff->after, after);
}

// HLO: a number of a round, such as how far it shifts its data, is no host value that changed if a
// loop of the user's has more rounds.
static void fold_numbers(keel_diff_t *diff) {
    uint32_t loop = 0;
    while (loop < diff->root_count && !diff->roots[loop].is_repeated)
        ++loop;
    for (uint32_t i = 0; diff->after.lender && loop < diff->root_count && i < diff->root_count; ++i)
        if (diff->roots[i].difference.kind == KEEL_CAUSE_CONSTANT &&
            diff->roots[i].follows == KEEL_NONE &&
            is_of_other_rounds(diff, &diff->roots[i].difference))
            diff->roots[i].follows = loop;
}

void keel_diff_unrolled(keel_diff_t *diff) {
    fold_arguments(diff);
    fold_numbers(diff);
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->difference.kind != KEEL_CAUSE_STRUCTURE || root->follows != KEEL_NONE) continue;
        bool has_times = root->before && root->after && root->before != root->after;
        uint32_t source = has_times ? explain_unrolled(diff, root) : KEEL_NONE;
        if (source == KEEL_NONE && !root->is_exchange)
            source = explain_parts(diff, &root->difference);
        if (source < diff->root_count && source != i) root->follows = source;
    }
}
