// The disk tier beyond what every tier does: damage, folders that refuse, times of use, upkeep.
#define _GNU_SOURCE
#include "store/layout.h"
#include "store_help.h"

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

static keel_tier_t open_tier(const place_t *place) {
    keel_tier_t tier = {0};
    assert_ok(keel_store_disk(place->cache, 0, false, &tier));
    return tier;
}

static void put_one(const keel_tier_t *tier, uint64_t seed, size_t size) {
    fixture_t f = fixture_make(seed, 0, size, false);
    assert_ok(tier->put(tier->context, &f.entry));
    fixture_free(&f);
}

static void count_bad(void *context, const char *path, const char *why) {
    assert_true(strlen(path) > 64 && strlen(why) > 0);
    ++*(unsigned *)context;
}

// ---- damage ------------------------------------------------------------------------------------

static void an_entry_with_any_byte_flipped_is_set_aside_and_heals(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    fixture_t f = fixture_make(3, 0, 64, true);
    assert_ok(tier.put(tier.context, &f.entry));
    char path[512];
    entry_path_of(place, &f.entry.key, path);
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(path, 4096, &data, &size));
    for (size_t i = 0; i < size; ++i) {
        data[i] ^= 0x10;
        write_bytes(path, data, size);
        data[i] ^= 0x10;
        assert_misses(&tier, &f.entry.key, KEEL_MISS_DAMAGED);
        assert_misses(&tier, &f.entry.key, KEEL_MISS_ABSENT);
    }
    assert_true(count_files(place, "quarantine", "damaged") > 0);
    assert_ok(tier.put(tier.context, &f.entry));
    assert_has(&tier, &f.entry);
    keel_free(data);
    tier.close(tier.context);
    fixture_free(&f);
}

static void an_entry_cut_anywhere_or_with_more_behind_it_is_set_aside(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    fixture_t f = fixture_make(3, 0, 64, true);
    assert_ok(tier.put(tier.context, &f.entry));
    char path[512];
    entry_path_of(place, &f.entry.key, path);
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(path, 4096, &data, &size));
    for (size_t cut = 0; cut < size; ++cut) {
        write_bytes(path, data, cut);
        assert_misses(&tier, &f.entry.key, KEEL_MISS_DAMAGED);
    }
    uint8_t more[5000] = {0};
    memcpy(more, data, size);
    write_bytes(path, more, size + 1);
    assert_misses(&tier, &f.entry.key, KEEL_MISS_DAMAGED);
    keel_free(data);
    tier.close(tier.context);
    fixture_free(&f);
}

// Another process may have replaced the bad file meanwhile: what it put there stays.
static void only_the_file_that_was_seen_is_set_aside(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    put_one(&tier, 1, 64);
    keel_digest_t key = key_of(1);
    char path[512];
    keel_file_facts_t seen;
    entry_path_of(place, &key, path);
    assert_ok(keel_file_facts(path, &seen));
    for (int part = 0; part < 4; ++part) {
        keel_file_facts_t other = seen;
        if (part == 0) ++other.inode;
        if (part == 1) ++other.device;
        if (part == 2) ++other.size;
        if (part == 3) ++other.modified;
        assert_ok(keel_store_set_aside(place->cache, &key, "test", &other));
        assert_int_equal(access(path, F_OK), 0);
    }
    assert_ok(keel_store_set_aside(place->cache, &key, "test", &seen));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_ok(keel_store_set_aside(place->cache, &key, "test", &seen)); // it is gone
    assert_int_equal(count_files(place, "quarantine", ".test.keel"), 1);
    tier.close(tier.context);
}

