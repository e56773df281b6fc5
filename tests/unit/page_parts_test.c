// The parts of a report beside the charts: the head, totals, the ledger, patterns, recompiles,
// programs and the pages of causes.
#define _GNU_SOURCE
#include "page_help.h"

#include "page/part.h"

#define START(more)                                                                                \
    "{\"event\":\"start\",\"t\":1000,\"pid\":1,\"argv\":[\"python\",\"train.py\"],\"cwd\":\"/w\"," \
    "\"mode\":\"on\"" more "}\n"
#define END(wall) "{\"event\":\"end\",\"t\":1010,\"pid\":1,\"wall\":" wall "}\n"
#define COMPILE(program, seconds, more)                                                            \
    "{\"event\":\"compile\",\"t\":1001,\"pid\":1,\"program\":\"" program "\",\"key\":\"k" program  \
    "\",\"name\":\"jit_step\",\"ops\":9,\"seconds\":" seconds more "}\n"
#define EXPLAIN(program, seconds, more)                                                            \
    "{\"event\":\"explain\",\"t\":1001,\"pid\":1,\"program\":\"" program "\",\"key\":\"k" program  \
    "\",\"name\":\"jit_step\",\"seconds\":" seconds more "}\n"
#define AGAIN                                                                                      \
    ",\"what\":\"compile\",\"recompile\":true,\"against\":{\"program\":\"aa\",\"name\":"           \
    "\"jit_step\",\"is_ours\":true,\"when\":1001}"
#define ROOT(kind, subject, old_value, new_value, line)                                            \
    ",\"roots\":[{\"kind\":\"" kind "\",\"subject\":\"" subject "\",\"old\":\"" old_value          \
    "\",\"new\":\"" new_value "\",\"file\":\"/w/train.py\",\"line\":" line                         \
    ",\"function\":\"main\"}],\"root_total\":1"
// A recompile for one difference.
#define RECOMPILE(program, seconds, kind, subject, old_value, new_value, line)                     \
    COMPILE(program, seconds, ",\"recompile\":true")                                               \
    EXPLAIN(program, seconds, AGAIN ROOT(kind, subject, old_value, new_value, line))

static void page_for(const char *journal, keel_buffer_t *page) {
    make_page(journal, NULL, page);
}

static size_t count_of(const keel_buffer_t *page, const char *part) {
    size_t count = 0;
    for (const char *at = keel_buffer_cstr(page); (at = strstr(at, part)); at += strlen(part))
        ++count;
    return count;
}

// NULL: it may have or lack anything.
static void assert_page(const char *journal, const char *has, const char *lacks) {
    keel_buffer_t page;
    page_for(journal, &page);
    if (has) assert_has(&page, has);
    if (lacks) assert_lacks(&page, lacks);
    keel_buffer_deinitialize(&page);
}

// ---- the head ----------------------------------------------------------------------------------

static void the_frame_of_the_page_is_filled_and_shows_no_slot(void **state) {
    (void)state;
    keel_buffer_t page;
    page_for(START("") COMPILE("aa", "1", ""), &page);
    assert_has(&page, "<title>keel report: python train.py</title>");
    assert_has(&page, "<h1><code>python train.py</code></h1>\n<p class=\"verdict\">");
    assert_has(&page, "<footer>keel " KEEL_VERSION ", from /r/journal.ndjson</footer>\n</body>\n"
                      "</html>\n");
    assert_lacks(&page, "{{");
    assert_lacks(&page, "Host reads");
    keel_buffer_deinitialize(&page);
    assert_page("", "<h1><code>(command unknown)</code></h1>", "<title>keel report: (");
}

static void the_facts_of_the_run_are_those_that_are_known(void **state) {
    (void)state;
    keel_buffer_t page;
    page_for(START(",\"plugin\":{\"path\":\"/p.so\",\"platform\":\"cpu\",\"api_major\":0,"
                   "\"api_minor\":81}") COMPILE("aa", "1", "") END("12"),
             &page);
    assert_has(&page, "<dt>run</dt><dd>r1</dd>");
    assert_has(&page, "<dt>when</dt><dd><time datetime=\"1970-01-01T00:16:40Z\">1970-01-01 "
                      "00:16:40 UTC</time>, ran 12.0&nbsp;s</dd>");
    assert_has(&page, "<dt>folder</dt><dd>/w</dd>");
    assert_has(&page, "<dt>plugin</dt><dd>/p.so <span class=\"muted\">(platform cpu, PJRT 0.81)");
    assert_has(&page, "<dt>mode</dt><dd>on</dd>");
    keel_buffer_deinitialize(&page);
    page_for("", &page);
    assert_has(&page, "<dt>when</dt><dd>it has no event</dd>");
    assert_lacks(&page, "<dt>folder</dt>");
    assert_lacks(&page, "<dt>plugin</dt>");
    keel_buffer_deinitialize(&page);
    // Two processes, of which one has no end.
    page_for(START("") END("1") "{\"event\":\"start\",\"t\":1001,\"pid\":2,\"argv\":[\"x\"]}\n",
             &page);
    assert_has(&page, ", 2 processes, 1 with no end event in the journal");
    keel_buffer_deinitialize(&page);
    assert_page(START("") END("1"), "ran 10.0&nbsp;s</dd>", "no end event");
}

