// Arbitrary bytes: of every program that can be read, what its results need is found and made a
// program, which is written, within bounds. In HLO it is read again, and is the same.
#include <stdlib.h>

#include "unit/slices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_RESULTS = 4, MOST_BYTES = 1 << 20 };

static void try_results(keel_needs_t *needs, const uint32_t *results, uint32_t count) {
    keel_status_t status = slices_try(needs, results, count, MOST_BYTES);
    if (keel_status_code(status) == KEEL_INTERNAL) abort();
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
            try_results(needs, &i, 1);
        }
        try_results(needs, list, count < MOST_RESULTS ? count : MOST_RESULTS);
        keel_needs_destroy(needs);
    }
    keel_status_ignore(status);
    keel_program_deinitialize(&program);
    return 0;
}
