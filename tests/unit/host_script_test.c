#define _GNU_SOURCE // strsep
#include <sys/stat.h>

#include "host/host.h"
#include "place.h"

// `command` holds the words of a command, '|' between them.
static uint64_t script_id(const char *cwd, const char *command, const char *label) {
    char text[1024], *argv[16] = {NULL}, *name;
    snprintf(text, sizeof text, "%s", command);
    size_t count = 0;
    for (char *rest = text, *word; count < 15 && (word = strsep(&rest, "|"));)
        if (*word) argv[count++] = word;
    assert_ok(keel_host_script(argv, cwd, &name));
    size_t length = strlen(label);
    if (strncmp(name, label, length) || name[length] != '-' || strlen(name) != length + 17)
        fail_msg("%s, not %s-<16 digits>", name, label);
    uint64_t id = strtoull(name + length + 1, NULL, 16);
    keel_free(name);
    return id;
}

static void a_script_is_the_file_that_the_interpreter_runs(void **state) {
    (void)state;
    place_t place;
    place_make(&place);
    char path[400], sub[400], command[600];
    snprintf(path, sizeof path, "%s/train.py", place.root);
    snprintf(sub, sizeof sub, "%s/sub", place.root);
    write_bytes(path, "", 0);
    assert_int_equal(mkdir(sub, 0700), 0);
    uint64_t id = script_id(place.root, "python|train.py|--lr|1", "train.py");
    assert_int_equal(
        id,
        script_id(place.root, "/usr/bin/python3.13|-u|-W|ignore|-Xdev|-OO|train.py", "train.py"));
    assert_int_equal(id, script_id(sub, "python3|../train.py", "train.py"));
    snprintf(command, sizeof command, "python3|--|%s|-m|x", path);
    assert_int_equal(id, script_id("/", command, "train.py"));
    snprintf(command, sizeof command, "%s|--lr|2", path);
    assert_int_equal(id, script_id("/", command, "train.py"));
    assert_int_not_equal(id, script_id(sub, "python|train.py", "train.py"));
    place_remove(&place);
}

static void a_module_and_a_text_count_with_their_folder(void **state) {
    (void)state;
    uint64_t module = script_id("/one", "python3|-um|pkg.train|-x", "pkg.train");
    assert_int_equal(module, script_id("/one", "python3|-m|pkg.train", "pkg.train"));
    assert_int_equal(module, script_id("/one", "python3|-mpkg.train|y", "pkg.train"));
    assert_int_not_equal(module, script_id("/two", "python3|-m|pkg.train", "pkg.train"));
    assert_int_not_equal(script_id("/one", "python3|-c|import a", "python-c"),
                         script_id("/one", "python3|-c|import b", "python-c"));
    script_id("/one", "python3", "python3");
    script_id("/one", "python3|-", "python3");
    script_id("/one", "./a b\n", "a_b_");
    script_id("/one", ".x", "_x");
    script_id("/one", "", "unknown");
    script_id("/one", "python3|-m", "script"); // of which the module is missing
    script_id("/one", "python3|-c", "python-c");
    script_id("/one", "python3|-W", "python3");
    script_id("/one", "./azAZ09_-.[`@{/:", "_");
    script_id("/one", "./azAZ09_-.[`@{;:", "azAZ09_-.______");
}

// Of the options in words, one takes a word of its own.
static void a_script_stands_behind_the_interpreters_options(void **state) {
    (void)state;
    script_id("/one", "python3|--check-hash-based-pycs|never|train.py", "train.py");
    script_id("/one", "python3|--check-hash-based-pycs", "python3");
    script_id("/one", "python3|--without-a-word|train.py|other.py", "train.py");
    script_id("/one", "python3|-W|ignore|-X|dev|train.py", "train.py");
    script_id("/one", "pypy3|-OOsSm|train|other.py", "train");
    script_id("/one", "python3|--", "python3");
}

static void write_file(const place_t *place, const char *name) {
    char path[500];
    snprintf(path, sizeof path, "%s/%s", place->root, name);
    write_bytes(path, "", 0);
}

static void a_launcher_counts_with_what_it_launches(void **state) {
    (void)state;
    place_t place;
    place_make(&place);
    const char *files[] = {"train.py", "other.py", "acc.yaml", "base.py", "hook.py"};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i)
        write_file(&place, files[i]);
    const char *here = place.root;
