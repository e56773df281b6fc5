#include "base/json.h"

// ---- commas and names --------------------------------------------------------------------------

static void begin(keel_json_t *json) {
    if (json->is_behind) keel_buffer_byte(json->out, ',');
    if (json->space)
        keel_buffer_text(json->out, json->space);
    else if (json->is_behind && json->style == KEEL_JSON_SPACED)
        keel_buffer_byte(json->out, ' ');
    json->space = NULL;
}

static void end_name(keel_json_t *json) {
    keel_buffer_text(json->out, json->style == KEEL_JSON_SPACED ? ": " : ":");
    json->is_behind = false;
}

void keel_json_key(keel_json_t *json, keel_str_t name) {
    begin(json);
    keel_buffer_json_str(json->out, name);
    end_name(json);
}

keel_buffer_t *keel_json_value(keel_json_t *json, const char *name) {
    begin(json);
    if (name) {
        keel_buffer_byte(json->out, '"');
        keel_buffer_text(json->out, name);
        keel_buffer_byte(json->out, '"');
        end_name(json);
    }
    json->is_behind = true;
    return json->out;
}

static void put_opening(keel_json_t *json, const char *name, uint8_t bracket) {
    keel_buffer_byte(keel_json_value(json, name), bracket);
    json->is_behind = false;
}

static void put_closing(keel_json_t *json, uint8_t bracket) {
    if (json->is_behind && json->space) keel_buffer_text(json->out, json->space);
    keel_buffer_byte(json->out, bracket);
    json->space = NULL;
    json->is_behind = true;
}

void keel_json_object(keel_json_t *json, const char *name) {
    put_opening(json, name, '{');
}

void keel_json_end_object(keel_json_t *json) {
    put_closing(json, '}');
}

void keel_json_array(keel_json_t *json, const char *name) {
    put_opening(json, name, '[');
}

void keel_json_end_array(keel_json_t *json) {
    put_closing(json, ']');
}

// ---- strings -----------------------------------------------------------------------------------

void keel_json_str(keel_json_t *json, const char *name, keel_str_t text) {
    keel_buffer_json_str(keel_json_value(json, name), text);
}

void keel_json_string(keel_json_t *json, const char *name, const char *text) {
    if (text)
        keel_json_str(json, name, keel_str(text));
    else
        keel_json_null(json, name);
}

void keel_json_known(keel_json_t *json, const char *name, const char *text, size_t longest) {
    if (!text || !*text) return;
    size_t size = strlen(text);
    bool is_cut = longest && size > longest;
    if (is_cut) size = longest;
    while (is_cut && size && ((unsigned char)text[size] & 0xc0) == 0x80)
        --size; // never inside a character
    keel_json_str(json, name, (keel_str_t){text, size});
    if (!is_cut || json->out->failed) return;
    --json->out->size; // the quote
    keel_buffer_text(json->out, "...\"");
}

void keel_json_hex(keel_json_t *json, const char *name, keel_bytes_t bytes) {
    keel_buffer_t *out = keel_json_value(json, name);
    keel_buffer_byte(out, '"');
    keel_buffer_hex(out, bytes);
    keel_buffer_byte(out, '"');
}

void keel_json_digest(keel_json_t *json, const char *name, const keel_digest_t *digest) {
    keel_json_hex(json, name, keel_bytes(digest->bytes, KEEL_DIGEST_SIZE));
}

// ---- numbers and words -------------------------------------------------------------------------

enum { MOST_DIGITS = 20 }; // of 64 bits

static void put_digits(keel_buffer_t *out, uint64_t value, unsigned least) {
    char digits[MOST_DIGITS];
    size_t at = MOST_DIGITS;
    for (; value || at > MOST_DIGITS - least; value /= 10)
        digits[--at] = (char)('0' + value % 10);
    keel_buffer_append(out, digits + at, MOST_DIGITS - at);
}

void keel_json_unsigned(keel_json_t *json, const char *name, uint64_t value) {
    put_digits(keel_json_value(json, name), value, 1);
}

void keel_json_int(keel_json_t *json, const char *name, int64_t value) {
    keel_buffer_t *out = keel_json_value(json, name);
    if (value < 0) keel_buffer_byte(out, '-');
    put_digits(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1);
}

void keel_json_double(keel_json_t *json, const char *name, double value, unsigned decimals) {
    uint64_t one = 1;
    for (unsigned i = 0; i < decimals; ++i)
        one *= 10;
    double scaled = value * (double)one;
    uint64_t rounded = scaled > 0 && scaled < 9e18 ? (uint64_t)(scaled + 0.5) : 0;
    if ((double)rounded - scaled == 0.5) rounded &= ~(uint64_t)1; // to the even one, as printf does
    keel_buffer_t *out = keel_json_value(json, name);
    put_digits(out, rounded / one, 1);
    if (!decimals) return;
    keel_buffer_byte(out, '.');
    put_digits(out, rounded % one, decimals);
}

void keel_json_bool(keel_json_t *json, const char *name, bool value) {
    keel_buffer_text(keel_json_value(json, name), value ? "true" : "false");
}

void keel_json_null(keel_json_t *json, const char *name) {
    keel_buffer_text(keel_json_value(json, name), "null");
}
