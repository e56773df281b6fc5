#include "journal/line.h"

// A line that grows past the limit would end the journal. Totals are written first.
enum { LIST_LIMIT = 1 << 18 };

static void transfer(keel_buffer_t *line, const keel_journal_transfer_t *value) {
    keel_line_number(line, "count", value->count);
    keel_line_number(line, "bytes", value->bytes);
    keel_line_real(line, "seconds", value->seconds);
}

static void direction(keel_buffer_t *line, const char *name, const keel_journal_transfer_t *value) {
    size_t at = keel_line_open(line, name);
    transfer(line, value);
    keel_line_close(line, at);
}

static void read(keel_buffer_t *line, const keel_journal_read_t *value) {
    keel_line_site(line, &value->site);
    transfer(line, &value->transfer);
}

static void piece(keel_buffer_t *line, const keel_journal_piece_t *value) {
    keel_line_digest(line, "program", value->program);
    keel_line_site(line, &value->site);
    keel_line_number(line, "forced", value->forced);
    keel_line_number(line, "sampled", value->sampled);
    keel_line_number(line, "shared", value->shared);
    keel_line_digest(line, "rest", value->rest);
    if (value->pieces) keel_line_number(line, "pieces", value->pieces);
}

// Begins an element of a list; false once the list has used its share.
static bool element(keel_buffer_t *line, size_t began, size_t index) {
    if (line->failed || line->size - began > LIST_LIMIT) return false;
    keel_buffer_text(line, index ? ",{" : "{");
    return true;
}

static void reads(keel_buffer_t *line, const keel_journal_transfers_t *event) {
    keel_line_name(line, "reads");
    keel_buffer_byte(line, '[');
    size_t began = line->size;
    for (size_t i = 0; i < event->read_count && element(line, began, i); ++i) {
        size_t at = line->size;
        read(line, &event->reads[i]);
        keel_line_close(line, at);
    }
    keel_buffer_byte(line, ']');
}

static void pieces(keel_buffer_t *line, const keel_journal_transfers_t *event) {
    keel_line_name(line, "pieces");
    keel_buffer_byte(line, '[');
    size_t began = line->size;
    for (size_t i = 0; i < event->piece_count && element(line, began, i); ++i) {
        size_t at = line->size;
        piece(line, &event->pieces[i]);
        keel_line_close(line, at);
    }
    keel_buffer_byte(line, ']');
}

void keel_journal_transfers(keel_journal_t *journal, const keel_journal_transfers_t *event) {
    keel_buffer_t line;
    if (!keel_line_begin(journal, &line, "transfers")) return;
    direction(&line, "to_device", &event->to_device);
    direction(&line, "from_device", &event->from_device);
    if (event->cut_steps) keel_line_number(&line, "cut_steps", event->cut_steps);
    if (event->cut_steps) keel_line_number(&line, "cut_pieces", event->cut_pieces);
    if (event->read_count) reads(&line, event);
    if (event->piece_count) pieces(&line, event);
    keel_line_finish(journal, &line);
}

void keel_journal_step(keel_journal_t *journal, uint64_t count) {
    keel_buffer_t line;
    if (!keel_line_begin(journal, &line, "step")) return;
    keel_line_number(&line, "count", count);
    keel_line_finish(journal, &line);
}
