// What the Python package reports about the client's bugs: written whole, each once, whenever it is
// reported.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "door_help.h"
#include "fork_at_rest.h"
#include "pjrt/kernels.h"

enum { WAITING = 32 }; // reports that wait for a client

static keel_journal_fix_t fix_named(const char *name) {
    return (keel_journal_fix_t){.name = name,
                                .state = "applied",
                                .label = "a label",
                                .reference = "project 12",
                                .client = "client 3.4",
                                .why = "because"};
}

// Reports one, and overwrites the texts: they belong to the caller.
static void note_and_forget(const char *name) {
    char text[64];
    snprintf(text, sizeof text, "%s", name);
    keel_journal_fix_t fix = fix_named(text);
    keel_shim_note_fix(&fix);
    memset(text, 'x', sizeof text - 1);
}

// The same, of which only some texts are given.
static void note_in_part_and_forget(void) {
    char client[] = "client 5", why[] = "in part";
    keel_journal_fix_t fix = {.name = "part", .state = "applied", .client = client, .why = why};
    keel_shim_note_fix(&fix);
    memset(client, 'x', sizeof client - 1);
    memset(why, 'x', sizeof why - 1);
}

static void note_around_a_client(const door_t *door) {
    (void)door;
    note_in_part_and_forget();
    keel_journal_fix_t bare = {.name = "bare", .state = "absent", .why = ""};
    note_and_forget("first");
    keel_shim_note_fix(&bare);
    note_and_forget("third");
    CHECK(count_events(door, "\"event\":\"fix\"", "") == 0);
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    note_and_forget("with a client");
    PJRT_Client *second = door_client(api);
    door_close(api, second);
    door_close(api, client);
}

static void test_reports_from_before_there_is_a_client_are_written_once_and_whole(void **state) {
    const door_t *door = *state;
    door_run(door, "", note_around_a_client);
    assert_int_equal(count_events(door, "\"event\":\"fix\"", ""), 5);
    assert_int_equal(count_events(door, "\"name\":\"part\",\"state\":\"applied\"",
                                  "\"client\":\"client 5\",\"why\":\"in part\""),
                     1);
    static const char *const whole[] = {"first", "third", "with a client"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; ++i) {
        char text[300];
        snprintf(text, sizeof text,
                 "\"name\":\"%s\",\"state\":\"applied\",\"label\":\"a label\",\"reference\":"
                 "\"project 12\",\"client\":\"client 3.4\",\"why\":\"because\"",
                 whole[i]);
        assert_int_equal(count_events(door, "\"event\":\"fix\"", text), 1);
    }
    // A text that is not given, or is empty, is left out.
    assert_int_equal(count_events(door, "\"name\":\"bare\",\"state\":\"absent\"}", ""), 1);
}

static void note_many(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        char name[32];
        snprintf(name, sizeof name, "number %u;", i);
        note_and_forget(name);
    }
    door_close(keel_shim_api(), door_client(keel_shim_api()));
}

static void note_as_many_as_wait(const door_t *door) {
    (void)door;
    note_many(WAITING);
}

static void note_two_more(const door_t *door) {
    (void)door;
    note_many(WAITING + 2);
}

static void test_no_more_than_32_reports_wait_and_that_is_said_once(void **state) {
    const door_t *door = *state;
    door_run(door, "", note_as_many_as_wait);
    assert_int_equal(count_events(door, "\"event\":\"fix\"", ""), WAITING);
    assert_int_equal(count_lines(door->errors, "missing from the journal"), 0);
    door_run(door, "", note_two_more);
    assert_int_equal(count_events(door, "\"event\":\"fix\"", ""), 2 * WAITING);
    assert_int_equal(count_events(door, "\"event\":\"fix\"", "number 31;"), 2);
    assert_int_equal(count_lines(door->errors, "more than 32 fixes in one process"), 1);
    assert_int_equal(count_lines(door->errors, "missing from the journal"), 1);
}

static void note_in_a_child(const door_t *door) {
    (void)door;
    const PJRT_Api *api = keel_shim_api();
    PJRT_Client *client = door_client(api);
    pid_t child = fork_at_rest();
    CHECK(child >= 0);
    if (!child) {
        note_and_forget("of the child");
        _exit(0);
    }
    CHECK(door_wait(child) == 0);
    note_and_forget("of the parent");
    door_close(api, client);
}

static void test_a_forked_child_does_not_write_in_its_parents_name(void **state) {
    const door_t *door = *state;
    door_run(door, "", note_in_a_child);
    assert_int_equal(count_events(door, "\"event\":\"fix\"", ""), 1);
    assert_int_equal(count_events(door, "\"event\":\"fix\"", "of the parent"), 1);
}

// ---- through the library -----------------------------------------------------------------------

// The library as a client opens it: what it exports does what the package asks for.
static void report_through_the_library(const door_t *door) {
    (void)door;
    void *library = dlopen(KEEL_DOOR, RTLD_NOW | RTLD_LOCAL);
    CHECK(library);
    const PJRT_Api *(*table)(void);
    void (*step)(void);
    void (*add_kernel)(const char *name, void *function);
    void (*note)(const char *, const char *, const char *, const char *, const char *,
                 const char *);
    *(void **)&table = dlsym(library, "GetPjrtApi");
    *(void **)&step = dlsym(library, "keel_step");
    *(void **)&add_kernel = dlsym(library, "keel_add_kernel");
    *(void **)&note = dlsym(library, "keel_note_fix");
    CHECK(table && step && add_kernel && note);
    note("fork", "applied", "a label", "project 12", "client 3.4", "because");
    const PJRT_Api *api = table();
    PJRT_Client *client = door_client(api);
    for (int i = 0; i < KEEL_KERNEL_LIMIT + 2; ++i) {
        char name[32];
        snprintf(name, sizeof name, "kernel_%d", i);
        add_kernel(name, dlsym(library, "keel_step")); // a function of a library
    }
    step();
    step();
    step();
    door_close(api, client);
}

static void test_what_the_library_exports_reaches_the_journal(void **state) {
    const door_t *door = *state;
    door_run(door, "", report_through_the_library);
    assert_int_equal(count_events(door, "\"event\":\"fix\"",
                                  "\"name\":\"fork\",\"state\":\"applied\",\"label\":\"a label\","
                                  "\"reference\":\"project 12\",\"client\":\"client 3.4\","
                                  "\"why\":\"because\""),
                     1);
    assert_int_equal(count_events(door, "\"event\":\"step\"", "\"count\":3"), 1);
    // Those that there is room for are silent, the others are said once.
    assert_int_equal(count_lines(door->errors, "programs that call it do not compile"), 1);
    assert_int_equal(count_lines(door->errors, "'kernel_96'"), 1);
    assert_int_equal(count_lines(door->errors, "keel: "), 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_reports_from_before_there_is_a_client_are_written_once_and_whole),
        TEST(test_no_more_than_32_reports_wait_and_that_is_said_once),
        TEST(test_what_the_library_exports_reaches_the_journal),
        TEST(test_a_forked_child_does_not_write_in_its_parents_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
