// What to do about an item, judging by what it shows.
#include "why_help.h"

static const char *case_text(keel_case_t one) {
    return keel_case_advice(one);
}

// The advice for a recompile with one root.
static void check(const char *root, keel_framework_t framework, const char *expected) {
    char rest[512];
    keel_why_t why;
    snprintf(rest, sizeof rest, AGAIN ",\"roots\":[{%s}]", root);
    journal.size = 0;
    explain("compile", "a", "f", 1, rest);
    parse(&why);
    assert_string_equal(keel_why_advice(&why, why.entries, why.entries[0].roots, framework),
                        expected);
    keel_why_deinitialize(&why);
}

static void what_keeps_a_program_from_the_cache_has_advice_of_its_own(void **state) {
    (void)state;
    static const struct {
        const char *subject;
        keel_case_t advice;
    } cases[] = {
        {"dumps", KEEL_CASE_DUMPS},
        {"uncacheable", KEEL_CASE_UNSTORED},
        {"uncacheable\",\"note\":\"custom call 'mine' is not known to be safe to store",
         KEEL_CASE_UNCACHEABLE},
        {"refresh", KEEL_CASE_REFRESH},
        {"unused", KEEL_CASE_UNUSED},
        {"damaged", KEEL_CASE_LOST},
        {"quarantined", KEEL_CASE_LOST},
        {"unreadable", KEEL_CASE_UNREADABLE},
        {"foreign", KEEL_CASE_FOREIGN},
        {"late", KEEL_CASE_LOST},
    };
    const keel_cause_facts_t *cache = keel_cause_facts(KEEL_CAUSE_CACHE);
    for (int torch = 0; torch < 2; ++torch) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
            char root[160];
            snprintf(root, sizeof root, "\"kind\":\"cache\",\"subject\":\"%s\"", cases[i].subject);
            check(root, torch, case_text(cases[i].advice));
        }
        check("\"kind\":\"cache\",\"subject\":\"absent\"", torch,
              torch ? cache->advice[KEEL_FRAMEWORK_TORCH] : cache->advice[KEEL_FRAMEWORK_JAX]);
    }
}

static void a_step_that_never_ends_in_transformers_loop_has_advice_of_its_own(void **state) {
    (void)state;
#define ENDLESS                                                                                    \
    "\"kind\":\"host_read\",\"note\":\"no step ever ends, so each host read runs all of it "       \
    "again\""
    check(ENDLESS ",\"library_file\":\"/l/transformers/generation/utils.py\",\"library_line\":9",
          KEEL_FRAMEWORK_TORCH, case_text(KEEL_CASE_GENERATE));
    check(ENDLESS ",\"library_file\":\"/l/other/generation/utils.py\",\"library_line\":9",
          KEEL_FRAMEWORK_TORCH, keel_note_advice(keel_note_text(KEEL_NOTE_ENDLESS)));
}

static void a_first_program_that_was_refused_has_advice_of_its_own(void **state) {
    (void)state;
    const keel_cause_facts_t *first = keel_cause_facts(KEEL_CAUSE_FIRST);
    for (int client = 0; client < KEEL_FRAMEWORK_COUNT; ++client)
        for (int refused = 0; refused < 2; ++refused) {
            keel_why_t why;
            journal.size = 0;
            explain(refused ? "refused" : "compile", "a", "f", 1,
                    ",\"roots\":[{\"kind\":\"first\"}]");
            parse(&why);
            assert_string_equal(keel_why_advice(&why, why.entries, why.entries[0].roots, client),
                                refused ? case_text(KEEL_CASE_REFUSED) : first->advice[client]);
            keel_why_deinitialize(&why);
        }
}

static void an_index_that_is_a_tensor_has_advice_of_its_own(void **state) {
    (void)state;
    const keel_cause_facts_t *constant = keel_cause_facts(KEEL_CAUSE_CONSTANT);
    check("\"kind\":\"constant\",\"subject\":\"slice start\"", KEEL_FRAMEWORK_TORCH,
          case_text(KEEL_CASE_INDEX));
    check("\"kind\":\"constant\",\"subject\":\"slice start\"", KEEL_FRAMEWORK_JAX,
          constant->advice[KEEL_FRAMEWORK_JAX]);
    check("\"kind\":\"constant\",\"subject\":\"sliced\"", KEEL_FRAMEWORK_TORCH,
          constant->advice[KEEL_FRAMEWORK_TORCH]);
    check("\"kind\":\"shape\",\"subject\":\"slice start\"", KEEL_FRAMEWORK_TORCH,
          keel_cause_facts(KEEL_CAUSE_SHAPE)->advice[KEEL_FRAMEWORK_TORCH]);
}

