# cause: edit
# old: return rows.astype(np.float32)
# new: return rows.astype(np.float16)
# program: jit_train_step
# run: write float32
# run: train
# run: write float16
# run: train
# reason: the loader is edited to give halves; it is a module of its own, far from the step

import pathlib
import sys

if sys.argv[1] == "write":
    pathlib.Path("spectra.py").write_text(f'''import numpy as np

SAMPLES = 9


def measured(seed):
    rng = np.random.default_rng(seed)
    rows = rng.gamma(2.0, size=(4, SAMPLES))
    return rows.astype(np.{sys.argv[2]})


def batches(count):
    for seed in range(count):
        yield measured(seed)
''')
    raise SystemExit

sys.path.insert(0, str(pathlib.Path.cwd()))
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

import spectra


class Denoiser(eqx.Module):
    down: eqx.nn.Conv1d
    up: eqx.nn.Conv1d

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.down = eqx.nn.Conv1d(1, 4, 3, padding=1, key=a)
        self.up = eqx.nn.Conv1d(4, 1, 3, padding=1, key=b)

    def __call__(self, x):
        return self.up(jax.nn.gelu(self.down(x[None])))[0]


optimizer = optax.adam(1e-3)


@eqx.filter_jit
def train_step(model, opt_state, clean, key):
    def loss_fn(model):
        noisy = clean + 0.1 * jax.random.normal(key, clean.shape)
        return jnp.mean((jax.vmap(model)(noisy) - clean) ** 2)

    grads = eqx.filter_grad(loss_fn)(model)
    updates, opt_state = optimizer.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state


model = eqx.filter_jit(Denoiser)(jax.random.key(0))
opt_state = eqx.filter_jit(optimizer.init)(eqx.filter(model, eqx.is_array))
for step, clean in enumerate(spectra.batches(3)):
    model, opt_state = train_step(model, opt_state, clean, jax.random.key(step))  # <- call
