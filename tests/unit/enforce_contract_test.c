// Programs held to a contract and to a freeze, whoever asks for them: the gate of a real engine is
// asked about a sample, under keys that the test makes.
#define _GNU_SOURCE
#include "engine_help.h"

#include "contract/contract.h"
#include "enforce/enforce.h"

// The user's names need a client that asks; these programs have none.
const char *__wrap_keel_engine_ask_names(const keel_engine_ask_t *ask);
const char *__wrap_keel_engine_ask_names(const keel_engine_ask_t *ask) {
    (void)ask;
    return NULL;
}

enum { PASSED = -1 };

typedef struct gate_t {
    bare_t bare;
    keel_enforcement_t *enforcement;
    uint8_t *code;
    size_t code_size;
    char contract[400];
    char message[1024]; // of the last verdict
} gate_t;

// With the settings of the environment; then the contract is there already.
static void open_gate(const door_t *door, gate_t *gate) {
    keel_settings_t settings = {0};
    *gate = (gate_t){.code = NULL};
    snprintf(gate->contract, sizeof gate->contract, "%s/keel.contract", door->place.root);
    CHECK(!keel_file_read(KEEL_TEST_SAMPLES "/mlir/donate.mlir", 1 << 20, &gate->code,
                          &gate->code_size));
    bare_engine(&gate->bare, KEEL_TEST_PLUGIN);
    CHECK(!keel_settings_load(NULL, &settings));
    CHECK(!keel_enforcement_create(&settings, &gate->enforcement));
    keel_settings_deinitialize(&settings);
    keel_enforcement_begin(gate->enforcement, gate->bare.engine);
}

static void close_gate(gate_t *gate) {
    keel_free(gate->code);
}

static void test_key(const char *program, const char *devices, keel_key_t *out) {
    keel_key_initialize(out);
    CHECK(!keel_key_set(out, KEEL_COMPONENT_PROGRAM, keel_str_bytes(keel_str(program)),
                        KEEL_STR("")));
    CHECK(!keel_key_set(out, KEEL_COMPONENT_DEVICE_ASSIGNMENT, keel_str_bytes(keel_str(devices)),
                        KEEL_STR("")));
    out->digest = keel_digest(keel_str_bytes(keel_str(program)));
}

typedef struct asking_t {
    const char *name, *program, *format, *devices;
    bool is_old, is_eager;
} asking_t;

// The verdict about a program of that name; PASSED: none.
static int ask(gate_t *gate, asking_t asking) {
    keel_key_t key;
    keel_verdict_t verdict = KEEL_VERDICT_REFUSED;
    keel_engine_gate_t *check = &gate->bare.engine->gate;
    keel_site_t site = {.place = {.file = "/home/u/train.py", .function = "step"}, .origin = ""};
    keel_digest_t program = keel_digest(keel_str_bytes(keel_str(asking.program)));
    test_key(asking.program, asking.devices ? asking.devices : "0", &key);
    const keel_engine_ask_t it = {.name = asking.name,
                                  .program = &program,
                                  .code = keel_bytes(gate->code, gate->code_size),
                                  .format = asking.format ? asking.format : "mlir",
                                  .key = &key,
                                  .site = &site,
                                  .is_new = !asking.is_old,
                                  .is_eager = asking.is_eager};
    keel_status_t why = check->check(check->context, &it, &verdict);
    snprintf(gate->message, sizeof gate->message, "%s", why ? keel_status_message(why) : "");
    bool passed = !why;
    keel_status_ignore(why);
    keel_key_deinitialize(&key);
    return passed ? PASSED : (int)verdict;
}

#define ASK(gate, called, which, ...)                                                              \
    ask(gate, (asking_t){.name = called, .program = which, __VA_ARGS__})

// A contract that lists program "a" of jit_donate, with these lines in its header and its entry,
// and these words in its pin.
static void write_pinned(const char *path, const char *header, const char *entry,
                         const char *words) {
    keel_key_t key;
    char program[KEEL_FINGERPRINT_HEX], options[KEEL_FINGERPRINT_HEX];
    FILE *file = fopen(path, "w");
    CHECK(file);
    test_key("a", "0", &key);
    keel_fingerprint_t of_program = keel_fingerprint_of_program(&key),
                       of_options = keel_fingerprint_of_options(&key);
    keel_hex(of_program.bytes, sizeof of_program.bytes, program);
    keel_hex(of_options.bytes, sizeof of_options.bytes, options);
    fprintf(file,
            "keel.contract 1\nkey 2\noptions %s\n%s\nentry jit_donate\n  function step in "
            "train.py\n%s  program\n    pin %s%s\n    takes x f32[1]\n",
            options, header, entry, program, words);
    CHECK(fclose(file) == 0);
    keel_key_deinitialize(&key);
}

