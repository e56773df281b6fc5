// What every tier must do; run over each of them.
#define _GNU_SOURCE
#include "store_help.h"

#include <pthread.h>

typedef struct subject_t {
    place_t place;
    keel_tier_t tier;
    keel_status_t (*open)(const place_t *place, uint64_t limit, keel_tier_t *out);
} subject_t;

static keel_status_t open_memory(const place_t *place, uint64_t limit, keel_tier_t *out) {
    (void)place;
    return keel_store_memory(limit, out);
}

static keel_status_t open_disk(const place_t *place, uint64_t limit, keel_tier_t *out) {
    return keel_store_disk(place->cache, limit, false, out);
}

static int set_up(void **state, keel_status_t (*open)(const place_t *, uint64_t, keel_tier_t *)) {
    subject_t *subject = calloc(1, sizeof *subject);
    place_make(&subject->place);
    subject->open = open;
    keel_status_ignore(open(&subject->place, 64 << 20, &subject->tier));
    *state = subject;
    return subject->tier.context ? 0 : -1;
}

static int set_up_memory(void **state) {
    return set_up(state, open_memory);
}

static int set_up_disk(void **state) {
    return set_up(state, open_disk);
}

static int tear_down(void **state) {
    subject_t *subject = *state;
    subject->tier.close(subject->tier.context);
    place_remove(&subject->place);
    free(subject);
    return 0;
}

static void an_empty_tier_has_nothing(void **state) {
    subject_t *s = *state;
    keel_digest_t key = key_of(1);
    assert_misses(&s->tier, &key, KEEL_MISS_ABSENT);
    assert_ok(s->tier.remove(s->tier.context, &key));
}

static void what_was_put_comes_back_whole(void **state) {
    subject_t *s = *state;
    const size_t sizes[] = {0, 1, 77, 4096, 8966, 1150000};
    for (uint64_t i = 0; i < 12; ++i) {
        fixture_t f = fixture_make(i, 0, sizes[i / 2], i % 2);
        assert_ok(s->tier.put(s->tier.context, &f.entry));
        assert_has(&s->tier, &f.entry);
        assert_has(&s->tier, &f.entry);
        fixture_free(&f);
    }
}

static void texts_may_be_empty_or_long_or_no_utf8(void **state) {
    subject_t *s = *state;
    fixture_t f = fixture_make(1, 0, 10, true);
    char *text = malloc(200001);
    memset(text, 0xff, 200000);
    text[200000] = 0;
    f.entry.components = text;
    f.entry.name = text + 200000;
    assert_ok(s->tier.put(s->tier.context, &f.entry));
    assert_has(&s->tier, &f.entry);
    free(text);
    fixture_free(&f);
}

static void a_later_put_replaces_an_earlier_one(void **state) {
    subject_t *s = *state;
    fixture_t old = fixture_make(5, 0, 1000, false), new = fixture_make(5, 1, 2000, false);
    assert_ok(s->tier.put(s->tier.context, &old.entry));
    assert_ok(s->tier.put(s->tier.context, &new.entry));
    assert_has(&s->tier, &new.entry);
    fixture_free(&old);
    fixture_free(&new);
}

static void what_was_removed_is_absent(void **state) {
    subject_t *s = *state;
    fixture_t a = fixture_make(1, 0, 100, true), b = fixture_make(2, 0, 100, true);
    assert_ok(s->tier.put(s->tier.context, &a.entry));
    assert_ok(s->tier.put(s->tier.context, &b.entry));
    assert_ok(s->tier.remove(s->tier.context, &a.entry.key));
    assert_misses(&s->tier, &a.entry.key, KEEL_MISS_ABSENT);
    assert_has(&s->tier, &b.entry);
    fixture_free(&a);
    fixture_free(&b);
}

typedef struct listing_t {
    unsigned count;
    uint64_t bytes;
    bool seen[20];
} listing_t;

static keel_status_t note(void *visitor, const keel_entry_t *entry, uint64_t stored_bytes,
                          uint64_t last_used) {
    listing_t *listing = visitor;
    ++listing->count;
    listing->bytes += stored_bytes;
    assert_null(entry->payload);
    assert_true(last_used > 1700000000ull * 1000000000u);
    assert_string_equal(entry->name, "jit_step");
    for (uint64_t seed = 0; seed < 20; ++seed) {
        keel_digest_t key = key_of(seed);
        if (!keel_digest_equal(&key, &entry->key)) continue;
        assert_int_equal(entry->payload_size, 100 * seed);
        listing->seen[seed] = true;
    }
    return NULL;
}

static void a_listing_shows_each_entry_once_without_its_payload(void **state) {
    subject_t *s = *state;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        fixture_t f = fixture_make(seed, 0, 100 * seed, false);
        assert_ok(s->tier.put(s->tier.context, &f.entry));
        fixture_free(&f);
    }
    listing_t listing = {0};
    assert_ok(s->tier.list(s->tier.context, note, &listing));
    assert_int_equal(listing.count, 20);
    for (int i = 0; i < 20; ++i)
        assert_true(listing.seen[i]);
    assert_true(listing.bytes >= 100 * 190);
}

