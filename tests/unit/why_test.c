#include "why_help.h"

// ---- reading -----------------------------------------------------------------------------------

static void an_explanation_is_read_with_its_step_and_its_places(void **state) {
    (void)state;
    keel_why_t why;
    compile("a", "jit_f", 1, 7);
    compile("b", "jit_f", 2.5, 4);
    explain("compile", "b", "jit_f", 2.5,
            AGAIN
            ",\"t\":1001.5,\"alike\":0.75,\"root_total\":9,\"folded_total\":61,"
            "\"roots\":[{\"kind\":\"shape\",\"subject\":\"x\",\"old\":\"f32[8]\","
            "\"new\":\"f32[5]\",\"note\":\"n\",\"file\":\"/w/a.py\",\"line\":3,"
            "\"function\":\"main\",\"call_file\":\"/lib/b.py\",\"call_line\":4,\"folds\":61}],"
            "\"folded\":[{\"kind\":\"size\",\"new_op\":0,\"follows\":0}],"
            "\"stack\":[{\"file\":\"/w/a.py\",\"line\":3,\"function\":\"main\"}]");
    parse(&why);
    assert_int_equal(why.entry_count, 1);
    const keel_why_entry_t *entry = &why.entries[0];
    assert_int_equal(entry->asked->step,
                     8); // not 12: what ran before the journal had it is no matter
    assert_true(entry->asked->t == 1001.5 && entry->asked->took.seconds == 2.5 &&
                entry->asked->alike == 0.75);
    assert_string_equal(entry->asked->what, "compile");
    assert_string_equal(entry->asked->against_program, "o");
    assert_true(entry->asked->against_is_ours && entry->recompile);
    assert_int_equal(entry->root_count, 1);
    assert_int_equal(entry->root_total, 9);
    assert_int_equal(entry->folded_total, 61);
    const keel_run_difference_t *root = keel_why_cause(entry);
    assert_int_equal(root->kind, KEEL_CAUSE_SHAPE);
    assert_string_equal(root->old_value, "f32[8]");
    assert_string_equal(root->note, "n");
    assert_string_equal(root->place.shown, "a.py:3");
    assert_string_equal(root->place.call_shown, "/lib/b.py:4");
    assert_int_equal(root->folds, 61);
    assert_int_equal(root->old_op, KEEL_NONE);
    assert_int_equal(entry->folded[0].new_op, 0);
    assert_int_equal(entry->folded[0].follows, 0);
    assert_string_equal(entry->asked->stack[0].shown, "a.py:3");
    assert_string_equal(why.run.command, "python train.py");
    assert_string_equal(why.run.framework, "jax");
    assert_int_equal(why.run.compiles.times, 2);
    keel_why_deinitialize(&why);
}

// The background thread may be late, and the same program may be compiled twice.
static void an_explanation_belongs_to_the_compile_that_took_as_long(void **state) {
    (void)state;
    keel_why_t why;
    compile("a", "f", 1, 5);
    compile("a", "f", 2, 5);
    compile("a", "f", 3, 5);
    explain("compile", "a", "f", 2, AGAIN);
    explain("compile", "a", "f", 1, AGAIN);
    explain("compile", "a", "f", 9, AGAIN);    // such a one is not there: the last
    explain("compile", "none", "f", 9, AGAIN); // nor this program: now
    parse(&why);
    assert_int_equal(why.entries[0].asked->step, 6);
    assert_int_equal(why.entries[1].asked->step, 1);
    assert_int_equal(why.entries[2].asked->step, 11);
    assert_int_equal(why.entries[3].asked->step, 16);
    keel_why_deinitialize(&why);
}

static void gradients_that_nothing_zeroes_are_told_as_what_replaced_the_tensors(void **state) {
    (void)state;
    static const char gradient[] =
        AGAIN ",\"roots\":[{\"kind\":\"gradient\",\"note\":\"and 1 more argument\"}]";
    keel_why_t why;
    explain("compile", "x", "f", 1, gradient); // before anything was replaced
    explain("compile", "o", "f", 1,
            ",\"recompile\":true,\"roots\":[{\"kind\":\"donation\",\"note\":\"it was replaced by a "
            "tensor that the optimizer does not update\"}]");
    explain("compile", "a", "f", 1, gradient);
    parse(&why);
    assert_string_equal(keel_why_cause(&why.entries[0])->note, "and 1 more argument");
    assert_string_equal(keel_why_cause(&why.entries[2])->note,
                        "nothing zeroes it, because the optimizer holds other tensors; "
                        "and 1 more argument");
    assert_string_equal(
        keel_why_advice(&why, &why.entries[2], why.entries[2].roots, KEEL_FRAMEWORK_TORCH),
        keel_why_advice(&why, &why.entries[1], why.entries[1].roots, KEEL_FRAMEWORK_TORCH));
    keel_why_deinitialize(&why);
}

