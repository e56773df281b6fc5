#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <jansson.h>

#include "metrics/metrics.h"

static keel_status_t count(void *context, const struct json_t *event) {
    return keel_metrics_event(context, event);
}

static void count_lines_of(const char *lines, int64_t pid, keel_metrics_t *out) {
    keel_journal_damage_t damage;
    keel_metrics_initialize(out);
    out->pid = pid;
    assert_null(keel_journal_parse(keel_str_bytes(keel_str(lines)), count, out, &damage));
    assert_int_equal(damage.lines, 0);
}

static const char run[] =
    "{\"event\":\"start\",\"pid\":7,\"keel\":\"0.1.0\",\"host\":\"h\",\"mode\":\"on\","
    "\"argv\":[\"python\",\"a \\\"b\\\".py\"],\"plugin\":{\"platform\":\"cpu\"}}\n"
    "{\"event\":\"miss\",\"pid\":7}\n"
    "{\"event\":\"compile\",\"pid\":7,\"name\":\"jit_step\",\"seconds\":61.000000001,"
    "\"overhead_seconds\":0.000000002,\"recompile\":true}\n"
    "{\"event\":\"compile\",\"pid\":8,\"name\":\"jit_step\",\"seconds\":0.100000000,"
    "\"recompile\":true,\"executes\":{\"aa\":5}}\n"
    "{\"event\":\"explain\",\"pid\":7,\"what\":\"compile\",\"recompile\":true}\n"
    "{\"event\":\"explain\",\"pid\":8,\"what\":\"compile\",\"recompile\":true,"
    "\"unrelated\":true}\n"
    "{\"event\":\"load\",\"pid\":7,\"tier\":\"memory\",\"seconds\":0.25,"
    "\"compile_seconds\":1.5}\n"
    "{\"event\":\"transfers\",\"pid\":7,\"to_device\":{\"count\":3,\"bytes\":4096,"
    "\"seconds\":0.000004000},\"from_device\":{\"count\":1,\"bytes\":4,\"seconds\":0.5}}\n"
    "{\"event\":\"host_ops\",\"pid\":7,\"ops\":{\"aten::nonzero\":2,\"aten::item\":1}}\n"
    "{\"event\":\"host_ops\",\"pid\":7,\"ops\":{\"aten::nonzero\":3}}\n"
    "{\"event\":\"memory\",\"pid\":7,\"program\":\"0123456789abcdef\",\"name\":\"jit_step\","
    "\"total\":1000}\n"
    "{\"event\":\"device_memory\",\"pid\":7,\"device\":\"TPU:18\",\"in_use\":5,\"peak\":9}\n"
    "{\"event\":\"device_memory\",\"pid\":7,\"device\":\"TPU:18\",\"in_use\":4,\"peak\":9}\n"
    "{\"event\":\"compile_error\",\"pid\":7,\"code\":\"RESOURCE_EXHAUSTED\",\"message\":\"x\"}\n"
    "{\"event\":\"compile_error\",\"pid\":7,\"message\":\"no such operation\"}\n"
    "{\"event\":\"something later\",\"pid\":7,\"executes\":{\"aa\":2,\"bb\":1}}\n";

static void figures_are_counted_from_events(void **state) {
    (void)state;
    keel_metrics_t metrics;
    count_lines_of(run, 0, &metrics);
    const keel_metric_value_t *totals = metrics.totals;
    assert_int_equal(totals[KEEL_METRIC_COMPILES].value, 2);
    assert_int_equal(totals[KEEL_METRIC_COMPILE_SECONDS].value, 61100000001);
    assert_int_equal(totals[KEEL_METRIC_COMPILE_SECONDS].count, 2);
    assert_int_equal(totals[KEEL_METRIC_OVERHEAD_SECONDS].value, 2);
    assert_int_equal(totals[KEEL_METRIC_MISSES].value, 1);
    assert_int_equal(totals[KEEL_METRIC_RECOMPILES].value, 1);
    assert_int_equal(totals[KEEL_METRIC_LOADS].value, 1);
    assert_int_equal(totals[KEEL_METRIC_MEMORY_LOADS].value, 1);
    assert_int_equal(totals[KEEL_METRIC_SPARED_SECONDS].value, 1500000000);
    assert_int_equal(totals[KEEL_METRIC_EXECUTIONS].value, 8);
    assert_int_equal(totals[KEEL_METRIC_TO_DEVICE_SECONDS].value, 4000);
    assert_int_equal(totals[KEEL_METRIC_TO_DEVICE_SECONDS].count, 3);
    assert_int_equal(totals[KEEL_METRIC_TO_DEVICE_BYTES].value, 4096);
    assert_int_equal(totals[KEEL_METRIC_FROM_DEVICE_BYTES].value, 4);
    assert_int_equal(totals[KEEL_METRIC_COMPILE_ERRORS].value, 2);
    assert_int_equal(totals[KEEL_METRIC_OUT_OF_MEMORY].value, 1);
    keel_metrics_deinitialize(&metrics);
}

