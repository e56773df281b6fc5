// Operations without a counterpart. A cluster of them is one root, unless something else explains
// it.
#include <stdio.h>

#include "explain/clusters.h"

// HLO: true if one of that side's operations has a line of its own. Gradients that PyTorch's engine
// records have none, and follow from operations that do.
static bool has_own_line(const keel_clusters_t *clusters, uint32_t representative, bool is_after) {
    for (uint32_t at = representative; at != KEEL_NONE; at = clusters->next[at]) {
        if ((at >= clusters->split) != is_after) continue;
        keel_op_id_t op;
        const keel_graph_t *graph = keel_clusters_graph(clusters, at, &op);
        if (!graph->lender || graph->lender[op] == op) return true;
    }
    return false;
}

// HLO: true if one of that side's operations that the other lacks does more than give a new shape.
static bool computes(const keel_clusters_t *clusters, uint32_t representative, bool is_after) {
    for (uint32_t at = representative; at != KEEL_NONE; at = clusters->next[at]) {
        if ((at >= clusters->split) != is_after || clusters->moved[at]) continue;
        keel_op_id_t op;
        const keel_graph_t *graph = keel_clusters_graph(clusters, at, &op);
        if (!graph->lender || !keel_graph_only_reshapes(keel_graph_name(graph, op))) return true;
    }
    return false;
}

// "multiply, add and 3 more"
static const char *list_names(const keel_clusters_t *clusters, uint32_t representative,
                              bool is_after) {
    enum { SHOWN = 3 };
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    keel_str_t shown[SHOWN];
    uint32_t shown_count = 0, rest = 0;
    bool is_left_out = (has_own_line(clusters, representative, !is_after) &&
                        !has_own_line(clusters, representative, is_after)) ||
                       (computes(clusters, representative, !is_after) &&
                        !computes(clusters, representative, is_after));
    for (uint32_t at = representative; at != KEEL_NONE; at = clusters->next[at]) {
        if ((at >= clusters->split) != is_after || is_left_out || clusters->moved[at]) continue;
        keel_op_id_t op;
        const keel_graph_t *graph = keel_clusters_graph(clusters, at, &op);
        keel_str_t name = keel_graph_name(graph, op);
        if (keel_str_is(name, "return")) continue; // the end of what was listed before
        if (keel_key_is_unwrapped(graph, op)) continue;
        bool is_known = false;
        for (uint32_t i = 0; i < shown_count; ++i)
            is_known = is_known || keel_str_equal(shown[i], name);
        if (is_known || shown_count == SHOWN) {
            ++rest;
            continue;
        }
        shown[shown_count++] = name;
        if (buffer.size) keel_buffer_text(&buffer, ", ");
        keel_buffer_str(&buffer, name);
    }
    if (rest) keel_buffer_format(&buffer, " and %u more", rest);
    clusters->diff->lacks_memory = clusters->diff->lacks_memory || buffer.failed;
    const char *text =
        keel_diff_text(clusters->diff, "%s", buffer.size ? keel_buffer_cstr(&buffer) : "nothing");
    keel_buffer_deinitialize(&buffer);
    return text;
}

static void tell_times(keel_diff_t *diff, keel_times_t times, keel_difference_t *difference) {
    bool is_after = difference->new_op != KEEL_NONE;
    difference->note = is_after ? difference->new_value : difference->old_value;
    difference->old_value =
        keel_diff_text(diff, "%u time%s", times.before, times.before == 1 ? "" : "s");
    difference->new_value =
        keel_diff_text(diff, "%u time%s", times.after, times.after == 1 ? "" : "s");
}

enum { LINES = 32 };

typedef struct lines_t {
    keel_op_id_t ops[LINES]; // the first of each line
    uint32_t count;
} lines_t;

