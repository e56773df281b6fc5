// Host reads and cut steps, from journals that are made line by line.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <jansson.h>

#include "markup.h"
#include "page/page.h"
#include "text/text.h"

#define START                                                                                      \
    "{\"event\":\"start\",\"t\":1000,\"pid\":1,\"cwd\":\"/w\",\"argv\":[\"python\"],"              \
    "\"mode\":\"on\"}\n"
#define SITE(line) "\"site\":{\"file\":\"/w/train.py\",\"line\":" #line ",\"function\":\"main\"}"
// A program of PyTorch/XLA, asked for at a line.
#define PROGRAM(digest, line, ops)                                                                 \
    "{\"event\":\"compile\",\"t\":1001,\"pid\":1,\"program\":\"" digest "\",\"key\":\"k" digest    \
    "\",\"name\":\"SyncTensorsGraph\",\"format\":\"hlo\",\"seconds\":1,\"ops\":" #ops              \
    "," SITE(line) "}\n"
#define EXECUTES(counts) "{\"event\":\"executes\",\"t\":1002,\"pid\":1,\"executes\":{" counts "}}\n"
#define TRANSFERS(pid, rest)                                                                       \
    "{\"event\":\"transfers\",\"t\":1003,\"pid\":" #pid                                            \
    ",\"to_device\":{\"count\":3,\"bytes\":300,\"seconds\":0.5},"                                  \
    "\"from_device\":{\"count\":2,\"bytes\":8,\"seconds\":0.25}" rest "}\n"
#define READS(line, count) "{" SITE(line) ",\"count\":" #count ",\"bytes\":4,\"seconds\":0.125}"
#define PIECE(digest, line, forced, sampled, shared, pieces)                                       \
    "{\"program\":\"" digest "\"," SITE(line) ",\"forced\":" #forced ",\"sampled\":" #sampled      \
                                              ",\"shared\":" #shared ",\"pieces\":" #pieces "}"

static void why_of(const char *text, keel_why_t *out) {
    assert_null(keel_why_parse(keel_str_bytes(keel_str(text)), "r1", "", KEEL_RUN_DETAILS, out));
}

static void stats_of(const char *text, keel_why_t *out) {
    assert_null(keel_why_parse(keel_str_bytes(keel_str(text)), "r1", "/r/j", 0, out));
}

static const char cut_run[] =
    START PROGRAM("aa", 14, 10) PROGRAM("bb", 20, 50) EXECUTES("\"aa\":10,\"bb\":10")
        TRANSFERS(1, ",\"cut_steps\":4,\"cut_pieces\":8,\"reads\":[" READS(
                         14, 4) "],\"pieces\":[" PIECE("aa", 14, 4, 0, 0, 0) "]")
            TRANSFERS(1, ",\"cut_steps\":6,\"cut_pieces\":12,\"reads\":[" READS(14, 6) "," READS(
                             30, 2) "],\"pieces\":[" PIECE("aa", 14, 6, 8, 8, 2) "]");

static void a_cut_is_told_with_its_line_and_what_it_reads(void **state) {
    (void)state;
    keel_why_t why;
    keel_buffer_t out;
    why_of(cut_run, &why);
    keel_buffer_initialize(&out, 0);
    keel_text_why(&why, &(keel_text_style_t){.width = 100}, &out);
    const char *text = keel_buffer_cstr(&out);
    assert_non_null(strstr(text, "Host reads split steps 10 times."));
    assert_non_null(strstr(text, "1  10 times  250 ms  host_read  train.py:14  a host read splits "
                                 "the step into 2 programs\n"));
    assert_non_null(strstr(text, "SyncTensorsGraph in main; 10 reads, 8 bytes, 250 ms until"));
    assert_non_null(strstr(text, "keel explain host_read"));
    assert_null(strstr(text, "train.py:30"));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&why);
}

