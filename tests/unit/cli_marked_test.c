// What the processes of a rehearsal write, each line with its process's number.
#define _GNU_SOURCE
#include "marked_help.h"

#include <sys/resource.h>
#include <sys/wait.h>

static void each_line_has_the_number_of_its_process(void **state) {
    (void)state;
    say(1, 0, "one\ntwo\n\n");
    pass_on();
    say(2, 0, "three\n");
    say(2, 1, "an error\n");
    pass_on();
    pass_on();
    assert_written(0, "[1] one\n[1] two\n[1] \n[2] three\n");
    assert_written(1, "[2] an error\n");
    close_all();
}

static void a_line_is_passed_on_once_it_is_complete(void **state) {
    (void)state;
    say(1, 0, "half");
    pass_on();
    say(2, 0, "whole\n");
    pass_on();
    assert_written(0, "[2] whole\n");
    say(1, 0, " a line\nrest");
    pass_on();
    assert_written(0, "[2] whole\n[1] half a line\n");
    close_all();
    cli_marked_end(&marked);
    assert_written(0, "[2] whole\n[1] half a line\n[1] rest\n");
}

static void a_very_long_line_is_cut(void **state) {
    (void)state;
    enum { LONG = 1 << 16, PIECE = 4096 };
    static char piece[PIECE + 1], wanted[LONG + 64];
    memset(piece, 'x', PIECE);
    for (int i = 0; i < LONG / PIECE; ++i) {
        say(1, 0, piece);
        pass_on();
    }
    say(1, 0, "end\n");
    pass_on();
    memcpy(wanted, "[1] ", 4);
    memset(wanted + 4, 'x', LONG);
    memcpy(wanted + 4 + LONG, "\n[1] end\n", sizeof "\n[1] end\n");
    assert_written(0, wanted);
    close_all();
}

static void a_process_writes_there_and_reads_nothing(void **state) {
    (void)state;
    int result;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        char byte;
        // Only these ends are the process's.
        if (dup2(marked.streams[1][0].into, STDOUT_FILENO) < 0) _exit(1);
        marked.streams[1][0].to = STDOUT_FILENO;
        marked.streams[1][1].to = STDERR_FILENO;
        if (!cli_marked_take(&marked, 1) || read(STDIN_FILENO, &byte, 1) != 0) _exit(2);
        _exit(write(STDOUT_FILENO, "out", 3) == 3 && write(STDERR_FILENO, "err\n", 4) == 4 ? 0 : 3);
    }
    close_all();
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    cli_marked_end(&marked);
    assert_written(0, "[1] out\n");
    assert_written(1, "[1] err\n");
}

// As a daemon does that a process started.
static void a_pipe_that_stays_open_does_not_hold_the_end_up(void **state) {
    (void)state;
    say(1, 0, "last");
    int held = dup(marked.streams[1][0].into);
    close_all();
    cli_marked_end(&marked);
    assert_written(0, "[1] last\n");
    close(held);
}

static void silence_lasts_until_the_deadline(void **state) {
    (void)state;
    uint64_t deadline = keel_clock_monotonic() + 20000000;
    cli_marked_pass_on(&marked, deadline, NULL);
    assert_true(keel_clock_monotonic() >= deadline);
    assert_written(0, "");
    close_all();
}

static int open_files(void) {
    int count = 0;
    for (int i = 0; i < 256; ++i)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static void a_pipe_that_cannot_be_made_leaves_nothing_open(void **state) {
    (void)state;
    struct rlimit before, few;
    int files = open_files();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = (rlim_t)dup(0) + 3; // one pipe, and not a second one
    close((int)few.rlim_cur - 3);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    keel_status_t status = cli_marked_open(&marked, PROCESSES);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(keel_status_code(status), KEEL_IO);
    assert_non_null(strstr(keel_status_message(status), "Too many open files"));
    keel_status_ignore(status);
    assert_int_equal(open_files(), files);
    close_all();
}

#define MARKED(name) cmocka_unit_test_setup_teardown(name, begin_marked, end_marked)

int main(void) {
    const struct CMUnitTest tests[] = {
        MARKED(each_line_has_the_number_of_its_process),
        MARKED(a_line_is_passed_on_once_it_is_complete),
        MARKED(a_very_long_line_is_cut),
        MARKED(a_process_writes_there_and_reads_nothing),
        MARKED(a_pipe_that_stays_open_does_not_hold_the_end_up),
        MARKED(silence_lasts_until_the_deadline),
        MARKED(a_pipe_that_cannot_be_made_leaves_nothing_open),
    };
    return cmocka_run_group_tests_name("marked output", tests, NULL, NULL);
}