// The lines of a cluster; if `is_new`, only those that the other program does not have. Clients
// drop what nothing uses, so lines before a branch may also have more operations. Lines that only
// make the branch's random keys are used only if there is no other.
static void list_lines(const keel_clusters_t *clusters, uint32_t representative, bool is_after,
                       bool is_new, lines_t *out) {
    keel_diff_t *diff = clusters->diff;
    keel_graph_t *own = is_after ? &diff->after : &diff->before;
    const keel_lines_t *other = is_after ? &clusters->lines_before : &clusters->lines_after;
    uint64_t seen[LINES];
    keel_op_id_t key = KEEL_NONE;
    out->count = 0;
    for (uint32_t at = representative; at != KEEL_NONE && out->count < LINES;
         at = clusters->next[at]) {
        if ((at >= clusters->split) != is_after) continue;
        keel_op_id_t op;
        keel_clusters_graph(clusters, at, &op);
        if (keel_key_is_unwrapped(own, op)) continue;
        const keel_source_line_t *line = keel_graph_line(own, op);
        if (!line->identity || (is_new && keel_lines_first(other, line) != KEEL_NONE)) continue;
        if (keel_key_is_made(own, op)) {
            if (key == KEEL_NONE) key = op;
            continue;
        }
        bool is_known = false;
        for (uint32_t i = 0; i < out->count; ++i)
            is_known = is_known || seen[i] == line->identity;
        if (is_known) continue;
        seen[out->count] = line->identity;
        out->ops[out->count++] = op;
    }
    if (!out->count && key != KEEL_NONE) out->ops[out->count++] = key;
}

static bool is_one_sided(const keel_cluster_t *cluster) {
    return !cluster->before_count || !cluster->after_count;
}

// HLO: what gave way is little beside what came, so a new line tells more than that.
static bool is_mostly_new(const keel_clusters_t *clusters, const keel_cluster_t *cluster) {
    enum { TIMES = 16 };
    return clusters->diff->after.lender && cluster->after_count / TIMES > cluster->before_count;
}

static bool is_weak(const keel_cluster_t *cluster) {
    return cluster->weak != KEEL_NONE && is_one_sided(cluster);
}

// How many operations of a cluster are on the line of `op`.
static uint32_t count_beside(const keel_clusters_t *clusters, uint32_t representative,
                             bool is_after, keel_op_id_t op) {
    keel_diff_t *diff = clusters->diff;
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    uint64_t identity = keel_graph_line(graph, op)->identity;
    uint32_t count = 0;
    for (uint32_t at = representative; at != KEEL_NONE; at = clusters->next[at]) {
        if ((at >= clusters->split) != is_after) continue;
        keel_op_id_t other;
        keel_clusters_graph(clusters, at, &other);
        count += keel_graph_line(graph, other)->identity == identity;
    }
    return count;
}

// A library that the user called does the work and calls back for the rest. It must do most of it
// if the callback is on a new line.
static bool is_librarys(const keel_clusters_t *clusters, uint32_t representative, bool is_after,
                        keel_op_id_t op, bool has_new) {
    const keel_cluster_t *cluster = &clusters->items[representative];
    keel_diff_t *diff = clusters->diff;
    if (op == KEEL_NONE ||
        !keel_graph_line(is_after ? &diff->after : &diff->before, op)->library_file.size)
        return false;
    return !has_new || count_beside(clusters, representative, is_after, op) * 2 >
                           (is_after ? cluster->after_count : cluster->before_count);
}

// The first on that side that the other lacks, preferably one that shows what it does; NONE.
static keel_op_id_t first_unmoved(const keel_clusters_t *clusters, uint32_t representative,
                                  bool is_after) {
    keel_op_id_t found = KEEL_NONE;
    for (uint32_t at = representative; at != KEEL_NONE; at = clusters->next[at]) {
        if ((at >= clusters->split) != is_after || clusters->moved[at]) continue;
        keel_op_id_t op;
        keel_clusters_graph(clusters, at, &op);
        if (keel_clusters_is_telling(clusters, at)) return op;
        if (found == KEEL_NONE) found = op;
    }
    return found;
}

// HLO is written backward from its results, so its order is that of the data. Of a function's
// lines, the first one in the source ran first.
static keel_op_id_t first_in_source(keel_graph_t *graph, const lines_t *lines) {
    keel_op_id_t found = lines->ops[0];
    for (uint32_t i = 1; graph->lender && i < lines->count; ++i) {
        const keel_source_line_t *first = keel_graph_line(graph, found),
                                 *line = keel_graph_line(graph, lines->ops[i]);
        if (line->line < first->line && !line->is_foreign &&
            keel_str_equal(line->file, first->file) &&
            keel_str_equal(line->function, first->function))
            found = lines->ops[i];
    }
    return found;
}