static void assert_total(const keel_metrics_t *metrics, keel_metric_t metric, uint64_t value,
                         uint64_t samples) {
    if (metrics->totals[metric].value != value || metrics->totals[metric].count != samples)
        fail_msg("%s is not %llu", keel_metric_facts(metric)->name, (unsigned long long)value);
}

static void each_event_counts_in_its_own_figures(void **state) {
    (void)state;
    keel_metrics_t metrics;
    count_lines_of("{\"event\":\"load\",\"tier\":\"disk\",\"seconds\":0.25,"
                   "\"overhead_seconds\":0.5,\"ahead_seconds\":0}\n"
                   "{\"event\":\"load\",\"tier\":\"disk\",\"seconds\":0.25,"
                   "\"overhead_seconds\":0.5,\"ahead_seconds\":0.000000001}\n"
                   "{\"event\":\"load\",\"tier\":\"memory\"}\n"
                   "{\"event\":\"prefetch\",\"loaded\":5,\"used\":2,\"seconds\":2}\n"
                   "{\"event\":\"prefetch\",\"loaded\":3,\"used\":3,\"seconds\":1}\n"
                   "{\"event\":\"prefetch\",\"loaded\":1,\"used\":2}\n"
                   "{\"event\":\"uncacheable\"}\n"
                   "{\"event\":\"publish\"}\n{\"event\":\"publish\"}\n"
                   "{\"event\":\"store_error\"}\n{\"event\":\"store_error\"}\n"
                   "{\"event\":\"store_error\"}\n"
                   "{\"event\":\"fallback\"}\n{\"event\":\"fallback\"}\n"
                   "{\"event\":\"explain\",\"what\":\"load\",\"recompile\":true}\n"
                   "{\"event\":\"explain\",\"what\":\"compile\"}\n"
                   "{\"event\":\"explain\",\"what\":\"compile\",\"recompile\":true,"
                   "\"unrelated\":true}\n"
                   "{\"event\":\"explain\",\"what\":\"compile\",\"unrelated\":true}\n"
                   "{\"event\":\"compile\",\"name\":\"jit_f\",\"seconds\":2}\n"
                   "{\"event\":\"compile\",\"name\":\"jit_f\",\"seconds\":3}\n"
                   "{\"event\":\"host_ops\",\"ops\":{\"x\":4,\"aten::item\":3}}\n"
                   "{\"event\":\"memory\",\"program\":\"0123456789abcdef\","
                   "\"name\":\"jit_f\",\"total\":9}\n",
                   0, &metrics);
    assert_total(&metrics, KEEL_METRIC_LOADS, 3, 0);
    assert_total(&metrics, KEEL_METRIC_MEMORY_LOADS, 1, 0);
    assert_total(&metrics, KEEL_METRIC_LOAD_SECONDS, 500000000, 3);
    assert_total(&metrics, KEEL_METRIC_OVERHEAD_SECONDS, 1000000000, 5);
    assert_total(&metrics, KEEL_METRIC_AHEAD_LOADS, 1, 0);
    assert_total(&metrics, KEEL_METRIC_UNUSED_LOADS, 3, 0);
    assert_total(&metrics, KEEL_METRIC_AHEAD_SECONDS, 3000000000, 0);
    assert_total(&metrics, KEEL_METRIC_UNCACHEABLE, 1, 0);
    assert_total(&metrics, KEEL_METRIC_PUBLISHED, 2, 0);
    assert_total(&metrics, KEEL_METRIC_CACHE_ERRORS, 3, 0);
    assert_total(&metrics, KEEL_METRIC_FALLBACKS, 2, 0);
    assert_total(&metrics, KEEL_METRIC_RECOMPILES, 0, 0);
    static const struct {
        keel_metric_t metric;
        const char *label;
        keel_metric_value_t value;
    } series[] = {{KEEL_METRIC_FUNCTION_SECONDS, "jit_f", {5000000000, 2}},
                  {KEEL_METRIC_HOST_OPS, "aten::item", {3, 0}},
                  {KEEL_METRIC_PROGRAM_BYTES, "0123456789ab jit_f", {9, 0}}};
    assert_int_equal(metrics.series_count, 3);
    for (size_t i = 0; i < 3; ++i) {
        assert_int_equal(metrics.series[i].metric, series[i].metric);
        assert_string_equal(metrics.series[i].label, series[i].label);
        assert_int_equal(metrics.series[i].value.value, series[i].value.value);
        assert_int_equal(metrics.series[i].value.count, series[i].value.count);
    }
    keel_metrics_deinitialize(&metrics);
}

