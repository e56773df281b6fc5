// The charts of a report: what their axes, bars and lines stand for.
#define _GNU_SOURCE
#include "page_help.h"

#define START                                                                                      \
    "{\"event\":\"start\",\"t\":1000,\"pid\":1,\"argv\":[\"python\",\"train.py\"],\"cwd\":\"/w\"," \
    "\"mode\":\"on\"}\n"

// Adds a compile of the program `number`, `after` seconds from the beginning, before which the
// program 0 ran `executes` times more.
static void add_compile(keel_buffer_t *journal, unsigned number, double after, double seconds,
                        unsigned executes) {
    keel_buffer_format(journal,
                       "{\"event\":\"compile\",\"t\":%.3f,\"pid\":1,\"program\":\"p%u\",\"key\":"
                       "\"k%u\",\"name\":\"f%u\",\"seconds\":%g,\"executes\":{\"p0\":%u}}\n",
                       1000 + after, number, number, number, seconds, executes);
}

// Ends the run `after` seconds from its beginning and makes its page.
static void end_run(keel_buffer_t *journal, double after, unsigned executes, keel_buffer_t *page) {
    keel_buffer_format(journal,
                       "{\"event\":\"end\",\"t\":%.3f,\"pid\":1,\"wall\":%g,\"executes\":{\"p0\":"
                       "%u}}\n",
                       1000 + after, after, executes);
    make_page(keel_buffer_cstr(journal), NULL, page);
    keel_buffer_deinitialize(journal);
}

static void begin_run(keel_buffer_t *journal) {
    keel_buffer_initialize(journal, 0);
    keel_buffer_text(journal, START);
}

// A run of as many steps with compiles of one second before the first and before the step `second`;
// 0: only the first.
static void page_of_steps(unsigned steps, unsigned second, keel_buffer_t *page) {
    keel_buffer_t journal;
    begin_run(&journal);
    add_compile(&journal, 0, 0, 1, 0);
    if (second) add_compile(&journal, 1, 5, 1, second - 1);
    end_run(&journal, 10, second ? steps - second + 1 : steps, page);
}

// The labels below the first chart and where they stand, "0.00% 0 s, 20.00% 2.0 s".
static void labels_of(const keel_buffer_t *page, char out[400]) {
    const char *at = strstr(keel_buffer_cstr(page), "<div class=\"xs\""), *end;
    assert_non_null(at);
    assert_non_null(end = strstr(at, "</div>"));
    char *to = out;
    *out = 0;
    while ((at = strstr(at, "left:")) && at < end) {
        const char *label = strchr(at, '>');
        to += snprintf(to, (size_t)(out + 400 - to), "%s%.*s %.*s", to > out ? ", " : "",
                       (int)strcspn(at + 5, "\""), at + 5, (int)strcspn(label + 1, "<"), label + 1);
        at = label;
    }
}

static void assert_labels(const keel_buffer_t *page, const char *expected) {
    char labels[400];
    labels_of(page, labels);
    assert_string_equal(labels, expected);
}

// ---- the axis of steps -------------------------------------------------------------------------

static void steps_are_labeled_at_round_numbers(void **state) {
    (void)state;
    static const struct {
        unsigned steps, second;
        const char *labels;
    } runs[] = {
        {2, 2, "25.00% 1, 75.00% 2"},
        {10, 7, "5.00% 1, 15.00% 2, 35.00% 4, 55.00% 6, 75.00% 8"},
        {25, 20, "2.00% 1, 18.00% 5, 38.00% 10, 58.00% 15, 78.00% 20"},
        {120, 100, "0.42% 1, 41.25% 50, 82.92% 100"},
        // Several steps in one column: a label stands where its step begins.
        {240, 200, "0.00% 1, 20.42% 50, 41.25% 100, 62.08% 150, 82.92% 200"},
        // Little more than the last compile, not the long quiet end: 40 + 10 + 8 steps.
        {1000, 40, "0.86% 1, 33.62% 20, 68.10% 40"},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        keel_buffer_t page;
        page_of_steps(runs[i].steps, runs[i].second, &page);
        assert_labels(&page, runs[i].labels);
        keel_buffer_deinitialize(&page);
    }
}

