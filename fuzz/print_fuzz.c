// Arbitrary bytes: every program that can be read can be printed, both ways, within bounds.
#include "read/print.h"
#include "read/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Small, so that a run also fills buffers.
enum { MOST_BYTES = 1 << 20, LARGEST_VALUE = 8 };

static void print(const keel_program_t *program, bool as_json) {
    const keel_print_options_t options = {.locations = true, .largest_value = LARGEST_VALUE};
    keel_buffer_t out;
    keel_buffer_initialize(&out, MOST_BYTES);
    keel_status_t status =
        as_json ? keel_print_json(program, &out) : keel_print_text(program, &options, &out);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_program_t program;
    keel_status_t status = keel_read(keel_bytes(data, size), &program);
    if (!status) {
        print(&program, true);
        print(&program, false);
    }
    keel_status_ignore(status);
    keel_program_deinitialize(&program);
    return 0;
}
