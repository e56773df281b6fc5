// Contracts in memory: made of programs, merged into older ones, looked up, compared.
#define _GNU_SOURCE
#include "contract_help.h"

static keel_contract_t contract, older;

static int begin(void **state) {
    (void)state;
    keel_contract_initialize(&contract);
    keel_contract_initialize(&older);
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_contract_deinitialize(&contract);
    keel_contract_deinitialize(&older);
    return 0;
}

static void parse(const char *text, keel_contract_t *out) {
    keel_contract_deinitialize(out);
    assert_ok(keel_contract_parse("keel.contract", keel_str_bytes(keel_str(text)), out));
}

// ---- recording ---------------------------------------------------------------------------------

static void a_program_is_listed_with_its_arguments(void **state) {
    (void)state;
    add_asked(&contract, "jit_step", 1, "params['w'] f32[4,4]; batch i32[8,129]");
    contract.settled = 2;
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_text(&contract, HEADER "programs 1\nsettled step 2\n"
                                  "\nentry jit_step\n  function step in train.py\n"
                                  "  program\n    pin " F1 " cost 3.9s memory 120MiB\n"
                                  "    takes params['w'] f32[4,4]\n    takes batch i32[8,129]\n");
}

static void programs_that_differ_in_one_dimension_are_one(void **state) {
    (void)state;
    add_asked(&contract, "jit_step", 1, "w f32[4]; batch i32[8,129]; mask bool[8]");
    add_asked(&contract, "jit_step", 2, "w f32[4]; batch i32[5,129]; mask bool[5]");
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_text(&contract, HEADER
                "programs 2\n"
                "\nentry jit_step\n  function step in train.py\n"
                "  program\n    pin " F2 " sizes 5 cost 3.9s memory 120MiB\n"
                "    pin " F1 " sizes 8 cost 3.9s memory 120MiB\n"
                "    takes w f32[4]\n    takes batch i32[5|8,129]\n    takes mask bool[5|8]\n");
}

static void evenly_spaced_sizes_are_a_range(void **state) {
    (void)state;
    add_asked(&contract, "jit_step", 1, "x i32[256]");
    add_asked(&contract, "jit_step", 2, "x i32[128]");
    add_asked(&contract, "jit_step", 3, "x i32[384]");
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_text(&contract, HEADER "programs 3\n"
                                  "\nentry jit_step\n  function step in train.py\n"
                                  "  program\n    pin " F2 " sizes 128 cost 3.9s memory 120MiB\n"
                                  "    pin " F1 " sizes 256 cost 3.9s memory 120MiB\n"
                                  "    pin " F3 " sizes 384 cost 3.9s memory 120MiB\n"
                                  "    takes x i32[128..384 step 128]\n");
}

static void programs_that_differ_in_more_are_told_by_what_differs(void **state) {
    (void)state;
    add_asked(&contract, "jit_step", 1, "a f32[4]; b f32[4]; c f32[4]; d f32[4]; x i32[8,2]");
    add_asked(&contract, "jit_step", 2, "a f32[4]; b f32[4]; c f32[4]; x i32[5,3]; e f32[]");
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_text(&contract, HEADER "programs 2\n"
                                  "\nentry jit_step\n  function step in train.py\n"
                                  "  program\n    pin " F1 " cost 3.9s memory 120MiB\n"
                                  "    takes a f32[4]\n    takes b f32[4]\n    takes c f32[4]\n"
                                  "    takes d f32[4]\n    takes x i32[8,2]\n"
                                  "  program\n    pin " F2 " cost 3.9s memory 120MiB\n"
                                  "    like first\n    without d\n    takes x i32[5,3]\n"
                                  "    takes e f32[]\n");
}

static void programs_that_take_the_same_share_a_list(void **state) {
    (void)state;
    add_asked(&contract, "jit_step", 2, "x i32[8]");
    add_asked(&contract, "jit_step", 1, "x i32[8]");
    add_asked(&contract, "jit_step", 1, "x i32[8]");
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_int_equal(contract.pin_count, 2);
    assert_int_equal(contract.entries[0].program_count, 1);
}

static void entries_are_sorted_by_name(void **state) {
    (void)state;
    add_asked(&contract, "jit_b", 1, "x i32[8]");
    add_asked(&contract, "jit_a", 2, "x i32[8]");
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_true(keel_str_is(contract.entries[0].name, "jit_a"));
    assert_int_equal(contract.entries[1].programs[0].pins[0].number, 1);
}

// ---- an older contract -------------------------------------------------------------------------

#define OLDER                                                                                      \
    "# Reviewed by the team.\n" HEADER "programs 1\nothers warn\n"                                 \
    "\n# Do not change.\nentry jit_step\n  function step in train.py\n  scope refuse\n"            \
    "  program\n    pin " F1 " sizes 256 cost 4.5s memory 121MiB\n"                                \
    "    takes x i32[128..512 step 128]\n"

