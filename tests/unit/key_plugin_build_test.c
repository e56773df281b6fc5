#define _GNU_SOURCE // utimensat
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/lock.h"
#include "key/key.h"

#define MUST(expression) assert_null(expression)

static char folder[64], plugin[96], memory[96];

static void put(const char *text, long seconds_ago) {
    MUST(keel_file_replace(plugin, keel_str_bytes(keel_str(text))));
    struct timespec times[2] = {{time(NULL) - seconds_ago, 0}, {time(NULL) - seconds_ago, 0}};
    assert_int_equal(utimensat(AT_FDCWD, plugin, times, 0), 0);
}

static int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/keel-plugin-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(plugin, sizeof plugin, "%s/plugin.so", folder);
    snprintf(memory, sizeof memory, "%s/memory", folder);
    put("first build", 10);
    return 0;
}

static keel_status_t forget(void *context, const char *name) {
    (void)context;
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", memory, name));
    keel_status_t status = keel_file_remove(path);
    keel_free(path);
    return status;
}

static int tear_down(void **state) {
    (void)state;
    keel_status_ignore(keel_directory_walk(memory, forget, NULL));
    keel_status_ignore(keel_directory_remove(memory));
    keel_status_ignore(keel_file_remove(plugin));
    keel_status_ignore(keel_directory_remove(folder));
    return 0;
}

static keel_status_t count_name(void *context, const char *name) {
    (void)name;
    ++*(unsigned *)context;
    return NULL;
}

static unsigned remembered(void) {
    unsigned count = 0;
    MUST(keel_directory_walk(memory, count_name, &count));
    return count;
}

static void assert_digest(const char *text) {
    keel_digest_t expected = keel_content_digest(keel_str_bytes(keel_str(text))), digest;
    MUST(keel_key_plugin_build(plugin, memory, &digest));
    assert_memory_equal(digest.bytes, expected.bytes, sizeof digest.bytes);
}

// The time of change cannot be set, so a test waits until it is old.
static void wait_until_settled(void) {
    struct timespec pause = {2, 200 * 1000 * 1000};
    nanosleep(&pause, NULL);
}

static keel_status_t make_pipe_of(void *context, const char *name) {
    (void)context;
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", memory, name));
    keel_status_t status = keel_file_remove(path);
    if (!status && mkfifo(path, 0600)) status = keel_status_make(KEEL_IO, "mkfifo");
    keel_free(path);
    return status;
}

static void a_record_that_is_a_named_pipe_makes_nobody_wait(void **state) {
    (void)state;
    put("first build", 10);
    wait_until_settled();
    assert_digest("first build");
    assert_int_equal(remembered(), 1);
    MUST(keel_directory_walk(memory, make_pipe_of, NULL));
    alarm(20);
    assert_digest("first build");
    alarm(0);
}

static void a_settled_file_is_remembered(void **state) {
    (void)state;
    wait_until_settled();
    assert_digest("first build");
    assert_int_equal(remembered(), 1);
    assert_digest("first build");
    assert_int_equal(remembered(), 1);
}

static void a_file_that_just_changed_is_not_remembered(void **state) {
    (void)state;
    // Where this process was held up for so long, the file has not just changed.
    for (uint64_t began = 0; !began || keel_clock_monotonic() - began > 1500000000u;) {
        keel_status_ignore(keel_directory_walk(memory, forget, NULL));
        put("first build", 10);
        began = keel_clock_monotonic();
        assert_digest("first build");
    }
    assert_int_equal(remembered(), 0);
}

// The record of a digest that the file does not have, so that it shows who read it.
static void write_record(const keel_digest_t *digest) {
    keel_file_facts_t facts;
    char hex[KEEL_DIGEST_HEX], path[160], text[256];
    MUST(keel_file_facts(plugin, &facts));
    keel_digest_hex(digest, hex);
    snprintf(path, sizeof path, "%s/%llx-%llx", memory, (unsigned long long)facts.device,
             (unsigned long long)facts.inode);
    snprintf(text, sizeof text, "keel-plugin 2 %llu %llu %llu %s\n", (unsigned long long)facts.size,
             (unsigned long long)facts.modified, (unsigned long long)facts.changed, hex);
    MUST(keel_file_replace(path, keel_str_bytes(keel_str(text))));
}

static void take_lock(keel_lock_t *out, char path[160]) {
    keel_file_facts_t facts;
    MUST(keel_file_facts(plugin, &facts));
    MUST(keel_directory_make(memory));
    snprintf(path, 160, "%s/.new.%llx-%llx", memory, (unsigned long long)facts.device,
             (unsigned long long)facts.inode);
    MUST(keel_lock_take(path, out));
}

