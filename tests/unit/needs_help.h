// A small program, and the text of the one that computes just some of its results.
#ifndef KEEL_TESTS_NEEDS_HELP_H_
#define KEEL_TESTS_NEEDS_HELP_H_

#include "small_program.h"

#include "needs/needs.h"
#include "read/print.h"

typedef struct case_t {
    const char *program;
    uint32_t results[2], count;
    const char *text; // of the program that computes just these
} case_t;

static inline void check_one(const case_t *one) {
    keel_program_t program, part;
    keel_needs_t *needs;
    keel_buffer_t out;
    const keel_print_options_t options = {.largest_value = 16};
    small_program(one->program, &program);
    assert_ok(keel_needs_create(&program, &needs));
    assert_ok(keel_needs_program(needs, one->results, one->count, &part));
    keel_needs_destroy(needs);
    keel_buffer_initialize(&out, 0);
    assert_ok(keel_print_text(&part, &options, &out));
    assert_string_equal(keel_buffer_cstr(&out), one->text);
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&part);
    keel_program_deinitialize(&program);
}

static inline void check(const case_t *cases, size_t count) {
    for (size_t i = 0; i < count; ++i)
        check_one(&cases[i]);
}

#endif // KEEL_TESTS_NEEDS_HELP_H_
