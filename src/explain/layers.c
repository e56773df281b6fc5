// HLO: the weights of a layer that only one program has. They are arguments without a name, and
// come and go with what the layer computes.
#include "explain/diff.h"

// What an argument says about a layer. What an optimizer keeps of a weight comes and goes with it,
// and one vector alone may be anything.
enum { SAYS_NOTHING, SAYS_LITTLE, SAYS_LAYER, SAYS_OTHER };

static int weigh(const keel_diff_t *diff, bool is_after, const keel_argument_t *argument) {
    const keel_graph_t *graph = is_after ? &diff->after : &diff->before;
    const keel_op_id_t *counterpart = is_after ? diff->origin : diff->counterpart;
    if (argument->op == KEEL_NONE) return SAYS_OTHER;
    if (keel_diff_is_optimizers(graph, argument->op)) return SAYS_NOTHING;
    if (argument->weighed == KEEL_NONE || counterpart[argument->weighed] != KEEL_NONE)
        return SAYS_OTHER;
    return keel_diff_dims(graph->program, argument->type).count > 1 ? SAYS_LAYER : SAYS_LITTLE;
}

bool keel_diff_is_layer(const keel_diff_t *diff, const keel_root_t *root) {
    uint32_t weight = 0;
    for (int side = 0; side < 2; ++side) {
        const keel_argument_t *list = side ? diff->arguments_after : diff->arguments_before;
        uint32_t count = side ? diff->after_count : diff->before_count;
        for (uint32_t i = 0; i < count; ++i) {
            bool is_its = list[i].counterpart == KEEL_NONE && &diff->roots[list[i].root] == root;
            int says = is_its ? weigh(diff, side, &list[i]) : SAYS_NOTHING;
            if (says == SAYS_OTHER) return false;
            weight += (uint32_t)says;
        }
    }
    return weight >= SAYS_LAYER;
}