static void check_shape(const char *before, const char *after, const char *expected) {
    char root[256];
    snprintf(root, sizeof root, "\"kind\":\"shape\",\"old\":\"%s\",\"new\":\"%s\"", before, after);
    check(root, KEEL_FRAMEWORK_JAX, expected);
}

static void advice_about_a_shape_goes_by_what_moved(void **state) {
    (void)state;
    const char *shape = keel_cause_facts(KEEL_CAUSE_SHAPE)->advice[KEEL_FRAMEWORK_JAX];
    check_shape("f32[8,4]", "f32[5,4]", shape);
    check_shape("f32[8]", "f32[5]", shape);
    check_shape("f32[2,8,8,1]", "f32[2,12,12,1]", case_text(KEEL_CASE_LENGTH));
    check_shape("f32[8,16]", "f32[5,12]", case_text(KEEL_CASE_LENGTH));
    check_shape("f32[]", "f32[2]", case_text(KEEL_CASE_RANK));
    check_shape("f32[8,1]", "f32[8]", case_text(KEEL_CASE_RANK));
    check_shape("", "", shape);
    check_shape("f32[8", "f32[8,4]", shape);
    check_shape("(f32[8], f32[4])", "f32[8]", shape);
    check("\"kind\":\"shape\",\"old\":\"f32[2,8]\",\"new\":\"f32[2,9]\"", KEEL_FRAMEWORK_TORCH,
          case_text(KEEL_CASE_LENGTH));
}

// A program of that origin, which the file called for the user. What differs has a line of that
// library's.
static void check_librarys_line(const char *origin, const char *caller, const char *root,
                                const char *library, const char *expected) {
    char rest[1024];
    keel_why_t why;
    snprintf(rest, sizeof rest,
             AGAIN ",\"origin\":\"%s\",\"site\":{\"file\":\"/w/t.py\",\"line\":3,"
                   "\"library_file\":\"%s\",\"library_line\":4},\"roots\":[{%s,\"library_file\":"
                   "\"%s\"}]",
             origin, caller, root, library);
    journal.size = 0;
    explain("compile", "a", "f", 1, rest);
    parse(&why);
    assert_string_equal(
        keel_why_advice(&why, why.entries, why.entries[0].roots, KEEL_FRAMEWORK_JAX), expected);
    keel_why_deinitialize(&why);
}

static void check_librarys(const char *origin, const char *caller, const char *root,
                           const char *expected) {
    check_librarys_line(origin, caller, root, caller, expected);
}

static void data_that_a_library_closed_over_is_padded_where_the_library_gets_it(void **state) {
    (void)state;
    static const char inner[] = "collect at /l/site-packages/numpyro/util.py:316";
    static const char own[] = "/l/site-packages/numpyro/util.py";
    static const char wrapper[] = "/l/site-packages/equinox/_jit.py";
    static const char size[] = "\"kind\":\"size\"";
    const char *array = keel_note_text(KEEL_NOTE_HOST_ARRAY);
    char closed[128];
    snprintf(closed, sizeof closed, "%s,\"note\":\"%s; f32[2] -> f32[3]\"", size, array);
    check_librarys_line(inner, own, closed, "", case_text(KEEL_CASE_LIBRARY_SIZE));
    check_librarys_line(inner, wrapper, closed, "", keel_note_advice(array));
    check_librarys_line("step at /w/t.py:1", own, closed, "", keel_note_advice(array));
    check_librarys_line(inner, own, size, "",
                        keel_cause_facts(KEEL_CAUSE_SIZE)->advice[KEEL_FRAMEWORK_JAX]);
}

