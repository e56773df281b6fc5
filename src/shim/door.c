#include "keel/status.h"
#include "shim/shim.h"

KEEL_API const PJRT_Api *GetPjrtApi(void);
// A step of the training ended. Any thread, at any time; a few nanoseconds.
KEEL_API void keel_step(void);

const PJRT_Api *GetPjrtApi(void) {
    return keel_shim_api();
}

void keel_step(void) {
    keel_shim_step();
}
