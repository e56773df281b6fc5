// metrics: the figures of a process or a run under names that others know: Keel's own, as
// Prometheus wants them, and PyTorch/XLA's, as torch_xla.debug.metrics has them.
//
// They are counted from the journal's events and from nothing else. So the files of a run that
// goes on and `keel stats` after it cannot disagree: they are one count over the same lines.
//
// What carries a label (an operation, a device, a function) is bounded: each metric keeps
// KEEL_METRICS_SERIES labels, the first that came, and what comes later is counted as "other"; of
// gauges that has the largest.
//
// Ownership: a keel_metrics_t owns all it points to. Threads: no shared state.
#ifndef KEEL_METRICS_METRICS_H_
#define KEEL_METRICS_METRICS_H_

#include "base/base.h"
#include "journal/journal.h"

// A COUNTER only grows. A GAUGE is what it is now. A SUMMARY is a sum over samples, and their
// number.
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

// member, Keel's name, PyTorch/XLA's name (NULL: it has none; "": its labels are the names), kind,
// unit, label (NULL: it has none), sentence. docs/metrics.md is held against this table by a test.
#define KEEL_METRICS(X)                                                                            \
    X(COMPILES, "keel_compiles_total", "UncachedCompile", COUNTER, NUMBER, NULL,                   \
      "Programs that the plugin compiled.")                                                        \
    X(LOADS, "keel_loads_total", "CachedCompile", COUNTER, NUMBER, NULL,                           \
      "Programs that were loaded from the cache instead of being compiled.")                       \
    X(MEMORY_LOADS, "keel_memory_loads_total", NULL, COUNTER, NUMBER, NULL,                        \
      "Loads from the cache in memory; the others came from the disk.")                            \
    X(AHEAD_LOADS, "keel_ahead_loads_total", NULL, COUNTER, NUMBER, NULL,                          \
      "Loads that had begun before the client asked.")                                             \
    X(UNUSED_LOADS, "keel_unused_loads_total", NULL, COUNTER, NUMBER, NULL,                        \
      "Programs that were loaded ahead and never asked for.")                                      \
    X(AHEAD_SECONDS, "keel_ahead_seconds_total", NULL, COUNTER, SECONDS, NULL,                     \
      "Time inside the plugin's deserialize-and-load in the background.")                          \
    X(MISSES, "keel_cache_misses_total", "CompileCacheMiss", COUNTER, NUMBER, NULL,                \
      "Programs that were looked for in the cache and not loaded.")                                \
    X(RECOMPILES, "keel_recompiles_total", NULL, COUNTER, NUMBER, NULL,                            \
      "Compiles of a function that had been compiled or loaded otherwise by the same process.")    \
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
      SECONDS, NULL, "Time until data that the host asked a device for were there.")               \
    X(TO_DEVICE_BYTES, "keel_transfer_to_device_bytes", "OutboundData", SUMMARY, BYTES, NULL,      \
      "Bytes of transfers from the host to a device.")                                             \
    X(FROM_DEVICE_BYTES, "keel_transfer_from_device_bytes", "InboundData", SUMMARY, BYTES, NULL,   \
      "Bytes of transfers from a device to the host.")                                             \
    X(HOST_OPS, "keel_host_ops_total", "", COUNTER, NUMBER, "op",                                  \
      "Operations that PyTorch/XLA computed on the host, for want of a lowering or to read a "     \
      "value.")                                                                                    \
    X(UNCACHEABLE, "keel_uncacheable_total", NULL, COUNTER, NUMBER, NULL,                          \
      "Programs that may not be stored.")                                                          \
    X(PUBLISHED, "keel_published_total", NULL, COUNTER, NUMBER, NULL,                              \
      "Compiled programs that were proved by loading them back, and stored.")                      \
    X(COMPILE_ERRORS, "keel_compile_errors_total", NULL, COUNTER, NUMBER, NULL,                    \
      "Programs that the plugin refused to compile.")                                              \
    X(OUT_OF_MEMORY, "keel_compiles_out_of_memory_total", NULL, COUNTER, NUMBER, NULL,             \
      "Compile errors that say that the program does not fit the device's memory.")                \
    X(CACHE_ERRORS, "keel_cache_errors_total", NULL, COUNTER, NUMBER, NULL,                        \
      "Failures of the cache; the run went on without it.")                                        \
    X(FALLBACKS, "keel_fallbacks_total", NULL, COUNTER, NUMBER, NULL,                              \
      "Times that Keel did something the plain way, such as keying a program by its bytes.")       \
    X(FUNCTION_SECONDS, "keel_function_compile_seconds", NULL, SUMMARY, SECONDS, "name",           \
      "Time inside the plugin's Compile, by the program's name.")                                  \
    X(PROGRAM_BYTES, "keel_program_memory_bytes", NULL, GAUGE, BYTES, "program",                   \
      "What a program needs on each device: arguments, outputs, temporaries and code, less what "  \
      "outputs share with arguments.")                                                             \
    X(DEVICE_IN_USE, "keel_device_memory_in_use_bytes", NULL, GAUGE, BYTES, "device",              \
      "Memory of a physical device that is in use.")                                               \
    X(DEVICE_PEAK, "keel_device_memory_peak_bytes", NULL, GAUGE, BYTES, "device",                  \
      "The most memory of a physical device that was in use at a time.")                           \
    X(DEVICE_LIMIT, "keel_device_memory_limit_bytes", NULL, GAUGE, BYTES, "device",                \
      "Memory of a physical device that programs may use.")

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
    int64_t pid; // only its events are counted; 0: those of all
    keel_metric_value_t totals[KEEL_METRIC_COUNT];
    keel_metric_series_t *series; // as they came
    size_t series_count;
    size_t labels[KEEL_METRIC_COUNT]; // how many series each has
    keel_map_t series_of;             // metric and label -> series
    keel_arena_t texts;
    const char *host, *platform, *mode, *command, *version; // "" where unknown
} keel_metrics_t;