// Process 1 is a rehearsal, process 2 is not.
static void a_rehearsal_has_the_compilers_times_and_none_of_a_device(void **state) {
    (void)state;
    keel_metrics_t metrics;
    keel_buffer_t out;
#define MOVED                                                                                      \
    "\"to_device\":{\"count\":2,\"bytes\":8,\"seconds\":1},"                                       \
    "\"from_device\":{\"count\":3,\"bytes\":12,\"seconds\":1}}\n"
    count_lines_of(
        "{\"event\":\"start\",\"pid\":1,\"keel\":\"1\",\"target\":{\"name\":\"h200:8\"}}\n"
        "{\"event\":\"start\",\"pid\":2,\"keel\":\"1\"}\n"
        "{\"event\":\"compile\",\"pid\":1,\"name\":\"jit_f\",\"seconds\":0.5,"
        "\"rehearsed\":\"later\"}\n"
        "{\"event\":\"compile\",\"pid\":1,\"name\":\"jit_g\",\"seconds\":0.5,"
        "\"rehearsed\":\"never\"}\n"
        "{\"event\":\"compile\",\"pid\":2,\"name\":\"jit_f\",\"seconds\":4}\n"
        "{\"event\":\"load\",\"pid\":1,\"seconds\":0.5,\"compile_seconds\":7}\n"
        "{\"event\":\"load\",\"pid\":2,\"seconds\":0.25}\n"
        "{\"event\":\"compiled\",\"pid\":1,\"name\":\"jit_f\",\"seconds\":3}\n"
        "{\"event\":\"compiled\",\"pid\":1,\"name\":\"jit_h\",\"seconds\":9,\"failed\":true}\n"
        "{\"event\":\"transfers\",\"pid\":1," MOVED "{\"event\":\"transfers\",\"pid\":2," MOVED
        "{\"event\":\"unreal\",\"pid\":1,\"maker\":\"jit_f\",\"count\":5}\n"
        "{\"event\":\"unreal\",\"pid\":1,\"maker\":\"jit_f\",\"into\":\"jit_g\",\"count\":6}\n"
        "{\"event\":\"explain\",\"pid\":1,\"what\":\"load\",\"recompile\":true}\n"
        "{\"event\":\"explain\",\"pid\":2,\"what\":\"load\",\"recompile\":true}\n",
        0, &metrics);
#undef MOVED
    static const struct {
        keel_metric_t metric;
        keel_metric_value_t value;
    } rows[] = {{KEEL_METRIC_COMPILES, {3, 0}},
                {KEEL_METRIC_COMPILE_SECONDS, {7000000000, 2}},
                {KEEL_METRIC_LOADS, {2, 0}},
                {KEEL_METRIC_LOAD_SECONDS, {250000000, 1}},
                {KEEL_METRIC_SPARED_SECONDS, {7000000000, 0}},
                {KEEL_METRIC_TO_DEVICE_SECONDS, {1000000000, 2}},
                {KEEL_METRIC_FROM_DEVICE_SECONDS, {1000000000, 3}},
                {KEEL_METRIC_TO_DEVICE_BYTES, {16, 4}},
                {KEEL_METRIC_FROM_DEVICE_BYTES, {24, 6}},
                {KEEL_METRIC_UNREAL_READS, {5, 0}},
                {KEEL_METRIC_RECOMPILES, {1, 0}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const keel_metric_value_t *total = &metrics.totals[rows[i].metric];
        if (total->value != rows[i].value.value || total->count != rows[i].value.count)
            fail_msg("%s: %llu, %llu", keel_metric_facts(rows[i].metric)->name,
                     (unsigned long long)total->value, (unsigned long long)total->count);
    }
    keel_buffer_initialize(&out, 0);
    keel_metrics_prometheus(&metrics, "r1", &out);
    assert_non_null(strstr(keel_buffer_cstr(&out), ",target=\"h200:8\"} 1\n"));
    keel_buffer_deinitialize(&out);
    keel_metrics_deinitialize(&metrics);
}

static void the_first_process_speaks_for_its_run(void **state) {
    (void)state;
    keel_metrics_t metrics;
    count_lines_of("{\"event\":\"start\",\"keel\":\"1\",\"host\":\"a\",\"mode\":\"on\","
                   "\"argv\":[\"x\",3],\"plugin\":{\"platform\":\"cpu\"}}\n"
                   "{\"event\":\"start\",\"keel\":\"2\",\"host\":\"b\",\"mode\":\"off\","
                   "\"argv\":[\"y\"],\"plugin\":{\"platform\":\"tpu\"}}\n",
                   0, &metrics);
    assert_string_equal(metrics.version, "1");
    assert_string_equal(metrics.host, "a");
    assert_string_equal(metrics.mode, "on");
    assert_string_equal(metrics.platform, "cpu");
    assert_string_equal(metrics.command, "x ?");
    keel_metrics_deinitialize(&metrics);
    // A command line of any length is kept in part, and no run goes without its figures for it.
    keel_metrics_initialize(&metrics);
    json_t *words = json_array();
    for (int i = 0; i < 7000; ++i)
        json_array_append_new(words, json_string("0123456789"));
    json_t *event = json_pack("{s:s, s:s, s:o}", "event", "start", "keel", "1", "argv", words);
    assert_null(keel_metrics_event(&metrics, event));
    assert_int_equal(strlen(metrics.command), KEEL_METRICS_TEXT);
    assert_memory_equal(metrics.command, "0123456789 0123456789 ", 22);
    json_decref(event);
    keel_metrics_deinitialize(&metrics);
}

static void a_time_is_written_in_the_units_that_it_has(void **state) {
    (void)state;
    static const struct {
        const char *seconds, *written;
    } rows[] = {{"0", "000.000us"},
                {"0.000000999", "000.999us"},
                {"0.001", "001ms000.000us"},
                {"1.002003004", "01s002ms003.004us"},
                {"60", "01m00s000ms000.000us"},
                {"3600", "01h00m00s000ms000.000us"},
                {"86400", "01d00h00m00s000ms000.000us"},
                {"90061.001001001", "01d01h01m01s001ms001.001us"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        keel_metrics_t metrics;
        keel_buffer_t out;
        char line[200], expected[200];
        snprintf(line, sizeof line, "{\"event\":\"compile\",\"seconds\":%s}\n", rows[i].seconds);
        snprintf(expected, sizeof expected,
                 "Metric: CompileTime\n  TotalSamples: 1\n  Accumulator: %s\n", rows[i].written);
        count_lines_of(line, 0, &metrics);
        keel_buffer_initialize(&out, 0);
        keel_metrics_report(&metrics, &out);
        assert_non_null(strstr(keel_buffer_cstr(&out), expected));
        keel_buffer_deinitialize(&out);
        keel_metrics_deinitialize(&metrics);
    }
}

static void the_report_has_what_pytorch_xla_knows_and_nothing_else(void **state) {
    (void)state;
    keel_metrics_t metrics;
    keel_buffer_t out;
    count_lines_of("{\"event\":\"host_ops\",\"ops\":{\"aten::a b\\u007f\":1}}\n"
                   "{\"event\":\"host_ops\",\"ops\":{\"aten::c!\":2}}\n"
                   "{\"event\":\"device_memory\",\"device\":\"d\",\"peak\":9}\n",
                   0, &metrics);
    keel_buffer_initialize(&out, 0);
    keel_metrics_report(&metrics, &out);
    static const char *const names[] = {
        "Metric: CompileTime",    "Metric: TransferToDeviceTime", "Metric: TransferFromDeviceTime",
        "Metric: OutboundData",   "Metric: InboundData",          "Counter: UncachedCompile",
        "Counter: CachedCompile", "Counter: CompileCacheMiss",    "Counter: aten::a_b_",
        "Counter: aten::c!"};
    size_t met = 0;
    keel_str_t rest = keel_bytes_str(keel_buffer_bytes(&out)), line;
    while (keel_str_line(&rest, &line)) {
        if (line.data[0] == ' ') continue; // the figures of the name above
        assert_true(met < sizeof names / sizeof *names);
        assert_true(keel_str_is(line, names[met++]));
    }
    assert_int_equal(met, sizeof names / sizeof *names);
    keel_buffer_deinitialize(&out);
    keel_metrics_deinitialize(&metrics);
}

static void events_of_other_processes_are_left_out_on_demand(void **state) {
    (void)state;
    keel_metrics_t metrics;
    count_lines_of(run, 8, &metrics);
    assert_int_equal(metrics.totals[KEEL_METRIC_COMPILES].value, 1);
    assert_int_equal(metrics.totals[KEEL_METRIC_COMPILE_SECONDS].value, 100000000);
    assert_int_equal(metrics.totals[KEEL_METRIC_EXECUTIONS].value, 5);
    assert_int_equal(metrics.series_count, 1);
    keel_metrics_deinitialize(&metrics);
}

static void the_report_reads_like_that_of_pytorch_xla(void **state) {
    (void)state;
    keel_metrics_t metrics;
    keel_buffer_t out;
    count_lines_of(run, 0, &metrics);
    keel_buffer_initialize(&out, 0);
    keel_metrics_report(&metrics, &out);
    const char *text = keel_buffer_cstr(&out);
    assert_non_null(strstr(text, "Metric: CompileTime\n  TotalSamples: 2\n"
                                 "  Accumulator: 01m01s100ms000.001us\n"));
    assert_non_null(strstr(text, "Metric: TransferToDeviceTime\n  TotalSamples: 3\n"
                                 "  Accumulator: 004.000us\n"));
    assert_non_null(strstr(text, "Metric: OutboundData\n  TotalSamples: 3\n"
                                 "  Accumulator: 4096B\n"));
    assert_non_null(strstr(text, "Counter: UncachedCompile\n  Value: 2\n"));
    assert_non_null(strstr(text, "Counter: CachedCompile\n  Value: 1\n"));
    assert_non_null(strstr(text, "Counter: CompileCacheMiss\n  Value: 1\n"));
    assert_non_null(strstr(text, "Counter: aten::nonzero\n  Value: 5\n"));
    assert_null(strstr(text, "keel"));
    keel_buffer_deinitialize(&out);
    keel_metrics_deinitialize(&metrics);
}

static void json_has_both_names(void **state) {
    (void)state;
    keel_metrics_t metrics;
    keel_buffer_t out;
    count_lines_of(run, 7, &metrics);
    keel_buffer_initialize(&out, 0);
    keel_metrics_json(&metrics, "r1", &out);
    json_t *root = json_loads(keel_buffer_cstr(&out), 0, NULL);
    assert_non_null(root);
    const json_t *ours = json_object_get(root, "metrics"),
                 *theirs = json_object_get(root, "torch_xla");
    assert_int_equal(json_object_size(ours), KEEL_METRIC_COUNT);
    assert_int_equal(json_integer_value(json_object_get(root, "pid")), 7);
    assert_string_equal(json_string_value(json_object_get(root, "command")), "python a \"b\".py");
    assert_int_equal(json_integer_value(json_object_get(theirs, "aten::nonzero")), 5);
    const json_t *time = json_object_get(theirs, "CompileTime");
    assert_int_equal(json_integer_value(json_object_get(time, "count")), 1);
    assert_true(json_real_value(json_object_get(time, "sum")) == 61.000000001);
    const json_t *in_use = json_object_get(ours, "keel_device_memory_in_use_bytes");
    assert_int_equal(json_integer_value(json_object_get(in_use, "TPU:18")), 4);
    static const char *const words[][2] = {
        {"run", "r1"}, {"version", "0.1.0"}, {"host", "h"}, {"platform", "cpu"}, {"mode", "on"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        assert_string_equal(json_string_value(json_object_get(root, words[i][0])), words[i][1]);
    assert_int_equal(json_object_size(root), 10);
    assert_string_equal(json_string_value(json_object_get(root, "target")), "");
    const json_t *functions = json_object_get(ours, "keel_function_compile_seconds");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(functions, "jit_step"), "count")), 1);
    // PyTorch/XLA's first name is of the first metric.
    assert_int_equal(json_integer_value(json_object_get(theirs, "UncachedCompile")), 1);
    assert_int_equal(keel_buffer_cstr(&out)[out.size - 1], '\n');
    json_decref(root);
    keel_buffer_deinitialize(&out);
    keel_metrics_deinitialize(&metrics);
}

// ---- the text that Prometheus reads ------------------------------------------------------------

static size_t name_size(const char *text) {
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:0123456789");
}

// Past `{name="value",...}`, NULL where it is none.
static const char *past_labels(const char *at) {
    assert_int_equal(*at, '{');
    for (++at; *at != '}'; at += *at == ',') {
        size_t size = name_size(at);
        if (!size || at[size] != '=' || at[size + 1] != '"') return NULL;
        for (at += size + 2; *at != '"'; ++at) {
            if (*at == '\\' && !strchr("\\\"n", *++at)) return NULL;
            if (!*at || *at == '\n') return NULL;
        }
        ++at;
        if (*at != ',' && *at != '}') return NULL;
    }
    return at + 1;
}

// The format's own rules: HELP, then TYPE, then samples of that name, each metric once.
static void check_exposition(const char *text) {
    char name[128] = "", kind[16] = "";
    keel_map_t seen;
    keel_map_initialize(&seen);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        assert_non_null(strchr(line, '\n'));
        if (sscanf(line, "# HELP %127s ", name) == 1) {
            keel_bytes_t key = keel_str_bytes(keel_str(name));
            assert_null(keel_map_find(&seen, key));
            assert_null(keel_map_put(&seen, key, 1));
            *kind = 0;
            continue;
        }
        char typed[128];
        if (sscanf(line, "# TYPE %127s %15s", typed, kind) == 2) {
            assert_string_equal(typed, name);
            continue;
        }
        assert_true(*kind);
        size_t size = strlen(name);
        assert_memory_equal(line, name, size);
        const char *at = line + size;
        if (strcmp(kind, "summary") == 0) {
            bool is_sum = strncmp(at, "_sum", 4) == 0;
            assert_true(is_sum || strncmp(at, "_count", 6) == 0);
            at += is_sum ? 4 : 6;
        } else if (strcmp(kind, "counter") == 0) {
            assert_string_equal(name + size - 6, "_total");
        }
        if (*at == '{') at = past_labels(at);
        assert_non_null(at);
        assert_int_equal(*at, ' ');
        assert_int_equal(at[1 + strspn(at + 1, "0123456789.")], '\n');
    }
    keel_map_deinitialize(&seen);
}