static keel_status_t refuse(void *visitor, const keel_entry_t *entry, uint64_t stored_bytes,
                            uint64_t last_used) {
    (void)entry;
    (void)stored_bytes;
    (void)last_used;
    ++*(int *)visitor;
    return keel_status_make(KEEL_REFUSED, "enough");
}

static void a_listing_ends_where_its_visitor_says(void **state) {
    subject_t *s = *state;
    for (uint64_t seed = 0; seed < 3; ++seed) {
        fixture_t f = fixture_make(seed, 0, 10, false);
        assert_ok(s->tier.put(s->tier.context, &f.entry));
        fixture_free(&f);
    }
    int visits = 0;
    assert_code(s->tier.list(s->tier.context, refuse, &visits), KEEL_REFUSED);
    assert_int_equal(visits, 1);
}

static void the_limit_holds_and_the_newest_stays(void **state) {
    subject_t *s = *state;
    keel_tier_t small;
    assert_ok(s->open(&s->place, 100000, &small));
    for (uint64_t seed = 0; seed < 40; ++seed) {
        fixture_t f = fixture_make(seed, 0, 100 * seed + 8000, false);
        assert_ok(small.put(small.context, &f.entry));
        assert_has(&small, &f.entry);
        fixture_free(&f);
        keel_disk_facts_t facts;
        assert_ok(keel_store_disk_facts(s->place.cache, &facts));
        assert_true(facts.bytes <= 100000);
    }
    keel_digest_t first = key_of(0);
    assert_misses(&small, &first, KEEL_MISS_ABSENT);
    small.close(small.context);
}

static void an_entry_over_the_limit_is_not_kept_and_breaks_nothing(void **state) {
    subject_t *s = *state;
    keel_tier_t small;
    assert_ok(s->open(&s->place, 10000, &small));
    fixture_t fits = fixture_make(1, 0, 5000, false), large = fixture_make(2, 0, 20000, false);
    assert_ok(small.put(small.context, &fits.entry));
    keel_status_t status = small.put(small.context, &large.entry);
    if (status) assert_int_equal(keel_status_code(status), KEEL_REFUSED);
    keel_status_ignore(status);
    assert_misses(&small, &large.entry.key, KEEL_MISS_ABSENT);
    assert_has(&small, &fits.entry);
    small.close(small.context);
    fixture_free(&fits);
    fixture_free(&large);
}

enum { THREADS = 8, ROUNDS = 60, KEYS = 6 };

// Every payload is one of two versions, so a mixture of both would be seen.
static void *put_and_get(void *argument) {
    const keel_tier_t *tier = argument;
    uint64_t state = (uint64_t)(uintptr_t)&state;
    unsigned long bad = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        uint64_t random = next_random(&state), seed = random % KEYS;
        fixture_t a = fixture_make(seed, 0, 3000, true), b = fixture_make(seed, 1, 3000, true);
        fixture_t *chosen = random & 64 ? &a : &b;
        keel_entry_t got;
        keel_miss_t miss;
        keel_status_t status = NULL;
        if (random & 128) {
            status = tier->put(tier->context, &chosen->entry);
        } else if (random & 256) {
            status = tier->get(tier->context, &chosen->entry.key, &got, &miss);
            if (keel_status_code(status) == KEEL_NOT_FOUND) {
                bad += miss != KEEL_MISS_ABSENT;
                keel_status_ignore(status);
                status = NULL;
            } else if (!status) {
                bad += got.payload_size != 3000 || (memcmp(got.payload, a.payload, 3000) &&
                                                    memcmp(got.payload, b.payload, 3000));
                keel_entry_deinitialize(&got);
            }
        } else if (random & 512) {
            status = tier->remove(tier->context, &chosen->entry.key);
        } else {
            listing_t listing = {0};
            int visits = 0;
            (void)listing;
            keel_status_ignore(tier->list(tier->context, refuse, &visits));
        }
        bad += status != NULL;
        keel_status_ignore(status);
        fixture_free(&a);
        fixture_free(&b);
    }
    return (void *)bad;
}

static void threads_share_a_tier(void **state) {
    subject_t *s = *state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, put_and_get, &s->tier), 0);
    for (int i = 0; i < THREADS; ++i) {
        void *bad;
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
}

// ---- the memory tier's order and limit ----------------------------------------------------------

static void put_sized(const keel_tier_t *tier, uint64_t seed, size_t size) {
    fixture_t f = fixture_make(seed, 0, size, false);
    assert_ok(tier->put(tier->context, &f.entry));
    fixture_free(&f);
}

static bool has_key(const keel_tier_t *tier, uint64_t seed) {
    keel_digest_t key = key_of(seed);
    keel_entry_t got;
    keel_miss_t miss;
    keel_status_t status = tier->get(tier->context, &key, &got, &miss);
    if (!status) keel_entry_deinitialize(&got);
    keel_status_ignore(status);
    return !status;
}

typedef struct order_t {
    uint64_t seeds[8];
    unsigned count;
} order_t;

