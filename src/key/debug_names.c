// Names of the fields of DebugOptions, except those that are left out (dump_flags.h), from the
// descriptors of xla/xla.proto in builds of XLA from 2025 and 2026. A number never changed its
// name; an unknown number is shown as it is.
#include <stdlib.h>

#include "key/key.h"

// clang-format off
#define DEBUG_OPTIONS(X) \
    X(9, "xla_hlo_profile") \
    X(30, "xla_disable_hlo_passes") \
    X(31, "xla_backend_optimization_level") \
    X(33, "xla_embed_ir_in_executable") \
    X(35, "xla_eliminate_hlo_implicit_broadcast") \
    X(60, "xla_cpu_multi_thread_eigen") \
    X(62, "xla_gpu_ftz") \
    X(70, "xla_llvm_enable_alias_scope_metadata") \
    X(71, "xla_llvm_enable_noalias_metadata") \
    X(72, "xla_llvm_enable_invariant_load_metadata") \
    X(73, "xla_llvm_disable_expensive_passes") \
    X(90, "xla_test_all_output_layouts") \
    X(91, "xla_test_all_input_layouts") \
    X(97, "xla_cpu_use_onednn") \
    X(99, "xla_cpu_enable_fast_math") \
    X(100, "xla_gpu_enable_fast_min_max") \
    X(101, "xla_gpu_crash_on_verification_failures") \
    X(103, "xla_gpu_disable_gpuasm_optimizations") \
    X(104, "xla_disable_all_hlo_passes") \
    X(105, "xla_gpu_enable_dynamic_slice_fusion") \
    X(106, "xla_hlo_evaluator_use_fast_path") \
    X(107, "xla_allow_scalar_index_dynamic_ops") \
    X(108, "xla_step_marker_location") \
    X(120, "xla_cpu_fast_math_honor_nans") \
    X(121, "xla_cpu_fast_math_honor_infs") \
    X(122, "xla_allow_excess_precision") \
    X(123, "xla_gpu_autotune_level") \
    X(124, "xla_enable_hlo_passes_only") \
    X(125, "xla_gpu_force_conv_nchw") \
    X(126, "xla_cpu_fast_math_honor_division") \
    X(127, "xla_gpu_ptx_file") \
    X(128, "xla_gpu_algorithm_denylist_path") \
    X(129, "xla_cpu_fast_math_honor_functions") \
    X(135, "xla_tpu_detect_nan") \
    X(136, "xla_tpu_detect_inf") \
    X(137, "xla_cpu_enable_xprof_traceme") \
    X(138, "xla_gpu_unsafe_fallback_to_driver_on_ptxas_not_found") \
    X(140, "xla_cpu_enable_fast_min_max") \
    X(142, "xla_multiheap_size_constraint_per_heap") \
    X(146, "xla_gpu_force_conv_nhwc") \
    X(147, "xla_gpu_force_compilation_parallelism") \
    X(148, "xla_gpu_deterministic_ops") \
    X(150, "xla_gpu_llvm_ir_file") \
    X(156, "xla_gpu_strict_conv_algorithm_picker") \
    X(157, "xla_gpu_all_reduce_combine_threshold_bytes") \
    X(159, "xla_gpu_all_reduce_blueconnect_num_devices_per_host") \
    X(163, "xla_gpu_nccl_termination_timeout_seconds") \
    X(165, "xla_gpu_enable_shared_constants") \
    X(166, "xla_gpu_enable_cublaslt") \
    X(170, "xla_gpu_shape_checks") \
    X(174, "xla_cpu_use_acl") \
    X(175, "xla_cpu_strict_dot_conv_math") \
    X(181, "xla_gpu_use_runtime_fusion") \
    X(186, "xla_gpu_enable_latency_hiding_scheduler") \
    X(187, "xla_partitioning_algorithm") \
    X(188, "xla_gpu_enable_triton_gemm") \
    X(189, "xla_gpu_enable_cudnn_int8x32_convolution_reordering") \
    X(190, "xla_gpu_triton_gemm_any") \
    X(203, "xla_gpu_enable_while_loop_reduce_scatter_code_motion") \
    X(205, "xla_gpu_collective_inflation_factor") \
    X(208, "xla_gpu_graph_min_graph_size") \
    X(209, "xla_gpu_enable_reassociation_for_converted_ar") \
    X(210, "xla_gpu_pgle_profile_file_or_directory_path") \
    X(212, "xla_gpu_all_gather_combine_threshold_bytes") \
    X(213, "xla_gpu_reduce_scatter_combine_threshold_bytes") \
    X(215, "xla_gpu_graph_enable_concurrent_region") \
    X(216, "xla_gpu_enable_highest_priority_async_stream") \
    X(217, "xla_gpu_enable_pipelined_all_reduce") \
    X(219, "xla_gpu_exhaustive_tiling_search") \
    X(223, "xla_gpu_load_autotune_results_from") \
    X(224, "xla_gpu_auto_spmd_partitioning_memory_budget_gb") \
    X(225, "xla_gpu_auto_spmd_partitioning_memory_budget_ratio") \
    X(227, "xla_gpu_enable_pipelined_all_gather") \
    X(228, "xla_gpu_redzone_padding_bytes") \
    X(231, "xla_gpu_enable_pipelined_reduce_scatter") \
    X(235, "xla_gpu_fused_attention_use_cudnn_rng") \
    X(236, "xla_gpu_copy_insertion_use_region_analysis") \
    X(237, "xla_gpu_collective_permute_decomposer_threshold") \
    X(239, "xla_gpu_enable_pipelined_collectives") \
    X(240, "xla_gpu_collect_cost_model_stats") \
    X(241, "xla_gpu_enable_split_k_autotuning") \
    X(243, "xla_gpu_enable_reduction_epilogue_fusion") \
    X(244, "xla_gpu_enable_nccl_clique_optimization") \
    X(245, "xla_gpu_mock_custom_calls") \
    X(246, "xla_gpu_enable_pipelined_p2p") \
    X(247, "xla_gpu_cublas_fallback") \
    X(248, "xla_gpu_enable_while_loop_double_buffering") \
    X(250, "xla_gpu_filter_kernels_spilling_registers_on_autotuning") \
    X(254, "xla_gpu_enable_all_gather_combine_by_dim") \
    X(255, "xla_gpu_enable_analytical_latency_estimator") \
    X(256, "xla_gpu_llvm_verification_level") \
    X(257, "xla_gpu_enable_reduce_scatter_combine_by_dim") \
    X(258, "xla_gpu_enable_command_buffer") \
    X(259, "xla_gpu_enable_cub_radix_sort") \
    X(260, "xla_gpu_memory_limit_slop_factor") \
    X(261, "xla_gpu_target_config_filename") \
    X(262, "xla_gpu_enable_cudnn_layer_norm") \
    X(265, "xla_gpu_threshold_for_windowed_einsum_mib") \
    X(267, "xla_gpu_enable_nccl_user_buffers") \
    X(268, "xla_gpu_enable_llvm_module_compilation_parallelism") \
    X(269, "xla_gpu_enable_libnvptxcompiler") \
    X(272, "xla_gpu_enable_nccl_comm_splitting") \
    X(273, "xla_gpu_nccl_collective_max_nchannels") \
    X(274, "xla_gpu_nccl_p2p_max_nchannels") \
    X(277, "xla_gpu_nccl_init_max_rank_per_root_ratio") \
    X(280, "xla_gpu_multi_streamed_windowed_einsum") \
    X(283, "xla_gpu_gemm_rewrite_size_threshold") \
    X(284, "xla_gpu_require_complete_aot_autotune_results") \
    X(285, "xla_gpu_cudnn_gemm_fusion_level") \
    X(287, "xla_gpu_use_memcpy_local_p2p") \
    X(288, "xla_gpu_autotune_max_solutions") \
    X(289, "xla_gpu_disable_async_collectives") \
    X(291, "xla_gpu_verify_triton_fusion_numerics") \
    X(293, "xla_reduce_window_rewrite_base_length") \
    X(294, "xla_gpu_enable_while_loop_unrolling") \
    X(295, "xla_gpu_override_gemm_autotuner") \
    X(296, "xla_gpu_enable_host_memory_offloading") \
    X(297, "xla_gpu_exclude_nondeterministic_ops") \
    X(300, "xla_llvm_force_inline_before_split") \
    X(301, "xla_gpu_nccl_terminate_on_error") \
    X(304, "xla_gpu_shard_autotuning") \
    X(305, "xla_gpu_enable_approx_costly_collectives") \
    X(306, "xla_gpu_kernel_cache_file") \
    X(307, "xla_cpu_enable_concurrency_optimized_scheduler") \
    X(310, "xla_gpu_per_fusion_autotune_cache_dir") \
    X(308, "xla_cpu_prefer_vector_width") \
    X(311, "xla_cmd_buffer_trace_cache_size") \
    X(312, "xla_gpu_temp_buffer_use_separate_color") \
    X(315, "xla_syntax_sugar_async_ops") \
    X(316, "xla_gpu_autotune_gemm_rtol") \
    X(317, "xla_enable_command_buffers_during_profiling") \
    X(318, "xla_gpu_cudnn_gemm_max_plans") \
    X(321, "xla_gpu_async_dot") \
    X(322, "xla_gpu_unsupported_enable_triton_gemm") \
    X(323, "xla_cpu_parallel_codegen_split_count") \
    X(327, "xla_gpu_executable_warn_stuck_timeout_seconds") \
    X(328, "xla_gpu_executable_terminate_timeout_seconds") \
    X(329, "xla_gpu_experimental_disable_binary_libraries") \
    X(330, "xla_ignore_channel_id") \
    X(331, "xla_gpu_dot_merger_threshold_mb") \
    X(333, "xla_cpu_max_isa") \
    X(334, "xla_gpu_experimental_enable_fusion_block_level_rewriter") \
    X(335, "xla_enable_fast_math") \
    X(336, "xla_gpu_experimental_parallel_collective_overlap_limit") \
    X(337, "xla_cpu_copy_insertion_use_region_analysis") \
    X(339, "xla_gpu_operand_bytes_threshold_for_windowed_einsum") \
    X(340, "xla_gpu_experimental_enable_triton_heroless_priority_fusion") \
    X(341, "xla_gpu_pgle_accuracy_checker") \
    X(342, "xla_gpu_experimental_stream_annotation") \
    X(343, "xla_gpu_libnvjitlink_mode") \
    X(344, "xla_pjrt_allow_auto_layout_in_hlo") \
    X(345, "xla_gpu_enable_scatter_determinism_expander") \
    X(347, "xla_gpu_require_exclusive_lock") \
    X(348, "xla_gpu_generate_debug_info") \
    X(349, "xla_gpu_generate_line_info") \
    X(350, "xla_gpu_unsupported_enable_ragged_all_to_all_decomposer") \
    X(351, "xla_gpu_experimental_pipeline_parallelism_opt_level") \
    X(353, "xla_gpu_fail_ptx_compilation_on_register_spilling") \
    X(354, "xla_gpu_collectives_use_persistent_cliques") \
    X(355, "xla_gpu_experimental_enable_triton_tma") \
    X(356, "xla_gpu_enable_analytical_sol_latency_estimator") \
    X(357, "xla_gpu_analytical_latency_estimator_options") \
    X(358, "xla_gpu_unsupported_annotate_with_emitter_loc") \
    X(359, "xla_cpu_use_xnnpack") \
    X(360, "xla_gpu_experimental_enable_alltoall_windowed_einsum") \
    X(362, "xla_gpu_experimental_pack_dot_operands_along_k_dimension") \
    X(363, "xla_unsupported_crash_on_hlo_pass_fix_max_iterations") \
    X(364, "xla_flags_reset") \
    X(365, "xla_cpu_experimental_xnn_graph_fusion_mode") \
    X(366, "xla_gpu_experimental_enable_heuristic_collective_combining") \
    X(368, "xla_gpu_experimental_enable_subchannel_dequantisation_fusion") \
    X(370, "xla_hlo_pass_fix_detect_cycles") \
    X(372, "xla_cpu_generate_unique_c_style_kernel_entry_points") \
    X(373, "xla_test_add_command_buffer_mode") \
    X(374, "xla_gpu_experimental_collective_cse_distance_threshold") \
    X(375, "xla_gpu_unsupported_use_ragged_all_to_all_one_shot_kernel") \
    X(376, "xla_cpu_use_fusion_emitters") \
    X(377, "xla_gpu_experimental_collective_perf_table_path") \
    X(378, "xla_gpu_collective_permute_combine_threshold_bytes") \
    X(379, "xla_unsupported_crash_on_hlo_pass_noop_change") \
    X(380, "xla_unsupported_crash_on_hlo_pass_silent_hlo_change") \
    X(382, "xla_gpu_unsupported_enable_triton_multi_output_fusion") \
    X(383, "xla_gpu_experimental_matmul_perf_table_path") \
    X(384, "xla_gpu_unsupported_enable_all_reduce_decomposer") \
    X(386, "xla_gpu_experimental_enable_split_k_rewrite") \
    X(387, "xla_gpu_unsupported_use_all_reduce_one_shot_kernel") \
    X(388, "xla_gpu_experimental_enable_nvshmem") \
    X(389, "xla_gpu_use_inprocess_lld") \
    X(390, "xla_gpu_nccl_blocking_communicators") \
    X(391, "xla_gpu_first_collective_call_warn_stuck_timeout_seconds") \
    X(392, "xla_gpu_first_collective_call_terminate_timeout_seconds") \
    X(393, "xla_gpu_nccl_async_execution") \
    X(394, "xla_gpu_experimental_enable_command_buffer_on_thunks") \
    X(395, "xla_cpu_emitter_verification_level") \
    X(396, "xla_gpu_experimental_use_autotuner_pass") \
    X(397, "xla_early_exit_with_layouts") \
    X(398, "xla_gpu_unsupported_generic_triton_emitter_features") \
    X(399, "xla_cpu_experimental_onednn_fusion_type") \
    X(400, "xla_cpu_experimental_xnn_fusion_type") \
    X(401, "xla_gpu_experimental_use_ragged_dot_fusion") \
    X(403, "xla_detect_unstable_reductions") \
    X(404, "xla_gpu_command_buffer_scheduling_mode") \
    X(406, "xla_gpu_experimental_enable_nccl_symmetric_buffers") \
    X(407, "xla_gpu_experimental_autotuner_cache_dir") \
    X(408, "xla_disable_automatic_host_compute_offload") \
    X(409, "xla_gpu_experimental_enable_fusion_autotuner") \
    X(410, "xla_gpu_experimental_scaled_dot_with_triton") \
    X(411, "xla_gpu_command_buffer_unroll_loops") \
    X(412, "xla_cpu_experimental_onednn_custom_call") \
    X(413, "xla_gpu_experimental_use_raft_select_k") \
    X(414, "xla_gpu_experimental_enable_checksum_tracing_on_thunks") \
    X(415, "xla_gpu_unsupported_enable_ragged_all_to_all_multi_host_decomposer") \
    X(416, "xla_gpu_unsupported_override_fast_interconnect_slice_size") \
    X(417, "xla_cpu_collective_call_terminate_timeout_seconds") \
    X(418, "xla_cpu_collective_call_warn_stuck_seconds") \
    X(419, "xla_keep_shardings_after_spmd") \
    X(420, "xla_gpu_use_embeded_device_lib") \
    X(421, "xla_gpu_experimental_enable_triton_warp_specialization") \
    X(422, "xla_cpu_experimental_ynn_fusion_type") \
    X(424, "xla_gpu_experimental_thunk_buffer_debug_filter") \
    X(425, "xla_cpu_enable_platform_dependent_math") \
    X(426, "xla_gpu_detect_nan") \
    X(428, "xla_gpu_detect_inf") \
    X(429, "xla_enable_enzyme_comms_opt") \
    X(431, "xla_gpu_experimental_enable_buffer_saver_on_thunks") \
    X(432, "xla_detect_unstable_reductions_post_optimizations") \
    X(434, "xla_gpu_gemm_autotuner_override_file") \
    X(437, "xla_gpu_executable_embed_debug_info") \
    X(438, "xla_cpu_collective_timeout_seconds") \
    X(439, "xla_allow_h2h_copy_when_automatic_host_compute_offload_disabled") \
    X(440, "xla_gpu_enable_pipelined_host_offloading") \
    X(441, "xla_gpu_default_to_alg_dot_bf16_bf16_f32") \
    X(442, "xla_gpu_experimental_autotune_backends") \
    X(444, "xla_gpu_experimental_all_fusions_with_triton") \
    X(448, "xla_cpu_scheduler_type") \
    X(449, "xla_gpu_rocm_max_trace_events") \
    X(451, "xla_gpu_execution_terminate_timeout") \
    X(452, "xla_enable_hlo_sharding_v3") \
    X(453, "xla_gpu_log_minmax") \
    X(455, "xla_gpu_experimental_enable_conv_fusion") \
    X(456, "xla_gpu_experimental_enable_tiling_propagation") \
    X(457, "xla_gpu_execution_progress_tracking") \
    X(459, "xla_gpu_experimental_max_unroll_factor") \
    X(460, "xla_gpu_enable_pdl") \
    X(461, "xla_gpu_collective_combine_threshold_count") \
    X(462, "xla_gpu_experimental_ragged_all_to_all_use_barrier_with_nccl") \
    X(463, "xla_recognize_reduction_optimization_level") \
    X(465, "xla_gpu_experimental_parallel_async_compute_limit") \
    X(467, "xla_cpu_opt_preset") \
    X(468, "xla_gpu_collectives_implementation") \
    X(469, "xla_gpu_command_buffer_update_mode") \
    X(470, "xla_gpu_experimental_enable_collective_multi_streaming") \
    X(471, "xla_gpu_collective_permute_connected_components") \
    X(472, "xla_gpu_experimental_force_split_k") \
    X(473, "xla_gpu_collective_permute_mode") \
    X(474, "xla_gpu_experimental_cost_model_gemm_tiling_options") \
    X(475, "xla_gpu_experimental_gemm_fusion_v2") \
    X(476, "xla_gpu_fusion_autotune_top_k_configs") \
    X(478, "xla_gpu_native_emitter_tune_unroll_factor_for_loops") \
    X(479, "xla_enable_rgv3_materialization") \
    X(481, "xla_gpu_experimental_autotune_post_fusion") \
    X(482, "xla_gpu_ragged_all_to_all_mode") \
    X(483, "xla_gpu_deviceless_cub_mode") \
    X(484, "xla_gpu_experimental_dynamic_slice_fusion_verify_offsets") \
    X(485, "xla_gpu_all_gather_mode") \
    X(486, "xla_gpu_executable_num_compute_streams") \
    X(487, "xla_gpu_executable_num_communication_streams") \
    X(488, "xla_gpu_experimental_collective_start_as_early_as_possible") \
    X(489, "xla_cpu_experimental_enable_tiling_propagation") \
    X(490, "xla_gpu_enable_dus_accumulator_zero_init_elimination") \
    X(491, "xla_gpu_ptx_compiler_extra_flags") \
    X(492, "xla_gpu_experimental_thunk_buffer_debug_module_outputs") \
    X(493, "xla_cpu_ftz") \
    X(494, "xla_gpu_enable_allocator_spatial_partitioning") \
    X(496, "xla_run_hlo_passes_starting_from") \
    X(497, "xla_gpu_enable_collectives_command_buffer_filter") \
    X(500, "xla_backend_extra_options") \
    X(501, "xla_gpu_experimental_use_ragged_dot_grouped_gemm") \
    X(503, "xla_enable_nccl_symmetric_buffers_for_collectives") \
    X(504, "xla_gpu_enable_pdl_launch") \
    X(505, "xla_gpu_cudnn_deviceless_compilation_mode") \
    X(506, "xla_gpu_enable_nccl_user_buffers_in_default_space") \
    X(512, "xla_sdy_export_all_reduce_scatter") \
    X(513, "xla_gpu_enable_gxl_ragged_all_to_all") \
    X(514, "xla_gpu_gxl_scratch_size_bytes") \
    X(515, "xla_gpu_use_new_autotune_cache_format") \
    X(516, "xla_gpu_experimental_use_collective_kernels") \
    X(517, "xla_gpu_pipeline_all_gather") \
    X(518, "xla_gpu_pipeline_all_reduce") \
    X(519, "xla_gpu_pipeline_reduce_scatter") \
    X(520, "xla_spmd_enable_dynamic_slice_collective_broadcast") \
    X(521, "xla_gpu_experimental_ragged_all_to_all_use_device_kernel") \
    X(522, "xla_gpu_async_copy_min_bytes") \
    X(523, "xla_gpu_blas_max_algorithms") \
    X(524, "xla_gpu_experimental_enable_selective_memcpy_overlap") \
    X(525, "xla_gpu_experimental_enable_same_shape_multi_output_fusion") \
    X(526, "xla_gpu_experimental_scheduler_memory_fencing_threshold_bytes") \
    X(527, "xla_gpu_experimental_scheduler_memory_fencing_slack_windows") \
    X(528, "xla_while_loop_all_reduce_dus_code_motion_max_size_bytes") \
    X(529, "xla_cpu_use_new_xtile_lowering") \
    X(530, "xla_gpu_trace_annotation_level") \
    X(531, "xla_gpu_experimental_cost_model_gemm_tiling_default") \
    X(532, "xla_gpu_allow_ragged_all_to_all_nccl_send_recv_fallback") \
    X(533, "xla_gpu_all_reduce_splitter_ignore_profitability_check") \
    X(534, "xla_gpu_enable_cupti_multi_subscriber") \
    X(536, "xla_gpu_collective_domain_assignment") \
    X(537, "xla_gpu_hlo_custom_call_allowlist") \
    X(538, "xla_gpu_experimental_parallel_scale_up_collective_overlap_limit") \
    X(539, "xla_compile_all_supported_configs") \
    X(541, "xla_gpu_unsupported_use_cross_host_one_shot_kernel") \
    X(542, "xla_deduplicate_backend_configs_min_size") \
    X(543, "xla_force_config") \
    X(544, "xla_candidate_configs_file") \
    X(545, "xla_gpu_enable_persistent_symmetric_memory") \
    X(546, "xla_gpu_experimental_enable_raft_for_stable_topk") \
    X(547, "xla_autotuner_preferred_backend") \
    X(548, "xla_cpu_mock_custom_calls") \
    X(549, "xla_gpu_experimental_early_exit") \
    X(550, "xla_gpu_experimental_emit_collective_reduce") \
    X(551, "xla_gpu_experimental_vmm_disabled") \
    X(552, "xla_gpu_experimental_enable_dynamic_slice_table_offsets") \
    X(553, "xla_gpu_device_execution_terminate_timeout") \
    X(554, "xla_gpu_topology_filename") \
    X(555, "xla_gpu_experimental_enable_dynamic_slice_extended_offsets") \
    X(556, "xla_gpu_experimental_deterministic_ops_triton") \
    X(557, "xla_gpu_experimental_enable_tensor_ir")
