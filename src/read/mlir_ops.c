#include "read/mlir_ops.h"

#define P(name) KEEL_MLIR_##name
#define O(name) (KEEL_MLIR_##name | KEEL_MLIR_OPTIONAL)

static const keel_mlir_op_t builtin_ops[] = {
    {"module", {O(sym_name), O(sym_visibility)}},
    {"unrealized_conversion_cast", {0}},
};

static const keel_mlir_op_t vhlo_ops[] = {
    {"abs_v1", {0}},
    {"add_v1", {0}},
    {"after_all_v1", {0}},
    {"all_gather_v1",
     {P(all_gather_dim), P(channel_id), P(replica_groups), P(use_global_device_ids)}},
    {"all_gather_v2",
     {P(all_gather_dim), P(channel_id), P(replica_groups), P(use_global_device_ids)}},
    {"all_reduce_v1", {P(channel_id), P(replica_groups), P(use_global_device_ids)}},
    {"all_reduce_v2", {P(channel_id), P(replica_groups), P(use_global_device_ids)}},
    {"all_to_all_v1",
     {P(channel_id), P(concat_dimension), P(replica_groups), P(split_count), P(split_dimension)}},
    {"all_to_all_v2",
     {P(channel_id), P(concat_dimension), P(replica_groups), P(split_count), P(split_dimension)}},
    {"and_v1", {0}},
    {"async_done_v1", {0}},
    {"async_start_v1", {0}},
    {"atan2_v1", {0}},
    {"batch_norm_grad_v1", {P(epsilon), P(feature_index)}},
    {"batch_norm_inference_v1", {P(epsilon), P(feature_index)}},
    {"batch_norm_training_v1", {P(epsilon), P(feature_index)}},
    {"bitcast_convert_v1", {0}},
    {"broadcast_in_dim_v1", {P(broadcast_dimensions)}},
    {"broadcast_v1", {P(broadcast_sizes)}},
    {"call_v1", {P(callee)}},
    {"case_v1", {0}},
    {"cbrt_v1", {0}},
    {"cbrt_v2", {P(result_accuracy)}},
    {"ceil_v1", {0}},
    {"cholesky_v1", {P(lower)}},
    {"clamp_v1", {0}},
    {"collective_broadcast_v1", {P(channel_id), P(replica_groups)}},
    {"collective_broadcast_v2", {P(channel_id), P(has_dynamic_root), P(replica_groups)}},
    {"collective_permute_v1", {P(channel_id), P(source_target_pairs)}},
    {"collective_reduce_v1",
     {P(channel_id), P(has_dynamic_root), P(replica_groups), P(use_global_device_ids)}},
    {"compare_v1", {P(compare_type), P(comparison_direction)}},
    {"complex_v1", {0}},
    {"composite_v1", {P(composite_attributes), P(decomposition), P(name), P(version)}},
    {"composite_v2", {P(composite_attributes), P(decomposition), P(name), P(version)}},
    {"concatenate_v1", {P(dimension)}},
    {"constant_v1", {P(value)}},
    {"convert_v1", {0}},
    {"convolution_v1",
     {P(batch_group_count), P(feature_group_count), P(input_batch_dimension),
      P(input_feature_dimension), P(input_spatial_dimensions), P(kernel_input_feature_dimension),
      P(kernel_output_feature_dimension), P(kernel_spatial_dimensions), P(lhs_dilation),
      P(output_batch_dimension), P(output_feature_dimension), P(output_spatial_dimensions),
      P(padding), P(precision_config), P(rhs_dilation), P(window_reversal), P(window_strides)}},
    {"cosine_v1", {0}},
    {"cosine_v2", {P(result_accuracy)}},
    {"count_leading_zeros_v1", {0}},
    {"create_token_v1", {0}},
    {"cross-replica-sum_v1", {P(replica_groups)}},
    {"custom_call_v1",
     {P(api_version), P(backend_config), P(call_target_name), P(called_computations),
      P(has_side_effect), P(operand_layouts), P(output_operand_aliases), P(result_layouts)}},
    {"custom_call_v2",
     {P(api_version), P(backend_config), P(call_target_name), P(called_computations),
      P(has_side_effect), P(operand_layouts), P(output_operand_aliases), P(result_layouts),
      P(result_tilings)}},
    {"divide_v1", {0}},
    {"dot_general_v1",
     {P(lhs_batching_dimensions), P(lhs_contracting_dimensions), P(precision_config),
      P(rhs_batching_dimensions), P(rhs_contracting_dimensions)}},
    {"dot_general_v2",
     {P(accumulation_type), P(allow_imprecise_accumulation), P(lhs_batching_dimensions),
      P(lhs_component_count), P(lhs_contracting_dimensions), P(lhs_precision_type),
      P(num_primitive_operations), P(precision_config), P(rhs_batching_dimensions),
      P(rhs_component_count), P(rhs_contracting_dimensions), P(rhs_precision_type)}},
    {"dot_v1", {P(precision_config)}},
    {"dynamic_broadcast_in_dim_v1",
     {P(broadcast_dimensions), P(known_expanding_dimensions), P(known_nonexpanding_dimensions)}},
    {"dynamic_conv_v1",
     {P(batch_group_count), P(feature_group_count), P(input_batch_dimension),
      P(input_feature_dimension), P(input_spatial_dimensions), P(kernel_input_feature_dimension),
      P(kernel_output_feature_dimension), P(kernel_spatial_dimensions), P(lhs_dilation),
      P(output_batch_dimension), P(output_feature_dimension), P(output_spatial_dimensions),
      P(padding), P(precision_config), P(rhs_dilation), P(window_reversal), P(window_strides)}},
    {"dynamic_conv_v2",
     {P(batch_group_count), P(feature_group_count), P(input_batch_dimension),
      P(input_feature_dimension), P(input_spatial_dimensions), P(kernel_input_feature_dimension),
      P(kernel_output_feature_dimension), P(kernel_spatial_dimensions), P(lhs_dilation),
      P(output_batch_dimension), P(output_feature_dimension), P(output_spatial_dimensions),
      P(precision_config), P(rhs_dilation), P(window_reversal), P(window_strides)}},
    {"dynamic_gather_v1",
     {P(collapsed_slice_dims), P(index_vector_dim), P(indices_are_sorted), P(offset_dims),
      P(start_index_map)}},
    {"dynamic_gather_v2",
     {P(collapsed_slice_dims), P(index_vector_dim), P(indices_are_sorted), P(offset_dims),
      P(operand_batching_dims), P(start_index_map), P(start_indices_batching_dims)}},
    {"dynamic_iota_v1", {P(iota_dimension)}},
    {"dynamic_pad_v1", {0}},
    {"dynamic_reshape_v1", {0}},
    {"dynamic_slice_v1", {P(slice_sizes)}},
    {"dynamic_update_slice_v1", {0}},
    {"einsum_v1", {P(einsum_config)}},
    {"exp2_v1", {P(result_accuracy)}},
    {"exponential_minus_one_v1", {0}},
    {"exponential_minus_one_v2", {P(result_accuracy)}},
    {"exponential_v1", {0}},
    {"exponential_v2", {P(result_accuracy)}},
    {"fft_v1", {P(fft_length), P(fft_type)}},
    {"floor_v1", {0}},
    {"fma_v1", {0}},
    {"func_v1", {P(arg_attrs), P(function_type), P(res_attrs), P(sym_name), P(sym_visibility)}},
    {"gather_v1",
     {P(collapsed_slice_dims), P(index_vector_dim), P(indices_are_sorted), P(offset_dims),
      P(slice_sizes), P(start_index_map)}},
    {"gather_v2",
     {P(collapsed_slice_dims), P(index_vector_dim), P(indices_are_sorted), P(offset_dims),
      P(operand_batching_dims), P(slice_sizes), P(start_index_map),
      P(start_indices_batching_dims)}},
    {"get_dimension_size_v1", {P(dimension)}},
    {"get_tuple_element_v1", {P(index)}},
    {"if_v1", {0}},
    {"imag_v1", {0}},
    {"infeed_v1", {P(infeed_config), P(layout)}},
    {"iota_v1", {P(iota_dimension)}},
    {"is_finite_v1", {0}},
    {"log2_v1", {P(result_accuracy)}},
    {"log_plus_one_v1", {0}},
    {"log_plus_one_v2", {P(result_accuracy)}},
    {"log_v1", {0}},
    {"log_v2", {P(result_accuracy)}},
    {"logistic_v1", {0}},
    {"logistic_v2", {P(result_accuracy)}},
    {"map_v1", {P(dimensions)}},
    {"maximum_v1", {0}},
    {"minimum_v1", {0}},
    {"multiply_v1", {0}},
    {"negate_v1", {0}},
    {"not_v1", {0}},
    {"optimization_barrier_v1", {0}},
    {"or_v1", {0}},
    {"outfeed_v1", {P(outfeed_config)}},
    {"pad_v1", {P(edge_padding_high), P(edge_padding_low), P(interior_padding)}},
    {"partition_id_v1", {0}},
    {"popcnt_v1", {0}},
    {"power_v1", {0}},
    {"real_dynamic_slice_v1", {0}},
    {"real_v1", {0}},
    {"recv_v1", {P(channel_id), P(channel_type), P(is_host_transfer)}},
    {"recv_v2", {P(channel_id), P(channel_type), P(is_host_transfer), P(source_target_pairs)}},
    {"reduce_precision_v1", {P(exponent_bits), P(mantissa_bits)}},
    {"reduce_scatter_v1",
     {P(channel_id), P(replica_groups), P(scatter_dimension), P(use_global_device_ids)}},
    {"reduce_v1", {P(dimensions)}},
    {"reduce_window_v1",
     {P(base_dilations), P(padding), P(window_dilations), P(window_dimensions), P(window_strides)}},
    {"remainder_v1", {0}},
    {"replica_id_v1", {0}},
    {"reshape_v1", {0}},
    {"return_v1", {0}},
    {"reverse_v1", {P(dimensions)}},
    {"rng_bit_generator_v1", {P(rng_algorithm)}},
    {"rng_v1", {P(rng_distribution)}},
    {"round_nearest_afz_v1", {0}},
    {"round_nearest_even_v1", {0}},
    {"rsqrt_v1", {0}},
    {"rsqrt_v2", {P(result_accuracy)}},
    {"scatter_v1",
     {P(index_vector_dim), P(indices_are_sorted), P(inserted_window_dims),
      P(scatter_dims_to_operand_dims), P(unique_indices), P(update_window_dims)}},
    {"scatter_v2",
     {P(index_vector_dim), P(indices_are_sorted), P(input_batching_dims), P(inserted_window_dims),
      P(scatter_dims_to_operand_dims), P(scatter_indices_batching_dims), P(unique_indices),
      P(update_window_dims)}},
    {"select_and_scatter_v1", {P(padding), P(window_dimensions), P(window_strides)}},
    {"select_v1", {0}},
    {"send_v1", {P(channel_id), P(channel_type), P(is_host_transfer)}},
    {"send_v2", {P(channel_id), P(channel_type), P(is_host_transfer), P(source_target_pairs)}},
    {"set_dimension_size_v1", {P(dimension)}},
    {"shift_left_v1", {0}},
    {"shift_right_arithmetic_v1", {0}},
    {"shift_right_logical_v1", {0}},
    {"sign_v1", {0}},
    {"sine_v1", {0}},
    {"sine_v2", {P(result_accuracy)}},
    {"slice_v1", {P(limit_indices), P(start_indices), P(strides)}},
    {"sort_v1", {P(dimension), P(is_stable)}},
    {"sqrt_v1", {0}},
    {"sqrt_v2", {P(result_accuracy)}},
    {"subtract_v1", {0}},
    {"tan_v1", {0}},
    {"tan_v2", {P(result_accuracy)}},
    {"tanh_v1", {0}},
    {"tanh_v2", {P(result_accuracy)}},
    {"torch_index_select_v1", {P(batch_dims), P(dim)}},
    {"transpose_v1", {P(permutation)}},
    {"triangular_solve_v1", {P(left_side), P(lower), P(transpose_a), P(unit_diagonal)}},
    {"tuple_v1", {0}},
    {"unary_einsum_v1", {P(einsum_config)}},
    {"uniform_dequantize_v1", {0}},
    {"uniform_quantize_v1", {0}},
    {"while_v1", {0}},
    {"xor_v1", {0}},
};

