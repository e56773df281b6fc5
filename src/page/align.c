// Lines and operations side by side, by their kinds.
#include "explain/align.h"
#include "page/part.h"

static void gap(keel_page_rows_t *rows, uint32_t old_line, uint32_t old_end, uint32_t new_line,
                uint32_t new_end) {
    while (old_line < old_end || new_line < new_end) {
        bool has_old = old_line < old_end, has_new = new_line < new_end;
        rows->items[rows->count++] =
            (keel_page_row_t){has_old ? old_line : KEEL_PAGE_ABSENT,
                              has_new ? new_line : KEEL_PAGE_ABSENT, true, false};
        old_line += has_old;
        new_line += has_new;
    }
}

keel_status_t keel_page_align(const keel_page_stretch_t *s, keel_arena_t *arena,
                              keel_page_rows_t *rows) {
    uint32_t olds = s->old_end - s->old_first, news = s->new_end - s->new_first;
    uint32_t *to_new, *to_old, old_next = s->old_first, new_next = s->new_first;
    void *memory;
    KEEL_TRY(keel_arena_array(arena, (size_t)olds + 1, sizeof *to_new, &memory));
    to_new = memory;
    KEEL_TRY(keel_arena_array(arena, (size_t)news + 1, sizeof *to_old, &memory));
    to_old = memory;
    KEEL_TRY(keel_align(s->old_kinds + s->old_first, olds, s->new_kinds + s->new_first, news,
                        to_new, to_old));
    for (uint32_t i = 0; i < olds; ++i) {
        if (to_new[i] == UINT32_MAX) continue;
        uint32_t old_line = s->old_first + i, new_line = s->new_first + to_new[i];
        gap(rows, old_next, old_line, new_next, new_line);
        rows->items[rows->count++] = (keel_page_row_t){old_line, new_line, false, false};
        old_next = old_line + 1;
        new_next = new_line + 1;
    }
    gap(rows, old_next, s->old_end, new_next, s->new_end);
    return NULL;
}

static keel_status_t kinds_of(const keel_page_lines_t *lines, keel_arena_t *arena, uint64_t **out) {
    void *memory;
    KEEL_TRY(keel_arena_array(arena, lines->count + 1, sizeof **out, &memory));
    *out = memory;
    for (size_t i = 0; i < lines->count; ++i)
        (*out)[i] = lines->items[i].kind;
    return NULL;
}

keel_status_t keel_page_align_lines(const keel_page_lines_t *old_lines,
                                    const keel_page_lines_t *new_lines, keel_arena_t *arena,
                                    keel_page_rows_t *out) {
    uint64_t *old_kinds, *new_kinds;
    void *memory;
    KEEL_TRY(kinds_of(old_lines, arena, &old_kinds));
    KEEL_TRY(kinds_of(new_lines, arena, &new_kinds));
    KEEL_TRY(keel_arena_array(arena, old_lines->count + new_lines->count + 1, sizeof *out->items,
                              &memory));
    *out = (keel_page_rows_t){memory, 0};
    const keel_page_stretch_t all = {
        old_kinds, new_kinds, 0, (uint32_t)old_lines->count, 0, (uint32_t)new_lines->count};
    return keel_page_align(&all, arena, out);
}
