// What is said on stderr: whole lines, which no terminal obeys.
#define _GNU_SOURCE
#include "place.h"

#include <fcntl.h>

#include "base/log.h"

typedef void say_t(void);

static void assert_said(say_t *say, const char *expected) {
    char got[8192] = "";
    int ends[2], before = dup(STDERR_FILENO);
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    dup2(ends[1], STDERR_FILENO);
    say();
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[1]);
    ssize_t size = read(ends[0], got, sizeof got - 1);
    close(ends[0]);
    assert_true(size >= 0);
    assert_string_equal(got, expected);
}

static void say_marks(void) {
    keel_log_line("program %s", "a\x1b[31mb\xc2\x9b\xe2\x80\xae\xff\tc \xc3\xbc");
}

static void say_lines(void) {
    keel_log_line("%s", "first\x07\n  second\n\n  \x7f"
                        "fourth");
}

static void say_much(void) {
    char text[9000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    keel_log_line("%s", text);
}

static void say_once_and_again(void) {
    for (int i = 0; i < 3; ++i) {
        keel_log_once("one", "one %d", i);
        keel_log_once("two", "two %d", i);
    }
}

static void what_a_terminal_would_obey_is_masked(void **state) {
    (void)state;
    assert_said(say_marks, "keel: program a?[31mb????c \xc3\xbc\n");
}

static void the_lines_of_a_message_stay(void **state) {
    (void)state;
    assert_said(say_lines, "keel: first?\n  second\n\n  ?fourth\n");
}

static void a_long_message_is_cut(void **state) {
    (void)state;
    char expected[4096] = "keel: ";
    memset(expected + 6, 'x', sizeof expected - 8);
    expected[sizeof expected - 2] = '\n';
    expected[sizeof expected - 1] = 0;
    assert_said(say_much, expected);
}

static void a_topic_is_said_once(void **state) {
    (void)state;
    assert_said(say_once_and_again, "keel: one 0\nkeel: two 0\n");
}

static void quiet_says_nothing(void **state) {
    (void)state;
    setenv("KEEL_QUIET", "1", 1);
    assert_said(say_lines, "");
    setenv("KEEL_QUIET", "0", 1);
    assert_said(say_lines, "keel: first?\n  second\n\n  ?fourth\n");
    unsetenv("KEEL_QUIET");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_terminal_would_obey_is_masked),
        cmocka_unit_test(the_lines_of_a_message_stay),
        cmocka_unit_test(a_long_message_is_cut),
        cmocka_unit_test(a_topic_is_said_once),
        cmocka_unit_test(quiet_says_nothing),
    };
    unsetenv("KEEL_QUIET");
    return cmocka_run_group_tests_name("base log", tests, NULL, NULL);
}