// clang-format on

typedef struct option_t {
    uint32_t number;
    const char *name;
} option_t;

static const option_t options[] = {
#define OPTION(number, name) {number, name},
    DEBUG_OPTIONS(OPTION)
#undef OPTION
};

static int by_number(const void *left, const void *right) {
    const option_t *a = left, *b = right;
    return a->number < b->number ? -1 : a->number > b->number;
}

static const char *name_of(uint32_t number) {
    const option_t wanted = {number, NULL};
    const option_t *found =
        bsearch(&wanted, options, sizeof options / sizeof *options, sizeof *options, by_number);
    return found ? found->name : NULL;
}

// The number after "debug." up to '=' or '.'; 0 if there is none.
static uint32_t number_at(keel_str_t line, size_t *end) {
    static const char head[] = "debug.";
    uint32_t number = 0;
    if (!keel_str_starts(line, KEEL_STR(head))) return 0;
    size_t at = sizeof head - 1;
    for (; at < line.size && line.data[at] >= '0' && line.data[at] <= '9' && number < 1u << 20;
         ++at)
        number = number * 10 + (uint32_t)(line.data[at] - '0');
    *end = at;
    return at < line.size && line.data[at] == '=' ? number : 0;
}

keel_status_t keel_key_spell_out(keel_str_t value, keel_buffer_t *out) {
    while (value.size) {
        const char *newline = memchr(value.data, '\n', value.size);
        keel_str_t line = {value.data, newline ? (size_t)(newline - value.data) + 1 : value.size};
        size_t end = 0;
        uint32_t number = number_at(line, &end);
        const char *name = number ? name_of(number) : NULL;
        if (name) {
            keel_buffer_text(out, name);
            keel_buffer_append(out, line.data + end, line.size - end);
        } else {
            keel_buffer_str(out, line);
        }
        value = (keel_str_t){value.data + line.size, value.size - line.size};
    }
    return keel_buffer_status(out);
}
