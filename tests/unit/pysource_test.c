// Python sources as tokens and trees. That what CPython takes has CPython's tree is tested in
// tests/conformance/python_source.py; here is what it does not take, what is hostile, and what
// texts and numbers say.
#define _GNU_SOURCE
#include "pysource/pysource.h"

#include "place.h"
#include "pytree.h"

// ---- trees -------------------------------------------------------------------------------------

// "== title", the source, "--", its tree; an empty line behind each.
static keel_str_t take_to(keel_str_t *rest, const char *mark) {
    const char *end = memmem(rest->data, rest->size, mark, strlen(mark));
    keel_str_t taken = {rest->data, end ? (size_t)(end - rest->data) : rest->size};
    size_t gone = taken.size + (end ? strlen(mark) : 0);
    *rest = (keel_str_t){rest->data + gone, rest->size - gone};
    return taken;
}

static void trees_of_what_does_not_parse(void **state) {
    (void)state;
    uint8_t *data;
    size_t size;
    unsigned count = 0;
    assert_ok(keel_file_read(KEEL_TEST_SAMPLES "/pysource/trees.txt", 1 << 20, &data, &size));
    keel_str_t rest = keel_bytes_str(keel_bytes(data, size));
    for (take_to(&rest, "== "); rest.size; ++count) {
        keel_str_t title = take_to(&rest, "\n"), source = take_to(&rest, "\n--\n");
        keel_str_t expected = take_to(&rest, "\n\n== ");
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        ++source.size; // its newline
        assert_ok(pytree_write(source, &out));
        keel_str_t tree = {(const char *)out.data, out.size - (rest.size > 0)};
        if (!keel_str_equal(tree, expected))
            fail_msg("%.*s\nexpected:\n%.*s\ngot:\n%.*s", KEEL_STR_ARGS(title),
                     KEEL_STR_ARGS(expected), KEEL_STR_ARGS(tree));
        keel_buffer_deinitialize(&out);
    }
    assert_true(count > 10);
    keel_free(data);
}

static void check_tree(const keel_py_tree_t *tree) {
    for (uint32_t i = 0; i < tree->node_count; ++i) {
        const keel_py_node_t *node = &tree->nodes[i];
        assert_true(node->end > i && node->end <= tree->node_count);
        assert_true(i ? node->parent < i && node->end <= tree->nodes[node->parent].end
                      : node->parent == KEEL_NONE);
        assert_true(node->end_token >= node->first_token && node->end_token <= tree->token_count);
        assert_true(node->line >= 1 && node->end_line <= tree->line_count);
    }
    assert_int_equal(tree->tokens[tree->token_count - 1].kind, KEEL_PY_T_END);
}

// What is read of a text that is one piece many times, and how many nodes do not parse.
static uint32_t unknown_in(const char *before, const char *piece, size_t count,
                           const char *behind) {
    keel_buffer_t text;
    keel_py_tree_t tree;
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, before);
    for (size_t i = 0; i < count; ++i)
        keel_buffer_text(&text, piece);
    keel_buffer_text(&text, behind);
    assert_ok(keel_py_read(keel_bytes_str(keel_buffer_bytes(&text)), &tree));
    check_tree(&tree);
    assert_int_equal(tree.unknown_count > 0, tree.error_line > 0);
    uint32_t unknown = tree.unknown_count;
    keel_py_deinitialize(&tree);
    keel_buffer_deinitialize(&text);
    return unknown;
}

static void what_is_too_deep_is_unknown(void **state) {
    (void)state;
    enum { DEEP = 100000 };
    static const char *const pieces[] = {
        "(",     "[",  "{",   "{a:", "- ",     "not ",   "lambda: ", "a if b else ", "f(",    "a[",
        "a ** ", "(*", "f'{", "*",   "yield ", "await ", "f'''{a:",  "a or (",       "(a := "};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i)
        assert_true(unknown_in("", pieces[i], DEEP, "a\nb\n") > 0);
    assert_true(unknown_in("match x:\n case ", "[", DEEP, "\n  pass\n") > 0);
    assert_true(unknown_in("match x:\n case ", "a(b=", DEEP, "\n  pass\n") > 0);
    // As deep as Python's own parser goes.
    assert_int_equal(unknown_in("(((((((((((((((((((", "(a)+", 1000, "a)))))))))))))))))))\n"), 0);
}

