// fixes: whether the fixes that a run asked for were applied, read from its journal. Ownership:
// texts live in the arena that they were read into.
#ifndef KEEL_RUN_FIXES_H_
#define KEEL_RUN_FIXES_H_

#include "base/base.h"
#include "run/texts.h"

struct json_t;

typedef struct keel_fix_t {
    const char *name, *state, *label, *reference, *client,
        *why; // as in the event; "" if unknown
} keel_fix_t;

// One of each name and state, however many processes it was applied in.
typedef struct keel_fixes_t {
    keel_fix_t *list;
    size_t count;
} keel_fixes_t;

keel_status_t keel_fixes_add(keel_fixes_t *fixes, const struct json_t *event,
                             keel_texts_t *texts) KEEL_MUST_CHECK;
void keel_fixes_deinitialize(keel_fixes_t *fixes);
#endif // KEEL_RUN_FIXES_H_
