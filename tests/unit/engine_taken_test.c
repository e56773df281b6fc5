// The executables that the client took from loaded ones, by pointer.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/taken.h"

static const PJRT_Executable *pointer(uintptr_t address) {
    return (const PJRT_Executable *)address; // NOLINT(performance-no-int-to-ptr)
}

static void add(taken_table_t *table, const PJRT_Executable *executable, const char *format) {
    void *memory;
    assert_null(keel_calloc(1, sizeof(taken_t), &memory));
    taken_t *taken = memory;
    taken->executable = executable;
    snprintf(taken->made_of.format, sizeof taken->made_of.format, "%s", format);
    assert_null(taken_add(table, taken));
}

// How many entries are looked at if each is searched for once.
static size_t count_steps(const taken_table_t *table) {
    size_t steps = 0;
    for (size_t i = 0; i < table->size; ++i) {
        size_t place = 0;
        for (const taken_t *taken = table->chains[i]; taken; taken = taken->next) {
            assert_ptr_equal(taken_find(table, taken->executable), taken);
            steps += ++place;
        }
    }
    return steps;
}

static void a_search_takes_few_steps_among_thousands(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    // As allocators lay objects out: in lines, in pages, and far apart.
    static const uintptr_t strides[] = {16, 48, 176, 4096, 65536, 1 << 20};
    for (size_t k = 0; k < sizeof strides / sizeof *strides; ++k) {
        taken_table_t table = {0};
        for (uintptr_t i = 0; i < COUNT; ++i)
            add(&table, pointer(0x7f0000001010 + i * strides[k]), "mlir");
        assert_int_equal(table.count, COUNT);
        assert_in_range(count_steps(&table), COUNT, 2 * COUNT);
        assert_null(taken_find(&table, pointer(0x1000)));
        for (uintptr_t i = 0; i < COUNT; i += 2)
            taken_free(taken_remove(&table, pointer(0x7f0000001010 + i * strides[k])));
        assert_int_equal(table.count, COUNT / 2);
        for (uintptr_t i = 0; i < COUNT; ++i)
            assert_int_equal(i % 2,
                             taken_find(&table, pointer(0x7f0000001010 + i * strides[k])) != NULL);
        taken_clear(&table);
    }
}

static void of_those_with_one_pointer_the_last_is_found(void **state) {
    (void)state;
    static const char *const formats[] = {"hlo", "mlir", ""};
    taken_table_t table = {0};
    const PJRT_Executable *same = pointer(0x5000);
    for (size_t i = 0; i < 3; ++i)
        add(&table, same, formats[i]);
    for (uintptr_t i = 1; i < 1000; ++i) // the table grows
        add(&table, pointer(0x5000 + i * 16), "other");
    for (size_t i = 3; i-- > 0;) {
        taken_t *taken = taken_remove(&table, same);
        assert_string_equal(taken->made_of.format, formats[i]);
        taken_free(taken);
    }
    assert_null(taken_remove(&table, same));
    assert_int_equal(table.count, 999);
    taken_clear(&table);
}

static void an_empty_table_has_none(void **state) {
    (void)state;
    taken_table_t table = {0};
    assert_null(taken_find(&table, pointer(0x5000)));
    assert_null(taken_remove(&table, pointer(0x5000)));
    taken_clear(&table);
    add(&table, pointer(0x5000), "mlir");
    taken_clear(&table);
    assert_null(taken_find(&table, pointer(0x5000)));
    taken_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_takes_few_steps_among_thousands),
        cmocka_unit_test(of_those_with_one_pointer_the_last_is_found),
        cmocka_unit_test(an_empty_table_has_none),
    };
    return cmocka_run_group_tests_name("engine_taken", tests, NULL, NULL);
}
