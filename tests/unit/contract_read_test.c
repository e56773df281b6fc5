// The file of a contract: read and written again byte by byte; what is refused, and how.
#define _GNU_SOURCE
#include "contract_help.h"

static void assert_same_bytes(keel_bytes_t text) {
    keel_contract_t contract;
    keel_buffer_t out;
    assert_ok(keel_contract_parse("it", text, &contract));
    keel_buffer_initialize(&out, 0);
    keel_contract_write(&contract, &out);
    assert_int_equal(out.size, text.size);
    assert_memory_equal(out.data, text.data, text.size);
    keel_buffer_deinitialize(&out);
    keel_contract_deinitialize(&contract);
}

static void assert_same(const char *text) {
    assert_same_bytes(keel_str_bytes(keel_str(text)));
}

static void assert_refused(const char *text, const char *message) {
    keel_contract_t contract;
    keel_status_t status =
        keel_contract_parse("keel.contract", keel_str_bytes(keel_str(text)), &contract);
    if (keel_status_code(status) != KEEL_INVALID ||
        strcmp(keel_status_message(status), message) != 0)
        fail_msg("%s: '%s' where '%s' was expected", keel_code_word(keel_status_code(status)),
                 keel_status_message(status), message);
    keel_status_ignore(status);
}

#define PROGRAM "entry jit_step\n  program\n    pin " F1 "\n"

static void what_was_written_is_read_and_written_the_same(void **state) {
    (void)state;
    assert_same(HEADER "programs 0\n");
    assert_same(
        "# A comment.\n# Another.\nkeel.contract 1\nkey 2\nclient jax 0.6.2, jaxlib 0.6.2\n"
        "plugin xla 1\ndevices 4 x cpu\nprofile \"my profile\"\noptions " OPTIONS "\n"
        "operations listed\nmachine listed\nprograms 5\nsettled step 20\nothers allow\n"
        "\n# The step.\nentry jit_step\n  function step in train.py\n  scope refuse\n"
        "  # The usual one.\n  program\n"
        "    pin " F1 " sizes 5,8 placements 3 cost 3.9s memory 120MiB\n"
        "    pin " F2 " sizes 128 options " F3 "\n"
        "    mesh data=2,model=2\n"
        "    takes batch['tokens'] i32[5|128,8..128 step 8] sharding \"P('data', None)\" donated\n"
        "    takes \"a name\" f32[]\n    takes #2 token\n    takes \"\\x01\\\\\\\"\" f32[?,4]\n"
        "    takes c f32[]\n    takes d f32[]\n"
        "  program\n    pin " F3 "\n    mesh data=2,model=2\n    like first\n"
        "    takes batch['tokens'] i32[8,9]\n    without #2\n    takes late f32[0]\n"
        "\nentry jit_step\n  function step in z.py\n  program\n    pin " F1 "\n"
        "\nentry z\n  program\n    pin " F1 "\n    takes a f32[1]\n");
}

// Golden files stay: a later Keel reads what this one wrote.
static void a_golden_file_is_read_and_written_the_same(void **state) {
    (void)state;
    uint8_t *data;
    size_t size;
    assert_ok(
        keel_file_read(KEEL_TEST_SOURCE "/tests/golden/contract-1.txt", 1 << 20, &data, &size));
    assert_same_bytes(keel_bytes(data, size));
    keel_free(data);
}

static void blanks_and_order_of_entries_do_not_matter(void **state) {
    (void)state;
    keel_contract_t contract;
    const char *text = "keel.contract 1\r\nkey 2\r\noptions " OPTIONS "\r\n\r\n\r\nentry b\r\n"
                       "program\r\n\tpin " F1 "\r\nentry a\n      program\npin " F2
                       " sizes 3\n takes   x   f32[ 1 , 2..4 ]   \n";
    assert_ok(keel_contract_parse("it", keel_str_bytes(keel_str(text)), &contract));
    assert_text(&contract, HEADER "programs 2\n\nentry a\n  program\n    pin " F2
                                  " sizes 3\n    takes x f32[1,2..4]\n\nentry b\n  program\n"
                                  "    pin " F1 "\n");
    keel_contract_deinitialize(&contract);
}

