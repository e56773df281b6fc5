#include "journal/line.h"

void keel_journal_bundle(keel_journal_t *journal, const keel_journal_bundle_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "bundle")) return;
    keel_line_real(&line.json, "seconds", event->seconds);
    keel_line_real(&line.json, "client_seconds", event->client_seconds);
    keel_buffer_str(keel_json_value(&line.json, "bundle"), event->json);
    keel_line_finish(journal, &line);
}
