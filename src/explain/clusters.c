#include "explain/clusters.h"

static void unite(keel_clusters_t *clusters, uint32_t a, uint32_t b) {
    a = keel_clusters_find(clusters, a);
    b = keel_clusters_find(clusters, b);
    if (a < b)
        clusters->parent[b] = a;
    else
        clusters->parent[a] = b;
}

static bool has_counterpart(const keel_clusters_t *clusters, uint32_t at) {
    const keel_diff_t *diff = clusters->diff;
    if (at >= clusters->split) return diff->origin[at - clusters->split] != KEEL_NONE;
    return diff->counterpart[at] != KEEL_NONE;
}

// ---- gathering ---------------------------------------------------------------------------------

// Marks the operations of one function that have no counterpart, and gives the first of this side
// for each gap.
static void mark_gaps(keel_clusters_t *clusters, uint32_t from, uint32_t end, uint32_t *gaps,
                      uint32_t gap_count) {
    uint32_t gap = 0;
    for (uint32_t at = from; at < end; ++at) {
        keel_op_id_t op;
        const keel_graph_t *graph = keel_clusters_graph(clusters, at, &op);
        if (graph->constant[op] != KEEL_NONE || graph->is_spare[op]) continue;
        if (has_counterpart(clusters, at)) {
            if (gap + 1 < gap_count) ++gap;
            continue;
        }
        clusters->alone[at] = 1;
        if (gaps[gap] == KEEL_NONE)
            gaps[gap] = at;
        else
            unite(clusters, gaps[gap], at);
    }
}

static keel_status_t mark_function(keel_clusters_t *clusters, keel_function_pair_t functions) {
    keel_op_id_t first, end, other_first, other_end;
    keel_graph_body(&clusters->diff->before, functions.before, &first, &end);
    keel_graph_body(&clusters->diff->after, functions.after, &other_first, &other_end);
    uint32_t gap_count = (end > first ? end - first : 0) + 1;
    void *memory = NULL;
    KEEL_TRY(keel_realloc_array(gap_count, sizeof(uint32_t), &memory));
    memset(memory, 0xff, gap_count * sizeof(uint32_t));
    mark_gaps(clusters, first, end, memory, gap_count);
    mark_gaps(clusters, clusters->split + other_first, clusters->split + other_end, memory,
              gap_count);
    keel_free(memory);
    return NULL;
}

static void unite_by_flow(keel_clusters_t *clusters) {
    for (uint32_t at = 0; at < clusters->count; ++at) {
        if (!clusters->alone[at]) continue;
        keel_op_id_t op;
        const keel_graph_t *graph = keel_clusters_graph(clusters, at, &op);
        keel_list_t operands = keel_program_operands(graph->program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            keel_op_id_t producer = graph->producer[operands.items[i]];
            if (producer == KEEL_NONE) continue;
            uint32_t source = producer + (at >= clusters->split ? clusters->split : 0);
            if (clusters->alone[source]) unite(clusters, source, at);
        }
    }
}

static keel_status_t unite_by_line(keel_clusters_t *clusters) {
    keel_map_t lines;
    keel_map_initialize(&lines);
    keel_status_t status = NULL;
    for (uint32_t at = 0; !status && at < clusters->count; ++at) {
        if (!clusters->alone[at]) continue;
        keel_op_id_t op;
        bool is_after = at >= clusters->split;
        keel_clusters_graph(clusters, at, &op);
        keel_diff_t *diff = clusters->diff;
        const keel_source_line_t *line =
            keel_graph_line(is_after ? &diff->after : &diff->before, op);
        if (!line->identity) continue;
        keel_bytes_t key = keel_bytes(&line->identity, sizeof line->identity);
        const uint64_t *known = keel_map_find(&lines, key);
        if (known)
            unite(clusters, (uint32_t)*known, at);
        else
            status = keel_map_put(&lines, key, at);
    }
    keel_map_deinitialize(&lines);
    return status;
}

// ---- what a cluster is -------------------------------------------------------------------------

static bool is_trivial(keel_str_t name) {
    return keel_graph_only_reshapes(name) || keel_str_is(name, "return") ||
           keel_str_is(name, "tuple");
}

