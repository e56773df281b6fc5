// What every kind of remote does, as courier/backend.h says it: a folder, or the remote that
// KEEL_TEST_REMOTE is, which tests/remotes starts. KEEL_TEST_LACKS names what it does not offer.
#define _GNU_SOURCE
#include "place.h"

#include <pthread.h>

#include "courier/lease.h"

typedef struct there_t {
    place_t place;
    char text[2048];
    keel_remotes_t remotes;
    backend_t backend;
} there_t;

static int set_up(void **state) {
    static there_t there;
    const char *named = getenv("KEEL_TEST_REMOTE");
    place_make(&there.place);
    snprintf(there.text, sizeof there.text, "file://%s", there.place.root);
    if (named) snprintf(there.text, sizeof there.text, "%s", named);
    assert_ok(keel_remotes_parse(there.text, &there.remotes));
    assert_ok(backend_open(&there.remotes.list[0], &there.backend));
    *state = &there;
    return 0;
}

static int tear_down(void **state) {
    there_t *there = *state;
    there->backend.kind->close(there->backend.context);
    place_remove(&there->place);
    return 0;
}

// What is not offered is said to be so.
static bool lacks(keel_status_t status, const char *what) {
    const char *named = getenv("KEEL_TEST_LACKS");
    if (!named || !strstr(named, what)) return false;
    assert_code(status, KEEL_UNSUPPORTED);
    return true;
}

// ---- sinks -------------------------------------------------------------------------------------

typedef struct taken_t {
    keel_buffer_t bytes;
    size_t most; // 0: no limit
    char why[32];
} taken_t;

static taken_t taker(size_t most) {
    taken_t taken = {.most = most};
    keel_buffer_initialize(&taken.bytes, 0);
    return taken;
}

static bool take(void *context, const void *data, size_t size) {
    taken_t *taken = context;
    if (taken->most && taken->bytes.size + size > taken->most) {
        snprintf(taken->why, sizeof taken->why, "that is enough");
        return false;
    }
    keel_buffer_append(&taken->bytes, data, size);
    return true;
}

static bool is_whole(void *context) {
    (void)context;
    return true;
}

static keel_status_t get(there_t *there, const char *name, taken_t *taken) {
    const sink_t sink = {taken, take, is_whole, taken->why};
    return there->backend.kind->get(there->backend.context, name, &sink);
}

static keel_status_t put(there_t *there, const char *name, put_t how, const char *text) {
    size_t half = strlen(text) / 2;
    return there->backend.kind->put(there->backend.context, name, how, keel_bytes(text, half),
                                    keel_bytes(text + half, strlen(text) - half));
}

static void assert_there(there_t *there, const char *name, const char *text) {
    taken_t taken = taker(0);
    assert_ok(get(there, name, &taken));
    assert_string_equal(keel_buffer_cstr(&taken.bytes), text);
    keel_buffer_deinitialize(&taken.bytes);
}

static void assert_absent(there_t *there, const char *name) {
    taken_t taken = taker(0);
    facts_t facts;
    assert_code(get(there, name, &taken), KEEL_NOT_FOUND);
    assert_code(there->backend.kind->head(there->backend.context, name, &facts), KEEL_NOT_FOUND);
    assert_int_equal(taken.bytes.size, 0);
}

// ---- entries -----------------------------------------------------------------------------------

static void test_what_was_put_is_got(void **state) {
    there_t *there = *state;
    facts_t facts;
    assert_absent(there, "a/b/one");
    assert_ok(put(there, "a/b/one", PUT_REPLACE, "the first text"));
    assert_there(there, "a/b/one", "the first text");
    assert_ok(there->backend.kind->head(there->backend.context, "a/b/one", &facts));
    assert_int_equal(facts.size, strlen("the first text"));
    assert_true(facts.age == AGE_UNKNOWN || facts.age < 3600ull * 1000000000u);
    assert_ok(put(there, "a/b/one", PUT_REPLACE, "another"));
    assert_there(there, "a/b/one", "another");
    assert_absent(there, "a/b/two");
}

