// The user's line of a program of several operations: which frames are the traced function's, which
// belong to its callers, and which line asked.
#define _GNU_SOURCE
#include "host/host.h"
#include "place.h"

#define LIBRARY "/v/lib/python3.13/site-packages/"
#define USER "/home/u/train.py"
#define OTHER "/home/u/other.py"

enum { OPS = 5, FRAMES = 6 };

typedef struct frame_t {
    const char *function, *file;
    uint32_t line;
} frame_t;

typedef struct asked_t {
    const char *module;
    frame_t ops[OPS][FRAMES]; // of each operation, innermost first
    uint32_t first, end;      // the operations of the entry's block; 0, 0: all
    frame_t stack[4];
    const char *traced_file;
    uint32_t traced_line;
    bool is_deferred;
    const char *application, *script; // NULL: none
} asked_t;

static keel_string_id_t text(keel_program_t *p, const char *bytes) {
    keel_string_id_t id;
    assert_ok(keel_program_add_text(p, keel_str(bytes), &id));
    return id;
}

static keel_attr_id_t attr(keel_program_t *p, uint8_t kind, uint32_t a, uint32_t b) {
    keel_attr_id_t id;
    assert_ok(keel_program_add_attr(p, (keel_attr_t){.kind = kind, .a = a, .b = b}, &id));
    return id;
}

static keel_attr_id_t chain(keel_program_t *p, const frame_t *frames, uint32_t count) {
    const uint32_t numbers[] = {frames->line, 1, frames->line, 9};
    uint32_t list;
    assert_ok(keel_program_add_list(p, numbers, 4, &list));
    keel_attr_id_t file = attr(p, KEEL_ATTR_LOC_FILE, text(p, frames->file), list);
    keel_attr_id_t own = attr(p, KEEL_ATTR_LOC_NAME, text(p, frames->function), file);
    bool is_called = count > 1 && frames[1].file;
    return is_called ? attr(p, KEEL_ATTR_LOC_CALLSITE, own, chain(p, frames + 1, count - 1)) : own;
}

static keel_status_t build(keel_program_t *p, const asked_t *asked) {
    uint32_t count = 0;
    for (; count < OPS && asked->ops[count][0].file; ++count) {
        keel_attr_id_t inner = chain(p, asked->ops[count], FRAMES);
        keel_attr_id_t named = attr(p, KEEL_ATTR_LOC_NAME, text(p, "jit(f)/mul"), inner);
        KEEL_PUSH(&p->operations, ((keel_operation_t){.location = named}));
    }
    KEEL_PUSH(&p->operations, ((keel_operation_t){.location = KEEL_NONE}));
    uint32_t end = asked->end ? asked->end : count;
    KEEL_PUSH(
        &p->blocks,
        ((keel_block_t){.argument_locations = KEEL_NONE, .first_op = asked->first, .end_op = end}));
    KEEL_PUSH(&p->regions, ((keel_region_t){.block_count = 1, .end = end}));
    KEEL_PUSH(&p->functions, ((keel_function_t){.name = text(p, "main")}));
    p->name = text(p, asked->module);
    p->entry = 0;
    return NULL;
}

// The place as "FILE:LINE function, FILE:LINE of the call, FILE:LINE of a library".
static void describe(const keel_place_t *place, char out[600]) {
    int size = snprintf(out, 600, "%s:%u %s", place->file, place->line, place->function);
    if (*place->call_file)
        size +=
            snprintf(out + size, 600 - (size_t)size, ", %s:%u", place->call_file, place->call_line);
    if (place->library_file)
        size += snprintf(out + size, 600 - (size_t)size, "; %s:%u", place->library_file,
                         place->library_line);
    if (place->script_file)
        snprintf(out + size, 600 - (size_t)size, " for %s:%u", place->script_file,
                 place->script_line);
}

typedef struct expected_t {
    const char *place, *origin;
    bool is_traced, is_wrapped;
} expected_t;

