// What is said of a rehearsal's compiles.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "text/text.h"

#define START                                                                                      \
    "{\"event\":\"start\",\"t\":1000.0,\"pid\":1,\"argv\":[\"t.py\"],\"mode\":\"on\","             \
    "\"target\":{\"name\":\"h200:8\",\"devices\":8,\"processes\":1}}\n"
#define COMPILE(program, rest)                                                                     \
    "{\"event\":\"compile\",\"t\":1001.0,\"pid\":1,\"program\":\"" program                         \
    "\",\"name\":\"jit_" program "\"," rest "}\n"
#define END "{\"event\":\"end\",\"t\":1002.0,\"pid\":1}\n"

static void assert_summary(const char *journal, const char *expected, int partitioned) {
    keel_why_t why;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    assert_null(
        keel_why_parse(keel_str_bytes(keel_str(journal)), "r1", "/r/journal.ndjson", 0, &why));
    keel_text_summary(&why, &text);
    if (!strstr(keel_buffer_cstr(&text), expected)) fail_msg("%s", keel_buffer_cstr(&text));
    text.size = 0;
    keel_text_stats_json(&why, true, &text);
    json_t *figures = json_loadb((const char *)text.data, text.size, 0, NULL);
    const json_t *rehearsal = json_object_get(figures, "rehearsal");
    assert_int_equal(json_integer_value(json_object_get(rehearsal, "partitioned")), partitioned);
    assert_true(json_real_value(json_object_get(rehearsal, "partitioned_seconds")) ==
                partitioned * 0.25);
    json_decref(figures);
    keel_buffer_deinitialize(&text);
    keel_why_deinitialize(&why);
}

static void what_is_only_partitioned_is_counted(void **state) {
    (void)state;
    assert_summary(
        START COMPILE("a", "\"rehearsed\":\"never\",\"partition_seconds\":0.25")
            COMPILE("b", "\"rehearsed\":\"never\",\"partition_seconds\":0.25")
                COMPILE("c", "\"rehearsed\":\"never\"") END,
        "keel: rehearsed on h200:8: 3 programs; nothing compiled, 2 only partitioned (500 ms)\n",
        2);
}

static void what_is_only_partitioned_is_counted_beside_compiles(void **state) {
    (void)state;
    assert_summary(START COMPILE("a", "\"rehearsed\":\"never\",\"partition_seconds\":0.25")
                       COMPILE("b", "\"rehearsed\":\"now\",\"seconds\":2") END,
                   "keel: rehearsed on h200:8: 2 programs; 1 compile 2.0 s, 1 not compiled, 1 only "
                   "partitioned (250 ms)\n",
                   1);
}

#define LIVING(program, bytes)                                                                     \
    "{\"event\":\"living\",\"pid\":1,\"program\":\"" program "\",\"bytes\":" #bytes "}\n"
#define NEVER(program, key, ops)                                                                   \
    COMPILE(program, "\"key\":\"" key "\",\"ops\":" #ops ",\"rehearsed\":\"never\"")

static void a_lower_bound_names_the_largest_program_that_was_not_compiled(void **state) {
    (void)state;
    assert_summary(START NEVER("data", "k1", 3) NEVER("step", "k2", 900) NEVER("eval", "k3", 90)
                       LIVING("data", 4096) LIVING("step", 2048) LIVING("eval", 1024) END,
                   "keel: memory: at least 4.0 KiB on a device; what jit_step and 2 other programs "
                   "need besides arguments and results is not known without a compile\n",
                   0);
}

// JAX may write one program in two ways.
static void programs_of_one_key_count_once(void **state) {
    (void)state;
    assert_summary(
        START NEVER("a", "k1", 3) NEVER("b", "k1", 3) LIVING("a", 1024) LIVING("b", 2048) END,
        "keel: memory: at least 2.0 KiB on a device; what jit_a needs besides arguments and "
        "results is not known without a compile\n",
        0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lower_bound_names_the_largest_program_that_was_not_compiled),
        cmocka_unit_test(programs_of_one_key_count_once),
        cmocka_unit_test(what_is_only_partitioned_is_counted),
        cmocka_unit_test(what_is_only_partitioned_is_counted_beside_compiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
