// Each allocation and each file operation of the store fails once, and the process is killed at
// each file operation once. The status is clean, every entry is in its old or its new state, no
// file is left over, and everything works again afterwards.
#define _GNU_SOURCE
#include "store/plan.h"
#include "store_help.h"

#include <signal.h>
#include <sys/wait.h>

typedef struct stage_t {
    place_t place;
    keel_tier_t tier;
} stage_t;

enum { SEEDS = 4, SIZE = 300 };

// Before each run: entries 0 to 3 in version 0, entry 3 damaged, a mark left on entry 2, and a plan
// of one program.
static void put_version(const keel_tier_t *tier, uint64_t seed, uint64_t version) {
    fixture_t f = fixture_make(seed, version, SIZE, false);
    assert_ok(tier->put(tier->context, &f.entry));
    fixture_free(&f);
}

static void leave_mark(const place_t *place) {
    keel_digest_t key = key_of(2);
    char hex[KEEL_DIGEST_HEX], path[600];
    keel_digest_hex(&key, hex);
    snprintf(path, sizeof path, "%s/marks", place->cache);
    assert_ok(keel_directory_make(path));
    snprintf(path, sizeof path, "%s/marks/1.2.3.mark", place->cache);
    write_bytes(path, hex, strlen(hex));
}

static keel_plan_t plan_of(size_t count) {
    keel_plan_t plan = {0};
    for (size_t i = 0; i < count; ++i)
        keel_plan_add(&plan, &(keel_planned_t){.program = key_of(i),
                                               .options = key_of(100),
                                               .assignment = key_of(200)});
    return plan;
}

static void stage_make(stage_t *stage, keel_status_t (*open)(const place_t *, keel_tier_t *)) {
    // Some thousand stages: in memory where that can be had.
    if (access("/dev/shm", W_OK) == 0)
        place_make_in(&stage->place, "/dev/shm");
    else
        place_make(&stage->place);
    assert_ok(open(&stage->place, &stage->tier));
    for (uint64_t seed = 0; seed < SEEDS; ++seed)
        put_version(&stage->tier, seed, 0);
    if (strcmp(stage->tier.name, "disk")) return;
    keel_digest_t key = key_of(3);
    char path[512];
    entry_path_of(&stage->place, &key, path);
    write_bytes(path, "damaged", 7);
    leave_mark(&stage->place);
    keel_plan_t plan = plan_of(1);
    assert_ok(keel_plan_write(stage->place.cache, "train.py", &plan));
}

static void stage_remove(stage_t *stage) {
    stage->tier.close(stage->tier.context);
    place_remove(&stage->place);
}

static keel_status_t open_memory(const place_t *place, keel_tier_t *out) {
    (void)place;
    return keel_store_memory(1 << 20, out);
}

static keel_status_t open_disk(const place_t *place, keel_tier_t *out) {
    return keel_store_disk(place->cache, 1 << 20, false, out);
}

// ---- the operations ----------------------------------------------------------------------------

// Each gives the status of what it did; a wrong answer is KEEL_INTERNAL.
typedef keel_status_t (*operation_t)(const stage_t *stage);

static keel_status_t wrong(const char *what) {
    return keel_status_make(KEEL_INTERNAL, "wrong: %s", what);
}

static keel_status_t put(const stage_t *stage, uint64_t seed) {
    fixture_t f = fixture_make(seed, 1, SIZE, false);
    keel_status_t status = stage->tier.put(stage->tier.context, &f.entry);
    fixture_free(&f);
    return status;
}

static keel_status_t put_new(const stage_t *stage) {
    return put(stage, 9);
}

static keel_status_t put_over_old(const stage_t *stage) {
    return put(stage, 1);
}

static bool is_version(const keel_entry_t *entry, uint64_t seed, uint64_t version) {
    fixture_t f = fixture_make(seed, version, SIZE, false);
    bool same = entry->payload_size == SIZE && memcmp(entry->payload, f.payload, SIZE) == 0 &&
                keel_digest_equal(&entry->key, &f.entry.key);
    fixture_free(&f);
    return same;
}

