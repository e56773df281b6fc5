# cause: dtype
# subject: model...
# old: f32...
# new: bf16...
# reason: the checkpoint was exported in bfloat16, and the evaluation of what is loaded from it finds that

import pathlib
import pickle
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Mlp(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(5, 8, rngs=rngs)
        self.second = nnx.Linear(8, 2, rngs=rngs)

    def __call__(self, x):
        return self.second(nnx.silu(self.first(x)))


@nnx.jit
def evaluate(model, x, y):
    error = model(x).astype(jnp.float32) - y
    return jnp.mean(error ** 2), jnp.max(jnp.abs(error))


def export(model, path):
    state = nnx.to_pure_dict(nnx.state(model, nnx.Param))
    path.write_bytes(pickle.dumps(jax.tree.map(lambda p: np.asarray(p, jnp.bfloat16), state)))


def load(model, path):
    state = nnx.state(model, nnx.Param)
    nnx.replace_by_pure_dict(state, pickle.loads(path.read_bytes()))
    nnx.update(model, state)


def report(model, batches):
    for x, y in batches:
        mean, worst = evaluate(model, x, y)  # <- cause
    print(f"{float(mean):.3f} {float(worst):.3f}")


rng = np.random.default_rng(0)
batches = [(rng.normal(size=(4, 5)).astype(np.float32), np.ones((4, 2), np.float32)) for _ in range(3)]
model = nnx.jit(lambda: Mlp(nnx.Rngs(0)))()
report(model, batches)
path = pathlib.Path(tempfile.mkdtemp()) / "weights.pickle"
export(model, path)
load(model, path)
report(model, batches)  # <- call
