// Contracts in memory: made of programs, merged into older ones, looked up.
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

static void pins_of_the_programs_of_an_entry_are_sorted(void **state) {
    (void)state;
    static const char text[] = HEADER "programs 3\nentry jit_step\n  function step in train.py\n"
                                      "  program\n    pin " F1 "\n    takes x f32[4]\n"
                                      "  program\n    pin " F3 "\n    pin " F2 "\n"
                                      "    takes x f64[4]\n";
    const keel_fingerprint_t first = fingerprint_of(2), second = fingerprint_of(3);
    for (uint32_t count = 1; count <= 2; ++count) {
        parse(text, &contract);
        keel_contract_pin_t *pins = contract.entries[0].programs[1].pins;
        assert_memory_equal(&pins[0].fingerprint, &second, sizeof second);
        contract.entries[0].program_count = count;
        assert_ok(keel_contract_settle(&contract, NULL));
        assert_memory_equal(&pins[0].fingerprint, count == 2 ? &first : &second, sizeof first);
    }
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

static void add_placed(unsigned number, unsigned placement) {
    asked_t asked;
    ask(&asked, "jit_step", "step in train.py", number, "x f32[4]");
    asked.asked.placement = fingerprint_of(placement);
    assert_ok(keel_contract_add(&contract, &asked.asked));
}

static void each_set_of_devices_is_a_placement(void **state) {
    (void)state;
    add_placed(1, 11);
    add_placed(1, 12);
    add_placed(1, 11);
    add_placed(1, 13);
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_text(&contract, HEADER "programs 1\n\nentry jit_step\n  function step in train.py\n"
                                  "  program\n    pin " F1 " placements 3 cost 3.9s memory "
                                  "120MiB\n    takes x f32[4]\n");
}

// Each process has it on devices of its own; one has it on two sets.
static void a_pin_has_the_placements_of_the_process_with_most(void **state) {
    static const unsigned asks[][2] = {{0, 10}, {1, 11}, {2, 11}, {1, 12}, {2, 11}, {3, 13}};
    (void)state;
    asked_t asked;
    for (size_t i = 0; i < sizeof asks / sizeof *asks; ++i) {
        ask(&asked, "jit_step", "", 1, "x f32[4]");
        asked.asked.process = asks[i][0];
        asked.asked.placement = fingerprint_of(asks[i][1]);
        assert_ok(keel_contract_add(&contract, &asked.asked));
    }
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_int_equal(contract.entries[0].programs[0].pins[0].placements, 2);
}

static bool may_be_placed(keel_placements_t *placements, unsigned number, unsigned placement) {
    const keel_fingerprint_t program = fingerprint_of(number), where = fingerprint_of(placement);
    keel_contract_found_t found;
    bool may = false;
    assert_int_equal(keel_contract_match(&contract, &program, &contract.options, &found),
                     KEEL_CONTRACT_LISTED);
    assert_ok(keel_placements_add(placements, &contract, found.pin, &where, &may));
    return may;
}

// jit_f has it on one set, jit_g on another: whichever is found, both are listed.
static void functions_that_share_a_program_share_its_placements(void **state) {
    (void)state;
    keel_placements_t placements = {0};
    asked_t asked;
    for (unsigned i = 0; i < 2; ++i) {
        ask(&asked, i ? "jit_g" : "jit_f", "", 1, "x f32[4]");
        asked.asked.placement = fingerprint_of(11 + i);
        assert_ok(keel_contract_add(&contract, &asked.asked));
    }
    add_asked(&contract, "jit_step", 2, "x i32[8]");
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_int_equal(contract.pin_count, 3);
    assert_int_equal(contract.entries[1].programs[0].pins[0].number,
                     contract.entries[0].programs[0].pins[0].number);
    for (unsigned again = 0; again < 2; ++again) {
        assert_true(may_be_placed(&placements, 1, 11));
        assert_true(may_be_placed(&placements, 1, 12));
        assert_false(may_be_placed(&placements, 1, 13));
    }
    assert_true(may_be_placed(&placements, 2, 13));
    assert_false(may_be_placed(&placements, 2, 11));
    keel_placements_deinitialize(&placements);
}

// The figures of one pin, as the file has them: "cost 3.9s memory 120MiB".
static void assert_figures(double seconds, uint64_t memory, const char *expected) {
    asked_t asked;
    keel_contract_t one;
    char text[64];
    keel_contract_initialize(&one);
    ask(&asked, "f", "", 1, "");
    asked.asked.seconds = seconds;
    asked.asked.memory = memory;
    assert_ok(keel_contract_add(&one, &asked.asked));
    const keel_contract_pin_t *pin = &one.entries[0].programs[0].pins[0];
    snprintf(text, sizeof text, "%.*s %.*s", KEEL_STR_ARGS(pin->cost), KEEL_STR_ARGS(pin->memory));
    assert_string_equal(text, expected);
    keel_contract_deinitialize(&one);
}

static void costs_have_two_digits_and_memory_three(void **state) {
    (void)state;
    assert_figures(0, 0, " ");
    assert_figures(-1, 1, " 1B");
    assert_figures(2e9, 999, " 999B");
    assert_figures(1e9, 1000, "1000000000s 0.98KiB");
    assert_figures(0.0000001, 1024, " 1.00KiB");
    assert_figures(0.00056, 10 << 10, "0.0006s 10.0KiB");
    assert_figures(0.0123, 10234, "0.012s 9.99KiB");
    assert_figures(0.996, 10236, "1s 10.0KiB");
    assert_figures(9.94, 102348, "9.9s 99.9KiB");
    assert_figures(9.96, 102359, "10s 100KiB");
    assert_figures(12.34, 1000 << 10, "12s 0.98MiB");
    assert_figures(99.7, 3u << 30, "100s 3.00GiB");
    assert_figures(123.4, (uint64_t)5 << 40, "120s 5.00TiB");
    assert_figures(1250, (uint64_t)5000 << 40, "1300s 5000TiB");
}

static void options_of_most_pins_stand_in_the_header(void **state) {
    (void)state;
    const unsigned options[] = {7, 200, 200, 7, 7};
    asked_t asked;
    for (unsigned i = 0; i < 5; ++i) {
        ask(&asked, "jit_step", "", i + 1, "x f32[4]");
        asked.asked.options = fingerprint_of(options[i]);
        assert_ok(keel_contract_add(&contract, &asked.asked));
    }
    assert_ok(keel_contract_settle(&contract, NULL));
    keel_fingerprint_t most = fingerprint_of(7);
    assert_memory_equal(&contract.options, &most, sizeof most);
}

static void one_program_with_two_options_has_two_pins(void **state) {
    (void)state;
    asked_t asked;
    for (unsigned i = 3; i > 0; --i) {
        ask(&asked, "jit_step", "", 1, "x f32[4]");
        asked.asked.options = fingerprint_of(i);
        assert_ok(keel_contract_add(&contract, &asked.asked));
        assert_ok(keel_contract_add(&contract, &asked.asked));
    }
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_int_equal(contract.pin_count, 3);
    for (unsigned i = 0; i < 3; ++i)
        assert_int_equal(contract.entries[0].programs[0].pins[i].options.bytes[0], i + 1);
}

static keel_contract_match_t match_on(unsigned machine) {
    asked_t asked;
    ask(&asked, "jit_step", "", 1, "x f32[4]");
    const keel_fingerprint_t there = fingerprint_of(machine),
                             options =
                                 keel_contract_options(&contract, &asked.asked.options, &there);
    return keel_contract_match(&contract, &asked.asked.fingerprint, &options, NULL);
}

static void the_machine_counts_if_it_is_listed(void **state) {
    (void)state;
    asked_t asked;
    for (unsigned listed = 0; listed < 2; ++listed) {
        keel_contract_deinitialize(&contract);
        keel_contract_initialize(&contract);
        contract.machine = listed;
        ask(&asked, "jit_step", "", 1, "x f32[4]");
        for (unsigned machine = 1; machine < 3; ++machine) {
            asked.asked.machine = fingerprint_of(machine);
            assert_ok(keel_contract_add(&contract, &asked.asked));
        }
        assert_ok(keel_contract_settle(&contract, NULL));
        assert_int_equal(contract.pin_count, 1 + listed);
        assert_int_equal(match_on(2), KEEL_CONTRACT_LISTED);
        assert_int_equal(match_on(3), listed ? KEEL_CONTRACT_OTHER_OPTIONS : KEEL_CONTRACT_LISTED);
    }
}

static void programs_are_merged_only_if_one_dimension_varies(void **state) {
    (void)state;
    add_asked(&contract, "jit_step", 1, "x i32[8,8]; y f32[1]");
    add_asked(&contract, "jit_step", 2, "x i32[5,5]; y f32[1]");
    add_asked(&contract, "jit_eval", 3, "x i32[8,8]");
    add_asked(&contract, "jit_eval", 4, "x i32[5,6]");
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_int_equal(contract.entries[0].program_count, 2);
    assert_int_equal(contract.entries[1].program_count, 1);
    assert_int_equal(contract.entries[1].programs[0].varying, 2);
    // Two pins of one size, beside one of another.
    keel_contract_deinitialize(&contract);
    keel_contract_initialize(&contract);
    add_asked(&contract, "jit_step", 1, "y f32[2]; x i32[8]");
    add_asked(&contract, "jit_step", 2, "y f32[2]; x i32[8]");
    add_asked(&contract, "jit_step", 3, "y f32[2]; x i32[5]");
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_text(&contract, HEADER "programs 3\n\nentry jit_step\n  function step in train.py\n"
                                  "  program\n    pin " F3 " sizes 5 cost 3.9s memory 120MiB\n"
                                  "    pin " F1 " sizes 8 cost 3.9s memory 120MiB\n"
                                  "    pin " F2 " sizes 8 cost 3.9s memory 120MiB\n"
                                  "    takes y f32[2]\n    takes x i32[5|8]\n");
}

static void programs_of_other_kinds_stay_apart(void **state) {
    (void)state;
    asked_t asked;
    for (unsigned i = 0; i < 5; ++i) {
        ask(&asked, "jit_step", "", i, i == 4 ? "z i32[4]" : "x i32[4]");
        asked.sizes[0][0].low = asked.sizes[0][0].high = i + 1;
        if (i == 1) asked.arguments[0].donated = true;
        if (i == 2) asked.arguments[0].sharding = KEEL_STR("P('d',)");
        if (i == 3) asked.asked.mesh = KEEL_STR("d=2");
        assert_ok(keel_contract_add(&contract, &asked.asked));
    }
    assert_ok(keel_contract_settle(&contract, NULL));
    assert_int_equal(contract.entries[0].program_count, 5);
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

// Settles what a run asked for, `cost` and `memory` for program 1, after an older contract.
static void assert_kept(const char *figures, double seconds, uint64_t memory,
                        const char *expected) {
    char text[512], told[64];
    asked_t asked;
    snprintf(text, sizeof text, HEADER "entry jit_step\n  program\n    pin " F1 "%s\n", figures);
    parse(text, &older);
    keel_contract_deinitialize(&contract);
    keel_contract_initialize(&contract);
    ask(&asked, "jit_step", "", 1, "");
    asked.asked.seconds = seconds;
    asked.asked.memory = memory;
    assert_ok(keel_contract_add(&contract, &asked.asked));
    assert_ok(keel_contract_settle(&contract, &older));
    const keel_contract_pin_t *pin = &contract.entries[0].programs[0].pins[0];
    snprintf(told, sizeof told, "%.*s %.*s", KEEL_STR_ARGS(pin->cost), KEEL_STR_ARGS(pin->memory));
    assert_string_equal(told, expected);
}

static void figures_that_are_about_the_same_stay(void **state) {
    (void)state;
    assert_kept(" cost 4s memory 100MiB", 8, 105 << 20, "4s 100MiB");
    assert_kept(" cost 4s memory 100MiB", 8.2, 106 << 20, "8.2s 106MiB");
    assert_kept(" cost 4s memory 100MiB", 2, 96 << 20, "4s 100MiB");
    assert_kept(" cost 4s memory 100MiB", 1.9, 95 << 20, "1.9s 95.0MiB");
    assert_kept(" cost 4s memory 100MiB", 0, 0, "4s 100MiB");
    assert_kept("", 4, 100 << 20, "4s 100MiB");
    assert_kept(" memory 0.98GiB", 4, 999 << 20, "4s 0.98GiB");
    assert_kept(" cost 4s memory 990KiB", 4.2, 990 << 20, "4s 990MiB");
    assert_kept(" memory 990B", 4, 990 << 10, "4s 990KiB");
    assert_kept(" memory 1TiB", 0, (uint64_t)1 << 40, " 1TiB");
}

static void programs_keep_their_order_and_their_comments(void **state) {
    (void)state;
    parse(HEADER "entry jit_step\n  # The usual one.\n  program\n    pin " F1
                 "\n    takes a f32[1]\n"
                 "  # Validation.\n  program\n    pin " F2 "\n    takes b f32[1]\n",
          &older);
    asked_t asked;
    const char *const arguments[] = {"c f32[1]", "a f32[1]", "b f32[1]", "d f32[1]"};
    const unsigned numbers[] = {5, 1, 2, 4};
    for (unsigned i = 0; i < 4; ++i) {
        ask(&asked, "jit_step", "", numbers[i], arguments[i]);
        asked.asked.seconds = 0;
        asked.asked.memory = 0;
        assert_ok(keel_contract_add(&contract, &asked.asked));
    }
    assert_ok(keel_contract_settle(&contract, &older));
    keel_contract_deinitialize(&older);
    const keel_contract_program_t *programs = contract.entries[0].programs;
    assert_true(keel_str_is(programs[0].comment, "# The usual one.\n"));
    assert_true(keel_str_is(programs[0].arguments[0].name, "a"));
    assert_true(keel_str_is(programs[1].comment, "# Validation.\n"));
    assert_true(keel_str_is(programs[1].arguments[0].name, "b"));
    assert_true(keel_str_is(programs[2].arguments[0].name, "c"));
    assert_true(keel_str_is(programs[3].arguments[0].name, "d"));
    assert_int_equal(programs[2].comment.size, 0);
}

static void options_of_the_older_contract_stay_while_a_pin_has_them(void **state) {
    (void)state;
    asked_t asked;
    keel_fingerprint_t seven = fingerprint_of(7), eight = fingerprint_of(8);
    for (int any = 1; any >= 0; --any) {
        keel_contract_deinitialize(&contract);
        keel_contract_initialize(&contract);
        for (unsigned i = 0; i < 3; ++i) {
            ask(&asked, "jit_step", "", i, "x f32[4]");
            asked.asked.options = i == 1 && any ? seven : eight;
            assert_ok(keel_contract_add(&contract, &asked.asked));
        }
        parse(HEADER, &older);
        older.options = seven;
        assert_ok(keel_contract_settle(&contract, &older));
        assert_memory_equal(&contract.options, any ? &seven : &eight, sizeof seven);
    }
}

static void bounds_of_a_person_hold_other_sizes_only(void **state) {
    (void)state;
    parse(OLDER, &older);
    add_asked(&contract, "jit_step", 1, "x i32[640]");
    add_asked(&contract, "jit_step", 2, "x i32[384]");
    add_asked(&contract, "jit_step", 3, "x i32[512]");
    assert_ok(keel_contract_settle(&contract, &older));
    assert_text(&contract, "# Reviewed by the team.\n" HEADER "programs 3\nothers warn\n"
                           "\n# Do not change.\nentry jit_step\n  function step in train.py\n"
                           "  scope refuse\n  program\n    pin " F1
                           " cost 4.5s memory 121MiB\n    takes x i32[640]\n  program\n    pin " F2
                           " sizes 384 cost 3.9s memory 120MiB\n    pin " F3
                           " sizes 512 cost 3.9s memory 120MiB\n"
                           "    takes x i32[128..512 step 128]\n");
}

static void an_update_takes_all_of_an_entry(void **state) {
    (void)state;
#define EVAL "\nentry jit_eval\n  program\n    pin " F3 "\n"
#define STEP                                                                                       \
    "\n# Ours.\nentry jit_step\n  function step in train.py\n  scope warn\n  # Usual.\n"           \
    "  program\n    pin " F1 " sizes 4,5 cost 1s memory 2MiB\n    pin " F2 " sizes 8,6\n"          \
    "    mesh d=2\n    takes x f32[4|8,5..9] sharding P('d',) donated\n    takes y token\n"
    keel_contract_t fresh;
    keel_contract_initialize(&fresh);
    parse(HEADER "programs 1\n" EVAL, &older);
    parse(HEADER "programs 2\n" STEP, &fresh);
    assert_ok(keel_contract_update(&older, &fresh, KEEL_STR("jit_step")));
    assert_ok(keel_contract_update(&older, &fresh, KEEL_STR("jit_eval_2")));
    keel_contract_deinitialize(&fresh);
    assert_text(&older, HEADER "programs 3\n" EVAL STEP);
#undef EVAL
#undef STEP
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

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_program_is_listed_with_its_arguments),
        TEST(programs_that_differ_in_one_dimension_are_one),
        TEST(pins_of_the_programs_of_an_entry_are_sorted),
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
        TEST(costs_have_two_digits_and_memory_three),
        TEST(each_set_of_devices_is_a_placement),
        TEST(a_pin_has_the_placements_of_the_process_with_most),
        TEST(functions_that_share_a_program_share_its_placements),
        TEST(options_of_most_pins_stand_in_the_header),
        TEST(one_program_with_two_options_has_two_pins),
        TEST(the_machine_counts_if_it_is_listed),
        TEST(programs_are_merged_only_if_one_dimension_varies),
        TEST(programs_of_other_kinds_stay_apart),
        TEST(figures_that_are_about_the_same_stay),
        TEST(programs_keep_their_order_and_their_comments),
        TEST(options_of_the_older_contract_stay_while_a_pin_has_them),
        TEST(bounds_of_a_person_hold_other_sizes_only),
        TEST(an_update_takes_all_of_an_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