static void what_was_done_for_the_client_is_a_fact_of_the_run(void **state) {
    (void)state;
    static const char fix[] =
        "{\"event\":\"fix\",\"t\":1001,\"pid\":1,\"name\":\"donation\",\"state\":\"applied\","
        "\"label\":\"defect\",\"reference\":\"a/b#1\",\"client\":\"<x> 2\",\"why\":\"\"}\n";
    char journal[1000];
    snprintf(journal, sizeof journal, "%s%s%s", START(""), fix, END("1"));
    assert_page(journal, "<dt>fix</dt><dd>donation applied, &lt;x&gt; 2 (a/b#1)</dd>", NULL);
    assert_page(START("") END("1"), NULL, "<dt>fix</dt>");
}

static void the_verdict_is_what_was_lost_and_the_share_of_the_run(void **state) {
    (void)state;
    static const char lost[] = RECOMPILE("bb", "3", "shape", "x", "f32[8]", "f32[5]", "88");
    keel_buffer_t journal;
    keel_buffer_initialize(&journal, 0);
    keel_buffer_format(&journal, START("") "%s" END("12"), lost);
    assert_page(keel_buffer_cstr(&journal),
                "<strong>1 recompile</strong> cost <strong>3.0&nbsp;s</strong>, 25&nbsp;% of the "
                "run. Most expensive cause: ",
                "Nothing was recompiled");
    assert_page(keel_buffer_cstr(&journal),
                "; most expensive line: <code class=\"place\" "
                "title=\"/w/train.py\">train.py:88</code>.</p>",
                NULL);
    keel_buffer_deinitialize(&journal);
    // More than the whole run, as processes that compile at once have it, is not a share.
    keel_buffer_initialize(&journal, 0);
    keel_buffer_format(&journal,
                       START("") "%s"
                                 "{\"event\":\"end\",\"t\":1002,\"pid\":1}\n",
                       lost);
    assert_page(keel_buffer_cstr(&journal), "<strong>3.0&nbsp;s</strong>. Most", "of the run.");
    keel_buffer_deinitialize(&journal);
    assert_page(START("") COMPILE("aa", "1", ""), "Nothing was recompiled.",
                "Most expensive cause");
}

static void each_question_has_its_answer(void **state) {
    (void)state;
    keel_buffer_t page;
    page_for(START("") RECOMPILE("bb", "3", "shape", "x", "f32[8]", "f32[5]", "88"), &page);
    assert_has(&page, "<li class=\"yes\"><h3>Did input shapes change?</h3><p class=\"answer\">Yes, "
                      "1 time: 3.0&nbsp;s</p></li>");
    assert_int_equal(count_of(&page, "<li class=\"no\">"), 2);
    assert_int_equal(count_of(&page, "<p class=\"answer\">No</p></li>"), 2);
    keel_buffer_deinitialize(&page);
}

// ---- totals ------------------------------------------------------------------------------------