// The last step goes on yet, and the first was not known to be cut before it had ended.
static void a_cut_whose_step_was_not_followed_to_its_end_is_told_alike_everywhere(void **state) {
    (void)state;
    static const char run[] =
        START PROGRAM("aa", 14, 10) PROGRAM("bb", 20, 50) EXECUTES("\"aa\":10,\"bb\":9")
            TRANSFERS(1, ",\"cut_steps\":8,\"cut_pieces\":16,\"reads\":[" READS(
                             14, 10) "],\"pieces\":[" PIECE("aa", 14, 10, 8, 8, 2) "]");
    keel_why_t why;
    keel_why_t stats;
    keel_buffer_t out;
    why_of(run, &why);
    stats_of(run, &stats);
    keel_buffer_initialize(&out, 0);
    keel_text_why(&why, &(keel_text_style_t){.width = 100}, &out);
    keel_text_stats(&stats, 0, &out);
    keel_text_summary(&stats, &out);
    const char *text = keel_buffer_cstr(&out);
    assert_non_null(strstr(text, "Host reads split steps 10 times."));
    assert_non_null(strstr(text, "1  10 times  125 ms  host_read  train.py:14  "));
    assert_non_null(strstr(
        text, "cut         10 times; 8 steps followed to their end, in 2.0 programs each\n"));
    assert_non_null(
        strstr(text, "keel: host reads split steps 10 times: train.py:14; run `keel why`"));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&stats);
    keel_why_deinitialize(&why);
}

// Of those steps whose arguments were followed; a read of which none were is not judged.
static void a_read_splits_a_step_if_half_of_the_steps_went_on_with_it(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of(START PROGRAM("aa", 14, 10) PROGRAM("bb", 15, 10) PROGRAM("cc", 16, 10)
                 TRANSFERS(1, ",\"pieces\":[" PIECE("aa", 14, 9, 8, 4, 2) "," PIECE(
                                  "bb", 15, 7, 9, 4, 2) "," PIECE("cc", 16, 5, 0, 0, 2) "]"),
             &stats);
    const keel_reads_t *reads = &stats.run.reads;
    unsigned met = 0;
    for (size_t i = 0; i < reads->count; ++i) {
        const keel_reads_line_t *line = &reads->lines[i];
        met += line->cuts || line->others;
        if (line->cuts) assert_int_equal(line->cuts, 9);
        if (line->cuts) assert_int_equal(line->others, 0);
        if (line->others) assert_true(line->others == 7 || line->others == 5);
    }
    assert_int_equal(met, 3);
    keel_why_deinitialize(&stats);
}

// What was taken for a cut at first, and was none in most steps.
static void steps_are_told_only_as_far_as_the_cuts_account_for_them(void **state) {
    (void)state;
    keel_why_t stats;
    keel_buffer_t out;
    stats_of(START PROGRAM("aa", 14, 10) PROGRAM("cc", 15, 10)
                 TRANSFERS(1, ",\"cut_steps\":6,\"cut_pieces\":12,\"pieces\":[" PIECE(
                                  "aa", 14, 9, 8, 3, 2) "," PIECE("cc", 15, 2, 2, 2, 2) "]"),
             &stats);
    keel_buffer_initialize(&out, 0);
    keel_text_stats(&stats, 0, &out);
    assert_non_null(strstr(keel_buffer_cstr(&out), "cut         2 times\n"));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&stats);
    stats_of(START PROGRAM("aa", 14, 10)
                 TRANSFERS(1, ",\"cut_steps\":3,\"cut_pieces\":6,\"pieces\":[" PIECE("aa", 14, 9, 8,
                                                                                     3, 2) "]"),
             &stats);
    keel_buffer_initialize(&out, 0);
    keel_text_stats(&stats, 0, &out);
    assert_null(strstr(keel_buffer_cstr(&out), "  cut  "));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&stats);
}

#define ADDED(digest, seen)                                                                        \
    PROGRAM(digest, 14, 10)                                                                        \
    "{\"event\":\"explain\",\"t\":1001,\"pid\":1,\"program\":\"" digest                            \
    "\",\"name\":\"SyncTensorsGraph\",\"what\":\"compile\",\"seconds\":1,\"recompile\":true,"      \
    "\"against\":{\"program\":\"aa\",\"name\":\"SyncTensorsGraph\",\"run\":\"r1\",\"when\":1,"     \
    "\"is_ours\":true}," SITE(                                                                     \
        14) ",\"alike\":0.9,\"root_total\":1,\"roots\":[{\"kind\":\"arguments\","                  \
            "\"subject\":\"argument " #seen "\",\"old\":\"absent\",\"new\":\"f32[8]\"}]}\n"