static void a_byte_order_mark_does_not_matter(void **state) {
    (void)state;
    keel_contract_t contract;
    const char *text = "\xef\xbb\xbf" HEADER "programs 1\n\n" PROGRAM;
    assert_ok(keel_contract_parse("it", keel_str_bytes(keel_str(text)), &contract));
    assert_text(&contract, HEADER "programs 1\n\n" PROGRAM);
    keel_contract_deinitialize(&contract);
}

static void what_is_no_contract_is_refused(void **state) {
    (void)state;
    const char *none = "keel.contract:1: this is not a contract: it does not begin with "
                       "'keel.contract 1'; make one with keel contract record";
    assert_refused("", none);
    assert_refused("hello\n", none);
    assert_refused("keel.contract one\n", none);
    assert_refused("\xff\xfek\n", none);
    assert_refused("keel.contract 2\n",
                   "keel.contract:1: format 2: this Keel reads format 1; use the Keel that wrote "
                   "it, or record the contract again");
    assert_refused("keel.contract 1\nkey 99\n",
                   "keel.contract:2: key 99: its fingerprints are of another version of Keel's "
                   "keys, this Keel has 2; record the contract again: keel contract record -o "
                   "keel.contract");
    assert_refused("keel.contract 1\nkey 99999999999999999999\n",
                   "keel.contract:2: key 99999999999999999999: its fingerprints are of another "
                   "version of Keel's keys, this Keel has 2; record the contract again: keel "
                   "contract record -o keel.contract");
    assert_refused("keel.contract 1\nkey 2\n",
                   "keel.contract:1: the line 'options' is missing; record the contract again");
    assert_refused("keel.contract 1\noptions " OPTIONS "\n",
                   "keel.contract:1: the line 'key' is missing; record the contract again");
}

static void marks_of_a_merge_conflict_are_refused(void **state) {
    (void)state;
    assert_refused(HEADER "<<<<<<< HEAD\n",
                   "keel.contract:5: <<<<<<< HEAD: marks of a merge conflict; resolve it, or "
                   "record the contract again");
    assert_refused(HEADER PROGRAM "=======\n",
                   "keel.contract:8: =======: marks of a merge conflict; resolve it, or record the "
                   "contract again");
    assert_refused("<<<<<<< HEAD\n" HEADER,
                   "keel.contract:1: <<<<<<< HEAD: marks of a merge conflict; resolve it, or "
                   "record the contract again");
}

