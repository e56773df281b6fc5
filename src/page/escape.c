#include <inttypes.h>

#include "page/part.h"

static void one_byte(keel_buffer_t *out, char c) {
    switch (c) {
        case '&':
            keel_buffer_text(out, "&amp;");
            return;
        case '<':
            keel_buffer_text(out, "&lt;");
            return;
        case '>':
            keel_buffer_text(out, "&gt;");
            return;
        case '"':
            keel_buffer_text(out, "&quot;");
            return;
        case '\'':
            keel_buffer_text(out, "&#39;");
            return;
        case '\t':
            keel_buffer_text(out, "    ");
            return;
        default:
            keel_buffer_byte(out, (uint8_t)c);
    }
}

void keel_page_str(keel_buffer_t *out, keel_str_t text) {
    size_t length;
    for (size_t i = 0; i < text.size && !out->failed; i += length) {
        bool shows = keel_utf8_shows(text, i, &length) || text.data[i] == '\t';
        if (!shows)
            keel_buffer_text(out, "\xef\xbf\xbd");
        else if (length == 1)
            one_byte(out, text.data[i]);
        else
            keel_buffer_append(out, text.data + i, length);
    }
}

void keel_page_text(keel_buffer_t *out, const char *text) {
    keel_page_str(out, keel_str(text));
}

void keel_page_cut(keel_buffer_t *out, const char *text, size_t most) {
    keel_str_t whole = keel_str(text);
    if (whole.size <= most) {
        keel_page_str(out, whole);
        return;
    }
    // Not inside a character.
    while (most && ((uint8_t)whole.data[most] & 0xc0) == 0x80)
        --most;
    keel_page_str(out, (keel_str_t){whole.data, most});
    keel_buffer_text(out, "...");
}

void keel_page_digest(keel_buffer_t *out, const char *hex) {
    keel_str_t start = keel_str(hex);
    if (start.size > 12) start.size = 12;
    keel_buffer_text(out, "<code>");
    keel_page_str(out, start);
    keel_buffer_text(out, "</code>");
}

void keel_page_seconds(keel_buffer_t *out, double seconds) {
    char text[24];
    keel_format_seconds(seconds, text);
    for (const char *c = text; *c; ++c) // never broken between the number and its unit
        if (*c == ' ')
            keel_buffer_text(out, "&nbsp;");
        else
            keel_buffer_byte(out, (uint8_t)*c);
}

void keel_page_took(keel_buffer_t *out, const keel_took_t *took) {
    if (!keel_took_is_known(took)) {
        keel_buffer_byte(out, '-');
        return;
    }
    if (took->unknown) keel_buffer_text(out, "at least ");
    keel_page_seconds(out, took->seconds);
}

void keel_page_count(keel_buffer_t *out, uint64_t count, const char *noun) {
    keel_buffer_format(out, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : "s");
}

void keel_page_time(keel_buffer_t *out, double when) {
    static const double latest = 9e9; // nanoseconds since 1970 hold no more
    if (!(when > 0 && when < latest)) return;
    char text[24];
    keel_clock_iso((uint64_t)(when * 1e9), text);
    keel_buffer_format(out, "<time datetime=\"%s\">%.10s %.8s UTC</time>", text, text, text + 11);
}

void keel_page_place(keel_buffer_t *out, const char *shown, const char *file) {
    enum { LONGEST = 300 };
    if (!*shown) {
        keel_buffer_text(out, "<span class=\"muted\">unknown line</span>");
        return;
    }
    keel_buffer_text(out, "<code class=\"place\" title=\"");
    keel_page_cut(out, file, 4 * LONGEST);
    keel_buffer_text(out, "\">");
    keel_page_cut(out, shown, LONGEST);
    keel_buffer_text(out, "</code>");
}

void keel_page_left(keel_buffer_t *out, uint64_t all, uint64_t shown, const char *noun) {
    if (all <= shown) return;
    keel_buffer_text(out, "<p class=\"muted left\">and ");
    keel_page_count(out, all - shown, noun);
    keel_buffer_text(out, " more</p>\n");
}
