#include "explain/explain.h"

void keel_explanation_initialize(keel_explanation_t *explanation) {
    *explanation = (keel_explanation_t){.alike = 1};
    keel_arena_initialize(&explanation->arena, 0);
}

void keel_explanation_deinitialize(keel_explanation_t *explanation) {
    keel_arena_deinitialize(&explanation->arena);
    *explanation = (keel_explanation_t){0};
}

static keel_status_t keep_text(keel_arena_t *arena, const char **text) {
    keel_str_t copy;
    KEEL_TRY(keel_arena_str(arena, keel_str(*text ? *text : ""), &copy));
    *text = copy.data;
    return NULL;
}

// The first difference allocates the lists at their full length.
static keel_status_t room(keel_arena_t *arena, keel_difference_t **list, size_t most) {
    if (*list) return NULL;
    void *memory;
    KEEL_TRY(keel_arena_array(arena, most, sizeof **list, &memory));
    *list = memory;
    return NULL;
}

keel_status_t keel_explanation_add(keel_explanation_t *explanation,
                                   const keel_difference_t *difference) {
    bool is_root = difference->follows == KEEL_NONE;
    keel_arena_t *arena = &explanation->arena;
    if (!is_root && difference->follows >= explanation->root_count) return NULL;
    if (!is_root) ++explanation->roots[difference->follows].folds;
    size_t most = is_root ? KEEL_ROOTS_KEPT : KEEL_FOLDED_KEPT;
    size_t *count = is_root ? &explanation->root_count : &explanation->folded_count;
    size_t *total = is_root ? &explanation->root_total : &explanation->folded_total;
    keel_difference_t **list = is_root ? &explanation->roots : &explanation->folded;
    ++*total;
    if (*count == most) return NULL;
    KEEL_TRY(room(arena, list, most));
    keel_difference_t kept = *difference;
    KEEL_TRY(keep_text(arena, &kept.subject));
    KEEL_TRY(keep_text(arena, &kept.old_value));
    KEEL_TRY(keep_text(arena, &kept.new_value));
    KEEL_TRY(keep_text(arena, &kept.note));
    KEEL_TRY(keep_text(arena, &kept.place.file));
    KEEL_TRY(keep_text(arena, &kept.place.function));
    KEEL_TRY(keep_text(arena, &kept.place.call_file));
    KEEL_TRY(keep_text(arena, &kept.place.library_file));
    KEEL_TRY(keep_text(arena, &kept.place.scope));
    (*list)[(*count)++] = kept;
    return NULL;
}

static void known(keel_json_t *json, const char *name, uint32_t value, uint32_t unknown) {
    if (value != unknown) keel_json_unsigned(json, name, value);
}

void keel_difference_json(const keel_difference_t *difference, bool is_root, size_t longest,
                          keel_json_t *json) {
    const keel_place_t *place = &difference->place;
    keel_json_string(json, "kind", keel_cause_facts(difference->kind)->word);
    keel_json_known(json, "subject", difference->subject, longest);
    keel_json_known(json, "old", difference->old_value, longest);
    keel_json_known(json, "new", difference->new_value, longest);
    keel_json_known(json, "note", difference->note, longest);
    keel_json_known(json, "file", place->file, longest);
    known(json, "line", place->line, 0);
    keel_json_known(json, "function", place->function, longest);
    keel_json_known(json, "call_file", place->call_file, longest);
    known(json, "call_line", place->call_line, 0);
    keel_json_known(json, "library_file", place->library_file, longest);
    known(json, "library_line", place->library_line, 0);
    keel_json_known(json, "scope", place->scope, longest);
    known(json, "old_op", difference->old_op, KEEL_NONE);
    known(json, "new_op", difference->new_op, KEEL_NONE);
    if (is_root)
        known(json, "folds", difference->folds, 0);
    else
        known(json, "follows", difference->follows, KEEL_NONE);
}
