// metrics: the figures of a process or a run under well-known names: Keel's own, in Prometheus
// style, and PyTorch/XLA's, as in torch_xla.debug.metrics.
//
// They are counted from the journal's events alone, so the files of a live run and a later `keel
// stats` cannot disagree: both count the same lines.
//
// Labels (an operation, a device, a function) are bounded: each metric keeps the first
// KEEL_METRICS_SERIES labels, and later ones count as "other"; for a gauge, "other" has the largest
// value.
//
// Ownership: a keel_metrics_t owns all it points to. Threads: no shared state.
#ifndef KEEL_METRICS_METRICS_H_
#define KEEL_METRICS_METRICS_H_

#include "base/base.h"
#include "journal/journal.h"

// A COUNTER only grows. A GAUGE is a current value. A SUMMARY is the sum and the number of samples.
typedef enum keel_metric_kind {
    KEEL_METRIC_COUNTER,
    KEEL_METRIC_GAUGE,
    KEEL_METRIC_SUMMARY,
} keel_metric_kind_t;

// Seconds are kept as nanoseconds.
typedef enum keel_metric_unit {
    KEEL_METRIC_NUMBER,
    KEEL_METRIC_SECONDS,
    KEEL_METRIC_BYTES,
} keel_metric_unit_t;

// member, Keel's name, PyTorch/XLA's name (NULL: none; "": its labels are the names), kind, unit,
// label (NULL: none), sentence. A test compares docs/metrics.md with this table.
#define KEEL_METRICS(X)                                                                            \
    X(COMPILES, "keel_compiles_total", "UncachedCompile", COUNTER, NUMBER, NULL,                   \
      "Programs that the plugin compiled.")                                                        \
    X(LOADS, "keel_loads_total", "CachedCompile", COUNTER, NUMBER, NULL,                           \
      "Programs that were loaded from the cache instead of being compiled.")                       \
    X(MEMORY_LOADS, "keel_memory_loads_total", NULL, COUNTER, NUMBER, NULL,                        \
      "Loads from the cache in memory; the others came from disk.")                                \
    X(AHEAD_LOADS, "keel_ahead_loads_total", NULL, COUNTER, NUMBER, NULL,                          \
      "Loads that had begun before the client asked.")                                             \
    X(UNUSED_LOADS, "keel_unused_loads_total", NULL, COUNTER, NUMBER, NULL,                        \
      "Programs that were loaded ahead and never asked for.")                                      \
    X(AHEAD_SECONDS, "keel_ahead_seconds_total", NULL, COUNTER, SECONDS, NULL,                     \
      "Time inside the plugin's deserialize-and-load in the background.")                          \
    X(MISSES, "keel_cache_misses_total", "CompileCacheMiss", COUNTER, NUMBER, NULL,                \
      "Programs that were looked for in the cache and not loaded.")                                \
    X(RECOMPILES, "keel_recompiles_total", NULL, COUNTER, NUMBER, NULL,                            \
      "Compiles of a function that the same process had already compiled or loaded "               \
      "in a different form.")                                                                      \
    X(COMPILE_SECONDS, "keel_compile_seconds", "CompileTime", SUMMARY, SECONDS, NULL,              \
      "Time inside the plugin's Compile.")                                                         \
    X(LOAD_SECONDS, "keel_load_seconds", NULL, SUMMARY, SECONDS, NULL,                             \
      "Time that the client waited for the plugin's deserialize-and-load.")                        \
    X(OVERHEAD_SECONDS, "keel_overhead_seconds", NULL, SUMMARY, SECONDS, NULL,                     \
      "Keel's own time inside the client's Compile.")                                              \
    X(SPARED_SECONDS, "keel_spared_seconds_total", NULL, COUNTER, SECONDS, NULL,                   \
      "What compiling the loaded programs had cost when they were stored.")                        \
    X(EXECUTIONS, "keel_executions_total", NULL, COUNTER, NUMBER, NULL, "Executions of programs.") \
    X(TO_DEVICE_SECONDS, "keel_transfer_to_device_seconds", "TransferToDeviceTime", SUMMARY,       \
      SECONDS, NULL, "Time inside the calls that move data from the host to a device.")            \
    X(FROM_DEVICE_SECONDS, "keel_transfer_from_device_seconds", "TransferFromDeviceTime", SUMMARY, \
      SECONDS, NULL, "Time until data requested from a device reached the host.")                  \
    X(TO_DEVICE_BYTES, "keel_transfer_to_device_bytes", "OutboundData", SUMMARY, BYTES, NULL,      \
      "Bytes of transfers from the host to a device.")                                             \
    X(FROM_DEVICE_BYTES, "keel_transfer_from_device_bytes", "InboundData", SUMMARY, BYTES, NULL,   \
      "Bytes of transfers from a device to the host.")                                             \
    X(HOST_OPS, "keel_host_ops_total", "", COUNTER, NUMBER, "op",                                  \
      "Operations that PyTorch/XLA computed on the host, for lack of a lowering or to read a "     \
      "value.")                                                                                    \
    X(UNREAL_READS, "keel_unreal_reads_total", NULL, COUNTER, NUMBER, NULL,                        \
      "In a rehearsal, reads of values that no device computed.")                                  \
    X(UNCACHEABLE, "keel_uncacheable_total", NULL, COUNTER, NUMBER, NULL,                          \
      "Programs that may not be stored.")                                                          \
    X(PUBLISHED, "keel_published_total", NULL, COUNTER, NUMBER, NULL,                              \
      "Compiled programs that were stored.")                                                       \
    X(COMPILE_ERRORS, "keel_compile_errors_total", NULL, COUNTER, NUMBER, NULL,                    \
      "Programs that the plugin refused to compile.")                                              \
    X(OUT_OF_MEMORY, "keel_compiles_out_of_memory_total", NULL, COUNTER, NUMBER, NULL,             \
      "Compile errors because the program does not fit in the device's memory.")                   \
    X(CACHE_ERRORS, "keel_cache_errors_total", NULL, COUNTER, NUMBER, NULL,                        \
      "Failures of the cache; the run went on without it.")                                        \
    X(FALLBACKS, "keel_fallbacks_total", NULL, COUNTER, NUMBER, NULL,                              \
      "Times that Keel fell back to a simpler way, such as keying a program by its bytes.")        \
    X(FUNCTION_SECONDS, "keel_function_compile_seconds", NULL, SUMMARY, SECONDS, "name",           \
      "Time inside the plugin's Compile, by the program's name.")                                  \
    X(PROGRAM_BYTES, "keel_program_memory_bytes", NULL, GAUGE, BYTES, "program",                   \
      "What a program needs on each device: arguments, outputs, temporaries and code, less what "  \
      "outputs share with arguments.")                                                             \
    X(DEVICE_IN_USE, "keel_device_memory_in_use_bytes", NULL, GAUGE, BYTES, "device",              \
      "Memory in use on a physical device.")                                                       \
    X(DEVICE_PEAK, "keel_device_memory_peak_bytes", NULL, GAUGE, BYTES, "device",                  \
      "Peak memory in use on a physical device.")                                                  \
    X(DEVICE_LIMIT, "keel_device_memory_limit_bytes", NULL, GAUGE, BYTES, "device",                \
      "Memory available to programs on a physical device.")