static void what_a_person_decided_stays(void **state) {
    (void)state;
    parse(OLDER, &older);
    add_asked(&contract, "jit_step", 1, "x i32[256]");
    assert_ok(keel_contract_settle(&contract, &older));
    assert_text(&contract, OLDER);
}

static void a_size_within_bounds_becomes_a_pin(void **state) {
    (void)state;
    parse(OLDER, &older);
    add_asked(&contract, "jit_step", 1, "x i32[256]");
    add_asked(&contract, "jit_step", 2, "x i32[384]");
    assert_ok(keel_contract_settle(&contract, &older));
    assert_int_equal(contract.entries[0].program_count, 1);
    assert_int_equal(contract.entries[0].programs[0].pin_count, 2);
    assert_int_equal(contract.entries[0].programs[0].arguments[0].dims[0].high, 512);
}

static void sizes_that_a_run_had_and_lost_are_no_bounds(void **state) {
    (void)state;
    add_asked(&older, "jit_step", 1, "x i32[5]");
    add_asked(&older, "jit_step", 2, "x i32[8]");
    assert_ok(keel_contract_settle(&older, NULL));
    add_asked(&contract, "jit_step", 2, "x i32[8]");
    assert_ok(keel_contract_settle(&contract, &older));
    assert_int_equal(contract.entries[0].programs[0].varying, 0);
}

static void a_figure_that_changed_much_is_new(void **state) {
    (void)state;
    asked_t asked;
    parse(OLDER, &older);
    ask(&asked, "jit_step", "step in train.py", 1, "x i32[256]");
    asked.asked.seconds = 12.34;
    asked.asked.memory = 200u << 20;
    assert_ok(keel_contract_add(&contract, &asked.asked));
    assert_ok(keel_contract_settle(&contract, &older));
    assert_true(keel_str_is(contract.entries[0].programs[0].pins[0].cost, "12s"));
    assert_true(keel_str_is(contract.entries[0].programs[0].pins[0].memory, "200MiB"));
}

static void an_update_replaces_one_entry(void **state) {
    (void)state;
    add_asked(&older, "jit_eval", 1, "x i32[5]");
    add_asked(&older, "jit_step", 2, "x i32[8]");
    assert_ok(keel_contract_settle(&older, NULL));
    add_asked(&contract, "jit_eval", 3, "x i32[6]");
    add_asked(&contract, "jit_step", 3, "x i32[9]");
    assert_ok(keel_contract_settle(&contract, &older));
    assert_ok(keel_contract_update(&older, &contract, KEEL_STR("jit_step")));
    keel_fingerprint_t options = fingerprint_of(200), one = fingerprint_of(1),
                       two = fingerprint_of(2), three = fingerprint_of(3);
    assert_int_equal(keel_contract_match(&older, &one, &options, NULL), KEEL_CONTRACT_LISTED);
    assert_int_equal(keel_contract_match(&older, &two, &options, NULL), KEEL_CONTRACT_UNLISTED);
    assert_int_equal(keel_contract_match(&older, &three, &options, NULL), KEEL_CONTRACT_LISTED);
    assert_int_equal(older.pin_count, 2);
}

static void an_entry_is_called_by_its_function_too(void **state) {
    (void)state;
    const keel_contract_entry_t entry = {.name = KEEL_STR("SyncTensorsGraph"),
                                         .function = KEEL_STR("Model.step in train.py")};
    assert_true(keel_contract_is_named(&entry, KEEL_STR("SyncTensorsGraph")));
    assert_true(keel_contract_is_named(&entry, KEEL_STR("Model.step")));
    assert_true(keel_contract_is_named(&entry, KEEL_STR("Model.step in train.py")));
    assert_false(keel_contract_is_named(&entry, KEEL_STR("step")));
    assert_false(keel_contract_is_named(&entry, KEEL_STR("")));
    assert_true(keel_str_is(keel_contract_short_name(entry.name, entry.function), "Model.step"));
    assert_true(
        keel_str_is(keel_contract_short_name(entry.name, KEEL_STR("")), "SyncTensorsGraph"));
    assert_true(
        keel_str_is(keel_contract_short_name(KEEL_STR("jit_step"), entry.function), "jit_step"));
}

// ---- lookup ------------------------------------------------------------------------------------