static void another_programs_good_entry_under_this_key_is_damage(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    fixture_t a = fixture_make(1, 0, 100, true), b = fixture_make(2, 0, 100, true);
    assert_ok(tier.put(tier.context, &a.entry));
    assert_ok(tier.put(tier.context, &b.entry));
    char from[512], to[512];
    entry_path_of(place, &a.entry.key, from);
    entry_path_of(place, &b.entry.key, to);
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(from, 4096, &data, &size));
    write_bytes(to, data, size);
    keel_free(data);
    unsigned bad = 0;
    uint64_t good;
    assert_ok(keel_store_disk_verify(place->cache, count_bad, &bad, &good));
    assert_int_equal(bad, 1);
    assert_int_equal(good, 1);
    assert_misses(&tier, &b.entry.key, KEEL_MISS_DAMAGED);
    assert_has(&tier, &a.entry);
    assert_int_equal(count_files(place, "quarantine", "differs-from-its"), 1);
    tier.close(tier.context);
    fixture_free(&a);
    fixture_free(&b);
}

static void an_entry_of_a_newer_version_is_no_damage_and_replaced_by_what_both_read(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    fixture_t f = fixture_make(3, 0, 64, true);
    assert_ok(tier.put(tier.context, &f.entry));
    char path[512];
    entry_path_of(place, &f.entry.key, path);
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(path, 4096, &data, &size));
    data[8] = data[12] = KEEL_ENTRY_VERSION + 1;
    keel_digest_t digest = keel_entry_header_digest(data, (size_t)keel_load_u64(data + 16));
    memcpy(data + 32, digest.bytes, KEEL_DIGEST_SIZE);
    write_bytes(path, data, size);
    keel_free(data);
    assert_misses(&tier, &f.entry.key, KEEL_MISS_FOREIGN);
    unsigned bad = 0;
    uint64_t good;
    assert_ok(keel_store_disk_verify(place->cache, count_bad, &bad, &good));
    assert_int_equal(bad + good, 0);
    assert_ok(tier.put(tier.context, &f.entry));
    assert_has(&tier, &f.entry);
    tier.close(tier.context);
    fixture_free(&f);
}

static long most_memory(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss; // KiB
}

static void a_huge_file_that_is_no_entry_is_not_read_whole(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    fixture_t f = fixture_make(3, 0, 64, true);
    assert_ok(tier.put(tier.context, &f.entry));
    char path[512];
    entry_path_of(place, &f.entry.key, path);
    assert_int_equal(truncate(path, (off_t)3 << 30), 0);
    long before = most_memory();
    unsigned bad = 0;
    uint64_t good;
    assert_ok(keel_store_disk_verify(place->cache, count_bad, &bad, &good));
    assert_int_equal(bad, 1);
    assert_misses(&tier, &f.entry.key, KEEL_MISS_DAMAGED);
    assert_true(most_memory() - before < 1 << 20);
    assert_int_equal(count_files(place, "quarantine", ".keel"), 1);
    tier.close(tier.context);
    fixture_free(&f);
}

static void a_folder_where_an_entry_should_be_is_set_aside(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    fixture_t f = fixture_make(3, 0, 64, true);
    char path[512];
    entry_path_of(place, &f.entry.key, path);
    assert_ok(keel_directory_make(path));
    assert_misses(&tier, &f.entry.key, KEEL_MISS_DAMAGED);
    assert_ok(tier.put(tier.context, &f.entry));
    assert_has(&tier, &f.entry);
    tier.close(tier.context);
    fixture_free(&f);
}

static void damage_in_a_readonly_cache_stays_where_it_is(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place), reader;
    put_one(&tier, 3, 64);
    assert_ok(keel_store_disk(place->cache, 0, true, &reader));
    keel_digest_t key = key_of(3);
    char path[512];
    entry_path_of(place, &key, path);
    write_bytes(path, "", 0);
    assert_misses(&reader, &key, KEEL_MISS_DAMAGED);
    assert_true(exists(path));
    reader.close(reader.context);
    tier.close(tier.context);
}

static void what_crashed_a_process_is_told_from_what_never_was(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    put_one(&tier, 1, 64);
    put_one(&tier, 2, 64);
    keel_digest_t crashed = key_of(1), refused = key_of(2), never = key_of(3);
    assert_ok(keel_store_quarantine(place->cache, &crashed, "crashed"));
    assert_ok(keel_store_quarantine(place->cache, &refused, "The plugin refused: it's /bad/!"));
    assert_ok(keel_store_quarantine(place->cache, &never, "crashed"));
    assert_misses(&tier, &crashed, KEEL_MISS_QUARANTINED);
    assert_misses(&tier, &refused, KEEL_MISS_ABSENT);
    assert_misses(&tier, &never, KEEL_MISS_ABSENT);
    assert_int_equal(count_files(place, "quarantine", ".the-plugin-refused-it-s-bad.keel"), 1);
    put_one(&tier, 1, 64);
    fixture_t f = fixture_make(1, 0, 64, false);
    assert_has(&tier, &f.entry);
    fixture_free(&f);
    tier.close(tier.context);
}

