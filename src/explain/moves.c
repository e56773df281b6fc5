// Operations without a counterpart that both sides of a cluster have: they are only in a different
// place.
#include "explain/clusters.h"

// Operations count as alike by name, line, and the dtypes and element counts of their results: a
// client may reshape before or after. A library's line is enough, as checkpointing calls the same
// layers from elsewhere.
typedef struct alike_t {
    uint32_t before, both;
} alike_t;

typedef struct look_t {
    uint64_t cluster, hash;
} look_t;

static uint64_t line_of(const keel_source_line_t *line) {
    if (!line->library_file.size) return line->identity;
    return keel_graph_join(keel_quick_hash(keel_str_bytes(line->library_file)), line->library_line);
}

static look_t look_of(keel_clusters_t *clusters, uint32_t at) {
    keel_op_id_t op;
    keel_clusters_graph(clusters, at, &op);
    keel_graph_t *graph = at >= clusters->split ? &clusters->diff->after : &clusters->diff->before;
    const keel_operation_t *operation = &graph->program->operations.data[op];
    uint64_t hash = keel_quick_hash(keel_str_bytes(keel_graph_name(graph, op)));
    hash = keel_graph_join(hash, line_of(keel_graph_line(graph, op)));
    for (uint32_t i = 0; i < operation->result_count; ++i) {
        keel_type_id_t type = keel_graph_type(graph, operation->first_result + i);
        keel_ints_t dims = keel_diff_dims(graph->program, type);
        uint64_t elements = 1;
        for (uint32_t k = 0; k < dims.count; ++k)
            elements *= (uint64_t)dims.items[k];
        hash =
            keel_graph_join(hash, keel_graph_join(keel_diff_element_hash(graph, type), elements));
    }
    return (look_t){keel_clusters_find(clusters, at), hash};
}

// The map holds numbers.
static uint64_t packed(alike_t alike) {
    return (uint64_t)alike.both << 32 | alike.before;
}
static alike_t unpacked(uint64_t value) {
    return (alike_t){.before = (uint32_t)value, .both = (uint32_t)(value >> 32)};
}

static keel_status_t count_before(keel_clusters_t *clusters, keel_map_t *looks) {
    for (uint32_t at = 0; at < clusters->split; ++at) {
        if (!clusters->alone[at]) continue;
        look_t look = look_of(clusters, at);
        uint64_t *known = keel_map_find(looks, keel_bytes(&look, sizeof look));
        if (known)
            ++*known;
        else
            KEEL_TRY(keel_map_put(looks, keel_bytes(&look, sizeof look), 1));
    }
    return NULL;
}

static void mark(keel_clusters_t *clusters, uint32_t at) {
    clusters->moved[at] = 1;
    clusters->items[keel_clusters_find(clusters, at)].has_moved = true;
}

static void mark_after(keel_clusters_t *clusters, const keel_map_t *looks) {
    for (uint32_t at = clusters->split; at < clusters->count; ++at) {
        if (!clusters->alone[at]) continue;
        look_t look = look_of(clusters, at);
        uint64_t *known = keel_map_find(looks, keel_bytes(&look, sizeof look));
        alike_t alike = known ? unpacked(*known) : (alike_t){0, 0};
        if (alike.both == alike.before) continue;
        ++alike.both;
        *known = packed(alike);
        mark(clusters, at);
    }
}

static void mark_before(keel_clusters_t *clusters, const keel_map_t *looks) {
    for (uint32_t at = 0; at < clusters->split; ++at) {
        if (!clusters->alone[at]) continue;
        look_t look = look_of(clusters, at);
        uint64_t *known = keel_map_find(looks, keel_bytes(&look, sizeof look));
        alike_t alike = known ? unpacked(*known) : (alike_t){0, 0};
        if (!alike.both) continue;
        --alike.both;
        *known = packed(alike);
        mark(clusters, at);
    }
}

bool keel_clusters_shows(const keel_graph_t *graph, keel_op_id_t op) {
    keel_str_t name = keel_graph_name(graph, op);
    bool is_own = !graph->lender || graph->lender[op] == op;
    return is_own && graph->constant[op] == KEEL_NONE && !keel_graph_only_reshapes(name) &&
           !keel_str_is(name, "tuple");
}

bool keel_clusters_is_telling(const keel_clusters_t *clusters, uint32_t at) {
    keel_op_id_t op;
    const keel_graph_t *graph = keel_clusters_graph(clusters, at, &op);
    return keel_clusters_shows(graph, op);
}

// A cluster is reported by these too if it has nothing more telling.
static void keep_reordered(keel_clusters_t *clusters) {
    for (uint32_t at = 0; at < clusters->count; ++at) {
        if (!clusters->alone[at] || clusters->moved[at]) continue;
        keel_op_id_t op;
        const keel_graph_t *graph = keel_clusters_graph(clusters, at, &op);
        keel_cluster_t *cluster = &clusters->items[keel_clusters_find(clusters, at)];
        if (keel_clusters_is_telling(clusters, at)) cluster->has_more = true;
        if (!keel_graph_only_reshapes(keel_graph_name(graph, op))) cluster->has_computed = true;
    }
    for (uint32_t at = 0; at < clusters->count; ++at) {
        if (!clusters->moved[at]) continue;
        keel_cluster_t *cluster = &clusters->items[keel_clusters_find(clusters, at)];
        if (cluster->has_more) continue;
        clusters->moved[at] = 0;
        cluster->has_moved = false;
    }
}

keel_status_t keel_clusters_find_moved(keel_clusters_t *clusters) {
    if (clusters->diff->after.program->format != KEEL_FORMAT_HLO) return NULL;
    keel_map_t looks;
    keel_map_initialize(&looks);
    keel_status_t status = count_before(clusters, &looks);
    if (!status) {
        mark_after(clusters, &looks);
        mark_before(clusters, &looks);
        keep_reordered(clusters);
    }
    keel_map_deinitialize(&looks);
    return status;
}
