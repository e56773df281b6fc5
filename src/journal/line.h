// line: one event being written, for the files of this room and for those that write similar lines
// elsewhere.
#ifndef KEEL_JOURNAL_LINE_H_
#define KEEL_JOURNAL_LINE_H_

#include "journal/journal.h"

typedef struct keel_line_t {
    keel_buffer_t bytes;
    keel_json_t json; // writes into them
} keel_line_t;

enum {
    KEEL_LINE_TEXT_LIMIT = 1024,    // of a text that keel_json_known cuts
    KEEL_LINE_LIST_LIMIT = 1 << 18, // a line that grows too long is lost
};

// False if there is no journal.
bool keel_line_begin(keel_journal_t *journal, keel_line_t *line, const char *event);
// Writes the line; if that fails, it is lost, and the next one says so. Frees the buffer.
void keel_line_finish(keel_journal_t *journal, keel_line_t *line);

// A line for a different file than a journal.
void keel_line_begin_at(keel_json_t *line, const char *event, double t, int64_t pid);
void keel_line_end(keel_json_t *line);

// Fields. NULL leaves the field out.
void keel_line_text(keel_json_t *line, const char *name, const char *text);
// Also leaves out "", and cuts long texts.
void keel_line_known_text(keel_json_t *line, const char *name, const char *text);
// With nine decimals.
void keel_line_real(keel_json_t *line, const char *name, double value);
void keel_line_digest(keel_json_t *line, const char *name, const keel_digest_t *digest);
void keel_line_subject(keel_json_t *line, const keel_journal_subject_t *subject);
void keel_line_site(keel_json_t *line, const keel_journal_site_t *site);
// "stack", "stack_left_out", "stack_skipped".
void keel_line_stack(keel_json_t *line, const keel_stack_t *stack);

// An object, in a list if it has no name; keel_json_end_object ends it.
void keel_line_object(keel_json_t *line, const char *name);
// False once a list that began at that size of the line has used its share. Totals are written
// elsewhere, so a list may be cut.
bool keel_line_has_room(const keel_json_t *line, size_t began);

#endif // KEEL_JOURNAL_LINE_H_
