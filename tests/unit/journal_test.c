#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "journal/journal.h"

static char folder[64];

static int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/keel-journal-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static keel_digest_t digest_of(const char *text) {
    return keel_digest(keel_str_bytes(keel_str(text)));
}

// Collects all events in a JSON array.
static keel_status_t collect(void *context, const struct json_t *event) {
    json_array_append(context, (json_t *)(uintptr_t)event);
    return NULL;
}

static json_t *events_of(const char *id, keel_journal_damage_t *damage) {
    char *path;
    assert_null(keel_journal_path(folder, id, &path));
    json_t *events = json_array();
    assert_null(keel_journal_read(path, collect, events, damage));
    keel_free(path);
    return events;
}

static const char *text_of(const json_t *event, const char *name) {
    const char *text = json_string_value(json_object_get(event, name));
    return text ? text : "";
}

static json_t *parse_lines(const char *text, keel_journal_damage_t *damage) {
    json_t *events = json_array();
    assert_null(keel_journal_parse(keel_str_bytes(keel_str(text)), collect, events, damage));
    return events;
}

static void every_event_is_read_as_it_was_written(void **state) {
    (void)state;
    keel_journal_t *journal;
    assert_null(keel_journal_open(folder, "run-1", &journal));
    assert_string_equal(keel_journal_id(journal), "run-1");
    keel_digest_t program = digest_of("program"), key = digest_of("key");
    keel_digest_t options = digest_of("options");
    char program_hex[KEEL_DIGEST_HEX], options_hex[KEEL_DIGEST_HEX];
    keel_digest_hex(&program, program_hex);
    keel_digest_hex(&options, options_hex);
    keel_journal_subject_t subject = {&program, "jit_\"step\"\n", &key};
    keel_journal_count_t count = {program, 7, 0};
    keel_key_t components;
    keel_key_initialize(&components);
    keel_journal_start(journal, &(keel_journal_start_t){
                                    .plugin = {.path = "/p.so", .name = "cpu", .api_minor = 81},
                                    .mode = "on",
                                    .cache_dir = "/c",
                                    .key = &components});
    keel_journal_miss(journal, &(keel_journal_miss_t){subject, "absent", &components});
    keel_journal_uncacheable(journal, &(keel_journal_uncacheable_t){subject, "why", "target"});
    keel_journal_compile(journal, &(keel_journal_compile_t){.subject = subject,
                                                            .seconds = 1.5,
                                                            .ops = 3,
                                                            .bytes = 99,
                                                            .format = "mlir",
                                                            .options = &options,
                                                            .site = {.file = "a.py", .line = 8},
                                                            .recompile = true,
                                                            .executes = {&count, 1}});
    keel_journal_load(journal,
                      &(keel_journal_load_t){.subject = subject, .tier = "disk", .seconds = 0.25});
    keel_journal_publish(journal, &(keel_journal_publish_t){.key = &key, .payload_bytes = 5});
    keel_journal_store_error(journal, "put", &key, "disk full");
    keel_journal_fallback(journal, "read", &subject, "unknown operation");
    keel_journal_executes(journal, (keel_journal_counts_t){&count, 1}, (keel_journal_leading_t){0});
    keel_journal_end(journal, 14, (keel_journal_counts_t){0});
    keel_journal_close(journal);
    keel_key_deinitialize(&components);

    keel_journal_damage_t damage;
    json_t *events = events_of("run-1", &damage);
    assert_int_equal(damage.lines, 0);
    static const char *const names[] = {"start",   "miss",        "uncacheable", "compile",  "load",
                                        "publish", "store_error", "fallback",    "executes", "end"};
    assert_int_equal(json_array_size(events), sizeof names / sizeof *names);
    for (size_t i = 0; i < json_array_size(events); ++i) {
        const json_t *event = json_array_get(events, i);
        assert_string_equal(text_of(event, "event"), names[i]);
        assert_int_equal(json_integer_value(json_object_get(event, "pid")), getpid());
        assert_true(json_real_value(json_object_get(event, "t")) > 1.6e9);
    }
    const json_t *start = json_array_get(events, 0), *compile = json_array_get(events, 3);
    assert_true(json_array_size(json_object_get(start, "argv")) > 0);
    assert_string_equal(text_of(json_object_get(start, "plugin"), "name"), "cpu");
    assert_string_equal(text_of(compile, "name"), "jit_\"step\"\n");
    assert_string_equal(text_of(compile, "program"), program_hex);
    assert_string_equal(text_of(compile, "options"), options_hex);
    assert_true(json_real_value(json_object_get(compile, "seconds")) == 1.5);
    assert_true(json_is_true(json_object_get(compile, "recompile")));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(compile, "site"), "line")),
                     8);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(compile, "executes"), program_hex)), 7);
    assert_true(json_real_value(json_object_get(json_array_get(events, 9), "wall")) > 0);
    json_decref(events);
}

