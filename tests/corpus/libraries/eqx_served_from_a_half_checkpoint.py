# cause: dtype
# old: f32[8,4]
# new: f16[8,4]
# run: train
# run: serve
# program: jit_forward
# advice: astype | dtype
# reason: the exported weights are half as large to save disk, and are served as they are read

import pathlib
import sys

import equinox as eqx
import jax
import numpy as np

EXPORT = pathlib.Path("weights.npz")


class Scorer(eqx.Module):
    first: eqx.nn.Linear
    second: eqx.nn.Linear

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.first = eqx.nn.Linear(4, 8, key=a)
        self.second = eqx.nn.Linear(8, 1, key=b)

    def __call__(self, x):
        return self.second(jax.nn.gelu(self.first(x)))


@eqx.filter_jit
def forward(model, rows):
    return jax.vmap(model)(rows)


def export(model):
    leaves = jax.tree.leaves(eqx.filter(model, eqx.is_array))
    np.savez(EXPORT, *[np.asarray(leaf).astype(np.float16) for leaf in leaves])


def restored(template):
    stored = np.load(EXPORT)
    arrays, static = eqx.partition(template, eqx.is_array)
    leaves, tree = jax.tree.flatten(arrays)
    leaves = [stored[f"arr_{number}"] for number in range(len(leaves))]
    return eqx.combine(jax.tree.unflatten(tree, leaves), static)


model = eqx.filter_jit(Scorer)(jax.random.key(3))
rows = np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)
if sys.argv[1] == "train":
    for _ in range(2):
        scores = forward(model, rows)
    export(model)
else:
    model = restored(model)
    for _ in range(2):
        scores = forward(model, rows)  # <- cause
print(np.asarray(scores).ravel())
