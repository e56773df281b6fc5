// Two lists of lines as a table: which words are marked, and which rows are left out.
#define _GNU_SOURCE
#include "page_help.h"

#include "page/part.h"

static keel_page_line_t line_of(keel_str_t text, const char *kind) {
    return (keel_page_line_t){.text = text,
                              .kind = keel_quick_hash(keel_str_bytes(keel_str(kind)))};
}

static void table_of(const keel_page_lines_t *olds, const keel_page_lines_t *news, size_t around,
                     keel_buffer_t *out) {
    keel_arena_t arena;
    keel_page_rows_t rows;
    keel_arena_initialize(&arena, 0);
    keel_buffer_initialize(out, 0);
    assert_ok(keel_page_align_lines(olds, news, &arena, &rows));
    assert_ok(keel_page_table(olds, news, &rows, around, &arena, out));
    keel_arena_deinitialize(&arena);
}

// The table of two lines that stand side by side.
static void pair_of(keel_str_t a, keel_str_t b, keel_buffer_t *out) {
    keel_page_line_t old_line = line_of(a, "k"), new_line = line_of(b, "k");
    const keel_page_lines_t olds = {&old_line, 1}, news = {&new_line, 1};
    table_of(&olds, &news, 1, out);
}

// ---- words -------------------------------------------------------------------------------------

static void assert_cells(keel_str_t a, keel_str_t b, const char *old_cell, const char *new_cell) {
    keel_buffer_t out, expected;
    pair_of(a, b, &out);
    keel_buffer_initialize(&expected, 0);
    keel_buffer_format(&expected, "<td class=\"old\">%s</td><td class=\"new\">%s</td>", old_cell,
                       new_cell);
    if (!strstr(keel_buffer_cstr(&out), keel_buffer_cstr(&expected)))
        fail_msg("%s is not in %s", keel_buffer_cstr(&expected), keel_buffer_cstr(&out));
    keel_buffer_deinitialize(&expected);
    keel_buffer_deinitialize(&out);
}

#define CELLS(a, b, old_cell, new_cell) assert_cells(KEEL_STR(a), KEEL_STR(b), old_cell, new_cell)

static void a_word_is_a_name_a_size_or_one_sign(void **state) {
    (void)state;
    CELLS("f(a_9.Z)", "f(a_8.Z)", "f(<del>a_9.Z</del>)", "f(<ins>a_8.Z</ins>)");
    CELLS("az09AZ+q", "az09AZ+r", "az09AZ+<del>q</del>", "az09AZ+<ins>r</ins>");
    CELLS("1x90x2xf32", "1x91x2xf32", "1x<del>90</del>x2xf32", "1x<ins>91</ins>x2xf32");
    CELLS("x9", "x8", "<del>x9</del>", "<ins>x8</ins>");                 // a name
    CELLS("1.5e3x", "1.5e4x", "<del>1.5e3x</del>", "<ins>1.5e4x</ins>"); // no sizes
    CELLS("caf\xc3\xa9-", "cafe-", "<del>caf\xc3\xa9</del>-", "<ins>cafe</ins>-");
    CELLS("a+b", "a-b", "a<del>+</del>b", "a<ins>-</ins>b");
    CELLS("a[b", "a[b]", "a[b", "a[b<ins>]</ins>");
    CELLS("[ab]", "[cd]", "[<del>ab</del>]", "[<ins>cd</ins>]");
    CELLS("[AB`", "[CD`", "[<del>AB</del>`", "[<ins>CD</ins>`");
    CELLS("/1:", "/2:", "/<del>1</del>:", "/<ins>2</ins>:");
    CELLS("/8:", "/9:", "/<del>8</del>:", "/<ins>9</ins>:");
    CELLS("{z@", "{y@", "{<del>z</del>@", "{<ins>y</ins>@");
    CELLS("/a{", "/y{", "/<del>a</del>{", "/<ins>y</ins>{");
}