static void without_a_journal_writing_does_nothing(void **state) {
    (void)state;
    keel_journal_end(NULL, 1, (keel_journal_counts_t){0});
    keel_digest_t program = digest_of("p");
    keel_journal_program(NULL, &program, "mlir", keel_bytes("x", 1));
    keel_journal_close(NULL);
    assert_string_equal(keel_journal_id(NULL), "");
}

enum { WRITERS = 8, LINES = 200 };

static void *write_lines(void *journal) {
    keel_digest_t program = digest_of("program");
    keel_journal_subject_t subject = {&program, "jit_step", NULL};
    for (int i = 0; i < LINES; ++i)
        keel_journal_compile(journal, &(keel_journal_compile_t){.subject = subject, .seconds = 1});
    return NULL;
}

static void lines_of_several_processes_and_threads_do_not_mix(void **state) {
    (void)state;
    for (int process = 0; process < WRITERS; ++process) {
        pid_t pid = fork();
        if (pid) continue;
        keel_journal_t *journal;
        if (keel_journal_open(folder, "shared", &journal)) _exit(1);
        pthread_t other;
        if (pthread_create(&other, NULL, write_lines, journal)) _exit(1);
        write_lines(journal);
        pthread_join(other, NULL);
        keel_journal_close(journal);
        _exit(0);
    }
    for (int process = 0; process < WRITERS; ++process) {
        int code;
        assert_true(wait(&code) > 0);
        assert_int_equal(code, 0);
    }
    keel_journal_damage_t damage;
    json_t *events = events_of("shared", &damage);
    assert_int_equal(damage.lines, 0);
    assert_int_equal(json_array_size(events), WRITERS * LINES * 2);
    json_decref(events);
}

static void the_unfinished_last_line_of_a_killed_process_is_no_damage(void **state) {
    (void)state;
    keel_journal_damage_t damage;
    json_t *events = parse_lines("{\"event\":\"end\"}\n{\"event\":\"comp", &damage);
    assert_int_equal(json_array_size(events), 1);
    assert_int_equal(damage.lines, 0);
    json_decref(events);
}

static void a_line_that_is_no_event_is_counted_and_the_rest_is_read(void **state) {
    (void)state;
    keel_journal_damage_t damage;
    json_t *events = parse_lines("{\"event\":\"end\"}\nrubbish\n\n{\"no\":1}\n[1]\n{\"event\":\"x\n"
                                 "{\"event\":\"later kind\",\"new\":{}}\n",
                                 &damage);
    assert_int_equal(json_array_size(events), 2);
    assert_int_equal(damage.lines, 4);
    assert_int_equal(damage.first_line, 2);
    assert_non_null(strstr(damage.why, "not JSON"));
    json_decref(events);
}

static keel_status_t make_pipe(char *path, size_t room, const char *name) {
    char command[256];
    snprintf(path, room, "%s/%s", folder, name);
    snprintf(command, sizeof command, "mkdir -p $(dirname %s) && mkfifo %s", path, path);
    return system(command) ? keel_status_make(KEEL_IO, "mkfifo") : NULL;
}

