// What is mounted, and what it becomes in a view.
#define _GNU_SOURCE
#include "place.h"

#include "view/mounts.h"

static const char some[] =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n"
    "24 27 0:6 / /dev rw - tmpfs dev rw\n"
    "25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw,size=24684092k\n"
    "26 24 0:24 / /dev/pts rw - devpts devpts rw\n"
    "30 27 8:1 / /data\\040of\\134all rw,nosuid master:2 propagate_from:3 - xfs /dev/sda1 rw\n"
    "31 27 8:2 / /old rw - ext4 /dev/sdb rw\n"
    "32 27 8:3 / /old ro - ext4 /dev/sdc rw\n"
    "33 27 8:4 / /cd rw - iso9660 /dev/sr0 ro\n"
    "34 27 0:40 / /tmp rw - tmpfs tmpfs rw\n"
    "35 22 0:41 / /proc/fs/x rw - tmpfs tmpfs rw\n"
    "\n"
    "36 27\n"
    "37 27 0:1 / relative rw - ext4 x rw\n"
    "38 27 0:1 / /endless rw shared:1\n";

static void mounts_are_sorted_and_the_last_at_a_point_counts(void **state) {
    (void)state;
    static const char *const points[] = {"/",          "/cd",      "/data of\\all", "/dev",
                                         "/dev/pts",   "/dev/shm", "/old",          "/proc",
                                         "/proc/fs/x", "/tmp"};
    keel_mounts_t mounts;
    assert_ok(keel_mounts_parse(keel_str(some), &mounts));
    assert_int_equal(mounts.count, sizeof points / sizeof *points);
    for (size_t i = 0; i < mounts.count; ++i)
        assert_string_equal(mounts.list[i].point, points[i]);
    assert_int_equal(mounts.list[0].id, 27);
    assert_string_equal(mounts.list[2].type, "xfs");
    assert_false(mounts.list[2].is_read_only);
    assert_int_equal(mounts.list[6].id, 32);
    assert_true(mounts.list[6].is_read_only);
    assert_true(mounts.list[1].is_read_only); // the file system is
    keel_mounts_deinitialize(&mounts);
}

static void each_mount_has_its_step_and_the_kernels_own_stay(void **state) {
    (void)state;
    static const keel_step_t expected[] = {{KEEL_STEP_OVERLAY, "/"},
                                           {KEEL_STEP_SAME, "/cd"},
                                           {KEEL_STEP_OVERLAY, "/data of\\all"},
                                           {KEEL_STEP_DEVICES, "/dev"},
                                           {KEEL_STEP_IN_MEMORY, "/dev/shm"},
                                           {KEEL_STEP_SAME, "/old"},
                                           {KEEL_STEP_TREE, "/proc"},
                                           {KEEL_STEP_IN_MEMORY, "/tmp"}};
    keel_mounts_t mounts;
    keel_plan_t plan;
    assert_ok(keel_mounts_parse(keel_str(some), &mounts));
    assert_ok(keel_plan_make(&mounts, false, &plan));
    assert_int_equal(plan.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < plan.count; ++i) {
        assert_string_equal(plan.steps[i].path, expected[i].path);
        assert_int_equal(plan.steps[i].kind, expected[i].kind);
    }
    keel_plan_deinitialize(&plan);
    keel_mounts_deinitialize(&mounts);
}

// The automounter's own mount has no files, what it mounts has.
static void what_an_automounter_mounts_is_the_users(void **state) {
    (void)state;
    static const char text[] = "1 0 8:1 / / rw - ext4 a rw\n"
                               "2 1 0:50 / /homes rw - autofs map rw,fd=5\n"
                               "3 2 0:51 / /homes/ann rw - nfs4 server:/ann rw\n"
                               "4 3 0:52 / /homes/ann/disk rw - ext4 b rw\n"
                               "5 2 0:53 / /homes/old ro - nfs4 server:/old ro\n"
                               "6 2 0:54 / /homes/more rw - autofs map rw,fd=6\n"
                               "7 6 0:55 / /homes/more/bob rw - nfs4 server:/bob rw\n";
    static const keel_step_t expected[] = {{KEEL_STEP_OVERLAY, "/"},
                                           {KEEL_STEP_TREE, "/homes"},
                                           {KEEL_STEP_OVERLAY, "/homes/ann"},
                                           {KEEL_STEP_OVERLAY, "/homes/ann/disk"},
                                           {KEEL_STEP_OVERLAY, "/homes/more/bob"},
                                           {KEEL_STEP_SAME, "/homes/old"}};
    keel_mounts_t mounts;
    keel_plan_t plan;
    assert_ok(keel_mounts_parse(keel_str(text), &mounts));
    assert_ok(keel_plan_make(&mounts, false, &plan));
    assert_int_equal(plan.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < plan.count; ++i) {
        assert_string_equal(plan.steps[i].path, expected[i].path);
        assert_int_equal(plan.steps[i].kind, expected[i].kind);
    }
    keel_plan_deinitialize(&plan);
    keel_mounts_deinitialize(&mounts);
}

static keel_step_kind_t kind_at(const keel_plan_t *plan, const char *path) {
    for (size_t i = 0; i < plan->count; ++i)
        if (strcmp(plan->steps[i].path, path) == 0) return plan->steps[i].kind;
    fail_msg("no step for %s", path);
    return KEEL_STEP_SAME;
}

// Of folders on the way to a mount, new ones are made: the kernel shows nobody but root what lies
// below mounts.
static void folders_above_mounts_are_made_anew_for_other_users(void **state) {
    (void)state;
    place_t place;
    char path[400], text[1200];
    keel_mounts_t mounts;
    keel_plan_t plan;
    place_make(&place);
    static const char *const folders[] = {"with", "with/mount", "with/beside", "alone"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        snprintf(path, sizeof path, "%s/%s", place.root, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(path, sizeof path, "%s/with/file", place.root);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    close(file);
    snprintf(path, sizeof path, "%s/with/link", place.root);
    assert_int_equal(symlink("file", path), 0);
    snprintf(text, sizeof text,
             "1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / %s/with/mount rw - ext4 b rw\n", place.root);
    assert_ok(keel_mounts_parse(keel_str(text), &mounts));
    assert_ok(keel_plan_make(&mounts, true, &plan));
    const struct {
        const char *name;
        keel_step_kind_t kind;
    } expected[] = {{"", KEEL_STEP_FOLDER},
                    {"/with", KEEL_STEP_FOLDER},
                    {"/with/mount", KEEL_STEP_OVERLAY},
                    {"/with/beside", KEEL_STEP_OVERLAY},
                    {"/with/file", KEEL_STEP_READ_ONLY},
                    {"/with/link", KEEL_STEP_LINK},
                    {"/alone", KEEL_STEP_OVERLAY}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        snprintf(path, sizeof path, "%s%s", place.root, expected[i].name);
        assert_int_equal(kind_at(&plan, path), expected[i].kind);
    }
    assert_int_equal(plan.steps[0].kind, KEEL_STEP_FOLDER);
    assert_string_equal(plan.steps[0].path, "/");
    keel_plan_deinitialize(&plan);
    keel_mounts_deinitialize(&mounts);
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mounts_are_sorted_and_the_last_at_a_point_counts),
        cmocka_unit_test(what_an_automounter_mounts_is_the_users),
        cmocka_unit_test(each_mount_has_its_step_and_the_kernels_own_stay),
        cmocka_unit_test(folders_above_mounts_are_made_anew_for_other_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