static void a_kind_of_a_later_version_is_passed_over(void **state) {
    (void)state;
    keel_why_t why;
    explain("compile", "a", "f", 1,
            AGAIN ",\"root_total\":2,\"roots\":[{\"kind\":\"weather\"},{\"kind\":\"flag\"}],"
                  "\"folded\":[{\"kind\":\"size\",\"follows\":1},{\"kind\":\"size\"}]");
    parse(&why);
    assert_int_equal(why.entries[0].root_count, 1);
    assert_int_equal(why.entries[0].root_total, 2);
    assert_int_equal(why.entries[0].roots[0].kind, KEEL_CAUSE_FLAG);
    assert_int_equal(why.entries[0].folded[0].follows, KEEL_NONE);
    assert_int_equal(why.entries[0].folded[1].follows, KEEL_NONE);
    keel_why_deinitialize(&why);
}

static void strange_fields_and_an_empty_journal_are_read_too(void **state) {
    (void)state;
    static const char *const journals[] = {
        "",
        "{\"event\":\"explain\"}\n",
        "{\"event\":\"explain\",\"what\":\"retrace\",\"roots\":7,\"folded\":{},\"stack\":[1,{}],"
        "\"against\":[],\"seconds\":-1,\"site\":3,\"pid\":\"x\",\"step\":1e300}\n",
        "{\"event\":\"explain\",\"what\":\"retrace\",\"roots\":[3,null,{\"kind\":7},"
        "{\"kind\":\"shape\",\"line\":-1,\"old_op\":99999999999,\"folds\":\"x\"}],"
        "\"folded\":[{\"kind\":\"shape\",\"follows\":5}],\"root_total\":-5}\n",
    };
    for (size_t i = 0; i < sizeof journals / sizeof *journals; ++i) {
        keel_why_t why;
        assert_null(
            keel_why_parse(keel_str_bytes(keel_str(journals[i])), "r", "", KEEL_RUN_DETAILS, &why));
        assert_int_equal(why.entry_count, i > 0);
        for (size_t j = 0; j < why.entry_count; ++j) {
            assert_true(why.entries[j].root_total >= why.entries[j].root_count);
            assert_true(why.entries[j].folded_count == 0 ||
                        why.entries[j].folded[0].follows == KEEL_NONE);
        }
        assert_text(&why, &(keel_text_style_t){.width = 80}, "run r");
        assert_text(&why, &(keel_text_style_t){.all = true}, "run r");
        keel_why_deinitialize(&why);
    }
}

// A retrace of the same program is explained, too, and may come first.
static void the_summary_has_the_cause_of_the_compile(void **state) {
    (void)state;
    keel_why_t why;
    explain("retrace", "a", "f", 1, AGAIN ",\"roots\":[{\"kind\":\"retrace\",\"subject\":\"r\"}]");
    compile("a", "f", 2, 1);
    explain("compile", "a", "f", 2, AGAIN ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"x\"}]");
    parse(&why);
    assert_int_equal(why.summary.recompile_count, 1);
    assert_string_equal(why.summary.recompiles[0].cause, "shape");
    assert_string_equal(why.summary.recompiles[0].subject, "x");
    keel_why_deinitialize(&why);
}

// ---- JSON --------------------------------------------------------------------------------------

static void assert_json(const keel_why_t *why, size_t at, const char *name, const char *expected) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_text_why_json(why, true, &out);
    json_t *list = json_loadb((const char *)out.data, out.size, 0, NULL);
    json_t *wanted = json_loads(expected, JSON_DECODE_ANY, NULL);
    assert_non_null(wanted);
    const json_t *value = json_object_get(json_array_get(list, at), name);
    if (!value || !json_equal(value, wanted)) {
        char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
        fail_msg("%s is %s, not %s", name, text ? text : "absent", expected);
    }
    json_decref(list);
    json_decref(wanted);
    keel_buffer_deinitialize(&out);
}

#define DIFFERENCE                                                                                 \
    "\"file\":\"/w/a.py\",\"line\":3,\"function\":\"main\",\"call_file\":\"/lib/b.py\","           \
    "\"call_line\":4,\"library_file\":\"/l/c.py\",\"library_line\":5,\"scope\":\"net/q\""