static void write_contract(const char *path, const char *header, const char *entry) {
    write_pinned(path, header, entry, "");
}

// ---- what a program that is not listed gets
// ------------------------------------------------------

static void drift_as_asked_for(const door_t *door) {
    gate_t gate;
    open_gate(door, &gate);
    static const keel_on_drift_t modes[] = {KEEL_ON_DRIFT_DEFAULT, KEEL_ON_DRIFT_WARN,
                                            KEEL_ON_DRIFT_REFUSE, KEEL_ON_DRIFT_RECORD};
    static const int expected[] = {KEEL_VERDICT_WARNED, KEEL_VERDICT_WARNED, KEEL_VERDICT_REFUSED,
                                   KEEL_VERDICT_RECORDED};
    write_contract(gate.contract, "", "");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        CHECK(!keel_enforcement_hold(gate.contract, modes[i]));
        CHECK(ASK(&gate, "jit_donate", "a") == PASSED);
        CHECK(ASK(&gate, "jit_donate", "b") == expected[i]);
        keel_enforcement_release();
        CHECK(ASK(&gate, "jit_donate", "b") == PASSED);
    }
    close_gate(&gate);
}

static void test_drift_is_what_the_run_was_asked_for(void **state) {
    door_run(*state, "", drift_as_asked_for);
}

static void drift_as_scopes_say(const door_t *door) {
    gate_t gate;
    open_gate(door, &gate);
    write_contract(gate.contract, "others allow\n", "  scope refuse\n");
    CHECK(!keel_enforcement_hold(gate.contract, KEEL_ON_DRIFT_RECORD));
    CHECK(ASK(&gate, "jit_donate", "b") == KEEL_VERDICT_REFUSED);
    CHECK(ASK(&gate, "jit_other", "b") == PASSED);
    keel_enforcement_release();
    write_contract(gate.contract, "others refuse\n", "  scope warn\n");
    CHECK(!keel_enforcement_hold(gate.contract, KEEL_ON_DRIFT_RECORD));
    CHECK(ASK(&gate, "jit_donate", "b") == KEEL_VERDICT_WARNED);
    CHECK(ASK(&gate, "jit_other", "b") == KEEL_VERDICT_REFUSED);
    CHECK(strcmp(gate.message, "jit_other is not in keel.contract") == 0);
    close_gate(&gate);
}

static void test_scopes_of_the_contract_decide_first(void **state) {
    door_run(*state, "", drift_as_scopes_say);
}

static void drift_says_what_differs(const door_t *door) {
    gate_t gate;
    open_gate(door, &gate);
    write_contract(gate.contract, "", "");
    CHECK(!keel_enforcement_hold(gate.contract, KEEL_ON_DRIFT_WARN));
    CHECK(ASK(&gate, "jit_donate", "b") == KEEL_VERDICT_WARNED);
    CHECK(strstr(gate.message, "jit_donate: ") == gate.message);
    CHECK(strstr(gate.message, "more arguments differ"));
    // A program that cannot be read has no arguments.
    CHECK(ASK(&gate, "jit_donate", "b", .format = "hlo") == KEEL_VERDICT_WARNED);
    CHECK(strcmp(gate.message, "jit_donate: x is missing; keel.contract lists it: f32[1]") == 0);
    close_gate(&gate);
}

static void test_a_warning_says_what_differs(void **state) {
    door_run(*state, "", drift_says_what_differs);
}

static void operations_by_themselves(const door_t *door) {
    gate_t gate;
    open_gate(door, &gate);
    write_contract(gate.contract, "", "");
    CHECK(!keel_enforcement_hold(gate.contract, KEEL_ON_DRIFT_REFUSE));
    CHECK(ASK(&gate, "jit_sin", "b", .is_eager = true) == PASSED);
    keel_enforcement_release();
    write_contract(gate.contract, "operations listed\n", "");
    CHECK(!keel_enforcement_hold(gate.contract, KEEL_ON_DRIFT_REFUSE));
    CHECK(ASK(&gate, "jit_sin", "b", .is_eager = true) == KEEL_VERDICT_REFUSED);
    keel_enforcement_release();
    keel_enforcement_freeze(gate.enforcement);
    CHECK(ASK(&gate, "jit_sin", "b", .is_eager = true) == PASSED);
    close_gate(&gate);
}

