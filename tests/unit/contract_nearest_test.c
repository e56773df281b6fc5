// A program that is not listed: the listed one that is nearest, what differs, whether bounds allow
// it.
#define _GNU_SOURCE
#include "contract_help.h"

static keel_contract_t contract;
static keel_arena_t arena;
static keel_contract_nearest_t nearest;

static int begin(void **state) {
    (void)state;
    keel_contract_initialize(&contract);
    keel_arena_initialize(&arena, 0);
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_contract_deinitialize(&contract);
    keel_arena_deinitialize(&arena);
    return 0;
}

static void parse(const char *text) {
    keel_contract_deinitialize(&contract);
    assert_ok(keel_contract_parse("keel.contract", keel_str_bytes(keel_str(text)), &contract));
}

static void look(const asked_t *asked, bool fits, const char *expected) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    assert_ok(keel_contract_nearest(&contract, &asked->asked, NULL, &arena, &nearest));
    assert_int_equal(nearest.fits, fits);
    keel_contract_tell(&asked->asked, &nearest, "keel.contract", &text);
    if (!fits) assert_string_equal(keel_buffer_cstr(&text), expected);
    keel_buffer_deinitialize(&text);
}

static void assert_told(unsigned number, const char *arguments, bool fits, const char *expected) {
    asked_t asked;
    ask(&asked, "jit_step", "step in train.py", number, arguments);
    look(&asked, fits, expected);
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
                 "    takes y i32[128..512 step 128]\n");
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

#define ENTRY HEADER "entry jit_step\n  function step in train.py\n  program\n    pin " F1 "\n"

static void the_program_with_the_fewest_differences_is_the_nearest(void **state) {
    (void)state;
    parse(ENTRY "    takes a f32[1]\n    takes b f32[1]\n  program\n    pin " F2 "\n"
                "    takes a f32[2]\n    takes b f32[1]\n  program\n    pin " F3 "\n"
                "    takes a f32[2]\n    takes b f32[1]\n    takes c f32[1]\n");
    assert_told(9, "a f32[2]; b f32[3]", false,
                "jit_step: b f32[3] is not in keel.contract (listed: f32[1])");
    // Of two with as many, the first.
    assert_told(9, "a f32[2]; b f32[1]; c f32[2]", false,
                "jit_step: c f32[2] is not in keel.contract");
    assert_told(9, "a f32[1]; b f32[1]; d f32[1]", false,
                "jit_step: d f32[1] is not in keel.contract");
    assert_ptr_equal(nearest.program, &contract.entries[0].programs[0]);
}

static void a_mesh_is_a_difference(void **state) {
    (void)state;
    asked_t asked;
    ask(&asked, "jit_step", "step in train.py", 9, "a f32[1]");
    parse(ENTRY "    mesh data=2\n    takes a f32[1]\n");
    look(&asked, false, "jit_step: mesh is missing; keel.contract lists it: data=2");
    asked.asked.mesh = KEEL_STR("data=4");
    look(&asked, false, "jit_step: mesh data=4 is not in keel.contract (listed: data=2)");
    assert_int_equal(nearest.total, 1);
    parse(ENTRY "    takes a f32[1]\n");
    look(&asked, false, "jit_step: mesh data=4 is not in keel.contract");
    // It counts where the nearest program is sought.
    parse(ENTRY "    mesh data=2\n    takes a f32[1]\n  program\n    pin " F2
                "\n    mesh data=4\n    takes a f32[1]\n");
    look(&asked, false, "jit_step: its arguments are in keel.contract, but not this program");
}

