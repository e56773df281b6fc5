// What an event takes in memory once it is parsed, known before that: "[{},{},{}" has 3 bytes for
// each of jansson's tables of 300.
#include "journal/journal.h"

uint64_t keel_journal_cost(keel_str_t line) {
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
