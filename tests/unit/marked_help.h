// What processes of a rehearsal write, through pipes into files of the test.
#ifndef KEEL_TESTS_MARKED_HELP_H_
#define KEEL_TESTS_MARKED_HELP_H_

#include "place.h"

#include <sys/mman.h>

#include "cli/marked.h"

enum { PROCESSES = 3 }; // the first writes by itself

static cli_marked_t marked;
static int written[2]; // what arrived on stdout and stderr

static inline int begin_marked(void **state) {
    (void)state;
    cli_marked_initialize(&marked);
    for (int i = 0; i < 2; ++i)
        written[i] = memfd_create("written", MFD_CLOEXEC);
    for (uint32_t number = 1; number < PROCESSES; ++number) {
        assert_ok(cli_marked_open(&marked, number));
        for (int i = 0; i < 2; ++i)
            marked.streams[number][i].to = written[i];
    }
    return 0;
}

static inline void say(uint32_t number, int stream, const char *text) {
    size_t size = strlen(text);
    assert_int_equal(write(marked.streams[number][stream].into, text, size), size);
}

// Passes on what was said so far.
static inline void pass_on(void) {
    cli_marked_pass_on(&marked, keel_clock_monotonic() + 1000000, NULL);
}

static inline void close_all(void) {
    for (uint32_t number = 1; number < PROCESSES; ++number)
        cli_marked_started(&marked, number);
}

static inline void assert_written(int stream, const char *wanted) {
    static char got[1 << 18];
    ssize_t size = pread(written[stream], got, sizeof got - 1, 0);
    assert_true(size >= 0);
    got[size] = 0;
    assert_string_equal(got, wanted);
}

static inline int end_marked(void **state) {
    (void)state;
    cli_marked_end(&marked);
    for (int i = 0; i < 2; ++i)
        close(written[i]);
    return 0;
}

#endif // KEEL_TESTS_MARKED_HELP_H_
