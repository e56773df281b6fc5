// Causes beside a line that does something else altogether: another solver, sampler or algorithm.
// Operations and constants that were paired there belong to different algorithms, so they are not
// causes of their own.
#include "explain/diff.h"

// If this many operations came or went, it is more than a branch.
enum { LEAST = 8 };

static bool is_about_operations(const keel_root_t *root) {
    static const bool kinds[KEEL_CAUSE_COUNT] = {
        [KEEL_CAUSE_STRUCTURE] = true, [KEEL_CAUSE_CONSTANT] = true, [KEEL_CAUSE_SIZE] = true,
        [KEEL_CAUSE_SHAPE] = true,     [KEEL_CAUSE_DTYPE] = true,    [KEEL_CAUSE_PRECISION] = true,
        [KEEL_CAUSE_OPTION] = true};
    return kinds[root->difference.kind] && root->follows == KEEL_NONE &&
           (root->difference.new_op != KEEL_NONE || root->difference.old_op != KEEL_NONE);
}

static bool came_by(keel_diff_t *diff, const keel_difference_t *difference,
                    const keel_place_t *place) {
    if (!place->library_file || !*place->library_file) return false;
    bool is_after = difference->new_op != KEEL_NONE;
    return keel_graph_passes(is_after ? &diff->after : &diff->before,
                             is_after ? difference->new_op : difference->old_op, place->file,
                             place->line);
}

static uint32_t largest(const keel_diff_t *diff, const uint8_t *tried) {
    uint32_t found = KEEL_NONE;
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_root_t *root = &diff->roots[i];
        if (root->difference.kind != KEEL_CAUSE_STRUCTURE || root->follows != KEEL_NONE || tried[i])
            continue;
        if (found == KEEL_NONE || root->operations > diff->roots[found].operations) found = i;
    }
    return found;
}

// A product replaced one on another line of the source: nobody chose another precision for it.
static bool is_other_product(keel_diff_t *diff, const keel_root_t *root) {
    const keel_difference_t *difference = &root->difference;
    if (difference->kind != KEEL_CAUSE_PRECISION || root->follows != KEEL_NONE) return false;
    uint64_t was = keel_graph_line(&diff->before, difference->old_op)->identity;
    uint64_t is = keel_graph_line(&diff->after, difference->new_op)->identity;
    return was && is && was != is;
}

static void fold_products(keel_diff_t *diff) {
    const uint8_t none[KEEL_DIFF_ROOTS] = {0};
    uint32_t top = largest(diff, none);
    for (uint32_t i = 0; top != KEEL_NONE && i < diff->root_count; ++i)
        if (is_other_product(diff, &diff->roots[i])) diff->roots[i].follows = top;
}

void keel_diff_subsume(keel_diff_t *diff, bool are_strangers) {
    uint8_t tried[KEEL_DIFF_ROOTS] = {0};
    fold_products(diff);
    for (uint32_t top; (top = largest(diff, tried)) != KEEL_NONE;) {
        if (!are_strangers && diff->roots[top].operations < LEAST) return;
        tried[top] = 1;
        const keel_place_t *place = &diff->roots[top].difference.place;
        if (!are_strangers && !place->line) continue;
        for (uint32_t i = 0; i < diff->root_count; ++i) {
            const keel_difference_t *one = &diff->roots[i].difference;
            if (i == top || !is_about_operations(&diff->roots[i])) continue;
            bool is_here =
                one->place.line == place->line && strcmp(one->place.file, place->file) == 0;
            if (are_strangers || is_here || came_by(diff, one, place)) diff->roots[i].follows = top;
        }
    }
}
