// The disk tier under load: eviction during reads and writes, and full disks.
#define _GNU_SOURCE
#include "store_help.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/resource.h>
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

// ---- eviction ----------------------------------------------------------------------------------

enum { KEYS = 40, SIZE = 5000, ROUNDS = 150, LIMIT = 80000 };

typedef struct load_t {
    keel_tier_t tier;
    const place_t *place;
    atomic_uint hits, misses, bad;
} load_t;

// Anything but the entry or its absence is bad.
static void use_entry(load_t *load, uint64_t seed, bool write) {
    fixture_t f = fixture_make(seed, 0, SIZE, false);
    keel_entry_t got;
    keel_miss_t miss;
    keel_status_t status;
    if (write) {
        status = load->tier.put(load->tier.context, &f.entry);
        if (status) atomic_fetch_add(&load->bad, 1);
    } else {
        status = load->tier.get(load->tier.context, &f.entry.key, &got, &miss);
        if (!status) {
            if (got.payload_size != SIZE || memcmp(got.payload, f.payload, SIZE))
                atomic_fetch_add(&load->bad, 1);
            keel_entry_deinitialize(&got);
            atomic_fetch_add(&load->hits, 1);
        } else {
            if (miss != KEEL_MISS_ABSENT) atomic_fetch_add(&load->bad, 1);
            atomic_fetch_add(&load->misses, 1);
        }
    }
    keel_status_ignore(status);
    fixture_free(&f);
}

static void *read_and_write(void *argument) {
    load_t *load = argument;
    uint64_t random = keel_clock_monotonic() ^ (uint64_t)(uintptr_t)&random;
    for (int i = 0; i < ROUNDS; ++i) {
        uint64_t r = next_random(&random);
        use_entry(load, r % KEYS, (r >> 20) % 3 == 0);
    }
    return NULL;
}

static void *prune_on_and_on(void *argument) {
    load_t *load = argument;
    for (int i = 0; i < 30; ++i) {
        uint64_t removed, bytes;
        keel_status_t status =
            keel_store_disk_prune(load->place->cache, LIMIT / 2, &removed, &bytes);
        if (status) atomic_fetch_add(&load->bad, 1);
        keel_status_ignore(status);
    }
    return NULL;
}

static void run_threads(load_t *load) {
    pthread_t threads[6], pruner;
    for (int i = 0; i < 6; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, read_and_write, load), 0);
    assert_int_equal(pthread_create(&pruner, NULL, prune_on_and_on, load), 0);
    for (int i = 0; i < 6; ++i)
        pthread_join(threads[i], NULL);
    pthread_join(pruner, NULL);
}

static void check_after_load(const place_t *place, load_t *load) {
    assert_int_equal(load->bad, 0);
    assert_true(load->hits > 0 && load->misses > 0);
    assert_int_equal(count_files(place, "quarantine", ""), 0);
    assert_int_equal(count_files(place, "entries", ".tmp."), 0);
    keel_disk_facts_t facts;
    assert_ok(keel_store_disk_facts(place->cache, &facts));
    assert_true(facts.bytes <= LIMIT + LIMIT / 8);
}

static void eviction_beside_readers_and_writers_breaks_neither(void **state) {
    place_t *place = *state;
    load_t load = {.place = place};
    assert_ok(keel_store_disk(place->cache, LIMIT, false, &load.tier));
    run_threads(&load);
    check_after_load(place, &load);
    load.tier.close(load.tier.context);
}

static int run_process(const place_t *place) {
    load_t load = {.place = place};
    if (keel_store_disk(place->cache, LIMIT, false, &load.tier)) return 1;
    uint64_t random = (uint64_t)getpid();
    for (int i = 0; i < ROUNDS; ++i) {
        uint64_t r = next_random(&random);
        use_entry(&load, r % KEYS, (r >> 20) % 3 == 0);
    }
    load.tier.close(load.tier.context);
    return load.bad ? 2 : 0;
}

