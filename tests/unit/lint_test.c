// What `keel lint` finds in the small files of tests/lint: each line names, in a comment
// `# expect: rule`, what is found there, once for each.
#define _GNU_SOURCE
#include "lint/lint.h"

#include "place.h"

static const keel_lint_options_t all = {.rules = UINT64_MAX};

static void check(const char *text, const keel_lint_options_t *options, keel_lint_report_t *out) {
    assert_ok(keel_lint_text(keel_str(text), options, out));
}

// ---- the files ---------------------------------------------------------------------------------

// How often the line's comment names the rule.
static unsigned count_expected(keel_str_t line, const char *rule) {
    static const char mark[] = "# expect: ";
    const char *at = memmem(line.data, line.size, mark, sizeof mark - 1);
    unsigned count = 0;
    if (!at) return 0;
    keel_str_t rest = {at + sizeof mark - 1, 0};
    rest.size = line.size - (size_t)(rest.data - line.data);
    while (rest.size) {
        const char *comma = memchr(rest.data, ',', rest.size);
        keel_str_t name = {rest.data, comma ? (size_t)(comma - rest.data) : rest.size};
        count += keel_str_is(name, rule);
        size_t taken = comma ? name.size + 2 : rest.size;
        rest = (keel_str_t){rest.data + taken, rest.size - taken};
    }
    return count;
}

static unsigned count_found(const keel_lint_report_t *report, uint32_t line,
                            keel_lint_rule_t rule) {
    unsigned count = 0;
    for (size_t i = 0; i < report->count; ++i)
        count += report->findings[i].line == line && report->findings[i].rule == rule;
    return count;
}

typedef struct seen_t {
    unsigned files, expected[KEEL_LINT_RULE_COUNT];
} seen_t;

static keel_status_t check_file(void *context, const char *name) {
    seen_t *seen = context;
    char path[512];
    uint8_t *data;
    size_t size;
    keel_lint_report_t report;
    keel_str_t line;
    uint32_t number = 0;
    snprintf(path, sizeof path, KEEL_TEST_SOURCE "/tests/lint/%s", name);
    if (!keel_str_ends(keel_str(name), KEEL_STR(".py"))) return NULL;
    KEEL_TRY(keel_file_read(path, 1 << 20, &data, &size));
    keel_str_t rest = keel_bytes_str(keel_bytes(data, size));
    KEEL_TRY(keel_lint_text(rest, &all, &report));
    while (keel_str_line(&rest, &line)) {
        ++number;
        for (unsigned rule = 0; rule < KEEL_LINT_RULE_COUNT; ++rule) {
            const char *word = keel_lint_facts((keel_lint_rule_t)rule)->name;
            unsigned expected = count_expected(line, word);
            unsigned found = count_found(&report, number, (keel_lint_rule_t)rule);
            if (found != expected)
                fail_msg("%s:%u: %s: expected %u, found %u", name, number, word, expected, found);
            seen->expected[rule] += expected;
        }
    }
    ++seen->files;
    keel_lint_deinitialize(&report);
    keel_free(data);
    return NULL;
}

static void each_file_has_its_findings_and_no_others(void **state) {
    (void)state;
    seen_t seen = {0};
    assert_ok(keel_directory_walk(KEEL_TEST_SOURCE "/tests/lint", check_file, &seen));
    assert_true(seen.files > 15);
    for (unsigned rule = 0; rule < KEEL_LINT_RULE_COUNT; ++rule)
        if (!seen.expected[rule])
            fail_msg("no file has %s", keel_lint_facts((keel_lint_rule_t)rule)->name);
}

// ---- what is said of a finding -----------------------------------------------------------------

static const char branch[] = "import jax\n"
                             "@jax.jit\n"
                             "def f(x):\n"
                             "    if (x.sum()\n"
                             "            > 0): pass\n"
                             "    return x\n";

