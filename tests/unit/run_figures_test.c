// What a run's journal says about memory, about operations on the host, and about when and where
// things happened.
#include "why_help.h"

static void line_of(const char *text) {
    keel_buffer_text(&journal, text);
    keel_buffer_byte(&journal, '\n');
}

static void parse_all(keel_why_t *out) {
    assert_null(keel_why_parse(keel_buffer_bytes(&journal), "r1", "",
                               KEEL_RUN_DETAILS | KEEL_RUN_MEMORY, out));
}

// ---- memory ------------------------------------------------------------------------------------

static void memory(const char *program, const char *key, const char *name, unsigned total) {
    keel_buffer_format(&journal,
                       "{\"event\":\"memory\",\"pid\":1,\"program\":\"%s\",\"key\":\"%s\","
                       "\"name\":\"%s\",\"arguments\":1,\"outputs\":2,\"aliased\":3,"
                       "\"temporaries\":4,\"code\":5,\"total\":%u,\"host\":7,\"peak\":8}\n",
                       program, key, name, total);
}

static void assert_program(const keel_memory_program_t *program, const char *identity,
                           const char *name, const char *shown, uint64_t total) {
    assert_string_equal(program->identity, identity);
    assert_string_equal(program->name, name);
    assert_string_equal(program->shown, shown);
    assert_int_equal(program->total, total);
    assert_true(program->arguments == 1 && program->outputs == 2 && program->aliased == 3 &&
                program->temporaries == 4 && program->code == 5 && program->host == 7 &&
                program->peak == 8);
}

static void the_memory_of_a_program_is_known_once_the_largest_first(void **state) {
    (void)state;
    memory("a", "ka", "f", 100);
    line_of("{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"name\":\"f\",\"key\":\"ka\","
            "\"seconds\":1,\"site\":{\"file\":\"/w/a.py\",\"line\":3}}");
    line_of("{\"event\":\"load\",\"pid\":1,\"program\":\"b\",\"name\":\"g\",\"key\":\"kb\","
            "\"seconds\":1,\"site\":{\"file\":\"/l/b.py\",\"line\":4}}");
    line_of("{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"name\":\"f\",\"key\":\"ka2\","
            "\"seconds\":1,\"site\":{\"file\":\"/w/later.py\",\"line\":9}}");
    memory("b", "kb", "g", 300);
    memory("c", "", "h", 300);   // without a key it is known by its digest
    memory("a", "ka", "f", 200); // asked again: the last answer counts
    memory("d", "kd", "h", 50);
    keel_why_t why;
    parse_all(&why);
    const keel_memory_t *all = &why.run.memory;
    assert_int_equal(all->program_count, 4);
    assert_program(&all->programs[0], "c", "h", "", 300);
    assert_program(&all->programs[1], "kb", "g", "/l/b.py:4", 300); // not below the run's folder
    assert_program(&all->programs[2], "ka", "f", "a.py:3", 200);
    assert_program(&all->programs[3], "kd", "h", "", 50);
    assert_string_equal(all->programs[2].program, "a");
    assert_string_equal(all->programs_unknown, "");
    keel_why_deinitialize(&why);
}

static void device(const char *name, unsigned in_use, unsigned peak, unsigned limit) {
    keel_buffer_format(&journal,
                       "{\"event\":\"device_memory\",\"pid\":1,\"device\":\"%s\",\"kind\":\"v6\","
                       "\"in_use\":%u,\"peak\":%u,\"limit\":%u}\n",
                       name, in_use, peak, limit);
}

static void a_devices_most_is_what_was_ever_seen(void **state) {
    (void)state;
    device("d:0", 50, 0, 1000);
    device("d:1", 10, 70, 0);
    device("d:2", 5, 5, 900);
    device("d:0", 20, 40, 1000);
    device("d:1", 80, 70, 0);
    keel_why_t why;
    parse_all(&why);
    const keel_memory_t *all = &why.run.memory;
    static const struct {
        const char *name;
        uint64_t in_use, peak, most, limit;
    } rows[] = {{"d:0", 20, 40, 50, 1000}, {"d:1", 80, 70, 80, 0}, {"d:2", 5, 5, 5, 900}};
    assert_int_equal(all->device_count, 3);
    for (int i = 0; i < 3; ++i) {
        const keel_memory_device_t *one = &all->devices[i];
        assert_string_equal(one->device, rows[i].name);
        assert_string_equal(one->kind, "v6");
        assert_true(one->in_use == rows[i].in_use && one->peak == rows[i].peak &&
                    one->most == rows[i].most && one->limit == rows[i].limit);
    }
    assert_int_equal(keel_memory_limit(all), 900); // of those that say it
    keel_why_deinitialize(&why);
}

