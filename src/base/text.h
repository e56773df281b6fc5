// Numbers, sizes and times as people read and write them.
#ifndef KEEL_BASE_TEXT_H_
#define KEEL_BASE_TEXT_H_

#include "base/bytes.h"
#include "keel/status.h"

// The length in bytes of the UTF-8 character at text.data[at], 0 where there is none (RFC 3629:
// no surrogates, no overlong forms).
size_t keel_utf8_length(keel_str_t text, size_t at);

// "20G", "512MiB", "64kb", "1024": bytes, powers of 1024. False on anything else.
bool keel_parse_size(const char *text, uint64_t *out);

// "1.2 MiB", "832 B": powers of 1024, as sizes are read; `out` holds at least 16 bytes.
void keel_format_size(uint64_t bytes, char out[16]);
// "12.4 s", "95 ms", "1.3 ms", "3 min 20 s"; `out` holds at least 24 bytes.
void keel_format_seconds(double seconds, char out[24]);

// Lower-case hex; `out` holds 2 * size + 1 bytes.
void keel_hex(const uint8_t *data, size_t size, char *out);
// False where the text is not exactly 2 * size hex digits.
bool keel_unhex(keel_str_t text, uint8_t *out, size_t size);

#endif // KEEL_BASE_TEXT_H_
