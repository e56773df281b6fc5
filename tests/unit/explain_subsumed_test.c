// Which causes follow from a line that does something else altogether: lists of roots at the limits
// of each rule.
#define _GNU_SOURCE
#include "explain/diff.h"

#include "place.h"
#include "small_program.h"

// Operations are in the same places of both programs, and only their lines differ. The first one
// has none. The last two are of a function that another line calls.
static const char before_text[] = "x: f32[4]\n"
                                  "a = tanh f32[4] x\n"
                                  "b = tanh f32[4] x @8\n"
                                  "c = tanh f32[4] x @9\n"
                                  "d = tanh f32[4] x @12<10\n"
                                  "e = tanh f32[4] x @12<20\n"
                                  "return a b c d e";
static const char after_text[] = "x: f32[4]\n"
                                 "a = tanh f32[4] x\n"
                                 "b = tanh f32[4] x @8\n"
                                 "c = tanh f32[4] x @9\n"
                                 "d = tanh f32[4] x @12<20\n"
                                 "e = tanh f32[4] x @12<10\n"
                                 "return a b c d e";
enum { NO_OP, WITHOUT_LINE, ON_8, ON_9, WAS_BELOW_10, IS_BELOW_10 };

#define USERS "/home/ada/train.py"
#define LIBRARY "/usr/lib/python3/site-packages/solvers/newton.py"

typedef struct given_t {
    keel_cause_t kind;
    uint32_t line;       // 0: none
    uint32_t operations; // of an algorithm
    keel_op_id_t old_op, new_op;
    const char *file, *library; // NULL: the user's, none
    uint32_t follows;           // 1 + a root; 0: none
} given_t;

// Operations that came or went on a line, and causes on a line.
#define ALGORITHM(count, at)                                                                       \
    { .kind = KEEL_CAUSE_STRUCTURE, .line = (at), .operations = (count) }
#define CONSTANT(at)                                                                               \
    { .kind = KEEL_CAUSE_CONSTANT, .line = (at), .new_op = ON_8 }
#define OPERATIONS(count, at, op)                                                                  \
    { .kind = KEEL_CAUSE_STRUCTURE, .line = (at), .operations = (count), .new_op = (op) }
#define PRODUCT(from, to)                                                                          \
    { .kind = KEEL_CAUSE_PRECISION, .old_op = (from), .new_op = (to) }

enum { MOST = 6 };

typedef struct list_t {
    const char *follows; // for each root, the one that it follows from; "-": none. Roots beyond the
                         // last one are none, and stay as they are
    given_t roots[MOST];
} list_t;

static keel_root_t root_of(const given_t *given) {
    keel_root_t root = {.follows = given->follows ? given->follows - 1 : KEEL_NONE,
                        .operations = given->operations};
    root.difference =
        (keel_difference_t){.kind = given->kind,
                            .place = {.file = given->file ? given->file : USERS,
                                      .line = given->line,
                                      .library_file = given->library},
                            .old_op = given->old_op != NO_OP ? given->old_op : KEEL_NONE,
                            .new_op = given->new_op != NO_OP ? given->new_op : KEEL_NONE,
                            .follows = KEEL_NONE};
    return root;
}

static void check_list(const list_t *list, bool are_strangers) {
    keel_program_t programs[2];
    keel_root_t roots[MOST];
    char got[MOST + 1] = "";
    keel_diff_t diff = {.roots = roots, .root_count = (uint32_t)strlen(list->follows)};
    keel_arena_initialize(&diff.arena, 0);
    small_program(before_text, &programs[0]);
    small_program(after_text, &programs[1]);
    assert_ok(keel_graph_build(&diff.before, &programs[0], NULL, &diff.arena));
    assert_ok(keel_graph_build(&diff.after, &programs[1], NULL, &diff.arena));
    for (int i = 0; i < MOST; ++i)
        roots[i] = root_of(&list->roots[i]);
    keel_diff_subsume(&diff, are_strangers);
    for (uint32_t i = 0; i < diff.root_count; ++i)
        got[i] = roots[i].follows == KEEL_NONE ? '-' : (char)('0' + roots[i].follows);
    assert_string_equal(got, list->follows);
    for (uint32_t i = diff.root_count; i < MOST; ++i)
        assert_int_equal(roots[i].follows, root_of(&list->roots[i]).follows);
    keel_arena_deinitialize(&diff.arena);
    keel_program_deinitialize(&programs[0]);
    keel_program_deinitialize(&programs[1]);
}

