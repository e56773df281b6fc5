"""Kinds of operations, types, attributes and locations that JAX does not write, as StableHLO text.

Each entry is the body of `func.func @main`, or all of it if it starts with `module`.
"""

TEXTS = {}


def text(name, arguments, results, body):
    assert name not in TEXTS, name
    TEXTS[name] = f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"


def module(name, words):
    assert name not in TEXTS, name
    TEXTS[name] = words


# ---- elementwise and shape -----------------------------------------------------------------------

text("accuracy", "%x: tensor<4xf32>", "tensor<4xf32>", """
  %0 = "stablehlo.exponential"(%x) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.tanh"(%0) {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.25, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>""")

text("accuracy_default", "%x: tensor<4xf32>", "tensor<4xf32>", """
  %0 = stablehlo.cbrt %x : tensor<4xf32>
  %1 = stablehlo.cosine %0 : tensor<4xf32>
  %2 = stablehlo.exponential %1 : tensor<4xf32>
  %3 = stablehlo.exponential_minus_one %2 : tensor<4xf32>
  %4 = stablehlo.log %3 : tensor<4xf32>
  %5 = stablehlo.log_plus_one %4 : tensor<4xf32>
  %6 = stablehlo.logistic %5 : tensor<4xf32>
  %7 = stablehlo.rsqrt %6 : tensor<4xf32>
  %8 = stablehlo.sine %7 : tensor<4xf32>
  %9 = stablehlo.sqrt %8 : tensor<4xf32>
  %10 = stablehlo.tan %9 : tensor<4xf32>
  %11 = stablehlo.tanh %10 : tensor<4xf32>
  return %11 : tensor<4xf32>""")

text("rounding", "%x: tensor<4xf32>", "tensor<4xf32>", """
  %0 = stablehlo.round_nearest_afz %x : tensor<4xf32>
  %1 = stablehlo.round_nearest_even %0 : tensor<4xf32>
  %2 = stablehlo.ceil %1 : tensor<4xf32>
  %3 = stablehlo.reduce_precision %2, format = e4m3 : tensor<4xf32>
  return %3 : tensor<4xf32>""")

text("compare_types", "%x: tensor<4xf32>, %i: tensor<4xi32>, %u: tensor<4xui32>",
     "tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>", """
  %0 = stablehlo.compare EQ, %x, %x, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = stablehlo.compare GE, %i, %i, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %2 = stablehlo.compare NE, %u, %u, UNSIGNED : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  %3 = stablehlo.compare LT, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0, %1, %2, %3 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>""")

text("broadcasts", "%x: tensor<3xf32>", "tensor<2x4x3xf32>, tensor<3x2xf32>", """
  %0 = "stablehlo.broadcast"(%x) {broadcast_sizes = array<i64: 2, 4>} : (tensor<3xf32>) -> tensor<2x4x3xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
  return %0, %1 : tensor<2x4x3xf32>, tensor<3x2xf32>""")

text("batch_norm", "%x: tensor<2x4x3xf32>, %s: tensor<3xf32>, %g: tensor<2x4x3xf32>",
     "tensor<2x4x3xf32>", """
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %s, %s, %s) {epsilon = 1.0e-3 : f32, feature_index = 2 : i64} : (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>
  %1:3 = "stablehlo.batch_norm_training"(%0, %s, %s) {epsilon = 0x33D6BF95 : f32, feature_index = 2 : i64} : (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %2:3 = "stablehlo.batch_norm_grad"(%1#0, %s, %1#1, %1#2, %g) {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %2#0 : tensor<2x4x3xf32>""")

text("einsum", "%x: tensor<3x4xf32>, %y: tensor<4x5xf32>", "tensor<3x5xf32>, tensor<3xf32>", """
  %0 = "stablehlo.einsum"(%x, %y) {einsum_config = "ij,jk->ik"} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %1 = "stablehlo.unary_einsum"(%x) {einsum_config = "ij->i"} : (tensor<3x4xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<3x5xf32>, tensor<3xf32>""")