static keel_status_t get(const stage_t *stage, uint64_t seed, uint64_t version) {
    keel_digest_t key = key_of(seed);
    keel_entry_t entry;
    keel_miss_t miss;
    KEEL_TRY(stage->tier.get(stage->tier.context, &key, &entry, &miss));
    bool right = is_version(&entry, seed, version);
    keel_entry_deinitialize(&entry);
    return right ? NULL : wrong("another entry came back");
}

static keel_status_t get_good(const stage_t *stage) {
    KEEL_TRY(get(stage, 0, 0));
    keel_digest_t key = key_of(0);
    char path[512];
    entry_path_of(&stage->place, &key, path);
    if (exists(path)) set_age(path, 7200);
    return get(stage, 0, 0);
}

static keel_status_t get_damaged(const stage_t *stage) {
    keel_status_t status = get(stage, 3, 0);
    if (!status) return strcmp(stage->tier.name, "disk") ? NULL : wrong("damage came back");
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t get_absent(const stage_t *stage) {
    keel_status_t status = get(stage, 77, 0);
    if (!status) return wrong("something came out of nothing");
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    return NULL;
}

static keel_status_t remove_one(const stage_t *stage) {
    keel_digest_t key = key_of(1);
    return stage->tier.remove(stage->tier.context, &key);
}

static keel_status_t look(void *visitor, const keel_entry_t *entry, uint64_t stored_bytes,
                          uint64_t last_used) {
    (void)stored_bytes;
    (void)last_used;
    ++*(unsigned *)visitor;
    return strcmp(entry->name, "jit_step") ? wrong("a listing's name") : NULL;
}

static keel_status_t list(const stage_t *stage) {
    unsigned count = 0;
    return stage->tier.list(stage->tier.context, look, &count);
}

static keel_status_t claim(const stage_t *stage) {
    keel_digest_t key = key_of(1);
    keel_claim_t held;
    KEEL_TRY(claim_as(&stage->place, &key, "me", &held));
    keel_claim_release(&held);
    return NULL;
}

static keel_status_t mark(const stage_t *stage) {
    keel_digest_t key = key_of(1);
    keel_mark_t left;
    KEEL_TRY(keel_store_mark(stage->place.cache, &key, &left));
    keel_store_unmark(&left);
    return NULL;
}

static keel_status_t sweep(const stage_t *stage) {
    return keel_store_sweep_marks(stage->place.cache, NULL, NULL);
}

static keel_status_t quarantine(const stage_t *stage) {
    keel_digest_t key = key_of(1);
    return keel_store_quarantine(stage->place.cache, &key, "refused");
}

static keel_status_t prune(const stage_t *stage) {
    uint64_t removed, bytes;
    return keel_store_disk_prune(stage->place.cache, 1200, &removed, &bytes);
}

static keel_status_t evict_at_put(const stage_t *stage) {
    keel_tier_t small;
    KEEL_TRY(keel_store_disk(stage->place.cache, 1500, false, &small));
    fixture_t f = fixture_make(1, 1, SIZE, false);
    keel_status_t status = small.put(small.context, &f.entry);
    fixture_free(&f);
    small.close(small.context);
    return status;
}

static void note_bad(void *context, const char *path, const char *why) {
    (void)path;
    (void)why;
    ++*(unsigned *)context;
}

static keel_status_t examine(const stage_t *stage) {
    keel_disk_facts_t facts;
    unsigned bad = 0;
    uint64_t good;
    KEEL_TRY(keel_store_disk_facts(stage->place.cache, &facts));
    return keel_store_disk_verify(stage->place.cache, note_bad, &bad, &good);
}

static keel_status_t clear(const stage_t *stage) {
    uint64_t removed;
    return keel_store_disk_clear(stage->place.cache, &removed);
}

static keel_status_t plan_read(const stage_t *stage) {
    keel_plan_t plan, before = plan_of(1);
    KEEL_TRY(keel_plan_read(stage->place.cache, "train.py", &plan));
    return keel_plan_equal(&plan, &before) ? NULL : wrong("another plan came back");
}

static keel_status_t plan_write(const stage_t *stage) {
    keel_plan_t plan = plan_of(3);
    return keel_plan_write(stage->place.cache, "train.py", &plan);
}

static keel_status_t plan_write_first(const stage_t *stage) {
    keel_plan_t plan = plan_of(3);
    KEEL_TRY(keel_plans_remove(stage->place.cache, 0));
    return keel_plan_write(stage->place.cache, "train.py", &plan);
}

static keel_status_t open_and_close(const stage_t *stage) {
    keel_tier_t disk, memory;
    KEEL_TRY(keel_store_disk(stage->place.cache, 0, false, &disk));
    disk.close(disk.context);
    KEEL_TRY(keel_store_memory(1000, &memory));
    memory.close(memory.context);
    return NULL;
}

#define TIER_OPERATIONS(X)                                                                         \
    X(put_new) X(put_over_old) X(get_good) X(get_damaged) X(get_absent) X(remove_one) X(list)
static keel_status_t plan_keep(const stage_t *stage) {
    keel_plan_t plan = plan_of(3);
    KEEL_TRY(keel_plan_keep(stage->place.cache, "train.py", &plan));
    KEEL_TRY(keel_plan_remove(stage->place.cache, "train.py"));
    return keel_plan_keep(stage->place.cache, "train.py", &plan);
}

static keel_status_t mark_ahead(const stage_t *stage) {
    keel_mark_t left;
    KEEL_TRY(keel_store_mark_ahead(stage->place.cache, "train.py", &left));
    keel_store_unmark(&left);
    return NULL;
}

#define PLAN_OPERATIONS(X) X(plan_read) X(plan_write) X(plan_write_first) X(plan_keep) X(mark_ahead)
#define DISK_OPERATIONS(X)                                                                         \
    X(claim)                                                                                       \
    X(mark)                                                                                        \
    X(sweep)                                                                                       \
    X(quarantine) X(prune) X(evict_at_put) X(examine) X(clear) X(open_and_close) PLAN_OPERATIONS(X)

// ---- what must hold afterwards -----------------------------------------------------------------

static int age_one(const char *path, const struct stat *s, int kind, struct FTW *ftw) {
    (void)s;
    if (kind == FTW_F && strncmp(path + ftw->base, ".tmp.", 5) == 0) set_age(path, 7200);
    return 0;
}

// Each entry is gone, as it was, or as it was to be; never anything else.
static void check_entries(const stage_t *stage) {
    static const uint64_t seeds[] = {0, 1, 2, 3, 9};
    for (int i = 0; i < 5; ++i) {
        keel_digest_t key = key_of(seeds[i]);
        keel_entry_t entry;
        keel_miss_t miss;
        keel_status_t status = stage->tier.get(stage->tier.context, &key, &entry, &miss);
        if (status) {
            assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
            assert_int_not_equal(miss, KEEL_MISS_UNREADABLE);
            if (miss == KEEL_MISS_DAMAGED) assert_int_equal(seeds[i], 3);
            keel_status_ignore(status);
        } else {
            assert_true(is_version(&entry, seeds[i], 0) || is_version(&entry, seeds[i], 1));
            keel_entry_deinitialize(&entry);
        }
    }
}

// It is gone, as it was, or as it was to be.
static void check_plan(const stage_t *stage) {
    keel_plan_t plan, none = {0}, before = plan_of(1), after = plan_of(3);
    assert_ok(keel_plan_read(stage->place.cache, "train.py", &plan));
    assert_true(keel_plan_equal(&plan, &none) || keel_plan_equal(&plan, &before) ||
                keel_plan_equal(&plan, &after));
}

static void check_stage(const stage_t *stage) {
    check_entries(stage);
    check_plan(stage);
    const char *cache = stage->place.cache;
    nftw(cache, age_one, 16, FTW_PHYS);
    uint64_t removed, bytes;
    assert_ok(keel_store_disk_prune(cache, 0, &removed, &bytes));
    assert_ok(keel_store_sweep_marks(cache, NULL, NULL));
    assert_int_equal(count_files(&stage->place, "entries", ".tmp."), 0);
    assert_int_equal(count_files(&stage->place, "plans", ".tmp."), 0);
    assert_int_equal(count_files(&stage->place, "locks", ""), 0);
    assert_int_equal(count_files(&stage->place, "marks", "1.2.3"), 0);
    for (uint64_t seed = 0; seed < SEEDS; ++seed) {
        put_version(&stage->tier, seed, 1);
        assert_ok(get(stage, seed, 1));
    }
    assert_ok(claim(stage));
    assert_ok(mark(stage));
}

// A failed operation may say so or do without; it may not do wrong.
static void check_status(keel_status_t status, const char *what, uint64_t nth) {
    if (keel_status_code(status) == KEEL_INTERNAL || (status && !*keel_status_message(status)))
        fail_msg("%s, failure %llu: %s", what, (unsigned long long)nth,
                 keel_status_message(status));
    keel_status_ignore(status);
}

// ---- failing -----------------------------------------------------------------------------------

static uint64_t fail_each(operation_t operation, const char *what, keel_fault_kind_t kind,
                          keel_status_t (*open)(const place_t *, keel_tier_t *)) {
    for (uint64_t nth = 1;; ++nth) {
        stage_t stage;
        stage_make(&stage, open);
        keel_fault_arm(kind, nth);
        keel_status_t status = operation(&stage);
        bool reached = keel_fault_count(kind) >= nth;
        keel_fault_arm(kind, 0);
        if (!reached)
            assert_ok(status);
        else
            check_status(status, what, nth);
        check_stage(&stage);
        stage_remove(&stage);
        if (!reached) return nth - 1;
    }
}

// A put that failed left the old entry; only what comes after its rename may fail with the new one.
static void a_put_that_fails_leaves_the_old_entry_or_the_new_one(void **state) {
    (void)state;
    unsigned old = 0, new = 0;
    for (uint64_t nth = 1; nth < 50; ++nth) {
        stage_t stage;
        stage_make(&stage, open_disk);
        keel_fault_arm(KEEL_FAULT_FILE, nth);
        keel_status_t status = put_over_old(&stage);
        bool reached = keel_fault_count(KEEL_FAULT_FILE) >= nth;
        keel_fault_arm(KEEL_FAULT_FILE, 0);
        assert_int_equal(count_files(&stage.place, "entries", ".tmp."), 0);
        keel_status_t read_old = get(&stage, 1, 0), read_new = get(&stage, 1, 1);
        assert_true(!read_old != !read_new);
        if (!status) assert_null(read_new);
        old += !read_old;
        new += !read_new;
        keel_status_ignore(read_old);
        keel_status_ignore(read_new);
        keel_status_ignore(status);
        stage_remove(&stage);
        if (!reached) break;
    }
    assert_true(old >= 4 && new >= 3);
}

static void a_get_that_fails_does_not_cost_the_entry(void **state) {
    (void)state;
    for (int kind = 0; kind < KEEL_FAULT_KINDS; ++kind) {
        stage_t stage;
        stage_make(&stage, open_disk);
        for (uint64_t nth = 1; nth < 20; ++nth) {
            keel_fault_arm((keel_fault_kind_t)kind, nth);
            keel_status_t status = get_good(&stage);
            keel_fault_arm((keel_fault_kind_t)kind, 0);
            check_status(status, "get_good", nth);
            assert_ok(get(&stage, 0, 0));
        }
        stage_remove(&stage);
    }
}

static void fail_all(keel_fault_kind_t kind) {
#define FAIL_DISK(name) uint64_t on_disk_##name = fail_each(name, #name, kind, open_disk);
#define SAY(name) print_message("  %s: %llu\n", #name, (unsigned long long)on_disk_##name);
    TIER_OPERATIONS(FAIL_DISK)
    DISK_OPERATIONS(FAIL_DISK)
    TIER_OPERATIONS(SAY)
    DISK_OPERATIONS(SAY)
}

static void each_allocation_of_the_disk_tier_may_fail(void **state) {
    (void)state;
    fail_all(KEEL_FAULT_ALLOC);
}

static void each_file_operation_of_the_disk_tier_may_fail(void **state) {
    (void)state;
    fail_all(KEEL_FAULT_FILE);
}

static void each_allocation_of_the_memory_tier_may_fail(void **state) {
    (void)state;
#define FAIL_MEMORY(name) fail_each(name, #name, KEEL_FAULT_ALLOC, open_memory);
    TIER_OPERATIONS(FAIL_MEMORY)
}

// ---- killing -----------------------------------------------------------------------------------

static bool run_until_killed(const stage_t *stage, operation_t operation, uint64_t nth) {
    pid_t child = fork();
    if (child == 0) {
        keel_fault_kill(true);
        keel_fault_arm(KEEL_FAULT_FILE, nth);
        keel_status_ignore(operation(stage));
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return false;
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return true;
}

static void kill_at_each(operation_t operation, const char *what) {
    uint64_t kills = 0;
    for (uint64_t nth = 1;; ++nth) {
        stage_t stage;
        stage_make(&stage, open_disk);
        bool killed = run_until_killed(&stage, operation, nth);
        check_stage(&stage);
        stage_remove(&stage);
        if (!killed) break;
        ++kills;
    }
    print_message("  %s: %llu\n", what, (unsigned long long)kills);
    assert_true(kills > 0 || strcmp(what, "open_and_close") == 0);
}

static void a_process_may_be_killed_at_each_file_operation(void **state) {
    (void)state;
#define KILL(name) kill_at_each(name, #name);
    TIER_OPERATIONS(KILL)
    DISK_OPERATIONS(KILL)
}

// What kill -9 left on the way to a put is gone by the next process's first put.
static void what_a_killed_put_left_is_taken_away_by_the_next_process(void **state) {
    (void)state;
    unsigned left = 0;
    for (uint64_t nth = 1; nth < 50; ++nth) {
        stage_t stage;
        stage_make(&stage, open_disk);
        bool killed = run_until_killed(&stage, put_over_old, nth);
        left += count_files(&stage.place, "entries", ".tmp.");
        nftw(stage.place.cache, age_one, 16, FTW_PHYS);
        keel_tier_t next;
        assert_ok(keel_store_disk(stage.place.cache, 0, false, &next));
        put_version(&next, 0, 1);
        assert_int_equal(count_files(&stage.place, "entries", ".tmp."), 0);
        next.close(next.context);
        stage_remove(&stage);
        if (!killed) break;
    }
    assert_true(left >= 2);
}

static uint64_t operations_of_put(double compile_seconds) {
    stage_t stage;
    stage_make(&stage, open_disk);
    fixture_t f = fixture_make(0, 1, SIZE, false);
    f.entry.compile_seconds = compile_seconds;
    keel_fault_arm(KEEL_FAULT_FILE, 0);
    assert_ok(stage.tier.put(stage.tier.context, &f.entry));
    uint64_t count = keel_fault_count(KEEL_FAULT_FILE);
    assert_ok(get(&stage, 0, 1));
    fixture_free(&f);
    stage_remove(&stage);
    return count;
}

static void what_is_compiled_at_once_is_stored_without_waiting_for_the_disk(void **state) {
    (void)state;
    assert_int_equal(operations_of_put(0.049) + 3,
                     operations_of_put(0.051)); // the file, the folder
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_compiled_at_once_is_stored_without_waiting_for_the_disk),
        cmocka_unit_test(a_put_that_fails_leaves_the_old_entry_or_the_new_one),
        cmocka_unit_test(a_get_that_fails_does_not_cost_the_entry),
        cmocka_unit_test(each_allocation_of_the_disk_tier_may_fail),
        cmocka_unit_test(each_file_operation_of_the_disk_tier_may_fail),
        cmocka_unit_test(each_allocation_of_the_memory_tier_may_fail),
        cmocka_unit_test(a_process_may_be_killed_at_each_file_operation),
        cmocka_unit_test(what_a_killed_put_left_is_taken_away_by_the_next_process),
    };
    return cmocka_run_group_tests_name("store faults", tests, NULL, NULL);
}
