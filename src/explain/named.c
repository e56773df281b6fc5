// What the user calls the arguments of the two programs.
#include "explain/diff.h"

// Both programs have the user's names for their arguments.
bool keel_arguments_have_names(const keel_diff_t *diff) {
    return diff->names_before && *diff->names_before && diff->names_after && *diff->names_after;
}

// A client without names may have the user's, by number.
static keel_status_t name_by_number(keel_diff_t *diff, const char *names,
                                    keel_argument_t *arguments, uint32_t count) {
    void *memory;
    if (!names || *names != '#') return NULL;
    KEEL_TRY(keel_arena_array(&diff->arena, count + 1, sizeof(keel_str_t), &memory));
    keel_str_t *list = memory;
    for (uint32_t i = 0; i < count; ++i)
        list[i] = arguments[i].name;
    keel_names_by_number(names, list, count);
    for (uint32_t i = 0; i < count; ++i)
        arguments[i].name = list[i];
    return NULL;
}

// A library that numbers leaves may give different things the same number if the tree changed.
static void take_users_names(keel_diff_t *diff) {
    if (!keel_arguments_have_names(diff)) return;
    for (uint32_t i = 0; i < diff->before_count; ++i) {
        keel_argument_t *argument = &diff->arguments_before[i];
        argument->name = keel_names_find(diff->names_before, argument->name);
    }
    for (uint32_t i = 0; i < diff->after_count; ++i) {
        keel_argument_t *argument = &diff->arguments_after[i];
        argument->name = keel_names_find(diff->names_after, argument->name);
    }
}

keel_status_t keel_arguments_name(keel_diff_t *diff) {
    KEEL_TRY(name_by_number(diff, diff->names_before, diff->arguments_before, diff->before_count));
    KEEL_TRY(name_by_number(diff, diff->names_after, diff->arguments_after, diff->after_count));
    take_users_names(diff);
    return NULL;
}
