// Claims and marks, across threads and processes, and what kill -9 leaves of them.
#define _GNU_SOURCE
#include "store/plan.h"

#include "store_help.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
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

static void rest(long milliseconds) {
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&t, NULL);
}

// What the processes of a test share.
typedef struct shared_t {
    atomic_int inside;  // who holds the claim now
    atomic_int clashes; // times that somebody else did too
    atomic_int turns;
    atomic_int ready;
    atomic_int compiles;
} shared_t;

static shared_t *share(void) {
    void *memory =
        mmap(NULL, sizeof(shared_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    memset(memory, 0, sizeof(shared_t));
    return memory;
}

static void unshare_memory(shared_t *shared) {
    munmap(shared, sizeof *shared);
}

static void expect_exit(pid_t child, int code) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
        fail_msg("a child ended with status 0x%x, not exit %d", (unsigned)status, code);
}

static int take_turns(const place_t *place, shared_t *shared, int rounds) {
    keel_digest_t key = key_of(1);
    for (int i = 0; i < rounds; ++i) {
        keel_claim_t claim;
        if (claim_as(place, &key, "me", &claim)) return 1;
        if (atomic_fetch_add(&shared->inside, 1)) atomic_fetch_add(&shared->clashes, 1);
        if (i % 8 == 0) rest(1);
        atomic_fetch_add(&shared->turns, 1);
        atomic_fetch_sub(&shared->inside, 1);
        keel_claim_release(&claim);
    }
    return 0;
}

static void processes_take_turns(const place_t *place, int processes) {
    shared_t *shared = share();
    pid_t children[8];
    for (int i = 0; i < processes; ++i)
        if ((children[i] = fork()) == 0) _exit(take_turns(place, shared, 40));
    for (int i = 0; i < processes; ++i)
        expect_exit(children[i], 0);
    assert_int_equal(shared->clashes, 0);
    assert_int_equal(shared->turns, processes * 40);
    assert_int_equal(count_files(place, "locks", ""), 0);
    unshare_memory(shared);
}

static void two_processes_hold_a_claim_one_after_the_other(void **state) {
    processes_take_turns(*state, 2);
}

static void eight_processes_hold_a_claim_one_after_the_other(void **state) {
    processes_take_turns(*state, 8);
}

typedef struct turn_t {
    const place_t *place;
    shared_t *shared;
} turn_t;

static void *thread_turns(void *argument) {
    turn_t *turn = argument;
    return (void *)(intptr_t)take_turns(turn->place, turn->shared, 25);
}

static void threads_of_one_process_hold_a_claim_one_after_the_other(void **state) {
    shared_t *shared = share();
    turn_t turn = {*state, shared};
    pthread_t threads[6];
    for (int i = 0; i < 6; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, thread_turns, &turn), 0);
    for (int i = 0; i < 6; ++i) {
        void *answer;
        pthread_join(threads[i], &answer);
        assert_null(answer);
    }
    assert_int_equal(shared->clashes, 0);
    assert_int_equal(shared->turns, 6 * 25);
    unshare_memory(shared);
}

static void claims_on_different_keys_do_not_wait_for_each_other(void **state) {
    place_t *place = *state;
    keel_claim_t claims[3];
    for (uint64_t i = 0; i < 3; ++i) {
        keel_digest_t key = key_of(i);
        assert_ok(claim_as(place, &key, "me", &claims[i]));
    }
    assert_int_equal(count_files(place, "locks", ".lock"), 3);
    for (int i = 0; i < 3; ++i) {
        keel_claim_release(&claims[i]);
        keel_claim_release(&claims[i]); // once more does nothing
    }
    assert_int_equal(count_files(place, "locks", ".lock"), 0);
}

// The message would name this process's own number.
static void a_holder_in_the_same_process_is_named_as_that(void **state) {
    place_t *place = *state;
    keel_digest_t key = key_of(1);
    keel_claim_t claim, other;
    assert_ok(claim_as(place, &key, "pid 7 on host", &claim));
    const keel_claimant_t claimant = {.name = "pid 7 on host", .patience = 1};
    keel_status_t status = keel_store_claim(place->cache, &key, &claimant, &other);
    assert_int_equal(keel_status_code(status), KEEL_REFUSED);
    assert_non_null(strstr(keel_status_message(status), "another thread of this process takes"));
    keel_status_ignore(status);
    keel_claim_release(&claim);
}