static void of_processes_that_start_together_one_reads_the_file(void **state) {
    (void)state;
    const keel_digest_t others = keel_digest(keel_str_bytes(keel_str("read by the other process")));
    keel_lock_t lock;
    char path[160];
    wait_until_settled();
    take_lock(&lock, path);
    pid_t child = fork();
    if (!child) {
        keel_digest_t digest;
        keel_status_t status = keel_key_plugin_build(plugin, memory, &digest);
        _exit(status || !keel_digest_equal(&digest, &others));
    }
    nanosleep(&(struct timespec){0, 300000000}, NULL); // without a claim, it has read the file
    write_record(&others);
    keel_lock_remove(&lock, path);
    int end;
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_int_equal(end, 0);
    assert_int_equal(remembered(), 1);
}

static void who_takes_too_long_to_read_the_file_is_not_waited_for(void **state) {
    (void)state;
    uint64_t usual = keel_limit(KEEL_LIMIT_DIGEST_WAIT);
    keel_lock_t lock;
    char path[160];
    wait_until_settled();
    take_lock(&lock, path);
    keel_limit_set(KEEL_LIMIT_DIGEST_WAIT, 20);
    assert_digest("first build");
    keel_limit_set(KEEL_LIMIT_DIGEST_WAIT, usual);
    keel_lock_remove(&lock, path);
    assert_int_equal(remembered(), 1);
}

static void a_changed_file_has_another_digest(void **state) {
    (void)state;
    wait_until_settled();
    assert_digest("first build");
    put("other build", 10); // same size, same time of modification
    assert_digest("other build");
}

static keel_status_t spoil(void *context, const char *name) {
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", memory, name));
    keel_status_t status = keel_file_replace(path, *(keel_bytes_t *)context);
    keel_free(path);
    return status;
}

static void a_spoiled_memory_is_not_believed(void **state) {
    (void)state;
    wait_until_settled();
    assert_digest("first build");
    static const char zeros[] = "keel-plugin 2 11 0 0 "
                                "00000000000000000000000000000000"
                                "00000000000000000000000000000000\n";
    const char *const texts[] = {"", "keel-plugin 2 11 0 0 00\n", zeros};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        keel_bytes_t bytes = keel_str_bytes(keel_str(texts[i]));
        MUST(keel_directory_walk(memory, spoil, &bytes));
        assert_digest("first build");
    }
}

static void a_folder_that_cannot_be_made_only_costs_time(void **state) {
    (void)state;
    wait_until_settled();
    keel_digest_t digest;
    char below[128];
    snprintf(below, sizeof below, "%s/below", plugin); // there is a file at that path
    MUST(keel_key_plugin_build(plugin, below, &digest));
}

static void a_plugin_that_is_no_file_is_an_error(void **state) {
    (void)state;
    keel_digest_t digest;
    keel_status_t status = keel_key_plugin_build("/nonexistent/plugin.so", memory, &digest);
    assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    keel_status_ignore(status);
    status = keel_key_plugin_build(folder, memory, &digest);
    assert_int_equal(keel_status_code(status), KEEL_INVALID);
    keel_status_ignore(status);
}

#ifdef KEEL_FAULTS
static void every_failure_gives_the_right_digest_or_an_error(void **state) {
    (void)state;
    wait_until_settled();
    keel_digest_t expected = keel_content_digest(keel_str_bytes(KEEL_STR("first build")));
    for (int kind = 0; kind < KEEL_FAULT_KINDS; ++kind) {
        for (uint64_t n = 1;; ++n) {
            keel_status_ignore(keel_directory_walk(memory, forget, NULL));
            keel_digest_t digest;
            keel_fault_arm((keel_fault_kind_t)kind, n);
            keel_status_t status = keel_key_plugin_build(plugin, memory, &digest);
            bool failed = keel_fault_count((keel_fault_kind_t)kind) >= n;
            keel_fault_arm((keel_fault_kind_t)kind, 0);
            if (!status) assert_memory_equal(digest.bytes, expected.bytes, sizeof digest.bytes);
            keel_status_ignore(status);
            if (!failed) break;
        }
    }
}
#endif

int main(void) {
#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_FILES(a_record_that_is_a_named_pipe_makes_nobody_wait),
        WITH_FILES(a_settled_file_is_remembered),
        WITH_FILES(a_file_that_just_changed_is_not_remembered),
        WITH_FILES(of_processes_that_start_together_one_reads_the_file),
        WITH_FILES(who_takes_too_long_to_read_the_file_is_not_waited_for),
        WITH_FILES(a_changed_file_has_another_digest),
        WITH_FILES(a_spoiled_memory_is_not_believed),
        WITH_FILES(a_folder_that_cannot_be_made_only_costs_time),
        WITH_FILES(a_plugin_that_is_no_file_is_an_error),
#ifdef KEEL_FAULTS
        WITH_FILES(every_failure_gives_the_right_digest_or_an_error),
#endif
    };
    return cmocka_run_group_tests_name("key_plugin_build", tests, NULL, NULL);
}
