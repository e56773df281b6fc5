// A user's value as a message may show it: control bytes, which would act on a terminal, become
// "\x1b" and the like, and a long value is cut.
#ifndef KEEL_SETTINGS_SHOWN_H_
#define KEEL_SETTINGS_SHOWN_H_

#include "base/base.h"

typedef struct keel_shown_t {
    char text[256];
} keel_shown_t;

// Fills `out` and returns its text.
const char *keel_setting_show(keel_str_t value, keel_shown_t *out);

#endif // KEEL_SETTINGS_SHOWN_H_
