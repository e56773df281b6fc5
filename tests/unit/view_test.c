// A private view of the file system: what is done in it stays in it.
#define _GNU_SOURCE
#include "place.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "view/view.h"

static place_t place;      // of the user's files
static place_t view_place; // of the view
static char kept[300];
static bool as_other_user; // whether namespaces need a user namespace

static void write_text(const char *name, const char *text) {
    int file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
}

static bool has_text(const char *name, const char *text) {
    char got[100] = "";
    int file = open(name, O_RDONLY);
    if (file < 0) return false;
    ssize_t size = read(file, got, sizeof got - 1);
    close(file);
    return size == (ssize_t)strlen(text) && strcmp(got, text) == 0;
}

static void make_files(void) {
    place_make(&place);
    place_make(&view_place);
    snprintf(kept, sizeof kept, "%s/kept", view_place.root);
    assert_int_equal(chdir(place.root), 0);
    write_text("old", "old");
    write_text("gone", "gone");
    assert_int_equal(mkdir("folder", 0755), 0);
    write_text("folder/a", "a");
    write_text("folder/b", "b");
    assert_int_equal(symlink("old", "link"), 0);
    assert_int_equal(mkdir("a, folder: with \\ signs", 0755), 0);
    write_text("a, folder: with \\ signs/file", "file");
}

static keel_status_t create(keel_view_t **out) {
    static const char *places[2], *keeps[2], *shown[1];
    places[0] = view_place.root;
    keeps[0] = kept;
    const keel_view_settings_t settings = {places, keeps, shown, NULL};
    return keel_view_create(&settings, out);
}

// In the view, in a child: its exit code.
static int inside(const keel_view_t *view, void (*act)(void)) {
    int state;
    pid_t child = fork();
    if (child == 0) {
        int error = keel_view_enter(view);
        if (error) {
            fprintf(stderr, "cannot enter: %s\n", strerror(error));
            _exit(100);
        }
        act();
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &state, 0), child);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128;
}

#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno));   \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void put(const char *name, const char *text, int flags) {
    int file = open(name, O_WRONLY | flags, 0644);
    NEED(file >= 0);
    NEED(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    NEED(fsync(file) == 0);
    close(file);
}

static void change_everything(void) {
    struct stat facts;
    NEED(has_text("old", "old"));
    put("new", "new", O_CREAT | O_EXCL);
    NEED(has_text("new", "new"));
    put("old", " and new", O_APPEND);
    NEED(has_text("old", "old and new"));
    NEED(has_text("link", "old and new"));
    NEED(unlink("gone") == 0);
    NEED(stat("gone", &facts) != 0 && errno == ENOENT);
    put("temporary", "b2", O_CREAT);
    NEED(rename("temporary", "folder/b") == 0);
    NEED(has_text("folder/b", "b2"));
    NEED(mkdir("made", 0700) == 0);
    put("made/c", "c", O_CREAT);
    NEED(truncate("folder/a", 0) == 0);
    NEED(chmod("folder", 0700) == 0);
    put("a, folder: with \\ signs/file", "2", O_TRUNC);
    NEED(has_text("a, folder: with \\ signs/file", "2"));
    char path[400];
    snprintf(path, sizeof path, "%s/kept", kept);
    put(path, "kept", O_CREAT);
    int file = open("mapped", O_RDWR | O_CREAT, 0600);
    NEED(file >= 0 && ftruncate(file, 4096) == 0);
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    NEED(memory != MAP_FAILED);
    memcpy(memory, "mapped", 6);
    NEED(msync(memory, 4096, MS_SYNC) == 0);
}

static void see_the_same(void) {
    NEED(has_text("folder/b", "b2"));
    NEED(has_text("made/c", "c"));
    NEED(access("gone", F_OK) != 0);
}

static void assert_nothing_changed(void) {
    struct stat facts;
    char path[400];
    assert_true(has_text("old", "old"));
    assert_true(has_text("gone", "gone"));
    assert_true(has_text("folder/a", "a"));
    assert_true(has_text("folder/b", "b"));
    assert_true(has_text("a, folder: with \\ signs/file", "file"));
    assert_int_equal(stat("folder", &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0755);
    static const char *const made[] = {"new", "made", "mapped", "temporary"};
    for (size_t i = 0; i < sizeof made / sizeof *made; ++i)
        assert_int_equal(access(made[i], F_OK), -1);
    snprintf(path, sizeof path, "%s/kept", kept);
    assert_true(has_text(path, "kept"));
}

// A test as root, then as a user who is not root.
static void as_each_user(void (*test)(void)) {
    for (int i = 0; i < 2; ++i) {
        as_other_user = i == 1;
        if (!as_other_user && geteuid() != 0) continue;
        int state;
        pid_t child = fork();
        if (child == 0) {
            enum { NOBODY = 65534 };
            if (as_other_user && geteuid() == 0 && (setgid(NOBODY) || setuid(NOBODY))) _exit(1);
            prctl(PR_SET_DUMPABLE, 1);           // as if it had been started by that user
            setenv("CMOCKA_TEST_ABORT", "1", 1); // a failed assertion ends the child
            make_files();
            test();
            assert_int_equal(chdir("/"), 0);
            place_remove(&place);
            place_remove(&view_place);
            _exit(0);
        }
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &state, 0), child);
        if (!WIFEXITED(state) || WEXITSTATUS(state))
            fail_msg("as %s: state %d", as_other_user ? "another user" : "root", state);
    }
}

