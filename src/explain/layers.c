// HLO: the weights of a layer that only one program has. They are arguments without a name, and
// come and go with what the layer computes.
#include "explain/diff.h"

// What an argument says about a layer. What an optimizer keeps of a weight comes and goes with it,
// and one vector alone may be anything.
enum { SAYS_NOTHING, SAYS_LITTLE, SAYS_LAYER, SAYS_OTHER };

// What a library's function sends to the device while it computes is not an argument that the user
// passed: the indices with which a GRU cell splits its gates.
static bool is_sent_by_library(keel_diff_t *diff, keel_graph_t *graph,
                               const keel_argument_t *argument) {
    const keel_source_line_t *line = keel_graph_line(graph, argument->op);
    const char *type = keel_diff_type(diff, graph->program, argument->type);
    for (uint32_t i = 0; line->library_file.size && i < diff->made_count; ++i)
        if (keel_diff_is_on(line, &diff->made[i].place) && strcmp(diff->made[i].type, type) == 0)
            return true;
    return false;
}

static int weigh(keel_diff_t *diff, bool is_after, const keel_argument_t *argument) {
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_op_id_t *counterpart = is_after ? diff->origin : diff->counterpart;
    if (argument->op == KEEL_NONE) return SAYS_OTHER;
    if (keel_diff_is_optimizers(graph, argument->op)) return SAYS_NOTHING;
    if (is_sent_by_library(diff, graph, argument)) return SAYS_LAYER;
    if (argument->weighed == KEEL_NONE || counterpart[argument->weighed] != KEEL_NONE)
        return SAYS_OTHER;
    return keel_diff_dims(graph->program, argument->type).count > 1 ? SAYS_LAYER : SAYS_LITTLE;
}

// Whether an argument that is not a weight belongs to a layer all the same: the labels of a head
// that joined are read on the line of its weights and nowhere that both programs have. What was
// made or moved since the last time is the user's doing.
static bool is_read_by_layer(keel_diff_t *diff, bool is_after, uint32_t number,
                             const uint64_t layer_lines[KEEL_DIFF_ROOTS]) {
    const keel_argument_t *argument =
        &(is_after ? diff->arguments_after : diff->arguments_before)[number];
    if (argument->op == KEEL_NONE || !argument->is_read || !layer_lines[argument->root])
        return false;
    keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    keel_place_t place;
    return keel_graph_line(graph, argument->op)->identity == layer_lines[argument->root] &&
           !(is_after && keel_diff_made_at(diff, number, &place));
}

// The arguments of one side that the other lacks, with the root that reports each.
typedef struct side_t {
    bool is_after;
    keel_graph_t *graph;
    const keel_argument_t *arguments;
    uint32_t count;
} side_t;

static bool is_reported(const keel_diff_t *diff, const keel_argument_t *argument) {
    return argument->counterpart == KEEL_NONE && argument->root < diff->root_count;
}

// By root: the line of a layer's weights.
static void find_layers(keel_diff_t *diff, const side_t *side, uint64_t out[KEEL_DIFF_ROOTS]) {
    for (uint32_t i = 0; i < side->count; ++i) {
        const keel_argument_t *argument = &side->arguments[i];
        if (is_reported(diff, argument) && weigh(diff, side->is_after, argument) == SAYS_LAYER)
            out[argument->root] = keel_graph_line(side->graph, argument->op)->identity;
    }
}

static void weigh_side(keel_diff_t *diff, const side_t *side, uint32_t weight[KEEL_DIFF_ROOTS],
                       bool has_other[KEEL_DIFF_ROOTS]) {
    uint64_t layer_lines[KEEL_DIFF_ROOTS] = {0};
    find_layers(diff, side, layer_lines);
    for (uint32_t i = 0; i < side->count; ++i) {
        const keel_argument_t *argument = &side->arguments[i];
        if (!is_reported(diff, argument)) continue;
        int says = weigh(diff, side->is_after, argument);
        if (says == SAYS_OTHER && is_read_by_layer(diff, side->is_after, i, layer_lines))
            says = SAYS_NOTHING;
        has_other[argument->root] = has_other[argument->root] || says == SAYS_OTHER;
        weight[argument->root] += (uint32_t)says;
    }
}

void keel_diff_note_layers(keel_diff_t *diff) {
    uint32_t weight[KEEL_DIFF_ROOTS] = {0};
    bool has_other[KEEL_DIFF_ROOTS] = {false};
    if (!diff->after.lender) return;
    side_t before = {false, &diff->before, diff->arguments_before, diff->before_count};
    side_t after = {true, &diff->after, diff->arguments_after, diff->after_count};
    weigh_side(diff, &before, weight, has_other);
    weigh_side(diff, &after, weight, has_other);
    for (uint32_t i = 0; i < diff->root_count; ++i)
        diff->roots[i].is_layer = weight[i] >= SAYS_LAYER && !has_other[i];
}
