// A process of `keel run` that the system does not start.
#define _GNU_SOURCE
#include "place.h"

#include <signal.h>
#include <sys/mman.h>

#include "cli/cli.h"

static unsigned forks, fails_at; // the first is 1

pid_t __real_fork(void);
pid_t __wrap_fork(void);

pid_t __wrap_fork(void) {
    if (++forks != fails_at) return __real_fork();
    errno = EAGAIN;
    return -1;
}

// What it says on stderr goes to `said`.
static int run(char **command, uint32_t count, bool *out_started, char *said, size_t size) {
    int file = memfd_create("said", MFD_CLOEXEC), kept = dup(STDERR_FILENO);
    assert_true(file >= 0 && kept >= 0);
    forks = 0;
    dup2(file, STDERR_FILENO);
    int code = cli_run_children(command, &(cli_processes_t){.count = count}, out_started);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    ssize_t got = pread(file, said, size - 1, 0);
    assert_true(got >= 0);
    said[got] = 0;
    close(file);
    close(kept);
    return code;
}

static const char refused[] = "keel: a new process: Resource temporarily unavailable\n";

static void a_process_that_is_not_started_is_reported(void **state) {
    (void)state;
    char said[256], name[] = "true", *command[] = {name, NULL};
    bool started = true;
    fails_at = 1;
    assert_int_equal(run(command, 1, &started, said, sizeof said), CLI_FAILURE);
    assert_false(started);
    assert_string_equal(said, refused);
    fails_at = 0;
    assert_int_equal(run(command, 1, &started, said, sizeof said), CLI_OK);
    assert_true(started);
    assert_string_equal(said, "");
}

static void the_others_end_with_one_that_is_not_started(void **state) {
    (void)state;
    char said[256], name[] = "sleep", seconds[] = "1000", *command[] = {name, seconds, NULL};
    bool started = false;
    fails_at = 2;
    uint64_t began = keel_clock_monotonic();
    assert_int_equal(run(command, 2, &started, said, sizeof said), CLI_FAILURE);
    assert_true(keel_clock_monotonic() - began < 100000000000);
    assert_true(started);
    assert_string_equal(said, refused);
}

// As jax.distributed does, which goes on after SIGTERM. The signal is sent once both ignore it.
static void processes_that_ignore_a_signal_end_with_the_rehearsal(void **state) {
    (void)state;
    place_t place;
    char said[256], name[] = "sh", flag[] = "-c", script[PATH_MAX + 200],
                    *command[] = {name, flag, script, NULL};
    bool started = false;
    place_make(&place);
    snprintf(script, sizeof script,
             "trap '' TERM; cd %s; touch $$; while [ $(ls | wc -l) -lt 2 ]; do sleep 0.01; done; "
             "kill -TERM $PPID; while :; do sleep 1; done",
             place.root);
    fails_at = 0;
    keel_limit_set(KEEL_LIMIT_PROCESSES_END, 50);
    assert_int_equal(run(command, 2, &started, said, sizeof said), CLI_SIGNAL + SIGKILL);
    assert_true(started);
    assert_non_null(strstr(said, "2 of 2 processes have not ended within 0 s of the signal"));
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_is_not_started_is_reported),
        cmocka_unit_test(the_others_end_with_one_that_is_not_started),
        cmocka_unit_test(processes_that_ignore_a_signal_end_with_the_rehearsal),
    };
    return cmocka_run_group_tests_name("cli_child", tests, NULL, NULL);
}