// A sum over no dimension, which JAX writes for the gradient of a broadcast.
static bool reduces_nothing(keel_graph_t *graph, keel_op_id_t op) {
    keel_list_t operands = keel_program_operands(graph->program, op);
    const keel_operation_t *operation = &graph->program->operations.data[op];
    return keel_str_is(keel_graph_name(graph, op), "reduce") && operands.count == 2 &&
           operation->result_count == 1 &&
           keel_graph_type_hash(graph, keel_graph_type(graph, operands.items[0])) ==
               keel_graph_type_hash(graph, keel_graph_type(graph, operation->first_result));
}

// In HLO an operation states the sharding of a value.
static bool marks_sharding(const keel_graph_t *graph, keel_op_id_t op) {
    const keel_program_t *program = graph->program;
    keel_str_t name = keel_graph_name(graph, op);
    if (keel_str_is(name, "sharding_constraint") || keel_str_is(name, "reshard")) return true;
    bool is_hlo = keel_str_is(name, "custom-call");
    if (!is_hlo && !keel_str_is(name, "custom_call")) return false;
    keel_attr_id_t target =
        keel_program_dict_find(program, program->operations.data[op].attributes,
                               is_hlo ? "custom_call_target" : "call_target_name");
    return keel_program_attr(program, target)->kind == KEEL_ATTR_STRING &&
           keel_str_is(keel_program_str(program, keel_program_attr(program, target)->a),
                       "Sharding");
}

// 1 + the root that a value's type follows from, or that of its counterpart; 0.
static uint32_t taint_of(const keel_diff_t *diff, bool is_after, keel_value_id_t value) {
    if (!is_after) value = diff->value_counterpart[value];
    uint32_t taint = value == KEEL_NONE ? 0 : diff->taint[value];
    return taint == KEEL_PENDING + 1 ? 0 : taint;
}

static bool moves_data(keel_str_t name) {
    static const char *const moves[] = {"slice", "dynamic_slice", "dynamic_update_slice", "return"};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; ++i)
        if (keel_str_is(name, moves[i])) return true;
    return keel_graph_only_reshapes(name);
}

// Reads or writes one element of an array, as a loop does with what it iterates over and with what
// it keeps for its gradient.
static bool calls_move(const keel_graph_t *graph, keel_op_id_t op) {
    enum { FEW = 32 };
    uint32_t callee = keel_graph_callee(graph, op);
    if (callee == KEEL_NONE) return false;
    keel_op_id_t first, end;
    keel_graph_body(graph, callee, &first, &end);
    if (end - first > FEW) return false;
    for (keel_op_id_t at = first; at < end; ++at) {
        // An index counted from the end is computed first.
        keel_value_id_t result = graph->program->operations.data[at].first_result;
        bool is_index = graph->program->operations.data[at].result_count == 1 &&
                        !keel_diff_dims(graph->program, keel_graph_type(graph, result)).count;
        if (graph->constant[at] == KEEL_NONE && !is_index &&
            !moves_data(keel_graph_name(graph, at)))
            return false;
    }
    return true;
}

static bool is_of_clients(const keel_graph_t *graph, keel_op_id_t op) {
    keel_str_t name = keel_graph_name(graph, op);
    return keel_str_is(name, "compare") || keel_graph_is_clients(graph, op) ||
           calls_move(graph, op);
}

static keel_op_id_t end_of(const keel_graph_t *graph, keel_op_id_t op) {
    keel_region_run_t regions = keel_program_regions(graph->program, op);
    return regions.count ? regions.items[regions.count - 1].end : op + 1;
}

// If the value is an argument that the other program lacks, or has elsewhere.
static void note_argument(const keel_clusters_t *clusters, bool is_after, keel_value_id_t value,
                          keel_cluster_t *cluster) {
    const keel_diff_t *diff = clusters->diff;
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_argument_t *arguments = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t count = is_after ? diff->after_count : diff->before_count;
    value = keel_graph_outermost(graph, value);
    if (graph->producer[value] != KEEL_NONE &&
        !keel_str_is(keel_graph_name(graph, graph->producer[value]), "parameter"))
        return;
    uint32_t number = keel_diff_argument(arguments, count, value);
    if (number == KEEL_NONE) return;
    if (arguments[number].counterpart != KEEL_NONE && !arguments[number].is_moved) return;
    arguments[number].is_read = true;
    if (arguments[number].passing == KEEL_PASSED)
        cluster->reads_passed = true;
    else
        *(is_after ? &cluster->reads_after : &cluster->reads_before) = true;
}

