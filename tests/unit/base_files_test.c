// Files: whole replacement, appending, walks, and the facts about them.
#define _GNU_SOURCE
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

static int set_up(void **state) {
    place_t *place = calloc(1, sizeof *place);
    place_make(place);
    *state = place;
    return 0;
}

static int tear_down(void **state) {
    place_remove(*state);
    free(*state);
    return 0;
}

#define BYTES(text) keel_str_bytes(keel_str(text))

typedef struct path_t {
    char text[400];
} path_t;

static path_t path_of(const place_t *place, const char *name) {
    path_t path;
    snprintf(path.text, sizeof path.text, "%s/%s", place->root, name);
    return path;
}

static void assert_content(const char *path, const char *expected) {
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(path, 1 << 20, &data, &size));
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(data, expected, size);
    keel_free(data);
}

// ---- reading -----------------------------------------------------------------------------------

static void what_is_not_there_is_not_found_and_named(void **state) {
    path_t path = path_of(*state, "absent");
    keel_file_facts_t facts;
    uint8_t *data;
    size_t size;
    keel_bytes_t mapping;
    keel_status_t status = keel_file_facts(path.text, &facts);
    assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    assert_non_null(strstr(keel_status_message(status), path.text));
    keel_status_ignore(status);
    assert_code(keel_file_read(path.text, 10, &data, &size), KEEL_NOT_FOUND);
    assert_code(keel_file_map(path.text, &mapping), KEEL_NOT_FOUND);
    assert_code(keel_file_touch(path.text), KEEL_NOT_FOUND);
    assert_code(keel_file_rename(path.text, path.text), KEEL_NOT_FOUND);
    assert_ok(keel_file_remove(path.text));
    assert_ok(keel_directory_remove(path.text));
}

static void a_file_is_read_whole_or_refused_where_it_is_too_large(void **state) {
    path_t path = path_of(*state, "file");
    write_bytes(path.text, "0123456789", 10);
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(path.text, 10, &data, &size));
    assert_int_equal(size, 10);
    assert_memory_equal(data, "0123456789", 10);
    keel_free(data);
    assert_code(keel_file_read(path.text, 9, &data, &size), KEEL_INVALID);
    // A hole of a terabyte is refused before anything is allocated for it.
    assert_int_equal(truncate(path.text, 1ll << 40), 0);
    keel_memory_watch(1);
    assert_code(keel_file_read(path.text, 1 << 20, &data, &size), KEEL_INVALID);
    assert_int_equal(keel_memory_peak(), 0);
    keel_memory_watch(0);
}

static void files_that_tell_no_size_are_read_whole(void **state) {
    (void)state;
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read("/proc/self/stat", 1 << 20, &data, &size));
    assert_true(size > 10);
    keel_free(data);
    assert_ok(keel_file_read("/proc/self/smaps", 1 << 24, &data, &size));
    assert_true(size > 4096);
    keel_free(data);
    assert_code(keel_file_read("/dev/zero", 100000, &data, &size), KEEL_INVALID);
}

static void a_folder_is_no_file(void **state) {
    place_t *place = *state;
    uint8_t *data;
    size_t size;
    keel_bytes_t mapping;
    keel_file_facts_t facts;
    assert_code(keel_file_read(place->root, 100, &data, &size), KEEL_INVALID);
    assert_code(keel_file_map(place->root, &mapping), KEEL_INVALID);
    assert_ok(keel_file_facts(place->root, &facts));
    assert_true(facts.is_directory && !facts.is_file);
}

static void a_head_is_as_long_as_the_file_allows(void **state) {
    path_t path = path_of(*state, "file");
    write_bytes(path.text, "0123456789", 10);
    uint8_t data[20];
    size_t size;
    keel_file_facts_t facts;
    assert_ok(keel_file_read_head(path.text, data, 4, &size, &facts));
    assert_int_equal(size, 4);
    assert_int_equal(facts.size, 10);
    assert_memory_equal(data, "0123", 4);
    assert_ok(keel_file_read_head(path.text, data, 20, &size, &facts));
    assert_int_equal(size, 10);
}

