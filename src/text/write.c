#include <inttypes.h>
#include <stdio.h>

#include "text/write.h"

void keel_write_foreign_str(keel_buffer_t *out, keel_str_t text) {
    size_t length;
    for (size_t i = 0; i < text.size; i += length) {
        if (keel_utf8_shows(text, i, &length))
            keel_buffer_append(out, text.data + i, length);
        else
            keel_buffer_byte(out, '?');
    }
}

void keel_write_foreign(keel_buffer_t *out, const char *text) {
    keel_write_foreign_str(out, keel_str(text));
}

void keel_write_seconds(keel_buffer_t *out, double value) {
    char text[24];
    keel_format_seconds(value, text);
    keel_buffer_text(out, text);
}

void keel_format_took(const keel_took_t *took, char out[32]) {
    char text[24];
    keel_format_seconds(took->seconds, text);
    snprintf(out, 32, "%s%s", took->unknown ? "> " : "", text);
    if (!keel_took_is_known(took)) snprintf(out, 32, "-");
}

void keel_write_took(keel_buffer_t *out, const keel_took_t *took) {
    if (!keel_took_is_known(took)) {
        keel_buffer_byte(out, '-');
        return;
    }
    keel_buffer_text(out, took->unknown ? "at least " : "");
    keel_write_seconds(out, took->seconds);
}

void keel_write_cost(keel_buffer_t *out, const keel_took_t *took) {
    if (!keel_took_is_known(took)) return;
    keel_buffer_text(out, " cost ");
    keel_write_took(out, took);
}

void keel_format_steps(uint64_t first, uint64_t last, bool at_end, char out[48]) {
    last -= at_end;
    if (first > last)
        snprintf(out, 48, "after step %" PRIu64, last);
    else if (first == last)
        snprintf(out, 48, "step %" PRIu64, first);
    else
        snprintf(out, 48, "steps %" PRIu64 "-%" PRIu64, first, last);
}

void keel_write_size(keel_buffer_t *out, uint64_t bytes) {
    char text[16];
    keel_format_size(bytes, text);
    keel_buffer_text(out, text);
}

void keel_write_counted(keel_buffer_t *out, uint64_t count, const char *noun) {
    keel_buffer_format(out, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : "s");
}

void keel_write_damage(keel_buffer_t *out, const char *path, const keel_journal_damage_t *damage) {
    if (!damage->lines) return;
    keel_buffer_format(out, "%s:%" PRIu64 ": ", path, damage->first_line);
    keel_write_foreign(out, damage->why);
    if (damage->lines > 1)
        keel_buffer_format(out, " (and %" PRIu64 " more lines)", damage->lines - 1);
    keel_buffer_text(out, "; the figures leave it out: remove the line, or the run's folder");
}

void keel_write_run(keel_buffer_t *out, const keel_run_t *run) {
    keel_buffer_format(out, "run %s  ", run->id);
    keel_write_foreign(out, *run->command ? run->command : "(command unknown)");
    keel_buffer_byte(out, '\n');
}