static void test_operations_outside_jit_are_free_unless_listed(void **state) {
    door_run(*state, "", operations_by_themselves);
}

static void on_other_devices(const door_t *door) {
    gate_t gate;
    open_gate(door, &gate);
    write_pinned(gate.contract, "", "", " placements 2");
    CHECK(!keel_enforcement_hold(gate.contract, KEEL_ON_DRIFT_REFUSE));
    CHECK(ASK(&gate, "jit_donate", "a", .devices = "5") == PASSED); // numbers say nothing
    CHECK(ASK(&gate, "jit_donate", "a", .devices = "1,0") == PASSED);
    for (int again = 0; again < 2; ++again)
        CHECK(ASK(&gate, "jit_donate", "a", .devices = "0,1") == KEEL_VERDICT_REFUSED);
    CHECK(strcmp(gate.message, "jit_donate: keel.contract lists it on 2 sets of devices, and this "
                               "is another one; if that is right, write placements 3 at its "
                               "pin") == 0);
    CHECK(ASK(&gate, "jit_donate", "a", .devices = "5") == PASSED);
    keel_enforcement_release();
    write_contract(gate.contract, "", "  scope allow\n");
    CHECK(!keel_enforcement_hold(gate.contract, KEEL_ON_DRIFT_REFUSE));
    CHECK(ASK(&gate, "jit_donate", "a", .devices = "0") == PASSED);
    CHECK(ASK(&gate, "jit_donate", "a", .devices = "1") == PASSED);
    close_gate(&gate);
}

static void test_a_program_has_as_many_placements_as_are_listed(void **state) {
    door_run(*state, "", on_other_devices);
}

// ---- which contract counts
// -----------------------------------------------------------------------

static void contracts_in_each_other(const door_t *door) {
    gate_t gate;
    char inner[420];
    snprintf(gate.contract, sizeof gate.contract, "%s/keel.contract", door->place.root);
    snprintf(inner, sizeof inner, "%s.inner", gate.contract);
    write_contract(gate.contract, "others refuse\n", "");
    write_contract(inner, "others warn\n", "");
    CHECK(!setenv("KEEL_CONTRACT", gate.contract, 1));
    // Code held the process to two before the engine began: that of the settings is outside them.
    CHECK(!keel_enforcement_hold(inner, KEEL_ON_DRIFT_REFUSE));
    CHECK(!keel_enforcement_hold(inner, KEEL_ON_DRIFT_RECORD));
    open_gate(door, &gate);
    CHECK(ASK(&gate, "jit_other", "b") == KEEL_VERDICT_WARNED);
    CHECK(strcmp(gate.message, "jit_other is not in keel.contract.inner") == 0);
    CHECK(ASK(&gate, "jit_donate", "b") == KEEL_VERDICT_RECORDED);
    keel_enforcement_release();
    CHECK(ASK(&gate, "jit_donate", "b") == KEEL_VERDICT_REFUSED);
    keel_enforcement_release();
    CHECK(ASK(&gate, "jit_other", "b") == KEEL_VERDICT_REFUSED);
    CHECK(strcmp(gate.message, "jit_other is not in keel.contract") == 0);
    keel_enforcement_release();
    CHECK(ASK(&gate, "jit_other", "b") == PASSED);
    keel_enforcement_release(); // one too many changes nothing
    keel_status_t status = keel_enforcement_hold("/nowhere/keel.contract", KEEL_ON_DRIFT_REFUSE);
    CHECK(keel_status_code(status) == KEEL_NOT_FOUND);
    keel_status_ignore(status);
    CHECK(ASK(&gate, "jit_other", "b") == PASSED);
    close_gate(&gate);
}

static void test_the_innermost_contract_counts(void **state) {
    door_run(*state, "", contracts_in_each_other);
}

static void *ask_elsewhere(void *gate) {
    CHECK(ASK(gate, "jit_other", "b") == KEEL_VERDICT_WARNED);
    return NULL;
}

