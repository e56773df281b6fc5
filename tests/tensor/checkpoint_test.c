// Checkpoints: written while training goes on, whole or not at all, whatever fails. Their format is
// tested in checkpoints.py.
//
// Usage: checkpoint_test; with PATH PART_BYTES NTH it is the process that a test kills while it
// saves.
#define _GNU_SOURCE
#include "model_help.h"

#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

static place_t place;
static char whole[300], split[300];

static int make_place(void **state) {
    (void)state;
    place_make(&place);
    snprintf(whole, sizeof whole, "%s/model.safetensors", place.root);
    snprintf(split, sizeof split, "%s/model.safetensors.index.json", place.root);
    return 0;
}

static int remove_place(void **state) {
    (void)state;
    place_remove(&place);
    return 0;
}

enum { LEAVES = 5, ROWS = 300 };

static const char *name_of(int leaf) {
    static const char *const names[LEAVES] = {"a.w", "a.b", "c.w", "count", "empty"};
    return names[leaf];
}

// All elements of all leaves are `version`.
static keel_status_t fill(keel_tree_t *tree, float version) {
    for (int i = 0; i < LEAVES; ++i) {
        keel_tensor_t leaf = keel_tree_get(tree, name_of(i));
        keel_tensor_t number = keel_number(leaf, version);
        keel_assign(leaf, keel_broadcast(number, keel_shape(leaf)));
    }
    return keel_step_end(keel);
}

static keel_tree_t *tree_of(float version) {
    keel_tree_t *tree = new_tree();
    keel_tree_add(tree, "a.w", KEEL_F32, KEEL_SHAPE(ROWS, ROWS), KEEL_UNSET);
    keel_tree_add(tree, "a.b", KEEL_BF16, KEEL_SHAPE(ROWS), KEEL_UNSET);
    keel_tree_add(tree, "c.w", KEEL_F32, KEEL_SHAPE(ROWS, 2), KEEL_UNSET);
    keel_tree_state(tree, "count", KEEL_I32, KEEL_SCALAR, KEEL_UNSET);
    keel_tree_state(tree, "empty", KEEL_F64, KEEL_SHAPE(3, 0), KEEL_UNSET);
    assert_ok(fill(tree, version));
    return tree;
}

// -1 if elements differ.
static float version_of(keel_tree_t *tree) {
    static float data[ROWS * ROWS];
    int32_t count;
    assert_ok(keel_read(keel_tree_get(tree, "a.w"), data, sizeof data));
    for (int i = 1; i < ROWS * ROWS; ++i)
        if (data[i] != data[0]) return -1;
    float version = data[0];
    assert_ok(keel_read(keel_tree_get(tree, "c.w"), data, 2 * ROWS * sizeof *data));
    for (int i = 0; i < 2 * ROWS; ++i)
        if (data[i] != version) return -1;
    assert_ok(keel_read(keel_tree_get(tree, "count"), &count, sizeof count));
    return (float)count == version ? version : -1;
}

static float stored_version(const char *path) {
    keel_tree_t *tree = tree_of(0);
    assert_ok(keel_checkpoint_load(tree, path, NULL, NULL));
    float version = version_of(tree);
    keel_tree_free(tree);
    return version;
}

static unsigned count_files(void) {
    return count_below(place.root, "");
}

// ---- what it promises --------------------------------------------------------------------------

static void steps_meanwhile_change_nothing_of_what_is_written(void **state) {
    (void)state;
    static const uint64_t sizes[2] = {0, 100000};
    const char *const paths[2] = {whole, split};
    for (int i = 0; i < 2; ++i) {
        keel_checkpoint_t *save;
        keel_tree_t *tree = tree_of(7);
        assert_ok(keel_checkpoint_begin(tree, paths[i], sizes[i], &save));
        for (int step = 0; step < 50; ++step) {
            for (int leaf = 0; leaf < LEAVES; ++leaf) {
                keel_tensor_t x = keel_tree_get(tree, name_of(leaf));
                keel_add_to(x, keel_number(x, 1));
            }
            assert_ok(keel_step_end(keel));
        }
        assert_ok(keel_checkpoint_end(save));
        assert_float_equal(stored_version(paths[i]), 7, 0);
        assert_float_equal(version_of(tree), 57, 0);
        assert_ok(keel_checkpoint_load(tree, paths[i], NULL, NULL));
        assert_float_equal(version_of(tree), 7, 0);
        keel_tree_free(tree);
    }
}

static void saving_again_makes_no_new_program(void **state) {
    (void)state;
    keel_tree_t *tree = tree_of(1);
    assert_ok(keel_checkpoint_save(tree, whole, 0));
    uint64_t before = programs();
    for (float version = 2; version < 6; ++version) {
        assert_ok(fill(tree, version));
        assert_ok(keel_checkpoint_save(tree, whole, 0));
        assert_float_equal(stored_version(whole), version, 0);
    }
    assert_int_equal(programs(), before);
    keel_tree_free(tree);
}

