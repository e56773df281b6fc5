#include "journal/line.h"

void keel_journal_bundle(keel_journal_t *journal, const keel_journal_bundle_t *event) {
    keel_buffer_t line;
    if (!keel_line_begin(journal, &line, "bundle")) return;
    keel_line_real(&line, "seconds", event->seconds);
    keel_line_real(&line, "client_seconds", event->client_seconds);
    keel_line_name(&line, "bundle");
    keel_buffer_str(&line, event->json);
    keel_line_finish(journal, &line);
}
