#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "metrics/part.h"

// The journal writes nine decimals, so nothing is lost.
static uint64_t nanoseconds(const json_t *event, const char *name) {
    double seconds = keel_event_number(event, name);
    return seconds < 9e9 ? (uint64_t)llround(seconds * 1e9) : 0;
}

static uint64_t number_of(const json_t *value) {
    json_int_t number = json_integer_value(value);
    return number > 0 ? (uint64_t)number : 0;
}

// ---- adding ------------------------------------------------------------------------------------

static void count(keel_metrics_t *metrics, keel_metric_t metric, uint64_t value) {
    metrics->totals[metric].value += value;
}

// The sum of several.
static void samples(keel_metrics_t *metrics, keel_metric_t metric, uint64_t value, uint64_t count) {
    metrics->totals[metric].value += value;
    metrics->totals[metric].count += count;
}

static void sample(keel_metrics_t *metrics, keel_metric_t metric, uint64_t value) {
    samples(metrics, metric, value, 1);
}

// In a rehearsal the times of the client's calls are those of no device.
static bool is_rehearsed(const keel_metrics_t *metrics, const json_t *event) {
    json_int_t pid = json_integer_value(json_object_get(event, "pid"));
    return keel_map_find(&metrics->rehearsals, keel_bytes(&pid, sizeof pid));
}

static keel_status_t meet_target(keel_metrics_t *metrics, const json_t *event) {
    json_int_t pid = json_integer_value(json_object_get(event, "pid"));
    const char *name = keel_event_text(json_object_get(event, "target"), "name");
    if (!*name) return NULL;
    if (!*metrics->target) KEEL_TRY(keel_metrics_keep(metrics, name, &metrics->target));
    return keel_map_put(&metrics->rehearsals, keel_bytes(&pid, sizeof pid), 1);
}

static keel_status_t start(keel_metrics_t *metrics, const json_t *event) {
    KEEL_TRY(meet_target(metrics, event));
    if (*metrics->version) return NULL; // the first process speaks for the run
    const json_t *plugin = json_object_get(event, "plugin");
    KEEL_TRY(keel_metrics_keep(metrics, keel_event_text(event, "keel"), &metrics->version));
    KEEL_TRY(keel_metrics_keep(metrics, keel_event_text(event, "host"), &metrics->host));
    KEEL_TRY(keel_metrics_keep(metrics, keel_event_text(event, "mode"), &metrics->mode));
    KEEL_TRY(keel_metrics_keep(metrics, keel_event_text(plugin, "platform"), &metrics->platform));
    keel_buffer_t command;
    keel_buffer_initialize(&command, 1 << 16);
    size_t index;
    json_t *word;
    json_array_foreach(json_object_get(event, "argv"), index, word) {
        const char *value = json_string_value(word);
        keel_buffer_format(&command, "%s%s", index ? " " : "", value ? value : "?");
    }
    // A command line that did not fit is cut.
    keel_status_t status =
        keel_metrics_keep(metrics, keel_buffer_cstr(&command), &metrics->command);
    keel_buffer_deinitialize(&command);
    return status;
}

static keel_status_t took(keel_metrics_t *metrics, const json_t *event) {
    keel_metric_series_t *series;
    uint64_t time = nanoseconds(event, "seconds");
    sample(metrics, KEEL_METRIC_COMPILE_SECONDS, time);
    KEEL_TRY(keel_metrics_series(metrics, KEEL_METRIC_FUNCTION_SECONDS,
                                 keel_event_text(event, "name"), &series));
    series->value.value += time;
    ++series->value.count;
    return NULL;
}

static keel_status_t compile(keel_metrics_t *metrics, const json_t *event) {
    count(metrics, KEEL_METRIC_COMPILES, 1);
    sample(metrics, KEEL_METRIC_OVERHEAD_SECONDS, nanoseconds(event, "overhead_seconds"));
    return *keel_event_text(event, "rehearsed") ? NULL : took(metrics, event);
}