static void a_finding_has_its_place_its_code_on_one_line_and_its_function(void **state) {
    (void)state;
    keel_lint_report_t report;
    check(branch, &all, &report);
    assert_int_equal(report.count, 1);
    const keel_lint_finding_t *finding = &report.findings[0];
    assert_int_equal(finding->rule, KEEL_LINT_BRANCH);
    assert_int_equal(finding->client, KEEL_LINT_JAX);
    assert_int_equal(finding->line, 4);
    assert_int_equal(finding->column, 9);
    assert_int_equal(finding->end_line, 5);
    assert_int_equal(finding->end_column, 16);
    assert_string_equal(finding->code, "x.sum() > 0");
    assert_string_equal(finding->function, "f");
    keel_lint_deinitialize(&report);
}

static void long_code_is_cut_between_characters(void **state) {
    (void)state;
    keel_lint_report_t report;
    check("import jax\n@jax.jit\ndef f(x):\n  assert x['"
          "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"
          "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"
          "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4'] > 0\n",
          &all, &report);
    assert_int_equal(report.count, 1);
    keel_str_t code = keel_str(report.findings[0].code);
    assert_true(code.size < 80 && keel_str_ends(code, KEEL_STR("\u00e4...")));
    for (size_t i = 0, length; i < code.size; i += length) {
        length = keel_utf8_length(code, i);
        assert_true(length);
    }
    keel_lint_deinitialize(&report);
}

static void only_the_rules_that_are_asked_for_are_looked_for(void **state) {
    (void)state;
    keel_lint_options_t options = {.rules = (uint64_t)1 << KEEL_LINT_READ};
    keel_lint_report_t report;
    check(branch, &options, &report);
    assert_int_equal(report.count, 0);
    keel_lint_deinitialize(&report);
    assert_int_equal(keel_lint_by_name(KEEL_STR("host-read")), KEEL_LINT_READ);
    assert_int_equal(keel_lint_by_name(KEEL_STR("host")), KEEL_LINT_RULE_COUNT);
}

static void what_comments_silence_is_counted(void **state) {
    (void)state;
    keel_lint_report_t report;
    check("import jax\nf = jax.jit(lambda x: 1 if x > 0 else 2)  # keel: ignore\n", &all, &report);
    assert_int_equal(report.count, 0);
    assert_int_equal(report.ignored, 1);
    keel_lint_deinitialize(&report);
}

static void the_first_place_that_does_not_parse_is_reported(void **state) {
    (void)state;
    keel_lint_report_t report;
    check("x = 1\ny = = 2\n", &all, &report);
    assert_int_equal(report.error_line, 2);
    assert_int_equal(report.error_column, 5);
    keel_lint_deinitialize(&report);
}

static void pytorch_code_counts_where_it_runs_on_xla(void **state) {
    (void)state;
    static const char model[] = "import torch\n"
                                "class M(torch.nn.Module):\n"
                                "    def forward(self, x):\n"
                                "        return x.max().item()\n";
    keel_lint_options_t xla = {.rules = UINT64_MAX, .is_xla = true};
    keel_lint_report_t report;
    check(model, &all, &report);
    assert_int_equal(report.count, 0);
    keel_lint_deinitialize(&report);
    check(model, &xla, &report);
    assert_int_equal(report.count, 1);
    assert_int_equal(report.findings[0].client, KEEL_LINT_TORCH);
    keel_lint_deinitialize(&report);
    assert_true(keel_lint_imports_xla(KEEL_STR("import os\n  import torch, torch_xla.core\n")));
    assert_true(keel_lint_imports_xla(KEEL_STR("from torch_tpu import x")));
    assert_false(keel_lint_imports_xla(KEEL_STR("# import torch_xla\nx = 'torch_xla'\n")));
}

// ---- hostile texts -----------------------------------------------------------------------------