static void sharding_and_donation_are_named_if_they_differ(void **state) {
    (void)state;
    parse(ENTRY "    takes x f32[4] sharding P('d',) donated\n");
    assert_told(9, "x f32[4]", false,
                "jit_step: x f32[4] unsharded not donated is not in keel.contract (listed: f32[4] "
                "P('d',) donated)");
    asked_t asked;
    ask(&asked, "jit_step", "step in train.py", 9, "x f32[5]");
    asked.arguments[0].sharding = KEEL_STR("P('d',)");
    asked.arguments[0].donated = true;
    look(&asked, false, "jit_step: x f32[5] is not in keel.contract (listed: f32[4])");
    asked.arguments[0].sharding = KEEL_STR("P('e',)");
    look(&asked, false,
         "jit_step: x f32[5] P('e',) is not in keel.contract (listed: f32[4] P('d',))");
}

static void a_type_is_a_difference_of_each_of_its_parts(void **state) {
    (void)state;
    parse(ENTRY "    takes x f32[4]\n");
    assert_told(9, "x f32[4,1]", false,
                "jit_step: x f32[4,1] is not in keel.contract (listed: f32[4])");
    parse(ENTRY "    takes x f32\n");
    assert_told(9, "x f32[]", false, "jit_step: x f32[] is not in keel.contract (listed: f32)");
    parse(ENTRY "    takes x f32[4,5]\n");
    assert_told(9, "x f32[4,6]", false,
                "jit_step: x f32[4,6] is not in keel.contract (listed: f32[4,5])");
}

static void another_machine_is_named_if_it_is_listed(void **state) {
    (void)state;
    asked_t asked;
    contract.machine = true;
    add_asked(&contract, "jit_step", 1, "x f32[4]");
    assert_ok(keel_contract_settle(&contract, NULL));
    ask(&asked, "jit_step", "step in train.py", 1, "x f32[4]");
    asked.asked.machine = fingerprint_of(7);
    look(&asked, false,
         "jit_step: it is in keel.contract with other compile options or flags, or for another "
         "machine");
}

static void an_argument_without_a_name_is_called_by_its_place(void **state) {
    (void)state;
    parse(ENTRY "    takes #1 f32[4]\n    takes # f32[4]\n");
    assert_told(9, "#1 f32[5]; # f32[4]", false,
                "jit_step: argument 1 f32[5] is not in keel.contract (listed: f32[4])");
    assert_told(9, "#1 f32[4]; # f32[5]", false,
                "jit_step: # f32[5] is not in keel.contract (listed: f32[4])");
}

static void further_differences_are_counted(void **state) {
    (void)state;
    parse(ENTRY "    takes a f32[1]\n    takes b f32[1]\n    takes c f32[1]\n");
    assert_told(9, "a f32[2]; b f32[2]; d f32[1]", false,
                "jit_step: a f32[2] is not in keel.contract (listed: f32[1]); 3 more arguments "
                "differ");
    assert_int_equal(nearest.count, 4);
    assert_string_equal(nearest.differences[3].asked, "absent");
    assert_told(9,
                "a f32[2]; b f32[2]; c f32[2]; d f32[1]; e f32[1]; f f32[1]; g f32[1]; h f32[1]; "
                "i f32[1]; j f32[1]",
                false,
                "jit_step: a f32[2] is not in keel.contract (listed: f32[1]); 9 more arguments "
                "differ");
    assert_int_equal(nearest.count, KEEL_CONTRACT_SHOWN);
    assert_int_equal(nearest.total, 10);
}

static void bounds_hold_for_the_options_of_their_pins(void **state) {
    (void)state;
    asked_t asked;
    parse(HEADER "entry jit_step\n  function step in train.py\n  program\n    pin " F1
                 " sizes 128\n    pin " F2 " sizes 256\n    takes x i32[128..512 step 128]\n");
    ask(&asked, "jit_step", "step in train.py", 9, "x i32[384]");
    look(&asked, true, "");
    ask(&asked, "jit_step", "step in train.py", 9, "x i32[256]");
    look(&asked, false, "jit_step: its arguments are in keel.contract, but not this program");
    ask(&asked, "jit_step", "step in train.py", 9, "x i32[384]");
    asked.asked.options = fingerprint_of(7);
    look(&asked, false, "jit_step: its arguments are in keel.contract, but not this program");
}

