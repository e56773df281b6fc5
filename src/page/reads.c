#include <inttypes.h>

#include "page/part.h"

enum { LINES = 50 };

static void add_moved_cells(keel_buffer_t *out, const keel_moved_t *moved) {
    keel_page_number_cell(out, moved->count);
    keel_page_number_cell(out, moved->bytes);
    if (moved->is_untimed)
        keel_buffer_text(out, "<td class=\"number\">-</td>");
    else
        keel_page_seconds_cell(out, moved->seconds);
    keel_buffer_text(out, "<td>");
}

static void add_read_row(keel_buffer_t *out, const keel_reads_line_t *line) {
    keel_page_line_heading(out, line->shown, line->file, line->function);
    add_moved_cells(out, &line->moved);
    if (line->cuts) {
        keel_buffer_text(out, "cuts steps ");
        keel_page_count(out, line->cuts, "time");
        keel_buffer_format(out, ", the last in %" PRIu64 " programs", line->pieces);
    }
    keel_buffer_text(out, "</td></tr>\n");
}

static void summary(const keel_page_t *page) {
    const keel_reads_t *reads = &page->input->why->run.reads;
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<p>");
    keel_page_count(out, reads->from_device.count, "read");
    keel_buffer_text(out, " from the device; ");
    keel_page_count(out, reads->to_device.count, "transfer");
    keel_buffer_text(out, " to it. ");
    if (reads->cut_count) {
        keel_buffer_text(out, "Mid-step reads split steps <strong>");
        keel_reads_times(reads, out);
        keel_buffer_format(out, "</strong>. %s", keel_reads_advice(page->input->why, NULL));
        keel_page_more(page, keel_cause_facts(KEEL_CAUSE_HOST_READ)->word);
    }
    keel_buffer_text(out, "</p>\n");
}

void keel_page_reads(keel_page_t *page) {
    const keel_reads_t *reads = &page->input->why->run.reads;
    keel_buffer_t *out = page->out;
    keel_buffer_text(out, "<section id=\"reads\"><h2>Host reads</h2>\n");
    summary(page);
    if (reads->count) keel_page_open_table(out, "line,reads#,bytes#,time#,steps");
    for (size_t i = 0; i < reads->count && i < LINES; ++i)
        add_read_row(out, &reads->lines[i]);
    if (reads->count && reads->elsewhere.count) {
        keel_buffer_text(out, "<tr><th scope=\"row\">elsewhere (no line)</th>");
        add_moved_cells(out, &reads->elsewhere);
        keel_buffer_text(out, "</td></tr>\n");
    }
    if (reads->count) keel_page_close_table(out);
    keel_page_left(out, reads->count, LINES, "line");
    keel_buffer_text(out, "</section>\n");
}
