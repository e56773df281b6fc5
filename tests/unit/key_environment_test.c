// The table of environment variables, and what it does to keys.
#define _GNU_SOURCE // clearenv
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "key/variables.h"

#define MUST(expression) assert_null(expression)

static const keel_variable_t *row_of(const char *name) {
    return keel_variable_find(keel_str(name));
}

static char *environment(unsigned backends) {
    keel_buffer_t out;
    char *text;
    keel_buffer_initialize(&out, 0);
    MUST(keel_key_environment(backends, &out));
    MUST(keel_strdup(keel_bytes_str(keel_buffer_bytes(&out)), &text));
    keel_buffer_deinitialize(&out);
    return text;
}

static bool has_line(unsigned backends, const char *line) {
    char *text = environment(backends);
    bool found = strstr(text, line) != NULL;
    keel_free(text);
    return found;
}

// ---- the table ---------------------------------------------------------------------------------

static void each_variable_has_one_row(void **state) {
    (void)state;
    for (size_t i = 0; i < keel_variable_count; ++i) {
        const keel_variable_t *row = &keel_variables[i];
        if ((row->use == KEEL_VARIABLE_UNKNOWN) != !*row->why) fail_msg("%s: why?", row->name);
        for (size_t j = 0; j < i; ++j)
            if (strcmp(row->name, keel_variables[j].name) == 0) fail_msg("%s twice", row->name);
    }
}

static void the_longest_row_that_matches_a_name_counts(void **state) {
    (void)state;
    assert_string_equal(row_of("XLA_FLAGS")->name, "XLA_FLAGS");
    assert_string_equal(row_of("XLA_FLAGS2")->name, "XLA_*");
    assert_string_equal(row_of("XLA_PJRT_GPU_NEW")->name, "XLA_PJRT_GPU_*");
    assert_string_equal(row_of("NPROC")->name, "NPROC");
    assert_null(row_of("NPROC_OF_MINE"));
    assert_null(row_of("EDITOR"));
    assert_null(row_of(""));
}

static keel_str_t next_line(keel_str_t *rest) {
    keel_str_t line = {0};
    keel_str_line(rest, &line);
    return line;
}

static void read_file(const char *name, keel_buffer_t *out) {
    char *path;
    uint8_t *bytes;
    size_t size;
    MUST(keel_path(&path, "%s/%s", KEEL_TEST_SOURCE, name));
    MUST(keel_file_read(path, 1 << 20, &bytes, &size));
    keel_buffer_initialize(out, 0);
    keel_buffer_append(out, bytes, size);
    keel_free(bytes);
    keel_free(path);
}

static void every_variable_that_libraries_read_has_a_row(void **state) {
    (void)state;
    keel_buffer_t file;
    read_file("tests/golden/variables.tsv", &file);
    keel_str_t rest = keel_bytes_str(keel_buffer_bytes(&file));
    size_t count = 0;
    while (rest.size) {
        keel_str_t line = next_line(&rest);
        const char *tab = memchr(line.data, '\t', line.size);
        if (!tab || *line.data == '#') continue;
        keel_str_t name = {line.data, (size_t)(tab - line.data)};
        if (!keel_variable_find(name)) fail_msg("%.*s", KEEL_STR_ARGS(name));
        ++count;
    }
    assert_true(count > 500);
    keel_buffer_deinitialize(&file);
}

// ---- docs/keys.md ------------------------------------------------------------------------------

static void put_backends(keel_buffer_t *out, unsigned backends) {
    static const char *const names[] = {"CPU", "GPU", "TPU"};
    if (backends == (KEEL_BACKEND_CPU | KEEL_BACKEND_GPU | KEEL_BACKEND_TPU)) {
        keel_buffer_text(out, "all");
        return;
    }
    for (unsigned i = 0, shown = 0; i < 3; ++i)
        if (backends & 1u << i) keel_buffer_format(out, "%s%s", shown++ ? ", " : "", names[i]);
}

static bool continues(size_t i, const char *why) {
    const keel_variable_t *row = &keel_variables[i], *before = &keel_variables[i - 1];
    return row->use == before->use && row->backends == before->backends &&
           (strcmp(row->why, why) == 0 || strcmp(row->why, "the same") == 0);
}