static void assert_no_file(keel_status_t status, const char *path) {
    assert_int_equal(keel_status_code(status), KEEL_INVALID);
    assert_non_null(strstr(keel_status_message(status), path));
    keel_status_ignore(status);
}

static void what_is_a_named_pipe_in_the_runs_folder_is_refused_and_nobody_waits(void **state) {
    (void)state;
    char journal[96], program[96];
    keel_journal_damage_t damage;
    keel_journal_source_t source;
    uint8_t *data;
    size_t size;
    char *found;
    assert_null(make_pipe(journal, sizeof journal, "piped/journal.ndjson"));
    assert_null(make_pipe(program, sizeof program, "programs/abcd.mlir.zst"));
    alarm(20);
    assert_no_file(keel_journal_source_open(folder, "piped", &source), journal);
    assert_no_file(keel_journal_read(journal, collect, NULL, &damage), journal);
    assert_no_file(keel_journal_read_program(program, &data, &size), program);
    assert_no_file(keel_journal_find_program(folder, "abcd", &found), program);
    alarm(0);
}

static void after_a_torn_line_the_next_process_begins_a_new_one(void **state) {
    (void)state;
    keel_journal_t *journal;
    assert_null(keel_journal_open(folder, "torn", &journal));
    keel_journal_executes(journal, (keel_journal_counts_t){0}, (keel_journal_leading_t){0});
    char path[128];
    snprintf(path, sizeof path, "%s/torn/journal.ndjson", folder);
    FILE *file = fopen(path, "a");
    fputs("{\"event\":\"comp", file);
    fclose(file);
    keel_journal_end(journal, 0, (keel_journal_counts_t){0});
    keel_journal_close(journal);
    keel_journal_damage_t damage;
    json_t *events = events_of("torn", &damage);
    assert_int_equal(json_array_size(events), 2);
    assert_int_equal(damage.lines, 1);
    assert_non_null(strstr(damage.why, "truncated"));
    json_decref(events);
}

static void write_end(keel_journal_t *journal) {
    keel_journal_end(journal, 0, (keel_journal_counts_t){0});
}

static void limit_files(rlim_t size) {
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){size, RLIM_INFINITY}), 0);
}

static void assert_lost(const json_t *event, const char *message) {
    assert_string_equal(text_of(event, "event"), "fallback");
    assert_string_equal(text_of(event, "what"), "journal");
    assert_string_equal(text_of(event, "message"), message);
}

// As on a disk that is full for a while, twice. The first line that does not fit is cut off.
static void what_a_full_disk_costs_is_counted_and_the_rest_is_recorded(void **state) {
    (void)state;
    keel_journal_t *journal;
    assert_null(keel_journal_open(folder, "full", &journal));
    char path[128];
    struct stat s;
    snprintf(path, sizeof path, "%s/full/journal.ndjson", folder);
    keel_digest_t program = digest_of("program");
    setenv("KEEL_QUIET", "1", 1);
    for (int times = 1; times <= 3; times += 2) {
        write_end(journal);
        assert_int_equal(stat(path, &s), 0);
        limit_files((rlim_t)s.st_size + 20);
        for (int i = 0; i < times; ++i)
            write_end(journal);
        limit_files(RLIM_INFINITY);
    }
    limit_files(1);
    keel_journal_program(journal, &program, "hlo", keel_bytes("abc", 3));
    limit_files(RLIM_INFINITY);
    write_end(journal);
    keel_journal_close(journal);
    keel_journal_damage_t damage;
    json_t *events = events_of("full", &damage);
    assert_int_equal(damage.lines, 0);
    assert_int_equal(json_array_size(events), 5);
    assert_lost(json_array_get(events, 1), "1 event was lost: the journal could not be written");
    assert_lost(json_array_get(events, 3), "3 events were lost: the journal could not be written");
    json_decref(events);
}

static void assert_kept(const char *path, keel_code_t code) {
    uint8_t *data = NULL;
    size_t size;
    keel_status_t status = keel_journal_read_program(path, &data, &size);
    assert_int_equal(keel_status_code(status), code);
    if (!status) assert_int_equal(size, 3);
    if (!status) assert_memory_equal(data, "abc", 3);
    keel_status_ignore(status);
    keel_free(data);
}

