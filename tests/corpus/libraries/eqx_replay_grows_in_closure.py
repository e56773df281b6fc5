# cause: size
# old: 4
# new: 6
# reason: the step is made anew in each round and closes over a buffer that has grown

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
model = eqx.nn.MLP(3, 1, 8, 1, key=jax.random.key(0))
buffer = []
for round_ in range(2):
    buffer.extend(rng.normal(size=(2 if buffer else 4, 3)).astype(np.float32))
    replay = np.stack(buffer)

    @eqx.filter_jit
    def make_step(model):
        def loss(model):
            return jnp.mean(jax.vmap(model)(replay) ** 2)  # <- cause

        grads = eqx.filter_grad(loss)(model)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, grads))

    for _ in range(2):
        model = make_step(model)  # <- call
