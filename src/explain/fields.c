#include "explain/fields.h"

#include <stdlib.h>

#include "key/key.h"

// ---- what people see ---------------------------------------------------------------------------

// Where the character at `at` begins. Text that is not UTF-8 may be cut anywhere.
static size_t boundary(keel_str_t text, size_t at) {
    size_t begin = at;
    while (begin && begin < text.size && at - begin < 3 &&
           ((uint8_t)text.data[begin] & 0xc0) == 0x80)
        --begin;
    return begin;
}

// A path is followed by the digest of the file's content; the first digits are enough.
static keel_str_t short_digest(keel_str_t text) {
    enum { DIGITS = 64, KEPT = 12 };
    uint8_t digest[DIGITS / 2];
    if (text.size <= DIGITS || text.data[text.size - DIGITS - 1] != '#') return text;
    if (!keel_unhex((keel_str_t){text.data + text.size - DIGITS, DIGITS}, digest, sizeof digest))
        return text;
    return (keel_str_t){text.data, text.size - DIGITS + KEPT};
}

// The text from `begin` on, with dots if something is left out.
static keel_status_t show_from(keel_str_t text, size_t begin, keel_arena_t *arena,
                               const char **out) {
    static const char dots[] = "\xe2\x80\xa6";
    enum { DOTS = sizeof dots - 1 };
    if (begin > text.size) begin = text.size;
    begin = boundary(text, begin);
    size_t end = text.size;
    if (end - begin > KEEL_FIELD_SHOWN) end = boundary(text, begin + KEEL_FIELD_SHOWN);
    void *memory;
    KEEL_TRY(keel_arena_alloc(arena, end - begin + 2 * DOTS + 1, &memory));
    char *to = memory;
    *out = to;
    if (begin) memcpy(to, dots, DOTS), to += DOTS;
    memcpy(to, text.data + begin, end - begin);
    to += end - begin;
    if (end < text.size) memcpy(to, dots, DOTS), to += DOTS;
    *to = 0;
    for (char *line = memory; (line = strchr(line, '\n'));)
        *line = ';';
    return NULL;
}

// An empty text would look unknown.
static keel_str_t visible(keel_str_t text) {
    while (text.size && text.data[text.size - 1] == '\n')
        --text.size;
    return text.size ? text : KEEL_STR("\"\"");
}

keel_status_t keel_fields_show(keel_str_t before, keel_str_t after, keel_arena_t *arena,
                               const char **out_before, const char **out_after) {
    keel_str_t short_before = short_digest(before), short_after = short_digest(after);
    if (!keel_str_equal(short_before, short_after)) before = short_before, after = short_after;
    before = visible(before);
    after = visible(after);
    size_t same = 0;
    while (same < before.size && same < after.size && before.data[same] == after.data[same])
        ++same;
    // If the difference would be cut off, the text begins shortly before it.
    enum { LEAD = 16 };
    size_t begin = same > KEEL_FIELD_SHOWN - LEAD ? same - LEAD : 0;
    KEEL_TRY(show_from(before, begin, arena, out_before));
    return show_from(after, begin, arena, out_after);
}

// ---- lines -------------------------------------------------------------------------------------

typedef struct field_t {
    keel_str_t name, value;
    uint32_t at;    // line
    uint32_t count; // how many lines of the same name come before it
} field_t;

typedef struct fields_t {
    field_t *data;
    uint32_t count;
    bool understood, is_cut;
} fields_t;

static int by_field_name(const void *left, const void *right) {
    const field_t *a = left, *b = right;
    int order = keel_str_compare(a->name, b->name);
    if (order) return order;
    return a->at < b->at ? -1 : a->at > b->at;
}

// Empty if the line is not a field.
static keel_str_t name_of(keel_str_t line) {
    const char *equals = line.size ? memchr(line.data, '=', line.size) : NULL;
    return (keel_str_t){line.data, equals ? (size_t)(equals - line.data) : 0};
}

static void add_line(fields_t *fields, keel_str_t line) {
    keel_str_t name = name_of(line);
    if (!name.size) {
        fields->understood &= !line.size;
        return;
    }
    fields->data[fields->count] =
        (field_t){.name = name,
                  .value = {line.data + name.size + 1, line.size - name.size - 1},
                  .at = fields->count};
    ++fields->count;
}

// If a value was cut when it was recorded, its last line may be incomplete.
static keel_status_t split_fields(keel_str_t text, bool is_cut, keel_arena_t *arena,
                                  fields_t *out) {
    *out = (fields_t){.understood = true, .is_cut = is_cut};
    uint32_t lines = 1;
    for (size_t i = 0; i < text.size; ++i)
        lines += text.data[i] == '\n';
    void *memory;
    KEEL_TRY(keel_arena_array(arena, lines, sizeof *out->data, &memory));
    out->data = memory;
    for (keel_str_t line; keel_str_line(&text, &line);)
        if (!out->is_cut || text.size) add_line(out, line);
    qsort(out->data, out->count, sizeof *out->data, by_field_name);
    for (uint32_t i = 1; i < out->count; ++i)
        if (keel_str_equal(out->data[i].name, out->data[i - 1].name))
            out->data[i].count = out->data[i - 1].count + 1;
    return NULL;
}

