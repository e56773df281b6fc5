// What of a program's dumps a load can give, and the files that Keel adds to XLA's.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/dumps.h"
#include "place.h"

// ---- what is asked for -------------------------------------------------------------------------

typedef struct asked_t {
    const char *folder, *modules, *passes; // NULL: not given
} asked_t;

static void put_text(keel_buffer_t *out, uint32_t number, const char *text) {
    if (text) keel_proto_put_bytes(out, number, keel_str_bytes(keel_str(text)));
}

// Compile options with these debug options.
static void put_options(const asked_t *asked, keel_buffer_t *out) {
    keel_buffer_initialize(out, 0);
    size_t options = keel_proto_open(out, 3), build = keel_proto_open(out, 3);
    put_text(out, 109, asked->folder);
    put_text(out, 110, asked->modules);
    put_text(out, 111, asked->passes);
    keel_proto_close(out, build);
    keel_proto_close(out, options);
}

static void assert_dumps(const asked_t *asked, const char *flag, bool by_compiling, bool excludes) {
    keel_buffer_t options;
    dumps_t dumps;
    put_options(asked, &options);
    dumps_of_program(keel_buffer_bytes(&options), "jit_step", false, &dumps);
    if (flag)
        assert_string_equal(dumps.flag, flag);
    else
        assert_null(dumps.flag);
    assert_int_equal(dumps.by_compiling, by_compiling);
    assert_int_equal(dumps.excludes, excludes);
    keel_buffer_deinitialize(&options);
}

static void the_usual_dumps_come_with_a_load(void **state) {
    (void)state;
    assert_dumps(&(asked_t){.folder = "d"}, "xla_dump_to", false, false);
    assert_dumps(&(asked_t){.folder = NULL}, NULL, false, false);
}

static void dumps_that_are_lost_are_asked_of_no_program(void **state) {
    (void)state;
    keel_buffer_t options;
    dumps_t dumps;
    put_options(&(asked_t){"d", "step", ".*"}, &options);
    dumps_of_program(keel_buffer_bytes(&options), "jit_step", true, &dumps);
    assert_null(dumps.flag);
    assert_true(dumps.excludes && !dumps.by_compiling);
    keel_buffer_deinitialize(&options);
}

static void a_filter_says_which_programs_are_dumped(void **state) {
    (void)state;
    assert_dumps(&(asked_t){"d", "step", NULL}, "xla_dump_to", false, false);
    assert_dumps(&(asked_t){"d", "^jit_(eval|step)$", NULL}, "xla_dump_to", false, false);
    assert_dumps(&(asked_t){"d", "jit_init", NULL}, NULL, false, true);
    assert_dumps(&(asked_t){"d", "^step", NULL}, NULL, false, true);
}

static void what_only_a_compile_writes_is_compiled_as_far_as_the_filter_goes(void **state) {
    (void)state;
    assert_dumps(&(asked_t){"d", NULL, ".*"}, "xla_dump_to", true, false);
    assert_dumps(&(asked_t){"d", "step", ".*"}, "xla_dump_to", true, false);
    assert_dumps(&(asked_t){"d", "init", ".*"}, NULL, false, true);
}

static void a_filter_that_cannot_be_judged_is_left_to_the_compiler(void **state) {
    (void)state;
    assert_dumps(&(asked_t){"d", "(?i)STEP", NULL}, "xla_dump_to", true, false);
    assert_dumps(&(asked_t){"d", "jit\\wstep", NULL}, "xla_dump_to", true, false);
    assert_dumps(&(asked_t){"d", "(", NULL}, "xla_dump_to", true, false);
    assert_dumps(&(asked_t){"d", "jit_step\\.", NULL}, NULL, false, true);
}

static void what_xla_prints_is_printed_by_a_compile(void **state) {
    (void)state;
    assert_dumps(&(asked_t){"-", NULL, NULL}, "xla_dump_to", true, false);
    assert_dumps(&(asked_t){NULL, "step", NULL}, "xla_dump_hlo_module_re", true, false);
}

// ---- what is written ---------------------------------------------------------------------------

static int make_place(void **state) {
    static place_t place;
    place_make(&place);
    *state = place.root;
    return 0;
}

static int remove_place(void **state) {
    place_t place;
    snprintf(place.root, sizeof place.root, "%s", (const char *)*state);
    place_remove(&place);
    return 0;
}

static void write_loaded(const char *folder, const char *name, const char *format, uint64_t began) {
    dumps_write(&(dumps_loaded_t){.folder = keel_str(folder),
                                  .name = name,
                                  .format = format,
                                  .code = keel_str_bytes(KEEL_STR("asked")),
                                  .optimized_format = KEEL_STR("hlo_with_config"),
                                  .optimized = keel_str_bytes(KEEL_STR("\x0a\x02HI\x12\x01-")),
                                  .began = began});
}

