// What tables of the page share.
#include <inttypes.h>

#include "page/part.h"

void keel_page_open_table(keel_buffer_t *out, const char *columns) {
    keel_buffer_text(out, "<div class=\"wide\" tabindex=\"0\"><table><thead><tr>");
    for (size_t size; *columns; columns += size + (columns[size] == ',')) {
        size = strcspn(columns, ",");
        bool is_number = columns[size - 1] == '#';
        keel_buffer_format(out, "<th scope=\"col\"%s>%.*s</th>",
                           is_number ? " class=\"number\"" : "", (int)(size - is_number), columns);
    }
    keel_buffer_text(out, "</tr></thead><tbody>\n");
}

void keel_page_close_table(keel_buffer_t *out) {
    keel_buffer_text(out, "</tbody></table></div>\n");
}

void keel_page_number_cell(keel_buffer_t *out, uint64_t number) {
    keel_buffer_format(out, "<td class=\"number\">%" PRIu64 "</td>", number);
}

void keel_page_seconds_cell(keel_buffer_t *out, double seconds) {
    keel_buffer_text(out, "<td class=\"number\">");
    keel_page_seconds(out, seconds);
    keel_buffer_text(out, "</td>");
}

void keel_page_took_cell(keel_buffer_t *out, const keel_took_t *took) {
    keel_buffer_text(out, "<td class=\"number\">");
    keel_page_took(out, took);
    keel_buffer_text(out, "</td>");
}

void keel_page_line_heading(keel_buffer_t *out, const char *shown, const char *file,
                            const char *function) {
    keel_buffer_text(out, "<tr><th scope=\"row\">");
    keel_page_place(out, shown, file);
    if (*function) {
        keel_buffer_text(out, " <span class=\"muted\">in ");
        keel_page_cut(out, function, 80);
        keel_buffer_text(out, "</span>");
    }
    keel_buffer_text(out, "</th>");
}