// It is named by what its client gave, not by its own bytes.
static void a_whole_program_says_whose_it_is(void **state) {
    (void)state;
    keel_journal_t *journal;
    keel_digest_t program = digest_of("program and constants");
    char hex[KEEL_DIGEST_HEX], path[512], other[512];
    assert_null(keel_journal_open(folder, "whole", &journal));
    keel_journal_whole_program(journal, &program, "mlir", keel_bytes("abc", 3));
    assert_true(keel_journal_has_program(journal, &program, "mlir"));
    keel_journal_close(journal);
    keel_digest_hex(&program, hex);
    snprintf(path, sizeof path, "%s/programs/%s.mlir.zst", folder, hex);
    assert_kept(path, KEEL_OK);
    hex[0] = hex[0] == '0' ? '1' : '0';
    snprintf(other, sizeof other, "%s/programs/%s.mlir.zst", folder, hex);
    assert_int_equal(rename(path, other), 0);
    assert_kept(other, KEEL_CORRUPT);
    snprintf(path, sizeof path, "%s/programs/a copy", folder);
    assert_int_equal(rename(other, path), 0);
    assert_kept(path, KEEL_OK);
    // Another content than the file says that it has.
    uint8_t *data;
    size_t size;
    assert_null(keel_file_read(path, 1 << 20, &data, &size));
    data[size - 1] ^= 1;
    assert_null(keel_file_replace(path, keel_bytes(data, size)));
    keel_free(data);
    assert_kept(path, KEEL_CORRUPT);
    assert_int_equal(remove(path), 0);
}

// Without its start, nothing of a process could be explained.
static void a_start_that_did_not_fit_is_written_later(void **state) {
    (void)state;
    keel_journal_t *journal;
    assert_null(keel_journal_open(folder, "late", &journal));
    setenv("KEEL_QUIET", "1", 1);
    write_end(journal);
    limit_files(1);
    keel_journal_start(journal, &(keel_journal_start_t){.script = "first.py", .client = 1});
    keel_journal_start(journal, &(keel_journal_start_t){.script = "second.py", .client = 2});
    limit_files(RLIM_INFINITY);
    write_end(journal);
    limit_files(1);
    write_end(journal);
    keel_journal_start(journal, &(keel_journal_start_t){.script = "third.py", .client = 3});
    limit_files(RLIM_INFINITY);
    write_end(journal);
    write_end(journal);
    keel_journal_close(journal);
    static const char *const expected[] = {"end",   "start",    "start", "end",
                                           "start", "fallback", "end",   "end"};
    keel_journal_damage_t damage;
    json_t *events = events_of("late", &damage);
    assert_int_equal(damage.lines, 0);
    assert_int_equal(json_array_size(events), 8);
    for (size_t i = 0; i < 8; ++i)
        assert_string_equal(text_of(json_array_get(events, i), "event"), expected[i]);
    assert_string_equal(text_of(json_array_get(events, 1), "script"), "first.py");
    assert_string_equal(text_of(json_array_get(events, 4), "script"), "third.py");
    assert_lost(json_array_get(events, 5), "1 event was lost: the journal could not be written");
    json_decref(events);
}

