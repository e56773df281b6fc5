# cause: structure
# reason: of the frozen layer no gradient is computed

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Net(eqx.Module):
    encoder: eqx.nn.Linear
    decoder: eqx.nn.Linear

    def __call__(self, x):
        hidden = jnp.tanh(self.encoder(x))  # <- cause
        return self.decoder(hidden)


def trainable(model, frozen):
    spec = jax.tree.map(eqx.is_inexact_array, model)
    if frozen:
        off = jax.tree.map(lambda _: False, spec.encoder)
        spec = eqx.tree_at(lambda tree: tree.encoder, spec, off)
    return eqx.partition(model, spec)


@eqx.filter_jit
def gradients(diff, static, x):
    def loss(diff):
        return jnp.mean(jax.vmap(eqx.combine(diff, static))(x) ** 2)

    return eqx.filter_grad(loss)(diff)


one, two = jax.random.split(jax.random.key(0))
model = Net(eqx.nn.Linear(4, 6, key=one), eqx.nn.Linear(6, 2, key=two))
x = np.ones((3, 4), np.float32)
for frozen in (False, True):
    diff, static = trainable(model, frozen)
    gradients(diff, static, x)  # <- call