static void a_quiet_end_is_left_out_only_if_it_is_most_of_the_run(void **state) {
    (void)state;
    static const struct {
        unsigned steps, second;
        const char *quiet;
    } runs[] = {{18, 0, NULL},
                {19, 0, "from step 2 to the end, step 19;"},
                {96, 40, NULL},
                {97, 40, "from step 41 to the end, step 97;"}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        keel_buffer_t page;
        page_of_steps(runs[i].steps, runs[i].second, &page);
        if (runs[i].quiet)
            assert_has(&page, runs[i].quiet);
        else
            assert_lacks(&page, "No program was new from step");
        keel_buffer_deinitialize(&page);
    }
}

// At most 120 columns: from 121 steps on, several share one.
static void a_bar_names_the_steps_that_it_stands_for(void **state) {
    (void)state;
    static const struct {
        unsigned steps, second;
        const char *bar, *row, *hit;
    } runs[] = {
        {10, 5, "<title>step 5: 1 compile, 1.0 s", "<td>step 5</td>",
         "x=\"400.0\" y=\"0\" width=\"100.0\""},
        {120, 120, "<title>step 120: 1 compile, 1.0 s", "<td>step 120</td>",
         "x=\"991.7\" y=\"0\" width=\"8.3\""},
        {121, 121, "<title>steps 121 to 122: 1 compile", "<td>steps 121 to 122</td>",
         "x=\"983.6\" y=\"0\" width=\"16.4\""},
        {200, 100, "<title>steps 99 to 100: 1 compile", "<td>steps 99 to 100</td>",
         "x=\"490.0\" y=\"0\" width=\"10.0\""},
        {200, 101, "<title>steps 101 to 102: 1 compile", "<td>steps 101 to 102</td>",
         "x=\"500.0\" y=\"0\" width=\"10.0\""},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        keel_buffer_t page;
        page_of_steps(runs[i].steps, runs[i].second, &page);
        assert_has(&page, runs[i].bar);
        assert_has(&page, runs[i].row);
        assert_has(&page, runs[i].hit);
        keel_buffer_deinitialize(&page);
    }
}

// ---- the axis of time --------------------------------------------------------------------------

static void without_steps_the_axis_is_the_time_of_the_run(void **state) {
    (void)state;
    keel_buffer_t journal, page;
    begin_run(&journal);
    add_compile(&journal, 0, 1, 1, 0);
    add_compile(&journal, 1, 5, 1, 0);
    add_compile(&journal, 2, 10, 1, 0);
    end_run(&journal, 10, 0, &page);
    assert_labels(&page,
                  "0.00% 0.0&nbsp;ms, 20.00% 2.0&nbsp;s, 40.00% 4.0&nbsp;s, 60.00% 6.0&nbsp;s, "
                  "80.00% 8.0&nbsp;s");
    // 60 columns.
    assert_has(&page, "<title>after 1.0 s: 1 compile, 1.0 s");
    assert_has(&page, "<title>after 5.0 s: 1 compile, 1.0 s");
    assert_has(&page, "<title>after 9.8 s: 1 compile, 1.0 s"); // at the very end: the last one
    assert_has(&page, "x=\"500.0\" y=\"0\" width=\"16.7\"");
    assert_has(&page, "Compile time, by time and cause");
    keel_buffer_deinitialize(&page);
    // An event behind the end of the run has a place too.
    begin_run(&journal);
    add_compile(&journal, 0, 0, 1, 0);
    add_compile(&journal, 1, 20, 1, 0);
    keel_buffer_text(&journal, "{\"event\":\"end\",\"t\":1010,\"pid\":1}\n");
    make_page(keel_buffer_cstr(&journal), NULL, &page);
    assert_labels(&page,
                  "0.00% 0.0&nbsp;ms, 25.00% 5.0&nbsp;s, 50.00% 10.0&nbsp;s, 75.00% 15.0&nbsp;s");
    keel_buffer_deinitialize(&page);
    keel_buffer_deinitialize(&journal);
}

// ---- compile time ------------------------------------------------------------------------------