static void each_field_of_an_item_has_its_name(void **state) {
    (void)state;
    keel_why_t why;
    compile("b", "jit_f", 2.5, 4);
    explain("compile", "b", "jit_f", 2.5,
            ",\"recompile\":true,\"against\":{\"program\":\"o\",\"name\":\"jit_g\",\"run\":\"r0\","
            "\"when\":990.5,\"is_ours\":true},\"t\":1001.5,\"alike\":0.75,\"root_total\":9,"
            "\"folded_total\":61,\"roots\":[{\"kind\":\"shape\",\"subject\":\"x\",\"old\":"
            "\"f32[8]\",\"new\":\"f32[5]\",\"note\":\"n\"," DIFFERENCE ",\"folds\":61}],"
            "\"folded\":[{\"kind\":\"size\",\"subject\":\"pad\",\"old\":\"1\",\"new\":\"2\","
            "\"follows\":0}],\"stack\":[{\"file\":\"/w/a.py\",\"line\":3,\"function\":\"main\"}]");
    explain("retrace", "c", "jit_h", 0.5, ",\"unrelated\":true");
    parse(&why);
    static const char *const fields[][2] = {
        {"program", "\"b\""},
        {"name", "\"jit_f\""},
        {"key", "\"kb\""},
        {"kind", "\"shape\""},
        {"subject", "\"x\""},
        {"old", "\"f32[8]\""},
        {"new", "\"f32[5]\""},
        {"note", "\"n\""},
        {"file", "\"/w/a.py\""},
        {"line", "3"},
        {"function", "\"main\""},
        {"call_file", "\"/lib/b.py\""},
        {"call_line", "4"},
        {"library_file", "\"/l/c.py\""},
        {"library_line", "5"},
        {"scope", "\"net/q\""},
        {"page", "\"docs/causes/shape.md\""},
        {"step", "1"},
        {"t", "1001.5"},
        {"pid", "1"},
        {"what", "\"compile\""},
        {"seconds", "2.5"},
        {"recompile", "true"},
        {"unrelated", "false"},
        {"pattern", "\"\""},
        {"alike", "0.75"},
        {"against", "{\"program\":\"o\",\"name\":\"jit_g\",\"run\":\"r0\",\"when\":990.5,"
                    "\"is_ours\":true}"},
        {"stack", "[{\"file\":\"/w/a.py\",\"line\":3,\"function\":\"main\"}]"},
        {"causes", "[{\"kind\":\"shape\",\"subject\":\"x\",\"old\":\"f32[8]\",\"new\":\"f32[5]\","
                   "\"note\":\"n\"," DIFFERENCE
                   ",\"folds\":61,\"advice\":{\"jax\":\"Pad to a fixed shape and mask, or drop the "
                   "short batch.\",\"torch\":\"Pad to a fixed shape and mask, or set "
                   "drop_last=True in the loader.\"}}]"},
        {"cause_total", "9"},
        {"folded",
         "[{\"kind\":\"size\",\"subject\":\"pad\",\"old\":\"1\",\"new\":\"2\",\"note\":"
         "\"\",\"file\":\"\",\"line\":0,\"function\":\"\",\"call_file\":\"\",\"call_line\":0,"
         "\"library_file\":\"\",\"library_line\":0,\"scope\":\"\",\"follows\":0}]"},
        {"folded_total", "61"},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i)
        assert_json(&why, 0, fields[i][0], fields[i][1]);
    assert_json(&why, 1, "what", "\"retrace\"");
    assert_json(&why, 1, "recompile", "false");
    assert_json(&why, 1, "unrelated", "true");
    assert_json(&why, 1, "causes", "[]");
    assert_json(&why, 1, "against", "null");
    keel_why_deinitialize(&why);
}

// ---- operations by themselves ------------------------------------------------------------------

typedef struct ran_t {
    const char *shown, *call_shown;
    double seconds;
} ran_t;

static void assert_line(const ran_t *ran, size_t count, const char *expected) {
    keel_eager_lines_t lines = {0};
    for (size_t i = 0; i < count; ++i) {
        keel_run_request_t request = {
            .took = {.times = 1, .seconds = ran[i].seconds},
            .site = {.shown = ran[i].shown, .call_shown = ran[i].call_shown}};
        assert_null(keel_eager_add(&lines, &request));
    }
    keel_eager_settle(&lines);
    assert_string_equal(keel_eager_line(&lines), expected);
    keel_eager_deinitialize(&lines);
}
#define LINE_OF(expected, ...)                                                                     \
    assert_line((const ran_t[]){__VA_ARGS__},                                                      \
                sizeof((const ran_t[]){__VA_ARGS__}) / sizeof(ran_t), expected)

static void one_line_ran_most_operations_or_called_those_that_did(void **state) {
    (void)state;
    assert_line(NULL, 0, "");
    LINE_OF("a", {"b", "m", 1}, {"a", "m", 9});
    LINE_OF("a", {"b", "", 2}, {"a", "", 4}, {"a", "", 4}); // four fifths are most
    LINE_OF("m", {"c", "n", 1}, {"b", "m", 4}, {"a", "m", 5});
    LINE_OF("c", {"c", "n", 5}, {"b", "m", 3}, {"a", "m", 2}); // neither: the dearest
    LINE_OF("a", {"b", "n", 5}, {"a", "m", 5});                // by name
}

static void operations_by_themselves_are_told_from_sixteen_and_a_tenth_on(void **state) {
    (void)state;
    keel_eager_lines_t lines = {0};
    keel_run_request_t request = {.took = {.times = 1, .seconds = 0.5},
                                  .site = {.shown = "a", .call_shown = ""}};
    for (int i = 1; i <= 16; ++i) {
        assert_null(keel_eager_add(&lines, &request));
        assert_int_equal(keel_eager_is_told(&lines, &(keel_took_t){.seconds = 1}), i == 16);
    }
    assert_true(keel_eager_is_told(&lines, &(keel_took_t){.seconds = 80}));
    assert_false(keel_eager_is_told(&lines, &(keel_took_t){.seconds = 81}));
    request.site.shown = "b";
    assert_null(keel_eager_add(&lines, &request));
    keel_eager_forget(&lines, "a");
    assert_int_equal(lines.took.times, 1);
    assert_true(lines.took.seconds == 0.5);
    keel_eager_settle(&lines);
    assert_string_equal(keel_eager_line(&lines), "b");
    keel_eager_deinitialize(&lines);
}

