// How a Python source is read: its statements and their names, the files that it imports, and the
// numbers in it. Texts at the limits of each rule.
#define _GNU_SOURCE
#include "explain/statements.h"

#include "explain/imports.h"
#include "explain/literals.h"
#include "place.h"

// "assignment 1 x= f .y k: z": each statement with its lines, and that of its block, or of the
// statement whose arm it is, behind <. Of its names, those that are assigned have =, attributes a
// dot before them, parameters (, and names of arguments a colon.
static void write_statement(const keel_depends_t *reads, const keel_depends_statement_t *one,
                            keel_buffer_t *out) {
    static const char *const kinds[] = {"plain", "assignment", "import", "function",
                                        "class", "return",     "call"};
    keel_buffer_format(out, "%s%s %u", out->size ? "\n" : "", kinds[one->kind], one->first);
    if (one->last != one->first) keel_buffer_format(out, "-%u", one->last);
    if (one->parent != KEEL_NONE)
        keel_buffer_format(out, "<%u", reads->statements[one->parent].first);
    for (uint32_t i = 0; i < one->word_count; ++i) {
        const keel_depends_word_t *word = words_of(reads, one) + i;
        keel_buffer_format(out, " %s%.*s%s%s%s", word->is_attribute ? "." : "",
                           (int)word->text.size, word->text.data, word->is_target ? "=" : "",
                           word->is_parameter ? "(" : "", word->is_label ? ":" : "");
    }
}

static void assert_statements(const char *source, const char *expected) {
    keel_arena_t arena;
    keel_depends_t reads;
    keel_buffer_t out;
    keel_arena_initialize(&arena, 0);
    keel_buffer_initialize(&out, 0);
    assert_ok(keel_depends_parse(&reads, keel_str(source), &arena));
    for (uint32_t i = 0; i < reads.count; ++i)
        write_statement(&reads, &reads.statements[i], &out);
    if (strcmp(keel_buffer_cstr(&out), expected) != 0)
        fail_msg("%s\nexpected:\n%s\ngot:\n%s", source, expected, keel_buffer_cstr(&out));
    keel_buffer_deinitialize(&out);
    keel_depends_deinitialize(&reads);
    keel_arena_deinitialize(&arena);
}

static void names_are_assigned_or_read(void **state) {
    (void)state;
    assert_statements("x = y", "assignment 1 x= y");
    assert_statements("x = y = z\n", "assignment 1 x= y= z");
    assert_statements("x == y\n", "plain 1 x y");
    assert_statements("x <= y\nx >= y\nx != y\n", "plain 1 x y\nplain 2 x y\nplain 3 x y");
    assert_statements("x += y\n", "assignment 1 x= y");
    assert_statements("x: int = y\n", "assignment 1 x= int y");
    assert_statements("x: int\n", "assignment 1 x= int");
    assert_statements("a.b = y\n", "assignment 1 a .b= y");
    assert_statements("a.b.c = y\n", "assignment 1 a .b .c= y");
    assert_statements("a.b[i] = y\n", "assignment 1 a .b= i y");
    assert_statements("a, b = y\n", "assignment 1 a= b= y");
    assert_statements("(a, b) = y\n", "assignment 1 a= b= y");
    assert_statements("f(x=y)\n", "plain 1 f x: y");
    assert_statements("f(x = y)\n", "plain 1 f x: y");
    assert_statements("f(x == y)\n", "plain 1 f x y");
    assert_statements("f(x := y)\n", "assignment 1 f x= y");
    assert_statements("if (n := f()): pass\n", "assignment 1 n= f\nplain 1<1");
    assert_statements("for i, j in x: f\n", "assignment 1 i= j= x\nplain 1<1 f");
    assert_statements("x = [i for i in y]\n", "assignment 1 x= i i( y");
    assert_statements("with a as b: f\n", "assignment 1 a b=\nplain 1<1 f");
    assert_statements("with a as b, c as d: f\n", "assignment 1 a b= c d=\nplain 1<1 f");
    assert_statements("import a as b\n", "import 1 a b");
    assert_statements("lambda x, y: z\n", "plain 1 x( y( z");
    assert_statements("f(lambda *x: y, z)\n", "plain 1 f x( y z");
    assert_statements("x = lambda y=1: y\n", "assignment 1 x= y( y");
    assert_statements("lambda: x\n", "plain 1 x");
}