static void totals_count_what_the_run_did(void **state) {
    (void)state;
    keel_buffer_t page;
    page_for(START("") COMPILE("aa", "1", "") COMPILE(
                 "bb", "2", ",\"executes\":{\"aa\":4}") "{\"event\":\"load\",\"tier\":\"disk\","
                                                        "\"t\":1002,\"pid\":1,\"program\":\"cc\","
                                                        "\"key\":\"kcc\",\"name\":\"g\","
                                                        "\"seconds\":0.5,\"compile_seconds\":7}\n"
                                                        "{\"event\":\"end\",\"t\":1010,\"pid\":1,"
                                                        "\"executes\":{\"aa\":6}}\n",
             &page);
    assert_has(&page, "<li><b>10</b> <span class=\"muted\">steps</span><br><span "
                      "class=\"muted\">flat since step&nbsp;");
    assert_has(&page, "<li><b>3</b> <span class=\"muted\">programs</span></li>");
    assert_has(&page, "<li><b>2</b> <span class=\"muted\">compiles</span><br><span "
                      "class=\"muted\">3.0&nbsp;s</span></li>");
    assert_has(&page, "<li><b>1</b> <span class=\"muted\">load</span><br><span "
                      "class=\"muted\">500&nbsp;ms</span><br><span class=\"muted\">7.0&nbsp;s or "
                      "less to compile them</span></li>");
    assert_has(&page, "<li><b>0</b> <span class=\"muted\">recompiles</span></li>");
    assert_has(&page, "<li><b>10</b> <span class=\"muted\">executions</span></li>");
    assert_lacks(&page, "The cache failed");
    assert_lacks(&page, "The journal is damaged");
    keel_buffer_deinitialize(&page);
    assert_page("", "<li><b>0</b> <span class=\"muted\">loads</span></li>", "flat");
}

static void a_cache_that_failed_and_a_damaged_journal_are_said(void **state) {
    (void)state;
    static const char failure[] =
        "{\"event\":\"store_error\",\"t\":1000,\"pid\":1,\"message\":\"disk <full>\"}\n";
    keel_buffer_t journal, page;
    keel_buffer_initialize(&journal, 0);
    keel_buffer_format(&journal, START("") "%s{\"event\":\n%s", failure, failure);
    page_for(keel_buffer_cstr(&journal), &page);
    assert_has(&page, "<p>The cache failed 2 times; first: disk &lt;full&gt;</p>");
    assert_has(&page, "cannot be read: 1 line, the first of them 3: ");
    keel_buffer_deinitialize(&page);
    keel_buffer_deinitialize(&journal);
}

// ---- the ledger and patterns -------------------------------------------------------------------

// The widths of the ledger's bars are shares of the largest.
static void the_ledger_compares_causes_and_lines(void **state) {
    (void)state;
    keel_buffer_t page;
    page_for(START("") RECOMPILE("bb", "4", "shape", "x", "f32[8]", "f32[5]", "88")
                 RECOMPILE("cc", "1", "constant", "y", "1", "2", "90"),
             &page);
    assert_has(&page, "<caption>By cause</caption>");
    assert_has(&page, "<caption>By source line</caption>");
    assert_int_equal(count_of(&page, "style=\"width:100.0%\""), 2);
    assert_int_equal(count_of(&page, "style=\"width:25.0%\""), 2);
    assert_has(&page, "train.py:90</code> <span class=\"muted\">in main</span></th><td "
                      "class=\"number\">1</td><td class=\"number\">1.0&nbsp;s</td>");
    assert_has(&page, "<p>No recompiles make a pattern.</p>");
    assert_lacks(&page, "class=\"patterns\"");
    keel_buffer_deinitialize(&page);
    assert_page("", "<p>No time was lost to recompiles.</p>", "<caption>");
}

#define COUNTED(program, old_value, new_value)                                                     \
    RECOMPILE(program, "2", "constant", "step", old_value, new_value, "88")

static void a_pattern_has_its_name_place_values_and_page(void **state) {
    (void)state;
    keel_buffer_t page;
    page_for(START("") COUNTED("p1", "1", "2") COUNTED("p2", "2", "3") COUNTED("p3", "3", "4")
                 COUNTED("p4", "4", "5"),
             &page);
    assert_has(&page, "<ul class=\"patterns\">\n<li><p><strong>");
    assert_has(&page, "</strong> <span class=\"muted\">in</span> <code>jit_step</code> <span "
                      "class=\"muted\">at</span> <code class=\"place\" title=\"/w/train.py\">"
                      "train.py:88</code></p>");
    assert_has(&page, "<p><code>step</code>: ");
    assert_has(&page, "; 4 times, 8.0&nbsp;s. <span class=\"muted\">More: <a "
                      "href=\"#cause-counter\">counter</a></span></p></li>\n</ul>");
    assert_has(&page, "<div id=\"cause-counter\">");
    assert_lacks(&page, "No recompiles make a pattern");
    assert_has(&page, ", part of the pattern ");
    keel_buffer_deinitialize(&page);
}

// ---- recompiles --------------------------------------------------------------------------------

