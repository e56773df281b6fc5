// A tier that the engine does not know: a shelf of entries that outlives clients, below memory and
// disk.
#define _GNU_SOURCE
#include "engine_help.h"

#include "engine/tiers.h"

enum { SHELF_SIZE = 4 };

typedef struct shelf_t {
    keel_entry_t entries[SHELF_SIZE];
    size_t count;
    unsigned puts, gets, quarantined, claims, released, closed;
    bool refuses_puts;
} shelf_t;

static keel_entry_t *on_shelf(shelf_t *shelf, const keel_digest_t *key) {
    for (size_t i = 0; i < shelf->count; ++i)
        if (keel_digest_equal(&shelf->entries[i].key, key)) return &shelf->entries[i];
    return NULL;
}

static keel_status_t shelf_get(void *context, const keel_digest_t *key, keel_entry_t *out,
                               keel_miss_t *out_miss) {
    shelf_t *shelf = context;
    ++shelf->gets;
    const keel_entry_t *entry = on_shelf(shelf, key);
    *out_miss = KEEL_MISS_ABSENT;
    return entry ? keel_entry_copy(entry, true, out) : keel_status_make(KEEL_NOT_FOUND, "no");
}

static keel_status_t shelf_put(void *context, const keel_entry_t *entry) {
    shelf_t *shelf = context;
    ++shelf->puts;
    if (shelf->refuses_puts) return keel_status_make(KEEL_IO, "the shelf is out of reach");
    if (on_shelf(shelf, &entry->key)) return NULL;
    CHECK(shelf->count < SHELF_SIZE);
    return keel_entry_copy(entry, true, &shelf->entries[shelf->count++]);
}

static keel_status_t shelf_remove(void *context, const keel_digest_t *key) {
    shelf_t *shelf = context;
    keel_entry_t *entry = on_shelf(shelf, key);
    if (!entry) return NULL;
    keel_entry_deinitialize(entry);
    *entry = shelf->entries[--shelf->count];
    return NULL;
}

static keel_status_t shelf_quarantine(void *context, const keel_digest_t *key, const char *reason) {
    shelf_t *shelf = context;
    CHECK(*reason);
    ++shelf->quarantined;
    return shelf_remove(context, key);
}

static void shelf_close(void *context) {
    shelf_t *shelf = context;
    ++shelf->closed;
}

static void shelf_release(void *held) {
    shelf_t *shelf = held;
    ++shelf->released;
}

static keel_status_t shelf_claim(void *context, const keel_digest_t *key,
                                 const keel_claimant_t *claimant, keel_claim_t *out) {
    shelf_t *shelf = context;
    (void)key;
    CHECK(*claimant->name && claimant->patience);
    ++shelf->claims;
    *out = (keel_claim_t){shelf, shelf_release};
    return NULL;
}

static keel_tier_t shelf_tier(shelf_t *shelf) {
    return (keel_tier_t){.name = "shelf",
                         .context = shelf,
                         .persists = true,
                         .get = shelf_get,
                         .put = shelf_put,
                         .remove = shelf_remove,
                         .quarantine = shelf_quarantine,
                         .close = shelf_close,
                         .claim = shelf_claim};
}

static shelf_t shelf;

static void begin(bare_t *bare, const keel_tier_t *tier) {
    bare_engine(bare, KEEL_TEST_PLUGIN);
    CHECK(!keel_tiers_add(&bare->engine->tiers, tier));
    bare_client(bare);
}

static void empty_disk(const door_t *door) {
    CHECK(!keel_store_disk_clear(door->place.cache, &(uint64_t){0}));
}

static unsigned count_tier(const door_t *door, const char *tier) {
    char text[64];
    snprintf(text, sizeof text, "\"tier\":\"%s\"", tier);
    return count_events(door, "\"event\":\"load\"", text);
}

// ---- entries -----------------------------------------------------------------------------------

static void store_and_come_back(const door_t *door) {
    bare_t bare;
    keel_tier_t tier = shelf_tier(&shelf);
    begin(&bare, &tier);
    bare_live(&bare, "alpha");
    bare_close(&bare);
    CHECK(shelf.count == 1 && shelf.puts == 1 && count_entries(door) == 1);
    empty_disk(door);
    bare_client(&bare);
    bare_live(&bare, "alpha"); // from the shelf, and on to the disk
    bare_live(&bare, "alpha"); // from the disk
    CHECK(shelf.puts == 1 && count_entries(door) == 1);
    bare_close(&bare);
    keel_engine_end(bare.engine);
}

static void test_a_third_tier_is_asked_last_and_feeds_the_faster_ones(void **state) {
    door_run(*state, "KEEL_MEMORY_LIMIT=0\nKEEL_PREFETCH=off", store_and_come_back);
    const door_t *door = *state;
    assert_int_equal(count_lines(door->calls, "compile "), 1);
    assert_int_equal(count_tier(door, "shelf"), 1);
    assert_int_equal(count_tier(door, "disk"), 1);
}