// If only one side has more than what moved, what a new line does tells more than what carries its
// values through a loop.
static void choose_unmoved(keel_clusters_t *clusters, uint32_t representative) {
    keel_cluster_t *cluster = &clusters->items[representative];
    cluster->first_before = first_unmoved(clusters, representative, false);
    cluster->first_after = first_unmoved(clusters, representative, true);
    const bool is_after = cluster->first_after != KEEL_NONE;
    lines_t fresh;
    if (is_after && cluster->first_before != KEEL_NONE && !is_mostly_new(clusters, cluster)) return;
    list_lines(clusters, representative, is_after, true, &fresh);
    if (!fresh.count) return;
    keel_graph_t *graph = is_after ? &clusters->diff->after : &clusters->diff->before;
    *(is_after ? &cluster->first_after : &cluster->first_before) = first_in_source(graph, &fresh);
}

// The operation that represents a cluster: the library call that led to the others, or one on a new
// line.
static void choose_first(keel_clusters_t *clusters, uint32_t representative) {
    keel_cluster_t *cluster = &clusters->items[representative];
    if (is_weak(cluster)) return;
    if (cluster->has_moved) {
        choose_unmoved(clusters, representative);
        return;
    }
    bool is_after = cluster->after_count > 0;
    keel_graph_t *graph = is_after ? &clusters->diff->after : &clusters->diff->before;
    lines_t all, fresh = {.count = 0};
    list_lines(clusters, representative, is_after, false, &all);
    if (is_one_sided(cluster) || (is_after && is_mostly_new(clusters, cluster)))
        list_lines(clusters, representative, is_after, true, &fresh);
    keel_op_id_t chosen = keel_graph_enclosing(graph, all.ops, all.count);
    if (!is_librarys(clusters, representative, is_after, chosen, fresh.count > 0))
        chosen = fresh.count ? first_in_source(graph, &fresh) : KEEL_NONE;
    if (chosen != KEEL_NONE) *(is_after ? &cluster->first_after : &cluster->first_before) = chosen;
}

// The same operation on both sides, in a different place: shows both orders, with the operation
// that it swapped places with.
static void tell_move(keel_diff_t *diff, const keel_cluster_t *cluster,
                      keel_difference_t *difference) {
    if (cluster->before_count != cluster->after_count) return;
    if (strcmp(difference->old_value, difference->new_value) != 0) return;
    if (diff->is_of_another_run)
        difference->note = keel_note_text(KEEL_NOTE_SHUFFLED);
    else if (cluster->before_count == 1)
        difference->note = "in a different order";
    if (cluster->before_count != 1) return;
    keel_op_id_t other = cluster->first_after;
    while (other > 0 && diff->origin[other] == KEEL_NONE)
        --other;
    keel_op_id_t origin = diff->origin[other];
    bool was_first = origin != KEEL_NONE && origin > cluster->first_before;
    if (!was_first) {
        other = cluster->first_before;
        while (other > 0 && diff->counterpart[other] == KEEL_NONE)
            --other;
        other = diff->counterpart[other];
        if (other == KEEL_NONE || other < cluster->first_after) return;
    }
    keel_str_t name = keel_graph_name(&diff->after, other);
    const char *moved = difference->old_value;
    bool is_of_one_name = keel_str_is(name, moved);
    const char *first = is_of_one_name
                            ? keel_diff_text(diff, "before another %s", moved)
                            : keel_diff_text(diff, "%s, %.*s", moved, (int)name.size, name.data);
    const char *second = is_of_one_name
                             ? keel_diff_text(diff, "after another %s", moved)
                             : keel_diff_text(diff, "%.*s, %s", (int)name.size, name.data, moved);
    difference->old_value = was_first ? first : second;
    difference->new_value = was_first ? second : first;
}

static bool is_key_style(const keel_cluster_t *cluster) {
    return cluster->only_unwraps && is_one_sided(cluster);
}

static bool is_marking(const keel_cluster_t *cluster) {
    return cluster->marks != KEEL_NONE && cluster->is_trivial && is_one_sided(cluster);
}