static void the_first_reason_for_unknown_memory_is_kept_for_each_kind(void **state) {
    (void)state;
    line_of("{\"event\":\"memory_unknown\",\"pid\":1,\"what\":\"programs\",\"message\":\"p\"}");
    line_of("{\"event\":\"memory_unknown\",\"pid\":1,\"what\":\"devices\",\"message\":\"d\"}");
    line_of("{\"event\":\"memory_unknown\",\"pid\":1,\"what\":\"programs\",\"message\":\"late\"}");
    line_of("{\"event\":\"memory_unknown\",\"pid\":1,\"what\":\"devices\",\"message\":\"late\"}");
    keel_why_t why;
    parse_all(&why);
    assert_string_equal(why.run.memory.programs_unknown, "p");
    assert_string_equal(why.run.memory.devices_unknown, "d");
    assert_int_equal(keel_memory_limit(&why.run.memory), 0);
    keel_why_deinitialize(&why);
    parse(&why); // nobody asked
    assert_int_equal(why.run.memory.device_count, 0);
    keel_why_deinitialize(&why);
}

// ---- asides ------------------------------------------------------------------------------------

static void operations_on_the_host_add_up_the_most_frequent_first(void **state) {
    (void)state;
    line_of("{\"event\":\"host_ops\",\"pid\":1,\"ops\":{\"aten::c\":5,\"aten::b\":2,\"aten::d\":0,"
            "\"aten::e\":-1,\"aten::f\":\"x\"}}");
    line_of("{\"event\":\"host_ops\",\"pid\":1,\"ops\":{\"aten::a\":5,\"aten::b\":7}}");
    keel_why_t why;
    parse(&why);
    const keel_asides_t *asides = &why.run.asides;
    static const char *const names[] = {"aten::b", "aten::a", "aten::c"};
    assert_int_equal(asides->op_count, 3);
    for (int i = 0; i < 3; ++i) {
        assert_string_equal(asides->ops[i].name, names[i]);
        assert_int_equal(asides->ops[i].times, i ? 5 : 9);
    }
    keel_why_deinitialize(&why);
}

static void programs_that_did_not_fit_are_kept_with_their_line(void **state) {
    (void)state;
    line_of("{\"event\":\"compile_error\",\"pid\":1,\"code\":\"RESOURCE_EXHAUSTED\",\"name\":\"f\","
            "\"program\":\"a\",\"message\":\"out of memory\","
            "\"site\":{\"file\":\"/w/a.py\",\"line\":3}}");
    line_of("{\"event\":\"compile_error\",\"pid\":1,\"code\":\"INVALID_ARGUMENT\",\"name\":\"g\","
            "\"program\":\"b\",\"message\":\"bad shape\"}");
    keel_why_t why;
    parse(&why);
    const keel_asides_t *asides = &why.run.asides;
    assert_int_equal(asides->misfit_count, 1);
    assert_string_equal(asides->misfits[0].name, "f");
    assert_string_equal(asides->misfits[0].program, "a");
    assert_string_equal(asides->misfits[0].shown, "a.py:3");
    assert_string_equal(asides->misfits[0].message, "out of memory");
    keel_why_deinitialize(&why);
}

static void explanations_that_failed_are_counted_and_the_first_is_named(void **state) {
    (void)state;
    line_of("{\"event\":\"fallback\",\"pid\":1,\"what\":\"key\",\"name\":\"f\",\"message\":\"k\"}");
    line_of(
        "{\"event\":\"fallback\",\"pid\":1,\"what\":\"explain\",\"name\":\"g\",\"message\":\"m\"}");
    line_of(
        "{\"event\":\"fallback\",\"pid\":1,\"what\":\"explain\",\"name\":\"h\",\"message\":\"n\"}");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.run.asides.unexplained, 2);
    assert_string_equal(why.run.asides.unexplained_name, "g");
    assert_string_equal(why.run.asides.unexplained_words, "m");
    keel_why_deinitialize(&why);
}

// ---- when and where ----------------------------------------------------------------------------

// A time that no clock shows counts for nothing.
static void a_run_lasts_from_its_first_event_to_its_last(void **state) {
    (void)state;
    static const char *const times[] = {"1010",       "0",    "-5",    "990",
                                        "9000000000", "1e18", "\"x\"", "1003.5"};
    for (size_t i = 0; i < sizeof times / sizeof *times; ++i)
        keel_buffer_format(&journal, "{\"event\":\"note\",\"pid\":1,\"t\":%s}\n", times[i]);
    keel_why_t why;
    parse(&why);
    assert_true(why.run.started == 990);
    assert_true(why.run.duration == 20);
    keel_why_deinitialize(&why);
}

