// Whose function a program is: programs of one operation with frames, asked for from a stack.
#define _GNU_SOURCE
#include "host/host.h"
#include "place.h"

#define LIBRARY "/v/lib/python3.13/site-packages/"
#define USER "/home/u/train.py"

typedef struct frame_t {
    const char *function, *file;
    uint32_t line;
} frame_t;

typedef struct asked_t {
    const char *module;
    frame_t frames[8]; // of its operation, innermost first
    frame_t inner[8];  // of one in another of its functions; none: it has no location
    uint32_t column;   // of the innermost; 0: 1, as of all others
    frame_t stack[4];
    const char *traced_file;
    uint32_t traced_line;
} asked_t;

// ---- programs ----------------------------------------------------------------------------------

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

static keel_attr_id_t location(keel_program_t *p, const frame_t *frame, uint32_t column) {
    const uint32_t numbers[] = {frame->line, column, frame->line, column + 8};
    uint32_t list;
    assert_ok(keel_program_add_list(p, numbers, 4, &list));
    keel_attr_id_t file = attr(p, KEEL_ATTR_LOC_FILE, text(p, frame->file), list);
    return attr(p, KEEL_ATTR_LOC_NAME, text(p, frame->function), file);
}

static keel_attr_id_t chain(keel_program_t *p, const frame_t *frames, uint32_t column) {
    keel_attr_id_t own = location(p, frames, column);
    return frames[1].file ? attr(p, KEEL_ATTR_LOC_CALLSITE, own, chain(p, frames + 1, 1)) : own;
}

static keel_status_t build(keel_program_t *p, const asked_t *asked) {
    keel_attr_id_t inner = chain(p, asked->frames, asked->column ? asked->column : 1);
    keel_attr_id_t named = attr(p, KEEL_ATTR_LOC_NAME, text(p, "jit(f)/mul"), inner);
    KEEL_PUSH(&p->operations, ((keel_operation_t){.location = named}));
    keel_attr_id_t called = asked->inner[0].file ? chain(p, asked->inner, 1) : KEEL_NONE;
    KEEL_PUSH(&p->operations, ((keel_operation_t){.location = called}));
    KEEL_PUSH(&p->operations, ((keel_operation_t){.location = KEEL_NONE}));
    KEEL_PUSH(&p->blocks, ((keel_block_t){.argument_locations = KEEL_NONE, .end_op = 1}));
    KEEL_PUSH(&p->regions, ((keel_region_t){.block_count = 1, .end = 1}));
    KEEL_PUSH(&p->functions, ((keel_function_t){.name = text(p, "main")}));
    p->name = text(p, asked->module);
    p->entry = 0;
    return NULL;
}

// The stack has the user's frames only.
static uint32_t copy_stack(const asked_t *asked, keel_stack_frame_t *out) {
    uint32_t count = 0;
    for (; count < 4 && asked->stack[count].file; ++count)
        out[count] = (keel_stack_frame_t){.file = asked->stack[count].file,
                                          .function = asked->stack[count].function,
                                          .line = asked->stack[count].line};
    return count;
}

static void assert_origin(const asked_t *asked, const char *expected) {
    keel_program_t program;
    keel_arena_t arena;
    keel_site_t site;
    keel_stack_frame_t frames[4];
    keel_program_initialize(&program);
    keel_arena_initialize(&arena, 0);
    assert_ok(build(&program, asked));
    keel_stack_t stack = {.frames = frames,
                          .count = copy_stack(asked, frames),
                          .traced_file = asked->traced_file,
                          .traced_line = asked->traced_line};
    keel_site_of(&program, &stack, &arena, &site);
    assert_string_equal(site.origin, expected);
    keel_arena_deinitialize(&arena);
    keel_program_deinitialize(&program);
}

// ---- the user's --------------------------------------------------------------------------------

static void a_users_function_is_the_same_from_whichever_line_it_is_called(void **state) {
    (void)state;
    for (uint32_t line = 20; line < 22; ++line)
        assert_origin(&(asked_t){.module = "jit_step",
                                 .frames = {{"step", USER, 7}, {"<module>", USER, line}},
                                 .stack = {{"<module>", USER, line}},
                                 .traced_file = USER,
                                 .traced_line = 5},
                      "step at " USER ":5");
}