static keel_difference_t describe_marking(const keel_clusters_t *clusters,
                                          const keel_cluster_t *cluster) {
    keel_diff_t *diff = clusters->diff;
    keel_op_id_t op;
    const keel_graph_t *graph = keel_clusters_graph(clusters, cluster->marks, &op);
    bool is_after = cluster->after_count > 0;
    uint32_t more = cluster->marks_count - 1;
    keel_attr_id_t sharding = keel_program_dict_find(
        graph->program, graph->program->operations.data[op].attributes, "sharding");
    if (sharding == KEEL_NONE)
        sharding = keel_program_dict_find(
            graph->program, graph->program->operations.data[op].attributes, "mhlo.sharding");
    // An empty message means that it is on all devices.
    bool is_hlo = graph->program->format == KEEL_FORMAT_HLO;
    const char *note =
        more ? keel_diff_text(diff, "and %u more value%s", more, more == 1 ? "" : "s") : "";
    if (!is_hlo)
        note = keel_diff_text(diff, "%s%s%s", keel_note_text(KEEL_NOTE_CONSTRAINED),
                              more ? "; " : "", note);
    bool is_on_all =
        sharding == KEEL_NONE ||
        (is_hlo && keel_program_attr(graph->program, sharding)->kind == KEEL_ATTR_DICT &&
         !keel_program_entries(graph->program, sharding).count);
    const char *text = is_on_all ? "replicated" : keel_diff_attr(diff, graph->program, sharding);
    keel_value_id_t value = graph->program->operations.data[op].first_result;
    return (keel_difference_t){
        .kind = KEEL_CAUSE_SHARDING,
        .subject = is_hlo ? keel_diff_type(diff, graph->program, keel_graph_type(graph, value))
                          : "with_sharding_constraint",
        .old_value = is_after ? "unset" : text,
        .new_value = is_after ? text : "unset",
        .note = note,
        .place = keel_diff_place(diff, is_after, op),
        .old_op = is_after ? KEEL_NONE : op,
        .new_op = is_after ? op : KEEL_NONE,
        .follows = KEEL_NONE};
}

static keel_difference_t describe_cluster(const keel_clusters_t *clusters, uint32_t representative,
                                          keel_times_t times) {
    keel_diff_t *diff = clusters->diff;
    const keel_cluster_t *cluster = &clusters->items[representative];
    if (is_weak(cluster)) return keel_diff_weak_type(diff, cluster->after_count > 0, cluster->weak);
    if (is_marking(cluster)) return describe_marking(clusters, cluster);
    if (is_key_style(cluster))
        return keel_diff_key_style(diff, cluster->after_count > 0,
                                   cluster->after_count ? cluster->first_after
                                                        : cluster->first_before);
    bool is_after = cluster->first_after != KEEL_NONE;
    keel_op_id_t op = is_after ? cluster->first_after : cluster->first_before;
    keel_str_t name = keel_graph_name(is_after ? &diff->after : &diff->before, op);
    keel_difference_t difference = {.kind = KEEL_CAUSE_STRUCTURE,
                                    .subject =
                                        keel_diff_text(diff, "%.*s", (int)name.size, name.data),
                                    .old_value = list_names(clusters, representative, false),
                                    .new_value = list_names(clusters, representative, true),
                                    .note = "",
                                    .place = keel_diff_place(diff, is_after, op),
                                    .old_op = cluster->first_before,
                                    .new_op = cluster->first_after,
                                    .follows = KEEL_NONE};
    if (times.before) tell_times(diff, times, &difference);
    tell_move(diff, cluster, &difference);
    if (strcmp(difference.old_value, difference.new_value) == 0)
        keel_diff_ops(diff, cluster->first_before, cluster->first_after, &difference);
    return difference;
}

// ---- what explains it --------------------------------------------------------------------------

// A parameter is an argument of the program only if it is used. One that was passed both times came
// with the branch that uses it. If that is unknown, so did one of which the other program has
// nothing, if the branch replaces another one (`is_swap`) or the argument is a random key; and so
// did the weights of a layer.
static bool comes_with_branch(const keel_root_t *root, bool is_swap) {
    if (root->passing != KEEL_PASSING_UNKNOWN) return root->passing == KEEL_PASSED;
    return root->is_random || root->is_layer || (is_swap && root->is_whole);
}

static uint32_t find_arguments(const keel_diff_t *diff, bool is_swap) {
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (diff->roots[i].difference.kind == KEEL_CAUSE_ARGUMENTS &&
            diff->roots[i].follows == KEEL_NONE && !comes_with_branch(&diff->roots[i], is_swap))
            return i;
    return KEEL_NONE;
}

