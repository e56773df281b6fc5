# cause: edit
# old: @jax.jit
# new: @functools.partial(jax.jit, donate_argnums=(0, 1))
# program: jit_train_step
# run: write jax.jit
# run: train
# run: write "functools.partial(jax.jit, donate_argnums=(0, 1))"
# run: train
# reason: the decorator of the step is edited so that its state is donated

import pathlib
import sys

if sys.argv[1] == "write":
    pathlib.Path("loop.py").write_text(f'''import functools

import jax
import jax.numpy as jnp
import optax
from flax import nnx

TX = optax.sgd(1e-2, momentum=0.9)


class Autoencoder(nnx.Module):
    def __init__(self, features, code, rngs):
        self.encoder = nnx.Linear(features, code, rngs=rngs)
        self.decoder = nnx.Linear(code, features, rngs=rngs)

    def __call__(self, x):
        return self.decoder(nnx.tanh(self.encoder(x)))


def create():
    return nnx.split(Autoencoder(6, 3, nnx.Rngs(0)), nnx.Param)


graph, _ = create()


@{sys.argv[2]}
def train_step(params, opt_state, x):
    def loss_fn(params):
        return jnp.mean((nnx.merge(graph, params)(x) - x) ** 2)

    grads = jax.grad(loss_fn)(params)
    updates, opt_state = TX.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def fit(batches):
    _, params = create()
    opt_state = TX.init(params)
    for x in batches:
        params, opt_state = train_step(params, opt_state, x)
    return params
''')
    raise SystemExit

sys.path.insert(0, str(pathlib.Path.cwd()))
import numpy as np

import loop

rng = np.random.default_rng(0)
loop.fit([rng.normal(size=(4, 6)).astype(np.float32) for _ in range(4)])