// ---- what is shown, and what it cost -----------------------------------------------------------

static void firsts_and_loads_are_no_recompiles(void **state) {
    (void)state;
    static const struct {
        const char *what, *rest;
        bool shown;
    } cases[] = {
        {"compile", "", false},
        {"compile", ",\"recompile\":true", true},
        {"compile", ",\"against\":{\"program\":\"p\",\"run\":\"r0\"}", true},
        // Merely like another one of this run: jit_sin beside jit_cos.
        {"compile", ",\"against\":{\"program\":\"p\",\"is_ours\":true}", false},
        {"load", ",\"recompile\":true,\"against\":{\"program\":\"p\"}", false},
        {"retrace", "", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        explain(cases[i].what, "a", "f", 1, cases[i].rest);
    keel_why_t why;
    parse(&why);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        assert_int_equal(keel_why_is_shown(&why.entries[i]), cases[i].shown);
    assert_int_equal(why.shown.times, 3);
    assert_true(why.shown.seconds == 3);
    keel_why_deinitialize(&why);
}

static void seconds_are_divided_among_the_roots_and_answer_the_questions(void **state) {
    (void)state;
    explain("compile", "a", "f", 3,
            AGAIN ",\"roots\":[{\"kind\":\"shape\",\"file\":\"/w/a.py\",\"line\":1},"
                  "{\"kind\":\"dtype\",\"file\":\"/w/a.py\",\"line\":1},"
                  "{\"kind\":\"structure\",\"file\":\"/w/b.py\",\"line\":2}]");
    explain("compile", "b", "f", 4,
            AGAIN
            ",\"roots\":[{\"kind\":\"constant\"}],\"site\":{\"file\":\"/w/b.py\",\"line\":2}");
    // No shape of an input, and no branch: a host value.
    explain("compile", "d", "f", 1,
            AGAIN ",\"roots\":[{\"kind\":\"size\"}],\"site\":{\"file\":"
                  "\"/w/c.py\",\"line\":5}");
    explain("compile", "c", "g", 0.5, "");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.questions[KEEL_QUESTION_SHAPES].times, 1);
    assert_true(why.questions[KEEL_QUESTION_SHAPES].seconds == 2);
    assert_int_equal(why.questions[KEEL_QUESTION_POLICY].times, 0);
    assert_int_equal(why.questions[KEEL_QUESTION_BRANCH].times, 1);
    assert_true(why.questions[KEEL_QUESTION_BRANCH].seconds == 1);
    assert_int_equal(why.by_cause_count, 5);
    assert_int_equal(why.by_cause[0].kind, KEEL_CAUSE_CONSTANT);
    assert_true(why.by_cause[0].took.seconds == 4 && why.by_cause[1].took.seconds == 1);
    assert_int_equal(why.by_line_count, 3);
    assert_string_equal(why.by_line[0].place.shown, "b.py:2");
    assert_true(why.by_line[0].took.seconds == 5);
    assert_int_equal(why.by_line[0].took.times, 2);
    assert_string_equal(why.by_line[1].place.shown, "a.py:1");
    assert_true(why.by_line[1].took.seconds == 2);
    assert_int_equal(why.by_line[1].took.times, 1);
    keel_why_deinitialize(&why);
}

// ---- for people --------------------------------------------------------------------------------

static void one_recompile_is_told_whole(void **state) {
    (void)state;
    compile("a", "jit_step", 1, 8);
    compile("b", "jit_step", 4.1, 0);
    explain("compile", "b", "jit_step", 4.1,
            AGAIN ",\"folded_total\":61,\"root_total\":1,"
                  "\"roots\":[{\"kind\":\"shape\",\"subject\":\"batch['tokens']\","
                  "\"old\":\"i32[8,512]\",\"new\":\"i32[5,512]\",\"file\":\"/w/train.py\","
                  "\"line\":88,\"function\":\"main\",\"call_file\":\"/w/run.py\","
                  "\"call_line\":120}]");
    keel_why_t why;
    parse(&why);
    char expected[1024];
    snprintf(expected, sizeof expected,
             "run r1  python train.py\n"
             "\n"
             "Did input shapes change?                  yes, once\n"
             "Did the profile or SPMD policy change?    no\n"
             "Did a branch become active?               no\n"
             "\n"
             "1 recompile cost 4.1 s. 1 more recompile is not explained in the journal; `keel "
             "stats` names its\nline.\n"
             "\n"
             "1  step 9  4.1 s  shape  train.py:88  batch['tokens']  i32[8,512] -> i32[5,512]\n"
             "     jit_step in main, called at run.py:120; 61 differences follow from it; compared "
             "with f\n"
             "     %s                      keel explain shape\n",
             keel_cause_facts(KEEL_CAUSE_SHAPE)->advice[KEEL_FRAMEWORK_JAX]);
    assert_text(&why, &(keel_text_style_t){.width = 100}, expected);
    assert_text(&why, &(keel_text_style_t){.width = 100, .color = true}, "  \x1b[1mshape\x1b[0m  ");
    keel_why_deinitialize(&why);
}

static void advice_is_for_the_client_of_the_run(void **state) {
    (void)state;
    keel_buffer_text(&journal, "{\"event\":\"compile\",\"program\":\"a\",\"format\":\"hlo\","
                               "\"name\":\"SyncTensorsGraph.1\"}\n");
    explain("compile", "a", "SyncTensorsGraph.1", 1, AGAIN ",\"roots\":[{\"kind\":\"shape\"}]");
    keel_why_t why;
    parse(&why);
    assert_string_equal(why.run.framework, "torch");
    assert_text(&why, &(keel_text_style_t){0},
                keel_cause_facts(KEEL_CAUSE_SHAPE)->advice[KEEL_FRAMEWORK_TORCH]);
    why.run.framework = "";
    assert_text(&why, &(keel_text_style_t){0}, "JAX: ");
    assert_text(&why, &(keel_text_style_t){0}, "PyTorch/XLA: ");
    keel_why_deinitialize(&why);
}

static void programs_with_lines_of_c_get_advice_for_c(void **state) {
    (void)state;
    keel_buffer_text(&journal, "{\"event\":\"compile\",\"program\":\"a\",\"format\":\"hlo\","
                               "\"name\":\"step\",\"site\":{\"file\":\"/home/u/mlp.c\"}}\n");
    explain("compile", "a", "step", 1, AGAIN ",\"roots\":[{\"kind\":\"shape\"}]");
    keel_why_t why;
    parse(&why);
    assert_string_equal(why.run.framework, "c");
    assert_text(&why, &(keel_text_style_t){0},
                keel_cause_facts(KEEL_CAUSE_SHAPE)->advice[KEEL_FRAMEWORK_C]);
    keel_why_deinitialize(&why);
}

static void a_refused_first_program_has_a_client_too(void **state) {
    (void)state;
    explain("refused", "a", "step", 0,
            ",\"site\":{\"file\":\"/home/u/mlp.c\"},\"roots\":[{\"kind\":\"size\"}]");
    keel_why_t why;
    parse(&why);
    assert_string_equal(why.run.framework, "c");
    keel_why_deinitialize(&why);
    explain("refused", "a", "jit_step", 0, ",\"roots\":[{\"kind\":\"size\"}]");
    parse(&why);
    assert_string_equal(why.run.framework, "jax");
    keel_why_deinitialize(&why);
}

static void what_gathers_a_sharded_tensor_is_no_compiled_function(void **state) {
    (void)state;
    explain("retrace", "a", "ReplicateShardedData", 0.5, ",\"roots\":[{\"kind\":\"retrace\"}]");
    keel_why_t why;
    parse(&why);
    assert_non_null(
        strstr(keel_why_advice(&why, why.entries, why.entries[0].roots, KEEL_FRAMEWORK_TORCH),
               "read every N steps"));
    keel_why_deinitialize(&why);
}

static void of_an_empty_journal_nothing_is_said_to_have_been_compiled_or_not(void **state) {
    (void)state;
    journal.size = 0;
    keel_why_t why;
    parse(&why);
    assert_text(&why, &(keel_text_style_t){0}, "no process has written to its journal");
    keel_why_deinitialize(&why);
}

static void load_of(const char *tier, double seconds, int executed) {
    keel_buffer_format(
        &journal,
        "{\"event\":\"load\",\"pid\":1,\"program\":\"a\",\"name\":\"f\",\"key\":\"ka\","
        "\"seconds\":%g,\"tier\":\"%s\",\"executes\":{\"a\":%d}}\n",
        seconds, tier, executed);
}

// While the program is being published, the disk may have it before the memory has.
static void a_retrace_has_the_step_of_its_load_from_whichever_tier(void **state) {
    (void)state;
    compile("a", "f", 1, 0);
    load_of("disk", 0.5, 1);
    load_of("memory", 0.25, 1);
    explain("retrace", "a", "f", 0.5, AGAIN ",\"roots\":[{\"kind\":\"retrace\"}]");
    explain("retrace", "a", "f", 0.25, AGAIN ",\"roots\":[{\"kind\":\"retrace\"}]");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.entry_count, 2);
    assert_int_equal(why.run.entries[0].step, 2);
    assert_int_equal(why.run.entries[1].step, 3);
    keel_why_deinitialize(&why);
}

