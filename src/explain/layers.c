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

void keel_diff_note_layers(keel_diff_t *diff) {
    uint32_t weight[KEEL_DIFF_ROOTS] = {0};
    bool has_other[KEEL_DIFF_ROOTS] = {false};
    for (int side = 0; diff->after.lender && side < 2; ++side) {
        const keel_argument_t *list = side ? diff->arguments_after : diff->arguments_before;
        uint32_t count = side ? diff->after_count : diff->before_count;
        for (uint32_t i = 0; i < count; ++i) {
            if (list[i].counterpart != KEEL_NONE || list[i].root >= diff->root_count) continue;
            int says = weigh(diff, side, &list[i]);
            has_other[list[i].root] = has_other[list[i].root] || says == SAYS_OTHER;
            weight[list[i].root] += (uint32_t)says;
        }
    }
    for (uint32_t i = 0; i < diff->root_count; ++i)
        diff->roots[i].is_layer = weight[i] >= SAYS_LAYER && !has_other[i];
}
