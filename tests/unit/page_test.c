#define _GNU_SOURCE
#include "page_help.h"

#include "page/part.h"

static size_t count_of(const char *text, const char *part) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        ++count;
    return count;
}

#define START                                                                                      \
    "{\"event\":\"start\",\"t\":1000,\"pid\":1,\"argv\":[\"python\",\"train.py\"],\"cwd\":\"/w\"," \
    "\"mode\":\"on\",\"plugin\":{\"path\":\"/p.so\",\"platform\":\"cpu\",\"api_major\":0,"         \
    "\"api_minor\":81}}\n"

// A step that is compiled again for another batch, and once more for a constant.
static const char small_run[] = START
    "{\"event\":\"compile\",\"t\":1001,\"pid\":1,\"program\":\"aa\",\"key\":\"ka\",\"name\":"
    "\"jit_step\",\"ops\":9,\"seconds\":2.0}\n"
    "{\"event\":\"explain\",\"t\":1001,\"pid\":1,\"program\":\"aa\",\"key\":\"ka\",\"name\":"
    "\"jit_step\",\"what\":\"compile\",\"seconds\":2.0,\"roots\":[{\"kind\":\"first\"}],"
    "\"root_total\":1}\n"
    "{\"event\":\"compile\",\"t\":1003,\"pid\":1,\"program\":\"bb\",\"key\":\"kb\",\"name\":"
    "\"jit_step\",\"ops\":9,\"seconds\":3.0,\"recompile\":true,\"executes\":{\"aa\":4}}\n"
    "{\"event\":\"explain\",\"t\":1003,\"pid\":1,\"program\":\"bb\",\"key\":\"kb\",\"name\":"
    "\"jit_step\",\"what\":\"compile\",\"seconds\":3.0,\"recompile\":true,"
    "\"against\":{\"program\":\"aa\",\"name\":\"jit_step\",\"is_ours\":true,\"when\":1001},"
    "\"alike\":0.98,\"roots\":[{\"kind\":\"shape\",\"subject\":\"batch['x']\",\"old\":\"f32[8,4]\","
    "\"new\":\"f32[5,4]\",\"file\":\"/w/train.py\",\"line\":88,\"function\":\"main\",\"folds\":2}],"
    "\"root_total\":1,\"folded\":[{\"kind\":\"shape\",\"subject\":\"dot_general\",\"old\":"
    "\"f32[8,4]\",\"new\":\"f32[5,4]\",\"follows\":0}],\"folded_total\":2,"
    "\"stack\":[{\"file\":\"/w/train.py\",\"line\":88,\"function\":\"main\"}]}\n"
    "{\"event\":\"compile\",\"t\":1004,\"pid\":1,\"program\":\"cc\",\"key\":\"kc\",\"name\":"
    "\"jit_step\",\"ops\":9,\"seconds\":1.0,\"recompile\":true,\"executes\":{\"bb\":1}}\n"
    "{\"event\":\"explain\",\"t\":1004,\"pid\":1,\"program\":\"cc\",\"key\":\"kc\",\"name\":"
    "\"jit_step\",\"what\":\"compile\",\"seconds\":1.0,\"recompile\":true,"
    "\"against\":{\"program\":\"bb\",\"name\":\"jit_step\",\"run\":\"r0\",\"when\":900},"
    "\"roots\":[{\"kind\":\"constant\",\"subject\":\"multiply\",\"old\":\"0.1\",\"new\":\"0.2\","
    "\"note\":\"a note\",\"file\":\"/w/train.py\",\"line\":90}],\"root_total\":1,"
    "\"stack_skipped\":\"no Python in this process\"}\n"
    "{\"event\":\"end\",\"t\":1010,\"pid\":1,\"wall\":12.0,\"executes\":{\"cc\":20}}\n";

// ---- what the page says ------------------------------------------------------------------------

