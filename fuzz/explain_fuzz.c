// Two programs: the size of the first as a little-endian u32, its bytes, then those of the second.
// Each readable one is explained against itself, which is a retrace, and both against each other in
// either direction: within bounds, and totals add up.
#include <stdlib.h>

#include "explain/explain.h"
#include "read/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds) abort();
}

static uint64_t check_difference(const keel_difference_t *d) {
    check(d->kind < KEEL_CAUSE_COUNT);
    return strlen(d->subject) + strlen(d->old_value) + strlen(d->new_value) + strlen(d->note) +
           strlen(d->place.file) + strlen(d->place.function) + strlen(d->place.call_file);
}

static void check_explanation(const keel_explanation_t *e) {
    uint64_t folds = 0, sum = 0;
    check(e->alike >= 0 && e->alike <= 1);
    check(e->root_count <= KEEL_ROOTS_KEPT && e->root_count <= e->root_total);
    check(e->folded_count <= KEEL_FOLDED_KEPT && e->folded_count <= e->folded_total);
    check(e->unrelated == !e->root_total);
    for (size_t i = 0; i < e->root_count; ++i) {
        sum += check_difference(&e->roots[i]);
        check(e->roots[i].follows == KEEL_NONE);
        folds += e->roots[i].folds;
    }
    for (size_t i = 0; i < e->folded_count; ++i) {
        sum += check_difference(&e->folded[i]);
        check(e->folded[i].follows < e->root_count);
    }
    check(folds == e->folded_total);
    static volatile uint64_t seen; // keeps the walk from being optimized away
    seen = sum;
    (void)seen;
}

static void explain(const keel_program_t *before, const keel_program_t *after) {
    keel_explanation_t e;
    keel_explanation_initialize(&e);
    keel_status_t status =
        keel_explain(&(keel_side_t){.program = before}, &(keel_side_t){.program = after}, &e);
    check(!status);
    check_explanation(&e);
    if (before == after) {
        keel_digest_t digest;
        status = keel_key_program(before, &digest);
        // If a program cannot be keyed, it is unknown whether it is the same.
        if (!status) check(e.root_total == 1 && e.roots[0].kind == KEEL_CAUSE_RETRACE);
        keel_status_ignore(status);
    }
    keel_explanation_deinitialize(&e);
}

static bool read_program(keel_bytes_t bytes, keel_program_t *out) {
    keel_program_initialize(out);
    keel_status_t status = keel_read(bytes, out);
    bool is_good = !status;
    keel_status_ignore(status);
    if (is_good) explain(out, out);
    return is_good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4) return 0;
    size_t first = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16 | (size_t)data[3] << 24;
    if (first > size - 4) first = size - 4;
    keel_program_t before, after;
    bool is_good = read_program(keel_bytes(data + 4, first), &before);
    if (is_good && read_program(keel_bytes(data + 4 + first, size - 4 - first), &after)) {
        explain(&before, &after);
        explain(&after, &before);
    }
    if (is_good) keel_program_deinitialize(&after);
    keel_program_deinitialize(&before);
    return 0;
}
