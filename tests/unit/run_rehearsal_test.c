// What is read from the journal of a rehearsal, and what is said about it.
#define _GNU_SOURCE
#include "page_help.h"
#include "why_help.h"

#include "text/rehearsed.h"

// ---- journals ----------------------------------------------------------------------------------

static void line_of(const char *text) {
    keel_buffer_text(&journal, text);
    keel_buffer_byte(&journal, '\n');
}

// Of h200:8, whose clients may use 100 bytes of the 160 of each device.
static int begin_rehearsal(void **state) {
    (void)state;
    keel_buffer_initialize(&journal, 0);
    line_of("{\"event\":\"start\",\"t\":1000,\"pid\":1,\"cwd\":\"/w\",\"argv\":[\"python\","
            "\"train.py\"],\"target\":{\"name\":\"h200:8\",\"platform\":\"cuda\",\"kind\":"
            "\"NVIDIA H200\",\"devices\":8,\"processes\":1,\"memory\":160,\"compile\":\"new\","
            "\"values\":\"zeros\"}}");
    line_of("{\"event\":\"device_memory\",\"pid\":1,\"device\":\"cuda:0\",\"kind\":\"H200\","
            "\"in_use\":0,\"limit\":100}");
    return 0;
}

// A compile at line `ops` of /w/t.py.
static void asked(const char *program, const char *rehearsed, unsigned ops, bool recompile) {
    keel_buffer_format(&journal,
                       "{\"event\":\"compile\",\"t\":1001,\"pid\":1,\"program\":\"%s\",\"key\":"
                       "\"k%s\",\"name\":\"jit_%s\",\"seconds\":0.001,\"ops\":%u,\"format\":"
                       "\"mlir\",\"recompile\":%s,\"rehearsed\":\"%s\",\"site\":{\"file\":"
                       "\"/w/t.py\",\"line\":%u}}\n",
                       program, program, program, ops, recompile ? "true" : "false", rehearsed,
                       ops);
}

static void compiled(int pid, const char *program, double seconds, bool failed) {
    keel_buffer_format(&journal,
                       "{\"event\":\"compiled\",\"t\":1002,\"pid\":%d,\"program\":\"%s\",\"key\":"
                       "\"k%s\",\"name\":\"jit_%s\",\"seconds\":%g%s}\n",
                       pid, program, program, program, seconds, failed ? ",\"failed\":true" : "");
}

static void needs(const char *program, unsigned arguments, unsigned outputs, unsigned aliased,
                  unsigned temporaries, unsigned code) {
    keel_buffer_format(&journal,
                       "{\"event\":\"memory\",\"pid\":1,\"program\":\"%s\",\"key\":\"k%s\","
                       "\"name\":\"jit_%s\",\"arguments\":%u,\"outputs\":%u,\"aliased\":%u,"
                       "\"temporaries\":%u,\"code\":%u,\"total\":%u}\n",
                       program, program, program, arguments, outputs, aliased, temporaries, code,
                       arguments + outputs - aliased + temporaries + code);
}

static void adding(const char *program, unsigned bytes, unsigned adds) {
    keel_buffer_format(
        &journal, "{\"event\":\"living\",\"pid\":1,\"program\":\"%s\",\"bytes\":%u,\"adds\":%u}\n",
        program, bytes, adds);
}

static void living(const char *program, unsigned bytes) {
    adding(program, bytes, 0);
}

static void unreal(const char *maker, const char *into, unsigned line, unsigned times) {
    keel_buffer_format(&journal,
                       "{\"event\":\"unreal\",\"pid\":1,\"maker\":\"%s\",\"into\":\"%s\",\"count\":"
                       "%u,\"site\":{\"file\":\"/w/t.py\",\"line\":%u}}\n",
                       maker, into, times, line);
}

static void refused(const char *program, const char *code, const char *message) {
    keel_buffer_format(&journal,
                       "{\"event\":\"compile_error\",\"pid\":1,\"program\":\"%s\",\"key\":\"k%s\","
                       "\"name\":\"jit_%s\",\"code\":\"%s\",\"message\":\"%s\",\"site\":{\"file\":"
                       "\"/w/t.py\",\"line\":3}}\n",
                       program, program, program, code, message);
}

static void ended(void) {
    line_of("{\"event\":\"end\",\"t\":1009,\"pid\":1,\"total\":0,\"wall\":9}");
}

// ---- what is said ------------------------------------------------------------------------------

typedef void say_t(const keel_why_t *why, keel_buffer_t *out);

static void say_stats(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_stats(why, 0, out);
}

static void say_figures(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_stats_json(why, true, out);
}

static void say_why(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_why(why, &(keel_text_style_t){.width = 0}, out);
}

static void say_causes(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_why_json(why, false, out);
}

static void say_memory(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_memory(&why->run, NULL, out);
}

static void say_summary(const keel_why_t *why, keel_buffer_t *out) {
    keel_rehearsal_summary(&why->run, out);
}

