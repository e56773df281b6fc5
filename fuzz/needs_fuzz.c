// Arbitrary bytes: of every program that can be read, what its results need is found and made a
// program, which is written, within bounds. In HLO it is read again, and is the same.
#include <stdlib.h>

#include "needs/needs.h"
#include "unit/round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_RESULTS = 4, MOST_BYTES = 1 << 20 };

static bool is_named(const keel_program_t *program, keel_op_id_t op, const char *name) {
    return keel_str_is(keel_program_str(program, keel_program_op_name(program, op)->name), name);
}

// The operations within functions, without what returns or is given.
static uint32_t count_operations(const keel_program_t *program) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->functions.count; ++i) {
        const keel_block_t *body = keel_program_body(program, i);
        for (keel_op_id_t op = body->first_op; op < body->end_op; ++op)
            count += !is_named(program, op, "return") && !is_named(program, op, "parameter");
    }
    return count;
}

static void check(const keel_program_t *slice, const keel_need_t *need) {
    keel_buffer_t out;
    keel_status_t status;
    if (slice->format == KEEL_FORMAT_HLO) {
        status = slice->left_out ? NULL : round_trip(slice);
        if (status || count_operations(slice) < need->operations) abort();
        return;
    }
    if (count_operations(slice) != need->operations ||
        keel_program_body(slice, slice->entry)->argument_count != need->arguments.count)
        abort();
    keel_buffer_initialize(&out, MOST_BYTES);
    status = keel_write_mlir(slice, &out);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
}

static void slice_results(keel_needs_t *needs, const uint32_t *results, uint32_t count) {
    keel_program_t slice;
    keel_need_t need;
    keel_status_t status = keel_needs_of(needs, results, count, 8, &need);
    if (!status) {
        status = keel_needs_program(needs, results, count, &slice);
        if (!status) {
            keel_status_t asked = keel_needs_of(needs, results, count, UINT32_MAX, &need);
            if (asked) abort();
            check(&slice, &need);
            keel_program_deinitialize(&slice);
        }
    }
    keel_status_ignore(status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_program_t program;
    keel_needs_t *needs;
    keel_status_t status = keel_read(keel_bytes(data, size), &program);
    if (!status) status = keel_needs_create(&program, &needs);
    if (!status) {
        uint32_t list[MOST_RESULTS], count = keel_needs_result_count(needs);
        for (uint32_t i = 0; i < count && i < MOST_RESULTS; ++i) {
            list[i] = i;
            slice_results(needs, &i, 1);
        }
        slice_results(needs, list, count < MOST_RESULTS ? count : MOST_RESULTS);
        keel_needs_destroy(needs);
    }
    keel_status_ignore(status);
    keel_program_deinitialize(&program);
    return 0;
}
