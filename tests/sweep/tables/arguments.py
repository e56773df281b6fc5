"""Arguments that come and go, in dicts, lists and as None; Python numbers in the place of arrays; data of
another structure."""

from plan import Recipe

IMPORTS = "import flax.linen as nn\nimport optax"


HALF = "array('f32', 4)", "array('f16', 4)"


def value(change, name, arguments, body, **more):
    return Recipe(f"{name}", arguments, body, change=change, **more)


WEAK = """
times: x * rate
plus: x + rate
minus_times: x - rate * x
divided: x / rate
compared: jnp.where(x > rate, x, 0.0)
powered: x ** rate
maximum: jnp.maximum(x, rate)
clipped: jnp.clip(x, -rate, rate)
softmax: jax.nn.softmax(x / rate)
mixed: rate * x + (1 - rate) * x[::-1]
summed: jnp.sum(x) * rate
full: jnp.full((4,), rate) + x[:4]
in_scan: jax.lax.scan(lambda c, v: (c * 0.5 + rate * v, c), 0.0, x)[1]
in_grad: jax.grad(lambda x: rate * jnp.sum(x ** 2))(x)
in_vmap: jax.vmap(lambda v: v * rate)(x)
in_while: jax.lax.while_loop(lambda c: jnp.sum(c) < 100.0, lambda c: c * (1 + rate), x)
in_cond: jax.lax.cond(x[0] > 0, lambda v: v * rate, lambda v: v, x)
"""

OPTIONAL = """
mask: x * mask if mask is not None else x
mask_where: jnp.where(mask > 0, x, 0.0) if mask is not None else x
mask_mean: jnp.sum(x * mask) / jnp.sum(mask) if mask is not None else jnp.mean(x)
mask_add: x + (0 if mask is None else mask)
mask_softmax: jax.nn.softmax(x if mask is None else x - 1e9 * (1 - mask))
mask_loss: jnp.average(x ** 2, weights=mask)
mask_grad: jax.grad(lambda x: jnp.sum(x ** 2 * (1.0 if mask is None else mask)))(x)
"""

DICT = """
dict_sum: sum(jnp.sum(v) for v in batch.values())
dict_mean: jnp.mean(jnp.concatenate([v.reshape(-1) for v in batch.values()]))
dict_doubled: jax.tree.map(lambda v: v * 2, batch)
dict_norm: optax.tree_utils.tree_l2_norm(batch)
dict_weighted: jnp.sum(batch['x'] * batch.get('z', 1.0))
dict_if: jnp.sum(batch['x'] * batch['z']) if 'z' in batch else jnp.sum(batch['x'])
dict_scaled: jax.tree.map(lambda v: v / jnp.max(v), batch)
dict_grad: jax.grad(lambda b: sum(jnp.sum(v ** 2) for v in b.values()))(batch)
dict_sgd: jax.tree.map(lambda v: v - 0.1 * v, batch)
"""

LISTS = """
list_sum: sum(jnp.sum(v) for v in items)
list_stack: jnp.stack(items).mean(0)
list_doubled: [v * 2 for v in items]
list_chain: functools.reduce(lambda a, b: jnp.tanh(a + b), items)
list_grad: jax.grad(lambda items: sum(jnp.sum(v ** 2) for v in items))(items)
"""


def lines(text):
    return [line.split(": ", 1) for line in text.strip().splitlines()]


def recipes():
    for name, body in lines(WEAK):
        for kind in ("f32", "bf16"):
            yield value("weak_to_array", f"weak_{name}_{kind}",
                        f"x := array('{kind}', 8) => array('{kind}', 8); rate := 0.5 => np.float32(0.5)", body)
        yield value("array_to_weak", f"weak_{name}",
                    "x := array('f32', 8) => array('f32', 8); rate := np.float32(0.5) => 0.5", body)
        yield value("int_to_float", f"weak_{name}",
                    "x := array('f32', 8) => array('f32', 8); rate := 2 => 2.5", body)
        yield value("scalar_to_vector", f"weak_{name}" if "where" not in body else f"weak_{name}_v",
                    "x := array('f32', 8) => array('f32', 8); rate := np.float32(0.5) => array('f32', 8)", body)
    for name, body in lines(OPTIONAL):
        yield value("none_to_array", name, "x := array('f32', 8) => array('f32', 8); mask := None => array('f32', 8)", body)
        yield value("array_to_none", name, "x := array('f32', 8) => array('f32', 8); mask := array('f32', 8) => None", body)
    for name, body in lines(DICT):
        with_z = "{'x': array('f32', 8), 'y': array('f32', 4), 'z': array('f32', 8)}"
        without = "{'x': array('f32', 8), 'y': array('f32', 4)}"
        yield value("key_added", name, f"batch := {without} => {with_z}", body)
        yield value("key_gone", name, f"batch := {with_z} => {without}", body)
        yield value("key_shape", name, f"batch := {with_z} => {with_z.replace('8', '5')}", body)
        yield value("key_dtype", name, f"batch := {with_z} => {with_z.replace(HALF[0], HALF[1])}", body)
    for name, body in lines(LISTS):
        two = "[array('f32', 8), array('f32', 8)]"
        three = "[array('f32', 8), array('f32', 8), array('f32', 8)]"
        yield value("item_added", name, f"items := {two} => {three}", body)
        yield value("item_gone", name, f"items := {three} => {two}", body)
        yield value("items_shape", name, f"items := {two} => {two.replace('8', '5')}", body)


RECIPES = list(recipes())