static void statements_have_a_kind(void **state) {
    (void)state;
    assert_statements("def f(a, b=c, *d, **e): g\n", "function 1 f a( b( c d( e(\nplain 1<1 g");
    assert_statements("async def f(a): g\n", "function 1 f a(\nplain 1<1 g");
    assert_statements("def f(a, k=g(b)): h\n", "function 1 f a( k( g b\nplain 1<1 h");
    assert_statements("class A(B): c\n", "class 1 A B\nplain 1<1 c");
    assert_statements("@a.b(c)\ndef f(): g\n", "function 1-2 a .b c f\nplain 2<1 g");
    assert_statements("x @ y\n", "plain 1 x y");
    assert_statements("return x\nyield y\nreturned\n", "return 1 x\nreturn 2 y\nplain 3 returned");
    assert_statements("from a import b\n", "import 1 a b");
    assert_statements("a.append(b)\na(b)\nb\n", "call 1 a .append b\nplain 2 a b\nplain 3 b");
    assert_statements("if a.b: c\n", "plain 1 a .b\nplain 1<1 c");
}

static void blocks_and_arms_are_found_by_their_indent(void **state) {
    (void)state;
    assert_statements("if a:\n    b\nc\n", "plain 1 a\nplain 2<1 b\nplain 3 c");
    assert_statements("if a:\n\tb\n        c\n", "plain 1 a\nplain 2<1 b\nplain 3<1 c");
    assert_statements("if a:\n if b:\n  c\n d\n",
                      "plain 1 a\nplain 2<1 b\nplain 3<2 c\nplain 4<1 d");
    assert_statements("if a: b\nelse: c\n", "plain 1 a\nplain 1<1 b\nplain 2<1\nplain 2<2 c");
    assert_statements("if a:\n    b\nelif c:\n    d\nelse:\n    e\n",
                      "plain 1 a\nplain 2<1 b\nplain 3<1 c\nplain 4<3 d\n"
                      "plain 5<3\nplain 6<5 e");
    assert_statements("try:\n    a\nexcept B:\n    c\nfinally:\n    d\n",
                      "plain 1\nplain 2<1 a\nplain 3<1 B\nplain 4<3 c\n"
                      "plain 5<1\nplain 6<5 d");
    assert_statements("if a:\n    b\nif c:\n    d\n",
                      "plain 1 a\nplain 2<1 b\nplain 3 c\nplain 4<3 d");
    assert_statements("if a: b; c\nd\n", "plain 1 a\nplain 1<1 b\nplain 1<1 c\nplain 2 d");
    assert_statements("a; b\n", "plain 1 a\nplain 1 b");
    assert_statements("while a:\n    b\n", "plain 1 a\nplain 2<1 b");
    assert_statements("match a:\n case b:\n  c\n", "plain 1 a\nassignment 2<1 b=\nplain 3<2 c");
    assert_statements("x[a:b]\nd = {a: b}\n", "plain 1 x a b\nassignment 2 d= a b");
}

static void a_statement_goes_on_over_lines(void **state) {
    (void)state;
    assert_statements("f(a,\n  b)\nc\n", "plain 1-2 f a b\nplain 3 c");
    assert_statements("x = [\n a]\n", "assignment 1-2 x= a");
    assert_statements("x = {\n a}\n", "assignment 1-2 x= a");
    assert_statements("a + \\\n b\nc\n", "plain 1-2 a b\nplain 3 c");
    assert_statements("a # b\nc\n", "plain 1 a\nplain 2 c");
    assert_statements("f(a, # b\n c)\n", "plain 1-2 f a c");
    assert_statements("f(\n\n a)\n", "plain 1-3 f a");
    assert_statements("f) + a\nb\n", "plain 1 f a\nplain 2 b"); // closes nothing
}

