#include "settings/shown.h"

#include <stdio.h>

const char *keel_setting_show(keel_str_t value, keel_shown_t *out) {
    enum { ESCAPE = 4, DOTS = 3 };
    size_t size = 0;
    size_t length;
    for (size_t i = 0; i < value.size; i += length) {
        bool shows = keel_utf8_shows(value, i, &length);
        if (size + ESCAPE * length + DOTS + 1 > sizeof out->text) {
            memcpy(out->text + size, "...", DOTS);
            size += DOTS;
            break;
        }
        for (size_t k = i; k < i + length; ++k) {
            if (shows)
                out->text[size++] = value.data[k];
            else
                size += (size_t)snprintf(out->text + size, ESCAPE + 1, "\\x%02x",
                                         (unsigned char)value.data[k]);
        }
    }
    out->text[size] = 0;
    return out->text;
}
