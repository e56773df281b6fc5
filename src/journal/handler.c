#include "journal/line.h"

static void put_place(keel_json_t *json, const keel_journal_place_t *place) {
    keel_json_object(json, NULL);
    if (place->library) {
        keel_json_string(json, "library", place->library);
        keel_json_unsigned(json, "offset", place->offset);
        keel_json_digest(json, "build", place->build);
    }
    keel_json_end_object(json);
}

void keel_journal_handler(keel_journal_t *journal, const keel_journal_handler_t *event) {
    keel_line_t line;
    if (!keel_line_begin(journal, &line, "handler")) return;
    keel_json_string(&line.json, "kind", event->kind);
    keel_json_string(&line.json, "name", event->name);
    keel_json_string(&line.json, "platform", event->platform);
    keel_json_unsigned(&line.json, "api_version", event->api_version);
    keel_json_unsigned(&line.json, "traits", event->traits);
    keel_json_array(&line.json, "places");
    for (size_t i = 0; i < event->place_count; ++i)
        put_place(&line.json, &event->places[i]);
    keel_json_end_array(&line.json);
    keel_line_finish(journal, &line);
}