// An argument that was passed only once and that no operation takes: its presence decided what was
// traced.
static uint32_t find_deciding(const keel_argument_t *arguments, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (arguments[i].counterpart == KEEL_NONE && arguments[i].passing == KEEL_NOT_PASSED &&
            !arguments[i].is_read)
            return arguments[i].root;
    return KEEL_NONE;
}

static void fold_arguments(const keel_clusters_t *clusters, const keel_cluster_t *cluster,
                           uint32_t root) {
    keel_diff_t *diff = clusters->diff;
    if (!cluster->reads_before && !cluster->reads_after && !cluster->reads_passed &&
        !diff->is_swapped)
        return;
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (diff->roots[i].difference.kind == KEEL_CAUSE_ARGUMENTS &&
            diff->roots[i].follows == KEEL_NONE &&
            comes_with_branch(&diff->roots[i], clusters->is_swap))
            diff->roots[i].follows = root;
}

void keel_diff_exchange(keel_diff_t *diff, uint32_t gone, uint32_t came) {
    keel_difference_t *told = &diff->roots[came].difference;
    diff->roots[gone].follows = came;
    told->old_value = diff->roots[gone].difference.old_value;
    told->old_op = diff->roots[gone].difference.old_op;
    if (strcmp(told->old_value, told->new_value) == 0)
        keel_diff_ops(diff, told->old_op, told->new_op, told);
}

// Follows from a random key of another kind. A key that was added came with a branch itself.
static bool is_of_key(const keel_diff_t *diff, uint32_t taint) {
    if (!taint) return false;
    const keel_root_t *root = &diff->roots[taint - 1];
    return root->is_random && root->difference.kind != KEEL_CAUSE_ARGUMENTS;
}

// What made a dimension 1, or no longer 1: a shape, or how many arguments there are. The client
// leaves out sums over such a dimension and broadcasts along it.
static uint32_t find_size_of_one(const keel_diff_t *diff, uint32_t taint) {
    for (uint32_t i = 0; i < diff->sizes.count; ++i) {
        const keel_drift_t *drift = &diff->sizes.drifts[i];
        bool is_of_one = drift->before == 1 || drift->after == 1;
        if (!is_of_one || drift->root >= diff->root_count) continue; // a drift may have no root
        keel_cause_t kind = diff->roots[drift->root].difference.kind;
        bool is_of_arguments = kind == KEEL_CAUSE_SHAPE || kind == KEEL_CAUSE_ARGUMENTS;
        if ((!taint || drift->root == taint - 1) && is_of_arguments) return drift->root;
    }
    return KEEL_NONE;
}

// An expression that both programs have calls another function. Clients also leave out what a
// dimension of 1 does not need: then both functions must compute something.
static bool is_exchange(const keel_diff_t *diff, const keel_cluster_t *cluster) {
    if (find_size_of_one(diff, cluster->taint) == KEEL_NONE)
        return cluster->works_before || cluster->works_after;
    return cluster->works_before && cluster->works_after;
}

// Different operations on expressions that both programs have, on values whose type drifted: a
// function of the client's depends on the size, and no host value decided it. Not if another
// function is called on them. Or no operations are left at all.
static bool is_of_drift(const keel_diff_t *diff, const keel_cluster_t *cluster) {
    bool is_idle = keel_graph_is_idle(&diff->before) || keel_graph_is_idle(&diff->after);
    bool is_of_size = cluster->is_on_common && !is_exchange(diff, cluster);
    if ((!is_of_size && !is_idle) || !cluster->taint) return false;
    const keel_root_t *root = &diff->roots[cluster->taint - 1];
    return root->follows == KEEL_NONE && root->difference.kind == KEEL_CAUSE_SHAPE;
}

// HLO: all of it is written by a library that a line of the user's calls in both programs: a
// library has ways of its own for a single element.
static bool is_library_branch(const keel_clusters_t *clusters, uint32_t representative) {
    keel_diff_t *diff = clusters->diff;
    if (!diff->after.lender) return false;
    for (uint32_t at = representative; at != KEEL_NONE; at = clusters->next[at]) {
        bool is_after = at >= clusters->split;
        keel_op_id_t op;
        keel_clusters_graph(clusters, at, &op);
        const keel_source_line_t *line =
            keel_graph_line(is_after ? &diff->after : &diff->before, op);
        const keel_lines_t *other = is_after ? &clusters->lines_before : &clusters->lines_after;
        if (!line->library_file.size || keel_lines_first(other, line) == KEEL_NONE) return false;
    }
    return true;
}