static void say_line(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_line(why, 0, out);
}

static void assert_says(say_t *say, const char *expected) {
    keel_why_t why;
    keel_buffer_t out;
    parse(&why);
    keel_buffer_initialize(&out, 0);
    say(&why, &out);
    assert_null(keel_buffer_status(&out));
    if (!strstr(keel_buffer_cstr(&out), expected))
        fail_msg("%s\nis not in\n%s", expected, keel_buffer_cstr(&out));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&why);
}

static json_t *json_of(say_t *say) {
    keel_why_t why;
    keel_buffer_t out;
    parse(&why);
    keel_buffer_initialize(&out, 0);
    say(&why, &out);
    json_t *json = json_loads(keel_buffer_cstr(&out), 0, NULL);
    assert_non_null(json);
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&why);
    return json;
}

static const keel_run_program_t *program_named(const keel_run_t *run, const char *name) {
    for (size_t i = 0; i < run->program_count; ++i)
        if (strcmp(run->programs[i].name, name) == 0) return &run->programs[i];
    fail_msg("no program %s", name);
    return NULL;
}

// ---- what compiles took ------------------------------------------------------------------------

static void what_a_compile_took_is_what_the_compiler_says(void **state) {
    (void)state;
    compiled(1, "e", 0.25, false); // by another thread, before the client's own line
    asked("a", "later", 10, false);
    asked("b", "now", 20, false);
    compiled(1, "b", 2, false);
    asked("c", "never", 30, false);
    asked("d", "later", 40, false); // the process ended before
    asked("e", "later", 50, false);
    asked("f", "later", 60, false);
    compiled(1, "f", 7, true);
    compiled(2, "d", 9, false); // of another process
    compiled(1, "a", 4, false);
    asked("g", "now", 70, false); // killed before it wrote the rest
    static const struct {
        const char *name;
        double seconds;
        uint64_t unknown;
    } rows[] = {{"jit_a", 4, 0}, {"jit_b", 2, 0},    {"jit_c", 0, 1},    {"jit_d", 0, 1},
                {"jit_f", 0, 1}, {"jit_e", 0.25, 0}, {"jit_g", 0.001, 0}};
    keel_why_t why;
    parse(&why);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const keel_took_t *took = &program_named(&why.run, rows[i].name)->compiles;
        if (took->seconds != rows[i].seconds || took->unknown != rows[i].unknown)
            fail_msg("%s: %g", rows[i].name, took->seconds);
    }
    assert_int_equal(why.run.compiles.times, 7);
    assert_int_equal(why.run.compiles.unknown, 3);
    assert_true(why.run.compiles.seconds > 6.25 && why.run.compiles.seconds < 6.26);
    assert_int_equal(why.run.fates[KEEL_RUN_COMPILED], 4);
    assert_int_equal(why.run.fates[KEEL_RUN_SKIPPED], 1);
    assert_int_equal(why.run.fates[KEEL_RUN_PENDING], 1);
    assert_int_equal(why.run.fates[KEEL_RUN_REFUSED], 1);
    assert_string_equal(why.run.programs[0].name, "jit_a"); // the most expensive
    assert_string_equal(why.run.programs[4].name, "jit_f"); // then the largest
    keel_why_deinitialize(&why);
    assert_says(keel_text_summary, "rehearsed on h200:8: 7 programs; 4 compiles 6.3 s, 1 refused, "
                                   "1 not done when the process ended, 1 not compiled\n");
    assert_says(say_stats, "compiles    7       at least 6.3 s: 4 compiles 6.3 s, 1 refused");
    assert_says(say_why, "\n  1 program was still with the compiler when the process ended\n");
    json_t *json = json_of(say_figures);
    assert_true(json_is_null(json_object_get(json, "compile_seconds")));
    assert_int_equal(json_integer_value(json_object_get(json, "compiles")), 7);
    assert_string_equal(json_string_value(json_object_get(json, "target")), "h200:8");
    json_decref(json);
}

static void each_compile_of_a_program_has_its_own_time(void **state) {
    (void)state;
    asked("a", "later", 10, false);
    asked("a", "later", 10, false);
    asked("a", "later", 10, false);
    compiled(1, "a", 1, false);
    compiled(1, "a", 2, false);
    keel_why_t why;
    parse(&why);
    assert_true(why.run.requests[0].took.seconds == 1);
    assert_true(why.run.requests[1].took.seconds == 2);
    assert_int_equal(why.run.requests[2].fate, KEEL_RUN_PENDING);
    assert_int_equal(why.run.programs[0].compiles.times, 3);
    assert_int_equal(why.run.programs[0].compiles.unknown, 1);
    keel_why_deinitialize(&why);
    assert_says(say_stats, "a                > 3.0 s         -         0  jit_a");
}