// What the engine does: look, claim, look again, compile, put, release.
static int get_or_compile(const place_t *place, shared_t *shared, bool die) {
    keel_tier_t tier;
    if (keel_store_disk(place->cache, 0, false, &tier)) return 1;
    fixture_t f = fixture_make(1, 0, 5000, true);
    keel_entry_t got;
    keel_miss_t miss;
    keel_status_t status = tier.get(tier.context, &f.entry.key, &got, &miss);
    if (status) {
        keel_status_ignore(status);
        keel_claim_t claim;
        if (claim_as(place, &f.entry.key, "me", &claim)) return 2;
        status = tier.get(tier.context, &f.entry.key, &got, &miss);
        if (status) {
            keel_status_ignore(status);
            rest(100);
            if (die && atomic_fetch_add(&shared->ready, 1) == 0) kill(getpid(), SIGKILL);
            atomic_fetch_add(&shared->compiles, 1);
            if (tier.put(tier.context, &f.entry)) return 3;
            if (tier.get(tier.context, &f.entry.key, &got, &miss)) return 4;
        }
        keel_claim_release(&claim);
    }
    bool same = got.payload_size == 5000 && memcmp(got.payload, f.payload, 5000) == 0;
    keel_entry_deinitialize(&got);
    tier.close(tier.context);
    fixture_free(&f);
    return same ? 0 : 5;
}

static void eight_processes_that_want_one_key_compile_it_once(void **state) {
    shared_t *shared = share();
    pid_t children[8];
    for (int i = 0; i < 8; ++i)
        if ((children[i] = fork()) == 0) _exit(get_or_compile(*state, shared, false));
    for (int i = 0; i < 8; ++i)
        expect_exit(children[i], 0);
    assert_int_equal(shared->compiles, 1);
    unshare_memory(shared);
}

static void when_the_one_that_compiles_is_killed_another_takes_over(void **state) {
    shared_t *shared = share();
    pid_t children[8];
    for (int i = 0; i < 8; ++i)
        if ((children[i] = fork()) == 0) _exit(get_or_compile(*state, shared, true));
    int killed = 0, done = 0;
    for (int i = 0; i < 8; ++i) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        done += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    assert_int_equal(killed, 1);
    assert_int_equal(done, 7);
    assert_int_equal(shared->compiles, 1);
    unshare_memory(shared);
}

typedef struct said_t {
    char holder[128];
    int times;
    pid_t pid;    // who holds
    pid_t killer; // that ends him
} said_t;

// He goes on holding for a while, so that it might be said twice.
static void note_holder(void *context, const char *holder) {
    said_t *said = context;
    snprintf(said->holder, sizeof said->holder, "%s", holder);
    if (said->times++) return;
    if ((said->killer = fork()) == 0) {
        rest(600);
        kill(said->pid, SIGKILL);
        _exit(0);
    }
}

static void who_waits_long_is_told_once_who_holds_and_gets_it_after_a_kill(void **state) {
    place_t *place = *state;
    shared_t *shared = share();
    keel_digest_t key = key_of(1);
    pid_t holder = fork();
    if (holder == 0) {
        keel_claim_t claim;
        if (claim_as(place, &key, "pid 7 on host a: train.py", &claim)) _exit(1);
        shared->ready = 1;
        for (;;)
            pause();
    }
    while (!shared->ready)
        rest(1);
    said_t said = {.pid = holder};
    const keel_claimant_t waits = {"me", minute, note_holder, &said};
    keel_claim_t claim;
    uint64_t start = keel_clock_monotonic();
    assert_ok(keel_store_claim(place->cache, &key, &waits, &claim));
    assert_true(keel_seconds(keel_clock_monotonic() - start) > 2.5);
    assert_int_equal(said.times, 1);
    assert_string_equal(said.holder, "pid 7 on host a: train.py");
    keel_claim_release(&claim);
    expect_exit(said.killer, 0);
    waitpid(holder, NULL, 0);
    unshare_memory(shared);
}

