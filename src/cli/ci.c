#include "cli/ci.h"

void ci_put_xml(keel_buffer_t *out, keel_str_t text) {
    size_t length;
    for (size_t i = 0; i < text.size; i += length) {
        bool shows = keel_utf8_shows(text, i, &length);
        char c = text.data[i];
        if (!shows)
            keel_buffer_byte(out, '?');
        else if (c == '<' || c == '>' || c == '&' || c == '"')
            keel_buffer_format(out, "&#%d;", c);
        else
            keel_buffer_append(out, text.data + i, length);
    }
}

void ci_put_uri(keel_buffer_t *out, keel_str_t path) {
    if (path.size && *path.data == '/') keel_buffer_text(out, "file://");
    for (size_t i = 0; i < path.size; ++i) {
        char c = path.data[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || keel_is_digit(c) ||
                        memchr("-._~/", c, 5);
        if (is_plain)
            keel_buffer_byte(out, (uint8_t)c);
        else
            keel_buffer_format(out, "%%%02X", (unsigned char)c);
    }
}