static void without_compiles_nothing_has_a_cost(void **state) {
    (void)state;
    asked("a", "never", 10, false);
    asked("b", "never", 20, true);
    explain("compile", "b", "jit_b", 0.001,
            AGAIN ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"x\",\"old\":\"f32[8]\",\"new\":"
                  "\"f32[4]\",\"file\":\"/w/t.py\",\"line\":20}]");
    ended();
    assert_says(keel_text_summary, "keel: rehearsed on h200:8: 2 programs; nothing compiled\n"
                                   "keel: 1 recompile: t.py:20 shape x f32[8] -> f32[4]; run");
    assert_says(say_line, "on h200:8: nothing compiled");
    assert_says(say_stats, "\n  rehearsed   on h200:8 (8 x NVIDIA H200, 160 B each)\n");
    assert_says(say_stats, "\n1 recompile\n  step 1              -  t.py:20 shape");
    assert_says(say_why, "\n1 recompile.\n\n1  step 1  -  shape  t.py:20  x  f32[8] -> f32[4]\n");
    assert_says(say_why, "On h200:8 itself this may differ:\n  2 programs were not compiled:");
    json_t *causes = json_of(say_causes), *figures = json_of(say_figures);
    assert_true(json_is_null(json_object_get(json_array_get(causes, 0), "seconds")));
    assert_true(json_is_null(json_object_get(figures, "recompile_seconds")));
    json_decref(causes);
    json_decref(figures);
}

static void what_has_no_cost_is_ranked_by_its_size(void **state) {
    (void)state;
    static const struct {
        const char *program, *rehearsed;
        unsigned ops;
    } rows[] = {{"a", "never", 10}, {"b", "now", 5}, {"c", "never", 500}};
    for (size_t i = 0; i < 3; ++i) {
        char rest[300];
        asked(rows[i].program, rows[i].rehearsed, rows[i].ops, true);
        snprintf(rest, sizeof rest,
                 AGAIN ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"%s\",\"old\":\"f32[8]\","
                       "\"new\":\"f32[4]\",\"file\":\"/w/t.py\",\"line\":%u}]",
                 rows[i].program, rows[i].ops);
        explain("compile", rows[i].program, "f", 0.001, rest);
    }
    compiled(1, "b", 2, false);
    assert_says(keel_text_summary, "keel: 3 recompiles cost at least 2.0 s: t.py:5 shape b f32[8] "
                                   "-> f32[4], t.py:500 shape c f32[8] -> f32[4], t.py:10 shape");
    assert_says(say_why, "1  step 1  2.0 s  shape  t.py:5 ");
    assert_says(say_why, "2  step 1      -  shape  t.py:500 ");
    assert_says(say_why, "3  step 1      -  shape  t.py:10 ");
    assert_says(say_why, "Seconds by line: t.py:5 2.0 s, t.py:500 -, t.py:10 -\n");
    assert_says(say_why, "Seconds by cause: shape at least 2.0 s\n");
}

// What was in the cache of the rehearsal is not in that of the device.
static void a_recompile_that_was_loaded_is_shown_with_what_it_had_cost(void **state) {
    (void)state;
    line_of("{\"event\":\"load\",\"t\":1001,\"pid\":1,\"program\":\"a\",\"key\":\"ka\",\"name\":"
            "\"jit_a\",\"tier\":\"disk\",\"seconds\":0.001,\"compile_seconds\":3,\"recompile\":"
            "true,\"site\":{\"file\":\"/w/t.py\",\"line\":9}}");
    line_of("{\"event\":\"load\",\"t\":1001,\"pid\":1,\"program\":\"b\",\"key\":\"kb\",\"name\":"
            "\"jit_b\",\"tier\":\"memory\",\"seconds\":0.001,\"compile_seconds\":3,\"recompile\":"
            "true}");
    explain("load", "a", "jit_a", 0.001,
            AGAIN ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"x\",\"old\":\"f32[8]\",\"new\":"
                  "\"f32[4]\",\"file\":\"/w/t.py\",\"line\":9}]");
    ended();
    assert_says(keel_text_summary,
                "2 programs; nothing compiled, 2 loads instead of at most 6.0 s\n"
                "keel: 1 recompile cost 3.0 s: t.py:9 shape x");
    assert_says(say_why, "1  step 1  3.0 s  shape  t.py:9");
    assert_says(say_stats, "loads       2       -, 1 of them from memory; compiling them had");
    json_t *json = json_of(say_figures);
    assert_true(json_is_null(json_object_get(json, "load_seconds")));
    json_decref(json);
}