static void only_read(const door_t *door) {
    bare_t bare;
    keel_tier_t tier = shelf_tier(&shelf);
    tier.readonly = true;
    tier.claim = NULL;
    begin(&bare, &tier);
    bare_live(&bare, "alpha");
    bare_close(&bare);
    CHECK(shelf.gets && !shelf.puts && !shelf.claims && count_entries(door) == 1);
}

static void test_nothing_is_put_into_a_tier_that_is_readonly(void **state) {
    door_run(*state, "", only_read);
}

static void fail_to_put(const door_t *door) {
    bare_t bare;
    keel_tier_t tier = shelf_tier(&shelf);
    shelf.refuses_puts = true;
    begin(&bare, &tier);
    bare_live(&bare, "alpha");
    bare_close(&bare);
    CHECK(shelf.puts == 1 && count_entries(door) == 1);
}

static void test_one_tier_that_keeps_an_entry_is_enough(void **state) {
    const door_t *door = *state;
    door_run(door, "", fail_to_put);
    assert_int_equal(count_events(door, "\"event\":\"publish\"", ""), 1);
    assert_int_equal(count_events(door, "\"what\":\"put\"", "out of reach"), 1);
    assert_int_equal(count_lines(door->errors, "not cached"), 0);
}

// ---- what does not load ------------------------------------------------------------------------

static void load_what_is_bad(const door_t *door) {
    bare_t bare;
    keel_tier_t tier = shelf_tier(&shelf);
    begin(&bare, &tier);
    bare_live(&bare, "alpha");
    bare_close(&bare);
    empty_disk(door);
    setenv("TEST_PLUGIN", "load_fails", 1);
    bare_client(&bare);
    bare_live(&bare, "alpha"); // compiled again, and not stored: its proof fails
    bare_close(&bare);
    CHECK(shelf.quarantined == 1 && shelf.count == 0 && count_entries(door) == 0);
    CHECK(count_files(&door->place, "quarantine", ".keel") == 0);
}

static void test_a_bad_entry_goes_to_its_own_tiers_quarantine(void **state) {
    const door_t *door = *state;
    door_run(door, "KEEL_MEMORY_LIMIT=0\nKEEL_PREFETCH=off", load_what_is_bad);
    assert_int_equal(count_lines(door->calls, "compile "), 2);
    assert_int_equal(count_tier(door, "shelf"), 0);
}

// The shelf's first entry outlives the process in a file.
static void shelf_file(const door_t *door, char out[400]) {
    snprintf(out, 400, "%s/shelf", door->place.root);
}

static void save_shelf(const door_t *door) {
    bare_t bare;
    char path[400];
    uint8_t *data;
    size_t size;
    keel_tier_t tier = shelf_tier(&shelf);
    begin(&bare, &tier);
    bare_live(&bare, "alpha");
    bare_close(&bare);
    empty_disk(door);
    shelf_file(door, path);
    CHECK(shelf.count == 1 && !keel_entry_encode(&shelf.entries[0], &data, &size));
    CHECK(!keel_file_create(path, keel_bytes(data, size)));
    keel_free(data);
}

static void begin_with_saved_shelf(const door_t *door, bare_t *bare) {
    char path[400];
    uint8_t *data;
    size_t size;
    keel_tier_t tier = shelf_tier(&shelf);
    shelf_file(door, path);
    CHECK(!keel_file_read(path, 1 << 20, &data, &size));
    CHECK(!keel_entry_decode(keel_bytes(data, size), &shelf.entries[0]));
    shelf.count = 1;
    keel_free(data);
    begin(bare, &tier);
}

static void die_of_the_shelf(const door_t *door) {
    bare_t bare;
    begin_with_saved_shelf(door, &bare);
    bare_live(&bare, "alpha");
}

static void live_without_the_shelf(const door_t *door) {
    bare_t bare;
    begin_with_saved_shelf(door, &bare);
    CHECK(tiers_crashes(bare.engine, &shelf.entries[0].key) == 1);
    bare_live(&bare, "alpha");
    CHECK(shelf.gets == 0); // the disk knows that it crashes
    bare_close(&bare);
    CHECK(tiers_crashes(bare.engine, &shelf.entries[0].key) == 0); // it was proved since
}

static void test_a_tier_without_marks_uses_those_of_the_disk(void **state) {
    const door_t *door = *state;
    static const char settings[] = "KEEL_MEMORY_LIMIT=0\nKEEL_PREFETCH=off";
    door_run(door, settings, save_shelf);
    door_run_expecting(door,
                       "KEEL_MEMORY_LIMIT=0\nKEEL_PREFETCH=off\nTEST_PLUGIN=load_aborts=alpha",
                       die_of_the_shelf, 128 + SIGABRT);
    door_run(door, settings, live_without_the_shelf);
}

static unsigned marks_made;