// What stands behind a line in memory is not part of its last word.
static void a_word_ends_with_its_line(void **state) {
    (void)state;
    assert_cells((keel_str_t){"abcd", 2}, KEEL_STR("+"), "<del>ab</del>", "<ins>+</ins>");
    assert_cells((keel_str_t){"12xf", 2}, KEEL_STR("+"), "<del>12</del>", "<ins>+</ins>");
    assert_cells((keel_str_t){"%12", 2}, KEEL_STR("+"), "<del>%1</del>", "<ins>+</ins>");
}

static void one_mark_spans_words_and_the_blanks_between_them(void **state) {
    (void)state;
    CELLS("x a b y", "x y", "x <del>a b </del>y", "x y");
    CELLS("a b", "c d", "<del>a b</del>", "<ins>c d</ins>");
    CELLS("a = b", "c = d", "<del>a</del> = <del>b</del>", "<ins>c</ins> = <ins>d</ins>");
}

// Values without a pair stand outside of what is shown.
static void values_that_are_not_shown_count_as_equal(void **state) {
    (void)state;
    CELLS("f %1, a", "f %27, b", "f %1, <del>a</del>", "f %27, <ins>b</ins>");
    // No number of a value.
    CELLS("f %, a", "f %2, a", "f <del>%</del>, a", "f <ins>%2</ins>, a");
    CELLS("f %4294967296", "f %1", "f <del>%4294967296</del>", "f <ins>%1</ins>");
}

static size_t longest_common(const char *a, const char *b) {
    if (!*a || !*b) return 0;
    if (*a == *b) return 1 + longest_common(a + 1, b + 1);
    size_t left = longest_common(a + 1, b), right = longest_common(a, b + 1);
    return left > right ? left : right;
}

// What a cell has outside of its marks.
static void unmarked(const keel_buffer_t *page, const char *side, const char *mark, char out[32]) {
    char open[16], close[16], cell[32];
    snprintf(open, sizeof open, "<%s>", mark);
    snprintf(close, sizeof close, "</%s>", mark);
    snprintf(cell, sizeof cell, "<td class=\"%s\">", side);
    const char *at = strstr(keel_buffer_cstr(page), cell);
    assert_non_null(at);
    at += strlen(cell);
    while (*at != '<' || strncmp(at, "</td>", 5) != 0) {
        if (strncmp(at, open, strlen(open)) == 0) {
            at = strstr(at, close);
            assert_non_null(at);
            at += strlen(close);
        } else {
            *out++ = *at++;
        }
    }
    *out = 0;
}

// As few words as possible are marked: all but a longest common sequence. Each sign is a word.
static void as_few_words_as_possible_are_marked(void **state) {
    (void)state;
    uint64_t random = 12345;
    for (int round = 0; round < 400; ++round) {
        char texts[2][9] = {"", ""}, left[2][32];
        for (int side = 0; side < 2; ++side) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            size_t size = 1 + (random >> 60) % 8;
            for (size_t i = 0; i < size; ++i)
                texts[side][i] = "+-*"[(random >> (8 + 4 * i)) % 3];
        }
        if (strcmp(texts[0], texts[1]) == 0) continue;
        keel_buffer_t out;
        pair_of(keel_str(texts[0]), keel_str(texts[1]), &out);
        unmarked(&out, "old", "del", left[0]);
        unmarked(&out, "new", "ins", left[1]);
        assert_string_equal(left[0], left[1]);
        if (strlen(left[0]) != longest_common(texts[0], texts[1]))
            fail_msg("%s and %s share more than %s", texts[0], texts[1], left[0]);
        keel_buffer_deinitialize(&out);
    }
}

// The 256th word is the rest of its line.
static void a_line_of_many_words_is_shown_whole(void **state) {
    (void)state;
    char a[601], b[601], cell[700];
    memset(a, '+', 600);
    memset(b, '+', 600);
    a[600] = b[600] = 0;
    b[599] = '-';
    snprintf(cell, sizeof cell, "<td class=\"new\">%.255s<ins>%s</ins></td>", b, b + 255);
    keel_buffer_t out;
    pair_of(keel_str(a), keel_str(b), &out);
    assert_has(&out, cell);
    keel_buffer_deinitialize(&out);
}

