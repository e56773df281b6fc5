#include "engine/pace.h"

struct pace_t {
    uint64_t began, wrote; // keel_clock_monotonic; 0: not begun
};

keel_status_t pace_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(pace_t), &memory));
    engine->pace = memory;
    return NULL;
}

void pace_destroy(pace_t *pace) {
    keel_free(pace);
}

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
