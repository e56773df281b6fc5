// What a client of a rehearsal was refused and may have swallowed, from its journal.
#define _GNU_SOURCE
#include "why_help.h"

static void assert_says(void (*say)(const keel_why_t *why, keel_buffer_t *out),
                        const keel_why_t *why, const char *expected) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    say(why, &out);
    assert_null(keel_buffer_status(&out));
    if (!strstr(keel_buffer_cstr(&out), expected))
        fail_msg("%s\nis not in\n%s", expected, keel_buffer_cstr(&out));
    keel_buffer_deinitialize(&out);
}

static void say_why(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_why(why, &(keel_text_style_t){.width = 0}, out);
}

static void say_figures(const keel_why_t *why, keel_buffer_t *out) {
    keel_text_stats_json(why, true, out);
}

static void what_a_client_was_refused_comes_first_and_fails_the_rehearsal(void **state) {
    static const char start[] = "{\"event\":\"start\",\"t\":1000,\"pid\":1,\"cwd\":\"/w\",\"argv\":"
                                "[\"python\"],\"target\":{\"name\":\"h200:8\"}}\n",
                      execution[] = "{\"event\":\"refused\",\"pid\":1,\"action\":\"execution\","
                                    "\"name\":\"jit_step\",\"message\":\"it has 32 bytes\","
                                    "\"count\":2,\"site\":{\"file\":\"/w/t.py\",\"line\":9}}\n",
                      transfer[] = "{\"event\":\"refused\",\"pid\":1,\"action\":\"transfer\","
                                   "\"message\":\"no room\",\"count\":1}\n",
                      other[] = "{\"event\":\"refused\",\"pid\":1,\"message\":\"who knows\"}\n";
    static const char *const lines[] = {start, execution, transfer, execution, other};
    (void)state;
    keel_why_t why;
    keel_buffer_initialize(&journal, 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i)
        keel_buffer_text(&journal, lines[i]);
    parse(&why);
    assert_int_equal(why.run.rehearsal.refusal_count, 2);
    assert_int_equal(why.run.rehearsal.refusals[0].times, 4);
    assert_false(keel_run_passes(&why.run));
    assert_says(keel_text_summary, &why,
                "keel: jit_step (t.py:9) could not be executed, 4 times: it has 32 bytes; and 1 "
                "more; run `keel why`\nkeel: rehearsed on h200:8: ");
    assert_says(say_why, &why, "unknown line could not move an array: no room\n");
    assert_says(say_figures, &why, "\"action\": \"transfer\"");
    keel_why_deinitialize(&why);
    keel_buffer_deinitialize(&journal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_client_was_refused_comes_first_and_fails_the_rehearsal),
    };
    return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}
