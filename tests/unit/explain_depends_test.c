// Which lines of a source others depend on.
#define _GNU_SOURCE
#include "explain/imports.h"

#include "explain_help.h"

static void read_source(keel_depends_t *reads, const char *source, keel_arena_t *arena) {
    keel_arena_initialize(arena, 0);
    assert_ok(keel_depends_parse(reads, keel_str(source), arena));
}

static const char *lines_found(const keel_depends_t *reads) {
    static char text[256];
    size_t size = 0;
    text[0] = 0;
    for (uint32_t line = 1; line <= reads->line_count; ++line)
        if (keel_depends_has(reads, line))
            size += (size_t)snprintf(text + size, sizeof text - size, size ? " %u" : "%u", line);
    return text;
}

// "1 4": what the line on the stack depends on, and the line itself.
static void assert_depends(const char *source, uint32_t traced, uint32_t line, const char *wanted) {
    keel_arena_t arena;
    keel_depends_t reads;
    read_source(&reads, source, &arena);
    for (int round = 0; round < 2; ++round) {
        keel_depends_reset(&reads, true);
        if (traced) keel_depends_exclude(&reads, traced);
        keel_depends_start(&reads, &(keel_frame_t){.line = line});
        keel_depends_follow(&reads);
        assert_string_equal(lines_found(&reads), wanted);
    }
    keel_depends_deinitialize(&reads);
    keel_arena_deinitialize(&arena);
}

static void names_of_a_file_lead_to_their_lines(void **state) {
    (void)state;
    static const char source[] = "import numpy as np\n"
                                 "RATE = 0.1\n" // 2
                                 "WIDTH = 8\n"
                                 "SIZES = {\n" // 4
                                 "    'a': WIDTH,\n"
                                 "}\n"
                                 "OTHER = 3\n"
                                 "rate: float = 2\n" // 8
                                 "class Config:\n"
                                 "    rate: float = 1\n"
                                 "config = Config()\n" // 11
                                 "config.rate = 4\n"
                                 "f(RATE, rate=1)\n" // 13
                                 "f(SIZES)\n"
                                 "f(config.rate)\n" // 15
                                 "print(OTHER); f(rate)\n";
    assert_depends(source, 0, 13, "2 13");
    assert_depends(source, 0, 14, "3 4 5 6 14");
    assert_depends(source, 0, 15, "9 10 11 12 15");
    assert_depends(source, 0, 16, "7 8 16");
    assert_depends("rate: float\nother: float\nrate = 2\nf(rate)\n", 0, 4, "1 3 4");
    assert_depends(source, 0, 1, "1");
    assert_depends(source, 0, 99, "");
}

// What surrounds a line decides whether it runs, and how often.
static void blocks_belong_to_their_lines(void **state) {
    (void)state;
    static const char source[] = "def run(deep, x):\n" // 1
                                 "    n = 3\n"
                                 "    if n == 2:\n"
                                 "        x = x + 1\n" // 4
                                 "    elif deep:\n"
                                 "        pass\n"
                                 "    else:\n"
                                 "        for i in range(n): h(i)\n" // 8
                                 "    print(n)\n"
                                 "x = 1\n"
                                 "deep = 2\n" // 11
                                 "run(deep, x)\n";
    assert_depends(source, 0, 8, "1 2 3 5 7 8");
    assert_depends(source, 0, 4, "1 2 3 4");
    assert_depends(source, 1, 12, "1 10 11 12");
}

static void an_argument_leads_to_the_calls(void **state) {
    (void)state;
    static const char source[] = "wide = 8\n" // 1
                                 "class Net:\n"
                                 "    def __init__(self, width):\n"
                                 "        self.width = width\n" // 4
                                 "    def forward(self, x):\n"
                                 "        return x * self.width\n" // 6
                                 "def train(net, steps):\n"
                                 "    net.forward(1)\n" // 8
                                 "n = 3\n"
                                 "train(Net(wide), n)\n"; // 10
    assert_depends(source, 0, 6, "1 2 3 4 5 6 7 9 10");
    assert_depends(source, 0, 8, "7 8");
}

static void a_function_that_is_handed_on_counts_as_a_whole(void **state) {
    (void)state;
    static const char source[] = "def model(x):\n" // 1
                                 "    y = sample('y')\n"
                                 "    with plate(x):\n"
                                 "        sample('z')\n" // 4
                                 "def other(x):\n"
                                 "    sample('w')\n"
                                 "fit = Fit(model, other(3))\n" // 7
                                 "fit.run()\n";
    assert_depends(source, 0, 8, "1 2 3 4 5 7 8");
}

// It may have run; of one that was traced the operations tell.
static void a_function_that_is_named_is_looked_into(void **state) {
    (void)state;
    static const char source[] = "SCALE = 2\n"
                                 "def make(n):\n" // 2
                                 "    print('made')\n"
                                 "    w = zeros(n)\n"
                                 "    w.fill(SCALE)\n" // 5
                                 "    unused = 3\n"
                                 "    return w\n" // 7
                                 "@cached\n"
                                 "def step(w, rate=SCALE):\n" // 9
                                 "    t = 3\n"
                                 "    return w * t\n" // 11
                                 "step(make(4))\n";
    assert_depends(source, 0, 12, "1 2 4 5 7 8 9 10 11 12");
    assert_depends(source, 11, 12, "1 2 4 5 7 8 9 12");
}