static void quarantine_is_bounded_and_drops_the_oldest(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    for (uint64_t seed = 0; seed < 40; ++seed) {
        put_one(&tier, seed, 64);
        keel_digest_t key = key_of(seed);
        assert_ok(keel_store_quarantine(place->cache, &key, "test"));
    }
    keel_disk_facts_t facts;
    assert_ok(keel_store_disk_facts(place->cache, &facts));
    assert_int_equal(facts.entries, 0);
    assert_int_equal(facts.quarantined, 32);
    char hex[KEEL_DIGEST_HEX];
    keel_digest_t first = key_of(0), last = key_of(39);
    keel_digest_hex(&first, hex);
    assert_int_equal(count_files(place, "quarantine", hex), 0);
    keel_digest_hex(&last, hex);
    assert_int_equal(count_files(place, "quarantine", hex), 1);
    tier.close(tier.context);
}

// Puts an entry in quarantine; *out is its file there.
static void set_aside(place_t *place, const keel_tier_t *tier, uint64_t seed, char out[800]) {
    put_one(tier, seed, 64);
    keel_digest_t key = key_of(seed);
    char hex[KEEL_DIGEST_HEX], folder[500];
    assert_ok(keel_store_quarantine(place->cache, &key, "test"));
    keel_digest_hex(&key, hex);
    snprintf(folder, sizeof folder, "%s/quarantine", place->cache);
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    *out = 0;
    for (struct dirent *e; (e = readdir(directory));)
        if (strncmp(e->d_name, hex, strlen(hex)) == 0)
            snprintf(out, 800, "%s/%s", folder, e->d_name);
    closedir(directory);
    assert_true(*out);
}

// Sparse files: they take no room.
static void quarantine_holds_256_megabytes_or_its_newest_file(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    const off_t limit = 256 << 20;
    char first[800], second[800], third[800], entry[512];
    struct stat facts;
    set_aside(place, &tier, 1, first);
    assert_int_equal(stat(first, &facts), 0);
    assert_int_equal(truncate(first, limit - facts.st_size), 0);
    set_aside(place, &tier, 2, second); // as large as the first was: just full
    assert_int_equal(count_files(place, "quarantine", ".keel"), 2);
    assert_int_equal(truncate(second, facts.st_size + 1), 0);
    set_aside(place, &tier, 3, third);
    assert_int_not_equal(access(first, F_OK), 0);
    assert_int_equal(count_files(place, "quarantine", ".keel"), 2);
    // What is too large alone drives all others out, and stays.
    put_one(&tier, 4, 64);
    keel_digest_t key = key_of(4);
    entry_path_of(place, &key, entry);
    assert_int_equal(truncate(entry, limit + 1), 0);
    assert_ok(keel_store_quarantine(place->cache, &key, "test"));
    keel_disk_facts_t counted;
    assert_ok(keel_store_disk_facts(place->cache, &counted));
    assert_int_equal(counted.quarantined, 1);
    assert_int_not_equal(access(second, F_OK), 0);
    assert_int_not_equal(access(third, F_OK), 0);
    tier.close(tier.context);
}

// ---- folders -----------------------------------------------------------------------------------

static void a_remote_address_is_refused_and_the_setting_named(void **state) {
    (void)state;
    static const char *const remote[] = {"gs://bucket/x", "s3://b", "https://host/path",
                                         "redis+tls://h:1/2"};
    for (int i = 0; i < 4; ++i) {
        keel_tier_t tier;
        keel_status_t status = keel_store_disk(remote[i], 0, false, &tier);
        assert_int_equal(keel_status_code(status), KEEL_INVALID);
        const char *message = keel_status_message(status);
        assert_non_null(strstr(message, remote[i]));
        assert_non_null(strstr(message, "KEEL_CACHE_DIR"));
        assert_non_null(strstr(message, "a folder on this machine"));
        keel_status_ignore(status);
    }
}

