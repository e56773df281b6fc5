// Each allocation fails once: while a contract is read, recorded, settled, updated, compared, and
// while the nearest program is looked for.
#define _GNU_SOURCE
#include "contract_help.h"

enum { MOST = 5000 };

static keel_bytes_t golden;

static keel_status_t record(keel_contract_t *out) {
    static const char *const programs[] = {
        "w f32[4]; x i32[8,128]; y i32[128]", "w f32[4]; x i32[8,256]; y i32[256]",
        "w f32[4]; x i32[8,384]; y i32[384]", "w f32[4]; v f32[4]; u f32[4]; t f32[4]; s f32[4]",
        "w f32[5]; v f32[4]; u f32[4]; t f32[4]; s f32[6]"};
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; ++i) {
        asked_t asked;
        ask(&asked, i < 3 ? "jit_train_step" : "jit_b", "step in train.py", i, programs[i]);
        KEEL_TRY(keel_contract_add(out, &asked.asked));
    }
    return NULL;
}

static keel_status_t look(const keel_contract_t *contract) {
    asked_t asked;
    keel_arena_t arena;
    keel_contract_nearest_t nearest;
    ask(&asked, "jit_b", "step in train.py", 9, "w f32[5]; v f64[4]; q f32[4]");
    keel_arena_initialize(&arena, 0);
    keel_status_t status = keel_contract_nearest(contract, &asked.asked, NULL, &arena, &nearest);
    keel_arena_deinitialize(&arena);
    return status;
}

static keel_status_t compare(const keel_contract_t *a, const keel_contract_t *b) {
    keel_contract_changes_t changes;
    KEEL_TRY(keel_contract_compare(a, b, &changes));
    keel_contract_changes_deinitialize(&changes);
    return NULL;
}

static keel_status_t go(void) {
    keel_contract_t older, fresh;
    keel_buffer_t text;
    KEEL_TRY(keel_contract_parse("it", golden, &older));
    keel_contract_initialize(&fresh);
    keel_buffer_initialize(&text, 0);
    keel_status_t status = record(&fresh);
    if (!status) status = keel_contract_settle(&fresh, &older);
    if (!status) status = look(&fresh);
    if (!status) status = compare(&older, &fresh);
    if (!status) status = keel_contract_update(&older, &fresh, KEEL_STR("jit_train_step"));
    if (!status) keel_contract_write(&older, &text);
    if (!status) status = keel_buffer_status(&text);
    keel_buffer_deinitialize(&text);
    keel_contract_deinitialize(&older);
    keel_contract_deinitialize(&fresh);
    return status;
}

static void lack_of_memory_is_told(void **state) {
    (void)state;
    unsigned failed = 0;
    uint8_t *data;
    size_t size;
    assert_ok(
        keel_file_read(KEEL_TEST_SOURCE "/tests/golden/contract-1.txt", 1 << 20, &data, &size));
    golden = keel_bytes(data, size);
    for (uint64_t nth = 1;; ++nth) {
        assert_true(nth < MOST);
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = go();
        bool is_over = keel_fault_count(KEEL_FAULT_ALLOC) < nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        if (is_over) assert_null(status);
        if (!is_over) assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        keel_status_ignore(status);
        if (is_over) break;
        ++failed;
    }
    assert_true(failed > 10);
    keel_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lack_of_memory_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
