// The tools of the CUDA toolkit that count, in folders made here.
#define _GNU_SOURCE // mkdtemp, clearenv
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "key/key.h"
#include "key/toolkit.h"

#define MUST(expression) assert_null(expression)

static char root[64];

static void put_tool(const char *folder, const char *file, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s/%s", root, folder, file);
    for (char *slash = path + 1; (slash = strchr(slash, '/')); ++slash) {
        *slash = 0;
        mkdir(path, 0755);
        *slash = '/';
    }
    MUST(keel_file_replace(path, keel_str_bytes(keel_str(text))));
}

static const char *place(const char *folder) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    return path;
}

static void put_toolkit(const char *folder, const char *version) {
    char text[64];
    snprintf(text, sizeof text, "ptxas %s", version);
    put_tool(folder, "bin/ptxas", text);
    snprintf(text, sizeof text, "libdevice %s", version);
    put_tool(folder, "nvvm/libdevice/libdevice.10.bc", text);
}

static keel_digest_t tools_of(const char *folder) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    MUST(keel_toolkit_of_folder(keel_str(folder), &out));
    keel_digest_t digest = keel_digest(keel_buffer_bytes(&out));
    keel_buffer_deinitialize(&out);
    return digest;
}

static size_t lines_of(const char *folder) {
    keel_buffer_t out;
    size_t count = 0;
    keel_buffer_initialize(&out, 0);
    MUST(keel_toolkit_of_folder(keel_str(folder), &out));
    for (size_t i = 0; i < out.size; ++i)
        count += out.data[i] == '\n';
    keel_buffer_deinitialize(&out);
    return count;
}

static int set_up(void **state) {
    (void)state;
    snprintf(root, sizeof root, "/tmp/keel-key-toolkit-XXXXXX");
    clearenv();
    return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "/bin/rm -rf %s", root);
    clearenv();
    return system(command);
}

static void tools_count_by_content_and_not_by_place(void **state) {
    (void)state;
    put_toolkit("a", "12.4");
    put_toolkit("b", "12.4");
    put_toolkit("c", "12.9");
    keel_digest_t a = tools_of(place("a")), b = tools_of(place("b")), c = tools_of(place("c"));
    assert_true(keel_digest_equal(&a, &b));
    assert_false(keel_digest_equal(&a, &c));
    // The same file with other content.
    put_tool("b", "bin/ptxas", "ptxas 12.5");
    b = tools_of(place("b"));
    assert_false(keel_digest_equal(&a, &b));
    put_tool("b", "bin/ptxas", "ptxas 12.4");
    put_tool("b", "nvvm/libdevice/libdevice.10.bc", "libdevice 12.5");
    b = tools_of(place("b"));
    assert_false(keel_digest_equal(&a, &b));
}

static void what_the_folder_has_hides_other_places(void **state) {
    (void)state;
    put_toolkit("a", "12.4");
    keel_digest_t a = tools_of(place("a"));
    put_toolkit("home", "12.9");
    put_tool("path", "ptxas", "ptxas of the path");
    setenv("CUDA_HOME", place("home"), 1);
    setenv("PATH", place("path"), 1);
    keel_digest_t with_others = tools_of(place("a"));
    assert_true(keel_digest_equal(&a, &with_others));
    assert_int_equal(lines_of(place("a")), 2);
}

static void without_a_folder_all_that_is_found_counts(void **state) {
    (void)state;
    size_t system = lines_of(""); // of /usr/local/cuda, if this machine has it
    put_toolkit("home", "12.9");
    put_tool("path", "ptxas", "ptxas of the path");
    setenv("CUDA_HOME", place("home"), 1);
    assert_int_equal(lines_of(""), system + 2);
    assert_int_equal(lines_of(place("nowhere")), system + 2);
    keel_digest_t before = tools_of("");
    char path[256];
    snprintf(path, sizeof path, "/nowhere::%s", place("path"));
    setenv("PATH", path, 1);
    assert_int_equal(lines_of(""), system + 3);
    keel_digest_t after = tools_of("");
    assert_false(keel_digest_equal(&before, &after));
    setenv("CUDA_PATH", place("home"), 1); // nothing new
    keel_digest_t again = tools_of("");
    assert_true(keel_digest_equal(&after, &again));
}

// ---- in the options ----------------------------------------------------------------------------

static keel_digest_t options_of(const char *folder, unsigned backends) {
    enum { DATA_DIR = 61 };
    keel_buffer_t debug, build, options, canonical, ignored;
    keel_buffer_t *const all[] = {&debug, &build, &options, &canonical, &ignored};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        keel_buffer_initialize(all[i], 0);
    if (folder) keel_proto_put_bytes(&debug, DATA_DIR, keel_str_bytes(keel_str(folder)));
    keel_proto_put_bytes(&build, 3, keel_buffer_bytes(&debug));
    keel_proto_put_bytes(&options, 3, keel_buffer_bytes(&build));
    bool understood = false;
    MUST(keel_key_options(keel_buffer_bytes(&options), backends, &canonical, &ignored, &ignored,
                          &understood));
    assert_true(understood);
    keel_digest_t digest = keel_digest(keel_buffer_bytes(&canonical));
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        keel_buffer_deinitialize(all[i]);
    return digest;
}

static void options_choose_the_tools_of_a_gpu(void **state) {
    (void)state;
    put_toolkit("a", "12.4");
    put_toolkit("b", "12.4");
    put_toolkit("c", "12.9");
    keel_digest_t a = options_of(place("a"), KEEL_BACKEND_GPU);
    keel_digest_t b = options_of(place("b"), KEEL_BACKEND_GPU);
    keel_digest_t c = options_of(place("c"), KEEL_BACKEND_GPU);
    assert_true(keel_digest_equal(&a, &b));
    assert_false(keel_digest_equal(&a, &c));
    // Clients without debug options leave it to XLA's flags.
    char flags[160];
    snprintf(flags, sizeof flags, "--xla_gpu_cuda_data_dir=%s", place("c"));
    keel_digest_t before = options_of(NULL, KEEL_BACKEND_GPU);
    setenv("XLA_FLAGS", flags, 1);
    keel_digest_t after = options_of(NULL, KEEL_BACKEND_GPU);
    assert_false(keel_digest_equal(&before, &after));
    // Other backends do not use them.
    a = options_of(place("a"), KEEL_BACKEND_CPU | KEEL_BACKEND_TPU);
    c = options_of(place("c"), KEEL_BACKEND_CPU | KEEL_BACKEND_TPU);
    assert_true(keel_digest_equal(&a, &c));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(tools_count_by_content_and_not_by_place),
        TEST(what_the_folder_has_hides_other_places),
        TEST(without_a_folder_all_that_is_found_counts),
        TEST(options_choose_the_tools_of_a_gpu),
    };
    return cmocka_run_group_tests_name("key_toolkit", tests, NULL, NULL);
}