#define CHECK_LISTS(are_strangers, ...)                                                            \
    do {                                                                                           \
        static const list_t lists[] = {__VA_ARGS__};                                               \
        for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)                                  \
            check_list(&lists[i], are_strangers);                                                  \
    } while (0)

static void eight_operations_are_another_algorithm(void **state) {
    (void)state;
    CHECK_LISTS(false, {"-0", {ALGORITHM(8, 10), CONSTANT(10)}},
                {"--", {ALGORITHM(7, 10), CONSTANT(10)}}, //
                {"--", {CONSTANT(10), CONSTANT(10)}},
                // Only of operations that came or went, and only those found.
                {"--", {{.kind = KEEL_CAUSE_CONSTANT, .line = 10, .operations = 9}, CONSTANT(10)}},
                {"--", {CONSTANT(10), CONSTANT(10), ALGORITHM(9, 10)}},
                {"-0", {ALGORITHM(8, 10), CONSTANT(10), CONSTANT(10)}});
}

static void each_algorithm_explains_its_own_line_the_largest_first(void **state) {
    (void)state;
    CHECK_LISTS(false, {"--01", {ALGORITHM(9, 10), ALGORITHM(8, 20), CONSTANT(10), CONSTANT(20)}},
                {"--01", {ALGORITHM(8, 10), ALGORITHM(9, 20), CONSTANT(10), CONSTANT(20)}},
                {"--0-", {ALGORITHM(9, 10), ALGORITHM(7, 20), CONSTANT(10), CONSTANT(20)}},
                {"1--1", {CONSTANT(10), ALGORITHM(9, 10), CONSTANT(20), CONSTANT(10)}},
                // One without a line explains nothing.
                {"--1-", {ALGORITHM(9, 0), ALGORITHM(8, 10), CONSTANT(10), CONSTANT(0)}},
                // Two on a line: the larger one, or the first.
                {"-00", {OPERATIONS(9, 9, ON_9), OPERATIONS(8, 9, ON_9), CONSTANT(9)}},
                {"1-1", {OPERATIONS(8, 9, ON_9), OPERATIONS(9, 9, ON_9), CONSTANT(9)}},
                {"-00", {OPERATIONS(9, 9, ON_9), OPERATIONS(9, 9, ON_9), CONSTANT(9)}},
                // One that follows from something else explains nothing either.
                {"1--",
                 {{.kind = KEEL_CAUSE_STRUCTURE, .line = 9, .operations = 9, .follows = 2},
                  {.kind = KEEL_CAUSE_DONATION},
                  CONSTANT(9)}});
}

static void only_what_is_on_its_line_follows(void **state) {
    (void)state;
    CHECK_LISTS(false, {"--", {ALGORITHM(8, 10), CONSTANT(11)}},
                {"--",
                 {ALGORITHM(8, 10),
                  {.kind = KEEL_CAUSE_CONSTANT, .line = 10, .new_op = ON_8, .file = "/w/a.py"}}},
                {"-0",
                 {{.kind = KEEL_CAUSE_STRUCTURE, .line = 10, .operations = 8, .file = "/w/a.py"},
                  {.kind = KEEL_CAUSE_CONSTANT, .line = 10, .new_op = ON_8, .file = "/w/a.py"}}});
}

// A library's algorithm calls back: what the user's function does there is on a line of its own.
static void what_an_algorithm_of_a_library_calls_follows(void **state) {
    (void)state;
#define NEWTON(file) {.kind = KEEL_CAUSE_STRUCTURE, .line = 10, .operations = 8, .library = (file)}
#define CALLED(from, to)                                                                           \
    { .kind = KEEL_CAUSE_CONSTANT, .line = 12, .old_op = (from), .new_op = (to) }
    CHECK_LISTS(false, {"-0", {NEWTON(LIBRARY), CALLED(NO_OP, IS_BELOW_10)}},
                {"--", {NEWTON(LIBRARY), CALLED(NO_OP, WAS_BELOW_10)}},
                {"-0", {NEWTON(LIBRARY), CALLED(WAS_BELOW_10, NO_OP)}},
                {"--", {NEWTON(LIBRARY), CALLED(IS_BELOW_10, NO_OP)}},
                {"-0", {NEWTON(LIBRARY), CALLED(WAS_BELOW_10, IS_BELOW_10)}},
                {"-0", {NEWTON(LIBRARY), CALLED(IS_BELOW_10, IS_BELOW_10)}},
                {"--", {NEWTON(LIBRARY), CALLED(WAS_BELOW_10, WAS_BELOW_10)}},
                {"--", {NEWTON(""), CALLED(NO_OP, IS_BELOW_10)}},
                {"--", {NEWTON(NULL), CALLED(NO_OP, IS_BELOW_10)}});
#undef CALLED
#undef NEWTON
}