// Forks a process that claims the key and then does nothing.
static pid_t start_holder(const place_t *place, const keel_digest_t *key) {
    shared_t *shared = share();
    pid_t holder = fork();
    if (holder == 0) {
        keel_claim_t claim;
        shared->ready = claim_as(place, key, "pid 7 on host a", &claim) ? 2 : 1;
        for (;;)
            pause();
    }
    while (!shared->ready)
        rest(1);
    assert_int_equal(shared->ready, 1);
    unshare_memory(shared);
    return holder;
}

static void who_has_nobody_to_tell_waits_long_too(void **state) {
    place_t *place = *state;
    keel_digest_t key = key_of(1);
    pid_t holder = start_holder(place, &key), killer = fork();
    if (killer == 0) {
        rest(2600);
        kill(holder, SIGKILL);
        _exit(0);
    }
    const keel_claimant_t waits = {.name = "me", .patience = minute};
    keel_claim_t claim;
    assert_ok(keel_store_claim(place->cache, &key, &waits, &claim));
    keel_claim_release(&claim);
    expect_exit(killer, 0);
    waitpid(holder, NULL, 0);
}

static void assert_in_vain(const place_t *place, const keel_digest_t *key, uint64_t patience,
                           const char *why) {
    keel_claim_t claim;
    const keel_claimant_t claimant = {.name = "me", .patience = patience};
    keel_status_t status = keel_store_claim(place->cache, key, &claimant, &claim);
    assert_int_equal(keel_status_code(status), KEEL_REFUSED);
    assert_string_equal(keel_status_message(status), why);
    keel_status_ignore(status);
}

static void nobody_waits_for_a_holder_that_is_stopped(void **state) {
    keel_digest_t key = key_of(1);
    pid_t holder = start_holder(*state, &key);
    int ended;
    kill(holder, SIGSTOP);
    assert_int_equal(waitpid(holder, &ended, WUNTRACED), holder);
    assert_in_vain(*state, &key, minute, "pid 7 on host a is stopped");
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
}

static void a_wait_has_an_end(void **state) {
    keel_digest_t key = key_of(1);
    pid_t holder = start_holder(*state, &key);
    assert_in_vain(*state, &key, 1,
                   "pid 7 on host a takes many times as long as the compile should");
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
}

// What a process leaves that was made by clone(2) alone: the lock is held, its holder is not there.
static void nobody_waits_for_a_holder_that_has_ended(void **state) {
    place_t *place = *state;
    keel_digest_t key = key_of(1);
    pid_t holder = start_holder(place, &key);
    char path[600], hex[KEEL_DIGEST_HEX];
    keel_digest_hex(&key, hex);
    snprintf(path, sizeof path, "%s/locks/%s.lock", place->cache, hex);
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(path, 4096, &data, &size));
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    keel_lock_t lock;
    assert_ok(keel_lock_take(path, &lock));
    assert_ok(keel_lock_describe(&lock, keel_bytes(data, size)));
    keel_free(data);
    assert_in_vain(
        place, &key, minute,
        "pid 7 on host a has exited, but a process that it started still holds its lock");
    keel_lock_remove(&lock, path);
}

static void a_lock_file_left_by_the_dead_hinders_nobody_and_is_pruned(void **state) {
    place_t *place = *state;
    keel_digest_t key = key_of(1);
    pid_t child = fork();
    if (child == 0) {
        keel_claim_t claim;
        if (claim_as(place, &key, "me", &claim)) _exit(1);
        _exit(0);
    }
    expect_exit(child, 0);
    assert_int_equal(count_files(place, "locks", ".lock"), 1);
    uint64_t removed, bytes;
    assert_ok(keel_store_disk_prune(place->cache, 0, &removed, &bytes));
    assert_int_equal(count_files(place, "locks", ".lock"), 0);
    keel_claim_t claim;
    assert_ok(claim_as(place, &key, "me", &claim));
    assert_ok(keel_store_disk_prune(place->cache, 0, &removed, &bytes));
    assert_int_equal(count_files(place, "locks", ".lock"), 1);
    keel_claim_release(&claim);
}