static void eviction_by_eight_processes_breaks_none_of_them(void **state) {
    place_t *place = *state;
    pid_t children[8];
    for (int i = 0; i < 8; ++i)
        if ((children[i] = fork()) == 0) _exit(run_process(place));
    for (int i = 0; i < 8; ++i) {
        int status;
        waitpid(children[i], &status, 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    keel_disk_facts_t facts;
    assert_ok(keel_store_disk_facts(place->cache, &facts));
    // Each process sees what the others put only when it scans, after a sixteenth of the limit.
    assert_true(facts.bytes <= LIMIT + 8 * (LIMIT / 16 + SIZE + 1000));
    assert_int_equal(count_files(place, "quarantine", ""), 0);
}

static void an_entry_that_was_opened_is_read_whole_though_it_is_evicted(void **state) {
    place_t *place = *state;
    keel_tier_t tier;
    assert_ok(keel_store_disk(place->cache, 0, false, &tier));
    fixture_t f = fixture_make(1, 0, SIZE, false);
    assert_ok(tier.put(tier.context, &f.entry));
    char path[512];
    entry_path_of(place, &f.entry.key, path);
    FILE *file = fopen(path, "rb");
    uint64_t removed, bytes;
    assert_ok(keel_store_disk_prune(place->cache, 1, &removed, &bytes));
    assert_int_equal(removed, 1);
    uint8_t data[SIZE + 1000];
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    keel_entry_t got;
    assert_ok(keel_entry_decode(keel_bytes(data, size), &got));
    assert_entry_equal(&got, &f.entry);
    keel_entry_deinitialize(&got);
    tier.close(tier.context);
    fixture_free(&f);
}

// ---- full disks --------------------------------------------------------------------------------

// Puts what does not fit beside what does; 0 where all went as it should.
static int put_beside_limit(const place_t *place, size_t large) {
    keel_tier_t tier;
    if (keel_store_disk(place->cache, 0, false, &tier)) return 1;
    fixture_t fits = fixture_make(1, 0, 4000, false), more = fixture_make(2, 0, large, false),
              again = fixture_make(1, 1, large, false);
    keel_entry_t got;
    keel_miss_t miss;
    if (tier.put(tier.context, &fits.entry)) return 2;
    keel_status_t status = tier.put(tier.context, &more.entry);
    if (keel_status_code(status) != KEEL_IO) return 3;
    keel_status_ignore(status);
    status = tier.put(tier.context, &again.entry);
    if (keel_status_code(status) != KEEL_IO) return 4;
    keel_status_ignore(status);
    if (tier.get(tier.context, &fits.entry.key, &got, &miss)) return 5;
    if (got.payload_size != 4000 || memcmp(got.payload, fits.payload, 4000)) return 6;
    keel_entry_deinitialize(&got);
    status = tier.get(tier.context, &more.entry.key, &got, &miss);
    if (keel_status_code(status) != KEEL_NOT_FOUND || miss != KEEL_MISS_ABSENT) return 7;
    keel_status_ignore(status);
    if (count_files(place, "entries", "") != 1) return 8;
    if (tier.put(tier.context, &fits.entry)) return 9;
    tier.close(tier.context);
    fixture_free(&fits);
    fixture_free(&more);
    fixture_free(&again);
    return 0;
}

static int put_under_file_limit(const place_t *place) {
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {32768, 32768};
    if (setrlimit(RLIMIT_FSIZE, &limit)) return 20;
    return put_beside_limit(place, 100000);
}

static void a_file_size_limit_fails_cleanly_and_loses_nothing(void **state) {
    place_t *place = *state;
    pid_t child = fork();
    if (child == 0) _exit(put_under_file_limit(place));
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_full_disk_fails_cleanly_and_loses_nothing(void **state) {
    place_t *place = *state;
    if (mkdir(place->cache, 0700) ||
        mount("keel-test", place->cache, "tmpfs", MS_NOSUID | MS_NODEV, "size=256k")) {
        print_message("skipped: it mounts a small file system (%s): run as root, in a "
                      "container with CAP_SYS_ADMIN\n",
                      strerror(errno));
        skip();
    }
    int answer = put_beside_limit(place, 1 << 20);
    // Small entries one after the other until the disk is full: all that were put are there.
    keel_tier_t tier;
    keel_status_t status = keel_store_disk(place->cache, 0, false, &tier);
    uint64_t put = 0;
    while (!status && put < 200) {
        fixture_t f = fixture_make(100 + put, 0, 4000, false);
        status = tier.put(tier.context, &f.entry);
        put += !status;
        fixture_free(&f);
    }
    keel_code_t code = keel_status_code(status);
    keel_status_ignore(status);
    unsigned lost = 0;
    for (uint64_t i = 0; i < put; ++i) {
        keel_digest_t key = key_of(100 + i);
        keel_entry_t got;
        keel_miss_t miss;
        status = tier.get(tier.context, &key, &got, &miss);
        lost += status != NULL;
        if (!status) keel_entry_deinitialize(&got);
        keel_status_ignore(status);
    }
    tier.close(tier.context);
    umount(place->cache);
    assert_int_equal(answer, 0);
    assert_int_equal(code, KEEL_IO);
    assert_true(put > 10 && put < 200);
    assert_int_equal(lost, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(eviction_beside_readers_and_writers_breaks_neither),
        TEST(eviction_by_eight_processes_breaks_none_of_them),
        TEST(an_entry_that_was_opened_is_read_whole_though_it_is_evicted),
        TEST(a_file_size_limit_fails_cleanly_and_loses_nothing),
        TEST(a_full_disk_fails_cleanly_and_loses_nothing),
    };
    return cmocka_run_group_tests_name("store load", tests, NULL, NULL);
}
