// Which runs and programs are removed, and which are not.
#define _GNU_SOURCE
#include "place.h"

#include <signal.h>
#include <sys/wait.h>

#include "journal/journal.h"
#include "journal/prune.h"

enum { HOUR = 3600, DAY = 24 * HOUR };

static const char a[] = "1111111111111111111111111111111111111111111111111111111111111111";
static const char b[] = "2222222222222222222222222222222222222222222222222222222222222222";
static const char c[] = "3333333333333333333333333333333333333333333333333333333333333333";

static void put(const place_t *place, const char *name, const char *text, long age) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", place->root, name);
    write_bytes(path, text, strlen(text));
    set_age(path, age);
}

static void put_folder(const place_t *place, const char *name) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", place->root, name);
    assert_ok(keel_directory_make(path));
}

static void put_run(const place_t *place, const char *id, const char *events, long age) {
    char name[300];
    put_folder(place, id);
    snprintf(name, sizeof name, "%s/explained.ndjson", id);
    put(place, name, "{}\n", age);
    snprintf(name, sizeof name, "%s/journal.ndjson", id);
    put(place, name, events, age);
}

static void put_program(const place_t *place, const char *digest, long age) {
    char name[300];
    put_folder(place, "programs");
    snprintf(name, sizeof name, "programs/%s.mlir.zst", digest);
    put(place, name, "bytes", age);
}

static bool has(const place_t *place, const char *name) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", place->root, name);
    return exists(path);
}

// What a file takes on the disk.
static uint64_t room_of(const place_t *place, const char *name) {
    char path[600];
    struct stat facts;
    snprintf(path, sizeof path, "%s/%s", place->root, name);
    assert_int_equal(stat(path, &facts), 0);
    return (uint64_t)facts.st_blocks * 512;
}

static uint64_t room_of_program(const place_t *place, const char *digest) {
    char name[300];
    snprintf(name, sizeof name, "programs/%s.mlir.zst", digest);
    return room_of(place, name);
}

static bool has_program(const place_t *place, const char *digest) {
    char name[300];
    snprintf(name, sizeof name, "programs/%s.mlir.zst", digest);
    return has(place, name);
}

// A process that has ended, and one of which nothing more was written.
#define ENDED(digest)                                                                              \
    "{\"event\":\"start\",\"pid\":7,\"process\":\"7 1 x y\"}\n{\"event\":\"ask\",\"pid\":7,"       \
    "\"program\":\"%s\"}\n{\"event\":\"end\",\"pid\":7}\n",                                        \
        digest
static void put_ended(const place_t *place, const char *id, const char *digest, long age) {
    char events[400];
    snprintf(events, sizeof events, ENDED(digest));
    put_run(place, id, events, age);
}

static void put_open(const place_t *place, const char *id, const char *process, long age) {
    char events[400];
    snprintf(events, sizeof events, "{\"event\":\"start\",\"pid\":7,\"process\":\"%s\"}\n",
             process);
    put_run(place, id, events, age);
}

typedef struct told_t {
    char removed[200], going_on[200], failed[200];
} told_t;

static void tell(void *context, keel_prune_fate_t fate, const char *run, uint64_t bytes,
                 const char *why) {
    told_t *told = context;
    char *text = fate == KEEL_PRUNE_REMOVED   ? told->removed
                 : fate == KEEL_PRUNE_GOES_ON ? told->going_on
                                              : told->failed;
    assert_true(fate != KEEL_PRUNE_REMOVED || bytes > 0);
    assert_true((fate == KEEL_PRUNE_FAILED) == (why != NULL));
    snprintf(text + strlen(text), 200 - strlen(text), "%s ", run);
}

static told_t prune(const place_t *place, keel_prune_t how, keel_pruned_t *out) {
    told_t told = {.removed = ""};
    how.tell = tell;
    how.context = &told;
    assert_ok(keel_journal_prune(place->root, &how, out));
    return told;
}

static void old_runs_go_and_what_only_they_name(void **state) {
    (void)state;
    place_t place;
    keel_pruned_t pruned;
    place_make(&place);
    put_ended(&place, "r1", a, 50 * DAY);
    put_ended(&place, "r2", b, 40 * DAY);
    put_ended(&place, "r3", b, 10 * DAY);
    put_program(&place, a, 50 * DAY);
    put_program(&place, b, 40 * DAY);
    put_program(&place, c, 45 * DAY); // of a run that was removed before
    put_folder(&place, "history");
    put(&place, "history/old.py-1.ndjson", "{}\n", 40 * DAY);
    put(&place, "history/new.py-1.ndjson", "{}\n", 10 * DAY);
    uint64_t program = room_of_program(&place, a),
             history = room_of(&place, "history/old.py-1.ndjson");
    told_t told = prune(&place, (keel_prune_t){.older = 30 * DAY}, &pruned);
    assert_string_equal(told.removed, "r1 r2 ");
    assert_int_equal(pruned.runs, 2);
    assert_false(has(&place, "r1") || has(&place, "r2"));
    assert_true(has(&place, "r3/journal.ndjson") && has(&place, "r3/explained.ndjson"));
    assert_true(has_program(&place, b));
    assert_false(has_program(&place, a) || has_program(&place, c));
    assert_false(has(&place, "history/old.py-1.ndjson"));
    assert_true(has(&place, "history/new.py-1.ndjson"));
    assert_int_equal(pruned.files, 3);
    assert_int_equal(pruned.file_bytes, 2 * program + history);
    place_remove(&place);
}

