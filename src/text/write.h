// write: words and JSON fields, for the files of this room.
#ifndef KEEL_TEXT_WRITE_H_
#define KEEL_TEXT_WRITE_H_

#include "journal/journal.h"

// ---- for people --------------------------------------------------------------------------------

// Text from a foreign file, safe for a terminal.
void keel_write_foreign(keel_buffer_t *out, const char *text);
void keel_write_foreign_str(keel_buffer_t *out, keel_str_t text);
void keel_write_seconds(keel_buffer_t *out, double value);
void keel_write_size(keel_buffer_t *out, uint64_t bytes);
// "1 compile", "2 compiles".
void keel_write_counted(keel_buffer_t *out, uint64_t count, const char *noun);
// As keel_text_damage.
void keel_write_damage(keel_buffer_t *out, const char *path, const keel_journal_damage_t *damage);

// ---- JSON --------------------------------------------------------------------------------------

// Fields are written by hand: jansson prints a double with 17 digits, which nobody wants to read.
// Each brings the comma before it, but behind '{' and '['.
void keel_json_name(keel_buffer_t *out, const char *field);
void keel_json_text(keel_buffer_t *out, const char *field, const char *value);
void keel_json_number(keel_buffer_t *out, const char *field, uint64_t value);
// With microseconds.
void keel_json_seconds(keel_buffer_t *out, const char *field, double value);
void keel_json_true(keel_buffer_t *out, const char *field, bool value);

#endif // KEEL_TEXT_WRITE_H_
