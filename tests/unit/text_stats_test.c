#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <jansson.h>

#include "text/text.h"

// A run of one process: a program for set-up, a step that settles at its third execution, a short
// last batch, and a program that cannot be cached.
static const char one_process[] =
    "{\"event\":\"start\",\"t\":1000.0,\"pid\":1,\"argv\":[\"python\",\"train.py\"],\"cwd\":\"/w\","
    "\"mode\":\"on\",\"plugin\":{\"path\":\"/p.so\",\"platform\":\"cpu\",\"api_major\":0,"
    "\"api_minor\":81}}\n"
    "{\"event\":\"miss\",\"t\":1001.0,\"pid\":1,\"program\":\"aa\",\"key\":\"ka\"}\n"
    "{\"event\":\"compile\",\"t\":1001.0,\"pid\":1,\"program\":\"aa\",\"key\":\"ka\","
    "\"name\":\"jit_init\",\"ops\":1000,\"seconds\":0.5,\"overhead_seconds\":0.1}\n"
    "{\"event\":\"miss\",\"t\":1002.0,\"pid\":1,\"program\":\"bb\",\"key\":\"kb\"}\n"
    "{\"event\":\"compile\",\"t\":1002.0,\"pid\":1,\"program\":\"bb\",\"key\":\"kb\","
    "\"name\":\"jit_step\",\"ops\":100,\"seconds\":2.0,\"executes\":{\"aa\":1},"
    "\"site\":{\"file\":\"/w/train.py\",\"line\":88}}\n"
    "{\"event\":\"load\",\"t\":1003.0,\"pid\":1,\"program\":\"cc\",\"key\":\"kc\","
    "\"name\":\"jit_eval\",\"tier\":\"disk\",\"ops\":10,\"seconds\":0.25,\"compile_seconds\":1.0,"
    "\"executes\":{\"bb\":2}}\n"
    "{\"event\":\"load\",\"t\":1003.5,\"pid\":1,\"program\":\"cc\",\"key\":\"kc\","
    "\"name\":\"jit_eval\",\"tier\":\"memory\",\"ops\":10,\"seconds\":0.125,\"executes\":{\"bb\":5}"
    "}\n"
    "{\"event\":\"executes\",\"t\":1004.0,\"pid\":1,\"executes\":{\"bb\":12}}\n"
    "{\"event\":\"compile\",\"t\":1005.0,\"pid\":1,\"program\":\"dd\",\"key\":\"kd\","
    "\"name\":\"jit_step\",\"ops\":100,\"seconds\":3.0,\"recompile\":true,\"executes\":{\"bb\":1},"
    "\"site\":{\"file\":\"/w/train.py\",\"line\":88,\"function\":\"main\","
    "\"call_file\":\"/lib/run.py\",\"call_line\":3}}\n"
    "{\"event\":\"uncacheable\",\"t\":1005.5,\"pid\":1,\"program\":\"ee\",\"reason\":\"pointer\"}\n"
    "{\"event\":\"compile\",\"t\":1005.5,\"pid\":1,\"program\":\"ee\",\"name\":\"jit_step\","
    "\"ops\":100,\"seconds\":1.0,\"recompile\":true,\"cacheable\":false,\"executes\":{\"dd\":4}}\n"
    "{\"event\":\"publish\",\"t\":1006.0,\"pid\":1,\"key\":\"kb\"}\n"
    "{\"event\":\"store_error\",\"t\":1006.0,\"pid\":1,\"what\":\"put\",\"message\":\"disk "
    "full\"}\n"
    "{\"event\":\"fallback\",\"t\":1006.0,\"pid\":1,\"what\":\"read\",\"message\":\"new op\"}\n"
    "{\"event\":\"end\",\"t\":1010.0,\"pid\":1,\"wall\":12.5,\"executes\":{\"ee\":6,\"cc\":2}}\n";

static void stats_of(const char *text, keel_why_t *out) {
    assert_null(keel_why_parse(keel_str_bytes(keel_str(text)), "r1", "/r/journal.ndjson", 0, out));
}

static void figures_are_those_of_the_journal(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of(one_process, &stats);
    assert_string_equal(stats.run.command, "python train.py");
    assert_int_equal(stats.run.processes, 1);
    assert_int_equal(stats.run.unfinished, 0);
    assert_int_equal(stats.run.program_count, 5);
    assert_int_equal(stats.run.compiles.times, 4);
    assert_true(stats.run.compiles.seconds == 6.5);
    assert_true(stats.run.overhead_seconds > 0.09 && stats.run.overhead_seconds < 0.11);
    assert_int_equal(stats.run.loads.times, 2);
    assert_int_equal(stats.run.memory_hits, 1);
    assert_true(stats.run.loads.seconds == 0.375);
    assert_true(stats.run.spared_seconds == 1.0);
    assert_int_equal(stats.run.misses, 2);
    assert_int_equal(stats.run.uncacheable, 1);
    assert_int_equal(stats.run.publishes, 1);
    assert_int_equal(stats.run.store_errors, 1);
    assert_int_equal(stats.run.fallbacks, 1);
    assert_int_equal(stats.run.executes, 1 + 2 + 5 + 12 + 1 + 4 + 6 + 2);
    assert_true(stats.run.wall_seconds == 12.5);
    assert_string_equal(stats.run.programs[0].program, "dd"); // the dearest
    assert_int_equal(stats.run.programs[0].executes, 4);
    keel_why_deinitialize(&stats);
}

