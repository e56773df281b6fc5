// Each allocation and each file operation of a history fails once, and the process is killed at
// each file operation once. The status is clean, there are no false records, the file keeps what it
// had, and everything works again afterwards.
#define _GNU_SOURCE
#include "history_help.h"

#include <signal.h>
#include <sys/wait.h>

static const char SCRIPT[] = "train.py-0011223344556677";

enum { BEFORE = 3, NEW = 99 };

typedef struct stage_t {
    place_t place;
    char folder[320], path[400];
    made_t made; // what is added or looked for, made before anything fails
    unsigned before;
} stage_t;

static void add_to(const char *folder, const made_t *made) {
    keel_history_t *history;
    assert_ok(open_history(folder, SCRIPT, "run-0", &history));
    assert_ok(add_and_keep(history, &made->record));
    keel_history_close(history);
}

// A line that means nothing and brings the file near its limit.
static void pad(const stage_t *stage) {
    static const char head[] = "{\"seen\":\"0000000000000000\",\"padding\":\"", tail[] = "\"}\n";
    FILE *file = fopen(stage->path, "ab");
    assert_non_null(file);
    char *text = malloc(KEEL_HISTORY_FILE_LIMIT);
    memset(text, ' ', KEEL_HISTORY_FILE_LIMIT);
    fputs(head, file);
    fwrite(text, 1, (size_t)KEEL_HISTORY_FILE_LIMIT - (size_t)ftell(file) - 100, file);
    fputs(tail, file);
    fclose(file);
    free(text);
}

// A file of so many records, written once and copied from then on.
static void put_file(const stage_t *stage, bool large) {
    static struct {
        uint8_t *bytes;
        size_t size;
    } files[2];
    if (!files[large].bytes) {
        for (unsigned i = 0; i < stage->before; ++i) {
            made_t made;
            make_record(&made, "jit_step", i);
            add_to(stage->folder, &made);
            free_record(&made);
        }
        if (large) pad(stage);
        assert_ok(keel_file_read(stage->path, 1 << 24, &files[large].bytes, &files[large].size));
    }
    assert_ok(keel_directory_make(stage->folder));
    write_bytes(stage->path, files[large].bytes, files[large].size);
}

static void make_stage(stage_t *stage, unsigned before, bool large) {
    if (access("/dev/shm", W_OK) == 0)
        place_make_in(&stage->place, "/dev/shm");
    else
        place_make(&stage->place);
    snprintf(stage->folder, sizeof stage->folder, "%s/runs/history", stage->place.root);
    snprintf(stage->path, sizeof stage->path, "%s/%s.ndjson", stage->folder, SCRIPT);
    stage->before = before;
    if (before) put_file(stage, large);
    make_record(&stage->made, "jit_step", NEW);
}

static void remove_stage(stage_t *stage) {
    free_record(&stage->made);
    place_remove(&stage->place);
}

// ---- the operations ----------------------------------------------------------------------------

static keel_status_t wrong(const char *what) {
    return keel_status_make(KEEL_INTERNAL, "wrong: %s", what);
}

typedef keel_status_t (*operation_t)(const stage_t *stage, keel_history_t *history);

static keel_status_t add(const stage_t *stage, keel_history_t *history) {
    return add_and_keep(history, &stage->made.record);
}

static keel_status_t add_twice(const stage_t *stage, keel_history_t *history) {
    KEEL_TRY(add(stage, history));
    return add(stage, history);
}

static keel_status_t look(const stage_t *stage, keel_history_t *history) {
    keel_history_query_t query = query_of(&stage->made);
    keel_history_record_t found;
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    keel_status_t status = NULL;
    if (keel_history_nearest(history, &query, &arena, &found) && strcmp(found.name, "jit_step"))
        status = wrong("a nearest record's name");
    keel_arena_deinitialize(&arena);
    return status;
}

static keel_status_t run(const stage_t *stage, operation_t operation) {
    keel_history_t *history;
    KEEL_TRY(open_history(stage->folder, SCRIPT, "run-1", &history));
    keel_status_t status = operation(stage, history);
    keel_history_close(history);
    return status;
}

// ---- what must hold afterwards -----------------------------------------------------------------

static keel_status_t count(void *context, const keel_history_record_t *record) {
    if (strcmp(record->name, "jit_step")) return wrong("a record's name");
    ++*(unsigned *)context;
    return NULL;
}

static unsigned records_of(const stage_t *stage) {
    unsigned records = 0;
    uint64_t damaged;
    uint8_t *bytes;
    size_t size;
    if (!exists(stage->path)) return 0;
    assert_ok(keel_file_read(stage->path, 1 << 24, &bytes, &size));
    assert_ok(keel_history_parse(keel_bytes(bytes, size), count, &records, &damaged));
    keel_free(bytes);
    // A write that was cut short is one line; nothing else is ever damaged.
    assert_true(damaged <= 1);
    return records;
}