static size_t count_names(const char *folder) {
    size_t count = 0;
    DIR *names = opendir(folder);
    assert_non_null(names);
    for (struct dirent *entry; (entry = readdir(names));)
        count += strncmp(entry->d_name, ".keel-writes-", 13) == 0;
    closedir(names);
    return count;
}

static void undo_all(void) {
    keel_view_t *view;
    keel_written_t written;
    assert_ok(create(&view));
    assert_int_equal(inside(view, change_everything), 0);
    assert_int_equal(inside(view, see_the_same), 0);
    assert_nothing_changed();
    assert_ok(keel_view_written(view, &written));
    // new, old, folder/a, folder/b, made/c, file, mapped; gone
    assert_int_equal(written.files, 7);
    assert_int_equal(written.removed, 1);
    assert_int_equal(written.bytes, 3 + 11 + 0 + 2 + 1 + 1 + 4096);
    keel_written_deinitialize(&written);
    assert_int_equal(count_names(view_place.root), 1);
    keel_view_destroy(view);
    assert_int_equal(count_names(view_place.root), 0);
    assert_nothing_changed();
}

static void what_is_done_in_a_view_stays_in_it(void **state) {
    (void)state;
    as_each_user(undo_all);
}

static void empty_and_refill(void) {
    NEED(unlink("folder/a") == 0 && unlink("folder/b") == 0 && rmdir("folder") == 0);
    NEED(mkdir("folder", 0755) == 0);
    put("folder/b", "again", O_CREAT);
    put("folder/c", "c", O_CREAT);
}

static void count_removed(void) {
    keel_view_t *view;
    keel_written_t written;
    assert_ok(create(&view));
    assert_int_equal(inside(view, empty_and_refill), 0);
    assert_ok(keel_view_written(view, &written));
    assert_int_equal(written.files, 2);
    assert_int_equal(written.removed, 1);
    assert_int_equal(written.group_count, 1);
    char path[400];
    snprintf(path, sizeof path, "%s/folder/", place.root);
    assert_string_equal(written.groups[0].path, path);
    keel_written_deinitialize(&written);
    keel_view_destroy(view);
}

static void a_folder_that_is_made_again_lost_its_files(void **state) {
    (void)state;
    as_each_user(count_removed);
}

static void write_in_many_places(void) {
    char path[100];
    for (int i = 0; i < 40; ++i) {
        snprintf(path, sizeof path, "step-%d", i);
        NEED(mkdir(path, 0700) == 0);
        snprintf(path, sizeof path, "step-%d/state", i);
        put(path, "12345", O_CREAT);
    }
    put("folder/log", "log", O_CREAT);
    NEED(mkdir("folder/__pycache__", 0700) == 0);
    put("folder/__pycache__/a.pyc", "x", O_CREAT);
    // Opened, but not written.
    int file = open("old", O_RDWR);
    NEED(file >= 0);
    close(file);
}

static void group_many(void) {
    keel_view_t *view;
    keel_written_t written;
    uint64_t files = 0, bytes = 0;
    assert_ok(create(&view));
    assert_int_equal(inside(view, write_in_many_places), 0);
    assert_ok(keel_view_written(view, &written));
    assert_int_equal(written.files, 41);
    assert_int_equal(written.bytes, 40 * 5 + 3);
    assert_in_range(written.group_count, 1, KEEL_WRITTEN_GROUPS);
    for (size_t i = 0; i < written.group_count; ++i) {
        files += written.groups[i].files;
        bytes += written.groups[i].bytes;
    }
    assert_int_equal(files, written.files);
    assert_int_equal(bytes, written.bytes);
    keel_written_deinitialize(&written);
    keel_view_destroy(view);
}

static void many_folders_become_few_groups(void **state) {
    (void)state;
    as_each_user(group_many);
}

static void hold(void) {
    put("new", "new", O_CREAT);
    pause();
}

// The maker of a view is killed while a command runs in it, then that is killed too.
static void sweep(void) {
    int made[2], state;
    const char *const places[] = {view_place.root, NULL};
    char nothing;
    assert_int_equal(pipe(made), 0);
    pid_t maker = fork();
    if (maker == 0) {
        keel_view_t *view;
        if (create(&view)) _exit(1);
        pid_t command = fork();
        if (command == 0) {
            if (keel_view_enter(view) || write(made[1], &(pid_t){getpid()}, sizeof(pid_t)) < 0)
                _exit(1);
            close(made[1]);
            hold();
        }
        pause();
    }
    pid_t command;
    close(made[1]);
    assert_int_equal(read(made[0], &command, sizeof command), sizeof command);
    keel_view_sweep(places);
    assert_int_equal(count_names(view_place.root), 1); // its maker lives
    kill(maker, SIGKILL);
    assert_int_equal(waitpid(maker, &state, 0), maker);
    keel_view_sweep(places);
    assert_int_equal(count_names(view_place.root), 1); // the command does
    kill(command, SIGKILL);
    while (kill(command, 0) == 0)
        usleep(1000);
    assert_int_equal(read(made[0], &nothing, 1), 0);
    keel_view_sweep(places);
    assert_int_equal(count_names(view_place.root), 0);
    assert_int_equal(access("new", F_OK), -1);
}