static void a_listed_program_is_found(void **state) {
    (void)state;
    enum { MANY = 200 };
    keel_fingerprint_t options = fingerprint_of(200), other = fingerprint_of(201);
    for (unsigned i = 0; i < MANY; ++i) {
        char arguments[32];
        snprintf(arguments, sizeof arguments, "x i32[%u]; y i32[%u]", i + 1, i % 7);
        add_asked(&contract, "jit_step", i, arguments);
    }
    assert_ok(keel_contract_settle(&contract, NULL));
    for (unsigned i = 0; i < MANY + 20; ++i) {
        keel_contract_found_t found = {.pin = NULL};
        keel_fingerprint_t wanted = fingerprint_of(i);
        keel_contract_match_t match = keel_contract_match(&contract, &wanted, &options, &found);
        assert_int_equal(match, i < MANY ? KEEL_CONTRACT_LISTED : KEEL_CONTRACT_UNLISTED);
        if (i < MANY) assert_true(keel_fingerprint_equal(&found.pin->fingerprint, &wanted));
        match = keel_contract_match(&contract, &wanted, &other, &found);
        assert_int_equal(match, i < MANY ? KEEL_CONTRACT_OTHER_OPTIONS : KEEL_CONTRACT_UNLISTED);
    }
}

static void an_empty_contract_lists_nothing(void **state) {
    (void)state;
    keel_fingerprint_t one = fingerprint_of(1);
    assert_int_equal(keel_contract_match(&contract, &one, &one, NULL), KEEL_CONTRACT_UNLISTED);
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_int_equal(keel_contract_match(&contract, &one, &one, NULL), KEEL_CONTRACT_UNLISTED);
}

static void an_entry_has_a_scope_and_all_others_one(void **state) {
    (void)state;
    parse(OLDER, &contract);
    keel_str_t step = KEEL_STR("jit_step"), function = KEEL_STR("step in train.py");
    assert_int_equal(keel_contract_scope(&contract, step, function), KEEL_CONTRACT_REFUSE);
    // The file was renamed, and there is only one of that name.
    assert_int_equal(keel_contract_scope(&contract, step, KEEL_STR("step in main.py")),
                     KEEL_CONTRACT_REFUSE);
    assert_int_equal(keel_contract_scope(&contract, KEEL_STR("jit_eval"), function),
                     KEEL_CONTRACT_WARN);
}

// ---- drift -------------------------------------------------------------------------------------

static void assert_told(unsigned number, const char *arguments, bool fits, const char *expected) {
    asked_t asked;
    keel_arena_t arena;
    keel_buffer_t text;
    keel_contract_nearest_t nearest;
    keel_arena_initialize(&arena, 0);
    keel_buffer_initialize(&text, 0);
    ask(&asked, "jit_step", "step in train.py", number, arguments);
    assert_ok(keel_contract_nearest(&contract, &asked.asked, &arena, &nearest));
    assert_int_equal(nearest.fits, fits);
    keel_contract_tell(&asked.asked, &nearest, "keel.contract", &text);
    if (!fits) assert_string_equal(keel_buffer_cstr(&text), expected);
    keel_buffer_deinitialize(&text);
    keel_arena_deinitialize(&arena);
}

static void the_argument_that_differs_is_named(void **state) {
    (void)state;
    add_asked(&contract, "jit_step", 1, "w f32[4]; batch['tokens'] i32[8,128]");
    add_asked(&contract, "jit_step", 2, "w f32[4]; batch['tokens'] i32[8,256]");
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_told(3, "w f32[4]; batch['tokens'] i32[8,512]", false,
                "jit_step: batch['tokens'] i32[8,512] is not in keel.contract (listed: "
                "i32[8,128|256])");
    assert_told(3, "w f64[4]; batch['tokens'] i32[8,512]", false,
                "jit_step: w f64[4] is not in keel.contract (listed: f32[4]); 1 more argument "
                "differs");
    assert_told(3, "batch['tokens'] i32[8,128]", false,
                "jit_step: w is missing; keel.contract lists it: f32[4]");
    assert_told(3, "w f32[4]; batch['tokens'] i32[8,128]; mask bool[8]", false,
                "jit_step: mask bool[8] is not in keel.contract");
    assert_told(3, "w f32[4]; batch['tokens'] i32[8,128]", false,
                "jit_step: its arguments are in keel.contract, but not this program");
}

static void other_options_are_named(void **state) {
    (void)state;
    add_asked(&contract, "jit_step", 1, "w f32[4]");
    assert_ok(keel_contract_settle(&contract, NULL));
    contract.entries[0].programs[0].pins[0].options = fingerprint_of(7);
    assert_told(1, "w f32[4]", false,
                "jit_step: it is in keel.contract with other compile options or flags");
}

static void an_entry_that_is_not_listed_is_named(void **state) {
    (void)state;
    add_asked(&contract, "jit_eval", 1, "w f32[4]");
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_told(2, "w f32[4]", false, "jit_step is not in keel.contract");
}

