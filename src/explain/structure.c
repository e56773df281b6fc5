// Operations that have no counterpart. They are gathered into clusters: what flows into each other,
// what stands on one line of the source, and what stands in the same gap between operations that do
// have one. A cluster is one root, unless something else explains it.
#include <stdio.h>

#include "explain/diff.h"
#include "explain/lines.h"

typedef struct cluster_t {
    keel_op_id_t first_before, first_after; // NONE
    uint32_t before_count, after_count;
    uint32_t last;      // of its members
    uint32_t taint;     // 1 + a root that an operand follows from
    bool is_trivial;    // it only changes shapes and dtypes
    bool is_clients;    // or compares, or is part of a function of the client's (is_clients_own)
    keel_op_id_t marks; // HLO: the first operation that says a sharding, where others only change
                        // shapes and dtypes; NONE
    uint32_t marks_count;
    bool only_unwraps; // it takes the words out of a typed key, and does nothing else
    uint32_t weak;     // the scalar argument that it does nothing but convert; NONE
    bool reads_before; // an argument that is gone
    bool reads_after;  // an argument that was added
    bool reads_passed; // one that is in one program only, and was passed both times
} cluster_t;

// Operations of both sides in one range: those of `after` stand behind those of `before`.
typedef struct clusters_t {
    keel_diff_t *diff;
    keel_arena_t arena;
    uint32_t *parent; // union-find
    uint8_t *alone;   // has no counterpart, in a function that was compared
    uint32_t split, count;
    cluster_t *items; // by representative, which is the first of a cluster's members
    uint32_t *next;   // by member: the next one of its cluster; NONE
    keel_lines_t lines_before, lines_after;
    bool is_swap; // operations are gone, and others are there instead
} clusters_t;

static uint32_t find(clusters_t *clusters, uint32_t at) {
    while (clusters->parent[at] != at) {
        clusters->parent[at] = clusters->parent[clusters->parent[at]];
        at = clusters->parent[at];
    }
    return at;
}

static void unite(clusters_t *clusters, uint32_t a, uint32_t b) {
    a = find(clusters, a);
    b = find(clusters, b);
    if (a < b)
        clusters->parent[b] = a;
    else
        clusters->parent[a] = b;
}

static const keel_graph_t *graph_of(const clusters_t *clusters, uint32_t at, keel_op_id_t *op) {
    bool is_after = at >= clusters->split;
    *op = is_after ? at - clusters->split : at;
    return is_after ? &clusters->diff->after : &clusters->diff->before;
}

static bool has_counterpart(const clusters_t *clusters, uint32_t at) {
    const keel_diff_t *diff = clusters->diff;
    if (at >= clusters->split) return diff->origin[at - clusters->split] != KEEL_NONE;
    return diff->counterpart[at] != KEEL_NONE;
}

static bool is_whole(const clusters_t *clusters, uint32_t at) {
    const keel_diff_t *diff = clusters->diff;
    return at < clusters->split ? diff->is_whole_before[at]
                                : diff->is_whole_after[at - clusters->split];
}

// ---- gathering ---------------------------------------------------------------------------------