// In two containers: they run at the same time.
static void two_processes_of_one_pid_have_numbers_of_their_own(void **state) {
    (void)state;
    line_of("{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"key\":\"ka\",\"name\":\"f\","
            "\"seconds\":1,\"numbering\":7,\"number\":1}");
    line_of("{\"event\":\"compile\",\"pid\":1,\"program\":\"b\",\"key\":\"kb\",\"name\":\"g\","
            "\"seconds\":1,\"numbering\":8,\"number\":1}");
    line_of("{\"event\":\"executes\",\"pid\":1,\"numbering\":7,\"counts\":[1,101]}");
    line_of("{\"event\":\"executes\",\"pid\":1,\"numbering\":8,\"counts\":[1,4]}");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.run.program_count, 2);
    assert_int_equal(why.run.programs[0].executes, 101);
    assert_int_equal(why.run.programs[1].executes, 4);
    keel_why_deinitialize(&why);
}

// What the explanation says about an operation's number, from 0 to one below the largest.
static void a_number_of_an_operation_is_one_or_unknown(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t number;
    } rows[] = {{"0", 0},
                {"4294967294", 4294967294u},
                {"4294967295", KEEL_NONE},
                {"4294967296", KEEL_NONE},
                {"-1", KEEL_NONE},
                {"1.5", KEEL_NONE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char rest[200], program[8];
        snprintf(program, sizeof program, "p%zu", i);
        snprintf(rest, sizeof rest, AGAIN ",\"roots\":[{\"kind\":\"shape\",\"old_op\":%s}]",
                 rows[i].text);
        explain("compile", program, "f", 1, rest);
    }
    keel_why_t why;
    parse(&why);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        if (why.entries[i].roots[0].old_op != rows[i].number) fail_msg("%s", rows[i].text);
    keel_why_deinitialize(&why);
}

// A file below the run's folder is shown from there; one beside it is not.
static void files_are_shown_from_the_runs_folder(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"/w/a.py", "a.py:7"},
                                          {"/w/b/a.py", "b/a.py:7"},
                                          {"/wide/a.py", "/wide/a.py:7"},
                                          {"/l/a.py", "/l/a.py:7"},
                                          {"a.py", "a.py:7"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char rest[200], program[8];
        snprintf(program, sizeof program, "p%zu", i);
        snprintf(rest, sizeof rest,
                 AGAIN ",\"roots\":[{\"kind\":\"shape\",\"file\":\"%s\",\"line\":7}]", rows[i][0]);
        explain("compile", program, "f", 1, rest);
    }
    keel_why_t why;
    parse(&why);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        assert_string_equal(why.entries[i].roots[0].place.shown, rows[i][1]);
    keel_why_deinitialize(&why);
}

// The first request of a program describes it; a later one has a name and a line of its own.
static void each_request_has_its_own_name_and_line(void **state) {
    (void)state;
    static const char *const kinds[] = {"compile", "load", "load"};
    for (int i = 0; i < 3; ++i)
        keel_buffer_format(&journal,
                           "{\"event\":\"%s\",\"pid\":1,\"program\":\"a\",\"name\":\"f%d\","
                           "\"key\":\"ka\",\"seconds\":1,\"t\":%d,\"tier\":\"%s\","
                           "\"site\":{\"file\":\"/w/a.py\",\"line\":%d}}\n",
                           kinds[i], i, 1001 + i, i == 2 ? "memory" : "disk", 10 + i);
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.run.request_count, 3);
    for (int i = 0; i < 3; ++i) {
        const keel_run_request_t *request = &why.run.requests[i];
        char name[8], shown[16];
        snprintf(name, sizeof name, "f%d", i);
        snprintf(shown, sizeof shown, "a.py:%d", 10 + i);
        assert_string_equal(request->name, name);
        assert_string_equal(request->program, "a");
        assert_string_equal(request->site.shown, shown);
        assert_true(request->t == 1001 + i && request->took.seconds == 1);
        assert_int_equal(request->index, 0);
        assert_int_equal(request->is_load, i > 0);
        assert_int_equal(request->from_memory, i == 2);
    }
    keel_why_deinitialize(&why);
}

