"""Layers of haiku."""

from plan import Recipe
from uses import every_use

IMPORTS = "import haiku as hk\nimport optax"


def layer(name, constructor, arguments="x: f32[b,4]", call="MODULE(x)", **more):
    """A module in a transformed function; its parameters are named by haiku."""
    inputs = ", ".join(part.split(":")[0].strip() for part in arguments.split(";"))
    if "i32" in arguments:
        more["skip"] = ("i32_f32",) + more.get("skip", ())  # an index is not a float
    if "Conv" in constructor:
        more["dtypes"] = ()  # the kernel must have the dtype of the picture
    return Recipe(f"hk_{name}", f"params = made(layer.init, {inputs}); {arguments}",
                  f"layer.apply(params, None, {inputs})",
                  f"layer = hk.transform(lambda {inputs}: {call.replace('MODULE', constructor)})", **more)


LAYERS = [
    layer("linear", "hk.Linear(6)"),
    layer("linear_sequence", "hk.Linear(6)", "x: f32[b,l,4]"),
    layer("mlp", "hk.nets.MLP([6, 5, 3])"),
    layer("conv_1d", "hk.Conv1D(6, 3)", "x: f32[b,l,4]"),
    layer("conv_2d", "hk.Conv2D(5, 3)", "x: f32[b,s,s,3]"),
    layer("conv_2d_strided", "hk.Conv2D(5, 3, stride=2)", "x: f32[b,s,s,3]"),
    layer("conv_transpose", "hk.Conv1DTranspose(5, 3, stride=2)", "x: f32[b,l,4]"),
    layer("conv_depthwise", "hk.DepthwiseConv2D(2, 3)", "x: f32[b,s,s,3]"),
    layer("layer_norm", "hk.LayerNorm(-1, True, True)", "x: f32[b,l,4]"),
    layer("rms_norm", "hk.RMSNorm(-1)", "x: f32[b,l,4]"),
    layer("group_norm", "hk.GroupNorm(2)", "x: f32[b,s,s,4]"),
    layer("instance_norm", "hk.InstanceNorm(True, True)", "x: f32[b,s,s,3]"),
    layer("embed", "hk.Embed(11, 6)", "x: i32[b,l]"),
    layer("attention", "hk.MultiHeadAttention(2, 4, w_init=hk.initializers.VarianceScaling())", "x: f32[b,l,6]",
          "MODULE(x, x, x)"),
    layer("attention_causal", "hk.MultiHeadAttention(2, 4, w_init=hk.initializers.VarianceScaling())", "x: f32[b,l,6]",
          "MODULE(x, x, x, mask=jnp.tril(jnp.ones((1, 1, x.shape[1], x.shape[1]))))"),
    layer("lstm", "hk.LSTM(5)", "x: f32[b,l,4]",
          "(lambda core: hk.dynamic_unroll(core, x, core.initial_state(x.shape[0]), time_major=False)[0])(MODULE)"),
    layer("gru", "hk.GRU(5)", "x: f32[b,l,4]",
          "(lambda core: hk.dynamic_unroll(core, x, core.initial_state(x.shape[0]), time_major=False)[0])(MODULE)"),
    layer("vanilla", "hk.VanillaRNN(5)", "x: f32[b,l,4]",
          "(lambda core: hk.static_unroll(core, x, core.initial_state(x.shape[0]), time_major=False)[0])(MODULE)",
          sizes=(("b", 0), ("b", 1))),
    layer("max_pool", "hk.Linear(4)", "x: f32[b,s,s,3]", "hk.max_pool(MODULE(x), (2, 2, 1), (2, 2, 1), 'SAME')"),
    layer("avg_pool", "hk.Linear(4)", "x: f32[b,s,s,3]", "hk.avg_pool(MODULE(x), (2, 2, 1), (2, 2, 1), 'VALID')"),
    layer("flatten", "hk.Linear(3)", "x: f32[b,3,2]", "MODULE(hk.Flatten()(x))"),
    layer("text", "hk.Embed(11, 6)", "x: i32[b,l]", "hk.Linear(3)(MODULE(x).mean(1))"),
    layer("block", "hk.Embed(11, 6)", "x: i32[b,l]",
          "(lambda h: hk.LayerNorm(-1, True, True)(h + hk.MultiHeadAttention(2, 3, w_init=hk.initializers.VarianceScaling())(h, h, h)))(MODULE(x))"),
    layer("batch_apply", "hk.Linear(3)", "x: f32[b,l,4]", "hk.BatchApply(MODULE)(x)"),
    layer("one_hot", "hk.Linear(3)", "x: i32[b,l]", "MODULE(hk.one_hot(x, 5))"),
]

RECIPES = every_use(LAYERS, weights="params")