static void methods_lead_to_what_made_the_object(void **state) {
    (void)state;
    static const char source[] = "class Net:\n" // 1
                                 "    def __init__(self, n):\n"
                                 "        self.n = n\n"
                                 "        self.other = 4\n" // 4
                                 "    def report(self):\n"
                                 "        self.told = 1\n" // 6
                                 "    def call(self, x):\n"
                                 "        return x * self.n\n" // 8
                                 "class Unused:\n"
                                 "    def __init__(self):\n" // 10
                                 "        self.n = 2\n";
    assert_depends(source, 8, 8, "1 2 3 7 8");
}

static void only_the_call_itself_is_read(void **state) {
    (void)state;
    static const char source[] = "def report(y):\n"
                                 "    return y\n" // 2
                                 "w = 3\n"
                                 "report(step(w))\n"; // 4
    keel_arena_t arena;
    keel_depends_t reads;
    read_source(&reads, source, &arena);
    keel_frame_t frame = {.line = 4, .column = 8, .end_line = 4, .end_column = 15};
    keel_depends_start(&reads, &frame);
    keel_depends_follow(&reads);
    assert_string_equal(lines_found(&reads), "3 4");
    keel_depends_deinitialize(&reads);
    keel_arena_deinitialize(&arena);
}

static void comments_and_docstrings_are_no_code(void **state) {
    (void)state;
    static const char source[] = "\"\"\"What it\n"
                                 "does. # no\n"
                                 "\"\"\"\n"
                                 "x = '#' # a comment\n" // 4
                                 "  # another\n"
                                 "y = '''a # text\n" // 6
                                 "b'''\n"
                                 "z = \"it\\\"s # one\" \t\r\n";
    static const uint32_t sizes[] = {10, 10, 3, 7, 0, 15, 4, 17};
    keel_arena_t arena;
    keel_depends_t reads;
    read_source(&reads, source, &arena);
    for (uint32_t i = 0; i < 8; ++i) {
        assert_int_equal(reads.lines[i].size, sizes[i]);
        assert_int_equal(reads.lines[i].is_code, i == 3 || i > 4);
    }
    keel_depends_deinitialize(&reads);
    keel_arena_deinitialize(&arena);
}

static void assert_owner(const char *source, uint32_t line, const char *wanted, bool is_function) {
    keel_arena_t arena;
    keel_depends_t reads;
    bool is;
    read_source(&reads, source, &arena);
    keel_str_t owner = keel_depends_owner(&reads, line, &is);
    assert_true(keel_str_is(owner, wanted));
    assert_int_equal(is, is_function);
    keel_depends_deinitialize(&reads);
    keel_arena_deinitialize(&arena);
}

static void a_line_belongs_to_its_function_or_name(void **state) {
    (void)state;
    static const char source[] = "RATE = 1\n"
                                 "@jit\n"
                                 "async def f(x):\n" // 3
                                 "    y = x\n"
                                 "class A(B):\n" // 5
                                 "    n = 1\n"
                                 "for i in x: f(i)\n" // 7
                                 "p.q['a'] = 3\n";
    assert_owner(source, 1, "RATE", false);
    assert_owner(source, 2, "f", true);
    assert_owner(source, 4, "f", true);
    assert_owner(source, 6, "A", false);
    assert_owner(source, 7, "", false);
    assert_owner(source, 8, "q", false);
    assert_owner(source, 9, "", false);
}

// ---- imports -----------------------------------------------------------------------------------

typedef struct paths_t {
    const char *stops_at;
    char text[2048];
} paths_t;

static keel_status_t add_path(void *context, const char *path, bool is_whole, bool *out_is_there) {
    paths_t *paths = context;
    size_t size = strlen(paths->text);
    snprintf(paths->text + size, sizeof paths->text - size, "%s%s%s", size ? " " : "", path,
             is_whole ? "!" : "");
    *out_is_there = paths->stops_at && strcmp(path, paths->stops_at) == 0;
    return NULL;
}

static void assert_paths(const char *source, const char *stops_at, const char *wanted) {
    paths_t paths = {.stops_at = stops_at};
    assert_ok(keel_imports_find(keel_str(source), "/w/app/train.py", NULL, add_path, &paths));
    assert_string_equal(paths.text, wanted);
}