static void what_was_loaded_ahead_and_what_failed_are_rows_of_their_own(void **state) {
    (void)state;
    static const char start[] = "{\"event\":\"start\",\"t\":1,\"pid\":1,\"argv\":[\"python\"]}\n";
    static const char events[] =
        "{\"event\":\"load\",\"t\":2,\"pid\":1,\"program\":\"aa\",\"name\":\"jit_f\",\"tier\":"
        "\"disk\","
        "\"seconds\":0.25,\"ahead_seconds\":0.5}\n"
        "{\"event\":\"load\",\"t\":2,\"pid\":1,\"program\":\"bb\",\"name\":\"jit_g\",\"tier\":"
        "\"disk\","
        "\"seconds\":0.25}\n"
        "{\"event\":\"prefetch\",\"t\":3,\"pid\":1,\"planned\":9,\"loaded\":4,\"used\":1,"
        "\"seconds\":1.5}\n"
        "{\"event\":\"prefetch\",\"t\":3,\"pid\":2,\"planned\":9,\"loaded\":2,\"used\":2,"
        "\"seconds\":0.5}\n"
        "{\"event\":\"store_error\",\"t\":4,\"pid\":1,\"what\":\"put\",\"message\":\"disk full\"}\n"
        "{\"event\":\"store_error\",\"t\":5,\"pid\":1,\"what\":\"get\",\"message\":\"later\"}\n"
        "{\"event\":\"fallback\",\"t\":6,\"pid\":1,\"what\":\"read\",\"message\":\"new op\"}\n";
    char journal[sizeof start + sizeof events];
    snprintf(journal, sizeof journal, "%s%s", start, events);
    keel_why_t stats;
    keel_buffer_t out;
    stats_of(journal, &stats);
    assert_int_equal(stats.run.ahead_loads, 1);
    assert_int_equal(stats.run.unused_loads, 3);
    assert_true(stats.run.ahead_seconds == 2);
    keel_buffer_initialize(&out, 0);
    keel_text_stats(&stats, 0, &out);
    const char *text = keel_buffer_cstr(&out);
    assert_non_null(
        strstr(text, "ahead       1       2.0 s in the background; 3 more never asked for\n"));
    assert_non_null(strstr(text, "cache error 2 times; first: disk full\n"));
    assert_non_null(strstr(text, "fallbacks   1 time; first: new op\n"));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&stats);
    // What did not happen has no row.
    stats_of(start, &stats);
    keel_buffer_initialize(&out, 0);
    keel_text_stats(&stats, 0, &out);
    text = keel_buffer_cstr(&out);
    assert_null(strstr(text, "ahead"));
    assert_null(strstr(text, "cache error"));
    assert_null(strstr(text, "fallbacks"));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&stats);
}

static void where_no_device_reports_its_memory_the_reason_is_told(void **state) {
    (void)state;
#define NEEDS                                                                                      \
    "{\"event\":\"start\",\"t\":1,\"pid\":1,\"argv\":[\"python\"]}\n"                              \
    "{\"event\":\"memory\",\"t\":2,\"pid\":1,\"program\":\"aa\",\"name\":\"jit_f\",\"arguments\":" \
    "1,"                                                                                           \
    "\"outputs\":2,\"aliased\":0,\"temporaries\":3,\"code\":4,\"total\":10}\n"
    static const struct {
        const char *journal, *told;
    } rows[] = {
        {NEEDS, "No device reports its memory; whether it fits cannot be known in advance.\n"},
        {NEEDS "{\"event\":\"memory_unknown\",\"t\":3,\"pid\":1,\"what\":\"devices\","
               "\"message\":\"not implemented\"}\n",
         "No device reports its memory: not implemented; whether it fits cannot be known in "
         "advance.\n"}};
#undef NEEDS
    for (size_t i = 0; i < 2; ++i) {
        keel_why_t stats;
        keel_buffer_t out;
        assert_null(keel_why_parse(keel_str_bytes(keel_str(rows[i].journal)), "r1", "/r/j",
                                   KEEL_RUN_MEMORY, &stats));
        assert_int_equal(stats.run.memory.program_count, 1);
        keel_buffer_initialize(&out, 0);
        keel_text_memory(&stats.run, &stats.run.memory.programs[0], &out);
        assert_non_null(strstr(keel_buffer_cstr(&out), rows[i].told));
        keel_buffer_deinitialize(&out);
        keel_why_deinitialize(&stats);
    }
}

// The first process speaks for its run: what it was, where, and above which plugin.
static void a_run_is_what_its_first_process_said(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of("{\"event\":\"start\",\"t\":1,\"pid\":1,\"argv\":[\"python\",\"a b.py\"],"
             "\"cwd\":\"/w\",\"host\":\"h1\",\"mode\":\"readonly\",\"plugin\":{\"path\":"
             "\"/p/libtpu.so\",\"platform\":\"tpu\",\"api_major\":0,\"api_minor\":81}}\n"
             "{\"event\":\"start\",\"t\":2,\"pid\":2,\"argv\":[\"other\"],\"cwd\":\"/o\","
             "\"host\":\"h2\",\"mode\":\"on\",\"plugin\":{\"path\":\"/o.so\","
             "\"platform\":\"cpu\",\"api_major\":1,\"api_minor\":2}}\n",
             &stats);
    assert_non_null(strstr(stats.run.command, "a b.py"));
    assert_string_equal(stats.run.cwd, "/w");
    assert_string_equal(stats.run.host, "h1");
    assert_string_equal(stats.run.mode, "readonly");
    assert_string_equal(stats.run.plugin_path, "/p/libtpu.so");
    assert_string_equal(stats.run.plugin_platform, "tpu");
    assert_string_equal(stats.run.plugin_api, "0.81");
    assert_int_equal(stats.run.processes, 2);
    keel_why_deinitialize(&stats);
}

