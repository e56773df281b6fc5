// What a history keeps in its file, and how much of it in memory.
#define _GNU_SOURCE // memmem, strsep
#include "history/internal.h"
#include "history_stage.h"

#include <pthread.h>
#include <sys/wait.h>

// ---- the file ----------------------------------------------------------------------------------

static size_t size_of(const char *path) {
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    return (size_t)s.st_size;
}

static size_t occurrences(const char *path, const char *what) {
    uint8_t *bytes;
    size_t size, count = 0;
    assert_ok(keel_file_read(path, 1 << 26, &bytes, &size));
    const char *at = (const char *)bytes, *end = at + size;
    while ((at = memmem(at, (size_t)(end - at), what, strlen(what))))
        ++count, ++at;
    keel_free(bytes);
    return count;
}

static void values_stand_in_a_file_once(void **state) {
    (void)state;
    stage_t stage;
    make_stage(&stage);
    for (uint64_t i = 0; i < 20; ++i)
        add(&stage, "jit_step", i);
    reopen(&stage);
    for (uint64_t i = 0; i < 40; ++i)
        add(&stage, "jit_step", i);
    assert_int_equal(occurrences(stage.path, "\"component\":\"compile options\""), 1);
    assert_int_equal(occurrences(stage.path, "\"component\":\"program\""), 40);
    assert_int_equal(occurrences(stage.path, "{\"program\":"), 40);
    assert_int_equal(occurrences(stage.path, "{\"seen\":"), 20);
    remove_stage(&stage);
}

static void what_has_nothing_to_keep_writes_nothing(void **state) {
    (void)state;
    stage_t stage;
    make_stage(&stage);
    assert_ok(keel_history_keep(stage.history));
    assert_int_not_equal(access(stage.path, F_OK), 0);
    add(&stage, "jit_step", 1);
    size_t size = size_of(stage.path);
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, stage.path, long_ago, 0), 0);
    assert_ok(keel_history_keep(stage.history));
    struct stat facts;
    assert_int_equal(stat(stage.path, &facts), 0);
    assert_int_equal(facts.st_size, size);
    assert_int_equal(facts.st_mtime, 1000);
    remove_stage(&stage);
}

static void what_was_seen_again_is_newer_in_the_next_run(void **state) {
    (void)state;
    stage_t stage;
    made_t new;
    make_stage(&stage);
    make_record(&new, "jit_step", 9);
    add(&stage, "jit_step", 1);
    add(&stage, "jit_step", 2);
    reopen(&stage);
    add(&stage, "jit_step", 1);
    reopen(&stage);
    assert_nearest(&stage, &new, "jit_step", 1);
    free_record(&new);
    remove_stage(&stage);
}

static void strange_text_comes_back_as_it_was(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    make_record(&made, "jit_\"q\"\\ \t\n\x01 \xc3\xa9 \xf0\x9f\x90\x8d", 1);
    made.record.origin = "";
    set_component(&made.key, KEEL_COMPONENT_XLA_FLAGS, "xla_x=\x1b[31m\n\xff");
    assert_ok(keel_key_finish(&made.key));
    assert_ok(add_and_keep(stage.history, &made.record));
    reopen(&stage);
    keel_history_query_t query = query_of(&made);
    keel_history_record_t found;
    assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
    assert_string_equal(found.name, made.record.name);
    // No UTF-8, but the digest still tells that nothing moved.
    assert_string_equal(found.key->values[KEEL_COMPONENT_XLA_FLAGS],
                        "xla_x=\x1b[31m\n\xef\xbf\xbd");
    assert_memory_equal(found.key->components, made.key.components, sizeof made.key.components);
    free_record(&made);
    remove_stage(&stage);
}

static keel_status_t count_record(void *context, const keel_history_record_t *record) {
    assert_non_null(record->name);
    ++*(unsigned *)context;
    return NULL;
}

static unsigned records_in(const char *text, size_t size, uint64_t *damaged) {
    unsigned count = 0;
    assert_ok(keel_history_parse(keel_bytes(text, size), count_record, &count, damaged));
    return count;
}

