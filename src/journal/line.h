// line: one event being written, for the files of this room and for those that write similar lines
// elsewhere.
#ifndef KEEL_JOURNAL_LINE_H_
#define KEEL_JOURNAL_LINE_H_

#include "journal/journal.h"

// False if nothing is to be written: there is no journal, or it gave up.
bool keel_line_begin(keel_journal_t *journal, keel_buffer_t *line, const char *event);
// Writes the line; if that fails, the journal gives up. Frees the buffer.
void keel_line_finish(keel_journal_t *journal, keel_buffer_t *line);

// Begins a line for another file than a journal; end it with "}\n".
void keel_line_begin_at(keel_buffer_t *line, const char *event, double t, int64_t pid);

// Fields, each preceded by a comma. NULL leaves the field out.
void keel_line_name(keel_buffer_t *line, const char *name);
void keel_line_text(keel_buffer_t *line, const char *name, const char *text);
// Also leaves out "", and cuts long texts.
void keel_line_known_text(keel_buffer_t *line, const char *name, const char *text);
void keel_line_number(keel_buffer_t *line, const char *name, uint64_t number);
// With nine decimals; a negative value, NaN or anything beyond 9e9 becomes 0.
void keel_line_real(keel_buffer_t *line, const char *name, double value);
void keel_line_true(keel_buffer_t *line, const char *name, bool value);
void keel_line_digest(keel_buffer_t *line, const char *name, const keel_digest_t *digest);
void keel_line_subject(keel_buffer_t *line, const keel_journal_subject_t *subject);
void keel_line_site(keel_buffer_t *line, const keel_journal_site_t *site);
// "stack", "stack_left_out", "stack_skipped".
void keel_line_stack(keel_buffer_t *line, const keel_stack_t *stack);

// An object as a field; keel_line_close takes what keel_line_open gave.
size_t keel_line_open(keel_buffer_t *line, const char *name);
void keel_line_close(keel_buffer_t *line, size_t opened_at);

#endif // KEEL_JOURNAL_LINE_H_