text("dot", "%x: tensor<3x4xf32>, %y: tensor<4x5xf32>", "tensor<3x5xf32>", """
  %0 = stablehlo.dot %x, %y, precision = [HIGH, HIGHEST] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>""")

text("dot_algorithm", "%x: tensor<3x4xf32>, %y: tensor<4x5xf32>", "tensor<3x5xf32>", """
  %0 = "stablehlo.dot_general"(%x, %y) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false>} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>""")

text("map", "%x: tensor<3x4xf32>", "tensor<3x4xf32>", """
  %0 = "stablehlo.map"(%x, %x) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.multiply %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) {dimensions = array<i64: 0, 1>} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>""")

text("old_rng", "%a: tensor<f32>, %b: tensor<f32>", "tensor<2x3xf32>, tensor<2x3xf32>", """
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1 = stablehlo.rng %a, %b, %s, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>""")

text("index_select", "%x: tensor<5x3xf32>, %i: tensor<2xi32>", "tensor<2x3xf32>", """
  %0 = "stablehlo.torch_index_select"(%x, %i) {batch_dims = 0 : i64, dim = 0 : i64} : (tensor<5x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>""")

text("if_and_case", "%p: tensor<i1>, %i: tensor<i32>, %x: tensor<f32>", "tensor<f32>, tensor<f32>", """
  %0 = "stablehlo.if"(%p) ({
    %2 = stablehlo.negate %x : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %1 = "stablehlo.case"(%i) ({
    stablehlo.return %0 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }, {
    %3 = stablehlo.add %0, %x : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>""")

text("select_and_scatter", "%x: tensor<1x4x4x1xf32>, %s: tensor<1x2x2x1xf32>", "tensor<1x4x4x1xf32>", """
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
  }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) {window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>, padding = dense<0> : tensor<4x2xi64>} : (tensor<1x4x4x1xf32>, tensor<1x2x2x1xf32>, tensor<f32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>""")

text("convolution_reversed", "%x: tensor<1x8x8x2xf32>, %w: tensor<3x3x2x4xf32>", "tensor<1x8x8x4xf32>", """
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x8x8x4xf32>
  return %0 : tensor<1x8x8x4xf32>""")

text("linear_algebra", "%a: tensor<3x3xf32>, %b: tensor<3x2xf32>", "tensor<3x2xf32>", """
  %0 = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>
  %1 = "stablehlo.triangular_solve"(%0, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>} : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>""")

text("complex_parts", "%x: tensor<4xf64>", "tensor<4xcomplex<f64>>, tensor<4xf64>", """
  %0 = stablehlo.complex %x, %x : tensor<4xcomplex<f64>>
  %1 = stablehlo.imag %0 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  return %0, %1 : tensor<4xcomplex<f64>>, tensor<4xf64>""")

# ---- dynamic shapes ------------------------------------------------------------------------------

text("dynamic_basic", "%x: tensor<?x4xf32>, %s: tensor<2xi32>", "tensor<?x?xf32>, tensor<?x4xf32>", """
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %1 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %2 = stablehlo.abs %x : tensor<?x4xf32>
  return %0, %2 : tensor<?x?xf32>, tensor<?x4xf32>""")

text("dynamic_bounded", "%x: tensor<8xf32>, %n: tensor<i32>",
     "tensor<?xf32, #stablehlo.bounds<8>>", """
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<8xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<8>>
  return %0 : tensor<?xf32, #stablehlo.bounds<8>>""")

text("dynamic_bounded_partly", "%x: tensor<?x3x?xf32, #stablehlo.bounds<5, ?, 7>>",
     "tensor<?x3x?xf32, #stablehlo.bounds<5, ?, 7>>", """
  %0 = stablehlo.negate %x : tensor<?x3x?xf32, #stablehlo.bounds<5, ?, 7>>
  return %0 : tensor<?x3x?xf32, #stablehlo.bounds<5, ?, 7>>""")

