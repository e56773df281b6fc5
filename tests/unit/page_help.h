// The page of a run that a test makes from events.
#ifndef KEEL_TESTS_PAGE_HELP_H_
#define KEEL_TESTS_PAGE_HELP_H_

#include "markup.h"

#include "page/page.h"

typedef struct run_t {
    keel_why_t why;
} run_t;

static inline keel_status_t read_run(const char *journal, run_t *out) {
    keel_bytes_t bytes = keel_str_bytes(keel_str(journal));
    *out = (run_t){0};
    return keel_why_parse(bytes, "r1", "/r/journal.ndjson", KEEL_RUN_DETAILS, &out->why);
}

static inline void close_run(run_t *run) {
    keel_why_deinitialize(&run->why);
}

static inline keel_status_t page_of(const run_t *run, const char *run_dir, keel_buffer_t *out) {
    const keel_page_input_t input = {&run->why, run_dir};
    return keel_page_write(&input, out);
}

static inline void make_page(const char *journal, const char *run_dir, keel_buffer_t *out) {
    run_t run;
    keel_buffer_initialize(out, 0);
    assert_ok(read_run(journal, &run));
    assert_ok(page_of(&run, run_dir, out));
    close_run(&run);
    assert_well_formed(keel_buffer_cstr(out));
}

#define assert_has(page, part)                                                                     \
    do {                                                                                           \
        if (!strstr(keel_buffer_cstr(page), part)) fail_msg("the page lacks %s", part);            \
    } while (0)
#define assert_lacks(page, part)                                                                   \
    do {                                                                                           \
        if (strstr(keel_buffer_cstr(page), part)) fail_msg("the page has %s", part);               \
    } while (0)

#endif // KEEL_TESTS_PAGE_HELP_H_
