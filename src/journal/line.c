#include "journal/line.h"

void keel_line_begin_at(keel_json_t *line, const char *event, double t, int64_t pid) {
    keel_json_object(line, NULL);
    keel_json_string(line, "event", event);
    keel_json_double(line, "t", t, 6);
    keel_json_int(line, "pid", pid);
}

void keel_line_end(keel_json_t *line) {
    keel_json_end_object(line);
    keel_buffer_byte(line->out, '\n');
}

void keel_line_text(keel_json_t *line, const char *name, const char *text) {
    if (text) keel_json_string(line, name, text);
}

void keel_line_known_text(keel_json_t *line, const char *name, const char *text) {
    keel_json_known(line, name, text, KEEL_LINE_TEXT_LIMIT);
}

void keel_line_real(keel_json_t *line, const char *name, double value) {
    keel_json_double(line, name, value, 9);
}

void keel_line_digest(keel_json_t *line, const char *name, const keel_digest_t *digest) {
    if (digest) keel_json_digest(line, name, digest);
}

void keel_line_subject(keel_json_t *line, const keel_journal_subject_t *subject) {
    keel_line_digest(line, "program", subject->program);
    keel_line_text(line, "name", subject->name);
    keel_line_digest(line, "key", subject->key);
}

void keel_line_object(keel_json_t *line, const char *name) {
    keel_json_object(line, name);
    keel_json_break(line, " ");
}

bool keel_line_has_room(const keel_json_t *line, size_t began) {
    return !line->out->failed && line->out->size - began <= KEEL_LINE_LIST_LIMIT;
}

void keel_line_site(keel_json_t *line, const keel_journal_site_t *site) {
    if (!site->file) return;
    keel_line_object(line, "site");
    keel_line_text(line, "file", site->file);
    keel_json_unsigned(line, "line", site->line);
    keel_line_text(line, "function", site->function);
    keel_line_text(line, "call_file", site->call_file);
    if (site->call_file) keel_json_unsigned(line, "call_line", site->call_line);
    keel_line_text(line, "library_file", site->library_file);
    if (site->library_file) keel_json_unsigned(line, "library_line", site->library_line);
    keel_line_text(line, "application", site->application);
    keel_line_text(line, "script_file", site->script_file);
    if (site->script_file) keel_json_unsigned(line, "script_line", site->script_line);
    keel_json_end_object(line);
}