static void a_mapping_shows_the_file_and_an_empty_file_maps_to_nothing(void **state) {
    path_t path = path_of(*state, "file");
    keel_bytes_t mapping;
    write_bytes(path.text, "abc", 3);
    assert_ok(keel_file_map(path.text, &mapping));
    assert_int_equal(mapping.size, 3);
    assert_memory_equal(mapping.data, "abc", 3);
    keel_file_unmap(mapping);
    write_bytes(path.text, "", 0);
    assert_ok(keel_file_map(path.text, &mapping));
    assert_int_equal(mapping.size, 0);
    keel_file_unmap(mapping);
}

static void a_files_content_is_the_digest_of_its_bytes(void **state) {
    path_t path = path_of(*state, "file");
    enum { PIECE = 1 << 18 };
    static const size_t sizes[] = {0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5};
    uint8_t *bytes = calloc(1, 3 * PIECE + 5);
    keel_digest_t digest;
    for (size_t i = 0; i < 3 * PIECE + 5; ++i)
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        write_bytes(path.text, bytes, sizes[i]);
        keel_digest_t expected = keel_content_digest(keel_bytes(bytes, sizes[i]));
        assert_ok(keel_file_content_digest(path.text, &digest));
        assert_true(keel_digest_equal(&digest, &expected));
    }
    free(bytes);
    path = path_of(*state, "absent");
    assert_code(keel_file_content_digest(path.text, &digest), KEEL_NOT_FOUND);
}

static void facts_follow_a_touch(void **state) {
    path_t path = path_of(*state, "file");
    write_bytes(path.text, "abc", 3);
    set_age(path.text, 5000);
    keel_file_facts_t before, after;
    assert_ok(keel_file_facts(path.text, &before));
    assert_ok(keel_file_touch(path.text));
    assert_ok(keel_file_facts(path.text, &after));
    assert_true(after.modified > before.modified + 4000 * 1000000000ull);
    assert_true(after.modified < keel_clock_wall() + 1000000000u);
    assert_int_equal(after.inode, before.inode);
    assert_int_equal(after.size, 3);
    assert_true(after.is_file && !after.is_directory);
}

// ---- writing -----------------------------------------------------------------------------------

static void a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it(void **state) {
    place_t *place = *state;
    path_t path = path_of(place, "file");
    assert_ok(keel_file_replace(path.text, BYTES("first, and longer")));
    assert_content(path.text, "first, and longer");
    assert_ok(keel_file_replace(path.text, BYTES("second")));
    assert_content(path.text, "second");
    assert_ok(keel_file_replace(path.text, keel_bytes(NULL, 0)));
    assert_content(path.text, "");
    assert_int_equal(count_below(place->root, ""), 1);
    path_t lost = path_of(place, "no/such/folder");
    assert_code(keel_file_replace(lost.text, BYTES("x")), KEEL_NOT_FOUND);
    assert_ok(keel_directory_make(lost.text));
    assert_code(keel_file_replace(lost.text, BYTES("x")), KEEL_IO);
    assert_int_equal(count_below(place->root, ".tmp."), 0);
}

// As in a container, where each first process is process 1.
static void a_temporary_file_left_under_our_own_number_hinders_nobody(void **state) {
    place_t *place = *state;
    for (unsigned i = 0; i < 200; ++i) {
        char name[64];
        snprintf(name, sizeof name, ".tmp.%d.%u", (int)getpid(), i);
        path_t left = path_of(place, name);
        write_bytes(left.text, "left", 4);
    }
    path_t path = path_of(place, "file");
    assert_ok(keel_file_replace(path.text, BYTES("mine")));
    assert_content(path.text, "mine");
    assert_int_equal(count_below(place->root, ".tmp."), 200);
}

static unsigned permissions_of(const char *path) {
    keel_file_facts_t facts;
    assert_ok(keel_file_facts(path, &facts));
    return facts.permissions;
}