static void where_nothing_ends_a_step_that_is_what_is_told(void **state) {
    (void)state;
    static const char run[] = START PROGRAM("aa", 14, 10) ADDED("bb", 1) ADDED("cc", 2)
        ADDED("dd", 3) EXECUTES("\"aa\":1,\"bb\":1,\"cc\":1,\"dd\":1") TRANSFERS(
            1, ",\"cut_steps\":1,\"cut_pieces\":4,\"reads\":[" READS(14, 4) "],\"pieces\":[" PIECE(
                   "aa", 14, 1, 1, 0, 4) "," PIECE("bb", 14, 1, 1, 1,
                                                   4) "," PIECE("cc", 14, 1, 1, 1,
                                                                4) "," PIECE("dd", 14, 1, 1, 1,
                                                                             4) "]");
    keel_why_t why;
    keel_buffer_t out;
    why_of(run, &why);
    assert_true(why.run.reads.endless);
    keel_buffer_initialize(&out, 0);
    keel_text_why(&why, &(keel_text_style_t){.width = 200}, &out);
    const char *text = keel_buffer_cstr(&out);
    assert_non_null(strstr(text, "  host_read  train.py:14\n"));
    assert_non_null(strstr(text, "SyncTensorsGraph in main; 3 times; no step ever ends, so each "
                                 "host read runs all of it again; 4 reads, 4 bytes, "));
    assert_null(strstr(text, "\n2  "));
    assert_non_null(strstr(text, "End each step with torch_xla.sync(); read after it."));
    assert_null(strstr(text, "optional"));
    assert_null(strstr(text, "keys"));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&why);
    why_of(cut_run, &why);
    assert_false(why.run.reads.endless);
    keel_why_deinitialize(&why);
}

#define THREE_STEPS(line, second, third)                                                           \
    START PROGRAM("aa", 14, 10) PROGRAM("bb", 14, second) PROGRAM("cc", 14, third)                 \
        EXECUTES("\"aa\":1,\"bb\":1,\"cc\":1")                                                     \
            TRANSFERS(1, ",\"pieces\":[" PIECE("aa", 14, 1, 0, 0, 0) "," PIECE(                    \
                             "bb", 14, 1, 1, 1, 2) "," PIECE("cc", line, 1, 0, 0, 0) "]")

static void three_steps_tell_that_nothing_ends_them_where_each_program_is_larger(void **state) {
    (void)state;
    static const struct {
        const char *run;
        bool endless;
    } runs[] = {
        {THREE_STEPS(14, 20, 30), true},
        {THREE_STEPS(14, 20, 20), false},
        {THREE_STEPS(20, 20, 30), false},                      // the last is read elsewhere
        {THREE_STEPS(14, 20, 30) EXECUTES("\"cc\":1"), false}, // a sync
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        keel_why_t why;
        why_of(runs[i].run, &why);
        assert_int_equal(why.run.reads.cuts, 1);
        assert_int_equal(why.run.reads.endless, runs[i].endless);
        keel_why_deinitialize(&why);
    }
}

static void cuts_are_elements_of_the_json_list(void **state) {
    (void)state;
    keel_why_t why;
    keel_buffer_t out;
    why_of(cut_run, &why);
    keel_buffer_initialize(&out, 0);
    keel_text_why_json(&why, false, &out);
    json_t *list = json_loadb((const char *)out.data, out.size, 0, NULL);
    assert_int_equal(json_array_size(list), 1);
    const json_t *cut = json_array_get(list, 0);
    assert_string_equal(json_string_value(json_object_get(cut, "kind")), "host_read");
    assert_string_equal(json_string_value(json_object_get(cut, "what")), "cut");
    assert_string_equal(json_string_value(json_object_get(cut, "program")), "aa");
    assert_int_equal(json_integer_value(json_object_get(cut, "line")), 14);
    assert_int_equal(json_integer_value(json_object_get(cut, "times")), 10);
    assert_int_equal(json_integer_value(json_object_get(cut, "pieces")), 2);
    json_decref(list);
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&why);
}

static void what_most_steps_do_not_go_on_with_is_no_cut(void **state) {
    (void)state;
    keel_why_t why;
    why_of(START PROGRAM("aa", 14, 10) TRANSFERS(
               1, ",\"pieces\":[" PIECE("aa", 14, 9, 8, 3, 0) "," PIECE("cc", 15, 9, 0, 0, 0) "]"),
           &why);
    assert_int_equal(why.run.reads.cut_count, 0);
    assert_int_equal(why.run.reads.count, 2);
    assert_int_equal(why.run.reads.lines[0].others, 9);
    keel_why_deinitialize(&why);
}