static void what_is_quoted_has_no_names(void **state) {
    (void)state;
    assert_statements("x = 'a' + b\n", "assignment 1 x= b");
    assert_statements("x = \"a'b\" + c\n", "assignment 1 x= c");
    assert_statements("x = 'a\\'b' + c\n", "assignment 1 x= c");
    assert_statements("x = '' + c\n", "assignment 1 x= c");
    assert_statements("x = '''a\nb''' + c\nd\n", "assignment 1-2 x= c\nplain 3 d");
    assert_statements("x = '''a''b''' + c\n", "assignment 1 x= c");
    assert_statements("x = 'a\ny = b\n", "plain 1 x\nassignment 2 y= b");
    assert_statements("x = 'a\\\nb' + c\n", "assignment 1-2 x= c");
    assert_statements("x = f'a' + rb\"b\" + c\n", "assignment 1 x= c");
    assert_statements("x = f'{y!r:>{z.w}} y' + c\n", "assignment 1 x= y z .w c");
    assert_statements("x = abc'd'\n", "plain 1 x abc");
    assert_statements("x = 1e5 + 0x1f + 2.5j + y\n", "assignment 1 x= y");
}

// ---- imports -----------------------------------------------------------------------------------

typedef struct offered_t {
    const char *there;
    char text[1024];
} offered_t;

static keel_status_t offer(void *context, const char *path, bool is_whole, bool *out_is_there) {
    offered_t *offered = context;
    size_t size = strlen(offered->text);
    snprintf(offered->text + size, sizeof offered->text - size, "%s%s%s", size ? " " : "", path,
             is_whole ? "!" : "");
    *out_is_there = offered->there && strcmp(path, offered->there) == 0;
    return NULL;
}

static void assert_offered(const char *source, const char *file, const char *folders,
                           const char *there, const char *expected) {
    offered_t offered = {.there = there};
    assert_ok(keel_imports_find(keel_str(source), file, folders, offer, &offered));
    assert_string_equal(offered.text, expected);
}

static void modules_are_looked_for_beside_above_and_where_python_looked(void **state) {
    (void)state;
    static const char beside[] = "/w/m.py! /w/m/__init__.py!";
    assert_offered("import m\n", "/w/t.py", NULL, NULL, beside);
    assert_offered("import m\n", "/w/t.py", "", NULL, beside);
    assert_offered("import m\n", "/w/t.py", "/a", NULL,
                   "/w/m.py! /w/m/__init__.py! /a/m.py! /a/m/__init__.py!");
    assert_offered("import m\n", "/w/t.py", "/a\n\n/b", "/b/m.py",
                   "/w/m.py! /w/m/__init__.py! /a/m.py! /a/m/__init__.py! /b/m.py!");
    assert_offered("import m\n", "/w/t.py", "/a\n/b\n", "/a/m.py",
                   "/w/m.py! /w/m/__init__.py! /a/m.py!");
    assert_offered("import m\n", "/w/t.py", "/a", "/w/m.py", "/w/m.py!");
    // Those that begin with dots are where the dots say.
    assert_offered("from .m import k\n", "/w/t.py", "/a", NULL,
                   "/w/m.py /w/m/k.py! /w/m/__init__.py");
    assert_offered("from . import k\n", "/v/w/t.py", "/a", NULL, "/v/w/k.py! /v/w/__init__.py");
    assert_offered("from .. import k\n", "/v/w/t.py", "/a", NULL, "/v/k.py! /v/__init__.py");
    assert_offered("from ...k import *\n", "/u/v/w/t.py", NULL, NULL, "/u/k.py /u/k/__init__.py");
    assert_offered("import a.b\n", "/w/t.py", NULL, NULL, "/w/a/b.py! /w/a/b/__init__.py!");
    assert_offered("import a, b\n", "/w/t.py", NULL, "/w/a.py",
                   "/w/a.py! /w/b.py! /w/b/__init__.py!");
    assert_offered("import m\n", "/1/2/3/4/5/6/t.py", NULL, NULL,
                   "/1/2/3/4/5/6/m.py! /1/2/3/4/5/6/m/__init__.py! /1/2/3/4/5/m.py! "
                   "/1/2/3/4/5/m/__init__.py! /1/2/3/4/m.py! /1/2/3/4/m/__init__.py! /1/2/3/m.py! "
                   "/1/2/3/m/__init__.py! /1/2/m.py! /1/2/m/__init__.py!");
    assert_offered("import m\n", "/x/site-packages/t.py", NULL, NULL, "/x/m.py! /x/m/__init__.py!");
}

// ---- numbers -----------------------------------------------------------------------------------