static void what_a_killed_process_left_is_swept(void **state) {
    (void)state;
    as_each_user(sweep);
}

// This process's own, in which is no mount of the view's.
static void the_number_of_a_namespace_may_be_that_of_a_new_one(void **state) {
    (void)state;
    char name[64] = "", path[400];
    make_files();
    const char *const places[] = {view_place.root, NULL};
    assert_true(readlink("/proc/self/ns/mnt", name, sizeof name - 1) > 0);
    snprintf(path, sizeof path, "%s/.keel-writes-1-1", view_place.root);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/.keel-writes-1-1/lock", view_place.root);
    write_text(path, name);
    keel_view_sweep(places);
    assert_int_equal(count_names(view_place.root), 0);
    assert_int_equal(chdir("/"), 0);
    place_remove(&place);
    place_remove(&view_place);
}

static void write_beside_what_is_kept(void) {
    put("folder/kept/new", "new", O_CREAT);
    put("folder/new", "new", O_CREAT);
    put("folder/a", "changed", O_TRUNC);
    NEED(has_text("folder/a", "changed"));
}

static void keep_one_folder(void) {
    keel_view_t *view;
    snprintf(kept, sizeof kept, "%s/folder/kept", place.root);
    assert_ok(create(&view));
    assert_int_equal(inside(view, write_beside_what_is_kept), 0);
    keel_view_destroy(view);
    assert_true(has_text("folder/kept/new", "new"));
    assert_true(has_text("folder/a", "a"));
    assert_int_equal(access("folder/new", F_OK), -1);
}

static void what_stands_beside_a_kept_folder_is_not_kept(void **state) {
    (void)state;
    as_each_user(keep_one_folder);
}

static void write_where_nothing_is(void) {
    char folder[PATH_MAX];
    NEED(!getcwd(folder, sizeof folder) && errno == ENOENT);
    NEED(open("new", O_CREAT | O_WRONLY, 0600) < 0 && errno == ENOENT);
    // It is above a folder of the view's, wherever that was.
    int above = open("../old", O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (above >= 0) close(above);
}

static void work_in_a_removed_folder(void) {
    keel_view_t *view;
    assert_int_equal(mkdir("removed", 0700), 0);
    assert_int_equal(chdir("removed"), 0);
    assert_int_equal(rmdir("../removed"), 0);
    assert_ok(create(&view));
    assert_int_equal(inside(view, write_where_nothing_is), 0);
    keel_view_destroy(view);
    assert_int_equal(chdir(place.root), 0);
    assert_true(has_text("old", "old"));
}

static void a_working_folder_that_was_removed_is_one_in_the_view_too(void **state) {
    (void)state;
    as_each_user(work_in_a_removed_folder);
}

static struct { int read, named, removed; } opened;

static void write_below_open_folders(void) {
    NEED(fcntl(opened.removed, F_GETFD) < 0 && errno == EBADF);
    int file = openat(opened.read, "old", O_WRONLY | O_TRUNC);
    NEED(file >= 0 && write(file, "1", 1) == 1);
    NEED(has_text("old", "1"));
    NEED(unlinkat(opened.named, "gone", 0) == 0);
    NEED(access("gone", F_OK) != 0);
}

static void open_folders(void) {
    keel_view_t *view;
    assert_int_equal(mkdir("removed", 0700), 0);
    opened.read = open(".", O_RDONLY | O_DIRECTORY);
    opened.named = open(".", O_PATH | O_DIRECTORY);
    opened.removed = open("removed", O_RDONLY | O_DIRECTORY);
    assert_true(opened.read >= 0 && opened.named >= 0 && opened.removed >= 0);
    assert_int_equal(rmdir("removed"), 0);
    assert_ok(create(&view));
    assert_int_equal(inside(view, write_below_open_folders), 0);
    keel_view_destroy(view);
    assert_true(has_text("old", "old"));
    assert_true(has_text("gone", "gone"));
    close(opened.read);
    close(opened.named);
    close(opened.removed);
}

static void folders_that_were_open_are_those_of_the_view(void **state) {
    (void)state;
    as_each_user(open_folders);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_done_in_a_view_stays_in_it),
        cmocka_unit_test(a_folder_that_is_made_again_lost_its_files),
        cmocka_unit_test(many_folders_become_few_groups),
        cmocka_unit_test(what_a_killed_process_left_is_swept),
        cmocka_unit_test(the_number_of_a_namespace_may_be_that_of_a_new_one),
        cmocka_unit_test(what_stands_beside_a_kept_folder_is_not_kept),
        cmocka_unit_test(a_working_folder_that_was_removed_is_one_in_the_view_too),
        cmocka_unit_test(folders_that_were_open_are_those_of_the_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