static void bad_edits_name_line_value_and_next_step(void **state) {
    (void)state;
#define REFUSED(text, line, message) assert_refused(HEADER text, "keel.contract:" line ": " message)
    REFUSED("colour red\n", "5",
            "'colour' is unknown here; known are: key, client, plugin, devices, profile, options, "
            "operations, machine, programs, settled, others, entry");
    REFUSED("key 2\n", "5", "key stands here twice; remove one");
    REFUSED("others never\n", "5", "scope 'never': write refuse, warn, allow or default");
    REFUSED("operations all\n", "5", "operations 'all': write free or listed");
    REFUSED("machine mine\n", "5", "machine 'mine': write free or listed");
    REFUSED("settled 4\n", "5", "settled '4': write settled step 3");
    REFUSED("settled step four\n", "5",
            "settled step 'four' is not a number; write settled step 3");
    REFUSED("programs -1\n", "5", "programs '-1' is not a number; write programs 3");
    REFUSED("plugin\tcpu\n", "5", "byte 7 of the line is a tab; write a blank");
    REFUSED("plugin \x01\n", "5", "byte 8 of the line is not text; remove it");
    REFUSED("programs 3\n" PROGRAM, "5",
            "programs 3: the contract pins 1; write programs 1 if that is right");
    REFUSED("entry\n", "5", "entry lacks a value");
    REFUSED("entry a b\n", "5", "'b' is more than belongs there; remove it");
    REFUSED("entry a\n  pin " F1 "\n", "6",
            "'pin' is unknown here; known are: function, scope, program, entry");
    REFUSED("entry a\n  program\n", "6",
            "this program has no pin; remove it, or record the contract again");
    REFUSED(PROGRAM "entry jit_step\n  program\n    pin " F2 "\n", "8",
            "entry jit_step is in line 5 already; put their programs into one");
    REFUSED(PROGRAM "  program\n    pin " F1 "\n", "9",
            "line 7 pins the same program; remove one of them");
    REFUSED("entry a\n  program\n    pin 123\n", "7",
            "'123' is not a fingerprint: that has 32 hex digits; record the contract again");
    REFUSED("entry a\n  program\n    pin " F1 " cost\n", "7", "cost lacks a value");
    REFUSED("entry a\n  program\n    pin " F1 " placements two\n", "7",
            "placements 'two' is not a number; write placements 3");
    REFUSED("entry a\n  program\n    pin " F1 " placements 0\n", "7",
            "placements 0: write on how many sets of devices it runs, 1 or more");
    REFUSED("entry a\n  program\n    pin " F1 " placements 4294967296\n", "7",
            "placements 4294967296: write on how many sets of devices it runs, 1 or more");
    REFUSED("entry a\n  program\n    pin " F1 " cost much\n", "7",
            "cost 'much': write a figure such as 3.9s");
    REFUSED("entry a\n  program\n    pin " F1 " price 3\n", "7",
            "'price' is unknown here; a pin has sizes, options, placements, cost and memory");
    REFUSED(PROGRAM "    # here\n    takes x f32[1]\n", "8",
            "a comment can stand at the top, or before an entry or a program; move it there");
    REFUSED(PROGRAM "    takes x f32[1]\n    takes x f32[1]\n", "9",
            "x is listed twice; remove one");
    REFUSED(PROGRAM "    takes x\n", "8", "x: a type such as i32[8,128] is missing");
    REFUSED(PROGRAM "    takes x f32[1\n", "8", "x: the type 'f32[1' has no ']'");
    REFUSED(PROGRAM "    takes x f32[a]\n", "8",
            "x: 'a' is not a size; write 8, 128..2048, 128..2048 step 128 or 64|96");
    REFUSED(PROGRAM "    takes x f32[8..4]\n", "8", "x: '8..4' ends before it begins");
    REFUSED(PROGRAM "    takes x f32[8..20 step 8]\n", "8",
            "x: '8..20 step 8' never reaches 20; end it at 16");
    REFUSED(PROGRAM "    takes x f32[8|4]\n", "8",
            "x: sizes rise from one to the next: '8|4' does not");
    REFUSED(PROGRAM "    takes x f32[8] gladly\n", "8",
            "'gladly' is unknown here; behind the type stand sharding and donated");
    REFUSED(PROGRAM "    takes \"x f32[8]\n", "8", "a quote is not closed");
    REFUSED(PROGRAM "    takes \"\\q\" f32[8]\n", "8",
            "a \\ in quotes is followed by \", \\ or x and two hex digits");
    REFUSED(PROGRAM "    takes x f32[5|8]\n", "7",
            "1 dimensions of this program vary; name the sizes that this pin is for");
    REFUSED("entry a\n  program\n    pin " F1 " sizes 6\n    takes x f32[5|8]\n", "7",
            "sizes 6: x does not allow that size; widen it or remove the pin");
    REFUSED("entry a\n  program\n    pin " F1 " sizes 6\n    takes x f32[5]\n", "7",
            "sizes: no dimension of this program varies; remove them");
    REFUSED("entry a\n  program\n    pin " F1 " sizes x\n    takes x f32[5]\n", "7",
            "sizes 'x': write the sizes of the dimensions that vary, such as 5,8");
    REFUSED(PROGRAM "    like first\n", "8",
            "like first: this is the entry's first program; list all that it takes");
    REFUSED(PROGRAM "  program\n    pin " F2 "\n    like first\n    without x\n", "11",
            "without x: the entry's first program takes no such argument");
    REFUSED(PROGRAM "    takes \x01 f32[5]\n", "8", "byte 7 of the line is not text; remove it");
    REFUSED("programs many\n", "5", "programs 'many' is not a number; write programs 3");
    REFUSED(PROGRAM "    mesh\n", "8", "mesh lacks a value");
    REFUSED(PROGRAM "    mesh d=2\n    mesh d=4\n", "9", "mesh stands here twice; remove one");
    REFUSED(PROGRAM "    mesh d=2 d=4\n", "8", "'d=4' is more than belongs there; remove it");
    REFUSED(PROGRAM "    like second\n", "8", "like 'second': write like first");
    REFUSED(PROGRAM "  program\n    pin " F2 "\n    takes x f32[1]\n    like first\n", "11",
            "like first: it stands before what the program takes");
    REFUSED(PROGRAM "    takes a f32[1]\n  program\n    pin " F2 "\n    like first\n"
                    "    takes b f32[1]\n    without b\n",
            "13", "without b: the entry's first program takes no such argument");
    REFUSED(PROGRAM "    takes a f32[1]\n  program\n    pin " F2 "\n    like first\n"
                    "    takes a f32[2]\n    takes a f32[3]\n",
            "13", "a is listed twice; remove one");
    REFUSED(PROGRAM "    takes a f32[1]\n  program\n    pin " F2 "\n    like first\n"
                    "    without a b\n",
            "12", "'b' is more than belongs there; remove it");
    REFUSED("entry a\n  program\n    pin " F1 " sizes 5,8\n    takes x f32[5|8,5|8,5|8]\n", "7",
            "3 dimensions of this program vary; name the sizes that this pin is for");
    REFUSED("entry a\n  program\n    pin " F1 " cost 123456789012345678901234s\n", "7",
            "cost '123456789012345678901234s': write a figure such as 3.9s");
    REFUSED("entry a\n  program\n    pin " F1 " memory x\n", "7",
            "memory 'x': write a figure such as 120MiB");
    REFUSED(PROGRAM "    takes \"x\"f32[8]\n", "8", "a blank is missing after a quote");
    REFUSED(PROGRAM "    takes \"\\x4\" f32[8]\n", "8",
            "a \\ in quotes is followed by \", \\ or x and two hex digits");
    REFUSED(PROGRAM "    takes \"\\x", "8",
            "a \\ in quotes is followed by \", \\ or x and two hex digits");
    for (const char *const *size =
             (const char *const[]){"08", "", "1|", "1|a", "1..", "..4", "4..a", "1..4 step 0",
                                   "1..4 step a", "1234567890123456789", NULL};
         *size; ++size) {
        char text[512], message[160];
        snprintf(text, sizeof text, HEADER PROGRAM "    takes x f32[1,%s]\n", *size);
        snprintf(
            message, sizeof message,
            "keel.contract:8: x: '%s' is not a size; write 8, 128..2048, 128..2048 step 128 or "
            "64|96",
            *size);
        assert_refused(text, message);
    }
    REFUSED(PROGRAM "    takes x f32[8..8]\n", "8", "x: '8..8' ends before it begins");
    REFUSED(PROGRAM "    takes x f32[8|8]\n", "8",
            "x: sizes rise from one to the next: '8|8' does not");
    // As many arguments as there is room for, and one behind them.
    REFUSED(PROGRAM
            "    takes a f32[1]\n    takes b f32[1]\n    takes c f32[1]\n    takes d f32[1]\n"
            "  program\n    pin " F2 "\n    like first\n    takes e f32[1]\n    takes e f32[1]\n",
            "16", "e is listed twice; remove one");
    REFUSED("# nothing follows\n", "5",
            "a comment can stand at the top, or before an entry or a program; move it there");
    REFUSED("# one\n# two\nothers warn\n", "5",
            "a comment can stand at the top, or before an entry or a program; move it there");
#undef REFUSED
}

