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
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_is_the_file_that_the_interpreter_runs),
        cmocka_unit_test(a_module_and_a_text_count_with_their_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