static uint32_t explained_by(const keel_clusters_t *clusters, uint32_t representative,
                             bool is_repeated) {
    const keel_diff_t *diff = clusters->diff;
    const keel_cluster_t *cluster = &clusters->items[representative];
    if (is_marking(cluster)) return keel_diff_find(diff, KEEL_CAUSE_SHARDING);
    if (is_key_style(cluster)) return KEEL_NONE;
    // A line that runs once for each argument need not be the one that reads the new one.
    if (cluster->reads_before || cluster->reads_after || is_repeated) {
        uint32_t root = keel_diff_find(diff, KEEL_CAUSE_GRADIENT);
        if (root == KEEL_NONE) root = find_arguments(diff, clusters->is_swap);
        if (root != KEEL_NONE) return root;
    }
    if (cluster->reads_passed) {
        uint32_t root = find_deciding(diff->arguments_before, diff->before_count);
        if (root == KEEL_NONE) root = find_deciding(diff->arguments_after, diff->after_count);
        if (root != KEEL_NONE) return root;
    }
    uint32_t weak = keel_diff_find(diff, KEEL_CAUSE_WEAK_TYPE);
    if (weak != KEEL_NONE && cluster->is_trivial) return weak;
    if (diff->rank_root != KEEL_NONE && cluster->is_trivial) return diff->rank_root;
    if (diff->baked_root != KEEL_NONE && cluster->is_trivial) return diff->baked_root;
    if (is_of_key(diff, cluster->taint)) return cluster->taint - 1;
    if (cluster->apart && diff->roots[cluster->apart - 1].difference.kind == KEEL_CAUSE_DTYPE)
        return cluster->apart - 1;
    // A condition that was bool is now compared with zero; integers have their own remainder
    // operation.
    bool is_conversion = cluster->is_clients && cluster->taint &&
                         diff->roots[cluster->taint - 1].difference.kind == KEEL_CAUSE_DTYPE;
    if (!is_repeated && is_of_drift(diff, cluster)) return cluster->taint - 1;
    uint32_t one = cluster->only_sums ? find_size_of_one(diff, cluster->taint) : KEEL_NONE;
    if (one == KEEL_NONE && is_library_branch(clusters, representative))
        one = find_size_of_one(diff, cluster->taint);
    if (one != KEEL_NONE) return one;
    if (!cluster->is_trivial && !is_conversion) return KEEL_NONE;
    if (cluster->taint) return cluster->taint - 1;
    if (cluster->is_pending && keel_diff_find(diff, KEEL_CAUSE_STRUCTURE) != KEEL_NONE)
        return keel_diff_find(diff, KEEL_CAUSE_STRUCTURE);
    static const keel_cause_t moved[] = {KEEL_CAUSE_DTYPE, KEEL_CAUSE_SHAPE, KEEL_CAUSE_PRECISION,
                                         KEEL_CAUSE_SHARDING};
    uint32_t root = KEEL_NONE;
    for (size_t i = 0; root == KEEL_NONE && i < sizeof moved / sizeof *moved; ++i)
        root = keel_diff_find(diff, moved[i]);
    return root;
}

static void look_for_swap(keel_clusters_t *clusters) {
    bool is_gone = false, is_new = false, computes = false;
    for (uint32_t at = 0; at < clusters->count; ++at) {
        const keel_cluster_t *cluster = &clusters->items[at];
        if (!clusters->alone[at] || keel_clusters_find(clusters, at) != at) continue;
        is_gone = is_gone || cluster->before_count;
        is_new = is_new || cluster->after_count;
        computes = computes || !cluster->is_trivial;
    }
    clusters->is_swap = (is_gone && is_new && computes) || clusters->diff->is_swapped;
}

// A number that is not a Python number any more leads the conversion of the array that it meets.
static bool leads_conversion(keel_diff_t *diff, const keel_difference_t *weak, uint32_t root) {
    const keel_root_t *conversion = &diff->roots[root];
    return conversion->difference.kind == KEEL_CAUSE_DTYPE && conversion->follows == KEEL_NONE &&
           keel_diff_meets_number(diff, &conversion->difference, weak->subject);
}

