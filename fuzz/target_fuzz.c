// Targets as JSON: refused, or written as something that is read the same.
#include <stdlib.h>

#include "target/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_target_t target, again;
    keel_buffer_t first, second;
    keel_status_t status = keel_target_parse("it", keel_bytes(data, size), &target);
    check(!status || keel_status_code(status) == KEEL_INVALID);
    keel_buffer_initialize(&first, 0);
    keel_buffer_initialize(&second, 0);
    if (!status) {
        check(target.device_count >= target.process_count);
        check(!keel_target_write(&target, KEEL_JSON_SPACED, &first));
        check(!keel_target_parse("it", keel_buffer_bytes(&first), &again));
        check(!keel_target_write(&again, KEEL_JSON_SPACED, &second));
        check(keel_bytes_equal(keel_buffer_bytes(&first), keel_buffer_bytes(&second)));
        keel_target_deinitialize(&again);
    }
    keel_target_deinitialize(&target);
    keel_buffer_deinitialize(&first);
    keel_buffer_deinitialize(&second);
    keel_status_ignore(status);
    return 0;
}
