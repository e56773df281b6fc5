// fixes: what became of the fixes that a run asked for, read from its journal. Ownership: texts
// live in the arena that they were read into.
#ifndef KEEL_REPORT_FIXES_H_
#define KEEL_REPORT_FIXES_H_

#include "base/base.h"

struct json_t;

typedef struct keel_fix_t {
    const char *name, *state, *label, *reference, *client,
        *why; // as in the event; "" where unknown
} keel_fix_t;

// One of each name and state, however many processes it was applied in.
typedef struct keel_fixes_t {
    keel_fix_t *list;
    size_t count;
} keel_fixes_t;

keel_status_t keel_fixes_add(keel_fixes_t *fixes, const struct json_t *event,
                             keel_arena_t *texts) KEEL_MUST_CHECK;
void keel_fixes_deinitialize(keel_fixes_t *fixes);
// "sharding-retrace applied, torch_xla 2.9.0 (pytorch/xla 9755)".
void keel_fix_write(const keel_fix_t *fix, keel_buffer_t *out);
// The field "fixes" of a JSON object.
void keel_fixes_json(const keel_fixes_t *fixes, keel_buffer_t *out);

#endif // KEEL_REPORT_FIXES_H_