static void a_recompile_says_what_the_time_was_for_and_when(void **state) {
    (void)state;
    keel_buffer_t page;
    page_for(START("") COMPILE("aa", "1", "")
                 COMPILE("bb", "3", ",\"recompile\":true,\"executes\":{\"aa\":4}") EXPLAIN(
                     "bb", "3",
                     AGAIN ROOT("shape", "x", "f32[8]", "f32[5]",
                                "88")) "{\"event\":\"load\",\"tier\":\"memory\",\"t\":1003,\"pid\":"
                                       "1,\"program\":\"aa\","
                                       "\"key\":\"kaa\",\"name\":\"jit_step\",\"seconds\":0.5}"
                                       "\n" EXPLAIN(
                                           "aa", "0.5",
                                           ",\"what\":\"retrace\",\"roots\":[{\"kind\":\"retrace\"}"
                                           "]") "{\"event\":\"end\",\"t\":1010,\"pid\":1,"
                                                "\"executes\":{\"aa\":20}}\n",
             &page);
    assert_has(&page,
               "<p class=\"cost\">3.0&nbsp;s<span class=\"muted\"> to compile at step 5</span>");
    assert_has(&page,
               "<p class=\"cost\">500&nbsp;ms<span class=\"muted\"> to load again at step 5");
    assert_has(&page, "<h3 id=\"h1\"><code>jit_step</code>: ");
    assert_has(&page, "<h3 id=\"h0\"><code>jit_step</code>: ");
    assert_int_equal(count_of(&page, "<article "), 2);
    assert_int_equal(count_of(&page, "<article "), count_of(&page, "</article>"));
    keel_buffer_deinitialize(&page);
}

// One that is explained, and eight that were counted after it.
#define RETRACES                                                                                   \
    "{\"event\":\"load\",\"tier\":\"memory\",\"t\":1003,\"pid\":1,\"program\":\"aa\","             \
    "\"key\":\"kaa\",\"name\":\"jit_step\",\"seconds\":0.1,\"executes\":{\"aa\":1}}\n" EXPLAIN(    \
        "aa", "0.1",                                                                               \
        ",\"what\":\"retrace\",\"roots\":[{\"kind\":\"retrace\"}]") "{\"event\":\"load\","         \
                                                                    "\"tier\":\"memory\",\"t\":"   \
                                                                    "1004,\"pid\":1,\"program\":"  \
                                                                    "\"aa\",\"key\":\"kaa\","      \
                                                                    "\"name\":"                    \
                                                                    "\"jit_step\",\"seconds\":0."  \
                                                                    "3,\"overhead_seconds\":0.1,"  \
                                                                    "\"times\":8,\"step\":10,"     \
                                                                    "\"leading\":{\"program\":"    \
                                                                    "\"aa\",\"executes\":9}}\n{"   \
                                                                    "\"event\":\"end\",\"t\":"     \
                                                                    "1010,\"pid\":1,"              \
                                                                    "\"executes\":{\"aa\":19}}\n"

static void retraces_that_were_counted_have_their_number_and_steps(void **state) {
    (void)state;
    enum { SHOWN = 200 };
    keel_buffer_t journal, page;
    page_for(START("") COMPILE("aa", "1", "") RETRACES, &page);
    assert_has(&page,
               "<p class=\"cost\">500&nbsp;ms<span class=\"muted\"> to load again 9 times at "
               "steps 2-10</span>");
    assert_has(&page, "<strong>9 retraces</strong> cost <strong>500&nbsp;ms</strong>");
    keel_buffer_deinitialize(&page);

    keel_buffer_initialize(&journal, 0); // in the table of those that cost less
    keel_buffer_text(&journal, START("") COMPILE("aa", "1", ""));
    for (int i = 0; i < SHOWN; ++i)
        keel_buffer_format(&journal,
                           COMPILE("p%d", "1", ",\"recompile\":true")
                               EXPLAIN("p%d", "1", AGAIN ",\"roots\":[],\"root_total\":0"),
                           i, i, i, i);
    keel_buffer_text(&journal, RETRACES);
    page_for(keel_buffer_cstr(&journal), &page);
    assert_has(&page, "<td class=\"number\">2-10</td>");
    keel_buffer_deinitialize(&page);
    keel_buffer_deinitialize(&journal);
}