static void prometheus_reads_what_is_written(void **state) {
    (void)state;
    keel_metrics_t metrics;
    keel_buffer_t out;
    count_lines_of(run, 7, &metrics);
    keel_metric_t metric = KEEL_METRIC_DEVICE_LIMIT;
    assert_null(keel_metrics_set(&metrics, metric, "a\"b\\c\nd\xff\x1b", 3));
    assert_null(keel_metrics_set(&metrics, metric,
                                 "\xc2\x9b"
                                 "1m\xe2\x80\xae\xc3\xa9",
                                 5));
    assert_null(keel_metrics_set(&metrics, metric, "", 4));
    keel_buffer_initialize(&out, 0);
    keel_metrics_prometheus(&metrics, "r\"1", &out);
    const char *text = keel_buffer_cstr(&out);
    check_exposition(text);
    assert_non_null(strstr(text, "keel_compile_seconds_sum{run=\"r\\\"1\",pid=\"7\"} 61.000000001\n"
                                 "keel_compile_seconds_count{run=\"r\\\"1\",pid=\"7\"} 1\n"));
    assert_non_null(strstr(text, ",op=\"aten::nonzero\"} 5\n"));
    assert_non_null(strstr(text, ",device=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\xef\xbf\xbd\"} 3\n"));
    assert_non_null(strstr(text, ",device=\"\xef\xbf\xbd"
                                 "1m\xef\xbf\xbd\xc3\xa9\"} 5\n"));
    assert_non_null(strstr(text, ",device=\"unnamed\"} 4\n"));
    assert_non_null(strstr(text, ",command=\"python a \\\"b\\\".py\"} 1\n"));
    keel_buffer_deinitialize(&out);
    keel_metrics_deinitialize(&metrics);
}