void keel_metrics_initialize(keel_metrics_t *metrics);
void keel_metrics_deinitialize(keel_metrics_t *metrics);

// One more event of the journal. What it does not know, or has no figures, is passed over.
keel_status_t keel_metrics_event(keel_metrics_t *metrics,
                                 const struct json_t *event) KEEL_MUST_CHECK;
// Sets a gauge with a label.
keel_status_t keel_metrics_set(keel_metrics_t *metrics, keel_metric_t metric, const char *label,
                               uint64_t value) KEEL_MUST_CHECK;

// The text exposition format of Prometheus (version 0.0.4). `run` is a label of all.
void keel_metrics_prometheus(const keel_metrics_t *metrics, const char *run, keel_buffer_t *out);
// docs/metrics.md tells the fields.
void keel_metrics_json(const keel_metrics_t *metrics, const char *run, keel_buffer_t *out);
// As torch_xla.debug.metrics.metrics_report() lists them, those alone that PyTorch/XLA has.
void keel_metrics_report(const keel_metrics_t *metrics, keel_buffer_t *out);

// run_dir/<run>/metrics.<pid>.<kind>, kind "json" or "prom"; the caller frees it.
keel_status_t keel_metrics_path(const char *run_dir, const char *run, int64_t pid, const char *kind,
                                char **out) KEEL_MUST_CHECK;

// Does a plugin's error say that a program does not fit the device's memory? Then what it needs and
// what there is, in bytes, as far as the message tells: 0 where it does not. `code` is the error's,
// such as "RESOURCE_EXHAUSTED"; "" where unknown.
bool keel_metrics_is_out_of_memory(const char *code, const char *message, uint64_t *out_needed,
                                   uint64_t *out_available);

#endif // KEEL_METRICS_METRICS_H_