#define ID(command, label) script_id(here, command, label)
    uint64_t run = ID("python3|-m|torch.distributed.run|--nproc_per_node=2|train.py|--lr|1",
                      "torch.distributed.run-train.py");
    assert_int_equal(run, ID("python3|-mtorch.distributed.run|--nnodes|2|train.py|--lr|2",
                             "torch.distributed.run-train.py"));
    assert_int_not_equal(run, ID("python3|-m|torch.distributed.run|other.py|--lr|1",
                                 "torch.distributed.run-other.py"));
    assert_int_not_equal(run, ID("python3|-m|own.launcher|train.py", "own.launcher-train.py"));
    // The command that an installer made, run by its name or by its interpreter.
    uint64_t torchrun =
        ID("/v/bin/torchrun|--standalone|train.py|--config|base.py|x", "torchrun-train.py");
    assert_int_equal(torchrun,
                     ID("python|/w/bin/torchrun|--nnodes=1|train.py", "torchrun-train.py"));
    assert_int_not_equal(torchrun, ID("torchrun|--standalone|other.py", "torchrun-other.py"));
    uint64_t launch =
        ID("accelerate|launch|--config_file|acc.yaml|train.py", "accelerate-train.py");
    assert_int_equal(launch,
                     ID("accelerate|launch|train.py|--lr|3|--seed=1", "accelerate-train.py"));
    assert_int_not_equal(launch, ID("accelerate|launch|-m|pkg.train", "accelerate-pkg.train"));
    ID("accelerate|launch|-m", "accelerate"); // of which the module is missing
    ID("python3|-c|import x|train.py", "python-c");
    // A file behind an option may be what is launched: it never hides another.
    assert_int_not_equal(ID("python|-m|own|--hook|hook.py|train.py", "own-hook.py"),
                         ID("python|-m|own|--hook|hook.py|other.py", "own-hook.py"));
    // Files that a script of the user's, or a module, takes as values.
    uint64_t module = ID("python|-m|pkg.train|--config|base.py|--data|acc.yaml", "pkg.train");
    assert_int_equal(module, ID("python|-m|pkg.train|--config|other.py", "pkg.train"));
    assert_int_equal(ID("python|train.py|other.py", "train.py"), ID("python|train.py", "train.py"));
    place_remove(&place);
}

static void tests_count_with_their_files_and_names(void **state) {
    (void)state;
    place_t place;
    place_make(&place);
    char folder[400];
    snprintf(folder, sizeof folder, "%s/tests", place.root);
    assert_int_equal(mkdir(folder, 0700), 0);
    write_file(&place, "tests/test_a.py");
    write_file(&place, "tests/test_b.py");
    const char *here = place.root;
    uint64_t a = ID("python|-m|pytest|-x|tests/test_a.py", "pytest-test_a.py");
    assert_int_equal(a, ID("/v/bin/pytest|tests/test_a.py|-q|-k|fast", "pytest-test_a.py"));
    assert_int_not_equal(a, ID("pytest|tests/test_b.py", "pytest-test_b.py"));
    assert_int_not_equal(a, ID("pytest|tests/test_a.py|tests/test_b.py", "pytest-test_a.py"));
    assert_int_not_equal(a, ID("pytest|tests", "pytest-tests"));
    assert_int_not_equal(a, ID("pytest|-q", "pytest"));
    uint64_t one = ID("pytest|tests/test_a.py::test_x[1-float]", "pytest-test_a.py");
    assert_int_not_equal(one, a);
    assert_int_not_equal(one, ID("pytest|tests/test_a.py::test_y", "pytest-test_a.py"));
    uint64_t covered = ID("coverage|run|-m|pytest|tests", "coverage-pytest");
    assert_int_not_equal(covered, ID("coverage|run|-m|pytest|tests/test_a.py", "coverage-pytest"));
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_is_the_file_that_the_interpreter_runs),
        cmocka_unit_test(a_module_and_a_text_count_with_their_folder),
        cmocka_unit_test(a_script_stands_behind_the_interpreters_options),
        cmocka_unit_test(a_launcher_counts_with_what_it_launches),
        cmocka_unit_test(tests_count_with_their_files_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
