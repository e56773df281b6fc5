#include "journal/line.h"

static void transfer(keel_json_t *line, const keel_journal_transfer_t *value) {
    keel_json_unsigned(line, "count", value->count);
    keel_json_unsigned(line, "bytes", value->bytes);
    keel_line_real(line, "seconds", value->seconds);
}

static void direction(keel_json_t *line, const char *name, const keel_journal_transfer_t *value) {
    keel_line_object(line, name);
    transfer(line, value);
    keel_json_end_object(line);
}

static void read(keel_json_t *line, const keel_journal_read_t *value) {
    keel_line_object(line, NULL);
    keel_line_site(line, &value->site);
    transfer(line, &value->transfer);
    keel_json_end_object(line);
}

static void piece(keel_json_t *line, const keel_journal_piece_t *value) {
    keel_line_object(line, NULL);
    keel_line_digest(line, "program", value->program);
    keel_line_site(line, &value->site);
    keel_json_unsigned(line, "forced", value->forced);
    keel_json_unsigned(line, "sampled", value->sampled);
    keel_json_unsigned(line, "shared", value->shared);
    keel_line_digest(line, "rest", value->rest);
    if (value->pieces) keel_json_unsigned(line, "pieces", value->pieces);
    keel_json_end_object(line);
}

static void write_reads(keel_json_t *line, const keel_journal_transfers_t *event) {
    keel_json_array(line, "reads");
    size_t began = line->out->size;
    for (size_t i = 0; i < event->read_count && keel_line_has_room(line, began); ++i)
        read(line, &event->reads[i]);
    keel_json_end_array(line);
}

static void pieces(keel_json_t *line, const keel_journal_transfers_t *event) {
    keel_json_array(line, "pieces");
    size_t began = line->out->size;
    for (size_t i = 0; i < event->piece_count && keel_line_has_room(line, began); ++i)
        piece(line, &event->pieces[i]);
    keel_json_end_array(line);
}

void keel_journal_transfers(keel_journal_t *journal, const keel_journal_transfers_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "transfers")) return;
    direction(&line.json, "to_device", &event->to_device);
    direction(&line.json, "from_device", &event->from_device);
    if (event->cut_steps) keel_json_unsigned(&line.json, "cut_steps", event->cut_steps);
    if (event->cut_steps) keel_json_unsigned(&line.json, "cut_pieces", event->cut_pieces);
    if (event->read_count) write_reads(&line.json, event);
    if (event->piece_count) pieces(&line.json, event);
    keel_line_finish(journal, &line);
}

void keel_journal_step(keel_journal_t *journal, uint64_t count) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "step")) return;
    keel_json_unsigned(&line.json, "count", count);
    keel_line_finish(journal, &line);
}

void keel_journal_freeze(keel_journal_t *journal) {
    keel_line_t line;
    if (keel_line_begin(journal, &line, "freeze")) keel_line_finish(journal, &line);
}