static void a_claim_is_free_although_a_forked_child_lives_on(void **state) {
    place_t *place = *state;
    keel_digest_t key = key_of(1);
    keel_claim_t claim, again;
    assert_ok(claim_as(place, &key, "me", &claim));
    pid_t child = fork();
    if (child == 0) {
        for (;;)
            pause();
    }
    keel_claim_release(&claim);
    // If it were not free, the waiter would hear of the holder, and go on when the child ends.
    said_t said = {.pid = child};
    const keel_claimant_t waits = {"me", minute, note_holder, &said};
    assert_ok(keel_store_claim(place->cache, &key, &waits, &again));
    assert_int_equal(said.times, 0);
    keel_claim_release(&again);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

// ---- marks -------------------------------------------------------------------------------------

static void put_one(const place_t *place, uint64_t seed) {
    keel_tier_t tier;
    assert_ok(keel_store_disk(place->cache, 0, false, &tier));
    fixture_t f = fixture_make(seed, 0, 64, true);
    assert_ok(tier.put(tier.context, &f.entry));
    tier.close(tier.context);
    fixture_free(&f);
}

static bool has(const place_t *place, uint64_t seed) {
    keel_digest_t key = key_of(seed);
    char path[512];
    entry_path_of(place, &key, path);
    return exists(path);
}

static void count_key(void *context, const keel_digest_t *key) {
    (void)key;
    ++*(int *)context;
}

static void a_load_that_kills_its_process_puts_the_entry_in_quarantine(void **state) {
    place_t *place = *state;
    put_one(place, 1);
    put_one(place, 2);
    pid_t child = fork();
    if (child == 0) {
        keel_digest_t bad = key_of(1), good = key_of(2);
        keel_mark_t mark;
        if (keel_store_mark(place->cache, &good, &mark)) _exit(1);
        keel_store_unmark(&mark);
        if (keel_store_mark(place->cache, &bad, &mark)) _exit(2);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    int found = 0;
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    assert_int_equal(found, 1);
    assert_false(has(place, 1));
    assert_true(has(place, 2));
    assert_int_equal(count_files(place, "marks", ""), 0);
    assert_int_equal(count_files(place, "quarantine", ".crashed.keel"), 1);
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    assert_int_equal(found, 1);
    keel_tier_t tier;
    assert_ok(keel_store_disk(place->cache, 0, false, &tier));
    keel_digest_t bad = key_of(1);
    assert_misses(&tier, &bad, KEEL_MISS_QUARANTINED);
    tier.close(tier.context);
}

static void marks_of_the_living_accuse_nobody(void **state) {
    place_t *place = *state;
    put_one(place, 1);
    keel_digest_t key = key_of(1);
    keel_mark_t mine, again;
    assert_ok(keel_store_mark(place->cache, &key, &mine));
    assert_ok(keel_store_mark(place->cache, &key, &again));
    shared_t *shared = share();
    pid_t child = fork();
    if (child == 0) {
        keel_mark_t mark;
        shared->ready = keel_store_mark(place->cache, &key, &mark) ? 2 : 1;
        for (;;)
            pause();
    }
    while (!shared->ready)
        rest(1);
    assert_int_equal(shared->ready, 1);
    int found = 0;
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    assert_int_equal(found, 0);
    assert_int_equal(count_files(place, "marks", ""), 3);
    keel_store_unmark(&mine);
    keel_store_unmark(&again);
    keel_store_unmark(&again); // once more does nothing
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    assert_int_equal(found, 0);
    assert_true(has(place, 1));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    assert_int_equal(found, 1);
    assert_false(has(place, 1));
    unshare_memory(shared);
}

static void leave_mark(const place_t *place, const char *name, const char *text) {
    char path[600];
    snprintf(path, sizeof path, "%s/marks", place->cache);
    assert_ok(keel_directory_make(path));
    snprintf(path, sizeof path, "%s/marks/%s", place->cache, name);
    write_bytes(path, text, strlen(text));
}

static void a_mark_without_a_key_accuses_nobody(void **state) {
    place_t *place = *state;
    put_one(place, 1);
    keel_digest_t key = key_of(1);
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(&key, hex);
    leave_mark(place, "notes.mark", hex);
    leave_mark(place, "1.2.4.mark",
               "----------------------------------------------------------------");
    hex[40] = 0;
    leave_mark(place, "1.2.3.mark", "");
    leave_mark(place, "1.2.5.mark", hex);
    int found = 0;
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    assert_int_equal(found, 0);
    assert_int_equal(count_files(place, "marks", ""), 1);
    assert_int_equal(count_files(place, "marks", "notes.mark"), 1);
    assert_true(has(place, 1));
}

static void a_process_dies_once_however_many_of_its_threads_loaded_the_key(void **state) {
    place_t *place = *state;
    keel_digest_t key = key_of(1), other = key_of(2);
    char hex[KEEL_DIGEST_HEX], other_hex[KEEL_DIGEST_HEX];
    keel_digest_hex(&key, hex);
    keel_digest_hex(&other, other_hex);
    leave_mark(place, "1.2.3.mark", hex);
    leave_mark(place, "1.2.4.mark", other_hex);
    leave_mark(place, "1.2.5.mark", hex);
    int found = 0;
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    assert_int_equal(found, 2);
    assert_int_equal(keel_store_crashes(place->cache, &key), 1);
    assert_int_equal(count_files(place, "marks", ".mark"), 0);
    leave_mark(place, "1.3.1.mark", hex);
    leave_mark(place, "2.3.1.mark", hex);
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    assert_int_equal(keel_store_crashes(place->cache, &key), 3);
}

static void a_proof_that_kills_its_process_is_on_record_without_an_entry(void **state) {
    place_t *place = *state;
    keel_digest_t key = key_of(1);
    char hex[KEEL_DIGEST_HEX];
    keel_digest_hex(&key, hex);
    leave_mark(place, "1.2.3.mark", hex);
    int found = 0;
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    assert_int_equal(found, 1);
    keel_tier_t tier;
    assert_ok(keel_store_disk(place->cache, 0, false, &tier));
    assert_misses(&tier, &key, KEEL_MISS_QUARANTINED);
    uint64_t removed;
    assert_ok(keel_store_disk_clear(place->cache, &removed));
    assert_misses(&tier, &key, KEEL_MISS_ABSENT);
    tier.close(tier.context);
}

// Puts on record that a process died so long ago.
static void leave_death(const place_t *place, const keel_digest_t *key, uint64_t seconds_ago,
                        const char *reason) {
    const uint64_t second = 1000000000u;
    char path[700], hex[KEEL_DIGEST_HEX];
    keel_digest_hex(key, hex);
    snprintf(path, sizeof path, "%s/quarantine", place->cache);
    assert_ok(keel_directory_make(path));
    snprintf(path, sizeof path, "%s/quarantine/%s.%llu.%s.keel", place->cache, hex,
             (unsigned long long)(keel_clock_wall() - seconds_ago * second), reason);
    write_bytes(path, "", 0);
}

static void a_death_is_forgotten_after_a_day(void **state) {
    place_t *place = *state;
    keel_digest_t key = key_of(1), other = key_of(2);
    keel_tier_t tier;
    assert_ok(keel_store_disk(place->cache, 0, false, &tier));
    leave_death(place, &key, 24 * 3600 + 60, "crashed");
    leave_death(place, &key, 30 * 24 * 3600, "crashed");
    assert_int_equal(keel_store_crashes(place->cache, &key), 0);
    assert_misses(&tier, &key, KEEL_MISS_ABSENT);
    leave_death(place, &key, 24 * 3600 - 60, "crashed");
    assert_int_equal(keel_store_crashes(place->cache, &key), 1);
    assert_misses(&tier, &key, KEEL_MISS_QUARANTINED);
    leave_death(place, &key, 0, "crashed");
    assert_int_equal(keel_store_crashes(place->cache, &key), 2);
    assert_int_equal(keel_store_crashes(place->cache, &other), 0);
    keel_store_forgive(place->cache, &key);
    assert_int_equal(keel_store_crashes(place->cache, &key), 0);
    assert_int_equal(count_files(place, "quarantine", ""), 0);
    tier.close(tier.context);
}

static void what_was_set_aside_for_another_reason_is_no_death(void **state) {
    place_t *place = *state;
    keel_digest_t key = key_of(1);
    leave_death(place, &key, 10, "does-not-load");
    leave_death(place, &key, 10, "crash");
    assert_int_equal(keel_store_crashes(place->cache, &key), 0);
    keel_store_forgive(place->cache, &key);
    assert_int_equal(count_files(place, "quarantine", ""), 2);
}

// In a process of its own: what the tests before it left idle is not its own.
static void keep_marks(const place_t *place) {
    keel_mark_t marks[12];
    for (uint64_t i = 0; i < 12; ++i) {
        keel_digest_t key = key_of(i);
        if (keel_store_mark(place->cache, &key, &marks[i])) _exit(1);
    }
    if (count_files(place, "marks", ".mark") != 12) _exit(2);
    for (int i = 0; i < 12; ++i)
        keel_store_unmark(&marks[i]);
    if (count_files(place, "marks", ".mark") != 8) _exit(3);
    // They are used again.
    for (uint64_t i = 0; i < 9; ++i) {
        keel_digest_t key = key_of(i);
        if (keel_store_mark(place->cache, &key, &marks[i])) _exit(4);
        if (count_files(place, "marks", ".mark") != (i < 8 ? 8 : 9)) _exit(5);
    }
    for (int i = 0; i < 9; ++i)
        keel_store_unmark(&marks[i]);
    _exit(0);
}

static void a_process_keeps_eight_idle_marks_however_many_it_had(void **state) {
    place_t *place = *state;
    pid_t child = fork();
    if (child == 0) keep_marks(place);
    expect_exit(child, 0);
    int found = 0;
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    assert_int_equal(found, 0);
    assert_int_equal(count_files(place, "marks", ".mark"), 0);
}

// More than what is remembered of one process: then a key may be accused twice, and nothing else.
static void a_process_that_loaded_many_keys_dies_of_each(void **state) {
    place_t *place = *state;
    char name[64], hex[KEEL_DIGEST_HEX];
    for (uint64_t i = 0; i < 40; ++i) {
        keel_digest_t key = key_of(i % 30);
        keel_digest_hex(&key, hex);
        snprintf(name, sizeof name, "1.2.%02d.mark", (int)i);
        leave_mark(place, name, hex);
    }
    int found = 0;
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    assert_in_range(found, 30, 40);
    for (uint64_t i = 0; i < 30; ++i) {
        keel_digest_t key = key_of(i);
        // Quarantine keeps 32 files, the newest.
        if (i >= 20) assert_in_range(keel_store_crashes(place->cache, &key), 1, 2);
    }
    assert_int_equal(count_files(place, "marks", ".mark"), 0);
}

static void a_death_while_loading_ahead_takes_the_plan_and_no_entry(void **state) {
    place_t *place = *state;
    keel_plan_t plan = {.count = 1}, other = plan;
    keel_mark_t mark;
    put_one(place, 1);
    assert_ok(keel_plan_write(place->cache, "train.py-1", &plan));
    assert_ok(keel_plan_write(place->cache, "eval.py-2", &other));
    pid_t child = fork();
    if (child == 0) _exit(keel_store_mark_ahead(place->cache, "train.py-1", &mark) ? 1 : 0);
    int status, found = 0;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    // Nor while they live, or once they are through.
    assert_ok(keel_store_mark_ahead(place->cache, "eval.py-2", &mark));
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    keel_store_unmark(&mark);
    assert_int_equal(found, 0);
    assert_true(has(place, 1));
    assert_int_equal(count_files(place, "quarantine", ""), 0);
    assert_int_equal(count_files(place, "plans", ""), 1);
    assert_int_equal(count_files(place, "plans", "eval.py-2.plan"), 1);
}

static void a_mark_names_no_file_outside_of_the_plans(void **state) {
    place_t *place = *state;
    static const char *const names[] = {"../notes", "", "a/b", "."};
    keel_plan_t plan = {.count = 1};
    assert_ok(keel_plan_write(place->cache, "../notes", &plan));
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        char text[100];
        snprintf(text, sizeof text, "plan:%s\n", names[i]);
        leave_mark(place, "1.2.3.mark", text);
        assert_ok(keel_store_sweep_marks(place->cache, NULL, NULL));
        assert_int_equal(count_files(place, "marks", ".mark"), 0);
    }
    assert_int_equal(count_files(place, "", "notes.plan"), 1);
}

static void a_mark_outlives_the_removal_of_its_folder(void **state) {
    place_t *place = *state;
    keel_digest_t key = key_of(1);
    for (int i = 0; i < 2; ++i) {
        keel_mark_t mark;
        assert_ok(keel_store_mark(place->cache, &key, &mark));
        assert_int_equal(count_files(place, "marks", ".mark"), 1);
        keel_store_unmark(&mark);
        nftw(place->cache, place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
}

static void a_forked_child_marks_in_a_file_of_its_own(void **state) {
    place_t *place = *state;
    put_one(place, 1);
    put_one(place, 2);
    keel_digest_t parents = key_of(1), childs = key_of(2);
    keel_mark_t mark;
    assert_ok(keel_store_mark(place->cache, &parents, &mark));
    keel_store_unmark(&mark);
    pid_t child = fork();
    if (child == 0) {
        if (keel_store_mark(place->cache, &childs, &mark)) _exit(1);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    assert_ok(keel_store_mark(place->cache, &parents, &mark));
    int found = 0;
    assert_ok(keel_store_sweep_marks(place->cache, count_key, &found));
    keel_store_unmark(&mark);
    assert_int_equal(found, 1);
    assert_true(has(place, 1));
    assert_false(has(place, 2));
}

static int mark_and_sweep(const place_t *place, int which) {
    for (int i = 0; i < 100; ++i) {
        keel_digest_t key = key_of(1);
        keel_mark_t mark;
        if (which % 2) {
            if (keel_store_mark(place->cache, &key, &mark)) return 1;
            keel_store_unmark(&mark);
        } else if (keel_store_sweep_marks(place->cache, NULL, NULL)) {
            return 2;
        }
    }
    return 0;
}

static void sweeps_while_others_mark_and_unmark_accuse_nobody(void **state) {
    place_t *place = *state;
    put_one(place, 1);
    pid_t children[4];
    for (int i = 0; i < 4; ++i)
        if ((children[i] = fork()) == 0) _exit(mark_and_sweep(place, i));
    for (int i = 0; i < 4; ++i)
        expect_exit(children[i], 0);
    assert_ok(keel_store_sweep_marks(place->cache, NULL, NULL));
    assert_true(has(place, 1));
    assert_int_equal(count_files(place, "quarantine", ""), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(two_processes_hold_a_claim_one_after_the_other),
        TEST(eight_processes_hold_a_claim_one_after_the_other),
        TEST(threads_of_one_process_hold_a_claim_one_after_the_other),
        TEST(claims_on_different_keys_do_not_wait_for_each_other),
        TEST(a_holder_in_the_same_process_is_named_as_that),
        TEST(eight_processes_that_want_one_key_compile_it_once),
        TEST(when_the_one_that_compiles_is_killed_another_takes_over),
        TEST(who_waits_long_is_told_once_who_holds_and_gets_it_after_a_kill),
        TEST(who_has_nobody_to_tell_waits_long_too),
        TEST(nobody_waits_for_a_holder_that_is_stopped),
        TEST(a_wait_has_an_end),
        TEST(nobody_waits_for_a_holder_that_has_ended),
        TEST(a_lock_file_left_by_the_dead_hinders_nobody_and_is_pruned),
        TEST(a_claim_is_free_although_a_forked_child_lives_on),
        TEST(a_load_that_kills_its_process_puts_the_entry_in_quarantine),
        TEST(marks_of_the_living_accuse_nobody),
        TEST(a_mark_without_a_key_accuses_nobody),
        TEST(a_process_dies_once_however_many_of_its_threads_loaded_the_key),
        TEST(a_proof_that_kills_its_process_is_on_record_without_an_entry),
        TEST(a_death_is_forgotten_after_a_day),
        TEST(what_was_set_aside_for_another_reason_is_no_death),
        TEST(a_process_keeps_eight_idle_marks_however_many_it_had),
        TEST(a_process_that_loaded_many_keys_dies_of_each),
        TEST(a_death_while_loading_ahead_takes_the_plan_and_no_entry),
        TEST(a_mark_names_no_file_outside_of_the_plans),
        TEST(a_mark_outlives_the_removal_of_its_folder),
        TEST(a_forked_child_marks_in_a_file_of_its_own),
        TEST(sweeps_while_others_mark_and_unmark_accuse_nobody),
    };
    return cmocka_run_group_tests_name("store claims", tests, NULL, NULL);
}