// JAX computes many functions of a complex value by its parts.
static bool takes_apart(keel_str_t name) {
    return keel_str_is(name, "real") || keel_str_is(name, "imag");
}

// HLO: a conversion of what another cluster gave another dtype: the .float() behind autocast.
static bool is_pending(keel_clusters_t *clusters, bool is_after, const keel_graph_t *graph,
                       keel_op_id_t op, keel_value_id_t value) {
    keel_diff_t *diff = clusters->diff;
    keel_value_id_t other = is_after ? diff->value_origin[value] : diff->value_counterpart[value];
    if (other == KEEL_NONE || !keel_str_is(keel_graph_name(graph, op), "convert")) return false;
    keel_value_id_t before = is_after ? other : value, after = is_after ? value : other;
    return diff->taint[after] == KEEL_PENDING + 1 &&
           keel_diff_element_hash(&diff->before, keel_graph_type(&diff->before, before)) !=
               keel_diff_element_hash(&diff->after, keel_graph_type(&diff->after, after));
}

static void look_at_operands(keel_clusters_t *clusters, uint32_t at, keel_cluster_t *cluster) {
    keel_op_id_t op;
    const keel_graph_t *graph = keel_clusters_graph(clusters, at, &op);
    bool is_after = at >= clusters->split;
    keel_list_t operands = keel_program_operands(graph->program, op);
    for (uint32_t i = 0; i < operands.count; ++i) {
        uint32_t taint = taint_of(clusters->diff, is_after, operands.items[i]);
        if (!cluster->taint) cluster->taint = taint;
        if (is_pending(clusters, is_after, graph, op, operands.items[i]))
            cluster->is_pending = true;
        if (!cluster->apart && takes_apart(keel_graph_name(graph, op))) cluster->apart = taint;
        note_argument(clusters, is_after, operands.items[i], cluster);
    }
}

// What was computed from a value is gone, or new, because an argument takes its place.
static void look_at_place(keel_clusters_t *clusters, bool is_after, keel_value_id_t value,
                          keel_value_id_t other) {
    keel_op_id_t op =
        (is_after ? &clusters->diff->after : &clusters->diff->before)->producer[value];
    if (op == KEEL_NONE) return;
    uint32_t at = op + (is_after ? clusters->split : 0);
    if (clusters->alone[at])
        note_argument(clusters, !is_after, other,
                      &clusters->items[keel_clusters_find(clusters, at)]);
}

static void look_at_places(keel_clusters_t *clusters) {
    const keel_diff_t *diff = clusters->diff;
    for (keel_op_id_t op = 0; op < keel_program_op_count(diff->after.program); ++op) {
        if (diff->origin[op] == KEEL_NONE) continue;
        keel_list_t x = keel_program_operands(diff->before.program, diff->origin[op]);
        keel_list_t y = keel_program_operands(diff->after.program, op);
        const uint32_t *from = keel_diff_operand_origins(diff, op);
        for (uint32_t i = 0; i < y.count; ++i) {
            if (from[i] >= x.count) continue;
            look_at_place(clusters, false, x.items[from[i]], y.items[i]);
            look_at_place(clusters, true, y.items[i], x.items[from[i]]);
        }
    }
}

// JAX converts a bare Python number even to the dtype that it already has.
static void look_for_weak(const keel_clusters_t *clusters, uint32_t at, keel_cluster_t *cluster) {
    keel_op_id_t op;
    const keel_graph_t *graph = keel_clusters_graph(clusters, at, &op);
    bool is_after = at >= clusters->split;
    bool is_first = cluster->before_count + cluster->after_count == 1;
    uint32_t found = keel_diff_weak_argument(clusters->diff, is_after, op);
    if (is_first)
        cluster->weak = found;
    else if (found != cluster->weak && !keel_graph_only_reshapes(keel_graph_name(graph, op)))
        cluster->weak = KEEL_NONE;
}

