# cause: arguments
# pattern: subsets
# reason: each batch has only the properties that were measured of its molecules

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

PROPERTIES = ("charge", "dipole", "energy")


class Net(eqx.Module):
    body: eqx.nn.MLP
    heads: dict

    def __init__(self, key):
        keys = jax.random.split(key, 1 + len(PROPERTIES))
        self.body = eqx.nn.MLP(5, 6, 8, 1, key=keys[0])
        self.heads = {name: eqx.nn.Linear(6, 1, key=key) for name, key in zip(PROPERTIES, keys[1:])}


@eqx.filter_jit
def train_step(model, features, measured):
    def loss_fn(model):
        hidden = jax.vmap(model.body)(features)
        loss = 0.0
        for name in measured:
            predicted = jax.vmap(model.heads[name])(hidden)[:, 0]
            loss = loss + jnp.mean((predicted - measured[name]) ** 2)
        return loss

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -0.05 * g, grads)), loss


rng = np.random.default_rng(0)
model = Net(jax.random.key(0))
for names in (("energy",), ("energy", "dipole"), ("charge", "energy"), PROPERTIES):
    features = rng.normal(size=(4, 5)).astype(np.float32)
    measured = {name: rng.normal(size=4).astype(np.float32) for name in names}
    model, loss = train_step(model, features, measured)  # <- cause
    print(names, float(loss))
