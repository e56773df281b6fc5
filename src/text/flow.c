#include "text/flow.h"

#include "text/write.h"

static bool begins_character(char c) {
    return ((unsigned char)c & 0xc0) != 0x80;
}

static unsigned columns_of(keel_str_t text) {
    unsigned columns = 0;
    for (size_t i = 0; i < text.size; ++i)
        columns += begins_character(text.data[i]);
    return columns;
}

unsigned keel_flow_columns(const char *text) {
    return columns_of(keel_str(text));
}

void keel_flow_blanks(keel_flow_t *flow, unsigned count) {
    flow->column += count;
    while (count--)
        keel_buffer_byte(flow->out, ' ');
}

void keel_flow_line(keel_flow_t *flow) {
    flow->column = 0;
    keel_flow_blanks(flow, flow->indent);
}

void keel_flow_end(keel_flow_t *flow) {
    keel_buffer_byte(flow->out, '\n');
    flow->column = 0;
}

void keel_flow_break(keel_flow_t *flow) {
    while (flow->out->size && flow->out->data[flow->out->size - 1] == ' ')
        --flow->out->size;
    keel_flow_end(flow);
    keel_flow_line(flow);
}

static void put_foreign(keel_flow_t *flow, keel_str_t text) {
    keel_write_foreign_str(flow->out, text);
    flow->column += columns_of(text);
}

void keel_flow_text(keel_flow_t *flow, const char *text) {
    put_foreign(flow, keel_str(text));
}

static void put_word(keel_flow_t *flow, keel_str_t word, bool blank) {
    bool first = flow->column <= flow->indent;
    unsigned needed = columns_of(word) + (blank && !first);
    if (!first && flow->width && flow->column + needed > flow->width) {
        keel_flow_end(flow);
        keel_flow_line(flow);
        first = true;
    }
    if (blank && !first) keel_flow_blanks(flow, 1);
    put_foreign(flow, word);
}

void keel_flow_words(keel_flow_t *flow, const char *text) {
    for (bool blank = false; *text;) {
        size_t blanks = strspn(text, " "), size = strcspn(text + blanks, " ");
        blank = blanks > 0;
        if (size) put_word(flow, (keel_str_t){text + blanks, size}, blank);
        text += blanks + size;
    }
}

void keel_flow_buffer(keel_flow_t *flow, keel_buffer_t *text) {
    if (text->failed) flow->out->failed = true;
    keel_flow_words(flow, keel_buffer_cstr(text));
    keel_buffer_deinitialize(text);
}

void keel_flow_paragraph(keel_buffer_t *text, unsigned width, keel_buffer_t *out) {
    keel_flow_t flow = {.out = out, .width = width};
    keel_flow_end(&flow);
    keel_flow_line(&flow);
    keel_flow_buffer(&flow, text);
    keel_flow_end(&flow);
}

void keel_flow_cell(keel_flow_t *flow, const char *text, unsigned width, bool right) {
    unsigned columns = keel_flow_columns(text), padding = columns < width ? width - columns : 0;
    if (right) keel_flow_blanks(flow, padding);
    keel_flow_text(flow, text);
    if (!right) keel_flow_blanks(flow, padding);
}

void keel_flow_edge(keel_flow_t *flow, const char *text) {
    unsigned needed = keel_flow_columns(text);
    if (!flow->width || flow->column <= flow->indent) {
        if (flow->column > flow->indent) keel_flow_blanks(flow, 2);
    } else if (flow->column + 2 + needed > flow->width) {
        keel_flow_end(flow);
        keel_flow_line(flow);
    } else {
        keel_flow_blanks(flow, flow->width - needed - flow->column);
    }
    keel_flow_text(flow, text);
}

// ---- values that are too long ------------------------------------------------------------------

static const char *skip(const char *text, unsigned columns) {
    for (; *text; ++text)
        if (begins_character(*text) && columns-- == 0) break;
    return text;
}

void keel_flow_around(keel_flow_t *flow, const char *text, size_t at, unsigned limit) {
    enum { DOTS = 3, LEAST = 2 * DOTS + 4 };
    unsigned columns = keel_flow_columns(text);
    if (!limit || columns <= limit || columns <= LEAST) {
        keel_flow_text(flow, text);
        return;
    }
    unsigned inner = limit > LEAST ? limit : LEAST, before = columns_of((keel_str_t){text, at});
    if (before + DOTS < inner) { // the beginning is enough
        const char *end = skip(text, inner - DOTS);
        put_foreign(flow, (keel_str_t){text, (size_t)(end - text)});
        keel_flow_text(flow, "...");
        return;
    }
    keel_flow_text(flow, "...");
    unsigned rest = columns - before;
    if (rest + DOTS < inner) { // the end is enough
        keel_flow_text(flow, skip(text, columns - (inner - DOTS)));
        return;
    }
    const char *begin = skip(text, before - (inner - 2 * DOTS) / 2),
               *end = skip(begin, inner - 2 * DOTS);
    put_foreign(flow, (keel_str_t){begin, (size_t)(end - begin)});
    keel_flow_text(flow, "...");
}

static const char arrow[] = " -> ";

// Where two values begin to differ.
static size_t parting(const char *a, const char *b) {
    size_t at = 0;
    while (a[at] && a[at] == b[at])
        ++at;
    while (at && !begins_character(a[at]))
        --at;
    return at;
}

static const char *or_nothing(const char *value) {
    return *value ? value : "nothing";
}

unsigned keel_flow_change_columns(const char *old_value, const char *new_value) {
    if (!*old_value && !*new_value) return 0;
    return keel_flow_columns(or_nothing(old_value)) + keel_flow_columns(or_nothing(new_value)) +
           (unsigned)strlen(arrow);
}

void keel_flow_change(keel_flow_t *flow, const char *old_value, const char *new_value,
                      unsigned limit) {
    if (!*old_value && !*new_value) return;
    const char *a = or_nothing(old_value), *b = or_nothing(new_value);
    unsigned room = limit > strlen(arrow) ? limit - (unsigned)strlen(arrow) : limit;
    unsigned left = keel_flow_columns(a), right = keel_flow_columns(b);
    // A short one leaves the rest of its share to the other.
    unsigned left_limit = room / 2, right_limit = room / 2;
    if (left < left_limit) right_limit = room - left;
    if (right < right_limit) left_limit = room - right;
    keel_flow_around(flow, a, parting(a, b), left_limit);
    keel_flow_text(flow, arrow);
    keel_flow_around(flow, b, parting(a, b), right_limit);
}
