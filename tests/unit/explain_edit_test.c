// What follows from source that was edited between two runs: closed_float, whose programs differ in
// a number on line 15, with two texts of its file.
#define _GNU_SOURCE
#include "explain_help.h"

enum { LINES = 24 };

typedef struct source_t {
    const char *lines[LINES]; // from 1; NULL: empty
    const char *behind;       // each line
} source_t;

static keel_status_t read_source(void *context, const char *file, keel_str_t *out) {
    static char text[2][2048];
    static unsigned turn;
    const source_t *source = context;
    if (!source) return keel_status_make(KEEL_NOT_FOUND, "no text");
    if (!strstr(file, "/closed_float.py")) return keel_status_make(KEEL_NOT_FOUND, "no text");
    char *at = text[++turn % 2];
    size_t size = 0;
    for (int i = 1; i < LINES; ++i)
        size += (size_t)snprintf(at + size, sizeof *text - size, "%s%s\n",
                                 source->lines[i] ? source->lines[i] : "",
                                 source->behind ? source->behind : "");
    assert_true(size < sizeof *text);
    *out = (keel_str_t){at, size};
    return NULL;
}

static const source_t original = {.lines = {[1] = "import jax",
                                            [2] = "RATE = 1",
                                            [4] = "def other():",
                                            [5] = "    return 1",
                                            [7] = "@cached",
                                            [8] = "def make_step(rate):",
                                            [9] = "    # what it is for",
                                            [10] = "    scale = 2",
                                            [11] = "    @jax.jit",
                                            [12] = "    def step(w, x):",
                                            [13] = "        error = x @ w",
                                            [14] = "        slope = jax.grad(loss)(w)",
                                            [15] = "        return w - 0.1 * slope",
                                            [17] = "    return step",
                                            [18] = "step = make_step(1)",
                                            [20] = "for _ in range(3):",
                                            [21] = "    report(step(w, x))"}};

static void explain_edit(const source_t *old_source, const source_t *source,
                         keel_explanation_t *out) {
    loaded_t before, after;
    const keel_sources_t was = {.read = read_source, .context = (void *)(uintptr_t)old_source};
    const keel_sources_t is = {.read = read_source, .context = (void *)(uintptr_t)source};
    load_pair("closed_float", &before, &after);
    keel_explanation_initialize(out);
    assert_ok(keel_explain(&(keel_side_t){.program = &before.program, .sources = &was},
                           &(keel_side_t){.program = &after.program, .sources = &is}, out));
    check_explanation(out);
    assert_int_equal(out->root_total, 1);
    unload(&before);
    unload(&after);
}

static source_t with(uint32_t line, const char *text) {
    source_t source = original;
    source.lines[line] = text;
    return source;
}

static void assert_edit_of(const char *subject, const source_t *old_source, const source_t *source,
                           uint32_t line, const char *was, const char *is, const char *note) {
    keel_explanation_t e;
    explain_edit(old_source, source, &e);
    assert_int_equal(e.roots->kind, KEEL_CAUSE_EDIT);
    assert_string_equal(e.roots->subject, subject);
    assert_string_equal(e.roots->old_value, was);
    assert_string_equal(e.roots->new_value, is);
    assert_string_equal(e.roots->note, note);
    assert_int_equal(e.roots->place.line, line);
    assert_int_equal(e.roots->place.call_line, 21);
    assert_int_equal(e.folded_total, 1);
    assert_int_equal(e.folded->kind, KEEL_CAUSE_CONSTANT);
    keel_explanation_deinitialize(&e);
}

static void assert_edit(const source_t *old_source, const source_t *source, uint32_t line,
                        const char *was, const char *is, const char *note) {
    assert_edit_of("make_step.<locals>.step", old_source, source, line, was, is, note);
}

static void assert_no_edit(const source_t *old_source, const source_t *source) {
    keel_explanation_t e;
    explain_edit(old_source, source, &e);
    assert_int_equal(e.roots->kind, KEEL_CAUSE_CONSTANT);
    assert_int_equal(e.roots->place.line, 15);
    keel_explanation_deinitialize(&e);
}

static void a_number_follows_from_its_edited_line(void **state) {
    (void)state;
    source_t edited = with(15, "\t        return w - 0.01 * slope");
    assert_edit(&original, &edited, 15, "return w - 0.1 * slope", "return w - 0.01 * slope",
                "line 15 of closed_float.py changed");
    assert_edit(&edited, &original, 15, "return w - 0.01 * slope", "return w - 0.1 * slope",
                "line 15 of closed_float.py changed");
}

