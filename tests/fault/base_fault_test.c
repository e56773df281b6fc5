// Each file operation of base, and each of its allocations, fails once or kills the process: whole
// files stay whole, appended lines stay lines, nothing stays open and no file is left over.
#define _GNU_SOURCE
#include "place.h"

#include <signal.h>
#include <sys/wait.h>

static const char old_text[] = "old\n";
static const char new_text[] = "new and longer\n";

typedef struct case_t {
    place_t place;
    char path[400];
} case_t;

static void case_make(case_t *c) {
    place_make(&c->place);
    snprintf(c->path, sizeof c->path, "%s/file", c->place.root);
    write_bytes(c->path, old_text, sizeof old_text - 1);
}

static unsigned open_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;
    while (folder && readdir(folder))
        ++count;
    if (folder) closedir(folder);
    return count;
}

// ---- the operations ----------------------------------------------------------------------------

static keel_status_t replace(const case_t *c) {
    return keel_file_replace(c->path, keel_bytes(new_text, sizeof new_text - 1));
}

static keel_status_t append(const case_t *c) {
    return keel_file_append(c->path, keel_bytes(new_text, sizeof new_text - 1));
}

static keel_status_t create(const case_t *c) {
    char path[500];
    snprintf(path, sizeof path, "%s.new", c->path);
    return keel_file_create(path, keel_bytes(new_text, sizeof new_text - 1));
}

static keel_status_t read_file(const case_t *c) {
    uint8_t *data;
    size_t size;
    KEEL_TRY(keel_file_read(c->path, 1000, &data, &size));
    keel_free(data);
    uint8_t head[4];
    keel_file_facts_t facts;
    KEEL_TRY(keel_file_read_head(c->path, head, sizeof head, &size, &facts));
    KEEL_TRY(keel_file_read_from(c->path, 1, 2, &data, &size));
    keel_free(data);
    keel_bytes_t mapping;
    KEEL_TRY(keel_file_map(c->path, &mapping));
    keel_file_unmap(mapping);
    return keel_file_touch(c->path);
}

static keel_status_t rename_and_remove(const case_t *c) {
    char path[500];
    snprintf(path, sizeof path, "%s.new", c->path);
    KEEL_TRY(keel_file_create(path, keel_bytes(new_text, sizeof new_text - 1)));
    KEEL_TRY(keel_file_rename(path, c->place.cache));
    return keel_file_remove(c->place.cache);
}

static keel_status_t make_folders(const case_t *c) {
    char path[500];
    snprintf(path, sizeof path, "%s/a/b/c", c->place.root);
    KEEL_TRY(keel_directory_make(path));
    return keel_directory_remove(path);
}

static keel_status_t make_link(const case_t *c) {
    char path[500];
    snprintf(path, sizeof path, "%s.link", c->path);
    KEEL_TRY(keel_link_make(c->path, path));
    return keel_file_remove(path);
}

static keel_status_t nothing(void *context, const char *name) {
    (void)context;
    (void)name;
    return NULL;
}

static keel_status_t walk(const case_t *c) {
    return keel_directory_walk(c->place.root, nothing, NULL);
}

static keel_status_t lock(const case_t *c) {
    char path[500];
    snprintf(path, sizeof path, "%s.lock", c->path);
    keel_lock_t held;
    KEEL_TRY(keel_lock_take(path, &held));
    keel_status_t status = keel_lock_describe(&held, keel_bytes("me", 2));
    keel_lock_remove(&held, path);
    return status;
}

#define OPERATIONS(X)                                                                              \
    X(replace)                                                                                     \
    X(append)                                                                                      \
    X(create) X(read_file) X(make_folders) X(make_link) X(rename_and_remove) X(walk) X(lock)

// ---- what must hold ----------------------------------------------------------------------------

static bool is_line(const char *text, const char *line, size_t size) {
    return size == strlen(line) && memcmp(text, line, size) == 0;
}

// The file is the old or the new one, or the old one with the new line or nothing behind it.
static void check_file(const case_t *c) {
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(c->path, 1000, &data, &size));
    const char *text = (const char *)data;
    bool old = size >= 4 && is_line(text, old_text, 4);
    assert_true(old ? size == 4 || is_line(text + 4, new_text, size - 4)
                    : is_line(text, new_text, size));
    keel_free(data);
}

static void fail_each(keel_status_t (*operation)(const case_t *c), keel_fault_kind_t kind) {
    for (uint64_t nth = 1;; ++nth) {
        case_t c;
        case_make(&c);
        unsigned before = open_files();
        keel_fault_arm(kind, nth);
        keel_status_t status = operation(&c);
        bool reached = keel_fault_count(kind) >= nth;
        keel_fault_arm(kind, 0);
        // No failure is kept from the caller, but that a lock's file stays is nobody's loss.
        if (operation != lock) assert_int_equal(status != NULL, reached);
        if (!reached) assert_ok(status);
        if (status) assert_true(*keel_status_message(status) != 0);
        keel_status_ignore(status);
        assert_int_equal(open_files(), before);
        assert_int_equal(count_below(c.place.root, ".tmp."), 0);
        check_file(&c);
        assert_ok(replace(&c));
        assert_ok(lock(&c));
        place_remove(&c.place);
        if (!reached) return;
    }
}

static void each_file_operation_may_fail(void **state) {
    (void)state;
#define FAIL_FILE(name) fail_each(name, KEEL_FAULT_FILE);
    OPERATIONS(FAIL_FILE)
}

static void each_allocation_may_fail(void **state) {
    (void)state;
#define FAIL_ALLOC(name) fail_each(name, KEEL_FAULT_ALLOC);
    OPERATIONS(FAIL_ALLOC)
}

static bool run_until_killed(keel_status_t (*operation)(const case_t *), const case_t *c,
                             uint64_t nth) {
    pid_t child = fork();
    if (child == 0) {
        keel_fault_kill(true);
        keel_fault_arm(KEEL_FAULT_FILE, nth);
        keel_status_ignore(operation(c));
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status);
}

static void kill_at_each(keel_status_t (*operation)(const case_t *c)) {
    bool killed = true;
    for (uint64_t nth = 1; killed; ++nth) {
        case_t c;
        case_make(&c);
        killed = run_until_killed(operation, &c, nth);
        check_file(&c);
        assert_ok(replace(&c));
        assert_ok(lock(&c));
        place_remove(&c.place);
    }
}

static void a_process_may_be_killed_at_each_file_operation(void **state) {
    (void)state;
#define KILL(name) kill_at_each(name);
    OPERATIONS(KILL)
}

static void a_process_that_cannot_see_when_it_began_began_now(void **state) {
    (void)state;
    keel_fault_arm(KEEL_FAULT_FILE, 1);
    assert_true(keel_process_seconds() == 0);
    keel_fault_arm(KEEL_FAULT_FILE, 1);
    double ago = keel_seconds(keel_clock_wall()) - keel_process_began();
    keel_fault_arm(KEEL_FAULT_FILE, 0);
    assert_true(ago > -0.5 && ago < 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_operation_may_fail),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(a_process_may_be_killed_at_each_file_operation),
        cmocka_unit_test(a_process_that_cannot_see_when_it_began_began_now),
    };
    return cmocka_run_group_tests_name("base faults", tests, NULL, NULL);
}