text("dynamic_iota_pad", "%x: tensor<4xf32>, %s: tensor<1xi64>", "tensor<?xi32>, tensor<?xf32>", """
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.dynamic_pad %x, %z, %s, %s, %s : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0, %1 : tensor<?xi32>, tensor<?xf32>""")

text("dynamic_broadcast", "%x: tensor<?x1xf32>, %s: tensor<2xindex>", "tensor<?x?xf32>", """
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) {broadcast_dimensions = array<i64: 0, 1>, known_expanding_dimensions = array<i64: 1>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>""")

text("dynamic_slice_real", "%x: tensor<?xf32>, %s: tensor<1xi32>", "tensor<?xf32>", """
  %0 = stablehlo.real_dynamic_slice %x, %s, %s, %s : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>""")

text("dynamic_gather", "%x: tensor<4x3xf32>, %i: tensor<2x1xi32>, %s: tensor<2xi32>", "tensor<2x?xf32>", """
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true} : (tensor<4x3xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>""")

text("dynamic_conv", "%x: tensor<1x8x8x2xf32>, %w: tensor<3x3x2x4xf32>, %p: tensor<2x2xi32>",
     "tensor<1x?x?x4xf32>", """
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, window_strides = array<i64: 2, 1>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>, tensor<2x2xi32>) -> tensor<1x?x?x4xf32>
  return %0 : tensor<1x?x?x4xf32>""")

text("unranked", "%x: tensor<*xf32>", "tensor<*xf32>", """
  %0 = stablehlo.custom_call @any(%x) : (tensor<*xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>""")

# ---- tuples, tokens, buffers, transfers ----------------------------------------------------------

text("tuples", "%x: tensor<2xf32>, %y: tensor<3xi32>", "tensor<3xi32>", """
  %0 = stablehlo.tuple %x, %y : tuple<tensor<2xf32>, tensor<3xi32>>
  %1 = stablehlo.tuple %0, %x : tuple<tuple<tensor<2xf32>, tensor<3xi32>>, tensor<2xf32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tuple<tensor<2xf32>, tensor<3xi32>>, tensor<2xf32>>) -> tuple<tensor<2xf32>, tensor<3xi32>>
  %3 = stablehlo.get_tuple_element %2[1] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<3xi32>
  return %3 : tensor<3xi32>""")

text("tokens", "%t: !stablehlo.token", "!stablehlo.token", """
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = stablehlo.after_all %t, %0 : !stablehlo.token
  return %1 : !stablehlo.token""")

text("feeds", "%t: !stablehlo.token", "!stablehlo.token", """
  %0:3 = "stablehlo.infeed"(%t) {infeed_config = "in", layout = [[0, 1], [0]]} : (!stablehlo.token) -> (tensor<2x3xf32>, tensor<4xi32>, !stablehlo.token)
  %1 = "stablehlo.outfeed"(%0#0, %0#2) {outfeed_config = "out"} : (tensor<2x3xf32>, !stablehlo.token) -> !stablehlo.token
  return %1 : !stablehlo.token""")

text("send_and_receive", "%x: tensor<2xf32>, %t: !stablehlo.token", "tensor<2xf32>", """
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %1:2 = "stablehlo.recv"(%0) {channel_handle = #stablehlo.channel_handle<handle = 6, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %1#0 : tensor<2xf32>""")

text("send_and_receive_between_devices", "%x: tensor<2xf32>, %t: !stablehlo.token", "tensor<2xf32>", """
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %1:2 = "stablehlo.recv"(%0) {channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %1#0 : tensor<2xf32>""")

text("buffers", "%x: memref<4xf32>", "memref<4xf32>", """
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "touch", has_side_effect = true, api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
  return %0 : memref<4xf32>""")

# ---- collectives ---------------------------------------------------------------------------------

_ADD = """({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
  })"""
_GROUPS = "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"
_CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>"

text("all_reduce", "%x: tensor<4xf32>", "tensor<4xf32>", f"""
  %0 = "stablehlo.all_reduce"(%x) {_ADD} {{{_GROUPS}, {_CHANNEL}, use_global_device_ids}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>""")