static void prometheus_lists_what_has_no_label_and_the_labels_that_were_met(void **state) {
    (void)state;
    keel_metrics_t metrics;
    keel_buffer_t out;
    keel_metrics_initialize(&metrics);
    assert_null(keel_metrics_set(&metrics, KEEL_METRIC_DEVICE_LIMIT, "d", 3));
    keel_buffer_initialize(&out, 0);
    keel_metrics_prometheus(&metrics, "", &out);
    const char *text = keel_buffer_cstr(&out);
    check_exposition(text);
    for (int i = 0; i < KEEL_METRIC_COUNT; ++i) {
        const keel_metric_facts_t *facts = keel_metric_facts((keel_metric_t)i);
        char type[128];
        snprintf(type, sizeof type, "# TYPE %s ", facts->name);
        assert_int_equal(strstr(text, type) != NULL,
                         !facts->label || i == KEEL_METRIC_DEVICE_LIMIT);
    }
    assert_non_null(strstr(text, "\nkeel_run_info 1\n"));
    assert_non_null(strstr(text, "\nkeel_compiles_total 0\n"));
    assert_non_null(strstr(text, "\nkeel_device_memory_limit_bytes{device=\"d\"} 3\n"));
    keel_buffer_deinitialize(&out);
    keel_metrics_deinitialize(&metrics);
}