static void an_argument_has_at_most_so_many_dimensions(void **state) {
    (void)state;
    keel_buffer_t line;
    char text[512];
    keel_buffer_initialize(&line, 0);
    for (unsigned i = 0; i < KEEL_CONTRACT_RANK; ++i)
        keel_buffer_text(&line, i ? ",1" : "1");
    snprintf(text, sizeof text, HEADER "programs 1\n\n" PROGRAM "    takes x f32[%s]\n",
             keel_buffer_cstr(&line));
    assert_same(text);
    snprintf(text, sizeof text, HEADER PROGRAM "    takes x f32[%s,1]\n", keel_buffer_cstr(&line));
    assert_refused(text, "keel.contract:8: x: more than 64 dimensions");
    keel_buffer_deinitialize(&line);
}

static void a_large_number_is_read(void **state) {
    (void)state;
    assert_same(HEADER "programs 1\n\n" PROGRAM "    takes x f32[123456789012345678]\n");
}

static void a_program_is_written_as_its_differences_if_these_are_shorter(void **state) {
    (void)state;
#define FIRST                                                                                      \
    HEADER "programs 2\n\n" PROGRAM "    takes a f32[1]\n    takes b f32[1]\n    takes c f32[1]\n" \
           "    takes d f32[1]\n  program\n    pin " F2 "\n"
    assert_same(FIRST "    like first\n    without a\n");
    assert_same(FIRST "    like first\n    takes c f32[2]\n    takes d f32[2]\n");
    // Three lines instead of three, and a different order than the first program's.
    assert_same(FIRST "    takes b f32[1]\n    takes c f32[2]\n    takes d f32[1]\n");
    assert_same(FIRST "    takes b f32[1]\n    takes a f32[1]\n    takes c f32[1]\n"
                      "    takes d f32[1]\n");
#undef FIRST
}