static void nothing_moves_in_a_rehearsal(void **state) {
    (void)state;
    line_of("{\"event\":\"transfers\",\"pid\":1,\"to_device\":{\"count\":2,\"bytes\":8,\"seconds\":"
            "1},\"from_device\":{\"count\":1,\"bytes\":4,\"seconds\":1},\"reads\":[{\"site\":{"
            "\"file\":\"/w/t.py\",\"line\":3},\"count\":1,\"bytes\":4,\"seconds\":1}]}");
    assert_says(say_stats, "to device   2 transfers; 8 bytes\n");
    assert_says(say_stats, "\n1                      4         -         0  t.py:3\n");
    json_t *json = json_of(say_figures);
    const json_t *moved = json_object_get(json, "to_device");
    assert_true(json_is_null(json_object_get(moved, "seconds")));
    assert_int_equal(json_integer_value(json_object_get(moved, "bytes")), 8);
    json_decref(json);
}

// ---- does it fit -------------------------------------------------------------------------------

static void fits(const char *sentence, keel_run_verdict_t verdict) {
    keel_why_t why;
    parse(&why);
    assert_int_equal(keel_run_fit(&why.run).verdict, verdict);
    assert_int_equal(keel_run_passes(&why.run), verdict != KEEL_RUN_TOO_LARGE);
    keel_why_deinitialize(&why);
    assert_says(keel_text_summary, sentence);
}

static void what_lives_beside_a_program_counts(void **state) {
    (void)state;
    asked("a", "now", 10, false);
    compiled(1, "a", 1, false);
    needs("a", 20, 15, 10, 30, 4);
    living("a", 30);
    living("a", 25); // the most counts
    asked("b", "now", 20, false);
    compiled(1, "b", 1, false);
    needs("b", 50, 0, 0, 20, 3);
    ended();
    // 30 + 15 - 10 + 30, and the code of both; b never ran.
    fits("\nkeel: fits: at most 73 B of the 100 B of a device, in jit_b (t.py:20)\n",
         KEEL_RUN_FITS);
    living("b", 40);
    fits("\nkeel: fits: at most 72 B of the 100 B of a device, in jit_a (t.py:10)\n",
         KEEL_RUN_FITS);
    assert_says(say_memory,
                "a                     72 B        30 B        20 B        15 B        10 B"
                "        30 B         4 B  jit_a  t.py:10\n"
                "b                     67 B        40 B        50 B         0 B         0 B"
                "        20 B         3 B  jit_b  t.py:20\n");
    assert_says(say_memory, "A client's allocator takes 100 B of the 160 B of a device.\n");
    living("b", 74);
    fits("\nkeel: does not fit: jit_b (t.py:20) needs 101 B on a device, there are 100 B; run "
         "`keel memory`\n",
         KEEL_RUN_TOO_LARGE);
    assert_says(say_why, "\ndoes not fit: jit_b (t.py:20) needs 101 B on a device, there are 100 "
                         "B; `keel memory` shows what is alive\n");
}

// The client is not told again what it needs.
static void a_program_with_the_key_of_another_needs_as_much(void **state) {
    (void)state;
    asked("a", "now", 10, false);
    compiled(1, "a", 1, false);
    needs("a", 20, 15, 10, 30, 4);
    living("a", 30);
    keel_buffer_text(&journal, "{\"event\":\"load\",\"pid\":1,\"program\":\"c\",\"key\":\"ka\","
                               "\"name\":\"jit_c\",\"tier\":\"memory\"}\n");
    living("c", 40);
    ended();
    fits("\nkeel: fits: at most 79 B of the 100 B of a device, in jit_a (t.py:10)\n",
         KEEL_RUN_FITS);
}

static void what_a_program_needs_is_at_least_what_lives(void **state) {
    (void)state;
    asked("a", "never", 10, false);
    living("a", 60);
    ended();
    fits("\nkeel: memory: at least 60 B of the 100 B of a device; what jit_a (t.py:10) "
         "needs besides arguments and results is not known without a compile\n",
         KEEL_RUN_UNSURE);
    assert_says(say_memory, "a                   > 60 B        60 B           -           -");
    adding("a", 60, 30);
    assert_says(say_memory, "a                   > 90 B        60 B           -           -");
    adding("a", 61, 40);
    fits("\nkeel: does not fit: jit_a (t.py:10) needs at least 101 B on a device, there are 100 B",
         KEEL_RUN_TOO_LARGE);
}

static void a_run_that_did_not_end_fits_so_far(void **state) {
    (void)state;
    asked("a", "now", 10, false);
    compiled(1, "a", 1, false);
    needs("a", 1, 1, 0, 1, 1);
    living("a", 1);
    fits("\nkeel: memory: so far at most 4 B of the 100 B of a device, in jit_a (t.py:10)\n",
         KEEL_RUN_UNSURE);
}

static void the_targets_memory_is_the_limit_if_no_client_says_another(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        journal.size = 0;
        keel_buffer_format(&journal,
                           "{\"event\":\"start\",\"t\":1,\"pid\":1,\"argv\":[\"p\"],\"target\":{"
                           "\"name\":\"cpu:2\"%s}}\n",
                           i ? ",\"memory\":160" : "");
        asked("a", "now", 10, false);
        compiled(1, "a", 1, false);
        needs("a", 100, 1, 0, 1, 1);
        living("a", 100);
        ended();
        fits(i ? "\nkeel: fits: at most 103 B of the 160 B of a device, in jit_a (/w/t.py:10)\n"
               : "\nkeel: memory: at most 103 B on a device, in jit_a (/w/t.py:10); how much a "
                 "device of cpu:2 has is not known\n",
             i ? KEEL_RUN_FITS : KEEL_RUN_UNSURE);
    }
}