static void a_save_is_done_by_itself(void **state) {
    (void)state;
    keel_checkpoint_t *save;
    keel_tree_t *tree = tree_of(3);
    assert_ok(keel_checkpoint_begin(tree, whole, 0, &save));
    for (int i = 0; i < 10000 && !keel_checkpoint_is_done(save); ++i)
        usleep(1000);
    assert_true(keel_checkpoint_is_done(save));
    assert_float_equal(stored_version(whole), 3, 0);
    assert_ok(keel_checkpoint_end(save));
    assert_true(keel_checkpoint_is_done(NULL));
    assert_ok(keel_checkpoint_end(NULL));
    keel_tree_free(tree);
}

static void files_of_earlier_saves_and_of_killed_ones_go(void **state) {
    (void)state;
    char path[400];
    keel_tree_t *tree = tree_of(1);
    assert_ok(keel_checkpoint_save(tree, split, 1));
    assert_int_equal(count_files(), LEAVES + 1);
    snprintf(path, sizeof path, "%s/.tmp.999999999.0", place.root);
    write_bytes(path, "x", 1);
    set_age(path, 100);
    snprintf(path, sizeof path, "%s/model-12345678-00001-of-00001.safetensors", place.root);
    write_bytes(path, "x", 1);
    snprintf(path, sizeof path, "%s/model-12345678-00001-of-0000x.safetensors", place.root);
    write_bytes(path, "x", 1);
    snprintf(path, sizeof path, "%s/.tmp.%d.5", place.root, (int)getpid());
    write_bytes(path, "x", 1); // of a process that runs
    assert_ok(keel_checkpoint_save(tree, split, 1 << 20));
    assert_int_equal(count_files(), 2 + 2);
    assert_float_equal(stored_version(split), 1, 0);
    keel_tree_free(tree);
}

static void misuse_is_refused(void **state) {
    (void)state;
    keel_checkpoint_t *save;
    keel_tree_t *tree = tree_of(1), *blank = new_tree();
    expect_status(keel_checkpoint_begin(tree, whole, 0, NULL), "no place");
    expect_status(keel_checkpoint_begin(NULL, whole, 0, &save), "checkpoint_test.c", "no tree");
    expect_status(keel_checkpoint_save(tree, "", 0), "no path");
    expect_status(keel_checkpoint_save(blank, whole, 0), "the tree is empty");
    expect_status(keel_checkpoint_save(tree, whole, 1), "if, and only if");
    expect_status(keel_checkpoint_load(NULL, whole, NULL, NULL), "no tree");
    expect_status(keel_checkpoint_load(tree, whole, NULL, NULL), whole);
    write_bytes(split, "[]", 2);
    expect_status(keel_checkpoint_load(tree, split, NULL, NULL), "is not a JSON object");
    uint64_t usual = keel_limit(KEEL_LIMIT_EVENTS_LEAST);
    keel_limit_set(KEEL_LIMIT_EVENTS_LEAST, 1);
    write_bytes(split, "[{},{},{},{}]", 13);
    expect_status(keel_checkpoint_load(tree, split, NULL, NULL), "too many small values");
    keel_limit_set(KEEL_LIMIT_EVENTS_LEAST, usual);
    assert_int_equal(unlink(split), 0);
    keel_add_to(keel_tree_get(tree, "count"), keel_tree_get(tree, "count"));
    expect_status(keel_checkpoint_save(tree, whole, 0), "end the open step first");
    expect_status(keel_checkpoint_load(tree, whole, NULL, NULL), "end the open step first");
    assert_ok(keel_step_end(keel)); // it is still whole
    keel_tree_add(tree, "unset", KEEL_F32, KEEL_SHAPE(2), KEEL_UNSET);
    keel_status_t status = keel_checkpoint_save(tree, whole, 0);
    const char *line = strstr(keel_status_message(status), "checkpoint_test.c");
    assert_non_null(line);
    assert_null(strstr(line + 1, "checkpoint_test.c")); // once
    expect_status(status, "unset has no value yet");
    assert_int_equal(mkfifo(whole, 0600), 0);
    expect_status(keel_checkpoint_save(tree, whole, 0), whole, " is not a regular file");
    assert_int_equal(unlink(whole), 0);
    assert_int_equal(count_files(), 0);
    keel_tree_free(tree);
    keel_tree_free(blank);
}

// ---- faults ------------------------------------------------------------------------------------

#ifdef KEEL_FAULTS