static void the_newest_stay_whatever_their_age(void **state) {
    (void)state;
    place_t place;
    keel_pruned_t pruned;
    place_make(&place);
    put_ended(&place, "z-oldest", a, 50 * DAY); // the name says nothing
    put_ended(&place, "r2", a, 40 * DAY);
    put_ended(&place, "r3", a, 1);
    assert_string_equal(
        prune(&place, (keel_prune_t){.older = 30 * DAY, .keep = 2}, &pruned).removed, "z-oldest ");
    assert_string_equal(prune(&place, (keel_prune_t){.keep = 1}, &pruned).removed, "r2 ");
    assert_string_equal(prune(&place, (keel_prune_t){.keep = 1}, &pruned).removed, "");
    assert_string_equal(prune(&place, (keel_prune_t){.keep = 0}, &pruned).removed, "r3 ");
    place_remove(&place);
}

static void a_dry_run_tells_the_same_and_removes_nothing(void **state) {
    (void)state;
    place_t place;
    keel_pruned_t dry, real;
    place_make(&place);
    put_ended(&place, "r1", a, 50 * DAY);
    put_ended(&place, "r2", b, DAY);
    put_program(&place, a, 50 * DAY);
    put_program(&place, b, 50 * DAY);
    told_t would = prune(&place, (keel_prune_t){.older = DAY * 2, .dry_run = true}, &dry);
    assert_true(has(&place, "r1/journal.ndjson") && has_program(&place, a));
    told_t did = prune(&place, (keel_prune_t){.older = DAY * 2}, &real);
    assert_string_equal(would.removed, did.removed);
    assert_memory_equal(&dry, &real, sizeof dry);
    assert_false(has(&place, "r1") || has_program(&place, a));
    place_remove(&place);
}

static void name_of_child(char out[KEEL_PROCESS_NAME], bool lives, pid_t *out_child) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *out_child = fork();
    if (!*out_child) {
        char name[KEEL_PROCESS_NAME] = "";
        keel_process_name(name);
        if (write(ends[1], name, sizeof name) != sizeof name) _exit(1);
        while (lives)
            pause();
        _exit(0);
    }
    assert_int_equal(read(ends[0], out, KEEL_PROCESS_NAME), KEEL_PROCESS_NAME);
    close(ends[0]);
    close(ends[1]);
    if (!lives) waitpid(*out_child, NULL, 0);
}

static void a_run_that_goes_on_is_never_removed(void **state) {
    (void)state;
    place_t place;
    keel_pruned_t pruned;
    pid_t living, gone;
    char lives[KEEL_PROCESS_NAME], was[KEEL_PROCESS_NAME];
    place_make(&place);
    name_of_child(lives, true, &living);
    name_of_child(was, false, &gone);
    put_open(&place, "lives", lives, 400 * DAY);
    put_open(&place, "killed", was, 1);
    put_open(&place, "elsewhere", "7 1 pid:[1] another-boot", 6 * DAY);
    put_open(&place, "elsewhere-long", "7 1 pid:[1] another-boot", 8 * DAY);
    put_open(&place, "nameless", "", 6 * DAY);
    told_t told = prune(&place, (keel_prune_t){.keep = 0}, &pruned);
    assert_string_equal(told.going_on, "lives elsewhere nameless ");
    assert_string_equal(told.removed, "elsewhere-long killed ");
    kill(living, SIGKILL);
    waitpid(living, NULL, 0);
    assert_string_equal(prune(&place, (keel_prune_t){.keep = 0}, &pruned).removed, "lives ");
    place_remove(&place);
}

// The run may have kept it, and not have written down that it did.
static void what_is_new_stays_while_a_run_goes_on(void **state) {
    (void)state;
    place_t place;
    keel_pruned_t pruned;
    char own[KEEL_PROCESS_NAME];
    place_make(&place);
    keel_process_name(own);
    put_open(&place, "lives", own, 1);
    put_program(&place, a, 23 * HOUR);
    put_program(&place, b, 25 * HOUR);
    prune(&place, (keel_prune_t){.older = DAY, .thorough = true}, &pruned);
    assert_true(has_program(&place, a));
    assert_false(has_program(&place, b));
    put_ended(&place, "lives", c, 1);
    prune(&place, (keel_prune_t){.older = DAY, .thorough = true}, &pruned);
    assert_false(has_program(&place, a));
    place_remove(&place);
}