static void a_file_that_a_user_named_has_usual_permissions(void **state) {
    path_t path = path_of(*state, "keel.contract");
    const mode_t before = umask(027);
    assert_ok(keel_file_replace_public(path.text, BYTES("new")));
    assert_int_equal(permissions_of(path.text), 0640);
    assert_int_equal(chmod(path.text, 0664), 0);
    assert_ok(keel_file_replace_public(path.text, BYTES("replaced")));
    assert_int_equal(permissions_of(path.text), 0664);
    assert_ok(keel_file_replace(path.text, BYTES("its owner's")));
    assert_int_equal(permissions_of(path.text), 0600);
    umask(before);
}

static void a_link_that_a_user_named_leads_to_what_is_written(void **state) {
    path_t path = path_of(*state, "report.html"), link = path_of(*state, "link");
    assert_ok(keel_file_replace(path.text, BYTES("the longer one")));
    assert_int_equal(symlink(path.text, link.text), 0);
    assert_ok(keel_file_replace_public(link.text, BYTES("shorter")));
    assert_content(path.text, "shorter");
    assert_true(keel_is_link(link.text));
    assert_int_equal(unlink(path.text), 0);
    assert_code(keel_file_replace_public(link.text, BYTES("lost")), KEEL_NOT_FOUND);
}

