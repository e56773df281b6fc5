// Each allocation and each file operation of counting and printing figures fails once: they say so,
// or print everything.
#define _GNU_SOURCE
#include "place.h"

#include "metrics/metrics.h"
#include "text/text.h"

static const char of_a_run[] =
    "{\"event\":\"start\",\"t\":1,\"pid\":7,\"keel\":\"0.1.0\",\"cwd\":\"/w\",\"argv\":[\"a\","
    "\"b\"],\"plugin\":{\"platform\":\"cpu\"}}\n"
    "{\"event\":\"compile\",\"t\":2,\"pid\":7,\"program\":\"aa\",\"key\":\"ka\","
    "\"name\":\"jit_step\",\"seconds\":1,\"site\":{\"file\":\"/w/a.py\",\"line\":3}}\n"
    "{\"event\":\"memory\",\"t\":2,\"pid\":7,\"program\":\"aa\",\"key\":\"ka\",\"name\":\"jit_"
    "step\","
    "\"total\":1000}\n"
    "{\"event\":\"host_ops\",\"t\":3,\"pid\":7,\"ops\":{\"aten::a\":3,\"aten::b\":4}}\n"
    "{\"event\":\"device_memory\",\"t\":3,\"pid\":7,\"device\":\"TPU:1\",\"kind\":\"TPU\","
    "\"in_use\":5,\"limit\":10}\n"
    "{\"event\":\"memory_unknown\",\"t\":3,\"pid\":7,\"what\":\"programs\",\"message\":\"no\"}\n"
    "{\"event\":\"compile_error\",\"t\":4,\"pid\":7,\"program\":\"bb\",\"name\":\"jit_step\","
    "\"code\":\"RESOURCE_EXHAUSTED\",\"message\":\"Used 2G of 1G hbm.\"}\n";

static const char of_a_rehearsal[] =
    "{\"event\":\"start\",\"t\":1,\"pid\":7,\"keel\":\"0.1.0\",\"cwd\":\"/w\",\"argv\":[\"a\"],"
    "\"target\":{\"name\":\"h200:8\",\"kind\":\"H200\",\"devices\":8,\"memory\":160,\"values\":"
    "\"zeros\"}}\n"
    "{\"event\":\"compile\",\"t\":2,\"pid\":7,\"program\":\"aa\",\"key\":\"ka\",\"name\":"
    "\"jit_step\",\"seconds\":1,\"rehearsed\":\"later\",\"site\":{\"file\":\"/w/a.py\",\"line\":3}}"
    "\n"
    "{\"event\":\"compile\",\"t\":2,\"pid\":7,\"program\":\"bb\",\"key\":\"kb\",\"name\":"
    "\"jit_eval\",\"seconds\":1,\"rehearsed\":\"never\",\"guess\":true}\n"
    "{\"event\":\"compiled\",\"t\":3,\"pid\":7,\"program\":\"aa\",\"key\":\"ka\",\"name\":"
    "\"jit_step\",\"seconds\":2}\n"
    "{\"event\":\"memory\",\"t\":3,\"pid\":7,\"program\":\"aa\",\"key\":\"ka\",\"name\":"
    "\"jit_step\",\"arguments\":9,\"temporaries\":5,\"total\":14}\n"
    "{\"event\":\"living\",\"pid\":7,\"program\":\"aa\",\"bytes\":10}\n"
    "{\"event\":\"living\",\"pid\":7,\"program\":\"bb\",\"bytes\":20}\n"
    "{\"event\":\"unreal\",\"pid\":7,\"maker\":\"jit_step\",\"count\":2,\"site\":{\"file\":"
    "\"/w/a.py\",\"line\":4}}\n"
    "{\"event\":\"compile_error\",\"t\":4,\"pid\":7,\"program\":\"cc\",\"name\":\"jit_bad\","
    "\"code\":\"UNIMPLEMENTED\",\"message\":\"no such call\"}\n";

static const char *journal = of_a_run;

static keel_status_t count(void *context, const struct json_t *event) {
    return keel_metrics_event(context, event);
}

static keel_status_t as_metrics(keel_buffer_t *out) {
    keel_metrics_t metrics;
    keel_journal_damage_t damage;
    keel_metrics_initialize(&metrics);
    keel_status_t status =
        keel_journal_parse(keel_str_bytes(keel_str(journal)), count, &metrics, &damage);
    if (!status) keel_metrics_json(&metrics, "r", out);
    if (!status) keel_metrics_prometheus(&metrics, "r", out);
    if (!status) keel_metrics_report(&metrics, out);
    keel_metrics_deinitialize(&metrics);
    return status ? status : keel_buffer_status(out);
}