static void dimensions_that_differed_in_a_pin_may_differ(void **state) {
    (void)state;
    parse(HEADER "entry jit_step\n  function step in train.py\n  program\n    pin " F1
                 " sizes 1,2\n    takes x i32[1..9]\n    takes y i32[1..9]\n");
    assert_told(9, "x i32[3]; y i32[4]", true, "");
    parse(HEADER "entry jit_step\n  function step in train.py\n  program\n    pin " F1
                 " sizes 1\n    takes x i32[1..9]\n    takes y i32[1..8]\n");
    assert_told(9, "x i32[3]; y i32[4]", true, "");
    assert_told(9, "x i32[1]; y i32[4]", true, "");
}

static void a_program_of_pytorch_is_called_by_its_function(void **state) {
    (void)state;
    asked_t asked;
    ask(&asked, "SyncTensorsGraph", "Model.step in train.py", 9, "x f32[1]");
    look(&asked, false, "Model.step is not in keel.contract");
    // An entry may have no program yet.
    parse(HEADER "entry SyncTensorsGraph\n  function Model.step in train.py\n");
    look(&asked, false, "Model.step is not in keel.contract");
    assert_non_null(nearest.entry);
}

// ---- programs from elsewhere
// ---------------------------------------------------------------------

static bool may_be(const char *name, const char *arguments) {
    asked_t asked;
    ask(&asked, name, "in serve.py", 77, arguments);
    asked.asked.elsewhere = "JAX's own cache";
    return keel_contract_may_list(&contract, &asked.asked);
}

static void one_from_elsewhere_may_be_listed_if_it_takes_the_same(void **state) {
    (void)state;
    add_asked(&contract, "jit_step", 1, "w f32[4]; x f32[8,4]");
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_true(may_be("jit_step", "a f32[4]; b f32[8,4]")); // its names are the compiler's
    assert_false(may_be("jit_step", "a f32[4]; b f32[5,4]"));
    assert_false(may_be("jit_step", "a f32[4]; b bf16[8,4]"));
    assert_false(may_be("jit_step", "a f32[4]"));
    assert_false(may_be("jit_eval", "a f32[4]; b f32[8,4]"));
    assert_true(may_be("jit_step", "")); // its arguments are not known
}

static void what_was_partitioned_cannot_be_told_apart_by_sizes(void **state) {
    (void)state;
    asked_t asked;
    ask(&asked, "jit_step", "step in train.py", 1, "w f32[4]; x f32[8,4]");
    asked.asked.mesh = KEEL_STR("data=2");
    assert_ok(keel_contract_add(&contract, &asked.asked));
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_true(may_be("jit_step", "a f32[4]; b f32[4,4]"));
    assert_false(may_be("jit_eval", "a f32[4]; b f32[4,4]"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_argument_that_differs_is_named),
        TEST(other_options_are_named),
        TEST(an_entry_that_is_not_listed_is_named),
        TEST(bounds_allow_sizes_without_a_pin_only),
        TEST(recorded_sizes_are_no_bounds),
        TEST(the_program_with_the_fewest_differences_is_the_nearest),
        TEST(a_mesh_is_a_difference),
        TEST(sharding_and_donation_are_named_if_they_differ),
        TEST(a_type_is_a_difference_of_each_of_its_parts),
        TEST(another_machine_is_named_if_it_is_listed),
        TEST(an_argument_without_a_name_is_called_by_its_place),
        TEST(further_differences_are_counted),
        TEST(bounds_hold_for_the_options_of_their_pins),
        TEST(dimensions_that_differed_in_a_pin_may_differ),
        TEST(a_program_of_pytorch_is_called_by_its_function),
        TEST(one_from_elsewhere_may_be_listed_if_it_takes_the_same),
        TEST(what_was_partitioned_cannot_be_told_apart_by_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