// The file of a process that was killed, or of an editor: its last line need not end.
static void a_last_line_without_an_end_is_read(void **state) {
    (void)state;
    stage_t stage;
    uint8_t *bytes;
    size_t size;
    uint64_t damaged = 0;
    make_stage(&stage);
    add(&stage, "jit_step", 1);
    add(&stage, "jit_step", 2);
    assert_ok(keel_file_read(stage.path, 1 << 20, &bytes, &size));
    assert_int_equal(bytes[size - 1], '\n');
    assert_int_equal(records_in((const char *)bytes, size, &damaged), 2);
    assert_int_equal(records_in((const char *)bytes, size - 1, &damaged), 2);
    assert_int_equal(damaged, 0);
    assert_int_equal(records_in((const char *)bytes, size - 2, &damaged), 1);
    assert_int_equal(damaged, 1);
    keel_free(bytes);
    remove_stage(&stage);
}

// A number of a line that is damaged is none, whatever it begins with.
static void a_damaged_number_is_zero(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } rows[] = {{"0", 0},   {"9", 9},   {"1790", 1790}, {"12x", 0},
                {"1-2", 0}, {"1.5", 0}, {"-1", 0},      {"99999999999999999999", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char text[100];
        line_t line;
        int size = snprintf(text, sizeof text, "{\"n\":%s,\"s\":\"7\"}", rows[i].text);
        if (!line_read(text, (size_t)size, &line)) continue; // refused as a whole
        if (line_number(&line, "n") != rows[i].value) fail_msg("%s", rows[i].text);
        assert_int_equal(line_number(&line, "s"), 0);
        assert_int_equal(line_number(&line, "absent"), 0);
    }
}

static keel_status_t note_times(void *context, const keel_history_record_t *record) {
    double *times = context;
    times[0] = record->when;
    times[1] = record->seconds;
    return NULL;
}

// What no process writes is not a time.
static void a_time_beyond_every_clock_is_none(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } rows[] = {{"1152921504606846975", 1152921504606846975 / 1e6},
                {"1152921504606846976", 0},
                {"18446744073709551600", 0},
                {"1500000", 1.5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char text[1000], zeros[2 * KEEL_DIGEST_SIZE + 1], counts[4 * KEEL_SKETCH_BUCKETS + 1];
        double times[2] = {-1, -1};
        uint64_t damaged;
        memset(zeros, '0', sizeof zeros);
        memset(counts, '0', sizeof counts);
        zeros[sizeof zeros - 1] = counts[sizeof counts - 1] = 0;
        int size = snprintf(text, sizeof text,
                            "{\"program\":\"%s\",\"key\":\"%s\",\"signature\":\"%.16s\","
                            "\"names\":\"%.16s\",\"counts\":\"%s\",\"when_us\":%s,\"took_us\":%s}",
                            zeros, zeros, zeros, zeros, counts, rows[i].text, rows[i].text);
        assert_ok(keel_history_parse(keel_bytes(text, (size_t)size), note_times, times, &damaged));
        assert_int_equal(damaged, 0);
        assert_true(times[0] == rows[i].seconds && times[1] == rows[i].seconds);
    }
}

