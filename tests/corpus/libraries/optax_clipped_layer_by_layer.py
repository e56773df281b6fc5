# cause: structure
# program: jit__train_step
# reason: the setting clips each layer's gradient by itself instead of all of them together

import jax
import jax.numpy as jnp
import numpy as np
import optax

CLIPPING = {"global": optax.clip_by_global_norm, "block": optax.clip_by_block_rms}


def loss_fn(params, x, y):
    for layer in params[:-1]:
        x = jax.nn.gelu(x @ layer["w"] + layer["b"])
    return jnp.mean((x @ params[-1]["w"] + params[-1]["b"] - y) ** 2)


class Trainer:
    def __init__(self, params, clipping):
        self.optimizer = optax.chain(CLIPPING[clipping](1.0), optax.sgd(0.1))
        self.params, self.state = params, self.optimizer.init(params)
        self.train_step = jax.jit(self._train_step)

    def _train_step(self, params, state, x, y):
        grads = jax.grad(loss_fn)(params, x, y)
        updates, state = self.optimizer.update(grads, state, params)  # <- cause
        return optax.apply_updates(params, updates), state

    def fit(self, x, y, steps):
        for _ in range(steps):
            self.params, self.state = self.train_step(self.params, self.state, x, y)  # <- call
        return self.params


params = [{"w": np.ones(shape, np.float32), "b": np.zeros(shape[1], np.float32)}
          for shape in ((3, 5), (5, 5), (5, 2))]
x, y = np.ones((6, 3), np.float32), np.zeros((6, 2), np.float32)
for clipping in ("global", "block"):
    params = Trainer(params, clipping).fit(x, y, 2)