static void a_page_tells_what_was_compiled_again_why_and_where(void **state) {
    (void)state;
    keel_buffer_t page;
    make_page(small_run, NULL, &page);
    assert_true(strncmp(keel_buffer_cstr(&page), KEEL_PAGE_MARK, strlen(KEEL_PAGE_MARK)) == 0);
    static const char *const parts[] = {
        "<html lang=\"en\">",
        "python train.py",
        "<strong>2 recompiles</strong> cost <strong>4.0&nbsp;s</strong>, 33&nbsp;% of the run",
        "Did input shapes change?</h3><p class=\"answer\">Yes, 1 time: 3.0&nbsp;s",
        "Did a branch become active?</h3><p class=\"answer\">No<",
        "id=\"timeline\"",
        "id=\"ledger\"",
        "id=\"patterns\"",
        "id=\"recompiles\"",
        "id=\"programs\"",
        "batch[&#39;x&#39;]",
        "f32[8,4]</code>",
        "train.py:88",
        "title=\"/w/train.py\"",
        "<summary>2 differences that follow</summary>",
        "<summary>Host stack</summary>",
        "None: no Python in this process",
        "(a note)",
        "of the same process, <time datetime=\"1970-01-01T00:16:41Z\">",
        "of run <code>r0</code>",
        "<a href=\"#cause-shape\">shape</a>",
        "<a href=\"#cause-constant\">constant</a>",
        "<div id=\"cause-shape\">",
        "<div id=\"cause-constant\">",
        "98&nbsp;% of the operations",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        assert_has(&page, parts[i]);
    keel_buffer_deinitialize(&page);
}

// Pages name others by links, of which the report keeps those that it has.
static void links_of_pages_are_links_or_words(void **state) {
    (void)state;
    keel_buffer_t page;
    make_page(small_run, NULL, &page);
    const char *causes = strstr(keel_buffer_cstr(&page), "<div id=\"cause-constant\">");
    assert_non_null(causes);
    assert_non_null(strstr(causes, "that is a pattern: counter."));
    assert_null(strstr(causes, "]("));
    assert_null(strstr(causes, ".md)"));
    keel_buffer_deinitialize(&page);
}

static void the_dearest_recompile_stands_first_and_a_first_is_only_counted(void **state) {
    (void)state;
    keel_buffer_t page;
    make_page(small_run, NULL, &page);
    const char *text = keel_buffer_cstr(&page);
    assert_int_equal(count_of(text, "<article "), 2);
    assert_true(strstr(text, "id=\"r1\"") < strstr(text, "id=\"r2\""));
    assert_has(&page, "Not listed: 1 program that was the first of its kind");
    keel_buffer_deinitialize(&page);
}

#define RECOMPILE(name, program, seconds)                                                          \
    "{\"event\":\"compile\",\"t\":1003,\"pid\":1,\"program\":\"" program "\",\"key\":\"k" program  \
    "\",\"name\":\"" name "\",\"ops\":9,\"seconds\":" seconds ",\"recompile\":true}\n"             \
    "{\"event\":\"explain\",\"t\":1003,\"pid\":1,\"program\":\"" program "\",\"key\":\"k" program  \
    "\",\"name\":\"" name "\",\"what\":\"compile\",\"seconds\":" seconds ",\"recompile\":true,"    \
    "\"against\":{\"program\":\"aa\",\"name\":\"" name "\",\"is_ours\":true,\"when\":1001},"       \
    "\"roots\":[{\"kind\":\"shape\",\"subject\":\"" program "\",\"old\":\"f32[8]\",\"new\":"       \
    "\"f32[5]\",\"file\":\"/w/train.py\",\"line\":88}],\"root_total\":1}\n"

// Of several in one column the bar leads to the dearest, wherever it stands among them.
static void a_bar_of_several_links_to_the_dearest(void **state) {
    (void)state;
#define B RECOMPILE("jit_step", "bb", "3.0")
#define C RECOMPILE("jit_step", "cc", "5.0")
#define D RECOMPILE("jit_step", "dd", "4.0")
    static const char *const orders[] = {START C D B, START B C D, START B D C};
#undef B
#undef C
#undef D
    for (int dearest = 0; dearest < 3; ++dearest) {
        char bar[100];
        keel_buffer_t page;
        make_page(orders[dearest], NULL, &page);
        snprintf(bar, sizeof bar,
                 "<a href=\"#r%d\"><g class=\"bar\"><title>after 3.0 s: 3 compiles, 12.0 s",
                 dearest);
        assert_has(&page, bar);
        keel_buffer_deinitialize(&page);
    }
}

// The first advice of a run.
static void advice_of(const char *journal, char out[1000]) {
    keel_buffer_t page;
    make_page(journal, NULL, &page);
    const char *advice = strstr(keel_buffer_cstr(&page), "<p class=\"advice\">");
    assert_non_null(advice);
    snprintf(out, 1000, "%.*s", (int)strcspn(advice, "\n"), advice);
    keel_buffer_deinitialize(&page);
}

static void advice_is_for_the_client_that_ran_or_for_both(void **state) {
    (void)state;
    static const char other[] = "PyTorch/XLA:</span>";
    char jax[1000], torch[1000], both[1000];
    advice_of(START RECOMPILE("jit_step", "bb", "3.0"), jax);
    advice_of(START "{\"event\":\"compile\",\"t\":1001,\"pid\":1,\"program\":\"aa\",\"name\":\"G\","
                    "\"seconds\":1,\"format\":\"hlo\"}\n" RECOMPILE("G", "bb", "3.0"),
              torch);
    advice_of(START RECOMPILE("main", "bb", "3.0"), both);
    assert_non_null(strstr(jax, "drop the short batch"));
    assert_null(strstr(jax, "drop_last"));
    assert_non_null(strstr(torch, "drop_last"));
    assert_null(strstr(torch, "drop the short batch"));
    assert_non_null(strstr(both, "drop the short batch"));
    assert_non_null(strstr(both, "drop_last"));
    assert_null(strstr(jax, other));
    assert_null(strstr(torch, other));
    assert_non_null(strstr(both, other));
}

static void bars_link_to_the_recompile_and_say_what_they_are(void **state) {
    (void)state;
    keel_buffer_t page;
    make_page(small_run, NULL, &page);
    assert_has(&page, "<a href=\"#r1\"><g class=\"bar\"><title>step 5: 1 compile, 3.0 s (shape "
                      "3.0 s); jit_step</title>");
    assert_has(&page, "<title>step 1: 1 compile, 2.0 s (first 2.0 s); jit_step</title>");
    keel_buffer_deinitialize(&page);
}

// A program that is merely like another is the first of its kind: the ledger has none of it.
static void the_chart_and_the_ledger_tell_one_figure_of_a_cause(void **state) {
    (void)state;
    static const char like[] =
        "{\"event\":\"compile\",\"t\":1002,\"pid\":1,\"program\":\"ee\",\"key\":\"ke\",\"name\":"
        "\"jit_eval\",\"ops\":9,\"seconds\":45.0}\n"
        "{\"event\":\"explain\",\"t\":1002,\"pid\":1,\"program\":\"ee\",\"key\":\"ke\",\"name\":"
        "\"jit_eval\",\"what\":\"compile\",\"seconds\":45.0,\"against\":{\"program\":\"aa\","
        "\"name\":\"jit_step\",\"is_ours\":true},\"roots\":[{\"kind\":\"shape\",\"subject\":"
        "\"x\",\"old\":\"f32[8]\",\"new\":\"f32[9]\"}]}\n";
    keel_buffer_t journal, page;
    keel_buffer_initialize(&journal, 0);
    keel_buffer_text(&journal, small_run);
    keel_buffer_text(&journal, like);
    make_page(keel_buffer_cstr(&journal), NULL, &page);
    assert_has(&page, "</span>shape <span class=\"muted\">3.0&nbsp;s</span>");
    assert_has(&page, "</span>first <span class=\"muted\">47.0&nbsp;s</span>");
    assert_has(&page, "<td class=\"number\">1</td><td class=\"number\">3.0&nbsp;s</td>");
    assert_lacks(&page, "48.0&nbsp;s");
    keel_buffer_deinitialize(&page);
    keel_buffer_deinitialize(&journal);
}

static void a_link_within_a_page_leads_to_one_that_the_report_has(void **state) {
    (void)state;
    static const char retrace[] =
        START "{\"event\":\"load\",\"tier\":\"memory\",\"t\":1001,\"pid\":1,\"program\":\"aa\","
              "\"key\":\"ka\",\"name\":\"jit_f\",\"seconds\":0.1}\n"
              "{\"event\":\"explain\",\"t\":1001,\"pid\":1,\"program\":\"aa\",\"key\":\"ka\","
              "\"name\":\"jit_f\",\"what\":\"retrace\",\"seconds\":0.1,\"roots\":[{\"kind\":"
              "\"retrace\"}]}\n";
    keel_buffer_t page;
    make_page(retrace, NULL, &page);
    assert_has(&page,
               "<summary><code>retrace</code>: the client asked again for a program that has "
               "not changed</summary>\n<div id=\"cause-retrace\">");
    assert_has(&page, "<h3>What to do</h3>");
    assert_has(&page, "<li>Call <code>jax.jit</code> at module level");
    assert_has(&page, "<span class=\"line\">import jax</span>");
    assert_lacks(&page, "cause-shape");
    assert_int_equal(count_of(keel_buffer_cstr(&page), "<details"),
                     count_of(keel_buffer_cstr(&page), "</details>"));
    keel_buffer_deinitialize(&page);
}

static void a_page_loads_nothing_and_runs_nothing(void **state) {
    (void)state;
    keel_buffer_t page;
    make_page(small_run, NULL, &page);
    static const char *const none[] = {"<script", "http:",       "https:", "src=",   "@import",
                                       "url(",    "javascript:", "onload", "onclick"};
    for (size_t i = 0; i < sizeof none / sizeof *none; ++i)
        assert_lacks(&page, none[i]);
    assert_has(&page, "default-src 'none'");
    keel_buffer_deinitialize(&page);
}

static void a_run_without_an_event_has_a_page_too(void **state) {
    (void)state;
    keel_buffer_t page;
    make_page("", NULL, &page);
    assert_has(&page, "Nothing was recompiled.");
    assert_has(&page, "Nothing was compiled or loaded.");
    assert_has(&page, "</html>");
    keel_buffer_deinitialize(&page);
}

static void a_run_of_an_older_keel_is_shown_without_causes(void **state) {
    (void)state;
    keel_buffer_t page;
    make_page("{\"event\":\"compile\",\"t\":1,\"pid\":1,\"program\":\"a\",\"name\":\"f\","
              "\"seconds\":1,\"executes\":{\"a\":3}}\n{\"event\":\"end\",\"t\":2,\"pid\":1}\n",
              NULL, &page);
    assert_has(&page, "not explained");
    keel_buffer_deinitialize(&page);
}

// Of one step alone there is nothing to see by steps.
static void the_charts_go_by_steps_from_two_on(void **state) {
    (void)state;
    static const char *const axes[] = {"<span class=\"axis\">time</span>",
                                       "<span class=\"axis\">time</span>",
                                       "<span class=\"axis\">step</span>"};
    for (int steps = 0; steps < 3; ++steps) {
        keel_buffer_t page;
        char journal[400];
        snprintf(journal, sizeof journal,
                 "{\"event\":\"compile\",\"t\":1,\"pid\":1,\"program\":\"a\",\"name\":\"f\","
                 "\"seconds\":1}\n"
                 "{\"event\":\"end\",\"t\":2,\"pid\":1,\"executes\":{\"a\":%d}}\n",
                 steps);
        make_page(journal, NULL, &page);
        assert_has(&page, axes[steps]);
        keel_buffer_deinitialize(&page);
    }
}

static void a_long_quiet_end_is_left_out_of_the_charts_and_told(void **state) {
    (void)state;
    keel_buffer_t page;
    make_page("{\"event\":\"compile\",\"t\":1,\"pid\":1,\"program\":\"a\",\"name\":\"f\","
              "\"seconds\":1}\n"
              "{\"event\":\"end\",\"t\":2,\"pid\":1,\"executes\":{\"a\":100000}}\n",
              NULL, &page);
    assert_has(&page, "No program was new from step 2 to the end, step 100000");
    keel_buffer_deinitialize(&page);
}

// ---- foreign names -----------------------------------------------------------------------------

static void assert_escaped(keel_str_t text, const char *expected) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_page_str(&out, text);
    assert_string_equal(keel_buffer_cstr(&out), expected);
    keel_buffer_deinitialize(&out);
}