static void assert_numbers(const char *source, const char *expected) {
    static keel_literal_t data[KEEL_LITERALS_KEPT];
    keel_literals_t literals = {.data = data};
    char text[512] = "";
    assert_ok(keel_literals_scan(&literals, 3, keel_str(source)));
    for (uint32_t i = 0; i < literals.count; ++i) {
        size_t size = strlen(text);
        assert_int_equal(data[i].file, 3);
        snprintf(text + size, sizeof text - size, "%s%g@%u", i ? " " : "", data[i].value,
                 data[i].line);
    }
    assert_string_equal(text, expected);
}

static void numbers_are_found_with_their_lines(void **state) {
    (void)state;
    assert_numbers("", "");
    assert_numbers("1", "1@1");
    assert_numbers("x = 1\ny = 2.5\n", "1@1 2.5@2");
    assert_numbers("0 0.0 .5 . 5.", "0.5@1 5@1");
    assert_numbers("-3 +4", "3@1 4@1");
    assert_numbers("1e3 1E3 1e-3 1e+3 1-3", "1000@1 1000@1 0.001@1 1000@1 1@1 3@1");
    assert_numbers("1_000 0x10", "1000@1 16@1");
    assert_numbers("x1 _2 a.3b", ""); // parts of names, and no number
    assert_numbers("1j 1e999", "");
    assert_numbers("1 # 2\n3", "1@1 3@2");
    assert_numbers("# 2", "");
    assert_numbers("'# 2' + 3", "3@1"); // what is in quotes is text
    assert_numbers("'a\" # 2'", "");
    assert_numbers("'''2\n3''' + 4", "4@2");
    assert_numbers("f'2{3:4}'", "3@1");
    assert_numbers("'open\n# 2\n3", "3@3"); // a quote ends with its line
}

static keel_status_t read_text(void *context, const char *file, keel_str_t *out) {
    if (strcmp(file, "none") == 0) return keel_status_make(KEEL_NOT_FOUND, "no text");
    *out = keel_str(context);
    return NULL;
}

static void numbers_are_known_by_file_and_line(void **state) {
    (void)state;
    const keel_sources_t sources = {.read = read_text, .context = (void *)(uintptr_t) "1\n-2\n"};
    keel_literals_t literals = {.sources = &sources}, unknown = {0};
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    assert_ok(keel_literals_read(&literals, "none", &arena));
    assert_ok(keel_literals_read(&literals, "", &arena));
    assert_ok(keel_literals_read(&literals, NULL, &arena));
    assert_ok(keel_literals_read(&literals, "a", &arena));
    assert_ok(keel_literals_read(&literals, "a", &arena)); // only once
    assert_int_equal(literals.file_count, 2);
    assert_int_equal(literals.count, 2);
    assert_true(keel_literals_have(&literals, 1) && keel_literals_have(&literals, -1));
    assert_true(keel_literals_have(&literals, 2));
    assert_false(keel_literals_have(&literals, 3));
    assert_true(keel_literals_have_at(&literals, 2, "a", 2));
    assert_false(keel_literals_have_at(&literals, 2, "a", 1));
    assert_false(keel_literals_have_at(&literals, 1, "a", 2));
    assert_false(keel_literals_have_at(&literals, 2, "none", 2));
    assert_false(keel_literals_have_at(&literals, 2, "b", 2));
    assert_false(keel_literals_have_at(&literals, 2, NULL, 2));
    static const char *const names[] = {"c", "d", "e", "f", "g", "h", "i"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        assert_ok(keel_literals_read(&literals, names[i], &arena));
    assert_int_equal(literals.file_count, KEEL_LITERAL_FILES);
    assert_int_equal(literals.count, 2 * (KEEL_LITERAL_FILES - 1)); // one had no text
    assert_ok(keel_literals_read(&unknown, "a", &arena));
    assert_int_equal(unknown.file_count, 0);
    keel_arena_deinitialize(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_assigned_or_read),
        cmocka_unit_test(statements_have_a_kind),
        cmocka_unit_test(blocks_and_arms_are_found_by_their_indent),
        cmocka_unit_test(a_statement_goes_on_over_lines),
        cmocka_unit_test(what_is_quoted_has_no_names),
        cmocka_unit_test(modules_are_looked_for_beside_above_and_where_python_looked),
        cmocka_unit_test(numbers_are_found_with_their_lines),
        cmocka_unit_test(numbers_are_known_by_file_and_line),
    };
    return cmocka_run_group_tests_name("explain_statements", tests, NULL, NULL);
}