// One excerpt and one advice for each line and cause, however many roots have them.
static void roots_of_one_kind_share_their_advice(void **state) {
    (void)state;
    keel_buffer_t page;
    page_for(START("") COMPILE("bb", "3", ",\"recompile\":true") EXPLAIN(
                 "bb", "3",
                 AGAIN
                 ",\"roots\":["
                 "{\"kind\":\"shape\",\"subject\":\"x\",\"old\":\"f32[8]\",\"new\":\"f32[5]\","
                 "\"file\":\"/w/a.py\",\"line\":1,\"folds\":1},"
                 "{\"kind\":\"shape\",\"subject\":\"y\",\"old\":\"\",\"new\":\"f32[5]\","
                 "\"file\":\"/w/a.py\",\"line\":2,\"folds\":2},"
                 "{\"kind\":\"constant\",\"subject\":\"z\",\"file\":\"/w/a.py\",\"line\":3,"
                 "\"call_file\":\"/w/b.py\",\"call_line\":4}],\"root_total\":3"),
             &page);
    assert_int_equal(count_of(&page, "<div class=\"root\">"), 3);
    assert_int_equal(count_of(&page, "<p class=\"advice\">"), 2);
    assert_has(&page, "<span class=\"muted\">and 1 difference that follows</span>");
    assert_has(&page, "<span class=\"muted\">and 2 differences that follow</span>");
    assert_has(&page, "<code class=\"old\">nothing</code>");
    assert_has(&page, "<code class=\"subject\">z</code></p>"); // without values
    assert_int_equal(count_of(&page, "called from"), 1);
    assert_has(&page, "called from</span> <code class=\"place\" title=\"/w/b.py\">b.py:4</code>");
    assert_lacks(&page, "more</p>");
    keel_buffer_deinitialize(&page);
}

static void what_follows_is_folded_with_its_places(void **state) {
    (void)state;
    keel_buffer_t page;
    page_for(START("") COMPILE("bb", "3", ",\"recompile\":true") EXPLAIN(
                 "bb", "3",
                 AGAIN ROOT("shape", "x", "f32[8]", "f32[5]",
                            "1") ",\"folded_total\":1,\"folded\":[{\"kind\":\"shape\",\"subject\":"
                                 "\"add\",\"old\":"
                                 "\"f32[8]\",\"new\":\"f32[5]\",\"file\":\"/w/c.py\",\"line\":7}],"
                                 "\"stack\":[{\"file\":\"/w/d.py\",\"line\":8,\"function\":\"g\"},"
                                 "{\"file\":\"/w/e.py\",\"line\":9,\"function\":\"\"}]"),
             &page);
    assert_has(&page,
               "<summary>1 difference that follows</summary>\n<ul class=\"folded\">\n<li><span "
               "class=\"muted\">shape</span> <code class=\"subject\">add</code> ");
    assert_has(&page,
               "<span class=\"muted\">at</span> <code class=\"place\" title=\"/w/c.py\">c.py:7");
    assert_has(&page,
               "<ol class=\"stack\">\n<li><code class=\"place\" title=\"/w/d.py\">d.py:8</code> "
               "<span class=\"muted\">in</span> <code>g</code></li>\n<li><code "
               "class=\"place\" title=\"/w/e.py\">e.py:9</code></li>\n</ol>\n</details>");
    assert_lacks(&page, "more</p>");
    keel_buffer_deinitialize(&page);
}

static void a_recompile_says_what_it_was_compared_with(void **state) {
    (void)state;
    static const struct {
        const char *against, *said;
    } programs[] = {
        {"{\"program\":\"0123456789abcdef\",\"name\":\"f\",\"is_ours\":true,\"when\":1001}",
         "Compared with <code>f</code> <code>0123456789ab</code> of the same process, <time"},
        {"{\"program\":\"aa\",\"run\":\"r0\"}",
         "Compared with <code>aa</code> of run <code>r0</code></p>"},
        {"{\"program\":\"aa\"}", "Compared with <code>aa</code></p>"},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; ++i) {
        keel_buffer_t journal;
        keel_buffer_initialize(&journal, 0);
        keel_buffer_format(
            &journal,
            START("") COMPILE(
                "bb", "3",
                ",\"recompile\":true") "{\"event\":\"explain\",\"t\":1001,\"pid\":1,\"program\":"
                                       "\"bb\",\"name\":\"f\",\"what\":\"compile\",\"recompile\":"
                                       "true,\"against\":%s,\"roots\":[{\"kind\":\"shape\"}]}\n",
            programs[i].against);
        assert_page(keel_buffer_cstr(&journal), programs[i].said, NULL);
        keel_buffer_deinitialize(&journal);
    }
}