text("all_reduce_two", "%x: tensor<4xf32>, %y: tensor<2xf32>", "tensor<4xf32>, tensor<2xf32>", f"""
  %0:2 = "stablehlo.all_reduce"(%x, %y) {_ADD} {{replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>}} : (tensor<4xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<2xf32>""")
text("all_gather", "%x: tensor<4x2xf32>", "tensor<4x4xf32>", f"""
  %0 = "stablehlo.all_gather"(%x) {{all_gather_dim = 1 : i64, {_GROUPS}, {_CHANNEL}, use_global_device_ids}} : (tensor<4x2xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>""")
text("all_to_all", "%x: tensor<4x2xf32>", "tensor<2x4xf32>", f"""
  %0 = "stablehlo.all_to_all"(%x) {{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, {_GROUPS}, {_CHANNEL}}} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>""")
text("reduce_scatter", "%x: tensor<4x2xf32>", "tensor<2x2xf32>", f"""
  %0 = "stablehlo.reduce_scatter"(%x) {_ADD} {{scatter_dimension = 0 : i64, {_GROUPS}, {_CHANNEL}}} : (tensor<4x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>""")
text("collective_permute", "%x: tensor<4xf32>", "tensor<4xf32>", f"""
  %0 = "stablehlo.collective_permute"(%x) {{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, {_CHANNEL}}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>""")
text("collective_broadcast", "%x: tensor<4xf32>", "tensor<4xf32>", f"""
  %0 = "stablehlo.collective_broadcast"(%x) {{{_GROUPS}, {_CHANNEL}}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>""")
text("collective_reduce", "%x: tensor<4xf32>", "tensor<4xf32>", f"""
  %0 = "stablehlo.collective_reduce"(%x) {_ADD} {{{_GROUPS}, {_CHANNEL}, use_global_device_ids}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>""")
text("cross_replica_sum", "%x: tensor<4xf32>", "tensor<4xf32>", f"""
  %0 = "stablehlo.cross-replica-sum"(%x) {{{_GROUPS}}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>""")
text("device_numbers", "", "tensor<ui32>, tensor<ui32>", """
  %0 = stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.replica_id : tensor<ui32>
  return %0, %1 : tensor<ui32>, tensor<ui32>""")
text("async", "%x: tensor<4xf32>", "tensor<8xf32>", """
  %0 = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<4xf32>):
      %2 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<8xf32>
      stablehlo.return %2 : tensor<8xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  return %1 : tensor<8xf32>""")

module("groups_by_mesh", """
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%x: tensor<4x2xf32>) -> tensor<4x4xf32> {
    %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<4x2xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}""")

# ---- calls ---------------------------------------------------------------------------------------

module("custom_calls", """
module @calls {
  func.func private @helper(%x: tensor<f32>) -> tensor<f32> {
    return %x : tensor<f32>
  }
  func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.custom_call @plain(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.custom_call @status(%0) {api_version = 2 : i32, backend_config = "a = \\"b\\"", called_computations = [@helper]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.custom_call @unified(%1) {api_version = 3 : i32, has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.custom_call @typed(%2) {api_version = 4 : i32, backend_config = {eps = 1.0e-5 : f32, n = 3 : i64, flags = array<i32: 1, 2>, name = "n", on = true, wide = 255 : ui8}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}""")

module("composites", """
module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.composite "my.gelu" %x {composite_attributes = {approximate = "tanh", k = 3 : i32, scale = 0.5 : f32, list = [1, 2]}, decomposition = @gelu, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}""")

module("function_attributes", """
module @odd attributes {mhlo.cross_program_prefetches = [], test.unit, test.deep = {a = [1 : i8, {b = "c"}], z = -5 : si16}} {
  func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32, mhlo.layout_mode = "{0}"}, %y: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32> {mhlo.memory_kind = "pinned_host", jax.result_info = "r"}) attributes {execution_thread = "main", test.flag} {
    %0 = stablehlo.add %x, %y {mhlo.frontend_attributes = {_stream = "1", b = "2"}, test.array = array<i64: 1, -1>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @never_called(%x: tensor<*xf32>, %t: !stablehlo.token) -> !stablehlo.token {
    return %t : !stablehlo.token
  }
}""")

