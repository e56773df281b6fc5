# cause: structure
# program: jit_train_step
# advice: two programs | keep | choose
# reason: the gradient of the target is stopped in the warm-up only; without that its backward pass is traced

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Siamese(eqx.Module):
    online: eqx.nn.MLP
    target: eqx.nn.MLP
    freeze_target: bool = eqx.field(static=True)

    def __init__(self, key, freeze_target=True):
        a, b = jax.random.split(key)
        self.online = eqx.nn.MLP(5, 3, 8, 1, key=a)
        self.target = eqx.nn.MLP(5, 3, 8, 1, key=b)
        self.freeze_target = freeze_target

    def loss(self, left, right):
        predicted = jax.vmap(self.online)(left)
        wanted = jax.vmap(self.target)(right)  # <- cause
        if self.freeze_target:
            wanted = jax.lax.stop_gradient(wanted)
        return jnp.mean((predicted - wanted) ** 2)


optimizer = optax.sgd(0.05)


@eqx.filter_jit
def train_step(model, opt_state, left, right):
    grads = eqx.filter_grad(lambda model: model.loss(left, right))(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state


def views(rng):
    x = rng.normal(size=(6, 5))
    return [(x + 0.1 * rng.normal(size=x.shape)).astype(np.float32) for _ in range(2)]


rng = np.random.default_rng(0)
model = eqx.filter_jit(Siamese)(jax.random.key(0))
opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
for epoch in range(4):
    if epoch == 2:
        template = eqx.filter_eval_shape(Siamese, jax.random.key(0), freeze_target=False)
        model = jax.tree.unflatten(jax.tree.structure(template), jax.tree.leaves(model))
    for _ in range(2):
        model, opt_state = train_step(model, opt_state, *views(rng))  # <- call
