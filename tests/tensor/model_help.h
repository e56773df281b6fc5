// A context for the tests of models, on the embedded plugin.
#ifndef KEEL_TESTS_TENSOR_MODEL_HELP_H_
#define KEEL_TESTS_TENSOR_MODEL_HELP_H_

#include <math.h>

#include "unit/place.h"

#include "keel/keel.h"

static keel_context_t *keel;

static inline int open_context(void **state) {
    (void)state;
    assert_ok(keel_context_create(NULL, &keel));
    return 0;
}

static inline int close_context(void **state) {
    (void)state;
    keel_context_free(keel);
    return 0;
}

static inline uint64_t programs(void) {
    return keel_context_figures(keel).programs;
}

static inline float item(keel_tensor_t scalar) {
    float value = NAN;
    assert_ok(keel_read(scalar, &value, sizeof value));
    return value;
}

static inline keel_tree_t *new_tree(void) {
    keel_tree_t *tree;
    assert_ok(keel_tree_create(keel, &tree));
    return tree;
}

// The context's error has each of these parts; the step ends.
#define expect_error(...)                                                                          \
    do {                                                                                           \
        const char *const parts_[] = {__VA_ARGS__}, *error_ = keel_context_error(keel);            \
        assert_non_null(error_);                                                                   \
        for (size_t i_ = 0; i_ < sizeof parts_ / sizeof *parts_; ++i_)                             \
            if (!strstr(error_, parts_[i_])) fail_msg("no \"%s\" in: %s", parts_[i_], error_);     \
        keel_step_discard(keel);                                                                   \
    } while (0)
#define expect_status(status, ...)                                                                 \
    do {                                                                                           \
        const char *const parts_[] = {__VA_ARGS__};                                                \
        keel_status_t status_ = (status);                                                          \
        assert_non_null(status_);                                                                  \
        for (size_t i_ = 0; i_ < sizeof parts_ / sizeof *parts_; ++i_)                             \
            if (!strstr(keel_status_message(status_), parts_[i_]))                                 \
                fail_msg("no \"%s\" in: %s", parts_[i_], keel_status_message(status_));            \
        keel_status_ignore(status_);                                                               \
    } while (0)

#endif // KEEL_TESTS_TENSOR_MODEL_HELP_H_