static void assert_site(const asked_t *asked, const expected_t *expected) {
    keel_program_t program;
    keel_arena_t arena;
    keel_site_t site;
    keel_stack_frame_t frames[4];
    char place[600];
    uint32_t count = 0;
    keel_program_initialize(&program);
    keel_arena_initialize(&arena, 0);
    assert_ok(build(&program, asked));
    for (; count < 4 && asked->stack[count].file; ++count)
        frames[count] = (keel_stack_frame_t){.file = asked->stack[count].file,
                                             .function = asked->stack[count].function,
                                             .line = asked->stack[count].line};
    keel_stack_t stack = {.frames = frames,
                          .count = count,
                          .traced_file = asked->traced_file,
                          .traced_line = asked->traced_line,
                          .is_deferred = asked->is_deferred,
                          .application = asked->application,
                          .script_file = asked->script,
                          .script_line = asked->script ? 99 : 0};
    keel_site_of(&program, count ? &stack : NULL, &arena, &site);
    describe(&site.place, place);
    assert_string_equal(place, expected->place);
    assert_string_equal(site.origin, expected->origin);
    assert_int_equal(site.is_traced, expected->is_traced);
    assert_int_equal(site.is_wrapped, expected->is_wrapped);
    keel_arena_deinitialize(&arena);
    keel_program_deinitialize(&program);
}

// ---- without a stack ---------------------------------------------------------------------------

static void the_line_that_called_the_traced_function_asked(void **state) {
    (void)state;
    assert_site(
        &(asked_t){.module = "jit_step",
                   .ops = {{{"step", USER, 7}, {"train", USER, 20}, {"<module>", USER, 30}}}},
        &(expected_t){USER ":20 train, " USER ":30", "step at " USER ":0", true, false});
    // A library in between is named beside the user's line.
    assert_site(&(asked_t){.module = "jit_step",
                           .ops = {{{"step", USER, 7},
                                    {"call", LIBRARY "equinox/_jit.py", 50},
                                    {"train", USER, 20},
                                    {"<module>", USER, 30}}}},
                &(expected_t){USER ":20 train, " USER ":30; " LIBRARY "equinox/_jit.py:50",
                              "step at " USER ":0", true, true});
    // If nothing but a library's frames are there, it is the library's line.
    assert_site(&(asked_t){.module = "jit_solve",
                           .ops = {{{"solve", LIBRARY "diffrax/a.py", 7},
                                    {"call", LIBRARY "equinox/_jit.py", 50},
                                    {"run", LIBRARY "equinox/_jit.py", 60}}}},
                &(expected_t){LIBRARY "equinox/_jit.py:50 call, " LIBRARY
                                      "equinox/_jit.py:60; " LIBRARY "equinox/_jit.py:50",
                              "solve at " LIBRARY "diffrax/a.py:0", true, true});
}

// Trainer.step calls the jitted step: what all operations share is outside of it.
static void a_caller_of_the_same_name_is_no_part_of_the_function(void **state) {
    (void)state;
    const expected_t expected = {USER ":20 Trainer.step, " USER ":30", "step at " USER ":0", true,
                                 false};
    asked_t asked = {.module = "jit_step",
                     .ops = {{{"step", OTHER, 3},
                              {"step", USER, 7},
                              {"Trainer.step", USER, 20},
                              {"<module>", USER, 30}},
                             {{"deep", OTHER, 9}}, // its outer frames were left out
                             {{"g", OTHER, 6},
                              {"step", USER, 8},
                              {"Trainer.step", USER, 20},
                              {"<module>", USER, 30}}}};
    assert_site(&asked, &expected);
    // Frames are the same only in every part.
    asked.ops[2][2].line = 21;
    assert_site(&asked,
                &(expected_t){USER ":30 <module>", "Trainer.step at " USER ":0", true, false});
    asked.ops[2][2].line = 20;
    asked.ops[2][2].file = OTHER;
    assert_site(&asked,
                &(expected_t){USER ":30 <module>", "Trainer.step at " USER ":0", true, false});
    asked.ops[2][2].file = USER;
    asked.ops[2][2].function = "Other.step";
    assert_site(&asked,
                &(expected_t){USER ":30 <module>", "Trainer.step at " USER ":0", true, false});
}