static void any_text_is_checked_to_its_end(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "\n",
        "\xff\xfe",
        "def f(",
        "@jax.jit\n",
        "import jax\n@jax.jit",
        "class C(C): pass\n",
        "import jax\nclass C(C):\n def __call__(self, x): return x\n",
        "import jax\nclass A(B):\n def __call__(self): pass\nclass B(A): pass\n",
        "import jax\nf = jax.jit(f)\nf = jax.jit(f)(f)\n",
        "import jax\ndef f(x): return f(x)\njax.jit(f)\n",
        "import jax\nf = jax.jit(lambda: 0, static_argnums=99999999999999999999)\nf(1)\n",
        "from jax import *\nfrom . import a\nfrom ...b.c import d as e\nimport "
        "a.b.c.d.e.f.g.h.i.j\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        keel_lint_report_t report;
        check(texts[i], &all, &report);
        keel_lint_deinitialize(&report);
    }
}

// A part of each whole decides what the whole holds. Were it followed once more for that, the time
// would double with each level.
static void nested_expressions_are_followed_once(void **state) {
    (void)state;
    enum { LEVELS = 60 };
    static const struct {
        const char *begin, *open, *middle, *close, *end;
    } shapes[] = {
        {"import torch, torch_xla\nx = ", "torch.cat([", "y", "])", "\n"},
        {"import jax\nx = ", "", "y", ".replace(1, 2)", "\n"},
        {"import jax\nx = ", "", "y", ".at[0]", "\n"},
        {"import jax\nx = ", "f(not ", "y", ")", "\n"},
        {"import jax\nx = ", "a[a and b < ", "y", ":]", "\n"},
        {"import jax\nx = ", "(1 if ", "y", " else -2)", "\n"},
        {"import jax\nx = ", "{(lambda a=", "y", ": a)(b := 1) for c in d if e}", "\n"},
        {"import jax\n", "(a, ", "b", ")", " = 1\n"},
        {"import jax\nx = ", "jax.lax.scan(", "y", ")", "\n"},
        {"import torch, torch_xla\nx = ", "torch.optim.Adam(p, ", "y", ")", "\n"},
        {"import jax\nx = ", "[0 for a, b in zip(", "y", ")]", "\n"},
        {"import jax\n@jax.jit\ndef f(a):\n return ", "f(a=", "a", ")", "\n"},
        {"import torch, torch_xla\nclass M(torch.nn.Module):\n def forward(self, x):\n  return ",
         "x.view(", "x", ")", "\n"},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        keel_buffer_t text;
        keel_lint_report_t report;
        keel_buffer_initialize(&text, 0);
        keel_buffer_text(&text, shapes[i].begin);
        for (unsigned level = 0; level < LEVELS; ++level)
            keel_buffer_text(&text, shapes[i].open);
        keel_buffer_text(&text, shapes[i].middle);
        for (unsigned level = 0; level < LEVELS; ++level)
            keel_buffer_text(&text, shapes[i].close);
        keel_buffer_text(&text, shapes[i].end);
        check(keel_buffer_cstr(&text), &all, &report);
        assert_int_equal(report.error_line, 0);
        keel_lint_deinitialize(&report);
        keel_buffer_deinitialize(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_file_has_its_findings_and_no_others),
        cmocka_unit_test(a_finding_has_its_place_its_code_on_one_line_and_its_function),
        cmocka_unit_test(long_code_is_cut_between_characters),
        cmocka_unit_test(only_the_rules_that_are_asked_for_are_looked_for),
        cmocka_unit_test(what_comments_silence_is_counted),
        cmocka_unit_test(the_first_place_that_does_not_parse_is_reported),
        cmocka_unit_test(pytorch_code_counts_where_it_runs_on_xla),
        cmocka_unit_test(any_text_is_checked_to_its_end),
        cmocka_unit_test(nested_expressions_are_followed_once),
    };
    return cmocka_run_group_tests_name("lint", tests, NULL, NULL);
}
