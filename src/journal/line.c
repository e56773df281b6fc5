#include <inttypes.h>

#include <string.h>

#include "journal/line.h"

void keel_line_begin_at(keel_buffer_t *line, const char *event, double t, int64_t pid) {
    uint64_t micros = t > 0 && t < 1e12 ? (uint64_t)(t * 1e6 + 0.5) : 0;
    keel_buffer_format(line, "{\"event\":\"%s\",\"t\":%" PRIu64 ".%06" PRIu64 ",\"pid\":%" PRId64,
                       event, micros / 1000000u, micros % 1000000u, pid);
}

void keel_line_name(keel_buffer_t *line, const char *name) {
    keel_buffer_format(line, ",\"%s\":", name);
}

void keel_line_text(keel_buffer_t *line, const char *name, const char *text) {
    if (!text) return;
    keel_line_name(line, name);
    keel_buffer_json_str(line, keel_str(text));
}

void keel_line_known_text(keel_buffer_t *line, const char *name, const char *text) {
    enum { LIMIT = 1024 };
    if (!text || !*text) return;
    keel_str_t whole = keel_str(text);
    if (whole.size <= LIMIT) {
        keel_line_text(line, name, text);
        return;
    }
    char cut[LIMIT + 4];
    size_t size = LIMIT;
    while (size && ((unsigned char)text[size] & 0xc0) == 0x80)
        --size; // never inside a character
    memcpy(cut, text, size);
    memcpy(cut + size, "...", 4);
    keel_line_text(line, name, cut);
}

void keel_line_number(keel_buffer_t *line, const char *name, uint64_t number) {
    keel_buffer_format(line, ",\"%s\":%" PRIu64, name, number);
}

void keel_line_real(keel_buffer_t *line, const char *name, double value) {
    // JSON has no NaN and no infinity, and a locale could write a comma.
    uint64_t nanoseconds = value > 0 && value < 9e9 ? (uint64_t)(value * 1e9 + 0.5) : 0;
    keel_buffer_format(line, ",\"%s\":%" PRIu64 ".%09" PRIu64, name, nanoseconds / 1000000000u,
                       nanoseconds % 1000000000u);
}

void keel_line_true(keel_buffer_t *line, const char *name, bool value) {
    keel_buffer_format(line, ",\"%s\":%s", name, value ? "true" : "false");
}

void keel_line_digest(keel_buffer_t *line, const char *name, const keel_digest_t *digest) {
    if (!digest) return;
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(digest, hex);
    keel_buffer_format(line, ",\"%s\":\"%s\"", name, hex);
}

void keel_line_subject(keel_buffer_t *line, const keel_journal_subject_t *subject) {
    keel_line_digest(line, "program", subject->program);
    keel_line_text(line, "name", subject->name);
    keel_line_digest(line, "key", subject->key);
}

// Removes the comma that the object's first field brought.
void keel_line_close(keel_buffer_t *line, size_t opened_at) {
    if (!line->failed && line->size > opened_at && line->data[opened_at] == ',')
        line->data[opened_at] = ' ';
    keel_buffer_byte(line, '}');
}

size_t keel_line_open(keel_buffer_t *line, const char *name) {
    keel_line_name(line, name);
    keel_buffer_byte(line, '{');
    return line->size;
}

void keel_line_site(keel_buffer_t *line, const keel_journal_site_t *site) {
    if (!site->file) return;
    size_t at = keel_line_open(line, "site");
    keel_line_text(line, "file", site->file);
    keel_line_number(line, "line", site->line);
    keel_line_text(line, "function", site->function);
    keel_line_text(line, "call_file", site->call_file);
    if (site->call_file) keel_line_number(line, "call_line", site->call_line);
    keel_line_text(line, "library_file", site->library_file);
    if (site->library_file) keel_line_number(line, "library_line", site->library_line);
    keel_line_close(line, at);
}