static void a_folder_is_made_only_when_something_is_put(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    keel_digest_t key = key_of(1);
    assert_misses(&tier, &key, KEEL_MISS_ABSENT);
    assert_ok(tier.remove(tier.context, &key));
    assert_ok(keel_store_sweep_marks(place->cache, NULL, NULL));
    keel_disk_facts_t facts;
    assert_ok(keel_store_disk_facts(place->cache, &facts));
    uint64_t removed, bytes;
    assert_ok(keel_store_disk_prune(place->cache, 1, &removed, &bytes));
    assert_ok(keel_store_disk_clear(place->cache, &removed));
    assert_false(exists(place->cache));
    put_one(&tier, 1, 64);
    struct stat s;
    assert_int_equal(stat(place->cache, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    tier.close(tier.context);
}

// The cache folder may be this user's alone again and those below it not, or not yet then.
static void an_entry_that_others_can_write_or_own_is_not_given_out(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place), shared = open_tier(place);
    keel_store_disk_share(&shared);
    fixture_t f = fixture_make(3, 0, 64, true);
    assert_ok(tier.put(tier.context, &f.entry));
    char path[512];
    entry_path_of(place, &f.entry.key, path);
    assert_int_equal(chmod(path, 0644), 0);
    assert_has(&tier, &f.entry);
    assert_int_equal(chmod(path, 0666), 0);
    assert_misses(&tier, &f.entry.key, KEEL_MISS_UNREADABLE);
    assert_has(&shared, &f.entry);
    if (geteuid() == 0) { // only root can give a file away
        assert_int_equal(chmod(path, 0644), 0);
        assert_int_equal(chown(path, 54321, 54321), 0);
        assert_misses(&tier, &f.entry.key, KEEL_MISS_UNREADABLE);
        assert_has(&shared, &f.entry);
    }
    assert_ok(tier.put(tier.context, &f.entry)); // as after a compile
    assert_has(&tier, &f.entry);
    tier.close(tier.context);
    shared.close(shared.context);
    fixture_free(&f);
}

static void a_folder_removed_meanwhile_is_made_again(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    fixture_t f = fixture_make(1, 0, 64, true);
    for (int i = 0; i < 2; ++i) {
        assert_ok(tier.put(tier.context, &f.entry));
        assert_has(&tier, &f.entry);
        nftw(place->cache, place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        assert_misses(&tier, &f.entry.key, KEEL_MISS_ABSENT);
    }
    tier.close(tier.context);
    fixture_free(&f);
}

static void a_file_in_the_folders_place_fails_cleanly(void **state) {
    place_t *place = *state;
    write_bytes(place->cache, "mine", 4);
    keel_tier_t tier = open_tier(place);
    fixture_t f = fixture_make(1, 0, 64, true);
    keel_miss_t miss;
    keel_entry_t got;
    assert_code(tier.get(tier.context, &f.entry.key, &got, &miss), KEEL_NOT_FOUND);
    keel_status_t status = tier.put(tier.context, &f.entry);
    assert_int_equal(keel_status_code(status), KEEL_IO);
    assert_non_null(strstr(keel_status_message(status), place->cache));
    keel_status_ignore(status);
    keel_claim_t claim;
    assert_code(claim_as(place, &f.entry.key, "me", &claim), KEEL_IO);
    keel_mark_t mark;
    assert_code(keel_store_mark(place->cache, &f.entry.key, &mark), KEEL_IO);
    char text[8] = {0};
    FILE *file = fopen(place->cache, "rb");
    assert_int_equal(fread(text, 1, sizeof text, file), 4);
    fclose(file);
    assert_string_equal(text, "mine");
    tier.close(tier.context);
    fixture_free(&f);
}

static void a_readonly_cache_gives_and_takes_nothing(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place), reader;
    fixture_t f = fixture_make(1, 0, 64, true);
    assert_ok(tier.put(tier.context, &f.entry));
    char path[512];
    entry_path_of(place, &f.entry.key, path);
    set_age(path, 7200);
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    assert_ok(keel_store_disk(place->cache, 0, true, &reader));
    assert_has(&reader, &f.entry);
    assert_code(reader.put(reader.context, &f.entry), KEEL_REFUSED);
    assert_code(reader.remove(reader.context, &f.entry.key), KEEL_REFUSED);
    assert_code(reader.quarantine(reader.context, &f.entry.key, "does not load"), KEEL_REFUSED);
    assert_has(&reader, &f.entry);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_mtime, after.st_mtime);
    reader.close(reader.context);
    tier.close(tier.context);
    fixture_free(&f);
}

