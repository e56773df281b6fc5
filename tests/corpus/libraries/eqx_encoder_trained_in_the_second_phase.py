# cause: arguments
# reason: the encoder's weights move from the frozen half of the model to the trained one

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Model(eqx.Module):
    encoder: eqx.nn.Linear
    head: eqx.nn.Linear

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.encoder = eqx.nn.Linear(9, 12, key=a)
        self.head = eqx.nn.Linear(12, 2, key=b)

    def __call__(self, x):
        return self.head(jnp.tanh(self.encoder(x)))


def split(model, train_encoder):
    spec = jax.tree.map(eqx.is_array, model)
    if not train_encoder:
        spec = eqx.tree_at(lambda m: m.encoder, spec, replace_fn=lambda part: jax.tree.map(lambda _: False, part))
    return eqx.partition(model, spec)


@eqx.filter_jit
def make_step(trained, frozen, opt_state, x, y):
    @eqx.filter_value_and_grad
    def loss_fn(trained):
        model = eqx.combine(trained, frozen)
        return ((jax.vmap(model)(x) - y) ** 2).mean()

    loss, grads = loss_fn(trained)
    updates, opt_state = optimizer.update(grads, opt_state, trained)
    return eqx.apply_updates(trained, updates), opt_state, loss


optimizer = optax.sgd(0.05)
model = eqx.filter_jit(Model)(jax.random.key(8))
rng = np.random.default_rng(4)
for phase, train_encoder in (("head", False), ("all", True)):
    trained, frozen = split(model, train_encoder)
    opt_state = optimizer.init(trained)
    for _ in range(3):
        x = rng.normal(size=(6, 9)).astype(np.float32)
        trained, opt_state, loss = make_step(trained, frozen, opt_state, x, x[:, :2])  # <- cause
    model = eqx.combine(trained, frozen)
    print(phase, float(loss))
