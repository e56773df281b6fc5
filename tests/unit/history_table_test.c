// The table behind a history: what it holds is counted to the byte, and ids stay what files say.
#define _GNU_SOURCE
#include "history/internal.h"
#include "history_help.h"

// What the table should say that it holds.
static size_t bytes_of(const table_t *table) {
    size_t bytes = 0;
    for (size_t i = 0; i < BUCKETS; ++i)
        for (const value_t *value = table->values[i]; value; value = value->next)
            bytes += sizeof *value + strlen(value->text) + 1;
    for (const record_t *record = table->oldest; record; record = record->newer)
        bytes += sizeof *record + strlen(record->name) + strlen(record->origin) + 2;
    return bytes;
}

static size_t values_in(const table_t *table) {
    size_t count = 0;
    for (size_t i = 0; i < BUCKETS; ++i)
        for (const value_t *value = table->values[i]; value; value = value->next)
            ++count;
    return count;
}

static record_t *add_to(table_t *table, uint64_t number) {
    made_t made;
    record_t *record = NULL;
    make_record(&made, "jit_step", number);
    assert_ok(table_add_key(table, &made.record, &record));
    free_record(&made);
    return record;
}

static void what_a_table_holds_is_counted_to_the_byte(void **state) {
    (void)state;
    table_t table = {0};
    add_to(&table, 0);
    size_t shared = values_in(&table) - 1; // all but the program's are those of each key
    for (uint64_t i = 1; i < KEEL_HISTORY_LIMIT; ++i)
        add_to(&table, i);
    assert_int_equal(table.bytes, bytes_of(&table));
    assert_int_equal(table.count, KEEL_HISTORY_LIMIT);
    assert_int_equal(values_in(&table), KEEL_HISTORY_LIMIT + shared);
    for (uint64_t i = 0; i < 100; ++i)
        add_to(&table, KEEL_HISTORY_LIMIT + i); // each in place of the oldest
    assert_int_equal(table.bytes, bytes_of(&table));
    assert_int_equal(table.count, KEEL_HISTORY_LIMIT);
    assert_int_equal(values_in(&table), KEEL_HISTORY_LIMIT + shared);
    table_clear(&table);
    assert_int_equal(table.bytes, 0);
    assert_int_equal(table.count, 0);
    assert_int_equal(values_in(&table), 0);
    assert_null(table.newest);
}

static void a_table_keeps_its_newest_record_however_large(void **state) {
    (void)state;
    table_t table = {.bytes = MEMORY_LIMIT};
    record_t *first = add_to(&table, 1);
    assert_ptr_equal(table.newest, first);
    record_t *second = add_to(&table, 2);
    assert_ptr_equal(table.oldest, second);
    assert_ptr_equal(table.newest, second);
    table_clear(&table);
    assert_int_equal(table.bytes, MEMORY_LIMIT);
}

// So many that every bucket has some.
static void fill_buckets(table_t *table) {
    for (uint64_t i = 0; i < 16000; ++i) {
        keel_digest_t digest = digest_of("value", i);
        value_t *value;
        assert_ok(table_value(table, KEEL_COMPONENT_PROGRAM, &digest, KEEL_STR("text"), &value));
        value->in_file = true;
    }
}

static size_t values_in_file(const table_t *table) {
    size_t count = 0;
    for (size_t i = 0; i < BUCKETS; ++i)
        for (const value_t *value = table->values[i]; value; value = value->next)
            count += value->in_file;
    return count;
}

static void what_is_in_the_file_is_known_of_every_value(void **state) {
    (void)state;
    table_t ours = {0}, other = {0};
    fill_buckets(&ours);
    fill_buckets(&other);
    for (size_t i = 0; i < BUCKETS; ++i)
        assert_non_null(ours.values[i]);
    table_forget_file(&ours);
    assert_int_equal(values_in_file(&ours), 0);
    table_take_file(&ours, &other);
    assert_int_equal(values_in_file(&ours), values_in(&ours));
    other.values[0]->in_file = other.values[BUCKETS - 1]->in_file = false;
    table_take_file(&ours, &other);
    assert_int_equal(values_in_file(&ours), values_in(&ours) - 2);
    table_drop_unused(&other); // no record has any of them
    assert_int_equal(values_in(&other), 0);
    table_take_file(&ours, &other);
    assert_int_equal(values_in_file(&ours), 0);
    table_clear(&ours);
}

