// The disk tier with payloads that are large, and with records that say why there is none.
#define _GNU_SOURCE
#include "store_help.h"

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

// Neither a put nor a get copies it: the file is read into memory, and the payload stays there.
static void a_large_payload_is_stored_as_it_is_and_read_once(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place), memory;
    fixture_t f = fixture_make(3, 0, KEEL_ENTRY_LARGE + 1, false);
    keel_memory_watch(1);
    assert_ok(tier.put(tier.context, &f.entry));
    assert_true(keel_memory_peak() < KEEL_ENTRY_LARGE / 4);
    keel_entry_t got, again;
    keel_miss_t miss;
    assert_ok(tier.get(tier.context, &f.entry.key, &got, &miss));
    assert_non_null(got.shared);
    // Nor do tiers: they share it.
    assert_ok(keel_store_memory(1 << 30, &memory));
    assert_ok(memory.put(memory.context, &got));
    assert_ok(memory.get(memory.context, &f.entry.key, &again, &miss));
    assert_ptr_equal(again.payload, got.payload);
    assert_true(keel_memory_peak() < KEEL_ENTRY_LARGE * 5 / 4);
    keel_memory_watch(0);
    keel_entry_deinitialize(&got);
    memory.close(memory.context);
    assert_entry_equal(&again, &f.entry); // the last one has it still
    keel_entry_deinitialize(&again);
    fixture_free(&f);
    tier.close(tier.context);
}

static void a_large_payload_with_a_byte_flipped_is_set_aside(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    fixture_t f = fixture_make(3, 0, KEEL_ENTRY_LARGE, false);
    assert_ok(tier.put(tier.context, &f.entry));
    char path[512];
    entry_path_of(place, &f.entry.key, path);
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(path, 1 << 30, &data, &size));
    data[size / 2] ^= 1;
    write_bytes(path, data, size);
    assert_misses(&tier, &f.entry.key, KEEL_MISS_DAMAGED);
    keel_free(data);
    fixture_free(&f);
    tier.close(tier.context);
}

static void a_record_has_no_payload_and_says_what_a_load_took(void **state) {
    place_t *place = *state;
    keel_tier_t tier = open_tier(place);
    fixture_t f = fixture_make(3, 0, 0, false);
    f.entry.load_seconds = 1.5;
    assert_ok(tier.put(tier.context, &f.entry));
    keel_entry_t got;
    keel_miss_t miss;
    assert_ok(tier.get(tier.context, &f.entry.key, &got, &miss));
    assert_true(keel_entry_is_record(&got) && got.load_seconds == 1.5);
    keel_entry_deinitialize(&got);
    fixture_free(&f);
    tier.close(tier.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_large_payload_is_stored_as_it_is_and_read_once),
        TEST(a_large_payload_with_a_byte_flipped_is_set_aside),
        TEST(a_record_has_no_payload_and_says_what_a_load_took),
#undef TEST
    };
    return cmocka_run_group_tests_name("store_large", tests, NULL, NULL);
}
