// The words of one line.
#include "contract/internal.h"

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

keel_str_t contract_trim(keel_str_t text) {
    while (text.size && is_blank(*text.data)) {
        ++text.data;
        --text.size;
    }
    while (text.size && is_blank(text.data[text.size - 1]))
        --text.size;
    return text;
}

bool contract_read_number(keel_str_t text, int64_t *out) {
    int64_t value = 0;
    if (!text.size || text.size > 18 || (text.size > 1 && *text.data == '0')) return false;
    for (size_t i = 0; i < text.size; ++i) {
        if (!keel_is_digit(text.data[i])) return false;
        value = value * 10 + (text.data[i] - '0');
    }
    *out = value;
    return true;
}

static bool needs_quotes(keel_str_t text) {
    size_t length;
    for (size_t i = 0; i < text.size; i += length) {
        char c = text.data[i];
        if (!keel_utf8_shows(text, i, &length) || is_blank(c) || c == '"' || c == '\\') return true;
    }
    return !text.size;
}

void contract_put_word(keel_buffer_t *out, keel_str_t text) {
    size_t length;
    if (!needs_quotes(text)) {
        keel_buffer_str(out, text);
        return;
    }
    keel_buffer_byte(out, '"');
    for (size_t i = 0; i < text.size; i += length) {
        if (keel_utf8_shows(text, i, &length)) {
            if (text.data[i] == '"' || text.data[i] == '\\') keel_buffer_byte(out, '\\');
            keel_buffer_append(out, text.data + i, length);
        } else {
            for (size_t k = i; k < i + length; ++k)
                keel_buffer_format(out, "\\x%02x", (unsigned char)text.data[k]);
        }
    }
    keel_buffer_byte(out, '"');
}

static keel_status_t take_escape(keel_str_t text, size_t *at, keel_buffer_t *out) {
    uint8_t byte;
    char c = *at + 1 < text.size ? text.data[*at + 1] : 0;
    if (c == '"' || c == '\\') {
        keel_buffer_byte(out, (uint8_t)c);
        *at += 2;
        return NULL;
    }
    if (c != 'x' || text.size - *at < 4 ||
        !keel_unhex((keel_str_t){text.data + *at + 2, 2}, &byte, 1))
        return keel_status_make(KEEL_INVALID,
                                "a \\ in quotes is followed by \", \\ or x and two hex digits");
    keel_buffer_byte(out, byte);
    *at += 4;
    return NULL;
}

static keel_status_t take_quoted(keel_str_t *rest, keel_buffer_t *out) {
    size_t at = 1;
    while (at < rest->size && rest->data[at] != '"') {
        if (rest->data[at] == '\\')
            KEEL_TRY(take_escape(*rest, &at, out));
        else
            keel_buffer_byte(out, (uint8_t)rest->data[at++]);
    }
    if (at == rest->size) return keel_status_make(KEEL_INVALID, "a quote is not closed");
    ++at;
    if (at < rest->size && !is_blank(rest->data[at]))
        return keel_status_make(KEEL_INVALID, "a blank is missing after a quote");
    *rest = (keel_str_t){rest->data + at, rest->size - at};
    return keel_buffer_status(out);
}

keel_status_t contract_take_word(keel_str_t *rest, keel_arena_t *arena, keel_str_t *out) {
    *rest = contract_trim(*rest);
    if (rest->size && *rest->data == '"') {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        keel_status_t status = take_quoted(rest, &text);
        if (!status) status = keel_arena_str(arena, keel_bytes_str(keel_buffer_bytes(&text)), out);
        keel_buffer_deinitialize(&text);
        return status;
    }
    size_t size = 0;
    while (size < rest->size && !is_blank(rest->data[size]))
        ++size;
    keel_status_t status = keel_arena_str(arena, (keel_str_t){rest->data, size}, out);
    *rest = (keel_str_t){rest->data + size, rest->size - size};
    return status;
}