static const keel_mlir_op_t sdy_ops[] = {
    {"manual_computation", {P(in_shardings), P(manual_axes), P(out_shardings)}},
    {"mesh", {P(mesh), P(sym_name)}},
    {"named_computation", {O(in_shardings), P(name), O(out_shardings)}},
    {"propagation_barrier", {P(allowed_direction)}},
    {"reshard", {P(sharding)}},
    {"return", {0}},
    {"sharding_constraint", {P(sharding)}},
    {"sharding_group", {P(group_id)}},
};

_Static_assert(KEEL_MLIR_LAST_PROPERTY_NAME < KEEL_MLIR_OPTIONAL,
               "a name and its flag fit one byte");

const char *keel_mlir_name(keel_mlir_name_t name) {
    static const char *const names[] = {"",
#define NAME(name) #name,
                                        KEEL_MLIR_PROPERTY_NAMES(NAME) KEEL_MLIR_FIELD_NAMES(NAME)
#undef NAME
    };
    return names[name];
}

keel_mlir_dialect_t keel_mlir_dialect(keel_str_t name) {
    if (keel_str_is(name, "vhlo")) return KEEL_MLIR_VHLO;
    if (keel_str_is(name, "builtin")) return KEEL_MLIR_BUILTIN;
    if (keel_str_is(name, "sdy")) return KEEL_MLIR_SDY;
    if (keel_str_is(name, "stablehlo")) return KEEL_MLIR_STABLEHLO;
    return KEEL_MLIR_UNKNOWN;
}

const keel_mlir_op_t *keel_mlir_ops(keel_mlir_dialect_t dialect, size_t *out_count) {
    switch (dialect) {
        case KEEL_MLIR_BUILTIN:
            *out_count = sizeof builtin_ops / sizeof *builtin_ops;
            return builtin_ops;
        case KEEL_MLIR_VHLO:
            *out_count = sizeof vhlo_ops / sizeof *vhlo_ops;
            return vhlo_ops;
        case KEEL_MLIR_SDY:
            *out_count = sizeof sdy_ops / sizeof *sdy_ops;
            return sdy_ops;
        case KEEL_MLIR_STABLEHLO:
        case KEEL_MLIR_UNKNOWN:
            break;
    }
    *out_count = 0;
    return NULL;
}

const keel_mlir_op_t *keel_mlir_op(keel_mlir_dialect_t dialect, keel_str_t name) {
    size_t low = 0, high;
    const keel_mlir_op_t *ops = keel_mlir_ops(dialect, &high);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = keel_str_compare(keel_str(ops[middle].name), name);
        if (order == 0) return &ops[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
