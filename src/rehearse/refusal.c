// What the client was refused. It may swallow the error, so the summary says it too.
#include "rehearse/objects.h"

static keel_rehearse_refused_t *callback;
static void *callback_context;

void keel_rehearse_when_refused(keel_rehearse_refused_t *refused, void *context) {
    callback = refused;
    callback_context = context;
}

void note_refusal(keel_rehearse_action_t action, const char *name, const char *message) {
    if (callback && !is_forked()) callback(callback_context, action, name, keel_str(message));
}

PJRT_Error *refuse(keel_rehearse_action_t action, const char *name, keel_status_t status) {
    if (!status) return NULL;
    note_refusal(action, name, keel_status_message(status));
    return keel_pjrt_error(status);
}