static void the_scale_ends_at_a_round_number_that_holds_the_highest_bar(void **state) {
    (void)state;
    static const struct {
        double seconds;
        const char *scale;
    } bars[] = {
        {0.0003, "<span>0.5 ms</span><span>0.25 ms</span><span>0</span>"},
        {0.03, "<span>50 ms</span><span>25 ms</span><span>0</span>"},
        {0.5, "<span>500 ms</span><span>250 ms</span><span>0</span>"},
        {0.7, "<span>1 s</span><span>500 ms</span><span>0</span>"},
        {1, "<span>1 s</span><span>500 ms</span><span>0</span>"},
        {1.5, "<span>2 s</span><span>1 s</span><span>0</span>"},
        {3, "<span>5 s</span><span>2.5 s</span><span>0</span>"},
        {7, "<span>10 s</span><span>5 s</span><span>0</span>"},
        {10, "<span>10 s</span><span>5 s</span><span>0</span>"},
        {12, "<span>20 s</span><span>10 s</span><span>0</span>"},
        {4000, "<span>5000 s</span><span>2500 s</span><span>0</span>"},
    };
    for (size_t i = 0; i < sizeof bars / sizeof *bars; ++i) {
        keel_buffer_t journal, page;
        begin_run(&journal);
        add_compile(&journal, 0, 0, bars[i].seconds, 0);
        add_compile(&journal, 1, 1, bars[i].seconds / 2, 3);
        end_run(&journal, 10, 1, &page);
        assert_has(&page, bars[i].scale);
        keel_buffer_deinitialize(&page);
    }
}

// Two compiles of two causes at step 1, one of almost no time at step 3, of ten steps.
static void bars_are_as_high_as_their_share_and_stand_on_each_other(void **state) {
    (void)state;
    keel_buffer_t journal, page;
    begin_run(&journal);
    keel_buffer_text(
        &journal, "{\"event\":\"compile\",\"t\":1001,\"pid\":1,\"program\":\"p0\",\"key\":\"k0\","
                  "\"name\":\"f0\",\"seconds\":2}\n"
                  "{\"event\":\"explain\",\"t\":1001,\"pid\":1,\"program\":\"p0\",\"key\":\"k0\","
                  "\"name\":\"f0\",\"what\":\"compile\",\"seconds\":2,\"roots\":[{\"kind\":"
                  "\"first\"}],\"root_total\":1}\n");
    add_compile(&journal, 1, 2, 3, 0); // not explained
    add_compile(&journal, 2, 3, 0.001, 2);
    add_compile(&journal, 3, 4, 0, 2); // at step 5
    end_run(&journal, 10, 6, &page);
    assert_has(&page, "<title>step 1: 2 compiles, 5.0 s (first 2.0 s, not explained 3.0 s); "
                      "most expensive: f1</title>");
    assert_has(&page, "<title>step 3: 1 compile, 1.0 ms (not explained 1.0 ms); f2</title>");
    assert_has(&page, "<title>step 5: 1 compile, 0.0 ms (no time); f3</title>");
    // Of 200 for 5 s: 3 s at the bottom, 2 s on it; 1 ms can still be seen.
    assert_has(&page, "x=\"32.0\" y=\"80.0\" width=\"36.0\" height=\"120.0\"/>"
                      "<rect class=\"t8\" x=\"32.0\" y=\"0.0\" width=\"36.0\" height=\"80.0\"/>");

    // What took no time has no part of a bar.
    unsigned parts = 0;
    for (const char *at = keel_buffer_cstr(&page); (at = strstr(at, "<rect class=\"t")); ++at)
        ++parts;
    assert_int_equal(parts, 3);
    assert_has(&page, "x=\"232.0\" y=\"197.0\" width=\"36.0\" height=\"3.0\"/>");
    assert_has(&page, "</span>first <span class=\"muted\">2.0&nbsp;s</span>");
    assert_has(&page, "</span>not explained <span class=\"muted\">3.0&nbsp;s</span>");
    assert_lacks(&page, "</span>other <span class=\"muted\">");
    assert_has(&page, "<td>step 1</td><td class=\"number\">2</td><td class=\"number\">5.0&nbsp;s");
    assert_lacks(&page, "<td>step 2</td>");
    keel_buffer_deinitialize(&page);
}

static void a_load_is_no_bar(void **state) {
    (void)state;
    keel_buffer_t journal, page;
    begin_run(&journal);
    add_compile(&journal, 0, 0, 1, 0);
    keel_buffer_text(&journal,
                     "{\"event\":\"load\",\"tier\":\"disk\",\"t\":1002,\"pid\":1,\"program\":\"q\","
                     "\"key\":\"kq\",\"name\":\"q\",\"seconds\":7,\"executes\":{\"p0\":4}}\n");
    end_run(&journal, 10, 5, &page);
    assert_has(&page, "<title>step 1: 1 compile, 1.0 s");
    assert_lacks(&page, "<title>step 5:");
    assert_has(&page, "<span>1 s</span>"); // the scale does not hold the load either
    assert_has(&page, "Different programs: 2 at the end");
    keel_buffer_deinitialize(&page);
}

// ---- different programs ------------------------------------------------------------------------