static void a_function_of_a_cell_is_the_same_after_an_edit(void **state) {
    (void)state;
    static const char *const cells[] = {"<ipython-input-2-0123456789ab>",
                                        "<ipython-input-3-ba9876543210>",
                                        "/any/ipykernel_417/1234567.py", "<python-input-7>"};
    for (uint32_t i = 0; i < 4; ++i)
        assert_origin(&(asked_t){.module = "jit_loss",
                                 .frames = {{"loss", cells[i], 3 + i}, {"<module>", cells[i], 9}},
                                 .stack = {{"<module>", cells[i], 9}},
                                 .traced_file = cells[i],
                                 .traced_line = 2 + i},
                      "loss at <cell>:0");
}

// They have no names to tell them apart.
static void a_lambda_of_a_cell_keeps_its_line(void **state) {
    (void)state;
    static const char cell[] = "/any/ipykernel_417/1234567.py";
    assert_origin(&(asked_t){.module = "jit__lambda",
                             .frames = {{"<lambda>", cell, 3}, {"<module>", cell, 9}},
                             .stack = {{"<module>", cell, 9}}},
                  "<lambda> at <cell>:3");
}

static void what_pmap_maps_is_known_by_the_users_function(void **state) {
    (void)state;
    // The frames of what is mapped end with it.
    assert_origin(
        &(asked_t){.module = "jit__fun",
                   .frames = {{"update", LIBRARY "optax/a.py", 507}, {"train_step", USER, 12}},
                   .stack = {{"<module>", USER, 30}},
                   .traced_file = LIBRARY "jax/_src/pmap.py",
                   .traced_line = 410},
        "train_step at " USER ":0");
    // Those of a scan outside jit go on.
    assert_origin(&(asked_t){.module = "jit_scan",
                             .frames = {{"body", USER, 12}, {"<module>", USER, 30}},
                             .stack = {{"<module>", USER, 30}},
                             .traced_file = LIBRARY "jax/_src/lax/control_flow/loops.py",
                             .traced_line = 100},
                  "body at " USER ":0");
}

static void an_operation_outside_jit_is_known_by_its_line(void **state) {
    (void)state;
    assert_origin(&(asked_t){.module = "jit_add",
                             .frames = {{"<module>", USER, 30}},
                             .stack = {{"<module>", USER, 30}},
                             .traced_file = LIBRARY "jax/_src/numpy/ufuncs.py",
                             .traced_line = 100},
                  USER ":30");
}

// ---- a library's -------------------------------------------------------------------------------

static void a_function_that_a_library_jits_is_the_same_for_all_lines(void **state) {
    (void)state;
    for (uint32_t line = 20; line < 22; ++line)
        assert_origin(&(asked_t){.module = "jit_collect",
                                 .frames = {{"density", USER, 4},
                                            {"collect", LIBRARY "lib/loop.py", 320},
                                            {"run", LIBRARY "lib/mcmc.py", 90},
                                            {"<module>", USER, line}},
                                 .stack = {{"<module>", USER, line}},
                                 .traced_file = LIBRARY "lib/loop.py",
                                 .traced_line = 316},
                      "collect at " LIBRARY "lib/loop.py:316");
}

static void a_scan_of_a_librarys_is_another_one_for_each_line_that_asks(void **state) {
    (void)state;
    assert_origin(
        &(asked_t){.module = "jit_scan",
                   .frames = {{"soft_vmap", LIBRARY "lib/util.py", 896}, {"<module>", USER, 24}},
                   .stack = {{"<module>", USER, 24}},
                   .traced_file = LIBRARY "jax/_src/lax/control_flow/loops.py",
                   .traced_line = 100},
        LIBRARY "lib/util.py:896 for " USER ":24");
}