static keel_status_t as_memory(keel_buffer_t *out) {
    keel_run_t run;
    KEEL_TRY(keel_run_parse(keel_str_bytes(keel_str(journal)), "r", "", KEEL_RUN_MEMORY, &run));
    keel_text_memory(&run, NULL, out);
    keel_text_memory(&run, &run.memory.programs[0], out);
    keel_text_memory_json(&run, NULL, out);
    keel_run_deinitialize(&run);
    return keel_buffer_status(out);
}

static keel_status_t as_stats(keel_buffer_t *out) {
    keel_why_t stats;
    KEEL_TRY(keel_why_parse(keel_str_bytes(keel_str(journal)), "r", "/r", 0, &stats));
    keel_text_summary(&stats, out);
    keel_text_stats(&stats, 0, out);
    keel_text_stats_json(&stats, true, out);
    keel_why_deinitialize(&stats);
    return keel_buffer_status(out);
}

static keel_status_t as_why(keel_buffer_t *out) {
    keel_why_t why;
    KEEL_TRY(keel_why_parse(keel_str_bytes(keel_str(journal)), "r", "", KEEL_RUN_DETAILS, &why));
    keel_text_why(&why, &(keel_text_style_t){.all = true}, out);
    keel_why_deinitialize(&why);
    return keel_buffer_status(out);
}

static void fail_each(keel_status_t (*make)(keel_buffer_t *out), const char *wanted) {
    unsigned refused = 0;
    for (uint64_t nth = 1;; ++nth) {
        keel_buffer_t out;
        keel_buffer_initialize(&out, 0);
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        keel_status_t status = make(&out);
        bool reached = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        if (status)
            assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        else
            assert_non_null(strstr(keel_buffer_cstr(&out), wanted));
        refused += status != NULL;
        keel_status_ignore(status);
        keel_buffer_deinitialize(&out);
        if (!reached) break;
    }
    assert_true(refused >= 3);
}

static void figures_say_that_there_is_no_memory(void **state) {
    (void)state;
    fail_each(as_metrics, "Counter: aten::b\n  Value: 4\n");
}

static void memory_says_so_too(void **state) {
    (void)state;
    fail_each(as_memory, "\"misfits\": [{\"program\": \"bb\"");
}

static void and_so_do_the_figures_of_a_run(void **state) {
    (void)state;
    fail_each(as_stats, "it needs 2.0 GiB, there are 1.0 GiB; run `keel memory`\n");
    fail_each(as_why, "aten::b was computed on the host 4 times");
}

static void rehearsals_say_so_too(void **state) {
    (void)state;
    journal = of_a_rehearsal;
    fail_each(as_metrics, "keel_unreal_reads_total{run=\"r\"} 2\n");
    fail_each(as_memory, "\"before\": 20, \"most\": 20, \"at_least\": true");
    fail_each(as_stats, "jit_bad does not compile for h200:8: no such call\n");
    fail_each(as_why, "how the results of jit_eval are sharded is not known");
    journal = of_a_run;
}

static void the_end_of_a_file_is_read_or_the_failure_is_told(void **state) {
    const place_t *place = *state;
    char path[700];
    snprintf(path, sizeof path, "%s/lines", place->root);
    assert_ok(keel_file_create(path, keel_str_bytes(KEEL_STR("first\nsecond\n"))));
    for (uint64_t nth = 1;; ++nth) {
        uint8_t *data;
        size_t size;
        keel_fault_arm(KEEL_FAULT_FILE, nth);
        keel_status_t status = keel_file_read_from(path, 6, 100, &data, &size);
        bool reached = keel_fault_count(KEEL_FAULT_FILE) >= nth;
        keel_fault_arm(KEEL_FAULT_FILE, 0);
        if (!status) {
            assert_int_equal(size, 7);
            assert_memory_equal(data, "second\n", 7);
            keel_free(data);
        }
        keel_status_ignore(status);
        if (!reached) break;
        assert_non_null(status);
    }
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read_from(path, 2, 3, &data, &size));
    assert_memory_equal(data, "rst", 3);
    keel_free(data);
    assert_ok(keel_file_read_from(path, 13, 3, &data, &size));
    assert_int_equal(size, 0);
    assert_null(data);
}

static int make(void **state) {
    place_t *place = calloc(1, sizeof *place);
    place_make(place);
    *state = place;
    return 0;
}

static int unmake(void **state) {
    place_remove(*state);
    free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_say_that_there_is_no_memory),
        cmocka_unit_test(memory_says_so_too),
        cmocka_unit_test(and_so_do_the_figures_of_a_run),
        cmocka_unit_test(rehearsals_say_so_too),
        cmocka_unit_test_setup_teardown(the_end_of_a_file_is_read_or_the_failure_is_told, make,
                                        unmake),
    };
    return cmocka_run_group_tests_name("metrics faults", tests, NULL, NULL);
}
