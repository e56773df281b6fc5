// Each allocation fails once while what processes write is passed on: nothing of it is lost, and
// every line has its process's number.
#define _GNU_SOURCE
#include "marked_help.h"

// The text without the marks and the ends of lines.
static void unmark(const char *text, char *out) {
    while (*text) {
        assert_int_equal(strncmp(text, "[1] ", 4), 0);
        text += 4;
        size_t size = strcspn(text, "\n");
        assert_int_equal(text[size], '\n');
        memcpy(out, text, size);
        out += size;
        text += size + 1;
    }
    *out = 0;
}

static void nothing_is_lost_without_memory(void **state) {
    (void)state;
    bool is_reached = true;
    uint64_t nth = 0;
    while (is_reached) {
        char got[256], bare[256];
        begin_marked(NULL);
        keel_fault_arm(KEEL_FAULT_ALLOC, ++nth);
        say(1, 0, "first\nha");
        pass_on();
        say(1, 0, "lf\nlast");
        pass_on();
        close_all();
        cli_marked_end(&marked);
        is_reached = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        ssize_t size = pread(written[0], got, sizeof got - 1, 0);
        assert_true(size > 0);
        got[size] = 0;
        unmark(got, bare);
        assert_string_equal(bare, "firsthalflast");
        end_marked(NULL);
    }
    assert_true(nth > 1);
    print_message("  %llu\n", (unsigned long long)nth - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_lost_without_memory)};
    return cmocka_run_group_tests_name("marked output faults", tests, NULL, NULL);
}