typedef keel_status_t (*operation_t)(keel_tree_t *tree, const char *path);

static keel_status_t save_it(keel_tree_t *tree, const char *path) {
    return keel_checkpoint_save(tree, path, path == split ? 100000 : 0);
}

static keel_status_t load_it(keel_tree_t *tree, const char *path) {
    return keel_checkpoint_load(tree, path, NULL, NULL);
}

// Version 1 is stored and the tree has version 2; each operation of a kind fails once.
static void fail_each(keel_fault_kind_t kind, operation_t operation, const char *path) {
    keel_tree_t *tree = tree_of(1);
    assert_ok(save_it(tree, path));
    uint64_t nth = 0, reached, failures = 0;
    do {
        assert_ok(fill(tree, 2));
        keel_fault_arm(kind, ++nth);
        keel_status_t status = operation(tree, path);
        reached = keel_fault_count(kind);
        keel_fault_arm(kind, 0);
        failures += status != NULL;
        float version = stored_version(path);
        if (version != 1 && version != 2) fail_msg("operation %d: nothing is whole", (int)nth);
        if (!status && operation == save_it) assert_float_equal(version, 2, 0);
        if (!status && operation == load_it) assert_float_equal(version_of(tree), 1, 0);
        keel_status_ignore(status);
        assert_int_equal(count_below(place.root, ".tmp."), 0);
        assert_ok(fill(tree, 1));
        assert_ok(save_it(tree, path));
    } while (reached >= nth);
    assert_true(failures > 3);
    keel_tree_free(tree);
}

static void each_file_operation_may_fail(void **state) {
    (void)state;
    fail_each(KEEL_FAULT_FILE, save_it, whole);
    fail_each(KEEL_FAULT_FILE, save_it, split);
    fail_each(KEEL_FAULT_FILE, load_it, whole);
    fail_each(KEEL_FAULT_FILE, load_it, split);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    fail_each(KEEL_FAULT_ALLOC, save_it, whole);
    fail_each(KEEL_FAULT_ALLOC, save_it, split);
    fail_each(KEEL_FAULT_ALLOC, load_it, whole);
    fail_each(KEEL_FAULT_ALLOC, load_it, split);
}

// In the process that is killed.
static int save_until_killed(char **arguments) {
    void *state = NULL;
    open_context(&state);
    keel_tree_t *tree = tree_of(2);
    keel_fault_arm(KEEL_FAULT_FILE, strtoull(arguments[2], NULL, 10));
    keel_fault_kill(true);
    assert_ok(keel_checkpoint_save(tree, arguments[0], strtoull(arguments[1], NULL, 10)));
    keel_fault_arm(KEEL_FAULT_FILE, 0);
    keel_tree_free(tree);
    return close_context(&state);
}

// True if it was killed.
static bool run_child(const char *path, const char *part_bytes, int nth) {
    char number[16];
    pid_t child;
    int how;
    snprintf(number, sizeof number, "%d", nth);
    char self[] = "checkpoint_test";
    char *arguments[] = {self, (char *)(uintptr_t)path, (char *)(uintptr_t)part_bytes, number,
                         NULL};
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    if (WIFSIGNALED(how)) {
        assert_int_equal(WTERMSIG(how), SIGKILL);
        return true;
    }
    assert_int_equal(WEXITSTATUS(how), 0);
    return false;
}

static void a_killed_process_leaves_the_old_checkpoint_or_the_new_one(void **state) {
    (void)state;
    const char *const paths[2] = {whole, split};
    for (int i = 0; i < 2; ++i) {
        int killed = 0, kept = 0;
        keel_tree_t *tree = tree_of(1);
        do {
            assert_ok(save_it(tree, paths[i]));
            ++killed;
        } while (run_child(paths[i], i ? "100000" : "0", killed) &&
                 (kept += stored_version(paths[i]) == 1, true));
        assert_float_equal(stored_version(paths[i]), 2, 0);
        assert_true(kept > 3 && kept < killed);
        keel_tree_free(tree);
    }
}

#endif

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
        TEST(steps_meanwhile_change_nothing_of_what_is_written),
        TEST(saving_again_makes_no_new_program),
        TEST(a_save_is_done_by_itself),
        TEST(files_of_earlier_saves_and_of_killed_ones_go),
        TEST(misuse_is_refused),
#ifdef KEEL_FAULTS
        TEST(each_file_operation_may_fail),
        TEST(each_allocation_may_fail),
        TEST(a_killed_process_leaves_the_old_checkpoint_or_the_new_one),
#endif
    };
#ifdef KEEL_FAULTS
    if (count == 4) return save_until_killed(arguments + 1);
#endif
    (void)count;
    (void)arguments;
    return cmocka_run_group_tests(tests, open_context, close_context);
}