// What cuts the most comes first, then what reads the most, then by line.
static void lines_are_in_the_order_of_what_they_cost(void **state) {
    (void)state;
    static const unsigned order[] = {15, 14, 30, 31, 29};
    keel_why_t why;
    why_of(
        START PROGRAM("aa", 14, 10) PROGRAM("dd", 15, 10) TRANSFERS(
            1, ",\"reads\":[" READS(31, 9) "," READS(29, 2) "," READS(30, 9) "],\"pieces\":[" PIECE(
                   "aa", 14, 3, 3, 3, 2) "," PIECE("dd", 15, 5, 5, 5, 2) "]"),
        &why);
    assert_int_equal(why.run.reads.count, 5);
    assert_int_equal(why.run.reads.cut_count, 2);
    for (int i = 0; i < 5; ++i)
        assert_int_equal(why.run.reads.lines[i].line, order[i]);
    keel_why_deinitialize(&why);
}

static void processes_are_judged_each_for_itself_and_told_together(void **state) {
    (void)state;
    keel_why_t why;
    why_of(START PROGRAM("aa", 14, 10) TRANSFERS(1, ",\"pieces\":[" PIECE("aa", 14, 5, 5, 5, 3) "]")
               TRANSFERS(2, ",\"pieces\":[" PIECE("aa", 14, 5, 5, 5, 2) "]"),
           &why);
    assert_int_equal(why.run.reads.cut_count, 1);
    assert_int_equal(why.run.reads.lines[0].cuts, 10);
    assert_int_equal(why.run.reads.lines[0].pieces, 3);
    assert_int_equal(why.run.reads.to_device.count, 6);
    keel_why_deinitialize(&why);
}

static void steps_are_executions_for_the_line_that_does_the_most(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of(START PROGRAM("ii", 5, 1000) PROGRAM("aa", 14, 10) PROGRAM("bb", 20, 50)
                 PROGRAM("cc", 20, 50) EXECUTES("\"ii\":1,\"aa\":40,\"bb\":19,\"cc\":21"),
             &stats);
    assert_int_equal(stats.run.steps, 40);
    assert_int_equal(stats.run.settled_at_step, 1);
    keel_why_deinitialize(&stats);
}

// The read does most of the work; what it cuts off still ends the step.
static void a_program_that_a_read_cuts_off_ends_no_step(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of(START PROGRAM("aa", 14, 90) PROGRAM("bb", 20, 10) EXECUTES("\"aa\":6,\"bb\":6")
                 TRANSFERS(1, ",\"pieces\":[" PIECE("aa", 14, 6, 6, 6, 2) "]") EXECUTES("\"aa\":1"),
             &stats);
    assert_int_equal(stats.run.steps, 6);
    keel_why_deinitialize(&stats);
    stats_of(START PROGRAM("aa", 14, 90) PROGRAM("bb", 20, 10) EXECUTES("\"aa\":6,\"bb\":1")
                 TRANSFERS(1, ",\"pieces\":[" PIECE("aa", 14, 6, 6, 6, 2) "]"),
             &stats);
    assert_int_equal(stats.run.steps, 6); // all others are too few to be steps
    keel_why_deinitialize(&stats);
}

static void marks_are_the_steps_where_there_are_any(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of(
        START PROGRAM("aa", 14, 10)
            EXECUTES("\"aa\":4") "{\"event\":\"step\",\"t\":1002,\"pid\":1,\"count\":7}\n" PROGRAM(
                "bb", 14, 10)
                EXECUTES("\"bb\":30") "{\"event\":\"step\",\"t\":1002,\"pid\":1,\"count\":3}\n",
        &stats);
    assert_int_equal(stats.run.steps, 10);
    assert_int_equal(stats.run.settled_at_step, 8);
    keel_why_deinitialize(&stats);
}

static void figures_are_told_by_the_step(void **state) {
    (void)state;
    keel_why_t stats;
    keel_buffer_t out;
    stats_of(cut_run, &stats);
    keel_buffer_initialize(&out, 0);
    keel_text_stats(&stats, 0, &out);
    const char *text = keel_buffer_cstr(&out);
    assert_non_null(strstr(text, "executes    20, 2.0 a step\n"));
    assert_non_null(strstr(text, "to device   6 transfers, 0.6 a step; 600 bytes, 1.0 s\n"));
    assert_non_null(strstr(text, "from device 4 reads, 0.4 a step; 16 bytes, 500 ms\n"));
    assert_non_null(strstr(
        text, "cut         10 times; 10 steps followed to their end, in 2.0 programs each\n"));
    assert_non_null(strstr(text, "2                      4    125 ms         0  train.py:30\n"));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&stats);
}

