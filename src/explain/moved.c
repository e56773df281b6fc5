// Arguments that stand elsewhere in what the function is called with: from what is trained to what
// is frozen, from one tree to another, below a module that wraps theirs. They keep their type and
// all of their path but a step or two.
#include "explain/diff.h"

// "['w']" of "params['w']": where the last step of a path begins.
static size_t step_before(keel_str_t path, size_t end) {
    size_t at = end;
    while (at > 0 && path.data[at - 1] != '[' && path.data[at - 1] != '.')
        --at;
    return at ? at - 1 : 0;
}

// Without the last step, and without what separates that from the others.
static keel_str_t last_step(keel_str_t path, keel_str_t *out_rest) {
    size_t from = step_before(path, path.size);
    *out_rest = (keel_str_t){path.data, from};
    if (from < path.size && path.data[from] == '.') ++from;
    return (keel_str_t){path.data + from, path.size - from};
}

// What is left of the longer one is what is left of the shorter, and a few steps more.
static bool is_below(keel_str_t longer, keel_str_t shorter) {
    enum { MORE = 2 };
    for (unsigned steps = 0; steps < MORE && longer.size > shorter.size; ++steps)
        last_step(longer, &longer);
    return keel_str_equal(longer, shorter);
}

// One step differs, or one side has a few more: a module that was wrapped stands below its wrapper.
// It is never the last step: that one is what people call the value.
static bool is_moved(keel_str_t a, keel_str_t b) {
    bool has_last = false;
    while (a.size && b.size) {
        keel_str_t rest_a, rest_b;
        if (!keel_str_equal(last_step(a, &rest_a), last_step(b, &rest_b)))
            return has_last && (keel_str_equal(rest_a, rest_b) || is_below(a, b) || is_below(b, a));
        has_last = true;
        a = rest_a;
        b = rest_b;
    }
    return has_last && (is_below(a, b) || is_below(b, a));
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