static void a_step_is_an_execution_of_the_family_that_does_the_most(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of(one_process, &stats);
    // jit_init has more operations, but runs once; bb, dd and ee are all jit_step.
    assert_int_equal(stats.run.steps, 2 + 5 + 12 + 1 + 4 + 6);
    // The last new program is ee, after 24 steps.
    assert_int_equal(stats.run.settled_at_step, 25);
    keel_why_deinitialize(&stats);
}

static void a_load_from_memory_is_no_new_program(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of("{\"event\":\"load\",\"pid\":1,\"program\":\"a\",\"key\":\"k\",\"name\":\"f\","
             "\"tier\":\"disk\"}\n"
             "{\"event\":\"load\",\"pid\":1,\"program\":\"a\",\"key\":\"k\",\"name\":\"f\","
             "\"tier\":\"memory\",\"executes\":{\"a\":9}}\n"
             "{\"event\":\"end\",\"pid\":1,\"executes\":{\"a\":1}}\n",
             &stats);
    assert_int_equal(stats.run.steps, 10);
    assert_int_equal(stats.run.settled_at_step, 1);
    assert_int_equal(stats.run.program_count, 1);
    keel_why_deinitialize(&stats);
}

static void several_processes_count_their_own_steps(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of(
        "{\"event\":\"compile\",\"t\":1,\"pid\":1,\"program\":\"a\",\"key\":\"k\",\"name\":\"f\"}\n"
        "{\"event\":\"compile\",\"t\":1,\"pid\":2,\"program\":\"a\",\"key\":\"k\",\"name\":\"f\"}\n"
        "{\"event\":\"load\",\"t\":2,\"pid\":2,\"program\":\"b\",\"key\":\"l\",\"name\":\"g\","
        "\"tier\":\"disk\",\"executes\":{\"a\":4}}\n"
        "{\"event\":\"end\",\"t\":3,\"pid\":1,\"executes\":{\"a\":10}}\n"
        "{\"event\":\"executes\",\"t\":3,\"pid\":2,\"executes\":{\"a\":6}}\n",
        &stats);
    assert_int_equal(stats.run.processes, 2);
    assert_int_equal(stats.run.unfinished, 1);
    assert_int_equal(stats.run.steps, 10);
    assert_int_equal(stats.run.settled_at_step, 5);
    assert_int_equal(stats.run.executes, 20);
    assert_int_equal(stats.run.program_count, 2);
    keel_why_deinitialize(&stats);
}

static void recompiles_carry_their_step_and_their_line(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of(one_process, &stats);
    assert_int_equal(stats.summary.recompile_count, 2);
    assert_true(stats.summary.again.seconds == 4.0);
    assert_int_equal(stats.summary.recompiles[0].step, 21);
    assert_string_equal(stats.summary.recompiles[0].site.shown, "train.py:88");
    assert_string_equal(stats.summary.recompiles[0].site.call_shown, "/lib/run.py:3");
    assert_string_equal(stats.summary.recompiles[0].program, "dd");
    assert_int_equal(stats.summary.recompiles[1].step, 25);
    keel_why_deinitialize(&stats);
}

static void the_summary_is_a_few_lines(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of(one_process, &stats);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_text_summary(&stats, &text);
    assert_string_equal(
        keel_buffer_cstr(&text),
        "keel: 30 steps, 5 programs; 4 compiles 6.5 s, 2 loads 375 ms instead of at most "
        "1.0 s; flat since step 25\n"
        "keel: 2 recompiles cost 4.0 s: train.py:88 (jit_step), unknown line "
        "(jit_step)\n"
        "keel: the cache failed 1 time; first: disk full\n");
    keel_buffer_deinitialize(&text);
    keel_why_deinitialize(&stats);
}

static void a_run_that_never_settles_says_so(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of("{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"name\":\"f\",\"seconds\":1}\n"
             "{\"event\":\"compile\",\"pid\":1,\"program\":\"b\",\"name\":\"g\",\"seconds\":1,"
             "\"executes\":{\"a\":3}}\n"
             "{\"event\":\"end\",\"pid\":1}\n",
             &stats);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_text_summary(&stats, &text);
    assert_string_equal(keel_buffer_cstr(&text), "keel: 3 steps, 2 programs; 2 compiles 2.0 s; new "
                                                 "programs up to the end\n");
    keel_buffer_deinitialize(&text);
    keel_why_deinitialize(&stats);
}

static void assert_summary(const char *journal, const char *expected) {
    keel_why_t stats;
    stats_of(journal, &stats);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_text_summary(&stats, &text);
    assert_string_equal(keel_buffer_cstr(&text), expected);
    keel_buffer_deinitialize(&text);
    keel_why_deinitialize(&stats);
}

