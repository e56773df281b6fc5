"""Layers of flax.linen."""

from uses import every_use
from plan import Recipe

IMPORTS = "import flax.linen as nn\nimport optax"


def layer(name, constructor, arguments="x: f32[b,4]", call="layer.apply(params, x)", init="x", **more):
    if "x: i32" in arguments:
        more["skip"] = ("i32_f32",) + more.get("skip", ())  # an index is not a float
    return Recipe(name, f"params = made(layer.init, {init}); {arguments}", call,
                  f"layer = {constructor}", **more)


LECUN = "recurrent_kernel_init=nn.initializers.lecun_normal()"  # the usual one is a QR of LAPACK

LAYERS = [
    layer("dense", "nn.Dense(6)"),
    layer("dense_of_sequence", "nn.Dense(6)", "x: f32[b,l,4]"),
    layer("dense_general", "nn.DenseGeneral((2, 3))"),
    layer("einsum", "nn.Einsum((4, 6), '...a,ab->...b')"),
    layer("conv_1d", "nn.Conv(6, (3,))", "x: f32[b,l,4]"),
    layer("conv_1d_valid", "nn.Conv(6, (3,), padding='VALID')", "x: f32[b,l,4]", skip=("l_6_1",)),
    layer("conv_1d_causal", "nn.Conv(6, (3,), padding='CAUSAL')", "x: f32[b,l,4]"),
    layer("conv_1d_strided", "nn.Conv(6, (3,), strides=2)", "x: f32[b,l,4]"),
    layer("conv_2d", "nn.Conv(5, (3, 3))", "x: f32[b,s,s,3]"),
    layer("conv_2d_strided", "nn.Conv(5, (3, 3), strides=2)", "x: f32[b,s,s,3]"),
    layer("conv_2d_grouped", "nn.Conv(6, (3, 3), feature_group_count=3)", "x: f32[b,s,s,3]"),
    layer("conv_transpose", "nn.ConvTranspose(5, (3,), strides=(2,))", "x: f32[b,l,4]"),
    layer("conv_transpose_2d", "nn.ConvTranspose(5, (2, 2), strides=(2, 2))", "x: f32[b,s,s,3]"),
    layer("conv_local", "nn.ConvLocal(5, (3,), padding='VALID')", "x: f32[b,9,4]"),
    layer("embed", "nn.Embed(11, 6)", "x: i32[b,l]"),
    layer("embed_attend", "nn.Embed(11, 6)", "x: f32[b,6]", "layer.apply(params, x, method='attend')",
          init="np.zeros((2, 3), np.int32)"),
    layer("layer_norm", "nn.LayerNorm()", "x: f32[b,l,4]"),
    layer("rms_norm", "nn.RMSNorm()", "x: f32[b,l,4]"),
    layer("group_norm", "nn.GroupNorm(num_groups=2)", "x: f32[b,s,s,4]"),
    layer("instance_norm", "nn.InstanceNorm()", "x: f32[b,s,s,3]"),
    layer("weight_norm", "nn.WeightNorm(nn.Dense(6))"),
    layer("batch_norm_running", "nn.BatchNorm(use_running_average=True)"),
    layer("batch_norm_training", "nn.BatchNorm(use_running_average=False)", "x: f32[b,4]",
          "layer.apply(params, x, mutable=['batch_stats'])[0]"),
    layer("dropout_off", "nn.Dropout(0.3, deterministic=True)", call="layer.apply({}, x) * 2"),
    layer("attention", "nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=8)", "x: f32[b,l,6]"),
    layer("attention_masked", "nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=8)",
          "x: f32[b,l,6]", "layer.apply(params, x, mask=nn.make_causal_mask(x[..., 0]))"),
    layer("attention_self", "nn.SelfAttention(num_heads=2)", "x: f32[b,l,6]"),
    layer("attention_cross", "nn.MultiHeadDotProductAttention(num_heads=2)",
          "x: f32[b,l,6]; y: f32[b,5,6]", "layer.apply(params, x, y)", init="x, y"),
    layer("lstm", f"nn.RNN(nn.OptimizedLSTMCell(5, {LECUN}))", "x: f32[b,l,4]"),
    layer("lstm_plain", f"nn.RNN(nn.LSTMCell(5, {LECUN}))", "x: f32[b,l,4]"),
    layer("gru", f"nn.RNN(nn.GRUCell(5, {LECUN}))", "x: f32[b,l,4]"),
    layer("gru_reversed", f"nn.RNN(nn.GRUCell(5, {LECUN}), reverse=True, keep_order=True)", "x: f32[b,l,4]"),
    layer("mgu", f"nn.RNN(nn.MGUCell(5, {LECUN}))", "x: f32[b,l,4]"),
    layer("simple_cell", f"nn.RNN(nn.SimpleCell(5, {LECUN}))", "x: f32[b,l,4]"),
    layer("bidirectional", f"nn.Bidirectional(nn.RNN(nn.GRUCell(5, {LECUN})), nn.RNN(nn.GRUCell(5, {LECUN})))",
          "x: f32[b,l,4]"),
    layer("lstm_lengths", f"nn.RNN(nn.LSTMCell(5, {LECUN}))", "x: f32[b,l,4]; lengths: i32[b]",
          "layer.apply(params, x, seq_lengths=lengths)", dtypes=("x",)),
    layer("prelu", "nn.PReLU()"),
    layer("stack_mlp", "nn.Sequential([nn.Dense(6), nn.relu, nn.Dense(3)])"),
    layer("stack_norm", "nn.Sequential([nn.Dense(6), nn.LayerNorm(), nn.gelu, nn.Dense(3)])", "x: f32[b,l,4]"),
    layer("stack_conv", "nn.Sequential([nn.Conv(4, (3, 3)), nn.relu, lambda x: nn.avg_pool(x, (2, 2), (2, 2)), "
          "lambda x: x.mean((1, 2)), nn.Dense(3)])", "x: f32[b,s,s,3]"),
    layer("stack_text", "nn.Sequential([nn.Embed(11, 6), nn.LayerNorm(), lambda x: x.mean(1), nn.Dense(3)])",
          "x: i32[b,l]"),
    layer("stack_rnn", f"nn.Sequential([nn.Embed(11, 6), nn.RNN(nn.GRUCell(5, {LECUN})), nn.Dense(3)])",
          "x: i32[b,l]"),
    layer("stack_transformer", "nn.Sequential([nn.Embed(11, 6), nn.SelfAttention(num_heads=2), nn.LayerNorm(), "
          "nn.Dense(6), nn.gelu, nn.Dense(11)])", "x: i32[b,l]"),
]