static void bounds_allow_sizes_without_a_pin_only(void **state) {
    (void)state;
    parse(HEADER "programs 1\nentry jit_step\n  function step in train.py\n  program\n"
                 "    pin " F1 " sizes 128\n    takes x i32[8,128..512 step 128]\n"
                 "    takes y i32[128..512 step 128]\n",
          &contract);
    assert_told(9, "x i32[8,384]; y i32[384]", true, "");
    assert_told(9, "x i32[8,384]; y i32[256]", false,
                "jit_step: its arguments are in keel.contract, but not this program");
    assert_told(9, "x i32[8,128]; y i32[128]", false,
                "jit_step: its arguments are in keel.contract, but not this program");
    assert_told(9, "x i32[8,130]; y i32[130]", false,
                "jit_step: x i32[8,130] is not in keel.contract (listed: i32[8,128..512 step "
                "128]); 1 more argument differs");
}

static void recorded_sizes_are_no_bounds(void **state) {
    (void)state;
    add_asked(&contract, "jit_step", 1, "x i32[8]; y i32[8]");
    add_asked(&contract, "jit_step", 2, "x i32[5]; y i32[5]");
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_told(9, "x i32[8]; y i32[5]", false,
                "jit_step: its arguments are in keel.contract, but not this program");
}

// ---- comparison --------------------------------------------------------------------------------

static void assert_changes(const char *before, const char *after, const char *expected,
                           bool programs) {
    keel_contract_changes_t changes;
    keel_buffer_t text;
    parse(before, &older);
    parse(after, &contract);
    assert_ok(keel_contract_compare(&older, &contract, &changes));
    keel_buffer_initialize(&text, 0);
    for (size_t i = 0; i < changes.count; ++i) {
        const keel_contract_change_t *change = &changes.list[i];
        keel_buffer_format(&text, "%s %s|%.*s|%.*s|%s|%s\n", change->kind, change->what,
                           KEEL_STR_ARGS(change->entry), KEEL_STR_ARGS(change->name),
                           change->old_value, change->new_value);
    }
    assert_string_equal(keel_buffer_cstr(&text), expected);
    assert_int_equal(changes.programs, programs);
    keel_buffer_deinitialize(&text);
    keel_contract_changes_deinitialize(&changes);
}

#define ENTRY "entry jit_step\n  program\n    pin "

static void a_change_reads_as_what_changed_in_the_model(void **state) {
    (void)state;
    assert_changes(HEADER ENTRY F1 " cost 1s\n    takes x f32[4]\n",
                   HEADER ENTRY F1 " cost 1s\n    takes x f32[4]\n", "", false);
    assert_changes(HEADER ENTRY F1 " cost 1s\n    takes x f32[4]\n",
                   HEADER ENTRY F1 " cost 3s\n    takes x f32[4]\n",
                   "changed cost|jit_step||1s|3s\n", false);
    assert_changes(HEADER ENTRY F1 "\n    takes x f32[4]\n    takes y f32[4]\n",
                   HEADER ENTRY F2 "\n    takes x bf16[4]\n    takes y f32[4]\n",
                   "changed argument|jit_step|x|f32[4]|bf16[4]\n"
                   "added pin|jit_step|||024b4c4d\n"
                   "removed pin|jit_step||01262728|\n",
                   true);
    assert_changes(HEADER ENTRY F1 "\n    takes x f32[4]\n",
                   HEADER "entry jit_eval\n  program\n    pin " F1 "\n",
                   "added entry|jit_eval|||\nremoved entry|jit_step|||\n", true);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_program_is_listed_with_its_arguments),
        TEST(programs_that_differ_in_one_dimension_are_one),
        TEST(evenly_spaced_sizes_are_a_range),
        TEST(programs_that_differ_in_more_are_told_by_what_differs),
        TEST(programs_that_take_the_same_share_a_list),
        TEST(entries_are_sorted_by_name),
        TEST(what_a_person_decided_stays),
        TEST(a_size_within_bounds_becomes_a_pin),
        TEST(sizes_that_a_run_had_and_lost_are_no_bounds),
        TEST(a_figure_that_changed_much_is_new),
        TEST(an_update_replaces_one_entry),
        TEST(an_entry_is_called_by_its_function_too),
        TEST(a_listed_program_is_found),
        TEST(an_empty_contract_lists_nothing),
        TEST(an_entry_has_a_scope_and_all_others_one),
        TEST(the_argument_that_differs_is_named),
        TEST(other_options_are_named),
        TEST(an_entry_that_is_not_listed_is_named),
        TEST(bounds_allow_sizes_without_a_pin_only),
        TEST(recorded_sizes_are_no_bounds),
        TEST(a_change_reads_as_what_changed_in_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