static void
a_run_that_only_loaded_is_not_said_to_have_had_new_programs_up_to_the_end(void **state) {
    (void)state;
    assert_summary("{\"event\":\"load\",\"pid\":1,\"program\":\"a\",\"name\":\"f\",\"seconds\":1,"
                   "\"tier\":\"disk\"}\n"
                   "{\"event\":\"load\",\"pid\":1,\"program\":\"b\",\"name\":\"g\",\"seconds\":1,"
                   "\"tier\":\"disk\",\"executes\":{\"a\":3}}\n"
                   "{\"event\":\"end\",\"pid\":1}\n",
                   "keel: 3 steps, 2 programs; nothing compiled, 2 loads 2.0 s\n");
}

static void a_process_that_ended_early_is_told_and_nothing_is_said_of_its_end(void **state) {
    (void)state;
    assert_summary(
        "{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"name\":\"f\",\"seconds\":1}\n"
        "{\"event\":\"compile\",\"pid\":1,\"program\":\"b\",\"name\":\"g\",\"seconds\":1,"
        "\"executes\":{\"a\":3}}\n",
        "keel: 3 steps, 2 programs; 2 compiles 2.0 s\n"
        "keel: 1 process has no end event in the journal (killed, or the journal could not be "
        "written): "
        "figures "
        "may miss what came last\n");
}

static void a_run_whose_last_step_compiled_is_not_called_flat(void **state) {
    (void)state;
    assert_summary(
        "{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"name\":\"f\",\"seconds\":1}\n"
        "{\"event\":\"compile\",\"pid\":1,\"program\":\"b\",\"name\":\"f\",\"seconds\":1,"
        "\"executes\":{\"a\":3}}\n"
        "{\"event\":\"end\",\"pid\":1,\"executes\":{\"b\":1}}\n",
        "keel: 4 steps, 2 programs; 2 compiles 2.0 s; not flat yet: step 4 had a new program\n");
}

static void executions_that_are_written_as_the_run_goes_on_all_count(void **state) {
    (void)state;
    assert_summary(
        "{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"name\":\"f\",\"seconds\":1}\n"
        "{\"event\":\"compile\",\"pid\":2,\"program\":\"a\",\"name\":\"f\",\"seconds\":1}\n"
        "{\"event\":\"executes\",\"pid\":1,\"executes\":{\"a\":5}}\n"
        "{\"event\":\"executes\",\"pid\":2,\"executes\":{\"a\":6}}\n"
        "{\"event\":\"compile\",\"pid\":1,\"program\":\"b\",\"name\":\"f\",\"seconds\":1}\n"
        "{\"event\":\"executes\",\"pid\":1,\"executes\":{\"a\":2,\"b\":4}}\n",
        "keel: 11 steps, 2 programs; 3 compiles 3.0 s; flat since step 6\n"
        "keel: 2 processes have no end event in the journal (killed, or the journal could not be "
        "written): "
        "figures may miss what came last\n");
}

static void recompiles_of_one_line_are_named_once_and_the_dearest_first(void **state) {
    (void)state;
    keel_buffer_t journal, text;
    keel_buffer_initialize(&journal, 0);
    keel_buffer_initialize(&text, 0);
    for (int i = 0; i < 12; ++i)
        keel_buffer_format(&journal,
                           "{\"event\":\"compile\",\"pid\":1,\"program\":\"%d\",\"name\":\"f\","
                           "\"seconds\":1,\"recompile\":true,\"site\":{\"file\":\"a.py\","
                           "\"line\":%d}}\n",
                           i,
                           i < 3   ? 7
                           : i < 8 ? 5
                                   : i);
    keel_why_t stats;
    stats_of(keel_buffer_cstr(&journal), &stats);
    keel_text_summary(&stats, &text);
    assert_non_null(strstr(keel_buffer_cstr(&text),
                           "12 recompiles cost 12.0 s: a.py:5 (f) 5 times, a.py:7 (f) 3 times, "
                           "a.py:8 (f), ...\n"));
    keel_buffer_deinitialize(&journal);
    keel_buffer_deinitialize(&text);
    keel_why_deinitialize(&stats);
}

#define EXPLAIN(program, rest)                                                                     \
    "{\"event\":\"explain\",\"pid\":1,\"what\":\"compile\",\"program\":\"" program "\"," rest "}"  \
    "\n"
#define RECOMPILE(program, seconds)                                                                \
    "{\"event\":\"compile\",\"pid\":1,\"program\":\"" program "\",\"name\":\"jit_f\","             \
    "\"seconds\":" seconds ",\"recompile\":true,\"site\":{\"file\":\"t.py\",\"line\":9}}\n"
static const char unrelated[] =
    "{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"name\":\"f\",\"seconds\":1}\n"
    "{\"event\":\"compile\",\"pid\":1,\"program\":\"b\",\"name\":\"f\",\"seconds\":2,"
    "\"recompile\":true}\n"
    "{\"event\":\"explain\",\"pid\":1,\"what\":\"compile\",\"program\":\"b\",\"seconds\":2,"
    "\"recompile\":true,\"unrelated\":true,\"against\":{\"is_ours\":true},\"roots\":[]}\n"
    "{\"event\":\"explain\",\"pid\":1,\"what\":\"compile\",\"program\":\"a\",\"seconds\":1,"
    "\"unrelated\":true,\"against\":{\"is_ours\":false},\"roots\":[]}\n"
    "{\"event\":\"end\",\"pid\":1}\n";