module("empty", "module {}")
module("no_name_no_result", "module { func.func @main() { return } }")

# ---- types and constants -------------------------------------------------------------------------

_QUANTIZED = {
    "quantized": "!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 3.125000e-02:-7, -128:127, 1>",
    "quantized_per_axis": "!vhlo.quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 1, "
                          "[1.000000e-01, 2.000000e-01, 3.000000e-01], [1, -2, 0], -127:127, 1>",
}
for _name, _type in _QUANTIZED.items():
    # Written in VHLO, since the bindings lack the dialect that StableHLO takes these types from.
    module(_name, f"""
module {{
  "vhlo.func_v1"() <{{arg_attrs = #vhlo.array_v1<[]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<2x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x3x!vhlo.f32_v1>>>, res_attrs = #vhlo.array_v1<[]>, sym_name = #vhlo.string_v1<"main">, sym_visibility = #vhlo.string_v1<"public">}}> ({{
    ^bb0(%x: !vhlo.tensor_v1<2x3x!vhlo.f32_v1>):
      %0 = "vhlo.uniform_quantize_v1"(%x) : (!vhlo.tensor_v1<2x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x3x{_type}>
      %1 = "vhlo.uniform_dequantize_v1"(%0) : (!vhlo.tensor_v1<2x3x{_type}>) -> !vhlo.tensor_v1<2x3x!vhlo.f32_v1>
      "vhlo.return_v1"(%1) : (!vhlo.tensor_v1<2x3x!vhlo.f32_v1>) -> ()
  }}) : () -> ()
}}""")

_CONSTANTS = {
    "bool": ("i1", ["true", "[]:0", "[true]:1", "[false, true, true]:3", "true:9", "false:17",
                    "[true, false, true, false, true, false, true, true, false]:9"]),
    "i2": ("i2", ["-2", "[1, -1, 0]:3"]),
    "i4": ("i4", ["-8", "[7, -1, 0]:3", "3:5"]),
    "ui2": ("ui2", ["3", "[0, 1, 2]:3"]),
    "ui4": ("ui4", ["15", "[0, 9]:2"]),
    "i8": ("i8", ["-128", "[127, -1]:2"]),
    "ui16": ("ui16", ["65535", "[1, 2]:2"]),
    "i64": ("i64", ["-9223372036854775808", "[1, -1]:2"]),
    "ui64": ("ui64", ["18446744073709551615", "[0, 18446744073709551614]:2"]),
    "f16": ("f16", ["0x7E01", "[1.5, -0.0]:2"]),
    "bf16": ("bf16", ["0x7F80", "[1.5, -3.0]:2"]),
    "f32": ("f32", ["0x7FC00001", "[0x80000000, 0xFF800000, 1.0e-45]:3", "[]:0x3"]),
    "f64": ("f64", ["0x7FF0000000000001", "[0.1, -0.0]:2"]),
    "f8E4M3FN": ("f8E4M3FN", ["0x7F", "[1.0, -448.0]:2"]),
    "f8E5M2": ("f8E5M2", ["0x7C", "[1.0, 0.5]:2"]),
    "f8E4M3": ("f8E4M3", ["0x78", "[1.0, 0.5]:2"]),
    "f8E3M4": ("f8E3M4", ["1.0", "[0.25, 0.5]:2"]),
    "f8E4M3B11FNUZ": ("f8E4M3B11FNUZ", ["0x80", "[1.0, 0.5]:2"]),
    "f8E4M3FNUZ": ("f8E4M3FNUZ", ["1.0", "[0.5, 2.0]:2"]),
    "f8E5M2FNUZ": ("f8E5M2FNUZ", ["1.0", "[0.5, 2.0]:2"]),
    "f8E8M0FNU": ("f8E8M0FNU", ["1.0", "[0.5, 2.0]:2"]),
    "f4E2M1FN": ("f4E2M1FN", ["6.0", "[0.5, -1.5, 0.0]:3"]),
    "f6E2M3FN": ("f6E2M3FN", ["7.5", "[0.5, -1.5]:2"]),
    "f6E3M2FN": ("f6E3M2FN", ["28.0", "[0.5, -1.5]:2"]),
    "complex_f32": ("complex<f32>", ["(1.0,-0.0)", "[(1.0,2.0), (3.0,0x7FC00000)]:2"]),
    "complex_f64": ("complex<f64>", ["(1.0,2.0):4", "[(0.1,0.2), (0.3,0.4)]:2"]),
    "tables": ("i32", ["[[1, 2, 3], [4, 5, 6]]:2x3", "[[[1], [2]], [[3], [4]]]:2x2x1", "7:1000000x1000",
                       "[]:2x0"]),
}


