// json: writes JSON into a buffer, one value after the other; jansson reads what others wrote.
//
// The writer knows where a comma belongs and escapes text. Numbers are written with the digits that
// the caller asks for: jansson would write a double with 17, which nobody wants to read.
//
//   keel_json_t json = keel_json(&buffer, KEEL_JSON_SPACED);
//   keel_json_object(&json, NULL);
//   keel_json_string(&json, "name", "jit_f");
//   keel_json_array(&json, "sizes");
//   keel_json_unsigned(&json, NULL, 4);
//   keel_json_end_array(&json);
//   keel_json_end_object(&json);
//
// gives {"name": "jit_f", "sizes": [4]}.
//
// Each function takes the name of the member that it writes; in a list, and after keel_json_key, it
// is NULL. Errors stick in the buffer: write freely, then check keel_buffer_status once.
#ifndef KEEL_BASE_JSON_H_
#define KEEL_BASE_JSON_H_

#include "base/buffer.h"
#include "base/hash.h"

typedef enum keel_json_style_t {
    KEEL_JSON_COMPACT, // {"a":1,"b":2}, for files and programs
    KEEL_JSON_SPACED,  // {"a": 1, "b": 2}, for people
} keel_json_style_t;

typedef struct keel_json_t {
    keel_buffer_t *out;
    keel_json_style_t style;
    bool is_behind;    // a value precedes the next one, which needs a comma
    const char *space; // of keel_json_break, until it is written; or NULL
} keel_json_t;

// The buffer stays the caller's.
static inline keel_json_t keel_json(keel_buffer_t *out, keel_json_style_t style) {
    return (keel_json_t){.out = out, .style = style};
}

void keel_json_object(keel_json_t *json, const char *name);
void keel_json_end_object(keel_json_t *json);
void keel_json_array(keel_json_t *json, const char *name);
void keel_json_end_array(keel_json_t *json);

// The name of the next value, if it is not a word of Keel's: it is escaped.
void keel_json_key(keel_json_t *json, keel_str_t name);

// Escaped as by keel_buffer_json_str. A NULL string is null.
void keel_json_string(keel_json_t *json, const char *name, const char *text);
void keel_json_str(keel_json_t *json, const char *name, keel_str_t text);
// Leaves out NULL and ""; of a text beyond `longest` bytes, "..." ends what is kept (0: no limit).
void keel_json_known(keel_json_t *json, const char *name, const char *text, size_t longest);
// Strings of lower-case hex.
void keel_json_hex(keel_json_t *json, const char *name, keel_bytes_t bytes);
void keel_json_digest(keel_json_t *json, const char *name, const keel_digest_t *digest);
void keel_json_unsigned(keel_json_t *json, const char *name, uint64_t value);
void keel_json_int(keel_json_t *json, const char *name, int64_t value);
// A time, a size or a share, with that many decimals (at most 9). What is negative, NaN or has more
// than 19 digits becomes 0: JSON has no word for it.
void keel_json_double(keel_json_t *json, const char *name, double value, unsigned decimals);
void keel_json_bool(keel_json_t *json, const char *name, bool value);
void keel_json_null(keel_json_t *json, const char *name);

// For a value that the caller writes into the buffer, which is returned.
keel_buffer_t *keel_json_value(keel_json_t *json, const char *name);

// White space before the next value or name, after its comma, or before the bracket that ends the
// list or object, unless that is empty. Without it, JSON is one line.
static inline void keel_json_break(keel_json_t *json, const char *space) {
    json->space = space;
}

#endif // KEEL_BASE_JSON_H_
