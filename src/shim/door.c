#include "keel/status.h"
#include "shim/shim.h"

KEEL_API const PJRT_Api *GetPjrtApi(void);

const PJRT_Api *GetPjrtApi(void) {
    return keel_shim_api();
}