// jax.jit(model.init) in a helper that has more models than one.
static void a_librarys_method_that_the_user_jits_is_known_by_what_it_runs(void **state) {
    (void)state;
    static const char *const models[] = {"Encoder.__call__", "Decoder.__call__"};
    for (int i = 0; i < 2; ++i) {
        char expected[160];
        snprintf(expected, sizeof expected,
                 "init of %s at " LIBRARY "haiku/transform.py:380 for " USER ":30", models[i]);
        assert_origin(&(asked_t){.module = "jit_init",
                                 .frames = {{"Linear.__call__", LIBRARY "haiku/basic.py", 17},
                                            {models[i], USER, 12},
                                            {"init", LIBRARY "haiku/transform.py", 389},
                                            {"make", USER, 30}},
                                 .stack = {{"make", USER, 30}},
                                 .traced_file = LIBRARY "haiku/transform.py",
                                 .traced_line = 380},
                      expected);
    }
    // flax leaves its own frames out.
    assert_origin(&(asked_t){.module = "jit_init",
                             .frames = {{"Dense.__call__", LIBRARY "flax/linear.py", 17},
                                        {"Net.__call__", USER, 12},
                                        {"make", USER, 30}},
                             .stack = {{"make", USER, 30}},
                             .traced_file = LIBRARY "flax/module.py",
                             .traced_line = 2313},
                  "jit_init of Net.__call__ at " LIBRARY "flax/module.py:2313 for " USER ":30");
}

// It is a first operation's line otherwise, which moves with every dtype.
static void a_librarys_function_is_not_known_by_its_first_operation(void **state) {
    (void)state;
    for (uint32_t line = 79; line < 81; ++line)
        assert_origin(&(asked_t){.module = "jit_apply",
                                 .frames = {{"promote", LIBRARY "flax/dtypes.py", line},
                                            {"<module>", USER, 30}},
                                 .stack = {{"<module>", USER, 30}},
                                 .traced_file = LIBRARY "flax/module.py",
                                 .traced_line = 2089},
                      "jit_apply at " LIBRARY "flax/module.py:2089 for " USER ":30");
}

static void an_edit_above_moves_the_line_that_asked_for_a_librarys_function(void **state) {
    (void)state;
    keel_str_t origin = keel_str("collect at " LIBRARY "lib/loop.py:316 for " USER ":22");
    assert_true(keel_str_is(keel_origin_function(origin),
                            "collect at " LIBRARY "lib/loop.py:316 for " USER));
    origin = keel_str(LIBRARY "lib/util.py:896 for " USER ":24");
    assert_true(keel_str_is(keel_origin_function(origin), LIBRARY "lib/util.py:896 for " USER));
}

static void in_one_run_a_function_is_known_by_the_place_of_its_def(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"make.<locals>.step at " USER ":12", USER ":12"},
        {"jit_step at " USER ":12", USER ":12"},
        {"make.<locals>.step at " USER ":0", NULL}, // no line is known
        {"make.<locals>.<lambda> at " USER ":12", NULL},
        {"init of Net.__call__ at " LIBRARY "lib/net.py:389 for " USER ":22", NULL},
        {"collect at " LIBRARY "lib/loop.py:316 for " USER ":22", NULL},
        {USER ":31", NULL},
        {"step at /w/train", NULL},
        {"a:step at /w/train", NULL},
        {"init of Net.__call__ at /w/train.py:3", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i)
        assert_true(keel_str_is(keel_origin_place(keel_str(pairs[i][0])),
                                pairs[i][1] ? pairs[i][1] : pairs[i][0]));
}

// ---- factories ---------------------------------------------------------------------------------

typedef struct ran_t {
    const char *origin, *text;
    bool takes_others;
    frame_t frames[2][8]; // of the one operation of each program
    frame_t inner[8];     // asked_t, of both
    uint32_t columns[2];  // asked_t
} ran_t;

static bool are_two(const ran_t *ran) {
    keel_program_t programs[2];
    for (int i = 0; i < 2; ++i) {
        asked_t asked = {.module = "jit_update", .column = ran->columns[i]};
        memcpy(asked.frames, ran->frames[i], sizeof asked.frames);
        memcpy(asked.inner, ran->inner, sizeof asked.inner);
        keel_program_initialize(&programs[i]);
        assert_ok(build(&programs[i], &asked));
    }
    bool are = keel_is_other_closure(&(keel_one_origin_t){.before = &programs[0],
                                                          .after = &programs[1],
                                                          .origin = ran->origin,
                                                          .text = keel_str(ran->text),
                                                          .takes_others = ran->takes_others});
    for (int i = 0; i < 2; ++i)
        keel_program_deinitialize(&programs[i]);
    return are;
}

