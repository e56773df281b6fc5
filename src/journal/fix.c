#define _GNU_SOURCE
#include <string.h>

#include "journal/line.h"

enum { TEXT_LIMIT = 4096 };

static void required_text(keel_json_t *line, const char *name, const char *value) {
    if (!value || !*value) return;
    keel_json_str(line, name, (keel_str_t){value, strnlen(value, TEXT_LIMIT)});
}

void keel_journal_fix(keel_journal_t *journal, const keel_journal_fix_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "fix")) return;
    required_text(&line.json, "name", event->name);
    required_text(&line.json, "state", event->state);
    required_text(&line.json, "label", event->label);
    required_text(&line.json, "reference", event->reference);
    required_text(&line.json, "client", event->client);
    required_text(&line.json, "why", event->why);
    keel_line_finish(journal, &line);
}