static keel_status_t compiled(keel_metrics_t *metrics, const json_t *event) {
    return json_is_true(json_object_get(event, "failed")) ? NULL : took(metrics, event);
}

static keel_status_t unreal(keel_metrics_t *metrics, const json_t *event) {
    if (!*keel_event_text(event, "into"))
        count(metrics, KEEL_METRIC_UNREAL_READS, keel_event_count(event, "count"));
    return NULL;
}

static keel_status_t count_load(keel_metrics_t *metrics, const json_t *event) {
    uint64_t times = keel_event_times(event);
    bool from_memory = strcmp(keel_event_text(event, "tier"), "memory") == 0;
    count(metrics, KEEL_METRIC_LOADS, times);
    count(metrics, KEEL_METRIC_MEMORY_LOADS, from_memory ? times : 0);
    count(metrics, KEEL_METRIC_SPARED_SECONDS, nanoseconds(event, "compile_seconds"));
    if (!is_rehearsed(metrics, event))
        samples(metrics, KEEL_METRIC_LOAD_SECONDS, nanoseconds(event, "seconds"), times);
    count(metrics, KEEL_METRIC_AHEAD_LOADS, nanoseconds(event, "ahead_seconds") > 0);
    samples(metrics, KEEL_METRIC_OVERHEAD_SECONDS, nanoseconds(event, "overhead_seconds"), times);
    return NULL;
}

static keel_status_t prefetch(keel_metrics_t *metrics, const json_t *event) {
    uint64_t loaded = keel_event_count(event, "loaded"), used = keel_event_count(event, "used");
    count(metrics, KEEL_METRIC_UNUSED_LOADS, loaded > used ? loaded - used : 0);
    count(metrics, KEEL_METRIC_AHEAD_SECONDS, nanoseconds(event, "seconds"));
    return NULL;
}

static keel_status_t miss(keel_metrics_t *metrics, const json_t *event) {
    (void)event;
    count(metrics, KEEL_METRIC_MISSES, 1);
    return NULL;
}

static keel_status_t uncacheable(keel_metrics_t *metrics, const json_t *event) {
    (void)event;
    count(metrics, KEEL_METRIC_UNCACHEABLE, 1);
    return NULL;
}

static keel_status_t publish(keel_metrics_t *metrics, const json_t *event) {
    (void)event;
    count(metrics, KEEL_METRIC_PUBLISHED, 1);
    return NULL;
}

static keel_status_t store_error(keel_metrics_t *metrics, const json_t *event) {
    (void)event;
    count(metrics, KEEL_METRIC_CACHE_ERRORS, 1);
    return NULL;
}

static keel_status_t fallback(keel_metrics_t *metrics, const json_t *event) {
    (void)event;
    count(metrics, KEEL_METRIC_FALLBACKS, 1);
    return NULL;
}

static keel_status_t compile_error(keel_metrics_t *metrics, const json_t *event) {
    uint64_t needed, available;
    count(metrics, KEEL_METRIC_COMPILE_ERRORS, 1);
    count(metrics, KEEL_METRIC_OUT_OF_MEMORY,
          keel_metrics_is_out_of_memory(keel_event_text(event, "code"),
                                        keel_event_text(event, "message"), &needed, &available));
    return NULL;
}

// The `compile` event's flag is not enough: a program with almost nothing in common with earlier
// ones is not a recompile, and that is known only after the comparison.
static keel_status_t explain(keel_metrics_t *metrics, const json_t *event) {
    const char *what = keel_event_text(event, "what");
    bool is_compile =
        strcmp(what, "compile") == 0 || (strcmp(what, "load") == 0 && is_rehearsed(metrics, event));
    bool is_recompile = json_is_true(json_object_get(event, "recompile"));
    bool is_unrelated = json_is_true(json_object_get(event, "unrelated"));
    count(metrics, KEEL_METRIC_RECOMPILES, is_compile && is_recompile && !is_unrelated);
    return NULL;
}

