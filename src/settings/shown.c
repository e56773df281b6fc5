#include "settings/shown.h"

#include <stdio.h>

const char *keel_setting_show(keel_str_t value, keel_shown_t *out) {
    enum { ESCAPE = 4, DOTS = 3 };
    size_t size = 0;
    for (size_t i = 0; i < value.size; ++i) {
        unsigned char c = (unsigned char)value.data[i];
        if (size + ESCAPE + DOTS + 1 > sizeof out->text) {
            memcpy(out->text + size, "...", DOTS);
            size += DOTS;
            break;
        }
        if (c < 0x20 || c == 0x7f)
            size += (size_t)snprintf(out->text + size, ESCAPE + 1, "\\x%02x", c);
        else
            out->text[size++] = (char)c;
    }
    out->text[size] = 0;
    return out->text;
}
