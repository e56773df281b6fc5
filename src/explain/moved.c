// Arguments that stand elsewhere in what the function is called with: from what is trained to what
// is frozen, from one tree to another. They keep their type and all of their path but one step.
#include "explain/diff.h"

// "['w']" of "params['w']": where the last step of a path begins.
static size_t step_before(keel_str_t path, size_t end) {
    size_t at = end;
    while (at > 0 && path.data[at - 1] != '[' && path.data[at - 1] != '.')
        --at;
    return at ? at - 1 : 0;
}

// One step differs, and it is not the last: that one is what people call the value.
static bool is_moved(keel_str_t a, keel_str_t b) {
    size_t x = a.size, y = b.size;
    bool has_last = false;
    while (x && y) {
        size_t from_a = step_before(a, x), from_b = step_before(b, y);
        keel_str_t step_a = {a.data + from_a, x - from_a}, step_b = {b.data + from_b, y - from_b};
        x = from_a;
        y = from_b;
        if (keel_str_equal(step_a, step_b)) {
            has_last = true;
            continue;
        }
        return has_last && keel_str_equal((keel_str_t){a.data, x}, (keel_str_t){b.data, y});
    }
    return false;
}

static bool may_be(keel_diff_t *diff, const keel_argument_t *a, const keel_argument_t *b) {
    return b->counterpart == KEEL_NONE && b->name.size && is_moved(a->name, b->name) &&
           keel_graph_type_hash(&diff->before, a->type) ==
               keel_graph_type_hash(&diff->after, b->type);
}

void keel_diff_pair_moved(keel_diff_t *diff) {
    enum { TRIED = 256 }; // or arguments by the thousand would be looked at by each other
    for (uint32_t i = 0; i < diff->before_count; ++i) {
        keel_argument_t *a = &diff->arguments_before[i];
        if (a->counterpart != KEEL_NONE || !a->name.size) continue;
        for (uint32_t j = 0, tried = 0; j < diff->after_count && tried < TRIED; ++j) {
            keel_argument_t *b = &diff->arguments_after[j];
            tried += b->counterpart == KEEL_NONE;
            if (!may_be(diff, a, b)) continue;
            a->counterpart = j;
            b->counterpart = i;
            a->is_moved = b->is_moved = true;
            break;
        }
    }
}