// A loop outside jit: its body's frames differ, and the line that asked is in each operation of the
// entry.
static void the_innermost_line_that_all_operations_share_asked_for_a_loop(void **state) {
    (void)state;
    const expected_t expected = {USER ":12 body, " USER ":25", USER ":25", false, false};
    assert_site(&(asked_t){.module = "jit_scan",
                           .ops = {{{"z", USER, 9}, {"<module>", USER, 30}},
                                   {{"body", USER, 12}, {"run", USER, 25}, {"<module>", USER, 30}},
                                   {{"body", USER, 13}, {"run", USER, 25}, {"<module>", USER, 30}},
                                   {{"z", USER, 9}, {"<module>", USER, 30}}},
                           .first = 1,
                           .end = 3},
                &expected);
    // Whichever of them has the longest chain.
    assert_site(
        &(asked_t){.module = "jit_scan",
                   .ops = {{{"run", USER, 25}, {"<module>", USER, 30}},
                           {{"body", USER, 12}, {"run", USER, 25}, {"<module>", USER, 30}}}},
        &expected);
}

// ---- with a stack ------------------------------------------------------------------------------

// A function that calls itself by way of jit is on the chain more than once: the frame that asked
// is the one behind which the chain goes on as the stack does.
static void the_stack_tells_which_call_of_several_asked(void **state) {
    (void)state;
    asked_t asked = {.module = "jit_step",
                     .ops = {{{"step", USER, 7},
                              {"call", USER, 20},
                              {"step", OTHER, 50},
                              {"call", USER, 20},
                              {"<module>", USER, 30}}},
                     .stack = {{"call", USER, 20}, {"<module>", USER, 30}}};
    assert_site(&asked,
                &(expected_t){USER ":20 call, " USER ":30", "step at " OTHER ":0", true, false});
    // The stack may be longer than the chain, and a library's frames are only on the chain.
    asked = (asked_t){.module = "jit_step",
                      .ops = {{{"step", USER, 7},
                               {"call", USER, 20},
                               {"wrap", LIBRARY "equinox/_jit.py", 9},
                               {"train", USER, 25}}},
                      .stack = {{"call", USER, 20}, {"train", USER, 25}, {"<module>", USER, 30}}};
    assert_site(&asked,
                &(expected_t){USER ":20 call, " USER ":25", "step at " USER ":0", true, false});
}

static void a_program_that_was_lowered_earlier_is_of_the_line_that_traced_it(void **state) {
    (void)state;
    asked_t asked = {.module = "jit_step",
                     .ops = {{{"step", USER, 7}, {"lower", USER, 20}, {"<module>", USER, 30}}},
                     .stack = {{"compile", OTHER, 99}},
                     .is_deferred = true};
    assert_site(&asked,
                &(expected_t){USER ":20 lower, " USER ":30", "step at " USER ":0", true, false});
    asked.is_deferred = false;
    assert_site(&asked, &(expected_t){OTHER ":99 compile", "step at " USER ":0", true, false});
}

// Of the package that is run, frames are the user's.
static void the_package_that_is_run_asks_as_the_user_does(void **state) {
    (void)state;
    assert_site(&(asked_t){.module = "jit_step",
                           .ops = {{{"step", LIBRARY "trainer/a.py", 7},
                                    {"run", LIBRARY "trainer/b.py", 20},
                                    {"main", LIBRARY "trainer/__main__.py", 30}}},
                           .stack = {{"run", LIBRARY "trainer/b.py", 20},
                                     {"main", LIBRARY "trainer/__main__.py", 30}},
                           .application = "trainer"},
                &(expected_t){LIBRARY "trainer/b.py:20 run, " LIBRARY "trainer/__main__.py:30",
                              "step at " LIBRARY "trainer/a.py:0", true, false});
}

