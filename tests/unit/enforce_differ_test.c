// What the message of processes that differ says of their programs: the first lines of `keel diff`.
#define _GNU_SOURCE
#include "place.h"

#include "enforce/differ.h"

static keel_bytes_t sample(const char *name) {
    char path[1024];
    uint8_t *data;
    size_t size;
    snprintf(path, sizeof path, "%s/diff/%s.mlir", KEEL_TEST_SAMPLES, name);
    assert_ok(keel_file_read(path, 1 << 24, &data, &size));
    return keel_bytes(data, size);
}

static void the_causes_are_shown_without_names_of_files_and_options(void **state) {
    (void)state;
    static const struct {
        const char *other, *says;
    } cases[] = {
        {"step_batch", "\n  1. shape: an argument changed shape"
                       "\n     batch['x']: f32[8,4] -> f32[4,4], and 1 more argument"
                       "\n     /home/ada/train.py:18 in train, called at /home/ada/run.py:36"
                       "\n     19 differences follow from it"},
        {"step_both", "\n  1. shape: an argument changed shape"
                      "\n     batch['x']: f32[8,4] -> f32[4,4], and 1 more argument"
                      "\n     /home/ada/train.py:18 in train, called at /home/ada/run.py:36"
                      "\n     19 differences follow from it"
                      "\n  2. constant: a host value is baked into the program"
                      "\n     multiply: 0.1 -> 0.2"},
        {"step", ""},
    };
    place_t place;
    place_make(&place);
    keel_bytes_t step = sample("step");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_bytes_t other = sample(cases[i].other);
        const differ_side_t sides[] = {{.code = step, .digest = "step"},
                                       {.process = 1, .code = other, .digest = "other"}};
        char folder[600];
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        snprintf(folder, sizeof folder, "%s/differ", place.root);
        differ_explain(NULL, place.root, folder, sides, &out);
        assert_string_equal(keel_buffer_cstr(&out), cases[i].says);
        keel_buffer_deinitialize(&out);
        free((void *)(uintptr_t)other.data);
    }
    free((void *)(uintptr_t)step.data);
    place_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_causes_are_shown_without_names_of_files_and_options)};
    return cmocka_run_group_tests_name("enforce_differ", tests, NULL, NULL);
}
