// Messages between a compiler and its children, and the devices in compile options: read, or
// refused as a whole.
#include <stdlib.h>

#include "compiler/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static bool is_within(keel_bytes_t whole, const void *data, size_t size) {
    const uint8_t *at = data;
    return !size || (at >= whole.data && at + size <= whole.data + whole.size);
}

static void read_answer(keel_bytes_t message) {
    wire_answer_t answer;
    keel_status_t status = wire_read_answer(message, &answer);
    check(!status || keel_status_code(status) == KEEL_CORRUPT);
    if (!status) {
        check(answer.error.size || answer.executable.size || answer.is_trial ||
              (answer.is_partition && answer.program.size));
        check(is_within(message, answer.results.data, answer.results.size));
        check(is_within(message, answer.error.data, answer.error.size));
        check(is_within(message, answer.executable.data, answer.executable.size));
        check(is_within(message, answer.program.data, answer.program.size));
        // What is written again is read the same.
        keel_buffer_t out;
        wire_answer_t again;
        keel_buffer_initialize(&out, 0);
        wire_put_answer(&out, &answer);
        check(!keel_buffer_status(&out));
        check(!wire_read_answer(keel_bytes(out.data + WIRE_HEAD, out.size - WIRE_HEAD), &again));
        check(keel_str_equal(answer.error, again.error) && answer.code == again.code);
        check(keel_bytes_equal(answer.executable, again.executable));
        check(answer.is_trial == again.is_trial && answer.is_partition == again.is_partition);
        check(keel_bytes_equal(answer.results, again.results));
        check(answer.has_memory == again.has_memory && answer.memory.peak == again.memory.peak);
        keel_buffer_deinitialize(&out);
    }
    keel_status_ignore(status);
}

static void read_others(keel_bytes_t message) {
    wire_setup_t setup;
    wire_handler_t handler;
    wire_job_t job;
    keel_status_t status = wire_read_setup(message, &setup);
    check(!status || keel_status_code(status) == KEEL_CORRUPT);
    check(setup.core >= -1);
    keel_status_ignore(status);
    status = wire_read_handler(message, &handler);
    check(status || handler.kind < KEEL_HANDLER_KINDS);
    keel_status_ignore(status);
    status = wire_read_job(message, &job);
    check(status || is_within(message, job.code.data, job.code.size));
    check(status || is_within(message, job.executable.data, job.executable.size));
    keel_status_ignore(status);
    keel_cursor_t cursor = keel_cursor(message);
    int64_t dims[WIRE_RANK];
    keel_array_shape_t shape;
    while (wire_read_shape(&cursor, dims, &shape))
        check(shape.rank <= WIRE_RANK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_bytes_t message = keel_bytes(data, size);
    wire_kind_t kind;
    uint64_t its_size;
    if (size >= WIRE_HEAD) {
        keel_status_t status = wire_read_head(data, &kind, &its_size);
        check(status || (kind >= WIRE_SETUP && kind <= WIRE_ANSWER && its_size <= WIRE_LIMIT));
        keel_status_ignore(status);
    }
    read_answer(message);
    read_others(message);
    keel_status_t status = compiler_check_devices(message, 8, "it");
    check(!status || keel_status_code(status) == KEEL_INVALID);
    keel_status_ignore(status);
    return 0;
}
