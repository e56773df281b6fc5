// Which types may belong to one value of two programs. Any size fits, and any float width. A number
// that became a condition, or a vector that became a matrix, is a different value, unless an
// argument changed in the same way.
#include "explain/diff.h"

typedef enum fit_class {
    FIT_BOOL,
    FIT_SIGNED,
    FIT_UNSIGNED,
    FIT_FLOAT,
    FIT_COMPLEX,
    FIT_OTHER,
    FIT_CLASSES
} fit_class_t;
_Static_assert((int)FIT_CLASSES <= (int)KEEL_FIT_CLASSES, "room in keel_fit_t");

static fit_class_t class_of(const keel_program_t *program, keel_type_id_t id) {
    const keel_type_t *type = keel_program_type(program, id);
    if (type->kind == KEEL_TYPE_TENSOR || type->kind == KEEL_TYPE_UNRANKED_TENSOR ||
        type->kind == KEEL_TYPE_BUFFER)
        type = keel_program_type(program, type->a);
    switch (type->kind) {
        case KEEL_TYPE_INTEGER:
            if (type->a == 1) return FIT_BOOL;
            return type->aux == KEEL_UNSIGNED ? FIT_UNSIGNED : FIT_SIGNED;
        case KEEL_TYPE_FLOAT:
            return FIT_FLOAT;
        case KEEL_TYPE_COMPLEX:
            return FIT_COMPLEX;
        default:
            return FIT_OTHER;
    }
}

static int32_t ranks_between(const keel_diff_t *diff, keel_type_id_t before, keel_type_id_t after) {
    return (int32_t)keel_diff_dims(diff->after.program, after).count -
           (int32_t)keel_diff_dims(diff->before.program, before).count;
}

static uint64_t rank_bit(int32_t ranks) {
    enum { MOST = 31 };
    if (ranks < -MOST || ranks > MOST) return 0;
    return (uint64_t)1 << (ranks + MOST);
}

void keel_fit_learn(keel_diff_t *diff) {
    keel_fit_t *fit = &diff->fit;
    *fit = (keel_fit_t){.ranks = rank_bit(0)};
    for (uint32_t i = 0; i < diff->before_count; ++i) {
        const keel_argument_t *argument = &diff->arguments_before[i];
        if (argument->counterpart == KEEL_NONE) continue;
        keel_type_id_t before = argument->type;
        keel_type_id_t after = diff->arguments_after[argument->counterpart].type;
        fit_class_t was = class_of(diff->before.program, before);
        fit_class_t is = class_of(diff->after.program, after);
        fit->classes[was] |= (uint8_t)(1u << is);
        fit->crosses = fit->crosses || was != is;
        fit->ranks |= rank_bit(ranks_between(diff, before, after));
    }
}

bool keel_fit_class(const keel_diff_t *diff, keel_type_id_t before, keel_type_id_t after) {
    fit_class_t was = class_of(diff->before.program, before);
    fit_class_t is = class_of(diff->after.program, after);
    return was == is || diff->fit.classes[was] >> is & 1;
}

bool keel_fit_rank(const keel_diff_t *diff, keel_type_id_t before, keel_type_id_t after) {
    return diff->fit.ranks & rank_bit(ranks_between(diff, before, after));
}

uint64_t keel_fit_class_token(const keel_diff_t *diff, const keel_graph_t *graph,
                              keel_type_id_t type) {
    return diff->fit.crosses ? 0 : 1 + (uint64_t)class_of(graph->program, type);
}

uint64_t keel_fit_token(const keel_diff_t *diff, const keel_graph_t *graph, keel_type_id_t type) {
    uint64_t token = 1;
    if (!diff->fit.crosses) token += 1 + (uint64_t)class_of(graph->program, type);
    if (diff->fit.ranks == rank_bit(0))
        token += ((uint64_t)keel_diff_dims(graph->program, type).count + 1) << 8;
    return token * 0x9e3779b97f4a7c15u;
}
