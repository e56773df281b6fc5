// What changed between two contracts, and whether different programs are allowed than before.
#define _GNU_SOURCE
#include "contract_help.h"

static keel_contract_t before, after;

static int begin(void **state) {
    (void)state;
    keel_contract_initialize(&before);
    keel_contract_initialize(&after);
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_contract_deinitialize(&before);
    keel_contract_deinitialize(&after);
    return 0;
}

static void parse(const char *text, keel_contract_t *out) {
    keel_contract_deinitialize(out);
    assert_ok(keel_contract_parse("keel.contract", keel_str_bytes(keel_str(text)), out));
}

// A line for each change: "kind what|entry|name|old|new".
static void assert_changes(const char *old_text, const char *new_text, const char *expected,
                           bool programs) {
    keel_contract_changes_t changes;
    keel_buffer_t text;
    parse(old_text, &before);
    parse(new_text, &after);
    assert_ok(keel_contract_compare(&before, &after, &changes));
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
    assert_changes(HEADER ENTRY F1 "\n    takes x f32[4]\n",
                   HEADER ENTRY F1 " placements 4\n    takes x f32[4]\n",
                   "changed placements|jit_step||1|4\n", true);
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

static void the_header_says_once_what_changed(void **state) {
    (void)state;
    assert_changes("keel.contract 1\nkey 2\nclient jax 0.6.1\nplugin xla 1\ndevices 4 x cpu\n"
                   "profile a\noptions " OPTIONS "\nsettled step 2\nothers warn\n" ENTRY F1 "\n",
                   "keel.contract 1\nkey 2\nclient jax 0.6.2\nplugin xla 2\ndevices 8 x cpu\n"
                   "profile b\noptions " F3 "\nsettled step 4\nothers allow\n" ENTRY F1 "\n"
                   "    pin " F2 "\n",
                   "changed client|||jax 0.6.1|jax 0.6.2\nchanged plugin|||xla 1|xla 2\n"
                   "changed devices|||4 x cpu|8 x cpu\nchanged profile|||a|b\n"
                   "changed options|||c8e9eaeb|03707172\nchanged others|||warn|allow\n"
                   "changed programs|||1|2\nchanged settled|||step 2|step 4\n"
                   "added pin|jit_step|||024b4c4d\n",
                   true);
    assert_changes(HEADER "client a\n", HEADER "client b\n", "changed client|||a|b\n", false);
    assert_changes(HEADER "others warn\n", HEADER "others refuse\n",
                   "changed others|||warn|refuse\n", true);
    assert_changes(HEADER, "keel.contract 1\nkey 2\noptions " F3 "\n",
                   "changed options|||c8e9eaeb|03707172\n", true);
}

static void options_of_one_pin_are_a_change_of_that_pin(void **state) {
    (void)state;
    assert_changes(HEADER ENTRY F1 "\n", HEADER ENTRY F1 " options " F3 "\n",
                   "changed options|jit_step||c8e9eaeb|03707172\n", true);
    assert_changes(HEADER ENTRY F1 " options " F3 "\n", HEADER ENTRY F1 "\n",
                   "changed options|jit_step||03707172|c8e9eaeb\n", true);
    assert_changes(HEADER ENTRY F1 " memory 1MiB\n", HEADER ENTRY F1 " memory 2MiB\n",
                   "changed memory|jit_step||1MiB|2MiB\n", false);
}

static void an_entry_has_its_scope_its_mesh_and_its_function(void **state) {
    (void)state;
    assert_changes(HEADER ENTRY F1 "\n",
                   HEADER "entry jit_step\n  scope refuse\n  program\n    pin " F1 "\n",
                   "changed scope|jit_step||default|refuse\n", true);
    assert_changes(HEADER ENTRY F1 "\n    mesh data=2\n", HEADER ENTRY F1 "\n    mesh data=4\n",
                   "changed mesh|jit_step||data=2|data=4\n", true);
    assert_changes(HEADER "entry f\n  function a in x.py\n  program\n    pin " F1 "\n",
                   HEADER "entry f\n  function b in x.py\n  program\n    pin " F1 "\n",
                   "removed entry|f||a in x.py|\nadded entry|f|||b in x.py\n", true);
    assert_changes(HEADER, HEADER "entry a\n  program\n    pin " F1 "\nentry b\n",
                   "changed programs|||0|1\nadded entry|a|||\nadded entry|b|||\n", true);
    assert_changes(HEADER "entry a\n  program\n    pin " F1 "\nentry b\n", HEADER,
                   "changed programs|||1|0\nremoved entry|a|||\nremoved entry|b|||\n", true);
}

static void an_argument_is_shown_with_all_that_it_has(void **state) {
    (void)state;
    assert_changes(HEADER ENTRY F1 "\n    takes x f32[4]\n    takes y f32[1]\n",
                   HEADER ENTRY F1 "\n    takes x f32[4] sharding P('d',) donated\n"
                                   "    takes z i32[2]\n",
                   "changed argument|jit_step|x|f32[4]|f32[4] P('d',) donated\n"
                   "added argument|jit_step|z||i32[2]\nremoved argument|jit_step|y|f32[1]|\n",
                   true);
}

static void a_pin_is_shown_with_its_sizes(void **state) {
    (void)state;
    assert_changes(HEADER ENTRY F1 " sizes 5\n    takes x f32[5|8,5|8]\n",
                   HEADER ENTRY F1 " sizes 5\n    pin " F2 " sizes 8\n    pin " F3
                                   " sizes 8,5\n    takes x f32[5|8,5|8]\n",
                   "changed programs|||1|3\nadded pin|jit_step|||024b4c4d for sizes 8\n"
                   "added pin|jit_step|||03707172 for sizes 8,5\n",
                   true);
}

static void programs_are_paired_by_their_pins(void **state) {
    (void)state;
    // Although the arguments of the others are the same.
    assert_changes(
        HEADER ENTRY F1 "\n    takes a f32[1]\n  program\n    pin " F2 "\n    takes b f32[1]\n",
        HEADER ENTRY F2 "\n    takes a f32[1]\n  program\n    pin " F1 "\n    takes b f32[1]\n",
        "added argument|jit_step|a||f32[1]\nremoved argument|jit_step|b|f32[1]|\n"
        "added argument|jit_step|b||f32[1]\nremoved argument|jit_step|a|f32[1]|\n",
        true);
    // The first has a program of its own already.
    assert_changes(HEADER ENTRY F1 "\n    takes c f32[1]\n",
                   HEADER ENTRY F3 "\n    takes c f32[1]\n  program\n    pin " F1
                                   "\n    takes c f32[2]\n",
                   "changed programs|||1|2\nadded program|jit_step|||03707172, 1 arguments\n"
                   "changed argument|jit_step|c|f32[1]|f32[2]\n",
                   true);
    // The one that shares more of them.
    assert_changes(HEADER ENTRY F1 "\n    takes a f32[1]\n  program\n    pin " F2 "\n    pin " F3
                                   "\n    takes a f32[2]\n",
                   HEADER ENTRY F1 "\n    pin " F2 "\n    pin " F3 "\n    takes a f32[2]\n",
                   "added pin|jit_step|||01262728\nremoved program|jit_step||01262728, 1 arguments"
                   "|\n",
                   true);
}

static void programs_without_common_pins_are_paired_by_their_arguments(void **state) {
    (void)state;
    assert_changes(HEADER ENTRY F1
                   "\n    takes a f32[1]\n    takes b f32[1]\n  program\n    pin " F2
                   "\n    takes c f32[1]\n    takes d f32[1]\n",
                   HEADER ENTRY F3 "\n    takes c f32[1]\n    takes d f32[2]\n",
                   "changed programs|||2|1\nchanged argument|jit_step|d|f32[1]|f32[2]\n"
                   "added pin|jit_step|||03707172\nremoved pin|jit_step||024b4c4d|\n"
                   "removed program|jit_step||01262728, 2 arguments|\n",
                   true);
}

static void a_program_that_was_split_is_paired_once(void **state) {
    (void)state;
    assert_changes(HEADER ENTRY F1 "\n    pin " F2 "\n    pin " F3 "\n",
                   HEADER ENTRY F1 "\n  program\n    pin " F2 "\n    pin " F3 "\n",
                   "removed pin|jit_step||024b4c4d|\nremoved pin|jit_step||03707172|\n"
                   "added program|jit_step|||024b4c4d and 1 more, 0 arguments\n",
                   true);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_change_reads_as_what_changed_in_the_model),
        TEST(the_header_says_once_what_changed),
        TEST(options_of_one_pin_are_a_change_of_that_pin),
        TEST(an_entry_has_its_scope_its_mesh_and_its_function),
        TEST(an_argument_is_shown_with_all_that_it_has),
        TEST(a_pin_is_shown_with_its_sizes),
        TEST(programs_are_paired_by_their_pins),
        TEST(programs_without_common_pins_are_paired_by_their_arguments),
        TEST(a_program_that_was_split_is_paired_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