static keel_status_t tell_cluster(keel_clusters_t *clusters, uint32_t at) {
    keel_diff_t *diff = clusters->diff;
    keel_cluster_t *cluster = &clusters->items[at];
    choose_first(clusters, at);
    keel_times_t times = {0, 0};
    if (!is_weak(cluster) && !is_marking(cluster))
        KEEL_TRY(keel_clusters_rounds(clusters, cluster, &times));
    uint32_t root = explained_by(clusters, at, times.before > 0);
    cluster->root = root;
    if (root == KEEL_NONE ? diff->root_count == KEEL_DIFF_ROOTS : keel_diff_is_full(diff)) {
        keel_diff_count(diff, root);
        return NULL;
    }
    keel_difference_t difference = describe_cluster(clusters, at, times);
    uint32_t led = KEEL_NONE;
    if (root != KEEL_NONE && difference.kind == KEEL_CAUSE_WEAK_TYPE &&
        leads_conversion(diff, &difference, root)) {
        led = root;
        root = KEEL_NONE;
    }
    if (root != KEEL_NONE) return keel_diff_fold(diff, root, &difference);
    uint32_t known = diff->root_count;
    KEEL_TRY(keel_diff_root(diff, &difference, &root));
    if (led != KEEL_NONE && diff->root_count > known) diff->roots[led].follows = root;
    cluster->root = root;
    if (diff->root_count > known) {
        diff->roots[root].operations = cluster->before_count + cluster->after_count;
        diff->roots[root].before = times.before;
        diff->roots[root].after = times.after;
        diff->roots[root].is_repeated = times.before > 0;
        diff->roots[root].is_exchange = is_exchange(diff, cluster);
        diff->roots[root].is_reordered = diff->after.lender && !cluster->has_computed;
    }
    fold_arguments(clusters, cluster, root);
    return NULL;
}

// The argument that the operations came with: a new one rather than one that moved.
static uint32_t leading_argument(const keel_diff_t *diff) {
    uint32_t found = KEEL_NONE;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_root_t *root = &diff->roots[i];
        if (root->difference.kind != KEEL_CAUSE_ARGUMENTS || root->follows != KEEL_NONE) continue;
        if (root->passing != KEEL_PASSED && !root->is_moved) return i;
        if (root->passing != KEEL_PASSED && found == KEEL_NONE) found = i;
    }
    return found;
}

// An argument that was passed both times, in any place, is not a cause: it came with one, if there
// is any.
static void fold_passed(keel_diff_t *diff) {
    uint32_t top = keel_diff_find(diff, KEEL_CAUSE_STRUCTURE);
    if (top == KEEL_NONE) top = leading_argument(diff);
    for (uint32_t i = 0; top != KEEL_NONE && i < diff->root_count; ++i)
        if (diff->roots[i].difference.kind == KEEL_CAUSE_ARGUMENTS &&
            diff->roots[i].follows == KEEL_NONE && i != top &&
            (diff->roots[i].passing == KEEL_PASSED || diff->roots[i].is_moved))
            diff->roots[i].follows = top;
}

// PyTorch's own code in Python; "" if it is not a library's.
static const char *library_of(const keel_root_t *root) {
    const char *file = root->difference.place.library_file;
    return root->difference.kind == KEEL_CAUSE_STRUCTURE && file ? file : "";
}

// True for an operation that has only the line of another one: a thread of autograd's recorded it.
// What a reduction calls has no line either, but it is not a gradient.
static bool is_without_line(const keel_graph_t *graph, keel_op_id_t op) {
    return graph->lender && op != KEEL_NONE && graph->lender[op] != op &&
           graph->lender[op] != KEEL_NONE;
}

// What backward() computes follows from what was recorded before.
static bool is_gradients(keel_diff_t *diff, const keel_root_t *root) {
    const keel_difference_t *difference = &root->difference;
    if (strstr(library_of(root), "/torch/autograd/")) return true;
    if (difference->kind != KEEL_CAUSE_STRUCTURE) return false;
    return difference->new_op == KEEL_NONE ? is_without_line(&diff->before, difference->old_op)
                                           : is_without_line(&diff->after, difference->new_op);
}