// Where many programs ran, an event has the sum of the function that ends steps, and counts come
// later. A sum of another function, or one that counts have passed, says nothing.
static void a_step_is_known_where_the_counts_of_programs_come_later(void **state) {
    (void)state;
    static const char *const programs[] = {"a", "b", "c"};
    for (int i = 0; i < 3; ++i)
        keel_buffer_format(&journal,
                           "{\"event\":\"compile\",\"pid\":1,\"program\":\"%s\",\"key\":\"k%s\","
                           "\"name\":\"%s\",\"ops\":%d,\"seconds\":1}\n",
                           programs[i], programs[i], i == 2 ? "g" : "f", i == 2 ? 1 : 9);
    line_of("{\"event\":\"load\",\"pid\":1,\"program\":\"d\",\"key\":\"kd\",\"name\":\"h\","
            "\"seconds\":1,\"leading\":{\"program\":\"b\",\"executes\":50}}");
    line_of("{\"event\":\"load\",\"pid\":1,\"program\":\"e\",\"key\":\"ke\",\"name\":\"h\","
            "\"seconds\":1,\"leading\":{\"program\":\"c\",\"executes\":9000}}");
    line_of("{\"event\":\"executes\",\"pid\":1,\"executes\":{\"a\":30,\"b\":40,\"c\":1}}");
    line_of("{\"event\":\"load\",\"pid\":1,\"program\":\"f\",\"key\":\"kf\",\"name\":\"h\","
            "\"seconds\":1,\"leading\":{\"program\":\"a\",\"executes\":60}}");
    keel_why_t why;
    parse(&why);
    static const uint64_t steps[] = {1, 1, 1, 51, 51, 71};
    assert_int_equal(why.run.request_count, 6);
    for (size_t i = 0; i < 6; ++i)
        assert_int_equal(why.run.requests[i].step, steps[i]);
    assert_int_equal(why.run.steps, 70);
    keel_why_deinitialize(&why);
}

// As older journals name all programs: by digest. A later process may have the number of an earlier
// one, and so may its programs.
static void a_count_names_a_program_by_its_number_in_its_process(void **state) {
    (void)state;
    line_of("{\"event\":\"start\",\"t\":1,\"pid\":1}");
    line_of("{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"key\":\"ka\",\"name\":\"f\","
            "\"ops\":9,\"seconds\":3,\"number\":1}");
    line_of("{\"event\":\"compile\",\"pid\":1,\"program\":\"b\",\"key\":\"kb\",\"name\":\"g\","
            "\"seconds\":2,\"number\":2,\"counts\":[1,4]}");
    line_of("{\"event\":\"executes\",\"pid\":1,\"executes\":{\"b\":7},\"counts\":[2,5,1,6,99,3]}");
    line_of("{\"event\":\"end\",\"t\":2,\"pid\":1,\"wall\":1,\"counts\":[1,10]}");
    line_of("{\"event\":\"load\",\"pid\":1,\"program\":\"c\",\"key\":\"kc\",\"name\":\"h\","
            "\"seconds\":1,\"number\":1,\"tier\":\"disk\"}");
    line_of("{\"event\":\"executes\",\"pid\":1,\"counts\":[1,100,2]}"); // the last has no count
    line_of("{\"event\":\"executes\",\"pid\":2,\"counts\":[1,1000]}");  // another process's
    line_of("{\"event\":\"executes\",\"pid\":1,\"counts\":[1,-5,\"x\",2]}");
    keel_why_t why;
    parse(&why);
    static const uint64_t executes[] = {20, 12, 100};
    assert_int_equal(why.run.program_count, 3);
    for (size_t i = 0; i < 3; ++i)
        assert_int_equal(why.run.programs[i].executes, executes[i]);
    assert_int_equal(why.run.executes, 4 + 7 + 5 + 6 + 3 + 10 + 100 + 1000 + 2);
    assert_int_equal(why.run.known_executes, 132);
    static const uint64_t steps[] = {1, 5, 21};
    for (size_t i = 0; i < 3; ++i)
        assert_int_equal(why.run.requests[i].step, steps[i]);
    keel_why_deinitialize(&why);
}

// A large program is not kept in memory. What is compiled again is waited for again.
static void a_run_is_flat_though_a_program_is_loaded_from_disk_again(void **state) {
    (void)state;
    static const char first[] = "{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"key\":\"ka\","
                                "\"name\":\"f\",\"seconds\":3,\"number\":1}",
                      again[] = "{\"event\":\"load\",\"pid\":1,\"program\":\"a\",\"key\":\"ka\","
                                "\"name\":\"f\",\"seconds\":1,\"tier\":\"disk\",\"counts\":[1,7]}",
                      beside[] = "{\"event\":\"load\",\"pid\":2,\"program\":\"a\",\"key\":\"ka\","
                                 "\"name\":\"f\",\"seconds\":1,\"tier\":\"disk\",\"number\":1}";
    keel_why_t why;
    line_of(first);
    line_of(again);
    line_of(beside);
    parse(&why);
    assert_int_equal(why.run.steps, 7);
    assert_int_equal(why.run.settled_at_step, 1);
    keel_why_deinitialize(&why);
    line_of(first);
    parse(&why);
    assert_int_equal(why.run.settled_at_step, 8);
    keel_why_deinitialize(&why);
}