static keel_status_t note_seed(void *visitor, const keel_entry_t *entry, uint64_t stored_bytes,
                               uint64_t last_used) {
    order_t *order = visitor;
    (void)stored_bytes;
    (void)last_used;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        keel_digest_t key = key_of(seed);
        if (keel_digest_equal(&key, &entry->key)) order->seeds[order->count++] = seed;
    }
    return NULL;
}

// Looks at nothing that would count as a use.
static void assert_order(const keel_tier_t *tier, unsigned count, const uint64_t *seeds) {
    order_t order = {.count = 0};
    assert_ok(tier->list(tier->context, note_seed, &order));
    assert_int_equal(order.count, count);
    for (unsigned i = 0; i < count; ++i)
        assert_int_equal(order.seeds[i], seeds[i]);
}
#define assert_newest_first(tier, ...)                                                             \
    assert_order((tier), sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),               \
                 (const uint64_t[]){__VA_ARGS__})

static void what_was_used_longest_ago_leaves_memory_first(void **state) {
    (void)state;
    keel_tier_t tier;
    assert_ok(keel_store_memory(300, &tier));
    for (uint64_t seed = 1; seed <= 3; ++seed)
        put_sized(&tier, seed, 100);
    assert_newest_first(&tier, 3, 2, 1);
    assert_true(has_key(&tier, 1)); // a use
    assert_newest_first(&tier, 1, 3, 2);
    put_sized(&tier, 4, 100);
    assert_newest_first(&tier, 4, 1, 3);
    assert_true(has_key(&tier, 1));
    put_sized(&tier, 3, 100); // so is a put
    put_sized(&tier, 5, 200);
    assert_newest_first(&tier, 5, 3);
    assert_false(has_key(&tier, 1)); // a get of what is not there is none
    assert_newest_first(&tier, 5, 3);
    tier.close(tier.context);
}

static void memory_holds_its_limit_to_the_byte(void **state) {
    (void)state;
    keel_tier_t tier;
    assert_ok(keel_store_memory(300, &tier));
    put_sized(&tier, 1, 299);
    put_sized(&tier, 2, 1);
    assert_newest_first(&tier, 2, 1);
    put_sized(&tier, 3, 1);
    assert_newest_first(&tier, 3, 2);
    put_sized(&tier, 4, 300);
    assert_newest_first(&tier, 4);
    // One byte more is not held, and the older one of its key would be wrong.
    put_sized(&tier, 4, 301);
    assert_order(&tier, 0, NULL);
    put_sized(&tier, 5, 100);
    put_sized(&tier, 6, 200);
    put_sized(&tier, 5, 50); // in place of its older one, not beside it
    assert_newest_first(&tier, 5, 6);
    put_sized(&tier, 7, 50);
    assert_newest_first(&tier, 7, 5, 6);
    keel_digest_t key = key_of(6);
    assert_ok(tier.remove(tier.context, &key));
    put_sized(&tier, 8, 200);
    assert_newest_first(&tier, 8, 7, 5);
    tier.close(tier.context);
}

// Far more than there are buckets.
static void memory_finds_each_of_many(void **state) {
    (void)state;
    keel_tier_t tier;
    assert_ok(keel_store_memory(1 << 20, &tier));
    for (uint64_t seed = 0; seed < 4000; ++seed)
        put_sized(&tier, seed, 1);
    for (uint64_t seed = 0; seed < 4000; seed += 3) {
        keel_digest_t key = key_of(seed);
        assert_ok(tier.remove(tier.context, &key));
    }
    for (uint64_t seed = 0; seed < 4000; ++seed)
        assert_int_equal(has_key(&tier, seed), seed % 3 != 0);
    tier.close(tier.context);
}

#define TIERS(X)                                                                                   \
    X(an_empty_tier_has_nothing)                                                                   \
    X(what_was_put_comes_back_whole)                                                               \
    X(texts_may_be_empty_or_long_or_no_utf8)                                                       \
    X(a_later_put_replaces_an_earlier_one)                                                         \
    X(what_was_removed_is_absent)                                                                  \
    X(a_listing_shows_each_entry_once_without_its_payload)                                         \
    X(a_listing_ends_where_its_visitor_says)                                                       \
    X(the_limit_holds_and_the_newest_stays)                                                        \
    X(an_entry_over_the_limit_is_not_kept_and_breaks_nothing)                                      \
    X(threads_share_a_tier)

#define OVER_MEMORY(name) {"memory: " #name, name, set_up_memory, tear_down, NULL},
#define OVER_DISK(name) {"disk: " #name, name, set_up_disk, tear_down, NULL},

int main(void) {
    const struct CMUnitTest tests[] = {TIERS(OVER_MEMORY) TIERS(OVER_DISK) cmocka_unit_test(
                                           what_was_used_longest_ago_leaves_memory_first),
                                       cmocka_unit_test(memory_holds_its_limit_to_the_byte),
                                       cmocka_unit_test(memory_finds_each_of_many)};
    return cmocka_run_group_tests_name("store tiers", tests, NULL, NULL);
}