static void imports_lead_to_files_beside_and_above(void **state) {
    (void)state;
    assert_paths("import settings\n", NULL,
                 "/w/app/settings.py! /w/app/settings/__init__.py! /w/settings.py! "
                 "/w/settings/__init__.py!");
    assert_paths("import settings as s, a.b\n", "/w/app/settings.py",
                 "/w/app/settings.py! /w/app/a/b.py! /w/app/a/b/__init__.py! /w/a/b.py! "
                 "/w/a/b/__init__.py!");
    assert_paths("from conf.model import (WIDTH as W,\n    depth)\n", "/w/app/conf/model.py",
                 "/w/app/conf/model.py /w/app/conf/model.py");
    assert_paths("from conf import model\n", "/w/app/conf/model.py",
                 "/w/app/conf.py /w/app/conf/model.py!");
    assert_paths("from settings import *\n", "/w/app/settings.py", "/w/app/settings.py");
    assert_paths("from . import settings\n", NULL, "/w/app/settings.py! /w/app/__init__.py");
    assert_paths("from ..conf import width\n", NULL,
                 "/w/conf.py /w/conf/width.py! /w/conf/__init__.py");
    assert_paths("if x:\n    def f():\n        import s\n", "/w/app/s.py", "/w/app/s.py!");
    assert_paths("from .... import far\n", NULL, "");
    assert_paths("importlib.x('a')\nfrom\nimport\nfrom . import\n", NULL, "");
}

// The lines of `settings` that line 2 of a file leads to.
static void assert_import(const char *source, const char *settings, bool is_whole,
                          const char *wanted) {
    keel_arena_t arena;
    keel_depends_t reads, other;
    uint32_t at = 0;
    keel_import_t import;
    read_source(&other, source, &arena);
    assert_ok(keel_depends_parse(&reads, keel_str(settings), &arena));
    keel_depends_start(&other, &(keel_frame_t){.line = 2});
    keel_depends_follow(&other);
    bool any = false;
    while (keel_imports_next(&other, &at, &import))
        if (keel_depends_reads(&other, &import))
            any |= is_whole || keel_depends_start_import(&reads, &other, &import);
    if (any) any = keel_depends_start_attributes(&reads, &other, is_whole) || !is_whole;
    assert_int_equal(any, *wanted != 0);
    keel_depends_follow(&reads);
    assert_string_equal(lines_found(&reads), wanted);
    assert_false(keel_depends_start_attributes(&reads, &other, is_whole)); // nothing is new
    keel_depends_deinitialize(&reads);
    keel_depends_deinitialize(&other);
    keel_arena_deinitialize(&arena);
}

static void names_that_are_imported_lead_to_their_lines(void **state) {
    (void)state;
    static const char settings[] = "WIDTH = 8\n"
                                   "RATE = 0.1\n"
                                   "class Config:\n" // 3
                                   "    rate = RATE\n"
                                   "    deep = 2\n"
                                   "config = Config()\n"; // 6
    assert_import("import settings\nf(settings.WIDTH)\n", settings, true, "1");
    assert_import("import settings as s\nf(s.WIDTH)\n", settings, true, "1");
    assert_import("import settings as s\nf(WIDTH)\n", settings, true, "");
    assert_import("from settings import WIDTH\nf(WIDTH)\n", settings, false, "1");
    assert_import("from settings import RATE as r\nf(r)\n", settings, false, "2");
    assert_import("from settings import RATE, WIDTH\nf(WIDTH)\n", settings, false, "1");
    assert_import("from settings import *\nf(RATE)\n", settings, false, "2");
    assert_import("from settings import config\nf(config.rate)\n", settings, false, "2 3 4 6");
    assert_import("from settings import config\nf(config.deep)\n", settings, false, "3 5 6");
    assert_import("from settings import other\nf(other)\n", settings, false, "");
}

// Whatever a file holds is read to its end.
static void any_text_is_read(void **state) {
    (void)state;
    static const char *const sources[] = {
        "",
        "\n\n",
        "'''never ended\nx = 1\n",
        "x = 'never ended\ny = x\n",
        "f(((\nx = 1\n",
        ")]}:;=\n",
        "x = 1 \\",
        "lambda",
        "def",
        "class:\n x",
        "@\n@\n",
        "=\n:\n;;;\nelse:\n",
        "\\",
        "a\\\n= 1",
        "'\\",
        "async def\n",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; ++i) {
        keel_arena_t arena;
        keel_depends_t reads;
        bool is;
        read_source(&reads, sources[i], &arena);
        for (uint32_t line = 0; line < 6; ++line) {
            keel_depends_exclude(&reads, line);
            keel_depends_start(&reads, &(keel_frame_t){.line = line});
            keel_depends_owner(&reads, line, &is);
        }
        keel_depends_follow(&reads);
        keel_depends_deinitialize(&reads);
        keel_arena_deinitialize(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_a_file_lead_to_their_lines),
        cmocka_unit_test(blocks_belong_to_their_lines),
        cmocka_unit_test(an_argument_leads_to_the_calls),
        cmocka_unit_test(a_function_that_is_handed_on_counts_as_a_whole),
        cmocka_unit_test(a_function_that_is_named_is_looked_into),
        cmocka_unit_test(methods_lead_to_what_made_the_object),
        cmocka_unit_test(only_the_call_itself_is_read),
        cmocka_unit_test(comments_and_docstrings_are_no_code),
        cmocka_unit_test(a_line_belongs_to_its_function_or_name),
        cmocka_unit_test(imports_lead_to_files_beside_and_above),
        cmocka_unit_test(names_that_are_imported_lead_to_their_lines),
        cmocka_unit_test(any_text_is_read),
    };
    return cmocka_run_group_tests_name("explain_reads", tests, NULL, NULL);
}
