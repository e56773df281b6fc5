# cause: stable
# reason: the state is split off, kept as numpy, and merged into a new model

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(4, 4, rngs=rngs)

    def __call__(self, x):
        return nnx.relu(self.layer(x))


@nnx.jit
def loss(model, x):
    return jnp.mean(model(x) ** 2)


x = np.ones((3, 4), np.float32)
model = Net(nnx.Rngs(0))
before = float(loss(model, x))
saved = jax.tree.map(np.asarray, nnx.to_pure_dict(nnx.state(model)))
abstract = nnx.eval_shape(lambda: Net(nnx.Rngs(0)))
graphdef, state = nnx.split(abstract)
nnx.replace_by_pure_dict(state, saved)
model = nnx.merge(graphdef, state)
assert before == float(loss(model, x))
