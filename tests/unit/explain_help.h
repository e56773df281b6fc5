// Explains two programs, and checks what holds for every explanation.
#ifndef KEEL_TESTS_EXPLAIN_HELP_H_
#define KEEL_TESTS_EXPLAIN_HELP_H_

#include "explain/explain.h"
#include "place.h"
#include "read/read.h"

typedef struct loaded_t {
    keel_program_t program;
    uint8_t *bytes;
    size_t size;
} loaded_t;

static inline void load_bytes(loaded_t *out, uint8_t *bytes, size_t size) {
    out->bytes = bytes;
    out->size = size;
    keel_program_initialize(&out->program);
    assert_ok(keel_read(keel_bytes(bytes, size), &out->program));
}

// A file of tests/samples.
static inline void load(loaded_t *out, const char *name) {
    char path[512];
    uint8_t *bytes;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", KEEL_TEST_SAMPLES, name);
    assert_ok(keel_file_read(path, 1 << 24, &bytes, &size));
    load_bytes(out, bytes, size);
}

static inline void unload(loaded_t *loaded) {
    keel_program_deinitialize(&loaded->program);
    keel_free(loaded->bytes);
}

// tests/samples/explain/NAME.before.mlir and .after.mlir
UNUSED static void load_pair(const char *name, loaded_t *before, loaded_t *after) {
    char path[256];
    snprintf(path, sizeof path, "explain/%s.before.mlir", name);
    load(before, path);
    snprintf(path, sizeof path, "explain/%s.after.mlir", name);
    load(after, path);
}

// ---- what is true of every explanation ---------------------------------------------------------

static inline void check_difference(const keel_difference_t *d) {
    assert_true(d->kind < KEEL_CAUSE_COUNT);
    assert_non_null(d->subject);
    assert_non_null(d->old_value);
    assert_non_null(d->new_value);
    assert_non_null(d->note);
    assert_non_null(d->place.file);
    assert_non_null(d->place.function);
    assert_non_null(d->place.call_file);
}

static inline void check_folds(const keel_explanation_t *e) {
    uint64_t folds = 0;
    uint32_t kept[KEEL_ROOTS_KEPT] = {0};
    for (size_t i = 0; i < e->folded_count; ++i) {
        check_difference(&e->folded[i]);
        assert_true(e->folded[i].follows < e->root_count);
        ++kept[e->folded[i].follows];
    }
    for (size_t i = 0; i < e->root_count; ++i) {
        folds += e->roots[i].folds;
        assert_true(kept[i] <= e->roots[i].folds);
    }
    assert_int_equal(folds, e->folded_total);
    assert_true(e->folded_count <= KEEL_FOLDED_KEPT && e->folded_count <= e->folded_total);
    if (e->root_total <= KEEL_ROOTS_KEPT && e->folded_total <= KEEL_FOLDED_KEPT)
        assert_int_equal(e->folded_count, e->folded_total);
}

static inline void check_explanation(const keel_explanation_t *e) {
    assert_true(e->alike >= 0 && e->alike <= 1);
    assert_int_equal(e->root_count,
                     e->root_total < KEEL_ROOTS_KEPT ? e->root_total : KEEL_ROOTS_KEPT);
    assert_true(e->unrelated == !e->root_total);
    for (size_t i = 0; i < e->root_count; ++i) {
        check_difference(&e->roots[i]);
        assert_int_equal(e->roots[i].follows, KEEL_NONE);
    }
    check_folds(e);
}

// Without keys.
static inline void explain(const keel_program_t *before, const keel_program_t *after,
                           keel_explanation_t *out) {
    keel_explanation_initialize(out);
    assert_ok(
        keel_explain(&(keel_side_t){.program = before}, &(keel_side_t){.program = after}, out));
    check_explanation(out);
}

#endif // KEEL_TESTS_EXPLAIN_HELP_H_