static void numbers_of_a_foreign_journal_do_not_wrap(void **state) {
    (void)state;
    asked("a", "now", 10, false);
    line_of("{\"event\":\"memory\",\"pid\":1,\"program\":\"a\",\"key\":\"ka\",\"name\":\"jit_a\","
            "\"outputs\":9223372036854775807,\"temporaries\":9223372036854775807,\"code\":9}");
    line_of("{\"event\":\"living\",\"pid\":1,\"program\":\"a\",\"bytes\":9223372036854775807}");
    fits("does not fit: jit_a (t.py:10) needs 16.0 EiB", KEEL_RUN_TOO_LARGE);
}

// ---- what is refused ---------------------------------------------------------------------------

static void what_does_not_compile_is_told_once_with_its_line(void **state) {
    (void)state;
    asked("a", "later", 10, false);
    compiled(1, "a", 1, true);
    refused("a", "UNIMPLEMENTED", "no such call\\nsecond line");
    refused("a", "UNIMPLEMENTED", "again");
    refused("b", "INVALID_ARGUMENT", "keel: this program cannot be read");
    keel_why_t why;
    parse(&why);
    const keel_run_rehearsal_t *rehearsal = &why.run.rehearsal;
    assert_int_equal(rehearsal->refusal_count, 2);
    assert_int_equal(rehearsal->refusals[0].times, 2);
    assert_string_equal(rehearsal->refusals[0].code, "UNIMPLEMENTED");
    assert_false(rehearsal->refusals[0].is_keels);
    assert_true(rehearsal->refusals[1].is_keels);
    assert_false(keel_run_passes(&why.run));
    keel_why_deinitialize(&why);
    assert_says(keel_text_summary, "keel: jit_a (t.py:3) does not compile for h200:8: no such call "
                                   "...; and 1 more; run `keel why`\n");
    assert_says(say_why, "jit_a (t.py:3) does not compile for h200:8: no such call?second line\n");
    assert_says(say_why, "jit_b (t.py:3) cannot be rehearsed: keel: this program cannot be read\n");
    assert_says(say_stats, "refused     jit_a (t.py:3) does not compile");
    json_t *json = json_of(say_figures);
    const json_t *list = json_object_get(json_object_get(json, "rehearsal"), "refusals");
    assert_int_equal(json_array_size(list), 2);
    json_decref(json);
}

static void what_the_compiler_finds_too_large_does_not_fit(void **state) {
    (void)state;
    refused("a", "RESOURCE_EXHAUSTED", "Used 2G of 1G hbm.");
    ended();
    fits("\nkeel: t.py:3 (jit_a) does not fit the device's memory: it needs 2.0 GiB, there are "
         "1.0 GiB; run `keel memory`\n",
         KEEL_RUN_TOO_LARGE);
}

// ---- what is not real --------------------------------------------------------------------------

static void values_that_no_device_computed_are_told_by_line(void **state) {
    (void)state;
    unreal("jit_step", "", 3, 4);
    unreal("jit_step", "", 3, 5);
    unreal("jit_other", "", 3, 1);
    unreal("jit_init", "jit_loss", 9, 1);
    unreal("jit_init", "jit_loss", 11, 1);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.run.rehearsal.unreal_count, 4);
    assert_int_equal(why.run.rehearsal.unreals[0].times, 9);
    keel_why_deinitialize(&why);
    assert_says(keel_text_summary,
                "keel: 1 line reads values that no device computed, as zeros: t.py:3 (jit_step)\n"
                "keel: 1 program has constants that no device computed: jit_loss (t.py:9); on the "
                "device these are other programs\n");
    assert_says(say_why, "\n  t.py:3 reads what jit_step makes, 9 times; no device computed it, so "
                         "it read as zeros\n");
    assert_says(say_why, "\n  jit_loss has what jit_init makes as a constant, read at t.py:11; no");
    for (unsigned line = 20; line < 40; ++line)
        unreal("jit_step", "", line, 1);
    assert_says(keel_text_summary, "keel: 21 lines read values that no device computed, as zeros: "
                                   "t.py:3 (jit_step), t.py:20 (jit_step), t.py:21 (jit_step), "
                                   "...\n");
    assert_says(say_why, "\n  ... and 14 more; keel why --all\n");
}