static void labels_beyond_the_bound_are_counted_together(void **state) {
    (void)state;
    keel_metrics_t metrics;
    keel_metrics_initialize(&metrics);
    keel_journal_damage_t damage;
    for (int i = 0; i < KEEL_METRICS_SERIES + 10; ++i) {
        char line[100];
        snprintf(line, sizeof line, "{\"event\":\"host_ops\",\"ops\":{\"aten::op%d\":2}}\n", i);
        assert_null(keel_journal_parse(keel_str_bytes(keel_str(line)), count, &metrics, &damage));
    }
    assert_int_equal(metrics.series_count, KEEL_METRICS_SERIES + 1);
    assert_string_equal(metrics.series[KEEL_METRICS_SERIES].label, "other");
    assert_int_equal(metrics.series[KEEL_METRICS_SERIES].value.value, 20);
    keel_metrics_deinitialize(&metrics);
}

static void a_long_label_is_cut_between_characters(void **state) {
    (void)state;
    keel_metrics_t metrics;
    keel_metrics_initialize(&metrics);
    char label[2 * KEEL_METRICS_TEXT + 2] = "x";
    for (size_t i = 1; i + 1 < sizeof label; i += 2)
        memcpy(label + i, "\xc3\xa4", 2);
    assert_null(keel_metrics_set(&metrics, KEEL_METRIC_DEVICE_PEAK, label, 1));
    assert_int_equal(strlen(metrics.series[0].label), KEEL_METRICS_TEXT - 1);
    assert_null(keel_metrics_set(&metrics, KEEL_METRIC_DEVICE_PEAK, label, 2));
    assert_int_equal(metrics.series_count, 1);
    keel_metrics_deinitialize(&metrics);
}