static void an_unrelated_program_of_one_name_is_no_recompile(void **state) {
    (void)state;
    assert_summary(unrelated, "keel: 2 programs; 2 compiles 3.0 s\n");
    keel_why_t stats;
    stats_of(unrelated, &stats);
    assert_int_equal(stats.summary.recompile_count + stats.summary.known.times, 0);
    assert_true(stats.summary.again.seconds == 0);
    keel_why_deinitialize(&stats);
}

// PyTorch/XLA asked for it where it had recorded another: a recompile of which nothing is known.
static void an_unrelated_program_of_pytorch_is_a_recompile(void **state) {
    (void)state;
    assert_summary(
        "{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"name\":\"f\",\"seconds\":1,"
        "\"format\":\"hlo\"}\n"
        "{\"event\":\"compile\",\"pid\":1,\"program\":\"b\",\"name\":\"f\",\"seconds\":2,"
        "\"format\":\"hlo\",\"recompile\":true,\"site\":{\"file\":\"t.py\",\"line\":9}}\n"
        "{\"event\":\"explain\",\"pid\":1,\"what\":\"compile\",\"program\":\"b\",\"name\":\"f\","
        "\"seconds\":2,\"recompile\":true,\"unrelated\":true,\"against\":{\"is_ours\":true},"
        "\"roots\":[],\"site\":{\"file\":\"t.py\",\"line\":9}}\n"
        "{\"event\":\"end\",\"pid\":1}\n",
        "keel: 2 programs; 2 compiles 3.0 s\n"
        "keel: 1 recompile cost 2.0 s: t.py:9 unrelated; run `keel why`\n");
}

#define ENDED "{\"event\":\"end\",\"pid\":1}\n"

static void the_summary_names_the_cause_of_each_recompile_where_the_journal_has_it(void **state) {
    (void)state;
    assert_summary(
        RECOMPILE("b", "0.022")
            EXPLAIN("b", "\"seconds\":0.022,\"recompile\":true,\"against\":{\"is_ours\":true},"
                         "\"roots\":[{\"kind\":\"shape\",\"subject\":\"batch['x']\","
                         "\"old\":\"f32[8,4]\",\"new\":\"f32[5,4]\",\"file\":\"t.py\","
                         "\"line\":13},{\"kind\":\"dtype\"}]") ENDED,
        "keel: 1 program; 1 compile 22 ms\n"
        "keel: 1 recompile cost 22 ms: t.py:13 shape batch['x'] f32[8,4] -> f32[5,4]; run `keel "
        "why`\n");
    // Of several that differ in the values alone, these are left out; what is not explained is
    // named by its line.
    assert_summary(
        RECOMPILE("b", "2") RECOMPILE("c", "2") RECOMPILE("d", "1")
            EXPLAIN("b", "\"seconds\":2,\"recompile\":true,\"roots\":[{\"kind\":\"constant\","
                         "\"subject\":\"add\","
                         "\"old\":\"1\",\"new\":\"2\"}]")
                EXPLAIN("c", "\"seconds\":2,\"recompile\":true,\"roots\":[{\"kind\":\"constant\","
                             "\"subject\":\"add\","
                             "\"old\":\"2\",\"new\":\"3\"}]") ENDED,
        "keel: 3 programs; 3 compiles 5.0 s\n"
        "keel: 3 recompiles cost 5.0 s: t.py:9 constant add (2 times), t.py:9 (jit_f); run `keel "
        "why`\n");
    // One line that two programs of a step are compiled again for is named once.
    assert_summary(
        RECOMPILE("b", "2") "{\"event\":\"compile\",\"pid\":1,\"program\":\"c\",\"name\":"
                            "\"jit_g\",\"seconds\":2,\"recompile\":true,\"site\":{\"file\":"
                            "\"t.py\",\"line\":20}}\n" EXPLAIN(
                                "b", "\"seconds\":2,\"recompile\":true,\"roots\":[{\"kind\":"
                                     "\"shape\",\"subject\":\"x\","
                                     "\"old\":\"f32[1]\",\"new\":\"f32[2]\",\"file\":\"t.py\","
                                     "\"line\":13}]")
                                EXPLAIN("c",
                                        "\"seconds\":2,\"recompile\":true,\"roots\":[{\"kind\":"
                                        "\"shape\",\"subject\":\"x\","
                                        "\"old\":\"f32[1]\",\"new\":\"f32[2]\",\"file\":\"t.py\","
                                        "\"line\":13}]") ENDED,
        "keel: 2 programs; 2 compiles 4.0 s\n"
        "keel: 2 recompiles cost 4.0 s: t.py:13 shape x (2 times); run `keel why`\n");
    // Of several explanations of one program the first of a compile counts.
    assert_summary(
        RECOMPILE(
            "b",
            "2") "{\"event\":\"explain\",\"pid\":1,\"what\":\"retrace\",\"program\":\"b\",\"name\":"
                 "\"jit_f\",\"recompile\":true,\"roots\":[{\"kind\":\"retrace\",\"subject\":\"r\","
                 "\"file\":\"t.py\",\"line\":11}]}\n" EXPLAIN(
                     "b", "\"seconds\":2,\"recompile\":true,\"roots\":[{\"kind\":\"shape\","
                          "\"subject\":\"x\",\"file\":\"t.py\",\"line\":12}]")
                     EXPLAIN("b", "\"seconds\":2,\"recompile\":true,\"roots\":[{\"kind\":\"shape\","
                                  "\"subject\":\"y\",\"file\":\"t.py\",\"line\":13}]") ENDED,
        "keel: 1 program; 1 compile 2.0 s\n"
        "keel: 1 recompile cost 2.0 s: t.py:12 shape x; run `keel why`\n");
}