static void transfer(keel_metrics_t *metrics, const json_t *way, bool is_timed,
                     keel_metric_t seconds, keel_metric_t bytes) {
    uint64_t transfers = keel_event_count(way, "count");
    metrics->totals[seconds].value += is_timed ? nanoseconds(way, "seconds") : 0;
    metrics->totals[seconds].count += is_timed ? transfers : 0;
    metrics->totals[bytes].value += keel_event_count(way, "bytes");
    metrics->totals[bytes].count += transfers;
}

static keel_status_t transfers(keel_metrics_t *metrics, const json_t *event) {
    bool is_timed = !is_rehearsed(metrics, event);
    transfer(metrics, json_object_get(event, "to_device"), is_timed, KEEL_METRIC_TO_DEVICE_SECONDS,
             KEEL_METRIC_TO_DEVICE_BYTES);
    transfer(metrics, json_object_get(event, "from_device"), is_timed,
             KEEL_METRIC_FROM_DEVICE_SECONDS, KEEL_METRIC_FROM_DEVICE_BYTES);
    return NULL;
}

static keel_status_t host_ops(keel_metrics_t *metrics, const json_t *event) {
    const char *op;
    json_t *times;
    json_object_foreach(json_object_get(event, "ops"), op, times) {
        keel_metric_series_t *series;
        if (strncmp(op, "aten::", 6) != 0) continue; // could collide with another of their counters
        KEEL_TRY(keel_metrics_series(metrics, KEEL_METRIC_HOST_OPS, op, &series));
        series->value.value += number_of(times);
    }
    return NULL;
}

static keel_status_t memory(keel_metrics_t *metrics, const json_t *event) {
    char label[KEEL_METRICS_TEXT];
    snprintf(label, sizeof label, "%.12s %.200s", keel_event_text(event, "program"),
             keel_event_text(event, "name"));
    return keel_metrics_set(metrics, KEEL_METRIC_PROGRAM_BYTES, label,
                            keel_event_count(event, "total"));
}

static keel_status_t device_memory(keel_metrics_t *metrics, const json_t *event) {
    static const struct {
        const char *field;
        keel_metric_t metric;
    } fields[] = {{"in_use", KEEL_METRIC_DEVICE_IN_USE},
                  {"peak", KEEL_METRIC_DEVICE_PEAK},
                  {"limit", KEEL_METRIC_DEVICE_LIMIT}};
    const char *device = keel_event_text(event, "device");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i)
        if (json_is_integer(json_object_get(event, fields[i].field)))
            KEEL_TRY(keel_metrics_set(metrics, fields[i].metric, device,
                                      keel_event_count(event, fields[i].field)));
    return NULL;
}

// Any event may carry execution counts.
static void executes(keel_metrics_t *metrics, const json_t *event) {
    count(metrics, KEEL_METRIC_EXECUTIONS, keel_event_executions(event));
}

keel_status_t keel_metrics_event(keel_metrics_t *metrics, const struct json_t *event) {
    static const struct {
        const char *name;
        keel_status_t (*count)(keel_metrics_t *metrics, const json_t *event);
    } kinds[] = {
        {"start", start},
        {"compile", compile},
        {"compiled", compiled},
        {"unreal", unreal},
        {"load", count_load},
        {"prefetch", prefetch},
        {"miss", miss},
        {"uncacheable", uncacheable},
        {"publish", publish},
        {"store_error", store_error},
        {"fallback", fallback},
        {"compile_error", compile_error},
        {"explain", explain},
        {"transfers", transfers},
        {"host_ops", host_ops},
        {"memory", memory},
        {"device_memory", device_memory},
    };
    if (metrics->pid && json_integer_value(json_object_get(event, "pid")) != metrics->pid)
        return NULL;
    executes(metrics, event);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(keel_event_text(event, "event"), kinds[i].name) == 0)
            return kinds[i].count(metrics, event);
    return NULL;
}
