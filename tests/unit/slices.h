// What results need and the program of just these agree, and the program is written: for every test
// that has a program.
#ifndef KEEL_TESTS_SLICES_H_
#define KEEL_TESTS_SLICES_H_

#include "needs/needs.h"
#include "round_trip.h"

static inline bool slices_is_named(const keel_program_t *program, keel_op_id_t op,
                                   const char *name) {
    return keel_str_is(keel_program_str(program, keel_program_op_name(program, op)->name), name);
}

// The operations within functions, without what returns or is given.
static inline uint32_t slices_count(const keel_program_t *program) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->functions.count; ++i) {
        const keel_block_t *body = keel_program_body(program, i);
        for (keel_op_id_t op = body->first_op; op < body->end_op; ++op)
            count += !slices_is_named(program, op, "return") &&
                     !slices_is_named(program, op, "parameter");
    }
    return count;
}

// KEEL_INTERNAL for what must not be.
static inline keel_status_t slices_check(const keel_program_t *slice, const keel_need_t *need,
                                         size_t most_bytes) {
    keel_buffer_t out;
    uint32_t count = slices_count(slice);
    if (slice->format == KEEL_FORMAT_HLO) {
        // Tuples of fewer elements may come between.
        if (count < need->operations)
            return keel_status_make(KEEL_INTERNAL, "%u operations instead of %u", count,
                                    need->operations);
        return slice->left_out ? NULL : round_trip(slice);
    }
    if (count != need->operations ||
        keel_program_body(slice, slice->entry)->argument_count != need->arguments.count)
        return keel_status_make(KEEL_INTERNAL, "%u operations instead of %u, or other arguments",
                                count, need->operations);
    keel_buffer_initialize(&out, most_bytes);
    keel_status_t status = keel_write_mlir(slice, &out);
    keel_buffer_deinitialize(&out);
    return status;
}

// Of these results: what they need, and the program, which is checked. KEEL_INTERNAL for what must
// not be; another status if the program or a part of it is refused.
static inline keel_status_t slices_try(keel_needs_t *needs, const uint32_t *results, uint32_t count,
                                       size_t most_bytes) {
    keel_program_t slice;
    keel_need_t need;
    KEEL_TRY(keel_needs_of(needs, results, count, 8, &need)); // most often over
    KEEL_TRY(keel_needs_program(needs, results, count, &slice));
    keel_status_t status = keel_needs_of(needs, results, count, UINT32_MAX, &need);
    if (!status) status = slices_check(&slice, &need, most_bytes);
    keel_program_deinitialize(&slice);
    return status;
}

#endif // KEEL_TESTS_SLICES_H_
