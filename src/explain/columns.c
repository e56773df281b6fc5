#include "explain/columns.h"

#include <string.h>

bool keel_call_next(keel_str_t *inout, keel_call_line_t *out) {
    const char *tab = inout->size > 2 ? memchr(inout->data, '\t', inout->size) : NULL;
    const char *end = inout->data + inout->size;
    const char *stop = tab ? memchr(tab, '\n', (size_t)(end - tab)) : NULL;
    if (!stop || tab < inout->data + 2) return false;
    out->kind = *inout->data;
    out->name = (keel_str_t){inout->data + 2, (size_t)(tab - inout->data) - 2};
    out->value = (keel_str_t){tab + 1, (size_t)(stop - tab) - 1};
    *inout = (keel_str_t){stop + 1, (size_t)(end - stop) - 1};
    return true;
}

// ---- values ------------------------------------------------------------------------------------

bool keel_column_begins_object(keel_str_t text) {
    return keel_str_starts(text, KEEL_STR(" 0x")) || keel_str_starts(text, KEEL_STR(" ~0x"));
}

static void skip(keel_str_t *text) {
    ++text->data;
    --text->size;
}

static bool is_digit_of_object(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == 'x' || c == '~' || c == ' ';
}

// The identity at the front.
static keel_str_t take_object(keel_str_t *text) {
    keel_str_t object = {text->data, 0};
    while (text->size && is_digit_of_object(*text->data)) {
        ++object.size;
        skip(text);
    }
    return object;
}

keel_apart_t keel_column_compare(keel_str_t a, keel_str_t b, keel_str_t *out_object) {
    keel_apart_t apart = KEEL_EQUAL;
    *out_object = KEEL_STR("");
    while (a.size && b.size) {
        if (keel_column_begins_object(a) && keel_column_begins_object(b)) {
            keel_str_t x = take_object(&a), y = take_object(&b);
            if (keel_str_equal(x, y)) continue;
            if (y.data[1] == '~') {
                apart = KEEL_MAY_EQUAL;
                continue;
            }
            *out_object = y;
            return KEEL_APART;
        }
        if (*a.data != *b.data) return KEEL_APART;
        skip(&a);
        skip(&b);
    }
    return a.size || b.size ? KEEL_APART : apart;
}

bool keel_column_has_object(keel_str_t value) {
    for (; value.size; ++value.data, --value.size)
        if (keel_column_begins_object(value)) return true;
    return false;
}

// "i32[] weak" is a Python number, or was computed from numbers alone.
keel_str_t keel_column_strong(keel_str_t type) {
    const keel_str_t weak = KEEL_STR(" weak");
    return keel_str_ends(type, weak) ? (keel_str_t){type.data, type.size - weak.size} : type;
}

// ---- rows --------------------------------------------------------------------------------------

typedef struct row_t {
    keel_call_line_t *lines;
    uint32_t count;
    bool *is_met;
} row_t;

static keel_status_t read_row(keel_str_t call, keel_arena_t *arena, row_t *out) {
    keel_call_line_t line;
    void *memory;
    out->count = 0;
    for (keel_str_t rest = call; keel_call_next(&rest, &line);)
        ++out->count;
    KEEL_TRY(keel_arena_array(arena, out->count + 1u, sizeof *out->lines, &memory));
    out->lines = memory;
    KEEL_TRY(keel_arena_array(arena, out->count + 1u, sizeof *out->is_met, &memory));
    out->is_met = memory;
    memset(out->is_met, 0, out->count * sizeof *out->is_met);
    for (uint32_t i = 0; keel_call_next(&call, &line); ++i)
        out->lines[i] = line;
    return NULL;
}

bool keel_column_is_place(char kind) {
    return kind == 'n' || kind == 'l' || kind == 'h';
}

static bool is_same_column(const keel_call_line_t *a, const keel_call_line_t *b) {
    bool is_kind =
        a->kind == b->kind || (keel_column_is_place(a->kind) && keel_column_is_place(b->kind));
    return is_kind && keel_str_equal(a->name, b->name);
}

// Two calls of one function list nearly the same columns in the same order, so the search goes on
// where the last one ended. Returns the number of the line in `row`, KEEL_NONE if there is none.
static uint32_t find_line(const row_t *row, const keel_call_line_t *like, uint32_t from) {
    for (uint32_t i = 0; i < row->count; ++i) {
        uint32_t at = (from + i) % row->count;
        if (!row->is_met[at] && is_same_column(&row->lines[at], like)) return at;
    }
    return KEEL_NONE;
}

// "v \tread": they were looked for.
static bool has_values(const row_t *row) {
    for (uint32_t i = 0; i < row->count; ++i)
        if (row->lines[i].kind == 'v' && !row->lines[i].name.size) return true;
    return false;
}

static const keel_str_t absent = {NULL, 0};

static void add_column(keel_columns_t *columns, const keel_call_line_t *before,
                       const keel_call_line_t *after) {
    columns->items[columns->count++] = (keel_column_t){.kind = (after ? after : before)->kind,
                                                       .was = (before ? before : after)->kind,
                                                       .name = (after ? after : before)->name,
                                                       .before = before ? before->value : absent,
                                                       .after = after ? after->value : absent};
}

keel_status_t keel_columns_find(const char *before, const char *after, keel_arena_t *arena,
                                keel_columns_t *out) {
    *out = (keel_columns_t){.items = NULL};
    if (!before || !*before || !after || !*after) return NULL;
    row_t had, has;
    void *memory;
    KEEL_TRY(read_row(keel_str(before), arena, &had));
    KEEL_TRY(read_row(keel_str(after), arena, &has));
    KEEL_TRY(
        keel_arena_array(arena, (size_t)had.count + has.count + 1, sizeof *out->items, &memory));
    out->items = memory;
    out->are_known = true;
    out->have_values = has_values(&had) && has_values(&has);
    uint32_t at = 0;
    for (uint32_t i = 0; i < has.count; ++i) {
        const keel_call_line_t *line = &has.lines[i];
        uint32_t found = find_line(&had, line, at);
        if (found == KEEL_NONE) {
            add_column(out, NULL, line);
            continue;
        }
        had.is_met[found] = true;
        at = found + 1;
        if (!keel_str_equal(had.lines[found].value, line->value) ||
            had.lines[found].kind != line->kind)
            add_column(out, &had.lines[found], line);
    }
    for (uint32_t i = 0; i < had.count; ++i)
        if (!had.is_met[i]) add_column(out, &had.lines[i], NULL);
    return NULL;
}