static keel_status_t shelf_mark(void *context, const keel_digest_t *key, const char *script,
                                keel_mark_t *out) {
    CHECK(context == &shelf && key && !script);
    ++marks_made;
    *out = (keel_mark_t){.path = NULL};
    return NULL;
}

// A load from memory can crash nothing that the disk's did not.
static void mark_each_tier(const door_t *door) {
    static const keel_marks_t marks = {.make = shelf_mark};
    bare_t bare;
    keel_digest_t key = keel_digest(keel_str_bytes(keel_str("a key")));
    bare_engine(&bare, KEEL_TEST_PLUGIN);
    keel_tier_t tier = shelf_tier(&shelf);
    tier.marks = &marks;
    CHECK(!keel_tiers_add(&bare.engine->tiers, &tier));
    const keel_tier_t *list = bare.engine->tiers.list;
    const char *const names[] = {"memory", "disk", "shelf"};
    const unsigned files[] = {0, 1, 0};
    for (size_t i = 0; i < 3; ++i) {
        keel_mark_t mark;
        CHECK(strcmp(list[i].name, names[i]) == 0);
        bool marked = tiers_mark(bare.engine, &list[i], &key, NULL, &mark);
        CHECK(marked == (i > 0) && marks_made == (i == 2));
        CHECK(count_files(&door->place, "marks", ".mark") == files[i]);
        if (i != 1) continue;
        CHECK(!unlink(mark.path));
        keel_store_unmark(&mark);
    }
}

static void test_memory_is_not_marked_and_each_other_tier_keeps_its_own(void **state) {
    door_run(*state, "", mark_each_tier);
}

// ---- claims ------------------------------------------------------------------------------------

static void claim_both(const door_t *door) {
    bare_t bare;
    keel_tier_t tier = shelf_tier(&shelf);
    begin(&bare, &tier);
    PJRT_LoadedExecutable *loaded = bare_compile(&bare, "alpha");
    CHECK(shelf.claims == 1);
    CHECK(keel_engine_loaded_closing(bare.engine, loaded));
    door_destroy(bare.plugin.api, loaded);
    bare_close(&bare);
    CHECK(shelf.released == 1);
    CHECK(count_files(&door->place, "locks", "") == 0);
    bare_client(&bare);
    bare_live(&bare, "alpha"); // found: nobody claims
    CHECK(shelf.claims == 1);
    bare_close(&bare);
}

static void test_each_tier_that_can_is_claimed_and_released_once(void **state) {
    door_run(*state, "", claim_both);
}

static void count_refusal(void *context, const char *why) {
    CHECK(*why);
    ++*(unsigned *)context;
}

static void claim_where_the_disk_refuses(const door_t *door) {
    bare_t bare;
    keel_tier_t tier = shelf_tier(&shelf);
    begin(&bare, &tier);
    unsigned refusals = 0;
    claims_t claims;
    keel_claim_t held;
    keel_digest_t key = keel_digest(keel_str_bytes(keel_str("a key")));
    const keel_claimant_t claimant = {.name = "a test", .patience = 1, .context = &refusals};
    CHECK(!keel_store_claim(door->place.cache, &key, &claimant, &held));
    CHECK(claims_take(bare.engine, &key, &claimant, count_refusal, &claims));
    CHECK(refusals == 1 && claims.count == 1 && shelf.claims == 1);
    claims_release(&claims);
    CHECK(shelf.released == 1);
    keel_claim_release(&held);
    bare_close(&bare);
}

static void test_a_tier_that_refuses_its_claim_does_not_hold_up_the_others(void **state) {
    door_run(*state, "", claim_where_the_disk_refuses);
}

static void test_more_tiers_than_there_is_room_for_are_refused(void **state) {
    (void)state;
    keel_tiers_t tiers = {0};
    shelf_t own = {0};
    keel_tier_t tier = shelf_tier(&own);
    for (int i = 0; i < KEEL_TIERS_MOST; ++i)
        assert_ok(keel_tiers_add(&tiers, &tier));
    assert_code(keel_tiers_add(&tiers, &tier), KEEL_UNSUPPORTED);
    assert_int_equal(own.closed, 1);
    keel_tiers_close(&tiers);
    assert_int_equal(own.closed, 1 + KEEL_TIERS_MOST);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_third_tier_is_asked_last_and_feeds_the_faster_ones),
        TEST(nothing_is_put_into_a_tier_that_is_readonly),
        TEST(one_tier_that_keeps_an_entry_is_enough),
        TEST(a_bad_entry_goes_to_its_own_tiers_quarantine),
        TEST(a_tier_without_marks_uses_those_of_the_disk),
        TEST(memory_is_not_marked_and_each_other_tier_keeps_its_own),
        TEST(each_tier_that_can_is_claimed_and_released_once),
        TEST(a_tier_that_refuses_its_claim_does_not_hold_up_the_others),
        TEST(more_tiers_than_there_is_room_for_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