// A run of a million requests, made small: what is kept is bounded, and a line says so.
static void of_a_long_run_the_first_requests_are_kept_and_the_others_summed(void **state) {
    (void)state;
    enum { LIMIT = 10, PROGRAMS = 25 };
    uint64_t most = keel_limit(KEEL_LIMIT_REQUESTS);
    line_of("{\"event\":\"start\",\"t\":1,\"pid\":1,\"argv\":[\"x\"],\"mode\":\"on\"}");
    for (int i = 0; i < 2 * PROGRAMS; ++i) {
        int program = i % PROGRAMS;
        keel_buffer_format(&journal,
                           "{\"event\":\"%s\",\"pid\":1,\"program\":\"p%d\",\"key\":\"k%d\","
                           "\"name\":\"f\",\"seconds\":1,\"recompile\":%s,\"number\":%d,"
                           "\"tier\":\"disk\",\"counts\":[%d,2]}\n",
                           i < PROGRAMS ? "compile" : "load", program, program,
                           i && i < PROGRAMS ? "true" : "false", program + 1, program + 1);
        keel_buffer_format(&journal,
                           "{\"event\":\"explain\",\"pid\":1,\"what\":\"%s\",\"program\":"
                           "\"p%d\",\"key\":\"k%d\",\"name\":\"f\",\"seconds\":1,\"roots\":[]}\n",
                           i < PROGRAMS ? "compile" : "load", program, program);
    }
    line_of("{\"event\":\"end\",\"t\":9,\"pid\":1,\"wall\":8}");
    keel_limit_set(KEEL_LIMIT_REQUESTS, LIMIT);
    keel_why_t why;
    parse(&why);
    keel_limit_set(KEEL_LIMIT_REQUESTS, most);
    const keel_run_t *run = &why.run;
    assert_int_equal(run->program_count, LIMIT);
    assert_int_equal(run->request_count, LIMIT);
    assert_int_equal(run->entry_count, LIMIT);
    assert_int_equal(run->summed, 2 * PROGRAMS - LIMIT);
    assert_int_equal(run->compiles.times, PROGRAMS);
    assert_true(run->compiles.seconds == PROGRAMS);
    assert_int_equal(run->loads.times, PROGRAMS);
    assert_int_equal(run->recompiles, PROGRAMS - 1);
    assert_int_equal(run->executes, 2 * 2 * PROGRAMS);
    assert_int_equal(run->programs[0].loads.times, 1); // what is known goes on to be counted
    static const char told[] =
        "the first 10 compiles and loads are kept one by one; 40 more are in "
        "the totals only";
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_text_stats(&why, 0, &text);
    assert_non_null(strstr(keel_buffer_cstr(&text), told));
    text.size = 0;
    keel_text_summary(&why, &text);
    assert_non_null(strstr(keel_buffer_cstr(&text), told));
    text.size = 0;
    keel_text_why(&why, &(keel_text_style_t){.width = 0}, &text);
    assert_non_null(strstr(keel_buffer_cstr(&text), told));
    text.size = 0;
    keel_text_stats_json(&why, false, &text);
    assert_non_null(strstr(keel_buffer_cstr(&text), "\"summed\": 40"));
    keel_buffer_deinitialize(&text);
    keel_why_deinitialize(&why);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_memory_of_a_program_is_known_once_the_largest_first),
        TEST(a_devices_most_is_what_was_ever_seen),
        TEST(the_first_reason_for_unknown_memory_is_kept_for_each_kind),
        TEST(operations_on_the_host_add_up_the_most_frequent_first),
        TEST(programs_that_did_not_fit_are_kept_with_their_line),
        TEST(explanations_that_failed_are_counted_and_the_first_is_named),
        TEST(a_run_lasts_from_its_first_event_to_its_last),
        TEST(a_number_of_an_operation_is_one_or_unknown),
        TEST(files_are_shown_from_the_runs_folder),
        TEST(each_request_has_its_own_name_and_line),
        TEST(a_step_is_known_where_the_counts_of_programs_come_later),
        TEST(a_count_names_a_program_by_its_number_in_its_process),
        TEST(two_processes_of_one_pid_have_numbers_of_their_own),
        TEST(a_run_is_flat_though_a_program_is_loaded_from_disk_again),
        TEST(of_a_long_run_the_first_requests_are_kept_and_the_others_summed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
