// Aligned lines as a table, with the changed words marked.
#include <inttypes.h>

#include "page/part.h"

enum {
    WORDS = 256, // of a line; the rest is not compared
    ROWS = 60,   // of a table
};

typedef struct line_words_t {
    keel_str_t items[WORDS];
    size_t count;
    size_t first, end; // what remains without the equal ends
    bool marked[WORDS];
} line_words_t;

// Values that correspond to each other: numbers shift if an operation comes or goes.
typedef struct value_pairs_t {
    uint32_t *pairs; // old, new, ...
    size_t count;
} value_pairs_t;

// ---- words -------------------------------------------------------------------------------------

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || (uint8_t)c >= 0x80;
}

// The length of the word at `at`: "%12", "dot_general", each part of "8x512xf32", or one byte.
static size_t word_length(keel_str_t text, size_t at) {
    size_t end = at + 1;
    if (text.data[at] == '%') {
        while (end < text.size && keel_is_digit(text.data[end]))
            ++end;
        return end - at;
    }
    if (!is_word(text.data[at])) return 1;
    if (text.data[at] == 'x' && at && keel_is_digit(text.data[at - 1])) return 1;
    bool number = keel_is_digit(text.data[at]);
    while (end < text.size && is_word(text.data[end])) {
        if (number && text.data[end] == 'x') break;
        number = number && (keel_is_digit(text.data[end]) || text.data[end] == '.');
        ++end;
    }
    return end - at;
}

static void split_words(keel_str_t text, line_words_t *out) {
    out->count = 0;
    for (size_t at = 0; at < text.size && out->count < WORDS;) {
        size_t length = out->count + 1 < WORDS ? word_length(text, at) : text.size - at;
        out->marked[out->count] = false;
        out->items[out->count++] = (keel_str_t){text.data + at, length};
        at += length;
    }
}

static bool value_number(keel_str_t word, uint32_t *out) {
    if (word.size < 2 || word.size > 10 || word.data[0] != '%') return false;
    uint64_t number = 0;
    for (size_t i = 1; i < word.size; ++i)
        number = number * 10 + (uint64_t)(word.data[i] - '0');
    *out = (uint32_t)number;
    return number <= UINT32_MAX;
}

// Values without a known pair count as the same: they are outside what is shown.
static bool is_same_word(const value_pairs_t *values, keel_str_t a, keel_str_t b) {
    uint32_t old_value, new_value;
    if (!value_number(a, &old_value) || !value_number(b, &new_value)) return keel_str_equal(a, b);
    for (size_t i = 0; i < values->count; ++i) {
        bool is_old = values->pairs[2 * i] == old_value,
             is_new = values->pairs[2 * i + 1] == new_value;
        if (is_old || is_new) return is_old && is_new;
    }
    return true;
}

// Marks the words of the middle that are not common; `best` holds (WORDS + 1)^2 numbers.
static void mark_same(const value_pairs_t *values, line_words_t *a, line_words_t *b,
                      uint16_t *best) {
    size_t olds = a->end - a->first, news = b->end - b->first, width = news + 1;
    memset(best, 0, (olds + 1) * width * sizeof *best);
    for (size_t i = olds; i-- > 0;)
        for (size_t j = news; j-- > 0;) {
            bool same = is_same_word(values, a->items[a->first + i], b->items[b->first + j]);
            uint16_t down = best[(i + 1) * width + j], right = best[i * width + j + 1];
            uint16_t most = down > right ? down : right;
            if (same) most = (uint16_t)(best[(i + 1) * width + j + 1] + 1);
            best[i * width + j] = most;
        }
    size_t i = 0, j = 0;
    while (i < olds || j < news) {
        bool same = i < olds && j < news &&
                    is_same_word(values, a->items[a->first + i], b->items[b->first + j]);
        if (same) {
            ++i;
            ++j;
        } else if (j >= news ||
                   (i < olds && best[(i + 1) * width + j] >= best[i * width + j + 1])) {
            a->marked[a->first + i++] = true;
        } else {
            b->marked[b->first + j++] = true;
        }
    }
}

// True if the two lines differ in a word.
static bool compare_words(const value_pairs_t *values, line_words_t *a, line_words_t *b,
                          uint16_t *best) {
    a->first = b->first = 0;
    a->end = a->count;
    b->end = b->count;
    while (a->first < a->end && b->first < b->end &&
           is_same_word(values, a->items[a->first], b->items[b->first])) {
        ++a->first;
        ++b->first;
    }
    while (a->end > a->first && b->end > b->first &&
           is_same_word(values, a->items[a->end - 1], b->items[b->end - 1])) {
        --a->end;
        --b->end;
    }
    if (a->first == a->end && b->first == b->end) return false;
    mark_same(values, a, b, best);
    return true;
}

// ---- cells -------------------------------------------------------------------------------------

static void write_words(keel_buffer_t *out, const line_words_t *line, const char *element) {
    bool open = false;
    for (size_t i = 0; i < line->count; ++i) {
        bool blank = line->items[i].size == 1 && line->items[i].data[0] == ' ';
        // One mark spans adjacent marked words and the blanks between them.
        bool on = line->marked[i] || (open && blank && i + 1 < line->count && line->marked[i + 1]);
        if (on != open) keel_buffer_format(out, on ? "<%s>" : "</%s>", element);
        open = on;
        keel_page_str(out, line->items[i]);
    }
    if (open) keel_buffer_format(out, "</%s>", element);
}

