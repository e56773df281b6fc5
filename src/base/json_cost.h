// What JSON takes in memory once it is parsed, known before that: "[{},{},{}" has 3 bytes for each
// of jansson's tables of 300.
#ifndef KEEL_BASE_JSON_COST_H_
#define KEEL_BASE_JSON_COST_H_

#include "base/bytes.h"

// About how many bytes of memory the text takes.
uint64_t keel_json_cost(keel_str_t text);
// Whether that is in proportion to its size (KEEL_LIMIT_EVENTS_LEAST, KEEL_LIMIT_EVENTS_RATIO).
bool keel_json_fits(keel_str_t text);

#endif // KEEL_BASE_JSON_COST_H_
