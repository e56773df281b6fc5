// Reading files, in part or whole; what a path is; removing and renaming.
#define _GNU_SOURCE
#include "place.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define BYTES(text) keel_str_bytes(keel_str(text))

typedef struct scene_t {
    place_t place;
    char file[300], folder[300], pipe[300], link[300], absent[300];
} scene_t;

static int set_up(void **state) {
    scene_t *s = calloc(1, sizeof *s);
    place_make(&s->place);
    snprintf(s->file, sizeof s->file, "%s/file", s->place.root);
    snprintf(s->folder, sizeof s->folder, "%s/folder", s->place.root);
    snprintf(s->pipe, sizeof s->pipe, "%s/pipe", s->place.root);
    snprintf(s->link, sizeof s->link, "%s/link", s->place.root);
    snprintf(s->absent, sizeof s->absent, "%s/absent", s->place.root);
    assert_ok(keel_file_create(s->file, BYTES("0123456789")));
    assert_ok(keel_directory_make(s->folder));
    assert_int_equal(mkfifo(s->pipe, 0600), 0);
    assert_int_equal(symlink(s->file, s->link), 0);
    *state = s;
    // A function that reads must not be misled by an error from before.
    errno = EINTR;
    return 0;
}

static int tear_down(void **state) {
    scene_t *s = *state;
    place_remove(&s->place);
    free(s);
    return 0;
}

static void a_path_is_a_file_a_folder_a_link_or_nothing(void **state) {
    const scene_t *s = *state;
    assert_true(keel_is_file(s->file) && keel_is_file(s->link));
    assert_false(keel_is_file(s->folder) || keel_is_file(s->pipe) || keel_is_file(s->absent));
    assert_true(keel_is_folder(s->folder));
    assert_false(keel_is_folder(s->file) || keel_is_folder(s->absent));
    assert_true(keel_is_link(s->link));
    assert_false(keel_is_link(s->file) || keel_is_link(s->folder) || keel_is_link(s->absent));
}

static void a_part_begins_where_it_is_asked_for(void **state) {
    const scene_t *s = *state;
    static const struct {
        uint64_t offset;
        size_t limit;
        const char *part;
    } rows[] = {{0, 100, "0123456789"}, {0, 10, "0123456789"}, {0, 4, "0123"}, {3, 4, "3456"},
                {3, 7, "3456789"},      {3, 8, "3456789"},     {9, 5, "9"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint8_t *data;
        size_t size;
        assert_ok(keel_file_read_from(s->file, rows[i].offset, rows[i].limit, &data, &size));
        assert_int_equal(size, strlen(rows[i].part));
        assert_memory_equal(data, rows[i].part, size);
        keel_free(data);
    }
    for (uint64_t offset = 10; offset <= 11; ++offset) {
        uint8_t *data = (uint8_t *)1;
        size_t size = 1;
        assert_ok(keel_file_read_from(s->file, offset, 5, &data, &size));
        assert_null(data);
        assert_int_equal(size, 0);
    }
    uint8_t *data = (uint8_t *)1;
    size_t size = 1;
    assert_ok(keel_file_read_from(s->pipe, 0, 5, &data, &size));
    assert_null(data);
    assert_code(keel_file_read_from(s->absent, 0, 5, &data, &size), KEEL_NOT_FOUND);
}

static void only_a_regular_file_is_read_with_its_facts(void **state) {
    const scene_t *s = *state;
    uint8_t *data;
    size_t size;
    keel_file_facts_t facts, known;
    assert_ok(keel_file_read_with_facts(s->link, 10, &data, &size, &facts));
    assert_int_equal(size, 10);
    assert_memory_equal(data, "0123456789", 10);
    keel_free(data);
    assert_ok(keel_file_facts(s->file, &known));
    assert_int_equal(facts.inode, known.inode);
    assert_int_equal(facts.size, 10);
    assert_int_equal(facts.modified, known.modified);
    assert_true(facts.is_file && !facts.is_directory);
    assert_code(keel_file_read_with_facts(s->file, 9, &data, &size, &facts), KEEL_INVALID);
    assert_code(keel_file_read_with_facts(s->pipe, 10, &data, &size, &facts), KEEL_INVALID);
    assert_code(keel_file_read_with_facts("/dev/null", 10, &data, &size, &facts), KEEL_INVALID);
}

static const char *wanted;
static bool is_wanted(const char *path) {
    return strcmp(path, wanted) == 0;
}

static void a_file_is_read_if_its_real_path_is_wanted(void **state) {
    const scene_t *s = *state;
    char real[PATH_MAX];
    assert_non_null(realpath(s->file, real));
    wanted = real;
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read_if(s->link, is_wanted, 10, &data, &size));
    assert_int_equal(size, 10);
    assert_memory_equal(data, "0123456789", 10);
    keel_free(data);
    assert_code(keel_file_read_if(s->link, is_wanted, 9, &data, &size), KEEL_INVALID);
    wanted = s->link;
    assert_code(keel_file_read_if(s->link, is_wanted, 10, &data, &size), KEEL_REFUSED);
    wanted = s->pipe;
    assert_code(keel_file_read_if(s->pipe, is_wanted, 10, &data, &size), KEEL_INVALID);
}

