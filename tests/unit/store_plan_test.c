// Plans: what is written is read back, damage is refused as a whole, and upkeep removes old ones.
#define _GNU_SOURCE
#include "store/plan.h"

#include "store_help.h"

static keel_planned_t planned_of(uint64_t seed) {
    return (keel_planned_t){key_of(seed),
                            key_of(seed / 2),
                            key_of(seed / 3),
                            {seed * 7, (uint32_t)seed, 0.25 * (double)seed}};
}

static keel_plan_t plan_of(size_t count) {
    keel_plan_t plan = {0};
    for (size_t i = 0; i < count; ++i) {
        keel_planned_t planned = planned_of(i);
        assert_true(keel_plan_add(&plan, &planned));
    }
    return plan;
}

static void path_of(const place_t *place, const char *script, char path[600]) {
    snprintf(path, 600, "%s/plans/%s.plan", place->cache, script);
}

static int setup(void **state) {
    place_t *place = malloc(sizeof *place);
    place_make(place);
    *state = place;
    return 0;
}

static int teardown(void **state) {
    place_remove(*state);
    free(*state);
    return 0;
}

static void test_a_plan_comes_back_in_its_order(void **state) {
    const place_t *place = *state;
    static const size_t counts[] = {0, 1, 2, 17, KEEL_PLAN_LIMIT};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        keel_plan_t plan = plan_of(counts[i]), back;
        assert_ok(keel_plan_write(place->cache, "train.py-01", &plan));
        assert_ok(keel_plan_read(place->cache, "train.py-01", &back));
        assert_int_equal(back.count, counts[i]);
        assert_true(keel_plan_equal(&plan, &back));
    }
}

// Costs are kept to the microsecond; one that cannot be is not known.
static void test_costs_come_back_if_they_can_be(void **state) {
    const place_t *place = *state;
    static const double rows[][2] = {
        {1.5, 1.5}, {0, 0}, {-1, 0}, {1e9, 0}, {0.0000006, 0.000001}, {999999999, 999999999}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        keel_plan_t plan = plan_of(1), back;
        plan.programs[0].cost.seconds = rows[i][0];
        assert_ok(keel_plan_write(place->cache, "train.py-01", &plan));
        assert_ok(keel_plan_read(place->cache, "train.py-01", &back));
        assert_true(back.programs[0].cost.seconds == rows[i][1]);
        assert_true(keel_plan_equal(&plan, &back));
    }
}

static void test_plans_are_equal_in_every_part(void **state) {
    (void)state;
    keel_plan_t a = plan_of(3), b = a;
    assert_true(keel_plan_equal(&a, &b));
    b.programs[2].program.bytes[5] ^= 1;
    assert_false(keel_plan_equal(&a, &b));
    b = a, b.programs[0].options.bytes[5] ^= 1;
    assert_false(keel_plan_equal(&a, &b));
    b = a, b.programs[1].assignment.bytes[5] ^= 1;
    assert_false(keel_plan_equal(&a, &b));
    b = a, b.programs[1].cost.name ^= 1;
    assert_false(keel_plan_equal(&a, &b));
    b = a, b.programs[1].cost.operations ^= 1;
    assert_false(keel_plan_equal(&a, &b));
    b = a, b.programs[1].cost.seconds += 1e-6;
    assert_false(keel_plan_equal(&a, &b));
    b = a, b.programs[1].cost.seconds += 1e-9; // less than is kept
    assert_true(keel_plan_equal(&a, &b));
    b = a, b.count = 2;
    assert_false(keel_plan_equal(&a, &b));
}

static void test_a_cost_is_that_of_the_name_and_the_nearest_size(void **state) {
    (void)state;
    keel_plan_t plan = plan_of(4);
    static const struct {
        const char *name;
        uint32_t operations;
        double seconds;
    } rows[] = {{"jit_f", 100, 1}, {"jit_f", 200, 2}, {"jit_g", 140, 3}, {"jit_f", 120, 0}};
    for (size_t i = 0; i < 4; ++i)
        plan.programs[i].cost =
            (keel_cost_t){keel_plan_name(rows[i].name), rows[i].operations, rows[i].seconds};
    assert_true(keel_plan_seconds(&plan, "jit_f", 0) == 1);
    assert_true(keel_plan_seconds(&plan, "jit_f", 149) == 1);
    assert_true(keel_plan_seconds(&plan, "jit_f", 150) == 2); // of two as near the later one
    assert_true(keel_plan_seconds(&plan, "jit_f", 151) == 2);
    assert_true(keel_plan_seconds(&plan, "jit_f", 100000) == 2);
    assert_true(keel_plan_seconds(&plan, "jit_g", 100) == 3);
    assert_true(keel_plan_seconds(&plan, "jit_h", 100) == 0);
}

static void test_a_script_without_a_plan_has_an_empty_one(void **state) {
    const place_t *place = *state;
    keel_plan_t plan = plan_of(3);
    assert_ok(keel_plan_read(place->cache, "other.py-02", &plan));
    assert_int_equal(plan.count, 0);
    assert_false(exists(place->cache));
}

static void test_a_program_is_planned_once_and_there_is_a_limit(void **state) {
    (void)state;
    keel_plan_t plan = plan_of(KEEL_PLAN_LIMIT - 1);
    keel_planned_t known = planned_of(5), first = planned_of(1000), second = planned_of(1001);
    assert_false(keel_plan_add(&plan, &known));
    assert_true(keel_plan_add(&plan, &first));
    assert_false(keel_plan_add(&plan, &second));
    assert_int_equal(plan.count, KEEL_PLAN_LIMIT);
    keel_planned_t other = known;
    other.assignment = key_of(77);
    plan.count = 10;
    assert_true(keel_plan_add(&plan, &other));
}