static void test_many_bytes_come_as_they_were(void **state) {
    there_t *there = *state;
    enum { SIZE = 5000003 };
    taken_t taken = taker(0);
    uint8_t *bytes = malloc(SIZE);
    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; ++i)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    assert_ok(there->backend.kind->put(there->backend.context, "large", PUT_REPLACE,
                                       keel_bytes(bytes, 1000),
                                       keel_bytes(bytes + 1000, SIZE - 1000)));
    assert_ok(get(there, "large", &taken));
    assert_int_equal(taken.bytes.size, SIZE);
    assert_memory_equal(taken.bytes.data, bytes, SIZE);
    keel_buffer_deinitialize(&taken.bytes);
    free(bytes);

    // A sink that has enough ends it.
    taken = taker(100000);
    assert_code(get(there, "large", &taken), KEEL_CORRUPT);
    assert_true(taken.bytes.size <= 100000);
    keel_buffer_deinitialize(&taken.bytes);
}

// ---- if absent ---------------------------------------------------------------------------------

typedef struct racer_t {
    there_t *there;
    char text[16];
    keel_status_t status;
} racer_t;

static void *race(void *context) {
    racer_t *racer = context;
    racer->status = put(racer->there, "races/one", PUT_IF_ABSENT, racer->text);
    return NULL;
}

static void test_of_several_that_put_what_is_absent_one_succeeds(void **state) {
    there_t *there = *state;
    enum { RACERS = 8 };
    racer_t racers[RACERS];
    pthread_t threads[RACERS];
    int winner = -1;
    if (lacks(put(there, "races/two", PUT_IF_ABSENT, "x"), "absent")) return;
    for (int i = 0; i < RACERS; ++i) {
        racers[i] = (racer_t){.there = there};
        snprintf(racers[i].text, sizeof racers[i].text, "racer %d", i);
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < RACERS; ++i) {
        pthread_join(threads[i], NULL);
        if (!racers[i].status) {
            assert_int_equal(winner, -1);
            winner = i;
        } else {
            assert_code(racers[i].status, KEEL_INVALID);
        }
    }
    assert_true(winner >= 0);
    assert_there(there, "races/one", racers[winner].text);
}

// ---- listing and removing ----------------------------------------------------------------------

typedef struct listed_t {
    unsigned count, wrong;
    uint64_t bytes;
} listed_t;

static keel_status_t list_one(void *visitor, const char *name, const facts_t *facts) {
    listed_t *listed = visitor;
    ++listed->count;
    listed->bytes += facts->size;
    listed->wrong += strncmp(name, "listed/", 7) != 0;
    return NULL;
}

static keel_status_t end_at_once(void *visitor, const char *name, const facts_t *facts) {
    unsigned *count = visitor;
    (void)name;
    (void)facts;
    ++*count;
    return keel_status_make(KEEL_REFUSED, "that is enough");
}

static keel_status_t list(there_t *there, listed_t *out) {
    *out = (listed_t){0};
    return there->backend.kind->list(there->backend.context, "listed/", list_one, out);
}

static void test_all_names_below_a_prefix_are_listed(void **state) {
    there_t *there = *state;
    enum { NAMES = 1050 }; // more than some servers give at once
    listed_t listed;
    unsigned count = 0;
    if (lacks(list(there, &listed), "list")) return;
    assert_int_equal(listed.count, 0);
    for (int i = 0; i < NAMES; ++i) {
        char name[64];
        snprintf(name, sizeof name, "listed/%02d/name-%d", i % 7, i);
        assert_ok(put(there, name, PUT_REPLACE, "four"));
    }
    assert_ok(put(there, "listed-not", PUT_REPLACE, "four"));
    assert_ok(list(there, &listed));
    assert_int_equal(listed.count, NAMES);
    assert_int_equal(listed.bytes, 4 * NAMES);
    assert_int_equal(listed.wrong, 0);
    assert_code(there->backend.kind->list(there->backend.context, "listed/", end_at_once, &count),
                KEEL_REFUSED);
    assert_int_equal(count, 1);
}

static void test_what_was_removed_is_gone(void **state) {
    there_t *there = *state;
    assert_ok(put(there, "removed/one", PUT_REPLACE, "text"));
    keel_status_t status = there->backend.kind->remove(there->backend.context, "removed/one");
    if (lacks(status, "remove")) return;
    assert_ok(status);
    assert_ok(there->backend.kind->remove(there->backend.context, "removed/one"));
    assert_absent(there, "removed/one");
}

// ---- leases ------------------------------------------------------------------------------------

static const uint64_t second = 1000000000u;