// In a child that is not root, to whom a folder without write permission says no.
static int use_unwritable_folder(const place_t *place) {
    keel_tier_t tier;
    if (geteuid() == 0 && setuid(65534)) return 10;
    fixture_t f = fixture_make(1, 0, 64, true), other = fixture_make(2, 0, 64, true);
    keel_entry_t got;
    keel_miss_t miss;
    if (keel_store_disk(place->cache, 0, false, &tier)) return 11;
    if (tier.get(tier.context, &f.entry.key, &got, &miss)) return 12;
    keel_entry_deinitialize(&got);
    if (keel_status_code(tier.put(tier.context, &other.entry)) != KEEL_IO) return 13;
    if (keel_status_code(tier.put(tier.context, &f.entry)) != KEEL_IO) return 14;
    if (keel_status_code(tier.remove(tier.context, &f.entry.key)) != KEEL_IO) return 15;
    keel_claim_t claim;
    if (keel_status_code(claim_as(place, &f.entry.key, "me", &claim)) != KEEL_IO) return 16;
    keel_mark_t mark;
    if (keel_status_code(keel_store_mark(place->cache, &f.entry.key, &mark)) != KEEL_IO) return 17;
    if (tier.get(tier.context, &f.entry.key, &got, &miss)) return 18;
    return 0;
}

static int open_for_reading(const char *path, const struct stat *s, int kind, struct FTW *ftw) {
    (void)ftw;
    (void)s;
    return chmod(path, kind == FTW_F ? 0444 : 0555);
}

static int open_for_writing(const char *path, const struct stat *s, int kind, struct FTW *ftw) {
    (void)ftw;
    (void)s;
    return chmod(path, kind == FTW_F ? 0644 : 0755);
}

static void a_folder_without_write_permission_still_gives(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    fixture_t f = fixture_make(1, 0, 64, true);
    assert_ok(tier.put(tier.context, &f.entry));
    nftw(place->root, open_for_reading, 16, FTW_PHYS);
    pid_t child = fork();
    if (child == 0) _exit(use_unwritable_folder(place));
    int status;
    waitpid(child, &status, 0);
    nftw(place->root, open_for_writing, 16, FTW_PHYS);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_has(&tier, &f.entry);
    tier.close(tier.context);
    fixture_free(&f);
}

static void an_entry_over_the_limit_is_refused_with_both_sizes(void **state) {
    place_t *place = *state;
    keel_tier_t tier;
    assert_ok(keel_store_disk(place->cache, 8192, false, &tier));
    fixture_t f = fixture_make(1, 0, 20000, false);
    keel_status_t status = tier.put(tier.context, &f.entry);
    assert_int_equal(keel_status_code(status), KEEL_REFUSED);
    const char *message = keel_status_message(status);
    assert_non_null(strstr(message, "does not fit the cache's limit of 8.0 KiB; raise "
                                    "KEEL_CACHE_LIMIT"));
    assert_true(strncmp(message, "an entry of ", 12) == 0 && strtod(message + 12, NULL) >= 19.5);
    keel_status_ignore(status);
    fixture_free(&f);
    tier.close(tier.context);
}

