#define _GNU_SOURCE
#include <string.h>

#include "journal/line.h"

enum { TEXT_LIMIT = 4096 };

static void required_text(keel_buffer_t *line, const char *name, const char *value) {
    if (!value || !*value) return;
    keel_line_name(line, name);
    keel_buffer_json_str(line, (keel_str_t){value, strnlen(value, TEXT_LIMIT)});
}

void keel_journal_fix(keel_journal_t *journal, const keel_journal_fix_t *event) {
    keel_buffer_t line;
    if (!keel_line_begin(journal, &line, "fix")) return;
    required_text(&line, "name", event->name);
    required_text(&line, "state", event->state);
    required_text(&line, "label", event->label);
    required_text(&line, "reference", event->reference);
    required_text(&line, "client", event->client);
    required_text(&line, "why", event->why);
    keel_line_finish(journal, &line);
}
