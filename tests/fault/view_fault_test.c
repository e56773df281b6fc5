// A view of which each allocation, file operation and mount fails in turn: it is made, or it is not
// and nothing is left; and a command in it never writes to what is there.
#define _GNU_SOURCE
#include "place.h"

#include <sys/wait.h>

#include "view/view.h"

static place_t place;

static keel_status_t create(keel_view_t **out) {
    static char kept[300];
    static const char *places[2], *keeps[2], *shown[2];
    snprintf(kept, sizeof kept, "%s/kept", place.root);
    places[0] = place.root;
    keeps[0] = kept;
    shown[0] = "/proc/self/exe";
    const keel_view_settings_t settings = {places, keeps, shown, NULL};
    return keel_view_create(&settings, out);
}

static void write_text(const char *name, const char *text) {
    int file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (file < 0) return;
    if (write(file, text, strlen(text)) < 0) perror(name);
    close(file);
}

static void assert_is_old(void) {
    char got[10] = "";
    int file = open("old", O_RDONLY);
    assert_true(file >= 0);
    assert_int_equal(read(file, got, sizeof got - 1), 3);
    close(file);
    assert_string_equal(got, "old");
    assert_int_equal(access("new", F_OK), -1);
}

// Writes in the view, if it can be entered.
static void use(const keel_view_t *view) {
    keel_written_t written;
    int state;
    pid_t child = fork();
    if (child == 0) {
        if (keel_view_enter(view)) _exit(0);
        write_text("old", "changed");
        write_text("new", "new");
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &state, 0), child);
    keel_status_ignore(keel_view_written(view, &written));
    keel_written_deinitialize(&written);
}

static size_t count_left(void) {
    size_t count = 0;
    DIR *names = opendir(place.root);
    assert_non_null(names);
    for (struct dirent *entry; (entry = readdir(names));)
        count += strncmp(entry->d_name, ".keel-writes-", 13) == 0;
    closedir(names);
    return count;
}

// A folder without a lock may be one that is being made, for a minute.
static void make_old(void) {
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    DIR *names = opendir(place.root);
    assert_non_null(names);
    for (struct dirent *entry; (entry = readdir(names));)
        if (strncmp(entry->d_name, ".keel-writes-", 13) == 0)
            assert_int_equal(utimensat(dirfd(names), entry->d_name, times, 0), 0);
    closedir(names);
}

// The builder counts for itself, from what its parent had counted. So a fault at every operation of
// either is armed once `nth` is larger than what both do.
static void fail_each(keel_fault_kind_t kind) {
    size_t made = 0, refused = 0;
    for (uint64_t nth = 1; made < 30 && nth < 3000; ++nth) {
        keel_view_t *view = NULL;
        keel_fault_arm(kind, nth);
        keel_status_t status = create(&view);
        if (!status) use(view);
        keel_fault_arm(kind, 0);
        // In memory, or without a mount that takes no overlay, a view can be made all the same.
        made = status ? 0 : made + 1;
        refused += status != NULL;
        keel_status_ignore(status);
        keel_view_destroy(view);
        assert_is_old();
        if (kind == KEEL_FAULT_ALLOC) assert_int_equal(count_left(), 0);
    }
    assert_in_range(made, 30, 30);
    if (kind == KEEL_FAULT_ALLOC) assert_in_range(refused, 1, 3000);
    // What could not be removed is swept.
    const char *const places[] = {place.root, NULL};
    make_old();
    keel_view_sweep(places);
    assert_int_equal(count_left(), 0);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    fail_each(KEEL_FAULT_ALLOC);
}

static void each_file_operation_may_fail(void **state) {
    (void)state;
    fail_each(KEEL_FAULT_FILE);
}

static int begin(void **state) {
    (void)state;
    place_make(&place);
    assert_int_equal(chdir(place.root), 0);
    write_text("old", "old");
    return 0;
}

static int end(void **state) {
    (void)state;
    assert_int_equal(chdir("/"), 0);
    place_remove(&place);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_allocation_may_fail, begin, end),
        cmocka_unit_test_setup_teardown(each_file_operation_may_fail, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