static void a_miss_names_the_entry(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    keel_digest_t key = key_of(1);
    char hex[KEEL_DIGEST_HEX], expected[100];
    keel_digest_hex(&key, hex);
    snprintf(expected, sizeof expected, "entry %.12s: not in the cache", hex);
    keel_entry_t got;
    keel_miss_t miss;
    keel_status_t status = tier.get(tier.context, &key, &got, &miss);
    assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    assert_string_equal(keel_status_message(status), expected);
    keel_status_ignore(status);
    tier.close(tier.context);
}

// ---- use and eviction --------------------------------------------------------------------------

static void a_get_renews_the_time_of_use(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    fixture_t f = fixture_make(1, 0, 64, true);
    assert_ok(tier.put(tier.context, &f.entry));
    char path[512];
    entry_path_of(place, &f.entry.key, path);
    set_age(path, 7200);
    assert_has(&tier, &f.entry);
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    assert_true(time(NULL) - s.st_mtime < 60);
    tier.close(tier.context);
    fixture_free(&f);
}

static void the_least_recently_used_are_evicted_first(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    for (uint64_t seed = 0; seed < 10; ++seed) {
        put_one(&tier, seed, 10000);
        keel_digest_t key = key_of(seed);
        char path[512];
        entry_path_of(place, &key, path);
        set_age(path, 10000 - (long)seed);
    }
    fixture_t used = fixture_make(0, 0, 10000, false);
    assert_has(&tier, &used.entry);
    uint64_t removed, bytes;
    assert_ok(keel_store_disk_prune(place->cache, 0, &removed, &bytes));
    assert_int_equal(removed, 0);
    uint64_t room = room_of(place, 0); // the limit counts that, not the bytes of the file
    assert_ok(keel_store_disk_prune(place->cache, 5 * room - 1, &removed, &bytes));
    assert_int_equal(removed, 6);
    assert_int_equal(bytes, 6 * room);
    assert_has(&tier, &used.entry);
    for (uint64_t seed = 1; seed < 10; ++seed) {
        fixture_t f = fixture_make(seed, 0, 10000, false);
        if (seed <= 6)
            assert_misses(&tier, &f.entry.key, KEEL_MISS_ABSENT);
        else
            assert_has(&tier, &f.entry);
        fixture_free(&f);
    }
    fixture_free(&used);
    tier.close(tier.context);
}

// Above the limit, entries go until the target is met; up to the limit, none goes.
static void eviction_begins_at_the_limit_and_ends_at_the_target(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    for (uint64_t seed = 1; seed <= 4; ++seed)
        put_one(&tier, seed, 1000);
    keel_disk_facts_t facts;
    keel_store_eviction_t out;
    assert_ok(keel_store_disk_facts(place->cache, &facts));
    uint64_t each = facts.bytes / 4;
    assert_ok(keel_store_evict(place->cache, facts.bytes, each, NULL, &out));
    assert_int_equal(out.removed, 0);
    assert_int_equal(out.bytes, facts.bytes);
    assert_ok(keel_store_evict(place->cache, facts.bytes - 1, 2 * each, NULL, &out));
    assert_int_equal(out.removed, 2);
    assert_int_equal(out.removed_bytes, 2 * each);
    assert_int_equal(out.bytes, 2 * each);
    tier.close(tier.context);
}

static void a_limit_counts_what_other_processes_put(void **state) {
    place_t *place = *state;
    keel_tier_t first = open_tier(place), second;
    for (uint64_t seed = 0; seed < 10; ++seed)
        put_one(&first, seed, 10000);
    assert_ok(keel_store_disk(place->cache, 50000, false, &second));
    put_one(&second, 100, 1000);
    keel_disk_facts_t facts;
    assert_ok(keel_store_disk_facts(place->cache, &facts));
    assert_true(facts.bytes <= 50000);
    fixture_t f = fixture_make(100, 0, 1000, false);
    assert_has(&second, &f.entry);
    fixture_free(&f);
    second.close(second.context);
    first.close(first.context);
}

// ---- upkeep ------------------------------------------------------------------------------------

static pid_t dead_process(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    return child;
}

static void leave(const place_t *place, const char *name, long age) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", place->cache, name);
    write_bytes(path, "x", 1);
    set_age(path, age);
}

