// Arguments that moved within the arguments of the call: from trained to frozen, from one tree to
// another, below a module that wraps theirs. They keep their type and all but a step or two of
// their path.
#include "explain/diff.h"

// "['w']" of "params['w']": where the last step of a path begins.
static size_t step_before(keel_str_t path, size_t end) {
    size_t at = end;
    while (at > 0 && path.data[at - 1] != '[' && path.data[at - 1] != '.')
        --at;
    return at ? at - 1 : 0;
}

// The path without its last step and the separator before that.
static keel_str_t last_step(keel_str_t path, keel_str_t *out_rest) {
    size_t from = step_before(path, path.size);
    *out_rest = (keel_str_t){path.data, from};
    if (from < path.size && path.data[from] == '.') ++from;
    return (keel_str_t){path.data + from, path.size - from};
}

// True if the rest of the longer path is that of the shorter, plus a few steps.
static bool is_below(keel_str_t longer, keel_str_t shorter) {
    enum { MORE = 2 };
    for (unsigned steps = 0; steps < MORE && longer.size > shorter.size; ++steps)
        last_step(longer, &longer);
    return keel_str_equal(longer, shorter);
}

// True if one step differs, or one side has a few more because a module was wrapped. The last step
// must agree: it is the value's name.
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
    enum { TRIED = 256 }; // thousands of arguments would take quadratic time
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
