# cause: stable
# reason: a frozen configuration that is made anew and equal, and a model whose static fields stay

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclasses.dataclass(frozen=True)
class Config:
    rate: float = 0.1
    smoothing: float = 0.05


class Net(eqx.Module):
    layers: list
    activation: callable = eqx.field(static=True)

    def __init__(self, key):
        keys = jax.random.split(key, 3)
        self.layers = [eqx.nn.Linear(4, 8, key=keys[0]), eqx.nn.LayerNorm(8),
                       eqx.nn.Linear(8, 3, key=keys[1])]
        self.activation = jax.nn.gelu

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)


@eqx.filter_jit
def make_step(model, opt_state, x, y, config):
    def loss_fn(model):
        targets = optax.smooth_labels(jax.nn.one_hot(y, 3), config.smoothing)
        return optax.softmax_cross_entropy(jax.vmap(model)(x), targets).mean()

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, opt_state = optax.sgd(config.rate, momentum=0.9).update(grads, opt_state, model)
    return eqx.apply_updates(model, updates), opt_state, loss


rng = np.random.default_rng(0)
model = Net(jax.random.key(0))
opt_state = optax.sgd(0.1, momentum=0.9).init(eqx.filter(model, eqx.is_array))
for step in range(4):
    x, y = rng.normal(size=(4, 4)).astype(np.float32), rng.integers(0, 3, 4)
    model, opt_state, loss = make_step(model, opt_state, x, jnp.asarray(y), Config(rate=0.1))
print(float(loss))