static void a_head_and_a_mapping_are_of_this_file(void **state) {
    const scene_t *s = *state;
    uint8_t head[12] = "............";
    size_t size = 0;
    keel_file_facts_t facts;
    assert_ok(keel_file_read_head(s->file, head, 4, &size, &facts));
    assert_int_equal(size, 4);
    assert_memory_equal(head, "0123........", 12);
    assert_ok(keel_file_read_head(s->file, head, 12, &size, &facts));
    assert_int_equal(size, 10);
    assert_int_equal(facts.size, 10);
    keel_bytes_t mapping;
    assert_ok(keel_file_map(s->file, &mapping));
    assert_int_equal(mapping.size, 10);
    keel_file_unmap(mapping);
    assert_code(keel_file_map("/dev/null", &mapping), KEEL_INVALID);
}

static void what_is_removed_or_renamed_is_gone(void **state) {
    const scene_t *s = *state;
    assert_ok(keel_file_rename(s->file, s->absent));
    assert_false(keel_is_file(s->file));
    assert_true(keel_is_file(s->absent));
    assert_code(keel_file_rename(s->file, s->absent), KEEL_NOT_FOUND);
    assert_ok(keel_file_remove(s->absent));
    assert_false(keel_is_file(s->absent));
    assert_ok(keel_file_remove(s->absent));
    assert_code(keel_file_remove(s->folder), KEEL_IO);
    assert_ok(keel_directory_remove(s->folder));
    assert_false(keel_is_folder(s->folder));
    assert_ok(keel_directory_remove(s->folder));
    assert_code(keel_directory_remove(s->place.root), KEEL_IO); // not empty
}

// Without a standard input, the first file that a process opens has number 0.
static void a_process_without_standard_input_reads_and_writes(void **state) {
    const scene_t *s = *state;
    pid_t child = fork();
    if (child == 0) {
        close(STDIN_FILENO);
        uint8_t *data, head[4];
        size_t size;
        keel_file_facts_t facts;
        keel_bytes_t mapping;
        char real[PATH_MAX];
        wanted = realpath(s->file, real);
        const keel_status_t statuses[] = {
            keel_file_read(s->file, 100, &data, &size),
            keel_file_read_with_facts(s->file, 100, &data, &size, &facts),
            keel_file_read_if(s->file, is_wanted, 100, &data, &size),
            keel_file_read_head(s->file, head, sizeof head, &size, &facts),
            keel_file_read_from(s->file, 1, 5, &data, &size),
            keel_file_map(s->file, &mapping),
            keel_file_create(s->absent, BYTES("new")),
            keel_file_append(s->file, BYTES("a line\n")),
            keel_file_replace(s->file, BYTES("new")),
        };
        int failed = 0;
        for (size_t i = 0; i < sizeof statuses / sizeof *statuses; ++i)
            if (statuses[i]) failed = 1 + (int)i;
        // And leaves none of them open.
        if (!failed && dup(STDOUT_FILENO) != STDIN_FILENO) failed = 99;
        _exit(failed);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
}

static void the_signals_of_a_caller_stay_as_they_are(void **state) {
    const scene_t *s = *state;
    sigset_t before, after;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    assert_ok(keel_file_append(s->file, BYTES("a line\n")));
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (int number = 1; number < 32; ++number)
        assert_int_equal(sigismember(&before, number), sigismember(&after, number));
}

static void a_path_is_as_long_as_it_must_be(void **state) {
    (void)state;
    char *path = NULL;
    assert_ok(keel_path(&path, "%s", ""));
    assert_string_equal(path, "");
    keel_free(path);
    assert_ok(keel_path(&path, "%s/%05000d", "a", 7));
    assert_int_equal(strlen(path), 5002);
    keel_free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_path_is_a_file_a_folder_a_link_or_nothing),
        TEST(a_part_begins_where_it_is_asked_for),
        TEST(only_a_regular_file_is_read_with_its_facts),
        TEST(a_file_is_read_if_its_real_path_is_wanted),
        TEST(a_head_and_a_mapping_are_of_this_file),
        TEST(what_is_removed_or_renamed_is_gone),
        TEST(a_process_without_standard_input_reads_and_writes),
        TEST(the_signals_of_a_caller_stay_as_they_are),
        cmocka_unit_test(a_path_is_as_long_as_it_must_be),
    };
    return cmocka_run_group_tests_name("base reading", tests, NULL, NULL);
}