static void refused_reads_fail_the_rehearsal(void **state) {
    (void)state;
    unreal("jit_step", "", 3, 4);
    line_of("{\"event\":\"unreal\",\"pid\":1,\"maker\":\"jit_step\",\"count\":0,\"refused\":2,"
            "\"site\":{\"file\":\"/w/t.py\",\"line\":9}}");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.run.rehearsal.unreals[1].refused, 2);
    assert_false(keel_run_passes(&why.run));
    keel_why_deinitialize(&why);
    assert_says(keel_text_summary,
                "keel: 1 line was refused values that no device computed, which would replace "
                "files: t.py:9 (jit_step)\nkeel: rehearsed on h200:8: ");
    assert_says(keel_text_summary,
                "keel: 1 line reads values that no device computed, as zeros: t.py:3 (jit_step)\n");
    assert_says(say_why, "\n  t.py:9 was refused what jit_step makes, 2 times; no device computed "
                         "it\n");
    assert_says(say_stats, "held back   1 line was refused");
}

static void say_assumed(const keel_why_t *why, keel_buffer_t *out) {
    keel_assumed_sentence(&why->run, out);
    if (!out->size) keel_buffer_text(out, "nothing");
}

static void what_only_the_machine_tells_is_told_once(void **state) {
    (void)state;
    static const char line[] = "keel: what was compiled assumes the machine's driver, memory limit "
                               "and topology; `keel probe --json` shows them there\n";
    keel_buffer_deinitialize(&journal);
    keel_buffer_initialize(&journal, 0);
    line_of(
        "{\"event\":\"start\",\"t\":1000,\"pid\":1,\"cwd\":\"/w\",\"argv\":[\"python\"],"
        "\"target\":{\"name\":\"h200\",\"platform\":\"cuda\",\"devices\":1,\"assumed\":[\"driver\","
        "\"memory limit\",7,\"topology\"]}}");
    asked("a", "later", 3, false);
    ended();
    assert_says(say_assumed, "nothing");
    compiled(1, "a", 1, false);
    assert_says(keel_text_summary, line);
    assert_says(say_stats, "\n  assumed     what was compiled assumes the machine's driver");
    keel_why_t why;
    parse(&why);
    assert_string_equal(why.run.rehearsal.target.assumed[2], "topology");
    assert_null(why.run.rehearsal.target.assumed[3]);
    keel_why_deinitialize(&why);
}

static void guesses_are_told(void **state) {
    (void)state;
    line_of("{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"key\":\"ka\",\"name\":\"jit_a\","
            "\"rehearsed\":\"never\",\"guess\":true,\"site\":{\"file\":\"/w/t.py\",\"line\":3}}");
    assert_says(say_why, "\n  how the results of jit_a (t.py:3) are sharded is not known; they "
                         "count as whole on each device\n");
}

// ---- other runs --------------------------------------------------------------------------------

static void a_run_on_real_devices_says_nothing_of_it(void **state) {
    (void)state;
    compile("a", "jit_a", 2, 1);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.run.fates[KEEL_RUN_COMPILED], 1);
    assert_true(keel_run_passes(&why.run));
    assert_int_equal(keel_run_fit(&why.run).verdict, KEEL_RUN_UNSURE);
    keel_why_deinitialize(&why);
    json_t *json = json_of(say_figures);
    assert_true(json_is_null(json_object_get(json, "rehearsal")));
    assert_true(json_is_null(json_object_get(json, "target")));
    json_decref(json);
}

// ---- several processes -------------------------------------------------------------------------

// Of a target of `processes`, whose process i has the number 10 + i.
static void begin_hosts(unsigned processes) {
    journal.size = 0;
    for (unsigned i = 0; i < processes; ++i)
        keel_buffer_format(&journal,
                           "{\"event\":\"start\",\"t\":1000,\"pid\":%u,\"cwd\":\"/w\",\"argv\":"
                           "[\"python\",\"train.py\"],\"target\":{\"name\":\"cpu:8\",\"platform\":"
                           "\"cpu\",\"kind\":\"cpu\",\"devices\":8,\"processes\":%u,\"process\":%u,"
                           "\"compile\":\"none\",\"values\":\"zeros\"}}\n",
                           10 + i, processes, i);
}

static void asked_by(unsigned process, const char *program, unsigned line) {
    keel_buffer_format(&journal,
                       "{\"event\":\"compile\",\"t\":1001,\"pid\":%u,\"program\":\"%s\",\"key\":"
                       "\"k%s\",\"name\":\"jit_%s\",\"seconds\":0.001,\"ops\":1,\"format\":"
                       "\"mlir\",\"recompile\":false,\"rehearsed\":\"never\",\"site\":{\"file\":"
                       "\"/w/t.py\",\"line\":%u}}\n",
                       10 + process, program, program, program, line);
}

static void spans(unsigned process, const char *program) {
    keel_buffer_format(&journal,
                       "{\"event\":\"living\",\"pid\":%u,\"program\":\"%s\",\"bytes\":1,\"spans\":"
                       "true}\n",
                       10 + process, program);
}

