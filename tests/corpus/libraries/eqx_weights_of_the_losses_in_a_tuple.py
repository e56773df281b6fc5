# cause: constant
# subject: weights[1]
# old: 0.5
# new: 0.125
# reason: filter_jit makes the Python numbers of the tuple static, and one of them is lowered

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Net(eqx.Module):
    body: eqx.nn.MLP

    def __call__(self, point):
        return self.body(point)


def residual(model, point):
    return jax.grad(lambda p: model(p)[0])(point)[0] - point[1]


@eqx.filter_jit
def step(model, inside, border, weights):
    def loss_fn(model):
        interior = jnp.mean(jax.vmap(lambda point: residual(model, point))(inside) ** 2)
        boundary = jnp.mean(jax.vmap(model)(border) ** 2)
        first, second = weights
        return first * interior + second * boundary  # <- cause

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -0.01 * g, grads)), loss


model = eqx.filter_jit(lambda key: Net(eqx.nn.MLP(2, 1, 8, 1, jax.nn.softplus, key=key)))(jax.random.key(0))
inside, border = np.ones((6, 2), np.float32), np.zeros((4, 2), np.float32)
for weights in ((2.0, 0.5), (2.0, 0.5), (2.0, 0.125)):
    model, loss = step(model, inside, border, weights)  # <- call
