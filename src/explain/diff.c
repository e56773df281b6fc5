#include "explain/diff.h"

#include <stdio.h>

static keel_status_t keep_difference(keel_diff_t *diff, keel_difference_t *difference) {
    const char **texts[] = {&difference->subject,         &difference->old_value,
                            &difference->new_value,       &difference->note,
                            &difference->place.file,      &difference->place.function,
                            &difference->place.call_file, &difference->place.library_file,
                            &difference->place.scope};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        keel_str_t copy;
        KEEL_TRY(keel_arena_str(&diff->arena, keel_str(*texts[i] ? *texts[i] : ""), &copy));
        *texts[i] = copy.data;
    }
    return NULL;
}

// Room for item `count` of a list of `most`; what is behind it is poisoned.
static keel_status_t make_room(keel_diff_t *diff, size_t count, size_t most, size_t size,
                               void **inout) {
    if (!*inout) {
        KEEL_TRY(keel_arena_array(&diff->arena, most, size, inout));
        keel_poison(*inout, 0, most * size);
    }
    keel_unpoison(*inout, count * size, size);
    return NULL;
}

keel_difference_t keel_diff_of_call(const keel_diff_t *diff, keel_cause_t kind, const char *subject,
                                    const char *before, const char *after) {
    return (keel_difference_t){.kind = kind,
                               .subject = subject,
                               .old_value = before,
                               .new_value = after,
                               .note = "",
                               .place = diff->site,
                               .old_op = KEEL_NONE,
                               .new_op = KEEL_NONE,
                               .follows = KEEL_NONE};
}

keel_status_t keel_diff_root(keel_diff_t *diff, const keel_difference_t *difference,
                             uint32_t *out) {
    *out = KEEL_DIFF_ROOTS - 1;
    if (diff->root_count == KEEL_DIFF_ROOTS) {
        keel_diff_count(diff, KEEL_NONE);
        return NULL;
    }
    KEEL_TRY(make_room(diff, diff->root_count, KEEL_DIFF_ROOTS, sizeof *diff->roots,
                       (void **)&diff->roots));
    keel_root_t root = {.difference = *difference, .follows = KEEL_NONE};
    KEEL_TRY(keep_difference(diff, &root.difference));
    *out = diff->root_count;
    diff->roots[diff->root_count++] = root;
    return NULL;
}

void keel_diff_count(keel_diff_t *diff, uint32_t root) {
    if (root == KEEL_NONE)
        ++diff->roots_dropped;
    else if (root < diff->root_count)
        ++diff->roots[root].folded;
    else
        ++diff->pending;
}

keel_status_t keel_diff_fold(keel_diff_t *diff, uint32_t root,
                             const keel_difference_t *difference) {
    keel_diff_count(diff, root);
    if (keel_diff_is_full(diff)) return NULL;
    KEEL_TRY(make_room(diff, diff->folded_count, KEEL_FOLDED_KEPT, sizeof *diff->folded,
                       (void **)&diff->folded));
    keel_difference_t *kept = &diff->folded[diff->folded_count];
    *kept = *difference;
    kept->follows = root;
    KEEL_TRY(keep_difference(diff, kept));
    ++diff->folded_count;
    return NULL;
}

uint32_t keel_diff_find(const keel_diff_t *diff, keel_cause_t kind) {
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (diff->roots[i].difference.kind == kind && diff->roots[i].follows == KEEL_NONE) return i;
    return KEEL_NONE;
}

uint32_t keel_diff_same(const keel_diff_t *diff, const keel_difference_t *difference) {
    for (uint32_t i = 0; i < diff->root_count; ++i) {
        const keel_difference_t *known = &diff->roots[i].difference;
        if (known->kind == difference->kind &&
            strcmp(known->old_value, difference->old_value) == 0 &&
            strcmp(known->new_value, difference->new_value) == 0)
            return i;
    }
    return KEEL_NONE;
}

const char *keel_diff_text(keel_diff_t *diff, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    keel_str_t copy;
    keel_status_t status = keel_arena_str(&diff->arena, keel_str(text), &copy);
    if (!status) return copy.data;
    keel_status_ignore(status);
    diff->lacks_memory = true;
    return "";
}

void keel_diff_note(keel_diff_t *diff, keel_difference_t *difference, keel_note_t note) {
    const char *rest = difference->note;
    difference->note =
        keel_diff_text(diff, "%s%s%s", keel_note_text(note), *rest ? "; " : "", rest);
}

static const char *own_text(keel_diff_t *diff, keel_str_t text) {
    return keel_diff_text(diff, "%.*s", (int)text.size, text.data);
}

keel_place_t keel_diff_place(keel_diff_t *diff, bool is_after, keel_op_id_t op) {
    const keel_source_line_t *line = keel_graph_line(is_after ? &diff->after : &diff->before, op);
    keel_place_t place = diff->site;
    place.scope = keel_diff_scope(diff, is_after, op);
    if (!line->identity) return place;
    // Outside of the traced function, the place is its call, and who made that call.
    bool is_site = *place.file && line->line == place.line && keel_str_is(line->file, place.file);
    if (!is_site && (!line->is_foreign || !*place.file))
        place = (keel_place_t){.file = own_text(diff, line->file),
                               .line = line->line,
                               .function = own_text(diff, line->function),
                               .call_file = diff->site.file,
                               .call_line = diff->site.line,
                               .scope = place.scope};
    bool is_beside = line->library_file.size && strcmp(place.file, "") != 0 &&
                     !keel_str_is(line->library_file, place.file);
    if (is_beside) {
        place.library_file = own_text(diff, line->library_file);
        place.library_line = line->library_line;
    }
    return place;
}

bool keel_diff_is_librarys(keel_diff_t *diff, keel_op_id_t op) {
    return op != KEEL_NONE && keel_graph_line(&diff->after, op)->library_file.size > 0;
}

keel_attr_id_t keel_diff_entry(const keel_program_t *program, keel_list_t entries, keel_str_t name,
                               uint32_t near) {
    if (near + 1 < entries.count &&
        keel_str_equal(keel_program_str(program, entries.items[near]), name))
        return entries.items[near + 1];
    for (uint32_t i = 0; i + 1 < entries.count; i += 2)
        if (keel_str_equal(keel_program_str(program, entries.items[i]), name))
            return entries.items[i + 1];
    return KEEL_NONE;
}

static bool is_same_file(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "") == 0;
}

bool keel_diff_same_line(const keel_diff_t *diff, const keel_place_t *a, const keel_place_t *b) {
    if (!a->line || a->line != b->line || !is_same_file(a->file, b->file)) return false;
    bool is_inside = a->line != diff->site.line || !is_same_file(a->file, diff->site.file);
    return is_inside ||
           (a->library_line == b->library_line && is_same_file(a->library_file, b->library_file));
}