static void what_is_long_is_read_whole(void **state) {
    (void)state;
    enum { LONG = 100000 };
    assert_int_equal(unknown_in("a", ".b", LONG, "\n"), 0);
    assert_int_equal(unknown_in("a", "(b)", LONG, "\n"), 0);
    assert_int_equal(unknown_in("a", " + b", LONG, "\n"), 0);
    assert_int_equal(unknown_in("a", " < b", LONG, "\n"), 0);
    assert_int_equal(unknown_in("a", " = b", LONG, "\n"), 0);
    assert_int_equal(unknown_in("[", "a, ", LONG, "]\n"), 0);
    assert_int_equal(unknown_in("", "'a' ", LONG, "\n"), 0);
    assert_int_equal(unknown_in("", "f'{a}' ", LONG, "\n"), 0);
    assert_int_equal(unknown_in("if a: b\n", "elif c: d\n", LONG, "else: e\n"), 0);
    assert_int_equal(unknown_in("try: a\n", "except b: c\n", LONG, ""), 0);
    assert_int_equal(unknown_in("", "@a\n", LONG, "def f(): pass\n"), 0);
    assert_int_equal(unknown_in("", "match\n", LONG, ""), 0);
    assert_int_equal(unknown_in("", "with (a): pass\n", LONG, ""), 0);
    // Each of these lines is lost, and none but it.
    assert_int_equal(unknown_in("", "a b\n", LONG, "c\n"), LONG);
    assert_int_equal(unknown_in("", "'a\n", LONG, "c\n"), LONG);
    assert_int_equal(unknown_in("", "else:\n a\n", LONG, "c\n"), LONG);
}

static uint32_t unknown_in_blocks(unsigned depth) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    for (unsigned i = 0; i < depth; ++i) {
        for (unsigned k = 0; k < i; ++k)
            keel_buffer_byte(&text, ' ');
        keel_buffer_text(&text, i % 2 ? "if a:\n" : "try:\n"); // none of which has a handler
    }
    for (unsigned k = 0; k < depth; ++k)
        keel_buffer_byte(&text, ' ');
    keel_buffer_text(&text, "b\n");
    uint32_t unknown = unknown_in(keel_buffer_cstr(&text), "", 0, "");
    keel_buffer_deinitialize(&text);
    return unknown;
}

static void blocks_are_bounded_and_read_once(void **state) {
    (void)state;
    keel_py_tree_t tree;
    assert_ok(keel_py_read(KEEL_STR("try:\n try:\n  a\n"), &tree));
    assert_int_equal(tree.unknown_count, 0);
    assert_int_equal(tree.error_line, 4);
    keel_py_deinitialize(&tree);
    assert_int_equal(unknown_in_blocks(0), 0);
    assert_true(unknown_in_blocks(120) > 0);
}

static void a_text_that_is_too_large_is_refused(void **state) {
    (void)state;
    keel_py_tree_t tree;
    char *text = NULL;
    assert_ok(keel_calloc(KEEL_PY_LARGEST + 1, 1, (void **)&text));
    memset(text, ';', KEEL_PY_LARGEST + 1);
    keel_status_t status = keel_py_read((keel_str_t){text, KEEL_PY_LARGEST + 1}, &tree);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    assert_string_equal(keel_status_message(status), "this source has more than 16 MiB");
    keel_status_ignore(status);
    status = keel_py_read((keel_str_t){text, KEEL_PY_MOST_TOKENS}, &tree);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    assert_string_equal(keel_status_message(status), "this source has more than 4194304 tokens");
    keel_status_ignore(status);
    keel_free(text);
}

static void a_line_has_its_innermost_statement(void **state) {
    (void)state;
    static const char source[] = "# c\n"
                                 "@d(\n"
                                 "  e)\n"
                                 "def f():\n"
                                 "    if a:\n"
                                 "        b = (1,\n"
                                 "\n"
                                 "             2)\n"
                                 "    # c\n"
                                 "    else:\n"
                                 "        c; d\n"
                                 "\n"
                                 "x\n";
    static const uint32_t lines[] = {0, 4, 4, 4,  5, 6,  6,
                                     6, 5, 5, 11, 0, 13, 0}; // where each begins
    keel_py_tree_t tree;
    uint32_t of[sizeof lines / sizeof *lines];
    assert_ok(keel_py_read(KEEL_STR(source), &tree));
    assert_int_equal(tree.line_count, sizeof lines / sizeof *lines);
    keel_py_statements_of_lines(&tree, of);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
        assert_int_equal(of[i] == KEEL_NONE ? 0 : tree.nodes[of[i]].line, lines[i]);
    keel_py_deinitialize(&tree);
}

