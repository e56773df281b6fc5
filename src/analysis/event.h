// event: fields of a journal's event, "" or 0 if absent or of another kind.
#ifndef KEEL_ANALYSIS_EVENT_H_
#define KEEL_ANALYSIS_EVENT_H_

#include <jansson.h>

static inline const char *event_text(const json_t *event, const char *name) {
    const char *text = json_string_value(json_object_get(event, name));
    return text ? text : "";
}

static inline double event_number(const json_t *event, const char *name) {
    double number = json_number_value(json_object_get(event, name));
    return number > 0 && number < 1e18 ? number : 0;
}

#endif // KEEL_ANALYSIS_EVENT_H_