def _split(value):
    """"[1, 2]:2" is the value and its shape; what has no shape is a scalar."""
    held, colon, shape = value.rpartition(":")
    return (held, shape + "x") if colon else (value, "")


# Of each type one value over many elements, one, and none: MLIR writes the one value for all of them.
_SPLATS = ["1", "3", "8", "9", "0", "4x1x0"]

for _name, (_element, _values) in _CONSTANTS.items():
    _lines, _types = [], []
    _values = [*_values, *(f"{_split(_values[0])[0]}:{_shape}" for _shape in _SPLATS if _name != "tables")]
    for _i, _value in enumerate(_values):
        _held, _shape = _split(_value)
        _types.append(f"tensor<{_shape}{_element}>")
        _held = "" if _held == "[]" else _held
        _lines.append(f"  %{_i} = stablehlo.constant dense<{_held}> : {_types[-1]}")
    _names = ", ".join(f"%{_i}" for _i in range(len(_values)))
    text(f"constants_{_name}", "", ", ".join(_types),
         "\n".join([*_lines, f"  return {_names} : {', '.join(_types)}"]))

# ---- locations -----------------------------------------------------------------------------------

module("locations", """
module @places {
  func.func @main(%x: tensor<4xf32> loc("x"), %y: tensor<4xf32> loc("params['w'] é\\"\\\\")) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %y : tensor<4xf32> loc(unknown)
    %1 = stablehlo.add %0, %y : tensor<4xf32> loc("a.py":1:2)
    %2 = stablehlo.add %1, %y : tensor<4xf32> loc("a.py":3:4 to :9)
    %3 = stablehlo.add %2, %y : tensor<4xf32> loc("a b.py":5:6 to 7:8)
    %4 = stablehlo.add %3, %y : tensor<4xf32> loc("only a name")
    %5 = stablehlo.add %4, %y : tensor<4xf32> loc("jit(f)/add"("f"("dir/c.py":10:11 to :12)))
    %6 = stablehlo.add %5, %y : tensor<4xf32> loc(callsite("f"("c.py":1:1) at "g"("d.py":2:2)))
    %7 = stablehlo.add %6, %y : tensor<4xf32> loc("jit(f)/mul"(callsite(callsite("f"("c.py":1:1) at "g"("d.py":2:2)) at callsite("h"("e.py":3:3) at "<module>"("e.py":400000:0)))))
    %8 = stablehlo.add %7, %y : tensor<4xf32> loc(fused["a.py":1:1, "b.py":2:2])
    %9 = stablehlo.add %8, %y : tensor<4xf32> loc(fused<"why">["n"("a.py":1:1), callsite("b.py":2:2 at "c.py":3:3)])
    %10 = stablehlo.add %9, %y : tensor<4xf32> loc("a"("b"("c"("d"("e.py":1:1)))))
    %11 = stablehlo.add %10, %y : tensor<4xf32> loc(callsite("none" at "f"("a.py":1:1)))
    %12 = stablehlo.add %11, %y : tensor<4xf32> loc("outer"(fused["f"("a.py":1:1), "g"("b.py":2:2)]))
    return %12 : tensor<4xf32> loc("":0:0)
  } loc("main.py":1:1)
} loc("module.py":0:0)""")