static void describe_clusters(keel_clusters_t *clusters) {
    uint32_t sum_end = 0, idle_end = 0; // the end of the operations that sum up, or do nothing
    for (uint32_t at = 0; at < clusters->count; ++at) {
        if (!clusters->alone[at]) continue;
        uint32_t representative = keel_clusters_find(clusters, at);
        keel_cluster_t *cluster = &clusters->items[representative];
        if (representative == at)
            *cluster = (keel_cluster_t){.first_before = KEEL_NONE,
                                        .first_after = KEEL_NONE,
                                        .is_trivial = true,
                                        .is_clients = true,
                                        .only_sums = true,
                                        .is_on_common = true,
                                        .only_unwraps = true,
                                        .marks = KEEL_NONE,
                                        .weak = KEEL_NONE};
        else
            clusters->next[cluster->last] = at;
        cluster->last = at;
        clusters->next[at] = KEEL_NONE;
        keel_op_id_t op;
        const keel_graph_t *graph = keel_clusters_graph(clusters, at, &op);
        bool is_after = at >= clusters->split;
        keel_op_id_t *first = is_after ? &cluster->first_after : &cluster->first_before;
        bool unwraps = keel_key_is_unwrapped(graph, op);
        if (*first == KEEL_NONE || (!unwraps && keel_key_is_unwrapped(graph, *first))) *first = op;
        cluster->only_unwraps = cluster->only_unwraps && unwraps;
        ++*(is_after ? &cluster->after_count : &cluster->before_count);
        keel_str_t name = keel_graph_name(graph, op);
        keel_graph_t *own = is_after ? &clusters->diff->after : &clusters->diff->before;
        if (reduces_nothing(own, op)) idle_end = at + (end_of(graph, op) - op);
        bool computes = !unwraps && at >= idle_end;
        if (computes && marks_sharding(graph, op)) {
            if (!cluster->marks_count++) cluster->marks = at;
        } else if (computes && !is_trivial(name)) {
            if (keel_str_is(name, "reduce")) sum_end = at + (end_of(graph, op) - op);
            cluster->only_sums = cluster->only_sums && at < sum_end;
            cluster->is_trivial = false;
            cluster->is_clients = cluster->is_clients && is_of_clients(graph, op);
        }
        cluster->is_on_common =
            cluster->is_on_common && keel_places_are_common(&clusters->places, own, op);
        if (keel_places_is_exchanged(&clusters->places, own, op))
            *(is_after ? &cluster->works_after : &cluster->works_before) = true;
        look_at_operands(clusters, at, cluster);
        look_for_weak(clusters, at, cluster);
    }
}

// ---- all of them -------------------------------------------------------------------------------

keel_status_t keel_clusters_gather(keel_clusters_t *clusters) {
    keel_diff_t *diff = clusters->diff;
    clusters->split = keel_program_op_count(diff->before.program);
    clusters->count = clusters->split + keel_program_op_count(diff->after.program);
    size_t count = clusters->count ? clusters->count : 1;
    keel_arena_t *arena = &clusters->arena;
    KEEL_TRY(keel_arena_array(arena, count, sizeof(uint32_t), (void **)&clusters->parent));
    KEEL_TRY(keel_arena_array(arena, count, 1, (void **)&clusters->alone));
    KEEL_TRY(keel_arena_array(arena, count, sizeof(uint32_t), (void **)&clusters->next));
    KEEL_TRY(keel_arena_array(arena, count, sizeof(keel_cluster_t), (void **)&clusters->items));
    KEEL_TRY(keel_arena_array(arena, count, 1, (void **)&clusters->moved));
    memset(clusters->alone, 0, count);
    memset(clusters->moved, 0, count);
    for (uint32_t at = 0; at < clusters->count; ++at)
        clusters->parent[at] = at;
    for (uint32_t i = 0; i < diff->function_count; ++i)
        KEEL_TRY(mark_function(clusters, diff->functions[i]));
    if (!memchr(clusters->alone, 1, count)) return NULL;
    KEEL_TRY(keel_places_note(&clusters->places, &diff->before, false));
    KEEL_TRY(keel_places_note(&clusters->places, &diff->after, true));
    unite_by_flow(clusters);
    KEEL_TRY(unite_by_line(clusters));
    describe_clusters(clusters);
    KEEL_TRY(keel_clusters_find_moved(clusters));
    look_at_places(clusters);
    KEEL_TRY(keel_lines_build(&clusters->lines_before, &diff->before, arena));
    return keel_lines_build(&clusters->lines_after, &diff->after, arena);
}