static void only_what_is_about_operations_follows(void **state) {
    (void)state;
    static const keel_cause_t kinds[] = {
        KEEL_CAUSE_STRUCTURE, KEEL_CAUSE_CONSTANT,  KEEL_CAUSE_SIZE,  KEEL_CAUSE_SHAPE,
        KEEL_CAUSE_DTYPE,     KEEL_CAUSE_PRECISION, KEEL_CAUSE_OPTION};
    for (int kind = 0; kind < KEEL_CAUSE_COUNT; ++kind) {
        bool follows = false;
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
            follows = follows || kinds[i] == (keel_cause_t)kind;
        list_t list = {follows ? "-000-" : "-----",
                       {ALGORITHM(8, 10),
                        {.kind = (keel_cause_t)kind, .line = 10, .old_op = ON_8},
                        {.kind = (keel_cause_t)kind, .line = 10, .new_op = ON_8},
                        {.kind = (keel_cause_t)kind, .line = 10, .old_op = ON_8, .new_op = ON_8},
                        {.kind = (keel_cause_t)kind, .line = 10}}};
        check_list(&list, false);
        check_list(&list, true);
    }
    CHECK_LISTS(false, {"-2-",
                        {ALGORITHM(8, 10),
                         {.kind = KEEL_CAUSE_CONSTANT, .line = 10, .new_op = ON_8, .follows = 3},
                         {.kind = KEEL_CAUSE_DONATION, .line = 10}}});
}

static void between_strangers_everything_follows_from_the_largest(void **state) {
    (void)state;
    CHECK_LISTS(true, {"-00", {ALGORITHM(1, 10), CONSTANT(20), CONSTANT(0)}},
                {"-0", {ALGORITHM(1, 0), CONSTANT(20)}}, //
                {"1-1", {OPERATIONS(1, 10, ON_8), OPERATIONS(2, 20, ON_9), CONSTANT(10)}},
                {"-20",
                 {ALGORITHM(1, 10),
                  {.kind = KEEL_CAUSE_CONSTANT, .line = 10, .new_op = ON_8, .follows = 3},
                  CONSTANT(10)}},
                {"--", {CONSTANT(10), CONSTANT(20)}});
}

// Whatever the algorithm's size.
static void products_on_other_lines_have_no_other_precision(void **state) {
    (void)state;
    CHECK_LISTS(
        false, {"-0", {ALGORITHM(1, 10), PRODUCT(ON_8, ON_9)}},
        {"1--1", {PRODUCT(ON_8, ON_9), ALGORITHM(3, 10), ALGORITHM(2, 10), PRODUCT(ON_9, ON_8)}},
        {"--", {ALGORITHM(1, 10), PRODUCT(ON_8, ON_8)}},
        {"--", {ALGORITHM(1, 10), PRODUCT(ON_8, NO_OP)}},
        {"--", {ALGORITHM(1, 10), PRODUCT(NO_OP, ON_9)}},
        {"--", {ALGORITHM(1, 10), PRODUCT(WITHOUT_LINE, ON_9)}},
        {"--", {ALGORITHM(1, 10), PRODUCT(ON_8, WITHOUT_LINE)}},
        {"--", {ALGORITHM(1, 10), {.kind = KEEL_CAUSE_DTYPE, .old_op = ON_8, .new_op = ON_9}}},
        {"-2-",
         {ALGORITHM(1, 10),
          {.kind = KEEL_CAUSE_PRECISION, .old_op = ON_8, .new_op = ON_9, .follows = 3},
          CONSTANT(10)}},
        {"--", {CONSTANT(10), PRODUCT(ON_8, ON_9)}},
        {"-", {ALGORITHM(1, 10), PRODUCT(ON_8, ON_9)}});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_operations_are_another_algorithm),
        cmocka_unit_test(each_algorithm_explains_its_own_line_the_largest_first),
        cmocka_unit_test(only_what_is_on_its_line_follows),
        cmocka_unit_test(what_an_algorithm_of_a_library_calls_follows),
        cmocka_unit_test(only_what_is_about_operations_follows),
        cmocka_unit_test(between_strangers_everything_follows_from_the_largest),
        cmocka_unit_test(products_on_other_lines_have_no_other_precision),
    };
    return cmocka_run_group_tests_name("explain_subsumed", tests, NULL, NULL);
}
