#include <jansson.h>

#include "journal/journal.h"

const char *keel_event_text(const json_t *event, const char *name) {
    const char *text = json_string_value(json_object_get(event, name));
    return text ? text : "";
}

double keel_event_number(const json_t *event, const char *name) {
    double number = json_number_value(json_object_get(event, name));
    return number > 0 && number < 1e18 ? number : 0;
}

uint64_t keel_event_count(const json_t *event, const char *name) {
    json_int_t number = json_integer_value(json_object_get(event, name));
    return number > 0 ? (uint64_t)number : 0;
}

uint64_t keel_event_times(const json_t *event) {
    uint64_t times = keel_event_count(event, "times");
    return times ? times : 1;
}

uint32_t keel_event_line(const json_t *event, const char *name) {
    uint64_t line = keel_event_count(event, name);
    return line > UINT32_MAX ? 0 : (uint32_t)line;
}

bool keel_event_digest(const json_t *event, const char *name, keel_digest_t *out) {
    return keel_digest_unhex(keel_str(keel_event_text(event, name)), out);
}
