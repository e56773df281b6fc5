// Plans: read, or refused as a whole.
#include <stdlib.h>

#include "store/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_plan_t plan;
    keel_status_t status = keel_plan_parse(keel_bytes(data, size), &plan);
    check(!status || keel_status_code(status) == KEEL_CORRUPT);
    check(!status || plan.count == 0);
    check(plan.count <= KEEL_PLAN_LIMIT);
    for (size_t i = 0; i < plan.count; ++i)
        check(!keel_plan_add(&plan, &plan.programs[i]));
    keel_status_ignore(status);
    return 0;
}
