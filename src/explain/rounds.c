// How often a line ran in each program: a loop of another length, layers added.
#include "explain/clusters.h"

// What a line does: one kind of operation on one stack of frames below it.
static uint64_t kind_of(const keel_lines_t *lines, keel_op_id_t op) {
    uint64_t name = keel_quick_hash(keel_str_bytes(keel_graph_name(lines->graph, op)));
    return keel_graph_join(name, keel_graph_line(lines->graph, op)->stack);
}

// A comprehension and what takes its list are functions of one line.
static bool counts(const keel_lines_t *lines, keel_op_id_t op, const keel_source_line_t *line) {
    return keel_clusters_shows(lines->graph, op) &&
           keel_str_equal(keel_graph_line(lines->graph, op)->function, line->function);
}

static keel_status_t count_kinds(const keel_lines_t *lines, const keel_source_line_t *line,
                                 keel_map_t *out) {
    for (keel_op_id_t op = keel_lines_first(lines, line); op != KEEL_NONE; op = lines->next[op]) {
        if (!counts(lines, op, line)) continue;
        uint64_t kind = kind_of(lines, op);
        uint64_t *known = keel_map_find(out, keel_bytes((const void *)&kind, sizeof kind));
        if (known)
            ++*known;
        else
            KEEL_TRY(keel_map_put(out, keel_bytes((const void *)&kind, sizeof kind), 1));
    }
    return NULL;
}

static keel_times_t compare_kinds(const keel_clusters_t *clusters, const keel_source_line_t *line,
                                  const keel_map_t *had, const keel_map_t *has) {
    const keel_lines_t *lines = &clusters->lines_after;
    keel_times_t rounds = {0, 0};
    for (keel_op_id_t op = keel_lines_first(lines, line); op != KEEL_NONE; op = lines->next[op]) {
        if (!counts(lines, op, line)) continue;
        uint64_t kind = kind_of(lines, op);
        keel_bytes_t key = keel_bytes((const void *)&kind, sizeof kind);
        const uint64_t *before = keel_map_find(had, key), *after = keel_map_find(has, key);
        if (!before || !after) continue;
        if (*before == *after) return (keel_times_t){0, 0};
        if (!rounds.before || *before < rounds.before)
            rounds = (keel_times_t){(uint32_t)*before, (uint32_t)*after};
    }
    return rounds;
}

// HLO: how often a line ran, by what it does least often. If something is in both programs equally
// often, so did the line run, and a loop of a library that it calls has another length.
static keel_status_t count_rounds(const keel_clusters_t *clusters, const keel_source_line_t *line,
                                  keel_times_t *out) {
    keel_map_t had, has;
    keel_map_initialize(&had);
    keel_map_initialize(&has);
    keel_status_t status = count_kinds(&clusters->lines_before, line, &had);
    if (!status) status = count_kinds(&clusters->lines_after, line, &has);
    if (!status) *out = compare_kinds(clusters, line, &had, &has);
    keel_map_deinitialize(&had);
    keel_map_deinitialize(&has);
    return status;
}

keel_status_t keel_clusters_rounds(const keel_clusters_t *clusters, const keel_cluster_t *cluster,
                                   keel_times_t *out) {
    keel_diff_t *diff = clusters->diff;
    bool is_after = cluster->first_after != KEEL_NONE;
    *out = (keel_times_t){0, 0};
    if (is_after && cluster->first_before != KEEL_NONE) return NULL;
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_op_id_t op = is_after ? cluster->first_after : cluster->first_before;
    const keel_source_line_t *line = keel_graph_line(graph, op);
    if (!line->identity) return NULL;
    if (graph->lender) return count_rounds(clusters, line, out);
    keel_str_t name = keel_graph_name(graph, op), primitive = keel_lines_primitive(graph, op);
    keel_times_t times = {keel_lines_count(&clusters->lines_before, line, name, primitive),
                          keel_lines_count(&clusters->lines_after, line, name, primitive)};
    if (times.before && times.after && times.before != times.after) *out = times;
    return NULL;
}
