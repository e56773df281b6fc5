#include "engine/pace.h"

#include "base/clock.h"

bool pace_is_due(pace_t *pace, uint64_t now) {
    enum { PART = 64, LONGEST = 600 }; // seconds
    static const uint64_t longest = LONGEST * 1000000000ull;
    if (!pace->began) pace->began = pace->wrote = now;
    uint64_t wait = (now - pace->began) / PART;
    if (wait > longest) wait = longest;
    if (now != pace->began && now - pace->wrote < wait) return false;
    pace->wrote = now;
    return true;
}