static void executed(unsigned process, const char *program, int times) {
    keel_buffer_format(&journal, "{\"event\":\"executes\",\"pid\":%u,\"executes\":{\"%s\":%d}}\n",
                       10 + process, program, times);
}

static void end_hosts(unsigned processes) {
    for (unsigned i = 0; i < processes; ++i)
        keel_buffer_format(
            &journal, "{\"event\":\"end\",\"t\":1009,\"pid\":%u,\"total\":0,\"wall\":9}\n", 10 + i);
}

static void processes_that_do_the_same_are_not_told(void **state) {
    (void)state;
    begin_hosts(2);
    for (unsigned process = 0; process < 2; ++process) {
        asked_by(process, "a", 3);
        spans(process, "a");
        executed(process, "a", 2 + (int)process);
        executed(process, "a", 3 - (int)process);
        asked_by(process, "own", 4); // of its own devices
        executed(process, "own", 1 + (int)process);
    }
    end_hosts(2);
    json_t *json = json_of(say_figures);
    assert_int_equal(json_array_size(json_object_get(json_object_get(json, "rehearsal"), "drifts")),
                     0);
    json_decref(json);
}

// All hosts wait for a program at the same time.
static void what_another_host_asked_for_is_no_compile_of_its_own(void **state) {
    (void)state;
    for (unsigned processes = 1; processes <= 3; ++processes) {
        keel_run_t run;
        begin_hosts(processes);
        for (unsigned process = 0; process < processes; ++process)
            asked_by(process, "a", 3);
        end_hosts(processes);
        assert_ok(keel_run_parse(keel_buffer_bytes(&journal), "r", "/r/journal.ndjson", 0, &run));
        assert_int_equal(run.request_count, processes);
        for (unsigned process = 0; process < processes; ++process) {
            assert_int_equal(run.requests[process].is_repeat, process > 0);
            assert_int_equal(run.requests[process].is_compile, process == 0);
        }
        keel_run_deinitialize(&run);
    }
}