def _chain(depth):
    chain = '"leaf"("f.py":1:1)'
    for i in range(depth):
        chain = f'callsite({chain} at "f{i}"("f.py":{i}:1))'
    return chain


module("locations_deep", f"""
module {{
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
    %0 = stablehlo.abs %x : tensor<4xf32> loc({_chain(150)})
    return %0 : tensor<4xf32>
  }}
}}""")

# ---- shardings -----------------------------------------------------------------------------------

module("shardy", """
module @shards attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  sdy.mesh @reordered = <["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>
  sdy.mesh @one = <[], device_ids=[5]>
  func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {"y":(1)2}], replicated={"y":(2)2}>}, %y: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.add %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x16xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {"x"}]> : tensor<8x16xf32>
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>
    %3 = stablehlo.custom_call @mine(%2) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16} need_replication={j} blocked_propagation={i}, custom>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    sdy.sharding_group %3 group_id=3 : tensor<8x16xf32>
    %4 = sdy.propagation_barrier %3 allowed_direction=BACKWARD : tensor<8x16xf32>
    return %4 : tensor<8x16xf32>
  }
}""")

module("shardy_manual", """
module @manual {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<4x16xf32>) {
      %1 = stablehlo.abs %a : tensor<4x16xf32>
      sdy.return %1 : tensor<4x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}""")

module("shardy_named_computation", """
module @named {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = sdy.named_computation<"block">(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] (%a: tensor<8xf32>) {
      %1 = stablehlo.abs %a : tensor<8xf32>
      sdy.return %1 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}""")

module("shardy_unreduced", """
module @unreduced {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%x: tensor<8x16xf32>) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
    %0 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], replicated={"y"}, unreduced={"x"}>]>} : tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}""")

# ---- attributes of the module --------------------------------------------------------------------

module("builtin_attributes", """
module @attributes attributes {
  t.ints = [1 : i8, -1 : i16, 7 : si32, 255 : ui8, -5 : index, true, false, 18446744073709551615 : ui64],
  t.floats = [1.5, -0.0 : f32, 0x7FC00000 : f32, 1.0 : bf16, 2.0 : f16, 1.0 : f8E4M3FN, 0.5 : f8E5M2],
  t.arrays = [array<i1: true, false>, array<i8: 1, -1>, array<i64>, array<f32: 1.0, 2.0>, array<f64: 0.1>],
  t.types = [f32, tensor<?x2xf32>, tensor<*xi8>, (f32, i32) -> tensor<2xf32>, none, index, complex<f64>, tuple<f32, i1>],
  t.dense = [dense<[1, 2]> : tensor<2xi32>, dense<1.0> : tensor<2x2xf32>, dense<[true, false, true]> : tensor<3xi1>, dense<> : tensor<0xf32>, dense<(1.0, 2.0)> : tensor<complex<f32>>],
  t.strings = ["", "a\\00b", "\\C3\\A9", "\\FF"],
  t.symbols = [@main, @main::@inner::@leaf],
  t.unit, t.nested = {a = {b = {c = [[[1]]]}}}
} {
  func.func @main() { return }
}""")

module("wide_integer", """
module attributes {t.wide = [1 : i128, -1 : i65, 170141183460469231731687303715884105727 : i128]} {
  func.func @main() { return }
}""")

module("string_tensor", """
module attributes {t.s = dense<["a", "bc"]> : tensor<2x!vhlo.none_v1>, t.sparse = sparse<[[0, 0], [1, 2]], [1.0, 5.0]> : tensor<3x4xf32>} {
  func.func @main() { return }
}""")

module("resources", """
module attributes {t.r = dense_resource<blob> : tensor<3xi64>} {
  func.func @main() { return }
}
{-#
  dialect_resources: {
    builtin: {
      blob: "0x08000000010000000000000002000000000000000300000000000000"
    }
  }
#-}""")