static void nap(uint64_t milliseconds) {
    const struct timespec t = {(time_t)(milliseconds / 1000),
                               (long)(milliseconds % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static leasing_t leasing_of(there_t *there, const char *name, const char *holder, uint64_t length) {
    leasing_t leasing;
    assert_ok(lease_begin(&there->backend, name, holder, length, &leasing));
    return leasing;
}

static void assert_state(leasing_t *leasing, lease_state_t expected) {
    lease_state_t state;
    assert_ok(lease_try(leasing, &state));
    assert_int_equal(state, expected);
}

static void test_a_lease_has_one_holder_until_it_is_released(void **state) {
    there_t *there = *state;
    lease_state_t first;
    leasing_t one = leasing_of(there, "claims/a", "the first", 60 * second);
    leasing_t two = leasing_of(there, "claims/a", "the second", 60 * second);
    leasing_t three = leasing_of(there, "claims/a", "the third", 60 * second);
    keel_status_t status = lease_try(&one, &first);
    if (!lacks(status, "lease")) {
        assert_ok(status);
        assert_int_equal(first, LEASE_HELD);
        assert_state(&two, LEASE_TAKEN);
        assert_string_equal(two.other.holder, "the first");
        assert_ok(lease_renew(&one));
        assert_state(&two, LEASE_TAKEN);
        assert_ok(lease_release(&one));
        assert_state(&two, LEASE_LEFT);
        assert_state(&three, LEASE_HELD);
        assert_ok(lease_release(&three));
    }
    lease_end(&one);
    lease_end(&two);
    lease_end(&three);
}

static void await_held(leasing_t *leasing, uint64_t patience) {
    uint64_t until = keel_clock_monotonic() + patience;
    lease_state_t state = LEASE_TAKEN;
    while (state == LEASE_TAKEN && keel_clock_monotonic() < until) {
        nap(50);
        assert_ok(lease_try(leasing, &state));
    }
    assert_int_equal(state, LEASE_HELD);
}

// Twice, so that one follows a holder that had followed another.
static void test_a_lease_that_is_not_renewed_ends_and_its_holder_has_lost_it(void **state) {
    there_t *there = *state;
    lease_state_t first;
    leasing_t one = leasing_of(there, "claims/b", "the first", second);
    leasing_t two = leasing_of(there, "claims/b", "the second", second);
    leasing_t three = leasing_of(there, "claims/b", "the third", 60 * second);
    leasing_t four = leasing_of(there, "claims/b", "the fourth", 60 * second);
    keel_status_t status = lease_try(&one, &first);
    if (!lacks(status, "lease")) {
        assert_ok(status);
        assert_state(&two, LEASE_TAKEN);
        await_held(&two, 60 * second);
        assert_code(lease_renew(&one), KEEL_NOT_FOUND);
        assert_ok(lease_release(&one)); // not the second's
        assert_state(&three, LEASE_TAKEN);
        assert_string_equal(three.other.holder, "the second");
        await_held(&three, 60 * second);
        assert_code(lease_renew(&two), KEEL_NOT_FOUND);
        assert_state(&four, LEASE_TAKEN);
        assert_string_equal(four.other.holder, "the third");
        assert_ok(lease_release(&three));
        assert_state(&four, LEASE_LEFT);
        assert_absent(there, "claims/b");
    }
    lease_end(&one);
    lease_end(&two);
    lease_end(&three);
    lease_end(&four);
}

// The second looks again and again while the first renews.
static void test_a_lease_that_is_renewed_lasts(void **state) {
    there_t *there = *state;
    lease_state_t first;
    leasing_t one = leasing_of(there, "claims/c", "the first", 3 * second);
    leasing_t two = leasing_of(there, "claims/c", "the second", 3 * second);
    keel_status_t status = lease_try(&one, &first);
    if (!lacks(status, "lease")) {
        assert_ok(status);
        for (int i = 0; i < 5; ++i) {
            nap(1000);
            assert_ok(lease_renew(&one));
            assert_state(&two, LEASE_TAKEN);
        }
        assert_ok(lease_release(&one));
    }
    lease_end(&one);
    lease_end(&two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_was_put_is_got, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_bytes_come_as_they_were, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_of_several_that_put_what_is_absent_one_succeeds,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_all_names_below_a_prefix_are_listed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_was_removed_is_gone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_lease_has_one_holder_until_it_is_released, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_lease_that_is_not_renewed_ends_and_its_holder_has_lost_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_lease_that_is_renewed_lasts, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