static void allowed_for_a_while(const door_t *door) {
    gate_t gate;
    pthread_t thread;
    open_gate(door, &gate);
    write_contract(gate.contract, "", "");
    CHECK(!keel_enforcement_hold(gate.contract, KEEL_ON_DRIFT_WARN));
    keel_enforcement_allow(false); // one too many changes nothing
    keel_enforcement_allow(true);
    keel_enforcement_allow(true);
    CHECK(ASK(&gate, "jit_other", "b") == PASSED);
    CHECK(pthread_create(&thread, NULL, ask_elsewhere, &gate) == 0);
    pthread_join(thread, NULL);
    keel_enforcement_allow(false);
    CHECK(ASK(&gate, "jit_other", "b") == PASSED);
    keel_enforcement_allow(false);
    CHECK(ASK(&gate, "jit_other", "b") == KEEL_VERDICT_WARNED);
    close_gate(&gate);
}

static void test_a_thread_may_allow_every_program(void **state) {
    door_run(*state, "", allowed_for_a_while);
}

// ---- the freeze
// ----------------------------------------------------------------------------------

static void frozen_by_code(const door_t *door) {
    gate_t gate;
    open_gate(door, &gate);
    CHECK(ASK(&gate, "jit_f", "a") == PASSED);
    keel_enforcement_freeze(gate.enforcement);
    CHECK(ASK(&gate, "jit_f", "a", .is_old = true) == PASSED);
    CHECK(ASK(&gate, "jit_f", "b") == KEEL_VERDICT_REFUSED);
    CHECK(strcmp(gate.message,
                 "jit_f: a new program after programs were frozen (before the first step)") == 0);
    // One that was refused stays refused, although the engine has met it now.
    CHECK(ASK(&gate, "jit_f", "b", .is_old = true) == KEEL_VERDICT_REFUSED);
    CHECK(ASK(&gate, "jit_f", "a", .is_old = true) == PASSED);
    // A contract that lists it does not make it earlier.
    write_contract(gate.contract, "", "");
    CHECK(!keel_enforcement_hold(gate.contract, KEEL_ON_DRIFT_WARN));
    CHECK(ASK(&gate, "jit_donate", "a") == KEEL_VERDICT_REFUSED);
    CHECK(strcmp(gate.message, "jit_donate: keel.contract allows it, but it was not asked for "
                               "before the programs were frozen (before the first step): the "
                               "warm-up did not run it") == 0);
    CHECK(ASK(&gate, "jit_donate", "c") == KEEL_VERDICT_WARNED);
    close_gate(&gate);
}

static void test_no_program_is_new_after_a_freeze(void **state) {
    door_run(*state, "", frozen_by_code);
}

static void frozen_after_steps(const door_t *door) {
    gate_t gate;
    open_gate(door, &gate);
    keel_engine_step(gate.bare.engine);
    CHECK(ASK(&gate, "jit_f", "a") == PASSED);
    keel_engine_step(gate.bare.engine);
    CHECK(ASK(&gate, "jit_f", "b") == KEEL_VERDICT_RECORDED);
    keel_engine_step(gate.bare.engine);
    keel_enforcement_freeze(gate.enforcement); // it is frozen already
    CHECK(ASK(&gate, "jit_f", "c") == KEEL_VERDICT_RECORDED);
    CHECK(strcmp(gate.message, "jit_f: a new program after programs were frozen (after step 2)") ==
          0);
    close_gate(&gate);
}

static void test_a_run_is_frozen_once_so_many_steps_ended(void **state) {
    door_run(*state, "KEEL_FREEZE_AFTER=2\nKEEL_ON_DRIFT=record\n", frozen_after_steps);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, door_setup, door_teardown)
    const struct CMUnitTest tests[] = {
        TEST(drift_is_what_the_run_was_asked_for),
        TEST(scopes_of_the_contract_decide_first),
        TEST(a_warning_says_what_differs),
        TEST(operations_outside_jit_are_free_unless_listed),
        TEST(a_program_has_as_many_placements_as_are_listed),
        TEST(the_innermost_contract_counts),
        TEST(a_thread_may_allow_every_program),
        TEST(no_program_is_new_after_a_freeze),
        TEST(a_run_is_frozen_once_so_many_steps_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
