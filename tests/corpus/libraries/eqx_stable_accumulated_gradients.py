# cause: stable
# reason: gradients of three micro-batches are summed on the host, and the rate is an array

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Net(eqx.Module):
    first: eqx.nn.Linear
    norm: eqx.nn.LayerNorm
    last: eqx.nn.Linear
    scale: float = eqx.field(static=True)

    def __init__(self, key):
        one, two = jax.random.split(key)
        self.first = eqx.nn.Linear(4, 8, key=one)
        self.norm = eqx.nn.LayerNorm(8)
        self.last = eqx.nn.Linear(8, 2, key=two)
        self.scale = 0.5

    def __call__(self, x):
        return self.scale * self.last(jax.nn.gelu(self.norm(self.first(x))))


@eqx.filter_jit
def gradients(model, x, y):
    def loss_fn(model):
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    return eqx.filter_value_and_grad(loss_fn)(model)


@eqx.filter_jit
def add(total, grads):
    return jax.tree.map(jnp.add, total, grads)


@eqx.filter_jit
def apply(model, total, rate):
    return eqx.apply_updates(model, jax.tree.map(lambda g: -rate * g, total))


model = Net(jax.random.key(0))
x, y = np.ones((12, 4), np.float32), np.zeros((12, 2), np.float32)
for step in range(3):
    total = jax.tree.map(jnp.zeros_like, eqx.filter(model, eqx.is_array))
    for start in (0, 4, 8):
        loss, grads = gradients(model, x[start:start + 4], y[start:start + 4])
        total = add(total, grads)
    model = apply(model, total, jnp.asarray(0.1 / (1 + step), jnp.float32))
    print(step, float(loss))