static void a_pipe_that_a_user_named_stays_one(void **state) {
    path_t path = path_of(*state, "pipe");
    char got[8] = "";
    assert_int_equal(mkfifo(path.text, 0600), 0);
    int reader = open(path.text, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_ok(keel_file_replace_public(path.text, BYTES("through")));
    assert_int_equal(read(reader, got, sizeof got), 7);
    assert_string_equal(got, "through");
    close(reader);
}

// What stands in the file so far would be lost if it were opened anew.
static void standard_output_is_written_under_its_name_too(void **state) {
    path_t path = path_of(*state, "log"), link = path_of(*state, "stdout");
    int before = dup(STDOUT_FILENO), log = open(path.text, O_WRONLY | O_CREAT, 0600);
    assert_true(before >= 0 && log >= 0);
    assert_int_equal(write(log, "first, ", 7), 7);
    assert_int_equal(symlink("/proc/self/fd/1", link.text), 0);
    fflush(stdout);
    dup2(log, STDOUT_FILENO);
    keel_status_t status = keel_file_replace_public(link.text, BYTES("second"));
    dup2(before, STDOUT_FILENO);
    close(before);
    close(log);
    assert_ok(status);
    assert_content(path.text, "first, second");
    assert_true(keel_is_link(link.text));
}

static int replace_on_and_on(const char *path, char letter) {
    char bytes[5000];
    memset(bytes, letter, sizeof bytes);
    for (int i = 0; i < 50; ++i)
        if (keel_file_replace(path, keel_bytes(bytes, sizeof bytes))) return 1;
    return 0;
}

static void a_draft_appears_as_a_whole_or_not_at_all(void **state) {
    place_t *place = *state;
    path_t path = path_of(place, "draft");
    keel_draft_t draft;
    assert_ok(keel_draft_open(path.text, &draft));
    assert_ok(keel_draft_write(&draft, BYTES("one ")));
    assert_false(exists(path.text));
    assert_int_equal(count_below(place->root, ".tmp."), 1);
    assert_ok(keel_draft_write(&draft, BYTES("two")));
    assert_ok(keel_draft_publish(&draft, path.text));
    assert_content(path.text, "one two");
    assert_ok(keel_draft_open(path.text, &draft));
    assert_ok(keel_draft_write(&draft, BYTES("three")));
    keel_draft_discard(&draft);
    assert_content(path.text, "one two");
    assert_ok(keel_directory_make(path_of(place, "folder").text));
    assert_ok(keel_draft_open(path_of(place, "folder").text, &draft));
    assert_code(keel_draft_publish(&draft, path_of(place, "folder").text), KEEL_IO);
    assert_int_equal(count_below(place->root, ".tmp."), 0);
    assert_code(keel_draft_open(path_of(place, "none/draft").text, &draft), KEEL_NOT_FOUND);
}

static void a_new_draft_replaces_nothing(void **state) {
    place_t *place = *state;
    path_t path = path_of(place, "draft");
    keel_draft_t draft;
    assert_ok(keel_draft_open(path.text, &draft));
    assert_ok(keel_draft_write(&draft, BYTES("one")));
    assert_ok(keel_draft_publish_new(&draft, path.text));
    assert_ok(keel_draft_open(path.text, &draft));
    assert_ok(keel_draft_write(&draft, BYTES("two")));
    assert_code(keel_draft_publish_new(&draft, path.text), KEEL_INVALID);
    assert_content(path.text, "one");
    assert_int_equal(count_below(place->root, ".tmp."), 0);
}

static void the_draft_of_a_process_that_is_gone_is_removed(void **state) {
    place_t *place = *state;
    static const struct {
        const char *name;
        long pid, age;
        bool stays;
    } drafts[] = {{".tmp.999999999.1", 999999999, 10, true},
                  {".tmp.999999999.2", 999999999, 100, false},
                  {".tmp.1.3", 1, 100, true},
                  {".tmp.1.4", 1, 4000, false}};
    for (size_t i = 0; i < sizeof drafts / sizeof *drafts; ++i) {
        path_t path = path_of(place, drafts[i].name);
        keel_file_facts_t facts;
        long pid;
        write_bytes(path.text, "x", 1);
        set_age(path.text, drafts[i].age);
        assert_ok(keel_file_facts(path.text, &facts));
        assert_true(keel_draft_is_temporary(drafts[i].name, &pid));
        assert_int_equal(pid, drafts[i].pid);
        keel_draft_remove_stale(path.text, pid, &facts);
        assert_int_equal(exists(path.text), drafts[i].stays);
    }
    long pid;
    assert_false(keel_draft_is_temporary(".tmp.x", &pid));
    assert_false(keel_draft_is_temporary(".tmp.-1.2", &pid));
    assert_false(keel_draft_is_temporary("a.tmp.1.2", &pid));
}

static void an_open_file_stays_what_it_was(void **state) {
    place_t *place = *state;
    path_t path = path_of(place, "input");
    keel_input_file_t file;
    char got[8] = "";
    write_bytes(path.text, "first", 5);
    assert_ok(keel_input_file_open(path.text, &file));
    assert_int_equal(file.size, 5);
    assert_ok(keel_file_replace(path.text, BYTES("second")));
    assert_ok(keel_input_file_read(&file, 1, got, 4));
    assert_string_equal(got, "irst");
    assert_code(keel_input_file_read(&file, 3, got, 4), KEEL_CORRUPT);
    keel_input_file_close(&file);
    assert_code(keel_input_file_open(place->root, &file), KEEL_INVALID);
    assert_code(keel_input_file_open(path_of(place, "none").text, &file), KEEL_NOT_FOUND);
}

static void readers_see_one_writers_bytes_whole(void **state) {
    place_t *place = *state;
    path_t path = path_of(place, "file");
    assert_int_equal(replace_on_and_on(path.text, 'x'), 0);
    pid_t children[3];
    for (int i = 0; i < 3; ++i)
        if ((children[i] = fork()) == 0) _exit(replace_on_and_on(path.text, (char)('a' + i)));
    for (int i = 0; i < 300; ++i) {
        uint8_t *data;
        size_t size;
        assert_ok(keel_file_read(path.text, 1 << 20, &data, &size));
        assert_int_equal(size, 5000);
        for (size_t at = 1; at < size; ++at)
            assert_int_equal(data[at], data[0]);
        keel_free(data);
    }
    for (int i = 0; i < 3; ++i) {
        int status;
        waitpid(children[i], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_below(place->root, ".tmp."), 0);
}

static void a_file_is_created_only_where_none_is(void **state) {
    path_t path = path_of(*state, "file");
    assert_ok(keel_file_create(path.text, BYTES("one")));
    assert_code(keel_file_create(path.text, BYTES("two")), KEEL_INVALID);
    assert_content(path.text, "one");
}

static void a_line_after_an_unfinished_one_begins_anew(void **state) {
    path_t path = path_of(*state, "lines");
    assert_ok(keel_file_append(path.text, BYTES("one\n")));
    assert_ok(keel_file_append(path.text, BYTES("two\n")));
    assert_content(path.text, "one\ntwo\n");
    assert_ok(keel_file_append(path.text, BYTES("thr")));
    assert_ok(keel_file_append(path.text, BYTES("four\n")));
    assert_content(path.text, "one\ntwo\nthr\nfour\n");
}

static int append_lines(const char *path, char letter) {
    char line[3001];
    memset(line, letter, sizeof line);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 40; ++i)
        if (keel_file_append(path, keel_bytes(line, sizeof line))) return 1;
    return 0;
}

static void lines_of_several_processes_do_not_mix(void **state) {
    path_t path = path_of(*state, "lines");
    pid_t children[4];
    for (int i = 0; i < 4; ++i)
        if ((children[i] = fork()) == 0) _exit(append_lines(path.text, (char)('a' + i)));
    for (int i = 0; i < 4; ++i) {
        int status;
        waitpid(children[i], &status, 0);
        assert_int_equal(status, 0);
    }
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(path.text, 1 << 20, &data, &size));
    assert_int_equal(size, 4 * 40 * 3001);
    for (size_t at = 0; at < size; at += 3001) {
        assert_int_equal(data[at + 3000], '\n');
        for (size_t i = 1; i < 3000; ++i)
            assert_int_equal(data[at + i], data[at]);
    }
    keel_free(data);
}

