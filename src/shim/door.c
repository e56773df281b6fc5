#include "keel/status.h"
#include "shim/shim.h"

KEEL_API const PJRT_Api *GetPjrtApi(void);
// A step of the training ended. Any thread, at any time; a few nanoseconds.
KEEL_API void keel_step(void);
// The Python package reports each fix here (keel.fixes). Texts may be empty or NULL.
KEEL_API void keel_note_fix(const char *name, const char *state, const char *label,
                            const char *reference, const char *client, const char *why);

const PJRT_Api *GetPjrtApi(void) {
    return keel_shim_api();
}

void keel_step(void) {
    keel_shim_step();
}

void keel_note_fix(const char *name, const char *state, const char *label, const char *reference,
                   const char *client, const char *why) {
    keel_journal_fix_t fix = {name, state, label, reference, client, why};
    keel_shim_note_fix(&fix);
}