// Rows that say the same are one line.
static void put_table(keel_buffer_t *out) {
    static const char *const uses[] = {"its value", "its value, because nobody knows what it does",
                                       "by another component: ", "no: "};
    const char *why = "";
    keel_buffer_text(out, "\n| variable | backends | in the key |\n|---|---|---|\n");
    for (size_t i = 0, end; i < keel_variable_count; i = end) {
        const keel_variable_t *row = &keel_variables[i];
        if (strcmp(row->why, "the same") != 0) why = row->why;
        keel_buffer_format(out, "| `%s`", row->name);
        for (end = i + 1; end < keel_variable_count && continues(end, why); ++end)
            keel_buffer_format(out, ", `%s`", keel_variables[end].name);
        keel_buffer_text(out, " | ");
        put_backends(out, row->backends);
        keel_buffer_format(out, " | %s", uses[row->use]);
        bool is_aside = row->use == KEEL_VARIABLE_KEYED && *why;
        keel_buffer_format(out, is_aside ? " (%s)" : "%s", why);
        keel_buffer_text(out, " |\n");
    }
    keel_buffer_byte(out, '\n');
}

// KEEL_GOLDEN=write rewrites the table between its two marks.
static void the_page_about_keys_shows_the_table(void **state) {
    (void)state;
    static const char begin[] = "<!-- variables -->\n", end[] = "<!-- end of variables -->";
    const char *golden = getenv("KEEL_GOLDEN");
    keel_buffer_t page, table;
    read_file("docs/keys.md", &page);
    keel_buffer_initialize(&table, 0);
    put_table(&table);
    const char *text = keel_buffer_cstr(&page), *first = strstr(text, begin), *last;
    assert_non_null(first);
    first += sizeof begin - 1;
    last = strstr(first, end);
    assert_non_null(last);
    if (golden && strcmp(golden, "write") == 0) {
        keel_buffer_t whole;
        char *path;
        keel_buffer_initialize(&whole, 0);
        keel_buffer_append(&whole, text, (size_t)(first - text));
        keel_buffer_append(&whole, table.data, table.size);
        keel_buffer_text(&whole, last);
        MUST(keel_path(&path, "%s/docs/keys.md", KEEL_TEST_SOURCE));
        MUST(keel_file_replace_public(path, keel_buffer_bytes(&whole)));
        keel_free(path);
        keel_buffer_deinitialize(&whole);
    } else if ((size_t)(last - first) != table.size || memcmp(first, table.data, table.size) != 0) {
        fail_msg("docs/keys.md shows other variables; write it with KEEL_GOLDEN=write");
    }
    keel_buffer_deinitialize(&table);
    keel_buffer_deinitialize(&page);
}

// ---- the component -----------------------------------------------------------------------------

static void variables_are_sorted_and_only_those_that_count(void **state) {
    (void)state;
    clearenv();
    setenv("XLA_SECOND", "2", 1);
    setenv("TF_FIRST", "1", 1);
    setenv("EDITOR", "vi", 1);
    setenv("TF_CPP_MIN_LOG_LEVEL", "3", 1);
    setenv("TPU_MEGACORE", "dense", 1);
    char *text = environment(KEEL_BACKEND_CPU);
    assert_string_equal(text, "TF_FIRST=1\nXLA_SECOND=2\n");
    keel_free(text);
    text = environment(KEEL_BACKEND_TPU);
    assert_string_equal(text, "TF_FIRST=1\nTPU_MEGACORE=dense\nXLA_SECOND=2\n");
    keel_free(text);
    text = environment(keel_key_backends("a platform that nobody knows"));
    assert_string_equal(text, "TF_FIRST=1\nTPU_MEGACORE=dense\nXLA_SECOND=2\n");
    keel_free(text);
    clearenv();
}

static void an_unknown_value_that_may_be_a_secret_is_kept_as_its_digest(void **state) {
    (void)state;
    clearenv();
    setenv("XLA_TOKEN", "ghp_0123456789abcdefghijklmnopqrstuvwxyz", 1);
    setenv("XLA_TWO", "two words", 1);
    setenv("XLA_MODE", "a,b.c-d_9", 1);
    char *text = environment(KEEL_BACKEND_CPU);
    assert_null(strstr(text, "ghp_"));
    assert_null(strstr(text, "words"));
    assert_non_null(strstr(text, "XLA_MODE=a,b.c-d_9\n"));
    keel_free(text);
    setenv("XLA_TOKEN", "ghp_0123456789abcdefghijklmnopqrstuvwxyy", 1);
    char *other = environment(KEEL_BACKEND_CPU);
    setenv("XLA_TOKEN", "ghp_0123456789abcdefghijklmnopqrstuvwxyz", 1);
    text = environment(KEEL_BACKEND_CPU);
    assert_string_not_equal(text, other);
    keel_free(text);
    keel_free(other);
    setenv("TF_XLA_FLAGS", "--a=1\nb", 1);
    assert_true(has_line(KEEL_BACKEND_CPU, "TF_XLA_FLAGS=--a=1\\nb\n"));
    clearenv();
}

