#include "base/json_cost.h"

#include "base/limits.h"

uint64_t keel_json_cost(keel_str_t line) {
    enum {
        OBJECT = 288,
        LIST = 152,
        MEMBER = 112,
        ITEM = 48,
        TEXT = 32
    }; // on 64-bit machines, with jansson
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
    return keel_json_cost(text) <=
           keel_limit_for(KEEL_LIMIT_EVENTS_LEAST, KEEL_LIMIT_EVENTS_RATIO, text.size);
}