static void retraces_at_one_line_are_one_item(void **state) {
    (void)state;
    for (int i = 0; i < 12; ++i)
        explain("retrace", "a", "f", 0.5,
                ",\"roots\":[{\"kind\":\"retrace\",\"file\":\"/w/a.py\",\"line\":3}]");
    keel_why_t why;
    parse(&why);
    assert_text(&why, &(keel_text_style_t){.width = 80}, "12 retraces cost 6.0 s.\n\n1  step 1");
    assert_text(&why, &(keel_text_style_t){.width = 80}, "     f; 12 times\n");
    assert_text(&why, &(keel_text_style_t){.all = true}, "\n12  step 1");
    keel_why_deinitialize(&why);
}

static void programs_that_one_flag_compiled_again_are_one_item(void **state) {
    (void)state;
    static const char rest[] =
        ",\"against\":{\"program\":\"p\",\"name\":\"f\",\"run\":\"r0\"},\"roots\":[{\"kind\":"
        "\"flag\","
        "\"subject\":\"xla_x\",\"old\":\"unset\",\"new\":\"3\",\"file\":\"/w/a.py\",\"line\":3}]";
    explain("compile", "a", "f", 1, rest);
    explain("compile", "b", "f", 1, rest);
    explain("compile", "c", "f", 1, rest);
    keel_why_t why;
    parse(&why);
    assert_text(&why, &(keel_text_style_t){.width = 80},
                "3 programs known from earlier runs cost 3.0 s.\n\n"
                "1  step 1  3.0 s  flag  3 programs  xla_x  unset -> 3\n"
                "     f at a.py:3 and 2 more; compared with run r0\n");
    keel_why_deinitialize(&why);
}