// Marks what is alone in one function, and gives for each gap the first one of this side.
static void mark(clusters_t *clusters, uint32_t from, uint32_t end, uint32_t *gaps,
                 uint32_t gap_count) {
    uint32_t gap = 0;
    for (uint32_t at = from; at < end; ++at) {
        keel_op_id_t op;
        const keel_graph_t *graph = graph_of(clusters, at, &op);
        if (graph->constant[op] != KEEL_NONE || is_whole(clusters, at)) continue;
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

static keel_status_t mark_function(clusters_t *clusters, keel_function_pair_t functions) {
    keel_op_id_t first, end, other_first, other_end;
    keel_graph_body(&clusters->diff->before, functions.before, &first, &end);
    keel_graph_body(&clusters->diff->after, functions.after, &other_first, &other_end);
    uint32_t gap_count = (end > first ? end - first : 0) + 1;
    void *memory = NULL;
    KEEL_TRY(keel_realloc_array(gap_count, sizeof(uint32_t), &memory));
    memset(memory, 0xff, gap_count * sizeof(uint32_t));
    mark(clusters, first, end, memory, gap_count);
    mark(clusters, clusters->split + other_first, clusters->split + other_end, memory, gap_count);
    keel_free(memory);
    return NULL;
}

static void unite_by_flow(clusters_t *clusters) {
    for (uint32_t at = 0; at < clusters->count; ++at) {
        if (!clusters->alone[at]) continue;
        keel_op_id_t op;
        const keel_graph_t *graph = graph_of(clusters, at, &op);
        keel_list_t operands = keel_program_operands(graph->program, op);
        for (uint32_t i = 0; i < operands.count; ++i) {
            keel_op_id_t producer = graph->producer[operands.items[i]];
            if (producer == KEEL_NONE) continue;
            uint32_t source = producer + (at >= clusters->split ? clusters->split : 0);
            if (clusters->alone[source]) unite(clusters, source, at);
        }
    }
}

static keel_status_t unite_by_line(clusters_t *clusters) {
    keel_map_t lines;
    keel_map_initialize(&lines);
    keel_status_t status = NULL;
    for (uint32_t at = 0; !status && at < clusters->count; ++at) {
        if (!clusters->alone[at]) continue;
        keel_op_id_t op;
        bool is_after = at >= clusters->split;
        graph_of(clusters, at, &op);
        keel_diff_t *diff = clusters->diff;
        const keel_line_t *line = keel_graph_line(is_after ? &diff->after : &diff->before, op);
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

// The sharding of a value is said by an operation.
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

// In a function that has no line of its own: jnp.remainder, jnp.where. What the client computes
// there depends on nothing but what it is given.
static bool is_clients_own(const keel_graph_t *graph, keel_op_id_t op) {
    const keel_program_t *program = graph->program;
    uint32_t function = graph->function_of[op];
    if (program->format != KEEL_FORMAT_MLIR || function == KEEL_NONE || function == program->entry)
        return false;
    keel_frame_t frame;
    return !keel_program_frames(program, program->operations.data[op].location, &frame, 1, NULL);
}

static void look_at_operands(const clusters_t *clusters, uint32_t at, cluster_t *cluster) {
    const keel_diff_t *diff = clusters->diff;
    keel_op_id_t op;
    const keel_graph_t *graph = graph_of(clusters, at, &op);
    bool is_after = at >= clusters->split;
    keel_argument_t *arguments = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t count = is_after ? diff->after_count : diff->before_count;
    keel_list_t operands = keel_program_operands(graph->program, op);
    for (uint32_t i = 0; i < operands.count; ++i) {
        keel_value_id_t value = operands.items[i];
        if (!cluster->taint) cluster->taint = taint_of(diff, is_after, value);
        value = keel_graph_outermost(graph, value);
        if (graph->producer[value] != KEEL_NONE &&
            !keel_str_is(keel_graph_name(graph, graph->producer[value]), "parameter"))
            continue;
        uint32_t number = keel_diff_argument(arguments, count, value);
        if (number == KEEL_NONE) continue;
        if (arguments[number].counterpart != KEEL_NONE && !arguments[number].is_moved) continue;
        arguments[number].is_read = true;
        if (arguments[number].passing == KEEL_PASSED)
            cluster->reads_passed = true;
        else
            *(is_after ? &cluster->reads_after : &cluster->reads_before) = true;
    }
}

// JAX converts a bare Python number even to the dtype that it has.
static void look_for_weak(const clusters_t *clusters, uint32_t at, cluster_t *cluster) {
    keel_op_id_t op;
    const keel_graph_t *graph = graph_of(clusters, at, &op);
    bool is_after = at >= clusters->split;
    bool is_first = cluster->before_count + cluster->after_count == 1;
    uint32_t found = keel_diff_weak_argument(clusters->diff, is_after, op);
    if (is_first)
        cluster->weak = found;
    else if (!keel_graph_only_reshapes(keel_graph_name(graph, op)))
        cluster->weak = KEEL_NONE;
}

static void describe_clusters(clusters_t *clusters) {
    for (uint32_t at = 0; at < clusters->count; ++at) {
        if (!clusters->alone[at]) continue;
        uint32_t representative = find(clusters, at);
        cluster_t *cluster = &clusters->items[representative];
        if (representative == at)
            *cluster = (cluster_t){.first_before = KEEL_NONE,
                                   .first_after = KEEL_NONE,
                                   .is_trivial = true,
                                   .is_clients = true,
                                   .only_unwraps = true,
                                   .marks = KEEL_NONE,
                                   .weak = KEEL_NONE};
        else
            clusters->next[cluster->last] = at;
        cluster->last = at;
        clusters->next[at] = KEEL_NONE;
        keel_op_id_t op;
        const keel_graph_t *graph = graph_of(clusters, at, &op);
        bool is_after = at >= clusters->split;
        keel_op_id_t *first = is_after ? &cluster->first_after : &cluster->first_before;
        bool unwraps = keel_key_is_unwrapped(graph, op);
        if (*first == KEEL_NONE || (!unwraps && keel_key_is_unwrapped(graph, *first))) *first = op;
        cluster->only_unwraps = cluster->only_unwraps && unwraps;
        ++*(is_after ? &cluster->after_count : &cluster->before_count);
        keel_str_t name = keel_graph_name(graph, op);
        if (!unwraps && marks_sharding(graph, op)) {
            if (!cluster->marks_count++) cluster->marks = at;
        } else if (!unwraps && !is_trivial(name)) {
            cluster->is_trivial = false;
            cluster->is_clients =
                cluster->is_clients && (keel_str_is(name, "compare") || is_clients_own(graph, op));
        }
        look_at_operands(clusters, at, cluster);
        look_for_weak(clusters, at, cluster);
    }
}

// "multiply, add and 3 more"
static const char *list_names(const clusters_t *clusters, uint32_t representative, bool is_after) {
    enum { SHOWN = 3 };
    keel_buffer_t buffer;
    keel_buffer_initialize(&buffer, 0);
    keel_str_t shown[SHOWN];
    uint32_t shown_count = 0, rest = 0;
    for (uint32_t at = representative; at != KEEL_NONE; at = clusters->next[at]) {
        if ((at >= clusters->split) != is_after) continue;
        keel_op_id_t op;
        const keel_graph_t *graph = graph_of(clusters, at, &op);
        keel_str_t name = keel_graph_name(graph, op);
        if (keel_str_is(name, "return")) continue; // the end of what is listed before
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

// How often a line ran in each program. All zero where that tells nothing.
typedef struct times_t {
    uint32_t before, after;
} times_t;

// A line that ran another number of times: a loop of another length, layers added.
static times_t count_times(const clusters_t *clusters, const cluster_t *cluster) {
    const times_t nothing = {0, 0};
    keel_diff_t *diff = clusters->diff;
    bool is_after = cluster->first_after != KEEL_NONE;
    if (is_after && cluster->first_before != KEEL_NONE) return nothing;
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_op_id_t op = is_after ? cluster->first_after : cluster->first_before;
    const keel_line_t *line = keel_graph_line(graph, op);
    if (!line->identity) return nothing;
    keel_str_t primitive = KEEL_STR(""), name = keel_graph_name(graph, op);
    keel_program_frames(graph->program, graph->program->operations.data[op].location, NULL, 0,
                        &primitive);
    times_t times = {keel_lines_count(&clusters->lines_before, line, name, primitive),
                     keel_lines_count(&clusters->lines_after, line, name, primitive)};
    return times.before && times.after && times.before != times.after ? times : nothing;
}

static void tell_times(keel_diff_t *diff, times_t times, keel_difference_t *difference) {
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

// The lines that a cluster stands on; where `is_new`, those that the other program has none of.
// Clients drop what nothing uses, so lines before a branch may do more as well; those that only
// make keys for its random numbers surely do, and stand for it only where nothing else does.
static void list_lines(const clusters_t *clusters, uint32_t representative, bool is_after,
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
        graph_of(clusters, at, &op);
        if (keel_key_is_unwrapped(own, op)) continue;
        const keel_line_t *line = keel_graph_line(own, op);
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

static bool is_one_sided(const cluster_t *cluster) {
    return !cluster->before_count || !cluster->after_count;
}

static bool is_weak(const cluster_t *cluster) {
    return cluster->weak != KEEL_NONE && is_one_sided(cluster);
}

// How many operations of a cluster stand on the line of `op`.
static uint32_t count_beside(const clusters_t *clusters, uint32_t representative, bool is_after,
                             keel_op_id_t op) {
    keel_diff_t *diff = clusters->diff;
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    uint64_t identity = keel_graph_line(graph, op)->identity;
    uint32_t count = 0;
    for (uint32_t at = representative; at != KEEL_NONE; at = clusters->next[at]) {
        if ((at >= clusters->split) != is_after) continue;
        keel_op_id_t other;
        graph_of(clusters, at, &other);
        count += keel_graph_line(graph, other)->identity == identity;
    }
    return count;
}

// A library that the user called does it itself, and calls back for the rest: most of it, where
// what it calls back is on a new line.
static bool is_librarys(const clusters_t *clusters, uint32_t representative, bool is_after,
                        keel_op_id_t op, bool has_new) {
    const cluster_t *cluster = &clusters->items[representative];
    keel_diff_t *diff = clusters->diff;
    if (op == KEEL_NONE ||
        !keel_graph_line(is_after ? &diff->after : &diff->before, op)->library_file.size)
        return false;
    return !has_new || count_beside(clusters, representative, is_after, op) * 2 >
                           (is_after ? cluster->after_count : cluster->before_count);
}

// The operation that stands for a cluster: that of a library's call which the others came by, or
// one on a new line.
static void choose_first(clusters_t *clusters, uint32_t representative) {
    cluster_t *cluster = &clusters->items[representative];
    if (is_weak(cluster)) return;
    bool is_after = cluster->after_count > 0;
    keel_graph_t *graph = is_after ? &clusters->diff->after : &clusters->diff->before;
    lines_t all, fresh = {.count = 0};
    list_lines(clusters, representative, is_after, false, &all);
    if (is_one_sided(cluster)) list_lines(clusters, representative, is_after, true, &fresh);
    keel_op_id_t chosen = keel_graph_enclosing(graph, all.ops, all.count);
    if (!is_librarys(clusters, representative, is_after, chosen, fresh.count > 0))
        chosen = fresh.count ? fresh.ops[0] : KEEL_NONE;
    if (chosen != KEEL_NONE) *(is_after ? &cluster->first_after : &cluster->first_before) = chosen;
}

// The same operation on both sides, in another place: both orders are shown, with the operation
// that it changed places with.
static void tell_move(keel_diff_t *diff, const cluster_t *cluster, keel_difference_t *difference) {
    if (cluster->before_count != 1 || cluster->after_count != 1) return;
    if (strcmp(difference->old_value, difference->new_value) != 0) return;
    difference->note = "in another order";
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
    const char *first = keel_diff_text(diff, "%s, %.*s", moved, (int)name.size, name.data);
    const char *second = keel_diff_text(diff, "%.*s, %s", (int)name.size, name.data, moved);
    difference->old_value = was_first ? first : second;
    difference->new_value = was_first ? second : first;
}

static bool is_key_style(const cluster_t *cluster) {
    return cluster->only_unwraps && is_one_sided(cluster);
}

static bool is_marking(const cluster_t *cluster) {
    return cluster->marks != KEEL_NONE && cluster->is_trivial && is_one_sided(cluster);
}

static keel_difference_t describe_marking(const clusters_t *clusters, const cluster_t *cluster) {
    keel_diff_t *diff = clusters->diff;
    keel_op_id_t op;
    const keel_graph_t *graph = graph_of(clusters, cluster->marks, &op);
    bool is_after = cluster->after_count > 0;
    uint32_t more = cluster->marks_count - 1;
    keel_attr_id_t sharding = keel_program_dict_find(
        graph->program, graph->program->operations.data[op].attributes, "sharding");
    if (sharding == KEEL_NONE)
        sharding = keel_program_dict_find(
            graph->program, graph->program->operations.data[op].attributes, "mhlo.sharding");
    // That it is on all devices is an empty message.
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

static keel_difference_t describe(const clusters_t *clusters, uint32_t representative,
                                  times_t times) {
    keel_diff_t *diff = clusters->diff;
    const cluster_t *cluster = &clusters->items[representative];
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

// A parameter is an argument of the program only where it is used. One that was passed both times
// came with the branch that uses it. Where that is not known, so did one of which the other program
// has nothing at all came with the branch that uses it, where that takes the place of another
// (`is_swap`), or where it is a key for random numbers.
static bool comes_with_branch(const keel_root_t *root, bool is_swap) {
    if (root->passing != KEEL_PASSING_UNKNOWN) return root->passing == KEEL_PASSED;
    return root->is_random || (is_swap && root->is_whole);
}

static uint32_t find_arguments(const keel_diff_t *diff, bool is_swap) {
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (diff->roots[i].difference.kind == KEEL_CAUSE_ARGUMENTS &&
            diff->roots[i].follows == KEEL_NONE && !comes_with_branch(&diff->roots[i], is_swap))
            return i;
    return KEEL_NONE;
}

// An argument that was passed once only, and that no operation takes: whether it was there decided
// what was traced.
static uint32_t find_deciding(const keel_argument_t *arguments, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (arguments[i].counterpart == KEEL_NONE && arguments[i].passing == KEEL_NOT_PASSED &&
            !arguments[i].is_read)
            return arguments[i].root;
    return KEEL_NONE;
}

static void fold_arguments(const clusters_t *clusters, const cluster_t *cluster, uint32_t root) {
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

// What is gone and what came in its place, where only the argument that came with it tells that
// they belong together.
static void fold_swap(const clusters_t *clusters, uint32_t first_root) {
    keel_diff_t *diff = clusters->diff;
    uint32_t gone = KEEL_NONE, came = KEEL_NONE;
    bool has_arguments = false;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->difference.kind == KEEL_CAUSE_ARGUMENTS && root->is_whole &&
            root->follows >= first_root && root->follows != KEEL_NONE)
            has_arguments = true;
        if (i < first_root || root->difference.kind != KEEL_CAUSE_STRUCTURE) continue;
        if (root->difference.new_op == KEEL_NONE && gone == KEEL_NONE) gone = i;
        if (root->difference.old_op == KEEL_NONE && came == KEEL_NONE) came = i;
    }
    if (!has_arguments || gone == KEEL_NONE || came == KEEL_NONE) return;
    diff->roots[gone].follows = came;
    keel_difference_t *told = &diff->roots[came].difference;
    told->old_value = diff->roots[gone].difference.old_value;
    told->old_op = diff->roots[gone].difference.old_op;
    if (strcmp(told->old_value, told->new_value) == 0)
        keel_diff_ops(diff, told->old_op, told->new_op, told);
}

// From a key for random numbers of another kind. A key that was added came with a branch itself.
static bool is_of_key(const keel_diff_t *diff, uint32_t taint) {
    if (!taint) return false;
    const keel_root_t *root = &diff->roots[taint - 1];
    return root->is_random && root->difference.kind != KEEL_CAUSE_ARGUMENTS;
}

static uint32_t explained_by(const clusters_t *clusters, const cluster_t *cluster,
                             bool is_repeated) {
    const keel_diff_t *diff = clusters->diff;
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
    // A condition that was bool is compared with zero now; integers have a remainder of their own.
    bool is_conversion = cluster->is_clients && cluster->taint &&
                         diff->roots[cluster->taint - 1].difference.kind == KEEL_CAUSE_DTYPE;
    if (!cluster->is_trivial && !is_conversion) return KEEL_NONE;
    if (cluster->taint) return cluster->taint - 1;
    static const keel_cause_t moved[] = {KEEL_CAUSE_DTYPE, KEEL_CAUSE_SHAPE, KEEL_CAUSE_PRECISION};
    uint32_t root = KEEL_NONE;
    for (size_t i = 0; root == KEEL_NONE && i < sizeof moved / sizeof *moved; ++i)
        root = keel_diff_find(diff, moved[i]);
    return root;
}

static void look_for_swap(clusters_t *clusters) {
    bool is_gone = false, is_new = false, computes = false;
    for (uint32_t at = 0; at < clusters->count; ++at) {
        const cluster_t *cluster = &clusters->items[at];
        if (!clusters->alone[at] || find(clusters, at) != at) continue;
        is_gone = is_gone || cluster->before_count;
        is_new = is_new || cluster->after_count;
        computes = computes || !cluster->is_trivial;
    }
    clusters->is_swap = (is_gone && is_new && computes) || clusters->diff->is_swapped;
}

static keel_status_t tell_cluster(clusters_t *clusters, uint32_t at) {
    keel_diff_t *diff = clusters->diff;
    cluster_t *cluster = &clusters->items[at];
    choose_first(clusters, at);
    times_t times = {0, 0};
    if (!is_weak(cluster) && !is_marking(cluster)) times = count_times(clusters, cluster);
    uint32_t root = explained_by(clusters, cluster, times.before > 0);
    if (root == KEEL_NONE ? diff->root_count == KEEL_DIFF_ROOTS : keel_diff_is_full(diff)) {
        keel_diff_count(diff, root);
        return NULL;
    }
    keel_difference_t difference = describe(clusters, at, times);
    if (root != KEEL_NONE) return keel_diff_fold(diff, root, &difference);
    uint32_t known = diff->root_count;
    KEEL_TRY(keel_diff_root(diff, &difference, &root));
    if (diff->root_count > known) {
        diff->roots[root].operations = cluster->before_count + cluster->after_count;
        diff->roots[root].before = times.before;
        diff->roots[root].after = times.after;
        diff->roots[root].is_repeated = times.before > 0;
    }
    fold_arguments(clusters, cluster, root);
    return NULL;
}

// The argument that the others came with: one that is new, rather than one that was moved.
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

// What was passed both times, in whatever place, is no cause: it came with one, if there is any.
static void fold_passed(keel_diff_t *diff) {
    uint32_t top = keel_diff_find(diff, KEEL_CAUSE_STRUCTURE);
    if (top == KEEL_NONE) top = leading_argument(diff);
    for (uint32_t i = 0; top != KEEL_NONE && i < diff->root_count; ++i)
        if (diff->roots[i].difference.kind == KEEL_CAUSE_ARGUMENTS &&
            diff->roots[i].follows == KEEL_NONE && i != top &&
            (diff->roots[i].passing == KEEL_PASSED || diff->roots[i].is_moved))
            diff->roots[i].follows = top;
}

// A library's line that runs more often, or one more call, follows from a line that is there in one
// program only.
static void fold_repeated(keel_diff_t *diff, uint32_t first_root) {
    uint32_t top = first_root;
    while (top < diff->root_count &&
           (diff->roots[top].difference.kind != KEEL_CAUSE_STRUCTURE ||
            diff->roots[top].follows != KEEL_NONE || diff->roots[top].is_repeated))
        ++top;
    for (uint32_t i = first_root; top < diff->root_count && i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        bool is_librarys =
            root->difference.place.library_file && *root->difference.place.library_file;
        if (root->is_repeated && root->follows == KEEL_NONE &&
            (is_librarys || strcmp(root->difference.subject, "call") == 0))
            root->follows = top;
    }
}

static keel_status_t tell(clusters_t *clusters) {
    uint32_t first_root = clusters->diff->root_count;
    look_for_swap(clusters);
    for (uint32_t at = 0; at < clusters->count; ++at)
        if (clusters->alone[at] && find(clusters, at) == at) KEEL_TRY(tell_cluster(clusters, at));
    fold_swap(clusters, first_root);
    fold_repeated(clusters->diff, first_root);
    return NULL;
}

static keel_status_t gather(clusters_t *clusters) {
    keel_diff_t *diff = clusters->diff;
    clusters->split = keel_program_op_count(diff->before.program);
    clusters->count = clusters->split + keel_program_op_count(diff->after.program);
    size_t count = clusters->count ? clusters->count : 1;
    keel_arena_t *arena = &clusters->arena;
    KEEL_TRY(keel_arena_array(arena, count, sizeof(uint32_t), (void **)&clusters->parent));
    KEEL_TRY(keel_arena_array(arena, count, 1, (void **)&clusters->alone));
    KEEL_TRY(keel_arena_array(arena, count, sizeof(uint32_t), (void **)&clusters->next));
    KEEL_TRY(keel_arena_array(arena, count, sizeof(cluster_t), (void **)&clusters->items));
    memset(clusters->alone, 0, count);
    for (uint32_t at = 0; at < clusters->count; ++at)
        clusters->parent[at] = at;
    for (uint32_t i = 0; i < diff->function_count; ++i)
        KEEL_TRY(mark_function(clusters, diff->functions[i]));
    if (!memchr(clusters->alone, 1, count)) return NULL;
    KEEL_TRY(keel_graph_note_passed(&diff->before));
    KEEL_TRY(keel_graph_note_passed(&diff->after));
    unite_by_flow(clusters);
    KEEL_TRY(unite_by_line(clusters));
    describe_clusters(clusters);
    KEEL_TRY(keel_lines_build(&clusters->lines_before, &diff->before, arena));
    return keel_lines_build(&clusters->lines_after, &diff->after, arena);
}

keel_status_t keel_diff_structure(keel_diff_t *diff) {
    clusters_t clusters = {.diff = diff};
    keel_arena_initialize(&clusters.arena, 0);
    keel_lines_initialize(&clusters.lines_before);
    keel_lines_initialize(&clusters.lines_after);
    keel_status_t status = gather(&clusters);
    if (!status) status = tell(&clusters);
    if (!status) fold_passed(diff);
    keel_lines_deinitialize(&clusters.lines_before);
    keel_lines_deinitialize(&clusters.lines_after);
    keel_arena_deinitialize(&clusters.arena);
    return status;
}