// ---- rows --------------------------------------------------------------------------------------

enum { LINES = 200 };

typedef struct list_t {
    char texts[LINES][32];
    keel_page_line_t items[LINES];
} list_t;

// Lines that are equal on both sides, but for those from `first` on, `count` of them.
static void table_of_lines(size_t lines, size_t first, size_t count, size_t around,
                           keel_buffer_t *out) {
    static list_t a, b;
    for (size_t i = 0; i < lines; ++i) {
        char kind[32];
        bool differs = i >= first && i < first + count;
        snprintf(kind, sizeof kind, "%zu", i);
        snprintf(a.texts[i], sizeof a.texts[i], "row %zu", i);
        snprintf(b.texts[i], sizeof b.texts[i], differs ? "now %zu" : "row %zu", i);
        a.items[i] = line_of(keel_str(a.texts[i]), kind);
        b.items[i] = line_of(keel_str(b.texts[i]), kind);
    }
    const keel_page_lines_t olds = {a.items, lines}, news = {b.items, lines};
    table_of(&olds, &news, around, out);
}

static size_t count_of(const keel_buffer_t *page, const char *part) {
    size_t count = 0;
    for (const char *at = keel_buffer_cstr(page); (at = strstr(at, part)); at += strlen(part))
        ++count;
    return count;
}

static void equal_rows_stand_only_beside_one_that_differs(void **state) {
    (void)state;
    keel_buffer_t out;
    table_of_lines(20, 9, 1, 2, &out);
    assert_int_equal(count_of(&out, "<tr class=\"same\">"), 4);
    assert_int_equal(count_of(&out, "<tr class=\"changed\">"), 1);
    const char *text = keel_buffer_cstr(&out);
    const char *before = strstr(text, "7 equal lines"), *first = strstr(text, ">row 7<"),
               *last = strstr(text, ">row 11<"), *after = strstr(text, "8 equal lines");
    assert_true(before && first && last && after);
    assert_true(before < first && first < last && last < after);
    keel_buffer_deinitialize(&out);
    // At the edges nothing is left out.
    table_of_lines(5, 2, 1, 2, &out);
    assert_int_equal(count_of(&out, "<tr class=\"same\">"), 4);
    assert_lacks(&out, "equal line");
    keel_buffer_deinitialize(&out);
    table_of_lines(5, 0, 0, SIZE_MAX, &out);
    assert_int_equal(count_of(&out, "<tr class=\"same\">"), 5);
    keel_buffer_deinitialize(&out);
}

static void a_long_table_is_cut_and_counts_what_differs_in_the_rest(void **state) {
    (void)state;
    keel_buffer_t out;
    table_of_lines(100, 10, 70, 1, &out);
    assert_int_equal(count_of(&out, "<tr class=\"changed\">"), 59); // and the equal one before
    assert_has(&out, "and 11 lines more</p>");
    assert_has(&out, "9 equal lines");
    assert_lacks(&out, "19 equal lines");
    keel_buffer_deinitialize(&out);
    table_of_lines(100, 10, 59, 1, &out);
    assert_lacks(&out, "more</p>");
    assert_has(&out, "31 equal lines"); // the row after the last that fits is one of them
    keel_buffer_deinitialize(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_is_a_name_a_size_or_one_sign),
        cmocka_unit_test(a_word_ends_with_its_line),
        cmocka_unit_test(one_mark_spans_words_and_the_blanks_between_them),
        cmocka_unit_test(values_that_are_not_shown_count_as_equal),
        cmocka_unit_test(as_few_words_as_possible_are_marked),
        cmocka_unit_test(a_line_of_many_words_is_shown_whole),
        cmocka_unit_test(equal_rows_stand_only_beside_one_that_differs),
        cmocka_unit_test(a_long_table_is_cut_and_counts_what_differs_in_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
