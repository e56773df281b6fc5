// Keys of the samples, as they were when this version of the key was made: tests/golden/
// keys-v<version>.txt, never removed. If a key changes, every stored executable becomes useless, or
// worse. So either the canonical form stays the same, or KEEL_KEY_VERSION is raised.
//
// KEEL_GOLDEN=write rewrites the file of the current version.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "key/key.h"
#include "read/read.h"

#define MUST(expression) assert_null(expression)

static const char *const folders[] = {"hlo", "mlir", "opts"};

typedef struct list_t {
    keel_buffer_t text;
    const char *folder;
} list_t;

static keel_digest_t program_of(keel_bytes_t bytes) {
    keel_program_t program;
    keel_digest_t digest;
    MUST(keel_read(bytes, &program));
    MUST(keel_key_program(&program, &digest));
    keel_program_deinitialize(&program);
    return digest;
}

static keel_digest_t options_of(keel_bytes_t bytes) {
    keel_buffer_t canonical, assignment, readable;
    keel_buffer_initialize(&canonical, 0);
    keel_buffer_initialize(&assignment, 0);
    keel_buffer_initialize(&readable, 0);
    bool understood = false;
    MUST(
        keel_key_options(bytes, KEEL_BACKEND_CPU, &canonical, &assignment, &readable, &understood));
    assert_true(understood);
    keel_buffer_append(&canonical, assignment.data, assignment.size);
    keel_digest_t digest = keel_digest(keel_buffer_bytes(&canonical));
    keel_buffer_deinitialize(&canonical);
    keel_buffer_deinitialize(&assignment);
    keel_buffer_deinitialize(&readable);
    return digest;
}

static void add_line(keel_buffer_t *out, const char *folder, const char *name,
                     keel_digest_t digest) {
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(&digest, hex);
    keel_buffer_format(out, "%s %s/%s\n", hex, folder, name);
}

static keel_status_t add_sample(void *context, const char *name) {
    list_t *list = context;
    char *path;
    uint8_t *bytes;
    size_t size;
    KEEL_TRY(keel_path(&path, "%s/%s/%s", KEEL_TEST_SAMPLES, list->folder, name));
    MUST(keel_file_read(path, 16 << 20, &bytes, &size));
    keel_free(path);
    bool options = strcmp(list->folder, "opts") == 0;
    keel_bytes_t sample = keel_bytes(bytes, size);
    add_line(&list->text, list->folder, name, options ? options_of(sample) : program_of(sample));
    keel_free(bytes);
    return NULL;
}

// A whole key of made-up components, and flags.
static void add_made_up(keel_buffer_t *out) {
    keel_key_t key;
    keel_key_initialize(&key);
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (i != KEEL_COMPONENT_KERNELS && i != KEEL_COMPONENT_TOOLKIT)
            MUST(keel_key_set(&key, (keel_component_t)i, keel_bytes("abc", (size_t)i % 4),
                              KEEL_STR("not in the key")));
    MUST(keel_key_finish(&key));
    add_line(out, "made", "key", key.digest);
    MUST(keel_key_set(&key, KEEL_COMPONENT_KERNELS, keel_bytes("abc", 3), KEEL_STR("")));
    MUST(keel_key_finish(&key));
    add_line(out, "made", "key of kernels", key.digest);
    keel_key_deinitialize(&key);
    keel_buffer_t flags;
    keel_buffer_initialize(&flags, 0);
    MUST(keel_key_flags("--xla_b='x\ny' --xla_a --xla_dump_to=/x --xla_c=1 --xla_c=2", &flags));
    add_line(out, "made", "flags", keel_digest(keel_buffer_bytes(&flags)));
    keel_buffer_deinitialize(&flags);
}

static void keys_of_the_samples_stand_still(void **state) {
    (void)state;
    list_t list;
    keel_buffer_initialize(&list.text, 0);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        char *path;
        list.folder = folders[i];
        MUST(keel_path(&path, "%s/%s", KEEL_TEST_SAMPLES, folders[i]));
        MUST(keel_directory_walk(path, add_sample, &list));
        keel_free(path);
    }
    add_made_up(&list.text);

    char *path;
    uint8_t *golden = NULL;
    size_t size = 0;
    MUST(keel_path(&path, "%s/tests/golden/keys-v%d.txt", KEEL_TEST_SOURCE, KEEL_KEY_VERSION));
    const char *mode = getenv("KEEL_GOLDEN");
    if (mode && strcmp(mode, "write") == 0)
        MUST(keel_file_replace(path, keel_buffer_bytes(&list.text)));
    keel_status_ignore(keel_file_read(path, 1 << 20, &golden, &size));
    keel_free(path);
    // Samples may be added later; those that are in the file have to keep their keys.
    keel_str_t rest = {(const char *)golden, size};
    assert_true(size > 0);
    while (rest.size) {
        size_t end = (size_t)((const char *)memchr(rest.data, '\n', rest.size) - rest.data) + 1;
        char line[256];
        assert_true(end < sizeof line);
        memcpy(line, rest.data, end);
        line[end] = 0;
        if (!strstr(keel_buffer_cstr(&list.text), line))
            fail_msg("the key of %s moved: raise KEEL_KEY_VERSION, then write the new file with "
                     "KEEL_GOLDEN=write and keep the old one",
                     line + KEEL_DIGEST_HEX);
        rest = (keel_str_t){rest.data + end, rest.size - end};
    }
    keel_free(golden);
    keel_buffer_deinitialize(&list.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_of_the_samples_stand_still)};
    return cmocka_run_group_tests_name("key_golden", tests, NULL, NULL);
}
