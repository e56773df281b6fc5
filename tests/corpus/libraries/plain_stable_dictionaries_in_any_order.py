# cause: stable
# reason: the keys of a dict are sorted, whichever way it was filled; what is static has an equality of its own

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Options:
    layers: tuple = (4, 8, 2)
    activation: str = "tanh"


@jax.tree_util.register_pytree_node_class
class State:
    def __init__(self, params, step):
        self.params, self.step = params, step

    def tree_flatten(self):
        return (self.params, self.step), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


@functools.partial(jax.jit, static_argnames="options")
def train_step(state, batch, options):
    def loss_fn(params):
        x = batch["inputs"]
        for number in range(len(options.layers) - 1):
            x = getattr(jnp, options.activation)(x @ params[f"layer{number}"])
        return jnp.mean((x - batch["targets"]) ** 2 * batch["weights"][:, None])

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return State(jax.tree.map(lambda p, g: p - 0.1 * g, state.params, grads), state.step + 1), loss


widths = Options().layers
params = {f"layer{n}": np.ones((a, b), np.float32) for n, (a, b) in reversed(list(enumerate(zip(widths, widths[1:]))))}
state = State(params, np.int32(0))
parts = {"inputs": np.ones((5, 4), np.float32), "targets": np.zeros((5, 2), np.float32), "weights": np.ones(5, np.float32)}
for order in (list(parts), sorted(parts, reverse=True), ["targets", "weights", "inputs"]):
    state, loss = train_step(state, {name: parts[name] for name in order}, options=Options(layers=(4, 8, 2)))
    print(int(state.step), float(loss))