static void the_summary_names_what_made_programs_of_earlier_runs_compile_again(void **state) {
    (void)state;
    assert_summary(
        "{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"name\":\"f\",\"seconds\":3}\n"
        "{\"event\":\"compile\",\"pid\":1,\"program\":\"b\",\"name\":\"g\",\"seconds\":1}"
        "\n" EXPLAIN("b",
                     "\"name\":\"g\",\"seconds\":1,\"against\":{\"run\":\"r0\"},\"roots\":["
                     "{\"kind\":\"devices\",\"subject\":\"devices\",\"old\":\"1\",\"new\":\"2\"}]")
            EXPLAIN("a", "\"name\":\"f\",\"seconds\":3,\"against\":{\"run\":\"r0\"},\"roots\":["
                         "{\"kind\":\"flag\",\"subject\":\"xla_x\",\"old\":\"unset\","
                         "\"new\":\"3\"}]") ENDED,
        "keel: 2 programs; 2 compiles 4.0 s\n"
        "keel: 2 programs known from earlier runs cost 4.0 s; the most expensive: flag xla_x unset "
        "-> "
        "3; "
        "run `keel why`\n");
}

static void json_holds_the_figures_and_the_lists(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of(one_process, &stats);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_text_stats_json(&stats, true, &text);
    json_t *json = json_loadb((const char *)text.data, text.size, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    static const struct {
        const char *name;
        double value;
    } expected[] = {
        {"programs", 5},        {"compiles", 4}, {"compile_seconds", 6.5}, {"loads", 2},
        {"memory_hits", 1},     {"misses", 2},   {"load_seconds", 0.375},  {"uncacheable", 1},
        {"executes", 33},       {"steps", 30},   {"settled_at_step", 25},  {"recompile_count", 2},
        {"wall_seconds", 12.5},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i)
        assert_true(json_number_value(json_object_get(json, expected[i].name)) ==
                    expected[i].value);
    assert_int_equal(json_array_size(json_object_get(json, "recompiles")), 2);
    assert_int_equal(json_array_size(json_object_get(json, "by_program")), 5);
    assert_int_equal(json_array_size(json_object_get(json, "argv")), 2);
    json_decref(json);
    keel_buffer_deinitialize(&text);
    keel_why_deinitialize(&stats);
}

static json_t *json_of(const keel_why_t *stats, bool whole) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_text_stats_json(stats, whole, &text);
    json_t *json = json_loadb((const char *)text.data, text.size, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    keel_buffer_deinitialize(&text);
    return json;
}

static void each_figure_of_a_run_has_its_own_name(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of(one_process, &stats);
    keel_run_t *run = &stats.run;
    const struct {
        const char *name;
        uint64_t *figure;
    } counts[] = {{"journal_bytes", &run->journal_bytes},
                  {"processes", &run->processes},
                  {"unfinished", &run->unfinished},
                  {"compiles", &run->compiles.times},
                  {"loads", &run->loads.times},
                  {"memory_hits", &run->memory_hits},
                  {"ahead_loads", &run->ahead_loads},
                  {"unused_loads", &run->unused_loads},
                  {"misses", &run->misses},
                  {"uncacheable", &run->uncacheable},
                  {"publishes", &run->publishes},
                  {"executes", &run->executes},
                  {"steps", &run->steps},
                  {"settled_at_step", &run->settled_at_step},
                  {"store_errors", &run->store_errors},
                  {"fallbacks", &run->fallbacks},
                  {"damaged_lines", &run->damage.lines}};
    const struct {
        const char *name;
        double *figure;
    } seconds[] = {{"wall_seconds", &run->wall_seconds},
                   {"compile_seconds", &run->compiles.seconds},
                   {"load_seconds", &run->loads.seconds},
                   {"ahead_seconds", &run->ahead_seconds},
                   {"overhead_seconds", &run->overhead_seconds},
                   {"spared_seconds", &run->spared_seconds},
                   {"recompile_seconds", &stats.summary.again.seconds},
                   {"known_seconds", &stats.summary.known.seconds}};
    enum { COUNTS = sizeof counts / sizeof *counts, SECONDS = sizeof seconds / sizeof *seconds };
    for (size_t i = 0; i < COUNTS; ++i)
        *counts[i].figure = 100 + i;
    for (size_t i = 0; i < SECONDS; ++i)
        *seconds[i].figure = 0.25 + (double)i;
    run->reads.to_device = (keel_moved_t){1, 2, 0.5, false};
    run->reads.from_device = (keel_moved_t){3, 4, 1.5, false};
    run->reads.elsewhere = (keel_moved_t){5, 6, 2.5, false};
    run->host = "h";
    json_t *json = json_of(&stats, true), *part = json_of(&stats, false);
    for (size_t i = 0; i < COUNTS; ++i)
        assert_int_equal(json_integer_value(json_object_get(json, counts[i].name)), 100 + i);
    for (size_t i = 0; i < SECONDS; ++i)
        assert_true(json_number_value(json_object_get(json, seconds[i].name)) == 0.25 + (double)i);
    static const char *const ways[] = {"to_device", "from_device", "reads_elsewhere"};
    for (int i = 0; i < 3; ++i) {
        const json_t *way = json_object_get(json, ways[i]);
        assert_int_equal(json_integer_value(json_object_get(way, "count")), 1 + 2 * i);
        assert_int_equal(json_integer_value(json_object_get(way, "bytes")), 2 + 2 * i);
        assert_true(json_number_value(json_object_get(way, "seconds")) == 0.5 + i);
    }
    static const char *const texts[][2] = {{"id", "r1"},
                                           {"started", "1970-01-01T00:16:40Z"},
                                           {"command", "python train.py"},
                                           {"cwd", "/w"},
                                           {"host", "h"},
                                           {"mode", "on"},
                                           {"journal", "/r/journal.ndjson"},
                                           {"first_store_error", "disk full"},
                                           {"first_fallback", "new op"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        if (!strstr(json_string_value(json_object_get(json, texts[i][0])), texts[i][1]))
            fail_msg("%s", texts[i][0]);
    json_t *plugin =
        json_pack("{s:s, s:s, s:s}", "path", "/p.so", "platform", "cpu", "api", "0.81");
    assert_true(json_equal(json_object_get(json, "plugin"), plugin));
    json_decref(plugin);
    // In part: the figures alone, the same ones.
    static const char *const lists[] = {"first_store_error", "first_fallback", "plugin",
                                        "recompiles",        "reads",          "reads_elsewhere",
                                        "by_program"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
        assert_non_null(json_object_get(json, lists[i]));
        assert_null(json_object_get(part, lists[i]));
    }
    const char *name;
    json_t *value;
    json_object_foreach(part, name, value) {
        assert_true(json_equal(value, json_object_get(json, name)));
    }
    assert_true(json_object_size(part) > COUNTS + SECONDS);
    json_decref(json);
    json_decref(part);
    keel_why_deinitialize(&stats);
}

static void programs_and_recompiles_have_their_own_figures(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of(one_process, &stats);
    json_t *json = json_of(&stats, true);
    const json_t *programs = json_object_get(json, "by_program"), *dd = NULL, *cc = NULL,
                 *ee = NULL;
    for (size_t i = 0; i < json_array_size(programs); ++i) {
        const json_t *program = json_array_get(programs, i);
        const char *digest = json_string_value(json_object_get(program, "program"));
        if (strcmp(digest, "dd") == 0) dd = program;
        if (strcmp(digest, "cc") == 0) cc = program;
        if (strcmp(digest, "ee") == 0) ee = program;
    }
    json_t *site =
        json_pack("{s:s, s:i, s:s, s:s, s:s}", "file", "/w/train.py", "line", 88, "function",
                  "main", "shown", "train.py:88", "called_from", "/lib/run.py:3");
    assert_string_equal(json_string_value(json_object_get(dd, "name")), "jit_step");
    assert_int_equal(json_integer_value(json_object_get(dd, "ops")), 100);
    assert_int_equal(json_integer_value(json_object_get(dd, "compiles")), 1);
    assert_true(json_number_value(json_object_get(dd, "compile_seconds")) == 3);
    assert_int_equal(json_integer_value(json_object_get(dd, "executes")), 4);
    assert_true(json_is_true(json_object_get(dd, "cacheable")));
    assert_true(json_equal(json_object_get(dd, "site"), site));
    assert_int_equal(json_integer_value(json_object_get(cc, "loads")), 2);
    assert_true(json_number_value(json_object_get(cc, "load_seconds")) == 0.375);
    assert_true(json_is_null(json_object_get(cc, "site")));
    assert_true(json_is_false(json_object_get(ee, "cacheable")));
    const json_t *recompile = NULL, *recompiles = json_object_get(json, "recompiles");
    for (size_t i = 0; i < json_array_size(recompiles); ++i) {
        const json_t *one = json_array_get(recompiles, i);
        if (strcmp(json_string_value(json_object_get(one, "program")), "dd") == 0) recompile = one;
    }
    assert_non_null(recompile);
    assert_string_equal(json_string_value(json_object_get(recompile, "name")), "jit_step");
    assert_true(json_number_value(json_object_get(recompile, "seconds")) == 3);
    assert_true(json_integer_value(json_object_get(recompile, "step")) > 0);
    assert_true(json_equal(json_object_get(recompile, "site"), site));
    assert_true(json_is_null(json_object_get(recompile, "cause")));
    json_decref(site);
    json_decref(json);
    keel_why_deinitialize(&stats);
}

static void text_of(const char *text, keel_buffer_t *out) {
    keel_why_t why;
    stats_of(text, &why);
    keel_buffer_initialize(out, 0);
    keel_text_stats(&why, 0, out);
    assert_null(keel_buffer_status(out));
    keel_why_deinitialize(&why);
}

static size_t count_of(const keel_buffer_t *out, const char *part) {
    size_t count = 0;
    for (const char *at = keel_buffer_cstr(out); (at = strstr(at, part)); at += strlen(part))
        ++count;
    return count;
}

// The most expensive 20, with the beginnings of their digests; --json has the rest.
static void many_programs_are_cut_and_counted(void **state) {
    (void)state;
    for (unsigned count = 19; count <= 22; ++count) {
        keel_buffer_t journal, out;
        keel_buffer_initialize(&journal, 0);
        for (unsigned i = 0; i < count; ++i)
            keel_buffer_format(&journal,
                               "{\"event\":\"compile\",\"t\":1,\"pid\":1,\"program\":"
                               "\"abcdefghij%02u0123\",\"name\":\"f%u\",\"seconds\":%u}\n",
                               i, i, i + 1);
        text_of(keel_buffer_cstr(&journal), &out);
        assert_int_equal(count_of(&out, "\nabcdefghij"), count < 20 ? count : 20);
        assert_int_equal(count_of(&out, "0123"), 0);
        char left[64], least[16];
        snprintf(left, sizeof left, "\n  and %u more program%s; --json lists them all\n",
                 count - 20, count == 21 ? "" : "s");
        snprintf(least, sizeof least, "\nabcdefghij%02u", count > 20 ? count - 20 : 0);
        assert_int_equal(count_of(&out, left), count > 20);
        assert_int_equal(count_of(&out, " more program"), count > 20);
        assert_int_equal(count_of(&out, least), 1);
        keel_buffer_deinitialize(&out);
        keel_buffer_deinitialize(&journal);
    }
}

static void an_empty_journal_and_one_of_strange_fields_have_figures_too(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of("", &stats);
    assert_int_equal(stats.run.program_count, 0);
    keel_why_deinitialize(&stats);
    stats_of("{\"event\":\"compile\",\"seconds\":-1,\"name\":7,\"executes\":{\"x\":\"y\"},"
             "\"site\":[],\"pid\":{}}\n{\"event\":\"start\",\"argv\":{},\"plugin\":3}\n"
             "{\"event\":\"load\",\"seconds\":1e300,\"executes\":[1]}\n",
             &stats);
    assert_int_equal(stats.run.compiles.times, 1);
    assert_true(stats.run.compiles.seconds == 0);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_text_stats(&stats, 0, &text);
    keel_text_line(&stats, 0, &text);
    assert_null(keel_buffer_status(&text));
    keel_buffer_deinitialize(&text);
    keel_why_deinitialize(&stats);
}

static void damage_is_named_with_its_line_and_the_rest_counts(void **state) {
    (void)state;
    keel_why_t stats;
    stats_of("{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"name\":\"f\",\"seconds\":1}\n"
             "broken \x1b[31m\n{\"event\":\"end\",\"pid\":1}\n",
             &stats);
    assert_int_equal(stats.run.compiles.times, 1);
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_text_damage(&stats.run, &text);
    assert_non_null(strstr(keel_buffer_cstr(&text), "/r/journal.ndjson:2: not JSON"));
    assert_null(strchr(keel_buffer_cstr(&text), '\x1b'));
    keel_buffer_deinitialize(&text);
    keel_why_deinitialize(&stats);
}

#ifdef KEEL_FAULTS
static void every_allocation_that_fails_is_reported_and_nothing_leaks(void **state) {
    (void)state;
    for (uint64_t n = 1;; ++n) {
        assert_true(n < 10000);
        keel_why_t stats;
        keel_fault_arm(KEEL_FAULT_ALLOC, n);
        keel_status_t status =
            keel_why_parse(keel_str_bytes(keel_str(one_process)), "r1", "/r/j", 0, &stats);
        uint64_t seen = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        keel_why_deinitialize(&stats);
        keel_status_ignore(status);
        if (seen < n) break;
        assert_non_null(status);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_journal),
        cmocka_unit_test(what_was_loaded_ahead_and_what_failed_are_rows_of_their_own),
        cmocka_unit_test(where_no_device_reports_its_memory_the_reason_is_told),
        cmocka_unit_test(a_run_is_what_its_first_process_said),
        cmocka_unit_test(a_step_is_an_execution_of_the_family_that_does_the_most),
        cmocka_unit_test(a_load_from_memory_is_no_new_program),
        cmocka_unit_test(several_processes_count_their_own_steps),
        cmocka_unit_test(recompiles_carry_their_step_and_their_line),
        cmocka_unit_test(the_summary_is_a_few_lines),
        cmocka_unit_test(a_run_that_never_settles_says_so),
        cmocka_unit_test(a_run_that_only_loaded_is_not_said_to_have_had_new_programs_up_to_the_end),
        cmocka_unit_test(a_process_that_ended_early_is_told_and_nothing_is_said_of_its_end),
        cmocka_unit_test(a_run_whose_last_step_compiled_is_not_called_flat),
        cmocka_unit_test(an_unrelated_program_of_one_name_is_no_recompile),
        cmocka_unit_test(an_unrelated_program_of_pytorch_is_a_recompile),
        cmocka_unit_test(executions_that_are_written_as_the_run_goes_on_all_count),
        cmocka_unit_test(recompiles_of_one_line_are_named_once_and_the_dearest_first),
        cmocka_unit_test(the_summary_names_the_cause_of_each_recompile_where_the_journal_has_it),
        cmocka_unit_test(the_summary_names_what_made_programs_of_earlier_runs_compile_again),
        cmocka_unit_test(json_holds_the_figures_and_the_lists),
        cmocka_unit_test(each_figure_of_a_run_has_its_own_name),
        cmocka_unit_test(programs_and_recompiles_have_their_own_figures),
        cmocka_unit_test(many_programs_are_cut_and_counted),
        cmocka_unit_test(an_empty_journal_and_one_of_strange_fields_have_figures_too),
        cmocka_unit_test(damage_is_named_with_its_line_and_the_rest_counts),
#ifdef KEEL_FAULTS
        cmocka_unit_test(every_allocation_that_fails_is_reported_and_nothing_leaks),
#endif
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