static keel_status_t parse(const uint8_t *data, size_t size) {
    keel_plan_t plan;
    keel_status_t status = keel_plan_parse(keel_bytes(data, size), &plan);
    if (status) assert_int_equal(plan.count, 0);
    return status;
}

static void test_a_damaged_plan_is_none(void **state) {
    const place_t *place = *state;
    char path[600];
    uint8_t *data;
    size_t size;
    keel_plan_t plan = plan_of(2);
    path_of(place, "a", path);
    assert_ok(keel_plan_write(place->cache, "a", &plan));
    assert_ok(keel_file_read(path, 1 << 20, &data, &size));
    size_t head = strlen("keel plan 1\n"), line = (size - head) / 2;
    for (size_t cut = 0; cut < size; ++cut) {
        if (cut == head || cut == head + line)
            assert_ok(parse(data, cut));
        else
            assert_code(parse(data, cut), KEEL_CORRUPT);
    }
    for (size_t at = 0; at < size; ++at) {
        uint8_t before = data[at];
        data[at] = 'x';
        assert_code(parse(data, size), KEEL_CORRUPT);
        data[at] = before;
    }
    keel_free(data);
}

static void test_a_plan_that_is_too_long_is_refused(void **state) {
    const place_t *place = *state;
    char path[600];
    uint8_t *data;
    size_t size;
    keel_plan_t plan = plan_of(KEEL_PLAN_LIMIT);
    path_of(place, "a", path);
    assert_ok(keel_plan_write(place->cache, "a", &plan));
    assert_ok(keel_file_read(path, 1 << 20, &data, &size));
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    assert_int_equal(fwrite(data + strlen("keel plan 1\n"), 195, 1, file), 1);
    fclose(file);
    keel_free(data);
    keel_status_t status = keel_plan_read(place->cache, "a", &plan);
    assert_non_null(status);
    assert_int_equal(plan.count, 0);
    keel_status_ignore(status);
}

// Its other end may never come.
static void test_a_plan_that_is_no_ordinary_file_is_refused(void **state) {
    const place_t *place = *state;
    char path[600];
    keel_plan_t plan = plan_of(1);
    path_of(place, "a", path);
    assert_ok(keel_plan_write(place->cache, "a", &plan));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    assert_code(keel_plan_read(place->cache, "a", &plan), KEEL_INVALID);
    alarm(0);
    assert_int_equal(plan.count, 0);
    plan = plan_of(2);
    assert_ok(keel_plan_write(place->cache, "a", &plan));
    assert_ok(keel_plan_read(place->cache, "a", &plan));
    assert_int_equal(plan.count, 2);
}

static void test_upkeep_takes_old_plans_away_and_no_other_file(void **state) {
    const place_t *place = *state;
    enum { DAY = 24 * 3600 };
    char old[600], young[600], left[600], foreign[600];
    keel_plan_t plan = plan_of(1);
    uint64_t removed, bytes;
    assert_ok(keel_plan_write(place->cache, "old", &plan));
    assert_ok(keel_plan_write(place->cache, "young", &plan));
    path_of(place, "old", old);
    path_of(place, "young", young);
    snprintf(left, sizeof left, "%s/plans/.tmp.999999999.1", place->cache);
    snprintf(foreign, sizeof foreign, "%s/plans/notes.txt", place->cache);
    write_bytes(left, "", 0);
    write_bytes(foreign, "", 0);
    set_age(old, 91 * DAY);
    set_age(young, 89 * DAY);
    set_age(left, 2 * 3600);
    set_age(foreign, 1000 * DAY);
    assert_ok(keel_store_disk_prune(place->cache, 0, &removed, &bytes));
    assert_int_equal(removed, 0);
    assert_false(exists(old));
    assert_true(exists(young));
    assert_false(exists(left));
    assert_true(exists(foreign));
    assert_ok(keel_store_disk_clear(place->cache, &removed));
    assert_false(exists(young));
    assert_true(exists(foreign));
}

static void test_a_plan_that_is_kept_is_not_old(void **state) {
    const place_t *place = *state;
    enum { DAY = 24 * 3600 };
    char path[600];
    uint64_t removed, bytes;
    keel_plan_t plan = plan_of(1);
    path_of(place, "a", path);
    assert_ok(keel_plan_keep(place->cache, "a", &plan)); // it was not there
    assert_true(exists(path));
    set_age(path, 91 * DAY);
    assert_ok(keel_plan_keep(place->cache, "a", &plan));
    assert_ok(keel_store_disk_prune(place->cache, 0, &removed, &bytes));
    assert_true(exists(path));
    // Of a folder that may not be changed, say: it says what it said.
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(path, path), 0);
    assert_ok(keel_plan_keep(place->cache, "a", &plan));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_plan_comes_back_in_its_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_costs_come_back_if_they_can_be, setup, teardown),
        cmocka_unit_test(test_plans_are_equal_in_every_part),
        cmocka_unit_test(test_a_cost_is_that_of_the_name_and_the_nearest_size),
        cmocka_unit_test_setup_teardown(test_a_script_without_a_plan_has_an_empty_one, setup,
                                        teardown),
        cmocka_unit_test(test_a_program_is_planned_once_and_there_is_a_limit),
        cmocka_unit_test_setup_teardown(test_a_damaged_plan_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_plan_that_is_too_long_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_plan_that_is_no_ordinary_file_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_plan_that_is_kept_is_not_old, setup, teardown),
        cmocka_unit_test_setup_teardown(test_upkeep_takes_old_plans_away_and_no_other_file, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