// A function of that file runs `callee` by the call on its line 9.
static bool is_other(const char *function, const char *file, const frame_t *callee,
                     const frame_t *other) {
    char origin[160];
    const frame_t *callees[] = {callee, other};
    snprintf(origin, sizeof origin, "%s at %s:8", function, file);
    ran_t ran = {.origin = origin, .text = ""};
    for (int i = 0; i < 2; ++i)
        memcpy(ran.frames[i],
               (frame_t[]){{"grad", LIBRARY "lib/ad.py", 3},
                           *callees[i],
                           {"apply", LIBRARY "lib/ad.py", 5},
                           {function, file, 9},
                           {"<module>", USER, 30}},
               5 * sizeof(frame_t));
    return are_two(&ran);
}

static void functions_of_a_factory_are_told_apart_by_what_one_call_runs(void **state) {
    (void)state;
    const frame_t actor = {"actor_loss", USER, 20}, critic = {"critic_loss", USER, 24};
    const frame_t lambda = {"<lambda>", USER, 40}, another = {"<lambda>", USER, 44};
    const frame_t later = {"actor_loss", USER, 21};
    assert_true(is_other("make_update.<locals>.update", USER, &actor, &critic));
    assert_true(is_other("make_update.<locals>.update", USER, &lambda, &another));
    assert_false(is_other("make_update.<locals>.update", USER, &actor, &later));
    // What no factory made is one function, whatever a branch in it runs.
    assert_false(is_other("update", USER, &actor, &critic));
    // A library's runs what it is given.
    assert_true(is_other("solve", LIBRARY "lib/solve.py", &actor, &critic));
    assert_false(is_other("solve", LIBRARY "lib/solve.py", &actor, &later));
}

// Of another model, by a function in the body of the factory's or the method.
static void
functions_with_other_arguments_are_told_apart_by_what_their_own_functions_run(void **state) {
    (void)state;
    static const char *const names[] = {"trainer.<locals>.step", "Trainer.step", "step"};
    for (int i = 0; i < 3; ++i) {
        char origin[80], inner[80];
        snprintf(origin, sizeof origin, "%s at " USER ":8", names[i]);
        snprintf(inner, sizeof inner, "%s.<locals>.<lambda>", names[i]);
        ran_t ran = {.origin = origin,
                     .text = "",
                     .takes_others = true,
                     .frames = {{{"mlp", USER, 2}, {inner, USER, 9}, {names[i], USER, 9}},
                                {{"linear", USER, 4}, {inner, USER, 9}, {names[i], USER, 9}}}};
        assert_int_equal(are_two(&ran), i < 2);
        ran.takes_others = false; // then it may be a branch
        assert_false(are_two(&ran));
    }
}

// JAX traces it once: its operations keep the stack of the function that called it first.
static void an_inner_jit_does_not_say_what_the_function_runs(void **state) {
    (void)state;
    static const char function[] = "make_update.<locals>.update";
    const ran_t ran = {.origin = "make_update.<locals>.update at " USER ":8",
                       .text = "",
                       .frames = {{{"actor_loss", USER, 20}, {function, USER, 9}},
                                  {{"critic_loss", USER, 24}, {function, USER, 9}}},
                       .inner = {{"actor_loss", USER, 21}, {function, USER, 9}}};
    assert_true(are_two(&ran));
}

static void a_librarys_function_that_a_line_asks_for_is_told_apart_by_what_it_runs(void **state) {
    (void)state;
    ran_t ran = {
        .origin = "build.<locals>.step of lp at " LIBRARY "lib/base.py:203 for " USER ":9",
        .text = "",
        .frames = {{{"lp", USER, 2}, {"build.<locals>.step", LIBRARY "lib/base.py", 204}},
                   {{"other", USER, 4}, {"build.<locals>.step", LIBRARY "lib/base.py", 204}}}};
    assert_true(are_two(&ran));
    ran.frames[1][0] = ran.frames[0][0];
    assert_false(are_two(&ran));
}

// ---- lambdas -----------------------------------------------------------------------------------

// True if the expressions that begin with A and B are in two lambdas.
static bool are_two_lambdas(const char *text) {
    ran_t ran = {.origin = "<lambda> at " USER ":1", .text = text};
    for (int i = 0; i < 2; ++i) {
        const char *at = strchr(text, 'A' + i), *begin = text;
        uint32_t line = 1;
        for (const char *end; (end = memchr(begin, '\n', (size_t)(at - begin))); ++line)
            begin = end + 1;
        ran.frames[i][0] = (frame_t){"<lambda>", USER, line};
        ran.columns[i] = (uint32_t)(at - begin);
    }
    return are_two(&ran);
}