static void reads_without_a_line_have_a_row_and_the_rows_are_all_reads(void **state) {
    (void)state;
    static const char run[] = START PROGRAM("aa", 14, 10) EXECUTES("\"aa\":1")
        TRANSFERS(1, ",\"reads\":[" READS(14, 1) "]") TRANSFERS(1, "");
    keel_why_t stats;
    keel_why_t why;
    keel_buffer_t out;
    stats_of(run, &stats);
    keel_buffer_initialize(&out, 0);
    keel_text_stats(&stats, 0, &out);
    assert_non_null(strstr(keel_buffer_cstr(&out),
                           "1                      4    125 ms         0  train.py:14\n"
                           "3                     12    375 ms         0  elsewhere (no "
                           "line)\n"));
    keel_text_stats_json(&stats, true, &out);
    assert_non_null(
        strstr(keel_buffer_cstr(&out), "\"reads_elsewhere\": {\"count\": 3, \"bytes\": 12, "));
    why_of(run, &why);
    assert_null(keel_page_write(&(keel_page_input_t){.why = &why}, &out));
    assert_non_null(
        strstr(keel_buffer_cstr(&out), "elsewhere (no line)</th><td class=\"number\">3</td>"));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&why);
    keel_why_deinitialize(&stats);
    stats_of(cut_run, &stats); // its lines have more than all
    assert_int_equal(stats.run.reads.elsewhere.count, 0);
    keel_why_deinitialize(&stats);
}

static void damaged_events_do_no_harm(void **state) {
    (void)state;
    keel_why_t why;
    why_of(START "{\"event\":\"transfers\",\"pid\":1,\"to_device\":7,\"reads\":[3,{},"
                 "{\"count\":-4,\"site\":{\"line\":-1}}],\"pieces\":[null,{\"forced\":2,"
                 "\"sampled\":0,\"shared\":9},{\"pieces\":1e9}],\"cut_steps\":\"x\"}\n"
                 "{\"event\":\"step\",\"pid\":1,\"count\":-3}\n",
           &why);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_text_why(&why, &(keel_text_style_t){.width = 80, .all = true}, &out);
    assert_null(keel_buffer_status(&out));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&why);
}

static void the_page_has_the_reads_where_there_are_any(void **state) {
    (void)state;
    keel_why_t stats;
    keel_why_t why;
    keel_buffer_t out;
    stats_of(cut_run, &stats);
    why_of(cut_run, &why);
    keel_buffer_initialize(&out, 0);
    assert_null(keel_page_write(&(keel_page_input_t){.why = &why}, &out));
    assert_non_null(strstr(keel_buffer_cstr(&out), "<section id=\"reads\">"));
    assert_non_null(strstr(keel_buffer_cstr(&out), "cuts steps 10 times, the last in 2 programs"));
    const char *summary = strstr(keel_buffer_cstr(&out), "Mid-step reads split steps <strong>10 ");
    assert_non_null(summary);
    const char *more = strstr(summary, "<a href=\"#cause-host_read\">"),
               *end = strstr(summary, "</p>");
    assert_true(more && more < end);
    assert_well_formed(keel_buffer_cstr(&out));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&stats);
    keel_why_deinitialize(&why);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_is_told_with_its_line_and_what_it_reads),
        cmocka_unit_test(a_cut_whose_step_was_not_followed_to_its_end_is_told_alike_everywhere),
        cmocka_unit_test(a_read_splits_a_step_if_half_of_the_steps_went_on_with_it),
        cmocka_unit_test(steps_are_told_only_as_far_as_the_cuts_account_for_them),
        cmocka_unit_test(where_nothing_ends_a_step_that_is_what_is_told),
        cmocka_unit_test(three_steps_tell_that_nothing_ends_them_where_each_program_is_larger),
        cmocka_unit_test(cuts_are_elements_of_the_json_list),
        cmocka_unit_test(what_most_steps_do_not_go_on_with_is_no_cut),
        cmocka_unit_test(lines_are_in_the_order_of_what_they_cost),
        cmocka_unit_test(processes_are_judged_each_for_itself_and_told_together),
        cmocka_unit_test(steps_are_executions_for_the_line_that_does_the_most),
        cmocka_unit_test(a_program_that_a_read_cuts_off_ends_no_step),
        cmocka_unit_test(marks_are_the_steps_where_there_are_any),
        cmocka_unit_test(figures_are_told_by_the_step),
        cmocka_unit_test(reads_without_a_line_have_a_row_and_the_rows_are_all_reads),
        cmocka_unit_test(damaged_events_do_no_harm),
        cmocka_unit_test(the_page_has_the_reads_where_there_are_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