static void an_empty_variable_differs_from_none(void **state) {
    (void)state;
    clearenv();
    assert_false(has_line(KEEL_BACKEND_CPU, "XLA_X"));
    setenv("XLA_X", "", 1);
    assert_true(has_line(KEEL_BACKEND_CPU, "XLA_X=\n"));
    clearenv();
}

static void each_platform_has_its_backends(void **state) {
    (void)state;
    assert_int_equal(keel_key_backends("cpu"), KEEL_BACKEND_CPU);
    assert_int_equal(keel_key_backends("tpu"), KEEL_BACKEND_TPU);
    assert_int_equal(keel_key_backends("cuda"), KEEL_BACKEND_GPU);
    assert_int_equal(keel_key_backends("rocm"), KEEL_BACKEND_GPU);
    assert_int_equal(keel_key_backends("CPU"), 7);
}

// ---- threads -----------------------------------------------------------------------------------

static const char *threads_of(uint64_t devices, const char *pjrt, const char *plain) {
    static char line[64];
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    if (pjrt) setenv("PJRT_NPROC", pjrt, 1);
    if (plain) setenv("NPROC", plain, 1);
    MUST(keel_key_cpu(devices, &out));
    unsetenv("PJRT_NPROC");
    unsetenv("NPROC");
    const char *found = strstr(keel_buffer_cstr(&out), "threads=");
    snprintf(line, sizeof line, "%.*s", found ? (int)strcspn(found, "\n") : 0, found ? found : "");
    keel_buffer_deinitialize(&out);
    return line;
}

static void threads_count_by_what_they_come_to(void **state) {
    (void)state;
    unsetenv("PJRT_NPROC");
    unsetenv("NPROC");
    char count[16];
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    snprintf(count, sizeof count, "%d", CPU_COUNT(&set));
    static const struct {
        uint64_t devices;
        const char *pjrt, *plain, *threads;
    } rows[] = {
        {1, NULL, NULL, ""},
        {1, NULL, "1000", "threads=1000"},
        {1, "1000", NULL, "threads=1000"},
        {1, "1000", "7", "threads=1000"}, // the first counts
        {1, "x", "1000", "threads=1000"}, // no number
        {1, " +1000 ", NULL, "threads=1000"},
        {1, "1000x", NULL, ""},
        {1, "", "", ""},
        {1, "99999999999", NULL, ""},
        {2000, "1000", NULL, ""}, // one for each device
        {2000, NULL, NULL, ""},
        {2000, "3000", NULL, "threads=3000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        assert_string_equal(threads_of(rows[i].devices, rows[i].pjrt, rows[i].plain),
                            rows[i].threads);
    assert_string_equal(threads_of(1, NULL, count), ""); // as many as there are CPUs
    if (CPU_COUNT(&set) > 1) {
        assert_string_equal(threads_of(1, "0", NULL), "threads=1");
        assert_string_equal(threads_of(1, "-3", NULL), "threads=1");
        assert_string_equal(threads_of(1, "1", NULL), "threads=1");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_variable_has_one_row),
        cmocka_unit_test(the_longest_row_that_matches_a_name_counts),
        cmocka_unit_test(every_variable_that_libraries_read_has_a_row),
        cmocka_unit_test(the_page_about_keys_shows_the_table),
        cmocka_unit_test(variables_are_sorted_and_only_those_that_count),
        cmocka_unit_test(an_unknown_value_that_may_be_a_secret_is_kept_as_its_digest),
        cmocka_unit_test(an_empty_variable_differs_from_none),
        cmocka_unit_test(each_platform_has_its_backends),
        cmocka_unit_test(threads_count_by_what_they_come_to),
    };
    return cmocka_run_group_tests_name("key_environment", tests, NULL, NULL);
}
