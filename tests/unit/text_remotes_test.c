#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/text.h"

static void what_remotes_answered_is_said_of_each_and_of_each_program(void **state) {
    (void)state;
    static const char journal[] =
        "{\"event\":\"start\",\"t\":1,\"pid\":1,\"argv\":[\"python\"]}\n"
        "{\"event\":\"remote\",\"t\":2,\"pid\":1,\"key\":\"ka\",\"remote\":\"https://a/b\","
        "\"got\":\"found\",\"bytes\":2000,\"seconds\":0.5}\n"
        "{\"event\":\"load\",\"t\":2,\"pid\":1,\"program\":\"aa\",\"key\":\"ka\",\"name\":\"jit_"
        "f\","
        "\"tier\":\"https://a/b\",\"seconds\":0.25}\n"
        "{\"event\":\"load\",\"t\":2,\"pid\":1,\"program\":\"bb\",\"key\":\"kb\",\"name\":\"jit_"
        "g\","
        "\"tier\":\"disk\",\"seconds\":0.25}\n"
        "{\"event\":\"remote\",\"t\":3,\"pid\":1,\"key\":\"kc\",\"remote\":\"https://a/b\","
        "\"got\":\"absent\",\"seconds\":0.25}\n"
        "{\"event\":\"remote\",\"t\":3,\"pid\":1,\"key\":\"kc\",\"remote\":\"file:///c\","
        "\"got\":\"untrusted\",\"why\":\"an entry is not signed\",\"seconds\":0.125}\n"
        "{\"event\":\"compile\",\"t\":3,\"pid\":1,\"program\":\"cc\",\"key\":\"kc\",\"name\":"
        "\"jit_h\",\"seconds\":2.0}\n";
    keel_why_t stats;
    keel_buffer_t out;
    assert_null(
        keel_why_parse(keel_str_bytes(keel_str(journal)), "r1", "/r/journal.ndjson", 0, &stats));
    assert_int_equal(stats.run.remote_hits, 1);
    keel_buffer_initialize(&out, 0);
    keel_text_stats(&stats, 0, &out);
    const char *text = keel_buffer_cstr(&out);
    assert_non_null(strstr(text,
                           "  remote      https://a/b: 1 found (2.0 KiB in 750 ms, the slowest "
                           "500 ms), 1 not there\n"));
    assert_non_null(strstr(text, "  remote      file:///c: 1 untrusted: an entry is not signed\n"));
    assert_non_null(strstr(text, "jit_f  (from https://a/b)\n"));
    assert_non_null(strstr(text, "jit_g  (from disk)\n"));
    assert_non_null(strstr(text, "jit_h  (file:///c: untrusted)\n"));
    keel_buffer_deinitialize(&out);
    keel_why_deinitialize(&stats);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_remotes_answered_is_said_of_each_and_of_each_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