// What is not explained is shown with the line that asked for it.
static void a_recompile_without_a_cause_says_so(void **state) {
    (void)state;
    keel_buffer_t page;
    page_for(START("") COMPILE("bb", "3", ",\"recompile\":true")
                 EXPLAIN("bb", "3",
                         AGAIN ",\"site\":{\"file\":\"/w/train.py\",\"line\":7},\"roots\":[],"
                               "\"root_total\":0"),
             &page);
    assert_has(&page, "nothing explains it");
    const char *article = strstr(keel_buffer_cstr(&page), "<article ");
    assert_non_null(article);
    assert_non_null(strstr(article, "train.py:7"));
    keel_buffer_deinitialize(&page);
}

// Those below the ones that are shown in full: a row each.
static void less_expensive_recompiles_are_rows_with_their_cause(void **state) {
    (void)state;
    enum { MANY = 220 }; // 200 are shown in full
    keel_buffer_t journal, page;
    keel_buffer_initialize(&journal, 0);
    keel_buffer_text(&journal, START(""));
    for (int i = 0; i < MANY; ++i) {
        const char *roots = i == 0 ? "[]"
                                   : "[{\"kind\":\"dtype\",\"subject\":\"x\",\"old\":\"f32[8]\","
                                     "\"new\":\"f16[8]\",\"file\":\"/w/train.py\",\"line\":9}]";
        keel_buffer_format(&journal,
                           COMPILE("p%d", "%d", ",\"recompile\":true")
                               EXPLAIN("p%d", "%d", AGAIN ",\"roots\":%s,\"root_total\":%d"),
                           i, i, i + 1, i, i, i + 1, roots, i > 0);
    }
    page_for(keel_buffer_cstr(&journal), &page);
    const char *rows = strstr(keel_buffer_cstr(&page), "Less expensive ones");
    assert_non_null(rows);
    const char *dtype = strstr(rows, "</code></td><td>dtype</td><td>");
    assert_non_null(dtype);
    assert_non_null(strstr(dtype, "f16[8]"));
    assert_non_null(strstr(dtype, "train.py:9"));
    const char *none = strstr(dtype, "</code></td><td>not explained</td>");
    assert_non_null(none);
    assert_null(strstr(none + 1, "</code></td><td>not explained</td>"));
    keel_buffer_deinitialize(&page);
    keel_buffer_deinitialize(&journal);
}

static void up_to_five_hundred_less_expensive_ones_are_rows(void **state) {
    (void)state;
    enum { SHOWN = 200, ROWS = 500 };
    static const int counts[] = {SHOWN, SHOWN + 1, SHOWN + 300, SHOWN + ROWS, SHOWN + ROWS + 2};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        keel_buffer_t journal, page;
        int rest = counts[i] - SHOWN;
        keel_buffer_initialize(&journal, 0);
        keel_buffer_text(&journal, START(""));
        for (int j = 0; j < counts[i]; ++j)
            keel_buffer_format(&journal,
                               COMPILE("p%d", "1", ",\"recompile\":true")
                                   EXPLAIN("p%d", "1", AGAIN ",\"roots\":[],\"root_total\":0"),
                               j, j, j, j);
        page_for(keel_buffer_cstr(&journal), &page);
        assert_int_equal(count_of(&page, "<article "), SHOWN);
        const char *rows = strstr(keel_buffer_cstr(&page), "Less expensive ones");
        size_t count = 0;
        for (const char *at = rows; at && (at = strstr(at, "not explained</td>")); ++at)
            ++count;
        assert_int_equal(count, rest < ROWS ? rest : ROWS);
        assert_int_equal(count_of(&page, "and 2 recompiles more"), rest > ROWS);
        keel_buffer_deinitialize(&page);
        keel_buffer_deinitialize(&journal);
    }
}

// Its row, behind 200 recompiles that cost more.
static void assert_row(const char *root, const char *row) {
    enum { MORE = 200 };
    keel_buffer_t journal;
    keel_buffer_initialize(&journal, 0);
    keel_buffer_text(&journal, START(""));
    for (int i = 0; i <= MORE; ++i)
        keel_buffer_format(&journal,
                           COMPILE("p%d", "%d", ",\"recompile\":true")
                               EXPLAIN("p%d", "%d", AGAIN ",\"roots\":[%s],\"root_total\":%d"),
                           i, i, i + 1, i, i, i + 1, i ? "" : root, !i);
    assert_page(keel_buffer_cstr(&journal), row, NULL);
    keel_buffer_deinitialize(&journal);
}

