// Two lists of lines side by side: what both begin and end with is cut off, the middle is aligned
// for the most in common, a pair of one look counting twice a pair of one kind.
#include "report/html_part.h"

// Lines of the middle that are aligned; beyond that they stand beside each other as they come.
enum { MIDDLE = 400, SAME_LOOK = 4, SAME_KIND = 2 };

uint64_t keel_html_look(keel_str_t text) {
    uint64_t hash = 14695981039346656037u; // FNV-1a: short lines, and nothing hangs on it
    for (size_t i = 0; i < text.size; ++i) {
        hash = (hash ^ (uint8_t)text.data[i]) * 1099511628211u;
        if (text.data[i] == '%')
            while (i + 1 < text.size && text.data[i + 1] >= '0' && text.data[i + 1] <= '9')
                ++i;
    }
    return hash;
}

static unsigned score(const keel_html_line_t *a, const keel_html_line_t *b) {
    if (a->kind != b->kind) return 0;
    return a->look == b->look ? SAME_LOOK : SAME_KIND;
}

typedef struct aligning_t {
    const keel_html_line_t *old_lines, *new_lines;
    keel_html_row_t *rows;
    size_t count;
} aligning_t;

static void pair(aligning_t *a, size_t old_line, size_t new_line) {
    a->rows[a->count++] = (keel_html_row_t){(uint32_t)old_line, (uint32_t)new_line, false, false};
}

// Lines that have no counterpart, old and new, stand in the same rows.
static void gap(aligning_t *a, size_t old_line, size_t old_end, size_t new_line, size_t new_end) {
    while (old_line < old_end || new_line < new_end) {
        a->rows[a->count++] = (keel_html_row_t){
            old_line < old_end ? (uint32_t)old_line : KEEL_HTML_ABSENT,
            new_line < new_end ? (uint32_t)new_line : KEEL_HTML_ABSENT, true, false};
        old_line += old_line < old_end;
        new_line += new_line < new_end;
    }
}

// best[i][j]: the most that lines i.. and j.. have in common.
static void follow(aligning_t *a, const uint16_t *best, size_t first, size_t olds, size_t news) {
    size_t i = 0, j = 0, old_gap = 0, new_gap = 0, width = news + 1;
    while (i < olds && j < news) {
        unsigned here = score(&a->old_lines[first + i], &a->new_lines[first + j]);
        if (here && best[i * width + j] == best[(i + 1) * width + j + 1] + here) {
            gap(a, first + old_gap, first + i, first + new_gap, first + j);
            pair(a, first + i++, first + j++);
            old_gap = i;
            new_gap = j;
        } else if (best[i * width + j] == best[(i + 1) * width + j]) {
            ++i;
        } else {
            ++j;
        }
    }
    gap(a, first + old_gap, first + olds, first + new_gap, first + news);
}

static keel_status_t middle(aligning_t *a, size_t first, size_t olds, size_t news) {
    if (!olds || !news || olds > MIDDLE || news > MIDDLE) {
        gap(a, first, first + olds, first, first + news);
        return NULL;
    }
    void *memory;
    size_t width = news + 1;
    KEEL_TRY(keel_calloc((olds + 1) * width, sizeof(uint16_t), &memory));
    uint16_t *best = memory;
    for (size_t i = olds; i-- > 0;)
        for (size_t j = news; j-- > 0;) {
            unsigned here = score(&a->old_lines[first + i], &a->new_lines[first + j]);
            unsigned most = here ? best[(i + 1) * width + j + 1] + here : 0;
            if (best[(i + 1) * width + j] > most) most = best[(i + 1) * width + j];
            if (best[i * width + j + 1] > most) most = best[i * width + j + 1];
            best[i * width + j] = (uint16_t)most;
        }
    follow(a, best, first, olds, news);
    keel_free(memory);
    return NULL;
}

keel_status_t keel_html_align(const keel_html_lines_t *old_lines,
                              const keel_html_lines_t *new_lines, keel_arena_t *arena,
                              keel_html_row_t **out_rows, size_t *out_count) {
    size_t olds = old_lines->count, news = new_lines->count, first = 0;
    void *rows;
    KEEL_TRY(keel_arena_array(arena, olds + news, sizeof **out_rows, &rows));
    aligning_t a = {old_lines->items, new_lines->items, rows, 0};
    for (; first < olds && first < news; ++first) {
        if (score(&a.old_lines[first], &a.new_lines[first]) != SAME_LOOK) break;
        pair(&a, first, first);
    }
    while (olds > first && news > first &&
           score(&a.old_lines[olds - 1], &a.new_lines[news - 1]) == SAME_LOOK) {
        --olds;
        --news;
    }
    KEEL_TRY(middle(&a, first, olds - first, news - first));
    for (; olds < old_lines->count; ++olds, ++news)
        pair(&a, olds, news);
    *out_rows = a.rows;
    *out_count = a.count;
    return NULL;
}
