// Dimensions of one element, which clients leave out if they can: an array whose size drifted to or
// from 1 may have another rank from there on.
#include "explain/pair.h"

typedef struct rest_t { // the dimensions that are not 1, from `at` on
    keel_ints_t dims;
    uint32_t at;
} rest_t;

static bool is_left(rest_t *rest) {
    while (rest->at < rest->dims.count && rest->dims.items[rest->at] == 1)
        ++rest->at;
    return rest->at < rest->dims.count;
}

static int64_t next_of(const rest_t *rest) {
    return rest->at < rest->dims.count ? rest->dims.items[rest->at] : 1;
}

static uint32_t root_of(const keel_diff_t *diff, int64_t before, int64_t after) {
    for (uint32_t i = 0; i < diff->sizes.count; ++i)
        if (diff->sizes.drifts[i].before == before && diff->sizes.drifts[i].after == after)
            return diff->sizes.drifts[i].root;
    return KEEL_NONE;
}

// HLO: what is broadcast along a size stands in the rank of the result if that size is 1.
static uint32_t root_of_one(const keel_diff_t *diff) {
    for (uint32_t i = 0; diff->after.lender && i < diff->sizes.count; ++i)
        if (diff->sizes.drifts[i].before == 1 || diff->sizes.drifts[i].after == 1)
            return diff->sizes.drifts[i].root;
    return KEEL_NONE;
}

uint32_t keel_pair_explain_squeezed(const keel_diff_t *diff, keel_ints_t x, keel_ints_t y) {
    rest_t before = {x, 0}, after = {y, 0};
    uint32_t root = KEEL_NONE;
    for (bool had = is_left(&before), has = is_left(&after); had || has;
         had = is_left(&before), has = is_left(&after)) {
        int64_t was = next_of(&before), is = next_of(&after);
        uint32_t moved = root_of(diff, was, is);
        bool is_paired = was == is || moved != KEEL_NONE;
        uint32_t gone = had ? root_of(diff, was, 1) : KEEL_NONE;
        uint32_t come = has ? root_of(diff, 1, is) : KEEL_NONE;
        uint32_t found = is_paired ? moved : gone != KEEL_NONE ? gone : come;
        if (!is_paired && found == KEEL_NONE) return KEEL_NONE;
        if (found != KEEL_NONE) root = found;
        before.at += is_paired || gone != KEEL_NONE;
        after.at += is_paired || gone == KEEL_NONE;
    }
    return root == KEEL_NONE ? root_of_one(diff) : root;
}