static void programs_with_nothing_in_common_are_told_in_one_line_when_asked_for(void **state) {
    (void)state;
    explain("compile", "a", "f", 1,
            ",\"unrelated\":true,\"against\":{\"program\":\"o\",\"name\":\"f\",\"run\":\"r0\"}");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.shown.times + why.by_cause_count, 0);
    assert_text(&why, &(keel_text_style_t){.width = 100}, "nothing was compiled");
    assert_text(&why, &(keel_text_style_t){.width = 100, .all = true},
                "1  step 1  1.0 s  unrelated  unknown line  f has almost nothing in common with f "
                "of run r0\n");
    keel_why_deinitialize(&why);
}

static void an_unrelated_program_of_one_name_is_no_recompile(void **state) {
    (void)state;
    keel_buffer_text(&journal, "{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"name\":\"f\","
                               "\"recompile\":true,\"seconds\":1}\n");
    explain("compile", "a", "f", 1, AGAIN ",\"unrelated\":true");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.recompiles, 0);
    assert_text(&why, &(keel_text_style_t){.width = 100}, "nothing was recompiled (1 compile)");
    keel_why_deinitialize(&why);
}

static void an_unrelated_program_of_pytorch_is_counted_and_listed(void **state) {
    (void)state;
    keel_buffer_text(&journal, "{\"event\":\"compile\",\"pid\":1,\"program\":\"a\",\"name\":\"f\","
                               "\"format\":\"hlo\",\"recompile\":true,\"seconds\":1}\n");
    explain("compile", "a", "f", 1, AGAIN ",\"unrelated\":true");
    keel_why_t why;
    parse(&why);
    assert_int_equal(why.recompiles, 1);
    assert_int_equal(why.again.times, 1);
    assert_text(&why, &(keel_text_style_t){.width = 100}, "unrelated  unknown line");
    keel_why_deinitialize(&why);
}

static void what_comes_behind_the_last_step_is_after_it(void **state) {
    (void)state;
    compile("a", "f", 1, 4);
    compile("b", "f", 1, 0);
    explain("compile", "b", "f", 1, AGAIN ",\"roots\":[{\"kind\":\"shape\"}]");
    keel_why_t why;
    parse(&why);
    assert_text(&why, &(keel_text_style_t){.width = 100}, "1  step 5 "); // it may run still
    keel_why_deinitialize(&why);
    keel_buffer_text(&journal, "{\"event\":\"end\",\"pid\":1,\"wall\":1}\n");
    parse(&why);
    assert_text(&why, &(keel_text_style_t){.width = 100}, "1  after step 4 ");
    keel_why_deinitialize(&why);
}

static void a_run_without_recompiles_is_one_line(void **state) {
    (void)state;
    keel_buffer_text(&journal, "{\"event\":\"compile\",\"pid\":1,\"program\":\"a\","
                               "\"name\":\"f\"}\n");
    explain("compile", "a", "f", 1, ",\"roots\":[{\"kind\":\"first\"}]");
    keel_why_t why;
    parse(&why);
    assert_text(&why, &(keel_text_style_t){.width = 0},
                "figures. 1 process has no end event in the journal (still running, killed, or its "
                "journal could "
                "not be written).\n");
    keel_why_deinitialize(&why);
    keel_buffer_text(&journal, "{\"event\":\"end\",\"pid\":1,\"wall\":1}\n");
    parse(&why);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_text_why(&why, &(keel_text_style_t){.width = 100}, &out);
    assert_string_equal(
        keel_buffer_cstr(&out),
        "run r1: nothing was recompiled (1 compile); `keel stats` has the figures.\n");
    keel_buffer_deinitialize(&out);
    assert_text(&why, &(keel_text_style_t){.all = true}, "first");
    keel_why_deinitialize(&why);
}