// A time that nobody knows is written as 0.
static void only_times_that_can_be_are_written(void **state) {
    (void)state;
    static const struct {
        double when, seconds;
        const char *text;
    } rows[] = {{5, 0.25, "\"when_us\":5000000,\"took_us\":250000"},
                {0, 0, "\"when_us\":0,\"took_us\":0"},
                {-1, 1e12, "\"when_us\":0,\"took_us\":0"},
                {9e11, 0.0000006, "\"when_us\":900000000000000000,\"took_us\":1"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        stage_t stage;
        made_t made;
        make_stage(&stage);
        make_record(&made, "jit_step", 1);
        made.record.when = rows[i].when;
        made.record.seconds = rows[i].seconds;
        assert_ok(add_and_keep(stage.history, &made.record));
        if (occurrences(stage.path, rows[i].text) != 1) fail_msg("%s", rows[i].text);
        free_record(&made);
        remove_stage(&stage);
    }
}

// A value whose parts do not belong together is damage; each part is tried.
static void a_value_is_believed_only_whole(void **state) {
    (void)state;
    keel_digest_t digest = digest_of("value", 1);
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(&digest, hex);
    uint64_t id = value_id(KEEL_COMPONENT_XLA_FLAGS, &digest);
    static const char form[] = "{\"value\":\"%016llx\",\"component\":\"%s\",\"digest\":\"%.*s\"}";
    const struct {
        uint64_t id;
        const char *component;
        int digits;
        uint64_t damaged;
    } rows[] = {{id, "XLA_FLAGS", 64, 0},
                {id + 1, "XLA_FLAGS", 64, 1},
                {id, "XLA_FLAG", 64, 1},
                {id, "XLA_FLAGS", 63, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char text[400];
        uint64_t damaged;
        int size = snprintf(text, sizeof text, form, (unsigned long long)rows[i].id,
                            rows[i].component, rows[i].digits, hex);
        assert_int_equal(records_in(text, (size_t)size, &damaged), 0);
        if (damaged != rows[i].damaged) fail_msg("%s", text);
    }
}

static void damaged_lines_are_passed_over(void **state) {
    (void)state;
    stage_t stage;
    make_stage(&stage);
    add(&stage, "jit_a", 1);
    add(&stage, "jit_b", 2);
    uint8_t *bytes;
    size_t size;
    assert_ok(keel_file_read(stage.path, 1 << 20, &bytes, &size));
    uint64_t damaged;
    assert_int_equal(records_in((char *)bytes, size, &damaged), 2);
    assert_int_equal(damaged, 0);
    static const char *const bad[] = {"x",
                                      "{}",
                                      "{\"program\":1}",
                                      "[1]",
                                      "{\"seen\":\"12\"}",
                                      "{\"value\":\"0011223344556677\"}",
                                      "{\"program\":\"",
                                      "{\"a\":\"\\ud800\"}",
                                      "{\"a\":\"\\u0000\"}",
                                      "{\"a\":{\"b\":1}}",
                                      "{\"seen\":\"0011223344556677\"} x"};
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    size_t count = sizeof bad / sizeof *bad;
    for (size_t i = 0; i < count; ++i)
        keel_buffer_format(&text, "%s\n\n", bad[i]);
    keel_buffer_append(&text, bytes, size);
    assert_int_equal(records_in((char *)text.data, text.size, &damaged), 2);
    assert_int_equal(damaged, count);
    // Cut anywhere, nothing that is whole is lost.
    for (size_t cut = 0; cut < size; ++cut) {
        unsigned whole = records_in((char *)bytes, cut, &damaged);
        assert_true(whole <= 2 && damaged <= 1);
    }
    keel_buffer_deinitialize(&text);
    keel_free(bytes);
    remove_stage(&stage);
}

static void a_value_that_is_gone_is_not_known(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    make_record(&made, "jit_step", 1);
    assert_ok(add_and_keep(stage.history, &made.record));
    uint8_t *bytes;
    size_t size;
    assert_ok(keel_file_read(stage.path, 1 << 20, &bytes, &size));
    char *line = memmem(bytes, size, "\"component\":\"XLA_FLAGS\"", 23);
    assert_non_null(line);
    line[14] = 'Y';
    write_bytes(stage.path, bytes, size);
    reopen(&stage);
    keel_history_query_t query = query_of(&made);
    keel_history_record_t found;
    assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
    keel_digest_t none = {0};
    assert_memory_equal(&found.key->components[KEEL_COMPONENT_XLA_FLAGS], &none, sizeof none);
    assert_string_equal(found.key->values[KEEL_COMPONENT_XLA_FLAGS], "");
    keel_free(bytes);
    free_record(&made);
    remove_stage(&stage);
}

static void several_processes_append_to_one_file(void **state) {
    (void)state;
    enum { PROCESSES = 4, EACH = 50 };
    stage_t stage;
    make_stage(&stage);
    for (int p = 0; p < PROCESSES; ++p) {
        if (fork() != 0) continue;
        keel_history_t *own;
        assert_ok(open_history(stage.folder, SCRIPT, "run-2", &own));
        for (uint64_t i = 0; i < EACH; ++i) {
            made_t made;
            make_record(&made, "jit_step", (uint64_t)p * EACH + i);
            assert_ok(add_and_keep(own, &made.record));
            free_record(&made);
        }
        _exit(0);
    }
    for (int p = 0, status; p < PROCESSES; ++p)
        assert_true(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    uint8_t *bytes;
    size_t size;
    uint64_t damaged;
    assert_ok(keel_file_read(stage.path, 1 << 24, &bytes, &size));
    assert_int_equal(records_in((char *)bytes, size, &damaged), PROCESSES * EACH);
    assert_int_equal(damaged, 0);
    keel_free(bytes);
    remove_stage(&stage);
}

static void add_of_run(stage_t *stage, uint64_t number, const char *run, double when) {
    made_t made;
    make_record(&made, "jit_step", number);
    made.record.run = run;
    made.record.when = when;
    assert_ok(add_and_keep(stage->history, &made.record));
    free_record(&made);
}

static void what_runs_at_the_same_time_is_of_no_earlier_run(void **state) {
    (void)state;
    double now = keel_seconds(keel_clock_wall());
    stage_t stage;
    made_t made;
    make_stage(&stage);
    make_record(&made, "jit_step", 7);
    add_of_run(&stage, 1, "run-9", 1700000000); // another process of this run
    add_of_run(&stage, 2, "run-8", now + 60);   // a run on another host
    reopen(&stage);
    assert_none(&stage, &made);
    add_of_run(&stage, 3, "run-8", 1700000000);
    reopen(&stage);
    assert_nearest(&stage, &made, "jit_step", 3);
    // That this run sees it again does not make it this run's.
    add_of_run(&stage, 3, "run-9", now + 60);
    reopen(&stage);
    keel_history_query_t query = query_of(&made);
    keel_history_record_t found;
    assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
    assert_string_equal(found.run, "run-8");
    assert_false(found.is_ours);
    free_record(&made);
    remove_stage(&stage);
}

// The kernel rounds the moment at which a process began to hundredths of a second.
static void what_ended_just_before_this_process_began_is_of_an_earlier_run(void **state) {
    (void)state;
    static const struct {
        double began, when;
        bool is_earlier;
    } rows[] = {{1700000000, 1699999999, true},
                {1700000000, 1700000000.005, true},
                {1700000000, 1700000000.02, false},
                {0, 1700000000, true}}; // nobody knows when it began
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        stage_t stage;
        made_t made;
        make_stage(&stage);
        add_of_run(&stage, 1, "run-8", rows[i].when);
        keel_history_close(stage.history);
        assert_ok(keel_history_open(stage.folder, SCRIPT, "run-9", rows[i].began, &stage.history));
        make_record(&made, "jit_step", 7);
        keel_digest_t found = nearest_to(&stage, &made), none = {0};
        if (keel_digest_equal(&found, &none) == rows[i].is_earlier) fail_msg("row %zu", i);
        free_record(&made);
        remove_stage(&stage);
    }
}

static void *add_and_look(void *argument) {
    stage_t *stage = argument;
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    for (uint64_t i = 0; i < 200; ++i) {
        made_t made;
        keel_history_record_t found;
        make_record(&made, "jit_step", i);
        keel_history_query_t query = query_of(&made);
        assert_ok(add_and_keep(stage->history, &made.record));
        assert_true(keel_history_nearest(stage->history, &query, &arena, &found));
        assert_string_equal(found.name, "jit_step");
        keel_sketch_t sketch;
        assert_true(
            keel_history_sketch(stage->history, &made.record.program, &made.key.digest, &sketch));
        assert_memory_equal(&sketch, &made.record.sketch, sizeof sketch);
        free_record(&made);
    }
    keel_arena_deinitialize(&arena);
    return NULL;
}

static void threads_may_add_and_look_at_once(void **state) {
    (void)state;
    stage_t stage;
    pthread_t threads[4];
    uint64_t damaged;
    uint8_t *bytes;
    size_t size;
    make_stage(&stage);
    for (int i = 0; i < 4; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, add_and_look, &stage), 0);
    for (int i = 0; i < 4; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_ok(keel_file_read(stage.path, 1 << 24, &bytes, &size));
    assert_int_equal(records_in((char *)bytes, size, &damaged), 200);
    assert_int_equal(damaged, 0);
    keel_free(bytes);
    remove_stage(&stage);
}

// ---- bounds ------------------------------------------------------------------------------------

static void memory_keeps_the_newest(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    keel_history_close(stage.history);
    assert_ok(open_history(NULL, SCRIPT, "run-1", &stage.history));
    for (uint64_t i = 0; i < KEEL_HISTORY_LIMIT + 10; ++i)
        add(&stage, i == 10 ? "jit_ten" : i == 9 ? "jit_nine" : "jit_step", i);
    make_record(&made, "jit_ten", 9999);
    made.record.sketch.names = 1;
    assert_nearest(&stage, &made, "jit_ten", 10);
    free_record(&made);
    make_record(&made, "jit_nine", 9999);
    made.record.sketch.names = 1;
    assert_none(&stage, &made);
    free_record(&made);
    assert_false(exists(stage.folder));
    remove_stage(&stage);
}

static void large_values_are_bounded_too(void **state) {
    (void)state;
    stage_t stage;
    make_stage(&stage);
    keel_history_close(stage.history);
    assert_ok(open_history(NULL, SCRIPT, "run-1", &stage.history));
    char value[4001];
    memset(value, 'x', 4000);
    value[4000] = 0;
    keel_memory_watch(1);
    for (uint64_t i = 0; i < 6000; ++i) {
        made_t made;
        make_record(&made, "jit_step", i);
        memcpy(value, &i, sizeof i);
        value[7] = 'x';
        for (int k = 0; k < 7; ++k)
            value[k] = (char)('a' + (i >> 4 * k) % 16);
        move_component(&made, KEEL_COMPONENT_OPTIONS, value);
        assert_ok(add_and_keep(stage.history, &made.record));
        free_record(&made);
    }
    assert_true(keel_memory_peak() < 20 << 20);
    keel_memory_watch(0);
    remove_stage(&stage);
}

static void a_file_that_outgrows_its_limit_keeps_the_newer_half(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    size_t largest = 0, smallest = SIZE_MAX;
    for (uint64_t i = 0; i < 9000; ++i) {
        add(&stage, "jit_step", i);
        size_t size = size_of(stage.path);
        if (size > largest) largest = size;
        if (i > 6000 && size < smallest) smallest = size;
    }
    assert_true(largest < KEEL_HISTORY_FILE_LIMIT + 16384);
    assert_true(largest > KEEL_HISTORY_FILE_LIMIT - 16384 || smallest < SIZE_MAX);
    assert_true(smallest < KEEL_HISTORY_FILE_LIMIT * 5 / 8);
    assert_int_equal(count_below(stage.folder, ".tmp."), 0);
    // What follows in a file that this process has written anew knows what is there.
    assert_int_equal(occurrences(stage.path, "\"component\":\"compile options\""), 1);
    reopen(&stage);
    make_record(&made, "jit_step", 99999);
    assert_nearest(&stage, &made, "jit_step", 8999);
    keel_history_query_t query = query_of(&made);
    keel_history_record_t found;
    assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
    assert_memory_equal(found.key->values[KEEL_COMPONENT_OPTIONS], "num_replicas=1", 14);
    free_record(&made);
    remove_stage(&stage);
}

// Whoever's file was replaced writes its values anew.
static void another_process_may_replace_the_file(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    add(&stage, "jit_step", 1);
    assert_ok(keel_file_replace(stage.path, keel_bytes("", 0)));
    add(&stage, "jit_step", 2);
    assert_ok(keel_file_remove(stage.path));
    add(&stage, "jit_step", 3);
    reopen(&stage);
    make_record(&made, "jit_step", 3);
    keel_history_query_t query = query_of(&made);
    keel_history_record_t found;
    assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
    assert_memory_equal(found.key->components, made.key.components, sizeof made.key.components);
    free_record(&made);
    remove_stage(&stage);
}

// So that the next run knows every component of what came after that.
static void what_follows_in_a_replaced_file_has_its_values_there(void **state) {
    (void)state;
    for (int shorter = 0; shorter < 2; ++shorter) {
        stage_t stage;
        made_t made;
        make_stage(&stage);
        add(&stage, "jit_step", 1);
        if (shorter)
            assert_int_equal(truncate(stage.path, 0), 0);
        else
            assert_ok(keel_file_replace(stage.path, keel_bytes("", 0)));
        add(&stage, "jit_step", 2);
        reopen(&stage);
        make_record(&made, "jit_step", 2);
        keel_history_query_t query = query_of(&made);
        keel_history_record_t found;
        assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
        assert_memory_equal(found.key->components, made.key.components, sizeof made.key.components);
        free_record(&made);
        remove_stage(&stage);
    }
}

static void a_file_that_cannot_be_read_costs_the_memory_of_earlier_runs(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    assert_ok(keel_directory_make(stage.path));
    make_record(&made, "jit_step", 1);
    assert_none(&stage, &made);
    keel_status_t status = add_and_keep(stage.history, &made.record);
    assert_non_null(status);
    assert_non_null(strstr(keel_status_message(status), stage.path));
    keel_status_ignore(status);
    assert_nearest(&stage, &made, "jit_step", 1);
    free_record(&made);
    remove_stage(&stage);
}

static void a_script_is_no_path(void **state) {
    (void)state;
    keel_history_t *history;
    assert_code(open_history("/tmp", "../x", "run", &history), KEEL_INVALID);
    assert_null(history);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_stand_in_a_file_once),
        cmocka_unit_test(what_has_nothing_to_keep_writes_nothing),
        cmocka_unit_test(what_was_seen_again_is_newer_in_the_next_run),
        cmocka_unit_test(strange_text_comes_back_as_it_was),
        cmocka_unit_test(a_last_line_without_an_end_is_read),
        cmocka_unit_test(a_damaged_number_is_zero),
        cmocka_unit_test(a_time_beyond_every_clock_is_none),
        cmocka_unit_test(only_times_that_can_be_are_written),
        cmocka_unit_test(a_value_is_believed_only_whole),
        cmocka_unit_test(damaged_lines_are_passed_over),
        cmocka_unit_test(a_value_that_is_gone_is_not_known),
        cmocka_unit_test(several_processes_append_to_one_file),
        cmocka_unit_test(what_runs_at_the_same_time_is_of_no_earlier_run),
        cmocka_unit_test(what_ended_just_before_this_process_began_is_of_an_earlier_run),
        cmocka_unit_test(threads_may_add_and_look_at_once),
        cmocka_unit_test(memory_keeps_the_newest),
        cmocka_unit_test(large_values_are_bounded_too),
        cmocka_unit_test(a_file_that_outgrows_its_limit_keeps_the_newer_half),
        cmocka_unit_test(another_process_may_replace_the_file),
        cmocka_unit_test(what_follows_in_a_replaced_file_has_its_values_there),
        cmocka_unit_test(a_file_that_cannot_be_read_costs_the_memory_of_earlier_runs),
        cmocka_unit_test(a_script_is_no_path),
    };
    return cmocka_run_group_tests_name("history_file", tests, NULL, NULL);
}
