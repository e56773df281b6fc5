// Nothing in a rehearsal takes time on a device, so every event is ready.
#include "rehearse/objects.h"

static char ready;

PJRT_Event *event_ready(void) {
    return (PJRT_Event *)&ready;
}

static PJRT_Error *destroy(PJRT_Event_Destroy_Args *args) {
    (void)args;
    return NULL;
}

static PJRT_Error *is_ready(PJRT_Event_IsReady_Args *args) {
    args->is_ready = true;
    return NULL;
}

static PJRT_Error *error_of(PJRT_Event_Error_Args *args) {
    (void)args;
    return NULL;
}

static PJRT_Error *await(PJRT_Event_Await_Args *args) {
    (void)args;
    return NULL;
}

static PJRT_Error *on_ready(PJRT_Event_OnReady_Args *args) {
    args->callback(NULL, args->user_arg);
    return NULL;
}

void event_fill(PJRT_Api *table) {
    table->PJRT_Event_Destroy = destroy;
    table->PJRT_Event_IsReady = is_ready;
    table->PJRT_Event_Error = error_of;
    table->PJRT_Event_Await = await;
    table->PJRT_Event_OnReady = on_ready;
}
