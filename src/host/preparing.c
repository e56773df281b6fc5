#include "host/host.h"

static _Thread_local double spent[KEEL_PREPARING_COUNT];

void keel_preparing_add(keel_preparing_t what, double seconds) {
    if (seconds > 0) spent[what] += seconds;
}

double keel_preparing_take(keel_preparing_t what) {
    double seconds = spent[what];
    spent[what] = 0;
    return seconds;
}