static void a_value_that_no_record_of_a_file_has_is_dropped(void **state) {
    (void)state;
    table_t table = {0};
    char hex[KEEL_DIGEST_HEX], line[300];
    keel_digest_t digest = digest_of("value", 1);
    uint64_t damaged = 0;
    keel_digest_hex(&digest, hex);
    int size = snprintf(line, sizeof line,
                        "{\"value\":\"%016llx\",\"component\":\"XLA_FLAGS\",\"digest\":\"%s\","
                        "\"text\":\"a\"}\n",
                        (unsigned long long)value_id(KEEL_COMPONENT_XLA_FLAGS, &digest), hex);
    assert_ok(file_parse((uint8_t *)line, (size_t)size, &table, &damaged));
    assert_int_equal(damaged, 0);
    assert_int_equal(values_in(&table), 0);
    assert_int_equal(table.bytes, 0);
}

// Files of earlier versions have them.
static void ids_of_values_and_records_never_change(void **state) {
    (void)state;
    keel_digest_t a = digest_of("a", 1), b = digest_of("b", 2);
    assert_int_equal(value_id(KEEL_COMPONENT_PROGRAM, &a), 0xb50b8a05d2a70a0u);
    assert_int_equal(record_id(&a, &b), 0x596ba530c607077bu);
    assert_int_not_equal(record_id(&a, &b), record_id(&b, &a));
}

static void a_program_that_is_known_is_updated_and_stands_once(void **state) {
    (void)state;
    table_t table = {0};
    record_t *first = add_to(&table, 1), *second = add_to(&table, 2);
    first->seconds = 5;
    made_t made;
    record_t *again = NULL;
    make_record(&made, "jit_step", 1);
    made.record.seconds = 0; // a load: what compiling took stays known
    made.record.when = 7;
    made.record.run = "another";
    assert_ok(table_add_key(&table, &made.record, &again));
    assert_ptr_equal(again, first);
    assert_ptr_equal(table.newest, first);
    assert_ptr_equal(table.oldest, second);
    assert_int_equal(table.count, 2);
    assert_true(first->seconds == 5 && first->when == 7);
    assert_string_equal(first->run, "another");
    assert_int_equal(first->values[KEEL_COMPONENT_PROGRAM]->uses, 1);
    free_record(&made);
    table_clear(&table);
}

static void long_texts_are_cut_between_characters(void **state) {
    (void)state;
    keel_str_t cut = text_cut("ab\xc3\xa9z", 3);
    assert_int_equal(cut.size, 2);
    assert_int_equal(text_cut("ab\xc3\xa9z", 4).size, 4);
    assert_int_equal(text_cut("abcde", 5).size, 5);
    assert_int_equal(text_cut("abcde", 4).size, 4);
    assert_int_equal(text_cut("\x80\x80\x80", 2).size, 0);
    assert_int_equal(text_cut(NULL, 4).size, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_table_holds_is_counted_to_the_byte),
        cmocka_unit_test(a_table_keeps_its_newest_record_however_large),
        cmocka_unit_test(what_is_in_the_file_is_known_of_every_value),
        cmocka_unit_test(a_value_that_no_record_of_a_file_has_is_dropped),
        cmocka_unit_test(ids_of_values_and_records_never_change),
        cmocka_unit_test(a_program_that_is_known_is_updated_and_stands_once),
        cmocka_unit_test(long_texts_are_cut_between_characters),
    };
    return cmocka_run_group_tests_name("history_table", tests, NULL, NULL);
}