static void numbers_of_a_librarys_call_have_advice_of_their_own(void **state) {
    (void)state;
    static const char shape[] = "\"kind\":\"shape\",\"old\":\"f32[2]\",\"new\":\"f32[3]\"";
    static const char constant[] = "\"kind\":\"constant\"", retrace[] = "\"kind\":\"retrace\"";
    static const char inner[] = "collect at /l/site-packages/numpyro/util.py:316";
    static const char own[] = "/l/site-packages/numpyro/util.py";
    static const char wrapper[] = "/l/site-packages/equinox/_jit.py";
    static const char users[] = "update at /l/site-packages/optax/b.py:9 for /w/t.py:3";
    static const char loop[] = "/l/site-packages/numpyro/util.py:504 for /w/t.py:3";
    const char *size = case_text(KEEL_CASE_LIBRARY_SIZE),
               *again = case_text(KEEL_CASE_LIBRARY_AGAIN);
    const char *pad = keel_cause_facts(KEEL_CAUSE_SHAPE)->advice[KEEL_FRAMEWORK_JAX];
    const char *baked = keel_cause_facts(KEEL_CAUSE_CONSTANT)->advice[KEEL_FRAMEWORK_JAX];
    const char *jit = keel_cause_facts(KEEL_CAUSE_RETRACE)->advice[KEEL_FRAMEWORK_JAX];
    char noted[128];
    check_librarys(inner, own, shape, size);
    check_librarys(loop, own, shape, size);
    check_librarys(inner, own, constant, size);
    check_librarys(inner, wrapper, constant, size);
    check_librarys(inner, own, "\"kind\":\"size\"", size);
    check_librarys(inner, own, retrace, again);
    check_librarys(loop, own, retrace, again);
    // The user calls it, or jits it.
    check_librarys(inner, wrapper, shape, pad);
    check_librarys(inner, wrapper, retrace, jit);
    check_librarys(users, own, constant, baked);
    check_librarys("step at /w/t.py:1", own, constant, baked);
    check_librarys(inner, "", constant, baked);
    // What a note knows is better, but not what a loop of the user's could do.
    snprintf(noted, sizeof noted, "%s,\"note\":\"%s\"", constant, keel_note_text(KEEL_NOTE_LOOP));
    check_librarys(inner, own, noted, size);
    snprintf(noted, sizeof noted, "%s,\"note\":\"%s\"", constant, keel_note_text(KEEL_NOTE_AXIS));
    check_librarys(inner, own, noted, keel_note_advice(keel_note_text(KEEL_NOTE_AXIS)));
}

static void no_choice_on_the_device_reaches_into_a_library(void **state) {
    (void)state;
    const keel_cause_facts_t *structure = keel_cause_facts(KEEL_CAUSE_STRUCTURE);
    static const char library[] = "\"kind\":\"structure\",\"library_file\":\"/l/optax/_adding.py\"";
    check(library, KEEL_FRAMEWORK_JAX, case_text(KEEL_CASE_LIBRARY));
    check(library, KEEL_FRAMEWORK_TORCH, structure->advice[KEEL_FRAMEWORK_TORCH]);
    check("\"kind\":\"structure\",\"file\":\"/w/t.py\"", KEEL_FRAMEWORK_JAX,
          structure->advice[KEEL_FRAMEWORK_JAX]);
}

// Another program that was compared with the same one as the idle one is.
static void also_compared(const char *program) {
    compile(program, "f", 1, 0);
    explain("compile", program, "f", 1,
            AGAIN ",\"roots\":[{\"kind\":\"constant\",\"subject\":\"multiply\",\"old\":\"1\","
                  "\"new\":\"2\"}]");
}

typedef enum beside { BESIDE_NONE, BESIDE_EARLIER, BESIDE_LATER } beside_t;

// Whether it was skipped once or the optimizer has other tensors from then on.
static void check_idle(const char *executes, beside_t beside, keel_note_t expected) {
    char rest[512];
    keel_why_t why;
    snprintf(rest, sizeof rest,
             AGAIN
             ",\"roots\":[{\"kind\":\"structure\",\"subject\":\"optimizer\",\"note\":\"%s\"}]",
             keel_note_text(KEEL_NOTE_IDLE));
    journal.size = 0;
    compile("o", "f", 1, 3);
    if (beside == BESIDE_EARLIER) also_compared("e");
    compile("p", "f", 1, 0);
    explain("compile", "p", "f", 1, rest);
    if (beside == BESIDE_LATER) also_compared("l");
    compile("other", "g", 1, 7);
    keel_buffer_format(&journal, "{\"event\":\"executes\",\"pid\":1,\"executes\":%s}\n", executes);
    parse(&why);
    const keel_why_entry_t *entry = &why.entries[beside == BESIDE_EARLIER];
    assert_string_equal(keel_why_advice(&why, entry, entry->roots, KEEL_FRAMEWORK_TORCH),
                        keel_note_advice(keel_note_text(expected)));
    keel_why_deinitialize(&why);
}