// It is reported with its first line.
static void lines_that_were_edited_together_are_one_edit(void **state) {
    (void)state;
    source_t edited = with(15, "        return w - 0.01 * slope");
    edited.lines[14] = "        slope = jax.grad(other_loss)(w)";
    edited.lines[16] = "        w = w + 0";
    edited.lines[17] = "    return step # why";
    assert_edit(&original, &edited, 14, "slope = jax.grad(loss)(w)",
                "slope = jax.grad(other_loss)(w)", "lines 14-16 of closed_float.py changed");
}

// The first one of the function, where none of the number's own lines was.
static void a_number_follows_from_an_edit_of_its_function(void **state) {
    (void)state;
    source_t edited = with(10, "    scale = 3");
    assert_edit(&original, &edited, 10, "scale = 2", "scale = 3",
                "line 10 of closed_float.py changed");
    edited.lines[13] = "        error = x @ w + 1";
    assert_edit(&original, &edited, 10, "scale = 2", "scale = 3",
                "line 10 of closed_float.py changed");
    edited = with(7, "@cached(maxsize=1)");
    assert_edit(&original, &edited, 7, "@cached", "@cached(maxsize=1)",
                "line 7 of closed_float.py changed");
}

static void a_number_follows_from_lines_on_its_stack(void **state) {
    (void)state;
    source_t edited = with(21, "    report(step(w, x, 2))");
    assert_edit_of("", &original, &edited, 21, "report(step(w, x))", "report(step(w, x, 2))",
                   "line 21 of closed_float.py changed");
}

static void a_number_follows_from_what_its_stack_reads(void **state) {
    (void)state;
    source_t edited = with(18, "step = make_step(2)");
    assert_edit_of("step", &original, &edited, 18, "step = make_step(1)", "step = make_step(2)",
                   "line 18 of closed_float.py changed");
    source_t named = with(18, "step = make_step(RATE)");
    edited = named;
    edited.lines[2] = "RATE = 2";
    assert_edit_of("RATE", &named, &edited, 2, "RATE = 1", "RATE = 2",
                   "line 2 of closed_float.py changed");
    edited = with(20, "for _ in range(4):");
    assert_edit_of("", &original, &edited, 20, "for _ in range(3):", "for _ in range(4):",
                   "line 20 of closed_float.py changed");
}

static void no_number_follows_from_what_is_not_traced(void **state) {
    (void)state;
    source_t comment = with(9, "    # another purpose"), blank = with(16, " \t");
    source_t above = with(5, "    return 2"), unread = with(2, "RATE = 2");
    source_t behind = with(15, "        return w - 0.1 * slope  # slower");
    source_t import = with(1, "import jax, os");
    source_t spaces = original;
    spaces.behind = "  \r";
    assert_no_edit(&original, &original);
    assert_no_edit(&original, &spaces);
    assert_no_edit(&original, &comment);
    assert_no_edit(&original, &blank);
    assert_no_edit(&original, &above);
    assert_no_edit(&original, &unread);
    assert_no_edit(&original, &behind);
    assert_no_edit(&original, &import);
}

static void a_removed_line_is_named_where_it_was(void **state) {
    (void)state;
    source_t longer = original;
    for (int line = LINES - 1; line > 15; --line)
        longer.lines[line] = original.lines[line - 1];
    longer.lines[15] = "        slope = slope / 10";
    assert_edit(&longer, &original, 15, "slope = slope / 10", "nothing",
                "line 15 of closed_float.py was removed");
}

static void nothing_follows_from_a_text_that_is_not_known(void **state) {
    (void)state;
    source_t edited = with(15, "        return w - 0.01 * slope");
    assert_no_edit(NULL, &edited);
    assert_no_edit(&original, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_follows_from_its_edited_line),
        cmocka_unit_test(lines_that_were_edited_together_are_one_edit),
        cmocka_unit_test(a_number_follows_from_an_edit_of_its_function),
        cmocka_unit_test(a_number_follows_from_lines_on_its_stack),
        cmocka_unit_test(a_number_follows_from_what_its_stack_reads),
        cmocka_unit_test(no_number_follows_from_what_is_not_traced),
        cmocka_unit_test(a_removed_line_is_named_where_it_was),
        cmocka_unit_test(nothing_follows_from_a_text_that_is_not_known),
    };
    return cmocka_run_group_tests_name("explain_edit", tests, NULL, NULL);
}