static void temporary_files_of_the_dead_are_taken_away(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    put_one(&tier, 1, 64);
    keel_digest_t key = key_of(1);
    char hex[KEEL_DIGEST_HEX], name[128];
    keel_digest_hex(&key, hex);
    pid_t dead = dead_process();
    snprintf(name, sizeof name, "entries/%.2s/.tmp.%d.0", hex, (int)dead);
    leave(place, name, 120);
    snprintf(name, sizeof name, "entries/%.2s/.tmp.%d.1", hex, (int)dead);
    leave(place, name, 0);
    snprintf(name, sizeof name, "entries/%.2s/.tmp.%d.2", hex, (int)getpid());
    leave(place, name, 120);
    snprintf(name, sizeof name, "entries/%.2s/.tmp.%d.3", hex, (int)getpid());
    leave(place, name, 4000);
    uint64_t removed, bytes;
    assert_ok(keel_store_disk_prune(place->cache, 0, &removed, &bytes));
    assert_int_equal(count_files(place, "entries", ".tmp."), 2);
    snprintf(name, sizeof name, ".tmp.%d.1", (int)dead);
    assert_int_equal(count_files(place, "entries", name), 1);
    snprintf(name, sizeof name, ".tmp.%d.2", (int)getpid());
    assert_int_equal(count_files(place, "entries", name), 1);
    tier.close(tier.context);
}

static void a_first_put_takes_stale_temporary_files_away(void **state) {
    place_t *place = *state;
    keel_tier_t first = open_tier(place), second = open_tier(place);
    put_one(&first, 1, 64);
    keel_digest_t key = key_of(1);
    char hex[KEEL_DIGEST_HEX], name[128];
    keel_digest_hex(&key, hex);
    snprintf(name, sizeof name, "entries/%.2s/.tmp.%d.0", hex, (int)dead_process());
    leave(place, name, 120);
    put_one(&second, 2, 64);
    assert_int_equal(count_files(place, "entries", ".tmp."), 0);
    first.close(first.context);
    second.close(second.context);
}

static void names_that_are_not_ours_are_left_alone(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    put_one(&tier, 1, 64);
    keel_digest_t key = key_of(1);
    char hex[KEEL_DIGEST_HEX], name[200];
    keel_digest_hex(&key, hex);
    assert_ok(keel_store_quarantine(place->cache, &key, "test"));
    put_one(&tier, 1, 64);
    keel_claim_t claim;
    assert_ok(claim_as(place, &key, "me", &claim));
    keel_claim_release(&claim);
    static const char *const own[] = {
        "thesis.tex",   "entries/notes",   "quarantine/letter.keel", "locks/my.lock",
        "quarantine/x", "locks/photo.jpg", "quarantine/.hidden",     NULL};
    for (int i = 0; own[i]; ++i)
        leave(place, own[i], 9999);
    snprintf(name, sizeof name, "entries/%.2s/%s.keel.bak", hex, hex);
    leave(place, name, 9999);
    snprintf(name, sizeof name, "entries/%.2s/.tmp.x", hex);
    leave(place, name, 9999);
    uint64_t removed, bytes;
    assert_ok(keel_store_disk_prune(place->cache, 1, &removed, &bytes));
    assert_int_equal(removed, 1);
    assert_ok(keel_store_disk_clear(place->cache, &removed));
    assert_ok(keel_store_sweep_marks(place->cache, NULL, NULL));
    assert_int_equal(removed, 0);
    assert_int_equal(count_files(place, "", ""), 9);
    tier.close(tier.context);
}

static void facts_count_what_is_there(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    for (uint64_t seed = 0; seed < 5; ++seed)
        put_one(&tier, seed, 1000);
    keel_digest_t key = key_of(0), oldest = key_of(1);
    assert_ok(keel_store_quarantine(place->cache, &key, "test"));
    char path[512];
    entry_path_of(place, &oldest, path);
    set_age(path, 5000);
    keel_claim_t claim;
    assert_ok(claim_as(place, &key, "me", &claim));
    keel_disk_facts_t facts;
    assert_ok(keel_store_disk_facts(place->cache, &facts));
    assert_int_equal(facts.entries, 4);
    assert_int_equal(facts.bytes, 4 * room_of(place, 1));
    assert_int_equal(facts.quarantined, 1);
    assert_in_range(facts.quarantined_bytes, 1000, 2000);
    assert_int_equal(facts.locks, 1);
    assert_true(facts.newest - facts.oldest > 4900 * 1000000000ull);
    keel_claim_release(&claim);
    assert_ok(keel_store_disk_facts(place->cache, &facts));
    assert_int_equal(facts.locks, 0);
    tier.close(tier.context);
}