static void check_stage(const stage_t *stage) {
    unsigned records = records_of(stage);
    assert_true(records == stage->before || records == stage->before + 1);
    add_to(stage->folder, &stage->made);
    assert_int_equal(records_of(stage), stage->before + 1);
}

static void check_status(keel_status_t status, const char *what, uint64_t nth) {
    if (keel_status_code(status) == KEEL_INTERNAL || (status && !*keel_status_message(status)))
        fail_msg("%s, failure %llu: %s", what, (unsigned long long)nth,
                 keel_status_message(status));
    keel_status_ignore(status);
}

// ---- failing and killing -----------------------------------------------------------------------

static void fail_each(operation_t operation, const char *what, keel_fault_kind_t kind,
                      unsigned before, bool large) {
    for (uint64_t nth = 1;; ++nth) {
        stage_t stage;
        make_stage(&stage, before, large);
        keel_fault_arm(kind, nth);
        keel_status_t status = run(&stage, operation);
        bool reached = keel_fault_count(kind) >= nth;
        keel_fault_arm(kind, 0);
        if (!reached)
            assert_ok(status);
        else
            check_status(status, what, nth);
        check_stage(&stage);
        remove_stage(&stage);
        if (reached) continue;
        print_message("  %s: %llu\n", what, (unsigned long long)nth - 1);
        return;
    }
}

#define OPERATIONS(X) X(add) X(add_twice) X(look)

static void each_allocation_may_fail(void **state) {
    (void)state;
#define FAIL_ALLOCATION(name)                                                                      \
    fail_each(name, #name, KEEL_FAULT_ALLOC, 0, false);                                            \
    fail_each(name, #name, KEEL_FAULT_ALLOC, BEFORE, false);
    OPERATIONS(FAIL_ALLOCATION)
}

static void each_file_operation_may_fail(void **state) {
    (void)state;
#define FAIL_FILE(name)                                                                            \
    fail_each(name, #name, KEEL_FAULT_FILE, 0, false);                                             \
    fail_each(name, #name, KEEL_FAULT_FILE, BEFORE, false);
    OPERATIONS(FAIL_FILE)
}

static void each_step_of_a_rewrite_may_fail(void **state) {
    (void)state;
    fail_each(add, "rewrite, allocations", KEEL_FAULT_ALLOC, BEFORE, true);
    fail_each(add, "rewrite, files", KEEL_FAULT_FILE, BEFORE, true);
}

static bool run_until_killed(const stage_t *stage, operation_t operation, uint64_t nth) {
    pid_t child = fork();
    if (child == 0) {
        keel_fault_kill(true);
        keel_fault_arm(KEEL_FAULT_FILE, nth);
        keel_status_ignore(run(stage, operation));
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return false;
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return true;
}

static void kill_at_each(operation_t operation, unsigned before, bool large) {
    uint64_t kills = 0;
    for (uint64_t nth = 1;; ++nth, ++kills) {
        stage_t stage;
        make_stage(&stage, before, large);
        bool killed = run_until_killed(&stage, operation, nth);
        check_stage(&stage);
        remove_stage(&stage);
        if (!killed) break;
    }
    assert_true(kills > 3);
}

static void a_process_may_be_killed_at_each_file_operation(void **state) {
    (void)state;
    kill_at_each(add, 0, false);
    kill_at_each(add_twice, BEFORE, false);
    kill_at_each(add, BEFORE, true);
}

// The record stands in memory all the same.
static void what_could_not_be_written_is_known_to_this_process(void **state) {
    (void)state;
    unsigned refused = 0;
    for (uint64_t nth = 1; nth < 30; ++nth) {
        stage_t stage;
        keel_history_t *history;
        keel_history_record_t found;
        keel_arena_t arena;
        make_stage(&stage, BEFORE, false);
        assert_ok(open_history(stage.folder, SCRIPT, "run-1", &history));
        keel_fault_arm(KEEL_FAULT_FILE, nth);
        keel_status_t status = add(&stage, history);
        keel_fault_arm(KEEL_FAULT_FILE, 0);
        refused += status != NULL;
        keel_status_ignore(status);
        keel_arena_initialize(&arena, 0);
        keel_history_query_t query = query_of(&stage.made);
        assert_true(keel_history_nearest(history, &query, &arena, &found));
        assert_true(found.is_ours);
        assert_memory_equal(&found.program, &stage.made.record.program, sizeof found.program);
        keel_arena_deinitialize(&arena);
        keel_history_close(history);
        remove_stage(&stage);
    }
    assert_true(refused >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(each_file_operation_may_fail),
        cmocka_unit_test(each_step_of_a_rewrite_may_fail),
        cmocka_unit_test(a_process_may_be_killed_at_each_file_operation),
        cmocka_unit_test(what_could_not_be_written_is_known_to_this_process),
    };
    return cmocka_run_group_tests_name("history faults", tests, NULL, NULL);
}
