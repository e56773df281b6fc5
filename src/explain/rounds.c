// How often a line ran in each program: a loop of another length, layers added.
#include "explain/clusters.h"

static uint32_t count_stack(const keel_lines_t *lines, const keel_source_line_t *line,
                            uint64_t stack, keel_str_t name) {
    uint32_t count = 0;
    for (keel_op_id_t op = keel_lines_first(lines, line); op != KEEL_NONE; op = lines->next[op])
        count += keel_clusters_shows(lines->graph, op) &&
                 keel_graph_line(lines->graph, op)->stack == stack &&
                 keel_str_equal(keel_graph_name(lines->graph, op), name);
    return count;
}

// HLO: how often a line ran, by what it does least often. If something is in both programs equally
// often, so did the line run, and a loop of a library that it calls has another length.
static keel_times_t count_rounds(const keel_clusters_t *clusters, const keel_source_line_t *line) {
    enum { LOOKED_AT = 1024 };
    const keel_lines_t *lines = &clusters->lines_after;
    keel_times_t rounds = {0, 0};
    keel_op_id_t op = keel_lines_first(lines, line);
    for (uint32_t i = 0; op != KEEL_NONE && i < LOOKED_AT; op = lines->next[op], ++i) {
        if (!keel_clusters_shows(lines->graph, op)) continue;
        // A comprehension and what takes its list are functions of one line.
        if (!keel_str_equal(keel_graph_line(lines->graph, op)->function, line->function)) continue;
        keel_str_t name = keel_graph_name(lines->graph, op);
        uint64_t stack = keel_graph_line(lines->graph, op)->stack;
        keel_times_t times = {count_stack(&clusters->lines_before, line, stack, name),
                              count_stack(lines, line, stack, name)};
        if (!times.before) continue;
        if (times.before == times.after) return (keel_times_t){0, 0};
        if (!rounds.before || times.before < rounds.before) rounds = times;
    }
    return rounds;
}

keel_times_t keel_clusters_rounds(const keel_clusters_t *clusters, const keel_cluster_t *cluster) {
    const keel_times_t nothing = {0, 0};
    keel_diff_t *diff = clusters->diff;
    bool is_after = cluster->first_after != KEEL_NONE;
    if (is_after && cluster->first_before != KEEL_NONE) return nothing;
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_op_id_t op = is_after ? cluster->first_after : cluster->first_before;
    const keel_source_line_t *line = keel_graph_line(graph, op);
    if (!line->identity) return nothing;
    if (graph->lender) return count_rounds(clusters, line);
    keel_str_t name = keel_graph_name(graph, op), primitive = keel_lines_primitive(graph, op);
    keel_times_t times = {keel_lines_count(&clusters->lines_before, line, name, primitive),
                          keel_lines_count(&clusters->lines_after, line, name, primitive)};
    return times.before && times.after && times.before != times.after ? times : nothing;
}
