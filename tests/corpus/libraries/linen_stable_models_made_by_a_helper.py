# cause: stable

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class Features(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.width)(x))


class Head(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(6)(x)))


def create(net, sample, rate):
    variables = jax.jit(net.init)(jax.random.key(0), sample)
    tx = optax.adam(rate)
    return variables["params"], tx, jax.jit(tx.init)(variables["params"])


narrow, wide, head = Features(4), Features(8), Head()
narrow_params, narrow_tx, narrow_state = create(narrow, jnp.ones((2, 3)), 1e-3)
wide_params, wide_tx, wide_state = create(wide, jnp.ones((2, 3)), 1e-3)
head_params, head_tx, head_state = create(head, jnp.ones((2, 12)), 1e-2)


@jax.jit
def train_step(params, states, x, y):
    def loss(params):
        features = [narrow.apply({"params": params[0]}, x), wide.apply({"params": params[1]}, x)]
        out = head.apply({"params": params[2]}, jnp.concatenate(features, axis=-1))
        return jnp.mean((out - y) ** 2)

    value, grads = jax.value_and_grad(loss)(params)
    txs = narrow_tx, wide_tx, head_tx
    steps = [tx.update(grad, state) for tx, grad, state in zip(txs, grads, states)]
    params = tuple(optax.apply_updates(old, update) for old, (update, _) in zip(params, steps))
    return params, tuple(state for _, state in steps), value


params = narrow_params, wide_params, head_params
states = narrow_state, wide_state, head_state
for step in range(5):
    x = jnp.full((16, 3), step / 5)
    params, states, value = train_step(params, states, x, x.sum(1, keepdims=True))
print(float(value))