static void assert_file(const char *folder, const char *name, const char *expected) {
    char *path;
    uint8_t *bytes;
    size_t size;
    assert_null(keel_path(&path, "%s/%s", folder, name));
    assert_null(keel_file_read(path, 1 << 20, &bytes, &size));
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(bytes, expected, size);
    keel_free(bytes);
    keel_free(path);
}

static keel_status_t count_one(void *context, const char *name) {
    (void)name;
    ++*(int *)context;
    return NULL;
}

static int count_files(const char *folder) {
    int count = 0;
    assert_null(keel_directory_walk(folder, count_one, &count));
    return count;
}

static void put_file(const char *folder, const char *name) {
    char *path;
    assert_null(keel_path(&path, "%s/%s", folder, name));
    assert_null(keel_file_create(path, keel_str_bytes(KEEL_STR("x"))));
    keel_free(path);
}

static void make_newer(const char *folder, const char *name) {
    char *path;
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) + 1}};
    assert_null(keel_path(&path, "%s/%s", folder, name));
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    keel_free(path);
}

static void the_program_as_asked_for_stands_beside_what_xla_wrote(void **state) {
    const char *folder = *state;
    uint64_t began = keel_clock_wall();
    put_file(folder, "module_0003.jit_step.after_optimizations.txt");
    put_file(folder, "17.module_0012.jit_step.after_optimizations.txt");
    make_newer(folder, "17.module_0012.jit_step.after_optimizations.txt");
    put_file(folder, "module_0013.jit_step2.after_optimizations.txt");
    put_file(folder, "module_0014.jit_step.debug_options");
    write_loaded(folder, "jit_step", "mlir", began);
    assert_int_equal(count_files(folder), 5);
    assert_file(folder, "17.module_0012.jit_step.before_optimizations.mlirbc", "asked");
}

static void files_of_an_earlier_run_are_not_taken_for_this_load(void **state) {
    const char *folder = *state;
    put_file(folder, "module_0003.jit_step.after_optimizations.txt");
    write_loaded(folder, "jit_step", "mlir", keel_clock_wall() + 1000000000);
    assert_int_equal(count_files(folder), 3);
}

static void what_xla_does_not_write_comes_from_the_entry(void **state) {
    char *folder;
    assert_null(keel_path(&folder, "%s/not/there", (const char *)*state));
    write_loaded(folder, "jit_../step", "hlo", 0);
    assert_int_equal(count_files(folder), 2);
    char *stem = NULL;
    for (unsigned i = 0; i < 8 && !stem; ++i) { // the process counts its programs
        char *path;
        assert_null(
            keel_path(&path, "%s/module_%04u.jit_.._step.after_optimizations.hlo.pb", folder, i));
        if (keel_is_file(path)) assert_null(keel_path(&stem, "module_%04u.jit_.._step", i));
        keel_free(path);
    }
    assert_non_null(stem);
    char *before, *after;
    assert_null(keel_path(&before, "%s.before_optimizations.hlo.pb", stem));
    assert_null(keel_path(&after, "%s.after_optimizations.hlo.pb", stem));
    assert_file(folder, before,
                "\x0a\x05"
                "asked");
    assert_file(folder, after, "\x0a\x02HI");
    keel_free(before);
    keel_free(after);
    keel_free(stem);
    keel_free(folder);
}

static void a_folder_that_cannot_be_written_is_no_failure(void **state) {
    char *folder;
    assert_null(keel_path(&folder, "%s/file/folder", (const char *)*state));
    put_file(*state, "file");
    write_loaded(folder, "jit_step", "mlir", 0);
    write_loaded("gs://bucket/dumps", "jit_step", "mlir", 0);
    assert_int_equal(count_files(*state), 1);
    assert_false(keel_is_folder("gs:"));
    keel_free(folder);
}

int main(void) {
    unsetenv("XLA_FLAGS");
    unsetenv("LIBTPU_INIT_ARGS");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_dumps_come_with_a_load),
        cmocka_unit_test(dumps_that_are_lost_are_asked_of_no_program),
        cmocka_unit_test(a_filter_says_which_programs_are_dumped),
        cmocka_unit_test(what_only_a_compile_writes_is_compiled_as_far_as_the_filter_goes),
        cmocka_unit_test(a_filter_that_cannot_be_judged_is_left_to_the_compiler),
        cmocka_unit_test(what_xla_prints_is_printed_by_a_compile),
        cmocka_unit_test_setup_teardown(the_program_as_asked_for_stands_beside_what_xla_wrote,
                                        make_place, remove_place),
        cmocka_unit_test_setup_teardown(files_of_an_earlier_run_are_not_taken_for_this_load,
                                        make_place, remove_place),
        cmocka_unit_test_setup_teardown(what_xla_does_not_write_comes_from_the_entry, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_written_is_no_failure, make_place,
                                        remove_place),
    };
    return cmocka_run_group_tests_name("engine_dumps", tests, NULL, NULL);
}
