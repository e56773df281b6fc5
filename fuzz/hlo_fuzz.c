// HloModuleProto: read, then printed, so that every index in the model is followed; then written,
// which gives the same program.
#include <stdlib.h>

#include "unit/round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_program_t program;
    keel_status_t status = keel_read_hlo(keel_bytes(data, size), &program);
    if (!status) {
        bool is_refused = program.left_out != NULL;
        status = round_trip(&program);
        if ((status != NULL) != is_refused) abort();
    }
    keel_status_ignore(status);
    keel_program_deinitialize(&program);
    return 0;
}
