#include "base/json_cost.h"

#include "base/limits.h"

// On 64-bit machines, with jansson. OBJECT is the most that a byte can cost.
enum { OBJECT = 288, LIST = 152, MEMBER = 112, ITEM = 48, TEXT = 32 };

uint64_t keel_json_cost(keel_str_t line) {
    uint64_t cost = line.size + ITEM;
    for (size_t i = 0; i < line.size; ++i) {
        switch (line.data[i]) {
            case '"':
                cost += TEXT;
                for (++i; i < line.size && line.data[i] != '"'; ++i)
                    i += line.data[i] == '\\';
                break;
            case '{':
                cost += OBJECT;
                break;
            case '[':
                cost += LIST;
                break;
            case ':':
                cost += MEMBER;
                break;
            case ',':
                cost += ITEM;
                break;
            default:
                break;
        }
    }
    return cost;
}

bool keel_json_fits(keel_str_t text) {
    bool is_small = text.size < keel_limit(KEEL_LIMIT_EVENTS_LEAST) / (2 * OBJECT);
    return is_small || keel_json_cost(text) <= keel_limit_for(KEEL_LIMIT_EVENTS_LEAST,
                                                              KEEL_LIMIT_EVENTS_RATIO, text.size);
}