static void cell(keel_buffer_t *out, const char *side, const keel_page_line_t *line,
                 const line_words_t *compared) {
    bool old_side = side[0] == 'o';
    if (!line) {
        keel_buffer_format(out, "<td class=\"%s none\"></td>", side);
        return;
    }
    keel_buffer_format(out, "<td class=\"%s%s\">", side, line->is_told ? " told" : "");
    if (compared)
        write_words(out, compared, old_side ? "del" : "ins");
    else
        keel_page_str(out, line->text);
    keel_buffer_text(out, "</td>");
}

typedef struct row_table_t {
    const keel_page_lines_t *old_lines, *new_lines;
    value_pairs_t values;
    uint16_t *best;
    line_words_t *a, *b;
    keel_buffer_t *out;
} row_table_t;

static const keel_page_line_t *line_of(const keel_page_lines_t *lines, uint32_t index) {
    return index == KEEL_PAGE_ABSENT ? NULL : &lines->items[index];
}

static bool compare_row(row_table_t *t, const keel_page_row_t *row) {
    const keel_page_line_t *a = line_of(t->old_lines, row->old_line),
                           *b = line_of(t->new_lines, row->new_line);
    if (!a || !b) return true;
    split_words(a->text, t->a);
    split_words(b->text, t->b);
    return compare_words(&t->values, t->a, t->b, t->best);
}

static void write_row(row_table_t *t, const keel_page_row_t *row) {
    const keel_page_line_t *a = line_of(t->old_lines, row->old_line),
                           *b = line_of(t->new_lines, row->new_line);
    const char *kind = !row->differs ? "same" : a && b ? "changed" : a ? "gone" : "added";
    bool both = row->differs && a && b && compare_row(t, row);
    keel_buffer_format(t->out, "<tr class=\"%s\">", kind);
    cell(t->out, "old", a, both ? t->a : NULL);
    cell(t->out, "new", b, both ? t->b : NULL);
    keel_buffer_text(t->out, "</tr>\n");
}

static void pair_values(row_table_t *t, const keel_page_row_t *row) {
    const keel_page_line_t *a = line_of(t->old_lines, row->old_line),
                           *b = line_of(t->new_lines, row->new_line);
    if (!a || !b || row->differs) return;
    for (uint32_t i = 0; i < a->value_count && i < b->value_count && i < 8; ++i) {
        t->values.pairs[2 * t->values.count] = a->first_value + i;
        t->values.pairs[2 * t->values.count++ + 1] = b->first_value + i;
    }
}

static void skipped(keel_buffer_t *out, size_t count) {
    if (!count) return;
    keel_buffer_text(out, "<tr class=\"skip\"><td colspan=\"2\">");
    keel_page_count(out, count, "equal line");
    keel_buffer_text(out, "</td></tr>\n");
}

// True if a row within `around` of this one differs.
static bool is_near(const keel_page_row_t *rows, size_t count, size_t at, size_t around) {
    if (around == SIZE_MAX) return true;
    size_t first = at > around ? at - around : 0;
    for (size_t i = first; i < count && i <= at + around; ++i)
        if (rows[i].differs) return true;
    return false;
}

keel_status_t keel_page_table(const keel_page_lines_t *old_lines,
                              const keel_page_lines_t *new_lines, const keel_page_rows_t *rows,
                              size_t around, keel_arena_t *arena, keel_buffer_t *out) {
    size_t count = rows->count;
    row_table_t t = {.old_lines = old_lines, .new_lines = new_lines, .out = out};
    void *memory;
    KEEL_TRY(keel_arena_array(arena, 8 * count + 1, 2 * sizeof(uint32_t), &memory));
    t.values.pairs = memory;
    KEEL_TRY(keel_arena_array(arena, (WORDS + 1) * (WORDS + 1), sizeof *t.best, &memory));
    t.best = memory;
    KEEL_TRY(keel_arena_array(arena, 2, sizeof *t.a, &memory));
    t.a = memory;
    t.b = t.a + 1;
    void *copies;
    KEEL_TRY(keel_arena_array(arena, count + 1, sizeof *rows->items, &copies));
    keel_page_row_t *own = copies;
    for (size_t i = 0; i < count; ++i) {
        own[i] = rows->items[i];
        pair_values(&t, &own[i]);
    }
    for (size_t i = 0; i < count; ++i)
        own[i].differs = compare_row(&t, &own[i]);
    size_t left_out = 0, shown = 0, more = 0;
    keel_buffer_text(out, "<table class=\"sides\"><thead><tr><th scope=\"col\">before</th>"
                          "<th scope=\"col\">after</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < count; ++i) {
        if (shown == ROWS) {
            more += own[i].differs;
            left_out += !own[i].differs;
        } else if (!is_near(own, count, i, around)) {
            ++left_out;
        } else {
            skipped(out, left_out);
            left_out = 0;
            if (own[i].after_gap)
                keel_buffer_text(out, "<tr class=\"skip\"><td colspan=\"2\">...</td></tr>\n");
            write_row(&t, &own[i]);
            ++shown;
        }
    }
    if (!more) skipped(out, left_out);
    keel_buffer_text(out, "</tbody></table>\n");
    keel_page_left(out, more, 0, "line");
    return NULL;
}
