// Numbers, sizes and times as people read and write them.
#ifndef KEEL_BASE_TEXT_H_
#define KEEL_BASE_TEXT_H_

#include "base/bytes.h"
#include "keel/status.h"

// The length in bytes of the UTF-8 character at text.data[at], 0 if there is none (RFC 3629: no
// surrogates, no overlong forms).
size_t keel_utf8_length(keel_str_t text, size_t at);

// Whether the character at text.data[at] may be shown as it is on a terminal or a page. False for
// controls (C1 too, which some terminals obey), for characters that end a line or change the text
// direction (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069: one name could look like
// another), and for a byte that is not UTF-8. *out_length is its length, at least 1.
bool keel_utf8_shows(keel_str_t text, size_t at, size_t *out_length);
// Puts '?' in place of each character that may not be shown; the size that the text then has.
size_t keel_utf8_mask(char *text, size_t size);

// "20G", "512MiB", "64kb", "1024": bytes, powers of 1024. False on anything else.
bool keel_parse_size(const char *text, uint64_t *out);
// "30d", "12h", "45m", "10s", "2w", and "0", into seconds. False on anything else.
bool keel_parse_age(const char *text, uint64_t *out);

// "1.2 MiB", "832 B": powers of 1024; `out` holds at least 16 bytes.
void keel_format_size(uint64_t bytes, char out[16]);
// "12.4 s", "95 ms", "1.3 ms", "3 min 20 s"; `out` holds at least 24 bytes.
void keel_format_seconds(double seconds, char out[24]);

// Lower-case hex; `out` holds 2 * size + 1 bytes.
void keel_hex(const uint8_t *data, size_t size, char *out);
// False unless the text is exactly 2 * size hex digits.
bool keel_unhex(keel_str_t text, uint8_t *out, size_t size);

#endif // KEEL_BASE_TEXT_H_
