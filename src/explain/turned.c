// The same sizes in another order: they follow from what turned the array on that line, a
// transposition or an operation along another axis.
#include "explain/cause.h"
#include "explain/pair.h"

static keel_ints_t result_dims(const keel_graph_t *graph, keel_op_id_t op) {
    const keel_operation_t *operation = &graph->program->operations.data[op];
    if (!operation->result_count) return (keel_ints_t){NULL, 0};
    return keel_diff_dims(graph->program, keel_graph_type(graph, operation->first_result));
}

static uint32_t times_among(keel_ints_t dims, int64_t size) {
    uint32_t times = 0;
    for (uint32_t i = 0; i < dims.count; ++i)
        times += dims.items[i] == size;
    return times;
}

static bool is_in_another_order(keel_ints_t x, keel_ints_t y) {
    bool is_possible = x.count > 1 && x.count == y.count;
    if (!is_possible || !memcmp(x.items, y.items, x.count * sizeof *x.items)) return false;
    for (uint32_t i = 0; i < x.count; ++i)
        if (times_among(x, x.items[i]) != times_among(y, x.items[i])) return false;
    return true;
}

static bool is_turned(const keel_diff_t *diff, const keel_root_t *root) {
    const keel_difference_t *one = &root->difference;
    return one->kind == KEEL_CAUSE_SIZE && root->follows == KEEL_NONE && one->old_op != KEEL_NONE &&
           one->new_op != KEEL_NONE &&
           is_in_another_order(result_dims(&diff->before, one->old_op),
                               result_dims(&diff->after, one->new_op));
}

static bool turns(const keel_root_t *root) {
    const keel_difference_t *one = &root->difference;
    if (root->follows != KEEL_NONE) return false;
    if (one->kind == KEEL_CAUSE_CONSTANT) return keel_diff_is_axis(one);
    return one->kind == KEEL_CAUSE_STRUCTURE && strcmp(one->subject, "transpose") == 0;
}

void keel_diff_turned(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_place_t *place = &diff->roots[i].difference.place;
        for (uint32_t j = 0; is_turned(diff, &diff->roots[i]) && j < diff->root_count; ++j) {
            const keel_place_t *other = &diff->roots[j].difference.place;
            if (place->line && place->line == other->line &&
                strcmp(place->file, other->file) == 0 && turns(&diff->roots[j]))
                diff->roots[i].follows = j;
        }
    }
}