// Minus the bytes of one character.
static bool is_cut_off(keel_str_t text) {
    return text.size > KEEL_KEY_VALUE_LIMIT - 4;
}

// Numbers of debug options become names, which makes texts longer.
static keel_status_t read_value(keel_str_t text, bool is_cut, keel_arena_t *arena, fields_t *out) {
    keel_buffer_t spelled;
    keel_buffer_initialize(&spelled, 0);
    keel_status_t status = keel_key_spell_out(text, &spelled);
    if (!status) status = keel_arena_str(arena, keel_bytes_str(keel_buffer_bytes(&spelled)), &text);
    keel_buffer_deinitialize(&spelled);
    return status ? status : split_fields(text, is_cut, arena, out);
}

// ---- comparing ---------------------------------------------------------------------------------

static keel_status_t add_moved(const field_t *before, const field_t *after, keel_arena_t *arena,
                               keel_moved_field_t *out) {
    static const keel_str_t unset = {"unset", 5};
    keel_str_t name;
    *out = (keel_moved_field_t){.was_set = before != NULL, .is_set = after != NULL};
    KEEL_TRY(keel_arena_str(arena, before ? before->name : after->name, &name));
    out->name = name.data;
    return keel_fields_show(before ? before->value : unset, after ? after->value : unset, arena,
                            &out->before, &out->after);
}

static int order_of(const field_t *a, const field_t *b) {
    if (!a || !b) return a ? -1 : 1;
    int order = keel_str_compare(a->name, b->name);
    if (order) return order;
    return a->count < b->count ? -1 : a->count > b->count;
}

static keel_status_t compare_fields(const fields_t *before, const fields_t *after,
                                    keel_arena_t *arena, keel_moved_fields_t *out) {
    void *memory;
    KEEL_TRY(keel_arena_array(arena, (size_t)before->count + after->count + 1,
                              sizeof(keel_moved_field_t), &memory));
    keel_moved_field_t *moved = memory;
    out->data = moved;
    for (uint32_t i = 0, k = 0; i < before->count || k < after->count;) {
        const field_t *a = i < before->count ? &before->data[i] : NULL;
        const field_t *b = k < after->count ? &after->data[k] : NULL;
        int order = order_of(a, b);
        i += order <= 0;
        k += order >= 0;
        if (order < 0) b = NULL;
        if (order > 0) a = NULL;
        if (order == 0 && keel_str_equal(a->value, b->value)) continue;
        if ((!a && before->is_cut) || (!b && after->is_cut)) continue;
        KEEL_TRY(add_moved(a, b, arena, &moved[out->count]));
        ++out->count;
    }
    return NULL;
}

static void put_text_line(keel_buffer_t *out, keel_str_t line) {
    keel_buffer_str(out, line);
    keel_buffer_str(out, KEEL_STR("\n"));
}

// Puts the lines that differ into `out`. Not done if the two texts do not have the same fields in
// the same order: then a line may have its counterpart elsewhere.
static keel_status_t leave_out_same(keel_str_t before, keel_str_t after, keel_buffer_t out[2],
                                    bool *out_done) {
    keel_str_t x, y;
    *out_done = false;
    while (before.size && after.size && keel_str_line(&before, &x) && keel_str_line(&after, &y)) {
        keel_str_t name = name_of(x);
        if (name.size && keel_str_equal(x, y)) continue;
        if (!keel_str_equal(name, name_of(y))) return NULL;
        put_text_line(&out[0], x);
        put_text_line(&out[1], y);
    }
    *out_done = !before.size && !after.size;
    KEEL_TRY(keel_buffer_status(&out[0]));
    return keel_buffer_status(&out[1]);
}

// Of hundreds of options one differs. The others need no names and no sorting.
static keel_status_t read_values(keel_str_t before, keel_str_t after, keel_arena_t *arena,
                                 fields_t *out_before, fields_t *out_after) {
    bool was_cut = is_cut_off(before), is_cut = is_cut_off(after), is_shorter = false;
    keel_buffer_t differ[2];
    keel_buffer_initialize(&differ[0], 0);
    keel_buffer_initialize(&differ[1], 0);
    keel_status_t status = NULL;
    if (!was_cut && !is_cut) status = leave_out_same(before, after, differ, &is_shorter);
    if (is_shorter) {
        before = keel_bytes_str(keel_buffer_bytes(&differ[0]));
        after = keel_bytes_str(keel_buffer_bytes(&differ[1]));
    }
    if (!status) status = read_value(before, was_cut, arena, out_before);
    if (!status) status = read_value(after, is_cut, arena, out_after);
    keel_buffer_deinitialize(&differ[0]);
    keel_buffer_deinitialize(&differ[1]);
    return status;
}

keel_status_t keel_fields_compare(const char *before, const char *after, keel_arena_t *arena,
                                  keel_moved_fields_t *out) {
    fields_t old_fields, new_fields;
    *out = (keel_moved_fields_t){.understood = false};
    KEEL_TRY(read_values(keel_str(before ? before : ""), keel_str(after ? after : ""), arena,
                         &old_fields, &new_fields));
    out->understood = old_fields.understood && new_fields.understood;
    return out->understood ? compare_fields(&old_fields, &new_fields, arena, out) : NULL;
}
