// HloModuleProto: read, then printed, so that every index in the model is followed.
#include "read/print.h"
#include "read/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_program_t program;
    keel_status_t status = keel_read_hlo(keel_bytes(data, size), &program);
    if (!status) {
        keel_buffer_t text;
        keel_buffer_initialize(&text, 1 << 20);
        status = keel_print_json(&program, &text);
        keel_buffer_deinitialize(&text);
    }
    keel_status_ignore(status);
    keel_program_deinitialize(&program);
    return 0;
}