static void gauges_beyond_the_first_labels_are_told_by_the_largest(void **state) {
    (void)state;
    keel_metrics_t metrics;
    keel_metrics_initialize(&metrics);
    for (unsigned i = 0; i < KEEL_METRICS_SERIES + 3; ++i) {
        char label[16];
        snprintf(label, sizeof label, "p%u", i);
        uint64_t value = i == KEEL_METRICS_SERIES + 1 ? 900 : 7;
        assert_null(keel_metrics_set(&metrics, KEEL_METRIC_PROGRAM_BYTES, label, value));
    }
    assert_null(keel_metrics_set(&metrics, KEEL_METRIC_PROGRAM_BYTES, "p0", 3));
    assert_int_equal(metrics.series[0].value.value, 3);
    assert_string_equal(metrics.series[KEEL_METRICS_SERIES].label, "other");
    assert_int_equal(metrics.series[KEEL_METRICS_SERIES].value.value, 900);
    keel_metrics_deinitialize(&metrics);
}

static void fields_of_another_kind_count_nothing(void **state) {
    (void)state;
    keel_metrics_t metrics;
    count_lines_of("{\"event\":\"compile\",\"seconds\":\"much\",\"executes\":[1],\"name\":3}\n"
                   "{\"event\":\"load\",\"seconds\":-1,\"compile_seconds\":1e300}\n"
                   "{\"event\":\"host_ops\",\"ops\":{\"aten::a\":-5,\"aten::b\":\"x\"}}\n"
                   "{\"event\":\"transfers\",\"to_device\":7}\n"
                   "{\"event\":\"device_memory\",\"device\":null,\"in_use\":-2}\n",
                   0, &metrics);
    assert_int_equal(metrics.totals[KEEL_METRIC_COMPILES].value, 1);
    assert_int_equal(metrics.totals[KEEL_METRIC_COMPILE_SECONDS].value, 0);
    assert_int_equal(metrics.totals[KEEL_METRIC_SPARED_SECONDS].value, 0);
    assert_int_equal(metrics.totals[KEEL_METRIC_EXECUTIONS].value, 0);
    for (size_t i = 0; i < metrics.series_count; ++i)
        assert_int_equal(metrics.series[i].value.value, 0);
    keel_metrics_deinitialize(&metrics);
}

// ---- what does not fit -------------------------------------------------------------------------

