// What the client was refused. It may swallow the error, so the summary says it too.
#include "rehearse/objects.h"

static keel_rehearse_refused_t *told;
static void *told_context;

void keel_rehearse_when_refused(keel_rehearse_refused_t *refused, void *context) {
    told = refused;
    told_context = context;
}

PJRT_Error *refuse(keel_rehearse_action_t action, const char *name, keel_status_t status) {
    if (!status) return NULL;
    if (told && !is_forked())
        told(told_context, action, name, keel_str(keel_status_message(status)));
    return keel_pjrt_error(status);
}
