// Flags of XLA that write dumps, draw or log, and change no code: number in DebugOptions (0: none),
// name. Room-internal.
//
// First what JAX leaves out of its own key; the rest by their names. Not here though they look it:
// what embeds IR or debug information in executables, checks for NaN and Inf, verification levels,
// timeouts, and every path of a profile or table.
#ifndef KEEL_KEY_DUMP_FLAGS_H_
#define KEEL_KEY_DUMP_FLAGS_H_

// clang-format off
#define KEEL_DUMP_FLAGS(X) \
    X(61, "xla_gpu_cuda_data_dir") \
    /* How many devices there are is keyed by the topology and the device kinds. */ \
    X(102, "xla_force_host_platform_device_count") \
    X(109, "xla_dump_to") \
    X(110, "xla_dump_hlo_module_re") \
    X(111, "xla_dump_hlo_pass_re") \
    X(112, "xla_dump_hlo_as_text") \
    X(113, "xla_dump_hlo_as_proto") \
    X(114, "xla_dump_hlo_as_dot") \
    X(115, "xla_dump_hlo_as_url") \
    X(116, "xla_dump_hlo_as_html") \
    X(118, "xla_dump_hlo_snapshots") \
    X(131, "xla_dump_include_timestamp") \
    X(132, "xla_dump_max_hlo_modules") \
    X(144, "xla_dump_module_metadata") \
    X(149, "xla_dump_fusion_visualization") \
    X(151, "xla_dump_compress_protos") \
    X(153, "xla_dump_disable_metadata") \
    X(154, "xla_dump_hlo_pipeline_re") \
    X(164, "xla_dump_hlo_as_long_text") \
    X(310, "xla_gpu_per_fusion_autotune_cache_dir") \
    X(324, "xla_gpu_experimental_autotune_cache_mode") \
    X(0, "xla_tpu_sdc_checker_streamz_metric") \
    X(0, "xla_tpu_sdc_checker_enable_sdc_event_callbacks") \
    X(0, "xla_tpu_sdc_checker_enable_coresweep_ng_callbacks") \
    X(0, "xla_tpu_sdc_checker_no_logging_if_callbacks_are_present") \
    X(0, "xla_tpu_compiler_variant") \
    \
    X(2, "xla_hlo_graph_addresses") \
    X(92, "xla_hlo_graph_sharding_color") \
    X(155, "xla_gpu_dump_llvmir") \
    X(182, "xla_dump_latency_hiding_schedule") \
    X(185, "xla_dump_enable_mlir_pretty_form") \
    X(222, "xla_gpu_dump_autotune_results_to") \
    X(232, "xla_gpu_dump_autotuned_gemm_fusions") \
    X(251, "xla_debug_buffer_assignment_show_max") \
    X(252, "xla_detailed_logging") \
    X(253, "xla_enable_dumping") \
    X(290, "xla_dump_large_constants") \
    X(292, "xla_gpu_dump_autotune_logs_to") \
    X(338, "xla_gpu_experimental_dump_fdo_profiles") \
    X(381, "xla_dump_full_hlo_config") \
    X(405, "xla_dump_hlo_unoptimized_snapshots") \
    X(427, "xla_gpu_experimental_dump_gpu_executable") \
    X(433, "xla_dump_emitter_re") \
    X(436, "xla_enable_scoped_logging_timers") \
    X(445, "xla_gpu_dump_autotuned_instructions") \
    X(447, "xla_hlo_print_inline_stack_frames") \
    X(454, "xla_gpu_print_compilation_stats") \
    X(466, "xla_dump_buffer_assignment_analysis") \
    X(495, "xla_dump_compact_gte") \
    X(498, "xla_dump_hlo_as_riegeli") \
    X(502, "xla_dump_hlo_to_subfolder") \
    X(535, "xla_enable_hlo_modules_upload") \
    X(540, "xla_gpu_dump_cost_model_top_k_candidates_to")
// clang-format on

#include "base/base.h"

bool keel_dump_flag_number(uint32_t number);
bool keel_dump_flag_name(keel_str_t name);

// "name" or "path" of a file: its digest in hex behind a '#', where there is such a regular file of
// at most 64 MiB; else nothing. What a file says counts, not only where it stands.
void keel_key_file_content(keel_str_t path, keel_buffer_t *out);

#endif // KEEL_KEY_DUMP_FLAGS_H_