#define BAD "\xef\xbf\xbd"

static void text_cannot_leave_its_place(void **state) {
    (void)state;
    assert_escaped(KEEL_STR("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
    assert_escaped(KEEL_STR("a\x1b[31m\0b\r\n"), "a" BAD "[31m" BAD "b" BAD BAD);
    assert_escaped(KEEL_STR("\xff\xc3(\xed\xa0\x80"), BAD BAD "(" BAD BAD BAD);
    // What turns the order of letters, and a control of two bytes.
    assert_escaped(KEEL_STR("x\xe2\x80\xae"
                            "y\xe2\x81\xa6\xc2\x9b"),
                   "x" BAD "y" BAD BAD);
    assert_escaped(KEEL_STR("\xc3\xa9\xe2\x86\x92\xf0\x9f\x98\x80\tz"),
                   "\xc3\xa9\xe2\x86\x92\xf0\x9f\x98\x80    z");
}

static void a_cut_text_ends_between_characters(void **state) {
    (void)state;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_page_cut(&out, "ab\xc3\xa9zz", 3);
    assert_string_equal(keel_buffer_cstr(&out), "ab...");
    keel_buffer_deinitialize(&out);
}

static void a_place_that_nobody_knows_is_named_so(void **state) {
    (void)state;
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_page_place(&out, "", "");
    assert_string_equal(keel_buffer_cstr(&out), "<span class=\"muted\">unknown line</span>");
    keel_buffer_deinitialize(&out);
}

// Every text of every event is the same attempt to break out.
static void no_name_of_a_journal_becomes_markup(void **state) {
    (void)state;
    static const char evil[] = "'\\\"><script>alert(1)</script><b onx=1>&lt;";
    keel_buffer_t journal, page;
    keel_buffer_initialize(&journal, 0);
    const char *const template =
        "{\"event\":\"start\",\"t\":1000,\"pid\":1,\"argv\":[\"@\"],\"cwd\":\"@\",\"host\":\"@\","
        "\"mode\":\"@\",\"plugin\":{\"path\":\"@\",\"platform\":\"@\"}}\n"
        "{\"event\":\"store_error\",\"t\":1000,\"pid\":1,\"message\":\"@\"}\n"
        "{\"event\":\"compile\",\"t\":1001,\"pid\":1,\"program\":\"@\",\"key\":\"@\",\"name\":\"@"
        "\","
        "\"ops\":9,\"seconds\":2.0,\"recompile\":true,\"site\":{\"file\":\"@\",\"line\":3,"
        "\"function\":\"@\",\"call_file\":\"@\",\"call_line\":4}}\n"
        "{\"event\":\"explain\",\"t\":1001,\"pid\":1,\"program\":\"@\",\"key\":\"@\",\"name\":\"@"
        "\","
        "\"what\":\"compile\",\"seconds\":2.0,\"recompile\":true,\"against\":{\"program\":\"@\","
        "\"name\":\"@\",\"run\":\"@\",\"when\":5},\"stack_skipped\":\"@\",\"stack\":[{\"file\":"
        "\"@.py\",\"line\":1,\"function\":\"@\"}],\"roots\":[{\"kind\":\"constant\",\"subject\":"
        "\"@\",\"old\":\"@\",\"new\":\"@\",\"note\":\"@\",\"file\":\"@.py\",\"line\":2,"
        "\"function\":\"@\",\"call_file\":\"@\",\"call_line\":9,\"library_file\":\"@.py\","
        "\"library_line\":7,\"old_op\":0,\"new_op\":1}],"
        "\"root_total\":1,\"folded\":[{\"kind\":\"shape\",\"subject\":\"@\",\"old\":\"@\",\"new\":"
        "\"@\",\"note\":\"@\",\"file\":\"@\",\"line\":2}],\"folded_total\":1}\n";
    for (const char *c = template; *c; ++c)
        if (*c == '@')
            keel_buffer_text(&journal, evil);
        else
            keel_buffer_byte(&journal, (uint8_t)*c);
    make_page(keel_buffer_cstr(&journal), "/nowhere", &page);
    assert_has(&page, "alert(1)");
    assert_lacks(&page, "<script");
    assert_lacks(&page, "<b onx");
    assert_lacks(&page, "onx=1>");
    keel_buffer_deinitialize(&page);
    keel_buffer_deinitialize(&journal);
}

static void the_librarys_line_stands_beside_the_users(void **state) {
    (void)state;
    keel_buffer_t page;
    make_page("{\"event\":\"compile\",\"t\":1001,\"pid\":1,\"program\":\"b\",\"key\":\"b\","
              "\"name\":\"jit_f\",\"ops\":9,\"seconds\":2.0,\"recompile\":true}\n"
              "{\"event\":\"explain\",\"t\":1001,\"pid\":1,\"program\":\"b\",\"key\":\"b\","
              "\"name\":\"jit_f\",\"what\":\"compile\",\"seconds\":2.0,\"recompile\":true,"
              "\"against\":{\"program\":\"a\",\"name\":\"jit_f\",\"is_ours\":true},\"roots\":[{"
              "\"kind\":\"constant\",\"subject\":\"x\",\"old\":\"1\",\"new\":\"2\",\"file\":"
              "\"train.py\",\"line\":2,\"library_file\":\"flax/nnx/compilation.py\","
              "\"library_line\":138}],\"root_total\":1}\n",
              "/nowhere", &page);
    assert_has(&page, ">through</span>");
    assert_has(&page, "flax/nnx/compilation.py:138");
    keel_buffer_deinitialize(&page);
}

// ---- bounds ------------------------------------------------------------------------------------

static void add_recompile(keel_buffer_t *journal, int index, const char *value, int folded) {
    keel_buffer_format(journal,
                       "{\"event\":\"compile\",\"t\":%d,\"pid\":1,\"program\":\"p%d\",\"key\":"
                       "\"k%d\",\"name\":\"jit_f\",\"ops\":9,\"seconds\":%d,\"recompile\":true}\n"
                       "{\"event\":\"explain\",\"t\":%d,\"pid\":1,\"program\":\"p%d\",\"key\":"
                       "\"k%d\",\"name\":\"jit_f\",\"what\":\"compile\",\"seconds\":%d,"
                       "\"recompile\":true,\"against\":{\"program\":\"q\"},\"roots\":[{\"kind\":"
                       "\"constant\",\"file\":\"f%d.py\",\"line\":1,\"old\":\"1\",\"new\":\"",
                       1000 + index, index, index, index + 1, 1000 + index, index, index, index + 1,
                       index);
    keel_buffer_text(journal, value);
    keel_buffer_format(journal, "\"}],\"root_total\":70000,\"folded_total\":90000,\"folded\":[");
    for (int i = 0; i < folded; ++i) {
        keel_buffer_text(journal, i ? ",{\"kind\":\"shape\",\"subject\":\""
                                    : "{\"kind\":\"shape\","
                                      "\"subject\":\"");
        keel_buffer_text(journal, value);
        keel_buffer_text(journal, "\"}");
    }
    keel_buffer_text(journal, "]}\n");
}

static void a_run_of_a_thousand_recompiles_shows_the_dearest_and_counts_the_rest(void **state) {
    (void)state;
    keel_buffer_t journal, page;
    keel_buffer_initialize(&journal, 0);
    keel_buffer_text(&journal, START);
    for (int i = 0; i < 1000; ++i)
        add_recompile(&journal, i, "2", 0);
    make_page(keel_buffer_cstr(&journal), NULL, &page);
    const char *text = keel_buffer_cstr(&page);
    assert_int_equal(count_of(text, "<article "), 200);
    assert_has(&page, "id=\"r999\"");
    assert_lacks(&page, "id=\"r799\"");
    assert_has(&page, "and 300 recompiles more"); // 500 stand in a table
    assert_has(&page, "and 950 lines more");      // of the ledger
    assert_has(&page, "and 69999 causes more");
    assert_has(&page, "and 90000 differences more");
    assert_true(page.size < 2 << 20);
    keel_buffer_deinitialize(&page);
    keel_buffer_deinitialize(&journal);
}

static void a_page_of_huge_names_stays_small_enough_to_open(void **state) {
    (void)state;
    keel_buffer_t journal, page;
    char *value = malloc(60001);
    memset(value, '&', 60000);
    value[60000] = 0;
    keel_buffer_initialize(&journal, 0);
    for (int i = 0; i < 60; ++i)
        add_recompile(&journal, i, value, 20);
    free(value);
    make_page(keel_buffer_cstr(&journal), NULL, &page);
    assert_has(&page, "</html>");
    assert_true(page.size < 8 << 20);
    keel_buffer_deinitialize(&page);
    keel_buffer_deinitialize(&journal);
}

// ---- side by side ------------------------------------------------------------------------------

static keel_page_line_t line_of(const char *text, const char *kind, uint32_t value) {
    return (keel_page_line_t){.text = keel_str(text),
                              .kind = keel_quick_hash(keel_str_bytes(keel_str(kind))),
                              .first_value = value,
                              .value_count = 1};
}

static void rows_of(keel_page_line_t *olds, size_t old_count, keel_page_line_t *news,
                    size_t new_count, keel_buffer_t *out) {
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    keel_buffer_initialize(out, 0);
    const keel_page_lines_t a = {olds, old_count}, b = {news, new_count};
    keel_page_rows_t rows;
    assert_ok(keel_page_align_lines(&a, &b, &arena, &rows));
    assert_ok(keel_page_table(&a, &b, &rows, 1, &arena, out));
    keel_arena_deinitialize(&arena);
}

static void an_added_operation_is_marked_and_the_numbers_that_it_shifts_are_not(void **state) {
    (void)state;
    keel_page_line_t olds[] = {line_of("%1 = tanh %0 : f32", "tanh", 1),
                               line_of("%2 = add %1, %0 : f32", "add", 2),
                               line_of("%3 = sine %2 : f32", "sine", 3)};
    keel_page_line_t news[] = {line_of("%1 = tanh %0 : f32", "tanh", 1),
                               line_of("%2 = multiply %1, %1 : f32", "multiply", 2),
                               line_of("%3 = add %1, %0 : f32", "add", 3),
                               line_of("%4 = sine %3 : f32", "sine", 4)};
    keel_buffer_t out;
    rows_of(olds, 3, news, 4, &out);
    assert_has(&out, "<tr class=\"same\"><td class=\"old\">%1 = tanh %0 : f32</td>");
    assert_has(&out, "<tr class=\"added\"><td class=\"old none\"></td><td class=\"new\">%2 = "
                     "multiply %1, %1 : f32</td></tr>");
    assert_has(&out, "<tr class=\"same\"><td class=\"old\">%2 = add %1, %0 : f32</td><td "
                     "class=\"new\">%3 = add %1, %0 : f32</td></tr>");
    assert_has(&out, "<tr class=\"skip\"><td colspan=\"2\">1 equal line</td></tr>");
    keel_buffer_deinitialize(&out);
}

static void only_the_words_that_changed_are_marked(void **state) {
    (void)state;
    keel_page_line_t olds[] = {line_of("%1 = iota : tensor<8x512xf32>", "iota", 1),
                               line_of("%2 = subtract %1, %0", "subtract", 2)};
    keel_page_line_t news[] = {line_of("%1 = iota : tensor<4x512xbf16>", "iota", 1),
                               line_of("%2 = subtract %0, %1", "subtract", 2)};
    keel_buffer_t out;
    rows_of(olds, 2, news, 2, &out);
    assert_has(&out, "tensor&lt;<del>8</del>x512x<del>f32</del>&gt;");
    assert_has(&out, "tensor&lt;<ins>4</ins>x512x<ins>bf16</ins>&gt;");
    // %1 is known to stand for %1, so operands that changed places are reported.
    assert_int_equal(count_of(keel_buffer_cstr(&out), "class=\"changed\""), 2);
    keel_buffer_deinitialize(&out);
}

static void lists_of_any_length_are_aligned(void **state) {
    (void)state;
    for (size_t olds = 0; olds < 500; olds += 83)
        for (size_t news = 0; news < 500; news += 71) {
            keel_page_line_t a[500], b[500];
            char texts[1000][16];
            for (size_t i = 0; i < olds; ++i) {
                snprintf(texts[i], sizeof texts[i], "a%zu", i * 7 % 97);
                a[i] = line_of(texts[i], texts[i], 0);
            }
            for (size_t i = 0; i < news; ++i) {
                snprintf(texts[500 + i], sizeof *texts, "a%zu", i * 5 % 89);
                b[i] = line_of(texts[500 + i], texts[500 + i], 0);
            }
            keel_arena_t arena;
            keel_arena_initialize(&arena, 0);
            const keel_page_lines_t x = {a, olds}, y = {b, news};
            keel_page_rows_t rows;
            assert_ok(keel_page_align_lines(&x, &y, &arena, &rows));
            uint32_t next_old = 0, next_new = 0; // each line stands once, in order
            for (size_t i = 0; i < rows.count; ++i) {
                if (rows.items[i].old_line != KEEL_PAGE_ABSENT)
                    assert_int_equal(rows.items[i].old_line, next_old++);
                if (rows.items[i].new_line != KEEL_PAGE_ABSENT)
                    assert_int_equal(rows.items[i].new_line, next_new++);
                if (!rows.items[i].differs)
                    assert_string_equal(a[rows.items[i].old_line].text.data,
                                        b[rows.items[i].new_line].text.data);
            }
            assert_int_equal(next_old, olds);
            assert_int_equal(next_new, news);
            keel_arena_deinitialize(&arena);
        }
}

// ---- kept programs -----------------------------------------------------------------------------

typedef struct kept_t {
    place_t place;
    char old_program[KEEL_DIGEST_HEX], new_program[KEEL_DIGEST_HEX];
} kept_t;

static void keep_sample(keel_journal_t *journal, const char *sample, char out[KEEL_DIGEST_HEX]) {
    char *path;
    uint8_t *data;
    size_t size;
    assert_ok(keel_path(&path, "%s/%s", KEEL_TEST_SAMPLES, sample));
    assert_ok(keel_file_read(path, 1 << 24, &data, &size));
    keel_digest_t digest = keel_digest(keel_bytes(data, size));
    keel_digest_hex(&digest, out);
    keel_journal_program(journal, &digest, "mlir", keel_bytes(data, size));
    keel_free(data);
    keel_free(path);
}

static void keep_programs(kept_t *kept, const char *old_sample, const char *new_sample) {
    keel_journal_t *journal;
    place_make(&kept->place);
    assert_ok(keel_journal_open(kept->place.root, NULL, &journal));
    keep_sample(journal, old_sample, kept->old_program);
    keep_sample(journal, new_sample, kept->new_program);
    keel_journal_close(journal);
}

static void journal_of(const kept_t *kept, const char *root, keel_buffer_t *out) {
    keel_buffer_initialize(out, 0);
    keel_buffer_format(out,
                       START "{\"event\":\"explain\",\"t\":1001,\"pid\":1,\"program\":\"%s\","
                             "\"name\":\"f\",\"what\":\"compile\",\"seconds\":1,\"recompile\":true,"
                             "\"against\":{\"program\":\"%s\"},\"roots\":[%s],\"root_total\":1}\n",
                       kept->new_program, kept->old_program, root);
}

static void page_of_kept(const kept_t *kept, const char *root, keel_buffer_t *page) {
    keel_buffer_t journal;
    journal_of(kept, root, &journal);
    make_page(keel_buffer_cstr(&journal), kept->place.root, page);
    keel_buffer_deinitialize(&journal);
}

static void programs_are_shown_side_by_side_where_they_differ(void **state) {
    (void)state;
    kept_t kept;
    keel_buffer_t page;
    keep_programs(&kept, "mlir/gpt_step.mlir", "mlir/scan_while.mlir");
    page_of_kept(&kept, "{\"kind\":\"structure\",\"old_op\":20,\"new_op\":5}", &page);
    assert_has(&page, "Function <code>main</code>: operations 15 to 25 of");
    assert_has(&page, "<table class=\"sides\">");
    assert_has(&page, "class=\"old told\"");
    assert_has(&page, "class=\"new told\"");
    keel_buffer_deinitialize(&page);

    page_of_kept(&kept, "{\"kind\":\"structure\",\"new_op\":5}", &page);
    assert_has(&page, "<table class=\"sides\">");
    assert_lacks(&page, "class=\"old told\"");
    keel_buffer_deinitialize(&page);

    page_of_kept(&kept, "{\"kind\":\"shape\",\"subject\":\"x\"}", &page);
    assert_has(&page, "Arguments and results");
    assert_has(&page, "<td class=\"new\">");
    assert_has(&page, "lines more</p>"); // the two have nothing in common
    keel_buffer_deinitialize(&page);

    // Causes that no program shows have no view.
    page_of_kept(&kept, "{\"kind\":\"flag\",\"subject\":\"x\"}", &page);
    assert_lacks(&page, "Side by side</summary>");
    keel_buffer_deinitialize(&page);
    place_remove(&kept.place);
}

static void operations_that_a_program_does_not_have_are_passed_over(void **state) {
    (void)state;
    kept_t kept;
    keel_buffer_t page;
    keep_programs(&kept, "mlir/gpt_step.mlir", "mlir/scan_while.mlir");
    page_of_kept(&kept, "{\"kind\":\"size\",\"old_op\":4000000000,\"new_op\":4000000}", &page);
    assert_lacks(&page, "<table class=\"sides\">");
    keel_buffer_deinitialize(&page);
    // Every operation, and one more.
    run_t run;
    keel_buffer_t journal;
    journal_of(&kept, "{\"kind\":\"size\",\"old_op\":1,\"new_op\":1}", &journal);
    assert_ok(read_run(keel_buffer_cstr(&journal), &run));
    for (uint32_t op = 0; op < 80; ++op) {
        run.why.entries[0].roots[0].old_op = op % 3 ? op : KEEL_NONE;
        run.why.entries[0].roots[0].new_op = op % 3 == 1 ? KEEL_NONE : op;
        keel_buffer_initialize(&page, 0);
        assert_ok(page_of(&run, kept.place.root, &page));
        keel_buffer_deinitialize(&page);
    }
    keel_buffer_deinitialize(&journal);
    close_run(&run);
    place_remove(&kept.place);
}

static void a_program_that_is_gone_or_damaged_is_told_of(void **state) {
    (void)state;
    kept_t kept;
    keel_buffer_t page;
    char *path;
    static const char root[] = "{\"kind\":\"size\",\"old_op\":1,\"new_op\":1}";
    keep_programs(&kept, "mlir/gpt_step.mlir", "mlir/scan_while.mlir");
    assert_ok(keel_journal_find_program(kept.place.root, kept.new_program, &path));
    write_bytes(path, "nothing", 7);
    page_of_kept(&kept, root, &page);
    assert_has(&page, "The program after cannot be shown: ");
    keel_buffer_deinitialize(&page);
    assert_ok(keel_file_remove(path));
    page_of_kept(&kept, root, &page);
    assert_has(&page, "The program after cannot be shown: no longer kept.");
    keel_buffer_deinitialize(&page);
    keel_free(path);
    place_remove(&kept.place);
}

// ---- the timeline ------------------------------------------------------------------------------

static void the_timeline_has_compiles_by_step_and_which_explanation_is_theirs(void **state) {
    (void)state;
    run_t run;
    keel_timeline_t timeline;
    assert_ok(read_run(small_run, &run));
    assert_ok(keel_timeline_make(&run.why.run, &timeline));
    assert_int_equal(timeline.count, 3);
    assert_int_equal(timeline.steps, run.why.run.steps);
    assert_int_equal(timeline.steps, 25);
    static const uint64_t steps[] = {1, 5, 6};
    for (size_t i = 0; i < 3; ++i) {
        assert_int_equal(timeline.events[i].step, steps[i]);
        assert_int_equal(timeline.events[i].programs, i + 1);
        assert_int_equal(timeline.events[i].entry, i);
    }
    assert_true(timeline.duration == 10);
    keel_timeline_deinitialize(&timeline);
    close_run(&run);
}

static void a_load_from_memory_is_no_event_of_the_timeline(void **state) {
    (void)state;
    keel_timeline_t timeline;
    static const char journal[] =
        "{\"event\":\"load\",\"t\":1,\"pid\":1,\"program\":\"a\",\"key\":\"k\",\"name\":\"f\","
        "\"tier\":\"disk\"}\n"
        "{\"event\":\"load\",\"t\":2,\"pid\":1,\"program\":\"a\",\"key\":\"k\",\"name\":\"f\","
        "\"tier\":\"memory\"}\n"
        "{\"event\":\"compile\",\"t\":3,\"pid\":1,\"program\":\"b\",\"key\":\"k\",\"name\":\"f\"}"
        "\n";
    keel_run_t run;
    assert_ok(keel_run_parse(keel_str_bytes(keel_str(journal)), "r", "", 0, &run));
    assert_ok(keel_timeline_make(&run, &timeline));
    assert_int_equal(timeline.count, 2);
    assert_true(timeline.events[0].is_load);
    assert_int_equal(timeline.events[1].programs, 1); // one key
    keel_timeline_deinitialize(&timeline);
    keel_run_deinitialize(&run);
}

// ---- failures ----------------------------------------------------------------------------------

#ifdef KEEL_FAULTS
static void a_failed_allocation_is_reported_and_never_a_page_that_lacks_something(void **state) {
    (void)state;
    kept_t kept;
    keel_buffer_t journal;
    run_t run;
    keep_programs(&kept, "mlir/scan_while.mlir", "mlir/linalg.mlir");
    journal_of(&kept, "{\"kind\":\"size\",\"old_op\":3,\"new_op\":4,\"file\":\"x.py\",\"line\":2}",
               &journal);
    assert_ok(read_run(keel_buffer_cstr(&journal), &run));
    keel_buffer_t whole;
    keel_buffer_initialize(&whole, 0);
    assert_ok(page_of(&run, kept.place.root, &whole));
    for (uint64_t n = 1, failures = 0;; ++n) {
        assert_true(n < 10000);
        keel_buffer_t page;
        keel_buffer_initialize(&page, 0);
        keel_fault_arm(KEEL_FAULT_ALLOC, n);
        keel_status_t status = page_of(&run, kept.place.root, &page);
        uint64_t seen = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        failures += status != NULL;
        // Readers give memory back by an allocation that may fail; the page is the same then.
        if (!status) assert_string_equal(keel_buffer_cstr(&page), keel_buffer_cstr(&whole));
        keel_status_ignore(status);
        keel_buffer_deinitialize(&page);
        if (seen < n) {
            assert_true(failures > 50);
            break;
        }
    }
    keel_buffer_deinitialize(&whole);
    for (uint64_t n = 1;; ++n) {
        assert_true(n < 10000);
        keel_timeline_t timeline;
        keel_fault_arm(KEEL_FAULT_ALLOC, n);
        keel_status_t status = keel_timeline_make(&run.why.run, &timeline);
        uint64_t seen = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        bool failed = status;
        keel_status_ignore(status);
        keel_timeline_deinitialize(&timeline);
        if (seen < n) break;
        assert_true(failed);
    }
    close_run(&run);
    keel_buffer_deinitialize(&journal);
    place_remove(&kept.place);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_tells_what_was_compiled_again_why_and_where),
        cmocka_unit_test(links_of_pages_are_links_or_words),
        cmocka_unit_test(the_dearest_recompile_stands_first_and_a_first_is_only_counted),
        cmocka_unit_test(a_bar_of_several_links_to_the_dearest),
        cmocka_unit_test(advice_is_for_the_client_that_ran_or_for_both),
        cmocka_unit_test(bars_link_to_the_recompile_and_say_what_they_are),
        cmocka_unit_test(the_chart_and_the_ledger_tell_one_figure_of_a_cause),
        cmocka_unit_test(a_link_within_a_page_leads_to_one_that_the_report_has),
        cmocka_unit_test(a_page_loads_nothing_and_runs_nothing),
        cmocka_unit_test(a_run_without_an_event_has_a_page_too),
        cmocka_unit_test(a_run_of_an_older_keel_is_shown_without_causes),
        cmocka_unit_test(the_charts_go_by_steps_from_two_on),
        cmocka_unit_test(a_long_quiet_end_is_left_out_of_the_charts_and_told),
        cmocka_unit_test(text_cannot_leave_its_place),
        cmocka_unit_test(a_cut_text_ends_between_characters),
        cmocka_unit_test(a_place_that_nobody_knows_is_named_so),
        cmocka_unit_test(no_name_of_a_journal_becomes_markup),
        cmocka_unit_test(the_librarys_line_stands_beside_the_users),
        cmocka_unit_test(a_run_of_a_thousand_recompiles_shows_the_dearest_and_counts_the_rest),
        cmocka_unit_test(a_page_of_huge_names_stays_small_enough_to_open),
        cmocka_unit_test(an_added_operation_is_marked_and_the_numbers_that_it_shifts_are_not),
        cmocka_unit_test(only_the_words_that_changed_are_marked),
        cmocka_unit_test(lists_of_any_length_are_aligned),
        cmocka_unit_test(programs_are_shown_side_by_side_where_they_differ),
        cmocka_unit_test(operations_that_a_program_does_not_have_are_passed_over),
        cmocka_unit_test(a_program_that_is_gone_or_damaged_is_told_of),
        cmocka_unit_test(the_timeline_has_compiles_by_step_and_which_explanation_is_theirs),
        cmocka_unit_test(a_load_from_memory_is_no_event_of_the_timeline),
#ifdef KEEL_FAULTS
        cmocka_unit_test(a_failed_allocation_is_reported_and_never_a_page_that_lacks_something),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