static bool is_optimizers(const keel_root_t *root) {
    return keel_diff_is_optimizers_file(keel_str(library_of(root)));
}

// The first root that tells of a branch of the user's; as many as there are roots if none does.
static uint32_t find_branch(keel_diff_t *diff, uint32_t first_root) {
    uint32_t top = first_root;
    while (top < diff->root_count &&
           (diff->roots[top].difference.kind != KEEL_CAUSE_STRUCTURE ||
            diff->roots[top].follows != KEEL_NONE || diff->roots[top].is_reordered ||
            is_gradients(diff, &diff->roots[top]) || is_optimizers(&diff->roots[top])))
        ++top;
    return top;
}

// What an optimizer does with the weights of a layer comes and goes with the layer.
static void lead_layers(keel_diff_t *diff, uint32_t first_root) {
    uint32_t top = find_branch(diff, first_root);
    bool has_layer = false;
    for (uint32_t i = 0; top < diff->root_count && i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->difference.kind != KEEL_CAUSE_ARGUMENTS || root->follows == KEEL_NONE ||
            !root->is_layer)
            continue;
        root->follows = top;
        has_layer = true;
    }
    for (uint32_t i = first_root; has_layer && i < diff->root_count; ++i)
        if (diff->roots[i].follows == KEEL_NONE && is_optimizers(&diff->roots[i]))
            diff->roots[i].follows = top;
}

// The first root that may have led to other gradients; as many as there are roots if there is none.
static uint32_t find_forward(keel_diff_t *diff) {
    uint32_t top = find_branch(diff, 0);
    if (top < diff->root_count) return top;
    for (top = 0; top < diff->root_count; ++top) {
        const keel_root_t *root = &diff->roots[top];
        keel_cause_t kind = root->difference.kind;
        if (root->follows == KEEL_NONE && kind != KEEL_CAUSE_STRUCTURE &&
            kind != KEEL_CAUSE_DONATION && kind != KEEL_CAUSE_LAYOUT)
            break;
    }
    return top;
}

// Gradients follow from what was recorded before.
static void fold_gradients(keel_diff_t *diff, uint32_t first_root) {
    uint32_t top = find_forward(diff);
    for (uint32_t i = first_root; top < diff->root_count && i < diff->root_count; ++i)
        if (diff->roots[i].follows == KEEL_NONE && is_gradients(diff, &diff->roots[i]))
            diff->roots[i].follows = top;
}

// A library's line that runs more often, or an additional call, follows from a line that only one
// program has.
static void fold_repeated(keel_diff_t *diff, uint32_t first_root) {
    uint32_t top = first_root;
    while ((top = find_branch(diff, top)) < diff->root_count && diff->roots[top].is_repeated)
        ++top;
    for (uint32_t i = first_root; top < diff->root_count && i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->is_repeated && root->follows == KEEL_NONE &&
            (*library_of(root) || strcmp(root->difference.subject, "call") == 0))
            root->follows = top;
    }
}

static keel_status_t explain_clusters(keel_clusters_t *clusters) {
    uint32_t first_root = clusters->diff->root_count;
    keel_diff_note_layers(clusters->diff);
    look_for_swap(clusters);
    for (uint32_t at = 0; at < clusters->count; ++at)
        if (clusters->alone[at] && keel_clusters_find(clusters, at) == at)
            KEEL_TRY(tell_cluster(clusters, at));
    fold_repeated(clusters->diff, first_root);
    lead_layers(clusters->diff, first_root);
    fold_gradients(clusters->diff, first_root);
    keel_clusters_fold_updates(clusters);
    return NULL;
}

keel_status_t keel_diff_structure(keel_diff_t *diff) {
    keel_clusters_t clusters = {.diff = diff};
    keel_arena_initialize(&clusters.arena, 0);
    keel_lines_initialize(&clusters.lines_before);
    keel_lines_initialize(&clusters.lines_after);
    keel_places_initialize(&clusters.places);
    keel_status_t status = keel_clusters_gather(&clusters);
    if (!status) status = explain_clusters(&clusters);
    if (!status) fold_passed(diff);
    keel_lines_deinitialize(&clusters.lines_before);
    keel_lines_deinitialize(&clusters.lines_after);
    keel_places_deinitialize(&clusters.places);
    keel_arena_deinitialize(&clusters.arena);
    return status;
}