static void a_program_that_a_process_executes_less_often_is_told(void **state) {
    (void)state;
    static const char sentence[] =
        "process 2 executes jit_a (t.py:3) 1 time, process 1 5 times: on cpu:8 itself one would "
        "wait for the other";
    begin_hosts(3);
    asked_by(0, "a", 3);
    spans(0, "a");
    executed(0, "a", 3);
    executed(1, "a", 5);
    executed(2, "a", 1);
    end_hosts(3);
    assert_says(say_summary, sentence);
    assert_says(say_why, sentence);
    json_t *json = json_of(say_figures);
    const json_t *drift =
        json_array_get(json_object_get(json_object_get(json, "rehearsal"), "drifts"), 0);
    assert_string_equal(json_string_value(json_object_get(drift, "name")), "jit_a");
    assert_string_equal(json_string_value(json_object_get(drift, "shown")), "t.py:3");
    static const struct {
        const char *name;
        int value;
    } numbers[] = {{"most", 5}, {"most_process", 1}, {"least", 1}, {"least_process", 2}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        assert_int_equal(json_integer_value(json_object_get(drift, numbers[i].name)),
                         numbers[i].value);
    json_decref(json);
}

static void a_program_that_a_process_never_executes_is_told(void **state) {
    (void)state;
    begin_hosts(2);
    asked_by(1, "a", 3);
    spans(1, "a");
    executed(1, "a", 1);
    asked_by(0, "b", 7);
    spans(0, "b");
    executed(0, "b", 4);
    end_hosts(2);
    assert_says(say_why,
                "process 0 never executes jit_a (t.py:3), which process 1 executes 1 time: "
                "on cpu:8 itself one would wait for the other");
    assert_says(say_why,
                "process 1 never executes jit_b (t.py:7), which process 0 executes 4 times");
    assert_says(say_summary, "; and 1 more; run `keel why`");
}

// Of a process that was not started nothing is known.
static void only_processes_that_started_are_compared(void **state) {
    (void)state;
    begin_hosts(1);
    keel_buffer_format(&journal,
                       "{\"event\":\"start\",\"t\":1000,\"pid\":20,\"target\":{\"name\":\"cpu:8\","
                       "\"processes\":4096,\"process\":4096}}\n");
    asked_by(0, "a", 3);
    spans(0, "a");
    executed(0, "a", 1);
    end_hosts(1);
    keel_buffer_text(&journal,
                     "{\"event\":\"end\",\"t\":1009,\"pid\":20,\"total\":0,\"wall\":9}\n");
    json_t *json = json_of(say_figures);
    assert_int_equal(json_array_size(json_object_get(json_object_get(json, "rehearsal"), "drifts")),
                     0);
    json_decref(json);
}

// One that is killed, or goes on, may have executed more.
static void nothing_is_compared_while_a_process_has_not_ended(void **state) {
    (void)state;
    begin_hosts(2);
    asked_by(0, "a", 3);
    spans(0, "a");
    executed(0, "a", 1);
    end_hosts(1);
    json_t *json = json_of(say_figures);
    assert_int_equal(json_array_size(json_object_get(json_object_get(json, "rehearsal"), "drifts")),
                     0);
    json_decref(json);
}

static void many_differences_are_cut_unless_all_are_asked_for(void **state) {
    (void)state;
    begin_hosts(2);
    for (unsigned i = 0; i < 12; ++i) {
        const char program[] = {(char)('a' + (int)i), 0};
        asked_by(0, program, 3 + i);
        spans(0, program);
        executed(0, program, 1);
    }
    end_hosts(2);
    assert_says(say_why, "jit_j (t.py:12), which process 0");
    assert_says(say_why, "... and 2 more; keel why --all");
}

static void many_limits_are_cut_unless_all_are_asked_for(void **state) {
    (void)state;
    for (unsigned line = 10; line < 22; ++line)
        unreal("jit_step", "", line, 1);
    assert_says(say_why, "t.py:19 reads what jit_step makes, 1 time; no device computed it, so it "
                         "read as zeros\n"
                         "  ... and 2 more; keel why --all\n");
}

// ---- the page ----------------------------------------------------------------------------------

#define EVIL "</code><script>alert(1)</script>\\u202e"

static void a_page_says_all_of_it(void **state) {
    (void)state;
    keel_buffer_t page;
    asked("a", "never", 10, true);
    asked("b", "later", 20, true);
    refused(EVIL, EVIL, EVIL);
    unreal(EVIL, "", 3, 1);
    unreal(EVIL, EVIL, 3, 1);
    for (unsigned line = 10; line < 200; ++line)
        unreal("jit_step", "", line, 1);
    make_page(keel_buffer_cstr(&journal), NULL, &page);
    assert_has(&page, "<dt>rehearsed</dt><dd>on h200:8 (8 x NVIDIA H200, 160 B each)</dd>");
    assert_has(&page, "<a href=\"#rehearsal\">Rehearsal</a>");
    assert_has(&page, "<figcaption>Compiles, by time and cause</figcaption>");
    assert_has(&page, "reads what jit_step makes, 1 time; no device computed it");
    assert_has(&page, "<p class=\"muted left\">and 94 limits more</p>");
    assert_lacks(&page, "<script");
    keel_buffer_deinitialize(&page);
    journal.size = 0;
    line_of("{\"event\":\"start\",\"t\":1,\"pid\":1,\"argv\":[\"p\"]}");
    make_page(keel_buffer_cstr(&journal), NULL, &page);
    assert_lacks(&page, "ehears");
    keel_buffer_deinitialize(&page);
}

#define REHEARSAL(name) cmocka_unit_test_setup_teardown(name, begin_rehearsal, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        REHEARSAL(what_a_compile_took_is_what_the_compiler_says),
        REHEARSAL(each_compile_of_a_program_has_its_own_time),
        REHEARSAL(without_compiles_nothing_has_a_cost),
        REHEARSAL(what_has_no_cost_is_ranked_by_its_size),
        REHEARSAL(a_recompile_that_was_loaded_is_shown_with_what_it_had_cost),
        REHEARSAL(nothing_moves_in_a_rehearsal),
        REHEARSAL(what_lives_beside_a_program_counts),
        REHEARSAL(a_program_with_the_key_of_another_needs_as_much),
        REHEARSAL(what_a_program_needs_is_at_least_what_lives),
        REHEARSAL(a_run_that_did_not_end_fits_so_far),
        REHEARSAL(the_targets_memory_is_the_limit_if_no_client_says_another),
        REHEARSAL(numbers_of_a_foreign_journal_do_not_wrap),
        REHEARSAL(what_does_not_compile_is_told_once_with_its_line),
        REHEARSAL(what_the_compiler_finds_too_large_does_not_fit),
        REHEARSAL(values_that_no_device_computed_are_told_by_line),
        REHEARSAL(refused_reads_fail_the_rehearsal),
        REHEARSAL(what_only_the_machine_tells_is_told_once),
        REHEARSAL(guesses_are_told),
        cmocka_unit_test_setup_teardown(a_run_on_real_devices_says_nothing_of_it, begin, end),
        REHEARSAL(processes_that_do_the_same_are_not_told),
        REHEARSAL(what_another_host_asked_for_is_no_compile_of_its_own),
        REHEARSAL(a_program_that_a_process_executes_less_often_is_told),
        REHEARSAL(a_program_that_a_process_never_executes_is_told),
        REHEARSAL(only_processes_that_started_are_compared),
        REHEARSAL(nothing_is_compared_while_a_process_has_not_ended),
        REHEARSAL(many_differences_are_cut_unless_all_are_asked_for),
        REHEARSAL(many_limits_are_cut_unless_all_are_asked_for),
        REHEARSAL(a_page_says_all_of_it),
    };
    return cmocka_run_group_tests_name("rehearsals", tests, NULL, NULL);
}
