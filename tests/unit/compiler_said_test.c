// What a compiler's child said last: the line that tells most, for the message of its end.
#define _GNU_SOURCE
#include "place.h"

#include "compiler/child.h"

#define ABSL "1126 18:59:14.723382   29934 "
#define STACK "    @     0x7f5c9a3d2f10  xla::Compile()\n"

static keel_str_t last_line(const char *said) {
    static child_t child;
    child.end_size = strlen(said);
    memcpy(child.end, said, child.end_size);
    return child_last_line(&child);
}

typedef struct said_t {
    const char *text, *last;
} said_t;

static void check(const said_t *rows, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        keel_str_t last = last_line(rows[i].text);
        if (!keel_str_is(last, rows[i].last))
            fail_msg("'%s' has '%.*s', not '%s'", rows[i].text, KEEL_STR_ARGS(last), rows[i].last);
    }
}

#define CHECK(...)                                                                                 \
    do {                                                                                           \
        static const said_t rows[] = {__VA_ARGS__};                                                \
        check(rows, sizeof rows / sizeof *rows);                                                   \
    } while (0)

static void the_last_of_several_lines_counts(void **state) {
    (void)state;
    CHECK({"", ""}, {"about to end\n", "about to end"}, {"cut off", "cut off"},
          {"first\nsecond\n", "second"}, {"first\nsecond", "second"}, {"!\n", "!"});
}

static void stack_traces_and_what_handlers_of_crashes_write_say_nothing(void **state) {
    (void)state;
    CHECK({"said\n\n", "said"}, {"\n\n", ""}, {"said\n" STACK, "said"}, {STACK, ""},
          {"said\n\tat compile\n", "said"}, {"said\n*** SIGABRT received ***\n", "said"},
          {"said\nPC: @ 0x7f5c  raise\n", "said"}, {"PC: none\n", "PC: none"},
          {"said\nhttps://symbolize.stripped_domain/r/?trace=7f5c\n", "said"},
          {"see https://openxla.org\n", "see https://openxla.org"},
          {"said\n[failure_signal_handler.cc : 345] RAW: Signal 11 raised\n", "said"});
}

static void a_line_of_a_log_is_told_from_its_file_on(void **state) {
    (void)state;
    CHECK({"E" ABSL "a.cc:7] no memory\n", "a.cc:7] no memory"},
          {"W" ABSL "a.cc:7] slow\n", "a.cc:7] slow"},
          {"D" ABSL "a.cc:7] detail\n", "a.cc:7] detail"},
          {"X" ABSL "a.cc:7] what\n", "X" ABSL "a.cc:7] what"},
          {"E112x 18:59:14.723382 29934 a.cc:7] no\n", "E112x 18:59:14.723382 29934 a.cc:7] no"},
          {"Ex126 18:59:14.723382 29934 a.cc:7] no\n", "Ex126 18:59:14.723382 29934 a.cc:7] no"},
          {"E1126 1 2 short.cc:1", "short.cc:1"}, // 20 bytes, as few as a line of a log has
          {"E1126 1 2 shor.cc:1", "E1126 1 2 shor.cc:1"}, {"I" ABSL "a.cc:7] compiling\n", ""},
          {"said\nI" ABSL "a.cc:7] done\n", "said"});
}

static void why_it_gave_up_counts_more_than_what_follows(void **state) {
    (void)state;
    CHECK({"F" ABSL "a.cc:7] Check failed\nmore\nE" ABSL "b.cc:1] left\n", "a.cc:7] Check failed"},
          {"before\nF" ABSL "a.cc:7] Check failed\n" STACK, "a.cc:7] Check failed"},
          {"F" ABSL "a.cc:7] first\nF" ABSL "b.cc:1] second\n", "b.cc:1] second"});
}

static void a_long_line_is_cut(void **state) {
    (void)state;
    char text[1002] = "";
    memset(text, 'x', 1001);
    assert_int_equal(last_line(text).size, 1000);
    assert_int_equal(last_line(text + 1).size, 1000);
    assert_int_equal(last_line(text + 2).size, 999);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_of_several_lines_counts),
        cmocka_unit_test(stack_traces_and_what_handlers_of_crashes_write_say_nothing),
        cmocka_unit_test(a_line_of_a_log_is_told_from_its_file_on),
        cmocka_unit_test(why_it_gave_up_counts_more_than_what_follows),
        cmocka_unit_test(a_long_line_is_cut),
    };
    return cmocka_run_group_tests_name("what a compiler said", tests, NULL, NULL);
}
