// `keel key` of two programs, as JSON.
#define _GNU_SOURCE
#include "place.h"

#include <jansson.h>
#include <sys/mman.h>

#include "cli/cli.h"

#define SAMPLE(name) KEEL_TEST_SAMPLES "/mlir/" name

// What it prints for `a` and `b`.
static json_t *keys_of(const char *a, const char *b, int *out_code) {
    char json[] = "--json", first[512], second[512];
    snprintf(first, sizeof first, "%s", a);
    snprintf(second, sizeof second, "%s", b);
    char *arguments[] = {json, first, second, NULL};
    cli_call_t call = {.name = "key", .usage = "", .sentence = "", .arguments = arguments};
    int file = memfd_create("printed", MFD_CLOEXEC), kept = dup(STDOUT_FILENO);
    assert_true(file >= 0 && kept >= 0);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    *out_code = cli_key(&call);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    lseek(file, 0, SEEK_SET);
    json_t *out = json_loadfd(file, 0, NULL);
    close(file);
    assert_non_null(out);
    return out;
}

static const char *text_of(const json_t *answer, const char *side, const char *field) {
    return json_string_value(json_object_get(json_object_get(answer, side), field));
}

static void two_keys_are_compared_by_component(void **state) {
    (void)state;
    int code;
    json_t *answer = keys_of(SAMPLE("donate.mlir"), SAMPLE("dtypes.mlir"), &code);
    json_t *differ = json_object_get(answer, "differ");
    assert_int_equal(code, CLI_NO);
    assert_true(json_is_false(json_object_get(answer, "same")));
    assert_int_equal(json_array_size(differ), 1);
    assert_string_equal(json_string_value(json_array_get(differ, 0)), "program");
    assert_string_not_equal(text_of(answer, "a", "name"), text_of(answer, "b", "name"));
    json_decref(answer);
}

static void a_program_has_its_own_key(void **state) {
    (void)state;
    int code;
    json_t *answer = keys_of(SAMPLE("donate.mlir"), SAMPLE("donate.mlir"), &code);
    assert_int_equal(code, CLI_OK);
    assert_true(json_is_true(json_object_get(answer, "same")));
    assert_int_equal(json_array_size(json_object_get(answer, "differ")), 0);
    assert_true(json_is_array(json_object_get(answer, "differ")));
    assert_true(json_equal(json_object_get(answer, "a"), json_object_get(answer, "b")));
    json_decref(answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_keys_are_compared_by_component),
        cmocka_unit_test(a_program_has_its_own_key),
    };
    setenv("KEEL_CONFIG", "/dev/null", 1);
    return cmocka_run_group_tests_name("cli_key", tests, NULL, NULL);
}