// So are those of a package that the script calls; the script's own line is beside it.
static void a_line_of_an_application_has_the_scripts_beside_it(void **state) {
    (void)state;
    asked_t asked = {.module = "jit_step",
                     .ops = {{{"step", LIBRARY "trainer/a.py", 7},
                              {"jitted", LIBRARY "named/jit.py", 5},
                              {"run", LIBRARY "trainer/b.py", 20},
                              {"main", USER, 30}}},
                     .stack = {{"run", LIBRARY "trainer/b.py", 20}, {"main", USER, 30}},
                     .application = "trainer",
                     .script = USER};
    assert_site(&asked, &(expected_t){LIBRARY "trainer/b.py:20 run, " USER ":30; " LIBRARY
                                              "named/jit.py:5 for " USER ":99",
                                      "step at " LIBRARY "trainer/a.py:0", true, true});
    // A program of the script's own, in which the application calls it, has no other line.
    asked.stack[0] = (frame_t){"loss", USER, 12};
    asked.script = NULL;
    assert_site(&asked, &(expected_t){USER ":12 loss, " USER ":30; " LIBRARY "named/jit.py:5",
                                      "step at " LIBRARY "trainer/a.py:0", true, true});
}

// jax.jit(jax.jit(step)): the name is on the operations of the inner function, which are not the
// entry's.
static void a_function_that_only_calls_another_has_that_ones_name(void **state) {
    (void)state;
    asked_t asked = {.module = "jit_step",
                     .ops = {{{"call", USER, 20}}, {{"Model.step", USER, 7}, {"call", USER, 20}}},
                     .end = 1,
                     .stack = {{"call", USER, 20}},
                     .traced_file = USER,
                     .traced_line = 5};
    assert_site(&asked, &(expected_t){USER ":20 call", "Model.step at " USER ":5", true, false});
    asked.ops[1][0].file = OTHER; // another function of that name
    assert_site(&asked, &(expected_t){USER ":20 call", "jit_step at " USER ":5", true, false});
}

// A loop that a library runs for itself is nobody else's.
static void a_loop_without_any_frame_of_the_users_is_of_its_line(void **state) {
    (void)state;
    assert_site(
        &(asked_t){.module = "jit_scan",
                   .ops = {{{"body", LIBRARY "lib/a.py", 5}, {"run", LIBRARY "lib/b.py", 6}}}},
        &(expected_t){LIBRARY "lib/a.py:5 body, " LIBRARY "lib/b.py:6; " LIBRARY "lib/a.py:5",
                      LIBRARY "lib/a.py:5", false, false});
}

// ---- recorded programs -------------------------------------------------------------------------

// What PyTorch/XLA recorded is of the line that asked for a result.
static void a_recorded_program_is_of_the_line_that_asked(void **state) {
    (void)state;
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    const keel_stack_frame_t frames[] = {{USER, "train", 20}, {USER, "<module>", 30}};
    keel_stack_t stack = {.frames = frames, .count = 2};
    keel_site_t site = {.place = {.file = "", .function = "", .call_file = ""}, .origin = "before"};
    char place[600];
    keel_site_asked(&(keel_stack_t){.count = 0}, &arena, &site);
    assert_string_equal(site.origin, "before");
    keel_site_asked(&stack, &arena, &site);
    describe(&site.place, place);
    assert_string_equal(place, USER ":20 train, " USER ":30");
    assert_string_equal(site.origin, USER ":20");
    stack.library_file = LIBRARY "transformers/generation.py";
    stack.library_line = 50;
    keel_site_asked(&stack, &arena, &site);
    describe(&site.place, place);
    assert_string_equal(place,
                        USER ":20 train, " USER ":30; " LIBRARY "transformers/generation.py:50");
    assert_string_equal(site.origin, "transformers/generation.py:50 at " USER ":20");
    keel_arena_deinitialize(&arena);
}

// ---- wrapped functions -------------------------------------------------------------------------