static void sizes_of_what_does_not_fit_are_read_from_the_message(void **state) {
    (void)state;
    static const struct {
        const char *code, *message;
        bool is;
        uint64_t needed, available;
    } rows[] = {
        {"RESOURCE_EXHAUSTED",
         "E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO "
         "temporaries (256.00G) exceeds available HBM (31.25G). HLO module: jit__lambda.",
         true, 256ull << 30, (31ull << 30) + (1ull << 28)},
        {"",
         "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 27.50G of 15.50G hbm. "
         "Exceeded hbm capacity by 12.00G.",
         true, 55ull << 29, 31ull << 29},
        {"RESOURCE_EXHAUSTED", "Out of memory while trying to allocate 17179869184 bytes.", true,
         17179869184u, 0},
        {"RESOURCE_EXHAUSTED", "Out of memory while trying to allocate 16.0GiB.", true, 16ull << 30,
         0},
        {"RESOURCE_EXHAUSTED", "( exceeds available ", true, 0, 0},
        {"RESOURCE_EXHAUSTED", "(99999999999999999999999999999999999999999P) exceeds available (",
         true, 0, 0},
        {"", "Ran out of memory: (3.5K) of (1.5M) exceeds available HBM (2 G)", true, 3ull << 19,
         2ull << 30},
        {"", "Used 8 of 4 bytes: out of memory (9G)", true, 8, 4},
        {"", "CompileTimeHbmOom", true, 0, 0},
        {"", "Out of memory (1G), to allocate 1.5E", true, 3ull << 59, 0},
        {"", "out of memory: to allocate 12345678901234567890", true, 0, 0},
        {"", "out of memory: to allocate 10000000000000000000", true, 0, 0}, // no size is so large
        {"", "out of memory: to allocate 9999999999999997952", true, 9999999999999997952u, 0},
        {"", "out of memory: to allocate 99999999999999x", true, 99999999999999, 0},
        {"INVALID_ARGUMENT", "the program is not valid", false, 0, 0},
        {"INVALID_ARGUMENT", "(1G) exceeds available memory", false, 0, 0},
        {"", "", false, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint64_t needed = 1, available = 1;
        assert_int_equal(
            keel_metrics_is_out_of_memory(rows[i].code, rows[i].message, &needed, &available),
            rows[i].is);
        assert_int_equal(needed, rows[i].needed);
        assert_int_equal(available, rows[i].available);
    }
}

// ---- the page ----------------------------------------------------------------------------------

// "| `keel_compiles_total` | `UncachedCompile` | counter | | Programs that ... |"
static void the_page_lists_every_metric_as_the_table_has_it(void **state) {
    (void)state;
    static const char *const kinds[] = {"counter", "gauge", "summary"}, *const units[] = {
                                                                            "", ", seconds",
                                                                            ", bytes"};
    uint8_t *data;
    size_t size;
    assert_null(keel_file_read(KEEL_TEST_SOURCE "/docs/metrics.md", 1 << 20, &data, &size));
    keel_str_t page = keel_bytes_str(keel_bytes(data, size));
    for (int i = 0; i < KEEL_METRIC_COUNT; ++i) {
        const keel_metric_facts_t *facts = keel_metric_facts((keel_metric_t)i);
        char row[600], xla[64] = "", label[32] = "";
        if (facts->xla_name)
            snprintf(xla, sizeof xla, "`%s`", *facts->xla_name ? facts->xla_name : "aten::...");
        if (facts->label) snprintf(label, sizeof label, " by `%s`", facts->label);
        snprintf(row, sizeof row, "| `%s` | %s | %s%s%s | %s |\n", facts->name, xla,
                 kinds[facts->kind], units[facts->unit], label, facts->sentence);
        if (!memmem(page.data, page.size, row, strlen(row))) fail_msg("the page lacks %s", row);
    }
    keel_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_counted_from_events),
        cmocka_unit_test(each_event_counts_in_its_own_figures),
        cmocka_unit_test(a_rehearsal_has_the_compilers_times_and_none_of_a_device),
        cmocka_unit_test(the_first_process_speaks_for_its_run),
        cmocka_unit_test(the_report_has_what_pytorch_xla_knows_and_nothing_else),
        cmocka_unit_test(a_time_is_written_in_the_units_that_it_has),
        cmocka_unit_test(events_of_other_processes_are_left_out_on_demand),
        cmocka_unit_test(the_report_reads_like_that_of_pytorch_xla),
        cmocka_unit_test(json_has_both_names),
        cmocka_unit_test(prometheus_reads_what_is_written),
        cmocka_unit_test(prometheus_lists_what_has_no_label_and_the_labels_that_were_met),
        cmocka_unit_test(labels_beyond_the_bound_are_counted_together),
        cmocka_unit_test(a_long_label_is_cut_between_characters),
        cmocka_unit_test(gauges_beyond_the_first_labels_are_told_by_the_largest),
        cmocka_unit_test(fields_of_another_kind_count_nothing),
        cmocka_unit_test(sizes_of_what_does_not_fit_are_read_from_the_message),
        cmocka_unit_test(the_page_lists_every_metric_as_the_table_has_it),
    };
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