static void a_digest_counts_whatever_event_it_stands_in(void **state) {
    (void)state;
    place_t place;
    keel_pruned_t pruned;
    char events[600];
    // Every digit of hex, those at the ends too.
    static const char all[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    place_make(&place);
    snprintf(events, sizeof events,
             "{\"event\":\"of a later Keel\",\"list\":[\"%s\",\"%s\"]}\n{torn %s", a, all, b);
    put_program(&place, all, 50 * DAY);
    put_run(&place, "r1", events, 1);
    put_program(&place, a, 50 * DAY);
    put_program(&place, b, 50 * DAY);
    put_program(&place, c, 50 * DAY);
    put(&place, "programs/notes.txt", "mine", 50 * DAY);
    prune(&place, (keel_prune_t){.older = DAY, .thorough = true}, &pruned);
    assert_true(has_program(&place, a) && has_program(&place, b) && has_program(&place, all));
    assert_false(has_program(&place, c));
    assert_true(has(&place, "programs/notes.txt"));
    place_remove(&place);
}

static void a_run_takes_the_room_of_keels_own_files_on_the_disk(void **state) {
    (void)state;
    static const char *const names[] = {"r1/journal.ndjson", "r1/explained.ndjson",
                                        "r1/metrics.7.json", "r1/figures.json", "r1/.tmp.7.1"};
    place_t place;
    uint64_t room = 0;
    place_make(&place);
    put_folder(&place, "r1");
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        put(&place, names[i], "12345\n", 1);
        room += room_of(&place, names[i]);
        assert_int_equal(keel_journal_run_bytes(place.root, "r1"), room);
    }
    put(&place, "r1/notes.txt", "of somebody else", 1);
    assert_int_equal(keel_journal_run_bytes(place.root, "r1"), room);
    assert_int_equal(keel_journal_run_bytes(place.root, "r2"), 0);
    assert_true(has(&place, "r1/journal.ndjson"));
    place_remove(&place);
}

static void what_keel_did_not_write_stays_and_the_rest_goes_on(void **state) {
    (void)state;
    place_t place, other;
    keel_pruned_t pruned;
    char link[600];
    place_make(&place);
    place_make(&other);
    put_ended(&place, "r1", a, 50 * DAY);
    put(&place, "r1/thesis.txt", "mine", 50 * DAY);
    put_ended(&place, "r2", a, 40 * DAY);
    put_ended(&other, "r3", a, 50 * DAY);
    snprintf(link, sizeof link, "%s/r3", place.root);
    char target[600];
    snprintf(target, sizeof target, "%s/r3", other.root);
    assert_int_equal(symlink(target, link), 0);
    told_t told = prune(&place, (keel_prune_t){.older = DAY}, &pruned);
    assert_string_equal(told.failed, "r1 ");
    assert_string_equal(told.removed, "r2 ");
    assert_int_equal(pruned.failures, 1);
    assert_true(has(&place, "r1/journal.ndjson") && has(&place, "r1/thesis.txt"));
    assert_true(has(&other, "r3/journal.ndjson"));
    place_remove(&place);
    place_remove(&other);
}

// The mark of a run that lost events is an empty folder.
static void a_run_that_lost_events_goes_like_any_other(void **state) {
    (void)state;
    place_t place;
    keel_pruned_t pruned;
    char *path;
    place_make(&place);
    put_ended(&place, "r1", a, 50 * DAY);
    assert_ok(keel_journal_lost_path(place.root, "r1", &path));
    assert_ok(keel_directory_make_one(path));
    keel_free(path);
    told_t told = prune(&place, (keel_prune_t){.older = DAY}, &pruned);
    assert_string_equal(told.failed, "");
    assert_string_equal(told.removed, "r1 ");
    assert_false(has(&place, "r1"));
    place_remove(&place);
}

static void a_folder_without_a_journal_goes_once_it_is_old(void **state) {
    (void)state;
    place_t place;
    keel_pruned_t pruned;
    char path[600];
    place_make(&place);
    put_folder(&place, "begins");
    put_folder(&place, "torn");
    put(&place, "torn/.123.answers", "{}\n", 50 * DAY);
    snprintf(path, sizeof path, "%s/torn", place.root);
    set_age(path, 50 * DAY);
    prune(&place, (keel_prune_t){.keep = 0}, &pruned);
    assert_true(has(&place, "begins"));
    assert_false(has(&place, "torn"));
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_runs_go_and_what_only_they_name),
        cmocka_unit_test(the_newest_stay_whatever_their_age),
        cmocka_unit_test(a_dry_run_tells_the_same_and_removes_nothing),
        cmocka_unit_test(a_run_that_goes_on_is_never_removed),
        cmocka_unit_test(what_is_new_stays_while_a_run_goes_on),
        cmocka_unit_test(a_run_takes_the_room_of_keels_own_files_on_the_disk),
        cmocka_unit_test(a_digest_counts_whatever_event_it_stands_in),
        cmocka_unit_test(what_keel_did_not_write_stays_and_the_rest_goes_on),
        cmocka_unit_test(a_run_that_lost_events_goes_like_any_other),
        cmocka_unit_test(a_folder_without_a_journal_goes_once_it_is_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
