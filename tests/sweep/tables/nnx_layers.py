"""Layers of flax.nnx, split in a graph and a state as its users do under jax.jit."""

from plan import Recipe
from uses import every_use

IMPORTS = "from flax import nnx\nimport optax"


def layer(name, constructor, arguments="x: f32[b,4]", call="model(x)", **more):
    setup = f"graph, shapes = nnx.split(nnx.eval_shape(lambda: {constructor}))"
    if "x: i32" in arguments:
        more["skip"] = ("i32_f32",) + more.get("skip", ())  # an index is not a float
    return Recipe(f"nnx_{name}", f"weights = made(lambda key: shapes); {arguments}",
                  f"(lambda model: {call})(nnx.merge(graph, weights))", setup, **more)


LAYERS = [
    layer("linear", "nnx.Linear(4, 6, rngs=nnx.Rngs(0))"),
    layer("linear_sequence", "nnx.Linear(4, 6, rngs=nnx.Rngs(0))", "x: f32[b,l,4]"),
    layer("linear_general", "nnx.LinearGeneral(4, (2, 3), rngs=nnx.Rngs(0))"),
    layer("einsum", "nnx.Einsum('ab,bc->ac', (4, 6), (6,), rngs=nnx.Rngs(0))"),
    layer("conv", "nnx.Conv(4, 6, (3,), rngs=nnx.Rngs(0))", "x: f32[b,l,4]"),
    layer("conv_2d", "nnx.Conv(3, 5, (3, 3), strides=2, rngs=nnx.Rngs(0))", "x: f32[b,s,s,3]"),
    layer("conv_transpose", "nnx.ConvTranspose(4, 5, (3,), strides=2, rngs=nnx.Rngs(0))", "x: f32[b,l,4]"),
    layer("embed", "nnx.Embed(11, 6, rngs=nnx.Rngs(0))", "x: i32[b,l]"),
    layer("layer_norm", "nnx.LayerNorm(4, rngs=nnx.Rngs(0))", "x: f32[b,l,4]"),
    layer("rms_norm", "nnx.RMSNorm(4, rngs=nnx.Rngs(0))", "x: f32[b,l,4]"),
    layer("group_norm", "nnx.GroupNorm(4, num_groups=2, rngs=nnx.Rngs(0))", "x: f32[b,s,s,4]"),
    layer("batch_norm", "nnx.BatchNorm(4, use_running_average=True, rngs=nnx.Rngs(0))"),
    layer("batch_norm_training", "nnx.BatchNorm(4, rngs=nnx.Rngs(0))"),
    layer("attention", "nnx.MultiHeadAttention(2, 6, decode=False, rngs=nnx.Rngs(0))", "x: f32[b,l,6]"),
    layer("attention_causal", "nnx.MultiHeadAttention(2, 6, decode=False, rngs=nnx.Rngs(0))", "x: f32[b,l,6]",
          "model(x, mask=nnx.make_causal_mask(x[..., 0]))"),
    layer("lstm", "nnx.RNN(nnx.OptimizedLSTMCell(4, 5, recurrent_kernel_init=nnx.initializers.lecun_normal(), rngs=nnx.Rngs(0)))",
          "x: f32[b,l,4]"),
    layer("gru", "nnx.RNN(nnx.GRUCell(4, 5, recurrent_kernel_init=nnx.initializers.lecun_normal(), rngs=nnx.Rngs(0)))",
          "x: f32[b,l,4]"),
    layer("sequential", "nnx.Sequential(nnx.Linear(4, 6, rngs=nnx.Rngs(0)), nnx.relu, nnx.Linear(6, 3, rngs=nnx.Rngs(0)))"),
    layer("dropout_off", "nnx.Sequential(nnx.Linear(4, 6, rngs=nnx.Rngs(0)), nnx.Dropout(0.3, deterministic=True))"),
    layer("lora", "nnx.LoRA(4, 2, 6, rngs=nnx.Rngs(0))"),
]

RECIPES = every_use(LAYERS, weights="weights")
