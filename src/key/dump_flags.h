// XLA's flags that write dumps, draw or log, and do not change code: number in DebugOptions (0:
// none), name, and whether the flag requests output that a load writes too (ASKS), output that only
// a compile writes (COMPILES), or only controls its form or other output (SHAPES). Then those that
// name a cache of XLA's own: one that cannot change code, so only whether it is set counts (SET),
// and one that XLA takes decisions from, whose content counts if XLA only reads it (TUNED). What
// XLA measures and adds itself is as good as what it would measure without it, and a folder that
// grows would give each run another key. Room-internal.
//
// First the flags that JAX leaves out of its own key, then others by their names. Some look like
// dump flags but are missing here: flags that embed IR or debug information in executables, checks
// for NaN and Inf, verification levels, timeouts, and every path of a profile or table.
#ifndef KEEL_KEY_DUMP_FLAGS_H_
#define KEEL_KEY_DUMP_FLAGS_H_

// clang-format off
#define KEEL_DUMP_FLAGS_BY_NUMBER(X) \
    X(61, "xla_gpu_cuda_data_dir", SHAPES) \
    /* How many devices there are is keyed by the topology and the device kinds. */ \
    X(102, "xla_force_host_platform_device_count", SHAPES) \
    X(109, "xla_dump_to", ASKS) \
    X(110, "xla_dump_hlo_module_re", ASKS) \
    X(111, "xla_dump_hlo_pass_re", COMPILES) \
    X(112, "xla_dump_hlo_as_text", ASKS) \
    X(113, "xla_dump_hlo_as_proto", ASKS) \
    X(114, "xla_dump_hlo_as_dot", COMPILES) \
    X(115, "xla_dump_hlo_as_url", COMPILES) \
    X(116, "xla_dump_hlo_as_html", COMPILES) \
    X(118, "xla_dump_hlo_snapshots", COMPILES) \
    X(131, "xla_dump_include_timestamp", SHAPES) \
    X(132, "xla_dump_max_hlo_modules", SHAPES) \
    X(144, "xla_dump_module_metadata", SHAPES) \
    X(149, "xla_dump_fusion_visualization", COMPILES) \
    X(151, "xla_dump_compress_protos", SHAPES) \
    X(153, "xla_dump_disable_metadata", SHAPES) \
    X(154, "xla_dump_hlo_pipeline_re", COMPILES) \
    X(164, "xla_dump_hlo_as_long_text", SHAPES) \
    X(310, "xla_gpu_per_fusion_autotune_cache_dir", TUNED) \
    X(324, "xla_gpu_experimental_autotune_cache_mode", SHAPES) \
    \
    X(2, "xla_hlo_graph_addresses", SHAPES) \
    X(92, "xla_hlo_graph_sharding_color", SHAPES) \
    X(155, "xla_gpu_dump_llvmir", COMPILES) \
    X(182, "xla_dump_latency_hiding_schedule", COMPILES) \
    X(185, "xla_dump_enable_mlir_pretty_form", SHAPES) \
    X(222, "xla_gpu_dump_autotune_results_to", COMPILES) \
    X(232, "xla_gpu_dump_autotuned_gemm_fusions", COMPILES) \
    X(251, "xla_debug_buffer_assignment_show_max", SHAPES) \
    X(252, "xla_detailed_logging", SHAPES) \
    X(253, "xla_enable_dumping", SHAPES) \
    X(290, "xla_dump_large_constants", SHAPES) \
    X(292, "xla_gpu_dump_autotune_logs_to", COMPILES) \
    X(306, "xla_gpu_kernel_cache_file", SET) \
    X(338, "xla_gpu_experimental_dump_fdo_profiles", COMPILES) \
    X(381, "xla_dump_full_hlo_config", SHAPES) \
    X(405, "xla_dump_hlo_unoptimized_snapshots", COMPILES) \
    X(407, "xla_gpu_experimental_autotuner_cache_dir", TUNED) \
    X(427, "xla_gpu_experimental_dump_gpu_executable", COMPILES) \
    X(433, "xla_dump_emitter_re", COMPILES) \
    X(436, "xla_enable_scoped_logging_timers", SHAPES) \
    X(445, "xla_gpu_dump_autotuned_instructions", COMPILES) \
    X(447, "xla_hlo_print_inline_stack_frames", SHAPES) \
    X(454, "xla_gpu_print_compilation_stats", COMPILES) \
    X(466, "xla_dump_buffer_assignment_analysis", SHAPES) \
    X(495, "xla_dump_compact_gte", SHAPES) \
    X(498, "xla_dump_hlo_as_riegeli", COMPILES) \
    X(502, "xla_dump_hlo_to_subfolder", SHAPES) \
    X(535, "xla_enable_hlo_modules_upload", SHAPES) \
    X(540, "xla_gpu_dump_cost_model_top_k_candidates_to", COMPILES)

// The compiler's own options, which are no fields of DebugOptions.
#define KEEL_DUMP_FLAGS_BY_NAME(X) \
    X(0, "xla_tpu_sdc_checker_streamz_metric", SHAPES) \
    X(0, "xla_tpu_sdc_checker_enable_sdc_event_callbacks", SHAPES) \
    X(0, "xla_tpu_sdc_checker_enable_coresweep_ng_callbacks", SHAPES) \
    X(0, "xla_tpu_sdc_checker_no_logging_if_callbacks_are_present", SHAPES) \
    X(0, "xla_tpu_compiler_variant", SHAPES)
// clang-format on

#include "key/key.h"

typedef enum keel_dump_kind {
    KEEL_DUMP_SHAPES,
    KEEL_DUMP_ASKS,
    KEEL_DUMP_COMPILES,
    KEEL_DUMP_SET,
    KEEL_DUMP_TUNED,
} keel_dump_kind_t;

typedef struct keel_dump_flag_t {
    uint32_t number;
    const char *name;
    keel_dump_kind_t kind;
} keel_dump_flag_t;

// NULL if it is none of them.
const keel_dump_flag_t *keel_dump_flag_by_number(uint32_t number);
const keel_dump_flag_t *keel_dump_flag_by_name(keel_str_t name);

static inline bool keel_dump_flag_names_cache(const keel_dump_flag_t *flag) {
    return flag && flag->kind >= KEEL_DUMP_SET;
}
// What counts of the value of a flag that names a cache, appended. `only_reads`: XLA adds nothing
// to caches of decisions.
keel_status_t keel_dump_flag_put_cache(const keel_dump_flag_t *flag, keel_str_t value,
                                       bool only_reads, keel_buffer_t *out) KEEL_MUST_CHECK;

// Records a flag with its value as text: "", "0" and "false" request nothing.
void keel_dumps_note(keel_dumps_t *dumps, const keel_dump_flag_t *flag, keel_str_t value);

#endif // KEEL_KEY_DUMP_FLAGS_H_
