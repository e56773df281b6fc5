import equinox as eqx
import jax
import jax.numpy as jnp

from quantise import quantise


class Net(eqx.Module):
    layers: list
    head: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 3)
        self.layers = [eqx.nn.Linear(4, 8, key=keys[0]), eqx.nn.Linear(8, 8, key=keys[1])]
        self.head = eqx.nn.Linear(8, 2, key=keys[2])

    def __call__(self, x, bits):
        for layer in self.layers:
            x = quantise(jax.nn.sigmoid(layer(x)), bits)
        return self.head(x)


def loss_fn(model, x, y, bits):
    predicted = jax.vmap(lambda row: model(row, bits))(x)
    return jnp.mean((predicted - y) ** 2)