static void verify_names_what_is_damaged_and_leaves_it(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    for (uint64_t seed = 0; seed < 5; ++seed)
        put_one(&tier, seed, 1000);
    keel_digest_t key = key_of(2);
    char path[512];
    entry_path_of(place, &key, path);
    write_bytes(path, "garbage", 7);
    for (int i = 0; i < 2; ++i) {
        unsigned bad = 0;
        uint64_t good;
        assert_ok(keel_store_disk_verify(place->cache, count_bad, &bad, &good));
        assert_int_equal(bad, 1);
        assert_int_equal(good, 4);
    }
    tier.close(tier.context);
}

static void clear_removes_entries_and_quarantine_but_no_held_lock(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    for (uint64_t seed = 0; seed < 5; ++seed)
        put_one(&tier, seed, 1000);
    keel_digest_t key = key_of(2);
    assert_ok(keel_store_quarantine(place->cache, &key, "test"));
    keel_claim_t claim;
    assert_ok(claim_as(place, &key, "me", &claim));
    uint64_t removed;
    assert_ok(keel_store_disk_clear(place->cache, &removed));
    assert_int_equal(removed, 4);
    keel_disk_facts_t facts;
    assert_ok(keel_store_disk_facts(place->cache, &facts));
    assert_int_equal(facts.entries + facts.quarantined, 0);
    assert_int_equal(facts.locks, 1);
    keel_claim_release(&claim);
    put_one(&tier, 1, 64);
    tier.close(tier.context);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_entry_with_any_byte_flipped_is_set_aside_and_heals),
        TEST(an_entry_cut_anywhere_or_with_more_behind_it_is_set_aside),
        TEST(only_the_file_that_was_seen_is_set_aside),
        TEST(another_programs_good_entry_under_this_key_is_damage),
        TEST(an_entry_of_a_newer_version_is_no_damage_and_replaced_by_what_both_read),
        TEST(a_huge_file_that_is_no_entry_is_not_read_whole),
        TEST(a_folder_where_an_entry_should_be_is_set_aside),
        TEST(damage_in_a_readonly_cache_stays_where_it_is),
        TEST(what_crashed_a_process_is_told_from_what_never_was),
        TEST(quarantine_is_bounded_and_drops_the_oldest),
        TEST(quarantine_holds_256_megabytes_or_its_newest_file),
        TEST(a_remote_address_is_refused_and_the_setting_named),
        TEST(a_folder_is_made_only_when_something_is_put),
        TEST(an_entry_that_others_can_write_or_own_is_not_given_out),
        TEST(a_folder_removed_meanwhile_is_made_again),
        TEST(a_file_in_the_folders_place_fails_cleanly),
        TEST(a_readonly_cache_gives_and_takes_nothing),
        TEST(a_folder_without_write_permission_still_gives),
        TEST(an_entry_over_the_limit_is_refused_with_both_sizes),
        TEST(a_miss_names_the_entry),
        TEST(a_get_renews_the_time_of_use),
        TEST(the_least_recently_used_are_evicted_first),
        TEST(eviction_begins_at_the_limit_and_ends_at_the_target),
        TEST(a_limit_counts_what_other_processes_put),
        TEST(temporary_files_of_the_dead_are_taken_away),
        TEST(a_first_put_takes_stale_temporary_files_away),
        TEST(names_that_are_not_ours_are_left_alone),
        TEST(facts_count_what_is_there),
        TEST(verify_names_what_is_damaged_and_leaves_it),
        TEST(clear_removes_entries_and_quarantine_but_no_held_lock),
    };
    return cmocka_run_group_tests_name("store disk", tests, NULL, NULL);
}
