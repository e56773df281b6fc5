// A command's own folder below TMPDIR, where others may have made one.
#define _GNU_SOURCE
#include "place.h"

#include <sys/stat.h>

#include "cli/cli.h"
#include "journal/journal.h"

void __wrap_keel_journal_make_id(char out[KEEL_RUN_ID_SIZE]);

void __wrap_keel_journal_make_id(char out[KEEL_RUN_ID_SIZE]) {
    snprintf(out, KEEL_RUN_ID_SIZE, "known");
}

static void a_folder_that_others_can_write_is_refused(void **state) {
    (void)state;
    place_t place;
    char path[PATH_MAX + 32], *made;
    place_make(&place);
    setenv("TMPDIR", place.root, 1);
    snprintf(path, sizeof path, "%s/keel-it-known", place.root);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, 0777), 0);
    assert_code(cli_temporary_make("it", &made), KEEL_REFUSED);
    assert_int_equal(chmod(path, 0700), 0);
    assert_ok(cli_temporary_make("it", &made));
    assert_string_equal(made, path);
    keel_free(made);
    unsetenv("TMPDIR");
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_that_others_can_write_is_refused),
    };
    return cmocka_run_group_tests_name("cli_temporary", tests, NULL, NULL);
}
