// flow: words in columns for a terminal, wrapped at its width. For the files of this room.
//
// Text may come from foreign files: control bytes become '?'. Columns are counted in characters of
// UTF-8.
#ifndef KEEL_TEXT_FLOW_H_
#define KEEL_TEXT_FLOW_H_

#include "base/base.h"

typedef struct keel_flow_t {
    keel_buffer_t *out;
    unsigned width; // 0: none
    unsigned indent;
    unsigned column;
} keel_flow_t;

unsigned keel_flow_columns(const char *text);

// Begins a line, indented.
void keel_flow_line(keel_flow_t *flow);
void keel_flow_end(keel_flow_t *flow);
// After a cell: ends the line without the cell's padding, and begins the next.
void keel_flow_break(keel_flow_t *flow);
// Words; a new line begins before each that does not fit.
void keel_flow_words(keel_flow_t *flow, const char *text);
// The same of a buffer, which it frees. If that one failed, so does the flow's.
void keel_flow_buffer(keel_flow_t *flow, keel_buffer_t *text);
// Verbatim, whatever the width.
// A text after an empty line; takes it.
void keel_flow_paragraph(keel_buffer_t *text, unsigned width, keel_buffer_t *out);
void keel_flow_text(keel_flow_t *flow, const char *text);
void keel_flow_blanks(keel_flow_t *flow, unsigned count);
// Padded with blanks after it, or before it if `right`.
void keel_flow_cell(keel_flow_t *flow, const char *text, unsigned width, bool right);
// The last word of a line: at its right edge, on a line of its own if it does not fit.
void keel_flow_edge(keel_flow_t *flow, const char *text);

// The text; if it is longer than `limit` columns, that many around byte `at`, with "..." at each
// cut. `limit` 0: all of it.
void keel_flow_around(keel_flow_t *flow, const char *text, size_t at, unsigned limit);
// "old -> new" in at most `limit` columns (0: whole), cut so that the first difference shows.
void keel_flow_change(keel_flow_t *flow, const char *old_value, const char *new_value,
                      unsigned limit);
unsigned keel_flow_change_columns(const char *old_value, const char *new_value);

#endif // KEEL_TEXT_FLOW_H_