// ---- texts and values --------------------------------------------------------------------------

static uint32_t first_of(const keel_py_tree_t *tree, keel_py_kind_t kind) {
    uint32_t node = 0;
    while (node < tree->node_count && tree->nodes[node].kind != kind)
        ++node;
    assert_true(node < tree->node_count);
    return node;
}

static void imports_say_where_they_lead(void **state) {
    (void)state;
    keel_py_tree_t tree;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    assert_ok(keel_py_read(KEEL_STR("from .... a . \\\n  b import (c as d, e)\n"), &tree));
    uint32_t import = first_of(&tree, KEEL_PY_IMPORT_FROM);
    uint32_t alias = keel_py_child(&tree, import, KEEL_PY_F_NAMES, KEEL_NONE);
    keel_py_dotted(&tree, import, &text);
    assert_string_equal(keel_buffer_cstr(&text), "a.b");
    assert_int_equal(keel_py_level(&tree, import), 4);
    assert_true(keel_str_is(keel_py_name(&tree, alias), "c"));
    assert_true(keel_str_is(keel_py_as(&tree, alias), "d"));
    alias = keel_py_child(&tree, import, KEEL_PY_F_NAMES, alias);
    assert_true(keel_str_is(keel_py_name(&tree, alias), "e"));
    assert_true(keel_str_is(keel_py_as(&tree, alias), ""));
    assert_int_equal(keel_py_child(&tree, import, KEEL_PY_F_NAMES, alias), KEEL_NONE);
    keel_py_deinitialize(&tree);
    keel_buffer_deinitialize(&text);
}

static void numbers_have_the_nearest_value(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
        bool is_whole, is_imaginary;
    } rows[] = {
        {"0", 0, true, false},
        {"1_000", 1000, true, false},
        {"0x1F", 31, true, false},
        {"0b1_01", 5, true, false},
        {"0O17", 15, true, false},
        {"1.5", 1.5, false, false},
        {".5e-1", 0.05, false, false},
        {"5.", 5, false, false},
        {"2j", 2, false, true},
        {"1E3J", 1000, false, true},
        {"0x20000000000001", 9007199254740993.0, true, false},
        {"0x1ffffffffffffe800", 36893488147419095040.0, true, false},
        {"0x1ffffffffffffe801", 36893488147419099136.0, true, false},
    };
    keel_py_number_t number;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_true(keel_py_number(keel_str(rows[i].text), &number));
        assert_true(number.value == rows[i].value);
        assert_int_equal(number.is_whole, rows[i].is_whole);
        assert_int_equal(number.is_imaginary, rows[i].is_imaginary);
    }
    assert_false(keel_py_number(KEEL_STR(""), &number));
    assert_false(keel_py_number(KEEL_STR("x"), &number));
}

static void strings_say_what_they_say(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"'a' \"b\"", "ab"},
        {"'''a\r\nb'''", "a\nb"},
        {"'\\x41\\101\\n\\q'", "AA\n\\q"},
        {"r'\\x41'", "\\x41"},
        {"'\\u00e9\\\nb'", "\u00e9"
                           "b"},
        {"b'\\x41\\u0041'", "A\\u0041"},
        {"'\\N{EM DASH}'", NULL},
        {"'\\U00110000'", NULL},
        {"'\\x4'", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        keel_py_tree_t tree;
        keel_buffer_t text;
        keel_buffer_initialize(&text, 0);
        assert_ok(keel_py_read(keel_str(rows[i][0]), &tree));
        bool is = keel_py_string(&tree, first_of(&tree, KEEL_PY_CONSTANT), &text);
        assert_int_equal(is, rows[i][1] != NULL);
        if (is) assert_string_equal(keel_buffer_cstr(&text), rows[i][1]);
        assert_false(keel_py_string(&tree, 0, &text));
        keel_py_deinitialize(&tree);
        keel_buffer_deinitialize(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_of_what_does_not_parse),
        cmocka_unit_test(what_is_too_deep_is_unknown),
        cmocka_unit_test(what_is_long_is_read_whole),
        cmocka_unit_test(blocks_are_bounded_and_read_once),
        cmocka_unit_test(a_text_that_is_too_large_is_refused),
        cmocka_unit_test(a_line_has_its_innermost_statement),
        cmocka_unit_test(imports_say_where_they_lead),
        cmocka_unit_test(numbers_have_the_nearest_value),
        cmocka_unit_test(strings_say_what_they_say),
    };
    return cmocka_run_group_tests_name("pysource", tests, NULL, NULL);
}