static void a_row_has_all_that_is_known_of_a_recompile(void **state) {
    (void)state;
#define PLACE ",\"file\":\"/w/train.py\",\"line\":9}"
#define BEGIN                                                                                      \
    "<tr><td class=\"number\">1</td><td class=\"number\">1.0&nbsp;s</td>"                          \
    "<td><code>jit_step</code></td><td>dtype</td><td>"
#define BECAME " <span class=\"arrow\" aria-label=\"became\">&rarr;</span> "
#define CLOSE "</td><td><code class=\"place\" title=\"/w/train.py\">train.py:9</code></td></tr>\n"
    assert_row("{\"kind\":\"dtype\",\"subject\":\"x\",\"old\":\"f32\",\"new\":\"f16\"" PLACE,
               BEGIN "<code class=\"subject\">x</code> <code class=\"old\">f32</code>" BECAME
                     "<code class=\"new\">f16</code>" CLOSE);
    assert_row("{\"kind\":\"dtype\",\"subject\":\"x\",\"old\":\"\",\"new\":\"f16\"" PLACE,
               BEGIN "<code class=\"subject\">x</code> <code class=\"old\">nothing</code>" BECAME
                     "<code class=\"new\">f16</code>" CLOSE);
    assert_row("{\"kind\":\"dtype\",\"subject\":\"\",\"old\":\"f32\",\"new\":\"\"" PLACE, BEGIN
               "<code class=\"old\">f32</code>" BECAME "<code class=\"new\">nothing</code>" CLOSE);
    assert_row("{\"kind\":\"dtype\",\"subject\":\"x\",\"note\":\"<why>\"" PLACE, BEGIN
               "<code class=\"subject\">x</code> <span class=\"muted\">(&lt;why&gt;)</span>" CLOSE);
#undef PLACE
#undef BEGIN
#undef BECAME
#undef CLOSE
}

static void what_is_not_listed_is_counted(void **state) {
    (void)state;
#define FIRST(program)                                                                             \
    COMPILE(program, "1", "")                                                                      \
    EXPLAIN(program, "1", ",\"what\":\"compile\",\"roots\":[{\"kind\":\"first\"}]")
    assert_page(START("") FIRST("aa"), "Not listed: 1 program that was the first of its kind",
                NULL);
    assert_page(START("") FIRST("aa") FIRST("bb"),
                "Not listed: 2 programs that were the first of their kind", NULL);
#undef FIRST
    assert_page("", "<p>No recompiles.</p>", "Not listed");
}

// ---- programs ----------------------------------------------------------------------------------

static void programs_are_listed_with_what_each_cost(void **state) {
    (void)state;
    keel_buffer_t journal, page;
    page_for(
        START("") COMPILE(
            "0123456789abcdef", "2",
            ",\"executes\":{\"0123456789abcdef\":3}") "{\"event\":\"load\",\"tier\":\"disk\",\"t\":"
                                                      "1002,\"pid\":1,\"program\":\"cc\","
                                                      "\"key\":\"kc\",\"name\":\"g\",\"seconds\":0."
                                                      "5}\n",
        &page);
    assert_has(&page, "<summary>2 programs, most expensive first</summary>");
    assert_has(&page,
               "<th scope=\"row\"><code>jit_step</code></th><td><code>0123456789ab</code></td>"
               "<td class=\"number\">2.0&nbsp;s</td><td class=\"number\">-</td><td "
               "class=\"number\">3</td><td class=\"number\">9</td>");
    assert_has(&page, "<code>g</code></th><td><code>cc</code></td><td class=\"number\">-</td><td "
                      "class=\"number\">500&nbsp;ms</td>");
    assert_lacks(&page, "(uncacheable)");
    keel_buffer_deinitialize(&page);
    assert_page("", "<p>No program was compiled or loaded.</p>", "<summary>");
    for (unsigned count = 100; count <= 102; ++count) {
        keel_buffer_initialize(&journal, 0);
        for (unsigned i = 0; i < count; ++i)
            keel_buffer_format(&journal,
                               "{\"event\":\"compile\",\"t\":1,\"pid\":1,\"program\":\"p%u\","
                               "\"name\":\"x%u\",\"seconds\":1}\n",
                               i, i);
        page_for(keel_buffer_cstr(&journal), &page);
        assert_int_equal(count_of(&page, "<th scope=\"row\"><code>x"), 100);
        if (count == 100) assert_lacks(&page, " more</p>");
        if (count == 101) assert_has(&page, "and 1 program more</p>\n</details>");
        if (count == 102) assert_has(&page, "and 2 programs more</p>\n</details>");
        keel_buffer_deinitialize(&page);
        keel_buffer_deinitialize(&journal);
    }
}