static void lambdas_of_a_line_are_told_apart_by_their_columns(void **state) {
    (void)state;
    static const char *const two[] = {
        "f, g = jit(lambda x: A(x)), jit(lambda x: B(x))",
        "f = {'a': lambda x: A, 'b': lambda x: B}",
        "f = {lambda x: A: lambda y: B}",
        "f = lambda x: A; g = lambda x: B",
        "f = [lambda x, y=(1, 2): A for i in a if lambda: B]",
        "f = dict(a=lambda x: x[1:2] + A, b=lambda *a, k={1: 2}: B)",
        "f = lambda x=lambda: A: x + B",
        "f = jit(lambda x: (lambda y: B)(x) + A)",
        "f = 'lambda' + \"it's\" + jit(lambda x: A), jit(lambda x: B)",
        "'''a \" lambda: (\n''' # lambda: ((\nf = jit(lambda x: A), \\\n jit(lambda x: B)",
        "f = (lambda x:\n  x + A,\n lambda x:\n  x + B)",
    };
    static const char *const one[] = {
        "f = jit(lambda x: A(x) if train else B(x))",
        "f = jit(lambda x: (A(x), B(x)))",
        "f = jit(lambda x: x[a:b] + {1: A}[1] + B)",
        "f = jit(lambda x: [A for i in x] + B)",
        "f = jit(lambda x: (y := A) + B)",
        "f = jit(lambda x: A +\n  'lambda x:' + B)",
        "f = A(lambda x: x) + B", // in none: nothing is known
        "f = lambda x: A\ny = B",
        "f = \"\"\"jit(lambda x: A), jit(lambda x: B)",
    };
    for (size_t i = 0; i < sizeof two / sizeof *two; ++i) {
        print_message("  %s\n", two[i]);
        assert_true(are_two_lambdas(two[i]));
    }
    for (size_t i = 0; i < sizeof one / sizeof *one; ++i) {
        print_message("  %s\n", one[i]);
        assert_false(are_two_lambdas(one[i]));
    }
}

static void too_many_lambdas_are_not_told_apart(void **state) {
    (void)state;
    static char text[16 * 600];
    size_t size = 0;
    for (int i = 0; i < 600; ++i)
        size += (size_t)snprintf(text + size, sizeof text - size, "lambda: 0\n");
    snprintf(text + size, sizeof text - size, "f = jit(lambda: A), jit(lambda: B)");
    assert_false(are_two_lambdas(text));
    assert_true(are_two_lambdas(text + size));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_users_function_is_the_same_from_whichever_line_it_is_called),
        cmocka_unit_test(a_function_of_a_cell_is_the_same_after_an_edit),
        cmocka_unit_test(a_lambda_of_a_cell_keeps_its_line),
        cmocka_unit_test(what_pmap_maps_is_known_by_the_users_function),
        cmocka_unit_test(an_operation_outside_jit_is_known_by_its_line),
        cmocka_unit_test(a_function_that_a_library_jits_is_the_same_for_all_lines),
        cmocka_unit_test(a_scan_of_a_librarys_is_another_one_for_each_line_that_asks),
        cmocka_unit_test(a_librarys_method_that_the_user_jits_is_known_by_what_it_runs),
        cmocka_unit_test(a_librarys_function_is_not_known_by_its_first_operation),
        cmocka_unit_test(in_one_run_a_function_is_known_by_the_place_of_its_def),
        cmocka_unit_test(an_edit_above_moves_the_line_that_asked_for_a_librarys_function),
        cmocka_unit_test(functions_of_a_factory_are_told_apart_by_what_one_call_runs),
        cmocka_unit_test(
            functions_with_other_arguments_are_told_apart_by_what_their_own_functions_run),
        cmocka_unit_test(an_inner_jit_does_not_say_what_the_function_runs),
        cmocka_unit_test(a_librarys_function_that_a_line_asks_for_is_told_apart_by_what_it_runs),
        cmocka_unit_test(lambdas_of_a_line_are_told_apart_by_their_columns),
        cmocka_unit_test(too_many_lambdas_are_not_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