static void what_is_left_out_is_counted(void **state) {
    (void)state;
    char rest[2048] = AGAIN ",\"root_total\":40,\"roots\":[{\"kind\":\"shape\"}";
    for (int i = 0; i < 9; ++i)
        append(rest, sizeof rest, ",{\"kind\":\"dtype\"}");
    append(rest, sizeof rest, "]");
    for (int i = 0; i < 22; ++i) {
        char program[16];
        snprintf(program, sizeof program, "p%d", i);
        explain("compile", program, "f", 1, rest);
    }
    keel_why_t why;
    parse(&why);
    keel_text_style_t cut = {.width = 100}, all = {.all = true};
    assert_text(&why, &cut, "\n... and 12 more; keel why --all\n");
    assert_text(&why, &cut, "     ... and 37 more causes; keel why --all\n");
    assert_text(&why, &all, "\n22  step 1");
    assert_text(&why, &all, "     ... and 30 more causes that the journal leaves out\n");
    keel_why_deinitialize(&why);
}

static unsigned longest_line(const char *text) {
    unsigned longest = 0;
    while (*text) {
        unsigned length = (unsigned)strcspn(text, "\n");
        if (length > longest) longest = length;
        text += length + (text[length] == '\n');
    }
    return longest;
}

static void no_line_is_longer_than_the_terminal(void **state) {
    (void)state;
    char list[400] = "";
    for (int i = 0; i < 90; ++i)
        append(list, sizeof list, "8, ");
    char rest[3000];
    snprintf(rest, sizeof rest,
             AGAIN ",\"folded_total\":61,\"roots\":[{\"kind\":\"sharding\",\"subject\":"
                   "\"params['%.200s']\",\"old\":\"P(%s'a')\",\"new\":\"P(%s'b')\",\"note\":"
                   "\"a note that is not short at all, in many words\",\"file\":"
                   "\"/home/ada/a/very/long/path/that/goes/on/and/on/and/on/model.py\",\"line\":7,"
                   "\"function\":\"main\"}]",
             list, list, list);
    explain("compile", "a", "jit_step", 1, rest);
    keel_why_t why;
    parse(&why);
    for (unsigned width = 80; width <= 100; width += 10) {
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        keel_text_why(&why, &(keel_text_style_t){.width = width}, &out);
        assert_in_range(longest_line(keel_buffer_cstr(&out)), 60, width);
        // However long the values are, where they part is seen, and so is the file's name.
        assert_non_null(strstr(keel_buffer_cstr(&out), "'a') -> "));
        assert_non_null(strstr(keel_buffer_cstr(&out), "'b')\n"));
        assert_non_null(strstr(keel_buffer_cstr(&out), "/model.py:7"));
        keel_buffer_deinitialize(&out);
    }
    keel_why_deinitialize(&why);
}

static void foreign_text_cannot_act_on_the_terminal(void **state) {
    (void)state;
    explain("compile", "a\\u001b[2J", "f\\u001b[2J\\n", 1,
            AGAIN
            ",\"roots\":[{\"kind\":\"shape\",\"subject\":\"\\u001b]0;x\\u0007\",\"old\":\"\\r\","
            "\"new\":\"\\u007f\",\"note\":\"\\u001bn\",\"file\":\"\\u001bf\","
            "\"function\":\"\\u001bg\"}],\"stack_skipped\":\"\\u001bs\","
            "\"folded\":[{\"kind\":\"size\",\"subject\":\"\\u001bs\"}]");
    keel_why_t why;
    parse(&why);
    for (int all = 0; all < 2; ++all) {
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        keel_text_why(&why, &(keel_text_style_t){.all = all}, &out);
        for (size_t i = 0; i < out.size; ++i)
            assert_true(out.data[i] >= 0x20 ? out.data[i] != 0x7f : out.data[i] == '\n');
        keel_buffer_deinitialize(&out);
    }
    keel_why_deinitialize(&why);
}

// ---- for tools ---------------------------------------------------------------------------------

static const char *text_of(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "(none)";
}