static void a_function_is_wrapped_if_a_library_calls_it_and_it_is_not_its_own(void **state) {
    (void)state;
    static const struct {
        const char *own, *caller;
        bool is_wrapped;
    } rows[] = {
        {USER, LIBRARY "equinox/_jit.py", true},
        {USER, USER, false},
        {LIBRARY "diffrax/a.py", LIBRARY "equinox/_jit.py", true},
        {LIBRARY "diffrax/a.py", LIBRARY "diffrax/b.py", false},
        {LIBRARY "diffrax/a.py", USER, false},
        {LIBRARY "jax/a.py", LIBRARY "optax/b.py", false},
        {LIBRARY "jax/a.py", LIBRARY "jax/b.py", false},
        {"/usr/lib/python3.13/functools.py", LIBRARY "optax/b.py", false}, // of no package
        {USER, NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        asked_t asked = {.module = "jit_f",
                         .ops = {{{"f", rows[i].own, 7}, {"g", rows[i].caller, 8}}}};
        keel_program_t program;
        keel_arena_t arena;
        keel_site_t site;
        keel_program_initialize(&program);
        keel_arena_initialize(&arena, 0);
        assert_ok(build(&program, &asked));
        keel_site_of(&program, NULL, &arena, &site);
        if (site.is_wrapped != rows[i].is_wrapped) fail_msg("row %zu", i);
        keel_arena_deinitialize(&arena);
        keel_program_deinitialize(&program);
    }
}

// An object is called as its class says, and JAX names what it jits after that or not at all.
static void a_module_is_named_after_its_function_or_its_class(void **state) {
    (void)state;
    static const struct {
        const char *module, *function;
        bool is_own;
    } rows[] = {
        {"jit_step", "Model.step", true},
        {"jit_step", "main.<locals>.step", true},
        {"pmap_step", "step", true},
        {"step", "step", false},
        {"jit_Model", "Model.__call__", true},
        {"jit_Model", "a.Model.__call__", true},
        {"jit___call", "Model.__call__", true},
        {"jit_pr", "Model.predictions", false},
        {"jit__unnamed_function", "Model.__call__", true},
        {"jit__unnamed_function", "Model.step", false},
        {"jit__lambda_", "f.<locals>.<lambda>", true},
        {"jit_step", "f.<locals>.<lambda>", false},
        {"jit_", ".__call__", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        asked_t asked = {.module = rows[i].module, .ops = {{{rows[i].function, USER, 7}}}};
        keel_program_t program;
        keel_arena_t arena;
        keel_site_t site;
        keel_program_initialize(&program);
        keel_arena_initialize(&arena, 0);
        assert_ok(build(&program, &asked));
        keel_site_of(&program, NULL, &arena, &site);
        if (site.is_traced != rows[i].is_own)
            fail_msg("%s of %s", rows[i].module, rows[i].function);
        keel_arena_deinitialize(&arena);
        keel_program_deinitialize(&program);
    }
}

static void a_program_without_positions_is_of_nobody(void **state) {
    (void)state;
    assert_site(&(asked_t){.module = "jit_f"}, &(expected_t){":0 ", "", false, false});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_that_called_the_traced_function_asked),
        cmocka_unit_test(a_caller_of_the_same_name_is_no_part_of_the_function),
        cmocka_unit_test(the_innermost_line_that_all_operations_share_asked_for_a_loop),
        cmocka_unit_test(the_stack_tells_which_call_of_several_asked),
        cmocka_unit_test(a_program_that_was_lowered_earlier_is_of_the_line_that_traced_it),
        cmocka_unit_test(the_package_that_is_run_asks_as_the_user_does),
        cmocka_unit_test(a_line_of_an_application_has_the_scripts_beside_it),
        cmocka_unit_test(a_function_that_only_calls_another_has_that_ones_name),
        cmocka_unit_test(a_loop_without_any_frame_of_the_users_is_of_its_line),
        cmocka_unit_test(a_recorded_program_is_of_the_line_that_asked),
        cmocka_unit_test(a_function_is_wrapped_if_a_library_calls_it_and_it_is_not_its_own),
        cmocka_unit_test(a_module_is_named_after_its_function_or_its_class),
        cmocka_unit_test(a_program_without_positions_is_of_nobody),
    };
    return cmocka_run_group_tests_name("host_site", tests, NULL, NULL);
}