PLAIN = [
    Recipe("max_pool", "x: f32[b,s,s,3]", "nn.max_pool(x, (2, 2), (2, 2))"),
    Recipe("max_pool_same", "x: f32[b,s,s,3]", "nn.max_pool(x, (3, 3), (2, 2), padding='SAME')"),
    Recipe("avg_pool", "x: f32[b,s,s,3]", "nn.avg_pool(x, (2, 2), (2, 2))"),
    Recipe("avg_pool_same", "x: f32[b,l,3]", "nn.avg_pool(x, (3,), (1,), padding='SAME', count_include_pad=False)"),
    Recipe("min_pool", "x: f32[b,l,3]", "nn.pooling.min_pool(x, (2,), (2,))", skip=("l_6_1",)),
    Recipe("attention_weights", "q: f32[b,l,2,4]; k: f32[b,l,2,4]", "nn.dot_product_attention_weights(q, k)"),
    Recipe("dot_product_attention", "q: f32[b,l,2,4]; k: f32[b,l,2,4]; v: f32[b,l,2,4]",
           "nn.dot_product_attention(q, k, v)"),
    Recipe("causal_mask", "x: i32[b,l]", "nn.make_causal_mask(x) * x[:, None, :, None]"),
    Recipe("attention_mask", "x: i32[b,l]", "nn.make_attention_mask(x > 0, x > 0) * 1"),
    Recipe("softmax", "x: f32[b,l]", "nn.softmax(x)"),
    Recipe("one_hot", "x: i32[b,l]", "nn.one_hot(x, 5)"),
    Recipe("dropout_on", "key: u32[2]; x: f32[b,4]",
           "nn.Dropout(0.3, deterministic=False).apply({}, x, rngs={'dropout': key})"),
    Recipe("glu", "x: f32[b,l,4]", "nn.glu(x)"),
]

RECIPES = every_use(LAYERS, weights="params") + PLAIN