static void an_idle_optimizer_has_other_tensors_only_where_steps_follow(void **state) {
    (void)state;
    check_idle("{\"p\":1}", BESIDE_NONE, KEEL_NOTE_IDLE); // the last step
    check_idle("{\"p\":3,\"o\":2}", BESIDE_NONE, KEEL_NOTE_IDLE);
    check_idle("{\"p\":3}", BESIDE_NONE, KEEL_NOTE_REPLACED);
    // A later program updates the same tensors.
    check_idle("{\"p\":3,\"l\":2}", BESIDE_LATER, KEEL_NOTE_IDLE);
    check_idle("{\"p\":3}", BESIDE_EARLIER, KEEL_NOTE_REPLACED);
}

static void causes_of_the_whole_run_belong_to_no_line(void **state) {
    (void)state;
    for (int kind = 0; kind < KEEL_CAUSE_COUNT; ++kind)
        assert_int_equal(keel_why_is_of_run((keel_cause_t)kind), kind == KEEL_CAUSE_FLAG ||
                                                                     kind == KEEL_CAUSE_BACKEND ||
                                                                     kind == KEEL_CAUSE_DEVICES);
}

static void a_note_has_the_last_word_on_a_single_recompile(void **state) {
    (void)state;
    char root[256];
    snprintf(
        root, sizeof root,
        "\"kind\":\"shape\",\"old\":\"f32[2,8]\",\"new\":\"f32[2,9]\",\"note\":\"%s; and 1 more\"",
        keel_note_text(KEEL_NOTE_MODEL_SIZE));
    check(root, KEEL_FRAMEWORK_JAX, keel_note_advice(keel_note_text(KEEL_NOTE_MODEL_SIZE)));
}

// ---- a list that grows -------------------------------------------------------------------------

static void a_list_that_grows_is_a_pattern_with_advice_of_its_own(void **state) {
    (void)state;
    argument("a", "history[8]['w']", NULL);
    argument("b", "history[9]['w']", NULL);
    argument("c", "history[10]['w']", NULL);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.pattern_count, 1);
    assert_int_equal(why.patterns[0].kind, KEEL_PATTERN_GROWING);
    assert_int_equal(why.patterns[0].took.times, 3);
    assert_string_equal(why.patterns[0].values,
                        "history[8]['w'], history[9]['w'], history[10]['w']");
    assert_string_equal(
        keel_why_advice(&why, why.entries, why.entries[0].roots, KEEL_FRAMEWORK_JAX),
        case_text(KEEL_CASE_LIST_GROWS));
    keel_why_deinitialize(&why);
}

static void other_elements_or_lists_are_none_that_grows(void **state) {
    (void)state;
    argument("a", "history[1]", NULL);
    argument("b", "other[2]", NULL);
    argument("c", "history[1]", NULL); // again
    argument("d", "history[0]", NULL);
    argument("e", "layers[1].cache[2]", NULL);
    argument("f", "layers[2].cache[3]", NULL); // both
    argument("g", "batch['1']", NULL);
    argument("h", "batch['2']", NULL); // keys
    keel_why_t why;
    parse(&why);
    for (size_t i = 0; i < why.pattern_count; ++i)
        assert_int_not_equal(why.patterns[i].kind, KEEL_PATTERN_GROWING);
    keel_why_deinitialize(&why);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(advice_about_a_shape_goes_by_what_moved),
        TEST(what_keeps_a_program_from_the_cache_has_advice_of_its_own),
        TEST(a_first_program_that_was_refused_has_advice_of_its_own),
        TEST(a_step_that_never_ends_in_transformers_loop_has_advice_of_its_own),
        TEST(an_index_that_is_a_tensor_has_advice_of_its_own),
        TEST(data_that_a_library_closed_over_is_padded_where_the_library_gets_it),
        TEST(numbers_of_a_librarys_call_have_advice_of_their_own),
        TEST(no_choice_on_the_device_reaches_into_a_library),
        TEST(an_idle_optimizer_has_other_tensors_only_where_steps_follow),
        TEST(causes_of_the_whole_run_belong_to_no_line),
        TEST(a_note_has_the_last_word_on_a_single_recompile),
        TEST(a_list_that_grows_is_a_pattern_with_advice_of_its_own),
        TEST(other_elements_or_lists_are_none_that_grows),
    };
    return cmocka_run_group_tests_name("why_advice", tests, NULL, NULL);
}
