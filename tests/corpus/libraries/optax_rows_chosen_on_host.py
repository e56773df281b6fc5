# cause: size
# old: 4
# new: 3
# advice: mask | nonzero | fixed
# reason: a boolean mask of NumPy picks the hard rows while tracing, so how many there are is baked in

import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
x = rng.normal(size=(6, 3)).astype(np.float32)
labels = rng.integers(0, 2, 6).astype(np.int32)
params = np.zeros((3, 2), np.float32)


def make_update(hard):
    @jax.jit
    def update(params, x, labels):
        def loss_fn(params):
            logits = jnp.tanh(x @ params)
            chosen = logits[hard]  # <- cause
            return optax.softmax_cross_entropy_with_integer_labels(chosen, labels[hard]).mean()

        return params - 0.1 * jax.grad(loss_fn)(params)

    return update


for hard in (np.array([1, 1, 0, 1, 1, 0], bool), np.array([0, 1, 0, 1, 1, 0], bool)):
    params = make_update(hard)(params, x, labels)  # <- call