static void the_curve_steps_up_where_a_program_is_new(void **state) {
    (void)state;
    keel_buffer_t journal, page;
    begin_run(&journal);
    add_compile(&journal, 0, 0, 1, 0);
    add_compile(&journal, 1, 1, 1, 4); // step 5
    add_compile(&journal, 1, 2, 1, 1); // again: no new program
    add_compile(&journal, 2, 3, 1, 1); // step 7
    end_run(&journal, 10, 4, &page);
    // 3 programs on a scale of 5, of 198.
    assert_has(&page, "<path class=\"area\" d=\"M0 200H0.0V160.4H400.0V120.8H500.0V120.8H600.0V81.2"
                      "H1000V200Z\"/>");
    assert_has(&page,
               "<path class=\"curve\" d=\"M0 200H0.0V160.4H400.0V120.8H500.0V120.8H600.0V81.2"
               "H1000\"/>");
    assert_has(&page, "<span>5</span><span>2.5</span><span>0</span>");
    assert_has(&page, "Different programs so far: 3 at the end</figcaption>");
    keel_buffer_deinitialize(&page);
    // One program is half of the least scale.
    page_of_steps(4, 0, &page);
    assert_has(&page, "<path class=\"curve\" d=\"M0 200H0.0V101.0H1000\"/>");
    assert_has(&page, "<span>2</span><span>1</span><span>0</span>");
    keel_buffer_deinitialize(&page);
}

// Of many events some are drawn, with the last among them.
static void a_curve_of_many_programs_has_few_points_and_ends_at_the_last(void **state) {
    (void)state;
    static const unsigned counts[] = {399, 400, 799, 1000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        keel_buffer_t journal, page;
        unsigned count = counts[i];
        begin_run(&journal);
        for (unsigned k = 0; k < count; ++k)
            add_compile(&journal, k, k, 1, k > 0);
        end_run(&journal, count, 1, &page);
        const char *curve = strstr(keel_buffer_cstr(&page), "<path class=\"curve\"");
        assert_non_null(curve);
        unsigned points = 0;
        const char *last = NULL;
        for (const char *at = curve; *at != '/'; ++at)
            if (*at == 'V') {
                ++points;
                last = at;
            }
        assert_true(points <= 400 && points > 150);
        if (count < 400) assert_int_equal(points, count);
        double most = count <= 500 ? 500 : 1000, y = strtod(last + 1, NULL);
        double expected = 200 - count / most * 198;
        assert_true(y > expected - 0.06 && y < expected + 0.06);
        keel_buffer_deinitialize(&page);
    }
}

static void the_lines_of_a_chart_are_in_it(void **state) {
    (void)state;
    keel_buffer_t page;
    page_of_steps(4, 2, &page);
    const char *box = strstr(keel_buffer_cstr(&page), "viewBox=\"0 0 ");
    const char *grid = strstr(keel_buffer_cstr(&page), "<path class=\"grid\" d=\"");
    int width, height, y[3], end[3];
    assert_non_null(box);
    assert_non_null(grid);
    assert_int_equal(sscanf(box, "viewBox=\"0 0 %d %d\"", &width, &height), 2);
    assert_int_equal(sscanf(grid, "<path class=\"grid\" d=\"M0 %dH%dM0 %dH%dM0 %dH%d\"", &y[0],
                            &end[0], &y[1], &end[1], &y[2], &end[2]),
                     6);
    for (int i = 0; i < 3; ++i) {
        assert_in_range(y[i], 0, height);
        assert_int_equal(end[i], width);
    }
    assert_true(y[0] < y[1] && y[1] < y[2]);
    keel_buffer_deinitialize(&page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_labeled_at_round_numbers),
        cmocka_unit_test(a_quiet_end_is_left_out_only_if_it_is_most_of_the_run),
        cmocka_unit_test(a_bar_names_the_steps_that_it_stands_for),
        cmocka_unit_test(without_steps_the_axis_is_the_time_of_the_run),
        cmocka_unit_test(the_scale_ends_at_a_round_number_that_holds_the_highest_bar),
        cmocka_unit_test(bars_are_as_high_as_their_share_and_stand_on_each_other),
        cmocka_unit_test(a_load_is_no_bar),
        cmocka_unit_test(the_curve_steps_up_where_a_program_is_new),
        cmocka_unit_test(a_curve_of_many_programs_has_few_points_and_ends_at_the_last),
        cmocka_unit_test(the_lines_of_a_chart_are_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
