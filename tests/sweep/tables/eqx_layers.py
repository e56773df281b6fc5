"""Layers of equinox, mapped over a batch as its users do."""

from plan import Recipe
from uses import every_use

IMPORTS = "import equinox as eqx\nimport optax"


def layer(name, constructor, arguments="x: f32[b,4]", call="jax.vmap(model)(x)", **more):
    setup = f"whole = eqx.filter_eval_shape(lambda key: {constructor}, jax.random.key(0))\n" \
            "shapes, rest = eqx.partition(whole, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))"
    if "i32" in arguments:
        more["skip"] = ("i32_f32",) + more.get("skip", ())  # an index is not a float
    if "Conv" in constructor:
        more["dtypes"] = ()  # the kernel must have the dtype of the picture
    return Recipe(f"eqx_{name}", f"weights = made(lambda key: shapes); {arguments}",
                  f"(lambda model: {call})(eqx.combine(weights, rest))", setup, **more)


LAYERS = [
    layer("linear", "eqx.nn.Linear(4, 6, key=key)"),
    layer("linear_without_bias", "eqx.nn.Linear(4, 6, use_bias=False, key=key)"),
    layer("linear_sequence", "eqx.nn.Linear(4, 6, key=key)", "x: f32[b,l,4]", "jax.vmap(jax.vmap(model))(x)"),
    layer("mlp", "eqx.nn.MLP(4, 3, 8, 2, key=key)"),
    layer("conv_1d", "eqx.nn.Conv1d(3, 5, 3, padding=1, key=key)", "x: f32[b,3,l]"),
    layer("conv_2d", "eqx.nn.Conv2d(3, 5, 3, key=key)", "x: f32[b,3,s,s]"),
    layer("conv_2d_strided", "eqx.nn.Conv2d(3, 5, 3, stride=2, key=key)", "x: f32[b,3,s,s]"),
    layer("conv_transpose", "eqx.nn.ConvTranspose1d(3, 5, 3, stride=2, key=key)", "x: f32[b,3,l]"),
    layer("layer_norm", "eqx.nn.LayerNorm(4)"),
    layer("rms_norm", "eqx.nn.RMSNorm(4)"),
    layer("group_norm", "eqx.nn.GroupNorm(2, 4)", "x: f32[b,4,l]"),
    layer("embedding", "eqx.nn.Embedding(11, 6, key=key)", "x: i32[b,l]", "jax.vmap(jax.vmap(model))(x)"),
    layer("attention", "eqx.nn.MultiheadAttention(2, 6, key=key)", "x: f32[b,l,6]", "jax.vmap(model)(x, x, x)"),
    layer("attention_masked", "eqx.nn.MultiheadAttention(2, 6, key=key)", "x: f32[b,l,6]",
          "jax.vmap(lambda v: model(v, v, v, mask=jnp.tril(jnp.ones((v.shape[0], v.shape[0]), bool))))(x)"),
    layer("gru_cell", "eqx.nn.GRUCell(4, 5, key=key)", "x: f32[b,l,4]",
          "jax.vmap(lambda v: jax.lax.scan(lambda h, i: (model(i, h), None), jnp.zeros(5), v)[0])(x)"),
    layer("lstm_cell", "eqx.nn.LSTMCell(4, 5, key=key)", "x: f32[b,l,4]",
          "jax.vmap(lambda v: jax.lax.scan(lambda h, i: (model(i, h), None), (jnp.zeros(5), jnp.zeros(5)), v)[0][0])(x)"),
    layer("dropout_off", "eqx.nn.Sequential([eqx.nn.Linear(4, 6, key=key), eqx.nn.Dropout(0.3, inference=True)])"),
    layer("max_pool", "eqx.nn.Sequential([eqx.nn.Conv2d(3, 4, 3, key=key), eqx.nn.MaxPool2d(2, 2)])", "x: f32[b,3,s,s]"),
    layer("avg_pool", "eqx.nn.Sequential([eqx.nn.Conv2d(3, 4, 3, key=key), eqx.nn.AvgPool2d(2, 2)])", "x: f32[b,3,s,s]"),
    layer("adaptive_pool", "eqx.nn.Sequential([eqx.nn.Conv1d(3, 4, 3, key=key), eqx.nn.AdaptiveAvgPool1d(2)])",
          "x: f32[b,3,l]", skip=("l_6_1",)),
    layer("prelu", "eqx.nn.PReLU()"),
    layer("rotary", "eqx.nn.RotaryPositionalEmbedding(4)", "x: f32[b,l,4]"),
    layer("stack", "eqx.nn.Sequential([eqx.nn.Linear(4, 6, key=key), eqx.nn.Lambda(jax.nn.relu), eqx.nn.LayerNorm(6), "
          "eqx.nn.Linear(6, 3, key=key)])"),
    layer("spatial", "eqx.nn.Sequential([eqx.nn.Conv2d(3, 4, 3, key=key), eqx.nn.Lambda(lambda v: v.mean((1, 2))), "
          "eqx.nn.Linear(4, 3, key=key)])", "x: f32[b,3,s,s]"),
]

RECIPES = every_use(LAYERS, weights="weights")