typedef enum keel_metric {
#define KEEL_METRIC_MEMBER(member, name, xla, kind, unit, label, sentence) KEEL_METRIC_##member,
    KEEL_METRICS(KEEL_METRIC_MEMBER)
#undef KEEL_METRIC_MEMBER
        KEEL_METRIC_COUNT
} keel_metric_t;

typedef struct keel_metric_facts_t {
    const char *name;
    const char *xla_name; // NULL: none; "": the label is the name
    keel_metric_kind_t kind;
    keel_metric_unit_t unit;
    const char *label; // NULL: none
    const char *sentence;
} keel_metric_facts_t;

const keel_metric_facts_t *keel_metric_facts(keel_metric_t metric);

enum { KEEL_METRICS_SERIES = 64, KEEL_METRICS_TEXT = 256 };

typedef struct keel_metric_value_t {
    uint64_t value; // or the sum
    uint64_t count; // of samples
} keel_metric_value_t;

// One label of a metric that has labels.
typedef struct keel_metric_series_t {
    keel_metric_t metric;
    const char *label;
    keel_metric_value_t value;
} keel_metric_series_t;

typedef struct keel_metrics_t {
    int64_t pid; // counts only this process's events; 0: all
    keel_metric_value_t totals[KEEL_METRIC_COUNT];
    keel_metric_series_t *series; // in order of arrival
    size_t series_count;
    size_t labels[KEEL_METRIC_COUNT]; // how many series each has
    keel_map_t series_of;             // metric and label -> series
    keel_arena_t texts;
    const char *host, *platform, *mode, *command, *version; // "" where unknown
    const char *target;                                     // of a rehearsal; "": none
    keel_map_t rehearsals;                                  // the processes that are one
} keel_metrics_t;

void keel_metrics_initialize(keel_metrics_t *metrics);
void keel_metrics_deinitialize(keel_metrics_t *metrics);

// Counts one more event of the journal. Events that it does not know, or without figures, are
// ignored.
keel_status_t keel_metrics_event(keel_metrics_t *metrics,
                                 const struct json_t *event) KEEL_MUST_CHECK;
// Sets a gauge with a label.
keel_status_t keel_metrics_set(keel_metrics_t *metrics, keel_metric_t metric, const char *label,
                               uint64_t value) KEEL_MUST_CHECK;

// The text exposition format of Prometheus (version 0.0.4). `run` becomes a label of every metric.
void keel_metrics_prometheus(const keel_metrics_t *metrics, const char *run, keel_buffer_t *out);
// docs/metrics.md lists the fields.
void keel_metrics_json(const keel_metrics_t *metrics, const char *run, keel_buffer_t *out);
// In the form of torch_xla.debug.metrics.metrics_report(), with only the metrics that PyTorch/XLA
// has.
void keel_metrics_report(const keel_metrics_t *metrics, keel_buffer_t *out);

// run_dir/<run>/metrics.<pid>.<kind>, kind "json" or "prom"; the caller frees it.
keel_status_t keel_metrics_path(const char *run_dir, const char *run, int64_t pid, const char *kind,
                                char **out) KEEL_MUST_CHECK;

// Whether a plugin's error says that a program does not fit in the device's memory; if so, the
// bytes needed and available, or 0 if the message lacks them. `code` is the error's, such as
// "RESOURCE_EXHAUSTED"; "" if unknown.
bool keel_metrics_is_out_of_memory(const char *code, const char *message, uint64_t *out_needed,
                                   uint64_t *out_available);

#endif // KEEL_METRICS_METRICS_H_
