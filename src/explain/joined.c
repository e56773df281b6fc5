// An array that is longer by another one, which was added: a memory that a model joins to what it
// makes itself.
#include "explain/diff.h"

// True if `after` is `before` and the added array, one behind the other.
static bool is_joined(keel_ints_t before, keel_ints_t after, keel_ints_t added) {
    uint32_t longer = 0;
    if (before.count != after.count || added.count != after.count) return false;
    for (uint32_t i = 0; i < after.count; ++i) {
        if (before.items[i] == after.items[i] && added.items[i] == after.items[i]) continue;
        if (before.items[i] + added.items[i] != after.items[i]) return false;
        ++longer;
    }
    return longer == 1;
}

// The root of an argument that only one program has, and that makes the difference; NONE.
static uint32_t find_added(const keel_diff_t *diff, bool is_after, keel_ints_t shorter,
                           keel_ints_t longer) {
    const keel_argument_t *list = is_after ? diff->arguments_after : diff->arguments_before;
    uint32_t count = is_after ? diff->after_count : diff->before_count;
    const keel_program_t *program = is_after ? diff->after.program : diff->before.program;
    for (uint32_t i = 0; i < count; ++i)
        if (list[i].counterpart == KEEL_NONE &&
            diff->roots[list[i].root].difference.kind == KEEL_CAUSE_ARGUMENTS &&
            diff->roots[list[i].root].follows == KEEL_NONE &&
            is_joined(shorter, longer, keel_diff_dims(program, list[i].type)))
            return list[i].root;
    return KEEL_NONE;
}

void keel_diff_joined(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        keel_root_t *root = &diff->roots[i];
        if (root->difference.kind != KEEL_CAUSE_SHAPE || root->follows != KEEL_NONE ||
            !root->argument)
            continue;
        const keel_argument_t *argument = &diff->arguments_after[root->argument - 1];
        keel_ints_t x = keel_diff_dims(diff->before.program,
                                       diff->arguments_before[argument->counterpart].type);
        keel_ints_t y = keel_diff_dims(diff->after.program, argument->type);
        uint32_t under = find_added(diff, true, x, y);
        if (under == KEEL_NONE) under = find_added(diff, false, y, x);
        if (under != KEEL_NONE) root->follows = under;
    }
}