// ---- folders -----------------------------------------------------------------------------------

static void folders_are_made_with_those_above_them(void **state) {
    place_t *place = *state;
    path_t path = path_of(place, "a/b//c/d/");
    assert_ok(keel_directory_make(path.text));
    assert_ok(keel_directory_make(path.text));
    struct stat s;
    assert_int_equal(stat(path.text, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    path_t file = path_of(place, "file"), below = path_of(place, "file/x");
    write_bytes(file.text, "", 0);
    assert_code(keel_directory_make(file.text), KEEL_IO);
    assert_code(keel_directory_make(below.text), KEEL_IO);
    path_t a = path_of(place, "a"), d = path_of(place, "a/b/c/d");
    assert_code(keel_directory_remove(a.text), KEEL_IO);
    assert_ok(keel_directory_remove(d.text));
    assert_false(exists(d.text));
}

typedef struct names_t {
    char text[200];
    int left;
} names_t;

static keel_status_t note_name(void *context, const char *name) {
    names_t *names = context;
    if (!names->left--) return keel_status_make(KEEL_REFUSED, "enough");
    size_t used = strlen(names->text);
    snprintf(names->text + used, sizeof names->text - used, "%s ", name);
    return NULL;
}

static void a_walk_goes_by_byte_order_and_ends_where_told(void **state) {
    place_t *place = *state;
    static const char *const made[] = {"b", "a", "c", "B", ".hidden"};
    for (int i = 0; i < 5; ++i) {
        path_t path = path_of(place, made[i]);
        write_bytes(path.text, "", 0);
    }
    names_t names = {.left = 9};
    assert_ok(keel_directory_walk(place->root, note_name, &names));
    assert_string_equal(names.text, ".hidden B a b c ");
    names = (names_t){.left = 2};
    assert_code(keel_directory_walk(place->root, note_name, &names), KEEL_REFUSED);
    assert_string_equal(names.text, ".hidden B ");
    path_t absent = path_of(place, "absent");
    assert_ok(keel_directory_walk(absent.text, note_name, &names));
}

// ---- who owns a folder -------------------------------------------------------------------------

static void assert_owner_refused(const char *path, const char *why) {
    keel_status_t status = keel_directory_check_owner(path);
    assert_int_equal(keel_status_code(status), KEEL_REFUSED);
    if (!strstr(keel_status_message(status), why))
        fail_msg("'%s' does not say '%s'", keel_status_message(status), why);
    keel_status_ignore(status);
}

static void a_folder_that_others_can_write_is_refused(void **state) {
    place_t *place = *state;
    path_t folder = path_of(place, "folder"), link = path_of(place, "link");
    assert_ok(keel_directory_check_owner(folder.text));
    assert_ok(keel_directory_make(folder.text));
    assert_int_equal(symlink(folder.text, link.text), 0);
    static const mode_t good[] = {0700, 0755, 0750};
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        assert_int_equal(chmod(folder.text, good[i]), 0);
        assert_ok(keel_directory_check_owner(folder.text));
        assert_ok(keel_directory_check_owner(link.text));
    }
    assert_int_equal(chmod(folder.text, 0777), 0);
    assert_owner_refused(folder.text, "can be written by all users (mode 0777)");
    assert_owner_refused(link.text, "can be written by all users (mode 0777)");
    assert_int_equal(chmod(folder.text, 01777), 0);
    assert_owner_refused(folder.text, "can be written by all users (mode 1777)");
    assert_int_equal(unlink(link.text), 0);
    assert_int_equal(symlink("/nonexistent/folder", link.text), 0);
    assert_ok(keel_directory_check_owner(link.text));
}

// Only root can give a folder away; others see the refusal of a group alone.
static void a_folder_of_another_user_or_group_is_refused(void **state) {
    place_t *place = *state;
    path_t folder = path_of(place, "folder"), link = path_of(place, "link");
    assert_ok(keel_directory_make(folder.text));
    if (geteuid()) {
        print_message("skipped: only root can give a folder to another user; run it as root\n");
        skip();
    }
    assert_int_equal(chown(folder.text, (uid_t)-1, 54321), 0);
    assert_int_equal(chmod(folder.text, 0770), 0);
    assert_owner_refused(folder.text, "can be written by its group (mode 0770)");
    assert_int_equal(chmod(folder.text, 0700), 0);
    assert_int_equal(symlink(folder.text, link.text), 0);
    assert_ok(keel_directory_check_owner(link.text));
    assert_int_equal(lchown(link.text, 54321, (gid_t)-1), 0);
    assert_owner_refused(link.text, "is a link made by another user (uid 54321)");
    assert_int_equal(chown(folder.text, 54321, (gid_t)-1), 0);
    assert_owner_refused(folder.text, "belongs to another user (uid 54321)");
    assert_int_equal(chown(folder.text, 0, 0), 0);
}

// ---- what others do meanwhile ------------------------------------------------------------------

static void a_link_is_not_appended_to_and_its_target_stays(void **state) {
    place_t *place = *state;
    path_t target = path_of(place, "target"), link = path_of(place, "link");
    assert_ok(keel_file_create(target.text, BYTES("kept")));
    assert_int_equal(symlink(target.text, link.text), 0);
    keel_status_t status = keel_file_append(link.text, BYTES("a line\n"));
    assert_int_equal(keel_status_code(status), KEEL_IO);
    assert_non_null(strstr(keel_status_message(status), "it is a link"));
    keel_status_ignore(status);
    assert_ok(keel_file_replace(link.text, BYTES("new")));
    assert_content(target.text, "kept");
    assert_content(link.text, "new");
}

static void ignore_signal(int number) {
    (void)number;
}

// A lock that is held makes each append wait; a timer interrupts what waits.
static void a_timer_of_the_clients_costs_no_line(void **state) {
    place_t *place = *state;
    path_t log = path_of(place, "log");
    struct sigaction action = {.sa_handler = ignore_signal}, before;
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    assert_ok(keel_file_create(log.text, BYTES("")));
    pid_t child = fork();
    if (child == 0) {
        int descriptor = open(log.text, O_RDWR);
        for (int i = 0; i < 50; ++i) {
            flock(descriptor, LOCK_EX);
            usleep(2000);
            flock(descriptor, LOCK_UN);
            usleep(500);
        }
        _exit(0);
    }
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (int i = 0; i < 50; ++i)
        assert_ok(keel_file_append(log.text, BYTES("x\n")));
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    sigaction(SIGALRM, &before, NULL);
    waitpid(child, NULL, 0);
    keel_file_facts_t facts;
    assert_ok(keel_file_facts(log.text, &facts));
    assert_int_equal(facts.size, 100);
}

static double seconds_to_append(const char *path) {
    uint64_t began = keel_clock_monotonic();
    assert_ok(keel_file_append(path, BYTES("a line\n")));
    return keel_seconds(keel_clock_monotonic() - began);
}

static void a_holder_who_is_stopped_delays_one_line_and_prevents_none(void **state) {
    place_t *place = *state;
    path_t log = path_of(place, "log");
    for (int time = 0; time < 2; ++time) {
        int descriptor = open(log.text, O_RDWR | O_CREAT | O_TRUNC, 0600);
        assert_true(descriptor >= 0);
        assert_int_equal(flock(descriptor, LOCK_EX), 0);
        assert_true(seconds_to_append(log.text) > 0.9);
        for (int i = 0; i < 3; ++i)
            assert_true(seconds_to_append(log.text) < 0.9);
        close(descriptor);
        assert_content(log.text, "a line\na line\na line\na line\n");
        // Once the lock was free, its holders are waited for again.
        assert_true(seconds_to_append(log.text) < 0.9);
    }
}

static void a_limit_on_the_size_of_files_is_an_error_and_not_the_programs_end(void **state) {
    path_t path = path_of(*state, "file"), log = path_of(*state, "log");
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {.rlim_cur = 8, .rlim_max = RLIM_INFINITY};
        signal(SIGXFSZ, SIG_DFL);
        setrlimit(RLIMIT_FSIZE, &limit);
        keel_status_t small = keel_file_replace(path.text, BYTES("small"));
        keel_status_t large = keel_file_replace(path.text, BYTES("what is too large"));
        keel_status_t added = keel_file_append(log.text, BYTES("a line that is too large"));
        bool good = !small && keel_status_code(large) == KEEL_IO &&
                    strstr(keel_status_message(large), strerror(EFBIG)) &&
                    keel_status_code(added) == KEEL_IO;
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
        keel_status_t again = keel_file_append(log.text, BYTES("what fits\n"));
        _exit(good && !again ? 0 : 1);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
    assert_content(path.text, "small");
    assert_content(log.text, "what fits\n"); // and no piece of the line before
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_is_not_there_is_not_found_and_named),
        TEST(a_file_is_read_whole_or_refused_where_it_is_too_large),
        TEST(files_that_tell_no_size_are_read_whole),
        TEST(a_folder_is_no_file),
        TEST(a_head_is_as_long_as_the_file_allows),
        TEST(a_mapping_shows_the_file_and_an_empty_file_maps_to_nothing),
        TEST(a_files_content_is_the_digest_of_its_bytes),
        TEST(facts_follow_a_touch),
        TEST(a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it),
        TEST(a_temporary_file_left_under_our_own_number_hinders_nobody),
        TEST(a_file_that_a_user_named_has_usual_permissions),
        TEST(a_link_that_a_user_named_leads_to_what_is_written),
        TEST(a_pipe_that_a_user_named_stays_one),
        TEST(standard_output_is_written_under_its_name_too),
        TEST(a_draft_appears_as_a_whole_or_not_at_all),
        TEST(a_new_draft_replaces_nothing),
        TEST(the_draft_of_a_process_that_is_gone_is_removed),
        TEST(an_open_file_stays_what_it_was),
        TEST(readers_see_one_writers_bytes_whole),
        TEST(a_file_is_created_only_where_none_is),
        TEST(a_limit_on_the_size_of_files_is_an_error_and_not_the_programs_end),
        TEST(a_line_after_an_unfinished_one_begins_anew),
        TEST(lines_of_several_processes_do_not_mix),
        TEST(folders_are_made_with_those_above_them),
        TEST(a_walk_goes_by_byte_order_and_ends_where_told),
        TEST(a_folder_that_others_can_write_is_refused),
        TEST(a_folder_of_another_user_or_group_is_refused),
        TEST(a_link_is_not_appended_to_and_its_target_stays),
        TEST(a_timer_of_the_clients_costs_no_line),
        TEST(a_holder_who_is_stopped_delays_one_line_and_prevents_none),
    };
    return cmocka_run_group_tests_name("base files", tests, NULL, NULL);
}