// Fingerprints that differ at their end only, and others that differ only by their options: neither
// may make an index slow. If one does, this does not end.
static void a_contract_of_many_entries_is_read_in_time(void **state) {
    (void)state;
    enum { MANY = 200000 };
    keel_contract_t contract;
    keel_contract_found_t found;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, HEADER "programs 200000\n");
    for (unsigned i = 0; i < MANY; ++i)
        keel_buffer_format(&text,
                           i % 2 ? "entry f%06u\nprogram\npin " F1 " options %032x\n"
                                 : "entry f%06u\nprogram\npin %032x\n",
                           i, i);
    assert_ok(keel_buffer_status(&text));
    assert_ok(keel_contract_parse("it", keel_buffer_bytes(&text), &contract));
    keel_buffer_deinitialize(&text);
    for (unsigned i = 0; i < MANY; ++i) {
        const keel_contract_entry_t *entry = &contract.entries[i];
        const keel_contract_pin_t *pin = &entry->programs->pins[0];
        assert_ptr_equal(keel_contract_entry(&contract, entry->name, KEEL_STR("")), entry);
        assert_int_equal(keel_contract_match(&contract, &pin->fingerprint, &pin->options, &found),
                         KEEL_CONTRACT_LISTED);
        assert_ptr_equal(found.pin, pin);
    }
    keel_contract_deinitialize(&contract);
}

// One program of many sizes, each listed with its pin.
static void a_program_of_many_sizes_is_read_in_time(void **state) {
    (void)state;
    enum { MANY = 400000 };
    keel_contract_t contract;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_format(&text, HEADER "programs %u\nentry f\nprogram\n", MANY);
    for (unsigned i = 1; i <= MANY; ++i)
        keel_buffer_format(&text, "pin %032x sizes %u\n", i, 2 * i);
    keel_buffer_text(&text, "takes x f32[2");
    for (unsigned i = 2; i <= MANY; ++i)
        keel_buffer_format(&text, "|%u", 2 * i);
    keel_buffer_text(&text, "]\n");
    assert_ok(keel_buffer_status(&text));
    assert_ok(keel_contract_parse("it", keel_buffer_bytes(&text), &contract));
    keel_buffer_deinitialize(&text);
    const keel_sizes_t *sizes = &contract.entries[0].programs[0].arguments[0].dims[0];
    assert_int_equal(sizes->count, MANY);
    assert_true(keel_sizes_has(sizes, 2) && keel_sizes_has(sizes, 2 * MANY));
    assert_true(keel_sizes_has(sizes, MANY) && !keel_sizes_has(sizes, MANY + 1));
    assert_true(!keel_sizes_has(sizes, 0) && !keel_sizes_has(sizes, 2 * MANY + 2));
    keel_contract_deinitialize(&contract);
}

static void a_file_that_is_not_there_is_told(void **state) {
    (void)state;
    keel_contract_t contract;
    keel_status_t status = keel_contract_read("/nowhere/keel.contract", &contract);
    assert_int_equal(keel_status_code(status), KEEL_NOT_FOUND);
    keel_status_ignore(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_and_written_the_same),
        cmocka_unit_test(a_golden_file_is_read_and_written_the_same),
        cmocka_unit_test(blanks_and_order_of_entries_do_not_matter),
        cmocka_unit_test(a_byte_order_mark_does_not_matter),
        cmocka_unit_test(what_is_no_contract_is_refused),
        cmocka_unit_test(marks_of_a_merge_conflict_are_refused),
        cmocka_unit_test(bad_edits_name_line_value_and_next_step),
        cmocka_unit_test(an_argument_has_at_most_so_many_dimensions),
        cmocka_unit_test(a_large_number_is_read),
        cmocka_unit_test(a_program_is_written_as_its_differences_if_these_are_shorter),
        cmocka_unit_test(a_contract_of_many_entries_is_read_in_time),
        cmocka_unit_test(a_program_of_many_sizes_is_read_in_time),
        cmocka_unit_test(a_file_that_is_not_there_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