// ---- times, and pages of causes ----------------------------------------------------------------

static void assert_time(double when, const char *expected) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_page_time(&out, when);
    assert_string_equal(keel_buffer_cstr(&out), expected);
    keel_buffer_deinitialize(&out);
}

static void a_time_is_shown_if_it_is_one(void **state) {
    (void)state;
    assert_time(0, "");
    assert_time(-1, "");
    assert_time(9e9, "");
    assert_time(1, "<time datetime=\"1970-01-01T00:00:01Z\">1970-01-01 00:00:01 UTC</time>");
}

// Whatever the page of a cause ends with, nothing of it stays open.
// docs/causes/arguments.md mentions that of structure.
static void a_page_links_to_one_that_the_report_has_too(void **state) {
    (void)state;
    static const char link[] = "<a href=\"#cause-structure\">";
    keel_buffer_t page;
    page_for(START("") RECOMPILE("bb", "3", "arguments", "x", "absent", "f32[8]", "9")
                 RECOMPILE("cc", "2", "structure", "sine", "nothing", "sine", "8"),
             &page);
    const char *arguments = strstr(keel_buffer_cstr(&page), "<div id=\"cause-arguments\">");
    assert_non_null(arguments);
    const char *at = strstr(arguments, link), *end = strstr(arguments, "</details>");
    assert_true(at && at < end);
    keel_buffer_deinitialize(&page);
    page_for(START("") RECOMPILE("bb", "3", "arguments", "x", "absent", "f32[8]", "9"), &page);
    assert_lacks(&page, "#cause-structure");
    keel_buffer_deinitialize(&page);
}

static void pages_of_causes_are_well_formed(void **state) {
    (void)state;
    static const char *const kinds[] = {"shape",    "dtype",    "weak_type", "constant", "branch",
                                        "sharding", "donation", "structure", "flag",     "options",
                                        "size",     "layout",   "platform",  "arguments"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        keel_buffer_t journal, page;
        keel_buffer_initialize(&journal, 0);
        keel_buffer_format(&journal,
                           START("") COMPILE("bb", "3", ",\"recompile\":true")
                               EXPLAIN("bb", "3", AGAIN ",\"roots\":[{\"kind\":\"%s\"}]"),
                           kinds[i]);
        page_for(keel_buffer_cstr(&journal), &page);
        assert_well_formed(keel_buffer_cstr(&page));
        keel_buffer_deinitialize(&page);
        keel_buffer_deinitialize(&journal);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_frame_of_the_page_is_filled_and_shows_no_slot),
        cmocka_unit_test(the_facts_of_the_run_are_those_that_are_known),
        cmocka_unit_test(what_was_done_for_the_client_is_a_fact_of_the_run),
        cmocka_unit_test(the_verdict_is_what_was_lost_and_the_share_of_the_run),
        cmocka_unit_test(each_question_has_its_answer),
        cmocka_unit_test(totals_count_what_the_run_did),
        cmocka_unit_test(a_cache_that_failed_and_a_damaged_journal_are_said),
        cmocka_unit_test(the_ledger_compares_causes_and_lines),
        cmocka_unit_test(a_pattern_has_its_name_place_values_and_page),
        cmocka_unit_test(a_recompile_says_what_the_time_was_for_and_when),
        cmocka_unit_test(retraces_that_were_counted_have_their_number_and_steps),
        cmocka_unit_test(roots_of_one_kind_share_their_advice),
        cmocka_unit_test(what_follows_is_folded_with_its_places),
        cmocka_unit_test(a_recompile_says_what_it_was_compared_with),
        cmocka_unit_test(a_recompile_without_a_cause_says_so),
        cmocka_unit_test(less_expensive_recompiles_are_rows_with_their_cause),
        cmocka_unit_test(up_to_five_hundred_less_expensive_ones_are_rows),
        cmocka_unit_test(a_row_has_all_that_is_known_of_a_recompile),
        cmocka_unit_test(what_is_not_listed_is_counted),
        cmocka_unit_test(programs_are_listed_with_what_each_cost),
        cmocka_unit_test(a_time_is_shown_if_it_is_one),
        cmocka_unit_test(a_page_links_to_one_that_the_report_has_too),
        cmocka_unit_test(pages_of_causes_are_well_formed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
