// mlir_ops: the properties of each dialect's operations, and all names that the bytecode leaves
// out.
//
// Bytecode from version 5 on stores the properties of an operation without their names, in
// alphabetical order: a reader must know each operation. Sources: openxla/stablehlo VhloOps.td
// (VHLO 1.20; exp2, fma and log2 came with 1.24), openxla/shardy ops.td, MLIR's BuiltinOps.td.
#ifndef KEEL_READ_MLIR_OPS_H_
#define KEEL_READ_MLIR_OPS_H_

#include "base/bytes.h"

// clang-format off
#define KEEL_MLIR_PROPERTY_NAMES(X) \
    X(accumulation_type) X(all_gather_dim) X(allow_imprecise_accumulation) X(allowed_direction) \
    X(api_version) X(arg_attrs) X(backend_config) X(base_dilations) X(batch_dims) \
    X(batch_group_count) X(broadcast_dimensions) X(broadcast_sizes) X(call_target_name) \
    X(called_computations) X(callee) X(channel_id) X(channel_type) X(collapsed_slice_dims) \
    X(compare_type) X(comparison_direction) X(composite_attributes) X(concat_dimension) \
    X(decomposition) X(dim) X(dimension) X(dimensions) X(edge_padding_high) X(edge_padding_low) \
    X(einsum_config) X(epsilon) X(exponent_bits) X(feature_group_count) X(feature_index) \
    X(fft_length) X(fft_type) X(function_type) X(group_id) X(has_dynamic_root) \
    X(has_side_effect) X(in_shardings) X(index) X(index_vector_dim) X(indices_are_sorted) \
    X(infeed_config) X(input_batch_dimension) X(input_batching_dims) X(input_feature_dimension) \
    X(input_spatial_dimensions) X(inserted_window_dims) X(interior_padding) X(iota_dimension) \
    X(is_host_transfer) X(is_stable) X(kernel_input_feature_dimension) \
    X(kernel_output_feature_dimension) X(kernel_spatial_dimensions) \
    X(known_expanding_dimensions) X(known_nonexpanding_dimensions) X(layout) X(left_side) \
    X(lhs_batching_dimensions) X(lhs_component_count) X(lhs_contracting_dimensions) \
    X(lhs_dilation) X(lhs_precision_type) X(limit_indices) X(lower) X(mantissa_bits) \
    X(manual_axes) X(mesh) X(name) X(num_primitive_operations) X(offset_dims) \
    X(operand_batching_dims) X(operand_layouts) X(out_shardings) X(outfeed_config) \
    X(output_batch_dimension) X(output_feature_dimension) X(output_operand_aliases) \
    X(output_spatial_dimensions) X(padding) X(permutation) X(precision_config) X(replica_groups) \
    X(res_attrs) X(result_accuracy) X(result_layouts) X(result_tilings) \
    X(rhs_batching_dimensions) X(rhs_component_count) X(rhs_contracting_dimensions) \
    X(rhs_dilation) X(rhs_precision_type) X(rng_algorithm) X(rng_distribution) \
    X(scatter_dimension) X(scatter_dims_to_operand_dims) X(scatter_indices_batching_dims) \
    X(sharding) X(slice_sizes) X(source_target_pairs) X(split_count) X(split_dimension) \
    X(start_index_map) X(start_indices) X(start_indices_batching_dims) X(strides) X(sym_name) \
    X(sym_visibility) X(transpose_a) X(unique_indices) X(unit_diagonal) X(update_window_dims) \
    X(use_global_device_ids) X(value) X(version) X(window_dilations) X(window_dimensions) \
    X(window_reversal) X(window_strides)

// Fields of structured attributes whose names are not also properties.
#define KEEL_MLIR_FIELD_NAMES(X) \
    X(atol) X(axes) X(blocked_propagation_factors) X(device_ids) X(dim_mappings) X(factor_sizes) \
    X(flags) X(is_closed) X(is_custom_rule) X(lists) X(max) X(min) X(mode) \
    X(need_replication_factors) X(operand_index) X(operand_mappings) X(operand_tuple_indices) \
    X(output_tuple_indices) X(params) X(permutation_factors) X(pre_size) X(priority) \
    X(quantized_dimension) X(reduction) X(reduction_factors) X(replicated) X(result_mappings) \
    X(rtol) X(scale) X(scales) X(shardings) X(size) X(src_dim) X(sub_axis_info) X(tgt_dim) \
    X(type) X(ulps) X(unreduced) X(zero_point) X(zero_points)
// clang-format on

typedef enum keel_mlir_name {
    KEEL_MLIR_NO_NAME,
#define KEEL_MLIR_NAME_ENUM(name) KEEL_MLIR_##name,
    KEEL_MLIR_PROPERTY_NAMES(KEEL_MLIR_NAME_ENUM) KEEL_MLIR_PROPERTY_NAMES_END,
    KEEL_MLIR_LAST_PROPERTY_NAME = KEEL_MLIR_PROPERTY_NAMES_END - 1,
    KEEL_MLIR_FIELD_NAMES(KEEL_MLIR_NAME_ENUM)
#undef KEEL_MLIR_NAME_ENUM
        KEEL_MLIR_NAME_COUNT,
} keel_mlir_name_t;

const char *keel_mlir_name(keel_mlir_name_t name);

// A property that may be absent.
#define KEEL_MLIR_OPTIONAL 0x80u
enum { KEEL_MLIR_MOST_PROPERTIES = 17 };

typedef struct keel_mlir_op_t {
    const char *name;                                  // with its version, without its dialect
    uint8_t properties[KEEL_MLIR_MOST_PROPERTIES + 1]; // keel_mlir_name_t | OPTIONAL, then 0
} keel_mlir_op_t;

typedef enum keel_mlir_dialect {
    KEEL_MLIR_BUILTIN,
    KEEL_MLIR_VHLO,
    KEEL_MLIR_SDY,
    KEEL_MLIR_STABLEHLO, // types alone: what Shardy's operations take is not of VHLO
    KEEL_MLIR_UNKNOWN,
} keel_mlir_dialect_t;

keel_mlir_dialect_t keel_mlir_dialect(keel_str_t name);

// The operations of a dialect, in order of name.
const keel_mlir_op_t *keel_mlir_ops(keel_mlir_dialect_t dialect, size_t *out_count);
// NULL if the dialect has no operation of that name.
const keel_mlir_op_t *keel_mlir_op(keel_mlir_dialect_t dialect, keel_str_t name);

#endif // KEEL_READ_MLIR_OPS_H_