static void json_has_an_object_for_each_recompile(void **state) {
    (void)state;
    explain("compile", "a", "f", 1, ",\"roots\":[{\"kind\":\"first\"}]");
    explain("compile", "b", "f", 2.5,
            AGAIN ",\"folded_total\":9,\"roots\":[{\"kind\":\"constant\",\"subject\":\"multiply\","
                  "\"old\":\"0.1\",\"new\":\"0.2\",\"file\":\"/w/m.py\",\"line\":4,"
                  "\"call_file\":\"/w/t.py\",\"call_line\":8},{\"kind\":\"dtype\"}],"
                  "\"folded\":[{\"kind\":\"size\",\"follows\":0}],"
                  "\"stack\":[{\"file\":\"/w/m.py\",\"line\":4,\"function\":\"g\"}]");
    keel_why_t why;
    parse(&why);
    for (int all = 0; all < 2; ++all) {
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        keel_text_why_json(&why, all, &out);
        json_t *list = json_loadb((const char *)out.data, out.size, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(list);
        assert_int_equal(json_array_size(list), 1 + (size_t)all);
        const json_t *one = json_array_get(list, (size_t)all);
        static const char *const expected[][2] = {
            {"program", "b"},        {"name", "f"},
            {"kind", "constant"},    {"cause", "a host value is baked into the program"},
            {"file", "/w/m.py"},     {"call_file", "/w/t.py"},
            {"old", "0.1"},          {"new", "0.2"},
            {"subject", "multiply"}, {"what", "compile"},
            {"pattern", ""},         {"page", "docs/causes/constant.md"},
        };
        for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i)
            assert_string_equal(text_of(one, expected[i][0]), expected[i][1]);
        assert_int_equal(json_integer_value(json_object_get(one, "line")), 4);
        assert_int_equal(json_integer_value(json_object_get(one, "call_line")), 8);
        assert_int_equal(json_integer_value(json_object_get(one, "folded_total")), 9);
        assert_true(json_number_value(json_object_get(one, "seconds")) == 2.5);
        assert_int_equal(json_array_size(json_object_get(one, "causes")), 2);
        assert_int_equal(json_array_size(json_object_get(one, "folded")), 1);
        assert_int_equal(json_array_size(json_object_get(one, "stack")), 1);
        assert_string_equal(text_of(json_object_get(one, "advice"), "jax"),
                            keel_cause_facts(KEEL_CAUSE_CONSTANT)->advice[KEEL_FRAMEWORK_JAX]);
        assert_string_equal(text_of(json_object_get(one, "against"), "program"), "o");
        json_decref(list);
        keel_buffer_deinitialize(&out);
    }
    keel_why_deinitialize(&why);
}

// ---- faults ------------------------------------------------------------------------------------

#ifdef KEEL_FAULTS
static void every_allocation_that_fails_is_reported_and_nothing_leaks(void **state) {
    (void)state;
    compile("a", "jit_f", 1, 7);
    for (int i = 0; i < 4; ++i) {
        constant(i, "f", "multiply", 4, "0", (const char *const[]){"1", "2", "3", "4"}[i]);
        explain("retrace", i % 2 ? "a" : "b", "g", 1, "");
    }
    shape("a", "x", "f32[5]", 1);
    shape("b", "x", "f32[6]", 1);
    shape("c", "x", "f32[7]", 1);
    argument("a", "mask", NULL);
    argument("b", "mask", "weight");
    argument("c", "weight", NULL);
    for (uint64_t n = 1;; ++n) {
        assert_true(n < 10000);
        keel_why_t why;
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        keel_fault_arm(KEEL_FAULT_ALLOC, n);
        keel_status_t status =
            keel_why_parse(keel_buffer_bytes(&journal), "r", "", KEEL_RUN_DETAILS, &why);
        if (!status) {
            keel_text_why(&why, &(keel_text_style_t){.width = 80}, &out);
            status = keel_buffer_status(&out);
        }
        uint64_t seen = keel_fault_count(KEEL_FAULT_ALLOC);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        keel_buffer_deinitialize(&out);
        keel_why_deinitialize(&why);
        keel_status_ignore(status);
        if (seen < n) break;
        assert_non_null(status);
    }
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(an_explanation_is_read_with_its_step_and_its_places),
        TEST(an_explanation_belongs_to_the_compile_that_took_as_long),
        TEST(gradients_that_nothing_zeroes_are_told_as_what_replaced_the_tensors),
        TEST(a_kind_of_a_later_version_is_passed_over),
        TEST(strange_fields_and_an_empty_journal_are_read_too),
        TEST(each_field_of_an_item_has_its_name),
        TEST(one_line_ran_most_operations_or_called_those_that_did),
        TEST(operations_by_themselves_are_told_from_sixteen_and_a_tenth_on),
        TEST(the_summary_has_the_cause_of_the_compile),
        TEST(firsts_and_loads_are_no_recompiles),
        TEST(seconds_are_divided_among_the_roots_and_answer_the_questions),
        TEST(one_recompile_is_told_whole),
        TEST(advice_is_for_the_client_of_the_run),
        TEST(programs_with_lines_of_c_get_advice_for_c),
        TEST(a_refused_first_program_has_a_client_too),
        TEST(what_gathers_a_sharded_tensor_is_no_compiled_function),
        TEST(of_an_empty_journal_nothing_is_said_to_have_been_compiled_or_not),
        TEST(a_retrace_has_the_step_of_its_load_from_whichever_tier),
        TEST(retraces_at_one_line_are_one_item),
        TEST(programs_that_one_flag_compiled_again_are_one_item),
        TEST(programs_with_nothing_in_common_are_told_in_one_line_when_asked_for),
        TEST(an_unrelated_program_of_one_name_is_no_recompile),
        TEST(an_unrelated_program_of_pytorch_is_counted_and_listed),
        TEST(what_comes_behind_the_last_step_is_after_it),
        TEST(a_run_without_recompiles_is_one_line),
        TEST(what_is_left_out_is_counted),
        TEST(no_line_is_longer_than_the_terminal),
        TEST(foreign_text_cannot_act_on_the_terminal),
        TEST(json_has_an_object_for_each_recompile),
#ifdef KEEL_FAULTS
        TEST(every_allocation_that_fails_is_reported_and_nothing_leaks),
#endif
    };
    return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}