static void what_is_lost_and_that_it_works_again_is_said_once(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/stderr", folder);
    pid_t child = fork();
    if (child == 0) {
        keel_journal_t *journal;
        if (!freopen(path, "w", stderr) || keel_journal_open(folder, "gone", &journal)) _exit(1);
        unsetenv("KEEL_QUIET");
        char run[128];
        snprintf(run, sizeof run, "%s/gone", folder);
        if (rmdir(run)) _exit(2);
        for (int i = 0; i < 3; ++i)
            write_end(journal);
        if (mkdir(run, 0700)) _exit(3);
        write_end(journal);
        write_end(journal);
        keel_journal_close(journal);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    char text[1024];
    FILE *file = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    char expected[1024];
    snprintf(
        expected, sizeof expected,
        "keel: run gone: cannot open %s/gone/journal.ndjson: No such file or directory; the run "
        "continues, but its record has gaps\n"
        "keel: run gone is recorded again: 3 events were lost: the journal could not be "
        "written\n",
        folder);
    assert_string_equal(text, expected);
}

static void a_run_dir_that_cannot_be_made_gives_no_journal_and_names_it(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/file", folder);
    fclose(fopen(path, "w"));
    keel_journal_t *journal;
    keel_status_t status = keel_journal_open(path, "x", &journal);
    assert_non_null(status);
    assert_non_null(strstr(keel_status_message(status), path));
    assert_null(journal);
    keel_status_ignore(status);
}

static void a_run_id_that_would_leave_the_folder_is_replaced(void **state) {
    (void)state;
    assert_false(keel_journal_is_id("../x") || keel_journal_is_id("") || keel_journal_is_id(".x") ||
                 keel_journal_is_id("programs") || keel_journal_is_id("a b"));
    keel_journal_t *journal;
    assert_null(keel_journal_open(folder, "../../x", &journal));
    assert_true(keel_journal_is_id(keel_journal_id(journal)));
    assert_null(strchr(keel_journal_id(journal), '/'));
    keel_journal_close(journal);
    char a[KEEL_RUN_ID_SIZE], b[KEEL_RUN_ID_SIZE];
    keel_journal_make_id(a);
    usleep(2000);
    keel_journal_make_id(b);
    assert_true(strcmp(a, b) < 0);
}

static keel_status_t join(void *context, const char *id) {
    keel_buffer_format(context, "%s ", id);
    return NULL;
}

static void make_run(const char *id) {
    keel_journal_t *journal;
    assert_null(keel_journal_open(folder, id, &journal));
    keel_journal_end(journal, 0, (keel_journal_counts_t){0});
    keel_journal_close(journal);
}

static void runs_are_listed_oldest_first_and_found_by_their_beginning(void **state) {
    (void)state;
    char *found = NULL;
    keel_status_t status = keel_journal_find_run(folder, NULL, &found);
    assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    keel_status_ignore(status);
    make_run("20260102-b");
    make_run("20260101-a");
    make_run("20260102-bc");
    char path[128];
    snprintf(path, sizeof path, "%s/20270101-empty", folder);
    mkdir(path, 0700);
    keel_buffer_t list;
    keel_buffer_initialize(&list, 0);
    assert_null(keel_journal_runs(folder, join, &list));
    assert_string_equal(keel_buffer_cstr(&list), "20260101-a 20260102-b 20260102-bc ");
    keel_buffer_deinitialize(&list);

    assert_null(keel_journal_find_run(folder, "latest", &found));
    assert_string_equal(found, "20260102-bc");
    keel_free(found);
    assert_null(keel_journal_find_run(folder, "20260101", &found));
    assert_string_equal(found, "20260101-a");
    keel_free(found);
    assert_null(
        keel_journal_find_run(folder, "20260102-b", &found)); // whole id, though it begins another
    assert_string_equal(found, "20260102-b");
    keel_free(found);
    status = keel_journal_find_run(folder, "20260102", &found);
    assert_int_equal(keel_status_code(status), KEEL_INVALID);
    keel_status_ignore(status);
    status = keel_journal_find_run(folder, "2025", &found);
    assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    keel_status_ignore(status);
}

static void a_program_is_kept_once_and_read_back(void **state) {
    (void)state;
    keel_journal_t *journal;
    assert_null(keel_journal_open(folder, "r", &journal));
    char text[5000];
    for (size_t i = 0; i < sizeof text; ++i)
        text[i] = (char)('a' + i % 23);
    keel_bytes_t bytes = keel_bytes(text, sizeof text);
    keel_digest_t program = keel_digest(bytes);
    char hex[KEEL_DIGEST_HEX], path[256];
    keel_digest_hex(&program, hex);
    keel_journal_program(journal, &program, "mlir", bytes);
    snprintf(path, sizeof path, "%s/programs/%s.mlir.zst", folder, hex);
    struct stat first, second;
    assert_int_equal(stat(path, &first), 0);
    keel_journal_program(journal, &program, "mlir", bytes);
    assert_int_equal(stat(path, &second), 0);
    assert_int_equal(first.st_ino, second.st_ino);
    keel_journal_close(journal);

    char *found;
    hex[10] = 0;
    assert_null(keel_journal_find_program(folder, hex, &found));
    assert_string_equal(found, path);
    uint8_t *data;
    size_t size;
    assert_null(keel_journal_read_program(found, &data, &size));
    assert_int_equal(size, sizeof text);
    assert_memory_equal(data, text, size);
    keel_free(data);

    // A copy under another name is another program, whoever made it.
    char other[256];
    keel_digest_t another = digest_of("another");
    keel_digest_hex(&another, hex);
    snprintf(other, sizeof other, "%s/programs/%s.mlir.zst", folder, hex);
    assert_int_equal(link(path, other), 0);
    keel_status_t renamed = keel_journal_read_program(other, &data, &size);
    assert_int_equal(keel_status_code(renamed), KEEL_CORRUPT);
    assert_non_null(strstr(keel_status_message(renamed), hex));
    keel_digest_hex(&program, hex);
    assert_non_null(strstr(keel_status_message(renamed), hex));
    keel_status_ignore(renamed);
    snprintf(other, sizeof other, "%s/programs/copy.zst", folder);
    assert_int_equal(link(path, other), 0);
    assert_null(keel_journal_read_program(other, &data, &size));
    keel_free(data);

    assert_int_equal(truncate(path, first.st_size - 3), 0);
    keel_status_t status = keel_journal_read_program(found, &data, &size);
    assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
    assert_non_null(strstr(keel_status_message(status), path));
    keel_status_ignore(status);
    keel_free(found);
    status = keel_journal_find_program(folder, "ffff", &found);
    assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    keel_status_ignore(status);
}

static void compile_options_are_kept_like_programs_and_are_none(void **state) {
    (void)state;
    keel_journal_t *journal;
    assert_null(keel_journal_open(folder, "o", &journal));
    keel_bytes_t bytes = keel_bytes("\x1a\x04\x20\x01\x28\x01", 6);
    keel_digest_t options = keel_digest(bytes);
    char hex[KEEL_DIGEST_HEX], path[256];
    keel_digest_hex(&options, hex);
    keel_journal_program(journal, &options, "options", bytes);
    keel_journal_close(journal);
    snprintf(path, sizeof path, "%s/programs/%s.options.zst", folder, hex);
    uint8_t *data;
    size_t size;
    assert_null(keel_journal_read_program(path, &data, &size));
    assert_int_equal(size, bytes.size);
    assert_memory_equal(data, bytes.data, size);
    keel_free(data);
    char *found;
    keel_status_t status = keel_journal_find_program(folder, hex, &found);
    assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    keel_status_ignore(status);
}

#ifdef KEEL_FAULTS
static void whatever_fails_a_run_goes_on(void **state) {
    (void)state;
    setenv("KEEL_QUIET", "1", 1);
    for (int kind = 0; kind < KEEL_FAULT_KINDS; ++kind) {
        for (uint64_t n = 1;; ++n) {
            assert_true(n < 1000);
            char id[32];
            snprintf(id, sizeof id, "fault-%d-%d", kind, (int)n);
            keel_fault_arm((keel_fault_kind_t)kind, n);
            keel_journal_t *journal;
            keel_status_ignore(keel_journal_open(folder, id, &journal));
            keel_digest_t program = digest_of(id);
            keel_journal_start(journal, &(keel_journal_start_t){.mode = "on"});
            keel_journal_program(journal, &program, "hlo", keel_bytes("abc", 3));
            keel_journal_end(journal, 0, (keel_journal_counts_t){0});
            keel_journal_close(journal);
            uint64_t seen = keel_fault_count((keel_fault_kind_t)kind);
            keel_fault_arm((keel_fault_kind_t)kind, 0);
            if (seen < n) break;
        }
    }
}
#endif

static void what_lies_beside_the_runs_is_no_run(void **state) {
    (void)state;
    assert_false(keel_journal_is_id("programs"));
    assert_false(keel_journal_is_id("history"));
    assert_false(keel_journal_is_id("sources"));
    assert_false(keel_journal_is_id("latest"));
    assert_true(keel_journal_is_id("history-2"));
    // A run that asks for that name gets another.
    keel_journal_t *journal;
    assert_null(keel_journal_open(folder, "history", &journal));
    assert_string_not_equal(keel_journal_id(journal), "history");
    keel_journal_close(journal);
}

static void what_a_reader_does_without_is_cut_out_of_its_line(void **state) {
    (void)state;
    static const char *const lists[] = {"folded", "stack", NULL};
    static const struct {
        const char *line, *expected;
    } cases[] = {
        {"{\"event\":\"x\",\"folded\":[1,[2]],\"t\":3}", "{\"event\":\"x\",\"t\":3}"},
        {"{\"event\":\"x\",\"folded\":[{\"a\":\"]}\\\"]\"}],\"stack\":{\"b\":[]}}",
         "{\"event\":\"x\"}"},
        {"{\"event\":\"x\",\"stack\":[],\"folded\":[]}", "{\"event\":\"x\"}"},
        {"{\"event\":\"x\",\"a\":\",\\\"folded\\\":[1]\",\"folded\":7}",
         "{\"event\":\"x\",\"a\":\",\\\"folded\\\":[1]\",\"folded\":7}"},
        {"{\"event\":\"x\",\"folded\":[\"", "{\"event\":\"x\",\"folded\":[\""},
        {"{\"event\":\"x\",\"folded\":[\"\\", "{\"event\":\"x\",\"folded\":[\"\\"},
        {"{\"event\":\"x\",\"folded\":", "{\"event\":\"x\",\"folded\":"},
        // What is not a list stays, also before one.
        {"{\"event\":\"x\",\"folded\":7,\"a\":[1]}", "{\"event\":\"x\",\"folded\":7,\"a\":[1]}"},
        {"{\"event\":\"x\",\"stack\":\"[\",\"a\":{}}",
         "{\"event\":\"x\",\"stack\":\"[\",\"a\":{}}"},
        {"{\"event\":\"x\",\"stack\":{\"a\":[{}],\"b\":{}},\"c\":[2]}",
         "{\"event\":\"x\",\"c\":[2]}"},
        {"{\"event\":\"x\",\"folded\":[[]", "{\"event\":\"x\",\"folded\":[[]"},
    };
    keel_buffer_t scratch;
    keel_buffer_initialize(&scratch, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        keel_str_t line = keel_journal_without(keel_str(cases[i].line), lists, &scratch);
        assert_true(keel_str_is(line, cases[i].expected));
    }
    keel_buffer_deinitialize(&scratch);
}

static void events_that_a_reader_does_without_are_passed_over_unless_cut_short(void **state) {
    (void)state;
    static const char *const events[] = {"ask", "memory", NULL};
    static const struct {
        const char *line;
        bool is_needless;
    } cases[] = {
        {"{\"event\":\"ask\",\"t\":1}", true},
        {"{\"event\":\"memory\"}", true},
        {"{\"event\":\"asked\",\"t\":1}", false},
        {"{\"event\":\"load\",\"t\":1}", false},
        {"{\"event\":\"ask\",\"t\":", false},
        {"{\"event\":\"ask", false},
        {"{\"t\":1,\"event\":\"ask\"}", false},
        {"{\"event\":\"as\",\"t\":1}", false},
        {"{\"event\":\"}", false},
        {"{\"event\":\"ask}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        assert_int_equal(keel_journal_is_event(keel_str(cases[i].line), events),
                         cases[i].is_needless);
}

// Cuts `json`, which has a string `text` in it, and reads it again.
static void assert_cut(const char *text, size_t longest, const char *expected) {
    keel_buffer_t line, scratch;
    keel_buffer_initialize(&line, 0);
    keel_buffer_initialize(&scratch, 0);
    keel_buffer_format(&line, "{\"a\":\"%s\",\"b\":[\"short\",1]}", text);
    keel_str_t cut = keel_journal_cut(keel_bytes_str(keel_buffer_bytes(&line)), longest, &scratch);
    json_t *object = json_loadb(cut.data, cut.size, 0, NULL);
    assert_non_null(object);
    assert_string_equal(json_string_value(json_object_get(object, "a")), expected);
    assert_int_equal(json_array_size(json_object_get(object, "b")), 2);
    json_decref(object);
    keel_buffer_deinitialize(&line);
    keel_buffer_deinitialize(&scratch);
}

static void long_strings_are_cut_between_characters(void **state) {
    (void)state;
    assert_cut("1234567890", 10, "1234567890");
    assert_cut("12345678901", 10, "1234567890...");
    assert_cut("12345678\xc3\xa9\xc3\xa9 and so on", 9, "12345678...");
    assert_cut("12345678\\u00e9 and so on", 10, "12345678...");
    assert_cut("12345678\\\\\\\\ and so on", 9, "12345678...");
    assert_cut("1234567\\\"\\\" and so on", 9, "1234567\"...");
    assert_cut("12\\ud83d\\ude00 and so on", 10, "12...");
    assert_cut("12\\ud83d\\ude00 and so on", 14, "12\xf0\x9f\x98\x80...");
    assert_cut("1234567890\\\\", 11, "1234567890...");
    assert_cut("1234\\n and so on", 6, "1234\n...");
    assert_cut("1234\\n and so on", 5, "1234...");
    assert_cut("1234\\u00e9 and so on", 10, "1234\xc3\xa9...");
    assert_cut("1234\\ue000 and so on", 10, "1234\xee\x80\x80...");
    assert_cut("1234\\ud7ff and so on", 10, "1234\xed\x9f\xbf...");
    assert_cut("1234\\uDBFF\\udc00 and so on", 15, "1234...");
    assert_cut("1234\\uDBFF\\udc00 and so on", 16, "1234\xf4\x8f\xb0\x80...");
    assert_cut("12345678", 1, "1...");
    // What is cut off at its end is left to whoever parses it.
    keel_buffer_t scratch;
    keel_buffer_initialize(&scratch, 0);
    keel_str_t torn = keel_journal_cut(KEEL_STR("{\"a\":\"12345678901234"), 10, &scratch);
    assert_string_equal(torn.data, "{\"a\":\"12345678901234");
    keel_buffer_deinitialize(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_strings_are_cut_between_characters),
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(what_a_reader_does_without_is_cut_out_of_its_line),
        TEST(events_that_a_reader_does_without_are_passed_over_unless_cut_short),
        TEST(every_event_is_read_as_it_was_written),
        TEST(what_lies_beside_the_runs_is_no_run),
        TEST(without_a_journal_writing_does_nothing),
        TEST(lines_of_several_processes_and_threads_do_not_mix),
        TEST(the_unfinished_last_line_of_a_killed_process_is_no_damage),
        TEST(a_line_that_is_no_event_is_counted_and_the_rest_is_read),
        TEST(what_is_a_named_pipe_in_the_runs_folder_is_refused_and_nobody_waits),
        TEST(after_a_torn_line_the_next_process_begins_a_new_one),
        TEST(what_a_full_disk_costs_is_counted_and_the_rest_is_recorded),
        TEST(a_whole_program_says_whose_it_is),
        TEST(a_start_that_did_not_fit_is_written_later),
        TEST(what_is_lost_and_that_it_works_again_is_said_once),
        TEST(a_run_dir_that_cannot_be_made_gives_no_journal_and_names_it),
        TEST(a_run_id_that_would_leave_the_folder_is_replaced),
        TEST(runs_are_listed_oldest_first_and_found_by_their_beginning),
        TEST(a_program_is_kept_once_and_read_back),
        TEST(compile_options_are_kept_like_programs_and_are_none),
#ifdef KEEL_FAULTS
        TEST(whatever_fails_a_run_goes_on),
#endif
    };
    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
